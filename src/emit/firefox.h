/* The form `firefox`: what its parts share.
 *
 * firefox.c writes what stands once (meta, libraries, texts), firefox_thread.c the threads, each
 * with tables of its own (firefox_tables.c), as the format has them. */
#ifndef PF_EMIT_FIREFOX_H
#define PF_EMIT_FIREFOX_H

#include "emit/export.h"
#include "emit/tracks.h"

/* A selection of numbered things, in the order in which they were selected first. */
typedef struct pf_selection {
    uint32_t *place; /* of each thing + 1; 0: not selected */
    uint32_t *at;    /* the things that are */
    size_t n, size;
} pf_selection;

typedef struct pf_firefox {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;     /* functions */
    pf_buffer texts;    /* const char *: the table of texts, of the profile's texts */
    pf_index positions; /* address of a text to its position among them */
    pf_buffer name;
    pf_index mains; /* pid to the label of its main thread */
    bool per_event; /* there are several events: names of threads say theirs */
    /* Of the thread that is being written.  Stacks and frames are those of the profile, times two:
     * plus 1 where they are callers. */
    pf_selection stacks, frames, functions, resources;
    pf_buffer path;
} pf_firefox;

/* A function that writes one value of a column. */
typedef void pf_firefox_value(pf_firefox *f, size_t row);

/* Writes `"name":[…]` of `n` values. */
perfile_status pf_firefox_column(pf_firefox *f, const char *name, size_t n, pf_firefox_value *value,
                                 perfile_error *err);

/* Writes ns as ms, with decimals. */
void pf_firefox_ms(pf_firefox *f, uint64_t ns);

/* Writes the position in the table of texts of a name of a capture, at most `most` bytes of it. */
void pf_firefox_text(pf_firefox *f, const char *name, size_t most);

/* Prepares what threads need, and their tables.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_firefox_open_threads(pf_firefox *f, perfile_error *err);
perfile_status pf_firefox_open_tables(pf_firefox *f, perfile_error *err);
void pf_firefox_close_tables(pf_firefox *f);

/* Empties the tables; writes the number of a stack, which gets into them; writes them. */
void pf_firefox_clear_tables(pf_firefox *f);
void pf_firefox_put_stack(pf_firefox *f, uint32_t stack);
perfile_status pf_firefox_put_tables(pf_firefox *f, perfile_error *err);

/* Writes the thread of a label. */
perfile_status pf_firefox_put_thread(pf_firefox *f, uint32_t label, perfile_error *err);

static inline void pf_firefox_put(pf_firefox *f, const char *text)
{
    pf_export_put_text(&f->x, text);
}

#endif
