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
    static const char *const words[] = {"perf.data", "pipe", "dir"};
    size_t which, n = sizeof words / sizeof words[0];
    int status = cli_choose(command, "--to", word, words, n, &which);
    w->told_form = true;
    w->directory = which == 2;
    w->form = which == 1 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    return status;
}

static int read_damage(const char *command, const char *word, cli_writing *w)
{
    cli_on_damage damage = {0};
    int status = cli_read_damage(command, word, w->may_copy ? CLI_DAMAGE_COPY : 0, &damage);
    w->told_damage = true;
    w->on_damage = damage.policy;
    w->fail = damage.fail;
    w->copy = damage.copy;
    return status;
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
    case CLI_OPTION_RESYNC:
        return read_damage(command, "resync", w);
    case CLI_OPTION_REPORT:
        w->json = true;
        return cli_choose(command, "--report", optarg, (const char *const[]){"json"}, 1,
                          &(size_t){0});
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
    default: /* cli_next_option() has said what is wrong */
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

int cli_writing_check(const char *command, const cli_writing *w)
{
    if (!w->out)
        return cli_usage(command, "missing output: give -o OUT");
    if (w->json && strcmp(w->out, "-") == 0)
        return cli_usage(command, "the report and the capture cannot both go to standard output");
    return cli_no_terminal(command, w->out, "a capture");
}

int cli_writing_input(const char *command, int argc, char **argv, const cli_writing *w,
                      const char **in)
{
    int status = cli_take_input(command, argc, argv, in);
    return status == CLI_CONTINUE ? cli_writing_check(command, w) : status;
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
