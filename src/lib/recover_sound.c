/* Whether a capture is sound, so that recover must leave nothing out.  A sound capture, read
 * strictly, has no damage; the checker finds no error in its events and records; and no record has
 * swallowed others because its size was damaged.  The heuristics of recover are made for damaged
 * captures, and would leave out valid records of one that is only odd.
 *
 * The answer costs a pass over the input up to its first error, so it is asked for only when
 * something looks wrong, and then once.  The pass uses the source of the running stream, between
 * two of its reads. */
#include "base/error.h"
#include "io/source_kind.h"
#include "lib/recover.h"
#include "schema/rows.h"
#include "schema/family.h"

/* A source that forwards all reads to `of`, which it does not own. */
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

/* Makes a source with the properties of `of`, but seekable. */
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
    bool wrong;  /* the capture is not sound */
    const perfile_session *session;
    /* Sequence of each record of the run with bytes behind the string that should end it
     * (V-216). */
    uint64_t slack[PERFILE_RUN_RECORDS];
    size_t n_slack;
} pf_verdict;

/* True if the feature is in a section of the file, not in a record. */
static bool in_section(const perfile_session *s, uint32_t number)
{
    const perfile_feature *f =
        number < PERFILE_N_FEATURES ? perfile_session_feature(s, number) : NULL;
    return f && f->origin == PERFILE_ORIGIN_CONTAINER;
}

/* Callback of the checker. */
static void on_finding(void *user, const perfile_finding *f)
{
    pf_verdict *v = user;
    if (f->rule == PERFILE_RULE_V_216 && v->n_slack < PERFILE_RUN_RECORDS)
        v->slack[v->n_slack++] = f->sequence;
    if (f->severity != PERFILE_SEVERITY_ERROR)
        return;
    const perfile_rule *rule = perfile_rule_of(f->rule);
    bool outside_records =
        rule->where == PERFILE_RULE_SCOPE_CONTAINER ||
        (rule->where == PERFILE_RULE_SCOPE_FEATURE && in_section(v->session, f->feature));
    v->wrong |= v->strict || !outside_records;
}

/* True if the stream met no damage, or only a header that declares more data than there are: that
 * says nothing about the records that are there. */
static bool no_damage(const perfile_stream *s)
{
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    return sum.damages == sum.by_damage[PERFILE_DAMAGE_TRUNCATED_DATA];
}

/* True if a record could hide others behind its content: its type is unknown, or it has bytes
 * behind the string that should end it. */
static bool has_room(const pf_verdict *v, const perfile_record *r)
{
    bool room = r->family == PERFILE_FAMILY_PERF && r->header && !pf_row_of(r);
    for (size_t i = 0; i < v->n_slack && !room; i++)
        room = v->slack[i] == r->sequence;
    return room;
}

/* True if a record of the run has swallowed others: it breaks no rule, but its size is damaged.
 * Empties the list of V-216 for the next run. */
static bool some_swallows(const pf_repair_ops *repair, pf_verdict *verdict, const perfile_record *r,
                          size_t n)
{
    bool swallows = false;
    for (size_t i = 0; i < n && !swallows; i++) {
        swallows =
            has_room(verdict, &r[i]) && repair && repair->swallows && repair->swallows(&r[i]);
    }
    verdict->n_slack = 0;
    return swallows;
}

/* True if the header declares no records, but the file has bytes in no section: records may be
 * there, as in a recording that was killed. */
static bool hides_records(const perfile_stream *s)
{
    const perfile_container *k = perfile_stream_container(s);
    bool unclaimed = false;
    for (uint32_t i = 0; i < k->n_extents; i++)
        unclaimed |=
            k->extents[i].role == PERFILE_EXTENT_GAP || k->extents[i].role == PERFILE_EXTENT_TAIL;
    return k->form == PERFILE_FORM_FILE && k->data.size == 0 && unclaimed;
}

/* Returns errors of memory and of reading, after which the question has no answer.  All other
 * errors mean "not sound". */
static perfile_status unanswered(perfile_status st)
{
    return st == PERFILE_E_NOMEM || st == PERFILE_E_IO ? st : PERFILE_OK;
}

/* See lib/recover.h.  A source that cannot seek is never sound: it cannot be read twice. */
perfile_status pf_recover_check_sound(const pf_recover *x, perfile_source *source,
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
        return unanswered(st);
    st = perfile_open(own, &how, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(own);
        /* For a directory without `data` the error is PERFILE_E_IO too, but it is an answer. */
        return pf_source_has_entries(source) && st == PERFILE_E_IO ? PERFILE_OK : unanswered(st);
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
    return unanswered(st);
}

bool pf_recover_is_sound(pf_recover *x)
{
    if (!x->sound_known) {
        /* Not x->failed itself: errors that are an answer ("not sound") are written here as
         * well. */
        perfile_error err;
        x->sound_known = true;
        if (pf_recover_check_sound(x, x->source, x->assume, false, &x->sound, &err) != PERFILE_OK)
            x->failed = err;
    }
    return x->sound;
}

/* Callback of the driver's stream: true if nothing may be left out. */
static bool on_gap(void *user)
{
    return pf_recover_is_sound(user);
}

void pf_recover_ask_before_gaps(pf_recover *x)
{
    perfile_stream *s = x->stream; /* the driver's is at the bottom */
    while (s->below)
        s = s->below;
    if (x->repair && x->repair->ask_before_gaps)
        x->repair->ask_before_gaps(s, on_gap, x);
}
