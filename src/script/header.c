/* The header (PERFILE_SCRIPT_HEADER) before the first line: the position of the records, and the
 * features of the capture, in the words of perf 6.1.
 *
 * In a pipe features come as records (HEADER_FEATURE), and each is printed when it comes.  This
 * file has the outer parts and the features of one line; facts.c has those of several lines.
 * Features that cannot be decoded are left out. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "core/session.h"
#include "perfile/field.h"
#include "script/header.h"
#include "schema/command.h"
#include "core/command.h"

enum { LAST_FEATURE = PERFILE_FEATURE_PMU_CAPS, NS_PER_S = 1000000000 };

void pf_facts_text(pf_facts *f, const char *text)
{
    f->ok = f->ok && pf_buffer_append(f->out, text, strlen(text));
}

void pf_facts_name(pf_facts *f, perfile_bytes name)
{
    const uint8_t *nul = name.len ? memchr(name.ptr, 0, name.len) : NULL;
    const size_t n = nul ? (size_t)(nul - name.ptr) : name.len;
    f->ok = f->ok && pf_script_put_text(f->out, (const char *)name.ptr, n, SIZE_MAX);
}

static void put_cstr(pf_facts *f, const char *text)
{
    pf_facts_name(f, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

/* Prints features that are one text. */
static bool put_string(pf_facts *f, const perfile_feature *feature)
{
    static const struct {
        uint32_t number;
        const char *label;
    } labels[] = {
        {PERFILE_FEATURE_HOSTNAME, "hostname"},    {PERFILE_FEATURE_OSRELEASE, "os release"},
        {PERFILE_FEATURE_VERSION, "perf version"}, {PERFILE_FEATURE_ARCH, "arch"},
        {PERFILE_FEATURE_CPUDESC, "cpudesc"},      {PERFILE_FEATURE_CPUID, "cpuid"}};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        perfile_hostname v; /* all of them have this layout */
        perfile_feature as = *feature;
        as.number = PERFILE_FEATURE_HOSTNAME;
        if (labels[i].number != feature->number)
            continue;
        if (perfile_hostname_decode(&as, &v, sizeof v, NULL) == PERFILE_OK) {
            PF_FACT(f, "# %s : ", labels[i].label);
            pf_facts_name(f, v.string);
            pf_facts_text(f, "\n");
        }
        return true;
    }
    return false;
}

/* Prints the words of the command line as stored, each followed by a blank, with a backslash before
 * each quote. */
static void put_cmdline(pf_facts *f, const perfile_feature *feature)
{
    perfile_cmdline v;
    perfile_bytes word;
    if (perfile_cmdline_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    pf_facts_text(f, "# cmdline : ");
    while (f->ok && perfile_strings_next(&v.cmdline, &word) == PERFILE_OK) {
        const uint8_t *quote;
        while (word.len && (quote = memchr(word.ptr, '\'', word.len)) != NULL) {
            const size_t n = (size_t)(quote - word.ptr);
            pf_facts_name(f, (perfile_bytes){word.ptr, n});
            pf_facts_text(f, "\\'");
            word = (perfile_bytes){quote + 1, word.len - n - 1};
        }
        pf_facts_name(f, word);
        pf_facts_text(f, " ");
    }
    pf_facts_text(f, "\n");
}

/* Attrs: `name = value` for each member that is not 0. */

static void put_decimal(pf_facts *f, const char *name, uint64_t v)
{
    if (v)
        PF_FACT(f, ", %s = %" PRIu64, name, v);
}

static void put_hex(pf_facts *f, const char *name, uint64_t v)
{
    if (v)
        PF_FACT(f, ", %s = %#" PRIx64, name, v);
}

/* Prints the names of set bits, limited to those that perf 6.1 knows, in perf's order. */
static void put_bits(pf_facts *f, const char *name, uint64_t v, unsigned kind, const uint8_t *bits,
                     size_t n)
{
    const perfile_vocabulary *words = pf_kind_words(kind);
    const char *between = "";
    if (!v)
        return;
    PF_FACT(f, ", %s = ", name);
    for (size_t i = 0; i < n; i++)
        for (uint32_t w = 0; w < words->n; w++)
            if (words->bits[w].shift == bits[i] && v >> bits[i] & 1) {
                PF_FACT(f, "%s%s", between, words->bits[w].name);
                between = "|";
            }
}

/* Prints the parts of attr.flags, up to the last one that perf 6.1 knows. */
static void put_flags(pf_facts *f, uint64_t flags)
{
    const perfile_vocabulary *words = pf_kind_words(PERFILE_KIND_ATTR_FLAGS);
    for (uint32_t i = 0; words && i < words->n; i++) {
        const perfile_bits *part = &words->bits[i];
        if (part->shift <= PERFILE_ATTR_BIT_SIGTRAP)
            put_decimal(f, part->name, flags >> part->shift & ((UINT64_C(1) << part->width) - 1));
    }
}

static void put_attr(pf_facts *f, const perfile_attr *a)
{
    static const uint8_t samples[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                      12, 13, 16, 18, 15, 14, 19, 20, 21, 22, 23, 24};
    static const uint8_t bits[] = {0,  1,  2,  3,  4,  5,  6,  7,  8, 9,
                                   10, 11, 12, 13, 14, 15, 16, 17, 18};
    put_decimal(f, "type", a->type);
    put_decimal(f, "size", a->size);
    put_hex(f, "config", a->config);
    put_decimal(f, "{ sample_period, sample_freq }",
                a->is_freq ? a->sample_freq : a->sample_period);
    put_bits(f, "sample_type", a->sample_type, PERFILE_KIND_SAMPLE_TYPE, samples, sizeof samples);
    put_bits(f, "read_format", a->read_format, PERFILE_KIND_READ_FORMAT, bits, 5);
    put_flags(f, a->flags);
    put_decimal(f, "{ wakeup_events, wakeup_watermark }",
                a->is_watermark ? a->wakeup_watermark : a->wakeup_events);
    put_decimal(f, "bp_type", a->bp_type);
    put_hex(f, "{ bp_addr, config1 }", a->config1);
    put_hex(f, "{ bp_len, config2 }", a->config2);
    put_bits(f, "branch_sample_type", a->branch_sample_type, PERFILE_KIND_BRANCH_TYPE, bits,
             sizeof bits);
    put_hex(f, "sample_regs_user", a->sample_regs_user);
    put_decimal(f, "sample_stack_user", a->sample_stack_user);
    if (a->clockid)
        PF_FACT(f, ", clockid = %" PRId32, a->clockid);
    put_hex(f, "sample_regs_intr", a->sample_regs_intr);
    put_decimal(f, "aux_watermark", a->aux_watermark);
    put_decimal(f, "sample_max_stack", a->sample_max_stack);
    put_decimal(f, "aux_sample_size", a->aux_sample_size);
    put_decimal(f, "sig_data", a->sig_data);
}

static void put_events(pf_facts *f, const perfile_feature *feature)
{
    perfile_event_desc v;
    perfile_event_desc_entry e;
    if (perfile_event_desc_decode(feature, &v, sizeof v, NULL) != PERFILE_OK) {
        pf_facts_text(f, "# event desc: not available or unable to read\n");
        return;
    }
    while (f->ok && perfile_event_desc_entry_next(&v.events, &e, sizeof e) == PERFILE_OK &&
           e.attr.size) {
        pf_facts_text(f, "# event : name = ");
        pf_facts_name(f, e.name);
        pf_facts_text(f, ", ");
        for (size_t i = 0; i < e.ids.n && f->ok; i++)
            PF_FACT(f, "%s %" PRIu64, i ? "," : ", id = {", perfile_word(&e.ids, i));
        pf_facts_text(f, e.ids.n ? " }" : "");
        put_attr(f, &e.attr);
        pf_facts_text(f, "\n");
    }
}

/* Prints groups by the names of their events, as far as these are known. */
static void put_groups(pf_facts *f, const perfile_feature *feature)
{
    perfile_group_desc v;
    perfile_group_desc_entry e;
    if (perfile_group_desc_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    const uint32_t n = pf_session_n_events(f->session);
    bool more = perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n && f->ok; i++) {
        const char *name = perfile_session_event(f->session, i)->name;
        const bool leads = more && e.leader_idx == i;
        if (leads && e.nr_members > 1) {
            const bool has_name = e.name.len != 12 || memcmp(e.name.ptr, "{anon_group}", 12) != 0;
            pf_facts_text(f, "# group: ");
            if (has_name)
                pf_facts_name(f, e.name);
            pf_facts_text(f, "{");
            put_cstr(f, name);
            left = e.nr_members - 1;
        } else if (left) {
            pf_facts_text(f, ",");
            put_cstr(f, name);
            pf_facts_text(f, --left ? "" : "}\n");
        }
        if (leads)
            more = perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK;
    }
    pf_facts_text(f, left ? "\n" : ""); /* members are missing */
}

static void put_times(pf_facts *f, const perfile_feature *feature)
{
    perfile_sample_time v;
    if (perfile_sample_time_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    const uint64_t times[] = {v.first_sample_time, v.last_sample_time};
    for (unsigned i = 0; i < 2; i++)
        PF_FACT(f, "# time of %s sample : %" PRIu64 ".%06" PRIu64 "\n", i ? "last" : "first",
                times[i] / NS_PER_S, times[i] % NS_PER_S / 1000);
    PF_FACT(f, "# sample duration : %10.3f ms\n",
            (double)(v.last_sample_time - v.first_sample_time) / 1e6);
}

static void put_clock(pf_facts *f, const perfile_feature *feature)
{
    perfile_clock_data v;
    char text[64];
    struct tm parts;
    const char *name = "(not found)";
    const perfile_vocabulary *clocks = pf_kind_words(PERFILE_KIND_CLOCKID);
    if (perfile_clock_data_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    for (uint32_t i = 0; clocks && i < clocks->n; i++)
        if (clocks->words[i].value == (uint64_t)v.clockid)
            name = clocks->words[i].name;
    const time_t seconds = (time_t)(v.wall_clock_ns / NS_PER_S);
    if (!localtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
        memcpy(text, "<error>", 8);
    const uint64_t us = v.wall_clock_ns % NS_PER_S / 1000;
    PF_FACT(f, "# clockid: %s (%" PRIu32 ")\n", name, (uint32_t)v.clockid);
    PF_FACT(f, "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = ", text, us,
            v.wall_clock_ns / NS_PER_S, us);
    PF_FACT(f, "%" PRIu64 ".%09" PRIu64 " (%s)\n", v.clockid_time_ns / NS_PER_S,
            v.clockid_time_ns % NS_PER_S, name);
}

/* Prints features that are one or two numbers. */
static void put_numbers(pf_facts *f, const perfile_feature *feature)
{
    union {
        perfile_nrcpus cpus;
        perfile_total_mem memory;
        perfile_clockid clock;
        perfile_dir_format folder;
        perfile_compression packed;
    } v;
    switch (feature->number) {
    case PERFILE_FEATURE_NRCPUS:
        if (perfile_nrcpus_decode(feature, &v.cpus, sizeof v.cpus, NULL) == PERFILE_OK)
            PF_FACT(f, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n",
                    v.cpus.nr_cpus_online, v.cpus.nr_cpus_avail);
        break;
    case PERFILE_FEATURE_TOTAL_MEM:
        if (perfile_total_mem_decode(feature, &v.memory, sizeof v.memory, NULL) == PERFILE_OK)
            PF_FACT(f, "# total memory : %" PRIu64 " kB\n", v.memory.total_mem);
        break;
    case PERFILE_FEATURE_CLOCKID:
        if (perfile_clockid_decode(feature, &v.clock, sizeof v.clock, NULL) == PERFILE_OK)
            PF_FACT(f, "# clockid frequency: %" PRIu64 " MHz\n", v.clock.clockid_res_ns * 1000);
        break;
    case PERFILE_FEATURE_DIR_FORMAT:
        if (perfile_dir_format_decode(feature, &v.folder, sizeof v.folder, NULL) == PERFILE_OK)
            PF_FACT(f, "# directory data version : %" PRIu64 "\n",
                    f->container && f->container->directory ? v.folder.version : 0);
        break;
    case PERFILE_FEATURE_COMPRESSED:
        if (perfile_compression_decode(feature, &v.packed, sizeof v.packed, NULL) == PERFILE_OK)
            PF_FACT(f, "# compressed : %s, level = %" PRId32 ", ratio = %" PRId32 "\n",
                    v.packed.type == 1 ? "Zstd" : "Unknown", (int32_t)v.packed.level,
                    (int32_t)v.packed.ratio);
        break;
    default:
        break;
    }
}

/* Prints a feature; only a note if it is long and PERFILE_SCRIPT_SHOW_INFO is not set. */
static void put_feature(pf_facts *f, const perfile_feature *feature)
{
    if (!f->full && pf_facts_are_long(feature->number)) {
        PF_FACT(f, "# %s info available, use -I to display\n", pf_feature_name(feature->number));
        return;
    }
    if (put_string(f, feature) || pf_facts_put(f, feature))
        return;
    switch (feature->number) {
    case PERFILE_FEATURE_CMDLINE:
        put_cmdline(f, feature);
        break;
    case PERFILE_FEATURE_EVENT_DESC:
        put_events(f, feature);
        break;
    case PERFILE_FEATURE_BRANCH_STACK:
        pf_facts_text(f, "# contains samples with branch stack\n");
        break;
    case PERFILE_FEATURE_GROUP_DESC:
        put_groups(f, feature);
        break;
    case PERFILE_FEATURE_AUXTRACE:
        pf_facts_text(f, "# contains AUX area data (e.g. instruction trace)\n");
        break;
    case PERFILE_FEATURE_STAT:
        pf_facts_text(f, "# contains stat data\n");
        break;
    case PERFILE_FEATURE_SAMPLE_TIME:
        put_times(f, feature);
        break;
    case PERFILE_FEATURE_CLOCK_DATA:
        put_clock(f, feature);
        break;
    default:
        put_numbers(f, feature);
    }
}

/* Prints the position of the parts of the file.  perf numbers the versions of its format from 0. */
static void put_places(pf_facts *f, const perfile_container *c)
{
    const bool is_file = c->has_sections;
    const uint64_t data = is_file ? c->data.offset : 0, size = is_file ? c->data.size : 0;
    PF_FACT(f, "# header version : %" PRIu32 "\n", c->version == 1 ? 0 : 1);
    PF_FACT(f, "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n", data, size);
    PF_FACT(f, "# feat offset    : %" PRIu64 "\n", is_file ? data + size : 0);
}

static void put_features(pf_facts *f, const perfile_container *c)
{
    for (uint32_t i = 0; i < pf_session_n_features(f->session) && f->ok; i++) {
        const perfile_feature *feature = perfile_session_feature_at(f->session, i);
        if (feature->origin == PERFILE_ORIGIN_CONTAINER && !feature->damage)
            put_feature(f, feature);
    }
    uint64_t there = c->features[0];
    /* perf takes byte-swapped files without this feature for files of its first versions, which
     * only have build ids. */
    if (pf_session_swapped(f->session) && !(there >> PERFILE_FEATURE_HOSTNAME & 1))
        there |= UINT64_C(1) << PERFILE_FEATURE_BUILD_ID;
    pf_facts_text(f, "# missing features: ");
    for (uint32_t i = 1; i <= LAST_FEATURE; i++)
        if (!(there >> i & 1))
            PF_FACT(f, "%s ", pf_feature_name(i));
    pf_facts_text(f, "\n");
}

static pf_facts facts_of(pf_script *x)
{
    pf_buffer_clear(&x->line);
    return (pf_facts){.out = &x->line,
                      .session = x->base.session,
                      .container = x->base.container,
                      .full = x->base.flags & PERFILE_SCRIPT_SHOW_INFO,
                      .ok = true};
}

perfile_status pf_script_put_header(pf_script *x, perfile_error *err)
{
    pf_facts f = facts_of(x);
    const perfile_container *c = x->base.container;
    if (!c)
        return PERFILE_OK;
    put_places(&f, c);
    if (c->form == PERFILE_FORM_FILE)
        put_features(&f, c);
    pf_facts_text(&f, "# ========\n#\n");
    if (!f.ok)
        return pf_fail_nomem(err, "script");
    return perfile_sink_write(x->base.sink, (perfile_bytes){x->line.ptr, x->line.len}, err);
}

perfile_status pf_script_put_fact(pf_script *x, const perfile_record *r, perfile_error *err)
{
    pf_facts f = facts_of(x);
    perfile_header_feature v;
    if (perfile_header_feature_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
        v.feat_id > LAST_FEATURE)
        return PERFILE_OK;
    const perfile_feature *feature = perfile_session_feature(x->base.session, (uint32_t)v.feat_id);
    if (feature)
        put_feature(&f, feature);
    if (!f.ok)
        return pf_fail_nomem(err, "script");
    return perfile_sink_write(x->base.sink, (perfile_bytes){x->line.ptr, x->line.len}, err);
}
