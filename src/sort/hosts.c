/* Finds out which inputs are from one machine, from one boot of it, and from one recording.
 *
 * No field says so; it is inferred. Inputs are from one machine if host name, architecture, CPU
 * model and number of CPUs agree. boot_of() decides about boots. Inputs are from one recording if
 * they have the same events with the same ids and nothing contradicts that. Such inputs are either
 * parts of the recording (with other samples), which share events, or copies (with the same
 * samples). */
#include "base/error.h"
#include "perfile/abi.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "sort/merge.h"
#include "schema/command.h"
#include "sort/command.h"
#include "core/command.h"

#include <stdio.h>
#include <string.h>

static bool same_bytes(perfile_bytes a, perfile_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Returns true if both have the same events in the same order: names, attrs and ids, byte for byte.
 */
static bool same_events(const pf_merge_input *a, const pf_merge_input *b)
{
    if (a->n_events != b->n_events)
        return false;
    for (uint32_t i = 0; i < a->n_events; i++) {
        const perfile_event *one = perfile_session_event(a->session, i);
        const perfile_event *other = perfile_session_event(b->session, i);
        const perfile_bytes ids = {one->ids.ptr, one->ids.n * one->ids.width};
        const perfile_bytes others = {other->ids.ptr, other->ids.n * other->ids.width};
        if (strcmp(one->name, other->name) != 0 || !same_bytes(one->stored, other->stored) ||
            one->ids.swapped != other->ids.swapped || !same_bytes(ids, others))
            return false;
    }
    return true;
}

/* Returns true if some event has an id. */
static bool has_ids(const pf_merge_input *in)
{
    for (uint32_t i = 0; i < in->n_events; i++)
        if (perfile_session_event(in->session, i)->ids.n)
            return true;
    return false;
}

/* Returns true if none of the facts [first, end) differs between both. A missing fact agrees with
 * anything. */
static bool facts_agree(const pf_merge_input *a, const pf_merge_input *b, unsigned first,
                        unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        const char *one = perfile_session_fact(a->session, i);
        const char *other = perfile_session_fact(b->session, i);
        if (one && other && strcmp(one, other) != 0)
            return false;
    }
    return true;
}

static bool both_know_host(const pf_merge_input *a, const pf_merge_input *b)
{
    return perfile_session_fact(a->session, PERFILE_FACT_HOSTNAME) &&
           perfile_session_fact(b->session, PERFILE_FACT_HOSTNAME);
}

/* Compares the number of samples, their first and last time, a hash of the first record and the
 * number of bytes. Returns true if one capture is a copy of the other. */
static bool same_samples(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->n_samples == b->n_samples && a->first_sample == b->first_sample &&
           a->last_sample == b->last_sample && a->first_bytes == b->first_bytes &&
           a->bytes == b->bytes;
}

/* Returns true if both have the address of a kernel mapping. */
static bool kernel_is_known(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->kernel && b->kernel;
}

/* Returns true if both are from one recording: the kernel assigns an id to one counter only while
 * it runs. Equal events without ids prove little, so without ids something else has to match, too.
 */
static bool same_recording(const pf_merge_input *a, const pf_merge_input *b)
{
    if (!same_events(a, b) || !facts_agree(a, b, 0, PERFILE_N_FACTS) ||
        (kernel_is_known(a, b) && a->kernel != b->kernel))
        return false;
    return has_ids(a) || both_know_host(a, b) || kernel_is_known(a, b) ||
           (a->n_samples && same_samples(a, b));
}

/* Sets *apart to how far apart the boots were by the wall clock, in ns. Returns false unless both
 * have CLOCK_DATA of the same clock. CLOCK_REALTIME (0) does not start at the boot, so it does not
 * help. */
static bool boot_distance(const perfile_clock *a, const perfile_clock *b, uint64_t *apart)
{
    if (!a->has_wall || !b->has_wall || a->clockid != b->clockid || a->clockid == 0)
        return false;
    uint64_t one = a->wall_ns - a->clock_ns, other = b->wall_ns - b->clock_ns;
    *apart = one - other < other - one ? one - other : other - one;
    return true;
}

/* Returns true if the address of the kernel text does not identify a boot: it is the default
 * without KASLR (x86-64; other defaults are 0x8000000 modulo 512 MiB), or not a 64-bit kernel
 * address. */
static bool is_default_address(uint64_t address)
{
    return address == 0 || address == UINT64_C(0xffffffff81000000) ||
           (address & UINT64_C(0x1fffffff)) == 0x8000000 || (address >> 32 == 0);
}

/* Returns true if the times of the samples overlap. */
static bool times_overlap(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->n_samples && b->n_samples && a->first_sample <= b->last_sample &&
           b->first_sample <= a->last_sample;
}

/* Returns true if an id belongs to two different counters. A running kernel never reuses an id, so
 * this means two boots. */
static bool ids_contradict(const pf_merge_input *a, const pf_merge_input *b)
{
    for (uint32_t i = 0; i < a->n_events; i++) {
        const perfile_event *one = perfile_session_event(a->session, i);
        for (size_t k = 0; k < one->ids.n; k++) {
            uint64_t id = perfile_word(&one->ids, k);
            const perfile_event *other = perfile_session_event_by_id(b->session, id);
            if (id && other &&
                (one->attr->type != other->attr->type || one->attr->config != other->attr->config))
                return true;
        }
    }
    return false;
}

/* Returns true if both are from one machine, judging by host name and CPU. */
static bool same_machine(const pf_merge_input *a, const pf_merge_input *b)
{
    return both_know_host(a, b) &&
           facts_agree(a, b, PERFILE_FACT_HOSTNAME, PERFILE_FACT_HOSTNAME + 1) &&
           facts_agree(a, b, PERFILE_FACT_ARCH, PERFILE_FACT_CPUID + 1) &&
           pf_session_n_cpus(a->session) == pf_session_n_cpus(b->session);
}

/* Returns true if the caller gave an offset of 0 for one of them (and none or 0 for the other) and
 * the clocks are of the same kind. Then both are from one boot, since such clocks restart at each
 * boot. */
static bool given_one_clock(const pf_merge_input *a, const pf_merge_input *b,
                            const perfile_clock *one, const perfile_clock *other)
{
    return (a->has_offset || b->has_offset) && !(a->has_offset && a->given_offset) &&
           !(b->has_offset && b->given_offset) && one->known == other->known &&
           one->clockid == other->clockid;
}

/* PROOF_OTHER: certainly two boots. PROOF_NONE: unknown. PROOF_SAME: certainly one boot. */
typedef enum proof { PROOF_OTHER, PROOF_NONE, PROOF_SAME } proof;

/* Decides whether two inputs of one machine are from one boot. They are if their clocks began at
 * the same wall time, if the kernel is at the same random address (KASLR), if they were recorded at
 * the same time since boot, or if the caller says so. */
static proof boot_of(const pf_merge_input *a, const pf_merge_input *b)
{
    enum { SAME = 1000 * 1000 * 1000 }; /* ns of tolerance: NTP adjusts the wall clock */
    perfile_clock one, other;
    uint64_t apart;
    if (!facts_agree(a, b, PERFILE_FACT_OSRELEASE, PERFILE_FACT_OSRELEASE + 1) ||
        ids_contradict(a, b))
        return PROOF_OTHER;
    perfile_session_clock(a->session, &one);
    perfile_session_clock(b->session, &other);
    if (boot_distance(&one, &other, &apart))
        return apart <= SAME ? PROOF_SAME : PROOF_OTHER;
    if (kernel_is_known(a, b) && a->kernel != b->kernel)
        return PROOF_OTHER;
    if (kernel_is_known(a, b) && !is_default_address(a->kernel))
        return PROOF_SAME;
    bool same = (one.known == other.known && one.clockid == other.clockid && times_overlap(a, b)) ||
                given_one_clock(a, b, &one, &other);
    return same ? PROOF_SAME : PROOF_NONE;
}

/* Sets machine and boot of `in`: the ones of an earlier input, or new ones. */
static void assign_boot(pf_merge *x, pf_merge_input *in)
{
    for (uint32_t k = 0; k < in->at; k++) {
        const pf_merge_input *before = &x->inputs[k];
        const bool recorded_together = in->host == before->host;
        if (!recorded_together && !same_machine(before, in))
            continue;
        in->machine = before->machine;
        if (in->host != UINT32_MAX)
            continue;
        const proof boot = boot_of(before, in);
        if (boot == PROOF_SAME)
            in->host = before->host;
        else if (boot == PROOF_NONE && in->maybe_same_boot == PF_MERGE_NO_INPUT)
            in->maybe_same_boot = k;
    }
    if (in->machine == UINT32_MAX)
        in->machine = x->result.hosts++;
    if (in->host == UINT32_MAX)
        in->host = x->n_boots++;
    else
        in->maybe_same_boot = PF_MERGE_NO_INPUT;
    /* Counted for the caller: the merge works, but pids of one boot may be counted under two boots.
     */
    x->result.boots_unproven += in->maybe_same_boot != PF_MERGE_NO_INPUT;
}

enum {
    MOST_PID_BOOTS = 1024,   /* each has PERFILE_MERGE_PIDS of the 32-bit pids */
    MOST_CGROUP_BOOTS = 256, /* the upper 8 bits of a cgroup id are the number of the boot */
};

static bool samples_cgroups(const pf_merge *x)
{
    for (uint32_t i = 0; i < x->n_inputs; i++)
        for (uint32_t k = 0; k < x->inputs[i].n_events; k++)
            if (perfile_session_event(x->inputs[i].session, k)->layout->sample_type &
                PERFILE_SAMPLE_CGROUP)
                return true;
    return false;
}

/* pids and cgroup ids are shifted by boot and have room for a limited number of boots. Fails before
 * two processes or cgroups would get the same number. */
static perfile_status check_boots(const pf_merge *x, perfile_error *err)
{
    if (x->options.flags & PERFILE_MERGE_MAP_PIDS && x->n_boots > MOST_PID_BOOTS)
        return pf_fail(err, PERFILE_E_LIMIT, "merge.hosts",
                       "%u boots: pids can be mapped for %d at most", (unsigned)x->n_boots,
                       MOST_PID_BOOTS);
    if (x->n_boots > MOST_CGROUP_BOOTS && samples_cgroups(x))
        return pf_fail(err, PERFILE_E_LIMIT, "merge.hosts",
                       "%u boots with cgroups: %d can be kept apart", (unsigned)x->n_boots,
                       MOST_CGROUP_BOOTS);
    return PERFILE_OK;
}

/* Each input is compared with the ones before it, so machines and boots are numbered in the order
 * of the inputs. */
perfile_status pf_merge_hosts(pf_merge *x, perfile_error *err)
{
    bool join = x->options.flags & PERFILE_MERGE_JOIN_EVENTS;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        in->first_of_recording = i;
        in->host = in->machine = UINT32_MAX;
        in->maybe_same_boot = PF_MERGE_NO_INPUT;
        for (uint32_t k = 0; k < i && in->first_of_recording == i; k++) {
            pf_merge_input *before = &x->inputs[k];
            if (!same_recording(before, in))
                continue;
            in->first_of_recording = before->first_of_recording;
            in->host = before->host;
            /* Equal samples mean a copy, not a part. Host names make sure that equal ids are from
             * one machine. */
            bool parts = !same_samples(before, in) && (both_know_host(before, in) || join);
            in->is_part = before->is_part = parts || in->is_part;
        }
        assign_boot(x, in);
    }
    return check_boots(x, err);
}

/* Offsets between the clocks of the inputs.
 *
 * A domain is a clock of a boot. Times of inputs in one domain are comparable and need no offset.
 * REALTIME and TAI are the same on every machine, so each is one domain. Between two domains the
 * offset follows from wall clocks: the feature CLOCK_DATA has the wall time at one time of the
 * capture's clock, and so tells when that clock was 0. Without it the merge fails with a message
 * that says how to continue; an offset is never guessed. */

/* CLOCK_... of <time.h>, as in attr.clockid and CLOCK_DATA. */
enum {
    REALTIME = 0,
    MONOTONIC = 1,
    REALTIME_COARSE = 5,
    MONOTONIC_COARSE = 6,
    TAI = 11,
    PERF = -1 /* sched_clock(), the default of perf record */
};

/* Clocks of one domain show the same time. */
typedef struct domain {
    int32_t clock; /* clockid, or PERF */
    uint32_t boot; /* UINT32_MAX: the clock is the same everywhere */
} domain;

/* Returns the domain of an input. Coarse clocks show the same time as the fine ones, with a lower
 * resolution. */
static domain domain_of(const pf_merge_input *in)
{
    perfile_clock c;
    perfile_session_clock(in->session, &c);
    domain d = {c.known ? c.clockid : PERF, in->host};
    d.clock = d.clock == REALTIME_COARSE ? REALTIME : d.clock;
    d.clock = d.clock == MONOTONIC_COARSE ? MONOTONIC : d.clock;
    if (d.clock == REALTIME || d.clock == TAI)
        d.boot = UINT32_MAX;
    return d;
}

static bool equal(domain a, domain b)
{
    return a.clock == b.clock && a.boot == b.boot;
}

/* Returns true if the offset of the input has to be found: its times matter and the caller gave no
 * offset. */
static bool needs_offset(const pf_merge_input *in)
{
    return !in->has_offset && in->clock_reason != PF_MERGE_CLOCK_NONE;
}

/* Sets *wall to the wall time at which the clock of the domain was 0, from the first input with
 * CLOCK_DATA for that domain. Returns false if no input has it. For REALTIME it is 0. */
static bool wall_at_zero(const pf_merge *x, domain d, uint64_t *wall)
{
    perfile_clock c;
    *wall = 0;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        perfile_session_clock(x->inputs[i].session, &c);
        if (!equal(domain_of(&x->inputs[i]), d) || !c.has_wall)
            continue;
        *wall = c.wall_ns - c.clock_ns;
        return true;
    }
    return d.clock == REALTIME;
}

/* Returns why the times of `in` need no offset: PERFILE_MERGE_CLOCK_... */
static uint32_t reason_without_offset(const pf_merge *x, const pf_merge_input *in)
{
    if (in->at == x->clock_input)
        return PF_MERGE_CLOCK_FIRST;
    if (in->first_of_recording != in->at)
        return PF_MERGE_CLOCK_RECORDING;
    return in->host == x->inputs[x->clock_input].host ? PF_MERGE_CLOCK_BOOT : PF_MERGE_CLOCK_GLOBAL;
}

/* Returns the name of a clock for a message; `room` may be used for the text. */
static const char *clock_name(const pf_merge_input *in, int32_t clock, char *room, size_t size)
{
    if (perfile_stream_container(in->stream)->family != PERFILE_FAMILY_PERF)
        return "a clock of its own";
    const char *word =
        perfile_vocabulary_word(pf_vocabulary_find("clockid"), (uint64_t)(int64_t)clock);
    if (clock == PERF)
        return "perf's own clock";
    snprintf(room, size, "clock %s", word ? word : "of an unknown number");
    return room;
}

/* Returns PERFILE_E_USAGE for two clocks that cannot be related. The advice comes first, because
 * names of inputs may be long and messages are cut at the end. */
static perfile_status refuse_clocks(const pf_merge_input *a, const pf_merge_input *b, bool wall_a,
                                    perfile_error *err)
{
    char one[40], other[40];
    domain da = domain_of(a), db = domain_of(b);
    if (b->maybe_same_boot != PF_MERGE_NO_INPUT && b->machine == a->machine && da.clock == db.clock)
        return pf_fail(
            err, PERFILE_E_USAGE, "merge.inputs",
            "input %u needs an offset, which is 0 if %s and %s are of one boot (they are of "
            "one host, and nothing proves the boot); or the starts are aligned",
            b->at + 1, a->name, b->name);
    return pf_fail(
        err, PERFILE_E_USAGE, "merge.inputs",
        "input %u needs an offset, or the starts are aligned: %s (%s) and %s (%s) have clocks that "
        "%s, and %s has no CLOCK_DATA",
        b->at + 1, a->name, clock_name(a, da.clock, one, sizeof one), b->name,
        clock_name(b, db.clock, other, sizeof other),
        da.clock != db.clock ? "differ" : "nothing proves to be of one boot",
        wall_a ? "the second" : "the first");
}

/* PERFILE_MERGE_ALIGN_START: gives the first sample of each input the time of clock_input's first
 * sample. */
static void align_starts(pf_merge *x)
{
    const pf_merge_input *to = &x->inputs[x->clock_input];
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (in == to)
            in->clock_reason = PF_MERGE_CLOCK_FIRST;
        if (in == to || !needs_offset(in))
            continue;
        in->clock_reason = in->n_samples ? PF_MERGE_CLOCK_ALIGNED : PF_MERGE_CLOCK_NONE;
        if (in->n_samples)
            in->offset = to->offset + to->first_sample - in->first_sample;
    }
}

/* Fails unless all inputs are in the domain of clock_input, or the wall time is known for that
 * domain and for the domains of all others. */
static perfile_status check_walls(const pf_merge *x, perfile_error *err)
{
    const pf_merge_input *first = &x->inputs[x->clock_input];
    uint64_t wall;
    bool first_has = wall_at_zero(x, domain_of(first), &wall);
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        if (!needs_offset(in) || equal(domain_of(in), domain_of(first)))
            continue;
        if (!first_has || !wall_at_zero(x, domain_of(in), &wall))
            return refuse_clocks(first, in, first_has, err);
    }
    return PERFILE_OK;
}

/* Makes the clock that started first the clock of the output; with any other, earlier times would
 * be negative. Changes nothing if the caller gave an offset, which refers to the clock of the first
 * input. */
static void choose_clock(pf_merge *x)
{
    uint64_t least, wall;
    (void)wall_at_zero(x, domain_of(&x->inputs[x->clock_input]), &least);
    for (uint32_t i = 0; i < x->n_inputs; i++)
        if (x->inputs[i].has_offset)
            return;
    for (uint32_t i = 0; i < x->n_inputs; i++)
        if (needs_offset(&x->inputs[i]) && wall_at_zero(x, domain_of(&x->inputs[i]), &wall) &&
            wall < least) {
            least = wall;
            x->clock_input = i;
        }
}

/* Sets offset and clock_reason of all inputs for which the caller gave no offset. */
static void set_offsets(pf_merge *x)
{
    domain to = domain_of(&x->inputs[x->clock_input]);
    uint64_t zero, wall;
    bool known = wall_at_zero(x, to, &zero);
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (!needs_offset(in))
            continue;
        if (equal(domain_of(in), to)) {
            in->clock_reason = reason_without_offset(x, in);
        } else if (known && wall_at_zero(x, domain_of(in), &wall)) {
            in->clock_reason = PF_MERGE_CLOCK_WALL;
            in->offset = wall - zero;
        }
    }
}

/* Returns true if the inputs hold the buffers of different CPUs, which count the ticks of one
 * clock. */
static bool are_of_one_counter(const pf_merge *x)
{
    for (uint32_t i = 1; i < x->n_parts; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!x->parts[i].has_cpu || x->parts[i].cpu == x->parts[k].cpu)
                return false;
    return x->n_parts > 1;
}

/* Sets the offsets of sort keys, which are ticks in some families. */
static perfile_status set_key_offsets(pf_merge *x, perfile_error *err)
{
    const pf_family *family = pf_family_of((uint8_t)x->base.container.family);
    perfile_clock clock;
    perfile_session_clock(x->base.session, &clock);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++) {
        pf_merge_input *in = &x->inputs[i];
        in->key_offset = in->offset;
        if (!family || !family->ticks || !in->offset)
            continue;
        const bool back = in->offset >> 63;
        st = perfile_clock_cycles(&clock, back ? 0 - in->offset : in->offset, &in->key_offset, err);
        in->key_offset = back ? 0 - in->key_offset : in->key_offset;
    }
    return st;
}

/* Sets offsets and reasons of all inputs. */
static perfile_status relate_clocks(pf_merge *x, perfile_error *err)
{
    bool any = false;
    if (are_of_one_counter(x))
        for (uint32_t i = 1; i < x->n_inputs; i++)
            x->inputs[i].host = x->inputs[0].host;
    /* Backwards, so that the first suitable input sets clock_input last. Suitable is an input for
     * which the caller gave no offset; if there is none, any that has times. */
    for (uint32_t i = x->n_inputs; i--;) {
        pf_merge_input *in = &x->inputs[i];
        if (in->has_offset) {
            in->clock_reason = PF_MERGE_CLOCK_GIVEN;
            in->offset = (uint64_t)in->given_offset;
        }
        if (in->clock_reason != PF_MERGE_CLOCK_NONE && (needs_offset(in) || !any)) {
            x->clock_input = i;
            any |= needs_offset(in);
        }
    }
    if (x->options.flags & PERFILE_MERGE_ALIGN_START) {
        align_starts(x);
        return PERFILE_OK;
    }
    perfile_status st = check_walls(x, err);
    if (st != PERFILE_OK)
        return st;
    choose_clock(x);
    set_offsets(x);
    return PERFILE_OK;
}

perfile_status pf_merge_clocks(pf_merge *x, perfile_error *err)
{
    perfile_status st = relate_clocks(x, err);
    return st == PERFILE_OK ? set_key_offsets(x, err) : st;
}
