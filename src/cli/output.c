/* Outputs: options of commands that write captures, and opening sinks.
 *
 * A sink writes to a temporary file next to OUT and renames it at the end.  The signal handlers
 * (signals.c) know the name of that file, and remove it when the process is interrupted. */
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "perfile/container.h"
#include "perfile/sort.h"
#include "perfile/writer.h"
#include "archive/command.h"
#include "io/command.h"

const char *cli_report_word(size_t i)
{
    return i == 0 ? "json" : NULL;
}

const cli_option cli_output_options[] = {
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "the new capture; - is standard output, in pipe form",
     .more = "The file appears when it is complete, or not at all."},
    {0},
};

const cli_option cli_force_options[] = {
    {"force", .letter = 'f', .help = "replace OUT if it exists",
     .more = "Without this option an existing OUT is an error."},
    {0},
};

const cli_option cli_compress_options[] = {
    {"compress", .value = "[=LEVEL]", .code = CLI_OPTION_COMPRESS,
     .help = "compress records, 1 (fast, default) to 22",
     .more =
         "Records of the kernel are compressed, with zstd. Without this option and "
         "--decompress a perf.data file is compressed if it is made from one IN that is; a pipe "
         "is not, because perf 6.1 cannot read compressed pipes, and an archive has its own "
         "way."},
    {"decompress", .code = CLI_OPTION_DECOMPRESS,
     .help = "do not compress, also if IN is compressed"},
    {0},
};

const cli_option cli_writing_options[] = {
    {"resync", .code = CLI_OPTION_RESYNC},
    {"report", .value = "json", .code = CLI_OPTION_REPORT, .word = cli_report_word},
    {0},
};

const char *cli_output_word(size_t i)
{
    const perfile_output *o = perfile_output_at(i);
    return o ? o->name : NULL;
}

const char *cli_single_output_word(size_t i)
{
    const perfile_output *o;
    for (size_t at = 0; (o = perfile_output_at(at)); at++)
        if (!o->directory && i-- == 0)
            return o->name;
    return NULL;
}

/* Reads the value of --to, which is a name or its alias (file for perf.data). */
static int read_form(const char *command, const char *word, cli_writing *w)
{
    const perfile_output *o;
    size_t which;
    for (size_t i = 0; (o = perfile_output_at(i)); i++) /* an alias stands for its name */
        if (o->alias && strcmp(word, o->alias) == 0)
            word = o->name;
    int status = cli_choose(command, "--to", word, cli_output_word, &which);
    if (status != CLI_CONTINUE)
        return status;
    o = perfile_output_at(which);
    w->has_form = true;
    w->format = o->format;
    w->directory = o->directory;
    w->archive = o->archive;
    w->form = o->form;
    return status;
}

const char *cli_output_path(const char *word)
{
    static const char *const paths[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strcmp(word, paths[i]) == 0)
            return "-";
    return word;
}

const char *cli_output_name(const char *out)
{
    return strcmp(out, "-") == 0 ? "standard output" : out;
}

/* Reads the value of --compress (`word` is NULL if it has none), or handles --decompress. */
static int read_level(const char *command, const char *word, bool compress, cli_writing *w)
{
    enum { DEFAULT_LEVEL = 1, MOST = 22 };
    char *end = NULL;
    long level = word ? strtol(word, &end, 10) : DEFAULT_LEVEL;
    if (compress && word && (end == word || *end || level < 1 || level > MOST))
        return cli_usage(command, "--compress takes a level from 1 to %d, not '%s'", MOST, word);
    if (w->compress_level && compress != (w->compress_level > 0))
        return cli_usage(command, "give --compress or --decompress, not both");
    w->compress_level = compress ? (int32_t)level : PERFILE_COMPRESS_NONE;
    return CLI_CONTINUE;
}

int cli_writing_option(const char *command, const cli_spec *spec, int option, cli_writing *w)
{
    switch (option) {
    case 'o':
        w->out = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        w->replace = true;
        return CLI_CONTINUE;
    case CLI_OPTION_TO:
        return read_form(command, optarg, w);
    case CLI_OPTION_ON_DAMAGE:
        return cli_read_damage(command, optarg, w->may_copy, &w->damage);
    case CLI_OPTION_RESYNC:
        return cli_read_damage(command, "resync", w->may_copy, &w->damage);
    case CLI_OPTION_REPORT:
        w->json = true;
        return cli_choose(command, "--report", optarg, cli_report_word, &(size_t){0});
    case CLI_OPTION_JSON:
        w->json = true;
        return CLI_CONTINUE;
    case CLI_OPTION_COMPRESS:
    case CLI_OPTION_DECOMPRESS:
        return read_level(command, optarg, option == CLI_OPTION_COMPRESS, w);
    default:
        return cli_common_option(spec, option, &w->from, &w->limits);
    }
}

int cli_writing_memory(const char *command, const char *word, uint64_t *to)
{
    if (!cli_read_size(word, to))
        return cli_usage(command, "--max-memory takes a size such as 64M, not '%s'", word);
    if (*to < PERFILE_SORT_LEAST_MEMORY)
        return cli_usage(command, "--max-memory: '%s' is too small, at least %dM is needed", word,
                         PERFILE_SORT_LEAST_MEMORY >> 20);
    return CLI_CONTINUE;
}

int cli_writing_check(const char *command, const cli_writing *w)
{
    if (!w->out)
        return cli_usage(command, "missing output: give -o OUT");
    if (w->json && strcmp(w->out, "-") == 0)
        return cli_usage(command, "the report and the capture cannot both go to standard output");
    return cli_reject_terminal(command, w->out, "a capture");
}

int cli_writing_input(const char *command, int argc, char **argv, const cli_writing *w,
                      cli_file **in)
{
    int status = cli_read_input(command, argc, argv, in);
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

/* Redirects a descriptor to /dev/null.  If that fails, the process ends at once: it must not write
 * into an input. */
static void redirect_to_null(int fd)
{
    int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null_fd < 0 || dup2(null_fd, fd) < 0)
        _exit(CLI_FAILED);
    close(null_fd);
}

perfile_status cli_protect_inputs(const char *const *inputs, size_t n, perfile_error *err)
{
    /* Both are checked and redirected, even if the first check fails. */
    perfile_status errors = pf_output_check(NULL, STDERR_FILENO, inputs, n, err);
    if (errors != PERFILE_OK)
        redirect_to_null(STDERR_FILENO); /* the message about it is lost, but the exit status is
                                          * not */
    perfile_status st = pf_output_check("-", STDOUT_FILENO, inputs, n, err);
    if (st != PERFILE_OK)
        redirect_to_null(STDOUT_FILENO);
    return st == PERFILE_OK ? errors : st;
}

int cli_protect_inputs_verbose(const char *const *inputs, size_t n)
{
    perfile_error err;
    if (cli_protect_inputs(inputs, n, &err) == PERFILE_OK)
        return CLI_DONE;
    cli_message("%s", err.message);
    return CLI_FAILED;
}

/* True if `path` is neither a regular file nor a directory.  Opening a FIFO waits for its
 * reader. */
static bool is_fifo_or_device(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode);
}

/* Reports why an output could not be opened.  A closed pipe is not reported. */
static void report_not_opened(const cli_output *o, const perfile_error *err)
{
    const char *name = cli_output_name(o->out);
    if (err->sys == EPIPE)
        return;
    cli_report_error(name, err);
    if (err->sys == EEXIST && !o->replace)
        cli_message("%s: give -f to replace it", name);
    else if (err->sys == EPERM && !o->replace && is_fifo_or_device(o->out))
        cli_message("%s: give -f to write to it all the same", name);
}

/* Replaces *sink by the sink of an archive, which writes to it. */
static perfile_status pack(const cli_output *o, perfile_sink **sink, perfile_error *err)
{
    perfile_sink *below = *sink;
    perfile_archive_options how = o->packing;
    char name[CLI_CAPTURE_NAME];
    how.size = sizeof how;
    if (o->named)
        cli_archive_name(o->named, name, &how);
    how.flags |= o->directory ? PERFILE_ARCHIVE_DIRECTORY : 0;
    perfile_status st = perfile_archive_sink(below, &how, sink, err);
    if (st != PERFILE_OK)
        perfile_sink_close(below);
    return st;
}

/* Opens a sink that appends to OUT.  The size of OUT is read after the file is locked. */
static perfile_status append(const cli_output *o, const perfile_sink_options *how,
                             perfile_sink **sink, perfile_error *err)
{
    struct stat sb;
    perfile_status st = pf_sink_append(o->out, how, sink, err);
    if (st == PERFILE_OK && stat(o->out, &sb) == 0)
        cli_signals_appended(o->out, (uint64_t)sb.st_size);
    return st;
}

/* Opens an output that must not be one of `inputs`. */
static int open_beside(const cli_output *o, const char *const *inputs, size_t n_inputs,
                       perfile_sink **sink)
{
    perfile_error err;
    perfile_sink_options how = {.size = sizeof how,
                                .flags = (o->replace ? PERFILE_SINK_REPLACE : 0U) |
                                         (o->folder ? PERFILE_SINK_FOLDER : 0U),
                                .inputs = inputs,
                                .n_inputs = n_inputs};
    if (cli_protect_inputs_verbose(inputs, n_inputs) != CLI_DONE)
        return CLI_FAILED;
    if (strcmp(o->out, "-") == 0 && isatty(STDOUT_FILENO))
        cli_progress_off();
    /* No signal is handled between creating the temporary file and the call that registers it for
     * removal. */
    const bool delay_signals = !is_fifo_or_device(o->out); /* Ctrl-C must be able to end the wait
                                                            * for the reader of a FIFO */
    if (delay_signals)
        cli_signals_hold(true);
    perfile_status st = o->append ? append(o, &how, sink, &err)
                        : o->folder || (o->directory && !o->archive)
                            ? perfile_sink_directory(o->out, &how, sink, &err)
                            : perfile_sink_path(o->out, &how, sink, &err);
    if (st == PERFILE_OK && o->archive)
        st = pack(o, sink, &err);
    if (st == PERFILE_OK)
        cli_signals_temporary(pf_sink_temporary(*sink));
    if (delay_signals)
        cli_signals_hold(false);
    if (st == PERFILE_OK)
        return CLI_DONE;
    report_not_opened(o, &err);
    return CLI_FAILED;
}

int cli_output_open(const cli_output *o, perfile_sink **sink)
{
    if (!o->kallsyms)
        return open_beside(o, o->inputs, o->n_inputs, sink);
    const char **all = malloc((o->n_inputs + 1) * sizeof *all);
    if (!all)
        return cli_no_memory();
    memcpy(all, o->inputs, o->n_inputs * sizeof *all);
    all[o->n_inputs] = o->kallsyms;
    const int status = open_beside(o, all, o->n_inputs + 1, sink);
    free(all);
    return status;
}

int cli_writing_open(const cli_writing *w, cli_file *file, bool directory, perfile_source **source,
                     perfile_sink **sink)
{
    const cli_inputs in = {.at = file, .n = 1, .paths = &file->path, .n_paths = 1};
    return cli_writing_open_several(w, &in, directory, source, sink);
}

int cli_writing_open_several(const cli_writing *w, const cli_inputs *in, bool directory,
                             perfile_source **source, perfile_sink **sink)
{
    const bool single = in->n_paths == 1;
    perfile_error err;
    const perfile_source_options how = {.size = sizeof how, .limits = w->limits};
    perfile_status st = single ? cli_source_sequential(in->at, w->limits, source, &err)
                               : pf_source_files(in->paths, in->n_paths, &how, source, &err);
    if (st != PERFILE_OK) {
        cli_report_error(in->at->name, &err);
        return CLI_FAILED;
    }
    if (pf_archive_source(source, &err) != PERFILE_OK) {
        cli_report_error(in->at->name, &err);
        perfile_source_close(*source);
        return CLI_FAILED;
    }
    /* The output for an archive of a directory is a directory, as for the directory itself. */
    const bool like_input = w->has_form && !w->archive ? false : w->keeps_directory;
    const cli_output o = {.out = w->out,
                          .replace = w->replace,
                          .directory = directory || (like_input && pf_source_is_directory(*source)),
                          .inputs = in->paths,
                          .n_inputs = in->n_paths,
                          .kallsyms = w->kallsyms,
                          .named = single ? in->at : NULL,
                          .archive = w->archive,
                          .packing = w->packing};
    int status = cli_output_open(&o, sink);
    if (status != CLI_DONE)
        perfile_source_close(*source);
    else
        cli_report_not_copied(in->at->path, o.directory);
    return status;
}

void cli_writing_begin(const char *name)
{
    cli_signals_file(name);
    cli_progress_start(name);
}

void cli_writing_end(perfile_sink *sink)
{
    cli_notes_end();
    cli_signals_file(NULL);
    if (sink)
        cli_signals_temporary(NULL);
    perfile_sink_close(sink);
}

/* Reports the files in a directory that are not part of the capture and therefore not copied. */

enum { NAME_SIZE = 2 * sizeof((struct dirent *)0)->d_name };

/* The files that are not copied: their number, and the first in alphabetical order, because
 * readdir() has no fixed order. */
typedef struct left_out {
    char first[NAME_SIZE];
    size_t n;
} left_out;

static void add(left_out *x, const char *name)
{
    if (x->n++ == 0 || strcmp(name, x->first) < 0)
        snprintf(x->first, sizeof x->first, "%s", name);
}

/* Adds the files in a folder of the directory that are not part of a capture.  Returns false if
 * `name` is not a folder. */
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
        if (e->d_name[0] != '.' && !pf_is_companion_file(path))
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
        if (e->d_name[0] != '.' && !pf_is_record_file(e->d_name) &&
            !(companions && add_folder(&x, dir, e->d_name)))
            add(&x, e->d_name);
    if (dir)
        closedir(dir);
    if (x.n == 1)
        cli_message("%s: %s holds no records and is not copied", in, x.first);
    else if (x.n)
        cli_message("%s: %s and %zu more hold no records and are not copied", in, x.first, x.n - 1);
}
