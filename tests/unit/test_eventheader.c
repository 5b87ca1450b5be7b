/* Payloads that describe themselves (EventHeader): fields, values, structs and lists, in both
 * orders of bytes, cut at every place, and with metadata that says more than there is. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "builder.h"
#include "perfile/perfile.h"
#include "trace/eventheader.h"

static const char lines[] = "name: Provider_L5K1\nID: 9\nformat:\n"
                            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                            "\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n"
                            "\tfield:u8 version;\toffset:9;\tsize:1;\tsigned:0;\n"
                            "\tfield:u16 id;\toffset:10;\tsize:2;\tsigned:0;\n"
                            "\tfield:u16 tag;\toffset:12;\tsize:2;\tsigned:0;\n"
                            "\tfield:u8 opcode;\toffset:14;\tsize:1;\tsigned:0;\n"
                            "\tfield:u8 level;\toffset:15;\tsize:1;\tsigned:0;\n"
                            "print fmt: \"level=%u\", REC->level\n";

/* A description of one event, what it was made of, and what a walk showed. */
typedef struct scene {
    pf_arena arena;
    pf_buffer scratch;
    const pf_trace_format *base, *f;
    char shown[2048];
} scene;

static void open_scene(scene *s, const char *text)
{
    memset(s, 0, sizeof *s);
    pf_arena_init(&s->arena, 1 << 20, "limit");
    const pf_trace_source source = {.text = {(const uint8_t *)text, strlen(text)},
                                    .name = {(const uint8_t *)"Provider_L5K1", 13},
                                    .id = 9,
                                    .long_size = 8};
    assert_int_equal(pf_trace_format_read(&source, &s->arena, &s->base, NULL), PERFILE_OK);
}

static void close_scene(scene *s)
{
    pf_arena_free(&s->arena);
    pf_buffer_free(&s->scratch);
}

/* A row of metadata; `more`: format, tag and length, as the bits of `encoding` say. */
static void row(builder *b, const char *name, unsigned encoding, const void *more, size_t n)
{
    build_bytes(b, name, strlen(name) + 1);
    build_u8(b, (uint8_t)encoding);
    build_bytes(b, more, n);
}

/* The fields of the tracepoint, an activity with its parent, and the metadata. */
static void begin_payload(builder *b, const builder *metadata, bool swapped)
{
    const bool little = swapped == (bool)PF_NATIVE_BIG;
    b->swap = false;
    build_u16(b, 9);
    build_zeros(b, 6);
    build_u8(b, (uint8_t)(1 | (little ? 2 : 0) | 4));
    build_u8(b, 3);
    build_u16(b, 1000);
    build_u16(b, 0);
    build_u8(b, 0);
    build_u8(b, 5);
    b->swap = swapped;
    build_u16(b, 32);
    build_u16(b, 0x8002);
    build_bytes(b, "ABCDEFGHIJKLMNOPabcdefghijklmnop", 32);
    build_u16(b, (uint16_t)built(metadata).len);
    build_u16(b, 1);
    build_bytes(b, built(metadata).ptr, built(metadata).len);
}

/* Describes the payload's event; false: it is none. */
static bool describe(scene *s, perfile_bytes payload)
{
    pf_eh_parts parts;
    if (!pf_eh_split(s->base, payload, &parts))
        return false;
    assert_int_equal(pf_eh_describe(s->base, &parts, &s->scratch, &s->arena, &s->f, NULL),
                     PERFILE_OK);
    return true;
}

static void show(scene *s, const char *text)
{
    const size_t n = strlen(s->shown);
    snprintf(s->shown + n, sizeof s->shown - n, "%s", text);
}

static void show_value(void *user, const perfile_field *f, const perfile_value *v)
{
    char text[256];
    perfile_bytes one;
    perfile_strings strings = v->u.strings;
    snprintf(text, sizeof text, "%s=", f->name);
    show(user, text);
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        snprintf(text, sizeof text, "%.*s", (int)v->u.bytes.len, (const char *)v->u.bytes.ptr);
        break;
    case PERFILE_STORED_BLOB:
        snprintf(text, sizeof text, "%zu bytes", v->u.bytes.len);
        break;
    case PERFILE_STORED_WORDS:
        text[0] = '\0';
        for (size_t i = 0; i < v->u.words.n; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i ? "," : "",
                     (long long)perfile_word(&v->u.words, i));
        break;
    case PERFILE_STORED_STRINGS:
        text[0] = '\0';
        while (perfile_strings_next(&strings, &one) == PERFILE_OK)
            snprintf(text + strlen(text), sizeof text - strlen(text), "<%.*s>", (int)one.len,
                     (const char *)one.ptr);
        break;
    default:
        snprintf(text, sizeof text, "%lld", (long long)v->number);
        break;
    }
    show(user, text);
    show(user, " ");
}

static void show_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)v;
    show(user, f->type == PERFILE_STORED_ITEM ? "" : f->name);
    show(user, f->type == PERFILE_STORED_LIST ? "[" : "{");
}

static void show_end(void *user, const perfile_field *f)
{
    show(user, f->type == PERFILE_STORED_LIST ? "]" : "}");
}

static const perfile_visitor visitor = {sizeof visitor, show_value, show_begin, show_end};

static const char *walk(scene *s, perfile_bytes payload)
{
    size_t left = payload.len;
    s->shown[0] = '\0';
    pf_eh_walk(s->f, payload, 0, &left, &visitor, s);
    return s->shown;
}

/* Numbers, texts, lists, a list of structs in each other; names that are taken, and with an
 * attribute. */
static void build_event(builder *m, builder *v)
{
    static const char name[] = "Started;color=red";
    build_bytes(m, name, sizeof name);
    row(m, "id", PF_EH_VALUE32, NULL, 0);
    build_u32(v, 70000);
    row(m, "small;unit=m", PF_EH_VALUE8 | 0x80, "\x02", 1); /* signed */
    build_u8(v, 0xfe);
    row(m, "wide", PF_EH_STRING16, NULL, 0);
    build_u16(v, 4);
    build_u16(v, 'A');
    build_u16(v, 0x20ac);
    build_u16(v, 0xd83d);
    build_u16(v, 0xde00);
    row(m, "f", PF_EH_VALUE64 | 0x80, "\x08", 1); /* a float */
    build_u64(v, 0x3ff8000000000000);
    row(m, "port", PF_EH_VALUE16 | 0x80, "\x10", 1);
    build_bytes(v, "\x1f\x90", 2);
    row(m, "ip", PF_EH_VALUE32 | 0x80, "\x11", 1);
    build_bytes(v, "\x7f\0\0\1", 4);
    row(m, "list", PF_EH_VALUE16 | PF_EH_VARIABLE, NULL, 0);
    build_u16(v, 2);
    build_u16(v, 7);
    build_u16(v, 8);
    row(m, "words", PF_EH_ZSTRING8 | PF_EH_COUNTED, NULL, 0);
    build_u16(m, 2);
    build_bytes(v, "one\0\0", 5);
    row(m, "outer", PF_EH_STRUCT | PF_EH_VARIABLE | 0x80, "\x02", 1);
    build_u16(v, 2);
    row(m, "x", PF_EH_VALUE8, NULL, 0);
    row(m, "inner", PF_EH_STRUCT | 0x80, "\x01", 1);
    row(m, "x", PF_EH_BINARY, NULL, 0);
    for (uint8_t i = 1; i <= 2; i++) {
        build_u8(v, i);
        build_u16(v, i);
        build_zeros(v, i);
    }
    row(m, "last", PF_EH_VALUE8, NULL, 0);
    build_u8(v, 99);
}

static const char whole[] =
    "event_name=Started activity_id=16 bytes related_id=16 bytes id_2=70000 small=-2 "
    "wide=A\xe2\x82\xac\xf0\x9f\x98\x80 f=1.5 port=8080 ip=127.0.0.1 list=7,8 words=<one><> "
    "outer[{x=1 inner{x=1 bytes }}{x=2 inner{x=2 bytes }}]last=99 ";

static void make(builder *payload, bool swapped)
{
    builder m = {.swap = swapped}, v = {.swap = swapped};
    build_event(&m, &v);
    begin_payload(payload, &m, swapped);
    build_bytes(payload, built(&v).ptr, built(&v).len);
    build_clear(&m);
    build_clear(&v);
}

static perfile_value value(const scene *s, perfile_bytes payload, const char *name)
{
    perfile_value v;
    const int i = perfile_tracepoint_field_find(&s->f->shown, name);
    assert_true(i >= 0);
    assert_int_equal(perfile_tracepoint_value(&s->f->shown, payload, (uint32_t)i, &v), PERFILE_OK);
    return v;
}

static void values(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        scene s;
        builder b = {0};
        char text[32];
        perfile_value v;
        make(&b, swapped);
        open_scene(&s, lines);
        assert_true(s.base->is_eventheader);
        assert_true(describe(&s, built(&b)));
        assert_string_equal(walk(&s, built(&b)), whole);
        assert_int_equal(value(&s, built(&b), "id").number, 1000); /* of the tracepoint */
        assert_int_equal(value(&s, built(&b), "id_2").number, 70000);
        assert_int_equal(value(&s, built(&b), "last").number, 99);
        /* Two texts that are made are there at once. */
        const perfile_value wide = value(&s, built(&b), "wide"), f = value(&s, built(&b), "f");
        assert_memory_equal(wide.u.bytes.ptr, "A\xe2\x82\xac", 4);
        assert_int_equal(wide.width, 10);
        assert_memory_equal(f.u.bytes.ptr, "1.5", 3);
        /* What is in a list has no value of its own. */
        const int x = perfile_tracepoint_field_find(&s.f->shown, "x");
        assert_int_equal(perfile_tracepoint_value(&s.f->shown, built(&b), (uint32_t)x, &v),
                         PERFILE_END);
        perfile_tracepoint_print(&s.f->shown, built(&b), NULL, NULL, text, sizeof text);
        assert_string_equal(text, "level=5");
        build_clear(&b);
        close_scene(&s);
    }
}

/* Each shorter payload shows what is before the place where it ends, and structs end. */
static void cut(void **state)
{
    (void)state;
    scene s;
    builder b = {0};
    size_t described = 0;
    make(&b, false);
    open_scene(&s, lines);
    for (size_t n = 0; n < built(&b).len; n++) {
        int depth = 0;
        uint8_t *block = exact(built(&b).ptr, n);
        const perfile_bytes part = {block, n};
        const bool is = describe(&s, part);
        described += is;
        s.shown[0] = '\0';
        for (const char *c = is ? walk(&s, part) : ""; *c; c++)
            depth += *c == '{' || *c == '[' ? 1 : *c == '}' || *c == ']' ? -1 : 0;
        assert_int_equal(depth, 0);
        assert_true(!is || strncmp(s.shown, whole, 30) == 0);
        assert_null(strstr(s.shown, "last="));
        free(block);
    }
    assert_in_range(described, 50, 80); /* the bytes of the values */
    build_clear(&b);
    close_scene(&s);
}

/* Metadata that is not complete, and structs of nothing in lists of lists. */
static void metadata(void **state)
{
    static const struct {
        const char *rows;
        size_t n;
        const char *shown;
    } cases[] = {
        {"", 0, "event_name=E "},
        {"a\0\x02", 3, "event_name=E a=1 "},
        {"a", 1, "event_name=E "},
        {"a\0\x02"
         "b\0\x1f"
         "c\0\x02",
         9, "event_name=E a=1 "}, /* unknown */
        {"a\0\x02"
         "b\0\x62\1\0",
         8, "event_name=E a=1 "}, /* both kinds of lists */
        {"a\0\x02"
         "b\0\x22\0\0",
         8, "event_name=E a=1 "}, /* a list of no length */
        {"s\0\x81\x09"
         "a\0\x02",
         7, "event_name=E s{a=1 }"}, /* fewer members than said */
        {"s\0\x81\x09"
         "a\0\x02"
         "b\0\x1f",
         10, "event_name=E "}, /* unknown in a struct */
        {"s\0\xa1\x01\xff\xff"
         "t\0\xa1\x01\xff\xff",
         12, "event_name=E "}, /* nothing in them */
        {"\"\\\n\xc3\xa9\0\x02"
         "\0\x02",
         9, "event_name=E _____=1 =2 "},
        {"a\0\x02"
         "a\0\x02"
         "level\0\x02",
         14, "event_name=E a=1 a_2=2 level_2=3 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s;
        builder m = {.swap = PF_NATIVE_BIG}, b = {0};
        build_bytes(&m, "E", 2);
        build_bytes(&m, cases[i].rows, cases[i].n);
        begin_payload(&b, &m, PF_NATIVE_BIG);
        build_bytes(&b, "\1\2\3\4", 4);
        open_scene(&s, lines);
        assert_true(describe(&s, built(&b)));
        const char *shown = walk(&s, built(&b));
        const char *rest = strstr(shown, "related_id=16 bytes ");
        assert_non_null(rest);
        char got[256];
        snprintf(got, sizeof got, "event_name=E %s", rest + strlen("related_id=16 bytes "));
        assert_string_equal(got, cases[i].shown);
        build_clear(&m);
        build_clear(&b);
        close_scene(&s);
    }
}

/* Structs deeper than the limit are left out; lists of lists of 65,535 end with the payload. */
static void bounded(void **state)
{
    (void)state;
    scene s;
    builder m = {.swap = PF_NATIVE_BIG}, b = {0};
    build_bytes(&m, "E", 2);
    for (int i = 0; i < PF_EH_DEPTH; i++)
        row(&m, "s", PF_EH_STRUCT | PF_EH_COUNTED | 0x80, "\x01\xff\xff", 3);
    row(&m, "a", PF_EH_VALUE8, NULL, 0);
    begin_payload(&b, &m, PF_NATIVE_BIG);
    build_bytes(&b, "\1\2\3", 3);
    open_scene(&s, lines);
    assert_true(describe(&s, built(&b)));
    assert_int_equal(s.f->self->n_rows, PF_EH_DEPTH + 1);
    assert_non_null(strstr(walk(&s, built(&b)), "a=1 }{a=2 }{a=3 }"));
    build_clear(&b);
    row(&m, "s", PF_EH_STRUCT | 0x80, "\x01", 1);
    build_clear(&m);
    m = (builder){.swap = PF_NATIVE_BIG};
    build_bytes(&m, "E", 2);
    for (int i = 0; i <= PF_EH_DEPTH; i++)
        row(&m, "s", PF_EH_STRUCT | 0x80, "\x01", 1);
    row(&m, "a", PF_EH_VALUE8, NULL, 0);
    b = (builder){0};
    begin_payload(&b, &m, PF_NATIVE_BIG);
    assert_true(describe(&s, built(&b)));
    assert_int_equal(s.f->self->n_rows, 0);
    build_clear(&b);
    build_clear(&m);
    close_scene(&s);
}

/* Many fields of one name have names of their own. */
static void names(void **state)
{
    (void)state;
    scene s;
    builder m = {.swap = PF_NATIVE_BIG}, b = {0};
    build_bytes(&m, "E", 2);
    row(&m, "a_25", PF_EH_VALUE8, NULL, 0);
    for (int i = 0; i < 600; i++)
        row(&m, "a", PF_EH_VALUE8, NULL, 0);
    begin_payload(&b, &m, PF_NATIVE_BIG);
    open_scene(&s, lines);
    assert_true(describe(&s, built(&b)));
    const perfile_tracepoint *t = &s.f->shown;
    assert_int_equal(s.f->self->n_rows, 15); /* the next would be a_25 */
    for (uint32_t i = 0; i < t->n_fields; i++)
        assert_int_equal(perfile_tracepoint_field_find(t, t->fields[i].field.name), i);
    build_clear(&b);
    build_clear(&m);
    close_scene(&s);
}

/* Descriptions with other fields are not of EventHeader. */
static void others(void **state)
{
    (void)state;
    static const char *const changes[] = {"eventheader_flags", "u16 tag", "offset:12", "level"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        scene s;
        char text[sizeof lines];
        strcpy(text, lines);
        char *at = strstr(text, changes[i]);
        at[strlen(changes[i]) - 1] = at[strlen(changes[i]) - 1] == '2' ? '3' : 'x';
        open_scene(&s, text);
        assert_false(s.base->is_eventheader);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),  cmocka_unit_test(cut),   cmocka_unit_test(metadata),
        cmocka_unit_test(bounded), cmocka_unit_test(names), cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
