/* Sinks: every kind takes the same bytes, and a file appears whole or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/out_kind.h"
#include "io/source_kind.h"
#include "owned.h"
#include "perfile/perfile.h"
#include "random.h"
#include "written.h"
#include "io/command.h"

#define N 1500000u

static uint8_t *data;

static int setup(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    data = malloc(N);
    for (size_t i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    return data ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(data);
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    return system("rm -rf out && mkdir out");
}

static perfile_bytes bytes(size_t from, size_t n)
{
    return (perfile_bytes){data + from, n};
}

/* Writes the data in pieces of any size, by both ways. */
static void write_all(perfile_sink *s)
{
    for (size_t at = 0; at < N;) {
        size_t n = random_below(random_below(100) ? 3000 : 400000);
        if (n > N - at)
            n = N - at;
        perfile_error err;
        uint8_t *to = NULL;
        if (n && random_below(2)) {
            assert_int_equal(pf_sink_reserve(s, n + 10, &to), PERFILE_OK);
            memcpy(to, data + at, n);
            pf_sink_commit(s, n);
        } else if (perfile_sink_write(s, bytes(at, n), &err) != PERFILE_OK) {
            fail_msg("%s", err.message);
        }
        at += n;
        assert_int_equal(perfile_sink_count(s), at);
        if (random_below(200) == 0)
            assert_int_equal(perfile_sink_flush(s, NULL), PERFILE_OK);
    }
}

static void file_holds(const char *path, size_t n)
{
    static uint8_t got[N + 1];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got, f), n);
    assert_true(n == 0 || memcmp(got, data, n) == 0);
    (void)fclose(f);
}

/* How many names there are in out/. */
static int names_in_out(void)
{
    FILE *f = popen("ls -A out | wc -l", "r");
    int n = -1;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    (void)pclose(f);
    return n;
}

static const perfile_sink_options replace = {.size = sizeof replace, .flags = PERFILE_SINK_REPLACE};

static void a_file_appears_when_it_is_finished(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    perfile_sink *s;
    perfile_sink_options o = {.size = sizeof o, .flags = PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL};
    assert_int_equal(perfile_sink_path("out/a", &o, &s, NULL), PERFILE_OK);
    assert_string_equal(pf_sink_name(s), "out/a");
    write_all(s);
    assert_int_equal(access("out/a", F_OK), -1);
    assert_int_equal(access(pf_sink_temporary(s), F_OK), 0);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    assert_null(pf_sink_temporary(s));
    file_holds("out/a", N);
    struct stat sb;
    assert_int_equal(stat("out/a", &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0640);
    assert_int_equal(perfile_sink_write(s, bytes(0, 1), NULL), PERFILE_E_USAGE);
    uint8_t *to = NULL;
    assert_int_equal(pf_sink_reserve(s, 1, &to), PERFILE_E_USAGE);
    perfile_sink_close(s);
    (void)umask(mask);
    file_holds("out/a", N);
    assert_int_equal(names_in_out(), 1);
}

static void an_unfinished_file_leaves_nothing(void **state)
{
    (void)state;
    perfile_sink *s;
    assert_int_equal(perfile_sink_path("out/a", NULL, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(names_in_out(), 1);
    perfile_sink_close(s);
    assert_int_equal(names_in_out(), 0);
}

/* Until it is finished; then it stays. */
static void what_was_given_up_is_gone(void **state)
{
    (void)state;
    perfile_sink *s;
    perfile_error err;
    assert_int_equal(perfile_sink_path("out/a", NULL, &s, NULL), PERFILE_OK);
    write_all(s);
    pf_sink_abort(s);
    assert_int_equal(names_in_out(), 0);
    assert_int_equal(perfile_sink_write(s, bytes(0, 1), &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "'out/a' was given up");
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_E_USAGE);
    perfile_sink_close(s);
    assert_int_equal(names_in_out(), 0);

    assert_int_equal(perfile_sink_path("out/a", NULL, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    pf_sink_abort(s);
    perfile_sink_close(s);
    file_holds("out/a", N);

    assert_int_equal(perfile_sink_memory("m", &s, NULL), PERFILE_OK);
    write_all(s);
    pf_sink_abort(s);
    assert_int_equal(perfile_sink_bytes(s).len, 0);
    perfile_sink_close(s);
}

static void an_existing_file_is_not_touched(void **state)
{
    (void)state;
    perfile_sink *s;
    perfile_error err;
    assert_int_equal(perfile_sink_path("out/a", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_write(s, bytes(0, 100), NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    assert_int_equal(perfile_sink_path("out/a", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EEXIST);
    assert_string_equal(err.message, "cannot create 'out/a': File exists");

    /* Nor one that comes into being while we write. */
    assert_int_equal(perfile_sink_path("out/b", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(link("out/a", "out/b"), 0);
    assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EEXIST);
    perfile_sink_close(s);
    file_holds("out/b", 100);

    assert_int_equal(perfile_sink_path("out/a", &replace, &s, NULL), PERFILE_OK);
    write_all(s);
    file_holds("out/a", 100); /* the old one until the end */
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    file_holds("out/a", N);
    file_holds("out/b", 100);
    assert_int_equal(names_in_out(), 2);
}

static void links_are_followed(void **state)
{
    (void)state;
    perfile_sink *s;
    assert_int_equal(system("mkdir out/far && echo old >out/far/file && ln -s far/file out/link"),
                     0);
    assert_int_equal(perfile_sink_path("out/link", NULL, &s, NULL), PERFILE_E_IO);
    assert_int_equal(perfile_sink_path("out/link", &replace, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    struct stat sb;
    assert_int_equal(lstat("out/link", &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    file_holds("out/far/file", N);

    assert_int_equal(symlink("/dev/null", "out/null"), 0);
    assert_int_equal(perfile_sink_path("out/null", &replace, &s, NULL), PERFILE_OK);
    assert_null(pf_sink_temporary(s));
    write_all(s);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    assert_int_equal(stat("/dev/null", &sb), 0);
    assert_true(S_ISCHR(sb.st_mode));
}

/* A FIFO of another user would give the capture away, and a block device lose its content. */
static void others_fifos_and_devices_are_refused(void **state)
{
    (void)state;
    enum { ME = 1000, OTHER = 1001 };
    static const struct {
        mode_t mode;
        uid_t owner;
        bool refused;
    } cases[] = {
        {S_IFIFO, ME, false}, {S_IFIFO, 0, false},    {S_IFIFO, OTHER, true}, {S_IFCHR, ME, false},
        {S_IFCHR, 0, false},  {S_IFCHR, OTHER, true}, {S_IFBLK, ME, true},    {S_IFBLK, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct stat sb = {.st_mode = cases[i].mode, .st_uid = cases[i].owner};
        assert_int_equal(pf_out_refusal(&sb, ME) != NULL, cases[i].refused);
    }
    struct stat null;
    assert_int_equal(stat("/dev/null", &null), 0);
    null.st_uid = OTHER; /* as in a user namespace */
    assert_null(pf_out_refusal(&null, ME));

    /* Only root can make a FIFO of another user. */
    perfile_sink *s;
    perfile_error err;
    assert_int_equal(mkfifo("out/fifo", 0666), 0);
    const int reader = open("out/fifo", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    if (chown("out/fifo", OTHER, (gid_t)-1) == 0) {
        assert_int_equal(perfile_sink_path("out/fifo", NULL, &s, &err), PERFILE_E_IO);
        assert_int_equal(err.sys, EPERM);
        assert_non_null(strstr(err.message, "a FIFO of another user"));
    }
    assert_int_equal(perfile_sink_path("out/fifo", &replace, &s, &err), PERFILE_OK);
    perfile_sink_close(s);
    close(reader);
}

/* However a sink comes to know of it, also when it becomes one only while the sink is open. */
static void an_input_is_never_replaced(void **state)
{
    (void)state;
    static const char *const inputs[] = {"out/in", "out/D"};
    const perfile_sink_options o = {
        .size = sizeof o, .flags = PERFILE_SINK_REPLACE, .inputs = inputs, .n_inputs = 2};
    perfile_sink *s;
    perfile_source *source;
    perfile_error err;
    assert_int_equal(system("echo in >out/in && mkdir out/D && echo part >out/D/data"), 0);
    assert_int_equal(perfile_sink_path("out/./in", &o, &s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, 0);
    assert_int_equal(perfile_sink_path("out/D/new", &o, &s, &err), PERFILE_E_IO);
    assert_int_equal(perfile_sink_directory("out/D/", &o, &s, &err), PERFILE_E_IO);
    assert_int_equal(perfile_sink_directory("out", &o, &s, &err), PERFILE_E_IO);
    assert_int_equal(pf_output_check("out/D/data", -1, inputs, 2, &err), PERFILE_E_IO);
    assert_int_equal(pf_output_check("out/new", -1, inputs, 2, &err), PERFILE_OK);

    assert_int_equal(perfile_sink_path("out/a", &o, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(link("out/in", "out/a"), 0);
    assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
    perfile_sink_close(s);
    assert_int_equal(perfile_sink_directory("out/b", &o, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(mkdir("out/b", 0777) || link("out/in", "out/b/data"), 0);
    assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
    perfile_sink_close(s);
    assert_int_equal(pf_output_check("out/b", -1, inputs, 2, &err), PERFILE_E_IO);

    assert_int_equal(perfile_sink_path("out/in", &replace, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_source_path("out/a", NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(pf_sink_add_inputs(s, &source->inputs, &err), PERFILE_E_IO);
    assert_int_equal(perfile_sink_write(s, bytes(0, 1), &err), PERFILE_E_IO);
    assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
    perfile_sink_close(s);
    perfile_source_close(source);

    int fd = open("out/in", O_WRONLY | O_APPEND);
    assert_int_equal(perfile_sink_fd(fd, "fd", &o, &s, &err), PERFILE_E_IO);
    assert_int_equal(pf_output_check(NULL, fd, inputs, 2, &err), PERFILE_E_IO);
    close(fd);
    assert_int_equal(system("[ \"$(cat out/in out/D/data | tr '\\n' .)\" = in.part. ]"), 0);
    assert_int_equal(names_in_out(), 4);
}

/* Every function with a source or stream and a sink sees to it by itself. */
static perfile_status convert(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    return closed_unless_ok(in, perfile_convert_capture(in, out, NULL, NULL, 0, err));
}

static perfile_status filter(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    return closed_unless_ok(in, perfile_filter_capture(in, out, NULL, NULL, NULL, 0, NULL, 0, err));
}

static perfile_status merge(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    perfile_merge_source one = {.source = in};
    return closed_unless_ok(in, perfile_merge_captures(&one, 1, out, NULL, NULL, 0, err));
}

static perfile_status recover(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    return closed_unless_ok(in, perfile_recover_capture(in, out, NULL, NULL, 0, err));
}

static perfile_status copy_sorted(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    const perfile_writer_options how = {
        .size = sizeof how, .byte_order = PERFILE_BYTE_ORDER_LITTLE, .as_stored = true};
    perfile_stream *s;
    perfile_writer *w;
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sort(s, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(out, &how, &w, NULL), PERFILE_OK);
    perfile_status st = perfile_copy(s, w, NULL, NULL, 0, err);
    perfile_writer_close(w);
    perfile_stream_close(s);
    return st;
}

static perfile_status dump(perfile_source *in, perfile_sink *out, perfile_error *err)
{
    perfile_stream *s;
    perfile_emitter *e = NULL;
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    perfile_status st = perfile_emitter_open("jsonl", s, out, NULL, &e, err);
    perfile_emitter_close(e);
    perfile_stream_close(s);
    return st;
}

static void a_source_and_a_sink_are_apart(void **state)
{
    (void)state;
    static perfile_status (*const functions[])(perfile_source *, perfile_sink *,
                                               perfile_error *) = {convert, filter,      merge,
                                                                   recover, copy_sorted, dump};
    assert_int_equal(system("cp \"$PERFILE_SOURCE/samples/captures/cpu-clock.data\" out/in &&"
                            "cp out/in same && chmod 600 out/in && ln -s in out/link"),
                     0);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        perfile_source *in;
        perfile_sink *out;
        perfile_error err = {0};
        assert_int_equal(perfile_source_path("out/in", NULL, &in, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_path("out/link", &replace, &out, NULL), PERFILE_OK);
        assert_int_equal(functions[i](in, out, &err), PERFILE_E_IO);
        assert_string_equal(err.where, "sink.inputs");
        assert_int_equal(perfile_sink_finish(out, NULL), PERFILE_E_IO);
        perfile_sink_close(out);

        struct stat sb;
        assert_int_equal(perfile_source_path("out/in", NULL, &in, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_path("out/new", NULL, &out, NULL), PERFILE_OK);
        assert_int_equal(functions[i](in, out, &err), PERFILE_OK);
        assert_int_equal(perfile_sink_finish(out, NULL), PERFILE_OK);
        perfile_sink_close(out);
        assert_int_equal(stat("out/new", &sb), 0);
        assert_int_equal(sb.st_mode & 0777, 0600);
        assert_int_equal(unlink("out/new"), 0);
    }
    assert_int_equal(system("cmp out/in same"), 0);
    assert_int_equal(names_in_out(), 2);
}

static void places_that_cannot_be_written_are_told(void **state)
{
    (void)state;
    perfile_sink *s;
    perfile_error err;
    assert_int_equal(perfile_sink_path("out/no/where", NULL, &s, &err), PERFILE_E_IO);
    assert_string_equal(err.message, "cannot create 'out/no/where': No such file or directory");
    assert_int_equal(perfile_sink_path("out", &replace, &s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EISDIR);
    assert_int_equal(perfile_sink_path("", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(perfile_sink_path(NULL, NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_fd(-1, "x", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EBADF);
    perfile_sink_options o = {.size = sizeof o, .flags = PERFILE_SINK_FOLDER};
    assert_int_equal(perfile_sink_path("out/a", &o, &s, &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "only a directory can be a folder");
    o = (perfile_sink_options){0};
    assert_int_equal(perfile_sink_path("out/a", &o, &s, &err), PERFILE_E_USAGE);
    o = (perfile_sink_options){.size = sizeof o, .flags = 1u << 31};
    assert_int_equal(perfile_sink_path("out/a", &o, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_callback(NULL, "x", &s, &err), PERFILE_E_USAGE);
    assert_int_equal(names_in_out(), 0);
    perfile_sink_close(NULL);

    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(perfile_sink_path("/dev/full", NULL, &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_write(s, bytes(0, 100), NULL), PERFILE_OK); /* buffered */
        assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
        assert_int_equal(err.sys, ENOSPC);
        perfile_sink_close(s);
    }
}

/* A name as long as a file system allows leaves no room for what the temporary name adds. */
static void the_longest_name(void **state)
{
    (void)state;
    char path[4 + 256] = "out/";
    perfile_sink *s;
    memset(path + 4, 'n', 255);
    path[4 + 255] = 0;
    assert_int_equal(perfile_sink_path(path, NULL, &s, NULL), PERFILE_OK);
    write_all(s);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    file_holds(path, N);
    assert_int_equal(names_in_out(), 1);
}

/* Files of a set. */

static const char *const set_names[] = {"out/one", "out/two", "out/three"};

static const char *set_name(void *user, uint32_t n)
{
    (void)user;
    return set_names[n];
}

/* A set of files of `n` bytes each, which have no names yet. */
static pf_out_set *made_set(bool replaces, size_t n)
{
    const pf_inputs none = {0};
    pf_out_set *set;
    assert_int_equal(pf_out_set_new("out/%d", "perfile", replaces, &none, &set, NULL), PERFILE_OK);
    for (uint32_t i = 0; i < 3; i++) {
        perfile_sink *s;
        assert_int_equal(pf_out_set_check_name(set, set_names[i], NULL), PERFILE_OK);
        assert_int_equal(pf_out_set_next(set, set_names[i], &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_write(s, bytes(0, n), NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
        perfile_sink_close(s);
    }
    return set;
}

/* If something was made under the name of one of several files while they were written, none of
 * them has its name, and what had these names before has them again. */
static void files_of_a_set_appear_all_or_none(void **state)
{
    (void)state;
    perfile_error err;
    pf_out_set *set = made_set(false, 10);
    assert_int_equal(pf_out_set_appear(set, set_name, NULL, &err), PERFILE_OK);
    pf_out_set_close(set);
    for (size_t i = 0; i < 3; i++)
        file_holds(set_names[i], 10);
    assert_int_equal(names_in_out(), 3);

    /* Replacing: the name of the third becomes that of a directory. */
    set = made_set(true, 20);
    assert_int_equal(unlink("out/three"), 0);
    assert_int_equal(mkdir("out/three", 0777), 0);
    assert_int_equal(mkdir("out/three/inside", 0777), 0);
    assert_int_equal(pf_out_set_appear(set, set_name, NULL, &err), PERFILE_E_IO);
    assert_string_equal(err.message, "cannot create 'out/three': File exists");
    pf_out_set_close(set);
    file_holds("out/one", 10);
    file_holds("out/two", 10);
    assert_int_equal(access("out/three/inside", F_OK), 0);
    assert_int_equal(names_in_out(), 3);

    /* Not replacing: the name of the second is taken. */
    assert_int_equal(system("rm -rf out && mkdir out"), 0);
    set = made_set(false, 20);
    assert_int_equal(system("echo other >out/two"), 0);
    assert_int_equal(pf_out_set_check_name(set, "out/two", &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EEXIST);
    assert_int_equal(pf_out_set_appear(set, set_name, NULL, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EEXIST);
    assert_string_equal(err.message, "cannot create 'out/two': File exists");
    pf_out_set_close(set);
    assert_int_equal(access("out/one", F_OK), -1);
    assert_int_equal(system("[ $(cat out/two) = other ]"), 0);
    assert_int_equal(names_in_out(), 1);
}

/* Files of a directory have names of files of a capture, each once. */
static void names_of_files_in_a_directory(void **state)
{
    (void)state;
    const perfile_sink_options o = {.size = sizeof o, .flags = PERFILE_SINK_SYNC};
    perfile_sink *s, *part;
    perfile_error err;
    assert_int_equal(perfile_sink_directory("out/dir", &o, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_sink_name_file(s, 1, "../a", &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "'../a' is not what a file is called in an output");
    assert_int_equal(pf_sink_name_file(s, 1, "other", &err), PERFILE_E_USAGE);
    assert_int_equal(pf_sink_name_file(s, UINT32_MAX, "data.5", &err), PERFILE_E_LIMIT);
    assert_int_equal(pf_sink_name_file(s, 0, "a.0.0.cpuperf", &err), PERFILE_OK);
    assert_int_equal(pf_sink_name_file(s, 1, "a.0.1.cpuperf", &err), PERFILE_OK);
    assert_int_equal(pf_sink_part(s, 0, &part, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_write(part, bytes(0, 10), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_name_file(s, 1, "a.0.2.cpuperf", &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "'a.0.2.cpuperf' is written already");
    assert_int_equal(perfile_sink_write(s, bytes(0, 20), NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    file_holds("out/dir/a.0.0.cpuperf", 20);
    file_holds("out/dir/a.0.1.cpuperf", 10);
    assert_int_equal(system("[ $(ls -A out/dir | wc -l) = 2 ]"), 0);
}

static void a_closed_pipe_is_a_lasting_error(void **state)
{
    (void)state;
    int p[2];
    assert_int_equal(pipe(p), 0);
    perfile_sink *s;
    perfile_error err;
    uint8_t *to = NULL;
    assert_int_equal(perfile_sink_fd(p[1], "pipe", NULL, &s, NULL), PERFILE_OK);
    close(p[0]);
    assert_int_equal(perfile_sink_write(s, bytes(0, 10), NULL), PERFILE_OK);
    for (int i = 0; i < 2; i++) {
        memset(&err, 0, sizeof err);
        assert_int_equal(perfile_sink_flush(s, &err), PERFILE_E_IO);
        assert_int_equal(err.sys, EPIPE);
        assert_string_equal(err.message, "cannot write 'pipe': Broken pipe");
        assert_int_equal(perfile_sink_write(s, bytes(0, 1), &err), PERFILE_E_IO);
        assert_int_equal(pf_sink_reserve(s, 1, &to), PERFILE_E_IO);
        assert_int_equal(pf_sink_status(s, &err), PERFILE_E_IO);
        assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
    }
    perfile_sink_close(s);
    assert_int_equal(close(p[1]), 0);
}

static volatile sig_atomic_t interruptions;

static void interrupted(int signal_number)
{
    (void)signal_number;
    interruptions++;
}

/* Every `usec` microseconds a signal that makes system calls fail with EINTR; 0 ends that. */
static void interrupt_every(suseconds_t usec)
{
    struct sigaction sa = {.sa_handler = interrupted}; /* no SA_RESTART */
    assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
    struct itimerval t = {.it_interval = {0, usec}, .it_value = {0, usec}};
    assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
    if (!usec)
        assert_true(signal(SIGALRM, SIG_DFL) != SIG_ERR);
}

static void pipes_take_all(void **state)
{
    (void)state;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        int p[2];
        assert_int_equal(pipe(p), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (!pid) {
            static uint8_t got[4096];
            close(p[1]);
            size_t at = 0;
            ssize_t n;
            while ((n = read(p[0], got, 1 + random_below(sizeof got))) > 0) {
                if (at + (size_t)n > N || memcmp(got, data + at, (size_t)n) != 0)
                    _exit(1);
                at += (size_t)n;
            }
            _exit(at != N);
        }
        close(p[0]);
        if (nonblocking)
            assert_int_equal(fcntl(p[1], F_SETFL, O_NONBLOCK), 0);
        perfile_sink *s;
        perfile_sink_options o = {.size = sizeof o,
                                  .flags = PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL};
        assert_int_equal(perfile_sink_fd(p[1], "pipe", &o, &s, NULL), PERFILE_OK);
        assert_false(pf_sink_can_patch(s));
        interrupt_every(100);
        write_all(s);
        interrupt_every(0);
        assert_int_equal(pf_sink_patch(s, 0, bytes(0, 1), NULL), PERFILE_E_USAGE);
        assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
        perfile_sink_close(s);
        close(p[1]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(interruptions > 0);
}

static void memory(void **state)
{
    (void)state;
    perfile_sink *s;
    assert_int_equal(perfile_sink_memory("m", &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_bytes(s).len, 0);
    write_all(s);
    assert_int_equal(perfile_sink_bytes(s).len, N);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    assert_memory_equal(perfile_sink_bytes(s).ptr, data, N);
    perfile_sink_close(s);
}

typedef struct taker {
    size_t at;
    int flushed, closed;
    int64_t answer;
} taker;

static int64_t take(void *user, const void *b, size_t len)
{
    taker *t = user;
    if (t->answer)
        return t->answer;
    size_t n = 1 + random_below(5000);
    if (n > len)
        n = len;
    assert_true(t->at + n <= N);
    assert_memory_equal(b, data + t->at, n);
    t->at += n;
    return (int64_t)n;
}

static int take_flush(void *user)
{
    ((taker *)user)->flushed++;
    return 0;
}

static void take_close(void *user)
{
    ((taker *)user)->closed++;
}

static void callbacks(void **state)
{
    (void)state;
    taker t = {0};
    perfile_sink_callbacks c = {
        .size = sizeof c, .user = &t, .write = take, .flush = take_flush, .close = take_close};
    perfile_sink *s;
    assert_int_equal(perfile_sink_callback(&c, "taker", &s, NULL), PERFILE_OK);
    write_all(s);
    int before = t.flushed;
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    assert_int_equal(t.flushed, before + 1);
    assert_int_equal(t.at, N);
    assert_int_equal(perfile_sink_bytes(s).len, 0);
    perfile_sink_close(s);
    assert_int_equal(t.closed, 1);

    static const int64_t answers[] = {-ENOSPC, -EINTR, INT64_MIN, INT64_MAX, 11};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        t = (taker){.answer = answers[i]};
        perfile_error err;
        assert_int_equal(perfile_sink_callback(&c, "taker", &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_write(s, bytes(0, 10), NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_finish(s, &err), PERFILE_E_IO);
        assert_int_equal(err.sys, i < 2 ? (int)-answers[i] : EIO);
        perfile_sink_close(s);
    }
}

/* Holes are left while writing and filled afterwards. */
static void patch_all(perfile_sink *s, size_t skip)
{
    static uint8_t holed[N];
    memcpy(holed, data, N);
    memset(holed, 0, 104);
    memset(holed + 700000, 0, 300000);
    memset(holed + 1200000, 0, 250000); /* the end of it is still in the buffer */
    memset(holed + N - 5, 0, 5);
    assert_true(pf_sink_can_patch(s));
    for (size_t at = skip; at < N; at += 1000)
        assert_int_equal(perfile_sink_write(s, (perfile_bytes){holed + at, 1000}, NULL),
                         PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, N - skip - 5, bytes(N - 5, 5), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, 1200000 - skip, bytes(1200000, 250000), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, 700000 - skip, bytes(700000, 300000), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, 0, bytes(skip, 104), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, N - skip, bytes(0, 0), NULL), PERFILE_OK);
    assert_int_equal(pf_sink_patch(s, N - skip, bytes(0, 1), NULL), PERFILE_E_USAGE);
    assert_int_equal(pf_sink_patch(s, UINT64_MAX, bytes(0, 1), NULL), PERFILE_E_USAGE);
}

static void written_bytes_can_be_replaced(void **state)
{
    (void)state;
    perfile_sink *s;
    assert_int_equal(perfile_sink_path("out/a", NULL, &s, NULL), PERFILE_OK);
    patch_all(s, 0);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    file_holds("out/a", N);

    assert_int_equal(perfile_sink_memory("m", &s, NULL), PERFILE_OK);
    patch_all(s, 0);
    assert_memory_equal(perfile_sink_bytes(s).ptr, data, N);
    perfile_sink_close(s);

    /* A descriptor that does not stand at the beginning of its file. */
    int fd = open("out/b", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, data, 1000), 1000);
    assert_int_equal(perfile_sink_fd(fd, "b", NULL, &s, NULL), PERFILE_OK);
    patch_all(s, 1000);
    assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_OK);
    perfile_sink_close(s);
    assert_int_equal(close(fd), 0);
    file_holds("out/b", N);

    fd = open("out/b", O_WRONLY | O_APPEND);
    assert_int_equal(perfile_sink_fd(fd, "b", NULL, &s, NULL), PERFILE_OK);
    assert_false(pf_sink_can_patch(s));
    perfile_sink_close(s);
    assert_int_equal(close(fd), 0);
}

static perfile_status all_kinds(void)
{
    perfile_sink *s;
    taker t = {0};
    perfile_sink_callbacks c = {.size = sizeof c, .user = &t, .write = take};
    for (int kind = 0; kind < 3; kind++) {
        perfile_status st = kind == 0   ? perfile_sink_path("out/link", &replace, &s, NULL)
                            : kind == 1 ? perfile_sink_callback(&c, "taker", &s, NULL)
                                        : perfile_sink_memory("m", &s, NULL);
        if (st != PERFILE_OK)
            return st;
        uint8_t *to = NULL;
        st = pf_sink_reserve(s, 600000, &to);
        if (st == PERFILE_OK) {
            memcpy(to, data, 600000);
            pf_sink_commit(s, 600000);
            st = perfile_sink_finish(s, NULL);
        } else {
            assert_int_equal(perfile_sink_finish(s, NULL), PERFILE_E_NOMEM); /* it is kept */
        }
        perfile_sink_close(s);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(system("echo old >out/file && ln -s file out/link"), 0);
    uint64_t first = pf_alloc_count;
    assert_int_equal(all_kinds(), PERFILE_OK);
    uint64_t n = pf_alloc_count - first;
    assert_true(n > 8);
    for (uint64_t i = 1; i <= n; i++) {
        pf_alloc_fail_at = pf_alloc_count + i;
        assert_int_equal(all_kinds(), PERFILE_E_NOMEM);
        assert_int_equal(names_in_out(), 2);
    }
    pf_alloc_fail_at = 0;
}

/* A directory in memory: `data` is the sink's own bytes, data.0 and data.1 are its parts. */
enum { KEPT_PARTS = 3 };

typedef struct kept_sink {
    perfile_sink base;
    perfile_sink *parts[KEPT_PARTS];
    uint32_t n_parts;
} kept_sink;

static perfile_status kept_part(perfile_sink *s, uint32_t file, const char *name,
                                perfile_sink **part, perfile_error *err)
{
    const uint32_t n = file - 1; /* 0 is the sink itself */
    assert_null(name);
    kept_sink *k = (kept_sink *)s;
    assert_true(n < KEPT_PARTS);
    if (!k->parts[n])
        assert_int_equal(perfile_sink_memory("part", &k->parts[n], err), PERFILE_OK);
    k->n_parts = n < k->n_parts ? k->n_parts : n + 1;
    *part = k->parts[n];
    return PERFILE_OK;
}

static void kept_close(perfile_sink *s)
{
    for (size_t i = 0; i < KEPT_PARTS; i++)
        perfile_sink_close(((kept_sink *)s)->parts[i]);
}

/* The same to read: the names are listed the wrong way round. */
typedef struct kept_source {
    perfile_source base;
    const kept_sink *kept;
} kept_source;

static perfile_status no_bytes(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                               perfile_error *err)
{
    (void)s, (void)offset, (void)need, (void)run, (void)err;
    return PERFILE_E_IO;
}

static perfile_status kept_list(const perfile_source *s, const char *prefix, pf_buffer *names,
                                size_t *n, perfile_error *err)
{
    (void)err;
    assert_string_equal(prefix, "data.");
    for (uint32_t i = ((const kept_source *)s)->kept->n_parts; i-- > 0; ++*n) {
        char name[32];
        int len = snprintf(name, sizeof name, "data.%u", (unsigned)i);
        assert_true(pf_buffer_append(names, name, (size_t)len + 1));
    }
    return PERFILE_OK;
}

static perfile_status kept_entry(const perfile_source *s, const char *entry,
                                 perfile_source **source, perfile_error *err)
{
    const kept_sink *k = ((const kept_source *)s)->kept;
    const perfile_sink *one = strcmp(entry, "data") == 0 ? &k->base : k->parts[atoi(entry + 5)];
    return perfile_source_memory(perfile_sink_bytes(one), entry, source, err);
}

static void a_directory_is_whatever_has_parts(void **state)
{
    (void)state;
    static const pf_sink_ops sink_ops = {.part = kept_part, .close = kept_close};
    static const pf_source_ops source_ops = {
        .run = no_bytes, .list = kept_list, .entry = kept_entry};
    const perfile_writer_options o = {
        .size = sizeof o, .form = PERFILE_FORM_FILE, .directory = true};
    perfile_sink *dir, *part = NULL;
    kept_sink *k;
    kept_source *from;
    perfile_stream *s[2];
    perfile_error err;

    assert_int_equal(perfile_sink_memory("m", &dir, NULL), PERFILE_OK);
    assert_false(pf_sink_has_parts(dir));
    assert_int_equal(pf_sink_part(dir, 0, &part, &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "'m' is not a directory");
    perfile_sink_close(dir);

    assert_int_equal(perfile_sink_directory("out/dir", NULL, &dir, NULL), PERFILE_OK);
    assert_true(pf_sink_has_parts(dir));
    assert_int_equal(pf_sink_part(dir, UINT32_MAX, &part, &err), PERFILE_E_LIMIT);
    assert_int_equal(written(dir, &o, 100, &err), PERFILE_OK);
    perfile_sink_close(dir);

    assert_int_equal(pf_sink_new(sizeof *k, &sink_ops, "kept", NULL, 0, &k, NULL), PERFILE_OK);
    k->base.patchable = true;
    assert_true(pf_sink_has_parts(&k->base));
    assert_int_equal(written(&k->base, &o, 100, &err), PERFILE_OK);
    assert_true(k->n_parts > 1);

    assert_int_equal(pf_source_new(sizeof *from, &source_ops, "kept", NULL, &from, NULL),
                     PERFILE_OK);
    from->kept = k;
    from->base.seekable = true;
    assert_int_equal(perfile_open(&from->base, NULL, &s[0], &err), PERFILE_OK);
    assert_int_equal(perfile_open_path("out/dir", NULL, &s[1], &err), PERFILE_OK);
    size_t n = 0;
    for (perfile_status st = PERFILE_OK; st == PERFILE_OK; n++) {
        const perfile_record *r[2];
        st = perfile_stream_next(s[0], &r[0], NULL);
        assert_int_equal(perfile_stream_next(s[1], &r[1], NULL), st);
        if (st != PERFILE_OK)
            break;
        assert_int_equal(r[0]->part, r[1]->part);
        assert_int_equal(r[0]->type, r[1]->type);
        assert_int_equal(r[0]->body.len, r[1]->body.len);
        assert_memory_equal(r[0]->body.ptr, r[1]->body.ptr, r[0]->body.len);
    }
    assert_true(n > 100);
    perfile_stream_close(s[0]);
    perfile_stream_close(s[1]);
    perfile_sink_close(&k->base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_appears_when_it_is_finished, fresh),
        cmocka_unit_test_setup(an_unfinished_file_leaves_nothing, fresh),
        cmocka_unit_test_setup(what_was_given_up_is_gone, fresh),
        cmocka_unit_test_setup(an_existing_file_is_not_touched, fresh),
        cmocka_unit_test_setup(links_are_followed, fresh),
        cmocka_unit_test_setup(others_fifos_and_devices_are_refused, fresh),
        cmocka_unit_test_setup(an_input_is_never_replaced, fresh),
        cmocka_unit_test_setup(a_source_and_a_sink_are_apart, fresh),
        cmocka_unit_test_setup(places_that_cannot_be_written_are_told, fresh),
        cmocka_unit_test_setup(the_longest_name, fresh),
        cmocka_unit_test_setup(files_of_a_set_appear_all_or_none, fresh),
        cmocka_unit_test_setup(names_of_files_in_a_directory, fresh),
        cmocka_unit_test(a_closed_pipe_is_a_lasting_error),
        cmocka_unit_test(pipes_take_all),
        cmocka_unit_test(memory),
        cmocka_unit_test(callbacks),
        cmocka_unit_test_setup(written_bytes_can_be_replaced, fresh),
        cmocka_unit_test_setup(a_directory_is_whatever_has_parts, fresh),
        cmocka_unit_test_setup(every_allocation_may_fail, fresh),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
