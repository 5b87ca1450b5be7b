/* Shared by header.c and facts.c, which print the header into a pf_facts. */
#ifndef PF_SCRIPT_HEADER_H
#define PF_SCRIPT_HEADER_H

#include "script/script.h"

/* Where features are printed. */
typedef struct pf_facts {
    pf_buffer *out;
    const perfile_session *session;
    const perfile_container *container;
    bool full; /* PERFILE_SCRIPT_SHOW_INFO: long features are printed */
    bool ok;   /* false when out of memory: nothing more is appended */
} pf_facts;

/* Append printf() text of less than 256 bytes; a text; a name of the capture, up to its NUL. */
#define PF_FACT(f, ...) ((f)->ok = (f)->ok && pf_script_printf((f)->out, __VA_ARGS__))
void pf_facts_text(pf_facts *f, const char *text);
void pf_facts_name(pf_facts *f, perfile_bytes name);

/* facts.c: features of several lines. */

/* Returns true if the feature is only printed with PERFILE_SCRIPT_SHOW_INFO. */
bool pf_facts_are_long(uint32_t feature);
/* Prints a feature.  Returns false if it is not in facts.c. */
bool pf_facts_put(pf_facts *f, const perfile_feature *feature);

#endif
