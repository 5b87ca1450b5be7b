# perfile_canaries(target): under sanitizers a program of the tests is linked with functions that stand before those of the
# public interface, and end it when one of these fails and has changed its results (tests/canaries/wrappers.py).  Without
# python3 there are none; tests/build/canaries.sh says so.
find_program(PERFILE_PYTHON python3)
set(perfile_canaries_folder "${PROJECT_BINARY_DIR}/canaries")

if(PERFILE_SANITIZE AND PERFILE_PYTHON)
  file(GLOB canaries_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/perfile/*.h")
  add_custom_command(
    OUTPUT "${perfile_canaries_folder}/wrappers.c" "${perfile_canaries_folder}/options"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${perfile_canaries_folder}"
    COMMAND "${PERFILE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/canaries/wrappers.py"
      "${perfile_build_include}" "${CMAKE_C_COMPILER}" "${perfile_canaries_folder}"
    DEPENDS "${PROJECT_SOURCE_DIR}/tests/canaries/wrappers.py" ${canaries_headers}
    VERBATIM)
  add_library(perfile_canaries OBJECT "${perfile_canaries_folder}/wrappers.c")
  perfile_own(perfile_canaries)
  target_include_directories(perfile_canaries PRIVATE "${perfile_build_include}")
  target_link_options(perfile_canaries INTERFACE "LINKER:@${perfile_canaries_folder}/options")
endif()

function(perfile_canaries target)
  if(TARGET perfile_canaries)
    target_link_libraries(${target} PRIVATE perfile_canaries)
  endif()
endfunction()
