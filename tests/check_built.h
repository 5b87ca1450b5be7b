/* A small pipe stream that breaks no rule, and pieces that break one. */
#ifndef TESTS_CHECK_BUILT_H
#define TESTS_CHECK_BUILT_H

#include "captures.h"

static inline build_attr_plan check_plan(void)
{
    return (build_attr_plan){.type = 1,
                             .size = 128,
                             .period = 1000,
                             .sample_type = CAPTURE_SAMPLE_TYPE,
                             .read_format = PERFILE_FORMAT_ID,
                             .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
}

static inline void check_begin(builder *b, const build_attr_plan *plan)
{
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 16);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, plan);
    build_u64(b, 70);
    build_end(b, start);
}

static inline void check_comm(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, 100);
    build_u32(b, 101);
    build_text(b, "work");
    capture_trailer(b, 0);
    build_end(b, start);
}

/* The capture without the piece: event, name, sample, round. */
static inline void check_good(builder *b)
{
    build_attr_plan plan = check_plan();
    check_begin(b, &plan);
    check_comm(b);
    capture_sample(b, 0);
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}

/* A kernel record with a trailer: `words` words of body. */
static inline void check_words(builder *b, uint32_t type, uint16_t misc, const uint64_t *words,
                               size_t n)
{
    size_t start = build_begin(b, type, misc);
    for (size_t i = 0; i < n; i++)
        build_u64(b, words[i]);
    if (type < PERFILE_RECORD_USER)
        capture_trailer(b, 0);
    build_end(b, start);
}
#define WORDS_OF(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static inline void piece_no_string_end(builder *b)
{
    check_words(b, PERFILE_RECORD_COMM, 0, WORDS_OF(0x6500000064, 0x6161616161616161));
}
/* A name of an event type without NUL, in a place of `words` words. */
static inline void event_type_without_end(builder *b, size_t words)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_EVENT_TYPE, 0);
    build_u64(b, 1);
    for (size_t i = 0; i < words; i++)
        build_u64(b, 0x6161616161616161);
    build_end(b, start);
}
static inline void piece_full_event_type(builder *b)
{
    event_type_without_end(b, 8);
}
static inline void piece_cut_event_type(builder *b)
{
    event_type_without_end(b, 3);
}
static inline void piece_odd_size(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_EVENT_UPDATE, 0);
    build_u64(b, 2);
    build_u64(b, 70);
    build_bytes(b, "cycles", 7);
    build_end(b, start);
}
static inline void piece_lost(builder *b)
{
    check_words(b, PERFILE_RECORD_LOST, 0, WORDS_OF(70, 5));
}
static inline void piece_extra_words(builder *b)
{
    check_words(b, PERFILE_RECORD_LOST, 0, WORDS_OF(70, 0, 9));
}
static inline void piece_short_sample(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 70);
    build_end(b, start);
}
static inline void piece_long_sample(builder *b)
{
    capture_sample(b, 0);
    build_u64(b, 0);
    build_u16_at(b, b->b.len - 8 - 56 + 6, 64);
}
static inline void piece_build_id(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_MMAP2, 2 | PERFILE_MISC_MMAP_BUILD_ID);
    for (uint64_t i = 0; i < 4; i++)
        build_u64(b, i == 0 ? 0x6500000064 : 0x1000 * i);
    build_u8(b, 30);
    build_zeros(b, 23);
    build_u64(b, 5);
    build_text(b, "/bin/x");
    capture_trailer(b, 0);
    build_end(b, start);
}
static inline void piece_text_poke(builder *b)
{
    check_words(b, PERFILE_RECORD_TEXT_POKE, 1, WORDS_OF(0x1000, 0x00ff00ff));
}
static inline void piece_deferred_count(builder *b)
{
    check_words(b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 2, WORDS_OF(7, 1000));
}
static inline void piece_deferred(builder *b)
{
    check_words(b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 2, WORDS_OF(7, 1, 0x401000));
}
static inline void piece_aux_gap(builder *b)
{
    check_words(b, PERFILE_RECORD_AUX, 0, WORDS_OF(0, 0x100, 0));
    check_words(b, PERFILE_RECORD_AUX, 0, WORDS_OF(0x200, 0x100, 0));
}
static inline void piece_time_conv(builder *b)
{
    check_words(b, PERFILE_RECORD_TIME_CONV, 0, WORDS_OF(1, 2, 3, 4, 5));
}
static inline void auxtrace(builder *b, uint64_t size)
{
    check_words(b, PERFILE_RECORD_AUXTRACE, 0, WORDS_OF(size, 0, 1, 0, 0));
}
static inline void piece_auxtrace_cut(builder *b)
{
    auxtrace(b, 400);
}
static inline void piece_auxtrace(builder *b)
{
    auxtrace(b, 8);
    build_u64(b, 0);
}
static inline void piece_auxtrace_error(builder *b)
{
    check_words(b, PERFILE_RECORD_AUXTRACE_ERROR, 0, WORDS_OF(1, 2, 3, 4, 0x6161616161616161));
}
static inline void piece_old_record(builder *b)
{
    for (uint32_t i = 1; i < 4; i++) {
        capture_sample(b, 20 * i);
        build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    capture_sample(b, 2);
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}
static inline void piece_after_round(builder *b)
{
    capture_sample(b, 2);
}
static inline void piece_nested(builder *b)
{
    builder inner = {.swap = b->swap};
    size_t start = build_begin(&inner, PERFILE_RECORD_HEADER_TRACING_DATA, 0);
    build_u64(&inner, 0);
    build_end(&inner, start);
    capture_zstd(b, PERFILE_RECORD_COMPRESSED, built(&inner), 1000);
    build_clear(&inner);
}
static inline void piece_half_inner(builder *b)
{
    builder inner = {.swap = b->swap};
    capture_sample(&inner, 0);
    inner.b.len -= 8;
    capture_zstd(b, PERFILE_RECORD_COMPRESSED, built(&inner), 1000);
    build_clear(&inner);
}
static inline void piece_compressed2(builder *b)
{
    builder inner = {.swap = b->swap};
    capture_sample(&inner, 0);
    size_t at = b->b.len + 8;
    capture_zstd(b, PERFILE_RECORD_COMPRESSED2, built(&inner), 1000);
    build_u64_at(b, at, 60000);
    build_clear(&inner);
}
static inline void piece_compressed(builder *b)
{
    builder inner = {.swap = b->swap};
    capture_sample(&inner, 0);
    capture_zstd(b, PERFILE_RECORD_COMPRESSED, built(&inner), 1000);
    build_clear(&inner);
}
static inline void piece_metadata(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_BPF_METADATA, 0);
    build_zeros(b, 512);
    build_u64(b, 9);
    build_end(b, start);
}
static inline void piece_second_stream(builder *b)
{
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 16);
    check_comm(b);
}
static inline void piece_split(builder *b)
{
    build_u32(b, PERFILE_RECORD_SIMPLEPERF_SPLIT);
    build_u16(b, 0);
    build_u16(b, 16);
    build_u64(b, 1);
}
/* A feature in a record of its own. */
static inline void feature_record(builder *b, uint32_t number, const void *bytes, size_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_FEATURE, 0);
    build_u64(b, number);
    build_bytes(b, bytes, n);
    build_end(b, start);
}
static inline void piece_machine(builder *b)
{
    feature_record(b, PERFILE_FEATURE_ARCH, "\x08\0\0\0aarch64", 12);
    feature_record(b, PERFILE_FEATURE_E_MACHINE, "\x3e\0\0\0\0\0\0\0", 8);
}
static inline void piece_meta(builder *b)
{
    feature_record(b, PERFILE_FEATURE_META_INFO, "alone", 6);
}

/* A stream of another event, whose one sample breaks a rule. */
static inline void whole_event(builder *b, uint64_t sample_type, uint64_t branch)
{
    build_attr_plan plan = check_plan();
    plan.sample_type = sample_type;
    plan.branch = branch;
    check_begin(b, &plan);
}
static inline void whole_without_ids(builder *b)
{
    build_attr_plan plan = check_plan();
    check_begin(b, &plan);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &plan);
    build_end(b, start);
    capture_sample(b, 0);
}
/* Two events whose samples have no id; with `period` 0 they have no samples either. */
static inline void two_events_without_id(builder *b, uint64_t period, uint64_t flags)
{
    build_attr_plan plan = check_plan();
    plan.sample_type = 0;
    plan.period = period;
    plan.flags = flags;
    check_begin(b, &plan);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &plan);
    build_u64(b, 71);
    build_end(b, start);
}
static inline void whole_counted(builder *b)
{
    two_events_without_id(b, 0, 0);
}
static inline void whole_sampled(builder *b)
{
    two_events_without_id(b, 1000, 0);
}
static inline void whole_side_band(builder *b)
{
    two_events_without_id(b, 0, (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL);
}
static inline void whole_two_ids(builder *b)
{
    whole_event(b, PERFILE_SAMPLE_ID | PERFILE_SAMPLE_IDENTIFIER, 0);
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 70);
    build_u64(b, 71);
    build_end(b, start);
}
static inline void whole_raw(builder *b)
{
    whole_event(b, PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_RAW, 0);
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 70);
    build_u32(b, 8);
    build_zeros(b, 12);
    build_end(b, start);
}
static inline void whole_branches(builder *b)
{
    whole_event(b, PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_BRANCH_STACK, 0);
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 70);
    build_u64(b, 1);
    build_u64(b, 0x1000);
    build_u64(b, 0x2000);
    build_u64(b, 3);
    build_end(b, start);
}
/* A file with an AUXTRACE record and an index; `listed`: what the index says. */
static inline void file_auxtrace(builder *b, uint64_t listed)
{
    build_attr_plan plan = check_plan();
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 104);
    build_u64(b, 144);
    build_u64(b, 112);
    build_u64(b, 144);
    build_zeros(b, 104 - b->b.len);
    build_u64(b, 70);
    build_attr(b, &plan);
    build_u64(b, 104);
    build_u64(b, 8);
    build_u64_at(b, 40, b->b.len);
    build_u64(b, 0x0018000000000046); /* AUXTRACE_INFO */
    build_zeros(b, 16);
    uint64_t place = b->b.len;
    piece_auxtrace(b);
    capture_data_end(b);
    build_u64_at(b, 72, UINT64_C(1) << PERFILE_FEATURE_AUXTRACE);
    build_u64(b, b->b.len + 16);
    build_u64(b, 24);
    build_u64(b, 1);
    build_u64(b, listed ? listed : place);
    build_u64(b, 48);
}
static inline void whole_index(builder *b)
{
    file_auxtrace(b, 12345);
}
static inline void whole_index_good(builder *b)
{
    file_auxtrace(b, 0);
}

#endif
