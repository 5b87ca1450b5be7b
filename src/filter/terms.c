/* Parses the terms of a filter: numbers and ranges, record types, patterns for names, times and
 * expressions.  Also finds terms that no sample can match. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/shorten.h"
#include "expr/fetch.h"
#include "filter/filter.h"
#include "schema/command.h"
#include "core/command.h"

/* The kinds of terms, as errors and notes name them (perfile_error.where). */
static const char *const members[PERFILE_FILTER_N_BY] = {
    [PERFILE_FILTER_BY_TIME] = "terms.time",   [PERFILE_FILTER_BY_PID] = "terms.pid",
    [PERFILE_FILTER_BY_TID] = "terms.tid",     [PERFILE_FILTER_BY_CPU] = "terms.cpu",
    [PERFILE_FILTER_BY_TYPE] = "terms.type",   [PERFILE_FILTER_BY_IP] = "terms.ip",
    [PERFILE_FILTER_BY_EVENT] = "terms.event", [PERFILE_FILTER_BY_COMM] = "terms.comm",
    [PERFILE_FILTER_BY_DSO] = "terms.dso",     [PERFILE_FILTER_BY_CGROUP] = "terms.cgroup",
    [PERFILE_FILTER_BY_WHERE] = "terms.where",
};

const char *pf_filter_kind_name(const char *member)
{
    return strchr(member, '.') + 1;
}

/* The field by which terms of a kind select samples; 0: none. */
static const uint64_t needed_field[PERFILE_FILTER_N_BY] = {
    [PERFILE_FILTER_BY_TIME] = PERFILE_SAMPLE_TIME,
    [PERFILE_FILTER_BY_PID] = PERFILE_SAMPLE_TID,
    [PERFILE_FILTER_BY_TID] = PERFILE_SAMPLE_TID,
    [PERFILE_FILTER_BY_CPU] = PERFILE_SAMPLE_CPU,
    [PERFILE_FILTER_BY_IP] = PERFILE_SAMPLE_IP,
    [PERFILE_FILTER_BY_COMM] = PERFILE_SAMPLE_TID,
    [PERFILE_FILTER_BY_DSO] = PERFILE_SAMPLE_IP,
    [PERFILE_FILTER_BY_CGROUP] = PERFILE_SAMPLE_CGROUP,
};

/* PERFILE_E_USAGE: "KIND takes WANTED: 'TEXT'". */
static perfile_status refuse(perfile_error *err, unsigned kind, const char *text,
                             const char *wanted)
{
    return pf_fail(err, PERFILE_E_USAGE, members[kind], "%s takes %s: '%s'",
                   pf_filter_kind_name(members[kind]), wanted, text);
}

/* Reads a number up to `most` and advances *at past it. -1 is accepted for fields of 32 bits: it is
 * all ones, which perf stores for "none". */
static bool read_number(const char **at, const char *end, uint64_t most, uint64_t *out)
{
    const char *p = *at;
    if (most == UINT32_MAX && end - p >= 2 && p[0] == '-' && p[1] == '1') {
        *at = p + 2;
        *out = UINT32_MAX;
        return true;
    }
    if (p == end || !isdigit((unsigned char)*p))
        return false;
    /* strtoull() would take "0x" alone as 0 and stop at the x. */
    bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    char *behind;
    errno = 0;
    unsigned long long v = strtoull(p, &behind, hex ? 16 : 10);
    if (errno || v > most || behind > end || (hex && behind < p + 3))
        return false;
    *at = behind;
    *out = v;
    return true;
}

/* Reads "A", "A..B", "A.." or "..B", with `dash` also "A-B", from all of [p, end). */
static bool read_range(const char *p, const char *end, uint64_t most, bool dash, pf_interval *out)
{
    *out = (pf_interval){0, most};
    bool begins = read_number(&p, end, most, &out->first);
    if (begins && p == end) {
        out->last = out->first;
        return true;
    }
    if (end - p >= 2 && p[0] == '.' && p[1] == '.')
        p += 2;
    else if (dash && begins && end - p >= 2 && *p == '-')
        p++;
    else
        return false;
    if (p == end)
        return begins;
    return read_number(&p, end, most, &out->last) && p == end && out->first <= out->last;
}

/* Returns the end of the item that begins at `p` in a list with commas. */
static const char *item_end(const char *p)
{
    return p + strcspn(p, ",");
}

/* Adds a list of numbers and ranges. Addresses have no dashes. */
static perfile_status add_numbers(pf_ranges *to, const perfile_filter_term *t, uint64_t most,
                                  const char *wanted, perfile_error *err)
{
    const bool dash = t->kind != PERFILE_FILTER_BY_IP;
    for (const char *p = t->text, *end;; p = end + 1) {
        pf_interval r;
        end = item_end(p);
        if (!read_range(p, end, most, dash, &r))
            return refuse(err, t->kind, t->text, wanted);
        perfile_status st = pf_ranges_add(to, r.first, r.last, err);
        if (st != PERFILE_OK || *end == '\0')
            return st;
    }
}

/* Returns PERFILE_E_USAGE for a word that is not a record type; the message has similar names. */
static perfile_status unknown_type(const char *word, size_t n, perfile_error *err)
{
    char name[40], meant[130];
    pf_nearest near;
    memcpy(name, word, n);
    name[n] = '\0';
    pf_nearest_begin(&near, name);
    for (uint32_t type = 1; type < 256; type++)
        if (pf_record_type_name(type))
            pf_nearest_offer(&near, pf_record_type_name(type));
    pf_nearest_put(&near, meant, sizeof meant);
    return pf_fail(err, PERFILE_E_USAGE, members[PERFILE_FILTER_BY_TYPE],
                   "type: no record type is called '%s'%s%s%s", name,
                   near.n ? "; did you mean " : "", meant, near.n ? "?" : "");
}

/* Adds a list of record types, by names or numbers. */
static perfile_status add_types(pf_filter *x, const perfile_filter_term *t, perfile_error *err)
{
    char name[40];
    for (const char *p = t->text, *end;; p = end + 1) {
        pf_interval r;
        end = item_end(p);
        /* Tries a name first, then a number; no name of a type is a number. */
        size_t n = (size_t)(end - p);
        uint32_t type = 0;
        if (n < sizeof name) {
            memcpy(name, p, n);
            name[n] = '\0';
            type = perfile_record_type_number(name);
        }
        if (type)
            r = (pf_interval){type, type};
        else if (!read_range(p, end, UINT32_MAX, false, &r))
            return unknown_type(p, n < sizeof name ? n : sizeof name - 1, err);
        perfile_status st = pf_ranges_add(&x->terms.types, r.first, r.last, err);
        if (st != PERFILE_OK || *end == '\0')
            return st;
    }
}

/* Writes the name as a pattern for pf_expr_glob().  Brackets do not form sets, because names
 * contain them ([vdso]).  Every name is a valid pattern.  Returns its length, at most 2 * n. */
static size_t make_pattern(char *out, const char *name, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const bool escaped = name[i] == '\\' && i + 1 < n;
        if (name[i] == '[' || (name[i] == '\\' && !escaped))
            out[k++] = '\\';
        out[k++] = name[i];
        if (escaped)
            out[k++] = name[++i];
    }
    return k;
}

/* Adds one pattern. */
static perfile_status add_name(pf_patterns *to, const char *name, size_t n, perfile_error *err)
{
    /* If the copy cannot be made, the array is only larger: n counts the entries in use. */
    pf_pattern *more = pf_realloc(to->at, (size_t)to->n + 1, sizeof *more);
    if (more)
        to->at = more;
    pf_pattern p = {.of = to->n};
    p.name = more ? pf_alloc(n + 1, 1) : NULL;
    p.text = more ? pf_alloc(2 * n + 1, 1) : NULL;
    if (!p.name || !p.text) {
        pf_free(p.name);
        pf_free(p.text);
        return pf_fail_nomem(err, "filter");
    }
    memcpy(p.name, name, n);
    p.len = make_pattern(p.text, name, n);
    to->at[to->n++] = p;
    return PERFILE_OK;
}

/* Returns the end of the name that begins at `p`: a comma that is neither escaped nor between the
 * slashes of an event (cpu/event=1,umask=2/). */
static const char *name_end(const char *p, bool event)
{
    bool in_slashes = false;
    for (; *p && (*p != ',' || in_slashes); p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '/' && event)
            in_slashes = !in_slashes;
    }
    return p;
}

/* Adds a text as a pattern, and if it has commas also each of its parts: whether "a,b" is one name
 * or two is known only when the capture is read. */
static perfile_status add_pattern(pf_patterns *to, const perfile_filter_term *t, perfile_error *err)
{
    perfile_status st = add_name(to, t->text, strlen(t->text), err);
    if (!strchr(t->text, ','))
        return st;
    uint32_t whole = to->n - 1;
    for (const char *p = t->text, *end; st == PERFILE_OK; p = end + 1) {
        end = name_end(p, t->kind == PERFILE_FILTER_BY_EVENT);
        if (end > p)
            st = add_name(to, p, (size_t)(end - p), err);
        if (end > p && st == PERFILE_OK)
            to->at[to->n - 1].of = whole;
        if (!*end)
            break;
    }
    return st;
}

/* Adds all ranges of a time. */
static perfile_status add_period(pf_filter *x, const perfile_filter_term *t, perfile_error *err)
{
    const char *text = t->text;
    do {
        pf_period period;
        perfile_status st = pf_filter_period(&text, t->text, &period, err);
        if (st != PERFILE_OK)
            return st;
        pf_period *more =
            pf_realloc(x->terms.periods, (size_t)x->terms.n_periods + 1, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "filter");
        x->terms.periods = more;
        x->terms.periods[x->terms.n_periods++] = period;
    } while (*text);
    return PERFILE_OK;
}

/* Compiles an expression. */
static perfile_status add_where(pf_filter *x, const perfile_filter_term *t, perfile_error *err)
{
    /* The filter provides comm, dso and cgroup to the expression. */
    perfile_expr_provider names_of = pf_filter_names;
    names_of.user = x;
    perfile_expr_options how = {
        .size = sizeof how, .provider = &names_of, .flags = PERFILE_EXPR_PAYLOADS};
    perfile_expr **more = pf_realloc(x->terms.wheres, (size_t)x->terms.n_wheres + 1, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "filter");
    x->terms.wheres = more;
    perfile_status st = perfile_expr_open(t->text, &how, &x->terms.wheres[x->terms.n_wheres], err);
    x->terms.n_wheres += st == PERFILE_OK;
    if (st == PERFILE_E_USAGE && err)
        err->offset = PERFILE_NO_OFFSET; /* an offset in the text; the message shows the position */
    return st;
}

/* Terms of one kind are alternatives: they are added to one set. */
static perfile_status add_term(pf_filter *x, const perfile_filter_term *t, perfile_error *err)
{
    static const char numbers[] = "numbers and ranges such as 7,100-199";
    if (t->kind >= PERFILE_FILTER_N_BY || !t->text)
        return pf_fail(err, PERFILE_E_USAGE, "filter.terms", "a term of kind %u", t->kind);
    x->terms.given |= 1U << t->kind;
    switch (t->kind) {
    case PERFILE_FILTER_BY_TIME:
        return add_period(x, t, err);
    case PERFILE_FILTER_BY_PID:
        return add_numbers(&x->terms.pids, t, UINT32_MAX, numbers, err);
    case PERFILE_FILTER_BY_TID:
        return add_numbers(&x->terms.tids, t, UINT32_MAX, numbers, err);
    case PERFILE_FILTER_BY_CPU:
        return add_numbers(&x->terms.cpus, t, UINT32_MAX, "CPUs such as 0-3,7", err);
    case PERFILE_FILTER_BY_TYPE:
        return add_types(x, t, err);
    case PERFILE_FILTER_BY_IP:
        return add_numbers(&x->terms.ips, t, UINT64_MAX, "addresses such as 0x400000..0x4fffff",
                           err);
    case PERFILE_FILTER_BY_EVENT:
        return add_pattern(&x->terms.events, t, err);
    case PERFILE_FILTER_BY_COMM:
        return add_pattern(&x->terms.comms, t, err);
    case PERFILE_FILTER_BY_DSO:
        return add_pattern(&x->terms.dsos, t, err);
    case PERFILE_FILTER_BY_CGROUP:
        return add_pattern(&x->terms.cgroups, t, err);
    default:
        return add_where(x, t, err);
    }
}

perfile_status pf_filter_terms(pf_filter *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < x->options.n_terms && st == PERFILE_OK; i++)
        if ((st = pf_item_check(&x->options.terms[i], "filter.terms", err)) == PERFILE_OK)
            st = add_term(x, &x->options.terms[i], err);
    /* `times` is computed later, when the clock is known. */
    pf_ranges *sets[] = {&x->terms.pids, &x->terms.tids, &x->terms.cpus, &x->terms.types,
                         &x->terms.ips};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        pf_ranges_sort(sets[i]);
    x->options.terms = NULL; /* borrowed only until here */
    return st;
}

/* With `invert`, samples without the field are selected, so nothing is missed. */
const char *pf_filter_next_missing_field(const pf_filter *x, uint32_t *next)
{
    uint64_t recorded = 0;
    uint32_t n = pf_session_n_events(x->pass.session);
    for (uint32_t i = 0; i < n; i++)
        recorded |= perfile_session_event(x->pass.session, i)->layout->sample_type;
    while (n && !x->terms.invert && *next < PERFILE_FILTER_N_BY) {
        uint32_t kind = (*next)++;
        if (pf_filter_has(x, kind) && needed_field[kind] & ~recorded)
            return members[kind];
    }
    return NULL;
}
