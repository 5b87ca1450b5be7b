/* The tables of drivers and of output forms.  No other file names them all.  A new format gets here
 * by its line in format/families.def. */
#include "lib/registry.h"

#include "schema/family.h"

#define FAMILY(id, number) extern const pf_driver pf_##id##_driver;
#include "perfile/format/families.def"

const pf_driver *const pf_drivers[] = {
#define FAMILY(id, number) &pf_##id##_driver,
#include "perfile/format/families.def"
    NULL};

const pf_emit_ops *const pf_emit_forms[] = {&pf_emit_text, &pf_emit_jsonl, &pf_emit_cbor,
                                            &pf_emit_tsv, NULL};

/* Some need a library that not every build has (cmake/forms.cmake). */
const pf_emit_ops *const pf_export_forms[] = {&pf_emit_folded,
                                              &pf_emit_flamegraph,
                                              &pf_emit_speedscope,
                                              &pf_emit_firefox,
                                              &pf_emit_chrome,
                                              &pf_emit_aux,
#ifdef PERFILE_WITH_PPROF
                                              &pf_emit_pprof,
#endif
#ifdef PERFILE_WITH_PERFETTO
                                              &pf_emit_perfetto,
#endif
                                              NULL};
