/* Records into a capture: adjacent ones leave in large spans. */
#include "perf/write.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/order.h"
#include "io/out.h"
#include "io/out_dir.h"

enum {
    SPAN_BYTES = 1 << 20 /* so that it is written while it is near */,
    ATTR_LEAST = 64,
    ATTR_MOST = 4096
};

static perfile_status check_options(const perfile_writer_options *o, const perfile_sink *sink,
                                    perfile_error *err)
{
    if (o->form != PERFILE_FORM_FILE && o->form != PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form", "form %u is none that can be written",
                       o->form);
    if (o->attr_size && (o->attr_size < ATTR_LEAST || o->attr_size > ATTR_MOST || o->attr_size % 8))
        return pf_fail(err, PERFILE_E_USAGE, "writer.attr_size",
                       "attrs of %u bytes: %d to %d are possible, in steps of 8", o->attr_size,
                       ATTR_LEAST, ATTR_MOST);
    if (o->compress_level < 0 || o->compress_level > PF_DEFLATE_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "writer.compress_level",
                       "level %d: zstd has 1 to %d, 0 compresses nothing", o->compress_level,
                       PF_DEFLATE_LEVEL_MOST);
    if (o->form == PERFILE_FORM_FILE && !pf_sink_can_patch(sink))
        return pf_fail(err, PERFILE_E_USAGE, "writer.sink",
                       "'%s' cannot hold a perf.data file, whose header is written last: give the "
                       "name of a file",
                       perfile_sink_name(sink));
    if (pf_sink_is_directory(sink) && o->form == PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form",
                       "'%s' is to be a directory: its files cannot be pipes",
                       perfile_sink_name(sink));
    if (pf_sink_is_directory(sink) && o->progressive)
        return pf_fail(err, PERFILE_E_USAGE, "writer.progressive",
                       "'%s' is to be a directory, which appears when it is finished: write a file",
                       perfile_sink_name(sink));
    return PERFILE_OK;
}

static perfile_status check_target(const perfile_writer_options *o, const pf_write_version *target,
                                   perfile_error *err)
{
    uint32_t needed = o->compressed2 ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    if (o->compress_level && target->user_type < needed)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target", "perf %s knows no %s records",
                       target->name, o->compressed2 ? "COMPRESSED2" : "COMPRESSED");
    if (o->attr_size > target->attr_size)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                       "perf %s knows attrs of %u bytes, not of %u", target->name,
                       target->attr_size, o->attr_size);
    return PERFILE_OK;
}

perfile_status perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                                   perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (o.form == PERFILE_FORM_NONE)
        o.form = PERFILE_FORM_FILE;
    const pf_write_version *target = NULL;
    perfile_status st = check_options(&o, sink, err);
    if (st == PERFILE_OK && o.target)
        st = pf_write_find_version(o.target, &target, err);
    if (st == PERFILE_OK && target)
        st = check_target(&o, target, err);
    if (st != PERFILE_OK)
        return st;
    perfile_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->sink = sink;
    w->form = o.form;
    w->swap = o.swapped;
    w->directory = pf_sink_is_directory(sink);
    w->progressive = o.progressive;
    w->compressed2 = o.compressed2;
    w->level = o.compress_level;
    w->target = target;
    w->attr_size = target && !o.attr_size ? target->attr_size : o.attr_size;
    st = pf_write_first_part(w, err);
    if (st != PERFILE_OK) {
        perfile_writer_close(w);
        return st;
    }
    *writer = w;
    return PERFILE_OK;
}

perfile_status perfile_writer_create(const char *path, const perfile_writer_options *options,
                                     perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    perfile_sink *sink = NULL;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.size = sizeof o;
    perfile_sink_options how = {.size = sizeof how, .flags = o.sink_flags};
    perfile_status st = o.directory ? perfile_sink_directory(path, &how, &sink, err)
                                    : perfile_sink_path(path, &how, &sink, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, &o, writer, err);
    if (st == PERFILE_OK)
        (*writer)->own_sink = true;
    else
        perfile_sink_close(sink);
    return st;
}

perfile_status pf_write_keep(perfile_writer *w, perfile_bytes bytes, size_t *at, perfile_error *err)
{
    *at = w->facts.len;
    return pf_buffer_append(&w->facts, bytes.ptr, bytes.len) ? PERFILE_OK
                                                             : pf_fail_nomem(err, "writer.facts");
}

perfile_status pf_write_scratch(perfile_writer *w, size_t n, uint8_t **at, perfile_error *err)
{
    pf_buffer_clear(&w->scratch);
    if (!pf_buffer_reserve(&w->scratch, n))
        return pf_fail_nomem(err, "writer.scratch");
    *at = w->scratch.ptr;
    return PERFILE_OK;
}

perfile_status pf_write_usable(const perfile_writer *w, perfile_error *err)
{
    if (w->broken.status) {
        if (err)
            *err = w->broken;
        return w->broken.status;
    }
    if (w->finished)
        return pf_fail(err, PERFILE_E_USAGE, "writer", "the capture is finished");
    return PERFILE_OK;
}

perfile_status pf_write_between(const perfile_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_usable(w, err);
    if (st == PERFILE_OK && w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra",
                       "%llu bytes behind the last record are still to come",
                       (unsigned long long)w->extra_left);
    return st;
}

perfile_status pf_write_break(perfile_writer *w, perfile_status st, const perfile_error *why,
                              perfile_error *err)
{
    if (st >= 0)
        return st;
    w->broken = *why;
    if (err)
        *err = *why;
    return st;
}

perfile_status pf_write_flush_span(perfile_writer *w, perfile_error *err)
{
    perfile_bytes span = w->span;
    w->span = (perfile_bytes){NULL, 0};
    return span.len ? perfile_sink_write(w->part->sink, span, err) : PERFILE_OK;
}

perfile_status pf_write_bytes(perfile_writer *w, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(w->part->sink, bytes, err);
    if (st == PERFILE_OK)
        w->part->bytes += bytes.len;
    return st;
}

/* Puts `bytes`, which stay where they are until the next flush, behind what is there. */
static inline perfile_status add_span(perfile_writer *w, const uint8_t *bytes, size_t n,
                                      perfile_error *err)
{
    w->part->bytes += n;
    if (w->span.len && w->span.ptr + w->span.len == bytes && w->span.len < SPAN_BYTES) {
        w->span.len += n;
        return PERFILE_OK;
    }
    perfile_status st = pf_write_flush_span(w, err);
    w->span = (perfile_bytes){bytes, n};
    return st;
}

perfile_status pf_write_begin(perfile_writer *w, perfile_error *err)
{
    perfile_error why;
    if (w->begun)
        return PERFILE_OK;
    w->begun = true;
    perfile_status st =
        w->form == PERFILE_FORM_PIPE ? pf_write_pipe_front(w, &why) : pf_write_front(w, &why);
    if (st == PERFILE_OK && w->updates.len)
        st = pf_write_bytes(w, (perfile_bytes){w->updates.ptr, w->updates.len}, &why);
    if (st == PERFILE_OK && w->progressive)
        st = pf_sink_appear(w->sink, &why);
    return pf_write_break(w, st, &why, err);
}

/* The index of AUX traces has the place of each record. */
static perfile_status note_aux(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    if (w->at)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "AUX traces stand in the file `data` of a directory, not in data.%u",
                       w->at - 1);
    uint64_t entry[2] = {pf_write_u64(w, w->data_start + w->part->bytes),
                         pf_write_u64(w, PF_PERF_RECORD_HEADER + r->body.len)};
    return pf_buffer_append(&w->aux_index, entry, sizeof entry)
               ? PERFILE_OK
               : pf_fail_nomem(err, "writer.aux_index");
}

static inline perfile_status put_one(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (w->directory && r->part != w->at)
        st = pf_write_go_to(w, r->part, err);
    w->kernel |= r->type < PERFILE_RECORD_USER;
    if (w->level && st == PERFILE_OK) {
        if (r->type < PERFILE_RECORD_USER)
            return pf_write_compress(w, r, err);
        st = pf_write_flush_stage(w, err);
    }
    if (st == PERFILE_OK && r->type == PERFILE_RECORD_AUXTRACE && w->form == PERFILE_FORM_FILE)
        st = note_aux(w, r, err);
    if (st != PERFILE_OK)
        return st;
    if (r->body.ptr == r->header + PF_PERF_RECORD_HEADER || r->body.len == 0) {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER + r->body.len, err);
    } else {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER, err);
        if (st == PERFILE_OK)
            st = add_span(w, r->body.ptr, r->body.len, err);
    }
    if (st == PERFILE_OK && r->extra.len) {
        if (r->extra.ptr)
            st = add_span(w, r->extra.ptr, r->extra.len, err);
        else
            w->extra_left = r->extra.len;
    }
    return st;
}

static inline bool is_simpleperf(uint32_t type)
{
    return type >= PERFILE_RECORD_SIMPLEPERF && type < PERFILE_RECORD_SIMPLEPERF_END;
}

/* Whether the bytes of the record are those that it says it has: else readers would find something
 * else in the capture. */
static inline bool is_sound(const perfile_writer *w, const perfile_record *r)
{
    pf_frame f = pf_frame_at(r->header, w->swap);
    if (f.type != r->type || f.size != r->body.len + PF_PERF_RECORD_HEADER)
        return false;
    if (r->type != PERFILE_RECORD_AUXTRACE && r->type != PERFILE_RECORD_HEADER_TRACING_DATA)
        return r->extra.len == 0;
    uint8_t start[2 * PF_PERF_RECORD_HEADER] = {0};
    memcpy(start, r->header, PF_PERF_RECORD_HEADER);
    if (r->body.len)
        memcpy(start + PF_PERF_RECORD_HEADER, r->body.ptr,
               r->body.len < PF_PERF_RECORD_HEADER ? r->body.len : PF_PERF_RECORD_HEADER);
    return r->extra.len == pf_frame_extra(start, &f, w->swap);
}

/* Why this is no record that can be written now. */
static perfile_status refuse(const perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    perfile_status st = pf_write_between(w, err);
    if (st != PERFILE_OK)
        return st;
    if (r->family != PERFILE_FAMILY_PERF)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of family %u, not PERF",
                       r->family);
    if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the bytes behind the record are not complete");
    if ((bool)(r->flags & PERFILE_REC_SWAPPED) != w->swap)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the record is not in the byte order of the capture");
    if (r->body.len > PF_RECORD_MOST - PF_PERF_RECORD_HEADER && !is_simpleperf(r->type))
        return pf_fail(err, PERFILE_E_LIMIT, "record.size",
                       "a record of %zu bytes; its size can say %d at most",
                       r->body.len + PF_PERF_RECORD_HEADER, PF_RECORD_MOST);
    if (!is_sound(w, r))
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "type, size or what follows the record (type %u, %zu bytes, %llu behind it) "
                       "are not what its bytes say",
                       r->type, r->body.len + PF_PERF_RECORD_HEADER,
                       (unsigned long long)r->extra.len);
    return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                   "compressed records cannot stand in a capture that is compressed anew: put what "
                   "is in them");
}

static inline bool may_put(const perfile_writer *w, const perfile_record *r)
{
    bool compressed =
        w->level && (r->type == PERFILE_RECORD_COMPRESSED || r->type == PERFILE_RECORD_COMPRESSED2);
    return !w->extra_left && r->family == PERFILE_FAMILY_PERF &&
           !(r->flags & PERFILE_REC_PAYLOAD_CUT) &&
           (bool)(r->flags & PERFILE_REC_SWAPPED) == w->swap && !compressed &&
           (r->body.len <= PF_RECORD_MOST - PF_PERF_RECORD_HEADER || is_simpleperf(r->type)) &&
           is_sound(w, r);
}

/* Whether `r` needs nothing but to be copied: most records of most captures. */
static inline bool is_plain(const perfile_record *r, unsigned flags)
{
    uint64_t size = PF_PERF_RECORD_HEADER + r->body.len;
    uint64_t header = r->type | (uint64_t)r->misc << 32 | size << 48;
    bool tells =
        r->type == PERFILE_RECORD_AUXTRACE || r->type == PERFILE_RECORD_HEADER_TRACING_DATA;
    return pf_load_u64(r->header, PF_NATIVE_BIG) == header && size <= PF_RECORD_MOST &&
           r->body.ptr == r->header + PF_PERF_RECORD_HEADER &&
           (r->flags & (PERFILE_REC_SWAPPED | PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_STABLE)) ==
               flags &&
           r->family == PERFILE_FAMILY_PERF && r->extra.len == 0 && !tells;
}

/* Puts those in front of first[0 .. n) that are plain and lie one behind the other; *taken is how
 * many. */
static inline perfile_status put_plain(perfile_writer *w, const perfile_record *first, size_t n,
                                       size_t *taken, perfile_error *err)
{
    enum { SMALL = 4096 };
    const perfile_record *r = first, *end = first + n;
    const uint8_t *from = first->header, *to = from;
    unsigned flags = first->flags & PERFILE_REC_STABLE;
    bool kernel = false;
    while (r < end && r->header == to && is_plain(r, flags)) {
        to += PF_PERF_RECORD_HEADER + r->body.len;
        kernel |= r->type < PERFILE_RECORD_USER;
        r++;
    }
    size_t size = (size_t)(to - from);
    uint8_t *room;
    perfile_status st;
    *taken = (size_t)(r - first);
    w->kernel |= kernel;
    if (flags || size >= SMALL || w->span.len || size == 0)
        return size ? add_span(w, from, size, err) : PERFILE_OK;
    st = pf_sink_reserve(w->part->sink, size, &room);
    if (st != PERFILE_OK)
        return pf_sink_status(w->part->sink, err);
    memcpy(room, from, size);
    pf_sink_commit(w->part->sink, size);
    w->part->bytes += size;
    return PERFILE_OK;
}

static inline perfile_status put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                     perfile_error *err)
{
    bool stable = true;
    perfile_status st = pf_write_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    for (const perfile_record *r = first, *end = first + n; r < end && st == PERFILE_OK;) {
        size_t taken = 0;
        stable &= (r->flags & PERFILE_REC_STABLE) != 0;
        if (w->begun && !w->level && !w->directory && !w->swap && !w->extra_left)
            st = put_plain(w, r, (size_t)(end - r), &taken, err);
        if (taken) {
            r += taken;
            continue;
        }
        if (!may_put(w, r)) {
            st = refuse(w, r, err);
            break;
        }
        if (!w->begun)
            st = pf_write_begin(w, err);
        if (st == PERFILE_OK)
            st = put_one(w, r, err);
        r++;
    }
    /* Also when one of them was refused: the others must not be looked for later. */
    if (stable || !w->span.len)
        return st;
    perfile_status flushed = pf_write_flush_span(w, st == PERFILE_OK ? err : NULL);
    return st == PERFILE_OK ? flushed : st;
}

perfile_status perfile_writer_put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    return put_run(w, first, n, err);
}

perfile_status perfile_writer_put(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    return put_run(w, r, 1, err);
}

perfile_status pf_write_record(perfile_writer *w, perfile_bytes bytes, uint32_t part,
                               perfile_error *err)
{
    pf_frame f = pf_frame_at(bytes.ptr, w->swap);
    perfile_record r = {.header = bytes.ptr,
                        .body = {bytes.ptr + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                        .type = f.type,
                        .misc = f.misc,
                        .flags = w->swap ? PERFILE_REC_SWAPPED : 0,
                        .part = part};
    r.extra.len = (size_t)pf_frame_extra(bytes.ptr, &f, w->swap);
    return perfile_writer_put(w, &r, err);
}

perfile_status perfile_writer_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err)
{
    perfile_status st = pf_write_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    if (piece.len > w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra", "%zu bytes, %llu are still to come",
                       piece.len, (unsigned long long)w->extra_left);
    w->extra_left -= piece.len;
    return pf_write_bytes(w, piece, err);
}

uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->n_parts; i++)
        sum += w->parts[i].bytes;
    return sum;
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    perfile_error why;
    if (w->finished)
        return PERFILE_OK;
    perfile_status st = pf_write_between(w, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_write_begin(w, &why);
    if (st == PERFILE_OK)
        st = pf_write_finish_parts(w, &why);
    if (st == PERFILE_OK && w->form == PERFILE_FORM_FILE)
        st = pf_write_back(w, &why);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(w->sink, &why);
    w->finished = st == PERFILE_OK;
    return pf_write_break(w, st, &why, err);
}

void perfile_writer_abort(perfile_writer *w)
{
    perfile_error why;
    if (w->finished)
        return;
    (void)pf_fail(&why, PERFILE_E_USAGE, "writer", "the capture was given up");
    if (!w->broken.status)
        w->broken = why;
    perfile_sink_abort(w->sink);
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    /* Whoever writes progressively wants what is there. */
    if (w->progressive && w->begun && !w->finished && !w->broken.status)
        (void)(pf_write_finish_parts(w, NULL) == PERFILE_OK && perfile_sink_flush(w->sink, NULL));
    pf_write_free_parts(w);
    pf_buffer_free(&w->facts);
    pf_buffer_free(&w->events);
    pf_buffer_free(&w->event_types);
    pf_buffer_free(&w->updates);
    pf_buffer_free(&w->aux_index);
    pf_buffer_free(&w->scratch);
    pf_buffer_free(&w->own);
    if (w->own_sink)
        perfile_sink_close(w->sink);
    pf_free(w);
}
