/* Rewrites one record of an input for the output.
 *
 * The body is walked field by field; the kind of each field selects a rule of format/merging.def
 * (ids, times, pids, cgroups ...). Samples and trailers are also converted to the layout of the
 * output (transform/relayout.h); then the words at fixed offsets are patched by the plan of their
 * event. A record is left out and counted if its event is unknown, because then no reader of the
 * output could read it. */
#include "base/error.h"
#include "base/byte_order.h"
#include "core/encode.h"
#include "core/layout.h"
#include "core/swap.h"
#include "perfile/encode.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "sort/merge.h"
#include "schema/command.h"
#include "core/command.h"

enum {
    MOST = UINT16_MAX, /* bytes of a record: header.size has 16 bits */
    MOST_HOST = 256,   /* of a host name in a COMM */
    MOST_TRAILER = 64
};

/* A record that is being rewritten. */
typedef struct rewriting {
    pf_merge *x;
    pf_merge_input *in;
    const perfile_record *r;
    const pf_merge_event *event; /* NULL if the record has none, or the event is unknown */
    uint8_t *out;                /* header of the new record */
    uint8_t *end;                /* end of the bytes written so far */
    uint64_t front;              /* fields before this offset of the old record are done … */
    uint64_t shift;              /* … and later fields moved by this many bytes, modulo 2^64 */
    bool swap;
    perfile_status st;
    perfile_error *err;
} rewriting;

/* Reads or writes a field of 4 or 8 bytes. */
static uint64_t load(const uint8_t *p, uint64_t width, bool swap)
{
    return width == 8 ? pf_load_u64(p, swap) : pf_load_u32(p, swap);
}

static void store(uint8_t *p, uint64_t width, uint64_t v, bool swap)
{
    if (width == 8)
        pf_store_u64(p, v, swap);
    else
        pf_store_u32(p, (uint32_t)v, swap);
}

/* Stores the first error, with the offset of the record. */
static void fail(rewriting *w, perfile_status st)
{
    if (w->st == PERFILE_OK) {
        w->st = st;
        pf_error_at(w->err, w->r->offset);
    }
}

/* Converts an id. 0 means "none", which readers take as the first event: in a part of a recording
 * it stays 0 if the event of the record is the first one in the output, too. In an input with a
 * single event, every id means that event, except for stream ids. */
static uint64_t new_id(rewriting *w, uint64_t id, bool stream)
{
    uint64_t out = id;
    if (id == 0 && (stream || (w->in->is_part && w->event && w->event->out == 0)))
        return 0;
    bool foreign = id == 0 || (w->in->n_events == 1 && !stream);
    if (pf_merge_find_id(w->in, id, &out))
        return out;
    if (foreign && w->event)
        return w->event->first_id;
    perfile_status st = pf_merge_new_id(w->x, w->in, id, &out, w->err);
    if (st != PERFILE_OK)
        fail(w, st);
    return out;
}

/* Converts a pid or tid and remembers it for pf_merge_get_pid(). */
static uint64_t new_task(rewriting *w, uint64_t pid)
{
    bool is_new;
    if (pid > UINT32_MAX || !pf_merge_pid_moves(w->in, (uint32_t)pid))
        return pid;
    if (!pf_pids_add(&w->in->moved_pids, (uint32_t)pid, &is_new))
        fail(w, pf_fail_nomem(w->err, "merge"));
    return pid + (uint64_t)w->in->host * PERFILE_MERGE_PIDS;
}

/* Adds the offset of the input to a time. Fails if the result would wrap around or be a value that
 * means "no time" (0 and PERFILE_NO_TIME). */
static uint64_t new_time(rewriting *w, uint64_t time)
{
    const uint64_t offset = w->in->offset;
    if (time == 0 || time == PERFILE_NO_TIME)
        return time;
    /* The offset is signed, in two's complement. It is negative if its highest bit is set. */
    uint64_t moved = time + offset;
    bool back = offset >> 63;
    bool off = back ? moved >= time || moved == 0 : moved < time || moved == PERFILE_NO_TIME;
    if (off)
        fail(w, pf_fail(w->err, PERFILE_E_USAGE, "merge.offset",
                        "%s: time %llu with an offset of %lld is outside the clock of the output: "
                        "give another input first, or other offsets",
                        w->in->name, (unsigned long long)time, (long long)offset));
    return off ? time : moved;
}

/* Applies a rule to the value of a field. */
static uint64_t apply_rule(rewriting *w, unsigned rule, uint64_t v)
{
    switch (rule) {
    case PF_MERGE_ID:
        return new_id(w, v, false);
    case PF_MERGE_STREAM:
        return new_id(w, v, true);
    case PF_MERGE_EVENT:
        return v < w->in->n_events ? w->in->events[v].out : v;
    case PF_MERGE_TASK:
        return w->x->options.flags & PERFILE_MERGE_MAP_PIDS ? new_task(w, v) : v;
    case PF_MERGE_TIME:
        return new_time(w, v);
    case PF_MERGE_BASE:
        return v + w->in->offset;
    case PF_MERGE_CGROUP:
        return v ? v + ((uint64_t)w->in->host << 56) : 0;
    default:
        return v;
    }
}

/* Visitor: changes the field, or each word of a list, in the new record. */
static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    rewriting *w = user;
    unsigned rule = w->x->rules[f->kind];
    /* Computed fields are not stored; fields before `front` were patched by the plan. */
    if (rule == PF_MERGE_KEEP || f->flags & PERFILE_FIELD_CALC || v->offset < w->front)
        return;
    uint64_t n = f->type == PERFILE_STORED_WORDS ? v->u.words.n : 1;
    uint64_t width = f->type == PERFILE_STORED_WORDS ? v->u.words.width : v->width;
    if (width != 4 && width != 8)
        return;
    uint8_t *at = w->out + v->offset + w->shift;
    for (uint64_t i = 0; i < n && w->st == PERFILE_OK; i++, at += width)
        store(at, width, apply_rule(w, rule, load(at, width, w->swap)), w->swap);
}

static void on_group(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Changes the fields of the body from offset `front` on, by their kinds. They are `shift` bytes
 * further in the new record. If the walk stops at damage, the rest stays as copied. */
static void change_fields(rewriting *w, uint64_t front, uint64_t shift)
{
    static const perfile_visitor visitor = {sizeof visitor, on_value, on_group, on_end};
    w->front = front;
    w->shift = shift;
    (void)perfile_record_walk(w->r, PERFILE_WALK_ALL, &visitor, w, NULL);
}

/* Applies a rule to the 64-bit word at `at`. With TASK the word is two 32-bit fields, pid and tid.
 */
static void change_word(rewriting *w, unsigned rule, uint8_t *at)
{
    if (rule != PF_MERGE_TASK) {
        pf_store_u64(at, apply_rule(w, rule, pf_load_u64(at, w->swap)), w->swap);
        return;
    }
    for (unsigned half = 0; half < 8; half += 4)
        store(at + half, 4, apply_rule(w, rule, pf_load_u32(at + half, w->swap)), w->swap);
}

static perfile_status too_long(const rewriting *w, size_t n)
{
    const char *name = pf_record_type_name(w->r->type);
    perfile_status st = pf_fail(w->err, PERFILE_E_LIMIT, "record.size",
                                "%s: a %s record of %zu bytes would have %zu, 65,535 are the most",
                                w->in->name, name ? name : "unknown", perfile_record_size(w->r), n);
    pf_error_at(w->err, w->r->offset);
    return st;
}

/* Returns the value of an added IDENTIFIER: the converted ID field at `at`, or the first id of the
 * event if `at` is NULL. */
static uint64_t id_to_add(rewriting *w, const uint8_t *at)
{
    if (at)
        return new_id(w, pf_load_u64(at, w->swap), false);
    return w->event ? w->event->first_id : 0;
}

/* Writes a sample. PERFILE_E_CORRUPT: the sample is shorter than its layout. */
static perfile_status rewrite_sample(rewriting *w, const pf_merge_plan *p)
{
    const perfile_layout *from = &p->relayout.from;
    const int id_slot = from->sample_slot[PF_SLOT_ID];
    const bool adds = w->x->adds_ids && from->sample_slot[PF_SLOT_IDENTIFIER] < 0;
    uint64_t id = 0;
    size_t len;
    if (w->r->body.len < 8 * (size_t)p->relayout.front.old)
        return PERFILE_E_CORRUPT;
    if (adds)
        id = id_to_add(w, id_slot < 0 ? NULL : w->r->body.ptr + 8 * (size_t)id_slot);
    perfile_status st = pf_relayout_record(&p->relayout, w->r, id, w->out, &len, w->err);
    if (st == PERFILE_E_LIMIT)
        return too_long(w, perfile_record_size(w->r) + 8);
    if (st != PERFILE_OK)
        return st;
    w->end = w->out + len;
    for (unsigned i = adds; i < p->n_sample; i++)
        change_word(w, p->sample[i].rule,
                    w->out + PF_PERF_RECORD_HEADER + 8 * (size_t)p->sample[i].slot);
    if (p->walk_sample)
        change_fields(w, PF_PERF_RECORD_HEADER + 8 * (uint64_t)p->relayout.front.old,
                      8 * (uint64_t)p->relayout.front.new - 8 * (uint64_t)p->relayout.front.old);
    return w->st;
}

/* Appends a trailer to a record of an input without sample_id_all, with all that is known about the
 * record. If the record has no time, its sort key is used, which is the time of the record before
 * it. */
static perfile_status add_trailer(rewriting *w)
{
    const perfile_event *e = perfile_session_event(w->x->base.session, w->event->out);
    perfile_sample_id v = {.pid = PERFILE_NO_PID,
                           .tid = PERFILE_NO_PID,
                           .time = w->in->key,
                           .id = w->event->first_id,
                           .cpu = UINT32_MAX,
                           .identifier = w->event->first_id};
    perfile_encode_options how = {.size = sizeof how,
                                  .layout = e->layout,
                                  .byte_order = pf_session_byte_order(w->x->base.session)};
    size_t len;
    uint32_t pid, tid;
    if (perfile_record_task(w->r, &pid, &tid)) {
        v.pid = (uint32_t)apply_rule(w, PF_MERGE_TASK, pid);
        v.tid = (uint32_t)apply_rule(w, PF_MERGE_TASK, tid);
    }
    v = pf_trailer_of(e->layout, &v);
    perfile_status st =
        perfile_sample_id_encode(&v, sizeof v, &how, w->end, MOST_TRAILER, &len, w->err);
    if (st != PERFILE_OK)
        return st;
    w->end += len;
    w->x->result.trailers++;
    return w->st;
}

/* PERFILE_MERGE_HOST_COMM: changes the name of a COMM record to "host:name", padded to 8 bytes
 * with at least one NUL. */
static void prefix_host_name(rewriting *w)
{
    enum { NAME_AT = PF_PERF_RECORD_HEADER + 8 };
    const char *host = perfile_session_fact(w->in->session, PERFILE_FACT_HOSTNAME);
    host = host ? host : w->in->name;
    size_t had = (size_t)(w->end - w->out) - NAME_AT;
    const uint8_t *name = w->out + NAME_AT;
    const uint8_t *nul = memchr(name, 0, had);
    size_t len = strnlen(host, MOST_HOST), old = nul ? (size_t)(nul - name) : had;
    memmove(w->out + NAME_AT + len + 1, name, old);
    memcpy(w->out + NAME_AT, host, len);
    w->out[NAME_AT + len] = ':';
    size_t n = len + 1 + old, filled = (n + 8) / 8 * 8;
    memset(w->out + NAME_AT + n, 0, filled - n);
    w->end = w->out + NAME_AT + filled;
}

/* Returns true for COMM records that get the name of their host. */
static bool gets_host_name(const rewriting *w)
{
    enum { LEAST = 8 };
    return w->r->type == PERFILE_RECORD_COMM && w->x->n_boots > 1 &&
           w->x->options.flags & PERFILE_MERGE_HOST_COMM &&
           w->end - w->out >= PF_PERF_RECORD_HEADER + LEAST;
}

/* Separates the body of a record from its trailer. Returns false if it has none. A record type
 * without a table is assumed to have a trailer if the id in it is an id of the input. */
static bool split_trailer(const rewriting *w, const perfile_layout *l, perfile_bytes *body,
                          perfile_bytes *trailer)
{
    const perfile_record *r = w->r;
    if (pf_record_known(r->type))
        return pf_record_split(r, l, false, body, trailer);
    *body = r->body;
    *trailer = (perfile_bytes){NULL, 0};
    int slot = l->trailer_size ? pf_layout_trailer_id(l) : -1;
    if (r->type >= PERFILE_RECORD_USER || slot < 1 || r->body.len < l->trailer_size)
        return false;
    const uint8_t *end = r->body.ptr + r->body.len;
    uint64_t id;
    if (!pf_merge_find_id(w->in, pf_load_u64(end - 8 * (size_t)slot, w->swap), &id))
        return false;
    body->len -= l->trailer_size;
    *trailer = (perfile_bytes){end - l->trailer_size, l->trailer_size};
    return true;
}

/* Returns true if the body has all fields of fixed size, so that a trailer may follow. */
static bool is_complete(const perfile_record *r)
{
    return pf_record_known(r->type) && r->body.len + 1 >= pf_record_fixed_plus_one[r->type];
}

/* Writes a record that is not a sample: body, then trailer. */
static perfile_status rewrite_other(rewriting *w, const pf_merge_plan *p)
{
    perfile_bytes body = w->r->body, trailer = {NULL, 0};
    bool has = p && split_trailer(w, &p->relayout.from, &body, &trailer);
    const size_t header = pf_family_header(w->r->family);
    memcpy(w->out, w->r->header, header);
    if (body.len)
        memcpy(w->out + header, body.ptr, body.len);
    w->end = w->out + header + body.len;
    if (w->in->rewrites_fields)
        change_fields(w, 0, 0);
    if (gets_host_name(w))
        prefix_host_name(w);
    if (w->st != PERFILE_OK || w->r->type >= PERFILE_RECORD_USER)
        return w->st;
    /* A tool may omit trailers if there is only one event. With several events in the output,
     * readers would take the end of the body for a trailer, so the record gets one. */
    bool bare = p && !has && w->event && is_complete(w->r);
    bool many = pf_session_n_events(w->x->base.session) > 1;
    if (bare && (p->add_trailer || (many && p->relayout.to.sample_id_all)))
        return add_trailer(w);
    if (!has)
        return PERFILE_OK;
    const perfile_layout *from = &p->relayout.from;
    const int id_slot = from->trailer_slot[PF_SLOT_ID];
    const bool adds = w->x->adds_ids && from->trailer_slot[PF_SLOT_IDENTIFIER] < 1;
    uint64_t id = 0;
    if (adds)
        id = id_to_add(w, id_slot < 1 ? NULL : trailer.ptr + trailer.len - 8 * (size_t)id_slot);
    w->end = pf_relayout_trailer(&p->relayout, trailer, w->swap ? pf_swap_u64(id) : id, w->end);
    for (unsigned i = adds; i < p->n_trailer; i++)
        change_word(w, p->trailer[i].rule, w->end - 8 * (size_t)p->trailer[i].slot);
    return w->st;
}

/* Returns true if a READ record means the same in the output. Without trailers it is read by the
 * read_format of the first event, which in the output may be from another input. */
static bool read_stays(const pf_merge *x, const pf_merge_event *event, const pf_merge_plan *plan)
{
    const perfile_event *first = perfile_session_event(x->base.session, 0);
    const uint64_t format = plan->relayout.from.read_format;
    if (!event || event->out == 0 || first->layout->sample_id_all)
        return true;
    return format == first->layout->read_format && format & PERFILE_FORMAT_ID;
}

/* Finds the event and plan of a kernel record. Returns false if the record cannot be read in the
 * output. A record of unknown event can still be read if all events of the input have the same
 * layout, and so do all events of the output. */
static bool find_plan(const pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                      const pf_merge_event **event, const pf_merge_plan **plan)
{
    const perfile_event *e = perfile_record_event(r);
    *event = NULL;
    *plan = in->n_plans == 1 ? &in->plans[0] : NULL;
    if (e) {
        *event = &in->events[e->index];
        *plan = &in->plans[(*event)->plan];
        return r->type != PERFILE_RECORD_READ || read_stays(x, *event, *plan);
    }
    if (in->n_events == 0 || (r->type != PERFILE_RECORD_SAMPLE && !pf_record_known(r->type))) {
        if (in->n_events && in->n_plans == 1)
            *event = &in->events[0];
        return true;
    }
    if (!*plan || !pf_session_layout(x->base.session))
        return false;
    if (r->type != PERFILE_RECORD_SAMPLE)
        *event = &in->events[0];
    return true;
}

/* Returns true for an EVENT_UPDATE with an id that belongs to none of several events. When it was
 * written there was a single event, and a reader took it for that one; in the output it would be
 * wrong. */
static bool updates_unknown_event(const pf_merge_input *in, const perfile_record *r)
{
    perfile_event_update v;
    return r->type == PERFILE_RECORD_EVENT_UPDATE && in->n_events > 1 &&
           perfile_event_update_decode(r, &v, sizeof v, NULL) == PERFILE_OK &&
           !perfile_session_event_by_id(in->session, v.id);
}

/* Stores the size and sets *out to the record at w->out. PERFILE_E_LIMIT: it is longer than 65,535
 * bytes. */
static perfile_status finish(const rewriting *w, perfile_record *out)
{
    size_t n = (size_t)(w->end - w->out);
    /* Records joined from fragments may be longer than header.size can express; they keep their
     * size. */
    if (n > MOST && n != perfile_record_size(w->r))
        return too_long(w, n);
    if (n <= MOST && w->r->type < PERFILE_RECORD_USER)
        pf_store_u16(w->out + PF_PERF_SIZE_AT, (uint16_t)n, w->swap);
    out->header = w->out;
    const size_t header = pf_family_header(w->r->family);
    out->body = (perfile_bytes){w->out + header, n - header};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    return PERFILE_OK;
}

/* 16 is for the padding of a COMM name, the colon and the NUL. */
size_t pf_merge_record_room(const perfile_record *r)
{
    return perfile_record_size(r) + PF_RELAYOUT_MAX_GROWTH + MOST_TRAILER + MOST_HOST + 16;
}

/* Tool records are not rewritten if nothing changes. Kernel records always are, because their
 * trailers may get another layout. */
perfile_status pf_merge_rewrite_record(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                       perfile_record *out, bool *drop, perfile_error *err)
{
    rewriting w = {.x = x,
                   .in = in,
                   .r = r,
                   .out = x->bytes.ptr + x->bytes.len,
                   .swap = r->flags & PERFILE_REC_SWAPPED,
                   .err = err};
    const pf_merge_plan *plan = NULL;
    *out = *r;
    out->session = x->base.session;
    out->part = x->parts ? in->first_part + r->part : in->at;
    if (r->flags & PERFILE_REC_TIMED)
        out->time = in->key;
    *drop = updates_unknown_event(in, r);
    if (!*drop && in->plain && r->type >= PERFILE_RECORD_USER)
        return PERFILE_OK;
    if (in->n_events == 1)
        w.event = &in->events[0]; /* also for tool records, which have ids */
    if (*drop || (r->type < PERFILE_RECORD_USER && !find_plan(x, in, r, &w.event, &plan))) {
        x->result.unattributed++;
        *drop = true;
        return PERFILE_OK;
    }
    w.end = w.out;
    perfile_status st = r->type == PERFILE_RECORD_SAMPLE && plan ? rewrite_sample(&w, plan)
                                                                 : rewrite_other(&w, plan);
    /* A record that is shorter than its layout is left out; the merge goes on. */
    if (st == PERFILE_E_CORRUPT || st == PERFILE_E_TRUNCATED) {
        x->result.unreadable++;
        *drop = true;
        return PERFILE_OK;
    }
    if (st == PERFILE_OK)
        st = finish(&w, out);
    if (st == PERFILE_OK)
        x->bytes.len += (size_t)(w.end - w.out);
    return st;
}
