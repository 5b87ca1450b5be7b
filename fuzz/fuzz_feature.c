/* Any bytes as any feature.  Decoder and walk stay in bounds, come to the same result and show the
 * same values; decoded values encode to the same values; byte-swapping twice restores the bytes;
 * and the session collects the facts that it can. */
#include "core/session.h"
#include "core/swap.h"
#include "ensure.h"
#include "tests/builder.h"
#include "tests/decoded.h"
#include "tests/encoded.h"
#include "tests/places.h"
#include "schema/command.h"

static void compare(const perfile_feature *f)
{
    perfile_error walked = {0}, decoded = {0};
    places p = {
        .t.no_zeros = true, .end = f->payload.len, .inside_only = decoded_is_flat(f->number)};
    transcript t = {.no_zeros = true};
    perfile_status a = perfile_feature_walk(f, PERFILE_WALK_PADDING, &places_visitor, &p, &walked);
    ENSURE(!p.wrong);
    perfile_status b = decoded_feature(&t, f, &decoded);
    ENSURE(decoded_unread == 0);
    if (b == PERFILE_E_USAGE) {
        ENSURE(a == PERFILE_OK && !perfile_feature_name(f->number));
    } else if (!decoded_is_flat(f->number)) {
        if (a != b || walked.damage != decoded.damage)
            fprintf(stderr, "walk %d %u, decode %d %u\n", a, walked.damage, b, decoded.damage);
        ENSURE(a == b && walked.damage == decoded.damage);
        ENSURE(a != PERFILE_OK || p.t.hash == t.hash);
    }

    /* The contract shows some of it in another form. */
    transcript contract = {0};
    perfile_status st =
        perfile_feature_walk(f, PERFILE_WALK_CONTRACT, &transcript_visitor, &contract, NULL);
    ENSURE(st == b || !pf_feature_in_contract(f->number));
}

static void encode(const perfile_feature *f)
{
    enum { ROOM = 1 << 18 };
    static uint8_t made[ROOM], again[ROOM];
    size_t n, n_again;
    perfile_error err = {0};
    bool swap = f->flags & PERFILE_REC_SWAPPED;
    perfile_encode_options how = {.size = sizeof how,
                                  .n_cpus = perfile_session_n_cpus(f->session),
                                  .byte_order = pf_byte_order_of(swap)};
    perfile_status st = encoded_feature(f, &how, made, ROOM, &n, &err);
    if (st != PERFILE_OK) {
        ENSURE(st == PERFILE_END || (st == PERFILE_E_USAGE && err.where && err.message[0]));
        return;
    }
    transcript one = {.no_zeros = true}, two = {.no_zeros = true};
    perfile_feature m = *f;
    m.payload = (perfile_bytes){made, n};
    ENSURE(decoded_feature(&one, f, NULL) == PERFILE_OK);
    ENSURE(decoded_feature(&two, &m, NULL) == PERFILE_OK);
    ENSURE(one.hash == two.hash);
    ENSURE(encoded_feature(&m, &how, again, ROOM, &n_again, &err) == PERFILE_OK);
    ENSURE(n == n_again && memcmp(made, again, n) == 0);
}

static void turn(const perfile_feature *f)
{
    size_t n = f->payload.len;
    uint8_t *once = malloc(n + 1), *twice = malloc(n + 1);
    ENSURE(once && twice);
    perfile_status st = pf_swap_feature(f, once, NULL);
    perfile_feature back = *f;
    back.payload.ptr = once;
    back.flags ^= PERFILE_REC_SWAPPED;
    ENSURE((pf_swap_feature(&back, twice, NULL) < 0) == (st < 0));
    ENSURE(n == 0 || memcmp(twice, f->payload.ptr, n) == 0);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    uint32_t number = (uint32_t)choose(&c, 1);
    uint32_t cpus = (uint32_t)choose(&c, 1);
    bool swap = flags & 1;
    perfile_open_options options = {.size = sizeof options, .as_stored = flags & 2};
    perfile_session *s;
    ENSURE(pf_session_open(swap, &options, &s, NULL) == PERFILE_OK);

    builder b = {.swap = swap};
    build_attr_plan plan = {.size = 112, .flags = (uint64_t)1 << PERFILE_ATTR_BIT_USE_CLOCKID};
    build_attr(&b, &plan);
    pf_attr_fact fact = {.attr = built(&b)};
    ENSURE(pf_session_add_attr(s, &fact, NULL) == PERFILE_OK);
    b.b.len = 0;
    build_u32(&b, cpus);
    build_u32(&b, cpus);
    perfile_feature nrcpus = {.number = PERFILE_FEATURE_NRCPUS,
                              .flags = swap ? PERFILE_REC_SWAPPED : 0,
                              .payload = built(&b)};
    if (flags & 4)
        ENSURE(pf_session_add_feature(s, &nrcpus, false, NULL) == PERFILE_OK);
    build_clear(&b);

    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_feature f = {.number = number,
                         .flags = swap ? PERFILE_REC_SWAPPED : 0,
                         .size = c.left,
                         .payload = {block, c.left},
                         .session = s};
    compare(&f);
    decoded_settled = true;
    if (!options.as_stored)
        encode(&f);
    decoded_settled = false;
    /* MMAP2 records in it can be read in two ways; see fuzz_encode.c. */
    if (number != PERFILE_FEATURE_INIT_MAP)
        turn(&f);
    ENSURE(pf_session_add_feature(s, &f, true, NULL) == PERFILE_OK);
    ENSURE(pf_session_resolve(s, NULL) == PERFILE_OK);
    perfile_clock clock;
    perfile_session_clock(s, &clock);
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++) {
        const char *fact_text = perfile_session_fact(s, i);
        ENSURE(!fact_text || strlen(fact_text) <= 8 * size + 64);
    }
    ENSURE(strlen(perfile_session_event(s, 0)->name) <= size + 256);
    pf_session_free(s);
    free(block);
    return 0;
}
