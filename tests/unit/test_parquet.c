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
#include "parquet/dictionary.h"
#include "parquet/encodings.h"
#include "parquet/parquet.h"
#include "parquet/thrift.h"

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
    const char *folder; /* where other readers get it; NULL: none does */
    pf_buffer bytes, json;
} maker;

static void say(maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(maker *m, const char *format, ...)
{
    va_list list;
    char text[200];
    if (!m->folder)
        return;
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    assert_true(pf_buffer_append(&m->json, text, (size_t)n));
}

static void say_text(maker *m, const char *text)
{
    if (!m->folder)
        return;
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
    *m = (maker){.folder = getenv("PERFILE_PARQUET")};
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

/* `name` NULL: not for other readers. */
static void end(maker *m, const char *name)
{
    if (m->b->rows)
        next_group(m);
    assert_true(pf_parquet_note(m->file, "perfile.schema", "1"));
    assert_int_equal(pf_parquet_footer(m->file, &m->bytes, NULL), PERFILE_OK);
    assert_memory_equal(m->bytes.ptr, "PAR1", 4);
    assert_memory_equal(m->bytes.ptr + m->bytes.len - 4, "PAR1", 4);
    assert_true(pf_load_u32(m->bytes.ptr + m->bytes.len - 8, PF_NATIVE_BIG) <= m->bytes.len - 12);
    if (m->folder && name) {
        write_file(m->folder, name, "parquet", &m->bytes);
        write_file(m->folder, name, "jsonl", &m->json);
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
    put_rows(&m, &none, 131070);
    put_rows(&m, &all, 2);
    put_rows(&m, &none, 1);
    next_group(&m);
    put_rows(&m, &all, 20481);
    end(&m, "borders");
}

/* Lists that are longer than a page; texts of which a page has few. */
static void long_lists(void **state)
{
    (void)state;
    maker m;
    mixture x = all_columns(2, 1, 140000);
    x.kinds[TS] = 2;
    begin(&m, &table);
    put_rows(&m, &x, 2);
    x.longest = 2000;
    put_rows(&m, &x, 20);
    next_group(&m);
    x.longest = 1;
    put_rows(&m, &x, 21000);
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
            put_rows(&m, &x, 1 + random_below(i % 8 ? 3000 : 22000));
            next_group(&m);
        }
        snprintf(name, sizeof name, "random_%u", i);
        end(&m, name);
    }
}

/* Encodings: by decoders that take bit for bit. */

static uint64_t take_varint(const uint8_t **p)
{
    uint64_t value = 0;
    unsigned shift = 0;
    do
        value |= (uint64_t)(**p & 0x7f) << shift;
    while (shift += 7, *(*p)++ & 0x80);
    return value;
}

static uint64_t take_signed(const uint8_t **p)
{
    const uint64_t value = take_varint(p);
    return value >> 1 ^ (0 - (value & 1));
}

static uint64_t bits_at(const uint8_t *p, size_t bit, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)(p[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
    return value;
}

static void check_hybrid(const uint32_t *values, size_t n, unsigned width)
{
    pf_buffer b = {0};
    assert_true(pf_hybrid(&b, values, n, width));
    uint8_t *copy = exact(b.ptr, b.len);
    const uint8_t *p = copy;
    size_t i = 0;
    while (i < n) {
        const uint64_t run = take_varint(&p), bytes = (width + 7) / 8;
        assert_true(run >> 1);
        if (run & 1) {
            for (size_t k = 0; k < 8 * (run >> 1); k++) {
                const uint64_t want = i + k < n ? values[i + k] : 0;
                assert_int_equal(bits_at(p, k * width, width), want);
            }
            p += (run >> 1) * width;
            i += 8 * (run >> 1);
        } else {
            for (size_t k = 0; k < run >> 1; k++)
                assert_int_equal(bits_at(p, 0, 8 * (unsigned)bytes), values[i + k]);
            p += bytes;
            i += run >> 1;
        }
    }
    assert_true(i < n + 8);
    assert_ptr_equal(p, copy + b.len);
    free(copy);
    pf_buffer_free(&b);
}

static void runs_and_bits(void **state)
{
    (void)state;
    static uint32_t values[3000];
    random_state = 1;
    for (unsigned width = 0; width <= 32; width++) {
        for (size_t n = 0; n < 300; n += 1 + n / 7) {
            for (uint32_t longest = 1; longest < 100; longest *= 3) {
                for (size_t i = 0; i < n;) {
                    const uint32_t value =
                        width ? (random_below(1u << 16) << 16 | random_below(1u << 16)) >>
                                    (32 - width)
                              : 0;
                    for (uint32_t same = 1 + random_below(longest); same && i < n; same--)
                        values[i++] = value;
                }
                check_hybrid(values, n, width);
            }
        }
    }
    /* The example of the format: 0 to 7 in 3 bits. */
    pf_buffer b = {0};
    const uint32_t seven[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_true(pf_hybrid(&b, seven, 8, 3));
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.ptr, "\x03\x88\xc6\xfa", 4);
    pf_buffer_clear(&b);
    assert_true(pf_hybrid_same(&b, 300, 200, 9));
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.ptr, "\x90\x03\x2c\x01", 4);
    pf_buffer_free(&b);
}

static void check_delta(const uint64_t *values, size_t n, bool narrow)
{
    pf_buffer b = {0};
    const uint64_t mask = narrow ? UINT32_MAX : UINT64_MAX;
    assert_true(pf_delta(&b, values, n, narrow));
    assert_int_equal(b.len, pf_delta_size(values, n, narrow));
    uint8_t *copy = exact(b.ptr, b.len);
    const uint8_t *p = copy;
    assert_int_equal(take_varint(&p), 128);
    assert_int_equal(take_varint(&p), 4);
    assert_int_equal(take_varint(&p), n);
    uint64_t value = take_signed(&p);
    if (n)
        assert_int_equal(value & mask, values[0] & mask);
    for (size_t i = 1; i < n;) {
        const uint64_t least = take_signed(&p);
        const uint8_t *widths = p;
        p += 4;
        for (unsigned part = 0; part < 4 && i < n; part++) {
            assert_true(widths[part] <= (narrow ? 32 : 64));
            for (size_t k = 0; k < 32 && i < n; k++, i++) {
                value += least + bits_at(p, k * widths[part], widths[part]);
                assert_int_equal(value & mask, values[i] & mask);
            }
            p += 4 * widths[part];
        }
    }
    assert_ptr_equal(p, copy + b.len);
    free(copy);
    pf_buffer_free(&b);
}

static void differences(void **state)
{
    (void)state;
    static uint64_t values[1000];
    random_state = 2;
    for (size_t n = 0; n < 1000; n += 1 + n / 5) {
        for (uint32_t kind = 0; kind < 6; kind++) {
            for (size_t i = 0; i < n; i++)
                values[i] = some_number(kind);
            check_delta(values, n, false);
            for (size_t i = 0; i < n; i++)
                values[i] = (uint64_t)(int64_t)(int32_t)(uint32_t)values[i];
            check_delta(values, n, true);
        }
    }
    /* 7, 5, 3, 1, 2, 3, 4, 5: differences of -2 and of 1. */
    const uint64_t example[] = {7, 5, 3, 1, 2, 3, 4, 5};
    const uint8_t want[] = {0x80, 0x01, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0};
    pf_buffer b = {0};
    assert_true(pf_delta(&b, example, 8, false));
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.ptr, want, sizeof want);
    pf_buffer_free(&b);
}

/* Numbers whose hashes begin with the same bits: each looks at all before it. */
static void numbers_that_collide(void **state)
{
    (void)state;
    enum { N = 100000 };
    uint64_t *values = malloc(N * sizeof *values);
    uint32_t *indexes = malloc(N * sizeof *indexes);
    pf_dictionary d = {0};
    uint64_t inverse = 1; /* of the factor of the hash, by Newton's method */
    for (unsigned i = 0; i < 6; i++)
        inverse *= 2 - inverse * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < N; i++) {
        const uint64_t hash = (i % 10000) * inverse;
        values[i] = hash ^ hash >> 32;
    }
    assert_true(pf_dictionary_make(&d, values, N, N, indexes));
    assert_int_equal(d.n, 0);
    for (size_t i = 0; i < N; i++)
        values[i] = i % 10000 * 4096;
    assert_true(pf_dictionary_make(&d, values, N, N, indexes));
    assert_int_equal(d.n, 10000);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(((uint64_t *)(void *)d.distinct.ptr)[indexes[i]], values[i]);
    assert_true(pf_dictionary_make(&d, values, N, 9999, indexes));
    assert_int_equal(d.n, 0);
    pf_dictionary_free(&d);
    free(values);
    free(indexes);
}

/* Headers: a structure as the format has it. */
static void structures(void **state)
{
    (void)state;
    pf_buffer b = {0};
    pf_thrift t = pf_thrift_new(&b);
    pf_thrift_i32(&t, 1, -1);
    pf_thrift_bool(&t, 3, true);
    pf_thrift_begin(&t, 4);
    pf_thrift_bool(&t, 2, false);
    pf_thrift_i8(&t, 3, 64);
    pf_thrift_end(&t);
    pf_thrift_text(&t, 5, "ab");
    pf_thrift_list(&t, 6, PF_THRIFT_I32, 2);
    pf_thrift_element_i32(&t, 0);
    pf_thrift_element_i32(&t, 8);
    pf_thrift_list(&t, 7, PF_THRIFT_STRUCT, 15);
    for (unsigned i = 0; i < 15; i++) {
        pf_thrift_begin(&t, 0);
        pf_thrift_end(&t);
    }
    pf_thrift_i64(&t, 8, 1000);
    pf_thrift_end(&t);
    const perfile_bytes want = hex("15 01 21 1c 22 13 40 00 18 02 6162 19 25 00 10 19 fc 0f"
                                   "000000000000000000000000000000 16 d00f 00");
    assert_false(t.failed);
    assert_int_equal(b.len, want.len);
    assert_memory_equal(b.ptr, want.ptr, want.len);
    free((void *)(uintptr_t)want.ptr);
    pf_buffer_free(&b);
}

/* Pages: headers, checksums and sums. */

typedef struct page_header {
    uint64_t type, unpacked, packed, crc, values, encoding;
} page_header;

/* Numbers of a structure by their ids; only i32 and one structure deep, as page headers are. */
static page_header take_page_header(const uint8_t **p)
{
    page_header h = {0};
    uint64_t *const fields[] = {&h.type, &h.unpacked, &h.packed, &h.crc};
    uint64_t *const inner[] = {&h.values, &h.encoding};
    for (unsigned id = 1; id <= 4; id++) {
        assert_int_equal(*(*p)++, 0x15);
        *fields[id - 1] = take_signed(p);
    }
    assert_int_equal(*(*p)++, h.type ? 0x3c : 0x1c);
    for (unsigned id = 1; id <= 2; id++) {
        assert_int_equal(*(*p)++, 0x15);
        *inner[id - 1] = take_signed(p);
    }
    if (!h.type)
        *p += 4; /* both kinds of levels are RLE */
    assert_memory_equal(*p, "\0\0", 2);
    *p += 2;
    return h;
}

static void check_chunk(const pf_parquet_chunk *c, const uint8_t *p)
{
    const uint8_t *const begin = p, *const chunk_end = p + c->bytes;
    uint64_t values = 0, unpacked = 0;
    assert_int_equal(c->dictionary_bytes > 0, c->encoding == PF_ENCODING_RLE_DICTIONARY);
    while (p < chunk_end) {
        const bool is_dictionary = p == begin && c->dictionary_bytes;
        const uint8_t *const page = p;
        const page_header h = take_page_header(&p);
        assert_int_equal(h.type, is_dictionary ? 2 : 0);
        assert_int_equal(h.encoding, is_dictionary ? PF_ENCODING_PLAIN : c->encoding);
        assert_int_equal((uint32_t)h.crc, pf_crc32(0, (perfile_bytes){p, h.packed}));
        unpacked += h.unpacked + (size_t)(p - page);
        p += h.packed;
        if (is_dictionary)
            assert_int_equal(p - page, c->dictionary_bytes);
        else
            values += h.values;
    }
    assert_ptr_equal(p, chunk_end);
    assert_int_equal(values, c->values);
    assert_int_equal(unpacked, c->unpacked);
}

static void pages(void **state)
{
    (void)state;
    maker m;
    random_state = 3;
    mixture x = all_columns(3, 1, 3);
    x.kinds[L] = 2;
    x.kinds[U] = 3;
    x.kinds[F] = 3;
    x.nulls[G_T] = 16;
    begin(&m, &table);
    put_rows(&m, &x, 45000);
    next_group(&m);
    const pf_parquet_chunk *c = (const void *)m.group.chunks.ptr;
    assert_int_equal(m.group.chunks.len / sizeof *c, N_COLUMNS - 2);
    uint64_t at = 0;
    for (size_t i = 0; i < N_COLUMNS - 2; i++) {
        assert_int_equal(c[i].offset, at);
        check_chunk(&c[i], m.bytes.ptr + 4 + at);
        at += c[i].bytes;
    }
    assert_int_equal(at, m.group.bytes);
    static const unsigned want[] = {PF_ENCODING_PLAIN, PF_ENCODING_RLE_DICTIONARY,
                                    PF_ENCODING_DELTA_BINARY_PACKED};
    assert_int_equal(c[B].encoding, want[0]);
    assert_int_equal(c[I].encoding, want[1]);
    assert_int_equal(c[L].encoding, want[2]);
    assert_int_equal(c[U].encoding, want[0]);
    assert_int_equal(c[T].encoding, want[0]); /* texts that hardly repeat */
    m.json.len = 0;
    end(&m, NULL);
}

/* Columns without values cost next to nothing, however many rows there are. */
static void nulls_are_small(void **state)
{
    (void)state;
    maker m;
    begin(&m, &table);
    for (size_t i = 0; i < PF_PARQUET_GROUP_ROWS; i++)
        pf_table_batch_row(m.b);
    next_group(&m);
    assert_in_range(m.group.bytes, 1, 50 * (N_COLUMNS - 2));
    const size_t pages_end = m.bytes.len;
    assert_int_equal(pf_parquet_footer(m.file, &m.bytes, NULL), PERFILE_OK);
    const size_t one = m.bytes.len - pages_end;
    assert_int_equal(pf_parquet_append(m.file, &m.group, NULL), PERFILE_OK);
    m.bytes.len = pages_end;
    assert_int_equal(pf_parquet_footer(m.file, &m.bytes, NULL), PERFILE_OK);
    assert_in_range(m.bytes.len - pages_end - one, 1, 80 * (N_COLUMNS - 2));
    m.bytes.len = 4;
    end(&m, NULL);
}

/* The format counts values in 31 bits. */
static void too_many_rows(void **state)
{
    (void)state;
    maker m;
    perfile_error err = {0};
    begin(&m, &table);
    m.b->rows = (size_t)INT32_MAX + 1;
    assert_int_equal(pf_parquet_encode(m.encoder, m.b, &m.bytes, &m.group, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "parquet.group");
    assert_int_equal(m.bytes.len, 4);
    m.b->rows = INT32_MAX;
    assert_int_equal(pf_parquet_encode(m.encoder, m.b, &m.bytes, &m.group, &err), PERFILE_OK);
    assert_int_equal(m.group.rows, INT32_MAX);
    m.b->rows = 0;
    m.bytes.len = 4;
    end(&m, NULL);
}

/* A column that is not wanted is null. */
static void columns_that_are_not_wanted(void **state)
{
    (void)state;
    maker m;
    begin(&m, &table);
    for (size_t i = 0; i < N_COLUMNS; i++)
        m.b->columns[i].wanted = i == L || i == LI || i == LI_U || i == G_T;
    pf_column_number(&m.b->columns[I], 1);
    pf_column_number(&m.b->columns[L], 5);
    pf_column_group(&m.b->columns[G]);
    pf_column_text(&m.b->columns[G_T], "x");
    for (unsigned i = 0; i < 2; i++) {
        pf_column_text(&m.b->columns[LI_T], "x");
        pf_column_number(&m.b->columns[LI_U], i);
        pf_column_null(&m.b->columns[LI_B]);
        pf_column_null(&m.b->columns[LI_L]);
    }
    pf_column_list_end(&m.b->columns[LI], 2);
    pf_table_batch_row(m.b);
    say(&m, "[null, null, \"5\", null, null, null, null, null, null, null, "
            "[[null, \"0\", null, null], [null, \"1\", null, null]], null]\n");
    end(&m, "not_wanted");
}

/* Bounds. */

static const pf_parquet_chunk *chunks_of(maker *m)
{
    next_group(m);
    return (const void *)m->group.chunks.ptr;
}

static void bounds(void **state)
{
    (void)state;
    maker m;
    const pf_parquet_chunk *c;
    char text[66];
    begin(&m, &table);
    for (unsigned i = 0; i < 3; i++) {
        static const uint64_t values[] = {(uint64_t)-5, 7, 0};
        static const double doubles[] = {0.0, 1.5, 0.25};
        static const char *const texts[] = {"b", "", "\303\244"};
        pf_column_number(&m.b->columns[I], values[i]);
        pf_column_number(&m.b->columns[L], values[i]);
        pf_column_number(&m.b->columns[U], values[i]);
        pf_column_double(&m.b->columns[F], doubles[i]);
        pf_column_text(&m.b->columns[T], texts[i]);
        pf_column_bool(&m.b->columns[B], true);
        pf_table_batch_row(m.b);
    }
    c = chunks_of(&m);
    assert_true(c[I].bounded && c[L].bounded && c[U].bounded && c[F].bounded && c[T].bounded);
    assert_memory_equal(c[I].least, "\xfb\xff\xff\xff", 4);
    assert_memory_equal(c[I].greatest, "\7\0\0\0", 4);
    assert_memory_equal(c[L].least, "\xfb\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_memory_equal(c[U].least, "\0\0\0\0\0\0\0\0", 8);
    assert_memory_equal(c[U].greatest, "\xfb\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_memory_equal(c[F].least, "\0\0\0\0\0\0\0\x80", 8); /* -0.0 */
    assert_memory_equal(c[F].greatest, "\0\0\0\0\0\0\xf8\x3f", 8);
    assert_int_equal(c[T].least_len, 0);
    assert_memory_equal(c[T].greatest, "\303\244", 2);
    assert_memory_equal(c[B].least, "\1", 1);
    assert_int_equal(c[W].nulls, 3);
    assert_false(c[W].bounded);

    /* A NaN is in no order, and a long text takes too much room. */
    pf_column_double(&m.b->columns[F], 1);
    pf_column_double(&m.b->columns[F], (double)NAN);
    memset(text, 'x', sizeof text - 1);
    text[65] = 0;
    pf_column_text(&m.b->columns[T], text);
    pf_column_text(&m.b->columns[T], "y");
    m.b->rows = 2;
    c = chunks_of(&m);
    assert_int_equal(c[F].nans, 1);
    assert_false(c[F].bounded || c[T].bounded);
    pf_column_text(&m.b->columns[T], text + 1);
    pf_column_text(&m.b->columns[T], "y");
    m.b->rows = 2;
    c = chunks_of(&m);
    assert_true(c[T].bounded);
    assert_int_equal(c[T].least_len, 64);
    m.json.len = 0;
    end(&m, NULL);
}

/* Memory that is missing leaves nothing behind, and says so. */
static void missing_memory(void **state)
{
    (void)state;
    maker m;
    perfile_error err;
    mixture x = all_columns(4, 1, 3);
    x.kinds[L] = 2;
    begin(&m, &table);
    put_rows(&m, &x, 500);
    unsigned failed = 0;
    for (bool done = false; !done;) {
        pf_parquet_encoder *e = pf_parquet_encoder_new(PF_PARQUET_LEVEL);
        pf_parquet_group g = {0};
        pf_buffer out = {0};
        assert_true(e && pf_buffer_append(&out, "abc", 3));
        pf_alloc_fail_at = pf_alloc_count + 1 + failed;
        const perfile_status st = pf_parquet_encode(e, m.b, &out, &g, &err);
        done = pf_alloc_count < pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        assert_int_equal(st, done ? PERFILE_OK : PERFILE_E_NOMEM);
        assert_int_equal(g.rows, done ? 500 : 0);
        assert_true(done || out.len == 3);
        failed += !done;
        pf_parquet_encoder_free(e);
        pf_parquet_group_free(&g);
        pf_buffer_free(&out);
    }
    assert_true(failed > 20);
    next_group(&m);
    for (failed = 0;; failed++) {
        pf_alloc_fail_at = pf_alloc_count + 1 + failed;
        pf_parquet *f = pf_parquet_new(&table);
        pf_buffer out = {0};
        const bool ok = f && pf_parquet_note(f, "key", "value") &&
                        pf_parquet_append(f, &m.group, &err) == PERFILE_OK &&
                        pf_parquet_footer(f, &out, &err) == PERFILE_OK;
        const bool done = pf_alloc_count < pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        assert_int_equal(ok, done);
        assert_true(ok || !out.len);
        pf_parquet_free(f);
        pf_buffer_free(&out);
        if (done)
            break;
    }
    assert_true(failed > 3);
    m.b->no_memory = true;
    assert_int_equal(pf_parquet_encode(m.encoder, m.b, &m.bytes, &m.group, &err), PERFILE_E_NOMEM);
    m.b->no_memory = false;
    m.json.len = 0;
    end(&m, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_bits),
        cmocka_unit_test(differences),
        cmocka_unit_test(numbers_that_collide),
        cmocka_unit_test(structures),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(nulls_at_borders),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(random_files),
        cmocka_unit_test(pages),
        cmocka_unit_test(nulls_are_small),
        cmocka_unit_test(too_many_rows),
        cmocka_unit_test(columns_that_are_not_wanted),
        cmocka_unit_test(bounds),
        cmocka_unit_test(missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
