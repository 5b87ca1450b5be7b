#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_worse(int a, int b)
{
    static const int rank[] = {
        [CLI_DONE] = 0, [CLI_FAILED] = 3, [CLI_USAGE] = 2, [CLI_DAMAGED] = 1};
    return rank[a] >= rank[b] ? a : b;
}

void cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("perfile: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "perfile %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'perfile %s --help'.\n", command);
    va_end(args);
    return CLI_USAGE;
}

int cli_finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write may have failed, and errno is gone: ask the pipe itself. */
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (errno == EPIPE || (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR))
        return CLI_DONE;
    cli_say("standard output: cannot write%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return CLI_FAILED;
}
