/* The stage that zeroes bytes which mean nothing: which those are, what stays, and that every field
 * that a decoder gives is the same.  Then convert with it, and archives that say what was done. */
#include "../testing.h"

#include "../captures.h"
#include "../transcript.h"
#include "perfile/perfile.h"
#include "archive/command.h"

enum { STALE = 0xa5, STACK = 64 };

/* A pipe with one event whose samples have time and user stack, and whose other records end with
 * time and cpu. */
static void begin_pipe(builder *b, bool swap)
{
    const build_attr_plan plan = {.type = 1,
                                  .size = 136,
                                  .period = 1000,
                                  .sample_type = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU |
                                                 PERFILE_SAMPLE_STACK_USER,
                                  .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    *b = (builder){.swap = swap};
    build_bytes(b, swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 16);
    const size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &plan);
    build_u64(b, 70);
    build_end(b, start);
}

static void put_stale(builder *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        build_u8(b, STALE);
}

static void put_trailer(builder *b)
{
    build_u64(b, 0x1122334455667788);
    build_u32(b, 3);
    build_u32(b, 0xffffffff);
}

/* A sample with `size` bytes of stack, of which `valid` are said to be. */
static void put_sample(builder *b, uint64_t size, uint64_t valid)
{
    const size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 5000);
    build_u32(b, 1);
    build_u32(b, 0);
    build_u64(b, size);
    for (uint64_t i = 0; i < size && i < STACK; i++)
        build_u8(b, (uint8_t)(0x80 + i));
    if (size)
        build_u64(b, valid);
    build_end(b, start);
}

static void put_comm(builder *b, const char *name, size_t stale)
{
    const size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, 7);
    build_u32(b, 8);
    build_bytes(b, name, strlen(name) + 1);
    put_stale(b, stale);
    put_trailer(b);
    build_end(b, start);
}

static perfile_stream *opened(perfile_bytes bytes, bool scrubs)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_error err = {0};
    const perfile_open_options how = {.size = sizeof how,
                                      .on_damage = PERFILE_ON_DAMAGE_RESYNC,
                                      .deliver = PERFILE_DELIVER_DAMAGE};
    assert_int_equal(perfile_source_memory(bytes, "made", &source, &err), PERFILE_OK);
    if (perfile_open(source, &how, &s, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    if (scrubs)
        assert_int_equal(perfile_scrub(s, &s, &err), PERFILE_OK);
    return s;
}

static perfile_scrub_summary summary_of(const perfile_stream *s)
{
    perfile_scrub_summary sum;
    perfile_scrub_get_summary(s, &sum, sizeof sum);
    return sum;
}

/* The next record of that type. */
static const perfile_record *next_of(perfile_stream *s, uint32_t type)
{
    const perfile_record *r;
    do
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    while (r->type != type);
    return r;
}

static bool is_of(const perfile_record *r, const builder *b)
{
    return r->header >= b->b.ptr && r->header < b->b.ptr + b->b.len;
}

/* Bytes of the body from `at` on are all `value`. */
static void expect_bytes(const perfile_record *r, size_t at, size_t n, uint8_t value)
{
    assert_true(at + n <= r->body.len);
    for (size_t i = at; i < at + n; i++)
        assert_int_equal(r->body.ptr[i], value);
}

static void stacks_end_with_what_is_valid(void **state)
{
    enum { BEFORE = 24 }; /* time, cpu, size */
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        for (uint64_t valid = 0; valid < STACK + 8; valid += 8) {
            BUILDER b;
            begin_pipe(&b, swap);
            put_sample(&b, STACK, valid);
            perfile_stream *s = opened(built(&b), true);
            const perfile_record *r = next_of(s, PERFILE_RECORD_SAMPLE);
            const uint64_t kept = valid < STACK ? valid : STACK;
            for (uint64_t i = 0; i < kept; i++)
                assert_int_equal(r->body.ptr[BEFORE + i], 0x80 + i);
            expect_bytes(r, (size_t)(BEFORE + kept), (size_t)(STACK - kept), 0);
            assert_int_equal(pf_load_u64(r->body.ptr + BEFORE + STACK, swap), valid);
            assert_int_equal(r->body.len, BEFORE + STACK + 8);
            assert_int_equal(is_of(r, &b), kept == STACK);
            assert_int_equal(r->flags & PERFILE_REC_STABLE, kept == STACK ? PERFILE_REC_STABLE : 0);
            assert_int_equal(perfile_record_time(r), 5000);
            const perfile_scrub_summary sum = summary_of(s);
            assert_int_equal(sum.records, kept != STACK);
            assert_int_equal(sum.bytes, STACK - kept);
            perfile_stream_close(s);
        }
    }
}

static void samples_without_a_stack_stay(void **state)
{
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    put_sample(&b, 0, 0);
    put_sample(&b, STACK, UINT64_MAX);
    perfile_stream *s = opened(built(&b), true);
    assert_true(is_of(next_of(s, PERFILE_RECORD_SAMPLE), &b));
    assert_true(is_of(next_of(s, PERFILE_RECORD_SAMPLE), &b));
    assert_int_equal(summary_of(s).records, 0);
    perfile_stream_close(s);
}

static void strings_end_with_their_nul(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        BUILDER b;
        begin_pipe(&b, swap);
        put_comm(&b, "sh", 5);
        put_comm(&b, "shell", 2 + 8);
        put_comm(&b, "1234567", 0);
        perfile_stream *s = opened(built(&b), true);
        const perfile_record *r = next_of(s, PERFILE_RECORD_COMM);
        assert_memory_equal(r->body.ptr + 8, "sh\0\0\0\0\0", 8);
        assert_int_equal(pf_load_u64(r->body.ptr + 16, swap), 0x1122334455667788);
        assert_int_equal(pf_load_u32(r->body.ptr + 24, swap), 3);
        assert_int_equal(pf_load_u32(r->body.ptr + 28, swap), 0xffffffff);
        assert_false(is_of(r, &b));
        r = next_of(s, PERFILE_RECORD_COMM);
        assert_memory_equal(r->body.ptr + 8, "shell\0\0\0\0\0\0\0\0\0\0", 16);
        assert_int_equal(pf_load_u64(r->body.ptr + 24, swap), 0x1122334455667788);
        assert_true(is_of(next_of(s, PERFILE_RECORD_COMM), &b));
        assert_int_equal(summary_of(s).records, 2);
        assert_int_equal(summary_of(s).bytes, 5 + 10);
        perfile_stream_close(s);
    }
}

static void padding_between_fields_goes(void **state)
{
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    const size_t start =
        build_begin(&b, PERFILE_RECORD_MMAP2, PERFILE_MISC_MMAP_BUILD_ID | 2 /* user */);
    build_u32(&b, 7);
    build_u32(&b, 8);
    build_u64(&b, 0x400000);
    build_u64(&b, 0x1000);
    build_u64(&b, 0);
    build_u8(&b, 16);
    put_stale(&b, 3);
    for (uint8_t i = 0; i < 16; i++)
        build_u8(&b, i + 1);
    put_stale(&b, 4);
    build_u32(&b, 5);
    build_u32(&b, 2);
    build_bytes(&b, "/bin/a", 7);
    put_stale(&b, 1);
    put_trailer(&b);
    build_end(&b, start);
    perfile_stream *s = opened(built(&b), true);
    const perfile_record *r = next_of(s, PERFILE_RECORD_MMAP2);
    perfile_mmap2 m;
    assert_int_equal(perfile_mmap2_decode(r, &m, sizeof m, NULL), PERFILE_OK);
    assert_int_equal(m.build_id.len, 16);
    assert_int_equal(m.build_id.ptr[15], 16);
    assert_int_equal(m.prot, 5);
    assert_int_equal(m.filename.len, 6);
    expect_bytes(r, 33, 3, 0);
    expect_bytes(r, 52, 4, 0);
    assert_int_equal(summary_of(s).bytes, 3 + 4 + 1);
    perfile_stream_close(s);
}

/* A run has both: only those that change are copies. */
static void records_without_change_are_not_copied(void **state)
{
    enum { N = 200 };
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    for (unsigned i = 0; i < N; i++) {
        if (i % 3 == 0)
            put_comm(&b, "sh", 5);
        else
            put_sample(&b, STACK, i % 3 == 1 ? STACK : 8);
    }
    perfile_stream *s = opened(built(&b), true);
    const perfile_record *first;
    size_t n;
    unsigned seen = 0;
    while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK) {
        assert_true(n <= PERFILE_RUN_RECORDS);
        for (size_t i = 0; i < n; i++) {
            if (first[i].type >= PERFILE_RECORD_USER)
                continue;
            assert_int_equal(is_of(&first[i], &b), seen % 3 == 1);
            assert_ptr_equal(first[i].session, perfile_stream_session(s));
            if (seen % 3 == 0)
                expect_bytes(&first[i], 11, 5, 0);
            else
                assert_int_equal(first[i].body.ptr[24 + STACK - 1],
                                 seen % 3 == 1 ? 0x80 + STACK - 1 : 0);
            seen++;
        }
    }
    assert_int_equal(seen, N);
    perfile_stream_close(s);
}

static void damaged_records_stay(void **state)
{
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, 0);
    build_u64(&b, 5000);
    build_u64(&b, 0);
    build_u64(&b, STACK); /* of which 16 are there */
    put_stale(&b, 16);
    build_end(&b, start);
    start = build_begin(&b, PERFILE_RECORD_MMAP, 0);
    put_stale(&b, 8);
    build_end(&b, start);
    build_end(&b, build_begin(&b, PERFILE_RECORD_COMM, 0));
    perfile_stream *s = opened(built(&b), true);
    const perfile_record *r = next_of(s, PERFILE_RECORD_SAMPLE);
    assert_true(is_of(r, &b));
    expect_bytes(r, 24, 16, STALE);
    assert_true(is_of(next_of(s, PERFILE_RECORD_MMAP), &b));
    assert_true(is_of(next_of(s, PERFILE_RECORD_COMM), &b));
    assert_int_equal(summary_of(s).records, 0);
    perfile_stream_close(s);
}

/* Everything that decoders see of a stream, and where its bytes are. */
static void tell_all(transcript *t, perfile_stream *s)
{
    const perfile_record *r;
    perfile_bytes piece;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        tell_number(t, "type", r->type);
        tell_number(t, "offset", r->offset);
        tell_number(t, "sequence", r->sequence);
        tell_number(t, "size", r->body.len);
        tell_number(t, "time", perfile_record_time(r));
        tell_signed(t, "walk", perfile_record_walk(r, 0, &transcript_visitor, t, NULL));
        tell_signed(t, "trailer", perfile_record_walk_trailer(r, 0, &transcript_visitor, t, NULL));
        if (r->extra.ptr)
            tell_bytes(t, "extra", r->extra);
        else if (r->extra.len)
            while (perfile_stream_extra(s, r, &piece, NULL) == PERFILE_OK)
                tell_bytes(t, "extra", piece);
    }
    perfile_stream_close(s);
}

static void every_field_stays(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        BUILDER b;
        transcript before = {0}, after = {0};
        capture_make(&b, form / 2, form % 2, 100);
        tell_all(&before, opened(built(&b), false));
        tell_all(&after, opened(built(&b), true));
        assert_int_equal(before.hash, after.hash);
    }
}

/* Fragments pass as they are, and the record that is joined from them shows their bytes. */
static void fragments_stay(void **state)
{
    (void)state;
    BUILDER whole = {0};
    BUILDER b;
    begin_pipe(&b, false);
    put_comm(&whole, "sh", 5);
    const size_t half = whole.b.len / 2;
    for (unsigned i = 0; i < 2; i++) {
        build_u32(&b, PERFILE_RECORD_SIMPLEPERF_SPLIT);
        build_u16(&b, 0);
        build_u16(&b, (uint16_t)(half + 8));
        build_bytes(&b, whole.b.ptr + i * half, half);
    }
    build_end(&b, build_begin(&b, PERFILE_RECORD_SIMPLEPERF_SPLIT_END, 0));
    put_comm(&b, "sh", 5);
    perfile_stream *s = opened(built(&b), true);
    assert_true(is_of(next_of(s, PERFILE_RECORD_SIMPLEPERF_SPLIT), &b));
    assert_true(is_of(next_of(s, PERFILE_RECORD_SIMPLEPERF_SPLIT), &b));
    expect_bytes(next_of(s, PERFILE_RECORD_COMM), 11, 5, STALE);
    expect_bytes(next_of(s, PERFILE_RECORD_COMM), 11, 5, 0);
    assert_int_equal(summary_of(s).records, 1);
    perfile_stream_close(s);
}

static void other_streams_have_no_summary(void **state)
{
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    perfile_stream *s = opened(built(&b), false);
    assert_int_equal(summary_of(s).records, 0);
    perfile_stream_close(s);
}

/* Converts to a capture, or with `archive` to an archive; released by free(). */
static perfile_bytes converted(perfile_bytes in, uint32_t flags, bool archive,
                               perfile_convert_summary *sum)
{
    const perfile_convert_options how = {.size = sizeof how, .flags = flags};
    perfile_convert_summary mine;
    perfile_source *source;
    perfile_sink *memory, *sink;
    perfile_error err = {0};
    void *bytes;
    size_t len;
    assert_int_equal(perfile_source_memory(in, "made", &source, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("made", &memory, &err), PERFILE_OK);
    sink = memory;
    if (archive)
        assert_int_equal(perfile_archive_sink(memory, NULL, &sink, &err), PERFILE_OK);
    if (perfile_convert_capture(source, sink, &how, sum ? sum : &mine, sizeof mine, &err) !=
        PERFILE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
    perfile_sink_close(sink);
    return (perfile_bytes){bytes, len};
}

static void release(perfile_bytes b)
{
    free((void *)(uintptr_t)b.ptr);
}

/* Whether the archive says exactly these words; and chunks of records that it has. */
static unsigned expect_lossy(perfile_bytes archive, const char *first, const char *second)
{
    const char *const words[] = {first, second};
    const unsigned n = (first != NULL) + (unsigned)(second != NULL);
    perfile_archive_capture c;
    pf_archive_chunk chunk;
    perfile_archive *a;
    perfile_source *source;
    unsigned chunks = 0;
    assert_int_equal(perfile_source_memory(archive, "archive", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &a, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_capture_at(a, 1, &c, sizeof c, NULL), PERFILE_OK);
    assert_int_equal(c.n_lossy, n);
    for (unsigned i = 0; i < n; i++)
        assert_string_equal(c.lossy[i], words[i]);
    for (uint32_t i = 0; pf_archive_chunk_at(a, i, &chunk, sizeof chunk, NULL) == PERFILE_OK; i++)
        chunks += chunk.kind == PF_CHUNK_RECORDS;
    perfile_archive_close(a);
    return chunks;
}

static void converting_scrubs_every_form(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++) { /* file and pipe, compressed or not */
        BUILDER inner = {0};
        BUILDER b;
        perfile_convert_summary sum;
        const bool packed = form & 1;
        const uint32_t flags = PERFILE_CONVERT_SCRUB | (form & 2 ? PERFILE_CONVERT_COMPRESS : 0U);
        begin_pipe(&b, false);
        put_comm(&inner, "sh", 5);
        put_sample(&inner, STACK, 8);
        if (packed)
            capture_zstd(&b, PERFILE_RECORD_COMPRESSED2, built(&inner), 30);
        else
            build_bytes(&b, inner.b.ptr, inner.b.len);
        const perfile_bytes once = converted(built(&b), flags, false, &sum);
        assert_false(sum.same);
        assert_int_equal(sum.scrubbed_records, 2);
        assert_int_equal(sum.scrubbed_bytes, 5 + STACK - 8);
        perfile_stream *s = opened(once, false);
        expect_bytes(next_of(s, PERFILE_RECORD_COMM), 11, 5, 0);
        expect_bytes(next_of(s, PERFILE_RECORD_SAMPLE), 32, STACK - 8, 0);
        perfile_stream_close(s);
        const perfile_bytes twice = converted(once, PERFILE_CONVERT_SCRUB, false, &sum);
        assert_int_equal(sum.scrubbed_records, 0);
        release(once);
        release(twice);
    }
}

static void archives_say_that_they_are_scrubbed(void **state)
{
    (void)state;
    BUILDER b;
    begin_pipe(&b, false);
    for (unsigned i = 0; i < 100; i++)
        put_sample(&b, STACK, 8);
    const perfile_bytes as_it_is = converted(built(&b), 0, true, NULL);
    assert_int_equal(expect_lossy(as_it_is, NULL, NULL), 1);
    const perfile_bytes scrubbed = converted(built(&b), PERFILE_CONVERT_SCRUB, true, NULL);
    assert_int_equal(expect_lossy(scrubbed, "scrubbed", NULL), 1);
    /* Packed again, and what is in it. */
    const perfile_bytes again = converted(scrubbed, 0, true, NULL);
    expect_lossy(again, "scrubbed", NULL);
    const perfile_bytes out = converted(scrubbed, 0, false, NULL);
    assert_int_equal(out.len, b.b.len);
    perfile_stream *s = opened(out, false);
    expect_bytes(next_of(s, PERFILE_RECORD_SAMPLE), 32, STACK - 8, 0);
    perfile_stream_close(s);
    release(as_it_is);
    release(scrubbed);
    release(again);
    release(out);
}

static void archives_say_that_they_are_expanded(void **state)
{
    (void)state;
    for (unsigned form = 0; form < CAPTURE_KILLED; form++) {
        BUILDER b;
        const bool packed = form == CAPTURE_FILE_ZSTD || form == CAPTURE_PIPE_ZSTD;
        capture_make(&b, form, false, 200);
        const perfile_bytes archive = converted(built(&b), PERFILE_CONVERT_EXPAND, true, NULL);
        /* The records of a pipe are in two pieces: bytes lie behind one of them. */
        assert_true(expect_lossy(archive, packed ? "expanded" : NULL, NULL) > 0);
        const perfile_bytes out = converted(archive, 0, false, NULL);
        assert_int_equal(out.len == b.b.len && memcmp(out.ptr, b.b.ptr, out.len) == 0, !packed);
        perfile_stream *s = opened(out, false);
        const perfile_record *r;
        unsigned samples = 0;
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
            samples += r->type == PERFILE_RECORD_SAMPLE;
            assert_false(r->flags & PERFILE_REC_ENVELOPE);
        }
        assert_int_equal(samples, 200);
        perfile_stream_close(s);
        const perfile_bytes both =
            converted(archive, PERFILE_CONVERT_EXPAND | PERFILE_CONVERT_SCRUB, true, NULL);
        expect_lossy(both, packed ? "expanded" : "scrubbed", packed ? "scrubbed" : NULL);
        release(archive);
        release(out);
        release(both);
    }
}

/* Programs that write archives by themselves say it by flags. */
static void flags_are_words(void **state)
{
    (void)state;
    const perfile_archive_options how = {
        .size = sizeof how, .flags = PERFILE_ARCHIVE_EXPANDED | PERFILE_ARCHIVE_SCRUBBED};
    perfile_sink *memory, *sink;
    void *bytes;
    size_t len;
    assert_int_equal(perfile_sink_memory("archive", &memory, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(memory, &how, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
    perfile_sink_close(sink);
    expect_lossy((perfile_bytes){bytes, len}, "expanded", "scrubbed");
    free(bytes);
}

static void compress_and_expand_contradict(void **state)
{
    (void)state;
    const perfile_convert_options how = {
        .size = sizeof how, .flags = PERFILE_CONVERT_COMPRESS | PERFILE_CONVERT_EXPAND};
    BUILDER b;
    perfile_source *source;
    perfile_sink *sink;
    capture_make(&b, CAPTURE_FILE, false, 10);
    assert_int_equal(perfile_source_memory(built(&b), "made", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("made", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(source, sink, &how, NULL, 0, NULL), PERFILE_E_USAGE);
    perfile_source_close(source);
    perfile_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_end_with_what_is_valid),
        cmocka_unit_test(samples_without_a_stack_stay),
        cmocka_unit_test(strings_end_with_their_nul),
        cmocka_unit_test(padding_between_fields_goes),
        cmocka_unit_test(records_without_change_are_not_copied),
        cmocka_unit_test(damaged_records_stay),
        cmocka_unit_test(every_field_stays),
        cmocka_unit_test(fragments_stay),
        cmocka_unit_test(other_streams_have_no_summary),
        cmocka_unit_test(converting_scrubs_every_form),
        cmocka_unit_test(archives_say_that_they_are_scrubbed),
        cmocka_unit_test(archives_say_that_they_are_expanded),
        cmocka_unit_test(flags_are_words),
        cmocka_unit_test(compress_and_expand_contradict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
