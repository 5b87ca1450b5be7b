/* The damages of `perfile damage`, with one seed after the other: each of them through the checks
 * and the commands.
 *
 * The rule that a damage names has more findings than before.  A new error elsewhere has to be a
 * consequence, so it is not in a part that is read before the damaged bytes and does not depend on
 * them. */
#include "every.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/command.h"
#include "faults/command.h"
#include "perfile/perfile.h"

enum { MOST_ERRORS = 512 };

/* Where a finding is, in the order in which parts of a capture are read. */
enum { IN_CONTAINER, IN_ATTRS, IN_FEATURES, IN_RECORDS, AT_END };

typedef struct place {
    unsigned part;
    uint64_t at; /* number of the attr or feature, offset of the record */
} place;

/* How often each rule is broken, and the first errors. */
typedef struct findings {
    uint64_t count[PERFILE_RULE_LIMIT];
    bool is_pipe;
    size_t n;
    struct {
        uint32_t rule;
        place at;
    } errors[MOST_ERRORS];
} findings;

static place place_of(const perfile_finding *f)
{
    const perfile_rule *rule = pf_rule_of(f->rule);
    const unsigned where = rule ? rule->where : PERFILE_RULE_SCOPE_CONTAINER;
    if (f->sequence != PERFILE_NO_SEQUENCE || where == PERFILE_RULE_SCOPE_RECORD ||
        where == PERFILE_RULE_SCOPE_SAMPLE)
        return (place){IN_RECORDS, f->offset};
    if (where == PERFILE_RULE_SCOPE_STREAM)
        return (place){AT_END, 0};
    if (f->feature != UINT32_MAX)
        return (place){IN_FEATURES, f->feature};
    if (f->event != UINT32_MAX)
        return (place){IN_ATTRS, f->event};
    return (place){IN_CONTAINER, 0};
}

static void on_finding(void *user, const perfile_finding *f)
{
    findings *all = user;
    all->count[f->rule]++;
    if (f->severity != PERFILE_SEVERITY_ERROR || all->n == MOST_ERRORS)
        return;
    all->errors[all->n].rule = f->rule;
    all->errors[all->n++].at = place_of(f);
}

/* Checks a capture in memory, as `perfile validate` does. */
static void check(perfile_bytes capture, findings *all)
{
    const perfile_check_options how = {.size = sizeof how, .finding = on_finding, .user = all};
    const perfile_open_options open = {.size = sizeof open};
    perfile_source *source;
    perfile_stream *s;
    perfile_error err;
    const perfile_record *r;
    memset(all, 0, sizeof *all);
    if (perfile_source_memory(capture, "capture", &source, &err) != PERFILE_OK)
        abort();
    if (perfile_open(source, &open, &s, &err) != PERFILE_OK) {
        pf_check_refused(&err, &how);
        perfile_source_close(source);
        return;
    }
    all->is_pipe = !perfile_stream_container(s)->has_sections;
    if (perfile_check(s, &how, &s, &err) != PERFILE_OK)
        abort();
    while (perfile_stream_next(s, &r, &err) == PERFILE_OK)
        ;
    perfile_stream_close(s);
}

static bool is_in(const findings *all, uint32_t rule, place at)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->errors[i].rule == rule && all->errors[i].at.part == at.part &&
            all->errors[i].at.at == at.at)
            return true;
    return false;
}

/* Whether a new error at that place can be a consequence of the change.  The header and the attrs
 * are what all else is read by.  In a pipe they are in records; in a file they are read before the
 * records, but a file whose length has changed has its sections elsewhere. */
static bool may_follow(const pf_fault_change *c, uint64_t record, place at, bool is_pipe,
                       bool has_moved)
{
    if (at.part == AT_END)
        return true;
    if (c->type == UINT32_MAX) /* a feature of a file, or its entry in the table: only this one,
                                * but the number of CPUs says how long others are */
        return c->index == UINT64_MAX || strcmp(c->place, "attr") == 0 || has_moved ||
               at.part == IN_CONTAINER ||
               (at.part == IN_FEATURES &&
                (at.at == c->index || c->index == PERFILE_FEATURE_NRCPUS));
    if (at.part == IN_RECORDS)
        return at.at >= record;
    return is_pipe || has_moved;
}

static void put(const every_target *t, perfile_bytes bytes, every_progress *p)
{
    if (ftruncate(t->fd, 0) != 0 || pwrite(t->fd, bytes.ptr, bytes.len, 0) != (ssize_t)bytes.len)
        every_wrong(p, "the test's own file cannot be used");
}

static uint32_t rule_number(const char *id)
{
    const perfile_rule *rule;
    for (size_t i = 0; (rule = perfile_rule_at(i)); i++)
        if (strcmp(rule->id, id) == 0)
            return rule->number;
    return 0;
}

/* Returns the offset of record number `sequence`. */
static uint64_t offset_of(perfile_bytes capture, uint64_t sequence)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t offset = 0;
    if (perfile_source_memory(capture, "capture", &source, NULL) != PERFILE_OK ||
        perfile_open(source, NULL, &s, NULL) != PERFILE_OK)
        abort();
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK && r->sequence <= sequence)
        offset = r->offset;
    perfile_stream_close(s);
    return offset;
}

static void examine(const every_target *t, const findings *before, const pf_fault_change *c,
                    perfile_bytes bytes, every_progress *p)
{
    static findings now;
    check(bytes, &now);
    const uint32_t rule = rule_number(c->rule);
    const uint64_t record = c->type == UINT32_MAX ? 0 : offset_of(t->whole, c->index);
    if (now.count[rule] <= before->count[rule])
        every_wrong(p, "its rule has no more findings than before");
    for (size_t i = 0; i < now.n; i++) {
        if (is_in(before, now.errors[i].rule, now.errors[i].at) ||
            may_follow(c, record, now.errors[i].at, before->is_pipe, bytes.len != t->whole.len))
            continue;
        snprintf(p->why, sizeof p->why, "V-%03" PRIu32 " in part %u, %" PRIu64, now.errors[i].rule,
                 now.errors[i].at.part, now.errors[i].at.at);
        _exit(1);
    }
    if (bytes.len == t->whole.len && memcmp(bytes.ptr, t->whole.ptr, bytes.len) == 0)
        every_wrong(p, "nothing was damaged");
}

static void each_group(const every_target *t, uint64_t seed, const findings *before,
                       every_progress *p)
{
    pf_faults *f;
    if (pf_faults_open(t->whole, seed, &f, NULL) != PERFILE_OK)
        every_wrong(p, "the places cannot be found");
    for (size_t i = 0; i < pf_faults_n(f); i++) {
        char name[PF_FAULTS_NAME];
        pf_fault_change change;
        perfile_bytes bytes;
        snprintf(p->damage, sizeof p->damage, "seed %" PRIu64 ", %s", seed,
                 pf_faults_name(f, i, name));
        if (pf_faults_make(f, i, &change, &bytes, NULL) != PERFILE_OK)
            continue; /* no rule reports it at any place */
        snprintf(p->command, sizeof p->command, "checks");
        examine(t, before, &change, bytes, p);
        put(t, bytes, p);
        pf_faults_free(bytes);
        p->damages++;
        p->read++;
        every_reading(t, p->damages, false, p);
    }
    pf_faults_close(f);
}

void every_fault(const every_target *t, every_progress *p)
{
    static findings before;
    check(t->whole, &before);
    for (uint64_t i = 0; i < t->step; i++)
        each_group(t, t->seed + i, &before, p);
}
