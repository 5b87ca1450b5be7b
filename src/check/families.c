/* Families of records that have rules of their own, and damage as findings. */
#include "check/check.h"

#include <inttypes.h>

#include "base/cursor.h"
#include "schema/rows.h"
#include "base/byte_order.h"
#include "base/command.h"

static const pf_check_family *const families[] = {&pf_check_perfmon};

const pf_check_family *pf_check_family_of(uint32_t family)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i]->family == family)
            return families[i];
    return NULL;
}

/* Rules for Zircon perfmon buffers (V-8xx), except for those that the driver reports as damage.
 * State shared by records belongs to their part, because each buffer has its own order of times. */

enum {
    FLAGS_AT = 4, /* offset in the header of a buffer */
    FULL = 1,
    PAGE = 4096,
    /* The first id of a numbered group, in the layout with more bits for the group. */
    LEAST_ID = 0x0400,
    MOST_ID = 0x27ff, /* the last id of group 4, in the other layout */
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
        /* If the buffer has whole pages, it was not cut to its end: it is as the kernel made it. */
        if (e->role == PERFILE_EXTENT_TAIL && size % PAGE != 0)
            pf_report_offset(c, PERFILE_RULE_V_804, PF_FULL, e->offset, NULL,
                             "%" PRIu64 " bytes after the last record", e->length);
    }
}

/* Checks that the time of a TIME record does not go back, and that a TIME comes before all other
 * records. */
static void check_time(pf_check *c, const perfile_record *r, unsigned type)
{
    if (!c->part.begun && type != TYPE_TIME)
        pf_report(c, PERFILE_RULE_V_807, PF_FULL, r, "record",
                  "records before the first TIME have no time");
    c->part.begun = true;
    if (type != TYPE_TIME)
        return;
    if (r->time < c->part.time)
        pf_report(c, PERFILE_RULE_V_808, PF_FULL, r, "perfmon_time.time",
                  "%" PRIi64 " ticks, and %" PRIi64 " before it",
                  (int64_t)(r->time ^ PF_TICKS_BIAS), (int64_t)(c->part.time ^ PF_TICKS_BIAS));
    c->part.time = r->time;
}

/* Returns the bits of `info` in branches that no table describes. */
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

/* Damage in the stream: each DAMAGE record becomes one finding. format/rules.def says which rule a
 * kind of damage breaks.  If that depends on the capture, rule_of_record() decides. */

/* Returns the rule that the damage breaks.  A cut at the end of a pipe is V-017 and not V-202,
 * unless the record came from compressed data.  A cut payload belongs to the record before it. */
static unsigned rule_of_record(const pf_check *c, const perfile_record *r)
{
    switch (r->damage) {
    case PERFILE_DAMAGE_TRUNCATED_HEADER:
    case PERFILE_DAMAGE_TRUNCATED_RECORD:
        return c->pipe && !(r->flags & PERFILE_REC_INNER) ? PERFILE_RULE_V_017 : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_TRUNCATED_PAYLOAD:
        return c->counts.last_type == PERFILE_RECORD_AUXTRACE ? PERFILE_RULE_V_511
               : c->pipe                                      ? PERFILE_RULE_V_017
                                                              : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_BAD_SIZE: /* in compressed data it is V-517: zstd gave no valid records */
        return r->flags & PERFILE_REC_INNER ? PERFILE_RULE_V_517 : PERFILE_RULE_V_201;
    default:
        return r->damage < PERFILE_N_DAMAGES ? pf_rule_of_damage[r->damage] : PERFILE_RULE_V_201;
    }
}

/* Reports damage together with the record header (type and size) at its offset.  The body of the
 * DAMAGE record begins with that header and has at least 8 bytes. */
static void report_header(pf_check *c, const perfile_record *r, unsigned rule)
{
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    char buf[24];
    uint32_t type = pf_load_u32(r->body.ptr, swap);
    pf_report(c, rule, PF_FULL, r, "record.size", "%s: %s of %u bytes, %zu bytes lost",
              pf_damage_text(r->damage), pf_check_type_name(type, buf),
              pf_load_u16(r->body.ptr + 6, swap), r->body.len);
}

void pf_check_damage(pf_check *c, const perfile_record *r)
{
    /* A data section longer than the file is the lesser case of V-006. */
    unsigned level = r->damage == PERFILE_DAMAGE_TRUNCATED_DATA ? PF_LESSER : PF_FULL;
    bool header =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    const char *text = pf_damage_text(r->damage);
    c->damaged = true;
    if (header && r->body.ptr && r->body.len >= 8)
        report_header(c, r, rule_of_record(c, r));
    else if (r->body.len)
        pf_report(c, rule_of_record(c, r), level, r, NULL, "%s, %zu byte%s lost", text, r->body.len,
                  r->body.len == 1 ? "" : "s");
    else
        pf_report(c, rule_of_record(c, r), level, r, NULL, "%s", text);
}
