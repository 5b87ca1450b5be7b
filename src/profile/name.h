/* What frames and labels are called, as text.
 *
 * All forms get their names here: a frame has the same name in each of them. */
#ifndef PF_PROFILE_NAME_H
#define PF_PROFILE_NAME_H

#include "base/buffer.h"
#include "profile/profile.h"

/* Names of functions, for a program that knows symbols.  All zeros: none are known. */
typedef struct pf_namer {
    /* The name of the function at an address of a mapping (pf_object.first of the frame's object),
     * or NULL.  Valid until the next call. */
    const char *(*function)(void *user, const perfile_mapping *mapping, uint64_t addr);
    void *user;
} pf_namer;

/* Bytes of a name; longer ones are cut, because a name of a capture may stand in the output as
 * often as there are addresses in call chains. */
enum {
    PF_NAME_MOST = 256,      /* of files, threads and events */
    PF_FUNCTION_MOST = 4096, /* of functions, which do not come from captures */
};

/* Appends the name of the function of a frame, and sets *known; appends nothing if it is not known.
 * False if there is no memory. */
bool pf_name_function(const pf_profile *p, const pf_namer *namer, const pf_call_frame *frame,
                      pf_buffer *out, bool *known);

/* Appends the name of a frame: that of the function, else [module+0x1234] with the base name of the
 * object and the offset in it, else [unknown+0x1234] with the address.  False if there is no
 * memory. */
bool pf_name_frame(const pf_profile *p, const pf_namer *namer, const pf_call_frame *frame,
                   pf_buffer *out);

/* Appends a text as one field of a line, its first `most` bytes if it is longer: control characters
 * and bytes that are no UTF-8 become `?`, `;` becomes `:`, an empty text `?`. */
bool pf_name_text(const char *text, size_t most, pf_buffer *out);

#endif
