/* Where the body of a kernel record ends and its trailer (sample_id) begins.
 *
 * The trailer has a fixed size for each event and stands at the end of the record.  Tools, though,
 * leave it out in records that they synthesize; then the last bytes of the record are taken for
 * body.  The only evidence is the string at the end of such records: see string_fills(). */
#include "schema/trailer.h"

#include <string.h>

#include "base/byte_order.h"
#include "perfile/record.h"
#include "schema/family.h"

/* Kernel rows only: the fixed parts of tools' records do not matter here, nor fit. */
#define FIXED_K(number, fixed) [number] = (fixed) + 1,
#define FIXED_P(number, fixed)
const uint8_t pf_record_fixed_plus_one[PERFILE_RECORD_USER] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    FIXED_##source(number, fixed)
#include "format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    FIXED_##source(number, fixed)
#include "format/records.def"
};

/* The offset in the body at which the string at the end of the record begins; 0 if it has none. */
static size_t string_offset(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (!row || !(row->has & PF_HAS_STRING))
        return 0;
    /* The first kernels with MMAP2 had no prot and flags; see format/records.def. */
    const size_t prot_and_flags = 8, old = row->fixed - prot_and_flags;
    if (r->type == PERFILE_RECORD_MMAP2 && !(r->misc & PERFILE_MISC_MMAP_BUILD_ID) &&
        pf_load_u32(r->body.ptr + old, r->flags & PERFILE_REC_SWAPPED) >> 26)
        return old;
    return row->fixed;
}

/* True if the padded string ends exactly at the end of the record: then the record has no trailer.
 * With a trailer this cannot be, because the NUL of the string stands in front of the trailer. */
static bool string_fills(const perfile_record *r)
{
    size_t at = string_offset(r);
    if (at == 0)
        return false;
    size_t left = r->body.len - at;
    const uint8_t *nul = memchr(r->body.ptr + at, 0, left);
    if (!nul)
        return false;
    size_t bytes = (size_t)(nul - (r->body.ptr + at)) + 1;
    return (bytes + 7) / 8 * 8 == left;
}

bool pf_record_split_trailer(const perfile_record *r, const perfile_layout *l, bool as_stored,
                             perfile_bytes *body, perfile_bytes *trailer)
{
    if (r->family != PERFILE_FAMILY_PERF || !pf_record_of_kernel(r->type))
        return false;
    size_t fixed = pf_record_known(r->type) ? pf_record_fixed_plus_one[r->type] - 1U : 0;
    if (r->body.len < fixed + l->trailer_size)
        return false;
    if (!as_stored && string_fills(r))
        return false;

    body->len -= l->trailer_size;
    *trailer = (perfile_bytes){r->body.ptr + body->len, l->trailer_size};
    return true;
}
