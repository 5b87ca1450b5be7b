/* Validation of UTF-8. */
#ifndef PF_EMIT_UTF8_H
#define PF_EMIT_UTF8_H

#include "perfile/base.h"

/* True if `text` is valid UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool pf_utf8_valid(perfile_bytes text);

#endif
