/* Iteration over the rows of an option table; spec.h describes the table. */
#include "cli/spec.h"

#include <stdio.h>

cli_rows cli_rows_of(const cli_spec *spec)
{
    return (cli_rows){.next = spec->options};
}

const cli_option *cli_next_row(cli_rows *rows)
{
    for (;;) {
        const cli_option *o = rows->next;
        if (o->rows) { /* a reference: enter that table */
            rows->back = o + 1;
            rows->next = o->rows;
        } else if (o->name || o->heading) {
            rows->next++;
            return o;
        } else if (rows->back) { /* end of a referenced table: return to the first one */
            rows->next = rows->back;
            rows->back = NULL;
        } else {
            return NULL;
        }
    }
}

const cli_option *cli_next_documented(cli_rows *rows)
{
    const cli_option *o = cli_next_row(rows);
    while (o && (o->heading || !o->help))
        o = cli_next_row(rows);
    return o;
}

const char *cli_option_label(const cli_option *o, char *out, size_t size)
{
    char letter[8] = "";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *between = !o->value || o->value[0] == '[' ? "" : " ";
    snprintf(out, size, "%s--%s%s%s", letter, o->name, between, o->value ? o->value : "");
    return out;
}
