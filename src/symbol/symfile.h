/* Files with symbols, read piece by piece: with pread() instead of a mapping, so that a file that
 * is cut while it is read cannot end the program. */
#ifndef PF_SYMBOL_SYMFILE_H
#define PF_SYMBOL_SYMFILE_H

#include "base/budget.h"
#include "perfile/base.h"

/* A regular file, or bytes in memory. */
typedef struct pf_symfile {
    int fd;               /* -1: `memory` */
    perfile_bytes memory; /* borrowed */
    uint64_t size;        /* bytes of the file when it was opened */
    uint64_t ino;         /* of a file */
    uint64_t dev_major, dev_minor;
} pf_symfile;

/* A part of a file that was read; pf_piece_free(). */
typedef struct pf_piece {
    uint8_t *ptr;
    size_t len;
    size_t charged; /* bytes charged to the budget */
} pf_piece;

/* Opens `path` for reading if it is a regular file; false otherwise, whatever the reason.  Devices
 * and FIFOs are never opened: paths come from captures. */
bool pf_symfile_open(pf_symfile *f, const char *path);

/* The same inside of a folder, the first `root` bytes of the path: what follows is resolved as if
 * that were the root directory (symbol/inside.h).  0: no folder. */
bool pf_symfile_open_in(pf_symfile *f, const char *path, size_t root);

/* The same for a file in a folder to which everybody may write: no link, a file of root, of the
 * user who runs this or of `owner`, and writable for no one else.  *refused: there is a file, but
 * it does not count because of this, "others may write it"; NULL otherwise. */
bool pf_symfile_open_own(pf_symfile *f, const char *path, size_t root, uint32_t owner,
                         const char **refused);

/* Bytes as a file. */
pf_symfile pf_symfile_memory(perfile_bytes bytes);
void pf_symfile_close(pf_symfile *f);

/* Reads up to `len` bytes at `offset` and returns how many; fewer at the end of the file or after
 * an error. */
size_t pf_symfile_read_at(const pf_symfile *f, uint8_t *to, size_t len, uint64_t offset);

/* Reads `len` bytes at `offset`; a NUL that `len` does not count is put behind them.
 * PERFILE_E_CORRUPT: they are not in the file.  PERFILE_E_LIMIT, PERFILE_E_NOMEM.  *piece is
 * untouched on failure. */
perfile_status pf_symfile_read(const pf_symfile *f, uint64_t offset, uint64_t len,
                               pf_budget *budget, pf_piece *piece);

/* Reads all that there is, also of files whose size is not known before (/proc, /sys), where the
 * size is 0.  Errors as above. */
perfile_status pf_symfile_read_all(const pf_symfile *f, pf_budget *budget, pf_piece *piece);
void pf_piece_free(pf_piece *piece, pf_budget *budget);

static inline perfile_bytes pf_piece_bytes(const pf_piece *p)
{
    return (perfile_bytes){p->ptr, p->len};
}

/* PERFILE_E_LIMIT if the budget refused memory since the last call, otherwise PERFILE_E_NOMEM. */
perfile_status pf_symbol_no_memory(pf_budget *budget);

#endif
