/* The inside of perfile_recover_capture(). */
#ifndef PF_LIB_RECOVER_H
#define PF_LIB_RECOVER_H

#include "base/buffer.h"
#include "core/driver.h"
#include "lib/progress.h"
#include "perfile/recover.h"

typedef struct pf_recover {
    const pf_repair_ops *repair; /* of the driver; NULL: nothing is guessed */
    perfile_recover_options options;
    perfile_recover_summary result;
    perfile_stream *stream;
    perfile_source *source;       /* of the stream, which owns it, or `again` */
    perfile_source *again;        /* the directory once more; NULL: it is none */
    const perfile_assume *assume; /* what the stream was opened with */
    bool asked, sound;            /* of pf_recover_is_sound() */
    /* What failed where it cannot be returned; status PERFILE_OK: nothing.  The result is that of
     * another capture then, and perfile_recover_capture() returns this instead. */
    perfile_error failed;
    const perfile_session *session;
    const perfile_container *container;
    perfile_sink *sink;
    perfile_writer *writer; /* NULL: nothing is written */
    uint32_t guessed;       /* PF_GUESS_… */
    bool no_events;         /* those of the input go with none of its samples */
    bool unsound;           /* they break rules */
    bool given;             /* the events are not those of the records */
    perfile_assume own;     /* x->options.assume without its events, when they do not fit */

    pf_buffer bad;        /* pf_bad: records of the next run that break a rule */
    pf_buffer bad_events; /* uint64_t: where the attrs of events that break a rule lie */
    pf_buffer dropped;    /* uint32_t: index of each event that was left out */
    uint64_t bad_features[PERFILE_N_FEATURES / 64]; /* bit n: feature n breaks a rule */
    pf_buffer scratch;                              /* of recover_facts.c */
    pf_buffer
        pieces;     /* perfile_section: where the bytes of `held` lie, those side by side as one */
    pf_buffer held; /* pieces of a simpleperf record that is not complete yet */
    pf_buffer gaps; /* perfile_gap: those behind `last`, until the next record is there */
    perfile_gap_side last; /* the last record that was kept, … */
    uint32_t last_part;    /* … and its part */
    pf_progress progress;
} pf_recover;

/* lib/recover_rules.c: puts the checker on the stream. */
perfile_status pf_recover_check(pf_recover *x, perfile_error *err);
/* The rule that the record breaks, "V-509", or NULL; of the run that was fetched last.  Without
 * events that were left out their records belong to nobody. */
const char *pf_recover_broken(const pf_recover *x, const perfile_record *r);

/* lib/recover_sound.c: whether `source`, read with `assume`, has no damage and breaks no rule of
 * severity error; without `strict`, rules for the container and its feature sections do not count.
 */
perfile_status pf_recover_sound(const pf_recover *x, perfile_source *source,
                                const perfile_assume *assume, bool strict, bool *sound,
                                perfile_error *err);
/* The same for records and events of what x->stream reads; found out when it is asked first. False,
 * too, when that failed: x->failed. */
bool pf_recover_is_sound(pf_recover *x);
/* Makes the stream ask that before it leaves anything out. */
void pf_recover_ask_first(pf_recover *x);

/* lib/recover_events.c: events for `file` that break no rule, in r->assume, when its own do. */
perfile_status pf_recover_choose(const pf_recover *x, perfile_bytes file, pf_repair *r,
                                 perfile_error *err);
/* lib/recover_given.c: `r` is made with the events that the caller gives; those of the file itself
 * take their place when more of its samples fit them. */
perfile_status pf_recover_compare(pf_recover *x, perfile_source *source, perfile_bytes file,
                                  pf_repair *r, perfile_error *err);

/* lib/recover_records.c: reads x->stream to its end; what is kept is counted in the result, and
 * goes to the writer when there is one. */
perfile_status pf_recover_records(pf_recover *x, perfile_error *err);

/* lib/recover_facts.c: what stands beside the records. */
perfile_status pf_recover_events(pf_recover *x, perfile_error *err);
perfile_status pf_recover_features(pf_recover *x, perfile_error *err);

/* What is wrong with what a record says of the capture, 0 when it can be kept. */
uint32_t pf_recover_fact_record(pf_recover *x, const perfile_record *r);

/* lib/recover_desc.c: EVENT_DESC made anew, of the events that the new capture has. */
perfile_status pf_recover_describe(pf_recover *x, perfile_error *err);

/* Events are described and there is none. */
bool pf_recover_lacks_events(const pf_recover *x);

void pf_recover_note(pf_recover *x, uint32_t feature, uint32_t damage, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
