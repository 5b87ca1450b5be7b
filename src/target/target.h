/* The inside of the stage for older versions of perf: what its files share. */
#ifndef PF_TARGET_TARGET_H
#define PF_TARGET_TARGET_H

#include "core/releases.h"
#include "core/stream.h"
#include "perfile/target.h"
#include "target/deferred.h"
#include "stage/relayout.h"

enum {
    PF_LOSS_KEYS = 256,     /* of a kind; the last one is for all that are greater */
    PF_TARGET_ATTR = 256,   /* bytes of an attr at most */
    PF_TOLD_BYTES = 1 << 20 /* of build id records, so that each comes once */
};

/* Words of the attr whose bits can be newer than the version: what their losses are kept as. */
enum {
    PF_WORD_SAMPLE_TYPE = 0,
    PF_WORD_READ_FORMAT,
    PF_WORD_BRANCH_TYPE,
    PF_WORD_FLAGS,
    PF_N_WORDS
};

typedef struct pf_loss {
    uint64_t count;
    uint64_t first;
} pf_loss;

/* How records of an event are rewritten. */
typedef struct pf_target_plan {
    pf_relayout relayout;
    bool changes; /* samples or other records */
    bool turn_weight;
    /* Bits that go with the fields of a sample, and of READ records. */
    uint64_t lost_sample, lost_read, lost_branch;
    uint64_t lost_by_read;
} pf_target_plan;

typedef struct pf_target {
    perfile_stream base;
    perfile_target_options options;
    const pf_release *release;
    char version[24];
    pf_target_plan *plans;
    uint32_t n_plans, plans_cap;
    uint64_t common;        /* of sample_type: what all events have, for versions that want that */
    bool changes;           /* a plan does */
    bool cuts_trailers;     /* a plan does */
    bool one_trailer;       /* all plans do the same with trailers */
    bool wants_even_sizes;  /* the version has the trait ODD_SIZE … */
    bool wants_whole_names; /* … or TOO_SHORT */
    uint64_t plain; /* kernel types, by bit, whose records stay as they are and wait for nothing */
    bool ended, told;
    bool release_all; /* nothing may wait any longer */

    const perfile_record *in, *in_end; /* of the run of the stream below */
    const perfile_record *extra_of;    /* whose bytes behind it are asked for below … */
    pf_buffer bytes;                   /* of the records of this run that are not as stored */
    pf_deferred hold;

    pf_buffer told_ids;    /* HEADER_BUILD_ID records that were handed out … */
    uint32_t *told_places; /* … found by hash: place in it and 1 */
    perfile_target_summary sum;
    pf_loss losses[PERFILE_N_TARGET_LOSSES][PF_LOSS_KEYS];
    pf_loss attr_bits[PF_N_WORDS][64];
} pf_target;

/* target_loss.c */
void pf_target_lose(pf_target *t, unsigned kind, uint32_t key, uint64_t offset);
void pf_target_lose_bits(pf_target *t, unsigned kind, uint64_t bits, uint64_t offset);
void pf_target_report(pf_target *t);

/* target_attr.c.  Writes the attr as the version has it to out[PF_TARGET_ATTR]; `exact`: of its
 * size and not only of no more.  With `count` what is lost is counted. */
size_t pf_target_attr(pf_target *t, perfile_bytes stored, uint64_t offset, bool exact, bool count,
                      uint8_t *out);
/* The layout that records of an event with this attr get. */
void pf_target_layout(pf_target *t, const perfile_event *e, perfile_layout *layout);
/* Facts of the container of the stream below, as the version has them, into the session. */
perfile_status pf_target_facts(pf_target *t, perfile_error *err);
/* HEADER_ATTR and HEADER_FEATURE, rewritten to `out` (room for the record and PF_TARGET_ATTR more);
 * 0: it is dropped, else its bytes. */
size_t pf_target_attr_record(pf_target *t, const perfile_record *r, uint8_t *out);
size_t pf_target_feature_record(pf_target *t, const perfile_record *r, uint8_t *out);

/* target_drop.c: what goes with the fields that the caller drops: members of the attr by name,
 * flags of the attr, features, types of records. */
bool pf_target_drops_member(const pf_target *t, const char *member);
uint64_t pf_target_drops_flags(const pf_target *t);
bool pf_target_drops_feature(const pf_target *t, uint32_t number);
bool pf_target_drops_record(const pf_target *t, uint32_t type);

/* target_plan.c: plans for events that are new.  PERFILE_E_UNSUPPORTED: without the dropped fields
 * the ids of the events would stand at different places. */
perfile_status pf_target_plans(pf_target *t, perfile_error *err);

enum { /* what becomes of a record */
       PF_DROP = 0,
       PF_AS_STORED, /* its bytes are those of the input */
       PF_CHANGED    /* its bytes are in t->bytes */
};
/* target_record.c.  Bytes that pf_target_record() may need for it. */
size_t pf_target_room(const perfile_record *r);
/* Makes *out of `r`; t->bytes has room. */
unsigned pf_target_record(pf_target *t, const perfile_record *r, perfile_record *out);
/* Where the count of its call chain stands in a sample that ends with a cookie; 0: it does not. */
uint32_t pf_target_cookie(pf_target *t, const perfile_record *original, const perfile_record *out,
                          uint64_t *cookie);
/* Puts the call chain of a held sample together, without marker and cookie; `chain` is the rest, or
 * NULL.  Returns its bytes, 0 when they would be too many. */
size_t pf_target_merge(const pf_held *e, perfile_bytes sample, const perfile_bytes *chain,
                       uint8_t *out);

/* target_map.c: MMAP2 with build ids. */
bool pf_target_has_map_build_id(const pf_target *t, const perfile_record *r);
/* The HEADER_BUILD_ID record that has to stand in front of it, in *out with its bytes in t->bytes;
 * false: it was there already, or there is no id. */
perfile_status pf_target_map_build_id(pf_target *t, const perfile_record *r, perfile_record *out,
                                      bool *is_new, perfile_error *err);
/* Turns the record at `bytes` into one with an inode, of zeros. */
void pf_target_convert_map(uint8_t *bytes, bool swapped);
/* The MMAP2 record `r`, whose name is at `filename`, as MMAP to `out`; its bytes. */
size_t pf_target_older_map(const perfile_record *r, const uint8_t *filename, uint8_t *out);

/* target_cpus.c: whether the record has processors as a range, which the version does not know; the
 * same as a list, to `out` (room for 65,535 bytes), 0: it does not fit. */
bool pf_target_has_range(const pf_target *t, const perfile_record *r);
size_t pf_target_list(const perfile_record *r, uint8_t *out);

/* Room that was reserved, taken. */
static inline uint8_t *pf_target_take(pf_target *t)
{
    return t->bytes.ptr + t->bytes.len;
}

/* *out with the bytes that were written behind t->bytes. */
static inline void pf_target_place(pf_target *t, perfile_record *out, size_t n)
{
    out->header = t->bytes.ptr + t->bytes.len;
    out->body = (perfile_bytes){out->header + 8, n - 8};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    t->bytes.len += n;
}

#endif
