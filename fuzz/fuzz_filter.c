/* Any bytes, filtered.  The output opens, its records are a subset of the input in the same order,
 * their number is the reported one, and filtering again changes nothing. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"
#include "tests/owned.h"

enum { MOST = 1 << 16, N_TERMS = 16 };

/* Terms from LASTING on select the same records from their own output. */
enum { LASTING = 3 };
static const perfile_filter_term terms[N_TERMS] = {
    {.kind = PERFILE_FILTER_BY_TIME, .text = "20%..70%"},
    {.kind = PERFILE_FILTER_BY_TIME, .text = "+1ns..+100ns"},
    {.kind = PERFILE_FILTER_BY_TIME, .text = "1970-01-01..2030-01-01T10:00"},
    {.kind = PERFILE_FILTER_BY_TIME, .text = "5us..0.0000051"},
    {.kind = PERFILE_FILTER_BY_PID, .text = "0..5,100"},
    {.kind = PERFILE_FILTER_BY_TID, .text = "..101"},
    {.kind = PERFILE_FILTER_BY_CPU, .text = "0-3,7"},
    {.kind = PERFILE_FILTER_BY_TYPE, .text = "SAMPLE,COMM,3..12,71"},
    {.kind = PERFILE_FILTER_BY_IP, .text = "0x401000..0x401010"},
    {.kind = PERFILE_FILTER_BY_EVENT, .text = "0"},
    {.kind = PERFILE_FILTER_BY_EVENT, .text = "*"},
    {.kind = PERFILE_FILTER_BY_COMM, .text = "*"},
    {.kind = PERFILE_FILTER_BY_DSO, .text = "*"},
    {.kind = PERFILE_FILTER_BY_CGROUP, .text = "*"},
    {.kind = PERFILE_FILTER_BY_WHERE, .text = "period > 5 || comm ~ 'a*' || any(callchain, . > 7)"},
    {.kind = PERFILE_FILTER_BY_WHERE, .text = "pid != 0"},
};

typedef struct records {
    uint64_t hashes[MOST];
    size_t n;
    uint64_t samples;
    bool whole; /* all records are in `at` */
} records;

/* Not counted are facts, which may become sections, and fragments and joined records. */
static bool counts(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF &&
           !(r->flags & (PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_ENVELOPE)) && r->extra.len == 0 &&
           (r->type < PERFILE_RECORD_USER || r->type == PERFILE_RECORD_FINISHED_ROUND);
}

static void read_all(perfile_bytes bytes, records *all)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options how = {.size = sizeof how, .limits = &small_limits};
    all->n = 0;
    all->samples = 0;
    all->whole = false;
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return;
    }
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK && all->n < MOST) {
        if (!counts(r))
            continue;
        uint64_t hash = r->type + ((uint64_t)r->misc << 32);
        for (size_t i = 0; i < r->body.len; i++)
            hash = (hash ^ r->body.ptr[i]) * UINT64_C(0x100000001b3);
        all->hashes[all->n++] = hash;
        all->samples += r->type == PERFILE_RECORD_SAMPLE;
    }
    all->whole = st == PERFILE_END;
    perfile_stream_close(s);
}

static perfile_status filter(perfile_bytes in, bool pipe, const perfile_filter_options *how,
                             const perfile_filter_capture_options *writing, perfile_sink *sink,
                             perfile_filter_summary *sum)
{
    perfile_source_options options = {.size = sizeof options, .limits = &small_limits};
    perfile_source *source;
    dripping d = {.bytes = in, .most = 300, .state = in.len};
    if (pipe)
        ENSURE(dripping_open(&d, false, &options, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    return closed_unless_ok(source, perfile_filter_capture(source, sink, how, writing, sum,
                                                           sizeof *sum, NULL, 0, NULL));
}

static void compare(perfile_bytes in, perfile_bytes out, const perfile_filter_options *how,
                    const perfile_filter_capture_options *writing,
                    const perfile_filter_summary *sum, bool lasting)
{
    static records one, other;
    read_all(out, &other);
    ENSURE(other.whole && other.samples <= sum->kept_samples);
    if (writing->drop || writing->on_damage != PERFILE_ON_DAMAGE_STOP)
        return;
    read_all(in, &one);
    size_t at = 0;
    for (size_t i = 0; i < other.n; i++, at++) {
        while (at < one.n && one.hashes[at] != other.hashes[i])
            at++;
        ENSURE(at < one.n);
    }
    if (!lasting || sum->all_sideband)
        return;
    perfile_sink *sink;
    perfile_filter_summary again;
    size_t n = other.n;
    ENSURE(perfile_sink_memory("again", &sink, NULL) == PERFILE_OK);
    if (filter(out, false, how, writing, sink, &again) == PERFILE_OK) {
        read_all(perfile_sink_bytes(sink), &other);
        ENSURE(other.n == n);
    }
    perfile_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t chosen = choose(&c, 3);
    uint32_t first = chosen & 15, second = chosen >> 4 & 15;
    const perfile_filter_term two[2] = {terms[first], terms[second]};
    perfile_filter_options how = {.size = sizeof how,
                                  .flags = (uint32_t)(chosen >> 8 & 3),
                                  .n_terms = (uint32_t)(chosen >> 10 & 3) % 3,
                                  .terms = two};
    if (chosen >> 12 & 1)
        how.flags |= PERFILE_FILTER_COMPACT_SIDEBAND;
    if (chosen >> 13 & 1)
        how.every = 3;
    if (chosen >> 14 & 1)
        how.head = 4;
    perfile_filter_capture_options writing = {.size = sizeof writing, .limits = &small_limits};
    writing.on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 15 & 3);
    writing.form = (uint32_t)(chosen >> 17 & 1) * PERFILE_FORM_PIPE;
    if (chosen >> 18 & 1)
        writing.drop = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_RAW | PERFILE_SAMPLE_CPU;
    bool pipe = chosen >> 19 & 1;
    bool lasting = !how.every && !how.head && !(how.flags & PERFILE_FILTER_INVERT) &&
                   (how.n_terms < 1 || first >= LASTING) && (how.n_terms < 2 || second >= LASTING);
    uint8_t *block = malloc(c.left ? c.left : 1);
    perfile_sink *sink;
    perfile_filter_summary sum = {0};
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes in = {block, c.left};
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    if (filter(in, pipe, &how, &writing, sink, &sum) == PERFILE_OK) {
        ENSURE(sum.kept <= sum.records && sum.kept_samples <= sum.samples);
        compare(in, perfile_sink_bytes(sink), &how, &writing, &sum, lasting);
    }
    perfile_sink_close(sink);
    free(block);
    return 0;
}
