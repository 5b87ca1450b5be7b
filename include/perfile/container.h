/* The layout of a capture: which part is at which offset of its file. */
#ifndef PERFILE_CONTAINER_H
#define PERFILE_CONTAINER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERFILE_FORM_NONE = 0, /* not readable */
    PERFILE_FORM_FILE = 1, /* header, sections, feature table */
    PERFILE_FORM_PIPE = 2  /* a 16-byte header, then records only */
};

enum {
    PERFILE_EXTENT_HEADER = 1,
    PERFILE_EXTENT_IDS = 2, /* `number`: index of the attr */
    PERFILE_EXTENT_ATTRS = 3,
    PERFILE_EXTENT_EVENT_TYPES = 4,
    PERFILE_EXTENT_RECORDS = 5, /* `number`: part */
    PERFILE_EXTENT_FEATURE_TABLE = 6,
    PERFILE_EXTENT_FEATURE = 7, /* `number`: feature */
    PERFILE_EXTENT_GAP = 8,     /* between parts */
    PERFILE_EXTENT_TAIL = 9     /* after all parts */
};

/* A range of bytes in a file. */
typedef struct perfile_section {
    uint64_t offset; /* of the first byte, in the file */
    uint64_t size;   /* in bytes */
} perfile_section;

/* A part of the file.  Extents are sorted by offset, then length. */
typedef struct perfile_extent {
    uint64_t offset; /* of the first byte, in the file */
    uint64_t length; /* in bytes */
    uint32_t role;   /* PERFILE_EXTENT_… */
    uint32_t number; /* index among parts of this role: number of the feature, attr … */
    bool overlaps;   /* shares bytes with another extent */
    bool outside;    /* extends past the end of the file */
    uint64_t reserved[2];
} perfile_extent;

/* Damage found before the first record.  Damage of attrs and features is not here but in
 * perfile_event and perfile_feature. */
typedef struct perfile_container_damage {
    uint32_t damage; /* PERFILE_DAMAGE_… */
    uint32_t role;   /* PERFILE_EXTENT_… of the damaged part */
    uint64_t offset; /* in the file */
    uint64_t reserved[2];
} perfile_container_damage;

/* A file of the capture.  A directory has several (`data`, `data.0`, …). */
typedef struct perfile_part {
    const char *name;     /* NULL for a capture that is one file */
    uint64_t size;        /* bytes of the file, UINT64_MAX when not known (a pipe) */
    perfile_bytes header; /* as stored, if there are no members for its content */
    uint32_t cpu;         /* CPU that the file was recorded on */
    bool has_cpu;         /* `cpu` is valid */
    uint64_t reserved[2];
} perfile_part;

/* What the header, sections and files say, apart from the records.  Numbers are native; all
 * pointers live as long as the stream. */
typedef struct perfile_container {
    uint32_t form;         /* PERFILE_FORM_… */
    uint32_t version;      /* 1 or 2; 0 when there is no header */
    uint32_t byte_order;   /* PERFILE_BYTE_ORDER_LITTLE or _BIG */
    bool directory;        /* a directory of files */
    bool has_sections;     /* form FILE with a complete header: the members below are valid */
    uint64_t magic;        /* as a little-endian number */
    uint64_t header_size;  /* as stored */
    uint64_t attr_size;    /* bytes of an entry of `attrs`, the position of its ids included */
    perfile_section attrs; /* attrs, each with the position of its ids */
    perfile_section data;  /* records */
    perfile_section event_types;   /* names of events (version 1) */
    uint64_t features[4];          /* bit n of the 256: feature n is declared */
    bool unterminated;             /* the recording was not finished; features are ignored */
    uint32_t n_extents;            /* items of `extents` */
    const perfile_extent *extents; /* parts of the file */
    uint32_t n_damages;            /* items of `damages` */
    const perfile_container_damage *damages; /* damage in the header and its tables */
    uint32_t n_parts;                        /* items of `parts` */
    const perfile_part *parts;               /* files of the capture */
    const char *format;                      /* "perf.data" …; see perfile_open_options.from */
    uint32_t family;                         /* PERFILE_FAMILY_… of its records */
} perfile_container;

#ifdef __cplusplus
}
#endif

#endif
