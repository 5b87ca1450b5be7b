/* What the command asks of emitters: columns as text, their names, the outcome. */
#ifndef PF_EMIT_COMMAND_H
#define PF_EMIT_COMMAND_H

#include "perfile/emit.h"

/* Outcome of an emitter, usable as the exit status of a command. */
enum {
    PF_EMIT_COMPLETE = 0,
    PF_EMIT_NOTHING = 1, /* the input is damaged and nothing could be decoded */
    PF_EMIT_DAMAGED = 3  /* the input is damaged; all that could be decoded was emitted */
};

/* Checks that `fields` are valid columns of "tsv".  Valid are the names that conditions use
 * (perfile/expr.h), such as `time`, `event`, `data_src.op` or `mmap2.filename`, and `comm`, `dso`,
 * `sym`, `symoff`, `srcline`, `caller`, `stack`, `addr_sym` and `addr_dso`; but no groups of
 * fields, which have no value.  `addr/64` is a number rounded down to a multiple of 64.  *model is
 * set to true if the columns need a model.
 *
 * Any other name may be a field of a tracepoint.  The emitter looks for it when it gets the first
 * sample, and fails with PERFILE_E_USAGE if no tracepoint of the capture has it.
 *
 * PERFILE_E_USAGE: err->message names the first field that cannot be a column, and similar names.
 * PERFILE_E_NOMEM. */
PERFILE_MUST_USE perfile_status pf_emit_fields_check(const char *fields, bool *model,
                                                     perfile_error *err);

/* Column values as text: the columns of "tsv" one by one, for programs that count or compare them.
 */
typedef struct pf_columns pf_columns;

/* Opens the columns that `fields` names, as in perfile_emit_options.fields.  Borrows `model` and
 * `symbols`, which looks up functions; both may be NULL.  All records must be of one session, which
 * must live as long as columns are read.  Errors are those of pf_emit_fields_check(). */
PERFILE_MUST_USE perfile_status pf_columns_open(const perfile_model *model,
                                                const perfile_symbols_options *symbols,
                                                const char *fields, pf_columns **out,
                                                perfile_error *err);

/* Gets the value of the column at `position` for a record, as "tsv" writes it, but with texts as
 * they are stored.  *text is valid until the next call.  PERFILE_END: the record does not have the
 * field; *text is unchanged.  PERFILE_E_USAGE: `r` is the first sample, and no tracepoint of the
 * capture has a field of that name.  PERFILE_E_NOMEM. */
PERFILE_MUST_USE perfile_status pf_columns_text(pf_columns *c, const perfile_record *r,
                                                uint32_t position, perfile_bytes *text,
                                                perfile_error *err);

/* NULL is fine. */
void pf_columns_close(pf_columns *c);

/* Return PF_EMIT_COMPLETE, NOTHING or DAMAGED for the output so far, and the number of errors
 * that the output reports. */
int pf_emitter_outcome(const perfile_emitter *e);
uint64_t pf_emitter_errors(const perfile_emitter *e);

/* perfile_emitter_get_summary(). */
void pf_emitter_get_summary(const perfile_emitter *e, perfile_export_summary *out, size_t size);

#endif
