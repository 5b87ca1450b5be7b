/* perfile_merge_captures(): several captures become one.
 *
 * Each input is opened, byte-swapped to the order of the first one, and sorted. perfile_merge()
 * merges these streams into one, and perfile_copy() writes it. src/sort reconciles attrs, ids,
 * clocks and features.
 *
 * This file adds: the name of the input in error messages, progress over all inputs, and the
 * division of the memory for sorting among them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/stream.h"
#include "io/out.h"
#include "lib/copy.h"
#include "perfile/merge_captures.h"
#include "perfile/byteswap.h"
#include "perfile/sort.h"
#include "io/command.h"
#include "base/command.h"
#include "core/command.h"
#include "sort/command.h"

typedef struct merging merging;

typedef struct input {
    merging *all;
    perfile_merge_source
        *in;                /* belongs to the caller, as in->source does until the merge succeeds */
    const char *name;       /* for messages */
    perfile_stream *stream; /* owned here until perfile_merge() succeeds, then by the merged
                             * stream */
    pf_notes *notes;        /* losses of byte-swapping; NULL if this input is not swapped */
    uint64_t done, total;   /* this input's part of merging.done and .total */
} input;

struct merging {
    input *inputs;
    size_t n;
    perfile_sink *sink;
    perfile_merge_options options;
    perfile_merge_captures_options writing;
    perfile_stream *stream; /* the merged stream; NULL until perfile_merge() succeeds */
    perfile_copy_summary copied;
    uint64_t done, total; /* progress, in bytes of all inputs */
    uint32_t unknown;     /* number of inputs of unknown size */
};

static bool fails_on_damage(const merging *m)
{
    return m->writing.on_damage == PERFILE_ON_DAMAGE_FAIL;
}

/* The stage puts the name of an input before its messages, and may have cut the beginning of a long
 * name.  Returns the message after "NAME: " if NAME is the end of `name`, NULL otherwise. */
static const char *strip_input_name(const char *message, const char *name)
{
    for (const char *end = name; *end; end++) {
        size_t n = strlen(end);
        if (strncmp(message, end, n) == 0 && message[n] == ':' && message[n + 1] == ' ')
            return message + n + 2;
    }
    return NULL;
}

/* Puts the input's name and the offset before the message: "b.data: offset 4096: …".  Names are cut
 * to 120 bytes, so that there is room for the message. */
static void name_input(const char *name, perfile_error *err)
{
    char message[sizeof err->message], offset[48] = "";
    if (!err)
        return;
    memcpy(message, err->message, sizeof message);
    if (!message[0])
        snprintf(message, sizeof message, "%s", pf_status_text(err->status));
    const char *words = strip_input_name(message, name);
    if (!words)
        words = message;
    if (err->offset != PERFILE_NO_OFFSET)
        snprintf(offset, sizeof offset, "offset %" PRIu64 ": ", err->offset);
    int used = snprintf(err->message, sizeof err->message, "%.120s: %s", name, offset);
    snprintf(err->message + used, sizeof err->message - (size_t)used, "%.*s",
             (int)(sizeof err->message - 1 - (size_t)used), words);
}

/* Callback of sorting an input: adds its progress to the sum.  Its total may become known, or grow,
 * while it is read. */
static void on_sort(void *user, uint64_t done, uint64_t total)
{
    input *x = user;
    merging *m = x->all;
    if (total != x->total) {
        m->unknown -= x->total == 0;
        m->unknown += total == 0;
        m->total += total - x->total;
        x->total = total;
    }
    m->done += done - x->done;
    x->done = done;
    if (m->writing.progress)
        m->writing.progress(m->writing.user, m->done, m->unknown ? 0 : m->total);
}

/* Adds the bytes of an input to the total, or counts it as unknown. */
static void begin_progress(input *x)
{
    x->total = pf_container_bytes(perfile_stream_container(x->stream));
    x->all->total += x->total;
    x->all->unknown += x->total == 0;
}

/* Callback of perfile_byteswap(): notes records and facts that could not be swapped completely. */
static perfile_status on_kept(void *user, const perfile_record *r, const perfile_feature *f,
                              const perfile_error *why)
{
    input *x = user;
    pf_notes_kept(x->notes, r, f, why);
    return PERFILE_OK;
}

/* Returns the byte order of a stream, as PERFILE_BYTE_ORDER_…. */
static uint32_t order_of(const perfile_stream *s)
{
    return pf_session_byte_order(perfile_stream_session(s));
}

/* Puts the byte-swap stage on the stream if its byte order is not `order`. */
static perfile_status swap_to(input *x, uint32_t order, perfile_error *err)
{
    perfile_byteswap_options how = {.size = sizeof how, .kept = on_kept, .user = x};
    if (order_of(x->stream) == order)
        return PERFILE_OK;
    x->notes = pf_alloc(1, sizeof *x->notes);
    if (!x->notes)
        return pf_fail_nomem(err, "merge");
    return perfile_byteswap(x->stream, order, &how, &x->stream, err);
}

/* Returns the memory that each input may use for sorting: an equal share, but at least what sorting
 * needs. */
static uint64_t memory_share(const merging *m)
{
    uint64_t all = m->writing.max_memory ? m->writing.max_memory : PERFILE_MERGE_MAX_MEMORY;
    uint64_t one = all / m->n;
    return one > PERFILE_SORT_LEAST_MEMORY ? one : PERFILE_SORT_LEAST_MEMORY;
}

/* Opens an input, and puts byte-swapping and sorting on it.  Each stage owns the one below. */
static perfile_status open_input(input *x, perfile_error *err)
{
    const merging *m = x->all;
    perfile_open_options how = {.size = sizeof how,
                                .on_damage = fails_on_damage(m) ? PERFILE_ON_DAMAGE_STOP
                                                                : m->writing.on_damage,
                                .deliver = PERFILE_DELIVER_DAMAGE,
                                .from = x->in->from,
                                .limits = m->writing.limits};
    perfile_sort_options sorting = {.size = sizeof sorting,
                                    .max_memory = memory_share(m),
                                    .max_mapped =
                                        m->writing.max_memory ? 0 : PERFILE_SORT_MAX_MAPPED,
                                    .temporary = m->writing.temporary,
                                    .progress = on_sort,
                                    .user = x};
    pf_source_hold(x->in->source); /* the stream closes it, perhaps already while it is opened */
    perfile_status st = perfile_open(x->in->source, &how, &x->stream, err);
    if (st != PERFILE_OK) {
        perfile_source_close(x->in->source);
        return st;
    }
    begin_progress(x);
    st = swap_to(x, order_of(m->inputs[0].stream), err);
    return st == PERFILE_OK ? perfile_sort(x->stream, &sorting, &x->stream, err) : st;
}

/* Opens all inputs in order.  The first one decides the byte order of all. */
static perfile_status open_all(merging *m, perfile_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        perfile_status st = open_input(&m->inputs[i], err);
        if (st != PERFILE_OK) {
            name_input(m->inputs[i].name, err);
            return st;
        }
    }
    return PERFILE_OK;
}

/* If damage is an error: fails if an input has damage.  Sorting has read the inputs to their ends,
 * so this is known before anything is written. */
static perfile_status check_damage(const merging *m, perfile_error *err)
{
    for (size_t i = 0; i < m->n && fails_on_damage(m); i++) {
        perfile_stream_summary sum;
        unsigned damage = 1;
        pf_stream_get_summary(m->inputs[i].stream, &sum, sizeof sum);
        if (sum.damages == 0)
            continue;
        while (damage + 1 < sizeof sum.by_damage / sizeof sum.by_damage[0] &&
               !sum.by_damage[damage])
            damage++;
        perfile_status st = pf_fail_damage(err, damage, "merge", sum.first_offset);
        name_input(m->inputs[i].name, err);
        return st;
    }
    return PERFILE_OK;
}

/* Merges the streams of the inputs.  On success m->stream owns them. */
static perfile_status merge_all(merging *m, perfile_error *err)
{
    perfile_merge_input *list = pf_alloc(m->n, sizeof *list);
    if (!list)
        return pf_fail_nomem(err, "merge");
    for (size_t i = 0; i < m->n; i++) {
        const input *x = &m->inputs[i];
        list[i] = (perfile_merge_input){.stream = x->stream,
                                        .name = x->name,
                                        .offset = x->in->offset,
                                        .has_offset = x->in->has_offset};
    }
    perfile_status st = perfile_merge(list, m->n, &m->options, &m->stream, err);
    pf_free(list);
    return st;
}

/* Puts the name of the failed input before the message: the input whose stream ended with an error,
 * or that the merge stage named. */
static void name_failed(const merging *m, perfile_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        const input *x = &m->inputs[i];
        if ((x->stream && x->stream->final < 0) ||
            (err && strip_input_name(err->message, x->name))) {
            name_input(x->name, err);
            return;
        }
    }
}

/* Callback of perfile_copy(): notes about the merged capture belong to no input (UINT32_MAX). */
static void on_note(void *user, const perfile_note *note)
{
    const merging *m = user;
    /* Damage is reported in the summary of the input that has it. */
    if (m->writing.note && note->kind != PERFILE_NOTE_DAMAGE)
        m->writing.note(m->writing.user, UINT32_MAX, note);
}

/* Writes the merged stream. */
static perfile_status write_all(merging *m, uint32_t form, perfile_error *err)
{
    perfile_writer_options how = pf_copy_writing(m->stream, form, m->writing.format);
    how.compress_level =
        m->writing.compress_level ? m->writing.compress_level : PERFILE_COMPRESS_AS_READ;
    const perfile_copy_options copying = {.size = sizeof copying,
                                          .flags = fails_on_damage(m) ? 0 : PERFILE_COPY_FORCE,
                                          .note = on_note,
                                          .user = m};
    return pf_copy_to(m->sink, &how, m->stream, &copying, &m->copied, err);
}

/* Runs the whole merge.  The result has the form of the first input unless the options choose one.
 * A directory becomes one file. */
static perfile_status merge(merging *m, perfile_error *err)
{
    perfile_status st = open_all(m, err);
    if (st != PERFILE_OK)
        return st;
    uint32_t form = perfile_stream_container(m->inputs[0].stream)->form;
    if (m->writing.form)
        form = m->writing.form;
    st = merge_all(m, err);
    if (st == PERFILE_OK && (st = check_damage(m, err)) != PERFILE_OK)
        return st;
    if (st == PERFILE_OK)
        st = write_all(m, form == PERFILE_FORM_PIPE ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE, err);
    if (st != PERFILE_OK)
        name_failed(m, err);
    return st;
}

/* Context of note_of_input(). */
typedef struct noted_input {
    const merging *all;
    uint32_t input; /* index of the input that the notes are about */
} noted_input;

/* Passes a note on with the index of its input. */
static void note_of_input(void *user, const perfile_note *note)
{
    const noted_input *t = user;
    t->all->writing.note(t->all->writing.user, t->input, note);
}

/* Fills the summaries of the inputs and reports their notes before they are closed, also after an
 * error.  Damage and losses of the merged capture are the sums over its inputs. */
static void report_inputs(merging *m)
{
    m->copied.damages = m->copied.lost = 0;
    for (size_t i = 0; i < m->n; i++) {
        const input *x = &m->inputs[i];
        perfile_stream_summary sum = {0};
        if (x->stream)
            pf_stream_get_summary(x->stream, &sum, sizeof sum);
        pf_result_out(x->in->summary, x->in->summary_size, &sum, sizeof sum);
        m->copied.damages += sum.damages;
        m->copied.lost += sum.lost;
        if (x->notes && m->writing.note)
            (void)pf_notes_report(x->notes, note_of_input, &(noted_input){m, (uint32_t)i});
    }
    if (m->stream && m->writing.merged)
        m->writing.merged(m->writing.user, m->stream);
}

/* Closes the merged stream, which owns the streams of the inputs, or those streams if merging did
 * not begin. */
static void close_all(merging *m)
{
    for (size_t i = 0; i < m->n; i++) {
        input *x = &m->inputs[i];
        if (!m->stream)
            perfile_stream_close(x->stream);
        pf_free(x->notes);
    }
    perfile_stream_close(m->stream);
    pf_free(m->inputs);
}

/* Makes the list of inputs. */
static perfile_status begin(merging *m, perfile_merge_source *in, size_t n, perfile_error *err)
{
    if (n == 0 || n >= UINT32_MAX)
        return pf_fail(err, PERFILE_E_USAGE, "merge.n", "%zu captures, at least one is needed", n);
    m->inputs = pf_alloc(n, sizeof *m->inputs);
    if (!m->inputs)
        return pf_fail_nomem(err, "merge");
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        const char *name = in[i].name ? in[i].name : pf_source_name(in[i].source);
        m->inputs[i] = (input){.all = m, .in = &in[i], .name = name};
    }
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = pf_item_check((const perfile_merge_source *)&in[i], "merge.in", err);
    return st;
}

perfile_status perfile_merge_captures(perfile_merge_source *in, size_t n, perfile_sink *sink,
                                      const perfile_merge_captures_options *options,
                                      perfile_merge_summary *summary, size_t size,
                                      perfile_error *err)
{
    merging m = {.sink = sink};
    perfile_merge_summary result = {0};
    perfile_status st = pf_options_copy(&m.writing, options, "merge_captures.options", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&m.options, m.writing.merge, "merge.options", err);
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&m.writing.on_damage, PERFILE_ON_DAMAGE_STOP,
                                  PERFILE_ON_DAMAGE_FAIL, "merge_captures.options", err);
    /* A caller can ask for failing in either struct; set it in both. */
    if (m.writing.on_damage == PERFILE_ON_DAMAGE_FAIL)
        m.options.flags |= PERFILE_MERGE_FAIL_ON_DAMAGE;
    else if (m.options.flags & PERFILE_MERGE_FAIL_ON_DAMAGE)
        m.writing.on_damage = PERFILE_ON_DAMAGE_FAIL;
    if (st == PERFILE_OK)
        st = begin(&m, in, n, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = pf_sink_add_inputs(sink, &in[i].source->inputs, err);
    if (st == PERFILE_OK)
        st = merge(&m, err);
    report_inputs(&m);
    if (m.stream)
        pf_merge_get_summary(m.stream, &result, sizeof result);
    pf_result_out(summary, size, &result, sizeof result);
    pf_result_out(m.writing.copied, m.writing.copied_size, &m.copied, sizeof m.copied);
    close_all(&m);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        perfile_source_close(in[i].source);
        in[i].source = NULL;
    }
    return st;
}
