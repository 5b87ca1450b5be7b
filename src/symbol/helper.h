/* The client of perfile-symbolizer, a separate process that demangles names and reads debug
 * information (symbolizer/main.c says why). */
#ifndef PF_SYMBOL_HELPER_H
#define PF_SYMBOL_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "perfile/base.h"
#include "symbol/protocol.h"

enum {
    PF_HELPER_SECONDS = 2,      /* CPU time that is available from the start */
    PF_HELPER_DEATH = 50000000, /* ns that are charged when the program ends without an answer */
    PF_DEMANGLE_NS = 1000       /* CPU time allowed for each byte of a name */
};

/* A connection to the program, which the first question starts.  One account of CPU time limits its
 * cost; it grows with the names, addresses and files that are asked about.  When it is empty, no
 * more questions are sent.  See format/limits.md. */
typedef struct pf_helper {
    pf_budget *budget;
    int socket; /* -1: the program is not running */
    pid_t pid;
    unsigned starts;            /* times that it was started; a new process has no files open */
    bool is_missing;            /* the program was not found, or does not start */
    int64_t left;               /* ns of CPU time left; negative: the last question took longer */
    uint8_t *question, *answer; /* the bytes after pf_question and after pf_answer */
    size_t question_cap, answer_cap; /* allocated and charged */
    uint64_t too_costly;             /* names and files that took too long or ended the program */
} pf_helper;

/* Returns true if the program exists and starts. */
bool pf_helper_is_there(void);

void pf_helper_init(pf_helper *h, pf_budget *budget);
void pf_helper_free(pf_helper *h);

/* Adds CPU time to the account. */
void pf_helper_allow(pf_helper *h, uint64_t ns);

/* Sends `q`, the bytes after it and the descriptor `fd` (-1: none), and receives the answer.  Sets
 * q->protocol, and limits q->allowed to the time that is left.  The a->size bytes of the answer are
 * in h->answer until the next question.  Returns false if there is no answer, because the program
 * is missing or ended; the next question starts it again. */
bool pf_helper_ask(pf_helper *h, pf_question *q, int fd, pf_answer *a);

/* Demangling of C++ and Rust names by perfile-symbolizer. */

/* Returns true if this build can demangle. */
bool pf_can_demangle(void);

/* Returns true if a name of `len` bytes may be mangled.  Only such names are sent by
 * pf_demangle(). */
bool pf_is_mangled(const char *name, size_t len);

/* Demangles `n` names, at most PF_DEMANGLE_MOST, in one question.  The result has scopes and
 * template arguments but no function parameters, as perf shows them. shown[i] is valid until the
 * next question.  It is NULL if the name is not mangled, too long or too complicated, or if the
 * program did not answer. */
void pf_demangle(pf_helper *h, const perfile_bytes *names, size_t n, const char **shown);

/* Demangles one name, with the same result. */
const char *pf_demangle_one(pf_helper *h, const char *name);

#endif
