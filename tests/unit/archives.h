/* Archives for tests: captures of samples/captures packed in memory, and how one is opened and
 * looked into. */
#ifndef TEST_ARCHIVES_H
#define TEST_ARCHIVES_H

#include "testing.h"

#include <stdio.h>

#include "perfile/archive.h"
#include "perfile/convert.h"
#include "archive/command.h"

/* The id of an archive that packed() makes. */
enum { ARCHIVE_ID = 0x1234567 };

static inline perfile_sink *memory_sink(void)
{
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory(NULL, &sink, NULL), PERFILE_OK);
    return sink;
}

static inline perfile_source *capture_of(const char *name)
{
    const char *root = getenv("PERFILE_SOURCE");
    perfile_source *source;
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/captures/%s", root ? root : ".", name);
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    return source;
}

/* What a memory sink has, as a block that is released by free(); closes the sink. */
static inline perfile_bytes taken(perfile_sink *sink)
{
    void *block;
    size_t len;
    assert_int_equal(sink_copy(sink, &block, &len), PERFILE_OK);
    perfile_sink_close(sink);
    return (perfile_bytes){block, len};
}

/* A capture of samples/captures in an archive. */
static inline perfile_bytes packed(const char *name)
{
    const perfile_archive_options how = {.size = sizeof how, .id = ARCHIVE_ID};
    perfile_sink *below, *sink;
    assert_int_equal(perfile_sink_memory(NULL, &below, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(below, &how, &sink, NULL), PERFILE_OK);
    const perfile_convert_options as_is = {.size = sizeof as_is,
                                           .on_damage = PERFILE_ON_DAMAGE_COPY};
    assert_int_equal(perfile_convert_capture(capture_of(name), sink, &as_is, NULL, 0, NULL),
                     PERFILE_OK);
    const perfile_bytes bytes = perfile_sink_bytes(below);
    const perfile_bytes copy = {exact(bytes.ptr, bytes.len), bytes.len};
    perfile_sink_close(sink);
    return copy;
}

static inline void release(perfile_bytes b)
{
    free((void *)(uintptr_t)b.ptr);
}

static inline uint8_t *writable(perfile_bytes b)
{
    return (uint8_t *)(uintptr_t)b.ptr;
}

static inline perfile_archive *opened(perfile_bytes b)
{
    perfile_source *source;
    perfile_archive *a;
    perfile_error err;
    assert_int_equal(perfile_source_memory(b, "x.perfile", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_open(source, &a, &err), PERFILE_OK);
    return a;
}

/* Captures with records of all kinds, forms and byte orders. */
static const char *const archived_kinds[] = {
    "big-endian.data", "dwarf.data", "fields.data",    "garbage.data",     "killed.data",
    "mixed.data",      "pipe.data",  "pipe-zstd.data", "tracepoints.data", "unknown-type.data"};
enum { N_ARCHIVED_KINDS = sizeof archived_kinds / sizeof archived_kinds[0] };

static inline void chunk_at(perfile_archive *a, uint32_t i, pf_archive_chunk *c)
{
    assert_int_equal(pf_archive_chunk_at(a, i, c, sizeof *c, NULL), PERFILE_OK);
}

/* The first chunk of a kind. */
static inline pf_archive_chunk first_of(perfile_bytes b, unsigned kind)
{
    perfile_archive *a = opened(b);
    pf_archive_chunk c;
    uint32_t i = 0;
    do
        chunk_at(a, i++, &c);
    while (c.kind != kind);
    perfile_archive_close(a);
    return c;
}

#endif
