/* Tests records of a run against the terms.
 *
 * The result is a bit for each of up to 64 records. Kinds of terms are tested one after the other,
 * cheap ones first, each only for the records that passed all tests so far. A record is selected if
 * it passes every kind. Fields at fixed offsets are tested for all samples of a run in one loop. */
#include "base/alloc.h"
#include "base/error.h"
#include "filter/filter.h"
#include "perfile/filter.h"
#include "perfile/records.h"
#include "expr/command.h"
#include "core/command.h"

#include <string.h>

static inline uint64_t bit(size_t i)
{
    return UINT64_C(1) << i;
}

/* Tests one record, other than a sample or against terms without a field at a fixed offset. */
typedef bool test_fn(pf_filter *x, const perfile_record *r);

/* Tests the records in `asked` one by one. Returns those that pass. */
static uint64_t test_each(pf_filter *x, const perfile_record *first, uint64_t asked, test_fn *fits)
{
    uint64_t yes = 0;
    for (uint64_t left = asked; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        if (fits(x, &first[i]))
            yes |= bit(i);
    }
    return yes;
}

/* These functions test records other than samples, and fields without a fixed offset. A record
 * without the field does not pass. */
static bool time_fits(pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    return time != PERFILE_NO_TIME && pf_ranges_contain(&x->terms.times, time);
}

static bool pid_fits(pf_filter *x, const perfile_record *r)
{
    uint32_t pid, tid;
    return perfile_record_task(r, &pid, &tid) && pf_ranges_contain(&x->terms.pids, pid);
}

static bool tid_fits(pf_filter *x, const perfile_record *r)
{
    uint32_t pid, tid;
    return perfile_record_task(r, &pid, &tid) && pf_ranges_contain(&x->terms.tids, tid);
}

static bool cpu_fits(pf_filter *x, const perfile_record *r)
{
    uint32_t cpu;
    return perfile_record_cpu(r, &cpu) && pf_ranges_contain(&x->terms.cpus, cpu);
}

const perfile_event *pf_filter_event(const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    /* A kernel record without a trailer has no id; the event would be a guess. */
    if (e && r->type < PERFILE_RECORD_USER && r->type != PERFILE_RECORD_SAMPLE &&
        r->type != PERFILE_RECORD_READ && !e->layout->sample_id_all)
        return NULL;
    return e;
}

static bool event_fits(pf_filter *x, const perfile_record *r)
{
    const perfile_event *e = pf_filter_event(r);
    return e && e->index < x->pass.n_events && x->pass.event_fits[e->index];
}

static bool comm_fits(pf_filter *x, const perfile_record *r)
{
    return pf_filter_matches(x, &x->terms.comms, pf_filter_comm(x, r), false);
}

static bool dso_fits(pf_filter *x, const perfile_record *r)
{
    return pf_filter_matches(x, &x->terms.dsos, pf_filter_dso(x, r), true);
}

static bool cgroup_fits(pf_filter *x, const perfile_record *r)
{
    return pf_filter_matches(x, &x->terms.cgroups, pf_filter_cgroup(x, r), false);
}

/* Returns the samples of an even run that have their value in one range. Widens `all` by the
 * values, unless it is NULL: while nothing is selected, this loop is most of the work. */
static inline uint64_t in_one_range(const pf_interval *in, const pf_run *run, const pf_place *place,
                                    size_t slot, pf_observed_range *all)
{
    const pf_place p = *place;
    /* value - low <= wide, modulo 2^64, is true exactly inside the range: one comparison, no
     * branch. */
    const uint64_t low = in->first, wide = in->last - low;
    pf_observed_range r = {UINT64_MAX, 0};
    uint64_t yes = 0;
    for (size_t i = run->n; i-- > 0;) { /* backwards, because bits are shifted in from below */
        uint64_t value = pf_place_value(&p, pf_run_word(run, i, slot));
        yes = 2 * yes + (value - low <= wide);
        if (all)
            pf_observed_widen(&r, value);
    }
    if (all) {
        pf_observed_widen(all, r.least);
        pf_observed_widen(all, r.most);
    }
    return yes;
}

/* Returns the samples of an even run that have their value in the set; at least those in `asked`
 * are tested. */
static uint64_t test_even_samples(const pf_ranges *set, const pf_run *run, uint64_t asked,
                                  const pf_place *p, pf_observed_range *all)
{
    uint64_t yes = 0;
    int at = run->even->sample_slot[__builtin_ctz(p->field)];
    size_t slot = (size_t)at;
    if (at < 0)
        return 0;
    if (set->n == 1 && !all)
        return in_one_range(set->at, run, p, slot, NULL);
    /* Only if all are tested: values of other samples must not widen the range. */
    if (set->n == 1 && asked == run->all)
        return in_one_range(set->at, run, p, slot, all);
    for (uint64_t left = asked; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        uint64_t value = pf_place_value(p, pf_run_word(run, i, slot));
        yes |= (uint64_t)pf_ranges_contain(set, value) << i;
        if (all)
            pf_observed_widen(all, value);
    }
    return yes;
}

/* Returns the samples that have field k in the set; at least those in `asked` are tested. */
static uint64_t samples(pf_filter *x, const pf_ranges *set, const pf_run *run, uint64_t asked,
                        unsigned k)
{
    uint64_t values[PERFILE_RUN_RECORDS], yes = 0;
    uint32_t at[PERFILE_RUN_RECORDS];
    const pf_place *p = &pf_places[k];
    pf_observed_range *all = x->there.over ? NULL : pf_observed_place(&x->there, k);
    if (run->even)
        return test_even_samples(set, run, asked, p, all);
    size_t found = perfile_sample_fields(run->first, run->n, p->field, values, at);
    for (size_t i = 0; i < found; i++) {
        uint64_t value = pf_place_value(p, values[i]);
        yes |= (uint64_t)pf_ranges_contain(set, value) << at[i];
        if (all && asked >> at[i] & 1)
            pf_observed_widen(all, value);
    }
    return yes;
}

/* Returns the records of selected types. */
static uint64_t types(const pf_filter *x, const pf_run *run)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < run->n; i++)
        yes |= (uint64_t)pf_ranges_contain(&x->terms.types, run->first[i].type) << i;
    return yes;
}

/* Removes from *asked the records for which no expression holds. */
static perfile_status wheres(pf_filter *x, const pf_run *run, uint64_t *asked, perfile_error *err)
{
    const perfile_record *first = run->first;
    size_t n = run->n;
    uint64_t yes = 0;
    perfile_status st = PERFILE_OK;
    for (uint32_t k = 0; k < x->terms.n_wheres && st == PERFILE_OK; k++) {
        uint64_t fits = 0;
        /* If many records are left, testing the whole run at once costs less per record. The others
         * are masked out. */
        if (__builtin_popcountll(*asked) > (int)n / 2) {
            st = pf_expr_test_run(x->terms.wheres[k], first, n, &fits, err);
        } else {
            for (uint64_t left = *asked; left && st == PERFILE_OK; left &= left - 1) {
                size_t i = (size_t)__builtin_ctzll(left);
                bool holds = false;
                st = perfile_expr_test(x->terms.wheres[k], &first[i], &holds, err);
                fits |= (uint64_t)holds << i;
            }
        }
        yes |= fits;
    }
    if (st == PERFILE_E_USAGE && err)
        err->where = "terms.where";
    *asked &= yes;
    return st;
}

/* Tests the terms for fields at fixed offsets in samples. */
static uint64_t test_fixed_fields(pf_filter *x, const pf_run *run, uint64_t asked)
{
    static test_fn *const others[PF_PLACES] = {[PF_PLACE_TIME] = time_fits,
                                               [PF_PLACE_PID] = pid_fits,
                                               [PF_PLACE_TID] = tid_fits,
                                               [PF_PLACE_CPU] = cpu_fits};
    const pf_ranges *const sets[PF_PLACES] = {&x->terms.times, &x->terms.pids, &x->terms.tids,
                                              &x->terms.cpus, &x->terms.ips};
    for (unsigned k = 0; k < PF_PLACES && asked; k++) {
        if (!pf_filter_has(x, pf_places[k].kind))
            continue;
        uint64_t yes = 0;
        if (asked & run->samples)
            yes = samples(x, sets[k], run, asked & run->samples, k);
        if (others[k])
            yes |= test_each(x, run->first, asked & ~run->samples, others[k]);
        asked &= yes;
    }
    return asked;
}

/* Applies options.every and options.head to the selected records. They count samples, or with terms
 * for types all selected records. */
static uint64_t apply_every_and_head(pf_filter *x, const pf_run *run, uint64_t selected)
{
    uint64_t counted = selected;
    if (!pf_filter_has(x, PERFILE_FILTER_BY_TYPE))
        counted &= pf_run_counted(run);
    for (uint64_t left = counted; left && x->options.every > 1; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        if (x->selection.countdown)
            selected &= ~bit(i);
        x->selection.countdown =
            x->selection.countdown ? x->selection.countdown - 1 : x->options.every - 1;
    }
    counted &= selected;
    for (uint64_t left = counted; left && x->options.head; left &= left - 1)
        if (x->selection.counted++ >= x->options.head)
            selected &= ~(left & (0 - left)); /* its lowest bit */
    return selected;
}

/* Tests in the order of cost: types, fixed fields, events, names, expressions. options.every and
 * options.head count the remaining records. */
perfile_status pf_filter_test(pf_filter *x, const pf_run *run, uint64_t asked, uint64_t *selected,
                              perfile_error *err)
{
    static const struct {
        uint32_t kind;
        test_fn *fits;
    } slow[] = {{PERFILE_FILTER_BY_EVENT, event_fits},
                {PERFILE_FILTER_BY_COMM, comm_fits},
                {PERFILE_FILTER_BY_DSO, dso_fits},
                {PERFILE_FILTER_BY_CGROUP, cgroup_fits}};
    perfile_status st = PERFILE_OK;
    uint64_t yes = asked;
    if (pf_filter_has(x, PERFILE_FILTER_BY_TYPE))
        yes &= types(x, run);
    yes = test_fixed_fields(x, run, yes);
    for (size_t k = 0; k < sizeof slow / sizeof slow[0] && yes; k++)
        if (pf_filter_has(x, slow[k].kind))
            yes = test_each(x, run->first, yes, slow[k].fits);
    if (x->terms.n_wheres && yes)
        st = wheres(x, run, &yes, err);
    if (x->terms.invert)
        yes = asked & ~yes;
    if (x->options.every > 1 || x->options.head)
        yes = apply_every_and_head(x, run, yes);
    *selected = yes;
    return st;
}

/* Losses have no process or address, so other terms do not apply to them. */
bool pf_filter_test_loss(const pf_filter *x, const perfile_record *r)
{
    uint32_t cpu;
    bool by_time = pf_filter_has(x, PERFILE_FILTER_BY_TIME),
         by_cpu = pf_filter_has(x, PERFILE_FILTER_BY_CPU);
    if (!by_time && !by_cpu)
        return true;
    uint64_t time = perfile_record_time(r);
    bool yes = !by_time || (time != PERFILE_NO_TIME && pf_ranges_contain(&x->terms.times, time));
    if (by_cpu)
        yes = yes && perfile_record_cpu(r, &cpu) && pf_ranges_contain(&x->terms.cpus, cpu);
    return yes != x->terms.invert;
}

/* Returns true if the pattern is the index of the event or matches its name. */
static bool names_event(pf_pattern *p, const perfile_event *e)
{
    /* At most 9 digits: they fit 32 bits, and no capture has more events. */
    uint64_t position = 0;
    size_t k = p->exact ? p->len : 0;
    for (; k < p->len && k < 9 && p->text[k] >= '0' && p->text[k] <= '9'; k++)
        position = 10 * position + (uint64_t)(p->text[k] - '0');
    if (k && k == p->len && !p->exact && position == e->index)
        return true;
    return pf_pattern_fits(p, e->name, strlen(e->name));
}

/* Returns true if a pattern names the event. Tries all patterns, so that the ones that name no
 * event are known afterwards. */
static bool any_names_event(const pf_patterns *p, const perfile_event *e)
{
    bool named = false;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t whole = p->at[i].of;
        bool fits = names_event(&p->at[i], e) && (whole == i || !p->at[whole].exact);
        p->at[i].found |= fits;
        named |= fits;
    }
    return named;
}

/* Returns the first pattern that names no event. "a,b" is a name or a list: it is missing only if
 * neither the whole nor both parts name events. */
static const pf_pattern *first_unknown_event(const pf_patterns *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        bool is_list = i + 1 < p->n && p->at[i + 1].of == i;
        if (!p->at[i].found && !is_list && !p->at[p->at[i].of].found)
            return &p->at[i];
    }
    return NULL;
}

/* Finds the patterns that are exactly the name of an event. */
static void settle_events(pf_filter *x, uint32_t n)
{
    for (uint32_t k = 0; k < x->terms.events.n; k++) {
        pf_pattern *p = &x->terms.events.at[k];
        for (uint32_t i = 0; i < n && !p->exact; i++)
            p->exact = strcmp(perfile_session_event(x->pass.session, i)->name, p->name) == 0;
    }
}

/* Computes event_fits for all events of the session. */
static perfile_status resolve_events(pf_filter *x, perfile_error *err)
{
    uint32_t n = pf_session_n_events(x->pass.session);
    if (n > x->pass.events_cap) {
        uint8_t *more = pf_realloc(x->pass.event_fits, n, 1);
        if (!more)
            return pf_fail_nomem(err, "filter");
        x->pass.event_fits = more;
        x->pass.events_cap = n;
    }
    x->pass.n_events = n;
    settle_events(x, n);
    for (uint32_t i = 0; i < n; i++) {
        x->pass.event_fits[i] =
            any_names_event(&x->terms.events, perfile_session_event(x->pass.session, i));
    }
    return PERFILE_OK;
}

perfile_status pf_filter_resolve(pf_filter *x, const perfile_record *first, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint64_t generation = pf_session_generation(x->pass.session);
    if (generation != x->pass.generation && pf_filter_has(x, PERFILE_FILTER_BY_EVENT))
        st = resolve_events(x, err);
    x->pass.generation = generation;
    /* CLOCK_DATA may be in tool records, so times are resolved at the first other record. */
    if (!x->pass.resolved && !pf_is_of_tool(first) && st == PERFILE_OK) {
        st = pf_filter_times(x, err);
        if (st == PERFILE_OK)
            st = pf_filter_check_events(x, err);
        x->pass.resolved = true;
    }
    return st;
}

/* The message lists the first events of the capture. */
perfile_status pf_filter_check_events(const pf_filter *x, perfile_error *err)
{
    enum { SHOWN = 5 };
    char list[160];
    size_t len = 0;
    const pf_pattern *missing = first_unknown_event(&x->terms.events);
    if (!missing)
        return PERFILE_OK;
    list[0] = '\0';
    uint32_t n = pf_session_n_events(x->pass.session);
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const char *name = perfile_session_event(x->pass.session, i)->name;
        for (size_t k = 0; i && k < 2; k++)
            if (len + 1 < sizeof list)
                list[len++] = ", "[k];
        for (; *name && len + 1 < sizeof list; name++)
            list[len++] = *name;
        list[len] = '\0';
    }
    return pf_fail(err, PERFILE_E_USAGE, "terms.event",
                   "event: no event is called '%s'; there %s: %s%s", missing->text,
                   n == 1 ? "is" : "are", n ? list : "none", n > SHOWN ? " ..." : "");
}

/* What the samples of a capture contain, for the message of an empty result. */

/* TID has two halves: pid in the low one, tid in the high one. */
const pf_place pf_places[PF_PLACES] = {
    [PF_PLACE_TIME] = {PERFILE_FILTER_BY_TIME, PERFILE_SAMPLE_TIME, 0, UINT64_MAX},
    [PF_PLACE_PID] = {PERFILE_FILTER_BY_PID, PERFILE_SAMPLE_TID, 0, UINT32_MAX},
    [PF_PLACE_TID] = {PERFILE_FILTER_BY_TID, PERFILE_SAMPLE_TID, 32, UINT32_MAX},
    [PF_PLACE_CPU] = {PERFILE_FILTER_BY_CPU, PERFILE_SAMPLE_CPU, 0, UINT32_MAX},
    [PF_PLACE_IP] = {PERFILE_FILTER_BY_IP, PERFILE_SAMPLE_IP, 0, UINT64_MAX},
};

void pf_observed_begin(pf_observed *t)
{
    *t = (pf_observed){0};
    for (size_t k = 0; k < PF_PLACES; k++)
        /* Empty: least > most. */
        t->ranges[k] = (pf_observed_range){UINT64_MAX, 0};
}

pf_observed_range *pf_observed_place(pf_observed *t, unsigned k)
{
    t->looked |= 1U << k;
    return &t->ranges[k];
}

/* Adds the times of all samples, because samples of several CPUs are not in order. */
static void add_times(pf_observed *t, const pf_run *run)
{
    uint64_t times[PERFILE_RUN_RECORDS];
    size_t n = run->n;
    int slot = run->even ? run->even->sample_slot[__builtin_ctz(PERFILE_SAMPLE_TIME)] : -1;
    pf_observed_range *all = pf_observed_place(t, PF_PLACE_TIME);
    if (run->even && slot < 0)
        return;
    if (!run->even)
        n = perfile_sample_fields(run->first, n, PERFILE_SAMPLE_TIME, times, NULL);
    for (size_t i = 0; i < n; i++)
        pf_observed_widen(all, run->even ? pf_run_word(run, i, (size_t)slot) : times[i]);
}

/* Adds a name unless it was added before. Notes that there were more when all slots are in use. */
static void add_name(pf_observed_names *all, perfile_bytes name)
{
    char text[PF_OBSERVED_NAME_BYTES];
    size_t n = name.len < sizeof text - 1 ? name.len : sizeof text - 1;
    if (!n)
        return;
    memcpy(text, name.ptr, n);
    text[n] = '\0';
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i], text) == 0)
            return;
    all->more |= all->n == PF_OBSERVED_MAX_NAMES;
    if (all->n < PF_OBSERVED_MAX_NAMES)
        memcpy(all->at[all->n++], text, sizeof text);
}

/* Returns the part after the last slash. */
static perfile_bytes last_part(perfile_bytes path)
{
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '/')
            return (perfile_bytes){path.ptr + i, path.len - i};
    return path;
}

static void add_comm(pf_observed *t, const perfile_record *r)
{
    perfile_comm comm;
    if (r->type == PERFILE_RECORD_COMM &&
        perfile_comm_decode(r, &comm, sizeof comm, NULL) == PERFILE_OK)
        add_name(&t->comms, comm.comm);
}

static void add_file(pf_observed *t, const perfile_record *r)
{
    perfile_mmap mmap;
    perfile_mmap2 mmap2;
    if (r->type == PERFILE_RECORD_MMAP &&
        perfile_mmap_decode(r, &mmap, sizeof mmap, NULL) == PERFILE_OK)
        add_name(&t->files, last_part(mmap.filename));
    if (r->type == PERFILE_RECORD_MMAP2 &&
        perfile_mmap2_decode(r, &mmap2, sizeof mmap2, NULL) == PERFILE_OK)
        add_name(&t->files, last_part(mmap2.filename));
}

/* Names of threads and files are in COMM and MMAP records, not in samples. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given)
{
    const uint32_t named = 1U << PERFILE_FILTER_BY_COMM | 1U << PERFILE_FILTER_BY_DSO;
    if (run->samples && !(given & (pf_place_kinds() | named)))
        add_times(t, run);
    if (!(given & named))
        return;
    for (uint64_t left = run->all & ~run->samples; left; left &= left - 1) {
        const perfile_record *r = &run->first[__builtin_ctzll(left)];
        if (given >> PERFILE_FILTER_BY_COMM & 1)
            add_comm(t, r);
        if (given >> PERFILE_FILTER_BY_DSO & 1)
            add_file(t, r);
    }
}
