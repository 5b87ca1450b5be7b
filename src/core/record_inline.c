/* The inline functions of perfile/record.h as functions of the library, for programs that cannot
 * take them from the header: bindings of other languages. */
#include "perfile/record.h"

extern inline size_t perfile_record_size(const perfile_record *r);
extern inline uint32_t perfile_record_stored_type(const perfile_record *r);
