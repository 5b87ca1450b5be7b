/* One reading by a command: what it may cost, and what has to come out. */
#include "every.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "cli/command.h"

enum {
    SECONDS = 2, /* of processor time for one reading; it takes a millisecond or less */
#if defined(__SANITIZE_ADDRESS__)
    MEMORY_KB = 256 << 10, /* freed blocks and the sanitizer's own lists are in it */
#else
    MEMORY_KB = 64 << 10, /* by which the peak may rise above that of the start */
#endif
    OUTPUT_BYTES = 4 << 20 /* of one reading */
};

void every_wrong(every_progress *p, const char *why)
{
    snprintf(p->why, sizeof p->why, "%s", why);
    fflush(stdout);
    _exit(1);
}

static uint64_t peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss;
}

static void read_with(size_t command, const every_target *t, every_progress *p)
{
    static uint64_t at_start;
    if (!at_start)
        at_start = peak_kb();
    const struct itimerval limit = {.it_value.tv_sec = SECONDS};
    setitimer(ITIMER_PROF, &limit, NULL);
    clock_t start = clock();
    int status = every_command_run(command, t, p);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);

    every_output o;
    every_output_take(&o, p);
    uint64_t rise = peak_kb() - at_start;
    p->readings++;
    p->output_bytes = o.out + o.err > p->output_bytes ? o.out + o.err : p->output_bytes;
    p->memory_kb = rise > p->memory_kb ? rise : p->memory_kb;
    p->seconds = seconds > p->seconds ? seconds : p->seconds;
    if (status != CLI_DONE && status != CLI_FAILED && status != CLI_DAMAGED &&
        !(status == CLI_USAGE && every_command_flags(command) & EVERY_REFUSES))
        every_wrong(p, "a status that no capture may cause");
    p->by_status[status]++;
    if (o.out + o.err + o.made == 0 &&
        (status != CLI_DONE || !(every_command_flags(command) & EVERY_QUIET)))
        every_wrong(p, "neither an output nor a word");
    if ((status == CLI_FAILED || status == CLI_USAGE) && o.made)
        every_wrong(p, "failed, but there is an output");
    if (o.out + o.err > OUTPUT_BYTES)
        every_wrong(p, "more output than so small a capture can have");
    if (rise > MEMORY_KB)
        every_wrong(p, "more memory than so small a capture may take");
}

uint64_t every_readings(bool all)
{
    return all ? every_n_commands(true) : EVERY_USUAL + 1;
}

void every_reading(const every_target *target, uint64_t n, bool all, every_progress *p)
{
    const size_t most = every_n_commands(true);
    for (size_t i = 0; i < (all ? most : EVERY_USUAL); i++)
        read_with(i, target, p);
    pf_random random = {n};
    if (!all)
        read_with(EVERY_USUAL + (size_t)pf_random_below(&random, most - EVERY_USUAL), target, p);
}
