# What src/symbol/dwarf.c uses: libdw and libelf of elfutils, for source lines and inlined functions.
# Their headers are needed here; the libraries are loaded when somebody asks for source lines.
#   PERFILE_DWARF=AUTO  where they are found
#   PERFILE_DWARF=ON    they must be there
#   PERFILE_DWARF=OFF   without: nothing is known of source lines and inlined functions
set(PERFILE_DWARF AUTO CACHE STRING "Source lines and inlined functions with libdw: AUTO, ON, OFF")
set_property(CACHE PERFILE_DWARF PROPERTY STRINGS AUTO ON OFF)

set(PERFILE_LIBDW_FOUND FALSE)
if(PERFILE_DWARF)
  pkg_check_modules(PERFILE_LIBDW libdw libelf)
  if(NOT PERFILE_LIBDW_FOUND AND NOT PERFILE_DWARF STREQUAL "AUTO")
    message(FATAL_ERROR "PERFILE_DWARF is ${PERFILE_DWARF}, but libdw or libelf was not found (libdw-dev)")
  endif()
endif()
