/* Finding the parts, and where records belong once they are found. */
#include "split/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "schema/family.h"

static perfile_status check(const perfile_split_options *options, perfile_error *err)
{
    uint32_t both = PERFILE_SPLIT_NO_SIDEBAND | PERFILE_SPLIT_COMPACT_SIDEBAND;
    if (options->by < PERFILE_SPLIT_EVERY || options->by > PERFILE_SPLIT_COMM)
        return pf_fail(err, PERFILE_E_USAGE, "split.by", "by what to split is not said");
    if (options->by <= PERFILE_SPLIT_RECORDS && options->amount == 0)
        return pf_fail(err, PERFILE_E_USAGE, "split.amount", "parts of nothing are none");
    if ((options->flags & both) == both)
        return pf_fail(err, PERFILE_E_USAGE, "split.flags",
                       "state is left out or compacted, not both");
    return options->pattern ? pf_split_pattern(options->pattern, options->by, err) : PERFILE_OK;
}

perfile_status perfile_split_check(const perfile_split_options *options, perfile_error *err)
{
    perfile_split_options how;
    perfile_status st = pf_options_take(&how, sizeof how, options, "split.options", err);
    return st == PERFILE_OK ? check(&how, err) : st;
}

perfile_status pf_split_init(pf_split *x, const perfile_split_options *options, perfile_error *err)
{
    x->options = *options;
    x->first_other = PERFILE_NO_TIME;
    x->state = !(options->flags & PERFILE_SPLIT_NO_SIDEBAND);
    x->compact = options->flags & PERFILE_SPLIT_COMPACT_SIDEBAND;
    x->in_order = options->by <= PERFILE_SPLIT_RECORDS;
    x->stored = x->in_order && options->by != PERFILE_SPLIT_EVERY;
    return perfile_filter_new(NULL, &x->world, err);
}

void pf_split_free(pf_split *x)
{
    perfile_filter_close(x->world);
    pf_ancestors_free(&x->births);
    pf_buffer_free(&x->homes);
    pf_index_free(&x->places);
    pf_index_free(&x->size.of);
    pf_buffer_free(&x->size.state);
    pf_pids_free(&x->size.needed);
    pf_buffer_free(&x->size.waiting);
}

void pf_split_begin_pass(pf_split *x)
{
    x->key = 0;
    x->at = 0;
}

bool pf_split_must_look(const pf_split *x)
{
    return x->options.by == PERFILE_SPLIT_EVERY || x->options.by == PERFILE_SPLIT_COMM ||
           x->options.by == PERFILE_SPLIT_SIZE;
}

/* Where no sample has a time, other data tells when it begins. */
static void look_for_others(pf_split *x, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (first[i].type == PERFILE_RECORD_SAMPLE || pf_role_of(&first[i]))
            continue;
        uint64_t time = perfile_record_time(&first[i]);
        x->first_other = time < x->first_other ? time : x->first_other;
    }
}

static perfile_status look_at(pf_split *x, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    uint64_t times[PERFILE_RUN_RECORDS];
    perfile_status st = PERFILE_OK;
    if (x->options.by == PERFILE_SPLIT_SIZE)
        return pf_split_weigh(x, first, n, err);
    if (x->options.by == PERFILE_SPLIT_EVERY) {
        size_t found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
        for (size_t i = 0; i < found; i++)
            if (times[i] < x->world->first_time)
                x->world->first_time = times[i];
        look_for_others(x, first, n);
        return PERFILE_OK;
    }
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        if (first[i].type != PERFILE_RECORD_SAMPLE)
            st = pf_filter_feed(x->world, &first[i], err);
    return st;
}

/* A pass over all that is neither damage nor compressed. */
static perfile_status pass(pf_split *x, perfile_stream *s,
                           perfile_status (*each)(pf_split *x, const perfile_record *first,
                                                  size_t n, perfile_error *err),
                           perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    pf_split_begin_pass(x);
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        if (x->progress)
            x->progress(x->progress_user, first);
        if (pf_split_plain(first) && (st = each(x, first, n, err)) != PERFILE_OK)
            return st;
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

perfile_status pf_split_look(pf_split *x, perfile_stream *s, perfile_error *err)
{
    x->world->session = perfile_stream_session(s);
    perfile_status st = pass(x, s, look_at, err);
    if (st == PERFILE_OK && x->options.by == PERFILE_SPLIT_SIZE)
        pf_split_weighed(x, s);
    if (x->world->first_time == PERFILE_NO_TIME)
        x->world->first_time = x->first_other;
    return st;
}

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

/* The part of a key, which may be a new one. */
static perfile_status go_to(pf_split *x, uint64_t key, perfile_error *err)
{
    if (x->n && pf_split_homes(x)[x->at].key == key)
        return PERFILE_OK;
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

static void widen(uint64_t *from, uint64_t *to, uint64_t time)
{
    if (time < *from)
        *from = time;
    if (*to == PERFILE_NO_TIME || time > *to)
        *to = time;
}

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

/* Whether the next part begins with the record. */
static perfile_status cuts(pf_split *x, const perfile_record *r, unsigned class, uint32_t pid,
                           bool *cut, perfile_error *err)
{
    const pf_split_home *home = &pf_split_homes(x)[x->at];
    *cut = false;
    if (x->options.by == PERFILE_SPLIT_SIZE)
        return pf_split_grow(x, r, class, pid, home->data_bytes, cut, err);
    *cut = class == PF_ROLE_DATA && home->records == x->options.amount;
    return PERFILE_OK;
}

/* What is known of the records of a run before they are looked at one by one. */
typedef struct known {
    uint64_t keys[PERFILE_RUN_RECORDS];
    uint64_t times[PERFILE_RUN_RECORDS]; /* of samples */
    uint32_t pids[PERFILE_RUN_RECORDS];  /* the same, where parts are of a size */
} known;

static void know(pf_split *x, const perfile_record *first, size_t n, known *k)
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

/* The part of the record becomes the one that the split is at, if it is data or parts are cut. */
static perfile_status go_on(pf_split *x, const perfile_record *r, unsigned class, uint64_t key,
                            uint32_t pid, perfile_error *err)
{
    bool cut = x->n == 0;
    if (!x->stored)
        return class == PF_ROLE_DATA ? go_to(x, key, err) : PERFILE_OK;
    perfile_status st = cut ? PERFILE_OK : cuts(x, r, class, pid, &cut, err);
    return st == PERFILE_OK && cut ? begin_home(x, x->n ? key : 0, err) : st;
}

static perfile_status find_in(pf_split *x, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    known k;
    perfile_status st = PERFILE_OK;
    bool by_size = x->options.by == PERFILE_SPLIT_SIZE;
    know(x, first, n, &k);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_record *r = &first[i];
        bool sample = r->type == PERFILE_RECORD_SAMPLE;
        unsigned class = sample ? PF_ROLE_DATA : pf_role_of(r);
        bool data = class == PF_ROLE_DATA;
        st = go_on(x, r, class, k.keys[i], k.pids[i], err);
        if (st != PERFILE_OK)
            return st;
        if (data || (by_size && class == PF_ROLE_AUX))
            pf_split_homes(x)[x->at].data_bytes += perfile_record_size(r) + r->extra.len;
        if (data)
            add_data(x, r, sample ? k.times[i] : perfile_record_time(r));
        if (r->type == PERFILE_RECORD_FORK && !by_size && !pf_ancestors_note(&x->births, r))
            st = pf_fail_nomem(err, "split");
        x->samples += sample;
    }
    x->records += n;
    return st;
}

static int by_key(const void *a, const void *b)
{
    const pf_split_home *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_name(const void *a, const void *b)
{
    const pf_split_home *x = a, *y = b;
    if (x->key == PF_SPLIT_NONE || y->key == PF_SPLIT_NONE)
        return by_key(a, b);
    return strcmp((const char *)(uintptr_t)x->key, (const char *)(uintptr_t)y->key);
}

/* In order, and by key where they are. */
static perfile_status settle(pf_split *x, perfile_error *err)
{
    pf_split_home *homes = pf_split_homes(x);
    /* The last part must not be one of state alone. */
    if (x->stored && x->n > 1 && homes[x->n - 1].data_bytes == 0 && homes[x->n - 1].records == 0)
        x->n--;
    if (x->n == 0)
        return begin_home(x, x->in_order ? 0 : PF_SPLIT_NONE, err);
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
    pf_ancestors_settle(&x->births);
    return st == PERFILE_OK ? settle(x, err) : st;
}

/* The last part that does not begin behind `key`, or the first. */
static uint32_t in_order(const pf_split *x, uint64_t key)
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

void pf_split_where(pf_split *x, const perfile_record *first, size_t n, uint32_t *parts)
{
    uint64_t keys[PERFILE_RUN_RECORDS];
    const pf_split_home *homes = pf_split_homes(x);
    pf_split_keys(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
        if (x->in_order) {
            x->at = in_order(x, keys[i]);
        } else if (homes[x->at].key != keys[i]) {
            x->at = pf_index_get(&x->places, keys[i]);
            /* State without a part of its own. */
            if (x->at == PF_INDEX_NONE)
                x->at = 0;
        }
        parts[i] = x->at;
        /* What has the key of no part, and is no data, belongs to the first. */
        if (keys[i] == PF_SPLIT_NONE && !x->in_order && pf_role_of(&first[i]))
            parts[i] = 0;
    }
}
