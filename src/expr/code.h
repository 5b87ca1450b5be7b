/* Operands of an expression, and the steps that come of them.
 *
 * Names and constants make no steps by themselves: what they are compared with decides what they
 * mean.  Every function is false after a failure, which is in c->err then. */
#ifndef PF_EXPR_CODE_H
#define PF_EXPR_CODE_H

#include "expr/lex.h"

/* pf_operand.what */
enum {
    PF_IS_NUMBER,
    PF_IS_TEXT,
    PF_IS_NAME,  /* not looked up yet, or `slot` */
    PF_IS_VALUE, /* a number on the stack; `slot`: whose words are its words */
    PF_IS_TRUTH  /* steps that decide */
};

enum { PF_NO_SLOT = 0xffff }; /* beyond PF_EXPR_SLOTS */

typedef struct pf_operand {
    uint8_t what;
    bool element;     /* a name of elements */
    uint32_t at, len; /* in the text; of a NUMBER that was calculated: of what it came from */
    uint32_t slot;
    pf_number number;
} pf_operand;

typedef struct pf_compiler {
    const char *text;
    perfile_expr *e;
    perfile_error *err;
    perfile_status status;
    uint32_t list;     /* slot of the list that is gone through, PF_NO_SLOT: none */
    uint32_t on_stack; /* numbers, by now */
} pf_compiler;

/* Fails at a place of the text, shows it, and is false. */
bool pf_code_fail(pf_compiler *c, uint32_t at, perfile_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What the lexer said becomes what is said of the place. */
bool pf_code_fail_token(pf_compiler *c, uint32_t at, const perfile_error *err);

bool pf_code_fail_nomem(pf_compiler *c);

pf_step *pf_code_step(pf_compiler *c, unsigned code, uint32_t at);

/* Looks the name up. */
bool pf_code_find(pf_compiler *c, pf_operand *o);
/* The same, and leaves what is of `class` (PERFILE_EXPR_…). */
bool pf_code_name(pf_compiler *c, pf_operand *o, unsigned class);

/* Makes a condition of what is none yet. */
bool pf_code_truth(pf_compiler *c, pf_operand *o);

/* Whether the number of *a is in the range; *a is a condition from here on. */
bool pf_code_in_range(pf_compiler *c, pf_operand *a, pf_range r, bool negate);

/* Makes a number of `word`, a name or text, when it is a word for values of `of`.  Fails when it is
 * unknown altogether. */
bool pf_code_word(pf_compiler *c, pf_operand *of, pf_operand *word);

/* The same for both, whichever is the word. */
bool pf_code_words(pf_compiler *c, pf_operand *a, pf_operand *b);

bool pf_code_is_minus_one(const pf_operand *o);

/* a OP b, OP a token; the result replaces *a. */
bool pf_code_arithmetic(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_compare(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_minus(pf_compiler *c, pf_operand *a);

/* *a in {…}: its members one by one, then the end.  `hi` is NULL for single ones. */
typedef struct pf_code_set {
    uint32_t first;
    bool texts;
    bool numbers;
} pf_code_set;
void pf_code_set_begin(const pf_compiler *c, pf_code_set *set);
bool pf_code_set_add(pf_compiler *c, pf_code_set *set, pf_operand *a, pf_operand *lo,
                     pf_operand *hi);
bool pf_code_set_end(pf_compiler *c, pf_code_set *set, pf_operand *a);

/* Adds a text to the pool. */
bool pf_code_text(pf_compiler *c, const pf_operand *o, bool pattern, uint32_t *position);
/* The name as a string; false when it is too long. */
bool pf_code_spell(pf_compiler *c, const pf_operand *o, char name[PF_EXPR_NAME_BYTES]);

#endif
