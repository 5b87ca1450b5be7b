/* Looking through the class numbers: runs of records that are put together alike, and of records
 * that are apart or not.
 *
 * In a chunk of samples nearly all class numbers are of one kind, and mostly equal.  They are
 * looked at eight at once: compared with eight of the first, and if they differ, in a table, where
 * one branch decides for all eight.  So passing by samples costs a tenth to a third of a nanosecond
 * each. */
#include "archive/columns_decode.h"

#include <string.h>

#include "base/byte_order.h"

static bool all_equal(const uint8_t *numbers, uint8_t number)
{
    return pf_load_u64(numbers, false) == number * UINT64_C(0x0101010101010101);
}

/* The same for 32. */
static bool all_equal_32(const uint8_t *numbers, uint8_t number)
{
    const uint64_t all = number * UINT64_C(0x0101010101010101);
    return ((pf_load_u64(numbers, false) ^ all) | (pf_load_u64(numbers + 8, false) ^ all) |
            (pf_load_u64(numbers + 16, false) ^ all) | (pf_load_u64(numbers + 24, false) ^ all)) ==
           0;
}

/* True if the table has `value` for all of eight class numbers. */
static bool all_have(const uint8_t *table, const uint8_t *numbers, uint8_t value)
{
    unsigned differ = 0;
    for (unsigned k = 0; k < 8; k++)
        differ |= table[numbers[k]] ^ value;
    return differ == 0;
}

size_t pf_class_run(const pf_columns_decoder *d, size_t i)
{
    const uint8_t *class_of = d->class_of;
    size_t end = i + 1;
    if (!class_of)
        return d->n_records - i;
    const uint8_t number = class_of[i], shape = d->shape[number];
    while (d->n_records - end >= 8 &&
           (all_equal(class_of + end, number) || all_have(d->shape, class_of + end, shape)))
        end += 8;
    while (end < d->n_records && d->shape[class_of[end]] == shape)
        end++;
    return end - i;
}

/* Passes by records of one class, 32 at once; returns the number of the first that it leaves. */
static size_t pass_equal(const pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes)
{
    const size_t first = i;
    if (i == d->n_records || d->kind[d->class_of[i]] != apart)
        return i;
    const uint8_t number = d->class_of[i];
    while (d->n_records - i >= 32 && all_equal_32(d->class_of + i, number))
        i += 32;
    *bytes += (i - first) * (uint64_t)d->size[number];
    return i;
}

/* Passes by eight records of the kind, if they are. */
PF_INLINE bool pass_eight(const pf_columns_decoder *d, const uint8_t *numbers, uint8_t kind,
                          uint64_t *bytes)
{
    if (all_equal(numbers, numbers[0]) && d->kind[numbers[0]] == kind) {
        *bytes += 8 * (uint64_t)d->size[numbers[0]];
        return true;
    }
    if (!all_have(d->kind, numbers, kind))
        return false;
    for (unsigned k = 0; k < 8; k++)
        *bytes += d->size[numbers[k]];
    return true;
}

size_t pf_class_pass(pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes)
{
    if (i == d->n_records)
        return i;
    uint64_t sum = 0;
    if (!d->class_of && d->kind[d->class_of_all] == apart) {
        sum = d->size[d->class_of_all] * (uint64_t)(d->n_records - i);
        i = d->n_records;
    } else if (d->class_of) {
        i = pass_equal(d, i, apart, &sum);
        while (d->n_records - i >= 8 && pass_eight(d, d->class_of + i, apart, &sum))
            i = pass_equal(d, i + 8, apart, &sum);
        while (i < d->n_records && d->kind[d->class_of[i]] == apart)
            sum += d->size[d->class_of[i++]];
    }
    *bytes += sum;
    if (i < d->n_records && d->kind[pf_class_of(d, i)] == PF_NO_CLASS)
        pf_streams_fail(&d->streams, "a class that there is not");
    return i;
}
