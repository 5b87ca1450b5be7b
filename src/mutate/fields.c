/* Sets one field of a capture.  Which fields there are, where and of what kind, is asked of the
 * walks of libperfile, so that this file knows no record, attr or feature.
 *
 * Samples and trailers can be walked only with the events of the capture: for these the capture is
 * opened as it is.  If that fails they are walked without, as far as that goes. */
#include "mutate/operations.h"

#include <string.h>

#include <perfile/perfile.h>

/* A field that was found in the bytes of the capture. */
typedef struct spot {
    pf_range place;
    uint8_t type;    /* PERFILE_STORED_… */
    uint8_t element; /* of WORDS */
    uint8_t kind;
} spot;

enum { ANY_KIND = -1, LAYOUT_KINDS = -2 };

/* A walk that chooses one of the fields it sees, each with the same probability. */
typedef struct chooser {
    pf_random *random;
    const pf_outer *o;
    size_t base; /* where offset 0 of the walk is in the bytes */
    int kind;    /* PERFILE_KIND_…, or one of the above */
    uint64_t seen;
    spot found;
} chooser;

/* True for the fields of an attr that decide how its records are stored. */
static bool decides_layout(unsigned kind)
{
    return kind == PERFILE_KIND_SAMPLE_TYPE || kind == PERFILE_KIND_READ_FORMAT ||
           kind == PERFILE_KIND_BRANCH_TYPE || kind == PERFILE_KIND_ATTR_FLAGS ||
           kind == PERFILE_KIND_REGS_MASK;
}

static void see_value(void *user, const perfile_field *f, const perfile_value *v)
{
    chooser *c = user;
    bool wanted = c->kind == ANY_KIND || (c->kind == LAYOUT_KINDS && decides_layout(f->kind)) ||
                  c->kind == f->kind;
    if (!wanted || f->flags & PERFILE_FIELD_CALC || v->width == 0 || c->base > c->o->size ||
        v->offset > c->o->size - c->base || v->width > c->o->size - c->base - v->offset)
        return;
    if (pf_random_one_in(c->random, ++c->seen))
        c->found =
            (spot){{c->base + (size_t)v->offset, (size_t)v->width}, f->type, f->element, f->kind};
}

static void see_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void see_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor visitor = {sizeof visitor, see_value, see_begin, see_end};

static bool is_swapped(const pf_outer *o)
{
    static const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return o->big != (first == 0);
}

/* Opens the capture for its events.  Those of a pipe are in its records: these are read up to the
 * offset `until`.  Memory is limited, see format/limits.md.  Returns NULL if it cannot be opened.
 */
static perfile_stream *open_capture(const pf_outer *o, size_t until)
{
    const perfile_limits limits = {.size = sizeof limits,
                                   .inflate_bytes = 1 << 16,
                                   .split_bytes = 1 << 20,
                                   .session_bytes = 16 << 20};
    const perfile_open_options options = {
        .size = sizeof options, .limits = &limits, .envelopes = PERFILE_ENVELOPES_OUTER};
    const perfile_bytes all = {o->bytes, o->size};
    perfile_source *source = NULL;
    perfile_stream *s = NULL;
    if (perfile_source_memory(all, "capture", &source, NULL) != PERFILE_OK)
        return NULL;
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return NULL;
    }
    const perfile_record *r;
    while (o->form == PF_OUTER_PIPE && perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (r->offset >= until)
            break;
    return s;
}

/* Chooses a field in the body and trailer of a record. */
static bool choose_in_record(chooser *c, const pf_piece *p, const perfile_session *session)
{
    const perfile_record r = {
        .header = c->o->bytes + p->at,
        .body = {c->o->bytes + p->at + PF_OUTER_RECORD_HEADER, p->size - PF_OUTER_RECORD_HEADER},
        .type = p->type,
        .misc = p->misc,
        .flags = is_swapped(c->o) ? PERFILE_REC_SWAPPED : 0,
        .offset = p->at,
        .session = session};
    c->base = p->at;
    (void)!perfile_record_walk(&r, PERFILE_WALK_PADDING, &visitor, c, NULL);
    (void)!perfile_record_walk(&r, PERFILE_WALK_TRAILER, &visitor, c, NULL);
    perfile_feature f;
    if (p->type == PERFILE_RECORD_HEADER_FEATURE &&
        perfile_record_feature(&r, &f, NULL) == PERFILE_OK && f.payload.len) {
        c->base = (size_t)(f.payload.ptr - c->o->bytes);
        (void)!perfile_feature_walk(&f, 0, &visitor, c, NULL);
    }
    return c->seen != 0;
}

static bool choose_in_attr(chooser *c)
{
    const pf_outer *o = c->o;
    if (!o->attr_size)
        return false;
    c->base = o->attrs.at +
              (size_t)pf_random_below(c->random, o->attrs.len / o->attr_size) * o->attr_size;
    const perfile_bytes stored = {o->bytes + c->base, o->attr_size - PF_OUTER_SECTION};
    (void)!perfile_attr_walk(stored, is_swapped(o), 0, &visitor, c, NULL);
    return c->seen != 0;
}

/* Finds the number of the feature at this position of the table. */
static unsigned feature_number(const pf_outer *o, unsigned position)
{
    unsigned number = 0;
    for (; number < PF_OUTER_FEATURES; number++)
        if (pf_outer_has_feature(o, number) && position-- == 0)
            break;
    return number;
}

static bool choose_in_feature(chooser *c)
{
    const pf_outer *o = c->o;
    if (!o->n_features)
        return false;
    unsigned position = (unsigned)pf_random_below(c->random, o->n_features);
    const uint8_t *entry = o->bytes + o->table + (size_t)position * PF_OUTER_SECTION;
    uint64_t offset = pf_number_get(entry, 8, o->big), size = pf_number_get(entry + 8, 8, o->big);
    if (offset >= o->size || size == 0 || size > o->size - offset)
        return false;
    const perfile_feature f = {.number = feature_number(o, position),
                               .flags = is_swapped(o) ? PERFILE_REC_SWAPPED : 0,
                               .offset = offset,
                               .size = size,
                               .payload = {o->bytes + offset, (size_t)size}};
    c->base = (size_t)offset;
    (void)!perfile_feature_walk(&f, 0, &visitor, c, NULL);
    return c->seen != 0;
}

static size_t stored_width(unsigned type)
{
    switch (type) {
    case PERFILE_STORED_U8:
        return 1;
    case PERFILE_STORED_U16:
        return 2;
    case PERFILE_STORED_U32:
    case PERFILE_STORED_S32:
        return 4;
    case PERFILE_STORED_U64:
    case PERFILE_STORED_S64:
        return 8;
    default:
        return 0;
    }
}

/* Narrows the place of a list of words to one of them.  Returns false if the field is no number. */
static bool to_number(spot *s, pf_random *r)
{
    size_t width = stored_width(s->type == PERFILE_STORED_WORDS ? s->element : s->type);
    if (!width || s->place.len < width)
        return false;
    if (s->type == PERFILE_STORED_WORDS)
        s->place.at += width * (size_t)pf_random_below(r, s->place.len / width);
    s->place.len = width;
    return true;
}

/* Finds a value of the same kind in another record: the id of another event, a later time … */
static bool value_elsewhere(const chooser *c, const perfile_session *session, uint64_t *value)
{
    chooser other = {.random = c->random, .o = c->o, .kind = c->found.kind};
    pf_piece p;
    if (!pf_piece_at(c->o, (size_t)pf_random_below(c->random, pf_piece_count(c->o)), &p) ||
        !choose_in_record(&other, &p, session) || !to_number(&other.found, c->random))
        return false;
    *value = pf_number_get(c->o->bytes + other.found.place.at, other.found.place.len, c->o->big);
    return true;
}

static void set_field(pf_buffer *b, chooser *c, const perfile_session *session)
{
    spot *s = &c->found;
    if (to_number(s, c->random)) {
        uint64_t other;
        bool has = pf_random_one_in(c->random, 2) && value_elsewhere(c, session, &other);
        pf_mutate_number(b, c->o, c->random, s->place, s->kind, has ? &other : NULL);
    } else if (s->type == PERFILE_STORED_TEXT || s->type == PERFILE_STORED_STRINGS) {
        pf_mutate_text(b, c->random, s->place);
    } else {
        pf_mutate_blob(b, c->random, s->place);
    }
}

/* Sets misc or size in the header of a record. */
static bool set_record_header(pf_buffer *b, const pf_outer *o, pf_random *r, const pf_piece *p)
{
    bool size = pf_random_one_in(r, 2);
    pf_range place = {p->at + (size ? 6 : 4), 2};
    pf_mutate_number(b, o, r, place, size ? PERFILE_KIND_SIZE : PERFILE_KIND_HEX, NULL);
    return true;
}

static bool record_field(pf_buffer *b, const pf_outer *o, pf_random *r, int kind)
{
    pf_piece p;
    if (!pf_piece_at(o, (size_t)pf_random_below(r, pf_piece_count(o)), &p))
        return false;
    if (kind == ANY_KIND && pf_random_one_in(r, 12))
        return set_record_header(b, o, r, &p);
    perfile_stream *s = open_capture(o, p.at);
    const perfile_session *session = s ? perfile_stream_session(s) : NULL;
    chooser c = {.random = r, .o = o, .kind = kind};
    bool found = choose_in_record(&c, &p, session);
    if (found)
        set_field(b, &c, session);
    perfile_stream_close(s);
    return found;
}

bool pf_mutate_record_field(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    return record_field(b, o, r, ANY_KIND);
}

bool pf_mutate_attr_field(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    chooser c = {.random = r, .o = o, .kind = ANY_KIND};
    if (!choose_in_attr(&c))
        return false;
    set_field(b, &c, NULL);
    return true;
}

bool pf_mutate_feature_field(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    chooser c = {.random = r, .o = o, .kind = ANY_KIND};
    if (!choose_in_feature(&c))
        return false;
    set_field(b, &c, NULL);
    return true;
}

/* Chooses one of the HEADER_ATTR records. */
static bool find_attr_record(const pf_outer *o, pf_random *r, pf_piece *p)
{
    size_t at = o->records.at;
    uint64_t seen = 0;
    pf_piece next;
    while (pf_piece_next(o, &at, &next))
        if (next.type == PERFILE_RECORD_HEADER_ATTR && pf_random_one_in(r, ++seen))
            *p = next;
    return seen != 0;
}

bool pf_mutate_layout(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    chooser c = {.random = r, .o = o, .kind = LAYOUT_KINDS};
    pf_piece p;
    bool found = o->attr_size                 ? choose_in_attr(&c)
                 : find_attr_record(o, r, &p) ? choose_in_record(&c, &p, NULL)
                                              : false;
    if (!found || !to_number(&c.found, r))
        return false;
    pf_mutate_number(b, o, r, c.found.place, c.found.kind, NULL);
    return true;
}

/* Chooses a word of the header, of a section of ids, or of the feature table. */
bool pf_mutate_header_word(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    if (o->form != PF_OUTER_FILE)
        return false;
    pf_range place = {0, 8};
    uint64_t what = pf_random_below(r, 3), second = pf_random_below(r, 2);
    if (what == 0 && o->n_features) {
        place.at = o->table + 8 * (size_t)pf_random_below(r, 2 * (uint64_t)o->n_features);
    } else if (what == 1 && o->attr_size) {
        size_t entry = (size_t)pf_random_below(r, o->attrs.len / o->attr_size);
        place.at = o->attrs.at + o->attr_size * (entry + 1) - (second ? 8 : PF_OUTER_SECTION);
    } else {
        place.at = PF_OUTER_AT_SIZE + 8 * (size_t)pf_random_below(r, o->header / 8 - 1);
    }
    pf_mutate_number(b, o, r, place,
                     place.at >= PF_OUTER_AT_FEATURES && place.at < PF_OUTER_FILE_HEADER
                         ? PERFILE_KIND_HEX
                         : PERFILE_KIND_SIZE,
                     NULL);
    return true;
}
