/* Checks whether a capture follows the rules: the rules, and a stage that reports violations.
 *
 * The stage is put on a stream and passes its records on unchanged.  Findings are reported to a
 * callback as they are met; those about the end of the stream when PERFILE_END is reached:
 *
 *     st = perfile_open_path("perf.data", NULL, &s, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_check(s, NULL, &s, &err); // s is the new head
 *     while (st == PERFILE_OK)
 *         st = perfile_stream_next(s, &r, &err);
 */
#ifndef PERFILE_CHECK_H
#define PERFILE_CHECK_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* severity of a finding, in ascending order */
       PERFILE_SEVERITY_NONE = 0,
       PERFILE_SEVERITY_NOTE = 1,
       PERFILE_SEVERITY_WARNING = 2,
       PERFILE_SEVERITY_ERROR = 3
};

enum { /* what a rule is about */
       PERFILE_RULE_SCOPE_CONTAINER = 0,
       PERFILE_RULE_SCOPE_ATTR = 1,
       PERFILE_RULE_SCOPE_RECORD = 2,
       PERFILE_RULE_SCOPE_SAMPLE = 3,
       PERFILE_RULE_SCOPE_FEATURE = 4,
       PERFILE_RULE_SCOPE_STREAM = 5,
       PERFILE_RULE_SCOPE_ARCHIVE = 6
};

/* PERFILE_RULE_V_001 …: one for each row of format/rules.def.  A rule keeps its number forever; it
 * is the number in its id: V-302 is 302. */
/* clang-format off */
enum {
/* BEGIN made of format/: rules */
    /* the file begins with one of the three magics and has at least 16 bytes */
    PERFILE_RULE_V_001 = 1,
    PERFILE_RULE_V_002 = 2, /* the header has 104, 72 or 16 bytes */
    /* an entry of the attr section has at least 80 bytes, a multiple of 8 */
    PERFILE_RULE_V_003 = 3,
    PERFILE_RULE_V_004 = 4, /* the attr section holds whole entries */
    PERFILE_RULE_V_005 = 5, /* the file has events */
    PERFILE_RULE_V_006 = 6, /* every section is inside the file */
    PERFILE_RULE_V_007 = 7, /* the data section is not empty */
    /* header, attrs, ids, data, feature table and features do not overlap */
    PERFILE_RULE_V_008 = 8,
    PERFILE_RULE_V_009 = 9, /* the feature table is inside the file */
    PERFILE_RULE_V_010 = 10, /* features follow the table in the order of their numbers */
    PERFILE_RULE_V_011 = 11, /* only features 1 to 34 and 128 to 134 are declared */
    PERFILE_RULE_V_012 = 12, /* feature HOSTNAME is declared */
    PERFILE_RULE_V_013 = 13, /* nothing follows the last feature */
    /* the event types of old files are one for each event, in the same order */
    PERFILE_RULE_V_014 = 14,
    PERFILE_RULE_V_015 = 15, /* the file is of version 2 */
    PERFILE_RULE_V_016 = 16, /* the data begin at a multiple of 8 */
    PERFILE_RULE_V_017 = 17, /* a pipe stream ends where a record ends */
    PERFILE_RULE_V_018 = 18, /* a directory has `data`, DIR_FORMAT 0 or 1, and data.N with 1 only */
    PERFILE_RULE_V_019 = 19, /* the ids of an event are whole words and of that event alone */
    PERFILE_RULE_V_101 = 101, /* the size of an attr is 0 or at least 64, and fits in its place */
    PERFILE_RULE_V_102 = 102, /* an attr fills its entry */
    PERFILE_RULE_V_103 = 103, /* the size of an attr is one that a kernel had (64 to 144) */
    PERFILE_RULE_V_104 = 104, /* reserved bits and fields of an attr are 0 */
    PERFILE_RULE_V_105 = 105, /* sample_type has known bits only */
    PERFILE_RULE_V_106 = 106, /* WEIGHT and WEIGHT_STRUCT are not both set */
    /* with several events all have the id at the same place of their records */
    PERFILE_RULE_V_107 = 107,
    PERFILE_RULE_V_108 = 108, /* sample_id_all is the same for all events */
    PERFILE_RULE_V_109 = 109, /* with several events each has an id */
    PERFILE_RULE_V_110 = 110, /* an id is not 0 and belongs to one event */
    PERFILE_RULE_V_111 = 111, /* READ in sample_type comes with ID in read_format */
    PERFILE_RULE_V_112 = 112, /* read_format has known bits only */
    /* branch_sample_type has known bits only when there are branch stacks */
    PERFILE_RULE_V_113 = 113,
    PERFILE_RULE_V_114 = 114, /* REGS_USER and REGS_INTR come with a mask of registers */
    PERFILE_RULE_V_115 = 115, /* STACK_USER comes with a size, a multiple of 8 up to 65528 */
    PERFILE_RULE_V_116 = 116, /* all events use the same known clock */
    PERFILE_RULE_V_117 = 117, /* an event that samples by frequency has one above 0 */
    PERFILE_RULE_V_118 = 118, /* software events and tracepoints have precise_ip 0 */
    PERFILE_RULE_V_119 = 119, /* tracepoints have RAW data, and TRACING_DATA describes them */
    PERFILE_RULE_V_201 = 201, /* a record has at least 8 bytes */
    PERFILE_RULE_V_202 = 202, /* a record, with the bytes after it, ends inside the data */
    PERFILE_RULE_V_203 = 203, /* the size of a record is a multiple of 8 */
    PERFILE_RULE_V_204 = 204, /* the type of a record is known */
    PERFILE_RULE_V_205 = 205, /* the type of a record is not 0 */
    /* a record has room for the fields of its type, and for its trailer */
    PERFILE_RULE_V_206 = 206,
    PERFILE_RULE_V_207 = 207, /* a kernel record of fixed layout has nothing after its fields */
    PERFILE_RULE_V_208 = 208, /* a string ends before the trailer */
    PERFILE_RULE_V_209 = 209, /* the padding of strings is 0 */
    PERFILE_RULE_V_210 = 210, /* the id of a record is 0 or that of an event */
    PERFILE_RULE_V_211 = 211, /* misc of a kernel record has known bits and a known cpumode */
    PERFILE_RULE_V_212 = 212, /* times of a CPU do not go back */
    PERFILE_RULE_V_213 = 213, /* the CPU of a record is one that the machine has */
    PERFILE_RULE_V_214 = 214, /* the two times of a FORK or EXIT differ by less than a second */
    PERFILE_RULE_V_215 = 215, /* nothing was lost and no event was throttled */
    /* a record that ends with a string is no longer than string, padding and trailer */
    PERFILE_RULE_V_216 = 216,
    PERFILE_RULE_V_301 = 301, /* a sample has room for its fixed fields */
    PERFILE_RULE_V_302 = 302, /* the fields of a sample fill its record */
    /* call chain, branch stack, counters, raw data, stack and AUX data fit in the sample */
    PERFILE_RULE_V_303 = 303,
    PERFILE_RULE_V_304 = 304, /* no more of the user stack is valid than was copied */
    PERFILE_RULE_V_305 = 305, /* IDENTIFIER and ID are equal */
    PERFILE_RULE_V_306 = 306, /* the word next to the CPU is 0 */
    PERFILE_RULE_V_307 = 307, /* raw data end at a multiple of 8 */
    PERFILE_RULE_V_308 = 308, /* the raw data of a tracepoint begin with its number */
    PERFILE_RULE_V_309 = 309, /* a call chain begins with a context and has known contexts only */
    PERFILE_RULE_V_310 = 310, /* the ABI of registers is 0, 1 or 2 */
    PERFILE_RULE_V_311 = 311, /* a group has counters, and their ids are known */
    PERFILE_RULE_V_312 = 312, /* times of samples are in the range of feature SAMPLE_TIME */
    PERFILE_RULE_V_313 = 313, /* the period of a sample is above 0 */
    PERFILE_RULE_V_314 = 314, /* a branch was not predicted and mispredicted at once */
    PERFILE_RULE_V_401 = 401, /* a build id of an MMAP2 has 1 to 20 bytes */
    PERFILE_RULE_V_402 = 402, /* a mapping does not wrap around, and has a length */
    PERFILE_RULE_V_403 = 403, /* the code of a TEXT_POKE fits in the record */
    PERFILE_RULE_V_404 = 404, /* the namespaces of a NAMESPACES record fit in it */
    PERFILE_RULE_V_405 = 405, /* the entries of a CALLCHAIN_DEFERRED fit in it */
    /* a CALLCHAIN_DEFERRED has the cookie of an earlier sample of its thread, once */
    PERFILE_RULE_V_406 = 406,
    PERFILE_RULE_V_407 = 407, /* processes of samples have a name, and their addresses a mapping */
    PERFILE_RULE_V_408 = 408, /* AUX records of a buffer follow each other */
    /* HEADER_ATTR, HEADER_FEATURE, HEADER_EVENT_TYPE and HEADER_TRACING_DATA come in pipes only */
    PERFILE_RULE_V_501 = 501,
    PERFILE_RULE_V_502 = 502, /* an event comes before the first record that needs one */
    PERFILE_RULE_V_503 = 503, /* a list of HEADER_FEATURE records is closed by an empty one */
    PERFILE_RULE_V_504 = 504, /* an ID_INDEX has as many entries as it says, and nothing else */
    PERFILE_RULE_V_505 = 505, /* ID_INDEX lists the ids of the events, all of them */
    PERFILE_RULE_V_506 = 506, /* the entries of a THREAD_MAP fit in it */
    /* a CPU_MAP fits in its record, is a list, mask or range, and is consistent */
    PERFILE_RULE_V_507 = 507,
    PERFILE_RULE_V_508 = 508, /* a STAT_CONFIG has as many settings as it says, and nothing else */
    /* an EVENT_UPDATE is of a known event and kind, and its string ends */
    PERFILE_RULE_V_509 = 509,
    /* a TIME_CONV has 32 or 56 bytes; shift is below 64 and mult above 0 */
    PERFILE_RULE_V_510 = 510,
    PERFILE_RULE_V_511 = 511, /* AUX data are inside the data and have a multiple of 8 bytes */
    PERFILE_RULE_V_512 = 512, /* an AUXTRACE_INFO comes before AUXTRACE */
    PERFILE_RULE_V_513 = 513, /* the message of an AUXTRACE_ERROR ends inside its record */
    PERFILE_RULE_V_514 = 514, /* the stream has FINISHED_ROUND records, or is sorted by time */
    /* no record is older than the newest record of the round before the last one */
    PERFILE_RULE_V_515 = 515,
    PERFILE_RULE_V_516 = 516, /* no record with a time follows the last FINISHED_ROUND */
    PERFILE_RULE_V_517 = 517, /* compressed records continue one zstd stream, which holds records */
    PERFILE_RULE_V_518 = 518, /* the decompressed stream ends where a record ends */
    /* compressed records hold no compressed records, AUX data or tracing data */
    PERFILE_RULE_V_519 = 519,
    /* the data of a COMPRESSED2 fit in it, and nothing but padding follows */
    PERFILE_RULE_V_520 = 520,
    /* compressed records come with feature COMPRESSED, zstd and a buffer of whole pages */
    PERFILE_RULE_V_521 = 521,
    /* BPF_METADATA, SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN have room for what they hold */
    PERFILE_RULE_V_522 = 522,
    PERFILE_RULE_V_523 = 523, /* a file holds one stream */
    PERFILE_RULE_V_524 = 524, /* the fragments of a record (simpleperf) are complete */
    PERFILE_RULE_V_601 = 601, /* the content of a feature section can be read */
    PERFILE_RULE_V_602 = 602, /* a feature section has nothing after its content */
    /* a string in a feature ends with NUL, is padded with NUL, and is a multiple of 64 long */
    PERFILE_RULE_V_603 = 603,
    PERFILE_RULE_V_604 = 604, /* EVENT_DESC describes the events of the file, with their ids */
    PERFILE_RULE_V_605 = 605, /* NRCPUS has CPUs, and no more online than configured */
    PERFILE_RULE_V_606 = 606, /* SAMPLE_TIME is 0, or the first and last time of a sample */
    PERFILE_RULE_V_607 = 607, /* entries of feature AUXTRACE are where AUXTRACE records are */
    PERFILE_RULE_V_608 = 608, /* feature AUXTRACE lists all AUXTRACE records */
    /* CLOCK_DATA is of version 1, of the clock of the events, and has times */
    PERFILE_RULE_V_609 = 609,
    /* BRANCH_STACK is set when samples have branch stacks, STAT when there are STAT records */
    PERFILE_RULE_V_610 = 610,
    /* entries of BUILD_ID are whole and have a name that ends; ids have 1 to 20 bytes */
    PERFILE_RULE_V_611 = 611,
    /* groups of GROUP_DESC are of events of the file and do not overlap */
    PERFILE_RULE_V_612 = 612,
    PERFILE_RULE_V_613 = 613, /* PMU_MAPPINGS names every PMU that events use */
    /* TRACING_DATA can be read to its end, and has the byte order of the file */
    PERFILE_RULE_V_614 = 614,
    PERFILE_RULE_V_615 = 615, /* what is after the cores in CPU_TOPOLOGY is a known revision */
    /* MEM_TOPOLOGY, CACHE, CLOCK_DATA and COMPRESSED have known versions */
    PERFILE_RULE_V_616 = 616,
    PERFILE_RULE_V_617 = 617, /* E_MACHINE and the register masks match ARCH */
    PERFILE_RULE_V_618 = 618, /* META_INFO consists of pairs of strings */
    PERFILE_RULE_V_701 = 701, /* the header of an archive is intact */
    PERFILE_RULE_V_702 = 702, /* every byte of an archive belongs to a chunk */
    PERFILE_RULE_V_703 = 703, /* the metadata of a chunk have their checksum, and can be read */
    PERFILE_RULE_V_704 = 704, /* the payload of a chunk has its checksum */
    PERFILE_RULE_V_705 = 705, /* the payload of a chunk decodes to the bytes that were packed */
    PERFILE_RULE_V_706 = 706, /* a chunk of records has complete records, as its flags say */
    PERFILE_RULE_V_707 = 707, /* the zone of a chunk describes its records correctly */
    PERFILE_RULE_V_708 = 708, /* the chunks of a file have each of its bytes once */
    PERFILE_RULE_V_709 = 709, /* the index names the chunks before it, and nothing else */
    PERFILE_RULE_V_710 = 710, /* an archive is finished by an index and an end */
    PERFILE_RULE_V_711 = 711, /* kinds and codecs of chunks are known */
    /* a perfmon buffer has version 0, a known architecture and known flags */
    PERFILE_RULE_V_801 = 801,
    PERFILE_RULE_V_802 = 802, /* the frequency of a perfmon buffer is above 0 */
    /* the records of a perfmon buffer end after its header and inside the file */
    PERFILE_RULE_V_803 = 803,
    /* only the rest of its pages follows the records of a perfmon buffer */
    PERFILE_RULE_V_804 = 804,
    PERFILE_RULE_V_805 = 805, /* the type of a perfmon record is 1 to 6 */
    PERFILE_RULE_V_806 = 806, /* a LAST_BRANCH record has at most 32 branches */
    PERFILE_RULE_V_807 = 807, /* the first record of a perfmon buffer is TIME */
    PERFILE_RULE_V_808 = 808, /* the times of a perfmon buffer do not go back */
    /* reserved flags of perfmon records and unknown bits of branches are 0 */
    PERFILE_RULE_V_809 = 809,
    PERFILE_RULE_V_810 = 810, /* TICK, COUNT and VALUE have an event */
    PERFILE_RULE_V_811 = 811, /* a perfmon buffer was not full */
    /* the group of a perfmon event is 1 to 4 in one of the layouts of ids */
    PERFILE_RULE_V_812 = 812,
/* END made of format/ */
    PERFILE_RULE_LIMIT = 1000 /* all rule numbers are less, also in later versions */
};
/* clang-format on */

/* A row of format/rules.def. */
typedef struct perfile_rule {
    uint32_t number;      /* PERFILE_RULE_… */
    const char *id;       /* "V-302" */
    uint8_t severity;     /* PERFILE_SEVERITY_… of its findings */
    uint8_t lesser;       /* severity of its milder case, PERFILE_SEVERITY_NONE if it has none */
    uint8_t where;        /* PERFILE_RULE_SCOPE_… */
    const char *sentence; /* the rule as a sentence */
    const char *why;      /* why it matters */
    const char *effect;   /* what readers do when it is broken; for versions of perf see
                           * perfile_rule_verdict_at() */
} perfile_rule;

#ifndef PERFILE_DECLARATIONS
/* Returns the rule at `position`, in the order of their numbers; NULL after the last.  Positions
 * change with the version of the library. */
static inline const perfile_rule *perfile_rule_at(size_t position)
{
    const perfile_rule *row = NULL;
    perfile_row(PERFILE_ROW_RULE_AT, 0, position, &row, sizeof row);
    return row;
}

/* Returns the rule with this number; NULL if there is none. */
static inline const perfile_rule *perfile_rule_of(uint32_t number)
{
    const perfile_rule *row = NULL;
    perfile_row(PERFILE_ROW_RULE, number, 0, &row, sizeof row);
    return row;
}

/* Returns the name of a severity: "error", "warning", "note". */
static inline const char *perfile_severity_name(unsigned severity)
{
    return perfile_name(PERFILE_NAME_SEVERITY, severity);
}

/* Returns the name of a PERFILE_RULE_SCOPE_…: "container" … */
static inline const char *perfile_rule_scope_name(unsigned where)
{
    return perfile_name(PERFILE_NAME_RULE_SCOPE, where);
}
#endif

enum { /* perfile_check_options.flags */
       /* Skips samples that were already checked by other means.  In captures with tracepoints
        * samples are still read, since their raw data decides which event they belong to. */
       PERFILE_CHECK_FEW_SAMPLES = 1 << 0
};

enum { /* perfile_finding.flags */
       /* The record (or feature) cannot be decoded.  It has exactly one finding with this flag. */
       PERFILE_FINDING_UNDECODABLE = 1 << 0
};

/* A violation of a rule.  Valid until the callback returns. */
typedef struct perfile_finding {
    uint32_t rule;    /* PERFILE_RULE_… */
    uint8_t severity; /* PERFILE_SEVERITY_… */
    uint8_t flags;    /* PERFILE_FINDING_… */
    uint8_t family;   /* PERFILE_FAMILY_… of the record */
    uint8_t reserved0;
    uint32_t part;    /* number of the file in a directory */
    uint32_t event;   /* index of the event; UINT32_MAX if about none */
    uint32_t type;    /* record type; UINT32_MAX if about none */
    uint32_t feature; /* feature number; UINT32_MAX if about none */
    uint64_t offset;  /* in the file, for an inner record of its envelope; or PERFILE_NO_OFFSET */
    uint64_t stream_offset; /* of an inner record: in the decompressed stream; PERFILE_NO_OFFSET */
    uint64_t sequence;      /* of the record; PERFILE_NO_SEQUENCE if about none */
    const char *field;      /* static: "sample.callchain", or NULL */
    const char *message;    /* what was found and what was expected */
} perfile_finding;

/* What to check, and the callback for findings.  Set `size`; zeros are the defaults. */
typedef struct perfile_check_options {
    size_t size;
    void (*finding)(void *user, const perfile_finding *finding); /* NULL: only counted */
    void *user;
    const char *only;   /* rules such as "V-302,V-4", an id or the beginning of ids; NULL: all */
    const char *ignore; /* rules to leave out, in the same form; NULL: none */
    uint32_t severity;  /* findings below it are ignored; 0: no minimum */
    uint32_t most; /* maximum findings to report per rule and severity, more are only counted; 0: no
                    * maximum */
    uint32_t flags; /* PERFILE_CHECK_… */
    uint32_t reserved0;
    uint64_t reserved[6];
} perfile_check_options;

/* Puts a checking stage on `below`.  On success *stream is the new head, which owns `below`.
 * Records pass unchanged and are not copied.  Findings about the container are reported with the
 * first record.  Damage is reported whether or not `below` delivers it.  Do not open `below` with
 * `as_stored`, which treats overwritten bytes as records.  Memory is bounded to about 32 MiB: rules
 * that would need more for a huge capture are no longer checked.  PERFILE_E_USAGE: `only` or
 * `ignore` matches no rule.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_check(perfile_stream *below,
                                                          const perfile_check_options *options,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* How often a rule was broken so far, at one severity.  `check` is a stage of perfile_check(); for
 * other streams all members are 0. */
typedef struct perfile_check_summary {
    uint64_t count;                     /* number of findings */
    uint64_t first_offset, last_offset; /* of the first and last finding, in their files */
    uint32_t first_part, last_part;     /* numbers of these files in a directory */
} perfile_check_summary;
PERFILE_API void perfile_check_get_summary(const perfile_stream *check, unsigned rule,
                                           unsigned severity, perfile_check_summary *tally,
                                           size_t size);

enum { /* what `perf report --stats` of a version does with a capture, worst last */
       PERFILE_VERDICT_READS = 0,  /* opens it and reads all records */
       PERFILE_VERDICT_LOSES = 1,  /* opens it, but loses records or fields */
       PERFILE_VERDICT_STOPS = 2,  /* opens it, but stops before its end */
       PERFILE_VERDICT_REFUSES = 3 /* does not open it */
};

/* What some versions of perf do with captures that break a rule.  Strings are static. */
typedef struct perfile_rule_verdict {
    const char *from, *to; /* first and last version, inclusive: "6.1" */
    uint8_t verdict;       /* PERFILE_VERDICT_… */
    uint8_t form;          /* PERFILE_VERDICT_OF_… */
    bool lesser;           /* about the milder case of the rule */
    uint8_t reserved0[5];
    const char *when; /* which violations they reject, a sentence; NULL: all of them */
    uint64_t reserved[3];
} perfile_rule_verdict;

enum { /* perfile_rule_verdict.form: the form of the capture */
       PERFILE_VERDICT_OF_ANY = 0,
       PERFILE_VERDICT_OF_FILE = 1, /* directories too */
       PERFILE_VERDICT_OF_PIPE = 2
};

#ifndef PERFILE_DECLARATIONS
/* Gets the verdict at `position` in format/versions.def for a rule number.  Fills the first `size`
 * bytes of *verdict; returns false after the last. */
static inline bool perfile_rule_verdict_at(uint32_t rule, size_t position,
                                           perfile_rule_verdict *verdict, size_t size)
{
    return perfile_row(PERFILE_ROW_VERDICT, rule, position, verdict, size);
}
#endif

/* Tells what perf `version` ("6.1", "perf-6.1") does with the capture that went through `check`.
 * Call it at the end of the stream.  The answer does not depend on which findings were reported.
 * `reason` is called with a sentence for each property that this version rejects.  With
 * PERFILE_VERDICT_READS it is called for what the version ignores without losing a record, and for
 * what only other commands of perf reject.  PERFILE_E_USAGE: there is no such version, or `check`
 * is not a checking stage. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_check_version(const perfile_stream *check, const char *version, unsigned *verdict,
                      void (*reason)(void *user, unsigned verdict, const char *sentence),
                      void *user, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
