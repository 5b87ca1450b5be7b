/* Fields of samples that few captures have: memory accesses, registers, branches, BPF output, page
 * sizes. */
#include <inttypes.h>
#include <string.h>

#include "script/script.h"

/* The description of a memory access: a text that is cut after SOURCE_MOST bytes. */

enum { SOURCE_MOST = 99 };

typedef struct words {
    char text[SOURCE_MOST + 1];
    size_t n;
} words;

static void add(words *w, const char *text)
{
    for (; *text && w->n < SOURCE_MOST; text++)
        w->text[w->n++] = *text;
}

/* Adds the names of set bits, separated by " or ", after `before` other names.  Returns the total
 * number of names. */
static unsigned add_bits(words *w, uint64_t bits, const char *const *names, unsigned n,
                         unsigned before)
{
    for (unsigned i = 0; i < n; i++) {
        if (!(bits >> i & 1))
            continue;
        if (before++)
            add(w, " or ");
        add(w, names[i]);
    }
    return before;
}

/* Returns the bits of data_src from `at` on. */
static uint64_t part(uint64_t source, unsigned at, unsigned bits)
{
    return source >> at & ((UINT64_C(1) << bits) - 1);
}

static void add_operation(words *w, uint64_t source)
{
    static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
    const uint64_t op = part(source, 0, 5);
    add(w, "|OP ");
    add(w, op ? names[__builtin_ctzll(op)] : "No");
}

static void add_level(words *w, uint64_t source)
{
    static const char *const levels[] = {"N/A",
                                         "HIT",
                                         "MISS",
                                         "L1",
                                         "LFB/MAB",
                                         "L2",
                                         "L3",
                                         "Local RAM",
                                         "Remote RAM (1 hop)",
                                         "Remote RAM (2 hops)",
                                         "Remote Cache (1 hop)",
                                         "Remote Cache (2 hops)",
                                         "I/O",
                                         "Uncached"};
    static const char *const numbers[16] = {
        [1] = "L1",         [2] = "L2",       [3] = "L3",   [4] = "L4",    [5] = "L5",
        [6] = "L6",         [7] = "L7",       [8] = "L8",   [9] = "CXL",   [10] = "I/O",
        [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM", [14] = "PMEM", [15] = "N/A"};
    static const char *const hops[8] = {
        "N/A", "core, same node", "node, same socket", "socket, same board", "board", "", "", ""};
    const uint64_t level = part(source, 5, 14);
    unsigned n = 0;
    add(w, "|LVL ");
    const size_t begin = w->n;
    if (part(source, 37, 1))
        add(w, "Remote ");
    if (part(source, 43, 3)) {
        add(w, hops[part(source, 43, 3)]);
        add(w, " ");
    } else {
        n = add_bits(w, level & ~UINT64_C(6), levels, 14, 0);
    }
    if (part(source, 33, 4)) {
        add(w, n ? " or " : "");
        add(w, numbers[part(source, 33, 4)]);
    }
    add(w, w->n == begin ? "N/A" : "");
    add(w, level & 2 ? " hit" : "");
    add(w, level & 4 ? " miss" : "");
}

static void add_rest(words *w, uint64_t source)
{
    static const char *const snoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
    static const char *const more_snoops[] = {"Fwd", "Peer"};
    static const char *const tlbs[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
    const uint64_t tlb = part(source, 26, 7), locked = part(source, 24, 2);
    const uint64_t block = part(source, 40, 3);
    add(w, "|SNP ");
    unsigned n = add_bits(w, part(source, 19, 5), snoops, 5, 0);
    n = add_bits(w, part(source, 38, 2), more_snoops, 2, n);
    add(w, n ? "" : "N/A");
    add(w, "|TLB ");
    n = add_bits(w, tlb & ~UINT64_C(6), tlbs, 7, 0);
    add(w, n ? "" : "N/A");
    add(w, tlb & 2 ? " hit" : "");
    add(w, tlb & 4 ? " miss" : "");
    add(w, "|LCK ");
    add(w, locked & 1 ? "N/A" : locked & 2 ? "Yes" : "No");
    add(w, "|BLK ");
    if (!block || block & 1)
        add(w, " N/A");
    else
        add(w, block & 2 ? block & 4 ? " Data Addr" : " Data" : " Addr");
}

/* The column is as wide as the widest value so far. */
static bool put_data_src(pf_script_state *s, uint64_t source, pf_buffer *out)
{
    words w = {.n = 0};
    char number[24];
    const size_t digits = (size_t)(pf_put_hex((uint8_t *)number, source) - (uint8_t *)number);
    const size_t begin = out->len;
    number[digits] = '\0';
    add_operation(&w, source);
    add_level(&w, source);
    add_rest(&w, source);
    if (!pf_script_printf(out, "%16s ", number) || !pf_buffer_append(out, w.text, w.n))
        return false;
    if (out->len - begin > SOURCE_MOST)
        out->len = begin + SOURCE_MOST;
    const size_t n = out->len - begin;
    s->data_src_width = n > s->data_src_width ? n : s->data_src_width;
    bool ok = true;
    for (size_t i = n; i < s->data_src_width && ok; i++)
        ok = pf_buffer_append_u8(out, ' ');
    return ok;
}

/* Appends the data address, and its symbol if samples of the event have one. */
static bool put_addr(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                     uint64_t addr, pf_buffer *out)
{
    if (!pf_script_printf(out, "%16" PRIx64, addr))
        return false;
    if (!e->has_data_sym || !(e->fields & (PF_FIELD_SYM | PF_FIELD_DSO)))
        return true;
    pf_code_place place;
    bool ok = pf_script_place(s, u, pf_code_of_misc(u->misc), addr, &place);
    if (ok && e->fields & PF_FIELD_SYM)
        ok = pf_buffer_append_u8(out, ' ') &&
             pf_script_put_symbol(s, &place, e->fields & PF_FIELD_SYMOFF, out);
    if (ok && e->fields & PF_FIELD_DSO)
        ok = pf_buffer_append(out, " (", 2) && pf_script_put_dso(s, &place, out) &&
             pf_buffer_append_u8(out, ')');
    return ok;
}

bool pf_script_put_memory(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out)
{
    const uint64_t fields = e->fields;
    const perfile_weight *w = &v->weight;
    bool ok = true;
    if (fields & PF_FIELD_ADDR)
        ok = put_addr(s, e, u, v->addr, out);
    if (fields & PF_FIELD_DATA_SRC)
        ok = ok && put_data_src(s, v->data_src, out);
    if (fields & PF_FIELD_WEIGHT)
        ok = ok && pf_script_printf(out, "%16" PRIu64, w->has_struct ? w->var1_dw : w->full);
    if (fields & PF_FIELD_INS_LAT)
        ok = ok && pf_script_printf(out, "%16" PRIu16, w->var2_w);
    if (fields & PF_FIELD_RETIRE_LAT)
        ok = ok && pf_script_printf(out, "%16" PRIu16, w->var3_w);
    return ok;
}

static bool put_registers(const pf_script *x, uint64_t abi, uint64_t mask, perfile_words regs,
                          pf_buffer *out)
{
    uint32_t n = 0;
    bool ok = pf_script_printf(out, " ABI:%" PRIu64 " ", abi);
    for (unsigned i = 0; i < 64 && ok; i++) {
        if (!(mask >> i & 1))
            continue;
        const char *name = x->registers ? x->registers[i] : NULL;
        const char *high = name ? strstr(name, "_HI") : NULL; /* both halves have one name */
        char text[16];
        const size_t length = high ? (size_t)(high - name) : strlen(name ? name : "unknown");
        memcpy(text, name ? name : "unknown", length < 15 ? length : 15);
        text[length < 15 ? length : 15] = '\0';
        for (char *c = text; *c && x->lower_case; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + ('a' - 'A')) : *c;
        ok = pf_script_printf(out, "%5s:0x%" PRIx64 " ", text,
                              n < regs.n ? perfile_word(&regs, n) : 0);
        n++;
    }
    return ok;
}

/* Appends the flags of a branch: "/P/-/-/4/COND ". */
static bool put_branch_flags(uint64_t flags, pf_buffer *out)
{
    static const char *const types[16] = {
        "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
        "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", ""};
    static const char *const new_types[8] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                             "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};
    const unsigned type = flags >> 20 & 15;
    const unsigned new_type = flags >> 26 & 15;
    return pf_script_printf(out, "/%c/%c/%c/%u/%s ",
                            flags & 2   ? 'P'
                            : flags & 1 ? 'M'
                                        : '-',
                            flags & 4 ? 'X' : '-', flags & 8 ? 'A' : '-',
                            (unsigned)(flags >> 4 & 0xffff),
                            type < 15      ? types[type]
                            : new_type < 8 ? new_types[new_type]
                                           : "");
}

/* Appends one end of a branch, in the form of the field that is printed. */
static bool put_end(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                    uint64_t addr, pf_buffer *out)
{
    pf_code_place place;
    bool ok = pf_script_place(s, u, pf_code_of_misc(u->misc), addr, &place);
    if (e->fields & PF_FIELD_BRSTACK)
        ok = ok && pf_script_printf(out, "0x%" PRIx64, addr);
    else if (e->fields & PF_FIELD_BRSTACKSYM)
        ok = ok && pf_script_put_symbol(s, &place, true, out);
    else
        ok = ok && pf_script_printf(out, "0x%" PRIx64, pf_script_offset(s, &place));
    if (e->fields & PF_FIELD_DSO)
        ok = ok && pf_buffer_append_u8(out, '(') && pf_script_put_dso(s, &place, out) &&
             pf_buffer_append_u8(out, ')');
    return ok;
}

static bool put_branches(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                         const perfile_branch_stack *stack, pf_buffer *out)
{
    perfile_list list = stack->lbr;
    perfile_branch_entry b;
    const bool by_name = !(e->fields & PF_FIELD_BRSTACK) && e->fields & PF_FIELD_BRSTACKSYM;
    bool ok = true;
    while (ok && perfile_branch_entry_next(&list, &b, sizeof b) == PERFILE_OK)
        ok = (by_name || pf_buffer_append_u8(out, ' ')) && put_end(s, e, u, b.from, out) &&
             pf_buffer_append_u8(out, '/') && put_end(s, e, u, b.to, out) &&
             put_branch_flags(b.flags, out);
    return ok;
}

/* Appends a line with at most 8 bytes of BPF output, in hexadecimal and as text. */
static bool put_bpf_line(perfile_bytes raw, size_t at, pf_buffer *out)
{
    const size_t n = raw.len - at < 8 ? raw.len - at : 8;
    bool ok = pf_script_printf(out, "%17s %04zx:", at ? "           " : "BPF output:", at);
    for (size_t i = 0; i < 8 && ok; i++)
        ok = i < n ? pf_script_printf(out, " %02x", raw.ptr[at + i])
                   : pf_buffer_append(out, "   ", 3);
    ok = ok && pf_buffer_append(out, "  ", 2);
    for (size_t i = 0; i < 8 && ok; i++) {
        const uint8_t c = i < n ? raw.ptr[at + i] : ' ';
        ok = pf_buffer_append_u8(out, c >= 0x20 && c < 0x7f ? c : '.');
    }
    return ok && pf_buffer_append_u8(out, '\n');
}

static bool put_bpf_output(perfile_bytes raw, pf_buffer *out)
{
    bool ok = pf_buffer_append_u8(out, '\n');
    for (size_t at = 0; at < raw.len && ok; at += 8)
        ok = put_bpf_line(raw, at, out);
    /* The data is a string if it is printable up to a NUL, with only NULs after that. */
    const uint8_t *nul = raw.len ? memchr(raw.ptr, 0, raw.len) : NULL;
    const size_t n = nul ? (size_t)(nul - raw.ptr) : 0;
    bool is_string = nul;
    for (size_t i = 0; i < raw.len && is_string; i++)
        is_string = i < n ? raw.ptr[i] >= 0x20 && raw.ptr[i] < 0x7f : raw.ptr[i] == 0;
    if (!ok || !is_string)
        return ok;
    return pf_script_printf(out, "%17s \"", "BPF string:") && pf_buffer_append(out, raw.ptr, n) &&
           pf_buffer_append(out, "\"\n", 2);
}

/* Appends the size of a page: 4K, 2M. */
static bool put_page_size(uint64_t size, pf_buffer *out)
{
    unsigned unit = 0;
    if (!size)
        return pf_buffer_append(out, " N/A", 4);
    for (; size / 1024 > 1 && unit < 3; unit++)
        size /= 1024;
    return pf_script_printf(out, " %" PRIu64 "%c", size, "BKMG"[unit]);
}

bool pf_script_put_values(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out)
{
    const uint64_t branches = PF_FIELD_BRSTACK | PF_FIELD_BRSTACKSYM | PF_FIELD_BRSTACKOFF;
    const uint64_t fields = e->fields;
    bool ok = true;
    if (fields & PF_FIELD_IREGS && v->regs_intr.has_regs)
        ok = put_registers(s->x, v->regs_intr.abi, v->regs_intr.mask, v->regs_intr.regs, out);
    if (fields & PF_FIELD_UREGS && v->regs_user.has_regs)
        ok = ok && put_registers(s->x, v->regs_user.abi, v->regs_user.mask, v->regs_user.regs, out);
    if (fields & branches && v->present & PERFILE_SAMPLE_BRANCH_STACK)
        ok = ok && put_branches(s, e, u, &v->branch_stack, out);
    if (fields & PF_FIELD_BPF_OUTPUT && e->is_bpf)
        ok = ok && put_bpf_output(v->raw, out);
    if (fields & PF_FIELD_PHYS_ADDR)
        ok = ok && pf_script_printf(out, "%16" PRIx64, v->phys_addr);
    if (fields & PF_FIELD_DATA_PAGE_SIZE)
        ok = ok && put_page_size(v->data_page_size, out);
    if (fields & PF_FIELD_CODE_PAGE_SIZE)
        ok = ok && put_page_size(v->code_page_size, out);
    return ok;
}
