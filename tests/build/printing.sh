#!/bin/bash
# What the command prints for people goes through cli/print.c, which escapes what is put into its formats.
# Other files of the command print nothing with stdio: json.c escapes in the way of JSON, signals.c writes
# from a handler what was escaped before.
set -eu

# check FOLDER: prints each line that prints by itself; its status says whether there was none.
check() {
    ! grep -nE '(^|[^a-z_])(v?printf|v?fprintf|f?puts|f?putc|putchar|fwrite|perror|v?dprintf|write) ?\(' -r --include=*.[ch] "$1" |
        grep -vE '^[^:]*/(print|json)\.[ch]:|^[^:]*/signals\.c:[0-9]*:.*write\(STDERR_FILENO, text|format\(printf|:[0-9]*: \*|:[0-9]*:/\*'
}

mkdir -p right wrong
echo 'cli_print("%s\n", name); snprintf(a, sizeof a, "x"); void f(const char *, ...) __attribute__((format(printf, 1, 2)));' >right/a.c
echo 'printf("x");' >right/print.c
check right || { echo "self-check: refuses what is right"; exit 1; }
for line in 'printf("%s", name);' '    fputs(name, stderr);' 'if (x) putchar(c);' 'fprintf(stderr, "x");' 'write(2, a, 1);'; do
    echo "$line" >wrong/a.c
    ! check wrong >/dev/null || { echo "self-check: does not see $line"; exit 1; }
done
check "$PERFILE_SOURCE/src/cli" || { echo "use cli/print.h"; exit 1; }
