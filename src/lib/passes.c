/* Opens one capture as often as an operation needs it.
 *
 * A directory is opened again by its path.  A file is opened once: each pass reads it through a tee
 * without a sink (io/tee.c), a light source that forwards to the caller's source, so that closing
 * the stream of a pass does not close the file. */
#include "lib/passes.h"

#include "archive/table.h"
#include "base/error.h"
#include "lib/registry.h"
#include "perfile/sort.h"
#include "archive/command.h"
#include "core/command.h"

#include <errno.h>

perfile_status pf_passes_begin(pf_passes *p, perfile_source *source,
                               const perfile_open_options *how, perfile_error *err)
{
    *p = (pf_passes){.source = source, .how = *how};
    perfile_status st = pf_archive_source(&p->source, err);
    p->tee.below = p->source;
    return st;
}

perfile_status pf_passes_reopen(const perfile_source *source, perfile_source **again,
                                perfile_error *err)
{
    return source->origin ? pf_archive_source_again(source, again, err)
                          : pf_source_again(source, again, err);
}

void pf_passes_of_streams(pf_passes *p,
                          perfile_status (*make)(void *user, perfile_stream **stream,
                                                 perfile_error *err),
                          void *user, uint32_t deliver)
{
    *p = (pf_passes){.make = make, .user = user, .how = {.deliver = deliver}};
}

void pf_passes_end(pf_passes *p)
{
    perfile_stream_close(p->ready);
    pf_inputs_free(&p->inputs);
    p->ready = NULL;
}

/* Yields the stream of the next pass, made by the caller.  Delivery options apply to the top stage
 * and to each stream below it, because each of them may deliver damage. */
static perfile_status make_stream(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    *stream = p->ready;
    p->ready = NULL;
    perfile_status st = *stream ? PERFILE_OK : p->make(p->user, stream, err);
    if (st != PERFILE_OK)
        return st;
    for (perfile_stream *s = *stream; s; s = s->below)
        s->options.deliver |= p->how.deliver;
    return PERFILE_OK;
}

/* The inputs of a caller's stream are known only once it is made: the first stream is stored for
 * the first pass. */
perfile_status pf_passes_inputs(pf_passes *p, const pf_inputs **inputs, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    *inputs = p->source ? &p->source->inputs : &p->inputs;
    if (p->source || p->inputs_known)
        return PERFILE_OK;
    if (!p->ready)
        st = p->make(p->user, &p->ready, err);
    p->inputs_known = st == PERFILE_OK;
    if (st == PERFILE_OK && !pf_inputs_join(&p->inputs, pf_stream_inputs(p->ready)))
        st = pf_fail_nomem(err, "inputs");
    return st;
}

bool pf_passes_seekable(const pf_passes *p)
{
    return !p->source || pf_source_has_entries(p->source) || p->source->seekable;
}

/* Opens the stream of the next pass, on its own source. */
static perfile_status open_source(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st = pf_source_has_entries(p->source) ? pf_passes_reopen(p->source, &source, err)
                                                         : pf_source_tee(&p->tee, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &p->how, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* Opens the file `data` of a directory.  *first is NULL if there is none that can be opened:
 * opening the stream will fail, with a better message.  A failure that may not happen again is
 * returned. */
static perfile_status first_entry(const perfile_source *directory, perfile_source **first,
                                  perfile_error *err)
{
    perfile_error ours;
    *first = NULL;
    const perfile_status st = pf_source_entry(directory, "data", first, &ours);
    const bool stays = st == PERFILE_E_UNSUPPORTED ||
                       (st == PERFILE_E_IO && (ours.sys == ENOENT || ours.sys == EACCES));
    if (st == PERFILE_OK || stays)
        return PERFILE_OK;
    if (err)
        *err = ours;
    return st;
}

perfile_status pf_passes_head(const pf_passes *p, const pf_driver **driver, pf_head *head,
                              perfile_error *err)
{
    perfile_source *first = p->source;
    const char *foreign;
    perfile_bytes bytes;
    *head = (pf_head){0};
    perfile_status st = pf_driver_find(p->source, p->how.from, driver, &foreign, err);
    if (st != PERFILE_OK || !(*driver)->head)
        return st;
    if (pf_source_has_entries(p->source))
        st = first_entry(p->source, &first, err);
    if (st != PERFILE_OK || !first)
        return st;
    st = pf_source_run(first, 0, PF_HEAD_BYTES, &bytes, err);
    if (st == PERFILE_OK && bytes.len >= PF_HEAD_BYTES)
        (void)(*driver)->head(bytes, head);
    if (first != p->source)
        perfile_source_close(first);
    return st;
}

/* Fails like opening a stream if the driver does not recognize the first bytes of the pipe. */
static perfile_status refuse_foreign(pf_passes *p, perfile_error *err)
{
    const pf_driver *driver;
    pf_head head;
    perfile_stream *s;
    perfile_status st = pf_passes_head(p, &driver, &head, err);
    if (st != PERFILE_OK || !driver->head || head.form)
        return st;
    st = open_source(p, &s, err);
    if (st == PERFILE_OK)
        perfile_stream_close(s);
    return st;
}

perfile_status pf_passes_spool(pf_passes *p, perfile_error *err)
{
    perfile_source *pipe = p->source;
    if (pf_passes_seekable(p))
        return PERFILE_OK;
    perfile_status st = refuse_foreign(p, err);
    if (st == PERFILE_OK)
        st = pf_source_spool(pipe, &p->source, err);
    if (st != PERFILE_OK)
        return st;
    perfile_source_close(pipe);
    p->tee.below = p->source;
    return PERFILE_OK;
}

perfile_status pf_translate(const pf_driver *driver, const pf_translation *how,
                            perfile_stream **stream, perfile_error *err)
{
    const perfile_sort_options sorting = {.size = sizeof sorting, .flags = PERFILE_SORT_ONE_ROUND};
    perfile_stream *s;
    perfile_status st = driver->translate(how, &s, err);
    if (st == PERFILE_OK && s->sorted_by != PF_SORTED_BY_TIME &&
        (st = perfile_sort(s, &sorting, &s, err)) != PERFILE_OK)
        perfile_stream_close(s);
    if (st == PERFILE_OK)
        *stream = s;
    return st;
}

/* pf_translation.pass */
static perfile_status open_untranslated(void *user, perfile_stream **stream, perfile_error *err)
{
    return open_source(user, stream, err);
}

/* pf_translation.damage: the translated stream has no damage records, but it counts the damage. */
static perfile_status on_damage(void *user, const perfile_record *r, perfile_error *err)
{
    pf_passes *p = user;
    (void)err;
    pf_summary_add_damage(&p->damaged, r->damage, r->offset, r->body.len);
    return PERFILE_OK;
}

/* Replaces a stream of another family by one with perf's records, if its driver can do that; on
 * failure it is closed.  All passes have the same notes, so only those of the first are
 * reported. */
static perfile_status translate(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(*stream);
    const pf_driver *driver = c->format ? pf_driver_named(c->format) : NULL;
    if (c->family == PERFILE_FAMILY_PERF || !driver || !driver->translate)
        return PERFILE_OK;
    perfile_stream_close(*stream);
    *stream = NULL;
    if (p->n)
        p->converting.note = NULL;
    p->damaged = (perfile_stream_summary){0};
    p->translation = (pf_translation){.pass = open_untranslated,
                                      .damage = on_damage,
                                      .user = p,
                                      .options = &p->converting,
                                      .losses = &p->losses};
    perfile_status st = pf_translate(driver, &p->translation, stream, err);
    if (st != PERFILE_OK)
        return st;
    perfile_stream *lowest = *stream;
    while (lowest->below)
        lowest = lowest->below;
    pf_stream_count_damage(lowest, &p->damaged);
    lowest->source = p->source;
    return PERFILE_OK;
}

perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    perfile_stream *s;
    perfile_status st = p->source ? open_source(p, &s, err) : make_stream(p, &s, err);
    if (st == PERFILE_OK && p->source && p->translate)
        st = translate(p, &s, err);
    if (st != PERFILE_OK)
        return st;
    p->n++;
    pf_progress_begin(&p->progress, perfile_stream_container(s));
    *stream = s;
    return PERFILE_OK;
}
