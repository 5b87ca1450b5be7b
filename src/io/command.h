/* Parts of sources and sinks that only the program itself needs. */
#ifndef PF_IO_COMMAND_H
#define PF_IO_COMMAND_H

#include "perfile/sink.h"
#include "perfile/source.h"

/* Appends to the existing file `path`.  Its present bytes are not changed.  The new bytes become
 * permanent at perfile_sink_finish(); without it, closing truncates the file to its old size.
 * Until then other programs cannot append to it with this function.  The file loses the mode bits
 * that the inputs do not grant.
 * PERFILE_E_USAGE: not a regular file.  PERFILE_E_IO with EBUSY: another program is appending. */
PERFILE_MUST_USE perfile_status pf_sink_append(const char *path,
                                               const perfile_sink_options *options,
                                               perfile_sink **sink, perfile_error *err);

/* Checks that an output to `path` ("-" is standard output), or to `fd` if `path` is NULL, would not
 * overwrite one of the inputs; see perfile_sink_options.inputs.  For programs that write without a
 * sink.  PERFILE_E_IO if it would. */
PERFILE_MUST_USE perfile_status pf_output_check(const char *path, int fd, const char *const *inputs,
                                                size_t n_inputs, perfile_error *err);

/* Discards the output: removes the file or directory, even one that a progressive writer has
 * already made visible, and empties memory.  After that the sink can only be closed.  Does nothing
 * after a successful perfile_sink_finish(). */
void pf_sink_abort(perfile_sink *sink);

/* What perfile_summary() asks of sinks. */
void pf_sink_get_summary(const perfile_sink *sink, perfile_sink_summary *out, size_t size);

/* Returns the name or path of the sink, for messages.  Valid until the sink is closed. */
const char *pf_sink_name(const perfile_sink *sink);

/* Returns the path of the temporary file, for a signal handler that removes it, or of the temporary
 * directory, which contains `data`, data.0, data.1 ….  NULL if there is none, and after
 * perfile_sink_finish().  Valid until the sink is closed. */
const char *pf_sink_temporary(const perfile_sink *sink);

/* Opens several files that form one capture, as if they were in one directory.  Their names without
 * folders tell the driver what they are, and must differ.  Each is opened when the driver needs
 * it. */
PERFILE_MUST_USE perfile_status pf_source_files(const char *const *paths, size_t n,
                                                const perfile_source_options *options,
                                                perfile_source **source, perfile_error *err);

/* Returns the name or path of the source, for messages.  Valid until the source is closed. */
const char *pf_source_name(const perfile_source *source);

/* Returns true if the source is a directory.  The driver for its format opens its files. */
bool pf_source_is_directory(const perfile_source *source);

/* Returns true for names of files with records in the directory of a capture: data, data.0 … of
 * perf, PREFIX.ITERATION.TRACE.cpuperf of Fuchsia. */
bool pf_is_record_file(const char *name);

/* Returns true for names, relative to the directory of a capture, of files without records:
 * kallsyms, kcore and modules in kcore_dir, as perf record writes them when asked to copy kcore,
 * and the same in kcore_dir__PID.  They belong to the capture: they are copied if the output is a
 * directory or an archive of one, and kallsyms names functions of the kernel.  All other files are
 * neither read nor copied. */
bool pf_is_companion_file(const char *name);

#endif
