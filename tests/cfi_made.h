/* Call frame information of a few functions, of x86-64 and aarch64, and small ELF files with it. */
#ifndef TESTS_CFI_MADE_H
#define TESTS_CFI_MADE_H

#include "builder.h"

/* The only segment: this address is offset 0 in the file; the section is behind its headers. */
#define CFI_BASE UINT64_C(0x400000)
enum { CFI_AT = 64 + 56, CFI_SEGMENT = 0x10000 };

/* Where functions begin, from CFI_BASE on; each has CFI_SIZE bytes. */
enum {
    CFI_SIZE = 0x40,
    CFI_LEAF = 0x1000,     /* touches nothing */
    CFI_FRAME = 0x1040,    /* saves the frame pointer, from its fifth byte on */
    CFI_OUTER = 0x1080,    /* nothing called it */
    CFI_PLT = 0x10c0,      /* x86-64: the expression of a PLT entry; aarch64: as CFI_LEAF */
    CFI_SIGNAL = 0x1100,   /* what was interrupted is saved on the stack */
    CFI_BARE = 0x1140,     /* nothing is said about it */
    CFI_OVERFLOW = 0x1180, /* remembers more than there is room for */
};

/* Bytes from the stack pointer of CFI_SIGNAL on: its caller's stack pointer, pc, frame pointer. */
enum { CFI_SIGNAL_SP = 16, CFI_SIGNAL_PC = 24, CFI_SIGNAL_FP = 32 };

typedef struct cfi_program {
    uint32_t start;
    bool is_signal;
    uint8_t n;
    uint8_t bytes[48];
} cfi_program;

static const cfi_program cfi_x86_64[] = {
    {CFI_LEAF, false, 0, {0}},
    /* advance 4, CFA 16, rbp at CFA-16, advance 4, CFA of rbp, remember, advance 8, CFA of rsp 8,
     * advance 8, restore */
    {CFI_FRAME,
     false,
     16,
     {0x44, 0x0e, 16, 0x86, 2, 0x44, 0x0d, 6, 0x0a, 0x48, 0x0c, 7, 8, 0x48, 0x0b}},
    {CFI_OUTER, false, 2, {0x07, 16}},
    /* CFA = rsp + 8 + ((rip & 15) >= 11) * 8 */
    {CFI_PLT, false, 13, {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}},
    {CFI_SIGNAL,
     true,
     17,
     {0x0f, 3, 0x77, CFI_SIGNAL_SP, 0x06, 0x10, 16, 2, 0x77, CFI_SIGNAL_PC, 0x10, 6, 2, 0x77,
      CFI_SIGNAL_FP}},
    {CFI_OVERFLOW, false, 10, {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a}},
};

static const cfi_program cfi_aarch64[] = {
    {CFI_LEAF, false, 0, {0}},
    /* advance 4, CFA 32, x29 at CFA-32, x30 at CFA-24 and signed */
    {CFI_FRAME, false, 8, {0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x2d}},
    {CFI_OUTER, false, 2, {0x07, 30}},
    {CFI_PLT, false, 0, {0}},
    {CFI_SIGNAL,
     true,
     17,
     {0x0f, 4, 0x8f, CFI_SIGNAL_SP, 0x06, 0x96, 0x10, 30, 2, 0x8f, CFI_SIGNAL_PC, 0x10, 29, 2, 0x8f,
      CFI_SIGNAL_FP}},
    {CFI_OVERFLOW, false, 10, {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a}},
};

/* Writes the length of an entry that began at `start`, padded with DW_CFA_nop. */
static inline void cfi_end(builder *b, size_t start)
{
    while ((b->b.len - start) % 8)
        build_u8(b, 0);
    uint32_t length = (uint32_t)(b->b.len - start - 4);
    length = b->swap ? pf_swap_u32(length) : length;
    memcpy(b->b.ptr + start, &length, sizeof length);
}

/* A common entry; its position. */
static inline size_t cfi_common(builder *b, bool eh, bool aarch64, bool is_signal)
{
    const size_t start = b->b.len;
    build_u32(b, 0);
    build_u32(b, eh ? 0 : UINT32_MAX);
    build_u8(b, eh ? 1 : 3);
    build_bytes(b, !eh ? "" : is_signal ? "zRS" : "zR", !eh ? 1 : is_signal ? 4 : 3);
    build_u8(b, 1);
    build_u8(b, 0x78); /* -8 */
    build_u8(b, aarch64 ? 30 : 16);
    if (eh) {
        build_u8(b, 1);
        build_u8(b, 0x1b); /* relative, of 4 bytes */
    }
    build_u8(b, 0x0c); /* CFA */
    build_u8(b, aarch64 ? 31 : 7);
    build_u8(b, aarch64 ? 0 : 8);
    if (!aarch64)
        build_bytes(b, "\x90\x01", 2); /* rip at CFA-8 */
    cfi_end(b, start);
    return start;
}

/* Appends a section that lies at `addr`; the position 0 of its bytes is b->b.len now. */
static inline void cfi_section(builder *b, bool eh, bool aarch64, uint64_t addr)
{
    const size_t base = b->b.len;
    const cfi_program *programs = aarch64 ? cfi_aarch64 : cfi_x86_64;
    const size_t plain = cfi_common(b, eh, aarch64, false);
    const size_t signal = cfi_common(b, eh, aarch64, true);
    for (size_t i = 0; i < sizeof cfi_x86_64 / sizeof cfi_x86_64[0]; i++) {
        const cfi_program *p = &programs[i];
        const size_t start = b->b.len, common = p->is_signal ? signal : plain;
        build_u32(b, 0);
        build_u32(b, (uint32_t)(eh ? b->b.len - common : common - base));
        if (eh) {
            build_u32(b, (uint32_t)(CFI_BASE + p->start - (addr + b->b.len - base)));
            build_u32(b, CFI_SIZE);
            build_u8(b, 0);
        } else {
            build_u64(b, CFI_BASE + p->start);
            build_u64(b, CFI_SIZE);
        }
        build_bytes(b, p->bytes, p->n);
        cfi_end(b, start);
    }
    build_u32(b, 0);
}

static inline void cfi_elf_section(builder *b, uint32_t name, uint32_t type, uint64_t addr,
                                   uint64_t offset, uint64_t size)
{
    build_u32(b, name);
    build_u32(b, type);
    build_u64(b, 0);
    build_u64(b, addr);
    build_u64(b, offset);
    build_u64(b, size);
    build_u32(b, 0);
    build_u32(b, 0);
    build_u64(b, 1);
    build_u64(b, 0);
}

/* Appends an ELF file of 64 bits with the section to `b`, which is empty. */
static inline void cfi_elf(builder *b, bool eh, bool aarch64)
{
    static const char names[] = "\0.eh_frame\0.debug_frame\0.names";
    BUILDER section = {.swap = b->swap};
    cfi_section(&section, eh, aarch64, CFI_BASE + CFI_AT);
    const size_t table = (CFI_AT + section.b.len + sizeof names + 7) & ~(size_t)7;
    build_bytes(b, "\177ELF\2", 5);
    build_u8(b, b->swap != (bool)PF_NATIVE_BIG ? 2 : 1);
    build_u8(b, 1);
    build_zeros(b, 9);
    build_u16(b, 2);
    build_u16(b, aarch64 ? 183 : 62);
    build_u32(b, 1);
    build_u64(b, CFI_BASE);
    build_u64(b, 64);
    build_u64(b, table);
    build_u32(b, 0);
    build_u16(b, 64);
    build_u16(b, 56);
    build_u16(b, 1);
    build_u16(b, 64);
    build_u16(b, 3);
    build_u16(b, 2);
    build_u32(b, 1);
    build_u32(b, 5);
    build_u64(b, 0);
    build_u64(b, CFI_BASE);
    build_u64(b, CFI_BASE);
    build_u64(b, CFI_SEGMENT);
    build_u64(b, CFI_SEGMENT);
    build_u64(b, 0x1000);
    build_bytes(b, section.b.ptr, section.b.len);
    build_bytes(b, names, sizeof names);
    build_zeros(b, table - b->b.len);
    cfi_elf_section(b, 0, 0, 0, 0, 0);
    cfi_elf_section(b, eh ? 1 : 11, 1, CFI_BASE + CFI_AT, CFI_AT, section.b.len);
    cfi_elf_section(b, 24, 3, 0, CFI_AT + section.b.len, sizeof names);
}

#endif
