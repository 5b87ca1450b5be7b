/* Seeds of fuzz_symbol_elf, fuzz_symbol_text, fuzz_symbolizer and fuzz_unwind. */
#include <stdio.h>

#include "seeds.h"
#include "symbol/protocol.h"
#include "tests/cfi_made.h"
#include "tests/elf_made.h"

static const elf_symbol symbols[] = {
    {"outer", 0x100, 0x100, ELF_GLOBAL_FUNC},
    {"inner", 0x140, 0x20, ELF_LOCAL_FUNC},
    {"_ZN5outer3BoxIiE4spinEi", 0x300, 0, ELF_WEAK_FUNC},
    {"$x", 0x300, 0, 0},
    {"object", 0x320, 0x10, 0x11},
    {"ifunc", 0x321, 0x40, 0x1a},
};

/* Call frame information, a stack of return addresses into its functions, registers, choices. */
static void put_unwinding(const char *folder)
{
    static const uint64_t words[] = {CFI_LEAF + 1,   CFI_FRAME + 12, CFI_PLT + 11,
                                     CFI_SIGNAL + 1, CFI_FRAME + 5,  CFI_OUTER + 1};
    enum { N = sizeof words / sizeof words[0], WORDS = 256 / 8 };
    char name[64];
    for (unsigned i = 0; i < 8; i++) {
        const bool aarch64 = i & 1, eh = i & 2, big = i & 4;
        BUILDER b = {.swap = big};
        cfi_section(&b, eh, aarch64, CFI_BASE + CFI_AT);
        for (unsigned w = 0; w < WORDS; w++)
            build_u64(&b, w % 3 ? CFI_BASE + words[w % N] : UINT64_C(0x7ffc00001000) + 8 * w);
        b.swap = false;
        build_u64(&b, CFI_BASE + CFI_FRAME + 9);
        build_u64(&b, 64);
        build_u64(&b, i);
        build_u8(&b, (uint8_t)(aarch64 | big << 1 | eh << 2 | big << 3));
        snprintf(name, sizeof name, "cfi-%u", i);
        seeds_put(folder, "unwind", name, &b);
    }
}

/* Appends an answer with a part that follows it. */
static void put_answer(builder *b, uint32_t n, const void *part, size_t size)
{
    const pf_answer a = {.protocol = PF_PROTOCOL, .n = n, .size = (uint32_t)size, .used = 1000};
    build_bytes(b, &a, sizeof a);
    build_bytes(b, part, size);
}

/* Answers of perfile-symbolizer, and the requests. */
static void put_answers(const char *folder)
{
    static const char names[] = "a::b\0\0a::b", places[] = "\7\0\0\0inner\0a.c\0\0\0\0\0outer\0";
    BUILDER whole = {0}, many = {0}, cut = {0};
    put_answer(&whole, 3, names, sizeof names);
    put_answer(&whole, 2, places, sizeof places);
    put_answer(&whole, 0, NULL, 0);
    build_u8(&whole, 1);
    seeds_put(folder, "symbolizer", "answers", &whole);
    put_answer(&many, 4, names, sizeof names);
    build_u8(&many, 1);
    seeds_put(folder, "symbolizer", "too-many", &many);
    put_answer(&cut, 2, places, sizeof places - 2);
    build_u8(&cut, 0);
    seeds_put(folder, "symbolizer", "without-end", &cut);
}

void seeds_put_symbols(const char *folder)
{
    static const uint16_t machines[] = {62, 3, 183, 40, 21, 243};
    static const uint8_t id[20] = {1, 2, 3};
    static const char *const texts[] = {
        "ffffffff81000000 T _text\nffffffff81000000 t _stext\nffffffff81000100 W weak\n"
        "ffffffffc0000000 t in_module\t[some_module]\nffffffffc0000040 d data [other]",
        "0000000000000000 T _text\n0000000000000000 t hidden\n",
        "7f0000001000 20 first\n0x7f0000001020 0x10 with a blank\r\n7f0000001000 30 again\n",
        "10 T _ZN4core3fmt5Write9write_fmt17h0123456789abcdefE\n20 T _RNvCs1234_7mycrate3foo\n"
        "30 T _ZN5outer3BoxIiE4spinEi\n40 T "
        "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c\n",
    };
    char name[64];
    for (unsigned i = 0; i < 12; i++) {
        BUILDER b = {0};
        elf_make(&b, &(elf_made){.is64 = i & 1,
                                 .big = i & 2,
                                 .machine = machines[i / 2],
                                 .build_id = i % 3 ? id : NULL,
                                 .symbols = symbols,
                                 .n = sizeof symbols / sizeof symbols[0]});
        snprintf(name, sizeof name, "elf-%u", i);
        seeds_put(folder, "symbol_elf", name, &b);
    }
    for (unsigned i = 0; i < 8; i++) {
        static const uint32_t plt[] = {1, 0, 3, 1000};
        BUILDER b = {0};
        elf_make(&b, &(elf_made){.is64 = i & 1,
                                 .big = i & 2,
                                 .machine = machines[i % 6],
                                 .symbols = symbols,
                                 .n = sizeof symbols / sizeof symbols[0],
                                 .plt = plt,
                                 .n_plt = 4,
                                 .plt_head = 16,
                                 .plt_width = 16,
                                 .plt_entsize = 16,
                                 .rel = i & 4,
                                 .second = i & 1});
        snprintf(name, sizeof name, "plt-%u", i);
        seeds_put(folder, "symbol_elf", name, &b);
    }
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        BUILDER b = {0};
        build_bytes(&b, texts[i], strlen(texts[i]));
        snprintf(name, sizeof name, "text-%u", i);
        seeds_put(folder, "symbol_text", name, &b);
    }
    put_unwinding(folder);
    put_answers(folder);
}
