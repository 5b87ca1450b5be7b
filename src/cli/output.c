#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "perfile/container.h"
#include "perfile/sort.h"

static int read_form(const char *command, const char *word, cli_writing *w)
{
    w->told_form = true;
    w->directory = strcmp(word, "dir") == 0;
    w->form = strcmp(word, "pipe") == 0 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    if (w->directory || w->form == PERFILE_FORM_PIPE || strcmp(word, "perf.data") == 0)
        return CLI_CONTINUE;
    return cli_usage(command, "--to takes perf.data, pipe or dir: '%s'", word);
}

static int read_damage(const char *command, const char *word, cli_writing *w)
{
    static const struct {
        const char *word;
        uint32_t on_damage;
    } words[] = {{"stop", PERFILE_STOP},
                 {"resync", PERFILE_RESYNC},
                 {"salvage", PERFILE_SALVAGE},
                 {"fail", PERFILE_STOP}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        w->on_damage = words[i].on_damage;
        w->fail = strcmp(word, "fail") == 0;
        return CLI_CONTINUE;
    }
    return cli_usage(command, "--on-damage takes stop, resync, salvage or fail: '%s'", word);
}

int cli_writing_option(const char *command, const char *help, int option, cli_writing *w)
{
    switch (option) {
    case 'o':
        w->out = optarg;
        return CLI_CONTINUE;
    case 'f':
        w->replace = true;
        return CLI_CONTINUE;
    case CLI_OPTION_TO:
        return read_form(command, optarg, w);
    case CLI_OPTION_ON_DAMAGE:
        return read_damage(command, optarg, w);
    case CLI_OPTION_REPORT:
        if (strcmp(optarg, "json") != 0)
            return cli_usage(command, "--report takes json: '%s'", optarg);
        w->json = true;
        return CLI_CONTINUE;
    case CLI_OPTION_JSON:
        w->json = true;
        return CLI_CONTINUE;
    case CLI_OPTION_FROM:
        w->from = optarg;
        return CLI_CONTINUE;
    case CLI_OPTION_GROWTH:
        w->limits = &cli_growth;
        return CLI_CONTINUE;
    case CLI_OPTION_HELP:
        cli_print_help(false, help);
        return CLI_DONE;
    default: /* getopt has said what is wrong */
        cli_print_error("Try 'perfile %s --help'.\n", command);
        return CLI_USAGE;
    }
}

int cli_writing_memory(const char *command, const char *word, uint64_t *to)
{
    if (!cli_read_size(word, to))
        return cli_usage(command, "--max-memory takes a size such as 64M: '%s'", word);
    if (*to < PERFILE_SORT_LEAST_MEMORY)
        return cli_usage(command, "--max-memory: '%s', at least %dM is needed", word,
                         PERFILE_SORT_LEAST_MEMORY >> 20);
    return CLI_CONTINUE;
}

int cli_writing_check(const char *command, int left, const cli_writing *w)
{
    if (left != 1)
        return cli_usage(command, left == 0 ? "which capture?" : "one capture at a time");
    if (!w->out)
        return cli_usage(command, "where to? -o OUT");
    if (w->json && strcmp(w->out, "-") == 0)
        return cli_usage(command, "the report and the capture cannot both go to standard output");
    return CLI_CONTINUE;
}

int cli_writing_check_several(const char *command, int left, const cli_writing *w)
{
    if (left == 0)
        return cli_usage(command, "which captures?");
    if (!w->out)
        return cli_usage(command, "where to? -o OUT");
    return CLI_CONTINUE;
}

void cli_writing_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    cli_progress_step(done, total);
}

bool cli_is_directory(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool inside(const char *out, const char *directory)
{
    char path[4096];
    size_t n = strlen(out);
    if (!cli_is_directory(directory) || n >= sizeof path)
        return false;
    memcpy(path, out, n + 1);
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';
    return same_file(slash ? path : ".", directory);
}

int cli_output_apart(const char *out, const char *in, const char *what)
{
    if (!same_file(out, in) && !inside(out, in))
        return CLI_DONE;
    cli_say("%s: OUT is %s or lies inside it, which is never changed: choose another OUT", out,
            what);
    return CLI_FAILED;
}

int cli_output_open(const char *out, const char *in, const char *what, bool replace, bool directory,
                    perfile_sink **sink)
{
    perfile_error err;
    perfile_sink_options how = {.size = sizeof how, .flags = replace ? PERFILE_SINK_REPLACE : 0};
    if (cli_output_apart(out, in, what) != CLI_DONE)
        return CLI_FAILED;
    perfile_status st = directory ? perfile_sink_directory(out, &how, sink, &err)
                                  : perfile_sink_path(out, &how, sink, &err);
    if (st != PERFILE_OK) {
        cli_say_error(out, &err);
        if (!replace && same_file(out, out))
            cli_say("%s: -f replaces it", out);
        return CLI_FAILED;
    }
    cli_signals_temporary(perfile_sink_temporary(*sink));
    cli_say_beside(in);
    return CLI_DONE;
}

perfile_status cli_source(const cli_writing *w, const char *path, perfile_source **source,
                          perfile_error *err)
{
    perfile_source_options how = {.size = sizeof how, .limits = w->limits};
    return perfile_source_path(path, &how, source, err);
}

int cli_writing_open(const cli_writing *w, const char *path, bool directory,
                     perfile_source **source, perfile_sink **sink)
{
    perfile_error err;
    if (cli_source(w, path, source, &err) != PERFILE_OK) {
        cli_say_error(cli_input_name(path), &err);
        return CLI_FAILED;
    }
    int status = cli_output_open(w->out, path, "IN", w->replace, directory, sink);
    if (status != CLI_DONE)
        perfile_source_close(*source);
    return status;
}

void cli_writing_begin(const char *name)
{
    cli_signals_file(name);
    cli_progress_start(name);
}

void cli_writing_end(perfile_sink *sink)
{
    cli_signals_file(NULL);
    cli_signals_temporary(NULL);
    perfile_sink_close(sink);
}
