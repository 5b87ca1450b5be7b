/* The records of a capture into another file, through the writer. */
#include <string.h>

#include "bench.h"
#include "perfile/perfile.h"

enum { RUN = 64, SPAN = 256 << 10 };

static perfile_writer *begin(const capture *c)
{
    char path[sizeof c->path + 8];
    perfile_writer_options o = {.size = sizeof o, .sink_flags = PERFILE_SINK_REPLACE};
    perfile_writer *w = NULL;
    snprintf(path, sizeof path, "%s" COPY_SUFFIX, c->path);
    return perfile_writer_create(path, &o, &w, NULL) == PERFILE_OK ? w : NULL;
}

static uint64_t end(perfile_writer *w, bool ok)
{
    ok = ok && perfile_writer_finish(w, NULL) == PERFILE_OK;
    uint64_t n = ok ? perfile_writer_bytes(w) : 0;
    perfile_writer_close(w);
    return n;
}

static size_t size_at(const capture *c, size_t at)
{
    uint16_t size;
    memcpy(&size, c->data + at + 6, sizeof size);
    return size;
}

/* `most` records at a time, `flags` what is said of their bytes. */
static uint64_t put(const capture *c, size_t most, uint8_t flags)
{
    static perfile_record run[RUN];
    perfile_writer *w = begin(c);
    bool ok = w;
    for (size_t at = 0; ok && at < c->data_size;) {
        size_t n = 0;
        for (; n < most && at < c->data_size; n++) {
            size_t size = size_at(c, at);
            perfile_record *r = &run[n];
            r->header = c->data + at;
            memcpy(&r->type, r->header, sizeof r->type);
            memcpy(&r->misc, r->header + 4, sizeof r->misc);
            r->body = (perfile_bytes){r->header + 8, size - 8};
            r->flags = flags;
            at += size;
        }
        ok = perfile_writer_put_run(w, run, n, NULL) == PERFILE_OK;
    }
    return end(w, ok);
}

uint64_t library_put(const capture *c)
{
    return put(c, 1, 0);
}

uint64_t library_put_runs(const capture *c)
{
    return put(c, RUN, PERFILE_REC_STABLE);
}

/* Only what the kernel writes can stand in a ring buffer: the other records are put. */
uint64_t library_put_spans(const capture *c)
{
    perfile_writer *w = begin(c);
    bool ok = w;
    for (size_t at = 0; ok && at < c->data_size;) {
        size_t from = at;
        uint32_t type = 0;
        while (at < c->data_size && at - from < SPAN) {
            memcpy(&type, c->data + at, sizeof type);
            if (type >= PERFILE_RECORD_USER)
                break;
            at += size_at(c, at);
        }
        const perfile_bytes spans[2] = {{c->data + from, at - from}, {NULL, 0}};
        ok = perfile_writer_put_spans(w, spans, 0, NULL) == PERFILE_OK;
        if (ok && at < c->data_size && type >= PERFILE_RECORD_USER) {
            size_t size = size_at(c, at);
            perfile_record r = {
                .header = c->data + at, .body = {c->data + at + 8, size - 8}, .type = type};
            ok = perfile_writer_put(w, &r, NULL) == PERFILE_OK;
            at += size;
        }
    }
    return end(w, ok);
}
