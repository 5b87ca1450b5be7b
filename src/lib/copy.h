/* The inside of perfile_copy(), for those who feed several writers with one stream. */
#ifndef PF_LIB_COPY_H
#define PF_LIB_COPY_H

#include "base/buffer.h"
#include "lib/notes.h"
#include "lib/progress.h"
#include "perfile/abi.h"
#include "stage/fragments.h"

typedef struct pf_copy {
    perfile_copy_options options;
    perfile_copy_summary result;
    pf_notes notes;
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_container *container;
    perfile_writer *writer;
    uint32_t from, to; /* PERFILE_FORM_… */
    bool packs;        /* the writer compresses */
    bool one_of_many;  /* the files of a directory go into one */
    bool begun;        /* the writer has its events */
    uint64_t split;    /* sequence of the last envelope that is a piece */
    pf_fragments
        pieces; /* they go on with what they make, so that none are written that make nothing */

    /* From a pipe into a file: records before the first of the kernel wait, because a file has its
     * events in front of all records. */
    pf_buffer held;      /* their bytes */
    size_t held_most;    /* so many; more do not wait */
    pf_buffer ids;       /* perfile_words: of each event, as it came */
    pf_buffer build_ids; /* of HEADER_BUILD_ID records, as feature BUILD_ID has them */
    uint64_t taken[PERFILE_N_FEATURES / 64]; /* features whose records became sections */

    pf_progress progress;
} pf_copy;

static inline bool pf_copy_forced(const pf_copy *x)
{
    return x->options.flags & PERFILE_COPY_FORCE;
}

/* Makes `x`, all zero, ready to write records of `s` to `w`; the options are complete. */
void pf_copy_start(pf_copy *x, perfile_stream *s, perfile_writer *w,
                   const perfile_copy_options *options);
/* Whether the writer takes records of that family at all. */
perfile_status pf_copy_check(const pf_copy *x, perfile_error *err);
/* Facts that stand in front of the records. */
perfile_status pf_copy_begin(pf_copy *x, perfile_error *err);
/* A run; what is not plain is alone in its own.  When pf_copy_wants_extra() then, the bytes behind
 * its first record go to perfile_writer_extra(). */
perfile_status pf_copy_take(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err);
bool pf_copy_wants_extra(const pf_copy *x);
/* Facts that stand behind the records; finishes the writer. */
perfile_status pf_copy_finish(pf_copy *x, perfile_error *err);
void pf_copy_free(pf_copy *x);

/* The first damage of a stream as an error. */
perfile_status pf_copy_refuse(const perfile_stream_summary *sum, perfile_error *err);

/* Writes records that nobody needs to look at. */
perfile_status pf_copy_put(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err);

void pf_copy_note(pf_copy *x, uint32_t kind, uint32_t number, uint32_t damage, uint64_t bytes,
                  const perfile_record *r);

/* lib/copy_stream.c: of a pipe that becomes a file.  Takes the record when it is a fact, or must
 * wait; *took says whether.  What waits goes out with pf_copy_release() of
 * lib/copy_facts.c. */
perfile_status pf_copy_take_fact(pf_copy *x, const perfile_record *r, bool *took,
                                 perfile_error *err);
perfile_status pf_copy_release(pf_copy *x, perfile_error *err);

#endif
