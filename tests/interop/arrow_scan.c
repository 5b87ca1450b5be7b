/* arrow_scan LIBDUCKDB CAPTURE QUERY TABLE...: reads tables of a capture into DuckDB, through
 * perfile_table_stream(), and prints the rows of a query in columns apart by tabs.  A table is
 * called as here; of tracepoints the name of the event with _ in place of the colon.
 *
 * DuckDB is loaded when the program runs: nobody needs it to build the tests.  It cannot project a
 * plain stream, so that each table is copied first. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/perfile.h"

/* What is used of the C interface of DuckDB. */
typedef struct result {
    uint64_t counts[3]; /* columns, rows, changed: not used any more */
    void *columns;
    char *message;
    void *internal;
} result;

static struct {
    int (*open)(const char *path, void **database);
    void (*close)(void **database);
    int (*connect)(void *database, void **connection);
    void (*disconnect)(void **connection);
    int (*query)(void *connection, const char *sql, result *out);
    void (*destroy_result)(result *out);
    const char *(*result_error)(result *out);
    uint64_t (*row_count)(result *out);
    uint64_t (*column_count)(result *out);
    char *(*value_varchar)(result *out, uint64_t column, uint64_t row);
    void (*free)(void *text);
    int (*arrow_scan)(void *connection, const char *name, void *stream);
} duckdb;

static void find(void *library, const char *name, void *at)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "arrow_scan: DuckDB has no %s\n", name);
        exit(1);
    }
    memcpy(at, &found, sizeof found);
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "arrow_scan: %s\n", dlerror());
        exit(1);
    }
    find(library, "duckdb_open", &duckdb.open);
    find(library, "duckdb_close", &duckdb.close);
    find(library, "duckdb_connect", &duckdb.connect);
    find(library, "duckdb_disconnect", &duckdb.disconnect);
    find(library, "duckdb_query", &duckdb.query);
    find(library, "duckdb_destroy_result", &duckdb.destroy_result);
    find(library, "duckdb_result_error", &duckdb.result_error);
    find(library, "duckdb_row_count", &duckdb.row_count);
    find(library, "duckdb_column_count", &duckdb.column_count);
    find(library, "duckdb_value_varchar", &duckdb.value_varchar);
    find(library, "duckdb_free", &duckdb.free);
    find(library, "duckdb_arrow_scan", &duckdb.arrow_scan);
}

static bool run(void *connection, const char *sql, bool prints)
{
    result r;
    const bool ok = duckdb.query(connection, sql, &r) == 0;
    if (!ok)
        fprintf(stderr, "arrow_scan: %s\n", duckdb.result_error(&r));
    for (uint64_t row = 0; ok && prints && row < duckdb.row_count(&r); row++)
        for (uint64_t i = 0, n = duckdb.column_count(&r); i < n; i++) {
            char *text = duckdb.value_varchar(&r, i, row);
            printf("%s%c", text ? text : "null", i + 1 < n ? '\t' : '\n');
            duckdb.free(text);
        }
    duckdb.destroy_result(&r);
    return ok;
}

/* Copies a table into the database. */
static bool copy_table(void *connection, const char *capture, const char *table)
{
    perfile_source *source = NULL;
    struct ArrowArrayStream rows;
    perfile_error err;
    char name[128], sql[512];
    perfile_status st = perfile_source_path(capture, NULL, &source, &err);
    if (st == PERFILE_OK)
        st = perfile_table_stream(source, table, NULL, &rows, &err);
    if (st != PERFILE_OK) {
        fprintf(stderr, "arrow_scan: %s: %s\n", table, err.message);
        perfile_source_close(source);
        return false;
    }
    const char *event = strchr(table, '=');
    snprintf(name, sizeof name, "%s", event ? event + 1 : table);
    for (char *p = name; *p; p++)
        *p = *p == ':' ? '_' : *p;
    snprintf(sql, sizeof sql, "create table \"%s\" as from rows", name);
    bool ok = duckdb.arrow_scan(connection, "rows", &rows) == 0;
    if (!ok)
        fprintf(stderr, "arrow_scan: DuckDB does not take the stream of %s\n", table);
    ok = ok && run(connection, sql, false) && run(connection, "drop view rows", false);
    if (rows.release)
        rows.release(&rows);
    return ok;
}

int main(int argc, char **argv)
{
    void *database, *connection;
    if (argc < 5) {
        fprintf(stderr, "usage: arrow_scan LIBDUCKDB CAPTURE QUERY TABLE...\n");
        return 2;
    }
    load(argv[1]);
    if (duckdb.open(NULL, &database) || duckdb.connect(database, &connection))
        return 1;
    bool ok = true;
    for (int i = 4; i < argc && ok; i++)
        ok = copy_table(connection, argv[2], argv[i]);
    ok = ok && run(connection, argv[3], true);
    duckdb.disconnect(&connection);
    duckdb.close(&database);
    return !ok;
}
