/* The layer below the form "text": lines with indentation, fields by name and value, and in hex
 * mode their bytes in front.
 *
 * A line is begun with one of the functions below and ended with pf_text_page_end(); `open` says
 * whether one has been begun.  Nested structs are indented by depth.  Items of lists put all their
 * fields on one line (in_line).  All text from input goes through pf_text_page_text() or _quoted(),
 * which escape what could drive a terminal. */
#ifndef PF_EMIT_TEXT_PAGE_H
#define PF_EMIT_TEXT_PAGE_H

#include "perfile/session.h"
#include "emit/emitter.h"

/* Names of registers, for the text form. */

/* 64 names of registers by their bit in the mask, NULL for bits without a register. */
typedef const char *const *pf_registers;

/* The names for the machine that was recorded; NULL when it is not known.  Static. */
pf_registers pf_registers_of(const perfile_session *s);

/* The same for the machine that `uname -m` says; NULL: it is not known. */
pf_registers pf_registers_of_machine(const char *machine);

enum {
    PF_NAME_WIDTH = 20, /* column of values; longer names shift it */
    PF_LINE_WIDTH = 100 /* lists continue on the next line behind this column */
};

/* The emitter of the form "text". */
typedef struct pf_text_page {
    perfile_emitter base;
    pf_key keys[256];     /* cache of field names, padded to PF_NAME_WIDTH */
    const char *gutter;   /* in front of each line: "| " for records out of an envelope; or NULL */
    bool hex;             /* hex mode, and the bytes are available */
    bool open;            /* a line has been begun */
    unsigned depth;       /* number of structs and lists around the next field */
    uint64_t in_line;     /* bit n: the fields at depth n share one line */
    size_t line_start;    /* of the open line, in base.out */
    const uint8_t *bytes; /* hex: the bytes that offsets of fields count from */
    uint64_t mask;        /* the register mask that was shown last: names the registers behind it */
    uint64_t attr_flags;  /* the flags of an event that were shown last: do they have a clock? */
} pf_text_page;

/* Appends text of our own, without escapes. */
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

/* Nanoseconds as seconds, right-aligned to `width` characters. */
void pf_text_page_seconds(pf_text_page *t, uint64_t ns, size_t width);

/* Text from input: control characters and bytes that are no UTF-8 become escapes; _quoted in
 * quotes. */
void pf_text_page_text(pf_text_page *t, perfile_bytes text);
void pf_text_page_quoted(pf_text_page *t, perfile_bytes text);

/* Removes blanks at the end of the output. */
void pf_text_page_trim(pf_text_page *t);

/* Begins a line with gutter and `indent` spaces; ends it. */
void pf_text_page_line(pf_text_page *t, size_t indent);
void pf_text_page_end(pf_text_page *t);

/* Lines of 16 bytes each, with their characters; repeated lines become one star. */
void pf_text_page_dump(pf_text_page *t, uint64_t offset, perfile_bytes bytes);

/* Begins a field, on a new line or on the shared line of a list item, up to where the value begins.
 */
void pf_text_page_name(pf_text_page *t, const pf_key *key, const perfile_value *v);
/* A line with the name of a struct or list, whose fields follow below. */
void pf_text_page_heading(pf_text_page *t, const char *name, size_t n);
/* A field that no table has.  `offset` and `n`: its bytes for hex mode. */
void pf_text_page_named(pf_text_page *t, const char *name, uint64_t offset, size_t n);
/* Hex mode: the bytes of a field from the ninth on, in lines of 8; repeated lines become one star.
 */
void pf_text_page_rest(pf_text_page *t, uint64_t offset, perfile_bytes bytes);
/* Ends a field, and the line unless it is shared. */
void pf_text_page_named_end(pf_text_page *t);

/* Begins a further line of the field, up to the column of values.  `bytes` and `n` for hex mode. */
void pf_text_page_value_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n);
/* Between two items of a list: a blank, or a new line if the old one is full. */
void pf_text_page_between(pf_text_page *t);

/* Ends the open line and leaves all structs, also after a walk that stopped in the middle. */
void pf_text_page_reset(pf_text_page *t);

/* A number as its kind (PERFILE_KIND_…) is shown: hexadecimal, as a date, with its name … `type`:
 * how it is stored (PERFILE_STORED_…). */
void pf_text_page_number(pf_text_page *t, unsigned kind, unsigned type, uint64_t v);

/* The cpumode and the other bits of misc, as a|b; nothing if misc has no meaning. */
void pf_text_page_misc(pf_text_page *t, uint32_t type, uint16_t misc);

/* Shows the fields of a walk; `user` is the pf_text_page. */
extern const perfile_visitor pf_text_page_visitor;

#endif
