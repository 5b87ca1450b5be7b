/* Packed bytes are returned unchanged: parts are written, records reported and bytes patched in any
 * order and with any sizes, and the archive returns exactly these bytes.  Wrong reports about
 * records cost only size.  An input that begins like a capture is also packed as a capture: a
 * selection from the archive equals a selection from the capture. */
#include "operations.h"

#include <string.h>

#include "attrs.h"
#include "core/stream.h"
#include "io/out.h"
#include "io/source.h"
#include "perfile/archive.h"
#include "schema/rows.h"
#include "archive/command.h"

enum {
    PARTS = 4,
    MOST_PART = 256 << 10,
    MOST_VIEWS = 96,
    MOST_STEPS = 64,
    MOST_CAPTURE = 16 << 10
};

/* A part and its expected contents. */
typedef struct part {
    perfile_sink *sink; /* NULL if the part does not exist */
    pf_buffer shadow;
    uint64_t told; /* records have been reported up to here */
} part;

typedef struct fuzzed {
    choices c;
    perfile_bytes bytes; /* the source of written bytes */
    part parts[PARTS];
    const perfile_session *session;
    bool swap;
    bool honest; /* reported records match their headers; packed data are not compared */
} fuzzed;

static perfile_bytes sink_bytes(perfile_sink *s)
{
    return perfile_sink_bytes(s);
}

static void put(fuzzed *f, part *x, size_t n)
{
    while (n && f->bytes.len && x->shadow.len < MOST_PART) {
        const size_t from = x->shadow.len % f->bytes.len, left = f->bytes.len - from;
        const perfile_bytes some = {f->bytes.ptr + from, n < left ? n : left};
        ENSURE(perfile_sink_write(x->sink, some, NULL) == PERFILE_OK);
        ENSURE(pf_buffer_append(&x->shadow, some.ptr, some.len));
        n -= some.len;
    }
}

/* Makes records of the bytes of a part from x->told on: as their headers say, or with any size.
 * Types are those of the headers, or others. */
static size_t make_views(fuzzed *f, const part *x, const uint8_t *bytes, perfile_record *views)
{
    const uint64_t how = f->honest ? choose(&f->c, 1) : choose(&f->c, 2);
    const size_t most = 1 + (size_t)(how & 255) % MOST_VIEWS;
    size_t at = (size_t)x->told, n = 0;
    const size_t end = x->shadow.len;
    while (n < most && end - at >= PF_PERF_RECORD_HEADER) {
        const pf_frame h = pf_frame_at(bytes + at, f->swap);
        size_t size = h.size;
        if (f->honest && (size < PF_PERF_RECORD_HEADER || size > end - at))
            break;
        if (how & 256 || size < PF_PERF_RECORD_HEADER || size > end - at)
            size = PF_PERF_RECORD_HEADER + (at * 7 + (size_t)(how >> 9)) % 120;
        if (size > end - at)
            size = end - at;
        views[n++] = (perfile_record){
            .header = bytes + at,
            .body = {bytes + at + PF_PERF_RECORD_HEADER, size - PF_PERF_RECORD_HEADER},
            .type = how & 512 ? (uint32_t)(how >> 10) : h.type,
            .misc = h.misc,
            .family = PERFILE_FAMILY_PERF,
            .flags = f->swap ? PERFILE_REC_SWAPPED : 0,
            .offset = at,
            .session = f->session};
        at += size;
    }
    return n;
}

/* Reports records after those reported before, sometimes after a gap, and sometimes records that
 * were reported already, which must not matter. */
static void tell(fuzzed *f, part *x)
{
    perfile_record views[MOST_VIEWS];
    const uint64_t jump = choose(&f->c, 1);
    const uint64_t before = x->told;
    if (jump & 128)
        x->told -= x->told < (jump & 63) ? x->told : jump & 63;
    else
        x->told += jump & 64 ? jump & 63 : 0;
    if (x->told > x->shadow.len)
        x->told = x->shadow.len;
    const size_t len = x->shadow.len;
    uint8_t *copy = malloc(len + 1); /* exactly its size, so that an overread is caught */
    ENSURE(copy);
    if (len)
        memcpy(copy, x->shadow.ptr, len);
    const size_t n = make_views(f, x, copy, views);
    if (n) {
        ENSURE(pf_sink_records(x->sink, x->told, &(pf_batch){.at = views, .n = n}, NULL) ==
               PERFILE_OK);
        x->told = (uint64_t)(views[n - 1].body.ptr + views[n - 1].body.len - copy);
    }
    x->told = x->told < before ? before : x->told;
    free(copy);
}

/* Returns false if these bytes have been packed already; then the sink can only be closed. */
static bool patch(fuzzed *f, part *x)
{
    const size_t offset = (size_t)choose(&f->c, 2), n = 1 + (size_t)choose(&f->c, 1) % 64;
    uint8_t bytes[64];
    perfile_error err = {0};
    memset(bytes, (int)offset, sizeof bytes);
    if (!pf_sink_can_patch(x->sink) || offset + n > x->shadow.len)
        return true;
    const perfile_status st = pf_sink_patch(x->sink, offset, (perfile_bytes){bytes, n}, &err);
    if (st == PERFILE_OK) {
        memcpy(x->shadow.ptr + offset, bytes, n);
        return true;
    }
    ENSURE(st == PERFILE_E_UNSUPPORTED && x->told > 0);
    return false;
}

/* Returns a part of a directory. */
static part *part_of(fuzzed *f, unsigned n, bool directory)
{
    part *x = &f->parts[n];
    if (n && !directory)
        return &f->parts[0];
    if (!x->sink)
        ENSURE(pf_sink_part(f->parts[0].sink, n - 1, &x->sink, NULL) == PERFILE_OK);
    return x;
}

static bool play(fuzzed *f, bool directory)
{
    for (unsigned i = 0; i < MOST_STEPS && f->c.left > f->bytes.len / 2; i++) {
        const uint64_t what = choose(&f->c, 1);
        part *x = part_of(f, (unsigned)(what >> 3) % PARTS, directory);
        switch (what & 7) {
        case 0:
        case 1:
            put(f, x, (size_t)choose(&f->c, 1));
            break;
        case 2:
            put(f, x, (size_t)choose(&f->c, 2));
            break;
        case 3:
            if (!patch(f, x))
                return false;
            break;
        case 4:
            x->sink->patchable = false;
            break;
        case 5:
            f->swap = what >> 5 & 1;
            break;
        default:
            tell(f, x);
        }
    }
    return true;
}

static void ensure_read(perfile_source *s, const pf_buffer *want)
{
    size_t at = 0;
    perfile_bytes run;
    ENSURE(s->size == want->len);
    while (at < want->len) {
        ENSURE(pf_source_run(s, at, 1, &run, NULL) == PERFILE_OK && run.len);
        ENSURE(run.len <= want->len - at && memcmp(run.ptr, want->ptr + at, run.len) == 0);
        at += run.len;
    }
}

static void on_finding(void *user, const perfile_archive_finding *f)
{
    (void)user;
    /* Wrong reports about records appear in headers and zones; everything else is right. */
    ENSURE(f->rule == PERFILE_RULE_V_706 || f->rule == PERFILE_RULE_V_707);
}

static void check_archive(fuzzed *f, perfile_bytes archive, bool directory)
{
    static const char *const names[PARTS] = {"data", "data.0", "data.1", "data.2"};
    perfile_source *s, *entry;
    perfile_archive *a;
    ENSURE(perfile_source_memory(archive, "archive", &s, NULL) == PERFILE_OK);
    ENSURE(pf_archive_source(&s, NULL) == PERFILE_OK && s->origin);
    ENSURE(pf_source_has_entries(s) == directory);
    for (unsigned i = 0; i < PARTS && directory; i++) {
        const perfile_status st = pf_source_entry(s, names[i], &entry, NULL);
        ENSURE((st == PERFILE_OK) == (f->parts[i].sink != NULL));
        if (st != PERFILE_OK)
            continue;
        ensure_read(entry, &f->parts[i].shadow);
        perfile_source_close(entry);
    }
    if (!directory)
        ensure_read(s, &f->parts[0].shadow);
    ENSURE(s->origin->lost.places == 0);
    perfile_source_close(s);
    ENSURE(perfile_source_memory(archive, "archive", &s, NULL) == PERFILE_OK);
    ENSURE(perfile_archive_open(s, &a, NULL) == PERFILE_OK);
    ENSURE(pf_archive_verify(a, on_finding, NULL, NULL) == PERFILE_OK);
    perfile_archive_close(a);
}

/* Opens a session with one event, to which the reported records belong. */
static perfile_stream *open_session(void)
{
    builder b = {.swap = false};
    const build_attr_plan plan = {.size = 112,
                                  .period = 1000,
                                  .sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                                                 PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_CALLCHAIN,
                                  .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    static pf_buffer kept;
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    build_bytes(&b, "PERFILE2", 8);
    build_u64(&b, 16);
    const size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(&b, &plan);
    build_end(&b, start);
    ENSURE(pf_buffer_append(&kept, b.b.ptr, b.b.len));
    build_clear(&b);
    const perfile_bytes bytes = {kept.ptr, kept.len};
    ENSURE(perfile_source_memory(bytes, "session", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_open(source, NULL, &s, NULL) == PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    ENSURE(perfile_session_n_events(perfile_stream_session(s)) == 1);
    return s;
}

static void check_script(perfile_bytes bytes, choices c, uint64_t how)
{
    static perfile_stream *s; /* one for all inputs */
    const bool directory = how & 1;
    fuzzed f = {.c = c, .bytes = bytes, .honest = how & 2};
    perfile_archive_options options = {
        .size = sizeof options, .id = 1, .level = 1, .chunk_records = (uint32_t)(how >> 8 & 31)};
    options.flags =
        (directory ? PERFILE_ARCHIVE_DIRECTORY : 0) | (how & 2 ? PERFILE_ARCHIVE_NO_VERIFY : 0);
    options.threads = (how >> 2 & 31) == 31 ? 3 : 1; /* threads are slow to start */
    perfile_sink *below;
    s = s ? s : open_session();
    f.session = how & 0x2000 ? perfile_stream_session(s) : NULL;
    ENSURE(perfile_sink_memory("archive", &below, NULL) == PERFILE_OK);
    ENSURE(perfile_archive_sink(below, &options, &f.parts[0].sink, NULL) == PERFILE_OK);
    if (play(&f, directory)) {
        ENSURE(perfile_sink_finish(f.parts[0].sink, NULL) == PERFILE_OK);
        check_archive(&f, sink_bytes(below), directory);
    }
    perfile_sink_close(f.parts[0].sink);
    for (unsigned i = 0; i < PARTS; i++)
        pf_buffer_free(&f.parts[i].shadow);
}

/* Filters a capture in memory; on success the sink has the result. */
static perfile_status filtered(perfile_bytes bytes, uint64_t how, perfile_sink **sink)
{
    const operation o = {.what = OPERATION_FILTER,
                         .variant = (unsigned)(how & 255),
                         .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(how >> 8 & 1)};
    perfile_source *source;
    perfile_error err = {0};
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("selection", sink, NULL) == PERFILE_OK);
    return operate(&o, source, *sink, &err);
}

/* Packs a capture as `convert --to archive` does, and filters both. */
static void check_capture(perfile_bytes bytes, uint64_t how)
{
    const perfile_archive_options options = {
        .size = sizeof options, .id = 1, .level = 1, .chunk_records = (uint32_t)(how >> 10 & 31)};
    const perfile_convert_options as_is = {
        .size = sizeof as_is, .on_damage = PERFILE_ON_DAMAGE_COPY, .limits = &small_limits};
    perfile_source *source;
    perfile_sink *below, *sink, *one, *two;
    perfile_error err = {0};
    ENSURE(perfile_source_memory(bytes, "capture", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("archive", &below, NULL) == PERFILE_OK);
    ENSURE(perfile_archive_sink(below, &options, &sink, NULL) == PERFILE_OK);
    const perfile_status st = perfile_convert_capture(source, sink, &as_is, NULL, 0, &err);
    if (closed_unless_ok(source, st) == PERFILE_OK) {
        fuzzed f = {.parts[0].shadow = {.ptr = (uint8_t *)(uintptr_t)bytes.ptr, .len = bytes.len}};
        const perfile_bytes archive = sink_bytes(below);
        check_archive(&f, archive, false);
        const perfile_status plain = filtered(bytes, how, &one);
        const perfile_status packed = filtered(archive, how, &two);
        const perfile_bytes x = sink_bytes(one), y = sink_bytes(two);
        ENSURE(plain != PERFILE_OK || (packed == PERFILE_OK && x.len == y.len &&
                                       (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0)));
        perfile_sink_close(one);
        perfile_sink_close(two);
    }
    perfile_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const uint64_t how = choose(&c, 3);
    const perfile_bytes bytes = {data, c.left};
    const bool capture =
        c.left > 8 && (memcmp(data, "PERFILE2", 8) == 0 || memcmp(data, "2ELIFREP", 8) == 0);
    if (capture && size <= MOST_CAPTURE && how >> 16 & 1)
        check_capture(bytes, how & 0xffff);
    else
        check_script(bytes, c, how & 0xffff);
    return 0;
}
