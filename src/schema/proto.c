/* A walk over protobuf messages, driven by format/proto.def: simpleperf stores FILE2 and
 * DEBUG_UNWIND that way.
 *
 * The walk is a loop with a stack of the open messages, so that nesting in the input costs no stack
 * of ours: DEPTH is what the table needs, deeper messages are passed over.  Fields without a row,
 * or of another wire type than their row says, are passed over, as protobuf readers do. */
#include "schema/proto.h"

#include "schema/types.h"

enum {
    DEPTH = 4, /* nested messages that the table has */
    /* Wire types of protobuf; groups (3 and 4) are obsolete and count as damage. */
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_32 = 5
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

/* NULL: the table does not have this field of the message. */
static const pf_proto_row *row_of(unsigned message, uint64_t number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].message == message && rows[i].number == number)
            return &rows[i];
    return NULL;
}

/* 7 bits in each byte, the lowest first; the highest bit says that another byte follows. */
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

void pf_walk_proto(pf_cursor *c, const pf_walker *w, unsigned message)
{
    /* The messages that are open: what they are, where they end, the field that opened them. */
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
