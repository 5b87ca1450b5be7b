/* Making a new feature EVENT_DESC, if the one of the input is damaged or its events are not those
 * of the output. */
#include "core/event_desc.h"
#include "lib/recover.h"

perfile_status pf_recover_write_event_desc(pf_recover *x, perfile_error *err)
{
    pf_recover_note(x, PERFILE_FEATURE_EVENT_DESC, PERFILE_DAMAGE_IMPLAUSIBLE,
                    "feature EVENT_DESC is made from the events of the output");
    x->result.damaged = true;
    x->result.features++;
    if (!x->writer)
        return PERFILE_OK;
    pf_buffer_clear(&x->scratch);
    const perfile_bytes dropped = {x->dropped.ptr, x->dropped.len};
    perfile_status st = pf_event_desc_make(x->session, NULL, dropped, &x->scratch, err);
    if (st != PERFILE_OK)
        return st;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_EVENT_DESC,
                                  (perfile_bytes){x->scratch.ptr, x->scratch.len}, err);
}
