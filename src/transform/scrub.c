/* perfile_scrub(): a stage that replaces bytes without a meaning (slack) by zeros.
 *
 * The walk over the fields of a record (schema/walk.c) finds these bytes, so no record type is
 * named here.  They are: padding, the rest of a field after the end of its text, and the bytes
 * after the valid ones of a stack; the number of valid bytes is the SIZE field that follows the
 * stack.  Records without such fields (PF_HAS_SLACK) are not walked, nor are samples without a
 * stack.
 *
 * A record is copied only if one of these bytes is not 0.  Then the stage yields a run of its own,
 * in which all other records point to the bytes below. */
#include "perfile/scrub.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "core/layout.h"
#include "core/swap.h"
#include "core/stream.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "schema/command.h"
#include "transform/command.h"

/* A range of slack in a body. */
typedef struct slack {
    size_t at, len;
} slack;

typedef struct scrubber {
    perfile_stream base;
    perfile_scrub_summary sum;
    const perfile_record *of; /* the run below from which base.run was made */
    uint64_t joined;          /* sequence of the last fragment that was joined with others */
    pf_buffer bytes;          /* changed records of the run; has room for all of them */
    /* Of the record that is walked: */
    const perfile_record *r;
    pf_buffer found;    /* its slack, if it is not 0 */
    size_t n_found;     /* bytes of slack that are not 0 */
    size_t n_values;    /* fields that have a value */
    slack stack;        /* the last field, if it was a stack; else len is 0 */
    bool out_of_memory; /* `found` is not complete */
} scrubber;

static size_t count_not_zero(const uint8_t *p, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += p[i] != 0;
    return count;
}

/* Notes slack of the record that is walked. */
static void note(scrubber *o, size_t at, size_t len)
{
    const slack s = {at, len};
    const size_t n = count_not_zero(o->r->body.ptr + at, len);
    if (n == 0)
        return;
    o->n_found += n;
    o->out_of_memory |= !pf_buffer_append(&o->found, &s, sizeof s);
}

/* perfile_visitor.value.  Offsets count from the body. */
static void on_value(void *user, const perfile_field *field, const perfile_value *value)
{
    scrubber *o = user;
    const size_t at = (size_t)value->offset, len = (size_t)value->width;
    const slack stack = o->stack;
    o->stack.len = 0;
    o->n_values++;
    if (field->flags & PERFILE_FIELD_PAD) {
        note(o, at, len);
    } else if (field->type == PERFILE_STORED_TEXT && value->u.bytes.ptr) {
        /* The length of a text may precede it in its field. */
        const size_t end =
            (size_t)(value->u.bytes.ptr - o->r->body.ptr) + (size_t)value->u.bytes.len;
        note(o, end, at + len - end);
    } else if (field->kind == PERFILE_KIND_STACK) {
        o->stack = (slack){at, len};
    } else if (field->kind == PERFILE_KIND_SIZE && value->number < stack.len) {
        note(o, stack.at + (size_t)value->number, stack.len - (size_t)value->number);
    }
}

static void on_begin(void *user, const perfile_field *field, const perfile_value *value)
{
    (void)user, (void)field, (void)value;
}

static void on_end(void *user, const perfile_field *field)
{
    (void)user, (void)field;
}

/* Finds the slack of `r` that is not 0.  A record that cannot be read completely is left
 * unchanged. */
static void find_slack(scrubber *o, const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = on_value, .begin = on_begin, .end = on_end};
    pf_parts p;
    pf_buffer_clear(&o->found);
    o->n_found = o->n_values = 0;
    if (pf_record_parts(r, &p, NULL) != PERFILE_OK)
        return;
    const pf_context k = pf_record_context(r, &p);
    pf_cursor c = pf_cur(p.body, r->flags & PERFILE_REC_SWAPPED);
    const pf_walker w = {&visitor, o, c.pos, 0, PERFILE_WALK_PADDING};
    o->r = r;
    o->stack.len = 0;
    pf_row_of(r)->walk(&k, &c, &w);
    if (c.bad)
        o->n_found = o->n_values = 0;
}

/* Returns true if the record may have slack, so it must be walked. */
static bool may_have_slack(const scrubber *o, const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    uint32_t damage;
    if (!row || !(row->has & PF_HAS_SLACK) || r->flags & PERFILE_REC_ENVELOPE || !r->body.len)
        return false;
    if (r->flags & PERFILE_REC_INNER && r->envelope == o->joined)
        return false; /* its fragments are not changed, so it is not either */
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF)
        return true;
    const perfile_layout *l = pf_layout_of(r, &damage);
    return l && l->sample_type & PERFILE_SAMPLE_STACK_USER;
}

/* Returns true if all records are samples without slack. */
static bool is_run_without_slack(const scrubber *o, const perfile_record *first, size_t n)
{
    const pf_batch b = pf_stream_batch(o->base.below, first, n);
    const perfile_layout *l = pf_session_layout(first->session);
    return b.samples_only && first->family == PERFILE_FAMILY_PERF && l &&
           !(l->sample_type & PERFILE_SAMPLE_STACK_USER);
}

/* Makes room for changed copies of first[0 .. n), so that copies do not move when others are
 * added. */
static bool make_room(scrubber *o, const perfile_record *first, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += perfile_record_size(&first[i]);
    pf_buffer_clear(&o->bytes);
    return pf_buffer_reserve(&o->bytes, all);
}

/* Puts a copy of first[i], with zeros for its slack, into the run of this stage.  A record that has
 * other fields then is left unchanged: whether an MMAP2 has `prot` is told by bytes that are slack
 * if it has none and its name is short. */
static void replace(scrubber *o, const perfile_record *first, size_t i)
{
    const perfile_record *r = &first[i];
    perfile_record *mine = &o->base.run[i];
    const size_t header = pf_family_header(r->family);
    const slack *found = (const slack *)(const void *)o->found.ptr;
    uint8_t *out = o->bytes.ptr + o->bytes.len;
    o->bytes.len += header + r->body.len;
    memcpy(out, r->header, header);
    memcpy(out + header, r->body.ptr, r->body.len);
    for (size_t k = 0; k < o->found.len / sizeof *found; k++)
        memset(out + header + found[k].at, 0, found[k].len);
    mine->header = out;
    mine->body.ptr = out + header;
    mine->flags &= (uint8_t)~PERFILE_REC_STABLE;
    const size_t zeroed = o->n_found, n_values = o->n_values;
    find_slack(o, mine);
    if (o->n_found || o->n_values != n_values) {
        *mine = *r;
        return;
    }
    o->sum.records++;
    o->sum.bytes += zeroed;
}

/* Scrubs a run.  If *changed, the result is in o->base.run. */
static perfile_status scrub_run(scrubber *o, const perfile_record *first, size_t n, bool *changed,
                                perfile_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = &first[i];
        if (pf_is_joined_fragment(r))
            o->joined = r->sequence;
        if (!may_have_slack(o, r))
            continue;
        find_slack(o, r);
        if (!o->n_found)
            continue;
        if (o->out_of_memory || (!*changed && !make_room(o, r, n - i)))
            return pf_fail_nomem(err, "scrub");
        if (!*changed)
            memcpy(o->base.run, first, n * sizeof *first);
        *changed = true;
        replace(o, first, i);
    }
    return PERFILE_OK;
}

/* pf_stream_ops.fill. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    scrubber *o = (scrubber *)(void *)s;
    const perfile_record *first;
    size_t n;
    bool changed = false;
    perfile_status st = perfile_stream_next_run(s->below, &first, &n, err);
    if (st == PERFILE_OK && first->family != PERFILE_FAMILY_DAMAGE &&
        !is_run_without_slack(o, first, n))
        st = scrub_run(o, first, n, &changed, err);
    if (st != PERFILE_OK)
        return st;
    o->of = first;
    if (changed) {
        s->n_run = (uint32_t)n;
    } else {
        s->at = first;
        s->end = first + n;
    }
    return PERFILE_OK;
}

/* pf_stream_ops.extra: the payload of a record is read from the stream below. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    const scrubber *o = (const scrubber *)(const void *)s;
    const bool mine = r >= s->run && r < s->run + s->n_run;
    return perfile_stream_extra(s->below, mine ? o->of + (r - s->run) : r, piece, err);
}

static void close_stage(perfile_stream *s)
{
    scrubber *o = (scrubber *)(void *)s;
    perfile_stream_close(s->below);
    pf_buffer_free(&o->bytes);
    pf_buffer_free(&o->found);
    pf_free(o);
}

static const pf_stream_ops scrub_ops = {.fill = fill, .extra = extra, .close = close_stage};

perfile_status perfile_scrub(perfile_stream *below, perfile_stream **stream, perfile_error *err)
{
    perfile_status st = pf_stream_unread(below, "scrub", err);
    scrubber *o = st == PERFILE_OK ? pf_alloc(1, sizeof *o) : NULL;
    if (st != PERFILE_OK)
        return st;
    if (!o)
        return pf_fail_nomem(err, "scrub");
    pf_stream_on(&o->base, &scrub_ops, below);
    o->joined = PERFILE_NO_SEQUENCE;
    *stream = &o->base;
    return PERFILE_OK;
}

void pf_scrub_get_summary(const perfile_stream *stream, perfile_scrub_summary *out, size_t size)
{
    const perfile_scrub_summary none = {0};
    const bool is = stream->ops == &scrub_ops;
    const perfile_scrub_summary *sum = is ? &((const scrubber *)(const void *)stream)->sum : &none;
    memcpy(out, sum, size < sizeof *sum ? size : sizeof *sum);
}
