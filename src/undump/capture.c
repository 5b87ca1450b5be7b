/* Header, events, features and records of a perf.data capture, made from the lines of a dump.
 *
 * Records and features are encoded by core/encode.h, which reads back its result: a line with
 * contradictory values is an error that names the member. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/layout.h"
#include "schema/expand.h"
#include "undump/undump.h"
#include "core/command.h"

enum {
    /* Limit for zeros after the fields of a record, in addition to padding: old versions of perf
     * wrote file names with room for PATH_MAX bytes. */
    MOST_SLACK = 4096 + 64,
    /* Limit for all of them: a constant, plus an amount for each byte of the dump. */
    SLACK_IN_ALL = 16 << 20,
    SLACK_A_BYTE = 4,
    /* Limit for the bytes of a feature: a constant, plus an amount for each byte of its line.
     * Strings take 68. */
    FEATURE_BYTES = 64 << 10,
    FEATURE_A_BYTE = 80,
    MOST_EVENTS = 1 << 20,
    ATTR_ROOM = 64 << 10
};

static const char no_bytes[] = "a dump has a checksum of their bytes, not the bytes";
static const char no_content[] = "it could not be read: a dump does not have its bytes";

static perfile_encode_options encoding(const pf_undump_state *u)
{
    const bool big = u->swap != (bool)PF_NATIVE_BIG;
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .n_cpus = u->n_cpus,
                                    .byte_order =
                                        big ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE};
}

/* Returns the index of a word in a list; -1: not in the list. */
static int word_of(perfile_bytes text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strlen(words[i]) == text.len && memcmp(words[i], text.ptr, text.len) == 0)
            return i;
    return -1;
}

perfile_status pf_undump_header(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    enum { FILE_FORM, PIPE_FORM, PERFMON, BIG = 1 };
    static const char *const formats[] = {"file", "pipe", "perfmon"};
    static const char *const orders[] = {"little", "big"};
    perfile_bytes format, order;
    if (u->writer || u->perfmon)
        return pf_undump_fail(u, u->item.ptr, "header", err,
                              "a second header: a dump of a directory of perfmon buffers cannot be "
                              "converted back, and two dumps are two captures");
    perfile_status st =
        pf_undump_bytes(u, o->at[PF_LINE_format], "header.format", true, &format, err);
    if (st == PERFILE_OK)
        st = pf_undump_bytes(u, o->at[PF_LINE_endian], "header.endian", true, &order, err);
    if (st != PERFILE_OK)
        return st;
    const int form = word_of(format, formats, 3), endian = word_of(order, orders, 2);
    if (form < 0)
        return pf_undump_fail(u, o->at[PF_LINE_format], "header.format", err,
                              "neither 'file' nor 'pipe' nor 'perfmon'");
    if (endian < 0 || (form == PERFMON && endian == BIG))
        return pf_undump_fail(u, o->at[PF_LINE_endian], "header.endian", err,
                              form == PERFMON ? "a perfmon buffer is 'little'"
                                              : "neither 'little' nor 'big'");
    u->swap = (endian == BIG) != (bool)PF_NATIVE_BIG;
    if (form == PERFMON)
        return pf_undump_perfmon_header(u, o, err);
    const perfile_writer_options how = {
        .size = sizeof how,
        .form = form == PIPE_FORM ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
        .byte_order = endian == BIG ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE,
        .as_stored = true,
        .compress_level = PERFILE_COMPRESS_NONE};
    return perfile_writer_open(u->sink, &how, &u->writer, err);
}

/* Fails for lines that only perf.data has. */
static perfile_status needs_perf(const pf_undump_state *u, perfile_error *err)
{
    if (u->writer)
        return PERFILE_OK;
    return pf_undump_fail(u, u->item.ptr, "line", err, "a perfmon buffer has records only");
}

/* Events. */

perfile_status pf_undump_add_layout(pf_undump_state *u, const perfile_attr *attr,
                                    perfile_error *err)
{
    if (u->n_layouts == MOST_EVENTS)
        return pf_fail(err, PERFILE_E_LIMIT, "session_bytes", "more than %d events",
                       (int)MOST_EVENTS);
    void *more = pf_array_more(u->layouts, u->n_layouts, &u->room_layouts, sizeof(perfile_layout));
    if (!more)
        return pf_fail_nomem(err, "undump");
    u->layouts = more;
    perfile_layout_of_attr(attr, sizeof *attr, &u->layouts[u->n_layouts++]);
    return PERFILE_OK;
}

/* Reads the ids of an attr line. */
static perfile_status read_ids(pf_undump_state *u, const uint8_t *at, perfile_words *ids,
                               perfile_error *err)
{
    uint64_t *list = NULL;
    size_t n = 0, room = 0;
    *ids = (perfile_words){0};
    if (!at)
        return PERFILE_OK;
    pf_cbor c = pf_undump_value(u, at);
    (void)pf_cbor_array(&c);
    const unsigned depth = c.depth;
    while (pf_cbor_more(&c, depth)) {
        if (n == room) {
            void *more;
            room = n ? 2 * n : 8;
            perfile_status st = pf_arena_get(&u->arena, room * sizeof *list, &more, err);
            if (st != PERFILE_OK)
                return st;
            if (n)
                memcpy(more, list, n * sizeof *list);
            list = more;
        }
        list[n++] = pf_cbor_uint(&c);
    }
    if (c.why)
        return pf_undump_fail_cbor(u, &c, "attr.ids", err);
    *ids = perfile_words_u64(list, n);
    return PERFILE_OK;
}

/* Encodes the attr to u->space.out.  Dumps of damaged captures may have an impossible size.  It
 * becomes 64, because that is how such an attr was read. */
static perfile_status encode_attr(pf_undump_state *u, const perfile_attr *attr, size_t *len,
                                  perfile_error *err)
{
    const perfile_encode_options how = encoding(u);
    perfile_attr whole = *attr;
    if (whole.size < PF_ATTR_LEAST && whole.size)
        whole.size = PF_ATTR_LEAST;
    return perfile_attr_encode(&whole, sizeof whole, &how, u->space.out, ATTR_ROOM, len, err);
}

perfile_status pf_undump_attr(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    pf_undump_filled filled;
    perfile_attr attr;
    perfile_words ids;
    uint64_t index = u->n_layouts;
    size_t len;
    perfile_status st = needs_perf(u, err);
    if (st == PERFILE_OK && !o->at[PF_LINE_attr])
        st = pf_undump_fail(u, u->item.ptr, "attr", err, "the key 'attr' is missing");
    if (st == PERFILE_OK && o->at[PF_LINE_index])
        st = pf_undump_number(u, o->at[PF_LINE_index], "attr.index", UINT32_MAX, &index, err);
    if (st == PERFILE_OK && index != u->n_layouts)
        st = pf_undump_fail(u, o->at[PF_LINE_index], "attr.index", err,
                            "%" PRIu64 ", but it is event %" PRIu32, index, u->n_layouts);
    if (st == PERFILE_OK)
        st = pf_undump_fill(u, pf_undump_keys_of(u, PF_SHAPE_attr), o->at[PF_LINE_attr], "attr",
                            &attr, &filled, err);
    if (st == PERFILE_OK && filled.has_data)
        st = pf_undump_fail(u, o->at[PF_LINE_attr], "attr", err, "no member is called 'data'");
    if (st == PERFILE_OK)
        st = read_ids(u, o->at[PF_LINE_ids], &ids, err);
    if (st == PERFILE_OK)
        st = encode_attr(u, &attr, &len, err);
    if (st == PERFILE_OK)
        st = perfile_writer_event(u->writer, (perfile_bytes){u->space.out, len}, &ids, err);
    return st == PERFILE_OK ? pf_undump_add_layout(u, &attr, err) : st;
}

perfile_status pf_undump_event_type(pf_undump_state *u, const pf_undump_object *o,
                                    perfile_error *err)
{
    uint64_t id;
    perfile_bytes name;
    perfile_status st = needs_perf(u, err);
    if (st == PERFILE_OK)
        st = pf_undump_number(u, o->at[PF_LINE_event_id], "event_type.event_id", UINT64_MAX, &id,
                              err);
    if (st == PERFILE_OK)
        st = pf_undump_bytes(u, o->at[PF_LINE_name], "event_type.name", true, &name, err);
    return st == PERFILE_OK ? pf_writer_event_type(u->writer, id, name, err) : st;
}

/* Features. */

/* Stores the number of CPUs from NRCPUS, which is needed to read CPU_TOPOLOGY. */
static void note_cpus(pf_undump_state *u, uint32_t number)
{
    if (number == PERFILE_FEATURE_NRCPUS)
        u->n_cpus = ((const perfile_nrcpus *)u->given)->nr_cpus_avail;
}

/* Returns true if `len` bytes are plausible for the line.  A size that is only claimed, like that
 * of the attrs in EVENT_DESC, is not trusted. */
static bool is_worth(const pf_undump_state *u, size_t len)
{
    return len <= FEATURE_BYTES || (len - FEATURE_BYTES) / FEATURE_A_BYTE <= u->item.len;
}

/* Encodes u->given, with as much room as it needs. */
static perfile_status encode_feature(pf_undump_state *u, const pf_row *row, size_t *len,
                                     perfile_error *err)
{
    const perfile_encode_options how = encoding(u);
    pf_encode_space measure = u->space;
    measure.out = NULL;
    measure.room = 0;
    perfile_status st = pf_encode_feature_row(row, &measure, u->given, &how, len, err);
    if (st == PERFILE_OK && !is_worth(u, *len))
        st = pf_undump_fail(u, u->item.ptr, row->name, err,
                            "%zu bytes, of a line of %zu: its sizes are not what it holds", *len,
                            u->item.len);
    if (st == PERFILE_OK)
        st = pf_undump_room(u, *len, err);
    return st == PERFILE_OK ? pf_encode_feature_row(row, &u->space, u->given, &how, len, err) : st;
}

perfile_status pf_undump_payload(pf_undump_state *u, uint32_t number, const uint8_t *data,
                                 size_t *len, bool *lost, perfile_error *err)
{
    static const pf_undump_keys none = {0}; /* for features without a table: only `data` */
    const pf_row *row = pf_feature_row(number);
    pf_undump_filled filled;
    if (row && !row->contract)
        row = NULL;
    const pf_undump_keys *keys = row ? pf_undump_keys_of_feature(u, row) : &none;
    *lost = false;
    perfile_status st =
        pf_undump_fill(u, keys, data, row ? row->name : "feature", u->given, &filled, err);
    if (st != PERFILE_OK)
        return st;
    *lost = filled.has_crc;
    if (filled.has_crc)
        return PERFILE_OK;
    if (filled.has_data != !row || (!row && filled.n_keys != 1))
        return pf_undump_fail(u, data, "feature.data", err,
                              row ? "no member is called 'data'" : "the key 'data' is missing");
    if (row) {
        st = encode_feature(u, row, len, err);
        if (st == PERFILE_OK)
            note_cpus(u, number);
        return st;
    }
    *len = filled.data.len;
    st = pf_undump_room(u, *len, err);
    if (st == PERFILE_OK && *len)
        memcpy(u->space.out, filled.data.ptr, *len);
    return st;
}

/* Returns true for features that describe how the file is stored: the writer makes them itself. */
static bool is_of_storage(uint64_t number)
{
    return number == PERFILE_FEATURE_AUXTRACE || number == PERFILE_FEATURE_DIR_FORMAT ||
           number == PERFILE_FEATURE_COMPRESSED;
}

perfile_status pf_undump_feature(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    uint64_t number;
    size_t len = 0;
    bool lost = false;
    perfile_status st = needs_perf(u, err);
    if (st == PERFILE_OK)
        st = pf_undump_number(u, o->at[PF_LINE_feature], "feature.feature", PERFILE_N_FEATURES - 1,
                              &number, err);
    if (st != PERFILE_OK || is_of_storage(number))
        return st;
    if (o->at[PF_LINE_error]) {
        pf_undump_leave_out(u, PERFILE_NOTE_FEATURE_LEFT_OUT, (uint32_t)number, 0, no_content);
        return PERFILE_OK;
    }
    if (!o->at[PF_LINE_data])
        return pf_undump_fail(u, u->item.ptr, "feature", err, "the key 'data' is missing");
    st = pf_undump_payload(u, (uint32_t)number, o->at[PF_LINE_data], &len, &lost, err);
    if (st != PERFILE_OK)
        return st;
    if (lost) {
        pf_undump_leave_out(u, PERFILE_NOTE_FEATURE_LEFT_OUT, (uint32_t)number, 0, no_bytes);
        return PERFILE_OK;
    }
    return perfile_writer_feature(u->writer, (uint32_t)number, (perfile_bytes){u->space.out, len},
                                  err);
}

/* Records. */

/* The members of a record's line, except its body. */
typedef struct record {
    uint32_t type;
    uint16_t misc;
    uint32_t size; /* 0: not given */
    const pf_row *row;
    const perfile_layout *layout;
    size_t len; /* length of the record in u->space.out */
    bool lost;  /* the dump does not have its bytes */
} record;

/* Finds the layout of the event that `attr` names. null means any event, because all have the same
 * layout. */
static perfile_status find_layout(pf_undump_state *u, const pf_undump_object *o, record *r,
                                  perfile_error *err)
{
    const uint8_t *at = o->at[PF_LINE_attr];
    uint64_t index = 0;
    perfile_status st = PERFILE_OK;
    if (r->type >= PERFILE_RECORD_USER)
        return PERFILE_OK;
    if (at && !pf_undump_is_null(u, at))
        st = pf_undump_number(u, at, "record.attr", UINT32_MAX, &index, err);
    if (st == PERFILE_OK && index < u->n_layouts)
        r->layout = &u->layouts[index];
    else if (st == PERFILE_OK && at)
        st = pf_undump_fail(u, at, "record.attr", err,
                            "event %" PRIu64 ", but %" PRIu32 " are known", index, u->n_layouts);
    return st;
}

static perfile_status read_head(pf_undump_state *u, const pf_undump_object *o, record *r,
                                perfile_error *err)
{
    uint64_t type, misc = 0, size = 0;
    perfile_status st =
        pf_undump_number(u, o->at[PF_LINE_type], "record.type", UINT32_MAX, &type, err);
    if (st == PERFILE_OK && o->at[PF_LINE_misc])
        st = pf_undump_number(u, o->at[PF_LINE_misc], "record.misc", UINT16_MAX, &misc, err);
    if (st == PERFILE_OK && o->at[PF_LINE_size])
        st = pf_undump_number(u, o->at[PF_LINE_size], "record.size", UINT32_MAX, &size, err);
    if (st != PERFILE_OK)
        return st;
    *r = (record){.type = (uint32_t)type, .misc = (uint16_t)misc, .size = (uint32_t)size};
    if (size && size < PF_PERF_RECORD_HEADER)
        return pf_undump_fail(u, o->at[PF_LINE_size], "record.size", err,
                              "%" PRIu64 ", a record has 8 bytes at least", size);
    r->row = o->at[PF_LINE_name] && pf_undump_is_null(u, o->at[PF_LINE_name])
                 ? NULL
                 : pf_record_row(r->type);
    if (r->row && !r->row->contract)
        r->row = NULL;
    return find_layout(u, o, r, err);
}

static void put_u16(uint8_t *to, uint64_t v, bool swap)
{
    pf_store_u16(to, (uint16_t)v, swap);
}

/* Writes the header of a record of r->len bytes. */
static perfile_status put_header(pf_undump_state *u, const pf_undump_object *o, const record *r,
                                 perfile_error *err)
{
    uint8_t *to = u->space.out;
    const bool wide = pf_type_is_wide(r->type);
    if (r->size && r->size != r->len)
        return pf_undump_fail(u, o->at[PF_LINE_size], "record.size", err,
                              "%" PRIu32 ", but its bytes make %zu", r->size, r->len);
    if (r->len > (wide ? UINT32_MAX : UINT16_MAX))
        return pf_undump_fail(u, u->item.ptr, "record.data", err,
                              "%zu bytes are more than a record has", r->len);
    pf_store_u32(to, r->type, u->swap);
    put_u16(to + 4, wide ? r->len >> 16 : r->misc, u->swap);
    put_u16(to + PF_PERF_SIZE_AT, r->len, u->swap);
    return PERFILE_OK;
}

/* Reads the trailer of a record from the key sample_id. */
static perfile_status read_trailer(pf_undump_state *u, const pf_undump_object *o, const record *r,
                                   perfile_sample_id *id, perfile_error *err)
{
    pf_undump_filled filled;
    if (!r->layout)
        return pf_undump_fail(u, o->at[PF_LINE_sample_id], "sample_id", err,
                              "no event says what it holds");
    perfile_status st = pf_undump_fill(u, pf_undump_keys_of(u, PF_SHAPE_sample_id),
                                       o->at[PF_LINE_sample_id], "sample_id", id, &filled, err);
    if (st == PERFILE_OK && filled.has_data)
        st = pf_undump_fail(u, o->at[PF_LINE_sample_id], "sample_id", err,
                            "no member is called 'data'");
    return st;
}

/* Writes a record that the dump has as bytes: of an unknown type, or damaged. */
static perfile_status put_raw(pf_undump_state *u, const pf_undump_object *o, record *r,
                              perfile_bytes body, perfile_error *err)
{
    perfile_sample_id id;
    perfile_encode_options how = encoding(u);
    size_t len = 0;
    enum { TRAILER_ROOM = 256 };
    perfile_status st = pf_undump_room(u, PF_PERF_RECORD_HEADER + body.len + TRAILER_ROOM, err);
    if (st != PERFILE_OK)
        return st;
    if (body.len)
        memcpy(u->space.out + PF_PERF_RECORD_HEADER, body.ptr, body.len);
    r->len = PF_PERF_RECORD_HEADER + body.len;
    if (o->at[PF_LINE_sample_id] && !o->at[PF_LINE_error]) {
        how.layout = r->layout;
        st = read_trailer(u, o, r, &id, err);
        if (st == PERFILE_OK)
            st = perfile_sample_id_encode(&id, sizeof id, &how, u->space.out + r->len, TRAILER_ROOM,
                                          &len, err);
    }
    r->len += len;
    return st == PERFILE_OK ? put_header(u, o, r, err) : st;
}

/* Makes a record of the fixed part of u->given and the bytes after it, which the dump shows as one
 * value.  The rest of the struct is not known, so the encoder's comparison would fail. */
static perfile_status add_rest(pf_undump_state *u, const pf_undump_object *o, record *r,
                               perfile_bytes rest, perfile_error *err)
{
    const size_t front = PF_PERF_RECORD_HEADER + r->row->fixed;
    perfile_status st = pf_undump_room(u, front + rest.len, err);
    if (st != PERFILE_OK)
        return st;
    const pf_context k = pf_context_of(r->layout);
    pf_put w = {
        .start = u->space.out, .room = front, .end = SIZE_MAX, .swap = u->swap, .is_record = true};
    pf_put_zeros(&w, PF_PERF_RECORD_HEADER);
    r->row->encode(&k, &w, u->given);
    if (rest.len)
        memcpy(u->space.out + front, rest.ptr, rest.len);
    r->len = front + rest.len;
    return put_header(u, o, r, err);
}

/* Counts zeros after the fields of a record, and checks the limits. */
static perfile_status count_slack(pf_undump_state *u, const pf_undump_object *o, size_t len,
                                  uint64_t size, perfile_error *err)
{
    if (size <= len)
        return PERFILE_OK;
    u->slack += size - len;
    if (size - len <= MOST_SLACK &&
        u->slack / SLACK_A_BYTE <= SLACK_IN_ALL / SLACK_A_BYTE + u->offset)
        return PERFILE_OK;
    return pf_undump_fail(u, o->at[PF_LINE_size], "record.size", err,
                          "%" PRIu64 ", its fields make %zu", size, len);
}

/* Measures the fields of a record with a given size, and checks the limits. */
static perfile_status check_slack(pf_undump_state *u, const pf_undump_object *o, const record *r,
                                  const perfile_encode_options *how, perfile_error *err)
{
    pf_encode_space measure = u->space;
    size_t len;
    if (!r->size)
        return PERFILE_OK;
    measure.out = NULL;
    measure.room = 0;
    perfile_status st = pf_encode_row(r->row, &measure, u->given, 0, how, &len, err);
    return st == PERFILE_OK ? count_slack(u, o, len, r->size, err) : st;
}

/* Encodes u->given as a record. */
static perfile_status encode_record(pf_undump_state *u, const pf_undump_object *o, record *r,
                                    perfile_error *err)
{
    perfile_sample_id id;
    perfile_encode_options how = encoding(u);
    perfile_status st = PERFILE_OK;
    how.misc = r->misc;
    how.layout = r->layout;
    if (o->at[PF_LINE_sample_id]) {
        st = read_trailer(u, o, r, &id, err);
        how.sample_id = &id;
    }
    if (st == PERFILE_OK)
        st = check_slack(u, o, r, &how, err);
    if (st == PERFILE_OK)
        st = pf_encode_row(r->row, &u->space, u->given, r->size, &how, &r->len, err);
    return st;
}

/* Adds the event of a HEADER_ATTR. */
static perfile_status note_attr(pf_undump_state *u, const record *r, perfile_error *err)
{
    if (r->type != PERFILE_RECORD_HEADER_ATTR)
        return PERFILE_OK;
    return pf_undump_add_layout(u, &((const perfile_header_attr *)u->given)->attr, err);
}

/* Makes a HEADER_FEATURE: the number, and the feature in it. */
static perfile_status put_feature(pf_undump_state *u, const pf_undump_object *o, record *r,
                                  perfile_error *err)
{
    enum { NUMBER_AT = PF_PERF_RECORD_HEADER, FRONT = NUMBER_AT + 8 };
    pf_undump_object body;
    uint64_t number;
    size_t len = 0;
    perfile_status st = pf_undump_object_read(u, o->at[PF_LINE_body], &body, err);
    if (st == PERFILE_OK)
        st = pf_undump_number(u, body.at[PF_LINE_feat_id], "header_feature.feat_id", UINT64_MAX,
                              &number, err);
    if (st != PERFILE_OK)
        return st;
    if (body.at[PF_LINE_error]) {
        /* The record that ends the list of features has only a number. */
        r->lost = r->size != FRONT;
    } else if (!body.at[PF_LINE_data]) {
        return pf_undump_fail(u, u->item.ptr, "header_feature", err, "the key 'data' is missing");
    } else {
        const uint32_t known = number <= UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        st = pf_undump_payload(u, known, body.at[PF_LINE_data], &len, &r->lost, err);
        if (st == PERFILE_OK && !r->lost)
            st = pf_undump_room(u, FRONT + len, err);
        if (st != PERFILE_OK || r->lost)
            return st;
        memmove(u->space.out + FRONT, u->space.out, len);
    }
    pf_store_u64(u->space.out + NUMBER_AT, number, u->swap);
    r->len = FRONT + len;
    /* Strings, and the record after them, may have been padded differently. */
    if (r->size > r->len) {
        st = count_slack(u, o, r->len, r->size, err);
        if (st == PERFILE_OK)
            st = pf_undump_room(u, r->size, err);
        if (st != PERFILE_OK)
            return st;
        memset(u->space.out + r->len, 0, r->size - r->len);
        r->len = r->size;
    }
    r->size = 0;
    return put_header(u, o, r, err);
}

/* Makes the record of the line in u->space.out. */
static perfile_status make_record(pf_undump_state *u, const pf_undump_object *o, record *r,
                                  perfile_error *err)
{
    static const pf_undump_keys none = {0};
    pf_undump_filled filled;
    perfile_bytes bytes;
    if (o->at[PF_LINE_error]) {
        perfile_status st =
            pf_undump_bytes(u, o->at[PF_LINE_data], "record.data", false, &bytes, err);
        return st == PERFILE_OK ? put_raw(u, o, r, bytes, err) : st;
    }
    if (!o->at[PF_LINE_body])
        return pf_undump_fail(u, u->item.ptr, "record", err, "the key 'body' is missing");
    if (r->row && r->type == PERFILE_RECORD_HEADER_FEATURE)
        return put_feature(u, o, r, err);
    const pf_undump_keys *keys =
        r->row ? pf_undump_keys_of_row(u, PERFILE_FAMILY_PERF, r->row) : &none;
    perfile_status st = pf_undump_fill(u, keys, o->at[PF_LINE_body], r->row ? r->row->name : "body",
                                       u->given, &filled, err);
    if (st != PERFILE_OK)
        return st;
    if (filled.has_data && filled.n_keys == 1)
        return put_raw(u, o, r, filled.data, err);
    if (!r->row)
        return pf_undump_fail(u, o->at[PF_LINE_body], "body", err, "the key 'data' is missing");
    r->lost = filled.has_crc;
    if (r->lost)
        return PERFILE_OK;
    st = filled.has_data ? add_rest(u, o, r, filled.data, err) : encode_record(u, o, r, err);
    return st == PERFILE_OK ? note_attr(u, r, err) : st;
}

/* Tells whether a record was in fragments.  Those records are not written, because the fragments
 * were.  Records that were in a compressed record are written, because that was left out. */
static perfile_status is_in_fragments(pf_undump_state *u, const pf_undump_object *o, bool *is,
                                      perfile_error *err)
{
    uint64_t outer;
    *is = false;
    if (!o->at[PF_LINE_compressed_in])
        return PERFILE_OK;
    perfile_status st = pf_undump_number(u, o->at[PF_LINE_compressed_in], "record.compressed_in",
                                         UINT64_MAX, &outer, err);
    *is = st == PERFILE_OK && outer >= u->fragments_at && outer < u->fragments_to;
    u->inner += st == PERFILE_OK && !*is;
    return st;
}

/* Stores the range of the last fragments, by the `index` of their lines. */
static void note_fragment(pf_undump_state *u, uint64_t index)
{
    if (u->fragments_to != index)
        u->fragments_at = index;
    u->fragments_to = index + 1;
}

static perfile_status write_record(pf_undump_state *u, const record *r, perfile_error *err)
{
    const perfile_record out = {
        .header = u->space.out,
        .body = {u->space.out + PF_PERF_RECORD_HEADER, r->len - PF_PERF_RECORD_HEADER},
        .type = r->type,
        .misc = pf_type_is_wide(r->type) ? 0 : r->misc,
        .family = PERFILE_FAMILY_PERF,
        .flags = u->swap ? PERFILE_REC_SWAPPED : 0,
        .envelope = PERFILE_NO_SEQUENCE};
    return perfile_writer_put(u->writer, &out, err);
}

/* Returns true if more bytes follow the record: a dump has only their checksum. */
static bool has_more_behind(const pf_undump_state *u, const record *r)
{
    const pf_frame f = {.type = r->type, .size = (uint32_t)r->len, .misc = r->misc};
    return pf_frame_extra(u->space.out, &f, u->swap) != 0;
}

perfile_status pf_undump_record(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    record r;
    bool joined;
    uint64_t index = u->n_records++;
    if (u->perfmon)
        return pf_undump_perfmon_record(u, o, err);
    perfile_status st = read_head(u, o, &r, err);
    if (st == PERFILE_OK && o->at[PF_LINE_index])
        st = pf_undump_number(u, o->at[PF_LINE_index], "record.index", UINT64_MAX - 1, &index, err);
    if (st == PERFILE_OK)
        st = is_in_fragments(u, o, &joined, err);
    if (st != PERFILE_OK || joined)
        return st;
    const pf_row *row = pf_record_row(r.type);
    if (row && row->marks & PF_ROW_ENVELOPE) {
        if (!u->envelopes++)
            u->packed = (perfile_note){.number = r.type, .offset = u->offset};
        u->packed.bytes += r.size;
        return PERFILE_OK;
    }
    if (row && row->marks & (PF_ROW_FRAGMENT | PF_ROW_FRAGMENT_END))
        note_fragment(u, index);
    st = make_record(u, o, &r, err);
    if (st == PERFILE_OK && !r.lost)
        r.lost = has_more_behind(u, &r);
    if (st != PERFILE_OK || !r.lost)
        return st == PERFILE_OK ? write_record(u, &r, err) : st;
    pf_undump_leave_out(u, PERFILE_NOTE_RECORDS_LEFT_OUT, r.type, r.size, no_bytes);
    return PERFILE_OK;
}
