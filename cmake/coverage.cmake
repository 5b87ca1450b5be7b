# perfile_coverage(target): with PERFILE_COVERAGE the target counts how often its lines are executed (clang, its source-based
# coverage).  The target `coverage` prints what was executed since the target `coverage_begin` was built, as a table of rooms
# (tests/coverage/table.py).
set(perfile_coverage_flags "")
if(PERFILE_COVERAGE)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PERFILE_COVERAGE needs clang, the compiler is ${CMAKE_C_COMPILER_ID}")
  endif()
  find_program(PERFILE_PYTHON python3 REQUIRED)
  # llvm-cov and llvm-profdata belong to a version of clang.
  string(REGEX MATCH "^[0-9]+" llvm "${CMAKE_C_COMPILER_VERSION}")
  find_program(PERFILE_LLVM_COV NAMES llvm-cov-${llvm} llvm-cov REQUIRED)
  find_program(PERFILE_LLVM_PROFDATA NAMES llvm-profdata-${llvm} llvm-profdata REQUIRED)
  # Where processes leave their counts is compiled into programs, so that those whose environment a test clears count, too.
  # All processes of one program add to one file (%m).
  set(perfile_coverage_counts "${PROJECT_BINARY_DIR}/counts")
  add_custom_target(coverage_begin COMMAND "${CMAKE_COMMAND}" -E rm -rf "${perfile_coverage_counts}" VERBATIM)
  set(perfile_coverage_flags "-fprofile-instr-generate=${perfile_coverage_counts}/%m.profraw" -fcoverage-mapping)
endif()

function(perfile_coverage target)
  target_compile_options(${target} PRIVATE ${perfile_coverage_flags})
  target_link_options(${target} PRIVATE ${perfile_coverage_flags})
endfunction()

# perfile_coverage_table(program...): the target `coverage`; the programs and libraries have all of the code in them.
function(perfile_coverage_table)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE programs)
  add_custom_target(coverage
    COMMAND "${PERFILE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/coverage/table.py"
      --profdata "${PERFILE_LLVM_PROFDATA}" --cov "${PERFILE_LLVM_COV}" --counts "${perfile_coverage_counts}" ${programs}
    DEPENDS ${ARGN}
    USES_TERMINAL
    VERBATIM)
endfunction()
