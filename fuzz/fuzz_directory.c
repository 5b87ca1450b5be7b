/* Any bytes as the files of a directory, read from one and written to one.  The output opens and
 * has the records of the input, the input does not change, and no other file is left. */
#include "operations.h"
#include "scratch.h"

enum { MOST_PARTS = 4 };

/* Names that are parts of a capture, and others that are not, or not quite. */
static const char *const odd_names[] = {"data.7", "data.00", "data.x",         "data.",
                                        "notes",  ".data",   "data.4294967296"};

typedef struct found {
    bool opens;
    perfile_status end;
    uint64_t records, samples, damages;
} found;

static void read_all(const char *path, uint32_t on_damage, found *f)
{
    perfile_open_options how = {
        .size = sizeof how, .limits = &small_limits, .on_damage = on_damage};
    perfile_error err = {0};
    perfile_stream *s;
    const perfile_record *r;
    perfile_stream_summary sum;
    *f = (found){0};
    if (perfile_open_path(path, &how, &s, &err) != PERFILE_OK) {
        ENSURE(err.where && err.message[0]);
        return;
    }
    f->opens = true;
    const perfile_container *c = perfile_stream_container(s);
    while ((f->end = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        ENSURE(r->part < c->n_parts);
        if (r->flags & PERFILE_REC_ENVELOPE || r->type >= PERFILE_RECORD_USER)
            continue;
        f->records++;
        f->samples += r->type == PERFILE_RECORD_SAMPLE;
    }
    perfile_stream_get_summary(s, &sum, sizeof sum);
    f->damages = sum.damages;
    perfile_stream_close(s);
}

static void put_parts(choices *c, perfile_bytes bytes, size_t n, uint64_t odd)
{
    perfile_bytes parts[MOST_PARTS];
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t size = i + 1 < n ? (size_t)choose(c, 2) : bytes.len - at;
        if (size > bytes.len - at)
            size = bytes.len - at;
        parts[i] = (perfile_bytes){bytes.ptr + at, size};
        at += size;
    }
    scratch_put_directory("in", parts, n);
    int fd = scratch_open_folder(scratch_fd, "in");
    if (odd & 1)
        scratch_put(fd, odd_names[(odd >> 4) % 7], parts[n - 1]);
    if (odd & 2)
        ENSURE(symlinkat("data", fd, "data.3") == 0 || errno == EEXIST);
    if (odd & 4)
        ENSURE(mkdirat(fd, "data.2", 0700) == 0 || errno == EEXIST);
    if (odd & 8) /* one part is missing */
        (void)unlinkat(fd, n > 2 ? "data.0" : "data", 0);
    close(fd);
}

static uint64_t hash_of(const scratch_entries *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return list->at[i].hash;
    return 0;
}

/* Links have no hash of their own, nor do directories in a directory: only file contents count. */
static void run(const operation *o, uint64_t chosen)
{
    static scratch_entries before, after;
    char in[600], out[600];
    perfile_source_options reading = {.size = sizeof reading, .limits = &small_limits};
    perfile_sink_options writing = {.size = sizeof writing};
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink;
    found one, other;
    int descriptor = scratch_descriptor();
    snprintf(in, sizeof in, "%s/in", scratch_path);
    snprintf(out, sizeof out, "%s/out", scratch_path);
    scratch_list(&before);
    reading.flags = chosen & 1 ? PERFILE_SOURCE_NO_MAP : 0;
    writing.flags = chosen & 2 ? PERFILE_SINK_REPLACE : 0;
    if (chosen & 4) /* an older capture is in the way */
        scratch_put_directory("out", &(perfile_bytes){(const uint8_t *)"old", 3}, 1);
    perfile_status st = perfile_source_path(in, &reading, &source, &err);
    ENSURE(st == PERFILE_OK);
    st = chosen & 8 ? perfile_sink_path(out, &writing, &sink, &err)
                    : perfile_sink_directory(out, &writing, &sink, &err);
    if (st != PERFILE_OK) {
        ENSURE(st == PERFILE_E_IO && chosen & 4 && (chosen & 10) != 2);
        perfile_source_close(source);
    } else {
        st = operate(o, source, sink, &err);
        perfile_sink_close(sink);
    }
    if (st != PERFILE_OK)
        ENSURE(err.where && err.message[0] && err.status == st);
    ENSURE(scratch_descriptor() == descriptor);
    scratch_list(&after);
    ENSURE(hash_of(&after, "in") == hash_of(&before, "in"));
    ENSURE(after.all == before.all + (st == PERFILE_OK || chosen & 4));
    read_all(in, o->on_damage, &one);
    if (st == PERFILE_OK && operation_writes(o->what)) {
        read_all(out, PERFILE_ON_DAMAGE_STOP, &other);
        ENSURE(other.opens && other.end == PERFILE_END);
        /* Convert may copy damaged input, with its damage, if it is forced to. */
        ENSURE(other.damages == 0 ||
               (o->what == OPERATION_CONVERT && o->on_damage != PERFILE_ON_DAMAGE_STOP));
        if (o->what == OPERATION_SORT && one.end == PERFILE_END && one.damages == 0)
            ENSURE(other.records == one.records && other.samples == one.samples);
    } else if (chosen & 4 && st != PERFILE_OK) {
        ENSURE(hash_of(&after, "out") != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    char pattern[600];
    static const unsigned whats[] = {OPERATION_DUMP,   OPERATION_CONVERT, OPERATION_CONVERT,
                                     OPERATION_FILTER, OPERATION_SORT,    OPERATION_RECOVER,
                                     OPERATION_MERGE,  OPERATION_MODEL};
    uint64_t chosen = choose(&c, 4);
    scratch_begin();
    snprintf(pattern, sizeof pattern, "%s/part-%%d", scratch_path);
    operation o = {.what = whats[chosen & 7],
                   .variant = (unsigned)(chosen >> 8 & 255),
                   .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 3 & 3) % 3,
                   .pattern = pattern};
    size_t n = 1 + (size_t)(chosen >> 5 & 3);
    uint64_t odd = choose(&c, 1);
    /* The lengths are at the end, too; the remaining bytes are in the parts. */
    size_t lengths = 2 * (n - 1) < c.left ? 2 * (n - 1) : c.left;
    perfile_bytes bytes = {data, c.left - lengths};
    put_parts(&c, bytes, n, chosen >> 16 & 1 ? odd : 0);
    run(&o, chosen >> 17);
    scratch_remove("in");
    scratch_remove("out");
    return 0;
}
