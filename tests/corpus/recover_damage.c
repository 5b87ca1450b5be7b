/* Every capture of the corpus, cut and damaged at random (the same places each time), through
 * perfile_recover_capture(): the result is whole, and compared with the original by bytes it has no
 * record of its own making and lacks none outside what was named as lost. */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "../testing.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "perfile/perfile.h"
#include "perfile/sink.h"

#if defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 5, DUMP_EVERY = 3 };
#else
enum { ROUNDS = 50, DUMP_EVERY = 16 };
#endif

enum { MOST_FILES = 1024, MOST_BYTES = 4 << 20, BLOCK = 4096, KINDS = 5 };

static const char *const kind_names[KINDS] = {"cut", "a byte", "64 bytes", "4 KiB of zeros",
                                              "4 KiB of another capture"};

typedef struct capture {
    char *path;
    uint8_t *bytes;
    size_t len;
} capture;

static capture captures[MOST_FILES];
static size_t n_captures;

static uint32_t seed;
static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 4;
}

/* A record by its bytes and, when it is not inside a compressed one, its place. */
typedef struct item {
    uint64_t hash;
    uint64_t offset;
    uint64_t end;
    bool sample;
    bool inner;
    bool attr; /* may move to the header */
} item;

typedef struct list {
    pf_buffer b;
    uint64_t damages;
    uint64_t bad; /* records that cannot be decoded */
    bool packed;  /* has compressed records */
} list;

static item *items(const list *l)
{
    return (item *)(void *)l->b.ptr;
}

static size_t n_items(const list *l)
{
    return l->b.len / sizeof(item);
}

static uint64_t hash(uint64_t h, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static bool decodes(const perfile_record *r)
{
    static const perfile_visitor nobody = {
        .size = sizeof nobody, .value = ignore_value, .begin = ignore_value, .end = ignore_end};
    return perfile_record_walk(r, PERFILE_WALK_ALL, &nobody, NULL, NULL) == PERFILE_OK;
}

/* All records of a capture; false when it is none. */
static bool read_list(perfile_bytes bytes, list *l)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options options = {.size = sizeof options};
    pf_buffer_clear(&l->b);
    l->packed = false;
    l->damages = l->bad = 0;
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->flags & PERFILE_REC_ENVELOPE && r->type < PERFILE_RECORD_SIMPLEPERF) {
            l->packed = true;
            continue;
        }
        item i = {.hash = hash(UINT64_C(0xcbf29ce484222325), r->header, perfile_record_size(r)),
                  .offset = r->offset,
                  .end = r->offset + perfile_record_size(r) + r->extra.len,
                  .sample = r->type == PERFILE_RECORD_SAMPLE,
                  .inner = r->flags & PERFILE_REC_INNER,
                  .attr = r->type == PERFILE_RECORD_HEADER_ATTR};
        if (i.inner && !l->packed)
            continue; /* put together from pieces, which are here */
        if (r->extra.ptr)
            i.hash = hash(i.hash, r->extra.ptr, r->extra.len);
        l->bad += !decodes(r);
        assert_true(pf_buffer_append(&l->b, &i, sizeof i));
    }
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    l->damages = sum.damages;
    perfile_stream_close(s);
    return true;
}

/* Findings of severity error, and the first of them in words. */
typedef struct verdict {
    uint64_t errors;
    char first[300];
} verdict;

static void on_finding(void *user, const perfile_finding *f)
{
    verdict *v = user;
    if (v->errors++ == 0)
        snprintf(v->first, sizeof v->first, "%s at %llu: %s", perfile_rule_of(f->rule)->id,
                 (unsigned long long)f->offset, f->message);
}

static verdict validate(perfile_bytes bytes)
{
    verdict v = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    size_t n;
    perfile_check_options options = {.size = sizeof options,
                                     .finding = on_finding,
                                     .user = &v,
                                     .severity = PERFILE_SEVERITY_ERROR};
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    if (perfile_open(source, NULL, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        v.errors = 1;
        return v;
    }
    assert_int_equal(perfile_check(s, &options, &s, NULL), PERFILE_OK);
    while (perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK)
        continue;
    perfile_stream_close(s);
    return v;
}

static int64_t swallow(void *user, const void *bytes, size_t len)
{
    (void)bytes;
    *(uint64_t *)user += len;
    return (int64_t)len;
}

/* What was rescued can be dumped to its end. */
static void dump(perfile_bytes bytes, const char *format)
{
    uint64_t written = 0;
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *sink;
    perfile_emitter *e;
    const perfile_record *r;
    perfile_sink_callbacks callbacks = {
        .size = sizeof callbacks, .user = &written, .write = swallow};
    assert_int_equal(perfile_source_memory(bytes, "rescued", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_callback(&callbacks, "nowhere", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_open(format, s, sink, NULL, &e, NULL), PERFILE_OK);
    perfile_status st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, NULL);
    assert_int_equal(st, PERFILE_END);
    assert_int_equal(perfile_emitter_finish(e, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_flush(sink, NULL), PERFILE_OK);
    assert_true(written > 0);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
}

typedef struct span {
    uint64_t start, end;
} span;

typedef struct rescue {
    pf_buffer gaps; /* span */
    perfile_recover_summary sum;
    perfile_status status;
    perfile_sink *sink;
} rescue;

static void on_gap(void *user, const perfile_gap *gap, const char *name)
{
    rescue *x = user;
    (void)name;
    span s = {gap->offset, gap->offset + gap->bytes};
    if (!gap->inner && gap->bytes)
        assert_true(pf_buffer_append(&x->gaps, &s, sizeof s));
}

static void run(perfile_bytes bytes, rescue *x)
{
    perfile_source *source;
    perfile_recover_options how = {.size = sizeof how, .gap = on_gap, .user = x};
    pf_buffer_clear(&x->gaps);
    assert_int_equal(perfile_source_memory(bytes, "damaged", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("rescued", &x->sink, NULL), PERFILE_OK);
    x->status = perfile_recover_capture(source, x->sink, &how, &x->sum, sizeof x->sum, NULL);
    closed_unless_ok(source, x->status);
}

static bool in_gap(const rescue *x, const item *i)
{
    const span *s = (const span *)(const void *)x->gaps.ptr;
    for (size_t k = 0; k < x->gaps.len / sizeof *s; k++)
        if (i->offset < s[k].end && s[k].start < i->end)
            return true;
    return false;
}

/* Sums over all damages of a kind. */
typedef struct tally {
    uint64_t runs, nothing, unopened, unsound, invalid, foreign, altered, silent;
    uint64_t samples, skipped; /* undamaged samples, and those of them that were lost in gaps */
    double *shares;            /* skipped samples of each run, in percent */
} tally;

static tally tallies[KINDS];

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool verbose(void)
{
    return getenv("PERFILE_VERBOSE") != NULL;
}

/* For whoever has to find out why. */
static void keep(perfile_bytes damaged)
{
    static unsigned n;
    char path[64];
    if (!verbose())
        return;
    snprintf(path, sizeof path, "damaged.%u", n++);
    FILE *f = fopen(path, "wb");
    if (!f)
        return;
    (void)!fwrite(damaged.ptr, 1, damaged.len, f);
    fclose(f);
}

/* The records of the result that are none of the original and do not stand where one was damaged.
 */
static void compare(const char *what, const list *original, const list *result,
                    const uint64_t *known, perfile_bytes damaged, span hurt, const rescue *x,
                    tally *t)
{
    const item *o = items(original), *r = items(result);
    size_t n = n_items(original), m = n_items(result);
    size_t at = 0;
    uint64_t samples = 0, skipped = 0;
    uint64_t foreign = 0, altered = 0, silent = 0;
    for (size_t i = 0; i < n; i++) {
        bool whole = o[i].end <= hurt.start || o[i].offset >= hurt.end;
        if (!whole)
            continue;
        samples += o[i].sample;
        if (original->packed)
            continue;
        if (in_gap(x, &o[i])) {
            skipped += o[i].sample;
            continue;
        }
        size_t found = at;
        while (found < m && r[found].hash != o[i].hash)
            found++;
        if (found == m) {
            if (o[i].attr)
                continue;
            silent++;
            if (verbose())
                print_message("%s: record at %llu silently lost\n", what,
                              (unsigned long long)o[i].offset);
            keep(damaged);
        } else {
            at = found + 1;
        }
    }
    for (size_t i = 0; i < m; i++) {
        if (bsearch(&r[i].hash, known, n, sizeof *known, by_hash))
            continue;
        bool stands = false;
        for (size_t k = 0; k < n && !stands; k++)
            stands = !o[k].inner && o[k].offset < hurt.end && o[k].end > hurt.start &&
                     o[k].end <= damaged.len &&
                     hash(UINT64_C(0xcbf29ce484222325), damaged.ptr + o[k].offset,
                          (size_t)(o[k].end - o[k].offset)) == r[i].hash;
        stands |= original->packed; /* what it was before it was compressed is not known */
        altered += stands;
        foreign += !stands;
        if (!stands && verbose())
            print_message("%s: record %zu of the result is foreign, at %llu of it\n", what, i,
                          (unsigned long long)r[i].offset);
    }
    t->foreign += foreign;
    t->altered += altered;
    t->silent += silent;
    t->samples += samples;
    t->skipped += skipped;
    t->shares[t->runs] = samples ? 100.0 * (double)skipped / (double)samples : 0;
}

static span hurt(unsigned kind, const capture *c, uint8_t *copy, size_t *len)
{
    size_t at = next_random() % c->len;
    static const size_t sizes[KINDS] = {0, 1, 64, BLOCK, BLOCK};
    memcpy(copy, c->bytes, c->len);
    *len = c->len;
    if (kind == 0) {
        *len = at;
        return (span){at, UINT64_MAX};
    }
    size_t n = sizes[kind] < c->len - at ? sizes[kind] : c->len - at;
    const capture *other = &captures[next_random() % n_captures];
    size_t from = next_random() % other->len;
    for (size_t i = 0; i < n; i++) {
        if (kind < 3)
            copy[at + i] = (uint8_t)next_random();
        else if (kind == 3)
            copy[at + i] = 0;
        else if (from + i < other->len)
            copy[at + i] = other->bytes[from + i];
    }
    return (span){at, at + n};
}

static void damage_once(unsigned kind, const capture *c, const list *original,
                        const uint64_t *known, uint8_t *copy)
{
    static list result;
    static rescue x;
    size_t len;
    char what[512];
    tally *t = &tallies[kind];
    span s = hurt(kind, c, copy, &len);
    uint8_t *block = exact(copy, len);
    perfile_bytes damaged = {block, len};
    snprintf(what, sizeof what, "%s, %s at %llu", c->path, kind_names[kind],
             (unsigned long long)s.start);
    t->shares[t->runs] = 0;
    run(damaged, &x);
    if (x.status != PERFILE_OK) {
        assert_true(x.status < 0);
        uint64_t left = 0;
        for (size_t i = 0; i < n_items(original); i++)
            left += items(original)[i].sample &&
                    (items(original)[i].end <= s.start || items(original)[i].offset >= s.end);
        t->nothing++;
        t->samples += left;
        t->skipped += left;
        t->shares[t->runs] = left ? 100 : 0;
        if (left && verbose())
            print_message("%s: nothing\n", what);
    } else if (!read_list(perfile_sink_bytes(x.sink), &result)) {
        t->unopened++;
        print_message("%s: the result cannot be read\n", what);
    } else {
        if (result.damages || result.bad > original->bad) {
            t->unsound++;
            if (verbose())
                print_message("%s: the result has %llu damages, %llu records do not decode\n", what,
                              (unsigned long long)result.damages, (unsigned long long)result.bad);
        }
        verdict v = validate(perfile_sink_bytes(x.sink));
        if (v.errors) {
            t->invalid++;
            print_message("%s: the result has %llu errors: %s\n", what,
                          (unsigned long long)v.errors, v.first);
            keep(damaged);
        }
        if (t->runs % DUMP_EVERY == 0)
            dump(perfile_sink_bytes(x.sink), t->runs / DUMP_EVERY % 2 ? "jsonl" : "text");
        compare(what, original, &result, known, damaged, s, &x, t);
    }
    t->runs++;
    perfile_sink_close(x.sink);
    free(block);
}

static int take_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || st->st_size < 200 || st->st_size > MOST_BYTES || n_captures == MOST_FILES)
        return 0;
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    capture *c = &captures[n_captures];
    c->len = (size_t)st->st_size;
    c->bytes = malloc(c->len);
    c->path = malloc(strlen(path) + 1);
    assert_true(c->bytes && c->path && fread(c->bytes, 1, c->len, f) == c->len);
    memcpy(c->path, path, strlen(path) + 1);
    fclose(f);
    static list l;
    /* Only what is whole can be compared with. */
    perfile_bytes bytes = {c->bytes, c->len};
    if (read_list(bytes, &l) && !l.damages && n_items(&l)) {
        n_captures++;
    } else {
        free(c->bytes);
        free(c->path);
    }
    return 0;
}

static int by_share(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const capture *)a)->path, ((const capture *)b)->path);
}

static void all(void **state)
{
    (void)state;
    const char *corpus = getenv("PERFILE_CORPUS");
    const char *own = getenv("PERFILE_SOURCE");
    char path[4096];
    if (own) {
        snprintf(path, sizeof path, "%s/samples/captures", own);
        (void)nftw(path, take_file, 8, FTW_PHYS);
    }
    if (corpus)
        (void)nftw(corpus, take_file, 8, FTW_PHYS);
    if (n_captures == 0)
        skip();
    qsort(captures, n_captures, sizeof *captures, by_path);
    for (unsigned k = 0; k < KINDS; k++)
        tallies[k].shares = calloc(n_captures * ROUNDS, sizeof(double));
    uint8_t *copy = malloc(MOST_BYTES);
    assert_non_null(copy);
    for (size_t i = 0; i < n_captures; i++) {
        static list original;
        assert_true(read_list((perfile_bytes){captures[i].bytes, captures[i].len}, &original));
        size_t n = n_items(&original);
        uint64_t *known = malloc(n * sizeof *known);
        assert_non_null(known);
        for (size_t k = 0; k < n; k++)
            known[k] = items(&original)[k].hash;
        qsort(known, n, sizeof *known, by_hash);
        seed = (uint32_t)i + 1;
        for (unsigned round = 0; round < 2 * ROUNDS; round++)
            damage_once(round < ROUNDS ? 0 : 1 + round % (KINDS - 1), &captures[i], &original,
                        known, copy);
        free(known);
    }
    free(copy);
    print_message("%zu captures, %d cuts and %d damages of each\n", n_captures, ROUNDS, ROUNDS);
    for (unsigned k = 0; k < KINDS; k++) {
        tally *t = &tallies[k];
        qsort(t->shares, t->runs, sizeof *t->shares, by_share);
        print_message("%-25s %6llu runs: skipped %.3f %% of the undamaged samples (median of runs "
                      "%.3f %%); nothing left %llu; altered records kept %llu; foreign %llu; "
                      "silently lost %llu; unsound %llu; with errors %llu\n",
                      kind_names[k], (unsigned long long)t->runs,
                      t->samples ? 100.0 * (double)t->skipped / (double)t->samples : 0.0,
                      t->shares[t->runs / 2], (unsigned long long)t->nothing,
                      (unsigned long long)t->altered, (unsigned long long)t->foreign,
                      (unsigned long long)t->silent, (unsigned long long)t->unsound,
                      (unsigned long long)t->invalid);
    }
    for (unsigned k = 0; k < KINDS; k++) {
        const tally *t = &tallies[k];
        assert_int_equal(t->unopened, 0);
        /* One whose end is cut off by the damage, and whose attr took the place of ours, takes what
         * is behind it for its own: nothing is left that tells. */
        assert_true(k == KINDS - 1 ? t->silent * 1000 <= t->runs : t->silent == 0);
        assert_true(t->unsound * 1000 <= t->runs);
        assert_int_equal(t->invalid, 0);
        assert_true(t->shares[t->runs / 2] < 1.0);
        /* Records of another capture that stand where one of ours would, of the same layout and a
         * time that fits or without one, look like ours. */
        assert_true(k == KINDS - 1 ? t->foreign < 2 * t->runs : t->foreign <= 1 + t->runs / 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
