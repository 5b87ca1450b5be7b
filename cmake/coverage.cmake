# perfile_coverage(target): gcov instrumentation with PERFILE_COVERAGE.
# Target `coverage`: the lines executed since the build, per file (needs gcovr).
if(PERFILE_COVERAGE)
  set(perfile_coverage_flags --coverage)
  find_program(PERFILE_GCOVR gcovr)
  if(PERFILE_GCOVR)
    add_custom_target(coverage
      COMMAND "${PERFILE_GCOVR}" --root "${PROJECT_SOURCE_DIR}" --filter "${PROJECT_SOURCE_DIR}/src/"
        --object-directory "${PROJECT_BINARY_DIR}" --print-summary
      WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
      VERBATIM)
  else()
    message(STATUS "gcovr not found: no target `coverage`")
  endif()
else()
  set(perfile_coverage_flags "")
endif()

function(perfile_coverage target)
  target_compile_options(${target} PRIVATE ${perfile_coverage_flags})
  target_link_options(${target} PRIVATE ${perfile_coverage_flags})
endfunction()
