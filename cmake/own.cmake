# perfile_own(target [INTERNAL]): everything that holds for all our own targets.
# INTERNAL: may include the rooms of src/, the tables of format/ and the public headers.
function(perfile_own target)
  cmake_parse_arguments(PARSE_ARGV 1 own "INTERNAL" "" "")
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11
    C_STANDARD_REQUIRED ON
    C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden)
  # _DEFAULT_SOURCE: madvise, MAP_ANONYMOUS, syscall() and the like beside POSIX.
  target_compile_definitions(${target} PRIVATE
    _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE _FILE_OFFSET_BITS=64)
  perfile_warnings(${target})
  perfile_sanitize(${target})
  perfile_coverage(${target})
  if(own_INTERNAL)
    target_include_directories(${target} PRIVATE
      "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}" "${perfile_build_include}")
  endif()
endfunction()
