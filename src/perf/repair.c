#include "perf/repair.h"

#include "base/checked.h"
#include "base/error.h"
#include "perf/driver.h"
#include "perf/salvage.h"
#include "perf/stream.h"

enum { TABLE_ENTRY = 16, MOST_FEATURES = 64, ENTRY_LEAST = 80, ENTRY_MOST = 4096 };

/* Whether entries at `at` could be the feature table of `n` sections: those fill what is behind the
 * table, in any order, from at most `pad` bytes behind it on; *end is behind the last. */
static bool table_look(perfile_bytes file, uint64_t at, uint64_t n, uint64_t pad, uint64_t moved,
                       bool swap, uint64_t *end_of_all)
{
    if (n == 0 || n > MOST_FEATURES || !pf_within(at, n * TABLE_ENTRY, file.len))
        return false;
    uint64_t behind = at + n * TABLE_ENTRY;
    uint64_t first = UINT64_MAX, end = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *entry = file.ptr + at + i * TABLE_ENTRY;
        uint64_t offset = pf_load_u64(entry, swap);
        uint64_t size = pf_load_u64(entry + 8, swap);
        if (i && !offset && !size)
            continue; /* room for one that was not written */
        offset += moved;
        if (offset < behind || !pf_within(offset, size, file.len))
            return false;
        first = offset < first ? offset : first;
        end = offset + size > end ? offset + size : end;
        sum += size;
    }
    *end_of_all = end;
    return first - behind <= pad && end - first >= sum && end - first - sum <= pad;
}

/* How many sections a table at `at` has, as its first entry says; 0: there is none. */
static uint64_t table_count(perfile_bytes file, uint64_t at, bool swap, uint64_t *end)
{
    if (!pf_within(at, TABLE_ENTRY, file.len))
        return 0;
    uint64_t first = pf_load_u64(file.ptr + at, swap);
    if (first <= at || (first - at) % TABLE_ENTRY || first - at > MOST_FEATURES * TABLE_ENTRY)
        return 0;
    uint64_t n = (first - at) / TABLE_ENTRY;
    return table_look(file, at, n, 0, 0, swap, end) ? n : 0;
}

/* The table whose last section ends where the file does. */
static bool find_table(perfile_bytes file, uint64_t from, bool swap, uint64_t *table, uint64_t *n)
{
    for (uint64_t at = from; at + TABLE_ENTRY <= file.len; at++) {
        uint64_t end;
        *n = table_count(file, at, swap, &end);
        *table = at;
        if (*n && end == file.len)
            return true;
    }
    return false;
}

static uint64_t count(const uint64_t features[4])
{
    uint64_t n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += (uint64_t)__builtin_popcountll(features[i]);
    return n;
}

/* The table behind data that are longer or shorter than the header says, because bytes came in or
 * were lost: its places count from where it stood. */
static bool find_moved_table(perfile_bytes file, const pf_perf_header *h, uint64_t from,
                             uint64_t *table)
{
    uint64_t n = count(h->features), stood, end;
    if (n == 0 || h->data.size == 0 || pf_add_u64(h->data.offset, h->data.size, &stood))
        return false;
    for (uint64_t at = from; pf_within(at, n * TABLE_ENTRY, file.len); at++) {
        /* perf leaves room behind it for sections that it then could not write. */
        uint64_t front = pf_load_u64(file.ptr + at, h->swap) - stood;
        if (front > MOST_FEATURES * TABLE_ENTRY || front % TABLE_ENTRY || at == stood ||
            !table_look(file, at, n, MOST_FEATURES * TABLE_ENTRY, at - stood, h->swap, &end))
            continue;
        *table = at;
        return true;
    }
    return false;
}

/* Whether the table of `n` sections is at `at`.  perf leaves room for sections that it then could
 * not write. */
static bool table_at(perfile_bytes file, uint64_t at, uint64_t n, bool swap)
{
    uint64_t end;
    uint64_t exact = table_count(file, at, swap, &end);
    for (uint64_t i = n; i < exact; i++)
        if (pf_load_u64(file.ptr + at + i * TABLE_ENTRY + 8, swap) != 0)
            return false;
    return exact == n || table_look(file, at, n, 4096, 0, swap, &end);
}

/* Whether frames follow each other from `at` on. */
static bool frames_at(perfile_bytes file, uint64_t at, bool swap)
{
    pf_record_fit v = {.swap = swap};
    return at < file.len &&
           pf_perf_is_chain(&v, (perfile_bytes){file.ptr + at, file.len - (size_t)at}, 0, 1);
}

/* The byte order in which more of the file makes sense. */
static bool guess_order(perfile_bytes file, const pf_perf_header *h, unsigned damage, pf_repair *r)
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

/* The form, when the header does not say it. */
static uint32_t guess_form(perfile_bytes file, bool swap)
{
    uint64_t size = file.len >= 16 ? pf_load_u64(file.ptr + 8, swap) : 0;
    if (size == PF_PERF_PIPE_HEADER)
        return PERFILE_FORM_PIPE;
    if (size == PF_PERF_FILE_HEADER || size == PF_PERF_OLD_HEADER)
        return PERFILE_FORM_FILE;
    return frames_at(file, PF_PERF_PIPE_HEADER, swap) ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
}

/* Whether the attr section is one.  Newer attrs than those we know are fine. */
static bool attrs_good(perfile_bytes file, const pf_perf_header *h)
{
    bool good = h->attr_size >= ENTRY_LEAST && h->attr_size <= ENTRY_MOST &&
                h->attr_size % 8 == 0 && h->attrs.size && h->attrs.size % h->attr_size == 0 &&
                pf_within(h->attrs.offset, h->attrs.size, file.len);
    for (uint64_t at = 0; good && at < h->attrs.size; at += h->attr_size)
        good = pf_attr_entry_plausible((perfile_bytes){file.ptr + h->attrs.offset + at, (size_t)h->attr_size},
                            h->swap);
    return good;
}

/* Events from somewhere else than the attr section; *start moves behind one that was found. */
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

/* Whether what the header says of the records goes with the file.  One that was cut or never
 * finished says what it can. */
static bool data_good(perfile_bytes file, const pf_perf_header *h)
{
    uint64_t n = count(h->features);
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

/* Where the records are, when the header is wrong on it; `start`: behind the attrs. */
static void find_data(pf_repair *r, perfile_bytes file, const pf_perf_header *h, uint64_t start)
{
    uint64_t table, entries = 0;
    if (data_good(file, h))
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
    if (moved || (found && entries == count(h->features))) {
        r->guessed |= PF_GUESS_TABLE;
        memcpy(r->assume.features, h->features, sizeof r->assume.features);
    } else {
        r->guessed |= PF_GUESS_NO_FEATURES;
    }
}

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
        bool good = attrs_good(file, h);
        pf_repair_forget(r);
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

/* Attrs that look right and are not: EVENT_DESC has them once more. */
static perfile_status better_events(pf_repair *r, perfile_bytes file, bool swap, perfile_error *err)
{
    pf_fit now, then = {0, 0};
    perfile_status st = pf_repair_fit(file, r->guessed ? &r->assume : NULL, &now, err);
    if (st != PERFILE_OK || (now.seen && now.fit >= now.seen - now.seen / 10))
        return st;
    perfile_assume before = r->assume;
    r->no_events = now.seen && now.fit == 0;
    if (!pf_repair_find_desc(r, file, swap, 0))
        return PERFILE_OK;
    pf_repair_settle(r);
    st = pf_repair_fit(file, &r->assume, &then, err);
    if (st == PERFILE_OK && then.fit > now.fit) {
        r->guessed |= PF_GUESS_DESC;
        r->no_events = false;
        return PERFILE_OK;
    }
    r->assume = before;
    return st;
}

/* Of the events of EVENT_DESC and those that only look like some, the ones that go with the
 * samples.
 */
static perfile_status choose_events(pf_repair *r, perfile_bytes file, bool swap, perfile_error *err)
{
    pf_fit desc, look;
    uint64_t end;
    perfile_status st = pf_repair_fit(file, &r->assume, &desc, err);
    if (st != PERFILE_OK || (desc.seen && desc.fit >= desc.seen - desc.seen / 10) ||
        !pf_repair_find_attrs(r, file, swap, &end))
        return st;
    pf_repair_settle(r);
    st = pf_repair_fit(file, &r->assume, &look, err);
    if (st != PERFILE_OK)
        return st;
    if (look.fit > desc.fit) {
        r->guessed = (r->guessed & ~(uint32_t)PF_GUESS_DESC) | PF_GUESS_ATTRS;
    } else if (pf_repair_find_desc(r, file, swap, 0)) {
        pf_repair_settle(r);
    }
    return PERFILE_OK;
}

static perfile_status repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                             perfile_error *err)
{
    perfile_assume none = {.size = sizeof none};
    perfile_bytes file;
    if (!given)
        given = &none;
    r->assume = *given;
    /* What can be asked anywhere but is not in memory as a whole is read as far as that goes. */
    size_t most = source->lasting ? 1 : (size_t)source->limits.window_bytes;
    perfile_status st = pf_source_view(source, 0, most, &file, err);
    if (st != PERFILE_OK || file.len == 0)
        return st;
    pf_perf_header h;
    unsigned damage = pf_perf_header_begin(file, &h);
    if (!damage && file.len < source->size)
        return PERFILE_OK; /* what would be judged is not all there */
    bool swap = given->byte_order
                    ? (given->byte_order == PERFILE_BYTE_ORDER_BIG) != (bool)PF_NATIVE_BIG
                    : guess_order(file, &h, damage, r);
    pf_repair_forget(r);
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
        pf_repair_settle(r);
    if (r->guessed & PF_GUESS_DESC && file.len == source->size)
        return choose_events(r, file, h.swap, err);
    if (given->n_events || r->events.len || file.len < source->size)
        return PERFILE_OK;
    return better_events(r, file, h.swap, err);
}

perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err)
{
    perfile_status st = repair(source, given, r, err);
    /* Another guess would have been made. */
    return st == PERFILE_OK && r->no_memory ? pf_fail_nomem(err, "recover.events") : st;
}

static bool swallows(const perfile_record *r)
{
    pf_record_fit v = {.session = r->session, .swap = r->flags & PERFILE_REC_SWAPPED};
    return pf_perf_swallows(&v, (perfile_bytes){r->header, perfile_record_size(r)});
}

static void ask_before_gaps(perfile_stream *s, bool (*believes)(void *user), void *user)
{
    if (s->ops == &pf_perf_ops)
        pf_perf_ask_before_gaps(s, believes, user);
}

const pf_repair_ops pf_perf_repair_ops = {
    .guess = pf_perf_repair,
    .find_events = pf_repair_find_desc,
    .fit = pf_repair_fit,
    .sample_fits = pf_record_fit_sample,
    .swallows = swallows,
    .ask_before_gaps = ask_before_gaps,
};
