/* Payloads that describe themselves: EventHeader, the convention of user_events.
 *
 * The kernel's description of such a tracepoint has eight bytes of fields, eventheader_flags to
 * level.  They are followed by extensions.  One of these (metadata) has the name of the event, and
 * name, encoding and format of each of its fields.  The values come last.  Each event gets its own
 * description: the fields of the tracepoint, then event_name, activity_id and related_id, then the
 * fields of the event, as rows.  To find a value, all values before it must be read.
 *
 * eventheader.c reads metadata, eventvalues.c reads values.  Source: eventheader.h of
 * github.com/microsoft/LinuxTracepoints. */
#ifndef PF_TRACE_EVENTHEADER_H
#define PF_TRACE_EVENTHEADER_H

#include "base/buffer.h"
#include "trace/format.h"

enum {                         /* limits, see format/limits.md */
       PF_EH_DEPTH = 8,        /* nesting of structs */
       PF_EH_BYTES = 16 << 20, /* for the descriptions of all events of a session */
       PF_EH_GROWTH = 8        /* longest text of a value, for each of its bytes */
};

enum { /* pf_eh_row.encoding & PF_EH_ENCODING */
       PF_EH_STRUCT = 1,
       PF_EH_VALUE8,
       PF_EH_VALUE16,
       PF_EH_VALUE32,
       PF_EH_VALUE64,
       PF_EH_VALUE128,
       PF_EH_ZSTRING8, /* NUL-terminated */
       PF_EH_ZSTRING16,
       PF_EH_ZSTRING32,
       PF_EH_STRING8, /* after a 16-bit number of characters */
       PF_EH_STRING16,
       PF_EH_STRING32,
       PF_EH_BINARY, /* likewise, of bytes */
       PF_EH_ENCODING = 0x1f,
       PF_EH_COUNTED = 0x20, /* an array with its length in the metadata */
       PF_EH_VARIABLE = 0x40 /* an array with its length in 16 bits before the first item */
};

enum { /* pf_eh_row.format; any other is the default of the encoding */
       PF_EH_SIGNED = 2,
       PF_EH_HEX,
       PF_EH_ERRNO,
       PF_EH_PID,
       PF_EH_TIME,
       PF_EH_BOOLEAN,
       PF_EH_FLOAT,
       PF_EH_HEX_BYTES,
       PF_EH_LATIN1,
       PF_EH_UTF,
       PF_EH_UTF_BOM, /* this and the next two: may begin with a byte order mark */
       PF_EH_XML,
       PF_EH_JSON,
       PF_EH_UUID,
       PF_EH_PORT,
       PF_EH_IPV4,
       PF_EH_IPV6
};

/* A field of an event. */
typedef struct pf_eh_row {
    uint8_t encoding, format;
    uint16_t count;  /* length of an array with PF_EH_COUNTED */
    uint16_t end;    /* index of the row after it and its members */
    uint16_t parent; /* row of its struct + 1; 0: top level */
} pf_eh_row;

/* Fields that each event has before its rows. */
enum { PF_EH_EVENT_NAME, PF_EH_ACTIVITY, PF_EH_RELATED, PF_EH_EXTRA };

/* The additional members of pf_trace_format for an event. */
typedef struct pf_eh {
    const pf_trace_format *base; /* the tracepoint */
    perfile_bytes metadata;
    const pf_eh_row *rows;
    uint16_t n_rows, first; /* first: index of the first row in shown.fields */
    bool swapped;           /* byte order of the values */
    pf_buffer *scratch; /* for values that are shown as text; owned by the perfile_tracepoints */
} pf_eh;

/* The parts of a payload. */
typedef struct pf_eh_parts {
    perfile_bytes metadata, activity; /* ptr is NULL if there is none */
    size_t values;                    /* offset of the values */
    bool swapped;
} pf_eh_parts;

/* Returns true if the description has exactly the fields of EventHeader. */
bool pf_eh_is(const pf_trace_format *f);

/* Splits a payload.  Returns false if it has no metadata, or ends within its extensions. */
bool pf_eh_split(const pf_trace_format *base, perfile_bytes payload, pf_eh_parts *parts);

/* Describes an event.  If metadata cannot be read to its end, the description has the fields before
 * that.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_eh_describe(const pf_trace_format *base, const pf_eh_parts *parts,
                              pf_buffer *scratch, pf_arena *arena, const pf_trace_format **out,
                              perfile_error *err);

/* Returns the size of an item, or of a character of a text; 0: a struct. */
unsigned pf_eh_size(uint8_t encoding);
/* Returns true if the value of a row is converted to text. */
bool pf_eh_is_made(const pf_eh_row *row);

/* Does the work of perfile_tracepoint_value() for the fields after those of the tracepoint. */
perfile_status pf_eh_value(const pf_trace_format *f, perfile_bytes payload, uint32_t i,
                           perfile_value *value);

/* Visits these fields; *left limits the bytes of fields and names that are shown. */
void pf_eh_walk(const pf_trace_format *f, perfile_bytes payload, uint64_t offset, size_t *left,
                const perfile_visitor *visitor, void *user);

#endif
