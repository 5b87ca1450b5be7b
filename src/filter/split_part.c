/* Decides which side-band and features a part needs besides the records that are at home in it.
 * The filter stage can do that already, so each part has a pf_filter, which selects the records at
 * home in the part instead of testing terms.  The filter still gets the terms that would select the
 * part, if its decisions depend on them (losses by time, AUX data by CPU or thread). */
#include "base/alloc.h"
#include "base/error.h"
#include "core/zone.h"
#include "perfile/event.h"
#include "schema/rows.h"
#include "filter/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sets the terms of the filter that would select the part: by CPU, thread or time. */
static perfile_status terms_of(const pf_split *x, const pf_split_home *home, pf_filter *part,
                               perfile_error *err)
{
    uint64_t from = home->first_time, to = home->last_time;
    bool by_cpu = x->options.by == PERFILE_SPLIT_CPU, by_tid = x->options.by == PERFILE_SPLIT_TID;
    part->pass.window_end = PERFILE_NO_TIME;
    if (by_cpu || by_tid) {
        part->terms.given = 1U << (by_cpu ? PERFILE_FILTER_BY_CPU : PERFILE_FILTER_BY_TID);
        return home->key == PF_SPLIT_NO_KEY
                   ? PERFILE_OK
                   : pf_ranges_add(by_cpu ? &part->terms.cpus : &part->terms.tids, home->key,
                                   home->key, err);
    }
    if (x->options.by == PERFILE_SPLIT_EVERY && x->scan->first_time != PERFILE_NO_TIME) {
        from = x->scan->first_time + home->key * x->options.amount;
        /* The end of the last window may overflow, or be the value that means no time. */
        to = from + (x->options.amount - 1);
        to = to < from || to == PERFILE_NO_TIME ? PERFILE_NO_TIME - 1 : to;
    }
    if (!x->in_order || from == PERFILE_NO_TIME)
        return PERFILE_OK;
    part->terms.given = 1U << PERFILE_FILTER_BY_TIME;
    part->pass.window_end = to;
    return pf_ranges_add(&part->terms.times, from, to, err);
}

perfile_status pf_split_part(const pf_split *x, uint32_t n, pf_filter **part, perfile_error *err)
{
    const pf_split_home *home = &pf_split_homes(x)[n];
    perfile_filter_options how = {.size = sizeof how};
    if (!x->state)
        how.flags = PERFILE_FILTER_NO_SIDEBAND;
    if (x->compact)
        how.flags = PERFILE_FILTER_COMPACT_SIDEBAND;
    perfile_status st = perfile_filter_open(&how, part, err);
    if (st != PERFILE_OK)
        return st;
    (*part)->sideband.is_part = true;
    (*part)->result.samples = x->samples;
    (*part)->result.kept_samples = home->samples;
    (*part)->kept.first = home->first_sample;
    (*part)->kept.last = home->last_sample == PERFILE_NO_TIME ? 0 : home->last_sample;
    return terms_of(x, home, *part, err);
}

bool pf_split_concerns_all(const pf_split *x, const perfile_record *first, size_t n)
{
    /* AUX data may be needed by other parts, unless it is cut at the boundaries of parts.
     * Compacted side-band needs all changes of processes in order. */
    if (first->type == PERFILE_RECORD_AUXTRACE)
        return !x->stored;
    for (size_t i = 0; i < n && x->compact; i++)
        if (pf_role_of(&first[i]) == PF_ROLE_TASK)
            return true;
    return false;
}

perfile_status pf_split_note_run(pf_filter *part, const pf_run *run, uint64_t home,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    /* Samples are data.  Of the other records at home, only those of role data count as selected.
     */
    uint64_t data = home, others = run->all & ~run->samples;
    for (uint64_t left = home & others; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        if (pf_role_of(&run->first[i]) != PF_ROLE_DATA)
            data &= ~(UINT64_C(1) << i);
    }
    if (data)
        st = pf_filter_count(part, run, data, err);
    return st == PERFILE_OK && others ? pf_filter_note_others(part, run, data, err) : st;
}

bool pf_split_part_needs(const pf_split *x, pf_filter *part, const perfile_record *r)
{
    /* AUX data is by far the largest.  In stored order it is only in the part where it is at home.
     */
    if (r->type == PERFILE_RECORD_AUXTRACE && x->stored)
        return false;
    return pf_filter_keep(part, r);
}

/* The key of a record, by which it belongs to a part.
 *
 * For samples the key is mostly a field at a fixed offset, which is read for a whole run at once
 * (of_samples()).  All other records are decoded one by one (key_of()).  By time, a record without
 * a time gets the key of the previous record, which x->key carries from run to run. */

/* Returns the number of the window of `time`; 0 before the first sample, and if there is none. */
uint64_t pf_split_window_of(const pf_split *x, uint64_t time)
{
    uint64_t first = x->scan->first_time;
    return time < first || first == PERFILE_NO_TIME ? 0 : (time - first) / x->options.amount;
}

/* AUXTRACE records have the CPU and thread of their AUX data in fields of their own; -1 is any. */
static uint64_t key_of_aux(const pf_split *x, const perfile_record *r)
{
    perfile_auxtrace v;
    if (perfile_auxtrace_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PF_SPLIT_NO_KEY;
    uint32_t number = x->options.by == PERFILE_SPLIT_CPU ? v.cpu : v.tid;
    return number == UINT32_MAX ? PF_SPLIT_NO_KEY : number;
}

/* Returns the key of one record, PF_SPLIT_NO_KEY if it has none. */
static uint64_t key_of(const pf_split *x, const perfile_record *r)
{
    uint32_t pid, tid, cpu;
    uint64_t time;
    uint32_t by = x->options.by;
    bool aux = r->type == PERFILE_RECORD_AUXTRACE;
    switch (by) {
    case PERFILE_SPLIT_EVERY:
        time = perfile_record_time(r);
        return time == PERFILE_NO_TIME ? x->key : pf_split_window_of(x, time);
    case PERFILE_SPLIT_PID:
    case PERFILE_SPLIT_TID:
        if (aux && by == PERFILE_SPLIT_TID)
            return key_of_aux(x, r);
        if (!perfile_record_task(r, &pid, &tid))
            return PF_SPLIT_NO_KEY;
        return by == PERFILE_SPLIT_PID ? pid : tid;
    case PERFILE_SPLIT_CPU:
        if (aux)
            return key_of_aux(x, r);
        return perfile_record_cpu(r, &cpu) ? cpu : PF_SPLIT_NO_KEY;
    case PERFILE_SPLIT_EVENT: {
        const perfile_event *e = pf_filter_event(r);
        return e ? e->index : PF_SPLIT_NO_KEY;
    }
    case PERFILE_SPLIT_COMM: {
        const char *name = pf_filter_comm(x->scan, r);
        return name ? (uint64_t)(uintptr_t)name : PF_SPLIT_NO_KEY;
    }
    default:
        return r->sequence;
    }
}

/* Sets the keys of samples if the key is a field at a fixed offset.  Returns the bits of those
 * samples. */
static uint64_t of_samples(const pf_split *x, const perfile_record *first, size_t n, uint64_t *keys)
{
    static const struct {
        uint32_t field;
        unsigned shift;
        uint64_t mask;
    } fields[] = {[PERFILE_SPLIT_EVERY] = {PERFILE_SAMPLE_TIME, 0, UINT64_MAX},
                  [PERFILE_SPLIT_PID] = {PERFILE_SAMPLE_TID, 0, UINT32_MAX},
                  [PERFILE_SPLIT_TID] = {PERFILE_SAMPLE_TID, 32, UINT32_MAX},
                  [PERFILE_SPLIT_CPU] = {PERFILE_SAMPLE_CPU, 0, UINT32_MAX}};
    uint64_t values[PERFILE_RUN_RECORDS], known = 0;
    uint32_t at[PERFILE_RUN_RECORDS], by = x->options.by;
    if (by >= sizeof fields / sizeof fields[0] || !fields[by].field)
        return 0;
    size_t found = perfile_sample_fields(first, n, fields[by].field, values, at);
    for (size_t i = 0; i < found; i++) {
        keys[at[i]] = values[i] >> fields[by].shift & fields[by].mask;
        known |= UINT64_C(1) << at[i];
    }
    if (by != PERFILE_SPLIT_EVERY)
        return known;
    /* By time, `keys` has times so far.  Most are in the window of the previous sample, which takes
     * one subtraction and comparison instead of a division.  A time before `begin` wraps around and
     * fails the comparison. */
    uint64_t window = x->key == PF_SPLIT_NO_KEY ? 0 : x->key;
    uint64_t begin = x->scan->first_time + window * x->options.amount;
    for (size_t i = 0; i < found; i++) {
        uint64_t time = keys[at[i]];
        if (time - begin >= x->options.amount) {
            window = pf_split_window_of(x, time);
            begin = x->scan->first_time + window * x->options.amount;
        }
        keys[at[i]] = time < x->scan->first_time ? 0 : window;
    }
    return known;
}

void pf_split_keys(pf_split *x, const perfile_record *first, size_t n, uint64_t *keys)
{
    uint64_t known = of_samples(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
        if (!(known >> i & 1))
            keys[i] = key_of(x, &first[i]);
        x->key = keys[i];
    }
}

const char *pf_split_key_text(const pf_split *x, uint64_t key, char buffer[24])
{
    if (key == PF_SPLIT_NO_KEY)
        return "none";
    if (x->options.by == PERFILE_SPLIT_COMM)
        return (const char *)(uintptr_t)key;
    if (x->options.by == PERFILE_SPLIT_EVENT)
        return perfile_session_event(x->session, (uint32_t)key)->name;
    snprintf(buffer, 24, "%" PRIu64, key);
    return buffer;
}

/* Names of parts, made from a pattern with one %d (number) or %s (key).
 *
 * Keys come from input (names of threads): append_key() allows only letters, digits and a few other
 * characters in a file name.  Names that were used before get a number: "a.data", "a-2.data". */

enum {
    WIDEST = 20,     /* greatest width of a number, %20d */
    MOST_KEY = 100,  /* most bytes of a key in a name */
    MOST_NAME = 4096 /* most bytes of a name with its folder, as PATH_MAX of Linux */
};

/* A parsed pattern. */
typedef struct pattern {
    const char *before; /* text before the conversion … */
    const char *behind; /* … and after it; %% is not resolved in either */
    size_t before_len;
    char conversion; /* 'd' or 's' */
    bool zeros;      /* %04d */
    unsigned width;
    unsigned n; /* number of conversions found */
} pattern;

/* Parses the conversion or %% that begins at `at`, and stores a conversion in *p.  Returns its end,
 * NULL if it is neither. */
static const char *parse_conversion(const char *at, pattern *p)
{
    const char *end = at + 1;
    bool zeros = *end == '0';
    unsigned width = 0;
    for (; *end >= '0' && *end <= '9' && width <= WIDEST; end++)
        width = 10 * width + (unsigned)(*end - '0');
    if (*end == '%' && end == at + 1)
        return end + 1;
    if ((*end != 'd' && !(*end == 's' && end == at + 1)) || width > WIDEST)
        return NULL;
    p->conversion = *end;
    p->zeros = zeros;
    p->width = width;
    p->n++;
    p->before_len = (size_t)(at - p->before);
    p->behind = end + 1;
    return end + 1;
}

/* Parses a pattern.  It must have exactly one conversion, in the file name. */
static perfile_status parse_pattern(const char *text, pattern *p, perfile_error *err)
{
    const char *slash = strrchr(text, '/');
    *p = (pattern){.before = text};
    for (const char *at = text; *at;) {
        const char *end = *at == '%' ? parse_conversion(at, p) : at + 1;
        if (!end)
            return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                           "'%s': a %% must be followed by d, 4d, 04d, s or %%", text);
        at = end;
    }
    if (p->n != 1)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       p->n ? "'%s' has more than one place for the part, %%d or %%s"
                            : "'%s' has no place for the part, as %%04d in 'part-%%04d.data'",
                       text);
    if (slash && slash >= text + p->before_len)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "'%s': the place for the part must be in the name of the file, not of the "
                       "folder",
                       text);
    return PERFILE_OK;
}

perfile_status pf_split_pattern(const char *text, uint32_t by, perfile_error *err)
{
    pattern p;
    perfile_status st = parse_pattern(text, &p, err);
    if (st == PERFILE_OK && p.conversion == 's' && by <= PERFILE_SPLIT_RECORDS)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "'%s': %%s is the key of a part, and parts by time, size or number "
                       "have none: use %%d",
                       text);
    return st;
}

/* Appends `len` bytes of the pattern, with %% as %.  *n is the length of `out`, which is cut at
 * MOST_NAME. */
static void append_text(char *out, size_t *n, const char *text, size_t len)
{
    for (size_t i = 0; i < len && *n + 1 < MOST_NAME; i++) {
        out[(*n)++] = text[i];
        i += text[i] == '%';
    }
    out[*n] = '\0';
}

/* Appends a key as part of a file name.  Characters other than letters, digits, '_', '.' and '-'
 * become '_'.  So do '.' and '-' at the start, which would make hidden files or options. */
static void append_key(char *out, size_t *n, const char *key)
{
    size_t begin = *n;
    bool at_front = begin == 0 || out[begin - 1] == '/';
    for (size_t i = 0; key[i] && i < MOST_KEY && *n + 1 < MOST_NAME; i++) {
        char c = key[i];
        bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool kept = letter || c == '_' || ((c == '.' || c == '-') && !(i == 0 && at_front));
        out[(*n)++] = kept ? c : '_';
    }
    if (*n == begin)
        out[(*n)++] = '_';
    out[*n] = '\0';
}

/* Writes the name of a part.  `again` is the number to append, 0 for none. */
static void format_name(const pattern *p, uint32_t number, const char *key, uint32_t again,
                        char out[MOST_NAME])
{
    size_t n = 0;
    append_text(out, &n, p->before, p->before_len);
    if (p->conversion == 's')
        append_key(out, &n, key);
    else
        n += (size_t)snprintf(out + n, MOST_NAME - n, p->zeros ? "%0*u" : "%*u", (int)p->width,
                              number);
    if (again)
        n += (size_t)snprintf(out + n, MOST_NAME - n, "-%u", again);
    append_text(out, &n, p->behind, strlen(p->behind));
}

/* Returns the stored copy of a name that was used before, NULL if it was not. */
static const char *find(const pf_split_names *names, const char *name)
{
    return pf_texts_find(&names->used, (perfile_bytes){(const uint8_t *)name, strlen(name)});
}

/* Returns the last number that was appended to the used name `name`, 1 at first.  It is stored so
 * that many equal names need no search from 2 on.  Returns NULL when out of memory. */
static uint32_t *count_of(pf_split_names *names, const char *name)
{
    const uint32_t one = 1;
    uint32_t at = pf_index_get(&names->places, (uintptr_t)name);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(names->counts.len / sizeof one);
        if (!pf_buffer_append(&names->counts, &one, sizeof one) ||
            !pf_index_put(&names->places, (uintptr_t)name, at))
            return NULL;
    }
    return (uint32_t *)(void *)names->counts.ptr + at;
}

perfile_status pf_split_name(pf_split_names *names, const char *text, uint32_t number,
                             const char *key, const char **name, perfile_error *err)
{
    pattern p;
    char out[MOST_NAME];
    if (strlen(text) >= MOST_NAME - MOST_KEY - 2 * WIDEST)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "the pattern has %zu bytes, less than %d are needed", strlen(text),
                       MOST_NAME - MOST_KEY - 2 * WIDEST);
    perfile_status st = parse_pattern(text, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (!names->used.seed)
        names->used.seed = names->places.seed = pf_index_seed(names);
    format_name(&p, number, key, 0, out);
    const char *used = find(names, out);
    uint32_t *count = used ? count_of(names, used) : NULL;
    if (used && !count)
        return pf_fail_nomem(err, "split");
    /* A numbered name may have been used, too: by a key that ends with "-2". */
    while (used && find(names, out))
        format_name(&p, number, key, ++*count, out);
    *name = pf_texts_keep(&names->used, (perfile_bytes){(const uint8_t *)out, strlen(out)});
    return *name ? PERFILE_OK : pf_fail_nomem(err, "split");
}

void pf_split_names_free(pf_split_names *names)
{
    pf_texts_free(&names->used);
    pf_index_free(&names->places);
    pf_buffer_free(&names->counts);
}

/* Ranges of an archive in which, according to the zone, all samples are at home in one part.
 *
 * Passes before the writing one count such a range without reading it.  Its payload must still be
 * intact: damaged payloads are read, so that the damage is reported. */

/* Sets *key to the only member of a set.  Returns false if the set has other members or is not
 * known. */
static bool only_member(const pf_zone_set *set, uint64_t *key)
{
    if (!set->known || set->n != 1)
        return false;
    *key = set->at[0];
    return true;
}

/* Sets *key to the key or time window of all samples of a zone.  Returns false if they are not
 * known to have one in common. */
static bool key_of_zone(const pf_split *x, const pf_zone *z, uint64_t *key)
{
    switch (x->options.by) {
    case PERFILE_SPLIT_EVERY:
        *key = pf_split_window_of(x, z->data_first);
        return z->has_data_times && *key == pf_split_window_of(x, z->data_last);
    case PERFILE_SPLIT_PID:
        return only_member(&z->pids, key);
    case PERFILE_SPLIT_TID:
        return only_member(&z->tids, key);
    case PERFILE_SPLIT_CPU:
        return only_member(&z->cpus, key);
    case PERFILE_SPLIT_EVENT:
        *key = z->events.n ? z->events.at[0].key : 0;
        return z->events.known && z->events.n == 1 &&
               z->events.at[0].records == z->records - z->apart;
    default:
        return false;
    }
}

bool pf_split_zone_part(const pf_split *x, const pf_zone *z, uint64_t sequence, uint32_t *part,
                        uint64_t *key)
{
    if (!pf_zone_only_samples(z))
        return false;
    if (x->stored) { /* keys are sequences */
        *key = sequence + (z->records - 1);
        *part = pf_split_part_of_key(x, sequence);
        return *part == pf_split_part_of_key(x, *key);
    }
    if (!key_of_zone(x, z, key))
        return false;
    *part = pf_split_part_of_key(x, *key);
    return *part < x->n;
}

/* pf_narrow.needs of the first pass, which reads times or names of threads. */
static unsigned needs_first(void *user, const pf_zone *z, uint64_t sequence)
{
    const pf_split *x = user;
    (void)sequence;
    const bool by_comm = x->options.by == PERFILE_SPLIT_COMM;
    const bool known = by_comm || (x->options.by == PERFILE_SPLIT_EVERY && z->has_data_times);
    return known && pf_zone_only_samples(z) ? PF_NEED_COUNT : PF_NEED_ALL;
}

/* pf_narrow.needs of the pass that finds the parts. */
static unsigned needs_find(void *user, const pf_zone *z, uint64_t sequence)
{
    pf_split *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    x->range_counted = false;
    if (!samples || !z->types.has_bytes || !z->has_data_times)
        return PF_NEED_ALL;
    if (x->options.by == PERFILE_SPLIT_RECORDS) {
        const uint64_t records = x->n ? pf_split_homes(x)[x->at].records : x->options.amount;
        x->range_key = sequence;
        return samples->records <= x->options.amount - records ? PF_NEED_COUNT : PF_NEED_ALL;
    }
    return key_of_zone(x, z, &x->range_key) ? PF_NEED_COUNT : PF_NEED_ALL;
}

/* pf_narrow.passed of both passes. */
static void pass(void *user, const pf_zone *z, uint64_t sequence, uint64_t records)
{
    pf_split *x = user;
    (void)sequence;
    if (!x->finds) {
        if (x->options.by == PERFILE_SPLIT_EVERY && z->data_first < x->scan->first_time)
            x->scan->first_time = z->data_first;
        return;
    }
    x->records += records;
    x->key = x->range_key;
    if (!x->range_counted && x->passed == PERFILE_OK)
        x->passed = pf_split_find_zone(x, z, x->range_key, &x->passed_error);
    x->range_counted = true;
}

void pf_split_narrow(pf_split *x, perfile_stream *s, bool finds)
{
    x->finds = finds;
    x->narrow = (pf_narrow){.needs = finds ? needs_find : needs_first, .passed = pass, .user = x};
    pf_stream_narrow(s, &x->narrow);
}

perfile_status pf_split_narrow_status(const pf_split *x, perfile_error *err)
{
    if (x->passed != PERFILE_OK && err)
        *err = x->passed_error;
    return x->passed;
}
