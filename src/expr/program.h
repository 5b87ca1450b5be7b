/* The compiled form of an expression (format/expressions.md).
 *
 * A name in the text becomes a slot.  A slot has ways: each way tells where the value is in the
 * records of one row of the tables (`pid` has a way for samples, one for MMAP, …).  Operators
 * become steps, an array that run.c executes from the first to the last.
 *
 * A step either decides (true or false) or works on a stack of numbers.  A deciding step continues
 * at next[false] or next[true].  Linking points these past all jumps, so &&, || and ! cost nothing
 * when records are tested.  The last two steps of the array are the results. */
#ifndef PF_EXPR_PROGRAM_H
#define PF_EXPR_PROGRAM_H

#include "base/buffer.h"
#include "base/shorten.h"
#include "core/session.h"
#include "perfile/expr.h"
#include "perfile/tracepoint.h"
#include "schema/rows.h"
#include "stage/run.h"

enum { /* limits of an expression, see format/expressions.md */
       PF_EXPR_TEXT_BYTES = 1 << 20,
       PF_EXPR_STEPS = 8192,   /* fits pf_step.to, .next */
       PF_EXPR_SLOTS = 1024,   /* fits pf_step.slot */
       PF_EXPR_WAYS = 1 << 15, /* fits pf_way.next */
       PF_EXPR_NESTING = 64,
       PF_EXPR_VALUES = 256,    /* numbers on the stack; more than nesting can require */
       PF_EXPR_GUARDS = 4,      /* conditions around a field of the tables */
       PF_EXPR_NAME_BYTES = 128 /* a name and its NUL */
};

/* An integer from -2^63 to 2^64 - 1, which covers the values of all integer fields.  If `negative`,
 * n is its two's complement. */
typedef struct pf_number {
    uint64_t n;
    bool negative;
} pf_number;

typedef struct pf_range {
    pf_number lo, hi; /* both ends included; empty if lo is above hi */
} pf_range;

/* Returns a negative value, 0 or a positive value, like memcmp(). */
int pf_number_compare(pf_number a, pf_number b);
/* Executes one step of arithmetic (PF_STEP_ADD …; PF_STEP_NEG ignores `b`).  Returns false if the
 * result does not fit a pf_number. */
bool pf_expr_calculate(unsigned code, pf_number a, pf_number b, pf_number *out);

/* pf_slot.of: the meaning of a name.  All except fields and elements exist in every record. */
enum {
    PF_OF_FIELDS = 0, /* fields of the tables, given by the ways */
    PF_OF_TYPE,
    PF_OF_MISC,
    PF_OF_SIZE,
    PF_OF_OFFSET,
    PF_OF_SEQUENCE,
    PF_OF_PART,
    PF_OF_CPUMODE,
    PF_OF_EVENT,
    PF_OF_ELEMENT /* `.`: the current element of a list of numbers */
};

/* pf_way.from: where the value is, cheapest first. */
enum {
    PF_WAY_PLACE,   /* at a fixed offset in the body of the record */
    PF_WAY_SAMPLE,  /* in a 64-bit word of a sample, at an offset that the layout knows */
    PF_WAY_TRAILER, /* the same for a trailer (sample_id) */
    PF_WAY_MEMBER,  /* in the decoded struct of the record */
    PF_WAY_ELEMENT  /* in the decoded element of a list */
};

/* A condition on a decoded struct under which a member is present: a bool is true; some bits of
 * `mask` are set in a 64-bit field (`present`); or a 32-bit field is at least `mask`
 * (attr.size). */
enum { PF_GUARD_IS, PF_GUARD_BITS, PF_GUARD_REACHES };
typedef struct pf_guard {
    uint64_t mask;
    uint16_t at;   /* offset of the bool or field in the struct */
    uint16_t test; /* PF_GUARD_… */
} pf_guard;

enum { PF_ROW_TRAILER = 255 }; /* pf_way.row: trailers of all kernel records */

/* One way to the value of a name: in records of one row, or in list elements of one shape. */
typedef struct pf_way {
    pf_guard guards[PF_EXPR_GUARDS]; /* MEMBER, ELEMENT: all must hold */
    uint8_t n_guards;
    uint8_t row;     /* for pf_row_at(), or PF_ROW_TRAILER; for elements PF_SHAPE_… */
    uint8_t from;    /* PF_WAY_… */
    uint8_t class;   /* PERFILE_EXPR_… */
    uint8_t type;    /* PERFILE_STORED_U8 … */
    uint8_t element; /* WORDS: type of an element, PERFILE_STORED_U16 … */
    uint8_t kind;    /* PERFILE_KIND_… */
    uint8_t of;      /* LIST: PF_SHAPE_… of an element */
    uint8_t bit;     /* SAMPLE, TRAILER: index in the layout's slots */
    uint8_t shift;   /* lowest bit, if the value is a bit field of the number */
    uint8_t width;   /* width of the bit field; 0 for the whole number */
    uint8_t spare;
    uint16_t at;   /* offset in the body, the word or the struct */
    uint16_t next; /* index in the slot + 1 of another way for the same row; 0: none */
    const perfile_vocabulary *words; /* named values of the number; NULL: none */
} pf_way;

enum { PF_N_FIRST = PF_ROWS_MOST }; /* at least the number of shapes */
_Static_assert((int)PF_N_SHAPES <= (int)PF_N_FIRST, "pf_slot.first");

/* Caches which field of a tracepoint a name is.  A name has one entry for each tracepoint id modulo
 * PF_PAYLOAD_PLACES; if two tracepoints of a capture share an entry, the name is looked up each
 * time they alternate. */
enum { PF_PAYLOAD_PLACES = 64 }; /* the tracepoints of a subsystem have consecutive ids */
typedef struct pf_payload_place {
    const perfile_tracepoint *of; /* NULL: nothing was looked up yet */
    uint32_t at;                  /* index of the field */
    bool there;                   /* it has the field, with an allowed class */
} pf_payload_place;

/* A name of the expression. */
typedef struct pf_slot {
    uint32_t at, len;       /* offset and length of the name in the text */
    uint8_t of;             /* PF_OF_… */
    uint8_t classes;        /* PERFILE_EXPR_…: all classes that values of this name can have */
    bool element;           /* a member of the list elements in any(), all(), count() */
    bool timed;             /* the name `time`: also matches records with PERFILE_REC_TIMED */
    bool located;           /* the name `cpu`: also matches records of a file for one CPU */
    bool provided;          /* the provider knows the name; asked if a record has no value */
    uint8_t provided_class; /* PERFILE_EXPR_… of the provider's value */
    bool fast;              /* a whole field of samples, in a word that the layout knows */
    uint8_t fast_bit;       /* fast: index in the layout's slots */
    uint8_t fast_part;      /* fast: 0: the 64-bit word; 1, 2: its first or second stored half */
    uint32_t handle;        /* the provider's handle for this name */
    uint32_t ways;          /* index of the first way in perfile_expr.ways */
    uint32_t n_ways;
    uint8_t payload_classes; /* PERFILE_EXPR_…: possible field of tracepoints (payload.c) */
    uint32_t payload_name;   /* offset of its name in perfile_expr.payload.names */
    pf_payload_place payload[PF_PAYLOAD_PLACES];
    uint64_t misc_types; /* MISC: types that have the named bit (pf_expr_type_bit()); 0: all */
    /* The first way of each row, set by linking: index in the slot + 1; 0: none. */
    uint16_t trailer;
    uint16_t first[PF_N_FIRST];
    /* The provider is asked once per record: its answer, and the number of the test
     * (perfile_expr.tests) that it belongs to. */
    uint64_t answered;
    perfile_status answer_status;
    perfile_expr_value answer;
} pf_slot;

/* pf_step.code.  Deciding steps continue at next[false] or next[true], others at the following
 * step. */
enum {
    PF_STEP_FALSE, /* the last two steps: the result */
    PF_STEP_TRUE,
    /* Test whether the number of a slot is in a range or set. */
    PF_STEP_RANGE_FAST, /* for a slot that is `fast` */
    PF_STEP_RANGE_TYPE, /* for the type of the record */
    PF_STEP_RANGE,
    PF_STEP_SET,
    /* The same for a number from the stack. */
    PF_STEP_VALUE_RANGE,
    PF_STEP_VALUE_SET,
    PF_STEP_COMPARE, /* compares two numbers from the stack */
    PF_STEP_TEXT_SET,
    PF_STEP_TEXT_GLOB,
    PF_STEP_TEXT_ITEM,    /* some part of the text, separated by ;, matches the pattern */
    PF_STEP_TEXT_COMPARE, /* compares the texts of slot and other */
    PF_STEP_HAS,
    /* Begins any(), all() or count() with a condition, which ends at the two NEXT steps.  any() and
     * all() decide, count() pushes a number. */
    PF_STEP_LOOP,
    PF_STEP_NEXT_FALSE, /* the condition is false for this element */
    PF_STEP_NEXT_TRUE,
    PF_STEP_PUSH,     /* pushes the number of a slot */
    PF_STEP_CONSTANT, /* pushes lo */
    PF_STEP_COUNT,    /* pushes the number of elements of a list */
    /* Arithmetic on the stack: two numbers become one.  NEG changes one, SWAP exchanges two. */
    PF_STEP_ADD,
    PF_STEP_SUB,
    PF_STEP_MUL,
    PF_STEP_AND,
    PF_STEP_NEG,
    PF_STEP_SWAP,
    /* Only until linking: where to continue after the preceding step has decided. */
    PF_STEP_JUMP_FALSE,
    PF_STEP_JUMP_TRUE,
    PF_STEP_NOT
};

enum { PF_LOOP_ANY, PF_LOOP_ALL, PF_LOOP_COUNT }; /* pf_step.loop */

enum { PF_LESS = 1, PF_EQUAL = 2, PF_MORE = 4 }; /* pf_step.relation: bits; `<=` is LESS | EQUAL */

typedef struct pf_step {
    uint8_t code;     /* PF_STEP_… */
    uint8_t negate;   /* inverts the result, except for a missing value, which is false */
    uint8_t relation; /* COMPARE: the orders of the two numbers that are true */
    uint8_t loop;     /* PF_LOOP_… */
    uint8_t lo_negative, hi_negative;
    uint16_t slot;
    uint16_t other;   /* TEXT_COMPARE: the second slot */
    uint16_t to;      /* JUMP: target; LOOP: step after its end; NEXT: its LOOP */
    uint16_t next[2]; /* next step when false, when true */
    uint32_t first;   /* SET: index of the first of n ranges; TEXT_…: of n texts */
    uint32_t n;
    uint64_t lo, hi; /* RANGE: a pf_range with lo_negative, hi_negative; CONSTANT: lo */
} pf_step;

/* A text in perfile_expr.texts. */
typedef struct pf_text_span {
    uint32_t at;
    uint32_t len;
} pf_text_span;

/* The state of iterating over a list. */
typedef struct pf_loop {
    bool is_words;       /* elements are numbers in `words`; else structs in `list` */
    uint8_t shape;       /* PF_SHAPE_… of the structs */
    uint64_t i, n;       /* elements so far, and all elements */
    uint64_t count;      /* elements for which the condition was true */
    uint64_t number;     /* the current number */
    perfile_words words; /* the whole list */
    perfile_list list;   /* the rest of the list */
    void *element;       /* the current struct, decoded; owned */
} pf_loop;

/* The record under test, and what has been computed about it so far. */
typedef struct pf_subject {
    const perfile_record *r;
    const perfile_layout *layout;
    const pf_row *row;        /* NULL if no table describes the type */
    bool has_row, has_layout; /* `row`, `layout` were looked up */
    uint8_t decoded;          /* 0: not yet, 1: in perfile_expr.record, 2: cannot be decoded */
    perfile_status status;    /* error of the provider, or PERFILE_OK */
    perfile_error *err;       /* the caller's, for the provider */
    uint8_t payload;          /* 0: not looked up, 1: `tracepoint` and `bytes` are set, 2: none */
    const perfile_tracepoint *tracepoint;
    perfile_bytes bytes;
} pf_subject;

struct perfile_expr {
    pf_step *steps;
    pf_slot *slots;
    pf_way *ways;
    pf_range *ranges;
    pf_text_span *spans; /* all texts, stored in `texts` */
    uint32_t n_steps, n_slots, n_ways, n_ranges, n_spans;
    uint32_t steps_cap, slots_cap, ways_cap, ranges_cap, spans_cap;
    pf_buffer texts;
    bool has_provider;
    perfile_expr_provider provider;
    /* Names that may be fields of tracepoints, see payload.c. */
    struct {
        bool allowed;   /* PERFILE_EXPR_PAYLOADS */
        bool used;      /* some slot may be one */
        bool in_thread; /* the session outlives the expression: no reader is registered */
        pf_buffer names;
        const perfile_session *session; /* owner of the tracepoints; NULL if not bound yet */
        perfile_tracepoints *tracepoints;
        pf_session_reader reader;
    } payload;

    /* State of testing a record. */
    uint64_t tests; /* number of this test, from 1 */
    pf_subject subject;
    void *record; /* room for a decoded record of any row */
    pf_loop loop; /* a single one, because any(), all() and count() do not nest */
    /* The stack of numbers.  absent[i] is true if the record has no such value or if it is out of
     * range; every comparison with it is then false. */
    pf_number values[PF_EXPR_VALUES];
    bool absent[PF_EXPR_VALUES];
};

/* Returns text `i` of the pool.  The pointer is NULL if the text is empty, because `texts` may be
 * empty too. */
static inline perfile_bytes pf_span_text(const perfile_expr *e, uint32_t i)
{
    pf_text_span s = e->spans[i];
    return s.len ? (perfile_bytes){e->texts.ptr + s.at, s.len} : (perfile_bytes){NULL, 0};
}

/* Appends a zeroed item of `width` bytes to the array *items, of which *n of *cap items are used,
 * and returns it.  Returns NULL when out of memory.  Other items may move. */
void *pf_expr_grow(void **items, uint32_t *n, uint32_t *cap, size_t width);

/* Returns the PERFILE_EXPR_… class of a member of the tables. */
uint8_t pf_expr_type_of(const pf_member *m);

/* Looking up names and words of an expression in the tables.
 *
 * A name can mean fields of many rows: `pid` is in samples, MMAP, COMM …. All of them become ways
 * of one slot.  The other operand then limits them: to texts or numbers (pf_expr_narrow()), or to
 * the fields that have a certain word (pf_expr_resolve_word()). */

/* Appends a slot with all meanings of the dotted `name` to e->slots.  For a member of list
 * elements, `list` is the slot of the list and `name` has no leading dot; for other names `list` is
 * NULL.  Returns PERFILE_END and adds no slot if neither the tables nor the provider know the
 * name. */
perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err);

/* Removes meanings that are not of `class` (bits PERFILE_EXPR_…).  Returns false and changes
 * nothing if none would remain. */
bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class);

/* Removes meanings that are groups of fields or lists of them.  Returns false if none remains. */
bool pf_expr_keep_values(perfile_expr *e, pf_slot *s);

enum { PF_WORD_NONE, PF_WORD_FOUND, PF_WORD_SEVERAL };

/* Sets *number to the value that `word` names, and removes meanings of `s` that do not have the
 * word.  Returns SEVERAL and changes nothing if its value differs between the records. */
int pf_expr_resolve_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number);

/* Returns the widths (2, 4, 8, added up) of the fields of `s` in which all ones mean "none":
 * processes, threads, CPUs. */
unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s);

/* If a dotted name begins with a row ("mmap2", "MMAP2") or "sample_id", returns the name of the row
 * as in the tables, and sets *rest to the part after the dot.  Otherwise returns NULL. */
const char *pf_expr_split_row(const char *name, const char **rest);

/* For error messages: writes to `out` that `name` is unknown, and which known names are similar:
 * "there is no perid; did you mean period?".  With `list`, the names are members of its elements.
 * With `functions`, the name may be an attempt at a function. */
void pf_expr_explain_unknown(const perfile_expr *e, const char *name, const pf_slot *list,
                             bool functions, char *out, size_t size);

/* For a name that only a provider knows (comm, dso), returns what to add to an error message,
 * possibly "".  Returns NULL for other names. */
const char *pf_expr_provider_hint(const char *name);

/* Writes the words for values of `s` that are similar to `word`, as "USER or KERNEL"; "" if there
 * are none. */
void pf_expr_suggest_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                           size_t size);

/* payload.c: names that are fields of tracepoints. */

/* Returns true if a field of a tracepoint can have this name. */
bool pf_expr_may_be_payload(const char *name);

/* Looks up the names in the tracepoints of the session.  Returns PERFILE_E_USAGE if no tracepoint
 * has one of them. */
perfile_status pf_expr_bind(perfile_expr *e, const perfile_session *session, perfile_error *err);
void pf_expr_unbind(perfile_expr *e);

/* Returns true if pf_expr_bind() must be called: such names are used, and `r` is a sample.
 * Everything that describes its event has been read by then. */
static inline bool pf_expr_is_unbound(const perfile_expr *e, const perfile_record *r)
{
    return e->payload.used && r->session != e->payload.session && r->session &&
           r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF;
}

/* Finds the value of the slot in the payload of the record under test.  Returns false if it has
 * none. */
bool pf_expr_payload(perfile_expr *e, pf_slot *s, const perfile_tracepoint_field **field,
                     perfile_value *value);

/* fail.c: offers all names that are valid without a row prefix. */
void pf_expr_offer_all(const perfile_expr *e, pf_nearest *suggestions);

/* operand.c: describes the class of a name for an error: "a number". */
const char *pf_code_name_of_class(unsigned classes);

/* Names that exist in every record (type, misc, size …), and words for values (SAMPLE, USER). */

/* A name of every record. */
typedef struct pf_expr_common {
    const char *name;
    const char *doc;
    uint8_t of;      /* PF_OF_… */
    uint8_t classes; /* PERFILE_EXPR_… */
    uint8_t kind;    /* PERFILE_KIND_… */
} pf_expr_common;

/* Return the i-th name (NULL after the last), and the entry called `name` (NULL if there is
 * none). */
const pf_expr_common *pf_expr_common_at(size_t i);
const pf_expr_common *pf_expr_common_find(const char *name);

/* Compares two words.  Ignores case, and treats - like _. */
bool pf_expr_same_word(const char *a, const char *b);

/* Sets *number to the value of a word of the vocabulary `v` (may be NULL).  For a vocabulary of bit
 * fields this is the mask of the field.  Returns false if it has no such word. */
bool pf_expr_word_value(const perfile_vocabulary *v, const char *word, uint64_t *number);

/* Returns the i-th named bit of misc, NULL after the last. */
const char *pf_expr_misc_word(size_t i);
/* Sets *mask to the bits of misc called `word`, and *types to the record types in which they have
 * this meaning (bits of pf_expr_type_bit()).  Returns false if there is no such name. */
bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types);

/* Returns the bit of a record type in a set of types; 0 for types without names in misc. */
uint64_t pf_expr_type_bit(uint32_t type);

/* Listing all names of the tables in dotted form, for help, completion and suggestions. */

typedef void pf_expr_show_fn(void *user, const perfile_expr_name *what);

/* Calls show() for each member of a struct and of the structs in it; `record` is passed to show().
 * If `list` is not NULL, the struct is an element of the list of this name, and names begin with a
 * dot.  If it is NULL, they do not, and the elements of the struct's own lists are shown too. */
void pf_expr_list_shape(const pf_row_shape *shape, const char *record, const char *list,
                        pf_expr_show_fn *show, void *user);

/* Finding the ways to a name in one struct of the tables. */

/* Adds a way to `slot`, which must be the last slot, for each meaning of the dotted `name` in
 * `shape`.  `shape` is either the struct of `row` (index for pf_row_at(), or PF_ROW_TRAILER), with
 * PF_WAY_MEMBER as `from`; or a list element (PF_SHAPE_… as `row`), with PF_WAY_ELEMENT.  Stores
 * failures in *st; does nothing if *st is a failure already. */
void pf_expr_search(perfile_expr *e, pf_slot *slot, const pf_row_shape *shape, uint8_t row,
                    uint8_t from, const char *name, perfile_status *st, perfile_error *err);

/* Appends a copy of `way` to the slot, with the same conditions. */
void pf_expr_add_way(perfile_expr *e, pf_slot *slot, const pf_way *way, perfile_status *st,
                     perfile_error *err);

/* Executing a step for all records of a batch at once. */

/* For an even batch (run->even is set), sets *yes to the records for which the step is true, one
 * bit each.  Returns false if the step must be tested record by record. */
bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes);

/* run.c: returns true if one of the ranges of a SET step contains the number. */
bool pf_expr_in_ranges(const perfile_expr *e, const pf_step *s, pf_number v);

/* The two halves of perfile_expr_open(): parsing makes slots and steps, linking makes them
 * fast. */

/* Fills `e` from the text.  On failure, err has the column and shows that part of the text. */
perfile_status pf_expr_parse(perfile_expr *e, const char *text, perfile_error *err);

/* Sets pf_step.next past all jumps, chains the ways of each slot by row, chooses faster steps for
 * fields at a fixed offset, and allocates what testing needs. */
perfile_status pf_expr_link(perfile_expr *e, perfile_error *err);

#endif
