/* How records of one kind are taken apart: the operations of a class, made from the fields of one
 * record.
 *
 * The walk over the tables shows the fields in stored order.  A number becomes a word; what has a
 * number of elements in front of it becomes a blob with that prefix; the rest of a record that is
 * text becomes a blob without; short lists and the payloads of tracepoints become words, since each
 * of their places means something of its own.  Where fields do not fill the record, or it cannot be
 * read, its body is one blob. */
#include <string.h>

#include "archive/columns_encode.h"
#include "archive/meta.h"
#include "base/byte_order.h"
#include "schema/family.h"

enum {
    RECORD_HEADER = 8,
    MOST_LEAVES = 256,
    LIST_AS_WORDS = 8,     /* items: longer lists are blobs */
    TOOL_WORDS_MOST = 256, /* bytes of records of a tool that are taken apart into words */
    MOST_OPS_OF_CLASS = MOST_LEAVES
};

/* A field, or a list as a whole. */
typedef struct leaf {
    const perfile_field *field;
    uint32_t at, width; /* in the body; bytes */
    uint32_t count;     /* of a list: its items */
    uint64_t number;
    uint16_t nth; /* item of the list around it */
    bool is_number, is_list, of_trailer;
} leaf;

typedef struct plan {
    pf_shred *x;
    const perfile_record *r;
    bool apart;
    bool bad; /* the fields cannot be used */
    bool in_trailer;
    leaf leaves[MOST_LEAVES];
    uint32_t n;
    uint32_t list; /* first leaf of the list that is walked, plus 1 */
    const perfile_field *list_field;
    uint32_t list_at, items, depth, item_depth;
    pf_shred_op ops[MOST_OPS_OF_CLASS];
    uint32_t n_ops;
    bool varies, checked;
    uint32_t size;
} plan;

static void add_leaf(plan *p, const perfile_field *field, const perfile_value *value, bool number)
{
    if (p->n == MOST_LEAVES || value->offset < RECORD_HEADER || value->offset > UINT16_MAX ||
        value->width > UINT16_MAX) {
        p->bad = true;
        return;
    }
    p->leaves[p->n++] = (leaf){.field = field,
                               .at = (uint32_t)value->offset - RECORD_HEADER,
                               .width = (uint32_t)value->width,
                               .number = value->number,
                               .nth = (uint16_t)p->items,
                               .is_number = number,
                               .of_trailer = p->in_trailer};
}

static void show_value(void *user, const perfile_field *field, const perfile_value *value)
{
    plan *p = user;
    if (field->flags & PERFILE_FIELD_CALC || value->width == 0 || p->bad)
        return;
    if (p->list && p->items > LIST_AS_WORDS)
        return; /* the list becomes one leaf */
    add_leaf(p, field, value, field->type <= PERFILE_STORED_S32);
}

static void show_begin(void *user, const perfile_field *field, const perfile_value *value)
{
    plan *p = user;
    p->depth++;
    if (field->type == PERFILE_STORED_LIST && !p->list) {
        p->list = p->n + 1;
        p->list_field = field;
        p->list_at = (uint32_t)value->offset;
        p->items = 0;
        p->item_depth = p->depth;
    } else if (field->type == PERFILE_STORED_ITEM && p->list && p->depth == p->item_depth + 1) {
        p->items++;
    }
}

/* The end of a list: if it is long, what was collected of it is replaced by one leaf, which ends
 * where the next field begins; that is corrected in close_lists(). */
static void show_end(void *user, const perfile_field *field)
{
    plan *p = user;
    p->depth--;
    if (field->type != PERFILE_STORED_LIST || !p->list || p->depth + 1 != p->item_depth)
        return;
    const uint32_t items = p->items;
    p->items = 0;
    if (items > LIST_AS_WORDS) {
        const perfile_value at = {.offset = p->list_at};
        p->n = p->list - 1;
        add_leaf(p, p->list_field, &at, false);
        if (!p->bad) {
            p->leaves[p->n - 1].is_list = true;
            p->leaves[p->n - 1].count = items;
        }
    }
    p->list = 0;
}

/* Collects the fields of body and trailer; false: they do not fill the record. */
static bool collect(plan *p)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = show_value, .begin = show_begin, .end = show_end};
    if (perfile_record_walk(p->r, PERFILE_WALK_PADDING, &visitor, p, NULL) != PERFILE_OK)
        return false;
    p->in_trailer = true;
    if (perfile_record_walk_trailer(p->r, PERFILE_WALK_PADDING, &visitor, p, NULL) < 0 || p->bad)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        leaf *l = &p->leaves[i];
        if (l->is_list)
            l->width = (i + 1 < p->n ? p->leaves[i + 1].at : (uint32_t)p->r->body.len) - l->at;
        if (l->at != at || l->width > p->r->body.len - at)
            return false;
        at += l->width;
    }
    return at == p->r->body.len;
}

static bool is_named(const leaf *l, const char *name)
{
    return strcmp(l->field->name, name) == 0;
}

static pf_shred_op *add_op(plan *p, unsigned what, const pf_column_key *key, unsigned column_width,
                           bool words)
{
    if (p->n_ops == MOST_OPS_OF_CLASS) {
        p->bad = true;
        return &p->ops[0];
    }
    pf_shred_op *o = &p->ops[p->n_ops++];
    *o = (pf_shred_op){.what = (uint8_t)what,
                       .column = pf_shred_column_of(p->x, key, column_width, words)};
    p->bad |= o->column == UINT32_MAX;
    return o;
}

static pf_column_key key_of(const plan *p, const leaf *l)
{
    /* Fields of samples are those of all events, trailers those of all types. */
    const bool shared = p->r->type == PERFILE_RECORD_SAMPLE || l->of_trailer;
    return (pf_column_key){
        .field = l->field, .of = shared ? 0 : p->r->type, .nth = l->nth, .apart = p->apart};
}

static pf_shred_op *add_word(plan *p, const pf_column_key *key, unsigned width)
{
    pf_shred_op *o = add_op(p, PF_COLUMNS_WORD, key, width, false);
    o->width = (uint8_t)width;
    p->size += width;
    return o;
}

/* `len` bytes as words, the last of them narrower. */
static void add_words(plan *p, const pf_column_key *of, uint32_t len)
{
    pf_column_key key = *of;
    for (unsigned width = 8; width; width /= 2)
        for (; len >= width; len -= width, key.nth++)
            add_word(p, &key, width);
}

/* Raw data behind its size: a word for each place, which means something else in each tracepoint.
 */
static void add_raw(plan *p, const leaf *size, const leaf *raw)
{
    const uint32_t event =
        raw->width >= 2 ? pf_load_u16(p->r->body.ptr + raw->at, p->x->swapped) : 0;
    const pf_column_key size_key = {.field = size->field, .of = event};
    const pf_column_key key = {.field = raw->field, .of = event};
    pf_shred_op *o = add_word(p, &size_key, size->width);
    o->guarded = p->checked = true;
    o->value = size->number;
    add_words(p, &key, raw->width);
}

/* A blob of whatever is left but the last `behind` bytes, or of exactly `len`. */
static void add_blob(plan *p, const pf_column_key *key, bool fixed, uint32_t bytes, bool words)
{
    pf_shred_op *o = add_op(p, PF_COLUMNS_BLOB, key, 0, words);
    o->unit = 1;
    o->fixed = fixed;
    o->extra = bytes;
    p->varies = p->checked = true;
    p->size += fixed ? bytes : 0;
}

/* A blob whose length follows from the number in front of it. */
static void add_counted(plan *p, const leaf *l, unsigned prefix, uint32_t unit, uint32_t extra)
{
    const pf_column_key key = key_of(p, l);
    const unsigned kind = l->field->kind;
    pf_shred_op *o =
        add_op(p, PF_COLUMNS_BLOB, &key, 0, kind == PERFILE_KIND_CHAIN || kind == PERFILE_KIND_REG);
    o->width = (uint8_t)prefix;
    o->unit = unit;
    o->extra = extra;
    p->varies = p->checked = true;
    p->size += prefix + extra;
}

static uint32_t element_width(const leaf *l)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 4};
    const bool words = l->field->type == PERFILE_STORED_WORDS && l->field->element < sizeof widths;
    return words ? widths[l->field->element] : 1;
}

/* True if the number `n` counts the elements of `l`. */
static bool counts(const leaf *n, const leaf *l)
{
    return n->is_number && n->width > 1 && !l->is_number && n->number <= UINT16_MAX &&
           (l->is_list ? n->number == l->count : n->number * element_width(l) == l->width);
}

/* The call chain behind the instruction pointer at `i`, if all in front of it has a fixed size. */
static const leaf *chain_behind(const plan *p, uint32_t i)
{
    for (uint32_t k = i + 1; k < p->n; k++) {
        const leaf *l = &p->leaves[k];
        if (l->is_number)
            continue;
        return l->field->kind == PERFILE_KIND_CHAIN && counts(l - 1, l) && l[-1].width == 8 ? l
                                                                                            : NULL;
    }
    return NULL;
}

/* The instruction pointer.  One that the call chain repeats is not stored; the word is the second
 * of the chain, behind a marker, or else the first. */
static bool add_ip(plan *p, uint32_t i)
{
    const leaf *ip = &p->leaves[i];
    if (p->r->type != PERFILE_RECORD_SAMPLE || ip->width != 8 || !is_named(ip, "ip"))
        return false;
    const leaf *chain = chain_behind(p, i);
    if (!chain || chain->width < 16)
        return false;
    const uint8_t *body = p->r->body.ptr, *word = body + ip->at;
    const bool second = memcmp(word, body + chain->at + 8, 8) == 0;
    const bool repeated = second || memcmp(word, body + chain->at, 8) == 0;
    const uint32_t offset = second || !repeated ? 8 : 0;
    const pf_column_key key = key_of(p, ip), chain_key = key_of(p, chain);
    pf_shred_op *o =
        repeated ? add_op(p, PF_COLUMNS_REF, &chain_key, 0, true) : add_word(p, &key, 8);
    p->size += repeated ? 8 : 0;
    o->unlike = !repeated;
    o->distance = chain->at + offset - ip->at;
    o->offset = offset;
    p->checked = true;
    return true;
}

/* Two numbers that belong together as one word: of a thread, of a processor. */
static bool is_pair(const plan *p, uint32_t i)
{
    const leaf *a = &p->leaves[i], *b = a + 1;
    return i + 1 < p->n && a->width == 4 && b->width == 4 &&
           ((is_named(a, "pid") && is_named(b, "tid")) ||
            (is_named(a, "cpu") && is_named(b, "res")));
}

/* The operation of the leaf at `i` and of those that go with it; returns how many leaves. */
static uint32_t add_leaf_op(plan *p, uint32_t i)
{
    const leaf *l = &p->leaves[i], *next = l + 1;
    const uint32_t left = p->n - i;
    const pf_column_key key = key_of(p, l);
    if (left > 1 && next->field->kind == PERFILE_KIND_RAW && counts(l, next) &&
        next->width <= PF_SHRED_WORDS_MOST && !p->apart) {
        add_raw(p, l, next);
        return 2;
    }
    if (left > 1 && counts(l, next)) {
        const uint32_t unit = next->is_list ? next->width / next->count : element_width(next);
        if (!next->is_list || next->width % next->count == 0) {
            add_counted(p, next, l->width, unit, 0);
            return 2;
        }
    }
    if (left > 2 && next->is_number && l[2].is_list && counts(l, &l[2]) &&
        l[2].width % l[2].count == 0) {
        add_counted(p, &l[2], l->width, l[2].width / l[2].count, next->width);
        return 3;
    }
    if (is_pair(p, i)) {
        add_word(p, &key, 8);
        return 2;
    }
    if (add_ip(p, i))
        return 1;
    if (l->is_number) {
        add_word(p, &key, l->width);
        return 1;
    }
    if (l->field->flags & PERFILE_FIELD_PAD) {
        add_words(p, &key, l->width);
        return 1;
    }
    const bool text = l->field->type == PERFILE_STORED_TEXT && !p->varies;
    const uint32_t behind = (uint32_t)p->r->body.len - l->at - l->width;
    add_blob(p, &key, !text, text ? behind : l->width, l->field->kind == PERFILE_KIND_REG);
    return 1;
}

static void begin(plan *p)
{
    p->n_ops = p->size = 0;
    p->varies = p->checked = p->bad = false;
}

/* The operations from the fields. */
static bool plan_fields(plan *p)
{
    if (pf_is_of_tool(p->r) || p->x->n_classes >= PF_SHRED_PLANNED || !collect(p))
        return false;
    for (uint32_t i = 0; i < p->n && !p->bad;)
        i += add_leaf_op(p, i);
    return !p->bad;
}

/* The operations for a body of which nothing is known: words if it is short, else one blob. */
static bool plan_bytes(plan *p)
{
    const pf_column_key key = {.of = p->r->type, .apart = p->apart};
    const size_t len = p->r->body.len;
    begin(p);
    if (len <= TOOL_WORDS_MOST && len % 8 == 0 && p->x->n_classes < PF_SHRED_PLANNED)
        add_words(p, &key, (uint32_t)len);
    else
        add_blob(p, &key, false, 0, false);
    return !p->bad;
}

static bool has_room(const plan *p)
{
    return p->n_ops <= PF_COLUMNS_MOST_OPS - p->x->n_ops;
}

pf_shred_class *pf_shred_plan(pf_shred *x, const pf_class_key *key, const perfile_record *r)
{
    plan p = {.x = x, .r = r, .apart = pf_zone_is_apart(r)};
    if (x->n_classes == PF_COLUMNS_MOST_CLASSES ||
        ((!plan_fields(&p) || !has_room(&p)) && (!plan_bytes(&p) || !has_room(&p))))
        return NULL;
    pf_shred_class *c = &x->classes[x->n_classes++];
    *c = (pf_shred_class){.key = *key,
                          .first = x->n_ops,
                          .n = p.n_ops,
                          .size = p.size,
                          .apart = p.apart,
                          .varies = p.varies,
                          .checked = p.checked};
    memcpy(&x->ops[x->n_ops], p.ops, p.n_ops * sizeof *p.ops);
    x->n_ops += p.n_ops;
    return c;
}
