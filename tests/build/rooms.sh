#!/bin/bash
# Includes go downwards only: from a room to itself, to lower rooms, to the public headers.
# See ARCHITECTURE.md for the rooms.
set -eu

# check TREE: prints each include that is not allowed; its status says whether there was none.
check() {
    (cd "$1" && find src include samples -type f -regex '.*\.\([ch]\|inc\|def\)' 2>/dev/null | sort |
        xargs -r awk '
        BEGIN {
            level["base"] = 0
            level["io"] = level["schema"] = 1
            level["core"] = 2
            level["model"] = level["columns"] = level["trace"] = 3
            level["symbol"] = level["arrow"] = 4
            n = split("symbolizer perf archive perfmon ring check stage transform undump parquet", leaf, " ")
            for (i = 1; i <= n; i++)
                level[leaf[i]] = 5
            # Each family of records has a room of its own, for its formats.
            while ((getline line < "format/families.def") > 0) {
                if (!match(line, /^FAMILY\([a-z_]+/))
                    continue
                line = substr(line, 8, RLENGTH - 7)
                level[line] = 5
                formats[line] = 1
            }
            formats["perf"] = 1
            level["expr"] = level["profile"] = 6
            n = split("filter sort emit report", leaf, " ")
            for (i = 1; i <= n; i++)
                level[leaf[i]] = 7
            level["export"] = 8
            level["script"] = level["tables"] = level["faults"] = level["generate"] = 9
            level["lib"] = 10
            level["cli"] = level["mutate"] = 11
        }

        function reject(why) {
            printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0
            bad = 1
        }

        function is_file(path,    line, found) {
            found = (getline line < path) >= 0
            close(path)
            return found
        }

        FNR == 1 {
            n_files++
            split(FILENAME, part, "/")
            top = part[1]
            room = top == "src" ? part[2] : ""
            folder = FILENAME
            sub(/\/[^\/]*$/, "", folder)
            if (top == "src" && !(room in level))
                reject("not in a room, file")
        }

        # Line splices and comments could hide a directive; neither is worth a lexer here.
        /^[ \t]*#[ \t]*include/ {
            n_includes++
            if (FILENAME == "src/schema/family.inc" && /include PF_TABLE$/)
                next # the table of the family that includes it
            if (!match($0, /[<"][^>"]*[>"]/)) {
                reject("the name is not written out")
                next
            }
            quoted = substr($0, RSTART, 1) == "\""
            target = substr($0, RSTART + 1, RLENGTH - 2)
            if (target ~ /(^|\/)\.\.?\//) {
                reject("relative path")
                next
            }
            first = target
            sub(/\/.*/, "", first)
            if (first == "perfile")
                next
            if (top == "include") {
                # Public headers lie beside each other, and beside the tables when installed.
                if ((quoted || first in level) && first != "format" && !is_file(folder "/" target))
                    reject("a public header includes public headers only")
                next
            }
            if (target !~ /\//) {
                # X.pb-c.h is made of format/X.proto.
                made_of = "format/" target
                sub(/\.pb-c\.h$/, ".proto", made_of)
                if (quoted && !is_file(folder "/" target) && !is_file(made_of))
                    reject("no such file in this folder")
                next
            }
            if (top == "samples") {
                if (quoted || first in level || first == "format")
                    reject("samples include public headers only")
            } else if (room == "mutate") {
                if (first != "mutate" && (quoted || first in level || first == "format"))
                    reject("mutate, a library of its own, includes public headers only")
            } else if (room == "cli") {
                if (first != "cli" && target !~ /^[a-z]+\/command\.h$/ && (quoted || first in level || first == "format"))
                    reject("cli includes public headers and the command.h of rooms only")
            } else if (first in level) {
                if (first != room && level[first] >= level[room])
                    reject("upwards or sideways")
                if (first == "core" && room != "core" && target == "core/state.h")
                    reject("the inside of sessions")
                if (room == "lib" && first in formats)
                    reject("lib asks the driver of a format")
            } else if (quoted && first != "format") {
                reject("no such room")
            }
        }

        END {
            if (!n_includes) {
                print "found no include at all"
                bad = 1
            }
            exit bad
        }')
}

# The check itself, on trees that are right and wrong.  try WANTED FILE LINE: a tree with one line.
try() {
    rm -rf tree
    mkdir -p tree/include/perfile "tree/$(dirname "$2")"
    printf '#include "version.h"\n' >tree/include/perfile/perfile.h
    : >tree/include/perfile/version.h
    printf '%s\n' "$3" >>"tree/$2"
    if check tree >found; then result=pass; else result=fail; fi
    if [ "$result" != "$1" ]; then
        echo "self-check: $2 with '$3' should $1"
        cat found
        exit 1
    fi
}
try pass src/core/x.c '#include "base/x.h"'
try pass src/core/x.c '#include "core/y.h"'
try pass src/core/x.c '#include "format/records.def"'
try pass src/core/x.c '#include <sys/mman.h>'
try fail src/lib/x.c '#include "perf/x.h"'
try pass src/lib/x.c '#include "perfile/perfile.h"'
try pass src/cli/x.c '#include <perfile/perfile.h>'
try pass src/cli/x.c '#include "cli/command.h"'
try pass src/cli/x.c '#include "archive/command.h"'
try pass include/perfile/x.h '#include "version.h"'
try fail src/base/x.c '#include "io/x.h"'
try pass src/lib/x.c '#include "core/x.h"'
try pass src/core/x.c '#include "core/state.h"'
try fail src/stage/x.h '#include "core/state.h"'
try fail src/base/x.c '  #  include <io/x.h>'
try fail src/io/x.c '#include "schema/x.h"'
try fail src/perf/x.c '#include "archive/x.h"'
try fail src/stage/x.h '#include "lib/x.h"'
try fail src/stage/x.inc '#include "emit/x.h"'
try pass src/emit/x.h '#include "profile/x.h"'
try fail src/profile/x.h '#include "emit/x.h"'
try fail src/base/x.c '#include "../io/x.h"'
try fail src/base/x.c '#include "nowhere.h"'
try fail src/base/x.c '#include "nowhere/x.h"'
try fail src/base/x.c '#include PF_TABLE'
try fail src/cli/x.c '#include "base/x.h"'
try fail src/cli/x.c '#include "format/records.def"'
try pass src/mutate/x.c '#include "mutate/x.h"'
try pass src/mutate/x.c '#include <perfile/perfile.h>'
try fail src/mutate/x.c '#include "schema/rows.h"'
try fail src/lib/x.c '#include "mutate/x.h"'
try fail src/cellar/x.c '#include <stdio.h>'
try fail include/perfile/x.h '#include "base/x.h"'
try fail samples/x.c '#include "base/x.h"'

check "$PERFILE_SOURCE"
