#include "perf/salvage.h"

#include "perf/salvage_evidence.h"
#include "perf/header.h"
#include "core/layout.h"
#include "core/sample_shape.h"
#include "core/session.h"
#include "schema/trailer.h"

enum {
    CHUNK = 512 << 10, /* handed out at once */
    ZONE = 8 << 10,    /* so far in front of a break may lie what belongs to it */
    LARGE = 64,        /* longer ones may have swallowed others */
    AHEAD = 6144       /* lines that far ahead are fetched */
};

/* Records behind these cannot be judged before the session has learned them. */
static bool teaches(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_ID_INDEX ||
           type == PERFILE_RECORD_SIMPLEPERF_EVENT_ID;
}

/* Whether the HEADER_ATTR, met among records of events, is none of this capture: with it nobody
 * could tell whose a record is. */
static bool stray_attr(const pf_record_fit *v, const perfile_record *r)
{
    perfile_attr attr;
    perfile_layout l = {0};
    const perfile_event *first = perfile_session_event(v->session, 0);
    if (r->type != PERFILE_RECORD_HEADER_ATTR || !v->begun || !first)
        return false;
    if (perfile_attr_decode(r->body, v->swap, &attr, sizeof attr, NULL) != PERFILE_OK)
        return true;
    pf_layout_make(&l, &attr);
    int slot = pf_layout_sample_id(&l);
    return slot < 0 || slot != pf_layout_sample_id(first->layout) ||
           l.sample_id_all != first->layout->sample_id_all ||
           pf_layout_trailer_id(&l) != pf_layout_trailer_id(first->layout);
}

/* Frames the record at `at`: 0, or what is wrong.  *whole is what it takes with what follows it. */
static unsigned frame(const pf_record_fit *v, perfile_bytes bytes, size_t at, pf_frame *f,
                      size_t *whole)
{
    size_t left = bytes.len - at;
    if (left < PF_PERF_RECORD_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    *f = pf_frame_at(bytes.ptr + at, v->swap);
    if (f->size < PF_PERF_RECORD_HEADER)
        return PERFILE_DAMAGE_BAD_SIZE;
    if (f->size > left)
        return PERFILE_DAMAGE_TRUNCATED_RECORD;
    uint64_t extra = pf_frame_extra(bytes.ptr + at, f, v->swap);
    if (extra > left - f->size)
        return PERFILE_DAMAGE_TRUNCATED_PAYLOAD;
    *whole = f->size + (size_t)extra;
    return 0;
}

/* What to do with an odd record: where records go on, or one of these. */
#define BELIEVE 0
#define SEARCH  SIZE_MAX

/* Where inside the record [at, at + whole) others begin: then its size is wrong.  SEARCH: nowhere.
 */
static size_t inside(pf_record_fit *v, perfile_bytes bytes, size_t at, size_t whole)
{
    v->budget = (int64_t)whole * 64 + 4096;
    for (size_t i = at + 1; i < at + whole && v->budget > 0; i++)
        if (pf_perf_header_plausible(bytes.ptr + i, bytes.len - i, v->swap) &&
            pf_perf_is_chain(v, (perfile_bytes){bytes.ptr + i, bytes.len - i}, at + whole - i, 2))
            return i;
    return SEARCH;
}

/* An odd record at `at`: only an unknown type is believed, when records go on behind it. */
static size_t examine(pf_record_fit *v, perfile_bytes bytes, size_t at, size_t whole, uint32_t odd)
{
    size_t end = at + whole;
    size_t within = inside(v, bytes, at, whole);
    if (within != SEARCH)
        return within;
    v->budget = 4096;
    if (end != bytes.len &&
        !pf_perf_is_chain(v, (perfile_bytes){bytes.ptr + end, bytes.len - end}, 0, 1))
        return SEARCH;
    return odd == PF_ODD_TYPE ? BELIEVE : end;
}

/* The chain of records that begins at `at`.  Its steps back in time are steps of this capture. */
static pf_after_break look_behind(pf_record_fit *v, perfile_bytes bytes, size_t at)
{
    enum { TIMES = 256, NEAR = 1 << 20 };
    pf_after_break behind = {.times = {.session = v->session, .swap = v->swap}};
    pf_frame f;
    size_t whole;
    size_t most = bytes.len - at > NEAR ? at + NEAR : bytes.len;
    for (unsigned n = 0; n < TIMES && at < most && !frame(v, bytes, at, &f, &whole); at += whole) {
        perfile_record r;
        pf_record_fit_fill(v, bytes.ptr + at, &f, &r);
        uint64_t time = perfile_record_time(&r);
        pf_after_break_note(&behind, &r, time);
        n += time != PERFILE_NO_TIME && time != 0;
    }
    if (behind.times.back > v->back)
        v->back = behind.times.back;
    return behind;
}

/* Whether the record does not belong where it stands: far in time from what surrounds it, or what
 * was there before the recording in the middle of it. */
static bool misplaced(const pf_record_fit *v, uint64_t time, uint64_t after)
{
    if (time == PERFILE_NO_TIME)
        return false;
    return time == 0 ? v->timed && !v->zeros : !pf_record_fit_time(v, time, after);
}

/* Where trust ends in the records [0, upto) in front of a break, `behind` which are others.  Notes
 * the times of those that are trusted. */
static size_t trust(pf_record_fit *v, perfile_bytes bytes, size_t upto, const pf_after_break *behind,
                    bool island)
{
    uint64_t after = behind->times.timed ? behind->times.newest : PERFILE_NO_TIME;
    size_t zone = upto > ZONE ? upto - ZONE : 0;
    bool tied = !island || zone != 0 || perfile_session_n_events(v->session) == 0;
    size_t cut = upto;
    size_t whole = 0;
    pf_frame f;
    pf_record_fit seen = *v;
    for (size_t at = 0; at < upto && !frame(v, bytes, at, &f, &whole); at += whole) {
        perfile_record r;
        pf_record_fit_fill(v, bytes.ptr + at, &f, &r);
        uint64_t time = perfile_record_time(&r);
        bool last = at + whole >= upto;
        if (at >= zone &&
            (misplaced(&seen, time, after) || (last && pf_record_fit_closely(&seen, &r)))) {
            cut = at;
            break;
        }
        tied = tied || pf_record_belongs(v, &r, time, behind);
        pf_record_fit_note_time(&seen, time);
    }
    if (!tied)
        return 0;
    *v = seen;
    return cut;
}

/* Whether the input just ends inside a record at `at`: nothing was written over what is in front.
 */
static bool only_cut(const pf_record_fit *v, perfile_bytes bytes, size_t at, unsigned damage)
{
    if (damage == PERFILE_DAMAGE_TRUNCATED_HEADER)
        return true;
    if (damage != PERFILE_DAMAGE_TRUNCATED_RECORD && damage != PERFILE_DAMAGE_TRUNCATED_PAYLOAD)
        return false;
    pf_frame f = pf_frame_at(bytes.ptr + at, v->swap);
    return f.type < PERFILE_RECORD_USER && pf_record_known(f.type) && f.size % 8 == 0;
}

static pf_salvage_result broken_at(pf_record_fit *v, perfile_bytes bytes, size_t at, unsigned damage,
                          size_t resume, bool island)
{
    if (resume == SEARCH)
        resume = pf_perf_resync(v, bytes, at + 1);
    if (resume == bytes.len && !island && only_cut(v, bytes, at, damage))
        return (pf_salvage_result){.trusted = at, .broken = true, .damage = damage, .resume = resume};
    pf_after_break behind = look_behind(v, bytes, resume);
    size_t trusted = trust(v, bytes, at, &behind, island);
    if (trusted == 0 && at != 0)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    return (pf_salvage_result){.trusted = trusted, .broken = true, .damage = damage, .resume = resume};
}

/* Two pipe streams put into one file. */
static bool begins_stream(const pf_record_fit *v, perfile_bytes bytes, size_t at)
{
    pf_perf_header h;
    perfile_bytes head = {bytes.ptr + at, bytes.len - at};
    return pf_perf_header_begin(head, &h) == 0 && h.form == PERFILE_FORM_PIPE && h.swap == v->swap;
}

/* Samples of one layout that can be judged without decoding them. */
typedef struct pf_plain_layout {
    pf_sample_shape shape;
    size_t least; /* bytes of the smallest record */
    int time_at;  /* where in the record its time is, or -1 */
} pf_plain_layout;

static pf_plain_layout plain_of(const perfile_layout *l)
{
    int slot = l->sample_slot[PF_SLOT_TIME];
    pf_plain_layout p = {.shape = pf_sample_shape_of(l->sample_type),
                  .time_at = slot < 0 ? -1 : PF_PERF_RECORD_HEADER + 8 * slot};
    p.least = p.shape.known ? PF_PERF_RECORD_HEADER + p.shape.least : SIZE_MAX;
    return p;
}

/* The bytes that the plain sample at `p` takes, of `left` that are there; 0: it is none.  For such
 * a sample this comes to the same as pf_record_fit_record(). */
static inline __attribute__((always_inline)) size_t
plain_sample(const pf_plain_layout *plain, const uint8_t *p, size_t left, bool swap)
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

/* Passes over whole plain samples in the first `most` bytes, from `at` on.  `mixed`: their events
 * have different layouts. */
static inline __attribute__((always_inline)) size_t
pass_plain_as(pf_record_fit *v, const uint8_t *bytes, size_t at, size_t most, bool mixed, bool swap)
{
    const perfile_session *s = v->session;
    const pf_ids *ids = pf_session_ids(s);
    size_t id_at = PF_PERF_RECORD_HEADER + 8 * (size_t)pf_session_sample_id_slot(s);
    size_t least = mixed ? id_at + 8 : PF_PERF_RECORD_HEADER;
    uint64_t id = 0;
    pf_plain_layout plain = {.least = SIZE_MAX};
    if (!mixed)
        plain = plain_of(pf_session_layout(s));
    while (most - at >= least) {
        const uint8_t *p = bytes + at;
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD));
        if (mixed && pf_load_u64(p + id_at, swap) != id) {
            id = pf_load_u64(p + id_at, swap);
            const perfile_event *owner = id ? perfile_session_event(s, pf_ids_find(ids, id)) : NULL;
            plain = owner ? plain_of(owner->layout) : (pf_plain_layout){.least = SIZE_MAX};
        }
        size_t size = plain_sample(&plain, p, most - at, swap);
        if (size == 0)
            break;
        if (plain.time_at >= 0)
            pf_record_fit_note_time(v, pf_load_u64(p + plain.time_at, swap));
        at += size;
    }
    return at;
}

static size_t pass_plain(pf_record_fit *v, perfile_bytes bytes, size_t at, size_t most)
{
    const perfile_session *s = v->session;
    const perfile_layout *all = pf_session_layout(s);
    if (perfile_session_n_events(s) == 0 || (!all && pf_session_sample_id_slot(s) < 0))
        return at;
    if (most > bytes.len)
        most = bytes.len;
    pf_record_fit seen = *v; /* kept in registers */
    if (!all)
        at = pass_plain_as(&seen, bytes.ptr, at, most, true, v->swap);
    else if (v->swap)
        at = pass_plain_as(&seen, bytes.ptr, at, most, false, true);
    else
        at = pass_plain_as(&seen, bytes.ptr, at, most, false, false);
    *v = seen;
    return at;
}

pf_salvage_result pf_perf_look_ahead(pf_record_fit *v, perfile_bytes bytes, bool last, bool island)
{
    pf_record_fit seen = *v;        /* with the times of records up to `at` … */
    pf_record_fit at_boundary = *v; /* … and of those that are handed out */
    size_t boundary = 0;
    size_t at = 0;
    while (at < bytes.len && at < CHUNK + ZONE) {
        pf_frame f;
        size_t whole = 0;
        perfile_record r;
        at = pass_plain(&seen, bytes, at, at < CHUNK ? CHUNK : CHUNK + ZONE);
        if (at <= CHUNK || boundary == 0) {
            boundary = at;
            at_boundary = seen;
        }
        if (at >= bytes.len || at >= CHUNK + ZONE)
            break;
        unsigned damage = frame(v, bytes, at, &f, &whole);
        if (damage && !last && damage != PERFILE_DAMAGE_BAD_SIZE)
            break;
        if (damage)
            return broken_at(v, bytes, at, damage, SEARCH, island);
        pf_record_fit_fill(v, bytes.ptr + at, &f, &r);
        uint32_t odd = pf_record_fit_record(&r);
        bool room = whole > LARGE || odd & PF_ODD_SLACK;
        odd &= PF_ODD_HARD;
        if (stray_attr(&seen, &r))
            odd |= PF_ODD_BODY;
        if (odd & PF_ODD_TYPE && begins_stream(v, bytes, at))
            break;
        if (!odd && room && r.type != PERFILE_RECORD_SAMPLE && !teaches(r.type) &&
            perfile_session_n_events(v->session)) {
            size_t resume = inside(v, bytes, at, whole);
            if (resume != SEARCH)
                return broken_at(v, bytes, at, PERFILE_DAMAGE_BAD_SIZE, resume, island);
        }
        if (odd) {
            size_t resume = examine(v, bytes, at, whole, odd);
            damage = odd & PF_ODD_ID ? PERFILE_DAMAGE_UNKNOWN_ID : PERFILE_DAMAGE_GARBAGE;
            if (resume != BELIEVE)
                return broken_at(v, bytes, at, damage, resume, island);
        }
        pf_record_fit_note_time(&seen, perfile_record_time(&r));
        at += whole;
        if (at <= CHUNK || teaches(r.type)) {
            boundary = at;
            at_boundary = seen;
        }
        if (teaches(r.type))
            break;
    }
    bool all = last && at >= bytes.len;
    *v = all ? seen : at_boundary;
    return (pf_salvage_result){.trusted = all ? at : boundary};
}
