/* Rows of archives: how small they are, how fast they are made and restored beside zstd, and what a
 * command reads of them.
 *
 * What is compared takes turns, and the best of each counts.  Where zstd has something to do it is
 * the program, one thread, writing a file as the command does. */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfile/perfile.h"

enum { MOST_ARGS = 16, PATH_BYTES = 4096 + 16, MOST_MB = 256 };

#define ARCHIVE_SUFFIX ".perfile"
#define ONE_PERCENT    "50%..51%" /* of the time */

/* What is required, by kind of capture; NAN: nothing. */
static const struct {
    double of_zstd_records, of_zstd_19, pack, restore, one_percent;
} required[N_KINDS] = {
    [FLAT] = {0.50, 0.62, 0.8, 1, 0.1},
    [CHAINS] = {0.50, 0.62, 0.8, 1, 0.1},
    [TRACEPOINTS] = {0.50, 0.62, 0.35, 0.6, 0.1},
    [DWARF] = {0.70, NAN, NAN, 0.6, NAN},
};

typedef struct runner {
    const char *argv[MOST_ARGS];
    const char *const *with; /* a command that runs at the same time; NULL: none */
    usage best;              /* seconds and wall each the least, memory the most */
} runner;

/* One after the other, `rounds` times. */
static void take_turns(const capture *c, runner *all, size_t n, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++) {
            usage *best = &all[i].best;
            captures_ready(c);
            const usage u = all[i].with ? process_pair(all[i].argv, all[i].with)
                                        : process_run(all[i].argv, NULL, false);
            if (!u.ok)
                continue;
            best->seconds = best->ok ? fmin(u.seconds, best->seconds) : u.seconds;
            best->wall = best->ok ? fmin(u.wall, best->wall) : u.wall;
            best->anonymous_mb = fmax(u.anonymous_mb, best->anonymous_mb);
            best->ok = true;
        }
    }
    captures_ready(c);
}

/* How many times as fast `ours` is as `theirs`, by processor time. */
static void speed_row(const char *kind, const char *what, const runner *ours, const runner *theirs,
                      double needed)
{
    char note[64];
    if (!ours->best.ok || !theirs->best.ok) {
        printf("%-12s %s: it failed\n", kind, what);
        return;
    }
    snprintf(note, sizeof note, "%.2f s beside %.2f s", ours->best.seconds, theirs->best.seconds);
    table_row(kind, what, theirs->best.seconds / ours->best.seconds, "x", needed, false, note);
}

static double file_bytes(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 ? (double)sb.st_size : NAN;
}

static void size_row(const char *kind, const char *what, const char *archive, const char *other,
                     double most)
{
    char note[64];
    snprintf(note, sizeof note, "%.2f MB beside %.2f MB", file_bytes(archive) / 1e6,
             file_bytes(other) / 1e6);
    table_row(kind, what, file_bytes(archive) / file_bytes(other), "", most, true, note);
}

/* What `zstd -19` makes of the capture is kept: it takes minutes. */
static bool make_zstd_19(const capture *c, char *path)
{
    struct stat of, there;
    char part[PATH_BYTES + 8];
    int n = snprintf(path, PATH_BYTES, "%.*s-19.zst", (int)(strlen(c->path) - strlen(".data")),
                     c->path);
    if (n < 0 || n >= PATH_BYTES || stat(c->path, &of) < 0)
        return false;
    if (stat(path, &there) == 0 && there.st_mtime >= of.st_mtime)
        return true;
    snprintf(part, sizeof part, "%s.part", path);
    const char *const argv[] = {"zstd", "-q", "-19", "-f", "-o", part, c->path, NULL};
    if (process_run(argv, NULL, false).ok && rename(part, path) == 0)
        return true;
    unlink(part);
    return false;
}

static void size_rows(const settings *set, const capture *c, const char *archive)
{
    const char *kind = kind_names[c->kind];
    char form[sizeof c->path], packed[PATH_BYTES];
    if (captures_make_form(set->tools, c, FORM_ZSTD, form))
        size_row(kind, "archive: size / COMPRESSED records", archive, form,
                 required[c->kind].of_zstd_records);
    if (make_zstd_19(c, packed))
        size_row(kind, "archive: size / zstd -19", archive, packed, required[c->kind].of_zstd_19);
}

static void pack_rows(const settings *set, const capture *c)
{
    const char *kind = kind_names[c->kind];
    char out[PATH_BYTES], twin[PATH_BYTES];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    snprintf(twin, sizeof twin, "%s.twin", c->path);
    enum { ONE, TWO, PAIR, ZSTD, N };
    const char *const other[] = {set->command, "convert", "-f", "--to", "archive", "--no-verify",
                                 "-j",         "1",       "-o", twin,   c->path,   NULL};
    runner r[N] = {
        [ONE] = {.argv = {set->command, "convert", "-f", "--to", "archive", "--no-verify", "-j",
                          "1", "-o", out, c->path}},
        [TWO] = {.argv = {set->command, "convert", "-f", "--to", "archive", "--no-verify", "-j",
                          "2", "-o", out, c->path}},
        [PAIR] = {.argv = {set->command, "convert", "-f", "--to", "archive", "--no-verify", "-j",
                           "1", "-o", out, c->path},
                  .with = other},
        [ZSTD] = {.argv = {"zstd", "-q", "-3", "-T1", "--single-thread", "-f", "-o", out, c->path}},
    };
    take_turns(c, r, N, set->rounds);
    speed_row(kind, "archive: packing / zstd -3", &r[ONE], &r[ZSTD], required[c->kind].pack);
    unlink(twin);
    if (r[ONE].best.ok && r[TWO].best.ok && r[PAIR].best.ok) {
        /* 1.5 of the 2 that two processors gain at best, as with the other -j rows (wall.c). */
        const double share = 1.5 / 2, gain = 2 * r[ONE].best.wall / r[PAIR].best.wall;
        char note[64];
        snprintf(note, sizeof note, "two commands at once gain %.2f x", gain);
        table_row(kind, "wall: archive: packing -j 2 / -j 1", r[ONE].best.wall / r[TWO].best.wall,
                  "x", share * fmin(2, gain), false, note);
    }
    table_memory(kind, "archive: packing -j 1: memory", &r[ONE].best, MOST_MB);
    table_memory(kind, "archive: packing -j 2: memory", &r[TWO].best, MOST_MB);
}

static void restore_rows(const settings *set, const capture *c, const char *archive)
{
    const char *kind = kind_names[c->kind];
    char out[PATH_BYTES], packed[PATH_BYTES];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    snprintf(packed, sizeof packed, "%s-3.zst", c->path);
    const char *const pack[] = {"zstd", "-q", "-3", "-f", "-o", packed, c->path, NULL};
    runner r[] = {{.argv = {set->command, "convert", "-f", "-o", out, archive}},
                  {.argv = {"zstd", "-q", "-d", "-f", "-o", out, packed}}};
    if (process_run(pack, NULL, false).ok)
        take_turns(c, r, 2, set->rounds);
    speed_row(kind, "archive: restoring / zstd -d", &r[0], &r[1], required[c->kind].restore);
    table_memory(kind, "archive: restoring: memory", &r[0].best, MOST_MB);
    unlink(packed);
}

/* Takes a file out of the page cache. */
static void forget_cached(int fd)
{
    (void)fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Bytes of a mapped file that are in the page cache; NAN: not known. */
static double cached_bytes(void *mapped, size_t size)
{
    static unsigned char pages[1 << 20];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    double cached = 0;
    if (size > page * sizeof pages || mincore(mapped, size, pages) != 0)
        return NAN;
    for (size_t i = 0; i * page < size; i++)
        cached += pages[i] & 1 ? (double)page : 0;
    return cached;
}

static bool filter_bytes(perfile_bytes archive)
{
    static const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TIME, .text = ONE_PERCENT};
    const perfile_filter_options options = {.size = sizeof options, .n_terms = 1, .terms = &term};
    perfile_source *source;
    perfile_sink *sink;
    perfile_status st = perfile_sink_memory("filtered", &sink, NULL);
    if (st != PERFILE_OK)
        return false;
    st = perfile_source_memory(archive, "archive", &source, NULL);
    if (st == PERFILE_OK) /* closes the source in any case */
        st = perfile_filter_capture(source, sink, &options, NULL, NULL, 0, NULL, 0, NULL);
    perfile_sink_close(sink);
    return st == PERFILE_OK;
}

/* How many bytes of an archive a filter touches, in pages; NAN: not known.  By the library, on a
 * mapping without reading ahead that begins with an empty page cache: the command maps the archive,
 * too, but how much the kernel reads ahead depends on the machine. */
static double filter_reads(const char *archive)
{
    struct stat sb;
    double bytes = NAN;
    const int fd = open(archive, O_RDONLY | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &sb) == 0)
        p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) {
        const size_t size = (size_t)sb.st_size;
        (void)madvise(p, size, MADV_RANDOM);
        forget_cached(fd);
        if (cached_bytes(p, size) == 0 && filter_bytes((perfile_bytes){p, size}))
            bytes = cached_bytes(p, size);
        munmap(p, size);
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static void bytes_read_row(const char *kind, const char *what, const char *archive)
{
    char note[64];
    const double bytes = filter_reads(archive);
    snprintf(note, sizeof note, "%.0f kB", bytes / 1e3);
    if (isnan(bytes))
        printf("%-12s %s: not known\n", kind, what);
    else
        table_row(kind, what, bytes / file_bytes(archive), "", 0.15, true, note);
}

static void filter_rows(const settings *set, const capture *c, const char *archive)
{
    const char *kind = kind_names[c->kind];
    char out[PATH_BYTES], note[64];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    runner r[] = {
        {.argv = {set->command, "filter", "-f", "--time", ONE_PERCENT, "-o", out, archive}},
        {.argv = {set->command, "filter", "-f", "--time", ONE_PERCENT, "-o", out, c->path}},
    };
    captures_cache(archive);
    take_turns(c, r, 2, set->rounds);
    snprintf(note, sizeof note, "%.1f ms beside %.1f ms", 1e3 * r[0].best.wall,
             1e3 * r[1].best.wall);
    if (!r[0].best.ok || !r[1].best.ok)
        printf("%-12s filter of an archive: it failed\n", kind);
    else
        table_row(kind, "wall: archive: filter 1 % / of the capture",
                  r[0].best.wall / r[1].best.wall, "", required[c->kind].one_percent, true, note);
    bytes_read_row(kind, "archive: filter 1 %: bytes read / all", archive);
    captures_ready(c);
}

/* Chunks of an archive: by its headers, each of which says how long the chunk is. */
static unsigned long count_chunks(const char *path)
{
    enum { HEADER = 64 };
    uint8_t header[HEADER];
    unsigned long n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (off_t at = HEADER; fd >= 0 && pread(fd, header, HEADER, at) == HEADER; n++) {
        uint32_t lengths[2]; /* of metadata and payload */
        memcpy(lengths, header + 24, sizeof lengths);
        at += HEADER + ((off_t)lengths[0] + 7) / 8 * 8 + (off_t)lengths[1];
        at = (at + HEADER - 1) / HEADER * HEADER;
    }
    if (fd >= 0)
        close(fd);
    return n;
}

static void overview_rows(const settings *set, const capture *c, const char *archive)
{
    const double most = 20 + 1e-3 * (double)count_chunks(archive);
    runner r[] = {{.argv = {set->command, "stats", archive}},
                  {.argv = {set->command, "info", archive}}};
    captures_cache(archive);
    take_turns(c, r, 2, set->rounds);
    for (size_t i = 0; i < 2; i++) {
        char what[64];
        snprintf(what, sizeof what, "wall: archive: %s", r[i].argv[1]);
        if (r[i].best.ok)
            table_row(kind_names[c->kind], what, 1e3 * r[i].best.wall, "ms", most, true, "");
    }
}

void archive_rows(const settings *set, const capture *c)
{
    char archive[PATH_BYTES];
    snprintf(archive, sizeof archive, "%s" ARCHIVE_SUFFIX, c->path);
    const char *const pack[] = {set->command, "convert", "-f",    "--to", "archive",
                                "-o",         archive,   c->path, NULL};
    if (!process_run(pack, NULL, false).ok) {
        printf("%-12s no archive can be made of it\n", kind_names[c->kind]);
        return;
    }
    printf("%-12s archive: %.2f MB in %lu chunks, %.1f %% of the capture\n", kind_names[c->kind],
           file_bytes(archive) / 1e6, count_chunks(archive),
           100 * file_bytes(archive) / (double)c->size);
    size_rows(set, c, archive);
    pack_rows(set, c);
    restore_rows(set, c, archive);
    filter_rows(set, c, archive);
    overview_rows(set, c, archive);
    unlink(archive);
}
