/* Facts in words and numbers (host name, tool, command line …), build ids, and the clock of the
 * session. */
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "core/state.h"

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
