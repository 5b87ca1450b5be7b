/* Rows of a table as columns, in the memory layout of Arrow.  Makers of rows fill them, and writers
 * read them.
 *
 * A column is an array of numbers, a bit map of the valid ones and, for lists, the offset at which
 * each begins.  A text is a number: its index in the distinct texts of its column.  A column has no
 * memory as long as all its items are null, and no bit map as long as none is.  This is the case
 * for most columns of most captures.
 *
 * A column that runs out of memory sets `no_memory` of its batch, so that callers check only
 * once. */
#ifndef PF_ARROW_BATCH_H
#define PF_ARROW_BATCH_H

#include "base/buffer.h"
#include "model/index.h"
#include "perfile/base.h"
#include "arrow/schema.h"

/* Distinct texts in valid UTF-8.  All zeros is empty. */
typedef struct pf_column_texts {
    pf_buffer bytes;
    pf_buffer offsets; /* int32_t, n + 1 of them: begin of each in `bytes`, then the end; empty if n
                          is 0 */
    uint32_t n;
    struct pf_text_slot { /* a hash table: */
        uint32_t number;  /* + 1; 0: free */
        uint32_t hash;
    } * slots;
    size_t n_slots;    /* a power of two, at least twice `n`; 0: none yet */
    pf_index by_place; /* address of each text of pf_column_same_text() to its number */
    const char *last;  /* the last text that was looked up by address; NULL: none */
    uint32_t last_number;
    pf_buffer scratch; /* for escaping a text */
} pf_column_texts;

/* A column.  Members of a GROUP have as many items as the GROUP; members of a LIST have as many as
 * all its lists together have structures. */
typedef struct pf_table_column {
    const pf_column_about *about;
    struct pf_table_batch *batch;
    bool wanted;  /* otherwise it stores nothing: n stays 0 */
    bool by_hand; /* missing items do not become null: for members of a LIST, and as requested by a
                     maker */
    size_t n;     /* items; for a list, the number of lists */
    size_t nulls; /* number of null items */
    pf_buffer valid; /* bit i, from the lowest: item i is not null; empty if nulls is 0 or n */
    /* The items: 4 bytes for I32 and texts (indices in `texts`), 8 for the other numbers, bits for
     * BOOL; for I64S and TEXTS the elements of all lists.  Nulls have 0.  Empty if nulls is n. */
    pf_buffer data;
    pf_buffer offsets;     /* int32_t, for TEXTS, I64S, LIST: begin of each list, then the end */
    pf_column_texts texts; /* for TEXT, TEXTS */
} pf_table_column;

/* Some rows. */
typedef struct pf_table_batch {
    const pf_table_about *about;
    size_t rows;              /* complete rows */
    pf_table_column *columns; /* in the order of about->columns … */
    size_t n;                 /* … and their number: a complete batch may outlive `about` */
    bool no_memory;
} pf_table_batch;

/* Makes an empty batch with all columns.  `about` must live as long.  Returns NULL when out of
 * memory. */
pf_table_batch *pf_table_batch_new(const pf_table_about *about);
void pf_table_batch_free(pf_table_batch *b);

/* Makes an empty batch with the same columns and the same settings of `wanted` and `by_hand`.
 * Returns NULL when out of memory. */
pf_table_batch *pf_table_batch_again(const pf_table_batch *b);

/* Removes all rows, and keeps their memory. */
void pf_table_batch_clear(pf_table_batch *b);

/* Returns the approximate size of its rows. */
size_t pf_table_batch_bytes(const pf_table_batch *b);

/* Allocates memory for columns that are all null, too, for readers that know only the layout of
 * Arrow.  Returns false when out of memory. */
bool pf_table_batch_complete(pf_table_batch *b);

/* Ends a row.  Each column has received one item, or will get a null. */
static inline void pf_table_batch_row(pf_table_batch *b)
{
    b->rows++;
}

/* Ends the last row: missing items become nulls.  Returns false if any memory was missing. */
bool pf_table_batch_end(pf_table_batch *b);

/* Append an item to a column. */
void pf_column_null(pf_table_column *c);
void pf_column_bool(pf_table_column *c, bool value);
void pf_column_double(pf_table_column *c, double value);

/* Appends a number to I32, I64, U64 or WALL; negative ones in two's complement. */
void pf_column_number(pf_table_column *c, uint64_t value);

/* Append a copy of a text.  If it is not valid UTF-8, invalid bytes become \xNN and \ becomes \\.
 * NULL is a null. */
void pf_column_text(pf_table_column *c, const char *text);
void pf_column_bytes(pf_table_column *c, perfile_bytes text);

/* Does the same for a text that stays unchanged at its address until pf_table_batch_clear() or
 * pf_table_batch_forget().  It is looked up by its address. */
void pf_column_same_text(pf_table_column *c, const char *text);

/* Drops all lookups by address, because the texts may be gone. */
void pf_table_batch_forget(pf_table_batch *b);

/* A list: append its elements first (elements of I64S and TEXTS, or one item to each member of a
 * LIST), then call pf_column_list_end(), which makes an item of all elements since the last
 * list. */
void pf_column_element(pf_table_column *c, uint64_t value);
void pf_column_element_text(pf_table_column *c, const char *text);
void pf_column_list_end(pf_table_column *c, size_t n);

/* Appends a structure to a GROUP.  Then each member must get an item. */
void pf_column_group(pf_table_column *c);

/* Functions for readers. */

static inline bool pf_column_is_null(const pf_table_column *c, size_t i)
{
    if (!c->nulls || c->nulls == c->n)
        return c->nulls;
    return !(c->valid.ptr[i / 8] >> i % 8 & 1);
}

/* Returns text number `i` of a column.  If all texts are empty there may be no bytes to point to.
 */
static inline perfile_bytes pf_column_text_at(const pf_column_texts *t, uint32_t i)
{
    const int32_t *at = (const void *)t->offsets.ptr;
    const size_t len = (size_t)(at[i + 1] - at[i]);
    return (perfile_bytes){len ? t->bytes.ptr + at[i] : (const uint8_t *)"", len};
}

/* Returns the size of an item of a type in `data`; 0 for BOOL, GROUP and LIST. */
size_t pf_column_width(pf_column_type type);

#endif
