/* Rules for all records except samples, regardless of their type: header, size, strings and their
 * padding, trailer.
 *
 * A record is decoded once, with the function of its table row (schema/rows.h), into a
 * pf_any_record.  Then the rules of its class (kernel.c, user.c) get the struct.  A record that
 * cannot be decoded has exactly one finding with PERFILE_FINDING_UNDECODABLE, and no other rule
 * examines it (fuzz/fuzz_check.c tests that).  Facts about types come from tables: rules.def and
 * misc.def, and versions.def for the counters that traits.c uses. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/byte_order.h"
#include "check/check.h"
#include "core/layout.h"
#include "core/swap.h"
#include "schema/rows.h"
#include "core/command.h"
#include "base/command.h"

/* The results of decode() besides the struct itself. */
typedef struct pf_decoded {
    const pf_row *row;           /* NULL for types without a row: nothing was decoded */
    perfile_bytes body, trailer; /* trailer.len is 0 without a trailer */
    size_t left;                 /* bytes of the body after the last field */
} pf_decoded;

/* Fields that are a string at the end of a record (STR in records.def). */
typedef struct string_field {
    uint16_t row;           /* PF_AT_… */
    uint16_t struct_offset; /* offset of the perfile_bytes member in the decoded struct */
    const char *field;
} string_field;
static const string_field string_fields[] = {
#define STR(id, name, kind, length, doc) {PF_AT_##id, offsetof(perfile_##id, name), #id "." #name},
#include "format/records.def"
};

enum { EVENT_TYPE_NAME = 64 /* bytes of the name in HEADER_EVENT_TYPE */ };

/* Facts about versions of perf by record type, from format/versions.def: types that may have any
 * size; the byte range that is not swapped; the number of bytes that are swapped even if the record
 * is shorter; the size below which a record is rejected. */
static const bool any_size_allowed[PF_CHECK_TYPES] = {
#define UNALIGNED(type) [PERFILE_RECORD_##type] = true,
#include "format/versions.def"
};
static const struct {
    uint16_t from, to;
} unswapped_range[PF_CHECK_TYPES] = {
#define UNSWAPPED(type, from, to) [PERFILE_RECORD_##type] = {from, to},
#include "format/versions.def"
};
static const uint16_t swapped_bytes[PF_CHECK_TYPES] = {
#define SWAPPED(type, bytes) [PERFILE_RECORD_##type] = (bytes),
#include "format/versions.def"
};
static const uint16_t min_size[PF_CHECK_TYPES] = {
#define LEAST(type, bytes) [PERFILE_RECORD_##type] = (bytes),
#include "format/versions.def"
};

/* Reports an odd size (V-203) or odd misc bits (V-211).  Called for few records only. */
static void report_header(pf_check *c, const perfile_record *r)
{
    char buf[24];
    const char *name = pf_check_type_name(r->type, buf);
    size_t size = perfile_record_size(r);
    bool odd = r->type >= PF_CHECK_TYPES || pf_odd_size[r->type];
    /* versions.def and rules.def do not list the same types: perf accepts some sizes that V-203
     * does not accept, and the other way round. */
    if (size % 8 && (r->type >= PF_CHECK_TYPES || !any_size_allowed[r->type]))
        c->traits.unaligned_sizes++;
    if (size % 8 && !odd)
        pf_report(c, PERFILE_RULE_V_203, PF_FULL, r, "record.size",
                  "%s of %zu bytes, not a multiple of 8", name, size);
    if (r->type >= PERFILE_RECORD_USER)
        return;
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned unknown = r->misc & ~pf_misc_known(r->type);
    if (mode >= PERFILE_MISC_CPUMODE_KNOWN)
        pf_report(c, PERFILE_RULE_V_211, PF_FULL, r, "record.misc", "%s with cpumode %u", name,
                  mode);
    else if (unknown)
        pf_report(c, PERFILE_RULE_V_211, PF_FULL, r, "record.misc",
                  "%s with unknown bits 0x%x in misc", name, unknown);
}

/* A quick test that nearly all records pass; report_header() has the details. */
void pf_check_header(pf_check *c, const perfile_record *r)
{
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK, odd = 0;
    if (r->type < PERFILE_RECORD_USER) /* most have no bit but the cpumode */
        odd = mode >= PERFILE_MISC_CPUMODE_KNOWN ||
              (r->misc != mode && r->misc & ~pf_misc_known(r->type));
    if (r->body.len & 7 || odd)
        report_header(c, r);
}

/* A walk stops at the first field that cannot be read.  This is the name of the last field that
 * could be read. */
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

/* Returns the number of 64-bit words of a sample that have a fixed offset. */
static unsigned fixed_words(const perfile_layout *l)
{
    unsigned n = 0;
    for (size_t i = 0; i < sizeof l->sample_slot; i++)
        n += l->sample_slot[i] >= 0;
    return n;
}

/* Returns the rule that a record with too short a body breaks: V-301 (samples) or V-206 if even the
 * fixed part does not fit, else the rule of the variable part. */
static unsigned rule_of_short(const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_SAMPLE) {
        const perfile_layout *l = pf_record_layout(r, NULL);
        return l && r->body.len < 8 * (size_t)fixed_words(l) ? PERFILE_RULE_V_301
                                                             : PERFILE_RULE_V_303;
    }
    const pf_row *row = pf_row_of(r);
    return row && r->body.len < row->fixed ? PERFILE_RULE_V_206 : pf_rule_of_type(r->type);
}

/* See check.h.  The message has the kind of damage, and the last field that could be read. */
void pf_check_undecodable(pf_check *c, const perfile_record *r, unsigned damage)
{
    static const perfile_visitor visitor = {sizeof visitor, note_field, note_field, ignore_end};
    char buf[24];
    const char *name = pf_check_type_name(r->type, buf);
    c->found.flags = PERFILE_FINDING_UNDECODABLE;
    if (damage == PERFILE_DAMAGE_NO_ATTR) {
        pf_report(c, PERFILE_RULE_V_502, PF_FULL, r, "record", "%s before any event", name);
        return;
    }
    if (damage == PERFILE_DAMAGE_UNKNOWN_ID) {
        pf_report(c, PERFILE_RULE_V_210, PF_FULL, r, "record.id", "%s: %s", name,
                  pf_damage_text(damage));
        return;
    }
    last_field last = {NULL};
    perfile_status st = perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &last, NULL);
    unsigned rule =
        damage == PERFILE_DAMAGE_SHORT_BODY ? rule_of_short(r) : pf_rule_of_type(r->type);
    if (st != PERFILE_OK && last.name)
        pf_report(c, rule, PF_FULL, r, last.name, "%s of %zu bytes: %s, after its field '%s'", name,
                  perfile_record_size(r), pf_damage_text(damage), last.name);
    else
        pf_report(c, rule, PF_FULL, r, "record", "%s of %zu bytes: %s", name,
                  perfile_record_size(r), pf_damage_text(damage));
}

/* Checks a string at the end of the record: it must have a NUL, be padded with zeros to a multiple
 * of 8, and nothing may follow the padding.  `text` is inside d->body; its length does not include
 * the NUL. */
static void check_string(pf_check *c, const perfile_record *r, const pf_decoded *d,
                         perfile_bytes text, const char *field)
{
    size_t behind = text.ptr ? (size_t)(d->body.ptr + d->body.len - (text.ptr + text.len)) : 0;
    char buf[24];
    if (behind == 0 || text.ptr[text.len] != 0) {
        unsigned rule = pf_rule_of_type(r->type);
        /* perf 3.8 cut long names of event types to the size of the field and wrote no NUL. */
        bool full = r->type == PERFILE_RECORD_HEADER_EVENT_TYPE && text.len == EVENT_TYPE_NAME;
        pf_report(c, rule == PERFILE_RULE_V_206 ? PERFILE_RULE_V_208 : rule,
                  full ? PF_LESSER : PF_FULL, r, field, "%s: the string %s",
                  pf_check_type_name(r->type, buf),
                  full ? "fills its field and has no NUL" : "has no end");
        return;
    }
    if (r->type >= PERFILE_RECORD_USER)
        return;
    for (size_t i = 1; i < behind; i++)
        if (text.ptr[text.len + i]) {
            pf_report(c, PERFILE_RULE_V_209, PF_FULL, r, field,
                      "%s: byte %zu after the string is 0x%02x", pf_check_type_name(r->type, buf),
                      i, text.ptr[text.len + i]);
            break;
        }
    uint32_t damage;
    const perfile_layout *l = pf_record_layout(r, &damage);
    size_t padding = 8 - text.len % 8; /* with the NUL: 1 to 8 bytes */
    if (l && l->trailer_size && !d->trailer.len)
        pf_report(c, PERFILE_RULE_V_216, PF_FULL, r, field, "%s without its trailer of %u bytes",
                  pf_check_type_name(r->type, buf), l->trailer_size);
    else if (behind != padding)
        pf_report(c, PERFILE_RULE_V_216, PF_FULL, r, field,
                  "%s: %zu bytes from the end of the string to the %s, not %zu",
                  pf_check_type_name(r->type, buf), behind,
                  d->trailer.len ? "trailer" : "end of the record", padding);
}

/* Checks all strings at the end of the decoded struct `v`.  Returns true if the type has any. */
static bool check_strings(pf_check *c, const perfile_record *r, const pf_decoded *d, const void *v)
{
    bool any = false;
    for (size_t i = 0; i < sizeof string_fields / sizeof string_fields[0]; i++) {
        if (&pf_record_table[string_fields[i].row] != d->row)
            continue;
        any = true;
        perfile_bytes text;
        memcpy(&text, (const char *)v + string_fields[i].struct_offset, sizeof text);
        if (text.ptr)
            check_string(c, r, d, text, string_fields[i].field);
    }
    return any;
}

/* Returns true if the id in the trailer is in bytes that some versions of perf do not byte-swap. */
static bool is_unswapped(const perfile_record *r, const perfile_sample_id *t)
{
    size_t words = 1; /* 64-bit words from the end of the record to the start of the id */
    if (!(t->present & PERFILE_SAMPLE_IDENTIFIER)) {
        words += t->present & PERFILE_SAMPLE_CPU ? 1 : 0;
        words += t->present & PERFILE_SAMPLE_STREAM_ID ? 1 : 0;
    }
    size_t offset = perfile_record_size(r) - 8 * words;
    return offset >= unswapped_range[r->type].from && offset < unswapped_range[r->type].to;
}

/* Checks that the id of the trailer belongs to an event.  The last id found is cached, because most
 * consecutive records have the same one. */
static void check_trailer_id(pf_check *c, const perfile_record *r, const perfile_sample_id *t)
{
    uint64_t id = t->present & PERFILE_SAMPLE_IDENTIFIER ? t->identifier : t->id;
    if (!(t->present & (PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID)) || id == 0 ||
        !c->events.has_ids)
        return;
    c->traits.unswapped_ids += is_unswapped(r, t);
    if (c->events.has_last && id == c->events.last_id)
        return;
    const perfile_event *e = perfile_session_event_by_id(c->session, id);
    if (!e) {
        pf_report(c, PERFILE_RULE_V_210, PF_LESSER, r, "sample_id.id", "no event has id %" PRIu64,
                  id);
    } else if (e->index < c->events.n) {
        c->events.has_last = true;
        c->events.last_id = id;
        c->events.last_owner = e->index;
        pf_check_note_id(c, e, id);
    }
}

/* Checks the trailer (sample_id): id, order of time, CPU. */
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
        pf_report(c, PERFILE_RULE_V_306, PF_FULL, r, "sample_id.res",
                  "the field next to CPU %" PRIu32 " is 0x%" PRIx32 ", not 0", t.cpu, t.res);
    if (c->n_cpus && t.cpu >= c->n_cpus && t.cpu != UINT32_MAX)
        pf_report(c, PERFILE_RULE_V_213, PF_FULL, r, "sample_id.cpu",
                  "CPU %" PRIu32 ", the machine has %" PRIu32, t.cpu, c->n_cpus);
}

/* Checks that a kernel record has room for its trailer, and no bytes between its last field and the
 * trailer.  For records with strings, check_string() does the latter. */
static void check_length(pf_check *c, const perfile_record *r, const pf_decoded *d, bool has_string)
{
    char buf[24];
    uint32_t damage;
    const perfile_layout *l = pf_record_layout(r, &damage);
    const char *name = pf_check_type_name(r->type, buf);
    if (l && l->trailer_size && !d->trailer.len &&
        r->body.len < (size_t)d->row->fixed + l->trailer_size)
        pf_report(c, PERFILE_RULE_V_206, PF_LESSER, r, "sample_id",
                  "%s of %zu bytes has no room for its trailer of %u", name, perfile_record_size(r),
                  l->trailer_size);
    else if (d->left >= 8 && !has_string) /* less is padding */
        pf_report(c, PERFILE_RULE_V_207, PF_FULL, r, "record", "%s: %zu bytes after the last field",
                  name, d->left);
}

/* Decodes any record into *out and fills *d.  Returns 0 on success, also for types without a row,
 * or else the PERFILE_DAMAGE_… that the decoder found. */
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

/* Reports the type of a record that is in no table. */
static void check_type(pf_check *c, const perfile_record *r)
{
    if (r->type == 0)
        pf_report(c, PERFILE_RULE_V_205, PF_FULL, r, "record.type", "a record of type 0");
    else if (!pf_row_of(r))
        pf_report(c, PERFILE_RULE_V_204, PF_FULL, r, "record.type",
                  "records of type %" PRIu32 " are not known", r->type);
}

void pf_check_other_family(pf_check *c, const perfile_record *r)
{
    pf_any_record any;
    pf_decoded d;
    unsigned damage = decode(r, &any, &d);
    if (damage) {
        pf_check_undecodable(c, r, damage);
    } else if (!d.row) {
        pf_report(c, PERFILE_RULE_V_204, PF_FULL, r, "record.type",
                  "records of type %" PRIu32 " are not known", perfile_record_stored_type(r));
    } else if (d.left >= sizeof(uint64_t)) { /* less is padding */
        pf_report(c, PERFILE_RULE_V_207, PF_FULL, r, "record", "%s: %zu bytes after the last field",
                  d.row->name, d.left);
    }
    const pf_check_family *own = pf_check_family_of(r->family);
    if (own && !damage)
        own->record(c, r);
}

/* Checks any record of perf's own family except samples. */
void pf_check_record(pf_check *c, const perfile_record *r)
{
    pf_any_record any;
    pf_decoded d;
    c->counts.last_type = r->type;
    pf_check_header(c, r);
    if (r->type < PF_CHECK_TYPES) {
        c->traits.too_short += perfile_record_size(r) < min_size[r->type];
        c->traits.shorter_than_swapped += perfile_record_size(r) < swapped_bytes[r->type];
    }
    /* traits.c needs this count: some versions of perf cannot read AUX data in a pipe. */
    c->traits.aux_payloads += r->type == PERFILE_RECORD_AUXTRACE && r->extra.len;
    if (r->type == PERFILE_RECORD_FINISHED_ROUND) { /* no body, no trailer: done quickly */
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
        check_length(c, r, &d, has_string);
        if (d.trailer.len)
            check_trailer(c, r);
        pf_check_kernel(c, r, &any, d.left);
    } else {
        pf_check_user(c, r, &any, d.left);
    }
}
