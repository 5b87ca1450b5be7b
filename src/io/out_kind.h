/* Shared by the kinds of sinks: descriptors (pf_out_fd), names and modes, sets of files. */
#ifndef PF_IO_OUT_KIND_H
#define PF_IO_OUT_KIND_H

#include <sys/stat.h>

#include "io/out.h"
#include "io/inputs.h"

/* Sizes of buffers.  Large writes cost the kernel less per byte; the parts of a directory get
 * smaller buffers, because many are open at once. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SINK_BUFFER = 4 << 10, PF_SINK_PART_BUFFER = 1 << 10 }; /* small outputs fill them, too */
#else
enum { PF_SINK_BUFFER = 1 << 20, PF_SINK_PART_BUFFER = 256 << 10 };
#endif

/* Allocates `bytes` zeroed bytes for a struct that begins with a perfile_sink.  Fills in ops, a
 * copy of the name ("output" if NULL), the checked options, their inputs, and a buffer of `buffer`
 * bytes (none if 0).  `sink` is the address of a pointer to that struct, of any type. */
perfile_status pf_sink_new(size_t bytes, const pf_sink_ops *ops, const char *name,
                           const perfile_sink_options *options, size_t buffer, void *sink,
                           perfile_error *err);

/* Fails with PERFILE_E_IO, the message "cannot `what` 'NAME'" and the text of errno `sys`. */
perfile_status pf_sink_fail_io(const perfile_sink *s, int sys, const char *what,
                               perfile_error *err);

/* Stores the error of a failed write in the sink, unless it has an earlier one.  Returns the stored
 * error. */
perfile_status pf_sink_keep_io(perfile_sink *s, int sys, perfile_error *err);

/* A sink that writes to a descriptor: one of the caller, or of a file that the sink itself creates.
 * The structs of files and directories (out_file.c, out_dir.c) begin with a pf_out_fd. */

typedef struct pf_out_fd {
    perfile_sink base;
    int fd;
    bool own;       /* the sink closes `fd` */
    uint64_t start; /* file offset of the sink's first byte */
} pf_out_fd;

extern const pf_sink_ops pf_out_fd_ops;

/* Sets `fd` as the descriptor and finds out whether written bytes can be overwritten.  If `own`,
 * close() closes it.  A failure is stored in the sink. */
void pf_out_fd_take(pf_out_fd *f, int fd, bool own);

/* Creates the file `path`, which must not exist, readable only by its owner.  Sets *plain to the
 * mode that a new file gets there by umask and defaults. */
perfile_status pf_out_fd_create(pf_out_fd *f, const char *path, mode_t *plain, perfile_error *err);

/* The functions of pf_out_fd_ops, for kinds whose struct begins with a pf_out_fd. */
int64_t pf_out_fd_write(perfile_sink *s, perfile_bytes b);
int64_t pf_out_fd_patch(perfile_sink *s, uint64_t offset, perfile_bytes b);
void pf_out_fd_close(perfile_sink *s);

/* Also one of them.  Syncs if the options ask for it, then closes the descriptor if the sink owns
 * it. */
perfile_status pf_out_fd_finish(perfile_sink *s, pf_sink_end how, perfile_error *err);

/* Returns true if finishing waits until the output is on disk. */
static inline bool pf_out_fd_syncs(const perfile_sink *s)
{
    return s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL);
}

/* Names and modes of outputs: temporary names next to the final name, and who may read the
 * result. */

/* Returns a copy of the first `n` bytes of `path`, or NULL when out of memory.  The caller releases
 * it with pf_free(). */
char *pf_out_copy_path(const char *path, size_t n);

/* Returns "PATH.KIND-xxxxxxxx" with eight random letters, or NULL when out of memory.  The last
 * component is shortened if the name would be longer than 255 bytes.  `owner` (an address) and
 * `try` (the number of the attempt) vary the letters.  The caller releases the result with
 * pf_free(). */
char *pf_out_temporary_name(const char *path, const char *kind, const void *owner, unsigned try);

/* Creates the new file `path` for writing.  Returns the descriptor, or -1 with errno; errno is
 * EEXIST if the name already exists. */
int pf_out_create(const char *path, mode_t mode);

/* `fd` was just created with mode 0666.  Returns the mode that umask and defaults made of it, and
 * removes access for others, so that nobody else reads the file before it has its final name. */
mode_t pf_out_make_private(int fd);

/* Returns the final mode of a file that gets the name `target`: the mode of the file it replaces,
 * or `plain` if there is none, restricted to what all inputs grant to a file of group `group`. */
mode_t pf_out_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group);

/* Returns why a FIFO or device must not be written to unless the caller asked to replace it: "a
 * FIFO of another user", who would get the capture, or "a block device", which would lose its
 * contents.  Returns NULL if it may be written to.  `user` is the effective user. */
const char *pf_out_refusal(const struct stat *sb, uid_t user);

/* Syncs the directory that contains `path`, so that a new name in it survives a crash.  Errors are
 * ignored: the file itself is safe. */
void pf_out_sync_folder(const char *path);

/* A set of files that appear together, all or none; used by split and by folders of files.
 *
 * Until then they are in a temporary folder, PATH.WHAT-XXXXXXXX (perfile-split). data.N is file
 * number N until it gets its name; old.N is the file that it replaced, kept until all files have
 * their names.  If the process is killed in between, the folder remains: each name has either the
 * complete old file or the complete new file, and the folder has the other one. */

typedef struct pf_out_set pf_out_set;

/* Makes the folder next to `path`, unless it would be inside one of `inputs` (copied).  With
 * `replace`, existing files may be replaced.  The caller closes the set. */
perfile_status pf_out_set_new(const char *path, const char *what, bool replace,
                              const pf_inputs *inputs, pf_out_set **set, perfile_error *err);

/* Adds inputs.  Fails if the folder is inside one of them. */
perfile_status pf_out_set_reads(pf_out_set *set, const pf_inputs *inputs, perfile_error *err);

/* Returns the path of the folder, for cleaning up in a signal handler.  Valid until the set is
 * closed. */
const char *pf_out_set_folder(const pf_out_set *set);

/* Makes the sink of the next file; `name` is its final name, for messages.  The caller finishes and
 * closes the sink before pf_out_set_appear(). */
perfile_status pf_out_set_next(pf_out_set *set, const char *name, perfile_sink **sink,
                               perfile_error *err);

/* Checks that a file can get that name.  Fails with PERFILE_E_IO; err->sys is EEXIST if the
 * existing file must not be replaced, 0 if it is an input. */
perfile_status pf_out_set_check_name(pf_out_set *set, const char *name, perfile_error *err);

/* Gives the files their names. name(user, n) returns the name of file n; all are in the folder of
 * the `path` passed to pf_out_set_new().  If one fails, all names are restored. */
perfile_status pf_out_set_appear(pf_out_set *set, const char *(*name)(void *user, uint32_t n),
                                 void *user, perfile_error *err);

/* Removes the folder and the files left in it, and releases the set.  `set` may be NULL. */
void pf_out_set_close(pf_out_set *set);

#endif
