/* perfile-symbolizer: demangles names and reads debug information for libperfile.
 *
 * The libraries that do this (libiberty, libdw) read untrusted bytes, and neither their time nor
 * their memory can be limited from inside a process; libdw ends the process when out of memory.  So
 * they run in this process.  The library starts it when it has a question (symbol/helper.c), and it
 * can do nothing but answer.  It ends with the connection, on any protocol error, and when a
 * question costs too much.  The library then starts another one, or does without. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "symbolizer/symbolizer.h"

enum { CONVERSATION = 0, NAME_TIME = 20000000 /* limit for a name, in ns */ };

typedef struct symbolizer {
    pf_dwarf_file **files;
    uint32_t n_files;
    uint64_t bytes; /* of debug information of all files */
    char *question; /* the bytes after the question, and a NUL */
    char *out;      /* the answer: pf_answer and the bytes after it */
    size_t len;     /* number of bytes after pf_answer */
} symbolizer;

static void *must(void *p)
{
    if (!p)
        _exit(2);
    return p;
}

static bool read_all(void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = read(CONVERSATION, (char *)to + done, n - done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(const void *from, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(CONVERSATION, (const char *)from + done, n - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Reads a question and the descriptor that may come with it, or -1. */
static bool receive(pf_question *q, int *fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {q, sizeof *q};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t got;
    *fd = -1;
    do
        got = recvmsg(CONVERSATION, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return read_all((char *)q + got, sizeof *q - (size_t)got);
}

static void put(symbolizer *s, const void *bytes, size_t n)
{
    if (n > PF_ANSWER_MOST - s->len)
        _exit(2);
    memcpy(s->out + sizeof(pf_answer) + s->len, bytes, n);
    s->len += n;
}

static void put_text(symbolizer *s, const char *text)
{
    put(s, text ? text : "", text ? strnlen(text, PF_PLACE_TEXT - 1) : 0);
    put(s, "", 1);
}

/* Writes a name, demangled.  `allowed` is the CPU time of the question.  Writes `otherwise` if the
 * name cannot be demangled. */
static void put_demangled(symbolizer *s, const char *name, uint64_t allowed, pf_answer *a,
                          const char *otherwise)
{
    char shown[PF_DEMANGLED_SIZE];
    const uint64_t used = pf_clock_used(), left = allowed > used ? allowed - used : 0;
    const pf_demangled how =
        left ? pf_demangle_name(name, left < NAME_TIME ? left : NAME_TIME, shown) : PF_NOT_IN_TIME;
    a->refused += how == PF_NOT_IN_TIME;
    put_text(s, how == PF_DEMANGLED ? shown : otherwise);
}

static void demangle(symbolizer *s, const pf_question *q, pf_answer *a)
{
    const char *name = s->question, *end = name + q->size;
    for (uint32_t i = 0; i < q->n; i++, name += strlen(name) + 1) {
        if (name >= end)
            _exit(2);
        put_demangled(s, name, q->allowed, a, NULL);
    }
    a->n = q->n;
}

static void open_file(symbolizer *s, const pf_question *q, int fd, pf_answer *a)
{
    a->n = PF_NO_DEBUG_INFO;
    if (q->bytes > UINT64_MAX / 8 - s->bytes)
        return;
    pf_sandbox_memory(s->bytes + q->bytes);
    pf_dwarf_file *d = pf_dwarf_file_open(fd, q->bytes);
    if (!d)
        return;
    s->files = must(realloc(s->files, (s->n_files + 1) * sizeof(pf_dwarf_file *)));
    s->files[s->n_files] = d;
    s->bytes += q->bytes;
    a->n = s->n_files++;
}

static void find_places(symbolizer *s, const pf_question *q, pf_answer *a)
{
    pf_dwarf_place places[PF_PLACES_MOST];
    if (q->n >= s->n_files)
        _exit(2);
    a->n = (uint32_t)pf_dwarf_file_find(s->files[q->n], q->address, places);
    for (uint32_t i = 0; i < a->n; i++) {
        put(s, &(pf_place){places[i].line}, sizeof(pf_place));
        const char *name = places[i].function;
        if (q->demangle && name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
            put_demangled(s, name, q->allowed, a, name);
        else
            put_text(s, name);
        put_text(s, places[i].file);
    }
}

/* Answers one question.  Returns false when the connection is closed or a question is invalid. */
static bool answer(symbolizer *s)
{
    pf_question q;
    pf_answer a = {.protocol = PF_PROTOCOL};
    int fd;
    if (!receive(&q, &fd) || q.protocol != PF_PROTOCOL || q.size > PF_QUESTION_MOST ||
        !read_all(s->question, q.size))
        return false;
    s->question[q.size] = 0;
    s->len = 0;
    pf_clock_start(q.what == PF_ASK_DEMANGLE ? UINT64_MAX : q.allowed);
    if (q.what == PF_ASK_DEMANGLE)
        demangle(s, &q, &a);
    else if (q.what == PF_ASK_OPEN && fd >= 0)
        open_file(s, &q, fd, &a);
    else if (q.what == PF_ASK_PLACES)
        find_places(s, &q, &a);
    else
        return false;
    a.used = pf_clock_used();
    a.size = (uint32_t)s->len;
    memcpy(s->out, &a, sizeof a);
    return write_all(s->out, sizeof a + s->len);
}

int main(void)
{
    symbolizer s = {.question = must(malloc(PF_QUESTION_MOST + 1)),
                    .out = must(malloc(sizeof(pf_answer) + PF_ANSWER_MOST))};
    pf_sandbox_enter();
    while (answer(&s)) {
    }
    _exit(0);
}
