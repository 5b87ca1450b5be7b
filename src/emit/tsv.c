/* The form "tsv", tab-separated values: one line per record, one column for each requested name.
 *
 * Names are the same as in conditions (src/expr/), which also find their values; this file writes
 * them.  Values are written as in jsonl, but without quotes.  Items of lists are separated by
 * commas, and a field that the record does not have is empty.  In text, tab, newline, carriage
 * return and backslash become \t \n \r \\; other control characters and bytes that are not UTF-8
 * become \xNN.  So a record is always one line, and no value can control a terminal. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/shorten.h"
#include "emit/emitter.h"
#include "expr/program.h"
#include "expr/fetch.h"
#include "profile/answers.h"
#include "emit/command.h"

enum {
    MOST_COLUMNS = 64,
    VALUE_ROOM = 32 /* most bytes of a number, see emit/emitter.h */
};

/* How the last value of a column was written.  Most columns have the same field in all records. */
typedef struct last_plan {
    uint8_t type, element, kind; /* of the field */
    uint8_t plan;                /* pf_plan; 0 if there was no value yet */
} last_plan;

/* The columns: names in an expression, in the requested order. */
typedef struct columns {
    perfile_expr *names;
    uint32_t n;
    last_plan last[MOST_COLUMNS];
    bool repeats[MOST_COLUMNS];  /* the name repeats with each record */
    uint64_t step[MOST_COLUMNS]; /* numbers are rounded down to a multiple of this; 0 if not */
    bool needs_model;            /* some name is resolved by the model: comm, dso */
    bool decodes;                /* some column needs decoded records */
    bool decodes_sample;         /* the same for samples */
    pf_answers answers;          /* values of names that are not fields */
} columns;

typedef struct tsv {
    perfile_emitter base;
    columns columns;
    pf_buffer head; /* the header line with the column names */
} tsv;

static tsv *tsv_of(perfile_emitter *e)
{
    return (tsv *)(void *)e;
}

/* Reads the step of "addr/64" and sets *n to the length of the name before the slash.  Returns
 * false if no number follows the slash. */
static bool take_step(const char *name, size_t *n, uint64_t *step)
{
    const char *slash = memchr(name, '/', *n);
    *step = 0;
    if (!slash)
        return true;
    const size_t digits = *n - (size_t)(slash + 1 - name);
    *n = (size_t)(slash - name);
    for (size_t i = 1; i <= digits; i++) {
        if (slash[i] < '0' || slash[i] > '9' || digits > 18)
            return false;
        *step = 10 * *step + (uint64_t)(slash[i] - '0');
    }
    return *step != 0;
}

/* Adds the column `name` of `n` bytes. */
static perfile_status add_column(columns *c, const char *name, size_t n, perfile_error *err)
{
    char copy[PF_EXPR_NAME_BYTES + 1];
    if (c->n == MOST_COLUMNS)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "more than %d fields", MOST_COLUMNS);
    if (!n)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "a field has no name");
    if (!take_step(name, &n, &c->step[c->n]))
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "after the '/' of a field is a number from 1 on, as in addr/64");
    n = n < sizeof copy ? n : sizeof copy - 1; /* longer names are refused below */
    memcpy(copy, name, n);
    copy[n] = '\0';
    perfile_status st = pf_expr_add_name(c->names, copy, err);
    c->repeats[c->n] =
        strcmp(copy, "event") == 0 || (st == PERFILE_OK && pf_expr_is_provided(c->names, c->n));
    c->n += st == PERFILE_OK;
    return st;
}

/* Opens columns for comma-separated names.  The caller must call columns_close() even on
 * failure. */
static perfile_status columns_open(columns *c, const char *names, perfile_error *err)
{
    const perfile_expr_provider provider = {.size = sizeof provider,
                                            .user = &c->answers,
                                            .knows = pf_answers_know,
                                            .answer = pf_answers_give};
    *c = (columns){0};
    perfile_status st = pf_expr_names_open(&provider, &c->names, err);
    if (st == PERFILE_OK) {
        c->names->payload.allowed = true;
        c->names->payload.in_thread = true; /* the emitter's session outlives the names */
    }
    for (const char *end; st == PERFILE_OK; names = end + 1) {
        end = names + strcspn(names, ",");
        st = add_column(c, names, (size_t)(end - names), err);
        if (!*end)
            break;
    }
    if (st == PERFILE_OK)
        st = pf_expr_link(c->names, err);
    for (uint32_t i = 0; st == PERFILE_OK && i < c->n; i++) {
        c->decodes |= pf_expr_decodes(c->names, i, false);
        c->decodes_sample |= pf_expr_decodes(c->names, i, true);
    }
    return st;
}

static void columns_close(columns *c)
{
    perfile_expr_close(c->names);
    pf_answers_forget(&c->answers);
}

/* Columns that an application reads as text, one at a time. */
struct pf_columns {
    columns columns;
    pf_buffer text;
    uint8_t room[PF_NAME_MOST];
};

perfile_status pf_columns_open(const perfile_model *model, const perfile_symbols_options *symbols,
                               const char *fields, pf_columns **out, perfile_error *err)
{
    pf_columns *c = pf_alloc(1, sizeof *c);
    if (!c)
        return pf_fail_nomem(err, "columns");
    perfile_status st = columns_open(&c->columns, fields, err);
    if (st != PERFILE_OK) {
        pf_columns_close(c);
        return st;
    }
    c->columns.answers.model = model;
    c->columns.answers.options = symbols;
    *out = c;
    return PERFILE_OK;
}

void pf_columns_close(pf_columns *c)
{
    if (!c)
        return;
    columns_close(&c->columns);
    pf_buffer_free(&c->text);
    pf_free(c);
}

perfile_status pf_emit_fields_check(const char *fields, bool *model, perfile_error *err)
{
    columns c;
    perfile_status st = columns_open(&c, fields, err);
    if (st == PERFILE_OK)
        *model = c.answers.uses_model;
    columns_close(&c);
    return st;
}

static perfile_status tsv_open(perfile_emitter *e, perfile_error *err)
{
    tsv *t = tsv_of(e);
    const char *names = e->fields ? e->fields : "";
    perfile_status st = columns_open(&t->columns, names, err);
    if (st != PERFILE_OK)
        return st;
    t->columns.answers.options = e->exporting ? e->exporting->symbols : NULL;
    if (t->columns.answers.uses_code)
        e->n_threads = 1; /* the files are read and the symbols stored only once */
    if (!pf_buffer_append(&t->head, names, strlen(names)) || !pf_buffer_append(&t->head, "\n", 1))
        return pf_fail_nomem(err, "fields");
    for (size_t i = 0; i < t->head.len; i++)
        if (t->head.ptr[i] == ',')
            t->head.ptr[i] = '\t';
    return PERFILE_OK;
}

static void tsv_close(perfile_emitter *e)
{
    columns_close(&tsv_of(e)->columns);
    pf_buffer_free(&tsv_of(e)->head);
}

/* Writes the header line with the column names, except with PERFILE_EMIT_RECORDS. */
static perfile_status tsv_begin(perfile_emitter *e, perfile_error *err)
{
    const tsv *t = tsv_of(e);
    (void)err;
    if (!(e->flags & PERFILE_EMIT_RECORDS))
        pf_emit_bytes(e, t->head.ptr, t->head.len);
    e->decoded = true;
    return PERFILE_OK;
}

/* Returns true for ASCII that needs no escape. */
static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '\\';
}

/* Returns the length of the character at `p`, or 0 if it must be escaped.  U+0080 to U+009F (first
 * byte 0xc2) are control characters. */
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

/* The put functions append to the output.  They return false when out of memory. */
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

static pf_plan plan_of(last_plan *last, const perfile_field *f)
{
    if (!last->plan || f->type != last->type || f->element != last->element ||
        f->kind != last->kind)
        *last = (last_plan){f->type, f->element, f->kind, (uint8_t)pf_plan_of(f)};
    return (pf_plan)last->plan;
}

/* Writes a value.  Pid and tid of records that belong to no process are -1, as `perf script` prints
 * them. */
static bool put_value(pf_buffer *to, last_plan *last, const perfile_field *f,
                      const perfile_value *v)
{
    if ((f->kind == PERFILE_KIND_PID || f->kind == PERFILE_KIND_TID) && v->number == UINT32_MAX)
        return put_number(to, PF_PLAN_SIGNED, UINT64_MAX);
    pf_plan plan = plan_of(last, f);
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

/* Finds the value of a column in the record given to pf_expr_begin().  Names that repeat with each
 * record are shortened into `room`.  Returns false if the record has no such value. */
static bool column_value(columns *c, uint32_t i, uint8_t room[PF_NAME_MOST], perfile_field *field,
                         perfile_value *value)
{
    if (!pf_expr_value(c->names, i, field, value))
        return false;
    if (c->repeats[i] && plan_of(&c->last[i], field) == PF_PLAN_TEXT)
        value->u.bytes = pf_shortened(value->u.bytes, PF_NAME_MOST, room);
    if (c->step[i] && pf_type_width(field->type))
        value->number -= value->number % c->step[i];
    return true;
}

/* On the first sample, looks up names in the tracepoints of the capture. */
static perfile_status bind(columns *c, const perfile_record *r, perfile_error *err)
{
    if (!pf_expr_is_unbound(c->names, r))
        return PERFILE_OK;
    perfile_status st = pf_expr_bind(c->names, r->session, err);
    if (st == PERFILE_E_USAGE && err)
        err->where = "emit.fields";
    return st;
}

static perfile_status tsv_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    tsv *t = tsv_of(e);
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        e->n_errors++;
        return PERFILE_OK;
    }
    columns *c = &t->columns;
    c->answers.model = e->model;
    perfile_status st = bind(c, r, err);
    if (st != PERFILE_OK)
        return st;
    pf_expr_begin(c->names, r);
    if ((r->type == PERFILE_RECORD_SAMPLE ? c->decodes_sample : c->decodes) &&
        !pf_expr_is_decoded(c->names))
        e->n_errors++;
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t room[PF_NAME_MOST];
        perfile_field field;
        perfile_value value;
        if (column_value(c, i, room, &field, &value) &&
            !put_value(&e->out, &c->last[i], &field, &value))
            e->no_memory = true;
        pf_emit_bytes(e, i + 1 < c->n ? "\t" : "\n", 1);
    }
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

perfile_status pf_columns_text(pf_columns *c, const perfile_record *r, uint32_t position,
                               perfile_bytes *text, perfile_error *err)
{
    perfile_field field;
    perfile_value value;
    perfile_status st = bind(&c->columns, r, err);
    if (st != PERFILE_OK)
        return st;
    pf_expr_begin(c->columns.names, r);
    if (!column_value(&c->columns, position, c->room, &field, &value))
        return PERFILE_END;
    if (plan_of(&c->columns.last[position], &field) == PF_PLAN_TEXT) {
        *text = value.u.bytes;
        return PERFILE_OK;
    }
    pf_buffer_clear(&c->text);
    if (!put_value(&c->text, &c->columns.last[position], &field, &value))
        return pf_fail_nomem(err, "columns");
    *text = (perfile_bytes){c->text.ptr, c->text.len};
    return PERFILE_OK;
}
