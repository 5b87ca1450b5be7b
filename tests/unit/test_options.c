/* Structs of options that are shorter than those of this library: nothing behind their size is
 * read.  They end where memory ends, so that reading on would be the end of the program.  And for
 * each function that takes such a struct: without a size, or with members that are not known, it
 * does nothing and says so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../captures.h"
#include "../owned.h"
#include "perfile/perfile.h"
#include "filter/command.h"

enum { SHORT = 16 };

/* `size` and 8 bytes of zeros, in front of a page that cannot be read. */
static void *short_options(void)
{
    static uint8_t *end;
    if (!end) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *two =
            mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(two != MAP_FAILED);
        assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
        end = two + page;
    }
    memset(end - SHORT, 0, SHORT);
    size_t size = SHORT;
    memcpy(end - SHORT, &size, sizeof size);
    return end - SHORT;
}

static perfile_bytes capture(void)
{
    static builder b;
    static bool made;
    if (!made)
        capture_make(&b, CAPTURE_FILE, false, 20);
    made = true;
    return built(&b);
}

static perfile_source *source(void)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(capture(), "made", &s, NULL), PERFILE_OK);
    return s;
}

static perfile_stream *opened(void)
{
    perfile_stream *s;
    perfile_error err;
    if (perfile_open(source(), short_options(), &s, &err) != PERFILE_OK)
        fail_msg("%s: %s", err.where, err.message);
    return s;
}

/* Reads a stream to its end. */
static void drain(perfile_stream *s)
{
    const perfile_record *r;
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        ;
    assert_int_equal(st, PERFILE_END);
    perfile_stream_close(s);
}

static void opening(void **state)
{
    (void)state;
    perfile_stream *s;
    perfile_source *file;
    drain(opened());
    FILE *f = fopen("options.data", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(capture().ptr, capture().len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(perfile_open_path("options.data", short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    assert_int_equal(perfile_source_path("options.data", short_options(), &file, NULL), PERFILE_OK);
    perfile_source_close(file);
    /* Limits of an older header, too. */
    perfile_open_options how = {.size = sizeof how, .limits = short_options()};
    assert_int_equal(perfile_open_path("options.data", &how, &s, NULL), PERFILE_OK);
    drain(s);
}

/* Flags of the source are for the function that opens it. */
static void source_flags(void **state)
{
    (void)state;
    const perfile_record *r;
    perfile_stream *s;
    perfile_source *memory;
    perfile_error err;
    FILE *f = fopen("flags.data", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(capture().ptr, capture().len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    perfile_open_options how = {.size = sizeof how, .source_flags = PERFILE_SOURCE_NO_MAP};
    for (unsigned mapped = 0; mapped < 2; mapped++) {
        assert_int_equal(perfile_open_path("flags.data", mapped ? NULL : &how, &s, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        assert_int_equal(r->flags & PERFILE_REC_STABLE, mapped ? PERFILE_REC_STABLE : 0);
        perfile_stream_close(s);
    }
    how.source_flags = 1U << 31;
    assert_int_equal(perfile_open_path("flags.data", &how, &s, &err), PERFILE_E_USAGE);
    how.source_flags = PERFILE_SOURCE_NO_MAP;
    assert_int_equal(perfile_source_memory(capture(), "memory", &memory, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(memory, &how, &s, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "options.source_flags");
    perfile_source_close(memory);
}

/* Policies and byte orders that do not exist are refused wherever they can be given. */
static void numbers_without_meaning(void **state)
{
    (void)state;
    enum { NONE = 77 };
    perfile_stream *s;
    perfile_source *in;
    perfile_sink *out;
    perfile_writer *w;
    perfile_session *session;
    perfile_event_text text;
    const perfile_assume assume = {.size = sizeof assume, .byte_order = NONE};
    const perfile_open_options opened_so[] = {
        {.size = sizeof *opened_so, .on_damage = NONE},
        {.size = sizeof *opened_so, .on_damage = PERFILE_ON_DAMAGE_COPY},
        {.size = sizeof *opened_so, .assume = &assume}};
    for (unsigned i = 0; i < sizeof opened_so / sizeof *opened_so; i++) {
        assert_int_equal(perfile_source_memory(capture(), "memory", &in, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(in, &opened_so[i], &s, NULL), PERFILE_E_USAGE);
        perfile_source_close(in);
    }
    const perfile_session_options sessions = {.size = sizeof sessions, .byte_order = NONE};
    assert_int_equal(perfile_session_open(&sessions, &session, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_memory("memory", &out, NULL), PERFILE_OK);
    const perfile_writer_options writing = {.size = sizeof writing, .byte_order = NONE};
    assert_int_equal(perfile_writer_open(out, &writing, &w, NULL), PERFILE_E_USAGE);
    const perfile_convert_options converting[] = {{.size = sizeof *converting, .byte_order = NONE},
                                                  {.size = sizeof *converting, .on_damage = NONE}};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(perfile_source_memory(capture(), "memory", &in, NULL), PERFILE_OK);
        assert_int_equal(perfile_convert_capture(in, out, &converting[i], NULL, 0, NULL),
                         PERFILE_E_USAGE);
        perfile_source_close(in);
    }
    const perfile_filter_capture_options filtering = {.size = sizeof filtering,
                                                      .on_damage = PERFILE_ON_DAMAGE_COPY};
    assert_int_equal(perfile_source_memory(capture(), "memory", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_capture(in, out, NULL, &filtering, NULL, 0, NULL, 0, NULL),
                     PERFILE_E_USAGE);
    perfile_source_close(in);
    perfile_merge_source merged = {0};
    const perfile_merge_captures_options merging = {.size = sizeof merging, .on_damage = NONE};
    assert_int_equal(perfile_source_memory(capture(), "memory", &merged.source, NULL), PERFILE_OK);
    assert_int_equal(perfile_merge_captures(&merged, 1, out, &merging, NULL, 0, NULL),
                     PERFILE_E_USAGE);
    perfile_source_close(merged.source);
    const perfile_encode_options encoding = {.size = sizeof encoding, .byte_order = NONE};
    const perfile_comm comm = {.pid = 1};
    size_t len;
    assert_int_equal(perfile_comm_encode(&comm, sizeof comm, &encoding, NULL, 0, &len, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_event_parse("cycles", NONE, &text, NULL), PERFILE_E_USAGE);
    s = opened();
    assert_int_equal(perfile_byteswap(s, NONE, NULL, &s, NULL), PERFILE_E_USAGE);
    perfile_stream_close(s);
    perfile_sink_close(out);
}

static void stages(void **state)
{
    (void)state;
    perfile_stream *s = opened();
    assert_int_equal(perfile_check(s, short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    s = opened();
    assert_int_equal(perfile_sort(s, short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    s = opened();
    assert_int_equal(perfile_byteswap(s, PERFILE_BYTE_ORDER_BIG, short_options(), &s, NULL),
                     PERFILE_OK);
    drain(s);
    perfile_filter_state *filter;
    assert_int_equal(perfile_filter_open(short_options(), &filter, NULL), PERFILE_OK);
    perfile_filter_close(filter);
    perfile_expr *e;
    assert_int_equal(perfile_expr_open("cpu == 1", short_options(), &e, NULL), PERFILE_OK);
    perfile_expr_close(e);
}

/* A stage, and a copy, would miss the records that were read already. */
static void stages_after_reading(void **state)
{
    (void)state;
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TYPE, .text = "SAMPLE"};
    const perfile_filter_options o = {.size = sizeof o, .terms = &term, .n_terms = 1};
    const perfile_target_options target = {.size = sizeof target, .version = "4.15"};
    const perfile_record *r;
    perfile_filter_state *filter;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_stream *s = opened(), *out = NULL;
    assert_int_equal(perfile_filter_open(&o, &filter, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, NULL, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter(s, filter, &out, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_filter_learn(filter, s, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_check(s, NULL, &out, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_sort(s, NULL, &out, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_scrub(s, &out, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_target(s, &target, &out, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_byteswap(s, PERFILE_BYTE_ORDER_BIG, NULL, &out, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_copy(s, w, NULL, NULL, 0, NULL), PERFILE_E_USAGE);
    assert_null(out);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    perfile_filter_close(filter);
    drain(s);
}

/* Options may be NULL everywhere. */
static void without_options(void **state)
{
    (void)state;
    perfile_source *source;
    perfile_stream *s;
    const char *root = getenv("PERFILE_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/captures/pipe.data", root ? root : ".");
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open_filtered(source, NULL, NULL, &s, NULL, NULL), PERFILE_OK);
    drain(s);
}

static void writing(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_stream *s = opened();
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, short_options(), &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_copy(s, w, short_options(), NULL, 0, NULL), PERFILE_OK);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    perfile_stream_close(s);

    perfile_emitter *e;
    s = opened();
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_open("jsonl", s, sink, short_options(), &e, NULL), PERFILE_OK);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
}

static void whole_captures(void **state)
{
    (void)state;
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(source(), sink, short_options(), NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_recover_capture(source(), sink, short_options(), NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_capture(source(), sink, short_options(), short_options(), NULL,
                                            0, NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    perfile_merge_source in = {.source = source(), .name = "made"};
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_merge_captures(&in, 1, sink, short_options(), NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    /* Without `by` there is nothing to be done, but that is what is said. */
    perfile_source *unsplit = source();
    assert_int_equal(
        perfile_split_capture(unsplit, short_options(), short_options(), NULL, 0, NULL),
        PERFILE_E_USAGE);
    perfile_source_close(unsplit);
}

/* Gives `o` to the function that takes such a struct. */
typedef perfile_status give(const void *o, perfile_error *err);

static perfile_sink *memory_sink(void)
{
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    return sink;
}

static perfile_status close_all(perfile_status st, perfile_stream *s, perfile_writer *w,
                                perfile_sink *sink)
{
    perfile_stream_close(s);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    return st;
}

static perfile_status give_open_options(const void *o, perfile_error *err)
{
    perfile_stream *s;
    perfile_source *in = source();
    perfile_status st = perfile_open(in, o, &s, err);
    perfile_source_close(in);
    return st;
}

static perfile_status give_assume(const void *o, perfile_error *err)
{
    const perfile_open_options how = {.size = sizeof how, .assume = o};
    return give_open_options(&how, err);
}

static perfile_status give_limits(const void *o, perfile_error *err)
{
    const perfile_open_options how = {.size = sizeof how, .limits = o};
    return give_open_options(&how, err);
}

static perfile_status give_source_options(const void *o, perfile_error *err)
{
    perfile_source *s;
    return perfile_source_path("options.data", o, &s, err);
}

static perfile_status give_source_callbacks(const void *o, perfile_error *err)
{
    perfile_source *s;
    return perfile_source_callback(o, "in", NULL, &s, err);
}

static perfile_status give_sink_options(const void *o, perfile_error *err)
{
    perfile_sink *s;
    return perfile_sink_path("out.data", o, &s, err);
}

static perfile_status give_sink_callbacks(const void *o, perfile_error *err)
{
    perfile_sink *s;
    return perfile_sink_callback(o, "out", &s, err);
}

static perfile_status give_allocator(const void *o, perfile_error *err)
{
    return perfile_set_allocator(o, err);
}

static perfile_status give_check_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened(), *stage;
    return close_all(perfile_check(s, o, &stage, err), s, NULL, NULL);
}

static perfile_status give_sort_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened(), *stage;
    return close_all(perfile_sort(s, o, &stage, err), s, NULL, NULL);
}

static perfile_status give_byteswap_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened(), *stage;
    /* The order that the sample has: options are checked also where nothing is to be done. */
    return close_all(perfile_byteswap(s, PERFILE_BYTE_ORDER_LITTLE, o, &stage, err), s, NULL, NULL);
}

static perfile_status give_target_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened(), *stage;
    return close_all(perfile_target(s, o, &stage, err), s, NULL, NULL);
}

static perfile_status give_merge_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened(), *stage;
    const perfile_merge_input in = {.stream = s, .name = "made"};
    return close_all(perfile_merge(&in, 1, o, &stage, err), s, NULL, NULL);
}

static perfile_status give_filter_options(const void *o, perfile_error *err)
{
    perfile_filter_state *filter;
    return perfile_filter_open(o, &filter, err);
}

static perfile_status give_open_filtered_options(const void *o, perfile_error *err)
{
    perfile_stream *s;
    perfile_source *in = source();
    return closed_unless_ok(in, perfile_open_filtered(in, NULL,
                                                      (perfile_open_filtered_options *)(uintptr_t)o,
                                                      &s, NULL, err));
}

static perfile_status give_filter_capture_options(const void *o, perfile_error *err)
{
    perfile_source *in = source();
    perfile_sink *sink = memory_sink();
    perfile_status st = perfile_filter_capture(in, sink, NULL, o, NULL, 0, NULL, 0, err);
    return close_all(closed_unless_ok(in, st), NULL, NULL, sink);
}

static perfile_status give_merge_captures_options(const void *o, perfile_error *err)
{
    perfile_sink *sink = memory_sink();
    perfile_merge_source in = {.source = source(), .name = "made"};
    perfile_status st = perfile_merge_captures(&in, 1, sink, o, NULL, 0, err);
    return close_all(closed_unless_ok(in.source, st), NULL, NULL, sink);
}

static perfile_status give_split_options(const void *o, perfile_error *err)
{
    perfile_status st = pf_split_check(o, err);
    if (st == PERFILE_OK)
        return st;
    perfile_source *in = source();
    return closed_unless_ok(in, perfile_split_capture(in, o, NULL, NULL, 0, err));
}

static perfile_status give_split_capture_options(const void *o, perfile_error *err)
{
    const perfile_split_options how = {.size = sizeof how, .by = PERFILE_SPLIT_CPU};
    perfile_source *in = source();
    return closed_unless_ok(in, perfile_split_capture(in, &how, o, NULL, 0, err));
}

static perfile_status give_convert_options(const void *o, perfile_error *err)
{
    perfile_sink *sink = memory_sink();
    perfile_source *in = source();
    perfile_status st = perfile_convert_capture(in, sink, o, NULL, 0, err);
    return close_all(closed_unless_ok(in, st), NULL, NULL, sink);
}

static perfile_status give_perfmon_options(const void *o, perfile_error *err)
{
    const perfile_convert_options how = {.size = sizeof how, .perfmon = o};
    return give_convert_options(&how, err);
}

static perfile_status give_recover_options(const void *o, perfile_error *err)
{
    perfile_sink *sink = memory_sink();
    perfile_source *in = source();
    perfile_status st = perfile_recover_capture(in, sink, o, NULL, 0, err);
    return close_all(closed_unless_ok(in, st), NULL, NULL, sink);
}

static perfile_status give_emit_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened();
    perfile_sink *sink = memory_sink();
    perfile_emitter *e;
    return close_all(perfile_emitter_open("jsonl", s, sink, o, &e, err), s, NULL, sink);
}

static perfile_status give_export_options(const void *o, perfile_error *err)
{
    perfile_stream *s = opened();
    perfile_sink *sink = memory_sink();
    perfile_emitter *e;
    const perfile_emit_options emit = {.size = sizeof emit, .exporting = o};
    return close_all(perfile_emitter_open("folded", s, sink, &emit, &e, err), s, NULL, sink);
}

static perfile_status give_writer_options(const void *o, perfile_error *err)
{
    perfile_writer *w;
    perfile_sink *sink = memory_sink();
    return close_all(perfile_writer_open(sink, o, &w, err), NULL, NULL, sink);
}

static perfile_status give_copy_options(const void *o, perfile_error *err)
{
    perfile_writer *w;
    perfile_stream *s = opened();
    perfile_sink *sink = memory_sink();
    assert_int_equal(perfile_writer_open(sink, NULL, &w, NULL), PERFILE_OK);
    return close_all(perfile_copy(s, w, o, NULL, 0, err), s, w, sink);
}

static perfile_status give_new_event(const void *o, perfile_error *err)
{
    perfile_writer *w;
    perfile_sink *sink = memory_sink();
    assert_int_equal(perfile_writer_open(sink, NULL, &w, NULL), PERFILE_OK);
    return close_all(perfile_writer_add_event(w, o, NULL, err), NULL, w, sink);
}

static perfile_status give_archive_options(const void *o, perfile_error *err)
{
    perfile_sink *below = memory_sink(), *sink;
    perfile_status st = perfile_archive_sink(below, o, &sink, err);
    perfile_sink_close(st == PERFILE_OK ? sink : below);
    return st;
}

static perfile_status give_put_options(const void *o, perfile_error *err)
{
    perfile_writer *w;
    perfile_sink *sink = memory_sink();
    const perfile_attr attr = {.size = 64, .sample_type = PERFILE_SAMPLE_IP};
    const perfile_new_event event = {.size = sizeof event, .attr = &attr};
    const perfile_sample sample = {.ip = 1};
    assert_int_equal(perfile_writer_open(sink, NULL, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_add_event(w, &event, NULL, NULL), PERFILE_OK);
    return close_all(perfile_writer_put_sample(w, &sample, sizeof sample, o, err), NULL, w, sink);
}

static perfile_status give_encode_options(const void *o, perfile_error *err)
{
    uint8_t out[256];
    size_t len;
    const perfile_attr attr = {.size = 64};
    return perfile_attr_encode(&attr, sizeof attr, o, out, sizeof out, &len, err);
}

static perfile_status give_expr_options(const void *o, perfile_error *err)
{
    perfile_expr *e;
    return perfile_expr_open("cpu == 1", o, &e, err);
}

static perfile_status give_expr_provider(const void *o, perfile_error *err)
{
    const perfile_expr_options how = {.size = sizeof how, .provider = o};
    return give_expr_options(&how, err);
}

static perfile_status give_session_options(const void *o, perfile_error *err)
{
    perfile_session *s;
    return perfile_session_open(o, &s, err);
}

static perfile_status give_stream_callbacks(const void *o, perfile_error *err)
{
    perfile_stream *s;
    perfile_session *session;
    assert_int_equal(perfile_session_open(NULL, &session, NULL), PERFILE_OK);
    perfile_status st = perfile_stream_callback(o, "made", session, NULL, &s, err);
    perfile_session_close(session);
    return st;
}

static perfile_status give_ring_options(const void *o, perfile_error *err)
{
    perfile_ring *ring;
    return perfile_ring_open(o, &ring, err);
}

static perfile_status give_ring_stream_options(const void *o, perfile_error *err)
{
    perfile_stream *s;
    return perfile_ring_stream(o, &s, err);
}

static perfile_status give_symbols_options(const void *o, perfile_error *err)
{
    perfile_session *session;
    perfile_symbols *symbols;
    assert_int_equal(perfile_session_open(NULL, &session, NULL), PERFILE_OK);
    perfile_status st = perfile_symbols_open(session, o, &symbols, err);
    if (st == PERFILE_OK)
        perfile_symbols_close(symbols);
    perfile_session_close(session);
    return st;
}

static perfile_status give_profile_options(const void *o, perfile_error *err)
{
    perfile_session *session;
    perfile_profile *profile;
    assert_int_equal(perfile_session_open(NULL, &session, NULL), PERFILE_OK);
    perfile_status st = perfile_profile_open(session, NULL, o, &profile, err);
    if (st == PERFILE_OK)
        perfile_profile_close(profile);
    perfile_session_close(session);
    return st;
}

static perfile_status give_table_options(const void *o, perfile_error *err)
{
    struct ArrowArrayStream rows;
    perfile_source *in = source();
    perfile_status st = closed_unless_ok(in, perfile_table_stream(in, "samples", o, &rows, err));
    if (st == PERFILE_OK)
        rows.release(&rows);
    return st;
}

#define GIVEN(name)                                                                                \
    {                                                                                              \
        "perfile_" #name, give_##name                                                              \
    }
static const struct {
    const char *name;
    give *call;
} given[] = {
    GIVEN(open_options),
    GIVEN(assume),
    GIVEN(limits),
    GIVEN(source_options),
    GIVEN(source_callbacks),
    GIVEN(sink_options),
    GIVEN(sink_callbacks),
    GIVEN(allocator),
    GIVEN(check_options),
    GIVEN(sort_options),
    GIVEN(byteswap_options),
    GIVEN(target_options),
    GIVEN(merge_options),
    GIVEN(filter_options),
    GIVEN(open_filtered_options),
    GIVEN(filter_capture_options),
    GIVEN(merge_captures_options),
    GIVEN(split_options),
    GIVEN(split_capture_options),
    GIVEN(convert_options),
    GIVEN(symbols_options),
    GIVEN(profile_options),
    GIVEN(table_options),
    GIVEN(perfmon_options),
    GIVEN(recover_options),
    GIVEN(emit_options),
    GIVEN(export_options),
    GIVEN(writer_options),
    GIVEN(copy_options),
    GIVEN(archive_options),
    GIVEN(new_event),
    GIVEN(put_options),
    GIVEN(encode_options),
    GIVEN(expr_options),
    GIVEN(expr_provider),
    GIVEN(session_options),
    GIVEN(stream_callbacks),
    GIVEN(ring_options),
    GIVEN(ring_stream_options),
};

/* What a program of a later version would say that this library cannot know. */
static const struct {
    size_t size;
    uint8_t members[4096 - sizeof(size_t)];
} later = {sizeof later, {[sizeof later.members - 1] = 1}};

static void sizes_are_asked_for(void **state)
{
    (void)state;
    const size_t none[512] = {0};
    perfile_error err;
    for (unsigned i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i].call(none, &err) != PERFILE_E_USAGE ||
            !strstr(err.message, "not set by sizeof"))
            fail_msg("%s without a size: %s", given[i].name, err.message);
        if (given[i].call(&later, &err) != PERFILE_E_USAGE || !strstr(err.message, "does not know"))
            fail_msg("%s with an unknown member: %s", given[i].name, err.message);
    }
}

/* Flags and reserved words: the last bit of each has no meaning yet. */
#define RESTRICTED(type, member)                                                                   \
    {                                                                                              \
        "perfile_" #type, #member, sizeof(perfile_##type), offsetof(perfile_##type, member),       \
            sizeof(((perfile_##type *)0)->member)                                                  \
    }
static const struct {
    const char *type, *member;
    size_t size, at, bytes;
} restricted[] = {
    RESTRICTED(archive_options, flags),
    RESTRICTED(archive_options, reserved),
    RESTRICTED(limits, reserved),
    RESTRICTED(byteswap_options, reserved),
    RESTRICTED(check_options, flags),
    RESTRICTED(check_options, reserved0),
    RESTRICTED(check_options, reserved),
    RESTRICTED(perfmon_options, flags),
    RESTRICTED(perfmon_options, reserved),
    RESTRICTED(convert_options, flags),
    RESTRICTED(convert_options, reserved0),
    RESTRICTED(convert_options, reserved),
    RESTRICTED(copy_options, flags),
    RESTRICTED(copy_options, reserved0),
    RESTRICTED(copy_options, reserved),
    RESTRICTED(export_options, flags),
    RESTRICTED(export_options, reserved),
    RESTRICTED(emit_options, flags),
    RESTRICTED(emit_options, reserved0),
    RESTRICTED(encode_options, reserved0),
    RESTRICTED(encode_options, reserved1),
    RESTRICTED(encode_options, reserved),
    RESTRICTED(expr_options, flags),
    RESTRICTED(expr_options, reserved0),
    RESTRICTED(expr_options, reserved),
    RESTRICTED(filter_options, flags),
    RESTRICTED(filter_options, reserved),
    RESTRICTED(filter_capture_options, reserved0),
    RESTRICTED(filter_capture_options, reserved),
    RESTRICTED(open_filtered_options, reserved),
    RESTRICTED(session_options, reserved0),
    RESTRICTED(session_options, reserved),
    RESTRICTED(stream_callbacks, reserved),
    RESTRICTED(merge_options, flags),
    RESTRICTED(merge_options, reserved0),
    RESTRICTED(merge_options, reserved),
    RESTRICTED(merge_captures_options, reserved0),
    RESTRICTED(merge_captures_options, reserved),
    RESTRICTED(profile_options, flags),
    RESTRICTED(profile_options, reserved0),
    RESTRICTED(profile_options, reserved),
    RESTRICTED(table_options, flags),
    RESTRICTED(table_options, reserved),
    RESTRICTED(recover_options, reserved),
    RESTRICTED(ring_options, reserved),
    RESTRICTED(ring_stream_options, reserved),
    RESTRICTED(sink_options, flags),
    RESTRICTED(sink_options, reserved0),
    RESTRICTED(sink_options, reserved),
    RESTRICTED(sort_options, flags),
    RESTRICTED(sort_options, reserved),
    RESTRICTED(source_options, flags),
    RESTRICTED(source_options, reserved),
    RESTRICTED(split_options, flags),
    RESTRICTED(split_options, reserved),
    RESTRICTED(split_capture_options, reserved0),
    RESTRICTED(split_capture_options, reserved),
    RESTRICTED(assume, reserved),
    RESTRICTED(open_options, deliver),
    RESTRICTED(open_options, source_flags),
    RESTRICTED(open_options, reserved),
    RESTRICTED(symbols_options, flags),
    RESTRICTED(symbols_options, reserved),
    RESTRICTED(target_options, reserved),
    RESTRICTED(writer_options, sink_flags),
    RESTRICTED(writer_options, reserved),
    RESTRICTED(new_event, reserved),
    RESTRICTED(put_options, reserved0),
    RESTRICTED(put_options, reserved),
};
enum { N_RESTRICTED = sizeof restricted / sizeof restricted[0] };

static give *giver(const char *type)
{
    for (unsigned i = 0; i < sizeof given / sizeof given[0]; i++)
        if (strcmp(type, given[i].name) == 0)
            return given[i].call;
    fail_msg("%s is not given to a function", type);
    return NULL;
}

/* A request of a later version in a place that this one does not read is refused by name. */
static void what_has_no_meaning_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RESTRICTED; i++) {
        size_t room[512] = {restricted[i].size};
        perfile_error err;
        const bool high_byte_is_last = *(const uint8_t *)&(const uint16_t){1} == 1;
        size_t byte = restricted[i].at + (high_byte_is_last ? restricted[i].bytes - 1 : 0);
        assert_true(restricted[i].size <= sizeof room);
        ((uint8_t *)room)[byte] = 0x80;
        perfile_status st = giver(restricted[i].type)(room, &err);
        if (st != PERFILE_E_USAGE || !strstr(err.message, restricted[i].member))
            fail_msg("%s.%s: %d, %s", restricted[i].type, restricted[i].member, st,
                     st < 0 ? err.message : "accepted");
    }
}

/* None is missing: every member of these structs that is called reserved or flags is above. */
static void all_restricted_are_tried(void **state)
{
    (void)state;
    char command[1024], type[128], member[128];
    unsigned n = 0;
    const char *home = getenv("PERFILE_SOURCE");
    assert_non_null(home);
    snprintf(
        command, sizeof command,
        "sed -nE '/^typedef struct perfile_[a-z_0-9]+ \\{/{"
        "s/^typedef struct ([a-z_0-9]+).*/\\1/;h;n;s/^    size_t size;.*/1/;t in\nd};b\n:in\nn;"
        "/^\\}/b\n"
        "/^    uint[0-9]+_t (reserved[0-9]*|[a-z_]*flags|deliver)[[;]/{"
        "s/^    uint[0-9]+_t ([a-z_0-9]+).*/\\1/;G;s/\\n/ /;p};b in' '%s'/include/perfile/*.h",
        home);
    FILE *names = popen(command, "r");
    assert_non_null(names);
    while (fscanf(names, "%127s %127s", member, type) == 2) {
        bool tried = false;
        for (unsigned i = 0; i < N_RESTRICTED; i++)
            tried = tried || (strcmp(type, restricted[i].type) == 0 &&
                              strcmp(member, restricted[i].member) == 0);
        if (!tried)
            fail_msg("%s.%s is not tried", type, member);
        n++;
    }
    assert_int_equal(pclose(names), 0);
    assert_int_equal(n, N_RESTRICTED);
}

/* Elements of arrays have no size; their reserved words count all the same. */
static void items_of_arrays(void **state)
{
    (void)state;
    perfile_error err;
    perfile_stream *s = opened(), *merged;
    const perfile_merge_input input = {.stream = s, .name = "made", .reserved = {1}};
    assert_int_equal(perfile_merge(&input, 1, NULL, &merged, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "merge.inputs");
    perfile_stream_close(s);

    perfile_sink *sink;
    perfile_merge_source from = {.source = source(), .reserved = {1}};
    assert_int_equal(perfile_sink_memory(NULL, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_merge_captures(&from, 1, sink, NULL, NULL, 0, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "merge.in");
    perfile_source_close(from.source);
    perfile_sink_close(sink);

    perfile_filter_state *filter;
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_PID, .text = "1", .reserved = 1};
    const perfile_filter_options selecting = {
        .size = sizeof selecting, .terms = &term, .n_terms = 1};
    assert_int_equal(perfile_filter_open(&selecting, &filter, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "filter.terms");

    const perfile_assumed_event event = {.reserved = {0, 1}};
    const perfile_assume assume = {.size = sizeof assume, .events = &event, .n_events = 1};
    const perfile_open_options how = {.size = sizeof how, .assume = &assume};
    perfile_source *in = source();
    assert_int_equal(perfile_open(in, &how, &s, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "options.assume");
    perfile_source_close(in);
}

static void visitors_have_a_size(void **state)
{
    (void)state;
    const perfile_visitor none = {0};
    const perfile_record *r;
    perfile_stream *s = opened();
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_record_walk(r, 0, &none, NULL, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_record_walk_trailer(r, 0, &none, NULL, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_feature_walk(perfile_session_feature_at(perfile_stream_session(s), 0),
                                          0, &none, NULL, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_attr_walk((perfile_bytes){NULL, 0}, false, 0, &none, NULL, NULL),
                     PERFILE_E_USAGE);
    const perfile_visitor nobody = {.size = sizeof nobody};
    perfile_error err;
    assert_int_equal(perfile_record_walk(r, 8, &nobody, NULL, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "walk.flags");
    assert_int_equal(perfile_attr_walk((perfile_bytes){NULL, 0}, false, PERFILE_WALK_TRAILER,
                                       &nobody, NULL, &err),
                     PERFILE_E_USAGE);
    assert_string_equal(err.where, "walk.flags");
    perfile_stream_close(s);
}

/* Every struct of the public headers that begins with its size is tried here. */
static void all_are_tried(void **state)
{
    (void)state;
    char command[1024], name[128];
    unsigned n = 0;
    const char *home = getenv("PERFILE_SOURCE");
    assert_non_null(home);
    snprintf(command, sizeof command,
             "grep -h -B1 '^    size_t size;' '%s'/include/perfile/*.h | "
             "sed -n 's/^typedef struct \\(perfile_[a-z_0-9]*\\) {.*/\\1/p'",
             home);
    FILE *names = popen(command, "r");
    assert_non_null(names);
    while (fscanf(names, "%127s", name) == 1) {
        bool tried = strcmp(name, "perfile_visitor") == 0;
        for (unsigned i = 0; i < sizeof given / sizeof given[0]; i++)
            tried = tried || strcmp(name, given[i].name) == 0;
        if (!tried)
            fail_msg("%s is not tried without its size", name);
        n++;
    }
    assert_int_equal(pclose(names), 0);
    assert_int_equal(n, sizeof given / sizeof given[0] + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opening),
                                       cmocka_unit_test(source_flags),
                                       cmocka_unit_test(numbers_without_meaning),
                                       cmocka_unit_test(stages),
                                       cmocka_unit_test(stages_after_reading),
                                       cmocka_unit_test(without_options),
                                       cmocka_unit_test(sizes_are_asked_for),
                                       cmocka_unit_test(what_has_no_meaning_is_refused),
                                       cmocka_unit_test(all_restricted_are_tried),
                                       cmocka_unit_test(items_of_arrays),
                                       cmocka_unit_test(visitors_have_a_size),
                                       cmocka_unit_test(all_are_tried),
                                       cmocka_unit_test(writing),
                                       cmocka_unit_test(whole_captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
