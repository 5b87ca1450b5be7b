/* AUX area traces: their index, and that they are without gaps. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "check/check.h"

#define FOUND (UINT64_C(1) << 63)

enum { AUX_TRUNCATED = 1, AUX_OVERWRITE = 2 };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

perfile_status pf_check_index_begin(pf_check *c, perfile_error *err)
{
    perfile_auxtrace_index v;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_AUXTRACE);
    if (!f || perfile_auxtrace_index_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    /* The list was found to fit in the section. */
    uint64_t n = v.entries.n < PF_CHECK_INDEX ? v.entries.n : PF_CHECK_INDEX;
    c->has_index = true;
    c->index_whole = n == v.entries.n;
    if (n == 0)
        return PERFILE_OK;
    c->index = pf_alloc((size_t)n, sizeof *c->index);
    if (!c->index)
        return pf_fail_nomem(err, "check");
    perfile_auxtrace_index_entry e;
    while (c->n_index < n &&
           perfile_auxtrace_index_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        c->index[c->n_index++] = e.file_offset & ~FOUND;
    qsort(c->index, c->n_index, sizeof *c->index, by_value);
    return PERFILE_OK;
}

/* The entry of that offset, NULL when there is none. */
static uint64_t *find_entry(pf_check *c, uint64_t offset)
{
    uint32_t low = 0, high = c->n_index;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((c->index[middle] & ~FOUND) < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_index && (c->index[low] & ~FOUND) == offset ? &c->index[low] : NULL;
}

void pf_check_auxtrace(pf_check *c, const perfile_record *r)
{
    if (!c->has_auxtrace_info) {
        pf_find(c, PERFILE_RULE_V_512, PF_FULL, r, "auxtrace", "no AUXTRACE_INFO came before");
        c->has_auxtrace_info = true;
    }
    if (r->extra.len % 8)
        pf_find(c, PERFILE_RULE_V_511, PF_LESSER, r, "auxtrace.size",
                "%zu bytes of AUX data, no multiple of 8", r->extra.len);
    /* Pipes have no index, recordings that were killed lost it. */
    const perfile_container *k = perfile_stream_container(&c->base);
    if (c->pipe || k->unterminated || (c->has_index && !c->index_whole))
        return;
    uint64_t *entry = find_entry(c, r->offset);
    if (entry)
        *entry |= FOUND;
    else
        pf_find(c, PERFILE_RULE_V_608, PF_FULL, r, "auxtrace", "%s",
                c->has_index ? "feature AUXTRACE does not list it"
                             : "there is no feature AUXTRACE");
}

void pf_check_index_end(pf_check *c)
{
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_AUXTRACE);
    for (uint32_t i = 0; f && i < c->n_index; i++)
        if (!(c->index[i] & FOUND))
            pf_find_feature(c, PERFILE_RULE_V_607, PF_FULL, f, "auxtrace_index.file_offset",
                            "entry for offset %" PRIu64 ": there is no AUXTRACE record",
                            c->index[i]);
}

static pf_check_buffer *buffer_of(pf_check *c, uint64_t key)
{
    size_t home = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (size_t i = 0; i < 16; i++) {
        pf_check_buffer *b = &c->buffers[(home + i) % PF_CHECK_BUFFERS];
        if (b->key == key + 1 || b->key == 0)
            return b;
    }
    return NULL;
}

/* A buffer is one of a processor, or of a thread, and of an event. */
void pf_check_aux(pf_check *c, const perfile_record *r, const perfile_aux *v)
{
    uint32_t cpu, pid, tid = 0;
    bool has_cpu = perfile_record_cpu(r, &cpu);
    if (!has_cpu && !perfile_record_task(r, &pid, &tid))
        return;
    const perfile_event *e = perfile_record_event(r);
    uint64_t key =
        ((uint64_t)(has_cpu ? cpu : tid) << 20 | (e ? e->index & 0xffff : 0)) << 1 | has_cpu;
    pf_check_buffer *b = buffer_of(c, key);
    if (!b)
        return;
    bool loose = v->flags & (AUX_TRUNCATED | AUX_OVERWRITE);
    if (b->key && b->end != v->aux_offset && !loose)
        pf_find(c, PERFILE_RULE_V_408, PF_FULL, r, "aux.aux_offset",
                "AUX data at 0x%" PRIx64 ", the last ended at 0x%" PRIx64, v->aux_offset, b->end);
    b->key = key + 1;
    b->end = v->aux_offset + v->aux_size;
}
