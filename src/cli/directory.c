/* Reports files in a directory that are not records and are therefore not copied (kcore_dir). */
#include <dirent.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

/* True for the record files of `perf record --threads`, for perfmon buffers, and for hidden files,
 * . and .. */
static bool is_record_file(const char *name)
{
    static const char buffer[] = ".cpuperf";
    const size_t n = strlen(name);
    return strcmp(name, "data") == 0 || strncmp(name, "data.", 5) == 0 || name[0] == '.' ||
           (n > sizeof buffer && strcmp(name + n - (sizeof buffer - 1), buffer) == 0);
}

void cli_report_not_copied(const char *in)
{
    char first[sizeof((struct dirent *)0)->d_name] = "";
    size_t n = 0;
    DIR *dir = cli_is_directory(in) ? opendir(in) : NULL;
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (is_record_file(e->d_name))
            continue;
        /* The message names the alphabetically first one: readdir() has no fixed order. */
        if (n++ == 0 || strcmp(e->d_name, first) < 0)
            memcpy(first, e->d_name, strlen(e->d_name) + 1);
    }
    if (dir)
        closedir(dir);
    if (n == 1)
        cli_message("%s: %s holds no records and is not copied", in, first);
    else if (n)
        cli_message("%s: %s and %zu more hold no records and are not copied", in, first, n - 1);
}
