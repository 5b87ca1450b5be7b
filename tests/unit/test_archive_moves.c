/* Chunks that are copied from archive to archive as they are stored: in the middle of a part, with
 * any number of threads, and through the operations on captures. */
#include "file_bytes.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "archive/pack.h"
#include "written.h"

enum { ID = 77, SAMPLES = 1000 };

static void release(perfile_bytes bytes)
{
    free((void *)(uintptr_t)bytes.ptr);
}

static perfile_bytes taken(perfile_sink *memory)
{
    void *bytes;
    size_t len;
    assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
    return (perfile_bytes){bytes, len};
}

static perfile_sink *memory_sink(void)
{
    perfile_error err = {0};
    perfile_sink *memory;
    assert_int_equal(perfile_sink_memory("memory", &memory, &err), PERFILE_OK);
    return memory;
}

static perfile_source *memory_source(perfile_bytes bytes)
{
    perfile_error err = {0};
    perfile_source *source;
    assert_int_equal(perfile_source_memory(bytes, "memory", &source, &err), PERFILE_OK);
    return source;
}

/* A capture, written in one of the ways, as an archive whose chunks have so many records. */
static perfile_bytes packed(const perfile_writer_options *way, uint32_t records)
{
    const perfile_archive_options how = {.size = sizeof how,
                                         .chunk_records = records,
                                         .flags = way->directory ? PERFILE_ARCHIVE_DIRECTORY : 0};
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *memory = memory_sink(), *sink;
    assert_int_equal(system("rm -rf made"), 0);
    assert_int_equal(written_sink(way, "made", &sink, &err), PERFILE_OK);
    assert_int_equal(written(sink, way, SAMPLES, &err), PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_source_path("made", NULL, &source, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(memory, &how, &sink, &err), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(source, sink, NULL, NULL, 0, &err), PERFILE_OK);
    const perfile_bytes bytes = taken(memory);
    perfile_sink_close(sink);
    return bytes;
}

/* What is in an archive, as a file or directory of that name. */
static void unpack(perfile_bytes archive, bool directory, const char *path)
{
    const perfile_convert_options how = {.size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_COPY};
    perfile_error err = {0};
    perfile_sink *sink;
    assert_int_equal(
        (directory ? perfile_sink_directory : perfile_sink_path)(path, NULL, &sink, &err),
        PERFILE_OK);
    if (perfile_convert_capture(memory_source(archive), sink, &how, NULL, 0, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    perfile_sink_close(sink);
}

/* The same of a file, in memory. */
static perfile_bytes unpacked(perfile_bytes archive)
{
    const perfile_convert_options how = {.size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_COPY};
    perfile_error err = {0};
    perfile_sink *memory = memory_sink();
    assert_int_equal(perfile_convert_capture(memory_source(archive), memory, &how, NULL, 0, &err),
                     PERFILE_OK);
    const perfile_bytes bytes = taken(memory);
    perfile_sink_close(memory);
    return bytes;
}

static void read_table(perfile_bytes archive, perfile_source **source, pf_archive *a)
{
    perfile_error err = {0};
    *source = memory_source(archive);
    *a = (pf_archive){0};
    assert_int_equal(pf_archive_read(*source, 0, a, &err), PERFILE_OK);
}

/* The chunks of `to` that are stored as in `from`. */
static unsigned count_moved(perfile_bytes from, perfile_bytes to)
{
    perfile_source *sources[2];
    pf_archive a, b;
    unsigned n = 0;
    read_table(from, &sources[0], &a);
    read_table(to, &sources[1], &b);
    for (uint32_t i = 0; i < b.n_chunks; i++)
        for (uint32_t k = 0; k < a.n_chunks && b.chunks[i].kind == PF_CHUNK_RECORDS; k++)
            if (a.chunks[k].kind == PF_CHUNK_RECORDS &&
                a.chunks[k].payload_crc == b.chunks[i].payload_crc) {
                n++;
                break;
            }
    pf_archive_clear(&a);
    pf_archive_clear(&b);
    perfile_source_close(sources[0]);
    perfile_source_close(sources[1]);
    return n;
}

/* Packs text, a chunk of `from`, text, the chunk again, text; what was packed comes back. */
static perfile_bytes pack_between(pf_archive *from, const pf_chunk *c, uint32_t threads)
{
    const perfile_archive_options how = {.size = sizeof how, .threads = threads};
    const pf_pack_options packing = {.id = ID,
                                     .needs = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES};
    const pf_stored range = {.archive = from, .chunk = c};
    const perfile_bytes text = {(const uint8_t *)"between", 7};
    perfile_error err = {0};
    perfile_sink *memory = memory_sink();
    pf_pack *pack;
    pf_packer *p;
    assert_int_equal(pf_pack_new(memory, &packing, &pack, &err), PERFILE_OK);
    assert_int_equal(pf_packer_new(pack, 0, &how, &p, &err), PERFILE_OK);
    assert_int_equal(pf_packer_part(p, NULL, &err), PERFILE_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pf_packer_write(p, 0, text, &err), PERFILE_OK);
        assert_int_equal(pf_packer_stored(p, 0, &range, &err), PERFILE_OK);
    }
    assert_int_equal(pf_packer_write(p, 0, text, &err), PERFILE_OK);
    assert_int_equal(pf_packer_finish(p, &err), PERFILE_OK);
    assert_int_equal(pf_pack_finish(pack, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(memory, &err), PERFILE_OK);
    const perfile_bytes bytes = taken(memory);
    pf_packer_close(p);
    pf_pack_close(pack);
    perfile_sink_close(memory);
    return bytes;
}

static const pf_chunk *some_records(const pf_archive *a)
{
    for (uint32_t i = 0; i < a->n_chunks; i++)
        if (a->chunks[i].kind == PF_CHUNK_RECORDS)
            return &a->chunks[i];
    return NULL;
}

static void a_chunk_stands_where_its_bytes_do(void **state)
{
    (void)state;
    const perfile_writer_options way = written_way(0);
    const perfile_bytes from = packed(&way, 8);
    perfile_source *source;
    perfile_error err = {0};
    pf_archive a;
    pf_buffer raw = {0};
    read_table(from, &source, &a);
    const pf_chunk *c = some_records(&a);
    assert_non_null(c);
    assert_int_equal(pf_archive_payload(&a, c, &raw, &err), PERFILE_OK);
    for (uint32_t threads = 1; threads < 4; threads++) {
        const perfile_bytes archive = pack_between(&a, c, threads), all = unpacked(archive);
        assert_int_equal(all.len, 2 * raw.len + 21);
        assert_memory_equal(all.ptr, "between", 7);
        assert_memory_equal(all.ptr + 7, raw.ptr, raw.len);
        assert_memory_equal(all.ptr + 7 + raw.len, "between", 7);
        assert_memory_equal(all.ptr + 14 + raw.len, raw.ptr, raw.len);
        assert_memory_equal(all.ptr + 14 + 2 * raw.len, "between", 7);
        assert_int_equal(count_moved(from, archive), 2);
        release(all);
        release(archive);
    }
    pf_buffer_free(&raw);
    pf_archive_clear(&a);
    perfile_source_close(source);
    release(from);
}

/* Filters an archive into an archive of that name; returns how many chunks are stored as they were.
 */
static unsigned filtered(perfile_bytes archive, const perfile_filter_term *term,
                         const perfile_archive_options *packing, const char *path,
                         perfile_filter_summary *sum)
{
    const perfile_filter_options how = {.size = sizeof how, .terms = term, .n_terms = term != NULL};
    const bool directory = packing->flags & PERFILE_ARCHIVE_DIRECTORY;
    perfile_error err = {0};
    perfile_copy_summary copied;
    perfile_sink *memory = memory_sink(), *sink;
    assert_int_equal(perfile_archive_sink(memory, packing, &sink, &err), PERFILE_OK);
    if (perfile_filter_capture(memory_source(archive), sink, &how, NULL, sum, sizeof *sum, &copied,
                               sizeof copied, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(copied.samples, sum->kept_samples);
    const perfile_bytes out = taken(memory);
    unpack(out, directory, path);
    const unsigned moved = count_moved(archive, out);
    perfile_sink_close(sink);
    release(out);
    return moved;
}

static void compare_filters(perfile_bytes archive, bool directory, const perfile_filter_term *term)
{
    const uint32_t flags = directory ? PERFILE_ARCHIVE_DIRECTORY : 0;
    const perfile_archive_options plain = {.size = sizeof plain, .threads = 3, .flags = flags};
    const perfile_archive_options again = {.size = sizeof again, .level = 1, .flags = flags};
    perfile_filter_summary a, b;
    assert_int_equal(system("rm -rf one two"), 0);
    const unsigned moved = filtered(archive, term, &plain, "one", &a);
    /* Whether a FINISHED_ROUND fits an expression is not known of a chunk as a whole. */
    assert_in_range(moved, term && term->kind == PERFILE_FILTER_BY_WHERE ? 0 : 3, 100);
    (void)filtered(archive, term, &again, "two", &b); /* encoded again: a level is given */
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(system("diff -r one two"), 0);
}

static void filters_move_chunks(void **state)
{
    (void)state;
    static const perfile_filter_term terms[] = {
        {.kind = PERFILE_FILTER_BY_TIME, .text = "20%..90%"},
        {.kind = PERFILE_FILTER_BY_TIME, .text = "0s.."},
        {.kind = PERFILE_FILTER_BY_PID, .text = "100"},
        {.kind = PERFILE_FILTER_BY_WHERE, .text = "period > 0"}};
    for (unsigned i = 0; i < WRITTEN_WAYS; i++) {
        const perfile_writer_options way = written_way(i);
        if (way.compress_level)
            continue;
        const perfile_bytes archive = packed(&way, 60);
        compare_filters(archive, way.directory, NULL);
        for (size_t k = 0; k < sizeof terms / sizeof terms[0]; k++)
            compare_filters(archive, way.directory, &terms[k]);
        release(archive);
    }
}

/* A copy of a stream without stages moves chunks, too. */
static void copies_move_chunks(void **state)
{
    (void)state;
    const perfile_writer_options way = written_way(0);
    const perfile_convert_options how = {.size = sizeof how, .form = PERFILE_FORM_PIPE};
    const perfile_bytes archive = packed(&way, 60);
    perfile_error err = {0};
    perfile_sink *memory = memory_sink(), *sink;
    assert_int_equal(perfile_archive_sink(memory, NULL, &sink, &err), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(memory_source(archive), sink, &how, NULL, 0, &err),
                     PERFILE_OK);
    const perfile_bytes out = taken(memory), got = unpacked(out);
    assert_in_range(count_moved(archive, out), 10, 100);
    perfile_sink_close(sink);
    memory = memory_sink();
    assert_int_equal(perfile_convert_capture(memory_source(archive), memory, &how, NULL, 0, &err),
                     PERFILE_OK);
    const perfile_bytes want = taken(memory);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, got.len);
    perfile_sink_close(memory);
    release(want);
    release(got);
    release(out);
    release(archive);
}

/* The parts of a split of an archive, as archives, are those of the capture. */
static void compare_split(perfile_bytes archive, const perfile_split_options *given,
                          unsigned least_moved)
{
    const perfile_archive_options packing = {.size = sizeof packing};
    const perfile_split_capture_options pack = {.size = sizeof pack, .archive = &packing};
    perfile_split_options how = *given;
    perfile_split_summary a, b;
    perfile_error err = {0};
    perfile_source *source;
    unsigned moved = 0;
    assert_int_equal(system("rm -rf packed-* plain-*"), 0);
    how.size = sizeof how;
    how.pattern = "packed-%d";
    if (perfile_split_capture(memory_source(archive), &how, &pack, &a, sizeof a, &err) !=
        PERFILE_OK)
        fail_msg("%s", err.message);
    how.pattern = "plain-%d";
    assert_int_equal(perfile_source_path("made", NULL, &source, &err), PERFILE_OK);
    assert_int_equal(perfile_split_capture(source, &how, NULL, &b, sizeof b, &err), PERFILE_OK);
    assert_int_equal(a.parts, b.parts);
    assert_int_equal(a.written, b.written);
    for (unsigned i = 0; i < a.parts; i++) {
        char packed_name[32], plain_name[32];
        snprintf(packed_name, sizeof packed_name, "packed-%u", i);
        snprintf(plain_name, sizeof plain_name, "plain-%u", i);
        const perfile_bytes part = file_bytes(packed_name), want = file_bytes(plain_name);
        const perfile_bytes got = unpacked(part);
        moved += count_moved(archive, part);
        assert_int_equal(got.len, want.len);
        assert_memory_equal(got.ptr, want.ptr, got.len);
        release(part);
        release(want);
        release(got);
    }
    assert_in_range(moved, least_moved, 100);
}

static void splits_move_chunks(void **state)
{
    (void)state;
    static const perfile_split_options splits[] = {
        {.by = PERFILE_SPLIT_EVERY, .amount = 3000},
        {.by = PERFILE_SPLIT_RECORDS, .amount = 400},
        {.by = PERFILE_SPLIT_SIZE, .amount = 20000},
        {.by = PERFILE_SPLIT_PID},
        {.by = PERFILE_SPLIT_EVERY, .amount = 1000},
        {.by = PERFILE_SPLIT_CPU},
        {.by = PERFILE_SPLIT_EVENT},
        {.by = PERFILE_SPLIT_COMM},
        {.by = PERFILE_SPLIT_PID, .flags = PERFILE_SPLIT_NO_SIDEBAND}};
    static const unsigned least[] = {5, 5, 5, 10, 1, 0, 0, 0, 0};
    const unsigned ways[] = {0, 1, 6};
    for (unsigned i = 0; i < 3; i++) {
        const perfile_writer_options way = written_way(ways[i]);
        const perfile_bytes archive = packed(&way, 50);
        for (size_t k = 0; k < sizeof splits / sizeof splits[0]; k++)
            compare_split(archive, &splits[k], least[k]);
        release(archive);
    }
}

static void parts_that_are_opened_are_packed_by_who_opens_them(void **state)
{
    (void)state;
    const perfile_archive_options packing = {.size = sizeof packing};
    const perfile_split_capture_options pack = {.size = sizeof pack, .archive = &packing};
    const perfile_split_options how = {.size = sizeof how, .by = PERFILE_SPLIT_CPU};
    const perfile_writer_options way = written_way(0);
    const perfile_bytes archive = packed(&way, 50);
    perfile_error err = {0};
    perfile_source *source = memory_source(archive);
    assert_int_equal(perfile_split_capture(source, &how, &pack, NULL, 0, &err), PERFILE_E_USAGE);
    perfile_source_close(source);
    assert_string_equal(err.where, "split.archive");
    release(archive);
}

static int teardown(void **state)
{
    (void)state;
    return system("rm -rf made one two packed-* plain-*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_stands_where_its_bytes_do),
        cmocka_unit_test(filters_move_chunks),
        cmocka_unit_test(copies_move_chunks),
        cmocka_unit_test(splits_move_chunks),
        cmocka_unit_test(parts_that_are_opened_are_packed_by_who_opens_them),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
