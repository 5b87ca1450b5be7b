/* Captures of `perf stat record`.  After each round perf prints a line for each counter of each
 * thread and CPU, with the last count in a STAT record, or 0 if there was none.
 *
 * To prevent a capture of a few bytes from making unlimited text, lines of counters without a STAT
 * in the round are limited to MOST_PER_STAT times the counters with one, plus SPARE lines for the
 * whole capture.  In rounds that would exceed this they are left out (format/limits.md). */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "perfile/session.h"
#include "script/script.h"
#include "core/command.h"

enum { MOST_PER_STAT = 16, SPARE = 1 << 18 };

/* Numbers of STAT_CONFIG. */
enum { TAG_MODE = 0, TAG_SCALE = 2, MODE_GLOBAL = 1, MODE_UNSET = 6 };

/* A counter of an event.  The key is everything before `value`. */
typedef struct pf_script_cell {
    uint32_t event;
    int32_t cpu; /* -1: any */
    uint32_t thread;
    uint32_t zero;                    /* part of the key */
    uint64_t value, enabled, running; /* of the last STAT, or as printed since then */
    uint64_t before[3];               /* values in the round before, as perf computes it */
    uint64_t pending;                 /* 1: its number is in `updated` */
} pf_script_cell;

/* A range of pf_script_counts.cpus. */
typedef struct pf_script_span {
    size_t at, n;
} pf_script_span;

void pf_script_counts_begin(pf_script *x)
{
    x->rounds = (pf_script_counts){.cells = {.seed = x->profile.texts.seed,
                                             .budget = &x->profile.budget,
                                             .width = sizeof(pf_script_cell),
                                             .key = offsetof(pf_script_cell, value)},
                                   .by_counter = true,
                                   .spare = SPARE};
}

void pf_script_counts_free(pf_script *x)
{
    pf_intern_free(&x->rounds.cells);
    pf_buffer_free(&x->rounds.updated);
    pf_buffer_free(&x->rounds.cpus);
    pf_buffer_free(&x->rounds.threads);
    pf_buffer_free(&x->rounds.events);
}

/* Appends the CPUs of a map in the map's order; -1 means any. */
static bool put_cpus(pf_buffer *out, const perfile_cpu_map_data *map)
{
    bool ok = true;
    int32_t cpu = -1;
    for (size_t i = 0; map->is_list && i < map->cpu.n && ok; i++) {
        const uint64_t number = perfile_word(&map->cpu, i);
        cpu = number == UINT16_MAX ? -1 : (int32_t)number;
        ok = pf_buffer_append(out, &cpu, sizeof cpu);
    }
    if (map->is_range && map->any_cpu)
        ok = pf_buffer_append(out, &cpu, sizeof cpu);
    for (cpu = map->start_cpu; map->is_range && cpu <= map->end_cpu && ok; cpu++)
        ok = pf_buffer_append(out, &cpu, sizeof cpu);
    const unsigned bits = map->mask.width * 8U;
    for (size_t i = 0; map->has_mask && i < map->mask.n * bits && ok; i++)
        if (perfile_word(&map->mask, i / bits) >> i % bits & 1) {
            cpu = (int32_t)i;
            ok = pf_buffer_append(out, &cpu, sizeof cpu);
        }
    return ok;
}

static const int32_t *cpus_of(const pf_script_counts *c)
{
    return (const int32_t *)(const void *)c->cpus.ptr;
}

/* Determines the CPUs of each event, after all maps have been read. */
static bool plan_events(pf_script *x)
{
    pf_script_counts *c = &x->rounds;
    const uint32_t n = pf_session_n_events(x->base.session);
    const bool any = c->n_cpus && cpus_of(c)[0] == -1;
    bool ok = true;
    c->planned = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        const perfile_cpu_map_data *own = perfile_session_event(x->base.session, i)->cpus;
        pf_script_span span = {0, c->n_cpus};
        if (own && !any) {
            span.at = c->cpus.len / sizeof(int32_t);
            ok = put_cpus(&c->cpus, own);
            span.n = c->cpus.len / sizeof(int32_t) - span.at;
        }
        ok = ok && pf_buffer_append(&c->events, &span, sizeof span);
    }
    return ok;
}

static bool put_threads(pf_script_counts *c, const perfile_record *r)
{
    perfile_thread_map v;
    perfile_thread_map_entry entry;
    bool ok = true;
    if (c->has_threads || perfile_thread_map_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    c->has_threads = true;
    while (ok && perfile_thread_map_entry_next(&v.entries, &entry, sizeof entry) == PERFILE_OK) {
        const int32_t tid = (int32_t)(uint32_t)entry.pid;
        ok = pf_buffer_append(&c->threads, &tid, sizeof tid);
    }
    return ok;
}

static bool put_map(pf_script_counts *c, const perfile_record *r)
{
    perfile_cpu_map v;
    if (c->has_cpus || perfile_cpu_map_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    c->has_cpus = true;
    const bool ok = put_cpus(&c->cpus, &v.cpus);
    c->n_cpus = c->cpus.len / sizeof(int32_t);
    return ok;
}

/* Reads the settings.  Counts summed over all CPUs and threads are printed as stored. */
static void put_config(pf_script_counts *c, const perfile_record *r)
{
    perfile_stat_config v;
    perfile_stat_setting setting;
    uint64_t mode = 0, scale = 0;
    if (perfile_stat_config_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    while (perfile_stat_setting_next(&v.data, &setting, sizeof setting) == PERFILE_OK) {
        mode = setting.tag == TAG_MODE ? setting.val : mode;
        scale = setting.tag == TAG_SCALE ? setting.val : scale;
    }
    c->by_counter = mode != MODE_GLOBAL && mode != MODE_UNSET;
    c->scaled = scale;
}

static bool put_stat(pf_script_counts *c, const perfile_record *r)
{
    perfile_stat v;
    const perfile_event *event = perfile_record_event(r);
    if (!event || perfile_stat_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    const pf_script_cell key = {.event = event->index, .cpu = (int32_t)v.cpu, .thread = v.thread};
    const uint32_t number = pf_intern_add(&c->cells, &key);
    if (number == PF_INTERN_NONE)
        return false;
    pf_script_cell *cell = pf_intern_at(&c->cells, number);
    cell->value = v.val;
    cell->enabled = v.ena;
    cell->running = v.run;
    if (cell->pending)
        return true;
    cell->pending = 1;
    return pf_buffer_append(&c->updated, &number, sizeof number);
}

/* Extrapolates a count to the time that the counter was not on the PMU. */
static void scale(pf_script_cell *cell)
{
    if (!cell->running) {
        cell->value = 0;
    } else if (cell->running < cell->enabled) {
        const double v = (double)cell->value * (double)cell->enabled / (double)cell->running;
        cell->value = v < 0x1p64 ? (uint64_t)v : UINT64_MAX;
    }
}

/* Computes the increase of a counter since the round before. */
static void subtract(pf_script_cell *cell)
{
    uint64_t *const now[] = {&cell->value, &cell->enabled, &cell->running};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t before = cell->before[i];
        cell->before[i] = *now[i];
        *now[i] -= before;
    }
}

static bool put_line(pf_script *x, pf_script_cell *cell, int32_t tid, uint64_t time)
{
    const char *name = perfile_session_event(x->base.session, cell->event)->name;
    if (x->rounds.by_counter)
        subtract(cell);
    if (x->rounds.by_counter && x->rounds.scaled)
        scale(cell);
    cell->pending = 0;
    return pf_script_printf(&x->line,
                            "%3" PRId32 " %8" PRId32 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64
                            " %15" PRIu64 " ",
                            cell->cpu, tid, cell->value, cell->enabled, cell->running, time) &&
           pf_script_put_text(&x->line, name, strlen(name), PF_NAME_MOST) &&
           pf_buffer_append_u8(&x->line, '\n');
}

/* Appends the lines of one event. */
static bool put_event(pf_script *x, uint32_t event, uint64_t time)
{
    pf_script_counts *c = &x->rounds;
    const pf_script_span span = ((const pf_script_span *)(const void *)c->events.ptr)[event];
    const int32_t *tids = (const int32_t *)(const void *)c->threads.ptr;
    const size_t n_threads = c->threads.len / sizeof *tids;
    bool ok = true;
    for (size_t t = 0; t < n_threads && ok; t++)
        for (size_t i = 0; i < span.n && ok; i++) {
            const pf_script_cell key = {
                .event = event, .cpu = cpus_of(c)[span.at + i], .thread = (uint32_t)t};
            const uint32_t number = pf_intern_add(&c->cells, &key);
            ok = number != PF_INTERN_NONE &&
                 put_line(x, pf_intern_at(&c->cells, number), tids[t], time);
        }
    return ok;
}

/* Appends the lines of counters with a STAT in this round, in stream order. */
static bool put_updated(pf_script *x, uint64_t time)
{
    pf_script_counts *c = &x->rounds;
    const uint32_t *numbers = (const uint32_t *)(const void *)c->updated.ptr;
    const int32_t *tids = (const int32_t *)(const void *)c->threads.ptr;
    bool ok = true;
    for (size_t i = 0; i < c->updated.len / sizeof *numbers && ok; i++) {
        pf_script_cell *cell = pf_intern_at(&c->cells, numbers[i]);
        cell->pending = 0;
        if (cell->thread < c->threads.len / sizeof *tids)
            ok = put_line(x, cell, tids[cell->thread], time);
    }
    return ok;
}

/* Returns true if all counters may have a line in this round. */
static bool affords_all(pf_script_counts *c)
{
    const pf_script_span *spans = (const pf_script_span *)(const void *)c->events.ptr;
    const uint64_t paid = MOST_PER_STAT * (uint64_t)(c->updated.len / sizeof(uint32_t));
    uint64_t lines = 0;
    for (size_t i = 0; i < c->events.len / sizeof *spans; i++) {
        lines += spans[i].n * (uint64_t)(c->threads.len / sizeof(int32_t));
        if (lines > paid + c->spare)
            return false;
    }
    c->spare -= lines > paid ? lines - paid : 0;
    return true;
}

static bool put_round(pf_script *x, uint64_t time)
{
    static const char title[] =
        "CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n";
    pf_script_counts *c = &x->rounds;
    bool ok = true;
    if (!c->has_cpus || !c->has_threads)
        return true;
    if (!c->planned)
        ok = plan_events(x);
    if (ok && !x->has_title)
        ok = pf_buffer_append(&x->line, title, sizeof title - 1);
    x->has_title = true;
    if (ok && affords_all(c)) {
        for (uint32_t i = 0; i < c->events.len / sizeof(pf_script_span) && ok; i++)
            ok = put_event(x, i, time);
    } else {
        ok = ok && put_updated(x, time);
    }
    pf_buffer_clear(&c->updated);
    return ok;
}

perfile_status pf_script_put_counts(pf_script *x, const perfile_record *r, perfile_error *err)
{
    perfile_stat_round round;
    bool ok = true;
    pf_buffer_clear(&x->line);
    switch (r->type) {
    case PERFILE_RECORD_STAT:
        ok = put_stat(&x->rounds, r);
        break;
    case PERFILE_RECORD_STAT_ROUND:
        if (perfile_stat_round_decode(r, &round, sizeof round, NULL) == PERFILE_OK)
            ok = put_round(x, round.time);
        break;
    case PERFILE_RECORD_THREAD_MAP:
        ok = put_threads(&x->rounds, r);
        break;
    case PERFILE_RECORD_CPU_MAP:
        ok = put_map(&x->rounds, r);
        break;
    case PERFILE_RECORD_STAT_CONFIG:
        put_config(&x->rounds, r);
        break;
    default:
        break;
    }
    return ok ? PERFILE_OK : pf_profile_fail(&x->profile, err);
}
