/* The text of `perf script`: a line for each sample, with the frames of its call chain below it.
 *
 * Lines are those of perf 6.1, byte for byte (format/script.md).  Samples are resolved by
 * profile/reader.h; the text of a sample is made by the thread that resolved it (pf_queue_text).
 * A pf_script is the emitter; a pf_script_state is what one of its threads keeps. */
#ifndef PF_SCRIPT_SCRIPT_H
#define PF_SCRIPT_SCRIPT_H

#include "emit/emitter.h"
#include "export/export.h"
#include "emit/text_page.h"
#include "perfile/event.h"
#include "perfile/records.h"
#include "profile/reader.h"
#include "script/counts.h"

/* fields.c: what is printed. */

enum { /* numbers of fields */
#define FIELD(id, name) PF_FIELD_NUMBER_##id,
#include "script/fields.def"
       PF_N_FIELDS
};

#define FIELD(id, name) static const uint64_t PF_FIELD_##id = UINT64_C(1) << PF_FIELD_NUMBER_##id;
#include "script/fields.def"

enum { /* the types of events that have fields of their own; up to BREAKPOINT those of attrs */
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

/* The fields of one type of events: bits PF_FIELD_… */
typedef struct pf_script_type {
    uint64_t fields;  /* that are printed */
    uint64_t invalid; /* that make no sense */
    uint64_t asked;   /* asked for by name, for all types: it is an error if they are not there */
    uint64_t unset;   /* taken away by name, for all types */
    bool is_set;      /* not the default */
    bool is_of_all;   /* set for all types, so that there may be no event of this one */
} pf_script_type;

/* Sets the defaults. */
void pf_script_defaults(pf_script_type types[PF_SCRIPT_TYPES]);

/* Reads fields as given to -F: "comm,ip,sym", "+addr,-period", "trace:comm,trace"; several such
 * texts with spaces between them.  PERFILE_E_USAGE: err->message is as perf says it. */
perfile_status pf_script_read(pf_script_type types[PF_SCRIPT_TYPES], const char *text,
                              perfile_error *err);

/* How samples of an event are printed. */
typedef struct pf_script_event {
    uint64_t fields;     /* PF_FIELD_… */
    uint8_t type;        /* PF_SCRIPT_… */
    bool has_chain;      /* their call chains are printed */
    bool is_bpf;         /* they are output of BPF programs */
    bool is_branch;      /* they are branches, from one address to another (BTS) */
    bool has_data_sym;   /* `addr` is of data, and has a symbol */
    bool has_time;       /* they have a time; else it is shown as -1 */
    bool has_asked;      /* fields were asked for */
    uint64_t period;     /* of samples that have none of their own */
    size_t name, n_name; /* its name, padded, in pf_script_plan.names */
} pf_script_event;

/* How all are printed; follows from the fields and the events of a session. */
typedef struct pf_script_plan {
    pf_script_type types[PF_SCRIPT_TYPES]; /* without what the events do not have */
    pf_script_event *events;               /* by index */
    uint32_t n, cap;
    pf_buffer names;
    bool timed_all;     /* all samples have a time */
    bool needs_records; /* some field has to be decoded */
    bool in_order;      /* what is printed of a sample depends on those before it */
} pf_script_plan;

/* Makes the plan for the events of `s`.  `options`: as of perfile_emit_options.  `is_pipe`: events
 * come one by one.  PERFILE_E_USAGE: the events lack a field that was asked for; PERFILE_E_NOMEM.
 */
perfile_status pf_script_plan_make(pf_script_plan *plan,
                                   const pf_script_type types[PF_SCRIPT_TYPES],
                                   const perfile_session *s, uint32_t options, bool is_pipe,
                                   perfile_error *err);
void pf_script_plan_free(pf_script_plan *plan);

/* emitter.c */

typedef struct pf_script {
    perfile_emitter base;
    pf_script_type types[PF_SCRIPT_TYPES]; /* as asked for */
    pf_script_plan plan;
    uint64_t generation; /* of the session when the plan was made */
    size_t most_frames;  /* of a call chain */
    pf_buffer stops;     /* names of functions at which call chains end, each with a NUL */
    bool inlines;        /* functions that are inlined have lines of their own */
    perfile_export_options options; /* symbols, flags */
    pf_profile profile;             /* of the reader; nothing is kept in it */
    pf_profile_reader reader;
    bool reading, started; /* `reader` is of the present capture; its threads run */
    perfile_symbols *symbols;
    pf_queue_text text;
    perfile_model *past;    /* names of threads as far as records have come; NULL: not asked for */
    pf_buffer line;         /* of a record that is no sample */
    pf_buffer comm;         /* the name in front of it */
    pf_index counted;       /* id of a counter to its position in … */
    pf_buffer counts;       /* … uint64_t: its last value in READ values */
    pf_registers registers; /* names of registers; NULL: not known */
    bool lower_case;        /* perf writes them so for the machine that recorded */
    perfile_export_summary sum;
    uint64_t first_time;    /* of the first line, with RELTIME; else 0 */
    uint64_t previous_time; /* of the last line, with DELTATIME; 0: none yet */
    bool has_first;
    pf_script_counts rounds; /* of `perf stat record` */
    bool has_title;          /* the line above their lines is there */
} pf_script;

extern const pf_emit_ops pf_emit_script;

/* samples.c */

enum {
    PF_SCRIPT_COMM = 24,        /* bytes of a name that are kept in a slot */
    PF_SCRIPT_THREADS = 1 << 10 /* slots of names of threads */
};

/* What a frame looks like: "name+0x", the distance from the beginning of the function, " (dso)". */
typedef struct pf_script_piece {
    uint32_t at;             /* in pf_script_state.texts */
    uint32_t before, behind; /* bytes in front of the distance, and behind it */
    uint64_t to_address;     /* to be added to an offset: the address that call chains show */
    uint64_t to_distance;    /* likewise: the distance */
    bool made, has_distance;
    bool by_place; /* no text is made: it is another one for each place */
    bool is_last;  /* what called it is not shown */
} pf_script_piece;

/* The frames of one type of events, by number of the frame. */
typedef struct pf_script_pieces {
    pf_script_piece *at;
    size_t n;
} pf_script_pieces;

typedef struct pf_script_state {
    pf_script *x;
    pf_resolver *resolver;
    pf_script_pieces frames[PF_SCRIPT_TYPES]; /* functions, and files where none is known */
    /* Of single places, where the text depends on them: … */
    pf_script_pieces chains[PF_SCRIPT_TYPES];  /* … their lines in call chains … */
    pf_script_pieces unwound[PF_SCRIPT_TYPES]; /* … that a copied stack has given … */
    pf_script_pieces places[PF_SCRIPT_TYPES];  /* … and what follows an address */
    uint8_t *texts;
    size_t n_texts, texts_cap;
    uint32_t kernel; /* the object of the kernel; PF_NO_OBJECT: not seen yet */
    pf_buffer scratch;
    struct pf_script_thread *threads;
    size_t data_src_width;            /* the widest data_src so far */
    perfile_tracepoints *tracepoints; /* of the session; NULL: none was printed yet */
} pf_script_state;

/* pf_queue_text. */
void *pf_script_state_open(void *user, pf_resolver *resolver);
void pf_script_state_close(void *state);
void pf_script_state_forget(void *state);
bool pf_script_put(void *state, const pf_unresolved *sample, pf_buffer *out);

/* What a line begins with: thread, processor, time …  `comm`: its name, NULL: not known. */
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

/* Writes it to `at`, which has room for PF_START_ROOM and the name. */
enum { PF_START_ROOM = 192 };
uint8_t *pf_script_put_start(pf_script *x, const pf_script_start *s, uint8_t *at);

/* Appends printf() text of less than 256 bytes; false if there is no memory. */
bool pf_script_printf(pf_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How long names of functions may be; those of threads, files and events have PF_NAME_MOST. */
enum { PF_SCRIPT_FUNCTION = 1024 };

/* Appends a name as it may be shown: longer than `most` bytes (PF_SCRIPT_FUNCTION at most) it is
 * cut in the middle, and what is not printable becomes `?`. */
bool pf_script_put_text(pf_buffer *out, const char *text, size_t n, size_t most);

/* frames.c */

/* Writes an address in at least 16 columns; `at` has room for PF_ADDRESS_ROOM. */
enum { PF_ADDRESS_ROOM = 40 };
uint8_t *pf_script_put_address(uint8_t *at, uint64_t address);

/* Appends the lines of a call chain. */
bool pf_script_put_chain(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                         pf_buffer *out);
/* True if something follows an address; appends it: " sym+0x1 (dso)". */
bool pf_script_shows_place(const pf_script_event *e);
bool pf_script_put_place(pf_script_state *s, const pf_script_event *e, const pf_code_place *place,
                         pf_buffer *out);
/* Append "sym" or "sym+0x1", with `offset`; "(dso)" without the parentheses. */
bool pf_script_put_symbol(pf_script_state *s, const pf_code_place *place, bool offset,
                          pf_buffer *out);
bool pf_script_put_dso(pf_script_state *s, const pf_code_place *place, pf_buffer *out);
/* The function of the kernel that a place is in, and how far into it; NULL: none is known. */
const char *pf_script_kernel_function(pf_script_state *s, const pf_code_place *place,
                                      uint64_t *offset);
/* The offset of a place in its file. */
uint64_t pf_script_offset(const pf_script_state *s, const pf_code_place *place);
/* The place of an address, in the kernel if it lies there.  False if there is no memory or the
 * limit of the profile is exceeded. */
bool pf_script_place(pf_script_state *s, const pf_unresolved *u, unsigned code, uint64_t addr,
                     pf_code_place *place);

/* values.c: fields in the middle of a line, and those behind the place. */
bool pf_script_put_memory(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out);
bool pf_script_put_values(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                          const perfile_sample *v, pf_buffer *out);

/* sideband.c: records that are no samples. */

/* True if records of this type have lines. */
bool pf_script_shows(uint32_t flags, uint32_t type);
/* Makes the line of one in x->line. */
perfile_status pf_script_note(pf_script *x, const perfile_record *r, perfile_error *err);

/* header.c: what --header prints. */

/* Writes what is known of the capture before its first record. */
perfile_status pf_script_put_header(pf_script *x, perfile_error *err);
/* Writes the feature that a HEADER_FEATURE record has. */
perfile_status pf_script_put_fact(pf_script *x, const perfile_record *r, perfile_error *err);

#endif
