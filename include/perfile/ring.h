/* The kernel's ring buffer, read from memory that the caller mapped.
 *
 * The caller does perf_event_open() and mmap(), and passes the control page and the data area to
 * the library.  So the library can read any memory of that layout, even on systems without Linux.
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
 * Nothing in the shared memory is believed: positions and sizes are checked against the data area
 * before they are used.  An impossible number is an error with a name, and reading continues after
 * it.  Numbers are in the byte order of this machine. */
#ifndef PERFILE_RING_H
#define PERFILE_RING_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A ring buffer that the caller has mapped. */
typedef struct perfile_ring perfile_ring;

enum { /* perfile_ring_options.mode */
       /* Mapped writable: the kernel keeps records until they are released.  If the buffer is full,
        * it drops new records and reports them with LOST. */
       PERFILE_RING_FORWARD = 0,
       /* Mapped read-only: the kernel overwrites old records and never waits.  Records are copied,
        * then checked again after the copy.  The kernel announces what it has written, not what it
        * is about to write.  So the oldest record is certainly intact only while the output is
        * paused. */
       PERFILE_RING_READ_ONLY = 1,
       /* attr.write_backward: the most recent records.  See perfile_ring_snapshot(). */
       PERFILE_RING_OVERWRITE = 2
};

/* Set `size`, `page`, `page_bytes` and `data`; zeros are the defaults.  The caller owns the memory,
 * which must outlive the ring. */
typedef struct perfile_ring_options {
    size_t size;
    void *page;         /* control page; written only to move data_tail and aux_tail */
    size_t page_bytes;  /* at least PERFILE_RING_PAGE_BYTES; `page` is aligned to 8 bytes */
    perfile_bytes data; /* a power of two bytes long, at least 8, aligned to 8 */
    perfile_bytes aux;  /* the AUX area, likewise, or nothing */
    uint32_t mode;      /* PERFILE_RING_… */
    bool aux_overwrite; /* the AUX area is mapped read-only: aux_tail is not updated */
    /* For perfile_record.session, so that samples and trailers can be decoded; may be NULL. */
    const perfile_session *session;
    uint64_t reserved[8];
} perfile_ring_options;

enum { PERFILE_RING_PAGE_BYTES = 1088 /* bytes of a control page that are used */ };

/* Finds the data area in one mapping of control page and data.  The page states where it is.
 * Kernels before 4.1 do not state it: then it is everything after the first `page_size` bytes.
 * PERFILE_E_CORRUPT (bad-size, out-of-bounds): the page states something impossible. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_find(const void *mapping, size_t bytes,
                                                              size_t page_size, perfile_bytes *data,
                                                              perfile_error *err);

/* Makes a ring of the memory in `o`.  Reading begins at data_tail, where the previous reader
 * stopped; a read-only ring begins at the first record, or at data_head if the first is already
 * overwritten.
 * PERFILE_E_USAGE: an impossible pointer, size or mode.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_open(const perfile_ring_options *o,
                                                              perfile_ring **ring,
                                                              perfile_error *err);
/* Closes the ring, without releasing anything to the kernel.  `ring` may be NULL. */
PERFILE_API void perfile_ring_close(perfile_ring *ring);

/* Fetches the next record.  PERFILE_END: there is none now; try again later.
 *
 * The struct is valid until the next call on `ring`, its bytes until perfile_ring_release().  This
 * also holds for a record that wraps, which is copied.  In read-only mode both are valid until the
 * next call.  `offset` is the position in bytes since the buffer was made.
 *
 * PERFILE_E_CORRUPT: err.damage is OVERRUN if the writer is ahead by more than the length of the
 * data area, BAD_SIZE if data_head or the size of a record is impossible; err.offset is the
 * position.  Everything unread is lost and counted, and the next call continues at data_head.  In
 * overwrite mode the snapshot ends. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_next(perfile_ring *ring,
                                                              const perfile_record **r,
                                                              perfile_error *err);

/* Yields all bytes that are available now, unparsed, in two spans. spans[1] continues at the start
 * of the data area, and is empty if nothing wraps.  No byte is copied, so a writer can use the
 * bytes directly.  They count as read and are valid until perfile_ring_release().  PERFILE_END and
 * errors are those of perfile_ring_next(), except that record sizes are not checked. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_take(perfile_ring *ring,
                                                              perfile_bytes spans[2],
                                                              perfile_error *err);

/* Releases everything read so far to the kernel (data_tail).  Records and spans returned earlier
 * are no longer valid.  In modes without a tail nothing is released, but the result matters:
 * PERFILE_E_CORRUPT with OVERRUN if the kernel has overwritten bytes that were returned since the
 * last release. */
PERFILE_API perfile_status perfile_ring_release(perfile_ring *ring, perfile_error *err);

/* Takes a snapshot in overwrite mode: reads data_head, and perfile_ring_next() and
 * perfile_ring_take() then yield the records that are there now.  The newest comes first; a record
 * that is partly overwritten is omitted.  Pause the output (PERF_EVENT_IOC_PAUSE_OUTPUT) from
 * before this call until after perfile_ring_release().  `only_new`: only records written since the
 * last snapshot.  Fails as perfile_ring_next() does; PERFILE_E_USAGE in other modes. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_snapshot(perfile_ring *ring, bool only_new,
                                                                  perfile_error *err);

/* Counts of the records a ring has returned, and of those lost. */
typedef struct perfile_ring_summary {
    uint64_t records;    /* returned by next() */
    uint64_t bytes;      /* returned by next() and take() */
    uint64_t wrapped;    /* records that were copied because they wrap */
    uint64_t overruns;   /* number of times the writer was too far ahead */
    uint64_t damages;    /* number of impossible positions and sizes */
    uint64_t lost_bytes; /* bytes skipped because of both */
    /* Losses that the kernel reported in LOST and LOST_SAMPLES records returned by
     * perfile_ring_next(). */
    uint64_t lost_records;
    uint64_t lost_samples; /* from LOST_SAMPLES records */
    uint64_t reserved[8];
} perfile_ring_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out. */
static inline void perfile_ring_get_summary(const perfile_ring *ring, perfile_ring_summary *out,
                                            size_t size)
{
    perfile_summary(PERFILE_SUMMARY_RING, ring, out, size);
}
#endif

/* The rings as a stream. */

/* Set `size`, `rings`, `n_rings`, and `session` unless the first ring has one. */
typedef struct perfile_ring_stream_options {
    size_t size;
    perfile_ring *const *rings; /* for example one per CPU; the array is copied */
    size_t n_rings;             /* items of `rings` */
    const perfile_session
        *session; /* NULL: the session of the first ring.  The stream makes a copy */
    const perfile_open_options *options; /* NULL: defaults.  See on_damage below */
    const char *name;                    /* for messages, copied; may be NULL */
    /* Called when all rings are empty; err is never NULL.  PERFILE_OK: read the rings again (for
     * example after poll(2)).  PERFILE_END: the stream ends.  A negative status: the stream fails
     * with it.  NULL: the stream ends after all rings were read once. */
    perfile_status (*wait)(void *user, perfile_error *err);
    void *user;
    uint64_t reserved[6];
} perfile_ring_stream_options;

/* Makes a stream of the records in the rings.  It reads one ring after the other, each until it is
 * empty or has yielded as many bytes as its buffer holds.  Records of one ring are in order; put
 * perfile_sort() on the stream to order all of them by time.  In overwrite mode the stream has the
 * records of the last perfile_ring_snapshot().
 *
 * Without `wait` the stream ends when all rings were read, and its end is final.  To read later
 * records make another stream: the rings remember their positions.
 *
 * The caller keeps the rings, which must outlive the stream.  While the stream is read, call no
 * other function on them (next, take, release, snapshot).  Records are valid until the next call on
 * the stream.  The stream releases what it has yielded to the kernel in steps, and all of it before
 * PERFILE_END.  A stream that is closed before its end releases nothing: call
 * perfile_ring_release().  What it had taken from a ring but not yet yielded is lost.
 *
 * A ring that was overrun, or a page with an impossible number, is damage of the stream.  With
 * options->on_damage RESYNC reading continues after it, otherwise the stream ends there.
 * perfile_ring_get_summary() counts what was lost.
 *
 * PERFILE_E_USAGE: no rings, no session, a session in the other byte order, or a `size` that is 0.
 * Other errors are those of perfile_stream_callback(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_stream(
    const perfile_ring_stream_options *options, perfile_stream **stream, perfile_error *err);

/* The AUX area. */

enum { /* `what` of perfile_ring_aux() */
       PERFILE_RING_AUX_NEW = 0,
       PERFILE_RING_AUX_RANGE = 1,
       PERFILE_RING_AUX_ALL = 2
};

/* Yields a part of the AUX area, for the three functions below.  PERFILE_E_USAGE: there is no such
 * part. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_aux(perfile_ring *ring, uint32_t what,
                                                             uint64_t *offset, uint64_t size,
                                                             perfile_bytes spans[2],
                                                             perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Yields what was written to the AUX area since the last call, in two pieces like
 * perfile_ring_take().  *offset (may be NULL) becomes its position, counted as in AUX records.
 * PERFILE_END: nothing new.  PERFILE_E_CORRUPT with OVERRUN as above.  PERFILE_E_USAGE with
 * `aux_overwrite`: there it is unknown how often the writer has wrapped. */
static inline PERFILE_MUST_USE perfile_status perfile_ring_aux_take(perfile_ring *ring,
                                                                    perfile_bytes spans[2],
                                                                    uint64_t *offset,
                                                                    perfile_error *err)
{
    return perfile_ring_aux(ring, PERFILE_RING_AUX_NEW, offset, 0, spans, err);
}

/* Yields the bytes that an AUX record announces (aux_offset and aux_size of perfile_aux).  All
 * bytes up to their end count as read.  PERFILE_END: they are not there yet; the kernel writes the
 * record before it moves aux_head, so try again.  PERFILE_E_CORRUPT with OUT_OF_BOUNDS: the area
 * does not hold them, or no longer. */
static inline PERFILE_MUST_USE perfile_status perfile_ring_aux_range(perfile_ring *ring,
                                                                     uint64_t offset, uint64_t size,
                                                                     perfile_bytes spans[2],
                                                                     perfile_error *err)
{
    return perfile_ring_aux(ring, PERFILE_RING_AUX_RANGE, &offset, size, spans, err);
}

/* Yields the whole AUX area, oldest byte first: from aux_head to the end, then from the start to
 * aux_head.  If the writer has not wrapped yet, the first bytes are the initial content: zeros.
 * Only with `aux_overwrite`, else PERFILE_E_USAGE. */
static inline PERFILE_MUST_USE perfile_status perfile_ring_aux_snapshot(perfile_ring *ring,
                                                                        perfile_bytes spans[2],
                                                                        perfile_error *err)
{
    return perfile_ring_aux(ring, PERFILE_RING_AUX_ALL, NULL, 0, spans, err);
}
#endif

/* Releases what was read to the kernel (aux_tail).  Does nothing with `aux_overwrite`. */
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
                                time, so it is ambiguous and never used */
    uint16_t pmc_width;      /* bits of the counter */
    uint16_t time_shift;     /* time: cycles to ns, as the kernel's perf_event_mmap_page says */
    uint32_t time_mult;      /* the same */
    uint64_t time_offset;    /* the same, ns */
    uint64_t time_zero;      /* the same, ns */
    uint64_t time_cycles;    /* of a counter shorter than 64 bits: cycles when time was read */
    uint64_t time_mask;      /* the same: its valid bits */
    uint64_t reserved[4];
} perfile_ring_page;

/* Reads a consistent set of the numbers into the first `size` bytes of *out.  PERFILE_E_USAGE:
 * `page` is not such memory.  PERFILE_E_CORRUPT: the page was being changed for longer than is
 * possible. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_read(const void *page, size_t bytes,
                                                                   perfile_ring_page *out,
                                                                   size_t size, perfile_error *err);

/* Returns true if the page has not changed since *p was read.  Call it after reading the counter or
 * the clock; if it returns false, begin again. */
PERFILE_API bool perfile_ring_page_unchanged(const void *page, const perfile_ring_page *p);

/* Fills the conversion in *clock, for perfile_clock_time() and perfile_clock_cycles().  The other
 * members become 0.  PERFILE_E_UNSUPPORTED: user_time or user_time_zero is missing. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_clock(const perfile_ring_page *p,
                                                                    perfile_clock *clock,
                                                                    perfile_error *err);

enum { /* `what` of perfile_ring_page_value() */
       PERFILE_RING_PAGE_DELTA = 0,
       PERFILE_RING_PAGE_COUNT = 1
};

/* Computes a value of the page from a register of the CPU, for the two functions below.
 * PERFILE_E_USAGE: there is no such value. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_ring_page_value(const perfile_ring_page *p,
                                                                    uint32_t what, uint64_t in,
                                                                    uint64_t *out,
                                                                    perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Computes the ns between the moment of the page and the hardware clock value `cycles`.  Add them
 * to time_enabled and, if `index` is not 0, to time_running.  PERFILE_E_UNSUPPORTED: there is no
 * user_time. */
static inline PERFILE_MUST_USE perfile_status perfile_ring_page_delta(const perfile_ring_page *p,
                                                                      uint64_t cycles,
                                                                      uint64_t *delta,
                                                                      perfile_error *err)
{
    return perfile_ring_page_value(p, PERFILE_RING_PAGE_DELTA, cycles, delta, err);
}

/* Computes the count.  `pmc` is the result of the instruction rdpmc(index - 1); it is ignored if
 * the event is on no counter (index 0).  PERFILE_E_UNSUPPORTED: on a counter, but without
 * user_rdpmc. */
static inline PERFILE_MUST_USE perfile_status perfile_ring_page_count(const perfile_ring_page *p,
                                                                      uint64_t pmc, uint64_t *count,
                                                                      perfile_error *err)
{
    return perfile_ring_page_value(p, PERFILE_RING_PAGE_COUNT, pmc, count, err);
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Scales `count` to the time enabled: count * enabled / running, exact, modulo 2^64.  Returns false
 * if `running` is 0. */
static inline bool perfile_ring_scale(uint64_t count, uint64_t enabled, uint64_t running,
                                      uint64_t *scaled)
{
    uint64_t quot = 0, rem = 0, left;
    int bit;
    if (running == 0)
        return false;
    /* A product of 128 bits, for which C has no type: the remainder of `count` times `enabled`, by
     * long division bit by bit.  `rem` and `left` are below `running`. */
    left = count % running;
    for (bit = 63; bit >= 0; bit--) {
        quot <<= 1;
        quot += rem >= running - rem;
        rem = rem >= running - rem ? rem - (running - rem) : rem + rem;
        if (enabled >> bit & 1) {
            quot += rem >= running - left;
            rem = rem >= running - left ? rem - (running - left) : rem + left;
        }
    }
    *scaled = count / running * enabled + quot;
    return true;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
