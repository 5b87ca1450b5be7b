/* `info --json`: one object per capture. format/reports.md describes the members, which are printed
 * in the order of this file. */
#include "cli/info/info.h"
#include "cli/input.h"
#include "cli/print.h"
#include "perfile/field.h"
#include "schema/command.h"

/* Keys of the object `host`. */
static const char *const fact_keys[PERFILE_N_FACTS] = {
    [PERFILE_FACT_HOSTNAME] = "hostname", [PERFILE_FACT_OSRELEASE] = "osrelease",
    [PERFILE_FACT_TOOL] = "tool",         [PERFILE_FACT_ARCH] = "arch",
    [PERFILE_FACT_CPUDESC] = "cpudesc",   [PERFILE_FACT_CPUID] = "cpuid",
    [PERFILE_FACT_CMDLINE] = "cmdline"};

/* Prints how the bytes are stored: form, byte order, the files of a directory. */
static void form(const cli_info_facts *x)
{
    const perfile_container *c = x->container;
    cli_json_string("form", cli_form_name(c));
    cli_json_number("version", c->version);
    cli_json_string("endian", c->byte_order == PERFILE_BYTE_ORDER_BIG ? "big" : "little");
    cli_json_bool("directory", c->directory);
    cli_json_array("parts");
    for (uint32_t i = 0; i < c->n_parts; i++) {
        cli_json_object(NULL);
        cli_json_string("name", c->parts[i].name);
        if (c->parts[i].size == UINT64_MAX)
            cli_json_null("size");
        else
            cli_json_number("size", c->parts[i].size);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_bool("finished", !c->unterminated);
}

/* Prints the machine and the tool, as far as features name them.  Unknown facts have no member. */
static void host(const cli_info_facts *x)
{
    cli_json_object("host");
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++) {
        const char *fact = perfile_session_fact(x->session, i);
        if (fact)
            cli_json_string(fact_keys[i], fact);
    }
    uint32_t n = perfile_session_n_cpus(x->session);
    if (n)
        cli_json_number("cpus", n);
    cli_json_object_end();
}

/* Prints the clock of the records, null if the capture does not name it, and whether its times can
 * be converted to wall-clock time or from a hardware counter. */
static void clock_facts(const cli_info_facts *x)
{
    perfile_clock clock;
    perfile_session_clock(x->session, &clock);
    cli_json_object("clock");
    if (clock.known) {
        cli_json_signed("clockid", clock.clockid);
        cli_json_string("name", perfile_vocabulary_word(pf_vocabulary_find("clockid"),
                                                        (uint64_t)(int64_t)clock.clockid));
    } else {
        cli_json_null("clockid");
        cli_json_null("name");
    }
    cli_json_bool("wall", clock.has_wall);
    cli_json_bool("conversion", clock.has_conversion);
    cli_json_object_end();
}

/* Prints the time of the recording, and whether it comes from the clocks or from the time of the
 * file. */
static void captured(const cli_info_facts *x)
{
    uint64_t wall;
    bool of_file;
    if (!cli_info_captured(x, &wall, &of_file)) {
        cli_json_null("captured");
        return;
    }
    cli_json_object("captured");
    cli_json_decimal("time", wall);
    cli_json_string("from", of_file ? "file" : "clock");
    cli_json_object_end();
}

/* Prints the events, with their counts if the records were read. */
static void events(const cli_info_facts *x)
{
    cli_json_array("events");
    for (uint32_t i = 0; i < perfile_session_n_events(x->session); i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        cli_json_object(NULL);
        cli_json_number("index", i);
        cli_json_string("name", e->name);
        cli_json_number("type", e->attr->type);
        cli_json_hex("config", e->attr->config);
        cli_json_number("ids", e->ids.n);
        if (e->attr->is_freq)
            cli_json_decimal("sample_freq", e->attr->sample_freq);
        else
            cli_json_decimal("sample_period", e->attr->sample_period);
        cli_json_string("call_graph", cli_info_call_graph(e->attr));
        if (x->walked) {
            bool counted = i < x->n_events; /* later events have no records */
            cli_json_number("records", counted ? x->events[i].records : 0);
            cli_json_number("samples", counted ? x->events[i].samples : 0);
        }
        cli_json_object_end();
    }
    cli_json_array_end();
}

static void features(const cli_info_facts *x)
{
    cli_json_array("features");
    for (uint32_t i = 0; i < perfile_session_n_features(x->session); i++)
        cli_json_number(NULL, perfile_session_feature_at(x->session, i)->number);
    cli_json_array_end();
}

/* Prints the range of times; also as wall-clock times if the capture has the conversion. */
static void times(const cli_info_facts *x)
{
    uint64_t wall;
    if (x->first == PERFILE_NO_TIME) {
        cli_json_null("time");
        return;
    }
    cli_json_object("time");
    cli_json_decimal("first", x->first);
    cli_json_decimal("last", x->last);
    if (perfile_session_wall_time(x->session, x->first, &wall))
        cli_json_decimal("first_wall", wall);
    if (perfile_session_wall_time(x->session, x->last, &wall))
        cli_json_decimal("last_wall", wall);
    cli_json_object_end();
}

/* Prints the facts for which all records must be read.  Returns false when out of memory. */
static bool counts(cli_info_facts *x)
{
    const perfile_process *processes;
    const perfile_thread *threads;
    size_t n_processes, n_threads;
    if (perfile_model_processes(x->model, &processes, &n_processes, NULL) != PERFILE_OK ||
        perfile_model_threads(x->model, &threads, &n_threads, NULL) != PERFILE_OK)
        return false;

    cli_json_object("records");
    cli_json_number("count", x->sum.records);
    cli_json_number("bytes", x->sum.bytes);
    cli_json_number("samples", x->samples);
    cli_json_number("rounds", x->rounds);
    cli_json_number("unknown_types", x->sum.unknown_types);
    cli_json_object_end();
    times(x);
    cli_json_number("cpus_seen", x->n_cpus);
    cli_json_number("processes", n_processes);
    cli_json_number("threads", n_threads);

    if (x->compressed_records) {
        cli_json_object("compression");
        cli_json_number("records", x->compressed_records);
        cli_json_number("bytes", x->compressed_bytes);
        cli_json_number("inner_records", x->sum.inner_records);
        cli_json_number("inner_bytes", x->sum.inner_bytes);
        cli_json_object_end();
    } else {
        cli_json_null("compression");
    }

    cli_json_object("losses");
    cli_losses_json(&x->losses, x->session);
    cli_json_object_end();
    cli_json_number("aux_bytes", x->aux_bytes);
    return true;
}

bool cli_info_json(cli_info_facts *x)
{
    cli_json_object(NULL);
    cli_json_string("file", x->in.name);
    if (x->archive_of)
        cli_archive_json(&x->archive, &x->packed);
    form(x);
    host(x);
    clock_facts(x);
    captured(x);
    events(x);
    features(x);
    cli_json_bool("walked", x->walked);
    bool ok = !x->walked || counts(x);
    cli_json_damage(&x->in);
    cli_json_object_end();
    cli_json_line();
    return ok;
}
