/* The code that the kernel maps into every process, [vdso]: no file has it, but this process has
 * that of the kernel that runs.  Whether it is the recorded one is for its build id to say. */
#include <stdlib.h>
#include <string.h>

#include "symbol/state.h"

/* The line "START-END … [vdso]" of /proc/self/maps. */
static bool find_line(const char *maps, uint64_t *start, uint64_t *end)
{
    const char *name = strstr(maps, "[vdso]"), *line = name;
    char *dash;
    if (!name)
        return false;
    while (line > maps && line[-1] != '\n')
        line--;
    *start = strtoull(line, &dash, 16);
    if (*dash != '-')
        return false;
    *end = strtoull(dash + 1, NULL, 16);
    return *start && *end > *start;
}

perfile_status pf_own_vdso(pf_budget *budget, perfile_bytes *image)
{
    pf_symfile f;
    pf_piece maps;
    uint64_t start, end;
    *image = (perfile_bytes){NULL, 0};
    if (!pf_symfile_open(&f, "/proc/self/maps"))
        return PERFILE_OK;
    perfile_status st = pf_symfile_read_all(&f, budget, &maps);
    pf_symfile_close(&f);
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    if (find_line((const char *)maps.ptr, &start, &end))
        *image = (perfile_bytes){(const uint8_t *)(uintptr_t)start, (size_t)(end - start)};
    pf_piece_free(&maps, budget);
    return PERFILE_OK;
}
