/* Reads one capture several times, for operations that must know the whole capture before they
 * write its first record (filter, split).
 *
 * The capture is either a source, on which each pass opens its own stream, or a callback that makes
 * a fresh stream for each pass.  A pipe can be read only once; pf_passes_spool() copies it to a
 * temporary file first. */
#ifndef PF_LIB_PASSES_H
#define PF_LIB_PASSES_H

#include "perfile/copy.h"
#include "io/source_kind.h"
#include "core/driver.h"
#include "core/stream.h"
#include "lib/copy.h"

typedef struct pf_passes {
    perfile_source *source; /* NULL if `make` makes the streams */
    perfile_status (*make)(void *user, perfile_stream **stream, perfile_error *err);
    void *user;
    /* With `make`: the stream of the first pass, if pf_passes_inputs() had to make it early. */
    perfile_stream *ready;
    bool inputs_known;
    pf_inputs inputs; /* with `make`: the files that `ready` reads */
    pf_tee tee;       /* has no sink; gives each pass its own source on top of `source` */
    perfile_open_options how;
    /* Captures of another family become records of perf, if their driver can translate them
     * (core/driver.h).  `converting` has the callback for losses. */
    bool translate;
    perfile_convert_options converting;
    pf_translation translation;     /* of the stream that was opened last, and of earlier ones */
    perfile_stream_summary damaged; /* damage that its first pass found */
    uint64_t losses;

    uint32_t n;           /* number of passes begun so far */
    pf_progress progress; /* progress of the current pass */
} pf_passes;

/* Begins passes over a source.  The caller still owns the source, but must close p->source instead,
 * even after a failure: `source` is replaced if it is an archive, and pf_passes_spool() may replace
 * it. pf_passes_end() is not needed. */
perfile_status pf_passes_begin(pf_passes *p, perfile_source *source,
                               const perfile_open_options *how, perfile_error *err);

/* Opens the directory `source` again. */
perfile_status pf_passes_reopen(const perfile_source *source, perfile_source **again,
                                perfile_error *err);
/* Begins passes over streams that make() makes.  `deliver` (PERFILE_DELIVER_…) is switched on in
 * each of them and in the streams below.  End with pf_passes_end(). */
void pf_passes_of_streams(pf_passes *p,
                          perfile_status (*make)(void *user, perfile_stream **stream,
                                                 perfile_error *err),
                          void *user, uint32_t deliver);
void pf_passes_end(pf_passes *p);

/* Sets *inputs to the files that each pass reads; they live as long as *p.  May be called before
 * the first pass: with `make`, this makes the stream of that pass. */
perfile_status pf_passes_inputs(pf_passes *p, const pf_inputs **inputs, perfile_error *err);

/* Finds the driver of p->source and reads the header of the capture; in a directory, the header of
 * the file `data`.  The source can still yield these bytes, even if it is a pipe.  Sets the form to
 * 0 if the driver knows no such header. */
perfile_status pf_passes_head(const pf_passes *p, const pf_driver **driver, pf_head *head,
                              perfile_error *err);

/* Returns true if the capture can be read more than once without pf_passes_spool(). */
bool pf_passes_seekable(const pf_passes *p);
/* Makes that possible: reads a pipe to its end into a temporary file, unless its first bytes are
 * not those of a capture.  On success p->source is that file, and the pipe is closed. */
perfile_status pf_passes_spool(pf_passes *p, perfile_error *err);

/* Translates a capture to records of perf (pf_driver.translate), in order of time. */
perfile_status pf_translate(const pf_driver *driver, const pf_translation *how,
                            perfile_stream **stream, perfile_error *err);

/* Begins the next pass.  The caller closes the stream, before or after later passes. */
perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err);

#endif
