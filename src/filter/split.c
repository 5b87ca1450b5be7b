/* The passes that find the parts, and the assignment of records to parts.
 *
 * pf_split_first_pass() makes a pass for splits that must know something about the whole capture
 * first. pf_split_find() computes the key of every record and appends a pf_split_home for each new
 * part.  At the end the homes are sorted by key. pf_split_assign_parts() then finds the home of any
 * record: by binary search if parts follow each other, by an index if they have keys. */
#include "filter/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "schema/rows.h"
#include "filter/command.h"

/* Checks options after they were copied. */
static perfile_status check(const perfile_split_options *options, perfile_error *err)
{
    uint32_t both = PERFILE_SPLIT_NO_SIDEBAND | PERFILE_SPLIT_COMPACT_SIDEBAND;
    if (options->by < PERFILE_SPLIT_EVERY || options->by > PERFILE_SPLIT_COMM)
        return pf_fail(err, PERFILE_E_USAGE, "split.by",
                       "by is %u, PERFILE_SPLIT_EVERY (%d) to PERFILE_SPLIT_COMM (%d) is needed",
                       options->by, PERFILE_SPLIT_EVERY, PERFILE_SPLIT_COMM);
    if (options->by <= PERFILE_SPLIT_RECORDS && options->amount == 0)
        return pf_fail(err, PERFILE_E_USAGE, "split.amount", "amount is 0, at least 1 is needed");
    if ((options->flags & both) == both)
        return pf_fail(err, PERFILE_E_USAGE, "split.flags",
                       "side-band is left out or compacted, not both");
    return options->pattern ? pf_split_pattern(options->pattern, options->by, err) : PERFILE_OK;
}

perfile_status pf_split_check(const perfile_split_options *options, perfile_error *err)
{
    perfile_split_options how;
    perfile_status st = pf_options_copy(&how, options, "split.options", err);
    return st == PERFILE_OK ? check(&how, err) : st;
}

perfile_status pf_split_init(pf_split *x, const perfile_split_options *options, perfile_error *err)
{
    x->options = *options;
    x->first_other = PERFILE_NO_TIME;
    x->state = !(options->flags & PERFILE_SPLIT_NO_SIDEBAND);
    x->compact = options->flags & PERFILE_SPLIT_COMPACT_SIDEBAND;
    x->in_order = options->by <= PERFILE_SPLIT_RECORDS;
    /* Time windows follow each other, too, but a record of any window may be at any position. */
    x->stored = x->in_order && options->by != PERFILE_SPLIT_EVERY;
    return perfile_filter_open(NULL, &x->scan, err);
}

void pf_split_free(pf_split *x)
{
    perfile_filter_close(x->scan);
    pf_ancestors_free(&x->ancestors);
    pf_buffer_free(&x->homes);
    pf_index_free(&x->places);
    pf_index_free(&x->size.index_of);
    pf_buffer_free(&x->size.bytes_of);
    pf_pids_free(&x->size.needed);
    pf_buffer_free(&x->size.waiting);
}

void pf_split_begin_pass(pf_split *x)
{
    x->key = 0;
    x->at = 0;
}

bool pf_split_needs_first_pass(const pf_split *x)
{
    return x->options.by == PERFILE_SPLIT_EVERY || x->options.by == PERFILE_SPLIT_COMM ||
           x->options.by == PERFILE_SPLIT_SIZE;
}

/* Notes the least time of data other than samples: time windows begin there if no sample has a
 * time. */
static void note_first_other(pf_split *x, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (first[i].type == PERFILE_RECORD_SAMPLE || pf_role_of(&first[i]))
            continue;
        uint64_t time = perfile_record_time(&first[i]);
        x->first_other = time < x->first_other ? time : x->first_other;
    }
}

/* Reads a run in the first pass: collects what this kind of split needs. */
static perfile_status read_first_pass(pf_split *x, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    uint64_t times[PERFILE_RUN_RECORDS];
    perfile_status st = PERFILE_OK;
    if (x->options.by == PERFILE_SPLIT_SIZE)
        return pf_split_add_side_band(x, first, n, err);
    if (x->options.by == PERFILE_SPLIT_EVERY) {
        size_t found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
        for (size_t i = 0; i < found; i++)
            if (times[i] < x->scan->first_time)
                x->scan->first_time = times[i];
        note_first_other(x, first, n);
        return PERFILE_OK;
    }
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        if (first[i].type != PERFILE_RECORD_SAMPLE)
            st = pf_filter_feed(x->scan, &first[i], err);
    return st;
}

static perfile_status find_in(pf_split *x, const perfile_record *first, size_t n,
                              perfile_error *err);

/* Calls `each` for every run of the stream, except for damage and envelopes. */
static perfile_status pass(pf_split *x, perfile_stream *s,
                           perfile_status (*each)(pf_split *x, const perfile_record *first,
                                                  size_t n, perfile_error *err),
                           perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    pf_split_begin_pass(x);
    pf_split_narrow(x, s, each == find_in);
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        if (x->progress)
            x->progress(x->progress_user, first);
        st = pf_split_narrow_status(x, err);
        if (st != PERFILE_OK)
            return st;
        if (pf_split_is_plain(first) && (st = each(x, first, n, err)) != PERFILE_OK)
            return st;
    }
    x->narrow = (pf_narrow){.needs = NULL};
    pf_stream_narrow(s, &x->narrow);
    return st == PERFILE_END ? pf_split_narrow_status(x, err) : st;
}

perfile_status pf_split_first_pass(pf_split *x, perfile_stream *s, perfile_error *err)
{
    x->scan->pass.session = perfile_stream_session(s);
    perfile_status st = pass(x, s, read_first_pass, err);
    if (st == PERFILE_OK && x->options.by == PERFILE_SPLIT_SIZE)
        pf_split_add_facts(x, s);
    if (x->scan->first_time == PERFILE_NO_TIME)
        x->scan->first_time = x->first_other;
    return st;
}

/* Appends a part with this key and makes it the current one. */
static perfile_status begin_home(pf_split *x, uint64_t key, perfile_error *err)
{
    const pf_split_home home = {.key = key,
                                .first_time = PERFILE_NO_TIME,
                                .last_time = PERFILE_NO_TIME,
                                .first_sample = PERFILE_NO_TIME,
                                .last_sample = PERFILE_NO_TIME};
    if (x->n == PERFILE_SPLIT_MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "split.parts",
                       "there would be more than %d parts: choose larger ones",
                       PERFILE_SPLIT_MOST_PARTS);
    if (!pf_buffer_append(&x->homes, &home, sizeof home))
        return pf_fail_nomem(err, "split");
    x->at = x->n++;
    return PERFILE_OK;
}

/* Makes the part of a key the current one.  Appends the part if it is new. */
static perfile_status select_home(pf_split *x, uint64_t key, perfile_error *err)
{
    if (x->n && pf_split_homes(x)[x->at].key == key)
        return PERFILE_OK; /* the common case: the previous record had the same key */
    if (!x->places.seed)
        x->places.seed = pf_index_seed(x);
    uint32_t at = pf_index_get(&x->places, key);
    if (at != PF_INDEX_NONE) {
        x->at = at;
        return PERFILE_OK;
    }
    perfile_status st = begin_home(x, key, err);
    if (st == PERFILE_OK && !pf_index_put(&x->places, key, x->at))
        st = pf_fail_nomem(err, "split");
    return st;
}

/* Widens the range of times [*from, *to] to include `time`.  PERFILE_NO_TIME: the range was empty.
 */
static void widen(uint64_t *from, uint64_t *to, uint64_t time)
{
    if (time < *from)
        *from = time;
    if (*to == PERFILE_NO_TIME || time > *to)
        *to = time;
}

/* Counts a data record with this time in the current part. */
static void add_data(pf_split *x, const perfile_record *r, uint64_t time)
{
    pf_split_home *home = &pf_split_homes(x)[x->at];
    bool sample = r->type == PERFILE_RECORD_SAMPLE;
    home->records++;
    home->samples += sample;
    if (time == PERFILE_NO_TIME)
        return;
    widen(&home->first_time, &home->last_time, time);
    if (sample)
        widen(&home->first_sample, &home->last_sample, time);
}

/* Sets *cut if, in stored order, a new part begins with the record. */
static perfile_status check_cut(pf_split *x, const perfile_record *r, unsigned class, uint32_t pid,
                                bool *cut, perfile_error *err)
{
    const pf_split_home *home = &pf_split_homes(x)[x->at];
    *cut = false;
    if (x->options.by == PERFILE_SPLIT_SIZE)
        return pf_split_extend_part(x, r, class, pid, home->data_bytes, cut, err);
    *cut = class == PF_ROLE_DATA && home->records == x->options.amount;
    return PERFILE_OK;
}

/* Fields of the records of a run, read for the whole run at once. */
typedef struct known {
    uint64_t keys[PERFILE_RUN_RECORDS];
    uint64_t times[PERFILE_RUN_RECORDS]; /* of samples, else PERFILE_NO_TIME */
    uint32_t pids[PERFILE_RUN_RECORDS];  /* by size: of samples, else PERFILE_NO_PID */
} known;

/* Reads these fields for a run. */
static void read_fields(pf_split *x, const perfile_record *first, size_t n, known *k)
{
    uint64_t values[PERFILE_RUN_RECORDS];
    uint32_t at[PERFILE_RUN_RECORDS];
    for (size_t i = 0; i < n; i++) {
        k->times[i] = PERFILE_NO_TIME;
        k->pids[i] = PERFILE_NO_PID;
    }
    size_t found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, values, at);
    for (size_t i = 0; i < found; i++)
        k->times[at[i]] = values[i];
    if (x->options.by == PERFILE_SPLIT_SIZE) {
        found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TID, values, at);
        for (size_t i = 0; i < found; i++)
            k->pids[at[i]] = (uint32_t)values[i];
    }
    pf_split_keys(x, first, n, k->keys);
}

/* Makes the home of the record the current part.  With keys and windows only data makes a part
 * current, because no part has side-band alone. */
static perfile_status advance_home(pf_split *x, const perfile_record *r, unsigned class,
                                   uint64_t key, uint32_t pid, perfile_error *err)
{
    bool cut = x->n == 0;
    if (!x->stored)
        return class == PF_ROLE_DATA ? select_home(x, key, err) : PERFILE_OK;
    perfile_status st = cut ? PERFILE_OK : check_cut(x, r, class, pid, &cut, err);
    return st == PERFILE_OK && cut ? begin_home(x, x->n ? key : 0, err) : st;
}

/* Reads a run in the pass that finds the parts. */
static perfile_status find_in(pf_split *x, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    known k;
    perfile_status st = PERFILE_OK;
    bool by_size = x->options.by == PERFILE_SPLIT_SIZE;
    read_fields(x, first, n, &k);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_record *r = &first[i];
        bool sample = r->type == PERFILE_RECORD_SAMPLE;
        unsigned class = sample ? PF_ROLE_DATA : pf_role_of(r);
        bool data = class == PF_ROLE_DATA;
        st = advance_home(x, r, class, k.keys[i], k.pids[i], err);
        if (st != PERFILE_OK)
            return st;
        /* AUX data does not count as data of the split, but it takes space. */
        if (data || (by_size && class == PF_ROLE_AUX))
            pf_split_homes(x)[x->at].data_bytes += perfile_record_size(r) + r->extra.len;
        if (data)
            add_data(x, r, sample ? k.times[i] : perfile_record_time(r));
        /* By size, the first pass has noted the forks. */
        if (r->type == PERFILE_RECORD_FORK && !by_size && !pf_ancestors_note(&x->ancestors, r))
            st = pf_fail_nomem(err, "split");
        x->samples += sample;
    }
    x->records += n;
    return st;
}

perfile_status pf_split_find_zone(pf_split *x, const pf_zone *z, uint64_t key, perfile_error *err)
{
    const pf_zone_count *samples = pf_zone_only_samples(z);
    perfile_status st = x->stored ? PERFILE_OK : select_home(x, key, err);
    if (st != PERFILE_OK)
        return st;
    pf_split_home *home = &pf_split_homes(x)[x->at];
    home->records += samples->records;
    home->samples += samples->records;
    home->data_bytes += samples->bytes;
    widen(&home->first_time, &home->last_time, z->data_first);
    widen(&home->first_time, &home->last_time, z->data_last);
    widen(&home->first_sample, &home->last_sample, z->data_first);
    widen(&home->first_sample, &home->last_sample, z->data_last);
    x->samples += samples->records;
    return PERFILE_OK;
}

/* qsort() orders: by key; by name, with "none" last. */
static int by_key(const void *a, const void *b)
{
    const pf_split_home *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_name(const void *a, const void *b)
{
    const pf_split_home *x = a, *y = b;
    if (x->key == PF_SPLIT_NO_KEY || y->key == PF_SPLIT_NO_KEY)
        return by_key(a, b);
    return strcmp((const char *)(uintptr_t)x->key, (const char *)(uintptr_t)y->key);
}

/* Sorts the parts and makes the index of their keys.  There is always at least one part. */
static perfile_status sort_homes(pf_split *x, perfile_error *err)
{
    pf_split_home *homes = pf_split_homes(x);
    /* If the last part has only side-band, that joins the part before. */
    if (x->stored && x->n > 1 && homes[x->n - 1].data_bytes == 0 && homes[x->n - 1].records == 0)
        x->n--;
    /* A capture without data is one part. */
    if (x->n == 0)
        return begin_home(x, x->in_order ? 0 : PF_SPLIT_NO_KEY, err);
    qsort(homes, x->n, sizeof *homes, x->options.by == PERFILE_SPLIT_COMM ? by_name : by_key);
    pf_index_free(&x->places);
    x->places.seed = pf_index_seed(x);
    for (uint32_t i = 0; i < x->n && !x->in_order; i++)
        if (!pf_index_put(&x->places, homes[i].key, i))
            return pf_fail_nomem(err, "split");
    return PERFILE_OK;
}

perfile_status pf_split_find(pf_split *x, perfile_stream *s, perfile_error *err)
{
    x->session = perfile_stream_session(s);
    perfile_status st = pass(x, s, find_in, err);
    pf_ancestors_sort(&x->ancestors);
    return st == PERFILE_OK ? sort_homes(x, err) : st;
}

/* Returns the last part with a key of at most `key`, or the first part.  Tries the current part
 * first, because keys mostly ascend. */
static uint32_t find_in_order(const pf_split *x, uint64_t key)
{
    const pf_split_home *homes = pf_split_homes(x);
    uint32_t low = 0, high = x->n;
    if (homes[x->at].key <= key && (x->at + 1 == x->n || key < homes[x->at + 1].key))
        return x->at;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (homes[middle].key <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

uint32_t pf_split_part_of_key(const pf_split *x, uint64_t key)
{
    return x->in_order ? find_in_order(x, key) : pf_index_get(&x->places, key);
}

void pf_split_assign_parts(pf_split *x, const perfile_record *first, size_t n, uint32_t *parts)
{
    uint64_t keys[PERFILE_RUN_RECORDS];
    const pf_split_home *homes = pf_split_homes(x);
    pf_split_keys(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
        if (x->in_order) {
            x->at = find_in_order(x, keys[i]);
        } else if (homes[x->at].key != keys[i]) {
            x->at = pf_index_get(&x->places, keys[i]);
            /* Side-band of a thing that has no data, and so no part. */
            if (x->at == PF_INDEX_NONE)
                x->at = 0;
        }
        parts[i] = x->at;
        /* Side-band without a key is at home in the first part; the part "none" is for data. */
        if (keys[i] == PF_SPLIT_NO_KEY && !x->in_order && pf_role_of(&first[i]))
            parts[i] = 0;
    }
}
