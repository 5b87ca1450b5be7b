/* The header of a buffer, and what it says about the clock. */
#include "perfmon/perfmon.h"

pf_perfmon_header pf_perfmon_header_of(const uint8_t *bytes)
{
    const bool swap = pf_perfmon_swap();
    return (pf_perfmon_header){.version = pf_load_u16(bytes, swap),
                               .arch = pf_load_u16(bytes + PF_PERFMON_ARCH_AT, swap),
                               .flags = pf_load_u32(bytes + PF_PERFMON_FLAGS_AT, swap),
                               .ticks_per_second =
                                   (int64_t)pf_load_u64(bytes + PF_PERFMON_TICKS_AT, swap),
                               .capture_end = pf_load_u64(bytes + PF_PERFMON_END_AT, swap)};
}

/* The largest shift that keeps `mult` in 32 bits: then the time is as exact as it can be.  The
 * product of 10^9 and 2^32 fits 62 bits. */
bool pf_perfmon_conversion(int64_t ticks_per_second, uint32_t *shift, uint64_t *mult)
{
    const uint64_t second = 1000000000; /* ns */
    if (ticks_per_second <= 0)
        return false;
    for (uint32_t s = 32;; s--) {
        const uint64_t m = (second << s) / (uint64_t)ticks_per_second;
        if (m <= UINT32_MAX) {
            *shift = s;
            *mult = m;
            return true;
        }
    }
}
