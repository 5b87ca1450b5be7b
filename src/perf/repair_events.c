/* Repair: finding attrs and ids in arbitrary bytes by what they look like.
 *
 * An attr has little redundancy, but its size is one of few numbers, and type, sample_type,
 * read_format and flags have only low bits set.  Together these tests reject nearly all other
 * bytes.  What the searches find is copied into the pf_repair. */
#include "base/checked.h"
#include "base/cursor.h"
#include "schema/frame.h"
#include "perf/repair.h"
#include "schema/attr_places.h"

enum {
    ID_SECTION = 16,        /* offset and size of the ids, at the end of an attr entry */
    SEARCH_BYTES = 4 << 20, /* the attr section stands in front of the records */
    MOST_EVENTS = 4096,     /* larger numbers are not believed */
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

/* Tests an entry of the attr section of `width` bytes at `at`: an attr, and in the last 16 bytes
 * the section of its ids, which goes to *ids.  Returns the size of the attr, 0 if it is none. */
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
    /* perf writes the ids in front of the attrs. */
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
        /* Entries may be wider than their attrs: the width with the most entries is the right one.
         */
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

/* Reads the content of a feature EVENT_DESC at the beginning of `b` into `r`; false if it is none.
 * Layout: number of events, size of an attr; for each event attr, number of ids, name, ids. */
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

/* Distributes the `n` entries of an ID_INDEX over the given events.  The entries come event by
 * event; an index of 0 in the second field of an entry begins the next event.  True if the entries
 * are used up exactly. */
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
