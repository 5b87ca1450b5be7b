/* Converts the metadata of an EventHeader event to rows and fields (eventheader.h).
 *
 * Metadata is the name of the event, then a row for each field: its name and its encoding, followed
 * by optional data that the bits of the encoding announce.  A struct is a row with a count of the
 * following rows that are its members. */
#include "trace/eventheader.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"

enum { HEADER = 8 }; /* size of the fields from eventheader_flags to level */

/* Finds the first field that is not common to all tracepoints. */
static const perfile_tracepoint_field *header_of(const pf_trace_format *f)
{
    uint32_t i = 0;
    while (i < f->shown.n_fields && f->shown.fields[i].flags & PERFILE_TRACEPOINT_COMMON)
        i++;
    return i < f->shown.n_fields ? &f->shown.fields[i] : NULL;
}

bool pf_eh_is(const pf_trace_format *f)
{
    static const struct {
        const char *name;
        uint8_t at, size;
    } wanted[] = {{"eventheader_flags", 0, 1},
                  {"version", 1, 1},
                  {"id", 2, 2},
                  {"tag", 4, 2},
                  {"opcode", 6, 1},
                  {"level", 7, 1}};
    enum { N = sizeof wanted / sizeof wanted[0] };
    const perfile_tracepoint_field *first = header_of(f);
    if (!first || f->shown.fields + f->shown.n_fields - first != N)
        return false;
    for (int i = 0; i < N; i++)
        if (strcmp(first[i].field.name, wanted[i].name) != 0 || first[i].size != wanted[i].size ||
            first[i].offset != first->offset + wanted[i].at ||
            first[i].flags & PERFILE_TRACEPOINT_DYNAMIC)
            return false;
    return true;
}

bool pf_eh_split(const pf_trace_format *base, perfile_bytes payload, pf_eh_parts *parts)
{
    enum { LITTLE = 2, EXTENDED = 4, METADATA = 1, ACTIVITY = 2, KIND = 0x7fff, MORE = 0x8000 };
    const size_t at = header_of(base)->offset;
    if (payload.len < at + HEADER)
        return false;
    const uint8_t flags = payload.ptr[at];
    *parts = (pf_eh_parts){.swapped = !(flags & LITTLE) != (bool)PF_NATIVE_BIG};
    pf_cursor c = pf_cur((perfile_bytes){payload.ptr + at + HEADER, payload.len - at - HEADER},
                         parts->swapped);
    for (unsigned more = flags & EXTENDED; more && !c.bad;) {
        const uint16_t size = pf_cur_u16(&c), kind = pf_cur_u16(&c);
        const perfile_bytes data = pf_cur_span(&c, size);
        if ((kind & KIND) == METADATA && !parts->metadata.ptr)
            parts->metadata = data;
        else if ((kind & KIND) == ACTIVITY && !parts->activity.ptr)
            parts->activity = data;
        more = kind & MORE;
    }
    parts->values = (size_t)(c.pos - payload.ptr);
    return !c.bad && parts->metadata.len;
}

unsigned pf_eh_size(uint8_t encoding)
{
    static const uint8_t sizes[] = {
        [PF_EH_VALUE8] = 1,    [PF_EH_VALUE16] = 2,  [PF_EH_VALUE32] = 4,   [PF_EH_VALUE64] = 8,
        [PF_EH_VALUE128] = 16, [PF_EH_ZSTRING8] = 1, [PF_EH_ZSTRING16] = 2, [PF_EH_ZSTRING32] = 4,
        [PF_EH_STRING8] = 1,   [PF_EH_STRING16] = 2, [PF_EH_STRING32] = 4,  [PF_EH_BINARY] = 1};
    const unsigned e = encoding & PF_EH_ENCODING;
    return e < sizeof sizes ? sizes[e] : 0;
}

/* Returns the effective format: one that the encoding does not support becomes the default. */
static uint8_t format_of(uint8_t encoding, uint8_t format)
{
    static const uint32_t usable[] = {
        [PF_EH_VALUE8] = 1U << PF_EH_SIGNED | 1U << PF_EH_HEX | 1U << PF_EH_BOOLEAN |
                         1U << PF_EH_HEX_BYTES | 1U << PF_EH_LATIN1,
        [PF_EH_VALUE16] = 1U << PF_EH_SIGNED | 1U << PF_EH_HEX | 1U << PF_EH_BOOLEAN |
                          1U << PF_EH_HEX_BYTES | 1U << PF_EH_UTF | 1U << PF_EH_PORT,
        [PF_EH_VALUE32] = 1U << PF_EH_SIGNED | 1U << PF_EH_HEX | 1U << PF_EH_ERRNO |
                          1U << PF_EH_PID | 1U << PF_EH_TIME | 1U << PF_EH_BOOLEAN |
                          1U << PF_EH_FLOAT | 1U << PF_EH_HEX_BYTES | 1U << PF_EH_UTF |
                          1U << PF_EH_IPV4,
        [PF_EH_VALUE64] = 1U << PF_EH_SIGNED | 1U << PF_EH_HEX | 1U << PF_EH_TIME |
                          1U << PF_EH_FLOAT | 1U << PF_EH_HEX_BYTES,
        [PF_EH_VALUE128] = 1U << PF_EH_UUID | 1U << PF_EH_IPV6,
    };
    const unsigned e = encoding & PF_EH_ENCODING;
    if (e >= PF_EH_ZSTRING8) {
        const bool text = format >= PF_EH_LATIN1 && format <= PF_EH_JSON;
        return format == PF_EH_HEX_BYTES || (e == PF_EH_BINARY && !text) ? PF_EH_HEX_BYTES
               : text                                                    ? format
                                                                         : PF_EH_UTF;
    }
    if (format < 32 && usable[e] >> format & 1)
        return format;
    return e == PF_EH_VALUE128 ? PF_EH_HEX_BYTES : 0;
}

bool pf_eh_is_made(const pf_eh_row *row)
{
    if (row->format == PF_EH_HEX_BYTES)
        return row->encoding & (PF_EH_COUNTED | PF_EH_VARIABLE);
    return row->format >= PF_EH_FLOAT && row->format != PF_EH_PORT;
}

/* Sets the type of a row's value. */
static void declare(const pf_eh_row *row, perfile_tracepoint_field *f)
{
    static const uint8_t plain[] = {[1] = PERFILE_STORED_U8,
                                    [2] = PERFILE_STORED_U16,
                                    [4] = PERFILE_STORED_U32,
                                    [8] = PERFILE_STORED_U64};
    const bool array = row->encoding & (PF_EH_COUNTED | PF_EH_VARIABLE);
    const unsigned size = pf_eh_size(row->encoding);
    f->field.doc = f->declared = "";
    f->element = size;
    f->flags = PERFILE_TRACEPOINT_SELF | (array ? PERFILE_TRACEPOINT_ARRAY : 0U);
    if ((row->encoding & PF_EH_ENCODING) == PF_EH_STRUCT) {
        f->field.kind = PERFILE_KIND_GROUP;
        f->field.type = array ? PERFILE_STORED_LIST : PERFILE_STORED_STRUCT;
    } else if (pf_eh_is_made(row)) {
        f->field.kind = PERFILE_KIND_TEXT;
        f->field.type = array ? PERFILE_STORED_STRINGS : PERFILE_STORED_TEXT;
    } else if (row->format == PF_EH_HEX_BYTES) {
        f->field.kind = PERFILE_KIND_OPAQUE;
        f->field.type = PERFILE_STORED_BLOB;
    } else {
        const bool sign = row->format == PF_EH_SIGNED ||
                          (row->format >= PF_EH_ERRNO && row->format <= PF_EH_TIME);
        uint8_t type = plain[size];
        if (sign &&
            (size == 8 || size == 4 || !array)) /* items below 32 bits have no signed type */
            type = size == 8 ? PERFILE_STORED_S64 : PERFILE_STORED_S32;
        f->field.kind = row->format == PF_EH_HEX ? PERFILE_KIND_HEX : PERFILE_KIND_DEC;
        f->field.type = array ? PERFILE_STORED_WORDS : type;
        f->field.element = array ? type : 0;
    }
}

/* A description under construction. */
typedef struct describing {
    pf_arena *arena;
    perfile_tracepoint_field *fields;
    pf_eh_row *rows;
    uint32_t first, n, room; /* of rows */
    size_t names;            /* size of the names so far */
    struct {
        uint32_t row, left; /* number of missing members */
    } open[PF_EH_DEPTH];
    unsigned depth;
} describing;

/* Returns true if the name is already used by another member of `parent`, or at top level by a
 * field of the tracepoint. */
static bool is_taken(const describing *x, const char *name, uint16_t parent)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->rows[i].parent == parent && strcmp(x->fields[x->first + i].field.name, name) == 0)
            return true;
    for (uint32_t i = 0; i < x->first && !parent; i++)
        if (strcmp(x->fields[i].field.name, name) == 0)
            return true;
    return false;
}

/* Makes the name of a field: without attributes, in printable ASCII, and with a number if the name
 * is taken: 2 and so on, in the end the row number.  *out is NULL if that is taken, too. */
static perfile_status take_name(describing *x, perfile_bytes text, uint16_t parent,
                                const char **out, perfile_error *err)
{
    enum { MORE = 8, TRIES = 10 };
    char name[PF_TRACE_NAME_BYTES + MORE];
    size_t n = 0;
    for (; n < text.len && n < PF_TRACE_NAME_BYTES - MORE && text.ptr[n] != ';'; n++) {
        const uint8_t c = text.ptr[n];
        name[n] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : (char)c;
    }
    name[n] = '\0';
    bool taken = is_taken(x, name, parent);
    for (uint16_t i = 2; taken && i <= TRIES; i++) {
        snprintf(name + n, MORE, "_%u", i < TRIES ? i : (uint16_t)(TRIES + x->n));
        taken = is_taken(x, name, parent);
    }
    *out = NULL;
    x->names += strlen(name);
    return taken ? PERFILE_OK
                 : pf_arena_text(x->arena, (perfile_bytes){(const uint8_t *)name, strlen(name)},
                                 out, err);
}

/* Reads a row.  Returns false if it is invalid or unknown. */
static bool read_row(pf_cursor *c, perfile_bytes *name, pf_eh_row *row)
{
    enum { FORMAT = 0x80, TAG = 0x80 };
    const uint8_t *nul = memchr(c->pos, 0, pf_cur_left(c));
    if (!nul)
        return false;
    *name = pf_cur_span(c, (size_t)(nul - c->pos));
    (void)pf_cur_u8(c);
    const uint8_t encoding = pf_cur_u8(c), format = encoding & FORMAT ? pf_cur_u8(c) : 0;
    if (format & TAG)
        (void)pf_cur_u16(c);
    *row = (pf_eh_row){.encoding = encoding & (uint8_t)~FORMAT, .format = format & (uint8_t)~TAG};
    if (encoding & PF_EH_COUNTED)
        row->count = pf_cur_u16(c);
    const unsigned e = encoding & PF_EH_ENCODING;
    if (c->bad || e < PF_EH_STRUCT || e > PF_EH_BINARY ||
        (encoding & PF_EH_COUNTED && (encoding & PF_EH_VARIABLE || !row->count)))
        return false;
    if (e == PF_EH_STRUCT)
        return row->format;
    row->format = format_of(encoding, row->format);
    return true;
}

/* Ends structs after their last member. */
static void close_structs(describing *x)
{
    while (x->depth && --x->open[x->depth - 1].left == 0)
        x->rows[x->open[--x->depth].row].end = (uint16_t)x->n;
}

/* Ends the structs that claim more members than the metadata has.  A struct without members is
 * dropped, because a list of it would take no bytes. */
static void end_structs(describing *x)
{
    while (x->n && (x->rows[x->n - 1].encoding & PF_EH_ENCODING) == PF_EH_STRUCT)
        x->n--;
    for (unsigned i = 0; i < x->depth; i++)
        if (x->open[i].row < x->n)
            x->rows[x->open[i].row].end = (uint16_t)x->n;
}

/* Reads rows to the end of the metadata.  Stops early at an unknown row, or at a limit; then the
 * open structs are dropped. */
static perfile_status read_rows(describing *x, pf_cursor *c, perfile_error *err)
{
    perfile_bytes name;
    pf_eh_row row;
    perfile_status st = PERFILE_OK;
    bool ended;
    while (!(ended = !pf_cur_left(c)) && x->n < x->room && x->names < PF_TRACE_NAMES &&
           read_row(c, &name, &row)) {
        const bool group = (row.encoding & PF_EH_ENCODING) == PF_EH_STRUCT;
        if (group && x->depth == PF_EH_DEPTH)
            break;
        perfile_tracepoint_field *f = &x->fields[x->first + x->n];
        row.parent = x->depth ? (uint16_t)(x->open[x->depth - 1].row + 1) : 0;
        row.end = (uint16_t)(x->n + 1);
        declare(&row, f);
        st = take_name(x, name, row.parent, &f->field.name, err);
        if (st != PERFILE_OK)
            return st;
        if (!f->field.name)
            break;
        x->rows[x->n++] = row;
        if (group) {
            x->open[x->depth].row = x->n - 1;
            x->open[x->depth++].left = row.format;
        } else {
            close_structs(x);
        }
    }
    if (ended)
        end_structs(x);
    else if (x->depth)
        x->n = x->open[0].row;
    return st;
}

/* Copies the fields of the tracepoint, and adds those of every event, before the rows. */
static void put_first(const pf_trace_format *base, describing *x)
{
    static const char *const names[PF_EH_EXTRA] = {"event_name", "activity_id", "related_id"};
    const uint32_t n = base->shown.n_fields;
    memcpy(x->fields, base->shown.fields, n * sizeof *x->fields);
    for (int i = 0; i < PF_EH_EXTRA; i++) {
        const pf_eh_row row = {.encoding = i ? PF_EH_BINARY : PF_EH_ZSTRING8,
                               .format = i ? PF_EH_HEX_BYTES : PF_EH_UTF};
        declare(&row, &x->fields[n + (uint32_t)i]);
        x->fields[n + (uint32_t)i].field.name = names[i];
    }
    x->first = n + PF_EH_EXTRA;
}

/* Allocates the description.  A row of the metadata has at least two bytes. */
static perfile_status make_room(const pf_trace_format *base, size_t metadata, describing *x,
                                perfile_error *err)
{
    void *p;
    const uint32_t others = base->shown.n_fields + PF_EH_EXTRA;
    const size_t most = metadata / 2;
    if (others > PF_TRACE_FIELDS)
        return pf_fail(err, PERFILE_E_LIMIT, "tracepoint.fields", "there are too many fields");
    x->room = most < PF_TRACE_FIELDS - others ? (uint32_t)most : PF_TRACE_FIELDS - others;
    perfile_status st = pf_arena_get(x->arena, (others + x->room) * sizeof *x->fields, &p, err);
    if (st != PERFILE_OK)
        return st;
    x->fields = p;
    st = pf_arena_get(x->arena, x->room * sizeof *x->rows + 1, &p, err);
    x->rows = p;
    return st;
}

perfile_status pf_eh_describe(const pf_trace_format *base, const pf_eh_parts *parts,
                              pf_buffer *scratch, pf_arena *arena, const pf_trace_format **out,
                              perfile_error *err)
{
    describing x = {.arena = arena};
    void *p = NULL;
    pf_cursor c = pf_cur(parts->metadata, parts->swapped);
    const uint8_t *nul = memchr(c.pos, 0, pf_cur_left(&c));
    (void)pf_cur_span(&c, nul ? (size_t)(nul - c.pos) + 1 : pf_cur_left(&c));
    perfile_status st = make_room(base, pf_cur_left(&c), &x, err);
    if (st == PERFILE_OK)
        st = pf_arena_get(arena, sizeof(pf_trace_format) + sizeof(pf_eh), &p, err);
    if (st != PERFILE_OK)
        return st;
    pf_trace_format *f = p;
    pf_eh *self = (pf_eh *)(void *)(f + 1);
    put_first(base, &x);
    st = read_rows(&x, &c, err);
    *self = (pf_eh){.base = base,
                    .rows = x.rows,
                    .n_rows = (uint16_t)x.n,
                    .first = (uint16_t)x.first,
                    .swapped = parts->swapped,
                    .scratch = scratch};
    if (st == PERFILE_OK)
        st = pf_arena_copy(arena, parts->metadata, &self->metadata, err);
    *f = *base;
    f->shown.fields = x.fields;
    f->shown.n_fields = x.first + x.n;
    f->self = self;
    if (st == PERFILE_OK)
        st = pf_trace_sort_names(f, arena, err);
    if (st == PERFILE_OK)
        *out = f;
    return st;
}
