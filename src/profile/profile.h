/* A profile: the sums of samples.
 *
 * Each distinct item is stored once and has a number.  An *object* is a file or a piece of
 * generated code.  A *frame* is an offset in an object.  A *stack* is a frame on top of another
 * stack: stacks form a tree, and each costs 8 bytes, however deep it is.  A *label* is what a sum
 * is counted by in addition to its stack, such as a thread or an event.  Memory depends on the
 * number of distinct stacks and labels, not on the number of samples, and is charged to
 * perfile_limits.profile_bytes.
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

/* A table of distinct items of one size, numbered from 0: frames, stacks, sums.
 *
 * An item begins with its key.  The rest belongs to the caller and is initially zero.  Items are
 * contiguous in memory, which moves when one is added: store numbers, not pointers. */

#define PF_INTERN_NONE UINT32_MAX

/* A table is empty if all members but `seed`, `budget`, `width` and `key` are zeros. */
typedef struct pf_intern {
    uint64_t seed;     /* pf_index_seed() */
    pf_budget *budget; /* may be NULL */
    size_t width, key; /* bytes of an item; bytes of its key, a multiple of 8 */
    uint8_t *items;
    size_t n, cap; /* items in use, allocated */
    struct pf_intern_slot {
        uint32_t number; /* of the item + 1; 0: free */
        uint32_t hash;   /* avoids comparing most keys that differ */
    } * slots;           /* a hash table */
    size_t n_slots;      /* a power of two, at least twice `n` */
} pf_intern;

/* Returns the number of the item with this key, and adds it if it is new.  Returns PF_INTERN_NONE
 * when out of memory or budget. */
uint32_t pf_intern_add(pf_intern *t, const void *key);

static inline void *pf_intern_at(const pf_intern *t, uint32_t number)
{
    return t->items + (size_t)number * t->width;
}

void pf_intern_free(pf_intern *t);

/* Call chains from branch stacks.  In perf record's "lbr" call graphs the CPU records the calls
 * that have not returned, so programs need no frame pointers. */

/* Returns true if the branch stacks of the event are calls (PERFILE_BRANCH_CALL_STACK). */
bool pf_branches_are_calls(const perfile_event *event);

/* Makes the call chain of a sample of such an event, in perf's order: the sample's own chain (`n`
 * words in native byte order) up to the marker of the user part, then the running function, the
 * target of the last call, and the address of each call.  *out stays empty if the chain has no user
 * part or the sample no branches.  Returns false when out of memory. */
bool pf_branches_chain(const perfile_record *r, const uint8_t *words, size_t n, pf_buffer *out);

/* The kind of code that a frame is in. */
enum {
    PF_CODE_UNKNOWN = 0,
    PF_CODE_USER,
    PF_CODE_JIT, /* user code that was generated at run time */
    PF_CODE_KERNEL,
    PF_CODE_HYPERVISOR,
    PF_CODE_GUEST
};

/* A file, or a symbol of generated kernel code.  All members before `first` are the key. */
typedef struct pf_object {
    const char *name;      /* perf's name for it (perfile_mapping_dso()), in the profile's texts */
    uint8_t build_id[20];  /* the first build_id_size bytes are valid, the others are 0 */
    uint8_t build_id_size; /* 0: unknown */
    uint8_t kind;          /* PERFILE_MAPPING_… */
    uint16_t zero;
    /* Its first mapping, needed for lookup of symbols and for formats that have addresses.  The
     * mapping's `name` is as stored, in the profile's texts. */
    perfile_mapping first;
    bool by_address; /* its frames have addresses instead of offsets */
} pf_object;

#define PF_NO_OBJECT UINT32_MAX

/* A function.  Several may have one name: C++ names are shown without arguments, and each source
 * file may have a static function of that name.  All members before `mangled` are the key.
 *
 * An inlined function has no address of its own: all inlined functions of one name in an object are
 * one function. */
typedef struct pf_function {
    const char *name; /* in the profile's texts */
    uint64_t start;   /* its offset in the object, or PF_INLINED_START */
    uint32_t object;  /* number */
    uint32_t zero;
    const char *mangled; /* the name as stored in the file; in the profile's texts */
} pf_function;

#define PF_INLINED_START UINT64_MAX

/* A code location, or a function that was inlined there.  All members before `function` are the
 * key. */
typedef struct pf_call_frame {
    uint64_t offset;  /* in the object; an address if there is no object, and in the kernel */
    uint32_t object;  /* number; PF_NO_OBJECT: nothing is known to be mapped there */
    uint16_t code;    /* PF_CODE_… */
    uint16_t inlined; /* 0: the function that contains the code; 1: the function inlined into it; 2:
                         the function inlined into that one; … */
    uint32_t function; /* number + 1; 0: unknown */
    uint32_t symbol;   /* the resolver's symbol, an index in the object; PF_NO_SYMBOL */
} pf_call_frame;

#define PF_NO_SYMBOL UINT32_MAX

/* A frame on top of the stack of its caller.  The whole struct is the key.  Number 0 is the empty
 * stack, which has no frame and is its own parent. */
typedef struct pf_call_stack {
    uint32_t parent; /* the stack of the caller */
    uint32_t frame;
} pf_call_stack;

enum { PF_EMPTY_STACK = 0 };

/* The properties that samples are counted by in addition to their stack.  The whole struct is the
 * key.  Members that were not requested are NULL or PF_NO_LABEL. */
typedef struct pf_label {
    const char *comm;  /* in the profile's texts; also NULL if unknown */
    const char *event; /* likewise */
    const char *host;  /* likewise; the recording machine */
    uint64_t time;     /* + 1; of counters: the end of the interval; 0: not requested or unknown */
    uint32_t pid, tid, cpu;
    uint32_t flags; /* PF_LABEL_… */
} pf_label;

enum {
    PF_LABEL_NO_PERIOD = 1 << 0, /* periods are unknown, for forms that make this distinction */
    PF_LABEL_BEFORE = 1 << 1,    /* from captures that others are compared with */
    PF_LABEL_TIMES = 1 << 2      /* sums are times, see report/counters.c */
};

#define PF_NO_LABEL UINT32_MAX /* also PERFILE_NO_PID */

/* The two sides of a comparison: the captures, and the ones they are compared with, which have
 * labels with PF_LABEL_BEFORE. */
enum { PF_NOW, PF_BEFORE, PF_N_TIMES };

/* Samples of one label and stack.  Both are the key. */
typedef struct pf_sum {
    uint32_t label, stack;
    uint64_t samples;
    uint64_t period; /* saturates at UINT64_MAX */
} pf_sum;

/* Adds to a sum, which saturates at UINT64_MAX. */
static inline void pf_sum_add(uint64_t *sum, uint64_t n)
{
    *sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

enum { PF_RECENT_SUMS = 1 << 10 };

typedef struct pf_profile {
    pf_budget budget;
    pf_texts texts; /* names of all kinds */
    pf_intern objects, functions, frames, stacks, labels, sums;
    /* Caches of pf_profile_label() and pf_profile_count(): most samples are counted in the same
     * sums as recent ones. */
    pf_label last_label;
    uint32_t last_label_number; /* PF_INTERN_NONE: no last label */
    struct pf_recent_sum {
        uint32_t label, stack;
        uint32_t number; /* + 1; 0: the slot is free */
    } recent[PF_RECENT_SUMS];
} pf_profile;

/* `limit` is perfile_limits.profile_bytes.  Returns false when out of memory. */
bool pf_profile_init(pf_profile *p, uint64_t limit);
void pf_profile_free(pf_profile *p);

/* Removes everything but the texts.  All numbers become invalid.  Returns false when out of
 * memory. */
bool pf_profile_forget(pf_profile *p);

/* Returns the profile's copy of a text, or NULL when out of memory or budget. */
const char *pf_profile_text(pf_profile *p, const char *text);

/* Returns the number of a frame or stack, and adds it if it is new.  Returns PF_INTERN_NONE when
 * out of memory or budget. */
uint32_t pf_profile_frame(pf_profile *p, uint32_t object, uint32_t code, uint64_t offset);
uint32_t pf_profile_stack(pf_profile *p, uint32_t parent, uint32_t frame);

/* Returns the number of a function, and adds it if it is new.  Texts are copied. */
uint32_t pf_profile_function(pf_profile *p, uint32_t object, uint64_t start, const char *name,
                             const char *mangled);

/* Returns the frame of a function that was inlined `inlined` levels deep into `frame`, and names
 * it. */
uint32_t pf_profile_inlined(pf_profile *p, uint32_t frame, uint32_t inlined, const char *function);

/* Return the object of a mapping, and the offset in that object of `addr`, an address in the
 * mapping. */
uint32_t pf_profile_object(pf_profile *p, const perfile_mapping *mapping);
uint64_t pf_object_offset(const perfile_mapping *mapping, uint64_t addr);

/* Returns the address of an offset in the object's first mapping. */
uint64_t pf_object_address(const pf_object *object, uint64_t offset);

/* Returns true if the object contains code that was generated at run time: memory without a file,
 * or a file that perf makes for such code. */
bool pf_object_is_jit(const pf_object *object);

/* Returns the number of a label, and adds it if it is new. */
uint32_t pf_profile_label(pf_profile *p, const pf_label *label);

/* The frames of a stack, innermost first.  All zeros is empty.  The memory is reused for the next
 * stack. */
typedef struct pf_stack_path {
    uint32_t *at;
    size_t n, cap;
} pf_stack_path;

/* Writes the frames of a stack to *path.  Returns false when out of memory. */
bool pf_profile_path(const pf_profile *p, uint32_t stack, pf_stack_path *path);

static inline void pf_stack_path_free(pf_stack_path *path)
{
    pf_free(path->at);
    *path = (pf_stack_path){0};
}

/* Add to a sum; count one sample.  Return false when out of memory or budget. */
bool pf_profile_add(pf_profile *p, uint32_t label, uint32_t stack, uint64_t samples,
                    uint64_t period);
bool pf_profile_count(pf_profile *p, uint32_t label, uint32_t stack, uint64_t period);

/* Returns the status of a failed addition: PERFILE_E_LIMIT or PERFILE_E_NOMEM. */
perfile_status pf_profile_fail(pf_profile *p, perfile_error *err);

static inline const pf_object *pf_profile_object_at(const pf_profile *p, uint32_t number)
{
    return number == PF_NO_OBJECT ? NULL : pf_intern_at(&p->objects, number);
}

static inline const pf_call_frame *pf_profile_frame_at(const pf_profile *p, uint32_t number)
{
    return pf_intern_at(&p->frames, number);
}

/* Returns NULL if the function is unknown. */
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

/* Names of frames and labels as text.
 *
 * All forms use these functions, so a frame has the same name in each of them. */

/* Longest name of a function, in bytes, which is the longest symbol.  Names of files, threads and
 * events are limited to PF_NAME_MOST: the output may contain them once for each address of a call
 * chain. */
enum {
    PF_FUNCTION_MOST = 4096,
    PF_TEXT_MOST = PF_FUNCTION_MOST + 256 /* longest frame name: a function with marks */
};

/* Appends the name of a frame's function and sets *known; appends nothing if it is unknown.
 * Returns false when out of memory. */
bool pf_name_function(const pf_profile *p, const pf_call_frame *frame, pf_buffer *out, bool *known);

/* Appends the name of a frame: its function; else [module+0x1234] with the object's base name and
 * the offset; else [unknown+0x1234] with the address.  With `join` the last two are [module] and
 * [unknown].  Returns false when out of memory. */
bool pf_name_frame(const pf_profile *p, const pf_call_frame *frame, bool join, pf_buffer *out);

/* Appends "file.c:123", the innermost source location of a frame, and sets *known; appends nothing
 * if it is unknown.  PERFILE_E_NOMEM. */
perfile_status pf_name_source(const pf_profile *p, const pf_call_frame *frame,
                              perfile_symbols *symbols, pf_buffer *out, bool *known,
                              perfile_error *err);

/* Returns the part of a name after the last slash. */
const char *pf_base_name(const char *name);

/* Appends a text as one field of a line.  It is shortened (pf_shortened()) if it is longer than
 * `most` bytes, which is at most PF_TEXT_MOST.  Control characters and invalid UTF-8 become `?`,
 * `;` becomes `:`, and an empty text becomes `?`.  Returns false when out of memory. */
bool pf_name_text(const char *text, size_t most, pf_buffer *out);

/* Counts the stacks with an innermost frame in nothing that is known to be mapped, and those with
 * an innermost frame in a known function. */
void pf_count_known(const pf_profile *p, uint64_t *unmapped, uint64_t *named);

/* Names the functions of all frames with number `first` or higher, with the symbols of their
 * capture.  perfile_unnamed.addresses counts one for each stack.  PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_name_functions(pf_profile *p, perfile_symbols *symbols, uint32_t first,
                                 perfile_error *err);

#endif
