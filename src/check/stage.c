/* The stage: hands on runs of records, and looks at each. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "check/rules.h"
#include "check/version.h"
#include "perfile/model.h"

static pf_check *check_of(perfile_stream *s)
{
    return (pf_check *)(void *)s;
}

/* What the session says by now, when it says something new. */
static perfile_status look_at_session(pf_check *c, perfile_error *err)
{
    pf_check_ahead_settle(c);
    c->generation = perfile_session_generation(c->session);
    c->n_cpus = perfile_session_n_cpus(c->session);
    c->span_first = 0;
    c->span_last = UINT64_MAX;
    perfile_sample_time v;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_SAMPLE_TIME);
    if (f && perfile_sample_time_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
        v.first_sample_time <= v.last_sample_time && v.last_sample_time) {
        c->span_first = v.first_sample_time;
        c->span_last = v.last_sample_time;
    }
    perfile_status st = pf_check_attrs(c, err);
    pf_check_ahead_refresh(c);
    return st;
}

static perfile_status begin(pf_check *c, perfile_error *err)
{
    c->begun = true;
    pf_check_container(c);
    perfile_status st = look_at_session(c, err);
    return st == PERFILE_OK ? pf_check_index_begin(c, err) : st;
}

static void finish(pf_check *c)
{
    c->done = true;
    pf_check_attrs_end(c);
    pf_check_user_end(c);
    pf_check_times_end(c);
    pf_check_index_end(c);
    pf_check_world_end(c);
    pf_check_features(c);
}

static void begin_part(pf_check *c, uint32_t part)
{
    c->part = part;
    c->max_time = 0; /* each is in order by itself */
    if (c->cpu_time)
        memset(c->cpu_time, 0, PF_CHECK_CPUS * sizeof *c->cpu_time);
}

static perfile_status look_at(pf_check *c, const perfile_record *r, perfile_error *err)
{
    if (r->part != c->part)
        begin_part(c, r->part);
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        pf_check_damage(c, r);
        return PERFILE_OK;
    }
    if (r->family != PERFILE_FAMILY_PERF) {
        pf_check_other(c, r);
        return PERFILE_OK;
    }
    c->by_type[r->type < PF_CHECK_TYPES ? r->type : PF_CHECK_TYPES]++;
    if (r->type == PERFILE_RECORD_SAMPLE) {
        if (c->options.flags & PERFILE_CHECK_FEW_SAMPLES && !c->has_tracepoints)
            return PERFILE_OK;
        if (!c->seen && !(c->seen = pf_alloc(PF_CHECK_PLACES, sizeof *c->seen)))
            return pf_fail_nomem(err, "check");
        pf_check_sample(c, r);
        return PERFILE_OK;
    }
    pf_check_record(c, r);
    return pf_check_learn(c, r, err);
}

/* How many records of a run, from the first on, are samples of which nothing is to be told:
 * somebody else has looked at them, and their raw data break no rule. */
static size_t pass_samples(pf_check *c, const perfile_record *first, size_t n)
{
    bool few = c->options.flags & PERFILE_CHECK_FEW_SAMPLES;
    bool quick = c->has_tracepoints && c->options.severity == PERFILE_SEVERITY_ERROR;
    size_t i = 0;
    if (!few || (c->has_tracepoints && !quick))
        return 0;
    while (i < n && first[i].type == PERFILE_RECORD_SAMPLE &&
           first[i].family == PERFILE_FAMILY_PERF && first[i].part == c->part &&
           (!quick || pf_check_raw_fits(c, &first[i])))
        i++;
    c->by_type[PERFILE_RECORD_SAMPLE] += i;
    return i;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_check *c = check_of(s);
    perfile_status st = c->begun ? PERFILE_OK : begin(c, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_record *first;
    size_t n;
    st = perfile_stream_next_run(s->below, &first, &n, err);
    if (st == PERFILE_END && !c->done)
        finish(c);
    if (st != PERFILE_OK)
        return st;
    if (perfile_session_generation(c->session) != c->generation)
        st = look_at_session(c, err);
    for (size_t i = pass_samples(c, first, n); st == PERFILE_OK && i < n;
         i += 1 + pass_samples(c, first + i + 1, n - i - 1))
        st = look_at(c, &first[i], err);
    s->at = first;
    s->end = first + n;
    return st;
}

static void close_stage(perfile_stream *s)
{
    pf_check *c = check_of(s);
    perfile_model_close(c->model);
    perfile_stream_close(s->below);
    pf_check_ahead_end(c);
    pf_free(c->plans);
    pf_free(c->cpu_time);
    pf_free(c->buffers);
    pf_free(c->cookies);
    pf_free(c->index);
    pf_free(c->seen);
    pf_free(c);
}

static const pf_stream_ops check_ops = {.fill = fill, .close = close_stage, .pass = pf_check_pass};

static perfile_status choose_rules(pf_check *c, perfile_error *err)
{
    bool chosen[PERFILE_RULE_LIMIT];
    perfile_status st = PERFILE_OK;
    if (c->options.only) {
        st = pf_rules_select(c->options.only, chosen, "options.only", err);
        for (size_t i = 0; st == PERFILE_OK && i < PERFILE_RULE_LIMIT; i++)
            c->off[i] = !chosen[i];
    }
    if (st == PERFILE_OK && c->options.ignore) {
        st = pf_rules_select(c->options.ignore, chosen, "options.ignore", err);
        for (size_t i = 0; st == PERFILE_OK && i < PERFILE_RULE_LIMIT; i++)
            c->off[i] |= chosen[i];
    }
    return st;
}

static perfile_status new_check(const perfile_check_options *options, pf_check **check,
                                perfile_error *err)
{
    pf_check *c = pf_alloc(1, sizeof *c);
    if (!c)
        return pf_fail_nomem(err, "check");
    perfile_status st =
        pf_options_take(&c->options, sizeof c->options, options, "check.options", err);
    if (st == PERFILE_OK)
        st = choose_rules(c, err);
    if (st != PERFILE_OK) {
        pf_free(c);
        return st;
    }
    *check = c;
    return PERFILE_OK;
}

/* Whether samples are looked up among the processes and mappings at the end. */
static bool wants_world(const pf_check *c)
{
    bool few = c->options.flags & PERFILE_CHECK_FEW_SAMPLES;
    return pf_check_on(c, PERFILE_RULE_V_407) &&
           !(few && c->options.severity == PERFILE_SEVERITY_ERROR);
}

perfile_status perfile_check(perfile_stream *below, const perfile_check_options *options,
                             perfile_stream **stream, perfile_error *err)
{
    pf_check *c = NULL;
    perfile_status st = new_check(options, &c, err);
    if (st != PERFILE_OK)
        return st;
    c->session = perfile_stream_session(below);
    c->last_type = UINT32_MAX;
    c->most_seen = PF_CHECK_PLACES;
    c->cpu_time = pf_alloc(PF_CHECK_CPUS, sizeof *c->cpu_time);
    c->buffers = pf_alloc(PF_CHECK_BUFFERS, sizeof *c->buffers);
    if (!c->cpu_time || !c->buffers)
        st = pf_fail_nomem(err, "check");
    if (st == PERFILE_OK && wants_world(c))
        st = perfile_model_new(c->session, &c->model, err);
    if (st != PERFILE_OK) {
        close_stage(&c->base);
        return st;
    }
    const perfile_container *container = perfile_stream_container(below);
    c->pipe = container->form == PERFILE_FORM_PIPE;
    pf_stream_on(&c->base, &check_ops, below);
    /* Damage is looked at, whether or not it was asked for; who did not ask does not get it. */
    for (perfile_stream *s = below; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    *stream = &c->base;
    return PERFILE_OK;
}

bool perfile_check_refused(const perfile_error *failure, const perfile_check_options *options)
{
    if (failure->damage != PERFILE_DAMAGE_BAD_MAGIC &&
        failure->damage != PERFILE_DAMAGE_TRUNCATED_HEADER)
        return false;
    pf_check *c = NULL;
    if (new_check(options, &c, NULL) != PERFILE_OK)
        return false;
    pf_find_place(c, PERFILE_RULE_V_001, PF_FULL, failure->offset, failure->where, "%s",
                  failure->message);
    pf_free(c);
    return true;
}

const pf_check *pf_check_stage(const perfile_stream *s)
{
    return s && s->ops == &check_ops ? (const pf_check *)(const void *)s : NULL;
}

void perfile_check_get_summary(const perfile_stream *check, unsigned rule, unsigned severity,
                               perfile_check_summary *tally, size_t size)
{
    perfile_check_summary t = {0};
    const perfile_rule *row = perfile_rule_of(rule);
    const pf_check *c = pf_check_stage(check);
    if (c && row && severity && (severity == row->severity || severity == row->lesser)) {
        const pf_check_tally *mine = &c->tally[rule][severity != row->severity];
        t = (perfile_check_summary){mine->count, mine->first, mine->last, mine->first_part,
                                    mine->last_part};
    }
    memcpy(tally, &t, size < sizeof t ? size : sizeof t);
}
