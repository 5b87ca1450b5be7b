/* perfile_stream_seek(): any record again, in any order, by every way of reading a file. */
#include "captures.h"
#include "testing.h"

#include <stdio.h>
#include <sys/stat.h>

#include "perfile/perfile.h"

enum { SAMPLES = 300, MOST = 1024 };

/* A record as it was when the capture was read from front to back. */
typedef struct seen {
    uint32_t part, type;
    uint64_t offset, hash;
} seen;

static uint64_t hash_of(const perfile_record *r)
{
    uint64_t h = r->type;
    for (size_t i = 0; i < perfile_record_size(r); i++)
        h = h * 31 + r->header[i];
    return h;
}

static seen saw(const perfile_record *r)
{
    return (seen){r->part, r->type, r->offset, hash_of(r)};
}

static size_t read_all(perfile_stream *s, seen *all)
{
    const perfile_record *r;
    size_t n = 0;
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        assert_true(n < MOST);
        all[n++] = saw(r);
    }
    assert_int_equal(st, PERFILE_END);
    return n;
}

/* Reads what comes next and compares it with what stood there; `n` records, or up to the end. */
static void expect(perfile_stream *s, const seen *from, size_t n)
{
    const perfile_record *r;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        seen now = saw(r);
        assert_memory_equal(&now, &from[i], sizeof now);
    }
}

static void seek_all_over(perfile_stream *s)
{
    static seen all[MOST];
    const perfile_record *r;
    size_t n = read_all(s, all);
    assert_true(n > SAMPLES);
    /* Also after the end was reached: forwards, backwards, and in strides. */
    for (size_t i = 0; i < 3 * n; i++) {
        size_t to = i < n ? i : i < 2 * n ? 2 * n - 1 - i : (i * 37) % n;
        assert_int_equal(perfile_stream_seek(s, all[to].part, all[to].offset, NULL), PERFILE_OK);
        expect(s, &all[to], n - to < 3 ? n - to : 3);
    }
    assert_int_equal(perfile_stream_seek(s, all[0].part, all[0].offset, NULL), PERFILE_OK);
    expect(s, all, n);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_END);
}

/* Not where there are no records; the stream stays where it was. */
static void refuse_elsewhere(perfile_stream *s)
{
    const perfile_record *r;
    perfile_error err;
    assert_int_equal(perfile_stream_seek(s, 77, 0, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_stream_seek(s, 0, 0, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_stream_seek(s, 0, UINT64_MAX, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "stream.offset");
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_END);
}

static void write_file(const char *path, perfile_bytes bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, bytes.len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static void files(void **state)
{
    (void)state;
    static const unsigned forms[] = {0, CAPTURE_PIPE, CAPTURE_KILLED};
    static const uint32_t flags[] = {0, PERFILE_SOURCE_NO_MAP, PERFILE_SOURCE_SEQUENTIAL};
    for (unsigned form = 0; form < sizeof forms / sizeof *forms; form++) {
        for (unsigned i = 0; i < 2 * sizeof flags / sizeof *flags; i++) {
            builder b;
            perfile_stream *s;
            perfile_open_options how = {.size = sizeof how, .source_flags = flags[i / 2]};
            how.on_damage = PERFILE_ON_DAMAGE_STOP;
            capture_make(&b, forms[form], i % 2, SAMPLES);
            write_file("seek.data", built(&b));
            assert_int_equal(perfile_open_path("seek.data", &how, &s, NULL), PERFILE_OK);
            seek_all_over(s);
            refuse_elsewhere(s);
            perfile_stream_close(s);
            build_clear(&b);
        }
    }
}

static void directories(void **state)
{
    (void)state;
    builder b;
    perfile_stream *s;
    capture_make(&b, 0, false, SAMPLES);
    assert_int_equal(mkdir("parts", 0777), 0);
    perfile_source *in;
    perfile_sink *out;
    assert_int_equal(perfile_source_memory(built(&b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_directory("parts/dir", NULL, &out, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(in, out, NULL, NULL, 0, NULL), PERFILE_OK);
    perfile_sink_close(out);
    assert_int_equal(perfile_open_path("parts/dir", NULL, &s, NULL), PERFILE_OK);
    seek_all_over(s);
    perfile_stream_close(s);
    build_clear(&b);
}

static int64_t read_block(void *user, void *buf, size_t len)
{
    perfile_bytes *left = user;
    size_t n = len < left->len ? len : left->len;
    if (n)
        memcpy(buf, left->ptr, n);
    left->ptr += n;
    left->len -= n;
    return (int64_t)n;
}

/* A pipe, a stage, compressed records: refused with a sentence, and reading goes on. */
static void refusals(void **state)
{
    (void)state;
    builder b, packed;
    perfile_source *in;
    perfile_stream *s;
    perfile_error err;
    const perfile_record *r;
    capture_make(&b, 0, false, SAMPLES);
    capture_make(&packed, CAPTURE_FILE_ZSTD, false, SAMPLES);

    builder pipe;
    capture_make(&pipe, CAPTURE_PIPE, false, SAMPLES);
    perfile_bytes left = built(&pipe);
    const perfile_source_callbacks callbacks = {
        .size = sizeof callbacks, .user = &left, .read = read_block};
    assert_int_equal(perfile_source_callback(&callbacks, "pipe", NULL, &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_seek(s, 0, r->offset, &err), PERFILE_E_UNSUPPORTED);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    perfile_stream_close(s);
    build_clear(&pipe);

    assert_int_equal(perfile_source_memory(built(&b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    uint64_t first = r->offset;
    assert_int_equal(perfile_stream_seek(s, 0, first, &err), PERFILE_E_UNSUPPORTED);
    perfile_stream_close(s);

    assert_int_equal(perfile_source_memory(built(&packed), "packed", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    seen one[4], *again = one + 2;
    uint64_t later = 0;
    for (unsigned i = 0; perfile_stream_next(s, &r, NULL) == PERFILE_OK; i++) {
        if (i < 2)
            one[i] = saw(r);
        if (!(r->flags & PERFILE_REC_INNER))
            later = r->offset;
    }
    assert_true(later > one[0].offset);
    assert_int_equal(perfile_stream_seek(s, 0, later, &err), PERFILE_E_UNSUPPORTED);
    assert_int_equal(perfile_stream_seek(s, 0, one[0].offset, &err), PERFILE_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        again[i] = saw(r);
    }
    assert_memory_equal(one, again, 2 * sizeof *one);
    perfile_stream_close(s);
    build_clear(&b);
    build_clear(&packed);
}

/* Damage is counted each time it is met, and a record behind it can be sought. */
static void damage(void **state)
{
    (void)state;
    static seen all[MOST];
    builder b;
    perfile_source *in;
    perfile_stream *s;
    perfile_stream_summary sum;
    perfile_open_options how = {.size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_RESYNC};
    capture_make(&b, 0, false, SAMPLES);
    assert_int_equal(perfile_source_memory(built(&b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, &how, &s, NULL), PERFILE_OK);
    size_t n = read_all(s, all);
    perfile_stream_close(s);
    /* The size of a record in the middle becomes impossible. */
    b.b.ptr[all[n / 2].offset + 6] = b.b.ptr[all[n / 2].offset + 7] = 0;
    assert_int_equal(perfile_source_memory(built(&b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, &how, &s, NULL), PERFILE_OK);
    assert_int_equal(read_all(s, (seen[MOST]){0}), n - 1);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.damages, 1);
    assert_int_equal(perfile_stream_seek(s, 0, all[n - 4].offset, NULL), PERFILE_OK);
    expect(s, &all[n - 4], 4);
    assert_int_equal(perfile_stream_seek(s, 0, all[n / 2 - 1].offset, NULL), PERFILE_OK);
    expect(s, &all[n / 2 - 1], 1);
    expect(s, &all[n / 2 + 1], 1);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.damages, 2);
    perfile_stream_close(s);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(directories),
                                       cmocka_unit_test(refusals), cmocka_unit_test(damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
