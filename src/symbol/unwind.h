/* Computes the user part of a sample's call chain from the user registers and the piece of the user
 * stack that were copied into the sample (perf record's "dwarf" call graphs).
 *
 * The stack is unwound with the call frame information of the mapped files. x86-64 and aarch64 are
 * supported, on a host of any architecture. */
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

/* Numbers of variable length (LEB128), as in DWARF. */

enum { PF_LEB_BYTES = 10 }; /* length of the longest 64-bit number */

/* Reads the 7-bit groups of a number; *shift is the number of bits.  A number longer than
 * PF_LEB_BYTES makes the cursor bad, so each number costs a bounded number of steps. */
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

/* Bits beyond the 64th are dropped. */
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

/* Rules: how the caller's frame is computed for the code at one address.
 *
 * DWARF's call frame information is a program for each function; a rule is its result for one
 * address.  Registers have DWARF's numbers. */

enum {
    PF_UNWIND_REGS = 35,      /* aarch64 has the most: x0 to x30, sp, … */
    PF_UNWIND_EXPRESSION = 64 /* longest expression in executed operations; its deepest stack */
};

/* Where to find the caller's value of a register, or the canonical frame address (CFA). */
enum {
    PF_WHERE_SAME = 0,       /* unchanged, in the register itself */
    PF_WHERE_UNDEFINED,      /* lost */
    PF_WHERE_SAVED,          /* in memory at CFA + value */
    PF_WHERE_CFA,            /* the value is CFA + value */
    PF_WHERE_REGISTER,       /* in register `value` */
    PF_WHERE_AT_EXPRESSION,  /* in memory at the address that the expression at `value` computes */
    PF_WHERE_IS_EXPRESSION,  /* the value is the result of the expression at `value` */
    PF_WHERE_REGISTER_OFFSET /* for the CFA only: register `reg` + value */
};

typedef struct pf_where {
    int64_t value; /* for expressions: offset of their length field in the section */
    uint8_t kind;  /* PF_WHERE_… */
    uint8_t reg;   /* the register described; for the CFA: base of PF_WHERE_REGISTER_OFFSET */
} pf_where;

/* Kinds of rules. */
enum {
    PF_RULE_FRAME,   /* the rule finds the caller */
    PF_RULE_NOWHERE, /* nothing or no code is known to be mapped there */
    PF_RULE_NO_FILE, /* the file was not found */
    PF_RULE_UNKNOWN  /* the file has no information about the address */
};

typedef struct pf_unwind_rule {
    uint8_t kind;          /* PF_RULE_…; the other members are valid for PF_RULE_FRAME */
    uint8_t return_column; /* register with the return address */
    bool is_signal; /* the caller was interrupted: its address is an instruction that has not been
                       executed, not a return address */
    bool is_signed; /* the return address is signed (aarch64) */
    uint8_t n;      /* number of registers that are not PF_WHERE_SAME */
    bool swap;      /* byte order of expressions */
    pf_where cfa;
    perfile_bytes expressions; /* the section that contains them */
    uint32_t first;            /* index of its first register in the unwinder's pool */
} pf_unwind_rule;

/* Call frame information: the sections .eh_frame and .debug_frame of an ELF file. */

/* The code from `start` to `end`, which the entry at offset `at` of the section describes. */
typedef struct pf_cfi_entry {
    uint64_t start, end;
    uint32_t at;
} pf_cfi_entry;

/* A section and its entries, by address.  All zeros is a section without entries. */
typedef struct pf_cfi {
    pf_budget *budget; /* may be NULL */
    pf_piece section;
    uint64_t addr; /* of the section, for relative addresses */
    bool eh;       /* .eh_frame, otherwise .debug_frame */
    bool swap, is64;
    pf_cfi_entry *entries;
    size_t n, cap;
    uint64_t left; /* bytes of programs that may still be executed */
} pf_cfi;

/* Makes the table of entries; the caller fills in all other members before.  Malformed entries are
 * skipped.  PERFILE_E_LIMIT, PERFILE_E_NOMEM; call pf_cfi_free() in any case. */
perfile_status pf_cfi_index(pf_cfi *cfi);
void pf_cfi_free(pf_cfi *cfi);

/* Computes the rule for the code at `pc`.  Writes the registers that are not PF_WHERE_SAME, at most
 * PF_UNWIND_REGS, to `wheres`.  Returns false if the section has no rule.  Does not set
 * rule->first. */
bool pf_cfi_rule(pf_cfi *cfi, uint64_t pc, pf_unwind_rule *rule, pf_where *wheres);

/* Entries of call frame information: common entries (CIE) and function entries (FDE). */

/* Data shared by functions. */
typedef struct pf_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    uint8_t encoding; /* DW_EH_PE_…, encoding of addresses */
    bool has_length;  /* function entries have augmentation data with a length */
    bool is_signal;
    perfile_bytes program;
} pf_cie;

/* A function. */
typedef struct pf_fde {
    pf_cie cie;
    uint64_t start, end;
    perfile_bytes program;
} pf_fde;

/* Results of pf_cfi_next(). */
enum { PF_CFI_END, PF_CFI_OTHER, PF_CFI_FDE };

/* Steps from a frame to its caller: applies a rule to registers and the copied stack. */

/* An architecture and the roles of its registers. */
typedef struct pf_unwind_machine {
    uint16_t elf; /* e_machine of its ELF files */
    uint8_t sp, fp;
    uint8_t pc;      /* register number of the program counter in rules; PF_UNWIND_REGS: none */
    bool calls_push; /* a call pushes the return address, so every frame occupies some bytes of the
                        stack */
    uint8_t of_bit[64];    /* register for each bit of sample_regs_user; PF_UNWIND_REGS: none */
    uint8_t pc_bit;        /* bit of the program counter in sample_regs_user */
    uint64_t address_mask; /* the address bits of a signed return address */
} pf_unwind_machine;

extern const pf_unwind_machine pf_unwind_x86_64, pf_unwind_aarch64;

/* The registers of a frame. */
typedef struct pf_unwind_frame {
    uint64_t regs[PF_UNWIND_REGS];
    uint64_t known; /* bit mask of the registers with a known value */
    uint64_t pc;
} pf_unwind_frame;

/* The copied part of the stack. */
typedef struct pf_unwind_stack {
    perfile_bytes bytes;
    uint64_t start; /* address of the first byte */
    bool swap;      /* words have the other byte order */
} pf_unwind_stack;

/* How a call chain ends. */
enum {
    PF_UNWIND_MORE,       /* not yet */
    PF_UNWIND_COMPLETE,   /* at the outermost frame */
    PF_UNWIND_SHORT,      /* at the end of the copied stack, or at the maximum number of frames */
    PF_UNWIND_NO_FILE,    /* at code without a file, or where nothing is known to be mapped */
    PF_UNWIND_NO_RULES,   /* at code for which the file has no rule */
    PF_UNWIND_UNSUPPORTED /* registers or stack contradict the rules, or are from an unsupported
                             machine */
};

/* Replaces the frame by its caller's frame.  `wheres` are the registers of the rule.  Returns
 * PF_UNWIND_MORE, or how the chain ends; the frame is then undefined. */
int pf_unwind_step(const pf_unwind_machine *m, const pf_unwind_rule *rule, const pf_where *wheres,
                   const pf_unwind_stack *stack, pf_unwind_frame *frame);

/* Steps with the frame pointer, for code without other information.  The frame pointer must point
 * to a plausible address of the copied stack. */
int pf_unwind_by_frame_pointer(const pf_unwind_machine *m, const pf_unwind_stack *stack,
                               pf_unwind_frame *frame);

/* Evaluates the expression at offset `at` of the rule's section, where its length is.  `first` is
 * the initial value on the stack; NULL: none.  Returns PF_UNWIND_MORE if *out is set. */
int pf_unwind_evaluate(const pf_unwind_rule *rule, uint64_t at, const uint64_t *first,
                       const pf_unwind_frame *frame, const pf_unwind_stack *stack, uint64_t *out);

enum { PF_UNWIND_FRAMES = 127 }; /* perf's default maximum */

typedef struct pf_unwinder {
    perfile_symbols *symbols;         /* finds the files; its budget is charged */
    const perfile_model *model;       /* of the capture; has seen all records */
    const pf_unwind_machine *machine; /* the recording machine; NULL: not supported */
    struct pf_unwind_file *files;
    size_t n_files, files_cap;
    pf_index file_index;   /* pf_symbol_object to its file */
    pf_unwind_rule *rules; /* the first N_FIRST_RULES are predefined */
    size_t n_rules, rules_cap;
    pf_where *wheres; /* registers of all rules */
    size_t n_wheres, wheres_cap;
    struct pf_unwind_slot *slots; /* a cache from (process, address) to rule */
    uint64_t seed;
    uint64_t addresses[PF_UNWIND_FRAMES]; /* of the last unwound chain */
    unsigned n_addresses;
    uint64_t ends[PF_UNWIND_UNSUPPORTED + 1]; /* number of chains for each PF_UNWIND_… ending */
} pf_unwinder;

/* Borrows all arguments.  Returns false when out of memory; call pf_unwinder_free() in any case.
 * If the budget of `symbols` is exhausted, nothing is unwound. */
bool pf_unwinder_init(pf_unwinder *x, const perfile_session *session, perfile_symbols *symbols,
                      const perfile_model *model);
void pf_unwinder_free(pf_unwinder *x);

/* Unwinds the user stack of a sample of process `pid`; `swap` says that it has the other byte
 * order.  Fills x->addresses, innermost first: the sample's address, then each caller's return
 * address minus 1, as perf has it.  No addresses if nothing was copied.  PERFILE_E_NOMEM. */
perfile_status pf_unwind(pf_unwinder *x, uint32_t pid, uint64_t time, bool swap,
                         const perfile_regs_user *regs, const perfile_stack_user *stack);

/* Call frame information of mapped files, which are found in the same way as their symbols. */

/* The call frame information of a mapped file. */
typedef struct pf_unwind_file {
    bool is_open;  /* false: the file was not found, or is for another architecture */
    pf_cfi cfi[2]; /* .eh_frame; .debug_frame */
    struct {
        uint64_t start, end;
    } plt[4];       /* the sections of the PLT; its entries do not change the stack pointer */
    pf_index rules; /* address to index of its rule */
} pf_unwind_file;

#endif
