/* Any bytes, converted to any form, including an archive.  The output opens, and its records are
 * those of the input; without options its bytes are, too.  Scrubbed records equal those of the
 * scrub stage on the input, which changes no field. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "schema/rows.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"
#include "tests/owned.h"
#include "tests/transcript.h"
#include "lib/command.h"

typedef struct wanted {
    bool bytes;   /* compare bytes, not only types and sizes */
    bool unknown; /* include records that no table describes */
    bool resync;
    bool scrubbed; /* by the scrub stage */
} wanted;

typedef struct found {
    uint64_t records;
    uint64_t hash;
} found;

static uint64_t mix(uint64_t hash, uint64_t v)
{
    return (hash ^ v) * UINT64_C(0x100000001b3);
}

/* Returns true if the record is compared.  Not compared are facts of one form that are not records
 * in the other, envelopes, fragments that are never joined, and records that announce bytes that do
 * not follow. */
static bool counts(const perfile_record *r, const wanted *w)
{
    bool packed = r->type == PERFILE_RECORD_COMPRESSED || r->type == PERFILE_RECORD_COMPRESSED2;
    if (r->family != PERFILE_FAMILY_PERF || packed ||
        r->flags & (PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_ENVELOPE))
        return false;
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
    case PERFILE_RECORD_HEADER_TRACING_DATA:
    case PERFILE_RECORD_HEADER_BUILD_ID:
    case PERFILE_RECORD_HEADER_FEATURE:
        return false;
    case PERFILE_RECORD_AUXTRACE:
        return r->extra.len != 0;
    default:
        return w->unknown || perfile_record_type_name(r->type);
    }
}

static bool read_all(perfile_bytes bytes, const wanted *w, found *f)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options how = {.size = sizeof how,
                                .limits = &small_limits,
                                .on_damage =
                                    w->resync ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP};
    *f = (found){0, 0};
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    perfile_status st = w->scrubbed ? perfile_scrub(s, &s, NULL) : PERFILE_OK;
    ENSURE(st == PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        if (!counts(r, w))
            continue;
        f->records++;
        f->hash = mix(mix(mix(f->hash, r->type), r->misc), r->body.len);
        for (size_t i = 0; w->bytes && i < r->body.len; i++)
            f->hash = mix(f->hash, r->body.ptr[i]);
    }
    perfile_stream_close(s);
    return st == PERFILE_END;
}

/* The fields of a record; for a stack only the bytes that are valid according to the number after
 * it. */
typedef struct seen {
    transcript t; /* must be first: the other callbacks get this struct, too */
    perfile_bytes stack;
} seen;

static void on_value(void *user, const perfile_field *field, const perfile_value *value)
{
    seen *x = user;
    perfile_bytes stack = x->stack;
    x->stack.len = 0;
    if (field->kind == PERFILE_KIND_STACK) {
        x->stack = value->u.bytes;
        tell_number(&x->t, "stack", value->width);
        return;
    }
    if (stack.len && field->kind == PERFILE_KIND_SIZE && value->number < stack.len)
        stack.len = (size_t)value->number;
    if (stack.len)
        tell_bytes(&x->t, "valid", stack);
    transcript_on_value(&x->t, field, value);
}

/* Hashes what decoders see of a stream.  *sum is the summary of a scrub stage, or of a second one
 * on top of it. */
static uint64_t see_all(perfile_bytes bytes, unsigned stages, perfile_scrub_summary *sum)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    const perfile_open_options how = {
        .size = sizeof how, .limits = &small_limits, .on_damage = PERFILE_ON_DAMAGE_RESYNC};
    static const perfile_visitor visitor = {sizeof visitor, on_value, transcript_on_begin,
                                            transcript_on_end};
    seen x = {.stack = {NULL, 0}};
    transcript *t = &x.t;
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return 0;
    }
    for (unsigned i = 0; i < stages; i++)
        ENSURE(perfile_scrub(s, &s, NULL) == PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        x.stack.len = 0;
        tell_number(t, "type", r->type);
        tell_number(t, "offset", r->offset);
        tell_number(t, "size", r->body.len);
        tell_signed(t, "walk", perfile_record_walk(r, 0, &visitor, &x, NULL));
        tell_signed(t, "trailer", perfile_record_walk_trailer(r, 0, &visitor, &x, NULL));
    }
    perfile_scrub_get_summary(s, sum, sizeof *sum);
    perfile_stream_close(s);
    return t->hash;
}

static void check_scrubbing(perfile_bytes in)
{
    perfile_scrub_summary none = {0}, once = {0}, twice = {0};
    const uint64_t before = see_all(in, 0, &none);
    ENSURE(see_all(in, 1, &once) == before && none.records == 0);
    ENSURE(see_all(in, 2, &twice) == before && twice.records == 0 && once.bytes >= once.records);
}

static uint64_t losses;

static void on_note(void *user, const perfile_note *note)
{
    (void)user;
    ENSURE(note->message[0] && perfile_note_name(note->kind)[0] && note->count);
    losses += pf_note_is_loss(note->kind);
}

static void compare(perfile_bytes in, perfile_bytes out, const perfile_convert_options *how,
                    const perfile_convert_summary *sum)
{
    bool turns = how->byte_order;
    wanted w = {.bytes = !turns,
                .unknown = !(how->flags & PERFILE_CONVERT_DROP_UNKNOWN),
                .resync = how->flags & PERFILE_CONVERT_FORCE};
    const bool scrubs = how->flags & PERFILE_CONVERT_SCRUB;
    found one, other;
    if (sum->same)
        ENSURE(in.len == out.len && (in.len == 0 || memcmp(in.ptr, out.ptr, in.len) == 0));
    ENSURE(read_all(out, &w, &other));
    /* Byte-swapped bytes that belong to no record may look like other records. */
    if (sum->copied.damages && turns)
        return;
    w.scrubbed = scrubs;
    ENSURE(read_all(in, &w, &one));
    ENSURE(one.records == other.records && one.hash == other.hash);
}

/* Returns the contents of an archive as a block to be released with free(). */
static perfile_bytes unpacked(perfile_bytes archive)
{
    const perfile_convert_options how = {.size = sizeof how, .limits = &small_limits};
    perfile_source *source;
    perfile_sink *sink;
    ENSURE(perfile_source_memory(archive, "archive", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("again", &sink, NULL) == PERFILE_OK);
    ENSURE(perfile_convert_capture(source, sink, &how, NULL, 0, NULL) == PERFILE_OK);
    const perfile_bytes all = perfile_sink_bytes(sink);
    uint8_t *copy = malloc(all.len ? all.len : 1);
    ENSURE(copy);
    if (all.len)
        memcpy(copy, all.ptr, all.len);
    perfile_sink_close(sink);
    return (perfile_bytes){copy, all.len};
}

/* The same comparison for a packed capture. */
static void compare_packed(perfile_bytes in, perfile_bytes archive,
                           const perfile_convert_options *how, const perfile_convert_summary *sum)
{
    const perfile_bytes out = unpacked(archive);
    if (sum->same) /* including captures that no driver can read */
        ENSURE(in.len == out.len && (in.len == 0 || memcmp(in.ptr, out.ptr, in.len) == 0));
    else
        compare(in, out, how, sum);
    free((void *)(uintptr_t)out.ptr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t forms[] = {0, 0, PERFILE_FORM_FILE, PERFILE_FORM_PIPE};
    static const uint32_t packing[] = {0, 0, PERFILE_CONVERT_COMPRESS, PERFILE_CONVERT_DECOMPRESS};
    choices c = {data, size};
    uint64_t chosen = choose(&c, 2);
    perfile_convert_options how = {.size = sizeof how,
                                   .form = forms[chosen & 3],
                                   .byte_order = (uint32_t)(chosen >> 2 & 3) % 3,
                                   .flags = packing[chosen >> 4 & 3],
                                   .limits = &small_limits,
                                   .note = on_note};
    if (chosen >> 6 & 1)
        how.flags |= PERFILE_CONVERT_FORCE;
    if (chosen >> 7 & 1)
        how.flags |= PERFILE_CONVERT_DROP_UNKNOWN;
    if (chosen >> 9 & 1)
        how.flags |= PERFILE_CONVERT_SCRUB;
    if (chosen >> 10 & 1 && !(how.flags & PERFILE_CONVERT_COMPRESS))
        how.flags |= PERFILE_CONVERT_EXPAND;
    bool pipe = chosen >> 8 & 1, packs = chosen >> 11 & 1;
    perfile_error err = {0};
    perfile_source_options options = {.size = sizeof options, .limits = &small_limits};
    perfile_source *source;
    perfile_sink *sink;
    perfile_convert_summary sum;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes in = {block, c.left};
    dripping d = {.bytes = in, .most = 300, .state = chosen};
    if (pipe)
        ENSURE(dripping_open(&d, false, &options, &source, NULL) == PERFILE_OK);
    else
        ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    perfile_sink *below;
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    below = sink;
    if (packs)
        ENSURE(perfile_archive_sink(below, NULL, &sink, NULL) == PERFILE_OK);
    losses = 0;
    perfile_status st = closed_unless_ok(
        source, perfile_convert_capture(source, sink, &how, &sum, sizeof sum, &err));
    ENSURE(sum.copied.losses == losses);
    if (st == PERFILE_OK)
        (packs ? compare_packed : compare)(in, perfile_sink_bytes(below), &how, &sum);
    else
        ENSURE(st < 0 && err.where && err.message[0]);
    perfile_sink_close(sink);
    if (how.flags & PERFILE_CONVERT_SCRUB)
        check_scrubbing(in);
    free(block);
    return 0;
}
