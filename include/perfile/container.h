/* Where each part of a capture lies in its file. */
#ifndef PERFILE_CONTAINER_H
#define PERFILE_CONTAINER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERFILE_FORM_NONE = 0, /* nothing that could be read */
    PERFILE_FORM_FILE = 1, /* header, sections, feature table */
    PERFILE_FORM_PIPE = 2  /* a 16-byte header, then records only */
};

enum {
    PERFILE_ROLE_HEADER = 1,
    PERFILE_ROLE_IDS = 2, /* `number`: index of the attr */
    PERFILE_ROLE_ATTRS = 3,
    PERFILE_ROLE_EVENT_TYPES = 4,
    PERFILE_ROLE_RECORDS = 5, /* `number`: part */
    PERFILE_ROLE_FEATURE_TABLE = 6,
    PERFILE_ROLE_FEATURE = 7, /* `number`: feature */
    PERFILE_ROLE_GAP = 8,     /* between parts */
    PERFILE_ROLE_TAIL = 9     /* behind all parts */
};

typedef struct perfile_section {
    uint64_t offset;
    uint64_t size;
} perfile_section;

/* A part of the file.  Sorted by offset, then length. */
typedef struct perfile_extent {
    uint64_t offset;
    uint64_t length;
    uint32_t role; /* PERFILE_ROLE_… */
    uint32_t number;
    bool overlaps; /* shares bytes with another extent */
    bool outside;  /* ends behind the end of the file */
} perfile_extent;

/* Damage found before the first record.  That of attrs and features stands with them. */
typedef struct perfile_container_damage {
    uint32_t damage; /* PERFILE_DAMAGE_… */
    uint32_t role;   /* of the part that is damaged */
    uint64_t offset;
} perfile_container_damage;

/* A file of the capture: one, or several in a directory (`data`, `data.0`, …). */
typedef struct perfile_part {
    const char *name; /* NULL for a capture that is one file */
    uint64_t size;    /* bytes of the file, UINT64_MAX when not known (a pipe) */
} perfile_part;

typedef struct perfile_container {
    uint32_t form;    /* PERFILE_FORM_… */
    uint32_t version; /* 1 or 2; 0 when there is no header */
    bool big_endian;
    bool directory;
    bool has_sections;    /* form FILE: the header is whole, the members below are there */
    uint64_t magic;       /* as a little-endian number */
    uint64_t header_size; /* as stored */
    uint64_t attr_size;
    perfile_section attrs;
    perfile_section data;
    perfile_section event_types;
    uint64_t features[4]; /* bit n of the whole: feature n is declared */
    bool unterminated;    /* the recording was not finished: features are not looked at */
    uint32_t n_extents;
    const perfile_extent *extents;
    uint32_t n_damages;
    const perfile_container_damage *damages;
    uint32_t n_parts;
    const perfile_part *parts;
    const char *format; /* "perf.data": as perfile_options.from and perfile_writer_options.format */
    uint32_t family;    /* PERFILE_FAMILY_… of its records */
} perfile_container;

#ifdef __cplusplus
}
#endif

#endif
