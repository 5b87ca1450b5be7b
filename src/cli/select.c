#include "cli/select.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/command.h"

static int read_number(const char *command, const char *option, const char *word, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || errno || n == 0)
        return cli_usage(command, "--%s takes a number from 1: '%s'", option, word);
    *to = n;
    return CLI_CONTINUE;
}

int cli_selection_add(unsigned kind, const char *text, cli_selection *s)
{
    size_t n = s->how.n_terms;
    perfile_filter_term *more = realloc(s->terms, (n + 1) * sizeof *more);
    if (!more) {
        cli_say("out of memory");
        return CLI_FAILED;
    }
    more[n] = (perfile_filter_term){.kind = kind, .text = text};
    s->terms = more;
    s->how.n_terms++;
    return CLI_CONTINUE;
}

int cli_selection_option(const char *command, int option, cli_selection *s)
{
    switch (option) {
    case CLI_OPTION_INVERT:
        s->how.flags |= PERFILE_FILTER_INVERT;
        return CLI_CONTINUE;
    case CLI_OPTION_EVERY:
        return read_number(command, "every", optarg, &s->how.every);
    case CLI_OPTION_HEAD:
        return read_number(command, "head", optarg, &s->how.head);
    default:
        return cli_selection_add((unsigned)(option - CLI_OPTION_TERM), optarg, s);
    }
}

int cli_selection_check(const char *command, cli_selection *s)
{
    perfile_error err;
    perfile_filter_state *filter;
    s->how.size = sizeof s->how;
    s->how.terms = s->terms;
    perfile_status st = perfile_filter_new(&s->how, &filter, &err);
    if (st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT)
        return cli_usage_error(command, &err);
    if (st != PERFILE_OK) {
        cli_say("%s", err.message);
        return CLI_FAILED;
    }
    perfile_filter_close(filter);
    return CLI_CONTINUE;
}

bool cli_selects(const cli_selection *s)
{
    return s->how.n_terms || s->how.every || s->how.head || s->how.flags & PERFILE_FILTER_INVERT;
}

bool cli_selects_by(const cli_selection *s, unsigned kind)
{
    for (uint32_t i = 0; i < s->how.n_terms; i++)
        if (s->terms[i].kind == kind)
            return true;
    return false;
}

void cli_selection_free(cli_selection *s)
{
    free(s->terms);
    *s = (cli_selection){0};
}
