/* Rules for AUX area traces: feature AUXTRACE lists the AUXTRACE records (V-607, V-608), and the
 * AUX records of a buffer follow each other without gaps (V-408).
 *
 * The list is read at the beginning and sorted.  Each AUXTRACE record sets the highest bit of its
 * entry; entries without this bit are reported at the end. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "check/check.h"

#define ENTRY_FOUND (UINT64_C(1) << 63)

/* Flags of AUX records (PERF_AUX_FLAG_…) that allow any next offset. */
enum { AUX_TRUNCATED = 1, AUX_OVERWRITE = 2 };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Reads and sorts at most PF_CHECK_INDEX entries of feature AUXTRACE. */
perfile_status pf_check_index_begin(pf_check *c, perfile_error *err)
{
    perfile_auxtrace_index v;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_AUXTRACE);
    if (!f || perfile_auxtrace_index_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    /* entries.n can be trusted: the decoder made sure that the list fits in the section. */
    uint64_t n = v.entries.n < PF_CHECK_INDEX ? v.entries.n : PF_CHECK_INDEX;
    c->aux.has_index = true;
    c->aux.index_complete = n == v.entries.n;
    if (n == 0)
        return PERFILE_OK;
    c->aux.index = pf_alloc((size_t)n, sizeof *c->aux.index);
    if (!c->aux.index)
        return pf_fail_nomem(err, "check");
    perfile_auxtrace_index_entry e;
    while (c->aux.n_index < n &&
           perfile_auxtrace_index_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        c->aux.index[c->aux.n_index++] = e.file_offset & ~ENTRY_FOUND;
    qsort(c->aux.index, c->aux.n_index, sizeof *c->aux.index, by_value);
    return PERFILE_OK;
}

/* Binary search: returns the entry for `offset`, NULL if the feature does not list it. */
static uint64_t *find_entry(pf_check *c, uint64_t offset)
{
    uint32_t low = 0, high = c->aux.n_index;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((c->aux.index[middle] & ~ENTRY_FOUND) < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->aux.n_index && (c->aux.index[low] & ~ENTRY_FOUND) == offset ? &c->aux.index[low]
                                                                                : NULL;
}

/* Checks an AUXTRACE record: AUXTRACE_INFO came before it (V-512, reported once), the size of its
 * data is a multiple of 8 (V-511), and the feature lists it (V-608). */
void pf_check_auxtrace(pf_check *c, const perfile_record *r)
{
    if (!c->user.auxtrace_info) {
        pf_report(c, PERFILE_RULE_V_512, PF_FULL, r, "auxtrace", "no AUXTRACE_INFO came before");
        c->user.auxtrace_info = true;
    }
    if (r->extra.len % 8)
        pf_report(c, PERFILE_RULE_V_511, PF_LESSER, r, "auxtrace.size",
                  "%zu bytes of AUX data, not a multiple of 8", r->extra.len);
    /* Pipes have no index, killed recordings did not write one, and an incomplete index proves
     * nothing. */
    const perfile_container *k = perfile_stream_container(&c->base);
    if (c->pipe || k->unterminated || (c->aux.has_index && !c->aux.index_complete))
        return;
    uint64_t *entry = find_entry(c, r->offset);
    if (entry)
        *entry |= ENTRY_FOUND;
    else
        pf_report(c, PERFILE_RULE_V_608, PF_FULL, r, "auxtrace", "%s",
                  c->aux.has_index ? "feature AUXTRACE does not list it"
                                   : "there is no feature AUXTRACE");
}

/* Reports entries of feature AUXTRACE for which no record was found (V-607). */
void pf_check_index_end(pf_check *c)
{
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_AUXTRACE);
    for (uint32_t i = 0; f && i < c->aux.n_index; i++)
        if (!(c->aux.index[i] & ENTRY_FOUND))
            pf_report_feature(c, PERFILE_RULE_V_607, PF_FULL, f, "auxtrace_index.file_offset",
                              "entry for offset %" PRIu64 ": there is no AUXTRACE record",
                              c->aux.index[i]);
}

/* Returns the slot of `key`, or a free one for it.  Returns NULL if other keys have the 16 slots
 * where it may be; then this buffer is not checked. */
static pf_check_buffer *buffer_of(pf_check *c, uint64_t key)
{
    size_t home = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (size_t i = 0; i < 16; i++) {
        pf_check_buffer *b = &c->aux.buffers[(home + i) % PF_CHECK_BUFFERS];
        if (b->key == key + 1 || b->key == 0)
            return b;
    }
    return NULL;
}

/* Checks that an AUX record begins where the last one of its buffer ended (V-408).  A buffer is
 * identified by event and CPU, or by event and thread if the record has no CPU. */
void pf_check_aux(pf_check *c, const perfile_record *r, const perfile_aux *v)
{
    uint32_t cpu, pid, tid = 0;
    bool has_cpu = perfile_record_cpu(r, &cpu);
    if (!has_cpu && !perfile_record_task(r, &pid, &tid))
        return;
    const perfile_event *e = perfile_record_event(r);
    /* The lowest bit distinguishes CPUs from threads. */
    uint64_t key =
        ((uint64_t)(has_cpu ? cpu : tid) << 20 | (e ? e->index & 0xffff : 0)) << 1 | has_cpu;
    pf_check_buffer *b = buffer_of(c, key);
    if (!b)
        return;
    bool may_jump = v->flags & (AUX_TRUNCATED | AUX_OVERWRITE);
    if (b->key && b->end != v->aux_offset && !may_jump)
        pf_report(c, PERFILE_RULE_V_408, PF_FULL, r, "aux.aux_offset",
                  "AUX data at 0x%" PRIx64 ", the last ended at 0x%" PRIx64, v->aux_offset, b->end);
    b->key = key + 1;
    b->end = v->aux_offset + v->aux_size;
}
