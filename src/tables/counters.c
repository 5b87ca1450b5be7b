/* Rows of lost, aux and counters.
 *
 * STAT records have no time of their own: they wait for the following STAT_ROUND.  Those after the
 * last STAT_ROUND are the totals of the recording and have no time. */

#include "base/alloc.h"
#include "perfile/abi.h"
#include "perfile/field.h"
#include "perfile/records.h"
#include "tables/tables.h"

/* A counter's value. */
typedef struct counter {
    uint64_t record; /* perfile_record.sequence */
    uint64_t value, enabled, running;
    uint32_t event;    /* its index; UINT32_MAX: unknown */
    uint32_t cpu, tid; /* PF_NO_LABEL, PERFILE_NO_PID: all, or unknown */
    bool has_enabled, has_running;
} counter;

typedef struct pf_counters_maker {
    counter *waiting; /* STAT records without a time; charged to the profile's budget */
    size_t n_waiting, waiting_cap;
    uint32_t *threads; /* by index in THREAD_MAP: tid; charged likewise */
    size_t n_threads;
} pf_counters_maker;

static bool begin(pf_tables *x)
{
    x->counters = pf_alloc(1, sizeof *x->counters);
    return x->counters;
}

static void close_maker(pf_tables *x)
{
    pf_counters_maker *m = x->counters;
    pf_budget *budget = &x->x.profile.budget;
    if (!m)
        return;
    pf_budget_free(budget, m->waiting, m->waiting_cap, sizeof *m->waiting);
    pf_budget_free(budget, m->threads, m->n_threads, sizeof *m->threads);
    pf_free(m);
    x->counters = NULL;
}

/* Lost and aux. */

/* Fills in the columns that both tables begin with; `first` is the column of the capture. */
static void put_record(pf_tables *x, pf_table_column *first, const pf_profiled *about)
{
    uint32_t pid, tid;
    const bool known = perfile_record_task(about->record, &pid, &tid);
    pf_put_capture(x, &first[0]);
    pf_column_number(&first[1], about->record->sequence);
    pf_put_time(&first[2], about->time);
    pf_put_cpu(&first[3], about->cpu);
    pf_put_task(&first[4], &first[5], about, known);
}

/* Makes a row of lost.  `lost` is NULL if the number is unknown. */
static bool put_lost(pf_tables *x, const pf_profiled *about, const perfile_event *event,
                     const char *kind, const uint64_t *lost)
{
    bool ok = true;
    if (!pf_table_wanted(x, PF_TABLE_lost))
        return true;
    put_record(x, PF_COLUMN(x, lost, capture_id), about);
    pf_column_same_text(PF_COLUMN(x, lost, event),
                        pf_profile_reader_event(&x->x.reader, event, &ok));
    pf_column_same_text(PF_COLUMN(x, lost, kind), kind);
    if (lost)
        pf_put_number(PF_COLUMN(x, lost, lost), *lost);
    return ok && pf_table_row(x, &x->at[PF_TABLE_lost]);
}

static bool note_lost(pf_tables *x, const pf_profiled *about)
{
    perfile_lost v;
    if (perfile_lost_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    const perfile_event *event =
        about->event ? about->event : perfile_session_event_by_id(x->session, v.id);
    return put_lost(x, about, event, "records", &v.lost);
}

static bool note_lost_samples(pf_tables *x, const pf_profiled *about)
{
    perfile_lost_samples v;
    return perfile_lost_samples_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK ||
           put_lost(x, about, about->event, "samples", &v.lost);
}

static bool note_aux(pf_tables *x, const pf_profiled *about)
{
    enum { TRUNCATED = 1 };
    perfile_aux v;
    if (perfile_aux_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    if (v.flags & TRUNCATED && !put_lost(x, about, about->event, "aux", NULL))
        return false;
    if (!pf_table_wanted(x, PF_TABLE_aux))
        return true;
    put_record(x, PF_COLUMN(x, aux, capture_id), about);
    pf_column_number(PF_COLUMN(x, aux, offset), v.aux_offset);
    pf_put_number(PF_COLUMN(x, aux, bytes), v.aux_size);
    pf_put_bits(PF_COLUMN(x, aux, flags), "aux_flags", v.flags);
    return pf_table_row(x, &x->at[PF_TABLE_aux]);
}

/* Counters. */

/* Writes the value that the counter would have if it had always counted; nothing if it never
 * did. */
static void put_scaled(pf_table_column *c, const counter *v, double scale)
{
    double value = (double)v->value * scale;
    if (v->has_enabled && v->has_running) {
        if (!v->running)
            return;
        value *= (double)v->enabled / (double)v->running;
    }
    pf_column_double(c, value);
}

/* Makes the row of a value.  The caller fills in pid, which not all sources have. */
static bool put_counter(pf_tables *x, const counter *v, uint64_t time, const char *source)
{
    bool ok = true;
    const perfile_event *event =
        v->event != UINT32_MAX ? perfile_session_event(x->session, v->event) : NULL;
    pf_put_capture(x, PF_COLUMN(x, counters, capture_id));
    pf_column_number(PF_COLUMN(x, counters, record), v->record);
    pf_put_time(PF_COLUMN(x, counters, time), time);
    if (event) {
        pf_column_same_text(PF_COLUMN(x, counters, event),
                            pf_profile_reader_event(&x->x.reader, event, &ok));
        pf_column_number(PF_COLUMN(x, counters, event_index), event->index);
        pf_column_text(PF_COLUMN(x, counters, unit), event->unit);
    }
    pf_put_cpu(PF_COLUMN(x, counters, cpu), v->cpu);
    pf_put_number(PF_COLUMN(x, counters, value), v->value);
    if (v->has_enabled)
        pf_put_number(PF_COLUMN(x, counters, enabled), v->enabled);
    if (v->has_running)
        pf_put_number(PF_COLUMN(x, counters, running), v->running);
    put_scaled(PF_COLUMN(x, counters, scaled), v, event ? event->scale : 1);
    pf_column_same_text(PF_COLUMN(x, counters, source), source);
    return ok && pf_table_row(x, &x->at[PF_TABLE_counters]);
}

/* Makes the row of a value of a READ record or a sample.  The event belongs to the id if there is
 * one, otherwise to the record. */
static bool put_value(pf_tables *x, const pf_profiled *about, counter v, const uint64_t *id)
{
    const bool sample = about->record->type == PERFILE_RECORD_SAMPLE;
    const perfile_event *event = id ? perfile_session_event_by_id(x->session, *id) : about->event;
    const bool has_task =
        !sample || (about->event && about->event->attr->sample_type & PERFILE_SAMPLE_TID);
    v.record = about->record->sequence;
    v.event = event ? event->index : UINT32_MAX;
    v.cpu = sample ? about->cpu : PF_NO_LABEL;
    pf_put_task(PF_COLUMN(x, counters, pid), PF_COLUMN(x, counters, tid), about, has_task);
    return put_counter(x, &v, about->time, sample ? "sample" : "read");
}

static bool put_values(pf_tables *x, const pf_profiled *about, const perfile_read_values *values)
{
    perfile_read_entry entry;
    counter v = {.value = values->value,
                 .enabled = values->time_enabled,
                 .running = values->time_running,
                 .has_enabled = values->has_time_enabled,
                 .has_running = values->has_time_running};
    if (values->has_value)
        return put_value(x, about, v, values->has_id ? &values->id : NULL);
    if (!values->has_cntr)
        return true;
    perfile_list list = values->cntr;
    bool ok = true;
    while (ok && perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK) {
        v.value = entry.value;
        ok = put_value(x, about, v, entry.has_id ? &entry.id : NULL);
    }
    return ok;
}

static bool sample(pf_tables *x, const pf_profiled *s)
{
    perfile_sample v;
    if (!pf_table_wanted(x, PF_TABLE_counters) || !s->event ||
        !(s->event->attr->sample_type & PERFILE_SAMPLE_READ) ||
        perfile_sample_decode(s->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    return put_values(x, s, &v.values);
}

static bool note_read(pf_tables *x, const pf_profiled *about)
{
    perfile_read v;
    pf_profiled of = *about;
    if (perfile_read_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    of.pid = v.pid;
    of.tid = v.tid;
    return put_values(x, &of, &v.values);
}

/* STAT records. */

static bool note_stat(pf_tables *x, const pf_profiled *about)
{
    pf_counters_maker *m = x->counters;
    perfile_stat v;
    if (perfile_stat_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    if (m->n_waiting == m->waiting_cap) {
        const size_t cap = m->waiting_cap ? 2 * m->waiting_cap : 64;
        counter *grown =
            pf_budget_realloc(&x->x.profile.budget, m->waiting, m->waiting_cap, cap, sizeof *grown);
        if (!grown)
            return false;
        m->waiting = grown;
        m->waiting_cap = cap;
    }
    m->waiting[m->n_waiting++] =
        (counter){.record = about->record->sequence,
                  .value = v.val,
                  .enabled = v.ena,
                  .running = v.run,
                  .event = about->event ? about->event->index : UINT32_MAX,
                  .cpu = v.cpu,
                  .tid = v.thread < m->n_threads ? m->threads[v.thread] : PERFILE_NO_PID,
                  .has_enabled = true,
                  .has_running = true};
    return true;
}

/* Completes the values since the previous round with this time. */
static bool end_round(pf_tables *x, uint64_t time)
{
    pf_counters_maker *m = x->counters;
    bool ok = true;
    for (size_t i = 0; i < m->n_waiting && ok; i++) {
        if (m->waiting[i].tid != PERFILE_NO_PID)
            pf_column_number(PF_COLUMN(x, counters, tid), m->waiting[i].tid);
        ok = put_counter(x, &m->waiting[i], time, "stat");
    }
    m->n_waiting = 0;
    return ok;
}

static bool note_round(pf_tables *x, const pf_profiled *about)
{
    perfile_stat_round v;
    return perfile_stat_round_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK ||
           end_round(x, v.time);
}

/* Stores the thread list.  STAT records refer to threads by their index; all ones means all
 * threads. */
static bool note_threads(pf_tables *x, const pf_profiled *about)
{
    pf_counters_maker *m = x->counters;
    pf_budget *budget = &x->x.profile.budget;
    perfile_thread_map v;
    perfile_thread_map_entry entry;
    if (perfile_thread_map_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    pf_budget_free(budget, m->threads, m->n_threads, sizeof *m->threads);
    /* The size of the record limits the number. */
    const size_t most = about->record->body.len / sizeof(uint64_t);
    const size_t n = v.entries.n < most ? (size_t)v.entries.n : most;
    m->threads = pf_budget_alloc(budget, n, sizeof *m->threads);
    m->n_threads = m->threads ? n : 0;
    if (!m->threads)
        return false;
    for (size_t i = 0; i < m->n_threads; i++) {
        const bool there =
            perfile_thread_map_entry_next(&v.entries, &entry, sizeof entry) == PERFILE_OK;
        m->threads[i] = there && entry.pid < PERFILE_NO_PID ? (uint32_t)entry.pid : PERFILE_NO_PID;
    }
    return true;
}

static bool note(pf_tables *x, const pf_profiled *about)
{
    static const struct {
        uint32_t type;
        bool counters;
        bool (*note)(pf_tables *x, const pf_profiled *about);
    } notes[] = {{PERFILE_RECORD_LOST, false, note_lost},
                 {PERFILE_RECORD_LOST_SAMPLES, false, note_lost_samples},
                 {PERFILE_RECORD_AUX, false, note_aux},
                 {PERFILE_RECORD_READ, true, note_read},
                 {PERFILE_RECORD_STAT, true, note_stat},
                 {PERFILE_RECORD_STAT_ROUND, true, note_round},
                 {PERFILE_RECORD_THREAD_MAP, true, note_threads}};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (about->record->type == notes[i].type)
            return (notes[i].counters && !pf_table_wanted(x, PF_TABLE_counters)) ||
                   notes[i].note(x, about);
    return true;
}

static bool end(pf_tables *x)
{
    return !pf_table_wanted(x, PF_TABLE_counters) || end_round(x, PERFILE_NO_TIME);
}

const pf_table_maker pf_make_counters = {
    .begin = begin, .sample = sample, .note = note, .end = end, .close = close_maker};
