/* What is said when a filter selects nothing: what the samples of the capture have instead, of that
 * which was asked for.  A typing error in --comm or seconds in place of milliseconds shows here. */
#include "lib/filter_empty.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perfile/records.h"

enum { MOST_NAMES = 5, NAME_BYTES = 32, MOST_TEXT = 400 };

typedef struct range {
    uint64_t least, most;
} range;

typedef struct names {
    char at[MOST_NAMES][NAME_BYTES];
    size_t n;
    bool more;
} names;

typedef struct there {
    uint64_t samples;
    range time, pid, tid, cpu, ip;
    names comms, files;
} there;

static void widen(range *r, uint64_t value)
{
    r->least = value < r->least ? value : r->least;
    r->most = value > r->most ? value : r->most;
}

static void add_name(names *all, perfile_bytes name)
{
    char text[NAME_BYTES];
    size_t n = name.len < sizeof text - 1 ? name.len : sizeof text - 1;
    if (!n)
        return;
    memcpy(text, name.ptr, n);
    text[n] = '\0';
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i], text) == 0)
            return;
    all->more |= all->n == MOST_NAMES;
    if (all->n < MOST_NAMES)
        memcpy(all->at[all->n++], text, sizeof text);
}

static perfile_bytes last_part(perfile_bytes path)
{
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '/')
            return (perfile_bytes){path.ptr + i, path.len - i};
    return path;
}

static void look_at(there *t, const perfile_record *r)
{
    uint32_t pid, tid, cpu;
    uint64_t ip, time = perfile_record_time(r);
    perfile_comm comm;
    perfile_mmap2 file;
    if (r->type == PERFILE_RECORD_COMM &&
        perfile_comm_decode(r, &comm, sizeof comm, NULL) == PERFILE_OK)
        add_name(&t->comms, comm.comm);
    if (r->type == PERFILE_RECORD_MMAP2 &&
        perfile_mmap2_decode(r, &file, sizeof file, NULL) == PERFILE_OK)
        add_name(&t->files, last_part(file.filename));
    if (r->type != PERFILE_RECORD_SAMPLE)
        return;
    t->samples++;
    if (time != PERFILE_NO_TIME)
        widen(&t->time, time);
    if (perfile_record_task(r, &pid, &tid)) {
        widen(&t->pid, pid);
        widen(&t->tid, tid);
    }
    if (perfile_record_cpu(r, &cpu))
        widen(&t->cpu, cpu);
    if (perfile_sample_field(r, PERFILE_SAMPLE_IP, &ip))
        widen(&t->ip, ip);
}

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, MOST_TEXT - n, format, args);
    va_end(args);
}

static void put_range(char *text, const char *what, const range *r, bool hex)
{
    if (r->least > r->most)
        put(text, ", without %s", what);
    else if (hex)
        put(text, ", %s 0x%" PRIx64 "..0x%" PRIx64, what, r->least, r->most);
    else if (r->least == r->most)
        put(text, ", %s %" PRIu64, what, r->least);
    else
        put(text, ", %s %" PRIu64 "..%" PRIu64, what, r->least, r->most);
}

static void put_time(char *text, const range *r)
{
    const uint64_t second = 1000000000;
    if (r->least > r->most)
        put(text, ", without a time");
    else
        put(text, ", time %" PRIu64 ".%09" PRIu64 "..%" PRIu64 ".%09" PRIu64, r->least / second,
            r->least % second, r->most / second, r->most % second);
}

static void put_names(char *text, const char *what, const names *all)
{
    for (size_t i = 0; i < all->n; i++)
        put(text, "%s%s", i ? ", " : what, all->at[i]);
    put(text, "%s", all->more ? " ..." : "");
}

/* Of what was asked for, or the times when it was none of these. */
static void put_there(const pf_filter *x, const there *t, char *text)
{
    const uint32_t ranges = 1U << PERFILE_BY_PID | 1U << PERFILE_BY_TID | 1U << PERFILE_BY_CPU |
                            1U << PERFILE_BY_IP | 1U << PERFILE_BY_COMM | 1U << PERFILE_BY_DSO;
    put(text, "; there %s %" PRIu64 " sample%s", t->samples == 1 ? "is" : "are", t->samples,
        t->samples == 1 ? "" : "s");
    if (pf_filter_has(x, PERFILE_BY_PID))
        put_range(text, "pid", &t->pid, false);
    if (pf_filter_has(x, PERFILE_BY_TID))
        put_range(text, "tid", &t->tid, false);
    if (pf_filter_has(x, PERFILE_BY_CPU))
        put_range(text, "cpu", &t->cpu, false);
    if (pf_filter_has(x, PERFILE_BY_IP))
        put_range(text, "ip", &t->ip, true);
    if (pf_filter_has(x, PERFILE_BY_TIME) || !(x->given & ranges))
        put_time(text, &t->time);
    if (pf_filter_has(x, PERFILE_BY_COMM))
        put_names(text, ", threads called ", &t->comms);
    if (pf_filter_has(x, PERFILE_BY_DSO))
        put_names(text, ", files ", &t->files);
}

typedef void say_fn(void *user, const perfile_note *note);

static void say_unsaid(const pf_filter *x, say_fn *say, void *user)
{
    char text[96];
    uint32_t next = 0;
    const char *name;
    perfile_note note = {.kind = PERFILE_NOTE_UNSAID,
                         .number = UINT32_MAX,
                         .offset = PERFILE_NO_OFFSET,
                         .text = text};
    while ((name = pf_filter_unsaid(x, &next))) {
        snprintf(text, sizeof text, "--%s selects no sample: no event records what it asks for",
                 name);
        say(user, &note);
    }
}

/* Reads the capture once more; false when that cannot be done. */
static bool look_at_all(there *t, pf_passes *passes)
{
    const perfile_record *r;
    perfile_stream *s;
    perfile_status st = pf_passes_open(passes, &s, NULL);
    if (st != PERFILE_OK)
        return false;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        look_at(t, r);
    perfile_stream_close(s);
    return st == PERFILE_END;
}

void pf_filter_say_empty(const pf_filter *x, pf_passes *passes, bool may_pass, say_fn *say,
                         void *user)
{
    const range none = {UINT64_MAX, 0};
    there t = {.time = none, .pid = none, .tid = none, .cpu = none, .ip = none};
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
    bool all = may_pass && look_at_all(&t, passes);
    if (all && t.samples == 0)
        put(text, "; the capture has none");
    else if (all)
        put_there(x, &t, text);
    say(user, &note);
}
