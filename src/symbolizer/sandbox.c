/* Restricts the process while it reads untrusted files: it may only use its memory and its
 * descriptors.  A library that is exploited by a file can then not open files, start or signal
 * processes, or send data.
 *
 * The system call filter works on Linux and the CPUs below.  Elsewhere there is no filter, and only
 * the resource limits apply. */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbolizer/symbolizer.h"

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

enum { FIRST_FOREIGN = 3 }; /* descriptor */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCH AUDIT_ARCH_ARM
#elif defined(__s390x__)
#define ARCH AUDIT_ARCH_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH AUDIT_ARCH_PPC64LE
#endif

#ifdef ARCH

#define ALLOW(name)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1),                                        \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),

/* All other calls fail with EPERM; libdw treats that as a missing file. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    /* the connection, and files that came with it */
    ALLOW(read) ALLOW(write) ALLOW(recvmsg) ALLOW(pread64) ALLOW(lseek) ALLOW(fcntl) ALLOW(close)
        ALLOW(fstat)
#ifdef __NR_newfstatat
            ALLOW(newfstatat)
#endif
#ifdef __NR_statx
                ALLOW(statx)
#endif
    /* memory */
    ALLOW(brk) ALLOW(munmap) ALLOW(mremap) ALLOW(mprotect) ALLOW(madvise)
#ifdef __NR_mmap
        ALLOW(mmap)
#endif
    /* timer and its signal */
    ALLOW(setitimer) ALLOW(clock_gettime) ALLOW(rt_sigaction) ALLOW(rt_sigprocmask)
        ALLOW(rt_sigreturn)
    /* memory limits, and exit */
    ALLOW(prlimit64) ALLOW(futex) ALLOW(exit) ALLOW(exit_group)
#ifdef __NR_mmap2 /* 32-bit systems */
        ALLOW(mmap2) ALLOW(_llseek) ALLOW(fcntl64) ALLOW(fstat64) ALLOW(fstatat64)
#endif
#ifdef __NR_sigreturn
            ALLOW(sigreturn)
#endif
#ifdef __NR_clock_gettime64
                ALLOW(clock_gettime64)
#endif
                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};

static void filter_calls(void)
{
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

static void filter_calls(void)
{
}

#endif

static void limit(int what, rlim_t most)
{
    struct rlimit r;
    if (getrlimit(what, &r) != 0)
        return;
    r.rlim_cur = r.rlim_max == RLIM_INFINITY || r.rlim_max > most ? most : r.rlim_max;
    setrlimit(what, &r);
}

/* Closes descriptors that were inherited from the caller's process. */
static void close_files(void)
{
#ifdef __NR_close_range
    if (syscall(__NR_close_range, FIRST_FOREIGN, ~0U, 0) == 0)
        return;
#endif
    for (int fd = FIRST_FOREIGN; fd < 1024; fd++)
        close(fd);
}

void pf_sandbox_enter(void)
{
    close_files();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    pf_sandbox_memory(0);
    filter_calls();
}

/* The limit covers the sections, a second copy while they are copied, and libdw's tables.  Its line
 * tables are ten times as large as their sections, which are a tenth of the debug information. */
void pf_sandbox_memory(uint64_t bytes)
{
    const uint64_t base = (uint64_t)256 << 20, most = SIZE_MAX / 2;
    limit(RLIMIT_AS, (rlim_t)(bytes > (most - base) / 4 ? most : base + 4 * bytes));
}
