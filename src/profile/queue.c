/* Batches of samples, and the threads that resolve them (see queue.h). */
#include "profile/queue.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "io/workers.h"

/* Under the fuzzer a batch is small, so that small captures have several. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BATCH_SAMPLES = 3 };
#else
enum { BATCH_SAMPLES = 1 << 10 }; /* at most */
#endif

enum {
    BATCH_BYTES = 128 << 10, /* limit for chains and records; one sample may exceed it */
    MOST_RECORD = 32 << 10,  /* longest record that is copied */
    MOST_KEPT = 128 << 20,   /* limit for the tables of a thread that makes text */
    BATCHES_PER_THREAD = 3
};

/* Maps numbers in a thread's tables to numbers in the reader's profile. */
typedef struct numbers {
    uint32_t *at;
    size_t n, cap;
} numbers;

/* The state of a resolving thread. */
typedef struct state {
    pf_profile profile;
    pf_resolver resolver;
    size_t n_objects, n_frames, n_stacks; /* sizes of its tables when they were last handed over */
    numbers objects, frames, stacks;      /* in the caller's profile */
    void *text;                           /* from pf_queue_text.open; NULL: no text is made */
} state;

typedef struct batch {
    pf_unresolved *samples;
    perfile_record *records; /* for samples that have one; NULL until one has */
    size_t n;
    pf_buffer bytes; /* call chains and records */
    pf_buffer text;  /* text of the samples, if the form makes it in the threads */
    state *by;       /* the thread that resolved it … */
    pf_buffer objects, frames, stacks; /* … and its new items since its last batch */
    perfile_status status;
    perfile_error error;
} batch;

struct pf_queue {
    pf_resolver *resolver;    /* the reader's */
    pf_session_reader reader; /* registered with the session */
    perfile_status (*give)(void *user, const pf_unresolved *sample, perfile_error *err);
    void *user;
    const pf_queue_text *text; /* NULL: `give` gets samples */
    pf_workers *workers;
    state *states;
    unsigned n_states;
    pthread_mutex_t symbols; /* pf_resolver.lock */
    batch *batches;
    unsigned n_batches;
    batch *open;           /* the batch that is being filled, or NULL */
    perfile_status status; /* of the first failure */
    perfile_error error;
};

/* Code for any thread. */

/* Copies all items from number *from on and advances *from.  Returns false when out of memory. */
static bool hand_over(pf_buffer *out, const pf_intern *t, size_t *from)
{
    const size_t first = *from;
    *from = t->n;
    return first == t->n ||
           pf_buffer_append(out, pf_intern_at(t, (uint32_t)first), (t->n - first) * t->width);
}

static bool resolve_all(pf_resolver *resolver, batch *b)
{
    bool ok = true;
    for (size_t i = 0; i < b->n && ok; i++)
        ok = pf_resolve(resolver, &b->samples[i]);
    return ok;
}

static void resolve(batch *b)
{
    state *s = b->by;
    pf_profile *p = &s->profile;
    const bool ok = resolve_all(&s->resolver, b) &&
                    hand_over(&b->objects, &p->objects, &s->n_objects) &&
                    hand_over(&b->frames, &p->frames, &s->n_frames) &&
                    hand_over(&b->stacks, &p->stacks, &s->n_stacks);
    b->status = ok ? PERFILE_OK : pf_profile_fail(p, &b->error);
}

/* Makes the text of a batch.  Drops the thread's tables if they have become too large. */
static void make_text(const pf_queue *q, batch *b)
{
    state *s = b->by;
    bool ok = true;
    for (size_t i = 0; i < b->n && ok; i++)
        ok = q->text->put(s->text, &b->samples[i], &b->text);
    b->status = ok ? PERFILE_OK : pf_profile_fail(&s->profile, &b->error);
    if (ok && s->profile.budget.used > MOST_KEPT) {
        q->text->forget(s->text);
        if (!pf_resolver_forget(&s->resolver, false))
            b->status = pf_fail_nomem(&b->error, "profile");
    }
}

static void run_slot(void *user, unsigned slot, unsigned thread)
{
    pf_queue *q = user;
    batch *b = &q->batches[slot];
    b->by = &q->states[thread];
    if (q->text)
        make_text(q, b);
    else
        resolve(b);
}

/* Code for the caller's thread. */

/* Appends the number of one more item.  Returns false if `number` is none, or when out of
 * memory. */
static bool add_number(pf_budget *budget, numbers *n, uint32_t number)
{
    if (number == PF_INTERN_NONE)
        return false;
    if (n->n == n->cap) {
        const size_t cap = n->cap ? n->cap + n->cap / 2 : 256;
        uint32_t *at = pf_budget_realloc(budget, n->at, n->cap, cap, sizeof *at);
        if (!at)
            return false;
        n->at = at;
        n->cap = cap;
    }
    n->at[n->n++] = number;
    return true;
}

/* Adds the new items of a batch to the profile.  Returns false when out of memory or over the
 * limit. */
static bool translate(pf_queue *q, batch *b)
{
    pf_profile *p = q->resolver->profile;
    pf_budget *budget = &p->budget;
    state *s = b->by;
    const pf_object *objects = (const void *)b->objects.ptr;
    const pf_call_frame *frames = (const void *)b->frames.ptr;
    const pf_call_stack *stacks = (const void *)b->stacks.ptr;
    bool ok = true;
    for (size_t i = 0; i < b->objects.len / sizeof *objects && ok; i++)
        ok = add_number(budget, &s->objects, pf_profile_object(p, &objects[i].first));
    for (size_t i = 0; i < b->frames.len / sizeof *frames && ok; i++) {
        const pf_call_frame *f = &frames[i];
        const uint32_t object = f->object == PF_NO_OBJECT ? f->object : s->objects.at[f->object];
        ok = add_number(budget, &s->frames,
                        pf_resolve_frame(q->resolver, object, f->code, f->offset, f->symbol));
    }
    for (size_t i = 0; i < b->stacks.len / sizeof *stacks && ok; i++) {
        const pf_call_stack *c = &stacks[i];
        const bool is_empty = s->stacks.n == PF_EMPTY_STACK;
        ok = add_number(budget, &s->stacks,
                        is_empty
                            ? PF_EMPTY_STACK
                            : pf_profile_stack(p, s->stacks.at[c->parent], s->frames.at[c->frame]));
    }
    return ok;
}

/* Adds the new items of a batch, and translates its numbers to the profile's. */
static perfile_status renumber(pf_queue *q, batch *b, perfile_error *err)
{
    const numbers *stacks = &b->by->stacks, *frames = &b->by->frames;
    if (b->status != PERFILE_OK) {
        *err = b->error;
        return b->status;
    }
    if (!translate(q, b))
        return pf_profile_fail(q->resolver->profile, err);
    for (size_t i = 0; i < b->n; i++) {
        pf_profiled *s = &b->samples[i].s;
        s->stack = stacks->at[s->stack];
        if (s->frame != PF_INTERN_NONE)
            s->frame = frames->at[s->frame];
    }
    return PERFILE_OK;
}

/* Passes on the samples or text of a batch, and empties it.  After a failure nothing is passed
 * on. */
static void give_on(pf_queue *q, batch *b)
{
    if (q->text && q->status == PERFILE_OK) {
        const perfile_bytes text = {b->text.ptr, b->text.len};
        q->status = b->status;
        q->error = b->error;
        if (q->status == PERFILE_OK && text.len)
            q->status = q->text->write(q->text->user, text, &q->error);
    }
    for (size_t i = 0; i < b->n && !q->text && q->status == PERFILE_OK; i++)
        q->status = q->give(q->user, &b->samples[i], &q->error);
    b->n = 0;
    pf_buffer_clear(&b->text);
    pf_buffer_clear(&b->bytes);
    pf_buffer_clear(&b->objects);
    pf_buffer_clear(&b->frames);
    pf_buffer_clear(&b->stacks);
}

/* Waits for the oldest submitted batch and passes it on.  Returns false if there is none. */
static bool take_oldest(pf_queue *q)
{
    unsigned slot;
    if (!q->workers || !pf_workers_take(q->workers, &slot))
        return false;
    batch *b = &q->batches[slot];
    if (q->status == PERFILE_OK && !q->text)
        q->status = renumber(q, b, &q->error);
    give_on(q, b);
    return true;
}

/* Submits or resolves the batch that was being filled. */
static void close_batch(pf_queue *q)
{
    batch *b = q->open;
    q->open = NULL;
    if (q->workers) {
        pf_workers_submit(q->workers);
        return;
    }
    if (q->text)
        run_slot(q, 0, 0);
    else if (q->status == PERFILE_OK && !resolve_all(q->resolver, b))
        q->status = pf_profile_fail(q->resolver->profile, &q->error);
    give_on(q, b);
}

static batch *open_batch(pf_queue *q)
{
    if (!q->workers)
        return q->batches;
    if (pf_workers_full(q->workers))
        take_oldest(q);
    return &q->batches[pf_workers_slot(q->workers)];
}

static perfile_status status_of(const pf_queue *q, perfile_error *err)
{
    if (q->status != PERFILE_OK && err)
        *err = q->error;
    return q->status;
}

/* Returns true if a record can be copied as it is: it is contiguous and has no extra data after
 * it. */
static bool is_whole(const perfile_record *r)
{
    const size_t size = perfile_record_size(r);
    return r->header && size <= MOST_RECORD && !r->extra.len &&
           r->body.ptr == r->header + (size - r->body.len);
}

/* Copies bytes into the batch, padded to whole words.  The caller has reserved the room. */
static const uint8_t *copy_of(batch *b, const uint8_t *bytes, size_t n)
{
    uint8_t *at = b->bytes.ptr + b->bytes.len;
    if (n)
        memcpy(at, bytes, n);
    b->bytes.len += (n + 7) / 8 * 8;
    return at;
}

/* Adds a sample.  The caller has reserved the room. */
static void add(batch *b, const pf_unresolved *sample)
{
    pf_unresolved *u = &b->samples[b->n];
    const perfile_record *given = sample->s.record;
    *u = *sample;
    u->words = copy_of(b, sample->words, 8 * sample->n);
    if (given && is_whole(given)) {
        const size_t size = perfile_record_size(given);
        perfile_record *r = &b->records[b->n];
        *r = *given;
        r->header = copy_of(b, given->header, size);
        r->body.ptr = r->header + (size - given->body.len);
        u->s.record = r;
    }
    b->n++;
}

perfile_status pf_queue_put(pf_queue *q, const pf_unresolved *sample, perfile_error *err)
{
    const perfile_record *r = sample->s.record;
    const bool is_copied = !r || is_whole(r);
    const size_t size = 8 * sample->n + (r && is_copied ? perfile_record_size(r) + 8 : 0);
    if (q->open && (q->open->n == BATCH_SAMPLES || size > q->open->bytes.cap - q->open->bytes.len))
        close_batch(q);
    if (!q->open)
        q->open = open_batch(q);
    batch *b = q->open;
    if (r && !b->records)
        b->records = pf_alloc(BATCH_SAMPLES, sizeof *b->records);
    /* Only an empty batch grows: its data must not move. */
    if ((r && !b->records) ||
        (!b->n && !pf_buffer_reserve(&b->bytes, size < BATCH_BYTES ? BATCH_BYTES : size)))
        return pf_fail_nomem(err, "profile");
    add(b, sample);
    return is_copied ? status_of(q, err) : pf_queue_finish(q, err);
}

perfile_status pf_queue_finish(pf_queue *q, perfile_error *err)
{
    if (q->open)
        close_batch(q);
    while (take_oldest(q))
        ;
    return status_of(q, err);
}

bool pf_queue_forget(pf_queue *q)
{
    bool ok = true;
    for (unsigned i = 0; i < q->n_states && ok; i++) {
        state *s = &q->states[i];
        s->n_objects = s->n_frames = s->n_stacks = 0;
        s->objects.n = s->frames.n = s->stacks.n = 0;
        ok = pf_resolver_forget(&s->resolver, false);
    }
    return ok && pf_resolver_forget(q->resolver, true);
}

/* Ends the threads and drops all samples in the queue. */
static void drop(pf_queue *q)
{
    pf_workers_free(q->workers);
    q->workers = NULL;
    for (unsigned i = 0; i < q->n_batches; i++)
        q->batches[i].n = 0;
    q->open = NULL;
}

/* Called by pf_session_reader before the session changes. */
static void before_change(void *user, bool last)
{
    pf_queue *q = user;
    if (last) /* data that samples refer to may be gone: drop them */
        drop(q);
    else
        (void)pf_queue_finish(q, NULL); /* an error is stored for the next call */
}

/* Makes a resolver with its own tables and the settings of `like`. */
static bool init_state(state *s, const pf_resolver *like, const pf_queue_text *text)
{
    if (!pf_profile_init(&s->profile, like->profile->budget.limit) ||
        !pf_resolver_init(&s->resolver, &s->profile, like->model))
        return false;
    pf_resolver_set_like(&s->resolver, like);
    s->text = text ? text->open(text->user, &s->resolver) : NULL;
    return s->text || !text;
}

/* Makes the states of all threads.  Returns false when out of memory. */
static bool init_states(pf_queue *q, unsigned threads)
{
    q->states = pf_alloc(threads, sizeof *q->states);
    if (!q->states)
        return false;
    while (q->n_states < threads) {
        if (!init_state(&q->states[q->n_states++], q->resolver, q->text))
            return false;
    }
    return true;
}

static bool init_batches(pf_queue *q, unsigned n)
{
    q->batches = pf_alloc(n, sizeof *q->batches);
    if (!q->batches)
        return false;
    while (q->n_batches < n) {
        batch *b = &q->batches[q->n_batches++];
        b->samples = pf_alloc(BATCH_SAMPLES, sizeof *b->samples);
        if (!b->samples)
            return false;
    }
    return true;
}

perfile_status
pf_queue_new(pf_resolver *resolver, const perfile_session *session, unsigned threads,
             perfile_status (*give)(void *user, const pf_unresolved *sample, perfile_error *err),
             void *user, const pf_queue_text *text, pf_queue **out, perfile_error *err)
{
    pf_queue *q = pf_alloc(1, sizeof *q);
    if (!q)
        return pf_fail_nomem(err, "profile");
    *q = (pf_queue){.resolver = resolver, .give = give, .user = user, .text = text};
    q->reader = (pf_session_reader){.before_change = before_change, .user = q};
    pf_session_add_reader(session, &q->reader);
    pthread_mutex_init(&q->symbols, NULL);
    const unsigned n = threads > 1 ? BATCHES_PER_THREAD * threads : 1;
    perfile_status st = PERFILE_OK;
    if (threads > 1)
        resolver->lock = &q->symbols;
    if (!init_batches(q, n) || ((threads > 1 || text) && !init_states(q, threads ? threads : 1)))
        st = pf_fail_nomem(err, "profile");
    if (st == PERFILE_OK && threads > 1)
        st = pf_workers_new(threads, n, run_slot, q, &q->workers, err);
    if (st == PERFILE_OK)
        *out = q;
    else
        pf_queue_free(q);
    return st;
}

static void free_numbers(pf_budget *budget, numbers *n)
{
    pf_budget_free(budget, n->at, n->cap, sizeof *n->at);
}

void pf_queue_free(pf_queue *q)
{
    if (!q)
        return;
    drop(q);
    pf_session_remove_reader(&q->reader);
    pf_budget *budget = &q->resolver->profile->budget;
    for (unsigned i = 0; i < q->n_states; i++) {
        state *s = &q->states[i];
        if (s->text)
            q->text->close(s->text);
        free_numbers(budget, &s->objects);
        free_numbers(budget, &s->frames);
        free_numbers(budget, &s->stacks);
        pf_resolver_free(&s->resolver);
        pf_profile_free(&s->profile);
    }
    for (unsigned i = 0; i < q->n_batches; i++) {
        batch *b = &q->batches[i];
        pf_free(b->samples);
        pf_free(b->records);
        pf_buffer_free(&b->text);
        pf_buffer_free(&b->bytes);
        pf_buffer_free(&b->objects);
        pf_buffer_free(&b->frames);
        pf_buffer_free(&b->stacks);
    }
    pf_free(q->states);
    pf_free(q->batches);
    pthread_mutex_destroy(&q->symbols);
    q->resolver->lock = NULL;
    pf_free(q);
}
