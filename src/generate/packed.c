/* Compressed records: with a level, records of the kernel go into COMPRESSED or COMPRESSED2
 * records.
 *
 * All of them are one zstd stream, divided into pieces of CHUNK bytes wherever a piece is full,
 * also inside a record, as perf divides its buffers.  The lines of the records in a piece wait
 * until it is known how long the compressed record is, because its line comes first. */
#include "generate/capture.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "io/zstd.h"

enum { CHUNK = 1500, DATA_SIZE = 8 /* the length of the zstd bytes in COMPRESSED2 */ };

static bool is_second(const pf_gen *g)
{
    return g->o->compress2 != 0;
}

bool pf_gen_packs(const pf_gen *g, uint32_t type)
{
    return g->pack.zstd && type < PERFILE_RECORD_USER;
}

perfile_status pf_gen_pack_begin(pf_gen *g, perfile_error *err)
{
    const uint32_t level = is_second(g) ? g->o->compress2 : g->o->compress;
    if (g->o->compress && g->o->compress2)
        return pf_fail(err, PERFILE_E_USAGE, "generate.compress",
                       "compress and compressed2 exclude each other");
    if (level > PF_DEFLATE_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "generate.compress", "level %u: zstd has 1 to %d",
                       level, (int)PF_DEFLATE_LEVEL_MOST);
    if (!level)
        return PERFILE_OK;
    g->pack.lines.unwanted = g->records.unwanted;
    g->pack.zstd = pf_deflate_new((int)level);
    return g->pack.zstd ? PERFILE_OK : pf_fail_nomem(err, "generate");
}

void pf_gen_pack_end(pf_gen *g)
{
    pf_deflate_free(g->pack.zstd);
    pf_buffer_free(&g->pack.piece);
    pf_buffer_free(&g->pack.lines.text);
}

/* Writes the line of a compressed record, and those of the records in it. */
static void show_packed(pf_gen *g, size_t size, size_t len)
{
    const uint32_t type = is_second(g) ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    const char *name = is_second(g) ? "COMPRESSED2" : "COMPRESSED";
    const uint64_t next = g->sum->records;
    pf_covered_see_row(g->o->covered, name);
    g->sum->records = g->pack.index;
    pf_gen_begin_record(g, type, name, 0, size);
    g->sum->records = next;
    pf_show_key(&g->records, "body");
    pf_show_open(&g->records, '{');
    pf_show_key(&g->records, "data_size");
    pf_show_decimal(&g->records, len);
    pf_show_shut(&g->records, '}');
    pf_show_line_end(&g->records);
    pf_show_lines(&g->records, &g->pack.lines);
}

perfile_status pf_gen_pack_flush(pf_gen *g, perfile_error *err)
{
    enum { ROOM = PF_PERF_RECORD_HEADER + DATA_SIZE + 4 * CHUNK };
    uint8_t bytes[ROOM] = {0};
    const size_t before = PF_PERF_RECORD_HEADER + (is_second(g) ? DATA_SIZE : 0);
    size_t len;
    if (!g->pack.piece.len)
        return PERFILE_OK;
    perfile_status st =
        pf_deflate_feed(g->pack.zstd, (perfile_bytes){g->pack.piece.ptr, g->pack.piece.len},
                        bytes + before, ROOM - before - DATA_SIZE, &len, err);
    if (st != PERFILE_OK)
        return st;
    size_t size = before + len;
    if (is_second(g))
        size = (size + 7) & ~(size_t)7;
    const uint32_t type = is_second(g) ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    pf_store_u32(bytes, type, g->swap);
    pf_store_u16(bytes + PF_PERF_SIZE_AT, (uint16_t)size, g->swap);
    if (is_second(g))
        pf_store_u64(bytes + PF_PERF_RECORD_HEADER, len, g->swap);
    pf_buffer_clear(&g->pack.piece);
    st = pf_gen_write(g, &(pf_gen_stored){.type = type, .record = {bytes, size}}, err);
    show_packed(g, size, len);
    pf_buffer_clear(&g->pack.lines.text);
    return st;
}

perfile_status pf_gen_pack_add(pf_gen *g, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (bytes.len && st == PERFILE_OK) {
        if (g->pack.piece.len == CHUNK)
            st = pf_gen_pack_flush(g, err);
        if (!g->pack.piece.len)
            g->pack.index = g->sum->records++;
        const size_t left = CHUNK - g->pack.piece.len, n = bytes.len < left ? bytes.len : left;
        if (!pf_buffer_append(&g->pack.piece, bytes.ptr, n))
            return pf_fail_nomem(err, "generate");
        bytes.ptr += n;
        bytes.len -= n;
    }
    return st;
}

perfile_status pf_gen_pack_again(pf_gen *g, perfile_error *err)
{
    perfile_status st = pf_gen_pack_flush(g, err);
    pf_deflate_free(g->pack.zstd);
    g->pack.zstd = NULL;
    g->pack.stream = 0;
    return st == PERFILE_OK ? pf_gen_pack_begin(g, err) : st;
}
