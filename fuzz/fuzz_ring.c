/* Any control page with any data.  Every yielded record is inside the data area or in a copy of it,
 * is counted once, and is the same as record and as span.  If heads move meanwhile, the result is
 * records, damage or nothing.
 *
 * Input: bytes 0 to 95 and 1024 to 1087 of the control page, then the data area. */
#include <string.h>

#include "ensure.h"
#include "perfile/ring.h"

enum { NUMBERS = 96, HEADS = 1024, TAIL = 1032, MOST_DATA = 1 << 17, MOST_CALLS = 4096 };

typedef struct memory {
    uint64_t page[PERFILE_RING_PAGE_BYTES / 8];
    uint8_t *data;
    size_t size;
} memory;

static void set_word(memory *m, size_t at, uint64_t v)
{
    memcpy((uint8_t *)m->page + at, &v, 8);
}

static uint64_t get_word(const memory *m, size_t at)
{
    uint64_t v;
    memcpy(&v, (const uint8_t *)m->page + at, 8);
    return v;
}

/* Accepts any status; the sanitizers watch. */
static void any(perfile_status st)
{
    ENSURE(st >= PERFILE_E_USAGE && st <= PERFILE_END);
}

/* Copies the next bytes of the input, padded with zeros. */
static void pour(void *to, size_t n, const uint8_t **from, size_t *left)
{
    size_t got = n < *left ? n : *left;
    memset(to, 0, n);
    if (got)
        memcpy(to, *from, got);
    *from += got;
    *left -= got;
}

static uint64_t byte_at(const memory *m, uint64_t at)
{
    return m->data[at % m->size];
}

static void check_record(const memory *m, const perfile_record *r)
{
    size_t size = perfile_record_size(r);
    ENSURE(size >= 8 && size % 8 == 0 && size <= m->size && size < 65536);
    ENSURE(r->body.ptr == r->header + 8);
    for (size_t i = 0; i < size; i++)
        ENSURE(r->header[i] == byte_at(m, r->offset + i));
}

static uint64_t check_spans(const memory *m, const perfile_bytes spans[2])
{
    ENSURE(spans[0].len && spans[0].len + spans[1].len <= m->size);
    ENSURE(spans[0].ptr >= m->data && spans[0].ptr + spans[0].len <= m->data + m->size);
    ENSURE(!spans[1].len ||
           (spans[1].ptr == m->data && spans[0].ptr + spans[0].len == m->data + m->size));
    return spans[0].len + spans[1].len;
}

static perfile_ring *open_ring(const perfile_ring_options *o)
{
    perfile_ring *ring;
    ENSURE(perfile_ring_open(o, &ring, NULL) == PERFILE_OK);
    return ring;
}

/* Makes one call; returns its status and the number of yielded bytes. */
static perfile_status one_call(const memory *m, perfile_ring *ring, bool spans, uint64_t *bytes)
{
    const perfile_record *r;
    perfile_bytes span[2];
    perfile_error err = {0};
    perfile_status st =
        spans ? perfile_ring_take(ring, span, &err) : perfile_ring_next(ring, &r, &err);
    *bytes = 0;
    if (st == PERFILE_OK && !spans)
        check_record(m, r);
    if (st == PERFILE_OK)
        *bytes = spans ? check_spans(m, span) : perfile_record_size(r);
    ENSURE(st >= 0 || (st == PERFILE_E_CORRUPT && err.damage && err.where && err.message[0]));
    return st;
}

/* Reads until nothing is left; returns the number of bytes.  At most one call ends in damage. */
static uint64_t drain(const memory *m, perfile_ring *ring, bool spans, bool *damaged)
{
    uint64_t total = 0, bytes;
    perfile_status st;
    *damaged = false;
    while ((st = one_call(m, ring, spans, &bytes)) != PERFILE_END) {
        ENSURE(!*damaged);
        *damaged = st < 0;
        total += bytes;
        ENSURE(total <= m->size);
    }
    return total;
}

/* Compares records and spans of the same memory. */
static void compare(const memory *m, const perfile_ring_options *o)
{
    uint64_t bytes[2];
    bool damaged[2];
    for (unsigned i = 0; i < 2; i++) {
        perfile_ring *ring = open_ring(o);
        perfile_status st = PERFILE_OK;
        if (o->mode == PERFILE_RING_OVERWRITE)
            st = perfile_ring_snapshot(ring, false, NULL);
        ENSURE(st == PERFILE_OK || st == PERFILE_E_CORRUPT);
        bytes[i] = drain(m, ring, i, &damaged[i]);
        perfile_ring_summary sum;
        perfile_ring_get_summary(ring, &sum, sizeof sum);
        ENSURE(sum.bytes == bytes[i]);
        perfile_ring_close(ring);
    }
    if (o->mode == PERFILE_RING_OVERWRITE)
        ENSURE(bytes[0] == bytes[1] && damaged[0] == damaged[1]);
    else /* spans do not depend on record sizes */
        ENSURE(damaged[0] ? bytes[1] >= bytes[0] : bytes[0] == bytes[1] && !damaged[1]);
}

/* Moves heads between calls. */
static void move_heads(memory *m, const perfile_ring_options *o, choices *c)
{
    perfile_ring *ring = open_ring(o);
    perfile_bytes spans[2];
    uint64_t bytes;
    for (unsigned i = 0; c->left && i < MOST_CALLS; i++) {
        uint64_t act = choose(c, 1);
        uint64_t by = (act >> 4 & 3) == 3 ? choose(c, 8) : choose(c, 1) * 8;
        if (act & 8)
            set_word(m, HEADS, get_word(m, HEADS) + by);
        switch (act & 7) {
        case 0:
            any(perfile_ring_release(ring, NULL));
            break;
        case 1:
            any(perfile_ring_snapshot(ring, act & 64, NULL));
            break;
        case 2:
            if (o->aux.len && perfile_ring_aux_range(ring, by, choose(c, 2), spans, NULL) == 0)
                ENSURE(spans[0].len + spans[1].len <= o->aux.len);
            break;
        case 3:
            if (perfile_ring_aux_take(ring, spans, NULL, NULL) == PERFILE_OK)
                ENSURE(spans[0].len + spans[1].len <= o->aux.len);
            break;
        case 4:
            perfile_ring_aux_release(ring);
            break;
        default:
            one_call(m, ring, act & 1, &bytes);
        }
    }
    perfile_ring_close(ring);
}

static void check_numbers(const memory *m, uint64_t x)
{
    perfile_ring_page p;
    perfile_clock clock;
    uint64_t y, z;
    if (perfile_ring_page_read(m->page, sizeof m->page, &p, sizeof p, NULL) != PERFILE_OK) {
        ENSURE(m->page[1] & 0x0000000100000001); /* lock is odd, in one of the byte orders */
        return;
    }
    any(perfile_ring_page_count(&p, x, &y, NULL));
    any(perfile_ring_page_delta(&p, x, &y, NULL));
    if (perfile_ring_scale(x, p.time_enabled, p.time_running, &y))
        ENSURE(p.time_running);
    if (perfile_ring_page_clock(&p, &clock, NULL) == PERFILE_OK &&
        perfile_clock_time(&clock, x, &y, NULL) == PERFILE_OK && !clock.is_short && x >> 32 == 0 &&
        perfile_clock_cycles(&clock, y, &z, NULL) == PERFILE_OK)
        ENSURE(z <= x); /* both round down */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t mode = choose(&c, 1);
    memory m = {.size = (size_t)8 << choose(&c, 1) % 15};
    size_t left = c.left;
    pour(m.page, NUMBERS, &data, &left);
    pour((uint8_t *)m.page + HEADS, PERFILE_RING_PAGE_BYTES - HEADS, &data, &left);
    m.data = malloc(m.size);
    ENSURE(m.data);
    pour(m.data, m.size, &data, &left);
    c.left = left;
    c.ptr = data;

    perfile_bytes found;
    any(perfile_ring_find(m.page, sizeof m.page, sizeof m.page, &found, NULL));
    check_numbers(&m, size * UINT64_C(0x9e3779b97f4a7c15) >> (mode & 32));
    perfile_ring_options o = {
        .size = sizeof o,
        .page = m.page,
        .page_bytes = sizeof m.page,
        .data = {m.data, m.size},
        .mode = (uint32_t)(mode % 3),
        .aux_overwrite = mode & 64,
    };
    if (mode & 128)
        o.aux = o.data;
    compare(&m, &o);
    move_heads(&m, &o, &c);
    free(m.data);
    return 0;
}
