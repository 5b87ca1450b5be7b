/* The byte-swappers: format/ expanded to functions that read like decoders and write each number to
 * the same offset of a copy, in the other byte order (schema/swap.inc).
 *
 * Byte-swapping twice must restore the original bytes, even of damaged input: unreadable bytes stay
 * as they are, and bad bounds are bad in both byte orders.  Common samples have specialized
 * functions, as in decoders (schema/expand.h). */
#include "schema/expand.h"

/* Byte-swaps the u32 length before each string; the text stays. */
void pf_byteswap_strings(uint8_t *out, perfile_strings strings)
{
    pf_cursor c = pf_cur(strings.bytes, strings.swapped);
    for (size_t i = 0; i < strings.n; i++) {
        size_t at = (size_t)(c.pos - strings.bytes.ptr);
        pf_store_u32(out + at, pf_peek_u32(&c), !strings.swapped);
        pf_cur_string(&c);
    }
}

/* Every element has at least one byte, as in pf_decode_list(): the input limits the loop, not
 * `n`. */
void pf_byteswap_list(const pf_context *k, pf_cursor *c, uint8_t *out, uint64_t n, size_t least,
                      pf_byteswap_fn *byteswap)
{
    const uint8_t *from = c->pos;
    for (uint64_t i = 0; !c->bad && (least ? pf_cur_left(c) >= least : i < n); i++)
        byteswap(k, c, out + (c->pos - from));
}

/* Byte-swaps the records in simpleperf's feature INIT_MAP, headers and bodies.  Bodies of types
 * without a row stay as they are; an unreadable body ends the loop as damage. */
static void byteswap_records(const pf_context *k, pf_cursor *c, uint8_t *out)
{
    while (pf_cur_left(c) >= 8) {
        const uint8_t *at = c->pos;
        pf_context inner = *k;
        uint32_t type = pf_cur_u32(c);
        inner.misc = pf_cur_u16(c);
        uint16_t size = pf_cur_u16(c);
        pf_cursor body =
            pf_cur(pf_cur_span(c, size < 8 ? UINT64_MAX : size - UINT64_C(8)), c->swap);
        if (c->bad)
            return;
        const pf_row *row = pf_record_row(type);
        pf_swap_header(out, at);
        if (row)
            row->byteswap(&inner, &body, out + 8);
        if (body.bad) {
            pf_cur_fail(c, body.bad);
            return;
        }
        out += size;
    }
}

/* HAND layouts are byte-swapped by their members, with two exceptions.  TRACING_DATA states its own
 * byte order and is not byte-swapped at all.  INIT_MAP contains whole records, so
 * byteswap_records() does it. */
#define PF_SWAP_PLAIN(id, k, c, out)       byteswap_##id(k, c, out, (k)->sample_type)
#define PF_SWAP_attr(k, c, out)            PF_SWAP_PLAIN(attr, k, c, out)
#define PF_SWAP_build_id_entry(k, c, out)  PF_SWAP_PLAIN(build_id_entry, k, c, out)
#define PF_SWAP_build_ids(k, c, out)       PF_SWAP_PLAIN(build_ids, k, c, out)
#define PF_SWAP_event_desc(k, c, out)      PF_SWAP_PLAIN(event_desc, k, c, out)
#define PF_SWAP_cpu_domain_info(k, c, out) PF_SWAP_PLAIN(cpu_domain_info, k, c, out)
#define PF_SWAP_file_entry(k, c, out)      PF_SWAP_PLAIN(file_entry, k, c, out)
#define PF_SWAP_id_index(k, c, out)        PF_SWAP_PLAIN(id_index, k, c, out)
#define PF_SWAP_cpu_topology(k, c, out)    PF_SWAP_PLAIN(cpu_topology, k, c, out)
#define PF_SWAP_tracing_data(k, c, out)    PF_SWAP_PLAIN(tracing_data, k, c, out)
#define PF_SWAP_tracing_formats(k, c, out) PF_SWAP_PLAIN(tracing_formats, k, c, out)
#define PF_SWAP_file2_entry(k, c, out)     PF_SWAP_PLAIN(file2_entry, k, c, out)
#define PF_SWAP_sp_debug_unwind(k, c, out) PF_SWAP_PLAIN(sp_debug_unwind, k, c, out)
#define PF_SWAP_sp_init_map(k, c, out)     ((void)byteswap_sp_init_map, byteswap_records(k, c, out))

#include "schema/swap.inc"
#include "perfile/format/structs.def"
#include "schema/swap.inc"
#include "perfile/format/sample.def"
#include "schema/swap.inc"
#include "perfile/format/records.def"
#include "schema/swap.inc"
#include "perfile/format/simpleperf.def"
#include "schema/swap.inc"
#include "perfile/format/features.def"

/* One function for each common sample type.  With a constant type the compiler drops the missing
 * fields. */
#define SWAP_SAMPLE(name, type)                                                                    \
    static bool name(perfile_bytes body, bool swapped, uint8_t *out)                               \
    {                                                                                              \
        static const pf_context k = {.sample_type = (type)};                                       \
        if (body.len < PF_LEAST_BYTES(type))                                                       \
            return false;                                                                          \
        pf_cursor c = {.pos = body.ptr, .end = body.ptr + body.len, .swap = swapped};              \
        byteswap_sample(&k, &c, out, (type));                                                      \
        return !c.bad;                                                                             \
    }
PF_USUAL_SAMPLES(SWAP_SAMPLE)

#define OF_TYPE(name, type)                                                                        \
    case (type):                                                                                   \
        return name;

pf_usual_swap_fn *pf_usual_swap(uint64_t sample_type)
{
    switch (sample_type) {
        PF_USUAL_SAMPLES(OF_TYPE)
    default:
        return NULL;
    }
}
