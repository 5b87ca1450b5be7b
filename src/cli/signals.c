/* Signal handlers.
 *
 * Handlers only call async-signal-safe functions (write, open, ftruncate, close, unlink, unlinkat,
 * rmdir, _exit, signal, raise) and system calls.  So they compose messages without stdio, and the
 * name of the input is already escaped when it is set. */
#include "cli/output.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/command.h"
#include "perfile/text.h"

/* Read by the handlers.  Each is changed by a single store, and what it points to is not freed as
 * long as it is set. */
static const char *volatile input_name;
static char printable_name[4096]; /* the name as it may be printed; `input_name` points to it */
static const char *volatile temporary_path;
static const char *volatile appended_path;
static off_t appended_size; /* set before appended_path */
static volatile sig_atomic_t input_is_pipe, was_interrupted;
static const char *interrupted_text; /* set before input_is_pipe */

/* Writes a text to standard error. write() may write less than requested. */
static void put(const char *text)
{
    size_t n = strlen(text);
    while (n) {
        ssize_t done = write(STDERR_FILENO, text, n);
        if (done <= 0)
            return;
        text += done;
        n -= (size_t)done;
    }
}

/* A directory entry as the system call getdents64 returns it. */
typedef struct entry {
    uint64_t ino;
    int64_t next;
    uint16_t size; /* of this entry */
    uint8_t type;
    char name[];
} entry;

/* Removes the files in the directory `fd`.  The functions of <dirent.h> allocate memory, which a
 * handler must not do. */
static void remove_files(int fd)
{
    _Alignas(8) char buf[4096];
    for (long n; (n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0;)
        for (long at = 0; at < n;) {
            const entry *e = (const entry *)(const void *)(buf + at);
            (void)unlinkat(fd, e->name, 0); /* fails for "." and ".." */
            at += e->size;
        }
}

/* Removes the folders in the directory `fd`, which contain only files. */
static void remove_folders(int fd)
{
    _Alignas(8) char buf[4096];
    (void)lseek(fd, 0, SEEK_SET);
    for (long n; (n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0;)
        for (long at = 0; at < n;) {
            const entry *e = (const entry *)(const void *)(buf + at);
            at += e->size;
            if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
                continue;
            const int folder = openat(fd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (folder < 0)
                continue;
            remove_files(folder);
            close(folder);
            (void)unlinkat(fd, e->name, AT_REMOVEDIR);
        }
}

/* Truncates the file that is appended to. */
static void cut_appended(void)
{
    if (!appended_path)
        return;
    const int fd = open(appended_path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (ftruncate(fd, appended_size) < 0)
        put("perfile: what was appended is there, but not complete\n");
    close(fd);
}

/* Removes the unfinished output: a file, or a directory of files. */
static void remove_temporary(void)
{
    cut_appended();
    if (!temporary_path || unlink(temporary_path) == 0)
        return;
    const int fd = open(temporary_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        remove_files(fd);
        remove_folders(fd);
        close(fd);
    }
    rmdir(temporary_path);
}

/* A mapped page is beyond the end of the file: the input was truncated. */
static void on_sigbus(int number)
{
    (void)number;
    remove_temporary();
    put("perfile: ");
    put(input_name ? input_name : "input");
    put(": the file was cut while it was read\n");
    _exit(CLI_FAILED);
}

/* Removes the output, and ends the process with the same signal, so that the parent sees the cause.
 *
 * If the input is a pipe, its bytes exist nowhere else, and the Ctrl-C that ends a recording, or
 * the end of the terminal, reaches all programs of the pipeline.  So the first signal is ignored:
 * the command ends when the pipe does. */
static void on_termination(int number)
{
    if (input_is_pipe && !was_interrupted &&
        (number == SIGINT || number == SIGTERM || number == SIGHUP)) {
        was_interrupted = 1;
        put(interrupted_text);
        return;
    }
    remove_temporary();
    signal(number, SIG_DFL);
    raise(number);
}

static const int termination_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU};

void cli_signals_hold(bool hold)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof termination_signals / sizeof termination_signals[0]; i++)
        sigaddset(&set, termination_signals[i]);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void cli_signals_install(void)
{
    struct sigaction bus = {.sa_handler = on_sigbus};
    sigaction(SIGBUS, &bus, NULL);
    /* With this, a file that exceeds its size limit is a write error (EFBIG), which is reported. */
    signal(SIGXFSZ, SIG_IGN);

    for (size_t i = 0; i < sizeof termination_signals / sizeof termination_signals[0]; i++) {
        struct sigaction was;
        struct sigaction end = {.sa_handler = on_termination, .sa_flags = SA_NODEFER | SA_RESTART};
        /* Signals that the parent ignores (nohup) stay ignored. */
        if (sigaction(termination_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(termination_signals[i], &end, NULL);
    }
}

void cli_signals_pipe(const char *path)
{
    struct stat sb;
    const bool standard = strcmp(path, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, &sb) : stat(path, &sb)) != 0 ||
        (!S_ISFIFO(sb.st_mode) && !S_ISSOCK(sb.st_mode)))
        return;
    interrupted_text = isatty(STDERR_FILENO)
                           ? "\nperfile: interrupted: finishing what the pipe still has; interrupt "
                             "again to stop at once\n"
                           : "";
    was_interrupted = 0;
    input_is_pipe = 1;
}

bool cli_signals_has_pipe(void)
{
    return input_is_pipe;
}

void cli_signals_file(const char *name)
{
    input_name = NULL;
    if (!name)
        return;
    perfile_printable((perfile_bytes){(const uint8_t *)name, strlen(name)}, printable_name,
                      sizeof printable_name);
    input_name = printable_name;
}

void cli_signals_temporary(const char *path)
{
    temporary_path = path;
}

void cli_signals_appended(const char *path, uint64_t size)
{
    appended_path = NULL;
    appended_size = (off_t)size;
    appended_path = path;
}

void cli_signals_on_temporary(void *user, const char *path)
{
    (void)user;
    if (!path)
        cli_signals_hold(true);
    cli_signals_temporary(path);
    if (path)
        cli_signals_hold(false);
}
