/* The rows of a table of a capture, as a stream of Arrow arrays: for engines and data frames that
 * take the Arrow C stream interface (pyarrow, polars, R, DuckDB …).
 *
 *     perfile_source *source;
 *     struct ArrowArrayStream rows;
 *     struct ArrowArray batch;
 *     perfile_error err;
 *     if (perfile_source_path("perf.data", NULL, &source, &err) == PERFILE_OK &&
 *         perfile_table_stream(source, "samples", NULL, &rows, &err) == PERFILE_OK) {
 *         while (rows.get_next(&rows, &batch) == 0 && batch.release) {
 *             …
 *             batch.release(&batch);
 *         }
 *         rows.release(&rows);
 *     }
 *
 * What the structs mean is said by the specifications "Arrow C data interface" and "Arrow C stream
 * interface" of Apache Arrow.  They are declared here unless another header did so before, and no
 * library of Arrow is needed. */
#ifndef PERFILE_ARROW_H
#define PERFILE_ARROW_H

#include "filter.h"
#include "source.h"
#include "stream.h"
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE /**< the two structs below are declared */

#define ARROW_FLAG_DICTIONARY_ORDERED 1 /**< the order of numbers is that of their values */
#define ARROW_FLAG_NULLABLE           2 /**< items may be null */
#define ARROW_FLAG_MAP_KEYS_SORTED    4 /**< keys of a map are in order */

/* The type of an array.  Storage of the caller; all that it points to is the producer's. */
struct ArrowSchema {
    const char *format;                    /* the type: "l" is a number of 64 bits … */
    const char *name;                      /* of the column */
    const char *metadata;                  /* keys and values, each behind its length; NULL: none */
    int64_t flags;                         /* ARROW_FLAG_… */
    int64_t n_children;                    /* how many members the type has */
    struct ArrowSchema **children;         /* their types */
    struct ArrowSchema *dictionary;        /* of what the numbers stand for; NULL: themselves */
    void (*release)(struct ArrowSchema *); /* frees it, and sets this to NULL */
    void *private_data;                    /* the producer's */
};

/* Values.  Storage of the caller likewise. */
struct ArrowArray {
    int64_t length;                       /* items */
    int64_t null_count;                   /* items that are null; -1: not counted */
    int64_t offset;                       /* items in the buffers in front of the first one */
    int64_t n_buffers;                    /* how many buffers the type has */
    int64_t n_children;                   /* how many members the type has */
    const void **buffers;                 /* bits of what is there, then values, or offsets first */
    struct ArrowArray **children;         /* values of the members */
    struct ArrowArray *dictionary;        /* what the numbers stand for; NULL: themselves */
    void (*release)(struct ArrowArray *); /* frees it, and sets this to NULL */
    void *private_data;                   /* the producer's */
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE /**< the struct below is declared */

/* Arrays of one type, one after the other.  Functions that return int return 0 or an errno. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out); /* the type */
    /* The next array; behind the last one out->release is NULL. */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    /* What the last call failed of, until the next one. */
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *); /* frees it, and sets this to NULL */
    void *private_data;                         /* the producer's */
};

#endif

enum {                             /* perfile_table_options.flags */
       PERFILE_TABLE_WIDE = 1 << 0 /* fill branches and registers of `samples`, too */
};

/* Which rows and columns of a table, and how the capture is read.  Set `size`; zeros are the
 * defaults. */
typedef struct perfile_table_options {
    size_t size;
    uint32_t flags;   /* PERFILE_TABLE_… */
    uint32_t threads; /* that find out where samples were; 0, 1: only the caller's */
    /* Names of the columns, each once, in the order in which the stream has them; NULL: all of the
     * table. */
    const char *const *columns;
    size_t n_columns; /* how many names there are; 0 with NULL */
    /* Functions get their names, looked up so, and copies of user stacks are unwound.  NULL:
     * columns of functions are null. */
    const perfile_symbols_options *symbols;
    const perfile_open_options *how;      /* as for perfile_open(); NULL: the defaults */
    const perfile_filter_options *filter; /* the records that count; NULL: all */
    uint64_t reserved[6];
} perfile_table_options;

/* Opens the rows of a table of the capture on `source`: "samples", or another one of
 * format/tables.def, or "tracepoints/event=SYSTEM:NAME", whose columns are known when a sample of
 * it was found.
 *
 * *out gives a struct for each row: its children are the columns.  Texts are numbers in a
 * dictionary, each array having its own; a time of the column `wall` is in µs, UTC; `metadata` of a
 * column has `unit`, `source` and `doc`, as far as they are there, and of the whole
 * `perfile.schema`, the version of the tables.  Arrays have offset 0, and their buffers are not
 * copies.  They live until they are released, also when the stream was released before; a child
 * may be moved out of its parent.
 *
 * The capture is read here once or more for the names and mappings that are in it, then once more
 * as arrays are asked for; a pipe is copied to a temporary file first.  A capture of another format
 * is translated.  All options are copied.  get_next() fails of what reading a capture fails of
 * (EIO, EINVAL, ENOMEM, of a limit EFBIG), after it gave the rows in front; then, each time with
 * the same error.
 *
 * The stream owns `source` from success on; on failure it is closed, too.  PERFILE_E_USAGE: there
 * is no such table, column or tracepoint.  Errors of perfile_filter_open() and
 * perfile_symbols_open(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_table_stream(
    perfile_source *source, const char *table, const perfile_table_options *options,
    struct ArrowArrayStream *out, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
