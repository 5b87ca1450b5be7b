/* Any bytes as an archive, through the public interface.  Lists add up, findings have texts, and a
 * repaired archive is intact except for errors inside of chunks.  Then one of these is done with
 * the repaired archive: its capture is read at random offsets, which gives the same as reading it
 * in order; an operation reads it, with or without skipping ranges; its captures are copied, or
 * appended to it. */
#include "archive_seal.h"
#include "operations.h"

#include "io/source.h"
#include "perfile/archive.h"
#include "archive/command.h"

enum { MOST_INPUT = 1 << 16, MOST_READ = 1 << 20, MOST_CHUNKS = 256, RULES = 16 };

/* The findings about an archive. */
typedef struct found {
    unsigned errors[RULES]; /* by rule, starting with V-701 */
    bool is_hole_only;      /* for V-708: there are bytes in no chunk, but none in two chunks */
    unsigned n;
} found;

static void on_finding(void *user, const perfile_archive_finding *f)
{
    found *x = user;
    ENSURE(f->rule >= PERFILE_RULE_V_701 && f->rule < PERFILE_RULE_V_701 + RULES && f->message[0]);
    ENSURE(f->severity == PERFILE_SEVERITY_ERROR || f->severity == PERFILE_SEVERITY_WARNING);
    x->n++;
    if (f->severity == PERFILE_SEVERITY_ERROR)
        x->errors[f->rule - PERFILE_RULE_V_701]++;
    if (f->rule == PERFILE_RULE_V_708)
        x->is_hole_only &= f->is_lost;
}

static perfile_source *source_of(perfile_bytes bytes, bool no_index)
{
    perfile_source *s;
    ENSURE(perfile_source_memory(bytes, "input", &s, NULL) == PERFILE_OK);
    s->limits.inflate_bytes = small_limits.inflate_bytes;
    s->options.flags |= no_index ? PERFILE_SOURCE_NO_INDEX : 0;
    return s;
}

static perfile_sink *sink_of(perfile_bytes bytes)
{
    perfile_sink *s;
    ENSURE(perfile_sink_memory("output", &s, NULL) == PERFILE_OK);
    ENSURE(bytes.len == 0 || perfile_sink_write(s, bytes, NULL) == PERFILE_OK);
    return s;
}

/* Returns NULL for bytes that are not an archive, or cannot be read. */
static perfile_archive *open_archive(perfile_bytes bytes, bool no_index)
{
    perfile_source *s = source_of(bytes, no_index);
    perfile_error err = {0};
    perfile_archive *a = NULL;
    const perfile_status st = perfile_archive_open(s, &a, &err);
    ENSURE(st == PERFILE_OK || st == PERFILE_END || err.message[0]);
    if (st == PERFILE_OK)
        return a;
    perfile_source_close(s);
    return NULL;
}

static void list_columns(perfile_archive *a, uint32_t i, const pf_archive_chunk *c)
{
    const pf_archive_column *columns;
    uint32_t n;
    uint64_t stored = 0, decoded = 0;
    const perfile_status st = pf_archive_columns(a, i, NULL, &columns, &n, NULL);
    ENSURE(st == PERFILE_OK || st == PERFILE_END || st == PERFILE_E_CORRUPT ||
           st == PERFILE_E_LIMIT);
    for (uint32_t k = 0; st == PERFILE_OK && k < n; k++) {
        ENSURE(columns[k].field && columns[k].encoding);
        stored += columns[k].stored;
        decoded += columns[k].decoded;
    }
    ENSURE(st != PERFILE_OK || (stored == c->payload && decoded == c->part_bytes));
}

/* Checks that chunks, gaps and captures agree with the summary. */
static void list(perfile_archive *a)
{
    pf_archive_summary sum;
    pf_archive_chunk c = {0};
    perfile_archive_capture capture;
    pf_archive_gap gap;
    uint64_t end = 0, gaps = 0;
    uint32_t i = 0;
    pf_archive_get_summary(a, &sum, sizeof sum);
    for (; i < MOST_CHUNKS; i++) {
        const perfile_status st = pf_archive_chunk_at(a, i, &c, sizeof c, NULL);
        ENSURE(st == PERFILE_OK || st == PERFILE_END);
        if (st == PERFILE_END)
            break;
        ENSURE(c.offset >= end && c.capture >= 1 && c.capture <= sum.captures);
        ENSURE(c.records == 0 || c.has_zone);
        end = c.offset + c.bytes;
        list_columns(a, i, &c);
    }
    ENSURE(end <= sum.bytes && (i == sum.chunks || i == MOST_CHUNKS));
    for (i = 0; pf_archive_gap_at(a, i, &gap); i++)
        gaps += gap.bytes;
    ENSURE(i == sum.gaps && gaps == sum.gap_bytes);
    for (i = 1; i <= sum.captures && i < MOST_CHUNKS; i++)
        ENSURE(perfile_archive_capture_at(a, i, &capture, sizeof capture, NULL) == PERFILE_OK);
    ENSURE(i == MOST_CHUNKS ||
           perfile_archive_capture_at(a, i, &capture, sizeof capture, NULL) == PERFILE_END);
}

/* Returns false if the archive is rejected because it contains too much. */
static bool verify(perfile_archive *a, found *x)
{
    *x = (found){.is_hole_only = true};
    const perfile_status st = pf_archive_verify(a, on_finding, x, NULL);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_LIMIT && x->n == 0));
    return st == PERFILE_OK;
}

/* Repairs twice, first without writing.  Returns the new archive, or NULL if nothing is left. */
static perfile_sink *repair(perfile_archive *a, perfile_archive_repaired *sum)
{
    perfile_archive_repaired only;
    perfile_error err = {0};
    found told = {0};
    perfile_sink *sink = sink_of((perfile_bytes){NULL, 0});
    const perfile_status tried =
        pf_archive_repair(a, NULL, on_finding, &told, &only, sizeof only, &err);
    const perfile_status st = pf_archive_repair(a, sink, NULL, NULL, sum, sizeof *sum, &err);
    ENSURE(st == tried && only.chunks == sum->chunks && only.lost_bytes == sum->lost_bytes);
    ENSURE(only.damaged == sum->damaged && (sum->damaged || told.n == 0));
    /* An archive may require that only programs that know its contents edit it. */
    const bool refused = st == PERFILE_E_UNSUPPORTED && strcmp(err.where, "archive.may") == 0;
    ENSURE(st == PERFILE_OK || st == PERFILE_E_CORRUPT || refused);
    ENSURE(perfile_sink_bytes(sink).len == sum->bytes && (sum->bytes > 0) == (st == PERFILE_OK));
    if (st == PERFILE_OK)
        return sink;
    perfile_sink_close(sink);
    return NULL;
}

/* Checks a repaired archive: it is read by its index, has no gaps, and no errors that were not
 * there before.  Chunks are not decoded and stay as they are. */
static void check_repaired(perfile_bytes bytes, const found *before,
                           const perfile_archive_repaired *sum)
{
    static const unsigned inside[] = {703, 705, 706, 707, 711}, never[] = {701, 702, 704, 709, 710};
    perfile_archive *a = open_archive(bytes, false);
    pf_archive_summary s;
    perfile_archive_repaired again;
    found after;
    ENSURE(a);
    pf_archive_get_summary(a, &s, sizeof s);
    ENSURE(s.from_index && s.finished && !s.head_damaged && !s.gaps && s.chunks == sum->chunks);
    if (!verify(a, &after)) {
        perfile_archive_close(a);
        return;
    }
    for (unsigned i = 0; i < sizeof inside / sizeof inside[0]; i++)
        ENSURE(after.errors[inside[i] - 701] <= before->errors[inside[i] - 701]);
    for (unsigned i = 0; i < sizeof never / sizeof never[0]; i++)
        ENSURE(after.errors[never[i] - 701] == 0);
    ENSURE(after.is_hole_only && (sum->lost_bytes || after.errors[PERFILE_RULE_V_708 - 701] == 0));
    perfile_sink *sink = repair(a, &again);
    ENSURE(sink && again.bytes == bytes.len && again.chunks_lost + again.gaps == 0);
    ENSURE(memcmp(perfile_sink_bytes(sink).ptr, bytes.ptr, bytes.len) == 0);
    perfile_sink_close(sink);
    perfile_archive_close(a);
}

/* Checks that any part of a capture reads the same as in order. */
static void read_oddly(perfile_source *s, uint64_t state)
{
    pf_buffer all = {0};
    perfile_bytes run;
    while (all.len < MOST_READ && pf_source_run(s, all.len, 1, &run, NULL) == PERFILE_OK && run.len)
        ENSURE(pf_buffer_append(&all, run.ptr, run.len));
    ENSURE(all.len <= s->size);
    for (unsigned i = 0; i < 16 && all.len == s->size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint64_t offset = (state >> 32) % (all.len + 2);
        const size_t left = offset < all.len ? all.len - (size_t)offset : 0;
        const size_t need = (size_t)(state >> 20 & 1 ? state >> 24 & 255 : state >> 24 & 0x3ffff);
        ENSURE(pf_source_run(s, offset, need, &run, NULL) == PERFILE_OK);
        ENSURE(run.len <= left && run.len >= (need < left ? need : left));
        ENSURE(run.len == 0 || memcmp(run.ptr, all.ptr + offset, run.len) == 0);
    }
    pf_buffer_free(&all);
}

/* Reads one capture: a file, or the files of a directory. */
static void read_capture(perfile_bytes bytes, uint32_t number, uint64_t state)
{
    perfile_source *s = source_of(bytes, state & 1), *file;
    perfile_error err = {0};
    char **names;
    size_t n;
    s->options.capture = number;
    const perfile_status st = pf_archive_source(&s, &err);
    ENSURE(st == PERFILE_OK || err.message[0]);
    if (st == PERFILE_OK && pf_source_has_entries(s)) {
        ENSURE(pf_source_list(s, "", &names, &n, NULL) == PERFILE_OK);
        for (size_t i = 0; i < n && i < 8; i++)
            if (pf_source_entry(s, names[i], &file, NULL) == PERFILE_OK) {
                read_oddly(file, state + i);
                perfile_source_close(file);
            }
        free(names);
    } else if (st == PERFILE_OK) {
        read_oddly(s, state);
    }
    perfile_source_close(s);
}

/* Applies an operation to it, which uses everything that a stream does with an archive, including
 * skipped ranges if it filters. */
static void command(perfile_bytes bytes, uint32_t number, uint64_t state)
{
    static const unsigned what[] = {OPERATION_FILTER, OPERATION_DUMP, OPERATION_CONVERT,
                                    OPERATION_MODEL};
    const operation o = {.what = what[state & 3],
                         .variant = (unsigned)(state >> 2 & 255),
                         .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(state >> 10 & 3)};
    perfile_source *s = source_of(bytes, state >> 12 & 1);
    perfile_sink *sink = sink_of((perfile_bytes){NULL, 0});
    perfile_error err = {0};
    s->options.capture = number;
    const perfile_status st = operate(&o, s, sink, &err);
    ENSURE(st == PERFILE_OK || (err.status == st && err.message[0]));
    perfile_sink_close(sink);
}

/* Copies the captures of an archive to a new one, or appends them to their own. */
static void copy(perfile_bytes bytes, bool append)
{
    const perfile_archive_options how = {.size = sizeof how, .id = 1};
    const perfile_bytes none = {NULL, 0};
    perfile_archive *a = open_archive(bytes, false), *b;
    pf_archive_writer *w;
    pf_archive_summary one, two;
    perfile_error err = {0};
    found x, y;
    ENSURE(a);
    perfile_sink *sink = sink_of(append ? bytes : none);
    pf_archive_get_summary(a, &one, sizeof one);
    perfile_status st = pf_archive_writer_new(sink, append ? a : NULL, &how, &w, &err);
    if (st != PERFILE_OK) {
        ENSURE(append && st == PERFILE_E_UNSUPPORTED);
        perfile_sink_close(sink);
        perfile_archive_close(a);
        return;
    }
    st = pf_archive_writer_copy(w, a, 0, &err);
    ENSURE(st == PERFILE_OK || st == PERFILE_E_LIMIT);
    if (st == PERFILE_OK) {
        ENSURE(pf_archive_writer_finish(w, &err) == PERFILE_OK);
        const perfile_bytes written = perfile_sink_bytes(sink);
        ENSURE(!append ||
               (written.len > bytes.len && memcmp(written.ptr, bytes.ptr, bytes.len) == 0));
        b = open_archive(written, false);
        ENSURE(b);
        pf_archive_get_summary(b, &two, sizeof two);
        ENSURE(two.from_index && two.chunks == one.chunks * (1 + append) &&
               two.captures == one.captures * (1 + append));
        const bool both = verify(a, &x) && verify(b, &y);
        for (unsigned i = 0; i < RULES && both; i++)
            ENSURE(y.errors[i] == x.errors[i] * (1 + append));
        perfile_archive_close(b);
    }
    pf_archive_writer_close(w);
    perfile_archive_close(a);
}

static void check(perfile_bytes bytes, bool no_index, uint64_t state)
{
    perfile_archive *a = open_archive(bytes, no_index);
    perfile_archive_repaired sum;
    found before;
    if (!a)
        return;
    list(a);
    const bool verified = verify(a, &before);
    perfile_sink *repaired = repair(a, &sum);
    perfile_archive_close(a);
    if (!repaired || !verified) {
        perfile_sink_close(repaired);
        return;
    }
    const perfile_bytes sound = perfile_sink_bytes(repaired);
    const uint32_t number = (uint32_t)(state >> 2 & 3);
    check_repaired(sound, &before, &sum);
    switch (state & 3) {
    case 0:
        read_capture(bytes, number, state >> 4);
        read_capture(sound, number, state >> 4);
        break;
    case 1:
        command(state >> 31 & 1 ? bytes : sound, number, state >> 4);
        break;
    default:
        copy(sound, state & 1);
    }
    perfile_sink_close(repaired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const uint64_t state = choose(&c, 4);
    const perfile_bytes bytes = {data, c.left};
    if (size > MOST_INPUT)
        return 0;
    uint8_t *sealed = archive_sealed(bytes);
    check((perfile_bytes){sealed, bytes.len}, state >> 30 & 1, state);
    free(sealed);
    if (state >> 29 & 1)
        check(bytes, false, state);
    return 0;
}
