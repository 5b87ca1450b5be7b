/* The table of CFI entries by address, and the rules that their programs compute.
 *
 * A program sets rules for registers as the address increases.  The rule at an address is found by
 * executing the program up to there, after the program of the common entry, which sets the initial
 * rules.
 *
 * A program may be as long as the section, and it is executed again for each address.  So two
 * limits apply, in bytes of programs: one for each address, and one for all addresses of a section,
 * in proportion to its size. */
#include "symbol/unwind.h"

#include <stdlib.h>
#include <string.h>

/* Entries of call frame information.
 *
 * An entry is a length, an id and the rest.  In .eh_frame the id of a common entry is 0, and the id
 * of a function entry is the distance back to its common entry.  In .debug_frame the id of a common
 * entry is all ones, and the id of a function entry is the offset of its common entry.  All lengths
 * and offsets are checked against the section. */

enum {
    MOST_LETTERS = 8, /* longest augmentation string; fewer letters are known */
    /* DW_EH_PE_…: how an address is stored, and its base. */
    ENCODING_FORM = 0x0f,
    ENCODING_BASE = 0x70,
    ENCODING_PCREL = 0x10,
    ENCODING_INDIRECT = 0x80,
    ENCODING_OMIT = 0xff
};

/* Reads an encoded address of the section.  Clears *ok for encodings that are meaningless here. */
static uint64_t pf_cfi_address(const pf_cfi *cfi, pf_cursor *c, uint8_t encoding, bool *ok)
{
    const uint64_t at = (uint64_t)(c->pos - cfi->section.ptr);
    uint64_t v;
    switch (encoding & ENCODING_FORM) {
    case 0x00:
        v = cfi->is64 ? pf_cur_u64(c) : pf_cur_u32(c);
        break;
    case 0x01:
        v = pf_cur_uleb(c);
        break;
    case 0x02:
        v = pf_cur_u16(c);
        break;
    case 0x03:
        v = pf_cur_u32(c);
        break;
    case 0x09:
        v = (uint64_t)pf_cur_sleb(c);
        break;
    case 0x0a:
        v = (uint64_t)(int16_t)pf_cur_u16(c);
        break;
    case 0x0b:
        v = (uint64_t)(int32_t)pf_cur_u32(c);
        break;
    case 0x04:
    case 0x0c:
        v = pf_cur_u64(c);
        break;
    default:
        *ok = false;
        return 0;
    }
    if ((encoding & ENCODING_BASE) == ENCODING_PCREL)
        v += cfi->addr + at;
    else if (encoding & (ENCODING_BASE | ENCODING_INDIRECT))
        *ok = false; /* relative to data of the running process */
    return cfi->is64 ? v : (uint32_t)v;
}

/* The head of an entry.  `body` follows the id; `id_at` is the offset of the id. */
typedef struct head {
    perfile_bytes body;
    uint64_t id, id_at;
    bool wide; /* the 64-bit form */
} head;

/* Reads the head at *at and advances *at to the next entry.  Returns false if there is none. */
static bool read_head(const pf_cfi *cfi, uint64_t *at, head *h)
{
    const perfile_bytes all = pf_piece_bytes(&cfi->section);
    if (*at >= all.len)
        return false;
    pf_cursor c = pf_cur((perfile_bytes){all.ptr + *at, all.len - (size_t)*at}, cfi->swap);
    uint64_t length = pf_cur_u32(&c);
    h->wide = length == UINT32_MAX;
    if (h->wide)
        length = pf_cur_u64(&c);
    perfile_bytes rest = pf_cur_span(&c, length);
    if (c.bad)
        return false;
    *at = (uint64_t)(c.pos - all.ptr);
    h->id_at = (uint64_t)(rest.ptr - all.ptr);
    h->body = (perfile_bytes){rest.ptr, 0};
    h->id = 0;
    if (!length) /* the terminator of one linker input */
        return true;
    pf_cursor id = pf_cur(rest, cfi->swap);
    h->id = h->wide && !cfi->eh ? pf_cur_u64(&id) : pf_cur_u32(&id);
    h->body = (perfile_bytes){id.pos, pf_cur_left(&id)};
    return true;
}

static bool is_cie(const pf_cfi *cfi, const head *h)
{
    return cfi->eh ? h->id == 0 : h->id == (h->wide ? UINT64_MAX : UINT32_MAX);
}

/* Reads the data for the letters after the `z` of an augmentation. */
static bool read_augmentation(const pf_cfi *cfi, const char *letters, pf_cursor *c, pf_cie *cie)
{
    perfile_bytes data = pf_cur_span(c, pf_cur_uleb(c));
    pf_cursor d = pf_cur(data, cfi->swap);
    bool ok = true;
    uint8_t encoding;
    for (; *letters && ok; letters++) {
        switch (*letters) {
        case 'R':
            cie->encoding = pf_cur_u8(&d);
            break;
        case 'S':
            cie->is_signal = true;
            break;
        case 'P':
            encoding = pf_cur_u8(&d);
            if (encoding != ENCODING_OMIT) /* the personality routine is not needed */
                (void)pf_cfi_address(cfi, &d, encoding & ENCODING_FORM, &ok);
            break;
        case 'L':
            (void)pf_cur_u8(&d);
            break;
        case 'B': /* aarch64: signed with the B key; memory tags */
        case 'G':
            break;
        default: /* unknown letter; the length of `data` says where the program begins */
            return !c->bad && !d.bad;
        }
    }
    return ok && !c->bad && !d.bad;
}

static bool read_cie(const pf_cfi *cfi, const head *h, pf_cie *cie)
{
    pf_cursor c = pf_cur(h->body, cfi->swap);
    *cie = (pf_cie){0};
    const uint8_t version = pf_cur_u8(&c);
    /* Only MOST_LETTERS bytes are searched for the NUL, because this runs for each FDE. */
    const size_t most = pf_cur_left(&c) < MOST_LETTERS + 1 ? pf_cur_left(&c) : MOST_LETTERS + 1;
    if (!most || !memchr(c.pos, 0, most))
        return false;
    perfile_bytes letters = pf_cur_cstr(&c);
    if (c.bad || letters.len > MOST_LETTERS || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4) {
        const uint8_t address = pf_cur_u8(&c), segment = pf_cur_u8(&c);
        if (address != (cfi->is64 ? 8 : 4) || segment)
            return false;
    }
    cie->code_align = pf_cur_uleb(&c);
    cie->data_align = pf_cur_sleb(&c);
    cie->return_column = version == 1 ? pf_cur_u8(&c) : pf_cur_uleb(&c);
    cie->has_length = letters.ptr[0] == 'z';
    if (cie->has_length ? !read_augmentation(cfi, (const char *)letters.ptr + 1, &c, cie)
                        : letters.ptr[0] != '\0')
        return false;
    cie->program = (perfile_bytes){c.pos, pf_cur_left(&c)};
    return !c.bad && cie->return_column < PF_UNWIND_REGS;
}

/* Reads the common entry of a function entry. */
static bool read_cie_of(const pf_cfi *cfi, const head *fde, pf_cie *cie)
{
    head h;
    uint64_t at = fde->id;
    if (cfi->eh) {
        if (fde->id > fde->id_at)
            return false;
        at = fde->id_at - fde->id;
    }
    return read_head(cfi, &at, &h) && is_cie(cfi, &h) && h.body.len && read_cie(cfi, &h, cie);
}

static bool read_fde(const pf_cfi *cfi, const head *h, pf_fde *fde)
{
    bool ok = true;
    if (!read_cie_of(cfi, h, &fde->cie))
        return false;
    pf_cursor c = pf_cur(h->body, cfi->swap);
    fde->start = pf_cfi_address(cfi, &c, fde->cie.encoding, &ok);
    const uint64_t length = pf_cfi_address(cfi, &c, fde->cie.encoding & ENCODING_FORM, &ok);
    if (fde->cie.has_length)
        pf_cur_span(&c, pf_cur_uleb(&c));
    fde->program = (perfile_bytes){c.pos, pf_cur_left(&c)};
    fde->end = fde->start + length;
    return ok && !c.bad && fde->end > fde->start;
}

/* Reads the entry at *at and advances *at.  PF_CFI_FDE: *fde is filled in.  PF_CFI_OTHER: an entry
 * of another kind, or a damaged one.  PF_CFI_END: no more entries. */
static int pf_cfi_next(const pf_cfi *cfi, uint64_t *at, pf_fde *fde)
{
    head h;
    if (!read_head(cfi, at, &h))
        return PF_CFI_END;
    return h.body.len && !is_cie(cfi, &h) && read_fde(cfi, &h, fde) ? PF_CFI_FDE : PF_CFI_OTHER;
}

enum {
    PROGRAM_BYTES = 1 << 16, /* limit for one address; compilers make 20,000 at most */
    SECTION_BYTES = 1 << 22, /* limit for all addresses of a section … */
    SECTION_RATIO = 1024,    /* … plus this for each of its bytes */
    ROW_BYTES = 64,          /* charge for copying a row, as bytes of a program */
    REMEMBERED = 8,          /* depth of remember_state */
    SAVED_IN_PROGRAM = 0x3f  /* the low bits of an opcode that contain an operand */
};

/* Order: by address, then by offset in the section. */
static int compare(const void *a, const void *b)
{
    const pf_cfi_entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool add_entry(pf_cfi *cfi, pf_cfi_entry entry)
{
    if (cfi->n == cfi->cap) {
        size_t cap = cfi->cap ? cfi->cap * 2 : 64;
        pf_cfi_entry *more =
            pf_budget_realloc(cfi->budget, cfi->entries, cfi->cap, cap, sizeof *more);
        if (!more)
            return false;
        cfi->entries = more;
        cfi->cap = cap;
    }
    cfi->entries[cfi->n++] = entry;
    return true;
}

perfile_status pf_cfi_index(pf_cfi *cfi)
{
    pf_fde fde;
    uint64_t at = 0, here = 0;
    bool sorted = true;
    if (cfi->section.len > UINT32_MAX)
        return PERFILE_E_LIMIT;
    cfi->left = SECTION_BYTES + SECTION_RATIO * (uint64_t)cfi->section.len;
    for (int what; (what = pf_cfi_next(cfi, &at, &fde)) != PF_CFI_END; here = at) {
        if (what != PF_CFI_FDE)
            continue;
        sorted &= !cfi->n || cfi->entries[cfi->n - 1].start <= fde.start;
        if (!add_entry(cfi, (pf_cfi_entry){fde.start, fde.end, (uint32_t)here}))
            return pf_symbol_no_memory(cfi->budget);
    }
    if (!sorted)
        qsort(cfi->entries, cfi->n, sizeof *cfi->entries, compare);
    return PERFILE_OK;
}

void pf_cfi_free(pf_cfi *cfi)
{
    pf_budget_free(cfi->budget, cfi->entries, cfi->cap, sizeof *cfi->entries);
    pf_piece_free(&cfi->section, cfi->budget);
    *cfi = (pf_cfi){0};
}

/* Returns the last entry that begins at or before `pc`, if it covers `pc`. */
static const pf_cfi_entry *entry_of(const pf_cfi *cfi, uint64_t pc)
{
    size_t low = 0, high = cfi->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cfi->entries[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low && pc < cfi->entries[low - 1].end ? &cfi->entries[low - 1] : NULL;
}

/* All rules at one address. */
typedef struct row {
    pf_where cfa;
    pf_where regs[PF_UNWIND_REGS];
    bool is_signed;
} row;

typedef struct machine {
    const pf_cfi *cfi;
    const pf_cie *cie;
    uint64_t pc, target;
    row now, initial;
    row remembered[REMEMBERED];
    unsigned n_remembered;
    size_t left; /* bytes that may still be executed */
    bool ok;
} machine;

/* Sets the rule of a register.  Rules of untracked registers (vector registers …) are ignored. */
static void set(machine *m, uint64_t reg, uint8_t kind, int64_t value)
{
    if (reg < PF_UNWIND_REGS)
        m->now.regs[reg] = (pf_where){value, kind, (uint8_t)reg};
}

static void restore(machine *m, uint64_t reg)
{
    if (reg < PF_UNWIND_REGS)
        m->now.regs[reg] = m->initial.regs[reg];
}

static void set_cfa(machine *m, uint64_t reg, int64_t offset)
{
    m->ok &= reg < PF_UNWIND_REGS;
    m->now.cfa = (pf_where){offset, PF_WHERE_REGISTER_OFFSET, (uint8_t)reg};
}

/* Multiplies modulo 2^64. */
static int64_t scaled(uint64_t n, int64_t by)
{
    return (int64_t)(n * (uint64_t)by);
}

static void advance(machine *m, uint64_t by)
{
    const uint64_t to = m->pc + by * m->cie->code_align;
    m->pc = to < m->pc ? UINT64_MAX : to;
}

/* Charges executed bytes of a program. */
static void charge(machine *m, size_t bytes)
{
    m->ok &= bytes <= m->left;
    m->left -= bytes <= m->left ? bytes : m->left;
}

/* Returns the offset of an expression and moves the cursor past it. */
static int64_t expression(machine *m, pf_cursor *c)
{
    const int64_t at = c->pos - m->cfi->section.ptr;
    pf_cur_span(c, pf_cur_uleb(c));
    return at;
}

/* Executes operations that define the CFA. */
static bool frame_operation(machine *m, uint8_t op, pf_cursor *c)
{
    const int64_t align = m->cie->data_align;
    uint64_t reg;
    switch (op) {
    case 0x0c: /* def_cfa */
        reg = pf_cur_uleb(c);
        set_cfa(m, reg, (int64_t)pf_cur_uleb(c));
        return true;
    case 0x12: /* def_cfa_sf */
        reg = pf_cur_uleb(c);
        set_cfa(m, reg, scaled((uint64_t)pf_cur_sleb(c), align));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(m, pf_cur_uleb(c), m->now.cfa.value);
        return true;
    case 0x0e: /* def_cfa_offset */
        m->now.cfa.value = (int64_t)pf_cur_uleb(c);
        m->ok &= m->now.cfa.kind == PF_WHERE_REGISTER_OFFSET;
        return true;
    case 0x13: /* def_cfa_offset_sf */
        m->now.cfa.value = scaled((uint64_t)pf_cur_sleb(c), align);
        m->ok &= m->now.cfa.kind == PF_WHERE_REGISTER_OFFSET;
        return true;
    case 0x0f: /* def_cfa_expression */
        m->now.cfa = (pf_where){expression(m, c), PF_WHERE_IS_EXPRESSION, 0};
        return true;
    default:
        return false;
    }
}

/* Executes operations that set the rule of a register. */
static bool register_operation(machine *m, uint8_t op, pf_cursor *c)
{
    const int64_t align = m->cie->data_align;
    const uint64_t reg = pf_cur_uleb(c);
    switch (op) {
    case 0x05: /* offset_extended */
        set(m, reg, PF_WHERE_SAVED, scaled(pf_cur_uleb(c), align));
        return true;
    case 0x11: /* offset_extended_sf */
        set(m, reg, PF_WHERE_SAVED, scaled((uint64_t)pf_cur_sleb(c), align));
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        set(m, reg, PF_WHERE_SAVED, scaled(0 - pf_cur_uleb(c), align));
        return true;
    case 0x14: /* val_offset */
        set(m, reg, PF_WHERE_CFA, scaled(pf_cur_uleb(c), align));
        return true;
    case 0x15: /* val_offset_sf */
        set(m, reg, PF_WHERE_CFA, scaled((uint64_t)pf_cur_sleb(c), align));
        return true;
    case 0x06: /* restore_extended */
        restore(m, reg);
        return true;
    case 0x07:
        set(m, reg, PF_WHERE_UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set(m, reg, PF_WHERE_SAME, 0);
        return true;
    case 0x09: /* register */
        set(m, reg, PF_WHERE_REGISTER, (int64_t)pf_cur_uleb(c));
        return true;
    case 0x10:
        set(m, reg, PF_WHERE_AT_EXPRESSION, expression(m, c));
        return true;
    case 0x16: /* val_expression */
        set(m, reg, PF_WHERE_IS_EXPRESSION, expression(m, c));
        return true;
    default:
        return false;
    }
}

/* Executes the remaining operations with zero upper bits. */
static bool operation(machine *m, uint8_t op, pf_cursor *c)
{
    switch (op) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        m->pc = pf_cfi_address(m->cfi, c, m->cie->encoding, &m->ok);
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
        advance(m, pf_cur_u8(c));
        return true;
    case 0x03:
        advance(m, pf_cur_u16(c));
        return true;
    case 0x04:
        advance(m, pf_cur_u32(c));
        return true;
    case 0x0a: /* remember_state */
        charge(m, ROW_BYTES);
        m->ok &= m->n_remembered < REMEMBERED;
        if (m->ok)
            m->remembered[m->n_remembered++] = m->now;
        return true;
    case 0x0b: /* restore_state */
        charge(m, ROW_BYTES);
        m->ok &= m->n_remembered > 0;
        if (m->ok)
            m->now = m->remembered[--m->n_remembered];
        return true;
    case 0x2d: /* aarch64: negate_ra_state */
        m->now.is_signed = !m->now.is_signed;
        return true;
    case 0x2e: /* GNU_args_size */
        pf_cur_uleb(c);
        return true;
    default:
        return frame_operation(m, op, c) || register_operation(m, op, c);
    }
}

/* Executes a program up to the target address. */
static void execute(machine *m, perfile_bytes program)
{
    pf_cursor c = pf_cur(program, m->cfi->swap);
    while (m->ok && pf_cur_left(&c)) {
        const uint8_t *const start = c.pos;
        const uint8_t op = pf_cur_u8(&c), low = op & SAVED_IN_PROGRAM;
        if (op >> 6 == 1)
            advance(m, low);
        else if (op >> 6 == 2)
            set(m, low, PF_WHERE_SAVED, scaled(pf_cur_uleb(&c), m->cie->data_align));
        else if (op >> 6 == 3)
            restore(m, low);
        else
            m->ok &= operation(m, op, &c);
        m->ok &= !c.bad;
        charge(m, (size_t)(c.pos - start));
        if (m->pc > m->target)
            return;
    }
}

bool pf_cfi_rule(pf_cfi *cfi, uint64_t pc, pf_unwind_rule *rule, pf_where *wheres)
{
    pf_fde fde;
    const pf_cfi_entry *entry = entry_of(cfi, pc);
    uint64_t at = entry ? entry->at : 0;
    if (!entry || pf_cfi_next(cfi, &at, &fde) != PF_CFI_FDE)
        return false;
    const size_t most = cfi->left < PROGRAM_BYTES ? (size_t)cfi->left : PROGRAM_BYTES;
    machine m = {.cfi = cfi, .cie = &fde.cie, .target = pc, .left = most, .ok = true};
    /* The common program sets the initial rules, whatever the address. */
    m.pc = pc;
    execute(&m, fde.cie.program);
    m.initial = m.now;
    m.pc = fde.start;
    execute(&m, fde.program);
    cfi->left -= most - m.left;
    if (!m.ok || m.now.cfa.kind == PF_WHERE_SAME)
        return false;
    *rule = (pf_unwind_rule){.kind = PF_RULE_FRAME,
                             .return_column = (uint8_t)fde.cie.return_column,
                             .is_signal = fde.cie.is_signal,
                             .is_signed = m.now.is_signed,
                             .swap = cfi->swap,
                             .cfa = m.now.cfa,
                             .expressions = pf_piece_bytes(&cfi->section),
                             .first = rule->first};
    for (unsigned i = 0; i < PF_UNWIND_REGS; i++)
        if (m.now.regs[i].kind != PF_WHERE_SAME)
            wheres[rule->n++] = m.now.regs[i];
    return true;
}
