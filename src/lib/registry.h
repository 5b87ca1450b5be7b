#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "core/driver.h"
#include "emit/emitter.h"

/* All drivers, NULL behind the last. */
extern const pf_driver *const pf_drivers[];

/* All forms of output, likewise. */
extern const pf_emit_ops *const pf_emit_forms[];

#endif
