/* Facts in words and numbers (host name, tool, command line …), build ids, and the clock of the
 * session. */
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "core/state.h"
#include "core/event_desc.h"
#include "base/byte_order.h"
#include "schema/attr_places.h"
#include "core/new_event.h"
#include "base/options.h"

/* Stores `prefix` and `text` as a fact. */
static perfile_status set_fact(perfile_session *s, unsigned fact, const char *prefix,
                               perfile_bytes text, perfile_error *err)
{
    pf_buffer b = {0};
    perfile_status st = PERFILE_OK;
    if (!pf_buffer_append(&b, prefix, strlen(prefix)) || !pf_buffer_append(&b, text.ptr, text.len))
        st = pf_fail_nomem(err, "session.facts");
    else
        st = pf_arena_text(&s->arena, (perfile_bytes){b.ptr, b.len}, &s->facts[fact], err);
    pf_buffer_free(&b);
    return st;
}

/* True if the shell needs no quotes around the word. */
static bool is_plain(perfile_bytes word)
{
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (c == 0 || !strchr("@%+=:,./_-", c)))
            return false;
    }
    return word.len != 0;
}

/* Appends a word as a shell would read it back: plain, or in single quotes. */
static bool append_quoted(pf_buffer *b, perfile_bytes word)
{
    if (is_plain(word))
        return pf_buffer_append(b, word.ptr, word.len);
    bool fits = pf_buffer_append_u8(b, '\'');
    for (size_t i = 0; fits && i < word.len; i++)
        fits = word.ptr[i] == '\'' ? pf_buffer_append(b, "'\\''", 4)
                                   : pf_buffer_append_u8(b, word.ptr[i]);
    return fits && pf_buffer_append_u8(b, '\'');
}

/* CMDLINE: the words joined by blanks, quoted where the shell would need it. */
static perfile_status take_cmdline(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    perfile_cmdline v;
    if (perfile_cmdline_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    pf_buffer b = {0};
    perfile_bytes word;
    bool fits = true, first = true;
    while (fits && perfile_strings_next(&v.cmdline, &word) == PERFILE_OK) {
        fits = (first || pf_buffer_append_u8(&b, ' ')) && append_quoted(&b, word);
        first = false;
    }
    perfile_status st =
        fits ? set_fact(s, PERFILE_FACT_CMDLINE, "", (perfile_bytes){b.ptr, b.len}, err)
             : pf_fail_nomem(err, "session.facts");
    pf_buffer_free(&b);
    return st;
}

static bool text_is(perfile_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* META_INFO of simpleperf: its version is the fact TOOL. */
static perfile_status take_meta_info(perfile_session *s, const perfile_feature *f,
                                     perfile_error *err)
{
    perfile_sp_meta_info v;
    if (perfile_sp_meta_info_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_meta_entry e;
    while (perfile_meta_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        if (text_is(e.key, "simpleperf_version"))
            return set_fact(s, PERFILE_FACT_TOOL, "simpleperf ", e.value, err);
    return PERFILE_OK;
}

void pf_build_id_of_entry(const perfile_build_id_entry *e, uint16_t origin, perfile_build_id *id)
{
    *id = (perfile_build_id){.id = e->id.build_id,
                             .filename = e->id.filename,
                             .pid = e->id.has_pid ? e->id.pid : -1,
                             .misc = e->misc,
                             .origin = origin};
}

/* BUILD_ID: the list of build ids. */
static perfile_status take_build_ids(perfile_session *s, const perfile_feature *f,
                                     perfile_error *err)
{
    perfile_build_ids v;
    if (perfile_build_ids_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_build_id_entry e;
    while (perfile_build_id_entry_next(&v.build_ids, &e, sizeof e) == PERFILE_OK) {
        perfile_build_id id;
        pf_build_id_of_entry(&e, f->origin, &id);
        /* The session keeps the payload already. */
        perfile_status st = pf_session_add_build_id(s, &id, true, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

#define TAKE_STRING(name, id, fact, prefix)                                                        \
    case PERFILE_FEATURE_##name: {                                                                 \
        perfile_##id v;                                                                            \
        if (perfile_##id##_decode(f, &v, sizeof v, NULL) != PERFILE_OK)                            \
            return PERFILE_OK;                                                                     \
        return set_fact(s, fact, prefix, v.string, err);                                           \
    }

/* A feature that cannot be decoded gives no fact.  VERSION of perf does not replace the version of
 * simpleperf. */
perfile_status pf_facts_collect(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    switch (f->number) {
        TAKE_STRING(HOSTNAME, hostname, PERFILE_FACT_HOSTNAME, "")
        TAKE_STRING(OSRELEASE, osrelease, PERFILE_FACT_OSRELEASE, "")
        TAKE_STRING(ARCH, arch, PERFILE_FACT_ARCH, "")
        TAKE_STRING(CPUDESC, cpudesc, PERFILE_FACT_CPUDESC, "")
        TAKE_STRING(CPUID, cpuid, PERFILE_FACT_CPUID, "")
    case PERFILE_FEATURE_VERSION: {
        perfile_tool_version v;
        if (s->facts[PERFILE_FACT_TOOL] ||
            perfile_tool_version_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
            return PERFILE_OK;
        return set_fact(s, PERFILE_FACT_TOOL, v.string.len ? "perf " : "perf", v.string, err);
    }
    case PERFILE_FEATURE_NRCPUS: {
        perfile_nrcpus v;
        if (perfile_nrcpus_decode(f, &v, sizeof v, NULL) == PERFILE_OK)
            s->n_cpus = v.nr_cpus_avail;
        return PERFILE_OK;
    }
    case PERFILE_FEATURE_CMDLINE:
        return take_cmdline(s, f, err);
    case PERFILE_FEATURE_META_INFO:
        return take_meta_info(s, f, err);
    case PERFILE_FEATURE_BUILD_ID:
        return take_build_ids(s, f, err);
    default:
        return PERFILE_OK;
    }
}

const char *perfile_session_fact(const perfile_session *s, unsigned fact)
{
    return fact < PERFILE_N_FACTS ? s->facts[fact] : NULL;
}

uint32_t perfile_session_n_cpus(const perfile_session *s)
{
    return s->n_cpus;
}

/* perf stat writes CLOCK_DATA with zeros, and tools copy it between files: it counts only with the
 * clock that the events say they used.  Feature CLOCKID holds a resolution, never the clock. */
static void add_wall(const perfile_session *s, perfile_clock *clock)
{
    const perfile_feature *f = s->by_number[PERFILE_FEATURE_CLOCK_DATA];
    perfile_clock_data v;
    if (!clock->known || !f || perfile_clock_data_decode(f, &v, sizeof v, NULL) != PERFILE_OK ||
        v.clockid != clock->clockid || (v.wall_clock_ns == 0 && v.clockid_time_ns == 0))
        return;
    clock->has_wall = true;
    clock->wall_ns = v.wall_clock_ns;
    clock->clock_ns = v.clockid_time_ns;
}

/* The clock of all events is that of the first: perf sets clockid for all alike. */
void perfile_session_clock(const perfile_session *s, perfile_clock *clock)
{
    *clock = (perfile_clock){0};
    if (s->n_events) {
        const perfile_attr *attr = s->events[0]->shown.attr;
        clock->known = attr->flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1;
        clock->clockid = clock->known ? attr->clockid : 0;
    }
    add_wall(s, clock);
    if (s->has_conversion) {
        clock->has_conversion = true;
        clock->shift = s->shift;
        clock->mult = s->mult;
        clock->zero = s->zero;
        clock->cycles = s->cycles;
        clock->mask = s->mask;
        clock->is_short = s->is_short;
    }
}

/* By CLOCK_DATA, or directly if the session clock is CLOCK_REALTIME. */
bool perfile_session_wall_time(const perfile_session *s, uint64_t time, uint64_t *wall)
{
    enum { REALTIME = 0 };
    perfile_clock clock;
    if (time == PERFILE_NO_TIME)
        return false;
    perfile_session_clock(s, &clock);
    if (clock.has_wall)
        *wall = clock.wall_ns + (time - clock.clock_ns);
    else if (clock.known && clock.clockid == REALTIME)
        *wall = time;
    else
        return false;
    return true;
}

/* Writes feature EVENT_DESC: counts, then for each event its stored attr, padded to a common size,
 * its name and its ids. The layout is event_desc of format/features.def; it is written by hand
 * because attrs are copied as stored. */

enum {
    NAME_UNIT = 64, /* names are padded to a multiple of this: NAME_ALIGN of perf's header.c */
    LONGEST_NAME = 1 << 30, /* longer ones are cut: their length has 32 bits */
};

static bool put_u32(pf_buffer *out, uint32_t v, bool swap)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, swap);
    return pf_buffer_append(out, bytes, sizeof bytes);
}

/* Appends `bytes` and zeros up to `room` bytes in all. */
static bool put_padded(pf_buffer *out, const void *bytes, size_t len, size_t room)
{
    if (!pf_buffer_reserve(out, room))
        return false;
    if (len)
        memcpy(out->ptr + out->len, bytes, len);
    memset(out->ptr + out->len + len, 0, room - len);
    out->len += room;
    return true;
}

static bool put_ids(pf_buffer *out, const perfile_words *ids, bool swap)
{
    uint8_t word[8];
    for (size_t i = 0; i < ids->n; i++) {
        pf_store_u64(word, perfile_word(ids, i), swap);
        if (!pf_buffer_append(out, word, sizeof word))
            return false;
    }
    return true;
}

static bool put_event(pf_buffer *out, const perfile_event *e, const char *name, size_t attr_size,
                      bool swap)
{
    size_t len = strlen(name);
    if (len > LONGEST_NAME)
        len = LONGEST_NAME;
    size_t room = len / NAME_UNIT * NAME_UNIT + NAME_UNIT;
    return put_padded(out, e->stored.ptr, e->stored.len, attr_size) &&
           put_u32(out, (uint32_t)e->ids.n, swap) && put_u32(out, (uint32_t)room, swap) &&
           put_padded(out, name, len, room) && put_ids(out, &e->ids, swap);
}

/* Whether index `i` is in an array of uint32_t. */
static bool is_among(perfile_bytes indices, uint32_t i)
{
    for (size_t at = 0; at < indices.len; at += sizeof i)
        if (memcmp(indices.ptr + at, &i, sizeof i) == 0)
            return true;
    return false;
}

perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(s), described = 0;
    bool swap = perfile_session_swapped(s);
    size_t attr_size = PF_ATTR_LEAST;
    for (uint32_t i = 0; i < n; i++) {
        if (is_among(left_out, i))
            continue;
        described++;
        size_t size = perfile_session_event(s, i)->stored.len;
        attr_size = size > attr_size ? size : attr_size;
    }
    bool fits = put_u32(out, described, swap) && put_u32(out, (uint32_t)attr_size, swap);
    for (uint32_t i = 0; i < n && fits; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (is_among(left_out, i))
            continue;
        fits = put_event(out, e, names ? names[i] : e->name, attr_size, swap);
    }
    return fits ? PERFILE_OK : pf_fail_nomem(err, "session.events");
}

/* See core/new_event.h. */

perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err)
{
    perfile_status st = pf_options_copy(event, given, "event", err);
    if (st != PERFILE_OK)
        return st;
    if (!event->attr || (event->n_ids && !event->ids))
        return pf_fail(err, PERFILE_E_USAGE, "event.attr", "no attr, or no ids where n_ids is %zu",
                       event->n_ids);
    return PERFILE_OK;
}

perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err)
{
    const perfile_encode_options how = {.size = sizeof how, .byte_order = pf_byte_order_of(swap)};
    perfile_attr a = {0};
    size_t size =
        event->attr_struct && event->attr_struct < sizeof a ? event->attr_struct : sizeof a;
    memcpy(&a, event->attr, size);
    if (a.sample_freq && !a.is_freq)
        return pf_fail(err, PERFILE_E_USAGE, "attr.sample_freq",
                       "sample_freq is %llu, but is_freq is not set: it would be lost",
                       (unsigned long long)a.sample_freq);
    if (a.size)
        return perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    /* No size given: encode all members, then cut words that are 0 off the end. */
    a.size = PF_ATTR_OURS;
    perfile_status st = perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    while (st == PERFILE_OK && *len > PF_ATTR_LEAST && !pf_load_u64(out + *len - 8, false))
        *len -= 8;
    if (st == PERFILE_OK)
        pf_store_u32(out + 4, (uint32_t)*len, swap);
    return st;
}
