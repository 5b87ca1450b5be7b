/* Features that take several lines in the header, or one line with a list: CPUs, memory, caches,
 * PMUs, BPF programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "script/header.h"

bool pf_facts_are_long(uint32_t feature)
{
    return feature == PERFILE_FEATURE_CPU_TOPOLOGY || feature == PERFILE_FEATURE_NUMA_TOPOLOGY ||
           feature == PERFILE_FEATURE_CACHE || feature == PERFILE_FEATURE_MEM_TOPOLOGY ||
           feature == PERFILE_FEATURE_HYBRID_TOPOLOGY;
}

/* Prints a line for each text. */
static void put_siblings(pf_facts *f, const char *what, perfile_strings lists)
{
    perfile_bytes text;
    while (f->ok && perfile_strings_next(&lists, &text) == PERFILE_OK) {
        PF_FACT(f, "# sibling %s : ", what);
        pf_facts_name(f, text);
        pf_facts_text(f, "\n");
    }
}

/* Returns true if perf trusts the numbers of cores and sockets: on most machines none may exceed
 * the number of CPUs. */
static bool are_small(const pf_facts *f, perfile_list cpus)
{
    const char *arch = perfile_session_fact(f->session, PERFILE_FACT_ARCH);
    const perfile_feature *feature = perfile_session_feature(f->session, PERFILE_FEATURE_NRCPUS);
    perfile_nrcpus n;
    perfile_topology_cpu cpu;
    if (!feature || perfile_nrcpus_decode(feature, &n, sizeof n, NULL) != PERFILE_OK ||
        (arch && (strncmp(arch, "s390", 4) == 0 || strncmp(arch, "aarch64", 7) == 0)))
        return true;
    while (perfile_topology_cpu_next(&cpus, &cpu, sizeof cpu) == PERFILE_OK)
        if (cpu.core_id > (int64_t)n.nr_cpus_avail || cpu.socket_id > (int64_t)n.nr_cpus_avail)
            return false;
    return true;
}

static void put_topology(pf_facts *f, const perfile_feature *feature)
{
    perfile_cpu_topology v;
    perfile_topology_cpu cpu;
    if (perfile_cpu_topology_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    const bool dies = v.has_dies && v.nr_dies;
    put_siblings(f, "sockets", v.package_cpus_list);
    if (dies)
        put_siblings(f, "dies   ", v.die_cpus_list);
    put_siblings(f, "threads", v.core_cpus_list);
    const bool has_cpu = v.has_cpu && are_small(f, v.cpu);
    if (!has_cpu)
        PF_FACT(f, "# Core ID%s Socket ID information is not available\n",
                dies ? ", Die ID and" : " and");
    for (size_t i = 0;
         has_cpu && f->ok && perfile_topology_cpu_next(&v.cpu, &cpu, sizeof cpu) == PERFILE_OK;
         i++) {
        PF_FACT(f, "# CPU %zu: Core ID %" PRId32 ", ", i, cpu.core_id);
        if (dies && i < v.die_id.n)
            PF_FACT(f, "Die ID %" PRId32 ", ", (int32_t)perfile_word(&v.die_id, i));
        PF_FACT(f, "Socket ID %" PRId32 "\n", cpu.socket_id);
    }
}

static void put_nodes(pf_facts *f, const perfile_feature *feature)
{
    perfile_numa_topology v;
    perfile_numa_node node;
    if (perfile_numa_topology_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    while (f->ok && perfile_numa_node_next(&v.nodes, &node, sizeof node) == PERFILE_OK) {
        PF_FACT(f, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n",
                node.node, node.mem_total, node.mem_free);
        PF_FACT(f, "# node%" PRIu32 " cpu list : ", node.node);
        pf_facts_name(f, node.cpus);
        pf_facts_text(f, "\n");
    }
}

static void put_caches(pf_facts *f, const perfile_feature *feature)
{
    perfile_cache v;
    perfile_cache_entry c;
    if (perfile_cache_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    pf_facts_text(f, "# CPU cache info:\n");
    while (f->ok && perfile_cache_entry_next(&v.caches, &c, sizeof c) == PERFILE_OK) {
        PF_FACT(f, "#  L%" PRId32 " ", (int32_t)c.level);
        pf_facts_name(f, c.type);
        PF_FACT(f, "%*s ", c.type.len < 15 ? 15 - (int)c.type.len : 0, "");
        PF_FACT(f, "%*s", c.size.len < 8 ? 8 - (int)c.size.len : 0, "");
        pf_facts_name(f, c.size);
        pf_facts_text(f, " [");
        pf_facts_name(f, c.map);
        pf_facts_text(f, "]\n");
    }
}

/* Prints the set bits in perf's form, cut after 99 bytes: "0-15,32". */
static void put_ranges(pf_facts *f, const perfile_mem_node *node)
{
    char text[160];
    size_t n = 0;
    const uint64_t most = node->bitmap.n * UINT64_C(64);
    const uint64_t bits = node->nbits < most ? node->nbits : most;
    for (uint64_t at = 0, first = 0; at <= bits && n < 99; at++) {
        const bool set = at < bits && perfile_word(&node->bitmap, (size_t)(at / 64)) >> at % 64 & 1;
        const bool was =
            at && perfile_word(&node->bitmap, (size_t)((at - 1) / 64)) >> (at - 1) % 64 & 1;
        if (set && !was)
            first = at;
        if (set || !was)
            continue;
        n += (size_t)snprintf(text + n, 32, "%s%" PRIu64, n ? "," : "", first);
        if (first + 1 < at)
            n += (size_t)snprintf(text + n, 32, "-%" PRIu64, at - 1);
    }
    text[n < 99 ? n : 99] = 0;
    pf_facts_text(f, text);
}

/* Returns the number of set bits. */
static uint64_t bits_of(const perfile_words *map)
{
    uint64_t n = 0;
    for (size_t i = 0; i < map->n; i++)
        n += (uint64_t)__builtin_popcountll(perfile_word(map, i));
    return n;
}

static void put_memory(pf_facts *f, const perfile_feature *feature)
{
    perfile_mem_topology v;
    perfile_mem_node node;
    if (perfile_mem_topology_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    PF_FACT(f, "# memory nodes (nr %" PRId32 ", block size 0x%" PRIx64 "):\n", (int32_t)v.nr,
            v.block_size_bytes);
    while (f->ok && perfile_mem_node_next(&v.nodes, &node, sizeof node) == PERFILE_OK) {
        uint64_t size = v.block_size_bytes * bits_of(&node.bitmap);
        unsigned unit = 0;
        for (; size / 1024 > 1 && unit < 3; unit++)
            size /= 1024;
        PF_FACT(f, "#  %3" PRIu64 " [%" PRIu64 "%c]: ", node.node, size, "BKMG"[unit]);
        put_ranges(f, &node);
        pf_facts_text(f, "\n");
    }
}

static void put_pmus(pf_facts *f, const perfile_feature *feature)
{
    perfile_pmu_mappings v;
    perfile_pmu_mapping pmu;
    const char *between = "# pmu mappings: ";
    if (perfile_pmu_mappings_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    if (!v.nr)
        pf_facts_text(f, "# pmu mappings: not available");
    while (f->ok && perfile_pmu_mapping_next(&v.pmus, &pmu, sizeof pmu) == PERFILE_OK) {
        pf_facts_text(f, between);
        pf_facts_name(f, pmu.name);
        PF_FACT(f, " = %" PRIu32, pmu.type);
        between = ", ";
    }
    pf_facts_text(f, "\n");
}

/* Prints the capabilities of a PMU: "name=value, …". */
static void put_capabilities(pf_facts *f, perfile_bytes pmu, uint32_t n, perfile_list *list)
{
    perfile_pmu_cap cap;
    const char *between = "";
    pf_facts_text(f, "# ");
    pf_facts_name(f, pmu);
    pf_facts_text(f, n ? " pmu capabilities: " : " pmu capabilities: not available");
    while (f->ok && perfile_pmu_cap_next(list, &cap, sizeof cap) == PERFILE_OK) {
        pf_facts_text(f, between);
        pf_facts_name(f, cap.name);
        pf_facts_text(f, "=");
        pf_facts_name(f, cap.value);
        between = ", ";
    }
    pf_facts_text(f, "\n");
}

static void put_all_capabilities(pf_facts *f, const perfile_feature *feature)
{
    perfile_cpu_pmu_caps cpu;
    perfile_pmu_caps all;
    perfile_pmu_caps_entry pmu;
    if (feature->number == PERFILE_FEATURE_CPU_PMU_CAPS) {
        if (perfile_cpu_pmu_caps_decode(feature, &cpu, sizeof cpu, NULL) == PERFILE_OK)
            put_capabilities(f, (perfile_bytes){(const uint8_t *)"cpu", 3}, cpu.nr, &cpu.caps);
        return;
    }
    if (perfile_pmu_caps_decode(feature, &all, sizeof all, NULL) != PERFILE_OK)
        return;
    while (f->ok && perfile_pmu_caps_entry_next(&all.pmus, &pmu, sizeof pmu) == PERFILE_OK)
        put_capabilities(f, pmu.pmu_name, pmu.nr_caps, &pmu.caps);
}

static void put_hybrid(pf_facts *f, const perfile_feature *feature)
{
    perfile_hybrid_topology v;
    perfile_hybrid_node node;
    if (perfile_hybrid_topology_decode(feature, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    pf_facts_text(f, "# hybrid cpu system:\n");
    while (f->ok && perfile_hybrid_node_next(&v.nodes, &node, sizeof node) == PERFILE_OK) {
        pf_facts_text(f, "# ");
        pf_facts_name(f, node.pmu_name);
        pf_facts_text(f, " cpu list : ");
        pf_facts_name(f, node.cpus);
        pf_facts_text(f, "\n");
    }
}

/* BPF programs: struct bpf_prog_info of the kernel, with pointers to arrays replaced by offsets in
 * the data after it. */

enum { PROG_ID = 4, PROG_NAME = 64, PROG_KSYMS = 104, PROG_TAGS = 180, PROG_NAME_SIZE = 16 };

/* Returns a cursor at item `i`, of `width` bytes, of the array at `offset`; the cursor is bad if
 * the item is outside of the data. */
static pf_cursor item_at(const perfile_bpf_prog_info_entry *e, uint64_t offset, uint64_t i,
                         unsigned width)
{
    pf_cursor c = pf_cur(e->data, false);
    pf_cur_span(&c, offset);
    pf_cur_span(&c, i * width);
    return c;
}

/* Prints the name that the kernel shows.  `only`: the program has just this function. */
static void put_program_name(pf_facts *f, perfile_bytes info, pf_cursor tag, bool only)
{
    pf_facts_text(f, "bpf_prog_");
    for (size_t i = 0; i < 8; i++)
        PF_FACT(f, "%02x", pf_cur_u8(&tag));
    if (only && !info.ptr[PROG_NAME])
        return;
    pf_facts_text(f, "_");
    if (only)
        pf_facts_name(f, (perfile_bytes){info.ptr + PROG_NAME, PROG_NAME_SIZE});
    else
        pf_facts_text(f, "F");
}

static void put_program(pf_facts *f, const perfile_bpf_prog_info_entry *e)
{
    pf_cursor c = pf_cur(e->info, false), more = c;
    pf_cur_span(&c, PROG_ID);
    const uint32_t id = pf_cur_u32(&c);
    pf_cur_span(&c, PROG_KSYMS - PROG_ID - sizeof id);
    const uint32_t n = pf_cur_u32(&c), n_lens = pf_cur_u32(&c);
    const uint64_t addrs = pf_cur_u64(&c), lens = pf_cur_u64(&c);
    pf_cur_span(&more, PROG_TAGS);
    const uint32_t n_tags = pf_cur_u32(&more);
    const uint64_t tags = pf_cur_u64(&more);
    if (more.bad || n != n_lens || n != n_tags || n > e->data.len / 8)
        return;
    PF_FACT(f, "# bpf_prog_info %" PRIu32 ":%s", id, n == 1 ? " " : "\n");
    for (uint32_t i = 0; i < n && f->ok; i++) {
        pf_cursor addr = item_at(e, addrs, i, 8), len = item_at(e, lens, i, 4);
        if (n > 1)
            PF_FACT(f, "# \tsub_prog %" PRIu32 ": ", i);
        put_program_name(f, e->info, item_at(e, tags, i, 8), n == 1);
        PF_FACT(f, " addr 0x%" PRIx64 " size %" PRIu32 "\n", pf_cur_u64(&addr), pf_cur_u32(&len));
    }
}

static void put_bpf(pf_facts *f, const perfile_feature *feature)
{
    perfile_bpf_prog_info programs;
    perfile_bpf_prog_info_entry program;
    perfile_bpf_btf types;
    perfile_bpf_btf_entry type;
    if (feature->flags & PERFILE_REC_SWAPPED) /* perf cannot read them */
        return;
    if (feature->number == PERFILE_FEATURE_BPF_PROG_INFO) {
        if (perfile_bpf_prog_info_decode(feature, &programs, sizeof programs, NULL) != PERFILE_OK)
            return;
        while (f->ok && perfile_bpf_prog_info_entry_next(&programs.infos, &program,
                                                         sizeof program) == PERFILE_OK)
            put_program(f, &program);
        return;
    }
    if (perfile_bpf_btf_decode(feature, &types, sizeof types, NULL) != PERFILE_OK)
        return;
    while (f->ok && perfile_bpf_btf_entry_next(&types.btfs, &type, sizeof type) == PERFILE_OK)
        PF_FACT(f, "# btf info of id %" PRIu32 "\n", type.id);
}

bool pf_facts_put(pf_facts *f, const perfile_feature *feature)
{
    switch (feature->number) {
    case PERFILE_FEATURE_CPU_TOPOLOGY:
        put_topology(f, feature);
        return true;
    case PERFILE_FEATURE_NUMA_TOPOLOGY:
        put_nodes(f, feature);
        return true;
    case PERFILE_FEATURE_CACHE:
        put_caches(f, feature);
        return true;
    case PERFILE_FEATURE_MEM_TOPOLOGY:
        put_memory(f, feature);
        return true;
    case PERFILE_FEATURE_PMU_MAPPINGS:
        put_pmus(f, feature);
        return true;
    case PERFILE_FEATURE_CPU_PMU_CAPS:
    case PERFILE_FEATURE_PMU_CAPS:
        put_all_capabilities(f, feature);
        return true;
    case PERFILE_FEATURE_HYBRID_TOPOLOGY:
        put_hybrid(f, feature);
        return true;
    case PERFILE_FEATURE_BPF_PROG_INFO:
    case PERFILE_FEATURE_BPF_BTF:
        put_bpf(f, feature);
        return true;
    default:
        return false;
    }
}
