#ifndef PF_EMIT_UTF8_H
#define PF_EMIT_UTF8_H

#include "perfile/base.h"

/* Whether `text` is UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool pf_utf8_valid(perfile_bytes text);

#endif
