/* The store of records that cannot stay in the file; see store.h.  Items are kept in input order
 * and only their entries are sorted, so that a spill writes each item once, in order.  runs.c
 * writes and reads the runs. */
#include "sort/store.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/temporary.h"
#include "schema/family.h"

void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary)
{
    s->budget = budget;
    s->temporary = temporary;
    s->payloads = -1;
    for (unsigned i = 0; i < PF_SORT_LEVELS; i++) /* files are opened with their first run */
        s->levels[i].fd = -1;
}

/* The item at offset `at` of the buffer; items are aligned to 8 bytes. */
static const pf_sort_item *item_at(const pf_sort_store *s, uint64_t at)
{
    return (const pf_sort_item *)(const void *)(s->items.ptr + at);
}

uint64_t pf_sort_store_memory(const pf_sort_store *s)
{
    return s->items.len + s->n * (sizeof *s->entries + sizeof *s->scratch / 2);
}

bool pf_sort_store_spilled(const pf_sort_store *s)
{
    for (unsigned i = 0; i < PF_SORT_LEVELS; i++)
        if (s->levels[i].n)
            return true;
    return false;
}

/* Makes an array of entries have room for `n`; it grows by half. */
static perfile_status grow(pf_sort_entry **array, size_t *cap, size_t n, perfile_error *err)
{
    if (n <= *cap)
        return PERFILE_OK;
    size_t more = *cap < 1024 ? 1024 : *cap + *cap / 2;
    if (more < n)
        more = n;
    pf_sort_entry *p = pf_realloc(*array, more, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "sort");
    *array = p;
    *cap = more;
    return PERFILE_OK;
}

/* Sorts the entries in memory. */
static perfile_status sort_entries(pf_sort_store *s, perfile_error *err)
{
    perfile_status st = grow(&s->scratch, &s->scratch_cap, s->n / 2, err);
    if (st == PERFILE_OK)
        pf_sort_entries_sort(s->entries, s->n, s->scratch);
    return st;
}

/* Writes all items in memory as a run of level 0 and forgets them; merges levels that are full. */
static perfile_status spill(pf_sort_store *s, perfile_error *err)
{
    perfile_status st = sort_entries(s, err);
    if (st == PERFILE_OK)
        st = pf_sort_run_begin(s, 0, err);
    for (size_t i = 0; st == PERFILE_OK && i < s->n; i++)
        st = pf_sort_run_put(s, item_at(s, s->entries[i].at), err);
    if (st == PERFILE_OK)
        st = pf_sort_run_end(s, 0, err);
    s->n = 0;
    s->spills++;
    pf_buffer_clear(&s->items);
    /* Keep the number of runs bounded. */
    if (st == PERFILE_OK && s->levels[0].n == PF_SORT_FAN_IN) {
        /* Freed, not cleared: the windows of the readers take up the budget now. */
        pf_buffer_free(&s->items);
        st = pf_sort_runs_merge(s, err);
    }
    return st;
}

/* Makes room for one more item of `size` bytes, by a spill if the budget is used up. */
static perfile_status make_room(pf_sort_store *s, size_t size, perfile_error *err)
{
    /* An item costs its bytes, an entry, and half an entry of scratch. */
    uint64_t one = size + sizeof *s->entries + sizeof *s->scratch / 2;
    /* A single item that is larger than the budget is accepted in an empty store. */
    if (s->n && pf_sort_store_memory(s) + one > s->budget) {
        perfile_status st = spill(s, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (!pf_buffer_reserve(&s->items, size))
        return pf_fail_nomem(err, "sort");
    return grow(&s->entries, &s->cap, s->n + 1, err);
}

/* Adds the entry of an item that was written behind s->items. */
static void add_entry(pf_sort_store *s, uint64_t key, size_t size)
{
    s->entries[s->n++] = (pf_sort_entry){key, s->items.len};
    s->items.len += size;
}

perfile_status pf_sort_store_payload(pf_sort_store *s, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (s->payloads < 0)
        st = pf_temporary_open(s->temporary, "sort", &s->payloads, err);
    if (st == PERFILE_OK)
        st = pf_temporary_write(s->payloads, s->temporary, s->payloads_end, bytes, "sort", err);
    if (st == PERFILE_OK) {
        s->payloads_end += bytes.len;
        s->written += bytes.len;
    }
    return st;
}

perfile_status pf_sort_store_add(pf_sort_store *s, uint64_t key, const perfile_record *r, bool copy,
                                 perfile_error *err)
{
    const size_t header = perfile_record_size(r) - r->body.len;
    /* A body that lies elsewhere than behind its header must be copied to be one piece of
     * memory. */
    bool contiguous = r->body.len == 0 || r->body.ptr == r->header + header;
    /* Stable bytes stay where they are; the item holds only their address. */
    bool borrowed = r->flags & PERFILE_REC_STABLE && contiguous && !copy;
    size_t bytes = borrowed ? sizeof(uint64_t) : header + r->body.len;
    size_t extra = r->extra.len ? sizeof(pf_sort_extra) : 0;
    /* A multiple of 8, so that the next item is aligned, in files too. */
    size_t size = (sizeof(pf_sort_item) + extra + bytes + 7) & ~(size_t)7;
    if (r->body.len > UINT32_MAX / 2)
        return pf_fail(err, PERFILE_E_LIMIT, "sort.record",
                       "a record has %zu bytes, at most %u can be sorted", r->body.len,
                       UINT32_MAX / 2);
    perfile_status st = make_room(s, size, err);
    if (st != PERFILE_OK)
        return st;
    /* The payload was appended to the payload file just before, see save_payload() in read.c. */
    bool in_file = r->extra.len && !(r->extra.ptr && r->flags & PERFILE_REC_STABLE);
    pf_sort_item item = {.key = key,
                         .offset = r->offset,
                         .size = (uint32_t)size,
                         .body = (uint32_t)r->body.len,
                         .part = r->part,
                         .flags = r->flags,
                         .family = r->family};
    item.contents = (uint8_t)((borrowed ? PF_SORT_BORROWED : 0) | (extra ? PF_SORT_EXTRA : 0) |
                              (in_file ? PF_SORT_EXTRA_FILE : 0));
    uint8_t *at = s->items.ptr + s->items.len;
    memcpy(at, &item, sizeof item);
    at += sizeof item;
    if (extra) {
        pf_sort_extra behind = {r->extra.len,
                                in_file ? s->payloads_end - r->extra.len : (uintptr_t)r->extra.ptr};
        memcpy(at, &behind, sizeof behind);
        at += sizeof behind;
    }
    if (borrowed) {
        uint64_t pointer = (uintptr_t)r->header;
        memcpy(at, &pointer, sizeof pointer);
    } else {
        memcpy(at, r->header, header);
        if (r->body.len)
            memcpy(at + header, r->body.ptr, r->body.len);
    }
    add_entry(s, key, size);
    return PERFILE_OK;
}

perfile_status pf_sort_store_add_item(pf_sort_store *s, const pf_sort_item *item, uint64_t key,
                                      perfile_error *err)
{
    size_t size = item->size;
    perfile_status st = make_room(s, size, err);
    if (st != PERFILE_OK)
        return st;
    memcpy(s->items.ptr + s->items.len, item, size);
    memcpy(s->items.ptr + s->items.len, &key, sizeof key); /* the key is the first member */
    add_entry(s, key, size);
    return PERFILE_OK;
}

void pf_sort_store_set_fragment_keys(pf_sort_store *s, size_t first, uint64_t spills, uint64_t key)
{
    for (size_t i = first; i < s->n && s->spills == spills; i++) {
        uint8_t *item = s->items.ptr + s->entries[i].at;
        /* Other records may stand between the fragments. */
        if (!(item_at(s, s->entries[i].at)->flags & PERFILE_REC_ENVELOPE))
            continue;
        memcpy(item, &key, sizeof key);
        s->entries[i].key = key;
    }
}

pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r)
{
    /* The order of pf_sort_store_add(): payload, then the record or its address. */
    const uint8_t *at = (const uint8_t *)(item + 1);
    pf_sort_extra extra = {0};
    if (item->contents & PF_SORT_EXTRA) {
        memcpy(&extra, at, sizeof extra);
        at += sizeof extra;
    }
    if (item->contents & PF_SORT_BORROWED) {
        uint64_t pointer;
        memcpy(&pointer, at, sizeof pointer);
        at = (const uint8_t *)(uintptr_t)pointer;
    }
    r->header = at;
    r->body = (perfile_bytes){at + perfile_family_header(item->family), item->body};
    r->flags = item->flags;
    r->family = item->family;
    r->time = item->key; /* used only with PERFILE_REC_TIMED, and then the key is the time */
    /* The copy lives in a buffer that changes. */
    if (!(item->contents & PF_SORT_BORROWED))
        r->flags &= (uint8_t)~PERFILE_REC_STABLE;
    r->offset = item->offset;
    r->part = item->part;
    r->extra = (perfile_bytes){NULL, (size_t)extra.len};
    if (extra.len && !(item->contents & PF_SORT_EXTRA_FILE))
        r->extra.ptr = (const uint8_t *)(uintptr_t)extra.at;
    return extra;
}

perfile_status pf_sort_store_finish(pf_sort_store *s, size_t *n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    /* Everything in files, or everything in memory: so all of the budget is for one of the two. */
    if (pf_sort_store_spilled(s)) {
        if (s->n)
            st = spill(s, err);
        pf_buffer_free(&s->items);
        pf_free(s->entries);
        pf_free(s->scratch);
        s->entries = s->scratch = NULL;
        s->cap = s->scratch_cap = 0;
        *n = 0;
        for (unsigned i = 0; i < PF_SORT_LEVELS; i++)
            *n += s->levels[i].n;
        return st;
    }
    *n = s->n != 0;
    return sort_entries(s, err);
}

void pf_sort_store_read(pf_sort_store *s, pf_sort_reader *readers, size_t n)
{
    memset(readers, 0, n * sizeof *readers);
    if (s->n && n) {
        *readers = (pf_sort_reader){.item = item_at(s, s->entries[0].at),
                                    .memory = s->items.ptr,
                                    .entry = s->entries,
                                    .last = s->entries + s->n};
        return;
    }
    for (unsigned i = PF_SORT_LEVELS; i-- > 0;) /* higher levels hold the earlier records */
        readers = pf_sort_runs_open(&s->levels[i], readers);
}

void pf_sort_store_close(pf_sort_store *s)
{
    for (unsigned i = 0; i < PF_SORT_LEVELS; i++)
        if (s->levels[i].fd >= 0)
            close(s->levels[i].fd);
    if (s->payloads >= 0)
        close(s->payloads);
    pf_buffer_free(&s->items);
    pf_buffer_free(&s->out);
    pf_free(s->entries);
    pf_free(s->scratch);
}
