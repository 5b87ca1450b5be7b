/* The keys of `perfile stats --by`: how a record gets its value, and how values are shown.
 *
 * A value is one uint64_t: a type (cli_type_key()), an index of an event, a number, a time divided
 * by its step, or, for comm and dso, the address of a string in the model.  Strings of the model
 * are unique, so equal addresses are equal names. */
#ifndef CLI_STATS_KEY_H
#define CLI_STATS_KEY_H

#include "cli/groups.h"
#include "cli/input.h"
#include "cli/table.h"
#include "cli/losses.h"
#include "perfile/profile.h"

/* The keys of --by, in the order given. */
typedef struct cli_keys {
    unsigned n;
    uint8_t kind[CLI_MAX_KEYS];  /* a constant of key.c */
    uint64_t step[CLI_MAX_KEYS]; /* for the key time: ns */
} cli_keys;

/* Enumerates the names of the keys. */
cli_word cli_key_word;

/* Adds the keys of a comma-separated list.  Returns an error message, or NULL. */
const char *cli_keys_add(cli_keys *keys, const char *list);

/* Writes "; did you mean comm?" for the first word of `list` that is not a key; "" if nothing is
 * similar.  Returns `out`. */
const char *cli_keys_suggestion(const char *list, char *out, size_t size);

const char *cli_key_name(const cli_keys *keys, unsigned k);
const char *cli_key_heading(const cli_keys *keys, unsigned k); /* as in table.h */

/* The counts of one input. */
typedef struct cli_counts {
    const cli_keys *keys;
    cli_groups groups; /* a group for each combination of values */
    cli_group total;
    bool periods; /* periods were counted: not for types alone */
    cli_losses losses;
    const perfile_session *session;
} cli_counts;

void cli_counts_start(cli_counts *counts, const cli_keys *keys);

/* Counts all records of `in`, and sums up the groups.  Returns false if there is no memory; an
 * error of reading is in in->status. */
bool cli_count(cli_counts *counts, cli_input *in);

/* The name of a value of key `k` as it is printed, if it is one that records do not have themselves
 * (an event, a mapped file); false: it is not. */
bool cli_key_text(const cli_counts *counts, unsigned k, uint64_t value, perfile_bytes *name);

/* join.c: makes one row of those that have the same names.  False if there is no memory. */
bool cli_counts_join(cli_counts *counts);

/* Returns the value of key `k` for a record; UINT64_MAX if it has none. */
uint64_t cli_key_value(const cli_keys *keys, unsigned k, const cli_input *in,
                       const perfile_record *r);

/* Returns the first key that needs a model (names or mappings), -1 if none does. */
int cli_key_resolved(const cli_keys *keys);

/* True if some key is of places in code, which only samples have: then they are counted by a
 * profile (profile.c) instead of the functions below. */
bool cli_keys_of_code(const cli_keys *keys);

/* PERFILE_PER_… of key `k`; 0: profiles do not have it. */
uint8_t cli_key_per(const cli_keys *keys, unsigned k);

/* True if `type` is the only key: then records are counted without being decoded. */
bool cli_keys_type_only(const cli_keys *keys);

/* Compares two values of key `k`, as for qsort(). */
int cli_key_order(const cli_keys *keys, unsigned k, uint64_t a, uint64_t b);

/* Prints a value of key `k` as members of a JSON object; adds it as a cell of a table. */
void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value);
void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t);

void cli_counts_end(cli_counts *counts);

#endif
