/* Ids of events: how they are divided into a group and a number, and the names of events.
 *
 * There are two layouts of the 16 bits, and no buffer says which one it has.  The layout is
 * inferred from ids that only one layout can have, or the user gives it. */
#ifndef PF_PERFMON_EVENTS_H
#define PF_PERFMON_EVENTS_H

#include "perfmon/perfmon.h"

enum {                          /* layouts */
       PF_PERFMON_LAYOUT_A = 0, /* 6 bits of group, 10 of number */
       PF_PERFMON_LAYOUT_B = 1  /* 5 bits of group, 11 of number */
};

enum { PF_PERFMON_NAME = 40 };

/* Returns which layouts the id of a record of this stored type indicates, as bits 1 <<
 * PF_PERFMON_LAYOUT_…. */
unsigned pf_perfmon_evidence(unsigned type, uint16_t id);

/* Writes the name of the event, such as "fixed:instructions_retired", to `name`. */
void pf_perfmon_event_name(char name[PF_PERFMON_NAME], uint16_t arch, unsigned layout, uint16_t id);

/* Returns true if the event is a hardware event of perf, and sets *config to its number there. */
bool pf_perfmon_event_of_perf(uint16_t arch, unsigned layout, uint16_t id, uint64_t *config);

#endif
