/* The codec COLUMNS by its laws: random payloads decode to the bytes that they were made of, and a
 * part of them to the same bytes as the whole, without reading anything else than is needed for it.
 */
#include "testing.h"

#include "archive/columns.h"
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

/* Decodes a part of the model; the result is released by free(). */
static uint8_t *decoded_part(pf_columns_want want, bool big, const bool *needed, pf_buffer *ranges,
                             perfile_status fails)
{
    perfile_error err = {0};
    size_t len;
    uint64_t n_records = 77;
    uint8_t *payload = built_payload(&model->built, &len), *out = exact("", 0);
    shown s = {.m = model, .payload = {payload, len}, .needed = needed, .fails = fails};
    const pf_columns_input input = {.read = show, .user = &s, .len = len};
    out = realloc(out, model->little.len + 1);
    memset(out, LEFT_ALONE, model->little.len + 1);
    const perfile_status st = pf_columns_decode_some(decoder, &input, &want, big, out,
                                                     model->little.len, ranges, &n_records, &err);
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
    uint8_t *out = decoded_part((pf_columns_want){.apart_only = true}, big, needed, &ranges, 0);
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

/* True if a word that lies at the bytes from to end of a body is wanted. */
static bool wanted(uint64_t words, size_t from, size_t end)
{
    for (size_t at = from; at < end; at++)
        if (words >> (at / 8 < 63 ? at / 8 : 63) & 1)
            return true;
    return false;
}

/* What is needed for some words of records that are not apart. */
static void need_words(bool *needed, uint64_t words)
{
    need_classes(needed);
    needed[OWNER_CLASSES] = needed[OWNER_GAPS] = true;
    for (unsigned i = 0; i < model->n_classes; i++) {
        size_t from = 0, end = 0;
        for (unsigned j = 0; j < model->classes[i].n_ops; j++) {
            const drawn_op *o = &model->classes[i].ops[j];
            const unsigned width = o->what == PF_COLUMNS_REF    ? 8
                                   : o->what == PF_COLUMNS_BLOB ? o->prefix
                                                                : model->columns[o->column].width;
            bool *need = &needed[OWNER_COLUMNS + 2 * o->column];
            end = o->what == PF_COLUMNS_BLOB || end == 65536 ? 65536 : from + width;
            need[0] |= o->what == PF_COLUMNS_BLOB || wanted(words, from, end);
            need[1] |= o->what != PF_COLUMNS_WORD && wanted(words, from, end);
            from += width;
        }
    }
}

/* Headers, records that are apart, and wanted words are right; others may be anything. */
static void check_words(bool big, uint64_t words)
{
    bool needed[OWNERS] = {false};
    pf_buffer ranges = {0};
    const uint8_t *want = big ? model->big.ptr : model->little.ptr;
    need_words(needed, words);
    uint8_t *out = decoded_part((pf_columns_want){.words = words}, big, needed, &ranges, 0);
    for (uint32_t i = 0; i < model->n_records; i++) {
        const bool apart = model->classes[model->class_of[i]].apart;
        const uint32_t from = model->at[i];
        for (uint32_t at = from; at < model->at[i + 1]; at++) {
            const bool right =
                apart || at < from + 8 || wanted(words, at - from - 8, at - from - 7);
            assert_true(out[at] == want[at] || !right);
        }
    }
    assert_int_equal(ranges.len, model->n_records ? sizeof(pf_columns_range) : 0);
    if (model->n_records) {
        pf_columns_range r;
        memcpy(&r, ranges.ptr, sizeof r);
        assert_true(r.offset == 0 && r.bytes == model->little.len && r.first == 0 &&
                    r.records == model->n_records);
    }
    pf_buffer_free(&ranges);
    free(out);
}

/* Records that follow each other are right and at the front; nothing else is written. */
static void check_some(bool big)
{
    bool needed[OWNERS];
    pf_buffer ranges = {0};
    const uint8_t *want = big ? model->big.ptr : model->little.ptr;
    const uint32_t n = model->n_records, first = random_below(n + 2);
    const bool to_apart = random_below(2);
    uint32_t end = first + random_below(n + 2) + !first;
    memset(needed, true, sizeof needed);
    uint8_t *out = decoded_part(
        (pf_columns_want){
            .words = PF_COLUMNS_ALL_WORDS, .first = first, .end = end, .to_apart = to_apart},
        big, needed, &ranges, 0);
    end = end < n ? end : n;
    while (to_apart && end < n && !model->classes[model->class_of[end]].apart)
        end++;
    while (to_apart && end < n && model->classes[model->class_of[end]].apart)
        end++;
    size_t used = 0;
    if (first < end) {
        pf_columns_range r;
        assert_int_equal(ranges.len, sizeof r);
        memcpy(&r, ranges.ptr, sizeof r);
        used = r.bytes;
        assert_true(r.first == first && r.records == end - first && r.at == 0);
        assert_int_equal(r.offset, model->at[first]);
        assert_int_equal(used, model->at[end] - model->at[first]);
        assert_memory_equal(out, want + r.offset, used);
    } else {
        assert_int_equal(ranges.len, 0);
    }
    for (size_t at = used; at < model->little.len; at++)
        assert_int_equal(out[at], LEFT_ALONE);
    pf_buffer_free(&ranges);
    free(out);
}

/* The same with all that are apart: each run of records that stand next to each other is a range.
 */
static void check_some_and_apart(bool big)
{
    bool needed[OWNERS];
    pf_buffer ranges = {0};
    pf_columns_range r;
    const uint8_t *want = big ? model->big.ptr : model->little.ptr;
    const uint32_t n = model->n_records, first = random_below(n + 2);
    const uint32_t end = first + random_below(n + 2) + !first;
    memset(needed, true, sizeof needed);
    uint8_t *out = decoded_part(
        (pf_columns_want){
            .words = PF_COLUMNS_ALL_WORDS, .first = first, .end = end, .and_apart = true},
        big, needed, &ranges, 0);
    size_t used = 0, k = 0;
    for (uint32_t i = 0, from = 0; i <= n; i++) {
        if (i < n && ((i >= first && i < end) || model->classes[model->class_of[i]].apart))
            continue;
        if (i > from) {
            assert_true((k + 1) * sizeof r <= ranges.len);
            memcpy(&r, ranges.ptr + k++ * sizeof r, sizeof r);
            assert_true(r.first == from && r.records == i - from && r.at == used);
            assert_int_equal(r.offset, model->at[from]);
            assert_int_equal(r.bytes, model->at[i] - model->at[from]);
            assert_memory_equal(out + used, want + r.offset, r.bytes);
            used += r.bytes;
        }
        from = i + 1;
    }
    assert_int_equal(ranges.len, k * sizeof r);
    for (size_t at = used; at < model->little.len; at++)
        assert_int_equal(out[at], LEFT_ALONE);
    pf_buffer_free(&ranges);
    free(out);
}

/* The words of a class that are numbers of their own, and come in the order of the records. */
static uint64_t words_of_class(const drawn_class *k)
{
    uint64_t words = 0;
    bool behind[DRAWN_COLUMNS] = {false};
    size_t at = 0;
    for (unsigned j = k->n_ops; j-- > 0;) { /* a column twice: none */
        const drawn_op *o = &k->ops[j];
        if (behind[o->column] != (o->what == PF_COLUMNS_REF))
            return 0;
        behind[o->column] = true;
    }
    for (unsigned j = 0; j < k->n_ops && k->ops[j].what != PF_COLUMNS_BLOB; j++) {
        const unsigned width =
            k->ops[j].what == PF_COLUMNS_REF ? 8 : model->columns[k->ops[j].column].width;
        if (k->ops[j].what == PF_COLUMNS_WORD && width == 8 && at % 8 == 0)
            words |= 1ULL << at / 8;
        at += width;
    }
    return words;
}

/* Bytes of a record of a class at least: those without blobs. */
static size_t least_bytes(const drawn_class *k)
{
    size_t bytes = 8;
    for (unsigned j = 0; j < k->n_ops; j++) {
        const drawn_op *o = &k->ops[j];
        bytes += o->what == PF_COLUMNS_REF    ? 8
                 : o->what == PF_COLUMNS_BLOB ? o->prefix
                                              : model->columns[o->column].width;
    }
    return bytes;
}

/* What rows need: of data the columns of the words only. */
static void need_rows(bool *needed, uint64_t words)
{
    needed[OWNER_CLASSES] = needed[OWNER_GAPS] = true;
    for (unsigned i = 0; i < model->n_classes; i++) {
        const drawn_class *k = &model->classes[i];
        size_t from = 0, end = 0;
        for (unsigned j = 0; j < k->n_ops && !k->apart; j++) {
            const drawn_op *o = &k->ops[j];
            const unsigned width = o->what == PF_COLUMNS_REF    ? 8
                                   : o->what == PF_COLUMNS_BLOB ? o->prefix
                                                                : model->columns[o->column].width;
            bool *need = &needed[OWNER_COLUMNS + 2 * o->column];
            end = o->what == PF_COLUMNS_BLOB || end == 65536 ? 65536 : from + width;
            need[0] |= wanted(words, from, end);
            need[1] |= o->what != PF_COLUMNS_WORD && wanted(words, from, end);
            from += width;
        }
    }
}

/* Compares rows with the model. */
typedef struct rows_seen {
    uint64_t words;
    uint32_t next; /* the first record that has not been seen */
} rows_seen;

static void see_rows(void *user, size_t first, size_t n, const uint64_t *rows)
{
    rows_seen *x = user;
    const unsigned n_words = 64 - (unsigned)__builtin_clzll(x->words);
    assert_true(n > 0 && n <= PF_COLUMNS_MOST_ROWS && first >= x->next);
    for (; x->next < first; x->next++)
        assert_true(model->classes[model->class_of[x->next]].apart);
    for (size_t i = 0; i < n; i++, x->next++) {
        assert_false(model->classes[model->class_of[x->next]].apart);
        for (unsigned word = 0; word < n_words; word++) {
            uint64_t v;
            if (!(x->words >> word & 1))
                continue;
            memcpy(&v, model->little.ptr + model->at[x->next] + 8 + 8 * word, sizeof v);
            assert_true(rows[i * n_words + word] == v);
        }
    }
}

/* Rows have the words of all data, or are refused where a record does not have them as numbers;
 * returns whether there were any. */
static bool check_rows(perfile_status fails)
{
    bool needed[OWNERS] = {false};
    uint64_t all = UINT64_MAX;
    size_t least = SIZE_MAX, len;
    for (unsigned i = 0; i < model->n_classes; i++) {
        const drawn_class *k = &model->classes[i];
        all &= k->apart ? UINT64_MAX : words_of_class(k);
        least = k->apart || least_bytes(k) > least ? least : least_bytes(k);
    }
    rows_seen seen = {.words = all & ((1ULL << PF_COLUMNS_ROW_WORDS) - 1)};
    bool known = seen.words != 0;
    if (!seen.words || random_below(4) == 0) {
        seen.words |= 1ULL << random_below(6);
        known = (seen.words & ~all) == 0;
    }
    const size_t asked = random_below(4) ? 8 + random_below(8) : 8 + random_below(80);
    known &= asked <= least;
    need_rows(needed, seen.words);
    uint8_t *payload = built_payload(&model->built, &len);
    shown s = {.m = model, .payload = {payload, len}, .needed = needed, .fails = fails};
    const pf_columns_input input = {.read = show, .user = &s, .len = len};
    const pf_columns_rows want = {
        .words = seen.words, .least = asked, .show = see_rows, .user = &seen};
    const perfile_status st =
        pf_columns_decode_rows(decoder, &input, model->little.len, &want, NULL);
    if (!fails || st != fails)
        assert_int_equal(st, known ? PERFILE_OK : PERFILE_E_UNSUPPORTED);
    for (uint32_t i = seen.next; i < model->n_records && st == PERFILE_OK; i++)
        assert_true(model->classes[model->class_of[i]].apart);
    const bool any = seen.next > 0;
    assert_true(known || !any);
    free(s.piece);
    free(payload);
    return any;
}

static void test_random(void **state)
{
    (void)state;
    size_t bytes = 0, with_rows = 0;
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
            check_some(big);
            check_some(big);
            check_some_and_apart(big);
            with_rows += check_rows(0);
            check_words(big, PF_COLUMNS_ALL_WORDS);
            check_words(big, 0);
            check_words(big, 1ULL << random_below(12));
            check_words(big, (uint64_t)random_below(1 << 12) | (uint64_t)random_below(2) << 63);
        }
        memset(needed, true, sizeof needed);
        free(decoded_part((pf_columns_want){.words = PF_COLUMNS_ALL_WORDS}, false, needed, &ranges,
                          PERFILE_E_IO));
        pf_buffer_free(&ranges);
        (void)check_rows(PERFILE_E_IO);
    }
    assert_true(bytes > 1 << 20 && with_rows > 100);
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
        const pf_columns_want wants[] = {
            {.words = random_below(256)},
            {.apart_only = true, .words = random_below(256)},
            {.words = PF_COLUMNS_ALL_WORDS,
             .first = random_below(50),
             .end = 1 + random_below(100),
             .to_apart = i & 4,
             .and_apart = i & 8},
        };
        const pf_columns_want want = wants[i % 3];
        pf_buffer ranges = {0};
        uint64_t n_records;
        const perfile_status st = pf_columns_decode(decoder, bytes, false, whole, raw, NULL);
        const perfile_status some = pf_columns_decode_some(decoder, &input, &want, false, part, raw,
                                                           &ranges, &n_records, NULL);
        assert_true(st == PERFILE_OK ? some == PERFILE_OK : st == PERFILE_E_CORRUPT);
        assert_true(some == PERFILE_OK || some == PERFILE_E_CORRUPT);
        good += st == PERFILE_OK;
        refused += some != PERFILE_OK;
        const bool ranged = want.apart_only || want.end;
        for (size_t at = 0; ranged && st == PERFILE_OK && at < ranges.len;
             at += sizeof(pf_columns_range)) {
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
