/* For each rule a capture that breaks it, and one that does not. */
#ifndef TESTS_CHECK_CASES_H
#define TESTS_CHECK_CASES_H

#include "check_built.h"
#include "check_edits.h"

/* How a capture is made that is no sample of ours. */
typedef void build_fn(builder *b);

typedef struct rule_case {
    unsigned rule;
    const char *base;     /* a capture of samples/captures, or NULL: built */
    build_fn *piece;      /* put behind the good stream */
    build_fn *whole;      /* a capture that breaks the rule by itself, … */
    build_fn *whole_good; /* … and one that does not; NULL: the good stream */
    edit edits[2];
} rule_case;

#define ATTR_SET(name, op, width, value)                                                           \
    {                                                                                              \
        AT_ATTR, 0, 0, name, 0, op, width, value                                                   \
    }
#define HEADER(at, width, value)                                                                   \
    {                                                                                              \
        AT_FILE, 0, at, NULL, 0, OP_SET, width, value                                              \
    }
#define RECORD_SET(type, nth, name, plus, width, value)                                            \
    {                                                                                              \
        AT_RECORD, PERFILE_RECORD_##type, nth, name, plus, OP_SET, width, value                    \
    }
#define FEATURE_SET(number, name, plus, width, value)                                              \
    {                                                                                              \
        AT_FEATURE, PERFILE_FEATURE_##number, 0, name, plus, OP_SET, width, value                  \
    }
#define TABLE(number, plus, op, width, value)                                                      \
    {                                                                                              \
        AT_TABLE, PERFILE_FEATURE_##number, 0, NULL, plus, op, width, value                        \
    }
#define EDITED(rule, base, ...)                                                                    \
    {                                                                                              \
        PERFILE_RULE_##rule, base, NULL, NULL, NULL,                                               \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define PIECE(rule, piece)                                                                         \
    {                                                                                              \
        PERFILE_RULE_##rule, NULL, piece, NULL, NULL,                                              \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define WHOLE(rule, whole, good)                                                                   \
    {                                                                                              \
        PERFILE_RULE_##rule, NULL, NULL, whole, good,                                              \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define FIRST_RECORD_CUT                                                                           \
    {                                                                                              \
        AT_FILE, 0, 264, NULL, 0, OP_CUT, 0, 0                                                     \
    }

#define PLAIN  "cpu-clock.data"
#define SECOND 1
#define ALL    UINT64_MAX

static const rule_case cases[] = {
    EDITED(V_001, PLAIN, HEADER(0, 8, 0)),
    EDITED(V_002, PLAIN, HEADER(8, 8, 50)),
    EDITED(V_002, PLAIN, HEADER(8, 8, 112)),
    EDITED(V_003, PLAIN, HEADER(16, 8, 84)),
    EDITED(V_004, PLAIN, {AT_FILE, 0, 32, NULL, 0, OP_ADD, 8, 8}),
    EDITED(V_005, PLAIN, HEADER(32, 8, 0)),
    EDITED(V_006, PLAIN, TABLE(HOSTNAME, 0, OP_SET, 8, 1 << 30)),
    EDITED(V_006, PLAIN, {AT_ENTRY, 0, 0, NULL, 0, OP_SET, 8, 1 << 30}),
    EDITED(V_007, PLAIN, HEADER(48, 8, 0)),
    EDITED(V_007, PLAIN, HEADER(48, 8, 0), FIRST_RECORD_CUT),
    EDITED(V_008, PLAIN, {AT_ENTRY, 0, 0, NULL, 0, OP_SET, 8, 300}),
    EDITED(V_009, PLAIN, {AT_TABLE, PERFILE_FEATURE_VERSION, 0, NULL, 0, OP_CUT, 0, 0}),
    EDITED(V_010, PLAIN, {AT_TABLE, PERFILE_FEATURE_HOSTNAME, 0, NULL, 0, OP_SWAP16, 0, 0}),
    EDITED(V_011, PLAIN, {AT_FILE, 0, 77, NULL, 0, OP_OR, 1, 1}),
    EDITED(V_012, PLAIN, HEADER(72, 1, 0xf4)),
    EDITED(V_013, PLAIN, {AT_END, 0, 0, NULL, 0, OP_APPEND, 0, 5}),
    EDITED(V_014, PLAIN, HEADER(56, 8, 120), HEADER(64, 8, 72)),
    EDITED(V_015, PLAIN, HEADER(0, 8, 0x454c494646524550)),
    EDITED(V_016, PLAIN, {AT_FILE, 0, 40, NULL, 0, OP_ADD, 8, 4}),
    EDITED(V_017, "pipe.data", {AT_RECORD, PERFILE_RECORD_SAMPLE, 3, NULL, 10, OP_CUT, 0, 0}),
    EDITED(V_019, PLAIN, {AT_ENTRY, 0, 0, NULL, 8, OP_SET, 8, 12}),
    EDITED(V_019, "mixed.data", {AT_ENTRY, 0, SECOND, NULL, 0, OP_SET, 8, 104}),
    EDITED(V_101, PLAIN, ATTR_SET("size", OP_SET, 4, 32)),
    EDITED(V_101, "pipe.data", RECORD_SET(HEADER_ATTR, 0, "size", 0, 4, 32)),
    EDITED(V_102, PLAIN, ATTR_SET("size", OP_SET, 4, 120)),
    EDITED(V_103, PLAIN, ATTR_SET("size", OP_SET, 4, 124)),
    EDITED(V_104, PLAIN, {AT_ATTR, 0, 0, "flags", 5, OP_OR, 1, 0x20}),
    EDITED(V_104, PLAIN, ATTR_SET("__reserved_2", OP_SET, 2, 1)),
    EDITED(V_105, PLAIN, {AT_ATTR, 0, 0, "sample_type", 3, OP_OR, 1, 0x80}),
    EDITED(V_105, PLAIN, {AT_ATTR, 0, 0, "sample_type", 7, OP_OR, 1, 0x80}),
    EDITED(V_106, "fields.data", ATTR_SET("sample_type", OP_OR, 4, PERFILE_SAMPLE_WEIGHT)),
    EDITED(V_107, "group.data",
           {AT_ATTR, 0, SECOND, "sample_type", 0, OP_OR, 4, PERFILE_SAMPLE_ADDR}),
    WHOLE(V_107, whole_sampled, whole_counted), /* `perf stat record -o -` has such events */
    WHOLE(V_107, whole_side_band, whole_counted),
    EDITED(V_108, "mixed.data", {AT_ATTR, 0, SECOND, "flags", 2, OP_SET, 1, 0}),
    WHOLE(V_109, whole_without_ids, NULL),
    EDITED(V_110, PLAIN, HEADER(104, 8, 0)),
    EDITED(V_111, "group.data", ATTR_SET("read_format", OP_SET, 8, PERFILE_FORMAT_GROUP)),
    EDITED(V_112, PLAIN, ATTR_SET("read_format", OP_OR, 8, 256)),
    EDITED(V_113, PLAIN, ATTR_SET("sample_type", OP_OR, 8, PERFILE_SAMPLE_BRANCH_STACK),
           ATTR_SET("branch_sample_type", OP_SET, 8, 1 << 30)),
    EDITED(V_114, PLAIN, ATTR_SET("sample_type", OP_OR, 8, PERFILE_SAMPLE_REGS_USER)),
    EDITED(V_115, "dwarf.data", ATTR_SET("sample_stack_user", OP_SET, 4, 7)),
    EDITED(V_116, "clock.data", ATTR_SET("clockid", OP_SET, 4, 99)),
    EDITED(V_116, "mixed.data", {AT_ATTR, 0, SECOND, "flags", 3, OP_OR, 1, 2}),
    EDITED(V_117, PLAIN, ATTR_SET("sample_freq", OP_SET, 8, 0)),
    EDITED(V_118, PLAIN, {AT_ATTR, 0, 0, "flags", 1, OP_OR, 1, 0x80}),
    EDITED(V_119, "tracepoints.data", ATTR_SET("config", OP_SET, 8, 99999)),
    EDITED(V_201, PLAIN, RECORD_SET(SAMPLE, 20, NULL, 6, 2, 4)),
    EDITED(V_202, PLAIN, RECORD_SET(SAMPLE, 20, NULL, 6, 2, 0xfff8)),
    PIECE(V_203, piece_odd_size),
    EDITED(V_204, PLAIN, RECORD_SET(SAMPLE, 20, NULL, 0, 4, 200)),
    EDITED(V_205, PLAIN, RECORD_SET(SAMPLE, 20, NULL, 0, 4, 0)),
    EDITED(V_206, PLAIN, RECORD_SET(COMM, 0, NULL, 0, 4, PERFILE_RECORD_MMAP2)),
    PIECE(V_207, piece_extra_words),
    PIECE(V_208, piece_no_string_end),
    PIECE(V_208, piece_full_event_type),
    PIECE(V_208, piece_cut_event_type),
    EDITED(V_209, PLAIN, RECORD_SET(MMAP2, 0, "filename", 0, 2, 0x6100)),
    EDITED(V_210, "group.data", RECORD_SET(SAMPLE, 0, "id", 0, 8, 424242)),
    EDITED(V_211, PLAIN, RECORD_SET(SAMPLE, 0, NULL, 4, 2, 0x802)),
    EDITED(V_211, PLAIN, RECORD_SET(SAMPLE, 0, NULL, 4, 2, 7)),
    EDITED(V_212, "fields.data", RECORD_SET(SAMPLE, 5, "time", 0, 8, 1)),
    EDITED(V_213, "fields.data", RECORD_SET(SAMPLE, 0, "cpu", 0, 4, 5000)),
    EDITED(V_214, PLAIN, RECORD_SET(FORK, 0, "time", 0, 8, 1)),
    PIECE(V_215, piece_lost),
    EDITED(V_216, PLAIN, RECORD_SET(MMAP2, 0, "filename", 0, 1, 0)),
    PIECE(V_301, piece_short_sample),
    PIECE(V_302, piece_long_sample),
    EDITED(V_303, "callgraph.data", RECORD_SET(SAMPLE, 0, "nr", 0, 8, 10000)),
    EDITED(V_304, "dwarf.data", RECORD_SET(SAMPLE, 0, "dyn_size", 0, 8, 100000)),
    WHOLE(V_305, whole_two_ids, NULL),
    EDITED(V_306, "fields.data", RECORD_SET(SAMPLE, 0, "res", 0, 4, 1)),
    WHOLE(V_307, whole_raw, NULL),
    EDITED(V_308, "tracepoints.data", RECORD_SET(SAMPLE, 0, "raw", 0, 2, 65535)),
    EDITED(V_309, "callgraph.data", RECORD_SET(SAMPLE, 0, "callchain", 0, 8, 0x401000)),
    EDITED(V_309, "callgraph.data", RECORD_SET(SAMPLE, 0, "callchain", 0, 8, (uint64_t)-77)),
    EDITED(V_310, "dwarf.data", RECORD_SET(SAMPLE, 0, "abi", 0, 8, 7)),
    EDITED(V_311, "group.data", RECORD_SET(SAMPLE, 0, "id#2", 0, 8, 424242)),
    EDITED(V_312, PLAIN, RECORD_SET(SAMPLE, 5, "time", 0, 8, UINT64_C(1) << 60)),
    EDITED(V_313, PLAIN, RECORD_SET(SAMPLE, 5, "period", 0, 8, 0)),
    WHOLE(V_314, whole_branches, NULL),
    PIECE(V_401, piece_build_id),
    EDITED(V_402, PLAIN, RECORD_SET(MMAP2, 0, "len", 0, 8, ALL)),
    PIECE(V_403, piece_text_poke),
    EDITED(V_404, "namespaces.data", RECORD_SET(NAMESPACES, 0, "nr_namespaces", 0, 8, 1000)),
    PIECE(V_405, piece_deferred_count),
    PIECE(V_406, piece_deferred),
    EDITED(V_407, PLAIN, RECORD_SET(SAMPLE, 5, "pid", 0, 4, 54321)),
    PIECE(V_408, piece_aux_gap),
    EDITED(V_501, PLAIN, RECORD_SET(EVENT_UPDATE, 0, NULL, 0, 4, PERFILE_RECORD_HEADER_EVENT_TYPE)),
    EDITED(V_502, "pipe.data",
           RECORD_SET(HEADER_ATTR, 0, NULL, 0, 4, PERFILE_RECORD_FINISHED_INIT)),
    EDITED(V_503, "pipe.data",
           RECORD_SET(HEADER_FEATURE, 18, NULL, 0, 4, PERFILE_RECORD_FINISHED_INIT)),
    EDITED(V_504, PLAIN, RECORD_SET(ID_INDEX, 0, "nr", 0, 8, 0)),
    EDITED(V_504, PLAIN, RECORD_SET(ID_INDEX, 0, "nr", 0, 8, 1000)),
    EDITED(V_505, PLAIN, RECORD_SET(ID_INDEX, 0, "id", 0, 8, 424242)),
    EDITED(V_506, PLAIN, RECORD_SET(THREAD_MAP, 0, "nr", 0, 8, 1000)),
    EDITED(V_507, PLAIN, RECORD_SET(CPU_MAP, 0, "type", 0, 2, 9)),
    EDITED(V_508, "stat.data", RECORD_SET(STAT_CONFIG, 0, "nr", 0, 8, 1)),
    EDITED(V_509, PLAIN, RECORD_SET(EVENT_UPDATE, 0, "id", 0, 8, 424242)),
    PIECE(V_510, piece_time_conv),
    PIECE(V_511, piece_auxtrace_cut),
    PIECE(V_512, piece_auxtrace),
    PIECE(V_513, piece_auxtrace_error),
    EDITED(V_514, "pipe.data",
           RECORD_SET(FINISHED_ROUND, 0, NULL, 0, 4, PERFILE_RECORD_FINISHED_INIT)),
    PIECE(V_515, piece_old_record),
    PIECE(V_516, piece_after_round),
    EDITED(V_517, "zstd.data", RECORD_SET(COMPRESSED, 1, "data", 0, 8, ALL),
           RECORD_SET(COMPRESSED, 1, "data", 8, 8, ALL)),
    PIECE(V_518, piece_half_inner),
    PIECE(V_519, piece_nested),
    PIECE(V_520, piece_compressed2),
    PIECE(V_521, piece_compressed),
    EDITED(V_521, "zstd.data", FEATURE_SET(COMPRESSED, "mmap_len", 0, 4, 5)),
    PIECE(V_522, piece_metadata),
    PIECE(V_523, piece_second_stream),
    PIECE(V_524, piece_split),
    EDITED(V_601, PLAIN, FEATURE_SET(HOSTNAME, NULL, 0, 4, 1 << 30)),
    EDITED(V_602, PLAIN, TABLE(NRCPUS, 8, OP_SET, 8, 12)),
    EDITED(V_603, PLAIN, FEATURE_SET(HOSTNAME, NULL, 67, 1, 'x')),
    EDITED(V_604, PLAIN, FEATURE_SET(EVENT_DESC, "ids", 0, 8, 1)),
    EDITED(V_604, PLAIN, FEATURE_SET(EVENT_DESC, NULL, 0, 4, 0)),
    EDITED(V_605, PLAIN, FEATURE_SET(NRCPUS, "nr_cpus_online", 0, 4, 10000)),
    EDITED(V_606, PLAIN, FEATURE_SET(SAMPLE_TIME, "first_sample_time", 0, 8, 5)),
    WHOLE(V_607, whole_index, whole_index_good),
    WHOLE(V_608, whole_index, whole_index_good),
    EDITED(V_609, "clock.data", FEATURE_SET(CLOCK_DATA, "clockid", 0, 4, 7)),
    EDITED(V_610, PLAIN, ATTR_SET("sample_type", OP_OR, 8, PERFILE_SAMPLE_BRANCH_STACK)),
    EDITED(V_611, PLAIN, FEATURE_SET(BUILD_ID, NULL, 6, 2, 4)),
    EDITED(V_611, PLAIN, FEATURE_SET(BUILD_ID, NULL, 6, 2, 44)),
    EDITED(V_612, "group.data", FEATURE_SET(GROUP_DESC, "leader_idx", 0, 4, 77)),
    EDITED(V_613, PLAIN, ATTR_SET("type", OP_SET, 4, 4000)),
    EDITED(V_614, "tracepoints.data", FEATURE_SET(TRACING_DATA, NULL, 0, 1, 0)),
    EDITED(V_614, "tracepoints.data", FEATURE_SET(TRACING_DATA, NULL, 14, 1, 1)),
    EDITED(V_615, PLAIN, TABLE(CPU_TOPOLOGY, 8, OP_ADD, 8, 4)),
    EDITED(V_616, PLAIN, FEATURE_SET(MEM_TOPOLOGY, "version", 0, 8, 9)),
    PIECE(V_617, piece_machine),
    PIECE(V_618, piece_meta),
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

#endif
