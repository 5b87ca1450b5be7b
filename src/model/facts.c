/* What a capture reports outside its records: the build ids of files (feature BUILD_ID), and
 * simpleperf's records of processes and mappings that existed before the recording (feature
 * INIT_MAP).  Also queries for one record. */
#include <string.h>

#include "base/cursor.h"
#include "model/state.h"
#include "schema/rows.h"
#include "perfile/model.h"
#include "model/command.h"
#include "core/command.h"

/* Returns the entry of a file name, which must be in texts; adds it if needed.  Returns NULL when
 * out of memory or the budget is exhausted. */
static pf_named_id *named_id(perfile_model *m, const char *file)
{
    uint32_t at = pf_index_get(&m->id_index, (uintptr_t)file);
    if (at != PF_INDEX_NONE)
        return &m->ids.at[at];
    if (!PF_ARRAY_RESERVE(&m->budget, m->ids) ||
        !pf_index_put(&m->id_index, (uintptr_t)file, (uint32_t)m->ids.n))
        return NULL;
    m->ids.at[m->ids.n] = (pf_named_id){0};
    return &m->ids.at[m->ids.n++];
}

static void fill(perfile_mapping *x, const pf_named_id *id)
{
    x->build_id_size = id->size;
    memcpy(x->build_id, id->bytes, sizeof x->build_id);
}

bool pf_model_add_build_id(perfile_model *m, perfile_bytes name, perfile_bytes build_id)
{
    if (!build_id.len)
        return true;
    const char *file = pf_texts_keep(&m->texts, name);
    pf_named_id *id = file ? named_id(m, file) : NULL;
    if (!id)
        return false;
    if (id->size)
        return true;
    id->size = (uint8_t)(build_id.len < sizeof id->bytes ? build_id.len : sizeof id->bytes);
    memcpy(id->bytes, build_id.ptr, id->size);
    for (uint32_t i = id->first; i; i = m->next_of_file.at[i - 1])
        fill(&m->mappings.at[i - 1], id);
    id->first = 0;
    return true;
}

/* Returns the name under which build ids are listed.  Mappings of the kernel have the relocation
 * symbol after their name, "[kernel.kallsyms]_text"; the list of build ids has the name without it.
 */
static const char *listed_name(perfile_model *m, const char *name)
{
    const char *bracket = name[0] == '[' ? strchr(name, ']') : NULL;
    if (!bracket || !bracket[1])
        return name;
    return pf_texts_keep(&m->texts,
                         (perfile_bytes){(const uint8_t *)name, (size_t)(bracket + 1 - name)});
}

bool pf_model_link_build_id(perfile_model *m)
{
    perfile_mapping *x = &m->mappings.at[m->mappings.n - 1];
    m->next_of_file.at[m->mappings.n - 1] = 0;
    if (x->build_id_size || x->kind == PERFILE_MAPPING_SYMBOL)
        return true;
    const char *file = listed_name(m, x->name);
    pf_named_id *id = file ? named_id(m, file) : NULL;
    if (!id)
        return false;
    if (id->size) {
        fill(x, id);
        return true;
    }
    m->next_of_file.at[m->mappings.n - 1] = id->first;
    id->first = (uint32_t)m->mappings.n;
    return true;
}

/* Adds the feature BUILD_ID, up to the first entry that cannot be decoded. */
static bool add_build_ids(perfile_model *m, const perfile_feature *f)
{
    perfile_build_ids list;
    perfile_build_id_entry entry;
    if (perfile_build_ids_decode(f, &list, sizeof list, NULL) != PERFILE_OK)
        return true;
    while (perfile_build_id_entry_next(&list.build_ids, &entry, sizeof entry) == PERFILE_OK)
        if (!pf_model_add_build_id(m, entry.id.filename, entry.id.build_id))
            return false;
    return true;
}

/* Adds the feature INIT_MAP: consecutive records, up to the first incomplete one. */
static bool add_init_map(perfile_model *m, const perfile_feature *f)
{
    pf_cursor c = pf_cur(f->payload, pf_session_swapped(m->session));
    while (pf_cur_left(&c) >= PF_PERF_RECORD_HEADER) {
        perfile_record r = {.family = PERFILE_FAMILY_PERF,
                            .header = c.pos,
                            .flags = c.swap ? PERFILE_REC_SWAPPED : 0,
                            .offset = f->offset + f->payload.len - pf_cur_left(&c),
                            .session = m->session};
        r.type = pf_cur_u32(&c);
        r.misc = pf_cur_u16(&c);
        uint16_t size = pf_cur_u16(&c);
        if (size < PF_PERF_RECORD_HEADER)
            break;
        r.body = pf_cur_span(&c, size - (uint64_t)PF_PERF_RECORD_HEADER);
        if (c.bad)
            break;
        if (!pf_model_add_record(m, &r))
            return false;
    }
    return true;
}

/* A feature may arrive late in a pipe, so this is called again for each HEADER_FEATURE record. */
bool pf_model_add_facts(perfile_model *m)
{
    static const struct {
        uint32_t number;
        bool (*add)(perfile_model *m, const perfile_feature *f);
    } facts[PF_MODEL_FACTS] = {{PERFILE_FEATURE_INIT_MAP, add_init_map},
                               {PERFILE_FEATURE_BUILD_ID, add_build_ids}};
    for (unsigned i = 0; i < PF_MODEL_FACTS; i++) {
        const perfile_feature *f =
            m->facts_added[i] ? NULL : perfile_session_feature(m->session, facts[i].number);
        if (!f || !f->payload.len)
            continue;
        m->facts_added[i] = true; /* set first, because a record in INIT_MAP may call this again */
        if (!facts[i].add(m, f)) {
            m->facts_added[i] = false;
            return false;
        }
    }
    return true;
}
