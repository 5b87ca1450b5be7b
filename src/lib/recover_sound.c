/* Whether the capture needs no rescue: read as it is, without looking for records that could be
 * trusted, it has no damage, the checker finds no error in its events and records, and no record
 * that has room for it has swallowed others.  What recover guesses is good for captures of which
 * something is wrong; of one that is only odd every record stays.
 *
 * The answer costs a pass over the input up to its first error, so that it is only asked when
 * something looks wrong.  The pass reads the same source as recover does, between two of its reads.
 */
#include "base/error.h"
#include "io/source_kind.h"
#include "lib/recover.h"
#include "schema/rows.h"
#include "schema/family.h"

/* A source that reads another one, which stays the caller's. */
typedef struct pf_same {
    perfile_source base;
    perfile_source *of;
} pf_same;

static perfile_status same_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                               perfile_error *err)
{
    const pf_same *v = (const pf_same *)(void *)s;
    return pf_source_run(v->of, offset, need, run, err);
}

static perfile_status same_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    const pf_same *v = (const pf_same *)(void *)s;
    return pf_source_view(v->of, offset, need, run, err);
}

static perfile_status open_same(perfile_source *of, perfile_source **same, perfile_error *err)
{
    static const pf_source_ops ops = {.run = same_run, .view = same_view};
    pf_same *v;
    perfile_status st = pf_source_new(sizeof *v, &ops, of->name, &of->options, &v, err);
    if (st != PERFILE_OK)
        return st;
    v->of = of;
    v->base.size = of->size;
    v->base.stable = of->stable;
    v->base.lasting = of->lasting;
    v->base.seekable = true;
    *same = &v->base;
    return PERFILE_OK;
}

typedef struct pf_verdict {
    bool strict; /* errors of the container and of feature sections count, too */
    bool wrong;
    const perfile_session *session;
    uint64_t slack[PERFILE_RUN_RECORDS]; /* records of the run with more bytes than they need … */
    size_t n_slack;
} pf_verdict;

/* Whether the feature stands in a section of the file and not in a record. */
static bool in_section(const perfile_session *s, uint32_t number)
{
    const perfile_feature *f =
        number < PERFILE_N_FEATURES ? perfile_session_feature(s, number) : NULL;
    return f && f->origin == PERFILE_ORIGIN_CONTAINER;
}

static void on_finding(void *user, const perfile_finding *f)
{
    pf_verdict *v = user;
    if (f->rule == PERFILE_RULE_V_216 && v->n_slack < PERFILE_RUN_RECORDS)
        v->slack[v->n_slack++] = f->sequence;
    if (f->severity != PERFILE_SEVERITY_ERROR)
        return;
    const perfile_rule *rule = perfile_rule_of(f->rule);
    bool beside = rule->where == PERFILE_RULE_SCOPE_CONTAINER ||
                  (rule->where == PERFILE_RULE_SCOPE_FEATURE && in_section(v->session, f->feature));
    v->wrong |= v->strict || !beside;
}

static bool no_damage(const perfile_stream *s)
{
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    /* That the header declares more than there is says nothing of the records that are there. */
    return sum.damages == sum.by_damage[PERFILE_DAMAGE_TRUNCATED_DATA];
}

/* Whether the record has room for others: it is of a type that nobody knows, or has bytes behind
 * the string that should end it. */
static bool has_room(const pf_verdict *v, const perfile_record *r)
{
    bool room = r->family == PERFILE_FAMILY_PERF && r->header && !pf_row_of(r);
    for (size_t i = 0; i < v->n_slack && !room; i++)
        room = v->slack[i] == r->sequence;
    return room;
}

/* Whether one of the run holds others: the rules have nothing against it, but damage made it. */
static bool some_swallows(const pf_repair_ops *repair, pf_verdict *verdict, const perfile_record *r,
                          size_t n)
{
    bool swallows = false;
    for (size_t i = 0; i < n && !swallows; i++) {
        swallows = has_room(verdict, &r[i]) && repair && repair->swallows(&r[i]);
    }
    verdict->n_slack = 0;
    return swallows;
}

/* True if the header knows of no records, and there are bytes that it says nothing of: records may
 * be there, and only their place be gone. */
static bool hides_records(const perfile_stream *s)
{
    const perfile_container *k = perfile_stream_container(s);
    bool unclaimed = false;
    for (uint32_t i = 0; i < k->n_extents; i++)
        unclaimed |=
            k->extents[i].role == PERFILE_EXTENT_GAP || k->extents[i].role == PERFILE_EXTENT_TAIL;
    return k->form == PERFILE_FORM_FILE && k->data.size == 0 && unclaimed;
}

/* What says nothing of the capture, so that no answer follows from it. */
static perfile_status no_answer(perfile_status st)
{
    return st == PERFILE_E_NOMEM || st == PERFILE_E_IO ? st : PERFILE_OK;
}

perfile_status pf_recover_sound(const pf_recover *x, perfile_source *source,
                                const perfile_assume *assume, bool strict, bool *sound,
                                perfile_error *err)
{
    perfile_source *own;
    perfile_stream *s;
    const perfile_record *r;
    size_t n;
    pf_verdict v = {.strict = strict};
    perfile_open_options how = {
        .size = sizeof how, .from = x->options.from, .limits = x->options.limits, .assume = assume};
    perfile_check_options check = {.size = sizeof check,
                                   .finding = on_finding,
                                   .user = &v,
                                   .severity = PERFILE_SEVERITY_WARNING};
    *sound = false;
    if (!pf_source_has_entries(source) && !source->seekable)
        return PERFILE_OK;
    perfile_status st = pf_source_has_entries(source)
                            ? perfile_source_path(source->name, &source->options, &own, err)
                            : open_same(source, &own, err);
    if (st != PERFILE_OK)
        return no_answer(st);
    st = perfile_open(own, &how, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(own);
        /* A directory without `data` cannot be opened, which is an answer. */
        return pf_source_has_entries(source) && st == PERFILE_E_IO ? PERFILE_OK : no_answer(st);
    }
    v.session = perfile_stream_session(s);
    v.wrong = strict && hides_records(s);
    st = perfile_check(s, &check, &s, err);
    while (st == PERFILE_OK && !v.wrong && no_damage(s)) {
        st = perfile_stream_next_run(s, &r, &n, err);
        v.wrong |= st == PERFILE_OK && some_swallows(x->repair, &v, r, n);
    }
    *sound = st == PERFILE_END && !v.wrong && no_damage(s);
    perfile_stream_close(s);
    return no_answer(st);
}

bool pf_recover_is_sound(pf_recover *x)
{
    if (!x->asked) {
        perfile_error err; /* of the capture it may say something that is an answer */
        x->asked = true;
        if (pf_recover_sound(x, x->source, x->assume, false, &x->sound, &err) != PERFILE_OK)
            x->failed = err;
    }
    return x->sound;
}

static bool believe(void *user)
{
    return pf_recover_is_sound(user);
}

void pf_recover_ask_first(pf_recover *x)
{
    perfile_stream *s = x->stream;
    while (s->below)
        s = s->below;
    if (x->repair)
        x->repair->ask_before_gaps(s, believe, x);
}
