/* Parts of the tables that only the program itself needs. */
#ifndef PF_SCHEMA_COMMAND_H
#define PF_SCHEMA_COMMAND_H

#include "perfile/field.h"
#include "perfile/record.h"

/* Return true if format/dump.cddl names this record type or feature. */
bool pf_record_type_in_contract(uint32_t type);
bool pf_feature_in_contract(uint32_t number);

/* Returns the vocabulary with this name in format/words.def, or NULL. */
const perfile_vocabulary *pf_vocabulary_find(const char *name);

/* What perfile_row() and perfile_name() ask of the tables. */
const char *pf_feature_name(uint32_t number);
const char *pf_record_type_name(uint32_t type);
const char *pf_type_name(unsigned family, uint32_t type);
const char *pf_kind_name(unsigned kind);
const char *pf_kind_doc(unsigned kind);
unsigned pf_kind_base(unsigned kind);
const perfile_vocabulary *pf_kind_words(unsigned kind);

/* Returns the bytes of a record header of that family (PERFILE_FAMILY_…). 0 for DAMAGE, which has
 * no header. */
size_t pf_family_header(unsigned family);

#endif
