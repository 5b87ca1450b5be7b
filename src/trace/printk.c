/* Constant texts of the recorded kernel (printk.h). */
#include "trace/printk.h"

#include <stdlib.h>
#include <string.h>

/* Reads the address and the quoted text of the next valid line.  Returns false at the end. */
static bool next_line(perfile_bytes *file, uint64_t *address, perfile_bytes *text)
{
    while (file->len) {
        const uint8_t *end = memchr(file->ptr, '\n', file->len);
        const perfile_bytes line = {file->ptr, end ? (size_t)(end - file->ptr) : file->len};
        const size_t step = line.len + (end != NULL);
        file->ptr += step;
        file->len -= step;
        const uint8_t *quote = line.len ? memchr(line.ptr, '"', line.len) : NULL;
        size_t i = line.len > 2 && line.ptr[0] == '0' && line.ptr[1] == 'x' ? 2 : line.len;
        for (*address = 0; i < line.len && line.ptr[i] != ' ' && line.ptr[i] != ':'; i++) {
            const char *digit = memchr("0123456789abcdef", line.ptr[i] | 0x20, 16);
            *address = *address << 4 | (digit ? (uint64_t)(digit - "0123456789abcdef") : 0);
        }
        if (!quote || i == line.len)
            continue;
        *text = (perfile_bytes){quote + 1, line.len - (size_t)(quote + 1 - line.ptr)};
        while (text->len && text->ptr[text->len - 1] != '"')
            text->len--;
        text->len -= text->len != 0;
        return true;
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const pf_printk_text *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

perfile_status pf_printk_read(pf_printk *out, perfile_bytes file, pf_arena *arena,
                              perfile_error *err)
{
    uint64_t address;
    perfile_bytes text, left = file;
    size_t n = 0;
    void *p;
    while (next_line(&left, &address, &text))
        n++;
    perfile_status st = pf_arena_get(arena, (n + 1) * sizeof(pf_printk_text), &p, err);
    pf_printk_text *at = p;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        (void)next_line(&file, &at[i].address, &text);
        st = pf_arena_text(arena, text, &at[i].text, err);
    }
    if (st != PERFILE_OK)
        return st;
    qsort(at, n, sizeof *at, by_address);
    *out = (pf_printk){at, n};
    return PERFILE_OK;
}

const char *pf_printk_find(const pf_printk *p, uint64_t address)
{
    size_t lo = 0, hi = p ? p->n : 0;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (p->at[middle].address == address)
            return p->at[middle].text;
        if (p->at[middle].address < address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return NULL;
}
