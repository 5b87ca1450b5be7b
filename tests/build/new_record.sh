#!/bin/bash
# A new record type needs its lines in one table and nothing else: types 23, 24, 87 and 88 are added to a
# copy of the tables, and decoder, encoder, walk, byte order, name, laws and all commands know them.
set -eu
: "${PERFILE_CC:=cc}"

mkdir -p copy/include/perfile
cp -r "$PERFILE_SOURCE/format" "$PERFILE_SOURCE/src" copy/
cp "$PERFILE_SOURCE"/include/perfile/* copy/include/perfile/
ln -s ../../format copy/include/perfile/format

# In front of the end of the table.
rows=$(cat <<'ROWS'
RECORD(task_state, 23, TASK_STATE, K, 16, BEYOND, DATA, V7_3, NONE, "a row of a test")
FIELD(task_state, u32, pid, PID, "process")
FIELD(task_state, u16, state, HEX, "state")
PAD(task_state, 2)
FIELD(task_state, u64, nr, COUNT, "words")
WORDS(task_state, u64, words, HEX, o->nr, "the words")
STR(task_state, name, NAME, LEFT, "name")
END(task_state)
RECORD(task_word, 24, TASK_WORD, K, 16, CONTRACT, TASK, V7_3, NONE, "side-band of a test")
FIELD(task_word, u32, pid, PID, "process")
FIELD(task_word, u32, tid, TID, "thread")
FIELD(task_word, u64, time, TIME, "when")
STR(task_word, word, NAME, LEFT, "the word")
END(task_word)
RECORD(tool_note, 87, TOOL_NOTE, P, 8, BEYOND, RECORDING, V7_3, NONE, "another row of a test")
FIELD(tool_note, s32, level, DEC, "level")
FIELD(tool_note, u32, nr, COUNT, "links")
LIST(tool_note, ns_link, links, o->nr, "links")
WHEN(tool_note, has_time, LEFT >= 8)
FIELD(tool_note, u64, time, TIME, "when")
END_WHEN(tool_note)
END(tool_note)
RECORD(tool_bytes, 88, TOOL_BYTES, P, 16, CONTRACT, DATA, V7_3, BEHIND, "bytes behind, of a test")
FIELD(tool_bytes, u64, size, SIZE, "of them")
FIELD(tool_bytes, u32, cpu, CPU, "processor")
PAD(tool_bytes, 4)
END(tool_bytes)
ROWS
)
awk -v rows="$rows" '/^#include "end.inc"/ { print rows "\n" } { print }' \
    "$PERFILE_SOURCE/format/records.def" >copy/format/records.def
grep -q tool_note copy/format/records.def
bash copy/src/schema/headers/update.sh copy

cat >new_record.c <<'PROGRAM'
#include <stdio.h>
#include <string.h>

#include "core/swap.h"
#include "perfile/perfile.h"
#include "schema/rows.h"

static int n_fields;
static char last[32];

static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)v;
    n_fields++;
    snprintf(last, sizeof last, "%s", f->name);
}

static void on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor visitor = {sizeof visitor, on_value, on_begin, on_end};

#define CHECK(condition)                                                                           \
    if (!(condition)) {                                                                            \
        printf("line %d: %s\n", __LINE__, #condition);                                             \
        return 1;                                                                                  \
    }

int main(void)
{
    static const uint8_t state[] = {7, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                                    9, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 0, 0};
    static const uint8_t note[] = {0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
                                   6, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0};
    const uint16_t one = 1;
    uint8_t swapped = *(const uint8_t *)&one ? 0 : PERFILE_REC_SWAPPED;
    perfile_record r = {.header = state, .type = 23, .flags = swapped, .body = {state, sizeof state}};
    perfile_task_state s;
    CHECK(PERFILE_RECORD_TASK_STATE == 23 && PERFILE_RECORD_TOOL_NOTE == 87);
    CHECK(perfile_task_state_decode(&r, &s, sizeof s, NULL) == PERFILE_OK);
    CHECK(s.pid == 7 && s.state == 2 && s.words.n == 1 && perfile_word(&s.words, 0) == 9);
    CHECK(s.name.len == 2 && memcmp(s.name.ptr, "ab", 2) == 0);
    CHECK(perfile_record_walk(&r, 0, &visitor, NULL, NULL) == PERFILE_OK);
    CHECK(n_fields == 5 && strcmp(last, "name") == 0);
    CHECK(strcmp(perfile_record_type_name(23), "TASK_STATE") == 0);
    CHECK(perfile_record_type_number("PERF_RECORD_task_state") == 23);
    /* Back again, the count being that of the words; and in the other byte order. */
    const perfile_encode_options how = {.size = sizeof how, .byte_order = swapped ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG};
    static uint8_t made[64], turned[64], whole[40] = {23};
    size_t len;
    s.nr = 5;
    memcpy(whole + 8, state, sizeof state);
    whole[6] = sizeof whole;
    CHECK(perfile_task_state_encode(&s, sizeof s, NULL, made, sizeof made, &len, NULL) == PERFILE_OK);
    CHECK(len == sizeof whole && memcmp(made, whole, len) == 0);
    CHECK(perfile_task_state_encode(&s, sizeof s, &how, made, sizeof made, &len, NULL) == PERFILE_OK);
    r.header = whole;
    r.body.ptr = whole + 8;
    CHECK(pf_swap_record(&r, turned, NULL) == PERFILE_OK);
    CHECK(swapped || (len == sizeof whole && memcmp(made, turned, len) == 0));
    r.body.len = 20;
    CHECK(perfile_task_state_decode(&r, &s, sizeof s, NULL) == PERFILE_E_TRUNCATED);

    r = (perfile_record){.header = note, .type = 87, .flags = swapped, .body = {note, sizeof note}};
    perfile_tool_note n;
    perfile_ns_link link;
    CHECK(perfile_tool_note_decode(&r, &n, sizeof n, NULL) == PERFILE_OK);
    CHECK(n.level == -1 && n.has_time && n.time == 8);
    CHECK(perfile_ns_link_next(&n.links, &link, sizeof link) == PERFILE_OK);
    CHECK(link.dev == 5 && link.ino == 6);
    n_fields = 0;
    CHECK(perfile_record_walk(&r, 0, &visitor, NULL, NULL) == PERFILE_OK);
    CHECK(n_fields == 5 && strcmp(last, "time") == 0);
    CHECK(pf_record_row(23) && pf_record_row(87) && !pf_record_row(25));

    /* Time, task and processor of its own, and the string at the end, follow from the fields. */
    const perfile_task_word word = {.pid = 7, .tid = 8, .time = 9, .word = {(const uint8_t *)"abc", 3}};
    CHECK(perfile_task_word_encode(&word, sizeof word, NULL, made, sizeof made, &len, NULL) == PERFILE_OK);
    r = (perfile_record){.header = made, .type = 24, .body = {made + 8, len - 8}};
    uint32_t pid, tid, cpu;
    CHECK(perfile_record_time(&r) == 9 && perfile_record_task(&r, &pid, &tid) && pid == 7 && tid == 8);
    const perfile_tool_bytes bytes = {.size = 16, .cpu = 3};
    CHECK(perfile_tool_bytes_encode(&bytes, sizeof bytes, NULL, made, sizeof made, &len, NULL) == PERFILE_OK);
    r = (perfile_record){.header = made, .type = 88, .body = {made + 8, len - 8}};
    CHECK(perfile_record_cpu(&r, &cpu) && cpu == 3);
    return 0;
}
PROGRAM

# Without sanitizers, whatever the build: it is the tables that are tried.
# The laws over the tables too, where cmocka is there: they do not list the rows either.
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -O0"
include="-Icopy/src -Icopy -Icopy/include -I$PERFILE_SOURCE/tests"
zstd=$(pkg-config --cflags --libs libzstd libcbor)
compile() { # compile FOLDER: the files of copy/src/FOLDER to objects/FOLDER
    mkdir -p "objects/$1"
    # shellcheck disable=SC2086
    (cd "objects/$1" && find "$OLDPWD/copy/src/$1" -maxdepth 1 -name '*.c' -print0 |
        xargs -0 -r -P 2 -n 4 "$PERFILE_CC" $flags -I"$OLDPWD/copy/src" -I"$OLDPWD/copy" \
            -I"$OLDPWD/copy/include" -c)
}
for room in copy/src/*/; do
    room=$(basename "$room")
    case $room in cli | mutate | symbolizer) ;; *) compile "$room" ;; esac
done
for command in copy/src/cli copy/src/cli/*/; do
    compile "${command#copy/src/}"
done
library=$(find objects -name '*.o' ! -path 'objects/cli/*')
# shellcheck disable=SC2086
"$PERFILE_CC" $flags $include new_record.c $library $zstd -lpthread -o new_record
./new_record
if pkg-config --exists cmocka; then
    # shellcheck disable=SC2046,SC2086
    "$PERFILE_CC" $flags $include "$PERFILE_SOURCE/tests/law/tables.c" $library \
        $zstd $(pkg-config --cflags --libs cmocka) -lpthread -o tables
    ./tables >laws 2>&1 || { cat laws; exit 1; }
fi

# The commands, over captures with records of types 24 and 88.
# shellcheck disable=SC2046,SC2086
"$PERFILE_CC" $(find objects -name '*.o') $zstd -lpthread -o perfile
cat >capture.py <<'PYTHON'
"""A capture for a pipe: samples, a word and bytes of two processes."""
import struct, sys

first, second = int(sys.argv[2]), int(sys.argv[3])


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, time):
    return struct.pack("<IIQQ", pid, pid, time, 5)


def word(pid, time, text):
    text = text.encode() + b"\0"
    body = struct.pack("<IIQ", pid, pid, time) + text + bytes(-len(text) % 8)
    return record(24, body + trailer(pid, time))


def sample(pid, time):
    return record(9, struct.pack("<QIIQ", 5, pid, pid, time))


IDENTIFIER_TID_TIME, SAMPLE_ID_ALL = 1 << 16 | 1 << 1 | 1 << 2, 1 << 18
attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1, IDENTIFIER_TID_TIME, 0, SAMPLE_ID_ALL).ljust(64, b"\0")
out = b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr + struct.pack("<Q", 5))
for pid, time in (first, 100), (second, 200):
    out += word(pid, time, "w%d" % pid) + sample(pid, time + 1)
    out += record(88, struct.pack("<QII", 16, pid, 0)) + b"sixteen bytes..."
out += record(68, b"")
open(sys.argv[1], "wb").write(out)
PYTHON
python3 capture.py one.data 7 9
python3 capture.py two.data 11 13

# has N PATTERN COMMAND …: the output has so many lines with the pattern.
has() {
    local n=$1 pattern=$2 status=0
    shift 2
    ./perfile "$@" >out 2>err || status=$?
    if [ $status -gt 1 ] || [ "$(grep -c -- "$pattern" out)" != "$n" ]; then
        echo "perfile $*: status $status, not $n lines with $pattern"
        cat out err
        exit 1
    fi
}
has 2 '_TASK_WORD".*"word":"w[79]"' dump --format jsonl one.data
has 2 '_TOOL_BYTES".*"payload".*"size":"16"' dump --format jsonl one.data
has 1 '^ *2 .*TASK_WORD$' stats one.data
has 1 '^ *2 .*TOOL_BYTES$' stats one.data
has 0 'V-20[4-7]' validate one.data
# Side-band of another process goes; the order is that of their own times.
./perfile filter --pid 7 -o seven.data one.data
has 1 '_TASK_WORD"' dump --format jsonl seven.data
has 1 '"word":"w7"' dump --format jsonl seven.data
# In the other byte order and back again.
./perfile convert --byte-order big -o big.data one.data
has 2 '"word":"w[79]"' dump --format jsonl big.data
./perfile convert --byte-order little -o little.data big.data
cmp one.data little.data
./perfile sort -o sorted.data one.data
has 2 '_TOOL_BYTES"' dump --format jsonl sorted.data
./perfile merge -o merged.data one.data two.data
has 4 '"word":"w[0-9]*"' dump --format jsonl merged.data
has 4 '_TOOL_BYTES".*"payload".*"size":"16"' dump --format jsonl merged.data
# Versions of perf that do not know them.
./perfile convert --target perf-7.3 -o new.data one.data
has 2 '"word":"w[79]"' dump --format jsonl new.data
./perfile convert --target perf-7.2 -o old.data one.data 2>losses
has 0 'TASK_WORD\|TOOL_BYTES' dump --format jsonl old.data
grep -q TASK_WORD losses
status=0
./perfile validate --for 7.2 one.data >out || status=$?
[ $status -eq 3 ]
grep -q TASK_WORD out
