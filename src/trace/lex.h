/* Tokens of a print fmt, a few kinds of C's, and the functions that it may call. */
#ifndef PF_TRACE_LEX_H
#define PF_TRACE_LEX_H

#include "perfile/base.h"

enum { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN, TOKEN_BAD };

typedef struct pf_print_token {
    uint8_t kind; /* TOKEN_… */
    char sign[3]; /* "<<" */
    uint64_t number;
    perfile_bytes text; /* of a name; of a literal what is between the quotes */
} pf_print_token;

/* Takes the next token off `t`. */
pf_print_token pf_print_token_read(perfile_bytes *t);

/* Functions of the kernel's macros.  They take a field; a value and a table; values; the size of a
 * type. */
enum { CALL_FIELD, CALL_TABLE, CALL_VALUES, CALL_SIZE };

typedef struct pf_print_call {
    const char *name;
    uint8_t kind; /* CALL_… */
    uint8_t code; /* PF_PRINT_… of its step */
    uint8_t n_arguments;
} pf_print_call;

extern const pf_print_call pf_print_calls[];

/* The position of a function in the table; -1: there is none of that name. */
int pf_print_call_find(perfile_bytes name);

#endif
