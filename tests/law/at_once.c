/* What the emitters write of samples and trailers by code of their own is what they write of them
 * by a walk. */
#include "testing.h"

#include <dirent.h>
#include <stdio.h>

#include "emit/emitter.h"
#include "instances.h"

static const pf_emit_ops *const forms[] = {&pf_emit_jsonl, &pf_emit_cbor};
enum { N_FORMS = sizeof forms / sizeof forms[0], LONGEST = 160 };

/* Two emitters of a form, and how often they had nothing to disagree about. */
typedef struct pair {
    perfile_emitter *one, *walk;
    uint64_t n_records;
} pair;

static pair pair_new(const pf_emit_ops *form, perfile_stream *s)
{
    pair p = {0};
    assert_int_equal(pf_emitter_new(form, NULL, &p.one, NULL), PERFILE_OK);
    assert_int_equal(pf_emitter_new(form, NULL, &p.walk, NULL), PERFILE_OK);
    p.one->stream = p.walk->stream = s;
    p.one->session = p.walk->session = s ? perfile_stream_session(s) : NULL;
    p.one->container = p.walk->container = s ? perfile_stream_container(s) : NULL;
    p.walk->walk_only = true;
    return p;
}

static void pair_close(pair *p)
{
    assert_int_equal(p->walk->n_fast_path, 0);
    perfile_emitter_close(p->one);
    perfile_emitter_close(p->walk);
}

static void put(pair *p, const perfile_record *r)
{
    assert_int_equal(p->one->ops->put(p->one, r, NULL), PERFILE_OK);
    assert_int_equal(p->walk->ops->put(p->walk, r, NULL), PERFILE_OK);
    const pf_buffer *a = &p->one->out, *b = &p->walk->out;
    if (a->len != b->len || memcmp(a->ptr, b->ptr, a->len) != 0)
        print_error("at once: %.*s\nby walk: %.*s\n", (int)a->len, (const char *)a->ptr,
                    (int)b->len, (const char *)b->ptr);
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->ptr, b->ptr, a->len);
    assert_int_equal(p->one->n_errors, p->walk->n_errors);
    pf_buffer_clear(&p->one->out);
    pf_buffer_clear(&p->walk->out);
    p->n_records++;
}

/* A body in a block of its own, so that an overread is caught. */
static void put_body(pair *p, const perfile_session *s, uint32_t type, uint16_t misc,
                     perfile_bytes body)
{
    uint8_t *own = exact(body.ptr, body.len);
    perfile_record r = record_of(s, type, misc, (perfile_bytes){own, body.len});
    put(p, &r);
    free(own);
}

/* Every length of bodies of a sample type: whole, cut, and with bytes behind. */
static void lengths(dice *d, pair *p, uint64_t type, bool swap)
{
    const build_attr_plan plan = {.size = 64, .sample_type = type};
    perfile_session *s = roll_session(&plan, swap, 0);
    builder b = {.swap = swap};
    for (size_t n = 0; n <= LONGEST; n++) {
        b.b.len = 0;
        while (b.b.len < n)
            roll_word(d, &b);
        b.b.len = n;
        put_body(p, s, PERFILE_RECORD_SAMPLE, 2, built(&b));
    }
    build_clear(&b);
    pf_session_free(s);
}

static void usual_types(void **state)
{
    (void)state;
    const uint64_t always = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME;
    static const uint64_t others[] = {PERFILE_SAMPLE_ID,   PERFILE_SAMPLE_IDENTIFIER,
                                      PERFILE_SAMPLE_CPU,  PERFILE_SAMPLE_PERIOD,
                                      PERFILE_SAMPLE_RAW,  PERFILE_SAMPLE_CALLCHAIN,
                                      PERFILE_SAMPLE_ADDR, PERFILE_SAMPLE_STREAM_ID};
    enum { N_OTHERS = sizeof others / sizeof others[0] };
    dice d = {1};
    for (unsigned form = 0; form < N_FORMS; form++) {
        pair p = pair_new(forms[form], NULL);
        for (unsigned set = 0; set < 1U << N_OTHERS; set++) {
            uint64_t type = always;
            for (unsigned i = 0; i < N_OTHERS; i++)
                type |= set >> i & 1 ? others[i] : 0;
            lengths(&d, &p, type, set % 3 == 0);
        }
        /* Both ways were gone, often. */
        assert_true(p.one->n_fast_path > p.n_records / 8);
        assert_true(p.one->n_errors > p.n_records / 8);
        pair_close(&p);
    }
}

/* Any fields, and any kernel record with its trailer. */
static void any_types(void **state)
{
    (void)state;
    enum { SESSIONS = 3000, RECORDS = 12 };
    dice d = {2};
    builder b = {0};
    for (unsigned form = 0; form < N_FORMS; form++) {
        pair p = pair_new(forms[form], NULL);
        for (unsigned i = 0; i < SESSIONS; i++) {
            build_attr_plan plan = roll_plan(&d);
            b.swap = i % 2;
            perfile_session *s = roll_session(&plan, b.swap, 0);
            for (unsigned j = 0; j < RECORDS; j++) {
                uint32_t type = roll(&d, 2) ? PERFILE_RECORD_SAMPLE : 1 + roll(&d, 22);
                roll_body(&d, &b, type == PERFILE_RECORD_SAMPLE ? 0 : 64);
                put_body(&p, s, type, (uint16_t)roll(&d, 4), built(&b));
            }
            pf_session_free(s);
        }
        assert_true(p.one->n_fast_path > p.n_records / 8);
        assert_true(p.one->n_errors > p.n_records / 8);
        pair_close(&p);
    }
    build_clear(&b);
}

/* Headers that share a place in the table of those that are kept. */
static void headers_that_collide(void **state)
{
    (void)state;
    const build_attr_plan plan = {.size = 64, .sample_type = PERFILE_SAMPLE_IP};
    perfile_session *s = roll_session(&plan, false, 0);
    static const uint8_t bytes[4 * 512 + 8];
    dice d = {3};
    for (unsigned form = 0; form < N_FORMS; form++) {
        pair kept = pair_new(forms[form], NULL);
        for (unsigned i = 0; i < 4000; i++) {
            pair fresh = pair_new(forms[form], NULL);
            perfile_bytes body = {bytes, roll(&d, 4) * 512 + roll(&d, 8)};
            uint32_t type = PERFILE_RECORD_SAMPLE + 64 * roll(&d, 2);
            perfile_record r = record_of(s, type, (uint16_t)(64 * roll(&d, 2)), body);
            r.sequence = i;
            put(&kept, &r);
            /* The output of the first record has no earlier one to be confused with. */
            assert_int_equal(kept.one->ops->put(kept.one, &r, NULL), PERFILE_OK);
            assert_int_equal(fresh.one->ops->put(fresh.one, &r, NULL), PERFILE_OK);
            assert_int_equal(kept.one->out.len, fresh.one->out.len);
            assert_memory_equal(kept.one->out.ptr, fresh.one->out.ptr, fresh.one->out.len);
            kept.walk->n_errors = kept.one->n_errors;
            pf_buffer_clear(&kept.one->out);
            pair_close(&fresh);
        }
        pair_close(&kept);
    }
    pf_session_free(s);
}

/* True when `path` could be opened. */
static bool compare(const char *path)
{
    for (unsigned form = 0; form < N_FORMS; form++) {
        perfile_open_options options = {
            .size = sizeof options, .as_stored = true, .deliver = PERFILE_DELIVER_DAMAGE};
        perfile_stream *s;
        const perfile_record *r;
        if (perfile_open_path(path, &options, &s, NULL) != PERFILE_OK)
            return false;
        pair p = pair_new(forms[form], s);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            if (!r->extra.len || r->extra.ptr)
                put(&p, r);
        pair_close(&p);
        perfile_stream_close(s);
    }
    return true;
}

static void recorded(void **state)
{
    (void)state;
    const char *home = getenv("PERFILE_SOURCE");
    char path[4096];
    unsigned n = 0;
    if (!home)
        skip();
    snprintf(path, sizeof path, "%s/samples/captures", home);
    DIR *dir = opendir(path);
    if (!dir)
        skip();
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/samples/captures/%s", home, entry->d_name);
        if (dot && strcmp(dot, ".data") == 0)
            n += compare(path);
    }
    closedir(dir);
    assert_true(n >= 20);
}

/* The captures of others, where they are. */
static void corpus(void **state)
{
    (void)state;
    const char *home = getenv("PERFILE_CORPUS");
    char path[4096], line[4096];
    unsigned n = 0;
    if (!home)
        skip();
    snprintf(path, sizeof path, "%s/MANIFEST.tsv", home);
    FILE *f = fopen(path, "r");
    if (!f) {
        print_message("\nnot tried: captures of others: there is no corpus\n");
        return;
    }
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\t\n")] = 0;
        int length = snprintf(path, sizeof path, "%s/%s", home, line);
        if (length > 0 && (size_t)length < sizeof path)
            n += compare(path);
    }
    fclose(f);
    print_message("%u captures of the corpus\n", n);
    assert_true(n >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_types),
        cmocka_unit_test(any_types),
        cmocka_unit_test(headers_that_collide),
        cmocka_unit_test(recorded),
        cmocka_unit_test(corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
