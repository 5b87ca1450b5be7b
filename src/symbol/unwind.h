/* The user part of a sample's call chain, from the user registers and the piece of the user stack
 * that were copied when it was taken (`perf record --call-graph dwarf`).
 *
 * The stack is walked by the call frame information of the mapped files, of x86-64 and aarch64,
 * on a machine of any kind. */
#ifndef PF_SYMBOL_UNWIND_H
#define PF_SYMBOL_UNWIND_H

#include "base/cursor.h"
#include "model/ask.h"
#include "model/index.h"
#include "perfile/base.h"
#include "perfile/records.h"
#include "perfile/symbol.h"
#include "symbol/elf.h"
#include "symbol/state.h"

/* Numbers of variable length, as DWARF has them. */

enum { PF_LEB_BYTES = 10 }; /* of the longest number of 64 bits */

/* Reads the 7-bit groups of a number; *shift is the number of bits.  One that is longer than
 * PF_LEB_BYTES makes the cursor bad: each number costs a bounded number of steps. */
static inline uint64_t pf_cur_leb_bits(pf_cursor *c, unsigned *shift, uint8_t *last)
{
    uint64_t v = 0;
    for (*shift = 0; *shift < 7 * PF_LEB_BYTES; *shift += 7) {
        *last = pf_cur_u8(c);
        if (*shift < 64)
            v |= (uint64_t)(*last & 0x7f) << *shift;
        if (!(*last & 0x80)) {
            *shift += 7;
            return v;
        }
    }
    c->bad = true;
    return 0;
}

/* Bits beyond the 64th are lost. */
static inline uint64_t pf_cur_uleb(pf_cursor *c)
{
    unsigned shift;
    uint8_t last = 0;
    return pf_cur_leb_bits(c, &shift, &last);
}

static inline int64_t pf_cur_sleb(pf_cursor *c)
{
    unsigned shift;
    uint8_t last = 0;
    uint64_t v = pf_cur_leb_bits(c, &shift, &last);
    if (!c->bad && shift < 64 && (last & 0x40))
        v |= UINT64_MAX << shift;
    return (int64_t)v;
}

/* Rules: how the frame of the caller is found from that of code at one address.
 *
 * DWARF's call frame information is a program for each function; a rule is what it says for one
 * address.  Registers are numbered as DWARF does for the machine. */

enum {
    PF_UNWIND_REGS = 35,      /* aarch64 has the most: x0 to x30, sp, … */
    PF_UNWIND_EXPRESSION = 64 /* operations of an expression that are executed, and its stack */
};

/* Where the caller's value of a register is, or its canonical frame address (CFA). */
enum {
    PF_WHERE_SAME = 0,       /* in the register itself */
    PF_WHERE_UNDEFINED,      /* nowhere */
    PF_WHERE_SAVED,          /* in memory at CFA + value */
    PF_WHERE_CFA,            /* it is CFA + value */
    PF_WHERE_REGISTER,       /* in register `value` */
    PF_WHERE_AT_EXPRESSION,  /* in memory where the expression at `value` says */
    PF_WHERE_IS_EXPRESSION,  /* it is what the expression at `value` says */
    PF_WHERE_REGISTER_OFFSET /* of the CFA only: register `reg` + value */
};

typedef struct pf_where {
    int64_t value; /* of expressions: the position of their length in the section */
    uint8_t kind;  /* PF_WHERE_… */
    uint8_t reg;   /* whose rule it is; of the CFA: of PF_WHERE_REGISTER_OFFSET */
} pf_where;

/* What a rule is good for. */
enum {
    PF_RULE_FRAME,   /* it says where the caller is */
    PF_RULE_NOWHERE, /* nothing is known to be mapped there, or no code */
    PF_RULE_NO_FILE, /* the file is not at hand */
    PF_RULE_UNKNOWN  /* the file says nothing about the address */
};

typedef struct pf_unwind_rule {
    uint8_t kind;          /* PF_RULE_…; the others are of PF_RULE_FRAME */
    uint8_t return_column; /* register with the return address */
    bool is_signal;        /* the caller was interrupted: its address is that of an instruction
                            * that has not been executed, not a return address */
    bool is_signed;        /* the return address is signed (aarch64) */
    uint8_t n;             /* registers that are not PF_WHERE_SAME */
    bool swap;             /* byte order of expressions */
    pf_where cfa;
    perfile_bytes expressions; /* the section that has them */
    uint32_t first;            /* of the registers, in the pool of the unwinder */
} pf_unwind_rule;

/* Call frame information: the sections .eh_frame and .debug_frame of an ELF file. */

/* The code from `start` to `end`, which the entry at `at` of the section describes. */
typedef struct pf_cfi_entry {
    uint64_t start, end;
    uint32_t at;
} pf_cfi_entry;

/* A section, and its entries by address.  All zeros is one without entries. */
typedef struct pf_cfi {
    pf_budget *budget; /* may be NULL */
    pf_piece section;
    uint64_t addr; /* of the section, for relative addresses */
    bool eh;       /* .eh_frame, not .debug_frame */
    bool swap, is64;
    pf_cfi_entry *entries;
    size_t n, cap;
    uint64_t left; /* bytes of programs that may still be executed */
} pf_cfi;

/* Makes the table of entries; all other members are filled in before.  Entries that make no sense
 * are left out.  PERFILE_E_LIMIT, PERFILE_E_NOMEM; pf_cfi_free() in any case. */
perfile_status pf_cfi_index(pf_cfi *cfi);
void pf_cfi_free(pf_cfi *cfi);

/* The rule for the code at `pc`, and the registers that it does not leave the same, at most
 * PF_UNWIND_REGS at `wheres`.  False: the section does not say.  rule->first is left alone. */
bool pf_cfi_rule(pf_cfi *cfi, uint64_t pc, pf_unwind_rule *rule, pf_where *wheres);

/* Entries of call frame information: common ones (CIE), and those of functions (FDE). */

/* What functions have in common. */
typedef struct pf_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    uint8_t encoding; /* of addresses, DW_EH_PE_… */
    bool has_length;  /* entries of functions have augmentation data with a length */
    bool is_signal;
    perfile_bytes program;
} pf_cie;

/* A function. */
typedef struct pf_fde {
    pf_cie cie;
    uint64_t start, end;
    perfile_bytes program;
} pf_fde;

/* What pf_cfi_next() found. */
enum { PF_CFI_END, PF_CFI_OTHER, PF_CFI_FDE };

/* From a frame to that of its caller: a rule applied to registers and a copy of the stack. */

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

/* Evaluates the expression whose length stands at `at` of the rule's section.  `first`: the value
 * it starts with; NULL: none.  PF_UNWIND_MORE: *out is set. */
int pf_unwind_evaluate(const pf_unwind_rule *rule, uint64_t at, const uint64_t *first,
                       const pf_unwind_frame *frame, const pf_unwind_stack *stack, uint64_t *out);

enum { PF_UNWIND_FRAMES = 127 }; /* as many as perf shows if it is not told otherwise */

typedef struct pf_unwinder {
    perfile_symbols *symbols;         /* finds the files, and its budget counts */
    const perfile_model *model;       /* of the capture, completely fed */
    const pf_unwind_machine *machine; /* that recorded; NULL: one that is not supported */
    struct pf_unwind_file *files;
    size_t n_files, files_cap;
    pf_index file_index;   /* object of the symbols to its file */
    pf_unwind_rule *rules; /* the first ones are of addresses without any */
    size_t n_rules, rules_cap;
    pf_where *wheres; /* of all rules */
    size_t n_wheres, wheres_cap;
    struct pf_unwind_slot *slots; /* a cache: addresses of processes to rules */
    uint64_t seed;
    uint64_t addresses[PF_UNWIND_FRAMES]; /* of the chain that was unwound last */
    unsigned n_addresses;
    uint64_t ends[PF_UNWIND_UNSUPPORTED + 1]; /* how many chains ended so, PF_UNWIND_… */
} pf_unwinder;

/* Borrows all that it is given.  False if there is no memory; to be freed in any case.  Without
 * room in the budget of `symbols` nothing is unwound. */
bool pf_unwinder_init(pf_unwinder *x, const perfile_session *session, perfile_symbols *symbols,
                      const perfile_model *model);
void pf_unwinder_free(pf_unwinder *x);

/* Unwinds the user stack of a sample of process `pid`; `swap`: it is of the other byte order.
 * x->addresses are then those of the frames, innermost first: that of the sample, and of each
 * caller the byte in front of its return address, as perf has them; none if nothing was copied.
 * PERFILE_E_NOMEM. */
perfile_status pf_unwind(pf_unwinder *x, uint32_t pid, uint64_t time, bool swap,
                         const perfile_regs_user *regs, const perfile_stack_user *stack);

/* The call frame information of mapped files, found as their symbols are. */

/* What is known of a mapped file. */
typedef struct pf_unwind_file {
    bool is_open;  /* false: the file is not at hand, or of another machine */
    pf_cfi cfi[2]; /* .eh_frame; .debug_frame */
    struct {
        uint64_t start, end;
    } plt[4];       /* the sections of the PLT, whose entries leave the stack as they find it */
    pf_index rules; /* address to the number of its rule */
} pf_unwind_file;

#endif
