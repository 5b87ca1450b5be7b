/* The files and directories that are read to make an output, and must stay as they are.
 *
 * This is the one place that decides whether an output may be written where it shall go, and with
 * which mode.  A source knows what it reads, a stream knows what its sources read, and every
 * function that is given a stream and a sink tells the sink (pf_sink_add_inputs()), so that no
 * caller can forget it.
 *
 * Inputs are compared by device and inode, which are the same for links, other spellings of a path,
 * and descriptors.  Whether a path lies inside an input directory is decided along its real path.
 *
 * Known gap: if a directory two or more levels inside an input directory is mounted a second time
 * elsewhere (bind mount), a path below the second mount point is not recognised as inside the
 * input.  No data is at risk: the records of a directory are in its own files, which are known by
 * their inodes wherever they are seen. */
#ifndef PF_IO_INPUTS_H
#define PF_IO_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "perfile/base.h"

/* Why an inode is in the list.  In the order of strength: the smallest kind of an inode counts. */
typedef enum pf_input_kind {
    PF_INPUT_FILE,      /* a file that is read, or any file directly in a directory that is read */
    PF_INPUT_DIRECTORY, /* a directory that is read, or one directly in it */
    PF_INPUT_PARENT     /* a directory on the way from the root to an input */
} pf_input_kind;

/* One protected inode. */
typedef struct pf_input {
    dev_t dev;
    ino_t ino;
    pf_input_kind kind;
    mode_t mode; /* bits of 0666 that an output made from this input may have; all bits if the input
                    does not restrict it */
    gid_t group; /* its group, to which the group bits of `mode` apply */
} pf_input;

/* A list of inputs; all zeros is an empty one. */
typedef struct pf_inputs {
    pf_input *at;
    size_t n, cap;
    bool sorted; /* by device, inode and kind, for binary search */
} pf_inputs;

void pf_inputs_free(pf_inputs *in);

/* Adds what `fd` refers to: a regular file, or a directory with its direct entries.  Pipes and
 * devices cannot be replaced by an output and add nothing.  False: no memory. */
bool pf_inputs_add_fd(pf_inputs *in, int fd);

/* Adds all directories above `path`.  False: no memory. */
bool pf_inputs_add_parents(pf_inputs *in, const char *path);

/* Adds what is at `path`, and the directories above it.  "-" is standard input.  Paths that do not
 * exist add nothing.  False: no memory. */
bool pf_inputs_add_path(pf_inputs *in, const char *path);

/* Adds all of `from`.  False: no memory. */
bool pf_inputs_join(pf_inputs *in, const pf_inputs *from);

/* Checks that an output may take the name `path`: `path` is no input under any name, lies in no
 * input and contains none.  Otherwise PERFILE_E_IO, with `name` in the message. */
perfile_status pf_inputs_check_path(pf_inputs *in, const char *path, const char *name,
                                    perfile_error *err);

/* The two halves of that check, for many files in one folder: what exists at `path` itself, and in
 * which directory it lies. */
perfile_status pf_inputs_check_target(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err);
perfile_status pf_inputs_check_folder(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err);

/* Checks that `fd` may be written to: it is not a regular file that is an input. */
perfile_status pf_inputs_check_fd(pf_inputs *in, int fd, const char *name, perfile_error *err);

/* The bits of 0666 that every input grants to an output whose group is `group`.  Where an input has
 * another group, that group gets no more than the input grants to everybody. */
mode_t pf_inputs_granted_mode(const pf_inputs *in, gid_t group);

/* The next of the files without records that belong to a capture if they are in a folder of this
 * name beside its records (format/files.def).  *at is 0 before the first; NULL: there is no other.
 */
const char *pf_companion_in(const char *folder, size_t *at);

/* Copies the folder of such a file, FOLDER/FILE; false if `name` is none. */
enum { PF_COMPANION_FOLDER = 64 };
bool pf_companion_folder(const char *name, char folder[PF_COMPANION_FOLDER]);

/* True for the names of files that outputs are made of: those of captures, and those of the form
 * `aux` of `export`.  A directory with nothing else may be replaced by another output. */
bool pf_is_output_file(const char *name);

#endif
