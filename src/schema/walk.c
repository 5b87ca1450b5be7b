/* The field walk: format/ expanded to functions that decode like decoders and pass every field,
 * with its offset, to a visitor (schema/walk.inc).  Emitters, conditions and checks use it to see
 * fields of any type without knowing the type.
 *
 * Where the contract of `dump --format jsonl` shows a layout otherwise than it is stored, a
 * function here does that by hand: show_joined_topology(), show_joined_index(), and simpleperf's
 * messages and nested records. */
#include "schema/expand.h"
#include "schema/proto.h"
#include "schema/rows.h"
#include "schema/family.h"

/* Out of line, so that the compiler does not know the size: for known sizes it emits `rep stos`,
 * which is slow to start. */
__attribute__((noinline)) void pf_walk_clear(void *o, size_t size)
{
    memset(o, 0, size);
}

#include "schema/fields.inc"
#include "perfile/format/structs.def"
#include "schema/fields.inc"
#include "perfile/format/sample.def"
#include "schema/fields.inc"
#include "perfile/format/records.def"
#include "schema/fields.inc"
#include "perfile/format/simpleperf.def"
#include "schema/fields.inc"
#include "perfile/format/features.def"

#define PF_ITEM_ROW(id, doc)                                                                       \
    const perfile_field pf_item_##id = {#id, doc, PERFILE_STORED_ITEM, 0, PERFILE_KIND_GROUP, 0};
#define STRUCT(id, doc) PF_ITEM_ROW(id, doc)
#include "perfile/format/structs.def"
#define STRUCT(id, doc) PF_ITEM_ROW(id, doc)
#include "perfile/format/features.def"

const perfile_field pf_pad_row = {"pad", "padding",           PERFILE_STORED_BLOB,
                                  0,     PERFILE_KIND_OPAQUE, PERFILE_FIELD_PAD};
static const perfile_field data_row = {
    "data", "bytes that no table describes", PERFILE_STORED_BLOB, 0, PERFILE_KIND_OPAQUE, 0};

/* A value at `at`, with the bytes up to where `c` stands as its width. */
static perfile_value place(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                           const pf_cursor *c)
{
    perfile_value v;
    v.offset = (uint64_t)(at - w->base) + w->shift;
    v.width = row->flags & PERFILE_FIELD_CALC ? 0 : (uint64_t)(c->pos - at);
    v.number = 0;
    return v;
}

/* A number; for CALC fields `at` is where `c` stands. */
void pf_show_number(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                    const pf_cursor *c, uint64_t number)
{
    perfile_value v = place(w, row, at, c);
    v.number = number;
    v.u.count = 0;
    w->visitor->value(w->user, row, &v);
}

void pf_show_bytes(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                   const pf_cursor *c, perfile_bytes bytes)
{
    perfile_value v = place(w, row, at, c);
    v.u.bytes = bytes;
    w->visitor->value(w->user, row, &v);
}

void pf_show_words(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                   const pf_cursor *c, perfile_words words)
{
    perfile_value v = place(w, row, at, c);
    v.u.words = words;
    w->visitor->value(w->user, row, &v);
}

void pf_show_strings(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                     const pf_cursor *c, perfile_strings strings)
{
    perfile_value v = place(w, row, at, c);
    v.u.strings = strings;
    w->visitor->value(w->user, row, &v);
}

void pf_show_begin(const pf_walker *w, const perfile_field *row, const pf_cursor *c, uint64_t count)
{
    perfile_value v = place(w, row, c->pos, c);
    v.u.count = count;
    w->visitor->begin(w->user, row, &v);
}

void pf_show_end(const pf_walker *w, const perfile_field *row)
{
    w->visitor->end(w->user, row);
}

/* Every element has at least one byte, as in pf_decode_list(): the input bounds the loop, not `n`.
 */
void pf_show_list(const pf_context *k, pf_cursor *c, const pf_walker *w, const perfile_field *row,
                  const perfile_field *item, uint64_t n, size_t least, pf_walk_fn *walk)
{
    pf_show_begin(w, row, c, n);
    for (uint64_t i = 0; least ? pf_cur_left(c) >= least : i < n; i++) {
        pf_show_begin(w, item, c, i);
        walk(k, c, w);
        if (c->bad)
            return;
        pf_show_end(w, item);
    }
    pf_show_end(w, row);
}

/* Bodies of unknown types, and everything beyond the contract. */
void pf_walk_unknown(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    const uint8_t *at = c->pos;
    (void)k;
    pf_show_bytes(w, &data_row, at, c, pf_cur_span(c, pf_cur_left(c)));
}

void pf_walk_padding(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    const uint8_t *at = c->pos;
    (void)k;
    pf_show_bytes(w, &pf_pad_row, at, c, pf_cur_span(c, pf_cur_left(c)));
}

/* How each HAND layout is shown: by its members, as show_NAME() made from the table does, or by one
 * of the functions at the end of this file. */
#define PF_SHOW_attr            show_attr
#define PF_SHOW_build_id_entry  show_build_id_entry
#define PF_SHOW_build_ids       show_build_ids
#define PF_SHOW_event_desc      show_event_desc
#define PF_SHOW_cpu_domain_info show_cpu_domain_info
#define PF_SHOW_file_entry      show_file_entry
#define PF_SHOW_tracing_formats show_tracing_formats
#define PF_SHOW_tracing_data    show_tracing
#define PF_SHOW_cpu_topology(k, c, w)                                                              \
    (w->flags & PERFILE_WALK_CONTRACT ? show_joined_topology(k, c, w) : show_cpu_topology(k, c, w))
/* `(void)show_…`: the function made from the table is not used, and the compiler must not warn. */
#define PF_SHOW_file2_entry(k, c, w)     (show_message(k, c, w), (void)show_file2_entry)
#define PF_SHOW_sp_debug_unwind(k, c, w) (show_unwind(k, c, w), (void)show_sp_debug_unwind)
#define PF_SHOW_sp_init_map(k, c, w)     (show_records(k, c, w), (void)show_sp_init_map)
#define PF_SHOW_id_index(k, c, w)                                                                  \
    (w->flags & PERFILE_WALK_CONTRACT ? show_joined_index(k, c, w) : show_id_index(k, c, w))
static pf_walk_fn show_joined_index;
static pf_walk_fn show_tracing_data, show_tracing, show_joined_topology, show_message, show_unwind,
    show_records;

#include "schema/walk.inc"
#include "perfile/format/structs.def"
#include "schema/walk.inc"
#include "perfile/format/sample.def"
#include "schema/walk.inc"
#include "perfile/format/records.def"
#include "schema/walk.inc"
#include "perfile/format/simpleperf.def"
#include "schema/walk.inc"
#include "perfile/format/features.def"

/* CPU_TOPOLOGY under the contract: die_id is a member of each `cpu`.  In the file all die ids
 * follow the cpus. */
static void show_joined_topology(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    static const perfile_field die_row = {"die_id", "die of the processor", PERFILE_STORED_S32,
                                          0,        PERFILE_KIND_DEC,       PERFILE_FIELD_CALC};
    perfile_cpu_topology t;
    memset(&t, 0, sizeof t);
    pf_cursor probe = *c;
    pf_decode_cpu_topology(k, &probe, &t);
    if (probe.bad) {
        pf_cur_fail(c, probe.bad);
        return;
    }

    pf_show_strings(w, &row_cpu_topology_package_cpus_list, c->pos, c, t.package_cpus_list);
    pf_show_strings(w, &row_cpu_topology_core_cpus_list, c->pos, c, t.core_cpus_list);
    if (t.has_cpu) {
        pf_cursor cpus = pf_cur(t.cpu.bytes, c->swap);
        pf_show_begin(w, &row_cpu_topology_cpu, c, t.cpu.n);
        for (size_t i = 0; i < t.cpu.n; i++) {
            pf_show_begin(w, &pf_item_topology_cpu, c, i);
            pf_walk_topology_cpu(k, &cpus, w);
            if (t.has_dies)
                pf_show_number(w, &die_row, c->pos, c,
                               (uint64_t)(int64_t)(int32_t)perfile_word(&t.die_id, i));
            pf_show_end(w, &pf_item_topology_cpu);
        }
        pf_show_end(w, &row_cpu_topology_cpu);
    }
    if (t.has_dies)
        pf_show_strings(w, &row_cpu_topology_die_cpus_list, c->pos, c, t.die_cpus_list);
    *c = probe;
}

/* ID_INDEX under the contract: machine_pid and vcpu are members of each entry.  In the file the
 * guests of all entries follow the entries. */
static void show_joined_index(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    perfile_id_index index;
    memset(&index, 0, sizeof index);
    pf_cursor probe = *c;
    pf_decode_id_index(k, &probe, &index);
    if (probe.bad) {
        pf_cur_fail(c, probe.bad);
        return;
    }
    pf_cursor entries = pf_cur(index.entries.bytes, c->swap);
    pf_cursor guests = pf_cur(index.guests.bytes, c->swap);
    pf_show_begin(w, &row_id_index_entries, c, index.nr);
    for (uint64_t i = 0; i < index.nr; i++) {
        pf_show_begin(w, &pf_item_id_index_entry, &entries, i);
        pf_walk_id_index_entry(k, &entries, w);
        if (index.has_guests)
            pf_walk_id_index_guest(k, &guests, w);
        pf_show_end(w, &pf_item_id_index_entry);
    }
    pf_show_end(w, &row_id_index_entries);
    *c = probe;
}

/* simpleperf's FILE2: a size, then a protobuf message. */
static void show_message(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    (void)k;
    const uint8_t *at = c->pos;
    uint32_t size = pf_cur_u32(c);
    if (c->bad)
        return;
    pf_show_number(w, &row_file2_entry_size, at, c, size);
    pf_cursor message = pf_cur(pf_cur_span(c, size), c->swap);
    if (!c->bad)
        pf_walk_proto(&message, w, PF_PROTO_file2);
    if (message.bad)
        pf_cur_fail(c, message.bad);
}

/* simpleperf's DEBUG_UNWIND: the section is one protobuf message. */
static void show_unwind(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    (void)k;
    pf_walk_proto(c, w, PF_PROTO_debug_unwind);
}

/* simpleperf's INIT_MAP: complete records, one after the other.  Headers and bodies are shown. */
static void show_records(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    static const perfile_field records_row = {"records", "the records",      PERFILE_STORED_LIST,
                                              0,         PERFILE_KIND_GROUP, 0};
    static const perfile_field item = {"record", "a record",         PERFILE_STORED_ITEM,
                                       0,        PERFILE_KIND_GROUP, 0};
    static const perfile_field type_row = {"type", "record type",    PERFILE_STORED_U32,
                                           0,      PERFILE_KIND_DEC, 0};
    static const perfile_field misc_row = {"misc", "misc",           PERFILE_STORED_U16,
                                           0,      PERFILE_KIND_HEX, 0};
    static const perfile_field size_row = {"size", "bytes",           PERFILE_STORED_U16,
                                           0,      PERFILE_KIND_SIZE, 0};
    pf_show_begin(w, &records_row, c, UINT64_MAX);
    for (uint64_t i = 0; pf_cur_left(c) >= 8; i++) {
        const uint8_t *at = c->pos;
        pf_context inner = *k;
        uint32_t type = pf_cur_u32(c);
        inner.misc = pf_cur_u16(c);
        uint16_t size = pf_cur_u16(c);
        pf_cursor body =
            pf_cur(pf_cur_span(c, size < 8 ? UINT64_MAX : size - UINT64_C(8)), c->swap);
        if (c->bad)
            return;
        pf_cursor head = {at + 4, at + 8, c->swap, 0};
        pf_show_begin(w, &item, &body, i);
        pf_show_number(w, &type_row, at, &head, type);
        head.pos = at + 6;
        pf_show_number(w, &misc_row, at + 4, &head, inner.misc);
        head.pos = at + 8;
        pf_show_number(w, &size_row, at + 6, &head, size);
        const pf_row *row = pf_record_row(type);
        (row ? row->walk : pf_walk_unknown)(&inner, &body, w);
        if (body.bad) {
            pf_cur_fail(c, body.bad);
            return;
        }
        pf_show_end(w, &item);
    }
    pf_show_end(w, &records_row);
}

/* TRACING_DATA: the section as one blob, then, unless the contract forbids it, the formats inside.
 */
static void show_tracing(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    pf_cursor inside = *c;
    show_tracing_data(k, c, w);
    if (w->flags & PERFILE_WALK_CONTRACT || c->bad)
        return;
    pf_walk_tracing_formats(k, &inside, w);
    if (inside.bad)
        pf_cur_fail(c, inside.bad);
}
