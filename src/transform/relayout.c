/* Relayout of samples, trailers and READ records; see relayout.h.
 *
 * A sample has two parts.  Its front is 64-bit words of fixed position (IP, TID, TIME …): the plan
 * lists which ranges of words to copy, and where to insert an id.  The position of the later fields
 * depends on the fields before them (READ, CALLCHAIN, RAW …).  They are read as the decoder does,
 * by an expansion of the same tables (relayout.inc), and unwanted fields are left out of the copy.
 * Trailers have only words of fixed position; READ records have the fields of read_values. */
#include "transform/relayout.h"

#include <string.h>

#include "base/error.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "core/swap.h"
#include "core/session.h"
#include "schema/rows.h"
#include "schema/types.h"

enum { MAX_RECORD = UINT16_MAX }; /* bytes of a record */

static const uint64_t ids = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID;
static const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
/* The bits of branch_sample_type that decide which fields a branch stack has. */
static const uint64_t branch_fields = PERFILE_BRANCH_HW_INDEX | PERFILE_BRANCH_COUNTERS;

/* The state of copying fields from `c` to `out` without the unwanted ones. */
typedef struct rewriting {
    const pf_context *reading, *wanted; /* the existing fields, and those that remain */
    pf_cursor c;
    const uint8_t *kept; /* the bytes from here to c.pos are to be copied … */
    bool skipping;       /* … unless this is set: they are skipped */
    uint8_t *out;        /* end of the copy */
} rewriting;

/* Copies the bytes up to the cursor. */
static void copy_kept(rewriting *w)
{
    size_t n = (size_t)(w->c.pos - w->kept);
    memcpy(w->out, w->kept, n);
    w->out += n;
    w->kept = w->c.pos;
}

/* Skips the fields from here to end_skipping().  Returns false if fields are being skipped already;
 * then this call must have no end_skipping(). */
static bool begin_skipping(rewriting *w)
{
    if (w->skipping)
        return false;
    copy_kept(w);
    return w->skipping = true;
}

/* Copies the fields from here on again. */
static void end_skipping(rewriting *w)
{
    w->kept = w->c.pos;
    w->skipping = false;
}

#include "transform/relayout.inc"
#include "perfile/format/structs.def"
#include "transform/relayout.inc"
#include "perfile/format/sample.def"

/* The words of fixed position of a layout: for each its bit of sample_type. */
typedef struct words {
    uint8_t bit[64];
    uint8_t n;
} words;

/* Returns the words at the front of samples. */
static words front_words(const perfile_layout *l)
{
    words w = {.n = 0};
    for (uint8_t bit = 0; bit < sizeof l->sample_slot; bit++)
        if (l->sample_slot[bit] >= 0) {
            w.bit[l->sample_slot[bit]] = bit;
            w.n++;
        }
    return w;
}

/* Returns the words of the trailer.  Trailer slots are counted from the end of the record. */
static words trailer_words(const perfile_layout *l)
{
    words w = {.n = l->trailer_slots};
    for (uint8_t bit = 0; bit < sizeof l->trailer_slot; bit++)
        if (l->trailer_slot[bit] >= 1)
            w.bit[l->trailer_slots - l->trailer_slot[bit]] = bit;
    return w;
}

/* Plans the moves from the old words to the new ones.  A new word that is not an old word is the
 * id. */
static pf_relayout_words plan_words(words old, words new)
{
    pf_relayout_words p = {.old = old.n, .new = new.n, .same = old.n == new.n};
    for (uint8_t i = 0; i < new.n; i++) {
        uint8_t at = 0;
        while (at < old.n && old.bit[at] != new.bit[i])
            at++;
        p.same &= at == i;
        pf_relayout_move *last = p.n_moves ? &p.moves[p.n_moves - 1] : NULL;
        if (at < old.n && last && last->n && last->from + last->n == at)
            last->n++; /* the word follows the last move */
        else
            p.moves[p.n_moves++] = (pf_relayout_move){at, at < old.n};
    }
    p.adds_first = p.n_moves == 2 && !p.moves[0].n && !p.moves[1].from && p.moves[1].n == old.n;
    return p;
}

/* Fails because the record has no bytes for fields that the new layout needs. */
static perfile_status fail_without_value(const char *where, uint64_t bits, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, where,
                   "0x%llx is in the new layout and not in the old one: there is no value for "
                   "such fields",
                   (unsigned long long)bits);
}

/* Fails if the new layout has anything except ids that the old layout lacks. */
static perfile_status check_possible(const perfile_layout *from, const perfile_layout *to,
                                     perfile_error *err)
{
    const uint64_t type = from->sample_type & to->sample_type;
    uint64_t more = to->sample_type & ~from->sample_type & ~ids;
    if (more == PERFILE_SAMPLE_WEIGHT && from->sample_type & PERFILE_SAMPLE_WEIGHT_STRUCT)
        more = 0;
    if (more)
        return fail_without_value("layout.sample_type", more, err);
    if (to->sample_id_all && !from->sample_id_all)
        return fail_without_value("layout.sample_id_all", 1, err);
    more = to->read_format & ~from->read_format;
    if (more)
        return fail_without_value("layout.read_format", more, err);
    if ((from->read_format ^ to->read_format) & PERFILE_FORMAT_GROUP)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "layout.read_format",
                       "values of a group of counters and of one counter cannot be converted "
                       "to each other");
    more = to->branch_sample_type & ~from->branch_sample_type & branch_fields;
    if (type & PERFILE_SAMPLE_BRANCH_STACK && more)
        return fail_without_value("layout.branch_sample_type", more, err);
    if ((type & PERFILE_SAMPLE_REGS_USER && from->sample_regs_user != to->sample_regs_user) ||
        (type & PERFILE_SAMPLE_REGS_INTR && from->sample_regs_intr != to->sample_regs_intr))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "layout.sample_regs",
                       "the registers of the new layout are not those of the old one");
    return PERFILE_OK;
}

perfile_status pf_relayout_plan(pf_relayout *plan, const perfile_layout *from,
                                const perfile_layout *to, perfile_error *err)
{
    perfile_status st = check_possible(from, to, err);
    if (st != PERFILE_OK)
        return st;
    pf_relayout p = {.from = *from, .to = *to};
    p.front = plan_words(front_words(from), front_words(to));
    p.trailer = plan_words(trailer_words(from), trailer_words(to));

    /* The later fields are read with contexts without the bits of the front of either layout. */
    uint64_t fixed = 0;
    for (uint8_t bit = 0; bit < sizeof from->sample_slot; bit++)
        if (from->sample_slot[bit] >= 0 || to->sample_slot[bit] >= 0)
            fixed |= UINT64_C(1) << bit;
    p.reading = pf_context_of(&p.from);
    p.wanted = pf_context_of(&p.to);
    p.reading.layout = p.wanted.layout = NULL; /* they would point into `p`, but plans are copied */
    p.reading.sample_type &= ~fixed;
    p.wanted.sample_type &= ~fixed;
    /* WEIGHT and WEIGHT_STRUCT are one 64-bit word at the same position: it remains. */
    if (p.wanted.sample_type & weights)
        p.wanted.sample_type =
            (p.wanted.sample_type & ~weights) | (p.reading.sample_type & weights);
    p.same_read = from->read_format == to->read_format;
    p.same_rest = p.reading.sample_type == p.wanted.sample_type &&
                  (p.same_read || !(from->sample_type & PERFILE_SAMPLE_READ)) &&
                  (!((from->branch_sample_type ^ to->branch_sample_type) & branch_fields) ||
                   !(from->sample_type & PERFILE_SAMPLE_BRANCH_STACK));
    *plan = p;
    return PERFILE_OK;
}

bool pf_relayout_is_unchanged(const pf_relayout *plan, uint32_t type)
{
    if (type == PERFILE_RECORD_SAMPLE)
        return plan->front.same && plan->same_rest;
    if (type >= PERFILE_RECORD_USER)
        return true;
    return plan->trailer.same && (type != PERFILE_RECORD_READ || plan->same_read);
}

/* Writes the new words to `out` from the old words at `in`; returns the end. */
static uint8_t *put_words(const pf_relayout_words *p, const uint8_t *in, uint64_t id, uint8_t *out)
{
    for (const pf_relayout_move *move = p->moves; move < p->moves + p->n_moves; move++) {
        if (move->n)
            memcpy(out, in + 8 * move->from, 8 * (size_t)move->n);
        else
            memcpy(out, &id, sizeof id);
        out += move->n ? 8 * (size_t)move->n : sizeof id;
    }
    return out;
}

/* Copies `bytes` to w->out without the fields that `fields` skips; bytes after the last field are
 * copied.  Returns the damage, or 0. */
static unsigned rewrite(rewriting *w, perfile_bytes bytes, bool swap, void (*fields)(rewriting *))
{
    w->c = pf_cur(bytes, swap);
    w->kept = w->c.pos;
    fields(w);
    if (w->c.bad)
        return w->c.bad;
    w->c.pos = w->c.end;
    copy_kept(w);
    return 0;
}

/* Writes the body of a sample to *out and advances *out.  Returns the damage, or 0. */
static unsigned rewrite_body_of_sample(const pf_relayout *plan, const perfile_record *r,
                                       uint64_t id, uint8_t **out)
{
    size_t front = 8 * (size_t)plan->front.old;
    if (r->body.len < front)
        return PERFILE_DAMAGE_SHORT_BODY;
    *out = put_words(&plan->front, r->body.ptr, id, *out);
    perfile_bytes rest = {r->body.ptr + front, r->body.len - front};
    if (plan->same_rest) {
        memcpy(*out, rest.ptr, rest.len);
        *out += rest.len;
        return 0;
    }
    /* An empty branch stack is stored with or without hw_idx; only the record's size reveals it. */
    const pf_parts parts = {.layout = &plan->from, .body = r->body};
    pf_context reading = plan->reading, wanted = plan->wanted;
    reading.no_hw_idx = wanted.no_hw_idx = pf_record_context(r, &parts).no_hw_idx;
    rewriting w = {.reading = &reading, .wanted = &wanted, .out = *out};
    unsigned damage = rewrite(&w, rest, r->flags & PERFILE_REC_SWAPPED, rewrite_sample);
    *out = w.out;
    return damage;
}

/* Rewrites the fields of a READ record: pid and tid, then the values. */
static void rewrite_read(rewriting *w)
{
    pf_cur_span(&w->c, 8);
    if (!w->c.bad)
        rewrite_read_values(w);
}

static bool as_stored(const perfile_record *r)
{
    return r->session && pf_session_as_stored(r->session);
}

/* The same for the body and trailer of a kernel record that is not a sample. */
static unsigned rewrite_other(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                              uint8_t **out)
{
    perfile_bytes body, trailer;
    bool has = pf_record_split(r, &plan->from, as_stored(r), &body, &trailer);
    if (r->type == PERFILE_RECORD_READ && !plan->same_read) {
        rewriting w = {.reading = &plan->reading, .wanted = &plan->wanted, .out = *out};
        unsigned damage = rewrite(&w, body, r->flags & PERFILE_REC_SWAPPED, rewrite_read);
        *out = w.out;
        if (damage)
            return damage;
    } else if (body.len) {
        memcpy(*out, body.ptr, body.len);
        *out += body.len;
    }
    /* With sample_id_all and no id fields a trailer is empty, but an id may be inserted into it. */
    if (has || (plan->from.sample_id_all && plan->trailer.old == 0))
        *out = put_words(&plan->trailer, trailer.ptr, id, *out);
    return 0;
}

uint8_t *pf_relayout_trailer(const pf_relayout *plan, perfile_bytes trailer, uint64_t id,
                             uint8_t *out)
{
    return put_words(&plan->trailer, trailer.ptr, id, out);
}

/* Fails for a record with a trailer that cannot be found, or of a family without trailers. */
static perfile_status refuse_type(const perfile_record *r, perfile_error *err)
{
    perfile_status st =
        r->family != PERFILE_FAMILY_PERF
            ? pf_fail(err, PERFILE_E_USAGE, "record.family", "a record of family %u has no layout",
                      r->family)
            : pf_fail(err, PERFILE_E_UNSUPPORTED, "record.type",
                      "no table describes records of type %u: their trailer cannot be changed",
                      r->type);
    pf_error_at(err, r->offset);
    return st;
}

perfile_status pf_relayout_record(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                                  uint8_t *out, size_t *len, perfile_error *err)
{
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    const bool user = r->type >= PERFILE_RECORD_USER;
    const bool read = pf_record_known(r->type) || (pf_record_of_kernel(r->type) && !as_stored(r));
    if (r->family != PERFILE_FAMILY_PERF || (!user && !read && !plan->trailer.same))
        return refuse_type(r, err);
    uint8_t *end = out + PF_PERF_RECORD_HEADER;
    unsigned damage = 0;
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    if (swap)
        id = pf_swap_u64(id);
    /* `id` is now in the byte order of the record. */
    if (pf_relayout_is_unchanged(plan, r->type)) {
        if (r->body.len)
            memcpy(end, r->body.ptr, r->body.len);
        end += r->body.len;
    } else if (r->type == PERFILE_RECORD_SAMPLE) {
        damage = rewrite_body_of_sample(plan, r, id, &end);
    } else {
        damage = rewrite_other(plan, r, id, &end);
    }
    if (damage)
        return pf_fail_damage(err, damage, "relayout", r->offset);
    size_t n = (size_t)(end - out);
    if (n > MAX_RECORD && n != PF_PERF_RECORD_HEADER + r->body.len) {
        perfile_status st = pf_fail(err, PERFILE_E_LIMIT, "record.size",
                                    "a record of %zu bytes would have %zu in the new layout, "
                                    "65,535 are the most",
                                    PF_PERF_RECORD_HEADER + r->body.len, n);
        pf_error_at(err, r->offset);
        return st;
    }
    if (n <= MAX_RECORD && !user)
        pf_store_u16(out + PF_PERF_SIZE_AT, (uint16_t)n, swap);
    *len = n;
    return PERFILE_OK;
}
