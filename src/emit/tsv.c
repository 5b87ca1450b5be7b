/* The form "tsv", tab-separated values: a line for each record, a column for each field that was
 * asked for.
 *
 * Values are written as in jsonl, without quotes; items of lists are separated by commas, and a
 * field that the record does not have is empty.  In text a tab, newline, carriage return and
 * backslash become \t \n \r \\, other control characters and bytes that are no UTF-8 \xNN: a record
 * is always one line, and no value drives a terminal.
 *
 * Header data, names, and fields that samples have at a fixed position are written directly.  Only
 * if a column needs another field is the record walked: the values that the walk finds are
 * collected in `values`, because columns may be in another order than fields. */
#include "emit/tsv_columns.h"

#include "emit/digits.h"
#include "emit/emitter.h"
#include "emit/plan.h"
#include "emit/utf8.h"

enum {
    VALUE_ROOM = 32, /* bytes that a number needs at most, see emit/digits.h */
    MAX_PATH_BYTES = 128
};

/* The value of a column that the walk found. */
typedef struct found {
    size_t at, len; /* range in tsv.values */
    bool present;
} found;

/* The emitter of the form. */
typedef struct tsv {
    perfile_emitter base;
    pf_tsv_column columns[PF_TSV_MOST_COLUMNS];
    found found[PF_TSV_MOST_COLUMNS];
    uint32_t n;
    bool walks_samples; /* some column needs a walk of samples … */
    bool has_fields;    /* … or of other records */
    pf_buffer values;   /* text of the values of one record */
    bool no_memory;
    /* State of the walk. */
    uint32_t type;             /* of the record */
    bool trailer;              /* the trailer is being walked, not the body */
    char path[MAX_PATH_BYTES]; /* names of the structs around the field, each with a dot behind */
    size_t path_n;
    unsigned in_list; /* number of lists around the field: what is in a list has no column */
} tsv;

static tsv *tsv_of(perfile_emitter *e)
{
    return (tsv *)(void *)e;
}

static perfile_status tsv_open(perfile_emitter *e, perfile_error *err)
{
    tsv *t = tsv_of(e);
    perfile_status st = pf_tsv_columns(e->fields ? e->fields : "", t->columns, &t->n, err);
    for (uint32_t i = 0; i < t->n; i++) {
        t->has_fields |= t->columns[i].what == PF_TSV_FIELD;
        t->walks_samples |= t->columns[i].what == PF_TSV_FIELD && !t->columns[i].bit;
    }
    return st;
}

static void tsv_close(perfile_emitter *e)
{
    pf_buffer_free(&tsv_of(e)->values);
}

/* The line with the names of the columns; not with PERFILE_EMIT_RECORDS. */
static perfile_status tsv_begin(perfile_emitter *e, perfile_error *err)
{
    tsv *t = tsv_of(e);
    (void)err;
    for (uint32_t i = 0; i < t->n && !(e->flags & PERFILE_EMIT_RECORDS); i++) {
        pf_emit_bytes(e, t->columns[i].name, strlen(t->columns[i].name));
        pf_emit_bytes(e, i + 1 < t->n ? "\t" : "\n", 1);
    }
    e->decoded = true;
    return PERFILE_OK;
}

/* ASCII that needs no escape. */
static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '\\';
}

/* Length of the character at `p` if it needs no escape, else 0.  U+0080 to U+009F (first byte 0xc2)
 * are control characters. */
static size_t plain_length(const uint8_t *p, size_t left)
{
    if (p[0] < 0x80)
        return is_plain(p[0]);
    for (size_t n = 2; n <= 4 && n <= left; n++)
        if (pf_utf8_valid((perfile_bytes){p, n}))
            return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : n;
    return 0;
}

static uint8_t *put_escaped(uint8_t *at, uint8_t c)
{
    *at++ = '\\';
    if (c == '\t' || c == '\n' || c == '\r' || c == '\\') {
        *at++ = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\';
        return at;
    }
    *at++ = 'x';
    return pf_put_hex_fixed(at, c, 2);
}

/* The put functions append to a buffer, which is `values` or the output.  False: no memory. */
static bool put_text(pf_buffer *to, perfile_bytes text)
{
    enum { WORST = 4 /* bytes of an escape, \xNN */ };
    if (text.len > SIZE_MAX / WORST || !pf_buffer_reserve(to, WORST * text.len + 1))
        return false;
    uint8_t *at = to->ptr + to->len;
    for (size_t i = 0; i < text.len;) {
        size_t n = is_plain(text.ptr[i]) ? 1 : plain_length(text.ptr + i, text.len - i);
        if (!n)
            at = put_escaped(at, text.ptr[i]);
        else
            for (size_t k = 0; k < n; k++)
                *at++ = text.ptr[i + k];
        i += n ? n : 1;
    }
    to->len = (size_t)(at - to->ptr);
    return true;
}

static bool put_string(pf_buffer *to, const char *text)
{
    return !text || put_text(to, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

static bool put_number(pf_buffer *to, pf_plan plan, uint64_t v)
{
    if (!pf_buffer_reserve(to, VALUE_ROOM))
        return false;
    uint8_t *at = to->ptr + to->len;
    bool negative =
        (plan == PF_PLAN_SIGNED || plan == PF_PLAN_SIGNEDS || plan == PF_PLAN_SIGNED_DEC) &&
        (int64_t)v < 0;
    if (negative)
        *at++ = '-';
    if (plan == PF_PLAN_HEX || plan == PF_PLAN_HEXES || plan == PF_PLAN_FLAGS ||
        plan == PF_PLAN_PARTS)
        at = pf_put_0x(at, v);
    else
        at = pf_put_dec(at, negative ? 0 - v : v);
    to->len = (size_t)(at - to->ptr);
    return true;
}

static bool put_words(pf_buffer *to, pf_plan plan, const perfile_words *words)
{
    bool ok = true;
    for (size_t i = 0; i < words->n && ok; i++) {
        uint64_t v = perfile_word(words, i);
        if (plan == PF_PLAN_SIGNEDS)
            v = (uint64_t)(int64_t)(int32_t)v;
        ok = (i == 0 || pf_buffer_append(to, ",", 1)) && put_number(to, plan, v);
    }
    return ok;
}

static bool put_strings(pf_buffer *to, perfile_strings strings)
{
    perfile_bytes text;
    bool ok = true, first = true;
    while (ok && perfile_strings_next(&strings, &text) == PERFILE_OK) {
        ok = (first || pf_buffer_append(to, ",", 1)) && put_text(to, text);
        first = false;
    }
    return ok;
}

static bool put_bytes(pf_buffer *to, perfile_bytes bytes)
{
    if (bytes.len > SIZE_MAX / 2 || !pf_buffer_reserve(to, 2 * bytes.len + 1))
        return false;
    to->len = (size_t)(pf_put_bytes(to->ptr + to->len, bytes) - to->ptr);
    return true;
}

/* Pid and tid of records that are of no process are -1, as `perf script` prints them. */
static bool put_value(pf_buffer *to, const perfile_field *f, const perfile_value *v)
{
    pf_plan plan = pf_plan_of(f);
    if ((f->kind == PERFILE_KIND_PID || f->kind == PERFILE_KIND_TID) && v->number == UINT32_MAX)
        return put_number(to, PF_PLAN_SIGNED, UINT64_MAX);
    switch (plan) {
    case PF_PLAN_TEXT:
        return put_text(to, v->u.bytes);
    case PF_PLAN_BYTES:
    case PF_PLAN_CRC:
        return put_bytes(to, v->u.bytes);
    case PF_PLAN_STRINGS:
        return put_strings(to, v->u.strings);
    case PF_PLAN_NUMBERS:
    case PF_PLAN_SIGNEDS:
    case PF_PLAN_DECS:
    case PF_PLAN_HEXES:
        return put_words(to, plan, &v->u.words);
    default:
        return put_number(to, plan, v->number);
    }
}

/* True if the field that the walk is at is that of the column. */
static bool is_column(const tsv *t, const pf_tsv_column *c, const perfile_field *f)
{
    if (c->what != PF_TSV_FIELD || (c->of_trailer && !t->trailer) ||
        (c->of_record && (t->trailer || c->type != t->type)))
        return false;
    return strncmp(c->path, t->path, t->path_n) == 0 && strcmp(c->path + t->path_n, f->name) == 0;
}

static void show_value(void *user, const perfile_field *f, const perfile_value *v)
{
    tsv *t = user;
    if (t->in_list)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        found *x = &t->found[i];
        if (x->present || !is_column(t, &t->columns[i], f))
            continue;
        x->at = t->values.len;
        if (!put_value(&t->values, f, v))
            t->no_memory = true;
        x->len = t->values.len - x->at;
        x->present = true;
    }
}

static void show_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    tsv *t = user;
    size_t n = strlen(f->name);
    (void)v;
    if (f->flags & PERFILE_FIELD_FLAT)
        return;
    /* A path that is longer than any name can be has no column either: treated like a list. */
    if (f->type != PERFILE_STORED_STRUCT || t->in_list || t->path_n + n + 1 > MAX_PATH_BYTES) {
        t->in_list++;
        return;
    }
    memcpy(t->path + t->path_n, f->name, n);
    t->path[t->path_n + n] = '.';
    t->path_n += n + 1;
}

static void show_end(void *user, const perfile_field *f)
{
    tsv *t = user;
    if (f->flags & PERFILE_FIELD_FLAT)
        return;
    if (t->in_list)
        t->in_list--;
    else
        t->path_n -= strlen(f->name) + 1;
}

static const perfile_visitor visitor = {sizeof visitor, show_value, show_begin, show_end};

/* Fills `found` from the body, then from the trailer: the first field with the name counts. */
static void walk(tsv *t, const perfile_record *r)
{
    perfile_error why;
    memset(t->found, 0, t->n * sizeof t->found[0]);
    pf_buffer_clear(&t->values);
    t->type = r->type;
    for (unsigned trailer = 0; trailer < 2; trailer++) {
        bool has = r->type < PERFILE_RECORD_USER && r->type != PERFILE_RECORD_SAMPLE;
        t->trailer = trailer;
        t->path_n = t->in_list = 0;
        if (trailer && !has)
            break;
        perfile_status st =
            trailer ? perfile_record_walk_trailer(r, PERFILE_WALK_CONTRACT, &visitor, t, &why)
                    : perfile_record_walk(r, PERFILE_WALK_CONTRACT, &visitor, t, &why);
        if (st < 0) {
            t->base.n_errors++;
            return;
        }
    }
}

static void put_found(tsv *t, uint32_t i)
{
    const found *x = &t->found[i];
    if (x->present)
        pf_emit_bytes(&t->base, t->values.ptr + x->at, x->len);
}

/* A field at its fixed position in a sample; empty if the sample does not have it. */
static void put_fixed(perfile_emitter *e, const perfile_record *r, const pf_tsv_column *c)
{
    uint64_t v;
    if (!perfile_sample_field(r, c->bit, &v))
        return;
    v = c->is_half ? (uint32_t)(v >> c->shift) : v;
    uint8_t *at = pf_emit_room(e, VALUE_ROOM);
    if (at && c->bit == PERFILE_SAMPLE_TID && v == UINT32_MAX) {
        *at++ = '-';
        v = 1;
    }
    if (at)
        pf_emit_filled(e, c->is_hex ? pf_put_0x(at, v) : pf_put_dec(at, v));
}

static bool put_comm(perfile_emitter *e, const perfile_record *r)
{
    perfile_comm v;
    if (r->type == PERFILE_RECORD_COMM && perfile_comm_decode(r, &v, sizeof v, NULL) == PERFILE_OK)
        return put_text(&e->out, v.comm);
    return !e->model || put_string(&e->out, perfile_model_record_comm(e->model, r));
}

static bool put_dso(perfile_emitter *e, const perfile_record *r)
{
    const perfile_mapping *m = e->model ? perfile_model_record_mapping(e->model, r) : NULL;
    return !m || put_text(&e->out, perfile_mapping_dso(m));
}

static bool put_type(perfile_emitter *e, const perfile_record *r)
{
    const char *name = perfile_type_name(r->family, r->type);
    return name ? put_string(&e->out, name)
                : put_number(&e->out, PF_PLAN_NUMBER, perfile_record_stored_type(r));
}

static bool put_cpumode(perfile_emitter *e, const perfile_record *r)
{
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    if (r->type >= PERFILE_RECORD_USER && r->type != PERFILE_RECORD_HEADER_BUILD_ID)
        return true;
    const char *word = perfile_vocabulary_word(perfile_vocabulary_find("cpumode"), mode);
    return word ? put_string(&e->out, word) : put_number(&e->out, PF_PLAN_NUMBER, mode);
}

/* One column of a record. */
static bool put_column(tsv *t, const perfile_record *r, uint32_t i)
{
    perfile_emitter *e = &t->base;
    const pf_tsv_column *c = &t->columns[i];
    const perfile_event *event;
    switch ((pf_tsv_what)c->what) {
    case PF_TSV_TYPE:
        return put_type(e, r);
    case PF_TSV_MISC:
        return put_number(&e->out, PF_PLAN_NUMBER, r->misc);
    case PF_TSV_CPUMODE:
        return put_cpumode(e, r);
    case PF_TSV_SIZE:
        return put_number(&e->out, PF_PLAN_NUMBER, perfile_record_size(r));
    case PF_TSV_OFFSET:
        return put_number(&e->out, PF_PLAN_DEC, r->offset);
    case PF_TSV_SEQUENCE:
        return put_number(&e->out, PF_PLAN_NUMBER, r->sequence);
    case PF_TSV_EVENT:
        event = perfile_record_event(r);
        return put_string(&e->out, event ? event->name : NULL);
    case PF_TSV_COMM:
        return put_comm(e, r);
    case PF_TSV_DSO:
        return put_dso(e, r);
    case PF_TSV_FIELD:
        break;
    }
    if (r->type == PERFILE_RECORD_SAMPLE && c->bit)
        put_fixed(e, r, c);
    else if (r->flags & PERFILE_REC_TIMED && c->bit == PERFILE_SAMPLE_TIME)
        return put_number(&e->out, PF_PLAN_DEC, perfile_record_time(r));
    else
        put_found(t, i);
    return true;
}

static perfile_status tsv_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    tsv *t = tsv_of(e);
    (void)err;
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        e->n_errors++;
        return PERFILE_OK;
    }
    if (r->type == PERFILE_RECORD_SAMPLE ? t->walks_samples : t->has_fields)
        walk(t, r);
    bool ok = true;
    for (uint32_t i = 0; i < t->n && ok; i++) {
        ok = put_column(t, r, i);
        pf_emit_bytes(e, i + 1 < t->n ? "\t" : "\n", 1);
    }
    e->no_memory |= !ok || t->no_memory;
    e->n_records++;
    return PERFILE_OK;
}

static perfile_status tsv_finish(perfile_emitter *e, perfile_error *err)
{
    (void)e, (void)err;
    return PERFILE_OK;
}

static perfile_status tsv_failure(perfile_emitter *e, uint32_t damage, uint64_t offset,
                                  perfile_error *err)
{
    (void)e, (void)damage, (void)offset, (void)err;
    return PERFILE_OK;
}

const pf_emit_ops pf_emit_tsv = {
    .name = "tsv",
    .doc = "a line a record, with the fields that are asked for",
    .size = sizeof(tsv),
    .open = tsv_open,
    .close = tsv_close,
    .begin = tsv_begin,
    .put = tsv_put,
    .finish = tsv_finish,
    .failure = tsv_failure,
};
