/* The keys of key.h: a table of names, and a `switch` over the kinds for each thing that is done
 * with a value. */
#include "cli/stats/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/text.h"
#include "cli/options.h"

enum { TYPE, EVENT, CPU, PID, TID, COMM, DSO, TIME, SYM, PARENT, SRCLINE, N_KINDS };

static const struct {
    const char *name;
    const char *heading; /* '>': right-aligned, see table.h */
    uint8_t per;         /* PERFILE_PER_… of the library's profiles; 0: it has no such key */
} kinds[N_KINDS] = {
    [TYPE] = {"type", "TYPE", 0},
    [EVENT] = {"event", "EVENT", PERFILE_PER_EVENT},
    [CPU] = {"cpu", ">CPU", PERFILE_PER_CPU},
    [PID] = {"pid", ">PID", PERFILE_PER_PID},
    [TID] = {"tid", ">TID", PERFILE_PER_TID},
    [COMM] = {"comm", "COMM", PERFILE_PER_COMM},
    [DSO] = {"dso", "DSO", PERFILE_PER_DSO},
    [TIME] = {"time", ">TIME", 0},
    [SYM] = {"sym", "SYMBOL", PERFILE_PER_SYMBOL},
    [PARENT] = {"parent", "PARENT", PERFILE_PER_PARENT},
    [SRCLINE] = {"srcline", "SRCLINE", PERFILE_PER_SOURCE},
};

#define NO_VALUE UINT64_MAX /* the record has no value for the key */

const char *cli_key_word(size_t i)
{
    return i < N_KINDS ? kinds[i].name : NULL;
}

/* Reads a step of time such as "10ms" as ns; 0 if it is not one. */
static uint64_t read_step(const char *word)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}};
    char *end;
    double value = strtod(word, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double ns = value * units[i].ns;
        if (end != word && strcmp(end, units[i].unit) == 0 && ns >= 1 && ns < 1e18)
            return (uint64_t)ns;
    }
    return 0;
}

/* Returns a sentence with all keys, as an error message. */
static const char *known_keys(void)
{
    static char text[192];
    size_t len = 0;
    for (unsigned kind = 0; kind < N_KINDS && len < sizeof text; kind++) {
        const char *between = kind == 0 ? "the keys are " : kind + 1 < N_KINDS ? ", " : " and ";
        int n = snprintf(text + len, sizeof text - len, "%s%s%s", between, kinds[kind].name,
                         kind == TIME ? "=STEP" : "");
        len += n > 0 ? (size_t)n : 0;
    }
    return text;
}

/* Adds the key of `word`, "pid" or "time=10ms".  Returns an error message, or NULL. */
static const char *add_key(cli_keys *keys, const char *word)
{
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : strlen(word);
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        if (strlen(kinds[kind].name) != n || memcmp(kinds[kind].name, word, n) != 0)
            continue;
        /* The word is this key; what remains is to check how it is used. */
        if (keys->n == CLI_MAX_KEYS)
            return "too many keys";
        for (unsigned k = 0; k < keys->n; k++)
            if (keys->kind[k] == kind)
                return "a key is given twice";
        keys->kind[keys->n] = (uint8_t)kind;
        if (kind == TIME) {
            keys->step[keys->n] = value ? read_step(value + 1) : 1000000000; /* default: 1 s */
            if (!keys->step[keys->n])
                return "time takes a step such as 1s, 10ms or 250us";
        } else if (value) {
            return "only time takes a step";
        }
        keys->n++;
        return NULL;
    }
    return known_keys();
}

const char *cli_keys_add(cli_keys *keys, const char *list)
{
    do {
        char word[64];
        size_t n = strcspn(list, ",");
        if (n >= sizeof word)
            return known_keys();
        memcpy(word, list, n);
        word[n] = 0;
        const char *wrong = add_key(keys, word);
        if (wrong)
            return wrong;
        list += n + (list[n] == ',');
    } while (*list);
    return NULL;
}

const char *cli_keys_suggestion(const char *list, char *out, size_t size)
{
    const char *names[N_KINDS];
    char word[64];
    for (unsigned kind = 0; kind < N_KINDS; kind++)
        names[kind] = kinds[kind].name;
    out[0] = '\0';
    for (size_t n; *list && !out[0]; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)strcspn(list, ",="), list);
        bool known = false;
        for (unsigned kind = 0; kind < N_KINDS; kind++)
            known |= strcmp(word, names[kind]) == 0; /* then there is nothing to suggest for it */
        if (!known)
            cli_suggestion(word, names, N_KINDS, out, size);
    }
    return out;
}

const char *cli_key_name(const cli_keys *keys, unsigned k)
{
    return kinds[keys->kind[k]].name;
}

const char *cli_key_heading(const cli_keys *keys, unsigned k)
{
    return kinds[keys->kind[k]].heading;
}

/* Returns what is shown of a mapped file, for a value that is the address of its name. */
static perfile_bytes dso_of_value(uint64_t value)
{
    return perfile_mapping_dso(&(perfile_mapping){.name = (const char *)(uintptr_t)value});
}

/* Returns the name that a value stands for; NULL if it is shown as a number, or if there is none.
 */
static const char *name_of_value(const cli_counts *counts, unsigned k, uint64_t value, char *buf,
                                 size_t size)
{
    switch (counts->keys->kind[k]) {
    case TYPE:
        return cli_type_name(value, buf, size);
    case EVENT: {
        const perfile_event *e = perfile_session_event(counts->session, (uint32_t)value);
        return e ? e->name : NULL;
    }
    case COMM:
        return (const char *)(uintptr_t)value;
    default:
        return NULL;
    }
}

bool cli_key_text(const cli_counts *counts, unsigned k, uint64_t value, perfile_bytes *name)
{
    if (value == NO_VALUE)
        return false;
    if (counts->keys->kind[k] == DSO) {
        *name = dso_of_value(value);
        return true;
    }
    const char *text =
        counts->keys->kind[k] == EVENT ? name_of_value(counts, k, value, NULL, 0) : NULL;
    *name = (perfile_bytes){(const uint8_t *)text, text ? strlen(text) : 0};
    return text != NULL;
}

void cli_key_json(const cli_counts *counts, unsigned k, uint64_t value)
{
    char buf[32];
    const char *name = cli_key_name(counts->keys, k);
    if (value == NO_VALUE) {
        cli_json_null(name);
        return;
    }
    switch (counts->keys->kind[k]) {
    case TYPE:
        cli_json_string("type", perfile_type_name((unsigned)(value >> 32), (uint32_t)value));
        cli_json_number("type_number", cli_type_number(value));
        break;
    case EVENT:
        cli_json_string("event", name_of_value(counts, k, value, buf, sizeof buf));
        cli_json_number("event_index", value);
        break;
    case COMM:
        cli_json_string("comm", name_of_value(counts, k, value, buf, sizeof buf));
        break;
    case DSO:
        cli_json_text("dso", dso_of_value(value));
        break;
    case TIME:
        cli_json_decimal("time", value * counts->keys->step[k]);
        break;
    default:
        if (value == UINT32_MAX) /* pid or tid of no process */
            cli_json_signed(name, -1);
        else
            cli_json_number(name, value);
    }
}

void cli_key_cell(const cli_counts *counts, unsigned k, uint64_t value, cli_table *t)
{
    char buf[32];
    const char *word = value != NO_VALUE ? name_of_value(counts, k, value, buf, sizeof buf) : "-";
    if (word) {
        cli_cell_string(t, word);
    } else if (counts->keys->kind[k] == DSO) {
        cli_cell_text(t, dso_of_value(value));
    } else if (counts->keys->kind[k] == TIME) {
        cli_format_seconds(value * counts->keys->step[k], buf, sizeof buf);
        cli_cell_string(t, buf);
    } else if (value == UINT32_MAX) { /* pid or tid of no process */
        cli_cell_string(t, "-1");
    } else {
        cli_cell(t, "%" PRIu64, value);
    }
}

/* The index of the event of a record.  A kernel record without a trailer has no id: any event would
 * be a guess, and --event does not select it. */
static uint64_t event_of(const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    const bool guessed = e && r->type < PERFILE_RECORD_USER && r->type != PERFILE_RECORD_SAMPLE &&
                         r->type != PERFILE_RECORD_READ && !e->layout->sample_id_all;
    return e && !guessed ? e->index : NO_VALUE;
}

uint64_t cli_key_value(const cli_keys *keys, unsigned k, const cli_input *in,
                       const perfile_record *r)
{
    uint32_t pid, tid, cpu;
    const perfile_mapping *mapping;
    const char *name;
    switch (keys->kind[k]) {
    case TYPE:
        return cli_type_key(r);
    case EVENT:
        return event_of(r);
    case CPU:
        return perfile_record_cpu(r, &cpu) && cpu != UINT32_MAX ? cpu : NO_VALUE;
    case PID:
        return perfile_record_task(r, &pid, &tid) ? pid : NO_VALUE;
    case TID:
        return perfile_record_task(r, &pid, &tid) ? tid : NO_VALUE;
    case COMM:
        name = perfile_model_record_comm(in->model, r);
        return name ? (uintptr_t)name : NO_VALUE;
    case DSO: /* what was mapped at the address of the sample, at its time */
        mapping = perfile_model_record_mapping(in->model, r);
        return mapping ? (uintptr_t)mapping->name : NO_VALUE;
    case TIME: {
        uint64_t time = perfile_record_time(r);
        return time != PERFILE_NO_TIME ? time / keys->step[k] : NO_VALUE;
    }
    default:
        return NO_VALUE;
    }
}

int cli_key_order(const cli_keys *keys, unsigned k, uint64_t a, uint64_t b)
{
    /* Values of these keys are addresses, whose order is random. */
    /* Without a value (NO_VALUE) there is no string: such rows come last. */
    bool names = keys->kind[k] == COMM || keys->kind[k] == DSO;
    if (names && a != NO_VALUE && b != NO_VALUE)
        return strcmp((const char *)(uintptr_t)a, (const char *)(uintptr_t)b);
    return (a > b) - (a < b);
}

int cli_key_resolved(const cli_keys *keys)
{
    for (unsigned k = 0; k < keys->n; k++)
        if (keys->kind[k] == COMM || keys->kind[k] == DSO)
            return (int)k;
    return -1;
}

bool cli_keys_of_code(const cli_keys *keys)
{
    bool of_code = false;
    for (unsigned k = 0; k < keys->n; k++)
        of_code |= keys->kind[k] >= SYM;
    return of_code;
}

uint8_t cli_key_per(const cli_keys *keys, unsigned k)
{
    return kinds[keys->kind[k]].per;
}

bool cli_keys_type_only(const cli_keys *keys)
{
    return keys->n == 1 && keys->kind[0] == TYPE;
}
