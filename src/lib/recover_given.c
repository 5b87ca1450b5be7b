/* Events that the caller gives (perfile_assume.events, --attrs-from) and those that the file itself
 * has: the samples decide, for a capture of another command may have been taken for a sister. */
#include "base/options.h"
#include "lib/recover.h"

static bool fits_better(const pf_fit *a, const pf_fit *b)
{
    /* Read with other events, fewer or more samples may be met: shares are compared. */
    return (uint64_t)a->fit * b->seen > (uint64_t)b->fit * a->seen || (a->fit && !b->fit);
}

static void tell_fit(pf_recover *x, const pf_fit *given, const pf_fit *own)
{
    const char *samples = given->seen == 1 ? "sample" : "samples";
    if (fits_better(own, given))
        pf_recover_note(x, UINT32_MAX, 0,
                        "of the first %u %s, %u fit the events that were given and %u those of the "
                        "file: these are taken",
                        given->seen, samples, given->fit, own->fit);
    else if (given->fit < given->seen)
        pf_recover_note(x, UINT32_MAX, 0,
                        "of the first %u %s, only %u fit the events that were given", given->seen,
                        samples, given->fit);
}

perfile_status pf_recover_compare(pf_recover *x, perfile_source *source, perfile_bytes file,
                                  pf_repair *r, perfile_error *err)
{
    pf_fit given, fit = {0};
    pf_repair own = {.assume = {.size = sizeof own.assume}};
    const perfile_assume *said = x->options.assume;
    perfile_status st = x->repair->fit(file, r->guessed ? &r->assume : said, &given, err);
    if (st != PERFILE_OK || (given.seen && given.fit == given.seen))
        return st;
    st = pf_options_take(&x->own, sizeof x->own, said, "recover.assume", err);
    x->own.events = NULL;
    x->own.n_events = 0;
    x->own.byte_order = 0; /* it came with the events */
    if (st == PERFILE_OK)
        st = x->repair->guess(source, &x->own, &own, err);
    if (st == PERFILE_OK)
        st = x->repair->fit(file, own.guessed ? &own.assume : &x->own, &fit, err);
    if (st == PERFILE_OK)
        tell_fit(x, &given, &fit);
    if (st != PERFILE_OK || !fits_better(&fit, &given)) {
        pf_repair_free(&own);
        return st;
    }
    pf_repair_free(r);
    *r = own;
    x->options.assume = &x->own;
    return pf_recover_choose(x, file, r, err);
}
