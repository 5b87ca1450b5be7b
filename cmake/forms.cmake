# Forms of `perfile export` that need libraries besides those of all others.  A build without them has the other forms.
#   perfile_forms_sources, _include, _definitions, _libraries: what the library needs to have them
#   perfile_forms_packages: their pkg-config names
option(PERFILE_PPROF "Export to pprof, if libprotobuf-c, protoc-c and zlib are there" ON)

set(perfile_forms_sources "")
set(perfile_forms_include "")
set(perfile_forms_definitions "")
set(perfile_forms_libraries "")
set(perfile_forms_packages "")

if(PERFILE_PPROF)
  pkg_check_modules(PERFILE_PROTOBUF_C IMPORTED_TARGET libprotobuf-c)
  pkg_check_modules(PERFILE_ZLIB IMPORTED_TARGET zlib)
  find_program(PERFILE_PROTOC_C protoc-c)
endif()
if(PERFILE_PROTOBUF_C_FOUND AND PERFILE_ZLIB_FOUND AND PERFILE_PROTOC_C)
  set(generated "${PROJECT_BINARY_DIR}/proto")
  file(MAKE_DIRECTORY "${generated}")
  add_custom_command(
    OUTPUT "${generated}/pprof.pb-c.c" "${generated}/pprof.pb-c.h"
    COMMAND "${PERFILE_PROTOC_C}" "--c_out=${generated}" "--proto_path=${PROJECT_SOURCE_DIR}/src/emit" pprof.proto
    DEPENDS src/emit/pprof.proto
    VERBATIM)
  # Written by a program: our warnings are not for it.
  set_source_files_properties("${generated}/pprof.pb-c.c" PROPERTIES COMPILE_OPTIONS "-w")
  list(APPEND perfile_forms_sources "${generated}/pprof.pb-c.c")
  list(APPEND perfile_forms_include "${generated}")
  list(APPEND perfile_forms_definitions PERFILE_WITH_PPROF)
  list(APPEND perfile_forms_libraries PkgConfig::PERFILE_PROTOBUF_C PkgConfig::PERFILE_ZLIB)
  list(APPEND perfile_forms_packages libprotobuf-c zlib)
endif()
list(JOIN perfile_forms_packages " " perfile_forms_packages)
