/* A file that appears under its name when it is finished. */
#ifndef PF_IO_OUT_FILE_H
#define PF_IO_OUT_FILE_H

#include "io/out.h"

/* Opens what `s->name` names: the temporary file, or what is there and no regular file. */
perfile_status pf_out_file_open(perfile_sink *s, perfile_error *err);

/* `path` with "." and `kind`, which says what it is, and letters behind it that nobody else has,
 * its last name cut where it would be too long; `try` counts.  The caller's to release, NULL: no
 * memory. */
char *pf_out_file_beside(const char *path, const char *kind, const void *whose, unsigned try);

/* The mode that new files get where `fd` has just been made with 0666, which becomes 0600: until a
 * file has its name nobody else reads it. */
mode_t pf_out_file_hide(int fd);

/* The mode of what takes the place of `target`, whose bits are `plain` when nothing is there. */
mode_t pf_out_file_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group);

/* Gives the temporary file the mode that it shall have under its name. */
void pf_out_file_show(perfile_sink *s);

/* Takes from a file that has its name already what the inputs do not grant. */
void pf_out_file_narrow(perfile_sink *s);

/* Gives the temporary file its name. */
perfile_status pf_out_file_appear(perfile_sink *s, perfile_error *err);

/* Waits until what was written is on the disk, where that means anything; false with errno. */
bool pf_out_file_sync(int fd);
/* So that a new name in the folder of `path`, too, survives a crash. */
void pf_out_file_sync_folder(const char *path);

/* Removes the file, also when it has appeared. */
void pf_out_file_remove(perfile_sink *s);

/* Everything was written: syncs if wanted, closes, gives the file its name. */
perfile_status pf_out_file_finish(perfile_sink *s, perfile_error *err);

/* Releases; removes the temporary file if there still is one. */
void pf_out_file_close(perfile_sink *s);

#endif
