# What the toolchain files of this folder share: a cross compiler of Debian, and the libraries that libraries.sh unpacked.
#   perfile_cross_architecture: what Debian calls the machine
#   perfile_cross_libraries:    the folder of its libraries below usr/lib
#   perfile_cross_compiler:     the prefix of its compiler
set(perfile_cross_root "${CMAKE_CURRENT_LIST_DIR}/../../build/cross/${perfile_cross_architecture}")
cmake_path(NORMAL_PATH perfile_cross_root)
if(NOT IS_DIRECTORY "${perfile_cross_root}/usr/include")
  message(FATAL_ERROR "No libraries for ${perfile_cross_architecture}; "
    "unpack them: bash cmake/cross/libraries.sh ${perfile_cross_architecture}")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER "${perfile_cross_compiler}-gcc")
set(CMAKE_LIBRARY_ARCHITECTURE "${perfile_cross_libraries}")
set(CMAKE_FIND_ROOT_PATH "${perfile_cross_root}" "/usr/${perfile_cross_compiler}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Headers that lie at the top of usr/include are found by CMake, but are not in the compiler's own path.
set(CMAKE_C_FLAGS_INIT "-isystem ${perfile_cross_root}/usr/include -isystem ${perfile_cross_root}/usr/include/${perfile_cross_libraries}")
# Libraries that the libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${perfile_cross_root}/usr/lib/${perfile_cross_libraries}:${perfile_cross_root}/lib/${perfile_cross_libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(CMAKE_BUILD_RPATH "${perfile_cross_root}/usr/lib/${perfile_cross_libraries};${perfile_cross_root}/lib/${perfile_cross_libraries}")
set(ENV{PKG_CONFIG_LIBDIR} "${perfile_cross_root}/usr/lib/${perfile_cross_libraries}/pkgconfig:${perfile_cross_root}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${perfile_cross_root}")
