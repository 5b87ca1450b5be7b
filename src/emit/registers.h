#ifndef PF_EMIT_REGISTERS_H
#define PF_EMIT_REGISTERS_H

#include "perfile/session.h"

/* Names of registers by bit, 64 of them, NULL where there is none. */
typedef const char *const *pf_registers;

/* Those of the recorded machine; NULL when it is not known. */
pf_registers pf_registers_of(const perfile_session *s);

#endif
