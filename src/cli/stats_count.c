#include "cli/stats_key.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/command.h"

enum { HELD = 1 << 16, N_TYPES = 256 };

/* A record of a stream that cannot be read twice: it waits until the names of its round are known.
 */
typedef struct cli_held {
    uint64_t key[CLI_MAX_KEYS];
    uint64_t bytes;
    uint64_t time;
    uint32_t pid, tid;
} cli_held;

void cli_counts_start(cli_counts *counts, const cli_keys *keys)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    *counts = (cli_counts){.keys = keys, .groups = {.n_keys = keys->n}};
    counts->groups.seed = ((uint64_t)t.tv_nsec << 32 | 1) * 0x9e3779b97f4a7c15;
}

void cli_counts_end(cli_counts *counts)
{
    perfile_model_close(counts->model);
    perfile_stream_close(counts->sideband.stream);
    cli_groups_free(&counts->groups);
    free(counts->held);
}

static inline uint64_t bytes_of(const perfile_record *r)
{
    return perfile_record_size(r) + r->extra.len;
}

/* The usual question at the speed of the walk: two additions for each record. */
static bool count_types(cli_counts *counts, cli_input *in)
{
    struct {
        uint64_t records, bytes;
    } low[N_TYPES] = {0};
    const perfile_record *r;
    size_t n;
    bool ok = true;
    while (cli_next_run(in, &r, &n)) {
        for (const perfile_record *end = r + n; r < end; r++) {
            if (r->type < N_TYPES) {
                low[r->type].records++;
                low[r->type].bytes += bytes_of(r);
            } else {
                uint64_t key = r->type;
                ok = cli_groups_add(&counts->groups, &key, 1, bytes_of(r)) && ok;
            }
        }
    }
    for (uint64_t type = 0; type < N_TYPES; type++)
        if (low[type].records)
            ok = cli_groups_add(&counts->groups, &type, low[type].records, low[type].bytes) && ok;
    return ok;
}

static bool count_keys(cli_counts *counts, cli_input *in, int comm)
{
    const cli_keys *keys = counts->keys;
    const perfile_record *r;
    uint64_t key[CLI_MAX_KEYS];
    uint32_t pid, tid;
    while (cli_next(in, &r)) {
        if (!cli_types_has(&keys->types, r->type))
            continue;
        for (unsigned k = 0; k < keys->n; k++)
            key[k] = cli_key_value(keys, k, r);
        if (comm >= 0 && perfile_record_task(r, &pid, &tid)) {
            const char *name = perfile_model_comm(counts->model, pid, tid, perfile_record_time(r));
            if (name)
                key[comm] = (uintptr_t)name;
        }
        if (!cli_groups_add(&counts->groups, key, 1, bytes_of(r)))
            return false;
    }
    return true;
}

/* Feeds what names threads; limits are told of `in`. */
static bool feed(cli_counts *counts, cli_input *in, const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_SAMPLE || !perfile_model_wants(r->type) ||
        r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2)
        return true;
    return cli_feed(in, counts->model, r);
}

/* Counts those held with a time up to `limit`, and keeps the others. */
static bool release(cli_counts *counts, int comm, uint64_t limit)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->n_held; i++) {
        cli_held *h = &counts->held[i];
        if (h->time > limit && h->time != PERFILE_NO_TIME) {
            counts->held[kept++] = *h;
            continue;
        }
        const char *name = perfile_model_comm(counts->model, h->pid, h->tid, h->time);
        if (name)
            h->key[comm] = (uintptr_t)name;
        if (!cli_groups_add(&counts->groups, h->key, 1, h->bytes))
            return false;
    }
    counts->n_held = kept;
    return true;
}

/* One reading: after a FINISHED_ROUND nothing comes that is older than the newest record of the
 * round before. */
static bool count_held(cli_counts *counts, cli_input *in, int comm)
{
    const cli_keys *keys = counts->keys;
    const perfile_record *r;
    uint64_t newest = 0, limit = 0;
    counts->held = calloc(HELD, sizeof *counts->held);
    if (!counts->held)
        return false;
    while (cli_next(in, &r)) {
        if (!feed(counts, in, r))
            return false;
        cli_held h = {.bytes = bytes_of(r), .time = perfile_record_time(r)};
        if (h.time != PERFILE_NO_TIME && h.time > newest)
            newest = h.time;
        if (r->type == PERFILE_RECORD_FINISHED_ROUND) {
            if (!release(counts, comm, limit))
                return false;
            limit = newest;
        }
        if (!cli_types_has(&keys->types, r->type))
            continue;
        for (unsigned k = 0; k < keys->n; k++)
            h.key[k] = cli_key_value(keys, k, r);
        if (!perfile_record_task(r, &h.pid, &h.tid)) {
            if (!cli_groups_add(&counts->groups, h.key, 1, h.bytes))
                return false;
            continue;
        }
        if (counts->n_held == HELD && !release(counts, comm, UINT64_MAX))
            return false;
        counts->held[counts->n_held++] = h;
    }
    return release(counts, comm, UINT64_MAX);
}

static bool can_be_read_twice(const char *path)
{
    struct stat st;
    int rc = strcmp(path, "-") == 0 ? fstat(0, &st) : stat(path, &st);
    return rc == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* First reading: names only. */
static bool learn_names(cli_counts *counts, cli_input *in, const char *path, const cli_reading *how)
{
    const perfile_record *r;
    if (cli_open(&counts->sideband, path, how) == CLI_DONE)
        while (cli_next(&counts->sideband, &r))
            if (!feed(counts, in, r))
                return false;
    if (counts->sideband.status < 0) {
        in->status = counts->sideband.status;
        in->error = counts->sideband.error;
    }
    return true;
}

static bool count_comms(cli_counts *counts, cli_input *in, const char *path, const cli_reading *how,
                        int comm)
{
    if (perfile_model_new(counts->session, &counts->model, NULL) != PERFILE_OK)
        return false;
    if (!can_be_read_twice(path))
        return count_held(counts, in, comm);
    /* A model that has made its lists has everything in order, and answers faster. */
    const perfile_thread *threads;
    size_t n;
    if (!learn_names(counts, in, path, how) ||
        perfile_model_threads(counts->model, &threads, &n, NULL) != PERFILE_OK)
        return false;
    return in->status < 0 || count_keys(counts, in, comm);
}

bool cli_count(cli_counts *counts, cli_input *in, const char *path, const cli_reading *how)
{
    bool ok;
    int comm = cli_key_comm(counts->keys);
    counts->session = perfile_stream_session(in->stream);
    if (cli_keys_type_only(counts->keys))
        ok = count_types(counts, in);
    else if (comm < 0)
        ok = count_keys(counts, in, comm);
    else
        ok = count_comms(counts, in, path, how, comm);
    for (size_t i = 0; i < counts->groups.n; i++) {
        counts->records += counts->groups.at[i].records;
        counts->bytes += counts->groups.at[i].bytes;
    }
    return ok;
}
