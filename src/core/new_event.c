/* See core/new_event.h. */
#include "core/new_event.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"

perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err)
{
    perfile_status st = pf_options_copy(event, given, "event", err);
    if (st != PERFILE_OK)
        return st;
    if (!event->attr || (event->n_ids && !event->ids))
        return pf_fail(err, PERFILE_E_USAGE, "event.attr", "no attr, or no ids where n_ids is %zu",
                       event->n_ids);
    return PERFILE_OK;
}

perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err)
{
    const perfile_encode_options how = {.size = sizeof how, .byte_order = pf_byte_order_of(swap)};
    perfile_attr a = {0};
    size_t size =
        event->attr_struct && event->attr_struct < sizeof a ? event->attr_struct : sizeof a;
    memcpy(&a, event->attr, size);
    if (a.sample_freq && !a.is_freq)
        return pf_fail(err, PERFILE_E_USAGE, "attr.sample_freq",
                       "sample_freq is %llu, but is_freq is not set: it would be lost",
                       (unsigned long long)a.sample_freq);
    if (a.size)
        return perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    /* No size given: encode all members, then cut words that are 0 off the end. */
    a.size = PF_ATTR_OURS;
    perfile_status st = perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    while (st == PERFILE_OK && *len > PF_ATTR_LEAST && !pf_load_u64(out + *len - 8, false))
        *len -= 8;
    if (st == PERFILE_OK)
        pf_store_u32(out + 4, (uint32_t)*len, swap);
    return st;
}
