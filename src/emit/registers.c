/* Names of registers from format/regs.def, by the machine that recorded: ARCH or E_MACHINE. */
#include "emit/text_page.h"

#include <string.h>

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
