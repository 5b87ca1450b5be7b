/* Rows of what happens inside this process: loops over records in memory, and ways to the bytes of
 * a file. */
#include "bench.h"

#include <math.h>

enum { SMALL_RECORD = 150 };

/* What is required of decoding: more where there is more to read. */
static const double need_decode[N_KINDS] = {0.3, 0.5, NAN, NAN};

enum {
    WALK,
    WALK_1K,
    WALK_4K,
    MEMCPY,
    HAND,
    HAND_TIME,
    OUR_WALK,
    OUR_WALK_RUNS,
    OUR_DECODE,
    OUR_DECODE_RUNS,
    OUR_CHECK,
    OUR_TIME,
    OUR_TIME_RUNS,
    OUR_WHERE,
    N_WARM
};
enum { PAGES, TOUCH, POPULATE, BARE, READ, COPY, OUR_FILE, N_COLD };

static double better(double a, double b)
{
    return a < b ? a : b;
}

static void print_limit(const capture *c, const contender *x)
{
    printf("%-12s %-28s %8.2f GB/s %8.2f ns/record\n", kind_names[c->kind], x->name,
           (double)c->size / x->best / 1e9, x->best * 1e9 / (double)c->n_records);
}

static void require_equal(const capture *c, const contender *a, const contender *b)
{
    if (a->sum != b->sum)
        printf("%-12s '%s' and '%s' did not read the same\n", kind_names[c->kind], a->name,
               b->name);
}

/* The loops over what is in memory. */
static void measure_warm(const settings *set, const capture *c)
{
    const char *kind = kind_names[c->kind];
    contender x[N_WARM] = {
        [WALK] = {"header walk", limit_walk, 0, 0},
        [WALK_1K] = {"header walk, 1 KiB ahead", limit_walk_ahead_1k, 0, 0},
        [WALK_4K] = {"header walk, 4 KiB ahead", limit_walk_ahead_4k, 0, 0},
        [MEMCPY] = {"memcpy", limit_memcpy, 0, 0},
        [HAND] = {"decode by hand", hand_decode[c->kind], 0, 0},
        [HAND_TIME] = {"one field by hand", hand_time[c->kind], 0, 0},
        [OUR_WALK] = {"perfile_stream_next", library_walk, 0, 0},
        [OUR_WALK_RUNS] = {"perfile_stream_next_run", library_walk_runs, 0, 0},
        [OUR_DECODE] = {"perfile_sample_decode", library_decode, 0, 0},
        [OUR_DECODE_RUNS] = {"perfile_stream_sample", library_decode_runs, 0, 0},
        [OUR_CHECK] = {"perfile_check", library_check, 0, 0},
        [OUR_TIME] = {"perfile_sample_field", library_time, 0, 0},
        [OUR_TIME_RUNS] = {"perfile_sample_fields", library_time_runs, 0, 0},
        [OUR_WHERE] = {"perfile_expr_test_run, three comparisons", library_where, 0, 0},
    };
    contest(x, N_WARM, c, set->rounds);
    for (size_t i = 0; i < N_WARM; i++)
        print_limit(c, &x[i]);
    require_equal(c, &x[WALK], &x[OUR_WALK]);
    require_equal(c, &x[WALK], &x[OUR_WALK_RUNS]);
    require_equal(c, &x[WALK], &x[OUR_CHECK]);
    require_equal(c, &x[HAND], &x[OUR_DECODE]);
    require_equal(c, &x[HAND], &x[OUR_DECODE_RUNS]);
    require_equal(c, &x[HAND_TIME], &x[OUR_TIME]);
    require_equal(c, &x[HAND_TIME], &x[OUR_TIME_RUNS]);

    double record = (double)c->data_size / (double)c->n_records;
    double walk = better(x[WALK].best, better(x[WALK_1K].best, x[WALK_4K].best));
    bool large = record >= SMALL_RECORD || c->kind == CHAINS || c->kind == DWARF;
    table_row(kind, "walk / best bare header walk", walk / x[OUR_WALK].best, "",
              c->kind == FLAT ? 0.4
              : large         ? 0.8
                              : NAN,
              false, "");
    table_row(kind, "decode / decode by hand", x[HAND].best / x[OUR_DECODE_RUNS].best, "",
              need_decode[c->kind], false, "by the run");
    table_row(kind, "the same, record by record", x[HAND].best / x[OUR_DECODE].best, "", NAN, false,
              "into the caller's struct");
    table_row(kind, "one field / one field by hand", x[HAND_TIME].best / x[OUR_TIME_RUNS].best, "",
              0.5, false, "by the run");
    table_row(kind, "the same, record by record", x[HAND_TIME].best / x[OUR_TIME].best, "", NAN,
              false, "");
    table_row(kind, "read and decode", (double)c->size / x[OUR_DECODE_RUNS].best / 1e9, "GB/s",
              c->kind == DWARF ? NAN : 3.0, false, "10 x linux-perf-data");
    table_row(kind, "check, all rules / decode", x[OUR_DECODE_RUNS].best / x[OUR_CHECK].best, "",
              0.25, false, "");
    table_row(kind, "three comparisons of an expression",
              (x[OUR_WHERE].best - x[OUR_WALK_RUNS].best) * 1e9 / (double)c->n_records, "ns", NAN,
              true, "per record, beside the walk");
    table_row(kind, "allocations while reading the second half", (double)library_allocations(c), "",
              0, true, "");
}

/* The ways to the bytes of a file. */
static void measure_cold(const settings *set, const capture *c)
{
    contender x[N_COLD] = {
        [PAGES] = {"first touch, a byte a page", limit_pages, 0, 0},
        [TOUCH] = {"first touch, plain", limit_touch, 0, 0},
        [POPULATE] = {"first touch, populated", limit_populate, 0, 0},
        [BARE] = {"read in 1 MiB blocks", limit_read_bare, 0, 0},
        [READ] = {"read loop", limit_read, 0, 0},
        [COPY] = {"read/write loop", limit_copy, 0, 0},
        [OUR_FILE] = {"open and walk the file", library_walk_file, 0, 0},
    };
    contest(x, N_COLD, c, set->rounds);
    for (size_t i = 0; i < N_COLD; i++)
        print_limit(c, &x[i]);
    if (x[COPY].sum != c->size)
        printf("%-12s the read/write loop could not write all\n", kind_names[c->kind]);
    double touch = better(x[TOUCH].best, x[POPULATE].best);
    double best = better(touch, x[READ].best);
    table_row(kind_names[c->kind], "walk of the file / best way to its bytes",
              best / x[OUR_FILE].best, "", 0, false, best < touch ? "read was best" : "");
}

/* Records that are in memory into a file. */
static void measure_writer(const settings *set, const capture *c)
{
    enum { PLAIN, SMALL, PUT, PUT_RUNS, SPANS, N };
    const char *kind = kind_names[c->kind];
    contender x[N] = {
        [PLAIN] = {"write in 1 MiB blocks", limit_write, 0, 0},
        [SMALL] = {"write in 256 KiB blocks", limit_write_small, 0, 0},
        [PUT] = {"perfile_writer_put", library_put, 0, 0},
        [PUT_RUNS] = {"perfile_writer_put_run", library_put_runs, 0, 0},
        [SPANS] = {"perfile_writer_put_spans", library_put_spans, 0, 0},
    };
    contest(x, N, c, set->rounds);
    for (size_t i = 0; i < N; i++) {
        printf("%-12s %-28s %8.2f GB/s\n", kind, x[i].name, (double)c->data_size / x[i].best / 1e9);
        require_equal(c, &x[PLAIN], &x[i]);
    }
    table_row(kind, "put, record by record / write", x[PLAIN].best / x[PUT].best, "", 0.7, false,
              "");
    table_row(kind, "put by the run / write", x[PLAIN].best / x[PUT_RUNS].best, "", 0.7, false, "");
    table_row(kind, "put spans / write of as much", x[SMALL].best / x[SPANS].best, "", 0.7, false,
              "");
}

void loops_rows(const settings *set, const capture *c)
{
    measure_warm(set, c);
    measure_cold(set, c);
    measure_writer(set, c);
}
