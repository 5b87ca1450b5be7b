/* Processor sets that are stored as a range, converted to lists for versions that know only lists
 * and masks.  They are in CPU_MAP records, and behind a fixed part in EVENT_UPDATE records. */
#include "target/target.h"
#include "schema/family.h"

enum {
    UPDATE_FIXED = 16, /* bytes of the body of EVENT_UPDATE in front of the set */
    LIST = 0,          /* type of the set: a list of numbers of 16 bits */
    ANY = 0xffff       /* -1 in a list: any processor */
};

/* Returns the set in the record, decoded to *map or *update; NULL if it is no range or cannot be
 * read.  *prefix is the number of bytes in front of it in the body. */
static const perfile_cpu_map_data *range_of(const perfile_record *r, perfile_cpu_map *map,
                                            perfile_event_update *update, size_t *prefix)
{
    *prefix = r->type == PERFILE_RECORD_CPU_MAP ? 0 : UPDATE_FIXED;
    if (r->type == PERFILE_RECORD_CPU_MAP)
        return perfile_cpu_map_decode(r, map, sizeof *map, NULL) == PERFILE_OK && map->cpus.is_range
                   ? &map->cpus
                   : NULL;
    return perfile_event_update_decode(r, update, sizeof *update, NULL) == PERFILE_OK &&
                   update->has_cpus && update->cpus.is_range
               ? &update->cpus
               : NULL;
}

bool pf_target_has_cpu_range(const pf_target *t, const perfile_record *r)
{
    enum {
        WITH_RANGES = 3
    }; /* forms of sets that a version with ranges knows: list, mask, range */
    perfile_cpu_map map;
    perfile_event_update update;
    size_t prefix;
    return t->release->cpu_maps < WITH_RANGES && range_of(r, &map, &update, &prefix) != NULL;
}

size_t pf_target_range_to_list(const perfile_record *r, uint8_t *out)
{
    const bool swapped = r->flags & PERFILE_REC_SWAPPED;
    perfile_cpu_map map;
    perfile_event_update update;
    size_t prefix;
    const perfile_cpu_map_data *set = range_of(r, &map, &update, &prefix);
    size_t n = set->start_cpu <= set->end_cpu ? (size_t)set->end_cpu - set->start_cpu + 1 : 0;
    /* Type and count, 16 bits each, then the numbers. */
    size_t size = PF_PERF_RECORD_HEADER + prefix + 4 + 2 * (n + (set->any_cpu != 0));
    size = (size + 7) / 8 * 8;
    if (size > UINT16_MAX)
        return 0;
    memset(out, 0, size);
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    memcpy(out + PF_PERF_RECORD_HEADER, r->body.ptr, prefix);
    pf_store_u16(out + 6, (uint16_t)size, swapped);
    uint8_t *to = out + PF_PERF_RECORD_HEADER + prefix;
    pf_store_u16(to, LIST, swapped);
    pf_store_u16(to + 2, (uint16_t)(n + (set->any_cpu != 0)), swapped);
    to += 4;
    if (set->any_cpu) {
        pf_store_u16(to, ANY, swapped);
        to += 2;
    }
    for (size_t i = 0; i < n; i++)
        pf_store_u16(to + 2 * i, (uint16_t)(set->start_cpu + i), swapped);
    return size;
}
