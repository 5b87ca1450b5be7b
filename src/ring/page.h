/* The control page of a kernel ring buffer: offsets of its fields, and atomic loads and stores of
 * memory that the kernel or another thread may change at any time.
 *
 * Source: struct perf_event_mmap_page of uapi/linux/perf_event.h, kernels 3.8 to 6.12.  Fields were
 * only added in reserved space, so that these offsets hold for all versions.  The comments name the
 * type (u64 if none) and the kernel that added the field. */
#ifndef PF_RING_PAGE_H
#define PF_RING_PAGE_H

#include <stdint.h>

enum pf_page_field {
    PF_PAGE_VERSION = 0,        /* u32 */
    PF_PAGE_COMPAT_VERSION = 4, /* u32 */
    PF_PAGE_LOCK = 8,           /* u32, sequence lock: odd while the kernel writes */
    PF_PAGE_INDEX = 12,         /* u32 */
    PF_PAGE_OFFSET = 16,        /* s64 */
    PF_PAGE_TIME_ENABLED = 24,
    PF_PAGE_TIME_RUNNING = 32,
    PF_PAGE_CAPABILITIES = 40, /* bits as numbered since 3.12 */
    PF_PAGE_PMC_WIDTH = 48,    /* u16 */
    PF_PAGE_TIME_SHIFT = 50,   /* u16 */
    PF_PAGE_TIME_MULT = 52,    /* u32 */
    PF_PAGE_TIME_OFFSET = 56,
    PF_PAGE_TIME_ZERO = 64,   /* 3.12 */
    PF_PAGE_TIME_CYCLES = 80, /* 5.10 */
    PF_PAGE_TIME_MASK = 88,   /* 5.10 */
    PF_PAGE_DATA_HEAD = 1024,
    PF_PAGE_DATA_TAIL = 1032,
    PF_PAGE_DATA_OFFSET = 1040, /* 4.1, like all fields below; 0 in older kernels */
    PF_PAGE_DATA_SIZE = 1048,
    PF_PAGE_AUX_HEAD = 1056,
    PF_PAGE_AUX_TAIL = 1064
};

/* Loads with acquire order: later loads see memory at least as new.  After a load of data_head, the
 * records before the head are complete.  For the numbers guarded by PF_PAGE_LOCK, acquire loads
 * replace the memory fence of a sequence lock, which thread sanitizers do not support. */
static inline uint64_t pf_page_u64(const void *page, enum pf_page_field at)
{
    return __atomic_load_n((const uint64_t *)(const void *)((const char *)page + at),
                           __ATOMIC_ACQUIRE);
}

static inline uint32_t pf_page_u32(const void *page, enum pf_page_field at)
{
    return __atomic_load_n((const uint32_t *)(const void *)((const char *)page + at),
                           __ATOMIC_ACQUIRE);
}

static inline uint16_t pf_page_u16(const void *page, enum pf_page_field at)
{
    return __atomic_load_n((const uint16_t *)(const void *)((const char *)page + at),
                           __ATOMIC_ACQUIRE);
}

/* Stores with release order: when the kernel sees the new tail, all our earlier reads are done. */
static inline void pf_page_store(void *page, enum pf_page_field at, uint64_t v)
{
    __atomic_store_n((uint64_t *)(void *)((char *)page + at), v, __ATOMIC_RELEASE);
}

#endif
