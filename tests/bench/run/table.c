/* The table of ratios at the end of the benchmark: rows, what is required, JSON. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1024 };

static struct row {
    const char *kind, *unit;
    double value, required;
    bool at_most;
    char what[80];
    char note[96];
} rows[MAX_ROWS];
static size_t n_rows;

void table_row(const char *kind, const char *what, double value, const char *unit, double required,
               bool at_most, const char *note)
{
    if (n_rows == MAX_ROWS) { /* a row that is not there would count as one that holds */
        fprintf(stderr, "more than %d rows\n", MAX_ROWS);
        exit(1);
    }
    struct row *r = &rows[n_rows++];
    *r = (struct row){
        .kind = kind, .unit = unit, .value = value, .required = required, .at_most = at_most};
    snprintf(r->what, sizeof r->what, "%s", what);
    snprintf(r->note, sizeof r->note, "%s", note ? note : "");
}

void table_memory(const char *kind, const char *what, const usage *u, double most)
{
    if (u->ok)
        table_row(kind, what, u->anonymous_mb, "MB", most, true, "");
}

static bool holds(const struct row *r)
{
    return isnan(r->required) || (r->at_most ? r->value <= r->required : r->value >= r->required);
}

void table_print(FILE *f)
{
    size_t missed = 0;
    fprintf(f, "%-12s %-52s %9s %-5s %9s  %s\n", "CAPTURE", "WHAT", "MEASURED", "", "REQUIRED", "");
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];
        char required[32] = "";
        if (!isnan(r->required))
            snprintf(required, sizeof required, "%s %.4g", r->at_most ? "<=" : ">=", r->required);
        char value[32] = "-";
        if (!isnan(r->value))
            snprintf(value, sizeof value, "%.2f", r->value);
        fprintf(f, "%-12s %-52s %9s %-5s %9s  %s%s%s\n", r->kind, r->what, value, r->unit, required,
                holds(r) ? "" : "MISSED", !holds(r) && r->note[0] ? "; " : "", r->note);
        missed += !holds(r);
    }
    fprintf(f, "%zu of the requirements missed\n", missed);
}

bool table_json(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fputs("[\n", f);
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];
        char value[32] = "null";
        if (!isnan(r->value))
            snprintf(value, sizeof value, "%.6g", r->value);
        fprintf(f, "{\"capture\":\"%s\",\"what\":\"%s\",\"value\":%s,\"unit\":\"%s\"", r->kind,
                r->what, value, r->unit);
        if (!isnan(r->required))
            fprintf(f, ",\"required\":%.6g,\"at_most\":%s,\"holds\":%s", r->required,
                    r->at_most ? "true" : "false", holds(r) ? "true" : "false");
        if (r->note[0])
            fprintf(f, ",\"note\":\"%s\"", r->note);
        fprintf(f, "}%s\n", i + 1 < n_rows ? "," : "");
    }
    fputs("]\n", f);
    return fclose(f) == 0;
}
