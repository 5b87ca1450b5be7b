/* A small recorder: samples cpu-clock of a command or of a process on every CPU, and writes a
 * capture for `perf report`.  Linux only.
 *
 *     record OUT COMMAND [ARGUMENT ...]
 *     record -p PID OUT                   until it ends, or Ctrl-C
 *
 * The kernel writes records into ring buffers.  Their contents are read from time to time as a
 * stream, which yields the records without copying them; stages could read that stream.  The writer
 * writes the records unchanged.  It writes progressively: even if this program is killed, the file
 * can be read up to the last round. */
#include <perfile/perfile.h>
#include <stdio.h>

#if defined(__linux__)
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DATA_PAGES = 64, MOST_CPUS = 1024, MOST_IDS = 8192, ATTR_BYTES = 112 };

/* A CPU: all its events share the ring of the first one. */
typedef struct processor {
    int fd;
    void *map;
} processor;

static processor cpus[MOST_CPUS];
static perfile_ring *rings[MOST_CPUS];
static int n_cpus;
static uint64_t ids[MOST_IDS];
static size_t n_ids;
static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static int failed(const char *what)
{
    fprintf(stderr, "record: %s: %s\n", what, strerror(errno));
    return -1;
}

static struct perf_event_attr attr_of(bool starts)
{
    struct perf_event_attr a = {
        .type = PERF_TYPE_SOFTWARE,
        .size = ATTR_BYTES,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = 1000,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                       PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER,
        .freq = 1,
        .disabled = starts,
        .enable_on_exec = starts,
        .inherit = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .wakeup_events = 64,
    };
    return a;
}

/* Opens one event on one CPU for one thread.  Returns -1 and sets errno on failure. */
static int open_event(struct perf_event_attr *a, pid_t tid, int cpu)
{
    long fd = syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !a->exclude_kernel) {
        a->exclude_kernel = a->exclude_hv = 1; /* allowed without privileges */
        fd = syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    if (fd >= 0 && (n_ids == MOST_IDS || ioctl((int)fd, PERF_EVENT_IOC_ID, &ids[n_ids++]) < 0))
        return -1;
    return (int)fd;
}

static int map_ring(processor *p, perfile_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (DATA_PAGES + 1) * page;
    p->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (p->map == MAP_FAILED)
        return failed("mmap of the ring buffer");
    perfile_ring_options o = {.size = sizeof o, .page = p->map, .page_bytes = page};
    if (perfile_ring_find(p->map, bytes, page, &o.data, err) != PERFILE_OK ||
        perfile_ring_open(&o, &rings[p - cpus], err) != PERFILE_OK) {
        fprintf(stderr, "record: %s\n", err->message);
        return -1;
    }
    return 0;
}

/* Opens events for every thread of `pid` on every CPU.  CPUs may be offline, threads may end. */
static int open_all(struct perf_event_attr *a, pid_t pid, perfile_error *err)
{
    char path[64];
    struct dirent *e;
    int bad = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (int cpu = 0; tasks && cpu < sysconf(_SC_NPROCESSORS_CONF) && !bad; cpu++) {
        processor *p = NULL;
        rewinddir(tasks);
        while (!bad && (e = readdir(tasks))) {
            int tid = atoi(e->d_name), fd = tid > 0 ? open_event(a, tid, cpu) : -1;
            if (tid > 0 && fd < 0)
                bad = errno != ENODEV && errno != ESRCH;
            else if (fd >= 0 && p)
                bad = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->fd) < 0;
            if (fd < 0 || p)
                continue;
            p = &cpus[n_cpus++];
            p->fd = fd;
            bad = n_cpus == MOST_CPUS || map_ring(p, err) < 0;
        }
    }
    if (tasks)
        closedir(tasks);
    return bad || n_cpus == 0 ? failed("cannot open the event") : 0;
}

static perfile_bytes text(const char *t)
{
    return (perfile_bytes){(const uint8_t *)t, strlen(t)};
}

/* Writes the name and mappings of a running process, as the kernel would have done it. */
static perfile_status tell_process(perfile_writer *w, pid_t pid, perfile_error *err)
{
    char path[64], line[4352] = "?", perm[8], name[4096];
    unsigned long long start, end, offset, inode;
    perfile_mmap2 m = {.pid = (uint32_t)pid, .tid = (uint32_t)pid, .has_inode = true};
    perfile_comm c = {.pid = (uint32_t)pid, .tid = (uint32_t)pid};
    perfile_put_options how = {
        .size = sizeof how, .synthesized = true, .misc = PERF_RECORD_MISC_USER};
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "r");
    c.comm = text(f && fgets(line, sizeof line, f) ? strtok(line, "\n") : "?");
    perfile_status st = perfile_writer_put_comm(w, &c, sizeof c, NULL, err);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    if (f)
        f = freopen(path, "r", f);
    while (f && st == PERFILE_OK && fgets(line, sizeof line, f)) {
        strcpy(name, "//anon");
        if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %4095[^\n]", &start, &end, perm, &offset,
                   &m.maj, &m.min, &inode, name) < 7 ||
            perm[2] != 'x')
            continue;
        m.addr = start;
        m.len = end - start;
        m.pgoff = offset;
        m.ino = inode;
        m.has_prot = true;
        m.prot = PROT_READ | PROT_EXEC;
        m.flags = perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
        m.filename = text(name);
        st = perfile_writer_put_mmap2(w, &m, sizeof m, &how, err);
    }
    if (f)
        fclose(f);
    return st;
}

/* Makes a session with the event, which is needed to decode records: stages and programs see their
 * fields. */
static perfile_status make_session(perfile_session **session, const struct perf_event_attr *a,
                                   perfile_error *err)
{
    const perfile_words words = perfile_words_u64(ids, n_ids);
    perfile_status st = perfile_session_open(NULL, session, err);
    return st == PERFILE_OK
               ? perfile_session_add_attr(*session, (perfile_bytes){(const uint8_t *)a, a->size},
                                          &words, NULL, NULL, err)
               : st;
}

static perfile_status describe(perfile_writer *w, const struct perf_event_attr *a,
                               perfile_error *err)
{
    struct utsname u = {0};
    perfile_words words = perfile_words_u64(ids, n_ids);
    perfile_nrcpus n = {.nr_cpus_avail = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
                        .nr_cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
    uname(&u);
    const char *const facts[3] = {u.nodename, u.release, u.machine};
    const uint32_t of[3] = {PERFILE_FEATURE_HOSTNAME, PERFILE_FEATURE_OSRELEASE,
                            PERFILE_FEATURE_ARCH};
    perfile_status st =
        perfile_writer_event(w, (perfile_bytes){(const uint8_t *)a, a->size}, &words, err);
    if (st == PERFILE_OK)
        st = perfile_writer_event_name(w, 0, a->exclude_kernel ? "cpu-clock:u" : "cpu-clock", err);
    for (int i = 0; i < 3 && st == PERFILE_OK; i++)
        st = perfile_writer_text(w, of[i], facts[i], err);
    return st == PERFILE_OK ? perfile_writer_set_nrcpus(w, &n, sizeof n, err) : st;
}

/* Writes everything that is in the rings now: a stream, which ends after every ring had its turn.
 * Bytes that are not a record are skipped, and counted in perfile_stream_get_summary(). */
static perfile_status drain(perfile_writer *w, const perfile_session *session, perfile_error *err)
{
    const perfile_open_options how = {.size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_RESYNC};
    const perfile_ring_stream_options o = {.size = sizeof o,
                                           .rings = rings,
                                           .n_rings = (size_t)n_cpus,
                                           .session = session,
                                           .options = &how,
                                           .name = "the ring buffers"};
    const uint64_t before = perfile_writer_bytes(w);
    const perfile_record *first;
    perfile_stream *s;
    size_t n;
    perfile_status st = perfile_ring_stream(&o, &s, err);
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        if ((st = perfile_writer_put_run(w, first, n, err)) != PERFILE_OK)
            break;
    perfile_stream_close(s);
    if (st != PERFILE_END)
        return st;
    return perfile_writer_bytes(w) > before ? perfile_writer_round(w, err) : PERFILE_OK;
}

static perfile_status record(perfile_writer *w, const perfile_session *session, pid_t pid,
                             bool is_child, perfile_error *err)
{
    struct pollfd fds[MOST_CPUS];
    perfile_status st = PERFILE_OK;
    for (int i = 0; i < n_cpus; i++)
        fds[i] = (struct pollfd){.fd = cpus[i].fd, .events = POLLIN};
    while (st == PERFILE_OK && !stopped) {
        poll(fds, (nfds_t)n_cpus, 100);
        stopped |= is_child ? waitpid(pid, NULL, WNOHANG) == pid : kill(pid, 0) < 0;
        st = drain(w, session, err);
    }
    return st == PERFILE_OK ? drain(w, session, err) : st;
}

/* The child waits until everything is open, and is recorded from its exec on. */
static pid_t start(char **command, int *go)
{
    int ends[2];
    char byte;
    if (pipe(ends) < 0)
        return failed("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        if (read(ends[0], &byte, 1) == 1)
            execvp(command[0], command);
        failed(command[0]);
        _exit(127);
    }
    close(ends[0]);
    *go = ends[1];
    return pid;
}

int main(int argc, char **argv)
{
    bool is_child = argc > 1 && strcmp(argv[1], "-p") != 0;
    if (argc < (is_child ? 3 : 4) || argv[is_child ? 1 : 3][0] == '-') {
        fprintf(stderr, "usage: record OUT COMMAND [ARGUMENT ...] | record -p PID OUT\n");
        return 2;
    }
    perfile_error err = {0};
    perfile_writer *w = NULL;
    perfile_session *session = NULL;
    int go = -1;
    pid_t pid = is_child ? start(argv + 2, &go) : (pid_t)atoi(argv[2]);
    struct perf_event_attr a = attr_of(is_child);
    if (pid < 0 || open_all(&a, pid, &err) < 0)
        return 1;
    perfile_writer_options o = {.size = sizeof o,
                                .attr_size = ATTR_BYTES,
                                .progressive = true,
                                .sink_flags = PERFILE_SINK_REPLACE};
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    perfile_status st = perfile_writer_open_path(argv[is_child ? 1 : 3], &o, &w, &err);
    if (st == PERFILE_OK)
        st = describe(w, &a, &err);
    if (st == PERFILE_OK)
        st = make_session(&session, &a, &err);
    if (st == PERFILE_OK && !is_child)
        st = tell_process(w, pid, &err);
    if (is_child && (st != PERFILE_OK || write(go, "!", 1) != 1))
        kill(pid, SIGKILL);
    if (st == PERFILE_OK)
        st = record(w, session, pid, is_child, &err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(w, &err);
    if (st != PERFILE_OK)
        fprintf(stderr, "record: %s\n", err.message);
    perfile_writer_close(w);
    perfile_session_close(session);
    return st != PERFILE_OK;
}
#else
int main(void)
{
    fprintf(stderr, "record: perf_event_open() is a system call of Linux\n");
    return 1;
}
#endif
