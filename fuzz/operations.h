/* Operations that a program applies to a capture: one call for each, from a source to a sink.  For
 * targets that vary where the bytes come from and go to, and which call fails. */
#ifndef FUZZ_OPERATIONS_H
#define FUZZ_OPERATIONS_H

#include <stdlib.h>

#include "limits.h"
#include "perfile/perfile.h"
#include "tests/owned.h"
#include "archive/command.h"

enum {
    OPERATION_DUMP, /* as JSON Lines, through the checker */
    OPERATION_MODEL,
    OPERATION_CONVERT,
    OPERATION_FILTER,
    OPERATION_SORT,
    OPERATION_SPLIT, /* to files named `pattern` */
    OPERATION_RECOVER,
    OPERATION_MERGE,   /* of this capture alone: to one file, by time */
    OPERATION_ARCHIVE, /* pack, check, list, repair; the sink gets the unpacked capture */
    OPERATIONS
};

typedef struct operation {
    unsigned what;       /* OPERATION_… */
    unsigned variant;    /* of this operation */
    uint32_t on_damage;  /* PERFILE_ON_DAMAGE_STOP … */
    const char *pattern; /* for SPLIT */
} operation;

/* Returns true for operations that write a capture to the sink when they succeed. */
static inline bool operation_writes(unsigned what)
{
    return what == OPERATION_CONVERT || what == OPERATION_FILTER || what == OPERATION_SORT ||
           what == OPERATION_RECOVER || what == OPERATION_MERGE || what == OPERATION_ARCHIVE;
}

static inline perfile_open_options operation_reading(const operation *o)
{
    return (perfile_open_options){.size = sizeof(perfile_open_options),
                                  .limits = &small_limits,
                                  .deliver = o->variant & 1 ? PERFILE_DELIVER_DAMAGE : 0,
                                  .on_damage = o->on_damage};
}

static inline perfile_status operate_dump(const operation *o, perfile_stream *s, perfile_sink *sink,
                                          perfile_error *err)
{
    static const char *const forms[] = {"jsonl", "text", "cbor", "text"};
    perfile_check_options check = {.size = sizeof check};
    perfile_emitter *e = NULL;
    const perfile_record *r;
    perfile_status st = PERFILE_OK;
    if (o->variant & 8)
        st = perfile_check(s, &check, &s, err);
    if (st == PERFILE_OK)
        st = perfile_emitter_open(forms[o->variant >> 1 & 3], s, sink, NULL, &e, err);
    if (st == PERFILE_OK)
        st = perfile_emitter_begin(e, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, err)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, err);
    if (st == PERFILE_END)
        st = perfile_emitter_finish(e, err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(sink, err);
    perfile_emitter_close(e);
    perfile_stream_close(s);
    return st;
}

static inline perfile_status operate_model(perfile_stream *s, perfile_sink *sink,
                                           perfile_error *err)
{
    perfile_model *m = NULL;
    const perfile_record *r;
    const perfile_thread *threads;
    const perfile_process *processes;
    const perfile_mapping *mappings;
    size_t n[3] = {0};
    perfile_status st = perfile_model_open(perfile_stream_session(s), &m, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, err)) == PERFILE_OK)
        st = perfile_model_feed(m, r, err);
    if (st == PERFILE_END)
        st = perfile_model_threads(m, &threads, &n[0], err);
    if (st == PERFILE_OK)
        st = perfile_model_processes(m, &processes, &n[1], err);
    if (st == PERFILE_OK)
        st = perfile_model_mappings(m, &mappings, &n[2], err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(sink, (perfile_bytes){(const uint8_t *)n, sizeof n}, err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(sink, err);
    perfile_model_close(m);
    perfile_stream_close(s);
    return st;
}

static inline perfile_status operate_sort(const operation *o, perfile_stream *s, perfile_sink *sink,
                                          perfile_error *err)
{
    perfile_sort_options how = {.size = sizeof how, .max_memory = PERFILE_SORT_LEAST_MEMORY};
    perfile_writer_options writing = {.size = sizeof writing, .as_stored = true};
    perfile_copy_options copying = {.size = sizeof copying, .flags = PERFILE_COPY_FORCE};
    perfile_writer *w = NULL;
    writing.form = o->variant & 2 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    writing.compress_level = o->variant & 4 ? 1 : 0;
    writing.byte_order = perfile_session_byte_order(perfile_stream_session(s));
    perfile_status st = perfile_sort(s, &how, &s, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, &writing, &w, err);
    if (st == PERFILE_OK)
        st = perfile_copy(s, w, &copying, NULL, 0, err);
    perfile_writer_close(w);
    perfile_stream_close(s);
    return st;
}

static inline perfile_status operate_convert(const operation *o, perfile_source *source,
                                             perfile_sink *sink, perfile_error *err)
{
    static const char *const targets[] = {NULL, NULL, "perf-6.1", "perf-4.19"};
    perfile_convert_options how = {.size = sizeof how,
                                   .form = o->variant % 3,
                                   .byte_order = (o->variant >> 2) % 3,
                                   .target = targets[o->variant >> 4 & 3],
                                   .limits = &small_limits};
    how.flags = o->on_damage > PERFILE_ON_DAMAGE_STOP ? PERFILE_CONVERT_FORCE : 0;
    how.flags |= o->variant & 64 ? PERFILE_CONVERT_COMPRESS : 0;
    how.flags |= (o->variant & 192) == 128 ? PERFILE_CONVERT_DECOMPRESS : 0;
    how.flags |= o->variant % 7 == 0 ? PERFILE_CONVERT_SCRUB : 0;
    return closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, err));
}

static inline perfile_status operate_filter(const operation *o, perfile_source *source,
                                            perfile_sink *sink, perfile_error *err)
{
    static const perfile_filter_term terms[] = {
        {.kind = PERFILE_FILTER_BY_TIME, .text = "10%..80%"},
        {.kind = PERFILE_FILTER_BY_PID, .text = "100"},
        {.kind = PERFILE_FILTER_BY_COMM, .text = "w*"},
        {.kind = PERFILE_FILTER_BY_DSO, .text = "work"},
        {.kind = PERFILE_FILTER_BY_WHERE, .text = "period > 1"},
        {.kind = PERFILE_FILTER_BY_TYPE, .text = "SAMPLE,MMAP2"},
        {.kind = PERFILE_FILTER_BY_CPU, .text = "0"},
        {.kind = PERFILE_FILTER_BY_IP, .text = "0x400000..0x401001"}};
    perfile_filter_options how = {.size = sizeof how,
                                  .flags = o->variant >> 3 & 15,
                                  .n_terms = 1,
                                  .terms = &terms[o->variant & 7]};
    perfile_filter_capture_options writing = {
        .size = sizeof writing, .on_damage = o->on_damage, .limits = &small_limits};
    return closed_unless_ok(
        source, perfile_filter_capture(source, sink, &how, &writing, NULL, 0, NULL, 0, err));
}

static inline perfile_status operate_split(const operation *o, perfile_source *source,
                                           perfile_error *err)
{
    perfile_split_options how = {.size = sizeof how,
                                 .by = PERFILE_SPLIT_EVERY + o->variant % 8,
                                 .flags = (o->variant >> 3) % 2,
                                 .amount = 1 + (o->variant >> 4) * 37,
                                 .pattern = o->pattern};
    perfile_split_capture_options writing = {
        .size = sizeof writing, .on_damage = o->on_damage, .limits = &small_limits};
    return closed_unless_ok(source, perfile_split_capture(source, &how, &writing, NULL, 0, err));
}

static inline perfile_status operate_merge(const operation *o, perfile_source *source,
                                           perfile_sink *sink, perfile_error *err)
{
    perfile_merge_source in = {.source = source, .name = "input"};
    perfile_merge_options how = {.size = sizeof how, .flags = o->variant & 31};
    perfile_merge_captures_options writing = {.size = sizeof writing,
                                              .merge = &how,
                                              .form = (o->variant >> 5) % 3,
                                              .on_damage = o->on_damage,
                                              .max_memory = PERFILE_SORT_LEAST_MEMORY,
                                              .limits = &small_limits};
    return closed_unless_ok(source, perfile_merge_captures(&in, 1, sink, &writing, NULL, 0, err));
}

static inline void operation_found(void *user, const perfile_archive_finding *f)
{
    (void)user, (void)f;
}

/* Packs a capture unchanged into memory; *below is the archive. */
static inline perfile_status operate_pack(const operation *o, perfile_source *source,
                                          perfile_sink **below, perfile_error *err)
{
    const perfile_archive_options how = {
        .size = sizeof how, .id = 1, .level = 1, .chunk_records = o->variant & 15};
    const perfile_convert_options as_is = {
        .size = sizeof as_is, .on_damage = PERFILE_ON_DAMAGE_COPY, .limits = &small_limits};
    perfile_sink *memory = NULL, *sink = NULL;
    perfile_status st = perfile_sink_memory("archive", &memory, err);
    if (st == PERFILE_OK)
        st = perfile_archive_sink(memory, &how, &sink, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(memory);
        perfile_source_close(source);
        return st;
    }
    st = closed_unless_ok(source, perfile_convert_capture(source, sink, &as_is, NULL, 0, err));
    /* The archive outlives the sink that packed it. */
    if (st == PERFILE_OK)
        st = perfile_sink_memory("archive", below, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(*below, perfile_sink_bytes(memory), err);
    perfile_sink_close(sink);
    return st;
}

/* Reads and verifies all of an archive, and repairs it to `repaired`. */
static inline perfile_status operate_look(perfile_bytes bytes, perfile_sink *repaired,
                                          perfile_error *err)
{
    perfile_archive_repaired sum;
    pf_archive_chunk chunk;
    perfile_archive_capture capture;
    const pf_archive_column *columns;
    perfile_archive *a = NULL;
    perfile_source *source = NULL;
    uint32_t n;
    perfile_status st = perfile_source_memory(bytes, "archive", &source, err);
    if (st == PERFILE_OK)
        st = perfile_archive_open(source, &a, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = pf_archive_verify(a, operation_found, NULL, err);
    if (st == PERFILE_OK)
        st = perfile_archive_capture_at(a, 1, &capture, sizeof capture, err);
    for (uint32_t i = 0; st == PERFILE_OK; i++) {
        st = pf_archive_chunk_at(a, i, &chunk, sizeof chunk, err);
        if (st != PERFILE_OK)
            break;
        st = pf_archive_columns(a, i, NULL, &columns, &n, err);
        st = st == PERFILE_END ? PERFILE_OK : st;
    }
    if (st == PERFILE_END)
        st = pf_archive_repair(a, repaired, operation_found, NULL, &sum, sizeof sum, err);
    perfile_archive_close(a);
    return st;
}

static inline perfile_status operate_archive(const operation *o, perfile_source *source,
                                             perfile_sink *sink, perfile_error *err)
{
    const perfile_convert_options as_is = {
        .size = sizeof as_is, .on_damage = PERFILE_ON_DAMAGE_COPY, .limits = &small_limits};
    perfile_sink *packed = NULL, *repaired = NULL;
    perfile_status st = operate_pack(o, source, &packed, err);
    if (st == PERFILE_OK)
        st = perfile_sink_memory("repaired", &repaired, err);
    if (st == PERFILE_OK)
        st = operate_look(perfile_sink_bytes(packed), repaired, err);
    if (st == PERFILE_OK)
        st = perfile_source_memory(perfile_sink_bytes(repaired), "archive", &source, err);
    if (st == PERFILE_OK)
        st = closed_unless_ok(source, perfile_convert_capture(source, sink, &as_is, NULL, 0, err));
    perfile_sink_close(packed);
    perfile_sink_close(repaired);
    return st;
}

/* Always closes `source`; the caller keeps `sink`. */
static inline perfile_status operate(const operation *o, perfile_source *source, perfile_sink *sink,
                                     perfile_error *err)
{
    perfile_recover_options recovering = {.size = sizeof recovering, .limits = &small_limits};
    perfile_open_options reading = operation_reading(o);
    perfile_stream *s;
    switch (o->what) {
    case OPERATION_CONVERT:
        return operate_convert(o, source, sink, err);
    case OPERATION_FILTER:
        return operate_filter(o, source, sink, err);
    case OPERATION_SPLIT:
        return operate_split(o, source, err);
    case OPERATION_RECOVER:
        return closed_unless_ok(source,
                                perfile_recover_capture(source, sink, &recovering, NULL, 0, err));
    case OPERATION_ARCHIVE:
        return operate_archive(o, source, sink, err);
    case OPERATION_MERGE:
        return operate_merge(o, source, sink, err);
    default:
        break;
    }
    perfile_status st = perfile_open(source, &reading, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    if (o->what == OPERATION_DUMP)
        return operate_dump(o, s, sink, err);
    return o->what == OPERATION_SORT ? operate_sort(o, s, sink, err) : operate_model(s, sink, err);
}

#endif
