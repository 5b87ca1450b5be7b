/* Tokens of a print fmt, which are a subset of C's, and the functions that it may call. */
#ifndef PF_TRACE_LEX_H
#define PF_TRACE_LEX_H

#include "perfile/base.h"

enum { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN, TOKEN_BAD };

typedef struct pf_print_token {
    uint8_t kind; /* TOKEN_… */
    char sign[3]; /* "<<" */
    uint64_t number;
    perfile_bytes text; /* a name; the text between the quotes of a literal */
} pf_print_token;

/* Removes the next token from `t`. */
pf_print_token pf_print_token_read(perfile_bytes *t);

/* Functions of the kernel's macros, by their arguments: a field; a value and a table; values; a
 * type. */
enum { CALL_FIELD, CALL_TABLE, CALL_VALUES, CALL_SIZE };

typedef struct pf_print_call {
    const char *name;
    uint8_t kind; /* CALL_… */
    uint8_t code; /* PF_PRINT_… of its step */
    uint8_t n_arguments;
} pf_print_call;

extern const pf_print_call pf_print_calls[];

/* Returns the index of a function in the table; -1: unknown. */
int pf_print_call_find(perfile_bytes name);

#endif
