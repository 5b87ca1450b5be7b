/* What a merge reports: notes and conflicts while it goes on, and the public functions that return
 * summaries, ids and pids of a merge. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "merge/merge.h"

/* Does nothing if the caller gave no options.note. */
void pf_merge_report(const pf_merge *x, const perfile_merge_note *note)
{
    if (x->options.note)
        x->options.note(x->options.user, note);
}

perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!(x->options.flags & PERFILE_MERGE_DROP_CONFLICTING))
        return pf_fail(err, PERFILE_E_USAGE, "merge", "%s", text);
    const perfile_merge_note note = {PERFILE_MERGE_NOTE_CONFLICT, number, input, 0, 1, text};
    pf_merge_report(x, &note);
    return PERFILE_OK;
}

/* Returns the merge that `s` is, or stands on; NULL if there is none. */
static const pf_merge *stage_of(const perfile_stream *s)
{
    while (s && s->ops != &pf_merge_ops)
        s = s->below;
    return (const pf_merge *)(const void *)s;
}

void perfile_merge_get_summary(const perfile_stream *stream, perfile_merge_summary *out,
                               size_t size)
{
    const perfile_merge_summary none = {0};
    /* All zeros if the stream does not stand on a merge. */
    const pf_merge *x = stage_of(stream);
    memcpy(out, x ? &x->result : &none, size < sizeof none ? size : sizeof none);
}

void perfile_merge_get_input_summary(const perfile_stream *stream, size_t position,
                                     perfile_merge_input_summary *out, size_t size)
{
    perfile_merge_input_summary one = {0};
    const pf_merge *x = stage_of(stream);
    if (x && position < x->n_inputs) {
        const pf_merge_input *in = &x->inputs[position];
        one = in->result;
        one.offset = (int64_t)in->offset;
        one.clock = in->clock_reason;
        /* Internally "host" is a boot; the interface has both. */
        one.host = in->machine;
        one.boot = in->host;
        one.part_of = in->first_of_recording;
    }
    memcpy(out, &one, size < sizeof one ? size : sizeof one);
}

bool perfile_merge_get_id(const perfile_stream *stream, size_t position, size_t k,
                          perfile_merge_id_pair *out, size_t size)
{
    const pf_merge *x = stage_of(stream);
    if (!x || position >= x->n_inputs ||
        k >= x->inputs[position].new_ids.len / sizeof(perfile_merge_id_pair))
        return false;
    const uint8_t *all = x->inputs[position].new_ids.ptr;
    memcpy(out, all + k * sizeof(perfile_merge_id_pair),
           size < sizeof(perfile_merge_id_pair) ? size : sizeof(perfile_merge_id_pair));
    return true;
}

/* pids are counted up per boot: boot h has those from h * PERFILE_MERGE_PIDS on. */
bool perfile_merge_get_pid(const perfile_stream *stream, size_t position, uint32_t after,
                           uint32_t *pid, uint32_t *new_pid)
{
    const pf_merge *x = stage_of(stream);
    /* UINT32_MAX: begin with the first pid. */
    uint64_t at = after == UINT32_MAX ? 0 : (uint64_t)after + 1;
    if (!x || position >= x->n_inputs || !pf_pids_next(&x->inputs[position].moved_pids, &at, pid))
        return false;
    *new_pid = *pid + x->inputs[position].host * PERFILE_MERGE_PIDS;
    return true;
}

const char *perfile_merge_note_name(uint32_t kind)
{
    /* Part of the interface: --json prints these names. */
    static const char *const names[PERFILE_N_MERGE_NOTES] = {
        [PERFILE_MERGE_NOTE_JOINED] = "joined",     [PERFILE_MERGE_NOTE_DROPPED] = "dropped",
        [PERFILE_MERGE_NOTE_CONFLICT] = "conflict", [PERFILE_MERGE_NOTE_RECORDS] = "records",
        [PERFILE_MERGE_NOTE_CHANGED] = "changed",   [PERFILE_MERGE_NOTE_MIXED] = "mixed"};
    return kind < PERFILE_N_MERGE_NOTES ? names[kind] : "";
}

const char *perfile_merge_clock_name(uint32_t clock)
{
    static const char *const names[] = {[PERFILE_MERGE_CLOCK_FIRST] = "its own",
                                        [PERFILE_MERGE_CLOCK_GIVEN] = "offset",
                                        [PERFILE_MERGE_CLOCK_ALIGNED] = "aligned",
                                        [PERFILE_MERGE_CLOCK_RECORDING] = "same recording",
                                        [PERFILE_MERGE_CLOCK_BOOT] = "same boot",
                                        [PERFILE_MERGE_CLOCK_WALL] = "wall clock",
                                        [PERFILE_MERGE_CLOCK_GLOBAL] = "the same for all",
                                        [PERFILE_MERGE_CLOCK_NONE] = "no times"};
    return clock < sizeof names / sizeof names[0] ? names[clock] : "";
}
