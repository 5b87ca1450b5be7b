/* archive_make OUT STEP FILE...: packs each file as a source of the archive OUT, in chunks of STEP
 * bytes. One more source is a chunk in columns; its bytes go to OUT.columns. */
#include <stdio.h>

#include "archive/pack.h"
#include "columns_built.h"

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

static void pack_columns(pf_pack *p, const char *out, uint16_t source)
{
    perfile_error err;
    char path[4096];
    uint8_t raw[BUILT_EXAMPLE];
    pf_columns_decoder *d = pf_columns_decoder_new();
    snprintf(path, sizeof path, "%s.columns", out);
    FILE *f = fopen(path, "wb");
    if (!f || !d)
        exit(1);
    for (unsigned how = 0; how < 6; how++) {
        built_columns b = {.own = how % 3 > 0, .frames_packed = how % 3 > 1};
        size_t len;
        built_example(&b);
        uint8_t *payload = built_payload(&b, &len);
        check(pf_columns_decode(d, (perfile_bytes){payload, len}, how > 2, raw, sizeof raw, &err),
              &err);
        const pf_pack_chunk c = {.kind = PF_CHUNK_RECORDS,
                                 .flags = how > 2 ? PF_CHUNK_FLAG_BIG_ENDIAN : 0,
                                 .source = source,
                                 .raw_off = how * sizeof raw,
                                 .raw = {raw, sizeof raw},
                                 .columns = {payload, len},
                                 .meta = {payload, how}};
        check(pf_pack_put(p, &c, &err), &err);
        if (fwrite(raw, sizeof raw, 1, f) != 1)
            exit(1);
        free(payload);
        built_clear(&b);
    }
    fclose(f);
    pf_columns_decoder_free(d);
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
