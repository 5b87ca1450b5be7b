/* The lines of a dump: reads one object after another from the source, finds its keys, and calls
 * the handler of its kind.
 *
 * A whole object must be in memory.  The reader requests a number of bytes from the source, and
 * twice as many as long as the object is incomplete.  So memory is limited by the bytes that have
 * arrived, and by limits.window_bytes if the source is a pipe. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out.h"
#include "io/source_kind.h"
#include "undump/undump.h"
#include "perfile/sink.h"

enum {
    FIRST_BYTES = 64 << 10, /* of the dump, requested first */
    KEPT_ROOM = 256 << 10   /* initial size of u->space.out, enough for any record */
};

static perfile_status fail_at(const pf_undump_state *u, const uint8_t *at, perfile_status st,
                              const char *where, perfile_error *err, const char *message)
{
    pf_fail(err, st, where, "%s", message);
    pf_error_at(err, u->offset + (uint64_t)(at - u->item.ptr));
    return st;
}

perfile_status pf_undump_fail(const pf_undump_state *u, const uint8_t *at, const char *where,
                              perfile_error *err, const char *format, ...)
{
    char text[160], message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%s: %s", where, text);
    return fail_at(u, at, PERFILE_E_CORRUPT, where, err, message);
}

perfile_status pf_undump_fail_cbor(const pf_undump_state *u, const pf_cbor *c, const char *where,
                                   perfile_error *err)
{
    char message[256];
    snprintf(message, sizeof message, "%s: CBOR that is not a dump: %s", where, c->why);
    return fail_at(u, c->pos, PERFILE_E_CORRUPT, where, err, message);
}

/* Copies the pieces of a string, which have heads between them. */
static perfile_status join_pieces(pf_undump_state *u, pf_cbor *c, pf_cbor_item *item,
                                  perfile_error *err)
{
    const unsigned depth = c->depth;
    pf_cbor ahead = *c;
    size_t len = 0;
    void *to;
    while (pf_cbor_more(&ahead, depth))
        len += pf_cbor_next(&ahead).bytes.len; /* all are in the item: no overflow */
    perfile_status st = pf_arena_get(&u->arena, len + 1, &to, err);
    if (st != PERFILE_OK) {
        pf_error_at(err, u->offset + (uint64_t)(c->pos - u->item.ptr));
        return st;
    }
    len = 0;
    while (pf_cbor_more(c, depth)) {
        const perfile_bytes piece = pf_cbor_next(c).bytes;
        if (piece.len)
            memcpy((uint8_t *)to + len, piece.ptr, piece.len);
        len += piece.len;
    }
    item->bytes = (perfile_bytes){to, len};
    item->number = len;
    return PERFILE_OK;
}

perfile_status pf_undump_string(pf_undump_state *u, pf_cbor *c, pf_cbor_item *item,
                                perfile_error *err)
{
    *item = pf_cbor_next(c);
    if ((item->kind == PF_CBOR_BYTES || item->kind == PF_CBOR_TEXT) && item->number == PF_CBOR_OPEN)
        return join_pieces(u, c, item, err);
    return PERFILE_OK;
}

static const char *const line_keys[PF_N_LINE_KEYS] = {
#define X(name) #name,
    PF_UNDUMP_LINE_KEYS(X)
#undef X
};

static bool is_word(perfile_bytes text, const char *word)
{
    return strlen(word) == text.len && memcmp(word, text.ptr, text.len) == 0;
}

perfile_status pf_undump_object_read(pf_undump_state *u, const uint8_t *at, pf_undump_object *o,
                                     perfile_error *err)
{
    enum { SHOWN = 40 };
    pf_cbor c = pf_undump_value(u, at);
    unsigned next = 0; /* the key that is expected: dumps have them in order */
    *o = (pf_undump_object){0};
    if (pf_cbor_next(&c).kind != PF_CBOR_MAP)
        return c.why ? pf_undump_fail_cbor(u, &c, "line", err)
                     : pf_undump_fail(u, at, "line", err, "not the object that is needed");
    const unsigned depth = c.depth;
    while (pf_cbor_more(&c, depth)) {
        const uint8_t *key_at = c.pos;
        pf_cbor_item key;
        perfile_status st = pf_undump_string(u, &c, &key, err);
        if (st != PERFILE_OK)
            return st;
        if (c.why || key.kind != PF_CBOR_TEXT)
            return pf_undump_fail(u, key_at, "line", err, "not the key that is needed");
        unsigned i = 0;
        while (i < PF_N_LINE_KEYS && !is_word(key.bytes, line_keys[(next + i) % PF_N_LINE_KEYS]))
            i++;
        if (i == PF_N_LINE_KEYS)
            return pf_undump_fail(u, key_at, "line", err, "no line has a key '%.*s'",
                                  key.bytes.len < SHOWN ? (int)key.bytes.len : (int)SHOWN,
                                  (const char *)key.bytes.ptr);
        i = (next + i) % PF_N_LINE_KEYS;
        if (o->at[i])
            return pf_undump_fail(u, key_at, "line", err, "the key '%s' comes twice", line_keys[i]);
        o->at[i] = c.pos;
        next = i + 1;
        pf_cbor_skip(&c);
    }
    return c.why ? pf_undump_fail_cbor(u, &c, "line", err) : PERFILE_OK;
}

perfile_status pf_undump_number(pf_undump_state *u, const uint8_t *at, const char *where,
                                uint64_t most, uint64_t *number, perfile_error *err)
{
    if (!at)
        return pf_undump_fail(u, u->item.ptr, where, err, "the key is missing");
    pf_cbor c = pf_undump_value(u, at);
    const pf_cbor_item item = pf_cbor_next(&c);
    if (item.kind != PF_CBOR_UINT)
        return pf_undump_fail(u, at, where, err, "not the number that is needed");
    if (item.number > most)
        return pf_undump_fail(u, at, where, err, "%" PRIu64 " is above %" PRIu64, item.number,
                              most);
    *number = item.number;
    return PERFILE_OK;
}

bool pf_undump_is_null(const pf_undump_state *u, const uint8_t *at)
{
    enum { NULL_BYTE = 0xf6 };
    return at < u->item.ptr + u->item.len && *at == NULL_BYTE;
}

perfile_status pf_undump_bytes(pf_undump_state *u, const uint8_t *at, const char *where, bool text,
                               perfile_bytes *bytes, perfile_error *err)
{
    pf_cbor_item item;
    if (!at)
        return pf_undump_fail(u, u->item.ptr, where, err, "the key is missing");
    pf_cbor c = pf_undump_value(u, at);
    perfile_status st = pf_undump_string(u, &c, &item, err);
    if (st != PERFILE_OK)
        return st;
    if (item.kind != PF_CBOR_BYTES && (item.kind != PF_CBOR_TEXT || !text))
        return pf_undump_fail(u, at, where, err,
                              text ? "not the text that is needed"
                                   : "not the byte string that is needed");
    *bytes = item.bytes;
    return PERFILE_OK;
}

void pf_undump_leave_out(pf_undump_state *u, uint32_t kind, uint32_t number, uint64_t bytes,
                         const char *why)
{
    const perfile_note note = {.kind = kind,
                               .number = number,
                               .count = 1,
                               .bytes = bytes,
                               .offset = u->offset,
                               .message = why};
    if (u->note)
        u->note(u->user, &note);
}

perfile_status pf_undump_room(pf_undump_state *u, size_t room, perfile_error *err)
{
    if (u->space.room >= room)
        return PERFILE_OK;
    uint8_t *more = pf_realloc(u->space.out, room, 1);
    if (!more)
        return pf_fail_nomem(err, "undump");
    u->space.out = more;
    u->space.room = room;
    return PERFILE_OK;
}

/* The lines themselves. */

/* Handles the line `end`, which has the number of records. */
static perfile_status end_line(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    uint64_t records = u->n_records;
    perfile_status st = PERFILE_OK;
    if (o->at[PF_LINE_records])
        st = pf_undump_number(u, o->at[PF_LINE_records], "end.records", UINT64_MAX, &records, err);
    if (st == PERFILE_OK && records != u->n_records)
        return pf_undump_fail(u, o->at[PF_LINE_records], "end.records", err,
                              "%" PRIu64 " records, but %" PRIu64 " came", records, u->n_records);
    u->has_end = st == PERFILE_OK;
    return st;
}

static perfile_status error_line(pf_undump_state *u, const pf_undump_object *o, perfile_error *err)
{
    (void)o, (void)err;
    pf_undump_leave_out(u, PERFILE_NOTE_DAMAGE, UINT32_MAX, 0,
                        "a dump says what is damaged, it does not have the bytes");
    return PERFILE_OK;
}

static const struct {
    const char *kind;
    perfile_status (*read)(pf_undump_state *u, const pf_undump_object *o, perfile_error *err);
    bool behind_header;
} kinds[] = {{"record", pf_undump_record, true},
             {"attr", pf_undump_attr, true},
             {"feature", pf_undump_feature, true},
             {"event_type", pf_undump_event_type, true},
             {"header", pf_undump_header, false},
             {"error", error_line, false},
             {"end", end_line, true}};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Handles the line u->item. */
static perfile_status read_line(pf_undump_state *u, perfile_error *err)
{
    pf_undump_object o;
    perfile_bytes kind;
    size_t i = 0;
    perfile_status st = pf_undump_object_read(u, u->item.ptr, &o, err);
    if (st == PERFILE_OK)
        st = pf_undump_bytes(u, o.at[PF_LINE_kind], "line.kind", true, &kind, err);
    if (st != PERFILE_OK)
        return st;
    while (i < N_KINDS && !is_word(kind, kinds[i].kind))
        i++;
    if (i == N_KINDS)
        return pf_undump_fail(u, o.at[PF_LINE_kind], "line.kind", err, "no line is of that kind");
    if (u->has_end)
        return pf_undump_fail(u, u->item.ptr, "line", err, "it comes after the line 'end'");
    if (kinds[i].behind_header && !u->writer && !u->perfmon)
        return pf_undump_fail(
            u, u->item.ptr, "line", err,
            "the line 'header' has to come first: a dump of the whole capture is needed");
    st = kinds[i].read(u, &o, err);
    if (st == PERFILE_OK)
        return PERFILE_OK;
    pf_error_at(err, u->offset);
    /* Usage errors of encoders and writers are errors in the dump. */
    if (st == PERFILE_E_USAGE && err)
        err->status = PERFILE_E_CORRUPT;
    return st == PERFILE_E_USAGE ? PERFILE_E_CORRUPT : st;
}

/* Finds the object at u->offset and sets u->item.  Returns PERFILE_END if there is none. */
static perfile_status next_item(pf_undump_state *u, perfile_error *err)
{
    size_t need = 1;
    for (;;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(u->from, u->offset, need, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (run.len == 0)
            return PERFILE_END;
        pf_cbor c = pf_cbor_begin_any(run);
        pf_cbor_skip(&c);
        u->item = run;
        if (!c.why) {
            u->item.len = (size_t)(c.pos - run.ptr);
            return PERFILE_OK;
        }
        if (!c.cut)
            return pf_undump_fail_cbor(u, &c, "line", err);
        if (run.len < need)
            return fail_at(u, run.ptr, PERFILE_E_TRUNCATED, "line", err,
                           "the dump ends inside an object");
        need = run.len < FIRST_BYTES ? FIRST_BYTES : 2 * run.len;
    }
}

/* Checks the size of the temporary file: keys and numbers of a few bytes may become larger
 * fields. */
static perfile_status check_size(const pf_undump_state *u, perfile_error *err)
{
    const uint64_t limit = u->from->limits.spool_bytes;
    if (pf_sink_count(u->sink) <= limit)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_LIMIT, "spool_bytes",
                   "the capture of '%s' is longer than the limit for temporary files, %" PRIu64
                   " bytes",
                   u->from->name, limit);
}

static perfile_status read_lines(pf_undump_state *u, perfile_error *err)
{
    perfile_status st;
    while ((st = next_item(u, err)) == PERFILE_OK) {
        st = read_line(u, err);
        if (st == PERFILE_OK)
            st = check_size(u, err);
        if (st != PERFILE_OK)
            return st;
        pf_arena_free(&u->arena);
        pf_source_release(u->from, u->offset, u->item.len);
        u->offset += u->item.len;
    }
    if (st != PERFILE_END)
        return st;
    u->item = (perfile_bytes){(const uint8_t *)"", 0};
    if (!u->has_end)
        return fail_at(u, u->item.ptr, PERFILE_E_TRUNCATED, "line", err,
                       u->offset ? "the line 'end' is missing: the dump was cut"
                                 : "empty: a dump has the lines 'header' and 'end' at least");
    return PERFILE_OK;
}

/* Reports what happened to compressed records: their contents were in the dump, or not. */
static void tell_envelopes(pf_undump_state *u)
{
    perfile_note note = u->packed;
    if (!u->envelopes || !u->note)
        return;
    note.count = u->envelopes;
    note.kind = PERFILE_NOTE_DECOMPRESSED;
    if (!u->inner) {
        note.kind = PERFILE_NOTE_RECORDS_LEFT_OUT;
        note.message = "the dump does not have what is in them";
    }
    u->note(u->user, &note);
}

static perfile_status finish(pf_undump_state *u, perfile_error *err)
{
    tell_envelopes(u);
    perfile_status st = u->writer ? perfile_writer_finish(u->writer, err) : PERFILE_OK;
    return st == PERFILE_OK && !u->writer ? perfile_sink_finish(u->sink, err) : st;
}

static size_t largest_struct(void)
{
    size_t n, most = sizeof(perfile_sample);
    const pf_row *features = pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++)
        most = features[i].size > most ? features[i].size : most;
    for (unsigned i = 0; i < pf_all_rows(); i++)
        most = pf_row_at(i)->size > most ? pf_row_at(i)->size : most;
    return most;
}

static void close_state(pf_undump_state *u)
{
    for (size_t i = 0; i < sizeof u->of_structs / sizeof u->of_structs[0]; i++)
        pf_undump_keys_free(u->of_structs[i]);
    for (size_t i = 0; i < sizeof u->of_rows / sizeof u->of_rows[0]; i++)
        pf_undump_keys_free(u->of_rows[i]);
    for (size_t i = 0; i < sizeof u->of_features / sizeof u->of_features[0]; i++)
        pf_undump_keys_free(u->of_features[i]);
    pf_undump_keys_free(u->of_guests);
    pf_undump_keys_free(u->of_dies);
    perfile_writer_close(u->writer);
    pf_arena_free(&u->arena);
    pf_free(u->layouts);
    pf_free(u->space.given);
    pf_free(u->space.again);
    pf_free(u->space.out);
    pf_free(u->given);
    pf_free(u);
}

perfile_status pf_undump_to(perfile_source *from, pf_undump_note_fn *note, void *user,
                            perfile_sink *sink, perfile_error *err)
{
    pf_undump_state *u = pf_alloc(1, sizeof *u);
    if (!u)
        return pf_fail_nomem(err, "undump");
    u->from = from;
    u->sink = sink;
    u->note = note;
    u->user = user;
    pf_arena_init(&u->arena, from->limits.session_bytes, "session_bytes");
    u->given_size = largest_struct();
    u->given = pf_alloc(1, u->given_size);
    u->space.given = pf_alloc(1, u->given_size);
    u->space.again = pf_alloc(1, u->given_size);
    perfile_status st = PERFILE_OK;
    if (!u->given || !u->space.given || !u->space.again)
        st = pf_fail_nomem(err, "undump");
    if (st == PERFILE_OK)
        st = pf_undump_room(u, KEPT_ROOM, err);
    if (st == PERFILE_OK)
        st = read_lines(u, err);
    if (st == PERFILE_OK)
        st = finish(u, err);
    close_state(u);
    return st;
}

/* Makes a source of the temporary file, with the input names of `from`. */
static perfile_status open_result(perfile_source *from, int fd, uint64_t size,
                                  perfile_source **capture, perfile_error *err)
{
    pf_inputs inputs = {0};
    perfile_source_options how = from->options;
    if (!pf_inputs_join(&inputs, &from->inputs))
        return pf_fail_nomem(err, "undump");
    perfile_status st = pf_source_map(fd, true, size, from->name, &how, capture, err);
    if (st == PERFILE_OK)
        (*capture)->inputs = inputs;
    else
        pf_inputs_free(&inputs);
    return st;
}

perfile_status pf_undump(perfile_source *from, pf_undump_note_fn *note, void *user,
                         perfile_source **capture, perfile_error *err)
{
    perfile_sink *sink = NULL;
    uint64_t size = 0;
    int fd;
    if (pf_source_has_entries(from))
        return pf_fail(err, PERFILE_E_USAGE, "options.from", "a dump is a file, not a directory");
    perfile_status st = pf_cbor_needed("dumps in CBOR", err);
    if (st == PERFILE_OK)
        st = pf_temporary_open(NULL, "undump", &fd, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_sink_fd(fd, "temporary file", NULL, &sink, err);
    if (st == PERFILE_OK)
        st = pf_undump_to(from, note, user, sink, err);
    if (st == PERFILE_OK)
        size = pf_sink_count(sink);
    perfile_sink_close(sink);
    if (st == PERFILE_OK)
        st = open_result(from, fd, size, capture, err);
    if (st != PERFILE_OK)
        close(fd);
    return st;
}
