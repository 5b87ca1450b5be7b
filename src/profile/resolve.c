/* Addresses to frames, chains to stacks (see resolve.h).
 *
 * The caches are direct-mapped tables: a key has one slot, and a new entry takes the place of
 * another one.  The seed keeps hostile input from choosing keys of one slot; even then an answer
 * costs no more than a search in the model.  Chains are compared word by word, so that an answer is
 * never wrong because of a hash.  When the memory for their words is full, all are forgotten.
 *
 * Caches and tables are larger than what the processor keeps close, and each step from a sample to
 * its stack depends on the one before.  So samples are resolved some at a time, step by step: what
 * the next step will look at is fetched (__builtin_prefetch()) for all of them before it is looked
 * at for the first. */
#include "profile/resolve.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "core/layout.h"
#include "symbol/state.h"

/* Slots are powers of two: 1.3 MiB of addresses, 3 MiB of chains, 16 KiB of mappings.  Under the
 * fuzzer they are few, so that captures of some KiB fill them, and clearing them is not most of a
 * run. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum {
    ADDRESS_BITS = 5,
    CHAIN_BITS = 5,
    MAPPING_BITS = 3,
    FIRST_WORDS = 1 << 6,
    MOST_WORDS = 1 << 10
};
#else
enum {
    ADDRESS_BITS = 15,
    CHAIN_BITS = 16,
    MAPPING_BITS = 10,
    FIRST_WORDS = 1 << 16,
    MOST_WORDS = 1 << 20 /* 8 MiB */
};
#endif

enum { TOGETHER = 64 }; /* samples that are resolved step by step */

/* An address, and its frame at the times from `first` to `last`. */
typedef struct pf_address_slot {
    uint64_t addr, first, last;
    uint32_t pid;
    uint32_t frame; /* number + 1; 0: the slot is free */
    uint32_t code;  /* PF_CODE_… that was asked for */
} pf_address_slot;

/* A chain of process `pid`, and its stack at the times from `first` to `last`. */
typedef struct pf_chain_slot {
    uint64_t hash, first, last;
    uint32_t pid;
    uint32_t at; /* of its words in pf_resolver.words */
    uint32_t n;  /* of its words; 0: the slot is free */
    uint32_t stack;
} pf_chain_slot;

/* A mapping of the model, and the number of the object that it shows. */
typedef struct pf_mapping_slot {
    const perfile_mapping *mapping; /* NULL: the slot is free */
    uint32_t object;
} pf_mapping_slot;

/* A sample whose stack is being worked out. */
typedef struct work {
    pf_unresolved *sample;
    uint64_t hash;     /* of its chain */
    pf_reach reach;    /* when the chain has the same stack */
    size_t frames;     /* where its frames are in pf_resolver.frames, innermost first */
    size_t n;          /* of them, that are not in `stack` yet */
    uint32_t stack;    /* so far */
    uint32_t next;     /* pf_intern_hash() of the next stack */
    bool is_new_chain; /* the stack is of its chain, which is not in the cache */
} work;

/* What the frames that are joined have in common. */
typedef struct pf_call {
    uint32_t object, code;
    uint32_t symbol; /* its number in the object, or PF_NO_SYMBOL */
    uint32_t zero;
    uint32_t frame; /* the key ends before it */
    uint32_t zero2;
} pf_call;

void pf_resolver_set_like(pf_resolver *x, const pf_resolver *like)
{
    x->joins = like->joins;
    x->joins_unnamed = like->joins_unnamed;
    x->joins_unmapped = like->joins_unmapped;
    x->functions = like->functions;
    x->lock = like->lock;
    x->own_frames = like->own_frames;
}

bool pf_resolver_init(pf_resolver *x, pf_profile *profile, const perfile_model *model)
{
    *x = (pf_resolver){.profile = profile, .model = model, .seed = pf_index_seed(x) | 1};
    x->calls = (pf_intern){.seed = x->seed,
                           .budget = &profile->budget,
                           .width = sizeof(pf_call),
                           .key = offsetof(pf_call, frame)};
    x->addresses = pf_alloc((size_t)1 << ADDRESS_BITS, sizeof *x->addresses);
    x->chains = pf_alloc((size_t)1 << CHAIN_BITS, sizeof *x->chains);
    x->mappings = pf_alloc((size_t)1 << MAPPING_BITS, sizeof *x->mappings);
    if (x->addresses && x->chains && x->mappings)
        return true;
    pf_resolver_free(x);
    return false;
}

void pf_resolver_free(pf_resolver *x)
{
    pf_free(x->addresses);
    pf_free(x->chains);
    pf_free(x->mappings);
    pf_free(x->words);
    pf_free(x->frames);
    pf_free(x->symbols_of);
    pf_free(x->inlined);
    pf_intern_free(&x->calls);
    pf_buffer_free(&x->inlined_frames);
    *x = (pf_resolver){0};
}

unsigned pf_code_of_misc(uint16_t misc)
{
    switch (misc & PERFILE_MISC_CPUMODE_MASK) {
    case PERFILE_MISC_CPUMODE_KERNEL:
        return PF_CODE_KERNEL;
    case PERFILE_MISC_CPUMODE_USER:
        return PF_CODE_USER;
    case PERFILE_MISC_CPUMODE_HYPERVISOR:
        return PF_CODE_HYPERVISOR;
    case PERFILE_MISC_CPUMODE_GUEST_KERNEL:
    case PERFILE_MISC_CPUMODE_GUEST_USER:
        return PF_CODE_GUEST;
    default:
        return PF_CODE_UNKNOWN;
    }
}

/* Narrows the times of *reach to those from `first` to `last`. */
static void narrow(pf_reach *reach, uint64_t first, uint64_t last)
{
    reach->first = first > reach->first ? first : reach->first;
    reach->last = last < reach->last ? last : reach->last;
}

/* A frame of a place in code, with the symbol there. */
static uint32_t new_frame(pf_resolver *x, uint32_t object, uint32_t code, uint64_t offset,
                          uint32_t symbol)
{
    const uint32_t number = pf_profile_frame(x->profile, object, code, offset);
    if (number != PF_INTERN_NONE)
        ((pf_call_frame *)pf_intern_at(&x->profile->frames, number))->symbol = symbol;
    return number;
}

uint32_t pf_resolve_frame(pf_resolver *x, uint32_t number, uint32_t code, uint64_t offset,
                          uint32_t symbol)
{
    const pf_object *object = pf_profile_object_at(x->profile, number);
    const pf_call key = {.object = number, .code = code, .symbol = symbol};
    const bool known = symbol != PF_NO_SYMBOL || (object && object->kind == PERFILE_MAPPING_SYMBOL);
    if (!x->joins || !(known || (object ? x->joins_unnamed : x->joins_unmapped)))
        return new_frame(x, number, code, offset, symbol);
    const size_t before = x->calls.n;
    const uint32_t call = pf_intern_add(&x->calls, &key);
    if (call == PF_INTERN_NONE)
        return PF_INTERN_NONE;
    pf_call *c = pf_intern_at(&x->calls, call);
    if (x->calls.n != before) /* the first place stands for all */
        c->frame = new_frame(x, number, code, offset, symbol);
    return c->frame;
}

/* The symbols of an object of the profile, which have to be loaded at the first time; NULL: it is
 * not known whether there are any, for there is no memory. */
static const pf_symbol_object *symbols_of(pf_resolver *x, uint32_t number)
{
    if (number >= x->n_symbols) {
        const size_t n = (size_t)number + number / 2 + 16;
        const pf_symbol_object **more = pf_realloc(x->symbols_of, n, sizeof *more);
        if (!more)
            return NULL;
        memset(more + x->n_symbols, 0, (n - x->n_symbols) * sizeof *more);
        x->symbols_of = more;
        x->n_symbols = n;
    }
    if (!x->symbols_of[number]) {
        pf_symbol_object *found = NULL;
        if (x->lock)
            pthread_mutex_lock(x->lock);
        if (pf_symbol_object_of(x->functions, &pf_profile_object_at(x->profile, number)->first,
                                &found) == PERFILE_OK)
            x->symbols_of[number] = found;
        if (x->lock)
            pthread_mutex_unlock(x->lock);
    }
    return x->symbols_of[number];
}

/* The number of the function at a place in code. */
static uint32_t symbol_of(pf_resolver *x, uint32_t number, uint64_t offset)
{
    const pf_object *object = pf_profile_object_at(x->profile, number);
    if (!x->joins || !object || !x->functions || object->kind == PERFILE_MAPPING_SYMBOL)
        return PF_NO_SYMBOL;
    const pf_symbol_object *symbols = symbols_of(x, number);
    return symbols ? pf_symbol_number(symbols, &object->first, pf_object_address(object, offset))
                   : PF_NO_SYMBOL;
}

static uint32_t frame_at(pf_resolver *x, uint32_t object, uint32_t code, uint64_t offset)
{
    return pf_resolve_frame(x, object, code, offset, symbol_of(x, object, offset));
}

/* The object that a mapping of the model shows. */
static uint32_t object_of(pf_resolver *x, const perfile_mapping *m)
{
    pf_mapping_slot *s = &x->mappings[((uintptr_t)m / sizeof *m) & ((1U << MAPPING_BITS) - 1)];
    if (s->mapping == m)
        return s->object;
    const uint32_t object = pf_profile_object(x->profile, m);
    if (object != PF_INTERN_NONE)
        *s = (pf_mapping_slot){m, object};
    return object;
}

/* Works out the frame of an address of user or kernel code; narrows *during. */
static uint32_t frame_of(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                         pf_reach *during)
{
    const perfile_mapping *m = pf_model_mapping(x->model, pid, addr, time, during);
    if (!m)
        return frame_at(x, PF_NO_OBJECT, code, addr);
    const uint32_t object = object_of(x, m);
    if (object == PF_INTERN_NONE)
        return PF_INTERN_NONE;
    if (code == PF_CODE_USER && pf_object_is_jit(pf_profile_object_at(x->profile, object)))
        code = PF_CODE_JIT;
    return frame_at(x, object, code, pf_object_offset(m, addr));
}

static pf_address_slot *address_slot(const pf_resolver *x, uint32_t pid, uint64_t addr)
{
    const uint64_t key = (addr ^ (uint64_t)pid << 40) * (x->seed | 1);
    return &x->addresses[(key ^ key >> 32) >> 3 & ((1U << ADDRESS_BITS) - 1)];
}

/* Fetches the slot of an address, which is of the kernel if its highest bit is set: no harm is done
 * where that is wrong. */
static void prefetch_address(const pf_resolver *x, uint32_t pid, uint64_t addr)
{
    __builtin_prefetch(address_slot(x, addr >> 63 ? PERFILE_NO_PID : pid, addr));
}

/* The same from the cache, if it is there, of any code; narrows *reach. */
static uint32_t frame_of_address(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr,
                                 uint64_t time, pf_reach *reach)
{
    /* Guests and hypervisors have mappings of their own, which no record describes. */
    if (!x->model || (code != PF_CODE_USER && code != PF_CODE_KERNEL))
        return frame_at(x, PF_NO_OBJECT, code, addr);
    if (code == PF_CODE_KERNEL)
        pid = PERFILE_NO_PID;
    pf_address_slot *s = address_slot(x, pid, addr);
    if (!s->frame || s->addr != addr || s->pid != pid || s->code != code || time < s->first ||
        time > s->last) {
        pf_reach during;
        uint32_t frame = frame_of(x, pid, code, addr, time, &during);
        if (frame == PF_INTERN_NONE)
            return PF_INTERN_NONE;
        *s = (pf_address_slot){addr, during.first, during.last, pid, frame + 1, code};
    }
    narrow(reach, s->first, s->last);
    return s->frame - 1;
}

/* Adds what a marker says to *code.  False: nobody knows this marker. */
static bool read_marker(uint64_t marker, unsigned *code)
{
    switch (marker) {
    case PF_CONTEXT_USER:
        *code = PF_CODE_USER;
        return true;
    case PF_CONTEXT_KERNEL:
        *code = PF_CODE_KERNEL;
        return true;
    case PF_CONTEXT_HYPERVISOR:
        *code = PF_CODE_HYPERVISOR;
        return true;
    case PF_CONTEXT_GUEST:
    case PF_CONTEXT_GUEST_KERNEL:
    case PF_CONTEXT_GUEST_USER:
        *code = PF_CODE_GUEST;
        return true;
    default:
        return false;
    }
}

/* Makes room for `n` frames. */
static bool reserve_frames(pf_resolver *x, size_t n)
{
    if (n <= x->frames_cap)
        return true;
    size_t cap = n + n / 2 + 64;
    uint32_t *frames = pf_realloc(x->frames, cap, sizeof *frames);
    if (!frames)
        return false;
    x->frames = frames;
    x->frames_cap = cap;
    return true;
}

static inline uint64_t word_at(const pf_unresolved *u, size_t i)
{
    uint64_t word;
    memcpy(&word, u->words + 8 * i, sizeof word);
    return word;
}

/* True if nothing or a marker follows entry `i`: a 0 there is the return address of whoever has no
 * caller, and no frame. */
static bool ends_part(const pf_unresolved *u, size_t i)
{
    return i + 1 == u->n || word_at(u, i + 1) >= PF_CONTEXT_LEAST;
}

/* Hash of a chain: two products for each pair of words. */
static uint64_t hash_chain(uint64_t seed, uint32_t pid, const uint8_t *words, size_t n)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    uint64_t a = seed ^ pid, b = seed + n, word;
    for (; n >= 2; n -= 2, words += 16) {
        memcpy(&word, words, 8);
        a = (a ^ word) * odd;
        memcpy(&word, words + 8, 8);
        b = (b ^ word) * odd;
        a ^= a >> 29;
        b ^= b >> 31;
    }
    if (n) {
        memcpy(&word, words, 8);
        a = (a ^ word) * odd;
    }
    a = (a ^ a >> 32 ^ b) * odd;
    return a ^ a >> 32;
}

/* Copies the words of a chain; false if it is not worth it, or there is no memory: then it is not
 * remembered. */
static bool keep_words(pf_resolver *x, const uint8_t *words, size_t n, uint32_t *at)
{
    if (n > MOST_WORDS / 16)
        return false;
    if (x->n_words + n > MOST_WORDS) {
        memset(x->chains, 0, sizeof *x->chains << CHAIN_BITS);
        x->n_words = 0;
    }
    if (x->n_words + n > x->words_cap) {
        size_t cap = x->words_cap ? 2 * x->words_cap : FIRST_WORDS;
        uint64_t *grown = pf_realloc(x->words, cap, sizeof *grown);
        if (!grown)
            return false;
        x->words = grown;
        x->words_cap = cap;
    }
    memcpy(x->words + x->n_words, words, 8 * n);
    *at = (uint32_t)x->n_words;
    x->n_words += n;
    return true;
}

/* Appends the frames of a chain to x->frames; false if there is no memory or the limit is exceeded.
 */
static bool read_chain(pf_resolver *x, work *w)
{
    const pf_unresolved *u = w->sample;
    unsigned code = PF_CODE_USER;
    if (!reserve_frames(x, w->frames + u->n + 1)) /* there may be one of the sample's address */
        return false;
    for (size_t i = 0; i < u->n; i++)
        prefetch_address(x, u->s.pid, word_at(u, i));
    for (size_t i = 0; i < u->n; i++) {
        const uint64_t word = word_at(u, i);
        if (word == PF_CONTEXT_DEFERRED)
            break; /* a cookie follows, for a user part that did not come */
        if (word >= PF_CONTEXT_LEAST) {
            if (!read_marker(word, &code)) {
                w->n = 0;
                break;
            }
            continue;
        }
        if (word == 0 && ends_part(u, i))
            continue;
        uint32_t frame = frame_of_address(x, u->s.pid, code, word, u->s.time, &w->reach);
        if (frame == PF_INTERN_NONE)
            return false;
        x->frames[w->frames + w->n++] = frame;
    }
    return true;
}

static pf_chain_slot *chain_slot(const pf_resolver *x, uint64_t hash)
{
    return &x->chains[hash & ((1U << CHAIN_BITS) - 1)];
}

/* True if the stack of the chain is known; then it is filled in. */
static bool find_chain(const pf_resolver *x, pf_unresolved *u, uint64_t hash)
{
    const pf_chain_slot *s = chain_slot(x, hash);
    const bool known = s->hash == hash && s->n == u->n && s->pid == u->s.pid &&
                       u->s.time >= s->first && u->s.time <= s->last &&
                       memcmp(x->words + s->at, u->words, 8 * u->n) == 0;
    if (known)
        u->s.stack = s->stack;
    return known;
}

/* Puts the chain of a sample and its stack into the cache. */
static void keep_chain(pf_resolver *x, const work *w, uint32_t stack)
{
    const pf_unresolved *u = w->sample;
    const pf_chain_slot *s = chain_slot(x, w->hash);
    uint32_t at = s->at;
    const bool is_there =
        s->hash == w->hash && s->n == u->n && memcmp(x->words + s->at, u->words, 8 * u->n) == 0;
    if (is_there || keep_words(x, u->words, u->n, &at))
        *chain_slot(x, w->hash) = (pf_chain_slot){w->hash, w->reach.first, w->reach.last, u->s.pid,
                                                  at,      (uint32_t)u->n, stack};
}

/* Finds the frames of a sample that its stack still lacks; false if there is no memory or the limit
 * is exceeded. */
static bool find_frames(pf_resolver *x, work *w)
{
    pf_unresolved *u = w->sample;
    pf_profiled *s = &u->s;
    pf_reach reach = {.last = UINT64_MAX};
    w->is_new_chain = u->n && !find_chain(x, u, w->hash);
    if (w->is_new_chain && !read_chain(x, w))
        return false;
    const bool is_nowhere = !w->n && s->stack == PF_EMPTY_STACK;
    if (is_nowhere && w->is_new_chain) {
        keep_chain(x, w, PF_EMPTY_STACK);
        w->is_new_chain = false;
    }
    if (!u->has_ip || !(x->own_frames || is_nowhere))
        return true;
    s->frame = frame_of_address(x, s->pid, pf_code_of_misc(u->misc), u->ip, s->time, &reach);
    if (s->frame == PF_INTERN_NONE || !reserve_frames(x, w->frames + 1))
        return false;
    if (is_nowhere)
        x->frames[w->frames + w->n++] = s->frame;
    return true;
}

/* Fetches what find_frames() looks at first. */
static void prefetch(pf_resolver *x, work works[TOGETHER], pf_unresolved *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pf_unresolved *u = &samples[i];
        works[i].hash = u->n ? hash_chain(x->seed, u->s.pid, u->words, u->n) : 0;
        if (u->n)
            __builtin_prefetch(chain_slot(x, works[i].hash));
        if (u->has_ip && (x->own_frames || !u->n))
            prefetch_address(x, u->s.pid, u->ip);
    }
    for (size_t i = 0; i < n; i++) {
        const pf_chain_slot *s = chain_slot(x, works[i].hash);
        if (samples[i].n && s->hash == works[i].hash)
            __builtin_prefetch(x->words + s->at);
    }
}

/* Puts the frames onto the stacks: of each sample one, the outermost, then the next.  False
 * likewise. */
static bool push_all(pf_resolver *x, work *works, size_t n)
{
    pf_intern *stacks = &x->profile->stacks;
    while (n) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++) {
            work *w = &works[i];
            const pf_call_stack key = {w->stack, x->frames[w->frames + w->n - 1]};
            w->next = pf_intern_hash(stacks, &key);
        }
        for (size_t i = 0; i < n; i++)
            pf_intern_prefetch(stacks, works[i].next);
        for (size_t i = 0; i < n; i++) {
            work *w = &works[i];
            const pf_call_stack key = {w->stack, x->frames[w->frames + --w->n]};
            w->stack = x->symbols ? pf_resolve_push(x, key.parent, key.frame)
                                  : pf_intern_add_hashed(stacks, &key, w->next);
            if (w->stack == PF_INTERN_NONE)
                return false;
            if (w->n) {
                works[left++] = *w;
                continue;
            }
            w->sample->s.stack = w->stack;
            if (w->is_new_chain)
                keep_chain(x, w, w->stack);
        }
        n = left;
    }
    return true;
}

bool pf_resolve(pf_resolver *x, pf_unresolved *samples, size_t n)
{
    work works[TOGETHER];
    for (size_t done = 0, now; done < n; done += now, samples += now) {
        size_t used = 0, m = 0;
        now = n - done < TOGETHER ? n - done : TOGETHER;
        prefetch(x, works, samples, now);
        for (size_t i = 0; i < now; i++) {
            work *w = &works[m];
            *w = (work){.sample = &samples[i],
                        .hash = works[i].hash,
                        .reach.last = UINT64_MAX,
                        .frames = used};
            if (!find_frames(x, w))
                return false;
            used += w->n;
            m += w->n > 0;
        }
        if (!push_all(x, works, m))
            return false;
    }
    return true;
}
