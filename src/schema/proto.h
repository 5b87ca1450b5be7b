/* Walking protobuf messages by format/proto.def. */
#ifndef PF_SCHEMA_PROTO_H
#define PF_SCHEMA_PROTO_H

#include "schema/rows.h"

enum {
    PF_PROTO_VARINT,
    PF_PROTO_TEXT,
    PF_PROTO_file2,
    PF_PROTO_file2_symbol,
    PF_PROTO_file2_dex,
    PF_PROTO_file2_elf,
    PF_PROTO_file2_module,
    PF_PROTO_debug_unwind,
    PF_PROTO_unwind_file
};

/* Shows the fields of the message that fills `c`.  Fields without a row are passed over; bytes that
 * are no message are damage. */
void pf_walk_proto(pf_cursor *c, const pf_walker *w, unsigned message);

#endif
