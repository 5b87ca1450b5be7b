/* Small captures of every form, made in memory. */
#ifndef TESTS_CAPTURES_H
#define TESTS_CAPTURES_H

#include <zstd.h>

#include "instances.h"

enum {
    CAPTURE_FILE, /* header, two events with ids, features */
    CAPTURE_PIPE,
    CAPTURE_FILE_ZSTD, /* COMPRESSED, records across them */
    CAPTURE_PIPE_ZSTD, /* COMPRESSED2 */
    CAPTURE_KILLED,    /* data size 0, no features */
    CAPTURE_SPLIT,     /* simpleperf's records in pieces */
    CAPTURE_RECORDS,   /* a record of every row */
    CAPTURE_FEATURES,  /* a feature of every row */
    CAPTURE_FORMS
};

static const char *const capture_names[CAPTURE_FORMS] = {
    "file", "pipe", "file-zstd", "pipe-zstd", "killed", "split", "records", "features"};

enum {
    CAPTURE_SAMPLE_TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                          PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD | PERFILE_SAMPLE_IDENTIFIER
};

static inline build_attr_plan capture_plan(unsigned event)
{
    return (build_attr_plan){.type = 1,
                             .size = event ? 136 : 112,
                             .config = event,
                             .period = 1000,
                             .sample_type = CAPTURE_SAMPLE_TYPE |
                                            (event ? (unsigned)PERFILE_SAMPLE_CALLCHAIN : 0),
                             .read_format = PERFILE_FORMAT_ID,
                             .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL |
                                      (uint64_t)2 << PERFILE_ATTR_BIT_PRECISE_IP};
}

static inline void capture_trailer(builder *b, uint32_t n)
{
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 5000 + 10 * (uint64_t)n);
    build_u32(b, n % 2);
    build_u32(b, 0);
    build_u64(b, 70 + n % 2);
}

/* Sample number `n` of an event, up to its call chain, if the event has them. */
static inline size_t capture_sample_begin(builder *b, uint32_t event, uint32_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 70 + event);
    build_u64(b, 0x401000 + n);
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 5000 + 10 * (uint64_t)n);
    build_u32(b, n % 2);
    build_u32(b, 0);
    build_u64(b, 1000);
    return start;
}

static inline void capture_sample(builder *b, uint32_t n)
{
    size_t start = capture_sample_begin(b, n % 2, n);
    if (n % 2) {
        build_u64(b, 3);
        build_u64(b, (uint64_t)-512);
        build_u64(b, 0x401000 + n);
        build_u64(b, 0x402000);
    }
    build_end(b, start);
}

/* What a recording of a short program has: `n` samples among it. */
static inline void capture_stream(builder *b, uint32_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 1U << 13);
    build_u32(b, 100);
    build_u32(b, 101);
    build_text(b, "work");
    capture_trailer(b, 0);
    build_end(b, start);
    start = build_begin(b, PERFILE_RECORD_MMAP2, 2);
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 0x400000);
    build_u64(b, 0x3000);
    build_u64(b, 0);
    build_u32(b, 8);
    build_u32(b, 1);
    build_u64(b, 1234);
    build_u64(b, 0);
    build_u32(b, 5);
    build_u32(b, 2);
    build_text(b, "/usr/bin/work");
    capture_trailer(b, 0);
    build_end(b, start);
    for (uint32_t i = 0; i < n; i++)
        capture_sample(b, i);
    start = build_begin(b, PERFILE_RECORD_EXIT, 0);
    for (int i = 0; i < 4; i++)
        build_u32(b, 100);
    build_u64(b, 5000 + 10 * (uint64_t)n);
    capture_trailer(b, n);
    build_end(b, start);
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}

/* Header of the file form; the sections of data and features come later. */
static inline void capture_header(builder *b)
{
    const size_t entry = 136 + 16;
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 104);
    build_u64(b, entry);
    build_u64(b, 104 + 16);
    build_u64(b, 2 * entry);
    build_zeros(b, 104 - b->b.len);
    build_u64(b, 70);
    build_u64(b, 71);
    for (unsigned i = 0; i < 2; i++) {
        build_attr_plan plan = capture_plan(i);
        build_attr(b, &plan);
        build_zeros(b, 136 - plan.size);
        build_u64(b, 104 + 8 * (uint64_t)i);
        build_u64(b, 8);
    }
    build_u64_at(b, 40, b->b.len);
}

static inline void capture_data_end(builder *b)
{
    uint64_t start = pf_load_u64(b->b.ptr + 40, b->swap);
    build_u64_at(b, 48, b->b.len - start);
}

/* Puts features behind the data: those of `rows`, ascending. */
static inline void capture_features(builder *b, const pf_row *const *rows, size_t n, dice *d)
{
    build_attr_plan plan = capture_plan(0);
    perfile_session *s = roll_session(&plan, b->swap, 2);
    size_t table = b->b.len;
    uint64_t bitmap[4] = {0};
    build_zeros(b, 16 * n);
    for (size_t i = 0; i < n; i++) {
        builder payload = {.swap = b->swap};
        if (rows[i]->number == PERFILE_FEATURE_NRCPUS) {
            build_u32(&payload, 2);
            build_u32(&payload, 2);
        } else if (rows[i]->number <= PERFILE_FEATURE_CMDLINE &&
                   rows[i]->number >= PERFILE_FEATURE_HOSTNAME &&
                   rows[i]->number != PERFILE_FEATURE_TOTAL_MEM) {
            if (rows[i]->number == PERFILE_FEATURE_CMDLINE)
                build_u32(&payload, 1);
            build_string(&payload, "perf");
        } else {
            do
                if (!roll_feature(d, rows[i], s, &payload))
                    abort();
            while (payload.b.len > 200);
        }
        build_u64_at(b, table + 16 * i, b->b.len);
        build_u64_at(b, table + 16 * i + 8, payload.b.len);
        build_bytes(b, payload.b.ptr, payload.b.len);
        bitmap[rows[i]->number / 64] |= (uint64_t)1 << rows[i]->number % 64;
        build_clear(&payload);
    }
    for (unsigned i = 0; i < 4; i++)
        build_u64_at(b, 72 + 8 * i, bitmap[i]);
    pf_session_free(s);
}

/* The attr of an event, as pipes have it. */
static inline void capture_attr(builder *b, unsigned event)
{
    build_attr_plan plan = capture_plan(event);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &plan);
    build_u64(b, 70 + event);
    build_end(b, start);
}

static inline void capture_pipe_header(builder *b, unsigned events)
{
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 16);
    for (unsigned i = 0; i < events; i++)
        capture_attr(b, i);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_FEATURE, 0);
    build_u64(b, PERFILE_FEATURE_HOSTNAME);
    build_string(b, "host");
    build_end(b, start);
    start = build_begin(b, PERFILE_RECORD_EVENT_UPDATE, 0);
    build_u64(b, 2);
    build_u64(b, 71);
    build_text(b, "walks");
    build_end(b, start);
    start = build_begin(b, PERFILE_RECORD_AUXTRACE, 0);
    build_u64(b, 24);
    build_zeros(b, 32);
    build_end(b, start);
    build_bytes(b, "bytes after the record.", 24);
}

/* `records` as one zstd stream, flushed after every `piece` bytes into a record of its own. */
static inline void capture_zstd(builder *b, uint32_t type, perfile_bytes records, size_t piece)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t cap = ZSTD_compressBound(piece) + 100;
    void *out = malloc(cap);
    if (!c || !out)
        abort();
    for (size_t at = 0; at < records.len; at += piece) {
        size_t n = records.len - at < piece ? records.len - at : piece;
        ZSTD_inBuffer in = {records.ptr + at, n, 0};
        ZSTD_outBuffer to = {out, cap, 0};
        if (ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush) != 0)
            abort();
        size_t start = build_begin(b, type, 0);
        if (type == PERFILE_RECORD_COMPRESSED2)
            build_u64(b, to.pos);
        build_bytes(b, out, to.pos);
        if (type == PERFILE_RECORD_COMPRESSED2)
            build_zeros(b, (8 - to.pos % 8) % 8);
        build_end(b, start);
    }
    free(out);
    ZSTD_freeCCtx(c);
}

/* A record in pieces, as simpleperf writes one above 64 KiB. */
static inline void capture_split(builder *b)
{
    builder whole = {.swap = b->swap};
    capture_sample(&whole, 0);
    for (size_t at = 0; at < whole.b.len; at += 24) {
        size_t n = whole.b.len - at < 24 ? whole.b.len - at : 24;
        /* Misc holds the upper half of the size. */
        build_u32(b, PERFILE_RECORD_SIMPLEPERF_SPLIT);
        build_u16(b, 0);
        build_u16(b, (uint16_t)(n + 8));
        build_bytes(b, whole.b.ptr + at, n);
    }
    build_end(b, build_begin(b, PERFILE_RECORD_SIMPLEPERF_SPLIT_END, 0));
    build_clear(&whole);
}

/* One record of every row, but for those that begin or carry others. */
static inline void capture_rows(builder *b, dice *d)
{
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    build_attr_plan plan = capture_plan(0);
    perfile_session *s = roll_session(&plan, b->swap, 0);
    for (size_t i = 0; i < n; i++) {
        builder body = {.swap = b->swap};
        uint16_t misc = 0;
        bool apart = rows[i].number >= PERFILE_RECORD_SIMPLEPERF ||
                     rows[i].number == PERFILE_RECORD_AUXTRACE ||
                     rows[i].number == PERFILE_RECORD_HEADER_TRACING_DATA ||
                     rows[i].number == PERFILE_RECORD_HEADER_ATTR ||
                     rows[i].number == PERFILE_RECORD_COMPRESSED ||
                     rows[i].number == PERFILE_RECORD_COMPRESSED2;
        if (!apart) {
            for (unsigned k = 0; k < 50 && roll_record(d, &rows[i], s, &misc, &body); k++)
                if (body.b.len <= (size_t)rows[i].fixed + 64)
                    break;
            build_record(b, rows[i].number, misc, built(&body));
        }
        build_clear(&body);
    }
    pf_session_free(s);
}

/* A capture of that form with `samples` samples, in the other byte order with `swap`. */
static inline void capture_make(builder *b, unsigned form, bool swap, uint32_t samples)
{
    static const uint32_t few[] = {PERFILE_FEATURE_HOSTNAME, PERFILE_FEATURE_OSRELEASE,
                                   PERFILE_FEATURE_NRCPUS, PERFILE_FEATURE_CMDLINE,
                                   PERFILE_FEATURE_EVENT_DESC};
    const pf_row *rows[PERFILE_N_FEATURES];
    size_t n = 0;
    dice d = {form + 1};
    *b = (builder){.swap = swap};
    builder inner = {.swap = swap};
    for (; n < sizeof few / sizeof few[0]; n++)
        rows[n] = pf_feature_row(few[n]);
    switch (form) {
    case CAPTURE_PIPE:
        capture_pipe_header(b, 2);
        capture_stream(b, samples);
        break;
    case CAPTURE_PIPE_ZSTD:
        capture_pipe_header(b, 2);
        capture_stream(&inner, samples);
        capture_zstd(b, PERFILE_RECORD_COMPRESSED2, built(&inner), 301);
        build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
        break;
    case CAPTURE_RECORDS:
        /* Of one event, so that any id will do. */
        capture_pipe_header(b, 1);
        capture_rows(b, &d);
        break;
    default:
        capture_header(b);
        if (form == CAPTURE_FILE_ZSTD) {
            capture_stream(&inner, samples);
            capture_zstd(b, PERFILE_RECORD_COMPRESSED, built(&inner), 301);
            build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
        } else {
            capture_stream(b, samples);
        }
        if (form == CAPTURE_SPLIT)
            capture_split(b);
        if (form == CAPTURE_KILLED)
            break;
        capture_data_end(b);
        if (form == CAPTURE_FEATURES) {
            const pf_row *all = pf_feature_rows(&n);
            for (size_t i = 0; i < n; i++)
                rows[i] = &all[i];
        }
        capture_features(b, rows, n, &d);
    }
    build_clear(&inner);
}

#endif
