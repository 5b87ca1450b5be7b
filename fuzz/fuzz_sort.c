/* Any bytes, sorted: every record that can be read comes out once, and none is earlier than the one
 * before; who takes samples as bytes gets the same. */
#include <string.h>

#include "../tests/sorted.h"
#include "core/stream.h"
#include "ensure.h"
#include "limits.h"
#include "schema/frame.h"

static perfile_stream *open_bytes(perfile_bytes bytes, uint32_t on_damage)
{
    perfile_open_options options = {
        .size = sizeof options, .on_damage = on_damage, .limits = &small_limits};
    perfile_source *source;
    perfile_stream *s;
    ENSURE(perfile_source_memory(bytes, "input", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

/* A hash over the bytes of all records; with `turn` samples are asked for as bytes in between, and
 * not always taken. */
static perfile_status hash_all(perfile_stream *s, uint32_t turn, uint64_t *hash)
{
    const perfile_record *first;
    perfile_status st;
    size_t n;
    while ((st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK) {
        for (const perfile_record *r = first; r < first + n; r++)
            if (r->family == PERFILE_FAMILY_PERF)
                *hash = sorted_hash(sorted_hash(*hash, r->header, PF_PERF_RECORD_HEADER),
                                    r->body.ptr, r->body.len);
        while (turn && (turn = turn * 69069 + 1) >> 29 && s->ops->span) {
            const pf_sample_span all = s->ops->span(s, turn >> 31 ? UINT64_MAX : 1 + (turn >> 27));
            if (all.n == 0 || turn >> 30 == 1)
                break;
            *hash = sorted_hash(*hash, all.bytes.ptr, all.bytes.len);
            (s->ops->skip)(s, all.n, all.bytes.len);
        }
    }
    return st;
}

static void expect_same_bytes(perfile_bytes bytes, uint32_t on_damage, uint32_t turn)
{
    uint64_t hash[2] = {0};
    perfile_status st[2];
    for (uint32_t i = 0; i < 2; i++) {
        perfile_stream *s = open_bytes(bytes, on_damage);
        if (!s)
            return;
        ENSURE(perfile_sort(s, NULL, &s, NULL) == PERFILE_OK);
        st[i] = hash_all(s, i ? turn | 1 : 0, &hash[i]);
        perfile_stream_close(s);
    }
    ENSURE(st[0] == st[1] && hash[0] == hash[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    uint32_t on_damage = PERFILE_ON_DAMAGE_STOP + (size ? data[size - 1] % 3U : 0);
    perfile_bytes bytes = {block, size};
    sorted_bag in = {0}, out = {0};
    /* Pieces whose event is described behind them have the time that was known when they came. */
    sorted_state state = {.no_wholes = true};
    perfile_sort_options options = {.size = sizeof options,
                                    .max_memory = PERFILE_SORT_LEAST_MEMORY};
    perfile_stream *s = open_bytes(bytes, on_damage);
    perfile_status plain = s ? sorted_read(s, &in, NULL) : PERFILE_END;
    perfile_stream_close(s);
    s = open_bytes(bytes, on_damage);
    if (s) {
        ENSURE(perfile_sort(s, &options, &s, NULL) == PERFILE_OK);
        perfile_status st = sorted_read(s, &out, &state);
        ENSURE(st == plain);
        if (st == PERFILE_END) {
            ENSURE(state.steps_back == 0);
            ENSURE(memcmp(&in, &out, sizeof in) == 0);
        }
        perfile_stream_close(s);
    }
    expect_same_bytes(bytes, on_damage, size ? data[size - 1] * 16777619U : 1);
    free(block);
    return 0;
}
