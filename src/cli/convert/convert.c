#include "cli/convert/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"

static const char help[] =
    "perfile convert writes a capture in another form.  What needs no change is not changed.\n"
    "\n"
    "Usage: perfile convert [OPTION ...] -o OUT IN\n"
    "\n"
    "  -o, --output OUT      the new capture; - is standard output\n"
    "  -f, --force           replace OUT if it exists; --force also means --on-damage copy\n"
    "  --to FORM             perf.data, pipe or dir; else that of IN\n"
    "  --byte-order ORDER    little, big or native: of every field; else that of IN\n"
    "  --compress[=LEVEL]    compress records, 1 (fast, default) to 22\n"
    "  --decompress          write what is in compressed records instead of them\n"
    "  --target VERSION      for this perf, 3.8 to 7.3: perf-4.19, perf-5.10, perf-6.1 …\n"
    "  --keep-unknown        keep records and features that are not known (default)\n"
    "  --drop-unknown        leave them out\n"
    "  --on-damage WHAT      fail: write nothing (default); copy: every byte as it is, or where "
    "the\n"
    "                        form changes, as resync; stop: convert what is in front of damage;\n"
    "                        resync: go on where records begin again; salvage: with those that\n"
    "                        can be trusted\n"
    "  --json                a JSON object with all that is not as it was, see "
    "format/reports.md\n" CLI_INPUT_HELP("     ") CLI_COMMON_HELP(
        "     ") "\n"
                 "Examples:\n"
                 "  perf record -o - make | perfile convert --to perf.data -o perf.data -\n"
                 "  perfile convert --to pipe -o - perf.data | perf inject -b > with-ids\n"
                 "  perfile convert --byte-order little -o here.data s390.data\n"
                 "  perfile convert --compress=9 -o small.data perf.data\n"
                 "\n"
                 "Exit status: 0 converted; 3 converted, but IN was damaged; 1 not converted.\n";

enum {
    OPTION_ORDER = CLI_OPTION_OWN,
    OPTION_COMPRESS,
    OPTION_DECOMPRESS,
    OPTION_TARGET,
    OPTION_KEEP,
    OPTION_DROP,
    OPTION_FORCE
};
enum { LEVEL_MOST = 22 };

typedef struct settings {
    cli_writing w;
    perfile_convert_options how;
} settings;

static int read_order(const char *word, settings *set)
{
    enum { LITTLE, BIG, NATIVE };
    static const char *const words[] = {"little", "big", "native"};
    const uint16_t one = 1;
    bool little_here = *(const uint8_t *)&one == 1;
    size_t which;
    int status = cli_choose("convert", "--byte-order", word, words, 3, &which);
    bool little = which == LITTLE || (which == NATIVE && little_here);
    set->how.byte_order = little ? PERFILE_ORDER_LITTLE : PERFILE_ORDER_BIG;
    return status;
}

static int read_level(const char *word, settings *set)
{
    char *end = NULL;
    long level = word ? strtol(word, &end, 10) : 0;
    if (word && (end == word || *end || level < 1 || level > LEVEL_MOST))
        return cli_usage("convert", "--compress takes a level from 1 to %d: '%s'", LEVEL_MOST,
                         word);
    set->how.flags |= PERFILE_CONVERT_COMPRESS;
    set->how.level = (int32_t)level;
    return CLI_CONTINUE;
}

/* Takes a version that is known, or says which are. */
static int read_target(const char *word, settings *set)
{
    enum { MOST = 64, BYTES = 24 };
    char names[MOST][BYTES];
    const char *known[MOST];
    size_t n = 0, which;
    set->how.target = word;
    if (perfile_target_attr_size(word))
        return CLI_CONTINUE;
    for (; n < MOST && perfile_target_version_at(n); n++) {
        snprintf(names[n], BYTES, "perf-%s", perfile_target_version_at(n));
        known[n] = names[n];
    }
    return cli_choose("convert", "--target", word, known, n, &which);
}

static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_ORDER:
        return read_order(optarg, set);
    case OPTION_COMPRESS:
        return read_level(optarg, set);
    case OPTION_DECOMPRESS:
        set->how.flags |= PERFILE_CONVERT_DECOMPRESS;
        return CLI_CONTINUE;
    case OPTION_TARGET:
        return read_target(optarg, set);
    case OPTION_KEEP:
        set->how.flags &= ~(uint32_t)PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_DROP:
        set->how.flags |= PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_FORCE: /* what it was before --on-damage */
        set->w.replace = true;
        if (!set->w.told_damage)
            set->w.copy = true;
        return CLI_CONTINUE;
    default:
        return cli_writing_option("convert", help, option, &set->w);
    }
}

static bool knows_directories(const settings *set)
{
    return !set->how.target ||
           perfile_target_has_feature(set->how.target, PERFILE_FEATURE_DIR_FORMAT);
}

static int convert(settings *set, const char *path)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    cli_conversion x = {.name = cli_input_name(path), .out = set->w.out, .json = set->w.json};
    bool directory =
        set->w.told_form ? set->w.directory : cli_is_directory(path) && knows_directories(set);
    if (cli_writing_open(&set->w, path, directory, &source, &sink) != CLI_DONE)
        return CLI_FAILED;
    set->how.note = cli_conversion_note;
    set->how.progress = cli_writing_progress;
    set->how.form = set->w.form;
    set->how.format = set->w.format;
    set->how.from = set->w.from;
    set->how.limits = set->w.limits;
    set->how.on_damage = set->w.copy                           ? PERFILE_CONVERT_COPY
                         : !set->w.told_damage || set->w.fail  ? PERFILE_CONVERT_FAIL
                         : set->w.on_damage == PERFILE_RESYNC  ? PERFILE_CONVERT_RESYNC
                         : set->w.on_damage == PERFILE_SALVAGE ? PERFILE_CONVERT_SALVAGE
                                                               : PERFILE_CONVERT_STOP;
    set->how.user = &x;
    cli_writing_begin(x.name);
    cli_conversion_begin(&x);
    perfile_status st = perfile_convert(source, sink, &set->how, &x.sum, sizeof x.sum, &err);
    cli_conversion_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x.sum.damaged);
}

int cli_convert(int argc, char **argv)
{
    static const struct option options[] = {
        CLI_WRITING_OPTIONS,
        {"to", required_argument, NULL, CLI_OPTION_TO},
        {"byte-order", required_argument, NULL, OPTION_ORDER},
        {"compress", optional_argument, NULL, OPTION_COMPRESS},
        {"decompress", no_argument, NULL, OPTION_DECOMPRESS},
        {"target", required_argument, NULL, OPTION_TARGET},
        {"keep-unknown", no_argument, NULL, OPTION_KEEP},
        {"drop-unknown", no_argument, NULL, OPTION_DROP},
        {"force", no_argument, NULL, OPTION_FORCE},
        {0},
    };
    settings set = {.w = {.may_copy = true}, .how = {.size = sizeof set.how}};
    const char *in;
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("convert", argc, argv, "o:f", options)) != -1;)
        status = read_option(c, &set);
    if (status != CLI_CONTINUE)
        return status;
    status = cli_writing_input("convert", argc, argv, &set.w, &in);
    if (status != CLI_CONTINUE)
        return status;
    if (set.how.flags & PERFILE_CONVERT_COMPRESS && set.how.flags & PERFILE_CONVERT_DECOMPRESS)
        return cli_usage("convert", "--compress or --decompress, not both");
    if (set.w.directory && !knows_directories(&set))
        return cli_usage("convert", "%s knows no directories: --to perf.data or pipe",
                         set.how.target);
    return convert(&set, in);
}
