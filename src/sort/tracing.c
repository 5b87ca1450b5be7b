/* Joins the TRACING_DATA of several inputs: the output has the formats of all tracepoints, each
 * once.
 *
 * Samples refer to a tracepoint by its number, so a number or a name with two meanings is a
 * conflict. An input is first checked completely, then added; an input with a conflict adds
 * nothing. Formats are grouped by subsystem, in the order of the inputs. */
#include <inttypes.h>

#include "base/error.h"
#include "base/byte_order.h"
#include "core/names.h"
#include "sort/merge.h"

/* MAGIC: length of the magic bytes. FTRACE: position of the subsystem with ftrace's own events,
 * which has no name. WITHOUT_NAME: see name_entry(). */
enum { MAGIC = 10, FTRACE = 0, WITHOUT_NAME = 1 };

/* A subsystem (a folder in tracefs) and its formats, in the order of the inputs. */
typedef struct folder {
    perfile_bytes name;
    uint32_t n;           /* number of formats */
    uint32_t first, last; /* positions in `formats` + 1 */
} folder;

/* The format of a tracepoint, in the list of its subsystem. */
typedef struct format {
    perfile_bytes stored; /* size and text, as stored */
    uint32_t next;        /* position in `formats` + 1, 0: the last one */
} format;

/* TRACING_DATA that is being joined. */
typedef struct tracing_join {
    pf_merge *x;
    uint32_t n_joined; /* number of joined inputs */
    uint32_t first;    /* index of the input that `blob` is from */
    perfile_tracing_formats blob;
    pf_buffer subsystems, formats;
    pf_merge_entries by_subsystem; /* positions are those in `subsystems` */
    pf_merge_entries by_name;      /* number: see name_entry(); value: the text */
    pf_merge_entries by_id;        /* link: position in by_name */
    perfile_bytes header_page, header_event, kallsyms, printk, cmdlines, version;
    bool has_cmdlines;
} tracing_join;

/* A format of an input while it is checked or added. */
typedef struct tracepoint {
    perfile_bytes subsystem, name, text, stored;
    uint64_t id;
    bool has_id;
} tracepoint;

typedef perfile_status each_fn(tracing_join *j, uint32_t k, const tracepoint *t,
                               perfile_error *err);

/* Decodes the feature; false if it is damaged. */
static bool read_blob(const perfile_feature *f, perfile_tracing_formats *out)
{
    perfile_list list = {.bytes = f->payload, .n = 1};
    return perfile_tracing_formats_next(&list, out, sizeof *out) == PERFILE_OK &&
           out->magic.len == MAGIC && memcmp(out->magic.ptr, "\x17\x08\x44tracing", MAGIC) == 0 &&
           out->big_endian <= 1;
}

/* Calls `fn` for each format of a subsystem. */
static perfile_status each_file(tracing_join *j, uint32_t k, perfile_bytes subsystem,
                                const perfile_list *files, each_fn *fn, perfile_error *err)
{
    perfile_list list = *files;
    perfile_status st = PERFILE_OK;
    perfile_tracing_file file;
    const uint8_t *from = list.bytes.ptr;
    while (st == PERFILE_OK && perfile_tracing_file_next(&list, &file, sizeof file) == PERFILE_OK) {
        tracepoint t = {.subsystem = subsystem, .text = file.text};
        t.stored = (perfile_bytes){from, (size_t)(list.bytes.ptr - from)};
        t.has_id = pf_tracepoint_read(file.text, &t.name, &t.id);
        from = list.bytes.ptr;
        st = fn(j, k, &t, err);
    }
    return st;
}

/* Calls `fn` for each format of an input, until a call does not return PERFILE_OK. Formats of
 * ftrace itself belong to the subsystem without a name. */
static perfile_status each_format(tracing_join *j, uint32_t k, const perfile_tracing_formats *blob,
                                  each_fn *fn, perfile_error *err)
{
    perfile_list list = blob->systems;
    perfile_tracing_system system;
    perfile_status st = each_file(j, k, (perfile_bytes){NULL, 0}, &blob->ftrace, fn, err);
    while (st == PERFILE_OK &&
           perfile_tracing_system_next(&list, &system, sizeof system) == PERFILE_OK)
        st = each_file(j, k, system.name, &system.formats, fn, err);
    return st;
}

/* Returns the name of the subsystem of an entry in by_name. */
static const perfile_bytes *name_of_subsystem(const tracing_join *j, const pf_merge_entry *named)
{
    return &pf_merge_entries_at(&j->by_subsystem, (uint32_t)(named->number >> 1))->name;
}

/* Returns the key of a subsystem: number 0 for ftrace's, which has no name, otherwise 1 and the
 * name. */
static pf_merge_entry subsystem_entry(const tracepoint *t)
{
    return (pf_merge_entry){.number = t->subsystem.ptr != NULL, .name = t->subsystem};
}

/* Returns the key of a format: the number of its subsystem times 2, and its name. A format without
 * a recognizable name or number has the flag WITHOUT_NAME, and its text is used as the name. */
static pf_merge_entry name_entry(const tracepoint *t, uint32_t subsystem, uint32_t k)
{
    return (pf_merge_entry){.number = (uint64_t)subsystem << 1 | (t->has_id ? 0 : WITHOUT_NAME),
                            .name = t->has_id ? t->name : t->text,
                            .value = t->text,
                            .input = k};
}

/* Returns the result of a check that found a conflict: PERFILE_END ends the reading of the input,
 * which adds nothing, but is not an error. */
static perfile_status conflict_result(perfile_status conflict)
{
    return conflict == PERFILE_OK ? PERFILE_END : conflict;
}

/* Checks that a name has the number and text of an earlier input. */
static perfile_status check_name(tracing_join *j, uint32_t k, const tracepoint *t,
                                 const pf_merge_entry *first, perfile_error *err)
{
    perfile_bytes name;
    uint64_t id = 0;
    const pf_merge *x = j->x;
    const char *before = x->inputs[first->input].name;
    if (first->input == k || pf_same_bytes(first->value, t->text))
        return PERFILE_OK;
    if (pf_tracepoint_read(first->value, &name, &id) && id != t->id)
        return conflict_result(pf_merge_conflict(x, PERFILE_FEATURE_TRACING_DATA, k, err,
                                                 "tracepoint %.*s:%.*s has number %" PRIu64
                                                 " in %s and %" PRIu64 " in %s",
                                                 PF_TEXT_ARGS(t->subsystem), PF_TEXT_ARGS(t->name),
                                                 id, before, t->id, x->inputs[k].name));
    return conflict_result(pf_merge_conflict(
        x, PERFILE_FEATURE_TRACING_DATA, k, err,
        "tracepoint %.*s:%.*s has other fields in %s than in %s", PF_TEXT_ARGS(t->subsystem),
        PF_TEXT_ARGS(t->name), x->inputs[k].name, before));
}

/* Checks that a number means the same tracepoint as in an earlier input. */
static perfile_status check_id(tracing_join *j, uint32_t k, const tracepoint *t,
                               const pf_merge_entry *named, perfile_error *err)
{
    const pf_merge_entry *first =
        pf_merge_entries_find(&j->by_id, &(pf_merge_entry){.number = t->id});
    if (!first || first->input == k)
        return PERFILE_OK;
    const pf_merge_entry *other = pf_merge_entries_at(&j->by_name, first->link);
    if (other == named)
        return PERFILE_OK;
    const perfile_bytes *subsystem = name_of_subsystem(j, other);
    return conflict_result(pf_merge_conflict(
        j->x, PERFILE_FEATURE_TRACING_DATA, k, err,
        "tracepoint %" PRIu64 " is %.*s:%.*s in %s and %.*s:%.*s in %s", t->id,
        PF_TEXT_ARGS(*subsystem), PF_TEXT_ARGS(other->name), j->x->inputs[first->input].name,
        PF_TEXT_ARGS(t->subsystem), PF_TEXT_ARGS(t->name), j->x->inputs[k].name));
}

/* First pass over an input: looks for conflicts with earlier inputs. */
static perfile_status check_format(tracing_join *j, uint32_t k, const tracepoint *t,
                                   perfile_error *err)
{
    const pf_merge_entry *named = NULL;
    const pf_merge_entry want_subsystem = subsystem_entry(t);
    const pf_merge_entry *subsystem = pf_merge_entries_find(&j->by_subsystem, &want_subsystem);
    perfile_status st = PERFILE_OK;
    if (!t->has_id)
        return PERFILE_OK;
    if (subsystem) {
        const pf_merge_entry want =
            name_entry(t, pf_merge_entries_position(&j->by_subsystem, subsystem), k);
        named = pf_merge_entries_find(&j->by_name, &want);
    }
    if (named)
        st = check_name(j, k, t, named, err);
    return st == PERFILE_OK ? check_id(j, k, t, named, err) : st;
}

/* Checks byte order, size of long and page size, on which the formats depend. */
static perfile_status check_header(const tracing_join *j, uint32_t k,
                                   const perfile_tracing_formats *blob, perfile_error *err)
{
    const struct {
        const char *what;
        uint32_t first, now;
    } numbers[] = {{"byte order", j->blob.big_endian, blob->big_endian},
                   {"long size", j->blob.long_size, blob->long_size},
                   {"page size", j->blob.page_size, blob->page_size}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].first != numbers[i].now)
            return conflict_result(pf_merge_conflict(
                j->x, PERFILE_FEATURE_TRACING_DATA, k, err,
                "tracepoint formats of %s have %s %" PRIu32 ", those of %s %" PRIu32,
                j->x->inputs[j->first].name, numbers[i].what, numbers[i].first,
                j->x->inputs[k].name, numbers[i].now));
    return PERFILE_OK;
}

static folder *subsystem_at(const tracing_join *j, uint32_t position)
{
    return (folder *)(void *)j->subsystems.ptr + position;
}

static format *format_at(const tracing_join *j, uint32_t position)
{
    return (format *)(void *)j->formats.ptr + position;
}

/* Appends a format to the list of the subsystem at `position`. */
static bool put_format(tracing_join *j, uint32_t position, perfile_bytes stored)
{
    const format one = {.stored = stored};
    uint32_t at = (uint32_t)(j->formats.len / sizeof one) + 1;
    folder *s = subsystem_at(j, position);
    if (!pf_buffer_append(&j->formats, &one, sizeof one))
        return false;
    if (s->n++)
        format_at(j, s->last - 1)->next = at;
    else
        s->first = at;
    s->last = at;
    return true;
}

/* Second pass over an input: adds a format unless an earlier input has it. */
static perfile_status add_format(tracing_join *j, uint32_t k, const tracepoint *t,
                                 perfile_error *err)
{
    const folder new_one = {.name = t->subsystem};
    bool added;
    const pf_merge_entry want_subsystem = subsystem_entry(t);
    const pf_merge_entry *of = pf_merge_entries_add(&j->by_subsystem, &want_subsystem, &added);
    if (!of || (added && !pf_buffer_append(&j->subsystems, &new_one, sizeof new_one)))
        return pf_fail_nomem(err, "merge");
    uint32_t position = pf_merge_entries_position(&j->by_subsystem, of);
    const pf_merge_entry want = name_entry(t, position, k);
    const pf_merge_entry *named = pf_merge_entries_add(&j->by_name, &want, &added);
    if (!named)
        return pf_fail_nomem(err, "merge");
    if (!added && named->input != k)
        return PERFILE_OK;
    const pf_merge_entry number = {
        .number = t->id, .input = k, .link = pf_merge_entries_position(&j->by_name, named)};
    if ((t->has_id && !pf_merge_entries_add(&j->by_id, &number, &added)) ||
        !put_format(j, position, t->stored))
        return pf_fail_nomem(err, "merge");
    return PERFILE_OK;
}

/* Returns the complete text of `size` bytes; the decoder ends texts at the first NUL. */
static perfile_bytes complete_text(perfile_bytes text, uint64_t size)
{
    return (perfile_bytes){text.ptr, (size_t)size};
}

static perfile_bytes complete_file(const perfile_tracing_file *file)
{
    return complete_text(file->text, file->size);
}

/* Uses a text of an input if no earlier input has it; reports a text that differs. */
static void keep_text(const tracing_join *j, uint32_t k, const char *what, perfile_bytes *kept,
                      perfile_bytes text)
{
    if (text.len == 0 || pf_same_bytes(*kept, text))
        return;
    if (kept->len == 0)
        *kept = text;
    else
        pf_fact_report(j->x, PERFILE_MERGE_NOTE_DROPPED, PERFILE_FEATURE_TRACING_DATA, k, 0,
                       "the %s of %s differ from those of an earlier input: left out", what,
                       j->x->inputs[k].name);
}

/* Uses the parts of an input that are not formats. */
static void keep_texts(tracing_join *j, uint32_t k, const perfile_tracing_formats *blob)
{
    keep_text(j, k, "fields of header_page", &j->header_page, complete_file(&blob->header_page));
    keep_text(j, k, "fields of header_event", &j->header_event, complete_file(&blob->header_event));
    keep_text(j, k, "kernel symbols", &j->kallsyms,
              complete_text(blob->kallsyms, blob->kallsyms_size));
    keep_text(j, k, "printk formats", &j->printk,
              complete_text(blob->printk_formats, blob->printk_size));
    if (!blob->has_cmdlines)
        return;
    if (!j->has_cmdlines)
        j->version = blob->version;
    j->has_cmdlines = true;
    keep_text(j, k, "names of threads", &j->cmdlines, complete_file(&blob->cmdlines));
}

/* Joins an input. PERFILE_END: it was left out because of a conflict. */
static perfile_status join_input(tracing_join *j, uint32_t k, perfile_error *err)
{
    const perfile_feature *f = pf_fact_of(j->x, k, PERFILE_FEATURE_TRACING_DATA);
    perfile_tracing_formats blob;
    perfile_status st;
    if (!f)
        return PERFILE_OK;
    if (!read_blob(f, &blob)) {
        pf_fact_unreadable(j->x, PERFILE_FEATURE_TRACING_DATA, k);
        return PERFILE_OK;
    }
    /* Byte order, sizes and version are those of the first usable input. */
    if (j->n_joined == 0) {
        j->first = k;
        j->blob = blob;
        j->version = blob.version;
    }
    if ((st = check_header(j, k, &blob, err)) != PERFILE_OK ||
        (st = each_format(j, k, &blob, check_format, err)) != PERFILE_OK ||
        (st = each_format(j, k, &blob, add_format, err)) != PERFILE_OK)
        return st;
    keep_texts(j, k, &blob);
    j->n_joined++;
    return PERFILE_OK;
}

/* The put_ functions append to the output, in the byte order of the blob. They return false when
 * out of memory. */
static bool put_u32(const tracing_join *j, pf_buffer *out, uint32_t v)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, (bool)j->blob.big_endian != (bool)PF_NATIVE_BIG);
    return pf_buffer_append(out, bytes, sizeof bytes);
}

static bool put_text(pf_buffer *out, perfile_bytes text)
{
    return pf_buffer_append(out, text.ptr, text.len) && pf_buffer_append_u8(out, 0);
}

static bool put_file(const tracing_join *j, pf_buffer *out, perfile_bytes text)
{
    uint8_t bytes[8];
    pf_store_u64(bytes, text.len, (bool)j->blob.big_endian != (bool)PF_NATIVE_BIG);
    return pf_buffer_append(out, bytes, sizeof bytes) && pf_buffer_append(out, text.ptr, text.len);
}

static bool put_sized(const tracing_join *j, pf_buffer *out, perfile_bytes text)
{
    return put_u32(j, out, (uint32_t)text.len) && pf_buffer_append(out, text.ptr, text.len);
}

/* Writes the number of formats, then size and text of each. */
static bool put_subsystem(const tracing_join *j, pf_buffer *out, const folder *s)
{
    bool fits = put_u32(j, out, s->n);
    for (uint32_t at = s->first; at && fits; at = format_at(j, at - 1)->next) {
        perfile_bytes stored = format_at(j, at - 1)->stored;
        fits = pf_buffer_append(out, stored.ptr, stored.len);
    }
    return fits;
}

/* Writes the feature; format/ describes its layout. The subsystem of ftrace comes before the count
 * of the others. */
static bool put_blob(const tracing_join *j, pf_buffer *out)
{
    uint32_t n = (uint32_t)(j->subsystems.len / sizeof(folder));
    bool fits = pf_buffer_append(out, j->blob.magic.ptr, j->blob.magic.len) &&
                put_text(out, j->version) && pf_buffer_append_u8(out, j->blob.big_endian) &&
                pf_buffer_append_u8(out, j->blob.long_size) && put_u32(j, out, j->blob.page_size) &&
                put_text(out, j->blob.page_name) && put_file(j, out, j->header_page) &&
                put_text(out, j->blob.event_name) && put_file(j, out, j->header_event) &&
                put_subsystem(j, out, subsystem_at(j, FTRACE)) && put_u32(j, out, n - 1);
    for (uint32_t i = FTRACE + 1; i < n && fits; i++)
        fits = put_text(out, subsystem_at(j, i)->name) && put_subsystem(j, out, subsystem_at(j, i));
    return fits && put_sized(j, out, j->kallsyms) && put_sized(j, out, j->printk) &&
           (!j->has_cmdlines || put_file(j, out, j->cmdlines));
}

/* Joins all inputs. If only one is usable, its bytes are used unchanged. */
static perfile_status join_inputs(tracing_join *j, pf_buffer *made, perfile_error *err)
{
    static const folder ftrace = {.n = 0};
    perfile_status st = PERFILE_OK;
    bool added;
    if (!pf_merge_entries_add(&j->by_subsystem, &(pf_merge_entry){.number = 0}, &added) ||
        !pf_buffer_append(&j->subsystems, &ftrace, sizeof ftrace))
        return pf_fail_nomem(err, "merge");
    for (uint32_t k = 0; k < j->x->n_inputs && st >= PERFILE_OK; k++)
        st = join_input(j, k, err);
    if (st < PERFILE_OK || j->n_joined == 0)
        return st < PERFILE_OK ? st : PERFILE_OK;
    if (j->n_joined == 1) {
        const perfile_feature *f = pf_fact_of(j->x, j->first, PERFILE_FEATURE_TRACING_DATA);
        return pf_fact_add(j->x, f->number, f->payload, true, err);
    }
    return put_blob(j, made) ? pf_fact_join(j->x, PERFILE_FEATURE_TRACING_DATA, made, err)
                             : pf_fail_nomem(err, "merge");
}

/* If the bytes are equal in all inputs, they are copied without decoding. */
perfile_status pf_join_tracing(pf_merge *x, uint32_t number, perfile_error *err)
{
    tracing_join j = {.x = x};
    pf_buffer made = {0};
    if (pf_fact_all_same(x, number))
        return pf_fact_add(x, number, pf_fact_first(x, number)->payload, true, err);
    perfile_status st = join_inputs(&j, &made, err);
    pf_buffer_free(&j.subsystems);
    pf_buffer_free(&j.formats);
    pf_merge_entries_free(&j.by_subsystem);
    pf_merge_entries_free(&j.by_name);
    pf_merge_entries_free(&j.by_id);
    pf_buffer_free(&made);
    return st;
}
