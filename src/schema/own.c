/* Time, task and processor that a record has in fields of its own. */
#include "schema/expand.h"

#include "schema/own.inc"
#include "perfile/format/records.def"
#include "schema/own.inc"
#include "perfile/format/simpleperf.def"
