/* The field walk: format/ expanded to functions that decode like decoders and pass every field,
 * with its offset, to a visitor (schema/walk.inc).  Emitters, conditions and checks use it to see
 * the fields of any type without knowing the type.
 *
 * Some layouts appear in JSON dumps in another form than they are stored, by the contract of that
 * format.  Functions here do that by hand: show_joined_topology(), show_joined_index(), and those
 * for simpleperf's messages and nested records. */
#include "schema/expand.h"

#include <string.h>

/* Not inlined, so that the compiler does not know the size: for known sizes it emits `rep stos`,
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

/* Makes a value of the bytes from `at` to the position of `c`. */
static perfile_value place(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                           const pf_cursor *c)
{
    perfile_value v;
    v.offset = (uint64_t)(at - w->base) + w->shift;
    v.width = row->flags & PERFILE_FIELD_CALC ? 0 : (uint64_t)(c->pos - at);
    v.number = 0;
    return v;
}

/* Shows a number.  For CALC fields `at` is the position of `c`. */
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

/* Every element has at least one byte, as in pf_decode_list(): the input limits the loop, not
 * `n`. */
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

/* Shows the bodies of unknown types, and everything beyond the contract. */
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

/* A walk over protobuf messages, driven by format/proto.def: simpleperf stores FILE2 and
 * DEBUG_UNWIND in this form.
 *
 * The walk is a loop with a stack of open messages, so that nesting in the input does not use the C
 * stack.  DEPTH suffices for the table; deeper messages are skipped.  Fields without a row, or with
 * another wire type than their row has, are skipped, as protobuf readers do. */

enum {
    DEPTH = 4, /* depth of nested messages in the table */
    /* Wire types of protobuf; groups (3 and 4) are obsolete and count as damage. */
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_32 = 5
};

enum {
    PF_PROTO_VARINT,
    PF_PROTO_TEXT,
    PF_PROTO_file2,
    PF_PROTO_file2_symbol,
    PF_PROTO_file2_dex,
    PF_PROTO_file2_elf,
    PF_PROTO_file2_module,
    PF_PROTO_debug_unwind,
    PF_PROTO_unwind_file
};

typedef struct pf_proto_row {
    uint8_t message;
    uint8_t number;
    uint8_t type;
    perfile_field field;
} pf_proto_row;

enum {
    PF_PROTO_ROW_VARINT = PERFILE_STORED_U64,
    PF_PROTO_ROW_TEXT = PERFILE_STORED_TEXT,
    PF_PROTO_ROW_file2_symbol = PERFILE_STORED_STRUCT,
    PF_PROTO_ROW_file2_dex = PERFILE_STORED_STRUCT,
    PF_PROTO_ROW_file2_elf = PERFILE_STORED_STRUCT,
    PF_PROTO_ROW_file2_module = PERFILE_STORED_STRUCT,
    PF_PROTO_ROW_unwind_file = PERFILE_STORED_STRUCT
};

static const pf_proto_row rows[] = {
#define PROTO(message, number, name, type, kind, doc)                                              \
    {PF_PROTO_##message,                                                                           \
     number,                                                                                       \
     PF_PROTO_##type,                                                                              \
     {#name, doc, PF_PROTO_ROW_##type, 0, PERFILE_KIND_##kind, 0}},
#include "perfile/format/proto.def"
};

/* Returns the row of a field of the message, or NULL. */
static const pf_proto_row *row_of(unsigned message, uint64_t number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].message == message && rows[i].number == number)
            return &rows[i];
    return NULL;
}

/* Reads a varint: 7 bits in each byte, lowest first; the highest bit is set if another byte
 * follows. */
static uint64_t varint(pf_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = pf_cur_u8(c);
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    pf_cur_fail(c, PERFILE_DAMAGE_BAD_SIZE);
    return 0;
}

/* Reads the value of a field: a varint into *number, anything else as bytes. */
static perfile_bytes read_value(pf_cursor *c, unsigned wire, uint64_t *number)
{
    perfile_bytes none = {NULL, 0};
    *number = 0;
    switch (wire) {
    case WIRE_VARINT:
        *number = varint(c);
        return none;
    case WIRE_64:
    case WIRE_32:
        return pf_cur_span(c, wire == WIRE_64 ? 8 : 4);
    case WIRE_BYTES:
        return pf_cur_span(c, varint(c));
    default:
        pf_cur_fail(c, PERFILE_DAMAGE_BAD_SIZE);
        return none;
    }
}

/* Shows the fields of the message that fills `c`; bytes that are not a message are damage. */
static void walk_proto(pf_cursor *c, const pf_walker *w, unsigned message)
{
    /* The open messages: their kind, their end, and the field that opened them. */
    struct {
        unsigned message;
        const uint8_t *end;
        const pf_proto_row *row;
    } open[DEPTH];
    unsigned depth = 0;
    const uint8_t *all = c->end;
    open[0].message = message;
    open[0].end = c->end;
    open[0].row = NULL;
    for (;;) {
        while (depth > 0 && c->pos == open[depth].end) {
            w->visitor->end(w->user, &open[depth].row->field);
            depth--;
        }
        if (c->pos == all)
            return;
        c->end = open[depth].end;
        const uint8_t *at = c->pos;
        uint64_t key = varint(c);
        uint64_t number;
        perfile_bytes bytes = read_value(c, key & 7, &number);
        bool bad = c->bad != 0;
        c->end = all;
        if (bad) {
            c->pos = all;
            return;
        }
        const pf_proto_row *row = row_of(open[depth].message, key >> 3);
        bool is_bytes = (key & 7) == WIRE_BYTES;
        if (!row || is_bytes == (row->type == PF_PROTO_VARINT))
            continue;
        perfile_value v = {.offset = (uint64_t)(at - w->base) + w->shift,
                           .width = (uint64_t)(c->pos - at),
                           .number = number};
        v.u.bytes = bytes;
        if (row->type == PF_PROTO_VARINT || row->type == PF_PROTO_TEXT) {
            w->visitor->value(w->user, &row->field, &v);
        } else if (depth + 1 < DEPTH) {
            v.u.count = 0;
            w->visitor->begin(w->user, &row->field, &v);
            depth++;
            open[depth].message = row->type;
            open[depth].end = c->pos;
            open[depth].row = row;
            c->pos = bytes.ptr;
        }
    }
}

/* How each HAND layout is shown: by its members, with the function show_NAME() made from the table,
 * or with one of the functions at the end of this file. */
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
/* `(void)show_…` suppresses a compiler warning: the function made from the table is unused. */
#define PF_SHOW_file2_entry(k, c, w)     (show_message(k, c, w), (void)show_file2_entry)
#define PF_SHOW_sp_debug_unwind(k, c, w) (show_unwind(k, c, w), (void)show_sp_debug_unwind)
#define PF_SHOW_sp_init_map(k, c, w)     (show_records(k, c, w), (void)show_sp_init_map)
#define PF_SHOW_id_index(k, c, w)                                                                  \
    (w->flags & PERFILE_WALK_CONTRACT ? show_joined_index(k, c, w) : show_id_index(k, c, w))
static pf_walk_fn show_joined_index, show_tracing_data, show_tracing, show_joined_topology,
    show_message, show_unwind, show_records;

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
    static const perfile_field die_row = {"die_id", "die of the CPU", PERFILE_STORED_S32,
                                          0,        PERFILE_KIND_DEC, PERFILE_FIELD_CALC};
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
        walk_proto(&message, w, PF_PROTO_file2);
    if (message.bad)
        pf_cur_fail(c, message.bad);
}

/* simpleperf's DEBUG_UNWIND: the section is one protobuf message. */
static void show_unwind(const pf_context *k, pf_cursor *c, const pf_walker *w)
{
    (void)k;
    walk_proto(c, w, PF_PROTO_debug_unwind);
}

/* simpleperf's INIT_MAP: complete records, one after another.  Headers and bodies are shown. */
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

/* TRACING_DATA: the section as one blob, then, unless the contract forbids it, the formats in
 * it. */
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

/* Finds the end of a kernel record's body, where its trailer (sample_id) begins.
 *
 * The trailer has a fixed size for each event and is at the end of the record.  Tools, however,
 * omit it in records that they synthesize; then the last bytes of the record belong to the body.
 * The only evidence is the string at the end of such records: see string_fills(). */

/* Kernel rows only: the fixed parts of tool records are not needed here, and do not fit. */
#define FIXED_K(number, fixed) [number] = (fixed) + 1,
#define FIXED_P(number, fixed)
const uint8_t pf_record_fixed_plus_one[PERFILE_RECORD_USER] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    FIXED_##source(number, fixed)
#include "format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    FIXED_##source(number, fixed)
#include "format/records.def"
};

/* Returns the offset in the body of the string at the end of the record; 0 if there is none. */
static size_t string_offset(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (!row || !(row->has & PF_HAS_STRING))
        return 0;
    /* The first kernels with MMAP2 had no prot and flags; see format/records.def. */
    const size_t prot_and_flags = 8, old = row->fixed - prot_and_flags;
    if (r->type == PERFILE_RECORD_MMAP2 && !(r->misc & PERFILE_MISC_MMAP_BUILD_ID) &&
        pf_load_u32(r->body.ptr + old, r->flags & PERFILE_REC_SWAPPED) >> 26)
        return old;
    return row->fixed;
}

/* Returns true if the padded string ends exactly at the end of the record, so it has no trailer.
 * In a record with a trailer the NUL of the string is before the trailer. */
static bool string_fills(const perfile_record *r)
{
    size_t at = string_offset(r);
    if (at == 0)
        return false;
    size_t left = r->body.len - at;
    const uint8_t *nul = memchr(r->body.ptr + at, 0, left);
    if (!nul)
        return false;
    size_t bytes = (size_t)(nul - (r->body.ptr + at)) + 1;
    return (bytes + 7) / 8 * 8 == left;
}

bool pf_record_split_trailer(const perfile_record *r, const perfile_layout *l, bool as_stored,
                             perfile_bytes *body, perfile_bytes *trailer)
{
    if (r->family != PERFILE_FAMILY_PERF || !pf_record_of_kernel(r->type))
        return false;
    size_t fixed = pf_record_known(r->type) ? pf_record_fixed_plus_one[r->type] - 1U : 0;
    if (r->body.len < fixed + l->trailer_size)
        return false;
    if (!as_stored && string_fills(r))
        return false;

    body->len -= l->trailer_size;
    *trailer = (perfile_bytes){r->body.ptr + body->len, l->trailer_size};
    return true;
}
