/* perfile_copy(): writes the records of a stream.
 *
 * Whole runs go to the writer at once.  Only records that need a decision (tool records of a pipe,
 * envelopes and their inner records, damage, unknown types) are examined one by one, in
 * pf_copy_run().
 *
 * Two kinds of data appear twice in a stream: a COMPRESSED record and the records in it, and
 * simpleperf's fragments and the record joined from them.  Exactly one of the two is written, see
 * is_written().
 *
 * Facts of the input, and facts in records that become sections, are in copy_facts.c.  This file
 * also has notes and progress. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/stream.h"
#include "core/writer.h"
#include "io/out.h"
#include "lib/copy.h"
#include "lib/registry.h"
#include "perfile/damage.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "core/command.h"
#include "lib/command.h"
#include "base/command.h"
#include "schema/command.h"

#include <inttypes.h>
#include <stdio.h>

enum { HELD_MOST = 8 << 20 }; /* bytes of records before the first kernel record */

perfile_status pf_copy_put(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err)
{
    const pf_batch batch = pf_stream_batch(x->stream, first, n);
    x->result.records += n;
    const bool plain = pf_batch_is_plain(&batch);
    x->result.samples += plain ? n : 0;
    for (const perfile_record *r = first; r < first + n && !plain; r++)
        x->result.samples += r->type == PERFILE_RECORD_SAMPLE;
    return x->writer->ops->put(x->writer, &batch, err);
}

/* Writes a run without its FINISHED_ROUND records, each of which is noted.  They promise that all
 * records after them are later than those of the round before.  That is not true if the files of a
 * directory are written one after the other. */
static perfile_status put_without_rounds(pf_copy *x, const perfile_record *first, size_t n,
                                         perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_record *end = first + n, *from = first;
    for (const perfile_record *r = first; r <= end && st == PERFILE_OK; r++) {
        if (r < end && r->type != PERFILE_RECORD_FINISHED_ROUND)
            continue;
        if (r > from)
            st = pf_copy_put(x, from, (size_t)(r - from), err);
        if (r < end)
            pf_notes_record(&x->notes, PERFILE_NOTE_ROUNDS_LEFT_OUT, r->type, 0,
                            perfile_record_size(r), r);
        from = r + 1;
    }
    return st;
}

/* Returns true if damage of the input is counted and left out and does not end the copy with an
 * error. */
static bool is_forced(const pf_copy *x)
{
    return x->options.flags & PERFILE_COPY_FORCE;
}

/* A damage record: an error, or a note if the copy is forced. */
static perfile_status handle_damage(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    if (!is_forced(x))
        return pf_fail_damage(err, r->damage, "copy", r->offset);
    pf_notes_record(&x->notes, PERFILE_NOTE_DAMAGE, UINT32_MAX, r->damage, r->body.len, r);
    return PERFILE_OK;
}

/* Returns true if the record itself is written.  Either an envelope or its inner records are
 * written.  Compressed records are written as they are with PERFILE_COPY_COMPRESSED, otherwise
 * their inner records.  Fragments are always written, never the record joined from them.  If the
 * writer compresses, decompression is not noted. */
static bool is_written(pf_copy *x, const perfile_record *r)
{
    bool packed = x->options.flags & PERFILE_COPY_COMPRESSED;
    if (r->flags & PERFILE_REC_INNER)
        return r->envelope != x->joined_seq && !packed;
    if (!(r->flags & PERFILE_REC_ENVELOPE))
        return true;
    if (pf_is_joined_fragment(r)) {
        x->joined_seq = r->sequence;
        return true;
    }
    if (!packed && !x->writer->level && !x->writer->packs_as_read)
        pf_notes_record(&x->notes, PERFILE_NOTE_DECOMPRESSED, r->type, 0, perfile_record_size(r),
                        r);
    return packed;
}

/* Counts the samples of a run of inner records, which are written as part of their envelope. */
static void count_packed(pf_copy *x, const perfile_record *first, size_t n)
{
    if (!(first->flags & PERFILE_REC_INNER && x->options.flags & PERFILE_COPY_COMPRESSED))
        return;
    for (const perfile_record *r = first; r < first + n; r++)
        x->result.samples += r->type == PERFILE_RECORD_SAMPLE;
}

/* Fails if an event is described inside an envelope that is copied compressed while the form
 * changes: the event would have to leave the envelope. */
static perfile_status check_packed_event(const pf_copy *x, const perfile_record *r,
                                         perfile_error *err)
{
    if (!(r->flags & PERFILE_REC_INNER) || r->type != PERFILE_RECORD_HEADER_ATTR ||
        x->from == x->to)
        return PERFILE_OK;
    perfile_status st = pf_fail(err, PERFILE_E_UNSUPPORTED, "copy.event",
                                "an event is described inside compressed records: decompress them");
    pf_error_at(err, r->offset);
    return st;
}

/* Returns true for a HEADER_FEATURE record with the feature COMPRESSED, unless envelopes are
 * copied: the output is not compressed like the input, and a writer that compresses makes its
 * own. */
static bool is_stale_compressed(const pf_copy *x, const perfile_record *r)
{
    perfile_feature f;
    return r->type == PERFILE_RECORD_HEADER_FEATURE &&
           !(x->options.flags & PERFILE_COPY_COMPRESSED) &&
           perfile_record_feature(r, &f, NULL) == PERFILE_OK &&
           f.number == PERFILE_FEATURE_COMPRESSED;
}

/* Returns true if PERFILE_COPY_DROP_UNKNOWN drops the record because no table describes its type,
 * or the feature in it; notes the loss.  If the output is a file, features become sections, and
 * write_feature() in copy_facts.c decides about them. */
static bool is_dropped(pf_copy *x, const perfile_record *r)
{
    perfile_feature f;
    if (!(x->options.flags & PERFILE_COPY_DROP_UNKNOWN))
        return false;
    if (!pf_row_of(r)) {
        pf_notes_record(&x->notes, PERFILE_NOTE_RECORDS_LEFT_OUT, r->type, 0,
                        perfile_record_size(r), r);
        return true;
    }
    if (r->type != PERFILE_RECORD_HEADER_FEATURE || x->to == PERFILE_FORM_FILE ||
        perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.payload.len == 0 ||
        pf_feature_name(f.number))
        return false;
    pf_notes_record(&x->notes, PERFILE_NOTE_FEATURE_LEFT_OUT, f.number, 0, f.payload.len, r);
    return true;
}

/* Returns true if an inner record announces extra bytes after it, like AUXTRACE.  Inside an
 * envelope there are none; the next bytes in the decompressed stream are another record. */
static bool lacks_its_extra(const perfile_record *r)
{
    const pf_frame f = {
        .type = r->type, .size = (uint32_t)(r->body.len + PF_PERF_RECORD_HEADER), .misc = r->misc};
    return r->flags & PERFILE_REC_INNER && r->body.ptr == r->header + PF_PERF_RECORD_HEADER &&
           pf_frame_extra(r->header, &f, r->flags & PERFILE_REC_SWAPPED) != 0;
}

/* Leaves out a record without its extra bytes: an error, or a note if the copy is forced. */
static perfile_status leave_out(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    if (!is_forced(x))
        return pf_fail_damage(err, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, "copy", r->offset);
    pf_notes_record(&x->notes, PERFILE_NOTE_RECORDS_CUT, r->type, PERFILE_DAMAGE_TRUNCATED_PAYLOAD,
                    perfile_record_size(r), r);
    return PERFILE_OK;
}

/* Writes the held fragments if `next` is the record joined from them.  Drops them if the stream
 * could not join them. */
static perfile_status put_fragments(pf_copy *x, const perfile_record *next, perfile_error *err)
{
    perfile_record r;
    pf_fragments_resolve(&x->fragments, next, true);
    perfile_status st = x->fragments.giving && !x->begun ? pf_copy_release(x, err) : PERFILE_OK;
    while (st == PERFILE_OK && x->fragments.giving && pf_fragments_next(&x->fragments, &r))
        st = pf_copy_put(x, &r, 1, err);
    return st;
}

/* The order of the checks matters: damage first, because such a record has no type of the family;
 * fragments before everything that follows them; then whether the record or its envelope is
 * written. */
perfile_status pf_copy_run(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return handle_damage(x, first, err);
    if (x->fragments.records.len && !pf_is_joined_fragment(first)) {
        perfile_status st = put_fragments(x, first, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (!is_written(x, first)) {
        count_packed(x, first, n);
        return check_packed_event(x, first, err);
    }
    if (pf_is_joined_fragment(first))
        return pf_fragments_hold(&x->fragments, first, err);
    if (first->flags & PERFILE_REC_PAYLOAD_CUT)
        return PERFILE_OK; /* the next record is the damage and reports the loss */
    if (lacks_its_extra(first))
        return leave_out(x, first, err);
    if (is_dropped(x, first))
        return PERFILE_OK;
    bool tool = first->type >= PERFILE_RECORD_USER && first->type != PERFILE_RECORD_FINISHED_ROUND;
    /* Some tools put the formats of tracepoints among the records of a file, where perf does not
     * look for them: they become a section, too. */
    if ((x->from == PERFILE_FORM_PIPE && tool) ||
        first->type == PERFILE_RECORD_HEADER_TRACING_DATA) {
        if (is_stale_compressed(x, first))
            return PERFILE_OK;
        bool took = false;
        perfile_status st =
            x->to == PERFILE_FORM_FILE ? pf_copy_take_fact(x, first, &took, err) : PERFILE_OK;
        if (took || st != PERFILE_OK)
            return st;
    }
    if (!x->begun) {
        perfile_status st = pf_copy_release(x, err);
        if (st != PERFILE_OK)
            return st;
    }
    return x->joins_parts ? put_without_rounds(x, first, n, err) : pf_copy_put(x, first, n, err);
}

bool pf_copy_wants_extra(const pf_copy *x)
{
    return x->writer->extra_left;
}

/* Ranges of records that are copied from archive to archive as they are stored.
 *
 * The stream asks about each range before it would yield the range as records.  It passes the range
 * to stored() after all earlier records were read, and therefore written.  The range counts as if
 * its records had been written. */

bool pf_copy_wants_stored(pf_copy *x, const pf_zone *zone)
{
    const pf_writer_ops *ops = x->writer->ops;
    const bool rounds_go = x->joins_parts && zone->apart; /* FINISHED_ROUNDs must be left out */
    if (x->stored != PERFILE_OK || !ops->takes || x->fragments.records.len || rounds_go)
        return false;
    /* From pipe to file: the range contains the first kernel record. */
    if (!x->begun)
        x->stored = pf_copy_release(x, &x->stored_error);
    return x->stored == PERFILE_OK && ops->takes(x->writer, x->session);
}

perfile_status pf_copy_stored(pf_copy *x, const pf_stored *range, perfile_error *err)
{
    const perfile_record first = {.part = range->part, .offset = range->offset};
    if (pf_progress_at(&x->progress, &first) && x->options.progress)
        x->options.progress(x->options.user, x->progress.done, x->progress.total);
    x->result.records += range->records;
    x->result.samples += range->samples;
    return x->writer->ops->put(x->writer, &(pf_batch){.stored = range}, err);
}

/* pf_narrow.needs and .stored for a copy of all records. */
static unsigned needs(void *user, const pf_zone *zone, uint64_t sequence)
{
    (void)sequence;
    return pf_zone_plain_samples(zone) && pf_copy_wants_stored(user, zone) ? PF_NEED_STORED
                                                                           : PF_NEED_ALL;
}

static void take(void *user, const pf_stored *range)
{
    pf_copy *x = user;
    if (x->stored == PERFILE_OK)
        x->stored = pf_copy_stored(x, range, &x->stored_error);
}

/* Asks the stream of the copy for such ranges. */
static void ask_stored(pf_copy *x)
{
    x->takes = (pf_narrow){.needs = needs, .stored = take, .user = x, .takes_all = true};
    if (x->writer->ops->takes && x->writer->sink->takes_stored)
        pf_stream_narrow(x->stream, &x->takes);
}

/* Returns the error of writing a range.  Called after each call on the stream. */
static perfile_status stored_status(const pf_copy *x, perfile_error *err)
{
    if (x->stored != PERFILE_OK && err)
        *err = x->stored_error;
    return x->stored;
}

/* The whole copy. */

/* Copies the bytes after `r` (AUXTRACE data, tracing data) from stream to writer. */
static perfile_status copy_extra(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    perfile_bytes chunk;
    perfile_status st;
    while ((st = perfile_stream_extra(x->stream, r, &chunk, err)) == PERFILE_OK)
        if ((st = perfile_writer_extra(x->writer, chunk, err)) != PERFILE_OK)
            return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

perfile_status pf_damage_refuse(const perfile_stream_summary *sum, const char *where,
                                perfile_error *err)
{
    unsigned damage = PERFILE_DAMAGE_NONE;
    for (unsigned i = 0; i < sizeof sum->by_damage / sizeof sum->by_damage[0] && !damage; i++)
        damage = sum->by_damage[i] ? i : 0;
    return pf_fail_damage(err, damage, where, sum->first_offset);
}

/* Runs one copy from the first record to the end of the stream. */
static perfile_status copy(pf_copy *x, perfile_error *err)
{
    const perfile_record *first;
    perfile_stream_summary sum;
    size_t n;
    pf_stream_get_summary(x->stream, &sum, sizeof sum);
    if (sum.damages && !is_forced(x)) /* in the header, the attrs or the features */
        return pf_damage_refuse(&sum, "copy", err);
    perfile_status st = pf_copy_begin(x, err);
    ask_stored(x);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(x->stream, &first, &n, err)) == PERFILE_OK) {
        if (pf_progress_at(&x->progress, first) && x->options.progress)
            x->options.progress(x->options.user, x->progress.done, x->progress.total);
        st = stored_status(x, err);
        if (st == PERFILE_OK)
            st = pf_copy_run(x, first, n, err);
        if (st == PERFILE_OK && pf_copy_wants_extra(x))
            st = copy_extra(x, first, err);
    }
    if (st == PERFILE_END)
        st = stored_status(x, err);
    return st == PERFILE_OK ? pf_copy_finish(x, err) : st;
}

void pf_copy_start(pf_copy *x, perfile_stream *s, perfile_writer *w,
                   const perfile_copy_options *options)
{
    x->options = *options;
    x->stream = s;
    x->session = perfile_stream_session(s);
    x->container = perfile_stream_container(s);
    x->writer = w;
    x->from = x->container->form;
    x->to = w->form;
    x->joins_parts =
        x->container->n_parts > 1 && !w->directory && s->sorted_by == PF_SORTED_BY_NOTHING;
    /* A sorted stream has merged the parts by time, so its rounds are true, if it has any. */
    x->joined_seq = PERFILE_NO_SEQUENCE;
    x->held_most = HELD_MOST;
    pf_progress_begin(&x->progress, x->container);
}

perfile_status pf_copy_check(const pf_copy *x, perfile_error *err)
{
    const pf_writer_ops *ops = x->writer->ops;
    if (x->container->family == ops->family)
        return PERFILE_OK;
    const pf_driver *from = x->container->format ? pf_driver_named(x->container->format) : NULL;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "copy",
                   "records of a capture of format %s cannot be written as %s%s",
                   x->container->format ? x->container->format : "another", ops->format,
                   from && from->translate ? ": convert it first" : "");
}

void pf_copy_free(pf_copy *x)
{
    pf_buffer_free(&x->held);
    pf_buffer_free(&x->ids);
    pf_buffer_free(&x->build_ids);
    pf_fragments_free(&x->fragments);
}

perfile_status perfile_copy(perfile_stream *s, perfile_writer *w,
                            const perfile_copy_options *options, perfile_copy_summary *result,
                            size_t size, perfile_error *err)
{
    pf_copy *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "copy");
    perfile_copy_options how;
    perfile_status st = pf_options_copy(&how, options, "copy.options", err);
    if (st == PERFILE_OK)
        st = pf_stream_unread(s, "copy", err);
    if (st != PERFILE_OK) {
        pf_free(x);
        return st;
    }
    pf_copy_start(x, s, w, &how);
    /* Damage must be seen here, as an error or a note, even if the caller did not ask for it. */
    for (perfile_stream *below = s; below; below = below->below)
        below->options.deliver |= PERFILE_DELIVER_DAMAGE;
    st = pf_sink_add_inputs(w->sink, pf_stream_inputs(s), err);
    if (st == PERFILE_OK)
        st = pf_copy_check(x, err);
    if (st == PERFILE_OK)
        st = copy(x, err);
    perfile_stream_summary sum;
    pf_stream_get_summary(s, &sum, sizeof sum);
    x->result.bytes = sum.bytes;
    x->result.damages = sum.damages;
    x->result.lost = sum.lost;
    x->result.losses = pf_notes_report(&x->notes, x->options.note, x->options.user);
    pf_result_out(result, size, &x->result, sizeof x->result);
    pf_copy_free(x);
    pf_free(x);
    return st;
}

perfile_writer_options pf_copy_writing(const perfile_stream *s, uint32_t form, const char *format)
{
    const perfile_container *c = perfile_stream_container(s);
    return (perfile_writer_options){.size = sizeof(perfile_writer_options),
                                    .as_stored = true,
                                    .form = form ? form : c->form,
                                    .format = format ? format : c->format,
                                    .byte_order = pf_session_byte_order(perfile_stream_session(s))};
}

perfile_status pf_copy_to(perfile_sink *sink, const perfile_writer_options *writing,
                          perfile_stream *s, const perfile_copy_options *copying,
                          perfile_copy_summary *result, perfile_error *err)
{
    perfile_writer *w;
    perfile_status st = perfile_writer_open(sink, writing, &w, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_copy(s, w, copying, result, sizeof *result, err);
    perfile_writer_close(w);
    return st;
}

/* Counts notes, and makes the sentences that report them.
 *
 * A note is counted under (kind, number, damage), where number is a record type or a feature.  The
 * sentence is made at the end: subject() writes the first %s of the kind's format ("3 records of
 * type 200"), reason() the second (" (the first at offset 4096: …)"). */

static const struct {
    const char *name;     /* name in JSON */
    const char *sentence; /* two %s: the subject, and the reason or "" */
    bool loss;            /* the output lacks something from the input */
} kinds[PERFILE_N_NOTES] = {
    [PERFILE_NOTE_RECORDS_LEFT_OUT] = {"records-left-out", "%s left out%s", true},
    [PERFILE_NOTE_RECORDS_KEPT] = {"records-kept",
                                   "%s kept as stored, no table describes that type%s", false},
    [PERFILE_NOTE_RECORDS_BROKEN] = {"records-broken", "%s rewritten as far as can be read%s",
                                     false},
    [PERFILE_NOTE_RECORDS_CUT] = {"records-cut", "%s left out%s", true},
    [PERFILE_NOTE_FEATURE_LEFT_OUT] = {"feature-left-out", "%s left out%s", true},
    [PERFILE_NOTE_FEATURE_KEPT] = {"feature-kept", "%s kept as stored, no table describes it%s",
                                   false},
    [PERFILE_NOTE_FEATURE_BROKEN] = {"feature-broken", "%s cannot be read%s", false},
    [PERFILE_NOTE_FEATURE_NO_PLACE] = {"feature-no-place",
                                       "%s left out: a pipe has no place for it%s", true},
    [PERFILE_NOTE_EVENT_BROKEN] = {"event-broken", "%s rewritten as far as can be read%s", false},
    [PERFILE_NOTE_DAMAGE] = {"damage", "%s%s", true},
    [PERFILE_NOTE_BYTES_LEFT_OUT] = {"bytes-left-out",
                                     "%s between or after the parts of the file left out%s", true},
    [PERFILE_NOTE_ROUNDS_LEFT_OUT] = {"rounds-left-out",
                                      "%s left out: they do not hold for several files in one%s",
                                      true},
    [PERFILE_NOTE_PARTS] = {"parts",
                            "%s one after the other: the records are not in order of time%s",
                            false},
    /* The next five are reported immediately, with their own text, and never counted here. */
    [PERFILE_NOTE_TARGET] = {"target", "%s%s", true},
    [PERFILE_NOTE_NOT_RECORDED] = {"unsaid", "%s%s", false},
    [PERFILE_NOTE_EMPTY] = {"empty", "%s%s", false},
    [PERFILE_NOTE_FORMAT] = {"format", "%s%s", true},
    [PERFILE_NOTE_ASSUMED] = {"assumed", "%s%s", false},
    [PERFILE_NOTE_UNKNOWN_FORMAT] = {"unknown-format",
                                     "%sno capture that can be read: kept as bytes%s", false},
    [PERFILE_NOTE_DECOMPRESSED] = {"decompressed", "%s decompressed%s", false},
};

/* Public functions accept any number: kinds of newer versions have no name. */
const char *pf_note_name(uint32_t kind)
{
    return kind < PERFILE_N_NOTES && kinds[kind].name ? kinds[kind].name : "";
}

bool pf_note_is_loss(uint32_t kind)
{
    return kind < PERFILE_N_NOTES && kinds[kind].loss;
}

/* Returns the entry of (kind, number, damage), which is made if it does not exist.  Returns NULL if
 * the table is full. */
static perfile_note *find(pf_notes *notes, uint32_t kind, uint32_t number, uint32_t damage)
{
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note *n = &notes->at[i];
        if (n->kind == kind && n->number == number && n->damage == damage)
            return n;
    }
    /* The last PERFILE_N_NOTES positions are reserved for entries without a number, so that each
     * kind can still be counted when types and features have filled the others. */
    uint32_t room = number == UINT32_MAX ? PF_NOTES_MOST : PF_NOTES_MOST - PERFILE_N_NOTES;
    if (notes->n >= room)
        return NULL;
    notes->at[notes->n] =
        (perfile_note){.kind = kind, .number = number, .damage = damage, .offset = UINT64_MAX};
    return &notes->at[notes->n++];
}

void pf_notes_add(pf_notes *notes, const perfile_note *one)
{
    perfile_note *n = find(notes, one->kind, one->number, one->damage);
    if (!n)
        n = find(notes, one->kind, UINT32_MAX, 0);
    if (!n) /* full of entries without a number that differ in their damage */
        return;
    if (n->count == 0) {
        n->offset = one->offset;
        n->part = one->part;
        snprintf(notes->why[n - notes->at], sizeof notes->why[0], "%s",
                 one->message ? one->message : "");
    }
    n->count += one->count;
    n->bytes += one->bytes;
}

void pf_notes_record(pf_notes *notes, uint32_t kind, uint32_t number, uint32_t damage,
                     uint64_t bytes, const perfile_record *r)
{
    const perfile_note one = {.kind = kind,
                              .number = number,
                              .damage = damage,
                              .part = r->part,
                              .count = 1,
                              .bytes = bytes,
                              .offset = r->offset};
    pf_notes_add(notes, &one);
}

/* Writes the subject of the sentence to `out`: the number of records, features or bytes. */
static void subject(const perfile_note *n, char *out, size_t size)
{
    const char *s = n->count == 1 ? "" : "s";
    const char *name;
    switch (n->kind) {
    case PERFILE_NOTE_RECORDS_LEFT_OUT:
    case PERFILE_NOTE_RECORDS_KEPT:
    case PERFILE_NOTE_RECORDS_BROKEN:
    case PERFILE_NOTE_RECORDS_CUT:
    case PERFILE_NOTE_ROUNDS_LEFT_OUT:
    case PERFILE_NOTE_DECOMPRESSED:
        name = pf_record_type_name(n->number);
        if (name)
            snprintf(out, size, "%" PRIu64 " %s record%s", n->count, name, s);
        else if (n->number == UINT32_MAX)
            snprintf(out, size, "%" PRIu64 " record%s", n->count, s);
        else
            snprintf(out, size, "%" PRIu64 " record%s of type %" PRIu32, n->count, s, n->number);
        break;
    case PERFILE_NOTE_DAMAGE:
        if (n->bytes)
            snprintf(out, size, "%" PRIu64 " byte%s outside of records", n->bytes,
                     n->bytes == 1 ? "" : "s");
        else
            snprintf(out, size, "damage");
        break;
    case PERFILE_NOTE_BYTES_LEFT_OUT:
        snprintf(out, size, "%" PRIu64 " byte%s", n->bytes, n->bytes == 1 ? "" : "s");
        break;
    case PERFILE_NOTE_UNKNOWN_FORMAT:
        out[0] = '\0';
        break;
    case PERFILE_NOTE_PARTS:
        snprintf(out, size, "%" PRIu64 " file%s", n->count, s);
        break;
    case PERFILE_NOTE_EVENT_BROKEN:
        snprintf(out, size, "%" PRIu64 " event%s", n->count, s);
        break;
    default:
        name = pf_feature_name(n->number);
        if (name)
            snprintf(out, size, "feature %s", name);
        else if (n->number == UINT32_MAX)
            snprintf(out, size, "%" PRIu64 " feature%s", n->count, s);
        else
            snprintf(out, size, "feature %" PRIu32, n->number);
    }
}

/* Writes " (at offset N: words)" to `out`, with the parts that are known; "" if none is.  If there
 * is damage, its text replaces `words`. */
static void reason(const perfile_note *n, const char *words, char *out, size_t size)
{
    char where[64] = "";
    if (n->damage)
        words = pf_damage_text(n->damage);
    if (n->offset != PERFILE_NO_OFFSET)
        snprintf(where, sizeof where, "%sat offset %" PRIu64 "%s",
                 n->count == 1 ? "" : "the first ", n->offset, words[0] ? ": " : "");
    out[0] = '\0';
    if (where[0] || words[0])
        snprintf(out, size, " (%s%s)", where, words);
}

void pf_notes_kept(pf_notes *notes, const perfile_record *r, const perfile_feature *f,
                   const perfile_error *why)
{
    const bool unknown = why->status == PERFILE_E_UNSUPPORTED;
    perfile_note note = {.kind = PERFILE_NOTE_EVENT_BROKEN,
                         .number = UINT32_MAX,
                         .damage = why->damage,
                         .count = 1,
                         .offset = why->offset};
    if (r) {
        note.kind = unknown ? PERFILE_NOTE_RECORDS_KEPT : PERFILE_NOTE_RECORDS_BROKEN;
        note.number = r->type;
        note.part = r->part;
        note.bytes = perfile_record_size(r);
        note.offset = r->offset;
    } else if (f) {
        note.kind = unknown ? PERFILE_NOTE_FEATURE_KEPT : PERFILE_NOTE_FEATURE_BROKEN;
        note.number = f->number;
        note.bytes = f->size;
        note.offset = f->offset;
    }
    pf_notes_add(notes, &note);
}

uint64_t pf_notes_report(const pf_notes *notes, void (*note)(void *user, const perfile_note *note),
                         void *user)
{
    uint64_t losses = 0;
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note n = notes->at[i];
        char text[320], what[80], why[192];
        losses += kinds[n.kind].loss;
        if (!note)
            continue;
        subject(&n, what, sizeof what);
        reason(&n, notes->why[i], why, sizeof why);
        /* The format comes from the table above and has two %s in all rows. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, kinds[n.kind].sentence, what, why);
#pragma GCC diagnostic pop
        n.message = text;
        note(user, &n);
    }
    return losses;
}

/* Counts bytes for progress callbacks; see lib/copy.h. */

enum { REPORT_BYTES = 8 << 20 }; /* bytes between two reports: a few per second */

void pf_progress_begin(pf_progress *p, const perfile_container *c)
{
    *p = (pf_progress){.container = c, .total = pf_container_bytes(c)};
}

bool pf_progress_at(pf_progress *p, const perfile_record *at)
{
    for (; p->part < at->part && p->part < p->container->n_parts; p->part++)
        p->behind += p->total ? p->container->parts[p->part].size : 0;
    p->done = p->behind + at->offset;
    if (p->done < p->reported + REPORT_BYTES)
        return false;
    p->reported = p->done;
    return true;
}
