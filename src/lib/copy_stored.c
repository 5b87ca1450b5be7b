/* Ranges of records that are copied from archive to archive as they are stored there.
 *
 * The stream asks for each range that would come as records, and gives it when all in front of it
 * has been read, and so written.  It counts as if its records had been written. */
#include "lib/copy.h"

#include "core/writer.h"
#include "io/out.h"

bool pf_copy_wants_stored(pf_copy *x, const pf_zone *zone)
{
    const pf_writer_ops *ops = x->writer->ops;
    const bool rounds_go = x->joins_parts && zone->apart; /* FINISHED_ROUNDs are left out */
    if (x->stored != PERFILE_OK || !ops->takes_stored || x->fragments.records.len || rounds_go)
        return false;
    /* From a pipe to a file: the range has the first record of the kernel, in whatever way. */
    if (!x->begun)
        x->stored = pf_copy_release(x, &x->stored_error);
    return x->stored == PERFILE_OK && ops->takes_stored(x->writer, x->session);
}

perfile_status pf_copy_stored(pf_copy *x, const pf_stored *range, perfile_error *err)
{
    const perfile_record first = {.part = range->part, .offset = range->offset};
    if (pf_progress_at(&x->progress, &first) && x->options.progress)
        x->options.progress(x->options.user, x->progress.done, x->progress.total);
    x->result.records += range->records;
    x->result.samples += range->samples;
    return x->writer->ops->stored(x->writer, range, err);
}

static bool wants(void *user, const pf_zone *zone)
{
    return pf_copy_wants_stored(user, zone);
}

static void take(void *user, const pf_stored *range)
{
    pf_copy *x = user;
    if (x->stored == PERFILE_OK)
        x->stored = pf_copy_stored(x, range, &x->stored_error);
}

void pf_copy_ask_stored(pf_copy *x)
{
    x->taker = (pf_stored_taker){.wants = wants, .take = take, .user = x};
    if (x->writer->ops->takes_stored && pf_sink_takes_stored(x->writer->sink))
        pf_stream_give_stored(x->stream, &x->taker);
}

perfile_status pf_copy_stored_status(const pf_copy *x, perfile_error *err)
{
    if (x->stored != PERFILE_OK && err)
        *err = x->stored_error;
    return x->stored;
}
