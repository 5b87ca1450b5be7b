/* Converting to the other byte order in place: each run of records is swapped into a buffer and
 * written in place of its bytes.  At the end driver->byteswap_facts() overwrites header, sections
 * and features of a file with their swapped bytes, for which the sink must be able to write at an
 * offset again.
 *
 * Damaged bytes are copied as they are, but for a header that was read as such: it is swapped, so
 * that a reader of the output finds the same damage at the same offset. */
#include "base/error.h"
#include "core/swap.h"
#include "lib/convert_image.h"
#include "schema/family.h"
#include "schema/frame.h"
#include "schema/swap.h"

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
