/* Conditions on records, written as text:
 *
 *     type == SAMPLE && period > 1e6 && (pid == 7 || comm ~ "gcc*")
 *
 * The language is described in format/expressions.md; its names are those of the rows of format/.
 * A text is checked and compiled once; testing a record allocates nothing.  An expression is an
 * object as others: one thread at a time, several of the same text for several threads. */
#ifndef PERFILE_EXPR_H
#define PERFILE_EXPR_H

#include "field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A condition that was compiled. */
typedef struct perfile_expr perfile_expr;

enum { /* what a name stands for */
       PERFILE_EXPR_NUMBER = 1 << 0,
       PERFILE_EXPR_TEXT = 1 << 1, /* bytes that are no text count as their hex digits */
       PERFILE_EXPR_LIST = 1 << 2, /* for any(), all() and count() */
       PERFILE_EXPR_OTHER = 1 << 3 /* for has() only */
};

/* What a provider answers. */
typedef struct perfile_expr_value {
    uint64_t number;    /* in two's complement when negative */
    bool negative;      /* `number` is below zero */
    perfile_bytes text; /* valid until the provider is called again for another record */
} perfile_expr_value;

/* Names that no table has: the name of the thread of a sample (`comm`), what is mapped at its
 * address (`dso`) … .  A name that tables have too is asked of the provider
 * for records that do not have the field. */
typedef struct perfile_expr_provider {
    size_t size;
    void *user;
    /* While compiling: PERFILE_EXPR_NUMBER or TEXT when `name` ("comm", "dso") is
     * or may become known, and a number to ask for it with; 0: it is not. */
    uint32_t (*knows)(void *user, const char *name, uint32_t *handle);
    /* For a record: PERFILE_OK, PERFILE_END when it has no such thing, or a failure, which the test
     * then returns. */
    perfile_status (*answer)(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err);
} perfile_expr_provider;

enum { /* perfile_expr_options.flags */
       /* Names that neither the tables nor the provider know are fields of tracepoints (prev_pid,
        * sched_switch.prev_pid).  They are looked for when the first sample is tested; one that no
        * tracepoint of its capture has then fails with PERFILE_E_USAGE. */
       PERFILE_EXPR_PAYLOADS = 1 << 0
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_expr_options {
    size_t size;
    const perfile_expr_provider *provider; /* copied; NULL: none */
    uint32_t flags;                        /* PERFILE_EXPR_PAYLOADS */
    uint32_t reserved0;
    uint64_t reserved[5];
} perfile_expr_options;

/* Compiles `text` (NUL-terminated UTF-8); `options` may be NULL.
 * PERFILE_E_USAGE: it is no expression, a name is unknown or types do not fit; err.offset is the
 * byte of the text that is meant, err.message names the column, and ends with two lines that show
 * the place.  PERFILE_E_LIMIT: longer than 1 MiB, nested deeper than 64 levels, or of more than
 * 8192 steps or 1024 names; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_expr_compile(
    const char *text, const perfile_expr_options *options, perfile_expr **expr, perfile_error *err);

/* Whether the condition holds for `r`.  Ask before the next call on its stream.  A record that
 * cannot be decoded has only the fields at fixed places in front.  Fails when the provider does,
 * and see PERFILE_EXPR_PAYLOADS. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_expr_test(perfile_expr *expr,
                                                              const perfile_record *r, bool *yes,
                                                              perfile_error *err);

/* The same for first[0 .. n), n at most 64 (PERFILE_RUN_RECORDS): bit i of *yes is for first[i].
 * After a failure *yes is untouched. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_expr_test_run(perfile_expr *expr,
                                                                  const perfile_record *first,
                                                                  size_t n, uint64_t *yes,
                                                                  perfile_error *err);

/* NULL is fine. */
PERFILE_API void perfile_expr_close(perfile_expr *expr);

/* A name that an expression may use. */
typedef struct perfile_expr_name {
    const char *record;              /* "mmap2": a field of such records; "": of every record */
    const char *name;                /* "values.time_enabled"; ".from" is of the elements of … */
    const char *list;                /* … this list, else NULL */
    const char *doc;                 /* what it is, in a few words */
    const perfile_vocabulary *words; /* of its values or parts, or NULL */
    uint32_t type;                   /* PERFILE_EXPR_… */
    uint32_t kind;                   /* PERFILE_KIND_… */
    uint64_t reserved[2];
} perfile_expr_name;

/* Shows all names, those of every record first; what `name` is called with is gone after it. */
PERFILE_API void perfile_expr_names(void (*name)(void *user, const perfile_expr_name *what),
                                    void *user);

#ifdef __cplusplus
}
#endif

#endif
