/* The captures of samples/captures, and those of $PERFILE_CORPUS where it is. */
#ifndef TESTS_RECORDED_H
#define TESTS_RECORDED_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "perfile/perfile.h"

static void (*recorded_use)(const char *path, perfile_stream *s);
static unsigned recorded_n, recorded_refused;

static inline int recorded_one(const char *path, const struct stat *st, int kind)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_open_options options = {.size = sizeof options};
    if (kind != FTW_F || st->st_size < 16)
        return 0;
    if (perfile_source_path(path, NULL, &source, NULL) != PERFILE_OK)
        abort();
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        recorded_refused++;
        return 0;
    }
    recorded_use(path, s);
    perfile_stream_close(s);
    recorded_n++;
    return 0;
}

/* Whether there are captures besides our own. */
static inline bool recorded_corpus(void)
{
    const char *corpus = getenv("PERFILE_CORPUS");
    struct stat sb;
    return corpus && stat(corpus, &sb) == 0;
}

/* Calls `use` with a stream for each file that is a capture; returns how many there were. */
static inline unsigned recorded_each(void (*use)(const char *path, perfile_stream *s))
{
    const char *home = getenv("PERFILE_SOURCE"), *corpus = getenv("PERFILE_CORPUS");
    char path[4096];
    recorded_use = use;
    recorded_n = recorded_refused = 0;
    if (!home)
        abort();
    snprintf(path, sizeof path, "%s/samples/captures", home);
    if (ftw(path, recorded_one, 8) != 0)
        abort();
    if (corpus)
        ftw(corpus, recorded_one, 8);
    return recorded_n;
}

/* All bytes of a file, to be freed; none where it cannot be read. */
static inline perfile_bytes recorded_file(const char *path)
{
    perfile_bytes none = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return none;
    long n = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    uint8_t *bytes = n >= 0 ? malloc((size_t)n + 1) : NULL;
    rewind(f);
    if (bytes && fread(bytes, 1, (size_t)n, f) != (size_t)n) {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    return bytes ? (perfile_bytes){bytes, (size_t)n} : none;
}

#endif
