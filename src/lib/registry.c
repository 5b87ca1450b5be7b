/* The only place that names all drivers. */
#include "lib/registry.h"

#include "perf/driver.h"

const pf_driver *const pf_drivers[] = {&pf_perf_driver, NULL};
