/* Any bytes, recovered: the output is a complete capture that is read without damage and breaks no
 * rule of severity error, and all its samples can be decoded. */
#include <string.h>

#include "ensure.h"
#include "perfile/perfile.h"
#include "tests/owned.h"

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static uint64_t lost;

static void on_gap(void *user, const perfile_gap *gap, const char *name)
{
    (void)user, (void)name;
    if (!gap->inner)
        lost += gap->bytes;
}

static void on_finding(void *user, const perfile_finding *f)
{
    (void)user;
    ENSURE(f->severity != PERFILE_SEVERITY_ERROR);
}

static void read_result(perfile_bytes bytes, const perfile_recover_summary *sum)
{
    static const perfile_visitor nobody = {
        .size = sizeof nobody, .value = ignore_value, .begin = ignore_value, .end = ignore_end};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_stream_summary got;
    uint64_t records = 0;
    ENSURE(perfile_source_memory(bytes, "result", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_open(source, NULL, &s, NULL) == PERFILE_OK);
    perfile_check_options how = {.size = sizeof how, .finding = on_finding};
    ENSURE(perfile_check(s, &how, &s, NULL) == PERFILE_OK);
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        records += !(r->flags & PERFILE_REC_INNER);
        if (r->type == PERFILE_RECORD_SAMPLE)
            ENSURE(perfile_record_walk(r, PERFILE_WALK_ALL, &nobody, NULL, NULL) == PERFILE_OK);
    }
    ENSURE(st == PERFILE_END);
    perfile_stream_get_summary(s, &got, sizeof got);
    ENSURE(got.damages == 0);
    ENSURE(records == sum->records && got.bytes == sum->bytes);
    perfile_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perfile_limits limits = {.size = sizeof limits,
                             .inflate_bytes = 1 << 20,
                             .zstd_window = 21,
                             .split_bytes = 1 << 20,
                             .session_bytes = 16 << 20};
    perfile_recover_options how = {.size = sizeof how, .limits = &limits, .gap = on_gap};
    perfile_recover_summary sum;
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink;
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    lost = 0;
    ENSURE(perfile_source_memory((perfile_bytes){block, size}, "input", &source, NULL) ==
           PERFILE_OK);
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    perfile_status st = closed_unless_ok(
        source, perfile_recover_capture(source, sink, &how, &sum, sizeof sum, &err));
    ENSURE(sum.lost == lost && lost <= size);
    if (st == PERFILE_OK)
        read_result(perfile_sink_bytes(sink), &sum);
    else
        ENSURE(st < 0 && err.where && err.message[0]);
    perfile_sink_close(sink);
    free(block);
    return 0;
}
