# perfile-symbolizer: the program that demangles names and reads debug information for the library, with the libraries for
# it.  The library itself is linked with none of them (src/symbolizer/main.c says why).
#   PERFILE_SYMBOLS  names of C++ and Rust, with libiberty
#   PERFILE_DWARF    source lines and inlined functions, with libdw and libelf of elfutils
# AUTO: where they are found; ON: they must be there; OFF: without.
set(PERFILE_SYMBOLS AUTO CACHE STRING "Demangle names of C++ and Rust with libiberty: AUTO, ON, OFF")
set(PERFILE_DWARF AUTO CACHE STRING "Source lines and inlined functions with libdw: AUTO, ON, OFF")
set_property(CACHE PERFILE_SYMBOLS PERFILE_DWARF PROPERTY STRINGS AUTO ON OFF)

set(perfile_symbolizer_installed "${CMAKE_INSTALL_FULL_LIBEXECDIR}/perfile/perfile-symbolizer")
set(perfile_symbolizer_definitions "PF_SYMBOLIZER_INSTALLED=\"${perfile_symbolizer_installed}\"")
set(symbolizer_libraries "")
set(symbolizer_include "")

if(PERFILE_SYMBOLS)
  find_path(PERFILE_IBERTY_INCLUDE demangle.h PATH_SUFFIXES libiberty)
  find_library(PERFILE_IBERTY_LIBRARY iberty)
  if(PERFILE_IBERTY_INCLUDE AND PERFILE_IBERTY_LIBRARY)
    list(APPEND perfile_symbolizer_definitions PF_HAVE_DEMANGLER)
    list(APPEND symbolizer_libraries "${PERFILE_IBERTY_LIBRARY}")
    list(APPEND symbolizer_include "${PERFILE_IBERTY_INCLUDE}")
  elseif(NOT PERFILE_SYMBOLS STREQUAL "AUTO")
    message(FATAL_ERROR "PERFILE_SYMBOLS is ${PERFILE_SYMBOLS}, but libiberty was not found (libiberty-dev)")
  endif()
endif()
if(PERFILE_DWARF)
  pkg_check_modules(PERFILE_LIBDW IMPORTED_TARGET libdw libelf)
  if(PERFILE_LIBDW_FOUND)
    list(APPEND perfile_symbolizer_definitions PF_HAVE_LIBDW)
    list(APPEND symbolizer_libraries PkgConfig::PERFILE_LIBDW)
  elseif(NOT PERFILE_DWARF STREQUAL "AUTO")
    message(FATAL_ERROR "PERFILE_DWARF is ${PERFILE_DWARF}, but libdw or libelf was not found (libdw-dev)")
  endif()
endif()

# Never with sanitizers: they need address space without bounds, and system calls that it gives up.
if(symbolizer_libraries)
  file(GLOB symbolizer_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/symbolizer/*.c")
  add_executable(perfile_symbolizer ${symbolizer_sources})
  set_target_properties(perfile_symbolizer PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    OUTPUT_NAME perfile-symbolizer
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/perfile")
  perfile_warnings(perfile_symbolizer)
  target_compile_definitions(perfile_symbolizer PRIVATE
    _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE _FILE_OFFSET_BITS=64 ${perfile_symbolizer_definitions})
  target_include_directories(perfile_symbolizer PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_include_directories(perfile_symbolizer SYSTEM PRIVATE ${symbolizer_include})
  target_link_libraries(perfile_symbolizer PRIVATE ${symbolizer_libraries})
endif()
