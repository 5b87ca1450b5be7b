/* The page that shows a flame graph: lines of HTML with style and script, from behind the title to
 * the end, ended by NULL. */
#ifndef PF_EMIT_FLAMEGRAPH_H
#define PF_EMIT_FLAMEGRAPH_H

#include <stddef.h>

extern const char *const pf_flamegraph_page[];

#endif
