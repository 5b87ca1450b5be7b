/* What is said when a filter selects nothing: what the samples of the capture have instead, of that
 * which was asked for.  A typing error in --comm or seconds in place of milliseconds shows here. */
#include "lib/filter_empty.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 400 };

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, MOST_TEXT - n, format, args);
    va_end(args);
}

static void put_time(char *text, uint64_t ns)
{
    const uint64_t second = 1000000000;
    put(text, "%" PRIu64 ".%09" PRIu64, ns / second, ns % second);
}

static void put_range(char *text, unsigned place, const pf_observed_range *r)
{
    static const char *const names[PF_PLACES] = {"time", "pid", "tid", "cpu", "ip"};
    put(text, "%s%s", r->least > r->most ? "without " : "", names[place]);
    if (r->least > r->most)
        return;
    put(text, " ");
    for (int end = 0; end < (r->least == r->most ? 1 : 2); end++) {
        uint64_t value = end ? r->most : r->least;
        put(text, "%s", end ? ".." : "");
        if (place == PF_PLACE_TIME)
            put_time(text, value);
        else
            put(text, place == PF_PLACE_IP ? "0x%" PRIx64 : "%" PRIu64, value);
    }
}

static void put_names(char *text, const char *what, const pf_observed_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        put(text, "%s%s", i ? ", " : what, all->at[i]);
    put(text, "%s", all->more ? " ..." : "");
}

/* Of what was asked for, or the times when it was none of these. */
static void put_there(const pf_filter *x, char *text)
{
    const pf_observed *t = &x->there;
    uint64_t n = x->result.samples;
    const char *before = ", ";
    put(text, "; there %s %" PRIu64 " sample%s", n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    for (unsigned k = 0; k < PF_PLACES; k++) {
        if (!(t->looked >> k & 1))
            continue;
        put(text, "%s", before);
        put_range(text, k, &t->ranges[k]);
        before = "; those that fit: ";
    }
    put_names(text, ", threads called ", &t->comms);
    put_names(text, ", files ", &t->files);
}

typedef void say_fn(void *user, const perfile_note *note);

static void say_unsaid(const pf_filter *x, say_fn *say, void *user)
{
    char text[96];
    uint32_t next = 0;
    const char *name;
    perfile_note note = {.kind = PERFILE_NOTE_NOT_RECORDED,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    while ((name = pf_filter_unsaid(x, &next))) {
        snprintf(text, sizeof text, "--%s selects no sample: no event records what it asks for",
                 name);
        say(user, &note);
    }
}

void pf_filter_say_empty(const pf_filter *x, say_fn *say, void *user)
{
    char text[MOST_TEXT] = "no sample is selected";
    perfile_note note = {.kind = PERFILE_NOTE_EMPTY,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    if (!say)
        return;
    say_unsaid(x, say, user);
    if (x->selects_any || !x->options.n_terms)
        return;
    if (x->result.samples == 0)
        put(text, "; the capture has none");
    else
        put_there(x, text);
    say(user, &note);
}
