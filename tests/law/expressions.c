/* What an expression reads of a record is what the field walk shows: every field of every row, in
 * both byte orders, there or not; and of captures.  Names of conditions and of columns are the
 * same. */
#define _XOPEN_SOURCE 700 /* ftw() */
#include "testing.h"

#include <stdio.h>

#include "expr/program.h"
#include "expr/fetch.h"
#include "instances.h"
#include "perfile/emit.h"
#include "recorded.h"
#include "schema/rows.h"
#include "emit/command.h"
#include "expr/command.h"

enum {
#if defined(__SANITIZE_ADDRESS__)
    INSTANCES = 4, /* of each row */
    OF_A_CAPTURE = 40,
#else
    INSTANCES = 30,
    OF_A_CAPTURE = 300,
#endif
    MOST_SHOWN = 4096,
    MOST_TEXT = 6 * 4096
};

/* What the walk shows of one record. */
typedef struct seen {
    const perfile_record *r;
    const char *record;     /* what stands in front of names */
    char path[256];         /* of the struct that is walked */
    unsigned in_list;       /* depth of nesting below a list */
    char shown[MOST_SHOWN]; /* names that were there, each behind a blank */
    size_t n_shown;
} seen;

static uint64_t n_true, n_false, n_skipped;
static char text[MOST_TEXT];

static bool holds(const perfile_record *r, const char *condition)
{
    bool yes;
    perfile_expr *e;
    perfile_error err = {0};
    if (perfile_expr_open(condition, NULL, &e, &err) != PERFILE_OK)
        fail_msg("%.200s: %s", condition, err.message);
    if (perfile_expr_test(e, r, &yes, &err) != PERFILE_OK)
        fail_msg("%.200s: %s", condition, err.message);
    perfile_expr_close(e);
    return yes;
}

static void expect(const perfile_record *r, bool wanted)
{
    if (holds(r, text) != wanted)
        fail_msg("record of type %u at %llu: %.2000s is %s", r->type, (unsigned long long)r->offset,
                 text, wanted ? "false" : "true");
    *(wanted ? &n_true : &n_false) += 1;
}

/* The value of a name alone, which is what a column of a table shows, is `v`, too. */
static void expect_shown(const perfile_record *r, const char *name, const perfile_field *f,
                         const perfile_value *v)
{
    perfile_expr *e;
    perfile_error err = {0};
    perfile_field field;
    perfile_value value = {0};
    assert_int_equal(pf_expr_names_open(NULL, &e, NULL), PERFILE_OK);
    if (pf_expr_add_name(e, name, &err) != PERFILE_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(pf_expr_link(e, NULL), PERFILE_OK);
    pf_expr_begin(e, r);
    if (!pf_expr_value(e, 0, &field, &value))
        fail_msg("record of type %u has no %s", r->type, name);
    switch (f ? f->type : PERFILE_STORED_U64) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        assert_int_equal(value.u.bytes.len, v->u.bytes.len);
        if (v->u.bytes.len)
            assert_memory_equal(value.u.bytes.ptr, v->u.bytes.ptr, v->u.bytes.len);
        break;
    case PERFILE_STORED_WORDS:
        assert_int_equal(value.u.words.n, v->u.words.n);
        for (size_t i = 0; i < v->u.words.n; i++)
            assert_int_equal(perfile_word(&value.u.words, i), perfile_word(&v->u.words, i));
        break;
    case PERFILE_STORED_STRINGS:
        assert_int_equal(value.u.strings.n, v->u.strings.n);
        break;
    default:
        assert_int_equal(value.number, v->number);
        break;
    }
    if (f && (field.type != f->type || field.element != f->element || field.kind != f->kind))
        fail_msg("%s is of type %u and kind %u, not %u and %u", name, field.type, field.kind,
                 f->type, f->kind);
    perfile_expr_close(e);
}

static size_t put_number(char *out, size_t size, const perfile_field *f, uint64_t v)
{
    if ((f->type == PERFILE_STORED_S32 || f->type == PERFILE_STORED_S64) && (int64_t)v < 0)
        return (size_t)snprintf(out, size, "-%llu", (unsigned long long)(0 - v));
    return (size_t)snprintf(out, size, "%llu", (unsigned long long)v);
}

/* flags.cycles == 5. */
static void expect_parts(const seen *s, const char *name, const perfile_field *f, uint64_t v)
{
    const perfile_vocabulary *parts = perfile_kind_words(f->kind);
    for (uint32_t i = 0; parts && parts->bits && i < parts->n; i++) {
        const perfile_bits *b = &parts->bits[i];
        uint64_t part =
            v >> b->shift & (b->width < 64 ? (UINT64_C(1) << b->width) - 1 : UINT64_MAX);
        snprintf(text, sizeof text, "%s.%s%s.%s == %llu", s->record, s->path, name, b->name,
                 (unsigned long long)part);
        expect(s->r, true);
        char full[512];
        snprintf(full, sizeof full, "%s.%s%s.%s", s->record, s->path, name, b->name);
        expect_shown(s->r, full, NULL, &(perfile_value){.number = part});
        if (b->width > 1)
            continue;
        snprintf(text, sizeof text, "%s.%s%s & %s", s->record, s->path, name, b->name);
        expect(s->r, part);
    }
}

/* name == 7, and not name == 8; in lists any(list, .name == 7). */
static void expect_number(const seen *s, const char *name, const perfile_field *f, uint64_t v)
{
    char number[40], other[40];
    if (f->kind == PERFILE_KIND_SCALE)
        return;
    put_number(number, sizeof number, f, v);
    put_number(other, sizeof other, f, v ^ 1);
    if (s->in_list) {
        snprintf(text, sizeof text, "any(%s.%s, .%s == %s)", s->record, s->path, name, number);
        expect(s->r, true);
        snprintf(text, sizeof text, "all(%s.%s, .%s != %s)", s->record, s->path, name, number);
        expect(s->r, false);
        return;
    }
    snprintf(text, sizeof text, "%s.%s%s == %s", s->record, s->path, name, number);
    expect(s->r, true);
    snprintf(text, sizeof text, "%s.%s%s == %s", s->record, s->path, name, other);
    expect(s->r, false);
    snprintf(text, sizeof text, "%s.%s%s + 1 > %s && %s <= %s.%s%s", s->record, s->path, name,
             number, number, s->record, s->path, name);
    if (v != UINT64_MAX)
        expect(s->r, true);
    expect_parts(s, name, f, v);
}

static void expect_bytes(const seen *s, const char *name, const perfile_field *f, perfile_bytes b)
{
    int n = snprintf(text, sizeof text, s->in_list ? "any(%s.%s, .%s == \"" : "%s.%s%s == \"",
                     s->record, s->path, name);
    if (b.len > sizeof text / 4 - 64) {
        n_skipped++;
        return;
    }
    for (size_t i = 0; i < b.len; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      f->type == PERFILE_STORED_TEXT ? "\\x%02x" : "%02X", b.ptr[i]);
    snprintf(text + n, sizeof text - (size_t)n, s->in_list ? "\")" : "\"");
    expect(s->r, true);
}

static void expect_words(const seen *s, const char *name, const perfile_field *f,
                         const perfile_words *w)
{
    snprintf(text, sizeof text, "count(%s.%s%s) == %zu", s->record, s->path, name, w->n);
    expect(s->r, true);
    for (size_t i = 0; i < w->n; i += 1 + w->n / 4) {
        uint64_t v = perfile_word(w, i);
        size_t same = 0;
        for (size_t j = 0; j < w->n; j++)
            same += perfile_word(w, j) == v;
        snprintf(text, sizeof text, "count(%s.%s%s, . == %llu) == %zu", s->record, s->path, name,
                 (unsigned long long)v, same);
        expect(s->r, true);
        (void)f;
    }
}

/* The second table of ID_INDEX is shown inside of the first. */
static bool is_of_other_list(const seen *s, const char *name)
{
    return s->in_list && s->r->type == PERFILE_RECORD_ID_INDEX &&
           (strcmp(name, "machine_pid") == 0 || strcmp(name, "vcpu") == 0);
}

static void note(seen *s, const char *name)
{
    if (s->in_list)
        return;
    int n = snprintf(s->shown + s->n_shown, sizeof s->shown - s->n_shown, " %s%s ", s->path, name);
    s->n_shown += (size_t)n;
    assert_true(s->n_shown < sizeof s->shown);
}

static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    seen *s = user;
    if (is_of_other_list(s, f->name))
        return;
    note(s, f->name);
    if (!s->in_list) {
        char full[512];
        snprintf(full, sizeof full, "%s.%s%s", s->record, s->path, f->name);
        expect_shown(s->r, full, f, v);
    }
    switch (f->type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        expect_bytes(s, f->name, f, v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        expect_words(s, f->name, f, &v->u.words);
        break;
    default:
        expect_number(s, f->name, f, v->number);
        break;
    }
}

/* In lists `path` is that of the list; elsewhere it ends with a dot. */
static void on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    seen *s = user;
    size_t n = strlen(s->path);
    if (f->type == PERFILE_STORED_ITEM || f->flags & PERFILE_FIELD_FLAT)
        return;
    note(s, f->name);
    assert_int_equal(s->in_list, 0);
    snprintf(s->path + n, sizeof s->path - n, f->type == PERFILE_STORED_LIST ? "%s" : "%s.",
             f->name);
    if (f->type != PERFILE_STORED_LIST)
        return;
    s->in_list = 1;
    snprintf(text, sizeof text, "count(%s.%s) == %llu", s->record, s->path,
             (unsigned long long)v->u.count);
    expect(s->r, true);
}

static void on_end(void *user, const perfile_field *f)
{
    seen *s = user;
    if (f->type == PERFILE_STORED_ITEM || f->flags & PERFILE_FIELD_FLAT)
        return;
    size_t n = strlen(s->path) - strlen(f->name) - (f->type != PERFILE_STORED_LIST);
    s->path[n] = 0;
    s->in_list = 0;
}

static const perfile_visitor visitor = {sizeof visitor, on_value, on_begin, on_end};

/* Every name of the row is there exactly when it was shown. */
static void on_name(void *user, const perfile_expr_name *what)
{
    const seen *s = user;
    char name[256];
    if (strcmp(what->record, s->record) != 0 || what->list)
        return;
    /* The walk shows it in the entries. */
    if (s->r->type == PERFILE_RECORD_ID_INDEX && strcmp(what->name, "guests") == 0)
        return;
    snprintf(name, sizeof name, " %s ", what->name);
    snprintf(text, sizeof text, "has(%s.%s)", s->record, what->name);
    expect(s->r, strstr(s->shown, name) != NULL);
}

static void all_of(const perfile_record *r, const char *record, bool trailer)
{
    static seen s;
    snprintf(text, sizeof text, "type == %u && misc == %u && size == %zu", r->type, r->misc,
             perfile_record_size(r));
    expect(r, true);
    memset(&s, 0, sizeof s);
    s.r = r;
    s.record = record;
    perfile_status st = trailer ? perfile_record_walk_trailer(r, 0, &visitor, &s, NULL)
                                : perfile_record_walk(r, 0, &visitor, &s, NULL);
    assert_true(st == PERFILE_OK || (trailer && st == PERFILE_END));
    perfile_expr_names(on_name, &s);
}

/* Rows go by the names of their structs; types by theirs. */
static const char *id_of(size_t i)
{
    static const char *const ids[] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) #id,
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) #id,
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) #id,
#include "perfile/format/simpleperf.def"
    };
    return ids[i];
}

static void check_row(dice *d, size_t i, bool swap)
{
    size_t n;
    const pf_row *row = &pf_record_rows(&n)[i];
    for (unsigned k = 0; k < INSTANCES; k++) {
        builder body = {.swap = swap};
        uint16_t misc;
        build_attr_plan plan = roll_plan(d);
        perfile_session *s = roll_session(&plan, swap, 2);
        if (roll_record(d, row, s, &misc, &body)) {
            uint8_t *own = exact(body.b.ptr, body.b.len);
            perfile_record r = record_of(s, row->number, misc, (perfile_bytes){own, body.b.len});
            all_of(&r, id_of(i), false);
            if (r.type < PERFILE_RECORD_USER && r.type != PERFILE_RECORD_SAMPLE)
                all_of(&r, "sample_id", true);
            free(own);
        }
        build_clear(&body);
        pf_session_free(s);
    }
}

static void fields_are_those_of_the_walk(void **state)
{
    (void)state;
    size_t n;
    dice d = {20};
    pf_record_rows(&n);
    for (size_t i = 0; i < n; i++) {
        uint64_t before = n_true;
        check_row(&d, i, false);
        check_row(&d, i, true);
        bool has_fields = pf_record_rows(&n)[i].fixed > 0;
        assert_true(!has_fields || n_true > before);
    }
    assert_true(n_true > 5000 && n_false > 5000);
}

static uint64_t of_capture[2];

static void check_capture(const char *path, perfile_stream *s)
{
    const perfile_record *r;
    uint64_t seen_of[128] = {0}, n = 0;
    (void)path;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK && n < OF_A_CAPTURE) {
        const pf_row *row = pf_row_of(r);
        if (!row || r->type >= 128 || seen_of[r->type]++ % 7 || seen_of[r->type] > 100 ||
            perfile_record_walk(r, 0, &instance_visitor, NULL, NULL) != PERFILE_OK)
            continue;
        all_of(r, id_of((size_t)(row - pf_record_table)), false);
        of_capture[perfile_session_swapped(r->session)]++;
        n++;
    }
}

static void fields_of_captures(void **state)
{
    (void)state;
    assert_true(recorded_each(check_capture) > 20);
    assert_true(of_capture[0] > 100 && of_capture[1] > 10);
}

static unsigned n_columns, n_groups;

/* `name` can be tested; unless it is a group of fields it can be a column, too. */
static void expect_column(const char *name, bool group)
{
    bool model, is_column;
    perfile_expr *e;
    perfile_error err = {0};
    snprintf(text, sizeof text, "has(%s)", name);
    if (perfile_expr_open(text, NULL, &e, &err) != PERFILE_OK)
        fail_msg("%s: %s", text, err.message);
    perfile_expr_close(e);
    is_column = pf_emit_fields_check(name, &model, &err) == PERFILE_OK;
    if (!is_column && (!group || !strstr(err.message, "group of fields")))
        fail_msg("column %s: %s", name, err.message);
    *(is_column ? &n_columns : &n_groups) += 1;
}

/* A name, with its row and without, and the parts of its words. */
static void on_column(void *user, const perfile_expr_name *what)
{
    char full[512], part[640];
    bool group = what->type & (PERFILE_EXPR_LIST | PERFILE_EXPR_OTHER);
    (void)user;
    if (what->list)
        return;
    snprintf(full, sizeof full, "%s%s%s", what->record, *what->record ? "." : "", what->name);
    expect_column(full, group);
    expect_column(what->name, group);
    for (uint32_t i = 0; what->words && what->words->bits && i < what->words->n; i++) {
        snprintf(part, sizeof part, "%s.%s", full, what->words->bits[i].name);
        expect_column(part, false);
    }
}

static void what_can_be_tested_is_a_column(void **state)
{
    /* Others may be fields of tracepoints: see tests/cli/habits.py. */
    static const char *const wrong[][2] = {{"mmap2.filenam", "filename"}};
    bool model;
    perfile_error err;
    (void)state;
    perfile_expr_names(on_column, NULL);
    assert_true(n_columns > 500 && n_groups > 10);
    expect_column("weight", false);
    expect_column("data_src.mem_lvl_num", false);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(pf_emit_fields_check(wrong[i][0], &model, &err), PERFILE_E_USAGE);
        assert_non_null(strstr(err.message, "did you mean"));
        assert_non_null(strstr(err.message, wrong[i][1]));
    }
}

static uint64_t of_runs[3]; /* records none, some and all of whose run fit */

/* Conditions around the values of one record, so that they part the run. */
static void write_condition(unsigned which, const perfile_record *r)
{
    static const char *const conditions[] = {
        "time >= @0 && tid <= @1",
        "tid != @1 || time < @0",
        "!(ip > @2) && type == SAMPLE && cpumode < 3",
        "time in {0, 7..9, @0} || cpu == 0 && pid != 5",
        "period > -1 && time > @0 && any(callchain, . > 5) && tid == @1",
        "time > -5 && -7 < tid && tid != -1 && !(period < -2)",
        "time + 1 > @0 && !has(raw) || ip == @2 || comm.comm == \"x\"",
        "size == @0 || misc == 2 || type in {MMAP, SAMPLE} && cpumode == KERNEL",
    };
    uint64_t v[3] = {0};
    static const uint32_t bits[] = {PERFILE_SAMPLE_TIME, PERFILE_SAMPLE_TID, PERFILE_SAMPLE_IP};
    for (unsigned i = 0; i < 3; i++)
        (void)perfile_sample_field(r, bits[i], &v[i]);
    v[1] >>= 32;
    size_t n = 0;
    for (const char *p = conditions[which % 8]; *p; p++) {
        if (*p == '@')
            n += (size_t)sprintf(text + n, "%llu", (unsigned long long)v[*++p - '0']);
        else
            text[n++] = *p;
    }
    text[n] = '\0';
}

static void check_run(const perfile_record *first, size_t n, unsigned which)
{
    uint64_t bits = 0, alone = 0;
    perfile_expr *e;
    perfile_error err = {0};
    write_condition(which, &first[n / 2]);
    if (perfile_expr_open(text, NULL, &e, &err) != PERFILE_OK)
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(pf_expr_test_run(e, first, n, &bits, &err), PERFILE_OK);
    for (size_t i = 0; i < n; i++) {
        bool yes;
        assert_int_equal(perfile_expr_test(e, &first[i], &yes, &err), PERFILE_OK);
        alone |= (uint64_t)yes << i;
    }
    if (bits != alone)
        fail_msg("%s: by the run %llx, alone %llx", text, (unsigned long long)bits,
                 (unsigned long long)alone);
    uint64_t all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    of_runs[bits == 0 ? 0 : bits == all ? 2 : 1] += n;
    perfile_expr_close(e);
}

static void check_runs(const char *path, perfile_stream *s)
{
    const perfile_record *first;
    size_t n;
    (void)path;
    for (unsigned run = 0; run < 40 && perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK;
         run++)
        for (unsigned which = 0; which < 8; which++) {
            size_t from = which && n > which ? which : 0; /* not only whole runs */
            check_run(first + from, n - from < 64 ? n - from : 64, which);
        }
}

static void runs_are_their_records(void **state)
{
    (void)state;
    assert_true(recorded_each(check_runs) > 20);
    for (size_t i = 0; i < 3; i++)
        assert_true(of_runs[i] > 500);
}

/* What has no value for the expression differs from 0. */
static void nothing_is_not_zero(void **state)
{
    (void)state;
    build_attr_plan plan = {.size = 112, .sample_type = PERFILE_SAMPLE_IP};
    perfile_session *s = roll_session(&plan, false, 0);
    static const uint8_t zeros[8];
    perfile_record r = record_of(s, PERFILE_RECORD_SAMPLE, 0, (perfile_bytes){zeros, 8});
    assert_true(holds(&r, "ip == 0"));
    assert_false(holds(&r, "period == 0"));
    assert_false(holds(&r, "period != 0"));
    assert_true(holds(&r, "!(period == 0) && !has(period)"));
    r.body.len = 7;
    assert_false(holds(&r, "ip == 0 || ip != 0 || has(ip)"));
    pf_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_those_of_the_walk),
        cmocka_unit_test(fields_of_captures),
        cmocka_unit_test(what_can_be_tested_is_a_column),
        cmocka_unit_test(runs_are_their_records),
        cmocka_unit_test(nothing_is_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
