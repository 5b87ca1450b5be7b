/* Each command line on a capture, with the first, second, third … allocation that fails, then call
 * of the system, up to the number that it has; then with a standard output that takes nothing.
 *
 * The command then fails with a message and leaves neither an output nor an open descriptor.  Or
 * the failure did not matter: then status and output are those of a run without it.  Leaks are
 * found by the sanitizer at the end of the process. */
#include "every.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

typedef struct outcome {
    int status;
    uint64_t calls; /* those that could fail */
    every_output output;
    bool silenced; /* the command could not tell whether standard error is an input */
} outcome;

static int free_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

/* A command that cannot find out whether one of its outputs is an input puts /dev/null there: then
 * its exit status says all. */
static bool put_back(int fd, int saved)
{
    struct stat st;
    const bool moved = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
    dup2(saved, fd);
    close(saved);
    return moved;
}

static outcome run(size_t command, const every_target *t, unsigned what, uint64_t n,
                   every_progress *p)
{
    outcome o;
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const int descriptor = free_descriptor();
    every_fail_begin(what, n, what == EVERY_FAIL_MEMORY ? ENOMEM : EIO);
    o.status = every_command_run(command, t, p);
    o.calls = every_fail_end();
    if (free_descriptor() != descriptor)
        every_wrong(p, "a descriptor stays open");
    put_back(STDOUT_FILENO, out);
    o.silenced = put_back(STDERR_FILENO, err);
    every_output_take(&o.output, p);
    p->readings++;
    p->by_status[o.status & 3]++;
    return o;
}

static void compare(const outcome *clean, const outcome *failed, bool may_vary, every_progress *p)
{
    if (failed->status == CLI_FAILED && failed->output.made)
        every_wrong(p, "failed, but there is an output");
    if (failed->status == CLI_FAILED && failed->output.err == 0 && !failed->silenced)
        every_wrong(p, "failed without a word");
    if (failed->status == CLI_FAILED)
        return;
    if (failed->status != clean->status) {
        snprintf(p->why, sizeof p->why, "status %d, without the failure %d", failed->status,
                 clean->status);
        _exit(1);
    }
    if ((failed->output.hash != clean->output.hash && !may_vary) ||
        failed->output.made != clean->output.made)
        every_wrong(p, "another output than without the failure");
}

static void each_call(size_t command, const every_target *t, unsigned what, every_progress *p)
{
    const char *const kind = what == EVERY_FAIL_MEMORY ? "allocation" : "system call";
    const outcome clean = run(command, t, what, 0, p);
    uint64_t most = clean.calls;
    for (uint64_t n = 1; n <= most; n++) {
        snprintf(p->damage, sizeof p->damage, "%s %" PRIu64 " fails", kind, n);
        if ((p->damages++ + t->seed) % t->step != 0)
            continue;
        p->read++;
        const outcome failed = run(command, t, what, n, p);
        const char *name = every_fail_name();
        snprintf(p->damage, sizeof p->damage, "%s %" PRIu64 " fails, %s", kind, n,
                 name ? name : "none");
        compare(&clean, &failed, every_command_flags(command) & EVERY_VARIES, p);
        if (failed.calls > most)
            most = failed.calls;
    }
}

/* What is printed cannot be written: no command that prints may succeed. */
static void without_output(size_t command, const every_target *t, every_progress *p)
{
    const outcome clean = run(command, t, EVERY_FAIL_NOTHING, 0, p);
    const int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0)
        every_wrong(p, "there is no /dev/full");
    snprintf(p->damage, sizeof p->damage, "standard output is full");
    dup2(full, STDOUT_FILENO);
    const int status = every_command_run(command, t, p);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    every_output o;
    every_output_take(&o, p);
    p->damages++;
    p->read++;
    if (clean.output.out && (status != CLI_FAILED || o.err == 0))
        every_wrong(p, "done, or without a word, although nothing could be printed");
}

void every_failing(const every_target *t, every_progress *p)
{
    for (size_t i = 0; i < every_n_commands(false); i++) {
        each_call(i, t, EVERY_FAIL_MEMORY, p);
        each_call(i, t, EVERY_FAIL_CALL, p);
        without_output(i, t, p);
    }
}
