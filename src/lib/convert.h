/* The inside of perfile_convert_capture(), which writes a capture in another form, byte order,
 * compression or format, or for an older version of perf.  convert.c chooses the way,
 * convert_image.c copies bytes and convert_swap.c swaps them on the way, convert_copy.c passes
 * records through a writer. */
#ifndef PF_LIB_CONVERT_H
#define PF_LIB_CONVERT_H

#include "io/out.h"
#include "io/tee.h"
#include "lib/copy.h"
#include "core/driver.h"
#include "perfile/convert.h"

typedef struct pf_convert {
    perfile_convert_options options;
    perfile_perfmon_options perfmon; /* options.perfmon points to it, if it was given */
    perfile_convert_summary result;
    pf_notes notes;         /* losses of converting; those of copying are noted by lib/copy.c */
    perfile_source *source; /* owned; NULL once a stream has taken it over */
    perfile_sink *sink;     /* the caller's */

    const pf_driver *driver;      /* of the input */
    bool known;                   /* the first bytes of the input are a header: `head` holds */
    pf_head head;                 /* form and byte order of the input */
    uint8_t first[PF_HEAD_BYTES]; /* bytes of the header */
    bool from_directory;          /* the input is a directory (data, data.0 …) */
    bool to_directory;            /* the output is */
    bool byteswaps;               /* the output has the other byte order */
    bool zeros;                   /* with `keeps`: zeros may stand for what an archive has lost */
    bool lost;                    /* … and do */
    bool keeps;                   /* every byte goes into an archive, or comes out of one */
    uint32_t lossy;               /* PF_LOSSY_… that the output is, should it be an archive */
    uint64_t target_losses;       /* kinds of losses that the stage for an older version reported */
} pf_convert;

/* True if damage of the input is noted instead of ending the conversion with an error. */
static inline bool pf_convert_forced(const pf_convert *x)
{
    return x->options.on_damage != PERFILE_ON_DAMAGE_FAIL;
}

/* Notes a damage record, or fails with its damage unless the conversion is forced. */
perfile_status pf_convert_note_damage(pf_convert *x, const perfile_record *r, perfile_error *err);

/* How a pass reads the input: damage is delivered as records, and the policy of the options is
 * mapped to that of a stream. */
perfile_open_options pf_convert_reading(const pf_convert *x);

/* Opens a stream on `source`, which it owns from success on.  Damage is delivered as records, and
 * the policy of the options is mapped to that of a stream: FAIL stops at the first damage, COPY
 * goes on behind it. */
perfile_status pf_convert_open(const pf_convert *x, perfile_source *source, perfile_stream **stream,
                               perfile_error *err);

/* Opens a stream on `tee`, which must outlive it.  The source below the tee is not owned. */
perfile_status pf_convert_open_tee(const pf_convert *x, pf_tee *tee, perfile_stream **stream,
                                   perfile_error *err);

/* For a stream just opened: fails with the damage that was found in front of the records (header,
 * attrs, features), or notes it if the conversion is forced. */
perfile_status pf_convert_check_damage(pf_convert *x, const perfile_stream *stream,
                                       perfile_error *err);
/* Notes the features that could not be read. */
void pf_convert_note_features(pf_convert *x, const perfile_session *s);

/* Callback for what could not be byte-swapped completely (arguments as for pf_notes_kept(); `user`
 * is the pf_convert).  Notes it.  Returns the status of `why` if it is damage and the conversion is
 * not forced. */
perfile_status pf_convert_on_kept(void *user, const perfile_record *r, const perfile_feature *f,
                                  const perfile_error *why);

/* lib/convert_image.c: output in the form of the input, every byte at its offset. */
perfile_status pf_convert_image(pf_convert *x, perfile_error *err);

/* lib/convert.c. */
/* For a seekable source: sets *packed to whether the capture has compressed records. */
perfile_status pf_convert_is_packed(pf_convert *x, bool *packed, perfile_error *err);
/* For a seekable source: reads it to its end, and sets *damaged to whether it has damage. */
perfile_status pf_convert_is_damaged(pf_convert *x, bool *damaged, perfile_error *err);

/* lib/convert_copy.c: output made by a writer, from a stream with stages on it. */
perfile_status pf_convert_copy(pf_convert *x, perfile_error *err);
/* … from a stream that the driver of another format makes of the capture. */
perfile_status pf_convert_translate(pf_convert *x, perfile_error *err);

#endif
