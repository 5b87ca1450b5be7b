/* The client of perfile-symbolizer, and demangling with it. */
#define _GNU_SOURCE /* dladdr() */
#include "symbol/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PF_SYMBOLIZER_INSTALLED /* only CMake builds define the path */
#define PF_SYMBOLIZER_INSTALLED ""
#endif
#define PROGRAM "libexec/perfile/perfile-symbolizer"

enum {
    PATH_SIZE = 4096,
    FOLDERS_UP = 4 /* folders that are searched: its own and those above it */
};

static const uint64_t second = 1000000000;

/* Finds the file that contains this code: library or program. */
static bool own_file(char path[PATH_SIZE])
{
    Dl_info info;
    static const char here;
    if (dladdr(&here, &info) && info.dli_fname && strstr(info.dli_fname, ".so") &&
        info.dli_fname[0] == '/' && strlen(info.dli_fname) < PATH_SIZE) {
        strcpy(path, info.dli_fname);
        return true;
    }
    const ssize_t n = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    if (n > 0)
        path[n] = 0;
    return n > 0;
}

/* Finds the program.  It is below the folder of the file with this code, or below one of the
 * folders above it (bin/ and lib/ of an installation, folders of a build), or else where it was
 * installed. */
static bool find_program(char path[PATH_SIZE])
{
    char own[PATH_SIZE];
    char *end;
    if (own_file(own))
        for (int i = 0; i < FOLDERS_UP && (end = strrchr(own, '/')); i++) {
            *end = 0;
            const int n = snprintf(path, PATH_SIZE, "%s/" PROGRAM, own);
            if (n > 0 && n < PATH_SIZE && access(path, X_OK) == 0)
                return true;
        }
    const int n = snprintf(path, PATH_SIZE, "%s", PF_SYMBOLIZER_INSTALLED);
    return n > 0 && n < PATH_SIZE && access(path, X_OK) == 0;
}

bool pf_helper_is_there(void)
{
    char path[PATH_SIZE];
    return find_program(path);
}

void pf_helper_init(pf_helper *h, pf_budget *budget)
{
    *h = (pf_helper){.budget = budget, .socket = -1, .left = PF_HELPER_SECONDS * (int64_t)second};
}

/* Ends the program.  It has no state to save. */
static void stop(pf_helper *h)
{
    if (h->socket < 0)
        return;
    close(h->socket);
    h->socket = -1;
    if (h->pid <= 0) /* a test answers itself */
        return;
    kill(h->pid, SIGKILL);
    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void pf_helper_free(pf_helper *h)
{
    stop(h);
    pf_budget_free(h->budget, h->question, h->question_cap, 1);
    pf_budget_free(h->budget, h->answer, h->answer_cap, 1);
    h->question = h->answer = NULL;
    h->question_cap = h->answer_cap = 0;
}

void pf_helper_allow(pf_helper *h, uint64_t ns)
{
    const int64_t most = INT64_MAX / 2;
    h->left = ns > (uint64_t)most || h->left > most - (int64_t)ns ? most : h->left + (int64_t)ns;
}

/* Starts the program with one end of a socket as descriptor 0, in its own process group, with
 * default signal settings and an empty environment. */
static bool spawn(const char *path, int theirs, pid_t *pid)
{
    char *const arguments[] = {(char *)"perfile-symbolizer", NULL}, *const environment[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    const bool started =
        posix_spawn_file_actions_adddup2(&files, theirs, 0) == 0 &&
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
        posix_spawnattr_setsigdefault(&attributes, &all) == 0 &&
        posix_spawnattr_setpgroup(&attributes, 0) == 0 &&
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP) == 0 &&
        posix_spawn(pid, path, &files, &attributes, arguments, environment) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return started;
}

static bool start(pf_helper *h)
{
    char path[PATH_SIZE];
    int pair[2];
    if (h->socket >= 0)
        return true;
    if (h->is_missing || !find_program(path) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        h->is_missing = true;
        return false;
    }
    if (spawn(path, pair[1], &h->pid)) {
        h->socket = pair[0];
        h->starts++;
    } else {
        h->is_missing = true;
        close(pair[0]);
    }
    close(pair[1]);
    return h->socket >= 0;
}

/* Returns monotonic time in milliseconds. */
static uint64_t now_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits until the socket is readable or writable.  Returns false after `deadline`. */
static bool wait_for(const pf_helper *h, short what, uint64_t deadline)
{
    for (;;) {
        struct pollfd p = {.fd = h->socket, .events = what};
        const uint64_t now = now_ms();
        const uint64_t left = deadline > now ? deadline - now : 0;
        const int n = left ? poll(&p, 1, left > 60000 ? 60000 : (int)left) : 0;
        if (n > 0)
            return true;
        if (!left || (n < 0 && errno != EINTR))
            return false;
    }
}

/* Sends `q`, the bytes after it, and the descriptor unless it is -1. */
static bool send_question(const pf_helper *h, const pf_question *q, int fd, uint64_t deadline)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fd)];
    } control = {0};
    struct iovec parts[] = {{(void *)(uintptr_t)q, sizeof *q}, {h->question, q->size}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    while (parts[0].iov_len + parts[1].iov_len) {
        ssize_t sent = sendmsg(h->socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && (errno != EAGAIN || !wait_for(h, POLLOUT, deadline)))
            return false;
        for (int i = 0; i < 2 && sent > 0; i++) {
            const size_t n = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + n;
            parts[i].iov_len -= n;
            sent -= (ssize_t)n;
            m.msg_control = NULL; /* sent with the first byte */
            m.msg_controllen = 0;
        }
    }
    return true;
}

static bool receive_all(const pf_helper *h, void *to, size_t n, uint64_t deadline)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = recv(h->socket, (char *)to + done, n - done, MSG_DONTWAIT);
        if (got == 0 ||
            (got < 0 && errno != EINTR && (errno != EAGAIN || !wait_for(h, POLLIN, deadline))))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Makes room for `n` bytes. */
static bool reserve(pf_budget *budget, uint8_t **bytes, size_t *cap, size_t n)
{
    if (n <= *cap)
        return true;
    uint8_t *more = pf_budget_realloc(budget, *bytes, *cap, n, 1);
    if (more) {
        *bytes = more;
        *cap = n;
    }
    return more != NULL;
}

/* Appends a text and a NUL to the bytes after the question, and adds them to q->size.  Returns
 * false if there is no room. */
static bool pf_helper_say(pf_helper *h, pf_question *q, perfile_bytes text)
{
    const size_t size = q->size + text.len + 1;
    if (text.len >= PF_QUESTION_MOST - q->size ||
        (size > h->question_cap &&
         !reserve(h->budget, &h->question, &h->question_cap, size + size / 2)))
        return false;
    memcpy(h->question + q->size, text.ptr, text.len);
    h->question[size - 1] = 0;
    q->size = (uint32_t)size;
    return true;
}

/* Sends the question and receives the answer.  Returns false if that fails or takes until
 * `deadline`. */
static bool converse(pf_helper *h, const pf_question *q, int fd, pf_answer *a, uint64_t deadline)
{
    return send_question(h, q, fd, deadline) && receive_all(h, a, sizeof *a, deadline) &&
           a->protocol == PF_PROTOCOL && a->size <= PF_ANSWER_MOST &&
           reserve(h->budget, &h->answer, &h->answer_cap, a->size + (size_t)1) &&
           receive_all(h, h->answer, a->size, deadline);
}

bool pf_helper_ask(pf_helper *h, pf_question *q, int fd, pf_answer *a)
{
    if (h->left <= 0 || !start(h))
        return false;
    q->protocol = PF_PROTOCOL;
    q->allowed = q->allowed < (uint64_t)h->left ? q->allowed : (uint64_t)h->left;
    /* The deadline is in real time.  On a busy machine a process gets only part of that as CPU
     * time. */
    const uint64_t asked = now_ms(), deadline = asked + 20000 + q->allowed / 100000;
    const bool answered = converse(h, q, fd, a, deadline);
    const uint64_t used = answered ? a->used : (now_ms() - asked) * 1000000 + PF_HELPER_DEATH;
    h->left -= used < (uint64_t)INT64_MAX / 2 ? (int64_t)used : INT64_MAX / 2;
    if (!answered)
        stop(h);
    return answered;
}

/* Demangling of C++ and Rust names. */

bool pf_can_demangle(void)
{
#ifdef PF_HAVE_DEMANGLER
    return pf_helper_is_there();
#else
    return false;
#endif
}

bool pf_is_mangled(const char *name, size_t len)
{
    /* The prefixes of C++ and old Rust, of new Rust, and of gcc's file constructors. */
    return len > 2 && len < PF_MANGLED_SIZE && name[0] == '_' &&
           (name[1] == 'Z' || name[1] == 'R' || name[1] == 'G');
}

/* Parses an answer with one text for each name.  Returns false if it is malformed. */
static bool take(const pf_helper *h, const pf_answer *a, const char **texts, size_t n)
{
    const uint8_t *at = h->answer, *end = at + a->size;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!nul || nul - at >= PF_DEMANGLED_SIZE)
            return false;
        texts[i] = nul == at ? NULL : (const char *)at;
        at = nul + 1;
    }
    return a->n == n && at == end;
}

void pf_demangle(pf_helper *h, const perfile_bytes *names, size_t n, const char **shown)
{
    const char *texts[PF_DEMANGLE_MOST] = {0};
    pf_question q = {.what = PF_ASK_DEMANGLE, .allowed = UINT64_MAX};
    pf_answer a;
    size_t asked = 0;
    if (h)
        for (size_t i = 0; i < n; i++)
            if (pf_is_mangled((const char *)names[i].ptr, names[i].len) &&
                pf_helper_say(h, &q, names[i]))
                q.n++;
    if (q.n) {
        pf_helper_allow(h, (uint64_t)q.size * PF_DEMANGLE_NS);
        if (pf_helper_ask(h, &q, -1, &a) && take(h, &a, texts, q.n)) {
            h->too_costly += a.refused;
        } else {
            h->too_costly += h->is_missing ? 0 : q.n;
            memset(texts, 0, sizeof texts);
        }
    }
    for (size_t i = 0; i < n; i++)
        shown[i] = h && pf_is_mangled((const char *)names[i].ptr, names[i].len) && asked < q.n
                       ? texts[asked++]
                       : NULL;
}

const char *pf_demangle_one(pf_helper *h, const char *name)
{
    const char *shown;
    pf_demangle(h, &(perfile_bytes){(const uint8_t *)name, strlen(name)}, 1, &shown);
    return shown;
}
