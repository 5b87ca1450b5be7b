# Forms of dumps, captures and `perfile export` that need libraries besides those of all others.  A build without them has
# the other forms.
#   perfile_forms_sources, _include, _definitions, _libraries: what the library needs to have them
#   perfile_forms_packages: their pkg-config names
option(PERFILE_EXPORTS "Forms of `perfile export` and `perfile script`, tables for Arrow" ON)
option(PERFILE_CBOR "Archives, and dumps in CBOR; needs libcbor" ON)
option(PERFILE_PPROF "Export to pprof, if libprotobuf-c, protoc-c and zlib are there" ON)
option(PERFILE_PERFETTO "Export to Perfetto, if libprotobuf-c and protoc-c are there" ON)

option(PERFILE_TABLES "Export to Parquet, and tables for Arrow, if xxhash.h is there" ON)

set(perfile_forms_sources "")
set(perfile_forms_include "")
set(perfile_forms_definitions "")
set(perfile_forms_libraries "")
set(perfile_forms_packages "")

if(PERFILE_CBOR)
  pkg_check_modules(PERFILE_LIBCBOR REQUIRED IMPORTED_TARGET libcbor)
  list(APPEND perfile_forms_libraries PkgConfig::PERFILE_LIBCBOR)
  list(APPEND perfile_forms_packages libcbor)
else()
  list(APPEND perfile_forms_definitions PERFILE_WITHOUT_CBOR)
endif()
if(NOT PERFILE_EXPORTS)
  set(PERFILE_PPROF OFF)
  set(PERFILE_PERFETTO OFF)
  set(PERFILE_TABLES OFF)
  list(APPEND perfile_forms_definitions PERFILE_WITHOUT_EXPORTS)
endif()
if(PERFILE_PPROF OR PERFILE_PERFETTO)
  pkg_check_modules(PERFILE_PROTOBUF_C IMPORTED_TARGET libprotobuf-c)
  find_program(PERFILE_PROTOC_C protoc-c)
endif()
if(PERFILE_PPROF)
  pkg_check_modules(PERFILE_ZLIB IMPORTED_TARGET zlib)
endif()

# perfile_form_proto(NAME): the form of this name, whose messages are in format/NAME.proto.
macro(perfile_form_proto name)
  set(generated "${PROJECT_BINARY_DIR}/proto")
  file(MAKE_DIRECTORY "${generated}")
  add_custom_command(
    OUTPUT "${generated}/${name}.pb-c.c" "${generated}/${name}.pb-c.h"
    COMMAND "${PERFILE_PROTOC_C}" "--c_out=${generated}" "--proto_path=${PROJECT_SOURCE_DIR}/format" ${name}.proto
    DEPENDS format/${name}.proto
    VERBATIM)
  # Written by a program: our warnings are not for it.
  set_source_files_properties("${generated}/${name}.pb-c.c" PROPERTIES COMPILE_OPTIONS "-w")
  string(TOUPPER "PERFILE_WITH_${name}" definition)
  list(APPEND perfile_forms_sources "${generated}/${name}.pb-c.c")
  list(APPEND perfile_forms_include "${generated}")
  list(APPEND perfile_forms_definitions ${definition})
  list(APPEND perfile_forms_libraries PkgConfig::PERFILE_PROTOBUF_C)
  list(APPEND perfile_forms_packages libprotobuf-c)
endmacro()

if(PERFILE_PPROF AND PERFILE_PROTOBUF_C_FOUND AND PERFILE_ZLIB_FOUND AND PERFILE_PROTOC_C)
  perfile_form_proto(pprof)
  list(APPEND perfile_forms_libraries PkgConfig::PERFILE_ZLIB)
  list(APPEND perfile_forms_packages zlib)
endif()
if(PERFILE_PERFETTO AND PERFILE_PROTOBUF_C_FOUND AND PERFILE_PROTOC_C)
  perfile_form_proto(perfetto)
endif()
# Only the header is used: hashes are compiled in.
if(PERFILE_TABLES)
  find_path(PERFILE_XXHASH_INCLUDE xxhash.h)
endif()
if(PERFILE_TABLES AND PERFILE_XXHASH_INCLUDE)
  list(APPEND perfile_forms_include "${PERFILE_XXHASH_INCLUDE}")
  list(APPEND perfile_forms_definitions PERFILE_WITH_TABLES)
endif()
list(REMOVE_DUPLICATES perfile_forms_include)
list(REMOVE_DUPLICATES perfile_forms_libraries)
list(REMOVE_DUPLICATES perfile_forms_packages)
list(JOIN perfile_forms_packages " " perfile_forms_packages)
