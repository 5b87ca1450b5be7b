/* Any bytes as a capture.  Every record is in bounds, offsets increase without gaps, the summary
 * matches the yielded records, and every byte of the data is in a record, after one, or lost. */
#include "ensure.h"
#include "tests/streamed.h"

typedef struct tally {
    uint64_t records, bytes, inner_records, inner_bytes, damages, lost;
    uint64_t sequence;
    uint64_t covered; /* the data up to here are accounted for */
    uint64_t end;     /* end of the data */
    uint64_t touched;
} tally;

/* Reads every byte: all bytes that belong to a record must be readable. */
static uint64_t touch(perfile_bytes b)
{
    uint64_t sum = 0;
    for (size_t i = 0; b.ptr && i < b.len; i++)
        sum += b.ptr[i];
    return sum;
}

static void on_damage(tally *y, const perfile_record *r, const perfile_open_options *o)
{
    y->damages++;
    y->lost += r->body.len;
    if (r->flags & PERFILE_REC_INNER) {
        /* The rest of the decompressed stream is lost, and then the rest of the file. */
        if (o->on_damage == PERFILE_ON_DAMAGE_STOP) {
            ENSURE(r->body.len >= y->end - y->covered);
            y->covered = y->end;
        }
        return;
    }
    switch (r->damage) {
    case PERFILE_DAMAGE_TRUNCATED_DATA: /* after the end of the file */
    case PERFILE_DAMAGE_TRUNCATED_COMPRESSED:
    case PERFILE_DAMAGE_BAD_SPLIT: /* decompressed or joined bytes */
        break;
    case PERFILE_DAMAGE_DECOMPRESS: /* of a yielded record and everything after it */
        if (o->on_damage == PERFILE_ON_DAMAGE_STOP)
            y->covered = r->offset + r->body.len;
        break;
    case PERFILE_DAMAGE_TRUNCATED_PAYLOAD: /* reported at its record; the lost bytes are after it */
        ENSURE(r->offset < y->covered);
        y->covered += r->body.len;
        break;
    default:
        ENSURE(r->offset == y->covered);
        y->covered += r->body.len;
    }
}

static void on_record(tally *y, const perfile_record *r)
{
    ENSURE(r->sequence == y->sequence++);
    ENSURE(r->header + perfile_record_size(r) - r->body.len == r->body.ptr);
    y->records++;
    if (r->flags & PERFILE_REC_INNER) {
        ENSURE(r->envelope < r->sequence);
        y->inner_records++;
        y->inner_bytes += perfile_record_size(r);
        return;
    }
    ENSURE(r->offset == y->covered);
    y->bytes += perfile_record_size(r) + r->extra.len;
    y->covered += perfile_record_size(r) + r->extra.len;
}

static void check_extents(const perfile_container *c, uint64_t size)
{
    for (uint32_t i = 0; i < c->n_extents; i++) {
        const perfile_extent *e = &c->extents[i];
        ENSURE(e->length > 0);
        ENSURE(e->outside == (e->offset > size || e->length > size - e->offset));
        ENSURE(i == 0 || c->extents[i - 1].offset <= e->offset);
    }
}

/* Finds the beginning and end of the records. */
static void data_range(const perfile_container *c, uint64_t size, uint64_t *start, uint64_t *end)
{
    *start = 16;
    *end = size;
    if (c->form == PERFILE_FORM_PIPE)
        return;
    *start = *end = 0;
    for (uint32_t i = 0; c->family != PERFILE_FAMILY_PERF && i < c->n_extents; i++)
        if (c->extents[i].role == PERFILE_EXTENT_RECORDS) {
            *start = c->extents[i].offset;
            *end = *start + c->extents[i].length;
        }
    if (!c->has_sections)
        return;
    *start = c->data.offset < size ? c->data.offset : size;
    *end = c->unterminated || c->data.size > size - *start ? size : *start + c->data.size;
}

static void walk_all(perfile_stream *s, uint64_t size, const perfile_open_options *o)
{
    const perfile_container *c = perfile_stream_container(s);
    perfile_stream_summary before, sum;
    perfile_stream_get_summary(s, &before, sizeof before);
    ENSURE(before.records == 0 && before.lost == 0);
    check_extents(c, size);
    tally y = {0};
    data_range(c, size, &y.covered, &y.end);
    const perfile_record *r;
    perfile_error err = {0};
    perfile_status st;
    transcript t = {0};
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK) {
        y.touched += touch(r->body) + touch(r->extra);
        if (r->family == PERFILE_FAMILY_DAMAGE)
            on_damage(&y, r, o);
        else
            on_record(&y, r);
        streamed_record(&t, s, r, STREAMED_FIELDS);
        perfile_sample sample;
        if (r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF &&
            perfile_sample_decode(r, &sample, sizeof sample, NULL) == PERFILE_OK)
            y.touched += sample.present;
    }
    if (st != PERFILE_END) {
        ENSURE(st == PERFILE_E_LIMIT && err.where && perfile_stream_next(s, &r, NULL) == st);
        return;
    }
    ENSURE(perfile_stream_next(s, &r, &err) == PERFILE_END);
    streamed_session(&t, perfile_stream_session(s), STREAMED_FIELDS);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    uint64_t by_damage = 0;
    for (unsigned i = 0; i < 64; i++)
        by_damage += sum.by_damage[i];
    ENSURE(by_damage == sum.damages);
    ENSURE(sum.records == y.records && sum.bytes == y.bytes);
    ENSURE(sum.inner_records == y.inner_records && sum.inner_bytes == y.inner_bytes);
    ENSURE(sum.lost == y.lost);
    ENSURE(sum.damages == before.damages + y.damages);
    if (y.covered != y.end)
        fprintf(stderr, "%llu bytes accounted for, the data end at %llu\n",
                (unsigned long long)y.covered, (unsigned long long)y.end);
    ENSURE(y.covered == y.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    perfile_limits limits = {.size = sizeof limits,
                             .inflate_bytes = 1 << 20,
                             .zstd_window = 21,
                             .split_bytes = 1 << 20,
                             .session_bytes = 16 << 20};
    perfile_open_options options = {
        .size = sizeof options,
        .limits = &limits,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .on_damage = flags & 1 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP,
        .envelopes = flags & 2 ? PERFILE_ENVELOPES_OUTER : PERFILE_ENVELOPES_BOTH,
        .as_stored = flags & 4,
    };
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_source *source;
    perfile_stream *s;
    perfile_error err = {0};
    perfile_bytes all = {block, c.left};
    ENSURE(perfile_source_memory(all, "input", &source, NULL) == PERFILE_OK);
    perfile_status st = perfile_open(source, &options, &s, &err);
    if (st != PERFILE_OK) {
        ENSURE(st < 0 && err.where && err.message[0]);
        perfile_source_close(source);
    } else {
        walk_all(s, c.left, &options);
        perfile_stream_close(s);
    }
    free(block);
    return 0;
}
