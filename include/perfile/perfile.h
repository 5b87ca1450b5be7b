/* Reads, checks, converts and writes perf.data-style record files.  This header includes all
 * others.
 *
 *     perfile_stream *s;
 *     const perfile_record *r;
 *     perfile_error err;
 *     perfile_status st = perfile_open_path("perf.data", NULL, &s, &err);
 *     if (st == PERFILE_OK) {
 *         while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
 *             …
 *         perfile_stream_close(s);
 *     }
 *     if (st < 0)
 *         fprintf(stderr, "%s\n", err.message);
 */
#ifndef PERFILE_PERFILE_H
#define PERFILE_PERFILE_H

#include "abi.h"
#include "archive.h"
#include "arrow.h"
#include "base.h"
#include "byteswap.h"
#include "catalogue.h"
#include "check.h"
#include "container.h"
#include "convert.h"
#include "copy.h"
#include "damage.h"
#include "emit.h"
#include "encode.h"
#include "event.h"
#include "expr.h"
#include "field.h"
#include "filter.h"
#include "live.h"
#include "merge.h"
#include "merge_captures.h"
#include "model.h"
#include "profile.h"
#include "record.h"
#include "records.h"
#include "recover.h"
#include "ring.h"
#include "scrub.h"
#include "session.h"
#include "sink.h"
#include "sort.h"
#include "source.h"
#include "split.h"
#include "stream.h"
#include "symbol.h"
#include "table.h"
#include "target.h"
#include "text.h"
#include "tracepoint.h"
#include "version.h"
#include "writer.h"

#endif
