/* archive_make OUT STEP FILE...: packs each file as a source of the archive OUT, in chunks of STEP
 * bytes. One more source is a chunk in columns; its bytes go to OUT.columns. */
#include <stdio.h>

#include "archive/pack.h"
#include "columns_random.h"

static void check(perfile_status st, const perfile_error *err)
{
    if (st == PERFILE_OK)
        return;
    fprintf(stderr, "archive_make: %s\n", err->message);
    exit(1);
}

static void pack_file(pf_pack *p, const char *path, uint16_t source, size_t step)
{
    perfile_error err;
    uint64_t at = 0;
    uint8_t *bytes = malloc(step);
    FILE *f = fopen(path, "rb");
    if (!f || !bytes)
        exit(1);
    for (size_t n; (n = fread(bytes, 1, step, f)) > 0; at += n) {
        const pf_pack_chunk c = {
            .kind = PF_CHUNK_BYTES, .source = source, .raw_off = at, .raw = {bytes, n}};
        check(pf_pack_put(p, &c, &err), &err);
    }
    fclose(f);
    free(bytes);
}

/* Packs a chunk in columns, which decodes to `raw_len` bytes, and writes these to `f`; returns
 * where the next one begins. */
static uint64_t pack_chunk(pf_pack *p, pf_pack_chunk c, const built_columns *b, size_t raw_len,
                           FILE *f)
{
    perfile_error err;
    size_t len;
    pf_columns_decoder *d = pf_columns_decoder_new();
    uint8_t *payload = built_payload(b, &len), *raw = malloc(raw_len + 1);
    if (!d || !raw)
        exit(1);
    check(pf_columns_decode(d, (perfile_bytes){payload, len}, c.flags & PF_CHUNK_FLAG_BIG_ENDIAN,
                            raw, raw_len, &err),
          &err);
    c.raw = (perfile_bytes){raw, raw_len};
    c.columns = (perfile_bytes){payload, len};
    c.meta = (perfile_bytes){payload, c.raw_off % 7};
    check(pf_pack_put(p, &c, &err), &err);
    if (fwrite(raw, 1, raw_len, f) != raw_len)
        exit(1);
    free(payload);
    free(raw);
    pf_columns_decoder_free(d);
    return c.raw_off + raw_len;
}

static void pack_columns(pf_pack *p, const char *out, uint16_t source)
{
    static drawn model;
    char path[4096];
    pf_pack_chunk c = {.kind = PF_CHUNK_RECORDS, .source = source};
    snprintf(path, sizeof path, "%s.columns", out);
    FILE *f = fopen(path, "wb");
    if (!f)
        exit(1);
    for (unsigned how = 0; how < 6; how++) {
        built_columns b = {.own = how % 3 > 0, .frames_packed = how % 3 > 1};
        built_example(&b);
        c.flags = how > 2 ? PF_CHUNK_FLAG_BIG_ENDIAN : 0;
        c.raw_off = pack_chunk(p, c, &b, BUILT_EXAMPLE, f);
        built_clear(&b);
    }
    for (unsigned i = 0; i < 12;) {
        random_payload(&model);
        if (model.little.len == 0)
            continue;
        c.flags = i++ % 2 ? PF_CHUNK_FLAG_BIG_ENDIAN : 0;
        c.raw_off = pack_chunk(p, c, &model.built, model.little.len, f);
    }
    built_clear(&model.built);
    pf_buffer_free(&model.little);
    pf_buffer_free(&model.big);
    fclose(f);
}

int main(int argc, char **argv)
{
    const pf_pack_options options = {.needs = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES};
    perfile_error err;
    perfile_sink *sink;
    pf_pack *p;
    if (argc < 3)
        return 2;
    check(perfile_sink_path(argv[1], NULL, &sink, &err), &err);
    check(pf_pack_new(sink, &options, &p, &err), &err);
    for (int i = 3; i < argc; i++)
        pack_file(p, argv[i], (uint16_t)(i - 3), (size_t)atol(argv[2]));
    pack_columns(p, argv[1], (uint16_t)(argc - 3));
    check(pf_pack_finish(p, &err), &err);
    check(perfile_sink_finish(sink, &err), &err);
    pf_pack_close(p);
    perfile_sink_close(sink);
    return 0;
}
