/* The captures: made in memory, as small as they can be and still have what their form has. */
#include "every.h"

#include <stdio.h>

#include "captures.h"

enum { SAMPLES = 2, SECOND_SAMPLES = 3 };

static void file(builder *b)
{
    capture_make(b, CAPTURE_FILE, false, SAMPLES);
}

static void file_be(builder *b)
{
    capture_make(b, CAPTURE_FILE, true, SAMPLES);
}

static void pipe_le(builder *b)
{
    capture_make(b, CAPTURE_PIPE, false, SAMPLES);
}

static void pipe_be(builder *b)
{
    capture_make(b, CAPTURE_PIPE, true, SAMPLES);
}

static void compressed(builder *b)
{
    capture_make(b, CAPTURE_FILE_ZSTD, false, SAMPLES);
}

static void compressed2(builder *b)
{
    capture_make(b, CAPTURE_PIPE_ZSTD, false, SAMPLES);
}

static void killed(builder *b)
{
    capture_make(b, CAPTURE_KILLED, false, SAMPLES);
}

static void compressed2_be(builder *b)
{
    capture_make(b, CAPTURE_PIPE_ZSTD, true, SAMPLES);
}

static void killed_be(builder *b)
{
    capture_make(b, CAPTURE_KILLED, true, SAMPLES);
}

static void simpleperf(builder *b)
{
    capture_make(b, CAPTURE_SPLIT, false, SAMPLES);
}

static void records(builder *b)
{
    capture_make(b, CAPTURE_RECORDS, false, SAMPLES);
}

static void features(builder *b)
{
    capture_make(b, CAPTURE_FEATURES, false, SAMPLES);
}

/* Version 1 differs in its magic, which does not tell the byte order. */
static void version1(builder *b)
{
    capture_make(b, CAPTURE_FILE, true, SAMPLES);
    memcpy(b->b.ptr, "PERFFILE", 8);
}

/* A stream with the formats of its tracepoint, a sample of it, and AUX data behind their record. */
static void tracepoint(builder *b)
{
    static const char payload[] = "\x3c\x01\0\0\x07\0\0";
    build_attr_plan plan = {.type = 2,
                            .size = 64,
                            .config = 316,
                            .sample_type =
                                PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_RAW};
    builder formats = {0};
    *b = (builder){0};
    capture_pipe_header(b, 0);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &plan);
    build_u64(b, 70);
    build_end(b, start);
    build_tracing(&formats, false);
    start = build_begin(b, PERFILE_RECORD_HEADER_TRACING_DATA, 0);
    build_u32(b, (uint32_t)formats.b.len);
    build_end(b, start);
    build_bytes(b, formats.b.ptr, formats.b.len);
    build_zeros(b, (8 - formats.b.len % 8) % 8);
    build_clear(&formats);
    start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 5000);
    build_u32(b, 12);
    build_bytes(b, payload, sizeof payload);
    build_u32(b, 0);
    build_end(b, start);
    start = build_begin(b, PERFILE_RECORD_AUX, 0);
    build_u64(b, 0);
    build_u64(b, 64);
    build_u64(b, 1);
    build_end(b, start);
    start = build_begin(b, PERFILE_RECORD_AUXTRACE, 0);
    build_u64(b, 64);
    build_zeros(b, 32);
    build_end(b, start);
    build_zeros(b, 64);
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}

static const struct {
    const char *name;
    void (*make)(builder *b);
    bool directory;
} forms[] = {
    {.name = "file", .make = file},
    {.name = "file-be", .make = file_be},
    {.name = "version1", .make = version1},
    {.name = "pipe", .make = pipe_le},
    {.name = "pipe-be", .make = pipe_be},
    {.name = "compressed", .make = compressed},
    {.name = "compressed2", .make = compressed2},
    {.name = "compressed2-be", .make = compressed2_be},
    {.name = "killed", .make = killed},
    {.name = "killed-be", .make = killed_be},
    {.name = "simpleperf", .make = simpleperf},
    {.name = "tracepoint", .make = tracepoint},
    {.name = "records", .make = records},
    {.name = "features", .make = features},
    {.name = "directory", .make = file, .directory = true},
};

static bool recorded(const char *name, builder *b)
{
    const char *home = getenv("PERFILE_SOURCE");
    char path[4096];
    uint8_t block[4096];
    snprintf(path, sizeof path, "%s/samples/captures/%s", home ? home : ".", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) != 0;)
        build_bytes(b, block, n);
    fclose(f);
    return true;
}

bool every_form_make(const char *name, every_form *form)
{
    *form = (every_form){0};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].name, name) != 0)
            continue;
        forms[i].make(&form->file);
        form->directory = forms[i].directory;
        if (form->directory)
            capture_stream(&form->second, SECOND_SAMPLES);
        return true;
    }
    return recorded(name, &form->file);
}
