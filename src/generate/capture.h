/* The state of pf_generate(), shared by the files that make events, records, features and the dump.
 */
#ifndef PF_GENERATE_CAPTURE_H
#define PF_GENERATE_CAPTURE_H

#include "core/encode.h"
#include "generate/command.h"
#include "generate/covered.h"
#include "generate/make.h"
#include "generate/show.h"
#include "generate/spec.h"

enum {
    PF_GEN_ROOM = 1 << 16,  /* bytes of a record, and of a feature */
    PF_GEN_IDS = 2,         /* ids of an event, unless they are given */
    PF_GEN_FEATURES = 64,   /* features of a capture, at most */
    PF_GEN_AUX_BUFFERS = 4, /* buffers of AUX data */
    PF_GEN_EVENT_TYPE = 72  /* bytes of an event type: its id, and its name */
};

#define PF_GEN_NONE ((perfile_bytes){NULL, 0})

typedef struct pf_gen pf_gen;

typedef struct pf_gen_event {
    perfile_attr attr;
    perfile_layout layout;
    uint64_t ids[PF_SPEC_MOST_IDS];
    unsigned n_ids;
} pf_gen_event;

/* A feature that was written. */
typedef struct pf_gen_section {
    const pf_row *row;
    size_t len;
    pf_shown line; /* the content, `"data":{…}` */
} pf_gen_section;

/* The compressed record that is being made. */
typedef struct pf_gen_pack {
    struct pf_deflate *zstd; /* NULL: records are not compressed */
    pf_buffer piece;         /* of the stream, not yet compressed */
    uint64_t index;          /* of the compressed record */
    uint64_t stream;         /* bytes of complete records in the stream */
    pf_shown lines;          /* of the records that end in the piece */
} pf_gen_pack;

struct pf_gen {
    pf_generate_options options; /* with defaults */
    const pf_generate_options *o;
    pf_generate_summary *sum;
    perfile_writer *writer;
    bool swap;
    pf_maker maker;
    pf_gen_event *events;
    pf_arena of_events;          /* bytes that their attrs borrow */
    const pf_gen_event *current; /* of the record that is being made */
    pf_encode_space space;
    perfile_encode_options how;
    pf_gen_section sections[PF_GEN_FEATURES];
    unsigned n_sections;
    pf_shown attrs, types, records;
    pf_gen_pack pack;
    pf_buffer aux_index; /* perfile_auxtrace_index_entry of each AUXTRACE record */
    uint64_t aux_ends[PF_GEN_AUX_BUFFERS]; /* how many bytes of AUX data each buffer had */
    uint32_t part;       /* of a directory, that records are written to: data, data.0, data.1 */
    uint64_t bytes;      /* of records, in the first part */
    bool has_parts;      /* records were written to another file than the first */
    uint64_t part_bytes; /* of records, in this one if it is another */
    uint64_t first_time, last_time; /* of samples; 0: none yet */
};

static inline bool pf_gen_is_pipe(const pf_gen *g)
{
    return g->o->form == PERFILE_FORM_PIPE;
}

static inline bool pf_gen_is_directory(const pf_gen *g)
{
    return g->o->form == PF_GENERATE_DIRECTORY;
}

static inline bool pf_gen_is_version_1(const pf_gen *g)
{
    return g->o->form == PF_GENERATE_VERSION_1;
}

/* Returns true for features of simpleperf, which perf does not have. */
static inline bool pf_gen_is_of_simpleperf(uint32_t feature)
{
    enum { FIRST = 128 };
    return feature >= FIRST;
}

/* Returns the offset of the records. */
uint64_t pf_gen_data_offset(const pf_gen *g);

/* A struct to be made: its table, what is changed before it is encoded, and how it is encoded to
 * g->space.out. */
typedef struct pf_gen_wanted {
    const pf_row *row; /* NULL: an attr */
    const pf_row_shape *shape;
    unsigned of; /* PF_SHAPE_…, PF_N_SHAPES */
    size_t size;
    pf_set_counts_fn *settle;
    perfile_status (*adjust)(pf_gen *g, const struct pf_gen_wanted *w, void *given,
                             perfile_error *err);
    perfile_status (*encode)(pf_gen *g, const struct pf_gen_wanted *w, const void *given,
                             size_t *len, perfile_error *err);
} pf_gen_wanted;

/* Takes the values of the struct that is made next from a statement, as far as it gives them; NULL:
 * none. */
void pf_gen_take(pf_gen *g, const pf_spec_item *item);

/* Makes a struct that can be encoded: *made is it, with the counts that the encoder sets.  Returns
 * PERFILE_END if there is none; but fails if values are given. */
perfile_status pf_gen_make(pf_gen *g, const pf_gen_wanted *w, void *made, size_t *len,
                           perfile_error *err);

/* Returns `st`, with *err as *why. */
perfile_status pf_gen_fail_as(const perfile_error *why, perfile_status st, perfile_error *err);

/* Notes that nothing of a type or feature is in the capture.  `name` is static. */
void pf_gen_leave_out(pf_gen *g, const char *name);

/* Makes the ids known that fields have: those of `n` events from `number` on. */
void pf_gen_choose_ids(pf_gen *g, uint32_t number, uint32_t n);

/* The bytes of a record, which is to be written. */
typedef struct pf_gen_stored {
    uint32_t type;
    uint16_t misc;
    perfile_bytes record;
    perfile_bytes after; /* what follows it without being part of its size (AUXTRACE) */
} pf_gen_stored;

/* Writes a record; pf_gen_put() puts it into a compressed record where records of this type go
 * there. */
perfile_status pf_gen_write(pf_gen *g, const pf_gen_stored *r, perfile_error *err);
perfile_status pf_gen_put(pf_gen *g, const pf_gen_stored *r, perfile_error *err);

/* Returns the list of a description if the capture has these items and no others; NULL if they are
 * chosen here. */
static inline const pf_spec_list *pf_gen_said(const pf_gen *g, size_t list)
{
    const pf_spec *spec = g->o->spec;
    const pf_spec_list *l = spec ? (const void *)((const uint8_t *)spec + list) : NULL;
    return l && l->said ? l : NULL;
}

/* Returns true if records of the row can be in a capture of this form by themselves.  Those that a
 * file has as sections are in pipes only; events and features are made in another place. */
bool pf_gen_stands_alone(const pf_generate_options *o, const pf_row *row);
/* Returns false for features that the writer makes, that hold a format of their own, or that a pipe
 * has as other records. */
bool pf_gen_makes_feature(const pf_generate_options *o, uint32_t number);

/* Adds an event.  In a pipe it is a record. */
perfile_status pf_gen_add_event(pf_gen *g, uint32_t number, perfile_error *err);
/* Make all records, and all features. */
perfile_status pf_gen_records(pf_gen *g, perfile_error *err);
perfile_status pf_gen_features(pf_gen *g, perfile_error *err);

/* Tracepoints.  Returns true if an event is one that TRACING_DATA describes. */
bool pf_gen_has_tracepoint(const pf_gen *g);
/* Replaces the payload of a sample of such an event by one that has the fields of its description.
 */
perfile_status pf_gen_tracepoint_payload(pf_gen *g, perfile_bytes *raw, perfile_error *err);
/* Sets the content of TRACING_DATA; it is in the arena. */
perfile_status pf_gen_describe_tracepoints(pf_gen *g, perfile_tracing_data *data,
                                           perfile_error *err);
/* Puts it as a HEADER_TRACING_DATA record. */
perfile_status pf_gen_put_tracing(pf_gen *g, perfile_bytes payload, perfile_error *err);

/* AUX traces.  Makes an AUXTRACE record continue the data of its buffer. */
void pf_gen_adjust_aux(pf_gen *g, perfile_auxtrace *aux);
/* Sets *data to the bytes that follow the record; they are in the arena. */
perfile_status pf_gen_aux_data(pf_gen *g, const perfile_auxtrace *aux, perfile_bytes *data,
                               perfile_error *err);
/* Notes where the AUXTRACE record of `size` bytes is that is put next. */
perfile_status pf_gen_note_aux(pf_gen *g, const perfile_auxtrace *aux, size_t size,
                               perfile_error *err);
/* Returns true if the writer adds the feature AUXTRACE, which lists the AUXTRACE records of a
 * file. */
bool pf_gen_has_aux_index(const pf_gen *g);
/* Adds this feature to the dump. */
void pf_gen_show_aux_index(pf_gen *g, const pf_row *row, const pf_row_shape *shape);

/* Makes members of a record or feature of simpleperf agree; others are not changed. */
perfile_status pf_gen_adjust_simpleperf(pf_gen *g, uint32_t number, void *given,
                                        perfile_error *err);

/* Begins a line of the dump. */
void pf_gen_begin_line(pf_shown *out, const char *kind);
/* Compressed records: returns true if records of this type go into them; pf_gen_pack_add() takes
 * the bytes of a record, pf_gen_pack_flush() writes what was taken. */
bool pf_gen_packs(const pf_gen *g, uint32_t type);
perfile_status pf_gen_pack_begin(pf_gen *g, perfile_error *err);
perfile_status pf_gen_pack_add(pf_gen *g, perfile_bytes bytes, perfile_error *err);
perfile_status pf_gen_pack_flush(pf_gen *g, perfile_error *err);
/* Begins another stream, for another file of a directory. */
perfile_status pf_gen_pack_again(pf_gen *g, perfile_error *err);
void pf_gen_pack_end(pf_gen *g);

/* Begins the line of a record of `size` bytes, and counts it; its body comes next.  `name` is
 * without its prefix.  Returns where the line is written. */
pf_shown *pf_gen_begin_record(pf_gen *g, uint32_t type, const char *name, uint16_t misc,
                              size_t size);
/* Writes the member `payload` of the line of the record that was begun last: the bytes after it.
 * Counts them. */
void pf_gen_show_after(pf_gen *g, pf_shown *out, perfile_bytes after);
/* Writes the member `name`: null for types and features that the contract of dumps does not have.
 */
void pf_gen_show_name(pf_shown *out, const char *name);
/* Writes the dump to `expect` and finishes it. */
perfile_status pf_gen_write_dump(pf_gen *g, perfile_sink *expect, perfile_error *err);

#endif
