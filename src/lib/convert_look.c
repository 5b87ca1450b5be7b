/* Looking through a capture before it is converted: whether it is damaged, whether it has
 * compressed records.  For files only: they can be read again. */
#include "lib/convert.h"

/* Opens the file that shows whether there are compressed records: of a directory `data`. */
static perfile_status open_first(const pf_convert *x, pf_tee *tee, perfile_stream **s,
                                 perfile_error *err)
{
    perfile_source *data;
    if (!x->from_directory)
        return pf_convert_open_tee(x, tee, s, err);
    perfile_status st = pf_source_entry(x->source, "data", &data, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_convert_open(x, data, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(data);
    return st;
}

perfile_status pf_convert_is_damaged(pf_convert *x, bool *damaged, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    const perfile_record *first;
    perfile_stream *s;
    perfile_stream_summary sum;
    size_t n;
    perfile_status st = pf_convert_open_tee(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    *damaged = sum.damages != 0;
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}

/* A recording with compression has the feature COMPRESSED, in a pipe in front of the kernel's
 * records; without it the first record of the kernel answers "no".  With it, the records are
 * searched, because some tools leave the feature when they decompress. */
perfile_status pf_convert_is_packed(pf_convert *x, bool *packed, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    perfile_stream *s;
    *packed = false;
    perfile_status st = open_first(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_session *session = perfile_stream_session(s);
    while (st == PERFILE_OK && !*packed) {
        const perfile_record *first;
        size_t n;
        st = perfile_stream_next_run(s, &first, &n, err);
        bool announced = perfile_session_feature(session, PERFILE_FEATURE_COMPRESSED) != NULL;
        if (st == PERFILE_OK && !announced && first->type < PERFILE_RECORD_USER)
            break;
        *packed = st == PERFILE_OK && (first->type == PERFILE_RECORD_COMPRESSED ||
                                       first->type == PERFILE_RECORD_COMPRESSED2);
        /* Only `data` was read: other files of the directory may be compressed. */
        *packed |= st == PERFILE_END && announced && x->from_directory;
    }
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}
