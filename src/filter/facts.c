/* Features that describe the samples, SAMPLE_TIME and BUILD_ID, for the samples that are kept.
 * Features that came as records in the stream are left alone: they are passed on as records. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "filter/filter.h"
#include "schema/rows.h"

/* True if the feature is in the header of the file, not in a record. */
static bool in_container(const perfile_session *s, uint32_t number)
{
    const perfile_feature *f = perfile_session_feature(s, number);
    return f && f->origin == PERFILE_ORIGIN_CONTAINER;
}

bool pf_filter_changes_facts(const perfile_session *s)
{
    return in_container(s, PERFILE_FEATURE_SAMPLE_TIME) ||
           in_container(s, PERFILE_FEATURE_BUILD_ID);
}

/* Two u64: first and last time; both 0 if no sample is kept. Unchanged if all samples are. */
perfile_status pf_filter_update_sample_time(pf_filter *x, pf_session_view *view, perfile_error *err)
{
    const perfile_filter_summary *sum = &x->result;
    if (sum->kept_samples == sum->samples)
        return PERFILE_OK;
    bool any = x->kept_first <= x->kept_last;
    bool swapped = perfile_session_swapped(pf_session_view_shown(view));
    pf_store_u64(x->sample_time, any ? x->kept_first : 0, swapped);
    pf_store_u64(x->sample_time + 8, any ? x->kept_last : 0, swapped);
    return pf_session_view_replace(view, PERFILE_FEATURE_SAMPLE_TIME,
                                   (perfile_bytes){x->sample_time, sizeof x->sample_time}, err);
}

perfile_status pf_filter_note_file(pf_filter *x, const perfile_record *r, bool kept,
                                   perfile_error *err)
{
    perfile_mmap one;
    perfile_mmap2 two;
    perfile_bytes name = {NULL, 0};
    x->dropped_files |= !kept;
    if (!kept)
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_MMAP &&
        perfile_mmap_decode(r, &one, sizeof one, NULL) == PERFILE_OK)
        name = one.filename;
    else if (r->type == PERFILE_RECORD_MMAP2 &&
             perfile_mmap2_decode(r, &two, sizeof two, NULL) == PERFILE_OK)
        name = two.filename;
    /* A random seed, so that no input can make many equal hashes. */
    if (!x->kept_files.seed)
        x->kept_files.seed = pf_index_seed(&x->kept_files);
    return !name.len || pf_texts_keep(&x->kept_files, name) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "filter");
}

/* True if an entry of BUILD_ID is kept: it is for the kernel, for a file of which a mapping was
 * kept, or too short to tell. */
static bool is_mapped(const pf_filter *x, uint16_t misc, perfile_bytes entry)
{
    enum {
        KERNEL = 1, /* cpumode */
        GUEST_KERNEL = 4,
        NAME_AT = 36 /* behind header (8), pid (4) and build id (24) */
    };
    unsigned mode = misc & PERFILE_MISC_CPUMODE_MASK;
    if (mode == KERNEL || mode == GUEST_KERNEL || entry.len < NAME_AT)
        return true;
    const perfile_bytes name = {entry.ptr + NAME_AT, entry.len - NAME_AT};
    return x->kept_files.size && pf_texts_find(&x->kept_files, name);
}

/* Reads the stored entries rather than those of the session, so that kept ones stay byte for byte.
 * A second call does nothing. */
perfile_status pf_filter_update_build_ids(pf_filter *x, pf_session_view *view, perfile_error *err)
{
    const perfile_session *s = pf_session_view_shown(view);
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_BUILD_ID);
    /* Nothing to do: no such feature, no mapping dropped, or the payload was made by an earlier
     * call. */
    if (!f || f->damage || !x->dropped_files || f->payload.ptr == x->build_ids.ptr)
        return PERFILE_OK;
    pf_buffer_clear(&x->build_ids);
    pf_cursor c = pf_cur(f->payload, perfile_session_swapped(s));
    while (pf_cur_left(&c)) {
        pf_cursor at = c;
        (void)pf_cur_u32(&at);
        uint16_t misc = pf_cur_u16(&at);
        uint16_t size = pf_cur_u16(&at);
        perfile_bytes entry = pf_cur_span(&c, size);
        if (at.bad || c.bad || size < PF_PERF_RECORD_HEADER)
            return PERFILE_OK; /* damaged: the feature stays as it was */
        if (is_mapped(x, misc, entry) && !pf_buffer_append(&x->build_ids, entry.ptr, entry.len))
            return pf_fail_nomem(err, "filter");
    }
    return pf_session_view_replace(view, PERFILE_FEATURE_BUILD_ID,
                                   (perfile_bytes){x->build_ids.ptr, x->build_ids.len}, err);
}
