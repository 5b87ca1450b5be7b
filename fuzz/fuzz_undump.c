/* Any bytes as a dump.  The result is a capture, or an error with a position.  The capture opens,
 * and its own dump gives the same capture again, byte for byte, unless the dump says that it is
 * incomplete. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"
#include "undump/undump.h"

typedef struct made {
    perfile_sink *sink;
    perfile_status st;
    uint64_t notes;
} made;

static void on_note(void *user, const perfile_note *note)
{
    made *m = user;
    ENSURE(note->count == 1 || note->kind == PERFILE_NOTE_DECOMPRESSED ||
           note->kind == PERFILE_NOTE_RECORDS_LEFT_OUT);
    m->notes++;
}

/* Makes a capture from a dump.  With `pipe` it is read in small pieces through a pipe. */
static void undump(perfile_bytes dump, bool pipe, made *m)
{
    const perfile_source_options how = {.size = sizeof how, .limits = &small_limits};
    dripping drops = {.bytes = dump, .most = 300, .state = dump.len};
    perfile_source *source;
    perfile_error err = {.offset = PERFILE_NO_OFFSET};
    *m = (made){0};
    ENSURE(perfile_sink_memory("capture", &m->sink, NULL) == PERFILE_OK);
    if (pipe)
        ENSURE(dripping_open(&drops, false, &how, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(dump, "dump", &source, NULL) == PERFILE_OK);
    m->st = pf_undump_to(source, on_note, m, m->sink, &err);
    perfile_source_close(source);
    if (m->st == PERFILE_OK)
        return;
    ENSURE(m->st == PERFILE_E_CORRUPT || m->st == PERFILE_E_TRUNCATED || m->st == PERFILE_E_LIMIT ||
           m->st == PERFILE_E_USAGE || m->st == PERFILE_E_UNSUPPORTED);
    ENSURE(err.message[0] && err.where);
    ENSURE(m->st == PERFILE_E_LIMIT || err.offset <= dump.len);
}

/* Dumps a capture.  Returns false if it cannot be read completely. */
static bool dump_of(perfile_bytes capture, perfile_sink **dump)
{
    const perfile_open_options how = {
        .size = sizeof how, .as_stored = true, .deliver = PERFILE_DELIVER_DAMAGE};
    const perfile_emit_options plain = {.size = sizeof plain};
    perfile_source *source;
    perfile_stream *s;
    perfile_emitter *e;
    const perfile_record *r;
    perfile_status st;
    ENSURE(perfile_source_memory(capture, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    ENSURE(perfile_sink_memory("dump", dump, NULL) == PERFILE_OK);
    ENSURE(perfile_emitter_open("cbor", s, *dump, &plain, &e, NULL) == PERFILE_OK);
    ENSURE(perfile_emitter_begin(e, NULL) == PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        ENSURE(perfile_emitter_put(e, r, NULL) == PERFILE_OK);
    ENSURE(perfile_emitter_finish(e, NULL) == PERFILE_OK);
    perfile_emitter_close(e);
    perfile_stream_close(s);
    if (st == PERFILE_END)
        return true;
    perfile_sink_close(*dump);
    return false;
}

static bool same(const perfile_sink *a, const perfile_sink *b)
{
    const perfile_bytes x = perfile_sink_bytes(a), y = perfile_sink_bytes(b);
    return x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    made once, piped, again;
    perfile_sink *dump;
    undump((perfile_bytes){data, size}, false, &once);
    undump((perfile_bytes){data, size}, true, &piped);
    ENSURE(piped.st == once.st || piped.st == PERFILE_E_LIMIT);
    if (once.st == PERFILE_OK && piped.st == PERFILE_OK)
        ENSURE(same(once.sink, piped.sink) && once.notes == piped.notes);
    perfile_sink_close(piped.sink);
    if (once.st == PERFILE_OK && dump_of(perfile_sink_bytes(once.sink), &dump)) {
        undump(perfile_sink_bytes(dump), false, &again);
        ENSURE(again.st == PERFILE_OK);
        ENSURE(again.notes || same(once.sink, again.sink));
        perfile_sink_close(again.sink);
        perfile_sink_close(dump);
    }
    perfile_sink_close(once.sink);
    return 0;
}
