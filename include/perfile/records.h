/* A struct for every record, feature and part of them, made from the rows of format/.
 *
 * For a row RECORD(mmap2, …) in format/records.def there are
 *
 *     typedef struct perfile_mmap2 perfile_mmap2; // uint32_t pid; … bool has_build_id; …
 *     perfile_status perfile_mmap2_decode(const perfile_record *r, perfile_mmap2 *out, size_t size,
 *                                         perfile_error *err);
 *
 * and perfile_NAME_decode(const perfile_feature *, …) for every FEATURE row.  Members are
 * in the order of the table: a FIELD is an integer in native byte order, STR is text without its
 * NUL, BLOB bytes, WORDS an array read with perfile_word(), LIST a sequence of structs read with
 * perfile_NAME_next(), USE another struct inside.  A `has_…` member is true if the
 * members under it are present.  Absent members are zero, so check it to tell absent from zero.
 *
 * Decoded structs borrow: bytes, words and lists point into the record or feature and live as
 * long as its bytes.
 *
 * Decoders take `size`, which is sizeof *out in the program: a newer library fills only that much.
 * After a failure *out holds the members that were read before the error.  Decoders return
 * PERFILE_E_TRUNCATED or PERFILE_E_CORRUPT if the bytes do not hold what they should
 * (perfile_error.damage is the kind of damage), PERFILE_E_USAGE if the record is of another type.
 */
#ifndef PERFILE_RECORDS_H
#define PERFILE_RECORDS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of perfile_decode(), perfile_encode() besides those of records. */
enum {
    PERFILE_TYPE_FEATURE = 0x7e000000,  /* + PERFILE_FEATURE_…: payload of a feature section */
    PERFILE_TYPE_ATTR = 0x7f000000,     /* perfile_attr */
    PERFILE_TYPE_SAMPLE_ID = 0x7f000001 /* perfile_sample_id: trailer of a kernel record */
};

/* See record.h, session.h and event.h. */
typedef struct perfile_record perfile_record;
typedef struct perfile_feature perfile_feature;
typedef struct perfile_layout perfile_layout;

/* `n` integers as stored, `width` bytes each (1, 2, 4 or 8). */
typedef struct perfile_words {
    const uint8_t *ptr; /* the first one, in the byte order of the capture */
    size_t n;           /* how many */
    uint8_t width;      /* bytes of one */
    bool swapped;       /* stored in the other byte order */
} perfile_words;

/* Returns the i-th integer. i must be below w->n. */
PERFILE_API uint64_t perfile_word(const perfile_words *w, size_t i);

#ifndef PERFILE_DECLARATIONS
/* Copies min(w->n, n) integers to `out` and returns that number. */
static inline size_t perfile_words_copy(const perfile_words *w, uint64_t *out, size_t n)
{
    size_t i = 0;
    for (; i < n && i < w->n; i++)
        out[i] = perfile_word(w, i);
    return i;
}
#endif

/* `n` strings one after the other, as stored, or made by a program: see perfile_strings_of(). */
typedef struct perfile_strings {
    perfile_bytes bytes; /* as stored */
    size_t n;            /* strings left */
    bool swapped;        /* stored in the other byte order */
    bool given;          /* bytes.ptr points at n perfile_bytes */
} perfile_strings;

/* Removes the first string from `s` and stores it in *text, without its NUL.  Returns PERFILE_END
 * after the last. */
PERFILE_API perfile_status perfile_strings_next(perfile_strings *s, perfile_bytes *text);

/* `n` structs one after the other, as stored, or made by a program: see perfile_NAME_list().  The
 * other members are for perfile_NAME_next(). */
typedef struct perfile_list {
    perfile_bytes bytes;          /* bytes of the structs left */
    uint64_t n;                   /* structs left */
    const perfile_layout *layout; /* of their event; NULL: they need none */
    uint32_t context;             /* of the record, as its decoder had it */
    uint16_t misc;                /* of the record */
    bool swapped;                 /* stored in the other byte order */
    bool old_build_id;            /* build id entries of the first perf, which have no pid */
    bool as_stored;               /* see perfile_open_options */
    uint8_t reserved0[3];
    uint32_t given; /* not 0: bytes.ptr points at structs of this size, made by a program */
} perfile_list;

/* The structs.  `present` of perfile_sample and perfile_sample_id holds bits of sample_type.  Later
 * versions put new members in the place of reserved words and flags, so a program must zero a
 * struct as a whole before it fills it. */
/* clang-format off */
/* BEGIN made of format/: structs */
/* What an event counts and what its samples hold. */
typedef struct perfile_attr {
    uint32_t reserved0; /* 0 */
    bool is_freq; /* the members with it are there */
    bool is_period; /* else these are */
    bool is_watermark; /* the members with it are there */
    bool is_wakeup; /* else these are */
    bool reserved_flags[4]; /* false; for later members */
    bool has_extra; /* the members with it are there */
    uint32_t type; /* PMU */
    uint32_t size; /* bytes of this struct as stored; 0 in very old files: 64 */
    uint64_t config; /* event of the PMU */
    uint64_t sample_freq; /* samples per second wanted; with is_freq */
    uint64_t sample_period; /* events per sample; with is_period */
    uint64_t sample_type; /* fields of a sample */
    uint64_t read_format; /* fields of counter values */
    uint64_t flags; /* options */
    uint32_t wakeup_watermark; /* wake the reader after so many bytes; with is_watermark */
    uint32_t wakeup_events; /* wake the reader after so many events; with is_wakeup */
    uint32_t bp_type; /* breakpoint access */
    uint64_t config1; /* bp_addr, kprobe_func, uprobe_path */
    uint64_t config2; /* bp_len, kprobe_addr, probe_offset */
    uint64_t branch_sample_type; /* which branches */
    uint64_t sample_regs_user; /* user registers in samples */
    uint32_t sample_stack_user; /* bytes of user stack in samples */
    int32_t clockid; /* clock of the time fields when use_clockid is set */
    uint64_t sample_regs_intr; /* registers at the interrupt in samples */
    uint32_t aux_watermark; /* wake the reader after so many AUX bytes */
    uint16_t sample_max_stack; /* call chain entries at most */
    uint16_t __reserved_2; /* 0 */
    uint32_t aux_sample_size; /* bytes of AUX data in samples */
    uint32_t aux_action; /* what the event does to the AUX area */
    uint64_t sig_data; /* passed to SIGTRAP */
    uint64_t config3; /* PMU specific */
    uint64_t config4; /* PMU specific */
    uint64_t reserved[16]; /* 0; for later members */
    perfile_bytes extra; /* members that are newer than this table; with has_extra */
} perfile_attr;

/* One counter of a group. */
typedef struct perfile_read_entry {
    uint32_t reserved0; /* 0 */
    uint64_t value; /* count */
    bool has_id; /* the members with it are there */
    uint64_t id; /* event; with has_id */
    bool has_lost; /* the members with it are there */
    uint64_t lost; /* lost samples; with has_lost */
} perfile_read_entry;

/* Counter values as read_format says. */
typedef struct perfile_read_values {
    uint32_t reserved0; /* 0 */
    bool has_value; /* the members with it are there */
    bool has_group; /* the members with it are there */
    bool has_time_enabled; /* the members with it are there */
    bool has_time_running; /* the members with it are there */
    bool has_id; /* the members with it are there */
    bool has_lost; /* the members with it are there */
    bool reserved_flags[5]; /* false; for later members */
    bool has_cntr; /* the members with it are there */
    uint64_t value; /* count; with has_value */
    uint64_t nr; /* counters of the group; with has_group */
    uint64_t time_enabled; /* enabled; with has_time_enabled */
    uint64_t time_running; /* on the PMU; with has_time_running */
    uint64_t id; /* event; with has_id */
    uint64_t lost; /* lost samples; with has_lost */
    uint64_t reserved[1]; /* 0; for later members */
    perfile_list cntr; /* of perfile_read_entry: counters, leader first; with has_cntr */
} perfile_read_values;

/* One taken branch. */
typedef struct perfile_branch_entry {
    uint32_t reserved0; /* 0 */
    uint64_t from; /* branch */
    uint64_t to; /* target */
    uint64_t flags; /* outcome, cycles, type */
} perfile_branch_entry;

/* Branches, newest first. */
typedef struct perfile_branch_stack {
    uint32_t reserved0; /* 0 */
    bool has_hw_idx; /* the members with it are there */
    bool has_counters; /* the members with it are there */
    bool reserved_flags[2]; /* false; for later members */
    uint64_t nr; /* entries */
    uint64_t hw_idx; /* position in the branch record registers; with has_hw_idx */
    perfile_list lbr; /* of perfile_branch_entry: entries */
    perfile_words counters; /* event occurrences per branch; with has_counters */
    uint64_t reserved[3]; /* 0; for later members */
} perfile_branch_stack;

/* User registers. */
typedef struct perfile_regs_user {
    uint32_t reserved0; /* 0 */
    bool has_regs; /* the members with it are there */
    bool reserved_flags[3]; /* false; for later members */
    uint64_t abi; /* 0: a kernel thread, no registers follow */
    uint64_t mask; /* which registers, from the attr; with has_regs */
    perfile_words regs; /* in ascending bit order of the mask; with has_regs */
    uint64_t reserved[1]; /* 0; for later members */
} perfile_regs_user;

/* Registers at the interrupt. */
typedef struct perfile_regs_intr {
    uint32_t reserved0; /* 0 */
    bool has_regs; /* the members with it are there */
    bool reserved_flags[3]; /* false; for later members */
    uint64_t abi; /* 0: no registers follow */
    uint64_t mask; /* which registers, from the attr; with has_regs */
    perfile_words regs; /* in ascending bit order of the mask; with has_regs */
    uint64_t reserved[1]; /* 0; for later members */
} perfile_regs_intr;

/* Copy of the user stack. */
typedef struct perfile_stack_user {
    uint32_t reserved0; /* 0 */
    bool has_data; /* the members with it are there */
    bool reserved_flags[3]; /* false; for later members */
    uint64_t size; /* bytes copied */
    perfile_bytes data; /* from the stack pointer upwards; with has_data */
    uint64_t dyn_size; /* bytes of it that are valid; with has_data */
    uint64_t reserved[1]; /* 0; for later members */
} perfile_stack_user;

/* Cost of the sampled access. */
typedef struct perfile_weight {
    uint32_t reserved0; /* 0 */
    bool has_full; /* the members with it are there */
    bool has_struct; /* else these are */
    bool reserved_flags[2]; /* false; for later members */
    uint64_t full; /* cycles, or as the PMU says; with has_full */
    uint64_t word; /* the three parts as one word; with has_struct */
    uint32_t var1_dw; /* bits 0-31; with has_struct */
    uint16_t var2_w; /* bits 32-47; with has_struct */
    uint16_t var3_w; /* bits 48-63; with has_struct */
} perfile_weight;

/* One namespace. */
typedef struct perfile_ns_link {
    uint32_t reserved0; /* 0 */
    uint64_t dev; /* device of the nsfs entry */
    uint64_t ino; /* its inode */
} perfile_ns_link;

/* A set of CPUs. */
typedef struct perfile_cpu_map_data {
    uint32_t reserved0; /* 0 */
    bool is_list; /* the members with it are there */
    bool is_mask; /* the members with it are there */
    bool has_mask; /* the members with it are there */
    bool is_range; /* the members with it are there */
    bool reserved_flags[4]; /* false; for later members */
    bool is_other; /* the members with it are there */
    uint16_t type; /* list, mask or range */
    uint16_t nr; /* CPUs; with is_list */
    perfile_words cpu; /* numbers, 0xffff for any; with is_list */
    uint16_t mask_nr; /* words of the mask; with is_mask */
    uint16_t long_size; /* bytes of a word; with is_mask */
    perfile_words mask; /* bit n of all words together is CPU n; with has_mask */
    uint8_t any_cpu; /* 1: any CPU too; with is_range */
    uint16_t start_cpu; /* first; with is_range */
    uint16_t end_cpu; /* last; with is_range */
    uint64_t reserved[4]; /* 0; for later members */
    perfile_bytes data; /* a form newer than this table; with is_other */
} perfile_cpu_map_data;

/* One event instance. */
typedef struct perfile_id_index_entry {
    uint32_t reserved0; /* 0 */
    uint64_t id; /* event */
    uint64_t idx; /* its ring buffer */
    uint64_t cpu; /* its CPU, all ones when not bound */
    uint64_t tid; /* its thread, all ones when not bound */
} perfile_id_index_entry;

/* The guest of the event instance at the same place. */
typedef struct perfile_id_index_guest {
    uint32_t reserved0; /* 0 */
    uint64_t machine_pid; /* process of the virtual machine, 0 for the host */
    uint64_t vcpu; /* virtual CPU */
} perfile_id_index_guest;

/* One recorded thread. */
typedef struct perfile_thread_map_entry {
    uint32_t reserved0; /* 0 */
    uint64_t pid; /* thread, all ones for any */
    perfile_bytes comm; /* its name; may fill all 16 bytes */
} perfile_thread_map_entry;

/* One setting of perf stat. */
typedef struct perfile_stat_setting {
    uint32_t reserved0; /* 0 */
    uint64_t tag; /* which */
    uint64_t val; /* its value */
} perfile_stat_setting;

/* One variable of a BPF program. */
typedef struct perfile_bpf_metadata_entry {
    uint32_t reserved0; /* 0 */
    perfile_bytes key; /* name */
    perfile_bytes value; /* value */
} perfile_bpf_metadata_entry;

/* An id that was opened during the recording. */
typedef struct perfile_event_id_entry {
    uint32_t reserved0; /* 0 */
    uint64_t attr_index; /* position of the event */
    uint64_t id; /* the id */
} perfile_event_id_entry;

/* Load balancing, versions 15 and 16. */
typedef struct perfile_schedstat_balance {
    uint32_t reserved0; /* 0 */
    uint32_t count; /* load_balance() calls */
    uint32_t balanced; /* nothing to do */
    uint32_t failed; /* no task could be moved */
    uint32_t imbalance; /* imbalance found */
    uint32_t gained; /* tasks pulled */
    uint32_t hot_gained; /* of them cache-hot */
    uint32_t nobusyq; /* no busier queue */
    uint32_t nobusyg; /* no busier group */
    uint64_t reserved[2]; /* 0; for later members */
} perfile_schedstat_balance;

/* Load balancing, version 17. */
typedef struct perfile_schedstat_balance17 {
    uint32_t reserved0; /* 0 */
    uint32_t count; /* load_balance() calls */
    uint32_t balanced; /* nothing to do */
    uint32_t failed; /* no task could be moved */
    uint32_t imbalance_load; /* load imbalance */
    uint32_t imbalance_util; /* utilisation imbalance */
    uint32_t imbalance_task; /* task imbalance */
    uint32_t imbalance_misfit; /* misfit imbalance */
    uint32_t gained; /* tasks pulled */
    uint32_t hot_gained; /* of them cache-hot */
    uint32_t nobusyq; /* no busier queue */
    uint32_t nobusyg; /* no busier group */
    uint64_t reserved[2]; /* 0; for later members */
} perfile_schedstat_balance17;

/* Other balancing and wakeups, all versions. */
typedef struct perfile_schedstat_moves {
    uint32_t reserved0; /* 0 */
    uint32_t alb_count; /* active balancing calls */
    uint32_t alb_failed; /* of them failed */
    uint32_t alb_pushed; /* tasks pushed */
    uint32_t sbe_count; /* exec balancing calls */
    uint32_t sbe_balanced; /* nothing to do */
    uint32_t sbe_pushed; /* tasks pushed */
    uint32_t sbf_count; /* fork balancing calls */
    uint32_t sbf_balanced; /* nothing to do */
    uint32_t sbf_pushed; /* tasks pushed */
    uint32_t ttwu_wake_remote; /* woken elsewhere */
    uint32_t ttwu_move_affine; /* moved here, cache affine */
    uint32_t ttwu_move_balance; /* moved here, passive balancing */
    uint64_t reserved[2]; /* 0; for later members */
} perfile_schedstat_moves;

/* Header of a perfmon buffer. */
typedef struct perfile_perfmon_header {
    uint32_t reserved0; /* 0 */
    uint16_t version; /* 0 */
    uint16_t arch; /* architecture */
    uint32_t flags; /* bit 0: the buffer was full, and records were dropped */
    int64_t ticks_per_second; /* frequency of the times */
    uint64_t capture_end; /* offset of the end of the records */
} perfile_perfmon_header;

/* Header of a perfmon record, after its type. */
typedef struct perfile_perfmon_tag {
    uint32_t reserved0; /* 0 */
    uint8_t reserved_flags; /* 0 */
    uint16_t event; /* id of an event: group and number; 0: none */
} perfile_perfmon_tag;

/* One taken branch. */
typedef struct perfile_perfmon_branch {
    uint32_t reserved0; /* 0 */
    uint64_t from; /* branch */
    uint64_t to; /* target */
    uint64_t info; /* cycles in bits 0-15, mispredicted in bit 16 */
    uint16_t cycles; /* cycles since the branch before, 0: not known */
    uint8_t mispred; /* 1: mispredicted */
} perfile_perfmon_branch;

/* SAMPLE: one sample. */
typedef struct perfile_sample {
    uint64_t present; /* which fields are present: bits of sample_type, without those of weights */
    bool has_weight; /* the members with it are there */
    bool reserved_flags[3]; /* false; for later members */
    bool reserved2_flags[3]; /* false; for later members */
    bool has_extra; /* the members with it are there */
    /* event, at a place that does not depend on other fields; with PERFILE_SAMPLE_IDENTIFIER */
    uint64_t identifier;
    uint64_t ip; /* instruction; with PERFILE_SAMPLE_IP */
    uint32_t pid; /* process; with PERFILE_SAMPLE_TID */
    uint32_t tid; /* thread; with PERFILE_SAMPLE_TID */
    uint64_t time; /* when; with PERFILE_SAMPLE_TIME */
    uint64_t addr; /* data address, or as the event says; with PERFILE_SAMPLE_ADDR */
    uint64_t id; /* event; with PERFILE_SAMPLE_ID */
    uint64_t stream_id; /* event instance; with PERFILE_SAMPLE_STREAM_ID */
    uint32_t cpu; /* CPU; with PERFILE_SAMPLE_CPU */
    uint32_t res; /* 0; with PERFILE_SAMPLE_CPU */
    uint64_t period; /* events that this sample represents; with PERFILE_SAMPLE_PERIOD */
    perfile_read_values values; /* counters at the sample; with PERFILE_SAMPLE_READ */
    uint64_t nr; /* entries of the call chain; with PERFILE_SAMPLE_CALLCHAIN */
    perfile_words callchain; /* innermost first; with PERFILE_SAMPLE_CALLCHAIN */
    uint32_t raw_size; /* bytes of raw data, padding included; with PERFILE_SAMPLE_RAW */
    perfile_bytes raw; /* tracepoint or PMU data; with PERFILE_SAMPLE_RAW */
    perfile_branch_stack branch_stack; /* last branches; with PERFILE_SAMPLE_BRANCH_STACK */
    perfile_regs_user regs_user; /* user registers; with PERFILE_SAMPLE_REGS_USER */
    perfile_stack_user stack_user; /* user stack; with PERFILE_SAMPLE_STACK_USER */
    perfile_weight weight; /* cost of the access; with has_weight */
    uint64_t data_src; /* memory access; with PERFILE_SAMPLE_DATA_SRC */
    uint64_t transaction; /* why a transaction ended; with PERFILE_SAMPLE_TRANSACTION */
    perfile_regs_intr regs_intr; /* registers at the interrupt; with PERFILE_SAMPLE_REGS_INTR */
    uint64_t phys_addr; /* physical data address; with PERFILE_SAMPLE_PHYS_ADDR */
    uint64_t cgroup; /* cgroup; with PERFILE_SAMPLE_CGROUP */
    uint64_t data_page_size; /* page size of the data address; with PERFILE_SAMPLE_DATA_PAGE_SIZE */
    uint64_t code_page_size; /* page size of the instruction; with PERFILE_SAMPLE_CODE_PAGE_SIZE */
    uint64_t reserved[2]; /* 0; for later members */
    uint64_t aux_size; /* bytes of AUX data; with PERFILE_SAMPLE_AUX */
    perfile_bytes aux; /* AUX data; with PERFILE_SAMPLE_AUX */
    uint64_t reserved2[3]; /* 0; for later members */
    perfile_bytes extra; /* bytes after the last field; with has_extra */
} perfile_sample;

/* Trailer of a kernel record. */
typedef struct perfile_sample_id {
    uint64_t present; /* which fields are present: bits of sample_type, without those of weights */
    uint32_t pid; /* process; with PERFILE_SAMPLE_TID */
    uint32_t tid; /* thread; with PERFILE_SAMPLE_TID */
    uint64_t time; /* when; with PERFILE_SAMPLE_TIME */
    uint64_t id; /* event; with PERFILE_SAMPLE_ID */
    uint64_t stream_id; /* event instance; with PERFILE_SAMPLE_STREAM_ID */
    uint32_t cpu; /* CPU; with PERFILE_SAMPLE_CPU */
    uint32_t res; /* 0; with PERFILE_SAMPLE_CPU */
    uint64_t reserved[4]; /* 0; for later members */
    uint64_t identifier; /* event, last word of the record; with PERFILE_SAMPLE_IDENTIFIER */
} perfile_sample_id;

/* MMAP: executable mapping. */
typedef struct perfile_mmap {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process, all ones for the kernel */
    uint32_t tid; /* thread */
    uint64_t addr; /* start address */
    uint64_t len; /* length */
    uint64_t pgoff; /* offset in the file; of the kernel: address of the symbol in the name */
    perfile_bytes filename; /* mapped file or [pseudo] name */
} perfile_mmap;

/* LOST: records dropped because the buffer was full. */
typedef struct perfile_lost {
    uint32_t reserved0; /* 0 */
    uint64_t id; /* event */
    uint64_t lost; /* records */
} perfile_lost;

/* COMM: a thread got a name. */
typedef struct perfile_comm {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
    perfile_bytes comm; /* the name */
} perfile_comm;

/* EXIT: a thread ended. */
typedef struct perfile_exit {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t ppid; /* parent process */
    uint32_t tid; /* thread */
    uint32_t ptid; /* parent thread */
    uint64_t time; /* when; later than the trailer's from kernel 4.4 on */
} perfile_exit;

/* THROTTLE: the event was stopped: too many interrupts. */
typedef struct perfile_throttle {
    uint32_t reserved0; /* 0 */
    uint64_t time; /* when */
    uint64_t id; /* event */
    uint64_t stream_id; /* event instance */
} perfile_throttle;

/* UNTHROTTLE: the event goes on. */
typedef struct perfile_unthrottle {
    uint32_t reserved0; /* 0 */
    uint64_t time; /* when */
    uint64_t id; /* event */
    uint64_t stream_id; /* event instance */
} perfile_unthrottle;

/* FORK: a thread began. */
typedef struct perfile_fork {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t ppid; /* parent process */
    uint32_t tid; /* thread */
    uint32_t ptid; /* parent thread */
    uint64_t time; /* when; 0 when it began before the recording */
} perfile_fork;

/* READ: counter values at the end of a thread. */
typedef struct perfile_read {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
    perfile_read_values values; /* the counters */
} perfile_read;

/* MMAP2: executable mapping. */
typedef struct perfile_mmap2 {
    uint32_t reserved0; /* 0 */
    bool has_build_id; /* the members with it are there */
    bool has_inode; /* else these are */
    bool has_prot; /* the members with it are there */
    bool reserved_flags[4]; /* false; for later members */
    uint32_t pid; /* process, all ones for the kernel */
    uint32_t tid; /* thread */
    uint64_t addr; /* start address */
    uint64_t len; /* length */
    uint64_t pgoff; /* offset in the file */
    uint8_t build_id_size; /* valid bytes of build_id; with has_build_id */
    perfile_bytes build_id; /* of the mapped file; with has_build_id */
    uint32_t maj; /* device major; with has_inode */
    uint32_t min; /* device minor; with has_inode */
    uint64_t ino; /* inode; with has_inode */
    uint64_t ino_generation; /* inode generation; with has_inode */
    uint32_t prot; /* PROT_ bits; with has_prot */
    uint32_t flags; /* MAP_ bits; with has_prot */
    uint64_t reserved[4]; /* 0; for later members */
    perfile_bytes filename; /* mapped file or [pseudo] name */
} perfile_mmap2;

/* AUX: new data in the AUX area. */
typedef struct perfile_aux {
    uint32_t reserved0; /* 0 */
    uint64_t aux_offset; /* where in the AUX stream */
    uint64_t aux_size; /* bytes */
    uint64_t flags; /* state of the span */
} perfile_aux;

/* ITRACE_START: instruction tracing began. */
typedef struct perfile_itrace_start {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
} perfile_itrace_start;

/* LOST_SAMPLES: samples that were not written. */
typedef struct perfile_lost_samples {
    uint32_t reserved0; /* 0 */
    uint64_t lost; /* samples */
} perfile_lost_samples;

/* SWITCH: the thread was switched in or out. */
typedef struct perfile_switch {
    uint32_t reserved0; /* 0 */
} perfile_switch;

/* SWITCH_CPU_WIDE: a CPU switched threads. */
typedef struct perfile_switch_cpu_wide {
    uint32_t reserved0; /* 0 */
    uint32_t next_prev_pid; /* the next process (out) or the previous one (in) */
    uint32_t next_prev_tid; /* its thread */
} perfile_switch_cpu_wide;

/* NAMESPACES: namespaces of a thread. */
typedef struct perfile_namespaces {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
    uint64_t nr_namespaces; /* namespaces */
    perfile_list link_info; /* of perfile_ns_link: net, uts, ipc, pid, user, mnt, cgroup */
} perfile_namespaces;

/* KSYMBOL: a kernel symbol came or went. */
typedef struct perfile_ksymbol {
    uint32_t reserved0; /* 0 */
    uint64_t addr; /* start address */
    uint32_t len; /* length */
    uint16_t ksym_type; /* kind */
    uint16_t flags; /* bit 0: it went */
    perfile_bytes name; /* the symbol */
} perfile_ksymbol;

/* BPF_EVENT: a BPF program was loaded or unloaded. */
typedef struct perfile_bpf_event {
    uint32_t reserved0; /* 0 */
    uint16_t type; /* what happened */
    uint16_t flags; /* 0 */
    uint32_t id; /* the program */
    perfile_bytes tag; /* hash of its instructions */
} perfile_bpf_event;

/* CGROUP: a cgroup. */
typedef struct perfile_cgroup {
    uint32_t reserved0; /* 0 */
    uint64_t id; /* its id */
    perfile_bytes path; /* its path */
} perfile_cgroup;

/* TEXT_POKE: kernel code was changed. */
typedef struct perfile_text_poke {
    uint32_t reserved0; /* 0 */
    uint64_t addr; /* where */
    uint16_t old_len; /* old bytes */
    uint16_t new_len; /* new bytes */
    perfile_bytes bytes; /* the old bytes, then the new ones */
} perfile_text_poke;

/* AUX_OUTPUT_HW_ID: hardware id of an event in AUX data. */
typedef struct perfile_aux_output_hw_id {
    uint32_t reserved0; /* 0 */
    uint64_t hw_id; /* the id */
} perfile_aux_output_hw_id;

/* CALLCHAIN_DEFERRED: user part of earlier call chains. */
typedef struct perfile_callchain_deferred {
    uint32_t reserved0; /* 0 */
    uint64_t cookie; /* the cookie at the end of those chains */
    uint64_t nr; /* entries */
    perfile_words ips; /* user addresses, innermost first */
} perfile_callchain_deferred;

/* HEADER_ATTR: an event. */
typedef struct perfile_header_attr {
    uint32_t reserved0; /* 0 */
    perfile_attr attr; /* the attr */
    perfile_words id; /* its ids */
} perfile_header_attr;

/* HEADER_EVENT_TYPE: name of an event (perf 2.6.34 to 3.11). */
typedef struct perfile_header_event_type {
    uint32_t reserved0; /* 0 */
    uint64_t event_id; /* attr.config */
    perfile_bytes name; /* its name */
} perfile_header_event_type;

/* HEADER_TRACING_DATA: tracepoint formats follow. */
typedef struct perfile_header_tracing_data {
    uint32_t reserved0; /* 0 */
    uint32_t size; /* their bytes */
    bool has_data; /* the members with it are there */
    perfile_bytes data; /* the formats; with has_data */
} perfile_header_tracing_data;

/* HEADER_BUILD_ID: build id of a file. */
typedef struct perfile_header_build_id {
    uint32_t reserved0; /* 0 */
    bool has_pid; /* the members with it are there */
    bool has_size; /* the members with it are there */
    bool no_size; /* else these are */
    bool reserved_flags[4]; /* false; for later members */
    int32_t pid; /* -1 host, 0 default guest, else guest; with has_pid */
    perfile_bytes build_id; /* the id */
    uint8_t size; /* bytes of the id; with has_size */
    perfile_bytes filename; /* the file */
    uint64_t reserved[2]; /* 0; for later members */
} perfile_header_build_id;

/* FINISHED_ROUND: every buffer was read once more. */
typedef struct perfile_finished_round {
    uint32_t reserved0; /* 0 */
} perfile_finished_round;

/* ID_INDEX: which event instance has which id. */
typedef struct perfile_id_index {
    uint32_t reserved0; /* 0 */
    uint64_t nr; /* entries */
    perfile_list entries; /* of perfile_id_index_entry: instances */
    bool has_guests; /* the members with it are there */
    /* of perfile_id_index_guest: their guests, in the same order; with has_guests */
    perfile_list guests;
} perfile_id_index;

/* AUXTRACE_INFO: what made the AUX data. */
typedef struct perfile_auxtrace_info {
    uint32_t reserved0; /* 0 */
    uint32_t type; /* tracer */
    uint32_t reserved__; /* 0 */
    perfile_words priv; /* as the tracer says */
} perfile_auxtrace_info;

/* AUXTRACE: AUX data follow. */
typedef struct perfile_auxtrace {
    uint32_t reserved0; /* 0 */
    uint64_t size; /* their bytes */
    uint64_t offset; /* where in the AUX stream */
    uint64_t reference; /* number of the read */
    uint32_t idx; /* ring buffer */
    uint32_t tid; /* thread, all ones when of a CPU */
    uint32_t cpu; /* CPU, all ones when of a thread */
    uint32_t reserved__; /* 0 */
} perfile_auxtrace;

/* AUXTRACE_ERROR: AUX data could not be decoded. */
typedef struct perfile_auxtrace_error {
    uint32_t reserved0; /* 0 */
    uint32_t type; /* 1: instruction trace */
    uint32_t code; /* as the decoder says */
    uint32_t cpu; /* CPU */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
    uint32_t fmt; /* form of the rest */
    uint64_t ip; /* instruction */
    bool has_time; /* the members with it are there */
    uint64_t time; /* when; with has_time */
    perfile_bytes msg; /* what */
    bool has_guest; /* the members with it are there */
    uint32_t machine_pid; /* process of the virtual machine; with has_guest */
    uint32_t vcpu; /* virtual CPU; with has_guest */
} perfile_auxtrace_error;

/* THREAD_MAP: recorded threads. */
typedef struct perfile_thread_map {
    uint32_t reserved0; /* 0 */
    uint64_t nr; /* threads */
    perfile_list entries; /* of perfile_thread_map_entry: the threads */
} perfile_thread_map;

/* CPU_MAP: recorded CPUs. */
typedef struct perfile_cpu_map {
    uint32_t reserved0; /* 0 */
    perfile_cpu_map_data cpus; /* the set */
} perfile_cpu_map;

/* STAT_CONFIG: settings of perf stat. */
typedef struct perfile_stat_config {
    uint32_t reserved0; /* 0 */
    uint64_t nr; /* settings */
    perfile_list data; /* of perfile_stat_setting: the settings */
} perfile_stat_config;

/* STAT: one counter value of perf stat. */
typedef struct perfile_stat {
    uint32_t reserved0; /* 0 */
    uint64_t id; /* event */
    uint32_t cpu; /* CPU, all ones for none */
    uint32_t thread; /* position in THREAD_MAP */
    uint64_t val; /* count */
    uint64_t ena; /* enabled */
    uint64_t run; /* on the PMU */
} perfile_stat;

/* STAT_ROUND: the STAT records before this one belong together. */
typedef struct perfile_stat_round {
    uint32_t reserved0; /* 0 */
    uint64_t type; /* interval or total */
    uint64_t time; /* since the start, or how long it took */
} perfile_stat_round;

/* EVENT_UPDATE: more about an event. */
typedef struct perfile_event_update {
    uint32_t reserved0; /* 0 */
    bool has_unit; /* the members with it are there */
    bool has_scale; /* the members with it are there */
    bool has_name; /* the members with it are there */
    bool has_cpus; /* the members with it are there */
    bool reserved_flags[4]; /* false; for later members */
    bool has_data; /* the members with it are there */
    uint64_t type; /* what */
    uint64_t id; /* the event */
    perfile_bytes unit; /* unit of its counts; with has_unit */
    uint64_t scale; /* factor of its counts; with has_scale */
    perfile_bytes name; /* its name; with has_name */
    perfile_cpu_map_data cpus; /* CPUs of its PMU; with has_cpus */
    uint64_t reserved[4]; /* 0; for later members */
    perfile_bytes data; /* newer than this table; with has_data */
} perfile_event_update;

/* TIME_CONV: from counter values to time. */
typedef struct perfile_time_conv {
    uint32_t reserved0; /* 0 */
    uint64_t time_shift; /* shift */
    uint64_t time_mult; /* multiplier */
    uint64_t time_zero; /* time of counter value 0 */
    bool has_short; /* the members with it are there */
    uint64_t time_cycles; /* counter value at the reading; with has_short */
    uint64_t time_mask; /* width of the counter; with has_short */
    uint8_t cap_user_time_zero; /* 1: the numbers are valid; with has_short */
    uint8_t cap_user_time_short; /* 1: the counter is shorter than 64 bits; with has_short */
} perfile_time_conv;

/* HEADER_FEATURE: a feature section. */
typedef struct perfile_header_feature {
    uint32_t reserved0; /* 0 */
    uint64_t feat_id; /* which; none after it: the list is complete */
    perfile_bytes data; /* its content */
} perfile_header_feature;

/* COMPRESSED: compressed records. */
typedef struct perfile_compressed {
    uint32_t reserved0; /* 0 */
    uint64_t data_size; /* bytes of the zstd stream */
    perfile_bytes data; /* the next bytes of the zstd stream */
} perfile_compressed;

/* FINISHED_INIT: all synthesized records were written. */
typedef struct perfile_finished_init {
    uint32_t reserved0; /* 0 */
} perfile_finished_init;

/* COMPRESSED2: compressed records, padded. */
typedef struct perfile_compressed2 {
    uint32_t reserved0; /* 0 */
    uint64_t data_size; /* bytes of the zstd stream */
    perfile_bytes data; /* the next bytes of the zstd stream */
} perfile_compressed2;

/* BPF_METADATA: variables of a BPF program. */
typedef struct perfile_bpf_metadata {
    uint32_t reserved0; /* 0 */
    perfile_bytes prog_name; /* the program */
    uint64_t nr_entries; /* variables */
    perfile_list entries; /* of perfile_bpf_metadata_entry: the variables */
} perfile_bpf_metadata;

/* SCHEDSTAT_CPU: scheduler counters of a CPU. */
typedef struct perfile_schedstat_cpu {
    uint32_t reserved0; /* 0 */
    uint64_t timestamp; /* kernel jiffies */
    uint32_t cpu; /* CPU */
    uint16_t version; /* 15, 16 or 17 */
    uint32_t yld_count; /* sched_yield calls */
    uint32_t array_exp; /* unused since 2.6.23 */
    uint32_t sched_count; /* schedule() calls */
    uint32_t sched_goidle; /* of them to idle */
    uint32_t ttwu_count; /* wakeups */
    uint32_t ttwu_local; /* of them local */
    uint64_t rq_cpu_time; /* time on the CPU */
    uint64_t run_delay; /* time waiting */
    uint64_t pcount; /* time slices */
} perfile_schedstat_cpu;

/* SCHEDSTAT_DOMAIN: scheduler counters of a domain. */
typedef struct perfile_schedstat_domain {
    uint32_t reserved0; /* 0 */
    uint64_t timestamp; /* kernel jiffies */
    uint32_t cpu; /* CPU */
    uint16_t version; /* 15, 16 or 17 */
    uint16_t domain; /* the domain */
    bool has_v15; /* the members with it are there */
    perfile_schedstat_balance idle15; /* while idle; with has_v15 */
    perfile_schedstat_balance busy15; /* while busy; with has_v15 */
    perfile_schedstat_balance newidle15; /* when just idle; with has_v15 */
    bool has_v16; /* the members with it are there */
    perfile_schedstat_balance busy16; /* while busy; with has_v16 */
    perfile_schedstat_balance idle16; /* while idle; with has_v16 */
    perfile_schedstat_balance newidle16; /* when just idle; with has_v16 */
    bool has_v17; /* the members with it are there */
    perfile_schedstat_balance17 busy17; /* while busy; with has_v17 */
    perfile_schedstat_balance17 idle17; /* while idle; with has_v17 */
    perfile_schedstat_balance17 newidle17; /* when just idle; with has_v17 */
    bool has_moves; /* the members with it are there */
    perfile_schedstat_moves moves; /* other balancing and wakeups; with has_moves */
    bool is_other; /* else these are */
    perfile_bytes counters; /* a version newer than this table; with is_other */
} perfile_schedstat_domain;

/* SIMPLEPERF_KERNEL_SYMBOL: copy of /proc/kallsyms. */
typedef struct perfile_sp_kernel_symbol {
    uint32_t reserved0; /* 0 */
    uint32_t len; /* bytes of text */
    perfile_bytes text; /* lines of address, type, name */
} perfile_sp_kernel_symbol;

/* SIMPLEPERF_DSO: a mapped object. */
typedef struct perfile_sp_dso {
    uint32_t reserved0; /* 0 */
    uint64_t type; /* kind */
    uint64_t id; /* its number in this file */
    uint64_t min_vaddr; /* lowest address of its code */
    perfile_bytes name; /* the file */
} perfile_sp_dso;

/* SIMPLEPERF_SYMBOL: a symbol. */
typedef struct perfile_sp_symbol {
    uint32_t reserved0; /* 0 */
    uint64_t addr; /* start */
    uint64_t len; /* length */
    uint64_t dso_id; /* the object */
    perfile_bytes name; /* its name */
} perfile_sp_symbol;

/* SIMPLEPERF_SPLIT: a fragment of a record above 64 KiB. */
typedef struct perfile_sp_split {
    uint32_t reserved0; /* 0 */
    perfile_bytes data; /* the fragment */
} perfile_sp_split;

/* SIMPLEPERF_SPLIT_END: the fragments are complete. */
typedef struct perfile_sp_split_end {
    uint32_t reserved0; /* 0 */
} perfile_sp_split_end;

/* SIMPLEPERF_EVENT_ID: ids opened during the recording. */
typedef struct perfile_sp_event_id {
    uint32_t reserved0; /* 0 */
    uint64_t nr; /* ids */
    perfile_list entries; /* of perfile_event_id_entry: the ids */
} perfile_sp_event_id;

/* SIMPLEPERF_CALLCHAIN: call chain found by unwinding a stack. */
typedef struct perfile_sp_callchain {
    uint32_t reserved0; /* 0 */
    uint32_t pid; /* process */
    uint32_t tid; /* thread */
    uint64_t chain_type; /* how it was made */
    uint64_t time; /* time of the sample */
    uint64_t nr; /* entries */
    perfile_words ips; /* addresses, innermost first */
    perfile_words sps; /* stack pointers */
} perfile_sp_callchain;

/* SIMPLEPERF_UNWINDING_RESULT: how unwinding a stack went. */
typedef struct perfile_sp_unwinding_result {
    uint32_t reserved0; /* 0 */
    uint64_t time; /* time of the sample */
    uint64_t used_time; /* taken by unwinding */
    uint64_t error_code; /* why it stopped */
    uint64_t error_addr; /* where */
    uint64_t stack_start; /* the stack copy */
    uint64_t stack_end; /* its end */
    bool has_regs; /* the members with it are there */
    uint64_t abi; /* width of the registers; with has_regs */
    uint64_t mask; /* which registers; with has_regs */
    perfile_words regs; /* the registers; with has_regs */
    uint64_t stack_size; /* bytes of stack; with has_regs */
    perfile_bytes stack; /* the stack; with has_regs */
    uint64_t dyn_size; /* bytes of it that are valid; with has_regs */
    bool has_chain; /* the members with it are there */
    uint64_t nr; /* entries of the call chain; with has_chain */
    perfile_words ips; /* addresses, innermost first; with has_chain */
    perfile_words sps; /* stack pointers; with has_chain */
} perfile_sp_unwinding_result;

/* SIMPLEPERF_TRACING_DATA: tracepoint formats. */
typedef struct perfile_sp_tracing_data {
    uint32_t reserved0; /* 0 */
    uint32_t size; /* bytes */
    perfile_bytes data; /* the formats */
} perfile_sp_tracing_data;

/* SIMPLEPERF_DEBUG: a note of the recorder. */
typedef struct perfile_sp_debug {
    uint32_t reserved0; /* 0 */
    uint64_t time; /* when */
    perfile_bytes text; /* the note */
} perfile_sp_debug;

/* One event. */
typedef struct perfile_event_desc_entry {
    uint32_t reserved0; /* 0 */
    perfile_attr attr; /* its attr */
    uint32_t nr_ids; /* ids */
    perfile_bytes name; /* its name */
    perfile_words ids; /* its ids */
} perfile_event_desc_entry;

/* Where a CPU is. */
typedef struct perfile_topology_cpu {
    uint32_t reserved0; /* 0 */
    int32_t core_id; /* core, -1 when offline */
    int32_t socket_id; /* socket, -1 when offline */
} perfile_topology_cpu;

/* A memory node. */
typedef struct perfile_numa_node {
    uint32_t reserved0; /* 0 */
    uint32_t node; /* its number */
    uint64_t mem_total; /* KiB */
    uint64_t mem_free; /* KiB */
    perfile_bytes cpus; /* its CPUs */
} perfile_numa_node;

/* A PMU. */
typedef struct perfile_pmu_mapping {
    uint32_t reserved0; /* 0 */
    uint32_t type; /* its number, attr.type of its events */
    perfile_bytes name; /* its name */
} perfile_pmu_mapping;

/* A group of events. */
typedef struct perfile_group_desc_entry {
    uint32_t reserved0; /* 0 */
    perfile_bytes name; /* {anon_group} when it has none */
    uint32_t leader_idx; /* the leader */
    uint32_t nr_members; /* members, the leader included */
} perfile_group_desc_entry;

/* An AUXTRACE record. */
typedef struct perfile_auxtrace_index_entry {
    uint32_t reserved0; /* 0 */
    uint64_t file_offset; /* of the record */
    uint64_t sz; /* of its header */
} perfile_auxtrace_index_entry;

/* A cache. */
typedef struct perfile_cache_entry {
    uint32_t reserved0; /* 0 */
    uint32_t level; /* level */
    uint32_t line_size; /* bytes of a line */
    uint32_t sets; /* sets */
    uint32_t ways; /* ways */
    perfile_bytes type; /* Data, Instruction, Unified */
    perfile_bytes size; /* size with its unit */
    perfile_bytes map; /* CPUs that share it */
} perfile_cache_entry;

/* Memory blocks of a node. */
typedef struct perfile_mem_node {
    uint32_t reserved0; /* 0 */
    uint64_t node; /* its number */
    uint64_t size; /* blocks present */
    uint64_t nbits; /* bits of the map */
    perfile_words bitmap; /* blocks present */
} perfile_mem_node;

/* A BPF program. */
typedef struct perfile_bpf_prog_info_entry {
    uint32_t reserved0; /* 0 */
    uint32_t info_len; /* bytes of info */
    uint32_t data_len; /* bytes of data */
    uint64_t arrays; /* which arrays data holds */
    perfile_bytes info; /* struct bpf_prog_info */
    perfile_bytes data; /* the arrays */
} perfile_bpf_prog_info_entry;

/* Type information of BPF programs. */
typedef struct perfile_bpf_btf_entry {
    uint32_t reserved0; /* 0 */
    uint32_t id; /* its id */
    uint32_t data_size; /* bytes */
    perfile_bytes data; /* BTF */
} perfile_bpf_btf_entry;

/* A capability. */
typedef struct perfile_pmu_cap {
    uint32_t reserved0; /* 0 */
    perfile_bytes name; /* which */
    perfile_bytes value; /* its value */
} perfile_pmu_cap;

/* A kind of CPU core. */
typedef struct perfile_hybrid_node {
    uint32_t reserved0; /* 0 */
    perfile_bytes pmu_name; /* its PMU */
    perfile_bytes cpus; /* its CPUs */
} perfile_hybrid_node;

/* Capabilities of a PMU. */
typedef struct perfile_pmu_caps_entry {
    uint32_t reserved0; /* 0 */
    uint32_t nr_caps; /* capabilities */
    perfile_list caps; /* of perfile_pmu_cap: the capabilities */
    perfile_bytes pmu_name; /* the PMU */
} perfile_pmu_caps_entry;

/* A scheduling domain. */
typedef struct perfile_sched_domain {
    uint32_t reserved0; /* 0 */
    uint32_t domain; /* its number */
    bool has_name; /* the members with it are there */
    perfile_bytes name; /* its name; with has_name */
    perfile_bytes cpumask; /* its CPUs, hex */
    perfile_bytes cpulist; /* its CPUs */
} perfile_sched_domain;

/* Scheduling domains of a CPU. */
typedef struct perfile_cpu_domains {
    uint32_t reserved0; /* 0 */
    uint32_t cpu; /* the CPU */
    uint32_t nr_domains; /* domains */
    perfile_list domains; /* of perfile_sched_domain: the domains */
} perfile_cpu_domains;

/* Build id of a file. */
typedef struct perfile_build_id_entry {
    uint32_t reserved0; /* 0 */
    uint32_t header_type; /* 0 (perf) or 67 */
    uint16_t misc; /* cpumode; bit 15: the id has a size */
    uint16_t header_size; /* bytes of the entry */
    perfile_header_build_id id; /* the build id */
} perfile_build_id_entry;

/* A fact in words. */
typedef struct perfile_meta_entry {
    uint32_t reserved0; /* 0 */
    perfile_bytes key; /* which */
    perfile_bytes value; /* the fact */
} perfile_meta_entry;

/* A symbol. */
typedef struct perfile_file_symbol {
    uint32_t reserved0; /* 0 */
    uint64_t addr; /* start */
    uint32_t len; /* length */
    perfile_bytes name; /* its name */
} perfile_file_symbol;

/* A mapped file and its symbols. */
typedef struct perfile_file_entry {
    uint32_t reserved0; /* 0 */
    uint32_t size; /* bytes of the entry after this */
    perfile_bytes path; /* the file */
    uint32_t type; /* kind */
    uint64_t min_vaddr; /* lowest address of its code */
    uint32_t nr_symbols; /* symbols */
    perfile_list symbols; /* of perfile_file_symbol: the symbols */
    bool is_dex; /* the members with it are there */
    uint32_t nr_dex; /* dex files; with is_dex */
    perfile_words dex_file_offsets; /* where they are in the file; with is_dex */
    bool has_offset; /* the members with it are there */
    uint64_t file_offset_of_min_vaddr; /* offset of min_vaddr; with has_offset */
} perfile_file_entry;

/* A mapped file and its symbols. */
typedef struct perfile_file2_entry {
    uint32_t reserved0; /* 0 */
    uint32_t size; /* bytes of the message */
    perfile_bytes message; /* protobuf */
} perfile_file2_entry;

/* A file of tracefs. */
typedef struct perfile_tracing_file {
    uint32_t reserved0; /* 0 */
    bool reserved_flags[4]; /* false; for later members */
    uint64_t size; /* bytes */
    perfile_bytes text; /* the file */
    uint64_t reserved[2]; /* 0; for later members */
} perfile_tracing_file;

/* Tracepoints of a subsystem. */
typedef struct perfile_tracing_system {
    uint32_t reserved0; /* 0 */
    perfile_bytes name; /* the subsystem */
    uint32_t nr; /* tracepoints */
    perfile_list formats; /* of perfile_tracing_file: their formats */
} perfile_tracing_system;

/* What tracepoints record. */
typedef struct perfile_tracing_formats {
    uint32_t reserved0; /* 0 */
    perfile_bytes magic; /* 17 08 44 tracing */
    perfile_bytes version; /* 0.5 or 0.6 */
    uint8_t big_endian; /* byte order of the numbers here and in RAW data */
    uint8_t long_size; /* bytes of a long of the recorded kernel */
    uint32_t page_size; /* bytes of a page */
    perfile_bytes page_name; /* header_page */
    perfile_tracing_file header_page; /* layout of a ring buffer page */
    perfile_bytes event_name; /* header_event */
    perfile_tracing_file header_event; /* layout of a record in it */
    uint32_t nr_ftrace; /* formats of ftrace itself */
    perfile_list ftrace; /* of perfile_tracing_file: formats of ftrace itself */
    uint32_t nr_systems; /* subsystems */
    perfile_list systems; /* of perfile_tracing_system: subsystems with tracepoints */
    uint32_t kallsyms_size; /* bytes */
    perfile_bytes kallsyms; /* kernel symbols */
    uint32_t printk_size; /* bytes */
    perfile_bytes printk_formats; /* format strings of trace_printk */
    bool has_cmdlines; /* the members with it are there */
    perfile_tracing_file cmdlines; /* names of threads; with has_cmdlines */
} perfile_tracing_formats;

/* Feature TRACING_DATA: tracepoint formats. */
typedef struct perfile_tracing_data {
    uint32_t reserved0; /* 0 */
    uint64_t data_size; /* bytes */
    perfile_bytes data; /* the formats */
} perfile_tracing_data;

/* Feature BUILD_ID: build ids of the files that samples hit. */
typedef struct perfile_build_ids {
    uint32_t reserved0; /* 0 */
    perfile_list build_ids; /* of perfile_build_id_entry: the files */
} perfile_build_ids;

/* Feature HOSTNAME: the recorded machine. */
typedef struct perfile_hostname {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* its name */
} perfile_hostname;

/* Feature OSRELEASE: its kernel. */
typedef struct perfile_osrelease {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* uname release */
} perfile_osrelease;

/* Feature VERSION: the recording tool. */
typedef struct perfile_tool_version {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* its version */
} perfile_tool_version;

/* Feature ARCH: architecture. */
typedef struct perfile_arch {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* uname machine */
} perfile_arch;

/* Feature NRCPUS: CPUs. */
typedef struct perfile_nrcpus {
    uint32_t reserved0; /* 0 */
    uint32_t nr_cpus_avail; /* configured */
    uint32_t nr_cpus_online; /* online */
} perfile_nrcpus;

/* Feature CPUDESC: the CPU in words. */
typedef struct perfile_cpudesc {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* its name */
} perfile_cpudesc;

/* Feature CPUID: the CPU in numbers. */
typedef struct perfile_cpuid {
    uint32_t reserved0; /* 0 */
    perfile_bytes string; /* vendor, family, model, stepping */
} perfile_cpuid;

/* Feature TOTAL_MEM: memory. */
typedef struct perfile_total_mem {
    uint32_t reserved0; /* 0 */
    uint64_t total_mem; /* KiB */
} perfile_total_mem;

/* Feature CMDLINE: command line of the recording. */
typedef struct perfile_cmdline {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* words */
    perfile_strings cmdline; /* the words, path of the tool first */
} perfile_cmdline;

/* Feature EVENT_DESC: events and their names. */
typedef struct perfile_event_desc {
    uint32_t reserved0; /* 0 */
    uint32_t nr_events; /* events */
    uint32_t attr_size; /* bytes of each attr */
    perfile_list events; /* of perfile_event_desc_entry: the events */
} perfile_event_desc;

/* Feature CPU_TOPOLOGY: how CPUs share cores and sockets. */
typedef struct perfile_cpu_topology {
    uint32_t reserved0; /* 0 */
    uint32_t nr_packages; /* packages */
    perfile_strings package_cpus_list; /* CPUs of each package */
    uint32_t nr_cores; /* cores */
    perfile_strings core_cpus_list; /* CPUs of each core */
    bool has_cpu; /* the members with it are there */
    perfile_list cpu; /* of perfile_topology_cpu: each CPU; with has_cpu */
    bool has_dies; /* the members with it are there */
    uint32_t nr_dies; /* dies; with has_dies */
    perfile_strings die_cpus_list; /* CPUs of each die; with has_dies */
    perfile_words die_id; /* die of each CPU; with has_dies */
} perfile_cpu_topology;

/* Feature NUMA_TOPOLOGY: memory nodes. */
typedef struct perfile_numa_topology {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* nodes */
    perfile_list nodes; /* of perfile_numa_node: the nodes */
} perfile_numa_topology;

/* Feature BRANCH_STACK: samples have branch stacks. */
typedef struct perfile_branch_stack_used {
    uint32_t reserved0; /* 0 */
} perfile_branch_stack_used;

/* Feature PMU_MAPPINGS: names of PMU numbers. */
typedef struct perfile_pmu_mappings {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* PMUs */
    perfile_list pmus; /* of perfile_pmu_mapping: the PMUs */
} perfile_pmu_mappings;

/* Feature GROUP_DESC: groups of events. */
typedef struct perfile_group_desc {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* groups */
    perfile_list groups; /* of perfile_group_desc_entry: the groups */
} perfile_group_desc;

/* Feature AUXTRACE: where the AUXTRACE records are. */
typedef struct perfile_auxtrace_index {
    uint32_t reserved0; /* 0 */
    bool has_nr; /* the members with it are there */
    uint64_t nr; /* records; with has_nr */
    perfile_list entries; /* of perfile_auxtrace_index_entry: the records */
} perfile_auxtrace_index;

/* Feature STAT: a recording of perf stat. */
typedef struct perfile_stat_used {
    uint32_t reserved0; /* 0 */
} perfile_stat_used;

/* Feature CACHE: CPU caches. */
typedef struct perfile_cache {
    uint32_t reserved0; /* 0 */
    uint32_t version; /* 1 */
    uint32_t nr; /* caches */
    perfile_list caches; /* of perfile_cache_entry: the caches */
} perfile_cache;

/* Feature SAMPLE_TIME: span of the samples. */
typedef struct perfile_sample_time {
    uint32_t reserved0; /* 0 */
    uint64_t first_sample_time; /* first; 0 when not computed, all ones when unknown */
    uint64_t last_sample_time; /* last */
} perfile_sample_time;

/* Feature MEM_TOPOLOGY: memory blocks of the nodes. */
typedef struct perfile_mem_topology {
    uint32_t reserved0; /* 0 */
    uint64_t version; /* 1 */
    uint64_t block_size_bytes; /* bytes of a block */
    uint64_t nr; /* nodes */
    perfile_list nodes; /* of perfile_mem_node: the nodes */
} perfile_mem_topology;

/* Feature CLOCKID: resolution of the clock. */
typedef struct perfile_clockid {
    uint32_t reserved0; /* 0 */
    uint64_t clockid_res_ns; /* resolution */
} perfile_clockid;

/* Feature DIR_FORMAT: form of the directory. */
typedef struct perfile_dir_format {
    uint32_t reserved0; /* 0 */
    uint64_t version; /* 0: all in `data`; 1: data.N too */
} perfile_dir_format;

/* Feature BPF_PROG_INFO: BPF programs. */
typedef struct perfile_bpf_prog_info {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* programs */
    perfile_list infos; /* of perfile_bpf_prog_info_entry: the programs */
} perfile_bpf_prog_info;

/* Feature BPF_BTF: BPF type information. */
typedef struct perfile_bpf_btf {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* BTFs */
    perfile_list btfs; /* of perfile_bpf_btf_entry: the BTFs */
} perfile_bpf_btf;

/* Feature COMPRESSED: compression of the records. */
typedef struct perfile_compression {
    uint32_t reserved0; /* 0 */
    uint32_t version; /* 0 */
    uint32_t type; /* method */
    uint32_t level; /* level */
    uint32_t ratio; /* ratio reached */
    uint32_t mmap_len; /* ring buffer; bound of one record's output */
} perfile_compression;

/* Feature CPU_PMU_CAPS: capabilities of the core PMU. */
typedef struct perfile_cpu_pmu_caps {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* capabilities */
    perfile_list caps; /* of perfile_pmu_cap: the capabilities */
} perfile_cpu_pmu_caps;

/* Feature CLOCK_DATA: session clock and wall clock at one moment. */
typedef struct perfile_clock_data {
    uint32_t reserved0; /* 0 */
    uint32_t version; /* 1 */
    int32_t clockid; /* the clock */
    uint64_t wall_clock_ns; /* wall clock */
    uint64_t clockid_time_ns; /* the clock at that moment */
} perfile_clock_data;

/* Feature HYBRID_TOPOLOGY: kinds of CPU cores. */
typedef struct perfile_hybrid_topology {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* kinds */
    perfile_list nodes; /* of perfile_hybrid_node: the kinds */
} perfile_hybrid_topology;

/* Feature PMU_CAPS: capabilities of the PMUs. */
typedef struct perfile_pmu_caps {
    uint32_t reserved0; /* 0 */
    uint32_t nr; /* PMUs */
    perfile_list pmus; /* of perfile_pmu_caps_entry: the PMUs */
} perfile_pmu_caps;

/* Feature CPU_DOMAIN_INFO: scheduling domains. */
typedef struct perfile_cpu_domain_info {
    uint32_t reserved0; /* 0 */
    uint32_t schedstat_version; /* form of /proc/schedstat */
    uint32_t max_sched_domains; /* domains of a CPU at most */
    perfile_list cpus; /* of perfile_cpu_domains: the CPUs */
} perfile_cpu_domain_info;

/* Feature E_MACHINE: ELF machine. */
typedef struct perfile_elf_machine {
    uint32_t reserved0; /* 0 */
    uint32_t e_machine; /* architecture */
    uint32_t e_flags; /* its flags */
} perfile_elf_machine;

/* Feature CLN_SIZE: cache line. */
typedef struct perfile_cln_size {
    uint32_t reserved0; /* 0 */
    uint32_t cln_size; /* bytes of a cache line */
} perfile_cln_size;

/* Feature FILE: mapped files and their symbols. */
typedef struct perfile_sp_file {
    uint32_t reserved0; /* 0 */
    perfile_list files; /* of perfile_file_entry: the files */
} perfile_sp_file;

/* Feature META_INFO: facts about the recording. */
typedef struct perfile_sp_meta_info {
    uint32_t reserved0; /* 0 */
    perfile_list entries; /* of perfile_meta_entry: the facts */
} perfile_sp_meta_info;

/* Feature DEBUG_UNWIND: files for debugging the unwinder. */
typedef struct perfile_sp_debug_unwind {
    uint32_t reserved0; /* 0 */
    perfile_bytes message; /* protobuf */
} perfile_sp_debug_unwind;

/* Feature DEBUG_UNWIND_FILE: contents of those files. */
typedef struct perfile_sp_debug_unwind_file {
    uint32_t reserved0; /* 0 */
    perfile_bytes data; /* one after the other */
} perfile_sp_debug_unwind_file;

/* Feature FILE2: mapped files and their symbols. */
typedef struct perfile_sp_file2 {
    uint32_t reserved0; /* 0 */
    perfile_list files; /* of perfile_file2_entry: the files */
} perfile_sp_file2;

/* Feature ETM_BRANCH_LIST: branches from ETM traces. */
typedef struct perfile_sp_etm_branch_list {
    uint32_t reserved0; /* 0 */
    perfile_bytes message; /* protobuf */
} perfile_sp_etm_branch_list;

/* Feature INIT_MAP: records of what existed at the start. */
typedef struct perfile_sp_init_map {
    uint32_t reserved0; /* 0 */
    perfile_bytes records; /* MMAP, MMAP2 and COMM records */
} perfile_sp_init_map;

/* END made of format/ */
/* clang-format on */

/* One function for all types.  `type` is PERFILE_RECORD_…, PERFILE_FEATURE_… or PERFILE_LIST_…, and
 * `out` must be the struct of that type.  The functions for each type, further down, check this at
 * compile time. */

/* Decodes a record of any family, its trailer (PERFILE_TYPE_SAMPLE_ID), or a feature section; with
 * record->type or feature->number as `type` whatever it is.  PERFILE_E_USAGE: it is of another
 * type, or no table has the type. */
PERFILE_API perfile_status perfile_decode(const perfile_record *record, uint32_t type, void *out,
                                          size_t size, perfile_error *err);
PERFILE_API perfile_status perfile_decode_feature(const perfile_feature *feature, uint32_t type,
                                                  void *out, size_t size, perfile_error *err);

/* Removes the first struct from a list and decodes it into *out.  Returns PERFILE_END after the
 * last.  Errors have a status but no message. */
PERFILE_API perfile_status perfile_next(perfile_list *list, uint32_t type, void *out, size_t size);

/* Elements of lists.  A number is a hash of the name, so that a new struct changes no other. */
enum {
    /* clang-format off */
/* BEGIN made of format/: lists */
    PERFILE_LIST_attr = 279460018,
    PERFILE_LIST_read_entry = 1042054326,
    PERFILE_LIST_read_values = 1171632564,
    PERFILE_LIST_branch_entry = 1692100150,
    PERFILE_LIST_branch_stack = 1955926462,
    PERFILE_LIST_regs_user = 129753156,
    PERFILE_LIST_regs_intr = 1806034398,
    PERFILE_LIST_stack_user = 999074531,
    PERFILE_LIST_weight = 1352703673,
    PERFILE_LIST_ns_link = 778880127,
    PERFILE_LIST_cpu_map_data = 1997023097,
    PERFILE_LIST_id_index_entry = 1887089320,
    PERFILE_LIST_id_index_guest = 1942716380,
    PERFILE_LIST_thread_map_entry = 1872918815,
    PERFILE_LIST_stat_setting = 1933154516,
    PERFILE_LIST_bpf_metadata_entry = 1674341434,
    PERFILE_LIST_event_id_entry = 1263908574,
    PERFILE_LIST_schedstat_balance = 263436253,
    PERFILE_LIST_schedstat_balance17 = 1026896329,
    PERFILE_LIST_schedstat_moves = 14688783,
    PERFILE_LIST_perfmon_header = 1594763532,
    PERFILE_LIST_perfmon_tag = 2053756703,
    PERFILE_LIST_perfmon_branch = 1498576161,
    PERFILE_LIST_event_desc_entry = 1575968866,
    PERFILE_LIST_topology_cpu = 1071879957,
    PERFILE_LIST_numa_node = 265061115,
    PERFILE_LIST_pmu_mapping = 942393860,
    PERFILE_LIST_group_desc_entry = 1484245663,
    PERFILE_LIST_auxtrace_index_entry = 1109226902,
    PERFILE_LIST_cache_entry = 683427222,
    PERFILE_LIST_mem_node = 1679253571,
    PERFILE_LIST_bpf_prog_info_entry = 1027065486,
    PERFILE_LIST_bpf_btf_entry = 330440847,
    PERFILE_LIST_pmu_cap = 1715659474,
    PERFILE_LIST_hybrid_node = 799891344,
    PERFILE_LIST_pmu_caps_entry = 1611265448,
    PERFILE_LIST_sched_domain = 360307377,
    PERFILE_LIST_cpu_domains = 250910095,
    PERFILE_LIST_build_id_entry = 798318362,
    PERFILE_LIST_meta_entry = 541616339,
    PERFILE_LIST_file_symbol = 1516812240,
    PERFILE_LIST_file_entry = 315786936,
    PERFILE_LIST_file2_entry = 487361048,
    PERFILE_LIST_tracing_file = 659181588,
    PERFILE_LIST_tracing_system = 2011835067,
    PERFILE_LIST_tracing_formats = 1215701414,
/* END made of format/ */
    /* clang-format on */
};

#ifndef PERFILE_DECLARATIONS
/* Makes a list of `n` structs of `size` bytes (sizeof *items), for encoders.  The list borrows
 * them. */
static inline perfile_list perfile_list_of(const void *items, size_t n, size_t size)
{
    perfile_list list = {
        {(const uint8_t *)items, n * size}, n, 0, 0, 0, 0, 0, 0, {0, 0, 0}, (uint32_t)size};
    return list;
}

/* perfile_NAME_decode() and perfile_NAME_next() do that for one type each, as the beginning of this
 * header says. */
/* clang-format off */
/* BEGIN made of format/: decoders */
static inline perfile_status perfile_attr_next(perfile_list *list, perfile_attr *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_attr, out, size);
}
static inline perfile_status perfile_read_entry_next(perfile_list *list, perfile_read_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_read_entry, out, size);
}
static inline perfile_status perfile_read_values_next(perfile_list *list, perfile_read_values *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_read_values, out, size);
}
static inline perfile_status perfile_branch_entry_next(perfile_list *list, perfile_branch_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_branch_entry, out, size);
}
static inline perfile_status perfile_branch_stack_next(perfile_list *list, perfile_branch_stack *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_branch_stack, out, size);
}
static inline perfile_status perfile_regs_user_next(perfile_list *list, perfile_regs_user *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_regs_user, out, size);
}
static inline perfile_status perfile_regs_intr_next(perfile_list *list, perfile_regs_intr *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_regs_intr, out, size);
}
static inline perfile_status perfile_stack_user_next(perfile_list *list, perfile_stack_user *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_stack_user, out, size);
}
static inline perfile_status perfile_weight_next(perfile_list *list, perfile_weight *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_weight, out, size);
}
static inline perfile_status perfile_ns_link_next(perfile_list *list, perfile_ns_link *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_ns_link, out, size);
}
static inline perfile_status perfile_cpu_map_data_next(perfile_list *list, perfile_cpu_map_data *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_cpu_map_data, out, size);
}
static inline perfile_status perfile_id_index_entry_next(perfile_list *list, perfile_id_index_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_id_index_entry, out, size);
}
static inline perfile_status perfile_id_index_guest_next(perfile_list *list, perfile_id_index_guest *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_id_index_guest, out, size);
}
static inline perfile_status perfile_thread_map_entry_next(perfile_list *list, perfile_thread_map_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_thread_map_entry, out, size);
}
static inline perfile_status perfile_stat_setting_next(perfile_list *list, perfile_stat_setting *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_stat_setting, out, size);
}
static inline perfile_status perfile_bpf_metadata_entry_next(perfile_list *list, perfile_bpf_metadata_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_bpf_metadata_entry, out, size);
}
static inline perfile_status perfile_event_id_entry_next(perfile_list *list, perfile_event_id_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_event_id_entry, out, size);
}
static inline perfile_status perfile_schedstat_balance_next(perfile_list *list, perfile_schedstat_balance *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_schedstat_balance, out, size);
}
static inline perfile_status perfile_schedstat_balance17_next(perfile_list *list, perfile_schedstat_balance17 *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_schedstat_balance17, out, size);
}
static inline perfile_status perfile_schedstat_moves_next(perfile_list *list, perfile_schedstat_moves *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_schedstat_moves, out, size);
}
static inline perfile_status perfile_perfmon_header_next(perfile_list *list, perfile_perfmon_header *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_perfmon_header, out, size);
}
static inline perfile_status perfile_perfmon_tag_next(perfile_list *list, perfile_perfmon_tag *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_perfmon_tag, out, size);
}
static inline perfile_status perfile_perfmon_branch_next(perfile_list *list, perfile_perfmon_branch *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_perfmon_branch, out, size);
}
static inline perfile_status perfile_event_desc_entry_next(perfile_list *list, perfile_event_desc_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_event_desc_entry, out, size);
}
static inline perfile_status perfile_topology_cpu_next(perfile_list *list, perfile_topology_cpu *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_topology_cpu, out, size);
}
static inline perfile_status perfile_numa_node_next(perfile_list *list, perfile_numa_node *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_numa_node, out, size);
}
static inline perfile_status perfile_pmu_mapping_next(perfile_list *list, perfile_pmu_mapping *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_pmu_mapping, out, size);
}
static inline perfile_status perfile_group_desc_entry_next(perfile_list *list, perfile_group_desc_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_group_desc_entry, out, size);
}
static inline perfile_status perfile_auxtrace_index_entry_next(perfile_list *list, perfile_auxtrace_index_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_auxtrace_index_entry, out, size);
}
static inline perfile_status perfile_cache_entry_next(perfile_list *list, perfile_cache_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_cache_entry, out, size);
}
static inline perfile_status perfile_mem_node_next(perfile_list *list, perfile_mem_node *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_mem_node, out, size);
}
static inline perfile_status perfile_bpf_prog_info_entry_next(perfile_list *list, perfile_bpf_prog_info_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_bpf_prog_info_entry, out, size);
}
static inline perfile_status perfile_bpf_btf_entry_next(perfile_list *list, perfile_bpf_btf_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_bpf_btf_entry, out, size);
}
static inline perfile_status perfile_pmu_cap_next(perfile_list *list, perfile_pmu_cap *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_pmu_cap, out, size);
}
static inline perfile_status perfile_hybrid_node_next(perfile_list *list, perfile_hybrid_node *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_hybrid_node, out, size);
}
static inline perfile_status perfile_pmu_caps_entry_next(perfile_list *list, perfile_pmu_caps_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_pmu_caps_entry, out, size);
}
static inline perfile_status perfile_sched_domain_next(perfile_list *list, perfile_sched_domain *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_sched_domain, out, size);
}
static inline perfile_status perfile_cpu_domains_next(perfile_list *list, perfile_cpu_domains *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_cpu_domains, out, size);
}
static inline perfile_status perfile_build_id_entry_next(perfile_list *list, perfile_build_id_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_build_id_entry, out, size);
}
static inline perfile_status perfile_meta_entry_next(perfile_list *list, perfile_meta_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_meta_entry, out, size);
}
static inline perfile_status perfile_file_symbol_next(perfile_list *list, perfile_file_symbol *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_file_symbol, out, size);
}
static inline perfile_status perfile_file_entry_next(perfile_list *list, perfile_file_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_file_entry, out, size);
}
static inline perfile_status perfile_file2_entry_next(perfile_list *list, perfile_file2_entry *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_file2_entry, out, size);
}
static inline perfile_status perfile_tracing_file_next(perfile_list *list, perfile_tracing_file *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_tracing_file, out, size);
}
static inline perfile_status perfile_tracing_system_next(perfile_list *list, perfile_tracing_system *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_tracing_system, out, size);
}
static inline perfile_status perfile_tracing_formats_next(perfile_list *list, perfile_tracing_formats *out, size_t size)
{
    return perfile_next(list, PERFILE_LIST_tracing_formats, out, size);
}
static inline perfile_status perfile_tracing_data_decode(const perfile_feature *feature, perfile_tracing_data *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_TRACING_DATA, out, size, err);
}
static inline perfile_status perfile_build_ids_decode(const perfile_feature *feature, perfile_build_ids *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_BUILD_ID, out, size, err);
}
static inline perfile_status perfile_hostname_decode(const perfile_feature *feature, perfile_hostname *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_HOSTNAME, out, size, err);
}
static inline perfile_status perfile_osrelease_decode(const perfile_feature *feature, perfile_osrelease *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_OSRELEASE, out, size, err);
}
static inline perfile_status perfile_tool_version_decode(const perfile_feature *feature, perfile_tool_version *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_VERSION, out, size, err);
}
static inline perfile_status perfile_arch_decode(const perfile_feature *feature, perfile_arch *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_ARCH, out, size, err);
}
static inline perfile_status perfile_nrcpus_decode(const perfile_feature *feature, perfile_nrcpus *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_NRCPUS, out, size, err);
}
static inline perfile_status perfile_cpudesc_decode(const perfile_feature *feature, perfile_cpudesc *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CPUDESC, out, size, err);
}
static inline perfile_status perfile_cpuid_decode(const perfile_feature *feature, perfile_cpuid *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CPUID, out, size, err);
}
static inline perfile_status perfile_total_mem_decode(const perfile_feature *feature, perfile_total_mem *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_TOTAL_MEM, out, size, err);
}
static inline perfile_status perfile_cmdline_decode(const perfile_feature *feature, perfile_cmdline *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CMDLINE, out, size, err);
}
static inline perfile_status perfile_event_desc_decode(const perfile_feature *feature, perfile_event_desc *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_EVENT_DESC, out, size, err);
}
static inline perfile_status perfile_cpu_topology_decode(const perfile_feature *feature, perfile_cpu_topology *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CPU_TOPOLOGY, out, size, err);
}
static inline perfile_status perfile_numa_topology_decode(const perfile_feature *feature, perfile_numa_topology *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_NUMA_TOPOLOGY, out, size, err);
}
static inline perfile_status perfile_branch_stack_used_decode(const perfile_feature *feature, perfile_branch_stack_used *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_BRANCH_STACK, out, size, err);
}
static inline perfile_status perfile_pmu_mappings_decode(const perfile_feature *feature, perfile_pmu_mappings *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_PMU_MAPPINGS, out, size, err);
}
static inline perfile_status perfile_group_desc_decode(const perfile_feature *feature, perfile_group_desc *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_GROUP_DESC, out, size, err);
}
static inline perfile_status perfile_auxtrace_index_decode(const perfile_feature *feature, perfile_auxtrace_index *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_AUXTRACE, out, size, err);
}
static inline perfile_status perfile_stat_used_decode(const perfile_feature *feature, perfile_stat_used *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_STAT, out, size, err);
}
static inline perfile_status perfile_cache_decode(const perfile_feature *feature, perfile_cache *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CACHE, out, size, err);
}
static inline perfile_status perfile_sample_time_decode(const perfile_feature *feature, perfile_sample_time *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_SAMPLE_TIME, out, size, err);
}
static inline perfile_status perfile_mem_topology_decode(const perfile_feature *feature, perfile_mem_topology *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_MEM_TOPOLOGY, out, size, err);
}
static inline perfile_status perfile_clockid_decode(const perfile_feature *feature, perfile_clockid *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CLOCKID, out, size, err);
}
static inline perfile_status perfile_dir_format_decode(const perfile_feature *feature, perfile_dir_format *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_DIR_FORMAT, out, size, err);
}
static inline perfile_status perfile_bpf_prog_info_decode(const perfile_feature *feature, perfile_bpf_prog_info *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_BPF_PROG_INFO, out, size, err);
}
static inline perfile_status perfile_bpf_btf_decode(const perfile_feature *feature, perfile_bpf_btf *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_BPF_BTF, out, size, err);
}
static inline perfile_status perfile_compression_decode(const perfile_feature *feature, perfile_compression *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_COMPRESSED, out, size, err);
}
static inline perfile_status perfile_cpu_pmu_caps_decode(const perfile_feature *feature, perfile_cpu_pmu_caps *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CPU_PMU_CAPS, out, size, err);
}
static inline perfile_status perfile_clock_data_decode(const perfile_feature *feature, perfile_clock_data *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CLOCK_DATA, out, size, err);
}
static inline perfile_status perfile_hybrid_topology_decode(const perfile_feature *feature, perfile_hybrid_topology *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_HYBRID_TOPOLOGY, out, size, err);
}
static inline perfile_status perfile_pmu_caps_decode(const perfile_feature *feature, perfile_pmu_caps *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_PMU_CAPS, out, size, err);
}
static inline perfile_status perfile_cpu_domain_info_decode(const perfile_feature *feature, perfile_cpu_domain_info *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CPU_DOMAIN_INFO, out, size, err);
}
static inline perfile_status perfile_elf_machine_decode(const perfile_feature *feature, perfile_elf_machine *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_E_MACHINE, out, size, err);
}
static inline perfile_status perfile_cln_size_decode(const perfile_feature *feature, perfile_cln_size *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_CLN_SIZE, out, size, err);
}
static inline perfile_status perfile_sp_file_decode(const perfile_feature *feature, perfile_sp_file *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_FILE, out, size, err);
}
static inline perfile_status perfile_sp_meta_info_decode(const perfile_feature *feature, perfile_sp_meta_info *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_META_INFO, out, size, err);
}
static inline perfile_status perfile_sp_debug_unwind_decode(const perfile_feature *feature, perfile_sp_debug_unwind *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_DEBUG_UNWIND, out, size, err);
}
static inline perfile_status perfile_sp_debug_unwind_file_decode(const perfile_feature *feature, perfile_sp_debug_unwind_file *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_DEBUG_UNWIND_FILE, out, size, err);
}
static inline perfile_status perfile_sp_file2_decode(const perfile_feature *feature, perfile_sp_file2 *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_FILE2, out, size, err);
}
static inline perfile_status perfile_sp_etm_branch_list_decode(const perfile_feature *feature, perfile_sp_etm_branch_list *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_ETM_BRANCH_LIST, out, size, err);
}
static inline perfile_status perfile_sp_init_map_decode(const perfile_feature *feature, perfile_sp_init_map *out,
    size_t size, perfile_error *err)
{
    return perfile_decode_feature(feature, PERFILE_FEATURE_INIT_MAP, out, size, err);
}
static inline perfile_status perfile_sample_decode(const perfile_record *record, perfile_sample *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SAMPLE, out, size, err);
}
static inline perfile_status perfile_mmap_decode(const perfile_record *record, perfile_mmap *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_MMAP, out, size, err);
}
static inline perfile_status perfile_lost_decode(const perfile_record *record, perfile_lost *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_LOST, out, size, err);
}
static inline perfile_status perfile_comm_decode(const perfile_record *record, perfile_comm *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_COMM, out, size, err);
}
static inline perfile_status perfile_exit_decode(const perfile_record *record, perfile_exit *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_EXIT, out, size, err);
}
static inline perfile_status perfile_throttle_decode(const perfile_record *record, perfile_throttle *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_THROTTLE, out, size, err);
}
static inline perfile_status perfile_unthrottle_decode(const perfile_record *record, perfile_unthrottle *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_UNTHROTTLE, out, size, err);
}
static inline perfile_status perfile_fork_decode(const perfile_record *record, perfile_fork *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_FORK, out, size, err);
}
static inline perfile_status perfile_read_decode(const perfile_record *record, perfile_read *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_READ, out, size, err);
}
static inline perfile_status perfile_mmap2_decode(const perfile_record *record, perfile_mmap2 *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_MMAP2, out, size, err);
}
static inline perfile_status perfile_aux_decode(const perfile_record *record, perfile_aux *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_AUX, out, size, err);
}
static inline perfile_status perfile_itrace_start_decode(const perfile_record *record, perfile_itrace_start *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_ITRACE_START, out, size, err);
}
static inline perfile_status perfile_lost_samples_decode(const perfile_record *record, perfile_lost_samples *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_LOST_SAMPLES, out, size, err);
}
static inline perfile_status perfile_switch_decode(const perfile_record *record, perfile_switch *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SWITCH, out, size, err);
}
static inline perfile_status perfile_switch_cpu_wide_decode(const perfile_record *record, perfile_switch_cpu_wide *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SWITCH_CPU_WIDE, out, size, err);
}
static inline perfile_status perfile_namespaces_decode(const perfile_record *record, perfile_namespaces *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_NAMESPACES, out, size, err);
}
static inline perfile_status perfile_ksymbol_decode(const perfile_record *record, perfile_ksymbol *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_KSYMBOL, out, size, err);
}
static inline perfile_status perfile_bpf_event_decode(const perfile_record *record, perfile_bpf_event *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_BPF_EVENT, out, size, err);
}
static inline perfile_status perfile_cgroup_decode(const perfile_record *record, perfile_cgroup *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_CGROUP, out, size, err);
}
static inline perfile_status perfile_text_poke_decode(const perfile_record *record, perfile_text_poke *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_TEXT_POKE, out, size, err);
}
static inline perfile_status perfile_aux_output_hw_id_decode(const perfile_record *record, perfile_aux_output_hw_id *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_AUX_OUTPUT_HW_ID, out, size, err);
}
static inline perfile_status perfile_callchain_deferred_decode(const perfile_record *record, perfile_callchain_deferred *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_CALLCHAIN_DEFERRED, out, size, err);
}
static inline perfile_status perfile_header_attr_decode(const perfile_record *record, perfile_header_attr *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_HEADER_ATTR, out, size, err);
}
static inline perfile_status perfile_header_event_type_decode(const perfile_record *record, perfile_header_event_type *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_HEADER_EVENT_TYPE, out, size, err);
}
static inline perfile_status perfile_header_tracing_data_decode(const perfile_record *record, perfile_header_tracing_data *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_HEADER_TRACING_DATA, out, size, err);
}
static inline perfile_status perfile_header_build_id_decode(const perfile_record *record, perfile_header_build_id *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_HEADER_BUILD_ID, out, size, err);
}
static inline perfile_status perfile_finished_round_decode(const perfile_record *record, perfile_finished_round *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_FINISHED_ROUND, out, size, err);
}
static inline perfile_status perfile_id_index_decode(const perfile_record *record, perfile_id_index *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_ID_INDEX, out, size, err);
}
static inline perfile_status perfile_auxtrace_info_decode(const perfile_record *record, perfile_auxtrace_info *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_AUXTRACE_INFO, out, size, err);
}
static inline perfile_status perfile_auxtrace_decode(const perfile_record *record, perfile_auxtrace *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_AUXTRACE, out, size, err);
}
static inline perfile_status perfile_auxtrace_error_decode(const perfile_record *record, perfile_auxtrace_error *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_AUXTRACE_ERROR, out, size, err);
}
static inline perfile_status perfile_thread_map_decode(const perfile_record *record, perfile_thread_map *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_THREAD_MAP, out, size, err);
}
static inline perfile_status perfile_cpu_map_decode(const perfile_record *record, perfile_cpu_map *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_CPU_MAP, out, size, err);
}
static inline perfile_status perfile_stat_config_decode(const perfile_record *record, perfile_stat_config *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_STAT_CONFIG, out, size, err);
}
static inline perfile_status perfile_stat_decode(const perfile_record *record, perfile_stat *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_STAT, out, size, err);
}
static inline perfile_status perfile_stat_round_decode(const perfile_record *record, perfile_stat_round *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_STAT_ROUND, out, size, err);
}
static inline perfile_status perfile_event_update_decode(const perfile_record *record, perfile_event_update *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_EVENT_UPDATE, out, size, err);
}
static inline perfile_status perfile_time_conv_decode(const perfile_record *record, perfile_time_conv *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_TIME_CONV, out, size, err);
}
static inline perfile_status perfile_header_feature_decode(const perfile_record *record, perfile_header_feature *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_HEADER_FEATURE, out, size, err);
}
static inline perfile_status perfile_compressed_decode(const perfile_record *record, perfile_compressed *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_COMPRESSED, out, size, err);
}
static inline perfile_status perfile_finished_init_decode(const perfile_record *record, perfile_finished_init *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_FINISHED_INIT, out, size, err);
}
static inline perfile_status perfile_compressed2_decode(const perfile_record *record, perfile_compressed2 *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_COMPRESSED2, out, size, err);
}
static inline perfile_status perfile_bpf_metadata_decode(const perfile_record *record, perfile_bpf_metadata *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_BPF_METADATA, out, size, err);
}
static inline perfile_status perfile_schedstat_cpu_decode(const perfile_record *record, perfile_schedstat_cpu *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SCHEDSTAT_CPU, out, size, err);
}
static inline perfile_status perfile_schedstat_domain_decode(const perfile_record *record, perfile_schedstat_domain *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SCHEDSTAT_DOMAIN, out, size, err);
}
static inline perfile_status perfile_sp_kernel_symbol_decode(const perfile_record *record, perfile_sp_kernel_symbol *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_KERNEL_SYMBOL, out, size, err);
}
static inline perfile_status perfile_sp_dso_decode(const perfile_record *record, perfile_sp_dso *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_DSO, out, size, err);
}
static inline perfile_status perfile_sp_symbol_decode(const perfile_record *record, perfile_sp_symbol *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_SYMBOL, out, size, err);
}
static inline perfile_status perfile_sp_split_decode(const perfile_record *record, perfile_sp_split *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_SPLIT, out, size, err);
}
static inline perfile_status perfile_sp_split_end_decode(const perfile_record *record, perfile_sp_split_end *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_SPLIT_END, out, size, err);
}
static inline perfile_status perfile_sp_event_id_decode(const perfile_record *record, perfile_sp_event_id *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_EVENT_ID, out, size, err);
}
static inline perfile_status perfile_sp_callchain_decode(const perfile_record *record, perfile_sp_callchain *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_CALLCHAIN, out, size, err);
}
static inline perfile_status perfile_sp_unwinding_result_decode(const perfile_record *record, perfile_sp_unwinding_result *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT, out, size, err);
}
static inline perfile_status perfile_sp_tracing_data_decode(const perfile_record *record, perfile_sp_tracing_data *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_TRACING_DATA, out, size, err);
}
static inline perfile_status perfile_sp_debug_decode(const perfile_record *record, perfile_sp_debug *out,
    size_t size, perfile_error *err)
{
    return perfile_decode(record, PERFILE_RECORD_SIMPLEPERF_DEBUG, out, size, err);
}
/* END made of format/ */
/* clang-format on */
#endif

#ifndef PERFILE_DECLARATIONS
/* Decodes the trailer of a kernel record.  Returns PERFILE_END if the record has none. */
static inline perfile_status perfile_sample_id_decode(const perfile_record *record,
                                                      perfile_sample_id *out, size_t size,
                                                      perfile_error *err)
{
    return perfile_decode(record, PERFILE_TYPE_SAMPLE_ID, out, size, err);
}
#endif

/* Decodes attr bytes that are not part of a capture.  `swapped`: they are in the other byte
 * order. */
PERFILE_API perfile_status perfile_attr_decode(perfile_bytes bytes, bool swapped, perfile_attr *out,
                                               size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
