/* Repair: guesses form, byte order, events, range of the records and feature table of a damaged
 * capture.
 *
 * Each fact is first read at the offset that the header gives, and tested: attrs must look like
 * attrs, frames must follow each other at the start of the data, all entries of the feature table
 * must be inside the file.  A fact that fails the test is searched for in the whole file by its
 * looks.  If several sets of events are possible, the one that fits more of the first samples is
 * chosen (pf_repair_fit()). */
#include "perf/salvage.h"

#include "base/checked.h"
#include "base/error.h"
#include "perf/header.h"
#include "perf/stream.h"
#include "schema/rows.h"
#include "base/cursor.h"
#include "schema/types.h"

enum {
    ENTRY_LEAST = 80, /* entry of the attr section: the first attr (64 bytes) and its ids */
    ENTRY_MOST = 4096 /* far more than any attr has */
};

/* Returns all bytes of `file`, for the functions of header.h. */
static pf_table_bytes all_of(perfile_bytes file, bool swap)
{
    return (pf_table_bytes){.bytes = file, .size = file.len, .swap = swap};
}

/* Returns the number of entries of the feature table at `at`, 0 if there is none.  The first
 * section is directly after the table, so its offset gives the length of the table. */
static uint64_t table_count(perfile_bytes file, uint64_t at, bool swap, uint64_t *end)
{
    if (!pf_within(at, PF_TABLE_ENTRY, file.len))
        return 0;
    uint64_t first = pf_load_u64(file.ptr + at, swap);
    if (first <= at || (first - at) % PF_TABLE_ENTRY || first - at > PF_TABLE_MOST * PF_TABLE_ENTRY)
        return 0;
    uint64_t n = (first - at) / PF_TABLE_ENTRY;
    const pf_table_bytes in = all_of(file, swap);
    return pf_table_plausible(&in, at, n, 0, 0, end) ? n : 0;
}

/* Searches, from offset `from` on, for a feature table with a last section that ends at the end of
 * the file. */
static bool find_table(perfile_bytes file, uint64_t from, bool swap, uint64_t *table, uint64_t *n)
{
    for (uint64_t at = from; at + PF_TABLE_ENTRY <= file.len; at++) {
        uint64_t end;
        *n = table_count(file, at, swap, &end);
        *table = at;
        if (*n && end == file.len)
            return true;
    }
    return false;
}

/* Calls pf_table_find_moved() for the bytes from offset `from` on. */
static bool find_moved_table(perfile_bytes file, const pf_perf_header *h, uint64_t from,
                             uint64_t *table)
{
    const pf_table_bytes in = {.bytes = {file.ptr + from, file.len - (size_t)from},
                               .at = from,
                               .size = file.len,
                               .swap = h->swap};
    return pf_table_find_moved(&in, h, table);
}

/* Returns true if a feature table of `n` entries is at `at`.  Empty entries may follow: perf
 * reserves one for each feature that it wants to write, and may then fail to write some. */
static bool table_at(perfile_bytes file, uint64_t at, uint64_t n, bool swap)
{
    uint64_t end;
    uint64_t exact = table_count(file, at, swap, &end);
    for (uint64_t i = n; i < exact; i++)
        if (pf_load_u64(file.ptr + at + i * PF_TABLE_ENTRY + 8, swap) != 0)
            return false;
    const pf_table_bytes in = all_of(file, swap);
    return exact == n || pf_table_plausible(&in, at, n, 4096, 0, &end);
}

/* Returns true if a chain of plausible record headers begins at `at`.  The events are not known
 * yet, so only the frames are examined. */
static bool frames_at(perfile_bytes file, uint64_t at, bool swap)
{
    pf_record_fit v = {.swap = swap};
    return at < file.len &&
           pf_perf_is_chain(&v, (perfile_bytes){file.ptr + at, file.len - (size_t)at}, 0, 1);
}

/* Returns true if the byte order of the file is not that of this machine.  Sources, best first: an
 * undamaged magic, a known header size, attrs that are found in one order only, the first chain of
 * records. */
static bool guess_byte_order(perfile_bytes file, const pf_perf_header *h, unsigned damage,
                             pf_repair *r)
{
    if (!damage)
        return h->swap;
    for (unsigned swap = 0; swap < 2; swap++) {
        uint64_t size = file.len >= 16 ? pf_load_u64(file.ptr + 8, swap) : 0;
        if (size == PF_PERF_FILE_HEADER || size == PF_PERF_PIPE_HEADER ||
            size == PF_PERF_OLD_HEADER)
            return swap;
    }
    uint64_t end;
    for (unsigned swap = 0; swap < 2; swap++)
        if (pf_repair_find_attrs(r, file, swap, &end) || pf_repair_find_desc(r, file, swap, 0) ||
            pf_repair_find_header_attrs(r, file, swap, 0))
            return swap;
    pf_record_fit v = {0}, w = {.swap = true};
    return pf_perf_resync(&w, file, 0) < pf_perf_resync(&v, file, 0);
}

/* Guesses the form (file or pipe) when the magic is damaged: from the header size, or else from
 * whether records begin directly after a pipe header. */
static uint32_t guess_form(perfile_bytes file, bool swap)
{
    uint64_t size = file.len >= 16 ? pf_load_u64(file.ptr + 8, swap) : 0;
    if (size == PF_PERF_PIPE_HEADER)
        return PERFILE_FORM_PIPE;
    if (size == PF_PERF_FILE_HEADER || size == PF_PERF_OLD_HEADER)
        return PERFILE_FORM_FILE;
    return frames_at(file, PF_PERF_PIPE_HEADER, swap) ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
}

/* Returns true if the attr section of the header contains attrs, possibly newer than this library.
 */
static bool attr_section_plausible(perfile_bytes file, const pf_perf_header *h)
{
    bool good = h->attr_size >= ENTRY_LEAST && h->attr_size <= ENTRY_MOST &&
                h->attr_size % 8 == 0 && h->attrs.size && h->attrs.size % h->attr_size == 0 &&
                pf_within(h->attrs.offset, h->attrs.size, file.len);
    for (uint64_t at = 0; good && at < h->attrs.size; at += h->attr_size)
        good = pf_attr_entry_plausible(
            (perfile_bytes){file.ptr + h->attrs.offset + at, (size_t)h->attr_size}, h->swap);
    return good;
}

/* Searches for events when the attr section is not usable: first EVENT_DESC, because it has names
 * and ids, then entries that look like attrs, then HEADER_ATTR records.  If entries of an attr
 * section are found, sets *start to the offset after them, where records may begin. */
static void find_events(pf_repair *r, perfile_bytes file, bool swap, uint64_t *start)
{
    if (pf_repair_find_desc(r, file, swap, 0))
        r->guessed |= PF_GUESS_DESC;
    else if (pf_repair_find_attrs(r, file, swap, start))
        r->guessed |= PF_GUESS_ATTRS;
    else if (pf_repair_find_header_attrs(r, file, swap, 0))
        r->guessed |= PF_GUESS_HEADER_ATTR;
}

perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err)
{
    enum { SAMPLES = 256, RECORDS = 1 << 16 };
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options how = {
        .size = sizeof how, .on_damage = PERFILE_ON_DAMAGE_RESYNC, .assume = assume};
    *out = (pf_fit){0, 0};
    perfile_status st = perfile_source_memory(file, "repair", &source, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_perf_driver.open(source, &how, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
    }
    for (unsigned n = 0; n < RECORDS && out->seen < SAMPLES && st == PERFILE_OK; n++) {
        st = perfile_stream_next(s, &r, err);
        if (st != PERFILE_OK || r->type != PERFILE_RECORD_SAMPLE)
            continue;
        out->seen++;
        out->fit += pf_record_fit_sample(r);
    }
    perfile_stream_close(s);
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

/* Returns true if the header's range of the records agrees with the file: the feature table is
 * after it, or records begin at its start and no better range can be found (a file that was cut or
 * never finished). */
static bool data_range_agrees(perfile_bytes file, const pf_perf_header *h)
{
    uint64_t n = pf_table_count(h->features);
    uint64_t end, table, entries;
    bool ends = !pf_add_u64(h->data.offset, h->data.size, &end) && end <= file.len;
    if (h->data.offset < PF_PERF_OLD_HEADER || h->data.offset >= file.len)
        return h->data.offset == file.len && n == 0;
    if (ends && table_at(file, end, n, h->swap))
        return true;
    if (!frames_at(file, h->data.offset, h->swap))
        return false;
    if (h->data.size == 0 || (ends && n == 0))
        return true;
    return !find_moved_table(file, h, h->data.offset, &table) &&
           !find_table(file, h->data.offset, h->swap, &table, &entries);
}

/* Guesses the range of the records and the feature table if the header is wrong about them.
 * `start` is the offset after the attrs.  If no table has as many entries as the header has
 * features, no features are assumed, because it is unknown which features the entries belong to. */
static void find_data(pf_repair *r, perfile_bytes file, const pf_perf_header *h, uint64_t start)
{
    uint64_t table, entries = 0;
    if (data_range_agrees(file, h))
        return;
    bool begins = h->data.offset >= start && frames_at(file, h->data.offset, h->swap);
    r->assume.data.offset = begins ? h->data.offset : start;
    r->guessed |= PF_GUESS_END | (begins ? 0U : (uint32_t)PF_GUESS_START);
    bool moved = find_moved_table(file, h, r->assume.data.offset, &table);
    bool found = moved || find_table(file, r->assume.data.offset, h->swap, &table, &entries);
    if (moved)
        r->assume.features_shift = table - (h->data.offset + h->data.size);
    r->assume.data.size = found ? table - r->assume.data.offset : UINT64_MAX;
    r->assume.has_features = true;
    if (moved || (found && entries == pf_table_count(h->features))) {
        r->guessed |= PF_GUESS_TABLE;
        memcpy(r->assume.features, h->features, sizeof r->assume.features);
    } else {
        r->guessed |= PF_GUESS_NO_FEATURES;
    }
}

/* Repairs a capture of the file form: sections, events, ids, range of the records. */
static void repair_file(pf_repair *r, perfile_bytes file, pf_perf_header *h,
                        const perfile_assume *given)
{
    uint64_t start = PF_PERF_FILE_HEADER;
    perfile_bytes head = {file.ptr,
                          file.len < PF_PERF_FILE_HEADER ? file.len : PF_PERF_FILE_HEADER};
    h->used = h->used == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER : PF_PERF_FILE_HEADER;
    if (pf_perf_header_sections(head, h))
        r->guessed |= PF_GUESS_HEADER;
    if (!given->n_events) {
        bool good = attr_section_plausible(file, h);
        pf_repair_clear(r);
        if (good)
            start = h->attrs.offset + h->attrs.size;
        else
            find_events(r, file, h->swap, &start);
    } else if (pf_repair_find_ids(r, file, h->swap, given)) {
        r->guessed |= PF_GUESS_IDS;
    }
    if (!given->data.offset)
        find_data(r, file, h, start);
}

/* Called when the attrs look right but were not tested with samples.  If fewer than nine of ten
 * samples fit them, or there are no samples, tries the events of EVENT_DESC, which repeats all
 * attrs, and uses these if more samples fit them.  Sets r->no_events if no sample fits, so that the
 * attrs are of no use. */
static perfile_status try_event_desc(pf_repair *r, perfile_bytes file, bool swap,
                                     perfile_error *err)
{
    pf_fit now, then = {0, 0};
    perfile_status st = pf_repair_fit(file, r->guessed ? &r->assume : NULL, &now, err);
    if (st != PERFILE_OK || (now.seen && now.fit >= now.seen - now.seen / 10))
        return st;
    perfile_assume before = r->assume;
    r->no_events = now.seen && now.fit == 0;
    if (!pf_repair_find_desc(r, file, swap, 0))
        return PERFILE_OK;
    pf_repair_resolve(r);
    st = pf_repair_fit(file, &r->assume, &then, err);
    if (st == PERFILE_OK && then.fit > now.fit) {
        r->guessed |= PF_GUESS_DESC;
        r->no_events = false;
        return PERFILE_OK;
    }
    r->assume = before;
    return st;
}

/* Called when the events came from EVENT_DESC.  If fewer than nine of ten samples fit them, tries
 * the attrs that pf_repair_find_attrs() finds, and uses those that more samples fit. */
static perfile_status choose_events(pf_repair *r, perfile_bytes file, bool swap, perfile_error *err)
{
    pf_fit desc, look;
    uint64_t end;
    perfile_status st = pf_repair_fit(file, &r->assume, &desc, err);
    if (st != PERFILE_OK || (desc.seen && desc.fit >= desc.seen - desc.seen / 10) ||
        !pf_repair_find_attrs(r, file, swap, &end))
        return st;
    pf_repair_resolve(r);
    st = pf_repair_fit(file, &r->assume, &look, err);
    if (st != PERFILE_OK)
        return st;
    if (look.fit > desc.fit) {
        r->guessed = (r->guessed & ~(uint32_t)PF_GUESS_DESC) | PF_GUESS_ATTRS;
    } else if (pf_repair_find_desc(r, file, swap, 0)) {
        pf_repair_resolve(r);
    }
    return PERFILE_OK;
}

/* pf_perf_repair() without the final check for r->no_memory. */
static perfile_status repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                             perfile_error *err)
{
    perfile_assume none = {.size = sizeof none};
    perfile_bytes file;
    if (!given)
        given = &none;
    r->assume = *given;
    /* All of a mapped file is examined, but only one window of other seekable sources. */
    size_t most = source->lasting ? 1 : (size_t)source->limits.window_bytes;
    perfile_status st = pf_source_view(source, 0, most, &file, err);
    if (st != PERFILE_OK || file.len == 0)
        return st;
    pf_perf_header h;
    unsigned damage = pf_perf_header_begin(file, &h);
    if (!damage && file.len < source->size)
        return PERFILE_OK; /* the header is intact, and the rest cannot be judged from a part of it
                            */
    bool swap = given->byte_order
                    ? (given->byte_order == PERFILE_BYTE_ORDER_BIG) != (bool)PF_NATIVE_BIG
                    : guess_byte_order(file, &h, damage, r);
    pf_repair_clear(r);
    if (damage || (h.size != PF_PERF_PIPE_HEADER && !pf_perf_header_size_known(&h)))
        r->guessed |= PF_GUESS_HEADER;
    if (r->guessed & PF_GUESS_HEADER) {
        h.swap = swap;
        h.form = guess_form(file, swap);
        h.version = 2;
    }
    if (given->form)
        h.form = given->form;
    if (r->guessed & PF_GUESS_HEADER) {
        r->assume.form = h.form;
        r->assume.byte_order =
            swap != (bool)PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
    }
    if (h.form == PERFILE_FORM_FILE)
        repair_file(r, file, &h, given);
    if (r->events.len)
        pf_repair_resolve(r);
    if (r->guessed & PF_GUESS_DESC && file.len == source->size)
        return choose_events(r, file, h.swap, err);
    if (given->n_events || r->events.len || file.len < source->size)
        return PERFILE_OK;
    return try_event_desc(r, file, h.swap, err);
}

perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err)
{
    perfile_status st = repair(source, given, r, err);
    /* Events that could not be stored because of lack of memory would have changed the guess. */
    return st == PERFILE_OK && r->no_memory ? pf_fail_nomem(err, "recover.events") : st;
}

/* pf_repair_ops.swallows. */
static bool swallows(const perfile_record *r)
{
    pf_record_fit v = {.session = r->session, .swap = r->flags & PERFILE_REC_SWAPPED};
    if (!pf_record_known(r->type) && !pf_perf_may_be_newer(r->type, perfile_record_size(r)))
        return true;
    return pf_perf_swallows(&v, (perfile_bytes){r->header, perfile_record_size(r)});
}

/* pf_repair_ops.ask_before_gaps; does nothing for streams of other drivers and for stages. */
static void ask_before_gaps(perfile_stream *s, bool (*is_intact)(void *user), void *user)
{
    if (s->ops == &pf_perf_ops)
        pf_perf_ask_before_gaps(s, is_intact, user);
}

const pf_repair_ops pf_perf_repair_ops = {
    .guess = pf_perf_repair,
    .find_events = pf_repair_find_desc,
    .fit = pf_repair_fit,
    .sample_fits = pf_record_fit_sample,
    .swallows = swallows,
    .ask_before_gaps = ask_before_gaps,
};

/* Repair: finds attrs and ids in arbitrary bytes by what they look like.
 *
 * An attr has little redundancy, but it has one of only a few sizes, and type, sample_type,
 * read_format and flags have only low bits set.  Together these tests reject nearly all other
 * bytes.  The attrs and ids that are found are copied into the pf_repair. */

enum {
    ID_SECTION = 16,        /* offset and size of the ids, at the end of an attr entry */
    SEARCH_BYTES = 4 << 20, /* the attr section is before the records */
    MOST_EVENTS = 4096,     /* larger counts are not believed */
    MOST_TYPE = 1 << 16     /* PMU types are small numbers that the kernel assigns */
};

size_t pf_attr_plausible_size(perfile_bytes b, bool swap)
{
    if (b.len < PF_ATTR_LEAST)
        return 0;
    uint32_t size = pf_load_u32(b.ptr + 4, swap);
    if (!pf_attr_size_is_known(size) || size > b.len || pf_load_u32(b.ptr, swap) >= MOST_TYPE)
        return 0;
    uint64_t sample_type = pf_load_u64(b.ptr + 24, swap);
    uint64_t read_format = pf_load_u64(b.ptr + 32, swap);
    uint64_t flags = pf_load_u64(b.ptr + 40, swap);
    bool big = swap != (bool)PF_NATIVE_BIG;
    /* 22 flag bits that no kernel uses: the upper ones, or in big-endian attrs, where bitfields
     * are allocated from the other end, the lower ones. */
    uint64_t unknown = big ? flags & UINT64_C(0x3fffff) : flags >> 42;
    return sample_type && sample_type <= PERFILE_SAMPLE_KNOWN &&
                   read_format <= PERFILE_FORMAT_KNOWN && !unknown
               ? size
               : 0;
}

bool pf_attr_entry_plausible(perfile_bytes entry, bool swap)
{
    uint32_t size = pf_load_u32(entry.ptr + 4, swap);
    return (size == 0 || (size >= PF_ATTR_LEAST && size <= entry.len - ID_SECTION)) &&
           pf_load_u32(entry.ptr, swap) < MOST_TYPE &&
           pf_load_u64(entry.ptr + 24, swap) >> 32 == 0 &&
           (pf_load_u64(entry.ptr + 24, swap) || pf_load_u64(entry.ptr + 40, swap));
}

/* Tests an entry of `width` bytes of the attr section at `at`: an attr, and in the last 16 bytes
 * offset and size of its ids, which are copied to *ids.  Returns the size of the attr, 0 if there
 * is none. */
static size_t attr_entry_size(perfile_bytes file, uint64_t at, uint64_t width, bool swap,
                              perfile_section *ids)
{
    if (!pf_within(at, width, file.len))
        return 0;
    perfile_bytes b = {file.ptr + at, (size_t)width};
    size_t size = pf_attr_plausible_size(b, swap);
    if (!size || size + ID_SECTION > width)
        return 0;
    ids->offset = pf_load_u64(b.ptr + width - ID_SECTION, swap);
    ids->size = pf_load_u64(b.ptr + width - 8, swap);
    /* perf writes the ids before the attrs. */
    return ids->size % 8 == 0 && pf_within(ids->offset, ids->size, at) ? size : 0;
}

/* Counts the valid entries of `width` bytes that follow each other from `at` on. */
static uint64_t count_entries(perfile_bytes file, uint64_t at, uint64_t width, bool swap)
{
    uint64_t n = 0;
    perfile_section ids;
    while (n < MOST_EVENTS && attr_entry_size(file, at + n * width, width, swap, &ids))
        n++;
    return n;
}

/* Copies `n` entries with their ids into `r`, replacing its events. */
static bool add_entries(pf_repair *r, perfile_bytes file, bool swap, uint64_t at, uint64_t width,
                        uint64_t n)
{
    pf_repair_clear(r);
    for (uint64_t i = 0; i < n; i++, at += width) {
        perfile_section ids;
        size_t size = attr_entry_size(file, at, width, swap, &ids);
        if (!size || !pf_repair_add(r, (perfile_bytes){file.ptr + at, size},
                                    (perfile_bytes){file.ptr + ids.offset, (size_t)ids.size}))
            return false;
    }
    return true;
}

bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end)
{
    uint64_t most = file.len < SEARCH_BYTES ? file.len : SEARCH_BYTES;
    for (uint64_t at = PF_PERF_OLD_HEADER; at + PF_ATTR_LEAST + ID_SECTION <= most; at += 8) {
        size_t size =
            pf_attr_plausible_size((perfile_bytes){file.ptr + at, file.len - (size_t)at}, swap);
        uint64_t best = 0, n = 0;
        if (!size)
            continue;
        /* Entries may be wider than their attrs.  The width that gives the most entries is the
         * right one. */
        for (uint64_t w = size + ID_SECTION; w <= PF_ATTR_OURS + ID_SECTION; w += 8) {
            uint64_t found = count_entries(file, at, w, swap);
            if (found > n) {
                n = found;
                best = w;
            }
        }
        if (n == 0)
            continue;
        *end = at + n * best;
        return add_entries(r, file, swap, at, best, n);
    }
    return false;
}

/* Reads the content of a feature EVENT_DESC at the beginning of `b` into `r`.  Returns false if
 * there is none.  Layout: number of events, size of an attr; for each event: attr, number of ids,
 * name, ids. */
static bool parse_event_desc(pf_repair *r, perfile_bytes b, bool swap)
{
    pf_cursor c = pf_cur(b, swap);
    uint32_t n = pf_cur_u32(&c);
    uint32_t size = pf_cur_u32(&c);
    if (n == 0 || n > MOST_EVENTS || !pf_attr_size_is_known(size))
        return false;
    pf_repair_clear(r);
    for (uint32_t i = 0; i < n; i++) {
        perfile_bytes attr = pf_cur_span(&c, size);
        uint32_t n_ids = pf_cur_u32(&c);
        perfile_bytes name = pf_cur_string(&c);
        perfile_bytes ids = pf_cur_list(&c, n_ids, 8);
        size_t own = c.bad ? 0 : pf_attr_plausible_size(attr, swap);
        if (!own || !name.len || !memchr(name.ptr, 0, name.len) ||
            !pf_repair_add(r, (perfile_bytes){attr.ptr, own}, ids))
            return false;
    }
    return true;
}

bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from)
{
    for (uint64_t at = from; at + 8 + PF_ATTR_LEAST <= file.len; at++) {
        uint32_t n = pf_load_u32(file.ptr + at, swap);
        if (n == 0 || n > MOST_EVENTS)
            continue;
        if (parse_event_desc(r, (perfile_bytes){file.ptr + at, file.len - (size_t)at}, swap))
            return true;
    }
    pf_repair_clear(r);
    return false;
}

bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from)
{
    pf_repair_clear(r);
    bool any = false;
    for (uint64_t at = from; at + PF_PERF_RECORD_HEADER + PF_ATTR_LEAST <= file.len;) {
        pf_frame f = pf_frame_at(file.ptr + at, swap);
        size_t left = file.len - (size_t)at;
        if (f.type != PERFILE_RECORD_HEADER_ATTR || f.misc ||
            f.size < PF_PERF_RECORD_HEADER + PF_ATTR_LEAST || f.size > left) {
            at += 8;
            continue;
        }
        perfile_bytes body = {file.ptr + at + PF_PERF_RECORD_HEADER,
                              f.size - PF_PERF_RECORD_HEADER};
        size_t size = pf_attr_plausible_size(body, swap);
        if (!size || (body.len - size) % 8) {
            at += 8;
            continue;
        }
        if (!pf_repair_add(r, (perfile_bytes){body.ptr, size},
                           (perfile_bytes){body.ptr + size, body.len - size}))
            return false;
        any = true;
        at += f.size;
    }
    return any;
}

/* Distributes the `n` entries of an ID_INDEX over the given events.  The entries are sorted by
 * event; an index of 0 in the second field of an entry begins the next event.  Returns true if
 * exactly all entries are used. */
static bool distribute_ids(pf_repair *r, const uint8_t *entries, size_t n, size_t width, bool swap,
                           const perfile_assume *given)
{
    size_t at = 0;
    pf_repair_clear(r);
    for (uint32_t i = 0; i < given->n_events; i++) {
        size_t first = at;
        pf_buffer ids = {0};
        while (at < n && (at == first || pf_load_u64(entries + at * width + 8, swap) != 0)) {
            if (!pf_buffer_append(&ids, entries + at * width, 8)) {
                r->no_memory = true;
                break;
            }
            at++;
        }
        bool ok = pf_repair_add(r, given->events[i].attr, (perfile_bytes){ids.ptr, ids.len});
        pf_buffer_free(&ids);
        if (!ok)
            return false;
    }
    return at == n;
}

bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given)
{
    for (uint64_t at = PF_PERF_PIPE_HEADER; at + 48 <= file.len; at += 8) {
        pf_frame f = pf_frame_at(file.ptr + at, swap);
        if (f.type != PERFILE_RECORD_ID_INDEX || f.misc || f.size > file.len - at || f.size < 48)
            continue;
        uint64_t n = pf_load_u64(file.ptr + at + 8, swap);
        /* In newer versions of perf, 16 bytes per entry for virtual machines follow all entries. */
        bool fits = n && n <= UINT16_MAX && (f.size == 16 + 32 * n || f.size == 16 + 48 * n);
        if (fits && distribute_ids(r, file.ptr + at + 16, (size_t)n, 32, swap, given))
            return true;
    }
    pf_repair_clear(r);
    return false;
}
