/* What frames and labels are called, as text.
 *
 * All forms get their names here: a frame has the same name in each of them. */
#ifndef PF_PROFILE_NAME_H
#define PF_PROFILE_NAME_H

#include "base/buffer.h"
#include "base/shorten.h"
#include "perfile/symbol.h"
#include "profile/profile.h"

/* Bytes of the name of a function, which is as long as a symbol may be.  Names of files, threads
 * and events have PF_NAME_MOST: they may be in the output as often as there are addresses in call
 * chains. */
enum {
    PF_FUNCTION_MOST = 4096,
    PF_TEXT_MOST = PF_FUNCTION_MOST + 256 /* of a frame: a function with marks */
};

/* Appends the name of the function of a frame, and sets *known; appends nothing if it is not known.
 * False if there is no memory. */
bool pf_name_function(const pf_profile *p, const pf_call_frame *frame, pf_buffer *out, bool *known);

/* Appends the name of a frame: that of the function, else [module+0x1234] with the base name of the
 * object and the offset in it, else [unknown+0x1234] with the address; with `join` [module] and
 * [unknown].  False if there is no memory. */
bool pf_name_frame(const pf_profile *p, const pf_call_frame *frame, bool join, pf_buffer *out);

/* Appends a text as one field of a line, shortened (pf_shortened()) if it is longer than `most`
 * bytes, which are PF_TEXT_MOST at most: control characters and bytes that are no UTF-8 become `?`,
 * `;` becomes `:`, an empty text `?`.  False if there is no memory. */
bool pf_name_text(const char *text, size_t most, pf_buffer *out);

/* Names of functions for all frames from number `first` on, which the capture of `symbols` has.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_name_functions(pf_profile *p, perfile_symbols *symbols, uint32_t first,
                                 perfile_error *err);

#endif
