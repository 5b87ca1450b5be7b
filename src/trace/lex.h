/* Tokens of a print fmt: a few kinds of C's. */
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

#endif
