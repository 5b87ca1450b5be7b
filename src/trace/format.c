/* Reads the description of a tracepoint, line by line (format.h). */
#include "trace/eventheader.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Removes the next line from `text`; *line is without its end. */
static bool next_line(perfile_bytes *text, perfile_bytes *line)
{
    if (!text->len)
        return false;
    const uint8_t *end = memchr(text->ptr, '\n', text->len);
    line->ptr = text->ptr;
    line->len = end ? (size_t)(end - text->ptr) : text->len;
    const size_t step = line->len + (end != NULL);
    text->ptr += step;
    text->len -= step;
    return true;
}

static perfile_bytes without_blanks(perfile_bytes t)
{
    while (t.len && (t.ptr[0] == ' ' || t.ptr[0] == '\t')) {
        t.ptr++;
        t.len--;
    }
    while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t' ||
                     t.ptr[t.len - 1] == '\r' || !t.ptr[t.len - 1]))
        t.len--;
    return t;
}

/* Removes `key` from the beginning of `text`.  Returns false if it is not there. */
static bool take_key(perfile_bytes *text, const char *key)
{
    const size_t n = strlen(key);
    if (text->len < n || memcmp(text->ptr, key, n) != 0)
        return false;
    text->ptr += n;
    text->len -= n;
    return true;
}

/* Removes "KEY:NUMBER;" and the blanks before it from the text.  Returns false, and removes
 * nothing, if it is not there. */
static bool take_number(perfile_bytes *text, const char *key, uint32_t *number)
{
    perfile_bytes t = without_blanks(*text);
    uint64_t n = 0;
    size_t digits = 0;
    if (!take_key(&t, key))
        return false;
    for (; digits < t.len && t.ptr[digits] >= '0' && t.ptr[digits] <= '9' && n < PF_TRACE_PAYLOAD;
         digits++)
        n = n * 10 + (uint64_t)(t.ptr[digits] - '0');
    if (!digits || digits == t.len || t.ptr[digits] != ';')
        return false;
    *number = (uint32_t)n;
    *text = (perfile_bytes){t.ptr + digits + 1, t.len - digits - 1};
    return true;
}

/* A description under construction. */
typedef struct reading {
    const pf_trace_source *source;
    pf_arena *arena;
    perfile_tracepoint_field *fields; /* room for PF_TRACE_FIELDS; fewer if the text is short */
    uint32_t n, room;
    size_t names; /* size of the names so far */
} reading;

static perfile_status refuse(perfile_error *err, const char *why)
{
    return pf_fail(err, PERFILE_E_CORRUPT, "tracepoint.format", "%s", why);
}

/* Parses a line after "field:". */
static perfile_status read_field(reading *x, perfile_bytes line, perfile_error *err)
{
    const uint8_t *end = line.len ? memchr(line.ptr, ';', line.len) : NULL;
    uint32_t is_signed = 0;
    if (!end)
        return refuse(err, "a field has no declaration");
    perfile_bytes declaration = {line.ptr, (size_t)(end - line.ptr)}, name, type;
    perfile_bytes rest = {end + 1, line.len - declaration.len - 1};
    if (x->n == x->room)
        return refuse(err, "there are too many fields");
    perfile_tracepoint_field *f = &x->fields[x->n];
    if (!take_number(&rest, "offset:", &f->offset) || !take_number(&rest, "size:", &f->size))
        return refuse(err, "a field has no offset or size");
    const bool has_sign = take_number(&rest, "signed:", &is_signed);
    if (!pf_trace_declare(declaration, has_sign, is_signed, x->source->long_size, f, &name, &type))
        return refuse(err, "the declaration of a field cannot be read");
    x->names += name.len;
    if (name.len >= PF_TRACE_NAME_BYTES || x->names > PF_TRACE_NAMES)
        return refuse(err, "names of fields are too long");
    perfile_status st = pf_arena_text(x->arena, name, &f->field.name, err);
    if (st == PERFILE_OK)
        st = pf_arena_text(x->arena, type, &f->declared, err);
    f->field.doc = "";
    if (st != PERFILE_OK)
        return st;
    if (strncmp(f->field.name, "common_", 7) == 0)
        f->flags |= PERFILE_TRACEPOINT_COMMON;
    x->n++;
    return PERFILE_OK;
}

/* Allocates the fields.  The line of a field has at least 24 bytes ("field:u
 * a;offset:0;size:1;"). */
static perfile_status make_room(reading *x, perfile_error *err)
{
    enum { LINE = 24 };
    const size_t most = x->source->text.len / LINE;
    void *p;
    x->room = most < PF_TRACE_FIELDS ? (uint32_t)most : PF_TRACE_FIELDS;
    perfile_status st = pf_arena_get(x->arena, x->room * sizeof *x->fields, &p, err);
    if (st == PERFILE_OK)
        x->fields = p;
    return st;
}

/* Sorts the indices of fields by name.  Insertion sort is sufficient: most tracepoints have few
 * fields, and their number is limited. */
perfile_status pf_trace_sort_names(pf_trace_format *f, pf_arena *arena, perfile_error *err)
{
    void *p;
    const perfile_tracepoint *t = &f->shown;
    perfile_status st = pf_arena_get(arena, t->n_fields * sizeof(uint16_t) + 1, &p, err);
    if (st != PERFILE_OK)
        return st;
    uint16_t *order = p;
    for (uint32_t i = 0; i < t->n_fields; i++) {
        uint32_t at = i;
        for (; at && strcmp(t->fields[order[at - 1]].field.name, t->fields[i].field.name) > 0; at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)i;
    }
    f->order = order;
    return PERFILE_OK;
}

/* Reads all lines.  Sets *print to the text after "print fmt:", which may have several lines. */
static perfile_status read_lines(reading *x, perfile_bytes *print, perfile_error *err)
{
    perfile_bytes text = x->source->text, line;
    perfile_status st = PERFILE_OK;
    const uint8_t *end = text.ptr + text.len;
    while (st == PERFILE_OK && next_line(&text, &line)) {
        line = without_blanks(line);
        if (take_key(&line, "field:")) {
            st = read_field(x, line, err);
        } else if (take_key(&line, "print fmt:")) {
            *print = without_blanks((perfile_bytes){line.ptr, (size_t)(end - line.ptr)});
            break;
        }
    }
    return st;
}

perfile_status pf_trace_format_read(const pf_trace_source *source, pf_arena *arena,
                                    const pf_trace_format **out, perfile_error *err)
{
    reading x = {.source = source, .arena = arena};
    perfile_bytes print = {NULL, 0};
    void *p = NULL;
    perfile_status st = pf_arena_get(arena, sizeof(pf_trace_format), &p, err);
    if (st == PERFILE_OK)
        st = make_room(&x, err);
    if (st == PERFILE_OK)
        st = read_lines(&x, &print, err);
    pf_trace_format *f = p;
    if (st == PERFILE_OK) {
        f->swapped = source->swapped;
        f->long_size = source->long_size;
        f->printk = source->printk;
        f->arena = arena;
        f->shown.id = source->id;
        f->shown.fields = x.fields;
        f->shown.n_fields = x.n;
        st = pf_trace_sort_names(f, arena, err);
    }
    if (st == PERFILE_OK)
        st = pf_arena_text(arena, source->system, &f->shown.system, err);
    if (st == PERFILE_OK)
        st = pf_arena_text(arena, source->name, &f->shown.name, err);
    if (st == PERFILE_OK)
        st = pf_arena_text(arena, print, &f->shown.print_fmt, err);
    if (st != PERFILE_OK)
        return st;
    f->is_eventheader = pf_eh_is(f);
    *out = f;
    return PERFILE_OK;
}

int pf_trace_field_find(const pf_trace_format *f, const char *name, size_t len)
{
    uint32_t lo = 0, hi = f->shown.n_fields;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        const char *other = f->shown.fields[f->order[middle]].field.name;
        int order = strncmp(name, other, len);
        if (order == 0 && other[len])
            order = -1;
        if (order == 0)
            return f->order[middle];
        if (order < 0)
            hi = middle;
        else
            lo = middle + 1;
    }
    return -1;
}
