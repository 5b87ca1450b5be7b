#!/bin/bash
# Messages of the library name no options of the command: a program that shows them has none.  They name members of
# structs, in perfile_error.where and perfile_note.where, of which src/cli/command.c makes options.
set -eu

# check FOLDER ...: prints each string literal that names an option; its status says whether there was none.  Literals
# next to each other are one.  Options of perf are fine after a command of perf, as in "`perf record -z --aio`", and so
# are two dashes in the style sheet of the flame graph.
check() {
    python3 - "$@" <<'END'
import os, re, sys
token = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)
found = literals = 0
for folder in sys.argv[1:]:
    for path, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if os.path.join(path, f) != os.path.join(folder, "cli")]
        for name in names:
            if not name.endswith((".c", ".h", ".inc", ".def")):
                continue
            text = open(os.path.join(path, name), encoding="utf-8").read()
            code = token.sub(lambda m: " " if m[0][0] == "/" else m[0], text)
            for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
                literals += 1
                joined = re.sub(r'"\s*"', "", m[0])
                rest = re.sub(r"\bperf [a-z]+\b.*", "", joined)
                if name == "flamegraph.c":
                    rest = re.sub(r"var\(--\w+|--\w+:|'--\w+'", "", rest)
                if re.search(r"--[a-z%]", rest):
                    print(f"{os.path.join(path, name)}: {joined}")
                    found += 1
sys.exit(found > 0 or literals == 0)
END
}

mkdir -p right wrong right/cli
cat >right/a.c <<'END'
/* "--in-a-comment" */ // "--in-another"
say("a -- b: what `perf "
    "record --threads` writes", '"', i--, "pid takes numbers");
END
echo 'usage("--time: wrong");' >right/cli/a.c
check right || { echo "self-check: refuses what is right"; exit 1; }
for line in 'say("pass --offset 2=0");' 'say("give it (--source)");' 'say("--%s takes numbers", name);' \
    'say("--" "type is wrong");' 'say("x" /* , */ "--type");' 'say("`perf record`", "--type");'; do
    echo "$line" >wrong/a.c
    ! check wrong >/dev/null || { echo "self-check: does not see $line"; exit 1; }
done
check "$PERFILE_SOURCE/src" "$PERFILE_SOURCE/format" "$PERFILE_SOURCE/include" ||
    { echo "name the member of the options (perfile_error.where), and the option in src/cli/command.c"; exit 1; }
