/* Members that a description gives: places, and which member is given for a place; see given.h.
 * Values are read in value.c. */
#include "generate/given.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shorten.h"
#include "schema/command.h"

enum { SHOWN = 60 /* bytes of a word in an error, at most */ };

perfile_status pf_spec_fail(uint32_t line, perfile_error *err, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pf_fail(err, PERFILE_E_USAGE, "spec", "line %u: %s", line, text);
}

/* Places. */

static void append(pf_place *p, const char *text)
{
    const int n = snprintf(p->text + p->len, sizeof p->text - p->len, "%s", text);
    p->len += n > 0 ? (size_t)n : 0;
    p->len = p->len < sizeof p->text ? p->len : sizeof p->text - 1;
}

static void cut(pf_place *p, size_t len)
{
    p->len = len;
    p->text[len] = '\0';
}

static void enter(pf_place *p, const char *name, const char *after)
{
    const size_t before = p->len;
    append(p, name);
    append(p, after);
    p->open[p->n].before = before;
    p->open[p->n].after = p->len;
    p->open[p->n++].item = 0;
}

void pf_place_begin(pf_place *p, const char *text)
{
    p->n = 0;
    cut(p, 0);
    append(p, text);
}

void pf_place_step(pf_place *p, const pf_step *s)
{
    char index[24];
    switch (s->what) {
    case PF_STEP_LIST:
        enter(p, s->member->name, "");
        return;
    case PF_STEP_STRUCT:
        if (s->member->flags & PERFILE_FIELD_FLAT)
            enter(p, "", "");
        else
            enter(p, s->member->name, ".");
        return;
    case PF_STEP_ITEM:
        snprintf(index, sizeof index, "[%" PRIu32 "].", p->open[p->n - 1].item++);
        cut(p, p->open[p->n - 1].after);
        append(p, index);
        return;
    case PF_STEP_LIST_END:
    case PF_STEP_STRUCT_END:
        if (p->n)
            cut(p, p->open[--p->n].before);
        return;
    default:
        return;
    }
}

/* Returns what follows the place and the name in a path: "", ".…" or "[…"; NULL if the path does
 * not begin with them. */
static const char *after(const pf_given_member *m, const pf_place *p, const char *name)
{
    const size_t n = strlen(name);
    if (strncmp(m->path, p->text, p->len) != 0 || strncmp(m->path + p->len, name, n) != 0)
        return NULL;
    const char *rest = m->path + p->len + n;
    return *rest == '\0' || *rest == '.' || *rest == '[' ? rest : NULL;
}

int pf_given_find(const pf_given *g, const pf_place *p, const char *name)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const char *rest = after(&g->at[i], p, name);
        if (rest && !*rest)
            return (int)i;
    }
    return -1;
}

/* Returns true if the member, or a member of it, is given. */
static bool is_given(const pf_given *g, const pf_place *p, const pf_member *m)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (after(&g->at[i], p, m->name))
            return true;
    return false;
}

static bool is_field(const pf_member *m)
{
    return (m->what == PF_MEMBER_FIELD || m->what == PF_MEMBER_ATTR) &&
           m->kind != PERFILE_KIND_COUNT;
}

static bool is_flat(const pf_member *m)
{
    return m->type == PERFILE_STORED_STRUCT && m->flags & PERFILE_FIELD_FLAT;
}

bool pf_given_decides(const pf_given *g, const pf_place *p, const pf_member *condition, bool *holds)
{
    unsigned depth = 1;
    bool otherwise = false;
    for (const pf_member *m = condition + 1; depth && m->what != PF_MEMBER_END; m++) {
        bool given = is_field(m) && is_given(g, p, m);
        if (is_field(m) && is_flat(m))
            for (const pf_member *in = pf_struct_shapes[m->of].members; in->what; in++)
                given = given || (is_field(in) && is_given(g, p, in));
        if (given) {
            *holds = !otherwise;
            return true;
        }
        depth += m->what == PF_MEMBER_WHEN || m->what == PF_MEMBER_SAMPLE;
        depth -= m->what == PF_MEMBER_END_WHEN;
        otherwise = otherwise || (m->what == PF_MEMBER_ELSE && depth == 1);
    }
    return false;
}

bool pf_given_items(const pf_given *g, const pf_place *p, const char *name, size_t *n)
{
    const int at = pf_given_find(g, p, name);
    uint64_t most = 0;
    bool any = at >= 0;
    if (any)
        pf_given_number(g->at[at].value, strlen(g->at[at].value), &most);
    for (uint32_t i = 0; i < g->n && at < 0; i++) {
        const char *rest = after(&g->at[i], p, name);
        if (!rest || *rest != '[')
            continue;
        const uint64_t index = strtoull(rest + 1, NULL, 10);
        most = index + 1 > most ? index + 1 : most;
        any = true;
    }
    *n = (size_t)most;
    return any;
}

/* Paths. */

static bool is_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

static const pf_member *find_flat(const pf_row_shape *shape, const char *name, size_t len,
                                  pf_nearest *near)
{
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END; m++) {
        if (!is_field(m) || is_flat(m))
            continue;
        if (is_word(name, len, m->name))
            return m;
        pf_nearest_offer(near, m->name);
    }
    return NULL;
}

/* Finds a member of the shape, or of a struct whose members belong to it. */
static const pf_member *find(const pf_row_shape *shape, const char *name, size_t len,
                             pf_nearest *near)
{
    const pf_member *found = find_flat(shape, name, len, near);
    for (const pf_member *m = shape->members; m->what != PF_MEMBER_END && !found; m++)
        if (is_field(m) && is_flat(m))
            found = find_flat(&pf_struct_shapes[m->of], name, len, near);
    return found;
}

static perfile_status fail_unknown(uint32_t line, const char *name, const char *shape,
                                   const pf_nearest *near, perfile_error *err)
{
    char similar[150];
    pf_nearest_put(near, similar, sizeof similar);
    return pf_spec_fail(line, err, "%s has no member '%.*s'%s%s%s", shape, SHOWN, name,
                        near->n ? "; did you mean " : "", similar, near->n ? "?" : "");
}

perfile_status pf_given_check(const pf_given_member *m, const char *path, uint32_t line,
                              const pf_row_shape *shape, pf_arena *arena, perfile_error *err)
{
    /* Room for any value but a list. */
    uint64_t to[sizeof(perfile_words) / sizeof(uint64_t) + sizeof(perfile_strings)];
    char name[PF_PLACE_BYTES];
    for (;;) {
        const size_t len = strcspn(path, ".[");
        snprintf(name, sizeof name, "%.*s", (int)(len < SHOWN ? len : SHOWN), path);
        pf_nearest near;
        pf_nearest_begin(&near, name);
        const pf_member *member = find(shape, path, len, &near);
        if (!member)
            return fail_unknown(line, name, shape->name, &near, err);
        const bool list = member->type == PERFILE_STORED_LIST;
        path += len;
        if (!*path)
            return pf_given_store(m, line, member, arena, (uint8_t *)to, err);
        if (list && *path == '[') {
            uint64_t index;
            const size_t digits = strspn(path + 1, "0123456789");
            if (!pf_given_number(path + 1, digits, &index) || index >= PF_GIVEN_ITEMS ||
                (digits > 1 && path[1] == '0') || strncmp(path + 1 + digits, "].", 2) != 0)
                return pf_spec_fail(line, err,
                                    "%s: an item of it is %s[N].member, with N from 0 to %d", name,
                                    name, PF_GIVEN_ITEMS - 1);
            path += digits + 3;
        } else if (member->type == PERFILE_STORED_STRUCT && *path == '.') {
            path++;
        } else {
            return pf_spec_fail(line, err, "%s is not a %s", name,
                                *path == '[' ? "list" : "struct");
        }
        shape = &pf_struct_shapes[member->of];
    }
}
