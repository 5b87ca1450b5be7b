/* Offsets between the clocks of the inputs.
 *
 * A *domain* is a clock of a boot: inputs of one domain have comparable times and need no offset.
 * REALTIME and TAI count the same on every machine, so they are one domain each. Between two
 * domains the offset follows from wall clocks: feature CLOCK_DATA tells what the wall clock showed
 * at a time of the capture's clock, and so when the clock was 0. Without that the merge is
 * refused, with a message that names the option to pass; an offset is never guessed. */
#include <stdio.h>

#include "base/error.h"
#include "perfile/abi.h"
#include "perfile/field.h"
#include "merge/merge.h"
#include "schema/family.h"

/* CLOCK_... of <time.h>, as attr.clockid and CLOCK_DATA have them. */
enum {
    REALTIME = 0,
    MONOTONIC = 1,
    REALTIME_COARSE = 5,
    MONOTONIC_COARSE = 6,
    TAI = 11,
    PERF = -1 /* sched_clock(): perf record ran without -k */
};

/* Clocks of one domain show the same time. */
typedef struct domain {
    int32_t clock; /* clockid, or PERF */
    uint32_t boot; /* UINT32_MAX: the clock is the same everywhere */
} domain;

/* Coarse clocks show the same time as the fine ones, with a lower resolution. */
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

/* True if the offset of the input has to be found: its times matter and the caller gave none. */
static bool needs_offset(const pf_merge_input *in)
{
    return !in->has_offset && in->clock_reason != PERFILE_MERGE_CLOCK_NONE;
}

/* Gives the wall time at which the clock of the domain was 0, from the first input with CLOCK_DATA
 * for that domain; false when none has it. REALTIME is the wall clock: 0. */
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

/* Why the times of `in` need no offset: PERFILE_MERGE_CLOCK_... */
static uint32_t reason_without_offset(const pf_merge *x, const pf_merge_input *in)
{
    if (in->at == x->clock_input)
        return PERFILE_MERGE_CLOCK_FIRST;
    if (in->first_of_recording != in->at)
        return PERFILE_MERGE_CLOCK_RECORDING;
    return in->host == x->inputs[x->clock_input].host ? PERFILE_MERGE_CLOCK_BOOT
                                                      : PERFILE_MERGE_CLOCK_GLOBAL;
}

/* Names a clock for a message; `room` may be used for the text. */
static const char *clock_name(const pf_merge_input *in, int32_t clock, char *room, size_t size)
{
    if (perfile_stream_container(in->stream)->family != PERFILE_FAMILY_PERF)
        return "a clock of its own";
    const char *word =
        perfile_vocabulary_word(perfile_vocabulary_find("clockid"), (uint64_t)(int64_t)clock);
    if (clock == PERF)
        return "perf's own clock";
    snprintf(room, size, "clock %s", word ? word : "of an unknown number");
    return room;
}

/* Returns PERFILE_E_USAGE for two clocks that cannot be related. The advice comes first, because
 * names of inputs may be long and the message is cut at its end. */
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

/* PERFILE_MERGE_ALIGN_START: the first sample of each input gets the time of that of clock_input.
 */
static void align_starts(pf_merge *x)
{
    const pf_merge_input *to = &x->inputs[x->clock_input];
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (in == to)
            in->clock_reason = PERFILE_MERGE_CLOCK_FIRST;
        if (in == to || !needs_offset(in))
            continue;
        in->clock_reason = in->n_samples ? PERFILE_MERGE_CLOCK_ALIGNED : PERFILE_MERGE_CLOCK_NONE;
        if (in->n_samples)
            in->offset = to->offset + to->first_sample - in->first_sample;
    }
}

/* Fails unless all inputs are in the domain of clock_input, or that domain and those of the others
 * all have a wall clock. */
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

/* Makes the clock that started first the clock of the output: with any other one, earlier times
 * would be negative. Not if the caller gave an offset, which refers to the clock of the first
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

/* Sets offset and clock_reason of all inputs that the caller gave no offset for. */
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
            in->clock_reason = PERFILE_MERGE_CLOCK_WALL;
            in->offset = wall - zero;
        }
    }
}

/* True if the inputs hold the buffers of different processors: these count the ticks of one clock.
 */
static bool are_of_one_counter(const pf_merge *x)
{
    for (uint32_t i = 1; i < x->n_parts; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!x->parts[i].has_cpu || x->parts[i].cpu == x->parts[k].cpu)
                return false;
    return x->n_parts > 1;
}

/* Offsets of sort keys, which are ticks in some families. */
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
    /* Backwards, so that the first suitable input is the last one that sets clock_input: one whose
     * offset the caller did not give, else any that has times. */
    for (uint32_t i = x->n_inputs; i--;) {
        pf_merge_input *in = &x->inputs[i];
        if (in->has_offset) {
            in->clock_reason = PERFILE_MERGE_CLOCK_GIVEN;
            in->offset = (uint64_t)in->given_offset;
        }
        if (in->clock_reason != PERFILE_MERGE_CLOCK_NONE && (needs_offset(in) || !any)) {
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
