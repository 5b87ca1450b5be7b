/* The lexer: cuts an expression into tokens, one at a call.  Tokens are ranges of the text; nothing
 * is copied. */
#ifndef PF_EXPR_LEX_H
#define PF_EXPR_LEX_H

#include "expr/program.h"

enum {
    PF_TOKEN_END,
    PF_TOKEN_NUMBER,
    PF_TOKEN_TEXT,    /* quotes and all: see pf_lex_text() */
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
    uint32_t at, len; /* in the text */
    uint64_t number;  /* NUMBER: its value, with its unit */
} pf_token;

/* Reads the token at or behind position `at`, after white space.  On failure err says what is
 * wrong, and t->at is the position of the token. */
perfile_status pf_lex(const char *text, uint32_t at, pf_token *t, perfile_error *err);

/* Appends the content of a TEXT token to `out`, without quotes and escapes.  In a pattern a
 * backslash stays in front of the characters that would have a meaning there.  On failure *wrong is
 * the position of the bad escape. */
perfile_status pf_lex_text(const char *text, const pf_token *t, bool pattern, pf_buffer *out,
                           uint32_t *wrong, perfile_error *err);

#endif
