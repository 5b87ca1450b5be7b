/* A scan of TRACING_DATA for names and numbers of tracepoints.  P:
 * tools/perf/util/trace-event-info.c has the layout, format/features.def describes it
 * (tracing_formats).  Unlike the table's decoder this scan returns the names in front of the
 * damage of a damaged blob. */
#include "core/names.h"

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "core/state.h"

static const uint8_t magic[10] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

/* Takes the next line off `text`. */
static bool next_line(perfile_bytes *text, perfile_bytes *line)
{
    if (text->len == 0)
        return false;
    const uint8_t *nl = memchr(text->ptr, '\n', text->len);
    line->ptr = text->ptr;
    line->len = nl ? (size_t)(nl - text->ptr) : text->len;
    size_t step = nl ? line->len + 1 : line->len;
    text->ptr += step;
    text->len -= step;
    return true;
}

/* For a line "KEY: value": sets *value to the value without blanks around it. */
static bool value_of(perfile_bytes line, const char *key, perfile_bytes *value)
{
    size_t n = strlen(key);
    if (line.len < n || memcmp(line.ptr, key, n) != 0)
        return false;
    perfile_bytes v = {line.ptr + n, line.len - n};
    while (v.len && (*v.ptr == ' ' || *v.ptr == '\t')) {
        v.ptr++;
        v.len--;
    }
    while (v.len && (v.ptr[v.len - 1] == ' ' || v.ptr[v.len - 1] == '\r'))
        v.len--;
    *value = v;
    return true;
}

/* A decimal number of at most 18 digits and nothing else. */
static bool number_of(perfile_bytes text, uint64_t *number)
{
    uint64_t n = 0;
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *number = n;
    return true;
}

bool pf_tracepoint_read(perfile_bytes format, perfile_bytes *name, uint64_t *id)
{
    perfile_bytes line, number;
    bool has_id = false;
    *name = (perfile_bytes){NULL, 0};
    while (!(has_id && name->len) && next_line(&format, &line)) {
        if (value_of(line, "ID:", &number))
            has_id = number_of(number, id);
        else
            value_of(line, "name:", name);
    }
    return has_id && name->len;
}

/* Adds the tracepoint of one format.  The first of a number counts. */
static perfile_status take_format(pf_tracepoints *t, pf_arena *arena, perfile_bytes system,
                                  perfile_bytes text, perfile_error *err)
{
    perfile_bytes name;
    uint64_t id = 0;
    if (!pf_tracepoint_read(text, &name, &id))
        return PERFILE_OK;

    pf_tracepoint *items = pf_array_more(t->items, t->n, &t->cap, sizeof *items);
    if (!items)
        return pf_fail_nomem(err, "session.tracepoints");
    t->items = items;
    bool added;
    perfile_status st = pf_ids_add(&t->by_id, arena, id, t->n, &added, err);
    if (st == PERFILE_OK && added)
        t->items[t->n++] = (pf_tracepoint){system, name};
    return st;
}

/* A u64 length and so many bytes. */
static perfile_bytes sized(pf_cursor *c)
{
    uint64_t n = pf_cur_u64(c);
    return pf_cur_span(c, n);
}

perfile_status pf_tracepoints_scan(pf_tracepoints *t, pf_arena *arena, perfile_bytes blob,
                                   perfile_error *err)
{
    pf_cursor c = pf_cur(blob, false);
    perfile_bytes start = pf_cur_span(&c, sizeof magic);
    if (c.bad || memcmp(start.ptr, magic, sizeof magic) != 0)
        return PERFILE_OK;
    pf_cur_cstr(&c);                         /* version */
    c.swap = pf_cur_u8(&c) != PF_NATIVE_BIG; /* the blob has a byte order of its own */
    pf_cur_u8(&c);                           /* long size */
    pf_cur_u32(&c);                          /* page size */
    for (int i = 0; i < 2; i++) {            /* header_page, header_event */
        pf_cur_cstr(&c);
        sized(&c);
    }
    /* Every format begins with its size, 8 bytes, so the cursor goes bad before a false count loops
     * for long. */
    uint32_t n = pf_cur_u32(&c);
    for (; n && !c.bad; n--)
        sized(&c); /* formats of ftrace itself: no events */

    uint32_t systems = pf_cur_u32(&c);
    for (; systems && !c.bad; systems--) {
        perfile_bytes system = pf_cur_cstr(&c);
        if (!c.bad)
            system.len--;
        n = pf_cur_u32(&c);
        for (; n && !c.bad; n--) {
            perfile_bytes text = sized(&c);
            perfile_status st = PERFILE_OK;
            if (!c.bad)
                st = take_format(t, arena, system, text, err);
            if (st != PERFILE_OK)
                return st;
        }
    }
    return PERFILE_OK;
}

const pf_tracepoint *pf_tracepoints_find(const pf_tracepoints *t, uint64_t id)
{
    uint32_t i = pf_ids_find(&t->by_id, id);
    return i < t->n ? &t->items[i] : NULL;
}

void pf_tracepoints_free(pf_tracepoints *t)
{
    pf_free(t->items);
    t->items = NULL;
    t->n = t->cap = 0;
    pf_ids_free(&t->by_id);
}
