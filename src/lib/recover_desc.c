/* EVENT_DESC, when the events are not those that it had. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/order.h"
#include "lib/recover.h"
#include "perfile/encode.h"

/* The events and their names. */
static perfile_status encode_desc(pf_recover *x, perfile_event_desc_entry *entries, uint32_t n,
                                  perfile_error *err)
{
    const perfile_session *session = x->session;
    perfile_event_desc v = {.nr_events = n};
    perfile_encode_options how = {
        .size = sizeof how, .big_endian = perfile_session_swapped(session) != (bool)PF_NATIVE_BIG};
    size_t len;
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        entries[i].attr = e->attr;
        entries[i].ids = e->ids;
        entries[i].name = (perfile_bytes){(const uint8_t *)e->name, strlen(e->name)};
        uint32_t size = e->attr.size ? e->attr.size : 64;
        v.attr_size = size > v.attr_size ? size : v.attr_size;
    }
    for (uint32_t i = 0; i < n; i++)
        entries[i].attr.size = v.attr_size;
    v.events = perfile_event_desc_entry_list(entries, n, sizeof *entries);
    perfile_status st = perfile_event_desc_encode(&v, sizeof v, &how, NULL, 0, &len, err);
    pf_buffer_clear(&x->scratch);
    if (st != PERFILE_OK)
        return st;
    if (!pf_buffer_reserve(&x->scratch, len))
        return pf_fail_nomem(err, "recover");
    st = perfile_event_desc_encode(&v, sizeof v, &how, x->scratch.ptr, len, &len, err);
    return st == PERFILE_OK ? perfile_writer_feature(x->writer, PERFILE_FEATURE_EVENT_DESC,
                                                     (perfile_bytes){x->scratch.ptr, len}, err)
                            : st;
}

perfile_status pf_recover_describe(pf_recover *x, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(x->session);
    pf_recover_note(x, PERFILE_FEATURE_EVENT_DESC, PERFILE_DAMAGE_IMPLAUSIBLE,
                    "feature EVENT_DESC is made anew from the events that are there");
    x->result.damaged = true;
    x->result.features++;
    if (!x->writer)
        return PERFILE_OK;
    perfile_event_desc_entry *entries = pf_alloc(n ? n : 1, sizeof *entries);
    if (!entries)
        return pf_fail_nomem(err, "recover");
    perfile_status st = encode_desc(x, entries, n, err);
    pf_free(entries);
    return st;
}
