/* Counting of the records for `info`.
 *
 * Runs of samples take a fast path: times and processors are fetched for the whole run by
 * perfile_sample_fields().  All other records are counted one by one. */
#include <stdlib.h>

#include "cli/info/info.h"

bool cli_info_grow_events(cli_info_facts *x, uint32_t n)
{
    if (n <= x->n_events)
        return true;
    cli_event_counts *events = realloc(x->events, n * sizeof *events);
    if (!events)
        return false;
    for (uint32_t i = x->n_events; i < n; i++)
        events[i] = (cli_event_counts){0};
    x->events = events;
    x->n_events = n;
    return true;
}

/* Returns the counts for the event of `r`, x->other if it has none, NULL if there is no memory. The
 * array grows with the session, which may get more events while the records are read. */
static cli_event_counts *counts_of(cli_info_facts *x, const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    if (!e)
        return &x->other;
    if (e->index >= x->n_events && !cli_info_grow_events(x, perfile_session_n_events(x->session)))
        return NULL;
    return &x->events[e->index];
}

/* Widens first and last.  Time 0 does not count: synthesized records have it. */
void cli_info_widen(cli_info_facts *x, uint64_t time)
{
    if (time == PERFILE_NO_TIME || time == 0)
        return;
    if (x->first == PERFILE_NO_TIME || time < x->first)
        x->first = time;
    if (x->last == PERFILE_NO_TIME || time > x->last)
        x->last = time;
}

/* Marks a processor as seen; numbers beyond the bit map are ignored. */
void cli_info_mark_cpu(cli_info_facts *x, uint32_t cpu)
{
    if (cpu >= sizeof x->cpu_seen * 8)
        return;
    uint8_t bit = (uint8_t)(1 << (cpu & 7));
    x->n_cpus += !(x->cpu_seen[cpu / 8] & bit);
    x->cpu_seen[cpu / 8] |= bit;
}

/* Counts what a record of the tool (type 64 and up) stands for: AUX data, compression, rounds. */
static void feed_tool_record(cli_info_facts *x, const perfile_record *r)
{
    perfile_auxtrace auxtrace;
    switch (r->type) {
    case PERFILE_RECORD_AUXTRACE:
        if (perfile_auxtrace_decode(r, &auxtrace, sizeof auxtrace, NULL) == PERFILE_OK)
            x->aux_bytes += r->extra.len;
        break;
    case PERFILE_RECORD_COMPRESSED:
    case PERFILE_RECORD_COMPRESSED2:
        x->compressed_records++;
        x->compressed_bytes += perfile_record_size(r);
        break;
    case PERFILE_RECORD_FINISHED_ROUND:
        x->rounds++;
        break;
    default:
        break;
    }
}

/* Counts one record; false if there is no memory. */
static bool feed_record(cli_info_facts *x, const perfile_record *r)
{
    /* Records of the tool have no event, time or processor of their own. */
    if (r->family == PERFILE_FAMILY_PERF && r->type >= PERFILE_RECORD_USER) {
        cli_losses_feed(&x->losses, r);
        feed_tool_record(x, r);
        return true;
    }
    cli_event_counts *counts = counts_of(x, r);
    if (!counts)
        return false;
    counts->records++;
    if (r->type == PERFILE_RECORD_SAMPLE) {
        counts->samples++;
        x->samples++;
    } else {
        cli_losses_feed(&x->losses, r);
    }
    cli_info_widen(x, perfile_record_time(r));
    uint32_t cpu;
    if (perfile_record_cpu(r, &cpu))
        cli_info_mark_cpu(x, cpu);
    return true;
}

/* Adds a run of samples to the counts of their events. */
static bool count_samples(cli_info_facts *x, const perfile_record *first, size_t n)
{
    /* With a single event all samples are its own. */
    size_t step = perfile_session_n_events(x->session) == 1 ? n : 1;
    for (size_t i = 0; i < n; i += step) {
        cli_event_counts *counts = counts_of(x, &first[i]);
        if (!counts)
            return false;
        counts->records += step;
        counts->samples += step;
    }
    x->samples += n;
    return true;
}

/* Takes in a run of samples: their times, processors and events. */
static bool feed_samples(cli_info_facts *x, const perfile_record *first, size_t n)
{
    uint64_t times[PERFILE_RUN_RECORDS], cpus[PERFILE_RUN_RECORDS];
    size_t n_times = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
    size_t n_cpus = perfile_sample_fields(first, n, PERFILE_SAMPLE_CPU, cpus, NULL);
    for (size_t i = 0; i < n_times; i++)
        cli_info_widen(x, times[i]);
    for (size_t i = 0; i < n_cpus; i++)
        if (i == 0 || cpus[i] != cpus[i - 1]) /* runs are often from one processor */
            cli_info_mark_cpu(x, (uint32_t)cpus[i]);
    return count_samples(x, first, n);
}

bool cli_info_feed(cli_info_facts *x, const perfile_record *first, size_t n)
{
    if (!cli_feed_run(&x->in, x->model, first, n))
        return false;
    for (size_t i = 0, samples; i < n; i += samples ? samples : 1) {
        samples = cli_leading_samples(first + i, n - i);
        if (samples ? !feed_samples(x, first + i, samples) : !feed_record(x, &first[i]))
            return false;
    }
    return true;
}
