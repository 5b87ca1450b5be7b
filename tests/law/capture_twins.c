/* A capture and its twin of the other byte order say the same: the twin is made by swapping every
 * field at the place where the walk shows it. */
#include "testing.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "captures.h"
#include "streamed.h"
#include "twin.h"

typedef struct copy {
    builder b;
    bool unfit; /* holds what has no twin: compressed records, formats of tracepoints */
} copy;

static void reverse_at(copy *c, uint64_t at, size_t n)
{
    twin_reverse(c->b.b.ptr + at, n);
}

/* u64 words from `at` on. */
static void reverse_words(copy *c, uint64_t at, uint64_t bytes)
{
    for (uint64_t i = 0; i + 8 <= bytes; i += 8)
        reverse_at(c, at + i, 8);
}

static void swap_feature(copy *c, const perfile_feature *f, uint64_t at)
{
    if (f->number == PERFILE_FEATURE_TRACING_DATA || f->damage)
        c->unfit = true;
    if (c->unfit)
        return;
    twin t = {c->b.b.ptr + at, f->payload.ptr, f->flags & PERFILE_REC_SWAPPED};
    if (perfile_feature_walk(f, 0, &twin_visitor, &t, NULL) != PERFILE_OK)
        c->unfit = true;
}

static void swap_record(copy *c, const perfile_record *r)
{
    twin t = {c->b.b.ptr + r->offset, r->header, r->flags & PERFILE_REC_SWAPPED};
    perfile_feature f;
    if (r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER) || r->extra.len ||
        !perfile_record_type_name(r->type) ||
        perfile_record_walk(r, 0, &twin_visitor, &t, NULL) != PERFILE_OK ||
        perfile_record_walk_trailer(r, 0, &twin_visitor, &t, NULL) < 0) {
        c->unfit = true;
        return;
    }
    if (r->type == PERFILE_RECORD_HEADER_FEATURE &&
        perfile_record_feature(r, &f, NULL) == PERFILE_OK && perfile_feature_name(f.number) &&
        f.payload.len)
        swap_feature(c, &f, r->offset + (uint64_t)(f.payload.ptr - r->header));
    reverse_at(c, r->offset, 4);
    reverse_at(c, r->offset + 4, 2);
    reverse_at(c, r->offset + 6, 2);
}

/* Header, attrs, ids and feature table of the file form. */
static void swap_sections(copy *c, const perfile_stream *s)
{
    const perfile_container *k = perfile_stream_container(s);
    const perfile_session *session = perfile_stream_session(s);
    if (k->header_size != 104 || k->event_types.size || k->n_damages) {
        c->unfit = true;
        return;
    }
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++) {
        const perfile_event *e = perfile_session_event(session, i);
        twin t = {c->b.b.ptr + e->offset, e->stored.ptr, perfile_session_swapped(session)};
        uint64_t where = e->offset + k->attr_size - 16;
        if (perfile_attr_walk(e->stored, t.from_swapped, 0, &twin_visitor, &t, NULL) != PERFILE_OK)
            c->unfit = true;
        if (e->ids.n)
            reverse_words(c, pf_load_u64(c->b.b.ptr + where, t.from_swapped), 8 * e->ids.n);
        reverse_words(c, where, 16);
    }
    uint64_t table = k->data.offset + k->data.size;
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        swap_feature(c, f, f->offset);
        reverse_words(c, table + 16 * (uint64_t)i, 16);
    }
    reverse_words(c, 16, 104 - 16);
}

/* The twin of `bytes`; false when it has none. */
static bool make_twin(perfile_bytes bytes, copy *c)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_options options = {
        .size = sizeof options, .as_stored = true, .deliver = PERFILE_DELIVER_DAMAGE};
    const perfile_record *r;
    *c = (copy){{{0}, false}, false};
    build_bytes(&c->b, bytes.ptr, bytes.len);
    assert_int_equal(perfile_source_memory(bytes, "one", &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    while (!c->unfit && perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->family != PERFILE_FAMILY_PERF)
            c->unfit = true;
        else
            swap_record(c, r);
    }
    if (!c->unfit && perfile_stream_container(s)->form == PERFILE_FORM_FILE)
        swap_sections(c, s);
    if (perfile_stream_container(s)->version != 2)
        c->unfit = true;
    reverse_at(c, 0, 8);
    reverse_at(c, 8, 8);
    perfile_stream_close(s);
    return !c->unfit;
}

/* Fields, events, times of all records: everything but bytes as they are stored. */
static void tell(perfile_bytes bytes, transcript *t)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_options options = {.size = sizeof options, .as_stored = true};
    const perfile_record *r;
    uint32_t pid, tid;
    assert_int_equal(perfile_source_memory(bytes, "one", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        tell_number(t, "type", r->type);
        tell_number(t, "misc", r->misc);
        tell_number(t, "offset", r->offset);
        tell_number(t, "size", r->body.len);
        tell_number(t, "time", perfile_record_time(r));
        if (perfile_record_task(r, &pid, &tid))
            tell_number(t, "task", (uint64_t)pid << 32 | tid);
        const perfile_event *e = perfile_record_event(r);
        tell_number(t, "event", e ? e->index : UINT64_MAX);
        if (r->type != PERFILE_RECORD_HEADER_FEATURE)
            assert_int_equal(perfile_record_walk(r, 0, &transcript_visitor, t, NULL), PERFILE_OK);
        assert_true(perfile_record_walk_trailer(r, 0, &transcript_visitor, t, NULL) >= 0);
    }
    const perfile_session *session = perfile_stream_session(s);
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++) {
        const perfile_event *e = perfile_session_event(session, i);
        streamed_text(t, "name", e->name);
        tell_words(t, "ids", e->ids);
        assert_int_equal(perfile_attr_walk(e->stored, perfile_session_swapped(session), 0,
                                           &transcript_visitor, t, NULL),
                         PERFILE_OK);
    }
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        tell_number(t, "feature", f->number);
        tell_number(t, "at", f->offset);
        assert_int_equal(perfile_feature_walk(f, 0, &transcript_visitor, t, NULL), PERFILE_OK);
    }
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++)
        streamed_text(t, "fact", perfile_session_fact(session, i));
    perfile_stream_close(s);
}

static bool compare(const char *name, perfile_bytes bytes)
{
    copy c;
    bool fit = make_twin(bytes, &c);
    if (fit) {
        transcript one = {.with_text = true}, other = {.with_text = true};
        tell(bytes, &one);
        tell(built(&c.b), &other);
        if (one.hash != other.hash) {
            size_t i = 0;
            while (one.text[i] == other.text[i])
                i++;
            i = i < 200 ? 0 : i - 200;
            print_error("%s\n--- one\n%.500s\n--- its twin\n%.500s\n", name, one.text + i,
                        other.text + i);
            fail();
        }
        transcript_clear(&one);
        transcript_clear(&other);
    }
    build_clear(&c.b);
    return fit;
}

static void generated(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        capture_make(&b, form / 2, form % 2, 10);
        n += compare(capture_names[form / 2], built(&b));
        build_clear(&b);
    }
    assert_true(n >= 2);
}

static void recorded(void **state)
{
    (void)state;
    static const char *const folders[] = {"samples/captures"};
    const char *home = getenv("PERFILE_SOURCE");
    char path[4096];
    unsigned n = 0;
    if (!home)
        skip();
    snprintf(path, sizeof path, "%s/%s", home, folders[0]);
    DIR *dir = opendir(path);
    if (!dir)
        skip();
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/%s/%s", home, folders[0], entry->d_name);
        if (!dot || strcmp(dot, ".data") != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
            st.st_size < 16)
            continue;
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        uint8_t *block = malloc((size_t)st.st_size);
        assert_non_null(block);
        assert_int_equal(fread(block, 1, (size_t)st.st_size, f), st.st_size);
        fclose(f);
        n += compare(entry->d_name, (perfile_bytes){block, (size_t)st.st_size});
        free(block);
    }
    closedir(dir);
    print_message("%u recorded captures have twins\n", n);
    assert_true(n >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
