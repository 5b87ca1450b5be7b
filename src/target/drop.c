/* What goes together with the sample fields that the caller drops: members and flags of attrs,
 * features and records that are about such a field alone.  perf refuses a capture with a feature
 * about a field that no sample has (BRANCH_STACK). */
#include <string.h>

#include "perfile/field.h"
#include "target/target.h"

enum { NO_FEATURE = 0, NO_RECORD = 0 };

/* A field of samples, and what goes with it. */
typedef struct row {
    uint64_t field;     /* PERFILE_SAMPLE_… */
    const char *member; /* of the attr, set to 0; NULL: none */
    uint64_t flags;     /* of the attr, cleared */
    uint32_t feature;   /* PERFILE_FEATURE_…, left out */
    uint32_t type;      /* record type, dropped */
} row;

#define FLAG(name) (UINT64_C(1) << PERFILE_ATTR_BIT_##name)

/* sample_regs_user means nothing without REGS_USER, and so on.  CLOCKID, CLOCK_DATA and
 * CPU_TOPOLOGY describe the machine and hold whatever fields samples have. */
static const row rows[] = {
    {PERFILE_SAMPLE_TIME, NULL, 0, PERFILE_FEATURE_SAMPLE_TIME, NO_RECORD},
    {PERFILE_SAMPLE_CALLCHAIN, "sample_max_stack",
     FLAG(EXCLUDE_CALLCHAIN_KERNEL) | FLAG(EXCLUDE_CALLCHAIN_USER) | FLAG(DEFER_CALLCHAIN) |
         FLAG(DEFER_OUTPUT),
     NO_FEATURE, PERFILE_RECORD_CALLCHAIN_DEFERRED},
    {PERFILE_SAMPLE_BRANCH_STACK, "branch_sample_type", 0, PERFILE_FEATURE_BRANCH_STACK, NO_RECORD},
    {PERFILE_SAMPLE_REGS_USER, "sample_regs_user", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_STACK_USER, "sample_stack_user", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_REGS_INTR, "sample_regs_intr", 0, NO_FEATURE, NO_RECORD},
    {PERFILE_SAMPLE_AUX, "aux_sample_size", 0, NO_FEATURE, NO_RECORD},
};

/* Loop over the rows of the fields in `drop`. */
#define FOR_DROPPED(r, drop)                                                                       \
    for (const row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++)                        \
        if (r->field & (drop))

bool pf_target_drops_member(const pf_target *t, const char *member)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->member && strcmp(r->member, member) == 0)
        return true;
    return false;
}

uint64_t pf_target_drops_flags(const pf_target *t)
{
    uint64_t flags = 0;
    FOR_DROPPED(r, t->options.drop)
    flags |= r->flags;
    return flags;
}

bool pf_target_drops_feature(const pf_target *t, uint32_t number)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->feature && r->feature == number)
        return true;
    return false;
}

bool pf_target_drops_record(const pf_target *t, uint32_t type)
{
    FOR_DROPPED(r, t->options.drop)
    if (r->type && r->type == type)
        return true;
    return false;
}
