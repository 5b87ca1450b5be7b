/* Names of columns of the form "tsv", resolved to pf_tsv_column.
 *
 * A field name is valid if expressions know it (perfile_expr_names() lists them all), it is not
 * inside a list, and it is no bit field of a number.  An unknown name gets suggestions. */
#include "emit/tsv_columns.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "perfile/emit.h"
#include "perfile/expr.h"

/* Columns that are no fields. */
static const struct {
    const char *name;
    uint8_t what;
} special[] = {
    {"type", PF_TSV_TYPE},   {"misc", PF_TSV_MISC},     {"cpumode", PF_TSV_CPUMODE},
    {"size", PF_TSV_SIZE},   {"offset", PF_TSV_OFFSET}, {"sequence", PF_TSV_SEQUENCE},
    {"event", PF_TSV_EVENT}, {"comm", PF_TSV_COMM},     {"dso", PF_TSV_DSO},
};

/* Fields that samples have at a fixed position, see pf_tsv_column. */
static const struct {
    const char *name;
    uint32_t bit;
    uint8_t shift;
    bool is_hex, is_half;
} fixed_fields[] = {
    {"ip", PERFILE_SAMPLE_IP, 0, true, false},
    {"pid", PERFILE_SAMPLE_TID, 0, false, true},
    {"tid", PERFILE_SAMPLE_TID, 32, false, true},
    {"time", PERFILE_SAMPLE_TIME, 0, false, false},
    {"addr", PERFILE_SAMPLE_ADDR, 0, true, false},
    {"id", PERFILE_SAMPLE_ID, 0, false, false},
    {"stream_id", PERFILE_SAMPLE_STREAM_ID, 0, false, false},
    {"cpu", PERFILE_SAMPLE_CPU, 0, false, true},
    {"period", PERFILE_SAMPLE_PERIOD, 0, false, false},
    {"identifier", PERFILE_SAMPLE_IDENTIFIER, 0, false, false},
};

/* Types of names in expressions that are fields. */
enum { FIELD_TYPES = PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT | PERFILE_EXPR_LIST };

/* A search for a name among those of expressions. */
typedef struct search {
    const char *wanted;
    size_t wanted_n;
    bool found;      /* some field has the name … */
    bool number;     /* … and is a number */
    bool of_structs; /* a list of structs has the name: no column */
} search;

/* True if `wanted` is "name", or "record.name". */
static bool is_named(const char *wanted, size_t n, const char *record, const char *name)
{
    size_t of_record = strlen(record), of_name = strlen(name);
    if (n == of_name && memcmp(wanted, name, n) == 0)
        return true;
    return of_record && n == of_record + 1 + of_name && memcmp(wanted, record, of_record) == 0 &&
           wanted[of_record] == '.' && memcmp(wanted + of_record + 1, name, of_name) == 0;
}

/* Called for each name of expressions. */
static void match_name(void *user, const perfile_expr_name *what)
{
    search *s = user;
    if (what->list && is_named(s->wanted, s->wanted_n, what->record, what->list))
        s->of_structs = true;
    if (what->list || !(what->type & FIELD_TYPES) ||
        !is_named(s->wanted, s->wanted_n, what->record, what->name))
        return;
    s->found = true;
    s->number |= (what->type & PERFILE_EXPR_NUMBER) != 0;
}

/* True if the name is a field that a column can have. */
static bool is_field(const char *name)
{
    search s = {.wanted = name, .wanted_n = strlen(name)};
    perfile_expr_names(match_name, &s);
    const char *dot = strrchr(name, '.');
    if (!s.found || s.of_structs || !dot)
        return s.found && !s.of_structs;
    /* "a.b" where "a" is a number: b is a bit field of it. */
    search around = {.wanted = name, .wanted_n = (size_t)(dot - name)};
    perfile_expr_names(match_name, &around);
    return !around.number;
}

/* Splits "mmap2.addr" or "sample_id.time" into record and path. */
static void set_record(pf_tsv_column *c)
{
    static const char trailer[] = "sample_id.";
    char record[PF_TSV_NAME];
    size_t n = strcspn(c->name, ".");
    c->path = c->name;
    if (strncmp(c->name, trailer, sizeof trailer - 1) == 0) {
        c->of_trailer = true;
        c->path = c->name + sizeof trailer - 1;
        return;
    }
    if (!c->name[n])
        return;
    memcpy(record, c->name, n);
    record[n] = '\0';
    c->type = perfile_record_type_number(record);
    c->of_record = c->type != 0;
    c->path = c->name + (c->of_record ? n + 1 : 0);
}

/* False if the column is none of special[]. */
static bool set_special(pf_tsv_column *c)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (strcmp(c->name, special[i].name) != 0)
            continue;
        c->what = special[i].what;
        return true;
    }
    return false;
}

/* Called for each name of expressions: adds it to the candidates for a suggestion, as "record.name"
 * if the unknown name begins with that record. */
static void suggest(void *user, const perfile_expr_name *what)
{
    pf_nearest *suggestions = user, probe;
    const char *last = strrchr(what->name, '.');
    char qualified[PF_TSV_NAME];
    size_t n = strlen(what->record);
    if (what->list || !(what->type & FIELD_TYPES))
        return;
    if (n && strncmp(suggestions->wanted, what->record, n) == 0 && suggestions->wanted[n] == '.') {
        snprintf(qualified, sizeof qualified, "%s.%s", what->record, what->name);
        pf_nearest_offer(suggestions, qualified);
        return;
    }
    /* is_field() goes through all names, so it is only asked for the few that are similar. */
    pf_nearest_begin(&probe, suggestions->wanted);
    pf_nearest_offer(&probe, what->name);
    if (last)
        pf_nearest_offer_as(&probe, what->name, last + 1, 1);
    if (!probe.n || !is_field(what->name))
        return;
    pf_nearest_offer(suggestions, what->name);
    if (last)
        pf_nearest_offer_as(suggestions, what->name, last + 1, 1);
}

/* PERFILE_E_USAGE, with the names that may have been meant. */
static perfile_status no_such_field(const char *name, perfile_error *err)
{
    pf_nearest suggestions;
    char list[160];
    pf_nearest_begin(&suggestions, name);
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        pf_nearest_offer(&suggestions, special[i].name);
    perfile_expr_names(suggest, &suggestions);
    pf_nearest_put(&suggestions, list, sizeof list);
    return pf_fail(err, PERFILE_E_USAGE, "fields", "no field is called '%s'%s%s%s", name,
                   suggestions.n ? "; did you mean " : "", list, suggestions.n ? "?" : "");
}

/* Resolves one name of `n` bytes. */
static perfile_status set_column(pf_tsv_column *c, const char *name, size_t n, perfile_error *err)
{
    *c = (pf_tsv_column){.what = PF_TSV_FIELD};
    if (n >= sizeof c->name)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "no field is called '%.*s'", PF_TSV_NAME,
                       name);
    memcpy(c->name, name, n);
    if (set_special(c))
        return PERFILE_OK;
    if (!n)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "a field has no name");
    if (!is_field(c->name))
        return no_such_field(c->name, err);
    set_record(c);
    for (size_t i = 0; i < sizeof fixed_fields / sizeof fixed_fields[0]; i++) {
        if (strcmp(c->path, fixed_fields[i].name) != 0 || c->of_trailer ||
            (c->of_record && c->type != PERFILE_RECORD_SAMPLE))
            continue;
        c->bit = fixed_fields[i].bit;
        c->shift = fixed_fields[i].shift;
        c->is_hex = fixed_fields[i].is_hex;
        c->is_half = fixed_fields[i].is_half;
    }
    return PERFILE_OK;
}

perfile_status pf_tsv_columns(const char *names, pf_tsv_column *columns, uint32_t *n,
                              perfile_error *err)
{
    for (const char *p = names, *end;; p = end + 1) {
        end = p + strcspn(p, ",");
        if (*n == PF_TSV_MOST_COLUMNS)
            return pf_fail(err, PERFILE_E_USAGE, "fields", "more than %d fields",
                           PF_TSV_MOST_COLUMNS);
        perfile_status st = set_column(&columns[*n], p, (size_t)(end - p), err);
        if (st != PERFILE_OK)
            return st;
        ++*n;
        if (!*end)
            return PERFILE_OK;
    }
}

perfile_status perfile_emit_fields_check(const char *fields, bool *model, perfile_error *err)
{
    pf_tsv_column columns[PF_TSV_MOST_COLUMNS];
    uint32_t n = 0;
    perfile_status st = pf_tsv_columns(fields, columns, &n, err);
    *model = false;
    for (uint32_t i = 0; i < n; i++)
        *model |= columns[i].what == PF_TSV_COMM || columns[i].what == PF_TSV_DSO;
    return st;
}
