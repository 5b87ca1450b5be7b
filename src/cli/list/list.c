/* `perfile list`: reads the input for one of the subjects of list.h, and lets it print. */
#include "cli/list/list.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"

/* In the order of the help. */
static const cli_subject *const subjects[] = {
    &cli_list_events,   &cli_list_ids,       &cli_list_processes, &cli_list_threads,
    &cli_list_mappings, &cli_list_build_ids, &cli_list_features,  &cli_list_cpus,
};

enum { OPTION_HEADER = CLI_OPTION_OWN, OPTION_JSON };

/* The command line. */
typedef struct settings {
    cli_reading how;
    const cli_subject *subject;
    bool json, verbose, header;
    bool heading; /* print the name of each file above its list */
    cli_selection select;
} settings;

/* Feeds all records to the subject and the model; with --header, only the records before the first
 * kernel record.  Returns false when out of memory. */
static bool walk(cli_listing *l, const settings *set)
{
    const cli_subject *s = set->subject;
    const perfile_record *r;
    size_t n, all;
    while (cli_next_run(&l->in, &r, &all)) {
        /* The header of a pipe is its first records, which the tool writes. */
        for (n = 0; n < all && !(set->header && r[n].type < PERFILE_RECORD_USER);)
            n++;
        if (l->model && !cli_feed_run(&l->in, l->model, r, n))
            return false;
        for (size_t i = 0; s->feed && i < n; i++)
            if (!s->feed(l, &r[i]))
                return false;
        if (n < all) /* the header has ended */
            break;
    }
    return true;
}

/* Prints the list; with --json, in one object per file.  Returns false when out of memory. */
static bool print(cli_listing *l, const settings *set)
{
    if (set->heading)
        cli_print("%s:\n", l->in.name);
    if (!set->json)
        return set->subject->print(l);
    cli_json_object(NULL);
    cli_json_string("file", l->in.name);
    cli_json_array(set->subject->member);
    bool ok = set->subject->print(l);
    cli_json_array_end();
    cli_json_damage(&l->in);
    cli_json_object_end();
    cli_json_line();
    return ok;
}

/* Reads and prints an input that is open.  Returns false when out of memory. */
static bool collect_and_print(cli_listing *l, const settings *set)
{
    l->session = perfile_stream_session(l->in.stream);
    if (set->subject->model && perfile_model_open(l->session, &l->model, NULL) != PERFILE_OK)
        return false;
    if (!set->header || perfile_stream_container(l->in.stream)->form == PERFILE_FORM_PIPE)
        if (!walk(l, set))
            return false;
    return l->in.status < 0 || print(l, set);
}

/* Lists one input and returns its exit status. */
static int list_of(cli_file *file, const settings *set)
{
    cli_listing l = {.json = set->json, .verbose = set->verbose};
    bool ok = true;
    if (cli_open(&l.in, file, &set->how) == CLI_DONE)
        ok = collect_and_print(&l, set);
    if (set->subject->release)
        set->subject->release(&l);
    perfile_model_close(l.model);
    if (!ok)
        cli_message("%s: out of memory", l.in.name);
    int status = cli_close(&l.in);
    return ok ? status : CLI_FAILED;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    if (cli_is_selection(option))
        return cli_selection_option("list", option, &set->select);
    switch (option) {
    case 'v':
        set->verbose = true;
        return CLI_CONTINUE;
    case OPTION_HEADER:
        set->header = true;
        return CLI_CONTINUE;
    case OPTION_JSON:
        set->json = true;
        return CLI_CONTINUE;
    default:
        return cli_reading_option("list", &cli_list_spec, option, &set->how);
    }
}

static const char *subject_word(size_t i)
{
    return i < sizeof subjects / sizeof subjects[0] ? subjects[i]->name : NULL;
}

/* Reads the first operand, the subject. */
static int read_subject(int argc, char **argv, const cli_subject **subject)
{
    size_t which;
    if (optind == argc)
        return cli_usage("list", "missing subject: list takes events, ids, processes, threads ...");
    int status = cli_choose("list", "list", argv[optind++], subject_word, &which);
    if (status == CLI_CONTINUE)
        *subject = subjects[which];
    return status;
}

static const cli_option options[] = {
    {"verbose", .letter = 'v', .help = "events: every member of the attr"},
    {"header", .code = OPTION_HEADER, .help = "read only the header, not the records"},
    {"json", .code = OPTION_JSON, .help = "a JSON object for each FILE, see format/reports.md"},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.heading = "From the records that `filter` would keep with the same options:"},
    {.rows = cli_select_options},
    {0},
};

const cli_spec cli_list_spec = {
    .about = "perfile list shows one kind of information in a capture.\n"
             "\n"
             "Usage: perfile list WHAT [OPTION ...] FILE ...\n"
             "\n"
             "  events      what was counted, and how\n"
             "  ids         counters of events with their CPU and thread\n"
             "  processes   with their parents, names and times\n"
             "  threads     with all their names over time\n"
             "  mappings    mapped files by process and address\n"
             "  build-ids   of files, from features, records and mappings\n"
             "  features    the feature sections, fully decoded\n"
             "  cpus        CPUs, their place in the machine, and their number of records\n",
    .options = options,
    .subject = subject_word,
    .notes = "If an option is given twice, either may match; different options must all match.\n"
             "\n"
             "Examples:\n"
             "  perfile list events --verbose perf.data   like `perf evlist -v`\n"
             "  perfile list build-ids perf.data          like `perf buildid-list`\n"
             "  perfile list features perf.data           like `perf report --header-only -I`\n"
             "  perfile list mappings --comm 'perf*' perf.data   of these processes\n"
             "  perfile list threads --json perf.data | jq '.threads[] | select(.pid == 1)'\n",
};

int cli_list(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c;
         status == CLI_CONTINUE && (c = cli_next_option("list", argc, argv, &cli_list_spec)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = read_subject(argc, argv, &set.subject);
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("list", argc, argv, true, &in);
    if (status == CLI_CONTINUE && set.header && cli_selects(&set.select))
        status = cli_usage("list", "--header reads no records: options that select records cannot "
                                   "be used with it");
    if (status == CLI_CONTINUE)
        status = cli_selection_check("list", &set.select);
    if (status == CLI_CONTINUE) {
        set.heading = !set.json && in.n > 1;
        set.how.selection = &set.select;
        set.how.with_sideband = true;
        status = CLI_DONE;
        for (size_t i = 0; i < in.n; i++)
            status = cli_worse(status, list_of(&in.at[i], &set));
    }
    cli_selection_free(&set.select);
    return status;
}
