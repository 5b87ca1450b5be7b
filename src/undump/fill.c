/* Fills structs from the objects of a dump; see keys.h.
 *
 * Nested objects are a stack of frames, so that nothing recurses.  A frame is an object with keys
 * that go into a struct, or an array with items that become a list of structs.  The tables limit
 * the depth: an object that nests deeper has an unknown key.  Arrays grow in the arena of the line
 * as items arrive: no count in the input is trusted. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "undump/undump.h"
#include "schema/command.h"

enum { FRAMES = 10 };

typedef struct frame {
    const pf_undump_keys *keys;
    uint8_t *base;    /* the struct, or the list items so far */
    perfile_list *to; /* destination of a list; NULL: an object */
    uint64_t seen[PF_KEYS_MOST / 64];
    unsigned depth; /* depth of the reader inside it */
    unsigned of;    /* PF_SHAPE_…; PF_N_SHAPES: none */
    size_t n, room; /* items of a list */
    unsigned next;  /* index of the key that is expected next */
} frame;

typedef struct filling {
    pf_undump_state *u;
    const char *where;
    pf_undump_filled *got;
    pf_cbor c;
    frame frames[FRAMES];
    unsigned n;
    perfile_error *err;
} filling;

/* id_index shows entries and their guests as one list. */
typedef struct guest {
    bool has_guest;
    perfile_id_index_guest guest;
} guest;
static const pf_member guest_members[] = {
    {.what = PF_MEMBER_WHEN, .at = offsetof(guest, has_guest)},
    {.name = "machine_pid",
     .what = PF_MEMBER_FIELD,
     .type = PERFILE_STORED_U64,
     .kind = PERFILE_KIND_PID,
     .at = offsetof(guest, guest.machine_pid)},
    {.name = "vcpu",
     .what = PF_MEMBER_FIELD,
     .type = PERFILE_STORED_U64,
     .kind = PERFILE_KIND_CPU,
     .at = offsetof(guest, guest.vcpu)},
    {.what = PF_MEMBER_END_WHEN},
    {.what = PF_MEMBER_END}};
static const pf_row_shape guest_shape = {"guest", sizeof(guest), guest_members, 0};

/* cpu_topology shows CPUs and their dies as one list. */
typedef struct die {
    bool has_die;
    int32_t die_id;
} die;
static const pf_member die_members[] = {{.what = PF_MEMBER_WHEN, .at = offsetof(die, has_die)},
                                        {.name = "die_id",
                                         .what = PF_MEMBER_FIELD,
                                         .type = PERFILE_STORED_S32,
                                         .kind = PERFILE_KIND_DEC,
                                         .at = offsetof(die, die_id)},
                                        {.what = PF_MEMBER_END_WHEN},
                                        {.what = PF_MEMBER_END}};
static const pf_row_shape die_shape = {"die", sizeof(die), die_members, 0};

enum { GUEST_AT = sizeof(perfile_id_index_entry), DIE_AT = sizeof(perfile_topology_cpu) };

/* Returns true for members that are part of these lists and have no key of their own. */
static bool is_joined(const pf_undump_key *key)
{
    const pf_member *m = key->member;
    return (m->type == PERFILE_STORED_LIST && m->of == PF_SHAPE_id_index_guest) ||
           (m->type == PERFILE_STORED_WORDS && m->element == PERFILE_STORED_S32 &&
            strcmp(m->name, "die_id") == 0);
}

static const pf_undump_keys *made(pf_undump_keys **slot, const pf_row_shape *shape,
                                  const pf_row_shape *also, uint32_t also_at)
{
    if (*slot)
        return *slot;
    pf_undump_keys *k = pf_undump_keys_new(shape, also, also_at);
    for (uint32_t i = 0; k && i < k->n_keys; i++)
        k->keys[i].required &= !is_joined(&k->keys[i]);
    return *slot = k;
}

const pf_undump_keys *pf_undump_keys_of(pf_undump_state *u, unsigned shape)
{
    const pf_row_shape *s = &pf_struct_shapes[shape];
    if (shape == PF_SHAPE_id_index_entry)
        return made(&u->of_guests, s, &guest_shape, GUEST_AT);
    if (shape == PF_SHAPE_topology_cpu)
        return made(&u->of_dies, s, &die_shape, DIE_AT);
    return made(&u->of_structs[shape], s, NULL, 0);
}

const pf_undump_keys *pf_undump_keys_of_row(pf_undump_state *u, uint8_t family, const pf_row *row)
{
    const unsigned at = pf_row_position(family, row);
    return made(&u->of_rows[at], pf_shape_at(at), NULL, 0);
}

const pf_undump_keys *pf_undump_keys_of_feature(pf_undump_state *u, const pf_row *row)
{
    size_t n;
    const size_t at = (size_t)(row - pf_feature_rows(&n));
    assert(n <= sizeof u->of_features / sizeof u->of_features[0]);
    return made(&u->of_features[at], pf_feature_shape_at(at), NULL, 0);
}

static perfile_status fail_here(const filling *f, const char *why)
{
    if (f->c.why)
        return pf_undump_fail_cbor(f->u, &f->c, f->where, f->err);
    return pf_undump_fail(f->u, f->c.pos, f->where, f->err, "%s", why);
}

/* Values. */

/* Reads an integer of the stored type `type` as 64 bits, negative ones in two's complement. */
static perfile_status read_integer(filling *f, unsigned type, const char *name, uint64_t *v)
{
    const uint8_t *at = f->c.pos;
    const pf_cbor_item item = pf_cbor_next(&f->c);
    const unsigned bits = 8 * pf_type_width(type);
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (item.kind != PF_CBOR_UINT && item.kind != PF_CBOR_NEGATIVE) {
        f->c.pos = f->c.why ? f->c.pos : at;
        return fail_here(f, "not the number that is needed");
    }
    if (pf_is_signed(type))
        most >>= 1;
    if (item.number > most || (item.kind == PF_CBOR_NEGATIVE && !pf_is_signed(type)))
        return pf_undump_fail(f->u, at, f->where, f->err, "%s is %s%" PRIu64 ", it has %u bits%s",
                              name, item.kind == PF_CBOR_NEGATIVE ? "-1 - " : "", item.number, bits,
                              pf_is_signed(type) ? ", one of them the sign" : "");
    *v = item.kind == PF_CBOR_NEGATIVE ? ~item.number : item.number;
    return PERFILE_OK;
}

static void store_integer(uint8_t *to, unsigned type, uint64_t v)
{
    const uint8_t v8 = (uint8_t)v;
    const uint16_t v16 = (uint16_t)v;
    const uint32_t v32 = (uint32_t)v;
    const void *from[] = {[1] = &v8, [2] = &v16, [4] = &v32, [8] = &v};
    const unsigned width = pf_type_width(type);
    memcpy(to, from[width], width);
}

/* Makes room for one more item of an array in the arena. */
static perfile_status more_room(filling *f, uint8_t **items, size_t n, size_t *room, size_t width)
{
    enum { FIRST = 8 };
    void *more;
    if (n < *room)
        return PERFILE_OK;
    const size_t wanted = n ? 2 * n : FIRST;
    perfile_status st = pf_arena_get(&f->u->arena, wanted * width, &more, f->err);
    if (st != PERFILE_OK) {
        pf_error_at(f->err, f->u->offset + (uint64_t)(f->c.pos - f->u->item.ptr));
        return st;
    }
    if (n)
        memcpy(more, *items, n * width);
    *items = more;
    *room = wanted;
    return PERFILE_OK;
}

static perfile_status enter_array(filling *f)
{
    const uint8_t *at = f->c.pos;
    if (pf_cbor_next(&f->c).kind == PF_CBOR_ARRAY)
        return PERFILE_OK;
    f->c.pos = f->c.why ? f->c.pos : at;
    return fail_here(f, "not the array that is needed");
}

static perfile_status fill_words(filling *f, const pf_member *m, uint8_t *to)
{
    uint64_t *items = NULL;
    uint8_t *bytes = NULL;
    size_t n = 0, room = 0;
    perfile_status st = enter_array(f);
    const unsigned depth = f->c.depth;
    while (st == PERFILE_OK && pf_cbor_more(&f->c, depth)) {
        uint64_t v = 0;
        st = more_room(f, &bytes, n, &room, sizeof *items);
        if (st == PERFILE_OK)
            st = read_integer(f, m->element, m->name, &v);
        if (st != PERFILE_OK)
            return st;
        items = (uint64_t *)(void *)bytes;
        items[n++] = v;
    }
    if (st != PERFILE_OK || f->c.why)
        return st == PERFILE_OK ? fail_here(f, "") : st;
    perfile_words words = perfile_words_u64(items, n);
    if (m->element == PERFILE_STORED_S32) { /* stored as 32 bits, in place */
        int32_t *narrow = (int32_t *)(void *)bytes;
        for (size_t i = 0; i < n; i++)
            memcpy(&narrow[i], &(int32_t){(int32_t)(int64_t)items[i]}, sizeof *narrow);
        words = perfile_words_s32(narrow, n);
    }
    memcpy(to, &words, sizeof words);
    return PERFILE_OK;
}

static perfile_status read_text(filling *f, bool text, perfile_bytes *out)
{
    const uint8_t *at = f->c.pos;
    pf_cbor_item item;
    perfile_status st = pf_undump_string(f->u, &f->c, &item, f->err);
    if (st != PERFILE_OK)
        return st;
    if (item.kind != PF_CBOR_BYTES && (item.kind != PF_CBOR_TEXT || !text)) {
        f->c.pos = f->c.why ? f->c.pos : at;
        return fail_here(f, text ? "not the text that is needed"
                                 : "not the byte string that is needed");
    }
    *out = item.bytes;
    return PERFILE_OK;
}

static perfile_status fill_strings(filling *f, uint8_t *to)
{
    uint8_t *bytes = NULL;
    size_t n = 0, room = 0;
    perfile_status st = enter_array(f);
    const unsigned depth = f->c.depth;
    while (st == PERFILE_OK && pf_cbor_more(&f->c, depth)) {
        perfile_bytes text = {NULL, 0};
        st = more_room(f, &bytes, n, &room, sizeof text);
        if (st == PERFILE_OK)
            st = read_text(f, true, &text);
        if (st == PERFILE_OK)
            memcpy(bytes + n++ * sizeof text, &text, sizeof text);
    }
    if (st != PERFILE_OK || f->c.why)
        return st == PERFILE_OK ? fail_here(f, "") : st;
    const perfile_strings strings = perfile_strings_of((perfile_bytes *)(void *)bytes, n);
    memcpy(to, &strings, sizeof strings);
    return PERFILE_OK;
}

/* Stores `v` in a bit field that is still 0. */
static void add_bits(uint8_t *to, const perfile_bits *b, uint64_t v)
{
    uint64_t word;
    memcpy(&word, to, sizeof word);
    word |= v << b->shift;
    memcpy(to, &word, sizeof word);
}

/* Fills a word from an array of names of bits. */
static perfile_status fill_flags(filling *f, const pf_member *m, uint8_t *to)
{
    const perfile_vocabulary *v = pf_kind_words(m->kind);
    perfile_status st = enter_array(f);
    const unsigned depth = f->c.depth;
    while (st == PERFILE_OK && pf_cbor_more(&f->c, depth)) {
        const uint8_t *at = f->c.pos;
        perfile_bytes name = {NULL, 0};
        uint32_t i = 0;
        st = read_text(f, true, &name);
        if (st != PERFILE_OK)
            return st;
        while (i < v->n && (v->bits[i].width != 1 || strlen(v->bits[i].name) != name.len ||
                            memcmp(v->bits[i].name, name.ptr, name.len) != 0))
            i++;
        if (i == v->n)
            return pf_undump_fail(f->u, at, f->where, f->err, "%s: no such flag", m->name);
        add_bits(to, &v->bits[i], 1);
    }
    return st == PERFILE_OK && f->c.why ? fail_here(f, "") : st;
}

static perfile_status fill_part(filling *f, const pf_undump_key *key, uint8_t *to)
{
    const uint8_t *at = f->c.pos;
    uint64_t v = 0;
    perfile_status st = read_integer(f, PERFILE_STORED_U64, key->name, &v);
    if (st != PERFILE_OK)
        return st;
    if (key->bits->width < 64 && v >> key->bits->width)
        return pf_undump_fail(f->u, at, f->where, f->err, "%s is %" PRIu64 ", it has %u bits",
                              key->name, v, key->bits->width);
    add_bits(to, key->bits, v);
    return PERFILE_OK;
}

/* Frames. */

static frame *push(filling *f, const pf_undump_keys *keys, unsigned of)
{
    assert(f->n < FRAMES);
    frame *top = &f->frames[f->n++];
    *top = (frame){.keys = keys, .of = of, .depth = f->c.depth};
    return top;
}

/* Enters the next object; its keys go into `base`. */
static perfile_status push_object(filling *f, const pf_undump_keys *keys, unsigned of,
                                  uint8_t *base)
{
    const uint8_t *at = f->c.pos;
    if (!keys)
        return pf_fail_nomem(f->err, "undump");
    if (pf_cbor_next(&f->c).kind != PF_CBOR_MAP) {
        f->c.pos = f->c.why ? f->c.pos : at;
        return fail_here(f, "not the object that is needed");
    }
    push(f, keys, of)->base = base;
    return PERFILE_OK;
}

static perfile_status push_list(filling *f, unsigned of, uint8_t *to)
{
    const pf_undump_keys *keys = pf_undump_keys_of(f->u, of);
    if (!keys)
        return pf_fail_nomem(f->err, "undump");
    perfile_status st = enter_array(f);
    if (st == PERFILE_OK)
        push(f, keys, of)->to = (perfile_list *)(void *)to;
    return st;
}

/* Makes a condition and the ones that enclose it hold. */
static void hold(const frame *o, unsigned guard)
{
    while (guard) {
        const pf_undump_guard *g = &o->keys->guards[guard - 1];
        uint64_t bits;
        if (g->bit) {
            memcpy(&bits, o->base + g->at, sizeof bits);
            bits |= g->bit;
            memcpy(o->base + g->at, &bits, sizeof bits);
        } else {
            o->base[g->at] = true;
        }
        guard = g->around;
    }
}

static bool holds(const frame *o, unsigned guard)
{
    const pf_undump_guard *g = &o->keys->guards[guard - 1];
    uint64_t bits;
    if (!g->bit)
        return o->base[g->at];
    memcpy(&bits, o->base + g->at, sizeof bits);
    return bits & g->bit;
}

/* Returns true if a key must be present: it has no condition, or its condition holds. */
static bool must_be(const frame *o, const pf_undump_key *key)
{
    const pf_undump_guard *g;
    if (!key->required || !key->guard)
        return key->required;
    g = &o->keys->guards[key->guard - 1];
    if (g->otherwise && !holds(o, g->otherwise) && (!g->around || holds(o, g->around)))
        return true;
    return holds(o, key->guard);
}

static perfile_status fill_value(filling *f, const pf_undump_key *key, uint8_t *to)
{
    const pf_member *m = key->member;
    uint64_t v = 0;
    perfile_bytes bytes = {NULL, 0};
    perfile_status st = PERFILE_OK;
    switch (key->how) {
    case PF_FILL_NUMBER:
        st = read_integer(f, m->type, m->name, &v);
        if (st == PERFILE_OK)
            store_integer(to, m->type, v);
        return st;
    case PF_FILL_TEXT:
    case PF_FILL_BYTES:
        st = read_text(f, key->how == PF_FILL_TEXT, &bytes);
        if (st == PERFILE_OK)
            memcpy(to, &bytes, sizeof bytes);
        return st;
    case PF_FILL_WORDS:
        return fill_words(f, m, to);
    case PF_FILL_STRINGS:
        return fill_strings(f, to);
    case PF_FILL_FLAGS:
        return fill_flags(f, m, to);
    case PF_FILL_PART:
        return fill_part(f, key, to);
    case PF_FILL_STRUCT:
        return push_object(f, pf_undump_keys_of(f->u, m->of), m->of, to);
    case PF_FILL_LIST:
        return push_list(f, m->of, to);
    case PF_FILL_KNOWN:
        /* Parts of a word that is not a key itself need it: see finish_counts(). */
        st = read_integer(f, m->type, m->name, &v);
        if (st == PERFILE_OK && f->frames[f->n - 1].of == PF_SHAPE_weight)
            store_integer(to, m->type, v);
        return st;
    default:
        f->got->has_crc = true;
        pf_cbor_skip(&f->c);
        return f->c.why ? fail_here(f, "") : PERFILE_OK;
    }
}

static bool is_key(const pf_undump_key *key, perfile_bytes name)
{
    return strlen(key->name) == name.len && memcmp(key->name, name.ptr, name.len) == 0;
}

/* Finds a key by name; most often it is the one after the last.  Returns NULL if there is none. */
static const pf_undump_key *find(frame *o, perfile_bytes name)
{
    const pf_undump_keys *k = o->keys;
    for (uint32_t i = 0; i < k->n_keys; i++) {
        const uint32_t at = (o->next + i) % k->n_keys;
        if (is_key(&k->keys[at], name)) {
            o->next = at + 1;
            return &k->keys[at];
        }
    }
    return NULL;
}

/* Reads a key that no member has: `data`, once, in the outermost object. */
static perfile_status take_data(filling *f, perfile_bytes name, const uint8_t *at)
{
    static const char data[] = "data";
    enum { SHOWN = 40 };
    if (f->n == 1 && !f->got->has_data && name.len == sizeof data - 1 &&
        memcmp(name.ptr, data, name.len) == 0) {
        f->got->has_data = true;
        return read_text(f, false, &f->got->data);
    }
    const int shown = name.len < SHOWN ? (int)name.len : (int)SHOWN;
    return pf_undump_fail(f->u, at, f->where, f->err, "no member is called '%.*s'", shown,
                          (const char *)name.ptr);
}

/* Reads a key and its value.  An object or a list begins a new frame. */
static perfile_status fill_key(filling *f)
{
    frame *o = &f->frames[f->n - 1];
    const uint8_t *at = f->c.pos;
    perfile_bytes name = {NULL, 0};
    perfile_status st = read_text(f, true, &name);
    if (st != PERFILE_OK)
        return st;
    const pf_undump_key *key = find(o, name);
    f->got->n_keys += f->n == 1;
    if (!key)
        return take_data(f, name, at);
    const unsigned i = (unsigned)(key - o->keys->keys);
    if (o->seen[i / 64] >> i % 64 & 1)
        return pf_undump_fail(f->u, at, f->where, f->err, "the key '%s' comes twice", key->name);
    o->seen[i / 64] |= UINT64_C(1) << i % 64;
    hold(o, key->guard);
    return fill_value(f, key, o->base + key->at);
}

/* Sets members that have no key and are not set by encoders: a word that is shown in parts, the
 * condition of a count, a number of bits that are shown as words. */
static void finish_counts(const frame *o)
{
    perfile_weight *weight = (perfile_weight *)(void *)o->base;
    perfile_read_values *values = (perfile_read_values *)(void *)o->base;
    perfile_mem_node *node = (perfile_mem_node *)(void *)o->base;
    if (o->of == PF_SHAPE_weight)
        weight->word =
            weight->var1_dw | (uint64_t)weight->var2_w << 32 | (uint64_t)weight->var3_w << 48;
    if (o->of == PF_SHAPE_read_values)
        values->has_group = values->has_cntr;
    if (o->of == PF_SHAPE_mem_node)
        node->nbits = 64 * node->bitmap.n;
}

/* Ends an object and checks that no key is missing. */
static perfile_status finish_object(filling *f)
{
    frame *o = &f->frames[--f->n];
    for (uint32_t i = 0; i < o->keys->n_keys; i++)
        if (!(o->seen[i / 64] >> i % 64 & 1) && !(f->n == 0 && f->got->has_data) &&
            must_be(o, &o->keys->keys[i]))
            return pf_undump_fail(f->u, f->c.pos, f->where, f->err, "the key '%s' is missing",
                                  o->keys->keys[i].name);
    finish_counts(o);
    return PERFILE_OK;
}

/* Splits the items of a joined list: copies the second struct of each to `to`, an array of `width`
 * bytes each.  Returns false if not all have one. */
static bool divide(const frame *l, size_t at, size_t flag_at, size_t from, size_t width,
                   uint8_t *to)
{
    bool all = l->n > 0;
    for (size_t i = 0; i < l->n && all; i++) {
        const uint8_t *item = l->base + i * l->keys->size + at;
        all = item[flag_at];
        memcpy(to + i * width, item + from, width);
    }
    return all;
}

static bool has_any(const frame *l, size_t flag_at)
{
    bool any = false;
    for (size_t i = 0; i < l->n; i++)
        any |= l->base[i * l->keys->size + flag_at];
    return any;
}

static perfile_status finish_guests(filling *f, const frame *l, perfile_id_index *index)
{
    void *to;
    if (!has_any(l, GUEST_AT + offsetof(guest, has_guest)))
        return PERFILE_OK;
    perfile_status st =
        pf_arena_get(&f->u->arena, l->n * sizeof(perfile_id_index_guest), &to, f->err);
    if (st != PERFILE_OK)
        return st;
    if (!divide(l, GUEST_AT, offsetof(guest, has_guest), offsetof(guest, guest),
                sizeof(perfile_id_index_guest), to))
        return fail_here(f, "only some of the entries have a guest");
    index->has_guests = true;
    index->guests = perfile_id_index_guest_list(to, l->n, sizeof(perfile_id_index_guest));
    return PERFILE_OK;
}

static perfile_status finish_dies(filling *f, const frame *l, perfile_cpu_topology *t)
{
    void *to;
    if (!has_any(l, DIE_AT + offsetof(die, has_die)))
        return PERFILE_OK;
    perfile_status st = pf_arena_get(&f->u->arena, l->n * sizeof(int32_t), &to, f->err);
    if (st != PERFILE_OK)
        return st;
    if (!divide(l, DIE_AT, offsetof(die, has_die), offsetof(die, die_id), sizeof(int32_t), to))
        return fail_here(f, "only some of the CPUs have a die");
    t->die_id = perfile_words_s32(to, l->n);
    return PERFILE_OK;
}

/* Ends a list. */
static perfile_status finish_list(filling *f)
{
    const frame *l = &f->frames[--f->n];
    uint8_t *owner = f->frames[f->n - 1].base;
    *l->to = (perfile_list){
        .bytes = {l->base, l->n * l->keys->size}, .n = l->n, .given = l->n ? l->keys->size : 0};
    if (l->of == PF_SHAPE_id_index_entry)
        return finish_guests(f, l, (perfile_id_index *)(void *)owner);
    if (l->of == PF_SHAPE_topology_cpu)
        return finish_dies(f, l, (perfile_cpu_topology *)(void *)owner);
    return PERFILE_OK;
}

/* Begins the next item of a list, an object. */
static perfile_status add_item(filling *f)
{
    frame *l = &f->frames[f->n - 1];
    const size_t width = l->keys->size;
    perfile_status st = more_room(f, &l->base, l->n, &l->room, width);
    if (st != PERFILE_OK)
        return st;
    uint8_t *item = l->base + l->n++ * width;
    memset(item, 0, width);
    return push_object(f, l->keys, l->of, item);
}

/* Makes one step: reads a key with its value, begins an item, or ends a complete object or list. */
static perfile_status step(filling *f)
{
    const frame *top = &f->frames[f->n - 1];
    const bool more = pf_cbor_more(&f->c, top->depth);
    if (f->c.why)
        return fail_here(f, "");
    if (top->to)
        return more ? add_item(f) : finish_list(f);
    return more ? fill_key(f) : finish_object(f);
}

perfile_status pf_undump_fill(pf_undump_state *u, const pf_undump_keys *k, const uint8_t *at,
                              const char *where, void *out, pf_undump_filled *filled,
                              perfile_error *err)
{
    filling f = {.u = u, .where = where, .got = filled, .c = pf_undump_value(u, at), .err = err};
    *filled = (pf_undump_filled){0};
    if (k)
        memset(out, 0, k->size);
    perfile_status st = push_object(&f, k, PF_N_SHAPES, out);
    while (st == PERFILE_OK && f.n)
        st = step(&f);
    return st;
}
