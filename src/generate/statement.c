/* Reads a statement; see statement.h.
 *
 * The first word says what the statement is about; `name=value` words are checked against the
 * tables here, so that errors have a line, and stored when the struct is made. */
#include "generate/statement.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/shorten.h"
#include "schema/command.h"

enum {
    MOST_ITEMS = 100000,    /* statements of one kind */
    MOST_RECORDS = 1000000, /* of all statements */
    ARENA_BYTES = 64 << 20  /* for the value that is checked */
};

/* Suggestions. */

/* Fails because a word is unknown. */
static perfile_status fail_word(const pf_statement *s, const char *what, const char *word,
                                const pf_nearest *near)
{
    char similar[150];
    pf_nearest_put(near, similar, sizeof similar);
    return pf_spec_fail(s->line, s->err, "unknown %s '%.40s'%s%s%s", what, word,
                        near->n ? "; did you mean " : "", similar, near->n ? "?" : "");
}

/* Items. */

static pf_spec_item *add_item(pf_spec_list *list)
{
    if (list->n == list->room) {
        const uint32_t room = list->room ? 2 * list->room : 8;
        pf_spec_item *more = pf_realloc(list->at, room, sizeof *more);
        if (!more)
            return NULL;
        list->at = more;
        list->room = room;
    }
    pf_spec_item *item = &list->at[list->n++];
    *item = (pf_spec_item){.count = 1, .attr = PF_SPEC_ANY, .misc = PF_SPEC_ANY};
    list->said = true;
    return item;
}

/* Begins an item; fails if there are too many. */
static perfile_status begin_item(const pf_statement *s, pf_spec_list *list, pf_spec_item **item)
{
    if (list->n == MOST_ITEMS)
        return pf_fail(s->err, PERFILE_E_LIMIT, "spec", "line %u: more than %d of these", s->line,
                       MOST_ITEMS);
    *item = add_item(list);
    if (!*item)
        return pf_fail_nomem(s->err, "spec");
    (*item)->line = (*item)->given.line = s->line;
    return PERFILE_OK;
}

static perfile_status read_bounded(const pf_statement *s, const char *name, const char *value,
                                   uint64_t least, uint64_t most, uint64_t *to)
{
    if (pf_given_number(value, strlen(value), to) && *to >= least && *to <= most)
        return PERFILE_OK;
    return pf_spec_fail(s->line, s->err,
                        "%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%.40s'", name,
                        least, most, value);
}

static perfile_status read_ids(const pf_statement *s, pf_spec_item *item, const char *value)
{
    while (*value) {
        const size_t len = strcspn(value, ",");
        if (item->n_ids == PF_SPEC_MOST_IDS ||
            !pf_given_number(value, len, &item->ids[item->n_ids]))
            return pf_spec_fail(s->line, s->err, "ids takes 1 to %d numbers, not '%.40s'",
                                PF_SPEC_MOST_IDS, value);
        item->n_ids++;
        value += len + (value[len] == ',');
    }
    return item->n_ids
               ? PERFILE_OK
               : pf_spec_fail(s->line, s->err, "ids takes 1 to %d numbers", PF_SPEC_MOST_IDS);
}

/* Reads what no member of the struct is: ids of an event, event and misc of a record.  Returns
 * PERFILE_END if it is another name. */
static perfile_status read_own(const pf_statement *s, pf_spec_item *item, const char *name,
                               const char *value)
{
    uint64_t v = 0;
    perfile_status st = PERFILE_END;
    if (!item->row && strcmp(name, "ids") == 0)
        return read_ids(s, item, value);
    if (!item->row && strcmp(name, "size") == 0)
        return pf_spec_fail(s->line, s->err, "the statement attr-size sets the size of all attrs");
    if (item->is_record && strcmp(name, "attr") == 0) {
        st = read_bounded(s, name, value, 0, PF_GENERATE_MOST_EVENTS - 1, &v);
        item->attr = (int32_t)v;
    } else if (item->is_record && strcmp(name, "misc") == 0) {
        if (pf_type_is_wide(item->row->number))
            return pf_spec_fail(s->line, s->err, "records of simpleperf have no misc");
        st = read_bounded(s, name, value, 0, UINT16_MAX, &v);
        item->misc = (int32_t)v;
    }
    return st;
}

/* Reads `name=value`. */
static perfile_status read_member(const pf_statement *s, pf_spec_item *item,
                                  pf_given_member *members, char *word)
{
    static const char trailer[] = "sample_id.";
    char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return pf_spec_fail(s->line, s->err, "'%.60s' is not MEMBER=VALUE", word);
    *equals = '\0';
    const pf_given_member m = {.path = word, .value = equals + 1};
    if (strlen(word) >= PF_PLACE_BYTES)
        return pf_spec_fail(s->line, s->err, "'%.60s' is too long", word);
    perfile_status st = read_own(s, item, word, m.value);
    if (st != PERFILE_END)
        return st;
    for (uint32_t i = 0; i < item->given.n; i++)
        if (strcmp(members[i].path, word) == 0)
            return pf_spec_fail(s->line, s->err, "%.60s is given twice", word);
    const bool of_trailer = strncmp(word, trailer, sizeof trailer - 1) == 0 && item->is_record &&
                            item->row->number < PERFILE_RECORD_USER;
    pf_arena scratch;
    pf_arena_init(&scratch, ARENA_BYTES, "spec");
    st = pf_given_check(&m, of_trailer ? word + sizeof trailer - 1 : word, s->line,
                        of_trailer ? &pf_struct_shapes[PF_SHAPE_sample_id] : item->shape, &scratch,
                        s->err);
    pf_arena_free(&scratch);
    if (st == PERFILE_OK)
        members[item->given.n++] = m;
    return st;
}

/* Reads the members of a statement from the word number `i` on. */
static perfile_status read_members(const pf_statement *s, pf_spec_item *item, unsigned i)
{
    void *p = NULL;
    perfile_status st = PERFILE_OK;
    if (s->n > i + PF_GIVEN_MOST)
        return pf_spec_fail(s->line, s->err, "more than %d members", PF_GIVEN_MOST);
    if (s->n > i)
        st = pf_arena_get(&s->spec->arena, (s->n - i) * sizeof(pf_given_member), &p, s->err);
    item->given.at = p;
    for (; i < s->n && st == PERFILE_OK; i++)
        st = read_member(s, item, p, s->words[i]);
    return st;
}

/* Statements. */

static perfile_status read_event(pf_statement *s)
{
    pf_spec_item *item;
    if (s->spec->events.n == PF_GENERATE_MOST_EVENTS)
        return pf_spec_fail(s->line, s->err, "more than %d events", (int)PF_GENERATE_MOST_EVENTS);
    perfile_status st = begin_item(s, &s->spec->events, &item);
    if (st != PERFILE_OK)
        return st;
    item->shape = &pf_struct_shapes[PF_SHAPE_attr];
    return read_members(s, item, 1);
}

/* `none` is a list without items. */
static perfile_status read_none(const pf_statement *s, pf_spec_list *list)
{
    list->said = true;
    return list->n || s->n > 2 ? pf_spec_fail(s->line, s->err, "'none' goes with nothing else")
                               : PERFILE_OK;
}

static perfile_status need_name(const pf_statement *s)
{
    return s->n > 1
               ? PERFILE_OK
               : pf_spec_fail(s->line, s->err, "%s needs the name of a type, or none", s->words[0]);
}

/* Sets *at to the row with the name that the statement gives. */
static perfile_status find_row(pf_statement *s, const pf_row *rows, size_t n, const char *kind,
                               size_t *at)
{
    pf_nearest near;
    pf_nearest_begin(&near, s->words[1]);
    for (*at = 0; *at < n && strcmp(rows[*at].name, s->words[1]) != 0; ++*at)
        pf_nearest_offer(&near, rows[*at].name);
    return *at < n ? PERFILE_OK : fail_word(s, kind, s->words[1], &near);
}

static perfile_status read_record(pf_statement *s)
{
    size_t n, i;
    const pf_row *rows = pf_record_rows(&n);
    pf_spec_item *item;
    perfile_status st = need_name(s);
    if (st != PERFILE_OK)
        return st;
    if (strcmp(s->words[1], "none") == 0)
        return read_none(s, &s->spec->records);
    st = find_row(s, rows, n, "record type", &i);
    if (st != PERFILE_OK)
        return st;
    st = begin_item(s, &s->spec->records, &item);
    if (st != PERFILE_OK)
        return st;
    item->is_record = true;
    item->row = &rows[i];
    item->shape = pf_shape_at((unsigned)i);
    const bool counted = s->n > 2 && !strchr(s->words[2], '=');
    uint64_t count = 1;
    if (counted)
        st = read_bounded(s, "record", s->words[2], 1, PF_GENERATE_MOST_ROUNDS, &count);
    item->count = (uint32_t)count;
    s->spec->n_records += count;
    if (st == PERFILE_OK && s->spec->n_records > MOST_RECORDS)
        st = pf_fail(s->err, PERFILE_E_LIMIT, "spec", "line %u: more than %d records", s->line,
                     MOST_RECORDS);
    return st == PERFILE_OK ? read_members(s, item, counted ? 3 : 2) : st;
}

static perfile_status read_feature(pf_statement *s)
{
    size_t n, i;
    const pf_row *rows = pf_feature_rows(&n);
    pf_spec_item *item;
    perfile_status st = need_name(s);
    if (st != PERFILE_OK)
        return st;
    if (strcmp(s->words[1], "none") == 0)
        return read_none(s, &s->spec->features);
    st = find_row(s, rows, n, "feature", &i);
    if (st != PERFILE_OK)
        return st;
    for (uint32_t k = 0; k < s->spec->features.n; k++)
        if (s->spec->features.at[k].row == &rows[i])
            return pf_spec_fail(s->line, s->err, "feature %s is given twice", rows[i].name);
    st = begin_item(s, &s->spec->features, &item);
    if (st != PERFILE_OK)
        return st;
    item->row = &rows[i];
    item->shape = pf_feature_shape_at(i);
    return read_members(s, item, 2);
}

/* Settings: they are options of the command, too. */

typedef struct word {
    const char *name;
    uint32_t value;
} word;

static const word forms[] = {{"perf.data", PERFILE_FORM_FILE},       {"pipe", PERFILE_FORM_PIPE},
                             {"dir", PF_GENERATE_DIRECTORY},         {"v1", PF_GENERATE_VERSION_1},
                             {"simpleperf", PF_GENERATE_SIMPLEPERF}, {0}},
                  orders[] = {
                      {"little", PERFILE_BYTE_ORDER_LITTLE}, {"big", PERFILE_BYTE_ORDER_BIG}, {0}};

/* A statement that sets a number, or one of `words`. */
typedef struct setting {
    const char *name;
    size_t at; /* of a uint32_t in pf_generate_options */
    uint32_t least, most;
    const word *words;
} setting;

#define AT(member) offsetof(pf_generate_options, member)
static const setting settings[] = {
    {.name = "to", .at = AT(form), .words = forms},
    {.name = "byte-order", .at = AT(byte_order), .words = orders},
    {.name = "attr-size", .at = AT(attr_size), .least = 64, .most = 4096},
    {.name = "compress", .at = AT(compress), .least = 1, .most = 22},
    {.name = "compressed2", .at = AT(compress2), .least = 1, .most = 22},
    {.name = "events", .at = AT(n_events), .least = 1, .most = PF_GENERATE_MOST_EVENTS},
    {.name = "records", .at = AT(rounds), .least = 1, .most = PF_GENERATE_MOST_ROUNDS},
};

static perfile_status read_setting(const pf_statement *s, const setting *set)
{
    uint64_t v = 0;
    if (s->n != 2)
        return pf_spec_fail(s->line, s->err, "%s takes one value", set->name);
    if (set->words) {
        pf_nearest near;
        pf_nearest_begin(&near, s->words[1]);
        for (const word *w = set->words; w->name; w++) {
            if (strcmp(w->name, s->words[1]) == 0)
                v = w->value;
            pf_nearest_offer(&near, w->name);
        }
        if (!v)
            return fail_word(s, strcmp(set->name, "to") == 0 ? "form" : "byte order", s->words[1],
                             &near);
    } else {
        perfile_status st = read_bounded(s, set->name, s->words[1], set->least, set->most, &v);
        if (st != PERFILE_OK)
            return st;
    }
    const uint32_t narrow = (uint32_t)v;
    memcpy((uint8_t *)&s->spec->said + set->at, &narrow, sizeof narrow);
    return PERFILE_OK;
}

perfile_status pf_statement_read(pf_statement *s)
{
    static const struct {
        const char *name;
        perfile_status (*read)(pf_statement *s);
    } statements[] = {{"event", read_event}, {"record", read_record}, {"feature", read_feature}};
    pf_nearest near;
    pf_nearest_begin(&near, s->words[0]);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (strcmp(statements[i].name, s->words[0]) == 0)
            return statements[i].read(s);
        pf_nearest_offer(&near, statements[i].name);
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strcmp(settings[i].name, s->words[0]) == 0)
            return read_setting(s, &settings[i]);
        pf_nearest_offer(&near, settings[i].name);
    }
    pf_nearest_offer(&near, "seed");
    if (strcmp(s->words[0], "seed") != 0)
        return fail_word(s, "statement", s->words[0], &near);
    if (s->n != 2)
        return pf_spec_fail(s->line, s->err, "seed takes one value");
    return read_bounded(s, "seed", s->words[1], 1, UINT64_MAX, &s->spec->said.seed);
}
