# A machine with the other byte order; its programs run in qemu-user.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(perfile_cross_architecture s390x)
set(perfile_cross_compiler s390x-linux-gnu)
set(perfile_cross_libraries s390x-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /usr/s390x-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
