/* `perfile info`: form, origin, events, time range and integrity of a capture. text.c and json.c
 * print. */
#include "cli/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "archive/command.h"
#include "core/command.h"

/* How a capture was recorded: when, and with which call chains. */

bool cli_info_captured(const cli_info_facts *x, uint64_t *wall, bool *of_file)
{
    perfile_clock clock;
    perfile_session_clock(x->session, &clock);
    *of_file = false;
    if (x->first != PERFILE_NO_TIME && perfile_session_wall_time(x->session, x->first, wall))
        return true;
    if (clock.has_wall) { /* from CLOCK_DATA: perf reads both clocks when the recording begins */
        *wall = clock.wall_ns;
        return true;
    }
    *of_file = true;
    *wall = x->file_time;
    return x->has_file_time;
}

/* LBR call chains are branch stacks in call-stack mode.  DWARF needs the user stack and
 * registers. */
const char *cli_info_call_graph(const perfile_attr *a)
{
    const uint64_t stack = PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_REGS_USER;
    if (a->sample_type & PERFILE_SAMPLE_BRANCH_STACK &&
        a->branch_sample_type & PERFILE_BRANCH_CALL_STACK)
        return "lbr";
    if ((a->sample_type & stack) == stack)
        return "dwarf";
    return a->sample_type & PERFILE_SAMPLE_CALLCHAIN ? "fp" : NULL;
}

/* Counting of the records for `info`.
 *
 * Batches of samples take a fast path: perfile_sample_fields() gets the times and CPUs of a whole
 * batch.  All other records are counted one by one. */

static bool grow_events(cli_info_facts *x, uint32_t n)
{
    if (n <= x->n_events)
        return true;
    cli_event_counts *events = realloc(x->events, n * sizeof *events);
    if (!events)
        return false;
    for (uint32_t i = x->n_events; i < n; i++)
        events[i] = (cli_event_counts){0};
    x->events = events;
    x->n_events = n;
    return true;
}

/* Returns the counts for the event of `r`, x->other if it has none, or NULL when out of memory.
 * The array grows with the session, which may get more events while the records are read. */
static cli_event_counts *counts_of(cli_info_facts *x, const perfile_record *r)
{
    const perfile_event *e = perfile_record_event(r);
    if (!e)
        return &x->other;
    if (e->index >= x->n_events && !grow_events(x, perfile_session_n_events(x->session)))
        return NULL;
    return &x->events[e->index];
}

/* Extends the range from x->first to x->last.  Time 0 is ignored, because synthesized records have
 * it. */
static void widen(cli_info_facts *x, uint64_t time)
{
    if (time == PERFILE_NO_TIME || time == 0)
        return;
    if (x->first == PERFILE_NO_TIME || time < x->first)
        x->first = time;
    if (x->last == PERFILE_NO_TIME || time > x->last)
        x->last = time;
}

/* Marks a CPU as seen.  Numbers beyond the bit map are ignored. */
static void mark_cpu(cli_info_facts *x, uint32_t cpu)
{
    if (cpu >= sizeof x->cpu_seen * 8)
        return;
    uint8_t bit = (uint8_t)(1 << (cpu & 7));
    x->n_cpus += !(x->cpu_seen[cpu / 8] & bit);
    x->cpu_seen[cpu / 8] |= bit;
}

/* Counts the contents of a record of the tool (type 64 and up): AUX data, compression, rounds. */
static void feed_tool_record(cli_info_facts *x, const perfile_record *r)
{
    perfile_auxtrace auxtrace;
    switch (r->type) {
    case PERFILE_RECORD_AUXTRACE:
        if (perfile_auxtrace_decode(r, &auxtrace, sizeof auxtrace, NULL) == PERFILE_OK)
            x->aux_bytes += r->extra.len;
        break;
    case PERFILE_RECORD_COMPRESSED:
    case PERFILE_RECORD_COMPRESSED2:
        x->compressed_records++;
        x->compressed_bytes += perfile_record_size(r);
        break;
    case PERFILE_RECORD_FINISHED_ROUND:
        x->rounds++;
        break;
    default:
        break;
    }
}

/* Counts one record.  Returns false when out of memory. */
static bool feed_record(cli_info_facts *x, const perfile_record *r)
{
    /* Records of the tool have no event, time or CPU. */
    if (r->family == PERFILE_FAMILY_PERF && r->type >= PERFILE_RECORD_USER) {
        cli_losses_feed(&x->losses, r, 1);
        feed_tool_record(x, r);
        return true;
    }
    cli_event_counts *counts = counts_of(x, r);
    if (!counts)
        return false;
    counts->records++;
    if (r->type == PERFILE_RECORD_SAMPLE) {
        counts->samples++;
        x->samples++;
    } else {
        cli_losses_feed(&x->losses, r, 1);
    }
    widen(x, perfile_record_time(r));
    uint32_t cpu;
    if (perfile_record_cpu(r, &cpu))
        mark_cpu(x, cpu);
    return true;
}

/* Adds a batch of samples to the counts of their events. */
static bool count_samples(cli_info_facts *x, const perfile_record *first, size_t n)
{
    /* If there is one event, all samples belong to it. */
    size_t step = perfile_session_n_events(x->session) == 1 ? n : 1;
    for (size_t i = 0; i < n; i += step) {
        cli_event_counts *counts = counts_of(x, &first[i]);
        if (!counts)
            return false;
        counts->records += step;
        counts->samples += step;
    }
    x->samples += n;
    return true;
}

/* Counts a batch of samples, with their times, CPUs and events. */
static bool feed_samples(cli_info_facts *x, const perfile_record *first, size_t n)
{
    uint64_t times[PERFILE_RUN_RECORDS], cpus[PERFILE_RUN_RECORDS];
    size_t n_times = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
    size_t n_cpus = perfile_sample_fields(first, n, PERFILE_SAMPLE_CPU, cpus, NULL);
    for (size_t i = 0; i < n_times; i++)
        widen(x, times[i]);
    for (size_t i = 0; i < n_cpus; i++)
        if (i == 0 || cpus[i] != cpus[i - 1]) /* batches often come from one CPU */
            mark_cpu(x, (uint32_t)cpus[i]);
    return count_samples(x, first, n);
}

static bool feed(cli_info_facts *x, const perfile_record *first, size_t n)
{
    if (!cli_feed_run(&x->in, x->model, first, n))
        return false;
    for (size_t i = 0, samples; i < n; i += samples ? samples : 1) {
        samples = cli_leading_samples(first + i, n - i);
        if (samples ? !feed_samples(x, first + i, samples) : !feed_record(x, &first[i]))
            return false;
    }
    return true;
}

/* Samples of an archive that `info` counts from their descriptions, without decoding them.
 *
 * A description has separate lists of processes and threads, and may contain some without
 * side-band.  Then only the samples show which thread belongs to which process.  This is detected
 * at the end, and the capture is read again without descriptions. */

/* Appends numbers to a list.  Returns false when out of memory. */
static bool append(cli_info_numbers *all, const uint32_t *numbers, uint32_t n)
{
    if (!n)
        return true;
    if (all->n + n > all->cap) {
        const size_t cap = 2 * (all->n + n);
        uint32_t *at = realloc(all->at, cap * sizeof *at);
        if (!at)
            return false;
        all->at = at;
        all->cap = cap;
    }
    memcpy(all->at + all->n, numbers, n * sizeof *numbers);
    all->n += n;
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the numbers and removes duplicates. */
static void sort(cli_info_numbers *all)
{
    size_t n = 0;
    if (all->n)
        qsort(all->at, all->n, sizeof *all->at, compare);
    for (size_t i = 0; i < all->n; i++)
        if (i == 0 || all->at[i] != all->at[i - 1])
            all->at[n++] = all->at[i];
    all->n = n;
}

/* Adds the processes and threads of a description.  Lists are sorted when they are long, because
 * the descriptions of many chunks mostly name the same tasks. */
static bool add_tasks(cli_info_facts *x, const pf_described *d)
{
    enum { SORTED_AT = 1 << 16 };
    if (x->described_pids.n + x->described_tids.n > SORTED_AT) {
        sort(&x->described_pids);
        sort(&x->described_tids);
    }
    return append(&x->described_pids, d->pids, d->n_pids) &&
           append(&x->described_tids, d->tids, d->n_tids);
}

/* True if `list` is known, or if no sample has the field, so that the list is not needed. */
static bool is_known(const cli_info_facts *x, const pf_described *d, const uint32_t *list,
                     uint64_t field)
{
    bool has = false;
    for (uint32_t i = 0; i < d->n_events; i++)
        has |= (perfile_session_event(x->session, (uint32_t)d->events[i].index)->attr->sample_type &
                field) != 0;
    return list || !has;
}

static bool enough(void *user, const pf_described *d)
{
    cli_info_facts *x = user;
    uint64_t samples = 0;
    const uint32_t n = perfile_session_n_events(x->session);
    /* If a sample has time 0, which is ignored, the least other time is unknown. */
    if (d->first_time == PERFILE_NO_TIME || d->first_time == 0)
        return false;
    for (uint32_t i = 0; i < d->n_events; i++)
        if (d->events[i].index >= n)
            return false;
    if (!is_known(x, d, d->cpus, PERFILE_SAMPLE_CPU) ||
        !is_known(x, d, d->pids, PERFILE_SAMPLE_TID))
        return false;
    if (!grow_events(x, n) || !add_tasks(x, d))
        return false;
    for (uint32_t i = 0; i < d->n_events; i++) {
        x->events[d->events[i].index].records += d->events[i].samples;
        x->events[d->events[i].index].samples += d->events[i].samples;
        samples += d->events[i].samples;
    }
    x->other.records += d->samples - samples;
    x->other.samples += d->samples - samples;
    x->samples += d->samples;
    widen(x, d->first_time);
    widen(x, d->last_time);
    for (uint32_t i = 0; i < d->n_cpus; i++)
        mark_cpu(x, d->cpus[i]);
    return true;
}

static void use_descriptions(cli_info_facts *x)
{
    x->described = pf_stream_describe(x->in.stream, enough, x);
}

/* True if all numbers are in `known`. */
static bool are_known(cli_info_numbers *all, cli_info_numbers *known)
{
    sort(all);
    sort(known);
    size_t k = 0;
    for (size_t i = 0; i < all->n; i++) {
        while (k < known->n && known->at[k] < all->at[i])
            k++;
        if (k == known->n || known->at[k] != all->at[i])
            return false;
    }
    return true;
}

static bool is_complete(cli_info_facts *x)
{
    const perfile_thread *all;
    cli_info_numbers pids = {0}, tids = {0};
    size_t n;
    bool ok = true;
    if (!x->described || !(x->described_pids.n + x->described_tids.n))
        return true;
    if (perfile_model_threads(x->model, &all, &n, NULL) != PERFILE_OK)
        return false;
    for (size_t i = 0; i < n && ok; i++)
        ok = append(&pids, &all[i].pid, 1) && append(&tids, &all[i].tid, 1);
    ok = ok && are_known(&x->described_pids, &pids) && are_known(&x->described_tids, &tids);
    free(pids.at);
    free(tids.at);
    return ok;
}

/* `info` for an archive with several captures: a line for each, as a table of contents. */

static cli_table *captures_new(void)
{
    static const char *const columns[] = {">CAPTURE", "NAME",  "CAPTURED", "HOST",
                                          ">SAMPLES", "STATE", "COMMAND"};
    return cli_table_new(columns, sizeof columns / sizeof columns[0]);
}

static void captures_add(const cli_info_facts *x, cli_table *t)
{
    char text[40];
    uint64_t wall;
    bool of_file;
    cli_cell(t, "%" PRIu32, x->in.file->capture);
    cli_cell_string(t, x->packed.name);
    if (cli_info_captured(x, &wall, &of_file)) {
        cli_format_wall_time(wall, text, sizeof text);
        cli_cell(t, "%.19sZ", text);
    } else {
        cli_cell(t, "-");
    }
    cli_cell_string(t, perfile_session_fact(x->session, PERFILE_FACT_HOSTNAME));
    if (x->walked)
        cli_cell(t, "%" PRIu64, x->samples);
    else
        cli_cell(t, "-");
    cli_cell(t, "%s", cli_damage_count(&x->in) ? "damaged" : "intact");
    cli_cell_string(t, perfile_session_fact(x->session, PERFILE_FACT_CMDLINE));
}

static bool captures_print(const cli_file *file, const perfile_limits *limits, cli_table *t)
{
    perfile_archive *a;
    pf_archive_summary s;
    char shell[CLI_SHELL_WORD];
    cli_print("%-13s%s", "file", file->path);
    if (cli_archive_open(file, limits, false, &a, NULL) == PERFILE_OK) {
        pf_archive_get_summary(a, &s, sizeof s);
        cli_print("\n%-13s", "archive");
        cli_archive_print(&s);
        perfile_archive_close(a);
    } else {
        cli_print("\n");
    }
    cli_print("\n");
    const bool ok = cli_table_print(t);
    if (cli_shell_file(file->path, shell, sizeof shell)) {
        cli_print("\n%-13s", "next");
        cli_print("perfile info --source N %s\n", shell);
    }
    return ok;
}

enum { OPTION_HEADER = CLI_OPTION_OWN, OPTION_JSON, OPTION_CHUNKS, OPTION_COLUMNS };

/* The command line. */
typedef struct settings {
    cli_reading how;
    bool json, header;
    cli_table *captures; /* the captures of an archive become its rows; NULL if each is printed in
                          * full */
    unsigned archive;    /* CLI_INFO_… to print of the archive; 0: print the capture */
} settings;

/* Reads the records.  With --header, nothing is read of a file; the header of a pipe is its records
 * before the first kernel record.  Returns false when out of memory. */
static bool walk(cli_info_facts *x, const settings *set)
{
    const perfile_record *r;
    size_t n, all;
    if (set->header && x->container->form != PERFILE_FORM_PIPE)
        return true;
    while (cli_next_run(&x->in, &r, &all)) {
        /* With --header, up to the first kernel record. */
        for (n = 0; n < all && !(set->header && r[n].type < PERFILE_RECORD_USER);)
            n++;
        if (n && !feed(x, r, n))
            return false;
        if (n < all)
            return true;
    }
    return true;
}

/* Gets the summary of the archive that contains the capture: `open`, or else the file itself.
 * Errors are ignored here, because opening the capture has already reported them. */
static void read_archive(cli_info_facts *x, perfile_archive *open, const settings *set)
{
    const uint32_t number = x->in.file->capture ? x->in.file->capture : 1;
    x->archive_of = open;
    if (!open &&
        cli_archive_open(x->in.file, set->how.limits, false, &x->archive_of, NULL) != PERFILE_OK)
        return;
    pf_archive_get_summary(x->archive_of, &x->archive, sizeof x->archive);
    if (perfile_archive_capture_at(x->archive_of, number, &x->packed, sizeof x->packed, NULL) !=
        PERFILE_OK)
        x->packed = (perfile_archive_capture){.modified = UINT64_MAX};
    x->has_file_time = x->packed.modified != UINT64_MAX; /* the modification time of the archive
                                                          * file is not that of the capture */
    x->file_time = x->packed.modified;
}

/* Reads and prints an input that is open.  Returns false when out of memory.  If the descriptions
 * in an archive were not sufficient, nothing is printed, and *again is true. */
static bool collect_and_print(cli_info_facts *x, const settings *set, bool *again)
{
    const bool describe = !*again;
    *again = false;
    x->session = perfile_stream_session(x->in.stream);
    x->container = perfile_stream_container(x->in.stream);
    x->walked = !set->header;
    x->first = x->last = PERFILE_NO_TIME;
    if (describe && x->walked)
        use_descriptions(x);
    if (perfile_model_open(x->session, &x->model, NULL) != PERFILE_OK || !walk(x, set))
        return false;
    *again = !is_complete(x);
    if (*again)
        return true;
    cli_check_features(&x->in);
    perfile_stream_get_summary(x->in.stream, &x->sum, sizeof x->sum);
    if (x->in.status < 0)
        return true;
    if (set->captures) {
        captures_add(x, set->captures);
        return true;
    }
    return set->json ? cli_info_json(x) : cli_info_text(x);
}

/* Frees the facts, but not `open`, which the caller owns. */
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

/* Reads one input and prints it, unless it must be read again.  Returns its exit status. *open is
 * the archive, if the input is one that can be read only once. */
static int read_once(cli_file *file, const settings *set, perfile_archive **open, bool *again)
{
    cli_reading how = set->how;
    how.archive = open;
    cli_info_facts *x = calloc(1, sizeof *x);
    if (!x) {
        cli_message("%s: out of memory", file->path);
        return CLI_FAILED;
    }
    bool ok = true;
    x->has_file_time = cli_capture_time(file->path, &x->file_time);
    if (cli_open(&x->in, file, &how) == CLI_DONE) {
        read_archive(x, *open, set);
        ok = collect_and_print(x, set, again);
    }
    if (!ok)
        cli_message("%s: out of memory", x->in.name);
    int status = *again ? cli_close_without_damage(&x->in) : cli_close(&x->in);
    release(x, *open);
    return ok ? status : CLI_FAILED;
}

/* Prints one input and returns its exit status. */
static int info_of(cli_file *file, const settings *set)
{
    perfile_archive *open = NULL;
    bool again = false;
    if (set->archive)
        return cli_info_archive(file, &set->how, set->archive, set->json);
    int status = read_once(file, set, &open, &again);
    if (again)
        status = read_once(file, set, &open, &again);
    perfile_archive_close(open);
    return status;
}

/* Prints the captures of an archive. in->at[*i] is the first of them; sets *i to the last.  Returns
 * the worst exit status. */
static int info_of_captures(const cli_inputs *in, size_t *i, settings *set)
{
    const cli_file *archive = &in->at[*i];
    int status = CLI_DONE;
    set->captures = captures_new();
    for (bool more = set->captures; more; *i += more) {
        status = cli_worse(status, info_of(&in->at[*i], set));
        more = *i + 1 < in->n && in->at[*i + 1].n_captures && in->at[*i + 1].capture > 1;
    }
    if (!set->captures || !captures_print(archive, set->how.limits, set->captures)) {
        cli_message("%s: out of memory", archive->path);
        status = CLI_FAILED;
    }
    cli_table_free(set->captures);
    set->captures = NULL;
    return status;
}

static const cli_option options[] = {
    {"header", .code = OPTION_HEADER, .help = "read only the header, not the records",
     .more = "The header of a pipe consists of the records before the first record of the "
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
    .about = "perfile info shows what a capture is: its form; when, by which command and on\n"
             "what machine it was recorded; its events and how they were sampled; the time it\n"
             "covers; what was lost while recording; and whether it is intact.\n"
             "\n"
             "Usage: perfile info [OPTION ...] FILE ...\n"
             "\n"
             "Of an archive with several captures it shows a line for each; --source N shows\n"
             "one of them.\n",
    .options = options,
    .notes = "Examples:\n"
             "  perfile info perf.data\n"
             "  perfile info --header *.data                quickly, of many\n"
             "  perfile info --json perf.data | jq .time\n"
             "  perfile info --chunks --columns x.perfile   what an archive consists of\n"
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
    int status = cli_read_inputs("info", argc, argv, !set.archive, &in);
    if (status != CLI_CONTINUE)
        return status;

    status = CLI_DONE;
    for (size_t i = 0; i < in.n; i++) {
        if (i > 0 && !set.json)
            cli_print("\n");
        const bool several = !set.json && in.at[i].n_captures;
        status =
            cli_worse(status, several ? info_of_captures(&in, &i, &set) : info_of(&in.at[i], &set));
    }
    return status;
}
