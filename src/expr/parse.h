/* The state of parsing. */
#ifndef PF_EXPR_PARSE_H
#define PF_EXPR_PARSE_H

#include "expr/code.h"

enum {
    PF_MOST_WAITING = 8 * PF_EXPR_NESTING, /* on each level of nesting one of each rank */
    PF_RANK_OPEN = 0,
    PF_RANK_OR,
    PF_RANK_AND,
    PF_RANK_COMPARE,
    PF_RANK_SUM,
    PF_RANK_PRODUCT,
    PF_RANK_PREFIX
};

enum { PF_WAITS_GROUP = 100, PF_WAITS_LOOP, PF_WAITS_MINUS }; /* beside tokens */

typedef struct pf_waiting {
    uint8_t code; /* PF_TOKEN_…, WAITS_… */
    uint8_t rank;
    uint32_t at;
    uint32_t step; /* the jump of && and ||, or the LOOP */
} pf_waiting;

typedef struct pf_parser {
    pf_compiler c;
    pf_token token;
    unsigned depth;
    size_t n_operands, n_operators;
    pf_operand operands[PF_MOST_WAITING];
    pf_waiting operators[PF_MOST_WAITING];
} pf_parser;

/* Each is false, or NULL, after a failure. */

/* To the next token. */
bool pf_parse_advance(pf_parser *p);
/* Fails at the token, where `wanted` should stand. */
bool pf_parse_unexpected(pf_parser *p, const char *wanted);
bool pf_parse_too_deep(pf_parser *p, uint32_t at);
pf_operand *pf_parse_operand(pf_parser *p, unsigned what);
pf_waiting *pf_parse_operator(pf_parser *p, unsigned code, unsigned rank);

/* Whether the token is a name with a ( behind it. */
bool pf_parse_is_call(const pf_parser *p);
/* At the name of a function.  *operand: an operand has been read, not the beginning of one. */
bool pf_parse_call(pf_parser *p, bool *operand);
/* At the ) of any(), all() and count(). */
bool pf_parse_end_call(pf_parser *p, const pf_waiting *w);

#endif
