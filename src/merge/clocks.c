/* How the times of one input lie to those of another. */
#include <stdio.h>

#include "base/error.h"
#include "perfile/abi.h"
#include "perfile/field.h"
#include "merge/merge.h"

enum {
    REALTIME = 0,
    MONOTONIC = 1,
    REALTIME_COARSE = 5,
    MONOTONIC_COARSE = 6,
    TAI = 11,
    PERF = -1 /* the kernel's own: no clock id was asked for */
};

/* Clocks of one domain show the same. */
typedef struct domain {
    int32_t clock;
    uint32_t host; /* UINT32_MAX: of all */
} domain;

static domain domain_of(const pf_merge_input *in)
{
    perfile_clock c;
    perfile_session_clock(in->session, &c);
    domain d = {c.known ? c.clockid : PERF, in->host};
    d.clock = d.clock == REALTIME_COARSE ? REALTIME : d.clock;
    d.clock = d.clock == MONOTONIC_COARSE ? MONOTONIC : d.clock;
    if (d.clock == REALTIME || d.clock == TAI)
        d.host = UINT32_MAX;
    return d;
}

static bool equal(domain a, domain b)
{
    return a.clock == b.clock && a.host == b.host;
}

/* Whose times have to be worked out. */
static bool is_open(const pf_merge_input *in)
{
    return !in->has_offset && in->why != PERFILE_MERGE_CLOCK_NONE;
}

/* The wall clock at 0 of a domain, of the first input that says it; false when none does. */
static bool wall_of(const pf_merge *x, domain d, uint64_t *wall)
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

static uint32_t why_same(const pf_merge *x, const pf_merge_input *in)
{
    if (in->at == x->clock_of)
        return PERFILE_MERGE_CLOCK_FIRST;
    if (in->first_of_recording != in->at)
        return PERFILE_MERGE_CLOCK_RECORDING;
    return in->host == x->inputs[x->clock_of].host ? PERFILE_MERGE_CLOCK_BOOT
                                                   : PERFILE_MERGE_CLOCK_GLOBAL;
}

static const char *name_of(const pf_merge_input *in, int32_t clock, char *room, size_t size)
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

static perfile_status refuse(const pf_merge_input *a, const pf_merge_input *b, bool wall_a,
                             perfile_error *err)
{
    char one[40], other[40];
    domain da = domain_of(a), db = domain_of(b);
    if (b->unproven != PF_MERGE_NO_INPUT && b->machine == a->machine && da.clock == db.clock)
        return pf_fail(err, PERFILE_E_USAGE, "merge.clock",
                       "pass --offset %u=0 if %s and %s are of one boot (they are of one host, and "
                       "nothing proves the boot), else --offset %u=TIME or --align start",
                       b->at + 1, a->name, b->name, b->at + 1);
    return pf_fail(
        err, PERFILE_E_USAGE, "merge.clock",
        "pass --offset %u=TIME or --align start: %s (%s) and %s (%s) have clocks that %s, "
        "and %s has no CLOCK_DATA",
        b->at + 1, a->name, name_of(a, da.clock, one, sizeof one), b->name,
        name_of(b, db.clock, other, sizeof other),
        da.clock != db.clock ? "differ" : "nothing proves to be of one boot",
        wall_a ? "the second" : "the first");
}

static void align(pf_merge *x)
{
    const pf_merge_input *to = &x->inputs[x->clock_of];
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (in == to)
            in->why = PERFILE_MERGE_CLOCK_FIRST;
        if (in == to || !is_open(in))
            continue;
        in->why = in->n_samples ? PERFILE_MERGE_CLOCK_ALIGNED : PERFILE_MERGE_CLOCK_NONE;
        if (in->n_samples)
            in->offset = to->offset + to->first_sample - in->first_sample;
    }
}

/* Where there are several domains, all need a wall clock. */
static perfile_status need_walls(const pf_merge *x, perfile_error *err)
{
    const pf_merge_input *first = &x->inputs[x->clock_of];
    uint64_t wall;
    bool first_has = wall_of(x, domain_of(first), &wall);
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        if (!is_open(in) || equal(domain_of(in), domain_of(first)))
            continue;
        if (!first_has || !wall_of(x, domain_of(in), &wall))
            return refuse(first, in, first_has, err);
    }
    return PERFILE_OK;
}

/* The clock that began first is that of the output, so that nothing lies in front of it: where no
 * offset was told, which would be one to the clock of the first input. */
static void choose_clock(pf_merge *x)
{
    uint64_t least, wall;
    (void)wall_of(x, domain_of(&x->inputs[x->clock_of]), &least);
    for (uint32_t i = 0; i < x->n_inputs; i++)
        if (x->inputs[i].has_offset)
            return;
    for (uint32_t i = 0; i < x->n_inputs; i++)
        if (is_open(&x->inputs[i]) && wall_of(x, domain_of(&x->inputs[i]), &wall) && wall < least) {
            least = wall;
            x->clock_of = i;
        }
}

static void set_offsets(pf_merge *x)
{
    domain to = domain_of(&x->inputs[x->clock_of]);
    uint64_t zero, wall;
    bool known = wall_of(x, to, &zero);
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (!is_open(in))
            continue;
        if (equal(domain_of(in), to)) {
            in->why = why_same(x, in);
        } else if (known && wall_of(x, domain_of(in), &wall)) {
            in->why = PERFILE_MERGE_CLOCK_WALL;
            in->offset = wall - zero;
        }
    }
}

perfile_status pf_merge_clocks(pf_merge *x, perfile_error *err)
{
    bool any = false;
    for (uint32_t i = x->n_inputs; i--;) {
        pf_merge_input *in = &x->inputs[i];
        if (in->has_offset) {
            in->why = PERFILE_MERGE_CLOCK_GIVEN;
            in->offset = (uint64_t)in->told;
        }
        if (in->why != PERFILE_MERGE_CLOCK_NONE && (is_open(in) || !any)) {
            x->clock_of = i; /* the first whose times nobody tells, else the first that has any */
            any |= is_open(in);
        }
    }
    if (x->options.flags & PERFILE_MERGE_ALIGN_START) {
        align(x);
        return PERFILE_OK;
    }
    perfile_status st = need_walls(x, err);
    if (st != PERFILE_OK)
        return st;
    choose_clock(x);
    set_offsets(x);
    return PERFILE_OK;
}
