/* Markers in call chains: entries at or above PF_CONTEXT_LEAST are no addresses, but say which kind
 * of code the addresses behind them are of.  PERF_CONTEXT_… of uapi/linux/perf_event.h. */
#ifndef PF_CORE_CONTEXTS_H
#define PF_CORE_CONTEXTS_H

#include <stdint.h>

#define PF_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define PF_CONTEXT_KERNEL     ((uint64_t)-128)
#define PF_CONTEXT_USER       ((uint64_t)-512)
/* A cookie follows, in place of user addresses that a CALLCHAIN_DEFERRED record has. */
#define PF_CONTEXT_DEFERRED     ((uint64_t)-640)
#define PF_CONTEXT_GUEST        ((uint64_t)-2048)
#define PF_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define PF_CONTEXT_GUEST_USER   ((uint64_t)-2560)
#define PF_CONTEXT_LEAST        ((uint64_t)-4095)

#endif
