/* Zircon perfmon buffers inside the library: offsets in the header, the framing of records, and the
 * stream of the driver.
 *
 * A buffer is a header of 24 bytes, then packed records with 4-byte headers until `capture_end`.  A
 * TIME record sets the time of all records that follow.  Only the name of its file says which CPU a
 * buffer belongs to (family.c).  Several buffers of one capture are the parts of one stream. */
#ifndef PF_PERFMON_PERFMON_H
#define PF_PERFMON_PERFMON_H

#include "base/byte_order.h"
#include "core/driver.h"
#include "schema/rows.h"

enum {
    PF_PERFMON_HEADER = 24,
    PF_PERFMON_ARCH_AT = 2,
    PF_PERFMON_FLAGS_AT = 4,
    PF_PERFMON_TICKS_AT = 8,
    PF_PERFMON_END_AT = 16,

    PF_PERFMON_RECORD_HEADER = 4, /* u8 type, u8 reserved flags, u16 event */
    PF_PERFMON_TAG_AT = 1,
    PF_PERFMON_EVENT_AT = 2,
    PF_PERFMON_BRANCHES_AT = 4, /* u32, in a LAST_BRANCH */
    PF_PERFMON_MOST_BRANCHES = 32,
    PF_PERFMON_BRANCH = 24,
    PF_PERFMON_MOST = 16 + PF_PERFMON_MOST_BRANCHES * PF_PERFMON_BRANCH,

    PF_PERFMON_FULL = 1, /* flags */
    PF_PERFMON_X86_64 = 1,
    PF_PERFMON_ARM64 = 2
};

/* Types of records as stored. */
enum {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_PERFMON_##name = (number),
#include "perfile/format/perfmon.def"
    PF_PERFMON_TYPES
};

/* Buffers are little-endian on every machine. */
static inline bool pf_perfmon_swap(void)
{
    return PF_NATIVE_BIG;
}

/* The header of a buffer. */
typedef struct pf_perfmon_header {
    uint16_t version;
    uint16_t arch;
    uint32_t flags;
    int64_t ticks_per_second;
    uint64_t capture_end;
} pf_perfmon_header;

/* Decodes PF_PERFMON_HEADER bytes. */
pf_perfmon_header pf_perfmon_header_of(const uint8_t *bytes);

/* Size of each type of record; 0 if there is no such type.  For LAST_BRANCH, the size without its
 * branches. */
extern const uint8_t pf_perfmon_sizes[PF_PERFMON_TYPES];

/* Frames the record at `p`, with `left` bytes up to the end of the buffer.  Returns 0, or the
 * damage (PERFILE_DAMAGE_…). */
static inline unsigned pf_perfmon_frame(const uint8_t *p, size_t left, pf_frame *f)
{
    if (left < PF_PERFMON_RECORD_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    const uint8_t type = p[0];
    if (type >= PF_PERFMON_TYPES || !pf_perfmon_sizes[type])
        return PERFILE_DAMAGE_BAD_RECORD_TYPE;
    uint32_t size = pf_perfmon_sizes[type];
    if (type == PF_PERFMON_LAST_BRANCH) {
        if (left < PF_PERFMON_BRANCHES_AT + sizeof(uint32_t))
            return PERFILE_DAMAGE_TRUNCATED_RECORD;
        const uint32_t n = pf_load_u32(p + PF_PERFMON_BRANCHES_AT, pf_perfmon_swap());
        if (n > PF_PERFMON_MOST_BRANCHES)
            return PERFILE_DAMAGE_BAD_BRANCH_COUNT;
        size += n * PF_PERFMON_BRANCH;
    }
    if (size > left)
        return PERFILE_DAMAGE_TRUNCATED_RECORD;
    f->type = PF_TYPE_IN(perfmon, type);
    f->misc = pf_load_u16(p + PF_PERFMON_EVENT_AT, pf_perfmon_swap());
    f->size = size;
    return 0;
}

/* Returns true for a record of this stored type. */
static inline bool pf_perfmon_is(const perfile_record *r, unsigned type)
{
    return r->type == PF_TYPE_OF(PF_FAMILY_AT_perfmon, type) && r->family == PF_FAMILY_AT_perfmon;
}

/* Returns the ticks of a TIME record. */
static inline int64_t pf_perfmon_time(const perfile_record *r)
{
    return (int64_t)pf_load_u64(r->body.ptr, r->flags & PERFILE_REC_SWAPPED);
}

/* Sets the conversion of ticks to ns, as in a TIME_CONV record: time = ticks * mult / 2^shift.
 * Returns false if `ticks_per_second` is not above 0. */
bool pf_perfmon_conversion(int64_t ticks_per_second, uint32_t *shift, uint64_t *mult);

/* A buffer, which is a file of its own. */
typedef struct pf_perfmon_part {
    perfile_source *source;
    char *name; /* name of its file in a directory; NULL if it is the only one */
    uint32_t cpu;
    uint64_t end;                      /* end of its records, as far as it is known */
    unsigned damages;                  /* bits: which header_checks[] of open.c failed */
    uint8_t header[PF_PERFMON_HEADER]; /* as stored */
} pf_perfmon_part;

typedef struct pf_perfmon_stream {
    perfile_stream base;
    char *name;             /* base.name points to it */
    pf_perfmon_part *parts; /* sorted by CPU */
    perfile_part *shown;    /* the parts as the container has them */
    perfile_extent *extents;
    perfile_container_damage *damages;
    uint32_t *cpus;
    uint32_t n_parts;
    uint32_t n_damages;
    uint32_t at;  /* index of the current part */
    uint64_t pos; /* offset of the next record in that part */
    uint64_t time;
    uint64_t sequence;
    bool timed;    /* there was a TIME in the part */
    bool damaged;  /* bytes after `pos` cannot be read */
    bool prepared; /* the slots of the batch have the members common to all records of the part */
} pf_perfmon_stream;

/* Fills the next batch (walk.c). */
perfile_status pf_perfmon_fill(perfile_stream *s, perfile_error *err);

/* The parts of a file name PREFIX.ITERATION.TRACE.cpuperf.  pf_perfmon_name_of() returns false for
 * other names. */
typedef struct pf_perfmon_name {
    size_t prefix; /* its length */
    uint32_t iteration, trace;
} pf_perfmon_name;
bool pf_perfmon_name_of(const char *file, pf_perfmon_name *name);

/* pf_driver.translate: see translate.h. */
perfile_status pf_perfmon_translate(const pf_translation *t, perfile_stream **stream,
                                    perfile_error *err);

perfile_status pf_perfmon_create(perfile_sink *sink, const perfile_writer_options *options,
                                 perfile_writer **writer, perfile_error *err);

#endif
