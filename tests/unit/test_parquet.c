/* Parquet files: encodings against decoders of the test and vectors of the format, then files of
 * all types with their values in JSON beside them, which three other readers compare
 * (tests/interop/parquet.sh; $PERFILE_PARQUET is the folder where they get them). */
#include "testing.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "random.h"
#include "tables/encodings.h"
#include "tables/parquet.h"
#include "tables/thrift.h"

/* Tables of all types, as format/tables.def would have them. */

#define C(type, name)                                                                              \
    {                                                                                              \
        name, "", "", "", PF_COLUMN_##type, false                                                  \
    }
#define M(type, name)                                                                              \
    {                                                                                              \
        name, "", "", "", PF_COLUMN_##type, true                                                   \
    }

enum { B, I, L, U, F, T, W, TS, LS, G, G_I, G_T, LI, LI_T, LI_U, LI_B, LI_L, LAST, N_COLUMNS };

static const pf_column_about columns[N_COLUMNS] = {
    C(BOOL, "bool"), C(I32, "i32"),   C(I64, "i64"),     C(U64, "u64"),   C(F64, "f64"),
    C(TEXT, "text"), C(WALL, "wall"), C(TEXTS, "texts"), C(I64S, "i64s"), C(GROUP, "group"),
    M(I32, "i32"),   M(TEXT, "text"), C(LIST, "list"),   M(TEXT, "text"), M(U64, "u64"),
    M(BOOL, "bool"), M(I64, "i64"),   C(I32, "last"),
};
static const pf_table_about table = {"all", "", "", columns, N_COLUMNS};
static const char *const type_names[] = {"BOOL", "I32",   "I64",  "U64",   "F64", "TEXT",
                                         "WALL", "TEXTS", "I64S", "GROUP", "LIST"};

/* A file that is being made: its bytes, and what is in it as lines of JSON. */
typedef struct maker {
    pf_table_batch *b;
    pf_parquet_encoder *encoder;
    pf_parquet_group group;
    pf_parquet *file;
    pf_buffer bytes, json;
} maker;

static void say(maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(maker *m, const char *format, ...)
{
    va_list list;
    char text[200];
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    assert_true(pf_buffer_append(&m->json, text, (size_t)n));
}

static void say_text(maker *m, const char *text)
{
    say(m, "\"");
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\')
            say(m, "\\u%04x", (unsigned)*p);
        else
            assert_true(pf_buffer_append(&m->json, p, 1));
    }
    say(m, "\"");
}

static void begin(maker *m, const pf_table_about *about)
{
    *m = (maker){0};
    m->b = pf_table_batch_new(about);
    m->encoder = pf_parquet_encoder_new(PF_PARQUET_LEVEL);
    m->file = pf_parquet_new(about);
    assert_true(m->b && m->encoder && m->file && pf_parquet_head(&m->bytes));
    say(m, "[");
    for (size_t i = 0; i < about->n; i++) {
        const pf_column_about *c = &about->columns[i];
        say(m, "%s[\"%s\", \"%s\", %d]", i ? ", " : "", c->name, type_names[c->type], c->is_member);
    }
    say(m, "]\n");
}

/* The rows so far become a row group. */
static void next_group(maker *m)
{
    perfile_error err = {0};
    assert_true(pf_table_batch_end(m->b));
    const size_t before = m->bytes.len;
    assert_int_equal(pf_parquet_encode(m->encoder, m->b, &m->bytes, &m->group, &err), PERFILE_OK);
    assert_int_equal(m->bytes.len - before, m->group.bytes);
    assert_int_equal(pf_parquet_append(m->file, &m->group, &err), PERFILE_OK);
    pf_table_batch_clear(m->b);
}

static void write_file(const char *folder, const char *name, const char *end, const pf_buffer *b)
{
    char path[4096];
    assert_true(snprintf(path, sizeof path, "%s/%s.%s", folder, name, end) < (int)sizeof path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->ptr, 1, b->len, f), b->len);
    assert_int_equal(fclose(f), 0);
}

static void end(maker *m, const char *name)
{
    const char *folder = getenv("PERFILE_PARQUET");
    if (m->b->rows)
        next_group(m);
    assert_true(pf_parquet_note(m->file, "perfile.schema", "1"));
    assert_int_equal(pf_parquet_footer(m->file, &m->bytes, NULL), PERFILE_OK);
    assert_memory_equal(m->bytes.ptr, "PAR1", 4);
    assert_memory_equal(m->bytes.ptr + m->bytes.len - 4, "PAR1", 4);
    assert_true(pf_load_u32(m->bytes.ptr + m->bytes.len - 8, PF_NATIVE_BIG) <= m->bytes.len - 12);
    if (folder) {
        write_file(folder, name, "parquet", &m->bytes);
        write_file(folder, name, "jsonl", &m->json);
    }
    pf_table_batch_free(m->b);
    pf_parquet_encoder_free(m->encoder);
    pf_parquet_group_free(&m->group);
    pf_parquet_free(m->file);
    pf_buffer_free(&m->bytes);
    pf_buffer_free(&m->json);
}

/* Items, and the same in JSON: values in quotation marks, numbers as texts, so that none is
 * rounded. */

static void put_null(maker *m, size_t at)
{
    pf_column_null(&m->b->columns[at]);
    say(m, "null");
}

static void put_number(maker *m, size_t at, uint64_t value)
{
    const pf_column_type type = m->b->about->columns[at].type;
    pf_column_number(&m->b->columns[at], value);
    if (type == PF_COLUMN_U64)
        say(m, "\"%llu\"", (unsigned long long)value);
    else if (type == PF_COLUMN_I32)
        say(m, "\"%d\"", (int)(int32_t)(uint32_t)value);
    else
        say(m, "\"%lld\"", (long long)(int64_t)value);
}

static void put_double(maker *m, size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pf_column_double(&m->b->columns[at], value);
    if (value != value)
        say(m, "\"nan\"");
    else
        say(m, "\"%016llx\"", (unsigned long long)bits);
}

static void put_bool(maker *m, size_t at, bool value)
{
    pf_column_bool(&m->b->columns[at], value);
    say(m, value ? "\"true\"" : "\"false\"");
}

static void put_text(maker *m, size_t at, const char *text)
{
    pf_column_text(&m->b->columns[at], text);
    say_text(m, text);
}

/* Values that are good at finding mistakes: extremes, repetitions, and a little of everything. */
static uint64_t some_number(uint32_t kind)
{
    static const uint64_t extremes[] = {
        0,         1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, INT32_MAX, (uint64_t)INT32_MIN,
        UINT32_MAX};
    static uint64_t time;
    switch (kind % 6) {
    case 0:
        return extremes[random_below(8)];
    case 1:
        return random_below(3);
    case 2:
        return time += random_below(1000);
    case 3:
        return (uint64_t)random_below(1u << 24) << 40 ^ (uint64_t)random_below(1u << 24) << 20 ^
               random_below(1u << 24);
    case 4:
        return (uint64_t)random_below(300) * 0x123456789abcdefu;
    default:
        return 42;
    }
}

static double some_double(uint32_t kind)
{
    static const double extremes[] = {0.0, -0.0, 1e308, -1e308, 5e-324, INFINITY, -INFINITY};
    switch (kind % 4) {
    case 0:
        return extremes[random_below(7)];
    case 1:
        return random_below(10) ? (double)random_below(1000) / 7 : (double)NAN;
    case 2:
        return (double)random_below(4);
    default:
        return (double)random_below(1u << 24) / (1 + random_below(1u << 24));
    }
}

static const char *some_text(uint32_t kind, char text[400])
{
    static const char *const few[] = {"",
                                      "a",
                                      "ab",
                                      "\303\244\342\202\254\360\237\230\200",
                                      "sh",
                                      "[kernel.kallsyms]",
                                      "\"quoted\" \\ \t",
                                      "z"};
    switch (kind % 4) {
    case 0:
        return few[random_below(8)];
    case 1:
        snprintf(text, 400, "text %u of many", random_below(1u << 24));
        return text;
    case 2:
        snprintf(text, 400, "%0*u", (int)random_below(300) + 1, random_below(100));
        return text;
    default:
        return few[1 + kind / 4 % 7];
    }
}

/* Of each column: how often it is null, of 16 times, and what kind of values it has. */
typedef struct mixture {
    uint32_t nulls[N_COLUMNS];
    uint32_t kinds[N_COLUMNS];
    uint32_t longest; /* list */
} mixture;

static bool is_null(const mixture *x, size_t at)
{
    return random_below(16) < x->nulls[at];
}

/* The next item of a column that is no structure. */
static void put_item(maker *m, const mixture *x, size_t at)
{
    char text[400];
    switch (is_null(x, at) ? -1 : (int)m->b->about->columns[at].type) {
    case -1:
        put_null(m, at);
        break;
    case PF_COLUMN_BOOL:
        put_bool(m, at, random_below(4) < x->kinds[at] % 5);
        break;
    case PF_COLUMN_TEXT:
        put_text(m, at, some_text(x->kinds[at], text));
        break;
    case PF_COLUMN_F64:
        put_double(m, at, some_double(x->kinds[at]));
        break;
    default:
        put_number(m, at, some_number(x->kinds[at]));
    }
}

static void put_texts(maker *m, const mixture *x, size_t at, size_t n)
{
    char text[400];
    say(m, "[");
    for (size_t i = 0; i < n; i++) {
        const char *p = some_text(x->kinds[at], text);
        pf_column_element_text(&m->b->columns[at], p);
        say(m, i ? ", " : "");
        say_text(m, p);
    }
    say(m, "]");
}

static void put_numbers(maker *m, const mixture *x, size_t at, size_t n)
{
    say(m, "[");
    for (size_t i = 0; i < n; i++) {
        const uint64_t value = some_number(x->kinds[at]);
        pf_column_element(&m->b->columns[at], value);
        say(m, "%s\"%lld\"", i ? ", " : "", (long long)(int64_t)value);
    }
    say(m, "]");
}

/* The members of a structure, at `first` and behind it. */
static void put_members(maker *m, const mixture *x, size_t first, size_t n)
{
    say(m, "[");
    for (size_t i = 0; i < n; i++) {
        say(m, i ? ", " : "");
        put_item(m, x, first + i);
    }
    say(m, "]");
}

static void put_list(maker *m, const mixture *x, size_t at, size_t n)
{
    pf_table_column *c = &m->b->columns[at];
    if (c->about->type == PF_COLUMN_TEXTS) {
        put_texts(m, x, at, n);
    } else if (c->about->type == PF_COLUMN_I64S) {
        put_numbers(m, x, at, n);
    } else {
        say(m, "[");
        for (size_t i = 0; i < n; i++) {
            say(m, i ? ", " : "");
            put_members(m, x, at + 1, LI_L - LI);
        }
        say(m, "]");
    }
    pf_column_list_end(c, n);
}

static void put_group(maker *m, const mixture *x, size_t at)
{
    pf_column_group(&m->b->columns[at]);
    put_members(m, x, at + 1, G_T - G);
}

static void put_row(maker *m, const mixture *x)
{
    say(m, "[");
    for (size_t at = 0; at < N_COLUMNS; at++) {
        if (columns[at].is_member)
            continue;
        say(m, at ? ", " : "");
        switch (columns[at].type) {
        case PF_COLUMN_TEXTS:
        case PF_COLUMN_I64S:
        case PF_COLUMN_LIST:
            if (is_null(x, at))
                put_null(m, at);
            else
                put_list(m, x, at, random_below(x->longest + 1));
            break;
        case PF_COLUMN_GROUP:
            if (is_null(x, at))
                say(m, "null");
            else
                put_group(m, x, at);
            break;
        default:
            put_item(m, x, at);
        }
    }
    say(m, "]\n");
    pf_table_batch_row(m->b);
    /* A structure that is not there has members that are not there. */
    assert_true(pf_table_batch_end(m->b));
}

static void put_rows(maker *m, const mixture *x, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        put_row(m, x);
}

static mixture all_columns(uint32_t nulls, uint32_t kind, uint32_t longest)
{
    mixture x = {.longest = longest};
    for (size_t i = 0; i < N_COLUMNS; i++) {
        x.nulls[i] = nulls;
        x.kinds[i] = kind;
    }
    return x;
}

static void no_rows(void **state)
{
    (void)state;
    maker m;
    begin(&m, &table);
    end(&m, "none");
    begin(&m, &table);
    next_group(&m); /* without rows it is nothing */
    assert_int_equal(m.bytes.len, 4);
    end(&m, "none_again");
}

static void few_rows(void **state)
{
    (void)state;
    maker m;
    for (uint32_t nulls = 0; nulls <= 16; nulls += 8) {
        for (uint32_t kind = 0; kind < 6; kind++) {
            char name[40];
            const mixture x = all_columns(nulls, kind, kind);
            snprintf(name, sizeof name, "few_%u_%u", nulls, kind);
            begin(&m, &table);
            for (size_t rows = 1; rows < 20; rows++) {
                put_rows(&m, &x, rows);
                next_group(&m);
            }
            end(&m, name);
        }
    }
}

/* Nulls first, last, and at the borders of pages. */
static void nulls_at_borders(void **state)
{
    (void)state;
    maker m;
    mixture none = all_columns(0, 1, 3), all = all_columns(16, 1, 3);
    begin(&m, &table);
    put_rows(&m, &all, 1);
    put_rows(&m, &none, 20478);
    put_rows(&m, &all, 2);
    put_rows(&m, &none, 1);
    put_rows(&m, &all, 20480);
    put_rows(&m, &none, 1);
    put_rows(&m, &all, 1);
    next_group(&m);
    put_rows(&m, &all, 20481);
    next_group(&m);
    put_rows(&m, &none, 20481);
    end(&m, "borders");
}

/* Lists that are longer than a page; texts of which a page has few. */
static void long_lists(void **state)
{
    (void)state;
    maker m;
    mixture x = all_columns(2, 1, 30000);
    x.kinds[TS] = 2;
    begin(&m, &table);
    put_rows(&m, &x, 7);
    x.longest = 2000;
    put_rows(&m, &x, 40);
    next_group(&m);
    x.longest = 1;
    put_rows(&m, &x, 45000);
    end(&m, "long_lists");
}

/* Random mixtures of nulls and kinds. */
static void random_files(void **state)
{
    (void)state;
    const char *files = getenv("PERFILE_PARQUET_RANDOM");
    const unsigned n = files ? (unsigned)strtoul(files, NULL, 10) : 12;
    for (unsigned i = 0; i < n; i++) {
        maker m;
        char name[40];
        random_state = 1000 + i;
        begin(&m, &table);
        for (uint32_t groups = 1 + random_below(3); groups; groups--) {
            mixture x = {.longest = random_below(6)};
            for (size_t c = 0; c < N_COLUMNS; c++) {
                static const uint32_t nulls[] = {0, 0, 16, 1, 8, 15};
                x.nulls[c] = nulls[random_below(6)];
                x.kinds[c] = random_below(60);
            }
            put_rows(&m, &x, 1 + random_below(i % 4 ? 3000 : 30000));
            next_group(&m);
        }
        snprintf(name, sizeof name, "random_%u", i);
        end(&m, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rows),          cmocka_unit_test(few_rows),
        cmocka_unit_test(nulls_at_borders), cmocka_unit_test(long_lists),
        cmocka_unit_test(random_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
