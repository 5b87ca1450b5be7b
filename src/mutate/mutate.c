/* perfile_fuzz_mutate(): chooses operations by their weights and applies them. */
#include <perfile-fuzz.h>

#include "mutate/operations.h"

#include <string.h>

/* Operations and how often they are chosen. */
static const struct {
    unsigned weight;
    pf_operation *run;
} operations[] = {
    {30, pf_mutate_record_field},    {8, pf_mutate_attr_field},    {10, pf_mutate_feature_field},
    {2, pf_mutate_header_word},      {5, pf_mutate_layout},        {5, pf_mutate_insert_record},
    {7, pf_mutate_duplicate_record}, {6, pf_mutate_remove_record}, {6, pf_mutate_swap_records},
    {4, pf_mutate_resize_record},    {4, pf_mutate_record_type},   {2, pf_mutate_add_feature},
    {2, pf_mutate_drop_feature},     {1, pf_mutate_byte_order},    {8, pf_mutate_bytes},
};

enum { N_OPERATIONS = sizeof operations / sizeof operations[0], TRIES = 8, MOST_STEPS = 4 };

static pf_operation *choose(pf_random *r)
{
    unsigned sum = 0, i = 0;
    for (unsigned k = 0; k < N_OPERATIONS; k++)
        sum += operations[k].weight;
    uint64_t at = pf_random_below(r, sum);
    while (at >= operations[i].weight)
        at -= operations[i++].weight;
    return operations[i].run;
}

/* Applies one operation.  Those that find nothing of their kind are tried again as others; bytes
 * can be changed in the end. */
static void step(pf_buffer *b, pf_random *r)
{
    pf_outer o;
    bool known = pf_outer_read(&o, b->bytes, b->size);
    for (unsigned i = 0; known && i < TRIES; i++)
        if (choose(r)(b, &o, r))
            return;
    (void)pf_mutate_bytes(b, &o, r);
}

size_t perfile_fuzz_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    pf_buffer b = {data, size < max_size ? size : max_size, max_size};
    pf_random r = {seed};
    if (max_size == 0)
        return 0;
    unsigned n = pf_random_one_in(&r, 2) ? 1 : 1 + (unsigned)pf_random_below(&r, MOST_STEPS);
    while (n--)
        step(&b, &r);
    return b.size;
}
