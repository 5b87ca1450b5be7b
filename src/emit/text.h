/* Text for people: what its two files share. */
#ifndef PF_EMIT_TEXT_H
#define PF_EMIT_TEXT_H

#include "emit/text_page.h"

/* 0x and at least 8 digits. */
void pf_text_offset(pf_text_page *t, uint64_t offset);

/* What is wrong, behind a mark that is easy to look for; on a line of its own with its place; on a
 * line of its own below what it concerns. */
void pf_text_damage(pf_text_page *t, uint32_t damage);
void pf_text_damage_at(pf_text_page *t, uint32_t damage, uint64_t offset);
void pf_text_error(pf_text_page *t, uint32_t damage);

/* The fields of a feature; false when they ended in an error. */
bool pf_text_feature(pf_text_page *t, const perfile_feature *f);

/* Everything that comes before the records. */
void pf_text_facts(pf_text_page *t);

#endif
