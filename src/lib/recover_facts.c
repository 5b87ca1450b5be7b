/* Facts of a recovered capture: its events, and the features that are intact and still true of it.
 *
 * A feature in a section of a file can be left out at the end, when everything is known about it. A
 * feature or event in a record must be judged when the record comes (pf_recover_fact_damage()),
 * because it stays a record.  Features that depend on the records (SAMPLE_TIME) are made from what
 * was kept. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/byte_order.h"
#include "check/check.h"
#include "core/readable.h"
#include "lib/recover.h"
#include "perfile/field.h"
#include "schema/frame.h"
#include "schema/family.h"

void pf_recover_note(pf_recover *x, uint32_t feature, uint32_t damage, const char *format, ...)
{
    char text[256];
    va_list args;
    if (!x->options.note)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    perfile_recover_note note = {feature, damage, text};
    x->options.note(x->options.user, &note);
}

/* Gives the writer events and event types of a file; those of a pipe are in records. */
perfile_status pf_recover_events(pf_recover *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->result.form != PERFILE_FORM_FILE)
        return st;
    uint32_t n = perfile_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER)
            st = perfile_writer_event(x->writer, e->stored, &e->ids, err);
    }
    n = perfile_session_n_event_types(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event_type *t = perfile_session_event_type(x->session, i);
        st = perfile_writer_event_type(x->writer, t->event_id, t->name, err);
    }
    return st;
}

/* The number of events that EVENT_DESC describes; 0 for another feature, or if it cannot be
 * read. */
static uint32_t n_described(const perfile_feature *f)
{
    perfile_event_desc v;
    if (!f || f->number != PERFILE_FEATURE_EVENT_DESC ||
        perfile_event_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return 0;
    return v.nr_events;
}

bool pf_recover_lacks_events(const pf_recover *x)
{
    return perfile_session_n_events(x->session) == 0 &&
           n_described(perfile_session_feature(x->session, PERFILE_FEATURE_EVENT_DESC)) != 0;
}

/* The damage of a feature in a record, 0 if there is none.  This asks for the rules about features
 * directly: the checker reports them when all records were read, too late to leave this one out. */
static uint32_t damage_of(const perfile_feature *f)
{
    uint32_t damage = pf_feature_damage(f);
    return !damage && pf_feature_is_wrong(f) ? PERFILE_DAMAGE_IMPLAUSIBLE : damage;
}

/* The damage for which a HEADER_FEATURE record is left out.  EVENT_DESC must also describe as many
 * events as there are. */
static uint32_t feature_record_damage(const perfile_session *s, const perfile_feature *f)
{
    uint32_t damage = damage_of(f);
    uint32_t events = perfile_session_n_events(s);
    if (!damage && f->number == PERFILE_FEATURE_EVENT_DESC && events && n_described(f) != events)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    return damage;
}

/* True if the event is likely one of another capture: it breaks a rule (contradicts the others), or
 * EVENT_DESC describes fewer events. */
static bool is_foreign(const pf_recover *x, const perfile_event *e)
{
    const perfile_feature *desc = perfile_session_feature(x->session, PERFILE_FEATURE_EVENT_DESC);
    uint32_t described = n_described(desc);
    for (size_t i = 0; i < x->bad_events.len; i += sizeof e->offset)
        if (memcmp(x->bad_events.ptr + i, &e->offset, sizeof e->offset) == 0)
            return true;
    return described && e->index >= described;
}

/* For a HEADER_ATTR record: if the event that it has just added is foreign, marks that as dropped,
 * and returns the damage for which the record is left out. */
static uint32_t attr_record_damage(pf_recover *x, const perfile_record *r)
{
    uint32_t n = perfile_session_n_events(x->session);
    const perfile_event *e = n ? perfile_session_event(x->session, n - 1) : NULL;
    if (!e || e->offset != r->offset + PF_PERF_RECORD_HEADER || !is_foreign(x, e) ||
        pf_recover_is_sound(x))
        return 0;
    if (!pf_buffer_append(&x->dropped, &e->index, sizeof e->index))
        (void)pf_fail_nomem(&x->failed, "recover");
    return PERFILE_DAMAGE_IMPLAUSIBLE;
}

/* The damage of the tracing data in a HEADER_TRACING_DATA record.  The session keeps those of the
 * first such record only; those of others are judged from the record, if its bytes are in
 * memory. */
static uint32_t tracing_record_damage(const perfile_record *r)
{
    perfile_header_tracing_data v;
    perfile_feature f = {.number = PERFILE_FEATURE_TRACING_DATA,
                         .flags = r->flags & PERFILE_REC_SWAPPED,
                         .session = r->session};
    const perfile_feature *t = perfile_session_feature(r->session, f.number);
    if (t && t->offset == r->offset)
        return damage_of(t);
    if (perfile_header_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return 0;
    f.payload = v.has_data ? v.data : r->extra;
    f.size = f.payload.len;
    return f.payload.ptr ? damage_of(&f) : 0;
}

/* pf_recover_fact_damage() without asking whether the capture is sound. */
static uint32_t fact_damage(pf_recover *x, const perfile_record *r)
{
    const perfile_session *s = r->session;
    perfile_feature f;
    const perfile_feature *t;
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
        return attr_record_damage(x, r);
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        return tracing_record_damage(r);
    case PERFILE_RECORD_SIMPLEPERF_TRACING_DATA:
        t = perfile_session_feature(s, PERFILE_FEATURE_TRACING_DATA);
        return t && t->offset == r->offset ? damage_of(t) : 0;
    case PERFILE_RECORD_HEADER_FEATURE:
        if (perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.payload.len == 0)
            return 0; /* an empty one ends the list */
        return feature_record_damage(s, &f);
    default:
        return 0;
    }
}

uint32_t pf_recover_fact_damage(pf_recover *x, const perfile_record *r)
{
    uint32_t damage = fact_damage(x, r);
    return damage && !pf_recover_is_sound(x) ? damage : 0;
}

/* Collects in x->scratch the entries of a damaged BUILD_ID feature that are complete, name
 * included, up to the first bad size. */
static perfile_bytes intact_build_ids(pf_recover *x, const perfile_feature *f)
{
    enum { FIXED = 36 }; /* header, pid and 24 bytes of build id; the name follows */
    bool swap = f->flags & PERFILE_REC_SWAPPED;
    pf_buffer_clear(&x->scratch);
    for (size_t at = 0, size; f->payload.len - at >= PF_PERF_RECORD_HEADER; at += size) {
        const uint8_t *entry = f->payload.ptr + at;
        size = pf_load_u16(entry + 6, swap);
        if (size < PF_PERF_RECORD_HEADER || size > f->payload.len - at)
            break;
        if (size > FIXED && memchr(entry + FIXED, 0, size - FIXED) &&
            !pf_buffer_append(&x->scratch, entry, size)) {
            (void)pf_fail_nomem(&x->failed, "recover");
            break;
        }
    }
    return (perfile_bytes){x->scratch.ptr, x->scratch.len};
}

/* True for features that do not hold for the output: the writer or write_sample_time() makes them,
 * or the output has no such property. */
static bool is_outdated(const pf_recover *x, uint32_t number)
{
    switch (number) {
    case PERFILE_FEATURE_SAMPLE_TIME:
    case PERFILE_FEATURE_AUXTRACE:   /* the writer makes it */
    case PERFILE_FEATURE_DIR_FORMAT: /* the output is one file */
        return true;
    case PERFILE_FEATURE_COMPRESSED:
        return x->result.decompressed;
    default:
        return false;
    }
}

/* Writes a feature that is intact, BUILD_ID with its intact entries, a new EVENT_DESC if needed.
 * Others are noted and left out. */
static perfile_status copy_feature(pf_recover *x, const perfile_feature *f, perfile_error *err)
{
    perfile_bytes payload = f->payload;
    uint32_t damage = pf_feature_damage(f);
    /* The checker has seen all records by now: its findings about features count, too. */
    if (!damage && x->bad_features[f->number / 64] >> f->number % 64 & 1)
        damage = PERFILE_DAMAGE_IMPLAUSIBLE;
    if (damage && f->number == PERFILE_FEATURE_BUILD_ID && !f->damage) {
        perfile_feature cut = *f;
        cut.payload = payload = intact_build_ids(x, f);
        cut.size = payload.len;
        if (payload.len && !pf_feature_damage(&cut)) {
            pf_recover_note(x, f->number, damage,
                            "feature BUILD_ID: only %zu of its %zu bytes are complete entries",
                            payload.len, f->payload.len);
            x->result.damaged = true;
            damage = 0;
        }
    }
    if (f->number == PERFILE_FEATURE_EVENT_DESC && (damage || x->guessed & PF_GUESS_EVENTS))
        return pf_recover_write_event_desc(x, err);
    if (damage) {
        const char *name = perfile_feature_name(f->number);
        pf_recover_note(x, f->number, damage, "feature %s is left out: %s",
                        name ? name : "without a name", perfile_damage_text(damage));
        x->result.features_lost++;
        x->result.damaged = true;
        return PERFILE_OK;
    }
    x->result.features++;
    return x->writer ? perfile_writer_feature(x->writer, f->number, payload, err) : PERFILE_OK;
}

/* Writes SAMPLE_TIME with the first and last time of the samples that were kept.  An undamaged
 * input without that feature does not get one. */
static perfile_status write_sample_time(pf_recover *x, perfile_error *err)
{
    uint64_t span[2] = {x->result.first_time, x->result.last_time};
    bool had = perfile_session_feature(x->session, PERFILE_FEATURE_SAMPLE_TIME) != NULL;
    if (span[0] == PERFILE_NO_TIME || (!had && !x->result.damaged))
        return PERFILE_OK;
    x->result.features++;
    for (unsigned i = 0; i < 2; i++)
        if (perfile_session_swapped(x->session))
            span[i] = pf_swap_u64(span[i]);
    if (!x->writer)
        return PERFILE_OK;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_SAMPLE_TIME,
                                  (perfile_bytes){(const uint8_t *)span, sizeof span}, err);
}

/* Writes the two features without which some viewers (hotspot) refuse a file, if they are lost
 * (`written`: bitmap of those that are there): the command by which the file was made, and a
 * machine without a name. */
static perfile_status write_needed(pf_recover *x, uint64_t written, perfile_error *err)
{
    static const char *const words[] = {"perfile", "recover"};
    const perfile_bytes cmdline[] = {{(const uint8_t *)words[0], strlen(words[0])},
                                     {(const uint8_t *)words[1], strlen(words[1])}};
    const perfile_cmdline made = {.cmdline = perfile_strings_of(cmdline, 2)};
    perfile_status st = PERFILE_OK;
    if (!x->result.damaged || !x->writer)
        return st;
    if (!(written >> PERFILE_FEATURE_HOSTNAME & 1))
        st = perfile_writer_text(x->writer, PERFILE_FEATURE_HOSTNAME, "", err);
    if (st == PERFILE_OK && !(written >> PERFILE_FEATURE_CMDLINE & 1))
        st = perfile_writer_set_cmdline(x->writer, &made, sizeof made, err);
    return st == PERFILE_E_UNSUPPORTED ? PERFILE_OK : st; /* other formats have no features */
}

perfile_status pf_recover_features(pf_recover *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint64_t written = 0;
    if (x->result.form != PERFILE_FORM_FILE)
        return st;
    uint32_t n = perfile_session_n_features(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(x->session, i);
        const uint64_t before = x->result.features;
        if (f->origin == PERFILE_ORIGIN_CONTAINER && !is_outdated(x, f->number))
            st = copy_feature(x, f, err);
        if (x->result.features != before && f->number < 64)
            written |= UINT64_C(1) << f->number;
    }
    if (st == PERFILE_OK)
        st = write_sample_time(x, err);
    return st == PERFILE_OK ? write_needed(x, written, err) : st;
}
