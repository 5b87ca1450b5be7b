#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "core/driver.h"
#include "emit/emitter.h"

/* All drivers, NULL behind the last; the first is perf.data's. */
extern const pf_driver *const pf_drivers[];

/* NULL: none has that name. */
const pf_driver *pf_driver_named(const char *name);

/* All forms of output, likewise. */
extern const pf_emit_ops *const pf_emit_forms[];

#endif
