/* Plans: how records of each event are rewritten.  They are made once, when the event becomes
 * known; for each record its plan is only looked up.  Record types that no plan changes pass
 * without looking at the event (plain_types()).
 *
 * Also here: attrs, features and records that are dropped together with a field, and CPU ranges as
 * lists. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/layout.h"
#include "transform/target.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "core/command.h"

/* If the plan inserts an id (ID in place of IDENTIFIER), copies it from the 64-bit word `from` of
 * the record instead, which is its IDENTIFIER. */
static void take_own_id(pf_relayout_words *w, int from)
{
    for (uint8_t i = 0; i < w->n_moves; i++)
        if (w->moves[i].n == 0)
            w->moves[i] = (pf_relayout_move){.from = (uint8_t)from, .n = 1};
}

/* Makes the plan of one event. */
static void make_plan(pf_target *t, const perfile_event *e, pf_target_plan *plan)
{
    perfile_layout to;
    const perfile_layout *from = e->layout;
    pf_target_layout(t, e, &to);
    *plan = (pf_target_plan){.changes = false};
    /* This never fails: the new layout only lacks fields that the old one has. */
    if (pf_relayout_plan(&plan->relayout, from, &to, NULL) != PERFILE_OK)
        return;
    uint64_t lost = from->sample_type & ~to.sample_type;
    take_own_id(&plan->relayout.front, from->sample_slot[PF_SLOT_IDENTIFIER]);
    take_own_id(&plan->relayout.trailer,
                from->trailer_slots - from->trailer_slot[PF_SLOT_IDENTIFIER]);
    plan->convert_weight =
        lost & PERFILE_SAMPLE_WEIGHT_STRUCT && to.sample_type & PERFILE_SAMPLE_WEIGHT;
    plan->changes = plan->convert_weight ||
                    !pf_relayout_is_unchanged(&plan->relayout, PERFILE_RECORD_SAMPLE) ||
                    !pf_relayout_is_unchanged(&plan->relayout, PERFILE_RECORD_READ);
    /* Bits unknown to all versions are not fields that could be cut out.  Fields that the caller
     * drops are not a loss, and IDENTIFIER becomes ID. */
    plan->lost_sample = lost & pf_low_bits(pf_releases[PF_N_RELEASES - 1].sample_bits) &
                        ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER & ~t->options.drop;
    if (plan->convert_weight)
        plan->lost_sample &= ~(uint64_t)PERFILE_SAMPLE_WEIGHT_STRUCT;
    /* READ records lose fields of read_format, and so do samples that contain the same values. */
    plan->lost_by_read = from->read_format & ~to.read_format;
    if (from->sample_type & PERFILE_SAMPLE_READ)
        plan->lost_read = plan->lost_by_read;
    if (from->sample_type & PERFILE_SAMPLE_BRANCH_STACK)
        plan->lost_branch = (from->branch_sample_type & ~to.branch_sample_type) &
                            (PERFILE_BRANCH_HW_INDEX | PERFILE_BRANCH_COUNTERS);
}

/* Returns the kernel types, by bit, of records that pass unchanged and wait for nothing. */
static uint64_t plain_types(const pf_target *t)
{
    uint64_t plain = 0;
    const bool waits = !pf_release_knows_type(t->release, PERFILE_RECORD_CALLCHAIN_DEFERRED);
    for (uint32_t type = 1; type < PERFILE_RECORD_USER; type++)
        if (pf_release_knows_type(t->release, type))
            plain |= UINT64_C(1) << type;
    if (!pf_release_knows_map_build_ids(t->release))
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_MMAP2);
    if (t->changes)
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_SAMPLE | UINT64_C(1) << PERFILE_RECORD_READ);
    if (t->cuts_trailers) /* all kernel records except samples have trailers */
        plain = 0;
    if (pf_target_drops_record(t, PERFILE_RECORD_CALLCHAIN_DEFERRED))
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_CALLCHAIN_DEFERRED);
    for (uint32_t i = 0; i < t->n_plans && waits; i++)
        if (t->plans[i].relayout.to.sample_type & PERFILE_SAMPLE_CALLCHAIN)
            plain &= ~(UINT64_C(1) << PERFILE_RECORD_SAMPLE);
    return plain;
}

/* Readers expect the ids of all events at the same offset: fails if dropping fields breaks this.
 * `number` is the event of the plan `other`. */
static perfile_status check_ids(const pf_relayout *first, const pf_relayout *other, uint32_t number,
                                perfile_error *err)
{
    const bool had = pf_layout_sample_id(&first->from) == pf_layout_sample_id(&other->from) &&
                     pf_layout_trailer_id(&first->from) == pf_layout_trailer_id(&other->from);
    const bool has = pf_layout_sample_id(&first->to) == pf_layout_sample_id(&other->to) &&
                     pf_layout_trailer_id(&first->to) == pf_layout_trailer_id(&other->to);
    if (has || !had)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "target.sample_type",
                   "events 0 and %u do not have the same fields before their ids: without "
                   "the dropped fields their ids would be at different places, and records "
                   "could not be attributed to their events",
                   number);
}

perfile_status pf_target_update_plans(pf_target *t, perfile_error *err)
{
    const perfile_session *below = t->base.below->session;
    uint32_t n = pf_session_n_events(below);
    while (t->n_plans < n) {
        if (t->n_plans == t->plans_cap) {
            uint32_t cap = t->plans_cap ? 2 * t->plans_cap : 8;
            pf_target_plan *more = pf_realloc(t->plans, cap, sizeof *more);
            if (!more)
                return pf_fail_nomem(err, "target");
            t->plans = more;
            t->plans_cap = cap;
        }
        pf_target_plan *plan = &t->plans[t->n_plans];
        make_plan(t, perfile_session_event(below, t->n_plans), plan);
        const pf_relayout *first = &t->plans[0].relayout;
        t->changes |= plan->changes;
        t->cuts_trailers |= !plan->relayout.trailer.same;
        t->one_trailer =
            (t->n_plans == 0 || t->one_trailer) &&
            memcmp(&plan->relayout.trailer, &first->trailer, sizeof first->trailer) == 0;
        perfile_status st = check_ids(first, &plan->relayout, t->n_plans, err);
        if (st != PERFILE_OK)
            return st;
        t->n_plans++;
        t->plain = plain_types(t);
    }
    return PERFILE_OK;
}

/* Things dropped together with sample fields: members and flags of attrs, features and records that
 * describe only such a field.  perf rejects a capture with a feature about a field that no sample
 * has (BRANCH_STACK). */

enum { NO_FEATURE = 0, NO_RECORD = 0 };

/* A field of samples, and the parts that are dropped with it. */
typedef struct row {
    uint64_t field;     /* PERFILE_SAMPLE_… */
    const char *member; /* of the attr, set to 0; NULL: none */
    uint64_t flags;     /* of the attr, cleared */
    uint32_t feature;   /* PERFILE_FEATURE_…, left out */
    uint32_t type;      /* record type, dropped */
} row;

#define FLAG(name) (UINT64_C(1) << PERFILE_ATTR_BIT_##name)

/* sample_regs_user has no meaning without REGS_USER, and so on.  CLOCKID, CLOCK_DATA and
 * CPU_TOPOLOGY describe the machine and stay true whatever fields samples have. */
static const row rows[] = {
    {PERFILE_SAMPLE_TIME, NULL, 0, PERFILE_FEATURE_SAMPLE_TIME, NO_RECORD},
    {PERFILE_SAMPLE_CALLCHAIN, "sample_max_stack",
     FLAG(EXCLUDE_CALLCHAIN_KERNEL) | FLAG(EXCLUDE_CALLCHAIN_USER) | FLAG(DEFER_CALLCHAIN) |
         FLAG(DEFER_OUTPUT),
     NO_FEATURE, PERFILE_RECORD_CALLCHAIN_DEFERRED},
    {PERFILE_SAMPLE_BRANCH_STACK, "branch_sample_type", 0, PERFILE_FEATURE_BRANCH_STACK, NO_RECORD},
    {PERFILE_SAMPLE_REGS_USER, "sample_regs_user", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_STACK_USER, "sample_stack_user", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_REGS_INTR, "sample_regs_intr", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_AUX, "aux_sample_size", 0, NO_FEATURE, NO_RECORD},
};

/* Loops over the rows of the fields in `drop`. */
#define FOR_DROPPED(r, drop)                                                                       \
    for (const row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++)                        \
        if (r->field & (drop))

bool pf_target_drops_member(const pf_target *t, const char *member)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->member && strcmp(r->member, member) == 0)
        return true;
    return false;
}

uint64_t pf_target_drops_flags(const pf_target *t)
{
    uint64_t flags = 0;
    FOR_DROPPED(r, t->options.drop)
    flags |= r->flags;
    return flags;
}

bool pf_target_drops_feature(const pf_target *t, uint32_t number)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->feature && r->feature == number)
        return true;
    return false;
}

bool pf_target_drops_record(const pf_target *t, uint32_t type)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->type && r->type == type)
        return true;
    return false;
}

/* CPU sets that are stored as a range are converted to lists, for versions that know only lists and
 * masks.  They are in CPU_MAP records, and after a fixed part in EVENT_UPDATE records. */

enum {
    UPDATE_FIXED = 16, /* bytes of the body of EVENT_UPDATE before the set */
    LIST = 0,          /* type of the set: a list of 16-bit numbers */
    ANY = 0xffff       /* -1 in a list: any CPU */
};

/* Returns the set in the record, decoded to *map or *update, or NULL if it is not a range or cannot
 * be read.  *prefix is the number of bytes before it in the body. */
static const perfile_cpu_map_data *range_of(const perfile_record *r, perfile_cpu_map *map,
                                            perfile_event_update *update, size_t *prefix)
{
    *prefix = r->type == PERFILE_RECORD_CPU_MAP ? 0 : UPDATE_FIXED;
    if (r->type == PERFILE_RECORD_CPU_MAP)
        return perfile_cpu_map_decode(r, map, sizeof *map, NULL) == PERFILE_OK && map->cpus.is_range
                   ? &map->cpus
                   : NULL;
    return perfile_event_update_decode(r, update, sizeof *update, NULL) == PERFILE_OK &&
                   update->has_cpus && update->cpus.is_range
               ? &update->cpus
               : NULL;
}

bool pf_target_has_cpu_range(const pf_target *t, const perfile_record *r)
{
    enum { WITH_RANGES = 3 }; /* kinds of sets if ranges are known: list, mask, range */
    perfile_cpu_map map;
    perfile_event_update update;
    size_t prefix;
    return t->release->cpu_maps < WITH_RANGES && range_of(r, &map, &update, &prefix) != NULL;
}

size_t pf_target_range_to_list(const perfile_record *r, uint8_t *out)
{
    const bool swapped = r->flags & PERFILE_REC_SWAPPED;
    perfile_cpu_map map;
    perfile_event_update update;
    size_t prefix;
    const perfile_cpu_map_data *set = range_of(r, &map, &update, &prefix);
    size_t n = set->start_cpu <= set->end_cpu ? (size_t)set->end_cpu - set->start_cpu + 1 : 0;
    /* Type and count, 16 bits each, then the numbers. */
    size_t size = PF_PERF_RECORD_HEADER + prefix + 4 + 2 * (n + (set->any_cpu != 0));
    size = (size + 7) / 8 * 8;
    if (size > UINT16_MAX)
        return 0;
    memset(out, 0, size);
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    memcpy(out + PF_PERF_RECORD_HEADER, r->body.ptr, prefix);
    pf_store_u16(out + 6, (uint16_t)size, swapped);
    uint8_t *to = out + PF_PERF_RECORD_HEADER + prefix;
    pf_store_u16(to, LIST, swapped);
    pf_store_u16(to + 2, (uint16_t)(n + (set->any_cpu != 0)), swapped);
    to += 4;
    if (set->any_cpu) {
        pf_store_u16(to, ANY, swapped);
        to += 2;
    }
    for (size_t i = 0; i < n; i++)
        pf_store_u16(to + 2 * i, (uint16_t)(set->start_cpu + i), swapped);
    return size;
}
