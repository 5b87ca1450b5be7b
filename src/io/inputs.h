/* The list of files and directories that are read to make an output, and that the output must not
 * change.
 *
 * Only this code decides whether an output may be written to its path, and with which mode.  A
 * source knows the files that it reads, and a stream knows those of its sources.  Every function
 * that takes a stream and a sink adds the inputs to the sink (pf_sink_add_inputs()), so that no
 * caller can forget it.
 *
 * Inputs are compared by device and inode.  These are the same for links, for other spellings of a
 * path, and for descriptors.  Whether a path is inside an input directory is decided along its real
 * path.
 *
 * Known gap: if a directory two or more levels inside an input directory is mounted a second time
 * elsewhere (bind mount), a path below the second mount point is not recognized as inside the
 * input.  No data is at risk: the records of a directory are in its own files, which are recognized
 * by their inodes wherever they appear. */
#ifndef PF_IO_INPUTS_H
#define PF_IO_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "perfile/base.h"

/* Why an inode is in the list.  The smallest kind is the strongest; it counts if an inode is listed
 * several times. */
typedef enum pf_input_kind {
    PF_INPUT_FILE,      /* a file that is read, or a file directly in a directory that is read */
    PF_INPUT_DIRECTORY, /* a directory that is read, or a directory directly in it */
    PF_INPUT_PARENT     /* a directory on the path from the root to an input */
} pf_input_kind;

/* One protected inode. */
typedef struct pf_input {
    dev_t dev;
    ino_t ino;
    pf_input_kind kind;
    mode_t mode; /* bits of 0666 that an output made from this input may have; all bits if the input
                  * does not restrict it */
    gid_t group; /* the group to which the group bits of `mode` apply */
} pf_input;

/* A list of inputs; all zeros is an empty list. */
typedef struct pf_inputs {
    pf_input *at;
    size_t n, cap;
    bool sorted; /* sorted by device, inode and kind, for binary search */
} pf_inputs;

void pf_inputs_free(pf_inputs *in);

/* Adds the file of `fd`: a regular file, or a directory with its direct entries.  Pipes and devices
 * add nothing, because an output cannot replace them.  Returns false when out of memory. */
bool pf_inputs_add_fd(pf_inputs *in, int fd);

/* Adds all directories above `path`.  Returns false when out of memory. */
bool pf_inputs_add_parents(pf_inputs *in, const char *path);

/* Adds the file or directory at `path` and all directories above it.  "-" is standard input.  Paths
 * that do not exist add nothing.  Returns false when out of memory. */
bool pf_inputs_add_path(pf_inputs *in, const char *path);

/* Adds all of `from`.  Returns false when out of memory. */
bool pf_inputs_join(pf_inputs *in, const pf_inputs *from);

/* Checks that an output may be written to `path`: under no name is `path` an input, inside an
 * input, or a directory that contains one.  Otherwise fails with PERFILE_E_IO and `name` in the
 * message. */
perfile_status pf_inputs_check_path(pf_inputs *in, const char *path, const char *name,
                                    perfile_error *err);

/* The two halves of that check, for many files in one folder: pf_inputs_check_target() checks what
 * exists at `path` itself, pf_inputs_check_folder() checks the directory that contains it. */
perfile_status pf_inputs_check_target(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err);
perfile_status pf_inputs_check_folder(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err);

/* Checks that `fd` may be written to: it must not be a regular file that is an input. */
perfile_status pf_inputs_check_fd(pf_inputs *in, int fd, const char *name, perfile_error *err);

/* Returns the bits of 0666 that every input grants to an output of group `group`.  If an input has
 * another group, the output's group gets only the rights that the input grants to everybody. */
mode_t pf_inputs_granted_mode(const pf_inputs *in, gid_t group);

/* Companion files belong to a capture but have no records; they are in folders next to its records
 * (format/files.def).  Returns the name of the next companion file of a folder with this name, NULL
 * if there is no other.  *at is 0 before the first call. */
const char *pf_companion_in(const char *folder, size_t *at);

/* Copies the folder of the companion file `name`, which has the form FOLDER/FILE.  Returns false if
 * `name` is not a companion file. */
enum { PF_COMPANION_FOLDER = 64 };
bool pf_companion_folder(const char *name, char folder[PF_COMPANION_FOLDER]);

/* Returns true if `name` is the name of a file in an output: of a capture, or of the export form
 * `aux`.  A directory that contains no other files may be replaced by another output. */
bool pf_is_output_file(const char *name);

#endif
