/* Views: sessions that replace a few features of another session and share everything else with it.
 *
 * A stage that drops records changes features such as SAMPLE_TIME and BUILD_ID and nothing else.  A
 * view is a shallow copy of the session below, with space for replaced features: events, names and
 * ids are shared, and nothing is written below.  When the session below has changed, the copy is
 * made again: pf_session_view_refresh().
 *
 * New facts always go to the session below, never to a view. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "core/state.h"

enum { MOST = 2 /* replaced features of one view */ };

struct pf_session_view {
    perfile_session shown;
    const perfile_session *from;
    uint64_t seen;    /* generation of `from` that `shown` was copied from */
    uint64_t changes; /* how often a feature was replaced */
    perfile_feature own[MOST];
    uint32_t n_own;
    pf_buffer
        build_ids;  /* array of perfile_build_id: the entries of the replaced feature BUILD_ID */
    pf_buffer list; /* pointers to them, and to the build ids of `from` that came in records */
};

const perfile_session *pf_session_view_shown(const pf_session_view *v)
{
    return &v->shown;
}

/* The replaced feature of that number, NULL if it is not replaced. */
static perfile_feature *own_feature(pf_session_view *v, uint32_t number)
{
    for (uint32_t i = 0; i < v->n_own; i++)
        if (v->own[i].number == number)
            return &v->own[i];
    return NULL;
}

static perfile_status add_build_id(pf_session_view *v, const void *id, perfile_error *err)
{
    return pf_buffer_append(&v->list, &id, sizeof id) ? PERFILE_OK
                                                      : pf_fail_nomem(err, "session.build_ids");
}

/* Makes the list of build ids: entries of the replaced feature, then those from records. */
static perfile_status list_build_ids(pf_session_view *v, perfile_error *err)
{
    const pf_pointers *all = &v->from->build_ids;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&v->list);
    for (size_t at = 0; at < v->build_ids.len && st == PERFILE_OK; at += sizeof(perfile_build_id))
        st = add_build_id(v, v->build_ids.ptr + at, err);
    for (uint32_t i = 0; i < all->n && st == PERFILE_OK; i++)
        if (((const perfile_build_id *)all->items[i])->origin != PERFILE_ORIGIN_CONTAINER)
            st = add_build_id(v, all->items[i], err);
    v->shown.build_ids = (pf_pointers){.items = (void **)(void *)v->list.ptr,
                                       .n = (uint32_t)(v->list.len / sizeof(void *))};
    return st;
}

/* Copies `from` to `shown`, with or without the table of features: the table is most of a session,
 * and few of the records with facts change it. */
static void copy_session(pf_session_view *v, bool features)
{
    enum {
        TABLE = offsetof(perfile_session, features), /* with how many there are, */
        BEHIND = offsetof(perfile_session, event_types)
    };
    const uint8_t *from = (const uint8_t *)v->from;
    uint8_t *to = (uint8_t *)&v->shown;
    pf_session_reader *const readers = v->shown.readers; /* a view has readers of its own */
    memcpy(to, from, features ? sizeof v->shown : TABLE);
    if (!features)
        memcpy(to + BEHIND, from + BEHIND, sizeof v->shown - BEHIND);
    v->shown.readers = readers;
}

/* Copies `from` again and puts the replaced features in place. */
static perfile_status refresh(pf_session_view *v, perfile_error *err)
{
    const uint32_t changes = v->from->feature_changes + (uint32_t)v->changes;
    pf_session_will_change(&v->shown);
    copy_session(v, v->shown.feature_changes != changes);
    v->shown.feature_changes = changes;
    v->shown.generation += v->changes;
    v->seen = v->from->generation;
    for (uint32_t i = 0; i < v->shown.n_features; i++) {
        perfile_feature *f = own_feature(v, v->shown.features[i]->number);
        if (f)
            v->shown.by_number[f->number] = v->shown.features[i] = f;
    }
    return own_feature(v, PERFILE_FEATURE_BUILD_ID) ? list_build_ids(v, err) : PERFILE_OK;
}

perfile_status pf_session_view_new(const perfile_session *from, pf_session_view **view,
                                   perfile_error *err)
{
    pf_session_view *v = pf_alloc(1, sizeof *v);
    if (!v)
        return pf_fail_nomem(err, "session");
    v->from = from;
    (void)refresh(v, NULL); /* cannot fail: no feature is replaced yet */
    *view = v;
    return PERFILE_OK;
}

void pf_session_view_free(pf_session_view *v)
{
    if (!v)
        return;
    pf_session_will_change(&v->shown);
    pf_buffer_free(&v->build_ids);
    pf_buffer_free(&v->list);
    pf_free(v);
}

perfile_status pf_session_view_refresh(pf_session_view *v, perfile_error *err)
{
    return v->seen == v->from->generation ? PERFILE_OK : refresh(v, err);
}

/* Decodes the replaced feature BUILD_ID. */
static perfile_status decode_build_ids(pf_session_view *v, const perfile_feature *f,
                                       perfile_error *err)
{
    perfile_build_ids all;
    perfile_build_id_entry e;
    perfile_build_id id;
    pf_buffer_clear(&v->build_ids);
    if (perfile_build_ids_decode(f, &all, sizeof all, NULL) != PERFILE_OK)
        return PERFILE_OK;
    while (perfile_build_id_entry_next(&all.build_ids, &e, sizeof e) == PERFILE_OK) {
        pf_build_id_of_entry(&e, f->origin, &id);
        if (!pf_buffer_append(&v->build_ids, &id, sizeof id))
            return pf_fail_nomem(err, "session.build_ids");
    }
    return PERFILE_OK;
}

perfile_status pf_session_view_replace(pf_session_view *v, uint32_t number, perfile_bytes payload,
                                       perfile_error *err)
{
    const perfile_feature *stored = perfile_session_feature(v->from, number);
    if (!stored || stored->origin != PERFILE_ORIGIN_CONTAINER)
        return PERFILE_OK;
    perfile_feature *f = own_feature(v, number);
    if (!f && v->n_own == MOST)
        return pf_fail_nomem(err, "session.features");
    if (!f)
        f = &v->own[v->n_own++];
    *f = *stored;
    f->payload = payload;
    f->size = payload.len;
    f->session = &v->shown;
    v->changes++;
    perfile_status st = PERFILE_OK;
    if (number == PERFILE_FEATURE_BUILD_ID)
        st = decode_build_ids(v, f, err);
    return st == PERFILE_OK ? refresh(v, err) : st;
}
