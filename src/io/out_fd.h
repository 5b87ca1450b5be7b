/* A sink that writes to a descriptor: the caller's, or one of a file that is made for it.  Files
 * that appear under a name later, and directories of them, begin with it. */
#ifndef PF_IO_OUT_FD_H
#define PF_IO_OUT_FD_H

#include "io/out_behind.h"
#include "io/out_kind.h"

typedef struct pf_out_fd {
    perfile_sink base;
    int fd;
    bool own;          /* closed by us */
    uint64_t start;    /* offset in the file of our first byte */
    pf_behind *behind; /* not NULL: it writes all that comes, from … */
    uint64_t at;       /* … this offset in the file on */
} pf_out_fd;

extern const pf_sink_ops pf_out_fd_ops;

/* Makes `fd` the descriptor, and finds out whether bytes can be replaced once they are written. */
void pf_out_fd_take(pf_out_fd *f, int fd, bool own);

/* Creates the file `path`, which must not be there, for its owner alone to read; *plain is the mode
 * that new files get there. */
perfile_status pf_out_fd_create(pf_out_fd *f, const char *path, mode_t *plain, perfile_error *err);

/* The functions of pf_out_fd_ops, for kinds that begin with a pf_out_fd. */
int64_t pf_out_fd_write(perfile_sink *s, perfile_bytes b);
int64_t pf_out_fd_write_lasting(perfile_sink *s, perfile_bytes b);
int pf_out_fd_settle(perfile_sink *s);
int64_t pf_out_fd_patch(perfile_sink *s, uint64_t offset, perfile_bytes b);
int pf_out_fd_flush(perfile_sink *s);
perfile_status pf_out_fd_finish(perfile_sink *s, perfile_error *err); /* syncs if wanted, closes */
void pf_out_fd_close(perfile_sink *s);

/* Whether finishing waits until the output is on the disk. */
static inline bool pf_out_fd_syncs(const perfile_sink *s)
{
    return s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL);
}

#endif
