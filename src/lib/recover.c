/* perfile_recover_capture(): writes a complete capture of the data in a damaged one that can be
 * trusted.
 *
 * See lib/recover.h for the steps.  This file runs them and decides the outcome: if the input is
 * damaged and nothing useful was found, an error that says what is missing. */
#include "lib/recover.h"

#include "base/error.h"
#include "base/options.h"
#include "core/writer.h"
#include "io/out.h"
#include "io/source.h"
#include "lib/copy.h"
#include "lib/registry.h"
#include "lib/passes.h"
#include "perfile/archive.h"
#include "core/facts.h"
#include "archive/command.h"
#include "check/command.h"
#include "core/command.h"

/* Finds records that can be decoded but make no sense: those that break a rule of severity error of
 * the checker (format/rules.def).
 *
 * The checker is a stage on the stream.  It reports its findings about a run while the run is
 * fetched, so they are in x->bad when pf_recover_records() decides about these records. */

/* A record that breaks a rule. */
typedef struct pf_bad {
    uint64_t sequence; /* sequence of the record */
    const char *rule;  /* such as "V-509" */
} pf_bad;

/* Sorts a finding by its subject: an event, a record, or a feature.  Findings about the container
 * do not count, because a new container is written. */
static void on_finding(void *user, const perfile_finding *f)
{
    pf_recover *x = user;
    const perfile_rule *rule = pf_rule_of(f->rule);
    bool about_record = f->sequence != PERFILE_NO_SEQUENCE && f->type != UINT32_MAX;
    bool kept = true;
    if (rule->where == PERFILE_RULE_SCOPE_CONTAINER)
        return;
    if (rule->where == PERFILE_RULE_SCOPE_ATTR) {
        kept = pf_buffer_append(&x->bad_events, &f->offset, sizeof f->offset);
    } else if (about_record && f->type != PERFILE_RECORD_HEADER_ATTR) {
        pf_bad bad = {f->sequence, rule->id};
        kept = pf_buffer_append(&x->bad, &bad, sizeof bad);
    } else if (f->feature < PERFILE_N_FEATURES) {
        x->bad_features[f->feature / 64] |= (uint64_t)1 << f->feature % 64;
    }
    if (!kept)
        (void)pf_fail_nomem(&x->failed, "recover");
}

/* Puts the checker on x->stream. */
static perfile_status add_checker(pf_recover *x, perfile_error *err)
{
    perfile_check_options how = {.size = sizeof how,
                                 .finding = on_finding,
                                 .user = x,
                                 .severity = PERFILE_SEVERITY_ERROR,
                                 .flags = PERFILE_CHECK_FEW_SAMPLES};
    return perfile_check(x->stream, &how, &x->stream, err);
}

/* Returns true if the record belongs to an event that was left out: without the event it cannot be
 * read. */
static bool is_orphan(const pf_recover *x, const perfile_record *r)
{
    perfile_event_update v;
    const perfile_event *e = NULL;
    if (r->type < PERFILE_RECORD_USER)
        e = perfile_record_event(r);
    else if (r->type == PERFILE_RECORD_EVENT_UPDATE &&
             perfile_event_update_decode(r, &v, sizeof v, NULL) == PERFILE_OK)
        e = perfile_session_event_by_id(r->session, v.id);
    for (size_t i = 0; e && i < x->dropped.len; i += sizeof e->index)
        if (memcmp(x->dropped.ptr + i, &e->index, sizeof e->index) == 0)
            return true;
    return false;
}

const char *pf_recover_broken_rule(const pf_recover *x, const perfile_record *r)
{
    const pf_bad *bad = (const pf_bad *)(const void *)x->bad.ptr;
    for (size_t i = 0; i < x->bad.len / sizeof *bad; i++)
        if (bad[i].sequence == r->sequence)
            return bad[i].rule;
    if (x->dropped.len && is_orphan(x, r))
        return pf_rule_of(PERFILE_RULE_V_210)->id;
    return NULL;
}

/* Chooses between events from the caller (perfile_assume.events) and the file's own events.  The
 * caller may have passed a capture of another command by mistake, so the events that fit more of
 * the file's first samples win. */

/* Returns true if `a` fits a larger share of the samples than `b`.  Counts cannot be compared,
 * because the number of samples seen also depends on the events.  A share of no samples is less
 * than any fit. */
static bool fits_better(const pf_fit *a, const pf_fit *b)
{
    return (uint64_t)a->fit * b->seen > (uint64_t)b->fit * a->seen || (a->fit && !b->fit);
}

/* Notes how well the caller's events fit, unless all samples do. */
static void note_fit(pf_recover *x, const pf_fit *given, const pf_fit *own)
{
    const char *samples = given->seen == 1 ? "sample" : "samples";
    if (fits_better(own, given))
        pf_recover_note(
            x, UINT32_MAX, 0,
            "of the first %u %s, %u fit the given events and %u the events of the file: "
            "those of the file are used",
            given->seen, samples, given->fit, own->fit);
    else if (given->fit < given->seen)
        pf_recover_note(x, UINT32_MAX, 0, "of the first %u %s, only %u fit the given events",
                        given->seen, samples, given->fit);
}

/* `r` was made with the caller's events.  Makes it again with the file's own events if more samples
 * fit them.  `fit` is for the file's own events, which a second run of the guesser finds without
 * those of the caller.  If they win, x->options.assume loses its events, so that nothing uses them
 * later. */
static perfile_status compare_events(pf_recover *x, perfile_source *source, perfile_bytes file,
                                     pf_repair *r, perfile_error *err)
{
    pf_fit given, fit = {0};
    pf_repair own = {.assume = {.size = sizeof own.assume}};
    const perfile_assume *given_assume = x->options.assume;
    perfile_status st = x->repair->fit(file, r->guessed ? &r->assume : given_assume, &given, err);
    if (st != PERFILE_OK || (given.seen && given.fit == given.seen))
        return st;
    st = pf_options_copy(&x->own, given_assume, "recover.assume", err);
    x->own.events = NULL;
    x->own.n_events = 0;
    x->own.byte_order = 0; /* it came with the events */
    if (st == PERFILE_OK)
        st = x->repair->guess(source, &x->own, &own, err);
    if (st == PERFILE_OK)
        st = x->repair->fit(file, own.guessed ? &own.assume : &x->own, &fit, err);
    if (st == PERFILE_OK)
        note_fit(x, &given, &fit);
    if (st != PERFILE_OK || !fits_better(&fit, &given)) {
        pf_repair_free(&own);
        return st;
    }
    pf_repair_free(r);
    *r = own;
    x->options.assume = &x->own;
    return pf_recover_choose_events(x, file, r, err);
}

/* The steps. */

/* Fails with the error for a capture of which nothing can be recovered.  The causes are checked
 * from the most to the least specific. */
static perfile_status fail_nothing_left(pf_recover *x, perfile_error *err)
{
    const char *foreign = x->guessed & PF_GUESS_HEADER ? pf_foreign_source(x->source) : NULL;
    if (foreign)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header", PF_FOREIGN_MESSAGE, foreign);
    if (x->guessed & PF_GUESS_HEADER && x->result.records == 0)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header",
                       "no header and no records of a perf.data capture were found");
    const bool needs_events = x->container->family == PERFILE_FAMILY_PERF;
    if ((needs_events && x->result.events == 0) || x->no_events || x->unsound)
        return pf_fail(
            err, PERFILE_E_CORRUPT, "recover.assume",
            "the events, which say how records are laid out, are lost or do not fit: give those of "
            "a capture of the same command, or a description");
    if (x->result.unterminated)
        return pf_fail(err, PERFILE_E_TRUNCATED, "recover.records",
                       "the recording was killed before it wrote a record");
    return pf_fail(err, PERFILE_E_CORRUPT, "recover.records",
                   "no record of the capture can be trusted");
}

/* Notes all guesses. */
static void note_guesses(pf_recover *x)
{
    static const struct {
        uint32_t guess;
        const char *text;
    } sentences[] = {
        {PF_GUESS_HEADER, "the header is damaged: form and byte order are guessed"},
        {PF_GUESS_ATTRS,
         "the attr section is damaged: the events were found by searching for attrs"},
        {PF_GUESS_DESC, "the attr section is damaged: the events are those of EVENT_DESC"},
        {PF_GUESS_HEADER_ATTR,
         "the attr section is damaged: the events are those of HEADER_ATTR records"},
        {PF_GUESS_IDS, "the ids of the events are those of an ID_INDEX record"},
        {PF_GUESS_START, "the offset of the first record is guessed"},
        {PF_GUESS_END, "the end of the records is guessed"},
        {PF_GUESS_TABLE, "the feature table was found by searching for it"},
        {PF_GUESS_NO_FEATURES, "the list of feature sections is lost, and the features with it"},
        {PF_GUESS_SOUND, "events that break rules were corrected or left out"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (!(x->guessed & sentences[i].guess))
            continue;
        pf_recover_note(x, UINT32_MAX, 0, "%s", sentences[i].text);
    }
}

/* Returns the error of a callback, if there was one: x->failed. */
static perfile_status deferred_error(const pf_recover *x, perfile_error *err)
{
    if (x->failed.status != PERFILE_OK && err)
        *err = x->failed;
    return x->failed.status;
}

/* Reads x->stream to its end, and writes the recovered records.  Without a sink, does everything
 * except writing. */
static perfile_status recover(pf_recover *x, perfile_error *err)
{
    x->session = perfile_stream_session(x->stream);
    x->container = perfile_stream_container(x->stream);
    /* Assumed events are in no record, so a pipe becomes a file. */
    x->result.form = x->assumed_events ? (uint32_t)PERFILE_FORM_FILE : x->container->form;
    x->result.unterminated = x->container->unterminated;
    pf_progress_begin(&x->progress, x->container);
    if (x->sink) {
        const perfile_writer_options how = pf_copy_writing(x->stream, x->result.form, NULL);
        perfile_status st = perfile_writer_open(x->sink, &how, &x->writer, err);
        if (st == PERFILE_OK)
            st = pf_copy_headers(x->writer, x->container, err);
        if (st == PERFILE_OK)
            st = pf_recover_events(x, err); /* as stored, before records add ids to them */
        if (st != PERFILE_OK)
            return st;
    }
    perfile_status st = pf_recover_records(x, err);
    if (st == PERFILE_OK)
        st = deferred_error(x, err);
    x->result.events = pf_session_n_events(x->session);
    perfile_stream_summary sum;
    pf_stream_get_summary(x->stream, &sum, sizeof sum);
    x->result.missing = sum.missing;
    x->result.damaged |= sum.damages != 0;
    if (st != PERFILE_OK)
        return st;
    const bool needs_events = x->container->family == PERFILE_FAMILY_PERF;
    x->result.damaged |= x->guessed != 0 || (needs_events && pf_recover_lacks_events(x));
    /* Nobody can read records without events that fit, so no output is better. */
    bool useless = x->result.records == 0 || (needs_events && x->result.events == 0) ||
                   x->unsound || (x->no_events && x->result.samples == 0);
    if ((x->result.damaged || x->unsound) && useless)
        return fail_nothing_left(x, err);
    note_guesses(x);
    if (st == PERFILE_OK)
        st = pf_recover_features(x, err);
    if (st == PERFILE_OK)
        st = deferred_error(x, err);
    if (st == PERFILE_OK && x->writer)
        st = perfile_writer_finish(x->writer, err);
    return st;
}

/* Fills `r` with guesses for what the header of `file` no longer says, and with events that break
 * no rule. */
static perfile_status repair_file(pf_recover *x, perfile_source *file, pf_repair *r,
                                  perfile_error *err)
{
    const perfile_assume *given = x->options.assume;
    perfile_bytes bytes;
    perfile_status st = x->repair->guess(file, given, r, err);
    if (st != PERFILE_OK || !file->lasting ||
        !x->repair->fit) /* to try events, all bytes must be in memory */
        return st;
    st = pf_source_view(file, 0, 1, &bytes, err);
    if (st != PERFILE_OK || bytes.len < file->size)
        return st;
    if (given && given->n_events)
        return compare_events(x, file, bytes, r, err);
    return pf_recover_choose_events(x, bytes, r, err);
}

/* Finds the driver, and lets it fill `r`.  A pipe is copied to a temporary file, which becomes
 * *source.  In a directory the file `data`, which has the header, is repaired. */
static perfile_status repair(pf_recover *x, perfile_source **source, pf_repair *r,
                             perfile_error *err)
{
    perfile_source *input = *source;
    const pf_driver *driver;
    const char *foreign;
    perfile_status st = pf_driver_find(input, x->options.from, &driver, &foreign, err);
    if (st != PERFILE_OK)
        return st;
    x->repair = driver->repair;
    if (!x->repair)
        return PERFILE_OK;
    if (pf_source_has_entries(input)) {
        perfile_source *first;
        if (pf_source_entry(input, "data", &first, NULL) != PERFILE_OK)
            return PERFILE_OK; /* opening the directory will fail, with a better message */
        st = repair_file(x, first, r, err);
        perfile_source_close(first);
        return st;
    }
    if (!input->seekable || input->origin) { /* the bytes are needed in one piece */
        st = pf_source_spool(input, source, err);
        if (st != PERFILE_OK)
            return st;
        perfile_source_close(input);
    }
    return repair_file(x, *source, r, err);
}

/* Sets x->source, from which the capture can be read again while the stream reads it.  The source
 * of a directory can be opened only once, so a second one is made. */
static perfile_status keep_source(pf_recover *x, perfile_source *source, perfile_error *err)
{
    x->source = source;
    if (!pf_source_has_entries(source))
        return PERFILE_OK;
    perfile_status st = pf_passes_reopen(source, &x->reopened, err);
    x->source = x->reopened;
    return st;
}

/* Drops all guesses if the capture is intact as it is: the guesser also finds errors in captures
 * that are only odd. */
static perfile_status forget_guesses(const pf_recover *x, perfile_source *source, pf_repair *r,
                                     perfile_error *err)
{
    bool sound = false;
    perfile_status st = PERFILE_OK;
    if (r->guessed || r->no_events || r->unsound)
        st = pf_recover_check_sound(x, source, x->options.assume, true, &sound, err);
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
    perfile_source *const given = source;
    pf_source_hold(given); /* closed by the stream once that is open */
    pf_recover x = {.sink = sink,
                    .result = {.first_time = PERFILE_NO_TIME, .last_time = PERFILE_NO_TIME}};
    pf_repair r = {.assume = {.size = sizeof r.assume}};
    perfile_status st = pf_options_copy(&x.options, options, "recover.options", err);
    perfile_open_options how = {.size = sizeof how,
                                .on_damage = PERFILE_ON_DAMAGE_SALVAGE,
                                .deliver = PERFILE_DELIVER_DAMAGE,
                                .from = x.options.from,
                                .limits = x.options.limits,
                                .assume = x.options.assume};
    if (st == PERFILE_OK && sink)
        st = pf_sink_add_inputs(sink, &source->inputs, err);
    if (st == PERFILE_OK)
        st = pf_archive_source(&source, err);
    if (st == PERFILE_OK)
        st = repair(&x, &source, &r, err);
    if (st == PERFILE_OK)
        st = forget_guesses(&x, source, &r, err);
    if (st == PERFILE_OK)
        st = keep_source(&x, source, err);
    /* Without a guess the stream reads the file as it is, with the caller's assumptions. */
    how.assume = r.guessed ? &r.assume : x.options.assume;
    x.assume = how.assume;
    x.assumed_events = how.assume && how.assume->n_events;
    x.guessed = r.guessed;
    x.no_events = r.no_events;
    x.unsound = r.unsound;
    if (st == PERFILE_OK)
        st = perfile_open(source, &how, &x.stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    if (st == PERFILE_OK) {
        pf_recover_ask_before_gaps(&x);
        st = add_checker(&x, err);
    }
    if (st == PERFILE_OK)
        st = recover(&x, err);
    perfile_writer_close(x.writer);
    perfile_stream_close(x.stream);
    perfile_source_close(x.reopened);
    pf_source_settle(given, st);
    pf_repair_free(&r);
    pf_buffer_free(&x.bad);
    pf_buffer_free(&x.bad_events);
    pf_buffer_free(&x.dropped);
    pf_buffer_free(&x.scratch);
    pf_buffer_free(&x.held);
    pf_buffer_free(&x.fragments);
    pf_buffer_free(&x.gaps);
    pf_result_out(result, size, &x.result, sizeof x.result);
    return st;
}

/* Makes a new feature EVENT_DESC if the input's is damaged or describes other events than the
 * output has. */

perfile_status pf_recover_write_event_desc(pf_recover *x, perfile_error *err)
{
    pf_recover_note(x, PERFILE_FEATURE_EVENT_DESC, PERFILE_DAMAGE_IMPLAUSIBLE,
                    "feature EVENT_DESC is made from the events of the output");
    x->result.damaged = true;
    x->result.features++;
    if (!x->writer)
        return PERFILE_OK;
    pf_buffer_clear(&x->scratch);
    const perfile_bytes dropped = {x->dropped.ptr, x->dropped.len};
    perfile_status st = pf_event_desc_make(x->session, NULL, dropped, &x->scratch, err);
    if (st != PERFILE_OK)
        return st;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_EVENT_DESC,
                                  (perfile_bytes){x->scratch.ptr, x->scratch.len}, err);
}
