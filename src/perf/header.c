/* Reads the header of perf.data.
 *
 * Two facts are not stated in the header and are inferred: the byte order of version 1, in which
 * the magic is text and the same in both orders; and the width of the words of the feature bitmap,
 * which perf writes as an array of `unsigned long`. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/options.h"
#include "perf/header.h"
#include "perf/stream.h"
#include "perfile/field.h"
#include "perfile/recover.h"
#include "schema/types.h"
#include "schema/rows.h"
#include "schema/command.h"
#include "core/command.h"

#include <ctype.h>
#include <stdlib.h>

enum { FEATURE_HOSTNAME = 3 };

static const uint8_t magic_1[8] = {'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'};
static const uint8_t magic_2[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
static const uint8_t magic_2_big[8] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'};

static bool known(uint64_t size)
{
    return size == PF_PERF_PIPE_HEADER || size == PF_PERF_OLD_HEADER || size == PF_PERF_FILE_HEADER;
}

bool pf_perf_header_size_known(const pf_perf_header *h)
{
    return known(h->size);
}

/* Version 1: the byte order is the one that makes the header size a known size.  If both or none
 * do, it is the one that makes the size smaller. */
static bool version_1_swapped(const uint8_t *size)
{
    uint64_t native = pf_load_u64(size, false);
    uint64_t swapped = pf_load_u64(size, true);
    if (known(native) != known(swapped))
        return known(swapped);
    return swapped < native;
}

unsigned pf_perf_header_begin(perfile_bytes bytes, pf_perf_header *h)
{
    memset(h, 0, sizeof *h);
    if (bytes.len < sizeof magic_1)
        return PERFILE_DAMAGE_BAD_MAGIC;
    bool is_1 = memcmp(bytes.ptr, magic_1, sizeof magic_1) == 0;
    bool is_big = memcmp(bytes.ptr, magic_2_big, sizeof magic_2_big) == 0;
    if (!is_1 && !is_big && memcmp(bytes.ptr, magic_2, sizeof magic_2) != 0)
        return PERFILE_DAMAGE_BAD_MAGIC;
    if (bytes.len < PF_PERF_PIPE_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;

    h->version = is_1 ? 1 : 2;
    h->swap = is_1 ? version_1_swapped(bytes.ptr + 8) : is_big != (bool)PF_NATIVE_BIG;
    h->magic = pf_load_u64(bytes.ptr, PF_NATIVE_BIG);
    h->size = pf_load_u64(bytes.ptr + 8, h->swap);
    h->form = h->size == PF_PERF_PIPE_HEADER ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    h->used = h->size == PF_PERF_PIPE_HEADER  ? PF_PERF_PIPE_HEADER
              : h->size == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER
                                              : PF_PERF_FILE_HEADER;
    return 0;
}

static bool has_hostname(const uint64_t features[4])
{
    return features[0] >> FEATURE_HOSTNAME & 1;
}

static unsigned n_unknown(const uint64_t features[4])
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++)
        n += (features[i / 64] >> i % 64 & 1) && !pf_feature_row(i);
    return n;
}

/* In little-endian files the bitmap is the same for both widths of `unsigned long`.  In big-endian
 * files the halves of each 64-bit word are exchanged.  HOSTNAME, which perf always writes,
 * distinguishes them.  Without it, the reading with fewer unknown features is chosen. */
bool pf_perf_bitmap_narrow(const uint64_t wide[4], uint64_t narrow[4])
{
    for (unsigned i = 0; i < 4; i++)
        narrow[i] = wide[i] << 32 | wide[i] >> 32;
    if (has_hostname(wide))
        return false;
    return has_hostname(narrow) || n_unknown(narrow) < n_unknown(wide);
}

static perfile_section section(pf_cursor *c)
{
    perfile_section s;
    s.offset = pf_cur_u64(c);
    s.size = pf_cur_u64(c);
    return s;
}

unsigned pf_perf_header_sections(perfile_bytes bytes, pf_perf_header *h)
{
    if (bytes.len < h->used)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    pf_cursor c = pf_cur(bytes, h->swap);
    pf_cur_span(&c, PF_PERF_PIPE_HEADER);
    h->attr_size = pf_cur_u64(&c);
    h->attrs = section(&c);
    h->data = section(&c);
    h->event_types = section(&c);
    if (h->used == PF_PERF_FILE_HEADER) {
        uint64_t narrow[4];
        bool big = h->swap != (bool)PF_NATIVE_BIG;
        for (unsigned i = 0; i < 4; i++)
            h->features[i] = pf_cur_u64(&c);
        if (big && pf_perf_bitmap_narrow(h->features, narrow))
            memcpy(h->features, narrow, sizeof narrow);
    }
    return 0;
}

/* Finding the feature table in damaged bytes: see header.h. */

unsigned pf_table_count(const uint64_t features[4])
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(features[i]);
    return n;
}

bool pf_table_plausible(const pf_table_bytes *in, uint64_t at, uint64_t n, uint64_t pad,
                        uint64_t moved, uint64_t *end)
{
    if (n == 0 || n > PF_TABLE_MOST || at < in->at ||
        !pf_within(at - in->at, n * PF_TABLE_ENTRY, in->bytes.len))
        return false;
    const uint8_t *entry = in->bytes.ptr + (at - in->at);
    uint64_t behind = at + n * PF_TABLE_ENTRY;
    uint64_t first = UINT64_MAX, last = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++, entry += PF_TABLE_ENTRY) {
        uint64_t offset = pf_load_u64(entry, in->swap);
        uint64_t size = pf_load_u64(entry + 8, in->swap);
        if (i && !offset && !size)
            continue; /* perf reserved an entry for a feature that it could not write */
        offset += moved;
        if (offset < behind || !pf_within(offset, size, in->size))
            return false;
        first = offset < first ? offset : first;
        last = offset + size > last ? offset + size : last;
        sum += size;
    }
    *end = last;
    return first - behind <= pad && last - first >= sum && last - first - sum <= pad;
}

bool pf_table_find_moved(const pf_table_bytes *in, const pf_perf_header *h, uint64_t *table)
{
    const uint64_t pad = PF_TABLE_MOST * PF_TABLE_ENTRY;
    const uint64_t n = pf_table_count(h->features);
    uint64_t stood, end;
    if (n == 0 || h->data.size == 0 || pf_add_u64(h->data.offset, h->data.size, &stood))
        return false;
    for (uint64_t i = 0; pf_within(i, n * PF_TABLE_ENTRY, in->bytes.len); i++) {
        /* Between table and first section are the entries of features that perf could not write. */
        const uint64_t front = pf_load_u64(in->bytes.ptr + i, in->swap) - stood;
        const uint64_t at = in->at + i;
        if (front > pad || front % PF_TABLE_ENTRY || at == stood ||
            !pf_table_plausible(in, at, n, pad, at - stood, &end))
            continue;
        *table = at;
        return true;
    }
    return false;
}

/* The extents of a file: every section as the header gives it, and the gaps between them.
 *
 * All sections go into one list (add_sections()), which is sorted by offset.  One pass over it then
 * marks overlaps and appends gaps and the tail (find_gaps()), and the list is sorted again. */

typedef struct pf_extent_list {
    perfile_extent *at; /* has room for all extents: see pf_perf_extents() */
    uint32_t n;
    uint64_t file_size;
} pf_extent_list;

/* Appends an extent, unless it is empty. */

static void add(pf_extent_list *list, uint32_t role, uint32_t number, uint64_t offset,
                uint64_t length)
{
    if (length == 0)
        return;
    list->at[list->n++] = (perfile_extent){.offset = offset,
                                           .length = length,
                                           .role = role,
                                           .number = number,
                                           .outside = !pf_within(offset, length, list->file_size)};
}

/* Order for qsort(): by offset, shorter ones first. */
static int by_offset(const void *a, const void *b)
{
    const perfile_extent *x = a;
    const perfile_extent *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

/* Adds the sections of a file, or header and records of a pipe.  If the writer of a file was
 * killed, the records go on to its end, and there are no features. */
static void add_sections(pf_extent_list *list, const pf_perf_stream *p, const pf_perf_header *h)
{
    const perfile_container *c = &p->base.container;
    uint32_t n = 0;
    add(list, PERFILE_EXTENT_HEADER, 0, 0, h->used < list->file_size ? h->used : list->file_size);
    if (h->form == PERFILE_FORM_PIPE) {
        if (list->file_size > h->used)
            add(list, PERFILE_EXTENT_RECORDS, 0, h->used, list->file_size - h->used);
        return;
    }
    add(list, PERFILE_EXTENT_ATTRS, 0, h->attrs.offset, h->attrs.size);
    for (uint32_t i = 0; i < p->n_ids; i++)
        add(list, PERFILE_EXTENT_IDS, i, p->ids[i].offset, p->ids[i].size);
    add(list, PERFILE_EXTENT_EVENT_TYPES, 0, h->event_types.offset, h->event_types.size);
    uint64_t size = h->data.size;
    if (c->unterminated && list->file_size > h->data.offset)
        size = list->file_size - h->data.offset;
    add(list, PERFILE_EXTENT_RECORDS, 0, h->data.offset, size);
    if (c->unterminated)
        return;
    for (uint32_t i = 0; i < pf_session_n_features(p->base.session); i++) {
        const perfile_feature *f = perfile_session_feature_at(p->base.session, i);
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        n++;
        if (f->damage != PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE)
            add(list, PERFILE_EXTENT_FEATURE, f->number, f->offset, f->size);
    }
    uint64_t table;
    if (!pf_add_u64(h->data.offset, h->data.size, &table))
        add(list, PERFILE_EXTENT_FEATURE_TABLE, 0, table, (uint64_t)n * 16);
}

/* Marks overlaps of the extents, which are sorted by offset, and appends gaps and the tail. */
static void find_gaps(pf_extent_list *list)
{
    /* `end` is the end of all extents so far; `last` is the index of the extent that ends there. */
    uint64_t end = 0;
    uint32_t last = 0;
    uint32_t n = list->n;
    for (uint32_t i = 0; i < n; i++) {
        perfile_extent *e = &list->at[i];
        uint64_t behind;
        if (pf_add_u64(e->offset, e->length, &behind))
            behind = UINT64_MAX;
        if (e->offset < end)
            e->overlaps = list->at[last].overlaps = true;
        else if (e->offset > end && e->offset <= list->file_size)
            add(list, PERFILE_EXTENT_GAP, 0, end, e->offset - end);
        if (behind > end) {
            end = behind;
            last = i;
        }
    }
    if (end < list->file_size)
        add(list, PERFILE_EXTENT_TAIL, 0, end, list->file_size - end);
}

perfile_status pf_perf_extents(pf_perf_stream *p, const pf_perf_header *h, uint64_t file_size,
                               perfile_error *err)
{
    /* The 5 are header, attrs, event types, records and table.  Each extent may have a gap before
     * it, and there is one tail. */
    size_t most = 2 * ((size_t)p->n_ids + pf_session_n_features(p->base.session) + 5) + 1;
    pf_extent_list list = {.file_size = file_size == PF_SIZE_UNKNOWN ? 0 : file_size};
    list.at = pf_alloc(most, sizeof *list.at);
    if (!list.at)
        return pf_fail_nomem(err, "extents");
    if (file_size == PF_SIZE_UNKNOWN)
        list.file_size = h->used;
    add_sections(&list, p, h);
    qsort(list.at, list.n, sizeof *list.at, by_offset);
    find_gaps(&list);
    qsort(list.at, list.n, sizeof *list.at, by_offset);
    pf_free(p->extents);
    p->extents = list.at;
    p->base.container.extents = list.at;
    p->base.container.n_extents = list.n;
    return PERFILE_OK;
}

/* perfile_event_parse(): makes an attr from a text such as
 *     cycles:sample_type=ip|tid|time,id=17
 * for captures that have lost their attrs.
 *
 * The colon follows the name of a hardware or software event, or nothing.  Members of the attr with
 * numbers or names of bits follow the colon.  The names come from the vocabularies of format/.  The
 * attr is made in the byte order of the capture. */

enum { ATTR_SIZE = 112 }; /* PERF_ATTR_SIZE_VER5 */
_Static_assert(PERFILE_ATTR_SIZE <= sizeof((perfile_event_text){0}.attr),
               "perfile_event_text has no room for an attr");

/* A member of the attr that a description can set. */
typedef struct member {
    const char *name;
    const char *words; /* vocabulary of its bits, or NULL: numbers only */
    uint8_t at, width; /* offset in the attr, and size in bytes */
} member;

static const member members[] = {
    {"type", NULL, 0, 4},
    {"config", NULL, 8, 8},
    {"sample_type", "sample_type", PF_ATTR_SAMPLE_TYPE_AT, 8},
    {"read_format", "read_format", PF_ATTR_READ_FORMAT_AT, 8},
    {"branch_sample_type", "branch_sample_type", PF_ATTR_BRANCH_TYPE_AT, 8},
    {"sample_regs_user", NULL, 80, 8},
    {"sample_stack_user", NULL, 88, 4},
    {"sample_regs_intr", NULL, 96, 8},
};

/* Returns true if word[0 .. n) is `name`, ignoring case. */
static bool same(const char *name, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!name[i] || tolower((unsigned char)name[i]) != tolower((unsigned char)word[i]))
            return false;
    return name[n] == '\0';
}

/* Fails with `what` and the offending word, cut to 64 characters. */
static perfile_status wrong(perfile_error *err, const char *what, const char *word, size_t n)
{
    return pf_fail(err, PERFILE_E_USAGE, "event", "%s '%.*s'", what, (int)(n < 64 ? n : 64), word);
}

/* Reads text[0 .. n) as a decimal, octal or hexadecimal number without sign. */
static bool number(const char *text, size_t n, uint64_t *value)
{
    char buf[24];
    char *end;
    if (n == 0 || n >= sizeof buf || text[0] == '-' || text[0] == '+')
        return false;
    memcpy(buf, text, n);
    buf[n] = '\0';
    *value = strtoull(buf, &end, 0);
    return *end == '\0';
}

/* Reads a value: a number, or names of bits of the vocabulary `set`, joined by '|'. */
static perfile_status bits(const char *set, const char *text, size_t n, uint64_t *value,
                           perfile_error *err)
{
    const perfile_vocabulary *v = set ? pf_vocabulary_find(set) : NULL;
    *value = 0;
    if (number(text, n, value))
        return PERFILE_OK;
    if (!v)
        return wrong(err, "not a number:", text, n);
    for (size_t at = 0; at <= n;) {
        size_t len = 0;
        while (at + len < n && text[at + len] != '|')
            len++;
        uint32_t i = 0;
        while (i < v->n && !same(v->bits[i].name, text + at, len))
            i++;
        if (i == v->n)
            return wrong(err, "unknown name of a bit:", text + at, len);
        *value |= UINT64_C(1) << v->bits[i].shift;
        at += len + 1;
    }
    return PERFILE_OK;
}

/* Stores `value` in `width` (4 or 8) bytes of the attr. */
static void put(perfile_event_text *e, unsigned at, unsigned width, uint64_t value, bool swap)
{
    uint32_t half = (uint32_t)value;
    if (swap) {
        value = pf_swap_u64(value);
        half = pf_swap_u32(half);
    }
    memcpy(e->attr + at, width == 4 ? (const void *)&half : (const void *)&value, width);
}

/* Appends an id of the event. */
static perfile_status set_id(perfile_event_text *e, const char *text, size_t n, bool swap,
                             perfile_error *err)
{
    uint64_t id;
    if (!number(text, n, &id) || e->n_ids == sizeof e->ids / sizeof e->ids[0])
        return wrong(err, "not an id, or one too many:", text, n);
    e->ids[e->n_ids++] = swap ? pf_swap_u64(id) : id;
    return PERFILE_OK;
}

/* Parses one NAME=VALUE and sets it. */
static perfile_status set(perfile_event_text *e, const char *text, size_t n, bool swap,
                          perfile_error *err)
{
    size_t name = 0;
    while (name < n && text[name] != '=')
        name++;
    if (name == n)
        return wrong(err, "needed NAME=VALUE, found", text, n);
    const char *value = text + name + 1;
    size_t left = n - name - 1;
    if (same("id", text, name))
        return set_id(e, value, left, swap, err);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint64_t v;
        if (!same(members[i].name, text, name))
            continue;
        perfile_status st = bits(members[i].words, value, left, &v, err);
        if (st == PERFILE_OK)
            put(e, members[i].at, members[i].width, v, swap);
        return st;
    }
    return wrong(err, "an event has no member", text, name);
}

/* Short names that `perf list` also accepts. */
static const struct {
    const char *name, *word;
} aliases[] = {
    {"cycles", "cpu-cycles"},  {"branches", "branch-instructions"}, {"cs", "context-switches"},
    {"faults", "page-faults"}, {"migrations", "cpu-migrations"},
};

/* Sets type and config by the name of an event; an empty name sets nothing.  Returns false if the
 * name is unknown. */
static bool set_name(perfile_event_text *e, const char *text, size_t n, bool swap)
{
    static const char *const sets[] = {"hardware", "software"};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (same(aliases[i].name, text, n)) {
            text = aliases[i].word;
            n = strlen(text);
            break;
        }
    }
    for (unsigned type = 0; type < 2; type++) {
        const perfile_vocabulary *v = pf_vocabulary_find(sets[type]);
        for (uint32_t i = 0; v && v->words && i < v->n; i++) {
            if (!same(v->words[i].name, text, n))
                continue;
            put(e, 0, 4, type, swap);
            put(e, 8, 8, v->words[i].value, swap);
            return true;
        }
    }
    return n == 0;
}

perfile_status perfile_event_parse(const char *text, uint32_t byte_order, perfile_event_text *event,
                                   perfile_error *err)
{
    perfile_status st = pf_byte_order_check(byte_order, "event.byte_order", err);
    if (st != PERFILE_OK)
        return st;
    bool swap = pf_byte_order_swaps(byte_order);
    bool big_endian = swap != (bool)PF_NATIVE_BIG;
    perfile_event_text e = {.attr_size = ATTR_SIZE};
    size_t n = strcspn(text, ":");
    if (!set_name(&e, text, n, swap))
        return wrong(err, "unknown event name", text, n);
    put(&e, PF_ATTR_SIZE_AT, 4, ATTR_SIZE, swap);
    /* Sets sample_id_all, as perf always does: kernel records have trailers.  In big-endian attrs
     * the bits of the flags are mirrored. */
    uint64_t all = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    put(&e, PF_ATTR_FLAGS_AT, 8,
        big_endian ? UINT64_C(1) << (63 - PERFILE_ATTR_BIT_SAMPLE_ID_ALL) : all, swap);
    for (const char *at = text + n; *at && st == PERFILE_OK; at += n) {
        at++;
        n = strcspn(at, ",");
        st = set(&e, at, n, swap, err);
    }
    if (st == PERFILE_OK && !(pf_load_u64(e.attr + 24, swap)))
        st = pf_fail(err, PERFILE_E_USAGE, "event",
                     "'%.80s' has no sample_type: the fields of its samples are unknown", text);
    if (st == PERFILE_OK)
        *event = e;
    return st;
}
