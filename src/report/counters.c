/* Counting the records of `perf stat record` (see counters.h).
 *
 * A STAT has the value of a counter since the start, so its difference to the previous one is
 * counted.  The STAT_ROUND after the STATs has their time.  A sum of the profile has the number of
 * values and their total.  A second sum, with PF_LABEL_TIMES in its label, has two times in these
 * members: how long the counter was enabled, and how long it ran. */
#include "report/counters.h"

#include <string.h>

#include "base/error.h"
#include "perfile/profile.h"
#include "profile/reader.h"
#include "core/command.h"

enum { SETTING_SCALE = 2 }; /* tag of STAT_CONFIG */

void pf_counting_begin(pf_counting *c, pf_profile *p, const perfile_session *session,
                       const uint8_t *per, uint64_t time_step)
{
    const pf_intern empty = {.seed = p->texts.seed, .budget = &p->budget};
    const char *keys = (const char *)per;
    const pf_intern units = c->profile ? c->units : empty; /* of the previous captures */
    c->units = empty;
    pf_counting_free(c);
    *c = (pf_counting){.profile = p,
                       .session = session,
                       .counters = empty,
                       .units = units,
                       .by_comm = strchr(keys, PERFILE_PER_COMM),
                       .by_tid = strchr(keys, PERFILE_PER_TID),
                       .by_cpu = strchr(keys, PERFILE_PER_CPU),
                       .by_time = strchr(keys, PERFILE_PER_TIME),
                       .time_step = time_step};
    c->counters.width = sizeof(pf_counted);
    c->counters.key = offsetof(pf_counted, value);
    c->units.width = sizeof(pf_counter_unit);
    c->units.key = offsetof(pf_counter_unit, unit);
}

void pf_counting_free(pf_counting *c)
{
    if (!c->profile)
        return;
    pf_budget *budget = &c->profile->budget;
    pf_intern_free(&c->counters);
    pf_intern_free(&c->units);
    pf_budget_free(budget, c->steps, c->steps_cap, sizeof *c->steps);
    pf_budget_free(budget, c->threads, c->n_threads, sizeof *c->threads);
    *c = (pf_counting){0};
}

/* Returns the name of an event as a text of the profile, and stores the event's unit.  Sets *ok to
 * false when out of memory. */
static const char *event_text(pf_counting *c, uint32_t index, bool *ok)
{
    const perfile_event *event = perfile_session_event(c->session, index);
    if (!event)
        return NULL;
    const char *text = pf_profile_text(c->profile, event->name);
    const char *unit = event->unit ? pf_profile_text(c->profile, event->unit) : NULL;
    const uint32_t at = text ? pf_counting_unit(c, text) : PF_INTERN_NONE;
    *ok = at != PF_INTERN_NONE && (unit || !event->unit);
    if (*ok) {
        pf_counter_unit *known = pf_intern_at(&c->units, at);
        known->unit = unit;
        known->scale = event->scale;
    }
    return text;
}

uint32_t pf_counting_unit(pf_counting *c, const char *event)
{
    const pf_counter_unit key = {.event = (uintptr_t)event};
    const size_t before = c->units.n;
    const uint32_t number = pf_intern_add(&c->units, &key);
    if (c->units.n != before)
        ((pf_counter_unit *)pf_intern_at(&c->units, number))->scale = 1;
    return number;
}

/* Adds the count of a counter in an interval that ended at `time` (0: unknown).  Returns false when
 * out of memory. */
static bool add_step(pf_counting *c, const pf_counter_step *step, uint64_t time)
{
    const pf_counted *counter = pf_intern_at(&c->counters, step->counter);
    const bool known = counter->thread < c->n_threads;
    bool ok = true;
    pf_label label = {.pid = PF_NO_LABEL, .tid = PF_NO_LABEL, .cpu = PF_NO_LABEL};
    if (c->by_comm && known)
        label.comm = c->threads[counter->thread].comm;
    if (c->by_tid && known)
        label.tid = c->threads[counter->thread].tid;
    if (c->by_cpu)
        label.cpu = counter->cpu;
    if (c->by_time)
        label.time = c->time_step ? time / c->time_step * c->time_step + 1 : time + 1;
    if (c->by_time && time == 0)
        label.time = 0;
    label.event = event_text(c, counter->event, &ok);
    const uint32_t values = ok ? pf_profile_label(c->profile, &label) : PF_INTERN_NONE;
    label.flags = PF_LABEL_TIMES;
    const uint32_t times = ok ? pf_profile_label(c->profile, &label) : PF_INTERN_NONE;
    return values != PF_INTERN_NONE && times != PF_INTERN_NONE &&
           pf_profile_add(c->profile, values, PF_EMPTY_STACK, 1, step->value) &&
           pf_profile_add(c->profile, times, PF_EMPTY_STACK, step->enabled, step->running);
}

/* Adds the counts since the last round. */
static bool end_round(pf_counting *c, uint64_t time)
{
    bool ok = true;
    for (size_t i = 0; i < c->n_steps && ok; i++)
        ok = add_step(c, &c->steps[i], time);
    c->n_steps = 0;
    return ok;
}

/* Returns the count since the previous STAT.  A lower value means that the counter was
 * restarted. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

static bool put_stat(pf_counting *c, const perfile_record *r)
{
    perfile_stat v;
    if (perfile_stat_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    const perfile_event *event = perfile_record_event(r);
    const pf_counted key = {
        .event = event ? event->index : UINT32_MAX, .cpu = v.cpu, .thread = v.thread};
    const uint32_t number = pf_intern_add(&c->counters, &key);
    if (number == PF_INTERN_NONE)
        return false;
    if (c->n_steps == c->steps_cap) {
        const size_t cap = c->steps_cap ? c->steps_cap * 2 : 64;
        pf_counter_step *grown =
            pf_budget_realloc(&c->profile->budget, c->steps, c->steps_cap, cap, sizeof *grown);
        if (!grown)
            return false;
        c->steps = grown;
        c->steps_cap = cap;
    }
    pf_counted *counter = pf_intern_at(&c->counters, number);
    c->steps[c->n_steps++] =
        (pf_counter_step){number, since(v.val, counter->value), since(v.ena, counter->enabled),
                          since(v.run, counter->running)};
    counter->value = v.val;
    counter->enabled = v.ena;
    counter->running = v.run;
    return true;
}

/* Stores the thread list; STAT records refer to threads by index.  Returns false when out of
 * memory. */
static bool put_threads(pf_counting *c, const perfile_record *r)
{
    perfile_thread_map v;
    perfile_thread_map_entry entry;
    char comm[17];
    pf_budget *budget = &c->profile->budget;
    if (perfile_thread_map_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    pf_budget_free(budget, c->threads, c->n_threads, sizeof *c->threads);
    c->threads = pf_budget_alloc(budget, (size_t)v.entries.n, sizeof *c->threads);
    c->n_threads = c->threads ? (size_t)v.entries.n : 0;
    if (!c->threads)
        return false;
    for (size_t i = 0; i < c->n_threads && perfile_thread_map_entry_next(
                                               &v.entries, &entry, sizeof entry) == PERFILE_OK;
         i++) {
        const size_t n = strnlen((const char *)entry.comm.ptr,
                                 entry.comm.len < sizeof comm ? entry.comm.len : sizeof comm - 1);
        memcpy(comm, entry.comm.ptr, n);
        comm[n] = '\0';
        c->threads[i] = (pf_counter_thread){.tid = entry.pid < PERFILE_NO_PID ? (uint32_t)entry.pid
                                                                              : PERFILE_NO_PID,
                                            .comm = n ? pf_profile_text(c->profile, comm) : NULL};
        if (n && !c->threads[i].comm)
            return false;
    }
    return true;
}

static void put_config(pf_counting *c, const perfile_record *r)
{
    perfile_stat_config v;
    perfile_stat_setting setting;
    if (perfile_stat_config_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    while (perfile_stat_setting_next(&v.data, &setting, sizeof setting) == PERFILE_OK)
        if (setting.tag == SETTING_SCALE)
            c->unscaled = !setting.val;
}

perfile_status pf_counting_put(pf_counting *c, const perfile_record *r, perfile_error *err)
{
    perfile_stat_round round;
    bool ok = true;
    if (r->family != PERFILE_FAMILY_PERF)
        return PERFILE_OK;
    switch (r->type) {
    case PERFILE_RECORD_STAT:
        ok = put_stat(c, r);
        break;
    case PERFILE_RECORD_STAT_ROUND:
        if (perfile_stat_round_decode(r, &round, sizeof round, NULL) == PERFILE_OK)
            ok = end_round(c, round.time);
        break;
    case PERFILE_RECORD_THREAD_MAP:
        ok = put_threads(c, r);
        break;
    case PERFILE_RECORD_STAT_CONFIG:
        put_config(c, r);
        break;
    default:
        break;
    }
    return ok ? PERFILE_OK : pf_profile_fail(c->profile, err);
}

perfile_status pf_counting_end(pf_counting *c, perfile_error *err)
{
    bool ok = end_round(c, 0);
    const size_t n = c->counters.n ? pf_session_n_events(c->session) : 0;
    bool *counted = pf_budget_alloc(&c->profile->budget, n + 1, sizeof *counted);
    ok = ok && counted;
    for (uint32_t i = 0; ok && i < c->counters.n; i++) {
        const pf_counted *counter = pf_intern_at(&c->counters, i);
        if (counter->event < n)
            counted[counter->event] = true;
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        pf_label label = {.pid = PF_NO_LABEL, .tid = PF_NO_LABEL, .cpu = PF_NO_LABEL};
        if (counted[i])
            continue;
        label.event = event_text(c, i, &ok);
        const uint32_t number = ok ? pf_profile_label(c->profile, &label) : PF_INTERN_NONE;
        ok = number != PF_INTERN_NONE && pf_profile_add(c->profile, number, PF_EMPTY_STACK, 0, 0);
    }
    pf_budget_free(&c->profile->budget, counted, n + 1, sizeof *counted);
    return ok ? PERFILE_OK : pf_profile_fail(c->profile, err);
}
