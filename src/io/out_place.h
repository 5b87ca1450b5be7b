/* Names and modes of outputs: temporary names next to the final one, and who may read the result.
 */
#ifndef PF_IO_OUT_PLACE_H
#define PF_IO_OUT_PLACE_H

#include <sys/stat.h>

#include "io/inputs.h"

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

#endif
