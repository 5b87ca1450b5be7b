/* Filters a whole capture: perfile_filter_capture() writes the result with perfile_copy();
 * perfile_open_filtered() returns the filtered stream to callers that read it (dump, stats).  Both
 * read the capture as often as the filter needs.
 *
 * A full pass over the capture is necessary to know which side-band the selected samples need.
 * Some terms (relative times, names of threads) need another pass before it. src/filter decides how
 * many (pf_filter_wants_pass()).  The streams of earlier passes stay open until the end,
 * because the filter borrows names and events from their sessions. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "filter/filter.h"
#include "io/out.h"
#include "lib/passes.h"
#include "model/ask.h"
#include "perfile/filter.h"
#include "perfile/target.h"
#include "model/command.h"
#include "filter/command.h"
#include "transform/command.h"

/* The passes of a filter. */
typedef struct passing {
    pf_passes all; /* all.source is owned */
    perfile_filter_state *filter;
    /* The passes for the model, before selecting, for selecting, and for writing; the last one with
     * its stages. */
    perfile_stream *streams[4];
    uint32_t n;
} passing;

/* Begins a pass.  Its stream stays open until end_passes(). */
static perfile_status open_pass(passing *p, perfile_stream **stream, perfile_error *err)
{
    perfile_status st = pf_passes_open(&p->all, stream, err);
    if (st == PERFILE_OK)
        p->streams[p->n++] = *stream;
    return st;
}

/* Returns true if the filter needs another pass, and the input can be read more than once. */
static bool wants_pass(const passing *p)
{
    return pf_passes_seekable(&p->all) && pf_filter_wants_pass(p->filter, NULL);
}

/* Runs the passes that the filter needs before the last one; each calls `progress`. */
static perfile_status learn(passing *p, void (*progress)(void *user, const perfile_record *at),
                            void *user, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    p->filter->progress.at = progress;
    p->filter->progress.user = user;
    while (st == PERFILE_OK && p->n < 3 && wants_pass(p)) {
        perfile_stream *s;
        st = open_pass(p, &s, err);
        if (st == PERFILE_OK)
            st = perfile_filter_learn(p->filter, s, err);
    }
    return st;
}

static void end_passes(passing *p)
{
    while (p->n)
        perfile_stream_close(p->streams[--p->n]);
    perfile_filter_close(p->filter);
    perfile_source_close(p->all.source);
}

/* The note for a filter that selects no sample, for example
 *
 *     no sample is selected; the capture has 42 samples, time 12.5..13.1, threads called work,
 *     helper
 *
 * It shows the values of the samples in the fields that the terms test, so that a typing error in a
 * name, or seconds instead of milliseconds, is obvious. filter/test.c collects the values as long
 * as nothing is selected. */

enum { MOST_TEXT = 400 }; /* size of all buffers called `text`; longer texts are cut */

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends to `text`. */
static void put(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, MOST_TEXT - n, format, args);
    va_end(args);
}

/* Appends a time in seconds, as filters accept it. */
static void put_time(char *text, uint64_t ns)
{
    const uint64_t second = 1000000000;
    put(text, "%" PRIu64 ".%09" PRIu64, ns / second, ns % second);
}

/* Appends "pid 7..9", "pid 7", or "without pid" if no sample had a value (least > most). */
static void put_range(char *text, unsigned place, const pf_observed_range *r)
{
    static const char *const names[PF_PLACES] = {"time", "pid", "tid", "cpu", "ip"};
    put(text, "%s%s", r->least > r->most ? "without " : "", names[place]);
    if (r->least > r->most)
        return;
    put(text, " ");
    for (int end = 0; end < (r->least == r->most ? 1 : 2); end++) {
        uint64_t value = end ? r->most : r->least;
        put(text, "%s", end ? ".." : "");
        if (place == PF_PLACE_TIME)
            put_time(text, value);
        else
            put(text, place == PF_PLACE_IP ? "0x%" PRIx64 : "%" PRIu64, value);
    }
}

/* Appends the collected names, with `what` before the first; nothing if there are none. */
static void put_names(char *text, const char *what, const pf_observed_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        put(text, "%s%s", i ? ", " : what, all->at[i]);
    put(text, "%s", all->more ? " ..." : "");
}

/* Appends the values of the samples in the tested fields, or their times if the terms test none of
 * these fields and no names.  The filter tests the terms one after the other, so the values of the
 * second field come from samples that the first term accepted, and so on. */
static void put_observed(const pf_filter *x, char *text)
{
    const pf_observed *t = &x->there;
    uint64_t n = x->result.samples;
    const char *before = ", ";
    put(text, "; the capture has %" PRIu64 " sample%s", n, n == 1 ? "" : "s");
    for (unsigned k = 0; k < PF_PLACES; k++) {
        if (!(t->looked >> k & 1))
            continue;
        put(text, "%s", before);
        put_range(text, k, &t->ranges[k]);
        before = "; those that fit so far: ";
    }
    put_names(text, ", threads called ", &t->comms);
    put_names(text, ", files ", &t->files);
}

typedef void note_fn(void *user, const perfile_note *note);

/* Notes each term that tests a field which no event records. */
static void note_not_recorded(const pf_filter *x, note_fn *report, void *user)
{
    char text[96];
    uint32_t next = 0;
    perfile_note note = {.kind = PERFILE_NOTE_NOT_RECORDED,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .message = text};
    while ((note.where = pf_filter_next_missing_field(x, &next))) {
        snprintf(text, sizeof text, "%s selects no sample: no event records the field it tests",
                 pf_filter_kind_name(note.where));
        report(user, &note);
    }
}

/* After the last pass: notes each term that tests a field which no event records, and, if no sample
 * was selected, the values that the samples have.  The texts of the notes are valid during the call
 * of `report`, which may be NULL. */
static void note_empty(const pf_filter *x, note_fn *report, void *user)
{
    char text[MOST_TEXT] = "no sample is selected";
    perfile_note note = {.kind = PERFILE_NOTE_EMPTY,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .message = text};
    if (!report)
        return;
    note_not_recorded(x, report, user);
    if (x->selection.any || !x->options.n_terms)
        return;
    if (x->result.samples == 0)
        put(text, "; the capture has none");
    else
        put_observed(x, text);
    report(user, &note);
}

/* Writing a filtered capture. */

typedef struct filtering {
    passing in;
    perfile_sink *sink;
    perfile_filter_options options;
    perfile_filter_capture_options writing;
    perfile_filter_summary filtered;
    perfile_copy_summary copied;
    uint64_t losses; /* kinds of losses reported by the stage that drops fields */
    bool failing;    /* damage is an error */
} filtering;

/* Calls the progress callback.  `done` counts bytes of the current pass.  The number of passes is
 * an estimate that can grow by one. */
static void report_progress(filtering *f, uint64_t done)
{
    uint64_t before = f->in.all.n - 1, total = f->in.all.progress.total;
    if (!f->writing.progress)
        return;
    const bool more = wants_pass(&f->in);
    f->writing.progress(f->writing.user, pf_progress_share(before, before + 1 + more, done, total),
                        total);
}

/* Callback of the filter: progress of a pass before the last. */
static void on_pass(void *user, const perfile_record *at)
{
    filtering *f = user;
    if (pf_progress_at(&f->in.all.progress, at))
        report_progress(f, f->in.all.progress.done);
}

/* Callback of perfile_copy(): progress of the last pass. */
static void on_copy(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    report_progress(user, done);
}

static void on_note(void *user, const perfile_note *note)
{
    const filtering *f = user;
    if (f->writing.note)
        f->writing.note(f->writing.user, note);
}

/* Callback of perfile_target(): a record was dropped, because the position of a field that had to
 * be removed from it is not known. */
static void on_loss(void *user, const perfile_target_loss *loss)
{
    filtering *f = user;
    const perfile_note note = pf_note_of_loss(loss);
    f->losses++;
    on_note(f, &note);
}

/* Copies a pipe to a temporary file if it must be read more than once, or if a file comes through
 * it (its features are at the end, so the driver would have to copy it, too).  A pipe that can be
 * filtered in one pass is not copied; its output then has more side-band than needed. */
static perfile_status make_seekable(filtering *f, perfile_error *err)
{
    const pf_driver *driver;
    pf_head head;
    bool needed;
    if (pf_passes_seekable(&f->in.all))
        return PERFILE_OK;
    perfile_status st = pf_passes_head(&f->in.all, &driver, &head, err);
    if (st != PERFILE_OK)
        return st;
    (void)pf_filter_wants_pass(f->in.filter, &needed);
    return needed || head.form == PERFILE_FORM_FILE ? pf_passes_spool(&f->in.all, err) : PERFILE_OK;
}

/* Writes the filtered stream to the sink, in its own format and byte order unless the options
 * choose another format. */
static perfile_status write_all(filtering *f, perfile_stream *s, perfile_error *err)
{
    perfile_writer_options how = pf_copy_writing(s, f->writing.form, f->writing.format);
    how.compress_level =
        f->writing.compress_level ? f->writing.compress_level : PERFILE_COMPRESS_AS_READ;
    const perfile_copy_options copying = {.size = sizeof copying,
                                          .flags = f->failing ? 0 : PERFILE_COPY_FORCE,
                                          .note = on_note,
                                          .progress = on_copy,
                                          .user = f};
    return pf_copy_to(f->sink, &how, s, &copying, &f->copied, err);
}

/* Runs all passes. perfile_filter() and perfile_target() replace the entry of the last pass by the
 * stream of their stage, which owns the one below. */
static perfile_status filter(filtering *f, perfile_error *err)
{
    perfile_stream *s;
    /* Features of a pipe precede its records, and the target stage copies facts when it begins.  So
     * the filter must know its features before the last pass. */
    if (f->writing.form == PERFILE_FORM_PIPE || f->writing.drop)
        f->options.flags |= PERFILE_FILTER_FACTS_FIRST;
    if (pf_sink_has_parts(f->sink))
        f->writing.form = PERFILE_FORM_FILE;
    perfile_status st = perfile_filter_open(&f->options, &f->in.filter, err);
    if (st == PERFILE_OK)
        st = make_seekable(f, err);
    if (st == PERFILE_OK)
        st = learn(&f->in, on_pass, f, err);
    if (st == PERFILE_OK)
        st = open_pass(&f->in, &s, err);
    if (st == PERFILE_OK)
        st = perfile_filter(s, f->in.filter, &f->in.streams[f->in.n - 1], err);
    if (st == PERFILE_OK && f->writing.drop) {
        perfile_target_options how = {
            .size = sizeof how, .drop = f->writing.drop, .loss = on_loss, .user = f};
        s = f->in.streams[f->in.n - 1];
        st = perfile_target(s, &how, &f->in.streams[f->in.n - 1], err);
    }
    if (st == PERFILE_OK)
        st = write_all(f, f->in.streams[f->in.n - 1], err);
    if (st == PERFILE_OK)
        note_empty(f->in.filter, on_note, f);
    return st;
}

/* Fills the summary: the records that the filter kept, minus those that the target stage dropped
 * afterwards. */
static void count(filtering *f)
{
    perfile_target_summary dropped = {0};
    perfile_filter_summary *sum = &f->filtered;
    pf_filter_get_summary(f->in.filter, sum, sizeof *sum);
    if (f->in.n)
        pf_target_get_summary(f->in.streams[f->in.n - 1], &dropped, sizeof dropped);
    sum->kept -= dropped.dropped < sum->kept ? dropped.dropped : sum->kept;
    if (dropped.dropped && f->copied.samples < sum->kept_samples)
        sum->kept_samples = f->copied.samples;
    f->copied.losses += f->losses;
}

perfile_status perfile_filter_capture(perfile_source *source, perfile_sink *sink,
                                      const perfile_filter_options *options,
                                      const perfile_filter_capture_options *writing,
                                      perfile_filter_summary *filtered, size_t filtered_size,
                                      perfile_copy_summary *copied, size_t copied_size,
                                      perfile_error *err)
{
    filtering f = {.in = {.all = {.source = source}}, .sink = sink};
    pf_source_hold(source);
    perfile_status st = pf_options_copy(&f.options, options, "filter.options", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&f.writing, writing, "filter.writing", err);
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&f.writing.on_damage, PERFILE_ON_DAMAGE_STOP,
                                  PERFILE_ON_DAMAGE_FAIL, "filter.writing", err);
    f.failing = f.writing.on_damage == PERFILE_ON_DAMAGE_FAIL;
    const perfile_open_options how = {.size = sizeof how,
                                      .on_damage =
                                          f.failing ? PERFILE_ON_DAMAGE_STOP : f.writing.on_damage,
                                      .from = f.writing.from,
                                      .limits = f.writing.limits};
    if (st == PERFILE_OK)
        st = pf_passes_begin(&f.in.all, source, &how, err);
    if (st == PERFILE_OK)
        st = pf_sink_add_inputs(sink, &f.in.all.source->inputs, err);
    if (st == PERFILE_OK)
        st = filter(&f, err);
    if (f.in.filter)
        count(&f);
    pf_result_out(filtered, filtered_size, &f.filtered, sizeof f.filtered);
    pf_result_out(copied, copied_size, &f.copied, sizeof f.copied);
    end_passes(&f.in); /* closes in.all.source; pf_passes_spool() may have replaced it */
    pf_source_settle(source, st);
    return st;
}

enum { RELEASED_BYTES = 4 << 20 }; /* bytes of a mapped file that are released at once */

/* For callers that read records: owned by the filtered stream, in addition to the stream of the
 * last pass below it.  If the caller wants names, a separate pass feeds a process model. */
typedef struct pf_reading {
    passing in;
    perfile_model *model;
    bool names_only;
    perfile_error *limit; /* from the caller: receives the error if the model is not complete; may
                           * be NULL */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void (*note)(void *user, const perfile_note *note);
    void *user;
    uint32_t part;     /* the part that the current pass reads */
    uint64_t released; /* offset in it; mapped pages before it were released */
} pf_reading;

/* Frees the pf_reading; also called when the stream is closed. */
static void release(void *user)
{
    pf_reading *x = user;
    perfile_model_close(x->model);
    end_passes(&x->in);
    pf_free(x);
}

/* Releases mapped pages that the pass has read, so that only the pages it needs stay in memory. */
static void release_passed(pf_reading *x, const perfile_record *at)
{
    if (at->part != x->part || at->offset < x->released) { /* another part, or another pass */
        x->part = at->part;
        x->released = 0;
    }
    if (at->offset - x->released < RELEASED_BYTES)
        return;
    const uint64_t len = (at->offset - x->released) & ~(uint64_t)(RELEASED_BYTES - 1);
    pf_stream_release(x->in.streams[x->in.n - 1], at->part, x->released, len);
    x->released += len;
}

/* Reports progress in a pass before the last.  The total counts all passes so far and the caller's
 * own pass. */
static void on_reading(void *user, const perfile_record *at)
{
    pf_reading *x = user;
    pf_progress *p = &x->in.all.progress;
    release_passed(x, at);
    if (pf_progress_at(p, at) && x->progress)
        x->progress(x->user, pf_progress_share(x->in.all.n - 1, x->in.all.n + 1, p->done, p->total),
                    p->total);
}

/* The filtered stream was read to its end: reports if no sample was selected. */
static void on_end(void *user)
{
    pf_reading *x = user;
    note_empty(x->in.filter, x->note, x->user);
}

/* Returns true if the model needs the record.  Mappings are left out if only names are wanted: they
 * would be most of the records. */
static bool is_needed(const pf_reading *x, const perfile_record *r)
{
    const bool maps = r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2 ||
                      r->type == PERFILE_RECORD_KSYMBOL;
    return r->family == PERFILE_FAMILY_PERF && r->type != PERFILE_RECORD_SAMPLE &&
           !(x->names_only && maps) && pf_model_wants(r->type);
}

/* Feeds the side-band in a run to the model. */
static perfile_status feed(pf_reading *x, const perfile_record *first, size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        if (is_needed(x, &first[i]))
            st = perfile_model_feed(x->model, &first[i], err);
    return st;
}

/* Makes the model in a pass over the whole capture, because a name can be set after the sample that
 * needs it.  If the model reaches its limit and the caller passed `limit`, the model is used as far
 * as it goes, and `limit` gets the error. */
static perfile_status make_model(pf_reading *x, perfile_error *err)
{
    perfile_stream *s;
    const perfile_record *first;
    size_t n;
    perfile_status st = open_pass(&x->in, &s, err);
    if (st == PERFILE_OK)
        st = perfile_model_open(perfile_stream_session(s), &x->model, err);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        on_reading(x, first);
        st = feed(x, first, n, err);
    }
    if (st == PERFILE_E_LIMIT && x->limit && x->model && strcmp(err->where, "model_bytes") == 0) {
        *x->limit = *err;
        st = PERFILE_END;
    }
    return st == PERFILE_END ? pf_model_settle(x->model, err) : st;
}

/* Runs all passes but the last, and opens the last one with the filter on top. */
static perfile_status open_all(pf_reading *x, bool model, perfile_stream **stream,
                               perfile_error *err)
{
    perfile_stream *s;
    perfile_status st = PERFILE_OK;
    if (model || x->in.all.translate || pf_filter_wants_pass(x->in.filter, NULL))
        st = pf_passes_spool(&x->in.all, err);
    if (st == PERFILE_OK && model)
        st = make_model(x, err);
    if (st == PERFILE_OK)
        st = learn(&x->in, on_reading, x, err);
    if (st == PERFILE_OK)
        st = pf_passes_open(&x->in.all, &s, err);
    if (st != PERFILE_OK)
        return st;
    perfile_stream *top = s;
    if (!pf_filter_selects_all(x->in.filter))
        st = perfile_filter(s, x->in.filter, &top, err);
    if (st == PERFILE_OK)
        *stream = top;
    else
        perfile_stream_close(s);
    return st;
}

perfile_status perfile_open_filtered(perfile_source *source, const perfile_filter_options *options,
                                     perfile_open_filtered_options *reading,
                                     perfile_stream **stream, const perfile_model **model,
                                     perfile_error *err)
{
    perfile_open_options how = {0};
    perfile_open_filtered_options asked = {0};
    pf_reading *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "filter");
    pf_source_hold(source);
    x->in.all.source = source;
    perfile_status st = pf_options_copy(&asked, reading, "filter.reading", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&how, asked.how, "options", err);
    if (st == PERFILE_OK)
        st = pf_passes_begin(&x->in.all, source, &how, err);
    x->progress = asked.progress;
    x->note = asked.note;
    x->user = asked.user;
    x->limit = asked.limit;
    x->in.all.translate = asked.translate;
    x->in.all.converting = (perfile_convert_options){.size = sizeof x->in.all.converting,
                                                     .format = "perf.data",
                                                     .limits = how.limits,
                                                     .note = asked.note,
                                                     .user = asked.user};
    if (st == PERFILE_OK)
        st = perfile_filter_open(options, &x->in.filter, err);
    x->names_only = asked.names_only;
    if (st == PERFILE_OK)
        st = open_all(x, asked.model, stream, err);
    if (st == PERFILE_OK && reading)
        reading->passes = x->in.n;
    if (st != PERFILE_OK) {
        release(x);
        return st;
    }
    x->in.filter->progress.at = NULL; /* the caller reads the last pass and knows its progress */
    x->in.filter->ended.call = on_end;
    x->in.filter->ended.user = x;
    (*stream)->closed = release;
    (*stream)->closed_user = x;
    if (model)
        *model = x->model;
    pf_source_settle(source, st); /* what the stream reads now belongs to it */
    return PERFILE_OK;
}
