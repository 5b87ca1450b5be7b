/* What the C tests share: cmocka with all it needs, bytes from hex, heap blocks of exact size. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "owned.h"
#include "perfile/sink.h"

/* A copy in a heap block of exactly `n` bytes, so that an overread is caught.  Released by free().
 */
static inline uint8_t *exact(const void *bytes, size_t n)
{
    uint8_t *block = malloc(n ? n : 1);
    assert_non_null(block);
    if (n)
        memcpy(block, bytes, n);
    return block;
}

/* Copies the bytes of a memory sink; *bytes is released by free(). */
static inline perfile_status sink_copy(const perfile_sink *sink, void **bytes, size_t *len)
{
    const perfile_bytes all = perfile_sink_bytes(sink);
    *bytes = exact(all.ptr, all.len);
    *len = all.len;
    return PERFILE_OK;
}

/* Bytes from hex digits; blanks between them do not count.  ptr is released by free(). */
static inline perfile_bytes hex(const char *digits)
{
    static const char values[] = "0123456789abcdef";
    uint8_t *block = malloc(strlen(digits) / 2 + 1);
    size_t n = 0;
    assert_non_null(block);
    for (const char *p = digits; *p; p++) {
        const char *v = strchr(values, *p);
        if (*p == ' ' || *p == '\n')
            continue;
        assert_non_null(v);
        if (n % 2 == 0)
            block[n / 2] = (uint8_t)((v - values) << 4);
        else
            block[n / 2] |= (uint8_t)(v - values);
        n++;
    }
    assert_int_equal(n % 2, 0);
    return (perfile_bytes){block, n / 2};
}

#endif
