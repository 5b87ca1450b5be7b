/* Shared by the files of the form `firefox`: the profile that is being written, and functions that
 * write its values.
 *
 * Each label is a thread of the output.  firefox.c writes the outer parts of the file, and
 * firefox_threads.c writes the threads one by one.  A thread gets its markers from
 * firefox_markers.c and its tables of stacks from firefox_tables.c, which start empty for each
 * thread. */
#ifndef PF_EXPORT_FIREFOX_H
#define PF_EXPORT_FIREFOX_H

#include "export/export.h"

/* A selection of numbered items, in the order of their first selection. */
typedef struct pf_selection {
    uint32_t *place; /* for each item: its index in `at`, + 1; 0 if not selected */
    uint32_t *at;    /* the selected items */
    size_t n, size;
} pf_selection;

/* The emitter. */
typedef struct pf_firefox {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;      /* functions */
    pf_buffer texts;     /* const char *: the table of texts, which are texts of the profile */
    pf_index positions;  /* address of a text to its index in `texts` */
    pf_buffer name;      /* scratch, for a name */
    pf_index mains;      /* pid to the label of its main thread */
    bool per_event;      /* threads are separate by event; names include the event */
    const char *sampled; /* the event of samples, unless per_event; NULL if none or not known */
    uint64_t interval;   /* ns between samples; 0 if not known */
    /* For the thread that is being written.  Keys of stacks and frames are their numbers in the
     * profile, times two, plus 1 if they are callers. */
    pf_selection stacks, frames, functions, resources;
    const char **files; /* source file of each function; NULL if not known */
    pf_buffer path;     /* scratch of select_stack() */
} pf_firefox;

/* firefox.c: values. */

enum { PF_NS_PER_MS = 1000000 };

/* Writes one value of a column. */
typedef void pf_firefox_value(pf_firefox *f, size_t row);

static inline void pf_firefox_put(pf_firefox *f, const char *text)
{
    pf_export_put_text(&f->x, text);
}

/* Writes ns as ms, with decimals. */
void pf_firefox_ms(pf_firefox *f, uint64_t ns);

/* Writes the index of a name of a capture in the table of texts, cut to `most` bytes. */
void pf_firefox_text(pf_firefox *f, const char *name, size_t most);

/* Writes `"name":[…]` with `n` values. */
perfile_status pf_firefox_column(pf_firefox *f, const char *name, size_t n, pf_firefox_value *value,
                                 perfile_error *err);

/* firefox_threads.c: threads and their samples. */

/* Chooses the event for samples, and makes markers of the samples of other events, unless threads
 * are separate by event.  Must be called before the tracks are sorted. */
perfile_status pf_firefox_choose_event(pf_firefox *f, perfile_error *err);

/* Prepares the threads and their tables. */
perfile_status pf_firefox_open_threads(pf_firefox *f, perfile_error *err);

/* Writes the thread of a label. */
perfile_status pf_firefox_put_thread(pf_firefox *f, uint32_t label, perfile_error *err);

/* firefox_markers.c: markers and their schema. */

perfile_status pf_firefox_put_markers(pf_firefox *f, uint32_t label, perfile_error *err);
void pf_firefox_put_schemas(pf_firefox *f);

/* firefox_tables.c: the tables of stacks, frames, functions and libraries of a thread. */

perfile_status pf_firefox_open_tables(pf_firefox *f, perfile_error *err);
void pf_firefox_close_tables(pf_firefox *f);

/* Empties the tables, before a thread. */
void pf_firefox_clear_tables(pf_firefox *f);

/* Writes the number of a stack, and adds it to the tables with everything it refers to. */
void pf_firefox_put_stack(pf_firefox *f, uint32_t stack);

/* Writes the tables, after all stacks of a thread. */
perfile_status pf_firefox_put_tables(pf_firefox *f, perfile_error *err);

#endif
