/* The header of --header: header.c calls facts.c, and both write to a pf_facts. */
#ifndef PF_SCRIPT_HEADER_H
#define PF_SCRIPT_HEADER_H

#include "script/script.h"

/* Where facts are written to. */
typedef struct pf_facts {
    pf_buffer *out;
    const perfile_session *session;
    const perfile_container *container;
    bool full; /* -I */
    bool ok;   /* false: there was no memory; nothing is appended any more */
} pf_facts;

/* Append printf() text of less than 256 bytes; a text; a name of the capture, up to its NUL. */
#define PF_FACT(f, ...) ((f)->ok = (f)->ok && pf_script_printf((f)->out, __VA_ARGS__))
void pf_facts_text(pf_facts *f, const char *text);
void pf_facts_name(pf_facts *f, perfile_bytes name);

/* facts.c: features of several lines. */

/* True if the feature is printed with -I only. */
bool pf_facts_are_long(uint32_t feature);
/* Prints a feature; false if it is not one of them. */
bool pf_facts_put(pf_facts *f, const perfile_feature *feature);

#endif
