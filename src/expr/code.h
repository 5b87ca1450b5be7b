/* Generating code: operands of an expression, and the steps made of them.
 *
 * Names and constants make no steps when they are read.  What they are compared with decides what
 * they mean: in `type == SAMPLE` SAMPLE is a word for a value of `type`, in `pid == tid` both are
 * fields. So an operand stays a description until an operator gets it.
 *
 * All functions that return bool return false after a failure, which is in c->err and c->status. */
#ifndef PF_EXPR_CODE_H
#define PF_EXPR_CODE_H

#include "expr/lex.h"

/* pf_operand.what */
enum {
    PF_IS_NUMBER,   /* a constant, not in the steps yet */
    PF_IS_TEXT,     /* a quoted text, likewise */
    PF_IS_NAME,     /* not looked up yet (PF_NO_SLOT), or `slot` */
    PF_IS_VALUE,    /* steps that leave a number on the stack */
    PF_IS_CONDITION /* steps that decide */
};

enum { PF_NO_SLOT = 0xffff }; /* beyond PF_EXPR_SLOTS */

typedef struct pf_operand {
    uint8_t what;
    bool element;     /* NAME: of list elements, begins with a dot */
    uint32_t at, len; /* in the text; of a NUMBER that was calculated: its first operand's */
    uint32_t slot;    /* NAME; VALUE: the name whose words the other side may use (a & MASK) */
    pf_number number;
} pf_operand;

typedef struct pf_compiler {
    const char *text;
    perfile_expr *e;
    perfile_error *err;
    perfile_status status;
    uint32_t list;     /* inside any(), all(), count(): slot of the list; else PF_NO_SLOT */
    uint32_t on_stack; /* numbers that the steps so far leave on the stack */
} pf_compiler;

/* Sets the error: "column N: …", with the part of the text around `at`.  Always returns false. */
bool pf_code_fail(pf_compiler *c, uint32_t at, perfile_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with the message of the lexer in `err`. */
bool pf_code_fail_token(pf_compiler *c, uint32_t at, const perfile_error *err);

bool pf_code_fail_nomem(pf_compiler *c);

/* Appends a step.  NULL after a failure; `at` is the place in the text for the error. */
pf_step *pf_code_step(pf_compiler *c, unsigned code, uint32_t at);

/* Looks up the name, and sets o->slot.  An unknown name is an error that suggests others. */
bool pf_code_find(pf_compiler *c, pf_operand *o);
/* The same, and leaves only meanings of `class` (PERFILE_EXPR_…).  No such meaning is an error. */
bool pf_code_find_class(pf_compiler *c, pf_operand *o, unsigned class);

/* Makes a condition of the operand if it is none yet: a number is true if it is not 0. */
bool pf_code_condition(pf_compiler *c, pf_operand *o);

/* Generates: the number of *a is in the range (is not, with `negate`).  *a becomes a condition. */
bool pf_code_in_range(pf_compiler *c, pf_operand *a, pf_range r, bool negate);

/* If `word`, a name or text, is a word for values of `of`, makes the number of it.  Fails if it is
 * neither that nor a known name. */
bool pf_code_resolve_word(pf_compiler *c, pf_operand *of, pf_operand *word);

/* The same for both operands, whichever is the word. */
bool pf_code_resolve_words(pf_compiler *c, pf_operand *a, pf_operand *b);

/* True for the constant -1, which also stands for "no process", "no processor" (all ones). */
bool pf_code_is_minus_one(const pf_operand *o);

/* Generate `a OP b` for the token of an operator, and -a; the result replaces *a. */
bool pf_code_arithmetic(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_compare(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_minus(pf_compiler *c, pf_operand *a);

/* Generate `a in {…}`: begin, its members one by one (`hi` is NULL unless it is a range), end.  A
 * range without braces is a set with one member.  *a becomes a condition. */
typedef struct pf_code_set {
    uint32_t first; /* in the pool of ranges or texts */
    bool texts;     /* what the members are, once there is one */
    bool numbers;
} pf_code_set;
void pf_code_set_begin(const pf_compiler *c, pf_code_set *set);
bool pf_code_set_add(pf_compiler *c, pf_code_set *set, pf_operand *a, pf_operand *lo,
                     pf_operand *hi);
bool pf_code_set_end(pf_compiler *c, pf_code_set *set, pf_operand *a);

/* Adds a text to the pool, without quotes and escapes, and sets *position.  A `pattern` keeps
 * escapes that pf_expr_glob() needs, and is checked. */
bool pf_code_text(pf_compiler *c, const pf_operand *o, bool pattern, uint32_t *position);
/* Copies the name into `name`; fails if it is too long. */
bool pf_code_copy_name(pf_compiler *c, const pf_operand *o, char name[PF_EXPR_NAME_BYTES]);

#endif
