/* The files of a process of this machine that still runs.
 *
 * What the kernel says of it is in /proc.  Its root directory is a magic link there, which only the
 * owner of the process and root may follow; paths are resolved inside of it, never out of it. */
#include "symbol/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

bool pf_process_may_be_here(const perfile_symbols *s)
{
    struct utsname here;
    const char *host = perfile_session_fact(s->session, PERFILE_FACT_HOSTNAME);
    if (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY)
        return false;
    return !host || (uname(&here) == 0 && strcmp(here.nodename, host) == 0);
}

/* Opens a file of /proc/PID; false if it is not there, or not for this user. */
static bool open_about(pf_symfile *f, uint32_t pid, const char *name)
{
    char path[PF_PROCESS_ROOT];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
    return pf_symfile_open(f, path);
}

/* The last number of the line "NStgid:": one for each pid namespace, from the outermost of those
 * that this program sees to its own. */
static uint32_t inner_pid(const char *status, uint32_t pid)
{
    const char *line = strstr(status, "\nNStgid:");
    if (!line) /* before Linux 4.1 */
        return pid;
    line += strlen("\nNStgid:");
    const char *last = line + strcspn(line, "\n");
    while (last > line && last[-1] != '\t' && last[-1] != ' ')
        last--;
    const unsigned long n = strtoul(last, NULL, 10);
    return n && n <= INT32_MAX ? (uint32_t)n : pid;
}

/* True if the process sees other mounts than this program, such as a /tmp of its own. */
static bool has_own_mounts(uint32_t pid)
{
    char path[PF_PROCESS_ROOT];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/mnt", pid);
    return stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
           its.st_ino != ours.st_ino;
}

bool pf_process_find(uint32_t pid, pf_process *p)
{
    char folder[PF_PROCESS_ROOT], status[4096]; /* NStgid is among its first lines */
    struct stat root, self, process;
    pf_symfile f;
    if (!pid || pid > INT32_MAX)
        return false;
    snprintf(p->root, sizeof p->root, "/proc/%" PRIu32 "/root", pid);
    snprintf(folder, sizeof folder, "/proc/%" PRIu32, pid);
    if (stat(p->root, &root) < 0 || stat(folder, &process) < 0 || stat("/", &self) < 0 ||
        !open_about(&f, pid, "status"))
        return false;
    const size_t n = pf_symfile_read_at(&f, (uint8_t *)status, sizeof status - 1, 0);
    status[n] = 0;
    pf_symfile_close(&f);
    p->dev = root.st_dev;
    p->ino = root.st_ino;
    p->owner = process.st_uid;
    p->inner = inner_pid(status, pid);
    p->is_apart = root.st_dev != self.st_dev || root.st_ino != self.st_ino || p->inner != pid ||
                  has_own_mounts(pid);
    return true;
}

/* Reads lines of /proc/PID/maps, "FROM-TO ...". */
typedef struct ranges {
    uint64_t addr; /* the address that is looked for */
    uint64_t at[2];
    enum { FROM, TO, REST } state;
} ranges;

/* Takes the next byte; true if it ends a range with the address. */
static bool take(ranges *r, uint8_t byte)
{
    const char *const digits = "0123456789abcdef";
    const char *digit = byte ? strchr(digits, byte) : NULL;
    if (byte == '\n') {
        *r = (ranges){.addr = r->addr};
    } else if (r->state != REST && digit) {
        r->at[r->state] = r->at[r->state] << 4 | (uint64_t)(digit - digits);
    } else if (r->state != REST) {
        r->state++;
        return r->state == REST && r->at[0] <= r->addr && r->addr < r->at[1];
    }
    return false;
}

bool pf_process_maps(uint32_t pid, uint64_t addr)
{
    uint8_t text[4096];
    pf_symfile f;
    ranges r = {.addr = addr};
    bool found = false;
    if (!open_about(&f, pid, "maps"))
        return false;
    uint64_t at = 0;
    for (size_t n = 1; n && !found; at += n) {
        n = pf_symfile_read_at(&f, text, sizeof text, at);
        for (size_t i = 0; i < n && !found; i++)
            found = take(&r, text[i]);
    }
    pf_symfile_close(&f);
    return found;
}
