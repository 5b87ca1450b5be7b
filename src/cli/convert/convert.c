/* `perfile convert`: the same capture in another form (file, pipe, directory), byte order,
 * compression, or for an older version of perf.  The work is perfile_convert_capture(). */
#include "cli/convert/convert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/convert/archive.h"
#include "cli/convert/target.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"

enum {
    OPTION_ORDER = CLI_OPTION_OWN,
    OPTION_TARGET,
    OPTION_KEEP,
    OPTION_DROP,
    OPTION_FORCE,
    OPTION_LEVEL,
    OPTION_VERIFY,
    OPTION_NO_VERIFY,
    OPTION_CHUNK,
    OPTION_APPEND,
    OPTION_EXPAND,
    OPTION_SCRUB,
    OPTION_LAYOUT,
    OPTION_RATE,
    OPTION_STAT,
    OPTION_CPU
};
enum { MAX_ARCHIVE_LEVEL = 19 };

/* The command line. */
typedef struct settings {
    cli_writing w;
    perfile_convert_options how;
    const char *packs; /* an option that only --to archive has, or NULL */
    bool repack;       /* archives among the inputs are decoded */
    bool append;
    perfile_perfmon_options perfmon;
    perfile_perfmon_rate *rates;
    uint32_t *cpus;
} settings;

enum { LITTLE, BIG, NATIVE };

static const char *order_word(size_t i)
{
    static const char *const words[] = {"little", "big", "native"};
    return i <= NATIVE ? words[i] : NULL;
}

/* Reads the value of --byte-order; native is that of this machine. */
static int read_order(const char *word, settings *set)
{
    const uint16_t one = 1;
    bool little_here = *(const uint8_t *)&one == 1; /* the first byte in memory is the low one */
    size_t which;
    int status = cli_choose("convert", "--byte-order", word, order_word, &which);
    bool little = which == LITTLE || (which == NATIVE && little_here);
    set->how.byte_order = little ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG;
    return status;
}

/* Enumerates the names of the targets, "perf-6.1". */
static const char *target_word(size_t i)
{
    enum { MOST = 64, BYTES = 24 };
    static char names[MOST][BYTES]; /* words of options stay valid, see cli_word */
    const char *version = i < MOST ? perfile_target_version_at(i) : NULL;
    if (!version)
        return NULL;
    snprintf(names[i], BYTES, "perf-%s", version);
    return names[i];
}

/* Reads the value of --target: any version that the library knows, also as "6.1". */
static int read_target(const char *word, settings *set)
{
    size_t which;
    set->how.target = word;
    if (perfile_target_attr_size(word))
        return CLI_CONTINUE;
    return cli_choose("convert", "--target", word, target_word, &which);
}

/* Reads the value of --level. */
static int read_archive_level(const char *word, settings *set)
{
    char *end = NULL;
    const long level = strtol(word, &end, 10);
    if (end == word || *end || level < 1 || level > MAX_ARCHIVE_LEVEL)
        return cli_usage("convert", "--level takes a number from 1 to %d, not '%s'",
                         MAX_ARCHIVE_LEVEL, word);
    set->w.packing.level = (int32_t)level;
    set->packs = "--level";
    set->repack = true;
    return CLI_CONTINUE;
}

/* Reads the value of --chunk-records. */
static int read_chunk_records(const char *word, settings *set)
{
    enum { MOST = 65536 };
    char *end = NULL;
    const long n = strtol(word, &end, 10);
    if (end == word || *end || n < 1 || n > MOST)
        return cli_usage("convert", "--chunk-records takes a number from 1 to %d, not '%s'", MOST,
                         word);
    set->w.packing.chunk_records = (uint32_t)n;
    set->packs = "--chunk-records";
    set->repack = true;
    return CLI_CONTINUE;
}

static const char *layout_word(size_t i)
{
    static const char *const words[] = {"a", "b"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

static int read_layout(const char *word, settings *set)
{
    size_t which;
    int status = cli_choose("convert", "--layout", word, layout_word, &which);
    set->perfmon.layout = which == 0 ? PERFILE_PERFMON_LAYOUT_A : PERFILE_PERFMON_LAYOUT_B;
    return status;
}

/* Reads a number at *at, also in hexadecimal, and moves *at behind it. */
static bool number_at(const char **at, uint64_t most, uint64_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 0);
    *at = end;
    return errno == 0 && *number <= most;
}

/* Reads the value of --rate, EVENT=N. */
static int read_rate(const char *word, settings *set)
{
    const char *at = word;
    uint64_t event, rate;
    if (!number_at(&at, UINT16_MAX, &event) || *at++ != '=' || !number_at(&at, UINT64_MAX, &rate) ||
        *at || rate == 0)
        return cli_usage("convert", "--rate takes EVENT=N, such as 0x801=10007, not '%s'", word);
    perfile_perfmon_rate *more =
        realloc(set->rates, (set->perfmon.n_rates + 1) * sizeof *set->rates);
    if (!more) {
        cli_message("out of memory");
        return CLI_FAILED;
    }
    set->rates = more;
    more[set->perfmon.n_rates++] = (perfile_perfmon_rate){.event = (uint32_t)event, .rate = rate};
    return CLI_CONTINUE;
}

/* Reads the value of --cpu, N[,N...]. */
static int read_cpus(const char *word, settings *set)
{
    const char *at = word;
    do {
        uint64_t cpu;
        uint32_t *more = realloc(set->cpus, (set->perfmon.n_cpus + 1) * sizeof *more);
        if (!more) {
            cli_message("out of memory");
            return CLI_FAILED;
        }
        set->cpus = more;
        if (!number_at(&at, UINT16_MAX - 1, &cpu) || (*at && *at != ','))
            return cli_usage("convert", "--cpu takes processors such as 0,1,3, not '%s'", word);
        more[set->perfmon.n_cpus++] = (uint32_t)cpu;
    } while (*at++);
    return CLI_CONTINUE;
}

/* Handles one option, its value in `optarg`: CLI_CONTINUE, or the exit status. */
static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_ORDER:
        return read_order(optarg, set);
    case OPTION_TARGET:
        return read_target(optarg, set);
    case OPTION_KEEP:
        set->how.flags &= ~(uint32_t)PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_DROP:
        set->how.flags |= PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_FORCE: /* --force is older than --on-damage and still implies copy; -f does not */
        set->w.replace = true;
        if (!set->w.has_on_damage)
            set->w.copy = true;
        return CLI_CONTINUE;
    case OPTION_LEVEL:
        return read_archive_level(optarg, set);
    case OPTION_VERIFY:
        set->w.packing.flags &= ~(uint32_t)PERFILE_ARCHIVE_NO_VERIFY;
        set->packs = "--verify";
        return CLI_CONTINUE;
    case OPTION_NO_VERIFY:
        set->w.packing.flags |= PERFILE_ARCHIVE_NO_VERIFY;
        set->packs = "--no-verify";
        return CLI_CONTINUE;
    case OPTION_CHUNK:
        return read_chunk_records(optarg, set);
    case OPTION_EXPAND:
        set->how.flags |= PERFILE_CONVERT_EXPAND;
        return CLI_CONTINUE;
    case OPTION_SCRUB:
        set->how.flags |= PERFILE_CONVERT_SCRUB;
        return CLI_CONTINUE;
    case OPTION_APPEND:
        set->append = true;
        set->packs = "--append";
        return CLI_CONTINUE;
    case OPTION_LAYOUT:
        return read_layout(optarg, set);
    case OPTION_RATE:
        return read_rate(optarg, set);
    case OPTION_STAT:
        set->perfmon.flags |= PERFILE_PERFMON_STAT;
        return CLI_CONTINUE;
    case OPTION_CPU:
        return read_cpus(optarg, set);
    case 'j':
        return cli_jobs_option("convert", optarg, &set->w.packing.threads);
    default:
        return cli_writing_option("convert", &cli_convert_spec, option, &set->w);
    }
}

/* True if directories can be written: not for a target that is older than them. */
static bool target_has_directories(const settings *set)
{
    return !set->how.target ||
           perfile_target_has_feature(set->how.target, PERFILE_FEATURE_DIR_FORMAT);
}

/* The default is to fail, since convert promises the same capture; but what comes through a pipe
 * cannot be read again, and a recording that was killed is not thrown away. */
static uint32_t policy(const cli_writing *w)
{
    if (w->copy || (!w->has_on_damage && cli_signals_has_pipe()))
        return PERFILE_ON_DAMAGE_COPY;
    return !w->has_on_damage || w->fail ? PERFILE_ON_DAMAGE_FAIL : w->on_damage;
}

/* Completes the options of the library. */
static void complete(settings *set)
{
    /* A directory stays a directory, unless --to or the target does not allow that. */
    set->w.packing.threads = cli_jobs(set->w.packing.threads);
    set->w.keeps_directory = target_has_directories(set);
    set->how.note = cli_conversion_note;
    set->how.progress = cli_writing_progress;
    set->how.form = set->w.form;
    set->how.format = set->w.format;
    set->how.from = set->w.from;
    set->how.limits = set->w.limits;
    set->how.on_damage = policy(&set->w);
    set->perfmon.rates = set->rates;
    set->perfmon.cpus = set->cpus;
    set->how.perfmon = &set->perfmon;
}

/* Runs the conversion of one capture and returns the exit status. */
static int convert(settings *set, const cli_inputs *in)
{
    const char *path = in->at[0];
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    cli_conversion x = {.name = cli_input_name(path),
                        .out = set->w.out,
                        .json = set->w.json,
                        .scrubs = set->how.flags & PERFILE_CONVERT_SCRUB};
    if (cli_writing_open_several(&set->w, (const char *const *)in->at, in->n, set->w.directory,
                                 &source, &sink) != CLI_DONE)
        return CLI_FAILED;
    set->how.user = &x;
    cli_writing_begin(x.name);
    cli_conversion_begin(&x);
    perfile_status st =
        perfile_convert_capture(source, sink, &set->how, &x.sum, sizeof x.sum, &err);
    cli_conversion_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x.sum.damaged);
}

static const cli_option options[] = {
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "the new capture; - is standard output",
     .more = "Standard output is for pipes, and for captures that need no change."},
    {"force", .letter = 'f', .code = OPTION_FORCE,
     .help = "replace OUT if it exists; --force also means --on-damage copy",
     .more = "Only the long form implies that, for compatibility."},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_output_word,
     .help =
         "the form of the output; perf.data, pipe, dir, perfmon or archive; default: that of IN",
     .more = "perf.data (or file) is a file, pipe a stream, dir a directory. The files "
             "of kcore_dir (perf record --kcore) stay with a directory, also in an archive; other "
             "files in a directory are not copied, and a message names them. An archive has "
             "every byte of IN, whatever IN is, compressed and under checksums; all commands read "
             "it, and convert without --to gives IN back."},
    {"level", .value = "N", .code = OPTION_LEVEL,
     .help = "how hard to compress an archive, 1 (fast) to 19; default: 3"},
    {"no-verify", .code = OPTION_NO_VERIFY,
     .help = "do not decode what was packed to compare it with IN"},
    {"verify", .code = OPTION_VERIFY},
    {"append", .code = OPTION_APPEND,
     .help = "add to the captures of an archive OUT, if it is there",
     .more = "What it has is not changed. If that fails or is interrupted, OUT is as it was."},
    {"chunk-records", .value = "N", .code = OPTION_CHUNK,
     .help = "records in a chunk of an archive at most; default: 65536",
     .more = "With fewer an archive is larger, and a small part of it is read faster."},
    {.rows = cli_jobs_options},
    {"byte-order", .value = "ORDER", .code = OPTION_ORDER, .word = order_word,
     .help = "byte order of every field; little, big or native; default: that of IN",
     .more = "native is that of this machine. Every field of every record, trailer, sample, "
             "feature and attr is byte-swapped. The bytes of RAW, AUX area traces and stacks, and "
             "tracepoint formats, which name their byte order themselves, stay as recorded. "
             "Compressed records are decompressed for that."},
    {"compress", .value = "[=LEVEL]", .code = CLI_OPTION_COMPRESS,
     .help = "compress records, 1 (fast, default) to 22",
     .more = "Records of the kernel are compressed, with zstd."},
    {"decompress", .code = CLI_OPTION_DECOMPRESS,
     .help = "replace compressed records by their content",
     .more = "Without this option and --compress they are copied where their content does not "
             "change."},
    {"expand", .code = OPTION_EXPAND,
     .help = "pack the content of compressed records into an archive, not these",
     .more = "The archive is smaller, and commands find what they search in it without reading all "
             "of it. Then convert gives back a capture with the same records, not the bytes of IN: "
             "the archive says so (perfile info). An IN without compressed records is packed as it "
             "is."},
    {"scrub", .code = OPTION_SCRUB,
     .help = "zero the bytes that mean nothing: of user stacks, strings and padding",
     .more = "The kernel leaves old bytes of its buffer behind the valid part of each stack "
             "(--call-graph dwarf): memory of other processes, and up to half of the capture. "
             "Archives get smaller, and say that they are scrubbed. Compressed records are "
             "decompressed."},
    {"target", .value = "VERSION", .code = OPTION_TARGET, .word = target_word,
     .help = "for this version of perf, 3.8 to 7.3, such as perf-4.19, perf-5.10, perf-6.1",
     .more =
         "What that version does not know is left out or rewritten to what it knows, and each "
         "loss is reported. Compressed records are decompressed. A directory becomes one file "
         "for versions without directories (before 5.1). The result is read once more: what that "
         "version still does not read is said, and the exit status is 3 (not if OUT is a "
         "pipe)."},
    {"keep-unknown", .code = OPTION_KEEP, .help = "keep unknown records and features (default)",
     .more = "With another byte order their content stays as it was."},
    {"drop-unknown", .code = OPTION_DROP, .help = "leave unknown records and features out"},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_copy_word,
     .help = "what happens at damage; fail: write nothing (default); copy: copy every byte, or "
             "where the form changes, "
             "believe all records (default where IN is a pipe); stop: convert what is before the "
             "damage; "
             "salvage or resync: continue after it with records that can be trusted",
     .more = "fail reports what is wrong and where. An intact capture is copied with any of them, "
             "except that stop, resync and salvage rewrite directories. `perfile recover` "
             "examines more closely what can be trusted."},
    {"layout", .value = "L", .code = OPTION_LAYOUT, .word = layout_word,
     .help = "perfmon buffers to perf.data: ids of events have a group of 6 bits (a) or 5 (b)",
     .more = "Without it the ids that there are decide; if they do not, it is a."},
    {"rate", .value = "EVENT=N", .code = OPTION_RATE,
     .help = "perfmon buffers to perf.data: a sample of this event (its id) stands for N of them",
     .more = "It may be given for each event. Buffers do not say it; without it periods count "
             "samples."},
    {"stat", .code = OPTION_STAT,
     .help = "perfmon buffers to perf.data: counts as `perf stat record` has them",
     .more = "For buffers of nothing but times and counts, for `perf stat report`."},
    {"cpu", .value = "N[,N ...]", .code = OPTION_CPU,
     .help = "perfmon buffers to perf.data: processors of the buffers, in the order of the files",
     .more = "Without it they follow from the names of the files, PREFIX.ITERATION.CPU.cpuperf, or "
             "from their order. Files of a directory are in the order of their names."},
    {"json", .code = CLI_OPTION_JSON,
     .help = "a JSON object with everything that changed, see format/reports.md",
     .more = "It goes to standard output. --report json is the same."},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_convert_spec = {
    .about = "perfile convert writes a capture in another form.  What needs no change is copied "
             "byte for "
             "byte.\n"
             "\n"
             "Usage: perfile convert [OPTION ...] -o OUT IN\n"
             "       perfile convert --to archive [OPTION ...] -o OUT IN ...\n"
             "       perfile convert --to perf.data [OPTION ...] -o OUT BUFFER ...\n"
             "\n"
             "An archive can have several captures: one of each IN.  An IN that is an archive "
             "itself is\n"
             "copied as it is, with all its captures; --level and --chunk-records pack it again.\n",

    .options = options,
    .notes =
        "Examples:\n"
        "  perf record -o - make | perfile convert --to perf.data -o perf.data -\n"
        "  perfile convert --to pipe -o - perf.data | perf inject -b > with-ids\n"
        "  perfile convert --byte-order little -o here.data s390.data\n"
        "  perfile convert --compress=9 -o small.data perf.data\n"
        "  perfile convert --to archive --append -o year.perfile today.data\n"
        "  perfile convert --to perf.data --rate 0x801=100 -o a "
        "samples/captures/perfmon-sampling.cpuperf\n"
        "\n"
        "Exit status: 0 converted; 3 converted, but IN was damaged, or the perf of --target does\n"
        "not read all of OUT; 1 not converted.\n",
};

/* True if the options ask for more than the same bytes. */
static bool changes_captures(const settings *set)
{
    const perfile_convert_options *how = &set->how;
    return how->flags || how->byte_order || how->target || set->w.has_on_damage || set->w.copy ||
           set->w.from;
}

/* Passes --compress and --decompress on: without them compressed records are copied. */
static void take_compression(settings *set)
{
    const int32_t level = set->w.compress_level;
    if (level)
        set->how.flags |= level > 0 ? PERFILE_CONVERT_COMPRESS : PERFILE_CONVERT_DECOMPRESS;
    set->how.level = level > 0 ? level : 0;
}

/* Checks that the options go together: CLI_CONTINUE, or CLI_USAGE. */
static int check(const settings *set, const cli_inputs *in)
{
    /* With another --to the driver decides: the buffers of all processors are one capture. */
    if (!set->w.has_form && in->n > 1)
        return cli_usage("convert",
                         "'%s' is a second input: only an archive holds several (--to archive)",
                         in->at[1]);
    if (set->how.flags & PERFILE_CONVERT_COMPRESS && set->how.flags & PERFILE_CONVERT_EXPAND)
        return cli_usage("convert", "give --compress or --expand, not both");
    if (set->how.flags & PERFILE_CONVERT_EXPAND && !set->w.archive)
        return cli_usage("convert",
                         "--expand is for archives: give --to archive, or --decompress instead");
    if (set->packs && !set->w.archive)
        return cli_usage("convert", "%s is for archives: give --to archive", set->packs);
    if (set->append && strcmp(set->w.out, "-") == 0)
        return cli_usage("convert", "--append needs a file: OUT is standard output");
    if (set->w.directory && !target_has_directories(set))
        return cli_usage("convert", "%s cannot read directories: give --to perf.data or pipe",
                         set->how.target);
    return CLI_CONTINUE;
}

static int to_archive(settings *set, const cli_inputs *in)
{
    const cli_archive_output o = {.w = &set->w,
                                  .how = &set->how,
                                  .inputs = *in,
                                  .append = set->append,
                                  .repack = set->repack || changes_captures(set)};
    return cli_convert_to_archive(&o);
}

/* Runs what the command line asks for and returns the exit status. */
static int run(settings *set, const cli_inputs *in)
{
    complete(set);
    const char *out = set->w.out, *target = strcmp(out, "-") == 0 ? NULL : set->how.target;
    const uint32_t before = target && set->append ? cli_captures_in(out, set->w.limits) : 0;
    const int status = set->w.archive ? to_archive(set, in) : convert(set, in);
    return !target || status == CLI_FAILED
               ? status
               : cli_worse(status, cli_check_target(out, target, before, set->w.limits));
}

int cli_convert(int argc, char **argv)
{
    settings set = {.w = {.may_copy = true},
                    .how = {.size = sizeof set.how},
                    .perfmon = {.size = sizeof set.perfmon}};
    cli_inputs in = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("convert", argc, argv, &cli_convert_spec)) != -1;)
        status = read_option(c, &set);
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("convert", argc, argv, &in);
    if (status == CLI_CONTINUE)
        status = cli_writing_check("convert", &set.w);
    take_compression(&set);
    if (status == CLI_CONTINUE)
        status = check(&set, &in);
    if (status == CLI_CONTINUE)
        status = run(&set, &in);
    free(set.rates);
    free(set.cpus);
    return status;
}
