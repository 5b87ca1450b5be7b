/* A set of what captures can have; see covered.h.  The items are those that the tables have: they
 * are added once, and then only marked. */
#include "generate/covered.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "schema/command.h"

enum {
    SLOTS = 1 << 13, /* of the hash table; the tables have about 1,000 items */
    MOST_ITEMS = SLOTS / 2,
    MOST_SHAPES = 16, /* structs inside each other and beside each other, at most */
    ROW = 0,
    CONDITION,
    FIELD_OF_SAMPLE,
    NAMED_VALUE
};

typedef struct item {
    uint8_t what; /* ROW … */
    bool seen;
    const char *name;   /* of the row, the shape, or the kind */
    const char *member; /* of a CONDITION */
    uint64_t value;     /* 1 or 0 for conditions; bits of FIELD_OF_SAMPLE, with 1 if it is there */
} item;

struct pf_covered {
    item items[MOST_ITEMS];
    uint32_t n;
    uint16_t slots[SLOTS]; /* number of the item plus 1; 0: free */
};

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

static bool is_same(const item *a, const item *b)
{
    return a->what == b->what && a->value == b->value && strcmp(a->name, b->name) == 0 &&
           (a->member == b->member || (a->member && b->member && !strcmp(a->member, b->member)));
}

/* Returns the slot of the item, which is free if the item is not in the set. */
static uint16_t *slot_of(pf_covered *c, const item *i)
{
    uint64_t h = hash_text(UINT64_C(0xcbf29ce484222325) + i->what, i->name);
    h = (hash_text(h, i->member) ^ i->value) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = (size_t)(h >> 51);; at = (at + 1) % SLOTS)
        if (!c->slots[at] || is_same(&c->items[c->slots[at] - 1], i))
            return &c->slots[at];
}

static void add(pf_covered *c, item i)
{
    uint16_t *slot = slot_of(c, &i);
    if (*slot || c->n == MOST_ITEMS)
        return;
    c->items[c->n] = i;
    *slot = (uint16_t)++c->n;
}

static void mark(pf_covered *c, item i)
{
    const uint16_t *slot = slot_of(c, &i);
    if (*slot)
        c->items[*slot - 1].seen = true;
}

static bool has_names(const pf_member *m)
{
    const perfile_vocabulary *v = pf_kind_words(m->kind);
    return pf_type_width(m->type) && v && v->n && v->words;
}

/* Adds the items of one shape.  Its structs and lists are added to `open`. */
static void add_members(pf_covered *c, const pf_row_shape *shape, uint8_t *open, unsigned *n)
{
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END; m++) {
        const perfile_vocabulary *v = pf_kind_words(m->kind);
        const bool of = m->type == PERFILE_STORED_STRUCT || m->type == PERFILE_STORED_LIST;
        for (unsigned value = 0; value < 2; value++) {
            if (m->what == PF_MEMBER_WHEN)
                add(c,
                    (item){
                        .what = CONDITION, .name = shape->name, .member = m->name, .value = value});
            if (m->what == PF_MEMBER_SAMPLE)
                add(c, (item){.what = FIELD_OF_SAMPLE,
                              .name = shape->name,
                              .value = m->bit << 1 | value});
        }
        if (m->what != PF_MEMBER_FIELD && m->what != PF_MEMBER_ATTR)
            continue;
        for (uint32_t i = 0; has_names(m) && i < v->n; i++)
            add(c, (item){.what = NAMED_VALUE,
                          .name = pf_kind_name(m->kind),
                          .value = v->words[i].value});
        if (of && *n < MOST_SHAPES && !memchr(open, m->of, *n))
            open[(*n)++] = m->of;
    }
}

static void add_row(pf_covered *c, const char *name, const pf_row_shape *shape)
{
    uint8_t open[MOST_SHAPES];
    unsigned n = 0;
    add(c, (item){.what = ROW, .name = name});
    add_members(c, shape, open, &n);
    for (unsigned i = 0; i < n; i++)
        add_members(c, &pf_struct_shapes[open[i]], open, &n);
}

pf_covered *pf_covered_new(void)
{
    pf_covered *c = pf_alloc(1, sizeof *c);
    size_t n;
    if (!c)
        return NULL;
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < n; i++)
        add_row(c, rows[i].name, pf_shape_at((unsigned)i));
    rows = pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++)
        add_row(c, rows[i].name, pf_feature_shape_at(i));
    return c;
}

void pf_covered_free(pf_covered *c)
{
    pf_free(c);
}

static uint64_t number_at(const pf_member *m, const uint8_t *at)
{
    uint8_t v8 = 0;
    uint16_t v16 = 0;
    uint32_t v32 = 0;
    uint64_t v64 = 0;
    void *to[] = {[1] = &v8, [2] = &v16, [4] = &v32, [8] = &v64};
    memcpy(to[pf_type_width(m->type)], at, pf_type_width(m->type));
    return v8 | v16 | v32 | v64;
}

void pf_covered_see_row(pf_covered *c, const char *row)
{
    if (c)
        mark(c, (item){.what = ROW, .name = row});
}

void pf_covered_see(pf_covered *c, const char *row, const pf_row_shape *shape, unsigned of,
                    const void *given)
{
    pf_members visit;
    pf_step s;
    if (!c)
        return;
    if (row)
        pf_covered_see_row(c, row);
    pf_members_begin(&visit, shape, of, (void *)(uintptr_t)given);
    while (pf_members_next(&visit, &s)) {
        const char *name = s.of < PF_N_SHAPES ? pf_struct_shapes[s.of].name : shape->name;
        uint64_t bits;
        if (s.what == PF_STEP_CONDITION && s.member->what == PF_MEMBER_WHEN)
            mark(c, (item){.what = CONDITION,
                           .name = name,
                           .member = s.member->name,
                           .value = *s.at != 0});
        if (s.what == PF_STEP_CONDITION && s.member->what == PF_MEMBER_SAMPLE) {
            memcpy(&bits, s.at, sizeof bits);
            mark(c, (item){.what = FIELD_OF_SAMPLE,
                           .name = name,
                           .value = s.member->bit << 1 | ((bits & s.member->bit) != 0)});
        }
        if (s.what == PF_STEP_VALUE && has_names(s.member))
            mark(c, (item){.what = NAMED_VALUE,
                           .name = pf_kind_name(s.member->kind),
                           .value = number_at(s.member, s.at)});
    }
}

size_t pf_covered_count(const pf_covered *c, size_t *seen)
{
    *seen = 0;
    for (uint32_t i = 0; i < c->n; i++)
        *seen += c->items[i].seen;
    return c->n;
}

bool pf_covered_missed(const pf_covered *c, size_t *at, char *text, size_t size)
{
    while (*at < c->n && c->items[*at].seen)
        (*at)++;
    if (*at == c->n)
        return false;
    const item *i = &c->items[(*at)++];
    switch (i->what) {
    case ROW:
        snprintf(text, size, "%s", i->name);
        break;
    case CONDITION:
        snprintf(text, size, "%s.%s %s", i->name, i->member, i->value ? "true" : "false");
        break;
    case FIELD_OF_SAMPLE:
        snprintf(text, size, "%s %s the field of bit 0x%" PRIx64, i->name,
                 i->value & 1 ? "with" : "without", i->value >> 1);
        break;
    default:
        snprintf(text, size, "%s = %" PRIu64, i->name, i->value);
    }
    return true;
}
