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
    perfile_filter_open_options reading = {
        .size = sizeof reading, .how = &how, .model = true, .translate = true};
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_open(source, NULL, &reading, &s, &model, &err), PERFILE_OK);
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
