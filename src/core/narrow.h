/* Narrowing: a reader that needs some records only says so before it reads, and a source that knows
 * what its records are (an archive) does not make the others.
 *
 * The reader is asked once for each range of records, in their order, what it needs of it.  The
 * data that it does not need are passed over by the driver as if they had been read: offsets,
 * sequences and the summary of the stream are those of the whole.  It is the reader's part to count
 * them. */
#ifndef PF_CORE_NARROW_H
#define PF_CORE_NARROW_H

#include "core/stream.h"
#include "core/zone.h"

enum { /* what is needed of a range */
       PF_NEED_ALL = 0,
       PF_NEED_APART = 1, /* no data: only what pf_zone_is_apart() */
       PF_NEED_WORDS = 2  /* of data only some words; the others may be anything */
};

struct pf_narrow { /* pf_narrow: see io/source.h */
    /* PF_NEED_…; the zone is sealed, and valid during the call only. */
    unsigned (*needs)(void *user, const pf_zone *zone); /* NULL: all is needed of all ranges */
    void *user;
    /* With PF_NEED_WORDS, the same for all ranges: which 8-byte words of the body are needed; bit 63 is word
     * 63 and all behind it. */
    uint64_t words;
};

/* Narrows what `s` will read; *how must live until it is closed, or narrowed in another way.  To be
 * called before the first run.  Nothing happens where a stage is below, or the source does not know
 * its records. */
void pf_stream_narrow(perfile_stream *s, const pf_narrow *how);

/* Frees what perfile_stream_describe() has made; NULL is fine. */
struct pf_describing;
void pf_stream_describing_free(struct pf_describing *x);

/* The samples of a zone all of whose data are samples; NULL: it is another, or not known. */
const pf_zone_count *pf_zone_only_samples(const pf_zone *z);

#endif
