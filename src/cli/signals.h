/* Signals: what happens when the command is interrupted, or when a mapped input is truncated while
 * it is read. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers: SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT and SIGXCPU remove the temporary
 * output and end the process; SIGBUS reports the truncated input; SIGXFSZ is ignored. */
void cli_signals_install(void);

/* To be called for each input: if it is a pipe, the first SIGINT, SIGTERM or SIGHUP only means that
 * what the pipe still has is read, and the command finishes; the second ends it. */
void cli_signals_pipe(const char *path);

/* True if an input of the command is a pipe. */
bool cli_signals_has_pipe(void);

/* Sets the name of the input that is mapped, for the message of SIGBUS; NULL: none. */
void cli_signals_file(const char *name);

/* Sets the path of the unfinished output that the handlers remove; NULL: none.  `path` must stay
 * valid until the next call. */
void cli_signals_temporary(const char *path);

/* perfile_split_capture_options.temporary: the library has made its temporary folder (`path`), or
 * removed it (NULL).  Signals, which the caller holds, are delayed until the folder is registered
 * for removal, and again while the files get their final names: otherwise an interrupt could leave
 * the folder, or some of the parts, behind. */
void cli_signals_on_temporary(void *user, const char *path);

/* Sets the path of a file to which is appended, and the size to which the handlers cut it; NULL:
 * none.  Else as cli_signals_temporary(). */
void cli_signals_appended(const char *path, uint64_t size);

/* With true, delays signals that end the process until the call with false. */
void cli_signals_hold(bool hold);

#endif
