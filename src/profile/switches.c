/* Switches of threads: reading them from records, and the intervals between them (see
 * switches.h). */
#include "profile/switches.h"

#include <string.h>

#include "perfile/abi.h"
#include "perfile/event.h"
#include "perfile/records.h"
#include "perfile/session.h"
#include "profile/profile.h"
#include "core/command.h"

/* Kinds of tracepoints. */
enum { SAYS_NOTHING = 0, SAYS_SWITCH, SAYS_WOKEN };

/* Indices in pf_switch_format.at. */
enum {
    PREV_COMM,
    PREV_PID,
    PREV_PRIO,
    PREV_STATE,
    NEXT_COMM,
    NEXT_PID,
    NEXT_PRIO,
    WOKEN_COMM = 0,
    WOKEN_PID,
    WOKEN_PRIO
};

static const char *const switch_fields[] = {"prev_comm", "prev_pid", "prev_prio", "prev_state",
                                            "next_comm", "next_pid", "next_prio"};
static const char *const woken_fields[] = {"comm", "pid", "prio"};

/* The bits of prev_state for states in which a thread waits.  The bits above them mark preemption
 * and variants of sleep (kernel: include/linux/sched.h). */
#define STATE_BITS UINT64_C(0xff)

static bool is_called(const perfile_event *event, const char *name)
{
    const size_t n = strlen(name);
    return event && strncmp(event->name, name, n) == 0 &&
           (!event->name[n] || event->name[n] == ':');
}

bool pf_event_takes_all(const perfile_event *event)
{
    return !event->attr->is_freq && event->attr->sample_period == 1;
}

static bool is_switch_event(const perfile_event *event)
{
    return is_called(event, "sched:sched_switch");
}

static bool is_wakeup_event(const perfile_event *event)
{
    return is_called(event, "sched:sched_wakeup") || is_called(event, "sched:sched_wakeup_new") ||
           is_called(event, "sched:sched_waking");
}

/* Finds the indices of fields.  Returns false if a field is missing. */
static bool find_fields(struct pf_switch_format *f, const char *const *names, size_t n)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        f->at[i] = perfile_tracepoint_field_find(f->of, names[i]);
        all &= f->at[i] >= 0;
    }
    return all;
}

/* Returns how to read a tracepoint, or NULL if it lacks an expected field. */
static const struct pf_switch_format *format_of(pf_switch_reader *x, const perfile_tracepoint *t,
                                                unsigned kind)
{
    const size_t n = sizeof x->known / sizeof x->known[0];
    size_t i = 0;
    while (i < n && x->known[i].of && x->known[i].of != t)
        i++;
    struct pf_switch_format *f = &x->known[i < n ? i : 0];
    if (f->of != t) {
        f->of = t;
        f->kind = (uint8_t)kind;
        if (!(kind == SAYS_SWITCH ? find_fields(f, switch_fields, 7)
                                  : find_fields(f, woken_fields, 3)))
            f->kind = SAYS_NOTHING;
    }
    return f->kind ? f : NULL;
}

/* Returns a number of a payload; 0 if it is missing. */
static uint64_t number_of(const struct pf_switch_format *f, perfile_bytes payload, unsigned which)
{
    perfile_value v;
    return perfile_tracepoint_value(f->of, payload, (uint32_t)f->at[which], &v) == PERFILE_OK
               ? v.number
               : 0;
}

/* Reads a thread of a payload; comm, pid and prio are consecutive fields. */
static void read_thread(const struct pf_switch_format *f, perfile_bytes payload, unsigned first,
                        pf_switched *out)
{
    perfile_value v;
    if (perfile_tracepoint_value(f->of, payload, (uint32_t)f->at[first], &v) == PERFILE_OK &&
        f->of->fields[f->at[first]].field.type == PERFILE_STORED_TEXT) {
        const size_t n = v.u.bytes.len < sizeof out->comm ? v.u.bytes.len : sizeof out->comm - 1;
        if (n)
            memcpy(out->comm, v.u.bytes.ptr, n);
    }
    out->tid = (uint32_t)number_of(f, payload, first + 1);
    out->prio = (int32_t)number_of(f, payload, first + 2);
}

/* Finds the payload of a sample and its format.  *f is NULL if it has none.  Returns false when out
 * of memory. */
static bool find_payload(pf_switch_reader *x, const perfile_record *sample, unsigned kind,
                         const struct pf_switch_format **f, perfile_bytes *payload)
{
    const perfile_tracepoint *t;
    *f = NULL;
    const perfile_status st = perfile_tracepoint_of(x->all, sample, &t, payload, NULL);
    if (st == PERFILE_OK)
        *f = format_of(x, t, kind);
    return st != PERFILE_E_NOMEM;
}

/* Reads a sample of sched:sched_switch: the sample's thread is replaced by another one, with an
 * unknown process.  For an exiting thread the sample's tid may be -1; the payload still has it.  A
 * payload of another thread than the sample's is ignored. */
static bool read_traced(pf_switch_reader *x, const pf_profiled *about, pf_switch *out)
{
    const struct pf_switch_format *f;
    perfile_bytes payload;
    if (!find_payload(x, about->record, SAYS_SWITCH, &f, &payload))
        return false;
    if (!f)
        return true;
    pf_switched *prev = &out->of[0], *next = &out->of[1];
    read_thread(f, payload, PREV_COMM, prev);
    read_thread(f, payload, NEXT_COMM, next);
    if (about->tid != PERFILE_NO_PID && about->tid != prev->tid)
        return true;
    prev->state = (int64_t)number_of(f, payload, PREV_STATE);
    prev->what = (uint64_t)prev->state & STATE_BITS ? PF_SWITCH_OUT : PF_SWITCH_PREEMPTED;
    prev->pid = about->pid;
    next->what = PF_SWITCH_NEXT;
    next->pid = next->tid ? PERFILE_NO_PID : 0; /* 0 is idle */
    prev->cpu = next->cpu = about->cpu;
    out->source = pf_event_takes_all(about->event) ? PF_SWITCHES_TRACED : 0;
    out->n = 2;
    return true;
}

/* Returns true if the capture has sched:sched_waking, which precedes the sched_wakeup of the same
 * thread. */
static bool has_waking(pf_switch_reader *x)
{
    const size_t n = pf_session_n_events(x->session);
    for (; x->n_events < n; x->n_events++)
        x->waking |= is_called(perfile_session_event(x->session, (uint32_t)x->n_events),
                               "sched:sched_waking");
    return x->waking;
}

static bool read_wakeup(pf_switch_reader *x, const pf_profiled *about, pf_switch *out)
{
    const struct pf_switch_format *f;
    perfile_bytes payload;
    if (is_called(about->event, "sched:sched_wakeup") && has_waking(x))
        return true;
    if (!find_payload(x, about->record, SAYS_WOKEN, &f, &payload))
        return false;
    if (!f)
        return true;
    read_thread(f, payload, WOKEN_COMM, &out->of[0]);
    out->of[0].what = PF_SWITCH_WOKEN;
    out->of[0].pid = PERFILE_NO_PID;
    out->of[0].cpu = PF_NO_LABEL;
    out->n = 1;
    return true;
}

/* Reads a SWITCH or SWITCH_CPU_WIDE record. */
static void read_record(const pf_profiled *about, pf_switch *out)
{
    const perfile_record *r = about->record;
    const bool left = r->misc & PERFILE_MISC_SWITCH_OUT;
    pf_switched *of = &out->of[0];
    perfile_switch_cpu_wide wide;
    out->source = r->type == PERFILE_RECORD_SWITCH ? PF_SWITCHES_TASK : PF_SWITCHES_WIDE;
    out->n = 1;
    *of = (pf_switched){.pid = about->pid, .tid = about->tid, .cpu = about->cpu};
    of->what = !left                                       ? PF_SWITCH_IN
               : r->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT ? PF_SWITCH_PREEMPTED
                                                           : PF_SWITCH_OUT;
    if (left && out->source == PF_SWITCHES_WIDE &&
        perfile_switch_cpu_wide_decode(r, &wide, sizeof wide, NULL) == PERFILE_OK) {
        out->next.pid = wide.next_prev_pid;
        out->next.tid = wide.next_prev_tid;
    }
}

static bool is_context_switches(const perfile_event *event)
{
    enum { CONTEXT_SWITCHES = 3 };
    return event && event->attr->type == PERFILE_TYPE_SOFTWARE &&
           event->attr->config == CONTEXT_SWITCHES;
}

bool pf_switches_about(const perfile_record *r, pf_profiled *about)
{
    const bool sample = r->type == PERFILE_RECORD_SAMPLE;
    if (r->family != PERFILE_FAMILY_PERF ||
        (!sample && r->type != PERFILE_RECORD_SWITCH && r->type != PERFILE_RECORD_SWITCH_CPU_WIDE))
        return false;
    const perfile_event *event = perfile_record_event(r);
    if (sample && !is_switch_event(event) && !is_wakeup_event(event) && !is_context_switches(event))
        return false;
    *about = (pf_profiled){.record = r,
                           .event = event,
                           .time = perfile_record_time(r),
                           .pid = PERFILE_NO_PID,
                           .tid = PERFILE_NO_PID,
                           .cpu = PF_NO_LABEL};
    (void)perfile_record_task(r, &about->pid, &about->tid);
    (void)perfile_record_cpu(r, &about->cpu);
    return true;
}

bool pf_switches_leaves(const pf_profiled *about, const pf_switch *said)
{
    if (said->source)
        return said->source == PF_SWITCHES_TRACED;
    return (is_switch_event(about->event) || is_context_switches(about->event)) &&
           pf_event_takes_all(about->event);
}

bool pf_switches_read(pf_switch_reader *x, const pf_profiled *about, pf_switch *out)
{
    const perfile_record *r = about->record;
    *out = (pf_switch){.time = about->time};
    out->next.pid = out->next.tid = PERFILE_NO_PID;
    if (r->family != PERFILE_FAMILY_PERF || about->time == PERFILE_NO_TIME)
        return true;
    if (r->type == PERFILE_RECORD_SWITCH || r->type == PERFILE_RECORD_SWITCH_CPU_WIDE)
        read_record(about, out);
    else if (r->type == PERFILE_RECORD_SAMPLE && is_switch_event(about->event))
        return read_traced(x, about, out);
    else if (r->type == PERFILE_RECORD_SAMPLE && is_wakeup_event(about->event))
        return read_wakeup(x, about, out);
    return true;
}

/* A thread that was off its CPU and not ready waits for a CPU from the time it is woken. */
static int wake(pf_turns *t, uint64_t time)
{
    if (t->is != PF_TURN_ON && !t->waits) {
        t->woken = time;
        t->waits = true;
    }
    return -1;
}

int pf_turns_step(pf_turns *t, const pf_switched *s, uint64_t time, unsigned source,
                  pf_turns *before)
{
    const bool comes = s->what == PF_SWITCH_IN || s->what == PF_SWITCH_NEXT;
    const unsigned is = comes ? PF_TURN_ON : PF_TURN_OFF;
    if (s->what == PF_SWITCH_WOKEN)
        return wake(t, time);
    t->by_itself |= s->what == PF_SWITCH_IN;
    /* An arrival of a thread that is on its CPU, or another source's report of a departure, changes
     * nothing.  If one source reports two departures in a row, the thread came and left unseen in
     * between. */
    if (t->is == is && (comes || t->source != source))
        return -1;
    *before = *t;
    *t = (pf_turns){.since = time, .cpu = s->cpu, .is = (uint8_t)is, .source = (uint8_t)source};
    t->by_itself = s->what == PF_SWITCH_IN;
    t->waits = s->what == PF_SWITCH_PREEMPTED;
    t->woken = time;
    return before->is == is ? PF_TURN_UNKNOWN : before->is;
}
