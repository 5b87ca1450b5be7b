/* Addresses to frames, chains to stacks (see resolve.h).
 *
 * The caches are direct-mapped: a key has one slot, and a new entry replaces the old one.  The seed
 * prevents hostile input from choosing keys with the same slot; even so, a result costs no more
 * than a search in the model.  Chains are compared word by word, so a hash collision never gives a
 * wrong result.  When the memory for their words is full, all chains are dropped. */
#include "profile/resolve.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "core/layout.h"
#include "symbol/state.h"

/* Numbers of slots are powers of two: 1.5 MiB of addresses, 3 MiB of chains, 130 KiB of mappings.
 * Under the fuzzer and the address sanitizer they are small, so that captures of some KiB fill them
 * and clearing them does not dominate a run. */
#if defined FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION || defined __SANITIZE_ADDRESS__
enum {
    ADDRESS_BITS = 5,
    CHAIN_BITS = 5,
    MAPPING_BITS = 1,
    MAPPING_WAYS = 2,
    FIRST_WORDS = 1 << 6,
    MOST_WORDS = 1 << 10
};
#else
enum {
    ADDRESS_BITS = 15,
    CHAIN_BITS = 16,
    MAPPING_BITS = 8,
    MAPPING_WAYS = 8,
    FIRST_WORDS = 1 << 16,
    MOST_WORDS = 1 << 20 /* 8 MiB */
};
#endif

/* An address, and its frame at times from `first` to `last`. */
typedef struct pf_address_slot {
    uint64_t addr, first, last, offset;
    uint32_t pid;
    uint32_t frame; /* number + 1; 0: the slot is free */
    uint32_t code;  /* requested PF_CODE_… */
} pf_address_slot;

/* A chain of process `pid`, and its stack at times from `first` to `last`. */
typedef struct pf_chain_slot {
    uint64_t hash, first, last;
    uint32_t pid;
    uint32_t at; /* index of its words in pf_resolver.words */
    uint32_t n;  /* number of words; 0: the slot is free */
    uint32_t stack;
} pf_chain_slot;

/* The mapping of process `pid` at addresses from `low` to `high` and times from `first` to
 * `last`. */
typedef struct pf_mapping_slot {
    uint64_t low, high, first, last;
    uint64_t shift; /* address + shift is the offset in the object */
    uint32_t pid;
    uint32_t object; /* PF_NO_OBJECT: nothing is mapped */
    bool is_jit;     /* the code was generated at run time */
    bool used;
} pf_mapping_slot;

/* Recently used mappings of the processes that share the set. */
typedef struct pf_mapping_set {
    pf_mapping_slot at[MAPPING_WAYS];
    unsigned next; /* the next one to replace */
} pf_mapping_set;

/* The common properties of locations that share a frame. */
typedef struct pf_call {
    uint32_t object, code;
    uint32_t symbol; /* number in the object, or PF_NO_SYMBOL */
    uint32_t zero;
    uint32_t frame; /* the key ends before this member */
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
    x->chains_only = like->chains_only;
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
    pf_free(x->places);
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

/* Narrows *reach to the times from `first` to `last`. */
static void narrow(pf_reach *reach, uint64_t first, uint64_t last)
{
    reach->first = first > reach->first ? first : reach->first;
    reach->last = last < reach->last ? last : reach->last;
}

/* Makes the frame of a code location, and sets its symbol. */
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
    if (x->calls.n != before) /* the first location represents all */
        c->frame = new_frame(x, number, code, offset, symbol);
    return c->frame;
}

/* Returns the symbols of an object, and loads them the first time.  Returns NULL when out of
 * memory. */
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

/* Returns the number of the function at a code location. */
static uint32_t symbol_of(pf_resolver *x, uint32_t number, uint64_t offset)
{
    const pf_object *object = pf_profile_object_at(x->profile, number);
    if (!x->joins || !object || !x->functions || object->kind == PERFILE_MAPPING_SYMBOL)
        return PF_NO_SYMBOL;
    const pf_symbol_object *symbols = symbols_of(x, number);
    return symbols ? pf_symbol_number(symbols, &object->first, pf_object_address(object, offset))
                   : PF_NO_SYMBOL;
}

/* Fills in a location.  Returns false when out of memory or over the limit. */
static bool place_at(pf_resolver *x, uint32_t object, uint32_t code, uint64_t offset,
                     pf_code_place *out)
{
    out->offset = offset;
    out->frame = pf_resolve_frame(x, object, code, offset, symbol_of(x, object, offset));
    return out->frame != PF_INTERN_NONE;
}

/* Queries the model for the mapping at an address.  Returns false when out of memory. */
static bool ask_mapping(pf_resolver *x, uint32_t pid, uint64_t addr, uint64_t time,
                        pf_mapping_slot *out)
{
    pf_reach reach;
    const perfile_mapping *m = pf_model_mapping(x->model, pid, addr, time, &reach);
    *out = (pf_mapping_slot){.low = reach.low,
                             .high = reach.high,
                             .first = reach.first,
                             .last = reach.last,
                             .pid = pid,
                             .object = PF_NO_OBJECT,
                             .used = true};
    if (!m)
        return true;
    out->object = pf_profile_object(x->profile, m);
    if (out->object == PF_INTERN_NONE)
        return false;
    out->shift = pf_object_offset(m, 0);
    out->is_jit = pf_object_is_jit(pf_profile_object_at(x->profile, out->object));
    return true;
}

/* Returns the mapping at an address, through the cache.  Returns NULL when out of memory. */
static const pf_mapping_slot *mapping_at(pf_resolver *x, uint32_t pid, uint64_t addr, uint64_t time)
{
    pf_mapping_set *set = &x->mappings[pid & ((1U << MAPPING_BITS) - 1)];
    for (unsigned i = 0; i < MAPPING_WAYS; i++) {
        const pf_mapping_slot *s = &set->at[i];
        if (addr >= s->low && addr <= s->high && s->pid == pid && time >= s->first &&
            time <= s->last && s->used)
            return s;
    }
    pf_mapping_slot found;
    if (!ask_mapping(x, pid, addr, time, &found))
        return NULL;
    pf_mapping_slot *s = &set->at[set->next++ % MAPPING_WAYS];
    *s = found;
    return s;
}

/* Resolves an address of user or kernel code, with the times for which the result is valid. */
static bool find_place(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                       pf_reach *during, pf_code_place *out)
{
    const pf_mapping_slot *s = mapping_at(x, pid, addr, time);
    if (!s)
        return false;
    during->first = s->first;
    during->last = s->last;
    if (code == PF_CODE_USER && s->is_jit)
        code = PF_CODE_JIT;
    return place_at(x, s->object, code, addr + s->shift, out);
}

static pf_address_slot *address_slot(const pf_resolver *x, uint32_t pid, uint64_t addr)
{
    const uint64_t key = (addr ^ (uint64_t)pid << 40) * (x->seed | 1);
    return &x->addresses[(key ^ key >> 32) >> 3 & ((1U << ADDRESS_BITS) - 1)];
}

/* Resolves an address of any code, through the cache, and narrows *reach. */
static bool place_of(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                     pf_reach *reach, pf_code_place *out)
{
    /* Guests and hypervisors have their own mappings, which no record describes. */
    if (!x->model || (code != PF_CODE_USER && code != PF_CODE_KERNEL))
        return place_at(x, PF_NO_OBJECT, code, addr, out);
    if (code == PF_CODE_KERNEL)
        pid = PERFILE_NO_PID;
    pf_address_slot *s = address_slot(x, pid, addr);
    if (!s->frame || s->addr != addr || s->pid != pid || s->code != code || time < s->first ||
        time > s->last) {
        pf_reach during;
        pf_code_place place;
        if (!find_place(x, pid, code, addr, time, &during, &place))
            return false;
        *s = (pf_address_slot){addr, during.first,    during.last, place.offset,
                               pid,  place.frame + 1, code};
    }
    narrow(reach, s->first, s->last);
    *out = (pf_code_place){s->offset, s->frame - 1};
    return true;
}

/* Sets *code from a marker.  Returns false if the marker is unknown. */
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

/* Makes room for `n` places. */
static bool reserve_places(pf_resolver *x, size_t n)
{
    if (n <= x->places_cap)
        return true;
    size_t cap = n + n / 2 + 64;
    pf_code_place *places = pf_realloc(x->places, cap, sizeof *places);
    if (!places)
        return false;
    x->places = places;
    x->places_cap = cap;
    return true;
}

static inline uint64_t word_at(const pf_unresolved *u, size_t i)
{
    uint64_t word;
    memcpy(&word, u->words + 8 * i, sizeof word);
    return word;
}

/* Returns true if entry `i` is the last one or is followed by a marker.  A 0 there is the return
 * address of the outermost function, and not a frame. */
static bool ends_part(const pf_unresolved *u, size_t i)
{
    return i + 1 == u->n || word_at(u, i + 1) >= PF_CONTEXT_LEAST;
}

/* Hashes a chain, with two products for each pair of words. */
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

/* Stores the words of a chain.  Returns false if it is too long or when out of memory; the chain is
 * then not cached. */
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

/* Selects the locations of a chain. */
typedef struct chain_form {
    bool with_ends; /* include a 0 that ends a part */
    size_t most;    /* limit for recorded and for unwound locations */
} chain_form;

/* Resolves a chain to x->places[0 .. *n), of which the last *n_unwound were unwound, and narrows
 * *reach.  *n is 0 if there is an unknown marker.  Returns false when out of memory or over the
 * limit. */
static bool places_of(pf_resolver *x, const pf_unresolved *u, chain_form form, pf_reach *reach,
                      size_t *n, size_t *n_unwound)
{
    unsigned code = PF_CODE_USER;
    size_t begin = 0; /* of the current part: recorded, or unwound */
    *n = *n_unwound = 0;
    if (!reserve_places(x, u->n))
        return false;
    for (size_t i = 0; i < u->n; i++) {
        const uint64_t word = word_at(u, i);
        if (i == u->n - u->n_unwound)
            begin = *n;
        if (word == PF_CONTEXT_DEFERRED)
            break; /* a cookie follows; its user part did not come */
        if (word >= PF_CONTEXT_LEAST) {
            if (read_marker(word, &code))
                continue;
            *n = 0;
            return true;
        }
        if (*n - begin >= form.most || (word == 0 && !form.with_ends && ends_part(u, i)))
            continue;
        if (!place_of(x, u->s.pid, code, word, u->s.time, reach, &x->places[*n]))
            return false;
        ++*n;
    }
    *n_unwound = u->n_unwound ? *n - begin : 0;
    return true;
}

/* Builds the stack of a chain, and narrows *reach. */
static uint32_t stack_of(pf_resolver *x, const pf_unresolved *u, pf_reach *reach)
{
    size_t n, n_unwound;
    if (!places_of(x, u, (chain_form){.most = SIZE_MAX}, reach, &n, &n_unwound))
        return PF_INTERN_NONE;
    uint32_t stack = PF_EMPTY_STACK;
    while (n && stack != PF_INTERN_NONE)
        stack = pf_resolve_push(x, stack, x->places[--n].frame);
    return stack;
}

/* Returns the stack of a sample's chain, through the cache. */
static uint32_t stack_of_chain(pf_resolver *x, const pf_unresolved *u)
{
    const uint64_t hash = hash_chain(x->seed, u->s.pid, u->words, u->n);
    pf_chain_slot *s = &x->chains[hash & ((1U << CHAIN_BITS) - 1)];
    const bool same = s->n == u->n && s->hash == hash && s->pid == u->s.pid &&
                      memcmp(x->words + s->at, u->words, 8 * u->n) == 0;
    if (same && u->s.time >= s->first && u->s.time <= s->last)
        return s->stack;
    pf_reach reach = {.last = UINT64_MAX};
    const uint32_t stack = stack_of(x, u, &reach);
    uint32_t at = s->at;
    if (stack != PF_INTERN_NONE && (same || keep_words(x, u->words, u->n, &at)))
        *s = (pf_chain_slot){hash, reach.first, reach.last, u->s.pid, at, (uint32_t)u->n, stack};
    return stack;
}

bool pf_resolve_address(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                        pf_code_place *place)
{
    pf_reach reach = {.last = UINT64_MAX};
    return place_of(x, pid, code, addr, time, &reach, place);
}

bool pf_resolve_chain(pf_resolver *x, const pf_unresolved *u, size_t most,
                      const pf_code_place **places, size_t *n, size_t *n_unwound)
{
    pf_reach reach = {.last = UINT64_MAX};
    const bool ok = places_of(x, u, (chain_form){true, most}, &reach, n, n_unwound);
    *places = x->places;
    return ok;
}

bool pf_resolver_forget(pf_resolver *x, bool keep_texts)
{
    const uint64_t limit = x->profile->budget.limit;
    memset(x->addresses, 0, sizeof *x->addresses << ADDRESS_BITS);
    memset(x->chains, 0, sizeof *x->chains << CHAIN_BITS);
    memset(x->mappings, 0, sizeof *x->mappings << MAPPING_BITS);
    x->n_words = 0;
    pf_free(x->symbols_of);
    x->symbols_of = NULL;
    x->n_symbols = 0;
    pf_intern_free(&x->calls);
    if (keep_texts)
        return pf_profile_forget(x->profile);
    pf_profile_free(x->profile);
    return pf_profile_init(x->profile, limit);
}

bool pf_resolve(pf_resolver *x, pf_unresolved *u)
{
    pf_profiled *s = &u->s;
    if (u->n)
        s->stack = stack_of_chain(x, u);
    if (u->has_ip && (x->own_frames || s->stack == PF_EMPTY_STACK)) {
        pf_code_place place;
        if (!pf_resolve_address(x, s->pid, pf_code_of_misc(u->misc), u->ip, s->time, &place))
            return false;
        s->frame = place.frame;
        if (s->stack == PF_EMPTY_STACK && !x->chains_only)
            s->stack = pf_resolve_push(x, PF_EMPTY_STACK, s->frame);
    }
    return s->stack != PF_INTERN_NONE;
}
