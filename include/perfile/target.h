/* Captures for older versions of perf: a stage that drops or rewrites what a version cannot read.
 *
 * The stage stands on a stream and yields its records with a session of its own, whose attrs and
 * features are those that the version can read:
 *
 *     st = perfile_open_path("perf.data", NULL, &s, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_target(s, &target_options, &s, &err); // s is the new head
 *
 * - Records of newer types are dropped.  CALLCHAIN_DEFERRED becomes part of the call chains of its
 *   samples: these wait for it while at most perfile_limits.held_bytes of records are held, and are
 *   yielded without it then.
 * - Fields of newer bits of sample_type, read_format and branch_sample_type are cut out of samples
 *   and READ records; every other byte of them stays as stored.
 * - READ is cut out of the samples of events without FORMAT_ID: every version of perf expects an
 *   id after each counter value, and stops.
 * - Where the version has no IDENTIFIER, its id stands where ID has it; where it has no MMAP2
 *   records, they become MMAP.
 * - The build ids of MMAP2 records that the version would take for an inode become HEADER_BUILD_ID
 *   records, in front of the first such mapping.
 * - Versions that refuse files whose events differ in sample_type (up to 3.10) get the fields that
 *   all events have.  Not from pipes, whose events are not all known in time.
 * - Attrs are cut to the version's size, those of HEADER_ATTR records also filled up to it where
 *   the version wants that; newer features are dropped.
 * - HEADER_BUILD_ID, CPU_MAP, EVENT_UPDATE and AUXTRACE_ERROR records of a size that is no multiple
 *   of 8, at which versions from 7.2 on stop, are filled up with zeros, and so are short
 *   HEADER_EVENT_TYPE records, over which they pass.
 * - Sets of processors that are stored as a range become lists where the version has none.
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
       PERFILE_TARGET_LOSS_SAMPLE_FIELD = 2, /* a bit of sample_type: samples it was cut out of */
       PERFILE_TARGET_LOSS_READ_FIELD = 3,   /* a bit of read_format: samples and READ records */
       PERFILE_TARGET_LOSS_BRANCH_FIELD = 4, /* a bit of branch_sample_type: samples */
       PERFILE_TARGET_LOSS_WEIGHT = 5, /* the second and third weight: samples that had them */
       PERFILE_TARGET_LOSS_ATTR_BIT =
           6, /* a bit of the attr of which no record had a field: events */
       PERFILE_TARGET_LOSS_ATTR_MEMBER = 7, /* a member of the attr that was not 0: events */
       PERFILE_TARGET_LOSS_CHAIN_LIMIT =
           8, /* samples whose user call chain came too late, or did not fit */
       PERFILE_TARGET_LOSS_CHAIN_MISSING =
           9, /* samples whose user call chain is not in the capture */
       PERFILE_TARGET_LOSS_CHAIN_ALONE = 10, /* CALLCHAIN_DEFERRED records of no sample: dropped */
       PERFILE_TARGET_LOSS_BUILD_ID = 11,    /* build ids of mappings that fit no record */
       /* A record type: records that would have to change and cannot be read, or are of a type that
        * no table describes: dropped. */
       PERFILE_TARGET_LOSS_UNREADABLE = 12,
       PERFILE_TARGET_LOSS_TOO_LONG =
           13, /* a record type: records of more than 65,535 bytes: dropped */
       PERFILE_TARGET_LOSS_MAPPING = 14, /* MMAP2 records that became MMAP */
       PERFILE_N_TARGET_LOSSES
};

/* Something of the capture that the version cannot have.  Lives until the callback returns. */
typedef struct perfile_target_loss {
    uint32_t kind; /* PERFILE_TARGET_LOSS_… */
    uint32_t reserved;
    const char *name;      /* "CALLCHAIN_DEFERRED", "flags.defer_callchain", "config4"; may be "" */
    uint64_t count;        /* how often */
    uint64_t first_offset; /* in the input: of the first record, attr or feature */
    const char *sentence;  /* what was lost, for people */
} perfile_target_loss;

/* Set `size`, and `version` or `drop`. */
typedef struct perfile_target_options {
    size_t size;
    /* "perf-6.1" or "6.1": see perfile_target_version_at(); NULL: everything is known. */
    const char *version;
    /* Bits of sample_type (PERFILE_SAMPLE_…) whose fields go as well, known or not: out of samples
     * and of the trailers of other records, with what speaks of such a field alone (features
     * BRANCH_STACK and SAMPLE_TIME, CALLCHAIN_DEFERRED records, members and flags of the attr). Ids
     * cannot.  PERFILE_E_UNSUPPORTED, also while records are read: the ids of several events would
     * not be at one place any more. */
    uint64_t drop;
    /* Called for each loss when the end of the stream is reached.  May be NULL. */
    void (*loss)(void *user, const perfile_target_loss *loss);
    void *user;
    uint64_t reserved[3];
} perfile_target_options;

/* Puts the stage on `below`, from which nothing was read yet.  *stream owns it from success on.
 * PERFILE_E_USAGE: no such version, or the stream was opened without what is in its envelopes. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_target(perfile_stream *below,
                                                           const perfile_target_options *options,
                                                           perfile_stream **stream,
                                                           perfile_error *err);

/* What was lost so far. */
typedef struct perfile_target_summary {
    uint64_t losses;    /* sum of the counts of all losses reported */
    uint64_t dropped;   /* records dropped */
    uint64_t changed;   /* records whose bytes differ from those of the input */
    uint64_t merged;    /* samples whose deferred call chain was joined */
    uint64_t mappings;  /* MMAP2 records whose build id moved to a HEADER_BUILD_ID record */
    uint64_t build_ids; /* HEADER_BUILD_ID records that were made for them */
    uint64_t held;      /* most bytes of waiting records at any time */
    uint64_t reserved[7];
} perfile_target_summary;

/* Fills the first `size` bytes of *out, with what is known by now; zeros when `stream` is no such
 * stage. */
PERFILE_API void perfile_target_get_summary(const perfile_stream *stream,
                                            perfile_target_summary *out, size_t size);

/* "3.8" … in ascending order, NULL behind the last. */
PERFILE_API const char *perfile_target_version_at(size_t position);

/* Whether that version knows the feature (PERFILE_FEATURE_…); DIR_FORMAT says whether it opens
 * directories.  False when there is no such version. */
PERFILE_API bool perfile_target_has_feature(const char *version, uint32_t number);

/* Bytes of its attr; 0 when there is no such version.  For writers that make HEADER_ATTR records of
 * attrs that are shorter. */
PERFILE_API uint32_t perfile_target_attr_size(const char *version);

#ifdef __cplusplus
}
#endif

#endif
