/* Any bytes as any feature: decoder and walk stay inside, come to the same verdict and show the
 * same values, and the session takes what it can from them. */
#include "core/session.h"
#include "ensure.h"
#include "tests/builder.h"
#include "tests/decoded.h"
#include "tests/places.h"

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
    ENSURE(st == b || !perfile_feature_in_contract(f->number));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    uint32_t number = (uint32_t)choose(&c, 1);
    uint32_t cpus = (uint32_t)choose(&c, 1);
    bool swap = flags & 1;
    perfile_options options = {.size = sizeof options, .as_stored = flags & 2};
    perfile_session *s;
    ENSURE(pf_session_new(swap, &options, &s, NULL) == PERFILE_OK);

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
    ENSURE(pf_session_add_feature(s, &f, true, NULL) == PERFILE_OK);
    ENSURE(pf_session_settle(s, NULL) == PERFILE_OK);
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
