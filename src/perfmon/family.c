/* The family of perfmon records: the code that its table expands to, headers of buffers, names of
 * files, and names of events. */
#include "perfmon/perfmon.h"

#include <string.h>
#include <stdio.h>

#include "schema/expand.h"
#include "perfmon/events.h"

#define PF_ID    perfmon
#define PF_TABLE "perfile/format/perfmon.def"
#include "schema/family.inc"

const uint8_t pf_perfmon_sizes[PF_PERFMON_TYPES] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    [number] = PF_PERFMON_RECORD_HEADER + (fixed),
#include "perfile/format/perfmon.def"
};

_Static_assert((unsigned)PF_PERFMON_BRANCH == (unsigned)PF_WIDTH_perfmon_branch,
               "the size of a branch");
_Static_assert((unsigned)PF_PERFMON_HEADER == (unsigned)PF_WIDTH_perfmon_header,
               "the size of a header");

/* The record is complete, because it was framed before. */
static pf_frame frame_at(const uint8_t *header, bool swap)
{
    pf_frame f = {0};
    (void)swap;
    (void)pf_perfmon_frame(header, PF_PERFMON_MOST, &f);
    return f;
}

static void byteswap_header(uint8_t *out, const uint8_t *header)
{
    out[0] = header[0];
    out[1] = header[1];
    pf_store_u16(out + PF_PERFMON_EVENT_AT, pf_load_u16(header + PF_PERFMON_EVENT_AT, true), false);
}

const pf_family pf_family_perfmon = {
    .name = "perfmon",
    .prefix = "PERFMON_RECORD_",
    .header = PF_PERFMON_RECORD_HEADER,
    .ticks = true,
    .tag_at = PF_PERFMON_TAG_AT,
    .walk_tag = pf_walk_perfmon_tag,
    .walk_file_header = pf_walk_perfmon_header,
    .frame_at = frame_at,
    .byteswap_header = byteswap_header,
    PF_FAMILY_OF_TABLE,
};

/* The header of a buffer, and the conversion of its clock. */

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

/* Chooses the largest shift that keeps `mult` in 32 bits, for the most exact times.  The product of
 * 10^9 and 2^32 fits in 62 bits. */
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

/* Names of files.  The recorder writes a buffer for each CPU and iteration as
 * PREFIX.ITERATION.TRACE.cpuperf, where TRACE is the CPU. */

/* Reads the decimal number before *end, which must follow a dot, and moves *end to that dot. */
static bool number_before(const char *file, const char **end, uint32_t *number)
{
    const char *at = *end;
    uint64_t value = 0, unit = 1;
    while (at > file && at[-1] >= '0' && at[-1] <= '9' && *end - at < 9) {
        value += (uint64_t)(at[-1] - '0') * unit;
        unit *= 10;
        at--;
    }
    if (at == *end || at == file || at[-1] != '.')
        return false;
    *number = (uint32_t)value;
    *end = at - 1;
    return true;
}

bool pf_perfmon_name_of(const char *file, pf_perfmon_name *name)
{
    static const char suffix[] = ".cpuperf";
    const size_t n = strlen(file);
    if (n < sizeof suffix || strcmp(file + n - (sizeof suffix - 1), suffix) != 0)
        return false;
    const char *end = file + n - (sizeof suffix - 1);
    if (!number_before(file, &end, &name->trace) || !number_before(file, &end, &name->iteration))
        return false;
    name->prefix = (size_t)(end - file);
    return true;
}

/* Names and layouts of event ids; see events.h. */

enum {
    ARCH = 1,
    FIXED = 2,
    MODEL = 3,
    MISC = 4,
    GROUPS,
    NUMBER_BITS_A = 10,
    NUMBER_BITS_B = 11,
    FIRST_ID = 1 << NUMBER_BITS_A,
    FIRST_OF_B = 1 << NUMBER_BITS_B,         /* below it, only A has groups */
    FIRST_MISC_OF_A = MISC << NUMBER_BITS_A, /* MISC events do not overflow */
    END_OF_A = (MISC + 1) << NUMBER_BITS_A   /* from here on, only B has groups */
};

/* An event with a name of its own. */
typedef struct known_event {
    uint16_t arch, group, number;
    const char *name;
    uint64_t config;
} known_event;
static const known_event known[] = {
#define KNOWN_EVENT(arch, group, number, name, config)                                             \
    {PF_PERFMON_##arch, group, number, name, config},
#include "perfile/format/perfmon_events.def"
};

unsigned pf_perfmon_evidence(unsigned type, uint16_t id)
{
    const bool overflows =
        type == PF_PERFMON_TICK || type == PF_PERFMON_PC || type == PF_PERFMON_TIME;
    if (id < FIRST_ID)
        return 0;
    if (id < FIRST_OF_B)
        return 1 << PF_PERFMON_LAYOUT_A;
    if (id >= END_OF_A || (overflows && id >= FIRST_MISC_OF_A))
        return 1 << PF_PERFMON_LAYOUT_B;
    return 0;
}

static unsigned number_bits(unsigned layout)
{
    return layout == PF_PERFMON_LAYOUT_B ? NUMBER_BITS_B : NUMBER_BITS_A;
}

static const known_event *find(uint16_t arch, unsigned layout, uint16_t id)
{
    const unsigned group = (unsigned)id >> number_bits(layout);
    const unsigned number = id & ((1U << number_bits(layout)) - 1);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].arch == arch && known[i].group == group && known[i].number == number)
            return &known[i];
    return NULL;
}

void pf_perfmon_event_name(char name[PF_PERFMON_NAME], uint16_t arch, unsigned layout, uint16_t id)
{
    static const char *const groups[GROUPS] = {
        [ARCH] = "arch", [FIXED] = "fixed", [MODEL] = "model", [MISC] = "misc"};
    const unsigned group = (unsigned)id >> number_bits(layout);
    const unsigned number = id & ((1U << number_bits(layout)) - 1);
    const known_event *e = find(arch, layout, id);
    if (id == 0)
        snprintf(name, PF_PERFMON_NAME, "perfmon:none");
    else if (group >= GROUPS || !groups[group])
        snprintf(name, PF_PERFMON_NAME, "perfmon:0x%x", id);
    else if (e)
        snprintf(name, PF_PERFMON_NAME, "%s:%s", groups[group], e->name);
    else
        snprintf(name, PF_PERFMON_NAME, "%s:0x%x", groups[group], number);
}

bool pf_perfmon_event_of_perf(uint16_t arch, unsigned layout, uint16_t id, uint64_t *config)
{
    const known_event *e = find(arch, layout, id);
    if (e)
        *config = e->config;
    return e != NULL;
}
