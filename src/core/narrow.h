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
       PF_NEED_WORDS = 2, /* of data only some words; the others may be anything */
       /* What is apart only, as with APART: the reader counts the data by the zone.  It may do so
        * only if they can be read, so that a range whose stored bytes have a wrong checksum is
        * shown whole. */
       PF_NEED_COUNTED = 3,
       /* No record: stored() gets the range as it is stored.  One with a wrong checksum is shown.
        */
       PF_NEED_STORED = 4,
       /* The same, and then the records that are apart are shown as well. */
       PF_NEED_STORED_APART = 5,
       PF_NEED_NOTHING = 6, /* no record: nothing of the range is read */
       /* Some records that follow each other, see pf_narrow_span.  What is stored must have the
        * right checksum, or all are shown. */
       PF_NEED_SOME = 7,
       /* No record: rows() gets some words of the data, and the range is passed over.  Where these
        * are no numbers of their own: as with WORDS.  What is stored must have the right checksum;
        * if it does not, or cannot be decoded all the same, all is shown. */
       PF_NEED_ROWS = 8,
       /* The same, and then the records that are apart are shown as well. */
       PF_NEED_ROWS_APART = 9
};

/* Records of a range: those from number `first` of the range on that are in front of number `end`,
 * which is not 0; with `to_apart` those behind them as well, to the end of the next ones that are
 * apart; with `apart` all that are apart as well. */
typedef struct pf_narrow_span {
    uint32_t first, end;
    bool to_apart, apart;
} pf_narrow_span;

enum { PF_NARROW_ROW_WORDS = 16 };

/* Words at the front of the bodies of data, in rows of as many words as the last of `words` needs:
 * what of rows is given, and which records have any. */
typedef struct pf_narrow_rows {
    uint64_t words; /* which are needed: bit i is the 8-byte word i, below PF_NARROW_ROW_WORDS */
    size_t least;   /* bytes of all of the records, at least */
} pf_narrow_rows;

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
     * been handed out.  *range is valid during the call. */
    void (*stored)(void *user, const pf_stored *range);
    void *user;
    /* Gets rows of `n` records, PERFILE_RUN_RECORDS at most, with sequences from `sequence` on.
     * Words are in this machine's byte order; those that are not needed may be anything. */
    void (*rows)(void *user, uint64_t sequence, size_t n, const uint64_t *rows);
    pf_narrow_span span; /* set by needs() for PF_NEED_SOME */
    pf_narrow_rows row;  /* of PF_NEED_ROWS and _APART, the same for all ranges */
    /* With PF_NEED_WORDS, the same for all ranges: which 8-byte words of the body are needed; bit
     * 63 is word 63 and all behind it. */
    uint64_t words;
};

/* Narrows what `s` will read; *how must live until it is closed, or narrowed in another way.  To be
 * called before the first run.  Nothing happens where a stage is below, or the source does not know
 * its records. */
void pf_stream_narrow(perfile_stream *s, const pf_narrow *how);

/* A reader that can take ranges of records as they are stored, instead of the records. */
typedef struct pf_stored_taker {
    /* True if it can take a range with this zone, which may be handed out as records all the same.
     */
    bool (*wants)(void *user, const pf_zone *zone);
    /* Takes it.  The records in front of it have been handed out.  Errors are the taker's to keep.
     */
    void (*take)(void *user, const pf_stored *range);
    void *user;
} pf_stored_taker;

/* From now on `s` gives ranges to *taker where all of their records would be handed out unchanged.
 * To be called before the first run; *taker must live until `s` is closed, or until it has been
 * read to its end.  Nothing happens where `s` cannot do that. */
void pf_stream_give_stored(perfile_stream *s, const pf_stored_taker *taker);

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
