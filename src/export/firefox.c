/* The form `firefox`: the processed profile of the Firefox Profiler, version 57.
 *
 * Specification: docs-developer/CHANGELOG-formats.md and src/types/profile.ts of
 * firefox-devtools/profiler.  This file writes everything that a profile has once: the facts about
 * the capture (`meta`), libraries, and the table of texts.  Threads are in firefox_threads.c.
 *
 * Addresses are relative to their library: they are file offsets, because a capture does not tell
 * where the segments of a file are loaded.  Together with `codeId` they identify a function for
 * symbol servers. */
#include "export/firefox.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { DEBUG_ID_BYTES = 16, VERSION = 57, GECKO_VERSION = 31 };

/* Values: times, texts, columns. */

void pf_firefox_ms(pf_firefox *f, uint64_t ns)
{
    uint8_t *at = pf_emit_room(&f->x.base, PF_DEC_MAX + 1 + 6);
    if (!at)
        return;
    at = pf_put_dec(at, ns / PF_NS_PER_MS);
    if (ns % PF_NS_PER_MS) {
        *at++ = '.';
        at = pf_put_dec_fixed(at, ns % PF_NS_PER_MS, 6);
        while (at[-1] == '0')
            at--;
    }
    pf_emit_filled(&f->x.base, at);
}

void pf_firefox_text(pf_firefox *f, const char *name, size_t most)
{
    pf_profile *p = &f->x.profile;
    pf_buffer_clear(&f->name);
    const char *text = pf_name_text(name, most, &f->name) && pf_buffer_append_u8(&f->name, 0)
                           ? pf_profile_text(p, (const char *)f->name.ptr)
                           : NULL;
    uint32_t at = text ? pf_index_get(&f->positions, (uintptr_t)text) : 0;
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(f->texts.len / sizeof text);
        if (!pf_index_put(&f->positions, (uintptr_t)text, at) ||
            !pf_buffer_append(&f->texts, &text, sizeof text))
            text = NULL;
    }
    if (!text)
        f->x.base.no_memory = true; /* write_some() reports a limit, if it was one */
    pf_export_put_number(&f->x, at);
}

perfile_status pf_firefox_column(pf_firefox *f, const char *name, size_t n, pf_firefox_value *value,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, "\"");
    pf_firefox_put(f, name);
    pf_firefox_put(f, "\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        value(f, i);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "]");
    if (f->x.profile.budget.refused)
        st = pf_profile_fail(&f->x.profile, err);
    return st;
}

/* Facts about the capture: `meta`. */

/* Indexed by PF_CODE_…. */
static const struct {
    const char *name, *color;
} categories[] = {{"Other", "grey"},    {"User", "yellow"},      {"JIT", "blue"},
                  {"Kernel", "orange"}, {"Hypervisor", "brown"}, {"Guest", "purple"}};

/* Writes a name of a capture as a JSON string. */
static void put_name(pf_firefox *f, const char *name)
{
    pf_export_put_name(&f->x, &f->name, name);
}

/* Writes a fact of the first capture that has it. */
static void put_fact(pf_firefox *f, const char *key, unsigned fact)
{
    if (!f->x.facts[fact])
        return;
    pf_firefox_put(f, ",\"");
    pf_firefox_put(f, key);
    pf_firefox_put(f, "\":");
    put_name(f, f->x.facts[fact]);
}

/* Returns the ns since 1970 of the first time; 0 if not known. */
static uint64_t start_time(const pf_firefox *f)
{
    const uint64_t back = f->x.wall_at - f->tracks.first;
    return f->x.wall_time && back <= f->x.wall_time ? f->x.wall_time - back : 0;
}

/* Returns false if the function of some frame must still be looked up. */
static bool is_symbolicated(const pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    bool known = true;
    for (uint32_t i = 0; i < p->frames.n && known; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        known = frame->object == PF_NO_OBJECT || frame->function;
    }
    return known;
}

static void put_meta(pf_firefox *f)
{
    char versions[120];
    snprintf(versions, sizeof versions, ",\"version\":%d,\"preprocessedProfileVersion\":%d",
             GECKO_VERSION, VERSION);
    pf_firefox_put(f, "{\"meta\":{\"interval\":");
    pf_firefox_ms(f, f->interval ? f->interval : PF_NS_PER_MS);
    pf_firefox_put(f, ",\"startTime\":");
    pf_firefox_ms(f, start_time(f));
    pf_firefox_put(f, versions);
    pf_firefox_put(f, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"importedFrom\":"
                      "\"perfile\",\"product\":");
    pf_export_put_title(&f->x, &f->name);
    put_fact(f, "oscpu", PERFILE_FACT_OSRELEASE);
    put_fact(f, "platform", PERFILE_FACT_ARCH);
    put_fact(f, "device", PERFILE_FACT_HOSTNAME);
    put_fact(f, "arguments", PERFILE_FACT_CMDLINE);
    const bool asks = f->x.options.flags & PERFILE_EXPORT_SYMBOL_SERVER && !is_symbolicated(f);
    pf_firefox_put(f, asks ? ",\"symbolicated\":false" : ",\"symbolicated\":true");
    pf_firefox_put(f, ",\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true"
                      ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
                      "\"threadCPUDelta\":\"ns\"},\n\"categories\":[");
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        pf_firefox_put(f, i ? ",{\"name\":\"" : "{\"name\":\"");
        pf_firefox_put(f, categories[i].name);
        pf_firefox_put(f, "\",\"color\":\"");
        pf_firefox_put(f, categories[i].color);
        pf_firefox_put(f, "\",\"subcategories\":[\"Other\"]}");
    }
    pf_firefox_put(f, "]");
    pf_firefox_put_schemas(f);
    pf_firefox_put(f, "},\n");
}

/* Libraries: `libs`. */

static void put_hex(pf_firefox *f, const uint8_t *bytes, size_t n, const char *digits)
{
    for (size_t i = 0; i < n; i++)
        pf_emit_bytes(&f->x.base, (const char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
}

/* Writes both ids of a build: the whole one, and Breakpad's, which is a GUID of 16 bytes with its
 * first three numbers byte-swapped, and 0 as age. */
static void put_ids(pf_firefox *f, const pf_object *object)
{
    static const uint8_t order[DEBUG_ID_BYTES] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    uint8_t guid[DEBUG_ID_BYTES];
    for (size_t i = 0; i < DEBUG_ID_BYTES; i++)
        guid[i] = object->build_id[order[i]];
    pf_firefox_put(f, ",\"breakpadId\":\"");
    put_hex(f, guid, sizeof guid, "0123456789ABCDEF");
    pf_firefox_put(f, "0\",\"codeId\":");
    if (!object->build_id_size) {
        pf_firefox_put(f, "null");
        return;
    }
    pf_firefox_put(f, "\"");
    put_hex(f, object->build_id, object->build_id_size, "0123456789abcdef");
    pf_firefox_put(f, "\"");
}

static perfile_status put_libs(pf_firefox *f, perfile_error *err)
{
    const pf_profile *p = &f->x.profile;
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, "\"libs\":[");
    for (uint32_t i = 0; i < p->objects.n && st == PERFILE_OK; i++) {
        const pf_object *object = pf_profile_object_at(p, i);
        const char *slash = strrchr(object->name, '/');
        const char *base = slash && slash[1] ? slash + 1 : object->name;
        const char *const names[][2] = {{"\"name\":", base},
                                        {",\"path\":", object->name},
                                        {",\"debugName\":", base},
                                        {",\"debugPath\":", object->name}};
        pf_firefox_put(f, i ? ",\n{" : "\n{");
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            pf_firefox_put(f, names[k][0]);
            put_name(f, names[k][1]);
        }
        pf_firefox_put(f, ",\"arch\":");
        put_name(f, f->x.facts[PERFILE_FACT_ARCH] ? f->x.facts[PERFILE_FACT_ARCH] : "?");
        put_ids(f, object);
        pf_firefox_put(f, "}");
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "\n],\n");
    return st;
}

/* Threads, and the table of texts. */

static void put_text_at(pf_firefox *f, size_t i)
{
    pf_export_put_string(&f->x, ((const char *const *)(const void *)f->texts.ptr)[i]);
}

/* Writes the threads, then the texts, which are complete by then. */
static perfile_status put_threads(pf_firefox *f, perfile_error *err)
{
    perfile_status st = pf_firefox_open_threads(f, err);
    unsigned n = 0;
    pf_firefox_put(f, "\"threads\":[");
    for (uint32_t i = 0; i < f->tracks.n && st == PERFILE_OK; i++) {
        if (!f->tracks.at[i].used)
            continue;
        pf_firefox_put(f, n++ ? ",\n" : "\n");
        st = pf_firefox_put_thread(f, i, err);
    }
    pf_firefox_put(f, "\n],\n\"shared\":{");
    if (st == PERFILE_OK)
        st = pf_firefox_column(f, "stringArray", f->texts.len / sizeof(char *), put_text_at, err);
    pf_firefox_put(f, "}}\n");
    return st;
}

/* The emitter. */

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&f->tracks, &f->x.profile);
    pf_shown_init(&f->shown, &f->x.profile);
    f->positions = (pf_index){.seed = pf_index_seed(f), .budget = &f->x.profile.budget};
    return st;
}

static void close(perfile_emitter *e)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    pf_tracks_free(&f->tracks);
    pf_shown_free(&f->shown);
    pf_firefox_close_tables(f);
    pf_buffer_free(&f->texts);
    pf_index_free(&f->positions);
    pf_buffer_free(&f->name);
    pf_export_close(e);
}

static bool take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    return pf_tracks_take(&((pf_firefox *)(void *)x)->tracks, x, sample, label);
}

static bool note(pf_exporter *x, const pf_profiled *about)
{
    return pf_tracks_note(&((pf_firefox *)(void *)x)->tracks, x, about);
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    perfile_status st = pf_export_end_input(&f->x, err);
    if (st == PERFILE_OK)
        st = pf_firefox_choose_event(f, err);
    if (st == PERFILE_OK)
        st = pf_tracks_sort(&f->tracks, &f->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&f->shown, &f->x, err);
    if (st != PERFILE_OK)
        return st;
    put_meta(f);
    st = put_libs(f, err);
    return st == PERFILE_OK ? put_threads(f, err) : st;
}

static const pf_export_ops exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = take,
    .note = note,
    .by_time = true,
    .per = {PERFILE_PER_PID, PERFILE_PER_TID},
    .per_event = true,
    .lines = true,
};

const pf_emit_ops pf_emit_firefox = {
    .name = "firefox",
    .doc = "JSON for the Firefox Profiler: samples and events of each thread over time",
    .size = sizeof(pf_firefox),
    .open = open,
    .close = close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &exports,
};
