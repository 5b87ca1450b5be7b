/* A source of a file that several threads read, with blocks of any size. */
#ifndef TESTS_AHEAD_H
#define TESTS_AHEAD_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/source_ahead.h"
#include "testing.h"

/* A file of these bytes that several threads read, in blocks of so many bytes. */
static inline void open_ahead(perfile_bytes bytes, unsigned threads, size_t block,
                              perfile_source **source)
{
    static const char path[] = "capture.data";
    perfile_source_options how = {.size = sizeof how, .threads = threads};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.ptr, bytes.len), bytes.len);
    void *p = mmap(NULL, bytes.len, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    const perfile_bytes whole = {p, bytes.len};
    assert_int_equal(pf_source_ahead(fd, true, whole, block, path, &how, source, NULL), PERFILE_OK);
}

#endif
