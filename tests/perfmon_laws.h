/* What holds for any bytes that are read as a perfmon buffer, whatever is wrong with them.  Records
 * are found by a walk of its own, which shares nothing with the library's. */
#ifndef TESTS_PERFMON_LAWS_H
#define TESTS_PERFMON_LAWS_H

#include <stdlib.h>
#include <string.h>

#include "fuzz/ensure.h"
#include "fuzz/limits.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"
#include "tests/owned.h"

enum { PERFMON_LAWS_HEADER = 24, PERFMON_LAWS_MOST_BRANCHES = 32 };

static inline uint64_t perfmon_number(perfile_bytes b, size_t at, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)b.ptr[at + i] << 8 * i;
    return v;
}

/* Bytes of the record at `at`, of which `left` are there; 0: there is none. */
static inline size_t perfmon_record(perfile_bytes b, size_t at, size_t left)
{
    static const size_t sizes[] = {0, 12, 4, 12, 12, 20, 16};
    if (left < 4 || b.ptr[at] == 0 || b.ptr[at] > 6)
        return 0;
    size_t n = sizes[b.ptr[at]];
    if (b.ptr[at] == 6) {
        if (left < 8 || perfmon_number(b, at + 4, 4) > PERFMON_LAWS_MOST_BRANCHES)
            return 0;
        n += 24 * (size_t)perfmon_number(b, at + 4, 4);
    }
    return n <= left ? n : 0;
}

/* What is known of a buffer without the library. */
typedef struct perfmon_facts {
    bool header, reads, converts;
    bool full;
    size_t records, data, samples, branches, counts;
    uint64_t counted; /* the sum of all COUNT records */
} perfmon_facts;

static inline perfmon_facts perfmon_look(perfile_bytes b)
{
    perfmon_facts f = {.header = b.len >= PERFMON_LAWS_HEADER};
    if (!f.header)
        return f;
    const uint64_t end = perfmon_number(b, 16, 8);
    f.reads = perfmon_number(b, 0, 2) == 0 && end >= PERFMON_LAWS_HEADER;
    f.converts = f.reads && (int64_t)perfmon_number(b, 8, 8) > 0;
    f.full = perfmon_number(b, 4, 4) & 1;
    const size_t stop = !f.reads ? PERFMON_LAWS_HEADER : end < b.len ? (size_t)end : b.len;
    for (size_t at = PERFMON_LAWS_HEADER, n; (n = perfmon_record(b, at, stop - at)) != 0; at += n) {
        const bool state = b.ptr[at] == 1 && perfmon_number(b, at + 2, 2) == 0;
        f.records++;
        f.data += !state;
        f.branches += b.ptr[at] == 6;
        f.counts += b.ptr[at] == 3;
        f.counted += b.ptr[at] == 3 ? perfmon_number(b, at + 4, 8) : 0;
        f.samples += !state && b.ptr[at] != 6;
    }
    return f;
}

/* What the library reads. */
typedef struct perfmon_read {
    size_t records, data;
    uint64_t hash;     /* of the data records in their order, with their times */
    uint64_t sum;      /* the same in any order */
    uint64_t first[4]; /* offset, size, type and event of the last record */
    bool sorted, sound;
} perfmon_read;

static inline uint64_t perfmon_mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline void perfmon_add(perfmon_read *x, const perfile_record *r, uint64_t *last)
{
    uint64_t h = perfmon_mix(r->type, r->misc);
    ENSURE(r->family == PERFILE_FAMILY_PERFMON && r->header);
    x->records++;
    const bool timed = r->flags & PERFILE_REC_TIMED;
    if (timed) {
        x->sorted &= r->time >= *last;
        *last = r->time;
    }
    if (perfile_record_stored_type(r) == 1 && r->misc == 0)
        return;
    x->data++;
    h = perfmon_mix(h, timed ? r->time : 1);
    for (size_t i = 0; i < r->body.len; i++)
        h = perfmon_mix(h, r->body.ptr[i]);
    x->hash = perfmon_mix(x->hash, h);
    x->sum += h;
}

/* Reads all of it; false if it cannot be opened.  `most`: bytes at a time through a pipe, 0:
 * memory. */
static inline bool perfmon_read_all(perfile_bytes b, uint32_t policy, size_t most, perfmon_read *x)
{
    const perfile_open_options how = {
        .size = sizeof how, .from = "perfmon", .on_damage = policy, .limits = &small_limits};
    const perfile_source_options options = {.size = sizeof options, .limits = &small_limits};
    perfile_source *source;
    perfile_stream *s;
    perfile_stream_summary sum;
    const perfile_record *r;
    dripping d = {.bytes = b, .most = most, .state = most};
    uint64_t last = 0;
    *x = (perfmon_read){.sorted = true};
    if (most)
        ENSURE(dripping_open(&d, false, &options, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(b, "buffer", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        if (most == 0) {
            const size_t size = perfmon_record(b, (size_t)r->offset, b.len - (size_t)r->offset);
            ENSURE(size && size == perfile_record_size(r));
            ENSURE(memcmp(r->header, b.ptr + r->offset, size) == 0);
        }
        perfmon_add(x, r, &last);
    }
    ENSURE(st == PERFILE_END);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    x->sound = sum.damages == 0;
    perfile_stream_close(s);
    return true;
}

/* A source of the bytes, and a sink in memory. */
static inline perfile_source *perfmon_source(perfile_bytes b)
{
    perfile_source *source;
    ENSURE(perfile_source_memory(b, "buffer", &source, NULL) == PERFILE_OK);
    return source;
}

static inline perfile_sink *perfmon_sink(void)
{
    perfile_sink *sink;
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    return sink;
}

static inline void perfmon_finding(void *user, const perfile_finding *f)
{
    *(uint64_t *)user += f->severity == PERFILE_SEVERITY_ERROR;
}

/* The converted capture: whole, in order of time, and with as many samples as there have to be. */
static inline void perfmon_check_converted(perfile_bytes out, const perfmon_facts *f, bool pipe)
{
    uint64_t errors = 0, last = 0;
    size_t samples = 0, lost = 0, rounds = 0;
    const perfile_record *r;
    perfile_stream *s;
    perfile_stream_summary sum;
    const perfile_open_options how = {.size = sizeof how, .limits = &small_limits};
    const perfile_check_options check = {
        .size = sizeof check, .finding = perfmon_finding, .user = &errors};
    ENSURE(perfile_open(perfmon_source(out), &how, &s, NULL) == PERFILE_OK);
    ENSURE(perfile_stream_container(s)->form == (pipe ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE));
    ENSURE(perfile_check(s, &check, &s, NULL) == PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        perfile_sample v;
        lost += r->type == PERFILE_RECORD_LOST;
        rounds += r->type == PERFILE_RECORD_FINISHED_ROUND;
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        samples++;
        ENSURE(perfile_sample_decode(r, &v, sizeof v, NULL) == PERFILE_OK && !v.has_extra);
        ENSURE(v.time >= last && v.time && perfile_record_event(r));
        last = v.time;
    }
    perfile_stream_get_summary(s, &sum, sizeof sum);
    ENSURE(sum.damages == 0 && errors == 0);
    ENSURE(samples >= f->samples && samples <= f->samples + f->branches);
    ENSURE(lost == f->full && rounds == 1);
    perfile_stream_close(s);
}

static inline void perfmon_convert(perfile_bytes b, const perfmon_facts *f, uint32_t form,
                                   uint64_t chosen)
{
    const perfile_perfmon_options perfmon = {.size = sizeof perfmon,
                                             .layout = (uint32_t)(chosen % 3)};
    const perfile_convert_options how = {.size = sizeof how,
                                         .from = "perfmon",
                                         .format = "perf.data",
                                         .form = form,
                                         .flags = PERFILE_CONVERT_FORCE,
                                         .on_damage = PERFILE_ON_DAMAGE_STOP,
                                         .limits = &small_limits,
                                         .perfmon = &perfmon};
    perfile_sink *sink = perfmon_sink();
    perfile_source *source = perfmon_source(b);
    perfile_status st =
        closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, NULL));
    ENSURE(f->converts ? st == PERFILE_OK || st == PERFILE_E_LIMIT : st < 0);
    if (st == PERFILE_OK)
        perfmon_check_converted(perfile_sink_bytes(sink), f, form == PERFILE_FORM_PIPE);
    perfile_sink_close(sink);
}

/* As perf stat would have counted: refused if there is anything but counts; else their sum. */
static inline void perfmon_count(perfile_bytes b, const perfmon_facts *f, uint64_t chosen)
{
    const perfile_perfmon_options perfmon = {.size = sizeof perfmon, .flags = PERFILE_PERFMON_STAT};
    const perfile_convert_options how = {.size = sizeof how,
                                         .from = "perfmon",
                                         .format = "perf.data",
                                         .form = chosen & 1 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
                                         .flags = PERFILE_CONVERT_FORCE,
                                         .on_damage = PERFILE_ON_DAMAGE_STOP,
                                         .limits = &small_limits,
                                         .perfmon = &perfmon};
    uint64_t sum = 0, errors = 0, rounds = 0;
    const perfile_record *r;
    perfile_stream *s;
    perfile_sink *sink = perfmon_sink();
    perfile_source *source = perfmon_source(b);
    perfile_status st =
        closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, NULL));
    ENSURE(f->converts && f->counts == f->data ? st != PERFILE_E_CORRUPT : st < 0);
    if (st == PERFILE_OK) {
        const perfile_check_options check = {
            .size = sizeof check, .finding = perfmon_finding, .user = &errors};
        ENSURE(perfile_open(perfmon_source(perfile_sink_bytes(sink)), NULL, &s, NULL) ==
               PERFILE_OK);
        ENSURE(perfile_check(s, &check, &s, NULL) == PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
            perfile_stat v;
            rounds += r->type == PERFILE_RECORD_STAT_ROUND;
            if (r->type != PERFILE_RECORD_STAT)
                continue;
            ENSURE(perfile_stat_decode(r, &v, sizeof v, NULL) == PERFILE_OK);
            sum += v.val;
        }
        ENSURE(sum == f->counted && errors == 0 && rounds == 1);
        perfile_stream_close(s);
    }
    perfile_sink_close(sink);
}

/* Written again without what is damaged, sorted, filtered, merged with nothing, recovered: each is
 * a buffer without damage, with the data records that it has to have. */
static inline void perfmon_rewrite(perfile_bytes b, const perfmon_facts *f,
                                   const perfmon_read *read)
{
    perfmon_read x;
    perfile_stream *s;
    perfile_writer *w;
    perfile_sink *sink = perfmon_sink();
    const perfile_convert_options how = {.size = sizeof how,
                                         .from = "perfmon",
                                         .on_damage = PERFILE_ON_DAMAGE_STOP,
                                         .flags = PERFILE_CONVERT_FORCE,
                                         .limits = &small_limits};
    perfile_source *source = perfmon_source(b);
    perfile_status st =
        closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, NULL));
    ENSURE(f->header ? st == PERFILE_OK : st < 0);
    if (st == PERFILE_OK && f->reads) {
        ENSURE(perfmon_read_all(perfile_sink_bytes(sink), PERFILE_ON_DAMAGE_STOP, 0, &x));
        ENSURE(x.records == read->records && x.hash == read->hash);
    }
    perfile_sink_close(sink);

    if (f->header) {
        const perfile_open_options open = {
            .size = sizeof open, .from = "perfmon", .limits = &small_limits};
        const perfile_writer_options writing = {.size = sizeof writing, .format = "perfmon"};
        const perfile_copy_options copying = {.size = sizeof copying, .flags = PERFILE_COPY_FORCE};
        const perfile_sort_options sorting = {.size = sizeof sorting,
                                              .max_memory = PERFILE_SORT_LEAST_MEMORY};
        sink = perfmon_sink();
        ENSURE(perfile_open(perfmon_source(b), &open, &s, NULL) == PERFILE_OK);
        ENSURE(perfile_sort(s, &sorting, &s, NULL) == PERFILE_OK);
        ENSURE(perfile_writer_open(sink, &writing, &w, NULL) == PERFILE_OK);
        ENSURE(perfile_copy(s, w, &copying, NULL, 0, NULL) == PERFILE_OK);
        perfile_writer_close(w);
        perfile_stream_close(s);
        ENSURE(perfmon_read_all(perfile_sink_bytes(sink), PERFILE_ON_DAMAGE_STOP, 0, &x));
        ENSURE(x.sorted && x.data == read->data && x.sum == read->sum);
        perfile_sink_close(sink);
    }

    const perfile_recover_options recovering = {
        .size = sizeof recovering, .from = "perfmon", .limits = &small_limits};
    sink = perfmon_sink();
    source = perfmon_source(b);
    st =
        closed_unless_ok(source, perfile_recover_capture(source, sink, &recovering, NULL, 0, NULL));
    ENSURE(st == PERFILE_OK || !read->records || !f->reads);
    if (st == PERFILE_OK) {
        ENSURE(perfmon_read_all(perfile_sink_bytes(sink), PERFILE_ON_DAMAGE_STOP, 0, &x));
        ENSURE(x.data >= read->data);
    }
    perfile_sink_close(sink);
}

/* The data records of a type, with the times that they had. */
static inline void perfmon_filter(perfile_bytes b, const perfmon_facts *f, uint64_t chosen)
{
    static const char *const texts[] = {"PC", "COUNT,VALUE", "TICK", "LAST_BRANCH", "TIME"};
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TYPE, .text = texts[chosen % 5]};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    const perfile_filter_capture_options writing = {.size = sizeof writing,
                                                    .from = "perfmon",
                                                    .on_damage = PERFILE_ON_DAMAGE_STOP,
                                                    .limits = &small_limits};
    perfmon_read x;
    perfile_sink *sink = perfmon_sink();
    perfile_source *source = perfmon_source(b);
    perfile_status st = closed_unless_ok(
        source, perfile_filter_capture(source, sink, &how, &writing, NULL, 0, NULL, 0, NULL));
    /* A frequency that makes no sense is copied. */
    if (st == PERFILE_OK)
        ENSURE(perfmon_read_all(perfile_sink_bytes(sink), PERFILE_ON_DAMAGE_STOP, 0, &x) &&
               (x.sound || !f->converts));
    perfile_sink_close(sink);
}

/* All forms of dump, with validation. */
static inline void perfmon_dump(perfile_bytes b, uint64_t chosen)
{
    static const char *const forms[] = {"jsonl", "text", "cbor", "tsv"};
    const perfile_open_options open = {.size = sizeof open,
                                       .from = "perfmon",
                                       .deliver = PERFILE_DELIVER_DAMAGE,
                                       .on_damage = (uint32_t)(1 + chosen / 4 % 3),
                                       .limits = &small_limits};
    const perfile_emit_options how = {.size = sizeof how,
                                      .flags = chosen & 16 ? PERFILE_EMIT_HEX : 0,
                                      .fields = chosen % 4 == 3 ? "time,type,misc,cpu,perfmon_pc.pc"
                                                                : NULL};
    const perfile_check_options check = {.size = sizeof check};
    perfile_sink *sink = perfmon_sink();
    perfile_emitter *e;
    perfile_stream *s;
    const perfile_record *r;
    perfile_source *source = perfmon_source(b);
    if (perfile_open(source, &open, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
    } else {
        ENSURE(perfile_check(s, &check, &s, NULL) == PERFILE_OK);
        ENSURE(perfile_emitter_open(forms[chosen % 4], s, sink, &how, &e, NULL) == PERFILE_OK);
        ENSURE(perfile_emitter_begin(e, NULL) == PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            ENSURE(perfile_emitter_put(e, r, NULL) == PERFILE_OK);
        ENSURE(perfile_emitter_finish(e, NULL) == PERFILE_OK);
        perfile_emitter_close(e);
        perfile_stream_close(s);
    }
    perfile_sink_close(sink);
}

/* The same records from a pipe, and behind damage at least those in front of it. */
static inline void perfmon_pieces(perfile_bytes b, const perfmon_facts *f, const perfmon_read *stop,
                                  uint64_t chosen)
{
    perfmon_read piped, on, on_piped;
    const size_t most = 1 + chosen % 900;
    ENSURE(perfmon_read_all(b, PERFILE_ON_DAMAGE_STOP, most, &piped) == f->header);
    ENSURE(piped.records == stop->records && piped.hash == stop->hash &&
           piped.sound == stop->sound);
    ENSURE(perfmon_read_all(b, PERFILE_ON_DAMAGE_RESYNC, 0, &on) == f->header);
    ENSURE(on.records >= stop->records);
    ENSURE(perfmon_read_all(b, PERFILE_ON_DAMAGE_RESYNC, most, &on_piped) == f->header);
    ENSURE(on.records == on_piped.records && on.hash == on_piped.hash);
}

enum { PERFMON_LAWS = 6 };

/* One of the laws, or with `which` from PERFMON_LAWS on all of them. */
static inline void perfmon_laws(perfile_bytes b, uint64_t chosen, unsigned which)
{
    static const uint8_t archive[8] = {0x89, 'P', 'F', 'C', '\r', '\n', 0x1a, '\n'};
    const perfmon_facts f = perfmon_look(b);
    const bool all = which >= PERFMON_LAWS;
    if (b.len >= sizeof archive && memcmp(b.ptr, archive, sizeof archive) == 0)
        return; /* what is in an archive is looked at, whatever --from says */
    perfmon_read stop;
    ENSURE(perfmon_read_all(b, PERFILE_ON_DAMAGE_STOP, 0, &stop) == f.header);
    ENSURE(stop.records == f.records && stop.data == f.data);
    if (all || which == 0)
        perfmon_pieces(b, &f, &stop, chosen);
    if (all || which == 1)
        perfmon_dump(b, chosen);
    if (all || which == 2)
        perfmon_convert(b, &f, chosen & 1 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE, chosen >> 1);
    if (all || which == 3)
        perfmon_rewrite(b, &f, &stop);
    if (all || which == 4)
        perfmon_filter(b, &f, chosen);
    if (all || which == 5)
        perfmon_count(b, &f, chosen);
}

#endif
