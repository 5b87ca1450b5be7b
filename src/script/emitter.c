/* The emitter "script": takes records in order of time, passes samples to the reader of profiles,
 * and writes the text that its threads make of them.
 *
 * Only caches are stored for a capture.  The plan for printing samples (pf_script_plan) depends on
 * the events of the session.  When the session changes, all waiting text is written first, and then
 * a new plan is made. */
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "core/session.h"
#include "perfile/session.h"
#include "script/script.h"
#include "model/command.h"
#include "symbol/command.h"
#include "core/command.h"

enum { MOST_FRAMES = 127, CPUMODE_GUEST_KERNEL = 4, CPUMODE_GUEST_USER = 5 };

static pf_script *script_of(perfile_emitter *e)
{
    return (pf_script *)(void *)e;
}

/* pf_queue_text.write */
static perfile_status write_text(void *user, perfile_bytes text, perfile_error *err)
{
    pf_script *x = user;
    const perfile_status st = pf_emitter_write_out(&x->base, err);
    return st == PERFILE_OK ? perfile_sink_write(x->base.sink, text, err) : st;
}

static perfile_status open_symbols(pf_script *x, perfile_error *err)
{
    perfile_status st = perfile_symbols_open(x->base.session, x->options.symbols, &x->symbols, err);
    x->reader.resolver.functions = x->symbols;
    if (st != PERFILE_OK || x->options.flags & PERFILE_EXPORT_NO_UNWIND)
        return st;
    return pf_profile_reader_unwind(&x->reader, x->symbols) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "script");
}

/* Begins to read the capture of base.session and base.model. */
static perfile_status begin_input(pf_script *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    x->reading = true;
    x->started = false;
    pf_script_counts_begin(x);
    if (!pf_profile_reader_init(&x->reader, &x->profile, x->base.session, x->base.model, NULL, x))
        return pf_fail_nomem(err, "script");
    x->reader.text = &x->text;
    pf_resolver *resolver = &x->reader.resolver;
    resolver->joins = resolver->joins_unnamed = resolver->joins_unmapped = true; /* see frames.c */
    x->reader.branch_chains = true;
    if (x->base.flags & (PERFILE_SCRIPT_TASKS | PERFILE_SCRIPT_MMAPS | PERFILE_SCRIPT_SWITCHES |
                         PERFILE_SCRIPT_NAMESPACES | PERFILE_SCRIPT_LOST | PERFILE_SCRIPT_BPF |
                         PERFILE_SCRIPT_CGROUPS | PERFILE_SCRIPT_TEXT_POKES))
        st = perfile_model_open(x->base.session, &x->past, err);
    return st == PERFILE_OK && x->options.symbols ? open_symbols(x, err) : st;
}

static perfile_status end_input(pf_script *x, perfile_error *err)
{
    if (!x->reading)
        return PERFILE_OK;
    const perfile_status st =
        x->started ? pf_profile_reader_end(&x->reader, err) : (perfile_status)PERFILE_OK;
    x->sum.samples += x->reader.counts.samples;
    x->sum.unreadable += x->reader.counts.unreadable;
    x->sum.not_joined += x->reader.counts.deferred_missing;
    x->sum.too_costly += x->symbols ? pf_symbols_too_costly(x->symbols) : 0;
    pf_script_counts_free(x);
    pf_buffer_clear(&x->counts);
    pf_index_free(&x->counted);
    x->counted = (pf_index){.seed = pf_index_seed(x)};
    pf_unwinder_free(&x->reader.unwinder);
    pf_profile_reader_free(&x->reader);
    perfile_symbols_close(x->symbols);
    perfile_model_close(x->past);
    x->symbols = NULL;
    x->past = NULL;
    x->reading = false;
    return st;
}

/* Copies the names of functions at which callchains end. */
static bool copy_stops(pf_script *x, const char *names)
{
    if (!names || !pf_buffer_append(&x->stops, names, strlen(names) + 1))
        return !names;
    for (size_t i = 0; i < x->stops.len; i++)
        if (x->stops.ptr[i] == ',')
            x->stops.ptr[i] = 0;
    return true;
}

static perfile_status open_script(perfile_emitter *e, perfile_error *err)
{
    pf_script *x = script_of(e);
    const uint32_t times = PERFILE_SCRIPT_DELTATIME | PERFILE_SCRIPT_RELTIME;
    x->options = *e->exporting;
    x->most_frames = e->max_stack ? e->max_stack : MOST_FRAMES;
    x->inlines = !(e->flags & PERFILE_SCRIPT_NO_INLINE);
    x->counted.seed = pf_index_seed(x);
    x->text = (pf_queue_text){.open = pf_script_state_open,
                              .close = pf_script_state_close,
                              .put = pf_script_put,
                              .forget = pf_script_state_forget,
                              .write = write_text,
                              .user = x};
    if ((e->flags & times) == times)
        return pf_fail(err, PERFILE_E_USAGE, "emit.flags",
                       "times are relative to the start or to the line before, not both");
    pf_script_defaults(x->types);
    perfile_status st = e->fields ? pf_script_read(x->types, e->fields, err) : PERFILE_OK;
    if (st != PERFILE_OK)
        return st;
    if (!copy_stops(x, e->stop_at) ||
        !pf_profile_init(&x->profile, pf_session_profile_bytes(e->session)))
        return pf_fail_nomem(err, "script");
    return begin_input(x, err);
}

static void close_script(perfile_emitter *e)
{
    pf_script *x = script_of(e);
    (void)!end_input(x, NULL);
    pf_script_plan_free(&x->plan);
    pf_profile_free(&x->profile);
    pf_buffer_free(&x->line);
    pf_buffer_free(&x->comm);
    pf_buffer_free(&x->stops);
    pf_buffer_free(&x->counts);
    pf_index_free(&x->counted);
}

static perfile_status begin_script(perfile_emitter *e, perfile_error *err)
{
    return e->flags & PERFILE_SCRIPT_HEADER ? pf_script_put_header(script_of(e), err) : PERFILE_OK;
}

/* Returns false if some field shows the wall clock but it is not known.  `perf stat record` has no
 * fields. */
static bool has_wall_clock(const pf_script *x)
{
    uint64_t wall;
    bool needed = false;
    for (uint32_t i = 0; i < x->plan.n; i++)
        needed |= (x->plan.events[i].fields & PF_FIELD_TOD) != 0;
    return !needed || perfile_session_feature(x->base.session, PERFILE_FEATURE_STAT) ||
           perfile_session_wall_time(x->base.session, 0, &wall);
}

/* Finds the names of registers, for the local machine if the capture does not name its machine.
 * For some machines perf uses lower case. */
static void find_registers(pf_script *x)
{
    static const char *const lower[] = {"arm", "aarch64", "riscv", "ppc", "powerpc"};
    const char *machine = perfile_session_fact(x->base.session, PERFILE_FACT_ARCH);
    struct utsname here;
    x->registers = pf_registers_of(x->base.session);
    if (!x->registers && !machine && uname(&here) == 0)
        x->registers = pf_registers_of_machine(machine = here.machine);
    x->lower_case = false;
    for (size_t i = 0; i < sizeof lower / sizeof lower[0] && machine; i++)
        x->lower_case |= strncmp(machine, lower[i], strlen(lower[i])) == 0;
}

/* Makes the plan if the session has changed, and starts the reader. */
static perfile_status prepare(pf_script *x, perfile_error *err)
{
    const perfile_session *s = x->base.session;
    const uint64_t generation = pf_session_generation(s);
    const bool is_pipe = x->base.container && x->base.container->form == PERFILE_FORM_PIPE;
    if (x->started && generation == x->generation)
        return PERFILE_OK;
    perfile_status st = pf_script_plan_make(&x->plan, x->types, s, x->base.flags, is_pipe, err);
    if (st != PERFILE_OK)
        return st;
    if (!is_pipe && !has_wall_clock(x))
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "'tod' cannot be printed: the capture has no clock data, see "
                       "`perf record -k`");
    find_registers(x);
    x->reader.wants_records = x->plan.needs_records;
    if (!x->started)
        st = pf_profile_reader_start(&x->reader, x->plan.in_order ? 1 : x->base.n_threads, err);
    /* After a failure the reader has no queue: it is not started. */
    x->started = st == PERFILE_OK;
    x->generation = generation;
    return st;
}

/* Stores the time of the first line. */
static void note_first(pf_script *x, const perfile_record *r)
{
    if (x->has_first || !(x->base.flags & PERFILE_SCRIPT_RELTIME))
        return;
    x->first_time = perfile_record_time(r);
    x->has_first = x->first_time;
}

/* Samples with READ values.  perf replaces such a sample by one sample for each counter value in it
 * (a group), with the increase of the counter since the last sample as period. */

/* Computes the increase of a counter since its last value.  Returns false when out of memory. */
static bool step_of(pf_script *x, uint64_t id, uint64_t value, uint64_t *step)
{
    uint32_t at = pf_index_get(&x->counted, id);
    if (at == PF_INDEX_NONE) {
        const uint64_t zero = 0;
        at = (uint32_t)(x->counts.len / sizeof zero);
        if (!pf_buffer_append(&x->counts, &zero, sizeof zero) || !pf_index_put(&x->counted, id, at))
            return false;
    }
    uint64_t *last = (uint64_t *)(void *)x->counts.ptr + at;
    *step = value - *last;
    *last = value;
    return true;
}

static perfile_status put_counter(pf_script *x, const perfile_record *r, uint64_t id,
                                  uint64_t value, perfile_error *err)
{
    uint64_t step;
    const perfile_event *event = perfile_session_event_by_id(x->base.session, id);
    if (!event || event->index >= x->plan.n)
        return PERFILE_OK;
    if (!step_of(x, id, value, &step))
        return pf_fail_nomem(err, "script");
    if (!step || !x->plan.events[event->index].fields)
        return PERFILE_OK;
    return pf_profile_reader_put_as(&x->reader, r, event, step, err);
}

static perfile_status put_counters(pf_script *x, const perfile_record *r, perfile_error *err)
{
    perfile_sample v;
    perfile_read_entry entry;
    perfile_status st = PERFILE_OK;
    if (perfile_sample_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    if (!v.values.has_group)
        return v.values.has_id ? put_counter(x, r, v.values.id, v.values.value, err) : PERFILE_OK;
    perfile_list list = v.values.cntr;
    while (st == PERFILE_OK && perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK &&
           entry.has_id)
        st = put_counter(x, r, entry.id, entry.value, err);
    return st;
}

static perfile_status put_sample(pf_script *x, const perfile_record *r, perfile_error *err)
{
    const unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    const perfile_event *event = perfile_record_event(r);
    /* Nothing is printed for events without fields, nor, as in perf, for guests. */
    if (!event || event->index >= x->plan.n || !x->plan.events[event->index].fields ||
        mode == CPUMODE_GUEST_KERNEL || mode == CPUMODE_GUEST_USER)
        return PERFILE_OK;
    note_first(x, r);
    if (event->attr->sample_type & PERFILE_SAMPLE_READ)
        return put_counters(x, r, err);
    return pf_profile_reader_put(&x->reader, r, err);
}

/* Adds the line of a record other than a sample, in order with those of samples. */
static perfile_status put_note(pf_script *x, const perfile_record *r, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->plan.in_order) /* the previous line must be finished */
        st = pf_queue_finish(x->reader.queue, err);
    note_first(x, r);
    if (st == PERFILE_OK)
        st = pf_script_note(x, r, err);
    if (st != PERFILE_OK)
        return st;
    const uint64_t zero = 0; /* ends the text, as whole words */
    if (!pf_buffer_append(&x->line, &zero, sizeof zero))
        return pf_fail_nomem(err, "script");
    const pf_unresolved note = {
        .is_note = true, .words = x->line.ptr, .n = x->line.len / sizeof zero};
    return pf_queue_put(x->reader.queue, &note, err);
}

/* A sample without a time gets the time of the last record that has one. */
static void advance(pf_script *x, const perfile_record *r)
{
    if (x->plan.timed_all)
        return;
    const uint64_t time = perfile_record_time(r);
    if (time != PERFILE_NO_TIME)
        x->reader.now = time;
}

/* Writes a feature of a pipe, in order with the lines. */
static perfile_status put_fact(pf_script *x, const perfile_record *r, perfile_error *err)
{
    if (!(x->base.flags & (PERFILE_SCRIPT_HEADER | PERFILE_SCRIPT_SHOW_INFO)))
        return PERFILE_OK;
    const perfile_status st = pf_queue_finish(x->reader.queue, err);
    return st == PERFILE_OK ? pf_script_put_fact(x, r, err) : st;
}

/* Writes the lines of a round of `perf stat record`, in order with the others. */
static perfile_status put_counts(pf_script *x, const perfile_record *r, perfile_error *err)
{
    perfile_status st = pf_script_put_counts(x, r, err);
    if (st != PERFILE_OK || !x->line.len)
        return st;
    st = pf_queue_finish(x->reader.queue, err);
    const perfile_bytes text = {x->line.ptr, x->line.len};
    return st == PERFILE_OK ? perfile_sink_write(x->base.sink, text, err) : st;
}

/* Handles a record.  A line shows the name of a thread before it ends, and after it is named. */
static perfile_status put_record(pf_script *x, const perfile_record *r, perfile_error *err)
{
    const bool shown = pf_script_shows(x->base.flags, r->type);
    perfile_status st = PERFILE_OK;
    advance(x, r);
    switch (r->type) {
    case PERFILE_RECORD_SAMPLE:
        return put_sample(x, r, err);
    case PERFILE_RECORD_HEADER_FEATURE:
        return put_fact(x, r, err);
    case PERFILE_RECORD_CALLCHAIN_DEFERRED:
        return pf_profile_reader_put(&x->reader, r, err);
    case PERFILE_RECORD_STAT:
    case PERFILE_RECORD_STAT_ROUND:
    case PERFILE_RECORD_STAT_CONFIG:
    case PERFILE_RECORD_THREAD_MAP:
    case PERFILE_RECORD_CPU_MAP:
        return put_counts(x, r, err);
    default:
        break;
    }
    if (x->past && r->type != PERFILE_RECORD_EXIT && pf_model_wants(r->type))
        st = perfile_model_feed(x->past, r, err);
    if (shown && st == PERFILE_OK)
        st = put_note(x, r, err);
    if (x->past && r->type == PERFILE_RECORD_EXIT && st == PERFILE_OK)
        st = perfile_model_feed(x->past, r, err);
    return st;
}

static perfile_status put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    pf_script *x = script_of(e);
    perfile_status st = PERFILE_OK;
    if (!x->reading)
        return pf_fail(err, PERFILE_E_USAGE, "emitter", "records of no capture");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_record *r = &first[i];
        if (r->family != PERFILE_FAMILY_PERF)
            continue;
        st = prepare(x, err);
        if (st == PERFILE_OK)
            st = put_record(x, r, err);
    }
    e->n_records += n;
    return st;
}

static perfile_status put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return put_run(e, r, 1, err);
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    return end_input(script_of(e), err);
}

static perfile_status next(perfile_emitter *e, perfile_error *err)
{
    pf_script *x = script_of(e);
    perfile_status st = end_input(x, err);
    if (st == PERFILE_OK && e->stream)
        st = begin_script(e, err);
    return st == PERFILE_OK && e->stream ? begin_input(x, err) : st;
}

static void summary(const perfile_emitter *e, perfile_export_summary *out)
{
    *out = ((const pf_script *)(const void *)e)->sum;
}

static const pf_export_ops exports = {.put_run = put_run, .next = next, .summary = summary};

const pf_emit_ops pf_emit_script = {
    .name = "script",
    .doc = "the text of perf script: a line for each sample, with its call chain",
    .size = sizeof(pf_script),
    .open = open_script,
    .close = close_script,
    .begin = begin_script,
    .put = put,
    .finish = finish,
    .exports = &exports,
};
