/* Names of files: the recorder writes a buffer for each processor and iteration as
 * PREFIX.ITERATION.TRACE.cpuperf, where `trace` is the processor. */
#include "perfmon/perfmon.h"

#include <string.h>

/* Reads the decimal number in front of *end, a dot in front of it; moves *end to that dot. */
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
