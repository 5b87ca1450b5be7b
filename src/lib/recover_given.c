/* Choosing between events that the caller gives (perfile_assume.events, --attrs-from) and those of
 * the file itself.  The caller may have given a capture of another command by mistake, so the
 * events are taken that fit more of the file's first samples. */
#include "base/options.h"
#include "lib/recover.h"

/* True if `a` fits a larger share of the samples than `b`.  Counts cannot be compared: how many
 * samples are seen depends on the events too.  A share of nothing is less than any fit. */
static bool fits_better(const pf_fit *a, const pf_fit *b)
{
    return (uint64_t)a->fit * b->seen > (uint64_t)b->fit * a->seen || (a->fit && !b->fit);
}

/* Notes how well the given events fit, unless all samples do. */
static void note_fit(pf_recover *x, const pf_fit *given, const pf_fit *own)
{
    const char *samples = given->seen == 1 ? "sample" : "samples";
    if (fits_better(own, given))
        pf_recover_note(
            x, UINT32_MAX, 0,
            "of the first %u %s, %u fit the given events and %u the events of the file: "
            "those of the file are used",
            given->seen, samples, given->fit, own->fit);
    else if (given->fit < given->seen)
        pf_recover_note(x, UINT32_MAX, 0, "of the first %u %s, only %u fit the given events",
                        given->seen, samples, given->fit);
}

/* `fit` is for the events of the file, which a second run of the guesser finds without the given
 * ones.  If they win, x->options.assume loses its events, so that nothing later uses them. */
perfile_status pf_recover_compare_events(pf_recover *x, perfile_source *source, perfile_bytes file,
                                         pf_repair *r, perfile_error *err)
{
    pf_fit given, fit = {0};
    pf_repair own = {.assume = {.size = sizeof own.assume}};
    const perfile_assume *given_assume = x->options.assume;
    perfile_status st = x->repair->fit(file, r->guessed ? &r->assume : given_assume, &given, err);
    if (st != PERFILE_OK || (given.seen && given.fit == given.seen))
        return st;
    st = pf_options_copy(&x->own, given_assume, "recover.assume", err);
    x->own.events = NULL;
    x->own.n_events = 0;
    x->own.byte_order = 0; /* it came with the events */
    if (st == PERFILE_OK)
        st = x->repair->guess(source, &x->own, &own, err);
    if (st == PERFILE_OK)
        st = x->repair->fit(file, own.guessed ? &own.assume : &x->own, &fit, err);
    if (st == PERFILE_OK)
        note_fit(x, &given, &fit);
    if (st != PERFILE_OK || !fits_better(&fit, &given)) {
        pf_repair_free(&own);
        return st;
    }
    pf_repair_free(r);
    *r = own;
    x->options.assume = &x->own;
    return pf_recover_choose_events(x, file, r, err);
}
