/* Small captures, damaged or with failing calls, through all commands. */
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
    /* Of `step` damages in a row one is read, which one depends on `seed`; 1: all of them.  For
     * named damages: the number of seeds, and the first one. */
    uint64_t step, seed;
} every_target;

/* Seen by the process that waits, too. */
typedef struct every_progress {
    char damage[200]; /* the reading that is going on */
    char command[120];
    char why[200];   /* what is wrong with it */
    char words[400]; /* the beginning of what it said on standard error */
    uint64_t damages;
    uint64_t read; /* of them */
    uint64_t same; /* bytes that were so before */
    uint64_t readings;
    uint64_t by_status[4];
    uint64_t output_bytes; /* of the longest */
    uint64_t memory_kb;    /* by how much the peak rose */
    double seconds;        /* of processor time, the longest reading */
} every_progress;

/* What a child process does.  Each returns when all went well, else fills p->why and ends the
 * process. */
void every_damage(const every_target *target, every_progress *p);  /* prefixes, bytes and bits */
void every_fault(const every_target *target, every_progress *p);   /* those of `perfile damage` */
void every_failing(const every_target *target, every_progress *p); /* the n-th call */

/* Returns how many damages every_damage() makes of so many bytes, with those that change nothing.
 */
uint64_t every_damages(size_t len);

/* Fills p->why and ends the process. */
void every_wrong(every_progress *p, const char *why) __attribute__((noreturn));

/* Reads `target` as it is: with all commands if they are `all`, else with the usual ones and one of
 * the others, which `n` chooses. */
void every_reading(const every_target *target, uint64_t n, bool all, every_progress *p);

/* Returns the number of command lines that every_reading() runs. */
uint64_t every_readings(bool all);

/* The command lines: the usual ones come first, those that read no capture last. */
enum { EVERY_USUAL = 3 };
size_t every_n_commands(bool reading);

/* What is particular about command line `i`. */
enum {
    EVERY_REFUSES = 1 << 0, /* its options may be wrong for some captures: exit status 2 */
    EVERY_VARIES = 1 << 1,  /* its output may be another one when memory is short: a chunk of an
                             * archive is packed in another way */
    EVERY_QUIET = 1 << 2    /* it prints nothing if there is nothing of that kind */
};
unsigned every_command_flags(size_t i);

/* Runs number `i` on `target`, says in p->command what runs, and returns its exit status. */
int every_command_run(size_t i, const every_target *target, every_progress *p);

/* What a command wrote. */
typedef struct every_output {
    uint64_t out, err; /* bytes on standard output and standard error */
    uint64_t made;     /* files and folders */
    uint64_t hash;     /* of all that was written but standard error */
} every_output;

/* Collects it, and removes it.  A file that is neither an input nor an output ends the process. */
void every_output_take(every_output *o, every_progress *p);

/* Calls of the system that can fail (system.c). */
enum { EVERY_FAIL_NOTHING, EVERY_FAIL_MEMORY, EVERY_FAIL_CALL };

/* From now on call number `n` of that kind fails, with `sys` in errno; n = 0: none does.  Calls
 * are counted until every_fail_end(), which returns how many there were. */
void every_fail_begin(unsigned what, uint64_t n, int sys);
uint64_t every_fail_end(void);

/* They fail, and are counted, only while a command runs: every_command_run() says when. */
void every_fail_on(bool on);

/* Returns the name of the function that failed since every_fail_begin(), or NULL. */
const char *every_fail_name(void);

#endif
