/* Call chains from branch stacks (see branches.h). */
#include "profile/profile.h"

#include "base/byte_order.h"
#include "core/contexts.h"
#include "perfile/abi.h"

bool pf_branches_are_calls(const perfile_event *event)
{
    return event && event->attr->branch_sample_type & PERFILE_BRANCH_CALL_STACK;
}

/* How many words the chain has up to the marker of its user part, with it; 0: it has none. */
static size_t user_part_at(const uint8_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pf_load_u64(words + 8 * i, false) == PF_CONTEXT_USER)
            return i + 1;
    return 0;
}

bool pf_branches_chain(const perfile_record *r, const uint8_t *words, size_t n, pf_buffer *out)
{
    perfile_sample v;
    perfile_branch_entry entry;
    const size_t kept = user_part_at(words, n);
    pf_buffer_clear(out);
    if (!kept || perfile_sample_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    perfile_list list = v.branch_stack.lbr;
    for (bool first = true; perfile_branch_entry_next(&list, &entry, sizeof entry) == PERFILE_OK;
         first = false) {
        if (first && (!pf_buffer_append(out, words, 8 * kept) ||
                      !pf_buffer_append(out, &entry.to, sizeof entry.to)))
            return false;
        if (!pf_buffer_append(out, &entry.from, sizeof entry.from))
            return false;
    }
    return true;
}
