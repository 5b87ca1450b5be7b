/* perfile_profile_…(): samples of captures, counted by location (perfile/profile.h).
 *
 * While records come in, samples are added up by label and stack.  Names of functions and rows are
 * made at the end, once for each distinct frame. */
#include "perfile/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/session.h"
#include "report/calls.h"
#include "report/counters.h"
#include "profile/profile.h"
#include "profile/reader.h"
#include "report/rows.h"
#include "report/times.h"
#include "report/command.h"
#include "symbol/command.h"

struct perfile_profile {
    pf_profile profile;
    pf_profile_reader reader;
    bool reading; /* a capture is being read by `reader` */
    bool before;  /* the following captures will be compared with this one */
    pf_rows rows;
    pf_calls calls;
    pf_counting counting;
    pf_times times;
    uint32_t n_named; /* frames of the previous captures */
    char *function;   /* a copy of options.function, or NULL */
    perfile_profile_options options;
    uint8_t label_keys[8];    /* the keys of options.per that are label members, and the event */
    perfile_symbols *symbols; /* NULL: frames get no names */
    regex_t parent;
    bool has_parent; /* `parent` is valid */
    bool finished;
    bool made;         /* rows exist */
    const char *event; /* the event of all samples, unless sum.mixed */
    uint64_t record_bytes;
    perfile_profile_summary sum;
};

/* Counts a sample: pf_profile_reader.take.  If the call chain does not begin with the sample's own
 * frame, that frame is added on top.  This happens with precise addresses. */
static bool count(void *user, const pf_profiled *s)
{
    perfile_profile *x = user;
    pf_label label;
    if (!pf_profile_reader_label(&x->reader, x->label_keys, s, &label))
        return false;
    label.flags = (s->has_period ? 0U : PF_LABEL_NO_PERIOD) | (x->before ? PF_LABEL_BEFORE : 0U);
    const uint32_t number = pf_profile_label(&x->profile, &label);
    uint32_t stack = s->stack;
    if (s->frame != PF_INTERN_NONE &&
        (stack == PF_EMPTY_STACK || pf_profile_stack_at(&x->profile, stack)->frame != s->frame))
        stack = pf_profile_stack(&x->profile, stack, s->frame);
    if (number == PF_INTERN_NONE || stack == PF_INTERN_NONE)
        return false;
    x->sum.mixed |= !s->has_period || (x->event && x->event != label.event);
    x->event = label.event;
    x->sum.samples++;
    pf_sum_add(&x->sum.period, s->period);
    return pf_profile_count(&x->profile, number, stack, s->period);
}

/* Checks the keys, and selects those of labels. */
static perfile_status read_keys(perfile_profile *x, perfile_error *err)
{
    const uint8_t *per = x->options.per;
    const bool counters = x->options.flags & PERFILE_PROFILE_COUNTERS;
    const bool times = x->options.flags & PF_PROFILE_TIMES;
    size_t n = 0, i = 0;
    for (; i < sizeof x->options.per && per[i]; i++) {
        const bool is_time = per[i] == PERFILE_PER_TIME;
        if (per[i] > PERFILE_PER_TIME || is_time > counters || memchr(per, per[i], i) ||
            (counters && !is_time && (per[i] > PERFILE_PER_CPU || per[i] == PERFILE_PER_PID)) ||
            (times && (per[i] > PERFILE_PER_CPU || per[i] == PERFILE_PER_EVENT)))
            return pf_fail(err, PERFILE_E_USAGE, "profile.per", "key %zu of `per` is %u", i,
                           per[i]);
        if (per[i] <= PERFILE_PER_CPU && per[i] != PERFILE_PER_EVENT)
            x->label_keys[n++] = per[i];
    }
    if (i == sizeof x->options.per)
        return pf_fail(err, PERFILE_E_USAGE, "profile.per", "`per` does not end with 0");
    x->label_keys[n] = PERFILE_PER_EVENT; /* periods of different events must not be added up */
    return PERFILE_OK;
}

/* Functions that enter the kernel.  Since Linux 4.17 system call functions begin with the
 * architecture, and since 5.8 page faults on x86 begin with exc_; perf only has the older names. */
static const char default_parent[] = "^(__(x64|ia32|arm64|s390x|riscv)_)?sys_|^(do|exc)_page_fault";

/* Compiles the expression of PERFILE_PER_PARENT. */
static perfile_status read_parent(perfile_profile *x, perfile_error *err)
{
    char why[128];
    if (!strchr((const char *)x->options.per, PERFILE_PER_PARENT))
        return PERFILE_OK;
    const char *text = x->options.parent ? x->options.parent : default_parent;
    const int failed = regcomp(&x->parent, text, REG_EXTENDED | REG_NOSUB);
    x->has_parent = !failed;
    if (!failed)
        return PERFILE_OK;
    regerror(failed, &x->parent, why, sizeof why);
    return pf_fail(err, PERFILE_E_USAGE, "profile.parent", "not an expression: %s", why);
}

/* Checks that the options can be combined, and copies the name of the function for callers or
 * callees. */
static perfile_status read_flags(perfile_profile *x, perfile_error *err)
{
    const uint32_t flags = x->options.flags;
    const uint32_t unknown = PERFILE_PROFILE_UNKNOWN_MODULE | PERFILE_PROFILE_UNKNOWN_ADDRESS;
    const uint32_t around = PERFILE_PROFILE_CALLERS | PERFILE_PROFILE_CALLEES;
    if ((flags & unknown) == unknown)
        return pf_fail(err, PERFILE_E_USAGE, "profile.flags",
                       "places without a name are rows by object or by address, not both");
    if ((flags & around) == around || !(flags & around) != !x->options.function)
        return pf_fail(err, PERFILE_E_USAGE, "profile.function",
                       "callers or callees are those of one function");
    const uint32_t others = PERFILE_PROFILE_COUNTERS | PF_PROFILE_TIMES;
    if (flags & others && flags != PERFILE_PROFILE_COUNTERS && flags != PF_PROFILE_TIMES)
        return pf_fail(err, PERFILE_E_USAGE, "profile.flags",
                       "counters and times on CPUs are not samples");
    x->before = flags & PF_PROFILE_COMPARE;
    if (!x->options.function)
        return PERFILE_OK;
    const size_t n = strlen(x->options.function) + 1;
    x->function = pf_alloc(n, 1);
    if (!x->function)
        return pf_fail_nomem(err, "profile");
    memcpy(x->function, x->options.function, n);
    x->rows.function = x->function;
    x->rows.around = flags & PERFILE_PROFILE_CALLERS ? PF_AROUND_CALLERS : PF_AROUND_CALLEES;
    return PERFILE_OK;
}

static perfile_status open_symbols(perfile_profile *x, const perfile_session *session,
                                   perfile_error *err)
{
    perfile_status st = perfile_symbols_open(session, x->options.symbols, &x->symbols, err);
    x->reader.resolver.functions = x->symbols;
    if (st != PERFILE_OK || x->options.flags & PERFILE_PROFILE_NO_UNWIND)
        return st;
    return pf_profile_reader_unwind(&x->reader, x->symbols) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "profile");
}

/* Begins reading a capture. */
static perfile_status begin_capture(perfile_profile *x, const perfile_session *session,
                                    const perfile_model *model, perfile_error *err)
{
    const char *per = (const char *)x->options.per;
    const uint32_t flags = x->options.flags;
    const bool compares = flags & PF_PROFILE_COMPARE;
    x->reading = true;
    if (flags & PERFILE_PROFILE_COUNTERS) {
        pf_counting_begin(&x->counting, &x->profile, session, x->options.per, x->options.time_step);
        return PERFILE_OK;
    }
    if (flags & PF_PROFILE_TIMES)
        return pf_times_begin(&x->times, &x->profile, session, model, x->options.per, err);
    if (!pf_profile_reader_init(&x->reader, &x->profile, session, model, count, x))
        return pf_fail_nomem(err, "profile");
    pf_resolver *resolver = &x->reader.resolver;
    resolver->own_frames = true;
    const bool by_symbol = strchr(per, PERFILE_PER_SYMBOL) || x->function;
    resolver->joins = !strchr(per, PERFILE_PER_SOURCE);
    resolver->joins_unnamed = !by_symbol || flags & PERFILE_PROFILE_UNKNOWN_MODULE ||
                              (compares && !(flags & PERFILE_PROFILE_UNKNOWN_ADDRESS));
    resolver->joins_unmapped = !by_symbol || !(flags & PERFILE_PROFILE_UNKNOWN_ADDRESS);
    x->rows.joins_unnamed = resolver->joins_unnamed;
    x->rows.joins_unmapped = resolver->joins_unmapped;
    x->rows.compares = compares;
    perfile_status st = x->options.symbols ? open_symbols(x, session, err) : PERFILE_OK;
    return st == PERFILE_OK ? pf_profile_reader_start(&x->reader, x->options.threads, err) : st;
}

static perfile_status open_all(perfile_profile *x, const perfile_session *session,
                               const perfile_model *model, perfile_error *err)
{
    perfile_status st = read_keys(x, err);
    if (st == PERFILE_OK)
        st = read_flags(x, err);
    if (st == PERFILE_OK)
        st = read_parent(x, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_profile_init(&x->profile, pf_session_profile_bytes(session)))
        return pf_profile_fail(&x->profile, err);
    return begin_capture(x, session, model, err);
}

perfile_status perfile_profile_open(const perfile_session *session, const perfile_model *model,
                                    const perfile_profile_options *options,
                                    perfile_profile **profile, perfile_error *err)
{
    perfile_profile_options o;
    perfile_status st = pf_options_copy(&o, options, "profile", err);
    if (st != PERFILE_OK)
        return st;
    perfile_profile *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "profile");
    x->options = o;
    st = open_all(x, session, model, err);
    if (st == PERFILE_OK)
        *profile = x;
    else
        perfile_profile_close(x);
    return st;
}

perfile_status perfile_profile_put_run(perfile_profile *x, const perfile_record *first, size_t n,
                                       perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->finished || !x->reading)
        return pf_fail(err, PERFILE_E_USAGE, "profile",
                       "records of no capture, or the profile is finished");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        x->record_bytes += perfile_record_size(&first[i]);
        st = x->counting.profile ? pf_counting_put(&x->counting, &first[i], err)
             : x->times.profile  ? pf_times_put(&x->times, &first[i], err)
                                 : pf_profile_reader_put(&x->reader, &first[i], err);
    }
    return st;
}

/* Adds to a counter that saturates at UINT32_MAX. */
static void add_small(uint32_t *sum, uint64_t n)
{
    *sum = n < UINT32_MAX - *sum ? *sum + (uint32_t)n : UINT32_MAX;
}

/* Adds the reader's counts of missing data to the summary. */
static void sum_up(perfile_profile *x)
{
    const pf_profile_counts *c = &x->reader.counts;
    perfile_profile_summary *sum = &x->sum;
    sum->without_period += c->without_period;
    sum->without_stack += c->without_stack;
    sum->unreadable += c->unreadable;
    sum->joined += c->deferred;
    sum->not_joined += c->deferred_missing;
    const uint64_t *ends = x->reader.unwinder.ends;
    sum->unwound += ends[PF_UNWIND_COMPLETE];
    add_small(&sum->unwound_short, ends[PF_UNWIND_SHORT]);
    add_small(&sum->unwound_no_file, ends[PF_UNWIND_NO_FILE]);
    add_small(&sum->unwound_no_rules, ends[PF_UNWIND_NO_RULES]);
    add_small(&sum->not_unwound, ends[PF_UNWIND_UNSUPPORTED]);
    sum->too_costly += x->symbols ? pf_symbols_too_costly(x->symbols) : 0;
    if (!x->before)
        return;
    x->before = false;
    sum->before_samples = sum->samples;
    sum->before_period = sum->period;
    sum->samples = sum->period = 0;
}

/* Ends the current capture and names its functions.  Nothing of it is used afterwards. */
static perfile_status end_capture(perfile_profile *x, perfile_error *err)
{
    if (!x->reading)
        return PERFILE_OK;
    if (x->counting.profile) {
        x->reading = false;
        return pf_counting_end(&x->counting, err);
    }
    if (x->times.profile) {
        x->reading = false;
        pf_times_end(&x->times);
        return PERFILE_OK;
    }
    perfile_status st = pf_profile_reader_end(&x->reader, err);
    if (st == PERFILE_OK && x->symbols)
        st = pf_name_functions(&x->profile, x->symbols, x->n_named, err);
    if (st == PERFILE_OK && x->symbols &&
        strchr((const char *)x->options.per, PERFILE_PER_SOURCE) &&
        !pf_rows_sources(&x->rows, &x->profile, x->symbols, x->n_named))
        st = pf_profile_fail(&x->profile, err);
    x->n_named = (uint32_t)x->profile.frames.n;
    sum_up(x);
    pf_profile_reader_free(&x->reader);
    perfile_symbols_close(x->symbols);
    x->symbols = NULL;
    x->reading = false;
    return st;
}

perfile_status pf_profile_continue(perfile_profile *x, const perfile_session *session,
                                   const perfile_model *model, perfile_error *err)
{
    if (x->finished)
        return pf_fail(err, PERFILE_E_USAGE, "profile", "the profile is finished");
    perfile_status st = end_capture(x, err);
    return st == PERFILE_OK && session ? begin_capture(x, session, model, err) : st;
}

/* Adds up the rows of counters, and sets their units.  Returns false when out of memory. */
static bool sum_up_counters(perfile_profile *x)
{
    for (uint32_t i = 0; i < x->rows.rows.n; i++) {
        pf_row *row = pf_intern_at(&x->rows.rows, i);
        row->unit = pf_counting_unit(&x->counting, row->event);
        if (row->unit == PF_INTERN_NONE)
            return false;
        x->sum.mixed |= row->mixed || (x->event && x->event != row->event);
        x->event = row->event;
        pf_sum_add(&x->sum.samples, row->at[PF_NOW].samples);
        pf_sum_add(&x->sum.period, row->at[PF_NOW].period);
    }
    return true;
}

/* Adds up the rows of times. */
static void sum_up_times(perfile_profile *x)
{
    pf_times_finish(&x->times);
    x->sum.rows = x->times.rows.n;
    x->sum.idle = x->times.idle;
    for (uint32_t i = 0; i < x->times.rows.n; i++) {
        const pf_times_row *row = pf_intern_at(&x->times.rows, i);
        pf_sum_add(&x->sum.samples, row->switches);
        pf_sum_add(&x->sum.period, row->on);
    }
    x->made = true;
}

perfile_status perfile_profile_finish(perfile_profile *x, perfile_error *err)
{
    if (x->finished)
        return pf_fail(err, PERFILE_E_USAGE, "profile", "the profile is finished");
    x->finished = true;
    perfile_status st = end_capture(x, err);
    if (st == PERFILE_OK && x->times.profile) {
        sum_up_times(x);
        return PERFILE_OK;
    }
    if (st == PERFILE_OK)
        st = pf_rows_make(&x->rows, &x->profile, x->options.per, x->has_parent ? &x->parent : NULL,
                          x->record_bytes, err);
    if (st == PERFILE_OK && x->counting.profile && !sum_up_counters(x))
        st = pf_profile_fail(&x->profile, err);
    if (st != PERFILE_OK)
        return st;
    x->made = true;
    perfile_profile_summary *sum = &x->sum;
    sum->frames = x->profile.frames.n;
    sum->stacks = x->profile.stacks.n - 1; /* not counting the empty one */
    pf_count_known(&x->profile, &sum->unmapped, &sum->named);
    sum->rows = x->rows.rows.n;
    sum->has_chains = x->rows.has_chains;
    sum->names_most = (uint32_t)x->rows.names_most;
    return PERFILE_OK;
}

/* Returns PERFILE_MISC_CPUMODE_… for PF_CODE_…. */
static uint16_t cpumode_of(uint32_t code)
{
    switch (code) {
    case PF_CODE_USER:
    case PF_CODE_JIT:
        return PERFILE_MISC_CPUMODE_USER;
    case PF_CODE_KERNEL:
        return PERFILE_MISC_CPUMODE_KERNEL;
    case PF_CODE_HYPERVISOR:
        return PERFILE_MISC_CPUMODE_HYPERVISOR;
    case PF_CODE_GUEST:
        return PERFILE_MISC_CPUMODE_GUEST_KERNEL;
    default:
        return PERFILE_MISC_CPUMODE_UNKNOWN;
    }
}

/* Sets the members that only rows of counters have. */
static void set_counts(const perfile_profile *x, const pf_row *r, const pf_label *label,
                       perfile_profile_row *row)
{
    const pf_counter_unit *unit = pf_intern_at(&x->counting.units, r->unit);
    row->enabled = r->enabled;
    row->running = r->running;
    row->count = r->running ? row->period : 0;
    if (r->running && r->running < r->enabled && !x->counting.unscaled) {
        const double count = (double)row->period * (double)r->enabled / (double)r->running;
        row->count = count < 0x1p64 ? (uint64_t)count : UINT64_MAX;
    }
    row->time = label->time ? label->time - 1 : PERFILE_NO_TIME;
    row->unit = r->mixed ? NULL : unit->unit;
    row->scale = r->mixed ? 1 : unit->scale;
}

/* Returns a row with its figures of PF_NOW or PF_BEFORE. */
static bool get_row(const perfile_profile *x, size_t i, unsigned when, perfile_profile_row *row,
                    size_t size)
{
    if (!x->made || i >= x->rows.rows.n)
        return false;
    const pf_row *r = pf_intern_at(&x->rows.rows, (uint32_t)i);
    const pf_label *label = pf_intern_at(&x->rows.labels, r->label);
    const pf_report_place *place = pf_intern_at(&x->rows.places, r->place);
    const bool compares = x->rows.compares;
    perfile_profile_row all = {.samples = r->at[when].samples,
                               .period = r->at[when].period,
                               .total_samples = r->at[when].total_samples,
                               .total_period = r->at[when].total_period,
                               .comm = label->comm,
                               .event = label->event,
                               .dso = place->dso,
                               .symbol = place->symbol,
                               .parent = r->parent,
                               .source = place->source,
                               .pid = label->pid,
                               .tid = label->tid,
                               .cpu = label->cpu,
                               .cpumode = cpumode_of(place->code),
                               .named = place->function,
                               .module = compares ? NULL : place->module,
                               .start = compares ? 0 : place->start,
                               .time = PERFILE_NO_TIME,
                               .scale = 1,
                               .mixed = r->mixed};
    if (x->counting.profile)
        set_counts(x, r, label, &all);
    memset(row, 0, size);
    memcpy(row, &all, size < sizeof all ? size : sizeof all);
    return true;
}

/* Returns a row of times. */
static bool get_times_row(const perfile_profile *x, size_t i, perfile_profile_row *row, size_t size)
{
    if (!x->made || i >= x->times.rows.n)
        return false;
    const pf_times_row *r = pf_intern_at(&x->times.rows, (uint32_t)i);
    const perfile_profile_row all = {.samples = r->switches,
                                     .period = r->on,
                                     .comm = r->label.comm,
                                     .pid = r->label.pid,
                                     .tid = r->label.tid,
                                     .cpu = r->label.cpu,
                                     .time = PERFILE_NO_TIME,
                                     .scale = 1};
    memset(row, 0, size);
    memcpy(row, &all, size < sizeof all ? size : sizeof all);
    return true;
}

bool pf_profile_get_times(const perfile_profile *x, size_t i, pf_profile_times *times, size_t size)
{
    if (!x->made || i >= x->times.rows.n)
        return false;
    const pf_times_row *r = pf_intern_at(&x->times.rows, (uint32_t)i);
    const pf_profile_times all = {.off = r->off,
                                  .waiting = r->waiting,
                                  .longest = r->longest,
                                  .idle = r->idle,
                                  .preempted = r->preempted,
                                  .preempted_by = r->by,
                                  .preempted_most = r->by_times};
    memset(times, 0, size);
    memcpy(times, &all, size < sizeof all ? size : sizeof all);
    return true;
}

bool perfile_profile_get_row(const perfile_profile *x, size_t i, perfile_profile_row *row,
                             size_t size)
{
    if (x->times.profile)
        return get_times_row(x, i, row, size);
    return get_row(x, i, PF_NOW, row, size);
}

bool pf_profile_get_before(const perfile_profile *x, size_t i, perfile_profile_row *row,
                           size_t size)
{
    return get_row(x, i, PF_BEFORE, row, size);
}

perfile_status pf_profile_make_trees(perfile_profile *x, const pf_calls_options *options,
                                     perfile_error *err)
{
    pf_calls_options o = *options;
    if (!x->made)
        return pf_fail(err, PERFILE_E_USAGE, "profile", "the profile has no rows");
    if (x->rows.compares)
        return pf_fail(err, PERFILE_E_USAGE, "profile.flags", "captures are compared");
    if (x->times.profile)
        return pf_fail(err, PERFILE_E_USAGE, "profile.flags", "times have no call chains");
    pf_calls_free(&x->calls);
    return pf_calls_make(&x->calls, &x->rows, &o, x->sum.samples, x->sum.period, x->record_bytes,
                         err);
}

bool pf_profile_get_node(const perfile_profile *x, size_t i, pf_profile_node *node, size_t size)
{
    if (i >= x->calls.n_shown)
        return false;
    const pf_shown_call *shown = &x->calls.shown[i];
    const pf_call *call = pf_calls_node(&x->calls, shown->node);
    const pf_report_place *place = pf_intern_at(&x->calls.places, call->place);
    const pf_profile_node all = {.row = pf_calls_node(&x->calls, shown->root)->place,
                                 .depth = shown->depth,
                                 .below = call->below,
                                 .named = place->function,
                                 .cut = call->cut,
                                 .cpumode = cpumode_of(place->code),
                                 .samples = call->figures.samples,
                                 .period = call->figures.period,
                                 .total_samples = call->figures.total_samples,
                                 .total_period = call->figures.total_period,
                                 .symbol = place->symbol,
                                 .module = place->module,
                                 .start = place->start};
    memset(node, 0, size);
    memcpy(node, &all, size < sizeof all ? size : sizeof all);
    return true;
}

void pf_profile_get_summary(const perfile_profile *x, perfile_profile_summary *summary, size_t size)
{
    perfile_profile_summary all = x->sum;
    all.bytes = x->profile.budget.used;
    memset(summary, 0, size);
    memcpy(summary, &all, size < sizeof all ? size : sizeof all);
}

void perfile_profile_close(perfile_profile *x)
{
    if (!x)
        return;
    pf_profile_reader_free(&x->reader);
    pf_calls_free(&x->calls);
    pf_counting_free(&x->counting);
    pf_times_free(&x->times);
    pf_rows_free(&x->rows);
    pf_profile_free(&x->profile);
    perfile_symbols_close(x->symbols);
    if (x->has_parent)
        regfree(&x->parent);
    pf_free(x->function);
    pf_free(x);
}
