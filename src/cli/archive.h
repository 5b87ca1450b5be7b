/* An archive that a command looks at as an archive. */
#ifndef CLI_ARCHIVE_H
#define CLI_ARCHIVE_H

#include "perfile/archive.h"

enum { CLI_CAPTURE_NAME = 256 /* bytes of the name of a capture in an archive, with its NUL */ };

/* Opens the archive `path`.  PERFILE_END: it is none.  Without `pipes` also for what can be read
 * once only: standard input, FIFOs, devices. */
perfile_status cli_archive_open(const char *path, const perfile_limits *limits, bool pipes,
                                perfile_archive **archive, perfile_error *err);

/* Sets *ns to when the file `path`, or the file `data` of a directory, was last written, in ns
 * since 1970; false: it is not known. */
bool cli_capture_time(const char *path, uint64_t *ns);

/* Sets the name of the capture `path` in options of an archive that it is packed into, and when it
 * was last written: those of the file or directory, or what the archive says that it is in.  `name`
 * has room for the name. */
void cli_archive_name(const char *path, char name[CLI_CAPTURE_NAME],
                      perfile_archive_options *options);

/* False if `path` can be read once only: standard input, FIFOs, devices; and for directories. */
bool cli_is_regular(const char *path);

/* True if bytes of the archive are known to be damaged, without a look at its payloads. */
bool cli_archive_is_damaged(const perfile_archive_summary *s);

/* Print what the archive is: the value of a line, and an object (format/reports.md), which also has
 * the name of the capture `c`, and how it differs from what was packed; NULL: of none. */
void cli_archive_print(const perfile_archive_summary *s);
void cli_archive_json(const perfile_archive_summary *s, const perfile_archive_capture *c);

/* Print how a capture differs from what was packed: "expanded, scrubbed"; an array `lossy`. */
void cli_archive_print_lossy(const perfile_archive_capture *c);
void cli_archive_json_lossy(const perfile_archive_capture *c);

#endif
