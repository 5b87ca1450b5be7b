/* `dump --at` shows the record that a byte is part of.  For bytes that are in none, this says what
 * they are: the container knows where header, attrs, ids, features and gaps lie. */
#include "cli/dump/offset.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "perfile/field.h"

enum { TEXT_BYTES = 128 };

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
        snprintf(out, size, "a gap between the parts of the file");
        break;
    case PERFILE_EXTENT_TAIL:
        snprintf(out, size, "what is behind all parts of the file");
        break;
    default: /* records, but none that could be read */
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
        cli_message("%s: offset %" PRIu64 " is behind the end: the %s has %" PRIu64 " bytes", in->name,
                at, c->n_parts > 1 ? "largest file" : "file", size);
        return;
    }
    /* Of several the innermost: they are sorted by offset. */
    for (uint32_t i = 0; i < c->n_extents; i++)
        if (at >= c->extents[i].offset && at - c->extents[i].offset < c->extents[i].length)
            found = &c->extents[i];
    if (!found) {
        cli_message("%s: offset %" PRIu64 ": no record is there", in->name, at);
        return;
    }
    describe(in, found, at, what, sizeof what);
    cli_message("%s: offset %" PRIu64 " is in %s (offset %" PRIu64 ", %" PRIu64
            " bytes); --at shows records",
            in->name, at, what, found->offset, found->length);
}
