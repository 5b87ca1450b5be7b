/* Rules for events (V-1xx): each attr by itself, and events compared with each other.
 *
 * pf_check_attrs() is called again whenever the session has changed, because in a pipe events
 * arrive as records.  It checks only the events that are new, and makes their pf_check_plan for
 * sample.c.  Rules that need all events, ids or features are checked by pf_check_attrs_end(). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "check/check.h"
#include "core/layout.h"
#include "schema/types.h"
#include "base/command.h"
#include "schema/command.h"
#include "core/command.h"

enum {
    ATTR_OFFSET_IN_ENTRY = 16, /* the offset and size of the ids in an entry of attrs */
    FLAG_BITS = PERFILE_ATTR_BIT_RESERVED_1, /* known bits of flags */
    STACK_MOST = 65528,                      /* the kernel's limit of sample_stack_user */
    PRECISE_MASK = 3
};

/* Returns bit `bit` (PERFILE_ATTR_BIT_…) of the attr's flags. */
static bool flag(const perfile_event *e, unsigned bit)
{
    return e->attr->flags >> bit & 1;
}

static bool any_nonzero(perfile_bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (b.ptr[i])
            return true;
    return false;
}

/* Checks the size of the attr, its entry in the file, and the section of its ids (V-006, V-101 to
 * V-103). */
static void check_size(pf_check *c, const perfile_event *e)
{
    const perfile_container *k = perfile_stream_container(&c->base);
    uint64_t size = e->attr->size ? e->attr->size : PF_ATTR_LEAST; /* 0 means the first version */
    bool listed = e->origin == PERFILE_ORIGIN_CONTAINER;
    if (e->damage) {
        pf_report_event(c, PERFILE_RULE_V_101, PF_FULL, e, "attr.size",
                        "an attr of %" PRIu32 " bytes", e->attr->size);
        return;
    }
    if (e->ids_damage)
        pf_report_event(c, PERFILE_RULE_V_006, PF_FULL, e, "attr.ids", "%s",
                        pf_damage_text(e->ids_damage));
    if (listed && size + ATTR_OFFSET_IN_ENTRY != k->attr_size)
        pf_report_event(c, PERFILE_RULE_V_102, PF_FULL, e, "attr.size",
                        "%" PRIu64 " bytes in an entry of %" PRIu64, size, k->attr_size);
    if (!pf_attr_size_is_known(size))
        pf_report_event(c, PERFILE_RULE_V_103, PF_FULL, e, "attr.size",
                        "no kernel has attrs of %" PRIu64 " bytes", size);
}

/* Checks that flags and bytes that no version defines are 0 (V-104). */
static void check_reserved(pf_check *c, const perfile_event *e)
{
    if (e->attr->flags >> FLAG_BITS)
        pf_report_event(c, PERFILE_RULE_V_104, PF_FULL, e, "attr.flags", "unknown flags 0x%" PRIx64,
                        e->attr->flags >> FLAG_BITS << FLAG_BITS);
    else if (e->attr->__reserved_2)
        pf_report_event(c, PERFILE_RULE_V_104, PF_FULL, e, "attr.__reserved_2",
                        "reserved field is 0x%x", e->attr->__reserved_2);
    else if (any_nonzero(e->attr->extra))
        pf_report_event(c, PERFILE_RULE_V_104, PF_FULL, e, "attr.extra",
                        "%zu unknown bytes are not 0", e->attr->extra.len);
}

/* Checks sample_type and the fields that it requires (V-105, V-106, V-111 to V-115). */
static void check_bits(pf_check *c, const perfile_event *e)
{
    uint64_t type = e->attr->sample_type;
    uint64_t both = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    /* Old kernels leaked their internal bit 63, __PERF_SAMPLE_CALLCHAIN_EARLY: the lesser case. */
    uint64_t unknown = type & ~(uint64_t)PERFILE_SAMPLE_KNOWN;
    if (unknown)
        pf_report_event(c, PERFILE_RULE_V_105, unknown << 1 ? PF_FULL : PF_LESSER, e,
                        "attr.sample_type", "unknown bits 0x%" PRIx64, unknown);
    if ((type & both) == both)
        pf_report_event(c, PERFILE_RULE_V_106, PF_FULL, e, "attr.sample_type",
                        "both WEIGHT and WEIGHT_STRUCT are set");
    if (type & PERFILE_SAMPLE_READ && !(e->attr->read_format & PERFILE_FORMAT_ID))
        pf_report_event(c, PERFILE_RULE_V_111, PF_FULL, e, "attr.read_format",
                        "sample_type has READ, but read_format has no ID");
    if (e->attr->read_format & ~(uint64_t)PERFILE_FORMAT_KNOWN)
        pf_report_event(c, PERFILE_RULE_V_112, type & PERFILE_SAMPLE_READ ? PF_FULL : PF_LESSER, e,
                        "attr.read_format", "unknown bits in 0x%" PRIx64, e->attr->read_format);
    if (type & PERFILE_SAMPLE_BRANCH_STACK &&
        e->attr->branch_sample_type & ~(uint64_t)PERFILE_BRANCH_KNOWN)
        pf_report_event(c, PERFILE_RULE_V_113, PF_FULL, e, "attr.branch_sample_type",
                        "unknown bits in 0x%" PRIx64, e->attr->branch_sample_type);
    if ((type & PERFILE_SAMPLE_REGS_USER && !e->attr->sample_regs_user) ||
        (type & PERFILE_SAMPLE_REGS_INTR && !e->attr->sample_regs_intr))
        pf_report_event(c, PERFILE_RULE_V_114, PF_FULL, e, "attr.sample_regs_user",
                        "registers are sampled, but their mask is 0");
    uint32_t stack = e->attr->sample_stack_user;
    if (type & PERFILE_SAMPLE_STACK_USER && (stack == 0 || stack % 8 || stack > STACK_MOST))
        pf_report_event(c, PERFILE_RULE_V_115, PF_FULL, e, "attr.sample_stack_user",
                        "%" PRIu32 " bytes of stack, not a multiple of 8 from 8 to %d", stack,
                        STACK_MOST);
}

/* Reports values that do not fit the kind of event: a frequency of 0 (V-117), precise_ip for
 * software events and tracepoints (V-118). */
static void check_kind(pf_check *c, const perfile_event *e)
{
    bool soft = e->attr->type == PERFILE_TYPE_SOFTWARE || e->attr->type == PERFILE_TYPE_TRACEPOINT;
    unsigned precise = (unsigned)(e->attr->flags >> PERFILE_ATTR_BIT_PRECISE_IP) & PRECISE_MASK;
    if (e->attr->is_freq && e->attr->sample_freq == 0 && e->attr->sample_type)
        pf_report_event(c, PERFILE_RULE_V_117, PF_FULL, e, "attr.sample_freq",
                        "the event samples by frequency, which is 0");
    if (soft && precise)
        pf_report_event(c, PERFILE_RULE_V_118, precise == PRECISE_MASK ? PF_LESSER : PF_FULL, e,
                        "attr.flags", "precise_ip is %u, not 0", precise);
}

static bool known_clock(int32_t clock)
{
    return perfile_vocabulary_word(pf_kind_words(PERFILE_KIND_CLOCKID), (uint64_t)clock) != NULL;
}

/* Checks that all events use the same, known clock (V-116). */
static void check_clock(pf_check *c, const perfile_event *e, const perfile_event *first)
{
    bool uses = flag(e, PERFILE_ATTR_BIT_USE_CLOCKID);
    if (uses != flag(first, PERFILE_ATTR_BIT_USE_CLOCKID) ||
        (uses && e->attr->clockid != first->attr->clockid))
        pf_report_event(c, PERFILE_RULE_V_116, PF_FULL, e, "attr.clockid",
                        "another clock than that of event 0");
    else if (uses && !known_clock(e->attr->clockid))
        pf_report_event(c, PERFILE_RULE_V_116, PF_FULL, e, "attr.clockid",
                        "clock %" PRId32 " is not known", e->attr->clockid);
}

/* Returns true for a file of `perf stat record`: it has no samples, so its events need no id. */
static bool counts_only(const pf_check *c)
{
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_STAT);
    return f && !f->damage;
}

/* Returns true if the event has samples, or records with trailers, that belong to it by their id.
 * `perf stat record` to a pipe has no feature STAT, and its events have neither. */
static bool has_records(const perfile_event *e)
{
    uint64_t every = e->attr->is_freq ? e->attr->sample_freq : e->attr->sample_period;
    return every || e->layout->sample_id_all;
}

/* Checks that with several events the id has the same position in all samples and trailers (V-107).
 * Each event is compared with the first one that has records. */
static void check_place_of_id(pf_check *c, const perfile_event *e)
{
    if (counts_only(c) || !has_records(e))
        return;
    const perfile_event *first = perfile_session_event(c->session, c->events.first_with_records);
    if (!first || !has_records(first)) {
        c->events.first_with_records = e->index;
        return;
    }
    const perfile_layout *l = e->layout;
    const perfile_layout *f = first->layout;
    int place = pf_layout_sample_id(l), other = pf_layout_sample_id(f);
    /* The two numbers are indexes of 64-bit words; a negative one means that the samples have no
     * id. */
    if (place < 0 || other < 0)
        pf_report_event(c, PERFILE_RULE_V_107, PF_FULL, e, "attr.sample_type",
                        "no id in the samples of event %" PRIu32 ", one of several",
                        place < 0 ? e->index : first->index);
    else if (place != other)
        pf_report_event(c, PERFILE_RULE_V_107, PF_FULL, e, "attr.sample_type",
                        "the id is word %d of its samples, word %d of those of event %" PRIu32,
                        place, other, first->index);
    else if (l->sample_id_all && f->sample_id_all &&
             pf_layout_trailer_id(l) != pf_layout_trailer_id(f))
        pf_report_event(c, PERFILE_RULE_V_107, PF_FULL, e, "attr.sample_type",
                        "the id is not at the same place of trailers as that of event %" PRIu32,
                        first->index);
}

static void check_against_first(pf_check *c, const perfile_event *e, const perfile_event *first)
{
    if (e->layout->sample_id_all != first->layout->sample_id_all)
        pf_report_event(c, PERFILE_RULE_V_108, PF_FULL, e, "attr.flags",
                        "sample_id_all is %d, that of event 0 is %d", e->layout->sample_id_all,
                        first->layout->sample_id_all);
    check_place_of_id(c, e);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Checks that ids are not 0 and belong to only one event (V-110).  They are sorted to find
 * duplicates.  At most PF_CHECK_IDS are checked, to bound memory. */
static perfile_status check_ids(pf_check *c, const perfile_event *e, perfile_error *err)
{
    size_t n = e->ids.n < PF_CHECK_IDS ? e->ids.n : PF_CHECK_IDS;
    if (n == 0)
        return PERFILE_OK;
    uint64_t *ids = pf_alloc(n, sizeof *ids);
    if (!ids)
        return pf_fail_nomem(err, "check");
    perfile_words_copy(&e->ids, ids, n);
    qsort(ids, n, sizeof *ids, by_value);
    for (size_t i = 0; i < n; i++) {
        const perfile_event *owner = perfile_session_event_by_id(c->session, ids[i]);
        if (ids[i] == 0)
            pf_report_event(c, PERFILE_RULE_V_110, PF_FULL, e, "attr.ids", "an id is 0");
        else if (i && ids[i] == ids[i - 1])
            pf_report_event(c, PERFILE_RULE_V_110, PF_FULL, e, "attr.ids",
                            "id %" PRIu64 " is listed twice", ids[i]);
        else if (owner && owner->index != e->index)
            pf_report_event(c, PERFILE_RULE_V_110, PF_FULL, e, "attr.ids",
                            "id %" PRIu64 " is that of event %" PRIu32 " too", ids[i],
                            owner->index);
    }
    pf_free(ids);
    return PERFILE_OK;
}

/* Makes the plan of the event for sample.c. */
static void make_plan(pf_check *c, const perfile_event *e)
{
    pf_check_plan *p = &c->events.plans[e->index];
    bool tracepoint = e->attr->type == PERFILE_TYPE_TRACEPOINT;
    c->events.has_tracepoints |= tracepoint;
    *p = (pf_check_plan){.tracepoint = tracepoint ? e->attr->config : UINT64_MAX,
                         .id_at = (int8_t)pf_layout_sample_id(e->layout),
                         .shape = pf_sample_shape_of(e->layout->sample_type)};
    /* An event without a period of its own is a member of a group, sampled with its leader: its
     * samples may have period 0. */
    p->may_lack_period = !e->attr->is_freq && e->attr->sample_period == 0;
}

/* Checks all rules for an event that is new in the session. */
static perfile_status check_event(pf_check *c, const perfile_event *e, perfile_error *err)
{
    const perfile_event *first = perfile_session_event(c->session, 0);
    check_size(c, e);
    check_reserved(c, e);
    check_bits(c, e);
    check_kind(c, e);
    check_clock(c, e, first);
    if (e->index)
        check_against_first(c, e, first);
    if (e->ids.n)
        c->events.has_ids = true;
    if (flag(e, PERFILE_ATTR_BIT_WRITE_BACKWARD))
        c->events.backward = true;
    make_plan(c, e);
    return check_ids(c, e, err);
}

/* See check.h.  Clears the cache of the last id, because ids may belong to another event now. */
perfile_status pf_check_attrs(pf_check *c, perfile_error *err)
{
    uint32_t n = pf_session_n_events(c->session);
    if (n > c->events.plans_cap) {
        uint32_t cap = n < UINT32_MAX / 2 ? 2 * n : n;
        pf_check_plan *more = pf_realloc(c->events.plans, cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "check");
        c->events.plans = more;
        c->events.plans_cap = cap;
    }
    c->events.has_last = false;
    while (c->events.n < n) {
        const perfile_event *e = perfile_session_event(c->session, c->events.n);
        perfile_status st = check_event(c, e, err);
        if (st != PERFILE_OK)
            return st;
        c->events.n++;
    }
    return PERFILE_OK;
}

/* Checks that a sampled tracepoint has RAW data, and that TRACING_DATA describes it (V-119). */
static void check_tracepoint(pf_check *c, const perfile_event *e)
{
    /* A tracepoint may be counted without being sampled. */
    bool samples = e->attr->sample_type && !counts_only(c);
    if (e->attr->type != PERFILE_TYPE_TRACEPOINT || !samples)
        return;
    if (!(e->attr->sample_type & PERFILE_SAMPLE_RAW))
        pf_report_event(c, PERFILE_RULE_V_119, PF_FULL, e, "attr.sample_type",
                        "a tracepoint without RAW data");
    if (!perfile_session_feature(c->session, PERFILE_FEATURE_TRACING_DATA))
        pf_report_event(c, PERFILE_RULE_V_119, PF_FULL, e, "attr.config",
                        "there is no TRACING_DATA for tracepoint %" PRIu64, e->attr->config);
    else if (!pf_session_has_tracepoint(c->session, e->attr->config))
        pf_report_event(c, PERFILE_RULE_V_119, PF_FULL, e, "attr.config",
                        "TRACING_DATA does not describe tracepoint %" PRIu64, e->attr->config);
}

void pf_check_attrs_end(pf_check *c)
{
    uint32_t n = pf_session_n_events(c->session);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(c->session, i);
        check_tracepoint(c, e);
        /* This is an error only if some record has an id that no event has; otherwise no record was
         * affected. */
        if (n > 1 && e->ids.n == 0 && !e->ids_damage)
            pf_report_event(
                c, PERFILE_RULE_V_109,
                c->found.n[PERFILE_RULE_V_210][PF_FULL] || c->found.n[PERFILE_RULE_V_210][PF_LESSER]
                    ? PF_FULL
                    : PF_LESSER,
                e, "attr.ids", "the event has no ids, although there are several events");
    }
}
