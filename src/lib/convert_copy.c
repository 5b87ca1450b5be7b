/* Converting through a writer: a stream on the input, on it the stages that the options ask for
 * (first scrubbing, then older versions of perf, then byte order), and perfile_copy() into a
 * writer. */
#include "base/error.h"
#include "core/swap.h"
#include "lib/convert.h"
#include "lib/passes.h"
#include "lib/registry.h"
#include "schema/rows.h"

enum { DEFAULT_LEVEL = 1 }; /* of zstd, as for `perf record -z` */

/* True if COMPRESSED records can be copied without decompressing them. */
static bool stay_packed(const pf_convert *x)
{
    const uint32_t rewriting = PERFILE_CONVERT_DROP_UNKNOWN | PERFILE_CONVERT_COMPRESS |
                               PERFILE_CONVERT_DECOMPRESS | PERFILE_CONVERT_SCRUB;
    /* The chunks of a file are one zstd stream, each decompressed with what was before.  Files of a
     * directory have a stream each, which cannot be joined without decompressing. */
    return !x->byteswaps && !x->options.target && !(x->options.flags & rewriting) &&
           (!x->from_directory || x->to_directory);
}

/* Notes the range `e` of the file, which no section covers, if any of its bytes is not zero: it is
 * not copied by a writer.  Zeros are padding. */
static perfile_status note_gap(pf_convert *x, const perfile_extent *e, perfile_error *err)
{
    perfile_note note = {.kind = PERFILE_NOTE_BYTES_LEFT_OUT,
                         .number = UINT32_MAX,
                         .count = 1,
                         .bytes = e->length,
                         .offset = e->offset};
    for (uint64_t at = e->offset; at < e->offset + e->length;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(x->source, at, 1, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (run.len > e->offset + e->length - at)
            run.len = (size_t)(e->offset + e->length - at);
        at += run.len;
        for (size_t i = 0; i < run.len; i++)
            if (run.ptr[i]) {
                pf_notes_add(&x->notes, &note);
                return PERFILE_OK;
            }
    }
    return PERFILE_OK;
}

/* Notes all ranges between the sections of the input and behind the last one. */
static perfile_status note_gaps(pf_convert *x, const perfile_stream *s, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < c->n_extents && st == PERFILE_OK; i++) {
        const perfile_extent *e = &c->extents[i];
        if (e->role == PERFILE_EXTENT_GAP || e->role == PERFILE_EXTENT_TAIL)
            st = note_gap(x, e, err);
    }
    return st;
}

/* Callback of perfile_target(): passes a loss on as a note at once. */
static void on_loss(void *user, const perfile_target_loss *loss)
{
    pf_convert *x = user;
    perfile_note note = {.kind = PERFILE_NOTE_TARGET,
                         .number = UINT32_MAX,
                         .count = loss->count,
                         .offset = loss->first_offset,
                         .text = loss->sentence};
    x->target_losses++;
    if (x->options.note)
        x->options.note(x->options.user, &note);
}

/* Puts the stage for an older version of perf on *s. */
static perfile_status add_target(pf_convert *x, perfile_stream **s, perfile_error *err)
{
    perfile_target_options how = {
        .size = sizeof how, .version = x->options.target, .loss = on_loss, .user = x};
    return perfile_target(*s, &how, s, err);
}

/* Writes the records of `s` and its facts to x->sink. */
static perfile_status write_all(pf_convert *x, perfile_stream *s, perfile_error *err)
{
    uint32_t flags = x->options.flags;
    perfile_writer_options how = {
        .size = sizeof how,
        .as_stored = true,
        .form = x->result.form,
        .format = x->options.format ? x->options.format : perfile_stream_container(s)->format,
        .target = x->options.target,
        .byte_order = perfile_session_byte_order(perfile_stream_session(s))};
    if (flags & PERFILE_CONVERT_COMPRESS)
        how.compress_level = x->options.level ? x->options.level : DEFAULT_LEVEL;
    perfile_copy_options copy = {.size = sizeof copy,
                                 .note = x->options.note,
                                 .progress = x->options.progress,
                                 .user = x->options.user};
    copy.flags = (flags & PERFILE_CONVERT_DROP_UNKNOWN ? PERFILE_COPY_DROP_UNKNOWN : 0) |
                 (pf_convert_forced(x) ? PERFILE_COPY_FORCE : 0) |
                 (stay_packed(x) ? PERFILE_COPY_COMPRESSED : 0);
    perfile_writer *w;
    perfile_status st = perfile_writer_open(x->sink, &how, &w, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_copy(s, w, &copy, &x->result.copied, sizeof x->result.copied, err);
    perfile_writer_close(w);
    return st;
}

/* The capture as records of perf's own family, in order of time.  Each pass of the driver's
 * translation opens the capture anew. */
typedef struct translating {
    pf_convert *x;
    pf_passes passes;
    bool checked; /* the damage of header and facts was reported */
} translating;

static perfile_status open_pass(void *user, perfile_stream **stream, perfile_error *err)
{
    translating *t = user;
    perfile_stream *s;
    perfile_status st = pf_passes_open(&t->passes, &s, err);
    if (st == PERFILE_OK && !t->checked) {
        t->checked = true;
        st = pf_convert_check_damage(t->x, s, err);
        if (st != PERFILE_OK)
            perfile_stream_close(s);
    }
    if (st == PERFILE_OK)
        *stream = s;
    return st;
}

static perfile_status on_damage(void *user, const perfile_record *r, perfile_error *err)
{
    const translating *t = user;
    perfile_status st = pf_convert_note_damage(t->x, r, err);
    t->x->result.damaged |= st == PERFILE_OK;
    return st;
}

/* Refuses options that a conversion to another format does not have. */
static perfile_status check_translated(const pf_convert *x, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    const pf_driver *to = pf_driver_named(o->format);
    if (!to)
        return pf_fail(err, PERFILE_E_USAGE, "convert.format", "no format is called '%s'",
                       o->format);
    if (!x->driver->translate || to->family != PERFILE_FAMILY_PERF)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.format",
                       "records of a capture of format %s cannot be written as %s", x->driver->name,
                       o->format);
    if (o->byte_order == PERFILE_BYTE_ORDER_BIG || x->to_directory)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.form",
                       "a conversion to another format makes a little-endian file or a pipe");
    return PERFILE_OK;
}

perfile_status pf_convert_translate(pf_convert *x, perfile_error *err)
{
    translating t = {.x = x};
    const pf_translation how = {.pass = open_pass,
                                .damage = on_damage,
                                .user = &t,
                                .options = &x->options,
                                .losses = &x->target_losses};
    const perfile_assume assume = {
        .size = sizeof assume, .cpus = x->perfmon.cpus, .n_cpus = x->perfmon.n_cpus};
    perfile_open_options reading = pf_convert_reading(x);
    reading.assume = assume.cpus ? &assume : NULL;
    perfile_stream *s = NULL;
    perfile_status st = check_translated(x, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_passes_begin(&t.passes, x->source, &reading, err);
    if (st == PERFILE_OK && !pf_passes_seekable(&t.passes))
        st = pf_passes_spool(&t.passes, err);
    x->source = t.passes.source;
    x->result.form = x->options.form == PERFILE_FORM_PIPE ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    x->result.byte_order = PERFILE_BYTE_ORDER_LITTLE;
    if (st == PERFILE_OK)
        st = pf_translate(x->driver, &how, &s, err);
    if (st == PERFILE_OK && x->options.target)
        st = add_target(x, &s, err);
    if (st == PERFILE_OK)
        st = write_all(x, s, err);
    perfile_stream_close(s);
    return st;
}

perfile_status pf_convert_copy(pf_convert *x, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    perfile_stream *s = NULL, *scrub = NULL;
    /* A directory cannot be read through a tee: the stream takes the source over. */
    bool direct = x->from_directory;
    perfile_status st =
        direct ? pf_convert_open(x, x->source, &s, err) : pf_convert_open_tee(x, &tee, &s, err);
    if (st == PERFILE_OK && direct)
        x->source = NULL;
    if (st == PERFILE_OK)
        st = pf_convert_check_damage(x, s, err);
    if (st == PERFILE_OK && !direct && x->source->seekable)
        st = note_gaps(x, s, err);
    if (st == PERFILE_OK && x->options.flags & PERFILE_CONVERT_SCRUB) {
        st = perfile_scrub(s, &s, err);
        scrub = s;
        x->lossy |= PF_LOSSY_SCRUBBED;
    }
    if (st == PERFILE_OK)
        pf_sink_mark(x->sink, x->lossy);
    if (st == PERFILE_OK && x->options.target)
        st = add_target(x, &s, err);
    if (st == PERFILE_OK && !x->known) { /* plan() had no header to know the byte order from */
        bool big = perfile_stream_container(s)->byte_order == PERFILE_BYTE_ORDER_BIG;
        x->byteswaps =
            x->options.byte_order && (x->options.byte_order == PERFILE_BYTE_ORDER_BIG) != big;
        x->result.byte_order =
            big != x->byteswaps ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
    }
    if (st == PERFILE_OK && x->byteswaps) {
        perfile_byteswap_options how = {.size = sizeof how, .kept = pf_convert_on_kept, .user = x};
        st = perfile_byteswap(s, x->options.byte_order, &how, &s, err);
    }
    if (st == PERFILE_OK)
        st = write_all(x, s, err);
    if (scrub) {
        perfile_scrub_summary sum;
        perfile_scrub_get_summary(scrub, &sum, sizeof sum);
        x->result.scrubbed_records = sum.records;
        x->result.scrubbed_bytes = sum.bytes;
    }
    perfile_stream_close(s);
    return st;
}

/* Converting to the other byte order in place: each run of records is swapped into a buffer and
 * written in place of its bytes.  At the end driver->byteswap_facts() overwrites header, sections
 * and features of a file with their swapped bytes, for which the sink must be able to write at an
 * offset again.
 *
 * Damaged bytes are copied as they are, but for a header that was read as such: it is swapped, so
 * that a reader of the output finds the same damage at the same offset. */

/* For a file, the facts are swapped at the end, so the sink must be able to overwrite. */
perfile_status pf_image_swap_head(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    if (!x->byteswaps)
        return PERFILE_OK;
    if (x->head.form == PERFILE_FORM_FILE && !pf_sink_can_patch(x->sink))
        return pf_fail(err, PERFILE_E_USAGE, "convert.sink",
                       "'%s' cannot take the file form, whose header is written last: write to a "
                       "file, or choose the form pipe",
                       perfile_sink_name(x->sink));
    if (x->head.form != PERFILE_FORM_PIPE)
        return PERFILE_OK;
    uint8_t header[PF_HEAD_BYTES];
    x->driver->byteswap_head((perfile_bytes){x->first, sizeof x->first}, header);
    m->copied = sizeof header;
    return perfile_sink_write(m->sink, (perfile_bytes){header, sizeof header}, err);
}

/* `joined` is the record made from the fragments that wait: swaps it, and overwrites the bodies of
 * the fragments in the output with its swapped bytes, one range after the other. */
static perfile_status swap_fragments(pf_image *m, const perfile_record *joined, perfile_error *err)
{
    const perfile_section *body = (const perfile_section *)(const void *)m->fragments.ptr;
    const perfile_section *end = body + m->fragments.len / sizeof *body;
    size_t size = perfile_record_size(joined), at = 0;
    perfile_error why;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->swapped);
    if (!pf_buffer_reserve(&m->swapped, size))
        return pf_fail_nomem(err, "convert");
    if (pf_swap_record(joined, m->swapped.ptr, &why) != PERFILE_OK &&
        (st = pf_convert_on_kept(m->x, joined, NULL, &why)) != PERFILE_OK && err)
        *err = why;
    for (; body < end && at < size && st == PERFILE_OK; body++) {
        size_t some = body->size < size - at ? (size_t)body->size : size - at;
        st = pf_sink_patch(m->sink, body->offset, (perfile_bytes){m->swapped.ptr + at, some}, err);
        at += some;
    }
    pf_buffer_clear(&m->fragments);
    return st;
}

/* Remembers the body of a fragment for swap_fragments().  A number of the record may lie across two
 * fragments, so that a fragment alone cannot be swapped. */
static perfile_status note_fragment(pf_image *m, const perfile_record *r, perfile_error *err)
{
    perfile_section body = {r->offset + PF_PERF_RECORD_HEADER, r->body.len};
    if (!pf_sink_can_patch(m->sink))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.split",
                       "fragments of a record are byte-swapped when the last of them has come, by "
                       "overwriting them: write to a file");
    return pf_buffer_append(&m->fragments, &body, sizeof body) ? PERFILE_OK
                                                               : pf_fail_nomem(err, "convert");
}

/* Writes a run of records, which lie one after the other in memory and in the file, in the other
 * byte order.  A record that cannot be swapped completely ends the call of pf_swap_run(); it is
 * reported, and swapping goes on with the record behind it. */
static perfile_status swap_run(pf_image *m, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    size_t size = (size_t)(last->header - first->header) + perfile_record_size(last);
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->swapped);
    if (!pf_buffer_reserve(&m->swapped, size))
        st = pf_fail_nomem(err, "convert");
    for (size_t done = 0; done < n && st == PERFILE_OK; done++) {
        perfile_error why;
        const perfile_record *from = &first[done];
        done += pf_swap_run(from, n - done, m->swapped.ptr + (from->header - first->header), &why);
        if (done < n && (st = pf_convert_on_kept(m->x, &first[done], NULL, &why)) != PERFILE_OK &&
            err)
            *err = why;
    }
    /* pf_image_copy_below() may reuse the memory that `first` points to: nothing below reads the
     * records, only first->offset, which is in the stream. */
    if (st == PERFILE_OK)
        st = pf_image_copy_below(m, first->offset, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(m->sink, (perfile_bytes){m->swapped.ptr, size}, err);
    m->copied += size;
    return st;
}

/* Writes a run in the other byte order.  Inner records are not in the file, but for the record
 * joined from fragments, which goes over these.  Compressed records end in an error: convert() has
 * looked for them, but by the feature that announces them. */
perfile_status pf_image_swap(pf_image *m, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->flags & PERFILE_REC_INNER)
        return m->fragments.len ? swap_fragments(m, first, err) : PERFILE_OK;
    if (first->flags & PERFILE_REC_ENVELOPE) {
        perfile_status st =
            pf_is_fragment(first)
                ? note_fragment(m, first, err)
                : pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.compressed",
                          "a compressed record, but no COMPRESSED feature announces "
                          "them: decompress them");
        pf_error_at(err, first->offset);
        if (st != PERFILE_OK)
            return st;
    }
    return swap_run(m, first, n, err);
}

perfile_status pf_image_swap_damaged(pf_image *m, const perfile_record *r, perfile_error *err)
{
    uint8_t header[PF_PERF_RECORD_HEADER];
    bool framed =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    perfile_source *from = m->bytes[m->part];
    perfile_bytes run;
    if (!framed || r->flags & PERFILE_REC_INNER || !from->seekable || r->body.len < sizeof header)
        return PERFILE_OK;
    perfile_status st = pf_source_run(from, r->offset, sizeof header, &run, err);
    if (st != PERFILE_OK || run.len < sizeof header)
        return st;
    pf_swap_header(header, run.ptr);
    st = pf_image_copy_below(m, r->offset, err);
    m->copied += sizeof header;
    return st == PERFILE_OK
               ? perfile_sink_write(m->sink, (perfile_bytes){header, sizeof header}, err)
               : st;
}

perfile_status pf_image_swap_facts(const pf_image *m, perfile_error *err)
{
    const pf_byteswap_copy t = {.stream = m->stream,
                                .bytes = m->bytes[0],
                                .sink = m->x->sink,
                                .kept = pf_convert_on_kept,
                                .user = m->x};
    return m->x->driver->byteswap_facts(&t, err);
}
