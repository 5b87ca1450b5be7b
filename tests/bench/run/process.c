/* Whole processes: what they cost. */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PIPE_BLOCK = 1 << 20 };

/* Starts a program with `in` and `out`, or /dev/null where they are -1.  Not by fork(): copying the
 * tables of this process, which has mapped the captures, would be in the time of each command.
 * Returns when the program runs; -1: it cannot be started. */
static pid_t start(const char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t files;
    char *const *args;
    pid_t pid;
    memcpy(&args, &argv, sizeof args); /* posix_spawnp() does not change them */
    if (posix_spawn_file_actions_init(&files))
        return -1;
    int failed = in < 0 ? posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
                        : posix_spawn_file_actions_adddup2(&files, in, 0);
    failed |= out < 0 ? posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
                      : posix_spawn_file_actions_adddup2(&files, out, 1);
    failed |= posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    failed = failed || posix_spawnp(&pid, argv[0], &files, NULL, args, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed ? -1 : pid;
}

/* The other end of a pipe that gives the bytes of `path`. */
static pid_t feed(const char *path, int *in)
{
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        static char block[PIPE_BLOCK];
        close(ends[0]);
        int fd = open(path, O_RDONLY);
        for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
            for (ssize_t done = 0, w; done < n; done += w)
                if ((w = write(ends[1], block + done, (size_t)(n - done))) < 0)
                    _exit(1);
        _exit(0);
    }
    close(ends[1]);
    *in = ends[0];
    return pid;
}

static uint64_t drain(int fd)
{
    static char block[PIPE_BLOCK];
    uint64_t sum = 0;
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
        sum += (uint64_t)n;
    return sum;
}

/* Looks at the memory of a process, while there is one. */
static void look_at_memory(pid_t pid, usage *u)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    long kb;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "RssAnon: %ld", &kb) == 1 && (double)kb / 1024 > u->anonymous_mb)
            u->anonymous_mb = (double)kb / 1024;
        if (sscanf(line, "VmHWM: %ld", &kb) == 1)
            u->resident_mb = (double)kb / 1024;
    }
    if (f)
        fclose(f);
}

bool process_output(const char *const *argv, char *text, size_t size)
{
    int ends[2], status;
    if (pipe(ends) < 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t pid = start(argv, -1, ends[1]);
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n; len + 1 < size && (n = read(ends[0], text + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = 0;
    close(ends[0]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Sleeps until it ends, and looks at its memory every 2 ms. */
static int wait_for(pid_t pid, usage *u, struct rusage *r)
{
    int status = 0, fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (wait4(pid, &status, WNOHANG, r) == 0) {
        look_at_memory(pid, u);
        if (fd >= 0)
            poll(&p, 1, 2);
        else
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

usage process_run(const char *const *argv, const char *input, bool count_output)
{
    usage u = {0};
    int in = -1, ends[2] = {-1, -1};
    pid_t feeder = input ? feed(input, &in) : -1;
    if (count_output && pipe(ends) < 0)
        return u;
    if (count_output)
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    double begin = wall_time();
    pid_t pid = start(argv, in, ends[1]);
    if (in >= 0)
        close(in);
    if (count_output) {
        close(ends[1]);
        u.bytes_out = drain(ends[0]);
        close(ends[0]);
    }
    struct rusage r = {0};
    int status = pid < 0 ? -1 : wait_for(pid, &u, &r);
    u.wall = wall_time() - begin;
    if (feeder > 0)
        waitpid(feeder, NULL, 0);
    u.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    u.seconds = (double)r.ru_utime.tv_sec + 1e-6 * (double)r.ru_utime.tv_usec +
                (double)r.ru_stime.tv_sec + 1e-6 * (double)r.ru_stime.tv_usec;
    return u;
}

usage process_pair(const char *const *one, const char *const *other)
{
    usage u = {.ok = true};
    double begin = wall_time();
    pid_t pids[2] = {start(one, -1, -1), start(other, -1, -1)};
    for (size_t i = 0; i < 2; i++) {
        struct rusage r = {0};
        int status = pids[i] < 0 ? -1 : wait_for(pids[i], &u, &r);
        u.ok &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
        u.seconds += (double)r.ru_utime.tv_sec + 1e-6 * (double)r.ru_utime.tv_usec +
                     (double)r.ru_stime.tv_sec + 1e-6 * (double)r.ru_stime.tv_usec;
    }
    u.wall = wall_time() - begin;
    return u;
}

usage process_best(const char *const *argv, const capture *c, unsigned rounds)
{
    usage best = {0};
    for (unsigned i = 0; i < rounds; i++) {
        captures_ready(c);
        usage u = process_run(argv, NULL, false);
        double mb = u.anonymous_mb > best.anonymous_mb ? u.anonymous_mb : best.anonymous_mb;
        if (u.ok && (!best.ok || u.seconds < best.seconds))
            best = u;
        best.anonymous_mb = mb;
    }
    return best;
}
