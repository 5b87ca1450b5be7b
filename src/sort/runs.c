/* Sorted runs in temporary files, and the readers of them.
 *
 * A level is one file with up to PF_SORT_FAN_IN runs, one after the other.  When a level is full,
 * its runs are merged into one run of the next level and its file is cut to nothing, so that each
 * record is written once per level, and no more than PF_SORT_FAN_IN windows are open at a time.
 * Files have no name (io/temporary.h) and vanish with the process. */
#include "sort/store.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/temporary.h"

enum {
    LEAST_WINDOW = 8 << 10, /* bytes that a reader reads at once, however small the budget is */
    MOST_OUT = 256 << 10    /* bytes written at once */
};

perfile_status pf_sort_run_begin(pf_sort_store *s, unsigned level, perfile_error *err)
{
    /* One file per level; a run is appended to those that are there. */
    pf_sort_level *l = &s->levels[level];
    perfile_status st = PERFILE_OK;
    if (l->fd < 0)
        st = pf_temporary_open(s->temporary, "sort", &l->fd, err);
    s->out_fd = l->fd;
    s->out_at = l->end;
    l->runs[l->n].at = l->end;
    return st;
}

/* Writes what is gathered in s->out to the file of the run. */
static perfile_status write_out(pf_sort_store *s, perfile_error *err)
{
    perfile_bytes b = {s->out.ptr, s->out.len};
    perfile_status st = pf_temporary_write(s->out_fd, s->temporary, s->out_at, b, "sort", err);
    s->out_at += b.len;
    s->written += b.len;
    pf_buffer_clear(&s->out);
    return st;
}

perfile_status pf_sort_run_put(pf_sort_store *s, const pf_sort_item *item, perfile_error *err)
{
    /* With a small budget less is gathered: the windows of the readers need the rest. */
    size_t most = s->budget / 16 < MOST_OUT ? (size_t)s->budget / 16 : MOST_OUT;
    if (!pf_buffer_append(&s->out, item, item->size))
        return pf_fail_nomem(err, "sort");
    return s->out.len >= most ? write_out(s, err) : PERFILE_OK;
}

perfile_status pf_sort_run_end(pf_sort_store *s, unsigned level, perfile_error *err)
{
    pf_sort_level *l = &s->levels[level];
    perfile_status st = write_out(s, err);
    l->end = l->runs[l->n++].end = s->out_at;
    return st;
}

/* Returns the index of the reader with the least key, the first of equal ones; n if all have
 * ended.  A linear search: there are at most PF_SORT_FAN_IN readers, and only records that are
 * written a second time come here. */
static size_t index_of_least(const pf_sort_reader *readers, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (readers[i].item && (best == n || readers[i].item->key < readers[best].item->key))
            best = i;
    return best;
}

/* Merges all runs of a level into one run of the next; `readers` is scratch for PF_SORT_FAN_IN. The
 * runs of the level are not removed here. */
static perfile_status merge_level(pf_sort_store *s, pf_sort_reader *readers, unsigned level,
                                  perfile_error *err)
{
    size_t n = s->levels[level].n;
    /* The budget is shared by the windows and the output. */
    size_t window = (size_t)(s->budget / (n + 1));
    perfile_status st = pf_sort_run_begin(s, level + 1, err);
    pf_sort_runs_open(&s->levels[level], readers);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++)
        st = pf_sort_reader_fill(&readers[i], window, err);
    while (st == PERFILE_OK) {
        size_t i = index_of_least(readers, n);
        if (i == n)
            break;
        st = pf_sort_run_put(s, readers[i].item, err);
        pf_sort_reader_next(&readers[i]);
        if (st == PERFILE_OK && readers[i].needs_fill)
            st = pf_sort_reader_fill(&readers[i], window, err);
    }
    if (st == PERFILE_OK)
        st = pf_sort_run_end(s, level + 1, err);
    for (size_t i = 0; i < n; i++)
        pf_sort_reader_close(&readers[i]);
    return st;
}

perfile_status pf_sort_runs_merge(pf_sort_store *s, perfile_error *err)
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

pf_sort_reader *pf_sort_runs_open(const pf_sort_level *level, pf_sort_reader *readers)
{
    for (uint32_t i = 0; i < level->n; i++)
        *readers++ = (pf_sort_reader){.needs_fill = true,
                                      .fd = level->fd,
                                      .at = level->runs[i].at,
                                      .end = level->runs[i].end};
    return readers;
}

/* Sets `item` to the item at the front of the window, NULL if it is not complete; then `needs_fill`
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
        /* The first bytes of an item say how long it is. */
        uint32_t need = sizeof(pf_sort_item);
        if (r->window.len >= need)
            memcpy(&need, r->window.ptr + offsetof(pf_sort_item, size), sizeof need);
        /* Fill the window; a single item that is larger than the window extends it. */
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
