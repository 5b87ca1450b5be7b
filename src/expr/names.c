/* Looking up names: collects all meanings of a name in a slot, and narrows them later.
 *
 * A name is looked up in this order: the names of every record (type, misc …), which hide fields of
 * the same name; if it begins with a row ("mmap2.flags"), that row; then all rows and the trailer.
 * The provider is asked for any name except those of every record, for records that do not have the
 * field. */
#include "expr/program.h"

#include <string.h>

#include "base/error.h"
#include "schema/command.h"

const char *pf_expr_split_row(const char *name, const char **rest)
{
    char first[PF_EXPR_NAME_BYTES];
    const char *dot = strchr(name, '.');
    if (!dot)
        return NULL;
    memcpy(first, name, (size_t)(dot - name));
    first[dot - name] = 0;
    const char *row = NULL;
    if (pf_expr_same_word(first, "sample_id"))
        row = pf_struct_shapes[PF_SHAPE_sample_id].name;
    for (unsigned i = 0; i < pf_all_rows() && !row; i++)
        if (pf_expr_same_word(first, pf_shape_at(i)->name) ||
            pf_expr_same_word(first, pf_row_at(i)->name))
            row = pf_shape_at(i)->name;
    if (row)
        *rest = dot + 1;
    return row;
}

/* For a name with a row prefix: adds the fields of that row.  Rows of two families can have the
 * same name. */
static void add_row_ways(perfile_expr *e, pf_slot *slot, const char *name, perfile_status *st,
                         perfile_error *err)
{
    const char *rest;
    const char *row = pf_expr_split_row(name, &rest);
    if (!row)
        return;
    if (row == pf_struct_shapes[PF_SHAPE_sample_id].name)
        pf_expr_search(e, slot, &pf_struct_shapes[PF_SHAPE_sample_id], PF_ROW_TRAILER,
                       PF_WAY_MEMBER, rest, st, err);
    for (unsigned i = 0; i < pf_all_rows(); i++)
        if (row == pf_shape_at(i)->name)
            pf_expr_search(e, slot, pf_shape_at(i), (uint8_t)i, PF_WAY_MEMBER, rest, st, err);
}

/* Adds the fields of all rows, or those of the row that the name begins with. */
static void add_record_ways(perfile_expr *e, pf_slot *slot, const char *name, perfile_status *st,
                            perfile_error *err)
{
    add_row_ways(e, slot, name, st, err);
    if (slot->n_ways)
        return;
    /* A dotted name can also be a member of a field that has the same name as a row. */
    for (unsigned i = 0; i < pf_all_rows(); i++)
        pf_expr_search(e, slot, pf_shape_at(i), (uint8_t)i, PF_WAY_MEMBER, name, st, err);
    pf_expr_search(e, slot, &pf_struct_shapes[PF_SHAPE_sample_id], PF_ROW_TRAILER, PF_WAY_MEMBER,
                   name, st, err);
}

/* Adds the members of the elements of `list`.  For an empty name (".") adds the elements
 * themselves, which must be numbers.  A list can be in several rows with different elements. */
static void add_element_ways(perfile_expr *e, pf_slot *slot, const pf_slot *list, const char *name,
                             perfile_status *st, perfile_error *err)
{
    bool done[PF_N_SHAPES] = {false};
    slot->element = true;
    if (!*name)
        slot->of = PF_OF_ELEMENT;
    if (!*name && list->payload_classes & PERFILE_EXPR_LIST)
        pf_expr_add_way(e, slot,
                        &(pf_way){.class = PERFILE_EXPR_NUMBER,
                                  .type = PERFILE_STORED_U64,
                                  .kind = PERFILE_KIND_DEC},
                        st, err);
    for (uint32_t i = 0; i < list->n_ways; i++) {
        pf_way way = e->ways[list->ways + i];
        if (!*name && way.type == PERFILE_STORED_WORDS) {
            pf_expr_add_way(e, slot,
                            &(pf_way){.class = PERFILE_EXPR_NUMBER,
                                      .type = way.element,
                                      .kind = way.kind,
                                      .words = pf_kind_words(way.kind)},
                            st, err);
        } else if (*name && way.type == PERFILE_STORED_LIST && !done[way.of]) {
            done[way.of] = true;
            pf_expr_search(e, slot, &pf_struct_shapes[way.of], way.of, PF_WAY_ELEMENT, name, st,
                           err);
        }
    }
}

/* Asks the provider whether it knows the name, and its class. */
static void ask_provider(const perfile_expr *e, pf_slot *slot, const char *name)
{
    if (!e->has_provider)
        return;
    uint32_t class = e->provider.knows(e->provider.user, name, &slot->handle);
    if (class != PERFILE_EXPR_NUMBER && class != PERFILE_EXPR_TEXT)
        return;
    slot->provided = true;
    slot->provided_class = (uint8_t) class;
    slot->classes |= (uint8_t) class;
}

/* A name that the provider does not know may be a field of tracepoints. */
static perfile_status take_payload(perfile_expr *e, pf_slot *s, const char *name,
                                   perfile_error *err)
{
    if (!e->payload.allowed || s->provided || !pf_expr_may_be_payload(name))
        return PERFILE_OK;
    s->payload_classes = PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT | PERFILE_EXPR_LIST;
    s->payload_name = (uint32_t)e->payload.names.len;
    s->classes |= s->payload_classes;
    e->payload.used = true;
    return pf_buffer_append(&e->payload.names, name, strlen(name) + 1)
               ? PERFILE_OK
               : pf_fail_nomem(err, "expression");
}

perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err)
{
    if (e->n_slots == PF_EXPR_SLOTS)
        return pf_fail(err, PERFILE_E_LIMIT, "expression", "the expression has too many names");
    /* a copy, because e->slots may move */
    pf_slot of_list = list ? *list : (pf_slot){0};
    void *items = e->slots;
    pf_slot *s = pf_expr_grow(&items, &e->n_slots, &e->slots_cap, sizeof *s);
    e->slots = items;
    if (!s)
        return pf_fail_nomem(err, "expression");
    s->ways = e->n_ways;
    perfile_status st = PERFILE_OK;
    const pf_expr_common *common = list ? NULL : pf_expr_common_find(name);
    if (common) {
        s->of = common->of;
        s->classes = common->classes;
    } else if (list) {
        add_element_ways(e, s, &of_list, name, &st, err);
    } else {
        add_record_ways(e, s, name, &st, err);
        s->timed = strcmp(name, "time") == 0;
        s->located = strcmp(name, "cpu") == 0;
        ask_provider(e, s, name);
        if (st == PERFILE_OK)
            st = take_payload(e, s, name, err);
    }
    if (st == PERFILE_OK && !s->classes)
        st = PERFILE_END;
    if (st != PERFILE_OK) {
        e->n_ways = s->ways;
        e->n_slots--;
        return st;
    }
    *slot = s;
    return PERFILE_OK;
}

/* Removes the ways for which keep() is false.  Their entries in e->ways remain unused. */
static void prune(perfile_expr *e, pf_slot *s, bool (*keep)(const pf_way *, const void *),
                  const void *with)
{
    uint32_t n = 0;
    s->classes = (uint8_t)(s->payload_classes | (s->provided ? s->provided_class : 0));
    for (uint32_t i = 0; i < s->n_ways; i++) {
        pf_way w = e->ways[s->ways + i];
        if (!keep(&w, with))
            continue;
        e->ways[s->ways + n++] = w;
        s->classes |= w.class;
    }
    s->n_ways = n;
}

/* For prune(): the way has one of the classes *class. */
static bool is_of_class(const pf_way *w, const void *class)
{
    return w->class & *(const unsigned *)class;
}

bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class)
{
    if (!(s->classes & class))
        return false;
    if (s->of != PF_OF_FIELDS) {
        s->classes = (uint8_t) class;
        return true;
    }
    if (!(s->provided_class & class))
        s->provided = false; /* the provider's value is of another class */
    s->payload_classes &= (uint8_t) class;
    prune(e, s, is_of_class, &class);
    return true;
}

/* For prune(): the field has a value of its own. */
static bool is_value(const pf_way *w, const void *unused)
{
    (void)unused;
    return w->type != PERFILE_STORED_STRUCT && w->type != PERFILE_STORED_LIST;
}

bool pf_expr_keep_values(perfile_expr *e, pf_slot *s)
{
    if (s->of == PF_OF_FIELDS)
        prune(e, s, is_value, NULL);
    return s->classes != 0;
}

/* For prune(): the field has the word. */
static bool has_word(const pf_way *w, const void *word)
{
    uint64_t number;
    return w->class == PERFILE_EXPR_NUMBER && pf_expr_word_value(w->words, word, &number);
}

/* pf_expr_resolve_word() for names of every record.  A word of misc limits the slot to the types in
 * which the bit has this meaning. */
static int common_word(pf_slot *s, const char *word, uint64_t *number)
{
    uint64_t types;
    switch (s->of) {
    case PF_OF_TYPE: {
        uint32_t type = perfile_record_type_number(word);
        *number = type;
        return type ? PF_WORD_FOUND : PF_WORD_NONE;
    }
    case PF_OF_MISC:
        if (!pf_expr_misc(word, number, &types))
            return PF_WORD_NONE;
        s->misc_types = types;
        return PF_WORD_FOUND;
    case PF_OF_CPUMODE:
        return pf_expr_word_value(pf_vocabulary_find("cpumode"), word, number) ? PF_WORD_FOUND
                                                                               : PF_WORD_NONE;
    default:
        return PF_WORD_NONE;
    }
}

/* All fields that have the word must agree on its value; the other fields are dropped. */
int pf_expr_resolve_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number)
{
    if (s->of != PF_OF_FIELDS && s->of != PF_OF_ELEMENT)
        return common_word(s, word, number);
    bool found = false;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        uint64_t n;
        const pf_way *w = &e->ways[s->ways + i];
        if (w->class != PERFILE_EXPR_NUMBER || !pf_expr_word_value(w->words, word, &n))
            continue;
        if (found && n != *number)
            return PF_WORD_SEVERAL;
        *number = n;
        found = true;
    }
    if (!found)
        return PF_WORD_NONE;
    s->provided = false; /* its values have no words */
    s->payload_classes = 0;
    prune(e, s, has_word, word);
    return PF_WORD_FOUND;
}

unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s)
{
    unsigned widths = 0;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        const pf_way *w = &e->ways[s->ways + i];
        if (w->kind == PERFILE_KIND_PID || w->kind == PERFILE_KIND_TID ||
            w->kind == PERFILE_KIND_CPU)
            widths |= pf_type_width(w->type);
    }
    return widths;
}

/* The names that every record has, and the words for values: from the vocabularies of kinds
 * (format/words.def), and from the bits of misc (format/misc.def), which mean different things in
 * different types. */

/* `doc` is shown in the list of names. */
static const pf_expr_common commons[] = {
    {"type", "type of the record, by its name without PERF_RECORD_, or number", PF_OF_TYPE,
     PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT, PERFILE_KIND_DEC},
    {"misc", "misc of the header; what bit 12 and up mean depends on the type", PF_OF_MISC,
     PERFILE_EXPR_NUMBER, PERFILE_KIND_HEX},
    {"size", "bytes of the record, header included", PF_OF_SIZE, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_SIZE},
    {"offset", "where the record begins in its file", PF_OF_OFFSET, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_HEX},
    {"sequence", "number of the record in the stream, from 0", PF_OF_SEQUENCE, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_DEC},
    {"part", "which file of a directory, from 0", PF_OF_PART, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_DEC},
    {"cpumode", "where the CPU was: kernel, user, hypervisor, guest_kernel, guest_user",
     PF_OF_CPUMODE, PERFILE_EXPR_NUMBER, PERFILE_KIND_BUILD_ID_MISC},
    {"event", "event of the record, by name (text) or position (number)", PF_OF_EVENT,
     PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT, PERFILE_KIND_ATTR_INDEX},
};

const pf_expr_common *pf_expr_common_at(size_t i)
{
    return i < sizeof commons / sizeof commons[0] ? &commons[i] : NULL;
}

const pf_expr_common *pf_expr_common_find(const char *name)
{
    const pf_expr_common *c;
    for (size_t i = 0; (c = pf_expr_common_at(i)); i++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* Folds a character for comparing words. */
static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

bool pf_expr_same_word(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

bool pf_expr_word_value(const perfile_vocabulary *v, const char *word, uint64_t *number)
{
    for (uint32_t i = 0; v && i < v->n; i++) {
        if (!pf_expr_same_word(v->bits ? v->bits[i].name : v->words[i].name, word))
            continue;
        if (v->words) {
            *number = v->words[i].value;
            return true;
        }
        unsigned width = v->bits[i].width; /* the mask of the bit field */
        *number = (width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX) << v->bits[i].shift;
        return true;
    }
    return false;
}

/* Types of kernel records are below 63.  Above them only HEADER_BUILD_ID (67) has named bits in
 * misc; it uses the last bit. */
enum { TYPE_BIT_BUILD_ID = 63 };

uint64_t pf_expr_type_bit(uint32_t type)
{
    if (type == PERFILE_RECORD_HEADER_BUILD_ID)
        return UINT64_C(1) << TYPE_BIT_BUILD_ID;
    return type < TYPE_BIT_BUILD_ID ? UINT64_C(1) << type : 0;
}

/* Named bits of misc.  A name that is valid for several types has consecutive rows. */
static const struct {
    const char *name;
    uint16_t bit;
    uint32_t type;
} misc_words[] = {
#define MISC(type, bit, word, set, clear) {word, PERFILE_MISC_##bit, PERFILE_RECORD_##type},
#include "format/misc.def"
};

enum { MISC_ROWS = sizeof misc_words / sizeof misc_words[0] };

/* Rows of one name count once; they are consecutive. */
const char *pf_expr_misc_word(size_t i)
{
    for (size_t row = 0; row < MISC_ROWS; row++) {
        bool again = row && strcmp(misc_words[row].name, misc_words[row - 1].name) == 0;
        if (!again && i-- == 0)
            return misc_words[row].name;
    }
    return NULL;
}

bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types)
{
    *types = 0;
    for (size_t row = 0; row < MISC_ROWS; row++) {
        if (!pf_expr_same_word(misc_words[row].name, word))
            continue;
        *mask = misc_words[row].bit;
        *types |= pf_expr_type_bit(misc_words[row].type);
    }
    return *types != 0;
}
