/* perfile_merge(): checks the inputs, plans the merge and returns it as a stream.
 *
 * The steps in plan_merge() have a fixed order, because each needs the results of earlier ones.
 * First each input is read up to its first record. Inputs are sorted streams with totals, so
 * everything about them is known then. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "perfile/sort.h"
#include "schema/rows.h"
#include "sort/merge.h"
#include "core/command.h"
#include "sort/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 1 << 18 }; /* initial room for the rewritten records of a run */

/* Makes the session of the output and describes its container. All inputs need the same byte order
 * and record family. A perf.data output is described as a version 2 file, whatever the inputs are.
 */
static perfile_status begin_session(pf_merge *x, perfile_error *err)
{
    const perfile_stream *first = x->inputs[0].stream;
    for (uint32_t i = 1; i < x->n_inputs; i++)
        if (pf_session_swapped(x->inputs[i].session) != pf_session_swapped(x->inputs[0].session))
            return pf_fail(err, PERFILE_E_USAGE, "merge", "%s and %s are in different byte orders",
                           x->inputs[0].name, x->inputs[i].name);
    const perfile_container *c = perfile_stream_container(first);
    for (uint32_t i = 1; i < x->n_inputs; i++)
        if (perfile_stream_container(x->inputs[i].stream)->family != c->family)
            return pf_fail(err, PERFILE_E_USAGE, "merge",
                           "%s and %s hold records of different families", x->inputs[0].name,
                           x->inputs[i].name);
    const pf_family *family = pf_family_of((uint8_t)c->family);
    x->has_rounds = family && family->rounds;
    x->base.container.format = c->format;
    x->base.container.family = c->family;
    x->base.limits = first->limits;
    x->base.options = first->options;
    x->base.options.limits = &x->base.limits;
    x->base.name = x->inputs[0].name;
    x->base.sorted_by = PF_SORTED_BY_TIME;
    x->base.container.form = PERFILE_FORM_FILE;
    x->base.container.version = c->family == PERFILE_FAMILY_PERF ? 2 : c->version;
    x->base.container.byte_order = pf_session_byte_order(x->inputs[0].session);
    return pf_session_open(pf_session_swapped(x->inputs[0].session), &x->base.options,
                           &x->base.session, err);
}

/* Makes the parts of the output if those of the inputs have headers of their own: all parts of all
 * inputs, in order. So records of different CPUs can still be told apart. */
static perfile_status begin_parts(pf_merge *x, perfile_error *err)
{
    const perfile_container *first = perfile_stream_container(x->inputs[0].stream);
    const pf_family *family = pf_family_of((uint8_t)first->family);
    perfile_clock clock, other;
    uint32_t n = 0;
    if (!family || !family->walk_file_header)
        return PERFILE_OK;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        x->inputs[i].first_part = n;
        n += perfile_stream_container(x->inputs[i].stream)->n_parts;
    }
    x->parts = pf_alloc(n, sizeof *x->parts);
    x->cpus = pf_alloc(n, sizeof *x->cpus);
    if (!x->parts || !x->cpus)
        return pf_fail_nomem(err, "merge");
    perfile_session_clock(x->inputs[0].session, &clock);
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const perfile_container *c = perfile_stream_container(x->inputs[i].stream);
        perfile_session_clock(x->inputs[i].session, &other);
        if (family->ticks && (other.shift != clock.shift || other.mult != clock.mult))
            return pf_fail(err, PERFILE_E_USAGE, "merge",
                           "%s and %s have clocks of different frequency", x->inputs[0].name,
                           x->inputs[i].name);
        for (uint32_t k = 0; k < c->n_parts; k++) {
            x->cpus[x->n_parts] = c->parts[k].cpu;
            x->parts[x->n_parts++] = c->parts[k];
        }
    }
    x->base.container.parts = x->parts;
    x->base.container.n_parts = x->n_parts;
    pf_session_set_cpus_of_parts(x->base.session, x->cpus, x->n_parts);
    if (clock.has_conversion)
        pf_session_set_conversion(x->base.session, clock.shift, clock.mult);
    return PERFILE_OK;
}

/* Plans the merge and fills the heap. */
static perfile_status plan_merge(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++)
        st = pf_merge_require_totals(x, &x->inputs[i], err);
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++)
        st = pf_merge_begin_input(x, &x->inputs[i], err);
    if (st == PERFILE_OK)
        st = begin_session(x, err);
    if (st == PERFILE_OK)
        st = begin_parts(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_hosts(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_clocks(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_events(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_features(x, err);
    if (st == PERFILE_OK)
        st = pf_session_resolve(x->base.session, err);
    /* The first runs were fetched before offsets were known: examine them again, with keys in the
     * output's clock. */
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++) {
        pf_merge_input *in = &x->inputs[i];
        if (!in->ended)
            st = pf_merge_begin_run(x, in, err);
        if (st == PERFILE_OK && !in->ended)
            pf_merge_push(x, in);
    }
    if (st == PERFILE_OK && !pf_buffer_reserve(&x->bytes, BYTES))
        st = pf_fail_nomem(err, "merge");
    /* Captures of other families have no host name or CPUID to distinguish machines. */
    if (x->base.container.family == PERFILE_FAMILY_PERF)
        x->result.boots = x->n_boots;
    else
        x->result.hosts = 0;
    return st;
}

/* Fills x->rules from format/merging.def. */
static void load_rules(pf_merge *x)
{
#define MERGE_KIND(kind, rule) x->rules[PERFILE_KIND_##kind] = PF_MERGE_##rule;
#include "perfile/format/merging.def"
}

/* Returns the last folders of a long path: messages are short, and their advice matters more than a
 * long path. */
static const char *short_name(const char *name)
{
    enum { MOST = 48 };
    size_t n = strlen(name);
    if (n <= MOST)
        return name;
    const char *slash = strchr(name + n - MOST, '/');
    return slash && slash[1] ? slash + 1 : name + n - MOST;
}

/* Sets up x->inputs from the caller's inputs. The caller owns the streams until success. */
static perfile_status init_inputs(pf_merge *x, const perfile_merge_input *inputs, size_t n,
                                  perfile_error *err)
{
    x->inputs = pf_alloc(n, sizeof *x->inputs);
    x->heap.at = pf_alloc(n, sizeof *x->heap.at);
    if (!x->inputs || !x->heap.at)
        return pf_fail_nomem(err, "merge");
    for (size_t i = 0; i < n; i++) {
        perfile_status st = pf_item_check(&inputs[i], "merge.inputs", err);
        if (st != PERFILE_OK)
            return st;
        if (pf_stream_sorted_by(inputs[i].stream) != PF_SORTED_BY_TIME)
            return pf_fail(err, PERFILE_E_USAGE, "merge", "%s is not sorted: see perfile_sort()",
                           inputs[i].name);
        /* The result reads all sources of its inputs; perfile_copy() refuses to overwrite them. */
        if (!pf_inputs_join(&x->base.inputs, pf_stream_inputs(inputs[i].stream)))
            return pf_fail_nomem(err, "merge");
        x->inputs[i] = (pf_merge_input){.stream = inputs[i].stream,
                                        .caller_stream = inputs[i].stream,
                                        .name = short_name(inputs[i].name),
                                        .at = (uint32_t)i,
                                        .has_offset = inputs[i].has_offset,
                                        .given_offset = inputs[i].offset,
                                        .last_fragment = PERFILE_NO_SEQUENCE};
    }
    x->n_inputs = (uint32_t)n;
    x->result.inputs = (uint32_t)n;
    return PERFILE_OK;
}

/* On success the merge owns the streams of the inputs. On failure the caller owns them again,
 * without a sorting stage that may have been put on them. */
perfile_status perfile_merge(const perfile_merge_input *inputs, size_t n,
                             const perfile_merge_options *options, perfile_stream **stream,
                             perfile_error *err)
{
    if (n == 0 || n >= PF_MERGE_NO_INPUT)
        return pf_fail(err, PERFILE_E_USAGE, "merge", "there is nothing to be merged");
    pf_merge *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "merge");
    x->base.ops = &pf_merge_ops;
    /* An empty run, so that the first call fills it. */
    x->base.at = x->base.end = x->base.run;
    x->aux_input = x->thread_map_input = PF_MERGE_NO_INPUT;
    x->owners.seed = pf_index_seed(x);
    perfile_status st = pf_options_copy(&x->options, options, "merge.options", err);
    load_rules(x);
    if (st == PERFILE_OK)
        st = init_inputs(x, inputs, n, err);
    if (st == PERFILE_OK)
        st = plan_merge(x, err);
    if (st != PERFILE_OK) {
        for (uint32_t i = 0; i < x->n_inputs; i++)
            pf_merge_return_stream(&x->inputs[i]);
        pf_inputs_free(&x->base.inputs);
        pf_merge_release(x);
        return st;
    }
    *stream = &x->base;
    return PERFILE_OK;
}

/* An input of a merge: its totals and damage before its first record, then its records one by one.
 *
 * A stream provides the sort keys of a run as an array (`keys`), so the merge compares keys without
 * reading records. */

/* Returns true for a fragment, an envelope, or a record from an envelope. */
static bool is_fragment_or_inner(const perfile_record *r)
{
    return r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

/* Makes the n records at in->next the current run. */
static void set_run(pf_merge_input *in, size_t n)
{
    const perfile_stream *s = in->stream;
    in->end = in->next + n;
    in->next_key = s->keys + (in->next - s->run);
}

/* Returns true for records that are never written: FINISHED_ROUNDs, which are made again, and
 * envelopes. Fragments are written only if records of the input do not change; otherwise the joined
 * record is written instead. */
static bool never_goes_out(const pf_merge_input *in, const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND ||
           (r->flags & PERFILE_REC_ENVELOPE && !(pf_is_joined_fragment(r) && in->plain));
}

bool pf_merge_skip_to_next(pf_merge *x, pf_merge_input *in)
{
    /* Records of facts are dropped here: the facts are in the sessions of the inputs, and so in the
     * output. */
    for (; in->next < in->end; in->next++, in->next_key++) {
        const bool state =
            pf_marks_of(in->next) & PF_ROW_STATE && pf_role_of(in->next) != PF_ROLE_DATA;
        if (state || pf_marks_of(in->next) & PF_ROW_SECTION)
            x->result.facts++; /* the session has it, or the writer makes it again */
        else if (!never_goes_out(in, in->next))
            break;
    }
    if (in->next == in->end)
        return false;
    /* Reading *next_key is all that ordering costs; records are not touched. */
    in->key = pf_merge_key(in, *in->next_key);
    /* A sequence of fragments ends at the first record that is neither fragment nor inner record.
     */
    in->in_fragments = in->in_fragments && is_fragment_or_inner(in->next);
    return true;
}

/* Saves a damage record, to be yielded before all records; a sorting stage reports all damage
 * before its records. Beyond MOST of them only the summary counts. Fails with
 * PERFILE_MERGE_FAIL_ON_DAMAGE. */
static perfile_status keep_damage(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                  perfile_error *err)
{
    enum { MOST = 1 << 16 };
    if (x->options.flags & PERFILE_MERGE_FAIL_ON_DAMAGE) {
        perfile_error what;
        perfile_status st = pf_fail_damage(&what, r->damage, "merge", r->offset);
        st = pf_fail(err, st, "merge", "%s: %s", in->name, what.message);
        pf_error_at(err, r->offset);
        return st;
    }
    perfile_record mine = *r;
    /* The record outlives its run, so it must not point to bytes of the run. */
    mine.body.ptr = NULL;
    mine.header = NULL;
    mine.part = in->at;
    if (x->pending_damage.len / sizeof mine >= MOST)
        return PERFILE_OK; /* the summary counts it */
    return pf_buffer_append(&x->pending_damage, &mine, sizeof mine) ? PERFILE_OK
                                                                    : pf_fail_nomem(err, "merge");
}

perfile_status pf_merge_next_run(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_status st;
    size_t n;
    while ((st = perfile_stream_next_run(in->stream, &in->next, &n, err)) == PERFILE_OK) {
        if (in->next->family != PERFILE_FAMILY_DAMAGE) {
            set_run(in, n);
            if (pf_merge_skip_to_next(x, in))
                return PERFILE_OK;
            continue;
        }
        st = keep_damage(x, in, in->next, err);
        if (st != PERFILE_OK)
            return st;
    }
    in->next = in->end = NULL;
    in->ended = st == PERFILE_END;
    return in->ended ? PERFILE_OK : st;
}

perfile_status pf_merge_begin_run(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    return pf_merge_skip_to_next(x, in) ? PERFILE_OK : pf_merge_next_run(x, in, err);
}

/* Adds the summary of an input to the one of the merge. */
static void add_summary(perfile_stream_summary *to, const perfile_stream_summary *s)
{
    if (to->damages == 0)
        to->first_offset = s->first_offset;
    to->records += s->records;
    to->bytes += s->bytes;
    to->inner_records += s->inner_records;
    to->inner_bytes += s->inner_bytes;
    to->damages += s->damages;
    to->lost += s->lost;
    for (size_t i = 0; i < sizeof s->by_damage / sizeof s->by_damage[0]; i++)
        to->by_damage[i] += s->by_damage[i];
    to->unknown_types += s->unknown_types;
    to->unknown_features += s->unknown_features;
    to->missing += s->missing;
}

/* Returns true if records of the stream can have times. Families other than perf always do; perf
 * needs an event with PERF_SAMPLE_TIME. */
static bool has_times(const perfile_stream *stream)
{
    const perfile_session *s = perfile_stream_session(stream);
    uint32_t n = pf_session_n_events(s);
    if (perfile_stream_container(stream)->family != PERFILE_FAMILY_PERF)
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (perfile_session_event(s, i)->layout->sample_type & PERFILE_SAMPLE_TIME)
            return true;
    return false;
}

/* A stream without totals is read to its end and its records are held, because events and clocks of
 * the output depend on the whole input. The inputs share PERFILE_SORT_MAX_MEMORY. */
perfile_status pf_merge_require_totals(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    const uint64_t memory = PERFILE_SORT_MAX_MEMORY / x->n_inputs;
    const perfile_sort_options how = {
        .size = sizeof how,
        .flags = PERFILE_SORT_WHOLE,
        .max_memory = memory > PERFILE_SORT_LEAST_MEMORY ? memory : PERFILE_SORT_LEAST_MEMORY};
    if (in->stream->totals)
        return PERFILE_OK;
    return perfile_sort(in->caller_stream, &how, &in->stream, err);
}

void pf_merge_return_stream(pf_merge_input *in)
{
    if (in->stream != in->caller_stream) {
        in->stream->below = NULL;
        perfile_stream_close(in->stream);
    }
    in->stream = in->caller_stream;
}

/* Requests damage records from all stages below, since the summary of the merge has to count them.
 */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_stream_summary sum;
    for (perfile_stream *s = in->stream; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    in->plain = true; /* until offsets are known, no fragment may be skipped */
    perfile_status st = pf_merge_next_run(x, in, err);
    if (st != PERFILE_OK)
        return st;
    const pf_totals *totals = in->stream->totals;
    pf_stream_get_summary(in->stream, &sum, sizeof sum);
    add_summary(&x->base.summary, &sum);
    in->session = perfile_stream_session(in->stream);
    in->n_events = pf_session_n_events(in->session);
    in->first_sample = totals->first_sample;
    in->last_sample = totals->last_sample;
    in->n_samples = totals->timed_samples;
    in->first_bytes = totals->first_bytes;
    in->bytes = totals->bytes;
    in->kernel = totals->kernel_address;
    in->clock_reason =
        totals->timed && has_times(in->stream) ? PF_MERGE_CLOCK_FIRST : PF_MERGE_CLOCK_NONE;
    in->ids.seed = pf_index_seed(in);
    return PERFILE_OK;
}

/* Results of a merge: notes and conflicts while it runs, and the public functions that return
 * summaries, ids and pids. */

/* Does nothing if options.note is NULL. */
void pf_merge_report(const pf_merge *x, const perfile_merge_note *note)
{
    if (x->options.note)
        x->options.note(x->options.user, note);
}

perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!(x->options.flags & PERFILE_MERGE_DROP_CONFLICTING))
        return pf_fail(err, PERFILE_E_USAGE, "merge", "%s", text);
    const perfile_merge_note note = {PERFILE_MERGE_NOTE_CONFLICT, number, input, 0, 1, text};
    pf_merge_report(x, &note);
    return PERFILE_OK;
}

/* Returns the merge that `s` is or is based on, NULL if there is none. */
static const pf_merge *stage_of(const perfile_stream *s)
{
    while (s && s->ops != &pf_merge_ops)
        s = s->below;
    return (const pf_merge *)(const void *)s;
}

void pf_merge_get_summary(const perfile_stream *stream, perfile_merge_summary *out, size_t size)
{
    const perfile_merge_summary none = {0};
    /* All zeros if the stream is not based on a merge. */
    const pf_merge *x = stage_of(stream);
    memcpy(out, x ? &x->result : &none, size < sizeof none ? size : sizeof none);
}

void pf_merge_get_input_summary(const perfile_stream *stream, size_t position,
                                pf_merge_input_summary *out, size_t size)
{
    pf_merge_input_summary one = {0};
    const pf_merge *x = stage_of(stream);
    if (x && position < x->n_inputs) {
        const pf_merge_input *in = &x->inputs[position];
        one = in->result;
        one.offset = (int64_t)in->offset;
        one.clock = in->clock_reason;
        /* Internally "host" is a boot; the interface has both. */
        one.host = in->machine;
        one.boot = in->host;
        one.part_of = in->first_of_recording;
    }
    memcpy(out, &one, size < sizeof one ? size : sizeof one);
}

bool pf_merge_get_id(const perfile_stream *stream, size_t position, size_t k, pf_merge_id_pair *out,
                     size_t size)
{
    const pf_merge *x = stage_of(stream);
    if (!x || position >= x->n_inputs ||
        k >= x->inputs[position].new_ids.len / sizeof(pf_merge_id_pair))
        return false;
    const uint8_t *all = x->inputs[position].new_ids.ptr;
    memcpy(out, all + k * sizeof(pf_merge_id_pair),
           size < sizeof(pf_merge_id_pair) ? size : sizeof(pf_merge_id_pair));
    return true;
}

/* Boot h has the pids from h * PERFILE_MERGE_PIDS on. */
bool pf_merge_get_pid(const perfile_stream *stream, size_t position, uint32_t after, uint32_t *pid,
                      uint32_t *new_pid)
{
    const pf_merge *x = stage_of(stream);
    /* UINT32_MAX: start with the first pid. */
    uint64_t at = after == UINT32_MAX ? 0 : (uint64_t)after + 1;
    if (!x || position >= x->n_inputs || !pf_pids_next(&x->inputs[position].moved_pids, &at, pid))
        return false;
    *new_pid = *pid + x->inputs[position].host * PERFILE_MERGE_PIDS;
    return true;
}

const char *pf_merge_note_name(uint32_t kind)
{
    /* These names are part of the interface. */
    static const char *const names[PERFILE_N_MERGE_NOTES] = {
        [PERFILE_MERGE_NOTE_JOINED] = "joined",     [PERFILE_MERGE_NOTE_DROPPED] = "dropped",
        [PERFILE_MERGE_NOTE_CONFLICT] = "conflict", [PERFILE_MERGE_NOTE_RECORDS] = "records",
        [PERFILE_MERGE_NOTE_CHANGED] = "changed",   [PERFILE_MERGE_NOTE_MIXED] = "mixed"};
    return kind < PERFILE_N_MERGE_NOTES ? names[kind] : "";
}

const char *pf_merge_clock_name(uint32_t clock)
{
    static const char *const names[] = {
        [PF_MERGE_CLOCK_FIRST] = "its own",           [PF_MERGE_CLOCK_GIVEN] = "offset",
        [PF_MERGE_CLOCK_ALIGNED] = "aligned",         [PF_MERGE_CLOCK_RECORDING] = "same recording",
        [PF_MERGE_CLOCK_BOOT] = "same boot",          [PF_MERGE_CLOCK_WALL] = "wall clock",
        [PF_MERGE_CLOCK_GLOBAL] = "the same for all", [PF_MERGE_CLOCK_NONE] = "no times"};
    return clock < sizeof names / sizeof names[0] ? names[clock] : "";
}
