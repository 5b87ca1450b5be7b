/* The feature table as it looks in damaged bytes: see feature_table.h. */
#include "perf/feature_table.h"

#include "base/checked.h"
#include "base/cursor.h"

unsigned pf_table_count(const uint64_t features[4])
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(features[i]);
    return n;
}

bool pf_table_plausible(const pf_table_bytes *in, uint64_t at, uint64_t n, uint64_t pad,
                        uint64_t moved, uint64_t *end)
{
    if (n == 0 || n > PF_TABLE_MOST || at < in->at ||
        !pf_within(at - in->at, n * PF_TABLE_ENTRY, in->bytes.len))
        return false;
    const uint8_t *entry = in->bytes.ptr + (at - in->at);
    uint64_t behind = at + n * PF_TABLE_ENTRY;
    uint64_t first = UINT64_MAX, last = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++, entry += PF_TABLE_ENTRY) {
        uint64_t offset = pf_load_u64(entry, in->swap);
        uint64_t size = pf_load_u64(entry + 8, in->swap);
        if (i && !offset && !size)
            continue; /* perf reserved an entry for a feature that it then could not write */
        offset += moved;
        if (offset < behind || !pf_within(offset, size, in->size))
            return false;
        first = offset < first ? offset : first;
        last = offset + size > last ? offset + size : last;
        sum += size;
    }
    *end = last;
    return first - behind <= pad && last - first >= sum && last - first - sum <= pad;
}

bool pf_table_find_moved(const pf_table_bytes *in, const pf_perf_header *h, uint64_t *table)
{
    const uint64_t pad = PF_TABLE_MOST * PF_TABLE_ENTRY;
    const uint64_t n = pf_table_count(h->features);
    uint64_t stood, end;
    if (n == 0 || h->data.size == 0 || pf_add_u64(h->data.offset, h->data.size, &stood))
        return false;
    for (uint64_t i = 0; pf_within(i, n * PF_TABLE_ENTRY, in->bytes.len); i++) {
        /* Between table and first section lie the entries of features that perf could not write. */
        const uint64_t front = pf_load_u64(in->bytes.ptr + i, in->swap) - stood;
        const uint64_t at = in->at + i;
        if (front > pad || front % PF_TABLE_ENTRY || at == stood ||
            !pf_table_plausible(in, at, n, pad, at - stood, &end))
            continue;
        *table = at;
        return true;
    }
    return false;
}
