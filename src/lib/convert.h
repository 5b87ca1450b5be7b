/* The inside of perfile_convert_capture(), which writes a capture in another form, byte order,
 * compression or format, or for an older version of perf.  convert.c chooses the way,
 * convert_image.c copies bytes, convert_copy.c swaps them on the way or passes records through a
 * writer. */
#ifndef PF_LIB_CONVERT_H
#define PF_LIB_CONVERT_H

#include "base/buffer.h"
#include "core/driver.h"
#include "io/out.h"
#include "io/source_kind.h"
#include "lib/copy.h"
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

/* Converting without moving a byte: what copying bytes (convert_image.c)
 * and swapping them on the way (convert_copy.c) have in common. */

typedef struct pf_image {
    pf_convert *x;
    pf_tee tee;             /* copies bytes of a source that is not mapped when they are read */
    perfile_source **bytes; /* sources of the files; owned if the input is a directory */
    uint32_t n_files;
    perfile_stream *stream;
    perfile_sink *sink; /* for the file that is being copied */
    uint32_t part;      /* index of that file */
    uint64_t copied;    /* bytes of that file that are in the output */
    pf_buffer swapped;  /* a run of records in the other byte order */
    /* perfile_section: where in the output the bodies of simpleperf's fragments are that wait for
     * the record joined from them. */
    pf_buffer fragments;
    uint64_t done;     /* bytes of the files before `part` */
    uint64_t total;    /* bytes of all files */
    uint64_t reported; /* position at the last call of the progress callback */
} pf_image;

/* Copies the bytes of the current file from m->copied up to offset `end`, or to the end of the file
 * if that comes first. */
perfile_status pf_image_copy_below(pf_image *m, uint64_t end, perfile_error *err);

/* convert_copy.c.  Before the first record: writes the swapped header of a pipe. */
perfile_status pf_image_swap_head(pf_image *m, perfile_error *err);

/* Writes a run of records in the other byte order. */
perfile_status pf_image_swap(pf_image *m, const perfile_record *first, size_t n,
                             perfile_error *err);

/* `r` is damage: if it is a header with a bad size, the header is swapped; all else will be copied
 * as it is. */
perfile_status pf_image_swap_damaged(pf_image *m, const perfile_record *r, perfile_error *err);

/* At the end: overwrites header, sections and features of a file with their swapped bytes. */
perfile_status pf_image_swap_facts(const pf_image *m, perfile_error *err);

#endif
