/* The facts of a capture: events, features, clock, hosts.
 *
 * The session grows while the stream is read and never shrinks.  Facts come from the container when
 * it is opened, and from records (HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE …) when they are read.
 * Pointers that it returns are valid as long as the stream. */
#ifndef PERFILE_SESSION_H
#define PERFILE_SESSION_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A feature section, as stored. */
struct perfile_feature {
    uint32_t number;       /* PERFILE_FEATURE_… */
    uint16_t origin;       /* PERFILE_ORIGIN_… */
    uint16_t flags;        /* PERFILE_REC_SWAPPED */
    uint64_t offset;       /* as declared: of the section, or of the record it came in */
    uint64_t size;         /* as declared */
    perfile_bytes payload; /* the bytes present; empty when out of bounds or not in memory */
    uint32_t damage;       /* PERFILE_DAMAGE_OUT_OF_BOUNDS …, 0 */
    uint32_t reserved;
    const perfile_session *session; /* of the stream */
};

enum { /* `number` of perfile_session_number() */
       PERFILE_SESSION_N_EVENTS = 0,
       PERFILE_SESSION_N_FEATURES = 1,
       PERFILE_SESSION_N_BUILD_IDS = 2,
       PERFILE_SESSION_N_CPUS = 3,
       PERFILE_SESSION_BYTE_ORDER = 4,
       PERFILE_SESSION_SWAPPED = 5,
       PERFILE_SESSION_GENERATION = 6
};

/* Returns a number of the session, for the functions below. 0 if `number` is not known. */
PERFILE_API uint64_t perfile_session_number(const perfile_session *s, uint32_t number);

#ifndef PERFILE_DECLARATIONS
/* Returns a counter that grows with every fact that is added or changed.  Compare it before using
 * cached facts. */
static inline uint64_t perfile_session_generation(const perfile_session *s)
{
    return perfile_session_number(s, PERFILE_SESSION_GENERATION);
}

/* Returns the byte order of the capture, PERFILE_BYTE_ORDER_LITTLE or _BIG. */
static inline uint32_t perfile_session_byte_order(const perfile_session *s)
{
    return (uint32_t)perfile_session_number(s, PERFILE_SESSION_BYTE_ORDER);
}

/* Returns true if that differs from the byte order of this machine, so that numbers are
 * byte-swapped when decoded. */
static inline bool perfile_session_swapped(const perfile_session *s)
{
    return perfile_session_number(s, PERFILE_SESSION_SWAPPED) != 0;
}

/* Returns the number of events known so far.  In a pipe more may come. */
static inline uint32_t perfile_session_n_events(const perfile_session *s)
{
    return (uint32_t)perfile_session_number(s, PERFILE_SESSION_N_EVENTS);
}
#endif

/* Return an event by index or id, or NULL if there is no such event. */
PERFILE_API const perfile_event *perfile_session_event(const perfile_session *s, uint32_t index);
PERFILE_API const perfile_event *perfile_session_event_by_id(const perfile_session *s, uint64_t id);

#ifndef PERFILE_DECLARATIONS
/* Returns the number of features known so far. */
static inline uint32_t perfile_session_n_features(const perfile_session *s)
{
    return (uint32_t)perfile_session_number(s, PERFILE_SESSION_N_FEATURES);
}
#endif

/* Returns a feature by position, in ascending order of number.  If one occurs several times, the
 * first is kept. */
PERFILE_API const perfile_feature *perfile_session_feature_at(const perfile_session *s,
                                                              uint32_t position);

#ifndef PERFILE_DECLARATIONS
/* Returns a feature by number, or NULL if the capture does not have it (yet). */
static inline const perfile_feature *perfile_session_feature(const perfile_session *s,
                                                             uint32_t number)
{
    uint32_t i;
    const perfile_feature *f;
    for (i = 0; (f = perfile_session_feature_at(s, i)) != NULL && f->number != number; i++)
        ;
    return f;
}
#endif

/* Build ids of files, from feature BUILD_ID and HEADER_BUILD_ID records, in order of appearance. */
typedef struct perfile_build_id {
    perfile_bytes id;       /* 20 bytes at most */
    perfile_bytes filename; /* valid as long as the session */
    int32_t pid;   /* -1 host (also where the capture does not say), 0 default guest, else guest */
    uint16_t misc; /* cpumode: kernel or user, host or guest */
    uint16_t origin; /* PERFILE_ORIGIN_… */
    uint64_t reserved[2];
} perfile_build_id;

#ifndef PERFILE_DECLARATIONS
/* Returns the number of build ids known so far. */
static inline uint32_t perfile_session_n_build_ids(const perfile_session *s)
{
    return (uint32_t)perfile_session_number(s, PERFILE_SESSION_N_BUILD_IDS);
}
#endif

/* Returns the build id at `position`, or NULL. */
PERFILE_API const perfile_build_id *perfile_session_build_id(const perfile_session *s,
                                                             uint32_t position);

/* Facts as text; NULL when not known. */
enum {
    PERFILE_FACT_HOSTNAME = 0,
    PERFILE_FACT_OSRELEASE = 1,
    PERFILE_FACT_TOOL = 2, /* "perf 6.1.176", "simpleperf 1.build.…" */
    PERFILE_FACT_ARCH = 3,
    PERFILE_FACT_CPUDESC = 4,
    PERFILE_FACT_CPUID = 5,
    PERFILE_FACT_CMDLINE = 6, /* words joined by blanks, quoted for the shell where needed */
    PERFILE_N_FACTS
};
PERFILE_API const char *perfile_session_fact(const perfile_session *s, unsigned fact);

#ifndef PERFILE_DECLARATIONS
/* Returns the number of CPUs available when recorded, 0 when not known. */
static inline uint32_t perfile_session_n_cpus(const perfile_session *s)
{
    return (uint32_t)perfile_session_number(s, PERFILE_SESSION_N_CPUS);
}
#endif

/* The clock of the time fields. */
typedef struct perfile_clock {
    bool known;    /* use_clockid was set: `clockid` is valid */
    bool has_wall; /* `wall_ns` and `clock_ns` are valid (feature CLOCK_DATA fits the clock) */
    bool has_conversion; /* `shift`, `mult`, `zero` … are valid (TIME_CONV) */
    int32_t clockid;     /* POSIX clock */
    uint64_t wall_ns;    /* wall clock when the session clock showed clock_ns */
    uint64_t clock_ns;   /* session clock at that moment, ns */
    uint64_t shift, mult, zero, cycles, mask; /* format/records.def, TIME_CONV */
    bool is_short; /* the counter is shorter than 64 bits: use `cycles` and `mask` */
    uint64_t reserved[4];
} perfile_clock;
PERFILE_API void perfile_session_clock(const perfile_session *s, perfile_clock *clock);

/* Converts between the hardware clock (TSC and the like) and the session clock, modulo 2^64: time
 * to cycles, or cycles to time.  The clock must have has_conversion.  PERFILE_E_UNSUPPORTED: it
 * does not; PERFILE_E_CORRUPT: a shift above 32, a mult above 2^32 - 1, or for cycles a mult of 0.
 */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_clock_convert(const perfile_clock *clock,
                                                                  bool to_cycles, uint64_t in,
                                                                  uint64_t *out,
                                                                  perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Converts cycles to a time. */
static inline PERFILE_MUST_USE perfile_status perfile_clock_time(const perfile_clock *clock,
                                                                 uint64_t cycles, uint64_t *time,
                                                                 perfile_error *err)
{
    return perfile_clock_convert(clock, false, cycles, time, err);
}

/* Converts a time to cycles. */
static inline PERFILE_MUST_USE perfile_status perfile_clock_cycles(const perfile_clock *clock,
                                                                   uint64_t time, uint64_t *cycles,
                                                                   perfile_error *err)
{
    return perfile_clock_convert(clock, true, time, cycles, err);
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Converts a time of the session clock to the wall clock, in ns since 1970.  Returns false when not
 * known. */
static inline bool perfile_session_wall_time(const perfile_session *s, uint64_t time,
                                             uint64_t *wall)
{
    perfile_clock clock;
    perfile_session_clock(s, &clock);
    if (time == PERFILE_NO_TIME || (!clock.has_wall && (!clock.known || clock.clockid != 0)))
        return false; /* clock 0 is CLOCK_REALTIME */
    *wall = clock.has_wall ? clock.wall_ns + (time - clock.clock_ns) : time;
    return true;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
