/* What an archive says of itself is checked: every kind of damage is found, also what was written
 * wrong, and a repaired archive is sound and has all that was intact. */
#include "archives.h"

#include "archive/header.h"
#include "archive/pack.h"
#include "archive/table.h"
#include "archive/meta.h"
#include "perfile/check.h"
#include "random.h"
#include "archive/command.h"
#include "base/crc32.h"
#include "perfile/sink.h"

enum { HEADER = PF_ARCHIVE_HEADER };

/* Findings by rule. */
typedef struct heard {
    unsigned of[PERFILE_RULE_LIMIT], n, errors;
    uint64_t lost_bytes;
} heard;

static char heard_text[1024]; /* the last message */

static void on_finding(void *user, const perfile_archive_finding *f)
{
    snprintf(heard_text, sizeof heard_text, "%s", f->message);
    heard *h = user;
    const perfile_rule *rule = perfile_rule_of(f->rule);
    assert_non_null(rule);
    assert_int_equal(rule->where, PERFILE_RULE_SCOPE_ARCHIVE);
    assert_true(f->severity == rule->severity || f->severity == rule->lesser);
    assert_true(f->message[0]);
    h->of[f->rule]++;
    h->n++;
    h->errors += f->severity == PERFILE_SEVERITY_ERROR;
    h->lost_bytes += f->is_lost ? f->part_bytes : 0;
}

static void verify(perfile_bytes b, heard *h)
{
    perfile_archive *a = opened(b);
    *h = (heard){.n = 0};
    assert_int_equal(pf_archive_verify(a, on_finding, h, NULL), PERFILE_OK);
    perfile_archive_close(a);
}

static void expect_sound(perfile_bytes b)
{
    heard h;
    verify(b, &h);
    assert_int_equal(h.n, 0);
}

static void captures_of_all_kinds_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ARCHIVED_KINDS; i++) {
        const perfile_bytes b = packed(archived_kinds[i]);
        expect_sound(b);
        release(b);
    }
}

/* Repair. */

static perfile_bytes repaired(perfile_bytes b, perfile_archive_repaired *r, heard *h)
{
    perfile_archive *a = opened(b);
    perfile_sink *sink = memory_sink();
    perfile_archive_repaired dry;
    *h = (heard){.n = 0};
    assert_int_equal(pf_archive_repair(a, NULL, on_finding, h, &dry, sizeof dry, NULL), PERFILE_OK);
    *h = (heard){.n = 0};
    assert_int_equal(pf_archive_repair(a, sink, on_finding, h, r, sizeof *r, NULL), PERFILE_OK);
    assert_int_equal(dry.chunks, r->chunks);
    assert_int_equal(dry.lost_bytes, r->lost_bytes);
    assert_int_equal(h->lost_bytes, r->lost_bytes);
    perfile_archive_close(a);
    const perfile_bytes out = taken(sink);
    assert_int_equal(out.len, r->bytes);
    return out;
}

/* A repaired archive is sound but for bytes that are lost, and repairing it changes nothing. */
static void expect_repaired(perfile_bytes damaged, perfile_archive_repaired *r)
{
    heard lost, h, again_lost;
    perfile_archive_repaired again;
    const perfile_bytes b = repaired(damaged, r, &lost);
    verify(b, &h);
    assert_int_equal(h.n, h.of[PERFILE_RULE_V_708]);
    assert_true(h.lost_bytes <= r->lost_bytes); /* of a cut chunk only its header knew */
    const perfile_bytes c = repaired(b, &again, &again_lost);
    assert_int_equal(c.len, b.len);
    assert_memory_equal(c.ptr, b.ptr, b.len);
    release(b);
    release(c);
}

/* Damages a copy of the archive at `offset`, or cuts it there, and expects findings of a rule. */
static perfile_archive_repaired expect_damage(perfile_bytes sound, uint64_t offset, bool cut,
                                              unsigned rule)
{
    perfile_archive_repaired r;
    heard h;
    const size_t len = cut ? (size_t)offset : sound.len;
    uint8_t *copy = exact(sound.ptr, len);
    const perfile_bytes b = {copy, len};
    if (!cut)
        copy[offset] ^= 4;
    verify(b, &h);
    if (!h.of[rule])
        fail_msg("V-%u is not found, of damage at %llu", rule, (unsigned long long)offset);
    expect_repaired(b, &r);
    free(copy);
    return r;
}

static void each_place_of_damage_is_found(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    const pf_archive_chunk c = first_of(b, PF_CHUNK_RECORDS);
    const uint64_t end = b.len - HEADER;
    pf_chunk last;
    perfile_archive_repaired r;
    assert_true(pf_chunk_decode(b.ptr + end, end, ARCHIVE_ID, &last));
    r = expect_damage(b, 34, false, PERFILE_RULE_V_701);
    assert_true(r.damaged && !r.chunks_lost && !r.lost_bytes);
    r = expect_damage(b, c.offset + 20, false, PERFILE_RULE_V_702); /* read from the index */
    assert_true(!r.chunks_lost && !r.lost_bytes);
    r = expect_damage(b, c.offset + HEADER + 2, false, PERFILE_RULE_V_703);
    assert_true(r.damaged && r.metas_lost == 1 && !r.lost_bytes);
    r = expect_damage(b, c.offset + c.bytes - 70, false, PERFILE_RULE_V_704);
    assert_true(r.damaged && r.chunks_lost == 1 && r.lost_bytes == c.part_bytes);
    r = expect_damage(b, last.raw_off + HEADER + 5, false, PERFILE_RULE_V_704); /* the index */
    assert_true(!r.chunks_lost && !r.lost_bytes);
    r = expect_damage(b, end + 3, false, PERFILE_RULE_V_710);
    assert_true(r.damaged && !r.chunks_lost);
    r = expect_damage(b, c.offset + 100, true, PERFILE_RULE_V_710);
    assert_true(r.damaged && r.gaps == 1 && r.lost_bytes == c.part_bytes);
    release(b);
}

/* Every byte of an archive is under a checksum. */
static void every_bit_counts(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    for (unsigned i = 0; i < 150; i++) {
        const uint32_t bit = random_below((uint32_t)(8 * b.len));
        perfile_archive_repaired r;
        heard h;
        writable(b)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        verify(b, &h);
        if (h.n == 0)
            fail_msg("bit %u", bit);
        expect_repaired(b, &r);
        writable(b)[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    expect_sound(b);
    release(b);
}

/* Archives that were written wrong: all chunks of a sound one, some of them changed. */

typedef struct copied {
    pf_pack_chunk chunk;
    pf_pack_payload payload;
    unsigned copies;
    pf_zone zone;
    bool has_zone;
} copied;

typedef void change_fn(copied *c);

static void copy_chunk(pf_archive *t, pf_pack *p, const pf_chunk *c, change_fn *change)
{
    pf_buffer meta = {0}, zone = {0};
    copied x = {.copies = 1};
    assert_int_equal(pf_archive_meta(t, c, &meta, NULL), PERFILE_OK);
    x.chunk = (pf_pack_chunk){
        .kind = c->kind, .flags = c->flags, .raw_off = c->raw_off, .meta = {meta.ptr, meta.len}};
    x.payload = (pf_pack_payload){.codec = c->codec, .raw_len = c->raw_len, .raw_crc = c->raw_crc};
    x.has_zone = c->kind == PF_CHUNK_RECORDS;
    if (x.has_zone)
        assert_int_equal(pf_zone_decode(x.chunk.meta, &x.zone, NULL), PERFILE_OK);
    change(&x);
    if (x.has_zone) {
        assert_int_equal(pf_zone_encode(&x.zone, &zone, NULL), PERFILE_OK);
        x.chunk.meta = (perfile_bytes){zone.ptr, zone.len};
    }
    assert_int_equal(pf_archive_stored(t, c, &x.payload.bytes, NULL), PERFILE_OK);
    for (unsigned i = 0; i < x.copies; i++)
        assert_int_equal(pf_pack_put_stored(p, &x.chunk, &x.payload, NULL), PERFILE_OK);
    pf_zone_free(&x.zone);
    pf_buffer_free(&zone);
    pf_buffer_free(&meta);
}

static perfile_bytes rewritten(perfile_bytes sound, change_fn *change)
{
    const pf_pack_options how = {.id = ARCHIVE_ID, .needs = PF_ARCHIVE_NEEDS_COLUMNS};
    perfile_sink *sink = memory_sink();
    perfile_source *source;
    pf_archive t = {0};
    pf_pack *p;
    assert_int_equal(perfile_source_memory(sound, "sound", &source, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_read(source, 0, &t, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_new(sink, &how, &p, NULL), PERFILE_OK);
    for (uint32_t i = 0; i < t.n_chunks; i++)
        copy_chunk(&t, p, &t.chunks[i], change);
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    pf_archive_clear(&t);
    perfile_source_close(source);
    return taken(sink);
}

static void change_nothing(copied *c)
{
    (void)c;
}

static void write_twice(copied *c)
{
    c->copies = c->chunk.kind == PF_CHUNK_RECORDS ? 2 : 1;
}

static void say_more_records(copied *c)
{
    c->zone.records += c->has_zone;
}

static void say_fewer_of_a_type(copied *c)
{
    if (c->has_zone)
        c->zone.types.at[0].records--;
}

static void say_another_type(copied *c)
{
    if (c->has_zone)
        c->zone.types.at[c->zone.types.n - 1].key++;
}

static void say_more_apart(copied *c)
{
    c->zone.apart += c->has_zone;
}

static void say_more_lost(copied *c)
{
    c->zone.lost += c->has_zone;
}

static void say_no_zone(copied *c)
{
    static const uint8_t text[] = "no CBOR";
    if (!c->has_zone)
        return;
    c->has_zone = false;
    c->chunk.meta = (perfile_bytes){text, sizeof text};
}

static void sum_wrongly(copied *c)
{
    if (c->chunk.kind == PF_CHUNK_RECORDS)
        c->payload.raw_crc ^= 1;
}

static void call_bytes_records(copied *c)
{
    if (c->chunk.kind == PF_CHUNK_BYTES)
        c->chunk.kind = PF_CHUNK_RECORDS;
}

static void leave_out_records(copied *c)
{
    c->copies = c->chunk.kind != PF_CHUNK_RECORDS;
}

static void use_another_codec(copied *c)
{
    if (c->chunk.kind == PF_CHUNK_RECORDS)
        c->payload.codec = 9;
}

static void use_another_kind(copied *c)
{
    if (c->chunk.kind == PF_CHUNK_BYTES)
        c->chunk.kind = 200;
}

static void what_was_written_wrong_is_found(void **state)
{
    (void)state;
    static const struct {
        change_fn *change;
        unsigned rule;
        unsigned lost; /* chunks that are left out by repairing */
    } rows[] = {
        {write_twice, PERFILE_RULE_V_708, 1},         {say_more_records, PERFILE_RULE_V_707, 0},
        {say_fewer_of_a_type, PERFILE_RULE_V_707, 0}, {say_another_type, PERFILE_RULE_V_707, 0},
        {say_more_apart, PERFILE_RULE_V_707, 0},      {say_more_lost, PERFILE_RULE_V_707, 0},
        {say_no_zone, PERFILE_RULE_V_703, 0},         {sum_wrongly, PERFILE_RULE_V_705, 0},
        {call_bytes_records, PERFILE_RULE_V_706, 0},  {leave_out_records, PERFILE_RULE_V_708, 0},
        {use_another_codec, PERFILE_RULE_V_711, 0},   {use_another_kind, PERFILE_RULE_V_711, 2}};
    const perfile_bytes sound = packed("callgraph.data");
    perfile_bytes b = rewritten(sound, change_nothing);
    expect_sound(b);
    release(b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        perfile_archive_repaired r;
        heard h;
        b = rewritten(sound, rows[i].change);
        verify(b, &h);
        if (!h.of[rows[i].rule])
            fail_msg("row %zu: V-%u is not found", i, rows[i].rule);
        const perfile_bytes again = repaired(b, &r, &h);
        assert_int_equal(r.chunks_lost, rows[i].lost);
        release(again);
        release(b);
    }
    release(sound);
}

/* The header of a chunk is changed, with the right checksum, after the index was written. */
static void an_index_that_lies_is_found(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    const pf_archive_chunk c = first_of(b, PF_CHUNK_RECORDS);
    perfile_archive_repaired r;
    pf_chunk chunk;
    heard h;
    assert_true(pf_chunk_decode(b.ptr + c.offset, c.offset, ARCHIVE_ID, &chunk));
    chunk.flags ^= PF_CHUNK_FLAG_COPY_OK;
    pf_chunk_encode(&chunk, writable(b) + c.offset);
    verify(b, &h);
    assert_int_equal(h.n, 1);
    assert_int_equal(h.of[PERFILE_RULE_V_709], 1);
    expect_repaired(b, &r);
    release(b);
}

/* The archive with another index: `n` bytes of entries, and what it says of the one before it. */
static perfile_bytes with_index(perfile_bytes b, const uint8_t *entries, size_t n, uint64_t before)
{
    pf_chunk index, last;
    pf_buffer out = {0};
    static const uint8_t zeros[HEADER] = {0};
    uint8_t header[HEADER] = {0};
    assert_true(pf_chunk_decode(b.ptr + b.len - HEADER, b.len - HEADER, ARCHIVE_ID, &last));
    assert_true(pf_chunk_decode(b.ptr + last.raw_off, last.raw_off, ARCHIVE_ID, &index));
    index.codec = PF_CODEC_RAW;
    index.payload_len = index.raw_len = (uint32_t)n;
    index.raw_crc = pf_crc32c(0, (perfile_bytes){entries, n});
    index.raw_off = before;
    assert_int_equal(index.meta_len, 0);
    assert_true(pf_buffer_append(&out, b.ptr, (size_t)index.offset));
    assert_true(pf_buffer_append(&out, header, HEADER));
    assert_true(pf_buffer_append(&out, entries, n));
    assert_true(pf_buffer_append(&out, zeros, (HEADER - n % HEADER) % HEADER));
    const size_t payload = (size_t)index.offset + HEADER;
    index.payload_crc = pf_crc32c(0, (perfile_bytes){out.ptr + payload, out.len - payload});
    pf_chunk_encode(&index, out.ptr + index.offset);
    last.offset = out.len;
    pf_chunk_encode(&last, header);
    assert_true(pf_buffer_append(&out, header, HEADER));
    const perfile_bytes copy = {exact(out.ptr, out.len), out.len};
    pf_buffer_free(&out);
    return copy;
}

/* The entries of the index of a sound archive; *first is the size of the first of them. */
static void entries_of(perfile_bytes b, pf_buffer *entries, size_t *first)
{
    perfile_source *source;
    pf_archive t = {0};
    pf_chunk index, last, c;
    assert_true(pf_chunk_decode(b.ptr + b.len - HEADER, b.len - HEADER, ARCHIVE_ID, &last));
    assert_true(pf_chunk_decode(b.ptr + last.raw_off, last.raw_off, ARCHIVE_ID, &index));
    assert_int_equal(perfile_source_memory(b, "sound", &source, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_read(source, 0, &t, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_payload(&t, &index, entries, NULL), PERFILE_OK);
    const pf_archive_chunk meta = first_of(b, PF_CHUNK_META);
    assert_true(pf_chunk_decode(entries->ptr, meta.offset, ARCHIVE_ID, &c));
    *first = HEADER + (size_t)pf_chunk_meta_bytes(&c);
    pf_archive_clear(&t);
    perfile_source_close(source);
}

/* What an index lacks, has too much, or says of other indexes. */
static void an_index_of_another_archive_is_found(void **state)
{
    (void)state;
    enum { SOUND, FIRST_LEFT_OUT, LAST_LEFT_OUT, ELSEWHERE, NO_HEADER, NO_ROOM, BEFORE, CASES };
    static const char *const says[CASES] = {
        NULL,
        "the index does not name the chunk at",
        "the index does not name the chunk at",
        "the index names a chunk that is not there, at",
        "the index has bytes that are not a header, at its byte",
        "the index has bytes that are not a header, at its byte",
        "the index names another index before it than the one at"};
    const perfile_bytes sound = packed("callgraph.data");
    for (unsigned i = 0; i < CASES; i++) {
        perfile_archive_repaired r;
        pf_buffer e = {0};
        size_t first, at = 0, last = 0;
        heard h;
        pf_chunk c;
        entries_of(sound, &e, &first);
        for (; at < e.len; at += HEADER + (size_t)pf_chunk_meta_bytes(&c)) {
            last = at;
            const uint64_t offset = pf_load_u64(e.ptr + at + 8, PF_NATIVE_BIG);
            assert_true(pf_chunk_decode(e.ptr + at, offset, ARCHIVE_ID, &c));
        }
        if (i == FIRST_LEFT_OUT) {
            memmove(e.ptr, e.ptr + first, e.len - first);
            e.len -= first;
        } else if (i == LAST_LEFT_OUT) {
            e.len = last;
        } else if (i == ELSEWHERE) {
            c.offset += HEADER;
            pf_chunk_encode(&c, e.ptr + last);
        } else if (i == NO_HEADER) {
            memset(e.ptr + last, 0, HEADER);
        } else if (i == NO_ROOM) {
            e.len = last + HEADER - 8;
        }
        const perfile_bytes b = with_index(sound, e.ptr, e.len, i == BEFORE ? HEADER : 0);
        heard_text[0] = 0;
        verify(b, &h);
        if (h.n != h.of[PERFILE_RULE_V_709] || (h.n != 0) != (i != SOUND) ||
            (says[i] && !strstr(heard_text, says[i])))
            fail_msg("case %u: %u findings: %s", i, h.n, heard_text);
        expect_repaired(b, &r);
        assert_true(!r.chunks_lost && !r.lost_bytes);
        release(b);
        pf_buffer_free(&e);
    }
    release(sound);
}

/* Bits of the file header that readers ignore and editors must not, and chunks of an unknown kind
 * that nobody may copy. */
static void what_an_editor_does_not_know(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .id = 5};
    const perfile_bytes sound = packed("callgraph.data"),
                        private = rewritten(sound, use_another_kind);
    pf_archive_head head;
    perfile_error err;
    assert_int_equal(pf_archive_head_decode(sound, &head, NULL), PERFILE_OK);
    head.may = 1 << 5;
    pf_archive_head_encode(&head, writable(sound));
    expect_sound(sound);
    for (unsigned i = 0; i < 2; i++) {
        perfile_archive *from = opened(i ? private : sound);
        perfile_sink *sink = memory_sink();
        pf_archive_writer *w = NULL;
        assert_int_equal(pf_archive_writer_new(sink, NULL, &how, &w, NULL), PERFILE_OK);
        assert_int_equal(pf_archive_writer_copy(w, from, 0, &err), PERFILE_E_UNSUPPORTED);
        assert_string_equal(err.where, i ? "archive.copy" : "archive.may");
        assert_non_null(strstr(err.message, i ? "is of an unknown kind, and does not say that it "
                                                "may be copied"
                                              : "this library does not: 0x20"));
        pf_archive_writer_close(w);
        if (i == 0) {
            sink = memory_sink();
            assert_int_equal(pf_archive_writer_new(sink, from, &how, &w, &err),
                             PERFILE_E_UNSUPPORTED);
            assert_string_equal(err.where, "archive.may");
            perfile_sink_close(sink);
        }
        perfile_archive_close(from);
    }
    release(private);
    release(sound);
}

static void nothing_is_made_of_nothing(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    perfile_archive_repaired r;
    heard h = {.n = 0};
    perfile_archive *a = opened((perfile_bytes){b.ptr, HEADER});
    perfile_sink *sink = memory_sink();
    assert_int_equal(pf_archive_repair(a, sink, on_finding, &h, &r, sizeof r, NULL),
                     PERFILE_E_CORRUPT);
    assert_int_equal(perfile_sink_count(sink), 0);
    perfile_sink_close(sink);
    perfile_archive_close(a);
    release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_of_all_kinds_are_sound),
        cmocka_unit_test(each_place_of_damage_is_found),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(what_was_written_wrong_is_found),
        cmocka_unit_test(an_index_that_lies_is_found),
        cmocka_unit_test(an_index_of_another_archive_is_found),
        cmocka_unit_test(what_an_editor_does_not_know),
        cmocka_unit_test(nothing_is_made_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
