/* resync CAPTURE: how often reading goes on in the wrong place behind bytes that are not records.
 * Blocks of several kinds are put between two records of a perf.data file of this machine's byte
 * order, at many places; a record that is handed out from inside of such a block is a false resync,
 * a sample behind it that is not handed out is skipped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "perfile/perfile.h"

enum { TRIES = 2000, MOST = 4096, RECORDS = 4000, KINDS = 5 };

static const char *const kinds[KINDS] = {"random bytes", "random words below 256", "zeros", "text",
                                         "this program's code"};

static uint32_t state = 1;
static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void fill(unsigned kind, uint8_t *block, size_t n, perfile_bytes code)
{
    static const char text[] = "the quick brown fox jumps over the lazy dog 0123456789\n";
    size_t from = code.len ? next_random() % code.len : 0;
    for (size_t i = 0; i < n; i++)
        block[i] = kind == 0   ? (uint8_t)next_random()
                   : kind == 1 ? (uint8_t)(i % 4 ? 0 : next_random())
                   : kind == 2 ? 0
                   : kind == 3 ? (uint8_t)text[(from + i) % (sizeof text - 1)]
                               : code.ptr[(from + i) % code.len];
}

static perfile_bytes load(const char *path)
{
    pf_buffer b = {0};
    uint8_t piece[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) != 0;)
        if (!pf_buffer_append(&b, piece, n))
            exit(1);
    fclose(f);
    return (perfile_bytes){b.ptr, b.len};
}

typedef struct outcome {
    uint64_t inside, samples;
} outcome;

static outcome read_all(perfile_bytes bytes, uint32_t on_damage, uint64_t from, uint64_t to)
{
    outcome out = {0, 0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options how = {.size = sizeof how, .on_damage = on_damage};
    if (perfile_source_memory(bytes, "bench", &source, NULL) != PERFILE_OK ||
        perfile_open(source, &how, &s, NULL) != PERFILE_OK)
        exit(1);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        out.inside += r->offset >= from && r->offset < to;
        out.samples += r->type == PERFILE_RECORD_SAMPLE;
    }
    perfile_stream_close(s);
    return out;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: resync CAPTURE\n");
        return 2;
    }
    perfile_bytes whole = load(argv[1]), code = load(argv[0]);
    static uint64_t places[RECORDS];
    size_t n = 0;
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    if (perfile_source_memory(whole, argv[1], &source, NULL) != PERFILE_OK ||
        perfile_open(source, NULL, &s, NULL) != PERFILE_OK)
        return 1;
    uint64_t start = perfile_stream_container(s)->data.offset;
    while (n < RECORDS && perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        places[n++] = r->offset;
    perfile_stream_close(s);
    if (n < 2)
        return 1;
    uint64_t end = places[n - 1];
    uint64_t samples = read_all((perfile_bytes){whole.ptr, end}, 0, 0, 0).samples;
    uint8_t *copy = malloc(end + MOST);
    if (!copy)
        return 1;
    printf("%zu records, %" PRIu64 " samples, %d tries of each kind\n", n - 1, samples, TRIES);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        uint64_t tries = 0, records = 0, skipped = 0;
        for (unsigned i = 0; i < TRIES; i++) {
            uint64_t at = places[1 + next_random() % (n - 2)];
            size_t len = 8 + next_random() % (MOST - 8);
            memcpy(copy, whole.ptr, at);
            memset(copy + 48, 0, 8); /* never finished: the data end with the file */
            memset(copy + 72, 0, 32);
            fill(kind, copy + at, len, code);
            memcpy(copy + at + len, whole.ptr + at, end - at);
            perfile_bytes all = {copy, end + len};
            outcome o = read_all(all, PERFILE_ON_DAMAGE_SALVAGE, at, at + len);
            tries += o.inside != 0;
            records += o.inside;
            skipped += samples > o.samples ? samples - o.samples : 0;
        }
        printf("%-24s false resync in %" PRIu64 " tries (%" PRIu64
               " records); %.5f %% of the samples "
               "skipped\n",
               kinds[kind], tries, records, 100.0 * (double)skipped / ((double)samples * TRIES));
    }
    free(copy);
    return start ? 0 : 1;
}
