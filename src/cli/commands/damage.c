/* `perfile damage`: makes named damages in a capture, for tests of programs that read captures.
 *
 * src/faults finds the places and makes the damages; format/faults.def has their names.  This file
 * reads the command line, writes the damaged captures and reports each change. (src/cli/damage.c is
 * about something else: the report of damage that a command met while it read a capture.) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "faults/command.h"

enum { OPTION_DO = CLI_OPTION_OWN, OPTION_ALL, OPTION_SEED, OPTION_LIST };

enum { MOST_NAMES = 64 }; /* damages of one --do */

typedef struct settings {
    const char *out; /* -o */
    const char *all; /* --all */
    size_t rows[MOST_NAMES];
    size_t n_rows;
    uint64_t seed;
    bool list, json, replace;
    cli_file *in;
} settings;

static const char *fault_word(size_t i)
{
    const pf_fault *row = pf_fault_at(i);
    return row ? row->name : NULL;
}

/* The table of damages. */

static int list_text(void)
{
    static const char *const columns[] = {"damage", "rules", "what it does"};
    cli_table *t = cli_table_new(columns, 3);
    if (!t)
        return cli_no_memory();
    const pf_fault *row;
    for (size_t i = 0; (row = pf_fault_at(i)); i++) {
        cli_cell_string(t, row->name);
        cli_cell_string(t, row->rules);
        cli_cell_string(t, row->sentence);
    }
    return cli_table_end(t, true) ? CLI_DONE : cli_no_memory();
}

static int list_json(void)
{
    const pf_fault *row;
    cli_json_object(NULL);
    cli_json_array("damages");
    for (size_t i = 0; (row = pf_fault_at(i)); i++) {
        cli_json_object(NULL);
        cli_json_string("name", row->name);
        cli_json_string("rules", row->rules);
        cli_json_string("sentence", row->sentence);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
    cli_json_line();
    return CLI_DONE;
}

/* The report: a line for each change, or one JSON object. */

static void begin_report(const settings *set)
{
    if (!set->json)
        return;
    cli_json_object(NULL);
    cli_json_string("file", set->in->name);
    cli_json_decimal("seed", set->seed);
    cli_json_array("changes");
}

static void json_change(const char *file, const pf_fault_change *c)
{
    cli_json_object(NULL);
    cli_json_string("damage", c->fault->name);
    cli_json_string("out", file);
    cli_json_string("how", c->how);
    cli_json_string("place", c->place);
    cli_json_string("field", c->field);
    cli_json_known("index", c->index);
    if (c->type != UINT32_MAX)
        cli_json_number("type_number", c->type);
    cli_json_decimal("offset", c->offset);
    cli_json_number("bytes", c->bytes);
    if (c->has_values) {
        cli_json_decimal("before", c->before);
        cli_json_decimal("after", c->after);
    }
    cli_json_string("rule", c->rule);
    cli_json_object_end();
}

static void text_change(const char *file, const pf_fault_change *c)
{
    cli_print("%s: ", file);
    cli_print("%s: ", c->fault->name);
    if (c->index == UINT64_MAX)
        cli_print("%s, %s", c->place, c->field);
    else if (c->type != UINT32_MAX)
        cli_print("record %" PRIu64 ", %s (type %" PRIu32 "), %s", c->index, c->place, c->type,
                  c->field);
    else
        cli_print("%s %" PRIu64 ", %s", c->place, c->index, c->field);
    cli_print("; offset %" PRIu64 ", %" PRIu64 " byte%s, %s", c->offset, c->bytes,
              c->bytes == 1 ? "" : "s", c->how);
    if (c->has_values)
        cli_print(": %" PRIu64 " becomes %" PRIu64, c->before, c->after);
    cli_print("; %s\n", c->rule);
}

static void report_change(const settings *set, const char *file, const pf_fault_change *c)
{
    if (set->json)
        json_change(file, c);
    else if (set->out && strcmp(set->out, "-") == 0)
        cli_message("%s at offset %" PRIu64 ", %s: %s", c->fault->name, c->offset, c->place,
                    c->rule);
    else
        text_change(file, c);
}

/* Reports that no place of the capture can get the damage. */
static void report_not_applicable(const settings *set, const char *name)
{
    if (set->json)
        cli_json_string(NULL, name);
    else if (set->all)
        cli_print("%s: not applicable\n", name);
    else
        cli_message("%s: %s: not applicable", set->in->name, name);
}

static void begin_not_applicable(const settings *set)
{
    if (!set->json)
        return;
    cli_json_array_end();
    cli_json_array("not_applicable");
}

static void end_report(const settings *set, const perfile_error *failed)
{
    if (!set->json)
        return;
    cli_json_array_end();
    cli_json_string("out", failed ? NULL : set->all ? set->all : set->out);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* One file with the damages of --do. */

/* What was made so far. */
typedef struct made {
    perfile_bytes bytes; /* the capture with the damages */
    pf_fault_change changes[MOST_NAMES];
    size_t n;
    const char *refused; /* the damage that cannot be made, or NULL */
} made;

/* Makes damage `i` of --do in what the earlier ones left. */
static perfile_status make_one(const settings *set, perfile_bytes capture, size_t i, made *m,
                               perfile_error *err)
{
    pf_faults *f;
    perfile_bytes next;
    perfile_status st = pf_faults_open(i ? m->bytes : capture, set->seed + i, &f, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_faults_make_any(f, set->rows[i], &m->changes[i], &next, err);
    pf_faults_close(f);
    if (st != PERFILE_OK)
        return st;
    pf_faults_free(m->bytes);
    m->bytes = next;
    m->n++;
    return PERFILE_OK;
}

/* Checks that no damage hides another one.  PERFILE_END, with the name of the hidden damage, if one
 * does. */
static perfile_status check_all(const settings *set, perfile_bytes capture, made *m,
                                perfile_error *err)
{
    pf_faults *f;
    perfile_status st = pf_faults_open(capture, set->seed, &f, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < m->n && st == PERFILE_OK; i++) {
        bool fires = false;
        st = pf_faults_fires(f, m->changes[i].rule, m->bytes, &fires, err);
        if (st == PERFILE_OK && !fires) {
            m->refused = m->changes[i].fault->name;
            st = PERFILE_END;
        }
    }
    pf_faults_close(f);
    return st;
}

static perfile_status make_chosen(const settings *set, perfile_bytes capture, made *m,
                                  perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < set->n_rows && st == PERFILE_OK; i++) {
        st = make_one(set, capture, i, m, err);
        if (st == PERFILE_END)
            m->refused = pf_fault_at(set->rows[i])->name;
    }
    return st == PERFILE_OK && m->n > 1 ? check_all(set, capture, m, err) : st;
}

/* Makes and writes the one file.  *err is set if the result is an error. */
static perfile_status write_one(const settings *set, perfile_bytes capture, perfile_sink *sink,
                                made *m, perfile_error *err)
{
    perfile_status st = make_chosen(set, capture, m, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(sink, m->bytes, err);
    return st == PERFILE_OK ? perfile_sink_finish(sink, err) : st;
}

static int damage_one(const settings *set, perfile_bytes capture, perfile_sink *sink)
{
    perfile_error err = {0};
    made m = {0};
    const perfile_status st = write_one(set, capture, sink, &m, &err);
    cli_writing_end(sink);
    begin_report(set);
    for (size_t i = 0; i < m.n && st == PERFILE_OK; i++)
        report_change(set, cli_output_name(set->out), &m.changes[i]);
    begin_not_applicable(set);
    if (m.refused)
        report_not_applicable(set, m.refused);
    if (st == PERFILE_END)
        err = (perfile_error){.offset = PERFILE_NO_OFFSET, .message = "not applicable"};
    end_report(set, st == PERFILE_OK ? NULL : &err);
    if (st < 0)
        cli_report_error(set->in->name, &err);
    pf_faults_free(m.bytes);
    return st == PERFILE_OK ? CLI_DONE : CLI_FAILED;
}

/* A folder with a file for each damage and kind of place. */

/* Makes the damage of a group.  Sets *was_made if it could be made. */
static perfile_status put_group(const settings *set, const pf_faults *f, size_t group,
                                perfile_sink *sink, bool *was_made, perfile_error *err)
{
    char group_name[PF_FAULTS_NAME], name[PF_FAULTS_NAME + sizeof ".data"];
    pf_fault_change change;
    perfile_bytes bytes;
    perfile_status st = pf_faults_make(f, group, &change, &bytes, err);
    if (st != PERFILE_OK)
        return st == PERFILE_END ? PERFILE_OK : st;
    *was_made = true;
    snprintf(name, sizeof name, "%s.data", pf_faults_name(f, group, group_name));
    st = pf_faults_put(sink, name, bytes, err);
    pf_faults_free(bytes);
    if (st == PERFILE_OK)
        report_change(set, name, &change);
    return st;
}

/* Makes all damages.  Sets was_made[row] for each damage of which there is a file.  PERFILE_END,
 * with a message: there is none, so no folder appears. */
static perfile_status put_all(const settings *set, perfile_bytes capture, perfile_sink *sink,
                              bool *was_made, perfile_error *err)
{
    pf_faults *f;
    perfile_status st = pf_faults_open(capture, set->seed, &f, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < pf_faults_n(f) && st == PERFILE_OK; i++)
        st = put_group(set, f, i, sink, &was_made[pf_faults_row(f, i)], err);
    bool any = false;
    for (size_t i = 0; i < pf_faults_n(f); i++)
        any |= was_made[pf_faults_row(f, i)];
    pf_faults_close(f);
    if (st == PERFILE_OK && !any) {
        *err = (perfile_error){.offset = PERFILE_NO_OFFSET, .message = "no damage is applicable"};
        return PERFILE_END;
    }
    return st == PERFILE_OK ? perfile_sink_finish(sink, err) : st;
}

static int damage_all(const settings *set, perfile_bytes capture, perfile_sink *sink)
{
    size_t n = 0;
    while (pf_fault_at(n))
        n++;
    bool *was_made = calloc(n, sizeof *was_made);
    perfile_error err = {0};
    begin_report(set);
    const perfile_status st = was_made ? put_all(set, capture, sink, was_made, &err) : PERFILE_OK;
    cli_writing_end(sink);
    begin_not_applicable(set);
    for (size_t i = 0; was_made && i < n && st >= 0; i++)
        if (!was_made[i])
            report_not_applicable(set, pf_fault_at(i)->name);
    end_report(set, st == PERFILE_OK ? NULL : &err);
    if (st != PERFILE_OK)
        cli_report_error(set->in->name, &err);
    const bool done = was_made && st == PERFILE_OK;
    if (!was_made)
        cli_no_memory();
    free(was_made);
    return done ? CLI_DONE : CLI_FAILED;
}

/* Reads the whole input. */
static int read_input(const settings *set, perfile_bytes *bytes)
{
    perfile_error err;
    perfile_source *source;
    perfile_status st = cli_source_sequential(set->in, NULL, &source, &err);
    if (st == PERFILE_OK) {
        st = pf_faults_read(source, bytes, &err);
        perfile_source_close(source);
    }
    if (st == PERFILE_OK)
        return CLI_DONE;
    cli_report_error(set->in->name, &err);
    return CLI_FAILED;
}

static int run(const settings *set)
{
    perfile_bytes capture;
    perfile_sink *sink;
    const cli_output o = {.out = set->all ? set->all : set->out,
                          .replace = set->replace,
                          .inputs = &set->in->path,
                          .n_inputs = 1,
                          .folder = set->all != NULL};
    if (read_input(set, &capture) != CLI_DONE)
        return CLI_FAILED;
    int status = cli_output_open(&o, &sink);
    if (status == CLI_DONE) {
        cli_writing_begin(set->in->name);
        status = set->all ? damage_all(set, capture, sink) : damage_one(set, capture, sink);
    }
    pf_faults_free(capture);
    return status;
}

/* Reports that a word of --do is no damage, with the most similar names. */
static int unknown_damage(const char *word)
{
    enum { MOST_ROWS = 128, TEXT = 256 };
    const char *names[MOST_ROWS];
    char similar[TEXT];
    size_t n = 0;
    while (n < MOST_ROWS && fault_word(n)) {
        names[n] = fault_word(n);
        n++;
    }
    return cli_usage("damage", "there is no damage '%s'%s (--list has all)", word,
                     cli_suggestion(word, names, n, similar, sizeof similar));
}

/* Reads the value of --do. */
static int read_names(const char *list, settings *set)
{
    char word[64];
    for (;; list++) {
        const size_t n = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), list);
        size_t row = 0;
        while (fault_word(row) && strcmp(fault_word(row), word) != 0)
            row++;
        if (!fault_word(row))
            return unknown_damage(word);
        if (set->n_rows == MOST_NAMES)
            return cli_usage("damage", "--do takes at most %d damages", (int)MOST_NAMES);
        set->rows[set->n_rows++] = row;
        list += n;
        if (!*list)
            return CLI_CONTINUE;
    }
}

static int read_seed(const char *word, uint64_t *seed)
{
    uint64_t number = 0;
    const char *at = word;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10)
            break;
        number = number * 10 + digit;
    }
    *seed = number;
    return at != word && *at == '\0'
               ? CLI_CONTINUE
               : cli_usage("damage", "--seed takes a number of 64 bits, not '%s'", word);
}

static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_DO:
        return read_names(optarg, set);
    case OPTION_ALL:
        set->all = optarg;
        return CLI_CONTINUE;
    case OPTION_SEED:
        return read_seed(optarg, &set->seed);
    case OPTION_LIST:
        set->list = true;
        return CLI_CONTINUE;
    case 'o':
        set->out = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        set->replace = true;
        return CLI_CONTINUE;
    case CLI_OPTION_JSON:
        set->json = true;
        return CLI_CONTINUE;
    default:
        return cli_common_option(&cli_damage_spec, option, &(const char *){NULL},
                                 &(const perfile_limits *){NULL});
    }
}

/* Checks which options can be combined.  Returns CLI_CONTINUE or CLI_USAGE. */
static int check(const settings *set)
{
    if (set->all && (set->out || set->n_rows))
        return cli_usage("damage", "give --all DIR, or --do with -o OUT, not both");
    if (set->all && cli_file_exists(set->all))
        return cli_usage("damage", "'%s' exists: --all makes a new folder", set->all);
    if (set->all)
        return strcmp(set->all, "-") != 0 ? CLI_CONTINUE
                                          : cli_usage("damage", "--all needs the name of a folder");
    if (!set->n_rows)
        return cli_usage("damage",
                         "missing damage: give --do NAME, or --all DIR; --list names all");
    if (!set->out)
        return cli_usage("damage", "missing output: give -o OUT");
    if (set->json && strcmp(set->out, "-") == 0)
        return cli_usage("damage", "the report and the capture cannot both go to standard output");
    return cli_reject_terminal("damage", set->out, "a capture");
}

static const cli_option options[] = {
    {"do", .value = "NAME[,NAME ...]", .code = OPTION_DO, .word = fault_word, .list = true,
     .help = "make these damages, one after the other, in one file",
     .more = "The seed chooses the places. A damage that no rule would report is not made: then "
             "the command says that it is not applicable, and writes nothing."},
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "with --do: the damaged capture; - is standard output",
     .more = "The file appears when it is complete, or not at all."},
    {.rows = cli_force_options},
    {"all", .value = "DIR", .code = OPTION_ALL, .path = true,
     .help = "a new folder with a file for each damage and each kind of place that can get it",
     .more = "The names of the files are DAMAGE.PLACE.FIELD.data. The folder appears when it is "
             "complete, or not at all. Damages that are not applicable have no file."},
    {"seed", .value = "N", .code = OPTION_SEED,
     .help = "the number that chooses places and bits; default: 0",
     .more = "The same seed and capture give the same bytes on every machine."},
    {"list", .code = OPTION_LIST,
     .help = "print all damages, what each does, and the rules of which one must report it"},
    {"json", .code = CLI_OPTION_JSON,
     .help = "the report or list as a JSON object, see format/reports.md"},
    {.rows = cli_input_options},
    {"help", .code = CLI_OPTION_HELP, .help = "explain the command, with examples"},
    {"version", .code = CLI_OPTION_VERSION, .help = "print the version of perfile"},
    {0},
};

const cli_spec cli_damage_spec = {
    .about = "perfile damage makes damages in a copy of a capture, to test programs that read\n"
             "captures.  Each damage has a name, and a rule of `perfile validate` that reports\n"
             "it.\n"
             "\n"
             "Usage: perfile damage --do NAME[,NAME ...] [--seed N] -o OUT CAPTURE\n"
             "       perfile damage --all DIR [--seed N] CAPTURE\n"
             "       perfile damage --list [--json]\n",
    .options = options,
    .notes = "CAPTURE is a perf.data file or pipe of at most 64 MiB.  The report says for each\n"
             "change where it is, what it replaced, and which rule reports it.\n"
             "\n"
             "Examples:\n"
             "  perfile damage --list\n"
             "  perfile damage --do record-size-0 -o bad.data samples/captures/group.data\n"
             "  perfile damage --do count-too-large,string-no-end --seed 7 -o two.data \\\n"
             "    samples/captures/callgraph.data\n"
             "  perfile damage --all bad samples/captures/pipe.data\n"
             "\n"
             "Exit status: 0 done; 1 nothing was written; 2 wrong usage, also if DIR exists.\n",
};

int cli_damage(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("damage", argc, argv, &cli_damage_spec)) != -1;)
        status = read_option(c, &set);
    if (status == CLI_CONTINUE && set.list)
        return set.json ? list_json() : list_text();
    if (status == CLI_CONTINUE)
        status = check(&set);
    if (status == CLI_CONTINUE)
        status = cli_read_input("damage", argc, argv, &set.in);
    return status == CLI_CONTINUE ? run(&set) : status;
}
