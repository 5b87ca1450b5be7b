/* The formats as data: families of records, record types, features, the structs they decode to, and
 * the members of these structs.
 *
 * For programs that do not name types in their source: bindings, exporters, documentation.
 * Everything comes from the rows of format/, like the structs of records.h, and is static: strings
 * and structs live as long as the program.  Kinds and their words are in field.h, rules in check.h,
 * the names for conditions in expr.h.
 *
 *     perfile_record_type t;
 *     perfile_member m;
 *     for (size_t i = 0; perfile_record_type_at(PERFILE_FAMILY_PERF, i, &t, sizeof t); i++)
 *         for (size_t k = 0; perfile_struct_member(t.decoded, k, &m, sizeof m); k++)
 *             printf("%s.%s: %s\n", t.name, m.name, m.doc);
 *
 * Positions change with the version of the library; numbers and names do not. */
#ifndef PERFILE_CATALOGUE_H
#define PERFILE_CATALOGUE_H

#include "field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A struct that records, features or parts of them decode to, for instance perfile_mmap2.  The
 * library makes them; more members may follow these. */
typedef struct perfile_struct {
    const char *name; /* without "perfile_" */
    size_t bytes;     /* its sizeof in this version of the library */
} perfile_struct;

/* A set of record types with one kind of header. */
typedef struct perfile_family {
    uint32_t number;       /* PERFILE_FAMILY_…: perfile_record.family */
    uint32_t header_bytes; /* bytes of the header that precedes the body of every record */
    const char *name;      /* "perf" */
    uint64_t reserved[4];
} perfile_family;

#ifndef PERFILE_DECLARATIONS
/* Gets the family at `position`: fills the first `size` bytes of *out; returns false after the
 * last. */
static inline bool perfile_family_at(size_t position, perfile_family *out, size_t size)
{
    return perfile_row(PERFILE_ROW_FAMILY, 0, position, out, size);
}
#endif

/* A record type. */
typedef struct perfile_record_type {
    uint32_t number;   /* perfile_record.type */
    uint32_t family;   /* PERFILE_FAMILY_… */
    const char *name;  /* "MMAP2" */
    const char *doc;   /* description, in a few words */
    const char *since; /* first perf version that knows it, "3.12"; NULL: none, or other family */
    const perfile_struct *decoded; /* what perfile_decode() fills */
    uint64_t reserved[4];
} perfile_record_type;

#ifndef PERFILE_DECLARATIONS
/* Gets the record type at `position` in a family; returns false after the last, or if there is no
 * such family. */
static inline bool perfile_record_type_at(uint32_t family, size_t position,
                                          perfile_record_type *out, size_t size)
{
    return perfile_row(PERFILE_ROW_RECORD_TYPE, family, position, out, size);
}
#endif

/* A feature section. */
typedef struct perfile_feature_type {
    uint32_t number; /* PERFILE_FEATURE_… */
    uint32_t reserved0;
    const char *name;              /* "HOSTNAME" */
    const char *doc;               /* description, in a few words */
    const perfile_struct *decoded; /* what perfile_decode_feature() fills */
    uint64_t reserved[4];
} perfile_feature_type;

#ifndef PERFILE_DECLARATIONS
/* Gets the feature at `position`, in ascending order of number; returns false after the last. */
static inline bool perfile_feature_type_at(size_t position, perfile_feature_type *out, size_t size)
{
    return perfile_row(PERFILE_ROW_FEATURE_TYPE, 0, position, out, size);
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the struct at `position`; NULL after the last.  Several may have the same name: the first
 * is the one that lists have. */
static inline const perfile_struct *perfile_struct_at(size_t position)
{
    const perfile_struct *row = NULL;
    perfile_row(PERFILE_ROW_STRUCT, 0, position, &row, sizeof row);
    return row;
}

/* Returns the first struct with this name, without "perfile_": "attr", "sample_id", "read_values",
 * "mmap2", "hostname"; NULL if there is none. */
static inline const perfile_struct *perfile_struct_find(const char *name)
{
    size_t i;
    const perfile_struct *s;
    for (i = 0; (s = perfile_struct_at(i)) != NULL && strcmp(s->name, name) != 0; i++)
        ;
    return s;
}
#endif

/* perfile_member.has of a member without a `has_…` member. */
#define PERFILE_NO_MEMBER UINT32_MAX

/* A member of a decoded struct.
 *
 * `type` tells the C type at `offset`: for PERFILE_STORED_U8 to S32 an integer of that width in
 * native byte order, for TEXT and BLOB a perfile_bytes, for WORDS a perfile_words, for STRINGS a
 * perfile_strings, for LIST a perfile_list, for STRUCT the struct `of` itself. */
typedef struct perfile_member {
    const char *name; /* in C and JSON; members of a FLAT struct belong to the outer struct */
    const char *doc;  /* description, in a few words */
    const perfile_struct *of; /* type of a STRUCT, or of the elements of a LIST; else NULL */
    uint32_t type;            /* PERFILE_STORED_… */
    uint32_t element;         /* of WORDS: PERFILE_STORED_U16 … */
    uint32_t kind;            /* PERFILE_KIND_… */
    uint32_t flags;           /* PERFILE_FIELD_CALC, PERFILE_FIELD_FLAT */
    uint32_t offset;          /* bytes from the beginning of the struct */
    uint32_t has;             /* offset of its `has_…` bool, or PERFILE_NO_MEMBER */
    uint64_t sample_bit; /* PERFILE_SAMPLE_…: it is present if `present` has that bit; 0: no bit */
    uint32_t list;       /* of a LIST: PERFILE_LIST_…, for perfile_next(); else 0 */
    uint32_t reserved0;
    uint64_t reserved[3];
} perfile_member;

/* Gets the member at `position`, in stored order; returns false after the last. */
PERFILE_API bool perfile_struct_member(const perfile_struct *of, size_t position,
                                       perfile_member *out, size_t size);

#ifndef PERFILE_DECLARATIONS
/* Returns true if a member is present in `decoded`, a struct that the library filled.  Members that
 * are not present are zero. */
static inline bool perfile_member_is_there(const perfile_member *member, const void *decoded)
{
    /* `present` is the first member of both structs that have such bits. */
    if (member->sample_bit && !(*(const uint64_t *)decoded & member->sample_bit))
        return false;
    return member->has == PERFILE_NO_MEMBER || *((const bool *)decoded + member->has);
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the value of an integer member (S32 sign-extended, S64 as its bits); 0 for other types.
 */
static inline uint64_t perfile_member_number(const perfile_member *member, const void *decoded)
{
    const void *at = (const uint8_t *)decoded + member->offset;
    switch (member->type) {
    case PERFILE_STORED_U8:
        return *(const uint8_t *)at;
    case PERFILE_STORED_U16:
        return *(const uint16_t *)at;
    case PERFILE_STORED_U32:
        return *(const uint32_t *)at;
    case PERFILE_STORED_S32:
        return (uint64_t)(int64_t) * (const int32_t *)at;
    case PERFILE_STORED_U64:
    case PERFILE_STORED_S64:
        return *(const uint64_t *)at;
    default:
        return 0;
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
