/* load KIND N: a program to be recorded.  faults: N page faults, each from a depth of calls between
 * 6 and 14; calls: N system calls, with a change of task every 64. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGION = 64 << 20, PAGE = 4096, LEAST = 6, SPREAD = 9, TURN = 64 };

/* NOLINTNEXTLINE(misc-no-recursion): the depth is the point. */
static __attribute__((noinline)) int touch(unsigned depth, volatile char *at)
{
    if (depth == 0) {
        *at = 1;
        return 1;
    }
    int reached = touch(depth - 1, at);
    __asm__ volatile("" ::: "memory"); /* no tail call: every depth has a frame */
    return reached + 1;
}

static int faults(unsigned long n)
{
    char *m = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        return 1;
    madvise(m, REGION, MADV_NOHUGEPAGE);
    unsigned random = 1;
    for (unsigned long i = 0; i < n;) {
        for (size_t at = 0; at < REGION && i < n; at += PAGE, i++) {
            random = random * 1103515245U + 12345U;
            touch(LEAST + (random >> 16) % SPREAD, m + at);
        }
        madvise(m, REGION, MADV_DONTNEED);
    }
    return 0;
}

static int calls(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        if (i % TURN)
            (void)getppid();
        else
            sched_yield();
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: load faults|calls N\n", stderr);
        return 2;
    }
    unsigned long n = strtoul(argv[2], NULL, 10);
    return strcmp(argv[1], "calls") == 0 ? calls(n) : faults(n);
}
