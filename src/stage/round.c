/* FINISHED_ROUND records; see round.h. */
#include "stage/round.h"

#include "base/byte_order.h"
#include "perfile/abi.h"

perfile_record pf_round_record(const perfile_session *s, uint64_t sequence)
{
    /* A header without body: type, misc 0, size 8. */
    static const uint8_t little[8] = {PERFILE_RECORD_FINISHED_ROUND, [6] = 8};
    static const uint8_t big[8] = {[3] = PERFILE_RECORD_FINISHED_ROUND, [7] = 8};
    bool swapped = perfile_session_swapped(s);
    const uint8_t *at = perfile_session_byte_order(s) == PERFILE_BYTE_ORDER_BIG ? big : little;
    return (perfile_record){.header = at,
                            .body = {at + 8, 0},
                            .type = PERFILE_RECORD_FINISHED_ROUND,
                            .flags =
                                (uint8_t)(PERFILE_REC_STABLE | (swapped ? PERFILE_REC_SWAPPED : 0)),
                            .offset = PERFILE_NO_OFFSET,
                            .sequence = sequence,
                            .envelope = PERFILE_NO_SEQUENCE,
                            .session = s};
}
