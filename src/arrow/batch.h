/* Rows of a table as columns, in the memory layout of Arrow: what makers of rows fill, and writers
 * read.
 *
 * A column is numbers one after the other, a bit map that says which of them are there, and for
 * lists where each begins.  A text is a number in the distinct texts of its column.  As long as all
 * items of a column are null it has no memory, and as long as none is it has no bit map; most
 * columns of most captures are so.
 *
 * A column for which there is no memory sets `no_memory` of its batch; whoever has filled it looks
 * once. */
#ifndef PF_ARROW_BATCH_H
#define PF_ARROW_BATCH_H

#include "base/buffer.h"
#include "model/index.h"
#include "perfile/base.h"
#include "arrow/schema.h"

/* Distinct texts, valid UTF-8.  All zeros is empty. */
typedef struct pf_column_texts {
    pf_buffer bytes;
    pf_buffer
        offsets; /* int32_t: where each begins in `bytes`, and behind the last; empty if n is 0 */
    uint32_t n;
    struct pf_text_slot { /* a hash table: */
        uint32_t number;  /* + 1; 0: free */
        uint32_t hash;
    } * slots;
    size_t n_slots;    /* a power of two, at least twice `n`; 0: none yet */
    pf_index by_place; /* number of each text that pf_column_same_text() got, by its address */
    const char *last;  /* of these, the one that was asked for last; NULL: none */
    uint32_t last_number;
    pf_buffer scratch; /* a text that is being escaped */
} pf_column_texts;

/* A column.  The members of a GROUP have as many items as it, those of a LIST as many as there are
 * structures in all its lists. */
typedef struct pf_table_column {
    const pf_column_about *about;
    struct pf_table_batch *batch;
    bool wanted;  /* else nothing is kept: n stays 0 */
    bool by_hand; /* nulls do not come by themselves: of members of a LIST, and as a maker says */
    size_t n;     /* items, of a list lists */
    size_t nulls; /* of them */
    pf_buffer valid; /* bit i, from the lowest: item i is there; empty if nulls is 0 or n */
    /* The items: 4 bytes of I32 and of texts (numbers in `texts`), 8 of the other numbers, bits of
     * BOOL; of I64S and TEXTS the elements of all lists.  Of a null 0.  Empty if nulls is n. */
    pf_buffer data;
    pf_buffer
        offsets; /* int32_t, of TEXTS, I64S, LIST: where each list begins, and behind the last */
    pf_column_texts texts; /* of TEXT, TEXTS */
} pf_table_column;

/* Some rows. */
typedef struct pf_table_batch {
    const pf_table_about *about;
    size_t rows;              /* that are complete */
    pf_table_column *columns; /* as about->columns … */
    size_t n;                 /* … and how many: a complete batch may outlive `about` */
    bool no_memory;
} pf_table_batch;

/* An empty batch of all columns.  `about` must live as long.  NULL: there is no memory. */
pf_table_batch *pf_table_batch_new(const pf_table_about *about);
void pf_table_batch_free(pf_table_batch *b);

/* An empty batch of the same columns, of which the same are wanted, and filled by hand.  NULL:
 * there is no memory. */
pf_table_batch *pf_table_batch_again(const pf_table_batch *b);

/* Forgets all rows, and keeps memory for as many. */
void pf_table_batch_clear(pf_table_batch *b);

/* Bytes of its rows, about. */
size_t pf_table_batch_bytes(const pf_table_batch *b);

/* Lets columns that are all null have memory, too: for readers that know only the layout of Arrow.
 * False: there is no memory. */
bool pf_table_batch_complete(pf_table_batch *b);

/* A row is complete: each column got one item, or was not touched, and will get a null. */
static inline void pf_table_batch_row(pf_table_batch *b)
{
    b->rows++;
}

/* The last row is complete: columns that were not touched get their nulls.  False: there was no
 * memory for something. */
bool pf_table_batch_end(pf_table_batch *b);

/* The next item of a column. */
void pf_column_null(pf_table_column *c);
void pf_column_bool(pf_table_column *c, bool value);
void pf_column_double(pf_table_column *c, double value);

/* A number of I32, I64, U64, WALL; in two's complement if it is below zero. */
void pf_column_number(pf_table_column *c, uint64_t value);

/* A text, which is copied; bytes that are no UTF-8 become \xNN, and \ becomes \\ in such a text.
 * NULL is a null. */
void pf_column_text(pf_table_column *c, const char *text);
void pf_column_bytes(pf_table_column *c, perfile_bytes text);

/* The same for a text that stays as it is where it is until pf_table_batch_clear() or
 * pf_column_forget(): then it is looked up by its address. */
void pf_column_same_text(pf_table_column *c, const char *text);

/* What was looked up by address may be gone: of all columns. */
void pf_table_batch_forget(pf_table_batch *b);

/* A list: its elements come first (elements of I64S and TEXTS, or one item for each member of a
 * LIST), then pf_column_list_end(), which makes all since the list before an item. */
void pf_column_element(pf_table_column *c, uint64_t value);
void pf_column_element_text(pf_table_column *c, const char *text);
void pf_column_list_end(pf_table_column *c, size_t n);

/* A structure that is there: an item of GROUP, after which each member gets one. */
void pf_column_group(pf_table_column *c);

/* For readers. */

static inline bool pf_column_is_null(const pf_table_column *c, size_t i)
{
    if (!c->nulls || c->nulls == c->n)
        return c->nulls;
    return !(c->valid.ptr[i / 8] >> i % 8 & 1);
}

/* Text number `i` of a column. */
static inline perfile_bytes pf_column_text_at(const pf_column_texts *t, uint32_t i)
{
    const int32_t *at = (const void *)t->offsets.ptr;
    return (perfile_bytes){t->bytes.ptr + at[i], (size_t)(at[i + 1] - at[i])};
}

/* Bytes of an item of a type in `data`; 0: of BOOL, GROUP and LIST. */
size_t pf_column_width(pf_column_type type);

#endif
