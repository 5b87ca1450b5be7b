/* What a record is to those who make captures smaller or put parts of them together. */
#ifndef PF_STAGE_KEEPING_H
#define PF_STAGE_KEEPING_H

#include <stdint.h>

enum { /* classes of format/keeping.def */
       PF_KEEP_DATA = 0,
       PF_KEEP_TASK,
       PF_KEEP_KERNEL,
       PF_KEEP_RECORDING,
       PF_KEEP_FACT,
       PF_KEEP_LOSS,
       PF_KEEP_AUX
};

/* Of a record type: PF_KEEP_…. */
unsigned pf_keeping_class(uint32_t type);

#endif
