/* Encoding: makes the bytes of records, features and attrs from the structs of records.h.
 *
 * For a row RECORD(mmap2, …) in format/records.def there is
 *
 *     perfile_status perfile_mmap2_encode(const perfile_mmap2 *in, size_t size,
 *                                         const perfile_encode_options *how, void *out,
 *                                         size_t room, size_t *len, perfile_error *err);
 *
 * which makes a whole record (header, body, trailer).  Likewise each FEATURE row has a function
 * that makes its payload.  The bytes are decoded and compared before they are returned: either a
 * decoder gets exactly the input from them, or there is an error that names the member.
 *
 * - `has_…` members tell which members are present, as for decoders; of two that exclude each other
 *   the second need not be set.  Members under a `has_…` that is false must be 0.  `present` of
 *   perfile_sample and perfile_sample_id must have the bits that the layout requires.
 * - Counts and lengths (nr, raw_size …) are computed from the data that they describe; the values
 *   in these members are ignored.
 * - Numbers are native.  Arrays, strings and lists may come from a decoded struct, of either byte
 *   order, or from the program: perfile_words_u64(), perfile_strings_of(), perfile_NAME_list().
 * - Text ends with a NUL.  Text and record are padded with zeros to a multiple of 8, unless zeros
 *   there would be read as data.  Strings with a length (features) are padded to a multiple of 64.
 *
 * Nothing is allocated.  `out` must not overlap anything that `in` points to; after a failure its
 * contents are undefined.  65,536 bytes are enough for any record except simpleperf's.  With `out`
 * NULL nothing is written and *len is the size that is needed.
 *
 * PERFILE_E_USAGE: the struct cannot be stored as it is (perfile_error.where names the member), or
 * `out` is too small.  PERFILE_E_LIMIT: the record would be too long; `where` names the member that
 * did not fit. */
#ifndef PERFILE_ENCODE_H
#define PERFILE_ENCODE_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How records and features are stored.  If all members except `size` are 0, they are stored in this
 * machine's byte order and belong to no event. */
typedef struct perfile_encode_options {
    size_t size;
    const perfile_layout *layout; /* layout of the event, required for samples, READ and trailers */
    const perfile_sample_id *sample_id; /* the trailer, for kernel records whose layout has one */
    uint32_t n_cpus;                    /* for CPU_TOPOLOGY: number of CPUs in NRCPUS */
    uint16_t misc;                      /* misc of the header; not for simpleperf's records */
    uint16_t reserved0;
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… of the output; 0: this machine's */
    uint32_t reserved1;
    uint64_t reserved[4];
} perfile_encode_options;

/* Gets the layout of records of an event with this attr. */
PERFILE_API void perfile_layout_of_attr(const perfile_attr *attr, size_t size,
                                        perfile_layout *layout);

#ifndef PERFILE_DECLARATIONS
/* Wrap native arrays in the types of the structs.  The array is borrowed and must outlive the
 * result. */
static inline perfile_words perfile_words_u16(const uint16_t *words, size_t n)
{
    perfile_words out = {(const uint8_t *)(const void *)words, n, sizeof *words, false};
    return out;
}

/* The same for u32. */
static inline perfile_words perfile_words_u32(const uint32_t *words, size_t n)
{
    perfile_words out = {(const uint8_t *)(const void *)words, n, sizeof *words, false};
    return out;
}

/* The same for s32. */
static inline perfile_words perfile_words_s32(const int32_t *words, size_t n)
{
    perfile_words out = {(const uint8_t *)(const void *)words, n, sizeof *words, false};
    return out;
}

/* The same for u64. */
static inline perfile_words perfile_words_u64(const uint64_t *words, size_t n)
{
    perfile_words out = {(const uint8_t *)(const void *)words, n, sizeof *words, false};
    return out;
}

/* The same for strings. */
static inline perfile_strings perfile_strings_of(const perfile_bytes *texts, size_t n)
{
    perfile_strings out = {
        {(const uint8_t *)(const void *)texts, n * sizeof *texts}, n, false, true};
    return out;
}
#endif

/* One function for all types: encodes `in`, the struct of `type`, to out[0 .. room), as the top of
 * this header describes.  *len is the number of bytes.  `type` is a record type PERFILE_RECORD_…,
 * PERFILE_TYPE_FEATURE + PERFILE_FEATURE_…, PERFILE_TYPE_ATTR or PERFILE_TYPE_SAMPLE_ID. */
PERFILE_API perfile_status perfile_encode(uint32_t type, const void *in, size_t size,
                                          const perfile_encode_options *how, void *out, size_t room,
                                          size_t *len, perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* perfile_ns_link_list() … : perfile_list_of() for one type.
 * perfile_comm_encode() … : perfile_encode() for one type. */
/* clang-format off */
/* BEGIN made of format/: encoders */
static inline perfile_list perfile_attr_list(const perfile_attr *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_read_entry_list(const perfile_read_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_read_values_list(const perfile_read_values *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_branch_entry_list(const perfile_branch_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_branch_stack_list(const perfile_branch_stack *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_regs_user_list(const perfile_regs_user *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_regs_intr_list(const perfile_regs_intr *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_stack_user_list(const perfile_stack_user *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_weight_list(const perfile_weight *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_ns_link_list(const perfile_ns_link *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_cpu_map_data_list(const perfile_cpu_map_data *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_id_index_entry_list(const perfile_id_index_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_id_index_guest_list(const perfile_id_index_guest *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_thread_map_entry_list(const perfile_thread_map_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_stat_setting_list(const perfile_stat_setting *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_bpf_metadata_entry_list(const perfile_bpf_metadata_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_event_id_entry_list(const perfile_event_id_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_schedstat_balance_list(const perfile_schedstat_balance *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_schedstat_balance17_list(const perfile_schedstat_balance17 *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_schedstat_moves_list(const perfile_schedstat_moves *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_perfmon_header_list(const perfile_perfmon_header *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_perfmon_tag_list(const perfile_perfmon_tag *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_perfmon_branch_list(const perfile_perfmon_branch *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_event_desc_entry_list(const perfile_event_desc_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_topology_cpu_list(const perfile_topology_cpu *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_numa_node_list(const perfile_numa_node *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_pmu_mapping_list(const perfile_pmu_mapping *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_group_desc_entry_list(const perfile_group_desc_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_auxtrace_index_entry_list(const perfile_auxtrace_index_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_cache_entry_list(const perfile_cache_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_mem_node_list(const perfile_mem_node *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_bpf_prog_info_entry_list(const perfile_bpf_prog_info_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_bpf_btf_entry_list(const perfile_bpf_btf_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_pmu_cap_list(const perfile_pmu_cap *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_hybrid_node_list(const perfile_hybrid_node *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_pmu_caps_entry_list(const perfile_pmu_caps_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_sched_domain_list(const perfile_sched_domain *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_cpu_domains_list(const perfile_cpu_domains *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_build_id_entry_list(const perfile_build_id_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_meta_entry_list(const perfile_meta_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_file_symbol_list(const perfile_file_symbol *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_file_entry_list(const perfile_file_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_file2_entry_list(const perfile_file2_entry *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_tracing_file_list(const perfile_tracing_file *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_tracing_system_list(const perfile_tracing_system *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_list perfile_tracing_formats_list(const perfile_tracing_formats *items, size_t n, size_t size)
{
    return perfile_list_of(items, n, size);
}
static inline perfile_status perfile_tracing_data_encode(const perfile_tracing_data *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_TRACING_DATA, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_build_ids_encode(const perfile_build_ids *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_BUILD_ID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_hostname_encode(const perfile_hostname *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_HOSTNAME, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_osrelease_encode(const perfile_osrelease *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_OSRELEASE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_tool_version_encode(const perfile_tool_version *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_VERSION, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_arch_encode(const perfile_arch *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_ARCH, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_nrcpus_encode(const perfile_nrcpus *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_NRCPUS, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpudesc_encode(const perfile_cpudesc *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CPUDESC, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpuid_encode(const perfile_cpuid *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CPUID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_total_mem_encode(const perfile_total_mem *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_TOTAL_MEM, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cmdline_encode(const perfile_cmdline *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CMDLINE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_event_desc_encode(const perfile_event_desc *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_EVENT_DESC, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpu_topology_encode(const perfile_cpu_topology *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CPU_TOPOLOGY, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_numa_topology_encode(const perfile_numa_topology *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_NUMA_TOPOLOGY, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_branch_stack_used_encode(const perfile_branch_stack_used *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_BRANCH_STACK, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_pmu_mappings_encode(const perfile_pmu_mappings *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_PMU_MAPPINGS, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_group_desc_encode(const perfile_group_desc *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_GROUP_DESC, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_auxtrace_index_encode(const perfile_auxtrace_index *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_AUXTRACE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_stat_used_encode(const perfile_stat_used *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_STAT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cache_encode(const perfile_cache *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CACHE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sample_time_encode(const perfile_sample_time *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_SAMPLE_TIME, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_mem_topology_encode(const perfile_mem_topology *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_MEM_TOPOLOGY, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_clockid_encode(const perfile_clockid *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CLOCKID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_dir_format_encode(const perfile_dir_format *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_DIR_FORMAT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_bpf_prog_info_encode(const perfile_bpf_prog_info *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_BPF_PROG_INFO, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_bpf_btf_encode(const perfile_bpf_btf *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_BPF_BTF, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_compression_encode(const perfile_compression *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_COMPRESSED, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpu_pmu_caps_encode(const perfile_cpu_pmu_caps *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CPU_PMU_CAPS, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_clock_data_encode(const perfile_clock_data *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CLOCK_DATA, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_hybrid_topology_encode(const perfile_hybrid_topology *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_HYBRID_TOPOLOGY, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_pmu_caps_encode(const perfile_pmu_caps *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_PMU_CAPS, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpu_domain_info_encode(const perfile_cpu_domain_info *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CPU_DOMAIN_INFO, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_elf_machine_encode(const perfile_elf_machine *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_E_MACHINE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cln_size_encode(const perfile_cln_size *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_CLN_SIZE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_file_encode(const perfile_sp_file *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_FILE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_meta_info_encode(const perfile_sp_meta_info *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_META_INFO, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_debug_unwind_encode(const perfile_sp_debug_unwind *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_DEBUG_UNWIND, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_debug_unwind_file_encode(const perfile_sp_debug_unwind_file *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_DEBUG_UNWIND_FILE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_file2_encode(const perfile_sp_file2 *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_FILE2, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_etm_branch_list_encode(const perfile_sp_etm_branch_list *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_ETM_BRANCH_LIST, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_init_map_encode(const perfile_sp_init_map *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE_INIT_MAP, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sample_encode(const perfile_sample *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SAMPLE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_mmap_encode(const perfile_mmap *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_MMAP, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_lost_encode(const perfile_lost *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_LOST, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_comm_encode(const perfile_comm *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_COMM, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_exit_encode(const perfile_exit *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_EXIT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_throttle_encode(const perfile_throttle *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_THROTTLE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_unthrottle_encode(const perfile_unthrottle *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_UNTHROTTLE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_fork_encode(const perfile_fork *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_FORK, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_read_encode(const perfile_read *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_READ, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_mmap2_encode(const perfile_mmap2 *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_MMAP2, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_aux_encode(const perfile_aux *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_AUX, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_itrace_start_encode(const perfile_itrace_start *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_ITRACE_START, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_lost_samples_encode(const perfile_lost_samples *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_LOST_SAMPLES, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_switch_encode(const perfile_switch *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SWITCH, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_switch_cpu_wide_encode(const perfile_switch_cpu_wide *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SWITCH_CPU_WIDE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_namespaces_encode(const perfile_namespaces *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_NAMESPACES, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_ksymbol_encode(const perfile_ksymbol *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_KSYMBOL, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_bpf_event_encode(const perfile_bpf_event *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_BPF_EVENT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cgroup_encode(const perfile_cgroup *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_CGROUP, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_text_poke_encode(const perfile_text_poke *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_TEXT_POKE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_aux_output_hw_id_encode(const perfile_aux_output_hw_id *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_AUX_OUTPUT_HW_ID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_callchain_deferred_encode(const perfile_callchain_deferred *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_CALLCHAIN_DEFERRED, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_header_attr_encode(const perfile_header_attr *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_HEADER_ATTR, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_header_event_type_encode(const perfile_header_event_type *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_HEADER_EVENT_TYPE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_header_tracing_data_encode(const perfile_header_tracing_data *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_HEADER_TRACING_DATA, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_header_build_id_encode(const perfile_header_build_id *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_HEADER_BUILD_ID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_finished_round_encode(const perfile_finished_round *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_FINISHED_ROUND, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_id_index_encode(const perfile_id_index *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_ID_INDEX, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_auxtrace_info_encode(const perfile_auxtrace_info *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_AUXTRACE_INFO, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_auxtrace_encode(const perfile_auxtrace *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_AUXTRACE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_auxtrace_error_encode(const perfile_auxtrace_error *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_AUXTRACE_ERROR, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_thread_map_encode(const perfile_thread_map *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_THREAD_MAP, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_cpu_map_encode(const perfile_cpu_map *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_CPU_MAP, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_stat_config_encode(const perfile_stat_config *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_STAT_CONFIG, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_stat_encode(const perfile_stat *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_STAT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_stat_round_encode(const perfile_stat_round *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_STAT_ROUND, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_event_update_encode(const perfile_event_update *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_EVENT_UPDATE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_time_conv_encode(const perfile_time_conv *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_TIME_CONV, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_header_feature_encode(const perfile_header_feature *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_HEADER_FEATURE, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_compressed_encode(const perfile_compressed *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_COMPRESSED, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_finished_init_encode(const perfile_finished_init *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_FINISHED_INIT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_compressed2_encode(const perfile_compressed2 *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_COMPRESSED2, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_bpf_metadata_encode(const perfile_bpf_metadata *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_BPF_METADATA, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_schedstat_cpu_encode(const perfile_schedstat_cpu *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SCHEDSTAT_CPU, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_schedstat_domain_encode(const perfile_schedstat_domain *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SCHEDSTAT_DOMAIN, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_kernel_symbol_encode(const perfile_sp_kernel_symbol *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_KERNEL_SYMBOL, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_dso_encode(const perfile_sp_dso *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_DSO, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_symbol_encode(const perfile_sp_symbol *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_SYMBOL, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_split_encode(const perfile_sp_split *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_SPLIT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_split_end_encode(const perfile_sp_split_end *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_SPLIT_END, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_event_id_encode(const perfile_sp_event_id *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_EVENT_ID, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_callchain_encode(const perfile_sp_callchain *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_CALLCHAIN, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_unwinding_result_encode(const perfile_sp_unwinding_result *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_tracing_data_encode(const perfile_sp_tracing_data *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_TRACING_DATA, in, size, how, out, room, len, err);
}
static inline perfile_status perfile_sp_debug_encode(const perfile_sp_debug *in, size_t size,
    const perfile_encode_options *how, void *out, size_t room, size_t *len,
    perfile_error *err)
{
    return perfile_encode(PERFILE_RECORD_SIMPLEPERF_DEBUG, in, size, how, out, room, len, err);
}
/* END made of format/ */
/* clang-format on */
#endif

#ifndef PERFILE_DECLARATIONS
/* Encodes a trailer alone, with how->layout; how->sample_id is ignored. */
static inline perfile_status perfile_sample_id_encode(const perfile_sample_id *in, size_t size,
                                                      const perfile_encode_options *how, void *out,
                                                      size_t room, size_t *len, perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_SAMPLE_ID, in, size, how, out, room, len, err);
}

/* Encodes an attr of in->size bytes (0, as in very old files: 64) in the byte order of `how`.
 * Members that do not fit must be 0. */
static inline perfile_status perfile_attr_encode(const perfile_attr *in, size_t size,
                                                 const perfile_encode_options *how, void *out,
                                                 size_t room, size_t *len, perfile_error *err)
{
    return perfile_encode(PERFILE_TYPE_ATTR, in, size, how, out, room, len, err);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
