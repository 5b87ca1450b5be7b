/* The place where an output appears: the temporary name beside it, and the modes of both. */
#ifndef PF_IO_OUT_PLACE_H
#define PF_IO_OUT_PLACE_H

#include "io/inputs.h"

/* The first `n` bytes of a path.  The caller's to release, NULL: no memory. */
char *pf_out_copy(const char *path, size_t n);

/* `path` with "." and `kind`, which says what it is, and letters behind it that nobody else has,
 * its last name cut where it would be too long; `try` counts.  The caller's to release, NULL: no
 * memory. */
char *pf_out_beside(const char *path, const char *kind, const void *whose, unsigned try);

/* Opens the new file `path` to write; -1 with errno, EEXIST when something is there. */
int pf_out_create(const char *path, mode_t mode);

/* The mode that new files get where `fd` has just been made with 0666, which becomes 0600: until a
 * file has its name nobody else reads it. */
mode_t pf_out_hide(int fd);

/* The mode of what takes the place of `target`, whose bits are `plain` when nothing is there. */
mode_t pf_out_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group);

/* So that a new name in the folder of `path`, too, survives a crash. */
void pf_out_sync_folder(const char *path);

#endif
