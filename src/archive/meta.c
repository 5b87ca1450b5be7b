/* Encodes and decodes the maps of META chunks, and zones; see meta.h.
 *
 * Two tables list the keys of the map and of a part: which member has the value, and of which type
 * it is.  A map is decoded twice, first into a temporary pf_meta, so that a corrupt one changes
 * nothing.
 *
 * Parts are stored in the order in which they first occur, with an index by number.  With a sorted
 * array, hostile input (many maps of one part each) would cost quadratic time. */
#include "archive/meta.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "io/out.h"
#include "perfile/source.h"
#include "io/command.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A key with a text or number as its value, and the member of the struct for it. */
typedef struct meta_key {
    const char *name;
    enum { TEXT, NAME, FILE_OF_PART, U64, U32 } kind;
    size_t at;  /* offset of the member */
    size_t has; /* numbers: offset of the has_… member */
} meta_key;

static const meta_key part_keys[] = {
    {"format", TEXT, offsetof(pf_meta_part, format), 0},
    {"form", TEXT, offsetof(pf_meta_part, form), 0},
    {"name", FILE_OF_PART, offsetof(pf_meta_part, name), 0},
    {"size", U64, offsetof(pf_meta_part, size), offsetof(pf_meta_part, has_size)},
    {"crc32c", U32, offsetof(pf_meta_part, crc32c), offsetof(pf_meta_part, has_crc32c)},
    {"mode", U32, offsetof(pf_meta_part, mode), offsetof(pf_meta_part, has_mode)},
};
enum { N_PART_KEYS = sizeof part_keys / sizeof part_keys[0] };

static const meta_key meta_keys[] = {
    {"creator", TEXT, offsetof(pf_meta, creator), 0},
    {"created", U64, offsetof(pf_meta, created), offsetof(pf_meta, has_created)},
    {"host", TEXT, offsetof(pf_meta, host), 0},
    {"name", NAME, offsetof(pf_meta, name), 0},
    {"modified", U64, offsetof(pf_meta, modified), offsetof(pf_meta, has_modified)},
};
enum { N_META_KEYS = sizeof meta_keys / sizeof meta_keys[0] };

bool pf_meta_name_is_safe(perfile_bytes name)
{
    if (name.len == 0 || name.len > PF_META_MOST_NAME || memchr(name.ptr, '/', name.len) ||
        memchr(name.ptr, 0, name.len))
        return false;
    const bool dots = name.ptr[0] == '.' && name.ptr[name.len - 1] == '.';
    return !(dots && name.len <= 2);
}

bool pf_meta_part_name_is_safe(perfile_bytes name)
{
    char text[PF_META_MOST_NAME + 1] = "";
    if (pf_meta_name_is_safe(name))
        return true;
    if (!name.len || name.len > PF_META_MOST_NAME || memchr(name.ptr, 0, name.len))
        return false;
    memcpy(text, name.ptr, name.len);
    return pf_is_companion_file(text);
}

/* The words of `lossy`. */
static const struct {
    uint32_t bit;
    const char *word;
} lossy_words[PF_META_LOSSY_WORDS] = {{PF_LOSSY_EXPANDED, "expanded"},
                                      {PF_LOSSY_SCRUBBED, "scrubbed"},
                                      {PF_LOSSY_FILTERED, "filtered"},
                                      {PF_LOSSY_RECOVERED, "recovered"}};

uint32_t pf_meta_lossy_bits(const pf_meta *m)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < m->n_lossy; i++)
        for (size_t k = 0; k < PF_META_LOSSY_WORDS; k++)
            bits |= strcmp(m->lossy[i], lossy_words[k].word) == 0 ? lossy_words[k].bit : 0;
    return bits;
}

uint32_t pf_meta_lossy_words(uint32_t bits, const char *words[PF_META_LOSSY_WORDS])
{
    uint32_t n = 0;
    for (size_t k = 0; k < PF_META_LOSSY_WORDS; k++)
        if (bits & lossy_words[k].bit)
            words[n++] = lossy_words[k].word;
    return n;
}

/* Encoding. */

static const char *text_of(const void *from, const meta_key *k)
{
    const char *text;
    memcpy(&text, (const char *)from + k->at, sizeof text);
    return text;
}

static bool has_key(const void *from, const meta_key *k)
{
    if (k->kind <= FILE_OF_PART)
        return text_of(from, k) != NULL;
    return *(const bool *)((const char *)from + k->has);
}

static size_t count_keys(const void *from, const meta_key *keys, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += has_key(from, &keys[i]);
    return count;
}

/* Appends the keys that *from has, with their values. */
static bool put_keys(pf_buffer *out, const void *from, const meta_key *keys, size_t n)
{
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const meta_key *k = &keys[i];
        uint64_t v64;
        uint32_t v32;
        if (!has_key(from, k))
            continue;
        ok = pf_cbor_put_text(out, k->name);
        if (k->kind == U64) {
            memcpy(&v64, (const char *)from + k->at, sizeof v64);
            ok = ok && pf_cbor_put_uint(out, v64);
        } else if (k->kind == U32) {
            memcpy(&v32, (const char *)from + k->at, sizeof v32);
            ok = ok && pf_cbor_put_uint(out, v32);
        } else {
            ok = ok && pf_cbor_put_text(out, text_of(from, k));
        }
    }
    return ok;
}

static bool put_parts(pf_buffer *out, const pf_meta *m)
{
    if (!m->n_parts)
        return true;
    bool ok = pf_cbor_put_text(out, "parts") && pf_cbor_put_map(out, m->n_parts);
    for (uint32_t i = 0; i < m->n_parts && ok; i++) {
        const pf_meta_part *part = &m->parts[i];
        ok = pf_cbor_put_uint(out, part->number) &&
             pf_cbor_put_map(out, count_keys(part, part_keys, N_PART_KEYS)) &&
             put_keys(out, part, part_keys, N_PART_KEYS);
    }
    return ok;
}

static bool put_events(pf_buffer *out, const pf_meta *m)
{
    if (!m->has_events)
        return true;
    bool ok = pf_cbor_put_text(out, "events") && pf_cbor_put_array(out, m->n_events);
    for (uint32_t i = 0; i < m->n_events && ok; i++) {
        const pf_meta_event *e = &m->events[i];
        ok = pf_cbor_put_map(out, e->attr.ptr ? 2 : 1) && pf_cbor_put_text(out, "name") &&
             pf_cbor_put_text(out, e->name);
        if (e->attr.ptr)
            ok = ok && pf_cbor_put_text(out, "attr") && pf_cbor_put_bytes(out, e->attr);
    }
    return ok;
}

static bool put_lossy(pf_buffer *out, const pf_meta *m)
{
    if (!m->has_lossy)
        return true;
    bool ok = pf_cbor_put_text(out, "lossy") && pf_cbor_put_array(out, m->n_lossy);
    for (uint32_t i = 0; i < m->n_lossy && ok; i++)
        ok = pf_cbor_put_text(out, m->lossy[i]);
    return ok;
}

perfile_status pf_meta_encode(const pf_meta *m, pf_buffer *out, perfile_error *err)
{
    const size_t before = out->len;
    const size_t lists = (m->n_parts != 0) + (size_t)m->has_events + m->has_lossy;
    if (pf_cbor_put_map(out, count_keys(m, meta_keys, N_META_KEYS) + lists) &&
        put_keys(out, m, meta_keys, N_META_KEYS) && put_parts(out, m) && put_events(out, m) &&
        put_lossy(out, m))
        return PERFILE_OK;
    out->len = before;
    return pf_fail_nomem(err, "meta");
}

/* Decoding. */

/* A map that is being decoded.  `st` is PERFILE_E_NOMEM or PERFILE_E_LIMIT after a value could not
 * be stored; `c.why` is set if the input is wrong. */
typedef struct reading {
    pf_cbor c;
    pf_meta *m;
    perfile_status st;
    perfile_error *err;
} reading;

static bool goes_on(const reading *x)
{
    return !x->c.why && x->st == PERFILE_OK;
}

static bool is_word(perfile_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* Reads a key, which must be a text. */
static perfile_bytes read_key(reading *x)
{
    const pf_cbor_item item = pf_cbor_next(&x->c);
    if (item.kind != PF_CBOR_TEXT)
        pf_cbor_fail(&x->c, "a key that is not text");
    return item.bytes;
}

/* Reads a text and stores it with a final NUL. */
static const char *read_text(reading *x, unsigned kind)
{
    const char *text = NULL;
    const perfile_bytes bytes = pf_cbor_text(&x->c);
    if (x->c.why)
        return NULL;
    if ((kind == NAME && !pf_meta_name_is_safe(bytes)) ||
        (kind == FILE_OF_PART && !pf_meta_part_name_is_safe(bytes)))
        pf_cbor_fail(&x->c, "a name that no file in a directory may have");
    else if (bytes.len && memchr(bytes.ptr, 0, bytes.len))
        pf_cbor_fail(&x->c, "a NUL in a text");
    else
        x->st = pf_arena_text(&x->m->arena, bytes, &text, x->err);
    return text;
}

/* Reads the value of the key `name` into *to.  Returns false if the table does not have this key.
 * `seen` has a bit for each key of the table that occurred. */
static bool read_known(reading *x, perfile_bytes name, const meta_key *keys, size_t n, void *to,
                       unsigned *seen)
{
    size_t i = 0;
    while (i < n && !is_word(name, keys[i].name))
        i++;
    if (i == n)
        return false;
    const meta_key *k = &keys[i];
    char *at = (char *)to + k->at;
    if (*seen >> i & 1)
        pf_cbor_fail(&x->c, "a key occurs twice");
    *seen |= 1U << i;
    if (k->kind <= FILE_OF_PART) {
        const char *text = read_text(x, k->kind);
        if (goes_on(x))
            memcpy(at, &text, sizeof text);
        return true;
    }
    const uint64_t v64 = k->kind == U32 ? pf_cbor_u32(&x->c) : pf_cbor_uint(&x->c);
    const uint32_t v32 = (uint32_t)v64;
    if (!goes_on(x))
        return true;
    memcpy(at, k->kind == U32 ? (const void *)&v32 : &v64, k->kind == U32 ? 4 : 8);
    *(bool *)((char *)to + k->has) = true;
    return true;
}

/* Returns the part with this number, made if it is new, or NULL when out of memory. */
static pf_meta_part *part_for(pf_meta *m, uint32_t number)
{
    if (number >= m->n_part_at) {
        uint32_t n = m->n_part_at ? m->n_part_at : 16;
        while (n <= number)
            n *= 2;
        uint32_t *more = pf_realloc(m->part_at, n, sizeof *more);
        if (!more)
            return NULL;
        memset(more + m->n_part_at, 0, (n - m->n_part_at) * sizeof *more);
        m->part_at = more;
        m->n_part_at = n;
    }
    if (m->part_at[number])
        return &m->parts[m->part_at[number] - 1];
    pf_meta_part *parts = pf_array_more(m->parts, m->n_parts, &m->cap_parts, sizeof *parts);
    if (!parts)
        return NULL;
    m->parts = parts;
    parts[m->n_parts] = (pf_meta_part){.number = number};
    m->part_at[number] = ++m->n_parts;
    return &parts[m->n_parts - 1];
}

static void read_parts(reading *x)
{
    const uint64_t n = pf_cbor_map(&x->c);
    for (uint64_t i = 0; i < n && goes_on(x); i++) {
        const uint64_t number = pf_cbor_uint(&x->c);
        if (number >= PF_META_MOST_PARTS)
            pf_cbor_fail(&x->c, "a part with a number above 65535");
        const uint64_t n_keys = pf_cbor_map(&x->c);
        if (!goes_on(x))
            return;
        pf_meta_part *part = part_for(x->m, (uint32_t)number);
        if (!part) {
            x->st = pf_fail_nomem(x->err, "meta");
            return;
        }
        unsigned seen = 0;
        for (uint64_t k = 0; k < n_keys && goes_on(x); k++)
            if (!read_known(x, read_key(x), part_keys, N_PART_KEYS, part, &seen))
                pf_cbor_skip(&x->c);
    }
}

static void read_event(reading *x, pf_meta_event *e)
{
    const uint64_t n = pf_cbor_map(&x->c);
    for (uint64_t i = 0; i < n && goes_on(x); i++) {
        const perfile_bytes name = read_key(x);
        if (is_word(name, "name") && !e->name) {
            e->name = read_text(x, TEXT);
        } else if (is_word(name, "attr") && !e->attr.ptr) {
            const perfile_bytes attr = pf_cbor_bytes(&x->c);
            if (goes_on(x))
                x->st = pf_arena_copy(&x->m->arena, attr, &e->attr, x->err);
        } else if (is_word(name, "name") || is_word(name, "attr")) {
            pf_cbor_fail(&x->c, "a key occurs twice");
        } else {
            pf_cbor_skip(&x->c);
        }
    }
    if (!e->name)
        pf_cbor_fail(&x->c, "an event without a name");
}

/* Returns an array of `n` items of `width` bytes in the arena; NULL if `n` is 0 or after a
 * failure. */
static void *new_list(reading *x, uint64_t n, size_t width)
{
    void *p = NULL;
    size_t bytes;
    if (!goes_on(x) || n == 0)
        return NULL;
    /* Each item needs at least one byte of input, which thus costs `width` bytes of the limit. */
    if (pf_mul_size((size_t)n, width, &bytes))
        x->st = pf_fail_nomem(x->err, "meta");
    else
        x->st = pf_arena_get(&x->m->arena, bytes, &p, x->err);
    return p;
}

static void read_events(reading *x)
{
    const uint64_t n = pf_cbor_array(&x->c);
    pf_meta_event *events = new_list(x, n, sizeof *events);
    for (uint64_t i = 0; i < n && goes_on(x); i++)
        read_event(x, &events[i]);
    if (!goes_on(x))
        return;
    x->m->events = events;
    x->m->n_events = (uint32_t)n;
    x->m->has_events = true;
}

static void read_lossy(reading *x)
{
    const uint64_t n = pf_cbor_array(&x->c);
    const char **lossy = new_list(x, n, sizeof *lossy);
    for (uint64_t i = 0; i < n && goes_on(x); i++)
        lossy[i] = read_text(x, TEXT);
    if (!goes_on(x))
        return;
    x->m->lossy = lossy;
    x->m->n_lossy = (uint32_t)n;
    x->m->has_lossy = true;
}

static perfile_status read_map(perfile_bytes cbor, pf_meta *m, perfile_error *err)
{
    static const struct {
        const char *name;
        void (*read)(reading *x);
    } lists[] = {{"parts", read_parts}, {"events", read_events}, {"lossy", read_lossy}};
    enum { N_LISTS = sizeof lists / sizeof lists[0] };
    reading x = {.c = pf_cbor_begin(cbor), .m = m, .st = PERFILE_OK, .err = err};
    unsigned seen = 0, seen_lists = 0;
    if (!m->arena.limit)
        pf_arena_init(&m->arena, PF_META_MOST_BYTES, "archive.meta");
    const uint64_t n = pf_cbor_map(&x.c);
    for (uint64_t i = 0; i < n && goes_on(&x); i++) {
        const perfile_bytes name = read_key(&x);
        size_t k = 0;
        if (read_known(&x, name, meta_keys, N_META_KEYS, m, &seen))
            continue;
        while (k < N_LISTS && !is_word(name, lists[k].name))
            k++;
        if (k == N_LISTS) {
            pf_cbor_skip(&x.c);
            continue;
        }
        if (seen_lists >> k & 1)
            pf_cbor_fail(&x.c, "a key occurs twice");
        seen_lists |= 1U << k;
        lists[k].read(&x);
    }
    return x.st != PERFILE_OK ? x.st : pf_cbor_finish(&x.c, "meta", err);
}

perfile_status pf_meta_decode(perfile_bytes cbor, pf_meta *m, perfile_error *err)
{
    pf_meta trial = {0};
    perfile_status st = read_map(cbor, &trial, err);
    pf_meta_clear(&trial);
    return st == PERFILE_OK ? read_map(cbor, m, err) : st;
}

const pf_meta_part *pf_meta_part_of(const pf_meta *m, uint32_t number)
{
    if (number >= m->n_part_at || !m->part_at[number])
        return NULL;
    return &m->parts[m->part_at[number] - 1];
}

void pf_meta_clear(pf_meta *m)
{
    pf_arena_free(&m->arena);
    pf_free(m->parts);
    pf_free(m->part_at);
    *m = (pf_meta){0};
}

/* Zones as CBOR; see format/archive.cddl.
 *
 * Unknown values are left out.  A reader rejects what no writer produces (a key that occurs twice,
 * sets that do not ascend, more members or counts than the limits), and skips keys that it does not
 * know.  Its memory is bounded by the limits and by the size of the input. */

/* Keys of the map.  The numbers are part of the format. */
enum {
    KEY_RECORDS = 1,
    KEY_FIRST = 2,
    KEY_LAST = 3,
    KEY_TYPES = 4,
    KEY_EVENTS = 5,
    KEY_TIDS = 6,
    KEY_PIDS = 7,
    KEY_CPUS = 8,
    KEY_LOST = 9,
    KEY_UNTIMED = 10,
    KEY_TYPE_BYTES = 11,
    KEY_APART = 12,
    KEY_DATA_FIRST = 13,
    KEY_DATA_LAST = 14,
    KEYS_END
};

static bool put_pair(pf_buffer *out, bool known, uint64_t key, uint64_t v)
{
    return !known || (pf_cbor_put_uint(out, key) && pf_cbor_put_uint(out, v));
}

static bool put_counts(pf_buffer *out, bool known, uint64_t key, const pf_zone_counts *c)
{
    if (!known)
        return true;
    bool ok = pf_cbor_put_uint(out, key) && pf_cbor_put_map(out, c->n);
    for (uint32_t i = 0; i < c->n && ok; i++)
        ok = pf_cbor_put_uint(out, c->at[i].key) &&
             pf_cbor_put_uint(out, key == KEY_TYPE_BYTES ? c->at[i].bytes : c->at[i].records);
    return ok;
}

/* Writes the first member, then differences. */
static bool put_set(pf_buffer *out, uint64_t key, const pf_zone_set *s)
{
    if (!s->known)
        return true;
    bool ok = pf_cbor_put_uint(out, key) && pf_cbor_put_array(out, s->n);
    uint32_t before = 0;
    for (uint32_t i = 0; i < s->n && ok; i++) {
        ok = pf_cbor_put_uint(out, s->at[i] - before);
        before = s->at[i];
    }
    return ok;
}

static size_t count_zone_keys(const pf_zone *z)
{
    const bool type_bytes = z->types.known && z->types.has_bytes;
    return 1U + 2U * z->has_times + z->types.known + z->events.known + z->tids.known +
           z->pids.known + z->cpus.known + z->has_lost + z->has_untimed + type_bytes +
           z->has_apart + 2U * z->has_data_times;
}

perfile_status pf_zone_encode(pf_zone *z, pf_buffer *out, perfile_error *err)
{
    const size_t before = out->len;
    pf_zone_seal(z);
    if (pf_cbor_put_map(out, count_zone_keys(z)) && put_pair(out, true, KEY_RECORDS, z->records) &&
        put_pair(out, z->has_times, KEY_FIRST, z->first) &&
        put_pair(out, z->has_times, KEY_LAST, z->last) &&
        put_counts(out, z->types.known, KEY_TYPES, &z->types) &&
        put_counts(out, z->events.known, KEY_EVENTS, &z->events) &&
        put_set(out, KEY_TIDS, &z->tids) && put_set(out, KEY_PIDS, &z->pids) &&
        put_set(out, KEY_CPUS, &z->cpus) && put_pair(out, z->has_lost, KEY_LOST, z->lost) &&
        put_pair(out, z->has_untimed, KEY_UNTIMED, z->untimed) &&
        put_counts(out, z->types.known && z->types.has_bytes, KEY_TYPE_BYTES, &z->types) &&
        put_pair(out, z->has_apart, KEY_APART, z->apart) &&
        put_pair(out, z->has_data_times, KEY_DATA_FIRST, z->data_first) &&
        put_pair(out, z->has_data_times, KEY_DATA_LAST, z->data_last))
        return PERFILE_OK;
    out->len = before;
    return pf_fail_nomem(err, "zone");
}

/* qsort() order: by key. */
static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = ((const pf_zone_count *)a)->key, y = ((const pf_zone_count *)b)->key;
    return (x > y) - (x < y);
}

/* Reads counts with keys in any order.  Returns false when out of memory. */
static bool read_counts(pf_cbor *c, pf_zone_counts *counts)
{
    const uint64_t n = pf_cbor_map(c);
    if (n > PF_ZONE_MOST_COUNTS)
        pf_cbor_fail(c, "a zone with too many types or events");
    if (c->why)
        return true;
    if (n > counts->cap) {
        pf_zone_count *at = pf_realloc(counts->at, (size_t)n, sizeof *at);
        if (!at)
            return false;
        counts->at = at;
        counts->cap = (uint32_t)n;
    }
    for (uint32_t i = 0; i < n && !c->why; i++) {
        const uint64_t key = pf_cbor_uint(c);
        counts->at[i] = (pf_zone_count){.key = key, .records = pf_cbor_uint(c)};
    }
    if (c->why)
        return true;
    if (n)
        qsort(counts->at, (size_t)n, sizeof *counts->at, compare_keys);
    for (uint32_t i = 1; i < n; i++)
        if (counts->at[i].key == counts->at[i - 1].key)
            pf_cbor_fail(c, "a zone that counts a type or event twice");
    counts->n = (uint32_t)n;
    counts->known = true;
    return true;
}

static bool read_set(pf_cbor *c, pf_zone_set *s)
{
    const uint64_t n = pf_cbor_array(c);
    uint64_t sum = 0;
    if (n > PF_ZONE_MOST_MEMBERS)
        pf_cbor_fail(c, "a set with too many members");
    if (c->why)
        return true;
    if (n > s->cap) {
        uint32_t *at = pf_realloc(s->at, (size_t)n, sizeof *at);
        if (!at)
            return false;
        s->at = at;
        s->cap = (uint32_t)n;
    }
    for (uint32_t i = 0; i < n && !c->why; i++) {
        const uint32_t more = pf_cbor_u32(c);
        sum += more;
        if ((i && !more) || sum > UINT32_MAX)
            pf_cbor_fail(c, "a set that does not ascend, or beyond 32 bits");
        s->at[i] = (uint32_t)sum;
    }
    s->n = (uint32_t)n;
    s->known = true;
    return true;
}

/* Reads the value of a known key.  Returns false when out of memory. */
static bool read_value(pf_cbor *c, uint64_t key, pf_zone *z, pf_zone_counts *type_bytes)
{
    uint64_t *const numbers[KEYS_END] = {[KEY_RECORDS] = &z->records,
                                         [KEY_FIRST] = &z->first,
                                         [KEY_LAST] = &z->last,
                                         [KEY_LOST] = &z->lost,
                                         [KEY_UNTIMED] = &z->untimed,
                                         [KEY_APART] = &z->apart,
                                         [KEY_DATA_FIRST] = &z->data_first,
                                         [KEY_DATA_LAST] = &z->data_last};
    switch (key) {
    case KEY_TYPES:
        return read_counts(c, &z->types);
    case KEY_EVENTS:
        return read_counts(c, &z->events);
    case KEY_TIDS:
        return read_set(c, &z->tids);
    case KEY_PIDS:
        return read_set(c, &z->pids);
    case KEY_CPUS:
        return read_set(c, &z->cpus);
    case KEY_TYPE_BYTES:
        return read_counts(c, type_bytes);
    default:
        *numbers[key] = pf_cbor_uint(c);
        return true;
    }
}

/* Adds the bytes of each type to its count of records. */
static void join_type_bytes(pf_cbor *c, pf_zone_counts *types, const pf_zone_counts *bytes)
{
    if (!types->known || !bytes->known)
        return;
    if (types->n != bytes->n)
        pf_cbor_fail(c, "a zone with bytes of other types than records");
    for (uint32_t i = 0; i < types->n && !c->why; i++) {
        if (types->at[i].key != bytes->at[i].key)
            pf_cbor_fail(c, "a zone with bytes of other types than records");
        types->at[i].bytes = bytes->at[i].records;
    }
    types->has_bytes = true;
}

/* Sets the has_… members by the keys that occurred (bits of `seen`), and checks the values. */
static void settle(pf_cbor *c, pf_zone *z, uint32_t seen)
{
    const uint32_t times = 1U << KEY_FIRST | 1U << KEY_LAST;
    const uint32_t data_times = 1U << KEY_DATA_FIRST | 1U << KEY_DATA_LAST;
    z->has_times = (seen & times) == times;
    z->has_data_times = (seen & data_times) == data_times;
    z->has_lost = seen >> KEY_LOST & 1;
    z->has_untimed = seen >> KEY_UNTIMED & 1;
    z->has_apart = seen >> KEY_APART & 1;
    if (!(seen >> KEY_RECORDS & 1))
        pf_cbor_fail(c, "a zone without its number of records");
    if ((z->has_times && z->first > z->last) || (z->has_data_times && z->data_first > z->data_last))
        pf_cbor_fail(c, "a zone with a first time after the last");
    if (z->untimed > z->records || z->apart > z->records)
        pf_cbor_fail(c, "a zone with more records of one kind than records");
}

perfile_status pf_zone_decode(perfile_bytes cbor, pf_zone *z, perfile_error *err)
{
    pf_cbor c = pf_cbor_begin(cbor);
    pf_zone_counts type_bytes = {0};
    uint32_t seen = 0;
    bool memory = true;
    pf_zone_forget(z);
    const uint64_t n = pf_cbor_map(&c);
    for (uint64_t i = 0; i < n && memory && !c.why; i++) {
        const pf_cbor_item key = pf_cbor_next(&c);
        if (key.kind != PF_CBOR_UINT && key.kind != PF_CBOR_NEGATIVE) {
            pf_cbor_fail(&c, "a zone with a key that is not a number");
        } else if (key.kind == PF_CBOR_NEGATIVE || key.number < 1 || key.number >= KEYS_END) {
            pf_cbor_skip(&c);
        } else if (seen >> key.number & 1) {
            pf_cbor_fail(&c, "a zone with a key twice");
        } else {
            seen |= 1U << key.number;
            memory = read_value(&c, key.number, z, &type_bytes);
        }
    }
    join_type_bytes(&c, &z->types, &type_bytes);
    settle(&c, z, seen);
    perfile_status st = memory ? pf_cbor_finish(&c, "zone", err) : pf_fail_nomem(err, "zone");
    if (st != PERFILE_OK)
        pf_zone_forget(z);
    pf_zone_counts_free(&type_bytes);
    return st;
}
