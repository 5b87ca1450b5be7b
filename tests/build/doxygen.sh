#!/bin/bash
# Every public function, type, member and macro is explained: doxygen has no warning about the public headers.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs doxygen awk

mkdir -p copy/include copy/cmake
cp -r "$PERFILE_SOURCE/include/perfile" copy/include/
cp -r "$PERFILE_SOURCE/cmake/doxygen" copy/cmake/
cd copy

# documented: whether doxygen is content with the headers of this folder.
documented() {
    DOXYGEN_OUTPUT=$PWD/out doxygen cmake/doxygen/Doxyfile >../said 2>&1
}

documented || { cat ../said; exit 1; }
# The same as HTML, with the README as the start page.
cp "$PERFILE_SOURCE/README.md" .
DOXYGEN_OUTPUT=$PWD/pages doxygen cmake/doxygen/Pages >../said 2>&1 || { cat ../said; exit 1; }
grep -q 'Quick start' pages/html/index.html && grep -q perfile_stream_next pages/html/stream_8h.html || { echo "pages are not there"; exit 1; }
# It has seen them: functions, members, and functions that share a comment.
for name in perfile_stream_next perfile_comm_decode perfile_words_s32 perfile_sink_callback last_offset PERFILE_NO_PID; do
    grep -rq "<name>$name</name>" out/xml || { echo "doxygen did not see $name"; exit 1; }
done

# Without its comment each of these is missed: a function, a struct, a member, a function of tables.
while read -r header change; do
    cp "$PERFILE_SOURCE/include/perfile/$header" before
    sed -E "$change" before >"include/perfile/$header"
    ! cmp -s before "include/perfile/$header" || { echo "self-check: $header has nothing for $change"; exit 1; }
    if documented; then
        echo "self-check: nothing said of $header after $change"
        exit 1
    fi
    cp before "include/perfile/$header"
done <<'END'
stream.h /^\/\* Closes the stream and everything/d
stream.h /^\/\* What a stream has read so far/d
model.h s/(uint32_t pid, ppid;).*/\1/
base.h /^\/\* perfile_error.offset when no place/d
records.h /^\/\* perfile_NAME_decode\(\) and perfile_NAME_next/,/\*\/$/d
END
documented
