/* Every prefix and every damaged byte of a small capture, through the commands. */
#ifndef TESTS_EVERY_H
#define TESTS_EVERY_H

#include "builder.h"

/* A capture: a file, or the files `data` and `data.0` of a directory. */
typedef struct every_form {
    bool directory;
    builder file, second; /* released by build_clear() */
} every_form;

/* A generated capture, or one of samples/captures; false when there is none of that name. */
bool every_form_make(const char *name, every_form *form);

/* What is read: `path` is given to the commands, `fd` is the file whose bytes are damaged. */
typedef struct every_target {
    const char *path;
    int fd;
    perfile_bytes whole;
    /* Of `step` damages in a row one is read, which one depends on `seed`; 1: all of them. */
    uint64_t step, seed;
} every_target;

/* Seen by the process that waits, too. */
typedef struct every_progress {
    char damage[40]; /* the reading that is going on */
    char command[80];
    char why[80]; /* what is wrong with it */
    uint64_t damages;
    uint64_t read; /* of them */
    uint64_t same; /* bytes that were so before */
    uint64_t readings;
    uint64_t by_status[4];
    uint64_t output_bytes; /* of the longest */
    uint64_t memory_kb;    /* by how much the peak rose */
    double seconds;        /* of processor time, the longest reading */
} every_progress;

/* Does all of it, in a process of its own: returns when all went well, else fills p->why and ends
 * the process. */
void every_damage(const every_target *target, every_progress *p);

/* Reads `target` as it is with the n-th variant of each command. */
void every_reading(const every_target *target, uint64_t n, every_progress *p);

#endif
