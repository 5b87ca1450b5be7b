/* Any bytes as a capture with seeking.  The records after a seek are those that came after the same
 * record when the capture was read in order.  Offsets at which no record begins are safe, too.
 *
 * Choices: three bytes for the policy and two positions. */
#include "ensure.h"
#include "limits.h"
#include "tests/streamed.h"

enum { MOST = 256 };

/* The header of a record.  Its contents are not compared, because they depend on the facts that the
 * session has at that time. */
typedef struct framed {
    uint64_t offset, size;
    uint32_t type, part;
} framed;

static bool is_framed(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && !(r->flags & PERFILE_REC_INNER);
}

static framed framed_of(const perfile_record *r)
{
    return (framed){r->offset, perfile_record_size(r) + r->extra.len, r->type, r->part};
}

/* Reads up to `most` records that are stored directly in the file, up to the first damage.  A seek
 * into the fragments of a record leaves the others incomplete; the records after them are the same.
 */
static size_t read_some(perfile_stream *s, framed *out, size_t most)
{
    const perfile_record *r;
    size_t n = 0;
    while (n < most && perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->family == PERFILE_FAMILY_DAMAGE && r->damage != PERFILE_DAMAGE_BAD_SPLIT)
            break;
        if (is_framed(r))
            out[n++] = framed_of(r);
    }
    return n;
}

static void seek_to(perfile_stream *s, const framed *all, size_t n, size_t to)
{
    static framed again[MOST];
    perfile_error err = {0};
    perfile_status st = perfile_stream_seek(s, all[to].part, all[to].offset, &err);
    if (st != PERFILE_OK) {
        ENSURE(err.where && err.message[0]);
        return;
    }
    size_t got = read_some(s, again, n - to);
    ENSURE(got == n - to);
    for (size_t i = 0; i < got; i++)
        ENSURE(again[i].offset == all[to + i].offset && again[i].size == all[to + i].size &&
               again[i].type == all[to + i].type);
}

static void seek_all(perfile_stream *s, uint64_t one, uint64_t other)
{
    static framed all[MOST], wild[8];
    const perfile_container *c = perfile_stream_container(s);
    size_t n = read_some(s, all, MOST);
    if (n) {
        seek_to(s, all, n, one % n);
        seek_to(s, all, n, other % n);
        seek_to(s, all, n, 0);
    }
    /* An offset in the data at which no record needs to begin. */
    uint64_t start = c->form == PERFILE_FORM_PIPE ? 16 : c->data.offset;
    if (perfile_stream_seek(s, 0, start + 8 * one + other % 8, NULL) == PERFILE_OK)
        (void)read_some(s, wild, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t one = choose(&c, 1), other = choose(&c, 1), flags = choose(&c, 1);
    perfile_open_options options = {
        .size = sizeof options,
        .limits = &small_limits,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .on_damage = flags & 1 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP,
        .envelopes = flags & 2 ? PERFILE_ENVELOPES_OUTER : PERFILE_ENVELOPES_BOTH,
    };
    perfile_source *source;
    perfile_stream *s;
    perfile_bytes all = {data, c.left};
    ENSURE(perfile_source_memory(all, "input", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return 0;
    }
    seek_all(s, one, other);
    perfile_stream_close(s);
    return 0;
}
