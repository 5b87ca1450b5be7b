/* Tables as Arrow streams: every table of every capture keeps the rules of the interface
 * (arrow_rules.h), whoever is released first; rows of samples say what the records say; what is
 * wrong is told, and nothing leaks when there is no memory. */
#include "../testing.h"

#include <errno.h>
#include <stdio.h>

#include "../arrow_rules.h"
#include "../captures.h"
#include "../recorded.h"
#include "base/alloc.h"
#include "perfile/perfile.h"
#include "../tabled.h"

static perfile_source *memory(perfile_bytes bytes)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(bytes, "made", &s, NULL), PERFILE_OK);
    return s;
}

static perfile_bytes small_capture(void)
{
    static builder b;
    static bool made;
    if (!made)
        capture_make(&b, CAPTURE_FILE, false, 20);
    made = true;
    return built(&b);
}

static void assert_fine(const char *broken, const char *what)
{
    if (broken)
        fail_msg("%s: %s", what, broken);
}

/* Opens a table of which columns are chosen, ended by NULL; NULL: all. */
static struct ArrowArrayStream table_of(perfile_bytes bytes, const char *table,
                                        const char *const *columns)
{
    struct ArrowArrayStream s;
    perfile_error err;
    perfile_table_options o = {.size = sizeof o, .columns = columns};
    while (columns && columns[o.n_columns])
        o.n_columns++;
    const perfile_status st = perfile_table_stream(memory(bytes), table, &o, &s, &err);
    if (st != PERFILE_OK)
        fail_msg("%s: %s", table, err.message);
    return s;
}

static struct ArrowSchema schema_of(struct ArrowArrayStream *s)
{
    struct ArrowSchema schema;
    assert_int_equal(s->get_schema(s, &schema), 0);
    assert_fine(arrow_schema_broken(&schema), "schema");
    return schema;
}

/* The next array; false behind the last. */
static bool next(struct ArrowArrayStream *s, const struct ArrowSchema *schema, struct ArrowArray *a)
{
    const int st = s->get_next(s, a);
    if (st)
        fail_msg("%s", s->get_last_error(s));
    if (!a->release)
        return false;
    assert_fine(arrow_array_broken(schema, a), "array");
    assert_true(a->length > 0);
    return true;
}

/* Every table of every capture. */

static uint64_t n_arrays, n_rows, n_samples, n_stacks, n_tracepoints;

static uint64_t rows_of(const char *path, const char *table)
{
    perfile_source *source;
    struct ArrowArrayStream s;
    struct ArrowArray a;
    perfile_error err;
    uint64_t rows = 0;
    const perfile_table_options o = {.size = sizeof o, .threads = 2, .flags = PERFILE_TABLE_WIDE};
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    if (perfile_table_stream(source, table, &o, &s, &err) != PERFILE_OK)
        fail_msg("%s: %s: %s", path, table, err.message);
    struct ArrowSchema schema = schema_of(&s);
    int st;
    while ((st = s.get_next(&s, &a)) == 0 && a.release) {
        const char *broken = arrow_array_broken(&schema, &a);
        if (broken)
            fail_msg("%s: %s: %s", path, table, broken);
        rows += (uint64_t)a.length;
        n_arrays++;
        a.release(&a);
        assert_null(a.release);
    }
    if (st) { /* it stays so */
        assert_non_null(s.get_last_error(&s));
        assert_int_equal(s.get_next(&s, &a), st);
    }
    schema.release(&schema);
    assert_null(schema.release);
    s.release(&s);
    assert_null(s.release);
    n_rows += rows;
    return rows;
}

/* All tables of a capture at once, without the stream. */
static void all_tables(const char *path, tabled *t)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_model *model;
    perfile_error err;
    const perfile_open_options how = {.size = sizeof how, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_open_filtered_options reading = {
        .size = sizeof reading, .how = &how, .model = true, .translate = true};
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open_filtered(source, NULL, &reading, &s, &model, &err), PERFILE_OK);
    perfile_emitter *e = tabled_open(t, s, model, (UINT32_C(1) << PF_N_TABLES) - 1, NULL);
    tabled_feed(e, s);
    assert_int_equal(perfile_emitter_finish(e, &err), PERFILE_OK);
    perfile_emitter_close(e);
    perfile_stream_close(s);
}

/* A table alone has the rows that it has beside the others. */
static void one_capture(const char *path, perfile_stream *s)
{
    static const char of_tracepoints[] = "tracepoints/";
    const size_t n = sizeof of_tracepoints - 1;
    tabled all = {0};
    (void)s;
    all_tables(path, &all);
    for (size_t i = 0; i < PF_N_TABLES; i++)
        if (i != PF_TABLE_tracepoints)
            assert_int_equal(rows_of(path, pf_all_tables[i].name),
                             tabled_rows(&all, pf_all_tables[i].name));
    for (size_t i = 0; i < all.n; i++) {
        char name[sizeof all.at[i].name + 8];
        if (strncmp(all.at[i].name, of_tracepoints, n) != 0)
            continue;
        snprintf(name, sizeof name, "%sevent=%s", of_tracepoints, all.at[i].name + n);
        assert_int_equal(rows_of(path, name), all.at[i].n);
        n_tracepoints++;
    }
    n_samples += tabled_rows(&all, "samples");
    n_stacks += tabled_rows(&all, "stacks");
    tabled_free(&all);
}

static void every_table_keeps_the_rules(void **state)
{
    (void)state;
    unsetenv("PERFILE_CORPUS");
    assert_true(recorded_each(one_capture) > 30);
    assert_true(n_samples > 500 && n_stacks > 100 && n_rows > n_samples && n_arrays > 50 &&
                n_tracepoints > 2);
}

/* The checker itself, on arrays that break a rule. */
static void the_rules_are_checked(void **state)
{
    (void)state;
    struct ArrowArrayStream s = table_of(small_capture(), "samples", NULL);
    struct ArrowSchema schema = schema_of(&s);
    struct ArrowArray a;
    assert_true(next(&s, &schema, &a));
    struct ArrowArray *comm = a.children[arrow_column(&schema, "comm")];
    int32_t *numbers = (int32_t *)(uintptr_t)comm->buffers[1];
    const int32_t was = numbers[3];
    numbers[3] = (int32_t)comm->dictionary->length;
    assert_string_equal(arrow_array_broken(&schema, &a), "array: a number of no text");
    numbers[3] = was;
    comm->null_count++;
    assert_string_equal(arrow_array_broken(&schema, &a), "array: a number of nulls");
    comm->null_count--;
    comm->dictionary->length++;
    assert_non_null(arrow_array_broken(&schema, &a));
    comm->dictionary->length--;
    comm->length--;
    assert_string_equal(arrow_array_broken(&schema, &a), "array: a member of another length");
    comm->length++;
    assert_null(arrow_array_broken(&schema, &a));
    a.release(&a);
    schema.release(&schema);
    s.release(&s);
}

/* Values. */

static int64_t number_at(const struct ArrowSchema *schema, const struct ArrowArray *a,
                         const char *name, int64_t row)
{
    const int64_t i = arrow_column(schema, name);
    assert_true(i >= 0);
    assert_false(arrow_is_null(a->children[i], row));
    return arrow_number(schema->children[i], a->children[i], row);
}

static void assert_text_at(const struct ArrowSchema *schema, const struct ArrowArray *a,
                           const char *name, int64_t row, const char *wanted)
{
    size_t n;
    const int64_t i = arrow_column(schema, name);
    assert_true(i >= 0);
    assert_false(arrow_is_null(a->children[i], row));
    const char *text = arrow_text(a->children[i], row, &n);
    assert_int_equal(n, strlen(wanted));
    assert_memory_equal(text, wanted, n);
}

/* Each row against its record. */
static void rows_are_the_samples(void **state)
{
    static const struct {
        const char *column;
        uint64_t field;
    } fields[] = {{"time", PERFILE_SAMPLE_TIME},
                  {"ip", PERFILE_SAMPLE_IP},
                  {"cpu", PERFILE_SAMPLE_CPU},
                  {"period", PERFILE_SAMPLE_PERIOD}};
    (void)state;
    struct ArrowArrayStream rows = table_of(small_capture(), "samples", NULL);
    struct ArrowSchema schema = schema_of(&rows);
    struct ArrowArray a;
    perfile_stream *s;
    const perfile_record *r;
    assert_true(next(&rows, &schema, &a));
    assert_int_equal(a.length, 20);
    assert_int_equal(perfile_open(memory(small_capture()), NULL, &s, NULL), PERFILE_OK);
    int64_t row = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        uint32_t pid, tid;
        assert_true(perfile_record_task(r, &pid, &tid));
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            uint64_t value;
            assert_true(perfile_sample_field(r, fields[i].field, &value));
            assert_int_equal(number_at(&schema, &a, fields[i].column, row), value);
        }
        assert_int_equal(number_at(&schema, &a, "record", row), r->sequence);
        assert_int_equal(number_at(&schema, &a, "pid", row), pid);
        assert_int_equal(number_at(&schema, &a, "tid", row), tid);
        assert_text_at(&schema, &a, "comm", row, "work");
        assert_text_at(&schema, &a, "module", row, "/usr/bin/work");
        row++;
    }
    assert_int_equal(row, 20);
    perfile_stream_close(s);
    a.release(&a);
    assert_false(next(&rows, &schema, &a));
    assert_false(next(&rows, &schema, &a)); /* it stays the end */
    schema.release(&schema);
    rows.release(&rows);
}

static void schemas_describe_the_columns(void **state)
{
    int32_t n;
    (void)state;
    struct ArrowArrayStream s = table_of(small_capture(), "samples", NULL);
    struct ArrowSchema schema = schema_of(&s);
    s.release(&s); /* the schema does not need it */
    const char *version = arrow_metadata(&schema, "perfile.schema", &n);
    assert_non_null(version);
    assert_int_equal(n, 1);
    assert_memory_equal(version, "1", 1);
    const char *table = arrow_metadata(&schema, "perfile.table", &n);
    assert_int_equal(n, 7);
    assert_memory_equal(table, "samples", 7);
    const struct ArrowSchema *time = schema.children[arrow_column(&schema, "time")];
    const char *unit = arrow_metadata(time, "unit", &n);
    assert_int_equal(n, 2);
    assert_memory_equal(unit, "ns", 2);
    assert_non_null(arrow_metadata(time, "source", &n));
    assert_non_null(arrow_metadata(time, "doc", &n));
    assert_null(arrow_metadata(time, "nothing", &n));
    assert_int_equal(time->flags, ARROW_FLAG_NULLABLE);
    const struct ArrowSchema *wall = schema.children[arrow_column(&schema, "wall")];
    assert_string_equal(wall->format, "tsu:UTC");
    const struct ArrowSchema *data_src = schema.children[arrow_column(&schema, "data_src")];
    assert_string_equal(data_src->format, "+s");
    assert_string_equal(data_src->children[0]->name, "op");
    const struct ArrowSchema *counters = schema.children[arrow_column(&schema, "counters")];
    assert_string_equal(counters->format, "+l");
    assert_string_equal(counters->children[0]->format, "+s");
    assert_string_equal(counters->children[0]->children[1]->name, "value");
    /* A child may be moved out, too. */
    struct ArrowSchema moved = *counters;
    schema.children[arrow_column(&schema, "counters")]->release = NULL;
    schema.release(&schema);
    assert_fine(arrow_schema_broken(&moved), "moved");
    moved.release(&moved);
}

/* Columns that are asked for, in this order. */
static void chosen_columns_are_those_of_all(void **state)
{
    static const char *const columns[] = {"tid", "counters", "stack_id", "comm", "data_src", NULL};
    (void)state;
    struct ArrowArrayStream all = table_of(small_capture(), "samples", NULL);
    struct ArrowArrayStream some = table_of(small_capture(), "samples", columns);
    struct ArrowSchema one = schema_of(&all), two = schema_of(&some);
    struct ArrowArray a, b;
    assert_int_equal(two.n_children, 5);
    assert_true(next(&all, &one, &a));
    assert_true(next(&some, &two, &b));
    assert_int_equal(a.length, b.length);
    for (int64_t i = 0; i < two.n_children; i++) {
        assert_string_equal(two.children[i]->name, columns[i]);
        const int64_t k = arrow_column(&one, columns[i]);
        const struct ArrowArray *x = a.children[k], *y = b.children[i];
        assert_int_equal(x->null_count, y->null_count);
        const size_t width = arrow_width(two.children[i]->format);
        if (width)
            assert_memory_equal(x->buffers[1], y->buffers[1], width * (size_t)y->length);
    }
    assert_true(b.children[2]->null_count < b.length);
    a.release(&a);
    b.release(&b);
    one.release(&one);
    two.release(&two);
    all.release(&all);
    some.release(&some);
}

/* Arrays live longer than their stream, and children longer than their parent. */
static void arrays_outlive_what_they_came_from(void **state)
{
    (void)state;
    struct ArrowArrayStream s = table_of(small_capture(), "samples", NULL);
    struct ArrowSchema schema = schema_of(&s);
    struct ArrowArray a;
    assert_true(next(&s, &schema, &a));
    s.release(&s);
    assert_fine(arrow_array_broken(&schema, &a), "after its stream");
    enum { MOVED = 4 };
    static const char *const names[MOVED] = {"comm", "counters", "data_src", "time"};
    struct ArrowArray moved[MOVED];
    for (size_t i = 0; i < MOVED; i++) {
        struct ArrowArray *child = a.children[arrow_column(&schema, names[i])];
        moved[i] = *child;
        child->release = NULL;
    }
    struct ArrowArray elsewhere = a; /* the parent is moved as well */
    a.release = NULL;
    elsewhere.release(&elsewhere);
    for (size_t i = 0; i < MOVED; i++) {
        const struct ArrowSchema *type = schema.children[arrow_column(&schema, names[i])];
        assert_fine(arrow_array_broken(type, &moved[i]), names[i]);
        assert_int_equal(moved[i].length, 20);
        moved[i].release(&moved[i]);
    }
    schema.release(&schema);
}

/* More rows than an array has: they go on where the one before ended, with texts of their own. */
static void many_rows_are_several_arrays(void **state)
{
    enum { MANY = PF_BATCH_ROWS + 7000 };
    static const char *const columns[] = {"time", "comm", "stack_id", NULL};
    builder b;
    int64_t rows = 0, arrays = 0;
    (void)state;
    capture_make(&b, CAPTURE_PIPE, false, MANY);
    struct ArrowArrayStream s = table_of(built(&b), "samples", columns);
    struct ArrowSchema schema = schema_of(&s);
    struct ArrowArray a, before = {0};
    for (; next(&s, &schema, &a); before = a, arrays++) {
        for (int64_t i = 0; i < a.length; i++, rows++)
            assert_int_equal(number_at(&schema, &a, "time", i), 5000 + 10 * rows);
        assert_text_at(&schema, &a, "comm", a.length - 1, "work");
        if (before.release) {
            assert_fine(arrow_array_broken(&schema, &before), "the one before");
            before.release(&before);
        }
    }
    before.release(&before);
    assert_int_equal(rows, MANY);
    assert_true(arrays > 1);
    schema.release(&schema);
    s.release(&s);
    build_clear(&b);
}

/* What is wrong. */

static void assert_refused(perfile_bytes bytes, const char *table, const perfile_table_options *o,
                           perfile_status status, const char *says)
{
    struct ArrowArrayStream s = {.private_data = &s};
    perfile_error err;
    perfile_source *source = memory(bytes);
    assert_int_equal(perfile_table_stream(source, table, o, &s, &err), status);
    perfile_source_close(source);
    assert_ptr_equal(s.private_data, &s); /* as it was */
    assert_non_null(err.where);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void wrong_names_are_told(void **state)
{
    static const char *const unknown[] = {"time", "commm"}, *const twice[] = {"tid", "tid"};
    static const char *const member[] = {"op"}, *const none[] = {NULL};
    perfile_table_options o = {.size = sizeof o, .columns = unknown, .n_columns = 2};
    const perfile_bytes in = small_capture();
    (void)state;
    assert_refused(in, "sampels", NULL, PERFILE_E_USAGE,
                   "unknown table 'sampels'; did you mean samples");
    assert_refused(in, "", NULL, PERFILE_E_USAGE, "unknown table ''");
    assert_refused(in, "tracepoints", NULL, PERFILE_E_USAGE, "tracepoints/event=");
    assert_refused(in, "tracepoints/event=", NULL, PERFILE_E_USAGE, "unknown table");
    assert_refused(in, "tracepoints/event=a:b", NULL, PERFILE_E_USAGE, "'a:b'");
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "unknown column 'commm'; did you mean comm");
    o.columns = twice;
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "twice");
    o = (perfile_table_options){.size = sizeof o, .columns = member, .n_columns = 1};
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "unknown column 'op'");
    o.columns = none;
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "NULL");
    o.columns = NULL;
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "no list");
    o = (perfile_table_options){.size = sizeof o, .columns = unknown};
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "0 names");
    o = (perfile_table_options){.size = sizeof o, .flags = 1U << 31};
    assert_refused(in, "samples", &o, PERFILE_E_USAGE, "flags");
}

static void what_is_no_capture_is_told(void **state)
{
    static const uint8_t text[] = "this is no capture, but a text of some length";
    (void)state;
    assert_refused((perfile_bytes){text, sizeof text - 1}, "samples", NULL, PERFILE_E_CORRUPT, "");
}

/* A capture that is cut anywhere has the rows in front, or is refused. */
static void cut_captures_have_the_rows_in_front(void **state)
{
    const perfile_bytes whole = small_capture();
    unsigned opened = 0, fewer = 0;
    (void)state;
    for (size_t n = 0; n < whole.len; n += 7) {
        struct ArrowArrayStream s;
        struct ArrowArray a;
        perfile_error err;
        uint8_t *cut = exact(whole.ptr, n);
        perfile_source *source = memory((perfile_bytes){cut, n});
        const perfile_status st =
            closed_unless_ok(source, perfile_table_stream(source, "samples", NULL, &s, &err));
        if (st == PERFILE_OK) {
            struct ArrowSchema schema = schema_of(&s);
            int64_t rows = 0;
            int ended;
            while ((ended = s.get_next(&s, &a)) == 0 && a.release) {
                assert_fine(arrow_array_broken(&schema, &a), "cut");
                rows += a.length;
                a.release(&a);
            }
            assert_true(ended == 0 || s.get_last_error(&s)[0]);
            opened++;
            fewer += rows > 0 && rows < 20;
            schema.release(&schema);
            s.release(&s);
        }
        free(cut);
    }
    assert_true(opened > 10 && fewer > 10);
}

static void without_memory_nothing_leaks(void **state)
{
    const perfile_bytes in = small_capture();
    unsigned refused = 0, broken = 0;
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct ArrowArrayStream s;
        struct ArrowSchema schema;
        struct ArrowArray a;
        perfile_source *source = memory(in);
        pf_alloc_count = 0;
        pf_alloc_fail_at = n;
        const perfile_status st =
            closed_unless_ok(source, perfile_table_stream(source, "samples", NULL, &s, NULL));
        if (st == PERFILE_OK) {
            const int made = s.get_schema(&s, &schema);
            assert_true(made == 0 || made == ENOMEM);
            int got = s.get_next(&s, &a);
            const bool failed = made || got;
            if (got) {
                assert_int_equal(got, ENOMEM);
                assert_string_equal(s.get_last_error(&s), "out of memory");
                pf_alloc_fail_at = 0;
                got = s.get_next(&s, &a); /* the same, or the array */
                assert_true(got == 0 || got == ENOMEM);
            }
            if (!got && a.release)
                a.release(&a);
            if (!made)
                schema.release(&schema);
            s.release(&s);
            broken += failed;
        } else {
            assert_int_equal(st, PERFILE_E_NOMEM);
            refused++;
        }
        const bool reached = pf_alloc_count >= n;
        pf_alloc_fail_at = 0;
        if (!reached)
            break;
    }
    assert_true(refused > 50 && broken > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_keeps_the_rules),
        cmocka_unit_test(the_rules_are_checked),
        cmocka_unit_test(rows_are_the_samples),
        cmocka_unit_test(schemas_describe_the_columns),
        cmocka_unit_test(chosen_columns_are_those_of_all),
        cmocka_unit_test(arrays_outlive_what_they_came_from),
        cmocka_unit_test(many_rows_are_several_arrays),
        cmocka_unit_test(wrong_names_are_told),
        cmocka_unit_test(what_is_no_capture_is_told),
        cmocka_unit_test(cut_captures_have_the_rows_in_front),
        cmocka_unit_test(without_memory_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
