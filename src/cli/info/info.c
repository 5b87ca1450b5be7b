/* `perfile info`: form, origin, events, time range and integrity of a capture.  feed.c counts the
 * records, sampling.c finds out how it was recorded, text.c and json.c print. */
#include "cli/info/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/info/archive.h"
#include "cli/print.h"

enum { OPTION_HEADER = CLI_OPTION_OWN, OPTION_JSON, OPTION_CHUNKS, OPTION_COLUMNS };

/* The command line. */
typedef struct settings {
    cli_reading how;
    bool json, header;
    cli_table *captures; /* captures of an archive become rows of it; NULL: they do not */
    unsigned archive;    /* CLI_INFO_… of it; 0: the capture is shown */
} settings;

/* Reads the records.  With --header only the header: nothing for a file; for a pipe, which has no
 * other header, the records in front of the first one of the kernel.  False if there is no memory.
 */
static bool walk(cli_info_facts *x, const settings *set)
{
    const perfile_record *r;
    size_t n, all;
    if (set->header && x->container->form != PERFILE_FORM_PIPE)
        return true;
    while (cli_next_run(&x->in, &r, &all)) {
        /* With --header, up to the first record of the kernel. */
        for (n = 0; n < all && !(set->header && r[n].type < PERFILE_RECORD_USER);)
            n++;
        if (n && !cli_info_feed(x, r, n))
            return false;
        if (n < all)
            return true;
    }
    return true;
}

/* Notes what the archive is that the capture is in: `open`, or else the file itself.  Whatever
 * fails here has failed when the capture was opened. */
static void read_archive(cli_info_facts *x, const char *path, perfile_archive *open,
                         const settings *set)
{
    const uint32_t given = cli_capture_of(path) ? cli_capture_of(path) : cli_archive_capture();
    const uint32_t number = given ? given : 1;
    x->archive_of = open;
    if (!open && cli_archive_open(path, set->how.limits, false, &x->archive_of, NULL) != PERFILE_OK)
        return;
    perfile_archive_get_summary(x->archive_of, &x->archive, sizeof x->archive);
    if (perfile_archive_capture_at(x->archive_of, number, &x->packed, sizeof x->packed, NULL) !=
        PERFILE_OK)
        x->packed = (perfile_archive_capture){.modified = UINT64_MAX};
    x->has_file_time = x->packed.modified != UINT64_MAX; /* that of the archive says nothing */
    x->file_time = x->packed.modified;
}

/* Reads and prints one input that is open; false if there is no memory.  *again: nothing was
 * printed, since what an archive says of itself was not enough. */
static bool collect_and_print(cli_info_facts *x, const settings *set, bool *again)
{
    const bool describe = !*again;
    *again = false;
    x->session = perfile_stream_session(x->in.stream);
    x->container = perfile_stream_container(x->in.stream);
    x->walked = !set->header;
    x->first = x->last = PERFILE_NO_TIME;
    if (describe && x->walked)
        cli_info_describe(x);
    if (perfile_model_new(x->session, &x->model, NULL) != PERFILE_OK || !walk(x, set))
        return false;
    *again = !cli_info_is_complete(x);
    if (*again)
        return true;
    cli_check_features(&x->in);
    perfile_stream_get_summary(x->in.stream, &x->sum, sizeof x->sum);
    if (x->in.status < 0)
        return true;
    if (set->captures) {
        cli_info_captures_add(x, set->captures);
        return true;
    }
    return set->json ? cli_info_json(x) : cli_info_text(x);
}

/* `open` is the caller's. */
static void release(cli_info_facts *x, perfile_archive *open)
{
    perfile_model_close(x->model);
    if (x->archive_of != open)
        perfile_archive_close(x->archive_of);
    free(x->events);
    free(x->described_pids.at);
    free(x->described_tids.at);
    free(x);
}

/* Reads one input and prints, unless it must be read again; returns its exit status.  *open: the
 * archive that an input is which can be read once only. */
static int read_once(const char *path, const settings *set, perfile_archive **open, bool *again)
{
    cli_reading how = set->how;
    how.archive = open;
    cli_info_facts *x = calloc(1, sizeof *x);
    if (!x) {
        cli_message("%s: out of memory", path);
        return CLI_FAILED;
    }
    bool ok = true;
    x->has_file_time = cli_capture_time(path, &x->file_time);
    if (cli_open(&x->in, path, &how) == CLI_DONE) {
        read_archive(x, path, *open, set);
        ok = collect_and_print(x, set, again);
    }
    if (!ok)
        cli_message("%s: out of memory", x->in.name);
    int status = *again ? cli_close_without_damage(&x->in) : cli_close(&x->in);
    release(x, *open);
    return ok ? status : CLI_FAILED;
}

/* Does one input and returns its exit status. */
static int info_of(const char *path, const settings *set)
{
    perfile_archive *open = NULL;
    bool again = false;
    if (set->archive)
        return cli_info_archive(path, &set->how, set->archive, set->json);
    int status = read_once(path, set, &open, &again);
    if (again)
        status = read_once(path, set, &open, &again);
    perfile_archive_close(open);
    return status;
}

/* Does the captures of the archive of which in->at[*i] is the first, and moves *i to the last;
 * returns the worst exit status. */
static int info_of_captures(const cli_inputs *in, size_t *i, settings *set)
{
    const char *archive = in->at[*i];
    int status = CLI_DONE;
    set->captures = cli_info_captures_new();
    for (bool more = set->captures; more; *i += more) {
        status = cli_worse(status, info_of(in->at[*i], set));
        more = *i + 1 < in->n && cli_capture_of(in->at[*i + 1]) > 1;
    }
    if (!set->captures || !cli_info_captures_print(archive, set->how.limits, set->captures)) {
        cli_message("%s: out of memory", archive);
        status = CLI_FAILED;
    }
    cli_table_free(set->captures);
    set->captures = NULL;
    return status;
}

static const cli_option options[] = {
    {"header", .code = OPTION_HEADER, .help = "read only the header, not the records",
     .more = "The header of a pipe consists of the records in front of the first record of the "
             "kernel."},
    {"chunks", .code = OPTION_CHUNKS, .help = "of an archive: a line for each chunk, and a total",
     .more = "Nothing is decoded for that. Times and records are those that the chunk says of "
             "itself."},
    {"columns", .code = OPTION_COLUMNS,
     .help = "of an archive: how many bytes each field of the records needs",
     .more = "Summed over all chunks, the most bytes first: bytes in the archive, their share, "
             "bytes of the records, number of values, bits for each, and how they are stored."},
    {"json", .code = OPTION_JSON, .help = "a JSON object for each FILE, see format/reports.md"},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {0},
};

const cli_spec cli_info_spec = {
    .about =
        "perfile info shows what a capture is: its form; when, by which command and on what "
        "machine "
        "it\n"
        "was recorded; its events and how they were sampled; the time it covers; what was lost "
        "while\n"
        "recording; and whether it is intact.\n"
        "\n"
        "Usage: perfile info [OPTION ...] FILE ...\n"
        "\n"
        "Of an archive with several captures it shows a line for each; --source N shows one of "
        "them.\n",
    .options = options,
    .notes = "Examples:\n"
             "  perfile info perf.data\n"
             "  perfile info --header *.data              quickly, of many\n"
             "  perfile info --json perf.data | jq .time\n"
             "  perfile info --chunks --columns x.perfile what an archive consists of\n"
             "  ssh host perf record -o - -a sleep 1 | perfile info -\n",
};

int cli_info(int argc, char **argv)
{
    settings set = {0};
    for (int c; (c = cli_next_option("info", argc, argv, &cli_info_spec)) != -1;) {
        int status = CLI_CONTINUE;
        if (c == OPTION_HEADER)
            set.header = true;
        else if (c == OPTION_JSON)
            set.json = true;
        else if (c == OPTION_CHUNKS)
            set.archive |= CLI_INFO_CHUNKS;
        else if (c == OPTION_COLUMNS)
            set.archive |= CLI_INFO_COLUMNS;
        else
            status = cli_reading_option("info", &cli_info_spec, c, &set.how);
        if (status != CLI_CONTINUE)
            return status;
    }
    cli_inputs in;
    int status = cli_read_inputs("info", argc, argv, &in);
    if (status == CLI_CONTINUE && !set.archive)
        status = cli_each_capture(&in);
    if (status != CLI_CONTINUE)
        return status;

    status = CLI_DONE;
    for (size_t i = 0; i < in.n; i++) {
        if (i > 0 && !set.json)
            cli_print("\n");
        const bool several = !set.json && cli_capture_of(in.at[i]);
        status =
            cli_worse(status, several ? info_of_captures(&in, &i, &set) : info_of(in.at[i], &set));
    }
    return status;
}
