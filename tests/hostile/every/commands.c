/* The command lines that every capture goes through, and what they leave. */
#include "every.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

enum { MOST_WORDS = 8 };

/* The first EVERY_USUAL as people type them; those that read no capture come last.  All outputs
 * have names that begin with "made". */
typedef struct variant {
    int (*run)(int argc, char **argv);
    const char *words[MOST_WORDS]; /* up to a NULL */
    bool piped;                    /* through standard input, in a pipe */
    bool alone;                    /* no capture is read */
    unsigned flags;                /* EVERY_… */
} variant;

static const variant variants[] = {
    {.run = cli_info, .words = {"perfile info"}},
    {.run = cli_stats, .words = {"perfile stats"}},
    {.run = cli_dump, .words = {"perfile dump"}},
    {.run = cli_dump, .words = {"perfile dump", "--format", "jsonl"}},
    {.run = cli_info, .words = {"perfile info", "--json", "--resync"}},
    {.run = cli_dump, .words = {"perfile dump", "--hex", "--resync"}},
    {.run = cli_stats, .words = {"perfile stats", "--by", "comm,event,time=10ns"}},
    {.run = cli_dump, .words = {"perfile dump", "--format", "cbor"}, .piped = true},
    {.run = cli_info, .words = {"perfile info"}, .piped = true},
    {.run = cli_dump, .words = {"perfile dump", "--format=jsonl", "--raw", "--resync"}},
    {.run = cli_dump, .words = {"perfile dump", "--json", "--resolve", "--resync", "-j2"}},
    {.run = cli_stats, .words = {"perfile stats", "--json", "--by", "pid,tid,cpu,type"}},
    {.run = cli_stats, .words = {"perfile stats", "--by", "comm"}, .piped = true},
    {.run = cli_stats, .words = {"perfile stats", "--by=dso,sym", "--no-symbols", "--resync"}},
    {.run = cli_stats, .words = {"perfile stats", "--on-cpu", "--resync"}},
    {.run = cli_list, .words = {"perfile list", "events", "--verbose"}, .flags = EVERY_QUIET},
    {.run = cli_list, .words = {"perfile list", "threads", "--resync"}, .flags = EVERY_QUIET},
    {.run = cli_list,
     .words = {"perfile list", "mappings", "--json"},
     .flags = EVERY_QUIET,
     .piped = true},
    {.run = cli_list, .words = {"perfile list", "features"}, .flags = EVERY_QUIET},
    {.run = cli_list, .words = {"perfile list", "build-ids"}, .flags = EVERY_QUIET},
    {.run = cli_script,
     .words = {"perfile script", "--no-symbols", "--show-task-events"},
     .flags = EVERY_QUIET},
    {.run = cli_script,
     .words = {"perfile script", "--no-symbols", "--resync"},
     .flags = EVERY_QUIET,
     .piped = true},
    {.run = cli_validate, .words = {"perfile validate", "--all", "--resync"}},
    {.run = cli_validate,
     .words = {"perfile validate", "--format=json", "--for=6.1"},
     .piped = true},
    {.run = cli_convert, .words = {"perfile convert", "--byte-order=big", "--force", "-fomade"}},
    {.run = cli_convert,
     .words = {"perfile convert", "--to=pipe", "--force", "-fomade", "--report=json"},
     .piped = true},
    {.run = cli_convert, .words = {"perfile convert", "--compress", "--force", "-fomade"}},
    {.run = cli_convert,
     .words = {"perfile convert", "--to=archive", "-fomade"},
     .flags = EVERY_VARIES},
    {.run = cli_export, .words = {"perfile export", "--to=chrome", "--no-symbols"}},
    {.run = cli_export,
     .words = {"perfile export", "--to=speedscope", "--no-symbols", "--per=event,comm,cpu",
               "--branch-chains"},
     .piped = true},
    {.run = cli_export, .words = {"perfile export", "--to=folded", "--no-symbols", "-fomade"}},
    {.run = cli_export, .words = {"perfile export", "--to=flamegraph", "--no-symbols"}},
    {.run = cli_export, .words = {"perfile export", "--to=firefox", "--no-symbols", "--resync"}},
    {.run = cli_export, .words = {"perfile export", "--to=aux", "-fomade"}},
#ifdef PERFILE_WITH_PPROF
    {.run = cli_export, .words = {"perfile export", "--to=pprof", "--no-symbols", "-fomade"}},
#endif
#ifdef PERFILE_WITH_PERFETTO
    {.run = cli_export, .words = {"perfile export", "--to=perfetto", "--no-symbols", "-fomade"}},
#endif
#ifdef PERFILE_WITH_TABLES
    {.run = cli_export, .words = {"perfile export", "--to=parquet", "--no-symbols", "-fomade"}},
#endif
    {.run = cli_damage, .words = {"perfile damage", "--do=record-size-0", "-fomade"}},
    {.run = cli_filter, .words = {"perfile filter", "--type=sample", "-fomade"}},
    {.run = cli_filter, .words = {"perfile filter", "--time=10%..80%", "--resync", "-fomade"}},
    {.run = cli_merge,
     .words = {"perfile merge", "--align=start", "--force", "-fomade", "ref.data"},
     .flags = EVERY_REFUSES},
    {.run = cli_recover, .words = {"perfile recover", "-fomade"}},
    {.run = cli_sort, .words = {"perfile sort", "-fomade"}},
    {.run = cli_split, .words = {"perfile split", "--records=3", "-fomade-%d"}},
    {.run = cli_schema, .words = {"perfile schema", "--json"}, .alone = true},
    {.run = cli_generate, .words = {"perfile generate", "-fomade"}, .alone = true},
};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

size_t every_n_commands(bool reading)
{
    size_t n = N_VARIANTS;
    while (reading && variants[n - 1].alone)
        n--;
    return n;
}

unsigned every_command_flags(size_t i)
{
    return variants[i].flags;
}

/* A small file fits into a pipe as a whole. */
static void into_pipe(const every_target *t, every_progress *p)
{
    int ends[2];
    struct stat st;
    static uint8_t bytes[60 << 10];
    if (pipe(ends) != 0 || fstat(t->fd, &st) != 0 || (size_t)st.st_size > sizeof bytes ||
        pread(t->fd, bytes, (size_t)st.st_size, 0) != st.st_size ||
        write(ends[1], bytes, (size_t)st.st_size) != st.st_size || close(ends[1]) != 0 ||
        dup2(ends[0], STDIN_FILENO) < 0 || close(ends[0]) != 0)
        every_wrong(p, "the test's own pipe cannot be used");
}

int every_command_run(size_t at, const every_target *t, every_progress *p)
{
    const variant *v = &variants[at];
    static char words[MOST_WORDS + 1][64];
    char *argv[MOST_WORDS + 2];
    int argc = 0;
    for (; argc < MOST_WORDS && v->words[argc]; argc++) {
        snprintf(words[argc], sizeof words[argc], "%s", v->words[argc]);
        argv[argc] = words[argc];
    }
    snprintf(p->command, sizeof p->command, "%s%s", words[0], v->piped ? ", from a pipe" : "");
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(p->command);
        snprintf(p->command + n, sizeof p->command - n, " %s", words[i]);
    }
    if (!v->alone) {
        snprintf(words[argc], sizeof words[argc], "%s", v->piped ? "-" : t->path);
        argv[argc] = words[argc];
        argc++;
    }
    argv[argc] = NULL;
    if (v->piped)
        into_pipe(t, p);
    optind = 0; /* getopt begins anew */
    clearerr(stdout);
    every_fail_on(true);
    const int status = cli_finish_output(v->run(argc, argv));
    every_fail_on(false);
    return status;
}

/* What commands left. */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 0x100000001b3U;
    return hash;
}

static uint64_t hash_of(int fd, const char *name)
{
    uint8_t block[4096];
    uint64_t hash = mix(0xcbf29ce484222325U, name, strlen(name));
    off_t at = 0;
    for (ssize_t n; fd >= 0 && (n = pread(fd, block, sizeof block, at)) > 0; at += n)
        hash = mix(hash, block, (size_t)n);
    return hash;
}

/* Reads and removes a file, or a folder with all that is in it. */
static void take_made(char *name, every_output *o, every_progress *p)
{
    char *const paths[] = {name, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    while (tree && (entry = fts_read(tree))) {
        if (entry->fts_info == FTS_D)
            continue;
        const bool folder = entry->fts_info == FTS_DP;
        int fd = folder ? -1 : open(entry->fts_path, O_RDONLY | O_CLOEXEC);
        o->made++;
        o->hash += hash_of(fd, entry->fts_path);
        if (fd >= 0)
            close(fd);
        if ((folder ? rmdir(entry->fts_path) : unlink(entry->fts_path)) != 0)
            every_wrong(p, "an output cannot be removed");
    }
    if (!tree || fts_close(tree) != 0)
        every_wrong(p, "an output cannot be read");
}

/* What was written to the file of that name since the last time.  Its beginning goes to `words` if
 * that is not NULL, else it is added to *hash. */
static uint64_t taken(int fd, const char *name, char *words, size_t most, uint64_t *hash,
                      every_progress *p)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        every_wrong(p, "the test's own files cannot be used");
    if (st.st_size) {
        int from = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0;
        if (words)
            n = read(from, words, most - 1);
        else
            *hash += hash_of(from, name);
        if (words)
            words[n > 0 ? n : 0] = '\0';
        close(from);
        if (ftruncate(fd, 0) != 0)
            every_wrong(p, "the test's own files cannot be used");
    }
    return (uint64_t)st.st_size;
}

void every_output_take(every_output *o, every_progress *p)
{
    static const char *const ours[] = {".",         "..",        "capture.data",
                                       "words.out", "words.err", "ref.data"};
    struct dirent *entry;
    *o = (every_output){0};
    p->words[0] = '\0';
    o->out = taken(STDOUT_FILENO, "words.out", NULL, 0, &o->hash, p);
    o->err = taken(STDERR_FILENO, "words.err", p->words, sizeof p->words, NULL, p);
    DIR *folder = opendir(".");
    while (folder && (entry = readdir(folder))) {
        bool known = false;
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
            known |= strcmp(entry->d_name, ours[i]) == 0;
        if (known)
            continue;
        if (strncmp(entry->d_name, "made", 4) != 0) {
            snprintf(p->words, sizeof p->words, "%s\n", entry->d_name);
            every_wrong(p, "a file is left that is no output");
        }
        take_made(entry->d_name, o, p);
    }
    if (!folder || closedir(folder) != 0)
        every_wrong(p, "the test's own folder cannot be read");
}
