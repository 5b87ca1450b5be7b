#ifndef PF_PERF_DRIVER_H
#define PF_PERF_DRIVER_H

#include "core/driver.h"

extern const pf_driver pf_perf_driver;

#endif
