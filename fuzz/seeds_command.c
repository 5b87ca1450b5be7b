/* Seeds of fuzz_command.c.  The commands come from commands.def, their options from --help, so none
 * is forgotten; only values of options are listed here. */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "seeds.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, summary) {#name, cli_##name},
#include "cli/commands.def"
};

/* Returns the words that a command needs besides an option. */
static const char *usual_of(const char *command)
{
    static const char *const usual[][2] = {
        {"list", "threads"},      {"convert", "-o\nout"},
        {"filter", "-o\nout"},    {"merge", "-o\nout\nref"},
        {"recover", "-o\nout"},   {"sort", "-o\nout"},
        {"split", "-o\npart-%d"}, {"damage", "-o\nout\n--do\nrecord-size-0"}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(usual[i][0], command) == 0)
            return usual[i][1];
    return NULL;
}

enum { MOST_VALUES = 10 };

/* Values by the word that --help uses for them; several are used in turn. */
static const struct {
    const char *of;
    const char *words[MOST_VALUES];
} values[] = {
    {"OUT", {"out", "in", "ref", "-", "out.dir"}},
    {"PATTERN", {"part-%d", "in", "%s.data", "ref"}},
    {"FORM", {"jsonl", "cbor", "text", "json", "sarif", "tsv", "pipe", "dir", "perf.data"}},
    {"ORDER", {"little", "big", "native", "bytes", "key"}},
    {"VERSION", {"perf-6.1", "perf-3.16", "perf-5.10", "perf-7.3"}},
    {"FORMAT", {"perf.data", "none"}},
    {"LEVEL", {"9", "1"}},
    {"T[,T", {"sample,mmap2", "9,10", "comm", "64"}},
    {"TYPE", {"SAMPLE,MMAP2", "COMM"}},
    {"N", {"2", "0", "1", "18446744073709551616"}},
    {"OFFSET", {"0x1a8", "300"}},
    {"A..B", {"10%..80%", "0x400000..", "..5010ns", "+1ns..+20ns", "0.000005..1"}},
    {"LIST", {"100", "0-3,7", "callchain,raw", "7,100-199"}},
    {"NAME", {"work", "w*", "cycles", "1"}},
    {"EXPR", {"period > 1 && cpumode == USER", "any(callchain, . == USER)"}},
    {"SIZE", {"2M", "64K", "600"}},
    {"WHAT", {"resync", "salvage", "fail", "stop", "copy"}},
    {"TIME", {"10ns", "1s"}},
    {"IN=TIME", {"2=+1.5ms", "ref=-20us"}},
    {"KEY", {"tid", "comm", "event", "cpu", "pid"}},
    {"KEY[,KEY", {"comm,event", "time=10ns", "type,cpu,pid,tid"}},
    {"REF", {"ref", "in"}},
    {"EVENT", {"cycles:sample_type=IP|TID|TIME|PERIOD"}},
    {"RULE", {"V-302"}},
    {"R[,R", {"V-3", "V-101,V-302"}},
    {"S", {"error", "warning"}},
    {"json", {"json"}},
    {"start", {"start"}},
    {"NAME[,NAME", {"record-size-0", "count-too-large", "time-back,string-no-end", "bit-flipped"}},
    {"DIR", {"made"}},
    {"FIELDS", {"time,comm,pid,event,ip"}},
};

static const char *value_of(const char *word, size_t len, unsigned turn)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strlen(values[i].of) != len || memcmp(values[i].of, word, len) != 0)
            continue;
        unsigned n = 0;
        while (n < MOST_VALUES && values[i].words[n])
            n++;
        return values[i].words[turn % n];
    }
    return "1";
}

static void put_line(const char *folder, const char *command, const char *option, const char *value)
{
    static unsigned turn;
    char name[128];
    builder b;
    unsigned form = turn % (2 * CAPTURE_FORMS);
    /* If an option replaces a word that the command needs, that word is left out. */
    const char *usual = usual_of(command);
    if (option && usual && strcmp(option, "--output") == 0)
        usual = strcmp(command, "merge") == 0 ? "ref" : NULL;
    capture_make(&b, form / 2, form % 2, 3);
    build_u8(&b, 0);
    build_bytes(&b, command, strlen(command));
    build_bytes(&b, "\nin", 3);
    if (usual) {
        build_u8(&b, '\n');
        build_bytes(&b, usual, strlen(usual));
    }
    if (option) {
        build_u8(&b, '\n');
        build_bytes(&b, option, strlen(option));
    }
    if (value) {
        build_u8(&b, '\n');
        build_bytes(&b, value, strlen(value));
    }
    if (strcmp(command, "split") == 0 && turn % 2)
        build_bytes(&b, "\n--records\n2", 12);
    build_u8(&b, (uint8_t)(4 + turn % 4 / 3)); /* one in four is a directory */
    turn++;
    snprintf(name, sizeof name, "%s%s-%s", command, option ? option : "", value ? value : "");
    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.=", *at))
            *at = '_';
    seeds_put(folder, "command", name, &b);
    build_clear(&b);
}

/* Parses "  -o, --output OUT   the new capture", "  --compress[=LEVEL] …": one seed for each
 * value. */
static void put_option(const char *folder, const char *command, char *help)
{
    char *option = strstr(help, "--");
    size_t n = option ? strspn(option + 2, "abcdefghijklmnopqrstuvwxyz-") + 2 : 0;
    if (!option || n == 2 || help[strspn(help, " ")] != '-')
        return;
    char *what = option + n;
    bool glued = strncmp(what, "[=", 2) == 0;
    what += glued ? 2 : strspn(what, " ") == 1;
    size_t len = strcspn(what, glued ? "]\n" : " \n");
    if (!glued && strncmp(option + n, "  ", 2) == 0)
        len = 0;
    option[n] = '\0';
    if (len == 0) {
        put_line(folder, command, option, NULL);
        return;
    }
    const char *first = value_of(what, len, 0);
    for (unsigned i = 0; i < MOST_VALUES; i++) {
        const char *value = value_of(what, len, i);
        if (i == 0 || value != first)
            put_line(folder, command, option, value);
        else
            break;
    }
}

void seeds_put_commands(const char *folder)
{
    char path[] = "/tmp/perfile-help-XXXXXX", help[512], option[] = "--help";
    int fd = mkstemp(path), own = dup(STDOUT_FILENO);
    FILE *f = fdopen(fd, "r");
    if (fd < 0 || own < 0 || !f || unlink(path) != 0)
        abort();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *words[] = {option, option, NULL};
        put_line(folder, commands[i].name, NULL, NULL);
        put_line(folder, commands[i].name, "-f", "-oin");
        optind = 0;
        if (ftruncate(fd, 0) != 0 || dup2(fd, STDOUT_FILENO) < 0)
            abort();
        commands[i].run(2, words);
        fflush(stdout);
        dup2(own, STDOUT_FILENO);
        rewind(f);
        while (fgets(help, sizeof help, f))
            put_option(folder, commands[i].name, help);
    }
    static const char *const lists[] = {"events",   "ids",       "processes", "threads",
                                        "mappings", "build-ids", "features",  "cpus"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        put_line(folder, "list", "--json", lists[i]);
    fclose(f);
    close(own);
}
