/* Any text as a description of a capture.  A rejected text gets an error that names its line.  What
 * is made of the others has exactly the dump that was meant, and the same description makes the
 * same capture again. */
#include <string.h>

#include "ensure.h"
#include "generate/command.h"
#include "perfile/perfile.h"

enum { MOST_RECORDS = 200 };

typedef struct made {
    perfile_sink *capture, *expect;
    perfile_status st;
} made;

static void make(const pf_spec *spec, made *m)
{
    const pf_generate_options how = {.spec = spec, .rounds = 1};
    pf_generate_summary sum;
    perfile_error err = {.offset = PERFILE_NO_OFFSET};
    ENSURE(perfile_sink_memory("capture", &m->capture, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("expect", &m->expect, NULL) == PERFILE_OK);
    m->st = pf_generate(&how, m->capture, m->expect, &sum, &err);
    ENSURE(m->st == PERFILE_OK || m->st == PERFILE_E_USAGE || m->st == PERFILE_E_LIMIT);
    if (m->st != PERFILE_OK)
        ENSURE(err.message[0] && err.where);
    else
        ENSURE(sum.events && sum.events <= PF_GENERATE_MOST_EVENTS);
}

static void close_both(made *m)
{
    perfile_sink_close(m->capture);
    perfile_sink_close(m->expect);
}

static bool same(const perfile_sink *a, const perfile_sink *b)
{
    const perfile_bytes x = perfile_sink_bytes(a), y = perfile_sink_bytes(b);
    return x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0);
}

/* Dumps a capture as JSON Lines. */
static perfile_sink *dump_of(const perfile_sink *capture)
{
    const perfile_open_options how = {
        .size = sizeof how, .as_stored = true, .deliver = PERFILE_DELIVER_DAMAGE};
    const perfile_emit_options plain = {.size = sizeof plain};
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *dump;
    perfile_emitter *e;
    const perfile_record *r;
    perfile_status st;
    ENSURE(perfile_source_memory(perfile_sink_bytes(capture), "capture", &source, NULL) ==
           PERFILE_OK);
    ENSURE(perfile_open(source, &how, &s, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("dump", &dump, NULL) == PERFILE_OK);
    ENSURE(perfile_emitter_open("jsonl", s, dump, &plain, &e, NULL) == PERFILE_OK);
    ENSURE(perfile_emitter_begin(e, NULL) == PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        ENSURE(perfile_emitter_put(e, r, NULL) == PERFILE_OK);
    ENSURE(st == PERFILE_END);
    ENSURE(perfile_emitter_finish(e, NULL) == PERFILE_OK);
    perfile_emitter_close(e);
    perfile_stream_close(s);
    return dump;
}

static void check(const pf_spec *spec)
{
    made once, again;
    make(spec, &once);
    make(spec, &again);
    ENSURE(once.st == again.st);
    if (once.st == PERFILE_OK) {
        perfile_sink *dump = dump_of(once.capture);
        ENSURE(same(once.capture, again.capture));
        ENSURE(same(once.expect, again.expect));
        ENSURE(same(dump, once.expect));
        perfile_sink_close(dump);
    }
    close_both(&once);
    close_both(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perfile_source *source;
    pf_spec *spec = NULL;
    perfile_error err = {.offset = PERFILE_NO_OFFSET};
    unsigned kind;
    ENSURE(perfile_source_memory((perfile_bytes){data, size}, "spec", &source, NULL) == PERFILE_OK);
    ENSURE(pf_spec_kind(source, &kind, NULL) == PERFILE_OK);
    const perfile_status st =
        kind == PF_SPEC_TEXT ? pf_spec_read(source, &spec, &err) : PERFILE_END;
    perfile_source_close(source);
    if (kind != PF_SPEC_TEXT) /* a dump: fuzz_undump.c */
        return 0;
    if (st == PERFILE_OK && pf_spec_records(spec) <= MOST_RECORDS)
        check(spec);
    if (st != PERFILE_OK) {
        ENSURE(!spec && (st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT));
        ENSURE(strcmp(err.where, "spec") == 0 && err.message[0]);
        ENSURE(st == PERFILE_E_LIMIT || strncmp(err.message, "line ", 5) == 0);
    }
    pf_spec_free(spec);
    return 0;
}
