# A machine with words of 32 bits; its programs run in qemu-user, because not every kernel of x86_64 runs them.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(perfile_cross_architecture i386)
set(perfile_cross_compiler i686-linux-gnu)
set(perfile_cross_libraries i386-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386 -L /usr/i686-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
