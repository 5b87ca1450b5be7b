/* The name that perf would print for an event that the capture does not name, from type, config and
 * flags: "cycles:u", "L1-dcache-load-misses", "sched:sched_switch", "cpu_core/cycles/".  P:
 * tools/perf/util/evsel.c, evsel__name(). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "perfile/field.h"
#include "core/layout.h"
#include "base/error.h"
#include "core/session.h"

/* Text in a buffer of fixed size; what does not fit is cut off. */
typedef struct line {
    char *text;
    size_t size;
    size_t len;
} line;

static void put(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends formatted text. */
static void put(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->len, l->size - l->len, format, args);
    va_end(args);
    if (n > 0)
        l->len += (size_t)n < l->size - l->len ? (size_t)n : l->size - l->len - 1;
}

/* The name of a value in a vocabulary of format/words.def, NULL if it has none. */
static const char *word(const char *vocabulary, uint64_t value)
{
    const perfile_vocabulary *v = perfile_vocabulary_find(vocabulary);
    return v ? perfile_vocabulary_word(v, value) : NULL;
}

/* A bit of the attr's flags; `bit` is PERFILE_ATTR_BIT_…. */
static bool flag(const perfile_attr *attr, unsigned bit)
{
    return attr->flags >> bit & 1;
}

/* "cpu/", or "pmu-type-8/" for a PMU without a name. */
static void put_pmu(line *l, const perfile_session *s, uint32_t type)
{
    const char *pmu = perfile_session_pmu_name(s, type);
    if (pmu)
        put(l, "%s/", pmu);
    else
        put(l, "pmu-type-%u/", type);
}

/* "PMU/config=0x…,config1=0x…/": what perf accepts for any event of a PMU. */
static void put_config(line *l, const perfile_session *s, const perfile_attr *attr)
{
    put_pmu(l, s, attr->type);
    put(l, "config=0x%llx", (unsigned long long)attr->config);
    if (attr->config1)
        put(l, ",config1=0x%llx", (unsigned long long)attr->config1);
    if (attr->config2)
        put(l, ",config2=0x%llx", (unsigned long long)attr->config2);
    if (attr->config3)
        put(l, ",config3=0x%llx", (unsigned long long)attr->config3);
    put(l, "/");
}

/* perf prints "cycles" and "branches" for what the kernel's header calls cpu-cycles and
 * branch-instructions. */
static const char *hardware_word(uint64_t config)
{
    enum { CPU_CYCLES = 0, BRANCH_INSTRUCTIONS = 4 };
    if (config == CPU_CYCLES)
        return "cycles";
    if (config == BRANCH_INSTRUCTIONS)
        return "branches";
    return word("hardware", config);
}

/* Hardware cache events: config is cache id, operation and result, 8 bits each.  False: no such
 * event. */
static bool put_cache(line *l, uint64_t config)
{
    enum { PREFETCH = 2 };
    unsigned op = config >> 8 & 0xff;
    unsigned result = config >> 16 & 0xff;
    const char *cache = word("hw_cache_id", config & 0xff);
    const char *access = word("hw_cache_op", op);
    if (!cache || !access || result > 1 || config >> 24)
        return false;
    if (result)
        put(l, "%s-%s-misses", cache, access);
    else
        put(l, "%s-%s%s", cache, access, op == PREFETCH ? "es" : "s");
    return true;
}

/* "mem:0xADDR:rwx". */
static void put_breakpoint(line *l, const perfile_attr *attr)
{
    put(l, "mem:0x%llx:%s%s%s", (unsigned long long)attr->config1, attr->bp_type & 1 ? "r" : "",
        attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
}

/* Hybrid systems have the PMU in the upper half of config: "cpu_core/cycles/". */
static bool put_generic(line *l, const perfile_session *s, const perfile_attr *attr)
{
    uint32_t pmu = (uint32_t)(attr->config >> 32);
    uint64_t config = attr->config & UINT32_MAX;
    size_t start = l->len;
    if (pmu)
        put_pmu(l, s, pmu);
    const char *name = attr->type == PERFILE_TYPE_HARDWARE ? hardware_word(config) : NULL;
    if (name)
        put(l, "%s", name);
    else if (attr->type == PERFILE_TYPE_HARDWARE || !put_cache(l, config)) {
        l->len = start;
        return false;
    }
    if (pmu)
        put(l, "/");
    return true;
}

void pf_name_modifiers(const perfile_attr *attr, char *text, size_t size)
{
    bool user = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_USER);
    bool kernel = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_KERNEL);
    bool hv = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_HV);
    unsigned precise = attr->flags >> PERFILE_ATTR_BIT_PRECISE_IP & 3;
    char modifiers[8] = "";
    line m = {modifiers, sizeof modifiers, 0};
    if (user != kernel)
        put(&m, user ? "k" : "u");
    else if (user && !hv)
        put(&m, "h");
    put(&m, "%.*s", (int)precise, "ppp");
    if (flag(attr, PERFILE_ATTR_BIT_EXCLUDE_HOST) && !flag(attr, PERFILE_ATTR_BIT_EXCLUDE_GUEST))
        put(&m, "G");

    line l = {text, size, strlen(text)};
    if (m.len)
        put(&l, "%s%s", l.len && text[l.len - 1] == '/' ? "" : ":", modifiers);
}

void pf_name_derive(const perfile_session *s, const perfile_attr *attr, char *text, size_t size)
{
    line l = {text, size, 0};
    text[0] = 0;
    switch (attr->type) {
    case PERFILE_TYPE_HARDWARE:
    case PERFILE_TYPE_HW_CACHE:
        if (put_generic(&l, s, attr))
            break;
        put(&l, "%s/config=0x%llx/", attr->type == PERFILE_TYPE_HARDWARE ? "hardware" : "hw-cache",
            (unsigned long long)attr->config);
        break;
    case PERFILE_TYPE_SOFTWARE: {
        const char *name = word("software", attr->config);
        if (name)
            put(&l, "%s", name);
        else
            put(&l, "software/config=0x%llx/", (unsigned long long)attr->config);
        break;
    }
    case PERFILE_TYPE_TRACEPOINT: {
        const pf_tracepoint *t = pf_tracepoints_find(&s->names.tracepoints, attr->config);
        if (t)
            put(&l, "%.*s:%.*s", t->system.len < size ? (int)t->system.len : (int)size,
                (const char *)t->system.ptr, t->name.len < size ? (int)t->name.len : (int)size,
                (const char *)t->name.ptr);
        else
            put(&l, "tracepoint:%llu", (unsigned long long)attr->config);
        return; /* tracepoints have no modifiers */
    }
    case PERFILE_TYPE_RAW:
        put(&l, "r%llx", (unsigned long long)attr->config);
        break;
    case PERFILE_TYPE_BREAKPOINT:
        put_breakpoint(&l, attr);
        break;
    default:
        put_config(&l, s, attr);
        break;
    }
    pf_name_modifiers(attr, text, size);
}

/* Layouts: where the fields of samples and trailers are, by sample_type. */

/* K: the fields of 64 bits at the front of a sample, in stored order, which is not that of the
 * bits. */
static const uint8_t sample_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_IP,        PF_SLOT_TID, PF_SLOT_TIME,   PF_SLOT_ADDR,
    PF_SLOT_ID,         PF_SLOT_STREAM_ID, PF_SLOT_CPU, PF_SLOT_PERIOD,
};

/* K: the fields of a trailer, the last one first. */
static const uint8_t trailer_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_CPU, PF_SLOT_STREAM_ID, PF_SLOT_ID, PF_SLOT_TIME, PF_SLOT_TID,
};

void pf_layout_make(perfile_layout *layout, const perfile_attr *attr)
{
    *layout = (perfile_layout){
        .sample_type = attr->sample_type,
        .read_format = attr->read_format,
        .branch_sample_type = attr->branch_sample_type,
        .sample_regs_user = attr->sample_regs_user,
        .sample_regs_intr = attr->sample_regs_intr,
        .sample_id_all = attr->flags >> PERFILE_ATTR_BIT_SAMPLE_ID_ALL & 1,
    };
    memset(layout->sample_slot, -1, sizeof layout->sample_slot);
    memset(layout->trailer_slot, -1, sizeof layout->trailer_slot);

    int8_t slot = 0;
    for (size_t i = 0; i < sizeof sample_order; i++)
        if (attr->sample_type >> sample_order[i] & 1)
            layout->sample_slot[sample_order[i]] = slot++;

    if (!layout->sample_id_all)
        return;
    slot = 0;
    for (size_t i = 0; i < sizeof trailer_order; i++)
        if (attr->sample_type >> trailer_order[i] & 1)
            layout->trailer_slot[trailer_order[i]] = ++slot;
    layout->trailer_slots = (uint8_t)slot;
    layout->trailer_size = (uint8_t)(8 * slot);
}

/* The slots follow from these members, so they need not be compared. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b)
{
    return a->sample_type == b->sample_type && a->read_format == b->read_format &&
           a->branch_sample_type == b->branch_sample_type &&
           a->sample_regs_user == b->sample_regs_user &&
           a->sample_regs_intr == b->sample_regs_intr && a->sample_id_all == b->sample_id_all;
}

/* Conversion between the hardware clock (TSC and the like) and the session clock.
 * The arithmetic is that of linux/perf_event.h (cap_user_time_zero), modulo 2^64 throughout. */

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
