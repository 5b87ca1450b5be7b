#!/bin/bash
# The pages and comments for whoever changes the code are true: the files that they name are there, every room has a page, every file of more
# than 60 lines says at its top what it is for, and the top level holds what it should.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3

# named PAGE: files and folders that a page names in backticks, as paths from the top level or from src/.
named() {
    grep -oE '`[A-Za-z0-9_./-]+`' "$1" | tr -d '`' | grep -E '/|\.(c|h|def|md|inc|sh|py|cddl)$' |
        grep -vE '^(/|perfile/|build/|[.]|-|[0-9])|[*]|ROOM|NAME' | sort -u
}

# there ROOT ROOM NAME: the name is a file or folder of the room, of src/, or of the top level; a name without a folder
# may be that of any file.
there() {
    if [[ $3 != */* ]]; then
        grep -qxF -- "$3" names
        return
    fi
    [ -e "$1/$3" ] || [ -e "$1/src/$3" ] || { [ -n "$2" ] && [ -e "$1/src/$2/$3" ]; } || [ -e "$1/include/$3" ] ||
        [ -e "$1/format/$3" ] || [ -e "$1/include/perfile/$3" ]
}

# named_in_comments ROOT: prints each file of the project that a comment in src/ names and that is not there: ROOM/NAME, or
# a .c file without a folder.
cat >comments.py <<'PYTHON'
import pathlib
import re
import sys

src = pathlib.Path(sys.argv[1]) / "src"
rooms = {x.name for x in src.iterdir()}
files = {x.name for x in src.rglob("*")}
for file in sorted(src.rglob("*.[chi]*")):
    for comment in re.findall(r"/\*.*?\*/", file.read_text(), re.S):
        for room, name in re.findall(r"(?<![\w/.])(?:([a-z_]+)/)?([a-z][a-z0-9_]*\.(?:c|h|inc))\b", comment):
            if (room in rooms and not (src / room / name).exists()) or \
                    (not room and name.endswith(".c") and name not in files):
                print(f"{file.relative_to(sys.argv[1])}: there is no {room + '/' if room else ''}{name}")
PYTHON

# check ROOT: prints each thing that is wrong; its status says whether there was none.
check() {
    local root=$1 bad=0 page room name file
    find "$root/src" "$root/include" "$root/format" "$root/tests" "$root/fuzz" "$root/samples" -printf '%f\n' 2>/dev/null |
        sort -u >names
    for page in "$root"/ARCHITECTURE.md "$root"/src/*/README.md; do
        [ -e "$page" ] || continue
        room=
        case $page in */src/*/README.md) room=$(basename "$(dirname "$page")") ;; esac
        while IFS= read -r name; do
            there "$root" "$room" "$name" || { echo "${page#"$root"/}: there is no $name"; bad=1; }
        done < <(named "$page")
        if [ -n "$room" ] && [ "$(wc -l <"$page")" -gt 70 ]; then
            echo "${page#"$root"/}: longer than a screen"
            bad=1
        fi
    done
    python3 comments.py "$root" >in-comments
    cat in-comments
    [ ! -s in-comments ] || bad=1
    for room in "$root"/src/*/; do
        [ -e "$room/README.md" ] || { echo "${room#"$root"/} has no README.md"; bad=1; }
    done
    while IFS= read -r file; do
        echo "${file#"$root"/}: does not begin with what it is for"
        bad=1
    done < <(find "$root/src" "$root/include" "$root/tests" "$root/fuzz" "$root/samples" -name '*.[ch]' -print0 -o \
        -name '*.inc' -print0 | sort -z | xargs -0 awk '
            FNR == 1 { good = /^(\/\*|#!|# )/ }
            FNR == 61 && !good { print FILENAME }')
    return "$bad"
}

# The check itself, on a tree with each mistake.
mkdir -p tree/src/base tree/include tree/tests tree/fuzz tree/samples
printf 'See `base/there.c` and `base/gone.c`.\n' >tree/ARCHITECTURE.md
{ seq 61 | sed 's/^/int x/'; echo '/* See lost.c and base/lost.h. */'; } >tree/src/base/there.c
if check tree >found; then
    echo "self-check: found nothing"
    exit 1
fi
for wanted in 'there is no base/gone.c' 'there.c: there is no lost.c' 'there.c: there is no base/lost.h' 'src/base/ has no README.md' 'src/base/there.c: does not begin'; do
    grep -qF "$wanted" found || { echo "self-check: did not find: $wanted"; cat found; exit 1; }
done

check "$PERFILE_SOURCE"

# The top level, as far as git tracks it.
if [ -e "$PERFILE_SOURCE/.git" ] && command -v git >/dev/null; then
    allowed='.ci .clang-format .editorconfig .gitattributes .gitignore ARCHITECTURE.md CHANGELOG.md CMakeLists.txt CMakePresets.json LICENSE README.md SECURITY.md cmake format fuzz include samples src tests'
    git -C "$PERFILE_SOURCE" ls-files | cut -d/ -f1 | sort -u | while IFS= read -r name; do
        case " $allowed " in
        *" $name "*) ;;
        *) echo "top level: $name"; exit 1 ;;
        esac
    done
fi
