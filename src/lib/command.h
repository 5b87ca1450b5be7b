/* What the command asks of conversions and splits. */
#ifndef PF_LIB_COMMAND_H
#define PF_LIB_COMMAND_H

#include "perfile/copy.h"
#include "perfile/emit.h"
#include "perfile/split.h"

/* Opens the stream to split, with the `user` of pf_split_stream().  It must yield the same
 * records each time: use the same stages with the same options on the same captures. */
typedef perfile_status (*pf_stream_opener)(void *user, perfile_stream **stream, perfile_error *err);

/* Returns true if notes of this kind mean that something of the input is not in the output. */
bool pf_note_is_loss(uint32_t kind);

/* Emits the report on an input that perfile_open() refused.  `damage` and `offset` are those of its
 * perfile_error. */
PERFILE_MUST_USE perfile_status pf_emit_failure(const char *format, perfile_sink *sink,
                                                uint32_t damage, uint64_t offset,
                                                perfile_error *err);

/* The same for a stream, for instance of stages on one or several captures: `open` is called for
 * each pass.  `open` decides how the stream is read: writing->from is ignored, and
 * writing->on_damage matters only if it is FAIL. */
PERFILE_MUST_USE perfile_status pf_split_stream(pf_stream_opener open, void *user,
                                                const perfile_split_options *options,
                                                const perfile_split_capture_options *writing,
                                                perfile_split_summary *sum, size_t size,
                                                perfile_error *err);

/* perfile_note_name(), perfile_output_at(). */
const char *pf_note_name(uint32_t kind);
const perfile_output *pf_output_at(size_t position);

/* Gets the format of perfile_format_at(). */
bool pf_format_at(bool viewers, size_t position, perfile_format *out, size_t size);

#endif
