/* The parts of a capture that is written: one file, or `data` and data.N of a directory.
 *
 * Part 0 is `data` and has the writer's sink; part n is data.(n - 1) and gets its sink when its
 * first record comes.  Each part has its own zstd stream and stage; the pending span belongs to the
 * current part and is flushed before another part is selected. */
#include "base/alloc.h"
#include "base/error.h"
#include "io/out.h"
#include "perf/write.h"

/* Grows w->parts so that `part` is in it; w->part stays the same part. */
static perfile_status ensure_part(pf_perf_writer *w, uint32_t part, perfile_error *err)
{
    if (part < w->n_parts)
        return PERFILE_OK;
    pf_write_part *parts = pf_realloc(w->parts, part + (size_t)1, sizeof *parts);
    if (!parts)
        return pf_fail_nomem(err, "writer.parts");
    memset(parts + w->n_parts, 0, (part + (size_t)1 - w->n_parts) * sizeof *parts);
    w->parts = parts;
    w->part = parts + w->at;
    w->n_parts = part + 1;
    return PERFILE_OK;
}

/* Writes everything of the current part that is not written yet. */
static perfile_status flush_part(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_flush_span(w, err);
    return st == PERFILE_OK && w->level ? pf_write_flush_stage(w, err) : st;
}

/* Gives the part its sink and, with compression, its zstd stream and stage. */
static perfile_status open_part(pf_perf_writer *w, pf_write_part *part, perfile_sink *sink,
                                perfile_error *err)
{
    if (w->level && !part->deflate)
        part->deflate = pf_deflate_new(w->level);
    if (w->level && (!part->deflate || !pf_buffer_reserve(&part->stage, PF_WRITE_CHUNK)))
        return pf_fail_nomem(err, "writer.parts");
    part->sink = sink;
    return PERFILE_OK;
}

/* pf_writer_ops.compress. */
perfile_status pf_write_compress_from_here(perfile_writer *writer, uint32_t level,
                                           perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    w->level = level >= 1 && level <= PF_DEFLATE_LEVEL_MOST ? (int)level : 1;
    w->base.packs = true;
    return open_part(w, w->part, w->part->sink, err);
}

perfile_status pf_write_first_part(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = ensure_part(w, 0, err);
    if (st != PERFILE_OK)
        return st;
    w->part = w->parts;
    return open_part(w, w->part, w->base.sink, err);
}

perfile_status pf_write_select_part(pf_perf_writer *w, uint32_t part, perfile_error *err)
{
    perfile_sink *sink = w->base.sink;
    perfile_status st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK && part)
        st = pf_sink_part(w->base.sink, part - 1, &sink, err);
    if (st == PERFILE_OK)
        st = ensure_part(w, part, err);
    if (st == PERFILE_OK && !w->parts[part].sink)
        st = open_part(w, &w->parts[part], sink, err);
    if (st != PERFILE_OK)
        return st;
    w->at = part;
    w->part = &w->parts[part];
    return PERFILE_OK;
}

perfile_status pf_write_finish_parts(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = flush_part(w, err);
    for (uint32_t i = w->n_parts; i-- && st == PERFILE_OK;) {
        if (!w->parts[i].sink)
            continue;
        w->at = i;
        w->part = &w->parts[i];
        st = flush_part(w, err);
    }
    return st;
}

void pf_write_free_parts(pf_perf_writer *w)
{
    for (uint32_t i = 0; i < w->n_parts; i++) {
        pf_deflate_free(w->parts[i].deflate);
        pf_buffer_free(&w->parts[i].stage);
    }
    pf_free(w->parts);
}
