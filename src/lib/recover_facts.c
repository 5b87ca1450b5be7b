/* Facts of a recovered capture: its events, and the features that are intact and still true.
 *
 * A feature in a section of a file can be left out at the end, when everything is known about it.
 * A feature or event in a record must be judged when the record arrives (pf_recover_fact_damage()),
 * because it stays a record.  Features that depend on the records (SAMPLE_TIME) are made from the
 * recovered records. */
#include "base/byte_order.h"
#include "base/error.h"
#include "check/check.h"
#include "core/facts.h"
#include "lib/recover.h"
#include "perfile/field.h"
#include "schema/types.h"
#include "schema/rows.h"
#include "core/command.h"
#include "base/command.h"
#include "schema/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pf_recover_note(pf_recover *x, uint32_t feature, uint32_t damage, const char *format, ...)
{
    char text[256];
    va_list args;
    if (!x->options.note)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    perfile_recover_note note = {feature, damage, text};
    x->options.note(x->options.user, &note);
}

/* Passes events and event types of a file to the writer.  Those of a pipe are in records. */
perfile_status pf_recover_events(pf_recover *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->result.form != PERFILE_FORM_FILE)
        return st;
    uint32_t n = pf_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER)
            st = perfile_writer_event(x->writer, e->stored, &e->ids, err);
    }
    n = pf_session_n_event_types(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const pf_event_type *t = pf_session_event_type(x->session, i);
        st = pf_writer_event_type(x->writer, t->event_id, t->name, err);
    }
    return st;
}

/* Returns the number of events that EVENT_DESC describes; 0 for another feature, or if it cannot be
 * read. */
static uint32_t n_described(const perfile_feature *f)
{
    perfile_event_desc v;
    if (!f || f->number != PERFILE_FEATURE_EVENT_DESC ||
        perfile_event_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return 0;
    return v.nr_events;
}

bool pf_recover_lacks_events(const pf_recover *x)
{
    return pf_session_n_events(x->session) == 0 &&
           n_described(perfile_session_feature(x->session, PERFILE_FEATURE_EVENT_DESC)) != 0;
}

/* Returns the damage of a feature in a record, 0 if there is none.  Checks the rules about features
 * directly: the checker reports them when all records have been read, too late to leave this one
 * out. */
static uint32_t damage_of(const perfile_feature *f)
{
    uint32_t damage = pf_feature_damage(f);
    return !damage && pf_feature_is_wrong(f) ? PERFILE_DAMAGE_IMPLAUSIBLE : damage;
}

/* Returns the damage for which a HEADER_FEATURE record is left out.  EVENT_DESC must also describe
 * as many events as there are. */
static uint32_t feature_record_damage(const perfile_session *s, const perfile_feature *f)
{
    uint32_t damage = damage_of(f);
    uint32_t events = pf_session_n_events(s);
    if (!damage && f->number == PERFILE_FEATURE_EVENT_DESC && events && n_described(f) != events)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    return damage;
}

/* Returns true if the event is probably from another capture: it breaks a rule (contradicts the
 * others), or EVENT_DESC describes fewer events. */
static bool is_foreign(const pf_recover *x, const perfile_event *e)
{
    const perfile_feature *desc = perfile_session_feature(x->session, PERFILE_FEATURE_EVENT_DESC);
    uint32_t described = n_described(desc);
    for (size_t i = 0; i < x->bad_events.len; i += sizeof e->offset)
        if (memcmp(x->bad_events.ptr + i, &e->offset, sizeof e->offset) == 0)
            return true;
    return described && e->index >= described;
}

/* For a HEADER_ATTR record: if the event that it has just added is from another capture, marks it
 * as dropped, and returns the damage for which the record is left out. */
static uint32_t attr_record_damage(pf_recover *x, const perfile_record *r)
{
    uint32_t n = pf_session_n_events(x->session);
    const perfile_event *e = n ? perfile_session_event(x->session, n - 1) : NULL;
    if (!e || e->offset != r->offset + PF_PERF_RECORD_HEADER || !is_foreign(x, e) ||
        pf_recover_is_sound(x))
        return 0;
    if (!pf_buffer_append(&x->dropped, &e->index, sizeof e->index))
        (void)pf_fail_nomem(&x->failed, "recover");
    return PERFILE_DAMAGE_IMPLAUSIBLE;
}

/* Returns the damage of the tracing data in a HEADER_TRACING_DATA record.  The session has only the
 * tracing data of the first such record; others are judged from the record, if its bytes are in
 * memory. */
static uint32_t tracing_record_damage(const perfile_record *r)
{
    perfile_header_tracing_data v;
    perfile_feature f = {.number = PERFILE_FEATURE_TRACING_DATA,
                         .flags = r->flags & PERFILE_REC_SWAPPED,
                         .session = r->session};
    const perfile_feature *t = perfile_session_feature(r->session, f.number);
    if (t && t->offset == r->offset)
        return damage_of(t);
    if (perfile_header_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return 0;
    f.payload = v.has_data ? v.data : r->extra;
    f.size = f.payload.len;
    return f.payload.ptr ? damage_of(&f) : 0;
}

/* pf_recover_fact_damage() without the question whether the capture is intact. */
static uint32_t fact_damage(pf_recover *x, const perfile_record *r)
{
    const perfile_session *s = r->session;
    perfile_feature f;
    const perfile_feature *t;
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
        return attr_record_damage(x, r);
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        return tracing_record_damage(r);
    case PERFILE_RECORD_SIMPLEPERF_TRACING_DATA:
        t = perfile_session_feature(s, PERFILE_FEATURE_TRACING_DATA);
        return t && t->offset == r->offset ? damage_of(t) : 0;
    case PERFILE_RECORD_HEADER_FEATURE:
        if (perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.payload.len == 0)
            return 0; /* an empty one ends the list */
        return feature_record_damage(s, &f);
    default:
        return 0;
    }
}

uint32_t pf_recover_fact_damage(pf_recover *x, const perfile_record *r)
{
    uint32_t damage = fact_damage(x, r);
    return damage && !pf_recover_is_sound(x) ? damage : 0;
}

/* Collects in x->scratch the entries of a damaged BUILD_ID feature that are complete, name
 * included, up to the first bad size. */
static perfile_bytes intact_build_ids(pf_recover *x, const perfile_feature *f)
{
    enum { FIXED = 36 }; /* header, pid and 24 bytes of build id, followed by the name */
    bool swap = f->flags & PERFILE_REC_SWAPPED;
    pf_buffer_clear(&x->scratch);
    for (size_t at = 0, size; f->payload.len - at >= PF_PERF_RECORD_HEADER; at += size) {
        const uint8_t *entry = f->payload.ptr + at;
        size = pf_load_u16(entry + 6, swap);
        if (size < PF_PERF_RECORD_HEADER || size > f->payload.len - at)
            break;
        if (size > FIXED && memchr(entry + FIXED, 0, size - FIXED) &&
            !pf_buffer_append(&x->scratch, entry, size)) {
            (void)pf_fail_nomem(&x->failed, "recover");
            break;
        }
    }
    return (perfile_bytes){x->scratch.ptr, x->scratch.len};
}

/* Returns true for features that are not true of the output: the writer or write_sample_time()
 * makes them, or the output has no such property. */
static bool is_outdated(const pf_recover *x, uint32_t number)
{
    switch (number) {
    case PERFILE_FEATURE_SAMPLE_TIME:
    case PERFILE_FEATURE_AUXTRACE:   /* the writer makes it */
    case PERFILE_FEATURE_DIR_FORMAT: /* the output is one file */
        return true;
    case PERFILE_FEATURE_COMPRESSED:
        return x->result.decompressed;
    default:
        return false;
    }
}

/* Writes a feature that is intact; for BUILD_ID, its intact entries; for EVENT_DESC, a new one if
 * needed.  Other features are noted and left out. */
static perfile_status copy_feature(pf_recover *x, const perfile_feature *f, perfile_error *err)
{
    perfile_bytes payload = f->payload;
    uint32_t damage = pf_feature_damage(f);
    /* The checker has now seen all records, so its findings about features count, too. */
    if (!damage && x->bad_features[f->number / 64] >> f->number % 64 & 1)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    if (damage && f->number == PERFILE_FEATURE_BUILD_ID && !f->damage) {
        perfile_feature cut = *f;
        cut.payload = payload = intact_build_ids(x, f);
        cut.size = payload.len;
        if (payload.len && !pf_feature_damage(&cut)) {
            pf_recover_note(x, f->number, damage,
                            "feature BUILD_ID: only %zu of its %zu bytes are complete entries",
                            payload.len, f->payload.len);
            x->result.damaged = true;
            damage = 0;
        }
    }
    if (f->number == PERFILE_FEATURE_EVENT_DESC && (damage || x->guessed & PF_GUESS_EVENTS))
        return pf_recover_write_event_desc(x, err);
    if (damage) {
        const char *name = pf_feature_name(f->number);
        pf_recover_note(x, f->number, damage, "feature %s is left out: %s",
                        name ? name : "without a name", pf_damage_text(damage));
        x->result.features_lost++;
        x->result.damaged = true;
        return PERFILE_OK;
    }
    x->result.features++;
    return x->writer ? perfile_writer_feature(x->writer, f->number, payload, err) : PERFILE_OK;
}

/* Writes SAMPLE_TIME with the first and last time of the recovered samples.  An undamaged input
 * without that feature does not get one. */
static perfile_status write_sample_time(pf_recover *x, perfile_error *err)
{
    uint64_t span[2] = {x->result.first_time, x->result.last_time};
    bool had = perfile_session_feature(x->session, PERFILE_FEATURE_SAMPLE_TIME) != NULL;
    if (span[0] == PERFILE_NO_TIME || (!had && !x->result.damaged))
        return PERFILE_OK;
    x->result.features++;
    for (unsigned i = 0; i < 2; i++)
        if (pf_session_swapped(x->session))
            span[i] = pf_swap_u64(span[i]);
    if (!x->writer)
        return PERFILE_OK;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_SAMPLE_TIME,
                                  (perfile_bytes){(const uint8_t *)span, sizeof span}, err);
}

/* Writes the two features without which some viewers (hotspot) refuse a file, if they are lost: a
 * command line that names this operation, and an empty host name.  `written` is a bitmap of the
 * features that were written. */
static perfile_status write_needed(pf_recover *x, uint64_t written, perfile_error *err)
{
    static const char *const words[] = {"perfile", "recover"};
    const perfile_bytes cmdline[] = {{(const uint8_t *)words[0], strlen(words[0])},
                                     {(const uint8_t *)words[1], strlen(words[1])}};
    const perfile_cmdline made = {.cmdline = perfile_strings_of(cmdline, 2)};
    perfile_status st = PERFILE_OK;
    if (!x->result.damaged || !x->writer)
        return st;
    if (!(written >> PERFILE_FEATURE_HOSTNAME & 1))
        st = perfile_writer_text(x->writer, PERFILE_FEATURE_HOSTNAME, "", err);
    if (st == PERFILE_OK && !(written >> PERFILE_FEATURE_CMDLINE & 1))
        st = perfile_writer_set_cmdline(x->writer, &made, sizeof made, err);
    return st == PERFILE_E_UNSUPPORTED ? PERFILE_OK : st; /* other formats have no features */
}

perfile_status pf_recover_features(pf_recover *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint64_t written = 0;
    if (x->result.form != PERFILE_FORM_FILE)
        return st;
    uint32_t n = pf_session_n_features(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(x->session, i);
        const uint64_t before = x->result.features;
        if (f->origin == PERFILE_ORIGIN_CONTAINER && !is_outdated(x, f->number))
            st = copy_feature(x, f, err);
        if (x->result.features != before && f->number < 64)
            written |= UINT64_C(1) << f->number;
    }
    if (st == PERFILE_OK)
        st = write_sample_time(x, err);
    return st == PERFILE_OK ? write_needed(x, written, err) : st;
}

/* Chooses the events of a recovered capture: the file's own unless they break rules; then the best
 * that can be made of them or of EVENT_DESC.
 *
 * There are three candidates: the events that EVENT_DESC describes; the file's events, corrected;
 * and the same with the first event left out, because a rule that says "all events agree" does not
 * say which of two is wrong.  To try a candidate, the beginning of the file is read with these
 * events, and they are checked by the rules about events.  An event that breaks a rule is corrected
 * or left out, and this is repeated a few times.  The candidate without errors that fits the most
 * samples wins (is_better()). */

enum {
    TRIAL_RECORDS = 1 << 12, /* number of records to read to check events */
    ROUNDS = 3               /* corrections of a candidate: one can uncover the next error */
};

enum { /* errors of an event, one bit each, and what correct() does about them */
       WRONG_BITS = 1 << 0,  /* unknown bits of sample_type and the like: cleared */
       WRONG_IDS = 1 << 1,   /* ids that are 0 or belong to two events: left out */
       WRONG_FIRST = 1 << 2, /* contradicts the first event: one of the two is left out */
       WRONG_ALL = 1 << 3    /* anything else: the event is left out */
};

/* A candidate: events, and the result of trying them. */
typedef struct pf_trial {
    pf_repair events;
    pf_buffer wrong; /* uint8_t for each event: WRONG_…; may end early, the rest is 0 */
    unsigned errors; /* number of findings about events */
    bool swap;       /* byte-swap of the file */
    pf_fit fit;      /* how many samples fit the events */
} pf_trial;

static void free_trial(pf_trial *t)
{
    pf_repair_free(&t->events);
    pf_buffer_free(&t->wrong);
}

/* Returns WRONG_… for a rule of the checker. */
static uint8_t wrong_of(uint32_t rule)
{
    switch (rule) {
    case PERFILE_RULE_V_105:
    case PERFILE_RULE_V_112:
    case PERFILE_RULE_V_113:
        return WRONG_BITS;
    case PERFILE_RULE_V_107:
    case PERFILE_RULE_V_108:
        return WRONG_FIRST;
    case PERFILE_RULE_V_006:
    case PERFILE_RULE_V_019:
    case PERFILE_RULE_V_110:
        return WRONG_IDS;
    default:
        return WRONG_ALL;
    }
}

/* Callback of the checker: collects errors that are about an event and not about a record. */
static void on_finding(void *user, const perfile_finding *f)
{
    pf_trial *t = user;
    static const uint8_t nothing;
    bool about_event = f->event != UINT32_MAX && f->sequence == PERFILE_NO_SEQUENCE;
    if (!about_event || f->severity != PERFILE_SEVERITY_ERROR)
        return;
    while (t->wrong.len <= f->event)
        if (!pf_buffer_append(&t->wrong, &nothing, 1)) {
            t->events.no_memory = true;
            return;
        }
    t->wrong.ptr[f->event] |= wrong_of(f->rule);
    t->errors++;
}

/* Returns WRONG_… of event `i`. */
static uint8_t wrong_at(const pf_trial *t, uint32_t i)
{
    return i < t->wrong.len ? t->wrong.ptr[i] : 0;
}

/* Appends the events of a session with their ids. */
static perfile_status copy_events(const perfile_session *session, pf_repair *to, perfile_error *err)
{
    uint32_t n = pf_session_n_events(session);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        perfile_bytes ids = {e->ids.ptr, e->ids.width == 8 ? 8 * e->ids.n : 0};
        if (!pf_repair_add(to, e->stored, ids))
            return pf_fail_nomem(err, "recover.events");
    }
    return PERFILE_OK;
}

/* Reads the beginning of the file with the events of `assume` (its own if NULL).  Fills `t` with
 * the events that the session then has, including those from records, and their errors.  If the
 * file cannot be opened with these events, `t` is empty; this is not an error here. */
static perfile_status try_events(perfile_bytes file, const perfile_assume *assume, pf_trial *t,
                                 perfile_error *err)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    size_t n;
    perfile_open_options how = {
        .size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_RESYNC, .assume = assume};
    perfile_check_options check = {
        /* Rules about attrs, and the rules about the container that concern ids. */
        .size = sizeof check,
        .finding = on_finding,
        .user = t,
        .only = "V-1,V-006,V-019"};
    pf_repair_clear(&t->events);
    pf_buffer_clear(&t->wrong);
    t->errors = 0;
    perfile_status st = perfile_source_memory(file, "recover", &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &how, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
    }
    st = perfile_check(s, &check, &s, err);
    for (size_t seen = 0; st == PERFILE_OK && seen < TRIAL_RECORDS; seen += n)
        st = perfile_stream_next_run(s, &r, &n, err);
    if (st == PERFILE_OK || st == PERFILE_END)
        st = copy_events(perfile_stream_session(s), &t->events, err);
    t->swap = pf_session_swapped(perfile_stream_session(s));
    perfile_stream_close(s);
    if (t->events.no_memory)
        return pf_fail_nomem(err, "recover.events");
    if (st == PERFILE_OK)
        pf_repair_resolve(&t->events);
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

/* Clears all bits but `known` in the 64-bit field at offset `at` of an attr of `len` bytes.  If the
 * end of the attr cuts the field, the missing bytes count as zeros. */
static void mask(uint8_t *attr, size_t len, size_t at, uint64_t known, bool swap)
{
    uint8_t word[8] = {0};
    if (at >= len)
        return;
    size_t n = len - at < sizeof word ? len - at : sizeof word;
    memcpy(word, attr + at, n);
    uint64_t v = pf_load_u64(word, swap) & known;
    if (swap)
        v = pf_swap_u64(v);
    memcpy(word, &v, sizeof v);
    memcpy(attr + at, word, n);
}

static bool id_known(const pf_buffer *ids, uint64_t id)
{
    for (size_t i = 0; i < ids->len; i += 8)
        if (memcmp(ids->ptr + i, &id, 8) == 0)
            return true;
    return false;
}

/* Fills `own` with the ids of an event that are not 0 and are not in `all`, and adds them to `all`.
 * Returns false when out of memory. */
static bool clean_ids(perfile_bytes ids, pf_buffer *all, pf_buffer *own)
{
    pf_buffer_clear(own);
    for (size_t i = 0; i + 8 <= ids.len; i += 8) {
        uint64_t id;
        memcpy(&id, ids.ptr + i, sizeof id);
        if (id == 0 || id_known(all, id))
            continue;
        if (!pf_buffer_append(all, &id, sizeof id) || !pf_buffer_append(own, &id, sizeof id))
            return false;
    }
    return true;
}

/* Appends the events of `t` to `to`, without their errors (see WRONG_…).  If two events contradict
 * each other, the first one is left out with `but_first`, otherwise the later one.  An event
 * without ids is left out if others have ids, because its samples could not be distinguished from
 * theirs. */
static perfile_status correct(const pf_trial *t, bool but_first, pf_repair *to, perfile_error *err)
{
    pf_buffer all = {0}, own = {0};
    uint32_t n = t->events.assume.n_events, with_ids = 0;
    bool ok = true;
    for (uint32_t i = 0; i < n; i++)
        with_ids += t->events.assume.events[i].ids.len != 0;
    for (uint32_t i = 0; i < n && ok; i++) {
        const perfile_assumed_event *e = &t->events.assume.events[i];
        uint8_t attr[PF_ATTR_MOST];
        uint8_t wrong = wrong_at(t, i);
        bool leave_out = wrong & WRONG_ALL || e->attr.len > sizeof attr ||
                         (but_first ? i == 0 : (wrong & WRONG_FIRST) != 0);
        if (leave_out)
            continue;
        ok = clean_ids(e->ids, &all, &own);
        if (own.len == 0 && with_ids > (e->ids.len != 0))
            continue;
        memcpy(attr, e->attr.ptr, e->attr.len);
        if (wrong & WRONG_BITS) {
            mask(attr, e->attr.len, PF_ATTR_SAMPLE_TYPE_AT, PERFILE_SAMPLE_KNOWN, t->swap);
            mask(attr, e->attr.len, PF_ATTR_READ_FORMAT_AT, PERFILE_FORMAT_KNOWN, t->swap);
            mask(attr, e->attr.len, PF_ATTR_BRANCH_TYPE_AT, PERFILE_BRANCH_KNOWN, t->swap);
        }
        ok = ok && pf_repair_add(to, (perfile_bytes){attr, e->attr.len},
                                 (perfile_bytes){own.ptr, own.len});
    }
    pf_buffer_free(&all);
    pf_buffer_free(&own);
    if (!ok)
        return pf_fail_nomem(err, "recover.events");
    pf_repair_resolve(to);
    return PERFILE_OK;
}

/* Tries the events of the candidate `c`, and corrects them until no rule is broken or ROUNDS is
 * reached.  `base` has the other assumptions about the file. */
static perfile_status improve(const pf_recover *x, perfile_bytes file, const perfile_assume *base,
                              pf_trial *c, perfile_error *err)
{
    for (unsigned round = 0;; round++) {
        perfile_assume assume = *base;
        pf_repair now = c->events; /* borrowed by `assume` while try_events() fills c->events */
        assume.events = now.assume.events;
        assume.n_events = now.assume.n_events;
        perfile_status st =
            assume.n_events ? x->repair->fit(file, &assume, &c->fit, err) : PERFILE_OK;
        c->events = (pf_repair){0};
        if (st == PERFILE_OK && assume.n_events)
            st = try_events(file, &assume, c, err);
        pf_repair_free(&now);
        if (st != PERFILE_OK || c->errors == 0 || round == ROUNDS)
            return st;
        pf_repair next = {0};
        st = correct(c, false, &next, err);
        pf_repair_free(&c->events);
        c->events = next;
        if (st != PERFILE_OK)
            return st;
    }
}

/* Any events are better than none, events without errors are better than others, and then those
 * that fit more samples. */
static bool is_better(const pf_trial *a, const pf_trial *b)
{
    bool a_any = a->events.assume.n_events, b_any = b->events.assume.n_events;
    if (a_any != b_any)
        return a_any;
    if ((a->errors == 0) != (b->errors == 0))
        return a->errors == 0;
    return a->fit.fit > b->fit.fit;
}

/* Tries the three candidates (see above), moves the best one into `best`, and sets *guess to its
 * PF_GUESS_….  `now` has the file's events with their errors. */
static perfile_status choose(const pf_recover *x, perfile_bytes file, const perfile_assume *base,
                             const pf_trial *now, pf_trial *best, uint32_t *guess,
                             perfile_error *err)
{
    static const uint32_t guesses[] = {PF_GUESS_DESC, PF_GUESS_SOUND, PF_GUESS_SOUND};
    perfile_status st = PERFILE_OK;
    for (unsigned i = 0; i < 3 && st == PERFILE_OK; i++) {
        pf_trial c = {0};
        if (i == 0 && x->repair->find_events(&c.events, file, now->swap, 0))
            pf_repair_resolve(&c.events);
        else if (i > 0)
            st = correct(now, i == 2, &c.events, err);
        if (c.events.no_memory)
            st = pf_fail_nomem(err, "recover.events");
        if (st == PERFILE_OK)
            st = improve(x, file, base, &c, err);
        if (st == PERFILE_OK && is_better(&c, best)) {
            pf_trial worse = *best;
            *best = c;
            c = worse;
            *guess = guesses[i];
        }
        free_trial(&c);
    }
    return st;
}

/* See lib/recover.h.  The bytes of the chosen events move into `r`; pf_repair_resolve() makes its
 * pointers into them again. */
perfile_status pf_recover_choose_events(const pf_recover *x, perfile_bytes file, pf_repair *r,
                                        perfile_error *err)
{
    pf_trial now = {0}, best = {0};
    uint32_t guess = 0;
    perfile_assume base = r->assume;
    perfile_status st = try_events(file, r->guessed ? &base : NULL, &now, err);
    if (st == PERFILE_OK && now.errors)
        st = choose(x, file, &base, &now, &best, &guess, err);
    if (st == PERFILE_OK && best.events.assume.n_events) {
        pf_buffer_free(&r->events);
        pf_buffer_free(&r->bytes);
        r->events = best.events.events;
        r->bytes = best.events.bytes;
        best.events = (pf_repair){0};
        pf_repair_resolve(r);
        r->guessed |= guess;
    } else if (st == PERFILE_OK && now.errors) {
        r->unsound = true;
    }
    free_trial(&now);
    free_trial(&best);
    return st;
}
