# perfile_sanitize(target): what PERFILE_SANITIZE and PERFILE_FUZZ ask for.
if(PERFILE_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "PERFILE_FUZZ needs clang, the compiler is ${CMAKE_C_COMPILER_ID}")
endif()

set(perfile_sanitizers "${PERFILE_SANITIZE}")
if(PERFILE_FUZZ)
  if(NOT perfile_sanitizers)
    set(perfile_sanitizers address undefined)
  endif()
  # The fuzz targets themselves add `fuzzer`, which also brings main().
  list(PREPEND perfile_sanitizers fuzzer-no-link)
endif()
string(REPLACE ";" "," perfile_sanitizers "${perfile_sanitizers}")

if(perfile_sanitizers)
  set(perfile_sanitize_flags
    -fsanitize=${perfile_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
else()
  set(perfile_sanitize_flags "")
endif()

# Of programs that take the static library.  They start four times as fast with their addresses fixed (a
# sanitizer puts a pointer beside each check, and what can be loaded anywhere has to move them all) and
# without shared libraries of the sanitizers.  The scripts of the tests start them tens of thousands of times.
set(perfile_sanitize_programs "")
if(perfile_sanitizers MATCHES "address" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(perfile_sanitize_programs -no-pie)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND perfile_sanitize_programs -static-libasan -static-libubsan)
    # 140 programs have all that in them; gold puts it there in two thirds of the time.
    include(CheckLinkerFlag)
    check_linker_flag(C -fuse-ld=gold PERFILE_HAVE_GOLD)
    if(PERFILE_HAVE_GOLD)
      list(APPEND perfile_sanitize_programs -fuse-ld=gold)
    endif()
  endif()
endif()

function(perfile_sanitize target)
  target_compile_options(${target} PRIVATE ${perfile_sanitize_flags})
  target_link_options(${target} PRIVATE ${perfile_sanitize_flags})
  if(PERFILE_FUZZ)
    target_compile_definitions(${target} PRIVATE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  endif()
endfunction()
