/* A natural merge sort, in the manner of timsort: finds ascending sequences ("runs" in this file),
 * brings short ones to SHORT_RUN entries by insertion, and merges neighbours so that the stack of
 * pending runs stays short.  Equal keys never change places. */
#include "sort/window.h"

#include <string.h>

enum {
    SHORT_RUN = 16, /* runs that are shorter are extended to this length by insertion sort */
    /* A pending run is more than twice as long as the one behind it, so lengths grow at least by
     * powers of two, and 64 of them cannot be exceeded by any array in memory. */
    MOST_RUNS = 64
};

/* Returns how many of e[0 .. n), which is sorted, have a key below `key`; with `equal`: below or
 * equal to it. */
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

/* Merges from the front.  `left` is the copy in scratch, `right` lies in place behind the gap in
 * which `out` is.  The next entry is chosen without a branch, because times of two ring buffers
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

/* Merges from the back: `right` is the copy in scratch, `left` lies in place. */
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

void pf_sort_entries_merge(pf_sort_entry *e, size_t middle, size_t n, pf_sort_entry *scratch)
{
    if (middle == 0 || middle >= n || e[middle - 1].key <= e[middle].key)
        return;
    /* Entries that are in their final position already, at both ends, take no part. */
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

/* Makes e[0 .. length) a sorted run of the maximal or at least SHORT_RUN length; returns it. */
static size_t begin_run(pf_sort_entry *e, size_t n)
{
    size_t i = 1;
    if (n > 1 && e[1].key < e[0].key) {
        /* Descending, from a ring buffer that was written backward.  Only strictly descending keys
         * are reversed, so that equal keys keep their order. */
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

void pf_sort_entries_sort(pf_sort_entry *e, size_t n, pf_sort_entry *scratch)
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
            pf_sort_entries_merge(e + from, before, before + last, scratch);
            runs--;
        }
    }
}
