/* Any bytes, split.  Parts open, are intact where the input is, and together have each record of
 * it; data records occur once. */
#include "ensure.h"
#include "limits.h"
#include "tests/dripping.h"
#include "tests/owned.h"
#include "tests/splitting.h"

static const uint64_t amounts[] = {1, 3, 10, 100, 1000, 5000, 1000000, UINT64_MAX};

static void on_finding(void *user, const perfile_finding *f)
{
    uint64_t *errors = user;
    *errors += f->severity == PERFILE_SEVERITY_ERROR;
}

/* Returns the number of errors that the checker finds. */
static uint64_t errors_of(perfile_bytes bytes)
{
    uint64_t errors = 0;
    perfile_open_options how = {.size = sizeof how, .limits = &small_limits};
    perfile_check_options check = {.size = sizeof check, .finding = on_finding, .user = &errors};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return UINT64_MAX;
    }
    if (perfile_check(s, &check, &s, NULL) == PERFILE_OK)
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            ;
    perfile_stream_close(s);
    return errors;
}

static perfile_status split(perfile_bytes in, bool pipe, const perfile_split_options *how,
                            perfile_split_capture_options *writing, split_parts *parts,
                            perfile_split_summary *sum)
{
    perfile_source_options options = {.size = sizeof options, .limits = &small_limits};
    perfile_source *source;
    dripping d = {.bytes = in, .most = 300, .state = in.len};
    writing->open = split_open_part;
    writing->done = split_part_done;
    writing->user = parts;
    if (pipe)
        ENSURE(dripping_open(&d, false, &options, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    return closed_unless_ok(source,
                            perfile_split_capture(source, how, writing, sum, sizeof *sum, NULL));
}

static void look_at(perfile_bytes in, const perfile_split_options *how, bool stopping, bool other,
                    const split_parts *parts, const perfile_split_summary *sum)
{
    uint64_t data = 0, samples = 0, bytes = 0;
    ENSURE(sum->parts == parts->n && parts->n == parts->done && parts->n > 0);
    for (size_t i = 0; i < parts->n; i++) {
        perfile_bytes part = perfile_sink_bytes(parts->sinks[i]);
        split_hashes all = {0};
        ENSURE(split_read(part, PERFILE_ON_DAMAGE_STOP, &small_limits, &all));
        free(all.at);
        ENSURE(part.len == parts->told[i].bytes);
        data += parts->told[i].records;
        samples += parts->told[i].samples;
        bytes += part.len;
    }
    ENSURE(samples == sum->samples && data <= sum->records && bytes == sum->bytes);
    if (!stopping || sum->damages)
        return;
    ENSURE(split_holds(in, parts, !(how->flags & PERFILE_SPLIT_NO_SIDEBAND), &small_limits));
    if (other || errors_of(in) != 0)
        return;
    for (size_t i = 0; i < parts->n; i++)
        ENSURE(errors_of(perfile_sink_bytes(parts->sinks[i])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t chosen = choose(&c, 2);
    perfile_split_options how = {.size = sizeof how,
                                 .by = PERFILE_SPLIT_EVERY + (uint32_t)(chosen & 7),
                                 .flags = (uint32_t)(chosen >> 3 & 3) % 3,
                                 .amount = amounts[chosen >> 5 & 7]};
    perfile_split_capture_options writing = {.size = sizeof writing, .limits = &small_limits};
    writing.on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 8 & 3);
    writing.form = (uint32_t)(chosen >> 10 & 1) * PERFILE_FORM_PIPE;
    bool pipe = chosen >> 11 & 1;
    uint8_t *block = malloc(c.left ? c.left : 1);
    split_parts parts = {0};
    perfile_split_summary sum = {0};
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes in = {block, c.left};
    if (split(in, pipe, &how, &writing, &parts, &sum) == PERFILE_OK)
        look_at(in, &how, writing.on_damage == PERFILE_ON_DAMAGE_STOP, writing.form != 0, &parts,
                &sum);
    split_parts_clear(&parts);
    free(block);
    return 0;
}
