/* All bytes of a file. */
#ifndef TESTS_FILE_BYTES_H
#define TESTS_FILE_BYTES_H

#include <stdio.h>
#include <stdlib.h>

#include "testing.h"

/* They are the caller's, to be released with free(); not NULL for an empty file. */
static inline perfile_bytes file_bytes(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    rewind(f);
    uint8_t *bytes = malloc((size_t)n + 1);
    assert_int_equal(fread(bytes, 1, (size_t)n, f), n);
    fclose(f);
    return (perfile_bytes){bytes, (size_t)n};
}

#endif
