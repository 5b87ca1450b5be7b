/* Records as JSON members (see marks.h).  Shown are the fields at the top of a record that are
 * numbers, text or a build id; lists and data are not. */
#include "emit/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A walk that writes members. */
typedef struct describing {
    pf_marks *m;
    uint64_t type;
    unsigned depth; /* of lists and structs */
    bool ok;
} describing;

void pf_marks_init(pf_marks *m, pf_profile *p)
{
    const uint64_t seed = pf_index_seed(m);
    m->said = (pf_intern){
        .seed = seed, .budget = &p->budget, .width = sizeof(pf_mark), .key = sizeof(pf_mark)};
    m->types = (pf_intern){
        .seed = seed, .budget = &p->budget, .width = sizeof(uint64_t), .key = sizeof(uint64_t)};
    m->fields = (pf_intern){.seed = seed,
                            .budget = &p->budget,
                            .width = sizeof(pf_mark_field),
                            .key = sizeof(pf_mark_field)};
}

void pf_marks_free(pf_marks *m)
{
    pf_intern_free(&m->said);
    pf_intern_free(&m->types);
    pf_intern_free(&m->fields);
    pf_buffer_free(&m->text);
    pf_buffer_free(&m->clean);
}

static bool append(pf_marks *m, const char *text)
{
    return pf_buffer_append(&m->text, text, strlen(text));
}

/* A text of a capture, cut and cleaned as all names are. */
static bool append_text(pf_marks *m, perfile_bytes bytes)
{
    uint8_t room[PF_NAME_MOST];
    char text[PF_NAME_MOST + 1];
    bytes = pf_shortened(bytes, sizeof room, room);
    if (bytes.len)
        memcpy(text, bytes.ptr, bytes.len);
    text[bytes.len] = '\0';
    pf_buffer_clear(&m->clean);
    return pf_name_text(text, PF_NAME_MOST, &m->clean) && pf_buffer_append_u8(&m->clean, 0) &&
           pf_export_quote(&m->text, (const char *)m->clean.ptr);
}

static bool append_hex(pf_marks *m, perfile_bytes bytes)
{
    bool ok = append(m, "\"");
    for (size_t i = 0; i < bytes.len && ok; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", bytes.ptr[i]);
        ok = append(m, digits);
    }
    return ok && append(m, "\"");
}

/* Masks and addresses are texts, for JSON's numbers are not exact up to 2^64. */
static bool append_number(pf_marks *m, const perfile_field *field, uint64_t n)
{
    char text[32];
    const bool negative = field->type == PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64;
    if (perfile_kind_base(field->kind) == PERFILE_BASE_HEX)
        snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", n);
    else if (negative)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)n);
    else
        snprintf(text, sizeof text, "%" PRIu64, n);
    return append(m, text);
}

static bool append_value(pf_marks *m, const perfile_field *field, const perfile_value *value)
{
    if (field->type == PERFILE_STORED_TEXT)
        return append_text(m, value->u.bytes);
    if (field->type == PERFILE_STORED_BLOB)
        return append_hex(m, value->u.bytes);
    return append_number(m, field, value->number);
}

/* The key of a field: `type` is that of the mark itself. */
const char *pf_marks_key(const perfile_field *field)
{
    return strcmp(field->name, "type") == 0 ? "kind" : field->name;
}

/* The time is that of the mark. */
static bool is_shown(const perfile_field *field)
{
    if (field->type == PERFILE_STORED_BLOB)
        return field->kind == PERFILE_KIND_BUILD_ID;
    return field->type != PERFILE_STORED_WORDS && field->type != PERFILE_STORED_STRINGS &&
           field->kind != PERFILE_KIND_COUNT && field->kind != PERFILE_KIND_TIME;
}

static void visit(void *user, const perfile_field *field, const perfile_value *value)
{
    describing *d = user;
    if (d->depth || !is_shown(field))
        return;
    if (field->kind == PERFILE_KIND_PID && strcmp(field->name, "pid") == 0)
        d->m->pid = (uint32_t)value->number;
    if (field->kind == PERFILE_KIND_TID && strcmp(field->name, "tid") == 0)
        d->m->tid = (uint32_t)value->number;
    const pf_mark_field key = {d->type, field};
    d->ok = d->ok && pf_intern_add(&d->m->fields, &key) != PF_INTERN_NONE && append(d->m, ",\"") &&
            append(d->m, pf_marks_key(field)) && append(d->m, "\":") &&
            append_value(d->m, field, value);
}

static void begin(void *user, const perfile_field *field, const perfile_value *value)
{
    (void)field;
    (void)value;
    ((describing *)user)->depth++;
}

static void end(void *user, const perfile_field *field)
{
    (void)field;
    ((describing *)user)->depth--;
}

uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = visit, .begin = begin, .end = end};
    describing d = {.m = m, .type = r->type, .ok = true};
    pf_buffer_clear(&m->text);
    m->pid = m->tid = PERFILE_NO_PID;
    (void)!perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &d, NULL);
    if (!d.ok || pf_intern_add(&m->types, &d.type) == PF_INTERN_NONE ||
        !pf_buffer_append_u8(&m->text, 0))
        return PF_INTERN_NONE;
    const pf_mark mark = {r->type, pf_profile_text(p, (const char *)m->text.ptr)};
    return mark.text ? pf_intern_add(&m->said, &mark) : PF_INTERN_NONE;
}
