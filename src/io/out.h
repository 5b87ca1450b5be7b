/* The inside of perfile_sink: formatting straight into its buffer, and patching. */
#ifndef PF_IO_OUT_H
#define PF_IO_OUT_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/sink.h"

typedef struct pf_out_dir pf_out_dir;

typedef enum pf_sink_kind { PF_SINK_MEMORY, PF_SINK_FD, PF_SINK_CALLBACK } pf_sink_kind;

struct perfile_sink {
    pf_buffer buffer; /* not handed on yet; a memory sink never does */
    uint64_t passed;  /* bytes handed on */
    pf_sink_kind kind;
    uint32_t flags;
    char *name;

    int fd;
    bool own_fd;
    bool patchable;
    uint64_t start;   /* offset in the file of our first byte */
    char *target;     /* under which the file appears, or NULL */
    char *temporary;  /* under which it is written */
    bool appeared;    /* the file has its name; `temporary` stays, a signal handler may look */
    mode_t plain;     /* mode of new files there */
    pf_inputs inputs; /* what must stay as it is */
    pf_out_dir *dir;  /* what is written is `data` of a directory; NULL else */
    perfile_sink_callbacks callbacks;

    bool finished;
    perfile_error error; /* status PERFILE_OK while all is well */
};

/* The slow path of pf_sink_reserve(). */
perfile_status pf_sink_room(perfile_sink *s, size_t n);

/* Gives room for `n` bytes at *at, valid until the next call on `s`.  What was written there counts
 * with pf_sink_commit().  The error is kept: pf_sink_status() tells it. */
static inline perfile_status pf_sink_reserve(perfile_sink *s, size_t n, uint8_t **at)
{
    if (s->buffer.cap - s->buffer.len < n || s->finished || s->error.status) {
        perfile_status st = pf_sink_room(s, n);
        if (st != PERFILE_OK)
            return st;
    }
    *at = s->buffer.ptr + s->buffer.len;
    return PERFILE_OK;
}

/* `n` bytes of the room reserved last were filled. */
static inline void pf_sink_commit(perfile_sink *s, size_t n)
{
    s->buffer.len += n;
}

/* Larger writes cost the kernel less for each byte; of many files at once each has less. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SINK_BUFFER = 4 << 10, PF_SINK_PART_BUFFER = 1 << 10 }; /* small outputs fill them, too */
#else
enum { PF_SINK_BUFFER = 1 << 20, PF_SINK_PART_BUFFER = 256 << 10 };
#endif

/* A sink with its name and, unless it is memory, a buffer of that size. */
perfile_status pf_sink_make(pf_sink_kind kind, const char *name,
                            const perfile_sink_options *options, size_t buffer, perfile_sink **sink,
                            perfile_error *err);

/* Finds out whether and where bytes of s->fd can be replaced once they are written. */
void pf_sink_look(perfile_sink *s);

/* Tells the sink what is read to make its output: refuses what would change that, for good, and
 * limits the mode of what appears. */
perfile_status pf_sink_reads(perfile_sink *s, const pf_inputs *inputs, perfile_error *err);

/* Whether the output may still take its place: PERFILE_E_IO when an input is there. */
perfile_status pf_sink_apart(perfile_sink *s, perfile_error *err);

/* The error that was kept, or PERFILE_OK. */
perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err);

/* Whether bytes that were written can be replaced: memory and regular files, not pipes, callbacks
 * and files opened for appending. */
bool pf_sink_can_patch(const perfile_sink *s);

/* Replaces bytes at `offset` (0 is the first byte of this sink), all of which were written before.
 * PERFILE_E_USAGE when they were not, or when the sink cannot. */
perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err);

/* Hands on what is buffered and gives the file its name now, unfinished as it is. */
perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err);

#endif
