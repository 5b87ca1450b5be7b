/* Entries of call frame information (see cfi_entry.h).
 *
 * An entry is a length, an id and the rest.  In .eh_frame the id of a common entry is 0, and that
 * of a function the distance back to its common entry; in .debug_frame they are all ones and the
 * position of the common entry.  All lengths and positions are checked against the section. */
#include "unwind/unwind.h"

#include <string.h>

#include "unwind/leb.h"

enum {
    MOST_LETTERS = 8, /* of an augmentation; those that are known are fewer */
    /* DW_EH_PE_…: how an address is stored, and what it is relative to. */
    ENCODING_FORM = 0x0f,
    ENCODING_BASE = 0x70,
    ENCODING_PCREL = 0x10,
    ENCODING_INDIRECT = 0x80,
    ENCODING_OMIT = 0xff
};

uint64_t pf_cfi_address(const pf_cfi *cfi, pf_cursor *c, uint8_t encoding, bool *ok)
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
        *ok = false; /* relative to things that only the running process has */
    return cfi->is64 ? v : (uint32_t)v;
}

/* The head of an entry.  `body`: behind the id; `id_at`: the position of the id. */
typedef struct head {
    perfile_bytes body;
    uint64_t id, id_at;
    bool wide; /* the 64-bit form */
} head;

/* Reads the head at *at and moves it behind the entry; false if there is none. */
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
    if (!length) /* the end of what one input of the linker gave */
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

/* The letters of an augmentation behind its `z`, and their data. */
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
            if (encoding != ENCODING_OMIT) /* where the personality routine is does not matter */
                (void)pf_cfi_address(cfi, &d, encoding & ENCODING_FORM, &ok);
            break;
        case 'L':
            (void)pf_cur_u8(&d);
            break;
        case 'B': /* aarch64: signed with the other key; memory tags */
        case 'G':
            break;
        default: /* `data` says where the program begins */
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
    /* Without looking for the end of a text that is too long anyway: this is read for each FDE. */
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

/* Reads the common entry of a function. */
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

int pf_cfi_next(const pf_cfi *cfi, uint64_t *at, pf_fde *fde)
{
    head h;
    if (!read_head(cfi, at, &h))
        return PF_CFI_END;
    return h.body.len && !is_cie(cfi, &h) && read_fde(cfi, &h, fde) ? PF_CFI_FDE : PF_CFI_OTHER;
}
