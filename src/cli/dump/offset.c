/* `dump --at OFFSET` shows the record that a byte is part of.  For bytes that are in no record,
 * this file reports what they are: the container has a list of extents with the header, attrs, ids,
 * features, gaps and data of the file. */
#include "cli/dump/offset.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "perfile/field.h"

enum { TEXT_BYTES = 128 };

/* Describes a byte of the attr section: the attr of which event it is in. */
static void describe_attr(const cli_input *in, uint64_t at, char *out, size_t size)
{
    const perfile_session *s = perfile_stream_session(in->stream);
    const perfile_container *c = perfile_stream_container(in->stream);
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (e->origin != PERFILE_ORIGIN_CONTAINER || at < e->offset ||
            at - e->offset >= c->attr_size)
            continue;
        snprintf(out, size, "the attr of event %" PRIu32 " (%s), byte %" PRIu64 " of it", i,
                 e->name, at - e->offset);
        return;
    }
    snprintf(out, size, "the attrs");
}

/* Writes what the extent `e`, in which byte `at` lies, is: "the header", "feature 3 HOSTNAME" … */
static void describe(const cli_input *in, const perfile_extent *e, uint64_t at, char *out,
                     size_t size)
{
    const char *name;
    switch (e->role) {
    case PERFILE_EXTENT_HEADER:
        snprintf(out, size, "the header");
        break;
    case PERFILE_EXTENT_IDS:
        snprintf(out, size, "the ids of event %" PRIu32, e->number);
        break;
    case PERFILE_EXTENT_ATTRS:
        describe_attr(in, at, out, size);
        break;
    case PERFILE_EXTENT_EVENT_TYPES:
        snprintf(out, size, "the names of event types");
        break;
    case PERFILE_EXTENT_FEATURE_TABLE:
        snprintf(out, size, "the feature table");
        break;
    case PERFILE_EXTENT_FEATURE:
        name = perfile_feature_name(e->number);
        snprintf(out, size, "feature %" PRIu32 "%s%s", e->number, name ? " " : "",
                 name ? name : "");
        break;
    case PERFILE_EXTENT_GAP:
        snprintf(out, size, "a gap between the sections of the file");
        break;
    case PERFILE_EXTENT_TAIL:
        snprintf(out, size, "the bytes behind all sections of the file");
        break;
    default: /* an extent of records */
        snprintf(out, size, "the data, but in no record");
    }
}

void cli_explain_offset(const cli_input *in, uint64_t at)
{
    const perfile_container *c = perfile_stream_container(in->stream);
    const perfile_extent *found = NULL;
    char what[TEXT_BYTES];
    uint64_t size = 0;
    for (uint32_t i = 0; i < c->n_parts; i++)
        size = c->parts[i].size > size ? c->parts[i].size : size;
    if (size != UINT64_MAX && at >= size) {
        cli_message("%s: offset %" PRIu64 " is past the end: the %s has %" PRIu64 " bytes",
                    in->name, at, c->n_parts > 1 ? "largest file" : "file", size);
        return;
    }
    /* Extents may lie within others; they are sorted by offset, so the last match is the innermost.
     */
    for (uint32_t i = 0; i < c->n_extents; i++)
        if (at >= c->extents[i].offset && at - c->extents[i].offset < c->extents[i].length)
            found = &c->extents[i];
    if (!found) {
        cli_message("%s: offset %" PRIu64 ": there is no record", in->name, at);
        return;
    }
    describe(in, found, at, what, sizeof what);
    cli_message("%s: offset %" PRIu64 " is in %s (offset %" PRIu64 ", %" PRIu64
                " bytes); --at shows records",
                in->name, at, what, found->offset, found->length);
}
