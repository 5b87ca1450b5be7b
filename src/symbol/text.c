/* Parsers of kallsyms and perf-PID.map. */
#include "symbol/text.h"

#include <string.h>

#include "base/cursor.h"
#include "perfile/symbol.h"

/* The next line without its end; false behind the last.  One with a NUL in it counts as empty: no
 * name has one. */
static bool next_line(pf_cursor *c, pf_cursor *line)
{
    size_t left = pf_cur_left(c);
    if (!left)
        return false;
    const uint8_t *end = memchr(c->pos, '\n', left);
    *line = pf_cur(pf_cur_span(c, end ? (uint64_t)(end - c->pos) : left), false);
    if (end)
        pf_cur_u8(c);
    if (pf_cur_left(line) && line->end[-1] == '\r')
        line->end--;
    if (pf_cur_left(line) && memchr(line->pos, 0, pf_cur_left(line)))
        line->pos = line->end;
    return true;
}

static void skip_blanks(pf_cursor *c)
{
    while (pf_cur_left(c) && (*c->pos == ' ' || *c->pos == '\t'))
        c->pos++;
}

static int digit(uint8_t b)
{
    if (b >= '0' && b <= '9')
        return b - '0';
    b |= 0x20;
    return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

/* A hexadecimal number, with 0x in front or without, and the blanks behind it. */
static bool hex_number(pf_cursor *c, uint64_t *number)
{
    if (pf_cur_left(c) > 2 && c->pos[0] == '0' && (c->pos[1] | 0x20) == 'x')
        c->pos += 2;
    const uint8_t *start = c->pos;
    uint64_t v = 0;
    for (; pf_cur_left(c) && digit(*c->pos) >= 0; c->pos++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)digit(*c->pos);
    }
    bool ok = c->pos != start && pf_cur_left(c) && (*c->pos == ' ' || *c->pos == '\t');
    skip_blanks(c);
    *number = v;
    return ok;
}

/* Bytes up to the next blank, and the blanks behind them. */
static perfile_bytes word(pf_cursor *c)
{
    size_t n = 0;
    while (n < pf_cur_left(c) && c->pos[n] != ' ' && c->pos[n] != '\t')
        n++;
    perfile_bytes text = pf_cur_span(c, n);
    skip_blanks(c);
    return text;
}

/* Text, weak, data and bss: t, w, d, b; capital letters are global. */
static bool type_counts(uint8_t type)
{
    type &= 0xdf;
    return type == 'T' || type == 'W' || type == 'D' || type == 'B';
}

/* Modules come in one piece each: their names are stored once for each piece. */
typedef struct module {
    perfile_bytes text;
    uint32_t at; /* in the names of the table; 0: not stored */
} module;

static perfile_status set_module(pf_symtab *t, module *last, perfile_bytes text, pf_sym *sym)
{
    perfile_status st = PERFILE_OK;
    if (!last->at || last->text.len != text.len ||
        memcmp(last->text.ptr, text.ptr, text.len) != 0) {
        st = pf_symtab_text(t, text, &last->at);
        last->text = text;
    }
    sym->module = last->at;
    return st;
}

static perfile_status add_kernel_symbol(pf_symtab *t, pf_cursor *line, module *last)
{
    uint64_t addr;
    if (!hex_number(line, &addr))
        return PERFILE_OK;
    perfile_bytes type = word(line), name = word(line), in = word(line);
    /* Marks of code and data on ARM begin with a dollar. */
    if (type.len != 1 || !type_counts(type.ptr[0]) || !name.len || name.ptr[0] == '$')
        return PERFILE_OK;
    pf_sym sym = {
        .start = addr, .end = UINT64_MAX, .open_end = true, .origin = PERFILE_SYMBOL_KALLSYMS};
    sym.binding = (type.ptr[0] | 0x20) == 'w' ? PF_BIND_WEAK
                  : type.ptr[0] & 0x20        ? PF_BIND_LOCAL
                                              : PF_BIND_GLOBAL;
    perfile_status st = pf_symtab_text(t, name, &sym.name);
    if (st == PERFILE_OK && in.len > 2 && in.ptr[0] == '[' && in.ptr[in.len - 1] == ']')
        st = set_module(t, last, (perfile_bytes){in.ptr + 1, in.len - 2}, &sym);
    return st == PERFILE_OK ? pf_symtab_add(t, sym) : st;
}

perfile_status pf_kallsyms_add(pf_symtab *t, perfile_bytes text)
{
    pf_cursor c = pf_cur(text, false), line;
    module last = {{NULL, 0}, 0};
    perfile_status st = PERFILE_OK;
    size_t before = t->n;
    bool known = false;
    while (st == PERFILE_OK && next_line(&c, &line)) {
        st = add_kernel_symbol(t, &line, &last);
        known = known || (t->n > before && t->syms[t->n - 1].start);
    }
    if (!known)
        t->n = before;
    return st;
}

perfile_status pf_perf_map_add(pf_symtab *t, perfile_bytes text)
{
    pf_cursor c = pf_cur(text, false), line;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && next_line(&c, &line)) {
        pf_sym sym = {.origin = PERFILE_SYMBOL_PERF_MAP, .binding = PF_BIND_GLOBAL};
        uint64_t size;
        if (!hex_number(&line, &sym.start) || !hex_number(&line, &size) || !size ||
            pf_add_u64(sym.start, size, &sym.end) || !pf_cur_left(&line))
            continue;
        st = pf_symtab_text(t, (perfile_bytes){line.pos, pf_cur_left(&line)}, &sym.name);
        if (st == PERFILE_OK)
            st = pf_symtab_add(t, sym);
    }
    return st;
}
