/* What the files of the form `firefox` share: the profile that is being written, and how its values
 * are written.
 *
 * A label is a thread of the output.  firefox.c writes the frame of the file, and in it
 * firefox_threads.c one thread after the other; that takes markers from firefox_markers.c and the
 * tables of stacks from firefox_tables.c, which begins anew with each thread. */
#ifndef PF_EXPORT_FIREFOX_H
#define PF_EXPORT_FIREFOX_H

#include "export/export.h"

/* A selection of numbered things, in the order in which they were selected first. */
typedef struct pf_selection {
    uint32_t *place; /* for each thing: its position in `at`, + 1; 0: it is not selected */
    uint32_t *at;    /* the selected things */
    size_t n, size;
} pf_selection;

/* The emitter. */
typedef struct pf_firefox {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;      /* functions */
    pf_buffer texts;     /* const char *: the table of texts, of the profile's texts */
    pf_index positions;  /* address of a text to its position among them */
    pf_buffer name;      /* scratch, for a name that is being written */
    pf_index mains;      /* pid to the label of its main thread */
    bool per_event;      /* threads are apart by event, and there are several: names say which */
    const char *sampled; /* the event of samples, if they are not apart; NULL: none, not known */
    uint64_t interval;   /* ns from sample to sample; 0: not known */
    /* Of the thread that is being written.  Stacks and frames are those of the profile, times two:
     * plus 1 where they are callers. */
    pf_selection stacks, frames, functions, resources;
    const char **files; /* of the source, of each function; NULL: not known */
    pf_buffer path;     /* scratch of select_stack() */
} pf_firefox;

/* firefox.c: values. */

enum { PF_NS_PER_MS = 1000000 };

/* A function that writes one value of a column. */
typedef void pf_firefox_value(pf_firefox *f, size_t row);

static inline void pf_firefox_put(pf_firefox *f, const char *text)
{
    pf_export_put_text(&f->x, text);
}

/* Writes ns as ms, with decimals. */
void pf_firefox_ms(pf_firefox *f, uint64_t ns);

/* Writes the position in the table of texts of a name of a capture, at most `most` bytes of it. */
void pf_firefox_text(pf_firefox *f, const char *name, size_t most);

/* Writes `"name":[…]` of `n` values. */
perfile_status pf_firefox_column(pf_firefox *f, const char *name, size_t n, pf_firefox_value *value,
                                 perfile_error *err);

/* firefox_threads.c: threads and their samples. */

/* Chooses the event whose samples are shown as samples, and makes markers of the samples of other
 * events, unless threads are apart by event.  Call it before the tracks are sorted. */
perfile_status pf_firefox_choose_event(pf_firefox *f, perfile_error *err);

/* Prepares what threads need, and their tables. */
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

/* Writes the number of a stack, which is put into the tables with all that it needs. */
void pf_firefox_put_stack(pf_firefox *f, uint32_t stack);

/* Writes the tables, after all stacks of a thread. */
perfile_status pf_firefox_put_tables(pf_firefox *f, perfile_error *err);

#endif
