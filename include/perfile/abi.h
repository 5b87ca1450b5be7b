/* Constants of the perf ABI, defined by ourselves: the library builds where there is no Linux.
 * Sources stand with the rows of format/words.def and format/records.def. */
#ifndef PERFILE_ABI_H
#define PERFILE_ABI_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of attr.sample_type, attr.read_format and attr.branch_sample_type (PERFILE_SAMPLE_IP,
 * PERFILE_FORMAT_ID, PERFILE_BRANCH_HW_INDEX …), and bit numbers of the attr flags
 * (PERFILE_ATTR_BIT_SAMPLE_ID_ALL …).  PERFILE_…_KNOWN are those that this version has names for; a
 * newer library knows more, and `present` of a struct that it fills may have them. */
/* clang-format off */
enum {
/* BEGIN made of format/: bits */
    PERFILE_SAMPLE_IP = 1 << 0,
    PERFILE_SAMPLE_TID = 1 << 1,
    PERFILE_SAMPLE_TIME = 1 << 2,
    PERFILE_SAMPLE_ADDR = 1 << 3,
    PERFILE_SAMPLE_READ = 1 << 4,
    PERFILE_SAMPLE_CALLCHAIN = 1 << 5,
    PERFILE_SAMPLE_ID = 1 << 6,
    PERFILE_SAMPLE_CPU = 1 << 7,
    PERFILE_SAMPLE_PERIOD = 1 << 8,
    PERFILE_SAMPLE_STREAM_ID = 1 << 9,
    PERFILE_SAMPLE_RAW = 1 << 10,
    PERFILE_SAMPLE_BRANCH_STACK = 1 << 11,
    PERFILE_SAMPLE_REGS_USER = 1 << 12,
    PERFILE_SAMPLE_STACK_USER = 1 << 13,
    PERFILE_SAMPLE_WEIGHT = 1 << 14,
    PERFILE_SAMPLE_DATA_SRC = 1 << 15,
    PERFILE_SAMPLE_IDENTIFIER = 1 << 16,
    PERFILE_SAMPLE_TRANSACTION = 1 << 17,
    PERFILE_SAMPLE_REGS_INTR = 1 << 18,
    PERFILE_SAMPLE_PHYS_ADDR = 1 << 19,
    PERFILE_SAMPLE_AUX = 1 << 20,
    PERFILE_SAMPLE_CGROUP = 1 << 21,
    PERFILE_SAMPLE_DATA_PAGE_SIZE = 1 << 22,
    PERFILE_SAMPLE_CODE_PAGE_SIZE = 1 << 23,
    PERFILE_SAMPLE_WEIGHT_STRUCT = 1 << 24,
    PERFILE_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
    PERFILE_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
    PERFILE_FORMAT_ID = 1 << 2,
    PERFILE_FORMAT_GROUP = 1 << 3,
    PERFILE_FORMAT_LOST = 1 << 4,
    PERFILE_BRANCH_USER = 1 << 0,
    PERFILE_BRANCH_KERNEL = 1 << 1,
    PERFILE_BRANCH_HV = 1 << 2,
    PERFILE_BRANCH_ANY = 1 << 3,
    PERFILE_BRANCH_ANY_CALL = 1 << 4,
    PERFILE_BRANCH_ANY_RETURN = 1 << 5,
    PERFILE_BRANCH_IND_CALL = 1 << 6,
    PERFILE_BRANCH_ABORT_TX = 1 << 7,
    PERFILE_BRANCH_IN_TX = 1 << 8,
    PERFILE_BRANCH_NO_TX = 1 << 9,
    PERFILE_BRANCH_COND = 1 << 10,
    PERFILE_BRANCH_CALL_STACK = 1 << 11,
    PERFILE_BRANCH_IND_JUMP = 1 << 12,
    PERFILE_BRANCH_CALL = 1 << 13,
    PERFILE_BRANCH_NO_FLAGS = 1 << 14,
    PERFILE_BRANCH_NO_CYCLES = 1 << 15,
    PERFILE_BRANCH_TYPE_SAVE = 1 << 16,
    PERFILE_BRANCH_HW_INDEX = 1 << 17,
    PERFILE_BRANCH_PRIV_SAVE = 1 << 18,
    PERFILE_BRANCH_COUNTERS = 1 << 19,
    PERFILE_ATTR_BIT_DISABLED = 0,
    PERFILE_ATTR_BIT_INHERIT = 1,
    PERFILE_ATTR_BIT_PINNED = 2,
    PERFILE_ATTR_BIT_EXCLUSIVE = 3,
    PERFILE_ATTR_BIT_EXCLUDE_USER = 4,
    PERFILE_ATTR_BIT_EXCLUDE_KERNEL = 5,
    PERFILE_ATTR_BIT_EXCLUDE_HV = 6,
    PERFILE_ATTR_BIT_EXCLUDE_IDLE = 7,
    PERFILE_ATTR_BIT_MMAP = 8,
    PERFILE_ATTR_BIT_COMM = 9,
    PERFILE_ATTR_BIT_FREQ = 10,
    PERFILE_ATTR_BIT_INHERIT_STAT = 11,
    PERFILE_ATTR_BIT_ENABLE_ON_EXEC = 12,
    PERFILE_ATTR_BIT_TASK = 13,
    PERFILE_ATTR_BIT_WATERMARK = 14,
    PERFILE_ATTR_BIT_PRECISE_IP = 15,
    PERFILE_ATTR_BIT_MMAP_DATA = 17,
    PERFILE_ATTR_BIT_SAMPLE_ID_ALL = 18,
    PERFILE_ATTR_BIT_EXCLUDE_HOST = 19,
    PERFILE_ATTR_BIT_EXCLUDE_GUEST = 20,
    PERFILE_ATTR_BIT_EXCLUDE_CALLCHAIN_KERNEL = 21,
    PERFILE_ATTR_BIT_EXCLUDE_CALLCHAIN_USER = 22,
    PERFILE_ATTR_BIT_MMAP2 = 23,
    PERFILE_ATTR_BIT_COMM_EXEC = 24,
    PERFILE_ATTR_BIT_USE_CLOCKID = 25,
    PERFILE_ATTR_BIT_CONTEXT_SWITCH = 26,
    PERFILE_ATTR_BIT_WRITE_BACKWARD = 27,
    PERFILE_ATTR_BIT_NAMESPACES = 28,
    PERFILE_ATTR_BIT_KSYMBOL = 29,
    PERFILE_ATTR_BIT_BPF_EVENT = 30,
    PERFILE_ATTR_BIT_AUX_OUTPUT = 31,
    PERFILE_ATTR_BIT_CGROUP = 32,
    PERFILE_ATTR_BIT_TEXT_POKE = 33,
    PERFILE_ATTR_BIT_BUILD_ID = 34,
    PERFILE_ATTR_BIT_INHERIT_THREAD = 35,
    PERFILE_ATTR_BIT_REMOVE_ON_EXEC = 36,
    PERFILE_ATTR_BIT_SIGTRAP = 37,
    PERFILE_ATTR_BIT_DEFER_CALLCHAIN = 38,
    PERFILE_ATTR_BIT_DEFER_OUTPUT = 39,
    PERFILE_ATTR_BIT_RESERVED_1 = 40,
    PERFILE_SAMPLE_BITS = 25, /* of sample_type that have a row in format/words.def */
    PERFILE_SAMPLE_KNOWN = 0x1ffffff,
    PERFILE_FORMAT_KNOWN = 0x1f,
    PERFILE_BRANCH_KNOWN = 0xfffff,
    PERFILE_ATTR_SIZE = 144, /* bytes of an attr with all members of the tables */
/* END made of format/ */
};
/* clang-format on */

/* misc & PERFILE_MISC_CPUMODE_MASK: where the sample or the mapping is of. */
enum {
    PERFILE_MISC_CPUMODE_UNKNOWN = 0,
    PERFILE_MISC_CPUMODE_KERNEL = 1,
    PERFILE_MISC_CPUMODE_USER = 2,
    PERFILE_MISC_CPUMODE_HYPERVISOR = 3,
    PERFILE_MISC_CPUMODE_GUEST_KERNEL = 4,
    PERFILE_MISC_CPUMODE_GUEST_USER = 5,
    PERFILE_MISC_CPUMODE_KNOWN = 6 /* from here on there is none */
};

/* attr.type; PMUs of the recorded machine follow (feature PMU_MAPPINGS). */
enum {
    PERFILE_TYPE_HARDWARE = 0,
    PERFILE_TYPE_SOFTWARE = 1,
    PERFILE_TYPE_TRACEPOINT = 2,
    PERFILE_TYPE_HW_CACHE = 3,
    PERFILE_TYPE_RAW = 4,
    PERFILE_TYPE_BREAKPOINT = 5
};

/* PERFILE_RECORD_MMAP … : numbers of the record types that have a row in format/. */
/* clang-format off */
enum {
/* BEGIN made of format/: record numbers */
    PERFILE_RECORD_SAMPLE = 9, /* one sample */
    PERFILE_RECORD_MMAP = 1, /* executable mapping */
    PERFILE_RECORD_LOST = 2, /* records dropped because the buffer was full */
    PERFILE_RECORD_COMM = 3, /* a thread got a name */
    PERFILE_RECORD_EXIT = 4, /* a thread ended */
    PERFILE_RECORD_THROTTLE = 5, /* the event was stopped: too many interrupts */
    PERFILE_RECORD_UNTHROTTLE = 6, /* the event goes on */
    PERFILE_RECORD_FORK = 7, /* a thread began */
    PERFILE_RECORD_READ = 8, /* counter values at the end of a thread */
    PERFILE_RECORD_MMAP2 = 10, /* executable mapping */
    PERFILE_RECORD_AUX = 11, /* new data in the AUX area */
    PERFILE_RECORD_ITRACE_START = 12, /* instruction tracing began */
    PERFILE_RECORD_LOST_SAMPLES = 13, /* samples that were not written */
    PERFILE_RECORD_SWITCH = 14, /* the thread was switched in or out */
    PERFILE_RECORD_SWITCH_CPU_WIDE = 15, /* a processor switched threads */
    PERFILE_RECORD_NAMESPACES = 16, /* namespaces of a thread */
    PERFILE_RECORD_KSYMBOL = 17, /* a kernel symbol came or went */
    PERFILE_RECORD_BPF_EVENT = 18, /* a BPF program was loaded or unloaded */
    PERFILE_RECORD_CGROUP = 19, /* a cgroup */
    PERFILE_RECORD_TEXT_POKE = 20, /* kernel code was changed */
    PERFILE_RECORD_AUX_OUTPUT_HW_ID = 21, /* hardware id of an event in AUX data */
    PERFILE_RECORD_CALLCHAIN_DEFERRED = 22, /* user part of earlier call chains */
    PERFILE_RECORD_HEADER_ATTR = 64, /* an event */
    PERFILE_RECORD_HEADER_EVENT_TYPE = 65, /* name of an event (perf 2.6.34 to 3.11) */
    PERFILE_RECORD_HEADER_TRACING_DATA = 66, /* tracepoint formats follow */
    PERFILE_RECORD_HEADER_BUILD_ID = 67, /* build id of a file */
    PERFILE_RECORD_FINISHED_ROUND = 68, /* every buffer was read once more */
    PERFILE_RECORD_ID_INDEX = 69, /* which event instance has which id */
    PERFILE_RECORD_AUXTRACE_INFO = 70, /* what made the AUX data */
    PERFILE_RECORD_AUXTRACE = 71, /* AUX data follow */
    PERFILE_RECORD_AUXTRACE_ERROR = 72, /* AUX data could not be decoded */
    PERFILE_RECORD_THREAD_MAP = 73, /* recorded threads */
    PERFILE_RECORD_CPU_MAP = 74, /* recorded processors */
    PERFILE_RECORD_STAT_CONFIG = 75, /* settings of perf stat */
    PERFILE_RECORD_STAT = 76, /* one counter value of perf stat */
    PERFILE_RECORD_STAT_ROUND = 77, /* the STAT records before this one belong together */
    PERFILE_RECORD_EVENT_UPDATE = 78, /* more about an event */
    PERFILE_RECORD_TIME_CONV = 79, /* from counter values to time */
    PERFILE_RECORD_HEADER_FEATURE = 80, /* a feature section */
    PERFILE_RECORD_COMPRESSED = 81, /* compressed records */
    PERFILE_RECORD_FINISHED_INIT = 82, /* all synthesized records were written */
    PERFILE_RECORD_COMPRESSED2 = 83, /* compressed records, padded */
    PERFILE_RECORD_BPF_METADATA = 84, /* variables of a BPF program */
    PERFILE_RECORD_SCHEDSTAT_CPU = 85, /* scheduler counters of a processor */
    PERFILE_RECORD_SCHEDSTAT_DOMAIN = 86, /* scheduler counters of a domain */
    PERFILE_RECORD_SIMPLEPERF_KERNEL_SYMBOL = 32769, /* copy of /proc/kallsyms */
    PERFILE_RECORD_SIMPLEPERF_DSO = 32770, /* a mapped object */
    PERFILE_RECORD_SIMPLEPERF_SYMBOL = 32771, /* a symbol */
    PERFILE_RECORD_SIMPLEPERF_SPLIT = 32772, /* a fragment of a record above 64 KiB */
    PERFILE_RECORD_SIMPLEPERF_SPLIT_END = 32773, /* the fragments are complete */
    PERFILE_RECORD_SIMPLEPERF_EVENT_ID = 32774, /* ids opened during the recording */
    PERFILE_RECORD_SIMPLEPERF_CALLCHAIN = 32775, /* call chain found by unwinding a stack */
    PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT = 32776, /* how unwinding a stack went */
    PERFILE_RECORD_SIMPLEPERF_TRACING_DATA = 32777, /* tracepoint formats */
    PERFILE_RECORD_SIMPLEPERF_DEBUG = 32778, /* a note of the recorder */
/* END made of format/ */
    PERFILE_RECORD_USER = 64,             /* from here on records of tools, without trailer */
    PERFILE_RECORD_SIMPLEPERF = 32768,    /* from here on 32-bit sizes, … */
    PERFILE_RECORD_SIMPLEPERF_END = 33024 /* … up to here */
};
/* clang-format on */

/* PERFILE_FEATURE_HOSTNAME … : numbers of the feature sections that have a row in format/. */
/* clang-format off */
enum {
/* BEGIN made of format/: feature numbers */
    PERFILE_FEATURE_TRACING_DATA = 1, /* tracepoint formats */
    PERFILE_FEATURE_BUILD_ID = 2, /* build ids of the files that samples hit */
    PERFILE_FEATURE_HOSTNAME = 3, /* the recorded machine */
    PERFILE_FEATURE_OSRELEASE = 4, /* its kernel */
    PERFILE_FEATURE_VERSION = 5, /* the recording tool */
    PERFILE_FEATURE_ARCH = 6, /* architecture */
    PERFILE_FEATURE_NRCPUS = 7, /* processors */
    PERFILE_FEATURE_CPUDESC = 8, /* the processor in words */
    PERFILE_FEATURE_CPUID = 9, /* the processor in numbers */
    PERFILE_FEATURE_TOTAL_MEM = 10, /* memory */
    PERFILE_FEATURE_CMDLINE = 11, /* command line of the recording */
    PERFILE_FEATURE_EVENT_DESC = 12, /* events and their names */
    PERFILE_FEATURE_CPU_TOPOLOGY = 13, /* how processors share cores and sockets */
    PERFILE_FEATURE_NUMA_TOPOLOGY = 14, /* memory nodes */
    PERFILE_FEATURE_BRANCH_STACK = 15, /* samples have branch stacks */
    PERFILE_FEATURE_PMU_MAPPINGS = 16, /* names of PMU numbers */
    PERFILE_FEATURE_GROUP_DESC = 17, /* groups of events */
    PERFILE_FEATURE_AUXTRACE = 18, /* where the AUXTRACE records are */
    PERFILE_FEATURE_STAT = 19, /* a recording of perf stat */
    PERFILE_FEATURE_CACHE = 20, /* processor caches */
    PERFILE_FEATURE_SAMPLE_TIME = 21, /* span of the samples */
    PERFILE_FEATURE_MEM_TOPOLOGY = 22, /* memory blocks of the nodes */
    PERFILE_FEATURE_CLOCKID = 23, /* resolution of the clock */
    PERFILE_FEATURE_DIR_FORMAT = 24, /* form of the directory */
    PERFILE_FEATURE_BPF_PROG_INFO = 25, /* BPF programs */
    PERFILE_FEATURE_BPF_BTF = 26, /* BPF type information */
    PERFILE_FEATURE_COMPRESSED = 27, /* compression of the records */
    PERFILE_FEATURE_CPU_PMU_CAPS = 28, /* capabilities of the core PMU */
    PERFILE_FEATURE_CLOCK_DATA = 29, /* session clock and wall clock at one moment */
    PERFILE_FEATURE_HYBRID_TOPOLOGY = 30, /* kinds of processor cores */
    PERFILE_FEATURE_PMU_CAPS = 31, /* capabilities of the PMUs */
    PERFILE_FEATURE_CPU_DOMAIN_INFO = 32, /* scheduling domains */
    PERFILE_FEATURE_E_MACHINE = 33, /* ELF machine */
    PERFILE_FEATURE_CLN_SIZE = 34, /* cache line */
    PERFILE_FEATURE_FILE = 128, /* mapped files and their symbols */
    PERFILE_FEATURE_META_INFO = 129, /* facts about the recording */
    PERFILE_FEATURE_DEBUG_UNWIND = 130, /* files for debugging the unwinder */
    PERFILE_FEATURE_DEBUG_UNWIND_FILE = 131, /* contents of those files */
    PERFILE_FEATURE_FILE2 = 132, /* mapped files and their symbols */
    PERFILE_FEATURE_ETM_BRANCH_LIST = 133, /* branches from ETM traces */
    PERFILE_FEATURE_INIT_MAP = 134, /* records of what existed at the start */
/* END made of format/ */
    PERFILE_N_FEATURES = 256
};
/* clang-format on */

/* Record header, misc.  Bits 12 and up mean different things to different types. */
enum {
    /* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
    PERFILE_MISC_CPUMODE_MASK = 7,
    PERFILE_MISC_PROC_MAP_TIMEOUT = 1 << 12,   /* MMAP, MMAP2: the list of maps is not complete */
    PERFILE_MISC_MMAP_DATA = 1 << 13,          /* MMAP, MMAP2: not executable */
    PERFILE_MISC_COMM_EXEC = 1 << 13,          /* COMM: because of exec */
    PERFILE_MISC_FORK_EXEC = 1 << 13,          /* FORK: the task existed before the recording */
    PERFILE_MISC_SWITCH_OUT = 1 << 13,         /* SWITCH, SWITCH_CPU_WIDE: out, else in */
    PERFILE_MISC_EXACT_IP = 1 << 14,           /* SAMPLE: ip is exact */
    PERFILE_MISC_SWITCH_OUT_PREEMPT = 1 << 14, /* SWITCH, SWITCH_CPU_WIDE: while runnable */
    PERFILE_MISC_MMAP_BUILD_ID = 1 << 14,      /* MMAP2: build id instead of the inode */
    PERFILE_MISC_BUILD_ID_SIZE = 1 << 15,   /* HEADER_BUILD_ID: byte 32 is the length of the id */
    PERFILE_MISC_LOST_SAMPLES_BPF = 1 << 15 /* LOST_SAMPLES: dropped by a BPF filter */
};

#ifdef __cplusplus
}
#endif

#endif
