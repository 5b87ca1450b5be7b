/* The text of `perf script`: a line per sample, with the frames of its callchain below it.
 *
 * The lines equal those of perf 6.1, byte for byte (format/script.md).  profile/reader.h resolves
 * the samples; the thread that resolves a sample also makes its text (pf_queue_text).  A pf_script
 * is the emitter; a pf_script_state is the state of one of its threads. */
#ifndef PF_SCRIPT_SCRIPT_H
#define PF_SCRIPT_SCRIPT_H

#include "emit/emitter.h"
#include "export/export.h"
#include "emit/text_page.h"
#include "perfile/event.h"
#include "perfile/records.h"
#include "profile/reader.h"
#include "script/counts.h"

/* fields.c: which fields are printed. */

enum { /* numbers of fields */
#define FIELD(id, name) PF_FIELD_NUMBER_##id,
#include "script/fields.def"
       PF_N_FIELDS
};

#define FIELD(id, name) static const uint64_t PF_FIELD_##id = UINT64_C(1) << PF_FIELD_NUMBER_##id;
#include "script/fields.def"

enum { /* the types of events that have their own fields; up to BREAKPOINT these are attr types */
       PF_SCRIPT_HARDWARE,
       PF_SCRIPT_SOFTWARE,
       PF_SCRIPT_TRACEPOINT,
       PF_SCRIPT_HW_CACHE,
       PF_SCRIPT_RAW,
       PF_SCRIPT_BREAKPOINT,
       PF_SCRIPT_SYNTH,
       PF_SCRIPT_OTHER,
       PF_SCRIPT_TYPES
};

/* The fields of one type of events: bits PF_FIELD_…. */
typedef struct pf_script_type {
    uint64_t fields;  /* fields that are printed */
    uint64_t invalid; /* fields that make no sense for the type */
    uint64_t asked;   /* requested by name for all types; an error if missing */
    uint64_t unset;   /* removed by name, for all types */
    bool is_set;      /* not the default */
    bool is_of_all;   /* set for all types, so events of this type may be missing */
} pf_script_type;

/* Sets the defaults. */
void pf_script_defaults(pf_script_type types[PF_SCRIPT_TYPES]);

/* Reads lists of fields in perf's syntax: "comm,ip,sym", "+addr,-period", "trace:comm,trace";
 * several lists are separated by spaces.  Returns PERFILE_E_USAGE on errors, with perf's message in
 * err->message. */
perfile_status pf_script_read(pf_script_type types[PF_SCRIPT_TYPES], const char *text,
                              perfile_error *err);

/* How samples of an event are printed. */
typedef struct pf_script_event {
    uint64_t fields;     /* PF_FIELD_… */
    uint8_t type;        /* PF_SCRIPT_… */
    bool has_chain;      /* callchains are printed */
    bool is_bpf;         /* samples are output of BPF programs */
    bool is_branch;      /* samples are branches, from one address to another (BTS) */
    bool has_data_sym;   /* `addr` is a data address, and is shown with its symbol */
    bool has_time;       /* samples have a time; else it is shown as -1 */
    bool has_asked;      /* fields were requested */
    uint64_t period;     /* of samples without their own period */
    size_t name, n_name; /* padded name in pf_script_plan.names: offset and length */
} pf_script_event;

/* How all events are printed; derived from the fields and the events of a session. */
typedef struct pf_script_plan {
    pf_script_type types[PF_SCRIPT_TYPES]; /* without fields that the events lack */
    pf_script_event *events;               /* by index */
    uint32_t n, cap;
    pf_buffer names;
    bool timed_all;     /* all samples have a time */
    bool needs_records; /* some field must be decoded */
    bool in_order;      /* the text of a sample depends on those before it */
} pf_script_plan;

/* Makes the plan for the events of `s`.  `options` are the flags of perfile_emit_options.  With
 * `is_pipe`, events come one by one.  Returns PERFILE_E_USAGE if the events lack a requested field,
 * or PERFILE_E_NOMEM. */
perfile_status pf_script_plan_make(pf_script_plan *plan,
                                   const pf_script_type types[PF_SCRIPT_TYPES],
                                   const perfile_session *s, uint32_t options, bool is_pipe,
                                   perfile_error *err);
void pf_script_plan_free(pf_script_plan *plan);

/* emitter.c */

typedef struct pf_script {
    perfile_emitter base;
    pf_script_type types[PF_SCRIPT_TYPES]; /* as requested */
    pf_script_plan plan;
    uint64_t generation; /* of the session when the plan was made */
    size_t most_frames;  /* most frames of a callchain */
    pf_buffer stops;     /* names of functions at which callchains end, each with a NUL */
    bool inlines;        /* inlined functions have their own lines */
    perfile_export_options options; /* symbols, flags */
    pf_profile profile;             /* of the reader; no samples are stored in it */
    pf_profile_reader reader;
    bool reading, started; /* `reader` belongs to the current capture; its threads run */
    perfile_symbols *symbols;
    pf_queue_text text;
    perfile_model *past;    /* names of threads up to the current record; NULL if not needed */
    pf_buffer line;         /* of a record that is not a sample */
    pf_buffer comm;         /* the name before it */
    pf_index counted;       /* id of a counter to its index in `counts` */
    pf_buffer counts;       /* uint64_t: last value of each counter in READ values */
    pf_registers registers; /* names of registers; NULL if not known */
    bool lower_case;        /* perf writes them in lower case for the recorded machine */
    perfile_export_summary sum;
    uint64_t first_time;    /* with RELTIME: time of the first line; else 0 */
    uint64_t previous_time; /* with DELTATIME: time of the last line; 0 if none yet */
    bool has_first;
    pf_script_counts rounds; /* of `perf stat record` */
    bool has_title;          /* the title above their lines was written */
} pf_script;

extern const pf_emit_ops pf_emit_script;

/* samples.c */

enum {
    PF_SCRIPT_COMM = 24,        /* bytes of a name that a slot can hold */
    PF_SCRIPT_THREADS = 1 << 10 /* slots of names of threads */
};

/* The text of a frame: "name+0x", the distance from the beginning of the function, " (dso)". */
typedef struct pf_script_piece {
    uint32_t at;             /* offset in pf_script_state.texts */
    uint32_t before, behind; /* bytes before and after the distance */
    uint64_t to_address;     /* add to an offset: the address in callchains */
    uint64_t to_distance;    /* add to an offset: the distance */
    bool made, has_distance;
    bool by_place; /* has no text here, because it differs by location */
    bool is_last;  /* callers of this frame are not shown */
} pf_script_piece;

/* The frames of one type of events, by number of the frame. */
typedef struct pf_script_pieces {
    pf_script_piece *at;
    size_t n;
} pf_script_pieces;

typedef struct pf_script_state {
    pf_script *x;
    pf_resolver *resolver;
    pf_script_pieces frames[PF_SCRIPT_TYPES]; /* functions, or files without a function */
    /* For single locations, if the text depends on them. */
    pf_script_pieces chains[PF_SCRIPT_TYPES];  /* their lines in callchains */
    pf_script_pieces unwound[PF_SCRIPT_TYPES]; /* the same, for frames unwound from a stack copy */
    pf_script_pieces places[PF_SCRIPT_TYPES];  /* the text after an address */
    uint8_t *texts;
    size_t n_texts, texts_cap;
    uint32_t kernel; /* the object of the kernel; PF_NO_OBJECT if not seen yet */
    pf_buffer scratch;
    struct pf_script_thread *threads;
    size_t data_src_width;            /* the widest data_src so far */
    perfile_tracepoints *tracepoints; /* of the session; NULL before the first use */
} pf_script_state;

/* Functions of pf_queue_text. */
void *pf_script_state_open(void *user, pf_resolver *resolver);
void pf_script_state_close(void *state);
void pf_script_state_forget(void *state);
bool pf_script_put(void *state, const pf_unresolved *sample, pf_buffer *out);

/* The beginning of a line: thread, CPU, time …. `comm` is the name, NULL if not known. */
typedef struct pf_script_start {
    uint64_t fields;
    bool has_chain;
    uint32_t pid, tid, cpu;
    uint64_t time;
    uint16_t misc;
    uint32_t type; /* of the record */
    const char *comm;
    size_t n_comm;
} pf_script_start;

/* Writes the beginning of a line to `at`, which has room for PF_START_ROOM bytes and the name. */
enum { PF_START_ROOM = 192 };
uint8_t *pf_script_put_start(pf_script *x, const pf_script_start *s, uint8_t *at);

/* Appends printf() text of less than 256 bytes.  Returns false when out of memory. */
bool pf_script_printf(pf_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Most bytes of names of functions; names of threads, files and events have at most
 * PF_NAME_MOST. */
enum { PF_SCRIPT_FUNCTION = 1024 };

/* Appends a name so that it is safe to show: if it is longer than `most` bytes (at most
 * PF_SCRIPT_FUNCTION), it is cut in the middle, and unprintable characters become `?`. */
bool pf_script_put_text(pf_buffer *out, const char *text, size_t n, size_t most);

/* frames.c */

/* Writes an address in at least 16 columns.  `at` has room for PF_ADDRESS_ROOM bytes. */
enum { PF_ADDRESS_ROOM = 40 };
uint8_t *pf_script_put_address(uint8_t *at, uint64_t address);

/* Appends the lines of a callchain. */
bool pf_script_put_chain(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                         pf_buffer *out);
/* The first returns true if text follows an address; the second appends it: " sym+0x1 (dso)". */
bool pf_script_shows_place(const pf_script_event *e);
bool pf_script_put_place(pf_script_state *s, const pf_script_event *e, const pf_code_place *place,
                         pf_buffer *out);
/* Append "sym", or with `offset` "sym+0x1"; and the name of the dso, without parentheses. */
bool pf_script_put_symbol(pf_script_state *s, const pf_code_place *place, bool offset,
                          pf_buffer *out);
bool pf_script_put_dso(pf_script_state *s, const pf_code_place *place, pf_buffer *out);
/* Returns the kernel function at a location and sets *offset to the distance into it.  NULL if it
 * is not known. */
const char *pf_script_kernel_function(pf_script_state *s, const pf_code_place *place,
                                      uint64_t *offset);
/* Returns the offset of a location in its file. */
uint64_t pf_script_offset(const pf_script_state *s, const pf_code_place *place);
/* Finds the location of an address, which is in the kernel if the address is.  Returns false when
 * out of memory or over the limit of the profile. */
bool pf_script_place(pf_script_state *s, const pf_unresolved *u, unsigned code, uint64_t addr,
                     pf_code_place *place);

/* values.c: fields in the middle of a line, and those after the address. */
bool pf_script_put_memory(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out);
bool pf_script_put_values(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out);

/* sideband.c: records other than samples. */

/* Returns true if records of this type have lines. */
bool pf_script_shows(uint32_t flags, uint32_t type);
/* Makes the line of a record in x->line. */
perfile_status pf_script_note(pf_script *x, const perfile_record *r, perfile_error *err);

/* header.c: the header (PERFILE_SCRIPT_HEADER). */

/* Writes the facts that are known before the first record of the capture. */
perfile_status pf_script_put_header(pf_script *x, perfile_error *err);
/* Writes the feature in a HEADER_FEATURE record. */
perfile_status pf_script_put_fact(pf_script *x, const perfile_record *r, perfile_error *err);

#endif
