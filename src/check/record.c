/* What holds for all records, whatever their type: header, strings, trailer, room. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/byte_order.h"
#include "check/rules.h"
#include "check/times.h"
#include "core/layout.h"
#include "core/parts.h"
#include "schema/any_record.h"
#include "schema/rows.h"
#include "schema/family.h"

/* What decoding left over. */
typedef struct pf_decoded {
    const pf_row *row; /* NULL for types without a row: nothing was decoded */
    perfile_bytes body, trailer;
    size_t left; /* bytes of the body behind the last field */
} pf_decoded;

/* Strings at the end of records, by the rows of the tables. */
typedef struct string_row {
    uint16_t row; /* PF_AT_… */
    uint16_t place;
    const char *field;
} string_row;
static const string_row strings[] = {
#define STR(id, name, kind, length, doc) {PF_AT_##id, offsetof(perfile_##id, name), #id "." #name},
#include "format/records.def"
};

enum { EVENT_TYPE_NAME = 64 };

/* What newer versions of perf check of records, from format/versions.def. */
static const bool unaligned[PF_CHECK_TYPES] = {
#define UNALIGNED(type) [PERFILE_RECORD_##type] = true,
#include "format/versions.def"
};
static const struct {
    uint16_t from, to;
} unswapped[PF_CHECK_TYPES] = {
#define UNSWAPPED(type, from, to) [PERFILE_RECORD_##type] = {from, to},
#include "format/versions.def"
};
static const uint16_t swapped[PF_CHECK_TYPES] = {
#define SWAPPED(type, bytes) [PERFILE_RECORD_##type] = (bytes),
#include "format/versions.def"
};
static const uint16_t least[PF_CHECK_TYPES] = {
#define LEAST(type, bytes) [PERFILE_RECORD_##type] = (bytes),
#include "format/versions.def"
};

static void header_is_odd(pf_check *c, const perfile_record *r)
{
    char buf[24];
    const char *name = pf_check_type_name(r->type, buf);
    size_t size = perfile_record_size(r);
    bool odd = r->type >= PF_CHECK_TYPES || pf_odd_size[r->type];
    if (size % 8 && (r->type >= PF_CHECK_TYPES || !unaligned[r->type]))
        c->odd_sizes++;
    if (size % 8 && !odd)
        pf_find(c, PERFILE_RULE_V_203, PF_FULL, r, "record.size",
                "%s of %zu bytes, no multiple of 8", name, size);
    if (r->type >= PERFILE_RECORD_USER)
        return;
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned unknown = r->misc & ~pf_misc_known(r->type);
    if (mode >= PERFILE_CPUMODE_KNOWN)
        pf_find(c, PERFILE_RULE_V_211, PF_FULL, r, "record.misc", "%s with cpumode %u", name, mode);
    else if (unknown)
        pf_find(c, PERFILE_RULE_V_211, PF_FULL, r, "record.misc",
                "%s with unknown bits 0x%x in misc", name, unknown);
}

void pf_check_header(pf_check *c, const perfile_record *r)
{
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK, odd = 0;
    if (r->type < PERFILE_RECORD_USER) /* most have no bit but the cpumode */
        odd =
            mode >= PERFILE_CPUMODE_KNOWN || (r->misc != mode && r->misc & ~pf_misc_known(r->type));
    if (r->body.len & 7 || odd)
        header_is_odd(c, r);
}

/* The last field that could be read. */
typedef struct last_field {
    const char *name;
} last_field;

static void note_field(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)v;
    ((last_field *)user)->name = f->name;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static unsigned fixed_words(const perfile_layout *l)
{
    unsigned n = 0;
    for (size_t i = 0; i < sizeof l->sample_slot; i++)
        n += l->sample_slot[i] >= 0;
    return n;
}

/* Which rule a body breaks that is too short. */
static unsigned rule_of_short(const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_SAMPLE) {
        const perfile_layout *l = perfile_record_layout(r, NULL);
        return l && r->body.len < 8 * (size_t)fixed_words(l) ? PERFILE_RULE_V_301
                                                             : PERFILE_RULE_V_303;
    }
    const pf_row *row = pf_row_of(r);
    return row && r->body.len < row->fixed ? PERFILE_RULE_V_206 : pf_rule_of_type(r->type);
}

void pf_check_undecodable(pf_check *c, const perfile_record *r, unsigned damage)
{
    static const perfile_visitor visitor = {sizeof visitor, note_field, note_field, ignore_end};
    char buf[24];
    const char *name = pf_check_type_name(r->type, buf);
    c->flags = PERFILE_FINDING_UNDECODABLE;
    if (damage == PERFILE_DAMAGE_NO_ATTR) {
        pf_find(c, PERFILE_RULE_V_502, PF_FULL, r, "record", "%s before any event", name);
        return;
    }
    if (damage == PERFILE_DAMAGE_UNKNOWN_ID) {
        pf_find(c, PERFILE_RULE_V_210, PF_FULL, r, "record.id", "%s: %s", name,
                perfile_damage_text(damage));
        return;
    }
    last_field last = {NULL};
    perfile_status st = perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &last, NULL);
    unsigned rule =
        damage == PERFILE_DAMAGE_SHORT_BODY ? rule_of_short(r) : pf_rule_of_type(r->type);
    if (st != PERFILE_OK && last.name)
        pf_find(c, rule, PF_FULL, r, last.name, "%s of %zu bytes: %s, behind its field '%s'", name,
                perfile_record_size(r), perfile_damage_text(damage), last.name);
    else
        pf_find(c, rule, PF_FULL, r, "record", "%s of %zu bytes: %s", name, perfile_record_size(r),
                perfile_damage_text(damage));
}

/* A string that ends the record: its NUL, its padding, and that nothing follows. */
static void check_string(pf_check *c, const perfile_record *r, const pf_decoded *d,
                         perfile_bytes text, const char *field)
{
    size_t behind = text.ptr ? (size_t)(d->body.ptr + d->body.len - (text.ptr + text.len)) : 0;
    char buf[24];
    if (behind == 0 || text.ptr[text.len] != 0) {
        unsigned rule = pf_rule_of_type(r->type);
        /* perf 3.8 cut long names of event types to their place, and left no NUL. */
        bool full = r->type == PERFILE_RECORD_HEADER_EVENT_TYPE && text.len == EVENT_TYPE_NAME;
        pf_find(c, rule == PERFILE_RULE_V_206 ? PERFILE_RULE_V_208 : rule,
                full ? PF_LESSER : PF_FULL, r, field, "%s: the string %s",
                pf_check_type_name(r->type, buf), full ? "fills its place" : "has no end");
        return;
    }
    if (r->type >= PERFILE_RECORD_USER)
        return;
    for (size_t i = 1; i < behind; i++)
        if (text.ptr[text.len + i]) {
            pf_find(c, PERFILE_RULE_V_209, PF_FULL, r, field,
                    "%s: byte %zu behind the string is 0x%02x", pf_check_type_name(r->type, buf), i,
                    text.ptr[text.len + i]);
            break;
        }
    uint32_t damage;
    const perfile_layout *l = perfile_record_layout(r, &damage);
    size_t padding = 8 - text.len % 8;
    if (l && l->trailer_size && !d->trailer.len)
        pf_find(c, PERFILE_RULE_V_216, PF_FULL, r, field, "%s without its trailer of %u bytes",
                pf_check_type_name(r->type, buf), l->trailer_size);
    else if (behind != padding)
        pf_find(c, PERFILE_RULE_V_216, PF_FULL, r, field,
                "%s: %zu bytes from the end of the string to the %s, not %zu",
                pf_check_type_name(r->type, buf), behind,
                d->trailer.len ? "trailer" : "end of the record", padding);
}

static bool check_strings(pf_check *c, const perfile_record *r, const pf_decoded *d, const void *v)
{
    bool any = false;
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (&pf_record_table[strings[i].row] != d->row)
            continue;
        any = true;
        perfile_bytes text;
        memcpy(&text, (const char *)v + strings[i].place, sizeof text);
        if (text.ptr)
            check_string(c, r, d, text, strings[i].field);
    }
    return any;
}

/* Whether the id of the trailer stands where some versions of perf do not swap the record. */
static bool is_unswapped(const perfile_record *r, const perfile_sample_id *t)
{
    size_t words = 1; /* from the end */
    if (!(t->present & PERFILE_SAMPLE_IDENTIFIER)) {
        words += t->present & PERFILE_SAMPLE_CPU ? 1 : 0;
        words += t->present & PERFILE_SAMPLE_STREAM_ID ? 1 : 0;
    }
    size_t place = perfile_record_size(r) - 8 * words;
    return place >= unswapped[r->type].from && place < unswapped[r->type].to;
}

static void check_trailer_id(pf_check *c, const perfile_record *r, const perfile_sample_id *t)
{
    uint64_t id = t->present & PERFILE_SAMPLE_IDENTIFIER ? t->identifier : t->id;
    if (!(t->present & (PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID)) || id == 0 || !c->has_ids)
        return;
    c->unswapped_ids += is_unswapped(r, t);
    if (c->has_last && id == c->last_id)
        return;
    const perfile_event *e = perfile_session_event_by_id(c->session, id);
    if (!e) {
        pf_find(c, PERFILE_RULE_V_210, PF_LESSER, r, "sample_id.id", "no event has id %" PRIu64,
                id);
    } else if (e->index < c->n_events) {
        c->has_last = true;
        c->last_id = id;
        c->last_owner = e->index;
        pf_check_note_id(c, e, id);
    }
}

static void check_trailer(pf_check *c, const perfile_record *r)
{
    perfile_sample_id t;
    if (perfile_sample_id_decode(r, &t, sizeof t, NULL) != PERFILE_OK)
        return;
    check_trailer_id(c, r, &t);
    bool has_cpu = t.present & PERFILE_SAMPLE_CPU;
    if (t.present & PERFILE_SAMPLE_TIME)
        pf_check_time(c, r, t.time, has_cpu ? t.cpu : UINT32_MAX);
    if (!has_cpu)
        return;
    if (t.res)
        pf_find(c, PERFILE_RULE_V_306, PF_FULL, r, "sample_id.res",
                "0x%" PRIx32 " beside processor %" PRIu32, t.res, t.cpu);
    if (c->n_cpus && t.cpu >= c->n_cpus && t.cpu != UINT32_MAX)
        pf_find(c, PERFILE_RULE_V_213, PF_FULL, r, "sample_id.cpu",
                "processor %" PRIu32 ", the machine has %" PRIu32, t.cpu, c->n_cpus);
}

static void check_room(pf_check *c, const perfile_record *r, const pf_decoded *d, bool has_string)
{
    char buf[24];
    uint32_t damage;
    const perfile_layout *l = perfile_record_layout(r, &damage);
    const char *name = pf_check_type_name(r->type, buf);
    if (l && l->trailer_size && !d->trailer.len &&
        r->body.len < (size_t)d->row->fixed + l->trailer_size)
        pf_find(c, PERFILE_RULE_V_206, PF_LESSER, r, "sample_id",
                "%s of %zu bytes has no room for its trailer of %u", name, perfile_record_size(r),
                l->trailer_size);
    else if (d->left >= 8 && !has_string) /* less is padding */
        pf_find(c, PERFILE_RULE_V_207, PF_FULL, r, "record", "%s: %zu bytes behind the last field",
                name, d->left);
}

/* Decodes any record; 0, or the damage that its decoder meets. */
static unsigned decode(const perfile_record *r, pf_any_record *out, pf_decoded *d)
{
    pf_parts p;
    perfile_error why;
    *d = (pf_decoded){.row = pf_row_of(r), .body = r->body};
    if (!d->row)
        return 0;
    if (pf_record_parts(r, &p, &why) != PERFILE_OK)
        return why.damage;
    d->body = p.body;
    d->trailer = p.trailer;
    pf_context k = pf_record_context(r, &p);
    pf_cursor c = pf_cur(p.body, r->flags & PERFILE_REC_SWAPPED);
    memset(out, 0, d->row->size);
    d->row->decode(&k, &c, out);
    d->left = pf_cur_left(&c);
    return c.bad;
}

static void check_type(pf_check *c, const perfile_record *r)
{
    if (r->type == 0)
        pf_find(c, PERFILE_RULE_V_205, PF_FULL, r, "record.type", "a record of type 0");
    else if (!pf_row_of(r))
        pf_find(c, PERFILE_RULE_V_204, PF_FULL, r, "record.type",
                "records of type %" PRIu32 " are not known", r->type);
}

void pf_check_other(pf_check *c, const perfile_record *r)
{
    pf_any_record any;
    pf_decoded d;
    unsigned damage = decode(r, &any, &d);
    if (damage) {
        pf_check_undecodable(c, r, damage);
    } else if (!d.row) {
        pf_find(c, PERFILE_RULE_V_204, PF_FULL, r, "record.type",
                "records of type %" PRIu32 " are not known", perfile_record_stored_type(r));
    } else if (d.left >= sizeof(uint64_t)) { /* less is padding */
        pf_find(c, PERFILE_RULE_V_207, PF_FULL, r, "record", "%s: %zu bytes behind the last field",
                d.row->name, d.left);
    }
}

void pf_check_record(pf_check *c, const perfile_record *r)
{
    pf_any_record any;
    pf_decoded d;
    c->last_type = r->type;
    pf_check_header(c, r);
    if (r->type < PF_CHECK_TYPES) {
        c->too_short += perfile_record_size(r) < least[r->type];
        c->swapped_beyond += perfile_record_size(r) < swapped[r->type];
    }
    c->aux_payloads += r->type == PERFILE_RECORD_AUXTRACE && r->extra.len;
    if (r->type == PERFILE_RECORD_FINISHED_ROUND) {
        pf_check_round(c);
        return;
    }
    unsigned damage = decode(r, &any, &d);
    if (damage) {
        pf_check_undecodable(c, r, damage);
        return;
    }
    if (!d.row) {
        check_type(c, r);
        return;
    }
    bool has_string = check_strings(c, r, &d, &any);
    if (r->type < PERFILE_RECORD_USER) {
        check_room(c, r, &d, has_string);
        if (d.trailer.len)
            check_trailer(c, r);
        pf_check_kernel(c, r, &any, d.left);
    } else {
        pf_check_user(c, r, &any, d.left);
    }
}
