/* What tests of filters share. */
#ifndef TEST_FILTERING_H
#define TEST_FILTERING_H

#include "../testing.h"

#include "../captures.h"
#include "perfile/perfile.h"

/* A stream of a capture in memory; the builder must outlive it. */
static inline perfile_stream *capture_opened(const builder *b)
{
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(built(b), "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    return s;
}

#endif
