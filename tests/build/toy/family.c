/* The family: what its table makes, and how its headers are read. */
#include "toy/toy.h"

#include "schema/expand.h"

#define PF_ID    toy
#define PF_TABLE "toy/records.def"
#include "schema/family.inc"

static pf_frame frame_at(const uint8_t *header, bool swap)
{
    return (pf_frame){.type = PF_TYPE_IN(toy, pf_load_u16(header, swap)),
                      .size = pf_load_u16(header + TOY_SIZE_AT, swap)};
}

static void byteswap_header(uint8_t *out, const uint8_t *header)
{
    pf_store_u16(out, pf_load_u16(header, true), false);
    pf_store_u16(out + TOY_SIZE_AT, pf_load_u16(header + TOY_SIZE_AT, true), false);
}

const pf_family pf_family_toy = {
    .name = "toy",
    .header = TOY_RECORD_HEADER,
    .frame_at = frame_at,
    .byteswap_header = byteswap_header,
    PF_FAMILY_OF_TABLE,
};
