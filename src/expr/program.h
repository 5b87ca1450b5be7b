/* What an expression is compiled to: names with the ways to their values (slots), and steps. */
#ifndef PF_EXPR_PROGRAM_H
#define PF_EXPR_PROGRAM_H

#include "base/buffer.h"
#include "perfile/expr.h"
#include "schema/shapes.h"

enum {
    PF_EXPR_TEXT_BYTES = 1 << 20,
    PF_EXPR_STEPS = 8192,
    PF_EXPR_SLOTS = 1024,
    PF_EXPR_WAYS = 1 << 15,
    PF_EXPR_NESTING = 64,
    PF_EXPR_VALUES = 256, /* more than nesting can pile up */
    PF_EXPR_GUARDS = 4,
    PF_EXPR_NAME_BYTES = 128
};

/* From -2^63 to 2^64 - 1; in two's complement when negative. */
typedef struct pf_number {
    uint64_t n;
    bool negative;
} pf_number;

typedef struct pf_range {
    pf_number lo, hi; /* both inside; lo above hi: nothing */
} pf_range;

int pf_number_compare(pf_number a, pf_number b);
/* What PF_STEP_ADD … does; false: the result is out of bounds. */
bool pf_expr_calculate(unsigned code, pf_number a, pf_number b, pf_number *out);

/* What a name of every record stands for. */
enum {
    PF_OF_FIELDS = 0,
    PF_OF_TYPE,
    PF_OF_MISC,
    PF_OF_SIZE,
    PF_OF_OFFSET,
    PF_OF_SEQUENCE,
    PF_OF_PART,
    PF_OF_CPUMODE,
    PF_OF_EVENT,
    PF_OF_ELEMENT /* the number that a list is of */
};

/* pf_way.from */
enum {
    PF_WAY_PLACE,   /* at a fixed place of the body */
    PF_WAY_SAMPLE,  /* in a word of a sample that the layout has the place of */
    PF_WAY_TRAILER, /* likewise of a trailer */
    PF_WAY_MEMBER,  /* in the decoded struct */
    PF_WAY_ELEMENT  /* in the decoded element of a list */
};

/* Says in a decoded struct whether a member is there: a bool; bits of a word; or at least `mask` in
 * a word (attr.size). */
enum { PF_GUARD_IS, PF_GUARD_BITS, PF_GUARD_REACHES };
typedef struct pf_guard {
    uint32_t mask;
    uint16_t at;
    uint16_t test;
} pf_guard;

enum { PF_ROW_TRAILER = 255 }; /* pf_way.row: trailers of all kernel records */

/* One way to the value of a name: in records of one row, or in elements of one shape. */
typedef struct pf_way {
    pf_guard guards[PF_EXPR_GUARDS];
    uint8_t n_guards;
    uint8_t row; /* position of pf_row_at(), PF_ROW_TRAILER; PF_SHAPE_… of elements */
    uint8_t from;
    uint8_t class; /* PERFILE_EXPR_… */
    uint8_t type;  /* PERFILE_STORED_U8 … */
    uint8_t element;
    uint8_t kind;
    uint8_t of;  /* LIST: PF_SHAPE_… */
    uint8_t bit; /* SAMPLE, TRAILER: position in the layout's slots */
    uint8_t shift;
    uint8_t width; /* of the part of the number; 0: all of it */
    uint8_t spare;
    uint16_t at;   /* in the body, the word or the struct */
    uint16_t next; /* another way for the same row, position from 1 in the slot; 0: none */
    const perfile_vocabulary *words; /* of the value; NULL: none */
} pf_way;

enum { PF_N_FIRST = PF_ROWS_MOST }; /* more than there are shapes */
_Static_assert((int)PF_N_SHAPES <= (int)PF_N_FIRST, "pf_slot.first");

/* A name of the expression. */
typedef struct pf_slot {
    uint32_t at, len; /* of the name in the text */
    uint8_t of;       /* PF_OF_… */
    uint8_t classes;  /* what the ways and the rest are, together */
    bool element;     /* of elements of the list that is gone through */
    bool timed;       /* it is the time, which other records may say: PERFILE_REC_TIMED */
    bool asked;       /* the provider knows it, too */
    uint8_t asked_class;
    bool fast;         /* a whole field of samples, here: */
    uint8_t fast_bit;  /* PF_SLOT_… */
    uint8_t fast_part; /* 0: the word; 1, 2: its halves as stored */
    uint32_t handle;
    uint32_t ways; /* position of the first in perfile_expr.ways */
    uint32_t n_ways;
    uint64_t misc_types; /* MISC: records whose misc has the meaning that was asked for; 0: all */
    uint16_t trailer;    /* the way to the trailer, from 1 */
    uint16_t first[PF_N_FIRST];
    uint64_t answered; /* the test that `answer` is of */
    perfile_status answer_status;
    perfile_expr_value answer;
} pf_slot;

/* pf_step.code.  Steps that decide go on at next[0] or next[1], others at the next step. */
enum {
    PF_STEP_FALSE, /* the end */
    PF_STEP_TRUE,
    PF_STEP_RANGE_FAST, /* a slot that is `fast` in lo to hi */
    PF_STEP_RANGE_TYPE, /* the type of the record */
    PF_STEP_RANGE,
    PF_STEP_SET,         /* of ranges */
    PF_STEP_VALUE_RANGE, /* takes a number off the stack */
    PF_STEP_VALUE_SET,
    PF_STEP_COMPARE, /* takes two */
    PF_STEP_TEXT_SET,
    PF_STEP_TEXT_GLOB,
    PF_STEP_TEXT_COMPARE, /* slot and other */
    PF_STEP_HAS,
    PF_STEP_LOOP,       /* begins any() or all(), or puts the count of a count() on the stack … */
    PF_STEP_NEXT_FALSE, /* … of whose condition this is the end, */
    PF_STEP_NEXT_TRUE,  /* and this */
    PF_STEP_PUSH,
    PF_STEP_CONSTANT,
    PF_STEP_COUNT,
    PF_STEP_ADD,
    PF_STEP_SUB,
    PF_STEP_MUL,
    PF_STEP_AND,
    PF_STEP_NEG,
    PF_STEP_SWAP,
    /* Only until the program is linked: what follows a step that decided. */
    PF_STEP_JUMP_FALSE,
    PF_STEP_JUMP_TRUE,
    PF_STEP_NOT
};

enum { PF_LOOP_ANY, PF_LOOP_ALL, PF_LOOP_COUNT };

enum { PF_LESS = 1, PF_EQUAL = 2, PF_MORE = 4 }; /* pf_step.relation, bits */

typedef struct pf_step {
    uint8_t code;
    uint8_t negate;
    uint8_t relation;
    uint8_t loop; /* PF_LOOP_… */
    uint8_t lo_negative, hi_negative;
    uint16_t slot;
    uint16_t other;
    uint16_t to;      /* JUMP: where; LOOP: behind it; NEXT: its LOOP */
    uint16_t next[2]; /* when false, when true */
    uint32_t first;   /* in the pool of ranges, or of texts */
    uint32_t n;
    uint64_t lo, hi;
} pf_step;

typedef struct pf_text_span {
    uint32_t at;
    uint32_t len;
} pf_text_span;

/* A list that is gone through. */
typedef struct pf_loop {
    bool is_words;
    uint8_t shape;
    uint64_t i, n;
    uint64_t count; /* of elements for which the condition held */
    uint64_t number;
    perfile_words words;
    perfile_list list;
    void *element; /* decoded */
} pf_loop;

/* What is known of the record that is being tested. */
typedef struct pf_subject {
    const perfile_record *r;
    const perfile_layout *layout;
    const pf_row *row; /* NULL: none */
    bool has_row, has_layout;
    uint8_t decoded;       /* 0: not yet, 1: yes, 2: cannot be */
    perfile_status status; /* the provider's failure */
    perfile_error *err;
} pf_subject;

struct perfile_expr {
    pf_step *steps;
    pf_slot *slots;
    pf_way *ways;
    pf_range *ranges;
    pf_text_span *spans; /* texts, in `texts` */
    uint32_t n_steps, n_slots, n_ways, n_ranges, n_spans;
    uint32_t steps_cap, slots_cap, ways_cap, ranges_cap, spans_cap;
    pf_buffer texts;
    bool has_provider;
    perfile_expr_provider provider;

    uint64_t tests;
    pf_subject subject;
    void *record; /* decoded */
    pf_loop loop; /* one, for what is inside sees the elements of no other */
    pf_number values[PF_EXPR_VALUES];
    bool absent[PF_EXPR_VALUES];
};

static inline perfile_bytes pf_span_text(const perfile_expr *e, uint32_t i)
{
    pf_text_span s = e->spans[i];
    return s.len ? (perfile_bytes){e->texts.ptr + s.at, s.len} : (perfile_bytes){NULL, 0};
}

/* Room for one more item at *items; NULL: no memory. */
void *pf_expr_more(void **items, uint32_t *n, uint32_t *cap, size_t width);

#endif
