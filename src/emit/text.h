/* Text for people: what text.c (records) and text_facts.c (header, events, features) call of each
 * other. text_page.h is the layer below. */
#ifndef PF_EMIT_TEXT_H
#define PF_EMIT_TEXT_H

#include "emit/text_page.h"

/* An offset as 0x and at least 8 digits. */
void pf_text_offset(pf_text_page *t, uint64_t offset);

/* Damage, behind the mark "!!" that one can search for: appended to the open line; as a line of its
 * own with its offset, counted as an error; as a line of its own below the record or feature it
 * concerns. */
void pf_text_damage(pf_text_page *t, uint32_t damage);
void pf_text_damage_at(pf_text_page *t, uint32_t damage, uint64_t offset);
void pf_text_error(pf_text_page *t, uint32_t damage);

/* The fields of a feature.  False if they could not be decoded to the end: damage follows them. */
bool pf_text_feature(pf_text_page *t, const perfile_feature *f);

/* Everything that precedes the records: header, events, event types, features of the container. */
void pf_text_facts(pf_text_page *t);

#endif
