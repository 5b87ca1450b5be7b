/* Internals of the checking stage (perfile_check()): its state, and the functions that its files
 * share.
 *
 * The stage is on top of a stream, examines each record and passes it on unchanged.  A function
 * that finds a broken rule of format/rules.def calls one of the pf_report functions with the rule
 * and a message. report.c counts the finding and calls the caller's callback.  All tables have a
 * fixed size.  When one is full, the rules that need it check less: a full table never causes a
 * finding. */
#ifndef PF_CHECK_CHECK_H
#define PF_CHECK_CHECK_H

#include "core/layout.h"
#include "core/stream.h"
#include "perfile/check.h"
#include "perfile/field.h"
#include "core/names.h"

enum {
    PF_CHECK_TYPES = 128,       /* record types with a counter of their own; others share one */
    PF_CHECK_CPUS = 4096,       /* CPUs with a last time */
    PF_CHECK_BUFFERS = 1024,    /* slots of the hash table of AUX buffers */
    PF_CHECK_COOKIES = 1 << 13, /* slots of the hash table of deferred call chains */
    PF_CHECK_LOOKUPS = 1 << 15, /* processes and pages that are looked up at the end */
    PF_CHECK_RECENT_PAGES = 1 << 10, /* slots of the filter before the lookups: pages … */
    PF_CHECK_RECENT_PIDS = 1 << 8,   /* … and processes */
    PF_CHECK_MODEL_BYTES = 16 << 20, /* estimated memory at which the process model is dropped */
    PF_CHECK_IDS = 1 << 18,          /* ids of one event that are checked for duplicates */
    PF_CHECK_INDEX = 1 << 18         /* entries of feature AUXTRACE that are checked */
};

/* The severity of a finding: the column `severity` of its rule, or the column `lesser`. */
enum { PF_FULL = 0, PF_LESSER = 1 };

/* Facts about an event for the check of its samples; made once per event. */
typedef struct pf_check_plan {
    uint64_t tracepoint;   /* number at the start of its RAW data, UINT64_MAX for other events */
    bool may_lack_period;  /* a group member that its leader samples */
    int8_t id_at;          /* index of the 64-bit word of a sample with its id, or -1 */
    pf_sample_shape shape; /* layout of its samples */
} pf_check_plan;

/* The findings of one rule and severity: their number, and the offsets of the first and the last
 * one. */
typedef struct pf_check_tally {
    uint64_t count;
    uint64_t first, last; /* file offsets */
    uint32_t first_part, last_part;
} pf_check_tally;

/* An AUX buffer, of one CPU or thread and one event. */
typedef struct pf_check_buffer {
    uint64_t key; /* the key plus 1; 0: the slot is free */
    uint64_t end; /* end of the last AUX record, where the next one must begin */
} pf_check_buffer;

/* A call chain that the kernel delivers later (CALLCHAIN_DEFERRED). */
typedef struct pf_check_cookie {
    uint64_t cookie;
    uint32_t tid;
    uint8_t state; /* 0: slot free, 1: announced by a sample, 2: delivered */
} pf_check_cookie;

/* A process of a sample, or a page of its code.  Looked up in the process model at the end. */
typedef struct pf_check_lookup {
    uint64_t address;                /* page number; PF_CHECK_NO_ADDRESS: the process itself */
    uint64_t time, offset, sequence; /* those of the first sample that needs it */
    uint32_t pid, tid, part;
} pf_check_lookup;

/* Findings by rule.  The second index is PF_FULL or PF_LESSER. */
typedef struct pf_check_found {
    bool off[PERFILE_RULE_LIMIT]; /* rules that the caller deselected */
    uint8_t flags;                /* PERFILE_FINDING_… of the next finding, cleared by it */
    pf_check_tally tally[PERFILE_RULE_LIMIT][2]; /* selected findings */
    /* All findings, including deselected ones: the verdicts on versions of perf need them. */
    uint64_t n[PERFILE_RULE_LIMIT][2];
} pf_check_found;

/* Facts copied from the session when its generation last changed. */
typedef struct pf_check_events {
    uint64_t generation;
    uint32_t n;                    /* events that were checked; later ones are new */
    uint32_t first_with_records;   /* the first event that has records, see attr.c */
    bool has_ids, has_tracepoints; /* some event has */
    bool backward;        /* some event is written backwards: the order of time is not checked */
    pf_check_plan *plans; /* [plans_cap], by index of the event */
    uint32_t plans_cap;
    /* Cache: the id that was found last, and the index of its event. */
    uint64_t last_id;
    uint32_t last_owner;
    bool has_last;
} pf_check_events;

typedef struct pf_check_counts {
    uint64_t by_type[PF_CHECK_TYPES + 1]; /* records per type; last: all greater types */
    uint32_t last_type;                   /* type of the last record that was not a sample */
    uint64_t lost_records, lost_samples, throttles; /* sums of LOST, LOST_SAMPLES, THROTTLE */
    uint64_t map_build_ids; /* number of MMAP2 records that have a build id */
} pf_check_counts;

/* Order of time: times.c. */
typedef struct pf_check_times {
    uint64_t *of_cpu; /* [PF_CHECK_CPUS]: the latest time per CPU in this part */
    uint64_t latest;  /* latest time in this part so far */
    /* Latest time at the last FINISHED_ROUND (`round`), and at the one before (`floor`).  Later
     * records must not be older than `floor`. */
    uint64_t round, floor;
    uint64_t rounds;
    uint64_t after_round;               /* records with a time since the last FINISHED_ROUND */
    uint64_t after_round_offset;        /* file offset of the first of them */
    uint64_t unsorted;                  /* records that are older than one before them */
    uint64_t first_sample, last_sample; /* least and greatest time of samples */
    uint64_t span_first, span_last;     /* of feature SAMPLE_TIME; without it 0 and UINT64_MAX */
    uint64_t records;                   /* with a time */
} pf_check_times;

/* Things that some versions of perf cannot read although no rule is broken: see traits.c. */
typedef struct pf_check_traits {
    uint64_t unaligned_sizes; /* records with a size that must be a multiple of 8, and is not */
    uint64_t too_short;       /* records that newer versions reject as too short */
    uint64_t unswapped_ids;   /* ids in bytes that older versions do not byte-swap */
    uint64_t raw_samples;     /* samples with RAW data that needs its size to be read */
    uint64_t nameless_values; /* samples with READ values that have no ids */
    uint64_t empty_groups;    /* samples with a group that has no counters */
    uint64_t shorter_than_swapped; /* records shorter than the bytes that some versions swap */
    /* Least offset, relative to the attr in HEADER_ATTR, of an id that some record has; 0: none. */
    uint64_t first_id_offset;
    uint64_t aux_payloads;    /* AUXTRACE records with bytes after them */
    uint64_t end_marker;      /* number of the HEADER_FEATURE that ends the features; 0: none */
    uint64_t highest_feature; /* greatest number of a HEADER_FEATURE, including the end marker */
} pf_check_traits;

/* HEADER_FEATURE, ID_INDEX and compressed records: user.c. */
typedef struct pf_check_user_records {
    bool feature_records, end_marker, auxtrace_info; /* there was one */
    uint64_t last_feature_offset;
    uint64_t indexed_ids;    /* number of entries of all ID_INDEX records */
    bool index_has_unknown;  /* one of them is an unknown id */
    bool compressed_checked; /* feature COMPRESSED was checked; once is enough */
} pf_check_user_records;

/* auxtrace.c */
typedef struct pf_check_aux_data {
    pf_check_buffer *buffers; /* [PF_CHECK_BUFFERS], open addressing */
    /* The offsets of feature AUXTRACE, sorted.  The highest bit is set if there is an AUXTRACE
     * record. */
    uint64_t *index;
    uint32_t n_index;
    bool has_index;
    bool index_complete; /* all entries fitted in `index` */
} pf_check_aux_data;

/* Processes and pages of samples, and deferred call chains: world.c. */
typedef struct pf_check_lookups {
    uint64_t recent_pages[PF_CHECK_RECENT_PAGES];
    uint64_t recent_pids[PF_CHECK_RECENT_PIDS];
    uint32_t last_pid;
    pf_check_lookup *at; /* [cap], n of them used */
    uint32_t n, cap;
    struct perfile_model *model; /* NULL: not wanted, or dropped */
    uint64_t model_bytes;        /* estimated memory of the model */
} pf_check_lookups;

typedef struct pf_check_chains {
    pf_check_cookie *at;  /* [PF_CHECK_COOKIES], open addressing; NULL: none yet */
    uint32_t overwritten; /* number of entries overwritten because the table was full */
} pf_check_chains;

typedef struct pf_check {
    perfile_stream base; /* must be first: a perfile_stream is cast to a pf_check */
    perfile_check_options options;
    bool begun, done; /* the first fill has run; the end was reached */
    bool damaged;     /* the stream had damage: rules about missing records do not apply */
    bool pipe;
    const perfile_session *session;
    uint32_t n_cpus;
    struct {
        uint32_t number;
        bool begun;    /* it had a record … */
        uint64_t time; /* … and a time, as from pf_record_order(); 0: none */
    } part;            /* the current part */
    pf_check_found found;
    pf_check_events events;
    pf_check_counts counts;
    pf_check_times times;
    pf_check_traits traits;
    pf_check_user_records user;
    pf_check_aux_data aux;
    pf_check_chains chains;
    pf_check_lookups lookups;
} pf_check;

/* Returns true unless the caller deselected the rule. */
static inline bool pf_check_on(const pf_check *c, unsigned rule)
{
    return !c->found.off[rule];
}

/* Report that `rule` is broken: by a record, by an event, by a feature, or at a file offset
 * (PERFILE_NO_OFFSET if there is none).  `level` is PF_FULL or PF_LESSER.  `field` names the
 * affected field, or is NULL; the finding borrows it.  `format` and its arguments make the message.
 */
void pf_report(pf_check *c, unsigned rule, unsigned level, const perfile_record *r,
               const char *field, const char *format, ...) __attribute__((format(printf, 6, 7)));
void pf_report_event(pf_check *c, unsigned rule, unsigned level, const perfile_event *e,
                     const char *field, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void pf_report_feature(pf_check *c, unsigned rule, unsigned level, const perfile_feature *f,
                       const char *field, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void pf_report_offset(pf_check *c, unsigned rule, unsigned level, uint64_t offset,
                      const char *field, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Returns the name of a record type for messages: "MMAP2", or "type 99" written into `buf`. */
const char *pf_check_type_name(uint32_t type, char buf[24]);

/* container.c: checks header, sections and feature table; called once, at the beginning. */
void pf_check_container(pf_check *c);
/* attr.c.  pf_check_attrs() checks the events that are new in the session and makes their plans.
 * pf_check_attrs_end() is called at the end, for rules that need all events and features. */
perfile_status pf_check_attrs(pf_check *c, perfile_error *err);
void pf_check_attrs_end(pf_check *c);
/* sample.c */
void pf_check_sample(pf_check *c, const perfile_record *r);
/* Returns true if the sample certainly breaks no rule of severity error: its shape fits its event,
 * and so does its RAW data.  False proves nothing: the sample then needs pf_check_sample(). */
bool pf_check_raw_fits(const pf_check *c, const perfile_record *r);
/* Updates c->traits.first_id_offset for an id of event `e` that a record has. */
void pf_check_note_id(pf_check *c, const perfile_event *e, uint64_t id);
/* record.c: checks any record except samples. */
void pf_check_record(pf_check *c, const perfile_record *r);
/* Checks a record of another family than perf's by its table row and the rules of its family. */
void pf_check_other_family(pf_check *c, const perfile_record *r);
/* The rules for captures and records of one family that is not perf's. */
typedef struct pf_check_family {
    uint32_t family;      /* PERFILE_FAMILY_… */
    unsigned bad_version; /* the rule broken by a container of an unknown version */
    void (*container)(pf_check *c, const perfile_container *k);
    void (*record)(pf_check *c, const perfile_record *r); /* for those that can be decoded */
} pf_check_family;
/* Returns the rules of a family, NULL if it has none of its own. */
const pf_check_family *pf_check_family_of(uint32_t family);
extern const pf_check_family pf_check_perfmon; /* families.c: Zircon perfmon buffers */
/* Reports the only finding of a record that cannot be decoded because of `damage`. */
void pf_check_undecodable(pf_check *c, const perfile_record *r, unsigned damage);
/* Checks size and misc in the header of any record, also of samples. */
void pf_check_header(pf_check *c, const perfile_record *r);
/* families.c: reports a record of family DAMAGE, which represents bytes that could not be read. */
void pf_check_damage(pf_check *c, const perfile_record *r);
/* kernel.c, user.c: check the rules of single types.  `v` is the decoded struct of the type, `left`
 * the number of bytes of the body after its last field. */
void pf_check_kernel(pf_check *c, const perfile_record *r, const void *v, size_t left);
void pf_check_user(pf_check *c, const perfile_record *r, const void *v, size_t left);
void pf_check_user_end(pf_check *c);
/* times.c: called for a FINISHED_ROUND, and at the end of the stream. */
void pf_check_round(pf_check *c);
void pf_check_times_end(pf_check *c);
/* feature.c: checks all features, at the end. */
void pf_check_features(pf_check *c);
/* auxtrace.c: reads feature AUXTRACE at the beginning, checks AUXTRACE and AUX records, and reports
 * at the end the entries of the feature without a record. */
perfile_status pf_check_index_begin(pf_check *c, perfile_error *err);
void pf_check_auxtrace(pf_check *c, const perfile_record *r);
void pf_check_aux(pf_check *c, const perfile_record *r, const perfile_aux *v);
void pf_check_index_end(pf_check *c);
/* world.c: feeds side-band records to the process model; notes that a sample announces a deferred
 * call chain, and that a CALLCHAIN_DEFERRED delivers it; resolves the lookups at the end. */
perfile_status pf_check_feed_model(pf_check *c, const perfile_record *r, perfile_error *err);
void pf_check_cookie_announced(pf_check *c, uint32_t tid, uint64_t cookie);
void pf_check_cookie_delivered(pf_check *c, const perfile_record *r, uint32_t tid, uint64_t cookie);
void pf_check_lookups_end(pf_check *c);

/* For other files, which ask a checking stage about versions of perf. */

/* Returns `s` as a checking stage, NULL if it is another stream.  Borrowed from `s`. */
const pf_check *pf_check_stage(const perfile_stream *s);

/* Rules for feature sections (V-6xx), shared by feature.c, facts.c and lib/recover. */

/* facts.c: compares a feature that can be decoded with the events and the records. */
void pf_check_facts(pf_check *c, const perfile_feature *f);
/* Returns true if the feature by itself breaks a rule of severity error although it can be decoded:
 * an unterminated name in BUILD_ID, a wrong beginning of TRACING_DATA.  Recovery leaves such
 * features out. */
bool pf_feature_is_wrong(const perfile_feature *f);
/* facts.c: checks features that must, or must not, be present because of the events or records
 * (V-610). */
void pf_check_flags(pf_check *c);

/* The tables of format/rules.def and format/misc.def, for the files of this room. */

/* The rule broken by each kind of damage (PERFILE_RULE_…). */
extern const uint16_t pf_rule_of_damage[PERFILE_N_DAMAGES];

/* Returns the rule that a record of this type, or this feature, breaks if its content cannot be
 * decoded. */
unsigned pf_rule_of_type(uint32_t type);
unsigned pf_rule_of_feature(uint32_t number);

/* Returns the bits of misc that a kernel record of this type may have, including the cpumode. */
unsigned pf_misc_known(uint32_t type);

/* True for types with records that may have a size that is no multiple of 8. */
extern const bool pf_odd_size[PF_CHECK_TYPES];

/* Sets chosen[PERFILE_RULE_LIMIT] for the rules that `list` names: ids or beginnings of ids,
 * "V-302,V-4", separated by commas.  `option` names the option in errors.  Returns PERFILE_E_USAGE
 * if an item names no rule. */
perfile_status pf_rules_select(const char *list, bool *chosen, const char *option,
                               perfile_error *err);

/* Traits: properties of a capture that make some versions of perf fail although no rule is broken,
 * or that are narrower than the rule.  The rows TRAIT of format/versions.def have the versions and
 * the verdict. */

/* The form of captures that a row applies to.  A pipe stored in a file is PIPE. */
enum { PF_FORM_ANY, PF_FORM_FILE, PF_FORM_PIPE };

typedef struct pf_trait_row {
    uint16_t rule;    /* the rule it belongs to, for the message */
    uint8_t from, to; /* first and last version, as indexes in pf_releases[] */
    uint8_t form;     /* PF_FORM_… */
    uint8_t verdict;  /* PERFILE_VERDICT_… */
    /* Returns true if the capture has the trait for that version.  Only valid after the end of the
     * stream. */
    bool (*holds)(const pf_check *c, const pf_release *perf);
    const char *sentence;
} pf_trait_row;

/* Returns the row at a position of the table, NULL after the last one. */
const pf_trait_row *pf_trait_at(size_t position);

/* Order of time, checked once for each record that has a time.  Inline, because it runs for every
 * sample. */

/* The findings, which are not inline because they are rare.  V-212: the time of a CPU went back by
 * `before` ns.  V-515: the record is older than the round before the last allows. */
void pf_check_time_went_back(pf_check *c, const perfile_record *r, uint64_t before, uint32_t cpu);
void pf_check_older_than_round(pf_check *c, const perfile_record *r, uint64_t time);

/* Checks the time of a record.  `cpu` is UINT32_MAX if unknown. */
static inline void pf_check_time(pf_check *c, const perfile_record *r, uint64_t time, uint32_t cpu)
{
    /* Synthesized records have time 0. */
    if (time == 0 || time == PERFILE_NO_TIME)
        return;
    c->times.records++;
    if (time < c->times.floor)
        pf_check_older_than_round(c, r, time);
    if (time >= c->times.latest)
        c->times.latest = time;
    else
        c->times.unsorted++;
    if (c->times.after_round++ == 0) { /* V-516 reports the first after the last round */
        c->times.after_round_offset = r->offset;
    }
    if (cpu < PF_CHECK_CPUS) {
        uint64_t before = c->times.of_cpu[cpu];
        if (time < before)
            pf_check_time_went_back(c, r, before - time, cpu);
        else
            c->times.of_cpu[cpu] = time;
    }
}

/* Lookups of processes and pages: V-407 asks whether each process of a sample has a name, and each
 * page of user code has a mapping.
 *
 * Records do not come in the order of time, so this can only be answered at the end of the stream.
 * Until then each process and each page is stored once, as a pf_check_lookup.  Two small
 * direct-mapped tables (recent_pages, recent_pids) keep the hot path cheap: they have the latest
 * additions.  They may forget some, and then a lookup is added twice. */

#define PF_CHECK_NO_ADDRESS UINT64_MAX /* the lookup is for the process, not for a page */

/* Adds a lookup unless it is in the tables of recent ones, or c->lookups.at is full. */
void pf_check_add_lookup(pf_check *c, const pf_check_lookup *lookup);

/* Multiplicative hash (2^64 divided by the golden ratio): the upper bits are the good ones. */
static inline uint64_t pf_check_hash(uint64_t page, uint32_t pid)
{
    return (page ^ (uint64_t)pid << 40 ^ pid) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the slot in the table of recent pages (or processes) for a page (or process).  The shifts
 * by 56 and 54 leave 8 and 10 bits, as many as the indexes of the tables have. */
static inline uint64_t *pf_check_recent_slot(pf_check *c, uint64_t page, uint32_t pid)
{
    if (page == PF_CHECK_NO_ADDRESS)
        return &c->lookups.recent_pids[pf_check_hash(0, pid) >> 56];
    return &c->lookups.recent_pages[pf_check_hash(page, pid) >> 54];
}

/* Returns the value of the slot for this page or process.  It is never 0, the value of an empty
 * slot: pages are below 2^52, and pid is not 0. */
static inline uint64_t pf_check_recent_tag(uint64_t page, uint32_t pid)
{
    return page == PF_CHECK_NO_ADDRESS ? pid : (page + 1) ^ (uint64_t)pid << 53;
}

/* Adds the lookups of a sample: its process, and with `user` the page of its ip.  In the common
 * case nothing is added, because the process is that of the previous sample and the page is recent.
 */
static inline void pf_check_note_sample(pf_check *c, const perfile_record *r,
                                        const perfile_sample *s, bool user)
{
    enum { PAGE_BITS = 12 };
    const uint32_t pid = s->pid;
    if (!c->lookups.model || c->lookups.n == c->lookups.cap || pid == 0 || pid == PERFILE_NO_PID)
        return;
    const uint64_t page = s->ip >> PAGE_BITS;
    const bool page_seen =
        !user || *pf_check_recent_slot(c, page, pid) == pf_check_recent_tag(page, pid);
    if (pid == c->lookups.last_pid && page_seen)
        return;
    c->lookups.last_pid = pid;
    pf_check_lookup lookup = {PF_CHECK_NO_ADDRESS,
                              s->present & PERFILE_SAMPLE_TIME ? s->time : PERFILE_NO_TIME,
                              r->offset,
                              r->sequence,
                              pid,
                              s->tid,
                              r->part};
    pf_check_add_lookup(c, &lookup);
    lookup.address = page;
    if (!page_seen)
        pf_check_add_lookup(c, &lookup);
}

#endif
