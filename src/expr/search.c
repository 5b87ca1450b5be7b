/* Finding the ways to a name in one struct of the tables (schema/rows.h).
 *
 * Walks the members of the struct in order.  The conditions around them (WHEN, SAMPLE) become
 * guards of a way.  The offset in the stored record is known as long as all members before have a
 * fixed size (`fixed`).  A member that matches the first part of the name is a way.  If more of the
 * name follows, the member is a struct or a number with bit fields, and the search continues there.
 *
 * Structs to search are collected in a list (`scopes`) instead of recursing. */
#include "expr/program.h"

#include "base/error.h"
#include "core/layout.h"
#include "schema/command.h"

enum {
    MOST_SCOPES = 16, /* structs to search for one name */
    MOST_PARTS = 8    /* bit fields within bit fields: data_src.… */
};

_Static_assert((int)PF_ROWS_MOST <= (int)PF_ROW_TRAILER, "pf_way.row");

/* A struct to search, and the conditions under which it is present. */
typedef struct scope {
    const pf_member *members;
    uint32_t at; /* offset of the struct in the decoded one */
    uint8_t n_guards;
    pf_guard guards[PF_EXPR_GUARDS];
    const char *rest; /* the rest of the name */
    bool alias;       /* the name ended at this struct: only numbers match, see `aliases` */
} scope;

/* The state of one search. */
typedef struct search {
    perfile_expr *e;
    pf_slot *slot;
    uint8_t row;          /* for pf_way.row */
    uint8_t from;         /* PF_WAY_MEMBER or PF_WAY_ELEMENT */
    bool words_of_sample; /* the struct is a sample or trailer: fields can be in known words */
    scope scopes[MOST_SCOPES];
    size_t n_scopes;
    bool too_many; /* a limit was reached */
    perfile_status *st;
    perfile_error *err;
} search;

/* Structs whose name alone means a number: the first of these members that is present. */
static const struct {
    uint8_t shape;
    const char *member;
} aliases[] = {
    {PF_SHAPE_weight, "full"},
    {PF_SHAPE_weight, "var1_dw"},
};

/* Returns true if the first part of the dotted `name` is `word`.  Sets *rest to the part after the
 * dot, NULL if there is none. */
static bool begins_with(const char *name, const char *word, const char **rest)
{
    size_t n = strlen(word);
    if (strncmp(name, word, n) != 0 || (name[n] && name[n] != '.'))
        return false;
    *rest = name[n] ? name + n + 1 : NULL;
    return true;
}

/* Returns true if the field of a sample_type bit is in words with an offset that the layout knows,
 * so that it can be read without decoding. */
static bool in_layout(uint64_t bit)
{
    const uint64_t fixed = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |
                           PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_ID |
                           PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD;
    return bit & fixed;
}

void pf_expr_add_way(perfile_expr *e, pf_slot *slot, const pf_way *way, perfile_status *st,
                     perfile_error *err)
{
    if (*st != PERFILE_OK)
        return;
    if (e->n_ways == PF_EXPR_WAYS) {
        *st = pf_fail(err, PERFILE_E_LIMIT, "expression", "the expression has too many names");
        return;
    }
    void *items = e->ways;
    pf_way *w = pf_expr_grow(&items, &e->n_ways, &e->ways_cap, sizeof *w);
    e->ways = items;
    if (!w) {
        *st = pf_fail_nomem(err, "expression");
        return;
    }
    *w = *way;
    slot->n_ways++;
    slot->classes |= way->class;
}

uint8_t pf_expr_type_of(const pf_member *m)
{
    switch (m->type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        return PERFILE_EXPR_TEXT;
    case PERFILE_STORED_WORDS:
    case PERFILE_STORED_LIST:
        return PERFILE_EXPR_LIST;
    case PERFILE_STORED_STRINGS:
    case PERFILE_STORED_STRUCT:
        return PERFILE_EXPR_OTHER;
    default:
        return m->kind == PERFILE_KIND_SCALE ? PERFILE_EXPR_OTHER : PERFILE_EXPR_NUMBER;
    }
}

/* Narrows `way`, a number, to the bit field called `rest`, which may have more parts.  A bit field
 * has two names, its own and the name of its words: data_src.op, data_src.mem_op. */
static bool find_part(pf_way *way, const char *rest)
{
    for (unsigned depth = 0; rest; depth++) {
        const perfile_vocabulary *v = way->words;
        const char *after = NULL;
        uint32_t i = 0;
        if (!v || !v->bits || depth == MOST_PARTS)
            return false;
        for (; i < v->n; i++)
            if (begins_with(rest, v->bits[i].name, &after) ||
                (v->bits[i].values->n && begins_with(rest, v->bits[i].values->name, &after)))
                break;
        if (i == v->n)
            return false;
        way->shift = (uint8_t)(way->shift + v->bits[i].shift);
        way->width = v->bits[i].width;
        way->words = v->bits[i].values->n ? v->bits[i].values : NULL;
        way->kind = PERFILE_KIND_DEC;
        rest = after;
    }
    return true;
}

/* Adds the struct member `m` of the struct `p` to the scopes, to search it for `rest` of the
 * name. */
static void push_scope(search *s, const scope *p, const pf_member *m, const char *rest, bool alias)
{
    if (s->n_scopes == MOST_SCOPES) {
        s->too_many = true;
        return;
    }
    scope *q = &s->scopes[s->n_scopes++];
    *q = *p;
    q->members = pf_struct_shapes[m->of].members;
    q->at = p->at + m->at;
    q->rest = rest;
    q->alias = alias;
}

/* The stored offset of the next member, as long as all members before have a fixed size; then
 * -1. */
typedef struct fixed {
    int32_t body; /* from the beginning of the body */
    int32_t word; /* from the beginning of the field of a sample_type bit */
    uint64_t bit; /* the sample_type bit */
} fixed;

/* Adds a way to the member `m`, or with `rest`, the rest of the name, to a bit field of it.  A
 * value at a known offset is read from the stored record; otherwise the record must be decoded. */
static void add_member(search *s, const scope *p, const pf_member *m, const fixed *f,
                       const char *rest)
{
    pf_way way = {
        .row = s->row,
        .from = s->from,
        .class = pf_expr_type_of(m),
        .type = m->type,
        .element = m->element,
        .kind = m->kind,
        .of = m->of,
        .at = (uint16_t)(p->at + m->at),
        .n_guards = p->n_guards,
        .words = m->type == PERFILE_STORED_STRUCT ? NULL : pf_kind_words(m->kind),
    };
    memcpy(way.guards, p->guards, sizeof way.guards);
    if (rest && !(way.class == PERFILE_EXPR_NUMBER && find_part(&way, rest)))
        return;
    /* The bit fields of attrs and branches are in reverse order in captures of the other byte
     * order; only decoding corrects this. */
    bool mirrored = m->kind == PERFILE_KIND_ATTR_FLAGS || m->kind == PERFILE_KIND_BRANCH_FLAGS;
    /* Computed members only exist in the decoded struct. */
    bool stored = way.class == PERFILE_EXPR_NUMBER && !(m->flags & PERFILE_FIELD_CALC) && !mirrored;
    if (stored && s->words_of_sample && f->word >= 0) {
        way.from = s->row == PF_ROW_TRAILER ? PF_WAY_TRAILER : PF_WAY_SAMPLE;
        way.bit = (uint8_t)__builtin_ctzll(f->bit);
        way.at = (uint16_t)f->word;
        way.n_guards = 0; /* the layout knows whether the field is present */
    } else if (stored && f->body >= 0 && s->from == PF_WAY_MEMBER) {
        way.from = PF_WAY_PLACE;
        way.at = (uint16_t)f->body;
    }
    pf_expr_add_way(s->e, s->slot, &way, s->st, s->err);
}

/* Returns the only list among the members of a struct, NULL if there is none or more than one.  The
 * name of such a struct also means its list (callchain, branch_stack). */
static const pf_member *only_list(const pf_row_shape *shape)
{
    const pf_member *found = NULL;
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END; m++)
        if (m->what == PF_MEMBER_FIELD && m->type == PERFILE_STORED_LIST) {
            if (found)
                return NULL;
            found = m;
        }
    return found;
}

/* Handles a matching struct member: searches it for the rest of the name.  At the end of the name,
 * adds the struct itself and the other meanings of its name. */
static void add_struct(search *s, const scope *p, const pf_member *m, const fixed *f,
                       const char *rest)
{
    if (rest) {
        push_scope(s, p, m, rest, false);
        return;
    }
    add_member(s, p, m, f, NULL);
    const pf_member *list = only_list(&pf_struct_shapes[m->of]);
    if (list)
        push_scope(s, p, m, list->name, false);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (aliases[i].shape == m->of)
            push_scope(s, p, m, aliases[i].member, true);
}

/* Adds a condition for the members of `p`. */
static void add_guard(scope *p, search *s, uint16_t at, uint16_t test, uint64_t mask)
{
    if (p->n_guards == PF_EXPR_GUARDS) {
        s->too_many = true;
        return;
    }
    p->guards[p->n_guards++] = (pf_guard){mask, at, test};
}

/* Moves the offsets past the member `m`.  Computed members are not stored. */
static void step_fixed(fixed *f, const pf_member *m)
{
    unsigned width = m->flags & PERFILE_FIELD_CALC ? 0 : pf_type_width(m->type);
    bool calc = m->flags & PERFILE_FIELD_CALC;
    f->body = f->body >= 0 && (width || calc) ? f->body + (int32_t)width : -1;
    f->word = f->word >= 0 && (width || calc) ? f->word + (int32_t)width : -1;
}

/* Applies a mark in the list of members: the beginning or end of a condition, or a gap.  Returns
 * false if `m` is a field.  After a mark the offset in the body is unknown; the word of a
 * sample_type bit begins at its SAMPLE. */
static bool apply_mark(search *s, scope *p, const pf_member *m, fixed *f)
{
    switch (m->what) {
    case PF_MEMBER_WHEN:
        add_guard(p, s, (uint16_t)(p->at + m->at), PF_GUARD_IS, 0);
        break;
    case PF_MEMBER_SAMPLE:
        add_guard(p, s, (uint16_t)(p->at + m->at), PF_GUARD_BITS, m->bit);
        f->bit = m->bit;
        f->word = in_layout(m->bit) ? 0 : -1;
        f->body = -1;
        return true;
    case PF_MEMBER_ELSE:
        p->n_guards--;
        add_guard(p, s, (uint16_t)(p->at + m->at), PF_GUARD_IS, 0);
        break;
    case PF_MEMBER_END_WHEN:
        p->n_guards--;
        f->word = -1;
        break;
    case PF_MEMBER_BEYOND:
        return true;
    case PF_MEMBER_GAP:
        break;
    default:
        return false;
    }
    f->body = -1;
    return true;
}

/* Adds a member of an attr after the first 64 bytes.  It is present if attr.size covers its end, to
 * which *end is moved. */
static void add_attr_member(search *s, scope *p, const pf_member *m, const fixed *f, bool found,
                            const char *rest, uint32_t *end)
{
    *end += pf_type_width(m->type);
    if (!found)
        return;
    add_guard(p, s, (uint16_t)(p->at + offsetof(perfile_attr, size)), PF_GUARD_REACHES, *end);
    add_member(s, p, m, f, rest);
    p->n_guards--;
}

/* Searches the members of one struct.  `first` is true for the struct of the whole record, whose
 * members have offsets in the body. */
static void search_members(search *s, scope p, bool first)
{
    fixed f = {first && s->row != PF_ROW_TRAILER ? 0 : -1, -1, 0};
    uint32_t attr_end = 64; /* end of the members of an attr that are always present */
    for (const pf_member *m = p.members; m->what != PF_MEMBER_END && !s->too_many; m++) {
        const char *rest = NULL;
        if (apply_mark(s, &p, m, &f))
            continue;
        bool found = begins_with(p.rest, m->name, &rest) &&
                     (!p.alias || pf_expr_type_of(m) == PERFILE_EXPR_NUMBER);
        if (m->what == PF_MEMBER_ATTR) {
            f.body = -1;
            add_attr_member(s, &p, m, &f, found, rest, &attr_end);
            continue;
        }
        if (found && m->type == PERFILE_STORED_STRUCT)
            add_struct(s, &p, m, &f, rest);
        else if (found)
            add_member(s, &p, m, &f, rest);
        else if (m->type == PERFILE_STORED_STRUCT && m->flags & PERFILE_FIELD_FLAT)
            /* Its members have names as if they were members of the enclosing struct. */
            push_scope(s, &p, m, p.rest, false);
        step_fixed(&f, m);
    }
}

void pf_expr_search(perfile_expr *e, pf_slot *slot, const pf_row_shape *shape, uint8_t row,
                    uint8_t from, const char *name, perfile_status *st, perfile_error *err)
{
    search s = {.e = e, .slot = slot, .row = row, .from = from, .st = st, .err = err};
    s.words_of_sample = from == PF_WAY_MEMBER && (row == PF_AT_sample || row == PF_ROW_TRAILER);
    s.scopes[s.n_scopes++] = (scope){.members = shape->members, .rest = name};
    for (size_t i = 0; i < s.n_scopes; i++)
        search_members(&s, s.scopes[i], i == 0);
    if (*st == PERFILE_OK && s.too_many)
        *st = pf_fail(err, PERFILE_E_LIMIT, "expression", "the expression has too many names");
}
