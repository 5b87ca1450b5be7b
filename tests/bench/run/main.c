/* run [--rounds N] [--megabytes N] [--only KIND] [--no-perf] [--json FILE]: see README.md. */
#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_RECORD = 150, DUMP_ROUNDS = 3 };

typedef struct settings {
    unsigned rounds;
    unsigned megabytes;
    const char *only;
    const char *json;
    bool no_perf;
    char dir[2048];
    char tools[2048];
    char command[4096];
} settings;

static double better(double a, double b)
{
    return a < b ? a : b;
}

/* What is required of decoding: more where there is more to read. */
static const double need_decode[N_KINDS] = {0.3, 0.5, NAN, NAN};
/* `stats` against `perf report --stats`. */
static const double need_stats[N_KINDS] = {6, 4, 5, NAN};

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
enum { PAGES, TOUCH, POPULATE, READ, COPY, OUR_FILE, N_COLD };

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

/* The loops over what is in memory.  Returns the best of the header walks in seconds. */
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

/* The ways to the bytes of a file: the seconds of touching them. */
static double measure_cold(const settings *set, const capture *c)
{
    contender x[N_COLD] = {
        [PAGES] = {"first touch, a byte a page", limit_pages, 0, 0},
        [TOUCH] = {"first touch, plain", limit_touch, 0, 0},
        [POPULATE] = {"first touch, populated", limit_populate, 0, 0},
        [READ] = {"read in 1 MiB blocks", limit_read, 0, 0},
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
              best / x[OUR_FILE].best, "", 0.7, false, best < touch ? "read was best" : "");
    return touch;
}

static usage best_of(const char *const *argv, unsigned rounds)
{
    usage best = {0};
    for (unsigned i = 0; i < rounds; i++) {
        usage u = process_run(argv, NULL, false);
        double mb = u.anonymous_mb > best.anonymous_mb ? u.anonymous_mb : best.anonymous_mb;
        if (u.ok && (!best.ok || u.seconds < best.seconds))
            best = u;
        best.anonymous_mb = mb;
    }
    return best;
}

static void row_memory(const char *kind, const char *what, const usage *u, double most)
{
    if (u->ok)
        table_row(kind, what, u->anonymous_mb, "MB", most, true, "");
}

static void measure_stats(const settings *set, const capture *c, double touch)
{
    const char *kind = kind_names[c->kind];
    const char *const ours[] = {set->command, "stats", c->path, NULL};
    const char *const piped[] = {set->command, "stats", "-", NULL};
    const char *const perf[] = {"perf", "report", "--stats", "-i", c->path, NULL};
    usage u = best_of(ours, set->rounds);
    if (!u.ok)
        return;
    printf("%-12s %-28s %8.2f GB/s\n", kind, "perfile stats", (double)c->size / u.seconds / 1e9);
    table_row(kind, "stats / first touch", touch / u.seconds, "", 0.6, false, "");
    row_memory(kind, "stats: memory beyond the mapping", &u, 16);
    usage p = process_run(piped, c->path, false);
    row_memory(kind, "stats from a pipe: memory", &p, 32);
    if (set->no_perf)
        return;
    usage theirs = best_of(perf, set->rounds);
    if (theirs.ok)
        table_row(kind, "stats / perf report --stats", theirs.seconds / u.seconds, "x",
                  need_stats[c->kind], false, "");
}

/* A whole capture: nothing is lost, and copying is what it costs.  Both write a new file, in turns:
 * how fast memory for it is to be had changes from one second to the next. */
static void measure_recover(const settings *set, const capture *c)
{
    const char *kind = kind_names[c->kind];
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s.out", c->path);
    const char *const argv[] = {set->command, "recover", "-o", out, c->path, NULL};
    double copy = INFINITY, most_mb = 0;
    usage best = {0};
    unlink(out);
    for (unsigned i = 0; i < set->rounds; i++) {
        double start = cpu_time();
        if (limit_copy(c) == c->size)
            copy = better(copy, cpu_time() - start);
        usage u = process_run(argv, NULL, false);
        unlink(out);
        most_mb = u.anonymous_mb > most_mb ? u.anonymous_mb : most_mb;
        if (u.ok && (!best.ok || u.seconds < best.seconds))
            best = u;
    }
    if (!best.ok) {
        printf("%-12s perfile recover failed\n", kind);
        return;
    }
    printf("%-12s %-28s %8.2f GB/s\n", kind, "perfile recover",
           (double)c->size / best.seconds / 1e9);
    best.anonymous_mb = most_mb;
    table_row(kind, "recover / read/write loop", copy / best.seconds, "", 0.5, false, "");
    row_memory(kind, "recover: memory beyond the mapping", &best, 64);
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

/* The read/write loop. */
static double measure_copy(const settings *set, const capture *c)
{
    double copy = INFINITY;
    for (unsigned i = 0; i < set->rounds; i++) {
        double start = cpu_time();
        if (limit_copy(c) == c->size)
            copy = better(copy, cpu_time() - start);
    }
    return copy;
}

/* Runs a command that writes `out` and says what part of the speed of the read/write loop it has.
 */
static usage measure_writing(const settings *set, const capture *c, const char *const *argv,
                             const char *out, const char *what, double copy, double required)
{
    const char *kind = kind_names[c->kind];
    char row[64];
    usage u = best_of(argv, set->rounds);
    unlink(out);
    if (!u.ok) {
        printf("%-12s %s failed\n", kind, what);
        return u;
    }
    snprintf(row, sizeof row, "%s / read/write loop", what);
    printf("%-12s perfile %-20s %8.2f GB/s\n", kind, what, (double)c->size / u.seconds / 1e9);
    table_row(kind, row, copy / u.seconds, "", required, false, "");
    snprintf(row, sizeof row, "%s: memory", what);
    row_memory(kind, row, &u, 16);
    return u;
}

static void measure_convert(const settings *set, const capture *c, double copy)
{
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s.out", c->path);
    const char *const same[] = {set->command, "convert", "-f", "-o", out, c->path, NULL};
    const char *const big[] = {set->command, "convert", "-f", "--byte-order", "big", "-o",
                               out,          c->path,   NULL};
    const char *const pipe[] = {set->command, "convert", "-f",    "--to", "pipe",
                                "-o",         out,       c->path, NULL};
    const char *const perf[] = {"perf", "inject", "-i", c->path, "-o", out, NULL};
    usage u = measure_writing(set, c, same, out, "convert", copy, 0.7);
    (void)measure_writing(set, c, big, out, "convert --byte-order big", copy, 0.25);
    usage p = measure_writing(set, c, pipe, out, "convert --to pipe", copy, 0.7);
    if (set->no_perf || !u.ok || !p.ok)
        return;
    usage theirs = best_of(perf, set->rounds < 3 ? set->rounds : 3);
    unlink(out);
    if (!theirs.ok)
        return;
    double ours = p.seconds > u.seconds ? p.seconds : u.seconds;
    table_row(kind_names[c->kind], "convert / perf inject", theirs.seconds / ours, "x", 10, false,
              "the slower of the same form and a pipe");
}

/* By time: of a capture that perf recorded, in rounds, and in memory that is far smaller than it.
 */
static void measure_sort(const settings *set, const capture *c, double copy)
{
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s.out", c->path);
    const char *const usual[] = {set->command, "sort", "-f", "-o", out, c->path, NULL};
    const char *const little[] = {set->command, "sort",  "-f", "--max-memory", "8M", "-o",
                                  out,          c->path, NULL};
    const char *const perf[] = {"perf", "inject", "-i", c->path, "-o", out, NULL};
    usage u = measure_writing(set, c, usual, out, "sort", copy, 0.3);
    usage l = measure_writing(set, c, little, out, "sort --max-memory 8M", copy, 0.3);
    row_memory(kind_names[c->kind], "sort --max-memory 8M: memory", &l, 8);
    if (set->no_perf || !u.ok)
        return;
    usage theirs = best_of(perf, set->rounds < 3 ? set->rounds : 3);
    unlink(out);
    if (theirs.ok)
        table_row(kind_names[c->kind], "sort / perf inject", theirs.seconds / u.seconds, "x", 10,
                  false, "");
}

typedef struct filter_row {
    const char *what;
    const char *options[6];
    bool reads; /* nothing is written: beside the read loop */
    double required;
} filter_row;

/* A filter and the loop beside it take turns. */
static void measure_filter_row(const settings *set, const capture *c, const filter_row *f)
{
    const char *kind = kind_names[c->kind];
    char out[sizeof c->path + 8], row[80];
    snprintf(out, sizeof out, "%s.out", c->path);
    const char *argv[16] = {set->command, "filter", "-f", "-o", out};
    size_t n = 5;
    for (size_t i = 0; i < sizeof f->options / sizeof f->options[0] && f->options[i]; i++)
        argv[n++] = f->options[i];
    argv[n] = c->path;
    double limit = INFINITY, ours = INFINITY;
    usage most = {0};
    for (unsigned i = 0; i < set->rounds; i++) {
        double start = cpu_time();
        if ((f->reads ? limit_read(c) : limit_copy(c)) == c->size)
            limit = better(limit, cpu_time() - start);
        usage u = process_run(argv, NULL, false);
        if (u.ok)
            ours = better(ours, u.seconds);
        if (u.anonymous_mb > most.anonymous_mb || !most.ok)
            most = u;
    }
    unlink(out);
    snprintf(row, sizeof row, "filter %s / %s loop", f->what, f->reads ? "read" : "read/write");
    table_row(kind, row, limit / ours, "", f->required, false, "");
    snprintf(row, sizeof row, "filter %s: memory", f->what);
    row_memory(kind, row, &most, 64);
}

static void measure_filter(const settings *set, const capture *c)
{
    static const filter_row rows[] = {
        {"nothing, no state", {"--no-state", "--pid", "4000000", "--time", "1..2"}, true, 0.5},
        {"nothing, with state", {"--pid", "4000000", "--time", "1..2"}, true, 0.25},
        {"everything", {NULL}, false, 0.5},
        {"all by pid", {"--pid", "0..4194304"}, false, 0.5},
        {"where", {"--where", "pid >= 0 && time > 0 && cpumode < 7"}, false, 0.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        measure_filter_row(set, c, &rows[i]);
}

/* The same records in other forms: what is held at a time does not depend on how many they are. */
static void measure_forms(const settings *set, const capture *c)
{
    static const char *const commands[][4] = {{"info"}, {"stats"}, {"dump", "--format", "jsonl"}};
    const char *kind = kind_names[c->kind];
    char path[sizeof c->path];
    for (unsigned form = 0; form < N_FORMS; form++) {
        if (!captures_make_form(set->tools, c, form, path)) {
            printf("%-12s no capture of the form %s\n", kind, form_names[form]);
            continue;
        }
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            const char *argv[8] = {set->command};
            char what[64];
            bool piped = form != FORM_ZSTD;
            size_t n = 1;
            for (; n < 4 && commands[i][n - 1]; n++)
                argv[n] = commands[i][n - 1];
            argv[n] = piped ? "-" : path;
            usage u = process_run(argv, piped ? path : NULL, false);
            snprintf(what, sizeof what, "%s, form %s: memory", commands[i][0], form_names[form]);
            if (!u.ok)
                printf("%-12s %s: it failed\n", kind, what);
            row_memory(kind, what, &u,
                       (piped ? 32 : 16) + (form == FORM_PIPE ? 0 : ZSTD_WINDOW_MB));
        }
    }
}

/* How long the bytes alone take: copied once and written to /dev/null. */
static double writing(uint64_t bytes)
{
    static char from[1 << 16], to[1 << 16];
    double start = cpu_time();
    FILE *f = fopen("/dev/null", "w");
    for (uint64_t n = 0; f && n < bytes; n += sizeof to) {
        memcpy(to, from, sizeof to);
        __asm__ volatile("" ::"r"(to) : "memory");
        if (fwrite(to, 1, sizeof to, f) != sizeof to)
            break;
    }
    if (f)
        fclose(f);
    return cpu_time() - start;
}

typedef struct dump_case {
    const char *what;
    const char *ours[8];
    const char *theirs[8];
    double required;
    bool no_stacks; /* perf does not show them */
} dump_case;

static void measure_dump(const settings *set, const capture *slice, const dump_case *d)
{
    const char *kind = kind_names[slice->kind];
    const char *ours[12] = {set->command}, *theirs[12] = {"perf"};
    size_t n = 1, m = 1;
    for (size_t i = 0; d->ours[i]; i++)
        ours[n++] = d->ours[i];
    ours[n] = slice->path;
    for (size_t i = 0; d->theirs[i]; i++)
        theirs[m++] = d->theirs[i];
    theirs[m++] = "-i";
    theirs[m] = slice->path;

    usage u = best_of(ours, DUMP_ROUNDS);
    if (!u.ok)
        return;
    uint64_t bytes = process_run(ours, NULL, true).bytes_out;
    char note[96];
    snprintf(note, sizeof note, "%.0f MB, %.0f MB/s; the bytes alone: 1/%.0f",
             (double)slice->size / 1e6, (double)bytes / u.seconds / 1e6,
             u.seconds / writing(bytes));
    printf("%-12s %-46s %s\n", kind, d->what, note);
    usage perf = {0};
    if (!set->no_perf)
        perf = best_of(theirs, DUMP_ROUNDS);
    if (perf.ok && d->no_stacks && slice->kind == DWARF)
        table_row(kind, d->what, perf.seconds / u.seconds, "x", NAN, false,
                  "not the same work: perf leaves out registers and stacks");
    else if (perf.ok)
        table_row(kind, d->what, perf.seconds / u.seconds, "x", d->required, false, note);
    else if (!set->no_perf)
        table_row(kind, d->what, NAN, "", NAN, false, "perf fails");
    row_memory(kind, "the same: memory beyond the mapping", &u, 16);
}

static const dump_case dumps[] = {
    {"dump --format text / perf script -D",
     {"dump", "--format", "text"},
     {"script", "-D"},
     20,
     false},
    {"dump --hex / perf script -D",
     {"dump", "--format", "text", "--hex"},
     {"script", "-D"},
     10,
     false},
    {"dump --format jsonl / perf data convert",
     {"dump", "--format", "jsonl"},
     {"data", "convert", "--force", "--to-json", "/dev/null"},
     15,
     true},
};

static bool measure(const settings *set, unsigned kind)
{
    capture c, slice;
    if (!captures_make(set->dir, set->tools, kind, set->megabytes, false, &c))
        return false;
    printf("%s: %.0f MB, %llu records of %.0f bytes\n", c.path, (double)c.size / 1e6,
           (unsigned long long)c.n_records, (double)c.data_size / (double)c.n_records);
    measure_warm(set, &c);
    double touch = measure_cold(set, &c);
    if (set->command[0]) {
        measure_stats(set, &c, touch);
        measure_recover(set, &c);
        measure_writer(set, &c);
        double copy = measure_copy(set, &c);
        measure_convert(set, &c, copy);
        measure_sort(set, &c, copy);
        measure_filter(set, &c);
        measure_forms(set, &c);
    }
    captures_release(&c);
    if (!set->command[0])
        return true;
    if (!captures_make(set->dir, set->tools, kind, set->megabytes, true, &slice))
        return false;
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++)
        measure_dump(set, &slice, &dumps[i]);
    captures_release(&slice);
    return true;
}

/* The programs of the build lie beside this one, the command one folder up. */
static void find_programs(settings *set, const char *self)
{
    snprintf(set->tools, sizeof set->tools, "%s", self);
    char *slash = strrchr(set->tools, '/');
    snprintf(slash ? slash : set->tools, 2, "%s", slash ? "" : ".");
    snprintf(set->command, sizeof set->command, "%s/../perfile", set->tools);
    if (access(set->command, X_OK) < 0)
        set->command[0] = 0;
}

static bool find_dir(settings *set)
{
    const char *given = getenv("PERFILE_BENCH_DIR");
    const char *tmp = getenv("TMPDIR");
    if (given)
        snprintf(set->dir, sizeof set->dir, "%s", given);
    else
        snprintf(set->dir, sizeof set->dir, "%s/perfile-bench", tmp ? tmp : "/tmp");
    (void)mkdir(set->dir, 0700);
    return access(set->dir, W_OK) == 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'}, {"megabytes", required_argument, NULL, 'm'},
        {"only", required_argument, NULL, 'o'},   {"json", required_argument, NULL, 'j'},
        {"no-perf", no_argument, NULL, 'p'},      {0},
    };
    settings set = {.rounds = 7, .megabytes = 200};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'r':
            set.rounds = (unsigned)atoi(optarg);
            break;
        case 'm':
            set.megabytes = (unsigned)atoi(optarg);
            break;
        case 'o':
            set.only = optarg;
            break;
        case 'j':
            set.json = optarg;
            break;
        case 'p':
            set.no_perf = true;
            break;
        default:
            return 2;
        }
    }
    find_programs(&set, argv[0]);
    if (!find_dir(&set)) {
        perror(set.dir);
        return 1;
    }
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        if (set.only && strcmp(set.only, kind_names[kind]) != 0)
            continue;
        if (!measure(&set, kind)) {
            fprintf(stderr, "bench: no capture of kind %s\n", kind_names[kind]);
            return 1;
        }
        fflush(stdout);
    }
    putchar('\n');
    table_print(stdout);
    if (set.json && !table_json(set.json)) {
        perror(set.json);
        return 1;
    }
    return 0;
}
