/* Judges what a version of perf does with a capture (perfile_check_version()).
 *
 * A verdict is the worst of several reasons: things that the version does not know (attr size,
 * fields, record types, features: core/names.h), rules that the capture breaks (rows MINDS of
 * format/versions.def, by the counts in pf_check.found.n), and traits (traits.c).  Each reason is
 * passed to the caller as a sentence.  Must be called after the end of the stream; nothing is read
 * again. */
#include "check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/command.h"
#include "schema/command.h"
#include "core/command.h"

enum { LEVEL_FULL = PF_FULL, LEVEL_LESSER = PF_LESSER };

/* The verdicts of versions on captures that break a rule. */
static const struct {
    uint16_t rule;
    uint8_t level, from, to, form, verdict;
} rule_verdicts[] = {
#define MINDS(rule, level, from, to, form, verdict)                                                \
    {PERFILE_RULE_##rule, LEVEL_##level,  PF_PERF_##from,                                          \
     PF_PERF_##to,        PF_FORM_##form, PERFILE_VERDICT_##verdict},
#include "format/versions.def"
};

/* State of perfile_check_version(). */
typedef struct answer {
    const pf_check *c;
    const pf_release *perf;
    size_t position;  /* index of `perf` in pf_releases[] */
    unsigned verdict; /* the worst so far */
    void (*reason)(void *user, unsigned verdict, const char *sentence);
    void *user;
} answer;

/* Adds a reason: worsens the verdict, and calls the callback with a sentence that begins with the
 * version's behavior. */
static __attribute__((format(printf, 3, 4))) void add_reason(answer *a, unsigned verdict,
                                                             const char *format, ...)
{
    static const char *const phrases[] = {
        "", "loses something: ", "does not read to the end: ", "refuses to open it: "};
    char sentence[400];
    int n = snprintf(sentence, sizeof sentence, "%s", phrases[verdict]);
    va_list args;
    va_start(args, format);
    vsnprintf(sentence + n, sizeof sentence - (size_t)n, format, args);
    va_end(args);
    if (verdict > a->verdict)
        a->verdict = verdict;
    if (a->reason)
        a->reason(a->user, verdict, sentence);
}

/* A file is refused if an attr is longer than the version's own, or if ids are outside the file. */
static void judge_attrs(answer *a)
{
    uint32_t largest = 0, index = 0;
    for (uint32_t i = 0; i < pf_session_n_events(a->c->session); i++) {
        const perfile_event *e = perfile_session_event(a->c->session, i);
        if (e->ids_damage)
            add_reason(a, PERFILE_VERDICT_REFUSES,
                       "the ids of event %" PRIu32 " are outside the file", i);
        /* perf cuts attrs of HEADER_ATTR to the size it knows. */
        if (e->origin == PERFILE_ORIGIN_CONTAINER && e->attr->size > largest) {
            largest = e->attr->size;
            index = i;
        }
    }
    if (largest > a->perf->attr_size)
        add_reason(a, PERFILE_VERDICT_REFUSES,
                   "event %" PRIu32 " has an attr of %" PRIu32 " bytes, it knows %" PRIu32, index,
                   largest, a->perf->attr_size);
}

/* Lists the names of bits, "CGROUP, AUX", for a message.  `word` is the vocabulary that names them;
 * bits without a name are listed by number.  Stops at 160 characters. */
static const char *names_of(const char *word, uint64_t bits, char buf[200])
{
    const perfile_vocabulary *v = pf_vocabulary_find(word);
    size_t n = 0;
    buf[0] = 0;
    for (unsigned bit = 0; bit < 64 && n < 160; bit++) {
        if (!(bits >> bit & 1))
            continue;
        const char *name = NULL;
        for (uint32_t i = 0; v && i < v->n && !name; i++)
            name = v->bits[i].shift == bit ? v->bits[i].name : NULL;
        if (name)
            n += (size_t)snprintf(buf + n, 200 - n, "%s%s", n ? ", " : "", name);
        else
            n += (size_t)snprintf(buf + n, 200 - n, "%sbit %u", n ? ", " : "", bit);
    }
    return buf;
}

/* Judges fields of samples that the version does not know: it reads the following fields at the
 * wrong offset. */
static void judge_layouts(answer *a)
{
    char buf[200];
    for (uint32_t i = 0; i < pf_session_n_events(a->c->session); i++) {
        const perfile_attr *attr = perfile_session_event(a->c->session, i)->attr;
        const uint64_t type = attr->sample_type;
        const uint64_t fields = type & ~pf_low_bits(a->perf->sample_bits);
        const uint64_t values = attr->read_format & ~pf_low_bits(a->perf->read_bits);
        const uint64_t branches = attr->branch_sample_type & ~pf_low_bits(a->perf->branch_bits) &
                                  (PERFILE_BRANCH_HW_INDEX | PERFILE_BRANCH_COUNTERS);
        if (fields)
            add_reason(a, PERFILE_VERDICT_LOSES,
                       "it does not know all fields in samples of event %" PRIu32 ": %s", i,
                       names_of("sample_type", fields, buf));
        if (values && type & PERFILE_SAMPLE_READ)
            add_reason(a, PERFILE_VERDICT_LOSES,
                       "it does not know all counter values in samples of event %" PRIu32 ": %s", i,
                       names_of("read_format", values, buf));
        if (branches && type & PERFILE_SAMPLE_BRANCH_STACK)
            add_reason(a, PERFILE_VERDICT_LOSES,
                       "it does not know all of the branch stacks in samples of event %" PRIu32
                       ": %s",
                       i, names_of("branch_sample_type", branches, buf));
    }
    if (a->c->counts.map_build_ids && !pf_release_knows_map_build_ids(a->perf))
        add_reason(a, PERFILE_VERDICT_LOSES,
                   "it reads the build ids of mappings as inodes, there are %" PRIu64,
                   a->c->counts.map_build_ids);
}

/* A file with a tracepoint that TRACING_DATA does not describe is refused.  In a pipe, perf reads
 * the description later. */
static void judge_tracepoints(answer *a)
{
    const perfile_session *s = a->c->session;
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_TRACING_DATA);
    bool described = f && f->origin == PERFILE_ORIGIN_CONTAINER && !f->damage;
    for (uint32_t i = 0; !a->c->pipe && i < pf_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (e->attr->type != PERFILE_TYPE_TRACEPOINT ||
            (described && pf_session_has_tracepoint(s, e->attr->config)))
            continue;
        add_reason(a, PERFILE_VERDICT_REFUSES,
                   "feature TRACING_DATA does not describe event %" PRIu32, i);
        return;
    }
}

/* Judges record types that the version does not know: it stops at kernel types, and also at types
 * of tools unless it skips them. */
static void judge_types(answer *a)
{
    char buf[24];
    const pf_check *c = a->c;
    for (uint32_t type = 1; type < PF_CHECK_TYPES; type++) {
        if (!c->counts.by_type[type] || pf_release_knows_type(a->perf, type))
            continue;
        bool passes = type >= PERFILE_RECORD_USER && a->perf->skips_tools;
        add_reason(a, passes ? PERFILE_VERDICT_LOSES : PERFILE_VERDICT_STOPS,
                   "it does not know records of type %s, there are %" PRIu64,
                   pf_check_type_name(type, buf), c->counts.by_type[type]);
    }
    if (c->counts.by_type[PF_CHECK_TYPES])
        add_reason(a, a->perf->skips_tools ? PERFILE_VERDICT_LOSES : PERFILE_VERDICT_STOPS,
                   "it does not know records of other tools, there are %" PRIu64,
                   c->counts.by_type[PF_CHECK_TYPES]);
}

/* Judges features that the version does not know: it skips them, which does no harm but is worth a
 * sentence. */
static void judge_features(answer *a)
{
    const perfile_session *s = a->c->session;
    for (uint32_t i = 0; i < pf_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        const char *name = pf_feature_name(f->number);
        /* An empty feature in a stream ends the list. */
        bool is_end = f->origin == PERFILE_ORIGIN_STREAM && f->payload.len == 0;
        if (f->number > a->perf->feature && !is_end)
            add_reason(a, PERFILE_VERDICT_READS, "skips feature %s (%" PRIu32 ")",
                       name ? name : "without name", f->number);
    }
}

/* Returns true if a row of the table applies to this version and the form of this capture. */
static bool applies(const answer *a, unsigned from, unsigned to, unsigned form)
{
    return a->position >= from && a->position <= to &&
           (form == PF_FORM_ANY || (form == PF_FORM_PIPE) == a->c->pipe);
}

/* Judges rules that the capture breaks. */
static void judge_rules(answer *a)
{
    for (size_t i = 0; i < sizeof rule_verdicts / sizeof rule_verdicts[0]; i++) {
        const perfile_rule *row = pf_rule_of(rule_verdicts[i].rule);
        uint64_t n = a->c->found.n[rule_verdicts[i].rule][rule_verdicts[i].level];
        if (n && applies(a, rule_verdicts[i].from, rule_verdicts[i].to, rule_verdicts[i].form))
            add_reason(a, rule_verdicts[i].verdict,
                       "%s is broken (%" PRIu64 " finding%s); it says that %s", row->id, n,
                       n == 1 ? "" : "s", row->sentence);
    }
}

static void judge_traits(answer *a)
{
    const pf_trait_row *t;
    for (size_t i = 0; (t = pf_trait_at(i)); i++)
        if (applies(a, t->from, t->to, t->form) && t->holds(a->c, a->perf))
            add_reason(a, t->verdict, "%s (%s)", t->sentence, pf_rule_of(t->rule)->id);
}

/* Returns a table row as the public struct. */
static perfile_rule_verdict verdict_of_row(unsigned from, unsigned to, unsigned form,
                                           unsigned verdict)
{
    return (perfile_rule_verdict){.from = pf_releases[from].name,
                                  .to = pf_releases[to].name,
                                  .form = (uint8_t)form,
                                  .verdict = (uint8_t)verdict};
}

/* See perfile/check.h: enumerates first the MINDS rows of the rule, then its traits. */
bool pf_rule_verdict_at(uint32_t rule, size_t position, perfile_rule_verdict *verdict, size_t size)
{
    perfile_rule_verdict v = {0};
    const pf_trait_row *t;
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; !found && i < sizeof rule_verdicts / sizeof rule_verdicts[0]; i++)
        if (rule_verdicts[i].rule == rule && n++ == position) {
            v = verdict_of_row(rule_verdicts[i].from, rule_verdicts[i].to, rule_verdicts[i].form,
                               rule_verdicts[i].verdict);
            v.lesser = rule_verdicts[i].level == PF_LESSER;
            found = true;
        }
    for (size_t i = 0; !found && (t = pf_trait_at(i)); i++)
        if (t->rule == rule && n++ == position) {
            v = verdict_of_row(t->from, t->to, t->form, t->verdict);
            v.when = t->sentence;
            found = true;
        }
    if (found)
        memcpy(verdict, &v, size < sizeof v ? size : sizeof v);
    return found;
}

const char *pf_check_version_at(size_t position)
{
    return position < PF_N_RELEASES ? pf_releases[position].name : NULL;
}

perfile_status
perfile_check_version(const perfile_stream *check, const char *version, unsigned *verdict,
                      void (*reason)(void *user, unsigned verdict, const char *sentence),
                      void *user, perfile_error *err)
{
    const pf_check *c = pf_check_stage(check);
    if (!c)
        return pf_fail(err, PERFILE_E_USAGE, "check", "the stream is not one of perfile_check()");
    const pf_release *release;
    perfile_status st = pf_release_find(version, &release, err);
    if (st != PERFILE_OK)
        return st;
    answer a = {.c = c,
                .perf = release,
                .position = (size_t)(release - pf_releases),
                .reason = reason,
                .user = user};
    judge_attrs(&a);
    judge_layouts(&a);
    judge_tracepoints(&a);
    judge_types(&a);
    judge_features(&a);
    judge_rules(&a);
    judge_traits(&a);
    *verdict = a.verdict;
    return PERFILE_OK;
}
