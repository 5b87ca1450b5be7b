/* The description of a tracepoint: the kernel's text in tracefs/events/SYSTEM/NAME/format.
 * Captures have it in feature TRACING_DATA.
 *
 *     name: sched_switch
 *     ID: 314
 *     format:
 *             field:unsigned short common_type;       offset:0;       size:2; signed:0;
 *             field:char prev_comm[16];       offset:8;       size:16;        signed:0;
 *     print fmt: "prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid
 *
 * format.c reads the lines, declare.c a C declaration, compile.c the print fmt.  The text is not
 * trusted: its offsets and sizes are checked against each payload. */
#ifndef PF_TRACE_FORMAT_H
#define PF_TRACE_FORMAT_H

#include "base/arena.h"
#include "perfile/tracepoint.h"

enum { /* limits of a description, see format/limits.md */
       PF_TRACE_FIELDS = 512,
       PF_TRACE_NAME_BYTES = 128,  /* longest name of a field with its NUL */
       PF_TRACE_NAMES = 16 << 10,  /* bytes of all names of fields */
       PF_TRACE_PAYLOAD = 64 << 10 /* exclusive upper limit for the end of a field */
};

struct pf_eh;
struct pf_print;
struct pf_printk;

/* A tracepoint, in the arena of the perfile_tracepoints. */
typedef struct pf_trace_format {
    perfile_tracepoint shown;
    bool swapped;          /* payloads do not have native byte order */
    uint8_t long_size;     /* size of a long in the recorded kernel, 4 or 8 */
    const uint16_t *order; /* indices of the fields, sorted by name */
    /* The print fmt, compiled on first use; NULL: it cannot be evaluated. */
    const struct pf_print *print;
    bool compiled;
    pf_arena *arena; /* contains this description */
    const struct pf_printk *printk;
    bool is_eventheader;      /* payloads describe themselves, see eventheader.h */
    const struct pf_eh *self; /* for one event of such a tracepoint; NULL: not an event */
} pf_trace_format;

/* The text, and facts from the session. */
typedef struct pf_trace_source {
    perfile_bytes system, name, text;
    uint64_t id;
    bool swapped;
    uint8_t long_size;
    const struct pf_printk *printk; /* may be NULL; lives as long as the result */
} pf_trace_source;

/* Reads a description.  PERFILE_E_CORRUPT: the text is not a description, or exceeds a limit above;
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT (of the arena). */
perfile_status pf_trace_format_read(const pf_trace_source *source, pf_arena *arena,
                                    const pf_trace_format **out, perfile_error *err);

/* Sorts the names of the fields for pf_trace_field_find(). */
perfile_status pf_trace_sort_names(pf_trace_format *f, pf_arena *arena, perfile_error *err);

/* Returns the index of a field, or -1. */
int pf_trace_field_find(const pf_trace_format *f, const char *name, size_t len);

/* Reads the declaration of a field ("__data_loc char[] name"), up to its semicolon.  Sets name,
 * declared and flags, and derives the type of the value from type, size and sign; offset and size
 * must be set.  `has_sign`: `is_signed` is from the description; otherwise the type decides. */
bool pf_trace_declare(perfile_bytes text, bool has_sign, bool is_signed, unsigned long_size,
                      perfile_tracepoint_field *field, perfile_bytes *name, perfile_bytes *type);

/* Returns the size of a C type by its name ("unsigned int", "u64", "long"); 0: unknown.  *is_signed
 * may be NULL. */
unsigned pf_trace_type_size(perfile_bytes type, unsigned long_size, bool *is_signed);

/* Finds the bytes of a field in a payload, for a dynamic field (__data_loc) the bytes that it
 * refers to.  Returns false if they are not in the payload. */
bool pf_trace_field_bytes(const pf_trace_format *f, const perfile_tracepoint_field *field,
                          perfile_bytes payload, perfile_bytes *bytes);

/* Returns the number of `size` bytes (1, 2, 4, 8) at `p`, sign-extended to 64 bits if `sign`.
 * Returns 0 for other sizes. */
uint64_t pf_trace_number(const uint8_t *p, size_t size, bool sign, bool swapped);

#endif
