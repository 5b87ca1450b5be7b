/* Makes the keys of a struct from its shape; see keys.h. */
#include "undump/keys.h"

#include <assert.h>

#include "base/alloc.h"
#include "schema/command.h"

enum { NESTED = 8 /* maximum depth of FLAT structs, and of conditions */ };

/* State while the members of a shape are read. */
typedef struct reading {
    pf_undump_keys *k;
    uint32_t room_keys, room_guards;
    /* Open shapes: a FLAT struct is read in place of its member. */
    struct {
        const pf_member *next;
        uint32_t at;
    } open[NESTED];
    unsigned depth;
    uint8_t guards[NESTED]; /* open conditions, counted from 1 */
    unsigned n_open;
    bool no_memory;
} reading;

static void add_key(reading *r, pf_undump_key key)
{
    pf_undump_keys *k = r->k;
    void *more = pf_array_more(k->keys, k->n_keys, &r->room_keys, sizeof *k->keys);
    if (!more) {
        r->no_memory = true;
        return;
    }
    k->keys = more;
    key.guard = r->n_open ? r->guards[r->n_open - 1] : 0;
    k->keys[k->n_keys++] = key;
    assert(k->n_keys <= PF_KEYS_MOST);
}

static void open_guard(reading *r, pf_undump_guard guard)
{
    pf_undump_keys *k = r->k;
    void *more = pf_array_more(k->guards, k->n_guards, &r->room_guards, sizeof *k->guards);
    if (!more) {
        r->no_memory = true;
        return;
    }
    k->guards = more;
    guard.around = r->n_open ? r->guards[r->n_open - 1] : 0;
    k->guards[k->n_guards++] = guard;
    assert(r->n_open < NESTED && k->n_guards < UINT8_MAX);
    r->guards[r->n_open++] = (uint8_t)k->n_guards;
}

/* Adds bit fields as keys.  Reserved ones have a name that begins with _ and are optional, because
 * they are shown only if they are not 0. */
static void add_parts(reading *r, const pf_member *m, uint16_t at, unsigned least_width)
{
    const perfile_vocabulary *v = pf_kind_words(m->kind);
    for (uint32_t i = 0; i < v->n; i++)
        if (v->bits[i].width >= least_width)
            add_key(r, (pf_undump_key){.name = v->bits[i].name,
                                       .member = m,
                                       .bits = &v->bits[i],
                                       .at = at,
                                       .how = PF_FILL_PART,
                                       .required = v->bits[i].name[0] != '_'});
}

static unsigned how_to_fill(const pf_member *m)
{
    if (m->flags & PERFILE_FIELD_CALC)
        return PF_FILL_KNOWN;
    switch (m->type) {
    case PERFILE_STORED_TEXT:
        return PF_FILL_TEXT;
    case PERFILE_STORED_BLOB:
        return m->kind == PERFILE_KIND_BULK ? PF_FILL_CRC : PF_FILL_BYTES;
    case PERFILE_STORED_WORDS:
        return PF_FILL_WORDS;
    case PERFILE_STORED_STRINGS:
        return PF_FILL_STRINGS;
    case PERFILE_STORED_STRUCT:
        return PF_FILL_STRUCT;
    case PERFILE_STORED_LIST:
        return PF_FILL_LIST;
    default:
        return m->kind == PERFILE_KIND_ATTR_FLAGS ? PF_FILL_FLAGS : PF_FILL_NUMBER;
    }
}

/* Adds the key of a member, or the keys of its parts.  The members of a FLAT struct are read
 * next. */
static void add_member(reading *r, const pf_member *m, uint32_t base)
{
    const uint16_t at = (uint16_t)(base + m->at);
    if (m->kind == PERFILE_KIND_COUNT || m->kind == PERFILE_KIND_ZSTD)
        return;
    if (m->type == PERFILE_STORED_STRUCT && m->flags & PERFILE_FIELD_FLAT) {
        assert(r->depth + 1 < NESTED);
        r->depth++;
        r->open[r->depth].next = pf_struct_shapes[m->of].members;
        r->open[r->depth].at = at;
        return;
    }
    if (m->kind == PERFILE_KIND_BRANCH_FLAGS) {
        add_parts(r, m, at, 1);
        return;
    }
    const unsigned how = how_to_fill(m);
    add_key(r, (pf_undump_key){.name = how == PF_FILL_CRC ? "crc32" : m->name,
                               .member = m,
                               .at = at,
                               .how = (uint8_t)how,
                               .required = m->what != PF_MEMBER_ATTR});
    if (how == PF_FILL_FLAGS)
        add_parts(r, m, at, 2);
}

static void read_member(reading *r, const pf_member *m, uint32_t base)
{
    const uint16_t at = (uint16_t)(base + m->at);
    switch (m->what) {
    case PF_MEMBER_FIELD:
    case PF_MEMBER_ATTR:
        add_member(r, m, base);
        break;
    case PF_MEMBER_WHEN:
        open_guard(r, (pf_undump_guard){.at = at});
        break;
    case PF_MEMBER_SAMPLE:
        open_guard(r, (pf_undump_guard){.at = at, .bit = m->bit});
        break;
    case PF_MEMBER_ELSE:
        assert(r->n_open > 0);
        r->n_open--;
        open_guard(r, (pf_undump_guard){.at = at, .otherwise = r->guards[r->n_open]});
        break;
    case PF_MEMBER_END_WHEN:
        assert(r->n_open > 0);
        r->n_open--;
        break;
    default:
        break;
    }
}

static void read_shape(reading *r, const pf_row_shape *shape, uint32_t at)
{
    r->depth = 0;
    r->open[0].next = shape->members;
    r->open[0].at = at;
    while (!r->no_memory) {
        const pf_member *m = r->open[r->depth].next;
        if (m->what != PF_MEMBER_END) {
            r->open[r->depth].next++;
            read_member(r, m, r->open[r->depth].at);
        } else if (r->depth-- == 0) {
            return;
        }
    }
}

pf_undump_keys *pf_undump_keys_new(const pf_row_shape *shape, const pf_row_shape *also,
                                   uint32_t also_at)
{
    reading r = {.k = pf_alloc(1, sizeof *r.k)};
    if (!r.k)
        return NULL;
    r.k->size = (uint32_t)(also ? also_at + also->size : shape->size);
    read_shape(&r, shape, 0);
    if (also)
        read_shape(&r, also, also_at);
    if (!r.no_memory)
        return r.k;
    pf_undump_keys_free(r.k);
    return NULL;
}

void pf_undump_keys_free(pf_undump_keys *k)
{
    if (!k)
        return;
    pf_free(k->keys);
    pf_free(k->guards);
    pf_free(k);
}
