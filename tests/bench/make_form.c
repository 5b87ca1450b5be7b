/* make_form FORM FROM TO: the records of the perf.data file FROM (version 2, this machine's byte
 * order) in another form.  FORM is pipe, zstd (a file of COMPRESSED records) or pipe-zstd. Features
 * are left behind, but for what a reader of COMPRESSED records looks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "perfile/perfile.h"

enum {
    HEADER = 104,
    RECORD_HEADER = 8,
    CHUNK = 1 << 20,       /* records that perf compresses at a time: what a ring buffer has */
    MOST = (1 << 16) - 16, /* bytes in one COMPRESSED record */
    LEVEL = 1,
    WINDOW_LOG = 19 /* that of the level; bench.h knows it, too */
};

/* The parts of a file that are needed: offsets and sizes of its header. */
typedef struct input {
    const uint8_t *bytes;
    uint64_t size, attr_size, attrs, attrs_size, data, data_size;
} input;

static FILE *out;

static void put(const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, out) != n) {
        perror("make_form");
        exit(1);
    }
}

static void put_record(uint32_t type, const void *body, size_t n)
{
    struct {
        uint32_t type;
        uint16_t misc, size;
    } header = {type, 0, (uint16_t)(RECORD_HEADER + n)};
    put(&header, sizeof header);
    put(body, n);
}

static uint64_t word(const input *in, uint64_t at)
{
    uint64_t v;
    memcpy(&v, in->bytes + at, sizeof v);
    return v;
}

static bool inside(const input *in, uint64_t at, uint64_t n)
{
    return at <= in->size && n <= in->size - at;
}

static bool take(input *in, const char *path)
{
    struct stat sb;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &sb) < 0 || sb.st_size < HEADER)
        return false;
    in->size = (uint64_t)sb.st_size;
    in->bytes = mmap(NULL, in->size, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    fclose(f);
    if (in->bytes == MAP_FAILED || memcmp(in->bytes, "PERFILE2", 8) != 0)
        return false;
    in->attr_size = word(in, 16);
    in->attrs = word(in, 24);
    in->attrs_size = word(in, 32);
    in->data = word(in, 40);
    in->data_size = word(in, 48);
    return in->attr_size > 16 && inside(in, in->attrs, in->attrs_size) &&
           inside(in, in->data, in->data_size);
}

/* A stream has attrs and ids in records of their own. */
static bool put_pipe_header(const input *in)
{
    static uint8_t body[1 << 16];
    const uint64_t size = 16;
    put("PERFILE2", 8);
    put(&size, sizeof size);
    for (uint64_t at = 0; at + in->attr_size <= in->attrs_size; at += in->attr_size) {
        const size_t attr = (size_t)in->attr_size - 16;
        uint64_t ids = word(in, in->attrs + at + attr);
        uint64_t n = word(in, in->attrs + at + attr + 8);
        if (!inside(in, ids, n) || attr + n > sizeof body - RECORD_HEADER)
            return false;
        memcpy(body, in->bytes + in->attrs + at, attr);
        memcpy(body + attr, in->bytes + ids, (size_t)n);
        put_record(PERFILE_RECORD_HEADER_ATTR, body, attr + (size_t)n);
    }
    return true;
}

/* As perf does it: one zstd stream, flushed where a ring buffer was empty, cut into records. */
static bool put_compressed(const input *in)
{
    static uint8_t block[MOST];
    ZSTD_CCtx *c = ZSTD_createCCtx();
    if (!c || ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, WINDOW_LOG)))
        return false;
    for (uint64_t at = 0; at < in->data_size; at += CHUNK) {
        uint64_t left = in->data_size - at;
        ZSTD_inBuffer from = {in->bytes + in->data + at, (size_t)(left < CHUNK ? left : CHUNK), 0};
        for (size_t more = 1; more;) {
            ZSTD_outBuffer to = {block, sizeof block, 0};
            more = ZSTD_compressStream2(c, &to, &from, ZSTD_e_flush);
            if (ZSTD_isError(more))
                return false;
            if (to.pos)
                put_record(PERFILE_RECORD_COMPRESSED, block, to.pos);
        }
    }
    ZSTD_freeCCtx(c);
    return true;
}

/* Version 1, type 1 (zstd), level, ratio, bytes of a ring buffer. */
static const uint32_t compression[] = {1, 1, LEVEL, 1, CHUNK};

static bool put_records(const input *in, bool zstd)
{
    if (zstd)
        return put_compressed(in);
    put(in->bytes + in->data, (size_t)in->data_size);
    return true;
}

static bool put_pipe(const input *in, bool zstd)
{
    uint8_t feature[8 + sizeof compression] = {PERFILE_FEATURE_COMPRESSED};
    memcpy(feature + 8, compression, sizeof compression);
    if (!put_pipe_header(in))
        return false;
    if (zstd)
        put_record(PERFILE_RECORD_HEADER_FEATURE, feature, sizeof feature);
    return put_records(in, zstd);
}

/* What stands before the records stays in its place. */
static bool put_file(const input *in)
{
    uint64_t header[HEADER / 8] = {0};
    if (in->attrs + in->attrs_size > in->data)
        return false;
    put(in->bytes, (size_t)in->data);
    if (!put_compressed(in))
        return false;
    uint64_t end = (uint64_t)ftello(out);
    const uint64_t section[2] = {end + sizeof section, sizeof compression};
    put(section, sizeof section);
    put(compression, sizeof compression);
    memcpy(header, in->bytes, HEADER);
    header[6] = end - in->data;
    memset(&header[9], 0, 4 * sizeof header[0]);
    header[9] = UINT64_C(1) << PERFILE_FEATURE_COMPRESSED;
    fseeko(out, 0, SEEK_SET);
    put(header, sizeof header);
    return true;
}

int main(int argc, char **argv)
{
    input in = {0};
    bool pipe = argc == 4 && strncmp(argv[1], "pipe", 4) == 0;
    bool zstd = argc == 4 && strstr(argv[1], "zstd") != NULL;
    if (!pipe && !zstd) {
        fputs("usage: make_form pipe|zstd|pipe-zstd FROM TO\n", stderr);
        return 2;
    }
    if (!take(&in, argv[2])) {
        fprintf(stderr, "make_form: %s: not such a file\n", argv[2]);
        return 1;
    }
    out = fopen(argv[3], "wb");
    if (!out) {
        perror(argv[3]);
        return 1;
    }
    bool ok = pipe ? put_pipe(&in, zstd) : put_file(&in);
    if (fclose(out) != 0 || !ok) {
        fprintf(stderr, "make_form: %s: cannot be written\n", argv[3]);
        return 1;
    }
    return 0;
}
