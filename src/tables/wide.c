/* Branch stacks and registers of samples, which are written only if wide rows are requested. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emit/text_page.h"
#include "tables/tables.h"

/* Branches.  The ids of the frames at both ends are filled in later. */

/* Resolves an end of a branch, and stores its frame until the ids are known.  Returns false as
 * makers do. */
static bool put_end(pf_tables *x, const pf_profiled *s, uint64_t addr)
{
    pf_code_place place;
    return pf_resolve_address(&x->x.reader.resolver, s->pid, pf_code_of_misc(s->record->misc), addr,
                              s->time, &place) &&
           pf_buffer_append(&x->branch_frames, &place.frame, sizeof place.frame);
}

static bool put_branches(pf_tables *x, const pf_profiled *s, const perfile_branch_stack *stack)
{
    enum { MISPREDICTED = 1, PREDICTED = 2, CYCLES_SHIFT = 4, CYCLES = 0xffff };
    perfile_list list = stack->lbr;
    perfile_branch_entry b;
    pf_table_column *mispredicted = PF_MEMBER(x, samples, branches, mispredicted);
    size_t n = 0;
    bool ok = true;
    for (; ok && perfile_branch_entry_next(&list, &b, sizeof b) == PERFILE_OK; n++) {
        pf_column_number(PF_MEMBER(x, samples, branches, from), b.from);
        pf_column_number(PF_MEMBER(x, samples, branches, to), b.to);
        if (b.flags & (MISPREDICTED | PREDICTED))
            pf_column_bool(mispredicted, b.flags & MISPREDICTED);
        else
            pf_column_null(mispredicted);
        pf_column_number(PF_MEMBER(x, samples, branches, cycles), b.flags >> CYCLES_SHIFT & CYCLES);
        ok = put_end(x, s, b.from) && put_end(x, s, b.to);
    }
    pf_column_list_end(PF_COLUMN(x, samples, branches), n);
    return ok;
}

void pf_wide_complete(pf_tables *x)
{
    const uint32_t *frames = (const void *)x->branch_frames.ptr;
    const size_t n = x->branch_frames.len / sizeof *frames;
    for (size_t i = 0; i + 1 < n; i += 2) {
        pf_column_number(PF_MEMBER(x, samples, branches, from_frame),
                         (uint64_t)pf_stacks_frame(x, frames[i]));
        pf_column_number(PF_MEMBER(x, samples, branches, to_frame),
                         (uint64_t)pf_stacks_frame(x, frames[i + 1]));
    }
    pf_buffer_clear(&x->branch_frames);
}

/* Registers. */

/* Adds the registers of a mask to the list of the row.  Returns how many. */
static size_t put_registers(pf_tables *x, const char *prefix, uint64_t mask, perfile_words regs)
{
    enum { MOST = 64, NAME = 32 };
    const pf_registers names = pf_registers_of(x->session);
    uint32_t n = 0;
    for (unsigned bit = 0; bit < MOST && n < regs.n; bit++) {
        char text[NAME], number[8];
        if (!(mask >> bit & 1))
            continue;
        snprintf(number, sizeof number, "%u", bit);
        snprintf(text, sizeof text, "%s%s", prefix, names && names[bit] ? names[bit] : number);
        pf_column_text(PF_MEMBER(x, samples, registers, name), text);
        pf_column_number(PF_MEMBER(x, samples, registers, value), perfile_word(&regs, n));
        n++;
    }
    return n;
}

bool pf_wide_put(pf_tables *x, const pf_profiled *s, const perfile_sample *v)
{
    const uint64_t registers = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_REGS_INTR;
    size_t n = 0;
    if (v->present & PERFILE_SAMPLE_REGS_USER && v->regs_user.has_regs)
        n += put_registers(x, "", v->regs_user.mask, v->regs_user.regs);
    if (v->present & PERFILE_SAMPLE_REGS_INTR && v->regs_intr.has_regs)
        n += put_registers(x, "intr.", v->regs_intr.mask, v->regs_intr.regs);
    if (v->present & registers)
        pf_column_list_end(PF_COLUMN(x, samples, registers), n);
    return !(v->present & PERFILE_SAMPLE_BRANCH_STACK) || put_branches(x, s, &v->branch_stack);
}
