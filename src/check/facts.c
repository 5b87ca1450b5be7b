/* Rules that compare the content of a feature with the events, the records and the header.  They
 * are called at the end, when all of these are known.  Each function decodes its feature and
 * ignores one that cannot be decoded, because feature.c has reported that. */
#include <inttypes.h>
#include <string.h>

#include "base/byte_order.h"
#include "check/check.h"
#include "core/command.h"

/* PMU types below 6 are PERF_TYPE_… and need no name. */
enum { FIRST_PMU = 6, BUILD_ID_BYTES = 20, ZSTD_VERSION = 0 };

/* Checks that EVENT_DESC describes the same events with the same ids as the attrs (V-604). */
static void check_event_desc(pf_check *c, const perfile_feature *f)
{
    perfile_event_desc v;
    perfile_event_desc_entry e;
    uint32_t n = pf_session_n_events(c->session);
    if (perfile_event_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    if (v.nr_events != n) {
        pf_report_feature(c, PERFILE_RULE_V_604, PF_FULL, f, "event_desc.nr_events",
                          "%" PRIu32 " events are described, there are %" PRIu32, v.nr_events, n);
        return;
    }
    for (uint32_t i = 0; perfile_event_desc_entry_next(&v.events, &e, sizeof e) == PERFILE_OK;
         i++) {
        const perfile_event *event = perfile_session_event(c->session, i);
        bool same = event && e.ids.n == event->ids.n;
        for (size_t k = 0; same && k < e.ids.n; k++)
            same = perfile_word(&e.ids, k) == perfile_word(&event->ids, k);
        if (!same)
            pf_report_feature(c, PERFILE_RULE_V_604, PF_LESSER, f, "event_desc.ids",
                              "the ids of event %" PRIu32 " are not those of its attr", i);
    }
}

/* Checks that SAMPLE_TIME has the times of the first and last sample (V-606).  If there are no
 * samples, perf writes 0 for both.  After damage this is not checked, because lost samples may have
 * had these times. */
static void check_sample_time(pf_check *c, const perfile_feature *f)
{
    perfile_sample_time v;
    if (perfile_sample_time_decode(f, &v, sizeof v, NULL) != PERFILE_OK ||
        (v.first_sample_time == 0 && v.last_sample_time == 0) || c->times.last_sample == 0 ||
        c->damaged)
        return;
    if (v.first_sample_time != c->times.first_sample || v.last_sample_time != c->times.last_sample)
        pf_report_feature(c, PERFILE_RULE_V_606, PF_FULL, f, "sample_time",
                          "%" PRIu64 " to %" PRIu64 ", the samples are of %" PRIu64 " to %" PRIu64,
                          v.first_sample_time, v.last_sample_time, c->times.first_sample,
                          c->times.last_sample);
}

/* Checks that CLOCK_DATA describes the clock of the events and has both times (V-609). */
static void check_clock_data(pf_check *c, const perfile_feature *f)
{
    perfile_clock_data v;
    perfile_clock clock;
    perfile_session_clock(c->session, &clock);
    /* Without use_clockid no reader uses it, and perf stat writes zeros. */
    if (!clock.known || perfile_clock_data_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    if (v.clockid != clock.clockid)
        pf_report_feature(c, PERFILE_RULE_V_609, PF_FULL, f, "clock_data.clockid",
                          "it describes clock %" PRId32 ", the events use clock %" PRId32,
                          v.clockid, clock.clockid);
    else if (v.wall_clock_ns == 0 || v.clockid_time_ns == 0)
        pf_report_feature(c, PERFILE_RULE_V_609, PF_FULL, f, "clock_data.wall_clock_ns",
                          "one of its two times is 0");
}

/* Returns true if the name in an entry of BUILD_ID is followed by a NUL inside the section. */
static bool name_ends(const perfile_feature *f, perfile_bytes name)
{
    const uint8_t *end = f->payload.ptr + f->payload.len;
    return name.ptr && name.ptr + name.len < end && name.ptr[name.len] == 0;
}

static void check_build_ids(pf_check *c, const perfile_feature *f)
{
    perfile_build_ids v;
    perfile_build_id_entry e;
    if (perfile_build_ids_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    while (perfile_build_id_entry_next(&v.build_ids, &e, sizeof e) == PERFILE_OK) {
        if (!name_ends(f, e.id.filename))
            pf_report_feature(c, PERFILE_RULE_V_611, PF_FULL, f, "build_id_entry.filename",
                              "the name of an entry has no NUL");
        if (e.id.has_size && (e.id.size == 0 || e.id.size > BUILD_ID_BYTES))
            pf_report_feature(c, PERFILE_RULE_V_611, PF_LESSER, f, "build_id_entry.size",
                              "a build id of %u bytes, not 1 to %d", e.id.size, BUILD_ID_BYTES);
    }
}

/* Checks that each group of GROUP_DESC is within the events and after the previous group (V-612).
 */
static void check_groups(pf_check *c, const perfile_feature *f)
{
    perfile_group_desc v;
    perfile_group_desc_entry e;
    uint32_t n = pf_session_n_events(c->session);
    uint64_t end = 0;
    if (perfile_group_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    while (perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK) {
        if (e.leader_idx >= n || e.nr_members > n - e.leader_idx)
            pf_report_feature(c, PERFILE_RULE_V_612, PF_FULL, f, "group_desc.leader_idx",
                              "%" PRIu32 " events from event %" PRIu32 " on, there are %" PRIu32,
                              e.nr_members, e.leader_idx, n);
        else if (e.leader_idx < end)
            pf_report_feature(c, PERFILE_RULE_V_612, PF_FULL, f, "group_desc.leader_idx",
                              "event %" PRIu32 " is also in the group before", e.leader_idx);
        end = (uint64_t)e.leader_idx + e.nr_members;
    }
}

/* Checks that PMU_MAPPINGS names the PMU of each event (V-613).  Types of INT32_MAX and above are
 * not PMUs of the kernel. */
static void check_pmus(pf_check *c, const perfile_feature *f)
{
    perfile_pmu_mappings v;
    if (perfile_pmu_mappings_decode(f, &v, sizeof v, NULL) != PERFILE_OK || v.nr == 0)
        return;
    for (uint32_t i = 0; i < pf_session_n_events(c->session); i++) {
        const perfile_event *e = perfile_session_event(c->session, i);
        if (e->attr->type >= FIRST_PMU && e->attr->type < INT32_MAX &&
            !pf_session_pmu_name(c->session, e->attr->type))
            pf_report_event(c, PERFILE_RULE_V_613, PF_FULL, e, "attr.type",
                            "PMU_MAPPINGS does not name PMU %" PRIu32, e->attr->type);
    }
}

typedef enum pf_tracing { TRACING_CUT, TRACING_MAGIC, TRACING_ORDER, TRACING_WHOLE } pf_tracing;

/* Judges the start of TRACING_DATA: magic, version (a string), byte order.  Sets *order to the byte
 * that gives the byte order, except for TRACING_CUT. */
static pf_tracing tracing_begins(const perfile_feature *f, unsigned *order)
{
    enum { MAGIC = 10 };
    perfile_bytes p = f->payload;
    const uint8_t *nul = p.len > MAGIC ? memchr(p.ptr + MAGIC, 0, p.len - MAGIC) : NULL;
    if (!nul || (size_t)(nul - p.ptr) + 1 >= p.len)
        return TRACING_CUT;
    *order = nul[1];
    if (memcmp(p.ptr, "\x17\x08\x44tracing", MAGIC) != 0)
        return TRACING_MAGIC;
    return *order > 1 ? TRACING_ORDER : TRACING_WHOLE;
}

/* Checks that TRACING_DATA begins with its magic and a valid byte order (V-614), which is that of
 * the file. */
static void check_tracing(pf_check *c, const perfile_feature *f)
{
    unsigned order;
    pf_tracing begin = tracing_begins(f, &order);
    if (begin == TRACING_MAGIC)
        pf_report_feature(c, PERFILE_RULE_V_614, PF_FULL, f, "tracing_data.magic",
                          "the section does not begin with its magic");
    else if (begin == TRACING_ORDER)
        pf_report_feature(c, PERFILE_RULE_V_614, PF_FULL, f, "tracing_data.big_endian",
                          "byte order %u, not 0 or 1", order);
    else if (begin == TRACING_WHOLE &&
             (bool)order != (pf_session_byte_order(c->session) == PERFILE_BYTE_ORDER_BIG))
        pf_report_feature(c, PERFILE_RULE_V_614, PF_LESSER, f, "tracing_data.big_endian",
                          "its byte order is not that of the file");
}

bool pf_feature_is_wrong(const perfile_feature *f)
{
    perfile_build_ids v;
    perfile_build_id_entry e;
    unsigned order;
    bool wrong = false;
    if (f->number == PERFILE_FEATURE_TRACING_DATA) {
        pf_tracing begin = tracing_begins(f, &order);
        return begin == TRACING_MAGIC || begin == TRACING_ORDER;
    }
    if (f->number != PERFILE_FEATURE_BUILD_ID ||
        perfile_build_ids_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return false;
    while (perfile_build_id_entry_next(&v.build_ids, &e, sizeof e) == PERFILE_OK)
        wrong |= !name_ends(f, e.id.filename);
    return wrong;
}

/* Checks that E_MACHINE agrees with ARCH (V-617).  The table has the start of the uname machine for
 * each ELF machine; others are not checked. */
static void check_machine(pf_check *c, const perfile_feature *f)
{
    static const struct {
        uint32_t machine;
        const char *arch;
    } known[] = {{62, "x86_64"}, {183, "aarch64"}, {22, "s390"},       {3, "i"},   {40, "arm"},
                 {21, "ppc64"},  {243, "riscv"},   {258, "loongarch"}, {8, "mips"}};
    perfile_elf_machine v;
    const char *arch = perfile_session_fact(c->session, PERFILE_FACT_ARCH);
    if (!arch || perfile_elf_machine_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (v.e_machine == known[i].machine &&
            strncmp(arch, known[i].arch, strlen(known[i].arch)) != 0)
            pf_report_feature(c, PERFILE_RULE_V_617, PF_FULL, f, "elf_machine.e_machine",
                              "ELF machine %" PRIu32 " does not fit ARCH, which is %s", v.e_machine,
                              arch);
}

/* Checks that the version of COMPRESSED is known (V-616). */
static void check_versions(pf_check *c, const perfile_feature *f)
{
    perfile_compression v;
    if (perfile_compression_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
        v.version != ZSTD_VERSION)
        pf_report_feature(c, PERFILE_RULE_V_616, PF_FULL, f, "compression.version",
                          "version %" PRIu32 ", only %d is known", v.version, ZSTD_VERSION);
}

/* Checks that NRCPUS has no more CPUs online than configured (V-605). */
static void check_processors(pf_check *c, const perfile_feature *f)
{
    perfile_nrcpus v;
    if (perfile_nrcpus_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
        (v.nr_cpus_avail == 0 || v.nr_cpus_online > v.nr_cpus_avail))
        pf_report_feature(c, PERFILE_RULE_V_605, PF_FULL, f, "nrcpus",
                          "%" PRIu32 " CPUs configured, %" PRIu32 " online", v.nr_cpus_avail,
                          v.nr_cpus_online);
}

/* Calls the check for the feature, by its number. */
void pf_check_facts(pf_check *c, const perfile_feature *f)
{
    static void (*const checks[PERFILE_N_FEATURES])(pf_check *, const perfile_feature *) = {
        [PERFILE_FEATURE_TRACING_DATA] = check_tracing,
        [PERFILE_FEATURE_BUILD_ID] = check_build_ids,
        [PERFILE_FEATURE_NRCPUS] = check_processors,
        [PERFILE_FEATURE_EVENT_DESC] = check_event_desc,
        [PERFILE_FEATURE_PMU_MAPPINGS] = check_pmus,
        [PERFILE_FEATURE_GROUP_DESC] = check_groups,
        [PERFILE_FEATURE_SAMPLE_TIME] = check_sample_time,
        [PERFILE_FEATURE_COMPRESSED] = check_versions,
        [PERFILE_FEATURE_CLOCK_DATA] = check_clock_data,
        [PERFILE_FEATURE_E_MACHINE] = check_machine,
    };
    if (f->number < PERFILE_N_FEATURES && checks[f->number])
        checks[f->number](c, f);
}

static bool branches_sampled(const perfile_session *s)
{
    for (uint32_t i = 0; i < pf_session_n_events(s); i++)
        if (perfile_session_event(s, i)->attr->sample_type & PERFILE_SAMPLE_BRANCH_STACK)
            return true;
    return false;
}

void pf_check_flags(pf_check *c)
{
    const perfile_session *s = c->session;
    const perfile_container *k = perfile_stream_container(&c->base);
    const perfile_feature *branches = perfile_session_feature(s, PERFILE_FEATURE_BRANCH_STACK);
    const perfile_feature *stat = perfile_session_feature(s, PERFILE_FEATURE_STAT);
    uint64_t stats = c->counts.by_type[PERFILE_RECORD_STAT];
    /* Pipes never have these features, and killed recordings have lost them. */
    if (k->form != PERFILE_FORM_FILE || k->unterminated || !k->has_sections)
        return;
    bool any = k->features[0] | k->features[1] | k->features[2] | k->features[3];
    if (branches && !branches_sampled(s))
        pf_report_feature(c, PERFILE_RULE_V_610, PF_FULL, branches, NULL,
                          "no event samples branches");
    if (!branches && any && branches_sampled(s))
        pf_report_offset(c, PERFILE_RULE_V_610, PF_FULL, 72, "header.features",
                         "branches are sampled, and there is no feature BRANCH_STACK");
    if (stat && !stats)
        pf_report_feature(c, PERFILE_RULE_V_610, PF_FULL, stat, NULL, "there are no STAT records");
    if (!stat && any && stats)
        pf_report_offset(c, PERFILE_RULE_V_610, PF_FULL, 72, "header.features",
                         "there are STAT records, and no feature STAT");
}
