/* Rules for samples.  Each sample is decoded once, and all rules examine the decoded struct in one
 * pass.
 *
 * This is the hot path of validation.  Rules for fields that few samples have come after a test of
 * `present` (check_rare_fields()), and the last id found is cached. */
#include <inttypes.h>

#include "base/byte_order.h"
#include "check/check.h"
#include "core/layout.h"
#include "schema/command.h"
#include "core/command.h"

enum {
    LEAST_RAW = 8,  /* common fields of a tracepoint: type, flags, preempt_count, pid */
    FIRST_IDS = 16, /* more ids than fit into the difference of the largest and smallest attr */
    MISPREDICTED_PREDICTED = 3, /* both bits of a branch entry's flags */
    BRANCH_ENTRY = 24,          /* bytes: from, to, flags */
    BRANCH_FLAGS = 16           /* offset of flags */
};

static bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

void pf_check_note_id(pf_check *c, const perfile_event *e, uint64_t id)
{
    if (e->origin != PERFILE_ORIGIN_STREAM) /* only HEADER_ATTR is misread, see traits.c */
        return;
    for (size_t i = 0; i < e->ids.n && i < FIRST_IDS; i++) {
        uint64_t offset = e->attr->size + 8 * i;
        if (perfile_word(&e->ids, i) == id &&
            (!c->traits.first_id_offset || offset < c->traits.first_id_offset))
            c->traits.first_id_offset = offset;
    }
}

/* Returns the plan of the event that the sample belongs to.  Reports an id that is not an id of any
 * event (V-210).  Samples without an id, or with id 0, belong to the first event. */
static const pf_check_plan *plan_of(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    static const pf_check_plan unattributed = {.tracepoint = UINT64_MAX};
    uint64_t id = s->present & PERFILE_SAMPLE_IDENTIFIER ? s->identifier : s->id;
    bool has_id = s->present & (PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID);
    if (!has_id || id == 0 || !c->events.has_ids)
        return c->events.n ? &c->events.plans[0] : &unattributed;
    if (c->events.has_last && id == c->events.last_id)
        return &c->events.plans[c->events.last_owner];
    const perfile_event *e = perfile_session_event_by_id(c->session, id);
    if (!e || e->index >= c->events.n) {
        pf_report(c, PERFILE_RULE_V_210, PF_LESSER, r, "sample.id", "no event has id %" PRIu64, id);
        return &unattributed;
    }
    c->events.has_last = true;
    c->events.last_id = id;
    c->events.last_owner = e->index;
    pf_check_note_id(c, e, id);
    return &c->events.plans[e->index];
}

/* Returns the number of contexts in a chain of n entries.  `swap` is a constant in the callers, so
 * that the compiler makes a vector loop for each value. */
static inline size_t count_contexts(const uint8_t *at, size_t n, bool swap)
{
    size_t contexts = 0;
    for (size_t i = 0; i < n; i++)
        contexts += pf_load_u64(at + 8 * i, swap) >= PF_CONTEXT_LEAST;
    return contexts;
}

/* Checks each context of a chain, and notes the cookie of a deferred call chain.  It is slow and
 * only called for chains with contexts after the first entry, or an uncommon one there. */
static void check_contexts(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    const uint8_t *at = s->callchain.ptr;
    size_t n = s->callchain.n;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = pf_load_u64(at + 8 * i, s->callchain.swapped);
        if (v < PF_CONTEXT_LEAST || v == PF_CONTEXT_KERNEL || v == PF_CONTEXT_USER)
            continue;
        if (v == PF_CONTEXT_DEFERRED) {
            i++; /* the cookie may look like anything */
            if (i < n)
                pf_check_cookie_announced(c, s->tid, perfile_word(&s->callchain, i));
        } else if (!perfile_vocabulary_word(pf_kind_words(PERFILE_KIND_CHAIN), v)) {
            pf_report(c, PERFILE_RULE_V_309, PF_FULL, r, "sample.callchain",
                      "entry %zu of the call chain is the unknown context %" PRId64, i, (int64_t)v);
        }
    }
}

/* Checks that a call chain begins with a context, and that all its contexts are known (V-309). */
static void check_callchain(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    const uint8_t *at = s->callchain.ptr;
    bool swap = s->callchain.swapped;
    size_t n = s->callchain.n;
    if (n == 0)
        return;
    uint64_t first = pf_load_u64(at, swap);
    if (first < PF_CONTEXT_LEAST)
        pf_report(c, PERFILE_RULE_V_309, PF_FULL, r, "sample.callchain",
                  "the call chain begins with 0x%" PRIx64 ", not with a context", first);
    /* Most chains have a single context, KERNEL or USER, at the beginning. */
    size_t contexts = swap ? count_contexts(at, n, true) : count_contexts(at, n, false);
    if (contexts != (first == PF_CONTEXT_KERNEL || first == PF_CONTEXT_USER))
        check_contexts(c, r, s);
}

/* Checks that no branch is both predicted and mispredicted (V-314).  Only the first such branch is
 * reported. */
static void check_branches(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    const perfile_list *l = &s->branch_stack.lbr;
    bool big = pf_session_byte_order(c->session) == PERFILE_BYTE_ORDER_BIG;
    for (size_t i = 0; (i + 1) * BRANCH_ENTRY <= l->bytes.len; i++) {
        uint64_t flags = pf_load_u64(l->bytes.ptr + i * BRANCH_ENTRY + BRANCH_FLAGS, l->swapped);
        /* The flags are C bit-fields: on big-endian machines the first ones are the top bits. */
        if (((big ? flags >> 62 : flags) & MISPREDICTED_PREDICTED) != MISPREDICTED_PREDICTED)
            continue;
        pf_report(c, PERFILE_RULE_V_314, PF_FULL, r, "sample.branch_stack",
                  "branch %zu is both predicted and mispredicted", i);
        break;
    }
}

/* Returns true if RAW data begins with the number of the tracepoint.  Both byte orders are
 * accepted, because a file that was rewritten on a machine of the other byte order has unchanged
 * RAW data. */
static bool raw_begins_with(uint64_t tracepoint, const uint8_t *raw, bool swap)
{
    return pf_load_u16(raw, swap) == tracepoint || pf_load_u16(raw, !swap) == tracepoint;
}

/* Returns the index of the event that the sample belongs to, by one load and one lookup, without
 * reporting anything.  Returns UINT64_MAX if this needs a full check. */
static uint64_t fast_owner(const pf_check *c, const perfile_record *r)
{
    int at = c->events.plans[0].id_at;
    if (at < 0 || !c->events.has_ids)
        return pf_session_layout(c->session) ? 0 : UINT64_MAX;
    if (r->body.len < 8 * ((size_t)at + 1))
        return UINT64_MAX;
    uint64_t id = pf_load_u64(r->body.ptr + 8 * at, is_swapped(r));
    if (id == 0)
        return 0;
    uint32_t owner = pf_ids_find(pf_session_ids(c->session), id);
    return owner < c->events.n && c->events.plans[owner].id_at == at ? owner : UINT64_MAX;
}

bool pf_check_raw_fits(const pf_check *c, const perfile_record *r)
{
    uint64_t owner = c->events.n ? fast_owner(c, r) : UINT64_MAX;
    if (owner > UINT32_MAX)
        return false;
    const pf_check_plan *plan = &c->events.plans[owner];
    perfile_bytes raw = {NULL, 0};
    if (!plan->shape.known ||
        !pf_sample_shape_fits(&plan->shape, r->body.ptr, r->body.len, is_swapped(r), &raw))
        return false;
    if (plan->tracepoint == UINT64_MAX || !plan->shape.raw)
        return true;
    return raw.len >= LEAST_RAW && raw_begins_with(plan->tracepoint, raw.ptr, is_swapped(r));
}

/* Checks the size of RAW data (V-307), and for tracepoints the number at its beginning (V-308). */
static void check_raw(pf_check *c, const perfile_record *r, const perfile_sample *s,
                      const pf_check_plan *plan)
{
    if ((s->raw_size + 4) % 8) /* 4: the bytes of the size itself */
        pf_report(c, PERFILE_RULE_V_307, PF_FULL, r, "sample.raw_size",
                  "%" PRIu32 " bytes of raw data: with their size they are not a multiple of 8",
                  s->raw_size);
    if (plan->tracepoint == UINT64_MAX)
        return;
    if (s->raw_size < LEAST_RAW) {
        pf_report(c, PERFILE_RULE_V_308, PF_FULL, r, "sample.raw",
                  "%" PRIu32 " bytes of raw data, a tracepoint has at least %d", s->raw_size,
                  LEAST_RAW);
        return;
    }
    if (!raw_begins_with(plan->tracepoint, s->raw.ptr, is_swapped(r)))
        pf_report(c, PERFILE_RULE_V_308, PF_FULL, r, "sample.raw",
                  "raw data of tracepoint %u, the event is tracepoint %" PRIu64,
                  pf_load_u16(s->raw.ptr, is_swapped(r)), plan->tracepoint);
}

/* Checks READ values in samples: the ids of the counters are known, and a group is not empty
 * (V-311). */
static void check_values(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    const perfile_read_values *v = &s->values;
    if (!v->has_group) {
        c->traits.nameless_values += !v->has_id;
        if (v->has_id && v->id && c->events.has_ids &&
            !perfile_session_event_by_id(c->session, v->id))
            pf_report(c, PERFILE_RULE_V_311, PF_FULL, r, "sample.values",
                      "no event has id %" PRIu64, v->id);
        return;
    }
    if (v->nr == 0) {
        c->traits.empty_groups++;
        pf_report(c, PERFILE_RULE_V_311, PF_FULL, r, "sample.values", "the group has no counters");
    }
    perfile_list list = v->cntr, first = list;
    perfile_read_entry e;
    if (perfile_read_entry_next(&first, &e, sizeof e) == PERFILE_OK)
        c->traits.nameless_values += !e.has_id;
    while (perfile_read_entry_next(&list, &e, sizeof e) == PERFILE_OK)
        if (e.has_id && c->events.has_ids && !perfile_session_event_by_id(c->session, e.id)) {
            pf_report(c, PERFILE_RULE_V_311, PF_FULL, r, "sample.values",
                      "no event has id %" PRIu64, e.id);
            break;
        }
}

static void check_abi(pf_check *c, const perfile_record *r, uint64_t abi, const char *field)
{
    if (abi > 2)
        pf_report(c, PERFILE_RULE_V_310, PF_FULL, r, field, "registers of unknown ABI %" PRIu64,
                  abi);
}

/* Returns true if a reader fails that takes the first four bytes of the raw data for their size.
 * These bytes are where the size is if 64-bit words are byte-swapped as a whole. */
static bool needs_raw_size(const perfile_record *r, const perfile_sample *s)
{
    const uint64_t up_to_raw = 2 * (uint64_t)PERFILE_SAMPLE_RAW - 1;
    const size_t left = (size_t)(r->body.ptr + r->body.len - s->raw.ptr);
    if (s->present & ~(up_to_raw | PERFILE_SAMPLE_IDENTIFIER) || s->raw.len < sizeof(uint32_t))
        return true; /* other fields follow it */
    return pf_load_u32(s->raw.ptr, r->flags & PERFILE_REC_SWAPPED) > left;
}

/* Checks fields that most samples do not have. */
static void check_rare_fields(pf_check *c, const perfile_record *r, const perfile_sample *s,
                              const pf_check_plan *plan)
{
    if (s->present & PERFILE_SAMPLE_READ)
        check_values(c, r, s);
    if (s->present & PERFILE_SAMPLE_RAW) {
        c->traits.raw_samples += needs_raw_size(r, s);
        check_raw(c, r, s, plan);
    }
    if (s->present & PERFILE_SAMPLE_BRANCH_STACK)
        check_branches(c, r, s);
    if (s->present & PERFILE_SAMPLE_REGS_USER)
        check_abi(c, r, s->regs_user.abi, "sample.regs_user");
    if (s->present & PERFILE_SAMPLE_REGS_INTR)
        check_abi(c, r, s->regs_intr.abi, "sample.regs_intr");
    if (s->present & PERFILE_SAMPLE_STACK_USER && s->stack_user.dyn_size > s->stack_user.size)
        pf_report(c, PERFILE_RULE_V_304, PF_FULL, r, "sample.stack_user",
                  "%" PRIu64 " bytes of the stack are valid, %" PRIu64 " were copied",
                  s->stack_user.dyn_size, s->stack_user.size);
    if ((s->present & (PERFILE_SAMPLE_ID | PERFILE_SAMPLE_IDENTIFIER)) ==
            (PERFILE_SAMPLE_ID | PERFILE_SAMPLE_IDENTIFIER) &&
        s->id != s->identifier)
        pf_report(c, PERFILE_RULE_V_305, PF_FULL, r, "sample.id",
                  "IDENTIFIER is %" PRIu64 ", ID %" PRIu64, s->identifier, s->id);
}

/* Checks that the field next to the CPU number is 0 (V-306), and that the machine has this CPU
 * (V-213).  UINT32_MAX means no CPU. */
static void check_cpu(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    if (s->res)
        pf_report(c, PERFILE_RULE_V_306, PF_FULL, r, "sample.res",
                  "the field next to CPU %" PRIu32 " is 0x%" PRIx32 ", not 0", s->cpu, s->res);
    if (c->n_cpus && s->cpu >= c->n_cpus && s->cpu != UINT32_MAX)
        pf_report(c, PERFILE_RULE_V_213, PF_FULL, r, "sample.cpu",
                  "CPU %" PRIu32 ", the machine has %" PRIu32, s->cpu, c->n_cpus);
}

/* Checks the order of time and feature SAMPLE_TIME (V-312), and updates the range of times of all
 * samples. */
static void check_sample_time(pf_check *c, const perfile_record *r, const perfile_sample *s)
{
    bool has_cpu = s->present & PERFILE_SAMPLE_CPU;
    pf_check_time(c, r, s->time, has_cpu ? s->cpu : UINT32_MAX);
    if (s->time < c->times.first_sample)
        c->times.first_sample = s->time;
    if (s->time > c->times.last_sample)
        c->times.last_sample = s->time;
    /* One unsigned comparison: also true for a time before span_first. */
    if (s->time - c->times.span_first > c->times.span_last - c->times.span_first)
        pf_report(c, PERFILE_RULE_V_312, PF_FULL, r, "sample.time",
                  "time %" PRIu64 " is outside of SAMPLE_TIME", s->time);
}

/* Checks all rules for one sample.  A sample that cannot be decoded has one finding, and no other
 * rule is checked. */
void pf_check_sample(pf_check *c, const perfile_record *r)
{
    enum {
        /* Fields for which check_rare_fields() is needed. */
        RARE = PERFILE_SAMPLE_READ | PERFILE_SAMPLE_RAW | PERFILE_SAMPLE_BRANCH_STACK |
               PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_REGS_INTR | PERFILE_SAMPLE_STACK_USER
    };
    const perfile_sample *s;
    perfile_error why;
    pf_check_header(c, r);
    if (perfile_stream_sample(&c->base, r, &s, &why) != PERFILE_OK) {
        pf_check_undecodable(c, r, why.damage);
        return;
    }
    const pf_check_plan *plan = plan_of(c, r, s);
    if (s->has_extra)
        pf_report(c, PERFILE_RULE_V_302, s->extra.len < 8 ? PF_LESSER : PF_FULL, r, "sample.extra",
                  "%zu bytes are left after the last field", s->extra.len);
    if (s->present & PERFILE_SAMPLE_CPU)
        check_cpu(c, r, s);
    if (s->present & PERFILE_SAMPLE_TIME)
        check_sample_time(c, r, s);
    if (s->present & PERFILE_SAMPLE_PERIOD && s->period == 0 && !plan->may_lack_period)
        pf_report(c, PERFILE_RULE_V_313, PF_FULL, r, "sample.period", "the period is 0");
    if (s->present & PERFILE_SAMPLE_CALLCHAIN)
        check_callchain(c, r, s);
    if (s->present & RARE ||
        (s->present & PERFILE_SAMPLE_ID && s->present & PERFILE_SAMPLE_IDENTIFIER))
        check_rare_fields(c, r, s, plan);
    if (s->present & PERFILE_SAMPLE_TID) {
        /* Only user code has mappings of its process. */
        bool user = (r->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_CPUMODE_USER;
        pf_check_note_sample(c, r, s, user && s->present & PERFILE_SAMPLE_IP);
    }
}
