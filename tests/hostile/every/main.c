/* every FORM [STEP]: each prefix, damaged byte and flipped bit of one capture through all commands,
 * in a process that may die; with STEP one damage of so many, through four of the commands.
 * every FORM faults SEEDS: each damage of `perfile damage`, with so many seeds.
 * every FORM failing [STEP]: each command with each call that can fail, or one of STEP.
 * Which seeds, and which damages or calls of so many, $PERFILE_SEED says, or the time of day: so
 * that runs differ. */
#include "every.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ADDRESS_SPACE_MB = 1024, CAPTURE_BYTES = 16 << 10, CAPTURE_LEAST = 200 };
enum { LEAST_FAULTS = 100 /* damages of a capture with one seed */ };

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);

#if defined(__SANITIZE_ADDRESS__)
/* Freed blocks are not kept for long: peaks of memory are looked at. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:thread_local_quarantine_size_kb=256:max_malloc_fill_size=0";
}
#endif

static int opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(path);
        exit(2);
    }
    return fd;
}

/* What is done to the captures. */
static const struct {
    const char *word;
    void (*run)(const every_target *target, every_progress *p);
} modes[] = {
    {"damage", every_damage},
    {"faults", every_fault},
    {"failing", every_failing},
};
enum { N_MODES = sizeof modes / sizeof modes[0] };
static size_t mode;

static size_t mode_named(const char *word)
{
    size_t i = 0;
    while (i < N_MODES && strcmp(modes[i].word, word) != 0)
        i++;
    return i;
}

/* A second capture for commands that take two. */
static void put_reference(void)
{
    every_form form;
    every_form_make("file", &form);
    int fd = opened("ref.data", O_WRONLY);
    if (write(fd, form.file.b.ptr, form.file.b.len) != (ssize_t)form.file.b.len)
        exit(2);
    close(fd);
    build_clear(&form.file);
}

/* What is written goes to files that are emptied after each reading. */
static void child(const every_target *target, every_progress *p)
{
    if (dup2(opened("words.out", O_WRONLY | O_APPEND), STDOUT_FILENO) < 0 ||
        dup2(opened("words.err", O_WRONLY | O_APPEND), STDERR_FILENO) < 0)
        abort();
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit space = {(rlim_t)ADDRESS_SPACE_MB << 20, (rlim_t)ADDRESS_SPACE_MB << 20};
    setrlimit(RLIMIT_AS, &space);
#endif
    put_reference();
    setenv("TMPDIR", ".", 1);
    every_reading(target, 0, target->step == 1, p);
    modes[mode].run(target, p);
    exit(0); /* leaks are looked for */
}

static void show_words(void)
{
    char line[512];
    FILE *f = fopen("words.err", "r");
    while (f && fgets(line, sizeof line, f))
        fputs(line, stdout);
    if (f)
        fclose(f);
}

static uint64_t sample_step = 1, sample_seed;

/* Whether all of it went well; tells what did not. */
static bool survived(int status, const every_progress *p, const char *path, size_t len)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("%s, %s, %s: ", path, p->damage, p->command);
        if (WIFSIGNALED(status))
            printf("%s\n",
                   WTERMSIG(status) == SIGPROF ? "took too long" : strsignal(WTERMSIG(status)));
        else
            printf("exit status %d %s\n", WEXITSTATUS(status), p->why);
        fputs(p->words, stdout);
        show_words();
        return false;
    }
    printf("%s: %zu bytes, %" PRIu64 " of %" PRIu64 " damages, %" PRIu64 " readings: %" PRIu64
           " done, %" PRIu64 " failed, %" PRIu64 " damaged; at most %.3f s, %" PRIu64
           " kB more memory, %" PRIu64 " bytes of output\n",
           path, len, p->read, p->damages, p->readings, p->by_status[0], p->by_status[1],
           p->by_status[3], p->seconds, p->memory_kb, p->output_bytes);
    bool ok = p->read != 0 && p->read >= p->damages / sample_step;
    if (modes[mode].run == every_damage)
        ok =
            ok && (p->damages + p->same == every_damages(len) && p->same < every_damages(len) / 3 &&
                   p->readings == every_readings(sample_step == 1) * (p->read + 1));
    if (modes[mode].run == every_fault)
        ok = p->read >= sample_step * LEAST_FAULTS;
    if (!ok)
        printf("these are not all\n");
    return ok;
}

static bool run(const char *path, const char *damaged, const builder *b, every_progress *p)
{
    every_target target = {.path = path,
                           .fd = opened(damaged, O_RDWR),
                           .whole = built(b),
                           .step = sample_step,
                           .seed = sample_seed};
    memset(p, 0, sizeof *p);
    snprintf(p->damage, sizeof p->damage, "whole");
    if (b->b.len > CAPTURE_BYTES || b->b.len < CAPTURE_LEAST ||
        write(target.fd, b->b.ptr, b->b.len) != (ssize_t)b->b.len) {
        printf("%s: %zu bytes\n", damaged, b->b.len);
        exit(2);
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child(&target, p);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    /* The file stays as it was read last, for whoever looks for the cause. */
    close(target.fd);
    return pid > 0 && survived(status, p, damaged, b->b.len);
}

static bool run_directory(const every_form *form, every_progress *p)
{
    static const char *const names[] = {"capture.data/data", "capture.data/data.0"};
    const builder *const parts[] = {&form->file, &form->second};
    if (mkdir("capture.data", 0700) != 0)
        exit(2);
    bool ok = true;
    for (unsigned i = 0; i < 2; i++) {
        int other = opened(names[1 - i], O_WRONLY);
        if (write(other, parts[1 - i]->b.ptr, parts[1 - i]->b.len) != (ssize_t)parts[1 - i]->b.len)
            exit(2);
        close(other);
        ok = run("capture.data", names[i], parts[i], p) && ok;
    }
    return ok;
}

int main(int argc, char **argv)
{
    every_form form;
    every_progress *p =
        __real_mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const size_t named = argc > 2 ? mode_named(argv[2]) : N_MODES;
    mode = named < N_MODES ? named : 0;
    const int at = named < N_MODES ? 3 : 2;
    if (argc == at + 1)
        sample_step = strtoull(argv[at], NULL, 10);
    if (argc < 2 || argc > at + 1 || !sample_step || p == MAP_FAILED ||
        !every_form_make(argv[1], &form)) {
        fprintf(stderr, "Usage: every FORM [MODE] [STEP], in an empty folder\n");
        return 2;
    }
    const char *seed = getenv("PERFILE_SEED");
    sample_seed = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    if (sample_step > 1)
        printf("PERFILE_SEED=%" PRIu64 " takes the same ones again\n", sample_seed);
    bool ok = form.directory ? run_directory(&form, p)
                             : run("capture.data", "capture.data", &form.file, p);
    build_clear(&form.file);
    build_clear(&form.second);
    return ok ? 0 : 1;
}
