/* From addresses and call chains of one capture to frames and stacks of a profile.
 *
 * What is asked again is answered from two caches: addresses of a process, and whole call chains.
 * With each answer stands between which times it holds (pf_reach of the model), so that answers are
 * right at the time of each sample, also where samples do not come in order of time.  The caches
 * have a fixed size; what they forget is worked out again. */
#ifndef PF_PROFILE_RESOLVE_H
#define PF_PROFILE_RESOLVE_H

#include <pthread.h>

#include "base/buffer.h"
#include "model/ask.h"
#include "perfile/symbol.h"
#include "profile/profile.h"

/* Where the call chain of a sample comes from. */
enum {
    PF_CHAIN_NONE = 0,  /* it has none */
    PF_CHAIN_RECORDED,  /* the record has it */
    PF_CHAIN_UNWOUND,   /* its user part was made of a copied stack, to the outermost frame */
    PF_CHAIN_TRUNCATED, /* likewise, but the outer frames are missing */
    PF_CHAIN_DEFERRED,  /* its user part came later */
    PF_CHAIN_INCOMPLETE /* its user part did not come */
};

/* A sample, with its stack. */
typedef struct pf_profiled {
    const perfile_record *record; /* valid during the call; NULL unless pf_profile_reader.note */
    const perfile_event *event;   /* NULL: not known */
    uint64_t time;                /* PERFILE_NO_TIME: it has none */
    uint64_t period;              /* perfile_sample_period(), else 0 */
    uint32_t pid, tid;            /* PERFILE_NO_PID: it has none */
    uint32_t cpu;                 /* PF_NO_LABEL: it has none */
    uint32_t stack;               /* PF_EMPTY_STACK: nothing is known of where it was */
    uint32_t frame; /* of the sample's own address, which need not be the innermost of the call
                     * chain; PF_INTERN_NONE: it has none, or pf_resolver.own_frames is off */
    bool has_period;
    bool unreadable; /* its call chain could not be read: `stack` is its address alone */
    uint8_t chain;   /* PF_CHAIN_… */
} pf_profiled;

/* A sample whose addresses are still to be looked up. */
typedef struct pf_unresolved {
    pf_profiled s;        /* without `stack` and `frame` */
    const uint8_t *words; /* of its call chain, in this machine's byte order and innermost first */
    size_t n;             /* of them */
    size_t n_unwound;     /* of them, at the end: what a copied stack has given */
    uint64_t ip;
    uint16_t misc; /* of the record */
    bool has_ip;
    bool is_note; /* it is no sample, but a record in between: nothing is to be looked up */
} pf_unresolved;

/* An address: its frame, which may be that of all places in its function, and where it is. */
typedef struct pf_code_place {
    uint64_t offset; /* in the object of the frame; without an object, the address */
    uint32_t frame;
} pf_code_place;

typedef struct pf_resolver {
    pf_profile *profile;
    const perfile_model *model; /* of the capture, completely fed; NULL: nothing is mapped */
    struct pf_address_slot *addresses;
    struct pf_chain_slot *chains;
    struct pf_mapping_set *mappings;
    uint64_t *words; /* of the chains that are remembered, one after the other */
    size_t n_words, words_cap;
    pf_code_place *places; /* of the chain that is being worked out */
    size_t places_cap;
    /* Stacks have one frame for all places in a function: the first that was seen.  Set by the
     * caller if what it makes says no more of a frame than its function. */
    bool joins;
    /* Also for all places in a file that are in no known function; and for all addresses at which
     * nothing is mapped. */
    bool joins_unnamed, joins_unmapped;
    perfile_symbols *functions; /* know these; NULL: none is known */
    pthread_mutex_t *lock;      /* for `functions`; NULL: no other thread uses them */
    bool own_frames;            /* samples are given their `frame` */
    bool chains_only;           /* those without a call chain have the empty stack */
    const struct pf_symbol_object **symbols_of; /* by number of the object; NULL: not asked yet */
    size_t n_symbols;
    pf_intern calls;            /* what is joined: pf_call of resolve.c */
    perfile_symbols *symbols;   /* say which functions are inlined; NULL: that is not asked for */
    struct pf_inlined *inlined; /* by number of the frame */
    size_t n_inlined;
    pf_buffer inlined_frames;  /* uint32_t: numbers of frames */
    uint64_t n_pushed;         /* frames of chains, and … */
    uint64_t n_inlined_stacks; /* … the new stacks that are of functions inlined at these */
    uint64_t n_left_out;       /* inlined functions for which there was no room */
    uint64_t seed;
} pf_resolver;

/* False if there is no memory. */
bool pf_resolver_init(pf_resolver *x, pf_profile *profile, const perfile_model *model);
void pf_resolver_free(pf_resolver *x);

/* Gives it the settings of another one; inlined functions are not asked for. */
void pf_resolver_set_like(pf_resolver *x, const pf_resolver *like);

/* Fills in stack and frame of a sample.  The stack of a call chain is what perf makes of it:
 * addresses in front of the first marker are of user code, and a chain with a marker that nobody
 * knows has no addresses.  A sample without addresses in its chain has its own address as its
 * stack.  False if there is no memory or the limit is exceeded. */
bool pf_resolve(pf_resolver *x, pf_unresolved *sample);

/* The place of an address at a time.  False if there is no memory or the limit is exceeded. */
bool pf_resolve_address(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr, uint64_t time,
                        pf_code_place *place);

/* The places of the call chain of a sample, innermost first, as `perf script` lists them: the 0
 * that ends a chain is one, too, and there are at most `most` of what was recorded and as many of
 * what was unwound.  *n of them, of which the last *n_unwound were unwound; *places is valid until
 * the next question.  False likewise. */
bool pf_resolve_chain(pf_resolver *x, const pf_unresolved *sample, size_t most,
                      const pf_code_place **places, size_t *n, size_t *n_unwound);

/* Forgets everything, its profile included, but for the texts of it if `keep_texts`: all numbers
 * mean nothing from now on.  False if there is no memory. */
bool pf_resolver_forget(pf_resolver *x, bool keep_texts);

/* The frame of a place in code: one of its own, or one for all that are joined with it.
 * `symbol`: the number of the function in the object, PF_NO_SYMBOL: none is known.  PF_INTERN_NONE
 * if there is no memory, or the limit is exceeded. */
uint32_t pf_resolve_frame(pf_resolver *x, uint32_t object, uint32_t code, uint64_t offset,
                          uint32_t symbol);

/* A frame on top of a stack, and on top of it those of the functions that are inlined there.
 * PF_INTERN_NONE likewise. */
uint32_t pf_resolve_push(pf_resolver *x, uint32_t stack, uint32_t frame);

/* PF_CODE_… of a record's misc. */
unsigned pf_code_of_misc(uint16_t misc);

#endif
