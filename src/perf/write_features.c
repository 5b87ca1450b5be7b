/* Features of a capture that is written: as bytes (pf_write_feature()), and from structs, by
 * functions perfile_writer_set_… that the tables of format/features.def expand to.
 *
 * Features of a file wait in w->facts until the end.  In a pipe they are records: those set before
 * the first record go to the front, later ones are written at once, and only BUILD_ID may come
 * behind records of the kernel. */
#include "base/error.h"
#include "perf/write.h"

perfile_status pf_write_feature(perfile_writer *writer, uint32_t number, perfile_bytes payload,
                                perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_error why;
    perfile_status st = pf_write_check_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    if (number >= PERFILE_N_FEATURES)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "feature %u: the largest number is %d", number, PERFILE_N_FEATURES - 1);
    if (w->base.form == PERFILE_FORM_PIPE) {
        st = pf_write_pipe_check_feature(w, number, payload, err);
        if (st == PERFILE_OK && w->kernel && number != PERFILE_FEATURE_BUILD_ID)
            st = pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                         "features of a pipe must be set before the records of the kernel");
        if (st == PERFILE_OK)
            st = pf_write_check_at_record(w, err);
        if (st != PERFILE_OK)
            return st;
        if (w->begun && w->level)
            st = pf_write_flush_stage(w, err);
        if (w->begun)
            return st == PERFILE_OK
                       ? pf_write_set_broken(w, pf_write_pipe_feature(w, number, payload, &why),
                                             &why, err)
                       : st;
    }
    pf_written_feature f = {.there = true, .len = payload.len};
    st = pf_write_keep(w, payload, &f.at, err);
    if (st == PERFILE_OK)
        w->features[number] = f;
    return st;
}

/* The number of processors that the feature NRCPUS states, 0 if it was not set.  Some features have
 * an entry for each processor, and their encoders need it. */
static uint32_t n_cpus(const pf_perf_writer *w)
{
    const pf_written_feature *set = &w->features[PERFILE_FEATURE_NRCPUS];
    perfile_feature f = {.number = PERFILE_FEATURE_NRCPUS,
                         .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                         .size = set->len,
                         .payload = pf_write_fact(w, set->at, set->len)};
    perfile_nrcpus n;
    if (!set->there || perfile_nrcpus_decode(&f, &n, sizeof n, NULL) != PERFILE_OK)
        return 0;
    return n.nr_cpus_avail;
}

#define FEATURE(id, number, name, source, contract, doc)                                           \
    perfile_status perfile_writer_set_##id(perfile_writer *writer, const perfile_##id *in,         \
                                           size_t size, perfile_error *err)                        \
    {                                                                                              \
        pf_perf_writer *w = pf_perf_writer_of(writer, "features", err);                            \
        if (!w)                                                                                    \
            return PERFILE_E_UNSUPPORTED;                                                          \
        perfile_encode_options how = pf_write_encoding(w);                                         \
        uint8_t *at = NULL;                                                                        \
        size_t len = 0;                                                                            \
        how.n_cpus = n_cpus(w);                                                                    \
        perfile_status st = perfile_##id##_encode(in, size, &how, NULL, 0, &len, err);             \
        if (st == PERFILE_OK)                                                                      \
            st = pf_write_scratch(w, len, &at, err);                                               \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_##id##_encode(in, size, &how, at, len, &len, err);                        \
        if (st != PERFILE_OK)                                                                      \
            return st;                                                                             \
        return pf_write_feature(writer, number, (perfile_bytes){at, len}, err);                    \
    }
#include "perfile/format/features.def"

/* Sets a feature that is a single string. */
static perfile_status put_text(pf_perf_writer *w, uint32_t number, const char *text,
                               perfile_error *err)
{
    /* All features that are one string have the layout of HOSTNAME. */
    perfile_hostname h = {.string = {(const uint8_t *)text, strlen(text)}};
    perfile_encode_options how = pf_write_encoding(w);
    uint8_t *at = NULL;
    size_t len = 0;
    switch (number) {
    case PERFILE_FEATURE_HOSTNAME:
    case PERFILE_FEATURE_OSRELEASE:
    case PERFILE_FEATURE_VERSION:
    case PERFILE_FEATURE_ARCH:
    case PERFILE_FEATURE_CPUDESC:
    case PERFILE_FEATURE_CPUID:
        break;
    default:
        return pf_fail(err, PERFILE_E_USAGE, "writer.text",
                       "feature %u is not a single line of text", number);
    }
    perfile_status st = perfile_hostname_encode(&h, sizeof h, &how, NULL, 0, &len, err);
    if (st == PERFILE_OK)
        st = pf_write_scratch(w, len, &at, err);
    if (st == PERFILE_OK)
        st = perfile_hostname_encode(&h, sizeof h, &how, at, len, &len, err);
    return st == PERFILE_OK ? pf_write_feature(&w->base, number, (perfile_bytes){at, len}, err)
                            : st;
}

perfile_status perfile_writer_text(perfile_writer *writer, uint32_t number, const char *text,
                                   perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "features", err);
    return w ? put_text(w, number, text, err) : PERFILE_E_UNSUPPORTED;
}
