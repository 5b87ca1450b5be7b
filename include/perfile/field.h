/* Fields for code that does not know the types: every field of a record, feature or attr with its
 * name, meaning, offset and value, in stored order.
 *
 * The walk uses the same rows of format/ as the decoders.  It calls a visitor: `value` for each
 * field, `begin` and `end` around nested structs, lists, and items of lists. */
#ifndef PERFILE_FIELD_H
#define PERFILE_FIELD_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PERFILE_KIND_ADDR … : the meaning of a field; one for each row of format/kinds.def. */
/* clang-format off */
enum {
/* BEGIN made of format/: kinds */
    PERFILE_KIND_DEC = 0, /* a number */
    PERFILE_KIND_COUNT = 1, /* how many items follow (redundant: count the items) */
    PERFILE_KIND_SIZE = 2, /* bytes */
    PERFILE_KIND_HEX = 3, /* opaque or a mask */
    PERFILE_KIND_ADDR = 4, /* an address */
    PERFILE_KIND_RANGE = 5, /* bytes of address space or of a file */
    PERFILE_KIND_PID = 6, /* process */
    PERFILE_KIND_TID = 7, /* thread */
    PERFILE_KIND_CPU = 8, /* CPU number, all ones for none */
    PERFILE_KIND_TIME = 9, /* nanoseconds of the session clock */
    PERFILE_KIND_TIME_BASE = 10, /* time of the session clock at 0 of another, modulo 2^64 */
    PERFILE_KIND_DURATION = 11, /* nanoseconds */
    PERFILE_KIND_WALL = 12, /* nanoseconds since 1970 */
    PERFILE_KIND_TICKS = 13, /* of another clock */
    PERFILE_KIND_EVENT_ID = 14, /* id of an event */
    PERFILE_KIND_STREAM_ID = 15, /* id of an event, not inherited */
    PERFILE_KIND_ATTR_INDEX = 16, /* position of an event in the list of events */
    PERFILE_KIND_BUFFER_INDEX = 17, /* ring buffer number */
    PERFILE_KIND_THREAD_INDEX = 18, /* position in THREAD_MAP */
    PERFILE_KIND_CGROUP_ID = 19, /* cgroup */
    PERFILE_KIND_PMU_TYPE = 20, /* number of a PMU */
    PERFILE_KIND_BPF_ID = 21, /* BPF program or BTF */
    PERFILE_KIND_DEVICE = 22, /* device number */
    PERFILE_KIND_INODE = 23, /* inode */
    PERFILE_KIND_PERIOD = 24, /* events that a sample represents */
    PERFILE_KIND_PATH = 25, /* file name, or [name] of a pseudo file */
    PERFILE_KIND_COMM = 26, /* name of a thread */
    PERFILE_KIND_SYMBOL = 27, /* name of a function */
    PERFILE_KIND_NAME = 28, /* a name */
    PERFILE_KIND_TEXT = 29, /* text */
    PERFILE_KIND_CPU_LIST = 30, /* CPU numbers as 0-3,7 */
    PERFILE_KIND_BUILD_ID = 31, /* ELF build id */
    PERFILE_KIND_OPAQUE = 32, /* bytes that are not looked into */
    PERFILE_KIND_RAW = 33, /* tracepoint or PMU data, in the byte order of the recorded machine */
    PERFILE_KIND_STACK = 34, /* copy of the user stack */
    PERFILE_KIND_CODE = 35, /* machine code */
    PERFILE_KIND_ZSTD = 36, /* compressed records */
    PERFILE_KIND_BULK = 37, /* large data; written as size and CRC-32 */
    PERFILE_KIND_SCALE = 38, /* a factor, bits of a double */
    PERFILE_KIND_REG = 39, /* a register */
    PERFILE_KIND_REGS_MASK = 40, /* which registers are there */
    PERFILE_KIND_REGS_ABI = 41, /* width of the registers */
    PERFILE_KIND_CHAIN = 42, /* addresses, innermost first, with context markers */
    PERFILE_KIND_CONFIG = 43, /* event of a PMU */
    PERFILE_KIND_EVENT_TYPE_ID = 44, /* attr.config, in the lists of old perf */
    PERFILE_KIND_ATTR_TYPE = 45, /* kind of event */
    PERFILE_KIND_SAMPLE_TYPE = 46, /* fields of a sample */
    PERFILE_KIND_READ_FORMAT = 47, /* fields of counter values */
    PERFILE_KIND_BRANCH_TYPE = 48, /* which branches are recorded */
    PERFILE_KIND_ATTR_FLAGS = 49, /* C bit-fields, mirrored in big-endian files */
    PERFILE_KIND_BRANCH_FLAGS = 50, /* C bit-fields, mirrored in big-endian files */
    PERFILE_KIND_DATA_SRC = 51, /* where the data of a memory access came from */
    PERFILE_KIND_TXN = 52, /* transactional memory */
    PERFILE_KIND_BP_TYPE = 53, /* breakpoint access */
    PERFILE_KIND_CLOCKID = 54, /* POSIX clock */
    /* POSIX clock, where the flag use_clockid is set; else nothing */
    PERFILE_KIND_EVENT_CLOCKID = 55,
    PERFILE_KIND_AUX_ACTION = 56, /* what an event does to the AUX area */
    PERFILE_KIND_AUX_FLAGS = 57, /* state of an AUX area span */
    PERFILE_KIND_PROT = 58, /* PROT_ bits */
    PERFILE_KIND_MAP_FLAGS = 59, /* MAP_ bits */
    PERFILE_KIND_KSYM_TYPE = 60, /* kind of kernel symbol */
    PERFILE_KIND_KSYM_FLAGS = 61, /* kernel symbol event */
    PERFILE_KIND_BPF_TYPE = 62, /* BPF program event */
    PERFILE_KIND_CPU_MAP_TYPE = 63, /* form of a set of CPUs */
    PERFILE_KIND_AUXTRACE_TYPE = 64, /* instruction tracer */
    PERFILE_KIND_UPDATE_TYPE = 65, /* what is said about an event */
    PERFILE_KIND_ROUND_TYPE = 66, /* interval or total */
    PERFILE_KIND_STAT_TAG = 67, /* setting of perf stat */
    PERFILE_KIND_COMPRESSION = 68, /* compression method */
    PERFILE_KIND_FEATURE_ID = 69, /* number of a feature section */
    PERFILE_KIND_DSO_TYPE = 70, /* kind of mapped object */
    PERFILE_KIND_CHAIN_TYPE = 71, /* how a call chain was made */
    PERFILE_KIND_E_MACHINE = 72, /* ELF machine */
    PERFILE_KIND_BUILD_ID_MISC = 73, /* misc of a build id record */
    PERFILE_KIND_PERFMON_ARCH = 75, /* architecture of a perfmon buffer */
    PERFILE_KIND_PERFMON_FLAGS = 76, /* state of a perfmon buffer */
    PERFILE_KIND_GROUP = 74, /* fields that belong together */
    PERFILE_N_KINDS = 77, /* of this version */
/* END made of format/ */
};
/* clang-format on */

/* How numbers of a kind are written. */
enum {
    PERFILE_BASE_DEC = 0,
    PERFILE_BASE_HEX = 1,
    PERFILE_BASE_TEXT = 2,
    PERFILE_BASE_BYTES = 3,
    PERFILE_BASE_SCALE = 4,
    PERFILE_BASE_GROUP = 5
};

/* How a field is stored. */
enum {
    PERFILE_STORED_U8 = 0,
    PERFILE_STORED_U16 = 1,
    PERFILE_STORED_U32 = 2,
    PERFILE_STORED_U64 = 3,
    PERFILE_STORED_S32 = 4,
    PERFILE_STORED_TEXT = 5,    /* characters; value.bytes is the text without NUL and padding */
    PERFILE_STORED_BLOB = 6,    /* bytes */
    PERFILE_STORED_WORDS = 7,   /* integers: value.words; `element` is their type */
    PERFILE_STORED_STRINGS = 8, /* strings: value.strings */
    PERFILE_STORED_STRUCT = 9,  /* begin and end */
    PERFILE_STORED_LIST = 10,   /* begin and end; its items are begin and end with type ITEM */
    PERFILE_STORED_ITEM = 11,
    PERFILE_STORED_S64 = 12
};

/* perfile_field.flags */
enum {
    PERFILE_FIELD_CALC = 1 << 0, /* computed, not stored: has no offset */
    PERFILE_FIELD_FLAT = 1 << 1, /* a STRUCT with fields that belong to the outer layout */
    PERFILE_FIELD_PAD = 1 << 2   /* padding: walked only with PERFILE_WALK_PADDING */
};

/* One part of a word: a bit, or a number of `width` bits at `shift` (as numbered in a
 * little-endian file). */
typedef struct perfile_bits {
    const char *name;                        /* of this part of the word */
    const struct perfile_vocabulary *values; /* names of its values; n is 0 if it has none */
    uint8_t shift;                           /* of its lowest bit */
    uint8_t width;                           /* in bits */
    uint64_t reserved[1];
} perfile_bits;

/* A value that has a name. */
typedef struct perfile_word_name {
    uint64_t value;   /* the number */
    const char *name; /* its name */
} perfile_word_name;

/* Names for the values of a kind: parts of a word, or whole values. */
typedef struct perfile_vocabulary {
    const char *name;               /* as in format/words.def */
    const perfile_bits *bits;       /* n of them if it is a set of parts, else NULL */
    const perfile_word_name *words; /* n of them if it names whole values, else NULL */
    uint32_t n;                     /* items of `bits` or `words` */
} perfile_vocabulary;

/* A row of a table. */
typedef struct perfile_field {
    const char *name; /* JSON key and filter name */
    const char *doc;  /* description, in a few words */
    uint8_t type;     /* PERFILE_STORED_U8 … */
    uint8_t element;  /* of WORDS: PERFILE_STORED_U16 … */
    uint8_t kind;     /* PERFILE_KIND_… */
    uint8_t flags;    /* PERFILE_FIELD_… */
} perfile_field;

/* A field of a record that is being walked. */
typedef struct perfile_value {
    uint64_t offset; /* from the first byte of the record's header, or of the feature's payload */
    uint64_t width;  /* bytes as stored, padding of text included; 0 for CALC */
    uint64_t number; /* of integers; S32 is sign-extended, S64 as its bits; attr and branch flags as
                      * in a little-endian file */
    union {
        perfile_bytes bytes; /* TEXT, BLOB */
        perfile_words words;
        perfile_strings strings;
        uint64_t count; /* LIST: items, UINT64_MAX if up to the end; ITEM: its position */
    } u;                /* by the type of the field */
} perfile_value;

/* Receives the fields of a record, in stored order. */
typedef struct perfile_visitor {
    size_t size;
    /* A field that is not a list. */
    void (*value)(void *user, const perfile_field *field, const perfile_value *value);
    /* A list or one of its items begins … */
    void (*begin)(void *user, const perfile_field *field, const perfile_value *value);
    /* … and ends. */
    void (*end)(void *user, const perfile_field *field);
} perfile_visitor;

enum { /* options of a walk */
       PERFILE_WALK_ALL = 0,
       /* Only fields that format/dump.cddl names; other parts come as BLOB fields called "data". */
       PERFILE_WALK_CONTRACT = 1 << 0,
       PERFILE_WALK_PADDING = 1 << 1, /* padding too, as BLOB fields called "pad" */
       PERFILE_WALK_TRAILER = 1 << 2  /* of a record: its trailer, not its body */
};

/* Walks the body of a record, without the trailer, or with PERFILE_WALK_TRAILER its trailer alone:
 * PERFILE_END if the record has none.  The body of an unknown type is one BLOB "data".  On failure
 * err.damage tells why, and the visitor has seen the fields before the one that could
 * not be read. */
PERFILE_API perfile_status perfile_record_walk(const perfile_record *r, uint32_t flags,
                                               const perfile_visitor *visitor, void *user,
                                               perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Walks the trailer of a record.  PERFILE_END: the record has none. */
static inline perfile_status perfile_record_walk_trailer(const perfile_record *r, uint32_t flags,
                                                         const perfile_visitor *visitor, void *user,
                                                         perfile_error *err)
{
    return perfile_record_walk(r, flags | PERFILE_WALK_TRAILER, visitor, user, err);
}
#endif

/* Walks a feature section; one without a row in format/ is one BLOB "data". */
PERFILE_API perfile_status perfile_feature_walk(const perfile_feature *feature, uint32_t flags,
                                                const perfile_visitor *visitor, void *user,
                                                perfile_error *err);

/* Walks an attr as stored. */
PERFILE_API perfile_status perfile_attr_walk(perfile_bytes stored, bool swapped, uint32_t flags,
                                             const perfile_visitor *visitor, void *user,
                                             perfile_error *err);

/* Gets the feature in a HEADER_FEATURE record.  PERFILE_E_USAGE for other records. */
PERFILE_API perfile_status perfile_record_feature(const perfile_record *r, perfile_feature *feature,
                                                  perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Returns the name of a feature, "HOSTNAME" for 3; NULL for numbers that have no row in format/. */
static inline const char *perfile_feature_name(uint32_t number)
{
    return perfile_name(PERFILE_NAME_FEATURE, number);
}

/* Returns the name of a kind in lower case, "addr" for PERFILE_KIND_ADDR. */
static inline const char *perfile_kind_name(unsigned kind)
{
    return perfile_name(PERFILE_NAME_KIND, kind);
}

/* Returns the meaning of a kind. */
static inline const char *perfile_kind_doc(unsigned kind)
{
    return perfile_name(PERFILE_NAME_KIND_DOC, kind);
}

/* Returns how numbers of a kind are written: PERFILE_BASE_…. */
static inline unsigned perfile_kind_base(unsigned kind)
{
    unsigned base = 0;
    perfile_row(PERFILE_ROW_KIND_BASE, kind, 0, &base, sizeof base);
    return base;
}

/* Returns the vocabulary of a kind, or NULL. */
static inline const perfile_vocabulary *perfile_kind_words(unsigned kind)
{
    const perfile_vocabulary *row = NULL;
    perfile_row(PERFILE_ROW_KIND_WORDS, kind, 0, &row, sizeof row);
    return row;
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the word for a value, or NULL. */
static inline const char *perfile_vocabulary_word(const perfile_vocabulary *v, uint64_t value)
{
    uint32_t i;
    for (i = 0; v->words && i < v->n; i++)
        if (v->words[i].value == value)
            return v->words[i].name;
    return NULL;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
