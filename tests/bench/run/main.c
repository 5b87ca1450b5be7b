/* run [--rounds N] [--megabytes N] [--only KIND] [--rows GROUPS] [--no-perf] [--json FILE]:
 * see README.md. */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether rows of this group are wanted: all, or those of --rows. */
static bool wants(const settings *set, const char *group)
{
    return !set->rows || strstr(set->rows, group);
}

static bool measure(const settings *set, unsigned kind)
{
    capture c, slice;
    if (!captures_make(set->dir, set->tools, kind, set->megabytes, false, &c))
        return false;
    printf("%s: %.0f MB, %llu records of %.0f bytes\n", c.path, (double)c.size / 1e6,
           (unsigned long long)c.n_records, (double)c.data_size / (double)c.n_records);
    if (wants(set, "loops"))
        loops_rows(set, &c);
    if (set->command[0] && wants(set, "commands"))
        commands_rows(set, &c);
    if (set->command[0] && wants(set, "exports"))
        exports_rows(set, &c);
    if (set->command[0] && wants(set, "stages"))
        stages_rows(set, &c);
    if (set->command[0] && wants(set, "wall"))
        wall_rows(set, &c);
    if (set->command[0] && wants(set, "archive"))
        archive_rows(set, &c);
    captures_release(&c);
    if (!set->command[0] || !wants(set, "dumps"))
        return true;
    if (!captures_make(set->dir, set->tools, kind, set->megabytes, true, &slice))
        return false;
    dumps_rows(set, &slice);
    captures_release(&slice);
    return true;
}

/* The programs of the build lie beside this one, the command one folder up. */
static void find_programs(settings *set, const char *self)
{
    snprintf(set->tools, sizeof set->tools, "%s", self);
    char *slash = strrchr(set->tools, '/');
    snprintf(slash ? slash : set->tools, 2, "%s", slash ? "" : ".");
    snprintf(set->command, sizeof set->command, "%s/../perfile", set->tools);
    if (access(set->command, X_OK) < 0)
        set->command[0] = 0;
}

static bool find_dir(settings *set)
{
    const char *given = getenv("PERFILE_BENCH_DIR");
    const char *tmp = getenv("TMPDIR");
    if (given)
        snprintf(set->dir, sizeof set->dir, "%s", given);
    else
        snprintf(set->dir, sizeof set->dir, "%s/perfile-bench", tmp ? tmp : "/tmp");
    (void)mkdir(set->dir, 0700);
    return access(set->dir, W_OK) == 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'},
        {"megabytes", required_argument, NULL, 'm'},
        {"only", required_argument, NULL, 'o'},
        {"json", required_argument, NULL, 'j'},
        {"no-perf", no_argument, NULL, 'p'},
        {"rows", required_argument, NULL, 'g'},
        {0},
    };
    settings set = {.rounds = 7, .megabytes = 256};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'r':
            set.rounds = (unsigned)atoi(optarg);
            break;
        case 'm':
            set.megabytes = (unsigned)atoi(optarg);
            break;
        case 'o':
            set.only = optarg;
            break;
        case 'j':
            set.json = optarg;
            break;
        case 'g':
            set.rows = optarg;
            break;
        case 'p':
            set.no_perf = true;
            break;
        default:
            return 2;
        }
    }
    find_programs(&set, argv[0]);
    if (!find_dir(&set)) {
        perror(set.dir);
        return 1;
    }
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        if (set.only && strcmp(set.only, kind_names[kind]) != 0)
            continue;
        if (!measure(&set, kind)) {
            fprintf(stderr, "bench: no capture of kind %s\n", kind_names[kind]);
            return 1;
        }
        fflush(stdout);
    }
    if (set.command[0] && wants(&set, "wall") && (!set.only || strcmp(set.only, "rounds") == 0))
        rounds_rows(&set);
    if (set.command[0] && wants(&set, "perfmon") && (!set.only || strcmp(set.only, "perfmon") == 0))
        perfmon_rows(&set);
    putchar('\n');
    table_print(stdout);
    if (set.json && !table_json(set.json)) {
        perror(set.json);
        return 1;
    }
    return 0;
}
