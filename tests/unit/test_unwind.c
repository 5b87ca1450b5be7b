/* Unwinding: rules of hand-made call frame information, applied to hand-made stacks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cfi_made.h"
#include "perfile/perfile.h"
#include "symbol/state.h"
#include "symbol/unwind.h"

#define STACK UINT64_C(0x7ffc00001000)
#define CODE  UINT64_C(0x555500000000) /* where offset 0 of the file is mapped */
enum { PID = 7 };

/* A section of its own memory. */
static void open_section(pf_cfi *cfi, bool eh, bool aarch64, bool swap)
{
    BUILDER b = {.swap = swap};
    cfi_section(&b, eh, aarch64, CFI_BASE + CFI_AT);
    *cfi = (pf_cfi){.addr = CFI_BASE + CFI_AT, .eh = eh, .swap = swap, .is64 = true};
    cfi->section.ptr = pf_alloc(b.b.len, 1);
    cfi->section.len = b.b.len;
    assert_non_null(cfi->section.ptr);
    memcpy(cfi->section.ptr, b.b.ptr, b.b.len);
    assert_int_equal(pf_cfi_index(cfi), PERFILE_OK);
}

/* The offset of the CFA from a register at an address. */
static void check_cfa(pf_cfi *cfi, uint64_t at, uint8_t reg, int64_t offset, unsigned n)
{
    pf_unwind_rule rule = {0};
    pf_where wheres[PF_UNWIND_REGS];
    assert_true(pf_cfi_rule(cfi, CFI_BASE + at, &rule, wheres));
    assert_int_equal(rule.cfa.kind, PF_WHERE_REGISTER_OFFSET);
    assert_int_equal(rule.cfa.reg, reg);
    assert_int_equal(rule.cfa.value, offset);
    assert_int_equal(rule.n, n);
}

/* What holds where in a function, in both sections and byte orders. */
static void rules(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++) {
        pf_cfi cfi;
        pf_unwind_rule rule = {0};
        pf_where wheres[PF_UNWIND_REGS];
        open_section(&cfi, form & 1, false, form & 2);
        assert_int_equal(cfi.n, sizeof cfi_x86_64 / sizeof cfi_x86_64[0]);
        check_cfa(&cfi, CFI_LEAF, 7, 8, 1);
        check_cfa(&cfi, CFI_LEAF + CFI_SIZE - 1, 7, 8, 1);
        check_cfa(&cfi, CFI_FRAME + 3, 7, 8, 1);
        check_cfa(&cfi, CFI_FRAME + 4, 7, 16, 2);
        check_cfa(&cfi, CFI_FRAME + 8, 6, 16, 2);
        check_cfa(&cfi, CFI_FRAME + 16, 7, 8, 2);
        check_cfa(&cfi, CFI_FRAME + 24, 6, 16, 2);
        assert_false(pf_cfi_rule(&cfi, CFI_BASE + CFI_LEAF - 1, &rule, wheres));
        assert_false(pf_cfi_rule(&cfi, CFI_BASE + CFI_BARE, &rule, wheres));
        assert_false(pf_cfi_rule(&cfi, CFI_BASE + CFI_OVERFLOW, &rule, wheres));
        assert_false(pf_cfi_rule(&cfi, 0, &rule, wheres));
        assert_false(pf_cfi_rule(&cfi, UINT64_MAX, &rule, wheres));
        assert_true(pf_cfi_rule(&cfi, CFI_BASE + CFI_SIGNAL, &rule, wheres));
        assert_int_equal(rule.is_signal, form & 1);
        pf_cfi_free(&cfi);
    }
}

/* Numbers of more bytes than 64 bits need are damage, so that each costs a bounded time. */
static void long_numbers(void **state)
{
    (void)state;
    static const uint8_t longest[] = {0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
                         longer[] = {0x81, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x00},
                         minus[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    pf_cursor c = pf_cur((perfile_bytes){longest, sizeof longest}, false);
    assert_int_equal(pf_cur_uleb(&c), 1);
    assert_false(c.bad);
    c = pf_cur((perfile_bytes){minus, sizeof minus}, false);
    assert_int_equal(pf_cur_sleb(&c), -2);
    assert_false(c.bad);
    c = pf_cur((perfile_bytes){minus, 1}, false);
    (void)pf_cur_sleb(&c);
    assert_true(c.bad);
    c = pf_cur((perfile_bytes){longer, sizeof longer}, false);
    (void)pf_cur_uleb(&c);
    assert_true(c.bad);
    c = pf_cur((perfile_bytes){longer, sizeof longer}, false);
    (void)pf_cur_sleb(&c);
    assert_true(c.bad);
}

/* Opens a little-endian section .eh_frame. */
static void open_made(pf_cfi *cfi, const builder *b)
{
    *cfi = (pf_cfi){.eh = true, .is64 = true, .swap = PF_NATIVE_BIG};
    cfi->section = (pf_piece){.ptr = pf_alloc(b->b.len, 1), .len = b->b.len};
    assert_non_null(cfi->section.ptr);
    memcpy(cfi->section.ptr, b->b.ptr, b->b.len);
    assert_int_equal(pf_cfi_index(cfi), PERFILE_OK);
}

/* The entries of a section: a common one, and that of a function with the program. */
static void make_cfi(pf_cfi *cfi, const builder *program)
{
    static const uint8_t common[] = {0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0};
    BUILDER b = {.swap = PF_NATIVE_BIG};
    build_u32(&b, sizeof common);
    build_bytes(&b, common, sizeof common);
    build_u32(&b, (uint32_t)(20 + program->b.len));
    build_u32(&b, sizeof common + 8);
    build_u64(&b, 0x1000);
    build_u64(&b, 0x10000);
    build_bytes(&b, program->b.ptr, program->b.len);
    open_made(cfi, &b);
    assert_int_equal(cfi->n, 1);
}

/* Each instruction of a program, as it changes register 3 or the CFA of the code at 0x1100. */
static void instructions(void **state)
{
    (void)state;
    enum { FUNCTION = 0x1000, PROGRAM_AT = 44, CFA = 99, NONE = 98 };
    static const struct {
        uint8_t bytes[14];
        uint8_t n, what; /* the register; CFA; NONE: there is no rule */
        uint8_t kind, reg;
        int64_t value;
    } cases[] = {
        {{0x83, 2}, 2, 3, PF_WHERE_SAVED, 3, -16},
        {{0x05, 3, 2}, 3, 3, PF_WHERE_SAVED, 3, -16},
        {{0x11, 3, 0x7e}, 3, 3, PF_WHERE_SAVED, 3, 16},
        {{0x2f, 3, 2}, 3, 3, PF_WHERE_SAVED, 3, 16},
        {{0x14, 3, 2}, 3, 3, PF_WHERE_CFA, 3, -16},
        {{0x15, 3, 0x7e}, 3, 3, PF_WHERE_CFA, 3, 16},
        {{0x07, 3}, 2, 3, PF_WHERE_UNDEFINED, 3, 0},
        {{0x09, 3, 5}, 3, 3, PF_WHERE_REGISTER, 3, 5},
        {{0x10, 3, 1, 0x35}, 4, 3, PF_WHERE_AT_EXPRESSION, 3, PROGRAM_AT + 2},
        {{0x16, 3, 1, 0x35}, 4, 3, PF_WHERE_IS_EXPRESSION, 3, PROGRAM_AT + 2},
        {{0x83, 2, 0x06, 3}, 4, 3, PF_WHERE_SAME, 0, 0},
        {{0x83, 2, 0xc3}, 3, 3, PF_WHERE_SAME, 0, 0},
        {{0x83, 2, 0x08, 3}, 4, 3, PF_WHERE_SAME, 0, 0},
        {{0x07, 16, 0x06, 16}, 4, 16, PF_WHERE_SAVED, 16, -8}, /* as the common entry says */
        {{0x2e, 8, 0x83, 2}, 4, 3, PF_WHERE_SAVED, 3, -16},
        /* To 0x10ff, 0x1100 and beyond. */
        {{0x02, 0xff, 0x83, 2}, 4, 3, PF_WHERE_SAVED, 3, -16},
        {{0x03, 0x00, 0x01, 0x83, 2}, 5, 3, PF_WHERE_SAVED, 3, -16},
        {{0x03, 0x01, 0x01, 0x83, 2}, 5, 3, PF_WHERE_SAME, 0, 0},
        {{0x04, 0x00, 0x01, 0, 0, 0x83, 2}, 7, 3, PF_WHERE_SAVED, 3, -16},
        {{0x04, 0x01, 0x01, 0, 0, 0x83, 2}, 7, 3, PF_WHERE_SAME, 0, 0},
        {{0x01, 0x00, 0x11, 0, 0, 0, 0, 0, 0, 0x83, 2}, 11, 3, PF_WHERE_SAVED, 3, -16},
        {{0x01, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0x83, 2}, 11, 3, PF_WHERE_SAME, 0, 0},
        {{0x0c, 6, 24}, 3, CFA, PF_WHERE_REGISTER_OFFSET, 6, 24},
        {{0x12, 6, 0x7e}, 3, CFA, PF_WHERE_REGISTER_OFFSET, 6, 16},
        {{0x13, 0x7d}, 2, CFA, PF_WHERE_REGISTER_OFFSET, 7, 24},
        {{0x0f, 1, 0x35}, 3, CFA, PF_WHERE_IS_EXPRESSION, 0, PROGRAM_AT + 1},
        {{0x0f, 1, 0x35, 0x13, 0x7d}, 5, NONE, 0, 0, 0}, /* an offset of no register */
        {{0x3e, 3, 2}, 3, NONE, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pf_cfi cfi;
        pf_unwind_rule rule = {0};
        pf_where wheres[PF_UNWIND_REGS], found = {0};
        BUILDER b = {0};
        build_bytes(&b, cases[i].bytes, cases[i].n);
        make_cfi(&cfi, &b);
        if (pf_cfi_rule(&cfi, FUNCTION + 0x100, &rule, wheres) != (cases[i].what != NONE))
            fail_msg("case %zu: rule or none", i);
        for (unsigned k = 0; k < rule.n; k++)
            if (wheres[k].reg == cases[i].what)
                found = wheres[k];
        if (cases[i].what == CFA)
            found = rule.cfa;
        if (found.kind != cases[i].kind || found.reg != cases[i].reg ||
            found.value != cases[i].value)
            fail_msg("case %zu: kind %u, register %u, value %lld", i, found.kind, found.reg,
                     (long long)found.value);
        pf_cfi_free(&cfi);
    }
}

/* Appends a common entry with that version and augmentation, and that of a function, whose address
 * and length are the bytes given. */
static void put_entries(builder *b, uint8_t version, const char *letters, const void *data,
                        uint8_t n_data, const void *range, size_t n_range)
{
    static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};
    const size_t common = b->b.len;
    build_u32(b, 0);
    build_u32(b, 0);
    build_u8(b, version);
    build_bytes(b, letters, strlen(letters) + 1);
    if (version == 4)
        build_bytes(b, data, 2);
    build_u8(b, 1);
    build_u8(b, 0x78);
    build_u8(b, 16);
    if (letters[0] == 'z') {
        build_u8(b, n_data);
        build_bytes(b, data, n_data);
    }
    build_bytes(b, program, sizeof program);
    cfi_end(b, common);
    const size_t start = b->b.len;
    build_u32(b, 0);
    build_u32(b, (uint32_t)(b->b.len - common));
    build_bytes(b, range, n_range);
    if (letters[0] == 'z')
        build_u8(b, 0);
    cfi_end(b, start);
}

/* Addresses in all encodings; letters of augmentations; versions. */
static void common_entries(void **state)
{
    (void)state;
    static const struct {
        uint8_t version;
        const char *letters;
        uint8_t data[8], n_data;
        uint8_t range[16], n_range;
        bool found; /* the function from 0x1000 to 0x1040 */
    } cases[] = {
        {1, "zR", {0x00}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, true},
        {1, "zR", {0x01}, 1, {0x80, 0x20, 0x40}, 3, true},
        {1, "zR", {0x02}, 1, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zR", {0x03}, 1, {0, 0x10, 0, 0, 0x40}, 8, true},
        {1, "zR", {0x04}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, true},
        {1, "zR", {0x09}, 1, {0x80, 0x20, 0xc0, 0}, 4, true},
        {1, "zR", {0x0a}, 1, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zR", {0x0b}, 1, {0, 0x10, 0, 0, 0x40}, 8, true},
        {1, "zR", {0x0c}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, true},
        {1, "zR", {0x05}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
        {1, "zR", {0x20}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false}, /* of a process */
        {1, "zR", {0x80}, 1, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
        {1, "zPLR", {0x03, 1, 2, 3, 4, 0x1b, 0x02}, 7, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zPLR", {0xff, 0x1b, 0x02}, 3, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zPLR", {0x05, 0x1b, 0x02}, 3, {0, 0x10, 0x40, 0}, 4, false},
        {1, "zRB", {0x02}, 1, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zRG", {0x02}, 1, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zR?", {0x02, 9, 9}, 3, {0, 0x10, 0x40, 0}, 4, true},
        {1, "zR", {0x02}, 0, {0, 0x10, 0x40, 0}, 4, false}, /* no byte for the letter */
        {1, "eh", {0}, 0, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
        {1, "zRRRRRRRR", {0x02}, 1, {0, 0x10, 0x40, 0}, 4, false},
        {3, "", {0}, 0, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, true},
        {4, "", {8, 0}, 2, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, true},
        {4, "", {4, 0}, 2, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
        {4, "", {8, 1}, 2, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
        {2, "", {0}, 0, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x40}, 16, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pf_cfi cfi;
        BUILDER b = {.swap = PF_NATIVE_BIG};
        put_entries(&b, cases[i].version, cases[i].letters, cases[i].data, cases[i].n_data,
                    cases[i].range, cases[i].n_range);
        open_made(&cfi, &b);
        if (cfi.n != cases[i].found)
            fail_msg("case %zu: %zu functions", i, cfi.n);
        if (cfi.n)
            check_cfa(&cfi, 0x1000 - CFI_BASE, 7, 8, 1);
        if (cfi.n && (cfi.entries[0].start != 0x1000 || cfi.entries[0].end != 0x1040))
            fail_msg("case %zu: from %llx to %llx", i, (unsigned long long)cfi.entries[0].start,
                     (unsigned long long)cfi.entries[0].end);
        pf_cfi_free(&cfi);
    }
}

/* Functions that the section has in another order than that of their addresses; an entry with a
 * length of 64 bits. */
static void order_of_entries(void **state)
{
    (void)state;
    static const uint8_t u16 = 0x02,
                         ranges[][4] = {{0, 0x30, 0x40, 0}, {0, 0x10, 0x40, 0}, {0, 0x20, 0x40, 0}};
    BUILDER b = {.swap = PF_NATIVE_BIG};
    pf_cfi cfi;
    for (size_t i = 0; i < 3; i++)
        put_entries(&b, 1, "zR", &u16, 1, ranges[i], sizeof ranges[i]);
    build_u32(&b, UINT32_MAX);
    build_u64(&b, 16);
    build_u32(&b, (uint32_t)b.b.len); /* the first common entry */
    build_bytes(&b, "\0\x50\x40\0\0\0\0\0\0\0\0\0", 12);
    open_made(&cfi, &b);
    assert_int_equal(cfi.n, 4);
    static const uint64_t starts[] = {0x1000, 0x2000, 0x3000, 0x5000};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(cfi.entries[i].start, starts[i]);
        check_cfa(&cfi, starts[i] + 0x3f - CFI_BASE, 7, 8, 1);
    }
    pf_cfi_free(&cfi);
}

/* What programs cost is bounded in bytes, for an address and for all of a section; rows that are
 * copied cost more than others. */
static void long_programs(void **state)
{
    (void)state;
    enum { MOST = 1 << 16, PAIR = 2 + 2 * 64 /* a row is remembered and restored */ };
    pf_cfi cfi;
    pf_unwind_rule rule = {0};
    pf_where wheres[PF_UNWIND_REGS];
    static const size_t lengths[] = {25000, MOST - 100, MOST + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        BUILDER b = {0};
        build_zeros(&b, lengths[i]);
        make_cfi(&cfi, &b);
        assert_int_equal(pf_cfi_rule(&cfi, 0x1100, &rule, wheres), lengths[i] < MOST);
        /* No matter how many addresses are asked for, there is an end. */
        size_t n = 0;
        while (n < 4096 && lengths[i] < MOST && pf_cfi_rule(&cfi, 0x1100 + n, &rule, wheres))
            n++;
        assert_in_range(n, lengths[i] < MOST ? 1000 : 0, lengths[i] < MOST ? 1300 : 0);
        pf_cfi_free(&cfi);
    }
    for (unsigned more = 0; more < 2; more++) {
        BUILDER b = {0};
        for (size_t i = 0; i < MOST / PAIR - 1 + 2 * more; i++) {
            build_u8(&b, 0x0a);
            build_u8(&b, 0x0b);
        }
        make_cfi(&cfi, &b);
        assert_int_equal(pf_cfi_rule(&cfi, 0x1100, &rule, wheres), !more);
        pf_cfi_free(&cfi);
    }
}

/* Operations of expressions, and what ends them. */
static void expressions(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16]; /* the length first */
        int end;
        uint64_t value;
    } cases[] = {
        {{1, 0x35}, PF_UNWIND_MORE, 5},
        {{3, 0x35, 0x33, 0x1c}, PF_UNWIND_MORE, 2},
        {{3, 0x77, 0x7f, 0x96}, PF_UNWIND_MORE, STACK - 1},
        {{3, 0x77, 8, 0x06}, PF_UNWIND_MORE, 0x1122334455667788},
        {{4, 0x77, 8, 0x94, 2}, PF_UNWIND_MORE, PF_NATIVE_BIG ? 0x1122 : 0x7788},
        {{3, 0x09, 0xff, 0x1f}, PF_UNWIND_MORE, 1},
        {{4, 0x09, 0xf0, 0x32, 0x26}, PF_UNWIND_MORE, UINT64_MAX - 3},
        {{4, 0x09, 0xf0, 0x30, 0x2d}, PF_UNWIND_MORE, 1},
        {{6, 0x31, 0x28, 1, 0, 0x32, 0x33}, PF_UNWIND_MORE, 3},
        {{4, 0x31, 0x32, 0x16, 0x1c}, PF_UNWIND_MORE, 1},
        {{3, 0x10, 0x80, 0x01}, PF_UNWIND_MORE, 128},
        {{4, 0x77, 0, 0x23, 16}, PF_UNWIND_MORE, STACK + 16},
        {{3, 0x92, 7, 8}, PF_UNWIND_MORE, STACK + 8},
        /* Constants of all sizes, unsigned and signed. */
        {{9, 0x03, 8, 7, 6, 5, 4, 3, 2, 1}, PF_UNWIND_MORE, 0x0102030405060708},
        {{9, 0x0e, 8, 7, 6, 5, 4, 3, 2, 1}, PF_UNWIND_MORE, 0x0102030405060708},
        {{9, 0x0f, 0xfe, 255, 255, 255, 255, 255, 255, 255}, PF_UNWIND_MORE, UINT64_MAX - 1},
        {{2, 0x08, 0xfe}, PF_UNWIND_MORE, 254},
        {{3, 0x0a, 0xfe, 0xff}, PF_UNWIND_MORE, 65534},
        {{3, 0x0b, 0xfe, 0xff}, PF_UNWIND_MORE, UINT64_MAX - 1},
        {{5, 0x0c, 0xfe, 0xff, 0xff, 0xff}, PF_UNWIND_MORE, UINT32_MAX - 1},
        {{5, 0x0d, 0xfe, 0xff, 0xff, 0xff}, PF_UNWIND_MORE, UINT64_MAX - 1},
        {{2, 0x11, 0x7e}, PF_UNWIND_MORE, UINT64_MAX - 1},
        /* Arithmetic; shifts by more bits than there are; comparisons. */
        {{3, 0x37, 0x36, 0x1e}, PF_UNWIND_MORE, 42},
        {{3, 0x35, 0x33, 0x21}, PF_UNWIND_MORE, 7},
        {{3, 0x35, 0x33, 0x27}, PF_UNWIND_MORE, 6},
        {{3, 0x40, 0x32, 0x25}, PF_UNWIND_MORE, 4},
        {{4, 0x31, 0x08, 64, 0x25}, PF_UNWIND_MORE, 0},
        {{2, 0x35, 0x1f}, PF_UNWIND_MORE, UINT64_MAX - 4},
        {{2, 0x35, 0x20}, PF_UNWIND_MORE, UINT64_MAX - 5},
        {{3, 0x35, 0x35, 0x29}, PF_UNWIND_MORE, 1},
        {{3, 0x35, 0x34, 0x29}, PF_UNWIND_MORE, 0},
        {{3, 0x35, 0x34, 0x2b}, PF_UNWIND_MORE, 1},
        {{3, 0x35, 0x35, 0x2b}, PF_UNWIND_MORE, 0},
        {{3, 0x35, 0x35, 0x2c}, PF_UNWIND_MORE, 1},
        {{3, 0x35, 0x35, 0x2e}, PF_UNWIND_MORE, 0},
        /* The stack of the expression, and a jump over an operation. */
        {{3, 0x35, 0x12, 0x22}, PF_UNWIND_MORE, 10},
        {{3, 0x35, 0x33, 0x13}, PF_UNWIND_MORE, 5},
        {{4, 0x35, 0x33, 0x14, 0x1c}, PF_UNWIND_MORE, UINT64_MAX - 1},
        {{5, 0x35, 0x33, 0x31, 0x15, 2}, PF_UNWIND_MORE, 5},
        {{5, 0x33, 0x2f, 1, 0, 0x32}, PF_UNWIND_MORE, 3},
        {{3, 0x35, 0x15, 1}, PF_UNWIND_UNSUPPORTED, 0},
        {{4, 0x77, 8, 0x94, 3}, PF_UNWIND_UNSUPPORTED, 0}, /* 3 bytes of memory */
        {{0}, PF_UNWIND_UNSUPPORTED, 0},
        {{1, 0x22}, PF_UNWIND_UNSUPPORTED, 0},
        {{1, 0xff}, PF_UNWIND_UNSUPPORTED, 0},
        {{2, 0x70, 0}, PF_UNWIND_UNSUPPORTED, 0},          /* a register that is not known */
        {{3, 0x2f, 0xfd, 0xff}, PF_UNWIND_UNSUPPORTED, 0}, /* without end */
        {{3, 0x2f, 0x10, 0}, PF_UNWIND_UNSUPPORTED, 0},
        {{4, 0x77, 0x80, 0x08, 0x06}, PF_UNWIND_SHORT, 0},
        {{3, 0x77, 0x78, 0x06}, PF_UNWIND_UNSUPPORTED, 0}, /* below the stack pointer */
        {{16, 0x31}, PF_UNWIND_UNSUPPORTED, 0},
    };
    const uint64_t words[] = {1, 0x1122334455667788, 3};
    const pf_unwind_stack stack = {{(const uint8_t *)words, sizeof words}, STACK, false};
    const pf_unwind_frame frame = {.regs[7] = STACK, .known = 1 << 7};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pf_unwind_rule rule = {.expressions = {cases[i].bytes, sizeof cases[i].bytes},
                                     .swap = PF_NATIVE_BIG};
        uint64_t value = 0;
        assert_int_equal(pf_unwind_evaluate(&rule, 0, NULL, &frame, &stack, &value), cases[i].end);
        assert_int_equal(value, cases[i].value);
    }
}

/* A capture of one program, whose file is "code". */
typedef struct world {
    perfile_session *session;
    perfile_symbols *symbols;
    perfile_model *model;
    pf_unwinder unwinder;
    bool swap;
    uint32_t e_machine; /* says the machine instead of its name, unless it is 0 */
    size_t valid;       /* bytes of the copied stack, unless it is 0: all */
} world;

static void put_file(const char *path, const builder *b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->b.ptr, 1, b->b.len, f), b->b.len);
    assert_int_equal(fclose(f), 0);
}

static void map_code(world *w)
{
    BUILDER b = {0};
    size_t start = build_begin(&b, PERFILE_RECORD_MMAP, 2);
    build_u32(&b, PID);
    build_u32(&b, PID);
    build_u64(&b, CODE);
    build_u64(&b, CFI_SEGMENT);
    build_u64(&b, 0);
    build_text(&b, "/code");
    build_end(&b, start);
    const perfile_record r = {.session = w->session,
                              .type = PERFILE_RECORD_MMAP,
                              .misc = 2,
                              .header = b.b.ptr,
                              .body = {b.b.ptr + 8, b.b.len - 8}};
    assert_int_equal(perfile_model_feed(w->model, &r, NULL), PERFILE_OK);
}

/* False if the symbols do not fit the limits. */
static bool open_world(world *w, const char *arch, bool eh, bool aarch64, const perfile_limits *l)
{
    BUILDER elf = {.swap = w->swap}, name = {0};
    const perfile_symbols_options o = {
        .size = sizeof o, .flags = PERFILE_SYMBOLS_GIVEN_ONLY, .symfs = "unwind_root", .limits = l};
    mkdir("unwind_root", 0777);
    cfi_elf(&elf, eh, aarch64);
    put_file("unwind_root/code", &elf);
    assert_int_equal(perfile_session_open(NULL, &w->session, NULL), PERFILE_OK);
    if (w->e_machine) {
        build_u32(&name, w->e_machine);
        build_u32(&name, 0);
    } else {
        build_string(&name, arch);
    }
    assert_int_equal(
        perfile_session_set_feature(w->session,
                                    w->e_machine ? PERFILE_FEATURE_E_MACHINE : PERFILE_FEATURE_ARCH,
                                    built(&name), NULL),
        PERFILE_OK);
    assert_int_equal(perfile_model_open(w->session, &w->model, NULL), PERFILE_OK);
    map_code(w);
    perfile_status st = perfile_symbols_open(w->session, &o, &w->symbols, NULL);
    if (l && st == PERFILE_E_LIMIT)
        return false;
    assert_int_equal(st, PERFILE_OK);
    assert_true(pf_unwinder_init(&w->unwinder, w->session, w->symbols, w->model));
    return true;
}

static void close_world(world *w)
{
    pf_unwinder_free(&w->unwinder);
    perfile_symbols_close(w->symbols);
    perfile_model_close(w->model);
    perfile_session_close(w->session);
}

/* Unwinds a stack; how it ended. */
static int unwind(world *w, uint64_t abi, uint64_t mask, const uint64_t *regs, const void *stack,
                  size_t size)
{
    uint64_t before[PF_UNWIND_UNSUPPORTED + 1];
    const perfile_regs_user r = {.has_regs = true,
                                 .abi = abi,
                                 .mask = mask,
                                 .regs =
                                     perfile_words_u64(regs, (size_t)__builtin_popcountll(mask))};
    const perfile_stack_user s = {.has_data = true,
                                  .size = size,
                                  .data = {stack, size},
                                  .dyn_size = w->valid ? w->valid : size};
    memcpy(before, w->unwinder.ends, sizeof before);
    assert_int_equal(pf_unwind(&w->unwinder, PID, 5, false, &r, &s), PERFILE_OK);
    for (int i = 0; i <= PF_UNWIND_UNSUPPORTED; i++)
        if (w->unwinder.ends[i] != before[i])
            return i;
    return -1;
}

/* Bits of rbp, rsp, rip; x29, x30, sp, pc. */
#define X86_MASK     (UINT64_C(7) << 6)
#define AARCH64_MASK (UINT64_C(15) << 29)
#define AT(function) (CODE + CFI_##function)

static void check_addresses(const world *w, const uint64_t *wanted, size_t n)
{
    assert_int_equal(w->unwinder.n_addresses, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(w->unwinder.addresses[i], wanted[i]);
}

/* Through a PLT entry, a leaf, a function with a frame pointer, a signal handler's frame. */
static void x86_64(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2; form++) {
        world w = {0};
        open_world(&w, "x86_64", form, false, NULL);
        const uint64_t stack[] = {
            77,
            AT(FRAME) + 12, /* of the PLT entry, behind its push */
            STACK + 48,
            AT(LEAF) + 9,   /* saved by CFI_FRAME: rbp, return address */
            AT(FRAME) + 12, /* of CFI_LEAF */
            0,
            STACK + 72, /* of CFI_FRAME, whose rbp is STACK + 48 */
            AT(OUTER) + 3,
            0,
        };
        uint64_t regs[] = {STACK + 16, STACK, AT(PLT) + 11};
        const uint64_t wanted[] = {AT(PLT) + 11, AT(FRAME) + 11, AT(LEAF) + 8, AT(FRAME) + 11,
                                   AT(OUTER) + 2};
        uint64_t copy[sizeof stack / sizeof stack[0]];
        memcpy(copy, stack, sizeof copy);
        copy[6] = AT(OUTER) + 3; /* rbp is STACK + 40 */
        copy[2] = STACK + 40;
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, sizeof copy), PF_UNWIND_COMPLETE);
        check_addresses(&w, wanted, 5);
        /* The same from the cache; then less and less of the stack. */
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, sizeof copy), PF_UNWIND_COMPLETE);
        check_addresses(&w, wanted, 5);
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, 56), PF_UNWIND_COMPLETE);
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, 55), PF_UNWIND_SHORT);
        check_addresses(&w, wanted, 4);
        w.valid = 55; /* the kernel copied more than is the stack */
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, sizeof copy), PF_UNWIND_SHORT);
        check_addresses(&w, wanted, 4);
        w.valid = 0;
        assert_int_equal(unwind(&w, 2, X86_MASK, regs, copy, 8), PF_UNWIND_SHORT);
        check_addresses(&w, wanted, 1);
        close_world(&w);
    }
}

static void signals(void **state)
{
    (void)state;
    world w = {0};
    open_world(&w, "x86_64", true, false, NULL);
    /* A handler that is a leaf, called by nobody: its return address is the trampoline. */
    const uint64_t stack[] = {AT(SIGNAL), 0, 0, STACK + 48, AT(FRAME), 0, AT(OUTER) + 3};
    const uint64_t regs[] = {0, STACK, AT(LEAF) + 1};
    const uint64_t wanted[] = {AT(LEAF) + 1, AT(SIGNAL), AT(FRAME), AT(OUTER) + 2};
    /* The byte in front of CFI_SIGNAL is of CFI_PLT: libc's trampoline has one of its own there. */
    uint64_t inside[sizeof stack / sizeof stack[0]];
    memcpy(inside, stack, sizeof stack);
    inside[0]++;
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, inside, sizeof inside), PF_UNWIND_COMPLETE);
    assert_int_equal(w.unwinder.n_addresses, 4);
    assert_int_equal(w.unwinder.addresses[1], AT(SIGNAL) + 1);
    for (size_t i = 2; i < 4; i++) /* what was interrupted is no caller */
        assert_int_equal(w.unwinder.addresses[i], wanted[i]);
    close_world(&w);
}

static void aarch64(void **state)
{
    (void)state;
    world w = {0};
    open_world(&w, "aarch64", true, true, NULL);
    /* The return address of CFI_FRAME is signed. */
    const uint64_t stack[] = {0x1234, AT(OUTER) + 8 + (UINT64_C(0x2b) << 48), 0, 0, 0};
    const uint64_t regs[] = {0, AT(FRAME) + 16, STACK, AT(LEAF) + 4};
    const uint64_t wanted[] = {AT(LEAF) + 4, AT(FRAME) + 15, AT(OUTER) + 7};
    assert_int_equal(unwind(&w, 2, AARCH64_MASK, regs, stack, sizeof stack), PF_UNWIND_COMPLETE);
    check_addresses(&w, wanted, 3);
    assert_int_equal(unwind(&w, 2, AARCH64_MASK, regs, stack, 15), PF_UNWIND_SHORT);
    /* A leaf that claims to be its own caller. */
    const uint64_t same[] = {0, AT(LEAF) + 4, STACK, AT(LEAF) + 4};
    assert_int_equal(unwind(&w, 2, AARCH64_MASK, same, stack, sizeof stack), PF_UNWIND_UNSUPPORTED);
    close_world(&w);
}

/* Each place where the caller's register 3 may be, and what ends a step: the CFA is STACK + 16, the
 * return address below it. */
static void places_of_registers(void **state)
{
    (void)state;
    enum { RETURN = 16 };
    static const uint8_t expressions[] = {2, 0x38, 0x1c,  /* at 0: CFA - 8 */
                                          1, 0x96,        /* at 3: CFA */
                                          2, 0x35, 0x06}; /* at 5: what is at address 5 */
    static const struct {
        pf_where of_3, of_return;
        bool known; /* register 3 of the caller */
        uint64_t value;
        int end;
    } cases[] = {
        {{8, PF_WHERE_CFA, 3}, {-8, PF_WHERE_SAVED, RETURN}, true, STACK + 24, PF_UNWIND_MORE},
        {{-16, PF_WHERE_SAVED, 3}, {-8, PF_WHERE_SAVED, RETURN}, true, 77, PF_UNWIND_MORE},
        {{5, PF_WHERE_REGISTER, 3}, {-8, PF_WHERE_SAVED, RETURN}, true, 55, PF_UNWIND_MORE},
        {{12, PF_WHERE_REGISTER, 3}, {-8, PF_WHERE_SAVED, RETURN}, false, 0, PF_UNWIND_MORE},
        {{0, PF_WHERE_UNDEFINED, 3}, {-8, PF_WHERE_SAVED, RETURN}, false, 0, PF_UNWIND_MORE},
        {{0, PF_WHERE_AT_EXPRESSION, 3},
         {-8, PF_WHERE_SAVED, RETURN},
         true,
         0x401000,
         PF_UNWIND_MORE},
        {{0, PF_WHERE_IS_EXPRESSION, 3},
         {-8, PF_WHERE_SAVED, RETURN},
         true,
         STACK + 8,
         PF_UNWIND_MORE},
        {{3, PF_WHERE_IS_EXPRESSION, 3},
         {-8, PF_WHERE_SAVED, RETURN},
         true,
         STACK + 16,
         PF_UNWIND_MORE},
        /* Register 3 may not be needed. */
        {{5, PF_WHERE_AT_EXPRESSION, 3}, {-8, PF_WHERE_SAVED, RETURN}, false, 0, PF_UNWIND_MORE},
        {{800, PF_WHERE_SAVED, 3}, {-8, PF_WHERE_SAVED, RETURN}, false, 0, PF_UNWIND_MORE},
        /* The return address is. */
        {{8, PF_WHERE_CFA, 3}, {800, PF_WHERE_SAVED, RETURN}, false, 0, PF_UNWIND_SHORT},
        {{8, PF_WHERE_CFA, 3}, {0, PF_WHERE_UNDEFINED, RETURN}, false, 0, PF_UNWIND_COMPLETE},
        {{8, PF_WHERE_CFA, 3}, {12, PF_WHERE_REGISTER, RETURN}, false, 0, PF_UNWIND_COMPLETE},
        {{8, PF_WHERE_CFA, 3}, {8, PF_WHERE_CFA, 4}, false, 0, PF_UNWIND_UNSUPPORTED},
    };
    const uint64_t words[] = {77, 0x401000, 3};
    const pf_unwind_stack stack = {{(const uint8_t *)words, sizeof words}, STACK, false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pf_unwind_frame frame = {.pc = 0x402000,
                                 .regs = {[3] = 33, [5] = 55, [7] = STACK},
                                 .known = 1 << 3 | 1 << 5 | 1 << 7};
        const pf_where wheres[] = {cases[i].of_3, cases[i].of_return};
        pf_unwind_rule rule = {.return_column = RETURN,
                               .n = 2,
                               .swap = PF_NATIVE_BIG,
                               .cfa = {16, PF_WHERE_REGISTER_OFFSET, 7},
                               .expressions = {expressions, sizeof expressions}};
        const int end = pf_unwind_step(&pf_unwind_x86_64, &rule, wheres, &stack, &frame);
        if (end != cases[i].end)
            fail_msg("case %zu: end %d", i, end);
        if (end != PF_UNWIND_MORE)
            continue;
        assert_int_equal(frame.pc, 0x401000);
        assert_int_equal(frame.regs[7], STACK + 16);
        if ((frame.known >> 3 & 1) != cases[i].known ||
            (cases[i].known && frame.regs[3] != cases[i].value))
            fail_msg("case %zu: register 3 is 0x%llx", i, (unsigned long long)frame.regs[3]);
        rule.cfa.reg = 6; /* is not known */
        assert_int_equal(pf_unwind_step(&pf_unwind_x86_64, &rule, wheres, &stack, &frame),
                         PF_UNWIND_UNSUPPORTED);
    }
}

/* A capture that does not name its machine may have its number in ELF files. */
static void machine_by_number(void **state)
{
    (void)state;
    const uint64_t stack[] = {AT(OUTER) + 1, 0}, regs[] = {0, STACK, AT(LEAF)};
    const uint64_t regs64[] = {0, AT(OUTER) + 8, STACK, AT(LEAF) + 4};
    world w = {.e_machine = PF_EM_X86_64};
    open_world(&w, NULL, true, false, NULL);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, stack, sizeof stack), PF_UNWIND_COMPLETE);
    assert_int_equal(w.unwinder.n_addresses, 2);
    close_world(&w);
    w = (world){.e_machine = PF_EM_AARCH64};
    open_world(&w, NULL, true, true, NULL);
    assert_int_equal(unwind(&w, 2, AARCH64_MASK, regs64, stack, sizeof stack), PF_UNWIND_COMPLETE);
    assert_int_equal(w.unwinder.n_addresses, 2);
    close_world(&w);
    w = (world){.e_machine = PF_EM_SPARCV9};
    open_world(&w, NULL, true, false, NULL);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, stack, sizeof stack), PF_UNWIND_UNSUPPORTED);
    close_world(&w);
}

/* What cannot be unwound says why. */
static void reasons(void **state)
{
    (void)state;
    world w = {0};
    const uint64_t zeros[4] = {0}, regs[] = {0, STACK, AT(BARE)};
    open_world(&w, "x86_64", true, false, NULL);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, zeros, sizeof zeros), PF_UNWIND_NO_RULES);
    assert_int_equal(unwind(&w, 1, X86_MASK, regs, zeros, sizeof zeros), PF_UNWIND_UNSUPPORTED);
    assert_int_equal(w.unwinder.n_addresses, 0);
    assert_int_equal(unwind(&w, 2, UINT64_C(3) << 6, regs, zeros, 32), PF_UNWIND_UNSUPPORTED);
    const uint64_t nowhere[] = {0, STACK, 5};
    assert_int_equal(unwind(&w, 2, X86_MASK, nowhere, zeros, sizeof zeros), PF_UNWIND_NO_FILE);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, zeros, 0), -1);
    /* By the frame pointer, if that leads to code. */
    const uint64_t framed[] = {STACK + 8, STACK, AT(BARE)};
    const uint64_t chain[] = {0, STACK + 16, AT(OUTER) + 1, 0}, wrong[] = {0, STACK + 16, 99, 0};
    assert_int_equal(unwind(&w, 2, X86_MASK, framed, chain, sizeof chain), PF_UNWIND_COMPLETE);
    assert_int_equal(w.unwinder.n_addresses, 2);
    assert_int_equal(unwind(&w, 2, X86_MASK, framed, wrong, sizeof wrong), PF_UNWIND_NO_RULES);
    assert_int_equal(w.unwinder.n_addresses, 1);
    /* Without end: a leaf that returns to itself, as often as the stack says. */
    uint64_t deep[200];
    for (size_t i = 0; i < 200; i++)
        deep[i] = AT(LEAF) + 1;
    const uint64_t leaf[] = {0, STACK, AT(LEAF)};
    assert_int_equal(unwind(&w, 2, X86_MASK, leaf, deep, sizeof deep), PF_UNWIND_SHORT);
    assert_int_equal(w.unwinder.n_addresses, PF_UNWIND_FRAMES);
    close_world(&w);
    w = (world){0};
    open_world(&w, "ppc64le", true, false, NULL);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, zeros, sizeof zeros), PF_UNWIND_UNSUPPORTED);
    close_world(&w);
    /* A file of another machine. */
    w = (world){0};
    open_world(&w, "x86_64", true, true, NULL);
    assert_int_equal(unwind(&w, 2, X86_MASK, regs, zeros, sizeof zeros), PF_UNWIND_NO_FILE);
    close_world(&w);
}

/* However little memory rules and files may take, there is an answer. */
static void limits(void **state)
{
    (void)state;
    const uint64_t stack[] = {AT(OUTER) + 1, 0}, regs[] = {0, STACK, AT(LEAF)};
    bool complete = false;
    for (uint64_t bytes = 1000; bytes < 200000; bytes += 500) {
        world w = {0};
        const perfile_limits l = {.size = sizeof l, .symbol_bytes = bytes};
        if (!open_world(&w, "x86_64", true, false, &l)) {
            close_world(&w);
            continue;
        }
        int end = unwind(&w, 2, X86_MASK, regs, stack, sizeof stack);
        complete |= end == PF_UNWIND_COMPLETE;
        assert_true(!complete || end == PF_UNWIND_COMPLETE);
        close_world(&w);
    }
    assert_true(complete);
}

/* Addresses without debug information have no places in the source. */
static void sources(void **state)
{
    (void)state;
    world w = {0};
    const perfile_source_place *places;
    size_t n = 9;
    open_world(&w, "x86_64", true, false, NULL);
    const perfile_mapping *m = perfile_model_mapping(w.model, PID, AT(LEAF), 5);
    pf_alloc_fail_at = pf_alloc_count + 1;
    assert_int_equal(perfile_symbols_source(w.symbols, m, AT(LEAF), 5, &places, &n, NULL),
                     PERFILE_E_NOMEM);
    pf_alloc_fail_at = 0;
    assert_int_equal(n, 9);
    assert_int_equal(perfile_symbols_source(w.symbols, m, AT(LEAF), 5, &places, &n, NULL),
                     PERFILE_OK);
    assert_int_equal(n, 0);
    assert_int_equal(perfile_symbols_source(w.symbols, NULL, AT(LEAF), 5, &places, &n, NULL),
                     PERFILE_OK);
    assert_int_equal(n, 0);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_numbers),
        cmocka_unit_test(long_programs),
        cmocka_unit_test(rules),
        cmocka_unit_test(expressions),
        cmocka_unit_test(x86_64),
        cmocka_unit_test(signals),
        cmocka_unit_test(aarch64),
        cmocka_unit_test(places_of_registers),
        cmocka_unit_test(machine_by_number),
        cmocka_unit_test(reasons),
        cmocka_unit_test(limits),
        cmocka_unit_test(sources),
        cmocka_unit_test(instructions),
        cmocka_unit_test(common_entries),
        cmocka_unit_test(order_of_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
