#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "core/driver.h"

/* All drivers, NULL behind the last. */
extern const pf_driver *const pf_drivers[];

#endif
