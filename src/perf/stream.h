/* The stream of a perf.data capture: its parts, and what walks them. */
#ifndef PF_PERF_STREAM_H
#define PF_PERF_STREAM_H

#include "base/buffer.h"
#include "core/stream.h"
#include "io/inflate.h"
#include "perf/header.h"
#include "perf/salvage.h"

/* A run of records in one file. */
typedef struct pf_perf_part {
    perfile_source *source; /* owned */
    char *name;             /* "data.0" in a directory, owned; NULL else */
    uint64_t start;
    uint64_t end;      /* where its records end; PF_SIZE_UNKNOWN up to the end of the source */
    uint64_t declared; /* what the header says instead, when that is more than there is; else 0 */
    uint64_t skip;     /* records up to here were overwritten by other sections; 0: none */
} pf_perf_part;

/* Damage that was met and not yet told. */
typedef struct pf_perf_pending {
    uint32_t damage;
    uint8_t flags; /* PERFILE_REC_INNER */
    uint64_t offset;
    uint64_t stream_offset;
    uint64_t lost;
    perfile_bytes bytes;
} pf_perf_pending;

typedef struct pf_perf_stream {
    perfile_stream base;
    bool swap;
    perfile_assume assume; /* base.options.assume points to it, or is NULL */
    char *name;            /* base.name */
    pf_perf_part *parts;
    uint32_t n_parts;
    perfile_part *part_names; /* container.parts */

    uint32_t part;      /* the one that is walked */
    pf_perf_part *file; /* parts[part] */
    uint64_t pos;       /* of the next record in it */
    uint64_t hinted;    /* the source was told up to here */
    uint64_t released;  /* and that it may forget up to here */
    uint64_t sequence;
    uint32_t ahead;   /* of a record, in bytes: lines there are fetched */
    bool slots_inner; /* the slots of base.run are prepared for inner records */
    bool slot_dirty;  /* slot 0 needs preparing again */
    bool part_over;   /* nothing more of this part is read */
    bool part_damaged;

    /* Bytes behind the last record. */
    uint64_t extra_start;
    uint64_t extra_pos; /* next of them to hand out by extra() */
    uint64_t extra_left;
    uint64_t extra_of; /* offset of their record */

    /* Damage that ends the part, told at the next call: the record before it was still good. */
    unsigned deferred;
    uint64_t deferred_offset;
    uint64_t deferred_lost;

    /* Records that can be trusted (PERFILE_ON_DAMAGE_SALVAGE). */
    bool salvage;
    bool island;   /* the last thing was a gap, and few records came since */
    bool gap;      /* behind `trusted` is a gap: */
    bool gap_ends; /* … up to `gap_end`, or nobody knows yet how far */
    unsigned gap_damage;
    uint64_t trusted; /* up to here of the part */
    uint64_t gap_end;
    pf_record_fit vet;
    bool (*believes)(void *user); /* see pf_perf_ask_before_gaps() */
    void *believes_user;

    /* Compressed records: one zstd stream a part. */
    pf_inflate *inflate;
    uint64_t compressed; /* bytes of zstd of all parts */
    pf_buffer inner;     /* decompressed, from inner_pos of the stream on */
    uint64_t inner_pos;
    size_t inner_at;   /* bytes of it that were handed out */
    uint64_t envelope; /* sequence and offset of the last envelope */
    uint64_t envelope_offset;
    bool inner_broken;
    bool inner_waits;     /* the rest of it is not a whole record */
    bool inner_ends;      /* what would complete it is lost */
    bool frame_lost;      /* zstd has to find the beginning of a frame */
    size_t inner_trusted; /* as `trusted`, of what is decompressed */
    pf_record_fit inner_vet;

    /* simpleperf's records in pieces. */
    pf_buffer split;
    bool split_ready;
    bool split_open;
    uint64_t split_offset;
    uint64_t split_pieces; /* so many of it */

    /* Damage that is told before anything else, in order. */
    pf_perf_pending pending[4];
    uint32_t n_pending;

    struct pf_perf_look *look; /* see perf/look.c; NULL: nobody looks ahead */

    perfile_section *ids; /* of each attr of the file, n_ids of them; size 0 when bad */
    uint32_t n_ids;
    perfile_extent *extents;
    perfile_container_damage *damages;
} pf_perf_stream;

static inline pf_perf_stream *pf_perf_of(perfile_stream *s)
{
    return (pf_perf_stream *)(void *)s;
}

/* perf/open.c: a stream of one part, which still lacks its source and whatever that says; its name,
 * copied; and the names of its parts into the container. */
perfile_status pf_perf_stream_new(const perfile_open_options *options, pf_perf_stream **out,
                                  perfile_error *err);
perfile_status pf_perf_name_stream(pf_perf_stream *p, const char *name, perfile_error *err);
perfile_status pf_perf_name_parts(pf_perf_stream *p, perfile_error *err);

/* perf/walk.c */
extern const pf_stream_ops pf_perf_ops;

/* Bytes at p->pos, at least `need` unless the part ends before. */
perfile_status pf_perf_at_least(pf_perf_stream *p, uint64_t need, perfile_bytes *run,
                                perfile_error *err);

/* perf/walk_damage.c: remembers damage to be told next. */
void pf_perf_damage(pf_perf_stream *p, const pf_perf_pending *what);

/* How many bytes the part has from p->pos on; of a pipe they are read to be counted. */
perfile_status pf_perf_count_rest(pf_perf_stream *p, uint64_t *rest, perfile_error *err);

/* PERFILE_ON_DAMAGE_SALVAGE: asks `believes` at the first place where records do not look right.
 * True: the capture is known to be whole, all of it is read as it is from there on.  Otherwise
 * salvage goes on.  It may read the sources of the stream. */
void pf_perf_ask_before_gaps(perfile_stream *s, bool (*believes)(void *user), void *user);

/* Whether the records that do not look right are to be taken as they are. */
static inline bool pf_perf_believed(pf_perf_stream *p)
{
    bool believed = p->believes && p->believes(p->believes_user);
    p->believes = NULL;
    if (believed) {
        p->salvage = false;
        p->base.options.on_damage = PERFILE_ON_DAMAGE_STOP;
    }
    return believed;
}

/* Ends the part at the next call because of `damage` at `offset`: `lost` bytes and all that is left
 * of it. */
static inline void pf_perf_defer(pf_perf_stream *p, unsigned damage, uint64_t offset, uint64_t lost)
{
    p->deferred = damage;
    p->deferred_offset = offset;
    p->deferred_lost = lost;
}

/* The bytes [offset, offset + size) of a source that can be asked anywhere, or nothing (len 0) when
 * they are not there.  Valid until the next call unless the source is stable. */
perfile_status pf_perf_bytes(perfile_source *s, uint64_t offset, uint64_t size,
                             perfile_bytes *bytes, perfile_error *err);

/* perf/file.c: facts of a file form header into session and container; the part's range. */
perfile_status pf_perf_file(pf_perf_stream *p, pf_perf_part *part, pf_perf_header *h,
                            perfile_error *err);
perfile_status pf_perf_container_damage(pf_perf_stream *p, unsigned damage, uint32_t role,
                                        uint64_t offset, perfile_error *err);

/* Whether the next run would be made of what lies at p->pos, without another thought. */
static inline bool pf_perf_at_records(const pf_perf_stream *p)
{
    bool inner = p->split_ready || (p->inner_at < p->inner.len && !p->inner_waits);
    return p->file && !p->part_over && !p->n_pending && !p->deferred && !p->salvage && !inner &&
           p->file->skip <= p->pos;
}

/* perf/peek.c */
pf_peeked pf_perf_peek(perfile_stream *s);
bool pf_perf_place(perfile_stream *s, pf_stretch *here);
pf_sample_span pf_perf_span(perfile_stream *s, uint64_t most);
void pf_perf_skip(perfile_stream *s, uint64_t records, uint64_t bytes);

/* perf/pass.c: where in bytes that begin at `offset` samples and rounds stand in a row; the length
 * of the bytes when they do nowhere near. */
size_t pf_perf_sample_row(perfile_bytes bytes, uint64_t offset, bool swap);
/* What `scan` found where the stream is, or behind; false when it found nothing that helps. */
bool pf_perf_scanned(const pf_perf_stream *p, const pf_scan *scan, pf_scanned *scanned);
void pf_perf_pass(perfile_stream *s, perfile_passed *passed);

/* perf/look.c */
bool pf_perf_looked(perfile_stream *s, const pf_looker *looker, pf_looked *out);
void pf_perf_look_end(pf_perf_stream *p);

/* The functions of pf_stream_ops for what lies ahead: of every stream that walks records of
 * perf.data. */
#define PF_PERF_AHEAD                                                                              \
    .peek = pf_perf_peek, .place = pf_perf_place, .span = pf_perf_span, .skip = pf_perf_skip,      \
    .pass = pf_perf_pass, .looked = pf_perf_looked

/* perf/seek.c */
perfile_status pf_perf_seek(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err);

/* perf/extents.c */
perfile_status pf_perf_extents(pf_perf_stream *p, const pf_perf_header *h, uint64_t file_size,
                               perfile_error *err);

/* perf/directory.c: the parts data.N behind the first, `data`. */
perfile_status pf_perf_directory(pf_perf_stream *p, const perfile_source *dir, perfile_error *err);

/* perf/envelope.c: takes the content of a compressed or split record that was just framed, and
 * hands out what came out of them: inner records into base.run. */
perfile_status pf_perf_open_envelope(pf_perf_stream *p, perfile_record *r, perfile_error *err);
perfile_status pf_perf_fill_inner(pf_perf_stream *p, perfile_error *err);
/* At the beginning of a part, and at its end: what is left over. */
void pf_perf_begin_envelopes(pf_perf_stream *p);
void pf_perf_end_envelopes(pf_perf_stream *p);

#endif
