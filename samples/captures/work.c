/* The workload of our captures: nested calls, fresh pages, a thread with a name of its own, a child
 * process, and sleeps in between.  `work MS` runs for about MS milliseconds of processor time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sum;

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static void inner(uint64_t seed)
{
    for (uint64_t i = 0; i < 2000; i++)
        sum += seed ^ (i * 2654435761u);
}

__attribute__((noinline)) static void outer(unsigned depth, uint64_t seed)
{
    if (depth)
        outer(depth - 1, seed + depth);
    else
        inner(seed);
    sum++; /* not a tail call */
}

static void spin(int ms)
{
    for (int64_t end = cpu_ns() + (int64_t)ms * 1000000; cpu_ns() < end;)
        outer(4, (uint64_t)end);
}

static void touch(size_t pages)
{
    char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; p != MAP_FAILED && i < pages; i++)
        p[i * 4096] = 1;
}

static void *helper(void *ms)
{
    prctl(PR_SET_NAME, "helper");
    spin(*(int *)ms);
    return NULL;
}

int main(int argc, char **argv)
{
    int part = (argc > 1 ? atoi(argv[1]) : 20) / 4;
    pthread_t thread;
    touch(16);
    spin(part);
    if (pthread_create(&thread, NULL, helper, &part) == 0)
        pthread_join(thread, NULL);
    usleep(1000);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, "child");
        spin(part);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    spin(part);
    return 0;
}
