/* The family of perfmon records: what its table makes, and how headers are read. */
#include "perfmon/perfmon.h"

#include "schema/expand.h"

#define PF_ID    perfmon
#define PF_TABLE "perfile/format/perfmon.def"
#include "schema/family.inc"

const uint8_t pf_perfmon_sizes[PF_PERFMON_TYPES] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    [number] = PF_PERFMON_RECORD_HEADER + (fixed),
#include "perfile/format/perfmon.def"
};

_Static_assert((unsigned)PF_PERFMON_BRANCH == (unsigned)PF_WIDTH_perfmon_branch,
               "the size of a branch");
_Static_assert((unsigned)PF_PERFMON_HEADER == (unsigned)PF_WIDTH_perfmon_header,
               "the size of a header");

/* The record is whole: it was framed before. */
static pf_frame frame_at(const uint8_t *header, bool swap)
{
    pf_frame f = {0};
    (void)swap;
    (void)pf_perfmon_frame(header, PF_PERFMON_MOST, &f);
    return f;
}

static void byteswap_header(uint8_t *out, const uint8_t *header)
{
    out[0] = header[0];
    out[1] = header[1];
    pf_store_u16(out + PF_PERFMON_EVENT_AT, pf_load_u16(header + PF_PERFMON_EVENT_AT, true), false);
}

const pf_family pf_family_perfmon = {
    .name = "perfmon",
    .prefix = "PERFMON_RECORD_",
    .header = PF_PERFMON_RECORD_HEADER,
    .ticks = true,
    .tag_at = PF_PERFMON_TAG_AT,
    .walk_tag = pf_walk_perfmon_tag,
    .walk_file_header = pf_walk_perfmon_header,
    .frame_at = frame_at,
    .byteswap_header = byteswap_header,
    PF_FAMILY_OF_TABLE,
};
