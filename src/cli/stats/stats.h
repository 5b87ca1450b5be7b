/* `perfile stats`: the keys of --by, counts by them, lines of code, and the command line.
 *
 * A value is one uint64_t: a type (cli_type_key()), an index of an event, a number, a time divided
 * by its step, or, for comm and dso, the address of a string in the model.  Strings of the model
 * are unique, so equal addresses are equal names. */
#ifndef CLI_STATS_STATS_H
#define CLI_STATS_STATS_H

#include "cli/input.h"
#include "cli/print.h"
#include "perfile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_MAX_KEYS = 10 };

/* The counts for one key. */
typedef struct cli_group {
    uint64_t records;
    uint64_t bytes;
    uint64_t samples;
    uint64_t period; /* sum over the samples */
    uint32_t event;  /* index of the samples' event + 1; 0: no sample yet, or of no event */
    bool no_period;  /* the sum means nothing: samples of several events, or without a period */
    uint64_t key[CLI_MAX_KEYS];
} cli_group;

/* A hash table of groups, with open addressing.  All zeros except `n_keys` and `seed` is an empty
 * one.  The seed is random, so that the author of an input cannot choose keys that collide. */
typedef struct cli_groups {
    unsigned n_keys; /* numbers of a key that are used */
    uint64_t seed;
    cli_group *at; /* the groups in the order in which they were added */
    size_t n, cap;
    size_t *slots;  /* index into `at` + 1; 0: a free slot */
    size_t n_slots; /* a power of two, twice `cap` */
    size_t last;    /* index of the group that was counted last */
} cli_groups;

/* The keys of --by, in the order given. */
typedef struct cli_keys {
    unsigned n;
    uint8_t kind[CLI_MAX_KEYS];  /* a constant of count.c */
    uint64_t step[CLI_MAX_KEYS]; /* for the key time: ns */
    char *field[CLI_MAX_KEYS];   /* for a field: its name; NULL for others */
    bool needs_model;            /* some field needs names, mappings or functions */
    bool step_given;             /* else it is the default */
} cli_keys;

/* Enumerates the names of the keys. */
cli_word cli_key_word;

/* Adds the keys of a comma-separated list.  Returns an error message, or NULL. */
const char *cli_keys_add(cli_keys *keys, const char *list);

/* Writes "; did you mean comm?" for the first word of `list` that is not a key; "" if nothing is
 * similar.  Returns `out`. */
const char *cli_keys_suggestion(const char *list, char *out, size_t size);

const char *cli_key_name(const cli_keys *keys, unsigned k);
const char *cli_key_heading(const cli_keys *keys, unsigned k); /* as in cli_table_new() */

/* The counts of one input. */
typedef struct cli_counts {
    const cli_keys *keys;
    cli_groups groups; /* a group for each combination of values */
    cli_group total;
    bool periods; /* periods were counted: not for types alone */
    cli_losses losses;
    const perfile_session *session;
    struct cli_thread_name *threads;        /* names that were asked for: count.c; NULL: none yet */
    const perfile_symbols_options *symbols; /* by which fields look up functions; NULL: not */
    struct cli_field *fields;  /* of keys that are fields, by key: fields.c; NULL: none */
    perfile_profile *counters; /* counts of perf stat; NULL: there is no record of it */
} cli_counts;

void cli_counts_start(cli_counts *counts, const cli_keys *keys);

/* Counts all records of `in`, and sums up the groups.  An error of reading is in in->status.
 * PERFILE_E_NOMEM; PERFILE_E_USAGE: no record of the capture can have the field of some key. */
perfile_status cli_count(cli_counts *counts, cli_input *in, perfile_error *err);

/* Counts of perf stat (counters.c): puts records in, of which others are skipped; ends that.  What
 * fails is in in->status. */
void cli_counters_put(cli_counts *counts, cli_input *in, const perfile_record *first, size_t n);
void cli_counters_finish(cli_counts *counts, cli_input *in);

/* Says whether there are any, prints them as a table, and as members of a JSON object.  False if
 * there is no memory. */
bool cli_counters_any(const cli_counts *counts);
bool cli_counters_print(const cli_counts *counts, uint64_t top);
bool cli_counters_json(const cli_counts *counts, uint64_t top);

/* True if a record is one of those that counters need. */
static inline bool cli_is_of_counters(const perfile_record *r)
{
    return r->type >= PERFILE_RECORD_THREAD_MAP && r->type <= PERFILE_RECORD_STAT_ROUND;
}

/* Makes one row of those that have the same names.  False if there is no memory. */
bool cli_counts_join(cli_counts *counts);

/* Returns the first key that needs a model (names or mappings), -1 if none does. */
int cli_key_resolved(const cli_keys *keys);

/* True if some key is the file of an address. */
bool cli_keys_of_files(const cli_keys *keys);

/* True if some key is of places in code, which only samples have: then they are counted by a
 * profile (code.c) instead of the functions below. */
bool cli_keys_of_code(const cli_keys *keys);

/* PERFILE_PER_… of key `k`; 0: profiles do not have it. */
uint8_t cli_key_per(const cli_keys *keys, unsigned k);

/* The same for counts of perf stat. */
uint8_t cli_key_of_counters(const cli_keys *keys, unsigned k);

/* True if `type` is the only key: then records are counted without being decoded. */
bool cli_keys_type_only(const cli_keys *keys);

/* Compares two values of key `k`, as for qsort(). */
int cli_key_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b);

/* Prints a value of key `k` as members of a JSON object; adds it as a cell of a table. */
void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value);
void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t);

void cli_counts_end(cli_counts *counts);

/* fields.c: keys that are names of fields. */

/* Makes key `k` of a word.  Returns an error message, or NULL. */
const char *cli_field_key(cli_keys *keys, unsigned k, const char *word);
const char *cli_field_heading(const cli_keys *keys, unsigned k);

void cli_field_keys_free(cli_keys *keys);

/* Errors as of cli_count(). */
perfile_status cli_fields_open(cli_counts *counts, const perfile_model *model, perfile_error *err);
void cli_fields_close(cli_counts *counts);

/* The value of key `k` for a record, UINT64_MAX if it has none; the text of a value. */
perfile_status cli_field_value(cli_counts *counts, unsigned k, const perfile_record *r,
                               uint64_t *value, perfile_error *err);
const char *cli_field_text(const cli_counts *counts, unsigned k, uint64_t value);
int cli_field_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b);

/* What rows are sorted by, and what PERCENT is a share of.  BY_SAMPLES and on are in the order of
 * the words of --sort. */
enum {
    BY_DEFAULT = 0,
    BY_SAMPLES,
    BY_PERIOD,
    BY_RECORDS,
    BY_BYTES,
    BY_KEY,
    BY_TOTAL,
    BY_DELTA,
    BY_RATIO,
    BY_ON,
    BY_OFF,
    BY_WAITING,
    BY_SWITCHES
};

/* Which call trees are printed: TREE_CALLERS and on are in the order of the words of --tree. */
enum { TREE_NONE = 0, TREE_DEFAULT, TREE_CALLERS, TREE_CALLEES };

typedef struct cli_stats_settings {
    cli_reading how;
    uint32_t jobs; /* -j */
    cli_selection select;
    cli_keys keys;
    cli_symbols symbols;
    const char *parent;   /* NULL: the default */
    uint32_t unknown;     /* PERFILE_PROFILE_UNKNOWN_… */
    bool of_code;         /* samples are counted by a profile: keys of code, --total, --tree … */
    const char *function; /* whose callers or callees are counted; NULL: all samples are */
    uint32_t around;      /* PERFILE_PROFILE_CALLERS or …_CALLEES */
    const char *before;   /* the capture that inputs are compared with; NULL: none */
    bool on_cpu;          /* times on processors and off them are added up */
    int tree;             /* TREE_… */
    double least;         /* percent: nodes of trees below are left out */
    uint64_t depth;       /* of trees; 0: the default */
    uint64_t width;       /* likewise; 0: all */
    bool json;
    bool heading; /* the name of each file is printed above its table */
    int sort;     /* BY_… */
    uint64_t top; /* 0: all */
} cli_stats_settings;

/* Checks which options go together, and sets of_code and the default keys: CLI_CONTINUE, or the
 * exit status. */
int cli_stats_check(cli_stats_settings *set);

/* A row of a profile. */
typedef struct cli_line {
    perfile_profile_row row;
    uint64_t number; /* of the row in the profile */
    uint64_t before; /* samples or period, as shares are, of the capture before */
} cli_line;

/* What a profile counted for one input, in the order of its lines. */
typedef struct cli_lines {
    const cli_stats_settings *set;
    perfile_profile *profile;
    perfile_profile_summary sum;
    cli_line *at;
    size_t n; /* rows; of a comparison only those of which samples were taken there */
    cli_losses losses;
    cli_symbols symbols; /* where names come from, and what has none */
    int sorted_by;       /* BY_… */
    int tree;            /* TREE_… */
    bool periods;        /* shares are of periods, not of samples */
} cli_lines;

/* How many lines --top lets be printed. */
size_t cli_lines_shown(const cli_lines *c);

/* The text that a row has for a key PERFILE_PER_…; NULL: it is unknown, or a number. */
const char *cli_line_text(const perfile_profile_row *row, uint8_t per);

/* The number that a row has for a key; UINT32_MAX: it is unknown, or a text. */
uint32_t cli_line_number(const perfile_profile_row *row, uint8_t per);

/* The share of a line's samples or periods among all, in percent; `all` 0: 0. */
double cli_lines_share(uint64_t part, uint64_t all);

/* Prints the lines, their losses and what has no name; false if there is no memory. */
bool cli_lines_print(cli_lines *c, const cli_input *in);

/* Prints them as a JSON object. */
void cli_lines_json(cli_lines *c, const cli_input *in);

/* Does one input by a profile, and returns its exit status. */
int cli_stats_of_code(cli_file *file, const cli_stats_settings *set);

/* The same for times on processors and off them. */
int cli_stats_of_times(cli_file *file, const cli_stats_settings *set);

/* Checks what goes with --on-cpu, and sets the default key: CLI_CONTINUE, or the exit status. */
int cli_stats_check_times(cli_stats_settings *set);

#endif
