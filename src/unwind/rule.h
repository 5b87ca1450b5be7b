/* Rules: how the frame of the caller is found from that of code at one address.
 *
 * DWARF's call frame information is a program for each function; a rule is what it says for one
 * address.  Registers are numbered as DWARF does for the machine. */
#ifndef PF_UNWIND_RULE_H
#define PF_UNWIND_RULE_H

#include "perfile/base.h"

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

#endif
