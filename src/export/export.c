/* Adding up samples for viewer formats (see export.h). */
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "perfile/event.h"
#include "core/command.h"
#include "symbol/command.h"

enum { WRITE_BYTES = 1 << 20 };

/* Updates the host of the current capture, which may come late in a pipe.  Returns false when out
 * of memory. */
static bool find_host(pf_exporter *x)
{
    const char *hostname = perfile_session_fact(x->reader.session, PERFILE_FACT_HOSTNAME);
    if (hostname != x->hostname) {
        x->hostname = hostname;
        x->host = hostname ? pf_profile_text(&x->profile, hostname) : NULL;
    }
    return x->host || !hostname;
}

uint32_t pf_export_label(pf_exporter *x, const pf_profiled *about)
{
    pf_label label;
    if (!pf_profile_reader_label(&x->reader, x->options.per, about, &label))
        return PF_INTERN_NONE;
    if (x->base.ops->exports->per_host) {
        if (!find_host(x))
            return PF_INTERN_NONE;
        label.host = x->host;
    }
    label.flags = x->before ? PF_LABEL_BEFORE : 0;
    return pf_profile_label(&x->profile, &label);
}

/* pf_profile_reader.take: counts a sample. */
static bool count(void *user, const pf_profiled *s)
{
    pf_exporter *x = user;
    const uint32_t number = pf_export_label(x, s);
    if (number == PF_INTERN_NONE)
        return false;
    const pf_export_ops *form = x->base.ops->exports;
    pf_sum_add(&x->sum.period, s->period);
    if (s->time < x->sum.first_time)
        x->sum.first_time = s->time;
    if (s->time != PERFILE_NO_TIME && s->time >= x->sum.last_time)
        x->sum.last_time = s->time;
    if (x->options.flags & PERFILE_EXPORT_LINES && !pf_lines_mark(&x->lines, &x->profile, s->stack))
        return false;
    return form->take ? form->take(x, s, number)
                      : pf_profile_count(&x->profile, number, s->stack, s->period);
}

/* pf_profile_reader.note: passes a record to the form. */
static bool show(void *user, const pf_profiled *about)
{
    pf_exporter *x = user;
    return x->base.ops->exports->note(x, about);
}

/* Adds the origin of a capture to the comments: host, system and command line. */
static perfile_status note_origin(pf_exporter *x, perfile_error *err)
{
    static const unsigned facts[] = {PERFILE_FACT_HOSTNAME, PERFILE_FACT_OSRELEASE,
                                     PERFILE_FACT_ARCH, PERFILE_FACT_TOOL, PERFILE_FACT_CMDLINE};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const char *fact = perfile_session_fact(x->reader.session, facts[i]);
        if (!fact)
            continue;
        fact = pf_profile_text(&x->profile, fact);
        if (!fact || !pf_buffer_append(&x->comments, &fact, sizeof fact))
            return pf_profile_fail(&x->profile, err);
        if (!x->facts[facts[i]])
            x->facts[facts[i]] = fact;
    }
    return PERFILE_OK;
}

static perfile_status open_symbols(pf_exporter *x, perfile_error *err)
{
    pf_resolver *resolver = &x->reader.resolver;
    perfile_status st = perfile_symbols_open(x->base.session, x->options.symbols, &x->symbols, err);
    resolver->functions = x->symbols;
    if (x->options.flags & PERFILE_EXPORT_INLINE)
        resolver->symbols = x->symbols;
    if (st != PERFILE_OK || x->options.flags & PERFILE_EXPORT_NO_UNWIND)
        return st;
    return pf_profile_reader_unwind(&x->reader, x->symbols) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "export");
}

/* Stores the name of the current capture.  Returns false when out of memory. */
static bool note_name(pf_exporter *x)
{
    const size_t i = x->n_inputs - (size_t)1;
    if (i >= sizeof x->names / sizeof x->names[0])
        return true;
    const char *name = pf_stream_name(x->base.stream);
    const char *slash = strrchr(name, '/');
    if (strcmp(name, "-") == 0)
        name = "standard input";
    x->names[i] = pf_profile_text(&x->profile, slash && slash[1] ? slash + 1 : name);
    return x->names[i];
}

/* Begins to read the capture of base.session and base.model. */
static perfile_status begin_input(pf_exporter *x, perfile_error *err)
{
    x->reading = true;
    x->n_inputs++;
    if (!note_name(x))
        return pf_profile_fail(&x->profile, err);
    x->hostname = x->host = NULL;
    if (!pf_profile_reader_init(&x->reader, &x->profile, x->base.session, x->base.model, count, x))
        return pf_fail_nomem(err, "export");
    x->reader.branch_chains = x->options.flags & PERFILE_EXPORT_BRANCH_CHAINS;
    pf_resolver *resolver = &x->reader.resolver;
    resolver->own_frames = resolver->chains_only = x->base.ops->exports->own_frames;
    const uint32_t by_place = PERFILE_EXPORT_INLINE | PERFILE_EXPORT_LINES;
    resolver->joins = x->base.ops->exports->by_name && !(x->options.flags & by_place);
    resolver->joins_unnamed = resolver->joins_unmapped = pf_export_tree_options(x).join;
    perfile_status st = x->options.symbols ? open_symbols(x, err) : PERFILE_OK;
    if (st == PERFILE_OK && x->options.flags & PERFILE_EXPORT_OFF_CPU)
        st = pf_off_cpu_begin(x, err);
    x->reader.note = x->base.ops->exports->note ? show : NULL;
    return st == PERFILE_OK ? pf_profile_reader_start(&x->reader, x->base.n_threads, err) : st;
}

/* Adds to a counter that saturates at UINT32_MAX. */
static void add_small(uint32_t *sum, uint64_t n)
{
    *sum = n < UINT32_MAX - *sum ? *sum + (uint32_t)n : UINT32_MAX;
}

/* Adds the results of unwinding a capture's samples to the summary. */
static void add_unwound(perfile_export_summary *sum, const pf_unwinder *u)
{
    sum->unwound += u->ends[PF_UNWIND_COMPLETE];
    add_small(&sum->unwound_short, u->ends[PF_UNWIND_SHORT]);
    add_small(&sum->unwound_no_file, u->ends[PF_UNWIND_NO_FILE]);
    add_small(&sum->unwound_no_rules, u->ends[PF_UNWIND_NO_RULES]);
    add_small(&sum->not_unwound, u->ends[PF_UNWIND_UNSUPPORTED]);
}

/* Adds the counts of a capture to the summary. */
static void add_counts(perfile_export_summary *sum, const pf_profile_counts *c)
{
    sum->samples += c->samples;
    sum->without_period += c->without_period;
    sum->without_stack += c->without_stack;
    sum->unreadable += c->unreadable;
    sum->joined += c->deferred;
    sum->not_joined += c->deferred_missing;
}

/* Returns true if a PMU counts cycles, such as "cpu_core/cycles/". */
static bool is_pmu_cycles(const char *event)
{
    const char *slash = strchr(event, '/');
    const size_t n = slash ? strcspn(slash + 1, "/,:") : 0;
    return (n == 6 && strncmp(slash + 1, "cycles", n) == 0) ||
           (n == 10 && strncmp(slash + 1, "cpu-cycles", n) == 0);
}

/* Returns the facts about an event. */
static pf_export_event event_facts(const perfile_event *event, const char *name)
{
    enum { NS_PER_S = 1000000000, CPU_CYCLES = 0 };
    const perfile_attr *attr = event->attr;
    pf_export_event e = {.name = name, .says = pf_export_event_says(event)};
    if (!attr->is_freq)
        e.period = attr->sample_period;
    /* The PMU of the kind of CPU is in the upper half of `config` (kernel 5.12), or the event is
     * one of that PMU. */
    if (attr->type == PERFILE_TYPE_HARDWARE && attr->config >> 32)
        e.kinds = UINT64_C(1) << 32 | (uint32_t)attr->config;
    else if (is_pmu_cycles(name))
        e.kinds = UINT64_C(1) << 32 | CPU_CYCLES;
    if (pf_export_is_clock(name))
        e.interval = e.period;
    if (e.says == PF_EVENT_CLOCK && attr->is_freq && attr->sample_freq)
        e.interval = NS_PER_S / attr->sample_freq;
    return e;
}

/* Adds the events that are new in this capture.  Returns false when out of memory or over the
 * limit. */
static bool note_events(pf_exporter *x)
{
    for (size_t i = 0; i < x->reader.n_events; i++) {
        const char *text = x->reader.events[i].text;
        const perfile_event *own = perfile_session_event(x->reader.session, (uint32_t)i);
        const perfile_event *event = x->reader.as ? x->reader.as : own;
        if (!text || !event || pf_index_get(&x->event_index, (uintptr_t)text) != PF_INDEX_NONE)
            continue;
        const pf_export_event facts = event_facts(event, text);
        if (!pf_index_put(&x->event_index, (uintptr_t)text, (uint32_t)x->sum.events) ||
            !pf_buffer_append(&x->events, &facts, sizeof facts))
            return false;
        x->sum.events++;
    }
    return true;
}

perfile_status pf_export_end_input(pf_exporter *x, perfile_error *err)
{
    if (!x->reading)
        return PERFILE_OK;
    perfile_status st = pf_profile_reader_end(&x->reader, err);
    pf_off_cpu_end(x);
    if (st == PERFILE_OK)
        st = note_origin(x, err);
    if (st == PERFILE_OK && x->symbols)
        st = pf_name_functions(&x->profile, x->symbols, x->n_named, err);
    if (st == PERFILE_OK && x->symbols && x->options.flags & PERFILE_EXPORT_LINES)
        st = pf_lines_find(&x->lines, &x->profile, x->symbols, err);
    x->n_named = (uint32_t)x->profile.frames.n;
    add_unwound(&x->sum, &x->reader.unwinder);
    x->sum.not_inlined += x->reader.resolver.n_left_out;
    pf_unwinder_free(&x->reader.unwinder);
    x->sum.too_costly += x->symbols ? pf_symbols_too_costly(x->symbols) : 0;
    perfile_symbols_close(x->symbols);
    x->symbols = NULL;
    if (!x->wall_time && x->sum.first_time != PERFILE_NO_TIME &&
        perfile_session_wall_time(x->reader.session, x->sum.first_time, &x->wall_time))
        x->wall_at = x->sum.first_time;
    add_counts(&x->sum, &x->reader.counts);
    if (st == PERFILE_OK && !note_events(x))
        st = pf_profile_fail(&x->profile, err);
    pf_profile_reader_free(&x->reader);
    x->reading = false;
    return st;
}

/* Checks the keys, and sets the default. */
static perfile_status read_keys(pf_exporter *x, perfile_error *err)
{
    uint8_t *per = x->options.per;
    for (size_t i = 0; i < sizeof x->options.per && per[i]; i++)
        if (per[i] > PERFILE_PER_CPU || i + 1 == sizeof x->options.per)
            return pf_fail(err, PERFILE_E_USAGE, "export.per", "key %zu of `per` is %u", i, per[i]);
    const pf_export_ops *form = x->base.ops->exports;
    if (form->all_keys || (!per[0] && !(x->options.flags & PERFILE_EXPORT_NO_LABELS)))
        memcpy(per, form->per, sizeof form->per);
    const size_t n = strlen((const char *)per);
    x->per_event = strchr((const char *)per, PERFILE_PER_EVENT);
    if (form->per_event && !strchr((const char *)per, PERFILE_PER_EVENT))
        per[n] = PERFILE_PER_EVENT; /* there are fewer keys than room */
    return PERFILE_OK;
}

perfile_status pf_export_open(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    x->options = *e->exporting;
    x->sum.first_time = PERFILE_NO_TIME;
    x->before = x->compares = x->options.flags & PERFILE_EXPORT_COMPARE;
    if (x->compares && !e->ops->exports->trees)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags", "'%s' compares no captures",
                       e->ops->name);
    if (x->options.flags & PERFILE_EXPORT_LINES && !e->ops->exports->lines)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags", "'%s' shows no lines of the source",
                       e->ops->name);
    if (x->options.flags & PERFILE_EXPORT_REVERSE && !e->ops->exports->trees)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags", "'%s' has no stacks to reverse",
                       e->ops->name);
    const uint32_t of_tables = PERFILE_EXPORT_WIDE | PERFILE_EXPORT_ONE_FOLDER;
    if (!e->ops->exports->folder &&
        (x->options.flags & of_tables || x->options.tables || x->options.labels))
        return pf_fail(err, PERFILE_E_USAGE, "export.tables", "'%s' has no tables", e->ops->name);
    const uint32_t weights = x->options.flags & (PERFILE_EXPORT_SAMPLES | PERFILE_EXPORT_PERIODS |
                                                 PERFILE_EXPORT_OFF_CPU);
    if (weights & (weights - 1))
        return pf_fail(err, PERFILE_E_USAGE, "export.flags",
                       "weights are numbers of samples, periods or times off CPUs: one of "
                       "these");
    if (weights == PERFILE_EXPORT_OFF_CPU && e->ops->exports->by_time)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags",
                       "'%s' shows when threads are on CPUs, and adds nothing up", e->ops->name);
    if (weights == PERFILE_EXPORT_OFF_CPU)
        x->options.flags |= PERFILE_EXPORT_PERIODS;
    const uint32_t both = PERFILE_EXPORT_UNKNOWN_MODULE | PERFILE_EXPORT_UNKNOWN_ADDRESS;
    if ((x->options.flags & both) == both)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags",
                       "frames without a name are called by object or by address, not both");
    perfile_status st = read_keys(x, err);
    if (st != PERFILE_OK)
        return st;
    if (x->options.title) {
        size_t n = strlen(x->options.title) + 1;
        x->title = pf_alloc(n, 1);
        if (!x->title)
            return pf_fail_nomem(err, "export");
        memcpy(x->title, x->options.title, n);
    }
    x->event_index = (pf_index){.seed = pf_index_seed(x), .budget = &x->profile.budget};
    if (!pf_profile_init(&x->profile, pf_session_profile_bytes(e->session)))
        return pf_profile_fail(&x->profile, err);
    return begin_input(x, err);
}

void pf_export_close(perfile_emitter *e)
{
    pf_exporter *x = (pf_exporter *)e;
    pf_profile_reader_free(&x->reader);
    pf_off_cpu_end(x);
    pf_lines_free(&x->lines, &x->profile);
    pf_index_free(&x->event_index);
    pf_buffer_free(&x->events);
    pf_profile_free(&x->profile);
    perfile_symbols_close(x->symbols);
    pf_buffer_free(&x->comments);
    pf_free(x->title);
}

/* Nothing is written before the end. */
perfile_status pf_export_begin(perfile_emitter *e, perfile_error *err)
{
    (void)e;
    (void)err;
    return PERFILE_OK;
}

perfile_status pf_export_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return pf_export_put_run(e, r, 1, err);
}

/* Passes a record other than a sample to the form, in order with the samples. */
static perfile_status note(pf_exporter *x, const perfile_record *r, perfile_error *err)
{
    pf_profiled about = {.record = r,
                         .event = perfile_record_event(r),
                         .time = perfile_record_time(r),
                         .pid = PERFILE_NO_PID,
                         .tid = PERFILE_NO_PID,
                         .cpu = PF_NO_LABEL};
    (void)perfile_record_task(r, &about.pid, &about.tid);
    (void)perfile_record_cpu(r, &about.cpu);
    return pf_profile_reader_note(&x->reader, &about, err);
}

perfile_status pf_export_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    perfile_status st = PERFILE_OK;
    if (!x->reading)
        return pf_fail(err, PERFILE_E_USAGE, "emitter", "records of no capture");
    if (n == 1 && first->family == PERFILE_FAMILY_DAMAGE) /* damage is alone in its batch */
        return PERFILE_OK;
    const bool off_cpu = x->options.flags & PERFILE_EXPORT_OFF_CPU;
    const bool notes = e->ops->exports->note && !off_cpu;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_record *r = &first[i];
        x->record_bytes += perfile_record_size(r);
        st = off_cpu ? pf_off_cpu_put(x, r, err) : pf_profile_reader_put(&x->reader, r, err);
        if (st == PERFILE_OK && notes && r->family == PERFILE_FAMILY_PERF &&
            r->type != PERFILE_RECORD_SAMPLE)
            st = note(x, r, err);
    }
    e->n_records += n;
    return st;
}

perfile_status pf_export_next(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    perfile_status st = pf_export_end_input(x, err);
    if (x->before) { /* the first capture ended */
        x->before = false;
        x->sum.before_samples = x->sum.samples;
        x->sum.samples = x->sum.period = 0;
    }
    return st == PERFILE_OK && e->stream ? begin_input(x, err) : st;
}

void pf_export_summary(const perfile_emitter *e, perfile_export_summary *out)
{
    const pf_exporter *x = (const pf_exporter *)e;
    *out = x->sum;
    out->events_apart = strchr((const char *)x->options.per, PERFILE_PER_EVENT);
    if (x->reading) {
        add_counts(out, &x->reader.counts);
        add_unwound(out, &x->reader.unwinder);
    }
    out->stacks = x->profile.stacks.n ? x->profile.stacks.n - 1 : 0; /* without the empty stack */
    out->frames = x->profile.frames.n;
    pf_count_known(&x->profile, &out->unmapped, &out->named);
    out->bytes = x->profile.budget.used;
}

const pf_export_ops pf_export_adds_up = {.put_run = pf_export_put_run,
                                         .next = pf_export_next,
                                         .summary = pf_export_summary,
                                         .per = {PERFILE_PER_COMM},
                                         .by_name = true,
                                         .joins = true,
                                         .trees = true};

bool pf_export_quote(pf_buffer *out, const char *text)
{
    bool ok = pf_buffer_append_u8(out, '"');
    for (const char *p = text; *p;) {
        const size_t plain = strcspn(p, "\"\\<");
        ok = ok && pf_buffer_append(out, p, plain);
        p += plain;
        if (*p == '<')
            ok = ok && pf_buffer_append(out, "\\u003c", 6);
        else if (*p)
            ok = ok && pf_buffer_append(out, (const char[]){'\\', *p}, 2);
        p += *p != '\0';
    }
    return ok && pf_buffer_append_u8(out, '"');
}

size_t pf_export_names_most(pf_exporter *x, uint64_t (*bytes)(const void *user, size_t most),
                            const void *user)
{
    static const size_t lengths[] = {PF_TEXT_MOST, PF_NAME_MOST, PF_NAME_LEAST};
    const uint64_t all = pf_names_room(x->record_bytes);
    const uint64_t room = all < UINT64_MAX / 4 ? 4 * all : UINT64_MAX; /* no escapes here */
    size_t i = 0;
    while (i + 1 < sizeof lengths / sizeof lengths[0] && bytes(user, lengths[i]) > room)
        i++;
    x->sum.names_most = i ? lengths[i] : 0;
    return lengths[i];
}

void pf_export_put_string(pf_exporter *x, const char *text)
{
    if (!pf_export_quote(&x->base.out, text))
        x->base.no_memory = true;
}

void pf_export_put_name(pf_exporter *x, pf_buffer *scratch, const char *name)
{
    pf_buffer_clear(scratch);
    if (pf_name_text(name, PF_NAME_MOST, scratch) && pf_buffer_append_u8(scratch, 0))
        pf_export_put_string(x, (const char *)scratch->ptr);
    else
        x->base.no_memory = true;
}

void pf_export_put_title(pf_exporter *x, pf_buffer *scratch)
{
    char more[40] = "";
    pf_buffer text = {0};
    const char *first = x->names[0] ? x->names[0] : "perfile export", *second = x->names[1];
    if (x->title)
        first = x->title;
    else if (x->compares && x->n_inputs == 2)
        snprintf(more, sizeof more, " compared with ");
    else if (x->n_inputs > 1)
        snprintf(more, sizeof more, " and %" PRIu32 " more", x->n_inputs - 1);
    const bool pair = !x->title && x->compares && x->n_inputs == 2;
    const char *const parts[] = {pair ? second : first, more, pair ? first : ""};
    bool ok = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ok = ok && pf_buffer_append(&text, parts[i], strlen(parts[i]));
    if (ok && pf_buffer_append_u8(&text, 0))
        pf_export_put_name(x, scratch, (const char *)text.ptr);
    else
        x->base.no_memory = true;
    pf_buffer_free(&text);
}

void pf_export_put_text(pf_exporter *x, const char *text)
{
    pf_emit_bytes(&x->base, text, strlen(text));
}

void pf_export_put_number(pf_exporter *x, uint64_t n)
{
    uint8_t *at = pf_emit_room(&x->base, PF_DEC_MAX);
    if (at)
        pf_emit_filled(&x->base, pf_put_dec(at, n));
}

perfile_status pf_export_write_some(pf_exporter *x, perfile_error *err)
{
    perfile_emitter *e = &x->base;
    if (e->no_memory && x->profile.budget.refused)
        return pf_profile_fail(&x->profile, err);
    return e->out.len >= WRITE_BYTES || e->no_memory ? pf_emitter_write_out(e, err) : PERFILE_OK;
}

bool pf_export_is_clock(const char *event)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", "offcpu-time"};
    bool is = false;
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        const size_t n = strlen(clocks[i]);
        is |= event && strncmp(event, clocks[i], n) == 0 && strchr(":/", event[n]);
    }
    return is;
}

unsigned pf_export_event_says(const perfile_event *event)
{
    enum { CPU_CYCLES = 0, REF_CPU_CYCLES = 9, CPU_CLOCK = 0, TASK_CLOCK = 1 };
    if (!event)
        return PF_EVENT_COUNTS; /* without an attr, nothing contradicts this */
    /* The upper half is the kind of CPU, if there are several. */
    const uint32_t config = (uint32_t)event->attr->config;
    switch (event->attr->type) {
    case PERFILE_TYPE_HARDWARE:
        return config == CPU_CYCLES || config == REF_CPU_CYCLES ? PF_EVENT_CLOCK : PF_EVENT_COUNTS;
    case PERFILE_TYPE_SOFTWARE:
        return config == CPU_CLOCK || config == TASK_CLOCK ? PF_EVENT_CLOCK : PF_EVENT_HAPPENS;
    case PERFILE_TYPE_TRACEPOINT:
    case PERFILE_TYPE_BREAKPOINT:
        return PF_EVENT_HAPPENS;
    default: /* of a PMU; probes have a sample for each occurrence */
        if (is_pmu_cycles(event->name))
            return PF_EVENT_CLOCK;
        return pf_event_takes_all(event) ? PF_EVENT_HAPPENS : PF_EVENT_COUNTS;
    }
}

pf_export_event pf_export_event_of(const pf_exporter *x, const char *name)
{
    const uint32_t at = name ? pf_index_get(&x->event_index, (uintptr_t)name) : PF_INDEX_NONE;
    return at == PF_INDEX_NONE ? (pf_export_event){.name = name}
                               : ((const pf_export_event *)(const void *)x->events.ptr)[at];
}

pf_tree_options pf_export_tree_options(const pf_exporter *x)
{
    pf_tree_options o = {.periods = x->options.flags & PERFILE_EXPORT_PERIODS,
                         .mark_kernel = x->options.flags & PERFILE_EXPORT_MARK_KERNEL,
                         .mark_jit = x->options.flags & PERFILE_EXPORT_MARK_JIT,
                         .mark_inline = x->options.flags & PERFILE_EXPORT_MARK_INLINE,
                         .reverse = x->options.flags & PERFILE_EXPORT_REVERSE,
                         .join = x->options.flags & PERFILE_EXPORT_UNKNOWN_MODULE ||
                                 (x->base.ops->exports->joins &&
                                  !(x->options.flags & PERFILE_EXPORT_UNKNOWN_ADDRESS))};
    memcpy(o.per, x->options.per, sizeof o.per);
    return o;
}

/* The names of frames, each once (pf_shown). */

void pf_shown_init(pf_shown *s, pf_profile *p)
{
    s->names = (pf_intern){.seed = pf_index_seed(s),
                           .budget = &p->budget,
                           .width = sizeof(pf_shown_name),
                           .key = sizeof(pf_shown_name)};
}

void pf_shown_free(pf_shown *s)
{
    pf_intern_free(&s->names);
    pf_free(s->positions);
}

perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err)
{
    pf_profile *p = &x->profile;
    const pf_tree_options options = pf_export_tree_options(x);
    pf_buffer text = {0};
    const uint32_t each = s->by_line ? 2 : 1; /* positions per frame */
    s->positions = pf_budget_alloc(&p->budget, each * p->frames.n + 1, sizeof *s->positions);
    bool ok = s->positions;
    for (uint32_t i = 0; i < each * p->frames.n && ok; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i / each);
        const pf_line line = s->by_line ? pf_line_at(&x->lines, i) : (pf_line){.asked = 1};
        if (!line.asked) /* no stack has it like this */
            continue;
        pf_buffer_clear(&text);
        const char *name =
            pf_tree_frame_name(p, &options, frame, &text) && pf_buffer_append_u8(&text, 0)
                ? pf_profile_text(p, (const char *)text.ptr)
                : NULL;
        const pf_shown_name key = {.name = name,
                                   .object = frame->object,
                                   .function = frame->function,
                                   .file = line.file,
                                   .line = line.file ? line.line : 0};
        s->positions[i] = name ? pf_intern_add(&s->names, &key) : PF_INTERN_NONE;
        ok = s->positions[i] != PF_INTERN_NONE;
    }
    pf_buffer_free(&text);
    return ok ? PERFILE_OK : pf_profile_fail(p, err);
}

/* Samples by label and time (pf_timeline).  Most samples of a thread come in order of time.  So the
 * samples of each label are first gathered in stream order, and sorted only if they are not in
 * order. */

bool pf_timeline_add(pf_timeline *t, pf_profile *p, const pf_moment *m)
{
    if (t->n == UINT32_MAX) {
        p->budget.refused = true;
        return false;
    }
    if (t->n == t->cap) {
        const size_t cap = t->cap ? 2 * t->cap : 1024;
        pf_moment *at = pf_budget_realloc(&p->budget, t->at, t->cap, cap, sizeof *at);
        if (!at)
            return false;
        t->at = at;
        t->cap = cap;
    }
    t->at[t->n] = *m;
    t->at[t->n].sequence = (uint32_t)t->n;
    t->n++;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const pf_moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Sorts the samples of a label, unless they are in order already. */
static void sort_label(pf_moment *at, size_t n)
{
    size_t i = 1;
    while (i < n && at[i - 1].time <= at[i].time)
        i++;
    if (i < n)
        qsort(at, n, sizeof *at, by_time);
}

perfile_status pf_timeline_sort(pf_timeline *t, pf_profile *p, perfile_error *err)
{
    t->n_labels = p->labels.n;
    t->begins = pf_alloc(t->n_labels + 2, sizeof *t->begins);
    pf_moment *sorted = pf_budget_alloc(&p->budget, t->n + 1, sizeof *sorted);
    if (!t->begins || !sorted) {
        pf_free(sorted);
        return pf_profile_fail(p, err);
    }
    /* Counts each label's samples two entries further; the sums are then where the labels begin. */
    for (size_t i = 0; i < t->n; i++)
        t->begins[t->at[i].label + 2]++;
    for (size_t i = 2; i < t->n_labels + 2; i++)
        t->begins[i] += t->begins[i - 1];
    for (size_t i = 0; i < t->n; i++)
        sorted[t->begins[t->at[i].label + 1]++] = t->at[i];
    pf_budget_free(&p->budget, t->at, t->cap, sizeof *t->at);
    t->at = sorted;
    t->cap = t->n + 1;
    for (size_t i = 0; i < t->n_labels; i++)
        sort_label(t->at + t->begins[i], t->begins[i + 1] - t->begins[i]);
    return PERFILE_OK;
}

void pf_timeline_free(pf_timeline *t)
{
    pf_free(t->at);
    pf_free(t->begins);
}
