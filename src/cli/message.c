/* Messages on standard error, and how exit statuses are combined. */
#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/members.h"
#include "cli/print.h"

int cli_worse(int a, int b)
{
    static const int rank[] = {
        [CLI_DONE] = 0, [CLI_FAILED] = 3, [CLI_USAGE] = 2, [CLI_DAMAGED] = 1};
    return rank[a] >= rank[b] ? a : b;
}

int cli_status_of(perfile_status st, bool damaged)
{
    if (st != PERFILE_OK)
        return st == PERFILE_E_USAGE ? CLI_USAGE : CLI_FAILED;
    return damaged ? CLI_DAMAGED : CLI_DONE;
}

void cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_print_error_line("perfile", format, args);
    va_end(args);
}

int cli_usage(const char *command, const char *format, ...)
{
    char head[32];
    va_list args;
    snprintf(head, sizeof head, "perfile %s", command);
    va_start(args, format);
    cli_print_error_line(head, format, args);
    va_end(args);
    cli_print_error("Try 'perfile %s --help'.\n", command);
    return CLI_USAGE;
}

int cli_usage_error(const char *command, const perfile_error *err)
{
    /* Only messages about expressions have line breaks of ours.  Other messages are printed as one
     * line, in which a line break of a quoted argument is escaped. */
    bool lines = err->where && strcmp(err->where, "expression") == 0;
    char text[CLI_MEMBERS_TEXT];
    const char *message = cli_with_options(err->where, err->message, text);
    size_t n = lines ? strcspn(message, "\n") : strlen(message);
    cli_print_error("perfile %s: %.*s\n", command, (int)n, message);
    for (const char *line = message + n; *line; line += n) {
        line++;
        n = strcspn(line, "\n");
        cli_print_error("%.*s\n", (int)n, line);
    }
    cli_print_error("Try 'perfile %s --help'.\n", command);
    return CLI_USAGE;
}

int cli_finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write may have failed, and its errno is lost: poll() reports POLLERR for a pipe
     * whose reader is gone. */
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (errno == EPIPE || (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR))
        return CLI_DONE;
    cli_message("standard output: cannot write%s%s", errno ? ": " : "",
                errno ? strerror(errno) : "");
    return CLI_FAILED;
}
