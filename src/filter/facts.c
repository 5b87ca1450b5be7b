/* Features that say something of the samples, of those that are kept. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "core/state.h"
#include "filter/filter.h"
#include "schema/family.h"

static void replace(perfile_session *s, uint32_t number, perfile_bytes payload)
{
    for (uint32_t i = 0; i < s->n_features; i++) {
        perfile_feature *f = s->features[i];
        if (f->number != number || f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        f->payload = payload;
        f->size = payload.len;
    }
}

void pf_filter_facts(pf_filter *x, perfile_stream *below)
{
    const perfile_filtered *sum = &x->result;
    if (sum->kept_samples == sum->samples)
        return;
    bool any = x->kept_first <= x->kept_last;
    bool swapped = below->session->swapped;
    pf_store_u64(x->sample_time, any ? x->kept_first : 0, swapped);
    pf_store_u64(x->sample_time + 8, any ? x->kept_last : 0, swapped);
    replace(below->session, PERFILE_FEATURE_SAMPLE_TIME,
            (perfile_bytes){x->sample_time, sizeof x->sample_time});
}

perfile_status pf_filter_file(pf_filter *x, const perfile_record *r, bool kept, perfile_error *err)
{
    perfile_mmap one;
    perfile_mmap2 two;
    perfile_bytes name = {NULL, 0};
    x->lost_files |= !kept;
    if (!kept)
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_MMAP &&
        perfile_mmap_decode(r, &one, sizeof one, NULL) == PERFILE_OK)
        name = one.filename;
    else if (r->type == PERFILE_RECORD_MMAP2 &&
             perfile_mmap2_decode(r, &two, sizeof two, NULL) == PERFILE_OK)
        name = two.filename;
    if (!x->kept_files.seed)
        x->kept_files.seed = pf_index_seed(&x->kept_files);
    return !name.len || pf_texts_keep(&x->kept_files, name) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "filter");
}

/* Whether the entry of feature BUILD_ID is of the kernel or of a file that is still mapped. */
static bool is_mapped(const pf_filter *x, uint16_t misc, perfile_bytes entry)
{
    enum { KERNEL = 1, GUEST_KERNEL = 4, NAME_AT = 36 };
    unsigned mode = misc & PERFILE_MISC_CPUMODE_MASK;
    if (mode == KERNEL || mode == GUEST_KERNEL || entry.len < NAME_AT)
        return true;
    const perfile_bytes name = {entry.ptr + NAME_AT, entry.len - NAME_AT};
    return x->kept_files.size && pf_texts_find(&x->kept_files, name);
}

perfile_status pf_filter_build_ids(pf_filter *x, perfile_stream *below, perfile_error *err)
{
    const perfile_feature *f = perfile_session_feature(below->session, PERFILE_FEATURE_BUILD_ID);
    if (!f || f->damage || !x->lost_files || f->payload.ptr == x->build_ids.ptr)
        return PERFILE_OK;
    pf_buffer_clear(&x->build_ids);
    pf_cursor c = pf_cur(f->payload, below->session->swapped);
    while (pf_cur_left(&c)) {
        pf_cursor at = c;
        (void)pf_cur_u32(&at);
        uint16_t misc = pf_cur_u16(&at);
        uint16_t size = pf_cur_u16(&at);
        perfile_bytes entry = pf_cur_span(&c, size);
        if (at.bad || c.bad || size < PF_PERF_RECORD_HEADER)
            return PERFILE_OK; /* it stays as it was */
        if (is_mapped(x, misc, entry) && !pf_buffer_append(&x->build_ids, entry.ptr, entry.len))
            return pf_fail_nomem(err, "filter");
    }
    replace(below->session, PERFILE_FEATURE_BUILD_ID,
            (perfile_bytes){x->build_ids.ptr, x->build_ids.len});
    return PERFILE_OK;
}

static perfile_bytes told(const perfile_stream *below, uint32_t number)
{
    const perfile_feature *f = perfile_session_feature(below->session, number);
    return f ? f->payload : (perfile_bytes){NULL, 0};
}

void pf_filter_facts_save(const perfile_stream *below, pf_filter_told *were)
{
    were->sample_time = told(below, PERFILE_FEATURE_SAMPLE_TIME);
    were->build_ids = told(below, PERFILE_FEATURE_BUILD_ID);
}

void pf_filter_facts_put_back(perfile_stream *below, const pf_filter_told *were)
{
    if (told(below, PERFILE_FEATURE_SAMPLE_TIME).ptr != were->sample_time.ptr)
        replace(below->session, PERFILE_FEATURE_SAMPLE_TIME, were->sample_time);
    if (told(below, PERFILE_FEATURE_BUILD_ID).ptr != were->build_ids.ptr)
        replace(below->session, PERFILE_FEATURE_BUILD_ID, were->build_ids);
}
