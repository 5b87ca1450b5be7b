/* The header of perf.data, both versions, file and pipe form. */
#ifndef PF_PERF_HEADER_H
#define PF_PERF_HEADER_H

#include "perfile/container.h"

enum {
    PF_PERF_PIPE_HEADER = 16,
    PF_PERF_OLD_HEADER = 72, /* without the feature bitmap */
    PF_PERF_FILE_HEADER = 104
};

typedef struct pf_perf_header {
    uint32_t form; /* PERFILE_FORM_… */
    uint32_t version;
    bool swap; /* stored in the other byte order */
    uint64_t magic;
    uint64_t size; /* as stored */
    uint32_t used; /* bytes of it that are read: 16, 72 or 104 */
    uint64_t attr_size;
    perfile_section attrs;
    perfile_section data;
    perfile_section event_types;
    uint64_t features[4];
    uint64_t features_moved; /* see perfile_assume.features_shift */
} pf_perf_header;

/* Reads magic and size, at least 16 bytes: 0, or BAD_MAGIC or TRUNCATED_HEADER. */
unsigned pf_perf_header_begin(perfile_bytes bytes, pf_perf_header *h);

/* Reads the rest of a file form header: 0 or TRUNCATED_HEADER.  A size that is none of the known
 * ones is read as 104. */
unsigned pf_perf_header_sections(perfile_bytes bytes, pf_perf_header *h);

/* Whether the feature bitmap of a big-endian file, read as four words of 64 bits, is taken for
 * eight of 32 bits, as a writer with such longs has them; `narrow` gets that reading. */
bool pf_perf_bitmap_narrow(const uint64_t wide[4], uint64_t narrow[4]);

/* Whether the stored size is one that the format has. */
bool pf_perf_header_size_known(const pf_perf_header *h);

#endif
