/* Names and layouts of event ids; see events.h. */
#include "perfmon/events.h"

#include <stdio.h>

enum {
    ARCH = 1,
    FIXED = 2,
    MODEL = 3,
    MISC = 4,
    GROUPS,
    NUMBER_BITS_A = 10,
    NUMBER_BITS_B = 11,
    FIRST_ID = 1 << NUMBER_BITS_A,
    FIRST_OF_B = 1 << NUMBER_BITS_B,         /* below it only A has groups */
    FIRST_MISC_OF_A = MISC << NUMBER_BITS_A, /* these do not overflow */
    END_OF_A = (MISC + 1) << NUMBER_BITS_A   /* from here on only B has groups */
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
