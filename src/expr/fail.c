/* Errors of an expression, with the part of the text that they refer to:
 *
 *     column 19: there is no perid; did you mean period?
 *       type == SAMPLE && perid > 1e6
 *                         ^
 *
 * The offset in the text is also the offset of the error. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "perfile/text.h"
#include "expr/parse.h"
#include "base/shorten.h"
#include "expr/program.h"
#include "schema/command.h"

enum {
    SHOWN = 44, /* bytes of the text that are shown */
    BEFORE = 30 /* at most this many of them before the offset */
};

/* Returns true for bytes of a UTF-8 character after its first. */
static bool is_inside_character(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* Returns the number of characters (not bytes) in text[0 .. n). */
static uint32_t characters(const char *text, size_t n)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += !is_inside_character(text[i]);
    return found;
}

/* Writes two lines to `out`: the text around `at`, and a caret below that character.  Control
 * characters become spaces, and no UTF-8 character is cut. */
static void show_place(const char *text, uint32_t at, char *out, size_t size)
{
    char part[SHOWN + 1];
    uint32_t from = at > BEFORE ? at - BEFORE : 0;
    while (from < at && is_inside_character(text[from]))
        from++;
    size_t n = 0;
    for (; n < SHOWN && text[from + n]; n++) {
        char c = text[from + n];
        part[n] = (uint8_t)c < ' ' || c == 127 ? ' ' : c;
    }
    while (n && text[from + n] && is_inside_character(text[from + n]))
        n--;
    part[n] = 0;
    snprintf(out, size, "\n  %s\n  %*s^", part, (int)characters(text + from, at - from), "");
}

/* Sets the error from a message that may contain arbitrary bytes of the text. */
static bool fail(pf_compiler *c, uint32_t at, perfile_status status, const char *what)
{
    char place[2 * SHOWN + 16], shown[256];
    /* Line ends in the message are escaped, because line ends separate the lines that show the
     * text. */
    perfile_printable((perfile_bytes){(const uint8_t *)what, strlen(what)}, shown, sizeof shown);
    show_place(c->text, at, place, sizeof place);
    int room = (int)(sizeof c->err->message - strlen(place)) - 24; /* 24: "column 1048576: " */
    c->status = pf_fail(c->err, status, "expression", "column %u: %.*s%s",
                        characters(c->text, at) + 1, room, shown, place);
    pf_error_at(c->err, at);
    return false;
}

bool pf_code_fail(pf_compiler *c, uint32_t at, perfile_status status, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail(c, at, status, what);
}

bool pf_code_fail_token(pf_compiler *c, uint32_t at, const perfile_error *err)
{
    if (err->status == PERFILE_E_USAGE)
        return fail(c, at, err->status, err->message);
    c->status = err->status;
    if (c->err)
        *c->err = *err;
    return false;
}

/* Suggestions for unknown names and words in error messages.  All candidates are offered to
 * base/shorten.h, which keeps the most similar ones. */

/* Offers the bit fields of a number: `op` and data_src.opp both suggest data_src.op.  Other names
 * must match exactly, because there are many short ones. */
static void offer_parts(pf_nearest *suggestions, const perfile_expr_name *what)
{
    char name[PF_EXPR_NAME_BYTES];
    size_t n = strlen(what->name);
    bool inside = strncmp(suggestions->wanted, what->name, n) == 0 && suggestions->wanted[n] == '.';
    for (uint32_t i = 0; what->words && what->words->bits && i < what->words->n; i++) {
        const char *part = what->words->bits[i].name;
        bool same = pf_expr_same_word(part, suggestions->wanted);
        if (!same && !inside)
            continue;
        snprintf(name, sizeof name, "%.60s.%.60s", what->name, part);
        pf_nearest_offer_as(suggestions, name, same ? suggestions->wanted : name, same);
    }
}

/* Offers a field by its full name, and by the last part of its name. */
static void offer_name(void *user, const perfile_expr_name *what)
{
    pf_nearest *suggestions = user;
    const char *last = strrchr(what->name, '.');
    if (what->list) /* only valid inside any(), all(), count(): see offer_element() */
        return;
    pf_nearest_offer(suggestions, what->name);
    if (last)
        pf_nearest_offer_as(suggestions, what->name, last + 1, 1);
    offer_parts(suggestions, what);
}

/* Offers a field of the row that the unknown name begins with, as "mmap2.pgoff". */
static void offer_in_row(void *user, const perfile_expr_name *what)
{
    char name[2 * PF_EXPR_NAME_BYTES];
    if (what->list)
        return;
    snprintf(name, sizeof name, "%s.%s", what->record, what->name);
    pf_nearest_offer_as(user, name, what->name, 0);
}

/* Offers a member of list elements; its name begins with a dot. */
static void offer_element(void *user, const perfile_expr_name *what)
{
    pf_nearest_offer_as(user, what->name, what->name + 1, 0);
    offer_parts(user, what);
}

/* Names that only a provider knows, and the equivalent in the tables. */
static const struct {
    const char *name;
    const char *hint; /* for an error message */
} provided[] = {
    {"comm", "; comm.comm is the field of COMM records"},
    {"cgroup", "; cgroup.path is the field of CGROUP records"},
    {"dso", ""},
    {"sym", ""},
    {"symoff", ""},
    {"srcline", ""},
    {"caller", ""},
    {"stack", ""},
    {"addr_sym", ""},
    {"addr_dso", ""},
};

enum { N_PROVIDED = sizeof provided / sizeof provided[0] };

const char *pf_expr_provider_hint(const char *name)
{
    for (size_t i = 0; i < N_PROVIDED; i++)
        if (strcmp(name, provided[i].name) == 0)
            return provided[i].hint;
    return NULL;
}

/* Offers the names that are valid without a row prefix. */
void pf_expr_offer_all(const perfile_expr *e, pf_nearest *suggestions)
{
    uint32_t handle;
    for (size_t i = 0; i < N_PROVIDED && e->has_provider; i++)
        if (e->provider.knows(e->provider.user, provided[i].name, &handle))
            pf_nearest_offer(suggestions, provided[i].name);
    perfile_expr_names(offer_name, suggestions);
}

/* Writes a message such as "mmap2 records have no pgof; did you mean mmap2.pgoff?" */
void pf_expr_explain_unknown(const perfile_expr *e, const char *name, const pf_slot *list,
                             bool functions, char *out, size_t size)
{
    static const char *const words[] = {"any", "all", "count", "has"};
    pf_nearest suggestions;
    char similar[160];
    const char *rest = name;
    const char *row = list ? NULL : pf_expr_split_row(name, &rest);
    const char *hint = list ? NULL : pf_expr_provider_hint(name);
    if (hint) {
        snprintf(out, size, "%s is not known here%s", name, hint);
        return;
    }
    pf_nearest_begin(&suggestions, rest);
    for (uint32_t i = 0; list && i < list->n_ways; i++)
        if (e->ways[list->ways + i].type == PERFILE_STORED_LIST)
            pf_expr_list_shape(&pf_struct_shapes[e->ways[list->ways + i].of], "", "", offer_element,
                               &suggestions);
    for (unsigned i = 0; row && i < pf_all_rows(); i++)
        if (row == pf_shape_at(i)->name)
            pf_expr_list_shape(pf_shape_at(i), row, NULL, offer_in_row, &suggestions);
    if (row == pf_struct_shapes[PF_SHAPE_sample_id].name)
        pf_expr_list_shape(&pf_struct_shapes[PF_SHAPE_sample_id], row, NULL, offer_in_row,
                           &suggestions);
    if (!list && !row)
        pf_expr_offer_all(e, &suggestions);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && functions && !list && !row; i++)
        pf_nearest_offer(&suggestions, words[i]);
    pf_nearest_put(&suggestions, similar, sizeof similar);
    snprintf(out, size, "%s%s %.40s%s%s%s",
             list  ? "elements"
             : row ? row
                   : "there is",
             list  ? " have no"
             : row ? " records have no"
                   : " no",
             rest, similar[0] ? "; did you mean " : "", similar, similar[0] ? "?" : "");
}

/* Offers all words of a vocabulary (may be NULL). */
static void offer_words(pf_nearest *suggestions, const perfile_vocabulary *v)
{
    for (uint32_t i = 0; v && i < v->n; i++)
        pf_nearest_offer(suggestions, v->bits ? v->bits[i].name : v->words[i].name);
}

void pf_expr_suggest_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                           size_t size)
{
    const char *misc;
    pf_nearest suggestions;
    pf_nearest_begin(&suggestions, word);
    for (unsigned i = 0; s->of == PF_OF_TYPE && i < pf_all_rows(); i++)
        pf_nearest_offer(&suggestions, pf_row_at(i)->name);
    for (size_t i = 0; s->of == PF_OF_MISC && (misc = pf_expr_misc_word(i)); i++)
        pf_nearest_offer(&suggestions, misc);
    if (s->of == PF_OF_CPUMODE)
        offer_words(&suggestions, pf_vocabulary_find("cpumode"));
    for (uint32_t i = 0; i < s->n_ways; i++)
        offer_words(&suggestions, e->ways[s->ways + i].words);
    pf_nearest_put(&suggestions, out, size);
}

/* Listing the names of the tables, and perfile_expr_names().  Nested structs are walked with a
 * stack of frames instead of recursion. */

enum { MOST_DEPTH = 6 }; /* the tables nest less deeply */

/* A struct with members that are being listed. */
typedef struct frame {
    const pf_member *next;
    size_t prefix; /* length of the prefix of its members: "header_attr.attr." */
} frame;

/* Replaces everything after the first `at` bytes of `name` by `text`, cut to fit.  Returns the new
 * length. */
static size_t put(char name[PF_EXPR_NAME_BYTES], size_t at, const char *text)
{
    size_t n = strlen(text);
    if (n > PF_EXPR_NAME_BYTES - 1 - at)
        n = PF_EXPR_NAME_BYTES - 1 - at;
    memcpy(name + at, text, n);
    name[at + n] = 0;
    return at + n;
}

/* Shows one member. */
static void show_member(const pf_member *m, const char *record, const char *list, const char *name,
                        pf_expr_show_fn *show, void *user)
{
    perfile_expr_name what = {.record = record,
                              .name = name,
                              .list = list,
                              .doc = m->doc,
                              .words = pf_kind_words(m->kind),
                              .type = pf_expr_type_of(m),
                              .kind = m->kind};
    show(user, &what);
}

/* Shows the members of list elements.  Lists and structs in them cannot be searched further. */
static void list_elements(const pf_row_shape *shape, const char *record, const char *list,
                          pf_expr_show_fn *show, void *user)
{
    char name[PF_EXPR_NAME_BYTES];
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END; m++) {
        if (m->what != PF_MEMBER_FIELD && m->what != PF_MEMBER_ATTR)
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
        if (m->what != PF_MEMBER_FIELD && m->what != PF_MEMBER_ATTR)
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
        what.words = c->of == PF_OF_CPUMODE ? pf_vocabulary_find("cpumode") : NULL;
        name(user, &what);
    }
    for (unsigned i = 0; i < pf_all_rows(); i++)
        pf_expr_list_shape(pf_shape_at(i), pf_shape_at(i)->name, NULL, name, user);
    pf_expr_list_shape(&pf_struct_shapes[PF_SHAPE_sample_id], "sample_id", NULL, name, user);
}
