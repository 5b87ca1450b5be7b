/* Reads payloads of tracepoints as fields.
 *
 * A tracepoint sample carries its payload as RAW bytes.  The kernel's description of the
 * tracepoint, which the capture has in feature TRACING_DATA, tells which fields these are:
 *
 *     perfile_tracepoints *all;
 *     const perfile_tracepoint *t;
 *     perfile_bytes payload;
 *     perfile_value v;
 *     if (perfile_tracepoints_open(session, &all, &err) == PERFILE_OK &&
 *         perfile_tracepoint_of(all, record, &t, &payload, &err) == PERFILE_OK)
 *         for (uint32_t i = 0; i < t->n_fields; i++)
 *             if (perfile_tracepoint_value(t, payload, i, &v) == PERFILE_OK)
 *                 printf("%s=%llu\n", t->fields[i].field.name, (unsigned long long)v.number);
 *
 * Fields and values have the types of field.h, so code that shows record fields can show these,
 * too.  Source: tracefs/events/SYSTEM/NAME/format, Documentation/trace/events.rst of the kernel. */
#ifndef PERFILE_TRACEPOINT_H
#define PERFILE_TRACEPOINT_H

#include "field.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                     /* perfile_tracepoint_field.flags */
       PERFILE_TRACEPOINT_COMMON = 1 << 0, /* all tracepoints have it: common_type, common_pid … */
       PERFILE_TRACEPOINT_POINTER = 1 << 1, /* an address */
       /* The payload has a word here that locates the value: its offset from the beginning of the
        * payload in the lower half, its size in bytes in the upper half. */
       PERFILE_TRACEPOINT_DYNAMIC = 1 << 2,
       PERFILE_TRACEPOINT_RELATIVE = 1 << 3, /* same, but offset from the end of this word */
       PERFILE_TRACEPOINT_ARRAY = 1 << 4,    /* declared with [ ] */
       PERFILE_TRACEPOINT_LONG = 1 << 5,     /* declared with `long` */
       /* The payload itself describes the field (EventHeader of user_events), so its offset varies;
        * perfile_tracepoint_value() gives the offset of its value. */
       PERFILE_TRACEPOINT_SELF = 1 << 6
};

/* A field of a payload. */
typedef struct perfile_tracepoint_field {
    perfile_field field;  /* its name, and the type, element and kind of its value; doc is "" */
    const char *declared; /* declared type: "__data_loc char[]", "pid_t", "unsigned long[6]" */
    uint32_t offset;      /* of its bytes in the payload */
    uint32_t size;        /* number of these bytes; 0: up to the end */
    uint32_t element;     /* for an array: bytes of an item; else `size` */
    uint32_t flags;       /* PERFILE_TRACEPOINT_… */
    uint64_t reserved[2];
} perfile_tracepoint_field;

/* A tracepoint. */
typedef struct perfile_tracepoint {
    const char *system;                     /* "sched"; "" if not known */
    const char *name;                       /* "sched_switch" */
    uint64_t id;                            /* attr.config of its event */
    const perfile_tracepoint_field *fields; /* in the order of the description */
    uint32_t n_fields;                      /* items of `fields` */
    uint32_t reserved0;
    const char *print_fmt; /* the kernel's print format, as C text; "" if not known */
    uint64_t reserved[4];
} perfile_tracepoint;

/* The tracepoints of a session, looked up on demand. */
typedef struct perfile_tracepoints perfile_tracepoints;

/* Opens the tracepoints of `session`, which must live as long as the result is used, except for
 * closing it.  A session may have any number of these open, each for one thread at a time. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoints_open(const perfile_session *session,
                                                                     perfile_tracepoints **out,
                                                                     perfile_error *err);
/* NULL is fine. */
PERFILE_API void perfile_tracepoints_close(perfile_tracepoints *t);

/* Gets the tracepoint of a sample, and its payload, which is borrowed from the record.
 * PERFILE_END: the record is not a tracepoint sample, has no payload, or its tracepoint has no
 * description.  If payloads describe themselves (PERFILE_TRACEPOINT_SELF), the fields are those of
 * this event; each event has its own perfile_tracepoint. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_of(perfile_tracepoints *t,
                                                                  const perfile_record *sample,
                                                                  const perfile_tracepoint **out,
                                                                  perfile_bytes *payload,
                                                                  perfile_error *err);

/* Gets the value of field `i`; its `offset` and `width` are relative to the payload.  PERFILE_END:
 * the payload ends before the field, or places it outside; or the field is a struct or a list, or
 * in a list (see perfile_tracepoint_walk()).  For a field with PERFILE_TRACEPOINT_SELF, text that
 * is converted for display (UTF-16, addresses, floating point) is valid until another payload is
 * read. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_value(const perfile_tracepoint *t,
                                                                     perfile_bytes payload,
                                                                     uint32_t i,
                                                                     perfile_value *value);

/* Calls the visitor for the fields of a sample's payload that are not common to all tracepoints, as
 * perfile_record_walk() does for a record: `offset` of a value counts from the first byte of the
 * record.  Structs and lists of structs begin and end.  PERFILE_END: as perfile_tracepoint_of(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_walk(perfile_tracepoints *t,
                                                                    const perfile_record *sample,
                                                                    const perfile_visitor *visitor,
                                                                    void *user, perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Returns the position of a field in `t->fields`, or -1 if there is none with that name. */
static inline int perfile_tracepoint_field_find(const perfile_tracepoint *t, const char *name)
{
    uint32_t i;
    for (i = 0; i < t->n_fields; i++)
        if (strcmp(t->fields[i].field.name, name) == 0)
            return (int)i;
    return -1;
}
#endif

/* Returns the name of the function at a kernel address, or NULL if none is known.  The text is
 * valid until the next call; *offset is the offset of the address in the function. */
typedef const char *perfile_tracepoint_symbol_fn(void *user, uint64_t address, uint64_t *offset);

/* Writes the payload as `perf script` prints it: by evaluating the kernel's print format.  A format
 * that cannot be evaluated is printed field by field, as perf does.  Returns the length of the text
 * in bytes, like snprintf(): at most size - 1 bytes are written, and a NUL.  The text has at most 8
 * KiB, like the kernel's own; it comes from the capture and is not escaped.  `symbol` may be NULL:
 * addresses then have no names. */
PERFILE_API size_t perfile_tracepoint_print(const perfile_tracepoint *t, perfile_bytes payload,
                                            perfile_tracepoint_symbol_fn *symbol, void *user,
                                            char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
