/* Features of a merged capture: what features.c shares with the files that join one kind of
 * feature each (values.c, lists.c, groups.c, tracing.c, names.c), and the set of entries that they
 * use to keep each thing once (entries.c). */
#ifndef PF_MERGE_FACTS_H
#define PF_MERGE_FACTS_H

#include "base/error.h"
#include "perfile/encode.h"
#include "merge/merge.h"

/* An entry of a set.  number and name are its key, and value too if the set is `by_value`.  The
 * bytes are borrowed and must outlive the set. */
typedef struct pf_merge_entry {
    uint64_t number;
    perfile_bytes name, value;
    uint32_t input; /* index of the first input that has it */
    uint32_t link;  /* free for the caller */
    uint32_t next;  /* chain of entries with the same hash: position + 1, 0 at the end */
    bool refused;   /* free for the caller */
} pf_merge_entry;

/* A set of entries in the order in which they were added.  All zeros is empty. */
typedef struct pf_merge_entries {
    pf_index heads;  /* hash -> position of the first entry of its chain */
    pf_buffer items; /* pf_merge_entry */
    bool by_value;
} pf_merge_entries;

/* Returns the entry with the key of *want, or NULL. The pointer is valid until the next entry is
 * added; the same holds for pf_merge_entries_add(). */
pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want);
/* Returns the entry with the key of *want; adds a copy of *want if there is none. NULL: out of
 * memory. */
pf_merge_entry *pf_merge_entries_add(pf_merge_entries *e, const pf_merge_entry *want, bool *added);
/* Conversion between entries and their positions in the order of adding. */
pf_merge_entry *pf_merge_entries_at(const pf_merge_entries *e, uint32_t position);
uint32_t pf_merge_entries_position(const pf_merge_entries *e, const pf_merge_entry *one);
void pf_merge_entries_free(pf_merge_entries *e);

static inline bool pf_same_bytes(perfile_bytes a, perfile_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Arguments for "%.*s": up to 64 bytes of text from an input. */
#define PF_TEXT_ARGS(b) (int)((b).len < 64 ? (b).len : 64), (b).len ? (const char *)(b).ptr : ""

/* Returns a feature of input `k`, or NULL if it is missing, damaged or truncated. */
const perfile_feature *pf_fact_of(const pf_merge *x, uint32_t k, uint32_t number);
/* pf_fact_of() of the first input that has the feature, NULL if none has; the index of that input,
 * n_inputs if none has; true if input `k` has the feature with other bytes than `first`. */
const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number);
uint32_t pf_fact_first_input(const pf_merge *x, uint32_t number);
bool pf_fact_differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first);
/* True if all inputs that have the feature have the same bytes. */
bool pf_fact_all_same(const pf_merge *x, uint32_t number);

/* Adds a feature to the output. `stable`: the bytes are those of an input, which outlive the
 * session of the output; else they are copied. */
perfile_status pf_fact_add(pf_merge *x, uint32_t number, perfile_bytes payload, bool stable,
                           perfile_error *err);
/* Adds a feature that was made from several inputs, and reports a note of kind JOINED. */
perfile_status pf_fact_join(pf_merge *x, uint32_t number, const pf_buffer *made,
                            perfile_error *err);

/* Reports a note whose text is "feature NAME: " and the formatted text. */
void pf_fact_report(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input,
                    uint64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Reports that the feature of input `k` is damaged and left out. */
void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k);
/* Reports that `count` entries of input `k` were left out, if any; `why` follows "of INPUT".
 */
void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why);

/* Options for encoding a feature in the byte order of the output. */
static inline perfile_encode_options pf_fact_encode_options(const pf_merge *x)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = perfile_session_byte_order(x->base.session)};
}

/* Defines make_ID(), which appends the encoded payload of feature ID to `out`. */
#define PF_FACT_MAKER(id)                                                                          \
    static perfile_status make_##id(const pf_merge *x, const perfile_##id *v, pf_buffer *out,      \
                                    perfile_error *err)                                            \
    {                                                                                              \
        const perfile_encode_options how = pf_fact_encode_options(x);                              \
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

/* The rules of format/merging.def, one function each. Each adds feature `number` to the output if
 * it can, and reports what is left out or changed.
 *
 * features.c: kept when it is the same in all inputs. */
perfile_status pf_join_same(pf_merge *x, uint32_t number, perfile_error *err);
/* values.c */
perfile_status pf_join_topology(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_nodes(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_hosts(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_most(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_flag(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_span(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_clock(pf_merge *x, uint32_t number, perfile_error *err);
/* lists.c */
perfile_status pf_join_list(pf_merge *x, uint32_t number, perfile_error *err);
/* tracing.c */
perfile_status pf_join_tracing(pf_merge *x, uint32_t number, perfile_error *err);
/* groups.c */
perfile_status pf_join_groups(pf_merge *x, uint32_t number, perfile_error *err);
/* names.c: event types, and EVENT_DESC. The latter is added when an input has it or when names of
 * events would be lost without it; it needs all other features, which names are derived from. */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err);
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err);

#endif
