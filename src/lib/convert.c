/* perfile_convert_capture(): decides whether the bytes of a capture can be copied.  If not,
 * converts its records with a stream, the stages that the options ask for (first scrubbing, then
 * older versions of perf, then byte order), and perfile_copy() into a writer. */
#include "lib/convert.h"

#include <string.h>

#include "base/byte_order.h"
#include "base/error.h"
#include "base/options.h"
#include "core/facts.h"
#include "io/out.h"
#include "lib/registry.h"
#include "undump/undump.h"
#include "core/command.h"
#include "transform/command.h"

enum { DEFAULT_LEVEL = 1 }; /* level of zstd, as for `perf record -z` */

/* Flags that change the set of records or their contents. */
static const uint32_t rewriting = PERFILE_CONVERT_DROP_UNKNOWN | PERFILE_CONVERT_COMPRESS |
                                  PERFILE_CONVERT_DECOMPRESS | PERFILE_CONVERT_SCRUB;

/* Returns true if the driver can read its header alone and swap facts in place, like the driver of
 * perf.data.  For other formats bytes are copied only if the options ask for no change at all. */
static bool knows_places(const pf_convert *x)
{
    return x->driver->head && x->driver->byteswap_facts;
}

static bool same_format(const pf_convert *x)
{
    return !x->options.format || strcmp(x->options.format, x->driver->name) == 0;
}

/* Returns true if the driver translates the capture to records of perf's own family. */
static bool translates(const pf_convert *x)
{
    return !knows_places(x) && !same_format(x);
}

/* Notes a damage of an event or a feature; does nothing if `damage` is 0. */
static void note(pf_convert *x, uint32_t kind, uint32_t number, uint32_t damage, uint64_t offset)
{
    const perfile_note one = {
        .kind = kind, .number = number, .damage = damage, .count = 1, .offset = offset};
    if (damage)
        pf_notes_add(&x->notes, &one);
}

perfile_status pf_convert_note_damage(pf_convert *x, const perfile_record *r, perfile_error *err)
{
    if (!pf_convert_forced(x))
        return pf_fail_damage(err, r->damage, "convert", r->offset);
    pf_notes_record(&x->notes, PERFILE_NOTE_DAMAGE, UINT32_MAX, r->damage, r->body.len, r);
    return PERFILE_OK;
}

perfile_status pf_convert_check_damage(pf_convert *x, const perfile_stream *stream,
                                       perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(stream);
    const perfile_session *s = perfile_stream_session(stream);
    perfile_stream_summary sum;
    pf_stream_get_summary(stream, &sum, sizeof sum);
    if (sum.damages == 0)
        return PERFILE_OK;
    if (!pf_convert_forced(x))
        return pf_damage_refuse(&sum, "convert", err);
    for (uint32_t i = 0; i < c->n_damages; i++)
        note(x, PERFILE_NOTE_DAMAGE, UINT32_MAX, c->damages[i].damage, c->damages[i].offset);
    for (uint32_t i = 0; i < pf_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        note(x, PERFILE_NOTE_EVENT_BROKEN, UINT32_MAX, e->damage, e->offset);
        note(x, PERFILE_NOTE_EVENT_BROKEN, UINT32_MAX, e->ids_damage, e->offset);
    }
    return PERFILE_OK;
}

void pf_convert_note_features(pf_convert *x, const perfile_session *s)
{
    for (uint32_t i = 0; i < pf_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        note(x, PERFILE_NOTE_FEATURE_BROKEN, f->number, f->damage, f->offset);
    }
}

perfile_status pf_convert_on_kept(void *user, const perfile_record *r, const perfile_feature *f,
                                  const perfile_error *why)
{
    pf_convert *x = user;
    bool unknown = why->status == PERFILE_E_UNSUPPORTED;
    /* A newer tool may have added fields after those in version 1 of the dump schema, and our
     * tables may be wrong about them.  It is damage only if the fields of that schema cannot be
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

/* Converting records. */

/* Notes the range `e` of the file, which is in no section, if any of its bytes is not zero: a
 * writer does not copy it.  Zeros are padding. */
static perfile_status note_gap(pf_convert *x, perfile_source *source, const perfile_extent *e,
                               perfile_error *err)
{
    perfile_note note = {.kind = PERFILE_NOTE_BYTES_LEFT_OUT,
                         .number = UINT32_MAX,
                         .count = 1,
                         .bytes = e->length,
                         .offset = e->offset};
    for (uint64_t at = e->offset; at < e->offset + e->length;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(source, at, 1, &run, err);
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

/* Notes all ranges between the sections of the input and after the last one. */
static perfile_status note_gaps(pf_convert *x, perfile_source *source, const perfile_stream *s,
                                perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < c->n_extents && st == PERFILE_OK; i++) {
        const perfile_extent *e = &c->extents[i];
        if (e->role == PERFILE_EXTENT_GAP || e->role == PERFILE_EXTENT_TAIL)
            st = note_gap(x, source, e, err);
    }
    return st;
}

perfile_status pf_convert_open(pf_convert *x, perfile_stream **s, perfile_error *err)
{
    perfile_status st = perfile_open(x->in.source, &x->in.how, s, err);
    if (st == PERFILE_OK)
        x->in.source = NULL;
    return st;
}

/* Opens a stream of the records as they are stored.  If a file comes through a pipe, it must be
 * spooled first: its features are at the end. */
static perfile_status open_stored(pf_convert *x, perfile_stream **s, perfile_error *err)
{
    perfile_status st =
        x->head.form == PERFILE_FORM_FILE ? pf_passes_spool(&x->in, err) : PERFILE_OK;
    perfile_source *source = x->in.source;
    if (st == PERFILE_OK)
        st = pf_convert_open(x, s, err);
    if (st == PERFILE_OK)
        st = pf_convert_check_damage(x, *s, err);
    if (st == PERFILE_OK && !x->from_directory && source->seekable)
        st = note_gaps(x, source, *s, err);
    return st;
}

/* pf_translation.pass: opens the capture again. */
static perfile_status open_pass(void *user, perfile_stream **stream, perfile_error *err)
{
    pf_convert *x = user;
    perfile_stream *s;
    perfile_status st = pf_passes_open(&x->in, &s, err);
    if (st == PERFILE_OK && x->in.n == 1 && (st = pf_convert_check_damage(x, s, err)) != PERFILE_OK)
        perfile_stream_close(s);
    if (st == PERFILE_OK)
        *stream = s;
    return st;
}

/* pf_translation.damage */
static perfile_status on_damage(void *user, const perfile_record *r, perfile_error *err)
{
    pf_convert *x = user;
    perfile_status st = pf_convert_note_damage(x, r, err);
    x->result.damaged |= st == PERFILE_OK;
    return st;
}

/* Opens the capture translated to records of perf's own family, in order of time.  The stream
 * borrows `t`. */
static perfile_status open_translated(pf_convert *x, pf_translation *t, perfile_stream **s,
                                      perfile_error *err)
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
    if (o->byte_order == PERFILE_BYTE_ORDER_BIG || pf_sink_has_parts(x->sink))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.form",
                       "a conversion to another format makes a little-endian file or a pipe");
    if (x->perfmon.cpus) {
        x->cpus = (perfile_assume){
            .size = sizeof x->cpus, .cpus = x->perfmon.cpus, .n_cpus = x->perfmon.n_cpus};
        x->in.how.assume = &x->cpus;
    }
    *t = (pf_translation){.pass = open_pass,
                          .damage = on_damage,
                          .user = x,
                          .options = o,
                          .losses = &x->target_losses};
    x->result.form = o->form == PERFILE_FORM_PIPE ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    perfile_status st = pf_passes_spool(&x->in, err);
    return st == PERFILE_OK ? pf_translate(x->driver, t, s, err) : st;
}

/* Callback of perfile_target(): passes a loss on as a note immediately. */
static void on_loss(void *user, const perfile_target_loss *loss)
{
    pf_convert *x = user;
    const perfile_note note = pf_note_of_loss(loss);
    x->target_losses++;
    if (x->options.note)
        x->options.note(x->options.user, &note);
}

/* Writes the records of `s` and its facts to x->sink.  Compressed records stay as they are if
 * nothing in them changes.  The compressed records of a file are one zstd stream; each needs the
 * ones before it to be decompressed.  The files of a directory have one stream each, and these
 * cannot be joined without decompressing. */
static perfile_status write_all(pf_convert *x, perfile_stream *s, bool swaps, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    const bool stay_packed = !swaps && !o->target && !(o->flags & rewriting) &&
                             (!x->from_directory || x->result.directory);
    perfile_writer_options how = pf_copy_writing(s, x->result.form, o->format);
    how.target = o->target;
    if (o->flags & PERFILE_CONVERT_COMPRESS)
        how.compress_level = o->level ? o->level : DEFAULT_LEVEL;
    perfile_copy_options copy = {
        .size = sizeof copy, .note = o->note, .progress = o->progress, .user = o->user};
    copy.flags = (o->flags & PERFILE_CONVERT_DROP_UNKNOWN ? PERFILE_COPY_DROP_UNKNOWN : 0) |
                 (pf_convert_forced(x) ? PERFILE_COPY_FORCE : 0) |
                 (stay_packed ? PERFILE_COPY_COMPRESSED : 0);
    return pf_copy_to(x->sink, &how, s, &copy, &x->result.copied, err);
}

/* Converts with a stream, the stages that the options ask for, and a writer. */
static perfile_status convert_records(pf_convert *x, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    pf_translation translation;
    perfile_stream *s = NULL, *scrub = NULL;
    bool swaps = false;
    perfile_status st =
        translates(x) ? open_translated(x, &translation, &s, err) : open_stored(x, &s, err);
    if (st == PERFILE_OK && !translates(x) && o->flags & PERFILE_CONVERT_SCRUB) {
        st = perfile_scrub(s, &s, err);
        scrub = s;
        pf_sink_mark(x->sink, PF_LOSSY_SCRUBBED);
    }
    if (st == PERFILE_OK && o->target) {
        perfile_target_options how = {
            .size = sizeof how, .version = o->target, .loss = on_loss, .user = x};
        st = perfile_target(s, &how, &s, err);
    }
    if (st == PERFILE_OK) {
        const uint32_t order = pf_session_byte_order(perfile_stream_session(s));
        x->result.byte_order = o->byte_order ? o->byte_order : order;
        swaps = x->result.byte_order != order;
    }
    if (swaps) {
        perfile_byteswap_options how = {.size = sizeof how, .kept = pf_convert_on_kept, .user = x};
        st = perfile_byteswap(s, o->byte_order, &how, &s, err);
    }
    if (st == PERFILE_OK)
        st = write_all(x, s, swaps, err);
    if (scrub) {
        perfile_scrub_summary sum;
        pf_scrub_get_summary(scrub, &sum, sizeof sum);
        x->result.scrubbed_records = sum.records;
        x->result.scrubbed_bytes = sum.bytes;
    }
    perfile_stream_close(s);
    return st;
}

/* Choosing the way.  To answer some questions the file is read; a pipe is copied to a temporary
 * file first. */

/* Sets form and byte order of the output, and *swap if the byte order differs from the input.
 * Fails with PERFILE_E_USAGE if the options contradict each other. */
static perfile_status settle(pf_convert *x, bool *swap, perfile_error *err)
{
    const perfile_convert_options *o = &x->options;
    const uint32_t order = pf_byte_order_of(x->head.swap);
    if (x->result.directory && o->form == PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "convert.form", "a directory holds files, not a pipe");
    if (o->flags & PERFILE_CONVERT_COMPRESS &&
        o->flags & (PERFILE_CONVERT_DECOMPRESS | PERFILE_CONVERT_EXPAND))
        return pf_fail(err, PERFILE_E_USAGE, "convert.flags", "compress or decompress, not both");
    if (!x->result.directory)
        x->result.form = o->form ? o->form : x->head.form;
    x->result.byte_order = x->head.form && o->byte_order ? o->byte_order : order;
    *swap = x->result.byte_order != order;
    return PERFILE_OK;
}

/* Sets *damaged if the capture has damage.  Assumes so for a directory, which would otherwise be
 * read twice. */
static perfile_status is_damaged(pf_convert *x, bool *damaged, perfile_error *err)
{
    const perfile_record *first;
    perfile_stream *s;
    perfile_stream_summary sum;
    size_t n;
    *damaged = x->from_directory;
    if (*damaged)
        return PERFILE_OK;
    perfile_status st = pf_passes_spool(&x->in, err);
    if (st == PERFILE_OK)
        st = pf_passes_open(&x->in, &s, err);
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        continue;
    pf_stream_get_summary(s, &sum, sizeof sum);
    *damaged = sum.damages != 0;
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}

/* Opens the file that shows whether there are compressed records: in a directory, `data`. */
static perfile_status open_first(pf_convert *x, perfile_stream **s, perfile_error *err)
{
    perfile_source *data;
    if (!x->from_directory)
        return pf_passes_open(&x->in, s, err);
    perfile_status st = pf_source_entry(x->in.source, "data", &data, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(data, &x->in.how, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(data);
    return st;
}

/* Sets *packed if the capture has compressed records.  Assumes so for a pipe, which cannot be
 * searched.
 *
 * A recording with compression has the feature COMPRESSED; in a pipe it comes before the kernel's
 * records.  Without the feature, the answer is "no" at the first kernel record.  With it, the
 * records are searched, because some tools leave the feature when they decompress. */
static perfile_status is_packed(pf_convert *x, bool *packed, perfile_error *err)
{
    perfile_stream *s;
    perfile_status st =
        x->head.form == PERFILE_FORM_FILE ? pf_passes_spool(&x->in, err) : PERFILE_OK;
    *packed = st == PERFILE_OK && !x->in.source->seekable;
    if (st == PERFILE_OK && !*packed)
        st = open_first(x, &s, err);
    if (st != PERFILE_OK || *packed)
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
        /* Only `data` was read.  Other files of the directory may be compressed. */
        *packed |= st == PERFILE_END && announced && x->from_directory;
    }
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}

/* Resolves the flag EXPAND: it becomes DECOMPRESS if there are compressed records.  A capture that
 * cannot be read counts as having none; converting it reports the error, or copies its bytes. */
static perfile_status expand(pf_convert *x, perfile_error *err)
{
    bool packed = false;
    perfile_error why;
    const bool asked = x->options.flags & PERFILE_CONVERT_EXPAND;
    x->options.flags &= ~(uint32_t)PERFILE_CONVERT_EXPAND;
    if (asked && (x->head.form || (x->from_directory && knows_places(x)))) {
        perfile_status st = is_packed(x, &packed, &why);
        if (st == PERFILE_E_IO || st == PERFILE_E_NOMEM) {
            if (err)
                *err = why;
            return st;
        }
    }
    if (packed) {
        x->options.flags |= PERFILE_CONVERT_DECOMPRESS;
        pf_sink_mark(x->sink, PF_LOSSY_EXPANDED);
    }
    return PERFILE_OK;
}

/* Returns true if everything keeps its offset: same format and form, and nothing is left out or
 * recompressed. */
static bool keeps_places(const pf_convert *x)
{
    const perfile_convert_options *o = &x->options;
    const bool same_form = x->from_directory == x->result.directory &&
                           (!x->head.form || x->result.form == x->head.form);
    if (!same_form || !same_format(x) || o->target)
        return false;
    if (knows_places(x))
        return !(o->flags & rewriting);
    return !o->flags && !o->byte_order && o->on_damage >= PERFILE_ON_DAMAGE_FAIL &&
           (!x->from_directory || x->driver->names_files);
}

enum way { RECORDS, BYTES, SWAPPED_BYTES };

/* Decides whether the bytes can be copied, or the records must be converted. */
static perfile_status decide(pf_convert *x, enum way *way, perfile_error *err)
{
    bool swap = false, damaged = false, packed = false;
    *way = RECORDS;
    x->from_directory = pf_source_has_entries(x->in.source);
    perfile_status st = pf_passes_head(&x->in, &x->driver, &x->head, err);
    if (st != PERFILE_OK || translates(x))
        return st;
    x->result.directory = pf_sink_has_parts(x->sink);
    x->result.form = PERFILE_FORM_FILE;
    if (knows_places(x))
        st = settle(x, &swap, err);
    if (st == PERFILE_OK)
        st = expand(x, err);
    if (st != PERFILE_OK || !keeps_places(x))
        return st;
    /* Leaving out damage would move the bytes after it. */
    if (x->options.on_damage < PERFILE_ON_DAMAGE_FAIL)
        st = is_damaged(x, &damaged, err);
    /* The contents of a compressed record, once swapped, would compress to another length. */
    if (st == PERFILE_OK && swap && !damaged)
        st = is_packed(x, &packed, err);
    if (!damaged && !packed)
        *way = swap ? SWAPPED_BYTES : BYTES;
    return st;
}

static perfile_status convert(pf_convert *x, perfile_error *err)
{
    enum way way;
    perfile_status st = decide(x, &way, err);
    if (st != PERFILE_OK)
        return st;
    return way == RECORDS ? convert_records(x, err)
                          : pf_convert_bytes(x, way == SWAPPED_BYTES, err);
}

/* Copies the options, sets their defaults and checks them. */
static perfile_status copy_options(pf_convert *x, const perfile_convert_options *options,
                                   perfile_error *err)
{
    perfile_convert_options *o = &x->options;
    perfile_status st = pf_options_copy(o, options, "convert.options", err);
    if (st == PERFILE_OK && o->perfmon) {
        st = pf_options_copy(&x->perfmon, o->perfmon, "perfmon.options", err);
        o->perfmon = &x->perfmon;
    }
    const uint32_t otherwise =
        o->flags & PERFILE_CONVERT_FORCE ? PERFILE_ON_DAMAGE_COPY : PERFILE_ON_DAMAGE_FAIL;
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&o->on_damage, otherwise, PERFILE_ON_DAMAGE_COPY,
                                  "convert.options", err);
    return st == PERFILE_OK ? pf_byte_order_check(o->byte_order, "convert.options", err) : st;
}

/* pf_undump_note_fn: facts that are missing in a dump are noted like facts that a form cannot
 * contain. */
static void on_not_in_dump(void *user, const perfile_note *what)
{
    pf_convert *x = user;
    pf_notes_add(&x->notes, what);
    x->result.damaged |= what->kind == PERFILE_NOTE_DAMAGE;
}

/* Replaces a dump by the capture that it describes; closes the old *source. */
static perfile_status undump(pf_convert *x, perfile_source **source, perfile_error *err)
{
    perfile_source *capture;
    if (!x->options.from || strcmp(x->options.from, PF_FROM_DUMP) != 0)
        return PERFILE_OK;
    x->options.from = NULL;
    perfile_status st = pf_undump(*source, on_not_in_dump, x, &capture, err);
    if (st != PERFILE_OK)
        return st;
    perfile_source_close(*source);
    *source = x->in.source = capture;
    return PERFILE_OK;
}

perfile_status perfile_convert_capture(perfile_source *source, perfile_sink *sink,
                                       const perfile_convert_options *options,
                                       perfile_convert_summary *result, size_t size,
                                       perfile_error *err)
{
    perfile_source *const given = source;
    pf_convert x = {.in = {.source = source}, .sink = sink};
    pf_source_hold(given);
    perfile_status st = copy_options(&x, options, err);
    if (st == PERFILE_OK)
        st = undump(&x, &source, err);
    const uint32_t on_damage = x.options.on_damage;
    const perfile_open_options how = {
        .size = sizeof how,
        .on_damage = on_damage == PERFILE_ON_DAMAGE_FAIL   ? PERFILE_ON_DAMAGE_STOP
                     : on_damage == PERFILE_ON_DAMAGE_COPY ? PERFILE_ON_DAMAGE_RESYNC
                                                           : on_damage,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .from = x.options.from,
        .limits = x.options.limits};
    if (st == PERFILE_OK)
        st = pf_passes_begin(&x.in, source, &how, err);
    if (st == PERFILE_OK)
        st = pf_sink_add_inputs(sink, &x.in.source->inputs, err);
    if (st == PERFILE_OK && x.in.source->origin) /* a copy that is packed again keeps its marks */
        pf_sink_mark(sink, x.in.source->origin->lossy);
    if (st == PERFILE_OK)
        st = convert(&x, err);
    perfile_source_close(x.in.source);
    pf_source_settle(given, st);
    x.result.copied.losses +=
        x.target_losses + pf_notes_report(&x.notes, x.options.note, x.options.user);
    x.result.damaged |= x.result.copied.damages != 0;
    pf_result_out(result, size, &x.result, sizeof x.result);
    return st;
}
