/* Which inputs were recorded on one machine, on one boot of it, and which are of one recording. */
#include <string.h>

#include "perfile/abi.h"
#include "merge/merge.h"

static bool same_bytes(perfile_bytes a, perfile_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

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

static bool has_ids(const pf_merge_input *in)
{
    for (uint32_t i = 0; i < in->n_events; i++)
        if (perfile_session_event(in->session, i)->ids.n)
            return true;
    return false;
}

/* Whether no fact of one is another in the other. */
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

static bool same_samples(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->n_samples == b->n_samples && a->first_sample == b->first_sample &&
           a->last_sample == b->last_sample && a->first_bytes == b->first_bytes &&
           a->bytes == b->bytes;
}

static bool kernel_is_known(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->kernel && b->kernel;
}

/* The kernel gives an id to one counter only, as long as it runs. */
static bool same_recording(const pf_merge_input *a, const pf_merge_input *b)
{
    if (!same_events(a, b) || !facts_agree(a, b, 0, PERFILE_N_FACTS) ||
        (kernel_is_known(a, b) && a->kernel != b->kernel))
        return false;
    return has_ids(a) || both_know_host(a, b) || kernel_is_known(a, b) ||
           (a->n_samples && same_samples(a, b));
}

/* What the wall clock showed when the clock began, if both say so of the same clock. */
static bool boots_known(const perfile_clock *a, const perfile_clock *b, uint64_t *apart)
{
    if (!a->has_wall || !b->has_wall || a->clockid != b->clockid || a->clockid == 0)
        return false;
    uint64_t one = a->wall_ns - a->clock_ns, other = b->wall_ns - b->clock_ns;
    *apart = one - other < other - one ? one - other : other - one;
    return true;
}

/* Places where a kernel lies that was not moved by chance, or that tell nothing. */
static bool usual_place(uint64_t address)
{
    return address == 0 || address == UINT64_C(0xffffffff81000000) ||
           (address & UINT64_C(0x1fffffff)) == 0x8000000 || (address >> 32 == 0);
}

static bool overlap(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->n_samples && b->n_samples && a->first_sample <= b->last_sample &&
           b->first_sample <= a->last_sample;
}

/* Whether an id is of two different counters: a kernel never does that while it runs. */
static bool ids_contradict(const pf_merge_input *a, const pf_merge_input *b)
{
    for (uint32_t i = 0; i < a->n_events; i++) {
        const perfile_event *one = perfile_session_event(a->session, i);
        for (size_t k = 0; k < one->ids.n; k++) {
            uint64_t id = perfile_word(&one->ids, k);
            const perfile_event *other = perfile_session_event_by_id(b->session, id);
            if (id && other &&
                (one->attr.type != other->attr.type || one->attr.config != other->attr.config))
                return true;
        }
    }
    return false;
}

static bool same_machine(const pf_merge_input *a, const pf_merge_input *b)
{
    return both_know_host(a, b) &&
           facts_agree(a, b, PERFILE_FACT_HOSTNAME, PERFILE_FACT_HOSTNAME + 1) &&
           facts_agree(a, b, PERFILE_FACT_ARCH, PERFILE_FACT_CPUID + 1) &&
           perfile_session_n_cpus(a->session) == perfile_session_n_cpus(b->session);
}

/* Whether the caller says that the clocks of both are one, which begins anew with each boot. */
static bool told_one_clock(const pf_merge_input *a, const pf_merge_input *b,
                           const perfile_clock *one, const perfile_clock *other)
{
    return (a->has_offset || b->has_offset) && !(a->has_offset && a->told) &&
           !(b->has_offset && b->told) && one->known == other->known &&
           one->clockid == other->clockid;
}

typedef enum proof { PROOF_OTHER, PROOF_NONE, PROOF_SAME } proof;

/* Whether two inputs of one machine are of one boot.  It is one if the clocks began at the same
 * time; the kernel lies where it was put by chance; they were recorded at the same time since the
 * boot; or the caller says so. */
static proof boot_of(const pf_merge_input *a, const pf_merge_input *b)
{
    enum { SAME = 1000 * 1000 * 1000 }; /* ns: the wall clock is set now and then */
    perfile_clock one, other;
    uint64_t apart;
    if (!facts_agree(a, b, PERFILE_FACT_OSRELEASE, PERFILE_FACT_OSRELEASE + 1) ||
        ids_contradict(a, b))
        return PROOF_OTHER;
    perfile_session_clock(a->session, &one);
    perfile_session_clock(b->session, &other);
    if (boots_known(&one, &other, &apart))
        return apart <= SAME ? PROOF_SAME : PROOF_OTHER;
    if (kernel_is_known(a, b) && a->kernel != b->kernel)
        return PROOF_OTHER;
    if (kernel_is_known(a, b) && !usual_place(a->kernel))
        return PROOF_SAME;
    bool same = (one.known == other.known && one.clockid == other.clockid && overlap(a, b)) ||
                told_one_clock(a, b, &one, &other);
    return same ? PROOF_SAME : PROOF_NONE;
}

/* Finds the machine and the boot of `in` among the inputs in front of it. */
static void place(pf_merge *x, pf_merge_input *in)
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
        else if (boot == PROOF_NONE && in->unproven == PF_MERGE_NO_INPUT)
            in->unproven = k;
    }
    if (in->machine == UINT32_MAX)
        in->machine = x->result.hosts++;
    if (in->host == UINT32_MAX)
        in->host = x->n_hosts++;
    else
        in->unproven = PF_MERGE_NO_INPUT;
    x->result.boots_unproven += in->unproven != PF_MERGE_NO_INPUT;
}

perfile_status pf_merge_hosts(pf_merge *x, perfile_error *err)
{
    (void)err;
    bool join = x->options.flags & PERFILE_MERGE_JOIN_EVENTS;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        in->first_of_recording = i;
        in->host = in->machine = UINT32_MAX;
        in->unproven = PF_MERGE_NO_INPUT;
        for (uint32_t k = 0; k < i && in->first_of_recording == i; k++) {
            pf_merge_input *before = &x->inputs[k];
            if (!same_recording(before, in))
                continue;
            in->first_of_recording = before->first_of_recording;
            in->host = before->host;
            bool parts = !same_samples(before, in) && (both_know_host(before, in) || join);
            in->is_part = before->is_part = parts || in->is_part;
        }
        place(x, in);
    }
    return PERFILE_OK;
}
