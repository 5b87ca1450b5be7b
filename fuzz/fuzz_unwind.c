/* Any bytes as call frame information, registers and a copied stack.  Entries are in order, rules
 * name existing registers, each once, and the stack pointer never decreases from frame to frame.
 *
 * From the end of the input: a byte of choices, three registers, the stack; the section is before
 * them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "ensure.h"
#include "symbol/unwind.h"

#define SECTION UINT64_C(0x400078) /* its address in the seeds */
#define STACK   UINT64_C(0x7ffc00001000)
enum { STACK_BYTES = 256, REGISTERS = 3 * 8, FRAMES = 127 };

/* Finds the rule of an address and checks that it is valid. */
static bool rule_at(pf_cfi *cfi, uint64_t pc, pf_unwind_rule *rule, pf_where *wheres)
{
    uint64_t seen = 0;
    if (!pf_cfi_rule(cfi, pc, rule, wheres))
        return false;
    ENSURE(rule->kind == PF_RULE_FRAME && rule->n <= PF_UNWIND_REGS);
    ENSURE(rule->return_column < PF_UNWIND_REGS && rule->cfa.reg < PF_UNWIND_REGS);
    for (unsigned i = 0; i < rule->n; i++) {
        ENSURE(wheres[i].kind != PF_WHERE_SAME && wheres[i].reg < PF_UNWIND_REGS);
        ENSURE(!(seen >> wheres[i].reg & 1));
        seen |= UINT64_C(1) << wheres[i].reg;
    }
    return true;
}

/* Walks the stack, beginning at an address. */
static void walk(pf_cfi *cfi, const pf_unwind_machine *m, pf_unwind_frame frame,
                 const pf_unwind_stack *stack)
{
    int end = PF_UNWIND_MORE;
    for (unsigned n = 0; n < FRAMES && end == PF_UNWIND_MORE; n++) {
        pf_unwind_rule rule = {0};
        pf_where wheres[PF_UNWIND_REGS];
        const uint64_t sp = frame.regs[m->sp], pc = frame.pc;
        end = rule_at(cfi, frame.pc - (n > 0), &rule, wheres)
                  ? pf_unwind_step(m, &rule, wheres, stack, &frame)
                  : pf_unwind_by_frame_pointer(m, stack, &frame);
        ENSURE(end >= PF_UNWIND_MORE && end <= PF_UNWIND_UNSUPPORTED);
        if (end == PF_UNWIND_MORE)
            ENSURE(frame.regs[m->sp] > sp ||
                   (frame.regs[m->sp] == sp && frame.pc != pc && !m->calls_push));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pf_budget budget = {.limit = 1 << 20};
    if (size < 1 + REGISTERS + STACK_BYTES)
        return 0;
    const uint8_t chosen = data[size - 1];
    const uint8_t *registers = data + size - 1 - REGISTERS;
    uint8_t *bytes = malloc(STACK_BYTES);
    ENSURE(bytes);
    memcpy(bytes, registers - STACK_BYTES, STACK_BYTES);
    const size_t n = size - 1 - REGISTERS - STACK_BYTES;
    const pf_unwind_machine *m = chosen & 1 ? &pf_unwind_aarch64 : &pf_unwind_x86_64;
    const pf_unwind_stack stack = {{bytes, STACK_BYTES}, STACK, chosen & 2};
    pf_cfi cfi = {.budget = &budget,
                  .addr = SECTION,
                  .eh = chosen & 4,
                  .swap = chosen & 8,
                  .is64 = !(chosen & 16)};
    cfi.section =
        (pf_piece){.ptr = pf_budget_alloc(&budget, n ? n : 1, 1), .len = n, .charged = n ? n : 1};
    ENSURE(cfi.section.ptr);
    memcpy(cfi.section.ptr, data, n);
    if (pf_cfi_index(&cfi) == PERFILE_OK) {
        for (size_t i = 0; i < cfi.n; i++)
            ENSURE(cfi.entries[i].start < cfi.entries[i].end &&
                   (!i || cfi.entries[i - 1].start <= cfi.entries[i].start));
        for (size_t i = 0; i < cfi.n && i < 16; i++)
            for (unsigned at = 0; at < 4; at++) {
                pf_unwind_frame frame = {.known = UINT64_C(1) << m->sp | UINT64_C(1) << m->fp |
                                                  UINT64_C(1) << 30};
                frame.regs[30] = pf_load_u64(registers, false);
                frame.regs[m->fp] = STACK + registers[8];
                frame.regs[m->sp] = STACK + (registers[16] & 15) * 8;
                frame.pc = cfi.entries[i].start + at * 5;
                walk(&cfi, m, frame, &stack);
            }
    }
    pf_cfi_free(&cfi);
    ENSURE(budget.used == 0);
    free(bytes);
    return 0;
}
