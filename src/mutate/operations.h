/* What a mutation may do.  Each operation changes the bytes of a buffer that holds the capture `o`,
 * which is of no use afterwards.  It returns false, and has changed nothing, if the capture has
 * nothing of the kind or there is no room. */
#ifndef PF_MUTATE_OPERATIONS_H
#define PF_MUTATE_OPERATIONS_H

#include "mutate/outer.h"
#include "mutate/random.h"

typedef bool pf_operation(pf_buffer *b, const pf_outer *o, pf_random *r);

/* fields.c: set a field of a record, attr or feature, or a word of the header, to a value that is
 * interesting for its kind; change a bit that decides the layout of records. */
pf_operation pf_mutate_record_field;
pf_operation pf_mutate_attr_field;
pf_operation pf_mutate_feature_field;
pf_operation pf_mutate_header_word;
pf_operation pf_mutate_layout;

/* records.c: whole records. */
pf_operation pf_mutate_insert_record;
pf_operation pf_mutate_duplicate_record;
pf_operation pf_mutate_remove_record;
pf_operation pf_mutate_swap_records;
pf_operation pf_mutate_resize_record;
pf_operation pf_mutate_record_type;

/* features.c: the feature table, the byte order. */
pf_operation pf_mutate_add_feature;
pf_operation pf_mutate_drop_feature;
pf_operation pf_mutate_byte_order;

/* bytes.c: any bytes. */
pf_operation pf_mutate_bytes;

/* Sets the size of the record `p` in its header.  Returns false if the header has no room for it.
 */
bool pf_mutate_set_size(uint8_t *bytes, const pf_outer *o, const pf_piece *p, size_t size);

/* Sets `width` bytes at `at`, an integer of this kind (PERFILE_KIND_…), to a value that is
 * interesting for it.  `other` is a value of the same kind at another place, NULL if there is
 * none. */
void pf_mutate_number(pf_buffer *b, const pf_outer *o, pf_random *r, pf_range place, unsigned kind,
                      const uint64_t *other);
/* Changes text, or bytes without a meaning. */
void pf_mutate_text(pf_buffer *b, pf_random *r, pf_range place);
void pf_mutate_blob(pf_buffer *b, pf_random *r, pf_range place);

#endif
