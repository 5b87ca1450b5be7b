/* Any text, up to the first NUL, as the description of a tracepoint, and any bytes as its payload.
 * Values are inside the payload, each field is found by its name, and a payload is printed the same
 * way twice and within the limit, even if it is truncated.  If the description is that of an
 * EventHeader, the payload describes itself: these fields are read in the same way, and a walk ends
 * every group that it begins. */
#include <stdlib.h>
#include <string.h>

#include "ensure.h"
#include "trace/eventheader.h"
#include "trace/print.h"
#include "trace/printk.h"

/* Returns a copy in a separate block, so that reading outside of it is caught. */
static uint8_t *copy(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    return block;
}

static const char *name_of(void *user, uint64_t address, uint64_t *offset)
{
    (void)user;
    *offset = address & 0xfff;
    return address & 1 ? "function" : NULL;
}

/* Checks that the bytes of a value can be read. */
static void check_stored(const perfile_field *f, const perfile_value *v)
{
    perfile_bytes text;
    perfile_strings strings = v->u.strings;
    volatile uint8_t sum = 0;
    if (f->type == PERFILE_STORED_TEXT || f->type == PERFILE_STORED_BLOB)
        for (size_t i = 0; i < v->u.bytes.len; i++)
            sum = (uint8_t)(sum + v->u.bytes.ptr[i]);
    if (f->type != PERFILE_STORED_STRINGS)
        return;
    const size_t n = strings.n;
    size_t found = 0;
    for (; perfile_strings_next(&strings, &text) == PERFILE_OK; found++)
        sum = (uint8_t)(sum + text.len);
    ENSURE(found == n);
}

/* State of a walk. */
typedef struct walked {
    unsigned depth;
    size_t shown;
} walked;

static void walk_value(void *user, const perfile_field *f, const perfile_value *v)
{
    check_stored(f, v);
    ((walked *)user)->shown += 1 + v->width;
}

static void walk_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)f;
    (void)v;
    ENSURE(++((walked *)user)->depth <= 2 * PF_EH_DEPTH);
}

static void walk_end(void *user, const perfile_field *f)
{
    (void)f;
    ENSURE(((walked *)user)->depth--);
}

static void check_values(const perfile_tracepoint *t, perfile_bytes payload)
{
    for (uint32_t i = 0; i < t->n_fields; i++) {
        perfile_value v;
        const perfile_tracepoint_field *f = &t->fields[i];
        const int found = perfile_tracepoint_field_find(t, f->field.name);
        ENSURE(found >= 0 && strcmp(t->fields[found].field.name, f->field.name) == 0);
        if (perfile_tracepoint_value(t, payload, i, &v) != PERFILE_OK)
            continue;
        ENSURE(v.offset <= payload.len && v.width <= payload.len - v.offset);
        check_stored(&f->field, &v);
        if (f->field.type == PERFILE_STORED_WORDS)
            for (size_t k = 0; k < v.u.words.n; k++)
                (void)perfile_word(&v.u.words, k);
    }
}

static void check_print(const perfile_tracepoint *t, perfile_bytes payload)
{
    static char first[PF_PRINT_MOST + 1], again[PF_PRINT_MOST + 1];
    const size_t n = perfile_tracepoint_print(t, payload, name_of, NULL, first, sizeof first);
    ENSURE(n <= PF_PRINT_MOST);
    ENSURE(perfile_tracepoint_print(t, payload, name_of, NULL, again, sizeof again) == n);
    ENSURE(memcmp(first, again, n + 1) == 0);
    ENSURE(perfile_tracepoint_print(t, payload, name_of, NULL, again, n / 2 + 1) == n);
    ENSURE(memcmp(first, again, n / 2) == 0 && !again[n / 2]);
}

/* Reads the payload as an event that describes itself. */
static void check_event(const pf_trace_format *base, perfile_bytes payload)
{
    static const perfile_visitor visitor = {sizeof visitor, walk_value, walk_begin, walk_end};
    const pf_trace_format *f;
    pf_eh_parts parts;
    pf_arena arena;
    pf_buffer scratch = {0};
    if (!base->is_eventheader || !pf_eh_split(base, payload, &parts))
        return;
    pf_arena_init(&arena, PF_EH_BYTES, "limit");
    ENSURE(pf_eh_describe(base, &parts, &scratch, &arena, &f, NULL) == PERFILE_OK);
    walked w = {0};
    size_t left = payload.len;
    pf_eh_walk(f, payload, 0, &left, &visitor, &w);
    ENSURE(!w.depth && w.shown <= payload.len + PF_EH_GROWTH * payload.len);
    check_values(&f->shown, payload);
    check_print(&f->shown, payload);
    pf_buffer_free(&scratch);
    pf_arena_free(&arena);
}

/* The number of bytes supplies the choices. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pf_arena arena;
    pf_printk printk = {0};
    const pf_trace_format *f;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    const size_t n = nul ? (size_t)(nul - data) : size, rest = nul ? size - n - 1 : 0;
    uint8_t *text = copy(data, n), *payload = copy(data + (nul ? n + 1 : 0), rest);
    pf_arena_init(&arena, 16 << 20, "limit");
    ENSURE(pf_printk_read(&printk, (perfile_bytes){text, n}, &arena, NULL) == PERFILE_OK);
    const pf_trace_source source = {.text = {text, n},
                                    .name = {text, n < 8 ? n : 8},
                                    .swapped = size & 1,
                                    .long_size = size & 2 ? 4 : 8,
                                    .printk = &printk};
    const perfile_status st = pf_trace_format_read(&source, &arena, &f, NULL);
    ENSURE(st == PERFILE_OK || st == PERFILE_E_CORRUPT);
    for (size_t left = rest; st == PERFILE_OK; left /= 2) {
        uint8_t *part = copy(payload, left);
        check_values(&f->shown, (perfile_bytes){part, left});
        check_print(&f->shown, (perfile_bytes){part, left});
        check_event(f, (perfile_bytes){part, left});
        free(part);
        if (!left)
            break;
    }
    pf_arena_free(&arena);
    free(text);
    free(payload);
    return 0;
}
