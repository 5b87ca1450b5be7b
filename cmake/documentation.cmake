# Manual pages of the library, which are made from the headers; and the target `documentation`: the headers as HTML, with the
# README as the start page.

# A manual page for each header, and one for the library.
find_program(PERFILE_AWK awk)
if(PERFILE_AWK)
  set(manual "${PROJECT_BINARY_DIR}/man/libperfile.3")
  set(others ${perfile_headers})
  list(FILTER others EXCLUDE REGEX "/(perfile|base)\\.h$")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")
  add_custom_command(OUTPUT "${manual}"
    COMMAND "${PERFILE_AWK}" -v name=libperfile -f "${PROJECT_SOURCE_DIR}/cmake/manual.awk"
      include/perfile/perfile.h include/perfile/base.h ${others} > "${manual}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DEPENDS ${perfile_headers} cmake/manual.awk VERBATIM)
  foreach(header IN LISTS perfile_headers)
    cmake_path(GET header STEM name)
    if(name STREQUAL "perfile")
      continue()
    endif()
    set(page "${PROJECT_BINARY_DIR}/man/perfile_${name}.3")
    add_custom_command(OUTPUT "${page}"
      COMMAND "${PERFILE_AWK}" -v name=perfile_${name} -f "${PROJECT_SOURCE_DIR}/cmake/manual.awk" "${header}" > "${page}"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      DEPENDS "${header}" cmake/manual.awk VERBATIM)
    list(APPEND manual "${page}")
  endforeach()
  add_custom_target(perfile_manual ALL DEPENDS ${manual})
  install(FILES ${manual} DESTINATION "${CMAKE_INSTALL_MANDIR}/man3")
endif()

find_program(PERFILE_DOXYGEN doxygen)
if(PERFILE_DOXYGEN)
  add_custom_target(documentation
    COMMAND "${CMAKE_COMMAND}" -E env "DOXYGEN_OUTPUT=${PROJECT_BINARY_DIR}/documentation" "${PERFILE_DOXYGEN}" cmake/doxygen/Pages
    COMMAND "${CMAKE_COMMAND}" -E echo "${PROJECT_BINARY_DIR}/documentation/html/index.html"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
endif()
