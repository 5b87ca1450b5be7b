/* The interface of drivers.  A driver knows one format on disk: it recognises it, reads it as a
 * stream, and where it can, writes, byte-swaps and repairs it.  The registry (src/lib/) tries the
 * drivers in order of their evidence. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "base/buffer.h"
#include "core/stream.h"
#include "io/source.h"
#include "perfile/convert.h"
#include "perfile/stream.h"
#include "perfile/writer.h"

enum {                      /* pf_driver.can: what options of a writer it knows */
       PF_CAN_COMPRESS = 1, /* compress_level */
       PF_CAN_TARGET = 2    /* target: a version of perf */
};

/* What can be read from the first PF_HEAD_BYTES bytes of a capture. */
enum { PF_HEAD_BYTES = 16 };
typedef struct pf_head {
    uint32_t form; /* PERFILE_FORM_… */
    bool swap;     /* the other byte order than this machine's */
} pf_head;

/* A copy of a file in the making, with everything at the same offset but in the other byte order.
 * Its records have been byte-swapped; the driver now byte-swaps header, attrs, ids and features. */
typedef struct pf_byteswap_copy {
    const perfile_stream *stream; /* the original, read to its end */
    perfile_source *bytes;        /* the original bytes (of the first file of a directory) */
    perfile_sink *sink;           /* the copy */
    /* Called for what could not be byte-swapped.  PERFILE_OK goes on, any other status ends the
     * conversion. */
    perfile_status (*kept)(void *user, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why);
    void *user;
} pf_byteswap_copy;

/* A conversion to records of perf's own family, of a driver of another one. */
typedef struct pf_translation {
    /* Opens a stream on the capture, which the caller closes; may be called several times. */
    perfile_status (*pass)(void *user, perfile_stream **stream, perfile_error *err);
    /* Called for damage that the first pass meets.  PERFILE_OK goes on. */
    perfile_status (*damage)(void *user, const perfile_record *r, perfile_error *err);
    void *user;
    const perfile_convert_options *options; /* `note` is called at once: kinds FORMAT and ASSUMED */
    uint64_t *losses;                       /* counts those of kind FORMAT */
} pf_translation;

/* Repair: what a driver offers for rescuing damaged captures of its format
 * (perfile_recover_capture()).  It guesses what the header no longer says (byte order, events,
 * where records begin and end), and tries events on the records to see whether they fit. */

/* pf_repair.guessed: what was guessed. */
enum {
    PF_GUESS_HEADER = 1 << 0, /* magic or size: form and byte order */
    PF_GUESS_ATTRS = 1 << 1, /* the attr section was found by searching for what looks like attrs */
    PF_GUESS_DESC = 1 << 2,  /* events of feature EVENT_DESC */
    PF_GUESS_HEADER_ATTR = 1 << 3, /* events of HEADER_ATTR records */
    PF_GUESS_IDS = 1 << 4,         /* ids of an ID_INDEX record for events that were given */
    PF_GUESS_START = 1 << 5,       /* where the records begin */
    PF_GUESS_END = 1 << 6,         /* … and end */
    PF_GUESS_TABLE = 1 << 7, /* the feature table was found by searching for what looks like one */
    PF_GUESS_NO_FEATURES = 1 << 8, /* it is not known which features the capture has */
    PF_GUESS_SOUND = 1 << 9,       /* events that break rules were corrected or left out */
    PF_GUESS_EVENTS = PF_GUESS_ATTRS | PF_GUESS_DESC | PF_GUESS_HEADER_ATTR | PF_GUESS_SOUND
};

typedef struct pf_repair {
    uint32_t guessed;      /* PF_GUESS_… */
    bool no_events;        /* the events of the file fit none of its samples */
    bool unsound;          /* the events break rules, and no others were found */
    bool no_memory;        /* events were found but could not be kept */
    perfile_assume assume; /* the result; borrows from the two buffers */
    pf_buffer
        events; /* array of perfile_assumed_event, without pointers before pf_repair_resolve() */
    pf_buffer bytes; /* attrs and ids of the events, one after the other */
} pf_repair;

/* Frees everything; or only drops the events. */
void pf_repair_free(pf_repair *r);
void pf_repair_clear(pf_repair *r);

/* Adds a copy of an event; false if there is no memory.  pf_repair_resolve() then puts all of them
 * into r->assume. */
bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids);
void pf_repair_resolve(pf_repair *r);

/* How well events fit the first samples of a file. */
typedef struct pf_fit {
    unsigned seen; /* samples that were examined */
    unsigned fit;  /* how many of them the events fit */
} pf_fit;

typedef struct pf_repair_ops {
    /* Examines the file `source`, which can be read at any offset, and fills `r` (all zero).
     * `given` (may be NULL) is what the caller knows already.  PERFILE_E_CORRUPT: nothing in the
     * file looks like a capture. */
    perfile_status (*guess)(perfile_source *source, const perfile_assume *given, pf_repair *r,
                            perfile_error *err);
    /* The rest may be NULL, together: the format has no events, and its records hold no others.
     *
     * Fills `r` with events from a second description in the file, at or after offset `from`;
     * false: none. */
    bool (*find_events)(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
    /* How well `assume` (NULL: the events of the file) fits the first samples. */
    perfile_status (*fit)(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                          perfile_error *err);
    /* True if the sample belongs to a known event and its fields fill it exactly. */
    bool (*sample_fits)(const perfile_record *r);
    /* True if the header of the record is damaged: it contains other complete records, so that its
     * size has become too large, or its type is one that no newer version can have. */
    bool (*swallows)(const perfile_record *r);
    /* Makes a stream of the driver call `believes` before it leaves anything out for the first
     * time. */
    void (*ask_before_gaps)(perfile_stream *s, bool (*believes)(void *user), void *user);
} pf_repair_ops;

typedef struct pf_driver {
    const char *name; /* what --from takes */
    const char *doc;
    uint8_t family; /* PERFILE_FAMILY_… of its records */
    uint8_t can;    /* PF_CAN_… */
    /* How many bits of `peek` (the first bytes of the source, 4096 at most) speak for this format;
     * 0: it is another.  For a directory `peek` is empty, and `source` lists its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Opens a stream, which owns the source from success on. */
    perfile_status (*open)(perfile_source *source, const perfile_open_options *options,
                           perfile_stream **stream, perfile_error *err);
    /* Makes a writer on `sink` (core/writer.h).  The options have been completed.  NULL: the format
     * can only be read. */
    perfile_status (*create)(perfile_sink *sink, const perfile_writer_options *options,
                             perfile_writer **writer, perfile_error *err);
    /* The outputs that `create` can make.  A single one is used whatever form the caller asks for.
     */
    const perfile_output *outputs;
    size_t n_outputs;
    /* Fills `head` from the first PF_HEAD_BYTES bytes; false if they do not tell.  NULL: they never
     * do. */
    bool (*head)(perfile_bytes bytes, pf_head *head);
    /* Byte-swapping that keeps every offset.  byteswap_head: writes the byte-swapped header of a
     * pipe (PF_HEAD_BYTES) to `out`.  byteswap_facts: does all but the records of a file.  NULL: a
     * converted capture is written from scratch. */
    void (*byteswap_head)(perfile_bytes bytes, uint8_t *out);
    perfile_status (*byteswap_facts)(const pf_byteswap_copy *t, perfile_error *err);
    /* Makes a stream of the records and facts that perf would have of the capture.  If they are in
     * order of time (perfile_stream.sorted_by), their last one ends what is sorted (FINISHED_ROUND,
     * STAT_ROUND); else they are sorted.  `t` must outlive it.  NULL: captures can be written in
     * their own format only. */
    perfile_status (*translate)(const pf_translation *t, perfile_stream **stream,
                                perfile_error *err);
    bool names_files; /* files of a directory have names of their own, not `data`, data.N */
    const pf_repair_ops *repair; /* NULL: damaged captures cannot be repaired */
} pf_driver;

#endif
