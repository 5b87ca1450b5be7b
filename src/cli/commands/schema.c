/* `perfile schema`: the tables that `perfile export --to parquet` writes, and the meaning of their
 * columns, as text, JSON or SQL; and views on these tables. */
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "perfile/table.h"
#include "arrow/command.h"

/* The lines of format/views.sql and views_clickhouse.sql, made by cmake/views.cmake, and NULL after
 * the last one. */
#ifdef PERFILE_WITH_VIEWS
#include <views.inc>
#else /* this file is compiled alone */
static const char *const views_duckdb[] = {NULL}, *const views_clickhouse[] = {NULL};
#endif

enum { OPTION_FORMAT = CLI_OPTION_OWN, OPTION_DIALECT };

CLI_WORDS(format_word, "text", "json", "sql", "views")
CLI_WORDS(dialect_word, "duckdb", "clickhouse")

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_SQL, FORMAT_VIEWS };
enum { DUCKDB, CLICKHOUSE };

typedef struct settings {
    size_t format, dialect;
    bool has_dialect;
} settings;

static const char *table_word(size_t i)
{
    perfile_table t;
    return perfile_table_at(i, &t, sizeof t) ? t.name : NULL;
}

/* Returns the number of members of the structure at `position`. */
static size_t count_members(size_t table, size_t position)
{
    perfile_column c;
    size_t n = 0;
    while (perfile_table_column(table, position + 1 + n, &c, sizeof c) && c.parent == position)
        n++;
    return n;
}

/* Text. */

/* Prints a text, padded to `width` columns. */
static void put_wide(const char *text, size_t width)
{
    const size_t columns = cli_columns(text, strlen(text));
    cli_print("%s%*s", text, columns < width ? (int)(width - columns) : 0, "");
}

static void print_text(size_t table, const perfile_table *t)
{
    enum { INDENT = 4, GAP = 2, TYPE = 7, UNIT = 7 };
    size_t width = 0;
    perfile_column c;
    for (size_t i = 0; perfile_table_column(table, i, &c, sizeof c); i++) {
        const size_t own = strlen(c.name) + (c.parent == PERFILE_NO_COLUMN ? 0 : GAP);
        width = own > width ? own : width;
    }
    cli_print("%s: ", t->name);
    cli_print("%s\n", t->doc);
    cli_print("  a row is %s\n", t->rows);
    for (size_t i = 0; perfile_table_column(table, i, &c, sizeof c); i++) {
        const size_t indent = c.parent == PERFILE_NO_COLUMN ? 0 : GAP;
        cli_print("%*s", (int)(INDENT + indent), "");
        put_wide(c.name, width - indent + GAP);
        put_wide(perfile_column_type_name(c.type), TYPE);
        put_wide(c.unit, UNIT);
        cli_print("%s", c.doc);
        cli_print("  [%s]\n", c.source);
    }
}

/* JSON. */

static void begin_column(const perfile_column *c)
{
    cli_json_object(NULL);
    cli_json_string("name", c->name);
    cli_json_string("type", perfile_column_type_name(c->type));
    cli_json_string("unit", *c->unit ? c->unit : NULL);
    cli_json_string("source", c->source);
    cli_json_string("doc", c->doc);
}

static void print_json(size_t table, const perfile_table *t)
{
    perfile_column c;
    cli_json_object(NULL);
    cli_json_string("name", t->name);
    cli_json_string("rows", t->rows);
    cli_json_string("doc", t->doc);
    cli_json_array("columns");
    for (size_t i = 0; perfile_table_column(table, i, &c, sizeof c); i++) {
        const size_t members = count_members(table, i);
        begin_column(&c);
        if (members)
            cli_json_array("members");
        for (size_t k = 0; k < members; k++) {
            perfile_table_column(table, ++i, &c, sizeof c);
            begin_column(&c);
            cli_json_object_end();
        }
        if (members)
            cli_json_array_end();
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
}

/* SQL. */

/* Types of columns that are not structures, by PERFILE_COLUMN_…. */
static const char *const sql_types[][2] = {
    {"BOOLEAN", "Bool"},
    {"INTEGER", "Int32"},
    {"BIGINT", "Int64"},
    {"UBIGINT", "UInt64"},
    {"DOUBLE", "Float64"},
    {"VARCHAR", "String"},
    {"TIMESTAMP WITH TIME ZONE", "DateTime64(6, 'UTC')"},
    {"VARCHAR[]", "Array(String)"},
    {"BIGINT[]", "Array(Int64)"},
};

/* Prints the type of a column that is not a structure.  `always`: it is never null. */
static void put_type(const perfile_column *c, size_t dialect, bool always)
{
    const char *word = sql_types[c->type][dialect];
    const bool is_list = c->type == PERFILE_COLUMN_TEXTS || c->type == PERFILE_COLUMN_I64S;
    if (dialect == CLICKHOUSE && !always && !is_list)
        cli_print("Nullable(%s)", word);
    else
        cli_print("%s%s", word, dialect == DUCKDB && always ? " NOT NULL" : "");
}

/* Prints the type of a structure, or of a list of structures.  Its members follow it in the
 * table. */
static void put_structure(size_t table, size_t position, size_t dialect)
{
    const size_t members = count_members(table, position);
    perfile_column c;
    perfile_table_column(table, position, &c, sizeof c);
    const bool is_list = c.type == PERFILE_COLUMN_LIST;
    cli_print("%s", dialect == DUCKDB ? "STRUCT(" : is_list ? "Array(Tuple(" : "Tuple(");
    for (size_t k = 1; k <= members; k++) {
        perfile_table_column(table, position + k, &c, sizeof c);
        cli_print("%s\"%s\" ", k == 1 ? "" : ", ", c.name);
        put_type(&c, dialect, false);
    }
    cli_print("%s", !is_list ? ")" : dialect == DUCKDB ? ")[]" : "))");
}

/* Prints a table as SQL.  The first column of each table is the id of the capture or of content,
 * and never null. */
static void print_sql(size_t table, const perfile_table *t, size_t dialect)
{
    perfile_column c;
    cli_print("-- %s\n", t->doc);
    cli_print("CREATE TABLE \"%s\" ( -- a row is %s\n", t->name, t->rows);
    for (size_t i = 0; perfile_table_column(table, i, &c, sizeof c);) {
        const size_t members = count_members(table, i);
        cli_print("    \"%s\" ", c.name);
        if (members)
            put_structure(table, i, dialect);
        else
            put_type(&c, dialect, i == 0);
        cli_print("%s -- %s", i + members + 1 < t->n_columns ? "," : "", c.doc);
        cli_print(*c.unit ? " (%s)\n" : "%s\n", c.unit);
        i += members + 1;
    }
    perfile_table_column(table, 0, &c, sizeof c);
    if (dialect == CLICKHOUSE)
        cli_print(") ENGINE = MergeTree ORDER BY \"%s\";\n", c.name);
    else
        cli_print(");\n");
}

static void print_views(size_t dialect)
{
    const char *const *line = dialect == DUCKDB ? views_duckdb : views_clickhouse;
    for (; *line; line++)
        cli_print_help(false, *line);
}

/* The command. */

static void print_table(const settings *set, size_t table, bool first)
{
    perfile_table t;
    perfile_table_at(table, &t, sizeof t);
    if (!first && set->format != FORMAT_JSON)
        cli_print("\n");
    if (set->format == FORMAT_JSON)
        print_json(table, &t);
    else if (set->format == FORMAT_SQL)
        print_sql(table, &t, set->dialect);
    else
        print_text(table, &t);
}

/* Prints the tables that the operands name, or all tables without operands. */
static void print_tables(const settings *set, int argc, char **argv)
{
    if (set->format == FORMAT_JSON) {
        cli_json_object(NULL);
        cli_json_number("schema_version", pf_tables_version());
        cli_json_array("tables");
    }
    for (size_t i = 0; optind == argc && table_word(i); i++)
        print_table(set, i, i == 0);
    for (int k = optind; k < argc; k++)
        for (size_t i = 0; table_word(i); i++)
            if (strcmp(table_word(i), argv[k]) == 0)
                print_table(set, i, k == optind);
    if (set->format == FORMAT_JSON) {
        cli_json_array_end();
        cli_json_object_end();
        cli_json_line();
    }
}

static const cli_option options[] = {
    {"format", .value = "FORM", .code = OPTION_FORMAT, .word = format_word,
     .help =
         "the form of the output; text (default): for people; json: an object; sql: CREATE TABLE "
         "statements; views: views for these tables",
     .more = "format/reports.md describes the JSON. The views are self and inclusive sums by "
             "function, folded stacks, samples per second, and times off CPUs; "
             "format/tables.md shows how they are used."},
    {"dialect", .value = "WORD", .code = OPTION_DIALECT, .word = dialect_word,
     .help = "SQL of which engine; duckdb (default) or clickhouse"},
    {"json", .code = CLI_OPTION_JSON, .help = "the same as --format json"},
    {"help", .code = CLI_OPTION_HELP, .help = "explain the command, with examples"},
    {"version", .code = CLI_OPTION_VERSION, .help = "print the version of perfile"},
    {0},
};

const cli_spec cli_schema_spec = {
    .about = "perfile schema prints which tables `perfile export --to parquet` writes, and\n"
             "what each column says: name, type, unit, meaning, and in brackets where its\n"
             "values come from.  No capture is read.\n"
             "\n"
             "Usage: perfile schema [OPTION ...] [TABLE ...]\n",
    .options = options,
    .notes = "Types are bool, i32, i64, u64, f64, text (UTF-8), wall (µs since 1970, UTC),\n"
             "texts and i64s (lists), group and list (a structure and a list of structures;\n"
             "members follow).\n"
             "\n"
             "Examples:\n"
             "  perfile schema                                all tables\n"
             "  perfile schema samples stacks frames          these\n"
             "  perfile schema --format sql --dialect clickhouse samples\n"
             "  perfile schema --format views >views.sql      for DuckDB\n"
             "  perfile schema --json | jq '.tables[].name'\n"
             "\n"
             "Exit status: 0 printed; 2 wrong usage.\n",
    .subject = table_word,
};

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_FORMAT:
        return cli_choose("schema", "--format", optarg, format_word, &set->format);
    case OPTION_DIALECT:
        set->has_dialect = true;
        return cli_choose("schema", "--dialect", optarg, dialect_word, &set->dialect);
    case CLI_OPTION_JSON:
        set->format = FORMAT_JSON;
        return CLI_CONTINUE;
    default: /* help, version, and unknown options */
        return cli_common_option(&cli_schema_spec, option, NULL, NULL);
    }
}

/* Checks which options and operands can be combined. */
static int check(const settings *set, int argc, char **argv)
{
    size_t which;
    int status = CLI_CONTINUE;
    if (set->has_dialect && set->format != FORMAT_SQL && set->format != FORMAT_VIEWS)
        return cli_usage("schema", "--dialect goes with --format sql or views");
    if (set->format == FORMAT_VIEWS && optind < argc)
        return cli_usage("schema", "--format views takes no TABLE: the views belong together");
    for (int i = optind; i < argc && status == CLI_CONTINUE; i++)
        status = cli_choose("schema", "TABLE", argv[i], table_word, &which);
    return status;
}

int cli_schema(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("schema", argc, argv, &cli_schema_spec)) != -1;)
        status = read_option(c, &set);
    if (status == CLI_CONTINUE)
        status = check(&set, argc, argv);
    if (status != CLI_CONTINUE)
        return status;
    if (set.format == FORMAT_VIEWS)
        print_views(set.dialect);
    else
        print_tables(&set, argc, argv);
    return CLI_DONE;
}
