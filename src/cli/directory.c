/* Reports files in a directory that are not records and are therefore not copied (kcore_dir). */
#include <dirent.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

void cli_report_not_copied(const char *in)
{
    char first[sizeof((struct dirent *)0)->d_name] = "";
    size_t n = 0;
    DIR *dir = cli_is_directory(in) ? opendir(in) : NULL;
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || perfile_is_record_file(e->d_name))
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
