/* Narrowing: a reader that needs some records only says so before it reads, and a source that knows
 * what its records are (an archive) does not make the others.
 *
 * The reader is asked once for each range of records, in their order, what it needs of it.  The
 * records that it does not need are passed over by the driver as if they had been read: offsets,
 * sequences and the summary of the stream are those of the whole.  It is the reader's part to count
 * them. */
#ifndef PF_CORE_NARROW_H
#define PF_CORE_NARROW_H

#include "core/stream.h"
#include "core/zone.h"

enum { /* what is needed of a range */
       PF_NEED_ALL = 0,
       PF_NEED_APART = 1, /* no data: only what pf_zone_is_apart() */
       /* What is apart only, as with APART: the reader counts the data by the zone.  It may do so
        * only if they can be read, so that a range whose stored bytes have a wrong checksum is
        * shown whole. */
       PF_NEED_COUNTED = 2,
       PF_NEED_NOTHING = 3, /* no record: nothing of the range is read */
       /* No record: stored() gets the range as it is stored.  One with a wrong checksum is shown.
        */
       PF_NEED_STORED = 4,
       /* The same, and then the records that are apart are shown as well. */
       PF_NEED_STORED_APART = 5
};

/* A range of records as an archive has it: samples and FINISHED_ROUND records. */
typedef struct pf_stored {
    struct pf_archive *archive;
    const struct pf_chunk *chunk; /* of it */
    const pf_zone *zone;          /* sealed */
    uint64_t records, samples, bytes;
    uint64_t offset; /* of the first in … */
    uint32_t part;   /* … this part of the capture */
    const perfile_session *session;
} pf_stored;

struct pf_narrow { /* pf_narrow: see io/source.h */
    /* What is needed of a range, PF_NEED_….  The zone is sealed, and valid during the call only;
     * `sequence` is that of the first record of the range.  NULL: all is needed of all ranges. */
    unsigned (*needs)(void *user, const pf_zone *zone, uint64_t sequence);
    /* Called for each stretch of data that the stream passes over, `records` from `sequence` on, of
     * the range that needs() was asked about last; not with PF_NEED_STORED.  May be NULL. */
    void (*passed)(void *user, const pf_zone *zone, uint64_t sequence, uint64_t records);
    /* The stream comes to a range that is PF_NEED_STORED or _APART; records in front of it have
     * been handed out.  *range is valid during the call.  Errors are the reader's to keep. */
    void (*stored)(void *user, const pf_stored *range);
    void *user;
    /* The reader needs all records, and takes those of a range as they are stored where it can:
     * needs() returns PF_NEED_STORED or PF_NEED_ALL and has no side effects.  A stage that passes
     * records on unchanged may therefore ask it too, and may still hand out the records. */
    bool takes_all;
};

/* Narrows what `s` will read; *how must live until it is closed, or narrowed in another way.  To be
 * called before the first run.  Nothing happens where the source does not know its records, and of
 * a stage only what takes_all is asked for. */
void pf_stream_narrow(perfile_stream *s, const pf_narrow *how);

/* Bytes of the records of a zone that knows those of each type. */
uint64_t pf_zone_bytes(const pf_zone *z);

/* The number of samples, if the zone can be that of a range that is given as it is stored: nothing
 * but samples and FINISHED_ROUND records.  0: it cannot. */
uint64_t pf_zone_plain_samples(const pf_zone *z);

/* Frees what perfile_stream_describe() has made; NULL is fine. */
struct pf_describing;
void pf_stream_describing_free(struct pf_describing *x);

/* The samples of a zone all of whose data are samples; NULL: it is another, or not known. */
const pf_zone_count *pf_zone_only_samples(const pf_zone *z);

#endif
