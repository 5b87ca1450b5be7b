#include <stdlib.h>

#include "cli/info.h"

enum { AUX_TRUNCATED = 1 };

static cli_event_counts *counts_of(cli_found *x, const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    if (!e)
        return &x->other;
    if (e->index < x->n_events)
        return &x->events[e->index];
    uint32_t n = perfile_session_n_events(x->session);
    cli_event_counts *events = realloc(x->events, n * sizeof *events);
    if (!events)
        return NULL;
    for (uint32_t i = x->n_events; i < n; i++)
        events[i] = (cli_event_counts){0};
    x->events = events;
    x->n_events = n;
    return &x->events[e->index];
}

static void feed_time(cli_found *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    if (time == PERFILE_NO_TIME || time == 0)
        return;
    if (x->first == PERFILE_NO_TIME || time < x->first)
        x->first = time;
    if (x->last == PERFILE_NO_TIME || time > x->last)
        x->last = time;
}

static void feed_cpu(cli_found *x, const perfile_record *r)
{
    uint32_t cpu;
    if (!perfile_record_cpu(r, &cpu) || cpu >= sizeof x->cpu_seen * 8)
        return;
    uint8_t bit = (uint8_t)(1 << (cpu & 7));
    x->n_cpus += !(x->cpu_seen[cpu / 8] & bit);
    x->cpu_seen[cpu / 8] |= bit;
}

/* What got lost on the way to the file, and what the file has besides samples. */
static void feed_loss(cli_found *x, const perfile_record *r)
{
    perfile_lost lost;
    perfile_lost_samples samples;
    perfile_aux aux;
    perfile_auxtrace auxtrace;
    switch (r->type) {
    case PERFILE_RECORD_LOST:
        if (perfile_lost_decode(r, &lost, sizeof lost, NULL) == PERFILE_OK)
            x->lost_records += lost.lost;
        break;
    case PERFILE_RECORD_LOST_SAMPLES:
        if (perfile_lost_samples_decode(r, &samples, sizeof samples, NULL) == PERFILE_OK)
            x->lost_samples += samples.lost;
        break;
    case PERFILE_RECORD_THROTTLE:
        x->throttles++;
        break;
    case PERFILE_RECORD_UNTHROTTLE:
        x->unthrottles++;
        break;
    case PERFILE_RECORD_AUX:
        if (perfile_aux_decode(r, &aux, sizeof aux, NULL) == PERFILE_OK)
            x->aux_truncated += aux.flags & AUX_TRUNCATED;
        break;
    case PERFILE_RECORD_AUXTRACE:
        if (perfile_auxtrace_decode(r, &auxtrace, sizeof auxtrace, NULL) == PERFILE_OK)
            x->aux_bytes += r->extra.len;
        break;
    case PERFILE_RECORD_AUXTRACE_ERROR:
        x->auxtrace_errors++;
        break;
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
        x->map_timeouts += (r->misc & PERFILE_MISC_PROC_MAP_TIMEOUT) != 0;
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

bool cli_info_feed(cli_found *x, const perfile_record *r)
{
    if (perfile_model_feed(x->model, r, NULL) != PERFILE_OK)
        return false;
    if (r->type >= PERFILE_RECORD_USER) {
        feed_loss(x, r);
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
        feed_loss(x, r);
    }
    feed_time(x, r);
    feed_cpu(x, r);
    return true;
}
