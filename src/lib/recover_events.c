/* Choosing the events of a recovered capture: those of the file unless they break rules; then the
 * best that can be made of them or of EVENT_DESC.
 *
 * There are three candidates: the events that EVENT_DESC describes; those of the file, corrected;
 * and the same with the first event left out, because a rule that says "all events agree" does not
 * say which of two is wrong.  A candidate is tried: the beginning of the file is read with these
 * events and checked by the rules about events, and what breaks a rule is corrected or left out, a
 * few times over.  The candidate without errors that most samples fit wins (is_better()). */
#include "base/error.h"
#include "base/byte_order.h"
#include "lib/recover.h"
#include "schema/attr_places.h"

enum {
    TRIAL_RECORDS = 1 << 12, /* read to find out what is wrong with events */
    ROUNDS = 3               /* corrections of a candidate: one can uncover the next error */
};

enum { /* what is wrong with an event, by bit, and what correct() does about it */
       WRONG_BITS = 1 << 0,  /* unknown bits of sample_type and the like: cleared */
       WRONG_IDS = 1 << 1,   /* ids that are 0 or of two events: left out */
       WRONG_FIRST = 1 << 2, /* it contradicts the first event: one of the two is left out */
       WRONG_ALL = 1 << 3    /* anything else: the event is left out */
};

/* A candidate: events, and what was found by trying them. */
typedef struct pf_trial {
    pf_repair events;
    pf_buffer wrong; /* uint8_t for each event: WRONG_…; may end early, the rest is 0 */
    unsigned errors; /* findings about events */
    bool swap;       /* byte order of the file */
    pf_fit fit;      /* how many samples fit the events */
} pf_trial;

static void free_trial(pf_trial *t)
{
    pf_repair_free(&t->events);
    pf_buffer_free(&t->wrong);
}

/* WRONG_… for a rule of the checker. */
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

/* WRONG_… of event `i`. */
static uint8_t wrong_at(const pf_trial *t, uint32_t i)
{
    return i < t->wrong.len ? t->wrong.ptr[i] : 0;
}

/* Appends the events of a session with their ids. */
static perfile_status copy_events(const perfile_session *session, pf_repair *to, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(session);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        perfile_bytes ids = {e->ids.ptr, e->ids.width == 8 ? 8 * e->ids.n : 0};
        if (!pf_repair_add(to, e->stored, ids))
            return pf_fail_nomem(err, "recover.events");
    }
    return PERFILE_OK;
}

/* Reads the beginning of the file with the events of `assume` (NULL: with its own), and fills `t`
 * with the events that the session had then, also those of records, and their errors.  A file that
 * cannot be opened so leaves `t` empty, which is no error here. */
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
        /* Rules about attrs, and those of the container that are about ids. */
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
    t->swap = perfile_session_swapped(perfile_stream_session(s));
    perfile_stream_close(s);
    if (t->events.no_memory)
        return pf_fail_nomem(err, "recover.events");
    if (st == PERFILE_OK)
        pf_repair_resolve(&t->events);
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

/* Clears all bits but `known` in the 64-bit field at offset `at` of an attr of `len` bytes.  Of a
 * field that is cut by the end of the attr, the missing bytes count as zeros. */
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
 * Returns false if memory is out. */
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

/* Appends the events of `t` to `to`, without what is wrong with them (see WRONG_…).  If two events
 * contradict each other, the first one is left out with `but_first`, the later one otherwise. An
 * event without ids is left out if others have ids: its samples could not be told from theirs. */
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

/* Tries the events of the candidate `c`, and corrects them until no rule is broken or ROUNDS are
 * over. `base` has what else is assumed about the file. */
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

/* Any events are better than none, events without errors better than others, and then those that
 * more samples fit. */
static bool is_better(const pf_trial *a, const pf_trial *b)
{
    bool a_any = a->events.assume.n_events, b_any = b->events.assume.n_events;
    if (a_any != b_any)
        return a_any;
    if ((a->errors == 0) != (b->errors == 0))
        return a->errors == 0;
    return a->fit.fit > b->fit.fit;
}

/* Tries the three candidates (see the top of this file), moves the best one into `best`, and sets
 * *guess to the PF_GUESS_… that it stands for.  `now` are the events of the file with their
 * errors. */
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

/* See lib/recover.h.  The bytes of the chosen events move into `r`, whose pointers into them are
 * made again by pf_repair_resolve(). */
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
