/* The compiled form of an expression (format/expressions.md).
 *
 * A name of the text becomes a slot.  A slot has ways: a way says where the value is in the records
 * of one row of the tables (`pid` has one for samples, one for MMAP, …).  Operators become steps,
 * an array that run.c executes from the first to the last.
 *
 * A step either decides (true or false) or works on a stack of numbers.  A step that decides
 * continues at next[false] or next[true], which linking has led past all jumps, so that &&, || and
 * ! cost nothing when records are tested.  Two steps at the end of the array are the results. */
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
       PF_EXPR_VALUES = 256,    /* numbers on the stack; more than nesting can pile up */
       PF_EXPR_GUARDS = 4,      /* conditions around a field of the tables */
       PF_EXPR_NAME_BYTES = 128 /* a name and its zero */
};

/* An integer from -2^63 to 2^64 - 1: the values of all integer fields.  If `negative`, n is its
 * two's complement. */
typedef struct pf_number {
    uint64_t n;
    bool negative;
} pf_number;

typedef struct pf_range {
    pf_number lo, hi; /* both ends included; lo above hi: an empty range */
} pf_range;

/* Negative, 0 or positive, as memcmp(). */
int pf_number_compare(pf_number a, pf_number b);
/* Computes a step of arithmetic (PF_STEP_ADD …; `b` is ignored by PF_STEP_NEG).  Returns false if
 * the result is not a pf_number. */
bool pf_expr_calculate(unsigned code, pf_number a, pf_number b, pf_number *out);

/* pf_slot.of: what a name stands for.  All but fields and elements exist in every record. */
enum {
    PF_OF_FIELDS = 0, /* fields of the tables: see the ways */
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

/* pf_way.from: where to find the value, the cheapest first. */
enum {
    PF_WAY_PLACE,   /* at a fixed offset in the body of the record */
    PF_WAY_SAMPLE,  /* in a 64-bit word of a sample whose position the layout knows */
    PF_WAY_TRAILER, /* likewise of a trailer (sample_id) */
    PF_WAY_MEMBER,  /* in the decoded struct of the record */
    PF_WAY_ELEMENT  /* in the decoded element of a list */
};

/* A condition on a decoded struct under which a member is present: a bool is true; some bits of
 * `mask` are set in a 64-bit field (`present`); or a 32-bit field is at least `mask` (attr.size).
 */
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
    uint8_t row;     /* position for pf_row_at(), or PF_ROW_TRAILER; of elements: PF_SHAPE_… */
    uint8_t from;    /* PF_WAY_… */
    uint8_t class;   /* PERFILE_EXPR_… */
    uint8_t type;    /* PERFILE_STORED_U8 … */
    uint8_t element; /* WORDS: type of an element, PERFILE_STORED_U16 … */
    uint8_t kind;    /* PERFILE_KIND_… */
    uint8_t of;      /* LIST: PF_SHAPE_… of an element */
    uint8_t bit;     /* SAMPLE, TRAILER: position in the layout's slots */
    uint8_t shift;   /* a bit field of the number: its lowest bit … */
    uint8_t width;   /* … and its width; 0: the whole number */
    uint8_t spare;
    uint16_t at;   /* offset in the body, the word or the struct */
    uint16_t next; /* another way for the same row: its position in the slot + 1; 0: none */
    const perfile_vocabulary *words; /* named values of the number; NULL: none */
} pf_way;

enum { PF_N_FIRST = PF_ROWS_MOST }; /* more than there are shapes */
_Static_assert((int)PF_N_SHAPES <= (int)PF_N_FIRST, "pf_slot.first");

/* Which field of a tracepoint a name is.  A name has such a place for each of the tracepoints that
 * take turns in a capture, by number; where two have the same place it is looked up again. */
enum { PF_PAYLOAD_PLACES = 64 }; /* the tracepoints of a subsystem have numbers in a row */
typedef struct pf_payload_place {
    const perfile_tracepoint *of; /* NULL: none was asked */
    uint32_t at;                  /* position of the field */
    bool there;                   /* there is one, of a class that is meant */
} pf_payload_place;

/* A name of the expression. */
typedef struct pf_slot {
    uint32_t at, len; /* of the name in the text */
    uint8_t of;       /* PF_OF_… */
    uint8_t classes;  /* PERFILE_EXPR_…: all that values of this name can be */
    bool element;     /* a member of the elements of the list in any(), all(), count() */
    bool timed;       /* the name `time`: also of records that carry one (PERFILE_REC_TIMED) */
    bool located;     /* the name `cpu`: also of records whose file is of one processor */
    bool provided;    /* the provider knows the name: asked if a record does not have it */
    uint8_t provided_class; /* PERFILE_EXPR_… of the provider's value */
    bool fast;              /* a whole field of samples, in a word that the layout knows: */
    uint8_t fast_bit;       /* position in the layout's slots */
    uint8_t fast_part;      /* 0: the 64-bit word; 1, 2: its first or second half as stored */
    uint32_t handle;        /* the provider's, for this name */
    uint32_t ways;          /* position of the first way in perfile_expr.ways */
    uint32_t n_ways;
    uint8_t payload_classes; /* PERFILE_EXPR_…: it may be a field of tracepoints (payload.c) … */
    uint32_t payload_name;   /* … of this name, in perfile_expr.payload.names */
    pf_payload_place payload[PF_PAYLOAD_PLACES];
    uint64_t misc_types; /* MISC: types whose misc has the named bit (pf_expr_type_bit()); 0: all */
    /* Ways by row, made by linking: position in the slot + 1; 0: none. */
    uint16_t trailer;
    uint16_t first[PF_N_FIRST];
    /* The provider is asked once per record: its answer, and the test (perfile_expr.tests) that it
     * was given in. */
    uint64_t answered;
    perfile_status answer_status;
    perfile_expr_value answer;
} pf_slot;

/* pf_step.code.  Steps that decide continue at next[false] or next[true], others at the step behind
 * them. */
enum {
    PF_STEP_FALSE, /* the last two steps: the result */
    PF_STEP_TRUE,
    /* Is the number of a slot in a range or set? */
    PF_STEP_RANGE_FAST, /* of a slot that is `fast` */
    PF_STEP_RANGE_TYPE, /* the type of the record */
    PF_STEP_RANGE,
    PF_STEP_SET,
    /* The same of a number from the stack. */
    PF_STEP_VALUE_RANGE,
    PF_STEP_VALUE_SET,
    PF_STEP_COMPARE, /* compares two numbers from the stack */
    PF_STEP_TEXT_SET,
    PF_STEP_TEXT_GLOB,
    PF_STEP_TEXT_ITEM,    /* some part of the text, between two ;, fits the pattern */
    PF_STEP_TEXT_COMPARE, /* slot and other */
    PF_STEP_HAS,
    /* Begins any(), all() or count() with a condition; the condition ends at the two steps NEXT.
     * The first two decide, count() pushes a number. */
    PF_STEP_LOOP,
    PF_STEP_NEXT_FALSE, /* the condition is false for this element */
    PF_STEP_NEXT_TRUE,
    PF_STEP_PUSH,     /* the number of a slot */
    PF_STEP_CONSTANT, /* lo */
    PF_STEP_COUNT,    /* the number of elements of a list */
    /* Arithmetic on the stack: two numbers become one, NEG one, SWAP exchanges two. */
    PF_STEP_ADD,
    PF_STEP_SUB,
    PF_STEP_MUL,
    PF_STEP_AND,
    PF_STEP_NEG,
    PF_STEP_SWAP,
    /* Only until linking: where to go after the step in front of them has decided. */
    PF_STEP_JUMP_FALSE,
    PF_STEP_JUMP_TRUE,
    PF_STEP_NOT
};

enum { PF_LOOP_ANY, PF_LOOP_ALL, PF_LOOP_COUNT }; /* pf_step.loop */

enum { PF_LESS = 1, PF_EQUAL = 2, PF_MORE = 4 }; /* pf_step.relation: bits; `<=` is LESS | EQUAL */

typedef struct pf_step {
    uint8_t code;     /* PF_STEP_… */
    uint8_t negate;   /* the result is the opposite; a missing value is false all the same */
    uint8_t relation; /* COMPARE: for which orders of the two numbers it holds */
    uint8_t loop;     /* PF_LOOP_… */
    uint8_t lo_negative, hi_negative;
    uint16_t slot;
    uint16_t other;   /* TEXT_COMPARE: the second slot */
    uint16_t to;      /* JUMP: the target; LOOP: the step behind its end; NEXT: its LOOP */
    uint16_t next[2]; /* where to continue when false, when true */
    uint32_t first;   /* SET: n ranges from here on in the pool; TEXT_…: n texts */
    uint32_t n;
    uint64_t lo, hi; /* RANGE: a pf_range with lo_negative, hi_negative; CONSTANT: lo */
} pf_step;

/* A text in perfile_expr.texts. */
typedef struct pf_text_span {
    uint32_t at;
    uint32_t len;
} pf_text_span;

/* The state of going through a list. */
typedef struct pf_loop {
    bool is_words;       /* elements are numbers in `words`; else structs in `list` */
    uint8_t shape;       /* PF_SHAPE_… of the structs */
    uint64_t i, n;       /* elements taken so far, and all */
    uint64_t count;      /* elements for which the condition was true */
    uint64_t number;     /* the current number */
    perfile_words words; /* whole list */
    perfile_list list;   /* what is left of it */
    void *element;       /* the current struct, decoded; owned */
} pf_loop;

/* The record that is being tested, and what was found out about it so far. */
typedef struct pf_subject {
    const perfile_record *r;
    const perfile_layout *layout;
    const pf_row *row;        /* NULL: no table describes the type */
    bool has_row, has_layout; /* `row`, `layout` were looked up */
    uint8_t decoded;          /* 0: not yet, 1: in perfile_expr.record, 2: cannot be decoded */
    perfile_status status;    /* error of the provider, PERFILE_OK: none */
    perfile_error *err;       /* the caller's, for the provider */
    uint8_t payload;          /* 0: not looked for, 1: `tracepoint` and `bytes`, 2: it has none */
    const perfile_tracepoint *tracepoint;
    perfile_bytes bytes;
} pf_subject;

struct perfile_expr {
    pf_step *steps;
    pf_slot *slots;
    pf_way *ways;
    pf_range *ranges;
    pf_text_span *spans; /* all texts, in `texts` */
    uint32_t n_steps, n_slots, n_ways, n_ranges, n_spans;
    uint32_t steps_cap, slots_cap, ways_cap, ranges_cap, spans_cap;
    pf_buffer texts;
    bool has_provider;
    perfile_expr_provider provider;
    /* Names that may be fields of tracepoints, see payload.c. */
    struct {
        bool allowed;   /* PERFILE_EXPR_PAYLOADS */
        bool used;      /* some slot may be one */
        bool in_thread; /* the session outlives the expression: it is not asked to say when it ends
                         */
        pf_buffer names;
        const perfile_session *session; /* whose tracepoints they are; NULL: not known yet */
        perfile_tracepoints *tracepoints;
        pf_session_reader reader;
    } payload;

    /* State of testing a record. */
    uint64_t tests; /* number of this test, from 1 */
    pf_subject subject;
    void *record; /* room for a decoded record of any row */
    pf_loop loop; /* a single one: any(), all() and count() do not nest */
    /* The stack of numbers; absent[i]: the record has no such value, or it is out of bounds.  Then
     * every comparison with it is false. */
    pf_number values[PF_EXPR_VALUES];
    bool absent[PF_EXPR_VALUES];
};

/* Text `i` of the pool.  The pointer is NULL if it is empty, when `texts` may be, too. */
static inline perfile_bytes pf_span_text(const perfile_expr *e, uint32_t i)
{
    pf_text_span s = e->spans[i];
    return s.len ? (perfile_bytes){e->texts.ptr + s.at, s.len} : (perfile_bytes){NULL, 0};
}

/* Appends an item of `width` zero bytes to the array *items with *n of *cap items in use, and
 * returns it; NULL if memory is out.  Other items may move. */
void *pf_expr_grow(void **items, uint32_t *n, uint32_t *cap, size_t width);

/* PERFILE_EXPR_… of a member of the tables. */
uint8_t pf_expr_type_of(const pf_member *m);

/* Looking up names and words of an expression in the tables.
 *
 * A name can mean fields of many rows: `pid` is in samples, MMAP, COMM ….  All of them become ways
 * of one slot.  What the name is compared with narrows them: text or number (pf_expr_narrow()), or
 * the fields that have a certain word (pf_expr_resolve_word()). */

/* Appends a slot to e->slots with all that `name` can mean.  The name is dotted; for a member of
 * list elements it has no dot in front, and `list` is the slot of the list (NULL for other names).
 * PERFILE_END: neither the tables nor the provider know the name, and no slot was added. */
perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err);

/* Removes meanings that are not of `class` (bits PERFILE_EXPR_…).  Returns false, and changes
 * nothing, if none would be left. */
bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class);

/* Removes meanings that are groups of fields or lists of them.  Returns false if none is left. */
bool pf_expr_keep_values(perfile_expr *e, pf_slot *s);

enum { PF_WORD_NONE, PF_WORD_FOUND, PF_WORD_SEVERAL };

/* Sets *number to the value that `word` names, and removes meanings of `s` that do not have the
 * word. SEVERAL: its value differs between the records, and nothing is changed. */
int pf_expr_resolve_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number);

/* The widths (2, 4, 8, added up) of fields of `s` in which all ones stand for "none": processes,
 * threads, processors. */
unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s);

/* If a dotted name begins with a row ("mmap2", "MMAP2") or "sample_id": returns the name of the row
 * as the tables have it, and sets *rest to what follows the dot.  Otherwise NULL. */
const char *pf_expr_split_row(const char *name, const char **rest);

/* For error messages: writes to `out` that `name` is unknown, and which known names are similar:
 * "there is no perid; did you mean period?".  With `list` they are members of its elements.
 * `functions`: the name may be meant to be a function. */
void pf_expr_explain_unknown(const perfile_expr *e, const char *name, const pf_slot *list,
                             bool functions, char *out, size_t size);

/* For a name that only a provider knows (comm, dso): what to add to an error message, maybe "".
 * NULL for others. */
const char *pf_expr_provider_hint(const char *name);

/* Writes the words for values of `s` that are similar to `word`, as "USER or KERNEL", "" if there
 * are none. */
void pf_expr_suggest_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                           size_t size);

/* payload.c: names that are fields of tracepoints. */

/* True if a field of a tracepoint may be called so. */
bool pf_expr_may_be_payload(const char *name);

/* Looks for the names in the tracepoints of the session.  PERFILE_E_USAGE: none has one of them. */
perfile_status pf_expr_bind(perfile_expr *e, const perfile_session *session, perfile_error *err);
void pf_expr_unbind(perfile_expr *e);

/* True if pf_expr_bind() is due: such names are used, and `r` is a sample, before which all that is
 * said about its event has come. */
static inline bool pf_expr_is_unbound(const perfile_expr *e, const perfile_record *r)
{
    return e->payload.used && r->session != e->payload.session && r->session &&
           r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF;
}

/* The value of the slot in the payload of the record that is tested; false: it has none. */
bool pf_expr_payload(perfile_expr *e, pf_slot *s, const perfile_tracepoint_field **field,
                     perfile_value *value);

/* fail.c: offers all names that need no row in front. */
void pf_expr_offer_all(const perfile_expr *e, pf_nearest *suggestions);

/* operand.c: what a name is, for an error: "a number". */
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

/* The i-th, NULL behind the last; the one called `name`, or NULL. */
const pf_expr_common *pf_expr_common_at(size_t i);
const pf_expr_common *pf_expr_common_find(const char *name);

/* Compares two words: case does not count, and - equals _. */
bool pf_expr_same_word(const char *a, const char *b);

/* Sets *number to the value of a word of the vocabulary `v` (may be NULL); for a vocabulary of bit
 * fields to the mask of the field.  False: it has no such word. */
bool pf_expr_word_value(const perfile_vocabulary *v, const char *word, uint64_t *number);

/* The i-th bit of misc that has a name; NULL behind the last. */
const char *pf_expr_misc_word(size_t i);
/* Sets *mask to the bits of misc called `word`, and *types to the record types in which they mean
 * that (bits of pf_expr_type_bit()).  False: there is no such name. */
bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types);

/* The bit of a record type in a set of types; 0 for types whose misc has no names. */
uint64_t pf_expr_type_bit(uint32_t type);

/* Listing all names that the tables have, in dotted form: for help, completion and suggestions. */

typedef void pf_expr_show_fn(void *user, const perfile_expr_name *what);

/* Calls show() for each member of a struct and of the structs in it.  `record` is passed on. `list`
 * is the name of the list whose elements these are: names then begin with a dot.  With NULL they do
 * not, and the members of elements of its own lists are shown, too. */
void pf_expr_list_shape(const pf_row_shape *shape, const char *record, const char *list,
                        pf_expr_show_fn *show, void *user);

/* Finding the ways to a name in one struct of the tables. */

/* Adds to `slot`, which must be the last one, a way for each meaning of the dotted `name` in
 * `shape`: the struct of `row` (position for pf_row_at(), or PF_ROW_TRAILER) with PF_WAY_MEMBER as
 * `from`, or of list elements (PF_SHAPE_… as `row`) with PF_WAY_ELEMENT.  Failures are collected in
 * *st; nothing is done if it is one already. */
void pf_expr_search(perfile_expr *e, pf_slot *slot, const pf_row_shape *shape, uint8_t row,
                    uint8_t from, const char *name, perfile_status *st, perfile_error *err);

/* Appends a copy of `way` to the slot, with the same conditions. */
void pf_expr_add_way(perfile_expr *e, pf_slot *slot, const pf_way *way, perfile_status *st,
                     perfile_error *err);

/* Executing a step for all records of a run at once. */

/* For an even run (run->even is set): sets *yes to the records for which the step is true, by bit.
 * Returns false if the step cannot be executed so and has to be tested record by record. */
bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes);

/* run.c: true if one of the ranges of a SET step contains the number. */
bool pf_expr_in_ranges(const perfile_expr *e, const pf_step *s, pf_number v);

/* The two halves of perfile_expr_compile(): parsing makes slots and steps, linking makes them
 * fast. */

/* Fills `e` from the text.  On failure err has the column and shows the place. */
perfile_status pf_expr_parse(perfile_expr *e, const char *text, perfile_error *err);

/* Sets pf_step.next past all jumps, sorts the ways of each slot by row, picks faster steps where a
 * field has a fixed place, and allocates what testing needs. */
perfile_status pf_expr_link(perfile_expr *e, perfile_error *err);

#endif
