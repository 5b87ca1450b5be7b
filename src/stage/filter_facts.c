/* Features that say something of the samples, of those that are kept. */
#include <string.h>

#include "base/order.h"
#include "core/state.h"
#include "stage/filter.h"

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
