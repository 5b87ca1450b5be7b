/* One reading by a command: what goes in, what it may cost, what has to come out. */
#include "every.h"

#include <getopt.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"

enum {
    SECONDS = 2, /* of processor time for one reading; it takes a millisecond or less */
#if defined(__SANITIZE_ADDRESS__)
    MEMORY_KB = 256 << 10, /* freed blocks and the sanitizer's own lists are in it */
#else
    MEMORY_KB = 32 << 10, /* by which the peak may rise above that of the start */
#endif
    OUTPUT_BYTES = 4 << 20 /* of one reading */
};

/* The first three as people type them; of the others each damage meets one. */
typedef struct variant {
    int (*run)(int argc, char **argv);
    const char *words[6]; /* up to a NULL */
    bool piped;           /* through standard input, in a pipe */
} variant;

static const variant usual[] = {
    {.run = cli_info, .words = {"perfile info"}},
    {.run = cli_stats, .words = {"perfile stats"}},
    {.run = cli_dump, .words = {"perfile dump"}},
};
static const variant others[] = {
    {.run = cli_dump, .words = {"perfile dump", "--format", "jsonl"}},
    {.run = cli_info, .words = {"perfile info", "--json", "--resync"}},
    {.run = cli_dump, .words = {"perfile dump", "--hex", "--resync"}},
    {.run = cli_stats, .words = {"perfile stats", "--by", "comm,event,time=10ns"}},
    {.run = cli_dump, .words = {"perfile dump", "--format", "cbor"}, .piped = true},
    {.run = cli_info, .words = {"perfile info"}, .piped = true},
    {.run = cli_dump, .words = {"perfile dump", "--format=jsonl", "--raw", "--resync"}},
    {.run = cli_stats, .words = {"perfile stats", "--json", "--by", "pid,tid,cpu,type"}},
    {.run = cli_stats, .words = {"perfile stats", "--by", "comm"}, .piped = true},
    {.run = cli_validate, .words = {"perfile validate", "--all", "--resync"}},
    {.run = cli_validate,
     .words = {"perfile validate", "--format=json", "--for=6.1"},
     .piped = true},
    {.run = cli_convert,
     .words = {"perfile convert", "--force", "--byte-order=big", "-fomade.data", "--report=json"}},
    {.run = cli_convert,
     .words = {"perfile convert", "--force", "--to=pipe", "-o/dev/null", "--report=json"},
     .piped = true},
    {.run = cli_export, .words = {"perfile export", "--to=chrome", "--no-symbols"}},
    {.run = cli_export,
     .words = {"perfile export", "--to=speedscope", "--per=event,comm,cpu", "--branch-chains"},
     .piped = true},
};
enum {
    N_USUAL = sizeof usual / sizeof usual[0],
    N_OTHERS = sizeof others / sizeof others[0] /* odd: the four damages of a byte take turns */
};

/* A mapped file is a heap block of exactly its size here, so that whoever reads behind its end is
 * caught. */
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    (void)at, (void)prot, (void)flags;
    void *block = malloc(len);
    if (block && pread(fd, block, len, offset) == (ssize_t)len)
        return block;
    free(block);
    return MAP_FAILED;
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return __wrap_mmap(at, len, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t len)
{
    (void)len;
    free(at);
    return 0;
}

static void wrong(every_progress *p, const char *why)
{
    snprintf(p->why, sizeof p->why, "%s", why);
    _exit(1);
}

static uint64_t peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss;
}

/* What was written to `fd` since the last time. */
static uint64_t taken(int fd, every_progress *p)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || ftruncate(fd, 0) != 0)
        wrong(p, "the test's own files cannot be used");
    return (uint64_t)st.st_size;
}

/* A small file fits into a pipe as a whole. */
static void into_pipe(const every_target *t, every_progress *p)
{
    int ends[2];
    struct stat st;
    static uint8_t bytes[16 << 10];
    if (pipe(ends) != 0 || fstat(t->fd, &st) != 0 || (size_t)st.st_size > sizeof bytes ||
        pread(t->fd, bytes, (size_t)st.st_size, 0) != st.st_size ||
        write(ends[1], bytes, (size_t)st.st_size) != st.st_size || close(ends[1]) != 0 ||
        dup2(ends[0], STDIN_FILENO) < 0 || close(ends[0]) != 0)
        wrong(p, "the test's own pipe cannot be used");
}

static void read_as(const variant *v, const every_target *t, every_progress *p)
{
    static uint64_t at_start;
    static char words[6][64];
    char *argv[8];
    int argc = 0;
    if (!at_start)
        at_start = peak_kb();
    for (; v->words[argc]; argc++) {
        snprintf(words[argc], sizeof words[argc], "%s", v->words[argc]);
        argv[argc] = words[argc];
    }
    snprintf(words[5], sizeof words[5], "%s", v->piped ? "-" : t->path);
    argv[argc++] = words[5];
    argv[argc] = NULL;
    if (v->piped)
        into_pipe(t, p);
    snprintf(p->command, sizeof p->command, "%s%s", words[0], v->piped ? ", from a pipe" : "");
    for (int i = 1; i < argc - 1; i++) {
        size_t n = strlen(p->command);
        snprintf(p->command + n, sizeof p->command - n, " %s", words[i]);
    }

    const struct itimerval limit = {.it_value.tv_sec = SECONDS};
    setitimer(ITIMER_PROF, &limit, NULL);
    clock_t start = clock();
    optind = 0; /* getopt begins anew */
    int status = cli_finish_output(v->run(argc, argv));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);

    uint64_t out = taken(STDOUT_FILENO, p);
    uint64_t err = taken(STDERR_FILENO, p);
    uint64_t rise = peak_kb() - at_start;
    p->readings++;
    p->output_bytes = out + err > p->output_bytes ? out + err : p->output_bytes;
    p->memory_kb = rise > p->memory_kb ? rise : p->memory_kb;
    p->seconds = seconds > p->seconds ? seconds : p->seconds;
    if (status != CLI_DONE && status != CLI_FAILED && status != CLI_DAMAGED)
        wrong(p, "a status that no capture may cause");
    p->by_status[status]++;
    if (status == CLI_DONE && out == 0)
        wrong(p, "done without a word");
    if (status != CLI_DONE && out + err == 0)
        wrong(p, "failed without a word");
    if (out + err > OUTPUT_BYTES)
        wrong(p, "more output than so small a capture can have");
    if (rise > MEMORY_KB)
        wrong(p, "more memory than so small a capture may take");
}

void every_reading(const every_target *target, uint64_t n, every_progress *p)
{
    for (size_t i = 0; i < N_USUAL; i++)
        read_as(&usual[i], target, p);
    read_as(&others[n % N_OTHERS], target, p);
}
