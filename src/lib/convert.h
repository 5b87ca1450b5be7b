/* The internals of perfile_convert_capture(), which writes a capture in another form, byte order,
 * compression or format, or for an older version of perf.  There are two ways; convert.c decides:
 *
 * - Bytes (convert_bytes.c): the output has the form of the input, and each byte keeps its offset.
 *   For the other byte order each number is swapped in place, because swapping changes no length.
 * - Records (convert.c): a stream, stages on it, and a writer.
 *
 * The first way keeps bytes that nobody can interpret (unknown sections, bytes between sections)
 * and is faster, so it is taken whenever it can do what the options ask for. */
#ifndef PF_LIB_CONVERT_H
#define PF_LIB_CONVERT_H

#include "lib/passes.h"

typedef struct pf_convert {
    perfile_convert_options options;
    perfile_perfmon_options perfmon; /* a copy of options.perfmon, which then points here */
    perfile_convert_summary result;
    pf_notes notes;          /* losses of converting; lib/copy.c notes those of copying */
    uint64_t target_losses;  /* kinds of losses that were already reported to options.note */
    pf_passes in;            /* the input; in.source is NULL once a stream owns it */
    perfile_sink *sink;      /* belongs to the caller */
    const pf_driver *driver; /* driver of the input */
    pf_head head;            /* form and byte order of the input; form is 0 if its first bytes are
                              * not a header */
    bool from_directory;     /* the input is a directory (data, data.0 …) */
    perfile_assume cpus;     /* the CPUs of `perfmon`, for reading */
} pf_convert;

/* Returns true if damage of the input is only noted and does not end the conversion with an
 * error. */
static inline bool pf_convert_forced(const pf_convert *x)
{
    return x->options.on_damage != PERFILE_ON_DAMAGE_FAIL;
}

/* Opens a stream on the input.  The stream owns the input once this succeeds. */
perfile_status pf_convert_open(pf_convert *x, perfile_stream **stream, perfile_error *err);

/* Notes a damage record, or fails with its damage unless the conversion is forced. */
perfile_status pf_convert_note_damage(pf_convert *x, const perfile_record *r, perfile_error *err);

/* For a stream that was just opened: fails with the damage that was found before the records
 * (header, attrs, features), or notes it if the conversion is forced. */
perfile_status pf_convert_check_damage(pf_convert *x, const perfile_stream *stream,
                                       perfile_error *err);

/* Notes the features that could not be read. */
void pf_convert_note_features(pf_convert *x, const perfile_session *s);

/* Callback for records, features and events that could not be byte-swapped completely; arguments as
 * for pf_notes_kept(), `user` is the pf_convert.  Notes the error.  Returns the status of `why` if
 * it is damage and the conversion is not forced. */
perfile_status pf_convert_on_kept(void *user, const perfile_record *r, const perfile_feature *f,
                                  const perfile_error *why);

/* lib/convert_bytes.c: copies the bytes of the input; with `swap`, in the other byte order. */
perfile_status pf_convert_bytes(pf_convert *x, bool swap, perfile_error *err);

#endif
