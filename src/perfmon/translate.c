/* pf_driver.translate: makes a stream of perf's records from a capture of perfmon buffers.  Tells
 * the caller what was assumed, and what cannot be expressed in records of perf. */
#include "perfmon/translate.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "core/stream.h"
#include "perfile/live.h"
#include "core/command.h"

/* Passes a note to the caller.  `where` is perfile_note.where. */
static void say(const pf_translation *t, uint32_t kind, uint64_t count, const char *where,
                const char *text)
{
    const perfile_note note = {.kind = kind,
                               .number = UINT32_MAX,
                               .count = count,
                               .offset = PERFILE_NO_OFFSET,
                               .message = text,
                               .where = where};
    if (t->options->note)
        t->options->note(t->options->user, &note);
}

/* Passes a note such as "12 buffers without a TIME".  Does nothing if the count is 0. */
static void say_count(const pf_translation *t, uint32_t kind, uint64_t count, const char *where,
                      const char *noun, const char *rest)
{
    char text[160];
    snprintf(text, sizeof text, "%" PRIu64 " %s%s %s", count, noun, count == 1 ? "" : "s", rest);
    if (count)
        say(t, kind, count, where, text);
}

void pf_perfmon_say_loss(const pf_translation *t, uint64_t count, const char *noun,
                         const char *rest)
{
    say_count(t, PERFILE_NOTE_FORMAT, count, NULL, noun, rest);
    *t->losses += count != 0;
}

static void say_assumed(const pf_translation *t, uint64_t count, const char *noun, const char *rest)
{
    say_count(t, PERFILE_NOTE_ASSUMED, count, NULL, noun, rest);
}

/* Returns the number of events without a rate, except event 0: the periods of their samples are
 * sample counts. */
static uint64_t without_rate(const pf_perfmon_survey *v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < v->n_events; i++)
        n += v->events[i].id && !v->events[i].has_rate;
    return n;
}

static uint64_t full_buffers(const pf_perfmon_survey *v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < v->n_buffers; i++)
        n += v->buffers[i].full;
    return n;
}

/* Reports what the survey found. */
static void report(const pf_perfmon_survey *v, const pf_translation *t)
{
    const pf_perfmon_losses *l = &v->losses;
    const perfile_perfmon_options *o = t->options->perfmon;
    if (!v->stat)
        say_count(t, PERFILE_NOTE_ASSUMED, without_rate(v), "perfmon.rates", "event",
                  "without a rate: periods of samples are sample counts, not event counts");
    if (!(o && o->layout) && v->evidence != 1 << PF_PERFMON_LAYOUT_A &&
        v->evidence != 1 << PF_PERFMON_LAYOUT_B)
        say(t, PERFILE_NOTE_ASSUMED, 1, "perfmon.layout",
            v->evidence ? "event ids are of both layouts: layout a was used"
                        : "no event id says which layout it has: layout a was used");
    say_assumed(t, l->negative, "time", "below 0: 1 ns was used");
    say_assumed(t, l->untimed, "record", "before the first TIME: its time was used");
    say_assumed(t, l->timeless, "buffer", "without any TIME: records are at 1 ns");
    pf_perfmon_say_loss(t, l->kinds, "sample",
                        "of TICK, or of TIME with an event, like those of a COUNT of the rate");
    if (v->stat) {
        pf_perfmon_say_loss(t, 1, "clock", "of ticks left out: perf stat knows durations in ns");
        pf_perfmon_say_loss(t, full_buffers(v), "buffer", "that was full: its counts are too low");
    }
    pf_perfmon_say_loss(t, l->empty_times, "TIME record",
                        v->stat ? "without a count left out" : "without a sample left out");
    pf_perfmon_say_loss(t, l->reserved_flags, "record", "with reserved flags: the flags left out");
    pf_perfmon_say_loss(t, l->info, "info word",
                        "of branches with unknown bits: the bits left out");
    pf_perfmon_say_loss(t, l->tail, "byte", "after the last record left out");
}

/* Starts the second pass, which owns the survey from then on, and sets the functions in *pass. */
static perfile_status begin_second(pf_perfmon_survey *v, const pf_translation *t,
                                   perfile_stream_callbacks *pass, perfile_error *err)
{
    pf_perfmon_making *making = NULL;
    pf_perfmon_counting *counting = NULL;
    perfile_status st;
    if (v->stat) {
        st = pf_perfmon_counting_new(v, t, &counting, err);
        *pass = (perfile_stream_callbacks){
            .user = counting, .next = pf_perfmon_counting_next, .close = pf_perfmon_counting_free};
    } else {
        st = pf_perfmon_making_new(v, t, &making, err);
        *pass = (perfile_stream_callbacks){
            .user = making, .next = pf_perfmon_making_next, .close = pf_perfmon_making_free};
    }
    pass->size = sizeof *pass;
    return st;
}

perfile_status pf_perfmon_translate(const pf_translation *t, perfile_stream **stream,
                                    perfile_error *err)
{
    const perfile_session_options so = {
        .size = sizeof so, .byte_order = PERFILE_BYTE_ORDER_LITTLE, .limits = t->options->limits};
    const perfile_open_options how = {.size = sizeof how, .limits = t->options->limits};
    pf_perfmon_survey survey = {0};
    perfile_session *session = NULL;
    perfile_stream_callbacks pass;
    bool sorted = false; /* set early, because the second pass then owns the survey */
    perfile_status st = pf_perfmon_survey_run(&survey, t, err);
    if (st == PERFILE_OK)
        st = perfile_session_open(&so, &session, err);
    if (st == PERFILE_OK)
        st = pf_perfmon_session(&survey, session, err);
    if (st == PERFILE_OK) {
        report(&survey, t);
        /* The counts of perf stat have no time. */
        sorted = survey.stat || pf_perfmon_is_sorted(&survey);
    }
    if (st == PERFILE_OK)
        st = begin_second(&survey, t, &pass, err);
    if (st != PERFILE_OK) {
        perfile_session_close(session);
        pf_perfmon_survey_free(&survey);
        return st;
    }
    st = perfile_stream_callback(&pass, "perfmon", session, &how, stream, err);
    perfile_session_close(session);
    if (st != PERFILE_OK)
        pass.close(pass.user);
    else if (sorted)
        (*stream)->sorted_by = PF_SORTED_BY_TIME;
    return st;
}
