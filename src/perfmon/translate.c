/* pf_driver.translate: a stream of perf's records made of a capture of perfmon buffers, and what is
 * said about it: what was assumed, and what the records of perf have no place for. */
#include "perfmon/translate.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "core/stream.h"
#include "perfile/live.h"

static void say(const pf_translation *t, uint32_t kind, uint64_t count, const char *text)
{
    const perfile_note note = {.kind = kind,
                               .number = UINT32_MAX,
                               .count = count,
                               .offset = PERFILE_NO_OFFSET,
                               .text = text};
    if (t->options->note)
        t->options->note(t->options->user, &note);
}

/* "12 buffers …", of a count that is not 0. */
static void say_loss(const pf_translation *t, uint64_t *losses, uint64_t count, const char *what)
{
    char text[160];
    if (!count)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, what);
    say(t, PERFILE_NOTE_FORMAT, count, text);
    ++*losses;
}

static void say_assumed(const pf_translation *t, uint64_t count, const char *what)
{
    char text[160];
    if (!count)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, what);
    say(t, PERFILE_NOTE_ASSUMED, count, text);
}

/* Events without a rate count samples: not those of COUNT and VALUE records alone. */
static uint64_t without_rate(const pf_perfmon_survey *v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < v->n_events; i++)
        n += v->events[i].id && !v->events[i].has_rate;
    return n;
}

/* What the survey found.  Returns how many of them are losses. */
static uint64_t report(const pf_perfmon_survey *v, const pf_translation *t)
{
    const pf_perfmon_losses *l = &v->losses;
    const perfile_perfmon_options *o = t->options->perfmon;
    uint64_t losses = 0;
    say_assumed(t, without_rate(v),
                "events without a rate: periods of their samples are sample counts, not event "
                "counts (give --rate EVENT=N)");
    if (!(o && o->layout) && v->evidence != 1 << PF_PERFMON_LAYOUT_A &&
        v->evidence != 1 << PF_PERFMON_LAYOUT_B)
        say(t, PERFILE_NOTE_ASSUMED, 1,
            v->evidence ? "event ids are of both layouts: layout a was taken (give --layout)"
                        : "no event id says which layout it has: layout a was taken (give "
                          "--layout)");
    say_assumed(t, l->negative, "times below 0 became 1 ns");
    say_assumed(t, l->untimed, "records before the first TIME got its time");
    say_assumed(t, l->timeless, "buffers without any TIME: their records are at 1 ns");
    say_loss(t, &losses, l->kinds,
             "samples of TICK, or of TIME with an event, look like a COUNT of their rate");
    say_loss(t, &losses, l->empty_times, "TIME records without a sample left out");
    say_loss(t, &losses, l->reserved_flags, "records lost their reserved flags");
    say_loss(t, &losses, l->info, "branches lost unknown bits of their info");
    say_loss(t, &losses, l->tail, "bytes behind the last record left out");
    return losses;
}

/* The callbacks of the stream: the records, and at the end what they lost. */
static void close_making(void *making)
{
    pf_perfmon_making_free(making);
}

perfile_status pf_perfmon_translate(const pf_translation *t, perfile_stream **stream,
                                    perfile_error *err)
{
    const perfile_session_options so = {
        .size = sizeof so, .byte_order = PERFILE_BYTE_ORDER_LITTLE, .limits = t->options->limits};
    const perfile_open_options how = {.size = sizeof how, .limits = t->options->limits};
    pf_perfmon_survey survey = {0};
    perfile_session *session = NULL;
    pf_perfmon_making *making = NULL;
    bool sorted = false;
    perfile_status st = pf_perfmon_survey_run(&survey, t, err);
    if (st == PERFILE_OK)
        st = perfile_session_new(&so, &session, err);
    if (st == PERFILE_OK)
        st = pf_perfmon_session(&survey, session, err);
    if (st == PERFILE_OK) {
        *t->losses += report(&survey, t);
        sorted = survey.n_buffers == 1 && !survey.goes_back;
    }
    if (st == PERFILE_OK)
        st = pf_perfmon_making_new(&survey, t, &making, err);
    if (st != PERFILE_OK) {
        perfile_session_close(session);
        pf_perfmon_survey_free(&survey);
        return st;
    }
    const perfile_stream_callbacks callbacks = {.size = sizeof callbacks,
                                                .user = making,
                                                .next = pf_perfmon_making_next,
                                                .close = close_making};
    st = perfile_stream_callback(&callbacks, "perfmon", session, &how, stream, err);
    perfile_session_close(session);
    if (st != PERFILE_OK)
        pf_perfmon_making_free(making);
    else if (sorted) /* sorting need not hold the samples */
        (*stream)->sorted_by = PERFILE_SORTED_BY_TIME;
    return st;
}
