/* Bytes that are not in memory, seen through one buffer that moves over them. */
#ifndef PF_IO_SOURCE_WINDOW_H
#define PF_IO_SOURCE_WINDOW_H

#include "io/source_kind.h"

typedef struct pf_window pf_window;

struct pf_window {
    perfile_source base;
    /* Up to `len` bytes at offset `at`: how many, 0 at the end, or a negative errno.  A stream is
     * asked for every byte once, in order. */
    int64_t (*read)(pf_window *w, uint64_t at, void *buf, size_t len);
    void (*release)(pf_window *w); /* may be NULL */

    uint8_t *memory; /* holds buf, which begins with a page */
    uint8_t *buf;
    size_t cap;
    size_t head; /* buf[head] is the byte at offset `at`, `len` bytes are valid from there … */
    size_t len;
    uint64_t at;
    size_t back; /* … and so many in front of it, which are those in front of `at` */

    /* A regular file that is read through the window is mapped, too: what lasts, and what is longer
     * than WINDOW_MOST, is looked at there.  None: all of it goes through the window. */
    perfile_bytes whole;

    int fd;
    perfile_source_callbacks callbacks;
    uint64_t position; /* of the callback's next read */
};

extern const pf_source_ops pf_window_ops;

/* `size` is PF_SIZE_UNKNOWN for a stream. */
perfile_status pf_source_window(int fd, bool own, uint64_t size, const char *name,
                                const perfile_source_options *options, perfile_source **source,
                                perfile_error *err);

/* Takes the mapping of all of a regular file, made with mmap(): closing the source unmaps it. */
void pf_window_beside(perfile_source *window, perfile_bytes whole);

#endif
