# What src/symbol/ uses beside the library itself: the demangler of libiberty, for names of C++ and Rust.
#   PERFILE_SYMBOLS=AUTO  where it is found
#   PERFILE_SYMBOLS=ON    it must be there
#   PERFILE_SYMBOLS=OFF   without: names stay as files have them
set(PERFILE_SYMBOLS AUTO CACHE STRING "Demangle names of C++ and Rust with libiberty: AUTO, ON, OFF")
set_property(CACHE PERFILE_SYMBOLS PROPERTY STRINGS AUTO ON OFF)

set(PERFILE_IBERTY_FOUND FALSE)
if(PERFILE_SYMBOLS)
  find_path(PERFILE_IBERTY_INCLUDE demangle.h PATH_SUFFIXES libiberty)
  find_library(PERFILE_IBERTY_LIBRARY iberty)
  if(PERFILE_IBERTY_INCLUDE AND PERFILE_IBERTY_LIBRARY)
    set(PERFILE_IBERTY_FOUND TRUE)
  elseif(NOT PERFILE_SYMBOLS STREQUAL "AUTO")
    message(FATAL_ERROR "PERFILE_SYMBOLS is ${PERFILE_SYMBOLS}, but libiberty was not found (libiberty-dev)")
  endif()
endif()
