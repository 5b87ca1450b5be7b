/* perfile_split_capture() and pf_split_stream(): one capture becomes several.
 *
 * The capture is read several times:
 * 1. if needed, a pass that collects names of threads and the size of side-band
 *    (pf_split_first_pass());
 * 2. a pass that finds the parts (pf_split_find());
 * 3. for each lot of parts, a pass that finds the side-band that each part needs, and one that
 *    writes the parts (pf_split_write(), split_write.c).
 *
 * Nothing is stored per record between the passes: each computes again to which part a record
 * belongs.
 *
 * With a pattern, the files are written into a temporary folder and get their names together at the
 * end (io/out_set.c), so that a failed split leaves no files.  Names and the total size of the
 * facts are checked before anything is written. */
#include "lib/split.h"

#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"
#include "lib/copy.h"
#include "filter/command.h"
#include "lib/command.h"
#include "core/command.h"

/* Returns the number of passes over the capture, for progress.  Until the parts are found, one lot
 * is assumed. */
static uint64_t count_passes(const pf_splitting *s)
{
    uint64_t lots = (s->split.n + s->lot - 1) / s->lot;
    if (!s->found || lots == 0)
        lots = 1;
    return (s->scanned ? 2 : 1) + lots * (s->split.state ? 2 : 1);
}

void pf_split_report(void *splitting, const perfile_record *at)
{
    pf_splitting *s = splitting;
    if (at->family == PERFILE_FAMILY_DAMAGE && s->finding)
        pf_notes_record(&s->notes, PERFILE_NOTE_DAMAGE, UINT32_MAX, at->damage, at->body.len, at);
    pf_progress *p = &s->all.progress;
    if (pf_progress_at(p, at) && s->writing.progress)
        s->writing.progress(s->writing.user,
                            pf_progress_share(s->all.n - 1, count_passes(s), p->done, p->total),
                            p->total);
}

/* Fails if damage is an error and the stream has found damage. */
static perfile_status refuse_damage(const pf_splitting *s, const perfile_stream *stream,
                                    perfile_error *err)
{
    perfile_stream_summary sum;
    pf_stream_get_summary(stream, &sum, sizeof sum);
    return s->failing && sum.damages ? pf_damage_refuse(&sum, "copy", err) : PERFILE_OK;
}

/* The first passes: find the parts. */
static perfile_status find_parts(pf_splitting *s, perfile_error *err)
{
    perfile_stream *stream;
    perfile_stream_summary sum;
    perfile_status st = PERFILE_OK;
    s->split.progress = pf_split_report;
    s->split.progress_user = s;
    if (pf_split_needs_first_pass(&s->split)) {
        st = pf_passes_open(&s->all, &s->scanned, err);
        if (st == PERFILE_OK)
            st = pf_split_first_pass(&s->split, s->scanned, err);
        if (st == PERFILE_OK)
            st = refuse_damage(s, s->scanned, err);
    }
    if (st == PERFILE_OK)
        st = pf_passes_open(&s->all, &stream, err);
    if (st != PERFILE_OK)
        return st;
    s->finding = true;
    st = pf_split_find(&s->split, stream, err);
    s->finding = false;
    s->found = stream;
    pf_stream_get_summary(stream, &sum, sizeof sum);
    s->sum.records = s->split.records;
    s->sum.samples = s->split.samples;
    s->sum.damages = sum.damages;
    s->sum.lost = sum.lost;
    s->form = s->writing.form ? s->writing.form : perfile_stream_container(stream)->form;
    return st == PERFILE_OK ? refuse_damage(s, stream, err) : st;
}

/* Checks pattern and output before anything is read, because reading may take long.  Creates the
 * set of files with its temporary folder.  The caller gets the folder's path so that it can remove
 * it when it is killed.  A pattern without %s gives names that differ only in their number: only
 * the first one is checked now, all of them in name_parts(). */
static perfile_status begin_output(pf_splitting *s, perfile_error *err)
{
    const char *pattern = s->split.options.pattern, *name;
    pf_split_names names = {0};
    bool replace = s->split.options.flags & PERFILE_SPLIT_REPLACE;
    if (!pattern && s->writing.archive)
        return pf_fail(err, PERFILE_E_USAGE, "split.archive",
                       "a function that opens the parts makes archives itself");
    if (!pattern)
        return s->writing.open ? PERFILE_OK
                               : pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                                         "missing output: give a pattern for the names of the "
                                         "parts, or a function that opens them");
    const pf_inputs *inputs;
    perfile_status st = pf_split_name(&names, pattern, 0, "0", &name, err);
    if (st == PERFILE_OK)
        st = pf_passes_inputs(&s->all, &inputs, err);
    if (st == PERFILE_OK)
        st = pf_out_set_new(name, "perfile-split", replace, inputs, &s->set, err);
    if (st == PERFILE_OK && !strstr(pattern, "%s"))
        st = pf_out_set_check_name(s->set, name, err);
    if (st == PERFILE_OK && s->writing.temporary)
        s->writing.temporary(s->writing.user, pf_out_set_folder(s->set));
    pf_split_names_free(&names);
    return st;
}

/* Makes the names of all parts, and checks that they may be written, before the first part is
 * written. */
static perfile_status name_parts(pf_splitting *s, perfile_error *err)
{
    const char *name, *pattern = s->split.options.pattern;
    char buffer[24];
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < s->split.n && pattern && st == PERFILE_OK; i++) {
        const char *key = pf_split_key_text(&s->split, pf_split_homes(&s->split)[i].key, buffer);
        st = pf_split_name(&s->names, pattern, i, key, &name, err);
        if (st == PERFILE_OK)
            st = pf_out_set_check_name(s->set, name, err);
        if (st == PERFILE_OK && !pf_buffer_append(&s->name_of, &name, sizeof name))
            st = pf_fail_nomem(err, "split");
    }
    return st;
}

/* Callback of the set of files: returns the path of part `n`. */
static const char *name_at(void *splitting, uint32_t n)
{
    const pf_splitting *s = splitting;
    return ((const char *const *)(const void *)s->name_of.ptr)[n];
}

void pf_split_describe(const pf_splitting *s, uint32_t n, char buffer[24], perfile_split_part *out)
{
    const pf_split_home *home = &pf_split_homes(&s->split)[n];
    *out = (perfile_split_part){.number = n,
                                .records = home->records,
                                .samples = home->samples,
                                .first_time = home->first_time,
                                .last_time = home->last_time};
    if (!s->split.in_order)
        out->key = pf_split_key_text(&s->split, home->key, buffer);
    if (s->name_of.len)
        out->name = ((const char *const *)(const void *)s->name_of.ptr)[n];
}

/* Begins passes over `source`, or if that is NULL over streams that open() makes. */
static perfile_status begin_passes(pf_splitting *s, perfile_source *source, pf_stream_opener open,
                                   void *user, perfile_error *err)
{
    s->failing = s->writing.on_damage == PERFILE_ON_DAMAGE_FAIL;
    if (!source) {
        pf_passes_of_streams(&s->all, open, user, PERFILE_DELIVER_DAMAGE);
        return PERFILE_OK;
    }
    const perfile_open_options how = {.size = sizeof how,
                                      .on_damage = s->failing ? PERFILE_ON_DAMAGE_STOP
                                                              : s->writing.on_damage,
                                      .deliver = PERFILE_DELIVER_DAMAGE,
                                      .from = s->writing.from,
                                      .limits = s->writing.limits};
    return pf_passes_begin(&s->all, source, &how, err);
}

/* Returns how many parts may be open at once, given the limit of the process for open files, and
 * the memory needed if each part is an archive. */
static uint32_t parts_at_once(const pf_splitting *s)
{
    if (s->writing.archive)
        return PF_SPLIT_OPEN_ARCHIVES;
    enum { OTHERS = 64 }; /* other files that the process may have open */
    struct rlimit files;
    bool many = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= PF_SPLIT_OPEN + OTHERS;
    return many ? PF_SPLIT_OPEN : PF_SPLIT_OPEN_LEAST;
}

/* Sets how many bytes all parts may have: limits.growth_ratio times the bytes of the capture, after
 * decompression if it is compressed. 16 MiB more are always allowed: most bytes of a capture of a
 * few kB are facts, which each part repeats. */
static void set_growth_limit(pf_splitting *s)
{
    enum { ALWAYS = 16 << 20 };
    const perfile_limits limits = s->limits;
    perfile_stream_summary sum;
    pf_stream_get_summary(s->found, &sum, sizeof sum);
    uint64_t bytes = pf_container_bytes(perfile_stream_container(s->found)), most;
    bytes = sum.inner_bytes > bytes ? sum.inner_bytes : bytes;
    bytes = sum.bytes > bytes ? sum.bytes : bytes; /* a merged stream has several inputs */
    if (limits.growth_ratio == UINT64_MAX ||
        __builtin_mul_overflow(bytes, limits.growth_ratio, &most) ||
        pf_add_u64(most, ALWAYS, &s->most))
        s->most = UINT64_MAX;
}

/* Fails with PERFILE_E_LIMIT: the parts would become larger than limits.growth_ratio allows. */
static perfile_status refuse_growth(const pf_splitting *s, perfile_error *err)
{
    return pf_fail(
        err, PERFILE_E_LIMIT, "growth_ratio",
        "%u parts repeat the side-band that each of them needs, and would have more than "
        "%llu bytes together: make larger parts, or repeat less of the side-band",
        s->split.n, (unsigned long long)s->most);
}

perfile_status pf_split_grew(pf_splitting *s, uint64_t bytes, perfile_error *err)
{
    s->grown += bytes;
    return s->grown > s->most ? refuse_growth(s, err) : PERFILE_OK;
}

/* Counts the facts (attrs, features) that every part has.  Their sum is known, and checked against
 * the limit, before anything is written. */
static perfile_status count_facts(pf_splitting *s, perfile_error *err)
{
    uint64_t all = 0;
    set_growth_limit(s);
    if (s->most != UINT64_MAX &&
        (__builtin_mul_overflow(pf_split_least_fact_bytes(s->found), (uint64_t)s->split.n, &all) ||
         all > s->most))
        return refuse_growth(s, err);
    s->grown = s->most == UINT64_MAX ? 0 : all;
    return PERFILE_OK;
}

/* Runs the whole split, from checking the output to writing the last part. */
static perfile_status split(pf_splitting *s, perfile_error *err)
{
    perfile_status st = begin_output(s, err);
    if (st == PERFILE_OK)
        st = pf_passes_spool(&s->all, err);
    if (st == PERFILE_OK)
        st = find_parts(s, err);
    if (st == PERFILE_OK)
        st = count_facts(s, err);
    if (st == PERFILE_OK)
        st = name_parts(s, err);
    for (uint32_t i = 0; i < s->split.n && st == PERFILE_OK; i += s->lot)
        st = pf_split_write(s, i, err);
    return st;
}

/* On success gives all files their names at once; otherwise removes them. */
static perfile_status end_output(pf_splitting *s, perfile_status st, perfile_error *err)
{
    if (!s->set)
        return st;
    if (s->writing.temporary)
        s->writing.temporary(s->writing.user, NULL);
    if (st == PERFILE_OK)
        st = pf_out_set_appear(s->set, name_at, s, err);
    pf_out_set_close(s->set);
    return st;
}

/* Both public functions.  *source may be NULL, and may be replaced by a temporary file; the caller
 * closes the *source that it has at the end. */
static perfile_status split_all(perfile_source **source, pf_stream_opener open, void *user,
                                const perfile_split_options *options,
                                const perfile_split_capture_options *writing,
                                perfile_split_summary *sum, size_t size, perfile_error *err)
{
    perfile_split_options how;
    pf_splitting *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "split");
    perfile_status st = pf_options_copy(&how, options, "split.options", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&s->writing, writing, "split.writing", err);
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&s->writing.on_damage, PERFILE_ON_DAMAGE_STOP,
                                  PERFILE_ON_DAMAGE_FAIL, "split.writing", err);
    if (st == PERFILE_OK)
        st = pf_limits_copy(&s->limits, s->writing.limits, err);
    if (st == PERFILE_OK)
        st = pf_split_check(&how, err);
    if (st == PERFILE_OK)
        st = pf_split_init(&s->split, &how, err);
    if (st == PERFILE_OK) {
        s->lot = parts_at_once(s);
        st = begin_passes(s, *source, open, user, err);
        if (st == PERFILE_OK)
            st = end_output(s, split(s, err), err);
        *source = s->all.source;
        pf_notes_report(&s->notes, s->writing.note, s->writing.user);
        pf_result_out(sum, size, &s->sum, sizeof s->sum);
    }
    perfile_stream_close(s->found);
    perfile_stream_close(s->scanned);
    pf_passes_end(&s->all);
    pf_split_free(&s->split);
    pf_split_names_free(&s->names);
    pf_buffer_free(&s->name_of);
    pf_free(s);
    return st;
}

perfile_status perfile_split_capture(perfile_source *source, const perfile_split_options *options,
                                     const perfile_split_capture_options *writing,
                                     perfile_split_summary *sum, size_t size, perfile_error *err)
{
    perfile_source *const given = source;
    pf_source_hold(given);
    perfile_status st = split_all(&source, NULL, NULL, options, writing, sum, size, err);
    perfile_source_close(source);
    pf_source_settle(given, st);
    return st;
}

perfile_status pf_split_stream(pf_stream_opener open, void *user,
                               const perfile_split_options *options,
                               const perfile_split_capture_options *writing,
                               perfile_split_summary *sum, size_t size, perfile_error *err)
{
    perfile_source *none = NULL;
    return split_all(&none, open, user, options, writing, sum, size, err);
}
