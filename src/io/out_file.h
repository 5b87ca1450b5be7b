/* A file that appears under its name when it is finished. */
#ifndef PF_IO_OUT_FILE_H
#define PF_IO_OUT_FILE_H

#include "io/out.h"

/* Opens what `s->name` names: the temporary file, or what is there and no regular file. */
perfile_status pf_out_file_open(perfile_sink *s, perfile_error *err);

/* Everything was written: syncs if wanted, closes, gives the file its name. */
perfile_status pf_out_file_finish(perfile_sink *s, perfile_error *err);

/* Releases; removes the temporary file if there still is one. */
void pf_out_file_close(perfile_sink *s);

#endif
