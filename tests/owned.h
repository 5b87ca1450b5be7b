/* Who owns a source after a call that may have failed. */
#ifndef TESTS_OWNED_H
#define TESTS_OWNED_H

#include "perfile/source.h"

/* Closes `source` if `st` is an error: functions that take a source over, or close it, do so only
 * on success.  Returns `st`, the status of such a function. */
static inline perfile_status closed_unless_ok(perfile_source *source, perfile_status st)
{
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

#endif
