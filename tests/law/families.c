/* Laws that hold for every record type of every family but perf's, without naming one: walk and
 * decoder agree, also about cuts, of which nothing behind the end is read; the twin in the other
 * byte order has the same values, and turned back the same bytes; what is encoded decodes to what
 * it was made of.  Instances are random bytes.  tables.c, swap.c and encode.c are about perf's. */
#include "testing.h"

#include "core/swap.h"
#include "instances.h"
#include "places.h"
#include "schema/expand.h"
#include "twin.h"

enum { INSTANCES = 400, ROOM = 1 << 16, MOST_DECODED = 4096 };

static uint8_t once[ROOM], twice[ROOM], wanted[ROOM];
static unsigned n_whole, n_cut, n_rows;

static perfile_status walk_places(const perfile_record *r, uint32_t header, places *p)
{
    *p = (places){
        .t = {.with_text = true}, .at = header, .end = header + r->body.len, .gapless = true};
    const perfile_status st =
        perfile_record_walk(r, PERFILE_WALK_PADDING, &places_visitor, p, NULL);
    assert_false(p->wrong);
    return st;
}

/* Decodes into `out`; false if that is not possible.  The walk says the same. */
static bool decode(const pf_row *row, const perfile_record *r, void *out)
{
    pf_context k = {.misc = r->misc};
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    memset(out, 0, row->size);
    row->decode(&k, &c, out);
    perfile_error err = {0};
    const perfile_status st = perfile_record_walk(r, 0, &instance_visitor, NULL, &err);
    assert_int_equal(st == PERFILE_OK, !c.bad);
    if (c.bad)
        assert_int_equal(err.damage, c.bad);
    return !c.bad;
}

static perfile_record turned(const perfile_record *r, uint32_t header, uint8_t *bytes)
{
    perfile_record t = *r;
    t.header = bytes;
    t.body.ptr = bytes + header;
    t.flags ^= PERFILE_REC_SWAPPED;
    return t;
}

/* The bytes in the other order are those that the walk makes; turned back they are the first. */
static void check_twin(const pf_family *f, const pf_row *row, const perfile_record *r,
                       const void *decoded)
{
    const size_t n = perfile_record_size(r);
    uint8_t *other = calloc(1, row->size);
    places mine, its;
    assert_non_null(other);
    assert_true(n <= ROOM);
    memcpy(wanted, r->header, n);
    f->byteswap_header(wanted, r->header);
    twin t = {wanted, r->header, r->flags & PERFILE_REC_SWAPPED};
    assert_int_equal(perfile_record_walk(r, 0, &twin_visitor, &t, NULL), PERFILE_OK);
    assert_int_equal(pf_swap_record(r, once, NULL), PERFILE_OK);
    assert_memory_equal(once, wanted, n);
    perfile_record back = turned(r, f->header, once);
    assert_true(decode(row, &back, other));
    assert_null(row->same(decoded, other));
    assert_int_equal(walk_places(r, f->header, &mine), PERFILE_OK);
    assert_int_equal(walk_places(&back, f->header, &its), PERFILE_OK);
    assert_true(mine.t.hash == its.t.hash && mine.where == its.where);
    assert_int_equal(pf_swap_record(&back, twice, NULL), PERFILE_OK);
    assert_memory_equal(twice, r->header, n);
    transcript_clear(&mine.t);
    transcript_clear(&its.t);
    free(other);
}

/* What was decoded, encoded and decoded again. */
static void check_encoded(const pf_row *row, const perfile_record *r, void *decoded)
{
    pf_context k = {.misc = r->misc};
    pf_put w = {.start = once,
                .room = ROOM,
                .end = SIZE_MAX,
                .swap = r->flags & PERFILE_REC_SWAPPED,
                .is_record = true};
    void *again = calloc(1, row->size);
    assert_non_null(again);
    row->settle(decoded);
    row->encode(&k, &w, decoded);
    assert_null(w.full);
    assert_null(w.wrong);
    perfile_record made = *r;
    made.body = (perfile_bytes){once, w.len};
    assert_true(decode(row, &made, again));
    row->settle(again);
    assert_null(row->same(decoded, again));
    free(again);
}

static void check_cuts(const pf_row *row, const perfile_record *r, uint32_t header, void *decoded)
{
    for (size_t n = 0; n < r->body.len; n += 1 + n / 16) {
        perfile_record cut = *r;
        uint8_t *block = exact(r->header, header + n);
        cut.header = block;
        cut.body = (perfile_bytes){block + header, n};
        const bool reads = decode(row, &cut, decoded);
        assert_true(!reads || n >= row->fixed);
        n_cut += !reads;
        free(block);
    }
}

static void one_record(const pf_family *f, const pf_row *row, dice *d, bool swap)
{
    builder b = {.swap = swap};
    uint8_t decoded[MOST_DECODED], other[MOST_DECODED];
    assert_true(row->size <= sizeof decoded);
    roll_body(d, &b, row->fixed);
    uint8_t *block = calloc(1, f->header + b.b.len);
    assert_non_null(block);
    if (b.b.len)
        memcpy(block + f->header, b.b.ptr, b.b.len);
    const perfile_record r = {.header = block,
                              .body = {block + f->header, b.b.len},
                              .type = row->number,
                              .misc = (uint16_t)roll(d, 1 << 16),
                              .family = (uint8_t)(row->number >> PERFILE_FAMILY_SHIFT),
                              .flags = swap ? PERFILE_REC_SWAPPED : 0};
    if (decode(row, &r, decoded)) {
        n_whole++;
        check_twin(f, row, &r, decoded);
        check_encoded(row, &r, decoded);
        check_cuts(row, &r, f->header, other);
    }
    free(block);
    build_clear(&b);
}

static void records(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PF_N_FAMILIES; i++) {
        const pf_family *f = pf_families[i];
        for (uint32_t k = 0; f && f != &pf_family_perf && k < f->n_rows; k++) {
            const unsigned before = n_whole;
            dice d = {k + 1};
            for (unsigned n = 0; n < INSTANCES; n++)
                one_record(f, &f->rows[k], &d, n % 2);
            if (n_whole - before < INSTANCES / 20)
                fail_msg("%s %s: %u of %d decode", f->name, f->rows[k].name, n_whole - before,
                         INSTANCES);
            n_rows++;
        }
    }
    print_message("%u types, %u records, %u cuts\n", n_rows, n_whole, n_cut);
    assert_true(n_rows >= 6 && n_cut > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
