/* What an output must leave as it is: the files and directories that are read to make it.
 *
 * This is the one place that decides whether an output may be written beside its inputs, and which
 * mode it may have.  A source knows what it reads, a stream what its sources read, and a sink is
 * told of both (pf_sink_reads()) by whatever function is given one of each, so that no caller can
 * forget it.  Inputs are known by device and inode, which links, other spellings of a path and
 * descriptors share; what lies inside of what is found out along the real path.
 *
 * Not found out: that a place lies inside a directory that is read because a directory two or more
 * levels inside of it is mounted there once more (a bind mount).  The way up from that place leads
 * through the mount point and never comes by the input.  Nothing that is read is there: records of
 * a directory are in its own files, which are known by their inodes wherever they are seen. */
#ifndef PF_IO_INPUTS_H
#define PF_IO_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "perfile/base.h"

typedef enum pf_input_kind {
    PF_INPUT_FILE,      /* read, or lies in a directory that is read */
    PF_INPUT_DIRECTORY, /* read, or lies in one that is read */
    PF_INPUT_ABOVE      /* a directory on the way to an input */
} pf_input_kind;

typedef struct pf_input {
    dev_t dev;
    ino_t ino;
    pf_input_kind kind;
    mode_t mode; /* who may read and write what it holds; all may when `kind` grants nothing */
    gid_t group;
} pf_input;

/* All zeros is an empty list. */
typedef struct pf_inputs {
    pf_input *at;
    size_t n, cap;
    bool sorted;
} pf_inputs;

void pf_inputs_free(pf_inputs *in);

/* Adds what `fd` is: a regular file, or a directory with all that is in it.  Pipes and devices
 * cannot be replaced, and add nothing.  False: no memory. */
bool pf_inputs_add_fd(pf_inputs *in, int fd);

/* Adds the directories on the way to `path`.  False: no memory. */
bool pf_inputs_add_above(pf_inputs *in, const char *path);

/* Both for `path`, "-" being standard input.  What cannot be opened adds nothing. */
bool pf_inputs_add_path(pf_inputs *in, const char *path);

/* Adds all of `from`.  False: no memory. */
bool pf_inputs_join(pf_inputs *in, const pf_inputs *from);

/* Whether a file or directory may take the name `path`: it is no input under any name, lies in none
 * and holds none.  PERFILE_E_IO, with `name` in the message. */
perfile_status pf_inputs_apart(pf_inputs *in, const char *path, const char *name,
                               perfile_error *err);

/* The two halves of that, for many files in one folder: what `path` is, and where it lies. */
perfile_status pf_inputs_apart_self(pf_inputs *in, const char *path, const char *name,
                                    perfile_error *err);
perfile_status pf_inputs_apart_place(pf_inputs *in, const char *path, const char *name,
                                     perfile_error *err);

/* Whether `fd` may be written to: it is no input, or no regular file. */
perfile_status pf_inputs_apart_fd(pf_inputs *in, int fd, const char *name, perfile_error *err);

/* Bits of 0666 that every input grants to a file of that group.  Where the group is another one
 * than that of an input, it is granted no more than everybody is. */
mode_t pf_inputs_grant(const pf_inputs *in, gid_t group);

/* A file that holds records of a directory: data, data.0, data.1 ... */
bool pf_inputs_is_part_name(const char *name);

#endif
