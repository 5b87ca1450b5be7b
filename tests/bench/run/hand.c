/* Decoders written by hand, each for one layout in this machine's byte order: the bar for those
 * that are made from the tables and learn layout and order at run time. */
#include "bench.h"

#include <string.h>

#include "perfile/perfile.h"

enum { HEADER = 8, SAMPLE = PERFILE_RECORD_SAMPLE, AHEAD = 4096, N_REGS = 20 };

typedef struct hand_sample {
    uint64_t id, ip, time, period;
    uint32_t pid, tid, cpu;
    uint64_t nr;
    const uint8_t *chain;
    uint32_t raw_size;
    const uint8_t *raw;
    uint64_t abi;
    const uint8_t *regs;
    uint64_t stack_size, dyn_size;
    const uint8_t *stack;
} hand_sample;

static inline uint16_t u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* IDENTIFIER IP TID TIME CPU PERIOD */
static inline bool decode_flat(const uint8_t *p, uint32_t left, hand_sample *s)
{
    if (left < 48)
        return false;
    s->id = u64(p);
    s->ip = u64(p + 8);
    s->pid = u32(p + 16);
    s->tid = u32(p + 20);
    s->time = u64(p + 24);
    s->cpu = u32(p + 32);
    s->period = u64(p + 40);
    return true;
}

/* IP TID TIME PERIOD CALLCHAIN */
static inline bool decode_chains(const uint8_t *p, uint32_t left, hand_sample *s)
{
    if (left < 40)
        return false;
    s->ip = u64(p);
    s->pid = u32(p + 8);
    s->tid = u32(p + 12);
    s->time = u64(p + 16);
    s->period = u64(p + 24);
    s->nr = u64(p + 32);
    s->chain = p + 40;
    return s->nr <= (left - 40) / 8;
}

/* IDENTIFIER IP TID TIME CPU PERIOD RAW */
static inline bool decode_tracepoints(const uint8_t *p, uint32_t left, hand_sample *s)
{
    if (left < 52 || !decode_flat(p, left, s))
        return false;
    s->raw_size = u32(p + 48);
    s->raw = p + 52;
    return s->raw_size <= left - 52;
}

/* IP TID TIME PERIOD CALLCHAIN REGS_USER STACK_USER */
static inline bool decode_dwarf(const uint8_t *p, uint32_t left, hand_sample *s)
{
    if (!decode_chains(p, left, s))
        return false;
    uint32_t at = 40 + 8 * (uint32_t)s->nr;
    if (left - at < 8)
        return false;
    s->abi = u64(p + at);
    at += 8;
    if (s->abi) {
        if (left - at < 8 * N_REGS)
            return false;
        s->regs = p + at;
        at += 8 * N_REGS;
    }
    if (left - at < 8)
        return false;
    s->stack_size = u64(p + at);
    at += 8;
    if (s->stack_size) {
        if (s->stack_size > left - at || left - at - s->stack_size < 8)
            return false;
        s->stack = p + at;
        s->dyn_size = u64(p + at + s->stack_size);
    }
    return true;
}

/* All loops add up the same, so that they can be compared. */
static inline uint64_t sum_of(const hand_sample *s)
{
    return s->ip + s->pid + s->tid + s->time + s->period;
}

#define HAND_LOOP(id, extra)                                                                       \
    uint64_t hand_##id(const capture *c)                                                           \
    {                                                                                              \
        const uint8_t *at = c->data, *end = at + c->data_size;                                     \
        uint64_t sum = 0;                                                                          \
        while (end - at >= HEADER) {                                                               \
            uint32_t size = u16(at + 6);                                                           \
            if (size < HEADER || size > end - at)                                                  \
                break;                                                                             \
            __builtin_prefetch(at + AHEAD);                                                        \
            __builtin_prefetch(at + AHEAD + 64);                                                   \
            hand_sample s;                                                                         \
            if (u32(at) == SAMPLE && decode_##id(at + HEADER, size - HEADER, &s)) {                \
                __asm__ volatile("" ::"r"(&s)                                                      \
                                 : "memory"); /* the struct is made, not just summed */            \
                sum += sum_of(&s) + (extra);                                                       \
            }                                                                                      \
            at += size;                                                                            \
        }                                                                                          \
        return sum;                                                                                \
    }

HAND_LOOP(flat, s.id + s.cpu)
HAND_LOOP(chains, s.nr)
HAND_LOOP(tracepoints, s.id + s.cpu + s.raw_size)
HAND_LOOP(dwarf, s.nr + s.abi + s.stack_size)

#define HAND_TIME(id, offset)                                                                      \
    uint64_t hand_time_##id(const capture *c)                                                      \
    {                                                                                              \
        const uint8_t *at = c->data, *end = at + c->data_size;                                     \
        uint64_t sum = 0;                                                                          \
        while (end - at >= HEADER) {                                                               \
            uint32_t size = u16(at + 6);                                                           \
            if (size < HEADER || size > end - at)                                                  \
                break;                                                                             \
            __builtin_prefetch(at + AHEAD);                                                        \
            __builtin_prefetch(at + AHEAD + 64);                                                   \
            if (u32(at) == SAMPLE && size >= HEADER + (offset) + 8)                                \
                sum += u64(at + HEADER + (offset));                                                \
            at += size;                                                                            \
        }                                                                                          \
        return sum;                                                                                \
    }

HAND_TIME(flat, 24)
HAND_TIME(chains, 16)
HAND_TIME(tracepoints, 24)
HAND_TIME(dwarf, 16)

loop *const hand_decode[N_KINDS] = {hand_flat, hand_chains, hand_tracepoints, hand_dwarf};
loop *const hand_time[N_KINDS] = {hand_time_flat, hand_time_chains, hand_time_tracepoints,
                                  hand_time_dwarf};

#define BASIC   (PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_PERIOD)
#define WITH_ID (BASIC | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_CPU)

const uint64_t hand_sample_type[N_KINDS] = {
    WITH_ID,
    BASIC | PERFILE_SAMPLE_CALLCHAIN,
    WITH_ID | PERFILE_SAMPLE_RAW,
    BASIC | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER,
};
