/* `info` of an archive with several captures: a line for each, as a table of contents. */
#include <inttypes.h>

#include "cli/archive.h"
#include "cli/captures.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/info/info.h"
#include "cli/print.h"
#include "cli/text.h"

cli_table *cli_info_captures_new(void)
{
    static const char *const columns[] = {">CAPTURE", "NAME",  "CAPTURED", "HOST",
                                          ">SAMPLES", "STATE", "COMMAND"};
    return cli_table_new(columns, sizeof columns / sizeof columns[0]);
}

void cli_info_captures_add(const cli_info_facts *x, cli_table *t)
{
    char text[40];
    uint64_t wall;
    bool of_file;
    cli_cell(t, "%" PRIu32, cli_capture_of(x->in.path));
    cli_cell_string(t, x->packed.name);
    if (cli_info_captured(x, &wall, &of_file)) {
        cli_format_wall_time(wall, text, sizeof text);
        cli_cell(t, "%.19sZ", text);
    } else {
        cli_cell(t, "-");
    }
    cli_cell_string(t, perfile_session_fact(x->session, PERFILE_FACT_HOSTNAME));
    if (x->walked)
        cli_cell(t, "%" PRIu64, x->samples);
    else
        cli_cell(t, "-");
    cli_cell(t, "%s", cli_damage_count(&x->in) ? "damaged" : "intact");
    cli_cell_string(t, perfile_session_fact(x->session, PERFILE_FACT_CMDLINE));
}

bool cli_info_captures_print(const char *path, const perfile_limits *limits, cli_table *t)
{
    perfile_archive *a;
    perfile_archive_summary s;
    char file[CLI_SHELL_WORD];
    cli_print("%-13s%s", "file", path);
    if (cli_archive_open(path, limits, false, &a, NULL) == PERFILE_OK) {
        perfile_archive_get_summary(a, &s, sizeof s);
        cli_print("\n%-13s", "archive");
        cli_archive_print(&s);
        perfile_archive_close(a);
    } else {
        cli_print("\n");
    }
    cli_print("\n");
    const bool ok = cli_table_print(t);
    if (cli_shell_file(path, file, sizeof file)) {
        cli_print("\n%-13s", "next");
        cli_print("perfile info --source N %s\n", file);
    }
    return ok;
}
