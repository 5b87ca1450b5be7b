/* The layer below the form "text": lines with indentation, and fields with name and value.  In hex
 * mode the bytes of a field precede it.
 *
 * A line is begun with one of the functions below and ended with pf_text_page_end(); `open` is true
 * while a line is open.  Nested structs are indented by depth.  All fields of a list item are on
 * one line (in_line).  All text from input goes through pf_text_page_text() or _quoted(), which
 * escape whatever could control a terminal. */
#ifndef PF_EMIT_TEXT_PAGE_H
#define PF_EMIT_TEXT_PAGE_H

#include "perfile/session.h"
#include "emit/emitter.h"

/* Names of registers, for the text form. */

/* The names of 64 registers, indexed by their bit in the mask.  NULL for bits without a
 * register. */
typedef const char *const *pf_registers;

/* Returns the names for the machine that made the recording, as static data.  NULL if the machine
 * is not known. */
pf_registers pf_registers_of(const perfile_session *s);

/* Returns the names for a machine named as by `uname -m`.  NULL if it is not known. */
pf_registers pf_registers_of_machine(const char *machine);

enum {
    PF_NAME_WIDTH = 20, /* column of values; longer names push the value to the right */
    PF_LINE_WIDTH = 100 /* lists continue on the next line after this column */
};

/* The emitter of the form "text". */
typedef struct pf_text_page {
    perfile_emitter base;
    pf_key keys[256];     /* cache of field names, padded to PF_NAME_WIDTH */
    const char *gutter;   /* begins each line: "| " for records from an envelope; else NULL */
    bool hex;             /* hex mode is on, and the bytes are available */
    bool open;            /* a line is open */
    unsigned depth;       /* number of structs and lists around the next field */
    uint64_t in_line;     /* bit n: the fields at depth n share one line */
    size_t line_start;    /* offset of the open line in base.out */
    const uint8_t *bytes; /* hex mode: offsets of fields count from here */
    uint64_t mask;        /* last register mask; names the registers that follow it */
    uint64_t attr_flags;  /* last flags of an event; they say whether it uses clockid */
} pf_text_page;

/* Appends trusted text, without escapes. */
static inline void pf_text_page_raw(pf_text_page *t, const char *text, size_t n)
{
    pf_emit_bytes(&t->base, text, n);
}
#define PF_TEXT_LITERAL(t, text) pf_text_page_raw(t, text, sizeof text - 1)

void pf_text_page_string(pf_text_page *t, const char *text);
void pf_text_page_spaces(pf_text_page *t, size_t n);

static inline void pf_text_page_dec(pf_text_page *t, uint64_t v)
{
    uint8_t *at = pf_emit_room(&t->base, PF_DEC_MAX);
    if (at)
        pf_emit_filled(&t->base, pf_put_dec(at, v));
}

static inline void pf_text_page_0x(pf_text_page *t, uint64_t v)
{
    uint8_t *at = pf_emit_room(&t->base, PF_HEX_MAX);
    if (at)
        pf_emit_filled(&t->base, pf_put_0x(at, v));
}

/* Writes nanoseconds as seconds, right-aligned to `width` characters. */
void pf_text_page_seconds(pf_text_page *t, uint64_t ns, size_t width);

/* Write text from input, the second in quotes.  Control characters and bytes that are not UTF-8 are
 * escaped. */
void pf_text_page_text(pf_text_page *t, perfile_bytes text);
void pf_text_page_quoted(pf_text_page *t, perfile_bytes text);

/* Removes blanks at the end of the output. */
void pf_text_page_trim(pf_text_page *t);

/* Begins a line with the gutter and `indent` spaces, and ends it. */
void pf_text_page_line(pf_text_page *t, size_t indent);
void pf_text_page_end(pf_text_page *t);

/* Writes lines of 16 bytes each, with their characters.  Repeated lines become one star. */
void pf_text_page_dump(pf_text_page *t, uint64_t offset, perfile_bytes bytes);

/* Begins a field and writes its name.  Starts a new line, or continues the shared line of a list
 * item. */
void pf_text_page_name(pf_text_page *t, const pf_key *key, const perfile_value *v);
/* Begins a line with the name of a struct or list.  Its fields follow below. */
void pf_text_page_heading(pf_text_page *t, const char *name, size_t n);
/* Begins a field that is in no table.  `offset` and `n` are its bytes, for hex mode. */
void pf_text_page_named(pf_text_page *t, const char *name, uint64_t offset, size_t n);
/* Hex mode: writes the bytes of a field after the first 8, in lines of 8.  Repeated lines become
 * one star. */
void pf_text_page_rest(pf_text_page *t, uint64_t offset, perfile_bytes bytes);
/* Ends a field, and also the line unless it is shared. */
void pf_text_page_named_end(pf_text_page *t);

/* Begins another line of the same field, up to the column of values.  `bytes` and `n` are for hex
 * mode. */
void pf_text_page_value_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n);
/* Separates two items of a list: with a blank, or with a new line if the current one is full. */
void pf_text_page_between(pf_text_page *t);

/* Ends the open line and resets the depth, also after a walk that stopped early. */
void pf_text_page_reset(pf_text_page *t);

/* Writes a number as its kind (PERFILE_KIND_…) asks: hexadecimal, as a date, with its name … `type`
 * is how it is stored (PERFILE_STORED_…). */
void pf_text_page_number(pf_text_page *t, unsigned kind, unsigned type, uint64_t v);

/* Writes the cpumode and the other bits of misc as a|b; nothing if misc has no meaning. */
void pf_text_page_misc(pf_text_page *t, uint32_t type, uint16_t misc);

/* Visitor that shows the fields of a walk; `user` is the pf_text_page. */
extern const perfile_visitor pf_text_page_visitor;

#endif
