/* Conversion between the hardware clock (TSC and the like) and the session clock.
 * The arithmetic is that of linux/perf_event.h (cap_user_time_zero), modulo 2^64 throughout. */
#include "base/error.h"
#include "core/session.h"

/* Within these limits no product below overflows 64 bits, except where the result is meant to wrap.
 */
static perfile_status check(const perfile_clock *c, perfile_error *err)
{
    if (!c->has_conversion)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "clock.has_conversion",
                       "the clock has no conversion from the hardware clock");
    if (c->shift > 32)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.shift", "shift %llu is above 32",
                       (unsigned long long)c->shift);
    if (c->mult > UINT32_MAX)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.mult", "mult %llu does not fit 32 bits",
                       (unsigned long long)c->mult);
    return PERFILE_OK;
}

uint64_t pf_ticks_to_ns(int64_t ticks, uint64_t shift, uint64_t mult)
{
    if (ticks <= 0)
        return 1;
    const uint64_t quot = (uint64_t)ticks >> shift;
    const uint64_t rem = (uint64_t)ticks & ((UINT64_C(1) << shift) - 1);
    uint64_t ns;
    if (__builtin_mul_overflow(quot, mult, &ns) ||
        __builtin_add_overflow(ns, rem * mult >> shift, &ns) || ns == PERFILE_NO_TIME)
        return PERFILE_NO_TIME - 1; /* centuries away: a damaged clock */
    return ns ? ns : 1;
}

perfile_status perfile_clock_time(const perfile_clock *clock, uint64_t cycles, uint64_t *time,
                                  perfile_error *err)
{
    perfile_status st = check(clock, err);
    if (st != PERFILE_OK)
        return st;
    if (clock->is_short)
        cycles = clock->cycles + ((cycles - clock->cycles) & clock->mask);
    uint64_t quot = cycles >> clock->shift;
    uint64_t rem = cycles & ((UINT64_C(1) << clock->shift) - 1);
    *time = clock->zero + quot * clock->mult + (rem * clock->mult >> clock->shift);
    return PERFILE_OK;
}

perfile_status perfile_clock_cycles(const perfile_clock *clock, uint64_t time, uint64_t *cycles,
                                    perfile_error *err)
{
    perfile_status st = check(clock, err);
    if (st != PERFILE_OK)
        return st;
    if (clock->mult == 0)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.mult", "mult is 0: no time has a cycle");
    uint64_t since = time - clock->zero;
    uint64_t quot = since / clock->mult;
    uint64_t rem = since % clock->mult;
    *cycles = (quot << clock->shift) + (rem << clock->shift) / clock->mult;
    return PERFILE_OK;
}
