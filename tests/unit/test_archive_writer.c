/* Archives of several captures: written one behind the other, appended, copied from other archives;
 * and files to which is appended. */
#include "file_bytes.h"
#include "testing.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "perfile/perfile.h"
#include "archive/command.h"
#include "io/command.h"

enum { N = 3, PATH = 512 };

static const char *const names[N] = {"callgraph", "tracepoints", "pipe"};
static const char archive_path[] = "writer.perfile";

static const char *capture_path(unsigned i)
{
    static char path[PATH];
    const char *root = getenv("PERFILE_SOURCE");
    const int n =
        snprintf(path, sizeof path, "%s/samples/captures/%s.data", root ? root : ".", names[i]);
    assert_in_range(n, 1, PATH - 1);
    return path;
}

static void release(perfile_bytes bytes)
{
    free((void *)(uintptr_t)bytes.ptr);
}

/* Adds the capture with the number `i` among the names. */
static void pack(pf_archive_writer *w, unsigned i)
{
    const perfile_archive_options how = {.size = sizeof how, .chunk_records = 8};
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink;
    assert_int_equal(perfile_source_path(capture_path(i), NULL, &source, &err), PERFILE_OK);
    assert_int_equal(pf_archive_writer_capture(w, &how, &sink, &err), PERFILE_OK);
    if (perfile_convert_capture(source, sink, NULL, NULL, 0, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    perfile_sink_close(sink);
}

static perfile_archive *opened(const char *path)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_archive *a;
    assert_int_equal(perfile_source_path(path, NULL, &source, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &a, &err), PERFILE_OK);
    return a;
}

static pf_archive_writer *writer_on(perfile_sink *below, const perfile_archive *after)
{
    perfile_error err = {0};
    pf_archive_writer *w;
    if (pf_archive_writer_new(below, after, NULL, &w, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    return w;
}

/* Writes a new archive of the first `n` captures. */
static void write_archive(const char *path, unsigned n)
{
    const perfile_sink_options replace = {.size = sizeof replace, .flags = PERFILE_SINK_REPLACE};
    perfile_error err = {0};
    perfile_sink *below;
    assert_int_equal(perfile_sink_path(path, &replace, &below, &err), PERFILE_OK);
    pf_archive_writer *w = writer_on(below, NULL);
    for (unsigned i = 0; i < n; i++)
        pack(w, i);
    assert_int_equal(pf_archive_writer_finish(w, &err), PERFILE_OK);
    pf_archive_writer_close(w);
}

static void append(const char *path, unsigned i, bool finish)
{
    perfile_error err = {0};
    perfile_sink *below;
    assert_int_equal(pf_sink_append(path, NULL, &below, &err), PERFILE_OK);
    perfile_archive *after = opened(path);
    pf_archive_writer *w = writer_on(below, after);
    perfile_archive_close(after);
    pack(w, i);
    if (finish)
        assert_int_equal(pf_archive_writer_finish(w, &err), PERFILE_OK);
    pf_archive_writer_close(w);
}

static void count_finding(void *user, const perfile_archive_finding *f)
{
    print_message("%s\n", f->message);
    ++*(unsigned *)user;
}

/* The archive is sound, and its captures are those with these numbers. */
static void has_captures(const char *path, const unsigned *of, unsigned n)
{
    perfile_error err = {0};
    pf_archive_summary sum;
    unsigned findings = 0;
    perfile_archive *a = opened(path);
    pf_archive_get_summary(a, &sum, sizeof sum);
    assert_int_equal(sum.captures, n);
    assert_true(sum.finished && sum.from_index);
    assert_int_equal(pf_archive_verify(a, count_finding, &findings, &err), PERFILE_OK);
    assert_int_equal(findings, 0);
    perfile_archive_close(a);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_source_options from = {.size = sizeof from, .capture = i + 1};
        perfile_source *source;
        perfile_sink *memory;
        void *bytes;
        size_t len;
        assert_int_equal(perfile_source_path(path, &from, &source, &err), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("capture", &memory, &err), PERFILE_OK);
        assert_int_equal(perfile_convert_capture(source, memory, NULL, NULL, 0, &err), PERFILE_OK);
        assert_int_equal(sink_copy(memory, &bytes, &len), PERFILE_OK);
        perfile_sink_close(memory);
        const perfile_bytes original = file_bytes(capture_path(of[i]));
        assert_int_equal(len, original.len);
        assert_memory_equal(bytes, original.ptr, len);
        free(bytes);
        release(original);
    }
}

static void captures_lie_one_behind_the_other(void **state)
{
    (void)state;
    write_archive(archive_path, N);
    has_captures(archive_path, (const unsigned[]){0, 1, 2}, N);
}

static void what_is_appended_changes_nothing_in_front_of_it(void **state)
{
    (void)state;
    write_archive(archive_path, 1);
    const perfile_bytes before = file_bytes(archive_path);
    append(archive_path, 1, true);
    append(archive_path, 2, true);
    const perfile_bytes after = file_bytes(archive_path);
    assert_true(after.len > before.len);
    assert_memory_equal(after.ptr, before.ptr, before.len);
    has_captures(archive_path, (const unsigned[]){0, 1, 2}, N);
    release(before);
    release(after);
}

static void what_is_not_finished_is_cut_off(void **state)
{
    (void)state;
    write_archive(archive_path, 1);
    const perfile_bytes before = file_bytes(archive_path);
    append(archive_path, 1, false);
    const perfile_bytes after = file_bytes(archive_path);
    assert_int_equal(after.len, before.len);
    assert_memory_equal(after.ptr, before.ptr, before.len);
    release(before);
    release(after);
}

static void captures_are_copied_without_decoding(void **state)
{
    (void)state;
    static const char other[] = "writer.other.perfile";
    perfile_error err = {0};
    perfile_sink *memory, *below;
    write_archive(archive_path, N);
    write_archive(other, 1);
    perfile_archive *from = opened(archive_path), *after = opened(other);
    assert_int_equal(pf_sink_append(other, NULL, &below, &err), PERFILE_OK);
    pf_archive_writer *w = writer_on(below, after);
    assert_int_equal(pf_archive_writer_copy(w, from, N + 1, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_archive_writer_copy(w, from, 2, &err), PERFILE_OK);
    assert_int_equal(pf_archive_writer_copy(w, from, 0, &err), PERFILE_OK);
    assert_int_equal(pf_archive_writer_finish(w, &err), PERFILE_OK);
    pf_archive_writer_close(w);
    has_captures(other, (const unsigned[]){0, 1, 0, 1, 2}, N + 2);
    perfile_archive_close(after);
    perfile_archive_close(from);

    /* A damaged payload is found without decoding. */
    perfile_bytes bytes = file_bytes(archive_path);
    ((uint8_t *)(uintptr_t)bytes.ptr)[300] ^= 1;
    perfile_source *source;
    assert_int_equal(perfile_source_memory(bytes, "archive", &source, &err), PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &from, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("copy", &memory, &err), PERFILE_OK);
    w = writer_on(memory, NULL);
    assert_int_equal(pf_archive_writer_copy(w, from, 0, &err), PERFILE_E_CORRUPT);
    pf_archive_writer_close(w);
    perfile_archive_close(from);
    release(bytes);
    remove(other);
}

static void refuses_what_cannot_be_continued(void **state)
{
    (void)state;
    perfile_error err = {0};
    perfile_sink *memory, *one, *two;
    pf_archive_writer *w;
    perfile_source *source;
    perfile_archive *after;
    write_archive(archive_path, 1);

    /* A capture that is not finished. */
    assert_int_equal(perfile_sink_memory("archive", &memory, &err), PERFILE_OK);
    w = writer_on(memory, NULL);
    assert_int_equal(pf_archive_writer_capture(w, NULL, &one, &err), PERFILE_OK);
    assert_int_equal(pf_archive_writer_capture(w, NULL, &two, &err), PERFILE_E_USAGE);
    after = opened(archive_path);
    assert_int_equal(pf_archive_writer_copy(w, after, 0, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_archive_writer_finish(w, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_finish(one, &err), PERFILE_OK);
    perfile_sink_close(one);
    assert_int_equal(pf_archive_writer_finish(w, &err), PERFILE_OK);
    pf_archive_writer_close(w);
    perfile_archive_close(after);

    /* An archive that was cut. */
    const perfile_bytes bytes = file_bytes(archive_path);
    assert_int_equal(
        perfile_source_memory((perfile_bytes){bytes.ptr, bytes.len - 64}, "cut", &source, &err),
        PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &after, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("archive", &memory, &err), PERFILE_OK);
    assert_int_equal(pf_archive_writer_new(memory, after, NULL, &w, &err), PERFILE_E_CORRUPT);
    w = writer_on(memory, NULL);
    assert_int_equal(pf_archive_writer_copy(w, after, 0, &err), PERFILE_E_CORRUPT);
    pf_archive_writer_close(w);
    perfile_archive_close(after);
    release(bytes);
}

static mode_t mode_of(const char *path)
{
    struct stat sb;
    assert_int_equal(stat(path, &sb), 0);
    return sb.st_mode & 0777;
}

static void appending_sinks(void **state)
{
    (void)state;
    static const char path[] = "append.txt", secret[] = "append.secret";
    const char *const inputs[] = {secret}, *const self[] = {path};
    const perfile_sink_options of_self = {.size = sizeof of_self, .inputs = self, .n_inputs = 1};
    const perfile_sink_options of_secret = {
        .size = sizeof of_secret, .inputs = inputs, .n_inputs = 1};
    perfile_error err = {0};
    perfile_sink *s, *second;
    FILE *f = fopen(path, "wb");
    assert_true(f && fputs("one ", f) >= 0 && fclose(f) == 0);
    f = fopen(secret, "wb");
    assert_true(f && fclose(f) == 0);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(secret, 0600), 0);

    assert_int_equal(pf_sink_append(NULL, NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_sink_append(".", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(pf_sink_append("/dev/null", NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_sink_append("append.missing", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(pf_sink_append(path, &of_self, &s, &err), PERFILE_E_IO);

    assert_int_equal(pf_sink_append(path, NULL, &s, &err), PERFILE_OK);
    assert_int_equal(pf_sink_append(path, NULL, &second, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EBUSY);
    assert_int_equal(perfile_sink_write(s, (perfile_bytes){(const uint8_t *)"two", 3}, &err),
                     PERFILE_OK);
    assert_int_equal(perfile_sink_flush(s, &err), PERFILE_OK);
    pf_sink_abort(s);
    perfile_sink_close(s);
    perfile_bytes bytes = file_bytes(path);
    assert_int_equal(bytes.len, 4);
    release(bytes);
    assert_int_equal(mode_of(path), 0644);

    assert_int_equal(pf_sink_append(path, &of_secret, &s, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_write(s, (perfile_bytes){(const uint8_t *)"two", 3}, &err),
                     PERFILE_OK);
    assert_int_equal(perfile_sink_finish(s, &err), PERFILE_OK);
    perfile_sink_close(s);
    bytes = file_bytes(path);
    assert_int_equal(bytes.len, 7);
    assert_memory_equal(bytes.ptr, "one two", 7);
    release(bytes);
    assert_int_equal(mode_of(path), 0600);
    remove(path);
    remove(secret);
}

static int teardown(void **state)
{
    (void)state;
    remove(archive_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_lie_one_behind_the_other),
        cmocka_unit_test(what_is_appended_changes_nothing_in_front_of_it),
        cmocka_unit_test(what_is_not_finished_is_cut_off),
        cmocka_unit_test(captures_are_copied_without_decoding),
        cmocka_unit_test(refuses_what_cannot_be_continued),
        cmocka_unit_test(appending_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
