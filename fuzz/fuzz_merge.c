/* Any two captures merged, or one with itself.  The result opens and can be read to its end, has
 * the reported number of samples, no id belongs to two events, time never decreases, and no rule is
 * broken that the inputs obeyed. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/sorted.h"

enum { MOST_IDS = 4096 };

/* Properties of a capture. */
typedef struct look {
    bool opens, no_events;
    bool late_events; /* some came after kernel records */
    bool cut_attrs;   /* some end inside of a field */
    perfile_status end;
    bool broken[PERFILE_RULE_LIMIT];
    uint64_t samples, records;
    sorted_state times;
} look;

static void on_finding(void *user, const perfile_finding *finding)
{
    look *l = user;
    l->broken[finding->rule] |= finding->severity == PERFILE_SEVERITY_ERROR;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void look_at_ids(const perfile_session *s)
{
    static uint64_t ids[MOST_IDS];
    size_t n = 0;
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        for (size_t k = 0; k < e->ids.n && n < MOST_IDS; k++)
            ids[n++] = perfile_word(&e->ids, k);
    }
    qsort(ids, n, sizeof ids[0], by_value);
    for (size_t i = 1; i < n; i++)
        ENSURE(ids[i] != ids[i - 1]);
}

/* Returns true if an attr ends inside of a field.  A writer completes it with zeros, so it then has
 * a value that was never checked. */
static bool has_cut_attrs(const perfile_session *s)
{
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++)
        if (perfile_session_event(s, i)->stored.len % 8)
            return true;
    return false;
}

static void read_all(perfile_bytes bytes, uint32_t on_damage, bool result, look *l)
{
    perfile_open_options how = {
        .size = sizeof how, .limits = &small_limits, .on_damage = on_damage};
    perfile_check_options check = {.size = sizeof check, .finding = on_finding, .user = l};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint32_t n_events = 0;
    bool kernel = false;
    *l = (look){.times = {.no_wholes = true}};
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return;
    }
    l->opens = true;
    ENSURE(perfile_check(s, &check, &s, NULL) == PERFILE_OK);
    while ((l->end = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        bool pieces = r->flags & PERFILE_REC_INNER;
        if (!kernel)
            n_events = perfile_session_n_events(perfile_stream_session(s));
        kernel |= r->family == PERFILE_FAMILY_PERF && r->type < PERFILE_RECORD_USER;
        if (r->family != PERFILE_FAMILY_PERF || r->flags & PERFILE_REC_ENVELOPE)
            continue;
        l->records++;
        l->samples += r->type == PERFILE_RECORD_SAMPLE && !(result && pieces);
        sorted_look(&l->times, r);
    }
    l->no_events = perfile_session_n_events(perfile_stream_session(s)) == 0;
    l->cut_attrs = has_cut_attrs(perfile_stream_session(s));
    l->late_events = kernel && n_events != perfile_session_n_events(perfile_stream_session(s));
    if (result)
        look_at_ids(perfile_stream_session(s));
    perfile_stream_close(s);
}

static uint8_t *copy(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    return block;
}

/* Returns true if attrs are wrong, missing or late.  Then the event of a record is uncertain:
 * together with other events the record is read differently, has another time, and breaks another
 * rule.  So do features. */
static bool has_wrong_attrs(const look *l)
{
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++)
        if (l->broken[i] && perfile_rule_of(i)->where == PERFILE_RULE_SCOPE_ATTR)
            return true;
    return l->no_events || l->late_events || l->cut_attrs;
}

/* `on_damage` is the policy with which the inputs were read.  Salvage treats records as damage that
 * stop and resync yield unchanged, so other policies see other broken rules. */
static void compare(const perfile_bytes *in, perfile_bytes out, uint32_t on_damage,
                    const perfile_merge_summary *sum)
{
    static look one, other, made;
    read_all(in[0], on_damage, false, &one);
    read_all(in[1], on_damage, false, &other);
    read_all(out, PERFILE_ON_DAMAGE_STOP, true, &made);
    ENSURE(made.opens && made.end == PERFILE_END);
    ENSURE(made.samples <= sum->samples);
    if (has_wrong_attrs(&one) || has_wrong_attrs(&other))
        return;
    ENSURE(made.times.steps_back == 0);
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++)
        if (made.broken[i] && !one.broken[i] && !other.broken[i]) {
            fprintf(stderr, "rule %s\n", perfile_rule_of(i)->id);
            ENSURE(false);
        }
}

static void on_note(void *user, const perfile_merge_note *note)
{
    (void)user;
    ENSURE(note->kind < PERFILE_N_MERGE_NOTES && note->message && note->message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t chosen = choose(&c, 2);
    size_t first = (size_t)choose(&c, 3);
    /* If it is after the end, merge one capture with itself. */
    bool twice = first >= c.left;
    uint8_t *one = copy(data, twice ? c.left : first);
    uint8_t *other = twice ? NULL : copy(data + first, c.left - first);
    perfile_bytes in[2] = {{one, twice ? c.left : first}, {other, twice ? 0 : c.left - first}};
    if (twice)
        in[1] = in[0];
    perfile_merge_options how = {
        .size = sizeof how, .flags = (uint32_t)(chosen & 63), .note = on_note};
    perfile_merge_captures_options writing = {.size = sizeof writing,
                                              .merge = &how,
                                              .form = (uint32_t)(chosen >> 6 & 3) % 3,
                                              .on_damage = PERFILE_ON_DAMAGE_STOP +
                                                           (uint32_t)(chosen >> 8 & 3) % 3,
                                              .max_memory = 2 * PERFILE_SORT_LEAST_MEMORY,
                                              .limits = &small_limits};
    perfile_merge_source sources[2] = {{.name = "one"}, {.name = "other"}};
    perfile_merge_summary sum;
    perfile_error err;
    perfile_sink *sink;
    if (chosen >> 10 & 1)
        sources[1].has_offset = true;
    sources[1].offset = (int64_t)(chosen >> 11 & 7) * 1000;
    perfile_source *given[2];
    for (size_t i = 0; i < 2; i++) {
        ENSURE(perfile_source_memory(in[i], "input", &given[i], NULL) == PERFILE_OK);
        sources[i].source = given[i];
    }
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    perfile_status st = perfile_merge_captures(sources, 2, sink, &writing, &sum, sizeof sum, &err);
    for (size_t i = 0; i < 2; i++) {
        ENSURE(sources[i].source == (st == PERFILE_OK ? NULL : given[i]));
        perfile_source_close(sources[i].source);
    }
    uint32_t read_with = how.flags & PERFILE_MERGE_FAIL_ON_DAMAGE ? (uint32_t)PERFILE_ON_DAMAGE_STOP
                                                                  : writing.on_damage;
    if (st == PERFILE_OK)
        compare(in, perfile_sink_bytes(sink), read_with, &sum);
    else
        ENSURE(err.message[0] && err.status == st);
    perfile_sink_close(sink);
    free(one);
    free(other);
    return 0;
}
