/* The state of the parser, shared by parse.c and call.c (functions). */
#ifndef PF_EXPR_PARSE_H
#define PF_EXPR_PARSE_H

#include "expr/code.h"

enum {
    /* Size of both stacks: on each level of nesting at most one operator of each rank waits. */
    PF_MOST_WAITING = 8 * PF_EXPR_NESTING,
    /* Ranks of operators, from the loosest to the tightest. */
    PF_RANK_OPEN = 0, /* an opening parenthesis: nothing binds less */
    PF_RANK_OR,
    PF_RANK_AND,
    PF_RANK_COMPARE,
    PF_RANK_SUM,
    PF_RANK_PRODUCT,
    PF_RANK_PREFIX
};

/* pf_waiting.code besides tokens: "(", a function with a condition, the sign. */
enum { PF_WAITS_GROUP = 100, PF_WAITS_LOOP, PF_WAITS_MINUS };

/* An operator whose right operand is not complete. */
typedef struct pf_waiting {
    uint8_t code;  /* PF_TOKEN_…, PF_WAITS_… */
    uint8_t rank;  /* PF_RANK_… */
    uint32_t at;   /* in the text */
    uint32_t step; /* the JUMP of && and ||, or the LOOP: to be completed at the end */
} pf_waiting;

typedef struct pf_parser {
    pf_compiler c;
    pf_token token; /* the next one, not used yet */
    unsigned depth; /* of parentheses, functions and prefix operators */
    size_t n_operands, n_operators;
    pf_operand operands[PF_MOST_WAITING];
    pf_waiting operators[PF_MOST_WAITING];
} pf_parser;

/* All return false or NULL after a failure. */

/* Reads the next token. */
bool pf_parse_advance(pf_parser *p);
/* Fails at the token: `wanted` should be there. */
bool pf_parse_unexpected(pf_parser *p, const char *wanted);
bool pf_parse_too_deep(pf_parser *p, uint32_t at);
/* Pushes an operand (PF_IS_…) at the current token. */
pf_operand *pf_parse_operand(pf_parser *p, unsigned what);
/* Pushes an operator at the current token. */
pf_waiting *pf_parse_operator(pf_parser *p, unsigned code, unsigned rank);

/* True if the token is a name followed by "(". */
bool pf_parse_is_call(const pf_parser *p);
/* Reads a function, from its name on.  *operand stays true if all of it was read; it becomes false
 * if it has a condition, which is read next like the content of parentheses. */
bool pf_parse_call(pf_parser *p, bool *operand);
/* Ends a function with a condition, at its ")". */
bool pf_parse_end_call(pf_parser *p, const pf_waiting *w);

#endif
