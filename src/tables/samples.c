/* Rows of samples.
 *
 * The sample's own fields are written at once.  The columns for its stack and its address are
 * filled in when a batch is full: functions are then looked up for all new frames, and ids of
 * content are computed once for each frame and stack. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "core/layout.h"
#include "perfile/abi.h"
#include "perfile/records.h"
#include "tables/tables.h"
#include "schema/command.h"

/* The data for the late columns of a row. */
typedef struct waiting {
    uint32_t frame; /* of its address; PF_INTERN_NONE: none */
    uint32_t stack;
} waiting;

/* The state of this maker. */
typedef struct pf_samples_maker {
    waiting *rows;    /* of the batch */
    size_t n_alone;   /* rows without a batch: only stacks are wanted, not samples */
    pf_index cgroups; /* id of a control group to index of its path in … */
    pf_buffer paths;  /* const char *, of the profile's texts */
} pf_samples_maker;

/* Columns that are filled in when the batch is full. */
static const size_t late[] = {PF_AT(samples, module), PF_AT(samples, function),
                              PF_AT(samples, frame_id), PF_AT(samples, stack_id)};

static void mark_late(pf_tables *x)
{
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        x->at[PF_TABLE_samples].batch->columns[late[i]].by_hand = true;
}

static bool begin(pf_tables *x)
{
    pf_samples_maker *m = pf_alloc(1, sizeof *m);
    x->samples = m;
    if (!m)
        return false;
    m->cgroups.seed = pf_index_seed(m);
    m->rows = pf_alloc(PF_BATCH_ROWS, sizeof *m->rows);
    if (m->rows && pf_table_wanted(x, PF_TABLE_samples))
        mark_late(x);
    return m->rows;
}

static void close_maker(pf_tables *x)
{
    pf_samples_maker *m = x->samples;
    if (!m)
        return;
    pf_index_free(&m->cgroups);
    pf_buffer_free(&m->paths);
    pf_free(m->rows);
    pf_free(m);
    x->samples = NULL;
}

/* Stores the path of a CGROUP record.  It precedes the samples of its group. */
static bool note(pf_tables *x, const pf_profiled *about)
{
    pf_samples_maker *m = x->samples;
    perfile_cgroup v;
    if (about->record->type != PERFILE_RECORD_CGROUP ||
        perfile_cgroup_decode(about->record, &v, sizeof v, NULL) != PERFILE_OK ||
        pf_index_get(&m->cgroups, v.id) != PF_INDEX_NONE)
        return true;
    const char *path = pf_texts_keep(&x->x.profile.texts, v.path);
    return path && pf_index_put(&m->cgroups, v.id, (uint32_t)(m->paths.len / sizeof path)) &&
           pf_buffer_append(&m->paths, &path, sizeof path);
}

/* Fields that few captures have. */

static void put_cgroup(pf_tables *x, uint64_t id)
{
    char number[24];
    const uint32_t at = pf_index_get(&x->samples->cgroups, id);
    snprintf(number, sizeof number, "%" PRIu64, id);
    pf_column_text(PF_COLUMN(x, samples, cgroup),
                   at == PF_INDEX_NONE
                       ? number
                       : ((const char *const *)(const void *)x->samples->paths.ptr)[at]);
}

/* Appends a word to a list. */
static void add_word(char *text, size_t size, const char *word)
{
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n ? "|" : "", word);
}

/* Writes a single bit as a truth value, other bit fields of a word as words; nothing for one that
 * is empty. */
static void put_part(pf_table_column *c, const perfile_bits *part, uint64_t word)
{
    char text[256] = "";
    const uint64_t value = word >> part->shift & ((UINT64_C(1) << part->width) - 1);
    const perfile_vocabulary *words = part->values;
    if (part->width == 1) {
        pf_column_bool(c, value);
        return;
    }
    if (words->n && !words->bits) {
        const char *name = perfile_vocabulary_word(words, value);
        snprintf(text, sizeof text, "%" PRIu64, value);
        pf_column_text(c, name ? name : text);
        return;
    }
    for (uint32_t i = 0; i < words->n; i++)
        if (value >> words->bits[i].shift & 1)
            add_word(text, sizeof text, words->bits[i].name);
    if (text[0])
        pf_column_text(c, text);
}

static void put_data_src(pf_tables *x, uint64_t word)
{
    static const struct {
        const char *part;
        size_t column;
    } parts[] = {{"op", PF_IN(samples, data_src, op)},
                 {"lvl", PF_IN(samples, data_src, level)},
                 {"lvl_num", PF_IN(samples, data_src, level_num)},
                 {"snoop", PF_IN(samples, data_src, snoop)},
                 {"snoopx", PF_IN(samples, data_src, snoopx)},
                 {"remote", PF_IN(samples, data_src, remote)},
                 {"dtlb", PF_IN(samples, data_src, tlb)},
                 {"lock", PF_IN(samples, data_src, lock)},
                 {"blk", PF_IN(samples, data_src, blk)},
                 {"hops", PF_IN(samples, data_src, hops)}};
    const perfile_vocabulary *v = pf_kind_words(PERFILE_KIND_DATA_SRC);
    pf_column_group(PF_COLUMN(x, samples, data_src));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (uint32_t k = 0; k < v->n; k++)
            if (strcmp(v->bits[k].name, parts[i].part) == 0)
                put_part(&x->at[PF_TABLE_samples].batch->columns[parts[i].column], &v->bits[k],
                         word);
}

/* Writes a counter.  Without an id it is the counter of the event itself. */
static void put_counter(pf_tables *x, const perfile_event *event, const perfile_read_values *v,
                        uint64_t value)
{
    pf_table_column *enabled = PF_MEMBER(x, samples, counters, enabled);
    pf_table_column *running = PF_MEMBER(x, samples, counters, running);
    pf_column_text(PF_MEMBER(x, samples, counters, event), event ? event->name : NULL);
    pf_column_number(PF_MEMBER(x, samples, counters, value), value);
    if (v->has_time_enabled)
        pf_column_number(enabled, v->time_enabled);
    else
        pf_column_null(enabled);
    if (v->has_time_running)
        pf_column_number(running, v->time_running);
    else
        pf_column_null(running);
}

static void put_counters(pf_tables *x, const pf_profiled *s, const perfile_read_values *v)
{
    size_t n = 0;
    if (v->has_value) {
        put_counter(x, s->event, v, v->value);
        n = 1;
    } else {
        perfile_list list = v->cntr;
        perfile_read_entry entry;
        for (; perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK; n++)
            put_counter(x,
                        entry.has_id ? perfile_session_event_by_id(x->session, entry.id) : s->event,
                        v, entry.value);
    }
    pf_column_list_end(PF_COLUMN(x, samples, counters), n);
}

static void put_weight(pf_tables *x, const perfile_weight *w)
{
    pf_column_number(PF_COLUMN(x, samples, weight), w->has_struct ? w->var1_dw : w->full);
    if (w->has_struct)
        pf_column_number(PF_COLUMN(x, samples, ins_lat), w->var2_w);
}

/* Bits of sample_type with columns that not every sample fills. */
#define RARE                                                                                       \
    (PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_READ | PERFILE_SAMPLE_WEIGHT |                           \
     PERFILE_SAMPLE_WEIGHT_STRUCT | PERFILE_SAMPLE_DATA_SRC | PERFILE_SAMPLE_TRANSACTION |         \
     PERFILE_SAMPLE_PHYS_ADDR | PERFILE_SAMPLE_CGROUP | PERFILE_SAMPLE_DATA_PAGE_SIZE |            \
     PERFILE_SAMPLE_CODE_PAGE_SIZE)

/* Likewise, for wide rows. */
#define WIDE (PERFILE_SAMPLE_BRANCH_STACK | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_REGS_INTR)

static bool put_rare(pf_tables *x, const pf_profiled *s)
{
    perfile_sample v;
    if (perfile_sample_decode(s->record, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    if (v.present & PERFILE_SAMPLE_ADDR)
        pf_column_number(PF_COLUMN(x, samples, addr), v.addr);
    if (v.present & PERFILE_SAMPLE_READ)
        put_counters(x, s, &v.values);
    if (v.has_weight)
        put_weight(x, &v.weight);
    if (v.present & PERFILE_SAMPLE_DATA_SRC)
        put_data_src(x, v.data_src);
    if (v.present & PERFILE_SAMPLE_TRANSACTION)
        pf_column_number(PF_COLUMN(x, samples, transaction), v.transaction);
    if (v.present & PERFILE_SAMPLE_PHYS_ADDR)
        pf_column_number(PF_COLUMN(x, samples, phys_addr), v.phys_addr);
    if (v.present & PERFILE_SAMPLE_CGROUP)
        put_cgroup(x, v.cgroup);
    if (v.present & PERFILE_SAMPLE_DATA_PAGE_SIZE)
        pf_column_number(PF_COLUMN(x, samples, page_size), v.data_page_size);
    if (v.present & PERFILE_SAMPLE_CODE_PAGE_SIZE)
        pf_column_number(PF_COLUMN(x, samples, code_page_size), v.code_page_size);
    return !x->wide || pf_wide_put(x, s, &v);
}

/* The row of a sample. */

/* Samples are not wanted, but perhaps their stacks. */
static bool put_alone(pf_tables *x, const pf_profiled *s)
{
    pf_samples_maker *m = x->samples;
    if (!pf_table_wanted(x, PF_TABLE_stacks) || s->stack == PF_EMPTY_STACK)
        return true;
    m->rows[m->n_alone++] = (waiting){s->frame, s->stack};
    return m->n_alone < PF_BATCH_ROWS || pf_samples_complete(x);
}

static const char *mode_of(uint16_t misc)
{
    static const char *const modes[] = {NULL,         "kernel",       "user",
                                        "hypervisor", "guest_kernel", "guest_user"};
    const unsigned mode = misc & PERFILE_MISC_CPUMODE_MASK;
    return mode < sizeof modes / sizeof modes[0] ? modes[mode] : NULL;
}

static const char *status_of(const pf_profiled *s)
{
    static const char *const words[] = {NULL,        "recorded", "unwound",
                                        "truncated", "deferred", "incomplete"};
    return s->unreadable ? "unreadable" : words[s->chain];
}

static void put_event(pf_tables *x, const perfile_event *event)
{
    bool ok = true;
    if (!event)
        return;
    pf_column_same_text(PF_COLUMN(x, samples, event),
                        pf_profile_reader_event(&x->x.reader, event, &ok));
    pf_column_number(PF_COLUMN(x, samples, event_index), event->index);
}

static bool sample(pf_tables *x, const pf_profiled *s)
{
    pf_table *table = &x->at[PF_TABLE_samples];
    uint64_t ip;
    bool ok = true;
    if (!table->batch)
        return put_alone(x, s);
    const uint64_t has = s->event ? s->event->attr->sample_type : 0;
    x->samples->rows[table->batch->rows] = (waiting){s->frame, s->stack};
    pf_put_capture(x, PF_COLUMN(x, samples, capture_id));
    pf_column_number(PF_COLUMN(x, samples, record), s->record->sequence);
    pf_put_time(PF_COLUMN(x, samples, time), s->time);
    pf_put_wall(x, PF_COLUMN(x, samples, wall), s->time);
    put_event(x, s->event);
    if (has & PERFILE_SAMPLE_TID) {
        pf_column_number(PF_COLUMN(x, samples, pid), s->pid);
        pf_column_number(PF_COLUMN(x, samples, tid), s->tid);
        pf_column_same_text(PF_COLUMN(x, samples, comm),
                            pf_profile_reader_comm(&x->x.reader, s->pid, s->tid, s->time, &ok));
    }
    pf_put_cpu(PF_COLUMN(x, samples, cpu), s->cpu);
    pf_column_same_text(PF_COLUMN(x, samples, mode), mode_of(s->record->misc));
    if (has & PERFILE_SAMPLE_IP && perfile_sample_field(s->record, PERFILE_SAMPLE_IP, &ip))
        pf_column_number(PF_COLUMN(x, samples, ip), ip);
    pf_column_same_text(PF_COLUMN(x, samples, stack_status), status_of(s));
    if (s->has_period && s->period <= INT64_MAX)
        pf_column_number(PF_COLUMN(x, samples, period), s->period);
    if (has & (x->wide ? RARE | WIDE : RARE))
        ok = put_rare(x, s) && ok;
    if (!ok)
        return false;
    pf_table_batch_row(table->batch);
    return !pf_table_is_full(table) || pf_samples_complete(x);
}

/* Fills in the late columns. */

static bool complete_row(pf_tables *x, waiting w)
{
    const pf_profile *p = &x->x.profile;
    int64_t id;
    pf_table_column *module = PF_COLUMN(x, samples, module);
    pf_table_column *function = PF_COLUMN(x, samples, function);
    pf_table_column *frame_id = PF_COLUMN(x, samples, frame_id);
    pf_table_column *stack_id = PF_COLUMN(x, samples, stack_id);
    const pf_object *object = NULL;
    const char *name = NULL;
    if (w.frame != PF_INTERN_NONE) {
        object = pf_profile_object_at(p, pf_profile_frame_at(p, w.frame)->object);
        name = pf_stacks_function(x, w.frame);
        pf_column_number(frame_id, (uint64_t)pf_stacks_frame(x, w.frame));
    } else {
        pf_column_null(frame_id);
    }
    if (object)
        pf_column_same_text(module, object->name);
    else
        pf_column_null(module);
    if (name)
        pf_column_same_text(function, name);
    else
        pf_column_null(function);
    if (w.stack == PF_EMPTY_STACK) {
        pf_column_null(stack_id);
        return true;
    }
    if (!pf_stacks_stack(x, w.stack, &id))
        return false;
    pf_column_number(stack_id, (uint64_t)id);
    return true;
}

static bool complete_alone(pf_tables *x)
{
    pf_samples_maker *m = x->samples;
    int64_t id;
    bool ok = true;
    for (size_t i = 0; i < m->n_alone && ok; i++)
        ok = pf_stacks_stack(x, m->rows[i].stack, &id);
    m->n_alone = 0;
    return ok;
}

bool pf_samples_complete(pf_tables *x)
{
    pf_table *table = &x->at[PF_TABLE_samples];
    if (!pf_stacks_update(x))
        return false;
    if (!table->batch)
        return complete_alone(x);
    bool ok = true;
    for (size_t i = 0; i < table->batch->rows && ok; i++)
        ok = complete_row(x, x->samples->rows[i]);
    pf_wide_complete(x);
    ok = ok && pf_table_flush(x, table);
    if (ok)
        mark_late(x);
    return ok;
}

const pf_table_maker pf_make_samples = {
    .begin = begin, .sample = sample, .note = note, .close = close_maker};
