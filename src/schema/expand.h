/* Macros and helpers that the expansions of a table share.
 *
 * A table of format/ is included several times, each time after an .inc file that defines its
 * keywords differently: decode.inc makes decoders, walk.inc makes walks, and so on.  The keywords
 * paste the stored type of a field into a macro name, and those macros are here: SHOW_u32 passes a
 * field to the visitor of a walk, PUT_u32 writes it, DIFFER_u32 compares it, BYTESWAP_u32 writes it
 * in the other byte order (GET_u32, which reads it, is in types.h).  The functions that the macros
 * call are defined next to the expansions of perf's own tables: walk.c, decode.c, encode.c, swap.c.
 * A room with a table of its own (family.inc) uses the same ones.
 *
 * A new stored type needs one macro in each of these sets. */
#ifndef PF_SCHEMA_EXPAND_H
#define PF_SCHEMA_EXPAND_H

#include "schema/rows.h"

/* Expands to its second argument.  This turns a pasted name into a lookup.  PF_IS_PID_pid is
 * defined as "~, VALUE", so PF_SECOND(PF_IS_##kind##_##name, 0, 0) expands to VALUE for it.  An
 * undefined name is one argument, and the second is the following 0. */
#define PF_SECOND(...)          PF_SECOND_OF(__VA_ARGS__)
#define PF_SECOND_OF(a, b, ...) b

/* The bits of pf_row.has that follow from the kind and name of a field, from the length of a
 * string, or from the kind of a blob.  rows.inc uses them through PF_SECOND(): a combination that
 * is not listed here gives 0. */
#define PF_IS_TIME_time   ~, PF_HAS_TIME
#define PF_IS_PID_pid     ~, PF_HAS_PID
#define PF_IS_TID_tid     ~, PF_HAS_TID
#define PF_IS_CPU_cpu     ~, PF_HAS_CPU
#define PF_STRING_OF_LEFT ~, PF_HAS_STRING
#define PF_SLACK_OF_STACK ~, PF_HAS_SLACK

/* The same bits for structs, which other tables use. */
#include "schema/rows.inc"
#include "perfile/format/structs.def"

/* Layouts with the member `present` in their struct: their decoders store it at the end.
 * decode.inc uses this through PF_SECOND(); all other layouts store nothing. */
#define PF_PRESENT_IN_sample    ~, o->present = present
#define PF_PRESENT_IN_sample_id ~, o->present = present

/* The marks of a RECORD row as tables spell them: bits PF_ROW_… of schema/rows.h. */
enum {
    NONE = 0,
    FIRST = PF_ROW_FIRST,
    SECTION = PF_ROW_SECTION,
    BEHIND = PF_ROW_BEHIND,
    BEHIND_PADDED = PF_ROW_BEHIND_PADDED,
    ENVELOPE = PF_ROW_ENVELOPE,
    FRAGMENT = PF_ROW_FRAGMENT,
    FRAGMENT_END = PF_ROW_FRAGMENT_END,
    AUX_TRACE = PF_ROW_AUX_TRACE,
    STAT_RUN = PF_ROW_STAT_RUN,
    STATE = PF_ROW_STATE
};

/* The initializer of a pf_row for one RECORD, with members in the order of that struct. */
#define PF_RECORD_ROW(id, number, name, fixed, contract, role, since, marks, doc)                  \
    {number,                                                                                       \
     fixed,                                                                                        \
     PF_ROLE_##role,                                                                               \
     PF_PERF_##since,                                                                              \
     marks,                                                                                        \
     PF_HAS_##id,                                                                                  \
     PF_HAS_##id & ~PF_HAS_SLACK ? pf_own_##id : NULL,                                             \
     PF_##contract,                                                                                \
     #name,                                                                                        \
     doc,                                                                                          \
     sizeof(perfile_##id),                                                                         \
     PF_ROW_FUNCTIONS(id)},
#define PF_CONTRACT true
#define PF_BEYOND   false

/* The fields that are the time, process, thread or CPU of a record: their kind and name are both
 * listed here.  rows.inc uses this through PF_SECOND(); `v` is the decoded struct. */
#define PF_OWN_TIME_time ~, pf_own_take_time(own, v->time)
#define PF_OWN_PID_pid   ~, pf_own_take_pid(own, (uint32_t)v->pid)
#define PF_OWN_TID_tid   ~, pf_own_take_tid(own, (uint32_t)v->tid)
#define PF_OWN_CPU_cpu   ~, pf_own_take_cpu(own, (uint32_t)v->cpu)

static inline void pf_own_take_time(pf_own *own, uint64_t time)
{
    own->has_time = true;
    own->time = time;
}

static inline void pf_own_take_pid(pf_own *own, uint32_t pid)
{
    own->has_pid = true;
    own->pid = pid;
}

static inline void pf_own_take_tid(pf_own *own, uint32_t tid)
{
    own->has_tid = true;
    own->tid = tid;
}

/* All ones in a `cpu` field means that the record belongs to no CPU. */
static inline void pf_own_take_cpu(pf_own *own, uint32_t cpu)
{
    own->has_cpu = cpu != UINT32_MAX;
    own->cpu = cpu;
}

/* Encoders compute the members that count something.  PF_COUNTED_##count pastes onto the first
 * token of the count in the table: `o->nr` gives PF_COUNTED_o followed by `->nr`, which expands so
 * that the member is the second argument of PF_SECOND().  Any other expression leaves `uncounted`,
 * an unused local variable, as the target of the assignment. */
#define PF_COUNTED_o                        ~, o
#define PF_COUNTED_PF_AT_MOST(member, n)    ~, o->member
#define PF_COUNTED_PF_GIVEN(has, member, n) ~, PF_IF_PRESENT(has, member)
#define PF_COUNTED_PF_BUILD_ID_SIZE(member) ~, PF_IF_PRESENT(has_size, member)
/* The member that receives the count.  If the member is not present, it is set to 0, and the count
 * is stored in an unused temporary. */
#define PF_IF_PRESENT(has, member)                                                                 \
    *(o->has ? &o->member : (o->member = 0, &(__typeof__(o->member)){0}))
#define PF_SETTLE(n, ...)           PF_SETTLE_MEMBER(n, PF_SECOND(__VA_ARGS__, uncounted, ~))
#define PF_SETTLE_MEMBER(n, member) (member) = (__typeof__(member))(n);

/* PF_WIDTH_branch_entry …: bytes of a layout in the input.  Each member of variable size adds
 * PF_VARIABLE, so a value of at least PF_VARIABLE means that the size depends on the input. */
#define PF_WIDTHS
enum {
#include "schema/rows.inc"
#include "perfile/format/structs.def"
#include "schema/rows.inc"
#include "perfile/format/features.def"
    PF_WIDTH_none
};
#undef PF_WIDTHS

/* The pf_row_shape of a layout that is never in a list. */
#define PF_ROW_SHAPE(id) {#id, sizeof(perfile_##id), shape_##id, 0},

/* HAND layouts: their bounds differ from the bounds of the enclosing layout.
 *
 * pf_bound_NAME() looks ahead without moving the outer cursor, and returns the cursor and context
 * for reading the members; on damage the inner cursor is bad.  pf_bound_close() then moves the
 * outer cursor after the layout, or makes it bad.  Decoders, walks and byte-swappers all use these
 * functions. */

typedef struct pf_bounds {
    pf_context k;
    pf_cursor c;
    const uint8_t *after; /* new position of the outer cursor; NULL: the end of the members */
} pf_bounds;

/* An attr ends where its own size says.  If the space for it is known (k->attr_size: attrs section,
 * EVENT_DESC), it limits the size; in a HEADER_ATTR record the size must be right. */
pf_bounds pf_bound_attr(const pf_context *k, pf_cursor *c);

/* A BUILD_ID entry ends where its header says, and the header has the misc bits of its body. */
pf_bounds pf_bound_build_id_entry(const pf_context *k, pf_cursor *c);

/* perf before 2.6.35 wrote entries without pid: the kernel's name is then four bytes earlier. */
pf_bounds pf_bound_build_ids(const pf_context *k, pf_cursor *c);

/* EVENT_DESC states one attr_size for all its attrs. */
pf_bounds pf_bound_event_desc(const pf_context *k, pf_cursor *c);

/* schedstat_version decides the form of the domains. */
pf_bounds pf_bound_cpu_domain_info(const pf_context *k, pf_cursor *c);

/* simpleperf's FILE entries begin with their size. */
pf_bounds pf_bound_file_entry(const pf_context *k, pf_cursor *c);

/* TRACING_DATA states its own byte order after magic and version. */
pf_bounds pf_bound_tracing_formats(const pf_context *k, pf_cursor *c);

/* Ordinary bounds: these layouts are HAND rows only because walk.c or swap.c treats them
 * specially. */
static inline pf_bounds pf_bound_none(const pf_context *k, const pf_cursor *c)
{
    return (pf_bounds){*k, *c, NULL};
}
#define pf_bound_id_index        pf_bound_none
#define pf_bound_cpu_topology    pf_bound_none
#define pf_bound_tracing_data    pf_bound_none
#define pf_bound_file2_entry     pf_bound_none
#define pf_bound_sp_debug_unwind pf_bound_none
#define pf_bound_sp_init_map     pf_bound_none

static inline void pf_bound_close(pf_cursor *c, const pf_bounds *b)
{
    if (b->c.bad)
        pf_cur_fail(c, b->c.bad);
    else
        c->pos = b->after ? b->after : b->c.pos;
}

/* The sample types that tools commonly request, each as X(name, type).  They get specialized code.
 * The name has a letter for each bit besides the first three. */
#define PF_WITH_ID(X, name, type)                                                                  \
    X(name, type)                                                                                  \
    X(name##i, (type) | PERFILE_SAMPLE_ID)                                                         \
    X(name##I, (type) | PERFILE_SAMPLE_IDENTIFIER)
#define PF_WITH_CPU(X, name, type)                                                                 \
    PF_WITH_ID(X, name, type)                                                                      \
    PF_WITH_ID(X, name##C, (type) | PERFILE_SAMPLE_CPU)
#define PF_WITH_PERIOD(X, name, type)                                                              \
    PF_WITH_CPU(X, name, type)                                                                     \
    PF_WITH_CPU(X, name##P, (type) | PERFILE_SAMPLE_PERIOD)
#define PF_WITH_RAW(X, name, type)                                                                 \
    PF_WITH_PERIOD(X, name, type)                                                                  \
    PF_WITH_PERIOD(X, name##R, (type) | PERFILE_SAMPLE_RAW)
#define PF_WITH_CHAIN(X, name, type)                                                               \
    PF_WITH_RAW(X, name, type)                                                                     \
    PF_WITH_RAW(X, name##G, (type) | PERFILE_SAMPLE_CALLCHAIN)
#define PF_USUAL_SAMPLES(X)                                                                        \
    PF_WITH_CHAIN(X, usual_, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME)

/* Each bit adds at least one word.  Because this is tested once, it need not be tested for every
 * field. */
#define PF_LEAST_BYTES(type) (8 * (size_t)__builtin_popcountll((type) & ~PERFILE_SAMPLE_RAW))

/* decode.c: skips the `n` elements of a list and returns their location.  If `least` is not 0, the
 * list ends when fewer than `least` bytes are left.  The decoder of an element, and scratch space
 * for one struct, are needed only if elements have no fixed `width`. */
perfile_list pf_decode_list(const pf_context *k, pf_cursor *c, uint64_t n, size_t least,
                            unsigned width, pf_decode_fn *decode, void *scratch, size_t size);
/* walk.c: these pass a field to the visitor.  Its bytes are from `at` to the position of `c`; `row`
 * is its row of the table. */
void pf_walk_clear(void *o, size_t size);
void pf_show_number(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                    const pf_cursor *c, uint64_t number);
void pf_show_bytes(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                   const pf_cursor *c, perfile_bytes bytes);
void pf_show_words(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                   const pf_cursor *c, perfile_words words);
void pf_show_strings(const pf_walker *w, const perfile_field *row, const uint8_t *at,
                     const pf_cursor *c, perfile_strings strings);
void pf_show_begin(const pf_walker *w, const perfile_field *row, const pf_cursor *c,
                   uint64_t count);
void pf_show_end(const pf_walker *w, const perfile_field *row);
void pf_show_list(const pf_context *k, pf_cursor *c, const pf_walker *w, const perfile_field *row,
                  const perfile_field *item, uint64_t n, size_t least, pf_walk_fn *walk);
/* The item field of a list of these structs: pf_item_branch_entry … */
#define STRUCT(id, doc) extern const perfile_field pf_item_##id;
#include "perfile/format/structs.def"
#define STRUCT(id, doc) extern const perfile_field pf_item_##id;
#include "perfile/format/features.def"
/* The field for bytes skipped by PAD; passed to the visitor only with PERFILE_WALK_PADDING. */
extern const perfile_field pf_pad_row;

#define SHOW_u8                    pf_show_number
#define SHOW_u16                   pf_show_number
#define SHOW_u32                   pf_show_number
#define SHOW_u64                   pf_show_number
#define SHOW_s32(w, row, at, c, v) pf_show_number(w, row, at, c, (uint64_t)(int64_t)(v))
#define SHOW_s64(w, row, at, c, v) pf_show_number(w, row, at, c, (uint64_t)(v))
#define SHOW_string                pf_show_bytes
#define SHOW_cstr                  pf_show_bytes
#define SHOW_WORDS_u16             pf_show_words
#define SHOW_WORDS_u32             pf_show_words
#define SHOW_WORDS_s32             pf_show_words
#define SHOW_WORDS_u64             pf_show_words
#define SHOW_WORDS_ulong           pf_show_words
#define SHOW_WORDS_string          pf_show_strings

/* The output of encoders: a bounded buffer, written in either byte order.
 *
 * A pf_put never fails.  When the buffer is full, bytes are only counted, so a caller without a
 * buffer learns the size it needs.  The first field that did not fit (`full`) and the first value
 * that cannot be stored (`wrong`) are recorded; core/encode.c makes the error from them. */

struct pf_put {
    uint8_t *start;
    size_t room;
    size_t len;        /* bytes so far, including those that did not fit */
    size_t owed;       /* zeros to write before anything that follows */
    size_t end;        /* end of the current layout; SIZE_MAX if unlimited */
    bool swap;         /* the byte order differs from this machine's */
    bool is_record;    /* padding of text depends on the alignment of the record */
    const char *field; /* the current field: "mmap2.filename" */
    const char *full;  /* the first field that did not fit, or NULL */
    const char *wrong; /* the first value that cannot be stored, or NULL; it is described next */
    uint64_t found;
    uint64_t needed;
};

/* Advances by `n` bytes and returns the position for them.  Returns NULL if they do not fit; they
 * are still counted. */
static inline uint8_t *pf_put_advance(pf_put *w, size_t n)
{
    size_t at = w->len;
    if (n > SIZE_MAX - at)
        n = SIZE_MAX - at;
    w->len = at + n;
    if (w->len <= w->room)
        return w->start + at;
    if (!w->full)
        w->full = w->field;
    return NULL;
}

static inline void pf_put_zeros_now(pf_put *w, size_t n)
{
    uint8_t *p = n ? pf_put_advance(w, n) : NULL;
    if (p)
        memset(p, 0, n);
}

/* Writes the zeros that are due, then makes room for `n` bytes. */
static inline uint8_t *pf_put_next(pf_put *w, size_t n)
{
    if (w->owed) {
        size_t owed = w->owed;
        w->owed = 0;
        pf_put_zeros_now(w, owed);
    }
    return pf_put_advance(w, n);
}

/* Records that the current field cannot be stored: its value is `found`, the format needs `needed`.
 * Only the first one counts. */
static inline void pf_put_refuse(pf_put *w, uint64_t found, uint64_t needed)
{
    if (w->wrong)
        return;
    w->wrong = w->field;
    w->found = found;
    w->needed = needed;
}

static inline void pf_put_u8(pf_put *w, uint8_t v)
{
    uint8_t *p = pf_put_next(w, 1);
    if (p)
        *p = v;
}

static inline void pf_put_u16(pf_put *w, uint16_t v)
{
    uint8_t *p = pf_put_next(w, 2);
    if (p)
        pf_store_u16(p, v, w->swap);
}

static inline void pf_put_u32(pf_put *w, uint32_t v)
{
    uint8_t *p = pf_put_next(w, 4);
    if (p)
        pf_store_u32(p, v, w->swap);
}

static inline void pf_put_u64(pf_put *w, uint64_t v)
{
    uint8_t *p = pf_put_next(w, 8);
    if (p)
        pf_store_u64(p, v, w->swap);
}

static inline void pf_put_bytes(pf_put *w, perfile_bytes b)
{
    uint8_t *p = b.len ? pf_put_next(w, b.len) : NULL;
    if (p)
        memcpy(p, b.ptr, b.len);
}

static inline void pf_put_zeros(pf_put *w, size_t n)
{
    uint8_t *p = n ? pf_put_next(w, n) : NULL;
    if (p)
        memset(p, 0, n);
}

/* Writes zeros until the distance from `from` is a multiple of `unit`. */
static inline void pf_put_align(pf_put *w, size_t from, size_t unit)
{
    pf_put_zeros(w, (unit - (w->len - from) % unit) % unit);
}

/* Returns how many bytes are left up to `end`; many if the layout is unlimited. */
static inline size_t pf_put_left(const pf_put *w)
{
    return w->end > w->len ? w->end - w->len : 0;
}

/* encode.c: these write values.  Text and blobs have two lengths: `most` is the capacity of the
 * field, `least` the size that it occupies if nothing follows.  Both are equal for a field of fixed
 * length. */
void pf_put_cstr(pf_put *w, perfile_bytes text);
void pf_put_string(pf_put *w, perfile_bytes text);
void pf_put_strings(pf_put *w, perfile_strings strings);
void pf_put_words(pf_put *w, perfile_words words, unsigned width);
void pf_put_text(pf_put *w, perfile_bytes text, uint64_t least, uint64_t most);
void pf_put_blob(pf_put *w, perfile_bytes bytes, uint64_t least, uint64_t most);
void pf_put_padding(pf_put *w, uint64_t n);

#define PUT_u8(w, v, kind)     pf_put_u8(w, v)
#define PUT_u16(w, v, kind)    pf_put_u16(w, v)
#define PUT_u32(w, v, kind)    pf_put_u32(w, v)
#define PUT_u64(w, v, kind)    pf_put_u64(w, pf_bit_fields_from_little(v, kind, (w)->swap))
#define PUT_s32(w, v, kind)    pf_put_u32(w, (uint32_t)(v))
#define PUT_s64(w, v, kind)    pf_put_u64(w, (uint64_t)(v))
#define PUT_string(w, v, kind) pf_put_string(w, v)
#define PUT_cstr(w, v, kind)   pf_put_cstr(w, v)
#define PUT_WORDS_u16(w, v)    pf_put_words(w, v, 2)
#define PUT_WORDS_u32(w, v)    pf_put_words(w, v, 4)
#define PUT_WORDS_s32(w, v)    pf_put_words(w, v, 4)
#define PUT_WORDS_u64(w, v)    pf_put_words(w, v, 8)
#define PUT_WORDS_ulong(w, v)  pf_put_words(w, v, o->long_size == 4 ? 4 : 8)
#define PUT_WORDS_string       pf_put_strings

/* encode.c: these return whether two decoded values differ, however they are stored. */
bool pf_bytes_differ(perfile_bytes a, perfile_bytes b);
bool pf_words_differ(perfile_words a, perfile_words b);
bool pf_strings_differ(perfile_strings a, perfile_strings b);

#define DIFFER_u8(a, b)     ((a) != (b))
#define DIFFER_u16(a, b)    ((a) != (b))
#define DIFFER_u32(a, b)    ((a) != (b))
#define DIFFER_u64(a, b)    ((a) != (b))
#define DIFFER_s32(a, b)    ((a) != (b))
#define DIFFER_s64(a, b)    ((a) != (b))
#define DIFFER_string       pf_bytes_differ
#define DIFFER_cstr         pf_bytes_differ
#define DIFFER_WORDS_u16    pf_words_differ
#define DIFFER_WORDS_u32    pf_words_differ
#define DIFFER_WORDS_s32    pf_words_differ
#define DIFFER_WORDS_u64    pf_words_differ
#define DIFFER_WORDS_ulong  pf_words_differ
#define DIFFER_WORDS_string pf_strings_differ

/* swap.c: copies `n` numbers of `width` bytes in the other byte order.  The loops are simple so
 * that the compiler vectorizes them. */
PF_INLINE void pf_byteswap_words(uint8_t *restrict out, const uint8_t *restrict in, size_t n,
                                 unsigned width)
{
    switch (width) {
    case 8:
        for (size_t i = 0; i < n; i++)
            pf_store_u64(out + 8 * i, pf_load_u64(in + 8 * i, true), false);
        break;
    case 4:
        for (size_t i = 0; i < n; i++)
            pf_store_u32(out + 4 * i, pf_load_u32(in + 4 * i, true), false);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            pf_store_u16(out + 2 * i, pf_load_u16(in + 2 * i, true), false);
    }
}

void pf_byteswap_strings(uint8_t *out, perfile_strings strings);
void pf_byteswap_list(const pf_context *k, pf_cursor *c, uint8_t *out, uint64_t n, size_t least,
                      pf_byteswap_fn *byteswap);

/* These write the value `v`, which was read with cursor `c`, to `to` in the other byte order.
 * Bytes, and text without a length before it, stay as in the copy. */
#define BYTESWAP_u8(to, v, kind, c)  (void)(v)
#define BYTESWAP_u16(to, v, kind, c) pf_store_u16(to, v, !(c)->swap)
#define BYTESWAP_u32(to, v, kind, c) pf_store_u32(to, v, !(c)->swap)
#define BYTESWAP_s32(to, v, kind, c) pf_store_u32(to, (uint32_t)(v), !(c)->swap)
#define BYTESWAP_s64(to, v, kind, c) pf_store_u64(to, (uint64_t)(v), !(c)->swap)
#define BYTESWAP_u64(to, v, kind, c)                                                               \
    pf_store_u64(to, pf_bit_fields_from_little(v, kind, !(c)->swap), !(c)->swap)
#define BYTESWAP_string(to, v, kind, c)                                                            \
    pf_store_u32(to, pf_load_u32(from + (to - out), (c)->swap), !(c)->swap)
#define BYTESWAP_cstr(to, v, kind, c) (void)(v)
#define BYTESWAP_WORDS_u16(to, v)     pf_byteswap_words(to, (v).ptr, (v).n, 2)
#define BYTESWAP_WORDS_u32(to, v)     pf_byteswap_words(to, (v).ptr, (v).n, 4)
#define BYTESWAP_WORDS_s32(to, v)     pf_byteswap_words(to, (v).ptr, (v).n, 4)
#define BYTESWAP_WORDS_u64(to, v)     pf_byteswap_words(to, (v).ptr, (v).n, 8)
#define BYTESWAP_WORDS_ulong(to, v)   pf_byteswap_words(to, (v).ptr, (v).n, (v).width)
#define BYTESWAP_WORDS_string         pf_byteswap_strings

#endif
