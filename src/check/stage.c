/* The checking stage: a stream that passes on the batches of the stream below and checks each
 * record.
 *
 * Rules are checked at three times: rules about the container and the first events before the first
 * batch, rules about records as they pass, and rules about the whole capture (lists, order of
 * rounds, features, names of processes) when the stream below ends.  Events that appear later
 * (HEADER_ATTR in a pipe) are checked when the generation of the session has changed.  With
 * PERFILE_CHECK_FEW_SAMPLES, which recovery uses because salvage has already judged the samples,
 * most samples are skipped. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "check/check.h"
#include "perfile/model.h"
#include "check/command.h"
#include "core/command.h"

static pf_check *check_of(perfile_stream *s)
{
    return (pf_check *)(void *)s;
}

/* Copies facts that the check needs from the session, and checks its new events.  Called when the
 * generation of the session has changed. */
static perfile_status refresh_from_session(pf_check *c, perfile_error *err)
{
    c->events.generation = pf_session_generation(c->session);
    c->n_cpus = pf_session_n_cpus(c->session);
    c->times.span_first = 0;
    c->times.span_last = UINT64_MAX;
    perfile_sample_time v;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_SAMPLE_TIME);
    if (f && perfile_sample_time_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
        v.first_sample_time <= v.last_sample_time && v.last_sample_time) {
        c->times.span_first = v.first_sample_time;
        c->times.span_last = v.last_sample_time;
    }
    return pf_check_attrs(c, err);
}

/* Checks everything that is known before the first record. */
static perfile_status begin(pf_check *c, perfile_error *err)
{
    c->begun = true;
    pf_check_container(c);
    perfile_status st = refresh_from_session(c, err);
    return st == PERFILE_OK ? pf_check_index_begin(c, err) : st;
}

/* Checks rules that can be decided only when all records have passed.  Features come last: they are
 * compared with the records. */
static void finish(pf_check *c)
{
    c->done = true;
    pf_check_attrs_end(c);
    pf_check_user_end(c);
    pf_check_times_end(c);
    pf_check_index_end(c);
    pf_check_lookups_end(c);
    pf_check_features(c);
}

static void begin_part(pf_check *c, uint32_t part)
{
    c->part.number = part;
    c->part.begun = false;
    c->part.time = 0;
    c->times.latest = 0; /* the parts of a directory are ordered separately */
    if (c->times.of_cpu)
        memset(c->times.of_cpu, 0, PF_CHECK_CPUS * sizeof *c->times.of_cpu);
}

/* Checks one record.  Side-band records also go to the process model. */
static perfile_status check_one(pf_check *c, const perfile_record *r, perfile_error *err)
{
    if (r->part != c->part.number)
        begin_part(c, r->part);
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        pf_check_damage(c, r);
        return PERFILE_OK;
    }
    if (r->family != PERFILE_FAMILY_PERF) {
        pf_check_other_family(c, r);
        return PERFILE_OK;
    }
    c->counts.by_type[r->type < PF_CHECK_TYPES ? r->type : PF_CHECK_TYPES]++;
    if (r->type == PERFILE_RECORD_SAMPLE) {
        if (c->options.flags & PERFILE_CHECK_FEW_SAMPLES && !c->events.has_tracepoints)
            return PERFILE_OK;
        if (!c->lookups.at && !(c->lookups.at = pf_alloc(PF_CHECK_LOOKUPS, sizeof *c->lookups.at)))
            return pf_fail_nomem(err, "check");
        pf_check_sample(c, r);
        return PERFILE_OK;
    }
    pf_check_record(c, r);
    return pf_check_feed_model(c, r, err);
}

/* Returns how many records at the start of a batch are samples that need no check, and counts them.
 * It is 0 without PERFILE_CHECK_FEW_SAMPLES, which says that the caller has already judged the
 * samples.  If there are tracepoints, a sample is skipped only if its RAW data fits its event, and
 * only if the caller wants nothing but errors. */
static size_t skip_samples(pf_check *c, const perfile_record *first, size_t n)
{
    bool few = c->options.flags & PERFILE_CHECK_FEW_SAMPLES;
    bool quick = c->events.has_tracepoints && c->options.severity == PERFILE_SEVERITY_ERROR;
    size_t i = 0;
    if (!few || (c->events.has_tracepoints && !quick))
        return 0;
    while (i < n && first[i].type == PERFILE_RECORD_SAMPLE &&
           first[i].family == PERFILE_FAMILY_PERF && first[i].part == c->part.number &&
           (!quick || pf_check_raw_fits(c, &first[i])))
        i++;
    c->counts.by_type[PERFILE_RECORD_SAMPLE] += i;
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
    if (pf_session_generation(c->session) != c->events.generation)
        st = refresh_from_session(c, err);
    for (size_t i = skip_samples(c, first, n); st == PERFILE_OK && i < n;
         i += 1 + skip_samples(c, first + i + 1, n - i - 1))
        st = check_one(c, &first[i], err);
    s->at = first;
    s->end = first + n;
    return st;
}

/* Also closes a partly constructed stage: all members may be NULL. */
static void close_stage(perfile_stream *s)
{
    pf_check *c = check_of(s);
    perfile_model_close(c->lookups.model);
    perfile_stream_close(s->below);
    pf_free(c->events.plans);
    pf_free(c->times.of_cpu);
    pf_free(c->aux.buffers);
    pf_free(c->chains.at);
    pf_free(c->aux.index);
    pf_free(c->lookups.at);
    pf_free(c);
}

static const pf_stream_ops check_ops = {.fill = fill, .close = close_stage};

/* Sets c->found.off[] from options.only and options.ignore; `ignore` wins. */
static perfile_status choose_rules(pf_check *c, perfile_error *err)
{
    bool chosen[PERFILE_RULE_LIMIT];
    perfile_status st = PERFILE_OK;
    if (c->options.only) {
        st = pf_rules_select(c->options.only, chosen, "options.only", err);
        for (size_t i = 0; st == PERFILE_OK && i < PERFILE_RULE_LIMIT; i++)
            c->found.off[i] = !chosen[i];
    }
    if (st == PERFILE_OK && c->options.ignore) {
        st = pf_rules_select(c->options.ignore, chosen, "options.ignore", err);
        for (size_t i = 0; st == PERFILE_OK && i < PERFILE_RULE_LIMIT; i++)
            c->found.off[i] |= chosen[i];
    }
    return st;
}

/* Makes a check that is not on a stream yet.  The caller owns *check. */
static perfile_status new_check(const perfile_check_options *options, pf_check **check,
                                perfile_error *err)
{
    pf_check *c = pf_alloc(1, sizeof *c);
    if (!c)
        return pf_fail_nomem(err, "check");
    perfile_status st = pf_options_copy(&c->options, options, "check.options", err);
    if (st == PERFILE_OK)
        st = choose_rules(c, err);
    if (st != PERFILE_OK) {
        pf_free(c);
        return st;
    }
    *check = c;
    return PERFILE_OK;
}

/* Returns true if V-407 (processes have names, addresses have mappings) can produce a finding that
 * the caller wants.  It is a warning, so it is off if the caller wants only errors of few samples.
 */
static bool wants_model(const pf_check *c)
{
    bool few = c->options.flags & PERFILE_CHECK_FEW_SAMPLES;
    return pf_check_on(c, PERFILE_RULE_V_407) &&
           !(few && c->options.severity == PERFILE_SEVERITY_ERROR);
}

perfile_status perfile_check(perfile_stream *below, const perfile_check_options *options,
                             perfile_stream **stream, perfile_error *err)
{
    pf_check *c = NULL;
    perfile_status st = pf_stream_unread(below, "check", err);
    if (st == PERFILE_OK)
        st = new_check(options, &c, err);
    if (st != PERFILE_OK)
        return st;
    c->session = perfile_stream_session(below);
    c->counts.last_type = UINT32_MAX;
    c->lookups.cap = PF_CHECK_LOOKUPS;
    c->times.of_cpu = pf_alloc(PF_CHECK_CPUS, sizeof *c->times.of_cpu);
    c->aux.buffers = pf_alloc(PF_CHECK_BUFFERS, sizeof *c->aux.buffers);
    if (!c->times.of_cpu || !c->aux.buffers)
        st = pf_fail_nomem(err, "check");
    if (st == PERFILE_OK && wants_model(c))
        st = perfile_model_open(c->session, &c->lookups.model, err);
    if (st != PERFILE_OK) {
        close_stage(&c->base);
        return st;
    }
    const perfile_container *container = perfile_stream_container(below);
    c->pipe = container->form == PERFILE_FORM_PIPE;
    pf_stream_on(&c->base, &check_ops, below);
    /* The stage needs the DAMAGE records of all streams below it.  c->base.options is not changed,
     * so that the caller gets them only if it asked for them. */
    for (perfile_stream *s = below; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    *stream = &c->base;
    return PERFILE_OK;
}

/* A file that could not be opened has no stream to check.  This reports the failure as a finding of
 * V-001 if it is one: a wrong magic, or a header that is too short. */
bool pf_check_refused(const perfile_error *failure, const perfile_check_options *options)
{
    if (failure->damage != PERFILE_DAMAGE_BAD_MAGIC &&
        failure->damage != PERFILE_DAMAGE_TRUNCATED_HEADER)
        return false;
    pf_check *c = NULL;
    if (new_check(options, &c, NULL) != PERFILE_OK)
        return false;
    pf_report_offset(c, PERFILE_RULE_V_001, PF_FULL, failure->offset, failure->where, "%s",
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
    const perfile_rule *row = pf_rule_of(rule);
    const pf_check *c = pf_check_stage(check);
    if (c && row && severity && (severity == row->severity || severity == row->lesser)) {
        const pf_check_tally *counted = &c->found.tally[rule][severity != row->severity];
        t = (perfile_check_summary){counted->count, counted->first, counted->last,
                                    counted->first_part, counted->last_part};
    }
    memcpy(tally, &t, size < sizeof t ? size : sizeof t);
}
