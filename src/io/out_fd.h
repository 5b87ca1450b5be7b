/* A sink that writes to a descriptor: the caller's, or that of a file that the sink itself creates.
 * The structs of files and directories (out_file.c, out_dir.c) begin with a pf_out_fd. */
#ifndef PF_IO_OUT_FD_H
#define PF_IO_OUT_FD_H

#include "io/out_kind.h"

typedef struct pf_out_fd {
    perfile_sink base;
    int fd;
    bool own;       /* the sink closes `fd` */
    uint64_t start; /* offset in the file where the sink's first byte lies */
} pf_out_fd;

extern const pf_sink_ops pf_out_fd_ops;

/* Sets `fd` as the descriptor and finds out if written bytes can be overwritten.  `own`: close()
 * closes it.  A failure is kept in the sink. */
void pf_out_fd_take(pf_out_fd *f, int fd, bool own);

/* Creates the file `path`, which must not exist, and makes it readable by its owner only.  *plain
 * becomes the mode that a new file gets there by umask and defaults. */
perfile_status pf_out_fd_create(pf_out_fd *f, const char *path, mode_t *plain, perfile_error *err);

/* The functions of pf_out_fd_ops, for kinds whose struct begins with a pf_out_fd. */
int64_t pf_out_fd_write(perfile_sink *s, perfile_bytes b);
int64_t pf_out_fd_patch(perfile_sink *s, uint64_t offset, perfile_bytes b);
int pf_out_fd_flush(perfile_sink *s);
void pf_out_fd_close(perfile_sink *s);

/* Also one of them: syncs if the options ask for it, then closes the descriptor if the sink owns
 * it. */
perfile_status pf_out_fd_finish(perfile_sink *s, perfile_error *err);

/* True if finishing waits until the output is on the disk. */
static inline bool pf_out_fd_syncs(const perfile_sink *s)
{
    return s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL);
}

#endif
