/* From addresses and call chains of one capture to frames and stacks of a profile.
 *
 * What is asked again is answered from two caches: addresses of a process, and whole call chains.
 * With each answer stands between which times it holds (pf_reach of the model), so that answers are
 * right at the time of each sample, also where samples do not come in order of time.  The caches
 * have a fixed size; what they forget is worked out again. */
#ifndef PF_PROFILE_RESOLVE_H
#define PF_PROFILE_RESOLVE_H

#include "base/buffer.h"
#include "model/ask.h"
#include "perfile/symbol.h"
#include "profile/profile.h"

typedef struct pf_resolver {
    pf_profile *profile;
    const perfile_model *model; /* of the capture, completely fed; NULL: nothing is mapped */
    struct pf_address_slot *addresses;
    struct pf_chain_slot *chains;
    uint64_t *words; /* of the chains that are remembered, one after the other */
    size_t n_words, words_cap;
    uint32_t *frames; /* of the chain that is being worked out */
    size_t frames_cap;
    /* Stacks have one frame for all places in a function: the first that was seen.  Set by the
     * caller if what it makes says no more of a frame than its function. */
    bool joins;
    /* Also for all places in a file that are in no known function; and for all addresses at which
     * nothing is mapped. */
    bool joins_unnamed, joins_unmapped;
    perfile_symbols *functions; /* know these; NULL: none is known */
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

/* The frame of an address of process `pid`, in code of the kind PF_CODE_… (a user address is one of
 * PF_CODE_USER).  Narrows the times of *reach to those in which it is the same.  PF_INTERN_NONE if
 * there is no memory or the limit is exceeded. */
uint32_t pf_resolve_address(pf_resolver *x, uint32_t pid, unsigned code, uint64_t addr,
                            uint64_t time, pf_reach *reach);

/* The stack of a call chain of `n` entries at `words`, in this machine's byte order and innermost
 * first, as samples have it; PF_EMPTY_STACK if it has no addresses.  The same as perf makes of it:
 * addresses in front of the first marker are of user code, and a chain with a marker that nobody
 * knows has no addresses.  PF_INTERN_NONE likewise. */
uint32_t pf_resolve_chain(pf_resolver *x, uint32_t pid, const uint8_t *words, size_t n,
                          uint64_t time);

/* A frame on top of a stack, and on top of it those of the functions that are inlined there.
 * PF_INTERN_NONE likewise. */
uint32_t pf_resolve_push(pf_resolver *x, uint32_t stack, uint32_t frame);

/* PF_CODE_… of a record's misc. */
unsigned pf_code_of_misc(uint16_t misc);

#endif
