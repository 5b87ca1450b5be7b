/* Terms that need names: of threads and mapped files, from the process model, and of cgroups, from
 * CGROUP records. Also provides these names to expressions. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/fetch.h"
#include "filter/filter.h"
#include "model/ask.h"
#include "perfile/model.h"

bool pf_pattern_fits(const pf_pattern *p, const char *text, size_t n)
{
    pf_expr_text t = {{(const uint8_t *)text, n}, false};
    if (p->exact)
        return strlen(p->name) == n && memcmp(p->name, text, n) == 0;
    return pf_expr_glob(&t, (perfile_bytes){(const uint8_t *)p->text, p->len});
}

static bool any_fits(const pf_patterns *p, const char *name, bool path)
{
    const size_t n = strlen(name);
    const char *slash = path ? strrchr(name, '/') : NULL;
    const size_t dso = path ? perfile_mapping_dso(&(perfile_mapping){.name = name}).len : n;
    for (uint32_t i = 0; i < p->n; i++) {
        const pf_pattern *x = &p->at[i];
        if (x->of != i && p->at[x->of].exact)
            continue; /* a part of "a,b", which is one name */
        if (pf_pattern_fits(x, name, n) || (dso < n && pf_pattern_fits(x, name, dso)) ||
            (slash && !x->exact && pf_pattern_fits(x, slash + 1, strlen(slash + 1))))
            return true;
    }
    return false;
}

/* Finds the patterns that are exactly a name in the capture. */
static void settle(const pf_filter *x, pf_patterns *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const perfile_bytes name = {(const uint8_t *)p->at[i].name, strlen(p->at[i].name)};
        if (p == &x->terms.cgroups)
            p->at[i].exact = pf_texts_find(&x->names.texts, name) != NULL;
        else if (x->names.model)
            p->at[i].exact = p == &x->terms.dsos ? pf_model_has_file(x->names.model, name)
                                                 : pf_model_has_name(x->names.model, name);
    }
    p->settled = true;
}

bool pf_filter_matches(const pf_filter *x, pf_patterns *p, const char *name, bool path)
{
    if (!name)
        return false;
    if (!p->settled)
        settle(x, p);
    /* The model stores each name once, so the address identifies it. */
    uint32_t known = pf_index_get(&p->known, (uintptr_t)name);
    if (known != PF_INDEX_NONE)
        return known;
    bool fits = any_fits(p, name, path);
    if (!p->known.seed)
        p->known.seed = pf_index_seed(p);
    (void)pf_index_put(&p->known, (uintptr_t)name, fits); /* on failure it is computed again */
    return fits;
}

bool pf_filter_needs_model(const pf_filter *x)
{
    return x->terms.where_needs_model || pf_filter_has(x, PERFILE_FILTER_BY_COMM) ||
           pf_filter_has(x, PERFILE_FILTER_BY_DSO) || pf_filter_has(x, PERFILE_FILTER_BY_CGROUP);
}

/* Stores the path of a cgroup. Only the first record of an id counts. */
static perfile_status feed_cgroup(pf_filter *x, const perfile_record *r, perfile_error *err)
{
    perfile_cgroup v;
    if (perfile_cgroup_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    /* Random seeds, so that no input can be crafted to have many equal hashes. */
    if (!x->names.texts.seed)
        x->names.texts.seed = x->names.cgroup_of.seed = pf_index_seed(x);
    if (pf_index_get(&x->names.cgroup_of, v.id) != PF_INDEX_NONE)
        return PERFILE_OK;
    const char *path = pf_texts_keep(&x->names.texts, v.path);
    uint32_t at = (uint32_t)(x->names.cgroups.len / sizeof path);
    if (!path || !pf_buffer_append(&x->names.cgroups, &path, sizeof path) ||
        !pf_index_put(&x->names.cgroup_of, v.id, at))
        return pf_fail_nomem(err, "filter");
    return PERFILE_OK;
}

/* The model is made for the first record, because it needs the session. */
perfile_status pf_filter_feed(pf_filter *x, const perfile_record *r, perfile_error *err)
{
    /* The model does not store cgroups. */
    if (r->type == PERFILE_RECORD_CGROUP && r->family == PERFILE_FAMILY_PERF)
        return feed_cgroup(x, r, err);
    if (r->type == PERFILE_RECORD_SAMPLE)
        return PERFILE_OK;
    if (!x->names.model) {
        perfile_status st = perfile_model_open(x->pass.session, &x->names.model, err);
        if (st != PERFILE_OK)
            return st;
    }
    x->names.answers.stale = true;
    return perfile_model_feed(x->names.model, r, err);
}

const char *pf_filter_comm(const pf_filter *x, const perfile_record *r)
{
    return x->names.model ? perfile_model_record_comm(x->names.model, r) : NULL;
}

const char *pf_filter_dso(const pf_filter *x, const perfile_record *r)
{
    const perfile_mapping *m =
        x->names.model ? perfile_model_record_mapping(x->names.model, r) : NULL;
    return m ? m->name : NULL;
}

/* Samples name a cgroup by id; other records name none. */
const char *pf_filter_cgroup(const pf_filter *x, const perfile_record *r)
{
    perfile_sample s;
    if (r->type != PERFILE_RECORD_SAMPLE ||
        perfile_sample_decode(r, &s, sizeof s, NULL) != PERFILE_OK ||
        !(s.present & PERFILE_SAMPLE_CGROUP))
        return NULL;
    uint32_t at = pf_index_get(&x->names.cgroup_of, s.cgroup);
    if (at == PF_INDEX_NONE)
        return NULL;
    const char *const *names = (const char *const *)(const void *)x->names.cgroups.ptr;
    return names[at];
}

/* Handle of the one name that the filter answers itself; all others belong to pf_answers. */
enum { ASKS_CGROUP = 1000 };

/* perfile_expr_provider: the names that expressions may use. */
static uint32_t knows(void *user, const char *name, uint32_t *handle)
{
    pf_filter *x = user;
    uint32_t class = PERFILE_EXPR_TEXT;
    if (strcmp(name, "cgroup") == 0)
        *handle = ASKS_CGROUP;
    else
        class = pf_answers_know(&x->names.answers, name, handle);
    /* From now on the filter needs side-band before the samples that it concerns. */
    x->terms.where_needs_model |= class != 0;
    return class;
}

/* perfile_expr_provider: the value for a record. PERFILE_END: it is unknown. */
static perfile_status answer(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err)
{
    pf_filter *x = user;
    if (handle != ASKS_CGROUP) {
        x->names.answers.model = x->names.model;
        x->names.answers.options = x->options.symbols;
        return pf_answers_give(&x->names.answers, r, handle, value, err);
    }
    const char *name = pf_filter_cgroup(x, r);
    if (name)
        value->text = (perfile_bytes){(const uint8_t *)name, strlen(name)};
    return name ? PERFILE_OK : PERFILE_END;
}

const perfile_expr_provider pf_filter_names = {
    .size = sizeof pf_filter_names, .knows = knows, .answer = answer};
