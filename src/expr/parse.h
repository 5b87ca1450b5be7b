/* The state of the parser, shared by parse.c, code.c, operand.c, lex.c and fail.c. */
#ifndef PF_EXPR_PARSE_H
#define PF_EXPR_PARSE_H

#include "expr/program.h"

/* The lexer cuts an expression into tokens, one per call.  Tokens are ranges of the text; nothing
 * is copied. */

enum {
    PF_TOKEN_END,
    PF_TOKEN_NUMBER,
    PF_TOKEN_TEXT,    /* including its quotes: see pf_lex_text() */
    PF_TOKEN_NAME,    /* dotted */
    PF_TOKEN_ELEMENT, /* "." or ".from" */
    PF_TOKEN_OR,
    PF_TOKEN_AND,
    PF_TOKEN_EQ,
    PF_TOKEN_NE,
    PF_TOKEN_LT,
    PF_TOKEN_LE,
    PF_TOKEN_GT,
    PF_TOKEN_GE,
    PF_TOKEN_LIKE,
    PF_TOKEN_HAS, /* `has` between two operands */
    PF_TOKEN_IN,
    PF_TOKEN_PLUS,
    PF_TOKEN_MINUS,
    PF_TOKEN_STAR,
    PF_TOKEN_MASK,
    PF_TOKEN_NOT,
    PF_TOKEN_OPEN,
    PF_TOKEN_CLOSE,
    PF_TOKEN_OPEN_SET,
    PF_TOKEN_CLOSE_SET,
    PF_TOKEN_COMMA,
    PF_TOKEN_TO /* ".." */
};

typedef struct pf_token {
    uint8_t code;     /* PF_TOKEN_… */
    uint32_t at, len; /* offset and length in the text */
    uint64_t number;  /* NUMBER: its value, multiplied by its unit */
} pf_token;

/* Reads the next token at or after `at`, skipping white space.  On failure, err says why and t->at
 * is the offset of the token. */
perfile_status pf_lex(const char *text, uint32_t at, pf_token *t, perfile_error *err);

/* Appends the content of a TEXT token to `out`, without quotes and escapes.  In a pattern, a
 * backslash remains before characters that are special there.  On failure, *wrong is the offset of
 * the bad escape. */
perfile_status pf_lex_text(const char *text, const pf_token *t, bool pattern, pf_buffer *out,
                           uint32_t *wrong, perfile_error *err);

/* Generating code: operands of an expression, and the steps made from them.
 *
 * Reading a name or constant makes no steps, because its meaning depends on the other operand: in
 * `type == SAMPLE`, SAMPLE is a word for a value of `type`; in `pid == tid`, both are fields.  So
 * an operand is only a description until an operator uses it.
 *
 * All functions that return bool return false on failure, with the error in c->err and
 * c->status. */

/* pf_operand.what */
enum {
    PF_IS_NUMBER,   /* a constant, not in the steps yet */
    PF_IS_TEXT,     /* a quoted text, not in the steps yet */
    PF_IS_NAME,     /* not looked up yet (PF_NO_SLOT), or `slot` */
    PF_IS_VALUE,    /* steps that leave a number on the stack */
    PF_IS_CONDITION /* steps that decide */
};

enum { PF_NO_SLOT = 0xffff }; /* beyond PF_EXPR_SLOTS */

typedef struct pf_operand {
    uint8_t what;
    bool element;     /* NAME: of list elements, begins with a dot */
    uint32_t at, len; /* range of the text; for a computed NUMBER, of its first operand */
    uint32_t slot;    /* NAME; VALUE: the name whose words the other operand may use (a & MASK) */
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

/* Sets the error "column N: …", with the part of the text around `at`.  Always returns false. */
bool pf_code_fail(pf_compiler *c, uint32_t at, perfile_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with the message of the lexer in `err`. */
bool pf_code_fail_token(pf_compiler *c, uint32_t at, const perfile_error *err);

bool pf_code_fail_nomem(pf_compiler *c);

/* Appends a step.  Returns NULL on failure; `at` is the offset in the text for the error. */
pf_step *pf_code_step(pf_compiler *c, unsigned code, uint32_t at);

/* Looks up the name and sets o->slot.  For an unknown name, the error suggests similar ones. */
bool pf_code_find(pf_compiler *c, pf_operand *o);
/* The same, but keeps only meanings of `class` (PERFILE_EXPR_…).  Fails if there is none. */
bool pf_code_find_class(pf_compiler *c, pf_operand *o, unsigned class);

/* Looks up the left operand of `has`: `callchain` means the names of its functions, `stack`. */
bool pf_code_find_stack(pf_compiler *c, pf_operand *o);

/* Makes the operand a condition if it is not one yet: a number is true if it is not 0. */
bool pf_code_condition(pf_compiler *c, pf_operand *o);

/* Generates a test that the number of *a is in the range (or is not, with `negate`).  *a becomes a
 * condition. */
bool pf_code_in_range(pf_compiler *c, pf_operand *a, pf_range r, bool negate);

/* If `word`, a name or text, is a word for values of `of`, replaces it by its number.  Fails if it
 * is neither such a word nor a known name. */
bool pf_code_resolve_word(pf_compiler *c, pf_operand *of, pf_operand *word);

/* The same for both operands, either of which may be the word. */
bool pf_code_resolve_words(pf_compiler *c, pf_operand *a, pf_operand *b);

/* Returns true for the constant -1, which also means "no process" and "no CPU" (all ones). */
bool pf_code_is_minus_one(const pf_operand *o);

/* Generate `a OP b` for the token of an operator, and -a.  The result replaces *a. */
bool pf_code_arithmetic(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_compare(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b);
bool pf_code_minus(pf_compiler *c, pf_operand *a);

/* Generate `a in {…}`: begin, each member (`hi` is NULL unless it is a range), end.  A range
 * without braces is a set with one member.  *a becomes a condition. */
typedef struct pf_code_set {
    uint32_t first; /* in the pool of ranges or texts */
    bool texts;     /* the members are texts */
    bool numbers;
} pf_code_set;
void pf_code_set_begin(const pf_compiler *c, pf_code_set *set);
bool pf_code_set_add(pf_compiler *c, pf_code_set *set, pf_operand *a, pf_operand *lo,
                     pf_operand *hi);
bool pf_code_set_end(pf_compiler *c, pf_code_set *set, pf_operand *a);

/* Adds a text to the pool, without quotes and escapes, and sets *position.  In a `pattern`, checks
 * it and keeps the escapes that pf_expr_glob() needs. */
bool pf_code_text(pf_compiler *c, const pf_operand *o, bool pattern, uint32_t *position);
/* Copies the name into `name`.  Fails if it is too long. */
bool pf_code_copy_name(pf_compiler *c, const pf_operand *o, char name[PF_EXPR_NAME_BYTES]);

enum {
    /* Size of both stacks: on each level of nesting, at most one operator of each rank waits. */
    PF_MOST_WAITING = 8 * PF_EXPR_NESTING,
    /* Ranks of operators, from the loosest to the tightest. */
    PF_RANK_OPEN = 0, /* an opening parenthesis, the loosest */
    PF_RANK_OR,
    PF_RANK_AND,
    PF_RANK_COMPARE,
    PF_RANK_SUM,
    PF_RANK_PRODUCT,
    PF_RANK_PREFIX
};

/* pf_waiting.code, in addition to tokens: "(", a function with a condition, the sign. */
enum { PF_WAITS_GROUP = 100, PF_WAITS_LOOP, PF_WAITS_MINUS };

/* An operator that waits for the end of its right operand. */
typedef struct pf_waiting {
    uint8_t code;  /* PF_TOKEN_…, PF_WAITS_… */
    uint8_t rank;  /* PF_RANK_… */
    uint32_t at;   /* offset in the text */
    uint32_t step; /* the JUMP of && and ||, or the LOOP, which is completed at the end */
} pf_waiting;

typedef struct pf_parser {
    pf_compiler c;
    pf_token token; /* the next token, not consumed yet */
    unsigned depth; /* nesting of parentheses, functions and prefix operators */
    size_t n_operands, n_operators;
    pf_operand operands[PF_MOST_WAITING];
    pf_waiting operators[PF_MOST_WAITING];
} pf_parser;

/* All of these return false or NULL on failure. */

/* Reads the next token. */
bool pf_parse_advance(pf_parser *p);
/* Fails at the current token because `wanted` is expected there. */
bool pf_parse_unexpected(pf_parser *p, const char *wanted);
bool pf_parse_too_deep(pf_parser *p, uint32_t at);
/* Pushes an operand (PF_IS_…) at the current token. */
pf_operand *pf_parse_operand(pf_parser *p, unsigned what);
/* Pushes an operator at the current token. */
pf_waiting *pf_parse_operator(pf_parser *p, unsigned code, unsigned rank);

/* Returns true if the token is a name followed by "(". */
bool pf_parse_is_call(const pf_parser *p);
/* Reads a function, beginning at its name.  Leaves *operand true if the function is complete.  Sets
 * it to false if the function has a condition, which is read next like the content of
 * parentheses. */
bool pf_parse_call(pf_parser *p, bool *operand);
/* Ends a function with a condition, at its ")". */
bool pf_parse_end_call(pf_parser *p, const pf_waiting *w);

#endif
