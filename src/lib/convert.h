/* The inside of perfile_convert_capture(). */
#ifndef PF_LIB_CONVERT_H
#define PF_LIB_CONVERT_H

#include "io/tee.h"
#include "lib/notes.h"
#include "core/driver.h"
#include "perfile/convert.h"

typedef struct pf_convert {
    perfile_convert_options options;
    perfile_convert_summary result;
    pf_notes notes; /* of what lib/copy.c does not see */
    perfile_source *source;
    perfile_sink *sink;

    const pf_driver *driver; /* of the input */
    bool known;              /* the header of the input could be read: */
    pf_head head;
    uint8_t first[PF_HEAD_BYTES]; /* its bytes */
    bool from_directory;
    bool to_directory;
    bool turns; /* another byte order */
    uint64_t target_losses;
} pf_convert;

/* True if damage of the input is no error. */
static inline bool pf_convert_forced(const pf_convert *x)
{
    return x->options.on_damage != PERFILE_ON_DAMAGE_FAIL;
}

/* Opens x->source, which is x's no longer. */
perfile_status pf_convert_open(const pf_convert *x, perfile_source *source, perfile_stream **stream,
                               perfile_error *err);

/* Opens a tee on x->source, which stays x's. */
perfile_status pf_convert_open_tee(const pf_convert *x, pf_tee *tee, perfile_stream **stream,
                                   perfile_error *err);

/* Fails when something is wrong already before the first record, or notes it when that is forced.
 */
perfile_status pf_convert_sound(pf_convert *x, const perfile_stream *stream, perfile_error *err);
/* Notes the features that are not there. */
void pf_convert_missing_features(pf_convert *x, const perfile_session *s);

/* What could not be turned: counted, or an error. */
perfile_status pf_convert_kept(void *user, const perfile_record *r, const perfile_feature *f,
                               const perfile_error *why);

/* lib/convert_image.c: the same form; everything stays at its place. */
perfile_status pf_convert_image(pf_convert *x, perfile_error *err);
/* Whether there are compressed records, of a source that can be asked anywhere. */
perfile_status pf_convert_packed(pf_convert *x, bool *packed, perfile_error *err);
/* Whether a source that can be asked anywhere is damaged. */
perfile_status pf_convert_damaged(pf_convert *x, bool *damaged, perfile_error *err);

/* lib/convert_copy.c: through a writer. */
perfile_status pf_convert_copy(pf_convert *x, perfile_error *err);

#endif
