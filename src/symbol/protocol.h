/* The protocol between the library and perfile-symbolizer: questions and answers over a socket,
 * which is descriptor 0 of the program.
 *
 * Both sides come from one build and run on one machine, so numbers are in native byte order.
 * Neither side trusts the other: the symbolizer has read hostile bytes, so its answers are checked
 * like any hostile input. */
#ifndef PF_SYMBOL_PROTOCOL_H
#define PF_SYMBOL_PROTOCOL_H

#include <stdint.h>

enum {
    PF_PROTOCOL = 0x31736670, /* "pfs1"; changes whenever this file does */

    PF_DEMANGLED_SIZE = 4096, /* longest demangled name with its NUL; longer ones stay mangled */
    PF_MANGLED_SIZE = 2048,   /* longest mangled name with its NUL; longer ones are not demangled */
    PF_DEMANGLE_MOST = 256,   /* names in one question */

    PF_PLACES_MOST = 64,  /* functions at one address, including inlined ones; nesting of blocks */
    PF_PLACE_TEXT = 4096, /* longest function or file name with its NUL; longer ones are cut */
    PF_QUESTION_MOST = PF_DEMANGLE_MOST * PF_MANGLED_SIZE, /* bytes after a question */
    PF_ANSWER_MOST = PF_DEMANGLE_MOST * PF_DEMANGLED_SIZE  /* bytes after an answer */
};

enum { /* pf_question.what */
       /* `n` NUL-terminated texts follow.  Answer: `n` texts, empty where a name is not mangled, is
        * too long, or was not demangled in time. */
       PF_ASK_DEMANGLE = 1,
       /* A descriptor of an ELF file is sent along.  `bytes` is the inflated size of its debug
        * sections.  Answer: `n` is the number of the file from now on, or PF_NO_DEBUG_INFO. */
       PF_ASK_OPEN = 2,
       /* `n` is the number of a file, `address` is an address in it.  Answer: `n` places, innermost
        * first.  Each is a pf_place followed by the function and the file as NUL-terminated texts,
        * empty if unknown. */
       PF_ASK_PLACES = 3
};

#define PF_NO_DEBUG_INFO UINT32_MAX

typedef struct pf_question {
    uint32_t protocol; /* PF_PROTOCOL */
    uint32_t what;
    uint32_t n;
    uint32_t size;     /* bytes that follow */
    uint32_t demangle; /* whether function names in places are demangled */
    uint32_t unused;
    uint64_t address;
    uint64_t bytes;
    uint64_t allowed; /* ns of CPU time for the answer */
} pf_question;

typedef struct pf_answer {
    uint32_t protocol; /* PF_PROTOCOL */
    uint32_t n;
    uint32_t size;    /* bytes that follow */
    uint32_t refused; /* names that took too long */
    uint64_t used;    /* ns of CPU time */
} pf_answer;

typedef struct pf_place {
    uint32_t line; /* 0: unknown */
} pf_place;

#endif
