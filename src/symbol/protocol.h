/* What the library and perfile-symbolizer say to each other, over a socket that is descriptor 0 of
 * the latter: questions, each with its answer.
 *
 * Both are of one build and run on one machine, so numbers are in its byte order.  Neither believes
 * the other: the symbolizer has read hostile bytes, and what comes from it is checked like them. */
#ifndef PF_SYMBOL_PROTOCOL_H
#define PF_SYMBOL_PROTOCOL_H

#include <stdint.h>

enum {
    PF_PROTOCOL = 0x31736670, /* "pfs1": changes with this file */

    PF_DEMANGLED_SIZE = 4096, /* room for a demangled name with its NUL; longer ones stay mangled */
    PF_MANGLED_SIZE = 2048,   /* of a mangled name with its NUL; longer ones are not demangled */
    PF_DEMANGLE_MOST = 256,   /* names in one question */

    PF_PLACES_MOST = 64,  /* functions at one address, those inlined included; nesting of blocks */
    PF_PLACE_TEXT = 4096, /* of a function or file with its NUL; longer ones are cut */
    PF_QUESTION_MOST = PF_DEMANGLE_MOST * PF_MANGLED_SIZE, /* bytes after a question */
    PF_ANSWER_MOST = PF_DEMANGLE_MOST * PF_DEMANGLED_SIZE  /* bytes after an answer */
};

enum { /* pf_question.what */
       /* `n` texts follow, each with its NUL.  Answer: as many, empty where a name is not
        * mangled, or too long, or not demangled in time. */
       PF_ASK_DEMANGLE = 1,
       /* A descriptor comes with it: an ELF file.  `bytes`: of its debug sections, inflated.
        * Answer: `n` is the number of the file from now on, PF_NO_DEBUG_INFO if there is none. */
       PF_ASK_OPEN = 2,
       /* `n` is the number of a file, `address` one of it.  Answer: `n` places, innermost first,
        * each a pf_place and the texts of function and file, each with its NUL, empty if unknown.
        */
       PF_ASK_PLACES = 3
};

#define PF_NO_DEBUG_INFO UINT32_MAX

typedef struct pf_question {
    uint32_t protocol; /* PF_PROTOCOL */
    uint32_t what;
    uint32_t n;
    uint32_t size;     /* bytes that follow */
    uint32_t demangle; /* names of functions in places */
    uint32_t unused;
    uint64_t address;
    uint64_t bytes;
    uint64_t allowed; /* ns of processor time until the answer */
} pf_question;

typedef struct pf_answer {
    uint32_t protocol; /* PF_PROTOCOL */
    uint32_t n;
    uint32_t size;    /* bytes that follow */
    uint32_t refused; /* names that took too long */
    uint64_t used;    /* ns of processor time */
} pf_answer;

typedef struct pf_place {
    uint32_t line; /* 0: unknown */
} pf_place;

#endif
