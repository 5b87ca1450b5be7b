/* Salvage: decides how far the records of damaged bytes can be trusted.
 *
 * Frames alone prove little: damaged bytes often look like records.  Therefore pf_perf_look_ahead()
 * examines a chunk before the walk delivers any of it.  A record is kept if it fits the events
 * (pf_record_fit).  A record that does not fit begins a break.  Then pf_perf_resync() searches for
 * the next chain of good records after it, and the records directly before it are examined again,
 * more strictly, because the damage may begin before the first byte that shows it.
 *
 * Most records of a capture are samples of common types. skip_plain_samples() judges them by their
 * counts alone (core/layout.h), without decoding; the result is the same. */
#include "core/layout.h"
#include "core/session.h"
#include "perf/stream.h"
#include "perf/salvage.h"
#include "perfile/field.h"
#include "perfile/records.h"
#include "schema/rows.h"
#include "core/command.h"

enum {
    DELIVER_BYTES = 512 << 10, /* maximum bytes that one call of pf_perf_look_ahead() releases */
    SUSPECT_BYTES = 8 << 10,   /* records this close before a break may belong to the damage */
    LARGE_RECORD = 64,         /* longer records are searched for swallowed records */
    PREFETCH_BYTES = 6144      /* as PF_PREFETCH_BYTES in perf/take.h */
};

/* Returns true for records that add events or ids.  Records after them can only be judged when the
 * walk has delivered them to the session. */
static bool changes_session(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_ID_INDEX ||
           type == PERFILE_RECORD_SIMPLEPERF_EVENT_ID;
}

/* Returns true for a HEADER_ATTR among timed records that does not match the first event of the
 * session: its ids are at another position in samples or trailers, or it cannot be decoded.  It is
 * a remnant of another capture.  If it were added, no record could be attributed any more. */
static bool stray_attr(const pf_record_fit *fit, const perfile_record *r)
{
    perfile_attr attr;
    perfile_layout l = {0};
    const perfile_event *first = perfile_session_event(fit->session, 0);
    if (r->type != PERFILE_RECORD_HEADER_ATTR || !fit->begun || !first)
        return false;
    if (perfile_attr_decode(r->body, fit->swap, &attr, sizeof attr, NULL) != PERFILE_OK)
        return true;
    pf_layout_make(&l, &attr);
    int slot = pf_layout_sample_id(&l);
    return slot < 0 || slot != pf_layout_sample_id(first->layout) ||
           l.sample_id_all != first->layout->sample_id_all ||
           pf_layout_trailer_id(&l) != pf_layout_trailer_id(first->layout);
}

/* Frames the record at `at`.  Returns 0 and sets *whole to its size including the payload after it,
 * or returns the damage (PERFILE_DAMAGE_…) if it is not complete. */
static unsigned frame_complete(const pf_record_fit *fit, perfile_bytes bytes, size_t at,
                               pf_frame *f, size_t *whole)
{
    size_t left = bytes.len - at;
    if (left < PF_PERF_RECORD_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    *f = pf_frame_at(bytes.ptr + at, fit->swap);
    if (f->size < PF_PERF_RECORD_HEADER)
        return PERFILE_DAMAGE_BAD_SIZE;
    if (f->size > left)
        return PERFILE_DAMAGE_TRUNCATED_RECORD;
    uint64_t extra = pf_frame_extra(bytes.ptr + at, f, fit->swap);
    if (extra > left - f->size)
        return PERFILE_DAMAGE_TRUNCATED_PAYLOAD;
    *whole = f->size + (size_t)extra;
    return 0;
}

/* judge_odd_record() and find_swallowed() return the index where good records go on, or one of
 * these values. */
#define KEEP_RECORD    0        /* the record is odd but kept */
#define RESUME_UNKNOWN SIZE_MAX /* the end of the damage must be searched for */

/* Searches for a chain of good records that begins inside the record [at, at + whole) and goes on
 * after it.  If there is one, the size of the record is damaged and has swallowed these records.
 * The budget keeps the search linear in the size of the record. */
static size_t find_swallowed(pf_record_fit *fit, perfile_bytes bytes, size_t at, size_t whole)
{
    fit->budget = (int64_t)whole * 64 + 4096;
    for (size_t i = at + 1; i < at + whole && fit->budget > 0; i++)
        if (pf_perf_header_plausible(bytes.ptr + i, bytes.len - i, fit->swap) &&
            pf_perf_is_chain(fit, (perfile_bytes){bytes.ptr + i, bytes.len - i}, at + whole - i, 2))
            return i;
    return RESUME_UNKNOWN;
}

/* Decides about a record that does not fit.  It is kept if its type is unknown, good records follow
 * it and none are inside: newer kernels have new types.  Otherwise returns where records go on. */
static size_t judge_odd_record(pf_record_fit *fit, perfile_bytes bytes, size_t at, size_t whole,
                               uint32_t odd)
{
    size_t end = at + whole;
    size_t within = find_swallowed(fit, bytes, at, whole);
    if (within != RESUME_UNKNOWN)
        return within;
    fit->budget = 4096;
    if (end != bytes.len &&
        !pf_perf_is_chain(fit, (perfile_bytes){bytes.ptr + end, bytes.len - end}, 0, 1))
        return RESUME_UNKNOWN;
    const pf_frame f = pf_frame_at(bytes.ptr + at, fit->swap);
    return odd == PF_ODD_TYPE && pf_perf_may_be_newer(f.type, f.size) ? KEEP_RECORD : end;
}

/* Collects times and processes of the chain of records after a break, which begins at `at`. */
static pf_after_break survey_after_break(const pf_record_fit *fit, perfile_bytes bytes, size_t at)
{
    enum { TIMES = 256, SURVEY_BYTES = 1 << 20 };
    pf_after_break behind = {.times = {.session = fit->session, .swap = fit->swap}};
    pf_frame f;
    size_t whole;
    size_t most = bytes.len - at > SURVEY_BYTES ? at + SURVEY_BYTES : bytes.len;
    for (unsigned n = 0; n < TIMES && at < most && !frame_complete(fit, bytes, at, &f, &whole);
         at += whole) {
        perfile_record r;
        pf_record_fit_fill(fit, bytes.ptr + at, &f, &r);
        uint64_t time = perfile_record_time(&r);
        pf_after_break_note(&behind, &r, time);
        n += time != PERFILE_NO_TIME && time != 0;
    }
    return behind;
}

/* Returns true if `time` does not fit the position of the record: it is too far from the times
 * before the break and from those after it (`behind`); or it is 0, the time of synthesized records,
 * in the middle of a recording that has no such records late. */
static bool misplaced(const pf_record_fit *seen, uint64_t time, const pf_record_fit *behind)
{
    if (time == PERFILE_NO_TIME)
        return false;
    if (time == 0)
        return seen->timed && !seen->zeros;
    if (!seen->timed || !behind->timed)
        return !pf_record_fit_time(seen, time);
    return !pf_record_fit_near(seen, time) && !pf_record_fit_near(behind, time);
}

/* Returns how many bytes of the records [0, upto) before a break can be trusted; `behind` describes
 * the records after the break.  The record that touches the break is cut off if it fails the strict
 * test.  Within the last SUSPECT_BYTES, everything from the first misplaced time on is cut off.
 * With `island` (there is also a gap before these records), a few records are trusted only if
 * evidence ties them to the capture.  Adds the times of the records before the cut to *fit. */
static size_t trusted_end(pf_record_fit *fit, perfile_bytes bytes, size_t upto,
                          const pf_after_break *behind, bool island)
{
    size_t zone = upto > SUSPECT_BYTES ? upto - SUSPECT_BYTES : 0;
    bool tied = !island || zone != 0 || pf_session_n_events(fit->session) == 0;
    size_t cut = upto;
    size_t whole = 0;
    pf_frame f;
    pf_record_fit seen = *fit;
    for (size_t at = 0; at < upto && !frame_complete(fit, bytes, at, &f, &whole); at += whole) {
        perfile_record r;
        pf_record_fit_fill(fit, bytes.ptr + at, &f, &r);
        uint64_t time = perfile_record_time(&r);
        bool last = at + whole >= upto;
        if (at >= zone && (misplaced(&seen, time, &behind->times) ||
                           (last && pf_record_fit_closely(&seen, &r)))) {
            cut = at;
            break;
        }
        tied = tied || pf_record_belongs(fit, &r, time, behind);
        pf_record_fit_note_time(&seen, time);
    }
    if (!tied)
        return 0;
    *fit = seen;
    return cut;
}

/* Returns true if the damage at `at` looks like an input that simply ends inside a record of a
 * known kernel type.  Then nothing was overwritten, and the records before it need no second
 * examination. */
static bool only_cut(const pf_record_fit *fit, perfile_bytes bytes, size_t at, unsigned damage)
{
    if (damage == PERFILE_DAMAGE_TRUNCATED_HEADER)
        return true;
    if (damage != PERFILE_DAMAGE_TRUNCATED_RECORD && damage != PERFILE_DAMAGE_TRUNCATED_PAYLOAD)
        return false;
    pf_frame f = pf_frame_at(bytes.ptr + at, fit->swap);
    return f.type < PERFILE_RECORD_USER && pf_record_known(f.type) && f.size % 8 == 0;
}

/* Searches for the index where records go on after the break at *at.  If bytes were lost, the last
 * record before the break extends into the records after it.  If good records begin inside that
 * record, returns their index and sets *at to the beginning of that record. */
static size_t find_resume(pf_record_fit *fit, perfile_bytes bytes, size_t *at)
{
    pf_frame f;
    size_t whole, last = 0;
    for (size_t i = 0; i < *at && !frame_complete(fit, bytes, i, &f, &whole); i += whole)
        last = i;
    size_t resume = *at ? find_swallowed(fit, bytes, last, *at - last) : RESUME_UNKNOWN;
    if (resume == RESUME_UNKNOWN)
        return pf_perf_resync(fit, bytes, *at + 1);
    *at = last;
    return resume;
}

/* Returns the result of a look ahead that found `damage` at `at`.  `resume` is the index where
 * records go on, or RESUME_UNKNOWN to search for it. */
static pf_salvage_result end_at_break(pf_record_fit *fit, perfile_bytes bytes, size_t at,
                                      unsigned damage, size_t resume, bool island)
{
    if (resume == RESUME_UNKNOWN)
        resume = find_resume(fit, bytes, &at);
    if (resume == bytes.len && !island && only_cut(fit, bytes, at, damage))
        return (pf_salvage_result){
            .trusted = at, .broken = true, .damage = damage, .resume = resume};
    pf_after_break behind = survey_after_break(fit, bytes, resume);
    size_t trusted = trusted_end(fit, bytes, at, &behind, island);
    if (trusted == 0 && at != 0)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    return (pf_salvage_result){
        .trusted = trusted, .broken = true, .damage = damage, .resume = resume};
}

/* Returns true if a pipe header begins at `at`: two pipe streams in one file are no break. */
static bool begins_stream(const pf_record_fit *fit, perfile_bytes bytes, size_t at)
{
    pf_perf_header h;
    perfile_bytes head = {bytes.ptr + at, bytes.len - at};
    return pf_perf_header_begin(head, &h) == 0 && h.form == PERFILE_FORM_PIPE &&
           h.swap == fit->swap;
}

/* A sample layout that can be judged without decoding. */
typedef struct pf_plain_layout {
    pf_sample_shape shape;
    size_t least; /* size of the smallest record; SIZE_MAX: samples must be decoded */
    int time_at;  /* offset of the time in the record, or -1 */
} pf_plain_layout;

static pf_plain_layout plain_layout_of(const perfile_layout *l)
{
    int slot = l->sample_slot[PF_SLOT_TIME];
    pf_plain_layout p = {.shape = pf_sample_shape_of(l->sample_type),
                         .time_at = slot < 0 ? -1 : PF_PERF_RECORD_HEADER + 8 * slot};
    p.least = p.shape.known ? PF_PERF_RECORD_HEADER + p.shape.least : SIZE_MAX;
    return p;
}

/* Returns the size of the sample at `p` if it is complete in `left` bytes and its fields fill it, 0
 * otherwise.  If it returns a size, pf_record_fit_record() would find nothing odd either. */
static inline __attribute__((always_inline)) size_t
plain_sample_size(const pf_plain_layout *plain, const uint8_t *p, size_t left, bool swap)
{
    size_t size = pf_load_u16(p + 6, swap);
    perfile_bytes raw;
    if (pf_load_u32(p, swap) != PERFILE_RECORD_SAMPLE || size % 8 || size < plain->least ||
        size > left)
        return 0;
    bool fits = plain->shape.chain || plain->shape.raw
                    ? pf_sample_shape_fits(&plain->shape, p + PF_PERF_RECORD_HEADER,
                                           size - PF_PERF_RECORD_HEADER, swap, &raw)
                    : size == plain->least;
    return fits ? size : 0;
}

/* Skips complete plain samples from `at` on, not beyond `most`, and adds their times to *fit.
 * Returns the index of the first other record.  `mixed`: the events have several layouts, so the
 * event of each sample is found by its id.  The last id is cached, because neighboring samples
 * often share it. */
static inline __attribute__((always_inline)) size_t skip_plain_samples_as(pf_record_fit *fit,
                                                                          const uint8_t *bytes,
                                                                          size_t at, size_t most,
                                                                          bool mixed, bool swap)
{
    const perfile_session *s = fit->session;
    const pf_ids *ids = pf_session_ids(s);
    size_t id_at = PF_PERF_RECORD_HEADER + 8 * (size_t)pf_session_sample_id_slot(s);
    size_t least = mixed ? id_at + 8 : PF_PERF_RECORD_HEADER;
    uint64_t id = 0;
    pf_plain_layout plain = {.least = SIZE_MAX};
    if (!mixed)
        plain = plain_layout_of(pf_session_layout(s));
    while (most - at >= least) {
        const uint8_t *p = bytes + at;
        __builtin_prefetch((const void *)((uintptr_t)p + PREFETCH_BYTES));
        if (mixed && pf_load_u64(p + id_at, swap) != id) {
            id = pf_load_u64(p + id_at, swap);
            const perfile_event *owner = id ? perfile_session_event(s, pf_ids_find(ids, id)) : NULL;
            plain = owner ? plain_layout_of(owner->layout) : (pf_plain_layout){.least = SIZE_MAX};
        }
        size_t size = plain_sample_size(&plain, p, most - at, swap);
        if (size == 0)
            break;
        if (plain.time_at >= 0)
            pf_record_fit_note_time(fit, pf_load_u64(p + plain.time_at, swap));
        at += size;
    }
    return at;
}

/* Chooses the variant of skip_plain_samples_as().  Returns `at` if samples cannot be judged without
 * decoding. */
static size_t skip_plain_samples(pf_record_fit *fit, perfile_bytes bytes, size_t at, size_t most)
{
    const perfile_session *s = fit->session;
    const perfile_layout *all = pf_session_layout(s);
    if (pf_session_n_events(s) == 0 || (!all && pf_session_sample_id_slot(s) < 0))
        return at;
    if (most > bytes.len)
        most = bytes.len;
    pf_record_fit seen = *fit; /* a local copy stays in registers */
    if (!all)
        at = skip_plain_samples_as(&seen, bytes.ptr, at, most, true, fit->swap);
    else if (fit->swap)
        at = skip_plain_samples_as(&seen, bytes.ptr, at, most, false, true);
    else
        at = skip_plain_samples_as(&seen, bytes.ptr, at, most, false, false);
    *fit = seen;
    return at;
}

pf_salvage_result pf_perf_look_ahead(pf_record_fit *fit, perfile_bytes bytes, bool last,
                                     bool island)
{
    /* `boundary` is the end of the last record inside DELIVER_BYTES.  Up to SUSPECT_BYTES of
     * records after it are only examined: a break there could still cast doubt on the records
     * before it. */
    pf_record_fit seen = *fit;        /* with the times of records up to `at` */
    pf_record_fit at_boundary = *fit; /* with the times of records up to `boundary` */
    size_t boundary = 0;
    size_t at = 0;
    while (at < bytes.len && at < DELIVER_BYTES + SUSPECT_BYTES) {
        pf_frame f;
        size_t whole = 0;
        perfile_record r;
        at = skip_plain_samples(&seen, bytes, at,
                                at < DELIVER_BYTES ? DELIVER_BYTES : DELIVER_BYTES + SUSPECT_BYTES);
        if (at <= DELIVER_BYTES || boundary == 0) {
            boundary = at;
            at_boundary = seen;
        }
        if (at >= bytes.len || at >= DELIVER_BYTES + SUSPECT_BYTES)
            break;
        unsigned damage = frame_complete(fit, bytes, at, &f, &whole);
        if (damage && !last && damage != PERFILE_DAMAGE_BAD_SIZE)
            break;
        if (damage)
            return end_at_break(fit, bytes, at, damage, RESUME_UNKNOWN, island);
        pf_record_fit_fill(fit, bytes.ptr + at, &f, &r);
        uint32_t odd = pf_record_fit_record(&r);
        bool may_hide_records = whole > LARGE_RECORD || odd & PF_ODD_SLACK;
        odd &= PF_ODD_HARD;
        if (stray_attr(&seen, &r))
            odd |= PF_ODD_BODY;
        if (odd & PF_ODD_TYPE && begins_stream(fit, bytes, at))
            break;
        if (!odd && may_hide_records && r.type != PERFILE_RECORD_SAMPLE &&
            !changes_session(r.type) && pf_session_n_events(fit->session)) {
            size_t resume = find_swallowed(fit, bytes, at, whole);
            if (resume != RESUME_UNKNOWN)
                return end_at_break(fit, bytes, at, PERFILE_DAMAGE_BAD_SIZE, resume, island);
        }
        if (odd) {
            size_t resume = judge_odd_record(fit, bytes, at, whole, odd);
            damage = odd & PF_ODD_ID ? PERFILE_DAMAGE_UNKNOWN_ID : PERFILE_DAMAGE_GARBAGE;
            if (resume != KEEP_RECORD)
                return end_at_break(fit, bytes, at, damage, resume, island);
        }
        if (!odd)
            pf_record_fit_note_time(&seen, perfile_record_time(&r));
        at += whole;
        if (at <= DELIVER_BYTES || changes_session(r.type)) {
            boundary = at;
            at_boundary = seen;
        }
        if (changes_session(r.type))
            break;
    }
    bool all = last && at >= bytes.len;
    *fit = all ? seen : at_boundary;
    return (pf_salvage_result){.trusted = all ? at : boundary};
}

/* Evidence that records between two gaps belong to the capture: see salvage.h. */

enum { KERNEL_PIDS = 2 }; /* init and kthreadd: the same on every system */

static bool has_process(const pf_after_break *b, uint32_t pid)
{
    for (unsigned i = 0; i < b->n_pids; i++)
        if (b->pids[i] == pid)
            return true;
    return false;
}

void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time)
{
    uint32_t pid, tid;
    pf_record_fit_note_time(&b->times, time);
    if (b->n_pids == sizeof b->pids / sizeof b->pids[0] || !perfile_record_task(r, &pid, &tid))
        return;
    /* Pids 0 to 2 exist on every system, and all bits set means "no process".  They prove nothing.
     */
    if (pid > KERNEL_PIDS && pid != UINT32_MAX && !has_process(b, pid))
        b->pids[b->n_pids++] = pid;
}

/* Returns true if `time` is near the range that the feature SAMPLE_TIME declares (first and last
 * time of all samples). */
static bool is_near_declared_range(const pf_record_fit *fit, uint64_t time)
{
    perfile_sample_time t;
    const perfile_feature *f = perfile_session_feature(fit->session, PERFILE_FEATURE_SAMPLE_TIME);
    if (!f || perfile_sample_time_decode(f, &t, sizeof t, NULL) != PERFILE_OK ||
        t.first_sample_time == 0 || t.first_sample_time > t.last_sample_time)
        return false;
    pf_record_fit declared = {
        .timed = true, .oldest = t.first_sample_time, .newest = t.last_sample_time};
    return pf_record_fit_near(&declared, time);
}

bool pf_record_belongs(const pf_record_fit *fit, const perfile_record *r, uint64_t time,
                       const pf_after_break *b)
{
    uint32_t pid, tid;
    if (pf_marks_of(r) & PF_ROW_ENVELOPE)
        return perfile_session_feature(fit->session, PERFILE_FEATURE_COMPRESSED) != NULL;
    if (time == PERFILE_NO_TIME || time == 0)
        return b->n_pids && perfile_record_task(r, &pid, &tid) && has_process(b, pid);
    return pf_record_fit_near(fit, time) || pf_record_fit_near(&b->times, time) ||
           is_near_declared_range(fit, time);
}

/* Resynchronization: finds the next records after bytes that are not records.
 *
 * Every byte is a candidate: damage may shift records to any alignment.  The cheap test of the
 * header rejects nearly all candidates.  Each remaining one must begin a chain of records, which
 * are examined closely.  A budget bounds that examination, so that no input makes the search slower
 * than linear. */

enum {
    CHAIN = 4,  /* plausible records in a row; fewer are enough only at the end of the bytes */
    CREDIT = 32 /* budget added per byte skipped; a close examination costs 16 or more */
};

/* Returns true if nothing is odd about `r`.  Charges fit->budget in proportion to the work; returns
 * false when the budget is used up. */
static bool fits_closely(pf_record_fit *fit, const perfile_record *r)
{
    if (fit->budget <= 0)
        return false;
    fit->budget -= 16 + (r->body.len < 4096 ? (int64_t)r->body.len : 4096) / 16;
    return pf_record_fit_closely(fit, r) == 0;
}

bool pf_perf_is_chain(pf_record_fit *fit, perfile_bytes bytes, size_t upto, unsigned least)
{
    const uint8_t *at = bytes.ptr;
    const uint8_t *end = at + bytes.len;
    unsigned n = 0;
    for (; (n < CHAIN || (size_t)(at - bytes.ptr) < upto) && at < end; n++) {
        size_t left = (size_t)(end - at);
        if (!pf_perf_header_plausible(at, left, fit->swap))
            return false;
        perfile_record r;
        pf_frame f = pf_frame_at(at, fit->swap);
        uint64_t extra = pf_frame_extra(at, &f, fit->swap);
        if (extra > left - f.size)
            return false;
        pf_record_fit_fill(fit, at, &f, &r);
        if (fit->session && !fits_closely(fit, &r))
            return false;
        at += f.size + extra;
    }
    return n >= least;
}

/* Returns true if the first `end` bytes of `record` would fit as a record of their own: then a
 * damaged size has joined two records.  The rest must be more than a header, because a header alone
 * proves nothing. */
static bool ends_at(const pf_record_fit *fit, perfile_bytes record, size_t end)
{
    perfile_record r;
    pf_frame f = pf_frame_at(record.ptr, fit->swap);
    if (end < PF_PERF_RECORD_HEADER || record.len - end <= PF_PERF_RECORD_HEADER)
        return false;
    f.size = (uint32_t)end;
    pf_record_fit_fill(fit, record.ptr, &f, &r);
    return pf_record_fit_record(&r) == 0 && pf_record_fit_closely(fit, &r) == 0;
}

bool pf_perf_may_be_newer(uint32_t type, size_t size)
{
    enum { NEWER = 256, SIMPLEPERF = 32768 };
    return size % 8 == 0 && (type < NEWER || type - SIMPLEPERF < NEWER);
}

bool pf_perf_swallows(pf_record_fit *fit, perfile_bytes record)
{
    fit->budget = (int64_t)record.len * 64 + 4096;
    for (size_t from = 1; from < record.len && fit->budget > 0; from++) {
        unsigned n = 0;
        size_t at = from;
        for (; n < CHAIN; n++) {
            perfile_record r;
            if (!pf_perf_header_plausible(record.ptr + at, record.len - at, fit->swap))
                break;
            pf_frame f = pf_frame_at(record.ptr + at, fit->swap);
            pf_record_fit_fill(fit, record.ptr + at, &f, &r);
            if (!fits_closely(fit, &r))
                break;
            at += f.size;
        }
        if (n == CHAIN || (n && at == record.len && ends_at(fit, record, from)))
            return true;
    }
    return false;
}

size_t pf_perf_resync(pf_record_fit *fit, perfile_bytes bytes, size_t from)
{
    /* In a hostile file a long plausible record could begin at every byte.  The budget bounds the
     * work for these. */
    fit->budget = (int64_t)1 << 20;
    for (size_t at = from; at < bytes.len; at++) {
        fit->budget += CREDIT;
        if (pf_perf_header_plausible(bytes.ptr + at, bytes.len - at, fit->swap) &&
            pf_perf_is_chain(fit, (perfile_bytes){bytes.ptr + at, bytes.len - at}, 0, 1))
            return at;
    }
    return bytes.len;
}

/* How well a record fits its capture: see salvage.h for the idea.
 *
 * The tests, from cheap to expensive, are: the header (type, size), the shape of samples, a walk
 * over all fields (schema/walk.inc), values and times. */

enum {
    STRING_SLACK = 8, /* maximum bytes after a string: its NUL and padding to 8 */
    MOST_BEHIND =
        128, /* maximum bytes after the last field: the trailer, and fields of newer kernels */
    MISC_UNUSED = 0x0ff8 /* misc bits 3 to 11, which no kernel sets */
};
#define NEAR_NS    UINT64_C(1000000000)
#define SPANS      16 /* a time is near within this multiple of the range of times seen */
#define FORWARD_NS UINT64_C(86400000000000) /* a recording may be idle for a day */
#define MAX_CPUS   8192                     /* Linux: the greatest CONFIG_NR_CPUS */
#define MAX_PID    (1U << 22)               /* Linux: PID_MAX_LIMIT */

/* Returns true if the fields of a sample of layout `l` fill it, with less than 8 bytes of padding.
 */
static bool sample_fits(const perfile_record *r, const perfile_layout *l)
{
    perfile_bytes raw;
    pf_sample_shape shape = pf_sample_shape_of(l->sample_type);
    if (shape.known)
        return pf_sample_shape_fits(&shape, r->body.ptr, r->body.len,
                                    r->flags & PERFILE_REC_SWAPPED, &raw);
    perfile_sample s;
    if (perfile_sample_decode(r, &s, sizeof s, NULL) != PERFILE_OK)
        return false;
    if (s.present & PERFILE_SAMPLE_STACK_USER && s.stack_user.dyn_size > s.stack_user.size)
        return false; /* perf refuses the whole file */
    return !s.has_extra || s.extra.len < 8;
}

/* Returns PF_ODD_ID or PF_ODD_BODY for a sample, 0 if it fits its event. */
static uint32_t sample_oddities(const perfile_record *r)
{
    uint32_t damage;
    const perfile_layout *l = pf_layout_of(r, &damage);
    if (!l)
        return PF_ODD_ID;
    return sample_fits(r, l) ? 0 : PF_ODD_BODY;
}

/* State and result of the walk over the fields of a record. */
typedef struct walk_result {
    uint32_t odd; /* PF_ODD_… */
    bool kernel;  /* a kernel record: its strings must end with NUL */
    uint64_t end; /* end of the last field, relative to the header of the record */
} walk_result;

static bool printable(perfile_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

/* Visitor: checks pids, CPU numbers and names.  A pid of UINT32_MAX or UINT32_MAX - 1 means "no
 * process". */
static void judge_field(void *user, const perfile_field *f, const perfile_value *v)
{
    walk_result *l = user;
    l->end = v->offset + v->width;
    switch (f->kind) {
    case PERFILE_KIND_PID:
    case PERFILE_KIND_TID:
        if (f->type == PERFILE_STORED_U32 && v->number > MAX_PID && v->number < UINT32_MAX - 1)
            l->odd |= PF_ODD_VALUE;
        break;
    case PERFILE_KIND_CPU:
        if (f->type == PERFILE_STORED_U32 && v->number >= MAX_CPUS && v->number != UINT32_MAX)
            l->odd |= PF_ODD_VALUE;
        break;
    case PERFILE_KIND_PATH:
    case PERFILE_KIND_COMM:
        if (f->type != PERFILE_STORED_TEXT)
            break;
        if (!printable(v->u.bytes))
            l->odd |= PF_ODD_VALUE;
        if (l->kernel && v->width && v->u.bytes.len == v->width)
            l->odd |= PF_ODD_BODY; /* no NUL */
        if (l->kernel && v->width > v->u.bytes.len + STRING_SLACK)
            l->odd |= PF_ODD_SLACK;
        break;
    default:
        break;
    }
}

static void ignore_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Decodes and walks the record.  Returns the oddities of its fields. */
static uint32_t content_oddities(const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = judge_field, .begin = ignore_begin, .end = ignore_end};
    perfile_error err;
    walk_result l = {.kernel = r->type < PERFILE_RECORD_USER};
    /* The content of SCHEDSTAT records depends on a version number inside them.  Only the fields
     * that the dump schema names are judged; newer ones may follow. */
    bool versions =
        r->type == PERFILE_RECORD_SCHEDSTAT_CPU || r->type == PERFILE_RECORD_SCHEDSTAT_DOMAIN;
    uint32_t how = versions ? PERFILE_WALK_CONTRACT : PERFILE_WALK_ALL;
    if (perfile_record_walk(r, how, &visitor, &l, &err) != PERFILE_OK)
        l.odd |= err.damage == PERFILE_DAMAGE_UNKNOWN_ID || err.damage == PERFILE_DAMAGE_NO_ATTR
                     ? PF_ODD_ID
                     : PF_ODD_BODY;
    else if (l.kernel && l.end && perfile_record_size(r) > l.end + MOST_BEHIND)
        l.odd |= PF_ODD_SLACK;
    return l.odd;
}

/* Returns the oddities of type and size.  Sizes are checked for kernel records only: records of the
 * tool were shorter in older versions. */
static uint32_t header_oddities(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (!row)
        return r->type ? PF_ODD_TYPE : PF_ODD_TYPE | PF_ODD_SIZE;
    if (r->type < PERFILE_RECORD_USER && (r->body.len < row->fixed || r->body.len % 8))
        return PF_ODD_SIZE;
    return 0;
}

bool pf_record_fit_sample(const perfile_record *r)
{
    return header_oddities(r) == 0 && sample_oddities(r) == 0 && pf_attribution_of(r).event;
}

uint32_t pf_record_fit_record(const perfile_record *r)
{
    uint32_t odd = header_oddities(r);
    if (!odd)
        odd = r->type == PERFILE_RECORD_SAMPLE ? sample_oddities(r) : content_oddities(r);
    return odd & (PF_ODD_HARD | PF_ODD_SLACK);
}

bool pf_record_fit_near(const pf_record_fit *seen, uint64_t time)
{
    if (!seen->timed)
        return false;
    uint64_t span = seen->newest - seen->oldest;
    uint64_t reach = span < (UINT64_MAX - NEAR_NS) / SPANS ? NEAR_NS + SPANS * span : UINT64_MAX;
    if (time < seen->oldest)
        return seen->oldest - time <= reach;
    return time <= seen->newest || time - seen->newest <= reach;
}

bool pf_record_fit_time(const pf_record_fit *seen, uint64_t time)
{
    if (!seen->timed || pf_record_fit_near(seen, time))
        return true;
    return time > seen->newest && time - seen->newest <= FORWARD_NS;
}

/* Returns PF_ODD_MISC if misc is odd.  Kernel records and HEADER_BUILD_ID have a cpumode and flags
 * in misc; in other records it must be 0. */
static uint32_t misc_oddities(const perfile_record *r)
{
    bool kernel = r->type < PERFILE_RECORD_USER;
    bool has_mode = kernel || r->type == PERFILE_RECORD_HEADER_BUILD_ID;
    bool odd = has_mode ? r->misc & MISC_UNUSED ||
                              (r->misc & PERFILE_MISC_CPUMODE_MASK) >= PERFILE_MISC_CPUMODE_KNOWN
                        : r->misc != 0;
    return odd ? PF_ODD_MISC : 0;
}

uint32_t pf_record_fit_closely(const pf_record_fit *fit, const perfile_record *r)
{
    uint32_t odd = header_oddities(r) | misc_oddities(r);
    if (odd)
        return odd;
    if (r->type == PERFILE_RECORD_SAMPLE)
        odd |= sample_oddities(r) | (pf_attribution_of(r).event ? 0U : (uint32_t)PF_ODD_ID);
    odd |= content_oddities(r);
    uint64_t time = perfile_record_time(r);
    if (time != PERFILE_NO_TIME && time != 0 && !pf_record_fit_time(fit, time))
        odd |= PF_ODD_TIME;
    return odd;
}
