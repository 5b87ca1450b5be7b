/* Symbols: what names an address, and what does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crc32.h"
#include "core/session.h"
#include "elf_made.h"
#include "perfile/perfile.h"
#include "symbol/helper.h"
#include "symbol/elf.h"
#include "symbol/state.h"
#include "symbol/command.h"

static const uint8_t id_a[20] = {0xaa, 1, 2, 3, [19] = 9}, id_b[20] = {0xbb, 1, 2, 3, [19] = 9};

static perfile_bytes bytes_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* The name at an address of a table; "?" for none. */
static const char *at(const pf_symtab *t, uint64_t addr)
{
    const pf_sym *s = pf_symtab_find(t, addr);
    return s ? pf_symtab_name(t, s) : "?";
}

/* A table of an ELF file with these symbols. */
static void load(pf_symtab *t, const elf_made *m)
{
    BUILDER b = {0};
    pf_elf elf;
    elf_make(&b, m);
    pf_symfile f = pf_symfile_memory(built(&b));
    assert_int_equal(pf_elf_open(&elf, &f, NULL), PERFILE_OK);
    assert_int_equal(elf.is64, m->is64);
    assert_int_equal(elf.n_segments, 1);
    assert_int_equal(elf.segments[0].vaddr, ELF_BASE);
    assert_int_equal(elf.build_id_size, m->build_id ? 20 : 0);
    const pf_elf_section *s = pf_elf_section_of_type(&elf, PF_SHT_SYMTAB);
    assert_non_null(s);
    *t = (pf_symtab){0};
    assert_int_equal(pf_elf_add_symbols(&elf, s, PERFILE_SYMBOL_SYMTAB, t), PERFILE_OK);
    pf_symtab_settle(t, PF_RULES_ELF);
    assert_int_equal(pf_elf_add_plt(&elf, t), PERFILE_OK);
    pf_elf_close(&elf);
    pf_symtab_settle(t, PF_RULES_ELF);
    assert_int_equal(pf_symtab_index(t), PERFILE_OK);
}

/* Each rule of table.c by which one of several symbols names an address. */
static void rules(void **state)
{
    (void)state;
    static const elf_symbol symbols[] = {
        {"outer", 0x100, 0x100, ELF_GLOBAL_FUNC},
        {"inner", 0x140, 0x20, ELF_GLOBAL_FUNC},
        {"innermost", 0x148, 8, ELF_LOCAL_FUNC},
        {"empty", 0x300, 0, ELF_GLOBAL_FUNC},
        {"sized", 0x300, 0x10, ELF_WEAK_FUNC},
        {"weak", 0x320, 0x10, ELF_WEAK_FUNC},
        {"local", 0x320, 0x10, ELF_LOCAL_FUNC},
        {"loc", 0x340, 0x10, ELF_LOCAL_FUNC},
        {"glob", 0x340, 0x10, ELF_GLOBAL_FUNC},
        {"__name", 0x360, 0x10, ELF_GLOBAL_FUNC},
        {"name", 0x360, 0x10, ELF_GLOBAL_FUNC},
        {"short", 0x380, 0x10, ELF_GLOBAL_FUNC},
        {"longer", 0x380, 0x10, ELF_GLOBAL_FUNC},
        {"one", 0x3a0, 0x10, ELF_GLOBAL_FUNC},
        {"two", 0x3a0, 0x10, ELF_GLOBAL_FUNC},
        {"SyS_x", 0x3c0, 0x10, ELF_GLOBAL_FUNC},
        {"sys_x", 0x3c0, 0x10, ELF_GLOBAL_FUNC},
        {"label", 0x3e0, 0, 0x10},
        {"object", 0x3f0, 0x10, 0x11},
        {"tls", 0x3f0, 0x10, 0x16},
        {"last", 0x800, 0, ELF_GLOBAL_FUNC},
    };
    static const struct {
        uint64_t addr;
        const char *name;
    } wanted[] = {
        {0xff, "?"},      {0x100, "outer"},     {0x13f, "outer"},     {0x140, "inner"},
        {0x147, "inner"}, {0x148, "innermost"}, {0x14f, "innermost"}, {0x150, "inner"},
        {0x15f, "inner"}, {0x160, "outer"},     {0x1ff, "outer"},     {0x200, "?"},
        {0x300, "sized"}, {0x310, "?"},         {0x320, "local"},     {0x340, "glob"},
        {0x360, "name"},  {0x380, "longer"},    {0x3a0, "one"},       {0x3c0, "sys_x"},
        {0x3e0, "label"}, {0x3ef, "label"},     {0x3f0, "object"},    {0x400, "?"},
        {0x800, "last"},  {0x1fff, "last"},     {0x2000, "?"},
    };
    for (unsigned form = 0; form < 4; form++) {
        pf_symtab t;
        load(&t, &(elf_made){.is64 = form & 1,
                             .big = form & 2,
                             .symbols = symbols,
                             .n = sizeof symbols / sizeof symbols[0]});
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            assert_string_equal(at(&t, ELF_BASE + wanted[i].addr), wanted[i].name);
        assert_string_equal(at(&t, 0), "?");
        assert_string_equal(at(&t, UINT64_MAX), "?");
        pf_symtab_free(&t);
    }
}

/* Entries of procedure linkage tables, of each machine whose layout is known, and of one where the
 * header of the section says it.  An entry of an IFUNC has no name but "@plt". */
static void linkage_tables(void **state)
{
    (void)state;
    static const elf_symbol symbols[] = {{"malloc", 0x100, 0x10, ELF_GLOBAL_FUNC},
                                         {"free", 0x110, 0x10, ELF_GLOBAL_FUNC},
                                         {"before", 0x3ff0, 0, ELF_GLOBAL_FUNC}};
    static const uint32_t plt[] = {2, 0, 1, 77};
    static const struct {
        uint16_t machine;
        bool is64, big;
        uint64_t head, width, entsize;
    } machines[] = {
        {PF_EM_X86_64, true, false, 16, 16, 16}, {PF_EM_386, false, false, 16, 16, 4},
        {PF_EM_AARCH64, true, false, 32, 16, 0}, {PF_EM_ARM, false, false, 20, 12, 4},
        {PF_EM_SPARC, false, true, 48, 12, 0},   {PF_EM_SPARCV9, true, true, 128, 32, 0},
        {22 /* s390x */, true, true, 32, 32, 32}};
    for (size_t i = 0; i < 2 * sizeof machines / sizeof machines[0]; i++) {
        pf_symtab t;
        const uint64_t head = machines[i / 2].head, width = machines[i / 2].width;
        const uint64_t at_plt = ELF_BASE + ELF_PLT, first = at_plt + head;
        elf_made m = {.is64 = machines[i / 2].is64,
                      .big = machines[i / 2].big,
                      .machine = machines[i / 2].machine,
                      .symbols = symbols,
                      .n = 3,
                      .plt = plt,
                      .n_plt = 4,
                      .plt_head = head,
                      .plt_width = width,
                      .plt_entsize = machines[i / 2].entsize,
                      .rel = i % 2,
                      .second = i % 2};
        load(&t, &m);
        assert_string_equal(at(&t, at_plt + head - 1), "before");
        assert_string_equal(at(&t, first), "free@plt");
        assert_string_equal(at(&t, first + width - 1), "free@plt");
        assert_string_equal(at(&t, first + width), "@plt");
        assert_string_equal(at(&t, first + 2 * width), "malloc@plt");
        assert_string_equal(at(&t, first + 3 * width), "before"); /* there is no symbol 77 */
        assert_string_equal(at(&t, ELF_BASE + ELF_PLT_SEC), m.second ? "free@plt" : "?");
        assert_string_equal(at(&t, ELF_BASE + ELF_PLT_SEC + 2 * width),
                            m.second ? "malloc@plt" : "?");
        pf_symtab_free(&t);
        /* Relocations of a static program say nothing about entries. */
        m.undynamic = true;
        load(&t, &m);
        assert_string_equal(at(&t, first + width), "before");
        pf_symtab_free(&t);
    }
}

/* Marks of code and data are no symbols where they are used. */
static void mapping_symbols(void **state)
{
    (void)state;
    static const elf_symbol symbols[] = {{"f", 0x100, 0x40, ELF_GLOBAL_FUNC},
                                         {"$x", 0x100, 0, 0},
                                         {"$d.1", 0x120, 0, 0},
                                         {"$data", 0x130, 8, ELF_LOCAL_FUNC}};
    pf_symtab t;
    load(&t, &(elf_made){.is64 = true, .machine = PF_EM_AARCH64, .symbols = symbols, .n = 4});
    assert_string_equal(at(&t, ELF_BASE + 0x100), "f");
    assert_string_equal(at(&t, ELF_BASE + 0x121), "f");
    assert_string_equal(at(&t, ELF_BASE + 0x131), "$data");
    pf_symtab_free(&t);
    load(&t, &(elf_made){.is64 = true, .symbols = symbols, .n = 4});
    assert_string_equal(at(&t, ELF_BASE + 0x121), "$d.1");
    pf_symtab_free(&t);
    /* The lowest bit of an address says Thumb. */
    static const elf_symbol thumb[] = {{"t", 0x101, 0x10, ELF_GLOBAL_FUNC}};
    load(&t, &(elf_made){.machine = PF_EM_ARM, .symbols = thumb, .n = 1});
    assert_string_equal(at(&t, ELF_BASE + 0x100), "t");
    assert_string_equal(at(&t, ELF_BASE + 0x110), "?");
    pf_symtab_free(&t);
}

/* Segments are what a search through all symbols says: the last that covers the address. */
static void segments(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (unsigned round = 0; round < 300; round++) {
        pf_symtab t = {0};
        uint32_t name;
        assert_int_equal(pf_symtab_text(&t, bytes_of("x"), &name), PERFILE_OK);
        for (unsigned i = 0; i < round % 23; i++) {
            random = random * 1664525 + 1013904223;
            uint64_t start = random >> 24, size = (random >> 16 & 63) + 1;
            assert_int_equal(
                pf_symtab_add(&t, (pf_sym){.start = start, .end = start + size, .name = name}),
                PERFILE_OK);
        }
        pf_symtab_settle(&t, PF_RULES_ELF);
        assert_int_equal(pf_symtab_index(&t), PERFILE_OK);
        for (uint64_t addr = 0; addr < 400; addr++) {
            const pf_sym *wanted = NULL;
            for (size_t i = 0; i < t.n; i++)
                if (t.syms[i].start <= addr && addr < t.syms[i].end)
                    wanted = &t.syms[i];
            assert_ptr_equal(pf_symtab_find(&t, addr), wanted);
        }
        pf_symtab_free(&t);
    }
}

static void kallsyms(void **state)
{
    (void)state;
    pf_symtab t = {0};
    static const char text[] = "ffffffff81000000 T _text\n"
                               "ffffffff81000100 t local_one\r\n"
                               "ffffffff81000100 T global_one\n"
                               "ffffffff81000200 W weak_one\n"
                               "ffffffff81000200 r read_only\n"
                               "ffffffff81000280 t $x\n"
                               "no number at all\n"
                               "ffffffff81000300\n"
                               "fffffffff81000300 T too_long\n"
                               "ffffffff81000400 T end_of_kernel\n"
                               "ffffffffc0000000 t in_module\t[some_module]\n"
                               "ffffffffc0000040 t too\t[some_module]\n"
                               "ffffffffc0100000 t in_other [other]";
    assert_int_equal(pf_kallsyms_add(&t, bytes_of(text)), PERFILE_OK);
    pf_symtab_settle(&t, PF_RULES_KALLSYMS);
    assert_int_equal(pf_symtab_index(&t), PERFILE_OK);
    assert_string_equal(at(&t, 0xffffffff810000ff), "_text");
    assert_string_equal(at(&t, 0xffffffff81000100), "global_one");
    assert_string_equal(at(&t, 0xffffffff810003ff), "weak_one");
    assert_string_equal(at(&t, 0xffffffff81001fff), "end_of_kernel");
    assert_string_equal(at(&t, 0xffffffff81002000), "?");
    assert_string_equal(at(&t, 0xffffffffc0000041), "too");
    const pf_sym *s = pf_symtab_find(&t, 0xffffffffc0000000);
    assert_non_null(s);
    assert_string_equal(t.names + s->module, "some_module");
    assert_string_equal(t.names + pf_symtab_find(&t, 0xffffffffc0100000)->module, "other");
    pf_symtab_free(&t);
    /* What the kernel shows to those who may not know. */
    assert_int_equal(pf_kallsyms_add(&t, bytes_of("0000000000000000 T a\n0000000000000000 t b\n")),
                     PERFILE_OK);
    assert_int_equal(t.n, 0);
    pf_symtab_free(&t);
}

static void perf_map(void **state)
{
    (void)state;
    pf_symtab t = {0};
    static const char text[] = "7f0000001000 20 first\n"
                               "0x7f0000001020 0x10 with a blank and 0x\n"
                               "7f0000001000 30 compiled again\n"
                               "7f0000002000 0 empty\n"
                               "7f0000003000 10\n"
                               "zzz 10 no number\n"
                               "ffffffffffffffff 10 too far\n"
                               "7f0000004000 10 without end";
    assert_int_equal(pf_perf_map_add(&t, bytes_of(text)), PERFILE_OK);
    pf_symtab_settle(&t, PF_RULES_PERF_MAP);
    assert_int_equal(pf_symtab_index(&t), PERFILE_OK);
    assert_int_equal(t.n, 3);
    assert_string_equal(at(&t, 0x7f0000001000), "compiled again");
    assert_string_equal(at(&t, 0x7f0000001021), "with a blank and 0x");
    assert_string_equal(at(&t, 0x7f0000002000), "?");
    assert_string_equal(at(&t, 0x7f000000400f), "without end");
    pf_symtab_free(&t);
}

static void demangling(void **state)
{
    (void)state;
    char bomb[1024] = "_Z1f";
    pf_helper h;
    pf_helper_init(&h, NULL);
    if (!pf_can_demangle()) {
        assert_null(pf_demangle_one(&h, "_ZN1a1bEv"));
        assert_int_equal(pf_symbols_built_in() & PF_SYMBOLS_DEMANGLE, 0);
        return;
    }
    assert_int_equal(pf_symbols_built_in() & PF_SYMBOLS_DEMANGLE, PF_SYMBOLS_DEMANGLE);
    static const char *const names[][2] = {
        {"_ZN5outer3BoxIiE4spinEi", "outer::Box<int>::spin"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *shown = pf_demangle_one(&h, names[i][0]);
        assert_non_null(shown);
        assert_string_equal(shown, names[i][1]);
    }
    assert_null(pf_demangle_one(&h, "main"));
    assert_null(pf_demangle_one(&h, "_Z"));
    assert_null(pf_demangle_one(&h, "_ZN"));
    /* Each pair has the one before it twice: the whole text would have more bytes than there are
     * atoms.  Template arguments are shown, parameters are not. */
    strcpy(bomb, "_Z1fI1PI1QS0_E");
    for (char digit = '0'; digit <= '9'; digit++)
        snprintf(bomb + strlen(bomb), sizeof bomb - strlen(bomb), "1PIS%c_S%c_E", digit, digit);
    for (char digit = 'A'; digit <= 'Z'; digit++)
        snprintf(bomb + strlen(bomb), sizeof bomb - strlen(bomb), "1PIS%c_S%c_E", digit, digit);
    strcat(bomb, "Evv");
    pf_demangle_one(&h, bomb); /* comes back */
    pf_helper_free(&h);
}

/* Files as they lie on a machine, below the folder of the test. */
static void put_file(const char *path, const elf_made *m)
{
    BUILDER b = {0};
    elf_make(&b, m);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.b.ptr, b.b.len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const elf_symbol two[] = {{"first", 0x1000, 0x100, ELF_GLOBAL_FUNC},
                                 {"second", 0x1200, 0x100, ELF_GLOBAL_FUNC}};

static void put_files(void)
{
    mkdir("root", 0755);
    mkdir("root/bin", 0755);
    mkdir("cache", 0755);
    mkdir("cache/.build-id", 0755);
    mkdir("cache/.build-id/bb", 0755);
    mkdir("cache/.build-id/bb/01020300000000000000000000000000000009", 0755);
    put_file("root/bin/a", &(elf_made){.is64 = true, .build_id = id_a, .symbols = two, .n = 2});
    put_file("root/bin/plain", &(elf_made){.is64 = true, .symbols = two, .n = 2});
    put_file("cache/.build-id/bb/01020300000000000000000000000000000009/elf",
             &(elf_made){.is64 = true, .big = true, .build_id = id_b, .symbols = two, .n = 2});
    put_text("root/bin/text", "This is no ELF file.\n");
    put_text("kallsyms", "ffffffff81000000 T _text\nffffffff81001000 T do_it\n"
                         "ffffffffc0000000 t mod_it\t[some_module]\n");
    put_text("perf-42.map", "7f0000000100 20 compiled\n");
}

typedef struct asked {
    perfile_session *session;
    perfile_symbols *symbols;
} asked;

static void open_symbols(asked *a, const perfile_limits *limits)
{
    static const char *const dirs[] = {"cache"};
    perfile_symbols_options o = {.size = sizeof o,
                                 .flags = PERFILE_SYMBOLS_GIVEN_ONLY,
                                 .symfs = "root",
                                 .debug_dirs = dirs,
                                 .n_debug_dirs = 1,
                                 .kallsyms = "kallsyms",
                                 .perf_map_dir = ".",
                                 .limits = limits};
    put_files();
    assert_int_equal(perfile_session_open(NULL, &a->session, NULL), PERFILE_OK);
    assert_int_equal(perfile_symbols_open(a->session, &o, &a->symbols, NULL), PERFILE_OK);
}

static void close_symbols(asked *a)
{
    perfile_symbols_close(a->symbols);
    perfile_session_close(a->session);
}

static perfile_symbol ask(const asked *a, const perfile_mapping *m, uint64_t addr)
{
    perfile_symbol s;
    assert_int_equal(perfile_symbols_find(a->symbols, m, addr, PERFILE_NO_TIME, &s, NULL),
                     PERFILE_OK);
    assert_non_null(s.module);
    assert_true(!s.name == (s.origin == PERFILE_SYMBOL_NOTHING));
    assert_true(!s.name == (s.reason != PERFILE_SYMBOL_FOUND));
    assert_non_null(perfile_symbol_reason_text(s.reason));
    assert_non_null(perfile_symbol_origin_text(s.origin));
    return s;
}

static perfile_mapping mapping(const char *name, const uint8_t *id)
{
    perfile_mapping m = {.pid = 42,
                         .tid = 42,
                         .addr = 0x7f0000000000,
                         .len = 0x4000,
                         .pgoff = 0x1000,
                         .name = name,
                         .cpumode = 2};
    if (id)
        memcpy(m.build_id, id, 20);
    m.build_id_size = id ? 20 : 0;
    return m;
}

static void elf_files(void **state)
{
    (void)state;
    asked a;
    open_symbols(&a, NULL);
    perfile_mapping m = mapping("/bin/a", id_a);
    perfile_symbol s = ask(&a, &m, 0x7f0000000210);
    assert_string_equal(s.name, "second");
    assert_string_equal(s.mangled, "second");
    assert_string_equal(s.module, "a");
    assert_string_equal(s.file, "root/bin/a");
    assert_int_equal(s.offset, 0x1210);
    assert_int_equal(s.start, 0x7f0000000200);
    assert_int_equal(s.size, 0x100);
    assert_int_equal(s.origin, PERFILE_SYMBOL_SYMTAB);
    assert_true(s.verified);
    s = ask(&a, &m, 0x7f0000000100);
    assert_int_equal(s.reason, PERFILE_SYMBOL_NO_SYMBOL_HERE);
    char text[64];
    assert_int_equal(perfile_symbol_text(&s, text, sizeof text), strlen("[a+0x1100]"));
    assert_string_equal(text, "[a+0x1100]");
    assert_int_equal(perfile_symbol_text(&s, text, 4), strlen("[a+0x1100]"));
    assert_string_equal(text, "[a+");

    m = mapping("/bin/a", NULL); /* the path alone */
    s = ask(&a, &m, 0x7f0000000000);
    assert_string_equal(s.name, "first");
    assert_false(s.verified);
    m = mapping("/bin/plain", id_a); /* the file has no build id */
    assert_int_equal(ask(&a, &m, 0x7f0000000000).reason, PERFILE_SYMBOL_OTHER_BUILD);
    m = mapping("/bin/a", id_b); /* another build at the path; the right one is in the cache */
    s = ask(&a, &m, 0x7f0000000000);
    assert_string_equal(s.name, "first");
    assert_memory_equal(s.file, "cache/", 6);
    static const uint8_t id_c[20] = {0xcc, [19] = 9};
    m = mapping("/bin/a", id_c);
    s = ask(&a, &m, 0x7f0000000000);
    assert_int_equal(s.reason, PERFILE_SYMBOL_OTHER_BUILD);
    assert_string_equal(s.module, "a");
    m = mapping("/bin/nothing", NULL);
    assert_int_equal(ask(&a, &m, 0x7f0000000000).reason, PERFILE_SYMBOL_NO_FILE);
    m = mapping("/bin", NULL);
    assert_int_equal(ask(&a, &m, 0x7f0000000000).reason, PERFILE_SYMBOL_NO_FILE);
    m = mapping("/bin/text", NULL);
    assert_int_equal(ask(&a, &m, 0x7f0000000000).reason, PERFILE_SYMBOL_DAMAGED);
    s = ask(&a, NULL, 0x1234);
    assert_int_equal(s.reason, PERFILE_SYMBOL_NO_MAPPING);
    assert_int_equal(s.offset, 0x1234);
    close_symbols(&a);
}

/* An entry of feature BUILD_ID: the kernel. */
static void put_kernel(pf_buffer *b, const uint8_t *id)
{
    enum { SIZE = 60, NAME_AT = 36 };
    uint8_t entry[SIZE] = {[4] = 1, [6] = SIZE};
    memset(entry + 8, 0xff, 4); /* pid -1 */
    memcpy(entry + 12, id, 20);
    entry[32] = 20;
    strcpy((char *)entry + NAME_AT, "[kernel.kallsyms]");
    assert_true(pf_buffer_append(b, entry, sizeof entry));
}

/* The name of an address of the kernel where a capture lists these kernels. */
static perfile_symbol ask_kernel(const uint8_t *one, const uint8_t *other)
{
    static const char *const dirs[] = {"cache"};
    const perfile_session_options so = {.size = sizeof so, .byte_order = PERFILE_BYTE_ORDER_LITTLE};
    const perfile_symbols_options o = {.size = sizeof o,
                                       .flags = PERFILE_SYMBOLS_GIVEN_ONLY,
                                       .debug_dirs = dirs,
                                       .n_debug_dirs = 1};
    const perfile_mapping m = {.pid = PERFILE_NO_PID,
                               .cpumode = 1,
                               .addr = 0xffffffff81000000,
                               .len = 0x1000000,
                               .pgoff = 0xffffffff81000000,
                               .name = "[kernel.kallsyms]_text"};
    pf_buffer ids = {0};
    asked a;
    put_kernel(&ids, one);
    if (other)
        put_kernel(&ids, other);
    assert_int_equal(perfile_session_open(&so, &a.session, NULL), PERFILE_OK);
    assert_int_equal(perfile_session_set_feature(a.session, PERFILE_FEATURE_BUILD_ID,
                                                 (perfile_bytes){ids.ptr, ids.len}, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_symbols_open(a.session, &o, &a.symbols, NULL), PERFILE_OK);
    perfile_symbol s = ask(&a, &m, 0xffffffff81001004);
    s.name = s.name && strcmp(s.name, "do_it") == 0 ? "do_it" : NULL; /* it is released now */
    close_symbols(&a);
    pf_buffer_free(&ids);
    return s;
}

/* Of several kernels, as what was merged may have, nobody knows which one an address is of. */
static void kernels(void **state)
{
    (void)state;
    put_files();
    put_text("cache/.build-id/bb/01020300000000000000000000000000000009/kallsyms",
             "ffffffff81000000 T _text\nffffffff81001000 T do_it\n");
    assert_string_equal(ask_kernel(id_b, NULL).name, "do_it");
    assert_string_equal(ask_kernel(id_b, id_b).name, "do_it");
    const perfile_symbol s = ask_kernel(id_b, id_a);
    assert_null(s.name);
    assert_int_equal(s.reason, PERFILE_SYMBOL_OTHER_BUILD);
}

/* The kernel's own file in a debug directory, if it has the build id of the capture. */
static void kernel_file(void **state)
{
    (void)state;
    static const char file[] = "cache/.build-id/bb/01020300000000000000000000000000000009/elf";
    static const elf_symbol symbols[] = {{"_text", 0, 0x1000, ELF_GLOBAL_FUNC},
                                         {"do_it", 0x1000, 0x100, ELF_GLOBAL_FUNC}};
    elf_made m = {.is64 = true, .build_id = id_b, .symbols = symbols, .n = 2};
    put_files();
    unlink("cache/.build-id/bb/01020300000000000000000000000000000009/kallsyms");
    put_file(file, &m);
    const perfile_symbol s = ask_kernel(id_b, NULL);
    assert_string_equal(s.name, "do_it");
    assert_true(s.verified);
    assert_int_equal(s.origin, PERFILE_SYMBOL_DEBUG_FILE);
    assert_int_equal(s.start, 0xffffffff81001000);
    m.build_id = id_a;
    put_file(file, &m);
    assert_null(ask_kernel(id_b, NULL).name);
    m.build_id = id_b;
    m.bare = true;
    put_file(file, &m);
    assert_null(ask_kernel(id_b, NULL).name);
    put_text(file, "This is no ELF file.\n");
    assert_null(ask_kernel(id_b, NULL).name);
}

/* A stripped file without a build id names its debug file and the checksum of that. */
static void debug_links(void **state)
{
    (void)state;
    static const char *const places[] = {"root/bin/linked.debug", "root/bin/.debug/linked.debug",
                                         "cache/bin/linked.debug"};
    enum { PLACES = sizeof places / sizeof places[0] };
    const elf_made debug = {.is64 = true, .symbols = two, .n = 2};
    elf_made m = {.is64 = true, .bare = true, .has_link = true, .own = "linked.debug"};
    const perfile_mapping at = mapping("/bin/linked", NULL);
    BUILDER whole = {0};
    asked a;
    elf_make(&whole, &debug);
    put_files();
    mkdir("root/bin/.debug", 0755);
    mkdir("cache/bin", 0755);
    const uint32_t crc = pf_crc32(0, built(&whole));
    for (size_t i = 0; i <= PLACES; i++) { /* the last time it has another checksum */
        const char *place = places[i % PLACES];
        pf_store_u32(m.own + 16, i == PLACES ? ~crc : crc, PF_NATIVE_BIG);
        put_file("root/bin/linked", &m);
        put_file(place, &debug);
        open_symbols(&a, NULL);
        const perfile_symbol s = ask(&a, &at, 0x7f0000000210);
        if (i < PLACES) {
            assert_string_equal(s.name, "second");
            assert_string_equal(s.file, place);
            assert_int_equal(s.origin, PERFILE_SYMBOL_DEBUG_FILE);
        } else {
            assert_null(s.name);
        }
        close_symbols(&a);
        assert_int_equal(unlink(place), 0);
    }
    /* Names that lead elsewhere are not followed. */
    strcpy((char *)m.own, "../../cache");
    put_file("root/bin/linked", &m);
    open_symbols(&a, NULL);
    assert_null(ask(&a, &at, 0x7f0000000210).name);
    close_symbols(&a);
}

/* Where PowerPC's symbols are descriptors of functions, the code is where these say. */
static void descriptors(void **state)
{
    (void)state;
    static const elf_symbol symbols[] = {{"first", ELF_OPD, 0x100, ELF_GLOBAL_FUNC},
                                         {"cut", ELF_OPD + 32, 0x10, ELF_GLOBAL_FUNC}};
    elf_made m = {
        .is64 = true, .big = true, .machine = 21, .symbols = symbols, .n = 2, .has_opd = true};
    const perfile_mapping at = mapping("/bin/power", NULL);
    asked a;
    pf_store_u64(m.own, ELF_BASE + 0x1000, !PF_NATIVE_BIG);
    put_files();
    put_file("root/bin/power", &m);
    open_symbols(&a, NULL);
    const perfile_symbol s = ask(&a, &at, 0x7f0000000010);
    assert_string_equal(s.name, "first");
    assert_int_equal(s.start, 0x7f0000000000);
    assert_int_equal(s.size, 0x100);
    assert_null(ask(&a, &at, 0x7f0000000110).name);
    close_symbols(&a);
}

/* Counts of sections that do not fit the header of the file are in the first section. */
static void many_sections(void **state)
{
    (void)state;
    enum { TABLE = 40, COUNT = 60, NAMES = 62, SIZE = 32, LINK = 40 };
    const perfile_mapping at = mapping("/bin/sections", NULL);
    asked a;
    BUILDER b = {0};
    elf_make(&b, &(elf_made){.is64 = true, .symbols = two, .n = 2});
    const size_t table = (size_t)pf_load_u64(b.b.ptr + TABLE, b.swap);
    build_u64_at(&b, table + SIZE, pf_load_u16(b.b.ptr + COUNT, b.swap));
    build_u16_at(&b, table + LINK, pf_load_u16(b.b.ptr + NAMES, b.swap));
    build_u16_at(&b, COUNT, 0);
    build_u16_at(&b, NAMES, 0xffff);
    put_files();
    FILE *f = fopen("root/bin/sections", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.b.ptr, b.b.len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    open_symbols(&a, NULL);
    assert_string_equal(ask(&a, &at, 0x7f0000000210).name, "second");
    close_symbols(&a);
}

static void other_sources(void **state)
{
    (void)state;
    asked a;
    open_symbols(&a, NULL);
    perfile_mapping m = mapping("//anon", NULL);
    perfile_symbol s = ask(&a, &m, 0x7f0000000101);
    assert_string_equal(s.name, "compiled");
    assert_int_equal(s.origin, PERFILE_SYMBOL_PERF_MAP);
    assert_string_equal(s.module, "//anon");
    m.name = "[heap]"; /* the same file */
    assert_string_equal(ask(&a, &m, 0x7f0000000101).name, "compiled");
    m.pid = 43;
    assert_int_equal(ask(&a, &m, 0x7f0000000101).reason, PERFILE_SYMBOL_NO_FILE);

    /* The kernel lay 0x1000000 higher when it was recorded. */
    m = (perfile_mapping){.pid = PERFILE_NO_PID,
                          .cpumode = 1,
                          .addr = 0xffffffff82000000,
                          .len = 0x1000000,
                          .pgoff = 0xffffffff82000000,
                          .name = "[kernel.kallsyms]_text"};
    s = ask(&a, &m, 0xffffffff82001004);
    assert_string_equal(s.name, "do_it");
    assert_string_equal(s.module, "[kernel.kallsyms]");
    assert_int_equal(s.offset, 0x1004);
    assert_int_equal(s.start, 0xffffffff82001000);
    m = (perfile_mapping){.pid = PERFILE_NO_PID,
                          .cpumode = 1,
                          .addr = 0xffffffffc0000000,
                          .len = 0x1000,
                          .name = "/lib/modules/x/some-module.ko.xz"};
    assert_string_equal(ask(&a, &m, 0xffffffffc0000000).name, "mod_it");
    m.name = "[other_module]";
    assert_int_equal(ask(&a, &m, 0xffffffffc0000000).reason, PERFILE_SYMBOL_NO_SYMBOL_HERE);
    m.cpumode = 4; /* of a guest, whose kernel is another one */
    m.name = "[some_module]";
    assert_int_equal(ask(&a, &m, 0xffffffffc0000000).reason, PERFILE_SYMBOL_NO_FILE);

    m = (perfile_mapping){.pid = PERFILE_NO_PID,
                          .cpumode = 1,
                          .addr = 0xffffffffa0000000,
                          .len = 0x40,
                          .name = "bpf_prog_1",
                          .kind = PERFILE_MAPPING_SYMBOL};
    s = ask(&a, &m, 0xffffffffa0000010);
    assert_string_equal(s.name, "bpf_prog_1");
    assert_int_equal(s.offset, 0x10);
    assert_int_equal(s.size, 0x40);
    close_symbols(&a);
}

static void add_feature(const asked *a, uint32_t number, const builder *payload)
{
    perfile_feature f = {
        .number = number, .size = payload->b.len, .payload = built(payload), .session = a->session};
    assert_int_equal(pf_session_add_feature(a->session, &f, false, NULL), PERFILE_OK);
}

static void put_cstr(builder *b, const char *text)
{
    build_bytes(b, text, strlen(text) + 1);
}

/* A file of feature FILE: its code begins at 0x2000 in memory, and at 0x1000 in the file. */
static void put_captured(builder *b, const char *path, uint32_t type)
{
    BUILDER one = {0};
    put_cstr(&one, path);
    build_u32(&one, type);
    build_u64(&one, 0x2000);
    build_u32(&one, 2);
    build_u64(&one, 0x2100);
    build_u32(&one, 0x10);
    put_cstr(&one, "captured");
    build_u64(&one, 0x2200);
    build_u32(&one, 0x10);
    put_cstr(&one, "_ZN1a1bEv");
    if (type == PF_DSO_ELF_FILE)
        build_u64(&one, 0x1000);
    if (type == PF_DSO_DEX_FILE)
        build_u32(&one, 0);
    build_u32(b, (uint32_t)one.b.len);
    build_bytes(b, one.b.ptr, one.b.len);
}

/* The symbols that simpleperf stores in features FILE and FILE2. */
static void captured(void **state)
{
    (void)state;
    asked a;
    BUILDER file = {0}, file2 = {0};
    /* path; type 2; min_vaddr 0x2000; a symbol at 0x2100 of 16 bytes; elf_file: offset 0x1000 */
    static const uint8_t message[] = "\x0a\x04/two"
                                     "\x10\x02"
                                     "\x18\x80\x40"
                                     "\x22\x0a\x08\x80\x42\x10\x10\x1a\x03one"
                                     "\x32\x03\x08\x80\x20";
    open_symbols(&a, NULL);
    perfile_mapping m = mapping("/bin/a", id_a);
    assert_int_equal(ask(&a, &m, 0x7f0000000210).origin, PERFILE_SYMBOL_SYMTAB);
    put_captured(&file, "/data/lib.so", PF_DSO_ELF_FILE);
    put_captured(&file, "/data/map", PF_DSO_SYMBOL_MAP_FILE);
    put_captured(&file, "/data/code.dex", PF_DSO_DEX_FILE);
    build_u32(&file2, sizeof message - 1);
    build_bytes(&file2, message, sizeof message - 1);
    add_feature(&a, PERFILE_FEATURE_FILE, &file);
    add_feature(&a, PERFILE_FEATURE_FILE2, &file2);

    m = mapping("/data/lib.so", NULL);
    perfile_symbol s = ask(&a, &m, 0x7f0000000104);
    assert_string_equal(s.name, "captured");
    assert_int_equal(s.origin, PERFILE_SYMBOL_CAPTURE);
    assert_int_equal(s.start, 0x7f0000000100);
    assert_true(s.verified);
    s = ask(&a, &m, 0x7f0000000200);
    assert_string_equal(s.name, pf_can_demangle() ? "a::b" : "_ZN1a1bEv");
    assert_int_equal(pf_symbols_too_costly(a.symbols), 0);
    assert_string_equal(s.mangled, "_ZN1a1bEv");
    assert_int_equal(ask(&a, &m, 0x7f0000000110).reason, PERFILE_SYMBOL_NO_SYMBOL_HERE);
    m = mapping("/data/code.dex", NULL); /* symbols by offset in the file */
    assert_string_equal(ask(&a, &m, 0x7f0000001100).name, "captured");
    m = mapping("/data/map", NULL); /* by address */
    m.addr = 0x2000;
    assert_string_equal(ask(&a, &m, 0x2100).name, "captured");
    m = mapping("/two", NULL);
    assert_string_equal(ask(&a, &m, 0x7f000000010f).name, "one");
    close_symbols(&a);
}

/* Files of FILE2: a module of the kernel, whose code is where it was loaded; symbols without a
 * length reach to the next one; what people are shown comes before demangling; the first file of a
 * path counts, and files without symbols are none. */
static void captured_modules(void **state)
{
    (void)state;
    /* path; type 1; min_vaddr 0x100; symbols: _ZN1a1bEv at 0x200, shown as "b()", 16 bytes; "open"
     * at 0x300 and "next" at 0x340, of no length; kernel_module: memory offset 0x40 */
    static const uint8_t module[] = "\x0a\x05[mod]"
                                    "\x10\x01"
                                    "\x18\x80\x02"
                                    "\x22\x15\x08\x80\x04\x10\x10\x1a\x09_ZN1a1bEv\x22\x03"
                                    "b()"
                                    "\x22\x09\x08\x80\x06\x1a\x04open"
                                    "\x22\x09\x08\xc0\x06\x1a\x04next"
                                    "\x3a\x02\x08\x40";
    static const uint8_t again[] = "\x0a\x05[mod]"
                                   "\x10\x01"
                                   "\x22\x0a\x08\x80\x04\x10\x10\x1a\x03two";
    static const uint8_t bare[] = "\x0a\x05/bare"
                                  "\x10\x02";
    BUILDER b = {0};
    asked a;
    const perfile_bytes messages[] = {
        {module, sizeof module - 1}, {again, sizeof again - 1}, {bare, sizeof bare - 1}};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        build_u32(&b, (uint32_t)messages[i].len);
        build_bytes(&b, messages[i].ptr, messages[i].len);
    }
    open_symbols(&a, NULL);
    add_feature(&a, PERFILE_FEATURE_FILE2, &b);
    /* The module was loaded to this address; its code is at 0x100 - 0x40 of its symbols there. */
    const perfile_mapping m = {.pid = PERFILE_NO_PID,
                               .cpumode = 1,
                               .addr = 0xffffffffc0000000,
                               .len = 0x1000,
                               .name = "[mod]"};
    const uint64_t shift = m.addr - (0x100 - 0x40);
    perfile_symbol s = ask(&a, &m, shift + 0x20f);
    assert_string_equal(s.name, "b()");
    assert_int_equal(s.start, shift + 0x200);
    assert_int_equal(s.origin, PERFILE_SYMBOL_CAPTURE);
    assert_int_equal(ask(&a, &m, shift + 0x210).reason, PERFILE_SYMBOL_NO_SYMBOL_HERE);
    assert_string_equal(ask(&a, &m, shift + 0x33f).name, "open");
    assert_string_equal(ask(&a, &m, shift + 0x340).name, "next");
    const perfile_mapping none = mapping("/bare", NULL);
    assert_int_equal(ask(&a, &none, 0x7f0000000100).reason, PERFILE_SYMBOL_NO_FILE);
    close_symbols(&a);
}

/* A debug file alone names the code of a mapping that is as long as its only executable segment, in
 * pages of some size. */
static void debug_file_alone(void **state)
{
    (void)state;
    static const uint8_t id[20] = {0xdd, 1, 2, 3, [19] = 9};
    static const char path[] = "cache/.build-id/dd/01020300000000000000000000000000000009.debug";
    static const struct {
        uint64_t len;
        bool fits;
    } cases[] = {{ELF_SEGMENT, true}, {ELF_SEGMENT - 0x1000, false}, {ELF_SEGMENT * 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        asked a;
        open_symbols(&a, NULL);
        mkdir("cache/.build-id/dd", 0755);
        put_file(path, &(elf_made){.is64 = true, .build_id = id, .symbols = two, .n = 2});
        perfile_mapping m = mapping("/bin/gone", id);
        m.len = cases[i].len;
        m.pgoff = 0x7000; /* says nothing: the debug file has lost the offsets */
        const perfile_symbol s = ask(&a, &m, m.addr + 0x1210);
        if (cases[i].fits) {
            assert_string_equal(s.name, "second");
            assert_string_equal(s.file, path);
            assert_int_equal(s.start, m.addr + 0x1200);
            assert_int_equal(s.origin, PERFILE_SYMBOL_DEBUG_FILE);
            assert_true(s.verified);
        } else {
            assert_int_equal(s.reason, PERFILE_SYMBOL_NO_SYMBOL_HERE);
        }
        close_symbols(&a);
    }
    unlink(path);
}

/* Entries of a PLT are shown by the demangled name of what they call, announced or not. */
static void mangled_plt(void **state)
{
    (void)state;
    static const elf_symbol symbols[] = {{"_ZN1a1bEv", 0x100, 0x10, ELF_GLOBAL_FUNC},
                                         {"_ZN1a1cEv", 0x110, 0x10, ELF_GLOBAL_FUNC}};
    static const uint32_t entries[] = {1, 2};
    perfile_mapping m = mapping("/bin/plt", NULL);
    for (unsigned announced = 0; announced < 2; announced++) {
        asked a;
        open_symbols(&a, NULL);
        put_file("root/bin/plt", &(elf_made){.is64 = true,
                                             .machine = PF_EM_X86_64,
                                             .symbols = symbols,
                                             .n = 2,
                                             .plt = entries,
                                             .n_plt = 2,
                                             .plt_head = 16,
                                             .plt_width = 16,
                                             .plt_entsize = 16});
        m.pgoff = 0;
        const uint64_t at = m.addr + ELF_PLT + 16;
        m.len = ELF_SEGMENT;
        for (unsigned i = 0; announced && i < 3; i++) /* the same more than once */
            pf_symbols_expect(a.symbols, &m, at);
        perfile_symbol s = ask(&a, &m, at + 16);
        assert_string_equal(s.name, pf_can_demangle() ? "a::c@plt" : "_ZN1a1cEv@plt");
        assert_string_equal(s.mangled, "_ZN1a1cEv@plt");
        s = ask(&a, &m, at);
        assert_string_equal(s.name, pf_can_demangle() ? "a::b@plt" : "_ZN1a1bEv@plt");
        assert_string_equal(ask(&a, &m, m.addr + 0x100).name,
                            pf_can_demangle() ? "a::b" : "_ZN1a1bEv");
        close_symbols(&a);
    }
}

/* A link, and what a process with `root` as its root directory would find by it. */
static void link_text(const char *target, const char *path)
{
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

/* Paths of captures and links in folders do not lead out of --symfs and debug directories. */
static void stays_inside(void **state)
{
    (void)state;
    static int (*const ways[])(const char *, const char *, int) = {pf_open_inside,
                                                                   pf_open_inside_by_hand};
    char folder[PATH_MAX], outside[PATH_MAX + 16];
    put_files();
    put_file("secret", &(elf_made){.is64 = true, .build_id = id_a, .symbols = two, .n = 2});
    put_text("root/near", "near");
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(outside, sizeof outside, "%s/secret", folder);
    link_text(outside, "root/absolute");
    link_text("../secret", "root/relative");
    link_text("../../../../../near", "root/bin/up");
    link_text("/bin/up", "root/bin/again");
    link_text("loop", "root/loop");
    link_text("/bin", "root/folder");
    static const struct {
        const char *path;
        bool is_there;
    } cases[] = {{"/absolute", false},
                 {"/relative", false},
                 {"/../secret", false},
                 {"/bin/../../secret", false},
                 {"/loop", false},
                 {"/near", true},
                 {"near", true},
                 {"/../near", true},
                 {"/bin/up", true},
                 {"/bin/again", true},
                 {"/folder/up", true},
                 {"//bin/./../near", true},
                 {"/folder/../near", true},
                 {"/near/x", false},
                 {"/nothing/../near", false}};
    for (size_t way = 0; way < 2; way++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            int fd = ways[way]("root", cases[i].path, O_RDONLY | O_CLOEXEC);
            assert_int_equal(fd >= 0, cases[i].is_there);
            if (fd >= 0)
                close(fd);
        }
    for (size_t way = 0; way < 2;
         way++) { /* links on the way are followed, one at the end is not */
        assert_int_equal(ways[way]("root", "/folder/up", O_RDONLY | O_NOFOLLOW | O_CLOEXEC), -1);
        const int fd = ways[way]("root", "/folder/../near", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        assert_true(fd >= 0);
        close(fd);
    }

    asked a;
    open_symbols(&a, NULL);
    static const char *const names[] = {"/../secret", "/absolute", "/relative"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        perfile_mapping m = mapping(names[i], id_a);
        assert_int_equal(ask(&a, &m, 0x7f0000000210).reason, PERFILE_SYMBOL_NO_FILE);
    }
    assert_int_equal(rename("secret", "x.debug"), 0); /* a debug file beside the directory */
    perfile_mapping m = mapping("/../x", id_a);
    assert_int_equal(ask(&a, &m, 0x7f0000000210).reason, PERFILE_SYMBOL_NO_FILE);
    close_symbols(&a);
}

/* A map that others can have written is not read from a folder that they can write to. */
static void distrusted_maps(void **state)
{
    (void)state;
    const char *refused;
    pf_symfile f;
    put_text("perf-1.map", "100 20 name\n");
    chmod("perf-1.map", 0644);
    assert_true(pf_symfile_open_own(&f, "perf-1.map", 0, 0, &refused));
    assert_null(refused);
    pf_symfile_close(&f);
    chmod("perf-1.map", 0666);
    assert_false(pf_symfile_open_own(&f, "perf-1.map", 0, 0, &refused));
    assert_string_equal(refused, "every user may write it");
    if (geteuid() ==
        0) { /* may give files away: to the group of root, to another, to another user */
        assert_int_equal(chown("perf-1.map", 0, 0), 0);
        chmod("perf-1.map", 0664);
        assert_true(pf_symfile_open_own(&f, "perf-1.map", 0, 0, &refused));
        pf_symfile_close(&f);
        assert_int_equal(chown("perf-1.map", 0, 1), 0);
        assert_false(pf_symfile_open_own(&f, "perf-1.map", 0, 0, &refused));
        assert_string_equal(refused, "other users of its group may write it");
        assert_int_equal(chown("perf-1.map", 54321, 0), 0);
        chmod("perf-1.map", 0644);
        assert_false(pf_symfile_open_own(&f, "perf-1.map", 0, 0, &refused));
        assert_string_equal(refused, "it belongs to another user");
        assert_true(pf_symfile_open_own(&f, "perf-1.map", 0, 54321, &refused));
        pf_symfile_close(&f);
        assert_int_equal(chown("perf-1.map", 0, 0), 0);
    }
    chmod("perf-1.map", 0644);
    link_text("perf-1.map", "perf-2.map");
    assert_false(pf_symfile_open_own(&f, "perf-2.map", 0, 0, &refused));
    assert_string_equal(refused, "it is a symbolic link");
    assert_false(pf_symfile_open_own(&f, "./perf-2.map", 1, 0, &refused));
    assert_string_equal(refused, "it is a symbolic link");
    assert_false(pf_symfile_open_own(&f, "perf-3.map", 0, 0, &refused));
    assert_null(refused);
    assert_int_equal(mkfifo("perf-4.map", 0644), 0);
    assert_false(pf_symfile_open_own(&f, "perf-4.map", 0, 0, &refused)); /* comes back */
    assert_string_equal(refused, "it is not a regular file");
    unlink("perf-4.map");
}

/* A stripped file is named by an unstripped one of its build id, also where perf's cache has it as
 * `elf`; the default directories are searched after the given ones. */
static void stripped(void **state)
{
    (void)state;
    asked a;
    open_symbols(&a, NULL);

    put_file("root/bin/bare", &(elf_made){.is64 = true, .build_id = id_b, .bare = true});
    perfile_mapping m = mapping("/bin/bare", id_b);
    perfile_symbol s = ask(&a, &m, 0x7f0000000210);
    assert_string_equal(s.name, "second");
    assert_memory_equal(s.file, "cache/", 6);
    close_symbols(&a);

    static const char *const dirs[] = {"nothing"};
    perfile_symbols_options o = {
        .size = sizeof o, .symfs = "root", .debug_dirs = dirs, .n_debug_dirs = 1};
    mkdir("root/usr", 0755);
    mkdir("root/usr/lib", 0755);
    unlink("root/usr/lib/debug");
    assert_int_equal(rename("cache", "root/usr/lib/debug"), 0);
    assert_int_equal(perfile_session_open(NULL, &a.session, NULL), PERFILE_OK);
    assert_int_equal(perfile_symbols_open(a.session, &o, &a.symbols, NULL), PERFILE_OK);
    assert_string_equal(ask(&a, &m, 0x7f0000000210).name, "second");
    close_symbols(&a);
    assert_int_equal(rename("root/usr/lib/debug", "cache"), 0);
}

/* One file under many names is loaded once; each name is a module of its own. */
static void one_file(void **state)
{
    (void)state;
    static const char *const names[] = {"/bin/a", "/bin/./a", "//bin/a", "/bin/../bin/a",
                                        "/bin/hard"};
    asked a;
    open_symbols(&a, NULL);
    unlink("root/bin/hard");
    assert_int_equal(link("root/bin/a", "root/bin/hard"), 0);
    const char *first = NULL;
    for (unsigned with_id = 0; with_id < 2; with_id++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            perfile_mapping m = mapping(names[i], with_id ? id_a : NULL);
            perfile_symbol s = ask(&a, &m, 0x7f0000000210);
            assert_string_equal(s.name, "second");
            assert_int_equal(s.verified, with_id);
            first = first ? first : s.mangled;
            assert_ptr_equal(s.mangled, first); /* of the same table */
        }
        perfile_mapping m = mapping("/bin/hard", with_id ? id_a : NULL);
        assert_string_equal(ask(&a, &m, 0x7f0000000210).module, "hard");
        m = mapping("/bin/plain", NULL); /* another file */
        assert_ptr_not_equal(ask(&a, &m, 0x7f0000000210).mangled, first);
    }
    perfile_mapping m = mapping("/bin/hard", id_b); /* the file, but of another build */
    m.ino = 0;
    assert_memory_equal(ask(&a, &m, 0x7f0000000210).file, "cache/", 6);
    unlink("root/bin/hard");
    static const uint8_t short_id[20] = {0xcc, 1, 2, 3};
    put_file("root/bin/c", &(elf_made){.is64 = true, .build_id = short_id, .symbols = two, .n = 2});
    first = NULL;
    for (uint8_t size = 4; size <= 20; size++) { /* the same build id in many lengths */
        m = mapping("/bin/c", short_id);
        m.build_id_size = size;
        const char *mangled = ask(&a, &m, 0x7f0000000210).mangled;
        assert_non_null(mangled);
        first = first ? first : mangled;
        assert_ptr_equal(mangled, first);
    }
    close_symbols(&a);
}

/* Of many segments each is found by its offset, whatever their order is, those that share bytes of
 * the file and those of the same offset included. */
static void many_segments(void **state)
{
    (void)state;
    enum { N = 5000, STEP = 0x1000 };
    pf_elf_segment *segments = pf_alloc(N + 2, sizeof *segments);
    assert_non_null(segments);
    pf_elf elf = {.segments = segments, .n_segments = N + 2};
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t place = i * 7 % N; /* each once, in no order */
        segments[i] = (pf_elf_segment){.type = PF_PT_LOAD,
                                       .offset = place * STEP,
                                       .vaddr = place * STEP + 0x70000000,
                                       .filesz = STEP - 0x10,
                                       .memsz = STEP};
    }
    segments[N] = segments[0]; /* a shorter one of the same offset, which gives way */
    segments[N].filesz = 0x10;
    segments[N].vaddr = 1;
    segments[N + 1] = (pf_elf_segment){.type = PF_PT_LOAD + 1, .offset = 0, .filesz = UINT64_MAX};
    pf_symbol_object o = {.reason = 0};
    assert_int_equal(pf_keep_segments(&o, &elf, true), PERFILE_OK);
    assert_int_equal(o.n_segments, N);
    const perfile_mapping m = {.addr = 0x10000, .len = N * STEP};
    for (uint64_t i = 0; i < N; i++) {
        uint64_t at;
        assert_true(pf_symbol_address(&o, &m, 0x10000 + i * STEP + 0x20, &at));
        assert_int_equal(at, i * STEP + 0x70000020);
        assert_false(pf_symbol_address(&o, &m, 0x10000 + i * STEP + STEP - 0x10, &at));
    }
    uint64_t at;
    assert_false(pf_symbol_address(&o, &m, 0x10000 + (uint64_t)N * STEP, &at));
    pf_budget_free(NULL, o.segments, o.segments_cap, sizeof *o.segments);
    pf_free(segments);
}

/* Names are cut where they enter a table, one by one or as a file has them; so many symbols of one
 * address are no more work than as many of different ones. */
static void long_names(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, MANY = 20000 };
    char *text = pf_alloc(LONG + 1, 1);
    pf_symtab t = {0};
    uint32_t base, one;
    assert_non_null(text);
    memset(text, '_', LONG);
    memcpy(text, "short", sizeof "short");
    const perfile_bytes names = {(const uint8_t *)text, LONG + 1};
    assert_int_equal(pf_symtab_texts(&t, names, &base), PERFILE_OK);
    assert_int_equal(pf_symtab_text(&t, (perfile_bytes){names.ptr + 6, LONG - 6}, &one),
                     PERFILE_OK);
    assert_string_equal(t.names + base, "short");
    assert_int_equal(strlen(t.names + one), PF_SYMBOL_NAME);
    assert_string_equal(t.names + one + PF_SYMBOL_NAME - 4, "_...");
    for (uint32_t i = 0; i < MANY; i++) {
        pf_sym sym = {.start = 0x100, .end = 0x110, .name = base + 6 + i * 7};
        sym.binding = PF_BIND_GLOBAL;
        assert_in_range(strlen(t.names + sym.name), 0, PF_SYMBOL_NAME);
        assert_int_equal(pf_symtab_add(&t, sym), PERFILE_OK);
    }
    pf_symtab_settle(&t, PF_RULES_ELF);
    assert_int_equal(t.n, 1);
    pf_symtab_free(&t);
    pf_free(text);
}

/* Whatever allocation fails: the status says so, and the next query answers. */
static void no_memory(void **state)
{
    (void)state;
    asked a;
    perfile_symbol s;
    perfile_mapping m = mapping("/bin/a", id_a);
    for (uint64_t fail = 1;; fail++) {
        open_symbols(&a, NULL);
        pf_alloc_fail_at = pf_alloc_count + fail;
        perfile_status st =
            perfile_symbols_find(a.symbols, &m, 0x7f0000000210, PERFILE_NO_TIME, &s, NULL);
        bool failed = pf_alloc_count >= pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        if (failed && st != PERFILE_OK)
            assert_int_equal(st, PERFILE_E_NOMEM);
        assert_string_equal(ask(&a, &m, 0x7f0000000210).name, "second");
        close_symbols(&a);
        if (!failed)
            break;
    }
}

/* A limit below what a file needs is an answer. */
static void limited(void **state)
{
    (void)state;
    asked a;
    perfile_limits limits = {.size = sizeof limits, .symbol_bytes = 1 << 20};
    open_symbols(&a, &limits);
    perfile_mapping m = mapping("/bin/a", id_a);
    assert_string_equal(ask(&a, &m, 0x7f0000000210).name, "second");
    close_symbols(&a);
    unsigned refused = 0;
    for (limits.symbol_bytes = 1 << 15; limits.symbol_bytes > 64; limits.symbol_bytes -= 64) {
        static const char *const dirs[] = {"cache"};
        perfile_symbols_options o = {.size = sizeof o,
                                     .symfs = "root",
                                     .debug_dirs = dirs,
                                     .n_debug_dirs = 1,
                                     .limits = &limits,
                                     .flags = PERFILE_SYMBOLS_GIVEN_ONLY};
        perfile_error err;
        assert_int_equal(perfile_session_open(NULL, &a.session, NULL), PERFILE_OK);
        perfile_status st = perfile_symbols_open(a.session, &o, &a.symbols, &err);
        if (st == PERFILE_OK) {
            perfile_symbol s = ask(&a, &m, 0x7f0000000210);
            assert_true(s.name || s.reason == PERFILE_SYMBOL_TOO_LARGE);
            assert_string_equal(s.module, "a");
            refused += !s.name;
            perfile_symbols_close(a.symbols);
        } else {
            assert_int_equal(st, PERFILE_E_LIMIT);
            assert_string_equal(err.where, "symbol_bytes");
        }
        perfile_session_close(a.session);
    }
    assert_true(refused > 10);
}

/* Build ids of other hashes than SHA-1 may be padded. */
static void build_ids(void **state)
{
    (void)state;
    static const uint8_t a[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t b[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 0, 1};
    char text[42];
    assert_true(pf_same_build_id(a, 20, a, 16));
    assert_true(pf_same_build_id(a, 16, a, 20));
    assert_false(pf_same_build_id(a, 16, b, 20));
    assert_false(pf_same_build_id(a, 20, b, 20));
    assert_false(pf_same_build_id(a, 0, a, 0));
    assert_true(pf_build_id_path(a, 3, text, sizeof text));
    assert_string_equal(text, "01/0203");
    assert_false(pf_build_id_path(a, 20, text, sizeof text - 1));
    assert_false(pf_build_id_path(a, 1, text, sizeof text));
}

/* The mapping of this process that has an address. */
static bool own_mapping(uint64_t addr, perfile_mapping *m, char name[PATH_MAX])
{
    char line[PATH_MAX + 128];
    unsigned long long start, end, offset;
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && !found && fgets(line, sizeof line, f))
        found =
            sscanf(line, "%llx-%llx %*s %llx %*s %*s %[^\n]", &start, &end, &offset, name) == 4 &&
            start <= addr && addr < end;
    if (f)
        fclose(f);
    if (found)
        *m = (perfile_mapping){.pid = (uint32_t)getpid(),
                               .tid = (uint32_t)getpid(),
                               .addr = start,
                               .len = end - start,
                               .pgoff = offset,
                               .name = name,
                               .cpumode = 2};
    return found;
}

/* True if a file has debug information. */
static bool has_debug_info(const char *path)
{
    pf_symfile f;
    pf_elf elf;
    assert_true(pf_symfile_open(&f, path));
    assert_int_equal(pf_elf_open(&elf, &f, NULL), PERFILE_OK);
    const bool has = pf_elf_section_named(&elf, ".debug_info") != NULL;
    pf_elf_close(&elf);
    pf_symfile_close(&f);
    return has;
}

/* Places in the source, of this program: asked twice for each address, and again after the process
 * that reads debug information has died. */
static void own_places(void **state)
{
    (void)state;
    const int line = __LINE__; /* a few lines below the beginning of this function */
    const uint64_t addr = (uintptr_t)own_places;
    char name[PATH_MAX];
    perfile_mapping m;
    if (!own_mapping(addr, &m, name)) {
        print_message("there is no /proc/self/maps: not tried\n");
        return;
    }
    const bool wanted = pf_symbols_built_in() & PF_SYMBOLS_SOURCE && has_debug_info(name);
    for (unsigned round = 0; round < 3; round++) {
        const perfile_limits limits = {.size = sizeof limits,
                                       .symbol_bytes = round == 2 ? 1 << 16 : 0};
        const perfile_symbols_options o = {.size = sizeof o, .limits = &limits};
        const perfile_source_place *places, *again;
        size_t n, n_again;
        asked a;
        assert_int_equal(perfile_session_open(NULL, &a.session, NULL), PERFILE_OK);
        assert_int_equal(perfile_symbols_open(a.session, &o, &a.symbols, NULL), PERFILE_OK);
        if (round == 1 && wanted) {
            assert_int_equal(perfile_symbols_source(a.symbols, &m, (uintptr_t)has_debug_info,
                                                    PERFILE_NO_TIME, &places, &n, NULL),
                             PERFILE_OK);
            assert_int_equal(n, 1);
            assert_int_equal(kill(a.symbols->helper.pid, SIGKILL), 0);
        }
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(
                perfile_symbols_source(a.symbols, &m, addr, PERFILE_NO_TIME, &places, &n, NULL),
                PERFILE_OK);
            assert_int_equal(n, wanted && round < 2); /* in the last round there is no room */
            if (!n)
                continue;
            if (places[0].function) /* there may be line numbers alone */
                assert_string_equal(places[0].function, "own_places");
            assert_non_null(places[0].file);
            assert_non_null(strstr(places[0].file, "test_symbol.c"));
            assert_in_range(places[0].line, line - 4, line);
            assert_false(places[0].is_inlined);
        }
        assert_int_equal(
            perfile_symbols_source(a.symbols, &m, addr, PERFILE_NO_TIME, &again, &n_again, NULL),
            PERFILE_OK);
        assert_ptr_equal(again, places); /* kept, not found again */
        assert_int_equal(n_again, n);
        close_symbols(&a);
    }
}

static void usage(void **state)
{
    (void)state;
    perfile_session *session;
    perfile_symbols *symbols;
    perfile_error err;
    perfile_symbols_options o = {.size = sizeof o, .flags = 1U << 31};
    assert_int_equal(perfile_session_open(NULL, &session, NULL), PERFILE_OK);
    assert_int_equal(perfile_symbols_open(session, &o, &symbols, &err), PERFILE_E_USAGE);
    o = (perfile_symbols_options){.size = sizeof o, .n_debug_dirs = 1};
    assert_int_equal(perfile_symbols_open(session, &o, &symbols, &err), PERFILE_E_USAGE);
    put_text("empty", "");
    o = (perfile_symbols_options){.size = sizeof o, .kallsyms = "empty"};
    assert_int_equal(perfile_symbols_open(session, &o, &symbols, &err), PERFILE_E_IO);
    o.kallsyms = "is not there";
    assert_int_equal(perfile_symbols_open(session, &o, &symbols, &err), PERFILE_E_IO);
    assert_null(perfile_symbol_reason_text(99));
    assert_null(perfile_symbol_origin_text(99));
    perfile_symbols_close(NULL);
    perfile_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),           cmocka_unit_test(linkage_tables),
        cmocka_unit_test(mapping_symbols), cmocka_unit_test(segments),
        cmocka_unit_test(kallsyms),        cmocka_unit_test(perf_map),
        cmocka_unit_test(demangling),      cmocka_unit_test(elf_files),
        cmocka_unit_test(other_sources),   cmocka_unit_test(captured),
        cmocka_unit_test(no_memory),       cmocka_unit_test(limited),
        cmocka_unit_test(build_ids),       cmocka_unit_test(usage),
        cmocka_unit_test(kernels),         cmocka_unit_test(stripped),
        cmocka_unit_test(stays_inside),    cmocka_unit_test(distrusted_maps),
        cmocka_unit_test(long_names),      cmocka_unit_test(many_segments),
        cmocka_unit_test(one_file),        cmocka_unit_test(kernel_file),
        cmocka_unit_test(debug_links),     cmocka_unit_test(descriptors),
        cmocka_unit_test(many_sections),   cmocka_unit_test(captured_modules),
        cmocka_unit_test(own_places),      cmocka_unit_test(debug_file_alone),
        cmocka_unit_test(mangled_plt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
