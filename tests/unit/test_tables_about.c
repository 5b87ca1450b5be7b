/* Descriptions of tables: what perfile/table.h promises of them. */
#include "testing.h"

#include "perfile/perfile.h"
#include "arrow/command.h"

/* Every column is described, and has a place in its table. */
static void check_column(size_t table, size_t position, const perfile_column *c)
{
    perfile_column other;
    assert_non_null(c->unit);
    assert_true(*c->name && *c->source && *c->doc);
    assert_non_null(perfile_column_type_name(c->type));
    for (size_t i = 0; i < position; i++) {
        assert_true(perfile_table_column(table, i, &other, sizeof other));
        assert_true(other.parent != c->parent || strcmp(other.name, c->name) != 0);
    }
    if (c->parent == PERFILE_NO_COLUMN)
        return;
    assert_true(c->parent < position);
    assert_true(perfile_table_column(table, c->parent, &other, sizeof other));
    assert_true(other.type == PERFILE_COLUMN_GROUP || other.type == PERFILE_COLUMN_LIST);
    assert_true(c->type < PERFILE_COLUMN_TEXTS);
}

static void every_table(void **state)
{
    (void)state;
    perfile_table t;
    perfile_column c;
    size_t n = 0, members = 0;
    for (; perfile_table_at(n, &t, sizeof t); n++) {
        size_t k = 0;
        assert_true(*t.name && *t.rows && *t.doc);
        for (; perfile_table_column(n, k, &c, sizeof c); k++) {
            check_column(n, k, &c);
            members += c.parent != PERFILE_NO_COLUMN;
        }
        assert_int_equal(k, t.n_columns);
        assert_true(k > 0);
    }
    assert_true(n > 10 && members > 10);
    assert_false(perfile_table_at(SIZE_MAX, &t, sizeof t));
    assert_false(perfile_table_column(n, 0, &c, sizeof c));
    assert_false(perfile_table_column(0, SIZE_MAX, &c, sizeof c));
    assert_null(perfile_column_type_name(UINT32_MAX));
    assert_true(pf_tables_version() > 0);
}

/* A caller of an older header gives less room: nothing behind it is touched. */
static void short_structs(void **state)
{
    (void)state;
    perfile_table t = {.n_columns = 77};
    perfile_column c = {.parent = 77};
    assert_true(perfile_table_at(0, &t, offsetof(perfile_table, n_columns)));
    assert_string_equal(t.name, "captures");
    assert_int_equal(t.n_columns, 77);
    assert_true(perfile_table_column(0, 0, &c, offsetof(perfile_column, parent)));
    assert_string_equal(c.name, "capture_id");
    assert_int_equal(c.parent, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table),
        cmocka_unit_test(short_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
