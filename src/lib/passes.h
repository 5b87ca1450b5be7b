/* Reading one capture several times, for operations that must know the whole capture before they
 * write its first record (filter, split).
 *
 * The capture is either a source, on which each pass opens a stream of its own, or a callback of
 * the caller that makes a fresh stream for each pass.  A pipe can be read once; pf_passes_spool()
 * copies it to a temporary file first. */
#ifndef PF_LIB_PASSES_H
#define PF_LIB_PASSES_H

#include "perfile/copy.h"
#include "io/source_kind.h"
#include "core/driver.h"
#include "core/stream.h"
#include "lib/copy.h"

typedef struct pf_passes {
    perfile_source *source; /* NULL: `make` makes the streams */
    perfile_status (*make)(void *user, perfile_stream **stream, perfile_error *err);
    void *user;
    /* With `make`: the stream of the first pass, if pf_passes_inputs() had to make it early. */
    perfile_stream *ready;
    bool inputs_known;
    pf_inputs inputs; /* with `make`: files that `ready` reads */
    pf_tee tee;       /* without a sink: gives each pass a source of its own on `source` */
    perfile_open_options how;
    /* Captures of another family become records of perf, if their driver can (core/driver.h).
     * `converting` says who is told of losses. */
    bool translate;
    perfile_convert_options converting;
    pf_translation translation;     /* of the stream that was opened last, and of those before */
    perfile_stream_summary damaged; /* what its first pass met */
    uint64_t losses;

    uint32_t n;           /* passes begun so far */
    pf_progress progress; /* of the pass that runs */
} pf_passes;

/* For a source.  The caller still owns it, but closes p->source instead, also after a failure: it
 * is replaced if it is an archive, and pf_passes_spool() may replace it.  pf_passes_end() is not
 * needed. */
perfile_status pf_passes_begin(pf_passes *p, perfile_source *source,
                               const perfile_open_options *how, perfile_error *err);

/* Opens once more the directory that `source` is. */
perfile_status pf_passes_reopen(const perfile_source *source, perfile_source **again,
                                perfile_error *err);
/* For streams that make() makes.  `deliver` (PERFILE_DELIVER_…) is switched on in each of them and
 * in the streams below.  End with pf_passes_end(). */
void pf_passes_of_streams(pf_passes *p,
                          perfile_status (*make)(void *user, perfile_stream **stream,
                                                 perfile_error *err),
                          void *user, uint32_t deliver);
void pf_passes_end(pf_passes *p);

/* Sets *inputs to the files that each pass reads; they live as long as *p.  May be called before
 * the first pass: with `make` this makes the stream of that pass. */
perfile_status pf_passes_inputs(pf_passes *p, const pf_inputs **inputs, perfile_error *err);

/* Finds the driver of p->source, and reads the header of the capture, of a directory that of its
 * file `data`.  The source keeps these bytes, also if it is a pipe.  form 0: it has none that the
 * driver knows. */
perfile_status pf_passes_head(const pf_passes *p, const pf_driver **driver, pf_head *head,
                              perfile_error *err);

/* True if the capture can be read more than once as it is, without pf_passes_spool(). */
bool pf_passes_seekable(const pf_passes *p);
/* Makes it so: reads a pipe to its end into a temporary file, unless its first bytes are of no
 * capture.  On success p->source is that file, and the pipe is closed. */
perfile_status pf_passes_spool(pf_passes *p, perfile_error *err);

/* Translates a capture to records of perf (pf_driver.translate), in order of time. */
perfile_status pf_translate(const pf_driver *driver, const pf_translation *how,
                            perfile_stream **stream, perfile_error *err);

/* Begins the next pass.  The caller closes the stream, before or after later passes. */
perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err);

#endif
