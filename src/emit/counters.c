/* Counter values (see counters.h).  An event has a counter for each thread and processor that it
 * was opened for, of which the id of the value tells the processor. */
#include "emit/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "perfile/session.h"

/* A value as it stands in a record. */
typedef struct stored {
    uint64_t value, id;
    bool has_id;
    size_t position; /* in its group */
} stored;

/* The name of a counter; NULL if there is no memory or the limit is exceeded. */
static const char *name_of(pf_counters *c, pf_profile *p, const pf_profiled *about, const stored *v)
{
    const perfile_session *s = about->record->session;
    const perfile_event *event =
        v->has_id && s ? perfile_session_event_by_id(s, v->id) : about->event;
    perfile_instance instance;
    char more[64] = "";
    if (v->has_id && s && perfile_session_instance(s, v->id, &instance, sizeof instance) &&
        instance.cpu < UINT32_MAX)
        snprintf(more, sizeof more, " cpu %" PRIu64, instance.cpu);
    else if (about->record->type == PERFILE_RECORD_STAT && about->cpu < UINT32_MAX)
        snprintf(more, sizeof more, " cpu %" PRIu32, about->cpu);
    if (!v->has_id && v->position)
        snprintf(more, sizeof more, " #%zu", v->position);
    if (about->tid != about->pid)
        snprintf(more + strlen(more), sizeof more - strlen(more), " tid %" PRId32,
                 (int32_t)about->tid);
    pf_buffer_clear(&c->name);
    if (!pf_name_text(event ? event->name : "counter", PF_NAME_MOST, &c->name) ||
        !pf_buffer_append(&c->name, more, strlen(more) + 1))
        return NULL;
    return pf_profile_text(p, (const char *)c->name.ptr);
}

static bool add(pf_counters *c, pf_profile *p, const pf_profiled *about, const stored *v)
{
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 256;
        pf_counter *at = pf_budget_realloc(&p->budget, c->at, c->cap, cap, sizeof *at);
        if (!at)
            return false;
        c->at = at;
        c->cap = cap;
    }
    c->at[c->n] = (pf_counter){.time = about->time,
                               .value = v->value,
                               .sequence = c->n,
                               .name = name_of(c, p, about, v),
                               .pid = about->pid};
    c->at[c->n].since_start = about->record->type == PERFILE_RECORD_STAT;
    return c->at[c->n++].name;
}

static bool add_values(pf_counters *c, pf_profile *p, const pf_profiled *about,
                       const perfile_read_values *values)
{
    perfile_read_entry entry;
    stored v = {values->value, values->id, values->has_id, 0};
    bool ok = true;
    if (values->has_value)
        return add(c, p, about, &v);
    if (!values->has_cntr)
        return true;
    perfile_list list = values->cntr;
    for (; ok && perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK; v.position++) {
        v.value = entry.value;
        v.id = entry.id;
        v.has_id = entry.has_id;
        ok = add(c, p, about, &v);
    }
    return ok;
}

static bool add_stat(pf_counters *c, pf_profile *p, const pf_profiled *about)
{
    perfile_stat stat;
    pf_profiled of = *about;
    if (perfile_stat_decode(about->record, &stat, sizeof stat, NULL) != PERFILE_OK)
        return true;
    const stored v = {stat.val, stat.id, true, 0};
    of.time = PERFILE_NO_TIME;
    of.cpu = stat.cpu;
    of.pid = of.tid = PERFILE_NO_PID;
    return add(c, p, &of, &v);
}

/* The values of the STAT records since the round before are of this time. */
static void set_round(pf_counters *c, uint64_t time)
{
    for (size_t i = c->n_timed; i < c->n; i++)
        if (c->at[i].since_start)
            c->at[i].time = time;
    c->n_timed = c->n;
    c->round = time;
}

bool pf_counters_add(pf_counters *c, pf_profile *p, const pf_profiled *about)
{
    const perfile_record *r = about->record;
    union {
        perfile_sample sample;
        perfile_read read;
        perfile_stat_round round;
    } v;
    switch (r->type) {
    case PERFILE_RECORD_SAMPLE:
        if (perfile_sample_decode(r, &v.sample, sizeof v.sample, NULL) != PERFILE_OK ||
            !(v.sample.present & PERFILE_SAMPLE_READ))
            return true;
        return add_values(c, p, about, &v.sample.values);
    case PERFILE_RECORD_READ:
        return perfile_read_decode(r, &v.read, sizeof v.read, NULL) != PERFILE_OK ||
               add_values(c, p, about, &v.read.values);
    case PERFILE_RECORD_STAT:
        return add_stat(c, p, about);
    case PERFILE_RECORD_STAT_ROUND:
        if (perfile_stat_round_decode(r, &v.round, sizeof v.round, NULL) == PERFILE_OK)
            set_round(c, v.round.time);
        return true;
    default:
        return true;
    }
}

static int by_time(const void *a, const void *b)
{
    const pf_counter *x = a, *y = b;
    if (x->since_start != y->since_start)
        return x->since_start ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The totals at the end of a recording have no round of their own. */
void pf_counters_sort(pf_counters *c)
{
    set_round(c, c->round);
    if (c->n)
        qsort(c->at, c->n, sizeof *c->at, by_time);
}

void pf_counters_free(pf_counters *c)
{
    pf_free(c->at);
    pf_buffer_free(&c->name);
}
