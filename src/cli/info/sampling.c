/* How a capture was recorded: when, and with what call chains. */
#include "cli/info/info.h"

bool cli_info_captured(const cli_info_facts *x, uint64_t *wall, bool *of_file)
{
    perfile_clock clock;
    perfile_session_clock(x->session, &clock);
    *of_file = false;
    if (x->first != PERFILE_NO_TIME && perfile_session_wall_time(x->session, x->first, wall))
        return true;
    if (clock.has_wall) { /* of CLOCK_DATA: perf reads both clocks when the recording begins */
        *wall = clock.wall_ns;
        return true;
    }
    *of_file = true;
    *wall = x->file_time;
    return x->has_file_time;
}

/* LBR call chains are branch stacks in call-stack mode; DWARF needs the user stack and registers.
 */
const char *cli_info_call_graph(const perfile_attr *a)
{
    const uint64_t stack = PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_REGS_USER;
    if (a->sample_type & PERFILE_SAMPLE_BRANCH_STACK &&
        a->branch_sample_type & PERFILE_BRANCH_CALL_STACK)
        return "lbr";
    if ((a->sample_type & stack) == stack)
        return "dwarf";
    return a->sample_type & PERFILE_SAMPLE_CALLCHAIN ? "fp" : NULL;
}
