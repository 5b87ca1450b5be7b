/* A directory in memory, as a sink.  The bytes of the sink itself are its first file. */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include "ensure.h"
#include "io/out_kind.h"
#include "perfile/perfile.h"

enum { FOLDER_MOST = 256 }; /* maximum of files; a small capture makes fewer */

typedef struct folder {
    perfile_sink base;
    perfile_sink *files[FOLDER_MOST];
    bool named[FOLDER_MOST + 1];
} folder;

/* The caller has checked that `name` is a plain name. */
static perfile_status folder_part(perfile_sink *s, uint32_t file, const char *name,
                                  perfile_sink **part, perfile_error *err)
{
    folder *f = (folder *)(void *)s;
    ENSURE(file <= FOLDER_MOST && (file || name));
    if (name) {
        ENSURE(name[0] && !f->named[file]);
        f->named[file] = true;
        return PERFILE_OK;
    }
    if (!f->files[file - 1]) {
        ENSURE(f->named[file]);
        perfile_status st = perfile_sink_memory("file", &f->files[file - 1], err);
        if (st != PERFILE_OK)
            return st;
    }
    *part = f->files[file - 1];
    return PERFILE_OK;
}

static void folder_close(perfile_sink *s)
{
    const folder *f = (const folder *)(const void *)s;
    for (size_t i = 0; i < FOLDER_MOST; i++)
        perfile_sink_close(f->files[i]);
}

static const pf_sink_ops folder_ops = {.part = folder_part, .close = folder_close};

static inline perfile_sink *folder_new(void)
{
    folder *f = NULL;
    ENSURE(pf_sink_new(sizeof *f, &folder_ops, "folder", NULL, 0, &f, NULL) == PERFILE_OK);
    f->base.patchable = true;
    return &f->base;
}

/* Returns the bytes of all files except the first; *n receives their number. */
static inline uint64_t folder_bytes(const perfile_sink *s, uint64_t *n)
{
    const folder *f = (const folder *)(const void *)s;
    uint64_t sum = 0;
    *n = 0;
    for (size_t i = 0; i < FOLDER_MOST; i++)
        if (f->files[i]) {
            sum += perfile_sink_bytes(f->files[i]).len;
            ++*n;
        }
    return sum;
}

#endif
