/* Interface between the record walk (walk.c), its treatment of damage (walk_damage.c) and seeking
 * (seek.c).
 *
 * Damage goes three ways.  Damage at p->pos is put into p->pending and reported by the next fill().
 * Damage that follows a record which is still good is deferred (pf_perf_defer()) until that record
 * was delivered.  A gap is a range that salvage has already classified as "no records". */
#ifndef PF_PERF_WALK_H
#define PF_PERF_WALK_H

#include "perf/stream.h"

/* Resets all per-part state and makes p->file the part number p->part, at its first record. */
void pf_walk_begin_part(pf_perf_stream *p);

/* Takes the first entry off p->pending, counts it in the summary, and makes it a run of one DAMAGE
 * record if the caller asked for these (PERFILE_DELIVER_DAMAGE). */
void pf_walk_report(pf_perf_stream *p);

/* Ends the part: all bytes from p->pos on are lost because of `damage` at `offset`. */
perfile_status pf_walk_stop_part(pf_perf_stream *p, unsigned damage, uint64_t offset,
                                 perfile_error *err);

/* Moves p->pos to the next chain of records, searching from p->pos + `from` on; the bytes in
 * between are reported as lost because of `damage`. */
perfile_status pf_walk_resync(pf_perf_stream *p, unsigned damage, uint64_t from,
                              perfile_error *err);

/* The bytes at p->pos are not a record: resynchronises, or ends the part with
 * PERFILE_ON_DAMAGE_STOP. */
perfile_status pf_walk_bad_record(pf_perf_stream *p, unsigned damage, perfile_error *err);

/* Ends the part because of the damage that pf_perf_defer() recorded. */
perfile_status pf_walk_end_deferred(pf_perf_stream *p, perfile_error *err);

/* The input ended inside the payload of the last record.  Only possible for a payload that was
 * skipped without being read, on a pipe, whose size was not known then. */
perfile_status pf_walk_end_in_extra(pf_perf_stream *p, perfile_error *err);

/* Skips and reports the gap that pf_walk_look_ahead() found at p->pos. */
perfile_status pf_walk_skip_gap(pf_perf_stream *p, perfile_error *err);

/* Salvage: examines the bytes from p->pos on and sets p->trusted and the description of the gap
 * behind it (p->gap …).  *run begins at p->pos. */
perfile_status pf_walk_look_ahead(pf_perf_stream *p, perfile_bytes *run, perfile_error *err);

#endif
