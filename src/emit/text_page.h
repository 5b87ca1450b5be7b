/* The page that text is written on: lines with indentation, fields by name, and in hex mode their
 * bytes in front. */
#ifndef PF_EMIT_TEXT_PAGE_H
#define PF_EMIT_TEXT_PAGE_H

#include "emit/digits.h"
#include "emit/emitter.h"
#include "emit/plan.h"
#include "emit/registers.h"

enum {
    PF_NAME_WIDTH = 20, /* of a field, more when it is longer */
    PF_LINE_WIDTH = 100 /* where lists go on in the next line */
};

typedef struct pf_text_page {
    perfile_emitter base;
    pf_key keys[256];   /* names of fields, padded */
    const char *gutter; /* in front of every line: marks what came out of an envelope */
    bool hex;
    bool open;            /* the line has something on it */
    unsigned depth;       /* of structs and lists around the next field */
    uint64_t in_line;     /* bit n: the fields at depth n stand on one line */
    size_t line_start;    /* in base.out */
    const uint8_t *bytes; /* hex: what offsets of fields count from */
    uint64_t mask;        /* the last mask of registers that was shown */
    uint64_t attr_flags;  /* the last flags of an event that were shown */
} pf_text_page;

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

/* Text from input, made harmless for terminals: controls and what is no UTF-8 become escapes. */
void pf_text_page_text(pf_text_page *t, perfile_bytes text);
void pf_text_page_quoted(pf_text_page *t, perfile_bytes text);

/* Takes back blanks at the end. */
void pf_text_page_trim(pf_text_page *t);

/* Begins a line with gutter and `indent` spaces; ends it. */
void pf_text_page_line(pf_text_page *t, size_t indent);
void pf_text_page_end(pf_text_page *t);

/* In hex mode: begins a line with `offset` and up to 8 bytes; without (NULL): blanks in their
 * place. */
void pf_text_page_hex_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n);
/* Lines of 16 bytes each, with the characters they stand for; repeated ones are one star. */
void pf_text_page_dump(pf_text_page *t, uint64_t offset, perfile_bytes bytes);

/* Begins the line of a field, or goes on in that of its list item, up to where its value stands. */
void pf_text_page_name(pf_text_page *t, const pf_key *key, const perfile_value *v);
/* A line with a name only, of what stands below it. */
void pf_text_page_heading(pf_text_page *t, const char *name, size_t n);
/* A field that no table has; `offset` and `n` bytes for hex mode. */
void pf_text_page_named(pf_text_page *t, const char *name, uint64_t offset, size_t n);
/* Hex mode: lines of 8 bytes for what did not fit beside a field; repeated ones are one star. */
void pf_text_page_rest(pf_text_page *t, uint64_t offset, perfile_bytes bytes);
/* Behind the value. */
void pf_text_page_named_end(pf_text_page *t);

/* A line below that of a field, up to where values stand; `bytes` and `n` for hex mode. */
void pf_text_page_value_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n);
/* Between the items of a list: a blank, or a new line when the old one is full. */
void pf_text_page_between(pf_text_page *t);

/* Back to the margin, also after a walk that stopped in the middle. */
void pf_text_page_reset(pf_text_page *t);

/* A number in the words of its kind; `bits` is the width in which all ones mean none. */
void pf_text_page_number(pf_text_page *t, unsigned kind, unsigned type, uint64_t v);
/* The parts of a word by name, those that are 0 left out, as a|b=2; nothing when all are. */
bool pf_text_page_parts(pf_text_page *t, const perfile_vocabulary *v, uint64_t word);

/* Processor mode and the other bits of misc; nothing when there is nothing to say. */
void pf_text_page_misc(pf_text_page *t, uint32_t type, uint16_t misc);

/* Shows what a walk meets; `user` is the sheet. */
extern const perfile_visitor pf_text_page_visitor;

#endif
