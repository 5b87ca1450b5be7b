/* Tables and the slow case of digits.h. */
#include "emit/digits.h"

#include <string.h>

#include "perfile/text.h"
#include "emit/text_page.h"

#define DEC_ROW(t) t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
#define HEX_ROW(t) DEC_ROW(t) t "a" t "b" t "c" t "d" t "e" t "f"
#define DEC_ROWS(row)                                                                              \
    row("0") row("1") row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9")

/* Exactly as long as their characters, without a NUL: these are no strings. */
const char pf_dec_pairs[200] = DEC_ROWS(DEC_ROW);
const char pf_hex_pairs[512] =
    DEC_ROWS(HEX_ROW) HEX_ROW("a") HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

/* Splits the number into groups of 8 digits. */
uint8_t *pf_put_dec_long(uint8_t *at, uint64_t v)
{
    enum { EIGHT = 100000000 };
    uint64_t upper = v / EIGHT;
    if (upper < EIGHT) {
        at = pf_put_dec_up_to_8(at, (uint32_t)upper);
    } else {
        at = pf_put_dec_up_to_8(at, (uint32_t)(upper / EIGHT));
        at = pf_put_dec_8(at, (uint32_t)(upper % EIGHT));
    }
    return pf_put_dec_8(at, (uint32_t)(v % EIGHT));
}

/* Validation of UTF-8: eight ASCII bytes at a time, characters else. */

bool pf_utf8_valid(perfile_bytes text)
{
    const uint8_t *p = text.ptr;
    size_t left = text.len;
    while (left > 0) {
        if (left >= 8) {
            uint64_t eight;
            memcpy(&eight, p, 8);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                p += 8;
                left -= 8;
                continue;
            }
        }
        size_t n = perfile_utf8_char(p, left, NULL);
        if (n == 0)
            return false;
        p += n;
        left -= n;
    }
    return true;
}

/* Names of registers from format/regs.def, by the machine that recorded: ARCH or E_MACHINE. */

enum arch {
    ARCH_x86,
    ARCH_arm,
    ARCH_arm64,
    ARCH_riscv,
    ARCH_powerpc,
    ARCH_s390,
    ARCH_mips,
    N_ARCHS
};

static const char *const names[N_ARCHS][64] = {
#define REG(arch, bit, name) [ARCH_##arch][bit] = name,
#include "format/regs.def"
};

/* Prefixes of `uname -m`; a prefix of another one stands behind it (arm64 before arm). */
static const struct {
    const char *prefix;
    enum arch arch;
} machines[] = {
    {"x86_64", ARCH_x86}, {"i386", ARCH_x86},    {"i486", ARCH_x86},      {"i586", ARCH_x86},
    {"i686", ARCH_x86},   {"x86", ARCH_x86},     {"aarch64", ARCH_arm64}, {"arm64", ARCH_arm64},
    {"arm", ARCH_arm},    {"riscv", ARCH_riscv}, {"ppc", ARCH_powerpc},   {"powerpc", ARCH_powerpc},
    {"s390", ARCH_s390},  {"mips", ARCH_mips},
};

/* EM_… of elf.h. */
static const struct {
    uint32_t number;
    enum arch arch;
} elf_machines[] = {
    {3, ARCH_x86},  {8, ARCH_mips}, {20, ARCH_powerpc}, {21, ARCH_powerpc}, {22, ARCH_s390},
    {40, ARCH_arm}, {62, ARCH_x86}, {183, ARCH_arm64},  {243, ARCH_riscv},
};

pf_registers pf_registers_of(const perfile_session *s)
{
    const char *uname = perfile_session_fact(s, PERFILE_FACT_ARCH);
    if (uname) {
        for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
            if (strncmp(uname, machines[i].prefix, strlen(machines[i].prefix)) == 0)
                return names[machines[i].arch];
    }
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_E_MACHINE);
    perfile_elf_machine elf;
    if (f && perfile_elf_machine_decode(f, &elf, sizeof elf, NULL) == PERFILE_OK) {
        for (size_t i = 0; i < sizeof elf_machines / sizeof elf_machines[0]; i++)
            if (elf_machines[i].number == elf.e_machine)
                return names[elf_machines[i].arch];
    }
    return NULL;
}
