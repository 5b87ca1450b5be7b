/* Layouts: where the fields of samples and trailers are, by sample_type. */
#include "core/layout.h"

#include <string.h>

/* K: the fields of 64 bits at the front of a sample, in stored order, which is not that of the
 * bits. */
static const uint8_t sample_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_IP,        PF_SLOT_TID, PF_SLOT_TIME,   PF_SLOT_ADDR,
    PF_SLOT_ID,         PF_SLOT_STREAM_ID, PF_SLOT_CPU, PF_SLOT_PERIOD,
};

/* K: the fields of a trailer, the last one first. */
static const uint8_t trailer_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_CPU, PF_SLOT_STREAM_ID, PF_SLOT_ID, PF_SLOT_TIME, PF_SLOT_TID,
};

void pf_layout_make(perfile_layout *layout, const perfile_attr *attr)
{
    *layout = (perfile_layout){
        .sample_type = attr->sample_type,
        .read_format = attr->read_format,
        .branch_sample_type = attr->branch_sample_type,
        .sample_regs_user = attr->sample_regs_user,
        .sample_regs_intr = attr->sample_regs_intr,
        .sample_id_all = attr->flags >> PERFILE_ATTR_BIT_SAMPLE_ID_ALL & 1,
    };
    memset(layout->sample_slot, -1, sizeof layout->sample_slot);
    memset(layout->trailer_slot, -1, sizeof layout->trailer_slot);

    int8_t slot = 0;
    for (size_t i = 0; i < sizeof sample_order; i++)
        if (attr->sample_type >> sample_order[i] & 1)
            layout->sample_slot[sample_order[i]] = slot++;

    if (!layout->sample_id_all)
        return;
    slot = 0;
    for (size_t i = 0; i < sizeof trailer_order; i++)
        if (attr->sample_type >> trailer_order[i] & 1)
            layout->trailer_slot[trailer_order[i]] = ++slot;
    layout->trailer_slots = (uint8_t)slot;
    layout->trailer_size = (uint8_t)(8 * slot);
}

/* The slots follow from these members, so they need not be compared. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b)
{
    return a->sample_type == b->sample_type && a->read_format == b->read_format &&
           a->branch_sample_type == b->branch_sample_type &&
           a->sample_regs_user == b->sample_regs_user &&
           a->sample_regs_intr == b->sample_regs_intr && a->sample_id_all == b->sample_id_all;
}
