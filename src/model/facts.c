/* What a capture reports outside its records: the build ids of files (feature BUILD_ID), and
 * simpleperf's records of processes and mappings that existed before the recording (feature
 * INIT_MAP). */
#include <string.h>

#include "base/cursor.h"
#include "model/state.h"
#include "schema/family.h"

bool pf_model_add_build_id(perfile_model *m, perfile_bytes name, perfile_bytes build_id)
{
    if (!build_id.len)
        return true;
    const char *file = pf_texts_keep(&m->texts, name);
    if (!file)
        return false;
    if (pf_index_get(&m->id_index, (uintptr_t)file) != PF_INDEX_NONE)
        return true;
    if (!PF_ARRAY_RESERVE(&m->budget, m->ids) ||
        !pf_index_put(&m->id_index, (uintptr_t)file, (uint32_t)m->ids.n))
        return false;
    pf_named_id *id = &m->ids.at[m->ids.n++];
    id->size = (uint8_t)(build_id.len < sizeof id->bytes ? build_id.len : sizeof id->bytes);
    memcpy(id->bytes, build_id.ptr, id->size);
    return true;
}

/* Mappings of the kernel have the relocation symbol behind their name, "[kernel.kallsyms]_text";
 * the list of build ids has the name without it. */
void pf_model_fill_build_id(const perfile_model *m, perfile_mapping *x)
{
    const char *bracket = x->name[0] == '[' ? strchr(x->name, ']') : NULL;
    const char *name = x->name;
    if (x->build_id_size || x->kind == PERFILE_MAPPING_SYMBOL)
        return;
    /* pf_texts_find(): a name that no build id is listed for need not be stored. */
    if (bracket && bracket[1])
        name = pf_texts_find(&m->texts,
                             (perfile_bytes){(const uint8_t *)name, (size_t)(bracket + 1 - name)});
    uint32_t at = name ? pf_index_get(&m->id_index, (uintptr_t)name) : PF_INDEX_NONE;
    if (at == PF_INDEX_NONE)
        return;
    x->build_id_size = m->ids.at[at].size;
    memcpy(x->build_id, m->ids.at[at].bytes, sizeof x->build_id);
}

/* Feature BUILD_ID.  Entries behind one that cannot be decoded are ignored. */
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

/* Feature INIT_MAP: records one after the other, up to the first that is incomplete. */
static bool add_init_map(perfile_model *m, const perfile_feature *f)
{
    pf_cursor c = pf_cur(f->payload, perfile_session_swapped(m->session));
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

/* A feature may arrive late in a pipe, so that this is tried again at each HEADER_FEATURE record.
 */
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
        m->facts_added[i] = true; /* first: a record in INIT_MAP may lead here again */
        if (!facts[i].add(m, f)) {
            m->facts_added[i] = false;
            return false;
        }
    }
    return true;
}
