/* What the kinds of sinks share: descriptors (pf_out_fd), names and modes, sets of files. */
#ifndef PF_IO_OUT_KIND_H
#define PF_IO_OUT_KIND_H

#include <sys/stat.h>

#include "io/out.h"
#include "io/inputs.h"

/* Sizes of buffers.  Large writes cost the kernel less per byte; the parts of a directory, of which
 * many are open at once, get smaller buffers. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SINK_BUFFER = 4 << 10, PF_SINK_PART_BUFFER = 1 << 10 }; /* filled by small outputs, too */
#else
enum { PF_SINK_BUFFER = 1 << 20, PF_SINK_PART_BUFFER = 256 << 10 };
#endif

/* Allocates `bytes` zeroed bytes for a struct that begins with a perfile_sink, and fills in ops, a
 * copy of the name (NULL: "output"), the checked options, their inputs, and a buffer of `buffer`
 * bytes (0: none yet).  `sink` is the address of a pointer to that struct, of any type. */
perfile_status pf_sink_new(size_t bytes, const pf_sink_ops *ops, const char *name,
                           const perfile_sink_options *options, size_t buffer, void *sink,
                           perfile_error *err);

/* Returns PERFILE_E_IO with the message "cannot `what` 'NAME'" and the text of errno `sys`. */
perfile_status pf_sink_fail_io(const perfile_sink *s, int sys, const char *what,
                               perfile_error *err);

/* Keeps the error of a failed write in the sink, unless it holds an earlier one; returns the kept
 * one. */
perfile_status pf_sink_keep_io(perfile_sink *s, int sys, perfile_error *err);

/* A sink that writes to a descriptor: the caller's, or that of a file that the sink itself creates.
 * The structs of files and directories (out_file.c, out_dir.c) begin with a pf_out_fd. */

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
void pf_out_fd_close(perfile_sink *s);

/* Also one of them: syncs if the options ask for it, then closes the descriptor if the sink owns
 * it. */
perfile_status pf_out_fd_finish(perfile_sink *s, pf_sink_end how, perfile_error *err);

/* True if finishing waits until the output is on the disk. */
static inline bool pf_out_fd_syncs(const perfile_sink *s)
{
    return s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL);
}

/* Names and modes of outputs: temporary names next to the final one, and who may read the result.
 */

/* A copy of the first `n` bytes of `path`.  The caller releases it with pf_free(); NULL: no memory.
 */
char *pf_out_copy_path(const char *path, size_t n);

/* Returns "PATH.KIND-xxxxxxxx" with eight random letters.  The last component is shortened if the
 * name would be longer than 255 bytes.  `owner` (an address) and `try` (the number of the attempt)
 * vary the letters.  The caller releases the result with pf_free(); NULL: no memory. */
char *pf_out_temporary_name(const char *path, const char *kind, const void *owner, unsigned try);

/* Creates the new file `path` for writing.  Returns the descriptor, or -1 with errno: EEXIST if
 * something exists under that name. */
int pf_out_create(const char *path, mode_t mode);

/* `fd` was just created with mode 0666: returns the mode that umask and defaults made of it, and
 * removes access for others, so that nobody reads the file before it has its final name. */
mode_t pf_out_make_private(int fd);

/* The final mode of a file that takes the name `target`: that of the file it replaces, or `plain`
 * if there is none, restricted to what all inputs grant to a file of group `group`. */
mode_t pf_out_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group);

/* Returns what a FIFO or device is if it must not be written to unless the caller asked to replace
 * what exists: "a FIFO of another user", who would get the capture, or "a block device", which
 * would lose its content.  NULL: it may be written to.  `user` is the effective user. */
const char *pf_out_refusal(const struct stat *sb, uid_t user);

/* Syncs the directory that contains `path`, so that a new name in it survives a crash.  Errors are
 * ignored: the file itself is safe. */
void pf_out_sync_folder(const char *path);

/* A set of files that appear together, all or none; used by `split` and by folders of files.
 *
 * Until then they are in a temporary folder, PATH.WHAT-XXXXXXXX (perfile-split): data.N is the file
 * with number N until it gets its name; old.N is the file that it replaced, kept until all files
 * have their names.  If the process is killed in between, the folder stays: each name has the
 * complete old or the complete new file, and the other one is in the folder. */

typedef struct pf_out_set pf_out_set;

/* Makes the folder next to `path`, unless it would lie inside one of `inputs` (copied).  With
 * `replace` existing files of the final names may be replaced.  The caller closes the set. */
perfile_status pf_out_set_new(const char *path, const char *what, bool replace,
                              const pf_inputs *inputs, pf_out_set **set, perfile_error *err);

/* `inputs` are read, too.  Fails if the folder lies inside one of them. */
perfile_status pf_out_set_reads(pf_out_set *set, const pf_inputs *inputs, perfile_error *err);

/* The path of the folder, for cleaning up in a signal handler.  Valid until the set is closed. */
const char *pf_out_set_folder(const pf_out_set *set);

/* Makes the sink of the next file, whose final name is `name` (for messages).  The caller finishes
 * and closes the sink before pf_out_set_appear(). */
perfile_status pf_out_set_next(pf_out_set *set, const char *name, perfile_sink **sink,
                               perfile_error *err);

/* Checks that a file can get that name.  PERFILE_E_IO with err->sys EEXIST if something exists
 * there that must not be replaced, 0 if it is an input. */
perfile_status pf_out_set_check_name(pf_out_set *set, const char *name, perfile_error *err);

/* Gives the files their names; name(user, n) is that of file n, and all lie in the folder of the
 * `path` given to pf_out_set_new().  If one fails, all names have again what they had before. */
perfile_status pf_out_set_appear(pf_out_set *set, const char *(*name)(void *user, uint32_t n),
                                 void *user, perfile_error *err);

/* Removes the folder and what is left in it, and releases the set.  NULL is fine. */
void pf_out_set_close(pf_out_set *set);

#endif
