/* A capture that is made by the writer: two events, features, samples in rounds. */
#ifndef TESTS_WRITTEN_H
#define TESTS_WRITTEN_H

#include <string.h>

#include "base/byte_order.h"
#include "perfile/perfile.h"

enum {
    WRITTEN_ROUND = 50, /* samples of a round */
    WRITTEN_TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                   PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD | PERFILE_SAMPLE_IDENTIFIER
};

static inline perfile_bytes written_text(const char *t)
{
    return (perfile_bytes){(const uint8_t *)t, strlen(t)};
}

static inline perfile_attr written_attr(unsigned event)
{
    return (perfile_attr){.type = 1,
                          .config = event,
                          .is_period = true,
                          .sample_period = 1000 + event,
                          .sample_type = WRITTEN_TYPE | (event ? PERFILE_SAMPLE_CALLCHAIN : 0),
                          .read_format = PERFILE_FORMAT_ID,
                          .flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL,
                          .config2 = event ? 5 : 0};
}

static inline perfile_status written_events(perfile_writer *w, perfile_error *err)
{
    static const uint64_t ids[2][2] = {{70, 72}, {71, 73}};
    static const char *const names[2] = {"first", "second"};
    perfile_status st = PERFILE_OK;
    for (unsigned i = 0; i < 2 && st == PERFILE_OK; i++) {
        perfile_attr a = written_attr(i);
        uint32_t index;
        perfile_new_event e = {.size = sizeof e,
                               .attr = &a,
                               .ids = ids[i],
                               .n_ids = 2,
                               .name = names[i],
                               .unit = i ? "joules" : NULL,
                               .scale = i ? 0.25 : 0};
        st = perfile_writer_add_event(w, &e, &index, err);
    }
    return st;
}

static inline perfile_status written_features(perfile_writer *w, perfile_error *err)
{
    perfile_nrcpus cpus = {.nr_cpus_avail = 2, .nr_cpus_online = 1};
    perfile_header_build_id id = {.has_pid = true,
                                  .pid = -1,
                                  .build_id = written_text("abcdefghijklmnopqrst"),
                                  .filename = written_text("/usr/bin/work")};
    perfile_build_id_entry entry = {.misc = 2, .id = id};
    perfile_build_ids ids = {.build_ids = perfile_build_id_entry_list(&entry, 1, sizeof entry)};
    perfile_clock_data clock = {
        .version = 1, .clockid = 1, .wall_clock_ns = 77, .clockid_time_ns = 5};
    perfile_status st = perfile_writer_text(w, PERFILE_FEATURE_HOSTNAME, "host", err);
    if (st == PERFILE_OK)
        st = perfile_writer_set_nrcpus(w, &cpus, sizeof cpus, err);
    if (st == PERFILE_OK)
        st = perfile_writer_set_clock_data(w, &clock, sizeof clock, err);
    return st == PERFILE_OK ? perfile_writer_set_build_ids(w, &ids, sizeof ids, err) : st;
}

/* Sample number `i`; every third is of the second event, with a chain. */
static inline perfile_status written_sample(perfile_writer *w, uint32_t i, uint32_t part,
                                            perfile_error *err)
{
    const uint64_t chain[2] = {0x400000 + i, 0x500000};
    perfile_put_options how = {.size = sizeof how, .event = i % 3 == 2, .misc = 2, .part = part};
    perfile_sample s = {.ip = 0x400000 + i,
                        .pid = 100,
                        .tid = 100 + i % 2,
                        .time = 5000 + 10 * (uint64_t)i,
                        .cpu = i % 2,
                        .period = 1 + i};
    if (how.event)
        s.callchain = perfile_words_u64(chain, 2);
    return perfile_writer_put_sample(w, &s, sizeof s, &how, err);
}

static inline perfile_status written_records(perfile_writer *w, uint32_t n, bool directory,
                                             perfile_error *err)
{
    perfile_put_options how = {.size = sizeof how, .pid = 100, .tid = 100, .time = 4000, .cpu = 1};
    perfile_comm comm = {.pid = 100, .tid = 100, .comm = written_text("work")};
    perfile_status st = perfile_writer_put_comm(w, &comm, sizeof comm, &how, err);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        st = written_sample(w, i, directory ? 1 + i % 2 : 0, err);
        if (st == PERFILE_OK && i % WRITTEN_ROUND == WRITTEN_ROUND - 1)
            st = perfile_writer_round(w, err);
    }
    return st;
}

/* All of it, with `n` samples. */
static inline perfile_status written(perfile_sink *sink, const perfile_writer_options *o,
                                     uint32_t n, perfile_error *err)
{
    perfile_writer *w = NULL;
    perfile_status st = perfile_writer_open(sink, o, &w, err);
    if (st == PERFILE_OK)
        st = written_events(w, err);
    if (st == PERFILE_OK)
        st = written_features(w, err);
    if (st == PERFILE_OK)
        st = written_records(w, n, o->directory, err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(w, err);
    perfile_writer_close(w);
    return st;
}

#define OTHER_BYTE_ORDER (PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG)

/* Every way of writing that there is. */
static const perfile_writer_options written_ways[] = {
    {.form = PERFILE_FORM_FILE},
    {.form = PERFILE_FORM_FILE, .byte_order = OTHER_BYTE_ORDER, .attr_size = 128},
    {.form = PERFILE_FORM_FILE, .compress_level = 1},
    {.form = PERFILE_FORM_FILE,
     .compress_level = 5,
     .compressed2 = true,
     .byte_order = OTHER_BYTE_ORDER},
    {.form = PERFILE_FORM_FILE, .progressive = true},
    {.form = PERFILE_FORM_FILE, .progressive = true, .compress_level = 3},
    {.form = PERFILE_FORM_PIPE},
    {.form = PERFILE_FORM_PIPE, .byte_order = OTHER_BYTE_ORDER, .attr_size = 144},
    {.form = PERFILE_FORM_PIPE, .compress_level = 3, .progressive = true},
    {.form = PERFILE_FORM_FILE, .directory = true},
    {.form = PERFILE_FORM_FILE, .directory = true, .compress_level = 2},
    {.form = PERFILE_FORM_FILE, .directory = true, .byte_order = OTHER_BYTE_ORDER},
};
enum { WRITTEN_WAYS = sizeof written_ways / sizeof written_ways[0] };

static inline perfile_writer_options written_way(unsigned i)
{
    perfile_writer_options o = written_ways[i];
    o.size = sizeof o;
    return o;
}

/* A sink for a way: a file or directory of that name. */
static inline perfile_status written_sink(const perfile_writer_options *o, const char *path,
                                          perfile_sink **sink, perfile_error *err)
{
    return o->directory ? perfile_sink_directory(path, NULL, sink, err)
                        : perfile_sink_path(path, NULL, sink, err);
}

#endif
