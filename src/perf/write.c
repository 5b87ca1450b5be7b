/* Creates, finishes and closes a perf.data writer. write.h explains how writing works. */
#include "perf/stream.h"

#include "perf/write.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"
#include "io/out.h"
#include "schema/types.h"
#include "io/command.h"

/* Checks the options, and that the sink can hold the form.  The header of a file is written last,
 * so its sink must be able to patch bytes that were written before. */
static perfile_status check_options(const perfile_writer_options *o, const perfile_sink *sink,
                                    perfile_error *err)
{
    if (o->form != PERFILE_FORM_FILE && o->form != PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form",
                       "form %u cannot be written: needed FILE or PIPE", o->form);
    if (o->attr_size &&
        (o->attr_size < PF_ATTR_LEAST || o->attr_size > PF_ATTR_MOST || o->attr_size % 8))
        return pf_fail(err, PERFILE_E_USAGE, "writer.attr_size",
                       "attrs of %u bytes: needed %d to %d, a multiple of 8", o->attr_size,
                       PF_ATTR_LEAST, PF_ATTR_MOST);
    if (o->compress_level < PERFILE_COMPRESS_NONE || o->compress_level > PF_DEFLATE_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "writer.compress_level",
                       "level %d: zstd has 1 to %d, 0 compresses nothing", o->compress_level,
                       PF_DEFLATE_LEVEL_MOST);
    /* Checked first: an error may be the reason why the sink cannot patch. */
    perfile_status st = pf_sink_status(sink, err);
    if (st != PERFILE_OK)
        return st;
    if (o->form == PERFILE_FORM_FILE && !pf_sink_can_patch(sink))
        return pf_fail(err, PERFILE_E_USAGE, "writer.sink",
                       "'%s' cannot hold a perf.data file, whose header is written last: give the "
                       "name of a file",
                       pf_sink_name(sink));
    if (pf_sink_has_parts(sink) && o->form == PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form",
                       "'%s' is to be a directory: its files cannot be pipes", pf_sink_name(sink));
    if (pf_sink_has_parts(sink) && o->progressive)
        return pf_fail(err, PERFILE_E_USAGE, "writer.progressive",
                       "'%s' is to be a directory, which appears when it is finished: write a file",
                       pf_sink_name(sink));
    return PERFILE_OK;
}

/* Returns true if the target version of perf can read compressed records. */
static bool knows_envelopes(const perfile_writer_options *o, const pf_release *target)
{
    return pf_release_knows_type(target, o->compressed2 ? PERFILE_RECORD_COMPRESSED2
                                                        : PERFILE_RECORD_COMPRESSED);
}

/* Checks that the target version of perf can read a capture with these options. */
static perfile_status check_target(const perfile_writer_options *o, const pf_release *target,
                                   const perfile_sink *sink, perfile_error *err)
{
    /* Versions before the feature DIR_FORMAT cannot read directories. */
    if (pf_sink_has_parts(sink) && target->feature < PERFILE_FEATURE_DIR_FORMAT)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                       "perf %s knows no directories: write a file", target->name);
    if (o->compress_level > 0 && !knows_envelopes(o, target))
        return pf_fail(err, PERFILE_E_USAGE, "writer.target", "perf %s knows no %s records",
                       target->name, o->compressed2 ? "COMPRESSED2" : "COMPRESSED");
    if (o->attr_size > target->attr_size)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                       "perf %s knows attrs of %u bytes, not of %u", target->name,
                       target->attr_size, o->attr_size);
    return PERFILE_OK;
}

perfile_status pf_write_keep(pf_perf_writer *w, perfile_bytes bytes, size_t *at, perfile_error *err)
{
    *at = w->facts.len;
    return pf_buffer_append(&w->facts, bytes.ptr, bytes.len) ? PERFILE_OK
                                                             : pf_fail_nomem(err, "writer.facts");
}

perfile_status pf_write_scratch(pf_perf_writer *w, size_t n, uint8_t **at, perfile_error *err)
{
    pf_buffer_clear(&w->scratch);
    if (!pf_buffer_reserve(&w->scratch, n))
        return pf_fail_nomem(err, "writer.scratch");
    *at = w->scratch.ptr;
    return PERFILE_OK;
}

perfile_status pf_write_check_usable(const pf_perf_writer *w, perfile_error *err)
{
    if (w->broken.status) {
        if (err)
            *err = w->broken;
        return w->broken.status;
    }
    if (w->base.finished || w->base.given_up)
        return pf_fail(err, PERFILE_E_USAGE, "writer", "the capture %s",
                       w->base.finished ? "is finished" : "was given up");
    return PERFILE_OK;
}

perfile_status pf_write_check_at_record(const pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_check_usable(w, err);
    if (st == PERFILE_OK && w->base.extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra",
                       "%llu bytes after the last record are still to come",
                       (unsigned long long)w->base.extra_left);
    return st;
}

perfile_status pf_write_set_broken(pf_perf_writer *w, perfile_status st, const perfile_error *why,
                                   perfile_error *err)
{
    if (st >= 0)
        return st;
    w->broken = *why;
    if (err)
        *err = *why;
    return st;
}

/* Also empties the span if writing fails: the writer is broken then. */
perfile_status pf_write_flush_span(pf_perf_writer *w, perfile_error *err)
{
    perfile_bytes span = w->span;
    w->span = (perfile_bytes){NULL, 0};
    if (span.len == 0)
        return PERFILE_OK;
    return perfile_sink_write(w->part->sink, span, err);
}

perfile_status pf_write_bytes(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(w->part->sink, bytes, err);
    if (st == PERFILE_OK)
        pf_write_count(w, bytes.len);
    return st;
}

perfile_status pf_write_begin(pf_perf_writer *w, perfile_error *err)
{
    perfile_error why;
    if (w->begun)
        return PERFILE_OK;
    w->begun = true;
    perfile_status st = w->base.form == PERFILE_FORM_PIPE ? pf_write_pipe_front(w, &why)
                                                          : pf_write_file_front(w, &why);
    if (st == PERFILE_OK && w->updates.len)
        st = pf_write_bytes(w, (perfile_bytes){w->updates.ptr, w->updates.len}, &why);
    if (st == PERFILE_OK && w->progressive)
        st = pf_sink_appear(w->base.sink, &why);
    return pf_write_set_broken(w, st, &why, err);
}

/* pf_writer_ops.finish.  Flushes the parts before it writes the sections after the records, because
 * these state how many bytes the records have. */
static perfile_status finish(perfile_writer *writer, perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_error why;
    perfile_status st = pf_write_check_at_record(w, err);
    if (st != PERFILE_OK)
        return st;
    /* A capture without records still has the sections or records before them. */
    st = pf_write_begin(w, &why);
    if (st == PERFILE_OK)
        st = pf_write_finish_parts(w, &why);
    if (st == PERFILE_OK && w->base.form == PERFILE_FORM_FILE)
        st = pf_write_file_back(w, &why);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(w->base.sink, &why);
    return pf_write_set_broken(w, st, &why, err);
}

/* pf_writer_ops.close: frees the writer, not its sink. */
static void close_writer(perfile_writer *writer)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    /* A progressive file that was not finished still gets the records put so far. */
    if (w->progressive && w->begun && !w->base.finished && !w->base.given_up && !w->broken.status)
        (void)(pf_write_finish_parts(w, NULL) == PERFILE_OK &&
               perfile_sink_flush(w->base.sink, NULL));
    pf_write_free_parts(w);
    pf_buffer_free(&w->facts);
    pf_buffer_free(&w->events);
    pf_buffer_free(&w->event_types);
    pf_buffer_free(&w->updates);
    pf_buffer_free(&w->aux_index);
    pf_buffer_free(&w->scratch);
    pf_buffer_free(&w->own);
    pf_buffer_free(&w->gathered);
    pf_free(w);
}

static const pf_writer_ops ops = {
    .format = "perf.data",
    .family = PERFILE_FAMILY_PERF,
    .event = pf_write_event,
    .feature = pf_write_feature,
    .put = pf_write_put,
    .extra = pf_write_extra,
    .takes = pf_write_takes,
    .finish = finish,
    .close = close_writer,
};

pf_perf_writer *pf_perf_writer_of(perfile_writer *w, const char *what, perfile_error *err)
{
    if (w->ops == &ops)
        return (pf_perf_writer *)w;
    pf_writer_refuse(w, what, err);
    return NULL;
}

/* pf_driver.create.  The caller still owns the sink. */
perfile_status pf_perf_create(perfile_sink *sink, const perfile_writer_options *options,
                              perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o;
    const pf_release *target = NULL;
    perfile_status st = pf_options_copy(&o, options, "writer.options", err);
    if (st == PERFILE_OK && o.form == PERFILE_FORM_NONE)
        o.form = PERFILE_FORM_FILE;
    if (st == PERFILE_OK)
        st = pf_byte_order_check(o.byte_order, "writer.options", err);
    if (st == PERFILE_OK)
        st = check_options(&o, sink, err);
    if (st == PERFILE_OK && o.target)
        st = pf_release_find(o.target, &target, err);
    if (st == PERFILE_OK && target)
        st = check_target(&o, target, sink, err);
    if (st != PERFILE_OK)
        return st;
    pf_perf_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->base.ops = &ops;
    w->base.sink = sink;
    w->base.form = o.form;
    w->base.swap = pf_byte_order_swaps(o.byte_order);
    w->base.directory = pf_sink_has_parts(sink);
    w->progressive = o.progressive;
    w->compressed2 = o.compressed2;
    w->as_stored = o.as_stored;
    w->base.level = o.compress_level > 0 ? o.compress_level : 0;
    w->to_archive = pf_sink_wants_records(sink) && !w->base.level;
    w->base.packs_as_read = o.compress_level == PERFILE_COMPRESS_AS_READ && !w->to_archive &&
                            o.form == PERFILE_FORM_FILE && (!target || knows_envelopes(&o, target));
    w->target = target;
    /* A target reads attrs of the size that it knows; it may refuse longer ones. */
    w->attr_size = target && !o.attr_size ? target->attr_size : o.attr_size;
    st = pf_write_first_part(w, err);
    if (st != PERFILE_OK) {
        close_writer(&w->base);
        return st;
    }
    *writer = &w->base;
    return PERFILE_OK;
}

/* The parts of a capture that is written: one file, or `data` and data.N of a directory.
 *
 * Part 0 is `data` and uses the writer's sink.  Part n is data.(n - 1) and gets its sink when its
 * first record comes.  Each part has its own zstd stream and stage.  The pending span belongs to
 * the current part and is flushed before another part is selected. */

/* Grows w->parts so that it contains `part`; w->part remains the same part. */
static perfile_status ensure_part(pf_perf_writer *w, uint32_t part, perfile_error *err)
{
    if (part < w->n_parts)
        return PERFILE_OK;
    pf_write_part *parts = pf_realloc(w->parts, part + (size_t)1, sizeof *parts);
    if (!parts)
        return pf_fail_nomem(err, "writer.parts");
    memset(parts + w->n_parts, 0, (part + (size_t)1 - w->n_parts) * sizeof *parts);
    w->parts = parts;
    w->part = parts + w->at;
    w->n_parts = part + 1;
    return PERFILE_OK;
}

/* Writes the pending bytes of the current part. */
static perfile_status flush_part(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_flush_span(w, err);
    return st == PERFILE_OK && w->base.level ? pf_write_flush_stage(w, err) : st;
}

perfile_status pf_write_first_part(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = ensure_part(w, 0, err);
    if (st == PERFILE_OK) {
        w->part = w->parts;
        w->part->sink = w->base.sink;
    }
    return st;
}

perfile_status pf_write_select_part(pf_perf_writer *w, uint32_t part, perfile_error *err)
{
    perfile_sink *sink = w->base.sink;
    perfile_status st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK && part)
        st = pf_sink_part(w->base.sink, part - 1, &sink, err);
    if (st == PERFILE_OK)
        st = ensure_part(w, part, err);
    if (st != PERFILE_OK)
        return st;
    w->parts[part].sink = sink;
    w->at = part;
    w->part = &w->parts[part];
    return PERFILE_OK;
}

perfile_status pf_write_finish_parts(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = flush_part(w, err);
    for (uint32_t i = w->n_parts; i-- && st == PERFILE_OK;) {
        if (!w->parts[i].sink)
            continue;
        w->at = i;
        w->part = &w->parts[i];
        st = flush_part(w, err);
    }
    return st;
}

void pf_write_free_parts(pf_perf_writer *w)
{
    for (uint32_t i = 0; i < w->n_parts; i++) {
        pf_deflate_free(w->parts[i].deflate);
        pf_buffer_free(&w->parts[i].stage);
    }
    pf_free(w->parts);
}

/* Compression: kernel records go into COMPRESSED or COMPRESSED2 records.
 *
 * Records are collected in the stage of their part, up to PF_WRITE_CHUNK bytes.  A full stage is
 * compressed and flushed into one envelope, so that decompressing an envelope yields all of its
 * records, and no reader needs more memory than the feature COMPRESSED states.  Records of the tool
 * are not compressed; the stage is flushed before them to keep the order. */

enum { DATA_SIZE = 8 }; /* the length of the zstd bytes in COMPRESSED2 */

/* Writes the header of an envelope, and for COMPRESSED2 length and padding, around `len` bytes of
 * zstd that are already in it.  Returns the size of the record. */
static size_t finish_envelope(const pf_perf_writer *w, uint8_t *envelope, size_t len)
{
    size_t size = PF_PERF_RECORD_HEADER + len;
    if (w->compressed2) {
        pf_store_u64(envelope + PF_PERF_RECORD_HEADER, len, w->base.swap);
        size = (size + DATA_SIZE + 7) & ~(size_t)7;
        size_t end = PF_PERF_RECORD_HEADER + DATA_SIZE + len;
        memset(envelope + end, 0, size - end);
    }
    uint32_t type = w->compressed2 ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    pf_store_u32(envelope, type, w->base.swap);
    pf_store_u16(envelope + 4, 0, w->base.swap);
    pf_store_u16(envelope + 6, (uint16_t)size, w->base.swap);
    return size;
}

/* Compresses the stage of the current part into an envelope and writes it. */
static perfile_status flush_chunk(pf_perf_writer *w, perfile_error *err)
{
    pf_write_part *p = w->part;
    size_t before = PF_PERF_RECORD_HEADER + (w->compressed2 ? DATA_SIZE : 0);
    size_t room = pf_deflate_bound(PF_WRITE_CHUNK), len = 0;
    if (!pf_buffer_reserve(&w->own, before + room + 8))
        return pf_fail_nomem(err, "writer.own");
    uint8_t *envelope = w->own.ptr;
    perfile_status st = pf_deflate_feed(p->deflate, (perfile_bytes){p->stage.ptr, p->stage.len},
                                        envelope + before, room, &len, err);
    if (st != PERFILE_OK)
        return st;
    size_t size = finish_envelope(w, envelope, len);
    w->plain_bytes += p->stage.len;
    w->packed_bytes += len;
    pf_buffer_clear(&p->stage);
    return pf_write_bytes(w, (perfile_bytes){envelope, size}, err);
}

perfile_status pf_write_flush_stage(pf_perf_writer *w, perfile_error *err)
{
    perfile_error why;
    if (!w->part->stage.len)
        return PERFILE_OK;
    return pf_write_set_broken(w, flush_chunk(w, &why), &why, err);
}

/* The zstd stream and the stage of a part are made when its first bytes come.  The stage never
 * grows, so appending cannot fail. */
perfile_status pf_write_add_to_stage(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err)
{
    pf_buffer *stage = &w->part->stage;
    perfile_status st = PERFILE_OK;
    if (!w->part->deflate && pf_buffer_reserve(stage, PF_WRITE_CHUNK))
        w->part->deflate = pf_deflate_new(w->base.level);
    if (!w->part->deflate)
        return pf_fail_nomem(err, "writer.parts");
    while (bytes.len && st == PERFILE_OK) {
        size_t n = PF_WRITE_CHUNK - stage->len;
        if (n > bytes.len)
            n = bytes.len;
        (void)pf_buffer_append(stage, bytes.ptr, n);
        bytes.ptr += n;
        bytes.len -= n;
        if (stage->len == PF_WRITE_CHUNK)
            st = pf_write_flush_stage(w, err);
    }
    return st;
}

perfile_status pf_write_compress(pf_perf_writer *w, const perfile_record *r, perfile_error *err)
{
    size_t size = PF_PERF_RECORD_HEADER + r->body.len;
    perfile_status st = pf_write_flush_span(w, err);
    /* A record is divided between envelopes only if it is longer than a chunk. */
    if (st == PERFILE_OK && w->part->stage.len + size > PF_WRITE_CHUNK)
        st = pf_write_flush_stage(w, err);
    if (st == PERFILE_OK)
        st = pf_write_add_to_stage(w, (perfile_bytes){r->header, PF_PERF_RECORD_HEADER}, err);
    return st == PERFILE_OK ? pf_write_add_to_stage(w, r->body, err) : st;
}

perfile_status pf_write_compressed_feature(pf_perf_writer *w, perfile_error *err)
{
    enum { ZSTD = 1 };
    uint8_t payload[32];
    size_t len;
    /* The ratio is rounded to the nearest integer. */
    uint64_t ratio = w->packed_bytes ? (w->plain_bytes + w->packed_bytes / 2) / w->packed_bytes : 1;
    perfile_encode_options how = pf_write_encoding(w);
    perfile_compression c = {.type = ZSTD,
                             .level = (uint32_t)w->base.level,
                             .ratio = ratio < UINT32_MAX ? (uint32_t)ratio : UINT32_MAX,
                             .mmap_len = PF_WRITE_MMAP_LEN};
    if (!w->base.level)
        return PERFILE_OK;
    perfile_status st =
        perfile_compression_encode(&c, sizeof c, &how, payload, sizeof payload, &len, err);
    pf_written_feature f = {.there = true, .len = len};
    if (st == PERFILE_OK)
        st = pf_write_keep(w, (perfile_bytes){payload, len}, &f.at, err);
    if (st == PERFILE_OK)
        w->features[PERFILE_FEATURE_COMPRESSED] = f;
    return st;
}
