/* Writes structs that were meant as `perfile dump --format jsonl` shows them (format/dump.cddl).
 * Shares no code with the emitter, so that one can be tested against the other. */
#ifndef PF_GENERATE_SHOW_H
#define PF_GENERATE_SHOW_H

#include "base/buffer.h"
#include "generate/members.h"

/* Text that grows. */
typedef struct pf_shown {
    pf_buffer text;
    bool unwanted; /* nothing is written: nobody asked for the text */
    bool failed;   /* there was no memory; what follows is not written */
} pf_shown;

void pf_show_open(pf_shown *out, char bracket); /* { or [ */
void pf_show_shut(pf_shown *out, char bracket); /* } or ] */
void pf_show_key(pf_shown *out, const char *key);
void pf_show_plain(pf_shown *out, const char *word);  /* a string without escapes */
void pf_show_count(pf_shown *out, uint64_t n);        /* a JSON number */
void pf_show_decimal(pf_shown *out, uint64_t n);      /* a string of digits */
void pf_show_hex(pf_shown *out, perfile_bytes bytes); /* a string of pairs of hex digits */
void pf_show_crc(pf_shown *out, perfile_bytes bytes); /* their CRC-32 in hex */
void pf_show_text(pf_shown *out, perfile_bytes text);
void pf_show_null(pf_shown *out);
/* Writes members, or whole lines, that were written to `more`. */
void pf_show_more(pf_shown *out, const pf_shown *more);
void pf_show_lines(pf_shown *out, const pf_shown *more);
void pf_show_line_end(pf_shown *out);

/* Writes the members of a struct as members of the open object.  `rest`: the bytes after the fixed
 * part of a record; a dump shows the last members of some records as bytes. */
void pf_show_struct(pf_shown *out, const pf_row_shape *shape, unsigned of, const void *given,
                    perfile_bytes rest);

#endif
