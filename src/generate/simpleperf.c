/* What simpleperf has besides perf: members that a reader looks into have contents of the form that
 * they need.
 *
 * The messages of protobuf are written here by hand. */
#include "generate/capture.h"

#include <string.h>

#include "base/error.h"

static perfile_bytes text_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* Replaces the facts by those that a reader looks for: they say that simpleperf made the file.
 * Facts that are given stay. */
static perfile_status set_facts(pf_gen *g, perfile_sp_meta_info *info, perfile_error *err)
{
    static const char *const facts[][2] = {{"simpleperf_version", "1.build.7848450"},
                                           {"system_wide_collection", "false"},
                                           {"android_sdk_version", "33"}};
    enum { FACTS = sizeof facts / sizeof facts[0] };
    void *p;
    if (g->maker.given)
        return PERFILE_OK;
    perfile_status st = pf_arena_get(&g->maker.arena, FACTS * sizeof(perfile_meta_entry), &p, err);
    if (st != PERFILE_OK)
        return st;
    perfile_meta_entry *entries = p;
    for (size_t i = 0; i < FACTS; i++)
        entries[i] =
            (perfile_meta_entry){.key = text_of(facts[i][0]), .value = text_of(facts[i][1])};
    info->entries = perfile_meta_entry_list(entries, FACTS, sizeof *entries);
    return PERFILE_OK;
}

/* Gives each file a path (field 1) and a kind (field 2). */
static void set_files(perfile_sp_file2 *files)
{
    static const uint8_t message[] = {0x0a, 4, '/', 'l', 'i', 'b', 0x10, 2};
    perfile_file2_entry *entries = (perfile_file2_entry *)(uintptr_t)files->files.bytes.ptr;
    for (size_t i = 0; i < files->files.n; i++)
        entries[i].message = (perfile_bytes){message, sizeof message};
}

/* A file (field 1) has a path (field 1) and a size (field 2), that of DEBUG_UNWIND_FILE. */
enum { UNWIND_FILE = 3 };

static void set_unwind(perfile_sp_debug_unwind *unwind)
{
    static const uint8_t message[] = {0x0a, 6, 0x0a, 2, '/', 'u', 0x10, UNWIND_FILE};
    unwind->message = (perfile_bytes){message, sizeof message};
}

/* Sets the records of INIT_MAP: a COMM. */
static perfile_status set_init_map(pf_gen *g, perfile_sp_init_map *map, perfile_error *err)
{
    enum { ROOM = 64 };
    const perfile_comm comm = {.pid = 1, .tid = 1, .comm = text_of("init")};
    void *p;
    size_t len;
    perfile_encode_options how = g->how;
    how.layout = NULL;
    perfile_status st = pf_arena_get(&g->maker.arena, ROOM, &p, err);
    if (st == PERFILE_OK)
        st = perfile_comm_encode(&comm, sizeof comm, &how, p, ROOM, &len, err);
    if (st == PERFILE_OK)
        map->records = (perfile_bytes){p, len};
    return st;
}

/* Makes the ids those of the events that they are said to be of. */
static void set_ids(const pf_gen *g, perfile_sp_event_id *ids)
{
    perfile_event_id_entry *entries = (perfile_event_id_entry *)(uintptr_t)ids->entries.bytes.ptr;
    for (size_t i = 0; i < ids->entries.n; i++)
        entries[i].id = g->events[entries[i].attr_index % g->o->n_events].ids[0];
}

perfile_status pf_gen_adjust_simpleperf(pf_gen *g, uint32_t number, void *given, perfile_error *err)
{
    switch (number) {
    case PERFILE_FEATURE_META_INFO:
        return set_facts(g, given, err);
    case PERFILE_FEATURE_FILE2:
        set_files(given);
        break;
    case PERFILE_FEATURE_DEBUG_UNWIND:
        set_unwind(given);
        break;
    case PERFILE_FEATURE_DEBUG_UNWIND_FILE:
        ((perfile_sp_debug_unwind_file *)given)->data = text_of("abc");
        break;
    case PERFILE_FEATURE_INIT_MAP:
        return set_init_map(g, given, err);
    case PERFILE_RECORD_SIMPLEPERF_EVENT_ID:
        set_ids(g, given);
        break;
    default:
        break;
    }
    return PERFILE_OK;
}
