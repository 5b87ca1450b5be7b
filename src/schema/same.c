/* Comparison of decoded structs: format/ expanded to functions that return the first member in
 * which two structs differ (schema/same.inc).  Encoders use them to prove that what they wrote
 * reads back as it was given. */
#include "schema/expand.h"

bool pf_bytes_differ(perfile_bytes a, perfile_bytes b)
{
    return a.len != b.len || (a.len && memcmp(a.ptr, b.ptr, a.len) != 0);
}

/* Integers are compared by value: width and byte order may differ. */
bool pf_words_differ(perfile_words a, perfile_words b)
{
    if (a.n != b.n)
        return true;
    if (a.n && a.width == b.width && a.swapped == b.swapped)
        return memcmp(a.ptr, b.ptr, a.n * a.width) != 0;
    for (size_t i = 0; i < a.n; i++)
        if (perfile_word(&a, i) != perfile_word(&b, i))
            return true;
    return false;
}

/* Strings are compared as text, without their padding. */
bool pf_strings_differ(perfile_strings a, perfile_strings b)
{
    perfile_bytes one, other;
    if (a.n != b.n)
        return true;
    while (perfile_strings_next(&a, &one) == PERFILE_OK &&
           perfile_strings_next(&b, &other) == PERFILE_OK)
        if (pf_bytes_differ(one, other))
            return true;
    return a.n || b.n;
}

#include "schema/same.inc"
#include "perfile/format/structs.def"
#include "schema/same.inc"
#include "perfile/format/sample.def"
#include "schema/same.inc"
#include "perfile/format/records.def"
#include "schema/same.inc"
#include "perfile/format/simpleperf.def"
#include "schema/same.inc"
#include "perfile/format/features.def"
