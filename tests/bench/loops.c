/* loops CAPTURE: the library's loops over a capture in memory, for information: nanoseconds a
 * record and GB/s of reading records, decoding samples, taking one field of them, testing a
 * condition, and writing. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "perfile/perfile.h"
#include "expr/command.h"

enum { ROUNDS = 7 };

static perfile_bytes capture;

static perfile_stream *open_capture(void)
{
    perfile_source *source;
    perfile_stream *s;
    if (perfile_source_memory(capture, "capture", &source, NULL) == PERFILE_OK &&
        perfile_open(source, NULL, &s, NULL) == PERFILE_OK)
        return s;
    exit(1);
}

static uint64_t walk(perfile_stream *s)
{
    const perfile_record *r;
    uint64_t n = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        n++;
    return n;
}

static uint64_t runs(perfile_stream *s)
{
    const perfile_record *r;
    uint64_t n = 0;
    size_t run;
    while (perfile_stream_next_run(s, &r, &run, NULL) == PERFILE_OK)
        n += run;
    return n;
}

static uint64_t decode(perfile_stream *s)
{
    const perfile_record *r;
    const perfile_sample *sample;
    uint64_t n = 0;
    size_t run;
    while (perfile_stream_next_run(s, &r, &run, NULL) == PERFILE_OK)
        for (const perfile_record *end = r + run; r < end; r++)
            n += r->type == PERFILE_RECORD_SAMPLE &&
                 perfile_stream_sample(s, r, &sample, NULL) == PERFILE_OK && sample->ip != 1;
    return n;
}

static uint64_t field(perfile_stream *s)
{
    const perfile_record *r;
    uint64_t n = 0, time;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        n +=
            r->type == PERFILE_RECORD_SAMPLE && perfile_sample_field(r, PERFILE_SAMPLE_TIME, &time);
    return n;
}

static uint64_t condition(perfile_stream *s)
{
    const perfile_record *r;
    perfile_expr *e;
    uint64_t n = 0, yes;
    size_t run;
    if (perfile_expr_open("pid != 4000000000 && time > 1 && ip != 0", NULL, &e, NULL) != PERFILE_OK)
        return 0;
    while (perfile_stream_next_run(s, &r, &run, NULL) == PERFILE_OK)
        if (pf_expr_test_run(e, r, run, &yes, NULL) == PERFILE_OK)
            n += (uint64_t)__builtin_popcountll(yes);
    perfile_expr_close(e);
    return n;
}

static uint64_t check(perfile_stream *s)
{
    const perfile_record *r;
    uint64_t n = 0;
    perfile_stream *checked;
    if (perfile_check(s, NULL, &checked, NULL) != PERFILE_OK)
        return 0;
    while (perfile_stream_next(checked, &r, NULL) == PERFILE_OK)
        n++;
    return n;
}

static uint64_t put(perfile_stream *s)
{
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_writer_options how = {.size = sizeof how, .as_stored = true};
    perfile_copy_summary sum = {0};
    if (perfile_sink_memory(NULL, &sink, NULL) != PERFILE_OK ||
        perfile_writer_open(sink, &how, &w, NULL) != PERFILE_OK)
        return 0;
    perfile_status st = perfile_copy(s, w, NULL, &sum, sizeof sum, NULL);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    return st == PERFILE_OK ? sum.records : 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*run)(perfile_stream *);
        bool owns; /* it has put a stage on the stream */
    } loops[] = {
        {"records", walk, false},        {"records, by the run", runs, false},
        {"decode", decode, false},       {"one field", field, false},
        {"condition", condition, false}, {"check", check, true},
        {"copy to memory", put, false},
    };
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "usage: loops CAPTURE\n");
        return 2;
    }
    const size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size);
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size)
        return 1;
    fclose(file);
    capture = (perfile_bytes){bytes, size};
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        double best = 1e9;
        uint64_t n = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            perfile_stream *s = open_capture();
            double began = now();
            n = loops[i].run(s);
            double took = now() - began;
            best = took < best ? took : best;
            if (!loops[i].owns)
                perfile_stream_close(s);
        }
        printf("%-20s %8.2f ns/record %8.2f GB/s\n", loops[i].name,
               best * 1e9 / (double)(n ? n : 1), (double)size / best / 1e9);
    }
    free(bytes);
    return 0;
}
