/* perfile_filter(): which FINISHED_ROUND records are passed on.
 *
 * Captures and what is kept of them are words: a sample that is selected (a) or not (b), side-band
 * that is kept (k) or not (d), FINISHED_ROUND (R). */
#include "filtering.h"

#include <string.h>

#include "../random.h"

enum { MOST = 1000 };

static void add_round(builder *b)
{
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}

/* Process 100 is that of the samples. */
static void add_comm(builder *b, uint32_t pid, uint32_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, pid);
    build_u32(b, pid);
    build_text(b, "name");
    capture_trailer(b, n);
    build_end(b, start);
}

static void make(builder *b, const char *word, bool swap)
{
    *b = (builder){.swap = swap};
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; word[i]; i++) {
        if (word[i] == 'R')
            add_round(b);
        else if (word[i] == 'a' || word[i] == 'b') /* the processor is the lowest bit */
            build_end(b, capture_sample_begin(b, 0, 2 * i + (word[i] == 'b')));
        else
            add_comm(b, word[i] == 'k' ? 100 : 999, 2 * i);
    }
}

/* The word of what the stream has. */
static void read_word(perfile_stream *s, char *word)
{
    const perfile_record *r;
    perfile_comm comm;
    uint32_t cpu;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type == PERFILE_RECORD_SAMPLE)
            *word++ = perfile_record_cpu(r, &cpu) && cpu == 0 ? 'a' : 'b';
        else if (r->type == PERFILE_RECORD_FINISHED_ROUND)
            *word++ = 'R';
        else if (perfile_comm_decode(r, &comm, sizeof comm, NULL) == PERFILE_OK)
            *word++ = comm.pid == 100 ? 'k' : 'd';
    }
    *word = 0;
}

/* What a filter by these terms keeps of a capture. */
static void filter_word(const char *word, const perfile_filter_term *terms, uint32_t n, bool swap,
                        char *kept)
{
    const perfile_filter_options how = {.size = sizeof how, .n_terms = n, .terms = terms};
    perfile_filter_state *filter;
    builder b;
    make(&b, word, swap);
    assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
    while (perfile_filter_wants_pass(filter, NULL)) {
        perfile_stream *pass = capture_opened(&b);
        assert_int_equal(perfile_filter_learn(filter, pass, NULL), PERFILE_OK);
        perfile_stream_close(pass);
    }
    perfile_stream *s = capture_opened(&b);
    assert_int_equal(perfile_filter(s, filter, &s, NULL), PERFILE_OK);
    read_word(s, kept);
    perfile_stream_close(s);
    perfile_filter_close(filter);
    build_clear(&b);
}

static const perfile_filter_term cpu_0 = {.kind = PERFILE_FILTER_BY_CPU, .text = "0"};

static void those_that_close_nothing_are_dropped(void **state)
{
    static const char *const words[][2] = {
        {"aRbRbRaR", "aRaR"},
        {"RRbRRa", "RRa"},       /* without anything dropped in front they stay */
        {"aRRbRRaRR", "aRRaRR"}, /* so that nothing changes between records that are kept */
        {"abRbaRbbR", "aRaR"},   /* what is kept may stand anywhere in front */
        {"aRdRkRdR", "aRkR"},    /* side-band counts as well */
        {"bRdRbR", "R"},         /* the event stands in front of the first */
        {"bbbbaR", "aR"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (unsigned swap = 0; swap < 2; swap++) {
            char kept[MOST];
            filter_word(words[i][0], &cpu_0, 1, swap, kept);
            assert_string_equal(kept, words[i][1]);
        }
}

/* The rule, one record at a time. */
static void expect(const char *word, char *kept)
{
    bool has_kept = false, has_dropped = false;
    for (; *word; word++) {
        const bool round = *word == 'R';
        if (*word == 'a' || *word == 'k' || (round && (has_kept || !has_dropped))) {
            *kept++ = *word;
            has_kept = !round;
            has_dropped &= !round;
        } else {
            has_dropped = true;
        }
    }
    *kept = 0;
}

/* Long ones: samples are dropped and passed on without becoming records, runs end anywhere. */
static void in_long_captures_as_well(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 40; turn++) {
        char word[MOST], kept[MOST], expected[MOST];
        const unsigned stay = 1 + turn; /* mean number of equal letters in a row */
        word[0] = 'a';                  /* so that process 100 has a sample that is selected */
        for (unsigned i = 1; i < MOST - 1; i++)
            word[i] = random_below(stay) ? word[i - 1] : "abRkdRbR"[random_below(8)];
        word[MOST - 1] = 0;
        filter_word(word, &cpu_0, 1, turn & 1, kept);
        expect(word, expected);
        assert_string_equal(kept, expected);
    }
}

static void selected_ones_stay(void **state)
{
    static const perfile_filter_term types = {.kind = PERFILE_FILTER_BY_TYPE,
                                              .text = "COMM,FINISHED_ROUND"};
    char kept[MOST];
    (void)state;
    filter_word("aRbRdRR", &types, 1, false, kept);
    assert_string_equal(kept, "RRdRR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_close_nothing_are_dropped),
        cmocka_unit_test(in_long_captures_as_well),
        cmocka_unit_test(selected_ones_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
