/* Any bytes for any version of perf.  Records come out in order, complete, and with types that the
 * version knows; their number is that of the input minus the counted losses.  A second stage on the
 * output finds nothing to do. */
#include <string.h>

#include "base/byte_order.h"
#include "core/names.h"
#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"

static uint64_t told;
static bool chains;

static void on_loss(void *user, const perfile_target_loss *loss)
{
    (void)user;
    ENSURE(loss->kind < PERFILE_N_TARGET_LOSSES && loss->count && loss->name && loss->message[0]);
    told += loss->count;
    chains |= loss->kind >= PERFILE_TARGET_LOSS_CHAIN_LIMIT &&
              loss->kind <= PERFILE_TARGET_LOSS_CHAIN_ALONE;
}

static perfile_status open_one(const uint8_t *block, size_t size, perfile_stream **s)
{
    const perfile_open_options options = {
        .size = sizeof options,
        .limits = &small_limits,
        .deliver = size && block[size - 1] & 64 ? PERFILE_DELIVER_DAMAGE : 0,
        .on_damage =
            size && block[size - 1] & 32 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP};
    perfile_source *source;
    ENSURE(perfile_source_memory((perfile_bytes){block, size}, "input", &source, NULL) ==
           PERFILE_OK);
    perfile_status st = perfile_open(source, &options, s, NULL);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* Counts records that are not envelopes.  Returns false if they cannot be read to their end. */
static bool count_input(const uint8_t *block, size_t size, uint64_t *n)
{
    perfile_stream *s;
    const perfile_record *r;
    perfile_status st;
    *n = 0;
    if (open_one(block, size, &s) != PERFILE_OK)
        return false;
    if (perfile_stream_container(s)->family != PERFILE_FAMILY_PERF) {
        perfile_stream_close(s);
        return false;
    }
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        *n += !(r->flags & PERFILE_REC_ENVELOPE);
    perfile_stream_close(s);
    return st == PERFILE_END;
}

/* Returns the number of yielded records.  UINT64_MAX if the stage rejects the capture: for versions
 * without IDENTIFIER ids must be at the same position in all events, but a later event of a pipe
 * may differ. */
static uint64_t drain(perfile_stream *s, const pf_release *release)
{
    const perfile_record *r;
    perfile_status st;
    uint64_t n = 0, last = 0;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        bool swap = r->flags & PERFILE_REC_SWAPPED;
        n++;
        if (r->family == PERFILE_FAMILY_DAMAGE)
            continue;
        ENSURE(r->session == perfile_stream_session(s));
        ENSURE(r->sequence >= last && !(r->flags & PERFILE_REC_ENVELOPE));
        ENSURE(pf_release_knows_type(release, r->type));
        ENSURE(pf_load_u32(r->header, swap) == r->type);
        ENSURE(pf_load_u16(r->header + 4, swap) == r->misc);
        ENSURE(pf_load_u16(r->header + 6, swap) == 8 + r->body.len);
        last = r->sequence;
    }
    if (st == PERFILE_E_UNSUPPORTED && !(release->sample_bits & PERFILE_SAMPLE_IDENTIFIER))
        return UINT64_MAX;
    ENSURE(st == PERFILE_END);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pf_release *release = &pf_releases[size ? data[size - 1] % PF_N_RELEASES : 0];
    const perfile_target_options how = {
        .size = sizeof how, .version = release->name, .loss = on_loss};
    perfile_target_summary once, twice;
    perfile_stream *s;
    uint64_t n;
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    if (count_input(block, size, &n)) {
        told = 0;
        chains = false;
        ENSURE(open_one(block, size, &s) == PERFILE_OK);
        ENSURE(perfile_target(s, &how, &s, NULL) == PERFILE_OK);
        uint64_t out = drain(s, release);
        perfile_target_get_summary(s, &once, sizeof once);
        ENSURE(told == once.losses);
        ENSURE(out == UINT64_MAX || n + once.build_ids == out + once.dropped);
        perfile_stream_close(s);

        const perfile_target_options again = {.size = sizeof again, .version = release->name};
        ENSURE(open_one(block, size, &s) == PERFILE_OK);
        ENSURE(perfile_target(s, &again, &s, NULL) == PERFILE_OK);
        ENSURE(perfile_target(s, &again, &s, NULL) == PERFILE_OK);
        ENSURE(drain(s, release) == out);
        perfile_target_get_summary(s, &twice, sizeof twice);
        /* A chain may end with two cookies, one after another. */
        ENSURE(out == UINT64_MAX || chains || once.merged ||
               twice.losses + twice.dropped + twice.changed == 0);
        perfile_stream_close(s);
    }
    free(block);
    return 0;
}
