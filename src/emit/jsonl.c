/* JSON Lines, the output contract of `dump` (format/dump.cddl): lines.inc with the values of
 * json.h. */
#include "emit/json.h"

#define PUT_KEY  PF_JSON_KEY
#define PUT_WORD PF_JSON_WORD
#include "emit/lines.inc"

const pf_emit_ops pf_emit_jsonl = {
    .name = "jsonl",
    .doc = "JSON lines, complete and exact",
    .size = sizeof(lines),
    .begin = lines_begin,
    .put = lines_put,
    .finish = lines_finish,
    .failure = lines_failure,
};
