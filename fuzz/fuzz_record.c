/* Any bytes as the body of any record, with any attr.  Decoder and walk stay in bounds, come to the
 * same result, and show the same values, at offsets that increase and do not overlap. */
#include "attrs.h"
#include "tests/decoded.h"
#include "tests/places.h"

/* Parts that are decoded and walked: the body, the trailer, or a separate attr. */
typedef enum what { BODY, TRAILER, ATTR } what;

static perfile_status walk(const perfile_record *r, what w, places *p, perfile_error *err)
{
    const uint32_t flags = PERFILE_WALK_PADDING;
    switch (w) {
    case BODY:
        return perfile_record_walk(r, flags, &places_visitor, p, err);
    case TRAILER:
        return perfile_record_walk_trailer(r, flags, &places_visitor, p, err);
    default:
        return perfile_attr_walk(r->body, r->flags & PERFILE_REC_SWAPPED, flags, &places_visitor, p,
                                 err);
    }
}

static perfile_status decode(const perfile_record *r, what w, transcript *t, perfile_error *err)
{
    switch (w) {
    case BODY:
        return decoded_record(t, r, err);
    case TRAILER:
        return decoded_trailer(t, r, err);
    default:
        return decoded_attr(t, r->body, r->flags & PERFILE_REC_SWAPPED, err);
    }
}

static void compare(const perfile_record *r, what w)
{
    perfile_error walked = {0}, decoded = {0};
    places p = {.t.no_zeros = true, .gapless = w != ATTR, .end = r->body.len + 8};
    p.at = w == BODY ? 8 : 0;
    if (w == TRAILER)
        p.gapless = false;
    if (w == ATTR)
        p.end = r->body.len;
    perfile_status a = walk(r, w, &p, &walked);
    ENSURE(!p.wrong);
    transcript t = {.no_zeros = true};
    perfile_status b = decode(r, w, &t, &decoded);
    if (b == PERFILE_E_USAGE) {
        ENSURE(a == PERFILE_OK && !perfile_record_type_name(r->type));
        return;
    }
    if (a != b || walked.damage != decoded.damage)
        fprintf(stderr, "walk %d %u, decode %d %u\n", a, walked.damage, b, decoded.damage);
    ENSURE(a == b && walked.damage == decoded.damage);
    if (a == PERFILE_OK)
        ENSURE(p.t.hash == t.hash);
    if (a == PERFILE_OK && w == TRAILER)
        ENSURE(p.at == p.end);
    ENSURE(decoded_unread == 0);
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
    perfile_session *s;
    ENSURE(pf_session_open(swap, &options, &s, NULL) == PERFILE_OK);
    uint16_t misc = (uint16_t)choose(&c, 2);
    for (uint64_t n = 0; n < (flags >> 2 & 3); n++)
        add_attr(s, swap, &c, n + 1);
    ENSURE(pf_session_resolve(s, NULL) == PERFILE_OK);

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
    compare(&r, BODY);
    if (type < PERFILE_RECORD_USER)
        compare(&r, TRAILER);
    if (type == PERFILE_RECORD_HEADER_ATTR)
        compare(&r, ATTR);

    /* Fields that are found without decoding. */
    uint32_t pid, tid, cpu;
    uint64_t value, word = 0;
    perfile_record_time(&r);
    perfile_record_event(&r);
    if (perfile_record_task(&r, &pid, &tid))
        word += pid + tid;
    if (perfile_record_cpu(&r, &cpu))
        word += cpu;
    for (unsigned bit = 0; bit < 25; bit++)
        if (perfile_sample_field(&r, (uint32_t)1 << bit, &value))
            word += value;
    static volatile uint64_t used;
    used = word;
    (void)used;
    ENSURE(pf_session_collect(s, &r, NULL) == PERFILE_OK);
    ENSURE(pf_session_resolve(s, NULL) == PERFILE_OK);
    free(block);
    pf_session_free(s);
    return 0;
}
