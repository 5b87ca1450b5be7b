/* Counting for `stats`.
 *
 * By type alone, which is the default, nothing of a record is needed but its header: records
 * are counted in an array by type, samples that the index of an archive counts are skipped
 * (perfile_stream_pass()).  For all other keys each record is looked up in the hash table of
 * groups. */
#include <string.h>
#include <time.h>

#include "cli/text.h"
#include "cli/stats/key.h"

void cli_counts_start(cli_counts *counts, const cli_keys *keys)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    *counts = (cli_counts){.keys = keys, .groups = {.n_keys = keys->n}};
    /* Not a secret, but nothing that the author of an input can know. */
    counts->groups.seed = ((uint64_t)t.tv_nsec << 32 | 1) * 0x9e3779b97f4a7c15;
}

void cli_counts_end(cli_counts *counts)
{
    cli_groups_free(&counts->groups);
}

/* Returns the size of a record with the bytes that follow it (AUX data). */
static inline uint64_t bytes_of(const perfile_record *r)
{
    return perfile_record_size(r) + r->extra.len;
}

/* Feeds a run of records to the losses. */
static void feed_losses(cli_losses *losses, const perfile_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cli_losses_relevant(r[i].type))
            cli_losses_feed(losses, &r[i]);
}

enum { N_COUNTED_TYPES = 256 };

/* Counts of the types below N_COUNTED_TYPES: all types of perf.  Other families are counted in
 * groups. */
typedef struct type_counts {
    struct {
        uint64_t records, bytes;
    } at[N_COUNTED_TYPES];
} type_counts;

/* Counts samples at the current position without reading them, as far as that is possible. */
static void count_passed(type_counts *low, cli_input *in)
{
    perfile_passed p;
    while (perfile_stream_pass(in->stream, &p, sizeof p), p.samples) {
        low->at[PERFILE_RECORD_SAMPLE].records += p.samples;
        low->at[PERFILE_RECORD_SAMPLE].bytes += p.bytes;
        cli_input_passed(in, &p);
    }
}

/* Adds the counts to the groups; false if there is no memory. */
static bool add_types(cli_counts *counts, const type_counts *low)
{
    bool ok = true;
    for (uint64_t type = 0; type < N_COUNTED_TYPES; type++) {
        if (!low->at[type].records)
            continue;
        cli_group *g =
            cli_groups_add(&counts->groups, &type, low->at[type].records, low->at[type].bytes);
        if (g && type == PERFILE_RECORD_SAMPLE)
            g->samples = g->records;
        ok = ok && g;
    }
    return ok;
}

/* Counts by type alone: two additions for each record that is framed, none for those skipped.
 * Runs of nothing but samples cannot contain losses and are not searched for them. */
static bool count_types(cli_counts *counts, cli_input *in)
{
    type_counts low = {0};
    const perfile_record *r;
    size_t n;
    bool ok = true;
    for (count_passed(&low, in); cli_next_run(in, &r, &n); count_passed(&low, in)) {
        uint64_t samples = low.at[PERFILE_RECORD_SAMPLE].records;
        for (const perfile_record *at = r, *end = r + n; at < end; at++) {
            if (at->type < N_COUNTED_TYPES) {
                low.at[at->type].records++;
                low.at[at->type].bytes += bytes_of(at);
            } else {
                uint64_t key = cli_type_key(at);
                ok = cli_groups_add(&counts->groups, &key, 1, bytes_of(at)) && ok;
            }
        }
        if (low.at[PERFILE_RECORD_SAMPLE].records - samples != n)
            feed_losses(&counts->losses, r, n);
    }
    return add_types(counts, &low) && ok;
}

/* Counts a sample with its period. */
static void count_sample(cli_group *g, const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    uint64_t period = 0;
    bool has = perfile_sample_period(r, &period);
    cli_group_sample(g, e ? e->index : UINT32_MAX, has && e, period);
}

/* Counts by any keys; false if there is no memory. */
static bool count_keys(cli_counts *counts, cli_input *in)
{
    const cli_keys *keys = counts->keys;
    const perfile_record *r;
    uint64_t key[CLI_MAX_KEYS];
    counts->periods = true;
    while (cli_next(in, &r)) {
        for (unsigned k = 0; k < keys->n; k++)
            key[k] = cli_key_value(keys, k, in, r);
        cli_group *g = cli_groups_add(&counts->groups, key, 1, bytes_of(r));
        if (!g)
            return false;
        if (r->type == PERFILE_RECORD_SAMPLE)
            count_sample(g, r);
        else
            cli_losses_feed(&counts->losses, r);
    }
    return true;
}

/* Sums up all groups.  The sum of periods means nothing if the groups have samples of different
 * events. */
static void add_up(cli_counts *counts)
{
    cli_group *sum = &counts->total;
    for (size_t i = 0; i < counts->groups.n; i++) {
        const cli_group *g = &counts->groups.at[i];
        sum->no_period |= g->samples && (g->no_period || (sum->samples && sum->event != g->event));
        sum->event = g->samples ? g->event : sum->event;
        sum->records += g->records;
        sum->bytes += g->bytes;
        sum->samples += g->samples;
        sum->period += g->period;
    }
}

bool cli_count(cli_counts *counts, cli_input *in)
{
    counts->session = perfile_stream_session(in->stream);
    bool ok = cli_keys_type_only(counts->keys) && !in->selects ? count_types(counts, in)
                                                               : count_keys(counts, in);
    add_up(counts);
    return ok;
}
