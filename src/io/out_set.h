/* A set of files that appear together, all or none; used by `split`.
 *
 * Until then they are in a temporary folder, PATH.perfile-split-XXXXXXXX: data.N is the file with
 * number N until it gets its name; old.N is the file that it replaced, kept until all files have
 * their names.  If the process is killed in between, the folder stays: each name has the complete
 * old or the complete new file, and the other one is in the folder. */
#ifndef PF_IO_OUT_SET_H
#define PF_IO_OUT_SET_H

#include "io/out.h"

typedef struct pf_out_set pf_out_set;

/* Makes the folder next to `path`, unless it would lie inside one of `inputs` (copied).  With
 * `replace` existing files of the final names may be replaced.  The caller closes the set. */
perfile_status pf_out_set_new(const char *path, bool replace, const pf_inputs *inputs,
                              pf_out_set **set, perfile_error *err);

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
