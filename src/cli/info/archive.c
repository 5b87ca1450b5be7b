/* `info --chunks` and `info --columns`: opens the archive and prints the parts that are asked for.
 */
#include "cli/info/archive.h"

#include "cli/command.h"
#include "cli/damage.h"
#include "cli/json.h"
#include "cli/print.h"
#include "cli/signals.h"

static perfile_status print_parts(perfile_archive *a, const cli_reading *how, unsigned what,
                                  bool json, bool *damaged, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (what & CLI_INFO_CHUNKS)
        st = cli_info_chunks(a, json, damaged, err);
    if (st == PERFILE_OK && what == (CLI_INFO_CHUNKS | CLI_INFO_COLUMNS) && !json)
        cli_print("\n");
    if (st == PERFILE_OK && what & CLI_INFO_COLUMNS)
        st = cli_info_columns(a, how, json, damaged, err);
    return st;
}

int cli_info_archive(const char *path, const cli_reading *how, unsigned what, bool json)
{
    const char *name = cli_input_name(path);
    perfile_archive *a;
    perfile_archive_summary s;
    perfile_error err = {0};
    cli_signals_file(name);
    perfile_status st = cli_archive_open(path, how->limits, true, &a, &err);
    if (st == PERFILE_END)
        cli_message("%s: not an archive", name);
    else if (st != PERFILE_OK)
        cli_report_error(name, &err);
    if (st != PERFILE_OK)
        return CLI_FAILED;
    perfile_archive_get_summary(a, &s, sizeof s);
    bool damaged = cli_archive_is_damaged(&s);
    if (json) {
        cli_json_object(NULL);
        cli_json_string("file", name);
        cli_archive_json(&s, NULL);
    } else {
        cli_print("%-13s%s", "file", name);
        cli_print("\n%-13s", "archive");
        cli_archive_print(&s);
        cli_print("\n");
    }
    st = print_parts(a, how, what, json, &damaged, &err);
    if (json) {
        cli_json_object_end();
        cli_json_line();
    }
    perfile_archive_close(a);
    cli_signals_file(NULL);
    if (st == PERFILE_OK)
        return damaged ? CLI_DAMAGED : CLI_DONE;
    if (st == PERFILE_E_NOMEM)
        cli_message("%s: out of memory", name);
    else
        cli_report_error(name, &err);
    return CLI_FAILED;
}
