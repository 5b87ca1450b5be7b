/* The conversation with perfile-symbolizer, which demangles names and reads debug information in a
 * process of its own (symbolizer/main.c says why). */
#ifndef PF_SYMBOL_HELPER_H
#define PF_SYMBOL_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "perfile/base.h"
#include "symbol/protocol.h"

enum {
    PF_HELPER_SECONDS = 2,      /* of processor time, to begin with */
    PF_HELPER_DEATH = 50000000, /* ns that the end of the program costs beside */
    PF_DEMANGLE_NS = 1000       /* of a byte of a name */
};

/* One conversation at a time, started by the first question.  What it may cost is one account of
 * processor time, which grows with the names, addresses and files that are asked about.  When it
 * is empty, no more questions are asked.  See format/limits.md. */
typedef struct pf_helper {
    pf_budget *budget;
    int socket; /* -1: it does not run */
    pid_t pid;
    unsigned starts; /* each begins anew: it knows no file */
    bool is_missing; /* the program was not found, or does not start */
    int64_t left;    /* ns of processor time; less than 0: the last question took longer */
    uint8_t *question, *answer;      /* bytes that follow the last ones */
    size_t question_cap, answer_cap; /* allocated and charged */
    uint64_t too_costly;             /* names and files that cost too much, or ended the program */
} pf_helper;

/* True if the program is there, and starts. */
bool pf_helper_is_there(void);

void pf_helper_init(pf_helper *h, pf_budget *budget);
void pf_helper_free(pf_helper *h);

/* Adds to the account of processor time. */
void pf_helper_allow(pf_helper *h, uint64_t ns);

/* Asks: `q` with what follows it and the descriptor `fd` (-1: none); q->protocol and q->allowed are
 * set here, the latter to no more than is left.  a->size bytes of the answer are in h->answer until
 * the next question.  False: there is none, since the program is missing or ended; the next
 * question starts it again. */
bool pf_helper_ask(pf_helper *h, pf_question *q, int fd, pf_answer *a);

/* Demangling of C++ and Rust names, by perfile-symbolizer. */

/* True if this build can demangle. */
bool pf_can_demangle(void);

/* True if a name of `len` bytes may be mangled: what pf_demangle() asks about. */
bool pf_is_mangled(const char *name, size_t len);

/* Demangles `n` names, at most PF_DEMANGLE_MOST, in one question: scopes and template arguments,
 * without the parameters of functions, as perf shows them.  shown[i] is valid until the next
 * question; NULL if a name is not mangled, too long or too complicated, or there is no program to
 * ask.
 */
void pf_demangle(pf_helper *h, const perfile_bytes *names, size_t n, const char **shown);

/* The same for one name. */
const char *pf_demangle_one(pf_helper *h, const char *name);

#endif
