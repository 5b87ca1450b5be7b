/* The descriptions of tables in the public API (perfile/table.h). */
#include "perfile/table.h"

#include <string.h>

#include "arrow/schema.h"
#include "arrow/command.h"

/* Copies `full` as far as it fits the caller's version of the struct. */
static bool give(void *out, size_t size, const void *full, size_t full_size)
{
    memset(out, 0, size);
    memcpy(out, full, size < full_size ? size : full_size);
    return true;
}

bool pf_describe_table(size_t position, perfile_table *out, size_t size)
{
    if (position >= PF_N_TABLES)
        return false;
    const pf_table_about *about = &pf_all_tables[position];
    const perfile_table full = {
        .name = about->name, .rows = about->rows, .doc = about->doc, .n_columns = about->n};
    return give(out, size, &full, sizeof full);
}

bool pf_describe_column(size_t table, size_t position, perfile_column *out, size_t size)
{
    if (table >= PF_N_TABLES || position >= pf_all_tables[table].n)
        return false;
    const pf_column_about *columns = pf_all_tables[table].columns;
    const pf_column_about *about = &columns[position];
    uint32_t parent = PERFILE_NO_COLUMN;
    if (about->is_member) {
        size_t at = position;
        while (columns[at].is_member)
            at--;
        parent = (uint32_t)at;
    }
    const perfile_column full = {.name = about->name,
                                 .unit = about->unit,
                                 .source = about->source,
                                 .doc = about->doc,
                                 .type = (uint32_t)about->type,
                                 .parent = parent};
    return give(out, size, &full, sizeof full);
}

/* The public numbers are the same as the internal ones. */
#define SAME(name)                                                                                 \
    _Static_assert((int)PERFILE_COLUMN_##name == (int)PF_COLUMN_##name, "numbers of " #name)
SAME(BOOL);
SAME(I32);
SAME(I64);
SAME(U64);
SAME(F64);
SAME(TEXT);
SAME(WALL);
SAME(TEXTS);
SAME(I64S);
SAME(GROUP);
SAME(LIST);

const char *pf_column_type_name(uint32_t type)
{
    static const char *const names[] = {"bool", "i32",   "i64",  "u64",   "f64", "text",
                                        "wall", "texts", "i64s", "group", "list"};
    return type < sizeof names / sizeof names[0] ? names[type] : NULL;
}

uint32_t pf_tables_version(void)
{
    return PF_TABLES_VERSION;
}
