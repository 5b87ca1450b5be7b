/* Damage of an input, by kind.
 *
 * The number of damages is the sum of two counts: what the stream counts (perfile_stream_summary),
 * and what the command found in feature sections (cli_check_features()).  The first offset of a
 * kind is that of the first record of family DAMAGE.  For damage outside of the records it comes
 * from the damaged container, event or feature section. */
#include "cli/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "perfile/field.h"
#include "perfile/records.h"

/* Where the first damage of a kind is. */
typedef struct location {
    uint64_t offset;  /* PERFILE_NO_OFFSET if unknown */
    const char *part; /* file of a directory, or NULL */
    char what[64];    /* "feature CMDLINE: ", or "" */
} location;

void cli_input_damage(cli_input *in, const perfile_record *r)
{
    if (r->damage >= CLI_N_DAMAGES)
        return;
    if (!in->damage[r->damage].seen) {
        in->damage[r->damage].first = r->offset;
        in->damage[r->damage].part = r->part;
    }
    in->damage[r->damage].seen = true;
    in->damage[r->damage].lost += r->body.len;
}

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Decodes a feature section to its end.  Returns the damage that was found; 0 if there is none, or
 * if the stream has already counted it. */
static unsigned feature_damage(const perfile_feature *f)
{
    /* The values do not matter, only that the walk reaches the end. */
    static const perfile_visitor ignore_all = {
        .size = sizeof ignore_all, .value = ignore_value, .begin = ignore_value, .end = ignore_end};
    perfile_error err = {0};
    if (f->damage || perfile_feature_walk(f, PERFILE_WALK_ALL, &ignore_all, NULL, &err) >= 0)
        return 0;
    return err.damage < CLI_N_DAMAGES ? err.damage : 0;
}

void cli_check_features(cli_input *in)
{
    const perfile_session *s = perfile_stream_session(in->stream);
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        unsigned kind = feature_damage(perfile_session_feature_at(s, i));
        if (kind)
            in->damage[kind].found++;
    }
}

/* Returns the location of damage in an event (attr or ids) or a feature section.  Its offset is
 * PERFILE_NO_OFFSET if there is no such damage. */
static location location_in_metadata(const perfile_session *s, unsigned kind)
{
    location at = {.offset = PERFILE_NO_OFFSET};
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (e->damage != kind && e->ids_damage != kind)
            continue;
        at.offset = e->offset;
        snprintf(at.what, sizeof at.what, "event %" PRIu32 ": ", i);
        return at;
    }
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        const char *name = perfile_feature_name(f->number);
        if (f->damage != kind && feature_damage(f) != kind)
            continue;
        at.offset = f->offset;
        if (name)
            snprintf(at.what, sizeof at.what, "feature %s: ", name);
        else
            snprintf(at.what, sizeof at.what, "feature %" PRIu32 ": ", f->number);
        return at;
    }
    return at;
}

/* Returns the location of the first damage of this kind: in a record, else in the container, else
 * in an event or feature.  A stream that delivers no damage records only has the first offset of
 * all kinds together. */
static location first_location(const cli_input *in, unsigned kind)
{
    perfile_stream_summary sum;
    const perfile_container *c = perfile_stream_container(in->stream);
    if (in->damage[kind].seen) {
        uint32_t part = in->damage[kind].part;
        return (location){.offset = in->damage[kind].first,
                          .part = part && part < c->n_parts ? c->parts[part].name : NULL};
    }
    for (uint32_t i = 0; i < c->n_damages; i++)
        if (c->damages[i].damage == kind)
            return (location){.offset = c->damages[i].offset};
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    location at = location_in_metadata(perfile_stream_session(in->stream), kind);
    if (at.offset == PERFILE_NO_OFFSET && sum.damages && sum.by_damage[kind] == sum.damages)
        at.offset = sum.first_offset;
    return at;
}

/* Reads N from a file name data.N.  Returns false for other names. */
static bool part_number(const char *name, uint64_t *number)
{
    static const char front[] = "data.";
    if (!name || strncmp(name, front, sizeof front - 1) != 0)
        return false;
    const char *digits = name + sizeof front - 1;
    char *end;
    *number = strtoull(digits, &end, 10);
    return digits[0] >= '0' && digits[0] <= '9' && !*end && *number < UINT64_MAX;
}

bool cli_missing_parts(const cli_input *in, char *out, size_t size)
{
    const perfile_container *c = perfile_stream_container(in->stream);
    uint64_t expected = 0, number;
    size_t len = 0;
    bool missing = false;
    for (uint32_t i = 0; i < c->n_damages; i++)
        missing |= c->damages[i].damage == PERFILE_DAMAGE_BAD_DIRECTORY;
    if (!missing || !size)
        return false;
    out[0] = '\0';
    /* The parts are sorted by number, so every gap between two numbers is a range of missing files.
     * Files that are missing at the end cannot be detected. */
    for (uint32_t i = 0; i < c->n_parts && len < size; i++) {
        if (!part_number(c->parts[i].name, &number))
            continue;
        int n = 0;
        if (number == expected + 1)
            n = snprintf(out + len, size - len, "%sdata.%" PRIu64, len ? ", " : "", expected);
        else if (number > expected)
            n = snprintf(out + len, size - len, "%sdata.%" PRIu64 "..data.%" PRIu64,
                         len ? ", " : "", expected, number - 1);
        len += n > 0 ? (size_t)n : 0;
        expected = number + 1;
    }
    if (!expected)
        snprintf(out, size, "every data.N");
    return out[0] != '\0';
}

bool cli_recoverable(const cli_input *in)
{
    const perfile_container *c = perfile_stream_container(in->stream);
    uint64_t missing_files = 0; /* counted as damage, but recover cannot restore them */
    for (uint32_t i = 0; i < c->n_damages; i++)
        missing_files += c->damages[i].damage == PERFILE_DAMAGE_BAD_DIRECTORY;
    return cli_damage_count(in) > missing_files;
}

/* Reports one kind of damage in one line, such as "FILE: offset 264: TEXT, 3 times, first here, 12
 * bytes lost". */
static void report_kind(const cli_input *in, unsigned kind, uint64_t count)
{
    char offset[64] = "";
    char times[64] = "";
    char bytes[64] = "";
    char parts[256] = "";
    location at = first_location(in, kind);
    uint64_t lost = in->damage[kind].lost;
    if (at.offset != PERFILE_NO_OFFSET)
        snprintf(offset, sizeof offset, "offset %" PRIu64 ": ", at.offset);
    if (count > 1)
        snprintf(times, sizeof times, ", %" PRIu64 " times%s", count,
                 offset[0] ? ", first here" : "");
    if (lost)
        snprintf(bytes, sizeof bytes, ", %" PRIu64 " byte%s lost", lost, lost == 1 ? "" : "s");
    bool named = kind == PERFILE_DAMAGE_BAD_DIRECTORY && cli_missing_parts(in, parts, sizeof parts);
    cli_message("%s: %s%s%s%s%s%s%s%s%s", in->name, at.part ? at.part : "", at.part ? ": " : "",
                offset, at.what, perfile_damage_text(kind), named ? ": " : "", parts, times, bytes);
}

uint64_t cli_damage_count(const cli_input *in)
{
    perfile_stream_summary sum = {0};
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    for (unsigned kind = 1; kind < CLI_N_DAMAGES; kind++)
        sum.damages += in->damage[kind].found;
    return sum.damages;
}

int cli_report_damage(const cli_input *in)
{
    perfile_stream_summary sum = {0};
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    for (unsigned kind = 1; kind < CLI_N_DAMAGES; kind++) {
        uint64_t count = sum.by_damage[kind] + in->damage[kind].found;
        if (count)
            report_kind(in, kind, count);
    }
    /* In a truncated file, the header may declare more bytes than there are. */
    if (sum.missing)
        cli_message("%s: the header declares %" PRIu64 " more byte%s of records than there are",
                    in->name, sum.missing, sum.missing == 1 ? "" : "s");
    return cli_damage_count(in) ? CLI_DAMAGED : CLI_DONE;
}

void cli_json_damage(const cli_input *in)
{
    perfile_stream_summary sum = {0};
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    cli_json_object("damage");
    cli_json_number("count", cli_damage_count(in));
    cli_json_number("lost", sum.lost);
    cli_json_number("missing", sum.missing);
    cli_json_array("kinds");
    for (unsigned kind = 1; kind < CLI_N_DAMAGES; kind++) {
        uint64_t count = sum.by_damage[kind] + in->damage[kind].found;
        if (!count)
            continue;
        cli_json_object(NULL);
        cli_json_string("name", perfile_damage_name(kind));
        cli_json_number("count", count);
        location at = first_location(in, kind);
        if (at.offset != PERFILE_NO_OFFSET)
            cli_json_decimal("offset", at.offset);
        cli_json_number("lost", in->damage[kind].lost);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
}

/* Lost records, each counted once.
 *
 * Since Linux 6.0 the kernel counts the samples that an event lost, and perf writes these counters
 * as LOST_SAMPLES records at the end of the recording.  LOST records, which are at the positions of
 * the missing records, include the same samples, so the two counts must not be added.  LOST_SAMPLES
 * records of events without such a counter come from the hardware, when its own buffer was full. */

enum { AUX_TRUNCATED = 1 }; /* PERF_AUX_FLAG_TRUNCATED of an AUX record */

/* Samples that a BPF filter dropped are counted separately, because they were dropped on
 * purpose. */
static void feed_lost_samples(cli_losses *x, const perfile_record *r)
{
    perfile_lost_samples v;
    if (perfile_lost_samples_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return;
    if (r->misc & PERFILE_MISC_LOST_SAMPLES_BPF)
        x->filtered += v.lost;
    else
        x->lost_samples += v.lost;
}

static void feed_losses(cli_losses *x, const perfile_record *r)
{
    perfile_lost lost;
    perfile_aux aux;
    switch (r->type) {
    case PERFILE_RECORD_LOST:
        x->gaps++;
        if (perfile_lost_decode(r, &lost, sizeof lost, NULL) == PERFILE_OK)
            x->lost_records += lost.lost;
        break;
    case PERFILE_RECORD_LOST_SAMPLES:
        feed_lost_samples(x, r);
        break;
    case PERFILE_RECORD_THROTTLE:
        x->throttles++;
        break;
    case PERFILE_RECORD_UNTHROTTLE:
        x->unthrottles++;
        break;
    case PERFILE_RECORD_AUX:
        if (perfile_aux_decode(r, &aux, sizeof aux, NULL) == PERFILE_OK)
            x->aux_truncated += aux.flags & AUX_TRUNCATED;
        break;
    case PERFILE_RECORD_AUXTRACE_ERROR:
        x->auxtrace_errors++;
        break;
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
        x->map_timeouts += (r->misc & PERFILE_MISC_PROC_MAP_TIMEOUT) != 0;
        break;
    default:
        break;
    }
}

void cli_losses_feed(cli_losses *x, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (first[i].type != PERFILE_RECORD_SAMPLE) /* samples report no losses, and are the most
                                                     * common */
            feed_losses(x, &first[i]);
}

uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s)
{
    bool counters = false;
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++)
        counters |= (perfile_session_event(s, i)->attr->read_format & PERFILE_FORMAT_LOST) != 0;
    if (!counters || x->lost_samples == 0)
        return x->lost_records;
    return x->lost_records > x->lost_samples ? x->lost_records - x->lost_samples : 0;
}

/* Prints an item of the list if `n` is not 0. *any: an item has already been printed. */
static void print_item(bool *any, const char *before, uint64_t n, const char *one, const char *many)
{
    if (!n)
        return;
    cli_print("%s%" PRIu64 " %s", *any ? ", " : before, n, n == 1 ? one : many);
    *any = true;
}

bool cli_losses_print(const cli_losses *x, const perfile_session *s, uint64_t samples,
                      const char *before)
{
    bool any = false;
    print_item(&any, before, x->lost_samples, "sample", "samples");
    if (x->lost_samples && samples != CLI_SAMPLES_UNKNOWN)
        cli_print(" (%.1f%%)",
                  100.0 * (double)x->lost_samples / ((double)x->lost_samples + (double)samples));
    print_item(&any, before, cli_losses_others(x, s), x->lost_samples ? "other record" : "record",
               x->lost_samples ? "other records" : "records");
    if (x->gaps)
        cli_print("%s in %" PRIu64 " gap%s", any ? "," : before, x->gaps, x->gaps == 1 ? "" : "s");
    any = any || x->gaps;
    print_item(&any, before, x->throttles, "throttling", "throttlings");
    print_item(&any, before, x->aux_truncated, "AUX span truncated", "AUX spans truncated");
    print_item(&any, before, x->auxtrace_errors, "AUX trace error", "AUX trace errors");
    print_item(&any, before, x->map_timeouts, "incomplete list of mappings",
               "incomplete lists of mappings");
    return any;
}

void cli_losses_json(const cli_losses *x, const perfile_session *s)
{
    cli_json_number("lost_records", x->lost_records);
    cli_json_number("lost_samples", x->lost_samples);
    cli_json_number("other_records", cli_losses_others(x, s));
    cli_json_number("gaps", x->gaps);
    cli_json_number("filtered_samples", x->filtered);
    cli_json_number("throttles", x->throttles);
    cli_json_number("unthrottles", x->unthrottles);
    cli_json_number("aux_truncated", x->aux_truncated);
    cli_json_number("auxtrace_errors", x->auxtrace_errors);
    cli_json_number("map_timeouts", x->map_timeouts);
}
