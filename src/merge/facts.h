/* Features of merged captures: what merge_features.c shares with those that join one kind each. */
#ifndef PF_MERGE_FACTS_H
#define PF_MERGE_FACTS_H

#include "base/error.h"
#include "perfile/encode.h"
#include "merge/merge.h"

/* Things by number and name, and by value where that is asked for, each kept once.  Their bytes are
 * borrowed. */
typedef struct pf_merge_entry {
    uint64_t number;
    perfile_bytes name, value;
    uint32_t input; /* the first that has it */
    uint32_t link;  /* the caller's */
    uint32_t next;  /* of the same hash; its position + 1 */
    bool refused;   /* the caller's */
} pf_merge_entry;

typedef struct pf_merge_entries {
    pf_index heads; /* hash -> position of the first that has it */
    pf_buffer items;
    bool by_value;
} pf_merge_entries;

/* The one that is there, or NULL.  Valid until the next is added, as that of take(). */
pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want);
/* The same, or a copy of *want that is added; NULL when there is no memory. */
pf_merge_entry *pf_merge_entries_take(pf_merge_entries *e, const pf_merge_entry *want, bool *added);
pf_merge_entry *pf_merge_entries_at(const pf_merge_entries *e, uint32_t position);
uint32_t pf_merge_entries_position(const pf_merge_entries *e, const pf_merge_entry *one);
void pf_merge_entries_free(pf_merge_entries *e);

static inline bool pf_same_bytes(perfile_bytes a, perfile_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Text of an input for "%.*s". */
#define PF_SHOWN(b) (int)((b).len < 64 ? (b).len : 64), (b).len ? (const char *)(b).ptr : ""

/* The feature of input `k` as far as it is there, else NULL. */
const perfile_feature *pf_fact_of(const pf_merge *x, uint32_t k, uint32_t number);
/* The same of the first input that has it; its position; whether that of input `k` is another. */
const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number);
uint32_t pf_fact_first_input(const pf_merge *x, uint32_t number);
bool pf_fact_differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first);
/* Whether all that have it have the same bytes. */
bool pf_fact_is_same(const pf_merge *x, uint32_t number);

/* Puts a feature into the output.  `stable`: the bytes are those of an input. */
perfile_status pf_fact_add(pf_merge *x, uint32_t number, perfile_bytes payload, bool stable,
                           perfile_error *err);
/* The same of what was made of several inputs, which is told. */
perfile_status pf_fact_join(pf_merge *x, uint32_t number, const pf_buffer *made,
                            perfile_error *err);

/* "feature NAME: " and the rest. */
void pf_fact_report(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input,
                    uint64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));
void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k);
/* `count` entries of input `k` were left out, for that reason. */
void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why);

static inline perfile_encode_options pf_fact_order(const pf_merge *x)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = perfile_session_byte_order(x->base.session)};
}

/* make_ID(): the payload of feature ID behind what is in `out`. */
#define PF_FACT_MAKER(id)                                                                          \
    static perfile_status make_##id(const pf_merge *x, const perfile_##id *v, pf_buffer *out,      \
                                    perfile_error *err)                                            \
    {                                                                                              \
        const perfile_encode_options how = pf_fact_order(x);                                       \
        size_t len;                                                                                \
        perfile_status st = perfile_##id##_encode(v, sizeof *v, &how, NULL, 0, &len, err);         \
        if (st != PERFILE_OK)                                                                      \
            return st;                                                                             \
        if (!pf_buffer_reserve(out, len))                                                          \
            return pf_fail_nomem(err, "merge");                                                    \
        st = perfile_##id##_encode(v, sizeof *v, &how, out->ptr + out->len, len, &len, err);       \
        out->len += st == PERFILE_OK ? len : 0;                                                    \
        return st;                                                                                 \
    }

/* merge_features.c: kept when it is the same everywhere. */
perfile_status pf_join_same(pf_merge *x, uint32_t number, perfile_error *err);
/* merge_values.c */
perfile_status pf_join_topology(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_nodes(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_hosts(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_most(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_flag(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_span(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_clock(pf_merge *x, uint32_t number, perfile_error *err);
/* merge_lists.c */
perfile_status pf_join_list(pf_merge *x, uint32_t number, perfile_error *err);
/* merge_tracing.c */
perfile_status pf_join_tracing(pf_merge *x, uint32_t number, perfile_error *err);
/* merge_groups.c */
perfile_status pf_join_groups(pf_merge *x, uint32_t number, perfile_error *err);
/* merge_names.c: event types; EVENT_DESC, which is made when an input has it or when names would be
 * lost without it: all other features are there. */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err);
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err);

#endif
