/* Rows of dumps, on small captures: perf takes minutes for large ones.  What is compared is
 * processor time, and perf has one thread: so have we. */
#include "bench.h"

#include <math.h>
#include <string.h>

enum { DUMP_ROUNDS = 3, OWN_ROUNDS = 15 /* they are short */ };

/* How long the bytes alone take: copied once and written to /dev/null. */
static double writing(uint64_t bytes)
{
    static char from[1 << 16], to[1 << 16];
    double start = cpu_time();
    FILE *f = fopen("/dev/null", "w");
    for (uint64_t n = 0; f && n < bytes; n += sizeof to) {
        memcpy(to, from, sizeof to);
        __asm__ volatile("" ::"r"(to) : "memory");
        if (fwrite(to, 1, sizeof to, f) != sizeof to)
            break;
    }
    if (f)
        fclose(f);
    return cpu_time() - start;
}

typedef struct dump_case {
    const char *what;
    const char *ours[8];
    const char *theirs[8];
    double required;
    bool no_stacks; /* perf does not show them */
} dump_case;

static void measure_dump(const settings *set, const capture *slice, const dump_case *d)
{
    const char *kind = kind_names[slice->kind];
    const char *ours[12] = {set->command, "dump", "-j", "1"}, *theirs[12] = {"perf"};
    size_t n = 4, m = 1;
    for (size_t i = 0; d->ours[i]; i++)
        ours[n++] = d->ours[i];
    ours[n] = slice->path;
    for (size_t i = 0; d->theirs[i]; i++)
        theirs[m++] = d->theirs[i];
    theirs[m++] = "-i";
    theirs[m] = slice->path;

    usage u = process_best(ours, slice, OWN_ROUNDS);
    if (!u.ok)
        return;
    uint64_t bytes = process_run(ours, NULL, true).bytes_out;
    char note[96];
    snprintf(note, sizeof note, "%.0f MB, %.0f MB/s; the bytes alone: 1/%.0f",
             (double)slice->size / 1e6, (double)bytes / u.seconds / 1e6,
             u.seconds / writing(bytes));
    printf("%-12s %-46s %s\n", kind, d->what, note);
    usage perf = {0};
    if (!set->no_perf)
        perf = process_best(theirs, slice, DUMP_ROUNDS);
    if (perf.ok && d->no_stacks && slice->kind == DWARF)
        table_row(kind, d->what, perf.seconds / u.seconds, "x", NAN, false,
                  "not the same work: perf leaves out registers and stacks");
    else if (perf.ok)
        table_row(kind, d->what, perf.seconds / u.seconds, "x", d->required, false, note);
    else if (!set->no_perf)
        table_row(kind, d->what, NAN, "", NAN, false, "perf fails");
    table_memory(kind, "the same: memory beyond the mapping", &u, 16);
}

static const dump_case dumps[] = {
    {"dump --format text / perf script -D", {"--format", "text"}, {"script", "-D"}, 20, false},
    {"dump --hex / perf script -D", {"--format", "text", "--hex"}, {"script", "-D"}, 10, false},
    {"dump --format jsonl / perf data convert",
     {"--format", "jsonl"},
     {"data", "convert", "--force", "--to-json", "/dev/null"},
     15,
     true},
};

void dumps_rows(const settings *set, const capture *slice)
{
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++)
        measure_dump(set, slice, &dumps[i]);
}
