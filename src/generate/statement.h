/* A statement of a description: one line, divided into words. */
#ifndef PF_GENERATE_STATEMENT_H
#define PF_GENERATE_STATEMENT_H

#include "generate/spec.h"

enum { PF_STATEMENT_WORDS = PF_GIVEN_MOST + 3 };

/* A line that is being read. */
typedef struct pf_statement {
    pf_spec *spec;
    uint32_t line;
    char *words[PF_STATEMENT_WORDS];
    unsigned n;
    perfile_error *err;
} pf_statement;

/* Adds what the words say to the description. */
perfile_status pf_statement_read(pf_statement *s);

#endif
