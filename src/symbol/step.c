/* Applies the rule of an address to registers and the copied stack. */
#include "base/byte_order.h"
#include "symbol/unwind.h"

/* Reads a word of the copied stack.  Returns PF_UNWIND_MORE if *word is set, otherwise how the
 * chain ends. */
static int pf_unwind_read(const pf_unwind_stack *stack, uint64_t addr, unsigned size,
                          uint64_t *word)
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

/* Expressions of call frame information, which PLT entries and signal frames have.
 *
 * This is DWARF's stack machine, with the operations that compute where the caller's registers are,
 * but without those for variables.  The number of executed operations is bounded. */

typedef struct machine {
    const pf_unwind_frame *frame;
    const pf_unwind_stack *memory;
    pf_cursor c;
    const uint8_t *start; /* of the expression */
    uint64_t stack[PF_UNWIND_EXPRESSION];
    unsigned n;
    int end; /* PF_UNWIND_MORE: no error so far */
} machine;

static void push(machine *m, uint64_t v)
{
    if (m->n < PF_UNWIND_EXPRESSION)
        m->stack[m->n++] = v;
    else
        m->end = PF_UNWIND_UNSUPPORTED;
}

static uint64_t pop(machine *m)
{
    if (m->n)
        return m->stack[--m->n];
    m->end = PF_UNWIND_UNSUPPORTED;
    return 0;
}

/* Pushes a copy of the item `i` below the top. */
static void pick(machine *m, unsigned i)
{
    if (i < m->n)
        push(m, m->stack[m->n - 1 - i]);
    else
        m->end = PF_UNWIND_UNSUPPORTED;
}

static void push_register(machine *m, uint64_t reg)
{
    const int64_t offset = pf_cur_sleb(&m->c);
    if (reg < PF_UNWIND_REGS && (m->frame->known >> reg & 1))
        push(m, m->frame->regs[reg] + (uint64_t)offset);
    else
        m->end = PF_UNWIND_UNSUPPORTED;
}

static void dereference(machine *m, unsigned size)
{
    uint64_t v = 0;
    const uint64_t addr = pop(m);
    if (m->end == PF_UNWIND_MORE)
        m->end = size == 1 || size == 2 || size == 4 || size == 8
                     ? pf_unwind_read(m->memory, addr, size, &v)
                     : PF_UNWIND_UNSUPPORTED;
    push(m, v);
}

/* Jumps by `by` bytes within the expression. */
static void jump(machine *m, int16_t by)
{
    const ptrdiff_t at = m->c.pos - m->start, size = m->c.end - m->start;
    if (m->c.bad || at + by < 0 || at + by > size)
        m->end = PF_UNWIND_UNSUPPORTED;
    else
        m->c.pos = m->start + at + by;
}

/* Executes a constant operation.  Returns false for other operations. */
static bool constant(machine *m, uint8_t op)
{
    pf_cursor *c = &m->c;
    switch (op) {
    case 0x03: /* addr; const8u, const8s */
    case 0x0e:
    case 0x0f:
        push(m, pf_cur_u64(c));
        return true;
    case 0x08:
        push(m, pf_cur_u8(c));
        return true;
    case 0x09:
        push(m, (uint64_t)(int8_t)pf_cur_u8(c));
        return true;
    case 0x0a:
        push(m, pf_cur_u16(c));
        return true;
    case 0x0b:
        push(m, (uint64_t)(int16_t)pf_cur_u16(c));
        return true;
    case 0x0c:
        push(m, pf_cur_u32(c));
        return true;
    case 0x0d:
        push(m, (uint64_t)(int32_t)pf_cur_u32(c));
        return true;
    case 0x10:
        push(m, pf_cur_uleb(c));
        return true;
    case 0x11:
        push(m, (uint64_t)pf_cur_sleb(c));
        return true;
    default:
        return false;
    }
}

/* Computes "a OP b".  Returns false for other operations.  Comparisons are signed. */
static bool binary(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
    const int64_t x = (int64_t)a, y = (int64_t)b;
    switch (op) {
    case 0x1a:
        *out = a & b;
        return true;
    case 0x1c:
        *out = a - b;
        return true;
    case 0x1e:
        *out = a * b;
        return true;
    case 0x21:
        *out = a | b;
        return true;
    case 0x22:
        *out = a + b;
        return true;
    case 0x24:
        *out = b < 64 ? a << b : 0;
        return true;
    case 0x25:
        *out = b < 64 ? a >> b : 0;
        return true;
    case 0x26: /* arithmetic shift */
        *out = (a >> (b < 63 ? b : 63)) | (x < 0 && b ? UINT64_MAX << (b < 63 ? 64 - b : 1) : 0);
        return true;
    case 0x27:
        *out = a ^ b;
        return true;
    case 0x29:
        *out = a == b;
        return true;
    case 0x2a:
        *out = x >= y;
        return true;
    case 0x2b:
        *out = x > y;
        return true;
    case 0x2c:
        *out = x <= y;
        return true;
    case 0x2d:
        *out = x < y;
        return true;
    case 0x2e:
        *out = a != b;
        return true;
    default:
        return false;
    }
}

/* Executes operations that move stack items or change the top one.  Returns false for others. */
static bool item_operation(machine *m, uint8_t op)
{
    uint64_t a, b;
    switch (op) {
    case 0x06:
        dereference(m, 8);
        return true;
    case 0x94: /* deref_size */
        dereference(m, pf_cur_u8(&m->c));
        return true;
    case 0x12: /* dup */
        pick(m, 0);
        return true;
    case 0x13: /* drop */
        pop(m);
        return true;
    case 0x14: /* over */
        pick(m, 1);
        return true;
    case 0x15:
        pick(m, pf_cur_u8(&m->c));
        return true;
    case 0x16: /* swap */
        b = pop(m);
        a = pop(m);
        push(m, b);
        push(m, a);
        return true;
    case 0x1f: /* neg */
        push(m, 0 - pop(m));
        return true;
    case 0x20: /* not */
        push(m, ~pop(m));
        return true;
    case 0x23: /* plus_uconst */
        push(m, pop(m) + pf_cur_uleb(&m->c));
        return true;
    default:
        return false;
    }
}

static void operation(machine *m, uint8_t op)
{
    uint64_t v;
    if (op >= 0x30 && op < 0x50) { /* lit0 to lit31 */
        push(m, op - 0x30U);
    } else if (op >= 0x70 && op < 0x90) { /* breg0 to breg31 */
        push_register(m, op - 0x70U);
    } else if (op == 0x92) { /* bregx */
        push_register(m, pf_cur_uleb(&m->c));
    } else if (op == 0x2f) { /* skip */
        jump(m, (int16_t)pf_cur_u16(&m->c));
    } else if (op == 0x28) { /* bra */
        const int16_t by = (int16_t)pf_cur_u16(&m->c);
        if (pop(m))
            jump(m, by);
    } else if (op != 0x96 && !constant(m, op) && !item_operation(m, op)) { /* 0x96: nop */
        const uint64_t b = pop(m), a = pop(m);
        if (binary(op, a, b, &v))
            push(m, v);
        else
            m->end = PF_UNWIND_UNSUPPORTED;
    }
}

int pf_unwind_evaluate(const pf_unwind_rule *rule, uint64_t at, const uint64_t *first,
                       const pf_unwind_frame *frame, const pf_unwind_stack *stack, uint64_t *out)
{
    machine m = {.frame = frame, .memory = stack};
    pf_cursor c = pf_cur(rule->expressions, rule->swap);
    pf_cur_span(&c, at);
    const perfile_bytes bytes = pf_cur_span(&c, pf_cur_uleb(&c));
    if (c.bad)
        return PF_UNWIND_UNSUPPORTED;
    m.c = pf_cur(bytes, rule->swap);
    m.start = m.c.pos;
    if (first)
        push(&m, *first);
    for (unsigned steps = 0; pf_cur_left(&m.c) && m.end == PF_UNWIND_MORE; steps++) {
        operation(&m, pf_cur_u8(&m.c));
        if (m.c.bad || steps == PF_UNWIND_EXPRESSION)
            return PF_UNWIND_UNSUPPORTED;
    }
    if (m.end == PF_UNWIND_MORE)
        *out = pop(&m);
    return m.end;
}

/* Applying rules. */

enum {
    FRAME_POINTER_REACH = 0x4000, /* farthest distance from the stack pointer */
    N = PF_UNWIND_REGS
};

/* Bits are numbers of uapi/asm/perf_regs.h; registers have the DWARF numbers of the System V
 * ABI. */
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

/* Program addresses have 48 bits; the bits above them in a signed address are the signature. */
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

/* Finds the caller's value of a register.  Returns PF_UNWIND_COMPLETE if there is none. */
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

/* Replaces the frame by its caller's, unless that is not higher on the stack. */
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
    put(&next, m->sp, cfa); /* a rule may override it */
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
