/* The driver of perfmon buffers: recognizes them, and makes a stream from a source.
 *
 * A buffer has no magic number: it is recognized by the values that its header may have.  If the
 * caller asks for this format, any bytes are read as a buffer, and errors in the header become
 * damage of the container.  Only an unknown version and an impossible end leave no records to read.
 *
 * A directory of files PREFIX.ITERATION.TRACE.cpuperf is one capture with a part for each file, in
 * the order of their CPUs. */
#include "perfmon/repair.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

enum {
    PROBE_BYTES = PF_PERFMON_HEADER + 1, /* with the type of the first record */
    MOST_PARTS = 1 << 14
};

/* The range of frequencies that are accepted as evidence. */
#define LEAST_TICKS INT64_C(1000000)
#define MOST_TICKS  INT64_C(100000000000)

/* Roughly the number of header bits that must have certain values. */
enum { EVIDENCE_BITS = 16 + 14 + 31 + 20, DIRECTORY_BITS = 2 };

static bool is_name_of_buffer(const char *name)
{
    pf_perfmon_name n;
    return pf_perfmon_name_of(name, &n);
}

/* Recognizes a directory: one of its files has the name of a buffer, and it is not a directory of
 * perf. */
static unsigned probe_directory(const perfile_source *dir)
{
    char **names = NULL;
    size_t n = 0;
    bool any = false;
    perfile_source *data;
    if (pf_source_entry(dir, "data", &data, NULL) == PERFILE_OK) {
        perfile_source_close(data);
        return 0;
    }
    if (pf_source_list(dir, "", &names, &n, NULL) != PERFILE_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        any |= is_name_of_buffer(names[i]);
    pf_free(names);
    return any ? DIRECTORY_BITS : 0;
}

static unsigned probe_header(perfile_bytes peek)
{
    if (peek.len < PF_PERFMON_HEADER)
        return 0;
    const pf_perfmon_header h = pf_perfmon_header_of(peek.ptr);
    if (h.version != 0 || h.arch > PF_PERFMON_ARM64 || h.flags & ~(uint32_t)PF_PERFMON_FULL ||
        h.ticks_per_second < LEAST_TICKS || h.ticks_per_second > MOST_TICKS ||
        h.capture_end < PF_PERFMON_HEADER)
        return 0;
    if (h.capture_end == PF_PERFMON_HEADER)
        return EVIDENCE_BITS;
    if (peek.len < PROBE_BYTES || peek.ptr[PF_PERFMON_HEADER] == 0 ||
        peek.ptr[PF_PERFMON_HEADER] >= PF_PERFMON_TYPES)
        return 0;
    return EVIDENCE_BITS;
}

/* Recognizes a list of files given by the caller: the first one must be a buffer. */
static unsigned probe_files(const perfile_source *files)
{
    char **names = NULL;
    size_t n = 0;
    perfile_source *first = NULL;
    perfile_bytes peek;
    unsigned evidence = 0;
    if (pf_source_list(files, "", &names, &n, NULL) != PERFILE_OK)
        return 0;
    if (n && pf_source_entry(files, names[0], &first, NULL) == PERFILE_OK &&
        pf_source_run(first, 0, PROBE_BYTES, &peek, NULL) == PERFILE_OK)
        evidence = probe_header(peek);
    perfile_source_close(first);
    pf_free(names);
    return evidence;
}

static unsigned probe(perfile_bytes peek, const perfile_source *source)
{
    if (!source || !pf_source_has_entries(source))
        return probe_header(peek);
    return source->ordered ? probe_files(source) : probe_directory(source);
}

static void close_stream(perfile_stream *s)
{
    pf_perfmon_stream *p = (pf_perfmon_stream *)(void *)s;
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source_close(p->parts[i].source);
        pf_free(p->parts[i].name);
    }
    pf_session_free(s->session);
    pf_free(p->name);
    pf_free(p->parts);
    pf_free(p->shown);
    pf_free(p->extents);
    pf_free(p->damages);
    pf_free(p->cpus);
    pf_free(p);
}

static const pf_stream_ops ops = {.fill = pf_perfmon_fill, .close = close_stream};

/* Reads the header of a part into part->header. */
static perfile_status read_header(pf_perfmon_part *part, perfile_error *err)
{
    perfile_bytes head;
    perfile_status st = pf_source_run(part->source, 0, PF_PERFMON_HEADER, &head, err);
    if (st != PERFILE_OK)
        return st;
    if (head.len < PF_PERFMON_HEADER)
        return pf_fail_damage(err, PERFILE_DAMAGE_TRUNCATED_HEADER, "header", 0);
    memcpy(part->header, head.ptr, PF_PERFMON_HEADER);
    return PERFILE_OK;
}

/* The checks of a header, in the order in which failures are reported. */
typedef struct header_check {
    unsigned damage;
    uint64_t offset;
    bool ends; /* nothing after the header can be read */
} header_check;
static const header_check header_checks[] = {
    {PERFILE_DAMAGE_BAD_VERSION, 0, true},
    {PERFILE_DAMAGE_BAD_ARCH, PF_PERFMON_ARCH_AT, false},
    {PERFILE_DAMAGE_BAD_FLAGS, PF_PERFMON_FLAGS_AT, false},
    {PERFILE_DAMAGE_BAD_TICKS_PER_SECOND, PF_PERFMON_TICKS_AT, false},
    {PERFILE_DAMAGE_BAD_CAPTURE_END, PF_PERFMON_END_AT, true},
};
enum { N_CHECKS = sizeof header_checks / sizeof header_checks[0] };

/* Returns which of header_checks[] fail, as bits.  Nothing after a check that `ends` is tested. */
static unsigned failed_checks(const pf_perfmon_header *h)
{
    const bool failed[N_CHECKS] = {h->version != 0, h->arch > PF_PERFMON_ARM64,
                                   (h->flags & ~(uint32_t)PF_PERFMON_FULL) != 0,
                                   h->ticks_per_second <= 0, h->capture_end < PF_PERFMON_HEADER};
    unsigned bits = 0;
    for (unsigned i = 0; i < N_CHECKS; i++) {
        bits |= (unsigned)failed[i] << i;
        if (failed[i] && header_checks[i].ends)
            break;
    }
    return bits;
}

static void add_extent(pf_perfmon_stream *p, uint64_t offset, uint64_t length, uint32_t role,
                       uint32_t part)
{
    if (length)
        p->extents[p->base.container.n_extents++] =
            (perfile_extent){.offset = offset, .length = length, .role = role, .number = part};
}

/* Adds a part to the container: its header, records, the bytes after them, and damage. */
static void show_part(pf_perfmon_stream *p, uint32_t i)
{
    pf_perfmon_part *part = &p->parts[i];
    const pf_perfmon_header h = pf_perfmon_header_of(part->header);
    const uint64_t size = part->source->size;
    const uint64_t file = size == PF_SIZE_UNKNOWN ? h.capture_end : size;
    uint64_t end = h.capture_end < file ? h.capture_end : file;
    const perfile_assume *assume = p->base.options.assume;
    bool ends = false;
    part->damages = failed_checks(&h);
    for (unsigned k = 0; k < N_CHECKS; k++) {
        if (!(part->damages >> k & 1))
            continue;
        p->damages[p->n_damages++] = (perfile_container_damage){.damage = header_checks[k].damage,
                                                                .role = PERFILE_EXTENT_HEADER,
                                                                .offset = header_checks[k].offset};
        pf_stream_damage(&p->base, header_checks[k].damage, header_checks[k].offset, 0);
        ends |= header_checks[k].ends;
    }
    if (ends)
        end = PF_PERFMON_HEADER;
    part->end = !ends && h.capture_end > end ? h.capture_end : end;
    if (assume && assume->data.size) {
        const uint64_t size_left = file - PF_PERFMON_HEADER;
        end = PF_PERFMON_HEADER + (assume->data.size < size_left ? assume->data.size : size_left);
        part->end = end;
    }
    p->shown[i] = (perfile_part){.name = part->name,
                                 .size = size,
                                 .header = {part->header, PF_PERFMON_HEADER},
                                 .cpu = part->cpu,
                                 .has_cpu = true};
    p->cpus[i] = part->cpu;
    add_extent(p, 0, PF_PERFMON_HEADER, PERFILE_EXTENT_HEADER, i);
    add_extent(p, PF_PERFMON_HEADER, end - PF_PERFMON_HEADER, PERFILE_EXTENT_RECORDS, i);
    add_extent(p, end, file - end, PERFILE_EXTENT_TAIL, i);
}

/* Checks that all buffers have the same architecture and clock, and different CPUs. */
static perfile_status check_alike(const pf_perfmon_stream *p, perfile_error *err)
{
    const pf_perfmon_header first = pf_perfmon_header_of(p->parts[0].header);
    for (uint32_t i = 1; i < p->n_parts; i++) {
        const pf_perfmon_header h = pf_perfmon_header_of(p->parts[i].header);
        if (h.arch != first.arch || h.ticks_per_second != first.ticks_per_second)
            return pf_fail(
                err, PERFILE_E_UNSUPPORTED, "perfmon",
                "'%s' and '%s' differ in architecture or frequency: they are not buffers "
                "of one capture",
                p->parts[0].name, p->parts[i].name);
        if (p->parts[i].cpu == p->parts[i - 1].cpu)
            return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon",
                           "'%s' and '%s' are both of CPU %u", p->parts[i - 1].name,
                           p->parts[i].name, p->parts[i].cpu);
    }
    return PERFILE_OK;
}

/* Reads all headers, and makes container and session from them. */
static perfile_status present(pf_perfmon_stream *p, perfile_error *err)
{
    perfile_container *c = &p->base.container;
    const uint32_t n = p->n_parts;
    uint32_t shift;
    uint64_t mult;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++)
        st = read_header(&p->parts[i], err);
    if (st == PERFILE_OK)
        st = check_alike(p, err);
    if (st != PERFILE_OK)
        return st;
    p->shown = pf_alloc(n, sizeof *p->shown);
    p->extents = pf_alloc(3 * (size_t)n, sizeof *p->extents);
    p->damages = pf_alloc((size_t)n * N_CHECKS, sizeof *p->damages);
    p->cpus = pf_alloc(n, sizeof *p->cpus);
    if (!p->shown || !p->extents || !p->damages || !p->cpus)
        return pf_fail_nomem(err, "perfmon");
    const pf_perfmon_header h = pf_perfmon_header_of(p->parts[0].header);
    c->form = PERFILE_FORM_FILE;
    c->version = h.version;
    c->byte_order = PERFILE_BYTE_ORDER_LITTLE;
    c->header_size = PF_PERFMON_HEADER;
    c->parts = p->shown;
    c->n_parts = n;
    c->extents = p->extents;
    for (uint32_t i = 0; i < n; i++)
        show_part(p, i);
    c->damages = p->damages;
    c->n_damages = p->n_damages;
    c->directory = p->parts[0].name != NULL;
    st = pf_session_open(pf_perfmon_swap(), &p->base.options, &p->base.session, err);
    if (st != PERFILE_OK)
        return st;
    pf_session_set_cpus_of_parts(p->base.session, p->cpus, n);
    if (pf_perfmon_conversion(h.ticks_per_second, &shift, &mult))
        pf_session_set_conversion(p->base.session, shift, mult);
    return pf_session_resolve(p->base.session, err);
}

static char *copy_name(const char *name)
{
    const size_t n = strlen(name) + 1;
    char *copy = pf_alloc(n, 1);
    return copy ? memcpy(copy, name, n) : NULL;
}

/* Inserts the part after the parts of lower CPUs. */
static void insert_part(pf_perfmon_stream *p, pf_perfmon_part part)
{
    uint32_t at = p->n_parts++;
    for (; at > 0 && p->parts[at - 1].cpu > part.cpu; at--)
        p->parts[at] = p->parts[at - 1];
    p->parts[at] = part;
}

/* Sets the CPUs of the parts, which are in the order of their names, to the caller's. */
static void assume_cpus(pf_perfmon_stream *p, const uint32_t *cpus)
{
    const uint32_t n = p->n_parts;
    p->n_parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        pf_perfmon_part part = p->parts[i];
        part.cpu = cpus[i];
        insert_part(p, part);
    }
}

/* Sets *cpus to the CPUs that the caller gave for `n` files, NULL if none were given. */
static perfile_status assumed_cpus(const pf_perfmon_stream *p, size_t n, const uint32_t **cpus,
                                   perfile_error *err)
{
    const perfile_assume *assume = p->base.options.assume;
    *cpus = assume ? assume->cpus : NULL;
    if (*cpus && assume->n_cpus != n)
        return pf_fail(err, PERFILE_E_USAGE, "assume.cpus", "%llu CPUs for %zu buffers",
                       (unsigned long long)assume->n_cpus, n);
    return PERFILE_OK;
}

/* Opens the files of a directory that have the name of a buffer.  They must have the same prefix
 * and iteration: several iterations are several captures. */
static perfile_status open_directory(pf_perfmon_stream *p, const perfile_source *dir,
                                     perfile_error *err)
{
    char **names = NULL;
    size_t n = 0;
    const char *first = NULL; /* the first file that has such a name */
    pf_perfmon_name one = {0}, name;
    const uint32_t *cpus = NULL;
    perfile_status st = pf_source_list(dir, "", &names, &n, err);
    if (st != PERFILE_OK)
        return st;
    if (dir->ordered)
        st = assumed_cpus(p, n, &cpus, err);
    p->parts = pf_alloc(n < MOST_PARTS ? n + 1 : MOST_PARTS, sizeof *p->parts);
    if (st == PERFILE_OK && !p->parts)
        st = pf_fail_nomem(err, "perfmon");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const bool named = pf_perfmon_name_of(names[i], &name);
        if (!named && !dir->ordered)
            continue;
        if (!named) /* listed files may have any name: their index counts */
            name = (pf_perfmon_name){.trace = (uint32_t)i};
        if (named && !first) {
            first = names[i];
            one = name;
        }
        pf_perfmon_part part = {.cpu = cpus ? cpus[i] : name.trace, .name = copy_name(names[i])};
        if (named && (name.iteration != one.iteration || name.prefix != one.prefix ||
                      memcmp(names[i], first, name.prefix) != 0))
            st = pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon",
                         "'%s' has several captures, '%s' and '%s': put the files of one into a "
                         "directory of its own",
                         dir->name, first, names[i]);
        else if (p->n_parts == MOST_PARTS)
            st = pf_fail(err, PERFILE_E_LIMIT, "perfmon", "'%s' has more than %d buffers",
                         dir->name, MOST_PARTS);
        else if (!part.name)
            st = pf_fail_nomem(err, "perfmon");
        else
            st = pf_source_entry(dir, names[i], &part.source, err);
        if (st == PERFILE_OK)
            insert_part(p, part);
        else
            pf_free(part.name);
    }
    if (st == PERFILE_OK && p->n_parts == 0)
        st = pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon",
                     "'%s' has no file PREFIX.ITERATION.TRACE.cpuperf", dir->name);
    if (st == PERFILE_OK && !dir->ordered)
        st = assumed_cpus(p, p->n_parts, &cpus, err);
    if (st == PERFILE_OK && !dir->ordered && cpus)
        assume_cpus(p, cpus);
    pf_free(names);
    return st;
}

/* Makes the only part, for a source that is one file. */
static perfile_status open_file(pf_perfmon_stream *p, perfile_source *source, perfile_error *err)
{
    pf_perfmon_name name;
    const uint32_t *cpus;
    const char *slash = strrchr(source->name, '/');
    p->parts = pf_alloc(1, sizeof *p->parts);
    if (!p->parts)
        return pf_fail_nomem(err, "perfmon");
    p->n_parts = 1;
    p->parts[0].source = source;
    if (pf_perfmon_name_of(slash ? slash + 1 : source->name, &name))
        p->parts[0].cpu = name.trace;
    perfile_status st = assumed_cpus(p, 1, &cpus, err);
    if (cpus && st == PERFILE_OK)
        p->parts[0].cpu = cpus[0];
    return st;
}

static perfile_status open_perfmon(perfile_source *source, const perfile_open_options *options,
                                   perfile_stream **stream, perfile_error *err)
{
    const bool directory = pf_source_has_entries(source);
    pf_perfmon_stream *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "perfmon");
    p->base.options = *options;
    perfile_status st = pf_limits_copy(&p->base.limits, options->limits, err);
    p->name = copy_name(source->name);
    p->base.name = p->name;
    if (!p->name)
        st = pf_fail_nomem(err, "perfmon");
    p->base.options.limits = &p->base.limits;
    p->base.ops = &ops;
    if (st == PERFILE_OK)
        st = directory ? open_directory(p, source, err) : open_file(p, source, err);
    if (st == PERFILE_OK)
        st = present(p, err);
    if (st != PERFILE_OK) {
        if (!directory && p->n_parts)
            p->parts[0].source = NULL; /* the caller still owns it */
        close_stream(&p->base);
        return st;
    }
    if (directory)
        perfile_source_close(source);
    *stream = &p->base;
    return PERFILE_OK;
}

static const perfile_output outputs[] = {
    {.name = "perfmon", .doc = "a file", .format = "perfmon", .form = PERFILE_FORM_FILE},
};

const pf_driver pf_perfmon_driver = {
    .name = "perfmon",
    .doc = "Zircon perfmon buffers",
    .family = PF_FAMILY_AT_perfmon,
    .probe = probe,
    .open = open_perfmon,
    .create = pf_perfmon_create,
    .translate = pf_perfmon_translate,
    .outputs = outputs,
    .n_outputs = 1,
    .names_files = true,
    .repair = &pf_perfmon_repair,
};
