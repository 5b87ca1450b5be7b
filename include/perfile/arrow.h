/* Yields the rows of a table of a capture as a stream of Arrow arrays, for engines and data frames
 * that accept the Arrow C stream interface (pyarrow, polars, R, DuckDB …).
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
 * The structs are defined by the specifications "Arrow C data interface" and "Arrow C stream
 * interface" of Apache Arrow.  They are declared here unless another header already did so; no
 * Arrow library is needed. */
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

/* The type of an array.  The caller provides the struct; everything that it points to belongs to
 * the producer. */
struct ArrowSchema {
    const char *format;             /* the type: "l" is a number of 64 bits … */
    const char *name;               /* of the column */
    const char *metadata;           /* keys and values, each preceded by its length; NULL: none */
    int64_t flags;                  /* ARROW_FLAG_… */
    int64_t n_children;             /* number of members of the type */
    struct ArrowSchema **children;  /* their types */
    struct ArrowSchema *dictionary; /* type of the what the numbers index; NULL: they are values */
    void (*release)(struct ArrowSchema *); /* frees it, and sets this to NULL */
    void *private_data;                    /* the producer's */
};

/* Values.  The caller provides this struct, too. */
struct ArrowArray {
    int64_t length;                       /* items */
    int64_t null_count;                   /* items that are null; -1: not counted */
    int64_t offset;                       /* items in the buffers before the first one */
    int64_t n_buffers;                    /* number of buffers of the type */
    int64_t n_children;                   /* number of members of the type */
    const void **buffers;                 /* validity bits, then values; or offsets before these */
    struct ArrowArray **children;         /* values of the members */
    struct ArrowArray *dictionary;        /* what the numbers index; NULL: they are values */
    void (*release)(struct ArrowArray *); /* frees it, and sets this to NULL */
    void *private_data;                   /* the producer's */
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE /**< the struct below is declared */

/* Arrays of one type, one after the other.  Functions that return int return 0 or an errno. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out); /* the type */
    /* The next array; after the last one out->release is NULL. */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    /* The error of the last call; valid until the next one. */
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *); /* frees it, and sets this to NULL */
    void *private_data;                         /* the producer's */
};

#endif

enum {                             /* perfile_table_options.flags */
       PERFILE_TABLE_WIDE = 1 << 0 /* also fill branches and registers of `samples` */
};

/* Which rows and columns to read, and how to read the capture.  Set `size`; zeros are the defaults.
 */
typedef struct perfile_table_options {
    size_t size;
    uint32_t flags;   /* PERFILE_TABLE_… */
    uint32_t threads; /* threads that resolve samples; 0, 1: only the caller's */
    /* Names of the columns, each once, in the order for the stream; NULL: all columns of the table.
     */
    const char *const *columns;
    size_t n_columns; /* items of `columns`; 0 with NULL */
    /* How function names are looked up.  Copies of user stacks are unwound, too.  NULL: columns of
     * functions are null. */
    const perfile_symbols_options *symbols;
    const perfile_open_options *how;      /* as for perfile_open(); NULL: the defaults */
    const perfile_filter_options *filter; /* selects the records; NULL: all */
    uint64_t reserved[6];
} perfile_table_options;

/* Opens the rows of a table of the capture on `source`: "samples", another table of
 * format/tables.def, or "tracepoints/event=SYSTEM:NAME", with columns that are known once a sample
 * of that tracepoint is found.
 *
 * *out yields a struct for each row, with the columns as its children.  Texts are indexes into a
 * dictionary, and each array has its own.  A time in the column `wall` is in µs, UTC.  `metadata`
 * of a column has `unit`, `source` and `doc`, if there are any; `metadata` of the whole has
 * `perfile.schema`, the version of the tables.  Arrays have offset 0, and their buffers are not
 * copies.  Arrays live until they are released, even if the stream is released before; a child may
 * be moved out of its parent.
 *
 * This call reads the capture once or more for its names and mappings.  It is read once more as
 * arrays are requested.  A pipe is first copied to a temporary file.  A capture of another format
 * is translated.  All options are copied.  If reading fails, get_next() first yields the rows
 * before the failure, then fails, each time with the same error: EIO, EINVAL, ENOMEM, or EFBIG for
 * a limit.
 *
 * The stream owns `source` on success.  PERFILE_E_USAGE: there is no such table, column or
 * tracepoint.  Errors of perfile_open_filtered() and perfile_symbols_open(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_table_stream(
    perfile_source *source, const char *table, const perfile_table_options *options,
    struct ArrowArrayStream *out, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
