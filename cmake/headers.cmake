# The build tree has the public headers as they are installed, and the tables as perfile/format/ for
# our own sources: links, so that a changed header or table is a changed file to the compiler's
# dependency lists.
set(perfile_build_include "${PROJECT_BINARY_DIR}/include")

file(GLOB perfile_headers CONFIGURE_DEPENDS "include/perfile/*.h")
file(GLOB stale_links "${perfile_build_include}/perfile/*")
if(stale_links)
  file(REMOVE ${stale_links})
endif()
file(MAKE_DIRECTORY "${perfile_build_include}/perfile")
foreach(header IN LISTS perfile_headers)
  cmake_path(GET header FILENAME name)
  file(CREATE_LINK "${header}" "${perfile_build_include}/perfile/${name}" SYMBOLIC)
endforeach()
# That of libperfile-fuzz is beside them: it is no part of the library.
file(CREATE_LINK
  "${PROJECT_SOURCE_DIR}/include/perfile-fuzz.h" "${perfile_build_include}/perfile-fuzz.h" SYMBOLIC)
file(CREATE_LINK
  "${PROJECT_SOURCE_DIR}/format" "${perfile_build_include}/perfile/format" SYMBOLIC)

function(perfile_public_headers target)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${perfile_build_include}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endfunction()
