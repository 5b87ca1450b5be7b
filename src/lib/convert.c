/* perfile_convert_capture(): chooses the way in which a capture is converted.
 *
 * 1. Same bytes (pf_convert_image()): the output has the form and byte order of the input.  Its
 * bytes are copied, and the records are walked only to find damage.
 * 2. Same places (pf_convert_image() with x->byteswaps): only the byte order differs.  Nothing
 *    changes its length, so each number is byte-swapped where it stands.
 * 3. Anew (pf_convert_copy()): all else.  A stream, stages on it, and a writer.
 *
 * The first two keep what nobody can interpret (unknown sections, bytes between sections) and are
 * faster, so they are taken whenever they can do what is asked.  Drivers that cannot read their
 * header alone or swap their facts in place have 1 and 3 only. */
#include "lib/convert.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"
#include "io/out.h"
#include "lib/registry.h"
#include "perfile/archive.h"
#include "core/facts.h"
#include "perfile/field.h"

perfile_open_options pf_convert_reading(const pf_convert *x)
{
    uint32_t policy = x->options.on_damage == PERFILE_ON_DAMAGE_FAIL   ? PERFILE_ON_DAMAGE_STOP
                      : x->options.on_damage == PERFILE_ON_DAMAGE_COPY ? PERFILE_ON_DAMAGE_RESYNC
                                                                       : x->options.on_damage;
    return (perfile_open_options){.size = sizeof(perfile_open_options),
                                  .on_damage = policy,
                                  .deliver = PERFILE_DELIVER_DAMAGE,
                                  .from = x->options.from,
                                  .limits = x->options.limits};
}

perfile_status pf_convert_note_damage(pf_convert *x, const perfile_record *r, perfile_error *err)
{
    const perfile_note note = {.kind = PERFILE_NOTE_DAMAGE,
                               .number = UINT32_MAX,
                               .damage = r->damage,
                               .part = r->part,
                               .count = 1,
                               .bytes = r->body.len,
                               .offset = r->offset};
    if (!pf_convert_forced(x))
        return pf_fail_damage(err, r->damage, "convert", r->offset);
    pf_notes_add(&x->notes, &note);
    return PERFILE_OK;
}

perfile_status pf_convert_open(const pf_convert *x, perfile_source *source, perfile_stream **stream,
                               perfile_error *err)
{
    const perfile_open_options how = pf_convert_reading(x);
    return perfile_open(source, &how, stream, err);
}

perfile_status pf_convert_open_tee(const pf_convert *x, pf_tee *tee, perfile_stream **stream,
                                   perfile_error *err)
{
    perfile_source *source;
    perfile_status st = pf_source_tee(tee, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_convert_open(x, source, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* Notes one damage of an event or a feature; nothing if `damage` is 0. */
static void note(pf_convert *x, uint32_t kind, uint32_t number, uint32_t damage, uint64_t offset)
{
    perfile_note one = {
        .kind = kind, .number = number, .damage = damage, .count = 1, .offset = offset};
    if (damage)
        pf_notes_add(&x->notes, &one);
}

/* Notes damage of the container and of the events, found when the stream was opened. */
static void note_damage(pf_convert *x, const perfile_stream *stream)
{
    const perfile_container *c = perfile_stream_container(stream);
    const perfile_session *s = perfile_stream_session(stream);
    for (uint32_t i = 0; i < c->n_damages; i++)
        note(x, PERFILE_NOTE_DAMAGE, UINT32_MAX, c->damages[i].damage, c->damages[i].offset);
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        note(x, PERFILE_NOTE_EVENT_BROKEN, UINT32_MAX, e->damage, e->offset);
        note(x, PERFILE_NOTE_EVENT_BROKEN, UINT32_MAX, e->ids_damage, e->offset);
    }
}

void pf_convert_note_features(pf_convert *x, const perfile_session *s)
{
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        note(x, PERFILE_NOTE_FEATURE_BROKEN, f->number, f->damage, f->offset);
    }
}

perfile_status pf_convert_check_damage(pf_convert *x, const perfile_stream *stream,
                                       perfile_error *err)
{
    perfile_stream_summary sum;
    perfile_stream_get_summary(stream, &sum, sizeof sum);
    if (sum.damages == 0)
        return PERFILE_OK;
    if (pf_convert_forced(x)) {
        note_damage(x, stream);
        return PERFILE_OK;
    }
    unsigned damage = 0;
    for (unsigned i = 1; i < sizeof sum.by_damage / sizeof sum.by_damage[0] && !damage; i++)
        damage = sum.by_damage[i] ? i : 0;
    return pf_fail_damage(err, damage, "convert", sum.first_offset);
}

perfile_status pf_convert_on_kept(void *user, const perfile_record *r, const perfile_feature *f,
                                  const perfile_error *why)
{
    pf_convert *x = user;
    bool unknown = why->status == PERFILE_E_UNSUPPORTED;
    /* A newer tool may have added fields behind those that version 1 of the dump schema names, and
     * our tables may be wrong about them.  It is damage only if the fields of that schema cannot be
     * read either. */
    bool damage = !unknown && !(r   ? pf_record_readable(r, PERFILE_WALK_CONTRACT)
                                : f ? pf_feature_readable(f, PERFILE_WALK_CONTRACT)
                                    : false);
    if (damage && !pf_convert_forced(x))
        return why->status;
    x->result.damaged |= damage;
    pf_notes_kept(&x->notes, r, f, why);
    return PERFILE_OK;
}

/* Reads the header into x->first and x->head, and sets x->known if it is one.  The source keeps
 * these bytes for the driver, also if it is a pipe.  Of a directory the file `data` has the
 * header. */
static perfile_status read_header(pf_convert *x, perfile_error *err)
{
    perfile_source *first = x->source;
    perfile_bytes head;
    perfile_status st = PERFILE_OK;
    x->from_directory = pf_source_has_entries(x->source);
    if (x->from_directory && pf_source_entry(x->source, "data", &first, NULL) != PERFILE_OK)
        return PERFILE_OK; /* opening the stream will fail, with a better message */
    st = pf_source_run(first, 0, PF_HEAD_BYTES, &head, err);
    if (st == PERFILE_OK && head.len >= PF_HEAD_BYTES) {
        memcpy(x->first, head.ptr, PF_HEAD_BYTES);
        head.len = PF_HEAD_BYTES;
        x->known = x->driver->head(head, &x->head);
    }
    if (first != x->source)
        perfile_source_close(first);
    return st;
}

/* Decides form and byte order of the output.  PERFILE_E_USAGE if the options contradict. */
static perfile_status plan(pf_convert *x, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    bool big = x->head.swap != (bool)PF_NATIVE_BIG;
    x->to_directory = pf_sink_has_parts(x->sink);
    if (x->to_directory && o->form == PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "convert.form", "a directory holds files, not a pipe");
    if (o->flags & PERFILE_CONVERT_COMPRESS &&
        o->flags & (PERFILE_CONVERT_DECOMPRESS | PERFILE_CONVERT_EXPAND))
        return pf_fail(err, PERFILE_E_USAGE, "convert.flags", "compress or decompress, not both");
    x->result.directory = x->to_directory;
    x->result.form = x->to_directory ? (uint32_t)PERFILE_FORM_FILE
                     : o->form       ? o->form
                                     : x->head.form;
    x->byteswaps = x->known && o->byte_order && (o->byte_order == PERFILE_BYTE_ORDER_BIG) != big;
    x->result.byte_order = big != x->byteswaps ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
    return PERFILE_OK;
}

/* True if the output has the format of the input. */
static bool same_format(const pf_convert *x)
{
    return !x->options.format || strcmp(x->options.format, x->driver->name) == 0;
}

/* True if everything keeps its offset: same format and form, and nothing left out or repacked. */
static bool keeps_places(const pf_convert *x)
{
    const uint32_t rewriting = PERFILE_CONVERT_DROP_UNKNOWN | PERFILE_CONVERT_COMPRESS |
                               PERFILE_CONVERT_DECOMPRESS | PERFILE_CONVERT_SCRUB;
    bool same_form =
        x->from_directory == x->to_directory && (!x->known || x->result.form == x->head.form);
    return same_form && same_format(x) && !x->options.target && !(x->options.flags & rewriting);
}

/* Replaces x->source, a pipe, by a temporary file with the same bytes. */
static perfile_status spool(pf_convert *x, perfile_error *err)
{
    perfile_source *pipe = x->source;
    perfile_status st = pf_source_spool(pipe, &x->source, err);
    if (st == PERFILE_OK)
        perfile_source_close(pipe);
    return st;
}

/* Resolves EXPAND, which becomes DECOMPRESS if there are compressed records.  A file in a pipe can
 * be searched for them once it is spooled; a pipe is taken to have some.  What cannot be read has
 * none: the usual way reports that, or packs the bytes. */
static perfile_status expand(pf_convert *x, perfile_error *err)
{
    bool packed = false;
    perfile_error why;
    perfile_status st = PERFILE_OK;
    if (!(x->options.flags & PERFILE_CONVERT_EXPAND))
        return PERFILE_OK;
    x->options.flags &= ~(uint32_t)PERFILE_CONVERT_EXPAND;
    if (!x->known && !x->from_directory)
        return PERFILE_OK;
    if (!x->source->seekable && x->head.form == PERFILE_FORM_FILE)
        st = spool(x, err);
    if (st != PERFILE_OK)
        return st;
    if (!x->source->seekable)
        packed = true;
    else
        st = pf_convert_is_packed(x, &packed, &why);
    if (st == PERFILE_E_IO || st == PERFILE_E_NOMEM) {
        if (err)
            *err = why;
        return st;
    }
    x->options.flags |= packed ? PERFILE_CONVERT_DECOMPRESS : 0;
    x->lossy |= packed ? PF_LOSSY_EXPANDED : 0;
    return PERFILE_OK;
}

/* Sets *image to false if damage must be left out of the output and there is some: bytes then move.
 * To find out, a file is read once to its end (a pipe is spooled for that).  A directory is always
 * written again in this case, without a pass to search for damage. */
static perfile_status leave_out_damage(pf_convert *x, bool *image, perfile_error *err)
{
    bool damaged = x->from_directory;
    perfile_status st = PERFILE_OK;
    if (!*image || x->options.on_damage >= PERFILE_ON_DAMAGE_FAIL)
        return PERFILE_OK;
    if (!damaged && !x->source->seekable)
        st = spool(x, err);
    if (st == PERFILE_OK && !damaged)
        st = pf_convert_is_damaged(x, &damaged, err);
    *image = !damaged;
    return st;
}

/* Copies the bytes as they are.  For an archive that is all that is asked: what is wrong with the
 * capture is noted, and lost is only what an archive has lost. */
static perfile_status keep_all(pf_convert *x, perfile_error *err)
{
    pf_source_origin *origin = pf_source_origin_join(x->source->origin);
    x->sink->patchable = x->sink->patchable && !pf_sink_wants_records(x->sink);
    const bool forced = pf_convert_forced(x);
    x->keeps = (!forced || x->options.on_damage == PERFILE_ON_DAMAGE_COPY) &&
               (origin || pf_sink_wants_records(x->sink));
    x->zeros = forced;
    if (x->keeps)
        x->options.on_damage = PERFILE_ON_DAMAGE_COPY;
    perfile_status st = pf_convert_image(x, err);
    pf_source_origin_leave(origin);
    return st;
}

/* For a driver that cannot interpret its header alone or swap facts in place: bytes are copied if
 * nothing at all changes, else records go through a writer. */
static perfile_status convert_other(pf_convert *x, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    x->options.flags &= ~(uint32_t)PERFILE_CONVERT_EXPAND; /* only perf has compressed records */
    x->to_directory = pf_sink_has_parts(x->sink);
    x->from_directory = pf_source_has_entries(x->source);
    if (!same_format(x))
        return pf_convert_translate(x, err);
    const bool image =
        x->from_directory ? x->to_directory && x->driver->names_files : !x->to_directory;
    bool rewritten =
        o->flags || o->byte_order || o->target || !image || o->on_damage < PERFILE_ON_DAMAGE_FAIL;
    x->result.form = PERFILE_FORM_FILE;
    x->result.directory = x->to_directory;
    return rewritten ? pf_convert_copy(x, err) : keep_all(x, err);
}

/* Chooses the way, and goes it.  See the top of this file. */
static perfile_status convert(pf_convert *x, perfile_error *err)
{
    const char *foreign;
    perfile_status st = pf_driver_find(x->source, x->options.from, &x->driver, &foreign, err);
    if (st != PERFILE_OK)
        return st;
    if (!x->driver->head || !x->driver->byteswap_facts)
        return convert_other(x, err);
    st = read_header(x, err);
    if (st == PERFILE_OK)
        st = plan(x, err);
    if (st == PERFILE_OK)
        st = expand(x, err);
    if (st != PERFILE_OK)
        return st;
    bool image = keeps_places(x);
    st = leave_out_damage(x, &image, err);
    if (st != PERFILE_OK)
        return st;
    if (image && !x->byteswaps)
        return keep_all(x, err);
    /* A file in a pipe: its header is at the front and its features at the end, so that both other
     * ways have to seek. */
    if (!x->source->seekable && x->head.form == PERFILE_FORM_FILE)
        st = spool(x, err);
    /* Compressed records cannot be swapped in place: their content would compress to another
     * length. A pipe cannot be searched for them, so it is taken to have some. */
    bool packed = !x->source->seekable;
    if (st == PERFILE_OK && image && !packed)
        st = pf_convert_is_packed(x, &packed, err);
    if (st != PERFILE_OK)
        return st;
    return image && !packed ? pf_convert_image(x, err) : pf_convert_copy(x, err);
}

/* `source` is closed in any case.  `passing` lets parts of it that were read leave memory. */
perfile_status perfile_convert_capture(perfile_source *source, perfile_sink *sink,
                                       const perfile_convert_options *options,
                                       perfile_convert_summary *result, size_t size,
                                       perfile_error *err)
{
    pf_convert x = {.source = source, .sink = sink};
    perfile_status st = pf_options_copy(&x.options, options, "convert.options", err);
    if (st == PERFILE_OK && x.options.perfmon) {
        st = pf_options_copy(&x.perfmon, x.options.perfmon, "perfmon.options", err);
        x.options.perfmon = &x.perfmon;
    }
    uint32_t otherwise =
        x.options.flags & PERFILE_CONVERT_FORCE ? PERFILE_ON_DAMAGE_COPY : PERFILE_ON_DAMAGE_FAIL;
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&x.options.on_damage, otherwise, PERFILE_ON_DAMAGE_COPY,
                                  "convert.options", err);
    if (st == PERFILE_OK)
        st = pf_byte_order_check(x.options.byte_order, "convert.options", err);
    if (st == PERFILE_OK)
        st = perfile_archive_source(&x.source, err);
    if (st == PERFILE_OK)
        st = pf_sink_add_inputs(sink, &x.source->inputs, err);
    if (st == PERFILE_OK && x.source->origin) /* what is packed again stays what it is */
        pf_sink_mark(sink, x.source->origin->lossy);
    if (st == PERFILE_OK)
        st = convert(&x, err);
    perfile_source_close(x.source);
    x.result.copied.losses +=
        x.target_losses + pf_notes_report(&x.notes, x.options.note, x.options.user);
    x.result.damaged |= x.lost || x.result.copied.damages != 0;
    if (result)
        memcpy(result, &x.result, size < sizeof x.result ? size : sizeof x.result);
    return st;
}

/* Looking through a capture before it is converted: whether it is damaged, whether it has
 * compressed records.  For files only: they can be read again. */

/* Opens the file that shows whether there are compressed records: of a directory `data`. */
static perfile_status open_first(const pf_convert *x, pf_tee *tee, perfile_stream **s,
                                 perfile_error *err)
{
    perfile_source *data;
    if (!x->from_directory)
        return pf_convert_open_tee(x, tee, s, err);
    perfile_status st = pf_source_entry(x->source, "data", &data, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_convert_open(x, data, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(data);
    return st;
}

perfile_status pf_convert_is_damaged(pf_convert *x, bool *damaged, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    const perfile_record *first;
    perfile_stream *s;
    perfile_stream_summary sum;
    size_t n;
    perfile_status st = pf_convert_open_tee(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    *damaged = sum.damages != 0;
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}

/* A recording with compression has the feature COMPRESSED, in a pipe in front of the kernel's
 * records; without it the first record of the kernel answers "no".  With it, the records are
 * searched, because some tools leave the feature when they decompress. */
perfile_status pf_convert_is_packed(pf_convert *x, bool *packed, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    perfile_stream *s;
    *packed = false;
    perfile_status st = open_first(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_session *session = perfile_stream_session(s);
    while (st == PERFILE_OK && !*packed) {
        const perfile_record *first;
        size_t n;
        st = perfile_stream_next_run(s, &first, &n, err);
        bool announced = perfile_session_feature(session, PERFILE_FEATURE_COMPRESSED) != NULL;
        if (st == PERFILE_OK && !announced && first->type < PERFILE_RECORD_USER)
            break;
        *packed = st == PERFILE_OK && (first->type == PERFILE_RECORD_COMPRESSED ||
                                       first->type == PERFILE_RECORD_COMPRESSED2);
        /* Only `data` was read: other files of the directory may be compressed. */
        *packed |= st == PERFILE_END && announced && x->from_directory;
    }
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}
