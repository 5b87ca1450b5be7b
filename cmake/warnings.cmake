# perfile_warnings(target): the warnings that gcc and clang have to be silent with.
function(perfile_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wcast-qual -Wcast-align -Wvla -Wundef -Wformat=2
    $<$<BOOL:${PERFILE_WERROR}>:-Werror>)
endfunction()
