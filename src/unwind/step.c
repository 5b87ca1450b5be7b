/* Applying rules (see step.h). */
#include "unwind/unwind.h"

#include "base/byte_order.h"

enum {
    FRAME_POINTER_REACH = 0x4000, /* farthest from the stack pointer that it is believed */
    N = PF_UNWIND_REGS
};

/* Bits are numbers of uapi/asm/perf_regs.h; registers those of the System V ABI's DWARF numbering.
 */
const pf_unwind_machine pf_unwind_x86_64 = {
    .elf = 62,
    .sp = 7,
    .fp = 6,
    .pc = 16,
    .calls_push = true,
    .pc_bit = 8,
    .address_mask = UINT64_MAX,
    .of_bit = {0,  3,  2, 1, 4, 5, 6, 7, 16, N, N, N, N, N, N, N, 8, 9, 10, 11, 12, 13,
               14, 15, N, N, N, N, N, N, N,  N, N, N, N, N, N, N, N, N, N,  N,  N,  N,
               N,  N,  N, N, N, N, N, N, N,  N, N, N, N, N, N, N, N, N, N,  N}};

/* Addresses of programs have 48 bits; what is above them in a signed one is the signature. */
const pf_unwind_machine pf_unwind_aarch64 = {
    .elf = 183,
    .sp = 31,
    .fp = 29,
    .pc = N,
    .pc_bit = 32,
    .address_mask = (UINT64_C(1) << 48) - 1,
    .of_bit = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
               16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
               N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,
               N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N}};

int pf_unwind_read(const pf_unwind_stack *stack, uint64_t addr, unsigned size, uint64_t *word)
{
    const uint64_t at = addr - stack->start;
    if (addr < stack->start)
        return PF_UNWIND_UNSUPPORTED;
    if (at > stack->bytes.len || stack->bytes.len - at < size)
        return PF_UNWIND_SHORT;
    const uint8_t *p = stack->bytes.ptr + at;
    *word = size == 8   ? pf_load_u64(p, stack->swap)
            : size == 4 ? pf_load_u32(p, stack->swap)
            : size == 2 ? pf_load_u16(p, stack->swap)
                        : *p;
    return PF_UNWIND_MORE;
}

static bool is_known(const pf_unwind_frame *f, uint64_t reg)
{
    return reg < PF_UNWIND_REGS && (f->known >> reg & 1);
}

static void put(pf_unwind_frame *f, unsigned reg, uint64_t value)
{
    f->regs[reg] = value;
    f->known |= UINT64_C(1) << reg;
}

static int find_cfa(const pf_unwind_rule *rule, const pf_unwind_frame *f,
                    const pf_unwind_stack *stack, uint64_t *cfa)
{
    if (rule->cfa.kind == PF_WHERE_IS_EXPRESSION)
        return pf_unwind_evaluate(rule, (uint64_t)rule->cfa.value, NULL, f, stack, cfa);
    if (!is_known(f, rule->cfa.reg))
        return PF_UNWIND_UNSUPPORTED;
    *cfa = f->regs[rule->cfa.reg] + (uint64_t)rule->cfa.value;
    return PF_UNWIND_MORE;
}

/* The caller's value of a register.  PF_UNWIND_COMPLETE: there is none. */
static int find_value(const pf_unwind_rule *rule, const pf_where *w, uint64_t cfa,
                      const pf_unwind_frame *f, const pf_unwind_stack *stack, uint64_t *value)
{
    uint64_t at;
    int end;
    switch (w->kind) {
    case PF_WHERE_SAVED:
        return pf_unwind_read(stack, cfa + (uint64_t)w->value, 8, value);
    case PF_WHERE_CFA:
        *value = cfa + (uint64_t)w->value;
        return PF_UNWIND_MORE;
    case PF_WHERE_REGISTER:
        if (!is_known(f, (uint64_t)w->value))
            return PF_UNWIND_COMPLETE;
        *value = f->regs[w->value];
        return PF_UNWIND_MORE;
    case PF_WHERE_AT_EXPRESSION:
        end = pf_unwind_evaluate(rule, (uint64_t)w->value, &cfa, f, stack, &at);
        return end == PF_UNWIND_MORE ? pf_unwind_read(stack, at, 8, value) : end;
    case PF_WHERE_IS_EXPRESSION:
        return pf_unwind_evaluate(rule, (uint64_t)w->value, &cfa, f, stack, value);
    default: /* PF_WHERE_UNDEFINED */
        return PF_UNWIND_COMPLETE;
    }
}

/* The frame becomes that of its caller, unless it is not above the one before. */
static int enter(const pf_unwind_machine *m, const pf_unwind_frame *next, pf_unwind_frame *frame)
{
    const uint64_t sp = frame->regs[m->sp], up = next->regs[m->sp];
    const bool moved = up > sp || (up == sp && !m->calls_push && next->pc != frame->pc);
    if (!moved && is_known(frame, m->sp))
        return PF_UNWIND_UNSUPPORTED;
    if (!next->pc)
        return PF_UNWIND_COMPLETE;
    *frame = *next;
    if (m->pc < PF_UNWIND_REGS)
        put(frame, m->pc, frame->pc);
    return PF_UNWIND_MORE;
}

int pf_unwind_step(const pf_unwind_machine *m, const pf_unwind_rule *rule, const pf_where *wheres,
                   const pf_unwind_stack *stack, pf_unwind_frame *frame)
{
    pf_unwind_frame next = *frame;
    uint64_t cfa, value = 0;
    int end = find_cfa(rule, frame, stack, &cfa);
    if (end != PF_UNWIND_MORE)
        return end;
    put(&next, m->sp, cfa); /* unless a rule says otherwise */
    for (unsigned i = 0; i < rule->n; i++) {
        const uint8_t reg = wheres[i].reg;
        end = find_value(rule, &wheres[i], cfa, frame, stack, &value);
        if (end == PF_UNWIND_MORE)
            put(&next, reg, value);
        else if (reg == rule->return_column)
            return end;
        else /* it may not be needed */
            next.known &= ~(UINT64_C(1) << reg);
    }
    if (!is_known(&next, rule->return_column) || !is_known(&next, m->sp))
        return PF_UNWIND_UNSUPPORTED;
    next.pc = next.regs[rule->return_column];
    if (rule->is_signed)
        next.pc &= m->address_mask;
    return enter(m, &next, frame);
}

int pf_unwind_by_frame_pointer(const pf_unwind_machine *m, const pf_unwind_stack *stack,
                               pf_unwind_frame *frame)
{
    pf_unwind_frame next = {0};
    const uint64_t fp = frame->regs[m->fp], sp = frame->regs[m->sp];
    uint64_t above;
    if (!is_known(frame, m->fp) || !is_known(frame, m->sp) || fp < sp ||
        fp - sp > FRAME_POINTER_REACH || fp % 8 != 0 ||
        pf_unwind_read(stack, fp, 8, &above) != PF_UNWIND_MORE ||
        pf_unwind_read(stack, fp + 8, 8, &next.pc) != PF_UNWIND_MORE)
        return PF_UNWIND_NO_RULES;
    put(&next, m->fp, above);
    put(&next, m->sp, fp + 16);
    next.pc &= m->address_mask;
    return enter(m, &next, frame);
}
