/* Descriptions of tracepoints: fields, values in payloads of both byte orders, and print fmts. */
#include "testing.h"

#include <stdio.h>

#include "builder.h"
#include "perfile/perfile.h"
#include "trace/format.h"
#include "trace/print.h"
#include "trace/printk.h"
#include "trace/command.h"

/* The fields that the tests of printing use, and a payload that has them. */
static const char fields[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
                             "\tfield:unsigned int u;\toffset:20;\tsize:4;\tsigned:0;\n"
                             "\tfield:long state;\toffset:24;\tsize:8;\tsigned:1;\n"
                             "\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"
                             "\tfield:__rel_loc u32[] list;\toffset:36;\tsize:4;\tsigned:0;\n"
                             "\tfield:void * ip;\toffset:40;\tsize:8;\tsigned:0;\n"
                             "\tfield:u8 v6[16];\toffset:48;\tsize:16;\tsigned:0;\n"
                             "\tfield:u8 v4[4];\toffset:64;\tsize:4;\tsigned:0;\n"
                             "\tfield:s16 small;\toffset:68;\tsize:2;\tsigned:1;\n"
                             "\tfield:u16 pair[3];\toffset:70;\tsize:6;\tsigned:0;\n"
                             "\tfield:struct thing odd;\toffset:76;\tsize:3;\tsigned:0;\n"
                             "\tfield:int flag:3;\toffset:80;\tsize:4;\tsigned:1;\n"
                             "\tfield:unsigned char rest[];\toffset:104;\tsize:0;\tsigned:0;\n";

static void build_payload(builder *b)
{
    build_u16(b, 77);
    build_zeros(b, 6);
    build_bytes(b, "worker\0\0", 8);
    build_u32(b, (uint32_t)-2);
    build_u32(b, 0xfffffff0);
    build_u64(b, (uint64_t)-5);
    build_u32(b, 88 | 5U << 16);
    build_u32(b, (96 - 40) | 8U << 16);
    build_u64(b, 0xffff0010);
    build_bytes(b, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
    build_bytes(b, "\xc0\0\x02\x01", 4);
    build_u16(b, (uint16_t)-3);
    for (uint16_t i = 1; i <= 3; i++)
        build_u16(b, (uint16_t)(i * 256));
    build_bytes(b, "abc\0", 4);
    build_u32(b, 5);
    build_zeros(b, 4);
    build_bytes(b, "disk\0\0\0\0", 8);
    build_u32(b, 7);
    build_u32(b, 9);
    build_bytes(b, "xy", 2);
}

/* A description that is read, and what it was made of. */
typedef struct scene {
    char text[8192];
    pf_arena arena;
    pf_printk printk;
    builder payload;
    const pf_trace_format *f;
    const perfile_tracepoint *t;
} scene;

static perfile_status read_text(scene *s, const char *lines, const char *print, bool swapped)
{
    static const char constants[] = "0xffff0010 : \"End of it\"\n0x10 : \"first\"\nodd\n";
    pf_arena_init(&s->arena, 1 << 20, "limit");
    const int n = snprintf(s->text, sizeof s->text,
                           "name: thing\nID: 77\nformat:\n%s\nprint fmt: %s\n", lines, print);
    assert_true(n > 0 && (size_t)n < sizeof s->text);
    assert_int_equal(
        pf_printk_read(&s->printk,
                       (perfile_bytes){(const uint8_t *)constants, sizeof constants - 1}, &s->arena,
                       NULL),
        PERFILE_OK);
    const pf_trace_source source = {.text = {(const uint8_t *)s->text, (size_t)n},
                                    .name = {(const uint8_t *)"thing", 5},
                                    .system = {(const uint8_t *)"things", 6},
                                    .id = 77,
                                    .swapped = swapped,
                                    .long_size = 8,
                                    .printk = &s->printk};
    perfile_status st = pf_trace_format_read(&source, &s->arena, &s->f, NULL);
    s->payload = (builder){.swap = swapped};
    build_payload(&s->payload);
    s->t = st == PERFILE_OK ? &s->f->shown : NULL;
    return st;
}

static void done(scene *s)
{
    pf_arena_free(&s->arena);
    build_clear(&s->payload);
}

static const perfile_tracepoint_field *field(const scene *s, const char *name)
{
    const int i = perfile_tracepoint_field_find(s->t, name);
    assert_in_range(i, 0, s->t->n_fields - 1);
    assert_string_equal(s->t->fields[i].field.name, name);
    return &s->t->fields[i];
}

static perfile_value value(const scene *s, const char *name)
{
    perfile_value v;
    const uint32_t i = (uint32_t)(field(s, name) - s->t->fields);
    assert_int_equal(perfile_tracepoint_value(s->t, built(&s->payload), i, &v), PERFILE_OK);
    return v;
}

static void check_text(const scene *s, const char *name, const char *text)
{
    const perfile_value v = value(s, name);
    assert_int_equal(v.u.bytes.len, strlen(text));
    assert_memory_equal(v.u.bytes.ptr, text, strlen(text));
}

static void check_values(bool swapped)
{
    scene s;
    assert_int_equal(read_text(&s, fields, "\"\"", swapped), PERFILE_OK);
    assert_int_equal(s.t->n_fields, 15);
    assert_string_equal(s.t->name, "thing");
    assert_string_equal(s.t->system, "things");
    assert_int_equal(field(&s, "common_type")->flags, PERFILE_TRACEPOINT_COMMON);
    assert_int_equal(value(&s, "common_type").number, 77);
    assert_string_equal(field(&s, "comm")->declared, "char");
    check_text(&s, "comm", "worker");
    check_text(&s, "name", "disk");
    assert_int_equal(value(&s, "name").offset, 88);
    assert_int_equal(value(&s, "name").width, 5);
    assert_int_equal((int64_t)value(&s, "pid").number, -2);
    assert_int_equal(field(&s, "pid")->field.type, PERFILE_STORED_S32);
    assert_int_equal(value(&s, "u").number, 0xfffffff0);
    assert_int_equal((int64_t)value(&s, "state").number, -5);
    assert_int_equal((int64_t)value(&s, "small").number, -3);
    assert_int_equal(value(&s, "flag").number, 5);
    assert_int_equal(field(&s, "ip")->field.kind, PERFILE_KIND_ADDR);
    assert_int_equal(value(&s, "ip").number, 0xffff0010);
    perfile_value v = value(&s, "list");
    assert_int_equal(v.u.words.n, 2);
    assert_int_equal(perfile_word(&v.u.words, 1), 9);
    v = value(&s, "pair");
    assert_int_equal(v.u.words.n, 3);
    assert_int_equal(perfile_word(&v.u.words, 2), 768);
    v = value(&s, "odd");
    assert_int_equal(field(&s, "odd")->field.type, PERFILE_STORED_BLOB);
    assert_int_equal(v.u.bytes.len, 3);
    v = value(&s, "rest");
    assert_int_equal(v.u.bytes.len, 2);
    assert_int_equal(perfile_tracepoint_field_find(s.t, "com"), -1);
    assert_int_equal(perfile_tracepoint_field_find(s.t, "commm"), -1);
    done(&s);
}

static void values(void **state)
{
    (void)state;
    check_values(false);
    check_values(true);
}

/* Fields that the payload does not have; places in it that are outside. */
static void outside(void **state)
{
    scene s;
    perfile_value v;
    (void)state;
    assert_int_equal(read_text(&s, fields, "\"\"", false), PERFILE_OK);
    const perfile_bytes all = built(&s.payload);
    const uint32_t name = (uint32_t)(field(&s, "name") - s.t->fields);
    const uint32_t pid = (uint32_t)(field(&s, "pid") - s.t->fields);
    for (size_t n = 0; n <= all.len; n++) {
        uint8_t *cut = exact(all.ptr, n);
        assert_int_equal(perfile_tracepoint_value(s.t, (perfile_bytes){cut, n}, pid, &v),
                         n >= 20 ? PERFILE_OK : PERFILE_END);
        assert_int_equal(perfile_tracepoint_value(s.t, (perfile_bytes){cut, n}, name, &v),
                         n >= 93 ? PERFILE_OK : PERFILE_END);
        free(cut);
    }
    done(&s);
}

static const char *symbol(void *user, uint64_t address, uint64_t *offset)
{
    (void)user;
    *offset = address - 0xffff0000;
    return address >> 16 == 0xffff ? "schedule" : NULL;
}

static void prints(void **state)
{
    static const struct {
        const char *print, *text;
    } cases[] = {
        {"\"comm=%s pid=%d u=%u\", REC->comm, REC->pid, REC->u", "comm=worker pid=-2 u=4294967280"},
        {"\"%x %lx %llx %#x %08x|%-6d|%6d|%+d\", REC->u, REC->state, REC->state, 255, 255, 7, 7, 7",
         "fffffff0 fffffffffffffffb fffffffffffffffb 0xff 000000ff|7     |     7|+7"},
        {"\"%hhu %hd %ld %zu %c%%\\n\\t\\\\\", 257, 65535, REC->state, 5, 'A'",
         "1 -1 -5 5 A%\n\t\\"},
        {"\"%s|%10s|%-10s|%.3s|%.*s\", __get_str(name), __get_str(name), __get_str(name), "
         "REC->comm, 2, "
         "REC->comm",
         "disk|      disk|disk      |wor|wo"},
        {"\"%s\", __print_symbolic(REC->flag, { 5, \"five\" }, { 6, \"six\" })", "five"},
        {"\"%s\", __print_symbolic(REC->flag + 3, { 5, \"five\" }, { 0, ((void *)0) })", "0x8"},
        {"\"%s\", __print_symbolic(REC->pid, { -2, \"mi\" \"nus\" })", "minus"},
        {"\"%s %s\", __print_flags(REC->flag, \"|\", { 1, \"A\" }, { (1 << 2), \"C\" }), "
         "__print_flags(9, \"|\", { 1UL, \"A\" }, { 0x2, \"B\" })",
         "A|C A|0x8"},
        {"\"%s\", REC->flag & 4 ? __print_flags(REC->flag & 4, \"\", { 4, \"C\" }) : \"none\"",
         "C"},
        {"\"%s%s\", REC->pid ? \"x\" : \"y\", !REC->pid ? \"x\" : REC->flag == 5 ? \"five\" : "
         "\"z\"",
         "xfive"},
        {"\"%d %d %d %d\", 2 + 3 * 4, (2 + 3) * 4, 1 << 2 + 1, 7 & 3 == 3", "14 20 8 1"},
        {"\"%d %d %d %d %d\", 7 / 0, -7 / 2, -7 % 3, (u8)300, (s8)200", "0 -3 -1 44 -56"},
        /* Numbers are computed when a print fmt is compiled, but not the last of a side of ?: with
         * what follows both. */
        {"\"%d %d %d\", (REC->pid ? 1 : 2) + 3, (REC->pid ? 1 : 2) | (4 + 8), -(REC->flag ? 2 : 3)",
         "4 13 -2"},
        {"\"%d %d\", REC->pid ? 1 : 2 + 3, REC->pid ? 1 + 2 : 3", "1 3"},
        {"\"%d %lx\", REC->flag & (((1 | 2 | 4) + 1) << 1) - 1, ~(u64)(0 - 1) ^ REC->flag", "5 5"},
        {"\"%03d|%05x|%02d|%04d|%3d\", REC->flag, 171, 1234, REC->pid, REC->flag",
         "005|000ab|1234|-002|  5"},
        {"\"%d %d %d\", REC->pid < 0, REC->u < 0, (int)REC->u < 0", "1 0 1"},
        {"\"%d %d\", ((u32 *)__get_rel_dynamic_array(list))[1], REC->pair[2]", "9 768"},
        {"\"%d %d\", __get_rel_dynamic_array_len(list) / sizeof(u32), sizeof(long)", "2 8"},
        {"\"%s\", __print_array(__get_rel_dynamic_array(list), 2, 4)", "7 9"},
        {"\"%s\", __print_array(__get_rel_dynamic_array(list), 1000000, 4)", "7 9"},
        {"\"%s %s\", __print_hex(REC->v4, 3), __print_hex_str(REC->v4, 4)", "c0 00 02 c0000201"},
        {"\"%pI4 %pi4 %pI6 %pI6c\", REC->v4, REC->v4, REC->v6, REC->v6",
         "192.0.2.1 192.000.002.001 2001:0db8:0000:0000:0000:0000:0000:0001 2001:db8::1"},
        {"\"%pUb %pUl %pM\", REC->v6, REC->v6, REC->v4",
         "20010db8-0000-0000-0000-000000000001 b80d0120-0000-0000-0000-000000000001 INVALIDMAC"},
        {"\"%p %pS %ps %p\", REC->ip, REC->ip, (void *)REC->ip, 0",
         "0xffff0010 schedule+0x10 schedule (nil)"},
        {"\"%pS %ps %pF %pf\", 0, 0, 0, 0", "0x0 0x0 0x0 0x0"},
        {"\"%s\", REC->ip", "End of it"},
        {"\"%s\", REC->state", "fffffffffffffffb"},
        {"\"%d %s\", __builtin_expect(!!(REC->pid), 0) ? 1 : 2, (REC)->comm", "1 worker"},
        {"\"%s\" \" and %d\", REC->comm, REC->flag", "worker and 5"},
        {"\"%d\",\n REC->flag", "5"},
        {"\"nothing\"", "nothing"},
    };
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        scene s;
        char text[512];
        assert_int_equal(read_text(&s, fields, cases[i / 2].print, i % 2), PERFILE_OK);
        const size_t n =
            perfile_tracepoint_print(s.t, built(&s.payload), symbol, NULL, text, sizeof text);
        if (!s.f->print || strcmp(text, cases[i / 2].text) != 0)
            print_error("%s\n", cases[i / 2].print);
        assert_string_equal(text, cases[i / 2].text);
        assert_int_equal(n, strlen(text));
        done(&s);
    }
}

/* What cannot be evaluated is printed field by field. */
static void prints_fields(void **state)
{
    static const char *const unusable[] = {
        "\"%d\", some_function(REC->pid)",
        "\"%d\", ({ int x = 1; x; })",
        "\"%d %d\", REC->pid",
        "\"%d\", REC->nothing",
        "\"%d\", (*)REC->pid",
        "\"%d\", (* int) 1",
        "\"%d\", (REC->pid",
        "\"%d\", REC->pid)",
        "\"%d\", 1 ? 2",
        "\"%d\", 1 : 2",
        "\"%q\", 1",
        "\"%1000d\", 1",
        "\"%d\", 1 +",
        "\"no end",
        "no text",
        "\"%s\", __print_flags(REC->pid, \"|\", { REC->pid, \"x\" })",
        "\"%s\", __print_flags(REC->pid)",
        "\"%s\", __print_symbolic(REC->pid, { 1, \"x\" )",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof unusable / sizeof unusable[0]; i++) {
        scene s;
        char text[1024];
        assert_int_equal(read_text(&s, fields, unusable[i], PF_NATIVE_BIG), PERFILE_OK);
        pf_trace_compile(s.f);
        assert_null(s.f->print);
        perfile_tracepoint_print(s.t, built(&s.payload), NULL, NULL, text, sizeof text);
        assert_string_equal(
            text, "[FAILED TO PARSE] comm=worker pid=-2 u=4294967280 state=0xfffffffffffffffb "
                  "name=disk list=ARRAY[07, 00, 00, 00, 09, 00, 00, 00] ip=0xffff0010 "
                  "v6=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 01] "
                  "v4=ARRAY[c0, 00, 02, 01] small=-3 pair=ARRAY[00, 01, 00, 02, 00, 03] odd=0 "
                  "flag=5 rest=xy");
        done(&s);
    }
}

/* Texts that are no description, or more than one may be. */
static void refused(void **state)
{
    static const char *const lines[] = {
        "\tfield:int;\toffset:0;\tsize:4;\tsigned:1;",
        "\tfield:int x;\tsize:4;\toffset:0;\tsigned:1;",
        "\tfield:int x;\toffset:0;\tsize:;\tsigned:1;",
        "\tfield:int x;\toffset:99999999;\tsize:4;\tsigned:1;",
        "\tfield:int x",
        "\tfield:;\toffset:0;\tsize:4;\tsigned:1;",
    };
    (void)state;
    scene s;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(read_text(&s, lines[i], "\"\"", false), PERFILE_E_CORRUPT);
        done(&s);
    }
    char name[400] = "\tfield:int ";
    memset(name + strlen(name), 'x', 200);
    strcat(name, ";\toffset:0;\tsize:4;");
    assert_int_equal(read_text(&s, name, "\"\"", false), PERFILE_E_CORRUPT);
    done(&s);
}

/* A print fmt of any length prints at most 8 KiB, and one of too many steps is not used. */
static void bounded(void **state)
{
    scene s;
    static char print[7000], text[PF_PRINT_MOST + 16];
    (void)state;
    strcpy(print, "\"");
    for (int i = 0; i < 40; i++)
        strcat(print, "%256d");
    strcat(print, "\"");
    for (int i = 0; i < 40; i++)
        strcat(print, ", 1");
    assert_int_equal(read_text(&s, fields, print, false), PERFILE_OK);
    assert_int_equal(
        perfile_tracepoint_print(s.t, built(&s.payload), NULL, NULL, text, sizeof text),
        PF_PRINT_ALWAYS + PF_PRINT_A_BYTE * built(&s.payload).len);
    done(&s);
    strcpy(print, "\"%d\", ");
    for (int i = 0; i < 100; i++)
        strcat(print, "(");
    strcat(print, "1");
    for (int i = 0; i < 100; i++)
        strcat(print, ")");
    assert_int_equal(read_text(&s, fields, print, false), PERFILE_OK);
    pf_trace_compile(s.f);
    assert_null(s.f->print);
    done(&s);
}

static void count(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)v;
    assert_true(strncmp(f->name, "common_", 7) != 0);
    ++*(unsigned *)user;
}

/* A capture: each sample has its tracepoint, and its fields are found by name. */
static void of_a_capture(void **state)
{
    static const perfile_visitor visitor = {.size = sizeof visitor, .value = count};
    perfile_source *source;
    perfile_stream *stream;
    perfile_tracepoints *all;
    const perfile_tracepoint *t = NULL, *same;
    const perfile_record *r;
    perfile_bytes payload;
    char text[256];
    unsigned n = 0, n_fields = 0;
    (void)state;
    char path[4096];
    const char *root = getenv("PERFILE_SOURCE");
    snprintf(path, sizeof path, "%s/samples/captures/pipe-tracepoints.data", root ? root : ".");
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &stream, NULL), PERFILE_OK);
    const perfile_session *session = perfile_stream_session(stream);
    assert_int_equal(perfile_tracepoints_open(session, &all, NULL), PERFILE_OK);
    assert_int_equal(pf_tracepoint_find(all, 12345678, &t, NULL), PERFILE_END);
    while (perfile_stream_next(stream, &r, NULL) == PERFILE_OK) {
        if (perfile_tracepoint_of(all, r, &t, &payload, NULL) != PERFILE_OK)
            continue;
        assert_int_equal(r->type, PERFILE_RECORD_SAMPLE);
        assert_string_equal(t->system, "sched");
        assert_int_equal(pf_tracepoint_find(all, t->id, &same, NULL), PERFILE_OK);
        assert_ptr_equal(t, same);
        assert_int_equal(perfile_tracepoint_walk(all, r, &visitor, &n_fields, NULL), PERFILE_OK);
        assert_true(perfile_tracepoint_print(t, payload, NULL, NULL, text, sizeof text) > 0);
        n += strstr(text, "prev_comm=") != NULL;
    }
    assert_true(n > 0 && n_fields >= 7 * n);
    perfile_tracepoints_close(all);
    perfile_tracepoints_close(NULL);
    perfile_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),        cmocka_unit_test(outside), cmocka_unit_test(prints),
        cmocka_unit_test(prints_fields), cmocka_unit_test(refused), cmocka_unit_test(bounded),
        cmocka_unit_test(of_a_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
