/* Seeds of fuzz_symbol_elf, fuzz_symbol_text and fuzz_unwind. */
#include <stdio.h>

#include "seeds.h"
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
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        BUILDER b = {0};
        build_bytes(&b, texts[i], strlen(texts[i]));
        snprintf(name, sizeof name, "text-%u", i);
        seeds_put(folder, "symbol_text", name, &b);
    }
    put_unwinding(folder);
}
