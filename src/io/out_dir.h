/* A directory that appears under its name when it is finished: `data`, and data.N beside it. */
#ifndef PF_IO_OUT_DIR_H
#define PF_IO_OUT_DIR_H

#include "io/out.h"

/* The sink of data.N, made when it is asked for first; it belongs to `s`.  PERFILE_E_USAGE when `s`
 * is no directory, PERFILE_E_LIMIT when N is no number that a recording has. */
perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err);

/* How many data.N there are, those in between counted. */
uint32_t pf_sink_parts(const perfile_sink *s);

static inline bool pf_sink_is_directory(const perfile_sink *s)
{
    return s->dir;
}

/* `data` was written: writes the rest, and gives the directory its name. */
perfile_status pf_out_dir_finish(perfile_sink *s, perfile_error *err);

/* Where it is written, NULL when it has its name or none of its files is there. */
const char *pf_out_dir_path(const perfile_sink *s);

/* Removes what was written. */
void pf_out_dir_remove(perfile_sink *s);

/* Releases; removes what has not appeared. */
void pf_out_dir_close(perfile_sink *s);

#endif
