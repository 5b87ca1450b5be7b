/* The codec COLUMNS by its laws: random payloads decode to the bytes that they were made of, and a
 * part of them to the same bytes as the whole, without reading anything else than is needed for it.
 */
#include "testing.h"

#include "columns/columns.h"
#include "base/error.h"
#include "columns_random.h"

static pf_columns_decoder *decoder;
static drawn *model;

static int setup(void **state)
{
    (void)state;
    decoder = pf_columns_decoder_new();
    model = calloc(1, sizeof *model);
    return decoder && model ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pf_columns_decoder_free(decoder);
    built_clear(&model->built);
    pf_buffer_free(&model->little);
    pf_buffer_free(&model->big);
    free(model);
    return 0;
}

/* A payload that is shown piece by piece; what was shown before is released. */
typedef struct shown {
    const drawn *m;
    perfile_bytes payload;
    uint8_t *piece;
    const bool *needed; /* by owner */
    size_t bytes;
    perfile_status fails; /* what reading the first frame behind frame 0 returns */
} shown;

/* True if the piece is the table or a part of it, frame 0, or a frame whose owner is needed. */
static bool is_needed(const shown *s, size_t offset, size_t len)
{
    const built_columns *b = &s->m->built;
    size_t at = 24 + 8 * (size_t)b->n_frames;
    if (offset + len <= at)
        return true;
    if (offset == at && len == b->head.len + b->small.len)
        return true;
    at += b->head.len + b->small.len;
    for (uint32_t i = 0; i < b->n_frames; at += b->sizes[i++])
        if (offset == at && len == b->sizes[i] && s->needed[b->owners[i]])
            return true;
    return false;
}

static perfile_status show(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                           perfile_error *err)
{
    shown *s = user;
    assert_true(len > 0 && offset <= s->payload.len && len <= s->payload.len - offset);
    assert_true(is_needed(s, offset, len));
    if (s->fails && offset > 24 + 8 * (size_t)s->m->built.n_frames)
        return pf_fail(err, s->fails, "test", "as it should");
    free(s->piece);
    s->piece = exact(s->payload.ptr + offset, len);
    s->bytes += len;
    *bytes = (perfile_bytes){s->piece, len};
    return PERFILE_OK;
}

enum { OWNERS = OWNER_COLUMNS + 2 * DRAWN_COLUMNS, LEFT_ALONE = 0xe5 };

/* Decodes what is apart in the model; the result is released by free(). */
static uint8_t *decoded_part(bool big, const bool *needed, pf_buffer *ranges, perfile_status fails)
{
    perfile_error err = {0};
    size_t len;
    uint64_t n_records = 77;
    uint8_t *payload = built_payload(&model->built, &len), *out = exact("", 0);
    shown s = {.m = model, .payload = {payload, len}, .needed = needed, .fails = fails};
    const pf_columns_input input = {.read = show, .user = &s, .len = len};
    out = realloc(out, model->little.len + 1);
    memset(out, LEFT_ALONE, model->little.len + 1);
    const perfile_status st = pf_columns_decode_apart(decoder, &input, big, out, model->little.len,
                                                      ranges, &n_records, &err);
    if (fails && st == fails) {
        assert_string_equal(err.where, "test");
        assert_int_equal(n_records, 77);
        assert_int_equal(ranges->len, 0);
    } else {
        assert_int_equal(st, PERFILE_OK);
        assert_int_equal(n_records, model->n_records);
    }
    assert_int_equal(out[model->little.len], LEFT_ALONE);
    free(s.piece);
    free(payload);
    return out;
}

static void need_classes(bool *needed)
{
    bool any = false;
    for (unsigned i = 0; i < model->n_classes; i++) {
        const drawn_class *k = &model->classes[i];
        any |= k->apart;
        for (unsigned j = 0; j < k->n_ops && k->apart; j++) {
            needed[OWNER_COLUMNS + 2 * k->ops[j].column] = true;
            needed[OWNER_COLUMNS + 2 * k->ops[j].column + 1] = true;
        }
    }
    needed[OWNER_CLASSES] = needed[OWNER_GAPS] = any;
}

/* Records that are apart are right and in ranges, one behind the other; nothing else is written or
 * read. */
static void check_apart(bool big)
{
    bool needed[OWNERS] = {false};
    pf_buffer ranges = {0};
    pf_columns_range r;
    const uint8_t *want = big ? model->big.ptr : model->little.ptr;
    need_classes(needed);
    uint8_t *out = decoded_part(big, needed, &ranges, 0);
    size_t k = 0, used = 0;
    for (uint32_t i = 0; i < model->n_records;) {
        uint32_t end = i;
        while (end < model->n_records && model->classes[model->class_of[end]].apart)
            end++;
        if (end > i) {
            assert_true((k + 1) * sizeof r <= ranges.len);
            memcpy(&r, ranges.ptr + k++ * sizeof r, sizeof r);
            assert_int_equal(r.first, i);
            assert_int_equal(r.records, end - i);
            assert_int_equal(r.offset, model->at[i]);
            assert_int_equal(r.bytes, model->at[end] - model->at[i]);
            assert_int_equal(r.at, used);
            assert_memory_equal(out + r.at, want + r.offset, r.bytes);
            used += r.bytes;
            i = end;
        } else {
            i++;
        }
    }
    for (size_t at = used; at < model->little.len; at++)
        assert_int_equal(out[at], LEFT_ALONE);
    assert_int_equal(ranges.len, k * sizeof r);
    pf_buffer_free(&ranges);
    free(out);
}

static void test_random(void **state)
{
    (void)state;
    size_t bytes = 0;
    for (unsigned i = 0; i < 500; i++) {
        bool needed[OWNERS];
        pf_buffer ranges = {0};
        size_t len;
        random_payload(model);
        bytes += model->little.len;
        for (unsigned big = 0; big < 2; big++) {
            uint8_t *payload = built_payload(&model->built, &len);
            uint8_t *out = malloc(model->little.len + 1);
            perfile_error err;
            if (pf_columns_decode(decoder, (perfile_bytes){payload, len}, big, out,
                                  model->little.len, &err))
                fail_msg("payload %u: %s", i, err.message);
            assert_memory_equal(out, big ? model->big.ptr : model->little.ptr, model->little.len);
            free(out);
            free(payload);
            check_apart(big);
        }
        memset(needed, true, sizeof needed);
        free(decoded_part(false, needed, &ranges, PERFILE_E_IO));
        pf_buffer_free(&ranges);
    }
    assert_true(bytes > 1 << 20);
}

/* Damage of random payloads, with right checksums: a part is refused or decoded inside its bounds,
 * and what decodes as a whole has the same parts. */
static void test_random_damage(void **state)
{
    (void)state;
    size_t refused = 0, good = 0;
    for (unsigned i = 0; i < 10000; i++) {
        size_t len;
        if (i % 40 == 0)
            random_payload(model);
        uint8_t *payload = built_payload(&model->built, &len);
        const size_t raw = model->little.len, table = 24 + 8 * (size_t)model->built.n_frames;
        const size_t first = model->built.head.len + model->built.small.len;
        payload[table + random_below((uint32_t)first)] = (uint8_t)random_below(256);
        built_seal(payload);
        uint8_t *whole = malloc(raw + 1), *part = malloc(raw + 1);
        const perfile_bytes bytes = {payload, len};
        bool needed[OWNERS];
        memset(needed, true, sizeof needed);
        shown s = {.m = model, .payload = bytes, .needed = needed};
        const pf_columns_input input = {.read = show, .user = &s, .len = len};
        pf_buffer ranges = {0};
        uint64_t n_records;
        const perfile_status st = pf_columns_decode(decoder, bytes, false, whole, raw, NULL);
        const perfile_status some =
            pf_columns_decode_apart(decoder, &input, false, part, raw, &ranges, &n_records, NULL);
        assert_true(st == PERFILE_OK ? some == PERFILE_OK : st == PERFILE_E_CORRUPT);
        assert_true(some == PERFILE_OK || some == PERFILE_E_CORRUPT);
        good += st == PERFILE_OK;
        refused += some != PERFILE_OK;
        for (size_t at = 0; st == PERFILE_OK && at < ranges.len; at += sizeof(pf_columns_range)) {
            pf_columns_range r;
            memcpy(&r, ranges.ptr + at, sizeof r);
            assert_true(r.offset <= raw && r.bytes <= raw - r.offset);
            assert_true(r.at <= r.offset);
            assert_memory_equal(part + r.at, whole + r.offset, r.bytes);
        }
        pf_buffer_free(&ranges);
        free(s.piece);
        free(whole);
        free(part);
        free(payload);
    }
    assert_true(refused > 500 && good > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
