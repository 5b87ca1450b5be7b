/* Adds events to a session, with attrs that the input chooses. */
#ifndef FUZZ_ATTRS_H
#define FUZZ_ATTRS_H

#include "core/session.h"
#include "ensure.h"
#include "tests/builder.h"

static const uint16_t attr_sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};

static inline void add_attr(perfile_session *s, bool swap, choices *c, uint64_t id)
{
    builder b = {.swap = swap};
    builder ids = {.swap = swap};
    uint64_t size = choose(c, 1);
    build_attr_plan plan = {
        .size = attr_sizes[size % (sizeof attr_sizes / sizeof attr_sizes[0])],
        .sample_type = choose(c, 4),
        .read_format = choose(c, 1),
        .branch = choose(c, 3),
        .regs_user = choose(c, 2),
        .regs_intr = choose(c, 2),
        .flags = choose(c, 1) & 1 ? (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL : 0};
    build_attr(&b, &plan);
    build_u64(&ids, id);
    pf_attr_fact fact = {.attr = built(&b), .ids = built(&ids)};
    ENSURE(pf_session_add_attr(s, &fact, NULL) == PERFILE_OK);
    build_clear(&b);
    build_clear(&ids);
}

#endif
