/* Any bytes, converted to anything: what convert wrote opens, and its records are those of the
 * input; without options the bytes are. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "schema/frame.h"
#include "perfile/perfile.h"
#include "tests/dripping.h"

typedef struct wanted {
    bool bytes;   /* not only types and sizes */
    bool unknown; /* records that no table describes, too */
    bool resync;
} wanted;

typedef struct found {
    uint64_t records;
    uint64_t hash;
} found;

static uint64_t mix(uint64_t hash, uint64_t v)
{
    return (hash ^ v) * UINT64_C(0x100000001b3);
}

/* Facts of the one form are no records of the other, envelopes go with what was in them (pieces
 * that make nothing are left out), and so does what announces bytes that are not behind it. */
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
    perfile_status st;
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

static uint64_t losses;

static void on_note(void *user, const perfile_note *note)
{
    (void)user;
    ENSURE(note->text[0] && perfile_note_name(note->kind)[0] && note->count);
    losses += perfile_note_is_loss(note->kind);
}

static void compare(perfile_bytes in, perfile_bytes out, const perfile_convert_options *how,
                    const perfile_convert_summary *sum)
{
    bool turns = how->byte_order;
    wanted w = {.bytes = !turns,
                .unknown = !(how->flags & PERFILE_CONVERT_DROP_UNKNOWN),
                .resync = how->flags & PERFILE_CONVERT_FORCE};
    found one, other;
    if (sum->same)
        ENSURE(in.len == out.len && (in.len == 0 || memcmp(in.ptr, out.ptr, in.len) == 0));
    ENSURE(read_all(out, &w, &other));
    /* Bytes of no record that were turned may look like other ones. */
    if (sum->copied.damages && turns)
        return;
    ENSURE(read_all(in, &w, &one));
    ENSURE(one.records == other.records && one.hash == other.hash);
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
    bool pipe = chosen >> 8 & 1;
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
    ENSURE(perfile_sink_memory("output", &sink, NULL) == PERFILE_OK);
    losses = 0;
    perfile_status st = perfile_convert_capture(source, sink, &how, &sum, sizeof sum, &err);
    ENSURE(sum.copied.losses == losses);
    if (st == PERFILE_OK)
        compare(in, perfile_sink_bytes(sink), &how, &sum);
    else
        ENSURE(st < 0 && err.where && err.message[0]);
    perfile_sink_close(sink);
    free(block);
    return 0;
}
