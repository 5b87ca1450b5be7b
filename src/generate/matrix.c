/* pf_generate_matrix(): a folder of small captures, each for one thing of the tables.
 *
 * A directory is packed into an archive, so that it is a single file as well.
 *
 * For each form and byte order there is a file for each record type, each feature, each field of
 * samples, each read_format, each size of attrs, and for what no kernel writes; and one of version
 * 1.  Records and features of simpleperf are in files of simpleperf.  The set of what was covered
 * is that of the tables, so that a new row is missed until a file has it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "generate/capture.h"
#include "io/out.h"
#include "perfile/archive.h"
#include "schema/command.h"

enum {
    ROUNDS = 48, /* records of the type that a file is for: each condition and value in turn */
    FEW = 4,     /* records where they are not what the file is for */
    READ_FORMATS = 32, /* all combinations of its five bits */
};
#define NO_FEATURE UINT32_MAX

typedef struct matrix {
    perfile_sink *folder;
    pf_generate_options how; /* of the next file */
    const char *form, *order;
    pf_matrix_summary *sum;
    pf_covered *covered;
} matrix;

/* Writes the bytes of a sink in memory to a file of the folder. */
static perfile_status put(matrix *m, const char *name, const char *suffix,
                          const perfile_sink *bytes, perfile_error *err)
{
    char path[96];
    perfile_sink *file;
    snprintf(path, sizeof path, "%s.%s.%s%s", name, m->form, m->order, suffix);
    perfile_status st = pf_sink_folder_file(m->folder, path, &file, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_sink_write(file, perfile_sink_bytes(bytes), err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(file, err);
    perfile_sink_close(file);
    return st;
}

/* Makes a sink for a directory, which becomes a single file: an archive. */
static perfile_status open_archive(perfile_sink *bytes, perfile_sink **archive, perfile_error *err)
{
    const perfile_archive_options how = {.size = sizeof how, .flags = PERFILE_ARCHIVE_DIRECTORY};
    return perfile_archive_sink(bytes, &how, archive, err);
}

/* Makes the capture of m->how and its dump, and writes both; with `only_new` not if it has nothing
 * that no other has. */
static perfile_status add_one(matrix *m, const char *name, bool only_new, bool *written,
                              perfile_error *err)
{
    pf_generate_summary sum;
    const bool packed = m->how.form == PF_GENERATE_DIRECTORY;
    perfile_sink *capture = NULL, *dump = NULL, *archive = NULL;
    size_t before, after = 0;
    pf_covered_count(m->covered, &before);
    perfile_status st = perfile_sink_memory(name, &capture, err);
    if (st == PERFILE_OK)
        st = perfile_sink_memory(name, &dump, err);
    if (st == PERFILE_OK && packed)
        st = open_archive(capture, &archive, err);
    if (st == PERFILE_OK)
        st = pf_generate(&m->how, archive ? archive : capture, dump, &sum, err);
    pf_covered_count(m->covered, &after);
    *written = st == PERFILE_OK && (!only_new || after > before);
    if (*written)
        st = put(m, name, packed ? ".perfile" : ".data", capture, err);
    if (*written && st == PERFILE_OK)
        st = put(m, name, ".jsonl", dump, err);
    perfile_sink_close(archive ? archive : capture); /* an archive owns the sink of its bytes */
    perfile_sink_close(dump);
    m->sum->files += *written;
    m->how.seed++;
    return st;
}

static perfile_status add(matrix *m, const char *name, perfile_error *err)
{
    bool written;
    return add_one(m, name, false, &written, err);
}

/* Adds a capture, and name-2, name-3 … as others are found that have something new. */
static perfile_status add_until_covered(matrix *m, const char *name, perfile_error *err)
{
    enum { SEEDS = 40 };
    char numbered[80];
    unsigned number = 2;
    perfile_status st = add(m, name, err);
    for (unsigned i = 0; i < SEEDS && st == PERFILE_OK; i++) {
        bool written;
        snprintf(numbered, sizeof numbered, "%s-%u", name, number);
        st = add_one(m, numbered, true, &written, err);
        number += written;
    }
    return st;
}

/* Returns true if the files are of simpleperf: then they are made only for what perf does not
 * have. */
static bool is_of_simpleperf(const matrix *m)
{
    return m->how.form == PF_GENERATE_SIMPLEPERF;
}

static perfile_status add_types(matrix *m, perfile_error *err)
{
    size_t n;
    char name[64];
    const pf_row *rows = pf_record_rows(&n);
    perfile_status st = PERFILE_OK;
    const pf_generate_options usual = m->how;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        if (!pf_gen_stands_alone(&m->how, &rows[i]) ||
            (is_of_simpleperf(m) && rows[i].number < PERFILE_RECORD_SIMPLEPERF))
            continue;
        m->how.type = rows[i].number;
        m->how.rounds = ROUNDS;
        snprintf(name, sizeof name, "record-%s", rows[i].name);
        st = add_until_covered(m, name, err);
    }
    m->how.type = usual.type;
    m->how.rounds = usual.rounds;
    return st;
}

static perfile_status add_features(matrix *m, perfile_error *err)
{
    size_t n;
    char name[64];
    const pf_row *rows = pf_feature_rows(&n);
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        if (!pf_gen_makes_feature(&m->how, rows[i].number) ||
            (is_of_simpleperf(m) && !pf_gen_is_of_simpleperf(rows[i].number)))
            continue;
        m->how.feature = rows[i].number;
        snprintf(name, sizeof name, "feature-%s", rows[i].name);
        st = add_until_covered(m, name, err);
    }
    m->how.feature = NO_FEATURE;
    return st;
}

/* Samples of a single event, with one field. */
static perfile_status add_fields(matrix *m, perfile_error *err)
{
    const perfile_vocabulary *v = pf_vocabulary_find("sample_type");
    const uint32_t usual = m->how.n_events;
    char name[64];
    m->how.n_events = 1;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < v->n && st == PERFILE_OK; i++) {
        const uint64_t bit = UINT64_C(1) << v->bits[i].shift;
        if (v->bits[i].width != 1 || !(bit & PERFILE_SAMPLE_KNOWN))
            continue;
        m->how.fields = bit;
        snprintf(name, sizeof name, "field-%s", v->bits[i].name);
        st = add(m, name, err);
    }
    m->how.fields = 0;
    m->how.n_events = usual;
    return st;
}

static perfile_status add_read_formats(matrix *m, perfile_error *err)
{
    char name[64];
    perfile_status st = PERFILE_OK;
    m->how.fields = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_READ;
    m->how.has_read_format = true;
    for (uint32_t i = 0; i < READ_FORMATS && st == PERFILE_OK; i++) {
        m->how.read_format = i;
        snprintf(name, sizeof name, "read_format-0x%02x", i);
        st = add(m, name, err);
    }
    m->how.fields = 0;
    m->how.has_read_format = false;
    return st;
}

static perfile_status add_attr_sizes(matrix *m, perfile_error *err)
{
    char name[64];
    perfile_status st = PERFILE_OK;
    for (uint32_t size = PF_ATTR_LEAST; size <= PF_ATTR_OURS + 16 && st == PERFILE_OK; size += 8) {
        if (!pf_attr_size_is_known(size) && size < PF_ATTR_OURS)
            continue;
        m->how.attr_size = size;
        snprintf(name, sizeof name, "attr-%u", size);
        st = add(m, name, err);
    }
    m->how.attr_size = 0;
    return st;
}

/* Records of all types, as far as they are of the kernel in compressed records. */
static perfile_status add_compressed(matrix *m, perfile_error *err)
{
    const pf_generate_options usual = m->how;
    m->how.type = 0;
    m->how.rounds = 1;
    m->how.compress = 1;
    perfile_status st = add(m, "record-COMPRESSED", err);
    m->how.compress = 0;
    m->how.compress2 = 1;
    if (st == PERFILE_OK)
        st = add(m, "record-COMPRESSED2", err);
    m->how.compress2 = 0;
    m->how.type = usual.type;
    m->how.rounds = usual.rounds;
    return st;
}

/* Records and features of simpleperf, which runs on little-endian machines only. */
static perfile_status add_simpleperf(matrix *m, perfile_error *err)
{
    m->form = "simpleperf";
    m->how.form = PF_GENERATE_SIMPLEPERF;
    m->order = "little";
    m->how.byte_order = PERFILE_BYTE_ORDER_LITTLE;
    m->how.feature = NO_FEATURE;
    perfile_status st = add_types(m, err);
    m->how.type = PERFILE_RECORD_SAMPLE;
    m->how.rounds = FEW;
    return st == PERFILE_OK ? add_features(m, err) : st;
}

/* Directories: plain and compressed. */
static perfile_status add_directories(matrix *m, perfile_error *err)
{
    m->how.type = 0;
    m->how.feature = NO_FEATURE;
    m->how.n_events = 3;
    m->how.rounds = 2;
    perfile_status st = add(m, "feature-DIR_FORMAT", err);
    return st == PERFILE_OK ? add_compressed(m, err) : st;
}

/* What no kernel writes is in files of its own, so that a reader may stop at it. */
static perfile_status add_oddities(matrix *m, perfile_error *err)
{
    m->how.fields = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_READ;
    m->how.has_read_format = true;
    m->how.read_format = PERFILE_FORMAT_GROUP | PERFILE_FORMAT_ID;
    m->how.oddity = PF_GENERATE_EMPTY_GROUPS;
    perfile_status st = add(m, "odd-empty-groups", err);
    m->how.fields = 0;
    m->how.has_read_format = false;
    m->how.oddity = PF_GENERATE_BARE_TRACEPOINTS;
    if (st == PERFILE_OK)
        st = add(m, "odd-tracepoints-without-RAW", err);
    m->how.oddity = 0;
    return st;
}

/* A file of version 1, with samples and a feature. */
static perfile_status add_version_1(matrix *m, perfile_error *err)
{
    const uint32_t usual = m->how.form;
    m->how.form = PF_GENERATE_VERSION_1;
    m->how.feature = PERFILE_FEATURE_HOSTNAME;
    perfile_status st = add(m, "version-1", err);
    m->how.feature = NO_FEATURE;
    m->how.form = usual;
    return st;
}

static perfile_status add_all(matrix *m, perfile_error *err)
{
    m->how.type = PERFILE_RECORD_SAMPLE;
    m->how.feature = NO_FEATURE;
    m->how.n_events = 3;
    m->how.rounds = FEW;
    perfile_status st = add_types(m, err);
    if (st == PERFILE_OK)
        st = add_features(m, err);
    if (st == PERFILE_OK)
        st = add_fields(m, err);
    if (st == PERFILE_OK)
        st = add_read_formats(m, err);
    if (st == PERFILE_OK)
        st = add_attr_sizes(m, err);
    if (st == PERFILE_OK)
        st = add_oddities(m, err);
    if (st == PERFILE_OK && m->how.form == PERFILE_FORM_FILE)
        st = add_version_1(m, err);
    return st == PERFILE_OK ? add_compressed(m, err) : st;
}

perfile_status pf_generate_matrix(uint64_t seed, perfile_sink *folder,
                                  void (*missed)(void *user, const char *what), void *user,
                                  pf_matrix_summary *sum, perfile_error *err)
{
    static const struct {
        const char *name;
        uint32_t number;
    } forms[] = {{"file", PERFILE_FORM_FILE},
                 {"pipe", PERFILE_FORM_PIPE},
                 {"dir", PF_GENERATE_DIRECTORY}},
      orders[] = {{"little", PERFILE_BYTE_ORDER_LITTLE}, {"big", PERFILE_BYTE_ORDER_BIG}};
    char text[96];
    size_t at = 0;
    *sum = (pf_matrix_summary){0};
    matrix m = {.folder = folder, .sum = sum, .covered = pf_covered_new()};
    perfile_status st = m.covered ? PERFILE_OK : pf_fail_nomem(err, "generate");
    m.how.seed = seed;
    m.how.covered = m.covered;
    for (unsigned i = 0; i < 6 && st == PERFILE_OK; i++) {
        m.form = forms[i / 2].name;
        m.order = orders[i % 2].name;
        m.how.form = forms[i / 2].number;
        m.how.byte_order = orders[i % 2].number;
        st = m.how.form == PF_GENERATE_DIRECTORY ? add_directories(&m, err) : add_all(&m, err);
    }
    if (st == PERFILE_OK)
        st = add_simpleperf(&m, err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(folder, err);
    if (st == PERFILE_OK)
        sum->items = pf_covered_count(m.covered, &sum->covered);
    while (st == PERFILE_OK && pf_covered_missed(m.covered, &at, text, sizeof text))
        missed(user, text);
    pf_covered_free(m.covered);
    return st;
}
