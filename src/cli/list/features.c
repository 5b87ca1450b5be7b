/* `list features`, every feature section decoded; and `list build-ids`, build ids from the feature
 * BUILD_ID, from HEADER_BUILD_ID records and from mappings, each file once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/damage.h"
#include "cli/fields.h"
#include "cli/json.h"
#include "cli/list/list.h"
#include "cli/print.h"
#include "cli/table.h"

/* Prints a feature section with its decoded content; `error` names the damage.  Members that were
 * decoded in front of the damage are there. */
static void feature_json(const perfile_feature *f)
{
    cli_fields_json out = {0};
    perfile_error err = {0};
    cli_json_object(NULL);
    cli_json_number("feature", f->number);
    cli_json_string("name", perfile_feature_name(f->number));
    cli_json_string("origin", f->origin == PERFILE_ORIGIN_CONTAINER ? "container" : "stream");
    cli_json_decimal("offset", f->offset);
    cli_json_decimal("size", f->size);
    unsigned damage = f->damage;
    if (!damage) {
        cli_json_object("data");
        if (perfile_feature_walk(f, PERFILE_WALK_ALL, &cli_fields_json_visitor, &out, &err) < 0)
            damage = err.damage;
        cli_fields_json_end(&out);
        cli_json_object_end();
    }
    if (damage)
        cli_json_string("error", perfile_damage_name(damage));
    cli_json_object_end();
}

/* The same as text. */
static void feature_text(const perfile_feature *f)
{
    cli_fields_text out = {.indent = 4};
    perfile_error err = {0};
    const char *name = perfile_feature_name(f->number);
    cli_print("%" PRIu32 " %s: offset %" PRIu64 ", %" PRIu64 " bytes\n", f->number,
              name ? name : "(not known)", f->offset, f->size);
    unsigned damage = f->damage;
    if (!damage &&
        perfile_feature_walk(f, PERFILE_WALK_ALL, &cli_fields_text_visitor, &out, &err) < 0)
        damage = err.damage;
    cli_fields_text_end(&out);
    if (damage)
        cli_print("    damaged: %s\n", perfile_damage_text(damage));
}

/* Prints all feature sections; those that cannot be decoded count as damage of the input. */
static bool print_features(cli_listing *l)
{
    cli_check_features(&l->in);
    for (uint32_t i = 0; i < perfile_session_n_features(l->session); i++) {
        const perfile_feature *f = perfile_session_feature_at(l->session, i);
        if (l->json)
            feature_json(f);
        else
            feature_text(f);
    }
    return true;
}

const cli_subject cli_list_features = {
    .name = "features", .member = "features", .print = print_features};

/* A build id and the file that it identifies. */
typedef struct build_id_entry {
    uint8_t id[20]; /* zeros behind `size` */
    uint8_t size;
    uint8_t from; /* FROM_… */
    char *name;   /* allocated */
} build_id_entry;

enum { FROM_FEATURE, FROM_RECORD, FROM_MAPPING };
/* FROM_… in the order in which an entry is preferred if several name the same file. */
static const char *const from_names[] = {"feature", "record", "mapping"};

typedef struct build_id_list {
    build_id_entry *at;
    size_t n, cap;
} build_id_list;

/* Adds an entry with copies of `id` (cut to 20 bytes) and `name`; false if there is no memory. */
static bool add_build_id(cli_listing *l, perfile_bytes id, perfile_bytes name, uint8_t from)
{
    if (!l->collected)
        l->collected = calloc(1, sizeof(build_id_list));
    build_id_list *all = l->collected;
    if (!all)
        return false;
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 64;
        build_id_entry *at = realloc(all->at, cap * sizeof *at);
        if (!at)
            return false;
        all->at = at;
        all->cap = cap;
    }
    build_id_entry x = {.from = from};
    x.size = (uint8_t)(id.len < sizeof x.id ? id.len : sizeof x.id);
    if (x.size)
        memcpy(x.id, id.ptr, x.size);
    x.name = malloc(name.len + 1);
    if (!x.name)
        return false;
    if (name.len)
        memcpy(x.name, name.ptr, name.len);
    x.name[name.len] = 0;
    all->at[all->n++] = x;
    return true;
}

static bool feed_build_ids(cli_listing *l, const perfile_record *r)
{
    perfile_header_build_id x;
    if (r->type != PERFILE_RECORD_HEADER_BUILD_ID ||
        perfile_header_build_id_decode(r, &x, sizeof x, NULL) != PERFILE_OK)
        return true;
    return add_build_id(l, x.build_id, x.filename, FROM_RECORD);
}

/* Adds the entries of the feature BUILD_ID; a damaged section gives none. */
static bool add_feature(cli_listing *l)
{
    const perfile_feature *f = perfile_session_feature(l->session, PERFILE_FEATURE_BUILD_ID);
    perfile_build_ids list;
    perfile_build_id_entry e;
    if (!f || perfile_build_ids_decode(f, &list, sizeof list, NULL) != PERFILE_OK)
        return true;
    while (perfile_build_id_entry_next(&list.build_ids, &e, sizeof e) == PERFILE_OK)
        if (!add_build_id(l, e.id.build_id, e.id.filename, FROM_FEATURE))
            return false;
    return true;
}

/* Adds the build ids of mappings (MMAP2 records may have them). */
static bool add_mappings(cli_listing *l)
{
    const perfile_mapping *m;
    size_t n;
    if (perfile_model_mappings(l->model, &m, &n, NULL) != PERFILE_OK)
        return false;
    for (size_t i = 0; i < n; i++, m++) {
        /* The name of a kernel mapping has the symbol at its start appended:
         * "[kernel.kallsyms]_text". */
        const char *end = m->name[0] == '[' ? strchr(m->name, ']') : NULL;
        perfile_bytes id = {m->build_id, m->build_id_size};
        perfile_bytes name = {(const uint8_t *)m->name,
                              end ? (size_t)(end + 1 - m->name) : strlen(m->name)};
        if (id.len && !add_build_id(l, id, name, FROM_MAPPING))
            return false;
    }
    return true;
}

/* Compares by name and id: 0 for entries that are listed once. */
static int compare_entries(const build_id_entry *x, const build_id_entry *y)
{
    int d = strcmp(x->name, y->name);
    if (!d)
        d = memcmp(x->id, y->id, sizeof x->id);
    return d ? d : x->size - y->size;
}

/* Compares for qsort(): equal entries by their source, the preferred one first. */
static int compare_for_sort(const void *a, const void *b)
{
    const build_id_entry *x = a;
    const build_id_entry *y = b;
    int d = compare_entries(x, y);
    return d ? d : x->from - y->from;
}

/* Sorts all entries and prints each file once. */
static bool print_build_ids(cli_listing *l)
{
    static const char *const columns[] = {"BUILD-ID", "FROM", "FILE"};
    if (!add_feature(l) || !add_mappings(l))
        return false;
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    const build_id_list *all = l->collected;
    if (all && all->n)
        qsort(all->at, all->n, sizeof *all->at, compare_for_sort);
    for (size_t i = 0; all && i < all->n; i++) {
        const build_id_entry *x = &all->at[i];
        if (i && compare_entries(x, x - 1) == 0)
            continue;
        if (l->json) {
            cli_json_object(NULL);
            cli_json_bytes("build_id", (perfile_bytes){x->id, x->size});
            cli_json_string("from", from_names[x->from]);
            cli_json_string("filename", x->name);
            cli_json_object_end();
            continue;
        }
        char hex[2 * sizeof x->id + 1] = "-";
        for (unsigned k = 0; k < x->size; k++)
            snprintf(hex + 2 * k, 3, "%02x", x->id[k]);
        cli_cell_string(t, hex);
        cli_cell_string(t, from_names[x->from]);
        cli_cell_string(t, x->name);
    }
    bool ok = l->json || cli_table_print(t);
    cli_table_free(t);
    return ok;
}

static void release_build_ids(cli_listing *l)
{
    build_id_list *all = l->collected;
    for (size_t i = 0; all && i < all->n; i++)
        free(all->at[i].name);
    if (all)
        free(all->at);
    free(all);
}

const cli_subject cli_list_build_ids = {.name = "build-ids",
                                        .member = "build_ids",
                                        .model = true,
                                        .feed = feed_build_ids,
                                        .print = print_build_ids,
                                        .release = release_build_ids};
