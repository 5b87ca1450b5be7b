/* The tables of format/tables.def (schema.h). */
#include "arrow/schema.h"

#include <string.h>

/* One array for all tables, indexed by the enumerators of schema.h.  There is an empty description
 * before and after the columns of each table. */
static const pf_column_about columns[] = {
#define TABLE(name, rows, doc) {0},
#define COLUMN(table, type, name, unit, source, doc)                                               \
    {#name, unit, source, doc, PF_COLUMN_##type, false},
#define GROUP(table, name, source, doc) {#name, "", source, doc, PF_COLUMN_GROUP, false},
#define LIST(table, name, source, doc)  {#name, "", source, doc, PF_COLUMN_LIST, false},
#define MEMBER(table, parent, type, name, unit, source, doc)                                       \
    {#name, unit, source, doc, PF_COLUMN_##type, true},
#define END(table) {0},
#include "perfile/format/tables.def"
};

const pf_table_about pf_all_tables[PF_N_TABLES] = {
#define TABLE(name, rows, doc)                                                                     \
    {#name, rows, doc, columns + PF_BEGIN_##name + 1, PF_END_##name - PF_BEGIN_##name - 1},
#include "perfile/format/tables.def"
};

size_t pf_table_named(const char *name, size_t length)
{
    size_t i = 0;
    while (i < PF_N_TABLES && (strlen(pf_all_tables[i].name) != length ||
                               memcmp(pf_all_tables[i].name, name, length) != 0))
        i++;
    return i;
}
