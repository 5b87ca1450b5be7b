/* Any bytes as the body of any record, with any attr.  A decoded record encodes, in either byte
 * order, to bytes that decode to the same, or there is an error that names a member.  Byte-swapping
 * a record twice restores it. */
#include "attrs.h"
#include "core/swap.h"
#include "tests/decoded.h"
#include "tests/encoded.h"

enum { ROOM = 1 << 17 };
static uint8_t made[ROOM], again[ROOM];

static perfile_record record_at(const perfile_record *like, const uint8_t *bytes, size_t len,
                                bool swap, const perfile_session *s)
{
    perfile_record r = *like;
    r.header = bytes;
    r.body = (perfile_bytes){bytes + 8, len - 8};
    r.flags = swap ? PERFILE_REC_SWAPPED : 0;
    r.session = s;
    return r;
}

static uint64_t values_of(const perfile_record *r, bool trailer)
{
    transcript t = {.no_zeros = true};
    ENSURE(decoded_record(&t, r, NULL) == PERFILE_OK);
    ENSURE(!trailer || decoded_trailer(&t, r, NULL) == PERFILE_OK);
    return t.hash;
}

static void encode(const perfile_record *r, const perfile_session *other)
{
    for (int turn = 0; turn < 2; turn++) {
        perfile_sample_id id;
        perfile_error err = {0};
        size_t n, n_again;
        bool swap = (bool)(r->flags & PERFILE_REC_SWAPPED) != turn;
        perfile_encode_options how = encoded_how(r, &id, pf_byte_order_of(swap));
        perfile_status st = encoded_record(r, &how, made, ROOM, &n, &err);
        if (st == PERFILE_END)
            return;
        if (st != PERFILE_OK) {
            ENSURE(err.where && err.message[0]);
            ENSURE(st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT);
            continue;
        }
        perfile_record m = record_at(r, made, n, swap, turn ? other : r->session);
        ENSURE(values_of(&m, how.sample_id) == values_of(r, how.sample_id));
        ENSURE(encoded_record(&m, &how, again, ROOM, &n_again, &err) == PERFILE_OK);
        ENSURE(n == n_again && memcmp(made, again, n) == 0);
    }
}

/* Returns true if the bytes can be read in two ways that differ after byte-swapping: the file name
 * in MMAP2 of the first kernels, and branch stacks without entries in a damaged sample. */
static bool is_ambiguous(const perfile_record *r, perfile_status st)
{
    perfile_mmap2 m;
    if (r->type == PERFILE_RECORD_MMAP2)
        return perfile_mmap2_decode(r, &m, sizeof m, NULL) != PERFILE_OK || !m.has_prot;
    return r->type == PERFILE_RECORD_SAMPLE && st != PERFILE_OK;
}

static void turn(const perfile_record *r, const perfile_session *other)
{
    size_t n = perfile_record_size(r);
    uint8_t *once = malloc(n), *twice = malloc(n);
    ENSURE(once && twice);
    perfile_status st = pf_swap_record(r, once, NULL);
    perfile_record back = record_at(r, once, n, !(r->flags & PERFILE_REC_SWAPPED), other);
    bool comparable = !is_ambiguous(r, st);
    if (comparable) {
        ENSURE((pf_swap_record(&back, twice, NULL) < 0) == (st < 0));
        ENSURE(memcmp(twice, r->header, n) == 0);
    }
    transcript one = {.no_zeros = true}, two = {.no_zeros = true};
    if (comparable && st == PERFILE_OK && r->type != PERFILE_RECORD_HEADER_FEATURE) {
        ENSURE(decoded_record(&one, r, NULL) == decoded_record(&two, &back, NULL));
        ENSURE(one.hash == two.hash);
    }
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    uint32_t type = (uint32_t)choose(&c, 1);
    if (type >= 200)
        type = PERFILE_RECORD_SIMPLEPERF + type - 200;
    bool swap = flags & 1;
    perfile_open_options options = {.size = sizeof options, .as_stored = flags & 2};
    perfile_session *s, *other;
    ENSURE(pf_session_open(swap, &options, &s, NULL) == PERFILE_OK);
    ENSURE(pf_session_open(!swap, &options, &other, NULL) == PERFILE_OK);
    uint16_t misc = (uint16_t)choose(&c, 2);
    /* At most one event: with several, the id decides, which is read at the position of a trailer
     * even in records that are too short for one. */
    if (flags & 4) {
        choices same = c;
        add_attr(s, swap, &c, 1);
        add_attr(other, !swap, &same, 1);
    }
    ENSURE(pf_session_resolve(s, NULL) == PERFILE_OK);
    ENSURE(pf_session_resolve(other, NULL) == PERFILE_OK);

    /* A separate block, so that an overread is caught. */
    size_t n = c.left;
    uint8_t *block = malloc(n + 8);
    ENSURE(block);
    memset(block, 0, 8);
    if (n)
        memcpy(block + 8, data, n);
    perfile_record r = {.header = block,
                        .body = {block + 8, n},
                        .type = type,
                        .misc = misc,
                        .flags = swap ? PERFILE_REC_SWAPPED : 0,
                        .session = s};
    /* Encoded records are not decoded as stored. */
    decoded_settled = true;
    if (!options.as_stored)
        encode(&r, other);
    decoded_settled = false;
    turn(&r, other);
    free(block);
    pf_session_free(s);
    pf_session_free(other);
    return 0;
}
