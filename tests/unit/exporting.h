/* Captures made for tests of exports, and their export to memory. */
#ifndef TEST_EXPORTING_H
#define TEST_EXPORTING_H

#include <stdio.h>

#include "builder.h"
#include "core/layout.h"
#include "owned.h"
#include "perfile/perfile.h"

#define CHAIN_TYPE                                                                                 \
    (PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_PERIOD |        \
     PERFILE_SAMPLE_CALLCHAIN)

enum { USER = 2, KERNEL = 1, SAMPLE_ID_ALL = 1 << 18, FREQ = 1 << 10 };
#define KERNEL_TEXT UINT64_C(0xffffffff81000000)

/* The beginning of a pipe: its header, and an event. */
static inline void begin(builder *b, uint64_t sample_type, uint64_t period, uint64_t flags)
{
    build_u64(b, 0x32454c4946524550);
    build_u64(b, 16);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &(build_attr_plan){.type = 1,
                                     .size = 64,
                                     .period = period,
                                     .sample_type = sample_type,
                                     .flags = SAMPLE_ID_ALL | flags});
    build_u64(b, 7);
    build_end(b, start);
}

/* The trailer of other records, and their end. */
static inline void end(builder *b, size_t start, uint32_t pid, uint32_t tid, uint64_t time)
{
    build_u32(b, pid);
    build_u32(b, tid);
    build_u64(b, time);
    build_end(b, start);
}

static inline void put_comm(builder *b, uint32_t pid, const char *name, bool exec, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, exec ? PERFILE_MISC_COMM_EXEC : 0);
    build_u32(b, pid);
    build_u32(b, pid);
    build_text(b, name);
    end(b, start, pid, pid, time);
}

static inline void put_fork(builder *b, uint32_t pid, uint32_t ppid, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_FORK, 0);
    build_u32(b, pid);
    build_u32(b, ppid);
    build_u32(b, pid);
    build_u32(b, ppid);
    build_u64(b, time);
    end(b, start, pid, pid, time);
}

static inline void put_mmap(builder *b, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
                            const char *name, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_MMAP, pid == PERFILE_NO_PID ? KERNEL : USER);
    build_u32(b, pid);
    build_u32(b, pid);
    build_u64(b, addr);
    build_u64(b, len);
    build_u64(b, pgoff);
    build_text(b, name);
    end(b, start, pid, pid, time);
}

/* A sample of CHAIN_TYPE with a chain of `n` entries. */
static inline void put_sample(builder *b, uint16_t mode, uint32_t pid, uint64_t time, uint64_t ip,
                              const uint64_t *chain, size_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, mode);
    build_u64(b, ip);
    build_u32(b, pid);
    build_u32(b, pid);
    build_u64(b, time);
    build_u64(b, 10);
    build_u64(b, n);
    for (size_t i = 0; i < n; i++)
        build_u64(b, chain[i]);
    build_end(b, start);
}

/* Opens the capture with a model of all of it. */
static inline perfile_status open_capture(perfile_bytes bytes, const perfile_limits *limits,
                                          perfile_stream **stream, const perfile_model **model)
{
    perfile_source *source;
    perfile_open_options how = {.size = sizeof how, .limits = limits};
    perfile_filter_options all = {.size = sizeof all};
    perfile_open_filtered_options reading = {.size = sizeof reading, .how = &how, .model = true};
    perfile_error err;
    perfile_status st = perfile_source_memory(bytes, "made", &source, &err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open_filtered(source, &all, &reading, stream, model, &err);
    return closed_unless_ok(source, st);
}

/* Exports `n` captures to `text` (of `size` bytes); the status of the first thing that fails. */
static inline perfile_status export_to(const char *form, const builder *captures, size_t n,
                                       const perfile_export_options *options,
                                       const perfile_limits *limits, char *text, size_t size,
                                       perfile_export_summary *sum)
{
    perfile_sink *sink;
    perfile_emitter *e = NULL;
    perfile_error err = {0};
    perfile_status st = perfile_sink_memory("out", &sink, &err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        perfile_stream *s = NULL;
        const perfile_model *model;
        const perfile_record *r;
        st = open_capture(built(&captures[i]), limits, &s, &model);
        perfile_emit_options how = {.size = sizeof how, .exporting = options};
        if (st == PERFILE_OK) {
            how.model = model;
            st = e ? perfile_emitter_continue(e, s, model, &err)
                   : perfile_emitter_open(form, s, sink, &how, &e, &err);
        }
        while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
            st = perfile_emitter_put(e, r, &err);
        if (st == PERFILE_END)
            st = perfile_emitter_continue(e, NULL, NULL, &err);
        else if (e)
            (void)!perfile_emitter_continue(e, NULL, NULL, NULL);
        perfile_stream_close(s);
    }
    if (st == PERFILE_OK)
        st = perfile_emitter_finish(e, &err);
    if (e && sum)
        perfile_emitter_get_summary(e, sum, sizeof *sum);
    perfile_bytes out = perfile_sink_bytes(sink);
    snprintf(text, size, "%.*s", (int)out.len, (const char *)out.ptr);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    return st;
}

#define CHAIN(...)                                                                                 \
    (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

#endif
