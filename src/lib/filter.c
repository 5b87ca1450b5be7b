/* perfile_filter_capture(): reads a capture as often as the filter needs, puts the filter stage
 * (and if fields are dropped the target stage) on the last pass, and writes the result with
 * perfile_copy().
 *
 * Which side-band the selected samples need is known only after a pass over the whole capture, and
 * some terms (relative times, names of threads) need a pass before that one; src/filter decides how
 * many (perfile_filter_wants_pass()).  The streams of earlier passes stay open until the end,
 * because the filter borrows names and events from their sessions.
 *
 * filter_open.c does the same for callers that read the filtered stream themselves. */
#include <stdio.h>
#include <string.h>
#include <inttypes.h>
#include <stdarg.h>

#include "base/error.h"
#include "base/options.h"
#include "io/out.h"
#include "lib/passes.h"
#include "lib/registry.h"
#include "perfile/filter.h"
#include "perfile/target.h"
#include "filter/filter.h"

enum { MOST_PASSES = 3 }; /* before selecting, selecting, and the one that writes */

typedef struct filtering {
    pf_passes all;
    perfile_sink *sink;
    perfile_filter_options options;
    perfile_filter_capture_options writing;
    perfile_filter_state *filter;
    perfile_stream *passes[MOST_PASSES]; /* streams of all passes, the last with its stages on it */
    uint32_t n_passes;
    perfile_filter_summary filtered;
    perfile_copy_summary copied;
    uint64_t losses; /* kinds of losses that the stage which drops fields reported */
    bool failing;    /* damage is an error */
    bool may_pass;   /* the input can be read more than once */
} filtering;

/* Calls the progress callback.  `done` are bytes of the pass that runs; how many passes there are
 * is an estimate that can grow by one. */
static void report_progress(filtering *f, uint64_t done)
{
    uint64_t before = f->all.n - 1, total = f->all.progress.total;
    uint32_t more = 0;
    if (!f->writing.progress)
        return;
    if (f->may_pass && perfile_filter_wants_pass(f->filter, NULL))
        more = 1;
    f->writing.progress(f->writing.user, pf_progress_share(before, before + 1 + more, done, total),
                        total);
}

/* Callback of the filter: progress of a pass before the last. */
static void on_pass(void *user, const perfile_record *at)
{
    filtering *f = user;
    if (pf_progress_at(&f->all.progress, at))
        report_progress(f, f->all.progress.done);
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

/* Callback of perfile_target(): a record was dropped, because the place of a field that had to be
 * removed from it is not known. */
static void on_loss(void *user, const perfile_target_loss *loss)
{
    filtering *f = user;
    const perfile_note note = {.kind = PERFILE_NOTE_TARGET,
                               .number = UINT32_MAX,
                               .count = loss->count,
                               .offset = loss->first_offset,
                               .text = loss->sentence};
    f->losses++;
    on_note(f, &note);
}

/* Begins a pass; the stream is closed at the end of perfile_filter_capture(). */
static perfile_status open_pass(filtering *f, perfile_stream **stream, perfile_error *err)
{
    perfile_status st = pf_passes_open(&f->all, stream, err);
    if (st == PERFILE_OK)
        f->passes[f->n_passes++] = *stream;
    return st;
}

/* Copies a pipe to a temporary file if it must be read more than once, or if a file comes through
 * it (whose features are at the end, where the driver would have to copy it as well).  A pipe that
 * can be filtered in one pass is not copied; it then keeps more side-band than needed. */
static perfile_status make_seekable(filtering *f, perfile_error *err)
{
    perfile_bytes head;
    pf_head header = {0};
    const pf_driver *driver;
    const char *foreign;
    bool needed;
    (void)perfile_filter_wants_pass(f->filter, &needed);
    f->may_pass = pf_passes_seekable(&f->all);
    if (f->may_pass)
        return PERFILE_OK;
    perfile_status st = pf_driver_find(f->all.source, f->writing.from, &driver, &foreign, err);
    if (st == PERFILE_OK)
        st = pf_source_run(f->all.source, 0, PF_HEAD_BYTES, &head, err);
    if (st != PERFILE_OK)
        return st;
    bool file = driver->head && driver->head(head, &header) && header.form == PERFILE_FORM_FILE;
    if (!file && !needed)
        return PERFILE_OK;
    st = pf_passes_spool(&f->all, err);
    f->may_pass = st == PERFILE_OK;
    return st;
}

/* The passes before the one that writes. */
static perfile_status run_passes(filtering *f, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    f->filter->progress.at = on_pass;
    f->filter->progress.user = f;
    while (st == PERFILE_OK && f->may_pass && f->n_passes + 1 < MOST_PASSES &&
           perfile_filter_wants_pass(f->filter, NULL)) {
        perfile_stream *s;
        st = open_pass(f, &s, err);
        if (st == PERFILE_OK)
            st = perfile_filter_learn(f->filter, s, err);
    }
    return st;
}

/* Writes the filtered stream to the sink, as its own format and byte order unless options
 * differ. */
static perfile_status write_all(filtering *f, perfile_stream *s, perfile_error *err)
{
    uint32_t form = f->writing.form ? f->writing.form : perfile_stream_container(s)->form;
    perfile_writer_options how = {
        .size = sizeof how,
        .as_stored = true,
        .form = form,
        .format = f->writing.format ? f->writing.format : perfile_stream_container(s)->format,
        .compress_level =
            f->writing.compress_level ? f->writing.compress_level : PERFILE_COMPRESS_AS_READ,
        .byte_order = perfile_session_byte_order(perfile_stream_session(s))};
    perfile_copy_options copying = {.size = sizeof copying,
                                    .flags = f->failing ? 0 : PERFILE_COPY_FORCE,
                                    .note = on_note,
                                    .progress = on_copy,
                                    .user = f};
    perfile_writer *w;
    perfile_status st = perfile_writer_open(f->sink, &how, &w, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_copy(s, w, &copying, &f->copied, sizeof f->copied, err);
    perfile_writer_close(w);
    return st;
}

/* All of it.  perfile_filter() and perfile_target() replace the entry of the last pass by the
 * stream of their stage, which owns the one below. */
static perfile_status filter(filtering *f, perfile_error *err)
{
    perfile_stream *s;
    /* Features of a pipe precede its records, and the target stage copies facts when it begins: the
     * filter must know its features before the last pass. */
    if (f->writing.form == PERFILE_FORM_PIPE || f->writing.drop)
        f->options.flags |= PERFILE_FILTER_FACTS_FIRST;
    if (pf_sink_has_parts(f->sink))
        f->writing.form = PERFILE_FORM_FILE;
    perfile_status st = perfile_filter_new(&f->options, &f->filter, err);
    if (st == PERFILE_OK)
        st = make_seekable(f, err);
    if (st == PERFILE_OK)
        st = run_passes(f, err);
    if (st == PERFILE_OK)
        st = open_pass(f, &s, err);
    if (st == PERFILE_OK)
        st = perfile_filter(s, f->filter, &f->passes[f->n_passes - 1], err);
    if (st == PERFILE_OK && f->writing.drop) {
        perfile_target_options how = {
            .size = sizeof how, .drop = f->writing.drop, .loss = on_loss, .user = f};
        s = f->passes[f->n_passes - 1];
        st = perfile_target(s, &how, &f->passes[f->n_passes - 1], err);
    }
    if (st == PERFILE_OK)
        st = write_all(f, f->passes[f->n_passes - 1], err);
    if (st == PERFILE_OK)
        pf_filter_note_empty(f->filter, on_note, f);
    return st;
}

/* Copies a summary to a caller's struct of `out_size` bytes, which may be of an older version. */
static void copy_out(void *out, size_t out_size, const void *from, size_t size)
{
    if (out)
        memcpy(out, from, out_size < size ? out_size : size);
}

/* Fills the summary: what the filter kept, less what the target stage dropped behind it. */
static void count(filtering *f)
{
    perfile_target_summary dropped = {0};
    perfile_filter_summary *sum = &f->filtered;
    perfile_filter_get_summary(f->filter, sum, sizeof *sum);
    if (f->n_passes)
        perfile_target_get_summary(f->passes[f->n_passes - 1], &dropped, sizeof dropped);
    sum->kept -= dropped.dropped < sum->kept ? dropped.dropped : sum->kept;
    if (dropped.dropped && f->copied.samples < sum->kept_samples)
        sum->kept_samples = f->copied.samples;
    f->copied.losses += f->losses;
}

/* `source` is closed in any case; pf_passes_spool() may have replaced it. */
perfile_status perfile_filter_capture(perfile_source *source, perfile_sink *sink,
                                      const perfile_filter_options *options,
                                      const perfile_filter_capture_options *writing,
                                      perfile_filter_summary *filtered, size_t filtered_size,
                                      perfile_copy_summary *copied, size_t copied_size,
                                      perfile_error *err)
{
    filtering f = {.sink = sink};
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
    perfile_status begun = pf_passes_begin(&f.all, source, &how, st == PERFILE_OK ? err : NULL);
    st = st == PERFILE_OK ? begun : st;
    if (st == PERFILE_OK)
        st = pf_sink_add_inputs(sink, &f.all.source->inputs, err);
    if (st == PERFILE_OK)
        st = filter(&f, err);
    if (f.filter)
        count(&f);
    copy_out(filtered, filtered_size, &f.filtered, sizeof f.filtered);
    copy_out(copied, copied_size, &f.copied, sizeof f.copied);
    while (f.n_passes)
        perfile_stream_close(f.passes[--f.n_passes]);
    perfile_filter_close(f.filter);
    perfile_source_close(f.all.source);
    return st;
}

/* The note for a filter that selects no sample, for instance
 *
 *     no sample is selected; the capture has 42 samples, time 12.5..13.1, threads called work,
 * helper
 *
 * It shows the values that the samples have for the fields that the terms test, so that a typing
 * error in --comm, or seconds in place of milliseconds, is visible at once.  The values were
 * collected by filter/test.c while nothing was selected. */

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

/* Appends a time in seconds, as --time takes it. */
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

/* Appends the names found, `what` in front of the first; nothing if there are none. */
static void put_names(char *text, const char *what, const pf_observed_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        put(text, "%s%s", i ? ", " : what, all->at[i]);
    put(text, "%s", all->more ? " ..." : "");
}

/* Appends what the samples have for the tested fields (their times if none of these is known).  The
 * filter tests the terms one after the other, so that the values of the second field are those of
 * samples that the first term accepted, and so on. */
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

/* Notes each term on a field that no event records. */
static void note_not_recorded(const pf_filter *x, note_fn *report, void *user)
{
    char text[96];
    uint32_t next = 0;
    perfile_note note = {.kind = PERFILE_NOTE_NOT_RECORDED,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    while ((note.where = pf_filter_next_missing_field(x, &next))) {
        snprintf(text, sizeof text, "%s selects no sample: no event records the field it tests",
                 pf_filter_kind_name(note.where));
        report(user, &note);
    }
}

void pf_filter_note_empty(const pf_filter *x, note_fn *report, void *user)
{
    char text[MOST_TEXT] = "no sample is selected";
    perfile_note note = {.kind = PERFILE_NOTE_EMPTY,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
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
