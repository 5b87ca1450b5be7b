/* Loads and stores of integers at any address, in this machine's byte order or, if `swap` is true,
 * in the other one. */
#ifndef PF_BASE_BYTE_ORDER_H
#define PF_BASE_BYTE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "perfile/base.h"

/* 1 if this machine is big-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PF_NATIVE_BIG 1
#else
#define PF_NATIVE_BIG 0
#endif

/* Returns the PERFILE_BYTE_ORDER_… of data in this machine's byte order or, if `swapped`, in the
 * other one. */
static inline uint32_t pf_byte_order_of(bool swapped)
{
    return swapped != (bool)PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
}

/* Returns true if `byte_order` (PERFILE_BYTE_ORDER_…) differs from this machine's.  The default is
 * this machine's. */
static inline bool pf_byte_order_swaps(uint32_t byte_order)
{
    return byte_order != PERFILE_BYTE_ORDER_DEFAULT && byte_order != pf_byte_order_of(false);
}

/* Always inlined: decoders read every field through these functions, and their state stays in
 * registers only if there are no calls. */
#define PF_INLINE static inline __attribute__((always_inline))

PF_INLINE uint16_t pf_swap_u16(uint16_t v)
{
    return (uint16_t)(v << 8 | v >> 8);
}

PF_INLINE uint32_t pf_swap_u32(uint32_t v)
{
    return (v >> 24) | (v >> 8 & 0xff00U) | (v << 8 & 0xff0000U) | (v << 24);
}

PF_INLINE uint64_t pf_swap_u64(uint64_t v)
{
    return (uint64_t)pf_swap_u32((uint32_t)v) << 32 | pf_swap_u32((uint32_t)(v >> 32));
}

PF_INLINE uint16_t pf_load_u16(const uint8_t *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return swap ? pf_swap_u16(v) : v;
}

PF_INLINE uint32_t pf_load_u32(const uint8_t *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? pf_swap_u32(v) : v;
}

PF_INLINE uint64_t pf_load_u64(const uint8_t *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? pf_swap_u64(v) : v;
}

PF_INLINE void pf_store_u16(uint8_t *p, uint16_t v, bool swap)
{
    v = swap ? pf_swap_u16(v) : v;
    memcpy(p, &v, sizeof v);
}

PF_INLINE void pf_store_u32(uint8_t *p, uint32_t v, bool swap)
{
    v = swap ? pf_swap_u32(v) : v;
    memcpy(p, &v, sizeof v);
}

PF_INLINE void pf_store_u64(uint8_t *p, uint64_t v, bool swap)
{
    v = swap ? pf_swap_u64(v) : v;
    memcpy(p, &v, sizeof v);
}

#endif
