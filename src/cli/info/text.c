/* The text of `info`: lines with a label and a value.  A line is omitted if its value is
 * unknown. */
#include "cli/info/info.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/input.h"
#include "cli/print.h"
#include "perfile/field.h"
#include "schema/command.h"

/* Prints the label of a line; "" for a continuation line. */
static void label(const char *name)
{
    cli_print("%-13s", name);
}

/* Prints a whole line, or nothing if `text` is NULL. */
static void line(const char *name, const char *text)
{
    if (!text)
        return;
    label(name);
    cli_print("%s", text);
    cli_print("\n");
}

static void plural(uint64_t n, const char *one, const char *many)
{
    cli_print("%" PRIu64 " %s", n, n == 1 ? one : many);
}

/* Prints the name and form.  The size is omitted if a part (a pipe) has none. */
static void form(const cli_info_facts *x)
{
    const perfile_container *c = x->container;
    char size[32];
    uint64_t total = 0;
    bool known = c->n_parts > 0;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        known = known && c->parts[i].size != UINT64_MAX;
        total += c->parts[i].size;
    }
    line("file", x->in.name);
    if (x->archive_of) {
        label("archive");
        cli_archive_print(&x->archive);
    }
    if (x->packed.n_lossy) {
        label("changed");
        cli_archive_print_lossy(&x->packed);
        cli_print(": not byte for byte what was packed\n");
    }
    label("form");
    if (c->directory)
        cli_print("directory of %" PRIu32 " file%s, ", c->n_parts, c->n_parts == 1 ? "" : "s");
    if (c->form == PERFILE_FORM_NONE)
        cli_print("no header that could be read");
    else
        cli_print("%s %s, version %" PRIu32 ", %s-endian", c->format,
                  c->form == PERFILE_FORM_PIPE ? "stream" : "file", c->version,
                  c->byte_order == PERFILE_BYTE_ORDER_BIG ? "big" : "little");
    if (known) {
        cli_format_bytes(total, size, sizeof size);
        cli_print(", %s", size);
    }
    cli_print("%s\n", c->unterminated ? "; the recording was not finished" : "");
}

/* Prints the machine and the tool, as far as features name them. */
static void host(const cli_info_facts *x)
{
    const perfile_session *s = x->session;
    line("host", perfile_session_fact(s, PERFILE_FACT_HOSTNAME));
    line("kernel", perfile_session_fact(s, PERFILE_FACT_OSRELEASE));
    line("arch", perfile_session_fact(s, PERFILE_FACT_ARCH));
    line("CPU", perfile_session_fact(s, PERFILE_FACT_CPUDESC));
    line("tool", perfile_session_fact(s, PERFILE_FACT_TOOL));
    line("command", perfile_session_fact(s, PERFILE_FACT_CMDLINE));
}

/* Prints the clock of the records. */
static void clock_facts(const cli_info_facts *x)
{
    perfile_clock clock;
    if (x->container->family != PERFILE_FAMILY_PERF)
        return; /* the text below is only true for perf */
    perfile_session_clock(x->session, &clock);
    label("clock");
    if (!clock.known) {
        cli_print("perf's default (sched_clock, since boot)");
    } else {
        const char *name = perfile_vocabulary_word(pf_vocabulary_find("clockid"),
                                                   (uint64_t)(int64_t)clock.clockid);
        if (name)
            cli_print("%s", name);
        else
            cli_print("clock %" PRId32, clock.clockid);
    }
    cli_print("%s\n", clock.has_conversion ? ", with its conversion from the counter" : "");
}

/* Prints the range of times; also as wall-clock times if the capture has the conversion. */
static void times(const cli_info_facts *x)
{
    char first[40], last[40], span[40];
    uint64_t from, to;
    if (x->first == PERFILE_NO_TIME)
        return;
    cli_format_seconds(x->first, first, sizeof first);
    cli_format_seconds(x->last, last, sizeof last);
    cli_format_seconds(x->last - x->first, span, sizeof span);
    label("time");
    cli_print("%s to %s, %s s\n", first, last, span);
    if (perfile_session_wall_time(x->session, x->first, &from) &&
        perfile_session_wall_time(x->session, x->last, &to)) {
        cli_format_wall_time(from, first, sizeof first);
        cli_format_wall_time(to, last, sizeof last);
        label("wall clock");
        cli_print("%s to %s\n", first, last);
    }
}

/* Prints the time of the recording.  The time of a file is printed without fraction, because it is
 * only a bound. */
static void captured(const cli_info_facts *x)
{
    char text[40];
    uint64_t wall;
    bool of_file;
    if (!cli_info_captured(x, &wall, &of_file))
        return;
    cli_format_wall_time(wall, text, sizeof text);
    label("captured");
    if (of_file)
        cli_print("%.19sZ, when the file was last written%s\n", text,
                  x->archive_of ? ", as the archive says" : "");
    else
        cli_print("%s\n", text);
}

/* Prints how often the event was sampled, and with which call chains. */
static void sampling(const perfile_attr *a)
{
    const char *call_graph = cli_info_call_graph(a);
    if (a->is_freq)
        cli_print(", %" PRIu64 " Hz", a->sample_freq);
    else if (a->sample_period)
        cli_print(", period %" PRIu64, a->sample_period);
    if (!call_graph)
        return;
    cli_print(", call graph %s", call_graph);
    if (a->sample_type & PERFILE_SAMPLE_STACK_USER)
        cli_print(" (%" PRIu32 " bytes of stack)", a->sample_stack_user);
}

static uint64_t samples_of(const cli_info_facts *x, uint32_t event)
{
    return event < x->n_events ? x->events[event].samples : 0;
}

/* Prints a line for each event, with its samples if the records were counted.  If there are many
 * events, prints those with samples, or the first few. */
static void events(const cli_info_facts *x)
{
    enum { FEW = 8, MANY = 24 };
    const uint32_t n = perfile_session_n_events(x->session);
    const bool counted = x->walked && x->samples > x->other.samples;
    uint32_t hidden = 0;
    char file[CLI_SHELL_WORD] = "";
    label("events");
    if (n == 0)
        cli_print("none\n");
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (n > MANY && (counted ? !samples_of(x, i) : i >= FEW)) {
            hidden++;
            continue;
        }
        if (i > hidden)
            label("");
        cli_print("%s", e->name);
        if (x->walked) {
            cli_print(": ");
            plural(samples_of(x, i), "sample", "samples");
        }
        sampling(e->attr);
        cli_print("\n");
    }
    if (hidden) {
        label("");
        cli_print("%" PRIu32 " more%s; perfile list events %s\n", hidden,
                  x->walked ? " without samples" : "",
                  cli_shell_input(x->in.file, file, sizeof file) ? file : "FILE");
    }
    if (x->walked && x->other.samples) {
        label("");
        cli_print("of no known event: ");
        plural(x->other.samples, "sample", "samples");
        cli_print("\n");
    }
}

/* Prints the number of records, and how well compressed records are compressed. */
static void records(const cli_info_facts *x)
{
    char bytes[32];
    cli_format_bytes(x->sum.bytes, bytes, sizeof bytes);
    label("records");
    cli_print("%" PRIu64 ", %s", x->sum.records, bytes);
    if (x->sum.unknown_types)
        cli_print("; %" PRIu64 " of unknown type", x->sum.unknown_types);
    cli_print("\n");
    if (!x->compressed_records)
        return;
    char inner[32];
    cli_format_bytes(x->compressed_bytes, bytes, sizeof bytes);
    cli_format_bytes(x->sum.inner_bytes, inner, sizeof inner);
    label("compression");
    cli_print("%s hold %" PRIu64 " records of %s", bytes, x->sum.inner_records, inner);
    if (x->compressed_bytes && x->sum.inner_bytes)
        cli_print(", %.1f to 1", (double)x->sum.inner_bytes / (double)x->compressed_bytes);
    cli_print("\n");
}

/* Prints the number of CPUs, processes and threads.  Returns false when out of memory. */
static bool task_counts(cli_info_facts *x)
{
    const perfile_process *processes;
    const perfile_thread *threads;
    size_t n_processes, n_threads;
    if (perfile_model_processes(x->model, &processes, &n_processes, NULL) != PERFILE_OK ||
        perfile_model_threads(x->model, &threads, &n_threads, NULL) != PERFILE_OK)
        return false;
    uint32_t cpus = perfile_session_n_cpus(x->session);
    if (cpus || x->n_cpus) {
        label("cpus");
        if (cpus)
            cli_print("%" PRIu32 "%s", cpus, x->n_cpus ? ", " : "");
        if (x->n_cpus)
            cli_print("records of %" PRIu32, x->n_cpus);
        cli_print("\n");
    }
    label("processes");
    plural(n_processes, "process", "processes");
    cli_print(", ");
    plural(n_threads, "thread", "threads");
    cli_print("\n");
    return true;
}

static void losses(const cli_info_facts *x)
{
    label("lost");
    if (!cli_losses_print(&x->losses, x->session, x->samples, ""))
        cli_print("nothing reported by the recording");
    cli_print("\n");
}

/* Prints whether the capture is intact, and if not, a suggestion for the user. */
static void integrity(const cli_info_facts *x)
{
    char bytes[32];
    label("state");
    uint64_t damages = cli_damage_count(&x->in);
    if (!damages) {
        cli_print("%s\n", x->walked ? "intact" : "intact, as far as it was read");
        return;
    }
    cli_print("damaged in %" PRIu64 " place%s", damages, damages == 1 ? "" : "s");
    cli_format_bytes(x->sum.lost, bytes, sizeof bytes);
    cli_print(", %s lost", x->sum.lost ? bytes : "no bytes");
    if (x->sum.missing) {
        cli_format_bytes(x->sum.missing, bytes, sizeof bytes);
        cli_print(", %s missing at the end", bytes);
    }
    cli_print("\n");
    /* Missing files must be copied from elsewhere; other damage is for `perfile recover`. */
    char file[CLI_SHELL_WORD], parts[256];
    if (cli_missing_parts(&x->in, parts, sizeof parts)) {
        label("missing");
        cli_print("%s: their records are not here, and `perfile recover` cannot restore them\n",
                  parts);
        label("next");
        cli_print("copy %s from where the directory was recorded\n", parts);
    }
    if (!cli_recoverable(&x->in) || !cli_shell_input(x->in.file, file, sizeof file))
        return;
    label("next");
    cli_print("perfile recover -o OUT %s\n", file);
}

bool cli_info_text(cli_info_facts *x)
{
    form(x);
    captured(x);
    host(x);
    events(x);
    clock_facts(x);
    if (x->walked) {
        times(x);
        records(x);
        if (!task_counts(x))
            return false;
        losses(x);
    }
    integrity(x);
    return true;
}
