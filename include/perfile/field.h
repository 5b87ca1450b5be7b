/* Fields for those who do not know the types: every field of a record, feature or attr with its
 * name, meaning, place and value, in stored order.
 *
 * The walk reads the same rows of format/ as the decoders.  It calls a visitor: `value` for each
 * field, `begin` and `end` around nested structs, lists, and the items of lists. */
#ifndef PERFILE_FIELD_H
#define PERFILE_FIELD_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PERFILE_KIND_ADDR … : what a field means; one for each row of format/kinds.def. */
enum {
#define KIND(id, name, base, words, doc) PERFILE_KIND_##id,
#include "perfile/format/kinds.def"
    PERFILE_N_KINDS
};

/* How numbers of a kind are written. */
enum {
    PERFILE_BASE_DEC = 0,
    PERFILE_BASE_HEX,
    PERFILE_BASE_TEXT,
    PERFILE_BASE_BYTES,
    PERFILE_BASE_SCALE,
    PERFILE_BASE_GROUP
};

/* How a field is stored. */
enum {
    PERFILE_U8 = 0,
    PERFILE_U16,
    PERFILE_U32,
    PERFILE_U64,
    PERFILE_S32,
    PERFILE_TEXT,    /* characters; value.bytes is the text without NUL and padding */
    PERFILE_BLOB,    /* bytes */
    PERFILE_WORDS,   /* integers: value.words; `element` is their type */
    PERFILE_STRINGS, /* strings: value.strings */
    PERFILE_STRUCT,  /* begin and end */
    PERFILE_LIST,    /* begin and end; its items are begin and end with type ITEM */
    PERFILE_ITEM
};

/* perfile_field.flags */
enum {
    PERFILE_FIELD_CALC = 1 << 0, /* worked out, not stored: has no place */
    PERFILE_FIELD_FLAT = 1 << 1, /* a STRUCT whose fields count as those of the layout around it */
    PERFILE_FIELD_PAD = 1 << 2   /* padding: walked only when asked for */
};

/* One part of a word: a bit, or a number of `width` bits at `shift` (as numbered in a
 * little-endian file). */
typedef struct perfile_bits {
    const char *name;
    const struct perfile_vocabulary *values; /* names of its values; n is 0 when it has none */
    uint8_t shift;
    uint8_t width;
} perfile_bits;

typedef struct perfile_word_name {
    uint64_t value;
    const char *name;
} perfile_word_name;

/* Names for the values of a kind: parts of a word, or whole values. */
typedef struct perfile_vocabulary {
    const char *name;
    const perfile_bits *bits;       /* n of them when it is a set of parts, else NULL */
    const perfile_word_name *words; /* n of them when it names whole values, else NULL */
    uint32_t n;
} perfile_vocabulary;

/* A row of a table. */
typedef struct perfile_field {
    const char *name; /* JSON key and filter name */
    const char *doc;
    uint8_t type;    /* PERFILE_U8 … */
    uint8_t element; /* of WORDS: PERFILE_U16 … */
    uint8_t kind;    /* PERFILE_KIND_… */
    uint8_t flags;   /* PERFILE_FIELD_… */
} perfile_field;

/* A field of a record that is being walked. */
typedef struct perfile_value {
    uint64_t offset; /* from the first byte of the record's header, or of the feature's payload */
    uint64_t width;  /* bytes as stored, padding of text included; 0 for CALC */
    uint64_t number; /* of integers; S32 is sign-extended; attr and branch flags as in a
                      * little-endian file */
    union {
        perfile_bytes bytes; /* TEXT, BLOB */
        perfile_words words;
        perfile_strings strings;
        uint64_t count; /* LIST: items, UINT64_MAX when up to the end; ITEM: its position */
    } u;
} perfile_value;

typedef struct perfile_visitor {
    size_t size;
    void (*value)(void *user, const perfile_field *field, const perfile_value *value);
    void (*begin)(void *user, const perfile_field *field, const perfile_value *value);
    void (*end)(void *user, const perfile_field *field);
} perfile_visitor;

enum { /* what is walked */
       PERFILE_WALK_ALL = 0,
       /* Only what the contract of `dump --format jsonl` names; parts that it does not name come as
        * BLOB fields called "data". */
       PERFILE_WALK_CONTRACT = 1 << 0,
       PERFILE_WALK_PADDING = 1 << 1 /* padding too, as BLOB fields called "pad" */
};

/* Walks the body of a record (the trailer is not part of it).  Unknown types are one BLOB "data".
 * On failure err.damage says why, and the visitor has seen the fields before the place that
 * could not be read. */
PERFILE_API perfile_status perfile_record_walk(const perfile_record *r, uint32_t flags,
                                               const perfile_visitor *visitor, void *user,
                                               perfile_error *err);

/* Walks the trailer.  PERFILE_END when the record has none. */
PERFILE_API perfile_status perfile_record_walk_trailer(const perfile_record *r, uint32_t flags,
                                                       const perfile_visitor *visitor, void *user,
                                                       perfile_error *err);

/* Walks a feature section; one without a row in format/ is one BLOB "data". */
PERFILE_API perfile_status perfile_feature_walk(const perfile_feature *feature, uint32_t flags,
                                                const perfile_visitor *visitor, void *user,
                                                perfile_error *err);

/* Walks an attr as stored. */
PERFILE_API perfile_status perfile_attr_walk(perfile_bytes stored, bool swapped, uint32_t flags,
                                             const perfile_visitor *visitor, void *user,
                                             perfile_error *err);

/* The feature that a HEADER_FEATURE record carries.  PERFILE_E_USAGE for other records. */
PERFILE_API perfile_status perfile_record_feature(const perfile_record *r, perfile_feature *feature,
                                                  perfile_error *err);

/* "HOSTNAME" for 3; NULL for numbers that have no row in format/. */
PERFILE_API const char *perfile_feature_name(uint32_t number);
/* Whether the contract of `dump --format jsonl` names this type or feature. */
PERFILE_API bool perfile_record_type_in_contract(uint32_t type);
PERFILE_API bool perfile_feature_in_contract(uint32_t number);

/* "addr" for PERFILE_KIND_ADDR, in lower case; what it means; how it is written; its words or NULL.
 */
PERFILE_API const char *perfile_kind_name(unsigned kind);
PERFILE_API const char *perfile_kind_doc(unsigned kind);
PERFILE_API unsigned perfile_kind_base(unsigned kind);
PERFILE_API const perfile_vocabulary *perfile_kind_words(unsigned kind);

/* The vocabulary of that name in format/words.def, or NULL; the word for a value, or NULL. */
PERFILE_API const perfile_vocabulary *perfile_vocabulary_find(const char *name);
PERFILE_API const char *perfile_vocabulary_word(const perfile_vocabulary *v, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
