/* Batches as arrays of the Arrow C data interface (arrow.h).
 *
 * A shape is a list of parts: the row, its columns, elements of lists, dictionaries.  Schema and
 * array are made from it in the same way.  Each part has a block that contains the structs of its
 * children; a child that is moved out stays valid, because it has a block of its own.  All arrays
 * of a batch share the batch, and the last one that is released frees it; consumers may release
 * arrays in any thread. */
#include "arrow/arrow.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* The role of a part in its column. */
typedef enum part_role {
    PART_ROW,      /* the table itself */
    PART_COLUMN,   /* the items of a column */
    PART_ELEMENTS, /* the elements of all its lists */
    PART_TEXTS     /* its distinct texts */
} part_role;

typedef struct pf_arrow_part {
    part_role role;
    pf_column_type type;
    size_t column;         /* index in the table */
    size_t parent;         /* index of its parent part */
    size_t number;         /* among the children of the parent */
    size_t n_children;     /* without the dictionary */
    bool has_dictionary;   /* its numbers are indices of texts */
    size_t name, metadata; /* offsets in the texts */
    size_t n_metadata;     /* size; 0: none */
} part;

/* Metadata. */

static bool put_int(pf_buffer *out, size_t n)
{
    const int32_t number = (int32_t)n;
    return pf_buffer_append(out, &number, sizeof number);
}

static bool put_text(pf_buffer *out, const char *text)
{
    const size_t n = strlen(text);
    return put_int(out, n) && pf_buffer_append(out, text, n);
}

/* Appends key-value pairs.  Pairs with an empty value are skipped. */
static bool put_metadata(pf_arrow_shape *s, part *p, const char *const (*pairs)[2], size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept += pairs[i][1][0] != 0;
    p->metadata = s->texts.len;
    bool ok = !kept || put_int(&s->texts, kept);
    for (size_t i = 0; i < n && ok; i++)
        ok = !pairs[i][1][0] ||
             (put_text(&s->texts, pairs[i][0]) && put_text(&s->texts, pairs[i][1]));
    p->n_metadata = s->texts.len - p->metadata;
    return ok;
}

/* Shapes. */

/* Appends a part with its name.  Returns NULL when out of memory. */
static part *add_part(pf_arrow_shape *s, part p, const char *name)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? 2 * s->cap : 64;
        part *more = pf_realloc(s->parts, cap, sizeof *more);
        if (!more)
            return NULL;
        s->parts = more;
        s->cap = cap;
    }
    p.name = s->texts.len;
    if (!pf_buffer_append(&s->texts, name, strlen(name) + 1))
        return NULL;
    if (p.role == PART_TEXTS)
        s->parts[p.parent].has_dictionary = true;
    else if (s->n)
        p.number = s->parts[p.parent].n_children++;
    s->parts[s->n] = p;
    return &s->parts[s->n++];
}

static bool is_list(pf_column_type type)
{
    return type == PF_COLUMN_LIST || type == PF_COLUMN_TEXTS || type == PF_COLUMN_I64S;
}

/* Appends the parts of column `i` of the table, without its members, below the part at `parent`. */
static bool add_column(pf_arrow_shape *s, const pf_table_about *about, size_t i, size_t parent)
{
    const pf_column_about *c = &about->columns[i];
    const char *const pairs[][2] = {{"unit", c->unit}, {"source", c->source}, {"doc", c->doc}};
    size_t at = s->n;
    part *p = add_part(
        s, (part){.role = PART_COLUMN, .type = c->type, .column = i, .parent = parent}, c->name);
    if (!p || !put_metadata(s, p, pairs, sizeof pairs / sizeof pairs[0]))
        return false;
    const bool list = is_list(c->type);
    const part elements = {.role = PART_ELEMENTS, .type = c->type, .column = i, .parent = at};
    if (list && !add_part(s, elements, "item"))
        return false;
    if (list)
        at++;
    const part texts = {.role = PART_TEXTS, .type = c->type, .column = i, .parent = at};
    return (c->type != PF_COLUMN_TEXT && c->type != PF_COLUMN_TEXTS) || add_part(s, texts, "");
}

/* Appends the parts of a column and its members. */
static bool add_columns(pf_arrow_shape *s, const pf_table_about *about, size_t i)
{
    /* Members are children of the structure; in a LIST that is its element. */
    const size_t structure = s->n + (about->columns[i].type == PF_COLUMN_LIST);
    bool ok = add_column(s, about, i, 0);
    for (i++; i < about->n && about->columns[i].is_member && ok; i++)
        ok = add_column(s, about, i, structure);
    return ok;
}

bool pf_arrow_shape_make(pf_arrow_shape *s, const pf_table_about *about, const size_t *columns,
                         size_t n_columns)
{
    char version[16];
    snprintf(version, sizeof version, "%d", PF_TABLES_VERSION);
    const char *const pairs[][2] = {{"perfile.schema", version}, {"perfile.table", about->name}};
    part *row = add_part(s, (part){.role = PART_ROW}, "");
    bool ok = row && put_metadata(s, row, pairs, sizeof pairs / sizeof pairs[0]);
    for (size_t i = 0; i < n_columns && ok; i++)
        ok = add_columns(s, about, columns[i]);
    return ok;
}

void pf_arrow_shape_free(pf_arrow_shape *s)
{
    pf_free(s->parts);
    pf_buffer_free(&s->texts);
    *s = (pf_arrow_shape){0};
}

bool pf_arrow_shape_has(const pf_arrow_shape *s, size_t column)
{
    size_t i = 0;
    while (i < s->n && (s->parts[i].role != PART_COLUMN || s->parts[i].column != column))
        i++;
    return i < s->n;
}

/* Schemas. */

static const char *format_of(const part *p)
{
    static const char *const items[] = {
        [PF_COLUMN_BOOL] = "b",       [PF_COLUMN_I32] = "i",    [PF_COLUMN_I64] = "l",
        [PF_COLUMN_U64] = "L",        [PF_COLUMN_F64] = "g",    [PF_COLUMN_TEXT] = "i",
        [PF_COLUMN_WALL] = "tsu:UTC", [PF_COLUMN_TEXTS] = "+l", [PF_COLUMN_I64S] = "+l",
        [PF_COLUMN_GROUP] = "+s",     [PF_COLUMN_LIST] = "+l"};
    switch (p->role) {
    case PART_ROW:
        return "+s";
    case PART_COLUMN:
        return items[p->type];
    case PART_ELEMENTS:
        return p->type == PF_COLUMN_LIST ? "+s" : p->type == PF_COLUMN_TEXTS ? "i" : "l";
    case PART_TEXTS:
        break;
    }
    return "u";
}

/* The block of a schema; pointers to the children, name and metadata follow `below`. */
typedef struct schema_block {
    struct ArrowSchema **children;
    struct ArrowSchema below[]; /* the children, then the dictionary */
} schema_block;

/* Children that were moved out, or not made, have no release function. */
static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children[i]->release)
            s->children[i]->release(s->children[i]);
    if (s->dictionary && s->dictionary->release)
        s->dictionary->release(s->dictionary);
    pf_free(s->private_data);
    s->private_data = NULL;
    s->release = NULL;
}

/* Makes the schema of a part, without its children. */
static bool make_schema(const pf_arrow_shape *s, const part *p, struct ArrowSchema *out)
{
    const char *name = (const char *)s->texts.ptr + p->name;
    const size_t n = p->n_children + p->has_dictionary, n_name = strlen(name) + 1;
    const size_t pointers = sizeof(schema_block) + n * sizeof(struct ArrowSchema);
    const size_t texts = pointers + p->n_children * sizeof(struct ArrowSchema *);
    char *bytes = pf_alloc(1, texts + n_name + p->n_metadata);
    if (!bytes)
        return false;
    schema_block *block = (void *)bytes;
    block->children = (void *)(bytes + pointers);
    for (size_t i = 0; i < p->n_children; i++)
        block->children[i] = &block->below[i];
    memcpy(bytes + texts, name, n_name);
    if (p->n_metadata)
        memcpy(bytes + texts + n_name, s->texts.ptr + p->metadata, p->n_metadata);
    *out =
        (struct ArrowSchema){.format = format_of(p),
                             .name = bytes + texts,
                             .metadata = p->n_metadata ? bytes + texts + n_name : NULL,
                             .flags = p->role == PART_COLUMN ? ARROW_FLAG_NULLABLE : 0,
                             .n_children = (int64_t)p->n_children,
                             .children = p->n_children ? block->children : NULL,
                             .dictionary = p->has_dictionary ? &block->below[p->n_children] : NULL,
                             .release = release_schema,
                             .private_data = block};
    return true;
}

bool pf_arrow_schema(const pf_arrow_shape *s, struct ArrowSchema *out)
{
    struct ArrowSchema top = {0};
    struct ArrowSchema **made = pf_alloc(s->n, sizeof *made);
    bool ok = made;
    for (size_t i = 0; i < s->n && ok; i++) {
        const part *p = &s->parts[i];
        if (p->role == PART_ROW)
            made[i] = &top;
        else if (p->role == PART_TEXTS)
            made[i] = made[p->parent]->dictionary;
        else
            made[i] = made[p->parent]->children[p->number];
        ok = make_schema(s, p, made[i]);
    }
    pf_free(made);
    if (ok)
        *out = top;
    else if (top.release)
        top.release(&top);
    return ok;
}

/* Arrays. */

/* A batch that is shared by arrays. */
typedef struct owner {
    pf_table_batch *batch;
    uint32_t n; /* unreleased arrays */
} owner;

static owner *join(owner *o)
{
    __atomic_add_fetch(&o->n, 1, __ATOMIC_RELAXED);
    return o;
}

static void leave(owner *o)
{
    if (__atomic_sub_fetch(&o->n, 1, __ATOMIC_ACQ_REL))
        return;
    pf_table_batch_free(o->batch);
    pf_free(o);
}

/* The block of an array; pointers to the children follow `below`. */
typedef struct array_block {
    owner *owner;
    const void *buffers[3];
    struct ArrowArray **children;
    struct ArrowArray below[]; /* the children, then the dictionary */
} array_block;

static void release_array(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->release)
            a->children[i]->release(a->children[i]);
    if (a->dictionary && a->dictionary->release)
        a->dictionary->release(a->dictionary);
    array_block *block = a->private_data;
    leave(block->owner);
    pf_free(block);
    a->private_data = NULL;
    a->release = NULL;
}

/* Offsets for zero texts: their buffer is empty, which some consumers do not expect. */
static const int32_t no_offsets[1];

/* Returns the number of elements in all lists of a column. */
static size_t n_elements(const pf_table_column *c)
{
    const int32_t *offsets = (const void *)c->offsets.ptr;
    const size_t n = c->offsets.len / sizeof *offsets;
    return n ? (size_t)offsets[n - 1] : 0;
}

/* Sets length, null count and buffers of a part. */
static void set_values(const part *p, const pf_table_batch *b, struct ArrowArray *out,
                       const void **buffers)
{
    const pf_table_column *c = &b->columns[p->column];
    size_t n = c->n;
    out->n_buffers = p->type == PF_COLUMN_GROUP ? 1 : 2;
    switch (p->role) {
    case PART_ROW:
        n = b->rows;
        out->n_buffers = 1;
        break;
    case PART_COLUMN:
        out->null_count = (int64_t)c->nulls;
        buffers[0] = c->nulls ? c->valid.ptr : NULL;
        buffers[1] = is_list(p->type) ? c->offsets.ptr : c->data.ptr;
        break;
    case PART_ELEMENTS:
        n = n_elements(c);
        out->n_buffers = p->type == PF_COLUMN_LIST ? 1 : 2;
        buffers[1] = c->data.ptr;
        break;
    case PART_TEXTS:
        n = c->texts.n;
        out->n_buffers = 3;
        buffers[1] = n ? (const void *)c->texts.offsets.ptr : no_offsets;
        buffers[2] = c->texts.bytes.ptr;
        break;
    }
    out->length = (int64_t)n;
}

/* Makes the array of a part, without its children. */
static bool make_array(const part *p, owner *o, struct ArrowArray *out)
{
    const size_t n = p->n_children + p->has_dictionary;
    const size_t pointers = sizeof(array_block) + n * sizeof(struct ArrowArray);
    char *bytes = pf_alloc(1, pointers + p->n_children * sizeof(struct ArrowArray *));
    if (!bytes)
        return false;
    array_block *block = (void *)bytes;
    block->owner = join(o);
    block->children = (void *)(bytes + pointers);
    for (size_t i = 0; i < p->n_children; i++)
        block->children[i] = &block->below[i];
    *out =
        (struct ArrowArray){.n_children = (int64_t)p->n_children,
                            .buffers = block->buffers,
                            .children = p->n_children ? block->children : NULL,
                            .dictionary = p->has_dictionary ? &block->below[p->n_children] : NULL,
                            .release = release_array,
                            .private_data = block};
    set_values(p, o->batch, out, block->buffers);
    return true;
}

bool pf_arrow_array(const pf_arrow_shape *s, pf_table_batch *b, struct ArrowArray *out)
{
    struct ArrowArray top = {0};
    struct ArrowArray **made = pf_alloc(s->n, sizeof *made);
    owner *o = pf_alloc(1, sizeof *o);
    if (!made || !o) {
        pf_free(made);
        pf_free(o);
        return false;
    }
    *o = (owner){.batch = b, .n = 1}; /* counts this function until it returns */
    bool ok = true;
    for (size_t i = 0; i < s->n && ok; i++) {
        const part *p = &s->parts[i];
        if (p->role == PART_ROW)
            made[i] = &top;
        else if (p->role == PART_TEXTS)
            made[i] = made[p->parent]->dictionary;
        else
            made[i] = made[p->parent]->children[p->number];
        ok = make_array(p, o, made[i]);
    }
    pf_free(made);
    if (!ok) {
        if (top.release)
            top.release(&top);
        o->batch = NULL; /* the caller keeps it */
    } else {
        *out = top;
    }
    leave(o);
    return ok;
}
