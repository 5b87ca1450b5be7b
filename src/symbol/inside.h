/* Opening a file below a folder without leaving it. */
#ifndef PF_SYMBOL_INSIDE_H
#define PF_SYMBOL_INSIDE_H

/* Opens `path` as a process would whose root directory is `root`: `..` and absolute links do not
 * leave it.  `flags` are those of open().  Returns a descriptor, or -1. */
int pf_open_inside(const char *root, const char *path, int flags);

/* The same without openat2(), for kernels before 5.6. */
int pf_open_inside_by_hand(const char *root, const char *path, int flags);

#endif
