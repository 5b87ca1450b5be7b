/* Joins what reads damaged captures with what writes whole ones. */
#include "lib/recover.h"

#include "base/error.h"
#include "base/options.h"
#include "io/out.h"
#include "io/source.h"
#include "lib/foreign.h"
#include "lib/registry.h"

/* Nothing to write, in words. */
static perfile_status nothing(pf_recover *x, perfile_error *err)
{
    const char *foreign = x->guessed & PF_GUESS_HEADER ? pf_foreign_source(x->source) : NULL;
    if (foreign)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header", PF_FOREIGN_MESSAGE, foreign);
    if (x->guessed & PF_GUESS_HEADER && x->result.records == 0)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header",
                       "nothing in it looks like a perf.data capture");
    const bool needs_events = x->container->family == PERFILE_FAMILY_PERF;
    if ((needs_events && x->result.events == 0) || x->no_events || x->unsound)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.events",
                       "no event is known that says how to read its records: give a capture of "
                       "the same command with --attrs-from, or a description with --event");
    if (x->result.unterminated)
        return pf_fail(err, PERFILE_E_TRUNCATED, "recover.records",
                       "the recording was killed before it wrote a record");
    return pf_fail(err, PERFILE_E_CORRUPT, "recover.records", "no record in it can be trusted");
}

/* What was guessed, in words. */
static void tell_guesses(pf_recover *x)
{
    static const struct {
        uint32_t guess;
        const char *text;
    } sentences[] = {
        {PF_GUESS_HEADER, "the header is damaged: form and byte order are guessed"},
        {PF_GUESS_ATTRS, "the events were found by their look"},
        {PF_GUESS_DESC, "the attr section is damaged: the events are those of EVENT_DESC"},
        {PF_GUESS_HEADER_ATTR,
         "the attr section is damaged: the events are those of HEADER_ATTR records"},
        {PF_GUESS_IDS, "the ids of the events are those of ID_INDEX"},
        {PF_GUESS_START, "where the records begin is guessed"},
        {PF_GUESS_END, "where the records end is guessed"},
        {PF_GUESS_TABLE, "the feature table was found by its look"},
        {PF_GUESS_NO_FEATURES, "which feature sections there are is not known any more"},
        {PF_GUESS_SOUND, "what is wrong with the events was put right or left out"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (!(x->guessed & sentences[i].guess))
            continue;
        pf_recover_note(x, UINT32_MAX, 0, "%s", sentences[i].text);
    }
}

/* Whether what was done follows from the capture, and not from something that failed. */
static perfile_status follows(const pf_recover *x, perfile_error *err)
{
    if (x->failed.status != PERFILE_OK && err)
        *err = x->failed;
    return x->failed.status;
}

static perfile_status recover(pf_recover *x, perfile_error *err)
{
    x->session = perfile_stream_session(x->stream);
    x->container = perfile_stream_container(x->stream);
    x->result.form = x->given ? (uint32_t)PERFILE_FORM_FILE : x->container->form;
    x->result.unterminated = x->container->unterminated;
    pf_progress_begin(&x->progress, x->container);
    if (x->sink) {
        perfile_writer_options how = {.size = sizeof how,
                                      .as_stored = true,
                                      .form = x->result.form,
                                      .format = x->container->format,
                                      .byte_order = perfile_session_byte_order(x->session)};
        perfile_status st = perfile_writer_open(x->sink, &how, &x->writer, err);
        if (st == PERFILE_OK)
            st = pf_recover_events(x, err); /* before records add ids to them */
        if (st != PERFILE_OK)
            return st;
    }
    perfile_status st = pf_recover_records(x, err);
    if (st == PERFILE_OK)
        st = follows(x, err);
    x->result.events = perfile_session_n_events(x->session);
    perfile_stream_summary sum;
    perfile_stream_get_summary(x->stream, &sum, sizeof sum);
    x->result.missing = sum.missing;
    x->result.damaged |= sum.damages != 0;
    if (st != PERFILE_OK)
        return st;
    const bool needs_events = x->container->family == PERFILE_FAMILY_PERF;
    x->result.damaged |= x->guessed != 0 || (needs_events && pf_recover_lacks_events(x));
    bool useless = x->result.records == 0 || (needs_events && x->result.events == 0) ||
                   x->unsound || (x->no_events && x->result.samples == 0);
    if ((x->result.damaged || x->unsound) && useless)
        return nothing(x, err);
    tell_guesses(x);
    if (st == PERFILE_OK)
        st = pf_recover_features(x, err);
    if (st == PERFILE_OK)
        st = follows(x, err);
    if (st == PERFILE_OK && x->writer)
        st = perfile_writer_finish(x->writer, err);
    return st;
}

/* What the file no longer says, and events that no rule minds. */
static perfile_status repair_file(pf_recover *x, perfile_source *file, pf_repair *r,
                                  perfile_error *err)
{
    const perfile_assume *given = x->options.assume;
    perfile_bytes bytes;
    perfile_status st = x->repair->guess(file, given, r, err);
    if (st != PERFILE_OK || !file->lasting)
        return st;
    st = pf_source_view(file, 0, 1, &bytes, err);
    if (st != PERFILE_OK || bytes.len < file->size)
        return st;
    if (given && given->n_events)
        return pf_recover_compare(x, file, bytes, r, err);
    return pf_recover_choose(x, bytes, r, err);
}

/* Fills `r` with what the file no longer says; *source may become another one of the same bytes. */
static perfile_status repair(pf_recover *x, perfile_source **source, pf_repair *r,
                             perfile_error *err)
{
    perfile_source *whole = *source;
    const pf_driver *driver;
    const char *foreign;
    perfile_status st = pf_driver_find(whole, x->options.from, &driver, &foreign, err);
    if (st != PERFILE_OK)
        return st;
    x->repair = driver->repair;
    if (!x->repair)
        return PERFILE_OK;
    if (pf_source_has_entries(whole)) {
        perfile_source *first;
        if (pf_source_entry(whole, "data", &first, NULL) != PERFILE_OK)
            return PERFILE_OK; /* the driver says what that means */
        st = repair_file(x, first, r, err);
        perfile_source_close(first);
        return st;
    }
    if (!whole->seekable) {
        st = pf_source_spool(whole, source, err);
        if (st != PERFILE_OK)
            return st;
        perfile_source_close(whole);
    }
    return repair_file(x, *source, r, err);
}

/* A driver that opened a directory is done with its source: to read it once more takes another. */
static perfile_status keep_source(pf_recover *x, perfile_source *source, perfile_error *err)
{
    x->source = source;
    if (!pf_source_has_entries(source))
        return PERFILE_OK;
    perfile_status st = perfile_source_path(source->name, &source->options, &x->again, err);
    x->source = x->again;
    return st;
}

/* What is odd is guessed about, too: nothing of it holds where nothing is wrong. */
static perfile_status forget_guesses(const pf_recover *x, perfile_source *source, pf_repair *r,
                                     perfile_error *err)
{
    bool sound = false;
    perfile_status st = PERFILE_OK;
    if (r->guessed || r->no_events || r->unsound)
        st = pf_recover_sound(x, source, x->options.assume, true, &sound, err);
    if (sound) {
        r->guessed = 0;
        r->no_events = r->unsound = false;
    }
    return st;
}

perfile_status perfile_recover_capture(perfile_source *source, perfile_sink *sink,
                                       const perfile_recover_options *options,
                                       perfile_recover_summary *result, size_t size,
                                       perfile_error *err)
{
    pf_recover x = {.sink = sink,
                    .result = {.first_time = PERFILE_NO_TIME, .last_time = PERFILE_NO_TIME}};
    pf_repair r = {.assume = {.size = sizeof r.assume}};
    perfile_status st =
        pf_options_take(&x.options, sizeof x.options, options, "recover.options", err);
    perfile_open_options how = {.size = sizeof how,
                                .on_damage = PERFILE_ON_DAMAGE_SALVAGE,
                                .deliver = PERFILE_DELIVER_DAMAGE,
                                .from = x.options.from,
                                .limits = x.options.limits,
                                .assume = x.options.assume};
    if (st == PERFILE_OK && sink)
        st = pf_sink_reads(sink, &source->inputs, err);
    if (st == PERFILE_OK)
        st = repair(&x, &source, &r, err);
    if (st == PERFILE_OK)
        st = forget_guesses(&x, source, &r, err);
    if (st == PERFILE_OK)
        st = keep_source(&x, source, err);
    source->passing = true;
    how.assume = r.guessed ? &r.assume : x.options.assume;
    x.assume = how.assume;
    x.given = how.assume && how.assume->n_events;
    x.guessed = r.guessed;
    x.no_events = r.no_events;
    x.unsound = r.unsound;
    if (st == PERFILE_OK)
        st = perfile_open(source, &how, &x.stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    if (st == PERFILE_OK) {
        pf_recover_ask_first(&x);
        st = pf_recover_check(&x, err);
    }
    if (st == PERFILE_OK)
        st = recover(&x, err);
    perfile_writer_close(x.writer);
    perfile_stream_close(x.stream);
    perfile_source_close(x.again);
    pf_repair_free(&r);
    pf_buffer_free(&x.bad);
    pf_buffer_free(&x.bad_events);
    pf_buffer_free(&x.dropped);
    pf_buffer_free(&x.scratch);
    pf_buffer_free(&x.held);
    pf_buffer_free(&x.pieces);
    pf_buffer_free(&x.gaps);
    if (result)
        memcpy(result, &x.result, size < sizeof x.result ? size : sizeof x.result);
    return st;
}
