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
#include "perfile/expr.h"
#include "schema/shapes.h"

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

#endif
