/* Lost records, each counted once.
 *
 * Since Linux 6.0 the kernel counts the samples that an event lost; perf writes these counters as
 * LOST_SAMPLES records when the recording ends.  LOST records, which stand where records are
 * missing, include the same samples, so the two must not be added up.  LOST_SAMPLES of events
 * without such a counter come from the hardware, whose own buffer was full. */
#include "cli/losses.h"

#include <inttypes.h>

#include "cli/json.h"
#include "cli/print.h"
#include "perfile/records.h"

enum { AUX_TRUNCATED = 1 }; /* PERF_AUX_FLAG_TRUNCATED of an AUX record */

/* Samples that a BPF filter dropped were dropped on purpose: they are counted apart. */
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

void cli_losses_feed(cli_losses *x, const perfile_record *r)
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

uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s)
{
    bool counters = false;
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++)
        counters |= (perfile_session_event(s, i)->attr->read_format & PERFILE_FORMAT_LOST) != 0;
    if (!counters || x->lost_samples == 0)
        return x->lost_records;
    return x->lost_records > x->lost_samples ? x->lost_records - x->lost_samples : 0;
}

/* Prints one item of the list if `n` is not 0; *any is whether an item stands in front of it. */
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
