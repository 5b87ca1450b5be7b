/* The control page: where its fields lie, and loads and stores that another thread or the kernel
 * can be in the middle of.
 *
 * Source: struct perf_event_mmap_page of uapi/linux/perf_event.h, 3.8 to 6.12.  Fields were only
 * ever added in the reserved parts: the offsets hold for all. */
#ifndef PF_RING_PAGE_H
#define PF_RING_PAGE_H

#include <stdint.h>

enum pf_page_field {
    PF_PAGE_VERSION = 0,        /* u32 */
    PF_PAGE_COMPAT_VERSION = 4, /* u32 */
    PF_PAGE_LOCK = 8,           /* u32, odd while the kernel writes */
    PF_PAGE_INDEX = 12,         /* u32 */
    PF_PAGE_OFFSET = 16,        /* s64 */
    PF_PAGE_TIME_ENABLED = 24,
    PF_PAGE_TIME_RUNNING = 32,
    PF_PAGE_CAPABILITIES = 40, /* in the numbering of 3.12 */
    PF_PAGE_PMC_WIDTH = 48,    /* u16 */
    PF_PAGE_TIME_SHIFT = 50,   /* u16 */
    PF_PAGE_TIME_MULT = 52,    /* u32 */
    PF_PAGE_TIME_OFFSET = 56,
    PF_PAGE_TIME_ZERO = 64,   /* 3.12 */
    PF_PAGE_TIME_CYCLES = 80, /* 5.10 */
    PF_PAGE_TIME_MASK = 88,   /* 5.10 */
    PF_PAGE_DATA_HEAD = 1024,
    PF_PAGE_DATA_TAIL = 1032,
    PF_PAGE_DATA_OFFSET = 1040, /* 4.1, as all that follow; 0 before */
    PF_PAGE_DATA_SIZE = 1048,
    PF_PAGE_AUX_HEAD = 1056,
    PF_PAGE_AUX_TAIL = 1064
};

/* Acquire: what is loaded afterwards is loaded afterwards.  Of a head it also says that the bytes
 * in front of it are written; in the numbers of the page it stands for the fence of a sequence
 * lock, which thread sanitizers do not know. */
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

/* Release: all use of the bytes in front of a tail is over when the kernel sees it. */
static inline void pf_page_store(void *page, enum pf_page_field at, uint64_t v)
{
    __atomic_store_n((uint64_t *)(void *)((char *)page + at), v, __ATOMIC_RELEASE);
}

#endif
