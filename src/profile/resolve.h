/* Turns addresses and call chains of one capture into frames and stacks of a profile.
 *
 * There are two caches: for addresses of a process, and for whole call chains.  Each entry has the
 * time range for which it is valid (pf_reach of the model), so results are right at the time of
 * each sample, even if samples are not in order of time.  The caches have a fixed size; evicted
 * entries are computed again. */
#ifndef PF_PROFILE_RESOLVE_H
#define PF_PROFILE_RESOLVE_H

#include <pthread.h>

#include "base/buffer.h"
#include "model/ask.h"
#include "perfile/symbol.h"
#include "profile/profile.h"

/* The source of a sample's call chain. */
enum {
    PF_CHAIN_NONE = 0,  /* no call chain */
    PF_CHAIN_RECORDED,  /* in the record */
    PF_CHAIN_UNWOUND,   /* its user part was unwound from a copied stack, to the outermost frame */
    PF_CHAIN_TRUNCATED, /* likewise, but the outer frames are missing */
    PF_CHAIN_DEFERRED,  /* its user part came in a later record */
    PF_CHAIN_INCOMPLETE /* its user part is missing */
};

/* A sample and its stack. */
typedef struct pf_profiled {
    const perfile_record *record; /* valid during the call; NULL unless pf_profile_reader.note */
    const perfile_event *event;   /* NULL: unknown */
    uint64_t time;                /* PERFILE_NO_TIME: none */
    uint64_t period;              /* perfile_sample_period(), or 0 */
    uint32_t pid, tid;            /* PERFILE_NO_PID: none */
    uint32_t cpu;                 /* PF_NO_LABEL: none */
    uint32_t stack;               /* PF_EMPTY_STACK: its location is unknown */
    uint32_t frame; /* of the sample's own address, which may differ from the innermost address of
                       the call chain; PF_INTERN_NONE: none, or pf_resolver.own_frames is off */
    bool has_period;
    bool unreadable; /* its call chain was unreadable: `stack` is only its address */
    uint8_t chain;   /* PF_CHAIN_… */
} pf_profiled;

/* A sample with addresses that are not resolved yet. */
typedef struct pf_unresolved {
    pf_profiled s;        /* `stack` and `frame` are not set */
    const uint8_t *words; /* its call chain in native byte order, innermost first */
    size_t n;             /* number of words */
    size_t n_unwound;     /* words at the end that were unwound from a copied stack */
    uint64_t ip;
    uint16_t misc; /* of the record */
    bool has_ip;
    bool is_note; /* a record other than a sample: nothing is resolved */
} pf_unresolved;

/* A resolved address: its frame, which may be shared by its whole function, and its offset. */
typedef struct pf_code_place {
    uint64_t offset; /* in the object of the frame; an address if there is none */
    uint32_t frame;
} pf_code_place;

typedef struct pf_resolver {
    pf_profile *profile;
    const perfile_model *model; /* of the capture, complete; NULL: nothing is mapped */
    struct pf_address_slot *addresses;
    struct pf_chain_slot *chains;
    struct pf_mapping_set *mappings;
    uint64_t *words; /* of all cached chains, one after the other */
    size_t n_words, words_cap;
    pf_code_place *places; /* of the current chain */
    size_t places_cap;
    /* All locations in a function share one frame, the first one seen.  Set by the caller if its
     * output has only the function of a frame. */
    bool joins;
    /* Also share frames among all locations of a file that are in no known function, and among all
     * addresses where nothing is mapped. */
    bool joins_unnamed, joins_unmapped;
    perfile_symbols *functions; /* finds functions; NULL: none are known */
    pthread_mutex_t *lock;      /* for `functions`; NULL: no other thread uses them */
    bool own_frames;            /* set pf_profiled.frame of samples */
    bool chains_only;           /* samples without a call chain have the empty stack */
    const struct pf_symbol_object **symbols_of; /* by object number; NULL: not looked up yet */
    size_t n_symbols;
    pf_intern calls;            /* shared frames: pf_call of resolve.c */
    perfile_symbols *symbols;   /* finds inlined functions; NULL: not requested */
    struct pf_inlined *inlined; /* by frame number */
    size_t n_inlined;
    pf_buffer inlined_frames;  /* uint32_t: frame numbers */
    uint64_t n_pushed;         /* frames of chains, and … */
    uint64_t n_inlined_stacks; /* … new stacks for functions that are inlined there */
    uint64_t n_left_out;       /* inlined functions that exceeded the limit */
    uint64_t seed;
} pf_resolver;

/* Returns false when out of memory. */
bool pf_resolver_init(pf_resolver *x, pf_profile *profile, const perfile_model *model);
void pf_resolver_free(pf_resolver *x);

/* Copies the settings of another resolver, except the one for inlined functions. */
void pf_resolver_set_like(pf_resolver *x, const pf_resolver *like);

/* Fills in stack and frame of a sample.  The stack of a call chain is built as perf does: addresses
 * before the first marker are user code, and a chain with an unknown marker has no addresses.  If
 * the chain of a sample has no addresses, the sample's own address is its stack.  Returns false
 * when out of memory or over the limit. */
bool pf_resolve(pf_resolver *x, pf_unresolved *sample);

/* Resolves an address at a time.  Returns false when out of memory or over the limit. */
bool pf_resolve_address(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                        pf_code_place *place);

/* Resolves the call chain of a sample to locations, innermost first, as `perf script` lists them:
 * including the 0 that ends a chain.  At most `most` recorded and `most` unwound locations are
 * returned.  *n is their number, and the last *n_unwound of them were unwound.  *places is valid
 * until the next call.  Returns false as above. */
bool pf_resolve_chain(pf_resolver *x, const pf_unresolved *sample, size_t most,
                      const pf_code_place **places, size_t *n, size_t *n_unwound);

/* Drops all items, including the profile's, but keeps the profile's texts if `keep_texts`.  All
 * numbers become invalid.  Returns false when out of memory. */
bool pf_resolver_forget(pf_resolver *x, bool keep_texts);

/* Returns the frame of a code location, which may be shared with others.  `symbol` is the number of
 * its function in the object; PF_NO_SYMBOL: unknown.  Returns PF_INTERN_NONE when out of memory or
 * over the limit. */
uint32_t pf_resolve_frame(pf_resolver *x, uint32_t object, uint32_t code, uint64_t offset,
                          uint32_t symbol);

/* Pushes a frame onto a stack, and then the frames of functions that are inlined there.  Returns
 * PF_INTERN_NONE as above. */
uint32_t pf_resolve_push(pf_resolver *x, uint32_t stack, uint32_t frame);

/* Returns PF_CODE_… for a record's misc. */
unsigned pf_code_of_misc(uint16_t misc);

#endif
