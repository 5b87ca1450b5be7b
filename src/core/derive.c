/* The name that perf would print for an event that the capture does not name, from type, config and
 * flags: "cycles:u", "L1-dcache-load-misses", "sched:sched_switch", "cpu_core/cycles/".  P:
 * tools/perf/util/evsel.c, evsel__name(). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "perfile/field.h"

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
