/* `list features`: every feature section, decoded.  And `list build-ids`: build ids from the
 * feature BUILD_ID, from HEADER_BUILD_ID records and from mappings, each file once. */
#include "cli/list/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/print.h"
#include "perfile/abi.h"

/* Prints a feature section with its decoded content; `error` names the damage.  Members before the
 * damage are printed. */
static void feature_json(const perfile_feature *f)
{
    cli_fields_json out = {0};
    perfile_error err = {0};
    cli_json_object(NULL);
    cli_json_number("feature", f->number);
    cli_json_string("name", perfile_feature_name(f->number));
    cli_json_string("origin", f->origin == PERFILE_ORIGIN_CONTAINER ? "container" : "stream");
    cli_json_decimal("offset", f->offset);
    cli_json_decimal("size", f->size);
    unsigned damage = f->damage;
    if (!damage) {
        cli_json_object("data");
        if (perfile_feature_walk(f, PERFILE_WALK_ALL, &cli_fields_json_visitor, &out, &err) < 0)
            damage = err.damage;
        cli_fields_json_end(&out);
        cli_json_object_end();
    }
    if (damage)
        cli_json_string("error", perfile_damage_name(damage));
    cli_json_object_end();
}

/* Prints a feature section as text. */
static void feature_text(const perfile_feature *f)
{
    cli_fields_text out = {.indent = 4};
    perfile_error err = {0};
    const char *name = perfile_feature_name(f->number);
    cli_print("%" PRIu32 " %s: offset %" PRIu64 ", %" PRIu64 " bytes\n", f->number,
              name ? name : "(not known)", f->offset, f->size);
    unsigned damage = f->damage;
    if (!damage &&
        perfile_feature_walk(f, PERFILE_WALK_ALL, &cli_fields_text_visitor, &out, &err) < 0)
        damage = err.damage;
    cli_fields_text_end(&out);
    if (damage)
        cli_print("    damaged: %s\n", perfile_damage_text(damage));
}

/* Prints all feature sections.  Those that cannot be decoded count as damage of the input. */
static bool print_features(cli_listing *l)
{
    cli_check_features(&l->in);
    for (uint32_t i = 0; i < perfile_session_n_features(l->session); i++) {
        const perfile_feature *f = perfile_session_feature_at(l->session, i);
        if (l->json)
            feature_json(f);
        else
            feature_text(f);
    }
    return true;
}

const cli_subject cli_list_features = {
    .name = "features", .member = "features", .print = print_features};

/* A build id and the file that it identifies. */
typedef struct build_id_entry {
    uint8_t id[20]; /* zeros after `size` bytes */
    uint8_t size;
    uint8_t from; /* FROM_… */
    char *name;   /* allocated */
} build_id_entry;

enum { FROM_FEATURE, FROM_RECORD, FROM_MAPPING };
/* By FROM_…, in order of preference if several entries name the same file. */
static const char *const from_names[] = {"feature", "record", "mapping"};

typedef struct build_id_list {
    build_id_entry *at;
    size_t n, cap;
} build_id_list;

/* Adds an entry with copies of `id` (truncated to 20 bytes) and `name`.  Returns false when out of
 * memory. */
static bool add_build_id(cli_listing *l, perfile_bytes id, perfile_bytes name, uint8_t from)
{
    if (!l->collected)
        l->collected = calloc(1, sizeof(build_id_list));
    build_id_list *all = l->collected;
    if (!all)
        return false;
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 64;
        build_id_entry *at = realloc(all->at, cap * sizeof *at);
        if (!at)
            return false;
        all->at = at;
        all->cap = cap;
    }
    build_id_entry x = {.from = from};
    x.size = (uint8_t)(id.len < sizeof x.id ? id.len : sizeof x.id);
    if (x.size)
        memcpy(x.id, id.ptr, x.size);
    x.name = malloc(name.len + 1);
    if (!x.name)
        return false;
    if (name.len)
        memcpy(x.name, name.ptr, name.len);
    x.name[name.len] = 0;
    all->at[all->n++] = x;
    return true;
}

static bool feed_build_ids(cli_listing *l, const perfile_record *r)
{
    perfile_header_build_id x;
    if (r->type != PERFILE_RECORD_HEADER_BUILD_ID ||
        perfile_header_build_id_decode(r, &x, sizeof x, NULL) != PERFILE_OK)
        return true;
    return add_build_id(l, x.build_id, x.filename, FROM_RECORD);
}

/* Adds the entries of the feature BUILD_ID; none if the section is damaged. */
static bool add_feature(cli_listing *l)
{
    const perfile_feature *f = perfile_session_feature(l->session, PERFILE_FEATURE_BUILD_ID);
    perfile_build_ids list;
    perfile_build_id_entry e;
    if (!f || perfile_build_ids_decode(f, &list, sizeof list, NULL) != PERFILE_OK)
        return true;
    while (perfile_build_id_entry_next(&list.build_ids, &e, sizeof e) == PERFILE_OK)
        if (!add_build_id(l, e.id.build_id, e.id.filename, FROM_FEATURE))
            return false;
    return true;
}

/* Adds the build ids of mappings (MMAP2 records may have them). */
static bool add_mappings(cli_listing *l)
{
    const perfile_mapping *m;
    size_t n;
    if (perfile_model_mappings(l->model, &m, &n, NULL) != PERFILE_OK)
        return false;
    for (size_t i = 0; i < n; i++, m++) {
        /* In the name of a kernel mapping, the symbol at its start is appended:
         * "[kernel.kallsyms]_text". */
        const char *end = m->name[0] == '[' ? strchr(m->name, ']') : NULL;
        perfile_bytes id = {m->build_id, m->build_id_size};
        perfile_bytes name = {(const uint8_t *)m->name,
                              end ? (size_t)(end + 1 - m->name) : strlen(m->name)};
        if (id.len && !add_build_id(l, id, name, FROM_MAPPING))
            return false;
    }
    return true;
}

/* Compares by name and id.  Returns 0 for entries that are listed once. */
static int compare_entries(const build_id_entry *x, const build_id_entry *y)
{
    int d = strcmp(x->name, y->name);
    if (!d)
        d = memcmp(x->id, y->id, sizeof x->id);
    return d ? d : x->size - y->size;
}

/* Compares for qsort(): equal entries are sorted by their source, the preferred one first. */
static int compare_for_sort(const void *a, const void *b)
{
    const build_id_entry *x = a;
    const build_id_entry *y = b;
    int d = compare_entries(x, y);
    return d ? d : x->from - y->from;
}

/* Sorts all entries and prints each file once. */
static bool print_build_ids(cli_listing *l)
{
    static const char *const columns[] = {"BUILD-ID", "FROM", "FILE"};
    if (!add_feature(l) || !add_mappings(l))
        return false;
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    const build_id_list *all = l->collected;
    if (all && all->n)
        qsort(all->at, all->n, sizeof *all->at, compare_for_sort);
    for (size_t i = 0; all && i < all->n; i++) {
        const build_id_entry *x = &all->at[i];
        if (i && compare_entries(x, x - 1) == 0)
            continue;
        if (l->json) {
            cli_json_object(NULL);
            cli_json_bytes("build_id", (perfile_bytes){x->id, x->size});
            cli_json_string("from", from_names[x->from]);
            cli_json_string("filename", x->name);
            cli_json_object_end();
            continue;
        }
        char hex[2 * sizeof x->id + 1] = "-";
        for (unsigned k = 0; k < x->size; k++)
            snprintf(hex + 2 * k, 3, "%02x", x->id[k]);
        cli_cell_string(t, hex);
        cli_cell_string(t, from_names[x->from]);
        cli_cell_string(t, x->name);
    }
    return cli_table_end(t, !l->json);
}

static void release_build_ids(cli_listing *l)
{
    build_id_list *all = l->collected;
    for (size_t i = 0; all && i < all->n; i++)
        free(all->at[i].name);
    if (all)
        free(all->at);
    free(all);
}

const cli_subject cli_list_build_ids = {.name = "build-ids",
                                        .member = "build_ids",
                                        .model = true,
                                        .feed = feed_build_ids,
                                        .print = print_build_ids,
                                        .release = release_build_ids};

/* The two visitors of fields.
 *
 * The kind of a field decides how a number is printed: addresses and ids of hexadecimal kinds as
 * 0x…, flags and enumerations with their names, all others in decimal.  In JSON, 64-bit numbers are
 * strings, because many readers only have 53 bits (format/reports.md). */

enum { SHOWN = 64 }; /* most items or bytes of a value in text */

static bool is_hex(const perfile_field *f)
{
    return perfile_kind_base(f->kind) == PERFILE_BASE_HEX;
}

/* True for fields that are not printed: padding, and counts of the lists that follow them. */
static bool is_hidden(const perfile_field *f)
{
    return f->kind == PERFILE_KIND_COUNT || f->flags & PERFILE_FIELD_PAD;
}

/* Returns the double with the bytes of `bits`. */
static double scale_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Prints the flags of an attr: an array with the names of the bits that are set, and a member for
 * each field of several bits (precise_ip).  A name that begins with two underscores is reserved in
 * the kernel header; it is only printed if it is not 0. */
static void json_flags(const perfile_field *f, uint64_t value)
{
    const perfile_vocabulary *v = perfile_kind_words(f->kind);
    cli_json_array(f->name);
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->bits[i].width == 1 && value >> v->bits[i].shift & 1)
            cli_json_string(NULL, v->bits[i].name);
    cli_json_array_end();
    for (uint32_t i = 0; v && i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t part = value >> b->shift & (((uint64_t)1 << b->width) - 1);
        if (b->width > 1 && b->width < 64 && (part || strncmp(b->name, "__", 2) != 0))
            cli_json_number(b->name, part);
    }
}

/* Prints a number that is stored as `type`, a PERFILE_STORED_… value. */
static void json_number(const perfile_field *f, const char *key, unsigned type, uint64_t value)
{
    if (type == PERFILE_STORED_S32)
        cli_json_signed(key, (int64_t)value);
    else if (type == PERFILE_STORED_S64)
        cli_json_signed_decimal(key, (int64_t)value);
    else if (type != PERFILE_STORED_U64)
        cli_json_number(key, value);
    else if (is_hex(f))
        cli_json_hex(key, value);
    else
        cli_json_decimal(key, value);
}

/* Prints a field as a member of the object that is open. */
static void json_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user;
    if (is_hidden(f))
        return;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        cli_json_text(f->name, v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        if (f->kind == PERFILE_KIND_BULK) { /* large binary content: only its size is printed */
            cli_json_object(f->name);
            cli_json_number("size", v->u.bytes.len);
            cli_json_object_end();
        } else {
            cli_json_bytes(f->name, v->u.bytes);
        }
        break;
    case PERFILE_STORED_WORDS:
        cli_json_array(f->name);
        for (size_t i = 0; i < v->u.words.n; i++) {
            uint64_t word = perfile_word(&v->u.words, i);
            if (f->element == PERFILE_STORED_S32)
                word = (uint64_t)(int64_t)(int32_t)word; /* sign-extend */
            json_number(f, NULL, f->element, word);
        }
        cli_json_array_end();
        break;
    case PERFILE_STORED_STRINGS: {
        perfile_strings strings = v->u.strings;
        perfile_bytes text;
        cli_json_array(f->name);
        while (perfile_strings_next(&strings, &text) == PERFILE_OK)
            cli_json_text(NULL, text);
        cli_json_array_end();
        break;
    }
    default:
        if (f->kind == PERFILE_KIND_ATTR_FLAGS)
            json_flags(f, v->number);
        else if (f->kind == PERFILE_KIND_SCALE)
            cli_json_real(f->name, scale_of(v->number));
        else
            json_number(f, f->name, f->type, v->number);
    }
}

/* Begins a list, an item, or a structure.  A flat structure has no object of its own: its fields
 * are members of the enclosing object. */
static void json_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_json *out = user;
    (void)v;
    char closing = 0;
    if (f->type == PERFILE_STORED_LIST) {
        cli_json_array(f->name);
        closing = ']';
    } else if (f->type == PERFILE_STORED_ITEM || !(f->flags & PERFILE_FIELD_FLAT)) {
        cli_json_object(f->type == PERFILE_STORED_ITEM ? NULL : f->name);
        closing = '}';
    }
    if (out->depth < sizeof out->closing)
        out->closing[out->depth] = closing;
    out->depth++;
}

/* Closes what json_begin() opened. */
static void json_end(void *user, const perfile_field *f)
{
    cli_fields_json *out = user;
    (void)f;
    if (!out->depth)
        return;
    char closing = out->closing[--out->depth];
    if (closing == ']')
        cli_json_array_end();
    else if (closing == '}')
        cli_json_object_end();
}

const perfile_visitor cli_fields_json_visitor = {
    .size = sizeof(perfile_visitor), .value = json_value, .begin = json_begin, .end = json_end};

void cli_fields_json_end(cli_fields_json *f)
{
    while (f->depth)
        json_end(f, NULL);
}

void cli_flag_names(const perfile_vocabulary *v, uint64_t value, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (uint32_t i = 0; v && v->bits && i < v->n && len < size; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t mask = b->width < 64 ? ((uint64_t)1 << b->width) - 1 : UINT64_MAX;
        uint64_t part = value >> b->shift & mask;
        if (!part)
            continue;
        const char *word = b->values ? perfile_vocabulary_word(b->values, part) : NULL;
        const char *bar = len ? "|" : "";
        int n;
        if (b->width == 1)
            n = snprintf(out + len, size - len, "%s%s", bar, b->name);
        else if (word)
            n = snprintf(out + len, size - len, "%s%s=%s", bar, b->name, word);
        else
            n = snprintf(out + len, size - len, "%s%s=%" PRIu64, bar, b->name, part);
        len += n > 0 ? (size_t)n : 0;
    }
    if (v && v->words) {
        /* An enumeration instead of flags. */
        const char *word = perfile_vocabulary_word(v, value);
        snprintf(out, size, "%s", word ? word : "");
    }
}

/* Prints a number of a field, followed by its meaning in parentheses: names from `v` (may be NULL),
 * or the date of a wall-clock time. */
static void put_number(const perfile_field *f, unsigned type, uint64_t value,
                       const perfile_vocabulary *v)
{
    char words[512];
    if (f->kind == PERFILE_KIND_SCALE)
        cli_print("%.17g", scale_of(value));
    else if (type == PERFILE_STORED_S32 || type == PERFILE_STORED_S64)
        cli_print("%" PRId64, (int64_t)value);
    else if (is_hex(f))
        cli_print("0x%" PRIx64, value);
    else
        cli_print("%" PRIu64, value);
    if (v) {
        cli_flag_names(v, value, words, sizeof words);
        if (words[0])
            cli_print(" (%s)", words);
    } else if (f->kind == PERFILE_KIND_WALL) {
        cli_format_wall_time(value, words, sizeof words);
        cli_print(" (%s)", words);
    }
}

/* Prints the first SHOWN bytes in hexadecimal. */
static void put_bytes(const perfile_field *f, perfile_bytes bytes)
{
    if (f->kind == PERFILE_KIND_BULK) {
        cli_print("%zu bytes", bytes.len);
        return;
    }
    for (size_t i = 0; i < bytes.len && i < SHOWN; i++)
        cli_print("%02x", bytes.ptr[i]);
    if (bytes.len > SHOWN)
        cli_print("… (%zu bytes)", bytes.len);
}

/* Returns the names for a number.  The clockid of an attr has a name only if the attr uses it;
 * otherwise 0 would be printed as CLOCK_REALTIME. */
static const perfile_vocabulary *names_of_number(cli_fields_text *out, const perfile_field *f,
                                                 uint64_t value)
{
    if (f->kind == PERFILE_KIND_ATTR_FLAGS)
        out->attr_flags = value;
    if (f->kind == PERFILE_KIND_EVENT_CLOCKID &&
        !(out->attr_flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1))
        return NULL;
    return perfile_kind_words(f->kind);
}

/* Prints a value without its name. */
static void put_value(cli_fields_text *out, const perfile_field *f, const perfile_value *v)
{
    perfile_strings strings;
    perfile_bytes text;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        cli_print_text(v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        put_bytes(f, v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        for (size_t i = 0; i < v->u.words.n && i < SHOWN; i++) {
            uint64_t word = perfile_word(&v->u.words, i);
            if (f->element == PERFILE_STORED_S32)
                word = (uint64_t)(int64_t)(int32_t)word;
            cli_print("%s", i ? " " : "");
            put_number(f, f->element, word, perfile_kind_words(f->kind));
        }
        if (v->u.words.n > SHOWN)
            cli_print(" … (%zu)", v->u.words.n);
        break;
    case PERFILE_STORED_STRINGS:
        strings = v->u.strings;
        for (bool first = true; perfile_strings_next(&strings, &text) == PERFILE_OK;
             first = false) {
            cli_print("%s", first ? "" : " ");
            cli_print_text(text);
        }
        break;
    default:
        put_number(f, f->type, v->number, names_of_number(out, f, v->number));
    }
}

/* Prints a field: "name: value" on a separate line, or "name value" within the line of an item. */
static void text_value(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_text *out = user;
    if (is_hidden(f))
        return;
    if (out->items) { /* within an item, fields are separated by commas */
        cli_print("%s%s ", out->line_open ? ", " : "", f->name);
        if (!out->line_open)
            out->line_open = true;
        put_value(out, f, v);
        return;
    }
    cli_print("%*s%s: ", (int)out->indent, "", f->name);
    put_value(out, f, v);
    cli_print("\n");
}

static void end_line(cli_fields_text *out)
{
    if (out->line_open)
        cli_print("\n");
    out->line_open = false;
}

/* Begins an item (a line), or a list or structure (a heading and a larger indent).  A structure
 * within an item and a flat structure have no heading: their fields continue the line. */
static void text_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_text *out = user;
    (void)v;
    if (f->type == PERFILE_STORED_ITEM) {
        end_line(out);
        cli_print("%*s", (int)out->indent, "");
        out->items++;
    } else if (f->type == PERFILE_STORED_LIST ||
               (!out->items && !(f->flags & PERFILE_FIELD_FLAT))) {
        end_line(out);
        cli_print("%*s%s:\n", (int)out->indent, "", f->name);
        out->indent += 2;
    }
}

/* Ends the element that text_begin() started. */
static void text_end(void *user, const perfile_field *f)
{
    cli_fields_text *out = user;
    if (f->type == PERFILE_STORED_ITEM) {
        end_line(out);
        out->items--;
    } else if (f->type == PERFILE_STORED_LIST ||
               (!out->items && !(f->flags & PERFILE_FIELD_FLAT))) {
        end_line(out);
        out->indent -= 2;
    }
}

const perfile_visitor cli_fields_text_visitor = {
    .size = sizeof(perfile_visitor), .value = text_value, .begin = text_begin, .end = text_end};

void cli_fields_text_end(cli_fields_text *f)
{
    end_line(f);
}
