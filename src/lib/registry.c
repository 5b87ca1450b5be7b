/* The only place that names all drivers and all forms of output. */
#include "lib/registry.h"

#include "perf/driver.h"

const pf_driver *const pf_drivers[] = {&pf_perf_driver, NULL};

const pf_emit_ops *const pf_emit_forms[] = {&pf_emit_text, &pf_emit_jsonl, &pf_emit_cbor,
                                            &pf_emit_tsv, NULL};
