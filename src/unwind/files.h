/* The call frame information of mapped files, found as their symbols are. */
#ifndef PF_UNWIND_FILES_H
#define PF_UNWIND_FILES_H

#include "symbol/files.h"
#include "unwind/unwind.h"

/* What is known of a mapped file. */
typedef struct pf_unwind_file {
    bool is_open;  /* false: the file is not at hand, or of another machine */
    pf_cfi cfi[2]; /* .eh_frame; .debug_frame */
    struct {
        uint64_t start, end;
    } plt[4];       /* the sections of the PLT, whose entries leave the stack as they find it */
    pf_index rules; /* address to the number of its rule */
} pf_unwind_file;

/* Loads what the files of an object say.  PERFILE_E_NOMEM; damage and lack of room leave it without
 * information. */
perfile_status pf_unwind_file_open(pf_unwind_file *f, perfile_symbols *s, const pf_symbol_object *o,
                                   uint16_t machine, uint64_t seed);
void pf_unwind_file_close(pf_unwind_file *f);

#endif
