/* The writer of an archive of any number of captures, as its sinks see it.  For sink.c and writer.c
 * only. */
#ifndef PF_ARCHIVE_WRITER_H
#define PF_ARCHIVE_WRITER_H

#include "archive/packer.h"
#include "perfile/archive.h"

struct perfile_archive_writer {
    perfile_sink *below; /* owned */
    pf_pack *pack;
    uint32_t next; /* number of the next capture in the headers of chunks */
    bool busy;     /* the sink of a capture is not finished */
};

/* Begins a capture: *packer packs it. */
perfile_status pf_archive_writer_begin(perfile_archive_writer *w,
                                       const perfile_archive_options *options, pf_packer **packer,
                                       perfile_error *err);

/* Ends it: all that is left of it is written. */
perfile_status pf_archive_writer_end(perfile_archive_writer *w, pf_packer *packer,
                                     perfile_error *err);

#endif
