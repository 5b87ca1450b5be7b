/* What the expansions of a table share.
 *
 * A table of format/ is included several times, each time behind an .inc file that defines its
 * keywords differently: decode.inc makes decoders of it, walk.inc walks, and so on.  The keywords
 * paste the stored type of a field into a macro name, and those macros are here: SHOW_u32 passes a
 * field to the visitor of a walk, PUT_u32 writes it, DIFFER_u32 compares it, BYTESWAP_u32 writes it
 * in the other byte order (GET_u32, which reads it, is in types.h).  The functions behind the
 * macros are defined next to the expansions of perf's own tables: walk.c, decode.c, encode.c,
 * same.c, swap.c. A room with a table of its own (family.inc) uses the same ones.
 *
 * A new stored type needs one macro in each of these sets. */
#ifndef PF_SCHEMA_EXPAND_H
#define PF_SCHEMA_EXPAND_H

#include "schema/any_record.h"
#include "schema/bounds.h"
#include "schema/rows.h"
#include "schema/shapes.h"

/* The second argument.  With it a pasted name is a lookup: PF_SECOND(PF_IS_##kind##_##name, 0, 0)
 * is what PF_IS_PID_pid says, which is defined as "~, VALUE" and so puts its value second; a name
 * that nobody defined is one argument, and the 0 behind it stands second. */
#define PF_SECOND(...)          PF_SECOND_OF(__VA_ARGS__)
#define PF_SECOND_OF(a, b, ...) b

/* The bits of pf_row.has that follow from the kind and name of a field, or from the length of a
 * string or the kind of a blob.  Used by has.inc through PF_SECOND(): a combination that is not
 * listed here gives 0. */
#define PF_IS_TIME_time   ~, PF_HAS_TIME
#define PF_IS_PID_pid     ~, PF_HAS_PID
#define PF_IS_TID_tid     ~, PF_HAS_TID
#define PF_IS_CPU_cpu     ~, PF_HAS_CPU
#define PF_STRING_OF_LEFT ~, PF_HAS_STRING
#define PF_SLACK_OF_STACK ~, PF_HAS_SLACK

/* … of structs, for the tables that use them. */
#include "schema/has.inc"
#include "perfile/format/structs.def"

/* Layouts whose struct has the member `present`: their decoders store it at the end.  Used by
 * decode.inc through PF_SECOND(); all other layouts store nothing. */
#define PF_PRESENT_IN_sample    ~, o->present = present
#define PF_PRESENT_IN_sample_id ~, o->present = present

/* The marks of a RECORD row as the tables spell them: bits PF_ROW_… of schema/rows.h. */
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

/* The initializer of a pf_row for one RECORD, members in the order of that struct. */
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

/* Which field of a record is its time, task or processor: one whose kind and name are both listed
 * here. Used by own.inc through PF_SECOND(); `v` is the decoded struct. */
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

/* All ones in a `cpu` field means that the record belongs to no processor. */
static inline void pf_own_take_cpu(pf_own *own, uint32_t cpu)
{
    own->has_cpu = cpu != UINT32_MAX;
    own->cpu = cpu;
}

/* Encoders set a member that counts something from what it counts.  PF_COUNTED_##count pastes onto
 * the first token of the count as the table has it: `o->nr` gives PF_COUNTED_o followed by `->nr`,
 * whose expansion puts the member second for PF_SECOND().  Any other expression leaves `uncounted`,
 * a local that nobody reads, as the target of the assignment. */
#define PF_COUNTED_o                        ~, o
#define PF_COUNTED_PF_AT_MOST(member, n)    ~, o->member
#define PF_COUNTED_PF_GIVEN(has, member, n) ~, o->member
#define PF_COUNTED_PF_BUILD_ID_SIZE(member) ~, o->member
#define PF_SETTLE(n, ...)                   PF_SETTLE_MEMBER(n, PF_SECOND(__VA_ARGS__, uncounted, ~))
#define PF_SETTLE_MEMBER(n, member)         (member) = (__typeof__(member))(n);

/* PF_WIDTH_branch_entry …: bytes that a layout occupies in the input.  A value of PF_VARIABLE or
 * more means that the input decides; each member of variable size adds PF_VARIABLE. */
enum {
#include "schema/widths.inc"
#include "perfile/format/structs.def"
#include "schema/widths.inc"
#include "perfile/format/sample.def"
#include "schema/widths.inc"
#include "perfile/format/records.def"
#include "schema/widths.inc"
#include "perfile/format/features.def"
    PF_WIDTH_none
};

/* Members as data, for readers that look members up by name: schema/shapes.h. */
#define PF_MEMBER(id, name, doc, what, type, element, kind, flags, of)                             \
    {                                                                                              \
        #name, doc,     what,                                                                      \
        type,  element, PERFILE_KIND_##kind,                                                       \
        flags, of,      offsetof(perfile_##id, name),                                              \
        0},
#define PF_MARK(what, at, bit) {NULL, NULL, what, 0, 0, 0, 0, 0, at, bit},

#define PF_MEMBERS_BEGIN(id) static const pf_member shape_##id[] = {
#define PF_MEMBERS_END(id)                                                                         \
    PF_MARK(PF_MEMBER_END, 0, 0)                                                                   \
    }                                                                                              \
    ;

#define PF_ROW_SHAPE(id) {#id, shape_##id, sizeof(perfile_##id), NULL},

/* The C type of each stored type, for schema/structs.inc.  schema/headers/print.c has the same
 * mapping for the structs of the public headers. */
#define PF_C_u8           uint8_t
#define PF_C_u16          uint16_t
#define PF_C_u32          uint32_t
#define PF_C_u64          uint64_t
#define PF_C_s32          int32_t
#define PF_C_s64          int64_t
#define PF_C_string       perfile_bytes
#define PF_C_cstr         perfile_bytes
#define PF_C_WORDS_u16    perfile_words
#define PF_C_WORDS_u32    perfile_words
#define PF_C_WORDS_s32    perfile_words
#define PF_C_WORDS_u64    perfile_words
#define PF_C_WORDS_ulong  perfile_words
#define PF_C_WORDS_string perfile_strings

#define PF_STRUCT_BEGIN(id)                                                                        \
    typedef struct perfile_##id {                                                                  \
        uint32_t reserved0;
#define PF_STRUCT_END(id)                                                                          \
    }                                                                                              \
    perfile_##id;

/* decode.c: passes over the `n` elements of a list (with `least` not 0: elements as long as so many
 * bytes are left) and returns where they are; the element's decoder with scratch space for one
 * struct is needed where elements have no fixed `width`. */
perfile_list pf_decode_list(const pf_context *k, pf_cursor *c, uint64_t n, size_t least,
                            unsigned width, pf_decode_fn *decode, void *scratch, size_t size);
/* Decodes the next element of `list` into `full`, copies `size` bytes of it to `out`, and takes it
 * off. */
perfile_status pf_next_of(perfile_list *list, void *out, size_t size, pf_decode_fn *decode,
                          void *full, size_t full_size);
/* A list over an array of a program's structs, `size` bytes each. */
perfile_list pf_list_given(const void *items, size_t n, size_t size);

#define PF_NEXT_OF(id)                                                                             \
    perfile_status perfile_##id##_next(perfile_list *list, perfile_##id *out, size_t size)         \
    {                                                                                              \
        perfile_##id one;                                                                          \
        return pf_next_of(list, out, size, pf_decode_##id, &one, sizeof one);                      \
    }                                                                                              \
    perfile_list perfile_##id##_list(const perfile_##id *items, size_t n, size_t size)             \
    {                                                                                              \
        return pf_list_given(items, n, size);                                                      \
    }

/* walk.c: pass a field to the visitor.  `at` is where its bytes begin, `c` stands behind them;
 * `row` is its row of the table. */
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
/* The item of a list of these structs: pf_item_branch_entry … */
#define STRUCT(id, doc) extern const perfile_field pf_item_##id;
#include "perfile/format/structs.def"
#define STRUCT(id, doc) extern const perfile_field pf_item_##id;
#include "perfile/format/features.def"
/* The field that stands for bytes skipped by PAD; passed on only with PERFILE_WALK_PADDING. */
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

/* encode.c: write values.  Text and blobs come with two lengths: `most`, what the field can hold,
 * and `least`, what it occupies when nothing follows.  Both are the same for a field of fixed
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

/* same.c: whether two decoded values differ, however they are stored. */
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

/* swap.c: copy `n` numbers of `width` bytes in the other byte order.  The loops are simple so that
 * the compiler vectorizes them. */
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

/* Write the value `v`, which was read with cursor `c`, to `to` in the other byte order.  Bytes and
 * text without a length in front of them stay as the copy has them. */
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
#define BYTESWAP_WORDS_ulong(to, v)   pf_swap_words(to, (v).ptr, (v).n, (v).width)
#define BYTESWAP_WORDS_string         pf_byteswap_strings

#endif
