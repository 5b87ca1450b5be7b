/* The version of the tables. */
#ifndef PF_ARROW_COMMAND_H
#define PF_ARROW_COMMAND_H

#include "perfile/table.h"

/* Returns the version of the tables, which is in the column schema_version of the table `captures`.
 * It grows when columns or tables are added. */
uint32_t pf_tables_version(void);

/* What perfile_row() and perfile_name() ask of the tables. */
const char *pf_column_type_name(uint32_t type);
bool pf_describe_table(size_t position, perfile_table *out, size_t size);
bool pf_describe_column(size_t table, size_t position, perfile_column *out, size_t size);

#endif
