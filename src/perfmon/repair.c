/* Finds where the records of a damaged buffer end, and where they go on after damage.
 *
 * The header may not have a valid end, because it is written last; the end may be inside the header
 * or inside a record.  Then records end where a walk from the first record ends.  After damage,
 * records go on at a chain of records that begins with a TIME, because the time of records before
 * the next TIME is unknown. */
#include "perfmon/repair.h"

#include "base/error.h"

enum {
    LEAST_CHAIN = 2, /* minimum records of a chain that reaches the end */
    CHAIN = 12,      /* records of any other chain */
    CHAIN_BYTES = CHAIN * PF_PERFMON_MOST,
    MOST_ID = 0x27ff, /* the last id of group 4, in either layout */
    STEP = 4          /* records are aligned to this */
};

/* Returns true if a chain of records begins at `p`, the first a TIME.  `whole`: no bytes follow
 * these. */
static bool is_chain(const uint8_t *p, size_t left, bool whole)
{
    unsigned n = 0;
    for (size_t at = 0; n < CHAIN; n++) {
        pf_frame f;
        if (at == left)
            return whole && n >= LEAST_CHAIN;
        if (pf_perfmon_frame(p + at, left - at, &f) || p[at + PF_PERFMON_TAG_AT] ||
            f.misc > MOST_ID || (n == 0 && p[at] != PF_PERFMON_TIME))
            return false;
        at += f.size;
    }
    return true;
}

perfile_status pf_perfmon_next_chain(perfile_source *source, uint64_t damage, uint64_t end,
                                     uint64_t *next, bool *found, perfile_error *err)
{
    *found = false;
    *next = end;
    size_t i = STEP;
    for (uint64_t at = damage; at < end; at += i, i = 0) {
        perfile_bytes run;
        const uint64_t left = end - at;
        const size_t need = left < CHAIN_BYTES ? (size_t)left : CHAIN_BYTES;
        perfile_status st = pf_source_run(source, at, need, &run, err);
        if (st != PERFILE_OK)
            return st;
        const bool whole = run.len < need || run.len >= left;
        if (run.len > left)
            run.len = (size_t)left;
        for (; i < run.len && (whole || run.len - i >= CHAIN_BYTES); i += STEP)
            if (is_chain(run.ptr + i, run.len - i, whole)) {
                *next = at + i;
                *found = true;
                return PERFILE_OK;
            }
        if (whole) { /* the end of the input may come first */
            *next = at + run.len;
            return PERFILE_OK;
        }
    }
    return PERFILE_OK;
}

/* Walks the records from the header on.  Sets *end to the offset where the walk ends, and *met if a
 * record begins or ends at `mark`. */
static perfile_status walk(perfile_source *file, uint64_t mark, uint64_t *end, uint64_t *records,
                           bool *met, perfile_error *err)
{
    uint64_t at = PF_PERFMON_HEADER;
    *met = mark == at;
    *records = 0;
    for (;;) {
        perfile_bytes run;
        pf_frame f;
        perfile_status st = pf_source_run(file, at, PF_PERFMON_MOST, &run, err);
        if (st != PERFILE_OK)
            return st;
        size_t i = 0;
        const size_t enough = run.len < PF_PERFMON_MOST ? 0 : PF_PERFMON_MOST;
        while (run.len - i > 0 && run.len - i >= enough &&
               !pf_perfmon_frame(run.ptr + i, run.len - i, &f)) {
            i += f.size;
            ++*records;
            *met |= mark == at + i;
        }
        at += i;
        if (i == 0) {
            *end = at;
            return PERFILE_OK;
        }
    }
}

/* pf_repair_ops.guess.  The end in the header is not replaced if a record ends there: bytes after
 * it are then not records of the capture, whatever they look like. */
static perfile_status guess(perfile_source *file, const perfile_assume *given, pf_repair *r,
                            perfile_error *err)
{
    perfile_bytes head;
    uint64_t end, records;
    bool met;
    perfile_status st = pf_source_run(file, 0, PF_PERFMON_HEADER, &head, err);
    if (st != PERFILE_OK || head.len < PF_PERFMON_HEADER || (given && given->data.size))
        return st;
    const pf_perfmon_header h = pf_perfmon_header_of(head.ptr);
    st = walk(file, h.capture_end, &end, &records, &met, err);
    if (st != PERFILE_OK || records == 0)
        return st;
    if (h.version != 0)
        r->guessed |= PF_GUESS_HEADER;
    if (h.capture_end < PF_PERFMON_HEADER || (h.capture_end < end && !met))
        r->guessed |= PF_GUESS_END;
    if (r->guessed)
        r->assume.data = (perfile_section){
            PF_PERFMON_HEADER, r->guessed & PF_GUESS_END ? end - PF_PERFMON_HEADER
                                                         : h.capture_end - PF_PERFMON_HEADER};
    return PERFILE_OK;
}

const pf_repair_ops pf_perfmon_repair = {.guess = guess};
