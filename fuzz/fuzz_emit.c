/* Any bytes, dumped in every form.  Text does not control a terminal, JSON Lines are valid JSON,
 * CBOR is valid and has the same number of objects, every record occurs once, and the end has the
 * right numbers. */
#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"
#include "wellformed.h"
#include "emit/command.h"
#include "lib/command.h"

typedef struct dump {
    perfile_open_options options;
    perfile_emit_options emit;
    bool pipe;
    size_t flush; /* after this many records */
} dump;

/* Input and result of an emitter. */
typedef struct dumped {
    perfile_status st;
    uint64_t records, errors;
    int outcome;
} dumped;

static void put_all(perfile_stream *s, const char *form, const dump *how, perfile_sink *sink,
                    dumped *d)
{
    perfile_emitter *e;
    perfile_error err = {0};
    const perfile_record *r;
    ENSURE(perfile_emitter_open(form, s, sink, &how->emit, &e, &err) == PERFILE_OK);
    d->st = perfile_emitter_begin(e, &err);
    while (d->st == PERFILE_OK && (d->st = perfile_stream_next(s, &r, &err)) == PERFILE_OK) {
        d->st = perfile_emitter_put(e, r, &err);
        d->records += r->family != PERFILE_FAMILY_DAMAGE;
        if (d->st == PERFILE_OK && d->records == how->flush)
            d->st = perfile_emitter_flush(e, &err);
    }
    if (d->st == PERFILE_END)
        d->st = perfile_emitter_finish(e, &err);
    ENSURE(d->st == PERFILE_OK || (d->st == PERFILE_E_LIMIT && err.where && err.message[0]));
    d->errors = pf_emitter_errors(e);
    d->outcome = pf_emitter_outcome(e);
    perfile_emitter_close(e);
}

/* Returns false if it is not a capture; then one object says so. */
static bool emit(perfile_bytes in, const char *form, const dump *how, perfile_sink **sink,
                 dumped *d)
{
    dripping drops = {.bytes = in, .most = 300, .state = in.len};
    perfile_source *source;
    perfile_stream *s;
    perfile_error err = {0};
    *d = (dumped){0};
    ENSURE(perfile_sink_memory("dump", sink, NULL) == PERFILE_OK);
    if (how->pipe)
        ENSURE(dripping_open(&drops, true, NULL, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how->options, &s, &err) == PERFILE_OK) {
        put_all(s, form, how, *sink, d);
        perfile_stream_close(s);
        return true;
    }
    perfile_source_close(source);
    ENSURE(pf_emit_failure(form, *sink, err.damage, err.offset, NULL) == PERFILE_OK);
    return false;
}

/* Checks the last line of the dump. */
static void check_end(perfile_bytes text, const dumped *d)
{
    char end[128];
    int n = snprintf(end, sizeof end, "{\"kind\":\"end\",\"records\":%llu,\"errors\":%llu}\n",
                     (unsigned long long)d->records, (unsigned long long)d->errors);
    ENSURE(text.len >= (size_t)n && memcmp(text.ptr + text.len - n, end, (size_t)n) == 0);
}

static uint64_t count_records(perfile_bytes text)
{
    static const char start[] = "{\"kind\":\"record\",";
    uint64_t n = 0;
    const uint8_t *p = text.ptr, *end = p + text.len;
    for (; p != end; p = (const uint8_t *)memchr(p, '\n', (size_t)(end - p)) + 1)
        n += (size_t)(end - p) > sizeof start && memcmp(p, start, sizeof start - 1) == 0;
    return n;
}

static void check_objects(perfile_bytes in, const dump *how, bool cbor)
{
    dumped d, other;
    perfile_sink *sink, *other_sink;
    uint64_t lines, items;
    bool opens = emit(in, "jsonl", how, &sink, &d);
    perfile_bytes text = perfile_sink_bytes(sink);
    ENSURE(well_json_lines(text, &lines));
    if (opens && d.st == PERFILE_OK) {
        check_end(text, &d);
        ENSURE(count_records(text) == d.records);
        ENSURE((d.outcome == PF_EMIT_COMPLETE) == (d.errors == 0));
        ENSURE(d.outcome != PF_EMIT_NOTHING || d.errors);
    }
    if (cbor) {
        ENSURE(emit(in, "cbor", how, &other_sink, &other) == opens);
        ENSURE(well_cbor(perfile_sink_bytes(other_sink), &items));
        ENSURE(items == lines && other.records == d.records && other.errors == d.errors);
        ENSURE(other.outcome == d.outcome && other.st == d.st);
        perfile_sink_close(other_sink);
    }
    perfile_sink_close(sink);
}

static void check_text(perfile_bytes in, const dump *how)
{
    dumped d;
    perfile_sink *sink;
    bool opens = emit(in, "text", how, &sink, &d);
    perfile_bytes text = perfile_sink_bytes(sink);
    ENSURE(well_text(text));
    ENSURE(text.len == 0 || text.ptr[text.len - 1] == '\n');
    ENSURE(!opens || d.records == 0 || text.len);
    perfile_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t chosen = choose(&c, 2);
    dump how = {.options = {.size = sizeof how.options,
                            .limits = &small_limits,
                            .deliver = PERFILE_DELIVER_DAMAGE,
                            .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 3 & 3) % 3},
                .emit = {.size = sizeof how.emit, .flags = (uint32_t)(chosen >> 5 & 3)},
                .pipe = chosen >> 7 & 1,
                .flush = chosen >> 10 & 15};
    how.options.as_stored = chosen & 4;
    if (chosen >> 8 & 1)
        how.options.envelopes = PERFILE_ENVELOPES_OUTER;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes in = {block, c.left};
    if (chosen & 1)
        check_objects(in, &how, chosen & 2);
    else
        check_text(in, &how);
    free(block);
    return 0;
}
