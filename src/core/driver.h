/* The interface of drivers.  A driver knows one on-disk format: it recognizes it, reads it as a
 * stream and, if the format allows, writes, byte-swaps and repairs it.  The registry (src/lib/)
 * tries drivers in order of the evidence that their probe() finds. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "base/buffer.h"
#include "core/stream.h"
#include "io/source.h"
#include "perfile/convert.h"
#include "perfile/stream.h"
#include "perfile/writer.h"

enum {                      /* pf_driver.can: writer options that the driver supports */
       PF_CAN_COMPRESS = 1, /* option compress_level */
       PF_CAN_TARGET = 2    /* option target: a version of perf */
};

/* Facts that the first PF_HEAD_BYTES bytes of a capture reveal. */
enum { PF_HEAD_BYTES = 16 };
typedef struct pf_head {
    uint32_t form; /* PERFILE_FORM_… */
    bool swap;     /* the byte order differs from this machine's */
} pf_head;

/* A byte-swapped copy of a file while it is made.  Everything keeps its offset.  The records have
 * been byte-swapped already; the driver byte-swaps header, attrs, ids and features. */
typedef struct pf_byteswap_copy {
    const perfile_stream *stream; /* the original, read to its end */
    perfile_source *bytes;        /* the original bytes (of the first file of a directory) */
    perfile_sink *sink;           /* the copy */
    /* Called for each record or feature that could not be byte-swapped.  PERFILE_OK continues; any
     * other status ends the conversion. */
    perfile_status (*kept)(void *user, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why);
    void *user;
} pf_byteswap_copy;

/* A conversion from a driver's own family of records to that of perf. */
typedef struct pf_translation {
    /* Opens a stream on the capture; the caller closes it.  May be called several times. */
    perfile_status (*pass)(void *user, perfile_stream **stream, perfile_error *err);
    /* Called for damage that the first pass finds.  PERFILE_OK continues. */
    perfile_status (*damage)(void *user, const perfile_record *r, perfile_error *err);
    void *user;
    const perfile_convert_options *options; /* calls `note` at once: FORMAT, ASSUMED */
    uint64_t *losses;                       /* counters of losses of kind FORMAT */
} pf_translation;

/* Repair: the functions with which a driver rescues damaged captures of its format
 * (perfile_recover_capture()).  It guesses facts that the header lost (byte order, events, where
 * records begin and end), and tests events against the records. */

/* pf_repair.guessed: facts that were guessed. */
enum {
    PF_GUESS_HEADER = 1 << 0,      /* magic or size: form and byte order */
    PF_GUESS_ATTRS = 1 << 1,       /* the attr section was found by a search for likely attrs */
    PF_GUESS_DESC = 1 << 2,        /* events come from feature EVENT_DESC */
    PF_GUESS_HEADER_ATTR = 1 << 3, /* events come from HEADER_ATTR records */
    PF_GUESS_IDS = 1 << 4,         /* the caller gave the events, an ID_INDEX record their ids */
    PF_GUESS_START = 1 << 5,       /* where the records begin */
    PF_GUESS_END = 1 << 6,         /* where the records end */
    PF_GUESS_TABLE = 1 << 7,       /* the feature table was found by a search for a likely one */
    PF_GUESS_NO_FEATURES = 1 << 8, /* it is unknown which features the capture has */
    PF_GUESS_SOUND = 1 << 9,       /* events that break rules were corrected or left out */
    PF_GUESS_EVENTS = PF_GUESS_ATTRS | PF_GUESS_DESC | PF_GUESS_HEADER_ATTR | PF_GUESS_SOUND
};

typedef struct pf_repair {
    uint32_t guessed;      /* PF_GUESS_… */
    bool no_events;        /* the events of the file fit none of its samples */
    bool unsound;          /* the events break rules, and no others were found */
    bool no_memory;        /* out of memory: events were found but not stored */
    perfile_assume assume; /* the result; borrows from `events` and `bytes` */
    pf_buffer events; /* array of perfile_assumed_event; pf_repair_resolve() sets their pointers */
    pf_buffer bytes;  /* attrs and ids of the events, one after another */
} pf_repair;

/* pf_repair_free() frees everything; pf_repair_clear() drops only the events. */
void pf_repair_free(pf_repair *r);
void pf_repair_clear(pf_repair *r);

/* pf_repair_add() adds a copy of an event; it returns false when out of memory. pf_repair_resolve()
 * then puts all events into r->assume. */
bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids);
void pf_repair_resolve(pf_repair *r);

/* How well events fit the first samples of a file. */
typedef struct pf_fit {
    unsigned seen; /* samples that were examined */
    unsigned fit;  /* number of these that the events fit */
} pf_fit;

typedef struct pf_repair_ops {
    /* Examines the file `source`, which can be read at any offset, and fills `r`, which is all
     * zeros before the call.  `given` has facts that the caller already knows; it may be NULL.
     * PERFILE_E_CORRUPT: nothing in the file looks like a capture. */
    perfile_status (*guess)(perfile_source *source, const perfile_assume *given, pf_repair *r,
                            perfile_error *err);
    /* The remaining functions are all NULL if the format has no events and its records contain no
     * other records.
     *
     * Fills `r` with events from a second description in the file, at or after offset `from`.
     * Returns false if there is none. */
    bool (*find_events)(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
    /* Tests how well `assume` fits the first samples.  NULL tests the events of the file. */
    perfile_status (*fit)(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                          perfile_error *err);
    /* Returns true if the sample belongs to a known event and its fields fill it exactly. */
    bool (*sample_fits)(const perfile_record *r);
    /* Returns true if the header of the record is damaged: either it contains other complete
     * records, so its size has become too large, or no newer version can have its type. */
    bool (*swallows)(const perfile_record *r);
    /* Makes a stream of the driver call `believes` before it skips bytes for the first time. */
    void (*ask_before_gaps)(perfile_stream *s, bool (*believes)(void *user), void *user);
} pf_repair_ops;

typedef struct pf_driver {
    const char *name; /* identifies the format in options */
    const char *doc;
    uint8_t family; /* PERFILE_FAMILY_… of its records */
    uint8_t can;    /* PF_CAN_… */
    /* Returns how many bits of `peek` match this format; 0 means another format.  `peek` has the
     * first bytes of the source, at most 4096.  For a directory `peek` is empty, and `source` lists
     * its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Opens a stream.  On success the stream owns the source. */
    perfile_status (*open)(perfile_source *source, const perfile_open_options *options,
                           perfile_stream **stream, perfile_error *err);
    /* Makes a writer on `sink` (core/writer.h).  The options are complete: defaults are filled in.
     * NULL if the format can only be read. */
    perfile_status (*create)(perfile_sink *sink, const perfile_writer_options *options,
                             perfile_writer **writer, perfile_error *err);
    /* The outputs that `create` can make.  If there is only one, it is used whatever form the
     * caller asks for. */
    const perfile_output *outputs;
    size_t n_outputs;
    /* Fills `head` from the first PF_HEAD_BYTES bytes.  Returns false if these bytes do not reveal
     * it.  NULL if they never do. */
    bool (*head)(perfile_bytes bytes, pf_head *head);
    /* Byte-swapping that keeps every offset.  byteswap_head() writes the byte-swapped header of a
     * pipe (PF_HEAD_BYTES) to `out`.  byteswap_facts() byte-swaps everything in a file except the
     * records.  NULL if a converted capture is written from scratch. */
    void (*byteswap_head)(perfile_bytes bytes, uint8_t *out);
    perfile_status (*byteswap_facts)(const pf_byteswap_copy *t, perfile_error *err);
    /* Makes a stream of the records and facts that perf would have recorded.  A stream in order of
     * time (perfile_stream.sorted_by) must end with the record that ends its sorted records
     * (FINISHED_ROUND, STAT_ROUND); the caller sorts other streams.  `t` must outlive the stream.
     * NULL if captures can only be written in their own format. */
    perfile_status (*translate)(const pf_translation *t, perfile_stream **stream,
                                perfile_error *err);
    bool names_files; /* files of a directory have names of their own, not `data` or data.N */
    const pf_repair_ops *repair; /* NULL if damaged captures cannot be repaired */
} pf_driver;

#endif
