/* perfile_filter_open(): a filtered stream for callers that read records and write no capture
 * (dump, stats).  Does the passes that the filter needs, and before them one that feeds a process
 * model where the caller wants names.
 *
 * All that the stream needs (source, streams of the earlier passes, filter, model) is in a
 * pf_reading, which is released when the stream is closed.  The caller sees one stream: that of the
 * last pass if everything is selected, else the filter stage on it. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "lib/passes.h"
#include "perfile/filter.h"
#include "filter/filter.h"

enum { MOST_PASSES = 3 }; /* model, before selecting, selecting */

/* What the filtered stream owns besides the stream below it.  The filter borrows from the sessions
 * of the passes, so they stay open. */
typedef struct pf_reading {
    pf_passes all;
    perfile_filter_state *filter;
    perfile_model *model;
    perfile_stream *passes[MOST_PASSES]; /* all but the last pass, which the caller reads */
    uint32_t n_passes;
    perfile_error *limit; /* the caller's: why the model is not complete; may be NULL */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void (*note)(void *user, const perfile_note *note);
    void *user;
} pf_reading;

/* Frees the pf_reading; also called when the stream is closed. */
static void release(void *user)
{
    pf_reading *x = user;
    while (x->n_passes)
        perfile_stream_close(x->passes[--x->n_passes]);
    perfile_model_close(x->model);
    perfile_filter_close(x->filter);
    perfile_source_close(x->all.source);
    pf_free(x);
}

/* Progress of the passes before the last: this one, those done, and the one that the caller
 * does. */
static void on_pass(void *user, const perfile_record *at)
{
    pf_reading *x = user;
    pf_progress *p = &x->all.progress;
    if (pf_progress_at(p, at) && x->progress)
        x->progress(x->user, pf_progress_share(x->all.n - 1, x->all.n + 1, p->done, p->total),
                    p->total);
}

static perfile_status open_pass(pf_reading *x, perfile_stream **stream, perfile_error *err)
{
    perfile_status st = pf_passes_open(&x->all, stream, err);
    if (st == PERFILE_OK)
        x->passes[x->n_passes++] = *stream;
    return st;
}

/* The filtered stream was read to its end: what if it was empty. */
static void on_end(void *user)
{
    pf_reading *x = user;
    pf_filter_note_empty(x->filter, x->note, x->user);
}

/* Feeds the side-band of a run to the model. */
static perfile_status feed(pf_reading *x, const perfile_record *first, size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        if (first[i].family == PERFILE_FAMILY_PERF && first[i].type != PERFILE_RECORD_SAMPLE &&
            perfile_model_wants(first[i].type))
            st = perfile_model_feed(x->model, &first[i], err);
    return st;
}

/* The pass that makes the model of the whole capture: a name can be set behind the sample that
 * needs it.  If the model reaches its limit and the caller gave `limit`, what is known so far is
 * used, and the error goes there. */
static perfile_status make_model(pf_reading *x, perfile_error *err)
{
    perfile_stream *s;
    const perfile_record *first;
    const perfile_thread *threads;
    size_t n;
    perfile_status st = open_pass(x, &s, err);
    if (st == PERFILE_OK)
        st = perfile_model_new(perfile_stream_session(s), &x->model, err);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        on_pass(x, first);
        st = feed(x, first, n, err);
    }
    if (st == PERFILE_E_LIMIT && x->limit && x->model && strcmp(err->where, "model_bytes") == 0) {
        *x->limit = *err;
        st = PERFILE_END;
    }
    /* Asking for the threads sorts the model's lists now, which makes later look-ups fast. */
    return st == PERFILE_END ? perfile_model_threads(x->model, &threads, &n, err) : st;
}

/* Copies a pipe to a temporary file, so that it can be read once per pass. */
static perfile_status make_seekable(pf_reading *x, perfile_error *err)
{
    return pf_passes_seekable(&x->all) ? PERFILE_OK : pf_passes_spool(&x->all, err);
}

/* Does all passes, and opens the last one with the filter on it. */
static perfile_status open_all(pf_reading *x, bool model, perfile_stream **stream,
                               perfile_error *err)
{
    perfile_stream *s;
    perfile_status st = PERFILE_OK;
    if (model || x->all.translate || perfile_filter_wants_pass(x->filter, NULL))
        st = make_seekable(x, err);
    if (st == PERFILE_OK && model)
        st = make_model(x, err);
    while (st == PERFILE_OK && x->n_passes < MOST_PASSES &&
           perfile_filter_wants_pass(x->filter, NULL)) {
        st = open_pass(x, &s, err);
        if (st == PERFILE_OK)
            st = perfile_filter_learn(x->filter, s, err);
    }
    if (st == PERFILE_OK)
        st = pf_passes_open(&x->all, &s, err);
    if (st != PERFILE_OK)
        return st;
    perfile_stream *top = s;
    if (!pf_filter_selects_all(x->filter))
        st = perfile_filter(s, x->filter, &top, err);
    if (st == PERFILE_OK)
        *stream = top;
    else
        perfile_stream_close(s);
    return st;
}

/* Owns `source` in any case: on success through the stream, on failure it is closed here. */
perfile_status perfile_filter_open(perfile_source *source, const perfile_filter_options *options,
                                   perfile_filter_open_options *reading, perfile_stream **stream,
                                   const perfile_model **model, perfile_error *err)
{
    perfile_open_options how;
    perfile_filter_open_options asked;
    pf_reading *x = pf_alloc(1, sizeof *x);
    if (!x) {
        perfile_source_close(source);
        return pf_fail_nomem(err, "filter");
    }
    perfile_status st = pf_options_copy(&asked, reading, "filter.reading", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&how, asked.how, "options", err);
    if (st != PERFILE_OK) {
        pf_free(x);
        perfile_source_close(source);
        return st;
    }
    x->progress = asked.progress;
    x->note = asked.note;
    x->user = asked.user;
    x->limit = asked.limit;
    st = pf_passes_begin(&x->all, source, &how, err);
    x->all.translate = asked.translate;
    x->all.converting = (perfile_convert_options){.size = sizeof x->all.converting,
                                                  .format = "perf.data",
                                                  .limits = how.limits,
                                                  .note = asked.note,
                                                  .user = asked.user};
    if (st == PERFILE_OK)
        st = perfile_filter_new(options, &x->filter, err);
    if (st == PERFILE_OK) {
        x->filter->progress.at = on_pass;
        x->filter->progress.user = x;
        st = open_all(x, asked.model, stream, err);
    }
    if (st == PERFILE_OK && reading)
        reading->passes = x->n_passes;
    if (st != PERFILE_OK) {
        release(x);
        return st;
    }
    x->filter->progress.at = NULL; /* the caller reads the last pass, and sees how far it is */
    x->filter->ended.call = on_end;
    x->filter->ended.user = x;
    (*stream)->closed = release;
    (*stream)->closed_user = x;
    if (model)
        *model = x->model;
    return PERFILE_OK;
}
