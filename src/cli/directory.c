/* Reports files in a directory that are not files of the capture and are therefore not copied. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"

enum { NAME_SIZE = 2 * sizeof((struct dirent *)0)->d_name };

/* What is not copied: how many files, and the alphabetically first of them, since readdir() has no
 * fixed order. */
typedef struct left_out {
    char first[NAME_SIZE];
    size_t n;
} left_out;

static void add(left_out *x, const char *name)
{
    if (x->n++ == 0 || strcmp(name, x->first) < 0)
        snprintf(x->first, sizeof x->first, "%s", name);
}

/* Adds the files in a folder of the directory that do not belong to a capture; false if `name` is
 * no folder. */
static bool add_folder(left_out *x, DIR *above, const char *name)
{
    char path[NAME_SIZE];
    const int fd = openat(dirfd(above), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (const struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", name, e->d_name);
        if (e->d_name[0] != '.' && !perfile_is_companion_file(path))
            add(x, path);
    }
    closedir(dir);
    return true;
}

void cli_report_not_copied(const char *in, bool companions)
{
    left_out x = {0};
    DIR *dir = cli_is_directory(in) ? opendir(in) : NULL;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.' && !perfile_is_record_file(e->d_name) &&
            !(companions && add_folder(&x, dir, e->d_name)))
            add(&x, e->d_name);
    if (dir)
        closedir(dir);
    if (x.n == 1)
        cli_message("%s: %s holds no records and is not copied", in, x.first);
    else if (x.n)
        cli_message("%s: %s and %zu more hold no records and are not copied", in, x.first, x.n - 1);
}
