# A machine with words of 32 bits; its programs run on x86_64 as they are.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(perfile_cross_architecture i386)
set(perfile_cross_compiler i686-linux-gnu)
set(perfile_cross_libraries i386-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
