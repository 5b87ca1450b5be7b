/* The form "text": one line for each record with offset, time, type, size, misc and event, and
 * below it a line for each field.
 *
 * Four layers: text.c has records, text_facts.c what precedes them, text_fields.c shows the fields
 * of a walk, text_words.c numbers by their kind; all write through text_page.c.  In hex mode
 * (PERFILE_EMIT_HEX) each field has its offset and its bytes in front of it, and the header of a
 * record is shown as fields too. */
#include "emit/text_page.h"

#include "perfile/perfile.h"
#include "schema/family.h"

enum {
    TIME_WIDTH = 17, /* columns of the line of a record */
    TYPE_WIDTH = 18,
    SIZE_WIDTH = 6,
    MISC_WIDTH = 8,
    FIRST_END_MARKER = 23 /* HEADER_LAST_FEATURE of perf 4.17, the first that ends the list */
};

/* Pads a column that began at `mark` to its width; at least two blanks follow a value that is too
 * wide. */
static void pad_from(pf_text_page *t, size_t mark, size_t width)
{
    size_t n = t->base.out.len - mark;
    pf_text_page_spaces(t, n < width ? width - n : 2);
}

static perfile_status text_open(perfile_emitter *e, perfile_error *err)
{
    (void)err;
    ((pf_text_page *)(void *)e)->hex = e->flags & PERFILE_EMIT_HEX;
    return PERFILE_OK;
}

static perfile_status text_begin(perfile_emitter *e, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    (void)err;
    if (!(e->flags & PERFILE_EMIT_RECORDS))
        pf_text_facts(t);
    return PERFILE_OK;
}

/* Begins the line of a record with its file name, if there are several, and its offset.  A record
 * that came out of a compressed one has its offset in the decompressed stream, and a bar in front
 * of all its lines. */
static void put_place(pf_text_page *t, const perfile_record *r)
{
    bool inner = r->flags & PERFILE_REC_INNER;
    const char *file = pf_emit_part_name(&t->base, r->part);
    t->gutter = inner ? "| " : NULL;
    pf_text_page_line(t, 0);
    if (file) {
        pf_text_page_text(t, (perfile_bytes){(const uint8_t *)file, strlen(file)});
        PF_TEXT_LITERAL(t, ":");
    }
    pf_text_offset(t, inner ? r->stream_offset : r->offset);
}

static void put_type(pf_text_page *t, const perfile_record *r)
{
    const char *name = perfile_type_name(r->family, r->type);
    size_t mark = t->base.out.len;
    if (name) {
        pf_text_page_string(t, name);
    } else {
        PF_TEXT_LITERAL(t, "type ");
        pf_text_page_dec(t, perfile_record_stored_type(r));
    }
    pad_from(t, mark, TYPE_WIDTH);
}

/* The fields that the header of a record of another family has besides type and size: on the line
 * of the record, or in hex mode one per line.  True if there are any. */
static bool tag_fields(pf_text_page *t, const perfile_record *r)
{
    const pf_family *family = pf_family_of(r->family);
    if (!family || !family->walk_tag)
        return false;
    const pf_context k = {0};
    pf_cursor at =
        pf_cur((perfile_bytes){r->header + family->tag_at, family->header - family->tag_at},
               r->flags & PERFILE_REC_SWAPPED);
    const pf_walker walker = {&pf_text_page_visitor, t, r->header, 0, 0};
    family->walk_tag(&k, &at, &walker);
    return true;
}

/* The same on the line of the record. */
static void tag_in_line(pf_text_page *t, const perfile_record *r)
{
    const bool hex = t->hex;
    t->hex = false;
    t->base.out.len -= 2; /* each field on a shared line begins with two blanks */
    t->in_line = 1;
    if (!tag_fields(t, r))
        PF_TEXT_LITERAL(t, "  ");
    t->in_line = 0;
    t->hex = hex;
}

/* The line of a record. */
static void head_line(pf_text_page *t, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    const perfile_event *event = perfile_record_event(r);
    put_place(t, r);
    PF_TEXT_LITERAL(t, " ");
    if (time == PERFILE_NO_TIME)
        pf_text_page_spaces(t, TIME_WIDTH);
    else
        pf_text_page_seconds(t, time, TIME_WIDTH);
    PF_TEXT_LITERAL(t, "  ");
    put_type(t, r);
    size_t mark = t->base.out.len;
    pf_text_page_dec(t, perfile_record_size(r));
    pad_from(t, mark, SIZE_WIDTH);
    mark = t->base.out.len;
    if (r->family == PERFILE_FAMILY_PERF)
        pf_text_page_misc(t, r->type, r->misc);
    else
        tag_in_line(t, r);
    if (event) {
        pad_from(t, mark, MISC_WIDTH);
        pf_text_page_text(t, (perfile_bytes){(const uint8_t *)event->name, strlen(event->name)});
    }
    pf_text_page_trim(t);
    pf_text_page_end(t);
}

/* Hex mode: the header of another family, on one line. */
static void other_header(pf_text_page *t, const perfile_record *r)
{
    pf_text_page_named(t, "header", 0, perfile_family_header(r->family));
    PF_TEXT_LITERAL(t, "type ");
    pf_text_page_dec(t, perfile_record_stored_type(r));
    PF_TEXT_LITERAL(t, ", size ");
    pf_text_page_dec(t, perfile_record_size(r));
    pf_text_page_end(t);
    (void)tag_fields(t, r);
    pf_text_page_reset(t);
}

/* Hex mode: the header of a record as fields with their bytes.  Some types have a wide size field
 * (4 bytes) and no misc. */
static void header_fields(pf_text_page *t, const perfile_record *r)
{
    const char *name = perfile_type_name(r->family, r->type);
    bool wide = pf_type_is_wide(r->type);
    if (r->family != PERFILE_FAMILY_PERF) {
        other_header(t, r);
        return;
    }
    pf_text_page_named(t, "type", 0, 4);
    pf_text_page_dec(t, r->type);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (!wide) {
        pf_text_page_named(t, "misc", 4, 2);
        pf_text_page_0x(t, r->misc);
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_misc(t, r->type, r->misc);
        pf_text_page_trim(t);
        pf_text_page_end(t);
    }
    pf_text_page_named(t, "size", wide ? 4 : 6, wide ? 4 : 2);
    pf_text_page_dec(t, perfile_record_size(r));
    pf_text_page_end(t);
}

/* The feature in a HEADER_FEATURE. Offsets of its fields count from the first byte of its content.
 */
static perfile_status carried_feature(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    perfile_feature f;
    perfile_status st = perfile_record_feature(r, &f, why);
    if (st != PERFILE_OK)
        return st;
    /* An empty one ends the list: its number is one above the last feature of the perf that wrote
     * it, and newer versions have given that number to a feature. */
    const char *name = perfile_feature_name(f.number);
    if (f.payload.len == 0 && f.number >= FIRST_END_MARKER)
        name = "end of features";
    pf_text_page_named(t, "feat_id", PF_PERF_RECORD_HEADER, 8);
    pf_text_page_dec(t, f.number);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (f.payload.len)
        pf_text_feature(t, &f);
    return PERFILE_OK;
}

/* The trailer: its fields on one line, or in hex mode one per line.  No output without a trailer.
 */
static perfile_status put_trailer(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    size_t mark = t->base.out.len;
    pf_text_page_named(t, "sample_id", 0, 0);
    if (t->hex) {
        pf_text_page_trim(t);
        pf_text_page_end(t);
        t->depth = 1;
    } else {
        t->base.out.len -= 2; /* each field on a shared line begins with two blanks */
        t->in_line = 1;
    }
    perfile_status st = perfile_record_walk_trailer(r, 0, &pf_text_page_visitor, t, why);
    pf_text_page_reset(t);
    if (st == PERFILE_END)
        t->base.out.len = mark;
    return st < 0 ? st : PERFILE_OK;
}

/* Fields and trailer.  An error leaves what was written: damage is shown below it. */
static perfile_status put_body(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    if (r->type == PERFILE_RECORD_HEADER_FEATURE)
        return carried_feature(t, r, why);
    perfile_status st =
        perfile_record_walk(r, t->hex ? PERFILE_WALK_PADDING : 0, &pf_text_page_visitor, t, why);
    pf_text_page_reset(t);
    if (st != PERFILE_OK || r->type >= PERFILE_RECORD_USER || r->type == PERFILE_RECORD_SAMPLE)
        return st;
    return put_trailer(t, r, why);
}

/* Position, size and CRC-32 of the bytes behind a record. */
static perfile_status put_payload(pf_text_page *t, const perfile_record *r, perfile_error *err)
{
    uint32_t crc;
    if (r->extra.len == 0)
        return PERFILE_OK;
    perfile_status st = pf_emit_extra_crc(&t->base, r, &crc, err);
    if (st == PERFILE_E_TRUNCATED)
        return PERFILE_OK; /* a record of damage follows */
    if (st != PERFILE_OK)
        return st;
    uint8_t digits[8];
    pf_put_hex_fixed(digits, crc, sizeof digits);
    pf_text_page_named(t, "payload", 0, 0);
    pf_text_offset(t, r->offset + perfile_record_size(r));
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, r->extra.len);
    PF_TEXT_LITERAL(t, "  crc32 ");
    pf_emit_bytes(&t->base, digits, sizeof digits);
    pf_text_page_end(t);
    return PERFILE_OK;
}

/* All lines of a record.  If it cannot be decoded, damage and a dump of its bytes follow the fields
 * that could. */
static perfile_status record_lines(pf_text_page *t, const perfile_record *r, perfile_error *err)
{
    /* Hex mode needs header and body in one range of memory: not so for records that were assembled
     * from fragments. */
    bool hex = t->hex;
    t->hex = hex && r->header && r->body.ptr == r->header + perfile_family_header(r->family);
    t->bytes = r->header;
    head_line(t, r);
    if (t->hex)
        header_fields(t, r);
    perfile_error why; /* 300 bytes and more: only the member that is read is set */
    why.damage = 0;
    if (put_body(t, r, &why) != PERFILE_OK) {
        pf_text_error(t, why.damage);
        pf_text_page_dump(t, perfile_family_header(r->family), r->body);
        t->base.n_errors++;
    }
    perfile_status st = put_payload(t, r, err);
    t->hex = hex;
    t->base.n_records++;
    t->base.decoded = true;
    return st;
}

/* Damage in the stream, as one line. */
static void damage_line(pf_text_page *t, const perfile_record *r)
{
    put_place(t, r);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_damage(t, r->damage);
    if (r->body.len) {
        PF_TEXT_LITERAL(t, "; ");
        pf_text_page_dec(t, r->body.len);
        PF_TEXT_LITERAL(t, " bytes passed over");
    }
    pf_text_page_end(t);
    t->base.n_errors++;
}

static perfile_status text_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    if (r->family != PERFILE_FAMILY_DAMAGE)
        return record_lines(t, r, err);
    damage_line(t, r);
    return PERFILE_OK;
}

static perfile_status text_finish(perfile_emitter *e, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    (void)err;
    t->gutter = NULL;
    pf_text_page_end(t);
    pf_text_page_dec(t, e->n_records);
    pf_text_page_string(t, e->n_records == 1 ? " record" : " records");
    if (e->n_errors) {
        PF_TEXT_LITERAL(t, "; ");
        pf_text_page_dec(t, e->n_errors);
        pf_text_page_string(t, e->n_errors == 1 ? " place is" : " places are");
        PF_TEXT_LITERAL(t, " damaged, marked !!");
    }
    pf_text_page_end(t);
    return PERFILE_OK;
}

static perfile_status text_failure(perfile_emitter *e, uint32_t damage, uint64_t offset,
                                   perfile_error *err)
{
    (void)err;
    pf_text_damage_at((pf_text_page *)(void *)e, damage, offset);
    return PERFILE_OK;
}

const pf_emit_ops pf_emit_text = {
    .name = "text",
    .doc = "a line a record, and one for each of its fields",
    .size = sizeof(pf_text_page),
    .open = text_open,
    .begin = text_begin,
    .put = text_put,
    .finish = text_finish,
    .failure = text_failure,
};
