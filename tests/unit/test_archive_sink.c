/* Archives through the public interface: packing by a sink, reading back as a source, descriptions
 * of samples. */
#include "captures.h"
#include "file_bytes.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

#include "archive/header.h"
#include "perfile/perfile.h"
#include "archive/command.h"
#include "core/command.h"
#include "io/command.h"

static char capture[512];

static int setup(void **state)
{
    const char *root = getenv("PERFILE_SOURCE");
    (void)state;
    return snprintf(capture, sizeof capture, "%s/samples/captures/callgraph.data",
                    root ? root : ".") < (int)sizeof capture
               ? 0
               : -1;
}

/* Packs a capture, or a directory if the options say so, into memory. */
static perfile_bytes packed_source(perfile_source *source, const perfile_archive_options *options)
{
    perfile_error err = {0};
    perfile_sink *memory, *sink;
    void *bytes;
    size_t len;
    const perfile_convert_options how = {.size = sizeof how};
    assert_int_equal(perfile_sink_memory("archive", &memory, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(memory, options, &sink, &err), PERFILE_OK);
    if (perfile_convert_capture(source, sink, &how, NULL, 0, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
    perfile_sink_close(sink);
    return (perfile_bytes){bytes, len};
}

static perfile_bytes packed(const char *path, const perfile_archive_options *options)
{
    perfile_error err = {0};
    perfile_source *source;
    assert_int_equal(perfile_source_path(path, NULL, &source, &err), PERFILE_OK);
    return packed_source(source, options);
}

/* What comes out again. */
static perfile_bytes unpacked(perfile_bytes archive, perfile_status want)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *memory;
    void *bytes;
    size_t len;
    const perfile_convert_options how = {.size = sizeof how};
    assert_int_equal(perfile_source_memory(archive, "archive", &source, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("capture", &memory, &err), PERFILE_OK);
    assert_int_equal(
        closed_unless_ok(source, perfile_convert_capture(source, memory, &how, NULL, 0, &err)),
        want);
    if (want != PERFILE_OK)
        pf_sink_abort(memory);
    if (want != PERFILE_OK || sink_copy(memory, &bytes, &len) != PERFILE_OK)
        bytes = NULL, len = 0;
    perfile_sink_close(memory);
    return (perfile_bytes){bytes, len};
}

static void release(perfile_bytes bytes)
{
    free((void *)(uintptr_t)bytes.ptr);
}

static void gives_back_what_was_packed(void **state)
{
    (void)state;
    const perfile_bytes original = file_bytes(capture);
    for (uint32_t records = 0; records < 100; records = 3 * records + 1) {
        const perfile_archive_options how = {.size = sizeof how, .chunk_records = records};
        const perfile_bytes archive = packed(capture, &how), again = unpacked(archive, PERFILE_OK);
        assert_int_equal(again.len, original.len);
        assert_memory_equal(again.ptr, original.ptr, original.len);
        release(archive);
        release(again);
    }
    release(original);
}

static void threads_pack_the_same(void **state)
{
    (void)state;
    perfile_archive_options how = {.size = sizeof how, .chunk_records = 5, .id = 7};
    const perfile_bytes one = packed(capture, &how);
    for (how.threads = 2; how.threads < 5; how.threads++) {
        /* Maps have the time; corpus.archive compares all other chunks. */
        const perfile_bytes more = packed(capture, &how), again = unpacked(more, PERFILE_OK);
        const perfile_bytes first = unpacked(one, PERFILE_OK);
        assert_int_equal(again.len, first.len);
        assert_memory_equal(again.ptr, first.ptr, first.len);
        release(first);
        release(again);
        release(more);
    }
    release(one);
}

/* An archive whose chunks can be listed. */
static perfile_archive *listed(perfile_bytes archive)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_archive *a;
    assert_int_equal(perfile_source_memory(archive, "archive", &source, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &a, &err), PERFILE_OK);
    return a;
}

static void no_chunk_has_too_many_records(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 5};
    const perfile_bytes archive = packed(capture, &how);
    perfile_archive *a = listed(archive);
    pf_archive_chunk c;
    uint64_t records = 0;
    for (uint32_t i = 0; pf_archive_chunk_at(a, i, &c, sizeof c, NULL) == PERFILE_OK; i++) {
        assert_true(c.records <= 5);
        records += c.records;
    }
    assert_int_equal(records, 63); /* perfile stats of the capture */
    perfile_archive_close(a);
    release(archive);
}

/* A pipe whose second event is known only behind some of its samples. */
static void late_event(builder *b)
{
    *b = (builder){.swap = false};
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; i < 900; i++) {
        if (i == 500)
            capture_attr(b, 1);
        capture_sample(b, i);
    }
}

/* Chunks and zones are the same as with one thread: records are taken apart by what the session
 * knew when they were read. */
static void threads_do_not_ask_a_later_session(void **state)
{
    (void)state;
    perfile_archive_options how = {.size = sizeof how, .id = 7};
    builder b;
    late_event(&b);
    for (how.chunk_records = 70; how.chunk_records < 1000; how.chunk_records *= 3) {
        perfile_bytes archives[3];
        perfile_archive *a[3];
        for (how.threads = 1; how.threads <= 3; how.threads++) {
            perfile_source *source;
            assert_int_equal(
                perfile_source_memory((perfile_bytes){b.b.ptr, b.b.len}, "pipe", &source, NULL),
                PERFILE_OK);
            archives[how.threads - 1] = packed_source(source, &how);
            a[how.threads - 1] = listed(archives[how.threads - 1]);
        }
        pf_archive_chunk one, more;
        for (uint32_t i = 0; pf_archive_chunk_at(a[0], i, &one, sizeof one, NULL) == 0; i++)
            for (unsigned k = 1; k < 3; k++) {
                assert_int_equal(pf_archive_chunk_at(a[k], i, &more, sizeof more, NULL), 0);
                assert_int_equal(more.kind, one.kind);
                if (one.kind == PF_CHUNK_META)
                    continue; /* it has the time, and may be longer */
                assert_int_equal(more.bytes, one.bytes);
                assert_memory_equal(archives[k].ptr + more.offset + PF_ARCHIVE_HEADER,
                                    archives[0].ptr + one.offset + PF_ARCHIVE_HEADER,
                                    one.bytes - PF_ARCHIVE_HEADER);
            }
        for (unsigned k = 0; k < 3; k++) {
            perfile_archive_close(a[k]);
            release(archives[k]);
        }
    }
    build_clear(&b);
}

static void options_change_the_size_only(void **state)
{
    (void)state;
    const perfile_bytes original = file_bytes(capture);
    for (int32_t level = 1; level <= 19; level += 9) {
        const perfile_archive_options how = {
            .size = sizeof how, .level = level, .flags = PERFILE_ARCHIVE_NO_VERIFY};
        const perfile_bytes archive = packed(capture, &how), again = unpacked(archive, PERFILE_OK);
        assert_int_equal(again.len, original.len);
        assert_memory_equal(again.ptr, original.ptr, original.len);
        release(archive);
        release(again);
    }
    release(original);
}

static void captures_have_numbers(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how};
    const perfile_bytes archive = packed(capture, &how);
    char path[] = "numbered.XXXXXX";
    FILE *f = fdopen(mkstemp(path), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(archive.ptr, 1, archive.len, f), archive.len);
    fclose(f);
    for (uint32_t number = 1; number < 3; number++) {
        const perfile_source_options from = {.size = sizeof from, .capture = number};
        perfile_error err = {0};
        perfile_source *source;
        assert_int_equal(perfile_source_path(path, &from, &source, &err), PERFILE_OK);
        assert_int_equal(pf_archive_source(&source, &err),
                         number == 1 ? PERFILE_OK : PERFILE_E_USAGE);
        perfile_source_close(source);
    }
    remove(path);
    release(archive);
}

/* An archive that is given up is not there, nor is its temporary file. */
static void what_was_given_up_is_gone(void **state)
{
    (void)state;
    static const uint8_t text[] = "some bytes of a capture";
    perfile_sink *below, *sink;
    perfile_error err;
    char temporary[256];
    assert_int_equal(perfile_sink_path("given-up.perfile", NULL, &below, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(below, NULL, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_write(sink, (perfile_bytes){text, sizeof text}, NULL),
                     PERFILE_OK);
    assert_non_null(pf_sink_temporary(sink));
    snprintf(temporary, sizeof temporary, "%s", pf_sink_temporary(sink));
    assert_int_equal(access(temporary, F_OK), 0);
    pf_sink_abort(sink);
    assert_int_equal(access(temporary, F_OK), -1);
    assert_null(pf_sink_temporary(sink));
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_E_USAGE);
    perfile_sink_close(sink);
    assert_int_equal(access("given-up.perfile", F_OK), -1);
}

static void refuses_levels_that_there_are_not(void **state)
{
    (void)state;
    perfile_error err = {0};
    perfile_sink *memory, *sink;
    const perfile_archive_options how = {.size = sizeof how, .level = 20};
    assert_int_equal(perfile_sink_memory("archive", &memory, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(memory, &how, &sink, &err), PERFILE_E_USAGE);
    perfile_sink_close(memory);
}

static void a_directory_comes_out_as_one(void **state)
{
    (void)state;
    static const char *const names[] = {"data", "data.0", "data.1"};
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *memory, *sink;
    void *bytes;
    size_t len;
    const perfile_archive_options how = {.size = sizeof how, .flags = PERFILE_ARCHIVE_DIRECTORY};
    assert_int_equal(perfile_sink_memory("archive", &memory, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(memory, &how, &sink, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_write(sink, (perfile_bytes){(const uint8_t *)names[0], 4}, &err),
                     PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_source_memory((perfile_bytes){bytes, len}, "archive", &source, &err),
                     PERFILE_OK);
    assert_false(pf_source_is_directory(source));
    assert_int_equal(pf_archive_source(&source, &err), PERFILE_OK);
    assert_true(pf_source_is_directory(source));
    perfile_source_close(source);
    free(bytes);
}

static void other_sources_stay_what_they_are(void **state)
{
    (void)state;
    perfile_error err = {0};
    perfile_source *source, *before;
    assert_int_equal(perfile_source_path(capture, NULL, &source, &err), PERFILE_OK);
    before = source;
    assert_int_equal(pf_archive_source(&source, &err), PERFILE_OK);
    assert_ptr_equal(source, before);
    perfile_source_close(source);
}

typedef struct counts {
    uint64_t samples, described, first, last;
    bool refuses;
} counts;

static bool enough(void *user, const pf_described *d)
{
    counts *c = user;
    if (c->refuses)
        return false;
    c->described += d->samples;
    c->first = d->first_time < c->first ? d->first_time : c->first;
    c->last = d->last_time > c->last ? d->last_time : c->last;
    return true;
}

/* Reads all records of an archive, or of the capture; counts samples that are read. */
static counts read_all(perfile_bytes archive, bool describe, bool refuses)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    counts c = {.first = UINT64_MAX, .refuses = refuses};
    if (archive.ptr)
        assert_int_equal(perfile_source_memory(archive, "archive", &source, &err), PERFILE_OK);
    else
        assert_int_equal(perfile_source_path(capture, NULL, &source, &err), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, &err), PERFILE_OK);
    if (describe)
        assert_int_equal(pf_stream_describe(s, enough, &c), archive.ptr != NULL);
    while (perfile_stream_next(s, &r, &err) == PERFILE_OK)
        if (r->type == PERFILE_RECORD_SAMPLE) {
            const uint64_t time = perfile_record_time(r);
            c.samples++;
            c.first = time < c.first ? time : c.first;
            c.last = time > c.last ? time : c.last;
        }
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.damages, 0);
    perfile_stream_close(s);
    return c;
}

static void descriptions_say_what_reading_finds(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 8};
    const perfile_bytes archive = packed(capture, &how);
    const counts read = read_all((perfile_bytes){NULL, 0}, true, false);
    const counts all = read_all(archive, false, false);
    const counts described = read_all(archive, true, false);
    const counts refused = read_all(archive, true, true);
    assert_true(read.samples > 0 && described.described > 0);
    assert_int_equal(all.samples, read.samples);
    assert_int_equal(refused.samples, read.samples);
    assert_int_equal(described.samples + described.described, read.samples);
    assert_int_equal(described.first, read.first);
    assert_int_equal(described.last, read.last);
    release(archive);
}

/* Reads an archive, or the capture, and passes by what it can; *passed are those samples. */
static perfile_stream_summary pass_all(perfile_bytes archive, pf_passed *passed, uint64_t *samples,
                                       uint64_t *bytes)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    pf_passed p;
    perfile_status st;
    *passed = (pf_passed){0};
    *samples = *bytes = 0;
    if (archive.ptr)
        assert_int_equal(perfile_source_memory(archive, "archive", &source, &err), PERFILE_OK);
    else
        assert_int_equal(perfile_source_path(capture, NULL, &source, &err), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, &err), PERFILE_OK);
    do {
        uint64_t end = 0;
        while (pf_stream_pass(s, &p, sizeof p), p.samples) {
            assert_true(p.offset >= end && p.bytes >= 8 * p.samples);
            end = p.offset + p.bytes;
            passed->samples += p.samples;
            passed->bytes += p.bytes;
        }
        st = perfile_stream_next(s, &r, &err);
        if (st == PERFILE_OK && r->type == PERFILE_RECORD_SAMPLE) {
            *samples += 1;
            *bytes += perfile_record_size(r);
            assert_true(r->offset >= end);
        }
    } while (st == PERFILE_OK);
    assert_int_equal(st, PERFILE_END);
    *samples += passed->samples;
    *bytes += passed->bytes;
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    perfile_stream_close(s);
    return sum;
}

/* Samples that are passed by count as if they had been read, and only an archive passes any. */
static void samples_that_are_passed_count_as_read(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 8};
    const perfile_bytes archive = packed(capture, &how);
    pf_passed none, some;
    uint64_t samples[2], bytes[2];
    const perfile_stream_summary a =
        pass_all((perfile_bytes){NULL, 0}, &none, &samples[0], &bytes[0]);
    const perfile_stream_summary b = pass_all(archive, &some, &samples[1], &bytes[1]);
    assert_int_equal(none.samples, 0);
    assert_true(samples[0] > 0 && some.samples > 0);
    assert_int_equal(samples[1], samples[0]);
    assert_int_equal(bytes[1], bytes[0]);
    assert_int_equal(b.records, a.records);
    assert_int_equal(b.bytes, a.bytes);
    assert_int_equal(b.damages, 0);
    release(archive);
}

/* The index has the metadata of chunks once more: damage of the first costs nothing. */
static void damaged_metadata_are_read_from_the_index(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 8};
    const perfile_bytes archive = packed(capture, &how);
    const counts sound = read_all(archive, true, false);
    perfile_archive *a = listed(archive);
    pf_archive_chunk c;
    unsigned tried = 0;
    for (uint32_t i = 0; pf_archive_chunk_at(a, i, &c, sizeof c, NULL) == PERFILE_OK; i++) {
        if (!c.has_zone)
            continue;
        uint8_t *bytes = exact(archive.ptr, archive.len);
        bytes[c.offset + PF_ARCHIVE_HEADER + 1] ^= 1;
        const counts damaged = read_all((perfile_bytes){bytes, archive.len}, true, false);
        assert_int_equal(damaged.described, sound.described);
        assert_int_equal(damaged.samples, sound.samples);
        assert_int_equal(damaged.first, sound.first);
        free(bytes);
        tried++;
    }
    assert_true(tried > 3);
    perfile_archive_close(a);
    release(archive);
}

static void damage_is_counted(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 8};
    const perfile_bytes archive = packed(capture, &how);
    uint8_t *bytes = (uint8_t *)(uintptr_t)archive.ptr;
    bytes[archive.len / 2] ^= 1;
    perfile_error err = {0};
    perfile_source *source;
    perfile_stream *s;
    perfile_stream_summary sum;
    const perfile_record *r;
    assert_int_equal(perfile_source_memory(archive, "archive", &source, &err), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, &err), PERFILE_OK);
    while (perfile_stream_next(s, &r, &err) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.by_damage[PERFILE_DAMAGE_ARCHIVE], 1);
    assert_true(sum.lost > 0);
    perfile_stream_close(s);
    const perfile_bytes nothing = unpacked(archive, PERFILE_E_CORRUPT);
    assert_int_equal(nothing.len, 0);
    release(archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_was_packed),
        cmocka_unit_test(threads_pack_the_same),
        cmocka_unit_test(no_chunk_has_too_many_records),
        cmocka_unit_test(threads_do_not_ask_a_later_session),
        cmocka_unit_test(options_change_the_size_only),
        cmocka_unit_test(captures_have_numbers),
        cmocka_unit_test(what_was_given_up_is_gone),
        cmocka_unit_test(refuses_levels_that_there_are_not),
        cmocka_unit_test(a_directory_comes_out_as_one),
        cmocka_unit_test(other_sources_stay_what_they_are),
        cmocka_unit_test(descriptions_say_what_reading_finds),
        cmocka_unit_test(samples_that_are_passed_count_as_read),
        cmocka_unit_test(damaged_metadata_are_read_from_the_index),
        cmocka_unit_test(damage_is_counted),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
