#include "cli/output.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/signals.h"

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool inside(const char *out, const char *directory)
{
    char path[4096];
    size_t n = strlen(out);
    struct stat sb;
    if (stat(directory, &sb) != 0 || !S_ISDIR(sb.st_mode) || n >= sizeof path)
        return false;
    memcpy(path, out, n + 1);
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';
    return same_file(slash ? path : ".", directory);
}

int cli_output_open(const char *out, const char *in, const char *what, bool replace, bool directory,
                    perfile_sink **sink)
{
    perfile_error err;
    perfile_sink_options how = {.size = sizeof how, .flags = replace ? PERFILE_SINK_REPLACE : 0};
    if (same_file(out, in) || inside(out, in)) {
        cli_say("%s: OUT is %s or lies inside it, which is never changed: choose another OUT", out,
                what);
        return CLI_FAILED;
    }
    perfile_status st = directory ? perfile_sink_directory(out, &how, sink, &err)
                                  : perfile_sink_path(out, &how, sink, &err);
    if (st != PERFILE_OK) {
        cli_say_error(out, &err);
        if (!replace && same_file(out, out))
            cli_say("%s: -f replaces it", out);
        return CLI_FAILED;
    }
    cli_signals_temporary(perfile_sink_temporary(*sink));
    return CLI_DONE;
}
