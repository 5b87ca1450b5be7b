/* perfile_profile_…(): samples counted by file, function and caller.  Captures are built here, and
 * the rows compared with those that they must give. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/layout.h"
#include "exporting.h"
#include "report/command.h"

/* Puts a capture into a profile; the status of the first thing that fails.  The profile stays open
 * behind the capture: its texts are its own. */
static perfile_status profile_of(const builder *capture, const perfile_profile_options *options,
                                 const perfile_limits *limits, perfile_profile **profile)
{
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    perfile_error err;
    *profile = NULL;
    perfile_status st = open_capture(built(capture), limits, &s, &model);
    assert_int_equal(st, PERFILE_OK);
    st = perfile_profile_open(perfile_stream_session(s), model, options, profile, &err);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, &err)) == PERFILE_OK)
        st = perfile_profile_put_run(*profile, first, n, &err);
    if (st == PERFILE_END)
        st = perfile_profile_finish(*profile, &err);
    perfile_stream_close(s);
    return st;
}

/* "comm dso symbol parent samples/period total/period" of a row, what is unknown as "-". */
static void write_row(const perfile_profile_row *r, char *text, size_t size)
{
    const char *words[] = {r->comm, r->dso, r->symbol, r->parent};
    size_t at = 0;
    for (size_t i = 0; i < 4; i++)
        at += (size_t)snprintf(text + at, size - at, "%s ", words[i] ? words[i] : "-");
    snprintf(text + at, size - at, "%d/%d %d/%d%s\n", (int)r->samples, (int)r->period,
             (int)r->total_samples, (int)r->total_period, r->mixed ? " mixed" : "");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The rows of a capture in the order of their texts, which must be `wanted`. */
static void assert_rows(const builder *b, const perfile_profile_options *options,
                        const char *wanted)
{
    enum { MOST = 32 };
    char lines[MOST][256], text[MOST * 256] = "";
    perfile_profile *p;
    perfile_profile_row row;
    perfile_profile_summary sum;
    assert_int_equal(profile_of(b, options, NULL, &p), PERFILE_OK);
    perfile_profile_get_summary(p, &sum, sizeof sum);
    size_t n = 0;
    for (; perfile_profile_get_row(p, n, &row, sizeof row); n++) {
        assert_true(n < MOST);
        write_row(&row, lines[n], sizeof lines[n]);
    }
    assert_int_equal(n, sum.rows);
    qsort(lines, n, sizeof lines[0], by_text);
    for (size_t i = 0; i < n; i++)
        strcat(text, lines[i]);
    assert_string_equal(text, wanted);
    perfile_profile_close(p);
}

/* Two addresses at which nothing is mapped, called from two places in a file and from one that is
 * not known, in user code and in the kernel. */
static void unknown_places_are_joined_as_asked(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "work", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_sample(&b, USER, 5, 100, 0x800010, CHAIN(PF_CONTEXT_USER, 0x800010, 0x400010));
    put_sample(&b, USER, 5, 101, 0x800020, CHAIN(PF_CONTEXT_USER, 0x800020, 0x800010, 0x400020));
    put_sample(&b, KERNEL, 5, 102, KERNEL_TEXT, CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT));
    perfile_profile_options o = {.size = sizeof o, .per = {PERFILE_PER_SYMBOL}};
    assert_rows(&b, &o,
                "- - [unknown] - 1/10 1/10\n"
                "- - [unknown] - 2/20 2/20\n"
                "- - [work+0x10] - 0/0 1/10\n"
                "- - [work+0x20] - 0/0 1/10\n");
    o.flags = PERFILE_PROFILE_UNKNOWN_MODULE;
    assert_rows(&b, &o,
                "- - [unknown] - 1/10 1/10\n"
                "- - [unknown] - 2/20 2/20\n"
                "- - [work] - 0/0 2/20\n");
    o.flags = PERFILE_PROFILE_UNKNOWN_ADDRESS;
    assert_rows(&b, &o,
                "- - [unknown+0x800010] - 1/10 2/20\n"
                "- - [unknown+0x800020] - 1/10 1/10\n"
                "- - [unknown+0xffffffff81000000] - 1/10 1/10\n"
                "- - [work+0x10] - 0/0 1/10\n"
                "- - [work+0x20] - 0/0 1/10\n");
    perfile_profile *p;
    o.flags |= PERFILE_PROFILE_UNKNOWN_MODULE;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    perfile_profile_close(p);
    build_clear(&b);
}

/* A model that is asked for names only knows them, and no mappings. */
static void a_model_may_know_names_only(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "work", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_sample(&b, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    for (int names_only = 0; names_only < 2; names_only++) {
        perfile_open_filtered_options reading = {
            .size = sizeof reading, .model = true, .names_only = names_only};
        perfile_source *source;
        perfile_stream *s;
        const perfile_model *model;
        assert_int_equal(perfile_source_memory(built(&b), "made", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open_filtered(source, NULL, &reading, &s, &model, NULL),
                         PERFILE_OK);
        assert_string_equal(perfile_model_comm(model, 5, 5, 100), "work");
        assert_int_equal(!perfile_model_mapping(model, 5, 0x400010, 100), names_only);
        perfile_stream_close(s);
    }
    build_clear(&b);
}

/* Two threads in two files, and the kernel. */
static void build_two(builder *b)
{
    begin(b, CHAIN_TYPE, 0, FREQ);
    put_mmap(b, PERFILE_NO_PID, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
    put_comm(b, 5, "work", false, 0);
    put_mmap(b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_mmap(b, 5, 0x500000, 0x1000, 0, "/lib/c.so", 0);
    put_sample(b, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010, 0x400020));
    put_sample(b, USER, 5, 101, 0x500010,
               CHAIN(PF_CONTEXT_USER, 0x500010, 0x400020, 0x400020, 0x400020));
    put_sample(b, KERNEL, 5, 102, KERNEL_TEXT + 1,
               CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT + 1, PF_CONTEXT_USER, 0x500010, 0x400020));
    put_sample(b, USER, 6, 103, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
}

static void totals_count_a_sample_once(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_two(&b);
    const perfile_profile_options dso = {.size = sizeof dso, .per = {PERFILE_PER_DSO}};
    assert_rows(&b, &dso,
                "- - - - 1/10 1/10\n"
                "- /bin/work - - 1/10 3/30\n"
                "- /lib/c.so - - 1/10 2/20\n"
                "- [kernel.kallsyms] - - 1/10 1/10\n");
    const perfile_profile_options both = {.size = sizeof both,
                                          .per = {PERFILE_PER_COMM, PERFILE_PER_SYMBOL}};
    assert_rows(&b, &both,
                ":6 - [unknown] - 1/10 1/10\n"
                "work - [[kernel.kallsyms]+0xffffffff81000001] - 1/10 1/10\n"
                "work - [c.so+0x10] - 1/10 2/20\n"
                "work - [work+0x10] - 1/10 1/10\n"
                "work - [work+0x20] - 0/0 3/30\n");
    const perfile_profile_options all = {.size = sizeof all};
    assert_rows(&b, &all, "- - - - 4/40 4/40\n");
}

/* Where the address of the sample is not in its call chain, as with precise events, it counts. */
static void the_address_of_the_sample_counts(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_sample(&b, USER, 5, 100, 0x400018, CHAIN(PF_CONTEXT_USER, 0x400010, 0x400020));
    put_sample(&b, USER, 5, 100, 0x400018, NULL, 0);
    const perfile_profile_options symbol = {.size = sizeof symbol, .per = {PERFILE_PER_SYMBOL}};
    assert_rows(&b, &symbol,
                "- - [work+0x10] - 0/0 1/10\n"
                "- - [work+0x18] - 2/20 2/20\n"
                "- - [work+0x20] - 0/0 1/10\n");
}

/* Names come from a file of symbols: here of the kernel. */
static void parents_are_found_by_name(void **state)
{
    (void)state;
    BUILDER b = {0};
    const char *symbols = "ffffffff81000000 T _text\nffffffff81000100 T vfs_read\n"
                          "ffffffff81000200 T sys_read\nffffffff81000300 T sys_enter\n"
                          "ffffffff81000400 T end\n";
    char path[] = "kallsyms-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, symbols, strlen(symbols)) == (ssize_t)strlen(symbols));
    close(fd);
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_mmap(&b, PERFILE_NO_PID, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
    put_sample(
        &b, KERNEL, 5, 100, KERNEL_TEXT + 0x110,
        CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT + 0x110, KERNEL_TEXT + 0x210, KERNEL_TEXT + 0x310));
    put_sample(&b, KERNEL, 5, 101, KERNEL_TEXT + 0x120, NULL, 0);
    const perfile_symbols_options where = {
        .size = sizeof where, .flags = PERFILE_SYMBOLS_GIVEN_ONLY, .kallsyms = path};
    perfile_profile_options o = {
        .size = sizeof o, .per = {PERFILE_PER_SYMBOL, PERFILE_PER_PARENT}, .symbols = &where};
    assert_rows(&b, &o,
                "- - sys_enter sys_read 0/0 1/10\n"
                "- - sys_read sys_read 0/0 1/10\n"
                "- - vfs_read - 1/10 1/10\n"
                "- - vfs_read sys_read 1/10 1/10\n");
    o.parent = "enter$";
    assert_rows(&b, &o,
                "- - sys_enter sys_enter 0/0 1/10\n"
                "- - sys_read sys_enter 0/0 1/10\n"
                "- - vfs_read - 1/10 1/10\n"
                "- - vfs_read sys_enter 1/10 1/10\n");
    unlink(path);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_two(&b);
    perfile_profile *p;
    perfile_profile_options o = {.size = sizeof o, .per = {PERFILE_PER_PID, PERFILE_PER_PID}};
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o.per[1] = PERFILE_PER_SOURCE + 1;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o.per[1] = PERFILE_PER_PARENT;
    o.parent = "(";
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    memset(o.per, PERFILE_PER_PID, sizeof o.per);
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o = (perfile_profile_options){.size = sizeof o};
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    assert_int_equal(perfile_profile_finish(p, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_profile_put_run(p, NULL, 0, NULL), PERFILE_E_USAGE);
    perfile_profile_close(p);
    perfile_profile_close(NULL);
}

/* Every limit, from none to enough: refused with a status, and nothing left behind. */
static void limits_are_kept(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_two(&b);
    const perfile_profile_options o = {.size = sizeof o,
                                       .per = {PERFILE_PER_COMM, PERFILE_PER_SYMBOL}};
    perfile_status st = PERFILE_E_LIMIT;
    unsigned refused = 0;
    for (uint64_t most = 1; st != PERFILE_OK; most += 64) {
        perfile_profile *p;
        perfile_limits limits = {.size = sizeof limits, .profile_bytes = most};
        st = profile_of(&b, &o, &limits, &p);
        assert_true(st == PERFILE_OK || st == PERFILE_E_LIMIT);
        refused += st != PERFILE_OK;
        perfile_profile_close(p);
    }
    assert_true(refused > 10);
}

/* f calls itself, g and h: main f g; main f f h; main f; other f g; g alone; nothing. */
static void build_calls(builder *b)
{
    enum { MAIN = 0x400010, OTHER = 0x400020, F = 0x400030, G = 0x400040, H = 0x400050 };
    begin(b, CHAIN_TYPE, 0, FREQ);
    put_mmap(b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_sample(b, USER, 5, 100, G, CHAIN(PF_CONTEXT_USER, G, F, MAIN));
    put_sample(b, USER, 5, 101, H, CHAIN(PF_CONTEXT_USER, H, F, F, MAIN));
    put_sample(b, USER, 5, 102, F, CHAIN(PF_CONTEXT_USER, F, MAIN));
    put_sample(b, USER, 5, 103, G, CHAIN(PF_CONTEXT_USER, G, F, OTHER));
    put_sample(b, USER, 5, 104, G, CHAIN(PF_CONTEXT_USER, G));
}

static const char f_name[] = "[work+0x30]";

static void callers_and_callees_of_a_function(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_calls(&b);
    perfile_profile_options o = {.size = sizeof o,
                                 .flags = PERFILE_PROFILE_CALLERS,
                                 .per = {PERFILE_PER_SYMBOL},
                                 .function = f_name};
    assert_rows(&b, &o,
                "- - [work+0x10] - 1/10 2/20\n" /* self: in f, which it called */
                "- - [work+0x20] - 0/0 1/10\n"
                "- - [work+0x30] - 0/0 1/10\n"); /* the innermost call counts */
    o.flags = PERFILE_PROFILE_CALLEES;
    assert_rows(&b, &o,
                "- - - - 1/10 1/10\n" /* in f itself */
                "- - [work+0x30] - 0/0 1/10\n"
                "- - [work+0x40] - 2/20 2/20\n");
    o.per[0] = PERFILE_PER_EVENT; /* any keys: one row for all samples with f */
    o.per[1] = PERFILE_PER_PID;
    perfile_profile *p;
    perfile_profile_row row;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    assert_true(perfile_profile_get_row(p, 0, &row, sizeof row));
    assert_int_equal(row.total_samples, 4);
    assert_int_equal(row.samples, 3); /* in f, or in what it called */
    assert_int_equal(row.pid, 5);
    assert_false(perfile_profile_get_row(p, 1, &row, sizeof row));
    perfile_profile_close(p);
    o.function = "[work+0x31]"; /* nobody has that */
    assert_rows(&b, &o, "");
    o.function = NULL;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o = (perfile_profile_options){.size = sizeof o, .function = f_name};
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o.flags = PERFILE_PROFILE_CALLERS | PERFILE_PROFILE_CALLEES;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
}

/* The trees of all rows, "ROW: depth symbol samples/total; …", must be `wanted`. */
static void assert_trees(const builder *b, const perfile_profile_options *counting,
                         pf_calls_options *o, const char *wanted)
{
    char text[2048] = "";
    uint64_t rows[32];
    size_t at = 0, n = 0;
    perfile_profile *p;
    perfile_profile_row row;
    pf_profile_node node;
    uint64_t last = 0;
    assert_int_equal(profile_of(b, counting, NULL, &p), PERFILE_OK);
    for (; n < 32 && perfile_profile_get_row(p, n, &row, sizeof row); n++)
        rows[n] = n;
    o->rows = rows;
    o->n_rows = n;
    assert_int_equal(pf_profile_make_trees(p, o, NULL), PERFILE_OK);
    for (size_t i = 0; pf_profile_get_node(p, i, &node, sizeof node); i++) {
        assert_true(perfile_profile_get_row(p, (size_t)node.row, &row, sizeof row));
        if (i == 0 || node.row != last)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s:\n", row.symbol);
        last = node.row;
        at += (size_t)snprintf(text + at, sizeof text - at, "%*s%s %d/%d below %d%s\n",
                               (int)node.depth, "", node.symbol, (int)node.samples,
                               (int)node.total_samples, (int)node.below, node.cut ? " cut" : "");
        assert_int_equal(node.total_period, 10 * node.total_samples);
        assert_string_equal(node.module, "/bin/work");
        assert_int_equal(node.cpumode, PERFILE_MISC_CPUMODE_USER);
        assert_false(node.named);
    }
    assert_string_equal(text, wanted);
    rows[0] = n; /* a row that is not there, and one that is given twice */
    assert_int_equal(pf_profile_make_trees(p, o, NULL), PERFILE_E_USAGE);
    rows[0] = 1;
    assert_int_equal(pf_profile_make_trees(p, o, NULL), PERFILE_E_USAGE);
    perfile_profile_close(p);
}

static void rows_have_call_trees(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_calls(&b);
    perfile_profile_options o = {.size = sizeof o, .per = {PERFILE_PER_SYMBOL}};
    pf_calls_options trees = {0};
    assert_trees(&b, &o, &trees,
                 "[work+0x40]:\n [work+0x30] 2/2 below 2\n"
                 "  [work+0x10] 1/1 below 0\n  [work+0x20] 1/1 below 0\n"
                 "[work+0x30]:\n [work+0x10] 1/1 below 0\n"
                 "[work+0x50]:\n [work+0x30] 1/1 below 1\n  [work+0x30] 1/1 below 1\n"
                 "   [work+0x10] 1/1 below 0\n");
    trees.flags = PF_TREE_CALLEES | PF_TREE_PERIODS;
    trees.least = 400000; /* 2 of 5 */
    assert_trees(&b, &o, &trees,
                 "[work+0x30]:\n [work+0x40] 2/2 below 0\n"
                 "[work+0x10]:\n [work+0x30] 1/3 below 0 cut\n");
    trees = (pf_calls_options){.flags = PF_TREE_TOTAL, .depth = 1};
    assert_trees(&b, &o, &trees,
                 "[work+0x40]:\n [work+0x30] 2/2 below 0 cut\n"
                 "[work+0x30]:\n [work+0x10] 1/2 below 0\n [work+0x20] 0/1 below 0\n"
                 " [work+0x30] 0/1 below 0 cut\n"
                 "[work+0x50]:\n [work+0x30] 1/1 below 0 cut\n");
    trees.width = 1;
    trees.depth = 0;
    o.flags = PERFILE_PROFILE_CALLERS;
    o.function = "[work+0x40]";
    assert_trees(&b, &o, &trees, "[work+0x30]:\n [work+0x10] 1/1 below 0\n");
    o.per[0] = PERFILE_PER_PID; /* the row does not say the function: the tree begins with it */
    o.function = f_name;
    o.flags = PERFILE_PROFILE_CALLEES;
    trees.width = 0;
    assert_trees(&b, &o, &trees,
                 "(null):\n [work+0x40] 2/2 below 0\n [work+0x30] 0/1 below 1\n"
                 "  [work+0x50] 1/1 below 0\n");
    trees.depth = 1025;
    perfile_profile *p;
    o = (perfile_profile_options){.size = sizeof o};
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    assert_int_equal(pf_profile_make_trees(p, &trees, NULL), PERFILE_E_USAGE);
    perfile_profile_close(p);
}

/* Puts a second capture into a profile that has the first one. */
static perfile_status put_other(const builder *capture, perfile_profile *p)
{
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    assert_int_equal(open_capture(built(capture), NULL, &s, &model), PERFILE_OK);
    perfile_status st = pf_profile_continue(p, perfile_stream_session(s), model, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK)
        st = perfile_profile_put_run(p, first, n, NULL);
    st = st == PERFILE_END ? pf_profile_continue(p, NULL, NULL, NULL) : st;
    perfile_stream_close(s);
    return st;
}

/* Two captures of a file in two folders, in which other places were sampled. */
static void captures_are_compared(void **state)
{
    (void)state;
    BUILDER a = {0}, b = {0};
    begin(&a, CHAIN_TYPE, 0, FREQ);
    put_mmap(&a, 5, 0x400000, 0x1000, 0, "/old/work", 0);
    put_mmap(&a, 5, 0x500000, 0x1000, 0, "/lib/gone.so", 0);
    put_sample(&a, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010, 0x500020));
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_mmap(&b, 7, 0x800000, 0x1000, 0, "/new/work", 0);
    for (unsigned i = 0; i < 3; i++)
        put_sample(&b, USER, 7, 100, 0x800010 + i, CHAIN(PF_CONTEXT_USER, 0x800010 + i, 0x800040));
    const perfile_profile_options o = {.size = sizeof o,
                                       .flags = PF_PROFILE_COMPARE,
                                       .per = {PERFILE_PER_DSO, PERFILE_PER_SYMBOL}};
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    perfile_profile *p;
    perfile_profile_row now, before;
    perfile_profile_summary sum;
    assert_int_equal(open_capture(built(&a), NULL, &s, &model), PERFILE_OK);
    assert_int_equal(perfile_profile_open(perfile_stream_session(s), model, &o, &p, NULL),
                     PERFILE_OK);
    while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK)
        assert_int_equal(perfile_profile_put_run(p, first, n, NULL), PERFILE_OK);
    assert_int_equal(pf_profile_continue(p, NULL, NULL, NULL), PERFILE_OK);
    assert_int_equal(perfile_profile_put_run(p, NULL, 0, NULL), PERFILE_E_USAGE);
    perfile_stream_close(s);
    assert_int_equal(put_other(&b, p), PERFILE_OK);
    assert_false(perfile_profile_get_row(p, 0, &now, sizeof now));
    assert_int_equal(perfile_profile_finish(p, NULL), PERFILE_OK);
    assert_int_equal(pf_profile_continue(p, NULL, NULL, NULL), PERFILE_E_USAGE);
    const pf_calls_options trees = {0};
    assert_int_equal(pf_profile_make_trees(p, &trees, NULL), PERFILE_E_USAGE);
    perfile_profile_get_summary(p, &sum, sizeof sum);
    assert_int_equal(sum.rows, 2);
    assert_int_equal(sum.samples, 3);
    assert_int_equal(sum.period, 30);
    assert_int_equal(sum.before_samples, 1);
    assert_int_equal(sum.before_period, 10);
    for (size_t i = 0; i < 2; i++) {
        assert_true(perfile_profile_get_row(p, i, &now, sizeof now));
        assert_true(pf_profile_get_before(p, i, &before, sizeof before));
        const bool work = strcmp(now.dso, "work") == 0;
        assert_string_equal(now.dso, work ? "work" : "gone.so");
        assert_string_equal(before.symbol, work ? "[work]" : "[gone.so]");
        assert_int_equal(now.samples, work ? 3 : 0);
        assert_int_equal(now.total_period, work ? 30 : 0);
        assert_int_equal(before.samples, work);
        assert_int_equal(before.total_period, 10);
    }
    assert_false(pf_profile_get_before(p, 2, &before, sizeof before));
    perfile_profile_close(p);
}

/* Samples without an address are no row of their own where places are no key. */
static void a_sample_without_an_address_counts(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE & ~(uint64_t)PERFILE_SAMPLE_IP, 0, FREQ);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    for (uint64_t n = 0; n < 2; n++) {
        const size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, USER);
        build_u64(&b, 5 | (uint64_t)5 << 32); /* pid, tid */
        build_u64(&b, 100);                   /* time */
        build_u64(&b, 10);                    /* period */
        build_u64(&b, n);                     /* call chain */
        for (uint64_t i = 0; i < n; i++)
            build_u64(&b, 0x400010);
        build_end(&b, start);
    }
    perfile_profile_options o = {.size = sizeof o};
    assert_rows(&b, &o, "- - - - 2/20 2/20\n");
    o.per[0] = PERFILE_PER_DSO;
    assert_rows(&b, &o, "- - - - 1/10 1/10\n- /bin/work - - 1/10 1/10\n");
}

/* Trees are bounded by the limit of profiles, too. */
static void limits_are_kept_by_trees(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_calls(&b);
    const perfile_profile_options o = {.size = sizeof o, .per = {PERFILE_PER_SYMBOL}};
    const uint64_t rows[] = {0, 1, 2};
    const pf_calls_options trees = {.rows = rows, .n_rows = 3};
    unsigned refused = 0;
    for (uint64_t most = 1;; most += 64) {
        perfile_profile *p;
        perfile_limits limits = {.size = sizeof limits, .profile_bytes = most};
        perfile_status st = profile_of(&b, &o, &limits, &p);
        const bool counted = st == PERFILE_OK;
        st = counted ? pf_profile_make_trees(p, &trees, NULL) : st;
        assert_true(st == PERFILE_OK || st == PERFILE_E_LIMIT);
        refused += counted && st != PERFILE_OK;
        perfile_profile_close(p);
        if (st == PERFILE_OK)
            break;
    }
    assert_true(refused > 10);
}

/* Counters have other keys than samples, and need no model. */
static void counters_are_no_samples(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_two(&b);
    perfile_profile *p;
    perfile_profile_row row;
    perfile_profile_options o = {.size = sizeof o,
                                 .flags = PERFILE_PROFILE_COUNTERS,
                                 .per = {PERFILE_PER_EVENT, PERFILE_PER_TIME}};
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    assert_false(perfile_profile_get_row(p, 0, &row, sizeof row)); /* there are no STAT records */
    perfile_profile_close(p);
    const uint8_t wrong[] = {PERFILE_PER_PID, PERFILE_PER_DSO, PERFILE_PER_SYMBOL,
                             PERFILE_PER_TIME};
    for (size_t i = 0; i < sizeof wrong; i++) {
        o.per[0] = wrong[i];
        assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    }
    o.per[1] = 0; /* of samples there is no time */
    o.flags = 0;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o.per[0] = 0;
    o.flags = PERFILE_PROFILE_COUNTERS | PF_PROFILE_COMPARE;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
}

/* Times come from SWITCH records: two threads on one processor, of which the second is preempted.
 */
static void times_are_added_up(void **state)
{
    (void)state;
    static const struct {
        uint32_t tid;
        uint64_t time;
        uint16_t misc;
    } switches[] = {{7, 10, 0}, {7, 30, PERFILE_MISC_SWITCH_OUT},
                    {8, 30, 0}, {8, 35, PERFILE_MISC_SWITCH_OUT | PERFILE_MISC_SWITCH_OUT_PREEMPT},
                    {7, 36, 0}, {7, 40, PERFILE_MISC_SWITCH_OUT}};
    BUILDER b = {0};
    begin(&b, PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, 0, FREQ);
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        const size_t start = build_begin(&b, PERFILE_RECORD_SWITCH, switches[i].misc);
        end(&b, start, 5, switches[i].tid, switches[i].time);
    }
    perfile_profile_options o = {
        .size = sizeof o, .flags = PF_PROFILE_TIMES, .per = {PERFILE_PER_TID}};
    perfile_profile *p;
    perfile_profile_row row;
    pf_profile_times times;
    perfile_profile_summary sum;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    perfile_profile_get_summary(p, &sum, sizeof sum);
    assert_int_equal(sum.rows, 2);
    assert_int_equal(sum.samples, 3);
    assert_int_equal(sum.period, 29);
    assert_true(perfile_profile_get_row(p, 0, &row, sizeof row));
    assert_true(pf_profile_get_times(p, 0, &times, sizeof times));
    assert_int_equal(row.tid, 7);
    assert_int_equal(row.pid, PERFILE_NO_PID);
    assert_int_equal(row.period, 24);
    assert_int_equal(row.samples, 2);
    assert_int_equal(times.off, 6);
    assert_int_equal(times.waiting, 0);
    assert_int_equal(times.preempted, 0);
    assert_null(times.preempted_by);
    assert_true(perfile_profile_get_row(p, 1, &row, sizeof row));
    assert_true(pf_profile_get_times(p, 1, &times, sizeof times));
    assert_int_equal(row.tid, 8);
    assert_int_equal(row.period, 5);
    assert_int_equal(times.preempted, 1);
    assert_false(pf_profile_get_times(p, 2, &times, sizeof times));
    const pf_calls_options trees = {0};
    assert_int_equal(pf_profile_make_trees(p, &trees, NULL), PERFILE_E_USAGE);
    perfile_profile_close(p);
    o.per[0] = PERFILE_PER_EVENT; /* switches are of no event */
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
    o.per[0] = 0;
    o.flags |= PERFILE_PROFILE_COUNTERS;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_E_USAGE);
}

/* Counts of an event on two processors, twice, the second time of half of the time. */
static void counts_are_added_up(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    for (uint64_t round = 1; round <= 2; round++) {
        for (uint32_t cpu = 0; cpu < 2; cpu++) {
            const size_t start = build_begin(&b, PERFILE_RECORD_STAT, 0);
            build_u64(&b, 1); /* of no event: nobody has the id */
            build_u32(&b, cpu);
            build_u32(&b, 0);
            build_u64(&b, 10 * round + cpu);
            build_u64(&b, 100 * round);
            build_u64(&b, 50 + 50 * round);
            build_end(&b, start);
        }
        const size_t start = build_begin(&b, PERFILE_RECORD_STAT_ROUND, 0);
        build_u64(&b, 0);
        build_u64(&b, round * 1000);
        build_end(&b, start);
    }
    const perfile_profile_options o = {
        .size = sizeof o, .flags = PERFILE_PROFILE_COUNTERS, .per = {PERFILE_PER_TIME}};
    perfile_profile *p;
    perfile_profile_row row;
    assert_int_equal(profile_of(&b, &o, NULL, &p), PERFILE_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_true(perfile_profile_get_row(p, i, &row, sizeof row));
        assert_int_equal(row.time, 1000 * (i + 1));
        assert_int_equal(row.samples, 2);
        assert_int_equal(row.period, i ? 20 : 21);
        assert_int_equal(row.enabled, 200);
        assert_int_equal(row.running, i ? 100 : 200);
        assert_int_equal(row.count, i ? 40 : 21);
        assert_null(row.unit);
        assert_true(row.scale == 1);
        assert_int_equal(row.cpu, UINT32_MAX);
    }
    assert_true(perfile_profile_get_row(p, 2, &row, sizeof row)); /* the event was not counted */
    assert_int_equal(row.samples, 0);
    assert_int_equal(row.time, PERFILE_NO_TIME);
    assert_false(perfile_profile_get_row(p, 3, &row, sizeof row));
    perfile_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_count_a_sample_once),
        cmocka_unit_test(unknown_places_are_joined_as_asked),
        cmocka_unit_test(a_model_may_know_names_only),
        cmocka_unit_test(the_address_of_the_sample_counts),
        cmocka_unit_test(parents_are_found_by_name),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(callers_and_callees_of_a_function),
        cmocka_unit_test(rows_have_call_trees),
        cmocka_unit_test(captures_are_compared),
        cmocka_unit_test(a_sample_without_an_address_counts),
        cmocka_unit_test(limits_are_kept_by_trees),
        cmocka_unit_test(counters_are_no_samples),
        cmocka_unit_test(times_are_added_up),
        cmocka_unit_test(counts_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
