/* `perfile stats`: the keys of --by, counts by keys, lines of code, and the settings of the command
 * line.
 *
 * The value of a key is one uint64_t: a type (cli_type_key()), the index of an event, a number, a
 * time divided by its step, or, for comm and dso, the address of a string in the model.  Strings of
 * the model are unique, so equal names have equal addresses. */
#ifndef CLI_STATS_STATS_H
#define CLI_STATS_STATS_H

#include "cli/input.h"
#include "cli/print.h"
#include "perfile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_MAX_KEYS = 10 };

/* The counts for one combination of key values. */
typedef struct cli_group {
    uint64_t records;
    uint64_t bytes;
    uint64_t samples;
    uint64_t period; /* sum of the samples */
    uint32_t event;  /* index of the event of the samples + 1; 0: no sample yet, or no event */
    bool no_period;  /* `period` has no meaning: several events, or samples without a period */
    uint64_t key[CLI_MAX_KEYS];
} cli_group;

/* A hash table of groups, with open addressing.  It is empty if all members except `n_keys` and
 * `seed` are zero.  The seed is random, so that the author of an input cannot choose keys that
 * collide. */
typedef struct cli_groups {
    unsigned n_keys; /* used entries of cli_group.key */
    uint64_t seed;
    cli_group *at; /* the groups, in order of insertion */
    size_t n, cap;
    size_t *slots;  /* index into `at` + 1; 0 if free */
    size_t n_slots; /* a power of two, twice `cap` */
    size_t last;    /* index of the group that was counted last */
} cli_groups;

/* The keys of --by, in the order given. */
typedef struct cli_keys {
    unsigned n;
    uint8_t kind[CLI_MAX_KEYS];  /* a constant from count.c */
    uint64_t step[CLI_MAX_KEYS]; /* for the key `time`: ns */
    char *field[CLI_MAX_KEYS];   /* name of the field; NULL for other keys */
    bool needs_model;            /* a field needs names, mappings or functions */
    bool step_given;             /* the command line has the step of the key `time`; else it is the
                                  * default */
} cli_keys;

/* Returns the name of key `i`, or NULL after the last one. */
cli_word cli_key_word;

/* Adds the keys of a comma-separated list.  Returns NULL, or an error message. */
const char *cli_keys_add(cli_keys *keys, const char *list);

/* Writes "; did you mean comm?" for the first word of `list` that is not a key, or "" if nothing is
 * similar.  Returns `out`. */
const char *cli_keys_suggestion(const char *list, char *out, size_t size);

const char *cli_key_name(const cli_keys *keys, unsigned k);
const char *cli_key_heading(const cli_keys *keys, unsigned k); /* as in cli_table_new() */

/* The counts of one input. */
typedef struct cli_counts {
    const cli_keys *keys;
    cli_groups groups; /* one for each combination of values */
    cli_group total;
    bool periods; /* periods were counted; not done for types alone */
    cli_losses losses;
    const perfile_session *session;
    struct cli_thread_name *threads;        /* cache of thread names (count.c); NULL at first */
    const perfile_symbols_options *symbols; /* for fields that look up functions; NULL if no names
                                             * are wanted */
    struct cli_field *fields;  /* by key, for keys that are fields (fields.c); NULL if not open */
    perfile_profile *counters; /* counts of perf stat; NULL if there are no such records */
} cli_counts;

void cli_counts_start(cli_counts *counts, const cli_keys *keys);

/* Counts all records of `in`, and sums up the groups.  A read error is in in->status.  Returns
 * PERFILE_E_NOMEM, or PERFILE_E_USAGE if no record of the capture can have the field of some
 * key. */
perfile_status cli_count(cli_counts *counts, cli_input *in, perfile_error *err);

/* Counts of perf stat (counters.c).  The first function counts records, and ignores other types;
 * the second finishes the counts.  Errors are in in->status. */
void cli_counters_put(cli_counts *counts, cli_input *in, const perfile_record *first, size_t n);
void cli_counters_finish(cli_counts *counts, cli_input *in);

/* Return whether there are such counts, print them as a table, and print them as members of a JSON
 * object.  The last two return false when out of memory. */
bool cli_counters_any(const cli_counts *counts);
bool cli_counters_print(const cli_counts *counts, uint64_t top);
bool cli_counters_json(const cli_counts *counts, uint64_t top);

/* True if a record is of a type that the counts of perf stat need. */
static inline bool cli_is_of_counters(const perfile_record *r)
{
    return r->type >= PERFILE_RECORD_THREAD_MAP && r->type <= PERFILE_RECORD_STAT_ROUND;
}

/* Joins rows that have the same names into one.  Returns false when out of memory. */
bool cli_counts_join(cli_counts *counts);

/* Returns the first key that needs a model (names or mappings), or -1 if none does. */
int cli_key_resolved(const cli_keys *keys);

/* True if a key is the file of an address. */
bool cli_keys_of_files(const cli_keys *keys);

/* True if a key is a location in code, which only samples have.  Then a profile counts them
 * (code.c) instead of the functions below. */
bool cli_keys_of_code(const cli_keys *keys);

/* Returns PERFILE_PER_… for key `k`, or 0 if profiles do not have it. */
uint8_t cli_key_per(const cli_keys *keys, unsigned k);

/* Like cli_key_per(), for counts of perf stat. */
uint8_t cli_key_of_counters(const cli_keys *keys, unsigned k);

/* True if `type` is the only key.  Then records are counted without decoding them. */
bool cli_keys_type_only(const cli_keys *keys);

/* Compares two values of key `k`, like a qsort() function. */
int cli_key_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b);

/* Print a value of key `k` as members of a JSON object, and add it as a cell of a table. */
void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value);
void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t);

void cli_counts_end(cli_counts *counts);

/* Keys that are names of fields (fields.c). */

/* Makes key `k` from a word.  Returns NULL, or an error message. */
const char *cli_field_key(cli_keys *keys, unsigned k, const char *word);
const char *cli_field_heading(const cli_keys *keys, unsigned k);

void cli_field_keys_free(cli_keys *keys);

/* Returns errors like cli_count(). */
perfile_status cli_fields_open(cli_counts *counts, const perfile_model *model, perfile_error *err);
void cli_fields_close(cli_counts *counts);

/* The first function sets *value to the value of key `k` for a record, UINT64_MAX if it has none.
 * The others return the text of a value, and compare two values. */
perfile_status cli_field_value(cli_counts *counts, unsigned k, const perfile_record *r,
                               uint64_t *value, perfile_error *err);
const char *cli_field_text(const cli_counts *counts, unsigned k, uint64_t value);
int cli_field_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b);

/* Sort orders of rows; PERCENT is the share of the same number.  The order from BY_SAMPLES on is
 * that of the words of --sort. */
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

/* Which call trees are printed.  The order from TREE_CALLERS on is that of the words of --tree. */
enum { TREE_NONE = 0, TREE_DEFAULT, TREE_CALLERS, TREE_CALLEES };

typedef struct cli_stats_settings {
    cli_reading how;
    uint32_t jobs; /* -j */
    cli_selection select;
    cli_keys keys;
    cli_symbols symbols;
    const char *parent;   /* NULL for the default */
    uint32_t unknown;     /* PERFILE_PROFILE_UNKNOWN_… */
    bool of_code;         /* a profile counts samples: keys of code, --total, --tree … */
    const char *function; /* count its callers or callees only; NULL: count all samples */
    uint32_t around;      /* PERFILE_PROFILE_CALLERS or …_CALLEES */
    const char *before;   /* the capture that inputs are compared with, or NULL */
    bool on_cpu;          /* add up times on CPUs and off them */
    int tree;             /* TREE_… */
    double least;         /* in percent: trees omit nodes with less */
    uint64_t depth;       /* of trees; 0 for the default */
    uint64_t width;       /* of trees; 0 for all */
    bool json;
    bool heading; /* print the name of each file above its table */
    int sort;     /* BY_… */
    uint64_t top; /* 0 for all */
} cli_stats_settings;

/* Checks which options can be combined, and sets of_code and the default keys.  Returns
 * CLI_CONTINUE or an exit status. */
int cli_stats_check(cli_stats_settings *set);

/* A row of a profile. */
typedef struct cli_line {
    perfile_profile_row row;
    uint64_t number; /* index of the row in the profile */
    uint64_t before; /* samples or periods (like the shares) in the capture before */
} cli_line;

/* The counts of a profile for one input, in the order of its lines. */
typedef struct cli_lines {
    const cli_stats_settings *set;
    perfile_profile *profile;
    perfile_profile_summary sum;
    cli_line *at;
    size_t n; /* number of rows; in a comparison, only rows that have samples in one of the
               * captures */
    cli_losses losses;
    cli_symbols symbols; /* where names come from, and addresses without names */
    int sorted_by;       /* BY_… */
    int tree;            /* TREE_… */
    bool periods;        /* shares are of periods, else of samples */
} cli_lines;

/* Returns how many lines to print (--top). */
size_t cli_lines_shown(const cli_lines *c);

/* Returns the text of a row for a key PERFILE_PER_…, or NULL if it is unknown or a number. */
const char *cli_line_text(const perfile_profile_row *row, uint8_t per);

/* Returns the number of a row for a key, or UINT32_MAX if it is unknown or a text. */
uint32_t cli_line_number(const perfile_profile_row *row, uint8_t per);

/* Returns `part` of `all` in percent; 0 if `all` is 0. */
double cli_lines_share(uint64_t part, uint64_t all);

/* Prints the lines, losses, and addresses without names.  Returns false when out of memory. */
bool cli_lines_print(cli_lines *c, const cli_input *in);

/* Prints them as a JSON object. */
void cli_lines_json(cli_lines *c, const cli_input *in);

/* Counts one input with a profile, prints the result, and returns the exit status. */
int cli_stats_of_code(cli_file *file, const cli_stats_settings *set);

/* Like cli_stats_of_code(), for times on CPUs and off them. */
int cli_stats_of_times(cli_file *file, const cli_stats_settings *set);

/* Checks the options for --on-cpu, and sets the default key.  Returns CLI_CONTINUE or an exit
 * status. */
int cli_stats_check_times(cli_stats_settings *set);

#endif
