/* Listing the names of the tables, and perfile_expr_names().  Structs in structs are walked with a
 * stack of frames, not by recursion. */
#include "expr/program.h"

enum { MOST_DEPTH = 6 }; /* the tables nest less deeply */

/* A struct whose members are being listed. */
typedef struct frame {
    const pf_member *next;
    size_t prefix; /* length of what its members have in front: "header_attr.attr." */
} frame;

/* Replaces what is behind the first `at` bytes of `name` by `text`, cut to what fits; returns the
 * new length. */
static size_t put(char name[PF_EXPR_NAME_BYTES], size_t at, const char *text)
{
    size_t n = strlen(text);
    if (n > PF_EXPR_NAME_BYTES - 1 - at)
        n = PF_EXPR_NAME_BYTES - 1 - at;
    memcpy(name + at, text, n);
    name[at + n] = 0;
    return at + n;
}

/* PERFILE_EXPR_… of a member. */
static uint32_t type_of(const pf_member *m)
{
    switch (m->type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        return PERFILE_EXPR_TEXT;
    case PERFILE_STORED_WORDS:
    case PERFILE_STORED_LIST:
        return PERFILE_EXPR_LIST;
    default:
        return pf_type_width(m->type) && m->kind != PERFILE_KIND_SCALE ? PERFILE_EXPR_NUMBER
                                                                       : PERFILE_EXPR_OTHER;
    }
}

/* Shows one member. */
static void show_member(const pf_member *m, const char *record, const char *list, const char *name,
                        pf_expr_show_fn *show, void *user)
{
    perfile_expr_name what = {.record = record,
                              .name = name,
                              .list = list,
                              .doc = m->doc,
                              .words = perfile_kind_words(m->kind),
                              .type = type_of(m),
                              .kind = m->kind};
    show(user, &what);
}

/* Shows the members of list elements.  Lists and structs in them cannot be searched further. */
static void list_elements(const pf_row_shape *shape, const char *record, const char *list,
                          pf_expr_show_fn *show, void *user)
{
    char name[PF_EXPR_NAME_BYTES];
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END; m++) {
        if (!m->name)
            continue;
        put(name, put(name, 0, "."), m->name);
        show_member(m, record, list, name, show, user);
    }
}

void pf_expr_list_shape(const pf_row_shape *shape, const char *record, const char *list,
                        pf_expr_show_fn *show, void *user)
{
    char name[PF_EXPR_NAME_BYTES] = "";
    frame frames[MOST_DEPTH] = {{shape->members, 0}};
    if (list) {
        list_elements(shape, record, list, show, user);
        return;
    }
    for (unsigned depth = 1; depth;) {
        frame *f = &frames[depth - 1];
        const pf_member *m = f->next++;
        if (m->what == PF_MEMBER_END) {
            depth--;
            continue;
        }
        if (!m->name)
            continue;
        size_t end = put(name, f->prefix, m->name);
        if (!(m->flags & PERFILE_FIELD_FLAT))
            show_member(m, record, NULL, name, show, user);
        if (m->type == PERFILE_STORED_LIST)
            list_elements(&pf_struct_shapes[m->of], record, name, show, user);
        if (m->type != PERFILE_STORED_STRUCT || depth == MOST_DEPTH)
            continue;
        size_t prefix = f->prefix;
        if (!(m->flags & PERFILE_FIELD_FLAT))
            prefix = put(name, end, ".");
        frames[depth++] = (frame){pf_struct_shapes[m->of].members, prefix};
    }
}

void perfile_expr_names(void (*name)(void *user, const perfile_expr_name *what), void *user)
{
    const pf_expr_common *c;
    for (size_t i = 0; (c = pf_expr_common_at(i)); i++) {
        perfile_expr_name what = {.record = "", .name = c->name, .doc = c->doc, .kind = c->kind};
        what.type = c->classes;
        what.words = c->of == PF_OF_CPUMODE ? perfile_vocabulary_find("cpumode") : NULL;
        name(user, &what);
    }
    for (unsigned i = 0; i < pf_all_rows(); i++)
        pf_expr_list_shape(pf_shape_at(i), pf_shape_at(i)->name, NULL, name, user);
    pf_expr_list_shape(&pf_struct_shapes[PF_SHAPE_sample_id], "sample_id", NULL, name, user);
}
