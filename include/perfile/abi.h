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
 * (PERFILE_ATTR_BIT_SAMPLE_ID_ALL …). */
enum {
#define PERFILE_BIT_sample_type(id, shift)        PERFILE_SAMPLE_##id = 1 << (shift),
#define PERFILE_BIT_read_format(id, shift)        PERFILE_FORMAT_##id = 1 << (shift),
#define PERFILE_BIT_branch_sample_type(id, shift) PERFILE_BRANCH_##id = 1 << (shift),
#define PERFILE_BIT_attr_flags(id, shift)         PERFILE_ATTR_BIT_##id = (shift),
#define PERFILE_BIT_branch_flags(id, shift)
#define PERFILE_BIT_data_src(id, shift)
#define PERFILE_BIT_mem_op(id, shift)
#define PERFILE_BIT_mem_lvl(id, shift)
#define PERFILE_BIT_mem_snoop(id, shift)
#define PERFILE_BIT_mem_lock(id, shift)
#define PERFILE_BIT_mem_tlb(id, shift)
#define PERFILE_BIT_mem_snoopx(id, shift)
#define PERFILE_BIT_mem_blk(id, shift)
#define PERFILE_BIT_transaction(id, shift)
#define PERFILE_BIT_bp_type(id, shift)
#define PERFILE_BIT_aux_action(id, shift)
#define PERFILE_BIT_aux_flags(id, shift)
#define PERFILE_BIT_prot(id, shift)
#define PERFILE_BIT_map_flags(id, shift)
#define PERFILE_BIT_ksym_flags(id, shift)
#define BITS(set, id, shift, width, values, name, doc) PERFILE_BIT_##set(id, shift)
#include "perfile/format/words.def"
    PERFILE_SAMPLE_BITS = 25, /* of sample_type that have a row in format/words.def */
    PERFILE_SAMPLE_KNOWN = (1 << PERFILE_SAMPLE_BITS) - 1,
    PERFILE_FORMAT_KNOWN = (1 << 5) - 1,
    PERFILE_BRANCH_KNOWN = (1 << 20) - 1
};

/* misc & PERFILE_MISC_CPUMODE_MASK: where the sample or the mapping is of. */
enum {
    PERFILE_CPUMODE_UNKNOWN = 0,
    PERFILE_CPUMODE_KERNEL = 1,
    PERFILE_CPUMODE_USER = 2,
    PERFILE_CPUMODE_HYPERVISOR = 3,
    PERFILE_CPUMODE_GUEST_KERNEL = 4,
    PERFILE_CPUMODE_GUEST_USER = 5,
    PERFILE_CPUMODE_KNOWN = 6 /* from here on there is none */
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
enum {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_##name = (number),
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_##name = (number),
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_##name = (number),
#include "perfile/format/simpleperf.def"
    PERFILE_RECORD_USER = 64,             /* from here on records of tools, without trailer */
    PERFILE_RECORD_SIMPLEPERF = 32768,    /* from here on 32-bit sizes, … */
    PERFILE_RECORD_SIMPLEPERF_END = 33024 /* … up to here */
};

/* PERFILE_FEATURE_HOSTNAME … : numbers of the feature sections that have a row in format/. */
enum {
#define FEATURE(id, number, name, source, contract, doc) PERFILE_FEATURE_##name = (number),
#include "perfile/format/features.def"
    PERFILE_N_FEATURES = 256
};

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
