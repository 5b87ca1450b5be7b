/* From a frame to that of its caller: a rule applied to registers and a copy of the stack. */
#ifndef PF_UNWIND_STEP_H
#define PF_UNWIND_STEP_H

#include "unwind/rule.h"

/* A machine: which of its registers are which. */
typedef struct pf_unwind_machine {
    uint16_t elf; /* e_machine of its files */
    uint8_t sp, fp;
    uint8_t pc;      /* the column that stands for the program counter; PF_UNWIND_REGS: none does */
    bool calls_push; /* a call puts the return address onto the stack, so that every frame has
                      * some bytes of it */
    uint8_t of_bit[64];    /* the register of each bit of sample_regs_user; PF_UNWIND_REGS: none */
    uint8_t pc_bit;        /* the bit of the program counter */
    uint64_t address_mask; /* bits of a signed return address that are the address */
} pf_unwind_machine;

extern const pf_unwind_machine pf_unwind_x86_64, pf_unwind_aarch64;

/* The registers of a frame. */
typedef struct pf_unwind_frame {
    uint64_t regs[PF_UNWIND_REGS];
    uint64_t known; /* a bit for each register whose value is known */
    uint64_t pc;
} pf_unwind_frame;

/* The copied part of the stack. */
typedef struct pf_unwind_stack {
    perfile_bytes bytes;
    uint64_t start; /* address of the first byte */
    bool swap;      /* words are of the other byte order */
} pf_unwind_stack;

/* How a call chain ends. */
enum {
    PF_UNWIND_MORE,       /* not yet */
    PF_UNWIND_COMPLETE,   /* with the outermost frame */
    PF_UNWIND_SHORT,      /* with the copied part of the stack, or the most frames there may be */
    PF_UNWIND_NO_FILE,    /* where the file is not at hand, or nothing is known to be mapped */
    PF_UNWIND_NO_RULES,   /* where the file does not say how the caller is found */
    PF_UNWIND_UNSUPPORTED /* registers or stack contradict the rules, or are of another machine */
};

/* Replaces the frame by that of its caller; `wheres` are the registers of the rule.
 * PF_UNWIND_MORE, or how the chain ends: then the frame is left in any state. */
int pf_unwind_step(const pf_unwind_machine *m, const pf_unwind_rule *rule, const pf_where *wheres,
                   const pf_unwind_stack *stack, pf_unwind_frame *frame);

/* The same by the frame pointer, for code about which nothing else is known: if it points to a
 * plausible place of the copied stack. */
int pf_unwind_by_frame_pointer(const pf_unwind_machine *m, const pf_unwind_stack *stack,
                               pf_unwind_frame *frame);

/* The word at an address of the copied stack.  PF_UNWIND_MORE: *word is set; else how the chain
 * ends. */
int pf_unwind_read(const pf_unwind_stack *stack, uint64_t addr, unsigned size, uint64_t *word);

/* Evaluates the expression whose length stands at `at` of the rule's section.  `first`: the value
 * it starts with; NULL: none.  PF_UNWIND_MORE: *out is set. */
int pf_unwind_evaluate(const pf_unwind_rule *rule, uint64_t at, const uint64_t *first,
                       const pf_unwind_frame *frame, const pf_unwind_stack *stack, uint64_t *out);

#endif
