/* Any bytes as a capture with a checker.  The stage yields the records of the stream below
 * unchanged.  It reports an error for exactly those records and features that the decoder cannot
 * decode.  There is no damage without a finding. */
#include <string.h>

#include "ensure.h"
#include "perfile/perfile.h"
#include "check/command.h"

enum { MOST_PENDING = 1 << 12 };

/* Records that were reported as undecodable and have not been yielded yet. */
typedef struct told {
    uint64_t sequence[MOST_PENDING];
    size_t n;
    uint32_t features[PERFILE_N_FEATURES];
    uint64_t findings, counted;
    uint64_t of_damage; /* findings without record and feature, or about damage */
} told;

static void on_finding(void *user, const perfile_finding *f)
{
    told *t = user;
    const perfile_rule *row = perfile_rule_of(f->rule);
    ENSURE(row && f->message && f->message[0]);
    ENSURE(f->severity && (f->severity == row->severity || f->severity == row->lesser));
    t->findings++;
    if (f->type == UINT32_MAX)
        t->of_damage++;
    if (!(f->flags & PERFILE_FINDING_UNDECODABLE))
        return;
    /* An empty feature is reported as missing. */
    ENSURE(f->severity == PERFILE_SEVERITY_ERROR || f->feature != UINT32_MAX);
    if (f->feature != UINT32_MAX) {
        ENSURE(f->feature < PERFILE_N_FEATURES);
        t->features[f->feature]++;
    } else {
        ENSURE(t->n < MOST_PENDING && f->sequence != PERFILE_NO_SEQUENCE);
        t->sequence[t->n++] = f->sequence;
    }
}

/* Returns whether the record was reported; a record must be reported at most once. */
static bool take(told *t, uint64_t sequence)
{
    bool found = false;
    for (size_t i = 0; i < t->n;) {
        if (t->sequence[i] != sequence) {
            i++;
            continue;
        }
        ENSURE(!found);
        found = true;
        t->sequence[i] = t->sequence[--t->n];
    }
    return found;
}

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor nobody = {sizeof nobody, ignore_value, ignore_value, ignore_end};

static void check_features(const perfile_session *s, const told *t)
{
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        bool fails = perfile_feature_walk(f, PERFILE_WALK_ALL, &nobody, NULL, NULL) < 0;
        /* Features overwritten by other parts are reported with those parts, truncated ones with
         * their record. */
        if (f->damage &&
            (f->origin == PERFILE_ORIGIN_STREAM || f->damage == PERFILE_DAMAGE_OVERLAP))
            ENSURE(fails && t->features[f->number] == 0);
        else
            ENSURE(t->features[f->number] == fails);
    }
}

static uint64_t tallies(const perfile_stream *s)
{
    uint64_t n = 0;
    for (unsigned rule = 0; rule < PERFILE_RULE_LIMIT; rule++)
        for (unsigned severity = 1; severity <= PERFILE_SEVERITY_ERROR; severity++) {
            perfile_check_summary t;
            perfile_check_get_summary(s, rule, severity, &t, sizeof t);
            n += t.count;
        }
    return n;
}

/* `plain` and `checked` read the same bytes. */
static void compare(perfile_stream *plain, perfile_stream *checked, told *t)
{
    const perfile_record *a, *b;
    perfile_status st;
    uint64_t damages = 0;
    while ((st = perfile_stream_next(plain, &a, NULL)) == PERFILE_OK) {
        ENSURE(perfile_stream_next(checked, &b, NULL) == PERFILE_OK);
        ENSURE(a->family == b->family && a->type == b->type && a->offset == b->offset &&
               a->sequence == b->sequence && a->body.len == b->body.len);
        damages += a->family == PERFILE_FAMILY_DAMAGE;
        bool fails = a->family == PERFILE_FAMILY_PERF &&
                     perfile_record_walk(a, PERFILE_WALK_ALL, &nobody, NULL, NULL) < 0;
        ENSURE(a->family == PERFILE_FAMILY_DAMAGE || take(t, a->sequence) == fails);
        ENSURE(t->of_damage >= damages);
    }
    ENSURE(perfile_stream_next(checked, &b, NULL) == st);
    ENSURE(t->n == 0);
    ENSURE(tallies(checked) == t->findings);
    if (st != PERFILE_END)
        return;
    check_features(perfile_stream_session(checked), t);
    for (size_t i = 0; pf_check_version_at(i); i++) {
        unsigned verdict;
        ENSURE(perfile_check_version(checked, pf_check_version_at(i), &verdict, NULL, NULL, NULL) ==
               PERFILE_OK);
        ENSURE(verdict <= PERFILE_VERDICT_REFUSES);
    }
}

static perfile_status open_bytes(perfile_bytes bytes, const perfile_open_options *o,
                                 perfile_stream **s, perfile_error *err)
{
    perfile_source *source;
    ENSURE(perfile_source_memory(bytes, "input", &source, NULL) == PERFILE_OK);
    perfile_status st = perfile_open(source, o, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static told t;
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    perfile_limits limits = {.size = sizeof limits,
                             .inflate_bytes = 1 << 20,
                             .zstd_window = 21,
                             .split_bytes = 1 << 20,
                             .session_bytes = 16 << 20};
    perfile_open_options options = {
        .size = sizeof options,
        .limits = &limits,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .on_damage = flags & 1 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP,
    };
    perfile_check_options check = {.size = sizeof check, .finding = on_finding, .user = &t};
    memset(&t, 0, sizeof t);
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes all = {block, c.left};
    perfile_stream *plain, *checked;
    perfile_error err;
    perfile_status st = open_bytes(all, &options, &plain, &err);
    if (st == PERFILE_OK) {
        ENSURE(open_bytes(all, &options, &checked, NULL) == PERFILE_OK);
        ENSURE(perfile_check(checked, &check, &checked, NULL) == PERFILE_OK);
        compare(plain, checked, &t);
        perfile_stream_close(checked);
        perfile_stream_close(plain);
    } else if (st == PERFILE_E_CORRUPT || st == PERFILE_E_TRUNCATED) {
        ENSURE(pf_check_refused(&err, &check) && t.findings == 1);
    }
    free(block);
    return 0;
}
