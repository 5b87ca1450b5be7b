/* Counts by keys.  The kinds of keys have a table of names, and each operation on a value has a
 * `switch` over the kinds. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/options.h"
#include "cli/print.h"
#include "core/command.h"
#include "model/command.h"

enum { TYPE, EVENT, CPU, PID, TID, COMM, DSO, TIME, SYM, PARENT, SRCLINE, N_KINDS };

enum { FIELD = N_KINDS }; /* any other field name: fields.c */

static const struct {
    const char *name;
    const char *heading; /* '>' for right-aligned, see cli_table_new() */
    uint8_t per;         /* PERFILE_PER_… in the library's profiles; 0 if they have no such key */
} kinds[N_KINDS] = {
    [TYPE] = {"type", "TYPE", 0},
    [EVENT] = {"event", "EVENT", PERFILE_PER_EVENT},
    [CPU] = {"cpu", ">CPU", PERFILE_PER_CPU},
    [PID] = {"pid", ">PID", PERFILE_PER_PID},
    [TID] = {"tid", ">TID", PERFILE_PER_TID},
    [COMM] = {"comm", "COMM", PERFILE_PER_COMM},
    [DSO] = {"dso", "DSO", PERFILE_PER_DSO},
    [TIME] = {"time", ">TIME", 0},
    [SYM] = {"sym", "SYMBOL", PERFILE_PER_SYMBOL},
    [PARENT] = {"parent", "PARENT", PERFILE_PER_PARENT},
    [SRCLINE] = {"srcline", "SRCLINE", PERFILE_PER_SOURCE},
};

#define NO_VALUE UINT64_MAX /* the record has no value for the key */

const char *cli_key_word(size_t i)
{
    return i < N_KINDS ? kinds[i].name : NULL;
}

/* Reads a time step such as "10ms" in ns.  Returns 0 if it is not one. */
static uint64_t read_step(const char *word)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}};
    char *end;
    double value = strtod(word, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double ns = value * units[i].ns;
        if (end != word && strcmp(end, units[i].unit) == 0 && ns >= 1 && ns < 1e18)
            return (uint64_t)ns;
    }
    return 0;
}

/* Returns an error message that lists all keys. */
static const char *known_keys(void)
{
    static char text[192];
    size_t len = 0;
    for (unsigned kind = 0; kind < N_KINDS && len < sizeof text; kind++) {
        const char *between = kind == 0 ? "the keys are " : kind + 1 < N_KINDS ? ", " : " and ";
        int n = snprintf(text + len, sizeof text - len, "%s%s%s", between, kinds[kind].name,
                         kind == TIME ? "=STEP" : "");
        len += n > 0 ? (size_t)n : 0;
    }
    return text;
}

/* Adds the key that `word` names: "pid" or "time=10ms".  Returns NULL, or an error message. */
static const char *add_key(cli_keys *keys, const char *word)
{
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : strlen(word);
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        if (strlen(kinds[kind].name) != n || memcmp(kinds[kind].name, word, n) != 0)
            continue;
        /* The word is this key; check its use. */
        if (keys->n == CLI_MAX_KEYS)
            return "too many keys";
        for (unsigned k = 0; k < keys->n; k++)
            if (keys->kind[k] == kind)
                return "a key is given twice";
        keys->kind[keys->n] = (uint8_t)kind;
        if (kind == TIME) {
            keys->step[keys->n] = value ? read_step(value + 1) : 1000000000; /* default: 1 s */
            keys->step_given = value;
            if (!keys->step[keys->n])
                return "time takes a step such as 1s, 10ms or 250us";
        } else if (value) {
            return "only time takes a step";
        }
        keys->n++;
        return NULL;
    }
    if (value || keys->n == CLI_MAX_KEYS)
        return value ? known_keys() : "too many keys";
    keys->kind[keys->n] = FIELD;
    const char *wrong = cli_field_key(keys, keys->n, word);
    keys->n += !wrong;
    return wrong;
}

const char *cli_keys_add(cli_keys *keys, const char *list)
{
    do {
        char word[64];
        size_t n = strcspn(list, ",");
        if (n >= sizeof word)
            return known_keys();
        memcpy(word, list, n);
        word[n] = 0;
        const char *wrong = add_key(keys, word);
        if (wrong)
            return wrong;
        list += n + (list[n] == ',');
    } while (*list);
    return NULL;
}

const char *cli_keys_suggestion(const char *list, char *out, size_t size)
{
    const char *names[N_KINDS];
    char word[64];
    for (unsigned kind = 0; kind < N_KINDS; kind++)
        names[kind] = kinds[kind].name;
    out[0] = '\0';
    for (size_t n; *list && !out[0]; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)strcspn(list, ",="), list);
        bool known = false;
        for (unsigned kind = 0; kind < N_KINDS; kind++)
            known |= strcmp(word, names[kind]) == 0; /* nothing to suggest for a known key */
        if (!known)
            cli_suggestion(word, names, N_KINDS, out, size);
    }
    return out;
}

const char *cli_key_name(const cli_keys *keys, unsigned k)
{
    return keys->kind[k] == FIELD ? keys->field[k] : kinds[keys->kind[k]].name;
}

const char *cli_key_heading(const cli_keys *keys, unsigned k)
{
    return keys->kind[k] == FIELD ? cli_field_heading(keys, k) : kinds[keys->kind[k]].heading;
}

/* Returns the text for a mapped file; `value` is the address of its name. */
static perfile_bytes dso_of_value(uint64_t value)
{
    return perfile_mapping_dso(&(perfile_mapping){.name = (const char *)(uintptr_t)value});
}

/* Returns the name for a value, or NULL if it is shown as a number or has no name. */
static const char *name_of_value(const cli_counts *counts, unsigned k, uint64_t value, char *buf,
                                 size_t size)
{
    switch (counts->keys->kind[k]) {
    case TYPE:
        return cli_type_name(value, buf, size);
    case EVENT: {
        const perfile_event *e = perfile_session_event(counts->session, (uint32_t)value);
        return e ? e->name : NULL;
    }
    case COMM:
        return (const char *)(uintptr_t)value;
    case FIELD:
        return cli_field_text(counts, k, value);
    default:
        return NULL;
    }
}

/* Sets *name to the printed name of a value of key `k`.  Returns false if the key is not an event
 * or a mapped file, which are the keys with a name that is not in the record, or if there is no
 * name. */
static bool key_text(const cli_counts *counts, unsigned k, uint64_t value, perfile_bytes *name)
{
    if (value == NO_VALUE)
        return false;
    if (counts->keys->kind[k] == DSO) {
        *name = dso_of_value(value);
        return true;
    }
    const char *text =
        counts->keys->kind[k] == EVENT ? name_of_value(counts, k, value, NULL, 0) : NULL;
    *name = (perfile_bytes){(const uint8_t *)text, text ? strlen(text) : 0};
    return text != NULL;
}

void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value)
{
    char buf[32];
    const char *name = cli_key_name(counts->keys, k);
    if (value == NO_VALUE) {
        cli_json_null(name);
        return;
    }
    switch (counts->keys->kind[k]) {
    case TYPE:
        cli_json_string("type", perfile_type_name((unsigned)(value >> 32), (uint32_t)value));
        cli_json_number("type_number", cli_type_number(value));
        break;
    case EVENT:
        cli_json_string("event", name_of_value(counts, k, value, buf, sizeof buf));
        cli_json_number("event_index", value);
        break;
    case FIELD:
        cli_json_string(name, name_of_value(counts, k, value, buf, sizeof buf));
        break;
    case COMM:
        cli_json_string("comm", name_of_value(counts, k, value, buf, sizeof buf));
        break;
    case DSO:
        cli_json_text("dso", dso_of_value(value));
        break;
    case TIME:
        cli_json_decimal("time", value * counts->keys->step[k]);
        break;
    default:
        if (value == UINT32_MAX) /* pid or tid of no process */
            cli_json_signed(name, -1);
        else
            cli_json_number(name, value);
    }
}

void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t)
{
    char buf[32];
    const char *word = value != NO_VALUE ? name_of_value(counts, k, value, buf, sizeof buf) : "-";
    if (word) {
        cli_cell_string(t, word);
    } else if (counts->keys->kind[k] == DSO) {
        cli_cell_text(t, dso_of_value(value));
    } else if (counts->keys->kind[k] == TIME) {
        cli_format_seconds(value * counts->keys->step[k], buf, sizeof buf);
        cli_cell_string(t, buf);
    } else if (value == UINT32_MAX) { /* pid or tid of no process */
        cli_cell_string(t, "-1");
    } else {
        cli_cell(t, "%" PRIu64, value);
    }
}

/* Returns the index of the event of a record.  A kernel record without a trailer has no id, so its
 * event would be a guess; --event does not select such records either. */
static uint64_t event_of(const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    const bool guessed = e && r->type < PERFILE_RECORD_USER && r->type != PERFILE_RECORD_SAMPLE &&
                         r->type != PERFILE_RECORD_READ && !e->layout->sample_id_all;
    return e && !guessed ? e->index : NO_VALUE;
}

enum { THREAD_NAMES = 4096 }; /* 160 KiB; a power of two */

/* An entry of the cache of thread names: the name from time `first` to time `last`. */
typedef struct cli_thread_name {
    uint64_t first, last;
    const char *name; /* NULL if the thread has no name */
    uint32_t pid, tid;
    bool used;
} cli_thread_name;

/* Returns the name of the thread of a record, NO_VALUE if it has none.  Samples of the same thread
 * are close together, and its name seldom changes, so names are cached. */
static uint64_t comm_of(const cli_counts *counts, const perfile_model *model,
                        const perfile_record *r)
{
    uint32_t pid, tid;
    if (!perfile_record_task(r, &pid, &tid))
        return NO_VALUE;
    const uint64_t time = perfile_record_time(r);
    cli_thread_name *t = &counts->threads[(tid ^ pid * 0x9e3779b1U) % THREAD_NAMES];
    if (!t->used || t->tid != tid || t->pid != pid || time < t->first || time > t->last) {
        *t = (cli_thread_name){.pid = pid, .tid = tid, .used = true};
        t->name = pf_model_comm_during(model, pid, tid, time, &t->first, &t->last);
    }
    return t->name ? (uintptr_t)t->name : NO_VALUE;
}

/* Returns the value of key `k` for a record, NO_VALUE if it has none. */
static uint64_t key_value(const cli_counts *counts, unsigned k, const cli_input *in,
                          const perfile_record *r)
{
    const cli_keys *keys = counts->keys;
    uint32_t pid, tid, cpu;
    const perfile_mapping *mapping;
    switch (keys->kind[k]) {
    case TYPE:
        return cli_type_key(r);
    case EVENT:
        return event_of(r);
    case CPU:
        return perfile_record_cpu(r, &cpu) && cpu != UINT32_MAX ? cpu : NO_VALUE;
    case PID:
        return perfile_record_task(r, &pid, &tid) ? pid : NO_VALUE;
    case TID:
        return perfile_record_task(r, &pid, &tid) ? tid : NO_VALUE;
    case COMM:
        return comm_of(counts, in->model, r);
    case DSO: /* the mapping at the address and the time of the sample */
        mapping = perfile_model_record_mapping(in->model, r);
        return mapping ? (uintptr_t)mapping->name : NO_VALUE;
    case TIME: {
        uint64_t time = perfile_record_time(r);
        return time != PERFILE_NO_TIME ? time / keys->step[k] : NO_VALUE;
    }
    default:
        return NO_VALUE;
    }
}

int cli_key_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b)
{
    const cli_keys *keys = counts->keys;
    if (keys->kind[k] == FIELD)
        return cli_field_order(counts, k, a, b);
    /* Values of these keys are addresses, so their order is random: compare the strings. */
    /* NO_VALUE has no string.  Rows with it come last. */
    bool names = keys->kind[k] == COMM || keys->kind[k] == DSO;
    if (names && a != NO_VALUE && b != NO_VALUE)
        return strcmp((const char *)(uintptr_t)a, (const char *)(uintptr_t)b);
    return (a > b) - (a < b);
}

int cli_key_resolved(const cli_keys *keys)
{
    for (unsigned k = 0; k < keys->n; k++)
        if (keys->kind[k] == COMM || keys->kind[k] == DSO)
            return (int)k;
    return -1;
}

bool cli_keys_of_files(const cli_keys *keys)
{
    return memchr(keys->kind, DSO, keys->n);
}

bool cli_keys_of_code(const cli_keys *keys)
{
    bool of_code = false;
    for (unsigned k = 0; k < keys->n; k++)
        of_code |= keys->kind[k] >= SYM && keys->kind[k] < N_KINDS;
    return of_code;
}

uint8_t cli_key_per(const cli_keys *keys, unsigned k)
{
    return keys->kind[k] == FIELD ? 0 : kinds[keys->kind[k]].per;
}

uint8_t cli_key_of_counters(const cli_keys *keys, unsigned k)
{
    const unsigned kind = keys->kind[k];
    return kind == TIME                                                  ? PERFILE_PER_TIME
           : kind == EVENT || kind == CPU || kind == TID || kind == COMM ? kinds[kind].per
                                                                         : 0;
}

bool cli_keys_type_only(const cli_keys *keys)
{
    return keys->n == 1 && keys->kind[0] == TYPE;
}

/* The hash table of groups uses linear probing and is at most half full, so that there is always a
 * free slot. */

/* For each number of the key: multiplies by an odd constant, then xors the upper half into the
 * lower. */
static uint64_t hash(uint64_t seed, const uint64_t *key, unsigned n)
{
    uint64_t h = seed;
    for (unsigned i = 0; i < n; i++) {
        h = (h ^ key[i]) * 0xd6e8feb86659fd93;
        h ^= h >> 32;
    }
    return h;
}

/* True if the group has this key. */
static bool is_of(const cli_groups *g, size_t group, const uint64_t *key)
{
    unsigned k = 0;
    while (k < g->n_keys && g->at[group].key[k] == key[k])
        k++;
    return k == g->n_keys;
}

/* Returns the slot of `key`, or the free slot where it belongs. */
static size_t *slot_of(const cli_groups *g, const uint64_t *key)
{
    size_t at = (size_t)hash(g->seed, key, g->n_keys) & (g->n_slots - 1);
    while (g->slots[at] && !is_of(g, g->slots[at] - 1, key))
        at = (at + 1) & (g->n_slots - 1);
    return &g->slots[at];
}

/* Doubles the table and inserts all groups again.  When out of memory, returns false; all groups
 * stay valid. */
static bool grow(cli_groups *g)
{
    size_t n_slots = g->n_slots ? g->n_slots * 2 : 256;
    size_t *slots = calloc(n_slots, sizeof *slots);
    cli_group *at = realloc(g->at, n_slots / 2 * sizeof *at);
    if (at)
        g->at = at;
    if (!slots || !at) {
        free(slots);
        return false;
    }
    free(g->slots);
    g->slots = slots;
    g->n_slots = n_slots;
    g->cap = n_slots / 2;
    for (size_t i = 0; i < g->n; i++)
        *slot_of(g, g->at[i].key) = i + 1;
    return true;
}

/* Sets g->last to the group of `key`, which is added if necessary.  Returns false when out of
 * memory. */
static bool find_group(cli_groups *g, const uint64_t *key)
{
    if (g->n == g->cap && !grow(g))
        return false;
    size_t *slot = slot_of(g, key);
    if (!*slot) {
        cli_group *fresh = &g->at[g->n++];
        *fresh = (cli_group){0};
        memcpy(fresh->key, key, g->n_keys * sizeof *key);
        *slot = g->n;
    }
    g->last = *slot - 1;
    return true;
}

/* Adds `records` and `bytes` to the group of `key`, which is created if necessary.  Returns the
 * group, which is valid until the next call, or NULL when out of memory. */
static cli_group *add_to_group(cli_groups *g, const uint64_t *key, uint64_t records, uint64_t bytes)
{
    /* Consecutive records often have the same key, which saves the search. */
    if ((g->n == 0 || !is_of(g, g->last, key)) && !find_group(g, key))
        return NULL;
    g->at[g->last].records += records;
    g->at[g->last].bytes += bytes;
    return &g->at[g->last];
}

static void free_groups(cli_groups *g)
{
    free(g->at);
    free(g->slots);
    *g = (cli_groups){.n_keys = g->n_keys, .seed = g->seed};
}

/* Rows with the same names become one row.  Two events may have one name, and a file may have been
 * mapped under several names of which the same part is shown.  After joining, the selection option
 * with the printed name selects exactly the records of a row. */

/* The name of a value, and a group with it. */
typedef struct named {
    perfile_bytes name;
    uint64_t value;
    size_t group;
} named;

/* Compares for qsort(): by name, then by value. */
static int compare(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    const int order = n ? memcmp(x->name.ptr, y->name.ptr, n) : 0;
    if (order)
        return order;
    if (x->name.len != y->name.len)
        return x->name.len < y->name.len ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool same_name(const named *a, const named *b)
{
    return a->name.len == b->name.len &&
           (!a->name.len || memcmp(a->name.ptr, b->name.ptr, a->name.len) == 0);
}

/* In key `k` of all groups, replaces the values that have the same name by the least of them.  Sets
 * *changed if a value was replaced.  Returns false when out of memory. */
static bool join_values(cli_counts *counts, unsigned k, bool *changed)
{
    cli_groups *g = &counts->groups;
    named *all = malloc((g->n + 1) * sizeof *all);
    size_t n = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        named x = {.value = g->at[i].key[k], .group = i};
        if (key_text(counts, k, x.value, &x.name))
            all[n++] = x;
    }
    qsort(all, n, sizeof *all, compare);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (!same_name(&all[i], &all[first])) {
            first = i;
            continue;
        }
        *changed |= all[i].value != all[first].value;
        g->at[all[i].group].key[k] = all[first].value;
    }
    free(all);
    return true;
}

bool cli_counts_join(cli_counts *counts)
{
    bool changed = false;
    cli_groups joined = {.n_keys = counts->groups.n_keys, .seed = counts->groups.seed};
    for (unsigned k = 0; k < counts->keys->n; k++)
        if (!join_values(counts, k, &changed))
            return false;
    for (size_t i = 0; changed && i < counts->groups.n; i++) {
        const cli_group *from = &counts->groups.at[i];
        cli_group *to = add_to_group(&joined, from->key, from->records, from->bytes);
        if (!to) {
            free_groups(&joined);
            return false;
        }
        to->samples += from->samples;
        to->period += from->period;
        to->no_period |= from->no_period;
        to->event = from->event ? from->event : to->event;
    }
    if (changed) {
        free_groups(&counts->groups);
        counts->groups = joined;
    }
    return true;
}

/* Counting for `stats`.
 *
 * The default key is the type alone.  It only needs the record headers: records are counted in an
 * array by type, and samples that the index of an archive counts are skipped
 * (pf_stream_pass()).  With all other keys, each record is looked up in the hash table of
 * groups. */

void cli_counts_start(cli_counts *counts, const cli_keys *keys)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    *counts = (cli_counts){.keys = keys, .groups = {.n_keys = keys->n}};
    /* Not secret, but the author of an input cannot know it. */
    counts->groups.seed = ((uint64_t)t.tv_nsec << 32 | 1) * 0x9e3779b97f4a7c15;
}

void cli_counts_end(cli_counts *counts)
{
    free_groups(&counts->groups);
    cli_fields_close(counts);
    free(counts->threads);
    perfile_profile_close(counts->counters);
}

/* Returns the size of a record with the bytes that follow it (AUX data). */
static inline uint64_t bytes_of(const perfile_record *r)
{
    return perfile_record_size(r) + r->extra.len;
}

enum { N_COUNTED_TYPES = 256 };

/* Counts of the types below N_COUNTED_TYPES, which are all types of perf.  Types of other families
 * are counted in groups. */
typedef struct type_counts {
    struct {
        uint64_t records, bytes;
    } at[N_COUNTED_TYPES];
} type_counts;

/* Counts samples at the current position without reading them, as far as possible. */
static void count_passed(type_counts *low, cli_input *in)
{
    pf_passed p;
    while (pf_stream_pass(in->stream, &p, sizeof p), p.samples) {
        low->at[PERFILE_RECORD_SAMPLE].records += p.samples;
        low->at[PERFILE_RECORD_SAMPLE].bytes += p.bytes;
        cli_input_passed(in, &p);
    }
}

/* Adds the counts to the groups.  Returns false when out of memory. */
static bool add_types(cli_counts *counts, const type_counts *low)
{
    bool ok = true;
    for (uint64_t type = 0; type < N_COUNTED_TYPES; type++) {
        if (!low->at[type].records)
            continue;
        cli_group *g =
            add_to_group(&counts->groups, &type, low->at[type].records, low->at[type].bytes);
        if (g && type == PERFILE_RECORD_SAMPLE)
            g->samples = g->records;
        ok = ok && g;
    }
    return ok;
}

/* Counts by type alone: two additions for each record that is read, none for those that are
 * skipped.  Batches that have only samples cannot contain losses and are not searched for them. */
static bool count_types(cli_counts *counts, cli_input *in)
{
    type_counts low = {0};
    const perfile_record *r;
    size_t n;
    bool ok = true;
    for (count_passed(&low, in); cli_next_run(in, &r, &n); count_passed(&low, in)) {
        uint64_t samples = low.at[PERFILE_RECORD_SAMPLE].records;
        bool of_counters = false;
        for (const perfile_record *at = r, *end = r + n; at < end; at++) {
            if (at->type < N_COUNTED_TYPES) {
                low.at[at->type].records++;
                low.at[at->type].bytes += bytes_of(at);
                of_counters |= cli_is_of_counters(at);
            } else {
                uint64_t key = cli_type_key(at);
                ok = add_to_group(&counts->groups, &key, 1, bytes_of(at)) && ok;
            }
        }
        if (low.at[PERFILE_RECORD_SAMPLE].records - samples != n)
            cli_losses_feed(&counts->losses, r, n);
        if (of_counters)
            cli_counters_put(counts, in, r, n);
        if (in->status < 0)
            break;
    }
    return add_types(counts, &low) && ok;
}

/* Counts a sample and its period.  Periods of different events count different things; if the
 * events differ, the sum is marked as having no meaning. */
static void count_sample(cli_group *g, const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    uint64_t period = 0;
    const uint32_t event = e ? e->index + 1 : 0; /* without an event, a sample has no period */
    const bool has_period = perfile_sample_period(r, &period) && e;
    g->no_period |= !has_period || (g->samples && g->event != event);
    g->samples++;
    g->event = event;
    g->period += period;
}

/* Sets key[] to the values of all keys for a record. */
static perfile_status key_values(cli_counts *counts, const cli_input *in, const perfile_record *r,
                                 uint64_t *key, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (unsigned k = 0; k < counts->keys->n && st == PERFILE_OK; k++)
        if (counts->keys->kind[k] == FIELD)
            st = cli_field_value(counts, k, r, &key[k], err);
        else
            key[k] = key_value(counts, k, in, r);
    return st;
}

/* Counts by any keys.  Returns errors like cli_count(). */
static perfile_status count_keys(cli_counts *counts, cli_input *in, perfile_error *err)
{
    const perfile_record *r;
    uint64_t key[CLI_MAX_KEYS];
    counts->periods = true;
    counts->threads = calloc(THREAD_NAMES, sizeof *counts->threads);
    perfile_status st = counts->threads ? cli_fields_open(counts, in->model, err) : PERFILE_E_NOMEM;
    while (st == PERFILE_OK && cli_next(in, &r)) {
        st = key_values(counts, in, r, key, err);
        if (st != PERFILE_OK)
            break;
        cli_group *g = add_to_group(&counts->groups, key, 1, bytes_of(r));
        if (!g)
            return PERFILE_E_NOMEM;
        if (r->type == PERFILE_RECORD_SAMPLE)
            count_sample(g, r);
        else
            cli_losses_feed(&counts->losses, r, 1);
        if (cli_is_of_counters(r))
            cli_counters_put(counts, in, r, 1);
        if (in->status < 0)
            break;
    }
    return st;
}

/* Sums up all groups.  If the groups have samples of different events, the sum of periods has no
 * meaning. */
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

perfile_status cli_count(cli_counts *counts, cli_input *in, perfile_error *err)
{
    perfile_status st;
    counts->session = perfile_stream_session(in->stream);
    if (cli_keys_type_only(counts->keys) && !in->selects)
        st = count_types(counts, in) ? PERFILE_OK : PERFILE_E_NOMEM;
    else
        st = count_keys(counts, in, err);
    cli_counters_finish(counts, in);
    add_up(counts);
    return st;
}
