/* cbor.h in a build without libcbor (CMake option PERFILE_CBOR): nothing is read and nothing fits.
 * Callers ask pf_cbor_needed() before they begin, and fail with its message. */
#ifdef PERFILE_WITHOUT_CBOR

#include "base/cbor.h"
#include "base/error.h"

perfile_status pf_cbor_needed(const char *what, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "cbor",
                   "%s need libcbor, and this library was built without it", what);
}

pf_cbor pf_cbor_begin(perfile_bytes bytes)
{
    return (pf_cbor){.pos = bytes.ptr, .end = bytes.ptr, .why = "built without libcbor"};
}

pf_cbor pf_cbor_begin_any(perfile_bytes bytes)
{
    return pf_cbor_begin(bytes);
}

pf_cbor_item pf_cbor_next(pf_cbor *c)
{
    (void)c;
    return (pf_cbor_item){PF_CBOR_BAD, 0, {NULL, 0}};
}

bool pf_cbor_more(pf_cbor *c, unsigned depth)
{
    (void)c, (void)depth;
    return false;
}

void pf_cbor_skip(pf_cbor *c)
{
    (void)c;
}

uint64_t pf_cbor_uint(pf_cbor *c)
{
    return pf_cbor_next(c).number;
}

uint32_t pf_cbor_u32(pf_cbor *c)
{
    return (uint32_t)pf_cbor_uint(c);
}

uint64_t pf_cbor_array(pf_cbor *c)
{
    return pf_cbor_next(c).number;
}

uint64_t pf_cbor_map(pf_cbor *c)
{
    return pf_cbor_next(c).number;
}

perfile_bytes pf_cbor_bytes(pf_cbor *c)
{
    return pf_cbor_next(c).bytes;
}

perfile_bytes pf_cbor_text(pf_cbor *c)
{
    return pf_cbor_next(c).bytes;
}

void pf_cbor_fail(pf_cbor *c, const char *why)
{
    (void)c, (void)why;
}

perfile_status pf_cbor_finish(pf_cbor *c, const char *where, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, where, "%s", c->why);
}

bool pf_cbor_put_uint(pf_buffer *b, uint64_t v)
{
    (void)b, (void)v;
    return false;
}

bool pf_cbor_put_array(pf_buffer *b, size_t items)
{
    (void)b, (void)items;
    return false;
}

bool pf_cbor_put_map(pf_buffer *b, size_t pairs)
{
    (void)b, (void)pairs;
    return false;
}

bool pf_cbor_put_bytes(pf_buffer *b, perfile_bytes bytes)
{
    (void)b, (void)bytes;
    return false;
}

bool pf_cbor_put_text(pf_buffer *b, const char *text)
{
    (void)b, (void)text;
    return false;
}

#else
typedef int pf_cbor_is_there; /* C needs a declaration */
#endif
