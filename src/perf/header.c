/* Reading the header of perf.data.
 *
 * Two things are not stated in the header and are inferred: the byte order of version 1, whose
 * magic is text and the same in both orders, and the width of the words of the feature bitmap,
 * which perf writes as an array of `unsigned long`. */
#include "perf/header.h"

#include "base/cursor.h"
#include "schema/rows.h"

enum { FEATURE_HOSTNAME = 3 };

static const uint8_t magic_1[8] = {'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'};
static const uint8_t magic_2[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
static const uint8_t magic_2_big[8] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'};

static bool known(uint64_t size)
{
    return size == PF_PERF_PIPE_HEADER || size == PF_PERF_OLD_HEADER || size == PF_PERF_FILE_HEADER;
}

bool pf_perf_header_size_known(const pf_perf_header *h)
{
    return known(h->size);
}

/* Version 1: the byte order is the one in which the header size is a known size.  If both or none
 * are, the one in which the number is smaller. */
static bool version_1_swapped(const uint8_t *size)
{
    uint64_t native = pf_load_u64(size, false);
    uint64_t swapped = pf_load_u64(size, true);
    if (known(native) != known(swapped))
        return known(swapped);
    return swapped < native;
}

unsigned pf_perf_header_begin(perfile_bytes bytes, pf_perf_header *h)
{
    memset(h, 0, sizeof *h);
    if (bytes.len < sizeof magic_1)
        return PERFILE_DAMAGE_BAD_MAGIC;
    bool is_1 = memcmp(bytes.ptr, magic_1, sizeof magic_1) == 0;
    bool is_big = memcmp(bytes.ptr, magic_2_big, sizeof magic_2_big) == 0;
    if (!is_1 && !is_big && memcmp(bytes.ptr, magic_2, sizeof magic_2) != 0)
        return PERFILE_DAMAGE_BAD_MAGIC;
    if (bytes.len < PF_PERF_PIPE_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;

    h->version = is_1 ? 1 : 2;
    h->swap = is_1 ? version_1_swapped(bytes.ptr + 8) : is_big != (bool)PF_NATIVE_BIG;
    h->magic = pf_load_u64(bytes.ptr, PF_NATIVE_BIG);
    h->size = pf_load_u64(bytes.ptr + 8, h->swap);
    h->form = h->size == PF_PERF_PIPE_HEADER ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    h->used = h->size == PF_PERF_PIPE_HEADER  ? PF_PERF_PIPE_HEADER
              : h->size == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER
                                              : PF_PERF_FILE_HEADER;
    return 0;
}

static bool has_hostname(const uint64_t features[4])
{
    return features[0] >> FEATURE_HOSTNAME & 1;
}

static unsigned n_unknown(const uint64_t features[4])
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++)
        n += (features[i / 64] >> i % 64 & 1) && !pf_feature_row(i);
    return n;
}

/* In little-endian files the bits of the bitmap lie the same for both widths of `unsigned long`; in
 * big-endian files the halves of each 64-bit word are exchanged.  HOSTNAME, which perf always
 * writes, distinguishes them; without it, the reading with fewer unknown features. */
bool pf_perf_bitmap_narrow(const uint64_t wide[4], uint64_t narrow[4])
{
    for (unsigned i = 0; i < 4; i++)
        narrow[i] = wide[i] << 32 | wide[i] >> 32;
    if (has_hostname(wide))
        return false;
    return has_hostname(narrow) || n_unknown(narrow) < n_unknown(wide);
}

static perfile_section section(pf_cursor *c)
{
    perfile_section s;
    s.offset = pf_cur_u64(c);
    s.size = pf_cur_u64(c);
    return s;
}

unsigned pf_perf_header_sections(perfile_bytes bytes, pf_perf_header *h)
{
    if (bytes.len < h->used)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    pf_cursor c = pf_cur(bytes, h->swap);
    pf_cur_span(&c, PF_PERF_PIPE_HEADER);
    h->attr_size = pf_cur_u64(&c);
    h->attrs = section(&c);
    h->data = section(&c);
    h->event_types = section(&c);
    if (h->used == PF_PERF_FILE_HEADER) {
        uint64_t narrow[4];
        bool big = h->swap != (bool)PF_NATIVE_BIG;
        for (unsigned i = 0; i < 4; i++)
            h->features[i] = pf_cur_u64(&c);
        if (big && pf_perf_bitmap_narrow(h->features, narrow))
            memcpy(h->features, narrow, sizeof narrow);
    }
    return 0;
}
