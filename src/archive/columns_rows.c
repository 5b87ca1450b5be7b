/* A few words of each record, without putting any record together.
 *
 * A reader that only looks at some numbers at the front of samples gets them as rows, which take a
 * tenth of the memory that the records would: so they stay in the cache, and no new page is touched
 * for them.  Rows are filled run by run of records of one shape, column by column. */
#include "archive/columns_decode.h"

#include "base/error.h"

enum { MOST_ROWS = PF_COLUMNS_MOST_ROWS, MOST_WORDS = PF_COLUMNS_ROW_WORDS };

typedef struct filling {
    pf_columns_decoder *d;
    const pf_columns_rows *want;
    size_t n_words;              /* of a row */
    pf_column *from[MOST_WORDS]; /* of the present class: the columns of these words … */
    uint8_t word_of[MOST_WORDS]; /* … of the body */
    size_t n_from;               /* how many */
    size_t first, n;             /* the first record of those in `rows`, and how many */
    uint64_t rows[MOST_ROWS * MOST_WORDS];
} filling;

static void show(filling *f)
{
    if (f->n && !f->d->streams.bad)
        f->want->show(f->want->user, f->first, f->n, f->rows);
    f->n = 0;
}

/* Finds the columns of the words of a class.  False: one of them is no number of its own, or comes
 * in another order than the records, or records are too short. */
static bool find_columns(filling *f, const pf_class *c)
{
    const pf_op *o = &f->d->ops[c->first], *last = o + c->n;
    uint64_t found = 0;
    f->n_from = 0;
    for (uint64_t at = 0; o < last && at < 8 * f->n_words && o->what != PF_COLUMNS_BLOB; o++) {
        const unsigned word = (unsigned)(at / 8);
        if (f->want->words >> word & 1 && o->what == PF_COLUMNS_WORD && o->width == 8 &&
            at % 8 == 0) {
            f->from[f->n_from] = &f->d->columns[o->column];
            f->word_of[f->n_from++] = (uint8_t)word;
            found |= UINT64_C(1) << word;
        }
        at += o->what == PF_COLUMNS_REF ? 8 : o->width;
    }
    return found == f->want->words && c->regular && c->size >= f->want->least;
}

/* Takes the next values of a column for `n` records into rows from number `row` on. */
static void take(filling *f, pf_column *k, size_t row, size_t n, size_t word)
{
    uint64_t *to = f->rows + row * f->n_words + word;
    k->left -= n;
    while (n && pf_column_has(&f->d->streams, k)) {
        const size_t some = n < k->ready - k->at ? n : k->ready - k->at;
        const uint64_t *values = k->block.values + k->at;
        for (size_t i = 0; i < some; i++)
            to[i * f->n_words] = values[i];
        to += some * f->n_words;
        k->at += some;
        n -= some;
    }
}

/* Takes `n` records of one class, from number `i` on. */
static void take_records(filling *f, size_t i, size_t n)
{
    for (size_t some; n && !f->d->streams.bad; i += some, n -= some) {
        if (f->n == MOST_ROWS || (f->n && f->first + f->n != i))
            show(f);
        f->first = f->n ? f->first : i;
        some = n < MOST_ROWS - f->n ? n : MOST_ROWS - f->n;
        for (size_t k = 0; k < f->n_from; k++) {
            if (f->from[k]->left < some)
                pf_streams_fail(&f->d->streams, "a column with too few values");
            else
                take(f, f->from[k], f->n, some, f->word_of[k]);
        }
        f->n += some;
    }
}

static void take_all(filling *f)
{
    pf_columns_decoder *d = f->d;
    for (size_t i = 0, n; i < d->n_records && !d->streams.bad; i += n) {
        const uint8_t number = pf_class_of(d, i);
        if (number >= d->n_classes) {
            pf_streams_fail(&d->streams, "a class that there is not");
            return;
        }
        n = pf_class_run(d, i);
        if (d->classes[number].apart)
            continue;
        (void)find_columns(f, &d->classes[number]); /* it is known */
        take_records(f, i, n);
    }
    show(f);
}

/* True if all classes that are not apart can be shown. */
static bool all_known(filling *f)
{
    bool known = true;
    for (uint32_t i = 0; i < f->d->n_classes && known; i++)
        known = f->d->classes[i].apart || find_columns(f, &f->d->classes[i]);
    return known;
}

perfile_status pf_columns_decode_rows(pf_columns_decoder *d, const pf_columns_input *input,
                                      size_t raw_len, const pf_columns_rows *want,
                                      perfile_error *err)
{
    const pf_columns_want how = {.words = want->words, .no_records = true};
    filling f;
    f.d = d;
    f.want = want;
    f.n_words = 64 - (size_t)__builtin_clzll(want->words);
    f.first = f.n = 0;
    pf_columns_begin(d, input, &how, raw_len, err);
    if (!d->streams.bad && !all_known(&f))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.columns",
                       "the words are no numbers of their own in all of its records");
    take_all(&f);
    return pf_columns_outcome(d, err);
}
