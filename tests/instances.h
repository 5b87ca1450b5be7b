/* Random bodies of records and features, of any type without knowing it: words are small numbers,
 * text or noise, and what decodes is kept. */
#ifndef TESTS_INSTANCES_H
#define TESTS_INSTANCES_H

#include "builder.h"
#include "core/session.h"
#include "perfile/perfile.h"
#include "schema/rows.h"

typedef struct dice {
    uint64_t state;
} dice;

static inline uint32_t roll(dice *d, uint32_t below)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((d->state >> 33) % below);
}

static inline uint64_t roll_u64(dice *d)
{
    return (uint64_t)roll(d, 1U << 30) << 34 ^ (uint64_t)roll(d, 1U << 30) << 15 ^
           roll(d, 1U << 30);
}

/* Eight bytes of something. */
static inline void roll_word(dice *d, builder *b)
{
    static const uint32_t telling[] = {1,  3,  8,  15, 16,  17,  24,  32,
                                       64, 67, 72, 80, 112, 128, 136, 144};
    switch (roll(d, 8)) {
    case 0:
        build_u64(b, roll_u64(d));
        break;
    case 1:
        build_u64(b, telling[roll(d, sizeof telling / sizeof telling[0])]);
        break;
    case 2:
        build_u32(b, telling[roll(d, sizeof telling / sizeof telling[0])]);
        build_u32(b, telling[roll(d, sizeof telling / sizeof telling[0])]);
        break;
    case 3:
        for (int i = 0; i < 4; i++)
            build_u16(b, (uint16_t)(roll(d, 3)   ? roll(d, 3)
                                    : roll(d, 2) ? 14 + roll(d, 4)
                                                 : 1U << roll(d, 6)));
        break;
    case 4:
        for (int i = 0; i < 8; i++)
            build_u8(b, roll(d, 6) ? (uint8_t)('a' + roll(d, 26)) : 0);
        break;
    case 5:
        build_u32(b, roll(d, 4));
        build_u32(b, roll(d, 4));
        break;
    case 6:
        build_u32(b, roll(d, 4));
        build_u32(b, (uint32_t)roll_u64(d));
        break;
    default:
        build_u64(b, roll(d, 4));
    }
}

static inline void roll_body(dice *d, builder *b, size_t least)
{
    size_t n = least + 8 * (size_t)roll(d, roll(d, 4) ? 24 : 100);
    if (roll(d, 4) == 0)
        n += roll(d, 8);
    b->b.len = 0;
    while (b->b.len < n)
        roll_word(d, b);
    b->b.len = n;
}

/* The layout of an event: any fields, few at a time. */
static inline build_attr_plan roll_plan(dice *d)
{
    static const uint16_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
    build_attr_plan a = {.size = sizes[roll(d, sizeof sizes / sizeof sizes[0])]};
    for (uint32_t n = roll(d, 8); n; n--)
        a.sample_type |= (uint64_t)1 << roll(d, 25);
    a.read_format = roll(d, 32);
    a.branch = roll(d, 2) ? 0 : (uint64_t)roll(d, 2) << 17 | (uint64_t)roll(d, 2) << 19;
    a.regs_user = roll(d, 16);
    a.regs_intr = roll(d, 16);
    if (roll(d, 2))
        a.flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    return a;
}

/* A session with that event, and of `cpus` processors unless 0. */
static inline perfile_session *roll_session(const build_attr_plan *plan, bool swap, uint32_t cpus)
{
    perfile_session *s;
    if (pf_session_open(swap, NULL, &s, NULL) != PERFILE_OK)
        abort();
    builder b = {.swap = swap};
    build_attr(&b, plan);
    pf_attr_fact fact = {.attr = built(&b)};
    if (pf_session_add_attr(s, &fact, NULL) != PERFILE_OK)
        abort();
    b.b.len = 0;
    build_u32(&b, cpus);
    build_u32(&b, cpus);
    perfile_feature f = {.number = PERFILE_FEATURE_NRCPUS,
                         .flags = swap ? PERFILE_REC_SWAPPED : 0,
                         .payload = built(&b)};
    if (cpus && pf_session_add_feature(s, &f, false, NULL) != PERFILE_OK)
        abort();
    if (pf_session_resolve(s, NULL) != PERFILE_OK)
        abort();
    build_clear(&b);
    return s;
}

static inline perfile_record record_of(const perfile_session *s, uint32_t type, uint16_t misc,
                                       perfile_bytes body)
{
    static const uint8_t header[8];
    return (perfile_record){.header = header,
                            .body = body,
                            .type = type,
                            .misc = misc,
                            .flags = perfile_session_swapped(s) ? PERFILE_REC_SWAPPED : 0,
                            .session = s};
}

static inline void instance_ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static inline void instance_ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor instance_visitor = {sizeof instance_visitor, instance_ignore_value,
                                                 instance_ignore_value, instance_ignore_end};

/* The first kernels with MMAP2 had no prot and flags: bits of a word tell, which must be text then.
 */
static inline void settle_mmap2(uint32_t type, uint16_t misc, builder *b)
{
    if (type == PERFILE_RECORD_MMAP2 && !(misc & PERFILE_MISC_MMAP_BUILD_ID) && b->b.len >= 60 &&
        pf_load_u32(b->b.ptr + 56, b->swap) >> 26)
        memcpy(b->b.ptr + 56, "/tmp", 4);
}

enum { INSTANCE_TRIES = 20000 };

/* What chance does not give: lengths that have to fit each other. */
static inline bool build_hard_record(uint32_t type, dice *d, builder *b)
{
    b->b.len = 0;
    if (type == PERFILE_RECORD_CPU_MAP) {
        build_u16(b, 1);
        build_u16(b, 2);
        build_u16(b, (uint16_t)(roll(d, 2) ? 4 : 8));
        for (int i = 0; i < 10; i++)
            build_u16(b, (uint16_t)roll(d, 1 << 16));
        return true;
    }
    if (type != PERFILE_RECORD_SCHEDSTAT_DOMAIN)
        return false;
    build_u64(b, 1);
    build_u32(b, 1);
    build_u16(b, (uint16_t)(15 + roll(d, 3)));
    build_u16(b, 0);
    for (int i = 0; i < 45; i++)
        build_u32(b, roll(d, 100));
    return true;
}

/* Makes `b` the body of a record that decodes; false when there was none. */
static inline bool roll_record(dice *d, const pf_row *row, const perfile_session *s, uint16_t *misc,
                               builder *b)
{
    size_t least = row->fixed;
    if (row->number < PERFILE_RECORD_USER && roll(d, 2))
        least += perfile_session_event(s, 0)->layout->trailer_size;
    for (unsigned i = 0; i < INSTANCE_TRIES; i++) {
        *misc = (uint16_t)(roll(d, 2) ? roll(d, 6) : roll(d, 1 << 16));
        if (i > 0 || roll(d, 4) || !build_hard_record(row->number, d, b))
            roll_body(d, b, least);
        settle_mmap2(row->number, *misc, b);
        perfile_record r = record_of(s, row->number, *misc, built(b));
        if (perfile_record_walk(&r, 0, &instance_visitor, NULL, NULL) == PERFILE_OK)
            return true;
    }
    return false;
}

static inline perfile_feature feature_of_bytes(const perfile_session *s, uint32_t number,
                                               perfile_bytes payload)
{
    return (perfile_feature){.number = number,
                             .flags = perfile_session_swapped(s) ? PERFILE_REC_SWAPPED : 0,
                             .size = payload.len,
                             .payload = payload,
                             .session = s};
}

/* The same for features. */
static inline bool build_hard_feature(uint32_t number, dice *d, builder *b)
{
    const build_attr_plan plan = {
        .size = 112, .sample_type = roll(d, 1000), .flags = roll(d, 1000)};
    uint32_t kind = roll(d, 4);
    size_t start;
    b->b.len = 0;
    switch (number) {
    case PERFILE_FEATURE_EVENT_DESC:
        build_u32(b, 2);
        build_u32(b, plan.size);
        for (int i = 0; i < 2; i++) {
            build_attr(b, &plan);
            build_u32(b, kind);
            build_string(b, i ? "cycles" : "instructions:u");
            for (uint32_t k = 0; k < kind; k++)
                build_u64(b, 100 + k);
        }
        return true;
    case PERFILE_FEATURE_CPU_DOMAIN_INFO:
        build_u32(b, 16 + kind % 2);
        build_u32(b, 2);
        for (uint32_t cpu = 0; cpu < 2; cpu++) {
            build_u32(b, cpu);
            build_u32(b, 1);
            build_u32(b, 7);
            if (kind % 2)
                build_string(b, "MC");
            build_string(b, "00000003");
            build_string(b, "0-1");
        }
        return true;
    case PERFILE_FEATURE_FILE:
        build_u32(b, 0);
        start = b->b.len;
        build_bytes(b, "/bin/true", 10);
        build_u32(b, kind);
        build_u64(b, 0x1000);
        build_u32(b, 1);
        build_u64(b, 0x1040);
        build_u32(b, 32);
        build_bytes(b, "main", 5);
        if (kind == 3) {
            build_u32(b, 1);
            build_u64(b, 0x28);
        } else if (kind != 0) {
            build_u64(b, 0x40);
        }
        start = b->b.len - start;
        b->b.ptr[b->swap ? 3 : 0] = (uint8_t)start;
        return true;
    case PERFILE_FEATURE_FILE2:
        build_u32(b, 4);
        build_bytes(b, "\x10\x01\x18\x07", 4);
        return true;
    default:
        return false;
    }
}

/* Makes `b` the payload of a feature that decodes; false when there was none. */
static inline bool roll_feature(dice *d, const pf_row *row, const perfile_session *s, builder *b)
{
    void *decoded = malloc(row->size);
    bool found = false;
    if (!decoded)
        abort();
    for (unsigned i = 0; i < INSTANCE_TRIES && !found; i++) {
        if (i > 0 || roll(d, 2) || !build_hard_feature(row->number, d, b))
            roll_body(d, b, 0);
        pf_context k = {.nr_cpus_avail = perfile_session_n_cpus(s)};
        pf_cursor c = pf_cur(built(b), b->swap);
        memset(decoded, 0, row->size);
        row->decode(&k, &c, decoded);
        found = !c.bad;
    }
    free(decoded);
    return found;
}

#endif
