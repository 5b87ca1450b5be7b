/* The note for a filter that selects no sample, for instance
 *
 *     no sample is selected; the capture has 42 samples, time 12.5..13.1, threads called work,
 * helper
 *
 * It shows the values that the samples have for the fields that the terms test, so that a typing
 * error in --comm, or seconds in place of milliseconds, is visible at once.  The values were
 * collected by filter/observed.c while nothing was selected. */
#include "lib/filter_empty.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 400 }; /* size of all buffers called `text`; longer texts are cut */

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends to `text`. */
static void put(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, MOST_TEXT - n, format, args);
    va_end(args);
}

/* Appends a time in seconds, as --time takes it. */
static void put_time(char *text, uint64_t ns)
{
    const uint64_t second = 1000000000;
    put(text, "%" PRIu64 ".%09" PRIu64, ns / second, ns % second);
}

/* Appends "pid 7..9", "pid 7", or "without pid" if no sample had a value (least > most). */
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

/* Appends the names found, `what` in front of the first; nothing if there are none. */
static void put_names(char *text, const char *what, const pf_observed_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        put(text, "%s%s", i ? ", " : what, all->at[i]);
    put(text, "%s", all->more ? " ..." : "");
}

/* Appends what the samples have for the tested fields (their times if none of these is known).  The
 * filter tests the terms one after the other, so that the values of the second field are those of
 * samples that the first term accepted, and so on. */
static void put_observed(const pf_filter *x, char *text)
{
    const pf_observed *t = &x->there;
    uint64_t n = x->result.samples;
    const char *before = ", ";
    put(text, "; the capture has %" PRIu64 " sample%s", n, n == 1 ? "" : "s");
    for (unsigned k = 0; k < PF_PLACES; k++) {
        if (!(t->looked >> k & 1))
            continue;
        put(text, "%s", before);
        put_range(text, k, &t->ranges[k]);
        before = "; those that fit so far: ";
    }
    put_names(text, ", threads called ", &t->comms);
    put_names(text, ", files ", &t->files);
}

typedef void note_fn(void *user, const perfile_note *note);

/* Notes each term on a field that no event records. */
static void note_not_recorded(const pf_filter *x, note_fn *report, void *user)
{
    char text[96];
    uint32_t next = 0;
    perfile_note note = {.kind = PERFILE_NOTE_NOT_RECORDED,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    while ((note.where = pf_filter_next_missing_field(x, &next))) {
        snprintf(text, sizeof text, "%s selects no sample: no event records the field it tests",
                 pf_filter_kind_name(note.where));
        report(user, &note);
    }
}

void pf_filter_note_empty(const pf_filter *x, note_fn *report, void *user)
{
    char text[MOST_TEXT] = "no sample is selected";
    perfile_note note = {.kind = PERFILE_NOTE_EMPTY,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    if (!report)
        return;
    note_not_recorded(x, report, user);
    if (x->selects_any || !x->options.n_terms)
        return;
    if (x->result.samples == 0)
        put(text, "; the capture has none");
    else
        put_observed(x, text);
    report(user, &note);
}
