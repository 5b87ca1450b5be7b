/* Whether a capture is as it should be: rules, and a stage that finds what breaks them.
 *
 * The stage stands on a stream and hands on its records unchanged; findings go to a callback as
 * they are met, those about the end of the stream when PERFILE_END is reached:
 *
 *     st = perfile_open_path("perf.data", &options, &s, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_check(s, &check_options, &s, &err);       (s is the new head)
 *     while (st == PERFILE_OK)
 *         st = perfile_stream_next(s, &r, &err);
 */
#ifndef PERFILE_CHECK_H
#define PERFILE_CHECK_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* how bad a finding is; those of an error are the greatest */
       PERFILE_SEVERITY_NONE = 0,
       PERFILE_SEVERITY_NOTE = 1,
       PERFILE_SEVERITY_WARNING = 2,
       PERFILE_SEVERITY_ERROR = 3
};

enum { /* what a rule looks at */
       PERFILE_WHERE_CONTAINER = 0,
       PERFILE_WHERE_ATTR,
       PERFILE_WHERE_RECORD,
       PERFILE_WHERE_SAMPLE,
       PERFILE_WHERE_FEATURE,
       PERFILE_WHERE_STREAM
};

/* PERFILE_RULE_V_001 …: positions of the rows of format/rules.def. */
enum {
#define RULE(id, name, severity, lesser, where, sentence, why, effect) PERFILE_RULE_##id,
#include "perfile/format/rules.def"
    PERFILE_N_RULES
};

/* A row of format/rules.def. */
typedef struct perfile_rule {
    const char *id;       /* "V-302" */
    uint8_t severity;     /* PERFILE_SEVERITY_… of its findings */
    uint8_t lesser;       /* that of its milder case, PERFILE_SEVERITY_NONE without one */
    uint8_t where;        /* PERFILE_WHERE_… */
    const char *sentence; /* what holds */
    const char *why;      /* why it matters */
    const char *effect;   /* what readers make of it; what versions of perf do: see
                           * perfile_rule_verdict_at() */
} perfile_rule;

/* The rule at `position`, NULL behind the last; the position of "V-302" (case does not count), or
 * PERFILE_N_RULES of the library when there is none. */
PERFILE_API const perfile_rule *perfile_rule_at(size_t position);
PERFILE_API size_t perfile_rule_find(const char *id);

/* "error", "warning", "note"; "container" …. */
PERFILE_API const char *perfile_severity_name(unsigned severity);
PERFILE_API const char *perfile_where_name(unsigned where);

enum { /* perfile_check_options.flags */
       /* Samples are passed over, but for those of captures with tracepoints, whose raw data say
        * whose they are: for who has looked at samples already. */
       PERFILE_CHECK_FEW_SAMPLES = 1 << 0
};

enum { /* perfile_finding.flags */
       /* The record (or feature) cannot be decoded: exactly one finding of a record says so. */
       PERFILE_FINDING_UNDECODABLE = 1 << 0
};

/* A rule that does not hold.  Lives until the callback returns. */
typedef struct perfile_finding {
    uint32_t rule; /* PERFILE_RULE_… */
    uint8_t severity;
    uint8_t flags;  /* PERFILE_FINDING_… */
    uint8_t family; /* PERFILE_FAMILY_… of the record */
    uint8_t reserved0;
    uint32_t part;    /* which file of a directory */
    uint32_t event;   /* index, UINT32_MAX when it is about none */
    uint32_t type;    /* of the record, UINT32_MAX when it is about none */
    uint32_t feature; /* number, UINT32_MAX when it is about none */
    uint64_t offset;  /* in the file; of an inner record: of its envelope; PERFILE_NO_OFFSET */
    uint64_t stream_offset; /* of an inner record: in the decompressed stream; PERFILE_NO_OFFSET */
    uint64_t sequence;      /* of the record, PERFILE_NO_SEQUENCE when it is about none */
    const char *field;      /* static: "sample.callchain", or NULL */
    const char *message;    /* what was found and what was expected */
} perfile_finding;

typedef struct perfile_check_options {
    size_t size;
    void (*finding)(void *user, const perfile_finding *finding); /* may be NULL: only counted */
    void *user;
    const char *only;   /* rules such as "V-302,V-4", an id or the beginning of ids; NULL: all */
    const char *ignore; /* the same, those that are left out; NULL: none */
    uint32_t severity;  /* findings below are neither told nor counted; 0: all are */
    uint32_t most;      /* a rule's findings of a severity above this number are only counted; 0: no
                         * such number */
    uint32_t flags;     /* PERFILE_CHECK_… */
    uint32_t reserved0;
    uint64_t reserved[6];
} perfile_check_options;

/* Puts a stage that checks on `below`.  On success *stream is the new head, which owns `below`;
 * records pass unchanged and are not copied.  What the container breaks is told with the first
 * record.  Damage is told whether or not `below` delivers it.  `below` should not be opened with
 * `as_stored`: then what was written over is taken for records.  Memory is bounded: what cannot be
 * kept of a huge capture is not checked (state has at most about 32 MiB).
 * PERFILE_E_USAGE: `only` or `ignore` name no rule; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_check(perfile_stream *below,
                                                          const perfile_check_options *options,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* What a failure of perfile_open() says of the input: tells the finding and returns true when the
 * input is to blame (it is no capture), false when it could not be read. */
PERFILE_API bool perfile_check_refused(const perfile_error *failure,
                                       const perfile_check_options *options);

/* How often a rule was broken so far, at a severity.  `check` is a stage of perfile_check(); zeros
 * for other streams. */
typedef struct perfile_tally {
    uint64_t count;
    uint64_t first_offset, last_offset;
    uint32_t first_part, last_part;
} perfile_tally;
PERFILE_API void perfile_check_tally(const perfile_stream *check, unsigned rule, unsigned severity,
                                     perfile_tally *tally, size_t size);

/* The names of the perf versions that perfile_check_version() knows, in order; NULL behind the
 * last. */
PERFILE_API const char *perfile_check_version_at(size_t position);

enum { /* what becomes of a capture in `perf report --stats` of a version, the worst last */
       PERFILE_VERDICT_READS = 0, /* opens it and reads all records */
       PERFILE_VERDICT_LOSES,     /* opens it, and loses records or fields */
       PERFILE_VERDICT_STOPS,     /* opens it, and does not come to its end */
       PERFILE_VERDICT_REFUSES    /* does not open it */
};

/* One thing that versions of perf make of captures that break a rule.  Strings are static. */
typedef struct perfile_rule_verdict {
    const char *from, *to; /* versions, both included: "6.1" */
    uint8_t verdict;       /* PERFILE_VERDICT_… */
    uint8_t form;          /* PERFILE_VERDICT_OF_… */
    bool lesser;           /* of the milder case */
    uint8_t reserved0[5];
    const char *when; /* what it is that they mind, a sentence; NULL: whatever breaks the rule */
    uint64_t reserved[3];
} perfile_rule_verdict;

enum { /* perfile_rule_verdict.form: which captures it is about */
       PERFILE_VERDICT_OF_ANY = 0,
       PERFILE_VERDICT_OF_FILE, /* directories too */
       PERFILE_VERDICT_OF_PIPE
};

/* What `format/versions.def` says about the rule at `rule`, one by one; false behind the last.
 * Fills the first `size` bytes of *verdict. */
PERFILE_API bool perfile_rule_verdict_at(size_t rule, size_t position,
                                         perfile_rule_verdict *verdict, size_t size);

/* What perf `version` ("6.1", "perf-6.1") does with the capture that went through `check`, to be
 * asked at its end, whichever rules are told.  `reason` is called for each thing that
 * it minds, with a sentence; with PERFILE_VERDICT_READS for what it passes over without losing a
 * record, and for what only other commands of perf mind.  PERFILE_E_USAGE: no such version, or no
 * stage. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_check_version(const perfile_stream *check, const char *version, unsigned *verdict,
                      void (*reason)(void *user, unsigned verdict, const char *sentence),
                      void *user, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
