/* Files that appear together, all or none: until then they are in a temporary folder.
 *
 * The folder is called PATH.perfile-split-XXXXXXXX.  In it are data.N, the file with the number N,
 * until it has its name, and old.N, the file that it took the place of, until all have.  Who dies
 * in between leaves the folder: under each name is the old or the new file, whole, and what is not
 * under its name is there. */
#ifndef PF_IO_OUT_SET_H
#define PF_IO_OUT_SET_H

#include "io/out.h"

typedef struct pf_out_set pf_out_set;

/* Makes the folder, beside `path`, unless that is no place for an output of `inputs`.  With
 * `replace` files of the same names may be there. */
perfile_status pf_out_set_new(const char *path, bool replace, const pf_inputs *inputs,
                              pf_out_set **set, perfile_error *err);

/* The folder, with the files data.0, data.1 … in it. */
const char *pf_out_set_folder(const pf_out_set *set);

/* The sink of the next file, which shall be called `name`; the caller finishes and closes it. */
perfile_status pf_out_set_next(pf_out_set *set, const char *name, perfile_sink **sink,
                               perfile_error *err);

/* Whether a file can get that name: PERFILE_E_IO with EEXIST when one is there that must not be
 * replaced, with 0 when it is an input. */
perfile_status pf_out_set_may(pf_out_set *set, const char *name, perfile_error *err);

/* Gives the files their names, all in the folder of the first `path`; name(user, n) is that of the
 * n-th.  When one cannot be given, what was there before is there again. */
perfile_status pf_out_set_appear(pf_out_set *set, const char *(*name)(void *user, uint32_t n),
                                 void *user, perfile_error *err);

/* Removes the folder and what is left in it.  NULL is fine. */
void pf_out_set_close(pf_out_set *set);

#endif
