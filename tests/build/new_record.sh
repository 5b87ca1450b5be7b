#!/bin/bash
# A new record type needs its lines in one table and nothing else: types 23 and 87 are added to a
# copy of the tables, and decoder, encoder, walk, byte order, name and laws know them.
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
RECORD(tool_note, 87, TOOL_NOTE, P, 8, BEYOND, RECORDING, V7_3, NONE, "another row of a test")
FIELD(tool_note, s32, level, DEC, "level")
FIELD(tool_note, u32, nr, COUNT, "links")
LIST(tool_note, ns_link, links, o->nr, "links")
WHEN(tool_note, has_time, LEFT >= 8)
FIELD(tool_note, u64, time, TIME, "when")
END_WHEN(tool_note)
END(tool_note)
ROWS
)
awk -v rows="$rows" '/^#include "end.inc"/ { print rows "\n" } { print }' \
    "$PERFILE_SOURCE/format/records.def" >copy/format/records.def
grep -q tool_note copy/format/records.def

cat >new_record.c <<'PROGRAM'
#include <stdio.h>
#include <string.h>

#include "core/swap.h"
#include "perfile/perfile.h"
#include "schema/family.h"

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
    const perfile_encode_options how = {.size = sizeof how, .big_endian = swapped == 0};
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
    CHECK(pf_record_row(23) && pf_record_row(87) && !pf_record_row(24));
    return 0;
}
PROGRAM

# Without sanitizers, whatever the build: it is the tables that are tried.
# The laws over the tables too, where cmocka is there: they do not list the rows either.
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -O0"
include="-Icopy/src -Icopy -Icopy/include -I$PERFILE_SOURCE/tests"
zstd=$(pkg-config --cflags --libs libzstd libcbor)
for room in copy/src/*/; do
    room=$(basename "$room")
    [ "$room" != cli ] || continue
    mkdir -p "objects/$room"
    # shellcheck disable=SC2086
    (cd "objects/$room" && printf '%s\n' ../../copy/src/"$room"/*.c |
        xargs -P 2 -n 4 "$PERFILE_CC" $flags -I../../copy/src -I../../copy \
            -I../../copy/include -c)
done
# shellcheck disable=SC2086
"$PERFILE_CC" $flags $include new_record.c objects/*/*.o $zstd -lpthread -o new_record
./new_record
if pkg-config --exists cmocka; then
    # shellcheck disable=SC2046,SC2086
    "$PERFILE_CC" $flags $include "$PERFILE_SOURCE/tests/law/tables.c" objects/*/*.o \
        $zstd $(pkg-config --cflags --libs cmocka) -lpthread -o tables
    ./tables >laws 2>&1 || { cat laws; exit 1; }
fi
