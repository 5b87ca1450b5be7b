/* Copying the companion files of a capture that is a directory. */
#ifndef PF_LIB_COMPANIONS_H
#define PF_LIB_COMPANIONS_H

#include "perfile/session.h"
#include "perfile/sink.h"

/* Copies the files beside the records (perfile_is_companion_file()) of the capture with this
 * session to `sink`, after its parts with records.  Nothing if either is no directory. */
perfile_status pf_companions_copy(const perfile_session *s, perfile_sink *sink, perfile_error *err);

#endif
