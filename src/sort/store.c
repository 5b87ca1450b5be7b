/* The store of records that cannot stay in the file.  Items stay in input order and only their
 * entries are sorted.  So a spill writes each item once, in sorted order. */
#include "base/alloc.h"
#include "base/error.h"
#include "io/source_kind.h"
#include "schema/rows.h"
#include "sort/sort.h"
#include "schema/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A natural merge sort, similar to timsort: finds ascending sequences ("runs" in this part),
 * extends short ones to SHORT_RUN entries by insertion, and merges neighbors so that the stack of
 * pending runs stays short.  The sort is stable. */

enum {
    SHORT_RUN = 16, /* shorter runs are extended to this length by insertion sort */
    /* A pending run is more than twice as long as the next one on the stack, so no array in memory
     * can have more than 64 of them. */
    MOST_RUNS = 64
};

/* Returns how many entries of the sorted e[0 .. n) have a key below `key`, or with `equal`, up to
 * `key`. */
static size_t count_below(const pf_sort_entry *e, size_t n, uint64_t key, int equal)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (e[middle].key < key || (equal && e[middle].key == key))
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Merges from the front.  `left` is the copy in scratch; `right` is in place, after the gap that
 * `out` fills.  The next entry is chosen without a branch, because times of two ring buffers
 * alternate unpredictably. */
static void merge_forward(pf_sort_entry *out, const pf_sort_entry *left, size_t n_left,
                          const pf_sort_entry *right, size_t n_right)
{
    const pf_sort_entry *left_end = left + n_left, *right_end = right + n_right;
    while (left < left_end && right < right_end) {
        size_t take_right = right->key < left->key;
        const pf_sort_entry *from = take_right ? right : left;
        *out++ = *from;
        right += take_right;
        left += 1 - take_right;
    }
    memcpy(out, left, (size_t)(left_end - left) * sizeof *out);
}

/* Merges from the back.  `right` is the copy in scratch; `left` is in place. */
static void merge_backward(pf_sort_entry *out_end, const pf_sort_entry *left, size_t n_left,
                           const pf_sort_entry *right, size_t n_right)
{
    const pf_sort_entry *left_end = left + n_left, *right_end = right + n_right;
    while (left_end > left && right_end > right) {
        size_t take_left = right_end[-1].key < left_end[-1].key;
        const pf_sort_entry *from = take_left ? left_end - 1 : right_end - 1;
        *--out_end = *from;
        left_end -= take_left;
        right_end -= 1 - take_left;
    }
    size_t rest = (size_t)(right_end - right);
    memcpy(out_end - rest, right, rest * sizeof *right);
}

/* Merges e[0 .. middle) and e[middle .. n), each of which is sorted; stable.  `scratch` has room
 * for the shorter of the two. */
static void merge_entries(pf_sort_entry *e, size_t middle, size_t n, pf_sort_entry *scratch)
{
    if (middle == 0 || middle >= n || e[middle - 1].key <= e[middle].key)
        return;
    /* Entries at both ends that are in their final position already are skipped. */
    size_t skip = count_below(e, middle, e[middle].key, 1);
    size_t end = middle + count_below(e + middle, n - middle, e[middle - 1].key, 0);
    pf_sort_entry *left = e + skip, *right = e + middle;
    size_t n_left = middle - skip, n_right = end - middle;
    if (n_left <= n_right) {
        memcpy(scratch, left, n_left * sizeof *left);
        merge_forward(left, scratch, n_left, right, n_right);
    } else {
        memcpy(scratch, right, n_right * sizeof *right);
        merge_backward(e + end, left, n_left, scratch, n_right);
    }
}

static void reverse(pf_sort_entry *e, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        pf_sort_entry other = e[i];
        e[i] = e[n - 1 - i];
        e[n - 1 - i] = other;
    }
}

/* Insertion sort of e[0 .. n), of which e[0 .. sorted) is sorted. */
static void insert(pf_sort_entry *e, size_t sorted, size_t n)
{
    for (; sorted < n; sorted++) {
        pf_sort_entry one = e[sorted];
        size_t at = sorted;
        for (; at > 0 && e[at - 1].key > one.key; at--)
            e[at] = e[at - 1];
        e[at] = one;
    }
}

/* Makes the longest possible run at the start of `e`, of at least SHORT_RUN entries if there are so
 * many, and returns its length. */
static size_t begin_run(pf_sort_entry *e, size_t n)
{
    size_t i = 1;
    if (n > 1 && e[1].key < e[0].key) {
        /* Descending keys come from a ring buffer that was written backward.  Only strictly
         * descending keys are reversed, so that equal keys keep their order. */
        while (i < n && e[i].key < e[i - 1].key)
            i++;
        reverse(e, i);
    }
    while (i < n && e[i - 1].key <= e[i].key)
        i++;
    if (i >= SHORT_RUN || i >= n)
        return i < n ? i : n;
    size_t longer = n < SHORT_RUN ? n : SHORT_RUN;
    insert(e, i, longer);
    return longer;
}

/* Sorts by key; entries with equal keys keep their order.  A sorted array costs one pass.
 * `scratch` has room for n / 2 entries. */
static void sort_pairs(pf_sort_entry *e, size_t n, pf_sort_entry *scratch)
{
    size_t start[MOST_RUNS + 1];
    unsigned runs = 0;
    for (size_t at = 0; at < n;) {
        start[runs++] = at;
        at += begin_run(e + at, n - at);
        while (runs > 1) {
            size_t last = at - start[runs - 1], before = start[runs - 1] - start[runs - 2];
            if (before > 2 * last && at < n && runs < MOST_RUNS)
                break;
            size_t from = start[runs - 2];
            merge_entries(e + from, before, before + last, scratch);
            runs--;
        }
    }
}

/* Sorted runs in temporary files, and their readers.
 *
 * A level is one file with up to PF_SORT_FAN_IN consecutive runs.  When a level is full, its runs
 * are merged into one run of the next level and its file is truncated.  So each record is written
 * once per level, and at most PF_SORT_FAN_IN windows are open at a time.  Files have no name
 * (io/source_kind.h) and vanish with the process. */

enum {
    LEAST_WINDOW = 8 << 10, /* bytes that a reader reads at once, at least */
    MOST_OUT = 256 << 10    /* bytes written at once, at most */
};

/* Sets `item` to the item at the start of the window, NULL if it is incomplete.  Then `needs_fill`
 * says whether the file has more of it. */
static void update_item(pf_sort_reader *r)
{
    const pf_sort_item *item = (const pf_sort_item *)(const void *)r->window.ptr;
    bool complete = r->window.len >= sizeof *item && r->window.len >= item->size;
    r->item = complete ? item : NULL;
    r->needs_fill = !complete && (r->at < r->end);
}

void pf_sort_reader_next(pf_sort_reader *r)
{
    if (r->memory) { /* items in memory are put in order by their entries */
        r->item = ++r->entry < r->last
                      ? (const pf_sort_item *)(const void *)(r->memory + r->entry->at)
                      : NULL;
        return;
    }
    pf_buffer_consume_front(&r->window, r->item->size);
    update_item(r);
}

perfile_status pf_sort_reader_fill(pf_sort_reader *r, size_t window, perfile_error *err)
{
    if (window < LEAST_WINDOW)
        window = LEAST_WINDOW;
    while (r->needs_fill) {
        /* The first bytes of an item tell its size. */
        uint32_t need = sizeof(pf_sort_item);
        if (r->window.len >= need)
            memcpy(&need, r->window.ptr + offsetof(pf_sort_item, size), sizeof need);
        /* Fill the window.  An item that is larger than the window extends it. */
        size_t room = need > window ? need : window;
        size_t n = room - r->window.len;
        if (r->end - r->at < n)
            n = (size_t)(r->end - r->at);
        if (!pf_buffer_reserve(&r->window, n))
            return pf_fail_nomem(err, "sort");
        size_t got;
        perfile_status st =
            pf_temporary_read(r->fd, r->at, r->window.ptr + r->window.len, n, &got, "sort", err);
        if (st != PERFILE_OK)
            return st;
        if (got < n)
            return pf_fail(err, PERFILE_E_IO, "sort", "the temporary file was truncated");
        r->window.len += n;
        r->at += n;
        update_item(r);
    }
    return PERFILE_OK;
}

void pf_sort_reader_close(pf_sort_reader *r)
{
    pf_buffer_free(&r->window);
}

/* Makes a reader for each run of the level, in the order in which their records were read.  Returns
 * the position after the last reader. pf_sort_reader_fill() reads their first items. */
static pf_sort_reader *open_runs(const pf_sort_level *level, pf_sort_reader *readers)
{
    for (uint32_t i = 0; i < level->n; i++)
        *readers++ = (pf_sort_reader){.needs_fill = true,
                                      .fd = level->fd,
                                      .at = level->runs[i].at,
                                      .end = level->runs[i].end};
    return readers;
}

static perfile_status begin_file_run(pf_sort_store *s, unsigned level, perfile_error *err)
{
    /* One file per level; a new run is appended. */
    pf_sort_level *l = &s->levels[level];
    perfile_status st = PERFILE_OK;
    if (l->fd < 0)
        st = pf_temporary_open(s->temporary, "sort", &l->fd, err);
    s->out_fd = l->fd;
    s->out_at = l->end;
    l->runs[l->n].at = l->end;
    return st;
}

/* Writes the contents of s->out to the file of the run. */
static perfile_status write_out(pf_sort_store *s, perfile_error *err)
{
    perfile_bytes b = {s->out.ptr, s->out.len};
    perfile_status st = pf_temporary_write(s->out_fd, s->temporary, s->out_at, b, "sort", err);
    s->out_at += b.len;
    s->written += b.len;
    pf_buffer_clear(&s->out);
    return st;
}

static perfile_status put_item(pf_sort_store *s, const pf_sort_item *item, perfile_error *err)
{
    /* With a small budget less is buffered: the readers' windows need the rest. */
    size_t most = s->budget / 16 < MOST_OUT ? (size_t)s->budget / 16 : MOST_OUT;
    if (!pf_buffer_append(&s->out, item, item->size))
        return pf_fail_nomem(err, "sort");
    return s->out.len >= most ? write_out(s, err) : PERFILE_OK;
}

static perfile_status end_file_run(pf_sort_store *s, unsigned level, perfile_error *err)
{
    pf_sort_level *l = &s->levels[level];
    perfile_status st = write_out(s, err);
    l->end = l->runs[l->n++].end = s->out_at;
    return st;
}

/* Merges all runs of a level into one run of the next level, but does not remove them.  `readers`
 * is scratch for PF_SORT_FAN_IN readers. */
static perfile_status merge_level(pf_sort_store *s, pf_sort_reader *readers, unsigned level,
                                  perfile_error *err)
{
    size_t n = s->levels[level].n;
    /* The budget is shared by the windows and the output. */
    size_t window = (size_t)(s->budget / (n + 1));
    perfile_status st = begin_file_run(s, level + 1, err);
    open_runs(&s->levels[level], readers);
    pf_head heads[PF_SORT_FAN_IN];
    pf_heap heap = {heads, 0};
    for (uint32_t i = 0; st == PERFILE_OK && i < n; i++) {
        st = pf_sort_reader_fill(&readers[i], window, err);
        if (readers[i].item)
            pf_heap_push(&heap, (pf_head){.key = readers[i].item->key, .source = i});
    }
    while (st == PERFILE_OK && heap.n) {
        pf_head one = heads[0];
        pf_sort_reader *r = &readers[one.source];
        st = put_item(s, r->item, err);
        pf_sort_reader_next(r);
        if (st == PERFILE_OK)
            st = pf_sort_reader_fill(r, window, err);
        if (r->item) {
            one.key = r->item->key;
            pf_heap_replace(&heap, one);
        } else {
            pf_heap_pop(&heap);
        }
    }
    if (st == PERFILE_OK)
        st = end_file_run(s, level + 1, err);
    for (size_t i = 0; i < n; i++)
        pf_sort_reader_close(&readers[i]);
    return st;
}

/* Called when level 0 is full: merges its runs into one run of level 1, and does the same for each
 * higher level that becomes full.  PERFILE_E_LIMIT: the highest level is full. */
static perfile_status merge_levels(pf_sort_store *s, perfile_error *err)
{
    pf_sort_reader *readers = pf_alloc(PF_SORT_FAN_IN, sizeof *readers);
    perfile_status st = readers ? PERFILE_OK : pf_fail_nomem(err, "sort");
    for (unsigned i = 0; st == PERFILE_OK && s->levels[i].n == PF_SORT_FAN_IN; i++) {
        pf_sort_level *l = &s->levels[i];
        if (i + 1 == PF_SORT_LEVELS) {
            st = pf_fail(err, PERFILE_E_LIMIT, "sort.max_memory",
                         "too little memory to sort so many records: give more");
            break;
        }
        st = merge_level(s, readers, i, err);
        if (st != PERFILE_OK)
            break;
        if (ftruncate(l->fd, 0) != 0)
            st = pf_fail_io(err, errno, "sort", "cannot truncate the temporary file");
        /* The file stays open for the next runs of this level. */
        l->n = 0;
        l->end = 0;
    }
    pf_free(readers);
    return st;
}

void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary)
{
    s->budget = budget;
    s->temporary = temporary;
    s->payloads = -1;
    for (unsigned i = 0; i < PF_SORT_LEVELS; i++) /* files are opened for their first run */
        s->levels[i].fd = -1;
}

/* The item at offset `at` of the buffer; items are aligned to 8 bytes. */
static const pf_sort_item *item_at(const pf_sort_store *s, uint64_t at)
{
    return (const pf_sort_item *)(const void *)(s->items.ptr + at);
}

static uint64_t memory_of(const pf_sort_store *s)
{
    return s->items.len + s->n * (sizeof *s->entries + sizeof *s->scratch / 2);
}

static bool is_spilled(const pf_sort_store *s)
{
    for (unsigned i = 0; i < PF_SORT_LEVELS; i++)
        if (s->levels[i].n)
            return true;
    return false;
}

/* Makes room for `n` entries in an array, which grows by half. */
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
        sort_pairs(s->entries, s->n, s->scratch);
    return st;
}

/* Writes all items in memory as a run of level 0, clears them, and merges levels that are full. */
static perfile_status spill(pf_sort_store *s, perfile_error *err)
{
    perfile_status st = sort_entries(s, err);
    if (st == PERFILE_OK)
        st = begin_file_run(s, 0, err);
    for (size_t i = 0; st == PERFILE_OK && i < s->n; i++)
        st = put_item(s, item_at(s, s->entries[i].at), err);
    if (st == PERFILE_OK)
        st = end_file_run(s, 0, err);
    s->n = 0;
    s->spills++;
    pf_buffer_clear(&s->items);
    /* Keep the number of runs bounded. */
    if (st == PERFILE_OK && s->levels[0].n == PF_SORT_FAN_IN) {
        /* Freed, not cleared, because the readers' windows use up the budget now. */
        pf_buffer_free(&s->items);
        st = merge_levels(s, err);
    }
    return st;
}

/* Makes room for one more item of `size` bytes; spills first if the budget is used up. */
static perfile_status make_room(pf_sort_store *s, size_t size, perfile_error *err)
{
    /* An item costs its bytes, an entry, and half an entry of scratch. */
    uint64_t one = size + sizeof *s->entries + sizeof *s->scratch / 2;
    /* A single item that is larger than the budget is accepted in an empty store. */
    if (s->n && memory_of(s) + one > s->budget) {
        perfile_status st = spill(s, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (!pf_buffer_reserve(&s->items, size))
        return pf_fail_nomem(err, "sort");
    return grow(&s->entries, &s->cap, s->n + 1, err);
}

/* Adds the entry of an item that was written at the end of s->items. */
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
    /* A body that does not directly follow its header must be copied, so that the item is
     * contiguous. */
    bool contiguous = r->body.len == 0 || r->body.ptr == r->header + header;
    /* Persistent bytes stay where they are; the item has only their address. */
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
    /* The payload was appended to the payload file just before; see save_payload() in read.c. */
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
        /* Other records may come between the fragments. */
        if (!(item_at(s, s->entries[i].at)->flags & PERFILE_REC_ENVELOPE))
            continue;
        memcpy(item, &key, sizeof key);
        s->entries[i].key = key;
    }
}

pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r)
{
    /* As pf_sort_store_add() writes it: the payload, then the record or its address. */
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
    r->body = (perfile_bytes){at + pf_family_header(item->family), item->body};
    r->flags = item->flags;
    r->family = item->family;
    r->time = item->key; /* only used with PERFILE_REC_TIMED; then the key is the time */
    /* The copy is in a buffer that changes. */
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
    /* Everything goes to files or everything stays in memory, so that one of the two can use the
     * whole budget. */
    if (is_spilled(s)) {
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
        readers = open_runs(&s->levels[i], readers);
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
