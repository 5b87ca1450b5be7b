/* The collection of events found for a damaged capture, as they would be stored. */
#include "core/repair.h"

void pf_repair_free(pf_repair *r)
{
    pf_buffer_free(&r->events);
    pf_buffer_free(&r->bytes);
}

void pf_repair_clear(pf_repair *r)
{
    pf_buffer_clear(&r->events);
    pf_buffer_clear(&r->bytes);
}

bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids)
{
    /* No pointers yet: `bytes` may move when it grows.  pf_repair_resolve() sets them. */
    perfile_assumed_event e = {.attr = {NULL, attr.len}, .ids = {NULL, ids.len}};
    bool ok = pf_buffer_append(&r->bytes, attr.ptr, attr.len) &&
              pf_buffer_append(&r->bytes, ids.ptr, ids.len) &&
              pf_buffer_append(&r->events, &e, sizeof e);
    r->no_memory |= !ok;
    return ok;
}

void pf_repair_resolve(pf_repair *r)
{
    perfile_assumed_event *e = (perfile_assumed_event *)(void *)r->events.ptr;
    uint32_t n = (uint32_t)(r->events.len / sizeof *e);
    const uint8_t *at = r->bytes.ptr;
    r->assume.size = sizeof r->assume;
    for (uint32_t i = 0; i < n; i++) {
        e[i].attr.ptr = at;
        at += e[i].attr.len;
        e[i].ids.ptr = at;
        at += e[i].ids.len;
    }
    r->assume.events = e;
    r->assume.n_events = n;
}
