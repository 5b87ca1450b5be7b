/* What precedes the records in the form "text": header, events, event types, features, and the
 * damage that was found in them when the file was opened.  Also how damage is shown. */
#include "emit/text_page.h"

#include "perfile/perfile.h"
#include "schema/family.h"

void pf_text_offset(pf_text_page *t, uint64_t offset)
{
    uint8_t *at = pf_emit_room(&t->base, 2 + 16);
    if (!at)
        return;
    *at++ = '0';
    *at++ = 'x';
    pf_emit_filled(&t->base, pf_put_hex_fixed(at, offset, offset >> 32 ? 16 : 8));
}

void pf_text_damage(pf_text_page *t, uint32_t damage)
{
    PF_TEXT_LITERAL(t, "!! ");
    pf_text_page_string(t, perfile_damage_name(damage));
    PF_TEXT_LITERAL(t, ": ");
    pf_text_page_string(t, perfile_damage_text(damage));
}

void pf_text_damage_at(pf_text_page *t, uint32_t damage, uint64_t offset)
{
    pf_text_page_line(t, 0);
    pf_text_offset(t, offset);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_damage(t, damage);
    pf_text_page_end(t);
    t->base.n_errors++;
}

void pf_text_error(pf_text_page *t, uint32_t damage)
{
    pf_text_page_reset(t);
    pf_text_page_line(t, t->hex ? 2 : 4);
    pf_text_damage(t, damage);
    pf_text_page_end(t);
}

bool pf_text_feature(pf_text_page *t, const perfile_feature *f)
{
    perfile_error why = {.damage = 0};
    t->bytes = f->payload.ptr;
    perfile_status st =
        perfile_feature_walk(f, t->hex ? PERFILE_WALK_PADDING : 0, &pf_text_page_visitor, t, &why);
    pf_text_page_reset(t);
    if (st == PERFILE_OK)
        return true;
    pf_text_error(t, why.damage);
    return false;
}

/* Damage of one kind of section (PERFILE_EXTENT_…). */
static void container_damage(pf_text_page *t, uint32_t role)
{
    const perfile_container *c = t->base.container;
    for (uint32_t i = 0; i < c->n_damages; i++)
        if (c->damages[i].role == role)
            pf_text_damage_at(t, c->damages[i].damage, c->damages[i].offset);
}

/* Offset and size of a section. */
static void put_extent(pf_text_page *t, const char *name, const perfile_section *s)
{
    pf_text_page_named(t, name, 0, 0);
    pf_text_offset(t, s->offset);
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, s->size);
    pf_text_page_end(t);
}

/* The features that the bitmap of the header declares, by name; "-" for none. */
static void put_declared_features(pf_text_page *t, const perfile_container *c)
{
    pf_text_page_named(t, "features", 0, 0);
    bool first = true;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++) {
        if (!(c->features[i / 64] >> i % 64 & 1))
            continue;
        if (!first)
            pf_text_page_between(t);
        first = false;
        const char *name = perfile_feature_name(i);
        if (name)
            pf_text_page_string(t, name);
        else
            pf_text_page_dec(t, i);
    }
    if (first)
        PF_TEXT_LITERAL(t, "-");
    pf_text_page_end(t);
}

/* The header of each file of the capture, where the container has it as stored bytes. */
static void stored_headers(pf_text_page *t)
{
    const perfile_emitter *e = &t->base;
    const perfile_container *c = e->container;
    const pf_family *family = pf_family_of((uint8_t)c->family);
    const pf_context k = {0};
    if (!family || !family->walk_file_header)
        return;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const perfile_part *part = &c->parts[i];
        pf_cursor at = pf_cur(part->header, perfile_session_swapped(e->session));
        const pf_walker walker = {&pf_text_page_visitor, t, at.pos, 0, 0};
        if (part->name) {
            pf_text_page_line(t, 0);
            pf_text_page_text(t, (perfile_bytes){(const uint8_t *)part->name, strlen(part->name)});
            pf_text_page_end(t);
        }
        t->bytes = part->header.ptr;
        family->walk_file_header(&k, &at, &walker);
        pf_text_page_reset(t);
    }
}

/* Format, version and byte order, and for files the sections and declared features. */
static void header_lines(pf_text_page *t)
{
    const perfile_container *c = t->base.container;
    bool hex = t->hex;
    t->hex = false; /* the container has values, but not the bytes they came from */
    pf_text_page_line(t, 0);
    pf_text_page_string(t, c->family == PERFILE_FAMILY_PERF ? "perf.data" : c->format);
    pf_text_page_string(t, c->form == PERFILE_FORM_PIPE ? " pipe" : " file");
    PF_TEXT_LITERAL(t, ", version ");
    pf_text_page_dec(t, c->version);
    pf_text_page_string(t, c->byte_order == PERFILE_BYTE_ORDER_BIG ? ", big-endian"
                                                                   : ", little-endian");
    pf_text_page_end(t);
    if (c->has_sections) {
        put_extent(t, "attrs", &c->attrs);
        put_extent(t, "data", &c->data);
        if (c->event_types.size)
            put_extent(t, "event_types", &c->event_types);
        put_declared_features(t, c);
    }
    t->hex = hex;
    stored_headers(t);
    pf_text_page_end(t);
}

/* An event: its attr field by field, and its ids. */
static void event_lines(pf_text_page *t, const perfile_event *event)
{
    pf_text_page_line(t, 0);
    pf_text_offset(t, event->offset);
    PF_TEXT_LITERAL(t, "  event ");
    pf_text_page_dec(t, event->index);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_page_text(t, (perfile_bytes){(const uint8_t *)event->name, strlen(event->name)});
    pf_text_page_end(t);
    if (event->damage)
        pf_text_damage_at(t, event->damage, event->offset);
    if (event->ids_damage)
        pf_text_damage_at(t, event->ids_damage, event->offset);
    t->bytes = event->stored.ptr;
    /* An attr that became an event can be walked: the driver has decoded it. */
    (void)!perfile_attr_walk(event->stored, event->ids.swapped, t->hex ? PERFILE_WALK_PADDING : 0,
                             &pf_text_page_visitor, t, NULL);
    if (event->ids.n) {
        pf_text_page_named(t, "ids", 0, 0);
        for (size_t i = 0; i < event->ids.n; i++) {
            if (i > 0)
                pf_text_page_between(t);
            pf_text_page_dec(t, perfile_word(&event->ids, i));
        }
        pf_text_page_end(t);
    }
    pf_text_page_end(t);
    t->base.decoded = true;
}

/* An event type of an old file: config and name. */
static void event_type_line(pf_text_page *t, const perfile_event_type *type)
{
    pf_text_page_line(t, 0);
    PF_TEXT_LITERAL(t, "event_type ");
    pf_text_page_dec(t, type->event_id);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_page_quoted(t, type->name);
    pf_text_page_end(t);
    t->base.decoded = true;
}

/* A feature section: position, number and name, then its fields or its damage. */
static void feature_lines(pf_text_page *t, const perfile_feature *f)
{
    const char *name = perfile_feature_name(f->number);
    pf_text_page_line(t, 0);
    pf_text_offset(t, f->offset);
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, f->size);
    PF_TEXT_LITERAL(t, "  feature ");
    pf_text_page_dec(t, f->number);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (!pf_text_feature(t, f))
        t->base.n_errors++;
    pf_text_page_end(t);
    t->base.decoded = true;
}

void pf_text_facts(pf_text_page *t)
{
    const perfile_emitter *e = &t->base;
    const perfile_session *s = e->session;
    if (e->container->form != PERFILE_FORM_NONE)
        header_lines(t);
    container_damage(t, PERFILE_EXTENT_HEADER);
    container_damage(t, PERFILE_EXTENT_ATTRS);
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *event = perfile_session_event(s, i);
        /* Events and features of other origin are shown with the record that brought them. */
        if (event->origin == PERFILE_ORIGIN_CONTAINER)
            event_lines(t, event);
    }
    for (uint32_t i = 0; i < perfile_session_n_event_types(s); i++)
        event_type_line(t, perfile_session_event_type(s, i));
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->origin == PERFILE_ORIGIN_CONTAINER)
            feature_lines(t, f);
    }
    container_damage(t, PERFILE_EXTENT_RECORDS);
}
