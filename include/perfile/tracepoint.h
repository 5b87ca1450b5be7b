/* Payloads of tracepoints as fields.
 *
 * A sample of a tracepoint carries its payload as RAW bytes.  Which fields these are is said by the
 * kernel's description of the tracepoint, which the capture has in feature TRACING_DATA.  Here they
 * are read:
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
 * Fields and values are those of field.h, so that what shows a field of a record shows these.
 * Source: tracefs/events/SYSTEM/NAME/format, Documentation/trace/events.rst of the kernel. */
#ifndef PERFILE_TRACEPOINT_H
#define PERFILE_TRACEPOINT_H

#include "field.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                     /* perfile_tracepoint_field.flags */
       PERFILE_TRACEPOINT_COMMON = 1 << 0, /* all tracepoints have it: common_type, common_pid … */
       PERFILE_TRACEPOINT_POINTER = 1 << 1, /* an address */
       /* The payload has a word here that says where the value is: its offset from the beginning
        * of the payload in the lower half, its bytes in the upper half … */
       PERFILE_TRACEPOINT_DYNAMIC = 1 << 2,
       PERFILE_TRACEPOINT_RELATIVE = 1 << 3, /* … or its offset from the end of this word */
       PERFILE_TRACEPOINT_ARRAY = 1 << 4,    /* declared with [ ] */
       PERFILE_TRACEPOINT_LONG = 1 << 5,     /* declared with `long` */
       /* The payload itself describes it (EventHeader of user_events): its place differs, and is
        * that of its value. */
       PERFILE_TRACEPOINT_SELF = 1 << 6
};

/* A field of a payload. */
typedef struct perfile_tracepoint_field {
    perfile_field field;  /* its name, and what its value is: type, element, kind; doc is "" */
    const char *declared; /* its type: "__data_loc char[]", "pid_t", "unsigned long[6]" */
    uint32_t offset;      /* of its bytes in the payload … */
    uint32_t size;        /* … and how many; 0: up to the end */
    uint32_t element;     /* bytes of an item of an array; of others `size` */
    uint32_t flags;       /* PERFILE_TRACEPOINT_… */
    uint64_t reserved[2];
} perfile_tracepoint_field;

/* A tracepoint. */
typedef struct perfile_tracepoint {
    const char *system;                     /* "sched"; "" if the capture does not say it */
    const char *name;                       /* "sched_switch" */
    uint64_t id;                            /* attr.config of its event */
    const perfile_tracepoint_field *fields; /* in the order of the description */
    uint32_t n_fields;                      /* how many */
    uint32_t reserved0;
    const char *print_fmt; /* how the kernel prints it, as text of C; "" if it is not said */
    uint64_t reserved[4];
} perfile_tracepoint;

/* The tracepoints of a session that were asked for. */
typedef struct perfile_tracepoints perfile_tracepoints;

/* `session` must be there as long as the result is used, except for closing it.  Any number of them
 * may be open for a session, each for one thread at a time. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoints_open(const perfile_session *session,
                                                                     perfile_tracepoints **out,
                                                                     perfile_error *err);
/* NULL is fine. */
PERFILE_API void perfile_tracepoints_close(perfile_tracepoints *t);

/* The tracepoint with this number (attr.config); it lives until `t` is closed.  PERFILE_END: the
 * capture has no description of it, or one that cannot be read. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_find(perfile_tracepoints *t,
                                                                    uint64_t id,
                                                                    const perfile_tracepoint **out,
                                                                    perfile_error *err);

/* The tracepoint of a sample, and its payload, borrowed from the record.  PERFILE_END: it is no
 * sample of a tracepoint, has no payload, or is of one without a description.  Where payloads
 * describe themselves (PERFILE_TRACEPOINT_SELF), the fields are those of this event; each event has
 * its own perfile_tracepoint. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_of(perfile_tracepoints *t,
                                                                  const perfile_record *sample,
                                                                  const perfile_tracepoint **out,
                                                                  perfile_bytes *payload,
                                                                  perfile_error *err);

/* The value of field `i`; `offset` and `width` of it are those in the payload.  PERFILE_END: the
 * payload ends before it, or says that it is outside; it is a struct or a list, or in a list (see
 * perfile_tracepoint_walk()).  Of a field with PERFILE_TRACEPOINT_SELF, text that is not stored as
 * it is shown (UTF-16, addresses, floating point) is valid until another payload is read. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_value(const perfile_tracepoint *t,
                                                                     perfile_bytes payload,
                                                                     uint32_t i,
                                                                     perfile_value *value);

/* Shows the fields of a sample's payload that are not common to all tracepoints, as
 * perfile_record_walk() shows those of a record: `offset` of a value counts from the first byte of
 * the record.  Structs and lists of structs begin and end.  PERFILE_END: as
 * perfile_tracepoint_of(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_tracepoint_walk(perfile_tracepoints *t,
                                                                    const perfile_record *sample,
                                                                    const perfile_visitor *visitor,
                                                                    void *user, perfile_error *err);

/* The position of a field in `t->fields`, -1 if there is none of that name. */
PERFILE_API int perfile_tracepoint_field_find(const perfile_tracepoint *t, const char *name);

/* Names a kernel address: appends nothing and returns NULL if no function is known there.  The text
 * is valid until the next call; *offset is how far into the function the address is. */
typedef const char *perfile_tracepoint_symbol_fn(void *user, uint64_t address, uint64_t *offset);

/* Writes what `perf script` prints of the payload: the print fmt of the kernel, evaluated.  One
 * that is more than can be evaluated is printed field by field, as perf does.  Returns the bytes
 * that the text has, as snprintf(): at most size - 1 of them are written, and a zero.  The text has
 * at most 8 KiB, as the kernel's own; it is of the capture, with all the characters that it has
 * there. `symbol` may be NULL: addresses have no names. */
PERFILE_API size_t perfile_tracepoint_print(const perfile_tracepoint *t, perfile_bytes payload,
                                            perfile_tracepoint_symbol_fn *symbol, void *user,
                                            char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
