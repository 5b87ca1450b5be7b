/* A profile: what samples add up to.
 *
 * Everything is kept once and has a number.  An *object* is a file or a piece of generated code; a
 * *frame* is an offset in an object; a *stack* is a frame on top of another stack, so that stacks
 * form a tree and a stack costs 8 bytes, however deep; a *label* is what a sum is counted for
 * besides its stack: a thread, an event.  Memory is bounded by distinct stacks and labels, not by
 * samples, and charged to perfile_limits.profile_bytes.
 *
 * A profile outlives the captures that are added to it (reader.h): names are copied. */
#ifndef PF_PROFILE_PROFILE_H
#define PF_PROFILE_PROFILE_H

#include "base/alloc.h"
#include "model/index.h"
#include "base/buffer.h"
#include "perfile/event.h"
#include "perfile/records.h"
#include "perfile/model.h"
#include "base/shorten.h"
#include "perfile/symbol.h"

/* Items of one size, each kept once and numbered from 0: frames, stacks, sums.
 *
 * An item begins with its key; what follows the key is the caller's and starts as zeros.  Items lie
 * one after the other in memory that may move when one is added, so keep numbers, not pointers. */

#define PF_INTERN_NONE UINT32_MAX

/* All zeros except `seed`, `budget`, `width` and `key` is empty. */
typedef struct pf_intern {
    uint64_t seed;     /* pf_index_seed() */
    pf_budget *budget; /* may be NULL */
    size_t width, key; /* bytes of an item; of them the key, a multiple of 8 */
    uint8_t *items;
    size_t n, cap; /* items in use, allocated */
    struct pf_intern_slot {
        uint32_t number; /* + 1; 0: free */
        uint32_t hash;   /* most keys that differ are told apart by it */
    } * slots;           /* a hash table */
    size_t n_slots;      /* a power of two, at least twice `n` */
} pf_intern;

/* The number of the item with this key, which is added if there is none.  PF_INTERN_NONE if there
 * is no memory or the budget is exhausted. */
uint32_t pf_intern_add(pf_intern *t, const void *key);

static inline void *pf_intern_at(const pf_intern *t, uint32_t number)
{
    return t->items + (size_t)number * t->width;
}

void pf_intern_free(pf_intern *t);

/* Call chains from branch stacks: `perf record --call-graph lbr` lets the processor keep the calls
 * that have not returned, so that a program needs no frame pointers. */

/* True if the branch stacks of the event are calls (PERFILE_BRANCH_CALL_STACK). */
bool pf_branches_are_calls(const perfile_event *event);

/* Makes the call chain of a sample of such an event: its own, `n` words in this machine's byte
 * order, up to the marker of the user part; then the function that runs, where the last call went,
 * and where each call was made, as perf has it.  *out stays empty if the chain has no user part, or
 * the sample no branches.  False if there is no memory. */
bool pf_branches_chain(const perfile_record *r, const uint8_t *words, size_t n, pf_buffer *out);

/* What kind of code a frame is. */
enum {
    PF_CODE_UNKNOWN = 0,
    PF_CODE_USER,
    PF_CODE_JIT, /* user code that was generated while the program ran */
    PF_CODE_KERNEL,
    PF_CODE_HYPERVISOR,
    PF_CODE_GUEST
};

/* A file, or a symbol of generated kernel code.  The key is all up to `first`. */
typedef struct pf_object {
    const char *name;      /* as perf calls it (perfile_mapping_dso()), of the profile's texts */
    uint8_t build_id[20];  /* build_id_size bytes are valid, the others are 0 */
    uint8_t build_id_size; /* 0: not known */
    uint8_t kind;          /* PERFILE_MAPPING_… */
    uint16_t zero;
    /* Where it was mapped first: for programs that look up symbols, and for formats that have
     * addresses.  Its `name` is of the profile's texts, as it was
     * stored. */
    perfile_mapping first;
    bool by_address; /* its frames have addresses, not offsets */
} pf_object;

#define PF_NO_OBJECT UINT32_MAX

/* A function.  Several may have one name: names of C++ are without arguments, and each source file
 * may have a static function of that name.  The key is all up to `mangled`.
 *
 * An inlined function has no address of its own: all of one name in an object are one function. */
typedef struct pf_function {
    const char *name; /* of the profile's texts */
    uint64_t start;   /* offset in the object at which it begins; PF_INLINED_START */
    uint32_t object;  /* number */
    uint32_t zero;
    const char *mangled; /* of the profile's texts: the name as the file has it */
} pf_function;

#define PF_INLINED_START UINT64_MAX

/* A place in code, or a function that was inlined there.  The key is all up to `function`. */
typedef struct pf_call_frame {
    uint64_t offset;   /* in the object; without an object, and in the kernel, an address */
    uint32_t object;   /* number, or PF_NO_OBJECT: nothing is known to be mapped at the address */
    uint16_t code;     /* PF_CODE_… */
    uint16_t inlined;  /* 0: the function that has the code; 1: the one that was inlined into it, 2:
                        * the one that was inlined into that … */
    uint32_t function; /* its number + 1; 0: it is not known */
    uint32_t symbol;   /* that the resolver found, a number in the object; PF_NO_SYMBOL */
} pf_call_frame;

#define PF_NO_SYMBOL UINT32_MAX

/* A frame called by those of another stack.  The key is all of it.  Number 0 is the empty stack,
 * which has no frame and is its own parent. */
typedef struct pf_call_stack {
    uint32_t parent; /* the stack of the caller */
    uint32_t frame;
} pf_call_stack;

enum { PF_EMPTY_STACK = 0 };

/* What samples are counted for apart from their stack; the key is all of it.  Members that are not
 * asked for are NULL and PF_NO_LABEL. */
typedef struct pf_label {
    const char *comm;  /* of the profile's texts; NULL: also if it is not known */
    const char *event; /* likewise */
    const char *host;  /* likewise: of the machine that recorded */
    uint64_t time; /* + 1, of counters: at the end of the interval; 0: not asked for, not known */
    uint32_t pid, tid, cpu;
    uint32_t flags; /* PF_LABEL_… */
} pf_label;

enum {
    PF_LABEL_NO_PERIOD = 1 << 0, /* periods are not known, where that is told apart */
    PF_LABEL_BEFORE = 1 << 1,    /* of captures that others are compared with */
    PF_LABEL_TIMES = 1 << 2      /* sums are of times, see report/counters.c */
};

#define PF_NO_LABEL UINT32_MAX /* also PERFILE_NO_PID */

/* Two sums that are compared: of the captures, and of those that they are compared with, whose
 * labels have PF_LABEL_BEFORE. */
enum { PF_NOW, PF_BEFORE, PF_N_TIMES };

/* Samples of one label and stack.  The key is label and stack. */
typedef struct pf_sum {
    uint32_t label, stack;
    uint64_t samples;
    uint64_t period; /* sum, up to UINT64_MAX */
} pf_sum;

/* Adds to a sum of weights, which ends at UINT64_MAX. */
static inline void pf_sum_add(uint64_t *sum, uint64_t n)
{
    *sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

enum { PF_RECENT_SUMS = 1 << 10 };

typedef struct pf_profile {
    pf_budget budget;
    pf_texts texts; /* names of all kinds */
    pf_intern objects, functions, frames, stacks, labels, sums;
    /* Caches of pf_profile_label() and pf_profile_count(): most samples are counted where others
     * were shortly before. */
    pf_label last_label;
    uint32_t last_label_number; /* PF_INTERN_NONE: there is none */
    struct pf_recent_sum {
        uint32_t label, stack;
        uint32_t number; /* + 1; 0: the slot is free */
    } recent[PF_RECENT_SUMS];
} pf_profile;

/* `limit`: bytes, perfile_limits.profile_bytes.  False if there is no memory. */
bool pf_profile_init(pf_profile *p, uint64_t limit);
void pf_profile_free(pf_profile *p);

/* Forgets all but its texts: numbers mean nothing from now on.  False if there is no memory. */
bool pf_profile_forget(pf_profile *p);

/* The profile's copy of a text.  NULL if there is no memory or the limit is exceeded. */
const char *pf_profile_text(pf_profile *p, const char *text);

/* Adds what is not there yet.  PF_INTERN_NONE if there is no memory or the limit is exceeded. */
uint32_t pf_profile_frame(pf_profile *p, uint32_t object, uint32_t code, uint64_t offset);
uint32_t pf_profile_stack(pf_profile *p, uint32_t parent, uint32_t frame);

/* The number of a function, which is added if it is new; texts are copied. */
uint32_t pf_profile_function(pf_profile *p, uint32_t object, uint64_t start, const char *name,
                             const char *mangled);

/* The frame of a function, with its name, that was inlined `inlined` levels deep into `frame`. */
uint32_t pf_profile_inlined(pf_profile *p, uint32_t frame, uint32_t inlined, const char *function);

/* The object that a mapping shows, and the offset in it of `addr`, an address in the mapping. */
uint32_t pf_profile_object(pf_profile *p, const perfile_mapping *mapping);
uint64_t pf_object_offset(const perfile_mapping *mapping, uint64_t addr);

/* The address in the first mapping of an object that an offset stands for. */
uint64_t pf_object_address(const pf_object *object, uint64_t offset);

/* True if it holds code that was generated while the program ran: memory without a file, or a file
 * that perf or `perf inject --jit` makes for such code. */
bool pf_object_is_jit(const pf_object *object);

/* The number of a label, which is added if it is new. */
uint32_t pf_profile_label(pf_profile *p, const pf_label *label);

/* The frames of a stack, innermost first.  All zeros is empty; memory is kept for the next one. */
typedef struct pf_stack_path {
    uint32_t *at;
    size_t n, cap;
} pf_stack_path;

/* Writes the frames of a stack to *path; false if there is no memory. */
bool pf_profile_path(const pf_profile *p, uint32_t stack, pf_stack_path *path);

static inline void pf_stack_path_free(pf_stack_path *path)
{
    pf_free(path->at);
    *path = (pf_stack_path){0};
}

/* Adds to a sum, and counts a sample.  False if there is no memory or the limit is exceeded. */
bool pf_profile_add(pf_profile *p, uint32_t label, uint32_t stack, uint64_t samples,
                    uint64_t period);
bool pf_profile_count(pf_profile *p, uint32_t label, uint32_t stack, uint64_t period);

/* The status of a failed addition: PERFILE_E_LIMIT or PERFILE_E_NOMEM. */
perfile_status pf_profile_fail(pf_profile *p, perfile_error *err);

static inline const pf_object *pf_profile_object_at(const pf_profile *p, uint32_t number)
{
    return number == PF_NO_OBJECT ? NULL : pf_intern_at(&p->objects, number);
}

static inline const pf_call_frame *pf_profile_frame_at(const pf_profile *p, uint32_t number)
{
    return pf_intern_at(&p->frames, number);
}

/* NULL: the function is not known. */
static inline const pf_function *pf_profile_function_of(const pf_profile *p,
                                                        const pf_call_frame *frame)
{
    return frame->function ? pf_intern_at(&p->functions, frame->function - 1) : NULL;
}

static inline const pf_call_stack *pf_profile_stack_at(const pf_profile *p, uint32_t number)
{
    return pf_intern_at(&p->stacks, number);
}

static inline const pf_label *pf_profile_label_at(const pf_profile *p, uint32_t number)
{
    return pf_intern_at(&p->labels, number);
}

static inline const pf_sum *pf_profile_sum_at(const pf_profile *p, uint32_t number)
{
    return pf_intern_at(&p->sums, number);
}

/* What frames and labels are called, as text.
 *
 * All forms get their names here: a frame has the same name in each of them. */

/* Bytes of the name of a function, which is as long as a symbol may be.  Names of files, threads
 * and events have PF_NAME_MOST: they may be in the output as often as there are addresses in call
 * chains. */
enum {
    PF_FUNCTION_MOST = 4096,
    PF_TEXT_MOST = PF_FUNCTION_MOST + 256 /* of a frame: a function with marks */
};

/* Appends the name of the function of a frame, and sets *known; appends nothing if it is not known.
 * False if there is no memory. */
bool pf_name_function(const pf_profile *p, const pf_call_frame *frame, pf_buffer *out, bool *known);

/* Appends the name of a frame: that of the function, else [module+0x1234] with the base name of the
 * object and the offset in it, else [unknown+0x1234] with the address; with `join` [module] and
 * [unknown].  False if there is no memory. */
bool pf_name_frame(const pf_profile *p, const pf_call_frame *frame, bool join, pf_buffer *out);

/* Appends "file.c:123", the innermost place in the source of a frame, and sets *known; appends
 * nothing if it is not known.  PERFILE_E_NOMEM. */
perfile_status pf_name_source(const pf_profile *p, const pf_call_frame *frame,
                              perfile_symbols *symbols, pf_buffer *out, bool *known,
                              perfile_error *err);

/* The name behind the last slash. */
const char *pf_base_name(const char *name);

/* Appends a text as one field of a line, shortened (pf_shortened()) if it is longer than `most`
 * bytes, which are PF_TEXT_MOST at most: control characters and bytes that are no UTF-8 become `?`,
 * `;` becomes `:`, an empty text `?`.  False if there is no memory. */
bool pf_name_text(const char *text, size_t most, pf_buffer *out);

/* Counts the stacks whose innermost frame is in nothing that is known to be mapped, and those whose
 * innermost frame is in a known function. */
void pf_count_known(const pf_profile *p, uint64_t *unmapped, uint64_t *named);

/* Names of functions for all frames from number `first` on, which the capture of `symbols` has.
 * perfile_unnamed.addresses counts those of stacks.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_name_functions(pf_profile *p, perfile_symbols *symbols, uint32_t first,
                                 perfile_error *err);

#endif
