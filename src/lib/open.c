/* perfile_open() and perfile_open_path(): which driver reads a source, and opening it.
 *
 * Formats are recognized by content, never by file name: each driver's probe() gets the first bytes
 * and returns a score, the number of bits that fit its format; the highest score wins.  What a
 * driver's open() does is in the driver (core/driver.h).  This file adds to the stream what no
 * driver knows: the inputs it reads, and the name of its format. */
#include <stdio.h>
#include <string.h>

#include "archive/table.h"
#include "base/error.h"
#include "base/options.h"
#include "io/source.h"
#include "lib/registry.h"
#include "perfile/damage.h"
#include "schema/family.h"

enum {
    /* A live pipe may hold nothing but its 16-byte header for a long time, so that waiting for more
     * would block. */
    PEEK_BYTES = 16,
    /* What formats without a magic number need, asked for when none was recognized by less. */
    PEEK_MORE = 32
};

/* Returns PERFILE_E_UNSUPPORTED with a message that lists the formats there are. */
static perfile_status no_driver(const char *from, perfile_error *err)
{
    char known[128] = "";
    for (size_t i = 0, n = 0; pf_drivers[i] && n < sizeof known; i++) {
        int add = snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", pf_drivers[i]->name);
        n += add > 0 ? (size_t)add : 0;
    }
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "options.from",
                   "no format is called '%s'; known: %s", from, known);
}

/* The driver with the highest score, and another one that has the same; returns the score. */
static unsigned best_driver(perfile_bytes peek, const perfile_source *source,
                            const pf_driver **driver, const pf_driver **rival)
{
    unsigned most = 0;
    *rival = NULL;
    for (size_t i = 0; pf_drivers[i]; i++) {
        unsigned bits = pf_drivers[i]->probe(peek, source);
        if (bits > most) {
            *driver = pf_drivers[i];
            *rival = NULL;
            most = bits;
        } else if (bits && bits == most) {
            *rival = pf_drivers[i];
        }
    }
    return most;
}

/* pf_driver_find() without a name.  A directory has no first bytes: its drivers probe its entries
 * through `source`. */
static perfile_status by_evidence(perfile_source *source, const pf_driver **driver,
                                  const char **foreign, perfile_error *err)
{
    perfile_bytes peek = {NULL, 0};
    const bool bytes = !pf_source_has_entries(source);
    if (bytes) {
        perfile_status st = pf_source_run(source, 0, PEEK_BYTES, &peek, err);
        if (st != PERFILE_OK)
            return st;
    }
    const pf_driver *rival;
    *driver = pf_drivers[0];
    unsigned most = best_driver(peek, source, driver, &rival);
    if (!most && bytes && peek.len >= PEEK_BYTES && peek.len < PEEK_MORE) {
        perfile_status st = pf_source_run(source, 0, PEEK_MORE, &peek, err);
        if (st != PERFILE_OK)
            return st;
        most = best_driver(peek, source, driver, &rival);
    }
    if (!most && source->ordered)
        return pf_fail(
            err, PERFILE_E_USAGE, "options.from",
            "several inputs are one capture only if they are perfmon buffers, one of each "
            "processor");
    if (!most)
        *foreign = pf_foreign(peek);
    if (rival)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "options.from",
                       "'%s' may be %s or %s: name the format", source->name, (*driver)->name,
                       rival->name);
    return PERFILE_OK;
}

/* See lib/registry.h. */
perfile_status pf_driver_find(perfile_source *source, const char *from, const pf_driver **driver,
                              const char **foreign, perfile_error *err)
{
    *foreign = NULL;
    if (!from)
        return by_evidence(source, driver, foreign, err);
    *driver = pf_driver_named(from);
    return *driver ? PERFILE_OK : no_driver(from, err);
}

/* Opens `source`, which is no archive.
 *
 * The list of inputs is copied before the driver runs: on success the stream owns the source, and
 * must still be able to tell what it reads.  If opening fails, the caller keeps the source, so the
 * callback for waiting is taken out of it again. */
static perfile_status open_capture(perfile_source *source, const perfile_open_options *options,
                                   perfile_stream **stream, perfile_error *err)
{
    const pf_driver *driver;
    const char *foreign = NULL;
    pf_inputs inputs = {0};
    perfile_status st = pf_driver_find(source, options->from, &driver, &foreign, err);
    if (st != PERFILE_OK)
        return st;
    if (options->waiting) {
        source->waiting = options->waiting;
        source->waiting_user = options->waiting_user;
    }
    pf_source_origin *origin = pf_source_origin_join(source->origin);
    if (!pf_inputs_join(&inputs, &source->inputs))
        st = pf_fail_nomem(err, "open");
    if (st == PERFILE_OK)
        st = driver->open(source, options, stream, err);
    if (st == PERFILE_OK) {
        (*stream)->inputs = inputs;
        (*stream)->origin = origin;
        (*stream)->container.format = driver->name;
        (*stream)->container.family = driver->family;
    } else {
        pf_inputs_free(&inputs);
        pf_source_origin_leave(origin);
        source->waiting = NULL;
    }
    /* "not a perf.data file: it is compressed by gzip" helps more than "bad magic". */
    if (st < 0 && foreign && err && err->damage == PERFILE_DAMAGE_BAD_MAGIC)
        snprintf(err->message, sizeof err->message, PF_FOREIGN_MESSAGE, foreign);
    return st;
}

perfile_status perfile_open(perfile_source *source, const perfile_open_options *options,
                            perfile_stream **stream, perfile_error *err)
{
    perfile_open_options mine;
    perfile_source *capture = source;
    perfile_status st = pf_options_copy(&mine, options, "options", err);
    if (st == PERFILE_OK && mine.source_flags)
        st = pf_fail(err, PERFILE_E_USAGE, "options.source_flags",
                     "the source is open already: give the flags to the function that opens it");
    if (st == PERFILE_OK)
        st = perfile_archive_source(&capture, err);
    if (st != PERFILE_OK)
        return st;
    st = open_capture(capture, &mine, stream, err);
    if (st != PERFILE_OK && capture != source)
        pf_archive_source_undo(capture);
    return st;
}

perfile_status perfile_open_path(const char *path, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_open_options mine;
    perfile_status st = pf_options_copy(&mine, options, "options", err);
    if (st != PERFILE_OK)
        return st;
    perfile_source_options source_options = {
        .size = sizeof source_options, .flags = mine.source_flags, .limits = mine.limits};
    mine.source_flags = 0;
    st = perfile_source_path(path, &source_options, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &mine, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* The magic numbers of other formats, each with its sentence for the error message. */

/* Strings are cut in two where a hexadecimal escape would swallow the letter behind it. */
static const struct {
    const char *magic;
    size_t n; /* length of `magic`, which may hold zeros */
    const char *what;
} kinds[] = {
    {"\x1f\x8b", 2, "it is compressed by gzip; unpack it first (gzip -dc)"},
    {"\x28\xb5\x2f\xfd", 4, "it is compressed by zstd; unpack it first (zstd -dc)"},
    {"\xfd"
     "7zXZ",
     5, "it is compressed by xz; unpack it first (xz -dc)"},
    {"BZh", 3, "it is compressed by bzip2; unpack it first (bzip2 -dc)"},
    {"\x04\x22\x4d\x18", 4, "it is compressed by lz4; unpack it first (lz4 -dc)"},
    {"PK\x03\x04", 4, "it is a zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "it is a program or library (ELF), not a recording of it"},
};

/* True if `head` has printable ASCII and white space only, and at least 8 bytes: fewer prove
 * nothing. */
static bool is_text(perfile_bytes head)
{
    for (size_t i = 0; i < head.len; i++) {
        uint8_t c = head.ptr[i];
        if (c >= 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            return false;
    }
    return head.len >= 8;
}

const char *pf_foreign(perfile_bytes head)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (head.len >= kinds[i].n && memcmp(head.ptr, kinds[i].magic, kinds[i].n) == 0)
            return kinds[i].what;
    if (is_text(head))
        return "it is text, perhaps of `perf script`; give the perf.data file that it was made of";
    return NULL;
}

const char *pf_foreign_source(perfile_source *source)
{
    enum { HEAD_BYTES = 64 };
    perfile_bytes head;
    if (pf_source_has_entries(source) ||
        pf_source_run(source, 0, HEAD_BYTES, &head, NULL) != PERFILE_OK)
        return NULL;
    return pf_foreign(head);
}

/* The tables of drivers and of output forms.  No other file names them all.  A new format gets here
 * by its line in format/families.def. */

#define FAMILY(id, number) extern const pf_driver pf_##id##_driver;
#include "perfile/format/families.def"

const pf_driver *const pf_drivers[] = {
#define FAMILY(id, number) &pf_##id##_driver,
#include "perfile/format/families.def"
    NULL};

const pf_emit_ops *const pf_emit_forms[] = {&pf_emit_text, &pf_emit_jsonl, &pf_emit_cbor,
                                            &pf_emit_tsv, NULL};

/* Some need a library that not every build has (cmake/forms.cmake). */
const pf_emit_ops *const pf_export_forms[] = {&pf_emit_folded,
                                              &pf_emit_flamegraph,
                                              &pf_emit_speedscope,
                                              &pf_emit_firefox,
                                              &pf_emit_chrome,
                                              &pf_emit_aux,
#ifdef PERFILE_WITH_PPROF
                                              &pf_emit_pprof,
#endif
#ifdef PERFILE_WITH_PERFETTO
                                              &pf_emit_perfetto,
#endif
                                              NULL};
