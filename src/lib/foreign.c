/* The magic numbers of lib/foreign.h, each with its sentence for the error message. */
#include "lib/foreign.h"

#include <string.h>

/* Strings are cut in two where a hexadecimal escape would swallow the letter behind it. */
static const struct {
    const char *magic;
    size_t n; /* length of `magic`, which may hold zeros */
    const char *what;
} kinds[] = {
    {"\x1f\x8b", 2, "it is compressed by gzip; unpack it first (gzip -dc)"},
    {"\x28\xb5\x2f\xfd", 4, "it is compressed by zstd; unpack it first (zstd -dc)"},
    {"\xfd"
     "7zXZ",
     5, "it is compressed by xz; unpack it first (xz -dc)"},
    {"BZh", 3, "it is compressed by bzip2; unpack it first (bzip2 -dc)"},
    {"\x04\x22\x4d\x18", 4, "it is compressed by lz4; unpack it first (lz4 -dc)"},
    {"PK\x03\x04", 4, "it is a zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "it is a program or library (ELF), not a recording of it"},
};

/* True if `head` has printable ASCII and white space only, and at least 8 bytes: fewer prove
 * nothing. */
static bool is_text(perfile_bytes head)
{
    for (size_t i = 0; i < head.len; i++) {
        uint8_t c = head.ptr[i];
        if (c >= 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            return false;
    }
    return head.len >= 8;
}

const char *pf_foreign(perfile_bytes head)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (head.len >= kinds[i].n && memcmp(head.ptr, kinds[i].magic, kinds[i].n) == 0)
            return kinds[i].what;
    if (is_text(head))
        return "it is text, perhaps of `perf script`; give the perf.data file that it was made of";
    return NULL;
}

const char *pf_foreign_source(perfile_source *source)
{
    enum { HEAD_BYTES = 64 };
    perfile_bytes head;
    if (pf_source_has_entries(source) ||
        pf_source_run(source, 0, HEAD_BYTES, &head, NULL) != PERFILE_OK)
        return NULL;
    return pf_foreign(head);
}
