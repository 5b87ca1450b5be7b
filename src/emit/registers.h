/* Names of registers, for the text form. */
#ifndef PF_EMIT_REGISTERS_H
#define PF_EMIT_REGISTERS_H

#include "perfile/session.h"

/* 64 names of registers by their bit in the mask, NULL for bits without a register. */
typedef const char *const *pf_registers;

/* The names for the machine that was recorded; NULL when it is not known.  Static. */
pf_registers pf_registers_of(const perfile_session *s);

#endif
