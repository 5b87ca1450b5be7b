/* Expressions of call frame information: PLT entries and signal frames have them.
 *
 * A machine with a stack, as DWARF defines it; the operations that say where the caller's registers
 * are, not those for variables.  What it executes is bounded. */
#include "unwind/leb.h"
#include "unwind/unwind.h"

typedef struct machine {
    const pf_unwind_frame *frame;
    const pf_unwind_stack *memory;
    pf_cursor c;
    const uint8_t *start; /* of the expression */
    uint64_t stack[PF_UNWIND_EXPRESSION];
    unsigned n;
    int end; /* PF_UNWIND_MORE: all is well */
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

/* The item `i` below the top. */
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

/* Moves the position by `by` bytes within the expression. */
static void jump(machine *m, int16_t by)
{
    const ptrdiff_t at = m->c.pos - m->start, size = m->c.end - m->start;
    if (m->c.bad || at + by < 0 || at + by > size)
        m->end = PF_UNWIND_UNSUPPORTED;
    else
        m->c.pos = m->start + at + by;
}

/* Constants; false for other operations. */
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

/* a OP b; false for other operations.  Comparisons are of signed numbers. */
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
    case 0x26: /* with the sign */
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

/* Operations that move items of the stack, or change the one on top. */
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
