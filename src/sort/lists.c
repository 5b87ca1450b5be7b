/* Features that are lists: the output has the entries of all inputs, byte for byte, each once.
 *
 * A form describes how to read the entries of a feature. An entry is about a thing (number and
 * name) and has a value. Entries that are equal in all three are stored once. If inputs have
 * different values for one thing, the first input wins: the entries of the others are left out, or
 * for a strict form the merge fails. */
#include <inttypes.h>

#include "base/cursor.h"
#include "base/error.h"
#include "perfile/encode.h"
#include "sort/merge.h"
#include "schema/rows.h"
#include "core/command.h"

/* An entry of an input. */
typedef struct list_entry {
    uint64_t number;
    perfile_bytes name, value;
    perfile_bytes span; /* the stored bytes of the whole entry */
    bool has_no_key;    /* such entries never conflict */
} list_entry;

/* Reads the next entry; false at the end or at damage. */
typedef bool next_fn(perfile_list *list, list_entry *out);

/* Returns the bytes from `from` to the current position of the list. */
static perfile_bytes span_of(const uint8_t *from, const perfile_list *list)
{
    return (perfile_bytes){from, (size_t)(list->bytes.ptr - from)};
}

static bool next_pmu(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_pmu_mapping e;
    if (perfile_pmu_mapping_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.number = e.type, .value = e.name, .span = span_of(from, list)};
    return true;
}

/* The first two fields of struct bpf_prog_info are type and id; the id is the key. */
static bool next_program(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_bpf_prog_info_entry e;
    if (perfile_bpf_prog_info_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    pf_cursor info = pf_cur(e.info, list->swapped);
    pf_cur_u32(&info);
    *out = (list_entry){.number = pf_cur_u32(&info), .span = span_of(from, list)};
    out->value = out->span;
    out->has_no_key = info.bad;
    return true;
}

static bool next_btf(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_bpf_btf_entry e;
    if (perfile_bpf_btf_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.number = e.id, .value = e.data, .span = span_of(from, list)};
    return true;
}

static bool next_meta(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_meta_entry e;
    if (perfile_meta_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.name = e.key, .value = e.value, .span = span_of(from, list)};
    return true;
}

static bool next_file(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_file_entry e;
    if (perfile_file_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.has_no_key = true, .span = span_of(from, list)};
    out->value = out->span;
    return true;
}

static bool next_file2(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_file2_entry e;
    if (perfile_file2_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.has_no_key = true, .span = span_of(from, list)};
    out->value = out->span;
    return true;
}

/* INIT_MAP of simpleperf: consecutive records. */
static bool next_record(perfile_list *list, list_entry *out)
{
    pf_cursor c = pf_cur(list->bytes, list->swapped);
    size_t size =
        pf_cur_left(&c) < PF_PERF_RECORD_HEADER ? 0 : pf_load_u16(c.pos + PF_PERF_SIZE_AT, c.swap);
    perfile_bytes span = pf_cur_span(&c, size);
    if (span.len < PF_PERF_RECORD_HEADER)
        return false;
    list->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    *out = (list_entry){.has_no_key = true, .value = span, .span = span};
    return true;
}

/* Returns the key of a build id, to which the file name is added: process (-1: all) and cpumode. */
static uint64_t build_id_key(int32_t pid, uint16_t misc)
{
    return (uint64_t)(uint32_t)pid << 16 | (misc & PERFILE_MISC_CPUMODE_MASK);
}

static bool next_build_id(perfile_list *list, list_entry *out)
{
    const uint8_t *from = list->bytes.ptr;
    perfile_build_id_entry e;
    if (perfile_build_id_entry_next(list, &e, sizeof e) != PERFILE_OK)
        return false;
    *out = (list_entry){.number = build_id_key(e.id.has_pid ? e.id.pid : -1, e.misc),
                        .name = e.id.filename,
                        .value = e.id.build_id,
                        .span = span_of(from, list)};
    return true;
}

/* Defines open_ID(), which decodes feature ID and returns its list. */
#define OPENER(id, member)                                                                         \
    static bool open_##id(const perfile_feature *f, perfile_list *list)                            \
    {                                                                                              \
        perfile_##id v;                                                                            \
        if (perfile_##id##_decode(f, &v, sizeof v, NULL) != PERFILE_OK)                            \
            return false;                                                                          \
        *list = v.member;                                                                          \
        return true;                                                                               \
    }
OPENER(pmu_mappings, pmus)
OPENER(bpf_prog_info, infos)
OPENER(bpf_btf, btfs)
OPENER(sp_meta_info, entries)
OPENER(sp_file, files)
OPENER(sp_file2, files)
OPENER(build_ids, build_ids)

/* Opens a list of records. Returns false unless records fill the payload exactly. */
static bool open_sp_init_map(const perfile_feature *f, perfile_list *list)
{
    list_entry one;
    *list = (perfile_list){.bytes = f->payload, .swapped = f->flags & PERFILE_REC_SWAPPED};
    perfile_list whole = *list;
    while (next_record(&whole, &one))
        ;
    return whole.bytes.len == 0;
}

/* How a list is stored. */
static const struct form {
    uint32_t number;
    bool is_counted; /* a u32 with the number of entries comes first */
    bool is_strict;  /* inputs that disagree are a conflict: other fields refer to these numbers */
    bool (*open)(const perfile_feature *f, perfile_list *list);
    next_fn *next;
} forms[] = {
    {PERFILE_FEATURE_BUILD_ID, false, false, open_build_ids, next_build_id},
    {PERFILE_FEATURE_PMU_MAPPINGS, true, true, open_pmu_mappings, next_pmu},
    {PERFILE_FEATURE_BPF_PROG_INFO, true, false, open_bpf_prog_info, next_program},
    {PERFILE_FEATURE_BPF_BTF, true, false, open_bpf_btf, next_btf},
    {PERFILE_FEATURE_FILE, false, false, open_sp_file, next_file},
    {PERFILE_FEATURE_META_INFO, false, false, open_sp_meta_info, next_meta},
    {PERFILE_FEATURE_FILE2, false, false, open_sp_file2, next_file2},
    {PERFILE_FEATURE_INIT_MAP, false, false, open_sp_init_map, next_record},
};

/* A list that is being joined. */
typedef struct list_join {
    pf_merge *x;
    const struct form *form;
    pf_merge_entries all;    /* key: number, name and value */
    pf_merge_entries things; /* key: number and name; has the value of the first input */
    pf_buffer made, scratch;
    uint32_t n;        /* entries in `made` */
    uint64_t left_out; /* number of entries of the current input that were left out */
} list_join;

/* Handles an entry that disagrees with `first`, an entry of an earlier input. */
static perfile_status handle_contradiction(list_join *j, uint32_t k, const list_entry *e,
                                           const pf_merge_entry *first, perfile_error *err)
{
    const pf_merge *x = j->x;
    j->left_out += !j->form->is_strict;
    if (!j->form->is_strict)
        return PERFILE_OK;
    return pf_merge_conflict(x, j->form->number, k, err,
                             "PMU %" PRIu64 " is '%.*s' in %s and '%.*s' in %s", e->number,
                             PF_TEXT_ARGS(first->value), x->inputs[first->input].name,
                             PF_TEXT_ARGS(e->value), x->inputs[k].name);
}

/* Adds an entry of input `k`. It may disagree with entries of earlier inputs only: within one
 * input, several entries may be about one thing. */
static perfile_status add_entry(list_join *j, uint32_t k, const list_entry *e, perfile_error *err)
{
    const pf_merge_entry want = {
        .number = e->number, .name = e->name, .value = e->value, .input = k};
    bool is_new, is_first = true;
    pf_merge_entry *one = pf_merge_entries_add(&j->all, &want, &is_new);
    if (!one)
        return pf_fail_nomem(err, "merge");
    /* An equal entry is in the output already, or was refused and is refused again, once for each
     * input. */
    if (!is_new && !one->refused)
        return PERFILE_OK;
    if (!e->has_no_key) {
        const pf_merge_entry *first = pf_merge_entries_add(&j->things, &want, &is_first);
        if (!first)
            return pf_fail_nomem(err, "merge");
        one->refused = !is_first && first->input != k;
        if (one->refused)
            return handle_contradiction(j, k, e, first, err);
    }
    j->n++;
    return pf_buffer_append(&j->made, e->span.ptr, e->span.len) ? PERFILE_OK
                                                                : pf_fail_nomem(err, "merge");
}

PF_FACT_MAKER(build_ids)

/* Makes an entry of BUILD_ID, in the form that current perf writes, from a build id of the session.
 */
static perfile_status make_entry(list_join *j, const perfile_build_id *id, list_entry *e,
                                 perfile_error *err)
{
    perfile_build_id_entry entry = {.misc = id->misc};
    entry.id = (perfile_header_build_id){.has_pid = true,
                                         .pid = id->pid,
                                         .build_id = id->id,
                                         .has_size = id->misc & PERFILE_MISC_BUILD_ID_SIZE,
                                         .size = (uint8_t)id->id.len,
                                         .filename = id->filename};
    entry.id.no_size = !entry.id.has_size;
    const perfile_build_ids v = {.build_ids = perfile_build_id_entry_list(&entry, 1, sizeof entry)};
    pf_buffer_clear(&j->scratch);
    perfile_status st = make_build_ids(j->x, &v, &j->scratch, err);
    *e = (list_entry){.number = build_id_key(id->pid, id->misc),
                      .name = id->filename,
                      .value = id->id,
                      .span = {j->scratch.ptr, j->scratch.len}};
    return st;
}

/* Returns true if the build id is an entry of feature `f`: its name points into the feature's
 * payload. */
static bool is_from_feature(const perfile_feature *f, const perfile_build_id *id)
{
    uintptr_t from = f ? (uintptr_t)f->payload.ptr : 0, at = (uintptr_t)id->filename.ptr;
    return f && at >= from && at - from < f->payload.len;
}

/* Adds the build ids of the session that came in records. Entries of feature `f` were added before,
 * as they are stored. */
static perfile_status add_build_ids_of_records(list_join *j, uint32_t k, const perfile_feature *f,
                                               perfile_error *err)
{
    const perfile_session *s = j->x->inputs[k].session;
    uint32_t n = pf_session_n_build_ids(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_build_id *id = perfile_session_build_id(s, i);
        list_entry e;
        if (is_from_feature(f, id))
            continue;
        st = make_entry(j, id, &e, err);
        if (st == PERFILE_E_NOMEM)
            return st;
        if (st == PERFILE_OK)
            st = add_entry(j, k, &e, err);
        else
            j->left_out++, st = PERFILE_OK; /* it is too large for an entry */
    }
    return st;
}

/* Returns true for INIT_MAP if records of the input change: the records in it would have to change,
 * too, but are not rewritten. */
static bool would_change(const pf_merge *x, uint32_t k, uint32_t number)
{
    return number == PERFILE_FEATURE_INIT_MAP && !x->inputs[k].plain;
}

/* Adds the entries of input `k`. */
static perfile_status add_input(list_join *j, uint32_t k, perfile_error *err)
{
    uint32_t number = j->form->number;
    const perfile_feature *f = pf_fact_of(j->x, k, number);
    perfile_status st = PERFILE_OK;
    perfile_list list;
    list_entry e;
    j->left_out = 0;
    bool is_open = f && j->form->open(f, &list);
    if (f && !is_open)
        pf_fact_unreadable(j->x, number, k);
    if (is_open && would_change(j->x, k, number)) {
        pf_fact_report(
            j->x, PERFILE_MERGE_NOTE_DROPPED, number, k, 0,
            "the records of %s get other ids, times or layouts, but not those inside the feature: "
            "left out",
            j->x->inputs[k].name);
        is_open = false;
    }
    /* Entries of perf before 2.6.35 have another layout and cannot be in one list with others: they
     * are made again from the session. */
    is_open = is_open && !list.old_build_id;
    while (is_open && st == PERFILE_OK && j->form->next(&list, &e))
        st = add_entry(j, k, &e, err);
    if (number == PERFILE_FEATURE_BUILD_ID && st == PERFILE_OK)
        st = add_build_ids_of_records(j, k, is_open ? f : NULL, err);
    pf_fact_left_out(j->x, number, k, j->left_out, "in contradiction to an earlier input");
    return st;
}

/* Returns true if there is nothing to join: all inputs have the same bytes, and no session has
 * other build ids from records. */
static bool is_same_everywhere(const pf_merge *x, const struct form *form)
{
    if (!pf_fact_all_same(x, form->number))
        return false;
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        const perfile_feature *f = pf_fact_of(x, k, form->number);
        perfile_list list = {.n = 0};
        if (f && would_change(x, k, form->number))
            return false;
        if (form->number == PERFILE_FEATURE_BUILD_ID &&
            (!f || !form->open(f, &list) ||
             list.n != pf_session_n_build_ids(x->inputs[k].session)) &&
            pf_session_n_build_ids(x->inputs[k].session))
            return false;
    }
    return true;
}

/* Joins the entries of all inputs into j->made and adds the feature. */
static perfile_status join_entries(list_join *j, perfile_error *err)
{
    /* The number of entries is stored at the end. */
    static const uint8_t zeros[4];
    pf_merge *x = j->x;
    perfile_status st = PERFILE_OK;
    if (j->form->is_counted && !pf_buffer_append(&j->made, zeros, sizeof zeros))
        return pf_fail_nomem(err, "merge");
    for (uint32_t k = 0; k < x->n_inputs && st == PERFILE_OK; k++)
        st = add_input(j, k, err);
    if (st != PERFILE_OK || j->n == 0)
        return st;
    if (j->form->is_counted)
        pf_store_u32(j->made.ptr, j->n, pf_session_swapped(x->base.session));
    return pf_fact_join(x, j->form->number, &j->made, err);
}

/* forms[] has every feature with the rule LIST or PMUS, so the search always ends. */
perfile_status pf_join_list(pf_merge *x, uint32_t number, perfile_error *err)
{
    const struct form *form = forms;
    while (form->number != number)
        form++;
    if (is_same_everywhere(x, form))
        return pf_fact_add(x, number, pf_fact_first(x, number)->payload, true, err);
    list_join j = {.x = x, .form = form, .all.by_value = true};
    perfile_status st = join_entries(&j, err);
    pf_merge_entries_free(&j.all);
    pf_merge_entries_free(&j.things);
    pf_buffer_free(&j.made);
    pf_buffer_free(&j.scratch);
    return st;
}
