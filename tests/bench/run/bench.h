/* The parts of the benchmark. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FLAT, CHAINS, TRACEPOINTS, DWARF, N_KINDS };

/* A capture, whole in memory and touched. */
typedef struct capture {
    unsigned kind;
    char path[4096];
    const uint8_t *bytes;
    size_t size;
    const uint8_t *data; /* the records */
    size_t data_size;
    uint64_t n_records;
} capture;

extern const char *const kind_names[N_KINDS];

typedef struct settings {
    unsigned rounds;
    unsigned megabytes;
    const char *only;
    const char *rows;
    const char *json;
    bool no_perf;
    char dir[2048];
    char tools[2048];
    char command[4096];
} settings;

/* captures.c: makes the captures that `dir` does not have yet, of `megabytes`; `slice`: of the
 * small ones for what is slow. */
bool captures_make(const char *dir, const char *tools, unsigned kind, unsigned megabytes,
                   bool slice, capture *c);
/* A recording of two processes with rounds of 16 MB and more, or the same `sorted`. */
bool captures_make_rounds(const settings *set, bool sorted, capture *c);
void captures_release(capture *c);

/* Before each try: the file is in the page cache, and what the last try has written is gone. */
void captures_ready(const capture *c);
/* Where loops and commands write, beside the capture. */
#define COPY_SUFFIX ".copy"
#define OUT_SUFFIX  ".out"

/* The forms that make_form knows, of the same records. */
enum { FORM_PIPE, FORM_ZSTD, FORM_PIPE_ZSTD, N_FORMS };
extern const char *const form_names[N_FORMS];
/* Memory that their decompression needs: the window of make_form's frames. */
#define ZSTD_WINDOW_MB 0.5

/* Reads a file, so that it is in the page cache. */
void captures_cache(const char *path);

/* Makes that form of `c` beside it, as far as it is not there; `path` has 4096 bytes. */
bool captures_make_form(const char *tools, const capture *c, unsigned form, char *path);

/* One loop over a capture.  The sum is of what was read, so that nothing is left out and equal work
 * can be told from unequal. */
typedef uint64_t loop(const capture *c);

typedef struct contender {
    const char *name;
    loop *run;
    double best; /* seconds */
    uint64_t sum;
} contender;

/* contest.c: runs the contenders in turn and keeps the best time of each, until none was better for
 * `rounds` turns, eight times as many at most. */
void contest(contender *all, size_t n, const capture *c, unsigned rounds);

/* Processor time of this process, in seconds: others may be at work beside it. */
double cpu_time(void);
/* The clock on the wall, in seconds. */
double wall_time(void);

/* limits.c: what the machine can do. */
loop limit_walk, limit_walk_ahead_1k, limit_walk_ahead_4k;
loop limit_pages, limit_touch, limit_populate, limit_read_bare, limit_read_two, limit_memcpy;
/* The same for whoever follows the records on the way. */
loop limit_read, limit_copy, limit_copy_four, limit_write, limit_write_small;

/* hand.c: what a program written for one layout alone does. */
loop hand_flat, hand_chains, hand_tracepoints, hand_dwarf;
loop hand_time_flat, hand_time_chains, hand_time_tracepoints, hand_time_dwarf;
extern loop *const hand_decode[N_KINDS];
extern loop *const hand_time[N_KINDS];
/* sample_type that the loops above are written for. */
extern const uint64_t hand_sample_type[N_KINDS];

/* library.c: the same through the library. */
loop library_walk, library_walk_runs, library_walk_file;
loop library_decode, library_decode_runs, library_check, library_time, library_time_runs;
/* The writer: records one by one and by the run, and spans as a ring buffer gives them. */
loop library_put, library_put_runs, library_put_spans;
loop library_where;
/* Allocations of the library while it reads and decodes the second half of the records. */
uint64_t library_allocations(const capture *c);

/* process.c */
typedef struct usage {
    bool ok;
    double seconds;      /* user and system time */
    double wall;         /* seconds from its start to its end */
    double anonymous_mb; /* the most memory of its own at a time, as far as it was seen */
    double resident_mb;  /* the most memory that was resident, files included, likewise */
    uint64_t bytes_out;
} usage;

/* Runs `argv` with standard output to /dev/null (or counted); `input` (may be NULL) comes through a
 * pipe. */
usage process_run(const char *const *argv, const char *input, bool count_output);

/* Two at once: the time until both have ended, and the processor time of both. */
usage process_pair(const char *const *one, const char *const *other);

/* Runs it, with the beginning of its standard output in `text`. */
bool process_output(const char *const *argv, char *text, size_t size);

/* Runs it `rounds` times: the best time, and the most memory. */
usage process_best(const char *const *argv, const capture *c, unsigned rounds);

/* turns.c: `limit` and a command that writes to `out` take turns: how fast memory for a new file is
 * to be had changes from one second to the next. */
typedef struct turns {
    double limit; /* seconds */
    usage command;
} turns;
turns turns_take(const settings *set, const capture *c, loop *limit, const char *const *argv);
/* The same, told: "what / loop" with what is required, and "what: memory". */
turns turns_rows(const settings *set, const capture *c, loop *limit, const char *const *argv,
                 const char *what, double required, double most_mb);
/* Seconds of `perf inject -i IN -o OUT`; NAN when it is not asked for or fails. */
double turns_inject(const settings *set, const capture *c);
/* The row "what / perf inject": `ratio` is how many times as fast as perf the command is, and
 * `possible` how many times as fast a loop is that only reads and writes as much.  Ten times is
 * required where the loop is that fast. */
void turns_inject_row(const char *kind, const char *what, double ratio, double possible);

/* The rows, by file. */
void loops_rows(const settings *set, const capture *c);
void commands_rows(const settings *set, const capture *c);
void stages_rows(const settings *set, const capture *c);
void dumps_rows(const settings *set, const capture *slice);
void exports_rows(const settings *set, const capture *c);
void wall_rows(const settings *set, const capture *c);
void archive_rows(const settings *set, const capture *c);
void rounds_rows(const settings *set);
void perfmon_rows(const settings *set);

/* table.c */
/* `value` in its unit; `required` NAN when there is none; `at_most`: less is better. */
void table_row(const char *capture, const char *what, double value, const char *unit,
               double required, bool at_most, const char *note);
void table_memory(const char *capture, const char *what, const usage *u, double most);
void table_print(FILE *f);
bool table_json(const char *path);

#endif
