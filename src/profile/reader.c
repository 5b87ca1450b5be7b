/* Samples of a capture (see reader.h).
 *
 * Fields at fixed offsets are read directly.  The call chain follows them, and only after READ
 * values some decoding is needed to find it.  A chain in native byte order is not copied here. */
#include "profile/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/layout.h"
#include "core/session.h"
#include "io/workers.h"
#include "perfile/profile.h"
#include "profile/queue.h"
#include "profile/profile.h"
#include "schema/types.h"
#include "schema/rows.h"
#include "base/byte_order.h"
#include "perfile/abi.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { THREAD_SLOTS = 8 };
#else
enum { THREAD_SLOTS = 4096 }; /* 160 KiB */
#endif

/* The name of a thread at times from `first` to `last`. */
typedef struct pf_thread_slot {
    uint64_t first, last;
    const char *comm; /* in the profile; NULL: unknown */
    uint32_t pid, tid;
    bool used;
} pf_thread_slot;

/* A call chain in native byte order. */
typedef struct chain {
    const uint8_t *words;
    size_t n;
    size_t at; /* offset of its length in the body; 0: no chain */
} chain;

bool pf_profile_reader_init(pf_profile_reader *x, pf_profile *profile,
                            const perfile_session *session, const perfile_model *model,
                            bool (*take)(void *user, const pf_profiled *sample), void *user)
{
    *x = (pf_profile_reader){
        .profile = profile,
        .session = session,
        .model = model,
        .take = take,
        .user = user,
        .now = PERFILE_NO_TIME,
        .deferred = {.seed = pf_index_seed(x), .limit = pf_session_held_bytes(session)}};
    x->threads = pf_alloc(THREAD_SLOTS, sizeof *x->threads);
    return x->threads && pf_resolver_init(&x->resolver, profile, model);
}

void pf_profile_reader_free(pf_profile_reader *x)
{
    pf_queue_free(x->queue);
    pf_resolver_free(&x->resolver);
    pf_deferred_free(&x->deferred);
    pf_unwinder_free(&x->unwinder);
    pf_buffer_free(&x->chain);
    pf_buffer_free(&x->unwound);
    pf_free(x->threads);
    pf_free(x->events);
    *x = (pf_profile_reader){0};
}

bool pf_profile_reader_unwind(pf_profile_reader *x, perfile_symbols *symbols)
{
    return !x->model || pf_unwinder_init(&x->unwinder, x->session, symbols, x->model);
}

const char *pf_profile_reader_comm(pf_profile_reader *x, uint32_t pid, uint32_t tid, uint64_t time,
                                   bool *ok)
{
    if (!x->model)
        return NULL;
    pf_thread_slot *s = &x->threads[(tid ^ pid * 0x9e3779b1U) % THREAD_SLOTS];
    if (s->used && s->tid == tid && s->pid == pid && time >= s->first && time <= s->last)
        return s->comm;
    pf_reach reach;
    const char *name = pf_model_comm(x->model, pid, tid, time, &reach);
    const char *comm = name ? pf_profile_text(x->profile, name) : NULL;
    *ok = *ok && (comm || !name);
    *s = (pf_thread_slot){reach.first, reach.last, comm, pid, tid, comm || !name};
    return comm;
}

const char *pf_profile_reader_event(pf_profile_reader *x, const perfile_event *e, bool *ok)
{
    if (!e)
        return NULL;
    if (e->index >= x->n_events) {
        size_t n = (size_t)e->index + e->index / 2 + 8;
        struct pf_event_text *grown = pf_realloc(x->events, n, sizeof *grown);
        if (!grown) {
            *ok = false;
            return NULL;
        }
        memset(grown + x->n_events, 0, (n - x->n_events) * sizeof *grown);
        x->events = grown;
        x->n_events = n;
    }
    struct pf_event_text *known = &x->events[e->index];
    if (known->name != e->name) { /* new, or renamed by a record */
        const char *text = pf_profile_text(x->profile, e->name);
        if (!text) {
            *ok = false;
            return NULL;
        }
        *known = (struct pf_event_text){e->name, text};
    }
    return known->text;
}

bool pf_profile_reader_label(pf_profile_reader *x, const uint8_t *per, const pf_profiled *s,
                             pf_label *label)
{
    bool ok = true;
    char number[16];
    *label = (pf_label){.pid = PF_NO_LABEL, .tid = PF_NO_LABEL, .cpu = PF_NO_LABEL};
    for (; *per; per++) {
        switch (*per) {
        case PERFILE_PER_COMM:
            label->comm = pf_profile_reader_comm(x, s->pid, s->tid, s->time, &ok);
            if (label->comm || !ok)
                break;
            snprintf(number, sizeof number, ":%" PRId32, (int32_t)s->tid);
            label->comm = pf_profile_text(x->profile, number);
            ok = label->comm;
            break;
        case PERFILE_PER_PID:
            label->pid = s->pid;
            break;
        case PERFILE_PER_TID:
            label->tid = s->tid;
            break;
        case PERFILE_PER_EVENT:
            label->event = pf_profile_reader_event(x, s->event, &ok);
            break;
        case PERFILE_PER_CPU:
            label->cpu = s->cpu;
            break;
        default: /* a key of code locations */
            break;
        }
    }
    return ok;
}

/* Returns word `slot` of the body, or NULL if there is none. */
static inline const uint8_t *word_at(const perfile_record *r, int slot)
{
    return slot >= 0 && r->body.len >= 8 * ((size_t)slot + 1) ? r->body.ptr + 8 * slot : NULL;
}

/* Reads fields at fixed offsets.  Returns whether there is an IP; otherwise *ip is unchanged. */
static inline bool read_fields(const perfile_record *r, const perfile_layout *l, pf_profiled *s,
                               uint64_t *ip)
{
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    const uint8_t *at = word_at(r, l->sample_slot[PF_SLOT_TID]);
    if (at) {
        s->pid = pf_load_u32(at, swap);
        s->tid = pf_load_u32(at + 4, swap);
    }
    if ((at = word_at(r, l->sample_slot[PF_SLOT_TIME])))
        s->time = pf_load_u64(at, swap);
    if ((at = word_at(r, l->sample_slot[PF_SLOT_CPU])))
        s->cpu = pf_load_u32(at, swap);
    if ((at = word_at(r, l->sample_slot[PF_SLOT_PERIOD]))) {
        s->period = pf_load_u64(at, swap);
        s->has_period = true;
    } else {
        s->has_period = s->event && pf_event_fixed_period(s->event, &s->period);
    }
    if ((at = word_at(r, l->sample_slot[PF_SLOT_IP])))
        *ip = pf_load_u64(at, swap);
    return at;
}

/* Returns the offset in the body of the chain's length; 0 if the READ values before it are
 * unreadable. */
static size_t chain_offset(pf_profile_reader *x, const perfile_record *r, const perfile_layout *l)
{
    if (x->layout != l) { /* samples of one event mostly follow each other */
        x->layout = l;
        x->fixed_bytes = 8 * (size_t)__builtin_popcountll(l->sample_type & PF_SHAPE_WORDS);
    }
    const size_t at = x->fixed_bytes;
    if (!(l->sample_type & PERFILE_SAMPLE_READ))
        return at;
    const pf_context k = pf_context_of(l);
    perfile_read_values values = {0};
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    pf_cur_span(&c, at);
    pf_decode_read_values(&k, &c, &values);
    return c.bad ? 0 : (size_t)(c.pos - r->body.ptr);
}

/* Finds the call chain.  Returns false if a chain that should be there is unreadable, or when out
 * of memory (*ok). */
static bool find_chain(pf_profile_reader *x, const perfile_record *r, const perfile_layout *l,
                       chain *out, bool *ok)
{
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (!(l->sample_type & PERFILE_SAMPLE_CALLCHAIN))
        return true;
    size_t at = chain_offset(x, r, l);
    if (!at || at > r->body.len || r->body.len - at < 8)
        return false;
    uint64_t n = pf_load_u64(r->body.ptr + at, swap);
    if (n > (r->body.len - at - 8) / 8)
        return false;
    *out = (chain){r->body.ptr + at + 8, (size_t)n, at};
    if (!swap)
        return true;
    if (!pf_buffer_reserve(&x->chain, 8 * out->n)) {
        *ok = false;
        return false;
    }
    for (size_t i = 0; i < out->n; i++)
        pf_store_u64(x->chain.ptr + 8 * i, pf_load_u64(out->words + 8 * i, true), false);
    out->words = x->chain.ptr;
    return true;
}

/* Replaces marker and cookie by the user part that came later, `rest`, as stored. */
static bool join(pf_profile_reader *x, chain *c, perfile_bytes rest, bool swap)
{
    const size_t kept = c->n >= 2 ? c->n - 2 : 0;
    pf_buffer joined = {0};
    if (!pf_buffer_reserve(&joined, 8 * (kept + 1) + rest.len))
        return false;
    memcpy(joined.ptr, c->words, 8 * kept);
    pf_store_u64(joined.ptr + 8 * kept, PF_CONTEXT_USER, false);
    for (size_t i = 0; i < rest.len / 8; i++)
        pf_store_u64(joined.ptr + 8 * (kept + 1 + i), pf_load_u64(rest.ptr + 8 * i, swap), false);
    pf_buffer_free(&x->chain);
    x->chain = joined;
    c->words = joined.ptr;
    c->n = kept + 1 + rest.len / 8;
    return true;
}

/* A sample as it is stored. */
typedef struct stored {
    pf_profiled s;
    chain c;
    const perfile_layout *layout; /* NULL: unknown */
    uint64_t ip;
    size_t n_unwound; /* pf_unresolved.n_unwound */
    bool has_ip;
    bool waits; /* its user part comes later: the chain ends with a marker and a cookie */
    bool ok;    /* false: out of memory */
} stored;

/* Reads the needed fields of the sample `r`. */
static void read_sample(pf_profile_reader *x, const perfile_record *r, stored *out)
{
    const pf_attribution a = pf_attribution_of(r);
    *out = (stored){.s = {.record = r,
                          .event = a.event,
                          .time = x->now,
                          .pid = PERFILE_NO_PID,
                          .tid = PERFILE_NO_PID,
                          .cpu = PF_NO_LABEL,
                          .frame = PF_INTERN_NONE},
                    .layout = a.layout,
                    .ok = true};
    if (!a.layout)
        return;
    out->has_ip = read_fields(r, a.layout, &out->s, &out->ip);
    if (x->as) {
        out->s.event = x->as;
        out->s.period = r->time;
        out->s.has_period = true;
    }
    out->s.unreadable = !find_chain(x, r, a.layout, &out->c, &out->ok);
    out->s.chain = out->c.n ? PF_CHAIN_RECORDED : PF_CHAIN_NONE;
    if (out->c.n >= 2)
        out->waits = pf_load_u64(out->c.words + 8 * (out->c.n - 2), false) == PF_CONTEXT_DEFERRED;
}

/* Returns true if the chain has user addresses now or later. */
static bool has_user_part(const chain *c)
{
    bool user = true; /* addresses before the first marker are user code */
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t word = pf_load_u64(c->words + 8 * i, false);
        if (word == PF_CONTEXT_DEFERRED || (user && word < PF_CONTEXT_LEAST))
            return true;
        if (word >= PF_CONTEXT_LEAST)
            user = word == PF_CONTEXT_USER;
    }
    return false;
}

/* Joins the sample's chain (or its kernel address if it has none) and the unwound user
 * addresses. */
static bool append_user_part(pf_profile_reader *x, stored *in)
{
    const size_t n = x->unwinder.n_addresses;
    const bool kernel =
        !in->c.n && in->has_ip && pf_code_of_misc(in->s.record->misc) == PF_CODE_KERNEL;
    const uint64_t first[] = {PF_CONTEXT_KERNEL, in->ip}, marker = PF_CONTEXT_USER;
    pf_buffer *b = &x->unwound;
    pf_buffer_clear(b);
    if (!pf_buffer_reserve(b, 8 * (in->c.n + n + 3)) ||
        (in->c.n && !pf_buffer_append(b, in->c.words, 8 * in->c.n)) ||
        (kernel && !pf_buffer_append(b, first, sizeof first)) ||
        !pf_buffer_append(b, &marker, sizeof marker) ||
        !pf_buffer_append(b, x->unwinder.addresses, 8 * n))
        return false;
    in->c = (chain){b->ptr, b->len / 8, in->c.at};
    in->n_unwound = n;
    return true;
}

/* Unwinds the copied stack of a sample if its call chain has no user part. */
static bool unwind(pf_profile_reader *x, stored *in)
{
    const uint64_t needed = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    const perfile_record *r = in->s.record;
    perfile_sample v;
    if (!x->unwinder.symbols || !in->layout || (in->layout->sample_type & needed) != needed ||
        in->s.unreadable || has_user_part(&in->c) ||
        perfile_sample_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    pthread_mutex_t *lock = x->resolver.lock; /* protects the symbols */
    const uint64_t complete = x->unwinder.ends[PF_UNWIND_COMPLETE];
    if (lock)
        pthread_mutex_lock(lock);
    const perfile_status st =
        pf_unwind(&x->unwinder, in->s.pid, in->s.time, r->flags & PERFILE_REC_SWAPPED, &v.regs_user,
                  &v.stack_user);
    if (lock)
        pthread_mutex_unlock(lock);
    if (x->unwinder.n_addresses)
        in->s.chain =
            x->unwinder.ends[PF_UNWIND_COMPLETE] > complete ? PF_CHAIN_UNWOUND : PF_CHAIN_TRUNCATED;
    return st == PERFILE_OK && (!x->unwinder.n_addresses || append_user_part(x, in));
}

/* Replaces the user part by the calls of the branch stack.  Returns false when out of memory. */
static bool take_branches(pf_profile_reader *x, stored *in)
{
    if (!x->branch_chains || !in->c.n || !pf_branches_are_calls(in->s.event))
        return true;
    if (!pf_branches_chain(in->s.record, in->c.words, in->c.n, &x->unwound))
        return false;
    if (x->unwound.len)
        in->c = (chain){x->unwound.ptr, x->unwound.len / 8, in->c.at};
    return true;
}

/* Counts a sample and the data that it lacks. */
static void count_sample(pf_profile_counts *c, const pf_profiled *s, bool has_stack)
{
    c->samples++;
    c->unreadable += s->unreadable;
    c->without_stack += !has_stack;
    c->without_period += !s->has_period;
}

/* Passes on a resolved sample, or a note. */
static perfile_status hand_out(void *user, const pf_unresolved *resolved, perfile_error *err)
{
    pf_profile_reader *x = user;
    const pf_profiled *s = &resolved->s;
    bool ok = true;
    if (resolved->is_note)
        return x->note(x->user, s) ? PERFILE_OK : pf_profile_fail(x->profile, err);
    (void)pf_profile_reader_event(x, s->event, &ok);
    count_sample(&x->counts, s, s->stack != PF_EMPTY_STACK || s->frame != PF_INTERN_NONE);
    return ok && x->take(x->user, s) ? PERFILE_OK : pf_profile_fail(x->profile, err);
}

/* Completes the call chain of a sample and sends it to be resolved. */
static perfile_status give(pf_profile_reader *x, stored *in, perfile_error *err)
{
    if (!in->ok || !take_branches(x, in) || !unwind(x, in))
        return pf_profile_fail(x->profile, err);
    pf_unresolved sample = {.s = in->s,
                            .words = in->c.words,
                            .n = in->c.n,
                            .n_unwound = in->n_unwound,
                            .ip = in->ip,
                            .misc = in->s.record->misc,
                            .has_ip = in->has_ip};
    if (x->text)
        count_sample(&x->counts, &in->s, in->c.n || in->has_ip);
    if (!(x->text ? x->wants_records : (bool)x->note))
        sample.s.record = NULL;
    return pf_queue_put(x->queue, &sample, err);
}

perfile_status pf_profile_reader_note(pf_profile_reader *x, const pf_profiled *about,
                                      perfile_error *err)
{
    pf_unresolved note = {.s = *about, .is_note = true};
    note.s.stack = PF_EMPTY_STACK;
    note.s.frame = PF_INTERN_NONE;
    return pf_queue_put(x->queue, &note, err);
}

perfile_status pf_profile_reader_start(pf_profile_reader *x, unsigned threads, perfile_error *err)
{
    const bool alone = x->resolver.symbols; /* inlined functions are looked up in order */
    return pf_queue_new(&x->resolver, x->session, alone ? 1 : pf_workers_threads(threads), hand_out,
                        x, x->text, &x->queue, err);
}

/* Sends a waiting sample, with the user part of its call chain if that has come. */
static perfile_status give_entry(pf_profile_reader *x, const pf_held *e, perfile_error *err)
{
    const perfile_bytes bytes = pf_deferred_bytes(&x->deferred, e);
    perfile_record r = e->record;
    stored in;
    r.header = bytes.ptr;
    r.body.ptr = bytes.ptr + PF_PERF_RECORD_HEADER;
    read_sample(x, &r, &in);
    if (e->state == PF_HELD_COMPLETE && in.ok)
        in.ok =
            join(x, &in.c, pf_deferred_chain_of(&x->deferred, e), r.flags & PERFILE_REC_SWAPPED);
    if (e->state == PF_HELD_COMPLETE)
        in.s.chain = PF_CHAIN_DEFERRED;
    else if (e->state == PF_HELD_WAITING)
        in.s.chain = PF_CHAIN_INCOMPLETE;
    x->counts.deferred += e->state == PF_HELD_COMPLETE;
    x->counts.deferred_missing += e->state == PF_HELD_WAITING;
    return give(x, &in, err);
}

/* Sends the samples at the front of the waiting list that are complete; with `all`, incomplete ones
 * as well. */
static perfile_status give_held(pf_profile_reader *x, bool all, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && pf_deferred_n(&x->deferred)) {
        const pf_held *e = pf_deferred_at(&x->deferred, 0);
        if (e->state == PF_HELD_WAITING && !all &&
            pf_deferred_size(&x->deferred) <= x->deferred.limit)
            break;
        if (e->state != PF_HELD_CHAIN)
            st = give_entry(x, e, err);
        pf_deferred_yield(&x->deferred);
        pf_deferred_pop(&x->deferred);
    }
    return st;
}

/* Handles a CALLCHAIN_DEFERRED record: it completes the samples that wait for it. */
static perfile_status read_deferred(pf_profile_reader *x, const perfile_record *r,
                                    perfile_error *err)
{
    perfile_callchain_deferred v;
    uint32_t pid, tid = PERFILE_NO_PID;
    uint64_t found;
    if (perfile_callchain_deferred_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    if (!perfile_record_task(r, &pid, &tid))
        tid = PERFILE_NO_PID;
    const perfile_bytes rest = {v.ips.ptr, 8 * v.ips.n};
    perfile_status st = pf_deferred_complete(&x->deferred, tid, v.cookie, rest, &found, err);
    return st == PERFILE_OK ? give_held(x, false, err) : st;
}

/* Handles a sample.  It waits if its own chain, or that of an earlier sample, is incomplete. */
static perfile_status put_sample(pf_profile_reader *x, const perfile_record *r, perfile_error *err)
{
    stored in;
    read_sample(x, r, &in);
    if (!in.waits && !pf_deferred_n(&x->deferred))
        return give(x, &in, err);
    uint64_t cookie = 0;
    uint32_t chain_at = 0;
    if (in.waits) {
        cookie = pf_load_u64(in.c.words + 8 * (in.c.n - 1), false);
        chain_at = (uint32_t)(PF_PERF_RECORD_HEADER + in.c.at);
    }
    perfile_status st = pf_deferred_add(&x->deferred, r, chain_at, in.s.tid, cookie, err);
    return st == PERFILE_OK ? give_held(x, false, err) : st;
}

perfile_status pf_profile_reader_put_as(pf_profile_reader *x, const perfile_record *r,
                                        const perfile_event *event, uint64_t period,
                                        perfile_error *err)
{
    stored in;
    read_sample(x, r, &in);
    in.s.event = event;
    in.s.period = period;
    in.s.has_period = true;
    return give(x, &in, err);
}

perfile_status pf_profile_reader_put(pf_profile_reader *x, const perfile_record *r,
                                     perfile_error *err)
{
    if (r->family != PERFILE_FAMILY_PERF)
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_SAMPLE)
        return put_sample(x, r, err);
    return r->type == PERFILE_RECORD_CALLCHAIN_DEFERRED ? read_deferred(x, r, err) : PERFILE_OK;
}

perfile_status pf_profile_reader_end(pf_profile_reader *x, perfile_error *err)
{
    perfile_status st = give_held(x, true, err);
    return st == PERFILE_OK ? pf_queue_finish(x->queue, err) : st;
}

/* Call chains from branch stacks. */

bool pf_branches_are_calls(const perfile_event *event)
{
    return event && event->attr->branch_sample_type & PERFILE_BRANCH_CALL_STACK;
}

/* Returns the number of words up to and including the marker of the user part; 0: no user part. */
static size_t user_part_at(const uint8_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pf_load_u64(words + 8 * i, false) == PF_CONTEXT_USER)
            return i + 1;
    return 0;
}

bool pf_branches_chain(const perfile_record *r, const uint8_t *words, size_t n, pf_buffer *out)
{
    perfile_sample v;
    perfile_branch_entry entry;
    const size_t kept = user_part_at(words, n);
    pf_buffer_clear(out);
    if (!kept || perfile_sample_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    perfile_list list = v.branch_stack.lbr;
    for (bool first = true; perfile_branch_entry_next(&list, &entry, sizeof entry) == PERFILE_OK;
         first = false) {
        if (first && (!pf_buffer_append(out, words, 8 * kept) ||
                      !pf_buffer_append(out, &entry.to, sizeof entry.to)))
            return false;
        if (!pf_buffer_append(out, &entry.from, sizeof entry.from))
            return false;
    }
    return true;
}
