/* Captures for older versions of perf: a stage that drops or rewrites what a version cannot read.
 *
 * The stage is put on a stream and yields its records.  It has its own session, with the attrs and
 * features that the version can read:
 *
 *     st = perfile_open_path("perf.data", NULL, &s, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_target(s, &target_options, &s, &err); // s is the new head
 *
 * - Records of newer types are dropped.  CALLCHAIN_DEFERRED is merged into the call chains of its
 *   samples.  These samples wait for it while at most perfile_limits.held_bytes of records are
 *   held; then they are yielded without it.
 * - Fields for newer bits of sample_type, read_format and branch_sample_type are cut out of samples
 *   and READ records; all other bytes of them stay as stored.
 * - READ is cut out of samples of events without FORMAT_ID: every version of perf expects an id
 *   after each counter value, and stops.
 * - If the version has no IDENTIFIER, the id moves to the position of ID.  If it has no MMAP2
 *   records, they become MMAP.
 * - If the version would mistake the build id of an MMAP2 record for an inode, the build id moves
 *   to a HEADER_BUILD_ID record before the first such mapping.
 * - Versions up to 3.10 refuse files with events that differ in sample_type; they get the fields
 *   that all events have.  This does not work for pipes, as not all of their events are known in
 *   time.
 * - Attrs are cut to the version's size.  Attrs of HEADER_ATTR records are also extended to it if
 *   the version requires that.  Newer features are dropped.
 * - HEADER_BUILD_ID, CPU_MAP, EVENT_UPDATE and AUXTRACE_ERROR records with a size that is not a
 *   multiple of 8, at which versions from 7.2 on stop, are padded with zeros.  So are short
 *   HEADER_EVENT_TYPE records, which these versions skip.
 * - Sets of CPUs that are stored as a range become lists if the version has no ranges.
 * - Compressed records are dropped and their content is yielded.
 *
 * Every loss is counted, and reported at the end of the stream. */
#ifndef PERFILE_TARGET_H
#define PERFILE_TARGET_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_target_loss.kind: what `name` names and `count` counts */
       PERFILE_TARGET_LOSS_RECORDS = 0,      /* a record type: records that were dropped */
       PERFILE_TARGET_LOSS_FEATURE = 1,      /* a feature that was dropped: 1 */
       PERFILE_TARGET_LOSS_SAMPLE_FIELD = 2, /* a bit of sample_type: samples that lost the field */
       PERFILE_TARGET_LOSS_READ_FIELD = 3,   /* a bit of read_format: samples and READ records */
       PERFILE_TARGET_LOSS_BRANCH_FIELD = 4, /* a bit of branch_sample_type: samples */
       PERFILE_TARGET_LOSS_WEIGHT = 5, /* the second and third weight: samples that had them */
       PERFILE_TARGET_LOSS_ATTR_BIT =
           6, /* a bit of the attr that adds no field to records: events */
       PERFILE_TARGET_LOSS_ATTR_MEMBER = 7, /* a member of the attr that was not 0: events */
       PERFILE_TARGET_LOSS_CHAIN_LIMIT =
           8, /* samples that lost their user call chain: too late, or too long */
       PERFILE_TARGET_LOSS_CHAIN_MISSING =
           9, /* samples with a user call chain that is not in the capture */
       PERFILE_TARGET_LOSS_CHAIN_ALONE = 10, /* CALLCHAIN_DEFERRED without a sample: dropped */
       PERFILE_TARGET_LOSS_BUILD_ID = 11,    /* build ids of mappings that do not fit in a record */
       /* A record type: records that must change but cannot be read, or have a type that no table
        * describes: dropped. */
       PERFILE_TARGET_LOSS_UNREADABLE = 12,
       PERFILE_TARGET_LOSS_TOO_LONG =
           13, /* a record type: records of more than 65,535 bytes: dropped */
       PERFILE_TARGET_LOSS_MAPPING = 14, /* MMAP2 records that became MMAP */
       PERFILE_N_TARGET_LOSSES
};

/* Something in the capture that the version cannot represent.  Valid until the callback returns. */
typedef struct perfile_target_loss {
    uint32_t kind; /* PERFILE_TARGET_LOSS_… */
    uint32_t reserved;
    const char *name;      /* "CALLCHAIN_DEFERRED", "flags.defer_callchain", "config4"; may be "" */
    uint64_t count;        /* how often */
    uint64_t first_offset; /* in bytes, in the input: of the first record, attr or feature */
    const char *message;   /* what was lost; valid during the call */
} perfile_target_loss;

/* Set `size`, and `version` or `drop`. */
typedef struct perfile_target_options {
    size_t size;
    /* "perf-6.1" or "6.1".  NULL: no version, everything is
     * supported. */
    const char *version;
    /* Bits of sample_type (PERFILE_SAMPLE_…) for fields to drop, whether or not the version knows
     * them.  They are removed from samples and from trailers of other records, together with
     * everything that is only about such a field: features BRANCH_STACK and SAMPLE_TIME,
     * CALLCHAIN_DEFERRED records, members and flags of the attr.  Ids cannot be dropped.
     * PERFILE_E_UNSUPPORTED, also while records are read: the ids of several events would no longer
     * be at the same position. */
    uint64_t drop;
    /* Called for each loss at the end of the stream.  May be NULL. */
    void (*loss)(void *user, const perfile_target_loss *loss);
    void *user;
    uint64_t reserved[3];
} perfile_target_options;

/* Puts the stage on `below`, from which nothing may have been read yet.  *stream owns `below` on
 * success.  PERFILE_E_USAGE: there is no such version, or the stream was opened without the content
 * of compressed records. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_target(perfile_stream *below,
                                                           const perfile_target_options *options,
                                                           perfile_stream **stream,
                                                           perfile_error *err);

/* Counts of losses and changes so far. */
typedef struct perfile_target_summary {
    uint64_t losses;    /* sum of the counts of all losses reported */
    uint64_t dropped;   /* records dropped */
    uint64_t changed;   /* records with bytes that differ from the input */
    uint64_t merged;    /* samples joined with their deferred call chain */
    uint64_t mappings;  /* MMAP2 records that lost their build id to a HEADER_BUILD_ID record */
    uint64_t build_ids; /* HEADER_BUILD_ID records made for them */
    uint64_t held;      /* maximum bytes of waiting records at any time */
    uint64_t reserved[7];
} perfile_target_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out with the counts so far; zeros if `stream` is not such a
 * stage. */
static inline void perfile_target_get_summary(const perfile_stream *stream,
                                              perfile_target_summary *out, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_TARGET, stream, out, size);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
