/* Makes everything but the samples in a conversion to perf.data: events, features, and the records
 * before all others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "perfile/encode.h"
#include "perfile/live.h"
#include "perfmon/translate.h"
#include "base/command.h"

enum {
    ATTR_BYTES = 80,
    PMU_TYPE = 64, /* PMU type of events that perf has no name for */
    DUMMY = 9,     /* PERF_COUNT_SW_DUMMY */
    LAYOUT_B_BIT = 0x10000,
    BRANCHES_ANY = 0xb,  /* user, kernel, any */
    INDEX_ENTRIES = 1364 /* entries per ID_INDEX record, as in perf */
};
#define PMU_NAME "zircon_perfmon"

static const perfile_encode_options little = {.size = sizeof little,
                                              .byte_order = PERFILE_BYTE_ORDER_LITTLE};

static perfile_bytes text(const char *t)
{
    return (perfile_bytes){(const uint8_t *)t, strlen(t)};
}

uint64_t pf_perfmon_sample_type(const pf_perfmon_event *e)
{
    return PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |
           PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD |
           (e->has_branches ? PERFILE_SAMPLE_BRANCH_STACK : 0) |
           (e->has_value ? PERFILE_SAMPLE_WEIGHT : 0) |
           (e->has_pc || e->has_branches ? PERFILE_SAMPLE_PHYS_ADDR : 0);
}

static perfile_attr attr_of(const pf_perfmon_survey *v, uint32_t i)
{
    const pf_perfmon_event *e = &v->events[i];
    const uint64_t flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL |
                           (i == 0 ? UINT64_C(1) << PERFILE_ATTR_BIT_COMM : 0);
    perfile_attr a = {.size = ATTR_BYTES,
                      .type = PMU_TYPE,
                      .config = e->id,
                      .config1 = e->id | (v->layout == PF_PERFMON_LAYOUT_B ? LAYOUT_B_BIT : 0),
                      .is_period = true,
                      .sample_period = e->has_rate ? e->rate : 0,
                      .sample_type =
                          v->stat ? (uint64_t)PERFILE_SAMPLE_IDENTIFIER : pf_perfmon_sample_type(e),
                      .branch_sample_type = e->has_branches ? BRANCHES_ANY : 0,
                      .flags = v->stat ? 0 : flags};
    if (e->id == 0) {
        a.type = PERFILE_TYPE_SOFTWARE;
        a.config = DUMMY;
    } else if (pf_perfmon_event_of_perf(v->arch, v->layout, e->id, &a.config)) {
        a.type = PERFILE_TYPE_HARDWARE;
    }
    return a;
}

static perfile_status add_events(const pf_perfmon_survey *v, perfile_session *s, perfile_error *err)
{
    uint64_t *ids = pf_alloc(v->n_buffers, sizeof *ids);
    perfile_status st = ids ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
    for (uint32_t i = 0; i < v->n_events && st == PERFILE_OK; i++) {
        char name[PF_PERFMON_NAME];
        const perfile_attr a = attr_of(v, i);
        for (uint32_t k = 0; k < v->n_buffers; k++)
            ids[k] = pf_perfmon_id(v, i, k);
        pf_perfmon_event_name(name, v->arch, v->layout, v->events[i].id);
        const perfile_new_event event = {
            .size = sizeof event, .attr = &a, .ids = ids, .n_ids = v->n_buffers, .name = name};
        st = perfile_session_add_event(s, &event, NULL, err);
    }
    pf_free(ids);
    return st;
}

/* Encodes a struct and sets it as a feature: SET_FEATURE(s, HOSTNAME, hostname, &v). */
#define SET_FEATURE(s, number, id, in)                                                             \
    do {                                                                                           \
        uint8_t payload[512];                                                                      \
        size_t len;                                                                                \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_##id##_encode(in, sizeof *(in), &little, payload, sizeof payload, &len,   \
                                       err);                                                       \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_session_set_feature(s, PERFILE_FEATURE_##number,                          \
                                             (perfile_bytes){payload, len}, err);                  \
    } while (0)

static perfile_status add_features(const pf_perfmon_survey *v, perfile_session *s,
                                   perfile_error *err)
{
    char version[64];
    static const char *const arch[] = {
        [PF_PERFMON_X86_64] = "x86_64", [PF_PERFMON_ARM64] = "aarch64"};
    const perfile_bytes words[] = {text("perfile"), text("convert")};
    const bool any = v->first_sample <= v->last_sample;
    const perfile_pmu_mapping pmu = {.type = PMU_TYPE, .name = text(PMU_NAME)};
    snprintf(version, sizeof version, "perfile %s", pf_version());
    perfile_status st = PERFILE_OK;
    SET_FEATURE(s, HOSTNAME, hostname, (&(perfile_hostname){.string = text("fuchsia")}));
    SET_FEATURE(s, OSRELEASE, osrelease, (&(perfile_osrelease){.string = text("zircon")}));
    SET_FEATURE(s, VERSION, tool_version, (&(perfile_tool_version){.string = text(version)}));
    if (v->arch)
        SET_FEATURE(s, ARCH, arch, (&(perfile_arch){.string = text(arch[v->arch])}));
    SET_FEATURE(s, NRCPUS, nrcpus,
                (&(perfile_nrcpus){.nr_cpus_avail = v->buffers[v->n_buffers - 1].cpu + 1,
                                   .nr_cpus_online = v->n_buffers}));
    SET_FEATURE(s, CMDLINE, cmdline, (&(perfile_cmdline){.cmdline = perfile_strings_of(words, 2)}));
    SET_FEATURE(s, PMU_MAPPINGS, pmu_mappings,
                (&(perfile_pmu_mappings){.pmus = perfile_pmu_mapping_list(&pmu, 1, sizeof pmu)}));
    if (!v->stat)
        SET_FEATURE(s, SAMPLE_TIME, sample_time,
                    (&(perfile_sample_time){.first_sample_time = any ? v->first_sample : 0,
                                            .last_sample_time = any ? v->last_sample : 0}));
    if (v->any_branches && st == PERFILE_OK)
        st = perfile_session_set_feature(s, PERFILE_FEATURE_BRANCH_STACK, (perfile_bytes){0}, err);
    if (v->stat && st == PERFILE_OK)
        st = perfile_session_set_feature(s, PERFILE_FEATURE_STAT, (perfile_bytes){0}, err);
    return st;
}

perfile_status pf_perfmon_session(const pf_perfmon_survey *v, perfile_session *s,
                                  perfile_error *err)
{
    perfile_status st = add_events(v, s, err);
    return st == PERFILE_OK ? add_features(v, s, err) : st;
}

/* Encodes a struct and appends the record, for which `most` bytes are reserved. */
#define APPEND(id, in, how, most)                                                                  \
    do {                                                                                           \
        size_t len;                                                                                \
        if (st == PERFILE_OK && !pf_buffer_reserve(out, most))                                     \
            st = pf_fail_nomem(err, "perfmon");                                                    \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_##id##_encode(in, sizeof *(in), how, out->ptr + out->len, most, &len,     \
                                       err);                                                       \
        if (st == PERFILE_OK)                                                                      \
            out->len += len;                                                                       \
    } while (0)

/* Makes ID_INDEX records, which map ids to CPUs. */
static perfile_status put_index(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err)
{
    const uint64_t n = (uint64_t)v->n_events * v->n_buffers;
    perfile_id_index_entry *entries = pf_alloc(INDEX_ENTRIES, sizeof *entries);
    perfile_status st = entries ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
    for (uint64_t at = 0; at < n && st == PERFILE_OK;) {
        size_t k = 0;
        for (; k < INDEX_ENTRIES && at < n; k++, at++) {
            const uint32_t buffer = (uint32_t)(at % v->n_buffers);
            entries[k] = (perfile_id_index_entry){
                .id = 1 + at, .idx = buffer, .cpu = v->buffers[buffer].cpu, .tid = UINT64_MAX};
        }
        const perfile_id_index index = {
            .entries = perfile_id_index_entry_list(entries, k, sizeof *entries)};
        APPEND(id_index, &index, &little, UINT16_MAX);
    }
    pf_free(entries);
    return st;
}

static perfile_status put_cpus(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err)
{
    uint16_t *cpus = pf_alloc(v->n_buffers, sizeof *cpus);
    perfile_status st = cpus ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
    for (uint32_t i = 0; i < v->n_buffers && st == PERFILE_OK; i++)
        cpus[i] = (uint16_t)v->buffers[i].cpu;
    if (st == PERFILE_OK) {
        const perfile_cpu_map map = {
            .cpus = {.is_list = true, .cpu = perfile_words_u16(cpus, v->n_buffers)}};
        APPEND(cpu_map, &map, &little, UINT16_MAX);
    }
    pf_free(cpus);
    return st;
}

/* Makes a COMM for each address space: "aspace-1a2b3000".  All events have the same trailer. */
static perfile_status put_names(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err)
{
    enum { COMM_BYTES = 128 };
    perfile_layout layout;
    const perfile_attr a = attr_of(v, 0);
    perfile_layout_of_attr(&a, sizeof a, &layout);
    const uint64_t all =
        PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_IDENTIFIER;
    const perfile_sample_id zeros = {.present = all};
    const perfile_encode_options how = {.size = sizeof how,
                                        .layout = &layout,
                                        .sample_id = &zeros,
                                        .byte_order = PERFILE_BYTE_ORDER_LITTLE};
    const uint64_t *keys = (const uint64_t *)(const void *)v->keys.ptr;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < v->keys.len / sizeof *keys && st == PERFILE_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "aspace-%" PRIx64, keys[i]);
        const uint32_t number = (uint32_t)i + 1;
        const perfile_comm comm = {.pid = number, .tid = number, .comm = text(name)};
        APPEND(comm, &comm, &how, COMM_BYTES);
    }
    return st;
}

/* Makes the records that `perf stat report` needs: they say that counts are sums over CPUs and over
 * the whole run, not scaled, and that everything on each CPU was counted, not a thread. */
static perfile_status put_stat_front(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err)
{
    enum { AGGREGATION = 0, INTERVAL = 1, SCALE = 2, GLOBAL = 1, STAT_BYTES = 96 };
    const perfile_stat_setting settings[] = {
        {.tag = AGGREGATION, .val = GLOBAL}, {.tag = INTERVAL}, {.tag = SCALE}};
    const perfile_stat_config config = {
        .data = perfile_stat_setting_list(settings, 3, sizeof *settings)};
    const perfile_thread_map_entry all = {.pid = UINT64_MAX};
    const perfile_thread_map threads = {.entries =
                                            perfile_thread_map_entry_list(&all, 1, sizeof all)};
    perfile_status st = PERFILE_OK;
    APPEND(stat_config, &config, &little, STAT_BYTES);
    APPEND(thread_map, &threads, &little, STAT_BYTES);
    return st == PERFILE_OK ? put_cpus(v, out, err) : st;
}

perfile_status pf_perfmon_front(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err)
{
    if (v->stat)
        return put_stat_front(v, out, err);
    const perfile_time_conv clock = {
        .time_shift = v->shift, .time_mult = v->mult, .has_short = true, .cap_user_time_zero = 1};
    enum { CLOCK_BYTES = 64 };
    perfile_status st = PERFILE_OK;
    APPEND(time_conv, &clock, &little, CLOCK_BYTES);
    if (st == PERFILE_OK)
        st = put_index(v, out, err);
    if (st == PERFILE_OK)
        st = put_cpus(v, out, err);
    return st == PERFILE_OK ? put_names(v, out, err) : st;
}
