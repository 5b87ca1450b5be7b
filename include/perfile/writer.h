/* Writes captures: takes facts and records, and makes a file, a pipe or a directory of them.
 *
 *     perfile_writer_options o = {.size = sizeof o};
 *     st = perfile_writer_open_path("out.data", &o, &w, &err);
 *     st = perfile_writer_add_event(w, &event, &index, &err);
 *     st = perfile_writer_put_sample(w, &sample, sizeof sample, &how, &err);
 *     …
 *     st = perfile_writer_finish(w, &err);
 *     perfile_writer_close(w);
 *
 * Nothing appears under the final name before perfile_writer_finish() succeeds, unless
 * `progressive` is set.  A call that asks for something the form cannot store fails and leaves the
 * capture unchanged.  A failed write returns PERFILE_E_IO with errno; every later call returns the
 * same, and no half-written file remains.
 *
 * Facts and records can be passed in two ways.  As stored bytes (of another capture, or of the
 * kernel) they are copied unchanged and must be in the byte order of the capture.  As structs
 * (records.h) in native numbers they are encoded by the functions of encode.h.  The writer itself
 * makes everything that depends on offsets: sections, feature table, index of AUX traces. */
#ifndef PERFILE_WRITER_H
#define PERFILE_WRITER_H

#include "container.h"
#include "encode.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A capture that is being written. */
typedef struct perfile_writer perfile_writer;

/* A kind of output that a capture can be written as. */
typedef struct perfile_output {
    const char *name;   /* "perf.data", "pipe", "dir", … */
    const char *alias;  /* second name, or NULL */
    const char *doc;    /* a short description */
    const char *format; /* perfile_writer_options.format */
    uint32_t form;      /* PERFILE_FORM_… */
    bool directory;     /* needs a sink of perfile_sink_directory() */
    bool archive;       /* needs a sink of perfile_archive_sink(); keeps the input form */
} perfile_output;

#ifndef PERFILE_DECLARATIONS
/* Returns the outputs of all formats by position, those of perf.data first, and NULL after the
 * last. */
static inline const perfile_output *perfile_output_at(size_t position)
{
    const perfile_output *row = NULL;
    perfile_row(PERFILE_ROW_OUTPUT, 0, position, &row, sizeof row);
    return row;
}
#endif

enum { /* perfile_writer_options.compress_level, besides levels */
       PERFILE_COMPRESS_AS_READ =
           -1, /* for perfile_copy(): compress a file if the input has the feature COMPRESSED, with
                  the level stated there.  Otherwise, and in all other forms, do not compress
                  (perf 6.1 cannot read compressed pipes) */
       PERFILE_COMPRESS_NONE = -2
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_writer_options {
    size_t size;
    uint32_t form;      /* PERFILE_FORM_FILE (also 0) or PERFILE_FORM_PIPE */
    uint32_t attr_size; /* bytes of every attr, as known to the perf that shall read the capture: a
                           multiple of 8 from 64 to 4096, see format/versions.def. 0: as passed (in
                           a file: the largest of them).  An event with attr bytes that would be cut
                           off is refused */
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… of the capture: stored bytes must be in it, structs
                            are encoded in it. 0: the byte order of this machine */
    bool compressed2;    /* COMPRESSED2 records (perf 6.16) instead of COMPRESSED */
    bool progressive;    /* for live recordings: see perfile_writer_open() */
    bool directory;      /* perfile_writer_open_path(): a directory, see perfile_sink_directory() */
    bool as_stored;      /* perfile_writer_event() accepts events even if a reader cannot tell their
                            records apart: for copies of captures with such events */
    int32_t compress_level; /* zstd level 1 to 22: compress records of the kernel; 0: do not
                               compress; or PERFILE_COMPRESS_… */
    uint32_t sink_flags;    /* perfile_writer_open_path(): PERFILE_SINK_… */
    /* The version of perf that shall read the capture, "6.1" or "perf-6.1"; NULL: any.  It sets
     * attr_size if that is 0.  In a pipe, features that this perf does not know are refused, and
     * the list of features ends the way it expects.  Compression that it has no records for and
     * directories that it cannot open are refused. */
    const char *target;
    const char *format; /* perfile_container.format of a capture: "perf.data" (also NULL), … */
    uint64_t reserved[4];
} perfile_writer_options;

/* Begins a capture on `sink` (a path, "-", a descriptor, memory, callbacks, a directory).  The
 * caller keeps the sink; it must outlive the writer.
 *
 * With `progressive` the file appears under its name with the first record.  Its header is then
 * complete except for the size of the data (0) and the features.  Event names are written as
 * EVENT_UPDATE records, too. perfile_writer_round() flushes everything that is buffered.  If the
 * process is killed, the file can be opened by perfile and has all records at least up to the last
 * round.  The same holds after a failed write and after perfile_writer_close() without finish.
 * perfile_writer_abort() removes the file.
 *
 * PERFILE_E_USAGE: the options contradict each other, or the form is FILE and the sink cannot seek
 * back to the header (a pipe, a terminal); then write to a file, or use the form PIPE. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                    perfile_writer **writer, perfile_error *err);

/* Like perfile_writer_open(), with a sink that the writer opens for `path` or "-" and owns. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_writer_open_path(const char *path, const perfile_writer_options *options,
                         perfile_writer **writer, perfile_error *err);

/* Events.  All must be added before the first record of the kernel; in the form FILE before the
 * first record of any kind. */

/* An event to be written.  Set `size` and `attr`.  Everything is copied. */
typedef struct perfile_new_event {
    size_t size;
    const perfile_attr *attr; /* if attr->size is 0: 64 bytes, or as many as its members need */
    size_t attr_struct;       /* sizeof(perfile_attr) in the program; 0: in the library */
    const uint64_t *ids;      /* native; NULL is allowed if there is only one event */
    size_t n_ids;             /* items of `ids` */
    const char *name;         /* "cycles:u"; NULL: the name that perf would use */
    const char *unit;         /* of its counts; may be NULL */
    double scale;             /* factor of its counts; 0: none */
    uint64_t reserved[4];
} perfile_new_event;

/* Adds an event.  *index (may be NULL) becomes its number, counted from 0.
 * PERFILE_E_USAGE, with a sentence: a reader could not find the event of a record.  Several events
 * need distinct ids, IDENTIFIER or ID at the same position in all sample_types, the same
 * sample_id_all, and the ids of counters (read_format ID) if samples have READ.  This is not
 * checked if feature STAT was set before, because records of `perf stat` identify their event in
 * another way.
 * PERFILE_E_LIMIT: a pipe cannot hold so many ids. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_add_event(perfile_writer *w,
                                                                     const perfile_new_event *event,
                                                                     uint32_t *index,
                                                                     perfile_error *err);

/* Adds an event of another capture: an attr and its ids as stored (`ids` may be NULL).  Fails as
 * perfile_writer_add_event() does, unless options.as_stored is set.  In the form FILE all attrs are
 * padded with zeros to the size of the largest, as perf requires.  In the form PIPE the event
 * becomes a HEADER_ATTR record. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_event(perfile_writer *w,
                                                                 perfile_bytes attr,
                                                                 const perfile_words *ids,
                                                                 perfile_error *err);

/* Set the name of event `index`, the unit of its counts, and their factor.  Names are stored in
 * EVENT_DESC, unless that feature is passed as bytes; in the form PIPE and with `progressive` they
 * are in an EVENT_UPDATE record.  Unit and factor are always in EVENT_UPDATE records.
 * PERFILE_E_USAGE: there is no such event, or there are several and this one has no id, so that
 * records cannot refer to it. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_update_event(
    perfile_writer *w, uint32_t index, uint32_t type, const void *value, perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Sets the name of event `index`. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_event_name(perfile_writer *w,
                                                                        uint32_t index,
                                                                        const char *name,
                                                                        perfile_error *err)
{
    return perfile_writer_update_event(w, index, PERFILE_UPDATE_TYPE_NAME, name, err);
}

/* Sets the unit of event `index`. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_event_unit(perfile_writer *w,
                                                                        uint32_t index,
                                                                        const char *unit,
                                                                        perfile_error *err)
{
    return perfile_writer_update_event(w, index, PERFILE_UPDATE_TYPE_UNIT, unit, err);
}

/* Sets the scale of event `index`: a factor for its counts. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_event_scale(perfile_writer *w,
                                                                         uint32_t index,
                                                                         double scale,
                                                                         perfile_error *err)
{
    return perfile_writer_update_event(w, index, PERFILE_UPDATE_TYPE_SCALE, &scale, err);
}
#endif

/* Features. */

/* Sets the payload of a feature section.  The payload is copied.  A later call replaces it.
 *
 * Form FILE: allowed at any time.  The writer itself makes the index of AUX traces (AUXTRACE),
 * DIR_FORMAT of a directory, and COMPRESSED if it compresses; payloads for these are ignored.
 *
 * Form PIPE: the feature becomes a HEADER_FEATURE record.  TRACING_DATA becomes a
 * HEADER_TRACING_DATA record, and BUILD_ID a HEADER_BUILD_ID record for each file.  Features must
 * be set before the first record of the kernel, except BUILD_ID.  The features that were set before
 * the first record are followed by an end marker of the list.  Each version of perf uses another
 * number for this marker and refuses all others.  The writer takes the number of `target`; without
 * a target, the number of the perf named in VERSION; else 32, which perf 5.14 and newer accept.
 * PERFILE_E_LIMIT: the payload is longer than the 65,519 bytes that a record holds.
 * PERFILE_E_USAGE: the feature has no meaning in a pipe (AUXTRACE, DIR_FORMAT). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_feature(perfile_writer *w,
                                                                   uint32_t number,
                                                                   perfile_bytes payload,
                                                                   perfile_error *err);

/* Flag of `type` of perfile_writer_set(): the feature is a line of text, `in`, of `size` bytes. */
#define PERFILE_WRITER_TEXT 0x10000

/* Sets a feature from `in`, the struct of PERFILE_FEATURE_…; `size` is sizeof *in.  CPU_TOPOLOGY
 * needs the number of CPUs: set NRCPUS first. perfile_writer_set_hostname() … do this for one type
 * each. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_set(perfile_writer *w, uint32_t type,
                                                               const void *in, size_t size,
                                                               perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Sets a feature that is a line of text: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC or CPUID. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_text(perfile_writer *w,
                                                                  uint32_t number, const char *text,
                                                                  perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_WRITER_TEXT | number, text, strlen(text), err);
}

/* perfile_writer_set_hostname() … : perfile_writer_set() for one type. */
/* clang-format off */
/* BEGIN made of format/: setters */
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_tracing_data(perfile_writer *w, const perfile_tracing_data *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_TRACING_DATA, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_build_ids(perfile_writer *w, const perfile_build_ids *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_BUILD_ID, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_hostname(perfile_writer *w, const perfile_hostname *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_HOSTNAME, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_osrelease(perfile_writer *w, const perfile_osrelease *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_OSRELEASE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_tool_version(perfile_writer *w, const perfile_tool_version *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_VERSION, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_arch(perfile_writer *w, const perfile_arch *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_ARCH, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_nrcpus(perfile_writer *w, const perfile_nrcpus *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_NRCPUS, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cpudesc(perfile_writer *w, const perfile_cpudesc *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CPUDESC, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cpuid(perfile_writer *w, const perfile_cpuid *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CPUID, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_total_mem(perfile_writer *w, const perfile_total_mem *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_TOTAL_MEM, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cmdline(perfile_writer *w, const perfile_cmdline *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CMDLINE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_event_desc(perfile_writer *w, const perfile_event_desc *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_EVENT_DESC, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cpu_topology(perfile_writer *w, const perfile_cpu_topology *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CPU_TOPOLOGY, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_numa_topology(perfile_writer *w, const perfile_numa_topology *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_NUMA_TOPOLOGY, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_branch_stack_used(perfile_writer *w, const perfile_branch_stack_used *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_BRANCH_STACK, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_pmu_mappings(perfile_writer *w, const perfile_pmu_mappings *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_PMU_MAPPINGS, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_group_desc(perfile_writer *w, const perfile_group_desc *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_GROUP_DESC, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_auxtrace_index(perfile_writer *w, const perfile_auxtrace_index *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_AUXTRACE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_stat_used(perfile_writer *w, const perfile_stat_used *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_STAT, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cache(perfile_writer *w, const perfile_cache *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CACHE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sample_time(perfile_writer *w, const perfile_sample_time *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_SAMPLE_TIME, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_mem_topology(perfile_writer *w, const perfile_mem_topology *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_MEM_TOPOLOGY, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_clockid(perfile_writer *w, const perfile_clockid *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CLOCKID, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_dir_format(perfile_writer *w, const perfile_dir_format *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_DIR_FORMAT, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_bpf_prog_info(perfile_writer *w, const perfile_bpf_prog_info *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_BPF_PROG_INFO, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_bpf_btf(perfile_writer *w, const perfile_bpf_btf *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_BPF_BTF, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_compression(perfile_writer *w, const perfile_compression *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_COMPRESSED, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cpu_pmu_caps(perfile_writer *w, const perfile_cpu_pmu_caps *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CPU_PMU_CAPS, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_clock_data(perfile_writer *w, const perfile_clock_data *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CLOCK_DATA, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_hybrid_topology(perfile_writer *w, const perfile_hybrid_topology *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_HYBRID_TOPOLOGY, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_pmu_caps(perfile_writer *w, const perfile_pmu_caps *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_PMU_CAPS, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cpu_domain_info(perfile_writer *w, const perfile_cpu_domain_info *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CPU_DOMAIN_INFO, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_elf_machine(perfile_writer *w, const perfile_elf_machine *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_E_MACHINE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_cln_size(perfile_writer *w, const perfile_cln_size *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_CLN_SIZE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_file(perfile_writer *w, const perfile_sp_file *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_FILE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_meta_info(perfile_writer *w, const perfile_sp_meta_info *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_META_INFO, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_debug_unwind(perfile_writer *w, const perfile_sp_debug_unwind *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_DEBUG_UNWIND, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_debug_unwind_file(perfile_writer *w, const perfile_sp_debug_unwind_file *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_DEBUG_UNWIND_FILE, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_file2(perfile_writer *w, const perfile_sp_file2 *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_FILE2, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_etm_branch_list(perfile_writer *w, const perfile_sp_etm_branch_list *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_ETM_BRANCH_LIST, in, size, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_set_sp_init_map(perfile_writer *w, const perfile_sp_init_map *in, size_t size,
    perfile_error *err)
{
    return perfile_writer_set(w, PERFILE_FEATURE_INIT_MAP, in, size, err);
}
/* END made of format/ */
/* clang-format on */
#endif

/* Records as stored. */

/* Writes `n` records of one run (perfile_stream_next_run()) as stored, and the bytes that follow
 * them if these are in memory.  If they are not, call perfile_writer_extra() until all r->extra.len
 * bytes are written.  In a directory r->part selects the file: 0 is `data`, k is `data.(k-1)`.  If
 * a record is refused, the records before it have been written. PERFILE_E_LIMIT: a record is longer
 * than 65,535 bytes, the most that its size field can hold. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_put_run(perfile_writer *w,
                                                                   const perfile_record *first,
                                                                   size_t n, perfile_error *err);
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_extra(perfile_writer *w,
                                                                 perfile_bytes piece,
                                                                 perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Writes a record. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_put(perfile_writer *w,
                                                                 const perfile_record *r,
                                                                 perfile_error *err)
{
    return perfile_writer_put_run(w, r, 1, err);
}
#endif

/* Writes complete records of the kernel from its ring buffer.  They are in two pieces if they wrap,
 * as from perfile_ring_take().  In a directory `part` selects the file, otherwise it is 0.
 * PERFILE_E_CORRUPT: the bytes are not records of the kernel; err->offset is the position.  Nothing
 * is written then. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_put_spans(perfile_writer *w,
                                                                     const perfile_bytes spans[2],
                                                                     uint32_t part,
                                                                     perfile_error *err);

/* Records from structs. */

/* The event of a record and the values of its trailer.  Set `size`.  NULL instead of this struct
 * means event 0, `synthesized`, misc 0. */
typedef struct perfile_put_options {
    size_t size;
    uint32_t event;   /* number of the event; gives layout and ids */
    uint16_t misc;    /* of the header: PERFILE_MISC_… */
    bool synthesized; /* describes something that existed before the recording: the trailer is all
                         zeros, as perf writes it */
    uint8_t reserved0;
    uint32_t part;          /* of a directory, as perfile_record.part */
    uint32_t pid, tid, cpu; /* of the trailer */
    uint64_t time;          /* ns of the session clock */
    uint64_t id;            /* 0: the first id of the event */
    uint64_t stream_id;     /* 0: the same as `id` */
    uint64_t reserved[4];
} perfile_put_options;

/* Encodes `in`, the struct of PERFILE_RECORD_…, and writes the record; `size` is sizeof *in.  The
 * trailer is as in the layout of the event.  A sample has no trailer; if its `present` is 0, it
 * gets all fields of the layout of its event; if `id` and `identifier` are 0, both become the id of
 * the event.  Any other value in a field that the event does not have is refused, because it would
 * be lost.  After AUXTRACE and HEADER_TRACING_DATA, write the bytes that they announce with
 * perfile_writer_extra().  Errors are those of encode.h and perfile_writer_put().
 * perfile_writer_put_comm() … do this for one type each. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_writer_put_struct(perfile_writer *w, uint32_t type, const void *in, size_t size,
                          const perfile_put_options *how, perfile_error *err);
#ifndef PERFILE_DECLARATIONS
/* clang-format off */
/* BEGIN made of format/: putters */
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sample(perfile_writer *w, const perfile_sample *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SAMPLE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_mmap(perfile_writer *w, const perfile_mmap *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_MMAP, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_lost(perfile_writer *w, const perfile_lost *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_LOST, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_comm(perfile_writer *w, const perfile_comm *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_COMM, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_exit(perfile_writer *w, const perfile_exit *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_EXIT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_throttle(perfile_writer *w, const perfile_throttle *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_THROTTLE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_unthrottle(perfile_writer *w, const perfile_unthrottle *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_UNTHROTTLE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_fork(perfile_writer *w, const perfile_fork *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_FORK, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_read(perfile_writer *w, const perfile_read *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_READ, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_mmap2(perfile_writer *w, const perfile_mmap2 *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_MMAP2, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_aux(perfile_writer *w, const perfile_aux *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_AUX, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_itrace_start(perfile_writer *w, const perfile_itrace_start *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_ITRACE_START, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_lost_samples(perfile_writer *w, const perfile_lost_samples *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_LOST_SAMPLES, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_switch(perfile_writer *w, const perfile_switch *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SWITCH, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_switch_cpu_wide(perfile_writer *w, const perfile_switch_cpu_wide *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SWITCH_CPU_WIDE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_namespaces(perfile_writer *w, const perfile_namespaces *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_NAMESPACES, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_ksymbol(perfile_writer *w, const perfile_ksymbol *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_KSYMBOL, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_bpf_event(perfile_writer *w, const perfile_bpf_event *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_BPF_EVENT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_cgroup(perfile_writer *w, const perfile_cgroup *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_CGROUP, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_text_poke(perfile_writer *w, const perfile_text_poke *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_TEXT_POKE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_aux_output_hw_id(perfile_writer *w, const perfile_aux_output_hw_id *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_AUX_OUTPUT_HW_ID, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_callchain_deferred(perfile_writer *w, const perfile_callchain_deferred *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_CALLCHAIN_DEFERRED, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_header_attr(perfile_writer *w, const perfile_header_attr *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_HEADER_ATTR, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_header_event_type(perfile_writer *w, const perfile_header_event_type *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_HEADER_EVENT_TYPE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_header_tracing_data(perfile_writer *w, const perfile_header_tracing_data *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_HEADER_TRACING_DATA, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_header_build_id(perfile_writer *w, const perfile_header_build_id *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_HEADER_BUILD_ID, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_finished_round(perfile_writer *w, const perfile_finished_round *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_FINISHED_ROUND, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_id_index(perfile_writer *w, const perfile_id_index *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_ID_INDEX, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_auxtrace_info(perfile_writer *w, const perfile_auxtrace_info *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_AUXTRACE_INFO, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_auxtrace(perfile_writer *w, const perfile_auxtrace *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_AUXTRACE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_auxtrace_error(perfile_writer *w, const perfile_auxtrace_error *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_AUXTRACE_ERROR, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_thread_map(perfile_writer *w, const perfile_thread_map *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_THREAD_MAP, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_cpu_map(perfile_writer *w, const perfile_cpu_map *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_CPU_MAP, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_stat_config(perfile_writer *w, const perfile_stat_config *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_STAT_CONFIG, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_stat(perfile_writer *w, const perfile_stat *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_STAT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_stat_round(perfile_writer *w, const perfile_stat_round *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_STAT_ROUND, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_event_update(perfile_writer *w, const perfile_event_update *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_EVENT_UPDATE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_time_conv(perfile_writer *w, const perfile_time_conv *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_TIME_CONV, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_header_feature(perfile_writer *w, const perfile_header_feature *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_HEADER_FEATURE, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_compressed(perfile_writer *w, const perfile_compressed *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_COMPRESSED, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_finished_init(perfile_writer *w, const perfile_finished_init *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_FINISHED_INIT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_compressed2(perfile_writer *w, const perfile_compressed2 *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_COMPRESSED2, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_bpf_metadata(perfile_writer *w, const perfile_bpf_metadata *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_BPF_METADATA, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_schedstat_cpu(perfile_writer *w, const perfile_schedstat_cpu *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SCHEDSTAT_CPU, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_schedstat_domain(perfile_writer *w, const perfile_schedstat_domain *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SCHEDSTAT_DOMAIN, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_kernel_symbol(perfile_writer *w, const perfile_sp_kernel_symbol *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_KERNEL_SYMBOL, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_dso(perfile_writer *w, const perfile_sp_dso *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_DSO, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_symbol(perfile_writer *w, const perfile_sp_symbol *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_SYMBOL, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_split(perfile_writer *w, const perfile_sp_split *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_SPLIT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_split_end(perfile_writer *w, const perfile_sp_split_end *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_SPLIT_END, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_event_id(perfile_writer *w, const perfile_sp_event_id *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_EVENT_ID, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_callchain(perfile_writer *w, const perfile_sp_callchain *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_CALLCHAIN, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_unwinding_result(perfile_writer *w, const perfile_sp_unwinding_result *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_tracing_data(perfile_writer *w, const perfile_sp_tracing_data *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_TRACING_DATA, in, size, how, err);
}
PERFILE_MUST_USE static inline perfile_status perfile_writer_put_sp_debug(perfile_writer *w, const perfile_sp_debug *in, size_t size,
    const perfile_put_options *how, perfile_error *err)
{
    return perfile_writer_put_struct(w, PERFILE_RECORD_SIMPLEPERF_DEBUG, in, size, how, err);
}
/* END made of format/ */
/* clang-format on */

/* Writes a FINISHED_ROUND record: every ring buffer was read once more.  With `progressive` it also
 * flushes everything buffered. */
static inline PERFILE_MUST_USE perfile_status perfile_writer_round(perfile_writer *w,
                                                                   perfile_error *err)
{
    perfile_finished_round round;
    memset(&round, 0, sizeof round);
    return perfile_writer_put_struct(w, PERFILE_RECORD_FINISHED_ROUND, &round, sizeof round, NULL,
                                     err);
}
#endif

/* The end. */

/* What a writer did so far. */
typedef struct perfile_writer_summary {
    uint64_t bytes; /* see perfile_writer_bytes() */
    uint64_t reserved[7];
} perfile_writer_summary;

#ifndef PERFILE_DECLARATIONS
/* Returns the number of bytes of records written so far, as stored in the capture. */
static inline uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    perfile_writer_summary sum;
    perfile_summary(PERFILE_SUMMARY_WRITER, w, &sum, sizeof sum);
    return sum.bytes;
}
#endif

/* Writes the parts that follow the records, then the header, and finishes the sink: the file
 * appears under its name.  After that the writer can only be closed.  Calling it again is
 * allowed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_finish(perfile_writer *w,
                                                                  perfile_error *err);

/* Discards the capture: removes everything written, even if `progressive` has made it visible.
 * After that the writer can only be closed.  Does nothing after perfile_writer_finish(). */
PERFILE_API void perfile_writer_abort(perfile_writer *w);

/* Releases the writer, and the sink if perfile_writer_open_path() made it.  Without
 * perfile_writer_finish() no file appears, unless the writer is `progressive`.  `w` may be NULL. */
PERFILE_API void perfile_writer_close(perfile_writer *w);

#ifdef __cplusplus
}
#endif

#endif
