/* Payloads that describe themselves: EventHeader, the convention of user_events.
 *
 * The kernel's description of such a tracepoint has eight bytes of fields, eventheader_flags to
 * level.  After them come extensions, of which one (metadata) has the name of the event and of each
 * of its fields, with encoding and format; then come the values.  Each event that is met becomes a
 * description of its own: the fields of the tracepoint, then event_name, activity_id and
 * related_id, then those of the event, in rows.  The place of a value is known when those before it
 * were read.
 *
 * eventheader.c reads metadata, eventvalues.c values.
 * Source: eventheader.h of github.com/microsoft/LinuxTracepoints. */
#ifndef PF_TRACE_EVENTHEADER_H
#define PF_TRACE_EVENTHEADER_H

#include "base/buffer.h"
#include "trace/format.h"

enum {                         /* limits, see format/limits.md */
       PF_EH_DEPTH = 8,        /* structs in each other */
       PF_EH_BYTES = 16 << 20, /* of the descriptions of all events of a session */
       PF_EH_GROWTH = 8        /* a value as text has at most so many bytes for each of its own */
};

enum { /* pf_eh_row.encoding & PF_EH_ENCODING */
       PF_EH_STRUCT = 1,
       PF_EH_VALUE8,
       PF_EH_VALUE16,
       PF_EH_VALUE32,
       PF_EH_VALUE64,
       PF_EH_VALUE128,
       PF_EH_ZSTRING8, /* up to a zero */
       PF_EH_ZSTRING16,
       PF_EH_ZSTRING32,
       PF_EH_STRING8, /* after 16 bits that say how many characters there are */
       PF_EH_STRING16,
       PF_EH_STRING32,
       PF_EH_BINARY, /* likewise bytes */
       PF_EH_ENCODING = 0x1f,
       PF_EH_COUNTED = 0x20, /* an array, whose length the metadata has */
       PF_EH_VARIABLE = 0x40 /* or 16 bits before the first item */
};

enum { /* pf_eh_row.format; others are the default of the encoding */
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
       PF_EH_UTF_BOM, /* and two more: a mark at the beginning says the order of bytes */
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
    uint16_t count;  /* of an array whose length the metadata has */
    uint16_t end;    /* the row after it and its members */
    uint16_t parent; /* row of the struct + 1; 0: it is at the top */
} pf_eh_row;

/* Fields that each event has, before its rows. */
enum { PF_EH_EVENT_NAME, PF_EH_ACTIVITY, PF_EH_RELATED, PF_EH_EXTRA };

/* What pf_trace_format has besides, of an event. */
typedef struct pf_eh {
    const pf_trace_format *base; /* the tracepoint */
    perfile_bytes metadata;
    const pf_eh_row *rows;
    uint16_t n_rows, first; /* first: the position of the first row in shown.fields */
    bool swapped;           /* of the values */
    pf_buffer *scratch;     /* for values that are shown as text; of the perfile_tracepoints */
} pf_eh;

/* The parts of a payload. */
typedef struct pf_eh_parts {
    perfile_bytes metadata, activity; /* ptr NULL: not there */
    size_t values;                    /* where they begin */
    bool swapped;
} pf_eh_parts;

/* True if the description has the fields of EventHeader, and no others. */
bool pf_eh_is(const pf_trace_format *f);

/* False: the payload has no metadata, or ends in its extensions. */
bool pf_eh_split(const pf_trace_format *base, perfile_bytes payload, pf_eh_parts *parts);

/* Describes an event.  Metadata that cannot be read to its end has the fields before.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_eh_describe(const pf_trace_format *base, const pf_eh_parts *parts,
                              pf_buffer *scratch, pf_arena *arena, const pf_trace_format **out,
                              perfile_error *err);

/* Bytes of an item, or of a character of a text; 0: a struct. */
unsigned pf_eh_size(uint8_t encoding);
/* True if the value of a row is made of the bytes, as text. */
bool pf_eh_is_made(const pf_eh_row *row);

/* perfile_tracepoint_value() for the fields behind those of the tracepoint. */
perfile_status pf_eh_value(const pf_trace_format *f, perfile_bytes payload, uint32_t i,
                           perfile_value *value);

/* Shows them; *left is how many bytes of fields and names may still be shown. */
void pf_eh_walk(const pf_trace_format *f, perfile_bytes payload, uint64_t offset, size_t *left,
                const perfile_visitor *visitor, void *user);

#endif
