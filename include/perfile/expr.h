/* Conditions on records, written as text:
 *
 *     type == SAMPLE && period > 1e6 && (pid == 7 || comm ~ "gcc*")
 *
 * format/expressions.md describes the language; its names are those of the rows of format/.  A text
 * is checked and compiled once; testing a record allocates nothing.  An expression may be used by
 * one thread at a time; for several threads, compile the same text several times. */
#ifndef PERFILE_EXPR_H
#define PERFILE_EXPR_H

#include "field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A condition that was compiled. */
typedef struct perfile_expr perfile_expr;

enum { /* type of a name */
       PERFILE_EXPR_NUMBER = 1 << 0,
       PERFILE_EXPR_TEXT = 1 << 1, /* bytes that are not text count as their hex digits */
       PERFILE_EXPR_LIST = 1 << 2, /* for any(), all() and count() */
       PERFILE_EXPR_OTHER = 1 << 3 /* for has() only */
};

/* The answer of a provider. */
typedef struct perfile_expr_value {
    uint64_t number;    /* in two's complement when negative */
    bool negative;      /* `number` is below zero */
    perfile_bytes text; /* valid until the provider is called again for another record */
} perfile_expr_value;

/* Supplies names that are in no table: the name of the thread of a sample (`comm`), the object
 * mapped at its address (`dso`) … .  For a name that is also in tables, the provider is asked for
 * records that do not have the field. */
typedef struct perfile_expr_provider {
    size_t size;
    void *user;
    /* Called while compiling.  Returns PERFILE_EXPR_NUMBER or TEXT if `name` ("comm", "dso") is or
     * may become known, and stores a number for use with `answer` in *handle; returns 0 if it is
     * not known. */
    uint32_t (*knows)(void *user, const char *name, uint32_t *handle);
    /* Called for a record.  Returns PERFILE_OK, PERFILE_END if the record has no such value, or a
     * failure, which the test then returns. */
    perfile_status (*answer)(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err);
} perfile_expr_provider;

enum { /* perfile_expr_options.flags */
       /* Treat names that neither the tables nor the provider know as fields of tracepoints
        * (prev_pid, sched_switch.prev_pid).  They are looked up when the first sample is tested; if
        * no tracepoint of its capture has the field, the test fails with PERFILE_E_USAGE. */
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

/* Compiles `text` (NUL-terminated UTF-8); `options` may be NULL.  PERFILE_E_USAGE: it is not an
 * expression, a name is unknown or types do not match. err.offset is then the byte of the text with
 * the error; err.message names the column and ends with two lines that show the position.
 * PERFILE_E_LIMIT: longer than 1 MiB, nested deeper than 64 levels, or more than 8192 steps or 1024
 * names.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_expr_open(const char *text,
                                                              const perfile_expr_options *options,
                                                              perfile_expr **expr,
                                                              perfile_error *err);

/* Tests the condition on `r`; *yes is the result.  Call it before the next call on the record's
 * stream.  A record that cannot be decoded has only its leading fields at fixed offsets.  Fails if
 * the provider fails; see also PERFILE_EXPR_PAYLOADS. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_expr_test(perfile_expr *expr,
                                                              const perfile_record *r, bool *yes,
                                                              perfile_error *err);

/* NULL is fine. */
PERFILE_API void perfile_expr_close(perfile_expr *expr);

/* A name that an expression may use. */
typedef struct perfile_expr_name {
    const char *record; /* "mmap2": a field of such records; "": of every record */
    const char *name;   /* "values.time_enabled"; ".from" is in the elements of `list` */
    const char *list;   /* name of the list, else NULL */
    const char *doc;    /* description, in a few words */
    const perfile_vocabulary *words; /* words for its values or parts, or NULL */
    uint32_t type;                   /* PERFILE_EXPR_… */
    uint32_t kind;                   /* PERFILE_KIND_… */
    uint64_t reserved[2];
} perfile_expr_name;

/* Calls `name` for each name, those of every record first.  `what` is valid during the call. */
PERFILE_API void perfile_expr_names(void (*name)(void *user, const perfile_expr_name *what),
                                    void *user);

#ifdef __cplusplus
}
#endif

#endif
