/* Rules for Zircon perfmon buffers (V-8xx), but for those that the driver meets as damage.  The
 * state that records share is that of their part: each buffer has times of its own order. */
#include <inttypes.h>

#include "base/cursor.h"
#include "check/check.h"
#include "schema/family.h"

enum {
    FLAGS_AT = 4, /* in the header of a buffer */
    FULL = 1,
    PAGE = 4096,
    LEAST_ID = 0x0400, /* the first id with a group of its own, in the layout with more bits for the
                          group */
    MOST_ID = 0x27ff,  /* the last one of group 4, in the other */
    KNOWN_INFO = 0x1ffff
};

/* Types of records as stored. */
enum {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    TYPE_##name = (number),
#include "perfile/format/perfmon.def"
};

static void check_container(pf_check *c, const perfile_container *k)
{
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const perfile_part *part = &k->parts[i];
        if (part->header.len <= FLAGS_AT)
            continue;
        if (part->header.ptr[FLAGS_AT] & FULL)
            pf_report_offset(c, PERFILE_RULE_V_811, PF_FULL, FLAGS_AT, "header.flags",
                             "the buffer was full: an unknown number of records is missing");
    }
    for (uint32_t i = 0; i < k->n_extents; i++) {
        const perfile_extent *e = &k->extents[i];
        const uint64_t size = k->parts[e->number].size;
        /* A buffer of whole pages that was not cut to its end is as the kernel made it. */
        if (e->role == PERFILE_EXTENT_TAIL && size % PAGE != 0)
            pf_report_offset(c, PERFILE_RULE_V_804, PF_FULL, e->offset, NULL,
                             "%" PRIu64 " bytes behind the last record", e->length);
    }
}

/* The time of a TIME record, and whether there was one before the first other record. */
static void check_time(pf_check *c, const perfile_record *r, unsigned type)
{
    if (!c->part_begun && type != TYPE_TIME)
        pf_report(c, PERFILE_RULE_V_807, PF_FULL, r, "record",
                  "records in front of the first TIME have no time");
    c->part_begun = true;
    if (type != TYPE_TIME)
        return;
    if (r->time < c->part_time)
        pf_report(c, PERFILE_RULE_V_808, PF_FULL, r, "perfmon_time.time",
                  "%" PRIi64 " ticks, and %" PRIi64 " before it",
                  (int64_t)(r->time ^ PF_TICKS_BIAS), (int64_t)(c->part_time ^ PF_TICKS_BIAS));
    c->part_time = r->time;
}

/* The bits of the branches that no table describes. */
static uint64_t unknown_info(const perfile_record *r)
{
    pf_cursor at = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    const uint32_t n = pf_cur_u32(&at);
    uint64_t bits = 0;
    pf_cur_u64(&at);
    for (uint32_t i = 0; i < n && !at.bad; i++) {
        pf_cur_u64(&at);
        pf_cur_u64(&at);
        bits |= pf_cur_u64(&at);
    }
    return bits & ~(uint64_t)KNOWN_INFO;
}

static void check_record(pf_check *c, const perfile_record *r)
{
    const unsigned type = perfile_record_stored_type(r);
    const uint64_t info = type == TYPE_LAST_BRANCH ? unknown_info(r) : 0;
    check_time(c, r, type);
    if (r->header[1])
        pf_report(c, PERFILE_RULE_V_809, PF_FULL, r, "record.reserved_flags",
                  "reserved flags 0x%x are set", r->header[1]);
    if (info)
        pf_report(c, PERFILE_RULE_V_809, PF_FULL, r, "perfmon_branch.info",
                  "unknown bits 0x%" PRIx64 " are set", info);
    if (!r->misc && (type == TYPE_TICK || type == TYPE_COUNT || type == TYPE_VALUE))
        pf_report(c, PERFILE_RULE_V_810, PF_FULL, r, "record.event", "the record has no event");
    if (r->misc && (r->misc < LEAST_ID || r->misc > MOST_ID))
        pf_report(c, PERFILE_RULE_V_812, PF_FULL, r, "record.event",
                  "event 0x%x is of no known group", r->misc);
}

const pf_check_family pf_check_perfmon = {.family = PERFILE_FAMILY_PERFMON,
                                          .bad_version = PERFILE_RULE_V_801,
                                          .container = check_container,
                                          .record = check_record};
