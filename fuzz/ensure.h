/* A property that a fuzz target checks: if it is false, the input is a finding. */
#ifndef FUZZ_ENSURE_H
#define FUZZ_ENSURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ENSURE(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Choices are taken from the end of the input, so that the bytes of the format come first. */
typedef struct choices {
    const uint8_t *ptr;
    size_t left;
} choices;

static inline uint64_t choose(choices *c, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes-- && c->left)
        v = v << 8 | c->ptr[--c->left];
    return v;
}

#endif
