/* Internals of perfile_target(), the stage that makes a capture readable for an older version of
 * perf.
 *
 * Each record of the stream below goes through target_record.c: it is dropped, forwarded as stored,
 * or rewritten into t->bytes.  Samples that wait for the user part of their callchain are held in
 * deferred.c, together with all later records.  The stage has a session of its own; target_attr.c
 * makes its attrs and features in the form that the version knows.  Each loss is counted by kind
 * and key (target_loss.c) and reported at the end of the stream. */
#ifndef PF_TRANSFORM_TARGET_H
#define PF_TRANSFORM_TARGET_H

#include "core/names.h"
#include "core/stream.h"
#include "perfile/target.h"
#include "transform/deferred.h"
#include "transform/relayout.h"

enum {
    PF_LOSS_KEYS = 256,           /* per kind of loss; the last one is for all larger keys */
    PF_TARGET_ATTR = 256,         /* maximum bytes of an attr of any version */
    PF_WRITTEN_ID_BYTES = 1 << 20 /* memory for HEADER_BUILD_ID records that have been written */
};

/* Fields of the attr of which a version may know only some bits; indices into
 * pf_target.attr_bits. */
enum {
    PF_WORD_SAMPLE_TYPE = 0,
    PF_WORD_READ_FORMAT,
    PF_WORD_BRANCH_TYPE,
    PF_WORD_FLAGS,
    PF_N_WORDS
};

/* A counter of one kind of loss. */
typedef struct pf_loss {
    uint64_t count;
    uint64_t first; /* input offset of the first one */
} pf_loss;

/* How records of one event are rewritten. */
typedef struct pf_target_plan {
    pf_relayout relayout; /* from the layout of the event to the layout that the version knows */
    bool changes; /* samples or READ records change; for trailers see relayout.trailer.same */
    bool convert_weight; /* WEIGHT_STRUCT becomes WEIGHT */
    /* The bits of sample_type, read_format and branch_sample_type with fields that each sample
     * loses. */
    uint64_t lost_sample, lost_read, lost_branch;
    uint64_t lost_by_read; /* the bits of read_format with fields that each READ record loses */
} pf_target_plan;

typedef struct pf_target {
    perfile_stream base;
    perfile_target_options options;
    const pf_release *release; /* of the version; &pf_release_any if only fields are dropped */
    char version[24];
    pf_target_plan *plans; /* by event index */
    uint32_t n_plans, plans_cap;
    /* The bits of sample_type that all events have, for versions that reject files in which they
     * differ; all bits for other versions. */
    uint64_t common;
    bool changes;          /* any plan has `changes` */
    bool cuts_trailers;    /* any plan changes trailers */
    bool one_trailer;      /* all plans change trailers alike: the event does not matter */
    bool wants_even_sizes; /* sizes must be multiples of 8 (trait ODD_SIZE) */
    bool wants_full_names; /* HEADER_EVENT_TYPE needs its full name array (TOO_SHORT) */
    uint64_t plain;        /* bit per kernel type: records do not change or wait for anything */
    bool ended, reported;  /* the stream below has ended; losses have been reported */
    bool release_all;      /* held records must leave, complete or not */

    const perfile_record *in, *in_end; /* records of the run below that have not been read */
    const perfile_record *extra_of;    /* origin of run[0] in the stream below, for its payload */
    pf_buffer bytes;                   /* the rewritten records of this run */
    pf_deferred deferred;              /* the held records */

    /* HEADER_BUILD_ID records that have been written, one after another, and a hash table of them:
     * offset + 1, or 0 for an empty slot. */
    pf_buffer written_ids;
    uint32_t *written_slots;
    perfile_target_summary sum;
    /* By kind, then by record type, feature, bit, or offset in the attr, depending on the kind. */
    pf_loss losses[PERFILE_N_TARGET_LOSSES][PF_LOSS_KEYS];
    pf_loss attr_bits[PF_N_WORDS][64]; /* bits that were cleared in attrs */
} pf_target;

/* target_loss.c: counts a loss of `kind` (PERFILE_TARGET_LOSS_…) and `key` at an offset of the
 * input. */
void pf_target_count_loss(pf_target *t, unsigned kind, uint32_t key, uint64_t offset);
/* The same for each bit that is set; the key is its number. */
void pf_target_count_lost_bits(pf_target *t, unsigned kind, uint64_t bits, uint64_t offset);
/* Calls options.loss for each counter that is not 0, and adds the counters to the summary. */
void pf_target_report(pf_target *t);

/* target_attr.c: writes the attr `stored` to out[PF_TARGET_ATTR] in the form of the version, and
 * returns its size.  With `exact` it always gets the version's size; otherwise a smaller one stays.
 * With `count` losses are counted, at `offset`. */
size_t pf_target_attr(pf_target *t, perfile_bytes stored, uint64_t offset, bool exact, bool count,
                      uint8_t *out);
/* Sets *layout to the layout that records of the event get. */
void pf_target_layout(pf_target *t, const perfile_event *e, perfile_layout *layout);
/* Fills the session of the stage with the events, event types and features of the session below, as
 * the version knows them. */
perfile_status pf_target_add_facts(pf_target *t, perfile_error *err);
/* Rewrites a HEADER_ATTR or HEADER_FEATURE record to `out`, which has room for the record and
 * PF_TARGET_ATTR more bytes.  Returns its size; 0 if it is dropped. */
size_t pf_target_attr_record(pf_target *t, const perfile_record *r, uint8_t *out);
size_t pf_target_feature_record(pf_target *t, const perfile_record *r, uint8_t *out);

/* target_plan.c: these return the parts to remove together with the fields in options.drop: members
 * of the attr by name, flags of the attr (bits), features, record types. */
bool pf_target_drops_member(const pf_target *t, const char *member);
uint64_t pf_target_drops_flags(const pf_target *t);
bool pf_target_drops_feature(const pf_target *t, uint32_t number);
bool pf_target_drops_record(const pf_target *t, uint32_t type);

/* target_plan.c: makes plans for events that are new in the session below since the last call.
 * PERFILE_E_UNSUPPORTED: without the dropped fields the events would have their ids at different
 * positions. */
perfile_status pf_target_update_plans(pf_target *t, perfile_error *err);

enum { /* results of pf_target_record() */
       PF_DROP = 0,
       PF_AS_STORED, /* the bytes are those of the input */
       PF_CHANGED    /* the bytes are in t->bytes */
};
/* target_record.c: returns how many bytes of t->bytes the record `r` may need, in
 * pf_target_record() and the functions that belong to it. */
size_t pf_target_room_for(const perfile_record *r);
/* Makes *out from `r` in the form of the version; returns PF_….  t->bytes must have room. */
unsigned pf_target_record(pf_target *t, const perfile_record *r, perfile_record *out);
/* If the callchain of a sample ends with a cookie, sets *cookie and returns the offset of the
 * chain's count in `out`, counted from the header.  Otherwise returns 0.  `out` was made from
 * `original`. */
uint32_t pf_target_find_cookie(pf_target *t, const perfile_record *original,
                               const perfile_record *out, uint64_t *cookie);
/* Writes a held sample to `out` with its complete callchain: `chain` replaces marker and cookie.
 * If it is NULL, they are removed.  Returns the size; 0 if it would exceed 65,535 bytes. */
size_t pf_target_complete_chain(const pf_held *e, perfile_bytes sample, const perfile_bytes *chain,
                                uint8_t *out);

/* target_map.c: returns true if `r` is an MMAP2 record with a build id that the version would read
 * as an inode. */
bool pf_target_has_map_build_id(const pf_target *t, const perfile_record *r);
/* Makes *out the HEADER_BUILD_ID record that must come before such a record, with its bytes in
 * t->bytes.  If an equal one was made before, or the record has no build id, *is_new is false and
 * *out is not set. */
perfile_status pf_target_map_build_id(pf_target *t, const perfile_record *r, perfile_record *out,
                                      bool *is_new, perfile_error *err);
/* Converts the MMAP2 record at `bytes` to one with an inode of 0. */
void pf_target_convert_map(uint8_t *bytes, bool swapped);
/* Writes the MMAP2 record `r`, with its name at `filename`, as an MMAP record; returns its size. */
size_t pf_target_mmap2_to_mmap(const perfile_record *r, const uint8_t *filename, uint8_t *out);

/* target_plan.c: returns true if the record has its CPUs as a range and the version does not know
 * ranges. */
bool pf_target_has_cpu_range(const pf_target *t, const perfile_record *r);
/* Writes such a record to `out` (room for 65,535 bytes) with a list of CPUs.  Returns its size; 0
 * if it would be too large. */
size_t pf_target_range_to_list(const perfile_record *r, uint8_t *out);

/* Returns the free space in t->bytes; fill() has reserved enough. */
static inline uint8_t *pf_target_free_bytes(pf_target *t)
{
    return t->bytes.ptr + t->bytes.len;
}

/* Makes `n` bytes written to that space the bytes of *out. */
static inline void pf_target_append(pf_target *t, perfile_record *out, size_t n)
{
    out->header = t->bytes.ptr + t->bytes.len;
    out->body = (perfile_bytes){out->header + 8, n - 8};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    t->bytes.len += n;
}

#endif
