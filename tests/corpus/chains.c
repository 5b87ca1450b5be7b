/* sort, filter, merge and split in every order: as stages on one another in one process they give
 * byte for byte what the commands give that run one after the other with files between.
 *
 * Every order of one to four of them is tried on each capture, 64 in all.  Where one of the
 * commands refuses, the stages do.
 *
 * A pipe is only written where no merge comes before another stage: in a pipe features are records,
 * which a filter leaves as they are; what a merge hands on has them beside the records.
 *
 * Captures with an attr that does not say its size right are not merged: written, it is put right,
 * and is another one than that of the capture beside it.
 *
 * The usual run takes one capture of several; with the argument `all` it takes all of them, with
 * another one those that have it in their path.  A number behind that chooses other filters. */
#include "../testing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"
#include "schema/rows.h"
#include "lib/command.h"

enum { SORT, FILTER, MERGE, SPLIT, N_OPS };
enum {
    NODES = 1 + 4 + 12 + 24 + 24,
    PARTS = 8,
    MOST = 4096, /* things to be closed */
    SAMPLE = 12, /* of so many captures one is taken */
    SMALL = 300 << 10,
    MOST_BYTES = 24 << 20
};

static const char letters[] = "sfmp";

/* What comes of the stages of `below` and one more, or of the capture itself. */
typedef struct node {
    const struct node *below; /* NULL: the capture */
    int op;
    unsigned used; /* ops that are in it, by bit */
    char name[8];
    bool refused;         /* by the command */
    unsigned n;           /* outputs: several of a split, and what is made of these */
    perfile_bytes *parts; /* of a split: made with stages */
} node;

/* A capture, and what is asked of it. */
static struct trial {
    const char *path;
    bool pipe;
    bool bad_attr;
    const char *option, *value; /* of filter */
    perfile_filter_term term;
    uint64_t every;
    uint64_t records; /* a part of split */
    char records_text[24];
} trial;

static node nodes[NODES];
static unsigned n_nodes;
static unsigned compared, different, refused, n_seen, n_tried, step = SAMPLE;
static unsigned seed;
static bool whole;
static const char *only; /* captures with that in their path */

/* What is open; closed in the reverse order of that in which it was opened. */
static struct closing {
    perfile_stream *stream;
    perfile_filter_state *filter;
} closing[MOST];
static unsigned n_closing;

static void close_to(unsigned n)
{
    while (n_closing > n) {
        const struct closing *c = &closing[--n_closing];
        perfile_stream_close(c->stream);
        perfile_filter_close(c->filter);
    }
}

static void close_later(perfile_stream *s, perfile_filter_state *filter)
{
    assert_true(n_closing < MOST);
    closing[n_closing++] = (struct closing){s, filter};
}

/* The commands. */

extern char **environ;

static int run(const char *const *args)
{
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn_file_actions_init(&quiet), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0), 0);
    assert_int_equal(
        posix_spawn(&pid, args[0], &quiet, NULL, (char *const *)(uintptr_t)args, environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The file that the commands made of output `i`. */
static const char *file_of(const node *x, unsigned i, char name[4096])
{
    if (!x->below)
        return trial.path;
    snprintf(name, 4096, "%s-%u.data", x->name, i);
    return name;
}

static bool run_op(node *x, unsigned i)
{
    char in[PARTS][4096], out[4096];
    const char *perfile = getenv("PERFILE");
    const char *args[24] = {perfile, NULL};
    unsigned n = 1;
    static const char *const words[] = {"sort", "filter", "merge", "split"};
    args[n++] = words[x->op];
    args[n++] = "-f";
    args[n++] = "--decompress"; /* as the writer of the stages, which has no options */
    if (x->op == FILTER) {
        args[n++] = trial.option;
        args[n++] = trial.value;
    }
    if (x->op == SPLIT) {
        args[n++] = "--records";
        args[n++] = trial.records_text;
        snprintf(out, sizeof out, "%s-%%d.data", x->name);
    } else {
        (void)file_of(x, i, out);
    }
    if (!trial.pipe) { /* of a directory, too */
        args[n++] = "--to";
        args[n++] = "perf.data";
    }
    args[n++] = "-o";
    args[n++] = out;
    for (unsigned k = 0; k < x->below->n; k++)
        if (x->op == MERGE || k == i)
            args[n++] = file_of(x->below, k, in[k]);
    if (x->op == MERGE && x->below->n == 1)
        args[n++] = trial.path;
    const int status = run(args);
    return status == 0 || status == 3;
}

static void run_commands(node *x)
{
    char name[4096];
    unsigned n = x->op == MERGE || x->op == SPLIT ? 1 : x->below->n;
    for (unsigned i = 0; i < PARTS; i++)
        (void)unlink(file_of(x, i, name)); /* of another capture */
    for (unsigned i = 0; i < n && !x->refused; i++)
        x->refused = !run_op(x, i);
    x->n = n;
    if (x->op == SPLIT && !x->refused)
        for (x->n = 0; x->n < PARTS && access(file_of(x, x->n, name), F_OK) == 0;)
            x->n++;
}

/* The stages. */

static perfile_status open_output(const node *x, unsigned i, perfile_stream **s,
                                  perfile_error *err);

static perfile_status open_capture(perfile_stream **s, perfile_error *err)
{
    const perfile_open_options how = {.size = sizeof how};
    return perfile_open_path(trial.path, &how, s, err);
}

static perfile_status open_filter(const node *x, unsigned i, perfile_stream **s, perfile_error *err)
{
    const perfile_filter_options how = {.size = sizeof how,
                                        .n_terms = trial.every ? 0 : 1,
                                        .terms = &trial.term,
                                        .every = trial.every};
    perfile_filter_state *filter;
    perfile_status st = perfile_filter_open(&how, &filter, err);
    if (st != PERFILE_OK)
        return st;
    close_later(NULL, filter);
    for (unsigned pass = 0; pass < 2 && perfile_filter_wants_pass(filter, NULL); pass++) {
        perfile_stream *again;
        st = open_output(x->below, i, &again, err);
        if (st != PERFILE_OK)
            return st;
        close_later(again, NULL);
        st = perfile_filter_learn(filter, again, err);
        if (st != PERFILE_OK)
            return st;
    }
    st = open_output(x->below, i, s, err);
    if (st == PERFILE_OK && (st = perfile_filter(*s, filter, s, err)) != PERFILE_OK)
        perfile_stream_close(*s);
    return st;
}

static perfile_status open_sorted(const node *x, unsigned i, perfile_stream **s, perfile_error *err)
{
    perfile_status st = open_output(x, i, s, err);
    if (st == PERFILE_OK && (st = perfile_sort(*s, NULL, s, err)) != PERFILE_OK)
        perfile_stream_close(*s);
    return st;
}

static perfile_status open_merge(const node *x, perfile_stream **s, perfile_error *err)
{
    perfile_merge_input in[PARTS + 1] = {{0}};
    char names[PARTS + 1][4096];
    unsigned n = 0;
    perfile_status st = PERFILE_OK;
    const unsigned of_below = x->below->n;
    for (; n < of_below + (of_below == 1) && st == PERFILE_OK; n += st == PERFILE_OK) {
        const bool capture = n == of_below;
        in[n].name = capture ? trial.path : file_of(x->below, n, names[n]);
        st = open_sorted(capture ? &nodes[0] : x->below, capture ? 0 : n, &in[n].stream, err);
    }
    if (st == PERFILE_OK)
        st = perfile_merge(in, n, NULL, s, err);
    for (unsigned i = 0; i < n && st != PERFILE_OK; i++)
        perfile_stream_close(in[i].stream);
    return st;
}

static perfile_status open_output(const node *x, unsigned i, perfile_stream **s, perfile_error *err)
{
    perfile_source *source;
    perfile_status st;
    if (!x->below)
        return open_capture(s, err);
    switch (x->op) {
    case SORT:
        return open_sorted(x->below, i, s, err);
    case FILTER:
        return open_filter(x, i, s, err);
    case MERGE:
        return open_merge(x, s, err);
    default:
        st = perfile_source_memory(x->parts[i], "part", &source, err);
        if (st == PERFILE_OK && (st = perfile_open(source, NULL, s, err)) != PERFILE_OK)
            perfile_source_close(source);
        return st;
    }
}

static perfile_status open_below(void *user, perfile_stream **s, perfile_error *err)
{
    const node *x = user;
    return open_output(x->below, 0, s, err);
}

static perfile_status open_part(void *user, const perfile_split_part *part, perfile_sink **sink,
                                perfile_error *err)
{
    (void)user;
    (void)part;
    return perfile_sink_memory("part", sink, err);
}

static void end_part(void *user, const perfile_split_part *part, perfile_sink *sink)
{
    node *x = user;
    void *bytes;
    size_t len;
    assert_int_equal(sink_copy(sink, &bytes, &len), PERFILE_OK);
    perfile_sink_close(sink);
    if (part->number < x->n)
        x->parts[part->number] = (perfile_bytes){bytes, len};
    else
        free(bytes);
}

static perfile_status make_parts(node *x, perfile_error *err)
{
    const perfile_split_options how = {
        .size = sizeof how, .by = PERFILE_SPLIT_RECORDS, .amount = trial.records};
    const perfile_split_capture_options writing = {.size = sizeof writing,
                                                   .compress_level = PERFILE_COMPRESS_NONE,
                                                   .form = trial.pipe ? PERFILE_FORM_PIPE
                                                                      : PERFILE_FORM_FILE,
                                                   .open = open_part,
                                                   .done = end_part,
                                                   .user = x};
    perfile_split_summary sum = {0};
    x->parts = calloc(PARTS, sizeof *x->parts);
    assert_non_null(x->parts);
    perfile_status st = pf_split_stream(open_below, x, &how, &writing, &sum, sizeof sum, err);
    close_to(0);
    if (st == PERFILE_OK && !x->refused && sum.parts != x->n) {
        print_error("%s: %s: %" PRIu64 " parts, the command made %u\n", trial.path, x->name,
                    sum.parts, x->n);
        different++;
    }
    return st;
}

/* What a command would write of that output. */
static perfile_status write_output(const node *x, unsigned i, perfile_sink *sink,
                                   perfile_error *err)
{
    perfile_stream *s;
    perfile_writer *w;
    perfile_status st = open_output(x, i, &s, err);
    if (st != PERFILE_OK) {
        close_to(0);
        return st;
    }
    const perfile_copy_options copying = {.size = sizeof copying, .flags = PERFILE_COPY_FORCE};
    const perfile_writer_options how = {.size = sizeof how,
                                        .as_stored = true,
                                        .form = trial.pipe ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
                                        .byte_order =
                                            perfile_session_byte_order(perfile_stream_session(s))};
    st = perfile_writer_open(sink, &how, &w, err);
    if (st == PERFILE_OK) {
        st = perfile_copy(s, w, &copying, NULL, 0, err);
        perfile_writer_close(w);
    }
    perfile_stream_close(s);
    close_to(0);
    return st;
}

/* The two. */

static void equal_file(const node *x, unsigned i, perfile_bytes made)
{
    char name[4096];
    size_t len = 0;
    FILE *f = fopen(file_of(x, i, name), "rb");
    assert_non_null(f);
    uint8_t *bytes = malloc(made.len + 1);
    assert_non_null(bytes);
    len = fread(bytes, 1, made.len + 1, f);
    fclose(f);
    if (len != made.len || memcmp(bytes, made.ptr, len) != 0) {
        size_t at = 0;
        while (at < len && at < made.len && bytes[at] == made.ptr[at])
            at++;
        snprintf(name, sizeof name, "%s-%u.stages", x->name, i);
        f = fopen(name, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(made.ptr, 1, made.len, f), made.len);
        fclose(f);
        print_error("%s: %s, output %u: %zu bytes, not %s%zu of the command; the first at %zu\n",
                    trial.path, x->name, i, made.len, len > made.len ? "the more than " : "the ",
                    len, at);
        different++;
    }
    free(bytes);
    compared++;
}

static void compare(node *x)
{
    perfile_error err = {0};
    bool failed = false;
    if (x->op == SPLIT)
        failed = make_parts(x, &err) != PERFILE_OK;
    for (unsigned i = 0; i < x->n && !failed; i++) {
        perfile_sink *sink;
        if (x->op == SPLIT) {
            if (!x->refused)
                equal_file(x, i, x->parts[i]);
            continue;
        }
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        failed = write_output(x, i, sink, &err) != PERFILE_OK;
        if (!failed && !x->refused)
            equal_file(x, i, perfile_sink_bytes(sink));
        perfile_sink_close(sink);
    }
    if (failed != x->refused) {
        print_error("%s: %s: %s, but %s\n", trial.path, x->name,
                    x->refused ? "the command refuses" : "the command does it",
                    failed ? err.message : "the stages do it");
        different++;
    }
    refused += failed;
}

/* What differs for a reason: see the top. */
static bool makes_sense(const node *x, int op)
{
    return !x->refused && !(x->used >> op & 1) && !(op == SPLIT && x->n > 1) &&
           !(trial.pipe && x->used >> MERGE & 1) && !(trial.bad_attr && op == MERGE);
}

static void try_orders(void)
{
    n_nodes = 1;
    nodes[0] = (node){.n = 1};
    for (unsigned at = 0; at < n_nodes; at++) {
        for (int op = 0; op < N_OPS; op++) {
            if (!makes_sense(&nodes[at], op))
                continue;
            node *x = &nodes[n_nodes++];
            *x = (node){.below = &nodes[at], .op = op, .used = nodes[at].used | 1U << op};
            memcpy(x->name, nodes[at].name, sizeof x->name);
            x->name[strlen(x->name)] = letters[op];
            run_commands(x);
            compare(x);
        }
    }
    for (unsigned k = 0; k < n_nodes; k++) {
        for (unsigned i = 0; i < PARTS && nodes[k].parts; i++)
            free((void *)(uintptr_t)nodes[k].parts[i].ptr);
        free(nodes[k].parts);
    }
}

/* Terms that keep some of the samples, another one for each capture. */
static void choose_filter(unsigned n)
{
    static const struct {
        const char *option, *value;
        uint32_t kind;
        uint64_t every;
    } all[] = {{"--every", "3", 0, 3},
               {"--cpu", "0", PERFILE_FILTER_BY_CPU, 0},
               {"--time", "20%..70%", PERFILE_FILTER_BY_TIME, 0},
               {"--where", "ip & 1 == 0", PERFILE_FILTER_BY_WHERE, 0},
               {"--comm", "*e*", PERFILE_FILTER_BY_COMM, 0},
               {"--type", "SAMPLE,MMAP2", PERFILE_FILTER_BY_TYPE, 0}};
    const size_t i = (n + seed) % (sizeof all / sizeof all[0]);
    trial.option = all[i].option;
    trial.value = all[i].value;
    trial.every = all[i].every;
    trial.term = (perfile_filter_term){.kind = all[i].kind, .text = all[i].value};
}

static void try_capture(const char *path, perfile_stream *s)
{
    const perfile_record *first;
    size_t n;
    uint64_t records = 0;
    struct stat st;
    const bool own = strstr(path, "/samples/captures/") != NULL;
    assert_int_equal(stat(path, &st), 0);
    if (only && !strstr(path, only))
        return;
    const unsigned one_of = own && !whole ? (step + 3) / 4 : step;
    if (st.st_size > (whole ? MOST_BYTES : SMALL) || n_seen++ % one_of ||
        perfile_stream_container(s)->family != PERFILE_FAMILY_PERF)
        return; /* the commands are told to write perf.data */
    n_tried++;
    while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK)
        for (size_t i = 0; i < n; i++)
            records += first[i].family == PERFILE_FAMILY_PERF &&
                       !(first[i].flags & PERFILE_REC_ENVELOPE) &&
                       pf_role_of(&first[i]) == PF_ROLE_DATA;
    trial = (struct trial){.path = path,
                           .pipe = perfile_stream_container(s)->form == PERFILE_FORM_PIPE,
                           .records = records / 3 + 1};
    const perfile_session *session = perfile_stream_session(s);
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++)
        trial.bad_attr |= perfile_session_event(session, i)->damage != 0;
    snprintf(trial.records_text, sizeof trial.records_text, "%" PRIu64, trial.records);
    choose_filter(n_seen);
    try_orders();
}

/* The file `data` of a directory is tried as that directory. */
static void on_capture(const char *path, perfile_stream *s)
{
    char directory[4096];
    const char *name = strrchr(path, '/');
    perfile_stream *all;
    if (!name || strcmp(name, "/data") != 0) {
        try_capture(path, s);
        return;
    }
    snprintf(directory, sizeof directory, "%.*s", (int)(name - path), path);
    assert_int_equal(perfile_open_path(directory, NULL, &all, NULL), PERFILE_OK);
    try_capture(directory, all);
    perfile_stream_close(all);
}

static void stages_are_the_commands(void **state)
{
    (void)state;
    (void)recorded_each(on_capture);
    printf("%u of %u captures, %u outputs are equal, %u orders were refused by both\n", n_tried,
           n_seen, compared, refused);
    assert_int_equal(different, 0);
    assert_true(only || compared > (step > SAMPLE ? 100U : 300U));
}

int main(int argc, char **argv)
{
    whole = argc > 1;
    only = whole && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    if (whole)
        step = 1;
    else if (getenv("PERFILE_EVERY") && strtoul(getenv("PERFILE_EVERY"), NULL, 10) > 1)
        step *= 8; /* under sanitizers */
    if (argc > 2)
        seed = (unsigned)strtoul(argv[2], NULL, 10);
    if (!getenv("PERFILE") || access(getenv("PERFILE"), X_OK) != 0) {
        printf("the command was not built\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_are_the_commands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
