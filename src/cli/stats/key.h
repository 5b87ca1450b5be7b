/* What `stats` counts by. */
#ifndef CLI_STATS_KEY_H
#define CLI_STATS_KEY_H

#include "cli/groups.h"
#include "cli/input.h"
#include "cli/table.h"
#include "cli/losses.h"
#include "perfile/model.h"

typedef struct cli_keys {
    unsigned n;
    uint8_t kind[CLI_MAX_KEYS];
    uint64_t step[CLI_MAX_KEYS]; /* ns, of time */
} cli_keys;

/* Names of the keys. */
cli_word cli_key_word;

/* Adds keys, separated by commas.  What is wrong, or NULL. */
const char *cli_keys_add(cli_keys *keys, const char *list);

/* "; did you mean comm?" for the first word of `list` that is no key, or nothing. */
const char *cli_keys_suggestion(const char *list, char *out, size_t size);

const char *cli_key_name(const cli_keys *keys, unsigned k);
const char *cli_key_heading(const cli_keys *keys, unsigned k);

typedef struct cli_counts {
    const cli_keys *keys;
    cli_groups groups;
    cli_group total;
    bool periods; /* they were looked at */
    cli_losses losses;
    const perfile_session *session;
} cli_counts;

void cli_counts_start(cli_counts *counts, const cli_keys *keys);

/* Counts all records of `in`.  False when there is no memory; the end of reading is in in->status.
 */
bool cli_count(cli_counts *counts, cli_input *in);

/* The value of key `k`; UINT64_MAX when the record has none. */
uint64_t cli_key_value(const cli_keys *keys, unsigned k, const cli_input *in,
                       const perfile_record *r);

/* Which key needs names and mappings, or -1; whether `type` is all that is asked for. */
int cli_key_resolved(const cli_keys *keys);
bool cli_keys_type_only(const cli_keys *keys);

/* Below 0, 0 or above, as a stands before, with or behind b. */
int cli_key_order(const cli_keys *keys, unsigned k, uint64_t a, uint64_t b);

/* A value of key `k` as a member of a JSON object, and as a cell. */
void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value);
void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t);

void cli_counts_end(cli_counts *counts);

#endif
