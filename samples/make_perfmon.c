/* Makes a Zircon perfmon buffer from nothing, in the layout of Fuchsia's kernel, to try tools
 * without such a machine.
 *
 *     make_perfmon OUT [KIND [ARCH [N [SEED]]]]
 *
 * KIND: all (every record type and odd case once, with the flag FULL), empty (no records), sampling
 * (N interrupts, each with its TIME, the counters that overflowed and its last branches), counting
 * (N readings of counters and gauges), totals (N counters that are read once).  ARCH: 0 unknown, 1
 * x86-64 (default), 2 arm64. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME = 1, TICK, COUNT, VALUE, PC, LAST_BRANCH };
enum { FULL = 1, HEADER = 24, MOST_BRANCHES = 32 };

/* Ids of events: the group is in the upper 6 bits, the number in the lower 10. */
enum { ARCH_GROUP = 1, FIXED_GROUP = 2, MODEL_GROUP = 3, MISC_GROUP = 4 };
#define ID(group, number) ((unsigned)(group) << 10 | (unsigned)(number))

/* The buffer while it is made. */
typedef struct buffer {
    uint8_t *bytes;
    size_t len, room;
    uint64_t random;
} buffer;

/* Appends `n` bytes of `value`, lowest first. */
static void put(buffer *b, uint64_t value, unsigned n)
{
    if (b->len + n > b->room) {
        b->room = 2 * b->room + 4096;
        b->bytes = realloc(b->bytes, b->room);
        if (!b->bytes) {
            fputs("make_perfmon: out of memory\n", stderr);
            exit(1);
        }
    }
    for (unsigned i = 0; i < n; i++)
        b->bytes[b->len++] = (uint8_t)(value >> 8 * i);
}

static void put_header(buffer *b, unsigned arch, unsigned flags)
{
    put(b, 0, 2);
    put(b, arch, 2);
    put(b, flags, 4);
    put(b, 2592000000, 8); /* ticks per second */
    put(b, 0, 8);          /* the end of the records: see finish() */
}

/* Appends the header of a record. */
static void put_tag(buffer *b, unsigned type, unsigned event)
{
    put(b, type, 1);
    put(b, 0, 1);
    put(b, event, 2);
}

static void put_time(buffer *b, unsigned event, int64_t ticks)
{
    put_tag(b, TIME, event);
    put(b, (uint64_t)ticks, 8);
}

/* Appends a COUNT or VALUE record. */
static void put_number(buffer *b, unsigned type, unsigned event, uint64_t number)
{
    put_tag(b, type, event);
    put(b, number, 8);
}

static void put_pc(buffer *b, unsigned event, uint64_t aspace, uint64_t pc)
{
    put_tag(b, PC, event);
    put(b, aspace, 8);
    put(b, pc, 8);
}

/* Appends `n` branches that lead to `pc`, newest first. */
static void put_branches(buffer *b, unsigned event, uint64_t aspace, uint64_t pc, unsigned n)
{
    put_tag(b, LAST_BRANCH, event);
    put(b, n, 4);
    put(b, aspace, 8);
    for (unsigned i = 0; i < n; i++) {
        put(b, pc - 16 * i - 8, 8);
        put(b, pc - 16 * i, 8);
        put(b, (3 * i + 1) | (i % 5 == 3 ? 1U << 16 : 0), 8);
    }
}

/* Returns a pseudo-random number, the same on every machine. */
static uint64_t chance(buffer *b, uint64_t below)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (b->random >> 33) % below;
}

/* Each type, with and without an event; 0, 1 and 32 branches; times that are negative, 0, repeated,
 * and earlier than the previous one; a record before the first time; 64-bit numbers. */
static void put_all(buffer *b)
{
    const unsigned counter = ID(FIXED_GROUP, 1), other = ID(FIXED_GROUP, 2);
    const unsigned model = ID(MODEL_GROUP, 7), gauge = ID(MISC_GROUP, 27);
    put_number(b, COUNT, counter, 5); /* before the first time */
    put_time(b, 0, -5);
    put_tag(b, TICK, counter);
    put_time(b, 0, 0);
    put_pc(b, counter, 0x1a2b3000, UINT64_C(0xffffffff80112233));
    put_time(b, counter, INT64_C(812345678901));
    put_branches(b, counter, 0x1a2b3000, 0x400300, 1);
    put_pc(b, counter, UINT64_C(0x800000001a2b3fff), 0x400400);
    put_branches(b, other, 0x2a2b3000, 0x400400, MOST_BRANCHES);
    put_pc(b, other, 0x3a2b3000, 0x400500);
    put_time(b, 0, INT64_C(812345678901));
    put_number(b, COUNT, counter, 0);
    put_number(b, COUNT, other, UINT64_MAX);
    put_number(b, VALUE, gauge, 42);
    put_number(b, VALUE, gauge, UINT64_MAX - 1);
    put_tag(b, TICK, 0);
    put_number(b, COUNT, 0, 77);
    put_time(b, model, INT64_C(812345678902));
    put_tag(b, TICK, model);
    put_branches(b, model, 0x1a2b3000, 0x400300, 0);
    put_time(b, 0, INT64_C(812345678000)); /* goes back */
    put_branches(b, model, 0x4a2b3000, 0x400600, 3);
    put_pc(b, model, 0x4a2b3000, 0x400700);
    put_time(b, 0, INT64_C(912345678901));
    put_time(b, 0, INT64_C(912345678902)); /* nothing follows it */
}

/* The records of an interrupt handler: the time, the overflowed counters, other counters,
 * branches. */
static void put_sampling(buffer *b, unsigned n)
{
    static const unsigned events[] = {ID(FIXED_GROUP, 1), ID(FIXED_GROUP, 2), ID(MODEL_GROUP, 7)};
    int64_t now = INT64_C(812345678901);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t aspace = 0x10000000 + 0x1000 * chance(b, 5);
        const uint64_t pc = chance(b, 4) ? 0x400000 + 4 * chance(b, 4096)
                                         : UINT64_C(0xffffffff80100000) + 4 * chance(b, 4096);
        const unsigned event = events[chance(b, 3)];
        now += (int64_t)(1000 + chance(b, 2000000));
        put_time(b, 0, now);
        if (chance(b, 6))
            put_pc(b, event, aspace, pc);
        else
            put_tag(b, TICK, event);
        put_number(b, COUNT, ID(MODEL_GROUP, 9), chance(b, 100000));
        if (i % 16 == 0)
            put_number(b, VALUE, ID(MISC_GROUP, 27), 40 + chance(b, 30));
        if (i % 4 == 0)
            put_branches(b, event, aspace, pc, (unsigned)chance(b, 9));
    }
    put_time(b, 0, now + 1000);
    for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++)
        put_number(b, COUNT, events[i], chance(b, 100000));
}

/* No interrupts: counters and gauges are read N times. */
static void put_counting(buffer *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        put_time(b, 0, INT64_C(812345678901) + INT64_C(2592000) * i);
        for (unsigned k = 0; k < 4; k++)
            put_number(b, COUNT, ID(ARCH_GROUP, k), chance(b, 1000000));
        put_number(b, VALUE, ID(MISC_GROUP, 28), 40 + chance(b, 30));
    }
}

/* N counters that are read once, at the end. */
static void put_totals(buffer *b, unsigned n)
{
    put_time(b, 0, INT64_C(812345678901));
    put_time(b, 0, INT64_C(815345678901));
    for (unsigned k = 0; k < n; k++)
        put_number(b, COUNT, ID(k % 3 ? MODEL_GROUP : ARCH_GROUP, k), chance(b, 1000000000));
}

/* Writes the end of the records to the header, and the buffer to the file. */
static int finish(buffer *b, const char *path)
{
    for (unsigned i = 0; i < 8; i++)
        b->bytes[HEADER - 8 + i] = (uint8_t)((uint64_t)b->len >> 8 * i);
    FILE *f = fopen(path, "wb");
    const int sound = f && fwrite(b->bytes, 1, b->len, f) == b->len;
    const int closed = f && fclose(f) == 0;
    free(b->bytes);
    if (sound && closed)
        return 0;
    perror(path);
    return 1;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[2] : "all";
    const unsigned arch = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    const unsigned n = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 100;
    buffer b = {.random = argc > 5 ? strtoull(argv[5], NULL, 10) : 1};
    const int all = strcmp(kind, "all") == 0, sampling = strcmp(kind, "sampling") == 0;
    const int counting = strcmp(kind, "counting") == 0, empty = strcmp(kind, "empty") == 0;
    const int totals = strcmp(kind, "totals") == 0;
    if (argc < 2 || argc > 6 || argv[1][0] == '-' ||
        !(all || sampling || counting || totals || empty)) {
        fprintf(stderr,
                "usage: make_perfmon OUT [all|empty|sampling|counting|totals [ARCH [N [SEED]]]]\n");
        return 2;
    }
    put_header(&b, arch, all ? FULL : 0);
    if (all)
        put_all(&b);
    if (sampling)
        put_sampling(&b, n);
    if (counting)
        put_counting(&b, n);
    if (totals)
        put_totals(&b, n);
    return finish(&b, argv[1]);
}
