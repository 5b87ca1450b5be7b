/* Order of time: per CPU (V-212), across rounds (V-515, V-516), in the whole stream (V-514).
 * check.h has the test that runs for each record; this file reports, and handles FINISHED_ROUND.
 *
 * Events that are written backwards (overwrite mode) come in reverse order: then nothing is
 * reported. */
#include "check/check.h"

#include <inttypes.h>

enum { SECOND = 1000000000 };

void pf_check_time_went_back(pf_check *c, const perfile_record *r, uint64_t before, uint32_t cpu)
{
    if (c->events.backward)
        return;
    pf_report(c, PERFILE_RULE_V_212, before > SECOND ? PF_FULL : PF_LESSER, r, "time",
              "the time of CPU %" PRIu32 " goes back by %" PRIu64 " ns", cpu, before);
}

void pf_check_older_than_round(pf_check *c, const perfile_record *r, uint64_t time)
{
    /* Only the first part of a directory has rounds. */
    if (c->events.backward || r->part)
        return;
    pf_report(c, PERFILE_RULE_V_515, PF_FULL, r, "time",
              "time %" PRIu64 " is %" PRIu64
              " ns older than the newest record of the round before the last one",
              time, c->times.floor - time);
}

/* Handles a FINISHED_ROUND: a sorting reader may now output everything up to the latest time of the
 * previous round.  Later records must not be older than that (times.floor). */
void pf_check_round(pf_check *c)
{
    c->times.floor = c->times.round;
    c->times.round = c->times.latest;
    c->times.rounds++;
    c->times.after_round = 0;
}

/* Checks rules about the whole stream, and reports the losses that kernel.c has summed up (V-215).
 */
void pf_check_times_end(pf_check *c)
{
    if (c->times.rounds == 0 && c->times.unsorted && !c->events.backward)
        pf_report_offset(c, PERFILE_RULE_V_514, PF_FULL, PERFILE_NO_OFFSET, "time",
                         "no FINISHED_ROUND, and %" PRIu64 " of %" PRIu64
                         " records are older than one before",
                         c->times.unsorted, c->times.records);
    if (c->times.rounds && c->times.after_round && !c->events.backward && c->part.number == 0)
        pf_report_offset(c, PERFILE_RULE_V_516, PF_FULL, c->times.after_round_offset, "time",
                         "%" PRIu64 " records with a time follow the last FINISHED_ROUND",
                         c->times.after_round);
    if (c->counts.lost_records || c->counts.lost_samples || c->counts.throttles)
        pf_report_offset(c, PERFILE_RULE_V_215, PF_FULL, PERFILE_NO_OFFSET, "lost",
                         "%" PRIu64 " records and %" PRIu64 " samples were lost, %" PRIu64
                         " times an event was throttled",
                         c->counts.lost_records, c->counts.lost_samples, c->counts.throttles);
}
