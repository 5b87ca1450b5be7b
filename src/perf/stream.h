/* The stream of a perf.data capture: the state of the record walk, and the functions that the files
 * of this room share.
 *
 * A stream has one or more parts: a file or pipe has one, a directory has `data` and every data.N.
 * The parts are walked one after the other. pf_walk_begin_part() in walk.c resets the state of a
 * part (position, envelopes, salvage). open.c and file.c read facts (events, features) before the
 * walk, into base.session and base.container. */
#ifndef PF_PERF_STREAM_H
#define PF_PERF_STREAM_H

#include "base/buffer.h"
#include "core/stream.h"
#include "io/zstd.h"
#include "perf/header.h"
#include "perf/salvage.h"
#include "core/command.h"

/* A file of the capture, and the byte range of its records. */
typedef struct pf_perf_part {
    perfile_source *source; /* owned */
    char *name;             /* "data.0" in a directory, owned; otherwise NULL */
    uint64_t start;         /* offset of the first record */
    uint64_t end;           /* end of the records; PF_SIZE_UNKNOWN: the end of the source */
    uint64_t declared; /* end of the data according to the header, if after the end of the file;
                          else 0 */
    uint64_t skip;     /* records up to this offset were overwritten by sections; 0: none */
} pf_perf_part;

/* Damage that was found and not yet reported. */
typedef struct pf_perf_pending {
    uint32_t damage;        /* PERFILE_DAMAGE_… */
    uint8_t flags;          /* PERFILE_REC_INNER if found in decompressed bytes, else 0 */
    uint64_t offset;        /* in the file; of the envelope for inner damage */
    uint64_t stream_offset; /* in the decompressed stream, for inner damage */
    uint64_t lost;          /* number of bytes skipped because of it */
    perfile_bytes bytes;    /* these bytes; ptr is NULL if they do not stay in memory */
} pf_perf_pending;

/* The payload after the last record (AUXTRACE, TRACING_DATA). */
typedef struct pf_perf_extra {
    uint64_t start;  /* offset of its first byte */
    uint64_t pos;    /* offset of the next byte that extra() returns */
    uint64_t left;   /* bytes from there to its end */
    uint64_t record; /* offset of its record */
} pf_perf_extra;

/* Damage after a record that is still delivered: it ends the part at the next call. */
typedef struct pf_perf_deferred {
    unsigned damage; /* PERFILE_DAMAGE_…; 0: none */
    uint64_t offset;
    uint64_t lost; /* bytes before p->pos that are lost as well */
} pf_perf_deferred;

/* PERFILE_ON_DAMAGE_SALVAGE: how far records were examined, and the gap that follows. */
typedef struct pf_perf_salvage {
    bool on;
    bool island;         /* a gap was passed, and too few records since then to prove anything */
    bool gap;            /* a gap begins at `trusted`, described by the next three members */
    bool gap_ends;       /* its end `gap_end` is known; false: it must be searched for */
    unsigned gap_damage; /* PERFILE_DAMAGE_… */
    uint64_t gap_end;
    uint64_t trusted; /* records before this offset may be delivered */
    pf_record_fit fit;
    bool (*is_intact)(void *user); /* see pf_perf_ask_before_gaps() */
    void *user;
} pf_perf_salvage;

/* Compressed records.  The envelopes of a part contain one zstd stream. */
typedef struct pf_perf_inner {
    pf_inflate *inflate; /* NULL before the first envelope */
    uint64_t compressed; /* bytes of zstd input of all parts, for limits.inflate_ratio */
    pf_buffer bytes;     /* decompressed */
    uint64_t pos;        /* offset of bytes.ptr[0] in the decompressed stream */
    size_t at;           /* bytes of `bytes` that were delivered */
    uint64_t envelope;   /* sequence number of the last envelope */
    uint64_t envelope_offset;
    bool broken;       /* no more inner records; the damage was reported */
    bool waits;        /* the rest of `bytes` is an incomplete record: it needs the next envelope */
    bool ends;         /* … which will not come, because it could not be decompressed */
    bool frame_lost;   /* decompression can only go on at the magic of a zstd frame */
    size_t trusted;    /* as pf_perf_salvage.trusted, in `bytes` */
    pf_record_fit fit; /* as pf_perf_salvage.fit, for inner records */
} pf_perf_inner;

/* A record of simpleperf above 64 KiB, put together from its fragments. */
typedef struct pf_perf_split {
    pf_buffer bytes;
    bool ready;         /* `bytes` is a complete record, not delivered yet */
    bool open;          /* fragments were collected, and more must come */
    uint64_t offset;    /* of the first fragment */
    uint64_t fragments; /* collected so far */
} pf_perf_split;

typedef struct pf_perf_stream {
    perfile_stream base;
    bool swap;             /* the byte order of the capture is not that of this machine */
    perfile_assume assume; /* copy of the caller's; base.options.assume points here, or is NULL */
    char *name;            /* owned; base.name points to it */
    pf_perf_part *parts;   /* owned */
    uint32_t n_parts;
    perfile_part *part_names; /* owned; container.parts points to it */

    /* Position of the walk. */
    uint32_t part;           /* index of the part that is walked */
    pf_perf_part *file;      /* &parts[part]; NULL before the first part */
    uint64_t pos;            /* offset of the next record in it */
    uint64_t sequence;       /* number of the next record, over all parts */
    uint32_t prefetch_bytes; /* prefetch distance of the framing loop */
    bool slots_inner;        /* the slots of base.run are prepared for inner records */
    bool slot_dirty;         /* slot 0 must be prepared again */
    bool part_over;          /* no more of this part is read */
    bool part_damaged; /* damage of this part was found: no more damage is reported at its end */

    struct {
        const pf_narrow *how; /* the request: what the reader needs of ranges; NULL: everything, or
                                 counts only */
        bool on;     /* records that the reader does not need are skipped: pf_perf_pass_absent() */
        bool counts; /* pf_perf_pass() has asked the sources for counts */
    } narrow;
    pf_perf_extra extra;
    pf_perf_deferred deferred;
    pf_perf_salvage salvage;
    pf_perf_inner inner;
    pf_perf_split split;
    struct {
        pf_perf_pending at[4]; /* no single step adds more than 4 */
        uint32_t n;
    } pending; /* damage to be reported before the walk goes on, in order */

    perfile_section *ids; /* id section of each attr of the file; size 0: damaged or none */
    uint32_t n_ids;
    perfile_source *directory;         /* owned; NULL if the capture is not a directory */
    perfile_extent *extents;           /* owned; container.extents points to it */
    perfile_container_damage *damages; /* owned; container.damages points to it */
} pf_perf_stream;

/* Returns `s` as a perf.data stream; it must have been made by this room. */
static inline pf_perf_stream *pf_perf_of(perfile_stream *s)
{
    return (pf_perf_stream *)(void *)s;
}

/* perf/open.c. pf_perf_stream_new() makes a stream with checked options and one empty part, which
 * still needs a source and a session. pf_perf_name_stream() sets a copy of `name`.
 * pf_perf_name_parts() fills container.parts when all parts are known. */
perfile_status pf_perf_stream_new(const perfile_open_options *options, pf_perf_stream **out,
                                  perfile_error *err);
perfile_status pf_perf_name_stream(pf_perf_stream *p, const char *name, perfile_error *err);
perfile_status pf_perf_name_parts(pf_perf_stream *p, perfile_error *err);

/* perf/walk.c */
extern const pf_stream_ops pf_perf_ops;

/* Sets *run to the bytes at p->pos: at least `need` of them unless the part ends before, mostly
 * more, never beyond the end of the part.  Valid until the next call if the source is not `stable`.
 */
perfile_status pf_perf_fetch(pf_perf_stream *p, uint64_t need, perfile_bytes *run,
                             perfile_error *err);

/* perf/walk.c: adds damage to p->pending; it is reported by the next fill(). */
void pf_perf_add_damage(pf_perf_stream *p, const pf_perf_pending *what);

/* Counts the bytes of the part from p->pos on.  A pipe is read to its end for that. */
perfile_status pf_perf_count_rest(pf_perf_stream *p, uint64_t *rest, perfile_error *err);

/* PERFILE_ON_DAMAGE_SALVAGE: sets a callback that is called once, before the first gap is reported.
 * If it returns true, the capture is known to be intact in spite of its odd records: salvage ends,
 * and the rest is read as stored.  The callback may read the sources of the stream. */
void pf_perf_ask_before_gaps(perfile_stream *s, bool (*is_intact)(void *user), void *user);

/* Calls that callback, at most once per stream.  Returns true if salvage is switched off. */
static inline bool pf_perf_check_intact(pf_perf_stream *p)
{
    bool intact = p->salvage.is_intact && p->salvage.is_intact(p->salvage.user);
    p->salvage.is_intact = NULL;
    if (intact) {
        p->salvage.on = false;
        p->base.options.on_damage = PERFILE_ON_DAMAGE_STOP;
    }
    return intact;
}

/* Makes the next call end the part because of `damage` at `offset`.  The lost bytes are `lost`
 * bytes before p->pos and all bytes from p->pos on. */
static inline void pf_perf_defer(pf_perf_stream *p, unsigned damage, uint64_t offset, uint64_t lost)
{
    p->deferred.damage = damage;
    p->deferred.offset = offset;
    p->deferred.lost = lost;
}

/* perf/file.c: sets *bytes to [offset, offset + size) of a seekable source; len is 0 if the range
 * is not completely inside the source.  Valid until the next call unless the source is `lasting`.
 */
perfile_status pf_perf_bytes(perfile_source *s, uint64_t offset, uint64_t size,
                             perfile_bytes *bytes, perfile_error *err);

/* Reads the sections that the header `h` of a file points to: attrs, ids, event types and features
 * into session and container, the range of the records into `part`.  Damage is recorded, not
 * returned. */
perfile_status pf_perf_file(pf_perf_stream *p, pf_perf_part *part, pf_perf_header *h,
                            perfile_error *err);
/* Records damage of the container (not of a record): its kind, the section it is in
 * (PERFILE_EXTENT_…), and its offset. */
perfile_status pf_perf_container_damage(pf_perf_stream *p, unsigned damage, uint32_t role,
                                        uint64_t offset, perfile_error *err);

/* perf/walk.c: pf_stream_narrow(). */
void pf_perf_narrow(perfile_stream *s, const pf_narrow *how);
/* Skips the records from p->pos on that the source does not show. */
void pf_perf_pass_absent(pf_perf_stream *p);
/* Sets *absent to the range of records at p->pos that the source does not show.  Returns false if
 * the source shows the record at p->pos. */
bool pf_perf_absent(const pf_perf_stream *p, pf_absent *absent);

/* Returns true if the next batch would consist of outer records at p->pos: no envelope is open, no
 * damage is pending, and no salvage is active.  Only then may records be skipped without being
 * framed. */
static inline bool pf_perf_at_records(pf_perf_stream *p)
{
    bool inner = p->split.ready || (p->inner.at < p->inner.bytes.len && !p->inner.waits);
    if (!p->file || p->part_over || p->pending.n || p->deferred.damage || p->salvage.on || inner ||
        p->file->skip > p->pos)
        return false;
    if (p->narrow.on)
        pf_perf_pass_absent(p);
    return true;
}

/* perf/walk.c: pf_stream_pass(). */
void pf_perf_pass(perfile_stream *s, pf_passed *passed);

/* The members of pf_stream_ops that concern records after the current batch.  They are the same for
 * every stream that walks perf.data records (walk.c, live.c). */
#define PF_PERF_AHEAD .pass = pf_perf_pass, .narrow = pf_perf_narrow

/* perf/walk.c: perfile_stream_seek(). */
perfile_status pf_perf_seek(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err);

/* perf/header.c: fills container.extents with the extents of a file of `file_size` bytes. */
perfile_status pf_perf_extents(pf_perf_stream *p, const pf_perf_header *h, uint64_t file_size,
                               perfile_error *err);

/* perf/open.c: adds the parts data.N of the directory `dir` after the first part, `data`. */
perfile_status pf_perf_directory(pf_perf_stream *p, const perfile_source *dir, perfile_error *err);

/* perf/envelope.c. pf_perf_add_envelope() decompresses or collects the content of `r`, just framed,
 * if it is an envelope; it does nothing for other records. pf_perf_fill_inner() makes a batch of
 * the records from inside envelopes; base.n_run stays 0 if the next one is incomplete. */
perfile_status pf_perf_add_envelope(pf_perf_stream *p, perfile_record *r, perfile_error *err);
perfile_status pf_perf_fill_inner(pf_perf_stream *p, perfile_error *err);
/* pf_perf_begin_envelopes() resets the state of envelopes at the beginning of a part.
 * pf_perf_end_envelopes() reports at its end what was left incomplete. */
void pf_perf_begin_envelopes(pf_perf_stream *p);
void pf_perf_end_envelopes(pf_perf_stream *p);

/* The record walk and its treatment of damage: walk.c.
 *
 * There are three ways to report damage.  Damage at p->pos is put into p->pending and reported by
 * the next fill().  Damage after a record that is still good is deferred (pf_perf_defer()) until
 * that record was delivered.  A gap is a range that salvage has classified as "no records". */

/* Resets all state of a part and sets p->file to part number p->part, at its first record. */
void pf_walk_begin_part(pf_perf_stream *p);

/* Removes the first entry of p->pending, counts it in the summary, and makes it a batch of one
 * DAMAGE record if the caller asked for these (PERFILE_DELIVER_DAMAGE). */
void pf_walk_report(pf_perf_stream *p);

/* Ends the part: all bytes from p->pos on are lost because of `damage` at `offset`. */
perfile_status pf_walk_stop_part(pf_perf_stream *p, unsigned damage, uint64_t offset,
                                 perfile_error *err);

/* Moves p->pos to the next chain of records, searching from p->pos + `from` on.  Reports the bytes
 * in between as lost because of `damage`. */
perfile_status pf_walk_resync(pf_perf_stream *p, unsigned damage, uint64_t from,
                              perfile_error *err);

/* Called when the bytes at p->pos are not a record: searches for the next one, or, with
 * PERFILE_ON_DAMAGE_STOP, ends the part. */
perfile_status pf_walk_bad_record(pf_perf_stream *p, unsigned damage, perfile_error *err);

/* Ends the part because of the damage that pf_perf_defer() recorded. */
perfile_status pf_walk_end_deferred(pf_perf_stream *p, perfile_error *err);

/* Called when the input ended inside the payload of the last record.  This can only happen on a
 * pipe, if the payload was skipped without being read while the size of the pipe was unknown. */
perfile_status pf_walk_end_in_extra(pf_perf_stream *p, perfile_error *err);

/* Skips and reports the gap that pf_walk_look_ahead() found at p->pos. */
perfile_status pf_walk_skip_gap(pf_perf_stream *p, perfile_error *err);

/* Salvage: examines the bytes from p->pos on and sets p->salvage.trusted and the members that
 * describe the gap after it (p->salvage.gap …).  *run begins at p->pos. */
perfile_status pf_walk_look_ahead(pf_perf_stream *p, perfile_bytes *run, perfile_error *err);

/* file.c: the sections of a perf.data file.
 *
 * Id sections of two attrs that overlap are damage, and so are the sections of two features that
 * overlap.  Otherwise a hostile file of n bytes could claim n bytes of facts for each attr and each
 * feature, and memory use would be their product. */

/* One of several sections of one kind (all ids, or all features) that must not overlap. */
typedef struct pf_claim {
    perfile_section section; /* inside the file, not empty */
    uint32_t number;         /* of the attr or feature; if two overlap, the lower number is kept */
} pf_claim;

/* Sets lost[number] for each section that overlaps one of a lower number.  The remaining sections
 * do not overlap, so together they have no more bytes than the file.  Sorts `claims` by offset. */
void pf_perf_settle_claims(pf_claim *claims, uint32_t n, bool *lost);

/* pf_perf_file_attrs() reads attrs and ids into the session, and the offsets of the id sections
 * into p->ids. pf_perf_file_event_types() reads names of event types (old versions of perf) into
 * the session. */
perfile_status pf_perf_file_attrs(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                  perfile_error *err);
perfile_status pf_perf_file_event_types(pf_perf_stream *p, perfile_source *s,
                                        const pf_perf_header *h, perfile_error *err);

/* The driver of perf.data, and the functions of its table that are not in open.c. */

extern const pf_driver pf_perf_driver;

/* byteswap.c: pf_driver.byteswap_head and pf_driver.byteswap_facts. */
void pf_perf_byteswap_head(perfile_bytes bytes, uint8_t *out);
perfile_status pf_perf_byteswap_facts(const pf_byteswap_copy *t, perfile_error *err);

/* repair.c */
extern const pf_repair_ops pf_perf_repair_ops;

/* write.c */
perfile_status pf_perf_create(perfile_sink *sink, const perfile_writer_options *options,
                              perfile_writer **writer, perfile_error *err);

#endif
