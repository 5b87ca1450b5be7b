/* The kernel's ring buffer, read from memory that the caller mapped.
 *
 * perf_event_open() and mmap() are the caller's business: the library is given the control page
 * and the data area, and so reads any memory of that shape, also where there is no Linux.
 *
 *     perfile_ring_options o = {.size = sizeof o, .page = map, .page_bytes = page_size};
 *     st = perfile_ring_find(map, map_bytes, page_size, &o.data, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_ring_open(&o, &ring, &err);
 *     …
 *     while ((st = perfile_ring_next(ring, &r, &err)) == PERFILE_OK)
 *         …
 *     perfile_ring_release(ring, NULL);
 *
 * Nothing in the shared memory is believed: positions and sizes are compared with the data area
 * before they are used.  An impossible number is an error with a name, and reading continues
 * behind it.  Numbers are in this machine's byte order.
 */
#ifndef PERFILE_RING_H
#define PERFILE_RING_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A ring buffer that the caller has mapped. */
typedef struct perfile_ring perfile_ring;

enum { /* perfile_ring_options.mode */
       /* Mapped writable: the kernel keeps what was not released, drops new records when the buffer
        * is full, and reports them with LOST. */
       PERFILE_RING_FORWARD = 0,
       /* Mapped read-only: the kernel goes round and never waits.  Records are copied, and looked
        * at again after the copy.  The kernel announces what it wrote, not what it is about to
        * write: only while the output is paused is the oldest record certainly whole. */
       PERFILE_RING_READ_ONLY = 1,
       /* attr.write_backward: the last records before now.  See perfile_ring_snapshot(). */
       PERFILE_RING_OVERWRITE = 2
};

/* Set `size`, `page`, `page_bytes` and `data`; zeros are the defaults.  The memory is the caller's
 * and must outlive the ring. */
typedef struct perfile_ring_options {
    size_t size;
    void *page;         /* control page; written only to move data_tail and aux_tail */
    size_t page_bytes;  /* at least PERFILE_RING_PAGE_BYTES; `page` is aligned to 8 bytes */
    perfile_bytes data; /* a power of two of bytes, at least 8, aligned to 8 */
    perfile_bytes aux;  /* the AUX area, likewise, or nothing */
    uint32_t mode;      /* PERFILE_RING_… */
    bool aux_overwrite; /* the AUX area is mapped read-only: no aux_tail is kept */
    /* For perfile_record.session, so that samples and trailers can be decoded; may be NULL. */
    const perfile_session *session;
    uint64_t reserved[8];
} perfile_ring_options;

enum { PERFILE_RING_PAGE_BYTES = 1088 /* of a control page that mean something */ };

/* Finds the data area in one mapping of control page and data: where the page says it is, or, with
 * kernels before 4.1, which do not say, behind the first `page_size` bytes up to the end.
 * PERFILE_E_CORRUPT (bad-size, out-of-bounds): the page says what cannot be. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_find(const void *mapping, size_t bytes,
                                                              size_t page_size, perfile_bytes *data,
                                                              perfile_error *err);

/* A ring over `o`'s memory.  Reading begins at data_tail, where the reader before stopped;
 * read-only at the first record, or at data_head when that is overwritten already.
 * PERFILE_E_USAGE: a pointer, size or mode that cannot be; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_open(const perfile_ring_options *o,
                                                              perfile_ring **ring,
                                                              perfile_error *err);
/* Releases nothing to the kernel.  NULL is fine. */
PERFILE_API void perfile_ring_close(perfile_ring *ring);

/* Fetches the next record.  PERFILE_END: there is none now; ask again later.
 *
 * The struct is valid until the next call on `ring`, its bytes until perfile_ring_release() (also
 * those of a record that wraps, which are in a copy); read-only both until the next call.
 * `offset` is the position in bytes since the buffer was made.
 *
 * PERFILE_E_CORRUPT: err.damage is OVERRUN when the writer is further ahead than the data area is
 * long, BAD_SIZE when data_head or the size of a record cannot be; err.offset is the position. All
 * that was there is lost and counted; the next call goes on at data_head.  In overwrite mode it
 * ends the snapshot. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_next(perfile_ring *ring,
                                                              const perfile_record **r,
                                                              perfile_error *err);

/* All bytes that are there now, unparsed, in two spans: spans[1] continues at the start of the data
 * area and is empty when nothing wraps.  For a writer: no byte is copied.  The bytes count as
 * read and are valid until perfile_ring_release().  PERFILE_END and errors are those of
 * perfile_ring_next(), but for sizes of records, which are not looked at. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_take(perfile_ring *ring,
                                                              perfile_bytes spans[2],
                                                              perfile_error *err);

/* Gives what was read back to the kernel (data_tail).  Records and spans handed out so far end
 * here.  Where no tail is kept nothing is given back, but the answer matters: PERFILE_E_CORRUPT
 * with OVERRUN when the kernel overwrote what was handed out since the last release. */
PERFILE_API perfile_status perfile_ring_release(perfile_ring *ring, perfile_error *err);

/* Overwrite mode: looks at data_head and makes the records that are there now the ones that next()
 * and take() give, the newest first, the one that is partly overwritten left out.  Pause the
 * output (PERF_EVENT_IOC_PAUSE_OUTPUT) from before this call to after perfile_ring_release().
 * `only_new`: only what was written since the last snapshot.
 * Fails as perfile_ring_next() does; PERFILE_E_USAGE in other modes. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_snapshot(perfile_ring *ring, bool only_new,
                                                                  perfile_error *err);

/* What a ring has handed out, and what was lost. */
typedef struct perfile_ring_summary {
    uint64_t records;    /* handed out by next() */
    uint64_t bytes;      /* handed out by next() and take() */
    uint64_t wrapped;    /* records that were copied because they wrap */
    uint64_t overruns;   /* times that the writer was too far ahead */
    uint64_t damages;    /* times that a position or size was impossible */
    uint64_t lost_bytes; /* passed over because of both */
    /* What the kernel says in LOST and LOST_SAMPLES records that next() handed out. */
    uint64_t lost_records;
    uint64_t lost_samples; /* the same, of LOST_SAMPLES */
    uint64_t reserved[8];
} perfile_ring_summary;

/* Fills the first `size` bytes of *out. */
PERFILE_API void perfile_ring_get_summary(const perfile_ring *ring, perfile_ring_summary *out,
                                          size_t size);

/* The rings as a stream. */

/* Set `size`, `rings`, `n_rings`, and `session` unless the first ring has one. */
typedef struct perfile_ring_stream_options {
    size_t size;
    perfile_ring *const *rings;          /* one for each processor, say; the array is copied */
    size_t n_rings;                      /* items of `rings` */
    const perfile_session *session;      /* NULL: that of the first ring.  The stream has a copy */
    const perfile_open_options *options; /* NULL: defaults.  See on_damage below */
    const char *name;                    /* for messages, copied; may be NULL */
    /* Called when all rings are empty, with a place for an error.  PERFILE_OK: look again (after
     * poll(2), say); PERFILE_END: the stream ends; a negative status: it fails with that.  NULL:
     * the stream ends when all rings were read once. */
    perfile_status (*wait)(void *user, perfile_error *err);
    void *user;
    uint64_t reserved[6];
} perfile_ring_stream_options;

/* Makes a stream of the records in the rings.  It reads one ring after the other, each until it is
 * empty or has given as many bytes as its buffer holds.  Records of one ring are in order; put
 * perfile_sort() on the stream for one order by time.  In overwrite mode the stream has what the
 * last perfile_ring_snapshot() found.
 *
 * Without `wait` the stream ends when all rings were read, and an end is final.  For what is
 * written later make another stream: the rings remember their positions.
 *
 * The rings stay the caller's and must outlive the stream.  While it is read, call no other
 * function on them (next, take, release, snapshot).  Records are valid until the next call on the
 * stream.  The stream releases what it has yielded to the kernel, some of it at a time and all of
 * it before PERFILE_END.  A stream closed before its end releases nothing: call
 * perfile_ring_release().  What it had taken from a ring but not yielded by then is lost.
 *
 * A ring that was overrun, or whose page has an impossible number, is damage of the stream: with
 * options->on_damage RESYNC reading continues behind it, otherwise the stream ends there.
 * perfile_ring_get_summary() counts what was lost.
 *
 * PERFILE_E_USAGE: no rings, no session, one that is in the other byte order, a `size` that is 0;
 * and as perfile_stream_callback(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_stream(
    const perfile_ring_stream_options *options, perfile_stream **stream, perfile_error *err);

/* The AUX area. */

/* What was written there since the last call, in two pieces as with perfile_ring_take(); *offset
 * (may be NULL) is its position, as AUX records count.  PERFILE_END: nothing.
 * PERFILE_E_CORRUPT with OVERRUN as above.  PERFILE_E_USAGE with `aux_overwrite`: nobody knows
 * there how often the writer went round. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_aux_take(perfile_ring *ring,
                                                                  perfile_bytes spans[2],
                                                                  uint64_t *offset,
                                                                  perfile_error *err);

/* What an AUX record announces (aux_offset and aux_size of perfile_aux).  What is in front of its
 * end counts as read.  PERFILE_END: not there yet; the kernel announces before it moves aux_head,
 * so ask again.  PERFILE_E_CORRUPT with OUT_OF_BOUNDS: the area does not hold it (any more). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_aux_range(perfile_ring *ring,
                                                                   uint64_t offset, uint64_t size,
                                                                   perfile_bytes spans[2],
                                                                   perfile_error *err);

/* The whole area, oldest byte first: from aux_head to the end, from the start to aux_head.  Where
 * the writer has not been round yet the first bytes are what was there before: zeros.  For
 * `aux_overwrite`, else PERFILE_E_USAGE. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_aux_snapshot(perfile_ring *ring,
                                                                      perfile_bytes spans[2],
                                                                      perfile_error *err);

/* Gives what was read back to the kernel (aux_tail); with `aux_overwrite` nothing. */
PERFILE_API void perfile_ring_aux_release(perfile_ring *ring);

/* The numbers of the control page. */

enum { /* perfile_ring_page.capabilities */
       PERFILE_RING_BIT0_IS_DEPRECATED = 1 << 1,
       PERFILE_RING_USER_RDPMC = 1 << 2,
       PERFILE_RING_USER_TIME = 1 << 3,
       PERFILE_RING_USER_TIME_ZERO = 1 << 4,
       PERFILE_RING_USER_TIME_SHORT = 1 << 5
};

/* The numbers of the control page, read at one moment. */
typedef struct perfile_ring_page {
    uint32_t lock;           /* the sequence the rest was read at */
    uint32_t version;        /* of the page */
    uint32_t compat_version; /* lowest version it is compatible with */
    uint32_t index;          /* 0: not on a counter now, else its number + 1 */
    uint64_t offset;         /* to be added to the counter, modulo 2^64 */
    uint64_t time_enabled;   /* ns that the event was enabled */
    uint64_t time_running;   /* ns that it ran */
    uint64_t capabilities;   /* as stored.  Kernels before 3.12 set bit 0 for either of rdpmc and
                                time, so that it says nothing; it is never looked at */
    uint16_t pmc_width;      /* bits of the counter */
    uint16_t time_shift;     /* time: cycles to ns, as the kernel's perf_event_mmap_page says */
    uint32_t time_mult;      /* the same */
    uint64_t time_offset;    /* the same, ns */
    uint64_t time_zero;      /* the same, ns */
    uint64_t time_cycles;    /* of a counter shorter than 64 bits: cycles when time was read */
    uint64_t time_mask;      /* the same: its valid bits */
    uint64_t reserved[4];
} perfile_ring_page;

/* Reads the numbers of one moment into the first `size` bytes of *out.  PERFILE_E_USAGE: `page` is
 * no such memory; PERFILE_E_CORRUPT: the page was being changed for longer than can be. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_read(const void *page, size_t bytes,
                                                                   perfile_ring_page *out,
                                                                   size_t size, perfile_error *err);

/* Whether the page is still what *p was read from: ask after the counter or the clock was read,
 * and begin again when it is not. */
PERFILE_API bool perfile_ring_page_unchanged(const void *page, const perfile_ring_page *p);

/* The conversion of perfile_clock, for perfile_clock_time() and perfile_clock_cycles(); the rest of
 * *clock is 0.  PERFILE_E_UNSUPPORTED: user_time or user_time_zero is missing. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_clock(const perfile_ring_page *p,
                                                                    perfile_clock *clock,
                                                                    perfile_error *err);

/* With user_time: the ns from the moment of the page to the hardware clock value `cycles`, to be
 * added to time_enabled and, when `index` is not 0, to time_running.  PERFILE_E_UNSUPPORTED without
 * user_time. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_delta(const perfile_ring_page *p,
                                                                    uint64_t cycles,
                                                                    uint64_t *delta,
                                                                    perfile_error *err);

/* The count, `pmc` being what the instruction rdpmc(index - 1) gave; without a counter (index 0)
 * `pmc` does not matter.  PERFILE_E_UNSUPPORTED: on a counter, but without user_rdpmc. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_count(const perfile_ring_page *p,
                                                                    uint64_t pmc, uint64_t *count,
                                                                    perfile_error *err);

/* `count` as it would be had the event run all the time: count * enabled / running, exact, modulo
 * 2^64.  False when `running` is 0: there is no such number. */
PERFILE_API bool perfile_ring_scale(uint64_t count, uint64_t enabled, uint64_t running,
                                    uint64_t *scaled);

#ifdef __cplusplus
}
#endif

#endif
