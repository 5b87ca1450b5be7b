/* Tests for the traits of format/versions.def: one function holds_ID() per row TRAIT(ID, …).
 *
 * The functions repeat the behavior of perf's source, including its mistakes, and not the format.
 * Most of them read counters that record.c and sample.c collected in pf_check. */
#include "check/check.h"

#include "core/layout.h"
#include "core/command.h"

enum { PAGE = 4096, HEADER = 104 };

/* Returns the number of 64-bit words of a sample before its id, -1 without id.  Computed as in
 * perf: from sample_type alone, whatever the records are. */
static int place_in_sample(uint64_t type)
{
    const uint64_t front =
        PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ADDR;
    if (type & PERFILE_SAMPLE_IDENTIFIER)
        return 0;
    return type & PERFILE_SAMPLE_ID ? __builtin_popcountll(type & front) : -1;
}

/* Returns the number of 64-bit words from the end of a trailer to the start of its id, -1 without
 * id. */
static int place_in_trailer(uint64_t type)
{
    if (type & PERFILE_SAMPLE_IDENTIFIER)
        return 1;
    if (!(type & PERFILE_SAMPLE_ID))
        return -1;
    return 1 + !!(type & PERFILE_SAMPLE_CPU) + !!(type & PERFILE_SAMPLE_STREAM_ID);
}

static uint64_t sample_type_of(const pf_check *c, uint32_t event)
{
    return perfile_session_event(c->session, event)->attr->sample_type;
}

/* Returns a feature section of the file; NULL if there is none, also if the feature is in a record.
 */
static const perfile_feature *feature_of_header(const pf_check *c, uint32_t number)
{
    for (uint32_t i = 0; i < pf_session_n_features(c->session); i++) {
        const perfile_feature *f = perfile_session_feature_at(c->session, i);
        if (f->number == number && f->origin == PERFILE_ORIGIN_CONTAINER)
            return f;
    }
    return NULL;
}

/* Returns true if perf compares the sample_type of the events: neither for a single event, nor for
 * `perf stat record`. */
static bool compares_events(const pf_check *c)
{
    return pf_session_n_events(c->session) > 1 && !feature_of_header(c, PERFILE_FEATURE_STAT);
}

/* Returns true if the id is not at the same position in the records of all events. */
static bool ids_differ(const pf_check *c)
{
    uint64_t first = sample_type_of(c, 0);
    if (place_in_sample(first) < 0)
        return true;
    for (uint32_t i = 1; i < pf_session_n_events(c->session); i++) {
        uint64_t type = sample_type_of(c, i);
        if (place_in_sample(type) != place_in_sample(first) ||
            place_in_trailer(type) != place_in_trailer(first))
            return true;
    }
    return false;
}

/* True if the sample_type of some event is not that of the first one. */
static bool holds_EVENTS_OF_TWO_TYPES(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    for (uint32_t i = 1; i < pf_session_n_events(c->session); i++)
        if (sample_type_of(c, i) != sample_type_of(c, 0))
            return compares_events(c);
    return false;
}

static bool holds_IDS_AT_TWO_PLACES(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return compares_events(c) && ids_differ(c);
}

static bool holds_IDS_NOWHERE(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return pf_session_n_events(c->session) > 1 && c->counts.by_type[PERFILE_RECORD_SAMPLE] &&
           ids_differ(c);
}

/* True if the first event samples counter values (READ) without their ids. */
static bool holds_FIRST_READS_NO_ID(const pf_check *c, const pf_release *perf)
{
    const perfile_event *first = perfile_session_event(c->session, 0);
    (void)perf;
    return first && first->attr->sample_type & PERFILE_SAMPLE_READ &&
           !(first->attr->read_format & PERFILE_FORMAT_ID) &&
           !feature_of_header(c, PERFILE_FEATURE_STAT);
}

/* True if samples have counter values without ids: perf reads a word for each id nevertheless. */
static bool holds_READS_NO_ID(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->traits.nameless_values != 0;
}

static bool is_big_endian(const pf_check *c)
{
    return perfile_stream_container(&c->base)->byte_order == PERFILE_BYTE_ORDER_BIG;
}

static bool holds_IDS_NOT_SWAPPED(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return is_big_endian(c) && pf_session_n_events(c->session) > 1 && c->traits.unswapped_ids;
}

static bool holds_NEXT_SWAPPED(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return is_big_endian(c) && c->traits.shorter_than_swapped;
}

/* Versions that expect the ids of HEADER_ATTR after an attr of their own size do not byte-swap ids
 * before that. */
static bool holds_FIRST_IDS_NOT_SWAPPED(const pf_check *c, const pf_release *perf)
{
    return is_big_endian(c) && pf_session_n_events(c->session) > 1 && c->traits.first_id_offset &&
           c->traits.first_id_offset < perf->attr_size;
}

static bool holds_RAW_NOT_SWAPPED(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return is_big_endian(c) && c->traits.raw_samples;
}

/* perf passes on each counter of a group; of a group without counters it returns an error. */
static bool holds_GROUP_IS_EMPTY(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->traits.empty_groups;
}

/* pid and tid, or cpu and its reserved field, are two halves of one 64-bit word. */
static bool holds_HALVES_EXCHANGED(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    for (uint32_t i = 0; i < pf_session_n_events(c->session); i++)
        if (sample_type_of(c, i) & (PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CPU))
            return is_big_endian(c) && c->counts.by_type[PERFILE_RECORD_SAMPLE];
    return false;
}

/* Returns true if two extents share bytes.  The differences wrap around: each comparison is true
 * only for the extent that begins later. */
static bool overlap(const perfile_extent *a, const perfile_extent *b)
{
    return a->length && b->length && a->offset - b->offset < b->length
               ? true
               : a->length && b->length && b->offset - a->offset < a->length;
}

/* Returns true if attrs or ids share bytes with an extent of this role (PERFILE_EXTENT_…). */
static bool is_overwritten(const pf_check *c, uint32_t role)
{
    const perfile_container *k = perfile_stream_container(&c->base);
    for (uint32_t i = 0; i < k->n_extents; i++)
        for (uint32_t j = 0; k->extents[i].role == role && j < k->n_extents; j++)
            if ((k->extents[j].role == PERFILE_EXTENT_ATTRS ||
                 k->extents[j].role == PERFILE_EXTENT_IDS) &&
                overlap(&k->extents[i], &k->extents[j]))
                return true;
    return false;
}

static bool holds_RECORDS_OVERWRITTEN(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return is_overwritten(c, PERFILE_EXTENT_RECORDS);
}

static bool holds_FEATURES_OVERWRITTEN(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return is_overwritten(c, PERFILE_EXTENT_FEATURE);
}

/* perf infers from the bit of HOSTNAME how to swap the bitmap; without it, perf assumes that
 * BUILD_ID is the only feature.  A killed recording has no bitmap, and neither have short headers.
 */
static bool holds_NO_HOSTNAME(const pf_check *c, const pf_release *perf)
{
    const perfile_container *k = perfile_stream_container(&c->base);
    (void)perf;
    return k->byte_order == PERFILE_BYTE_ORDER_BIG && !k->unterminated &&
           k->header_size >= HEADER && !(k->features[0] >> PERFILE_FEATURE_HOSTNAME & 1);
}

static bool holds_ODD_SIZE(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->traits.unaligned_sizes;
}

static bool holds_TOO_SHORT(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->traits.too_short;
}

/* perf takes the number after its last feature for the end of the list, and stops at greater
 * numbers. */
static bool holds_FEATURE_STOPS_REPORT(const pf_check *c, const pf_release *perf)
{
    return c->traits.highest_feature > (uint64_t)perf->feature + 1;
}

/* True if the end marker, written by another version, has the number of a feature that this version
 * knows. */
static bool holds_MARKER_STOPS_SCRIPT(const pf_check *c, const pf_release *perf)
{
    return c->traits.end_marker && c->traits.end_marker <= perf->feature;
}

static bool holds_TRACING_DATA_IN_PIPE(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->counts.by_type[PERFILE_RECORD_HEADER_TRACING_DATA];
}

static bool holds_AUX_DATA_IN_PIPE(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return c->traits.aux_payloads;
}

/* A pipe has no feature section COMPRESSED, which these versions need to decompress. */
static bool holds_COMPRESSED_IN_PIPE(const pf_check *c, const pf_release *perf)
{
    (void)perf;
    return (c->counts.by_type[PERFILE_RECORD_COMPRESSED] ||
            c->counts.by_type[PERFILE_RECORD_COMPRESSED2]) &&
           !feature_of_header(c, PERFILE_FEATURE_COMPRESSED);
}

/* mmap_len of COMPRESSED is the size of perf's buffers, which are whole pages. */
static bool holds_BUFFER_OF_NO_PAGES(const pf_check *c, const pf_release *perf)
{
    perfile_compression v;
    const perfile_feature *f = feature_of_header(c, PERFILE_FEATURE_COMPRESSED);
    (void)perf;
    return f && perfile_compression_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
           (v.mmap_len < PAGE || v.mmap_len % PAGE);
}

static const pf_trait_row rows[] = {
#define TRAIT(id, rule, from, to, form, verdict, sentence)                                         \
    {PERFILE_RULE_##rule,       PF_PERF_##from, PF_PERF_##to, PF_FORM_##form,                      \
     PERFILE_VERDICT_##verdict, holds_##id,     sentence},
#include "format/versions.def"
};

const pf_trait_row *pf_trait_at(size_t position)
{
    return position < sizeof rows / sizeof rows[0] ? &rows[position] : NULL;
}
