#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/damage.h"
#include "cli/info.h"
#include "cli/text.h"
#include "perfile/field.h"

static void label(const char *name)
{
    printf("%-13s", name);
}

static void line(const char *name, const char *text)
{
    if (!text)
        return;
    label(name);
    cli_put_string(text);
    putchar('\n');
}

static void plural(uint64_t n, const char *one, const char *many)
{
    printf("%" PRIu64 " %s", n, n == 1 ? one : many);
}

static void form(const cli_found *x)
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
    label("form");
    if (c->directory)
        printf("directory of %" PRIu32 " file%s, ", c->n_parts, c->n_parts == 1 ? "" : "s");
    if (c->form == PERFILE_FORM_NONE)
        printf("no header that could be read");
    else
        printf("perf.data %s, version %" PRIu32 ", %s-endian",
               c->form == PERFILE_FORM_PIPE ? "stream" : "file", c->version,
               c->big_endian ? "big" : "little");
    if (known) {
        cli_bytes(total, size, sizeof size);
        printf(", %s", size);
    }
    printf("%s\n", c->unterminated ? "; the recording was not finished" : "");
}

static void host(const cli_found *x)
{
    const perfile_session *s = x->session;
    line("host", perfile_session_fact(s, PERFILE_FACT_HOSTNAME));
    line("kernel", perfile_session_fact(s, PERFILE_FACT_OSRELEASE));
    line("arch", perfile_session_fact(s, PERFILE_FACT_ARCH));
    line("processor", perfile_session_fact(s, PERFILE_FACT_CPUDESC));
    line("tool", perfile_session_fact(s, PERFILE_FACT_TOOL));
    line("command", perfile_session_fact(s, PERFILE_FACT_CMDLINE));
}

static void clock_facts(const cli_found *x)
{
    perfile_clock clock;
    perfile_session_clock(x->session, &clock);
    label("clock");
    if (!clock.known) {
        fputs("perf's own (of the kernel, since boot)", stdout);
    } else {
        const char *name = perfile_vocabulary_word(perfile_vocabulary_find("clockid"),
                                                   (uint64_t)(int64_t)clock.clockid);
        if (name)
            printf("%s", name);
        else
            printf("clock %" PRId32, clock.clockid);
    }
    printf("%s\n", clock.has_conversion ? ", with its conversion from the counter" : "");
}

static void times(const cli_found *x)
{
    char first[40], last[40], span[40];
    uint64_t from, to;
    if (x->first == PERFILE_NO_TIME)
        return;
    cli_seconds(x->first, first, sizeof first);
    cli_seconds(x->last, last, sizeof last);
    cli_seconds(x->last - x->first, span, sizeof span);
    label("time");
    printf("%s to %s, %s s\n", first, last, span);
    if (perfile_session_wall_time(x->session, x->first, &from) &&
        perfile_session_wall_time(x->session, x->last, &to)) {
        cli_wall(from, first, sizeof first);
        cli_wall(to, last, sizeof last);
        label("wall clock");
        printf("%s to %s\n", first, last);
    }
}

static void events(const cli_found *x)
{
    uint32_t n = perfile_session_n_events(x->session);
    label("events");
    if (n == 0)
        puts("none");
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (i)
            label("");
        cli_put_string(e->name);
        if (x->walked) {
            uint64_t samples = i < x->n_events ? x->events[i].samples : 0;
            fputs(": ", stdout);
            plural(samples, "sample", "samples");
        }
        putchar('\n');
    }
    if (x->walked && x->other.samples) {
        label("");
        fputs("of no known event: ", stdout);
        plural(x->other.samples, "sample", "samples");
        putchar('\n');
    }
}

static void records(const cli_found *x)
{
    char bytes[32];
    cli_bytes(x->sum.bytes, bytes, sizeof bytes);
    label("records");
    printf("%" PRIu64 ", %s", x->sum.records, bytes);
    if (x->sum.unknown_types)
        printf("; %" PRIu64 " of a type that is not known", x->sum.unknown_types);
    putchar('\n');
    if (!x->compressed_records)
        return;
    char inner[32];
    cli_bytes(x->compressed_bytes, bytes, sizeof bytes);
    cli_bytes(x->sum.inner_bytes, inner, sizeof inner);
    label("compression");
    printf("%s hold %" PRIu64 " records of %s", bytes, x->sum.inner_records, inner);
    if (x->compressed_bytes && x->sum.inner_bytes)
        printf(", %.1f to 1", (double)x->sum.inner_bytes / (double)x->compressed_bytes);
    putchar('\n');
}

static bool world(cli_found *x)
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
            printf("%" PRIu32 "%s", cpus, x->n_cpus ? ", " : "");
        if (x->n_cpus)
            printf("records of %" PRIu32, x->n_cpus);
        putchar('\n');
    }
    label("processes");
    plural(n_processes, "process", "processes");
    fputs(", ", stdout);
    plural(n_threads, "thread", "threads");
    putchar('\n');
    return true;
}

/* One item of the list of losses; *any says whether one stands before it. */
static void loss(bool *any, uint64_t n, const char *one, const char *many)
{
    if (!n)
        return;
    if (*any)
        fputs(", ", stdout);
    else
        label("lost");
    *any = true;
    plural(n, one, many);
}

static void losses(const cli_found *x)
{
    bool any = false;
    loss(&any, x->lost_records, "record", "records");
    loss(&any, x->lost_samples, "sample", "samples");
    loss(&any, x->throttles, "throttling", "throttlings");
    loss(&any, x->aux_truncated, "AUX span truncated", "AUX spans truncated");
    loss(&any, x->auxtrace_errors, "AUX trace error", "AUX trace errors");
    loss(&any, x->map_timeouts, "incomplete list of mappings", "incomplete lists of mappings");
    if (!any) {
        label("lost");
        fputs("nothing, as far as the recording says", stdout);
    }
    putchar('\n');
}

static void state(const cli_found *x)
{
    char bytes[32];
    label("state");
    uint64_t damages = cli_damages(&x->in);
    if (!damages) {
        puts(x->walked ? "whole" : "whole, as far as looked at");
        return;
    }
    printf("damaged in %" PRIu64 " place%s", damages, damages == 1 ? "" : "s");
    cli_bytes(x->sum.lost, bytes, sizeof bytes);
    printf(", %s lost", x->sum.lost ? bytes : "no bytes");
    if (x->sum.missing) {
        cli_bytes(x->sum.missing, bytes, sizeof bytes);
        printf(", %s missing at the end", bytes);
    }
    putchar('\n');
    label("next");
    printf("perfile recover -o OUT %s\n", x->in.name);
}

bool cli_info_text(cli_found *x)
{
    form(x);
    host(x);
    events(x);
    clock_facts(x);
    if (x->walked) {
        times(x);
        records(x);
        if (!world(x))
            return false;
        losses(x);
    }
    state(x);
    return true;
}
