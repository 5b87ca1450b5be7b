/* A progressive writer is killed at random moments, also while it begins and while it finishes:
 * what it left is opened whole, with every record up to the last round that it had told of. */
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "written.h"

enum { TURNS = 200, ROUNDS = 200 }; /* that many rounds at least, three times as many at most */

/* What the writer tells. */
typedef struct progress {
    uint32_t samples; /* up to the last round */
    uint32_t finished;
} progress;

static void write_and_tell(progress *told, int level, uint32_t n_rounds)
{
    perfile_writer_options o = {.size = sizeof o, .progressive = true, .compress_level = level};
    perfile_writer *w;
    if (perfile_writer_open_path("live", &o, &w, NULL) != PERFILE_OK ||
        written_events(w, NULL) != PERFILE_OK || written_features(w, NULL) != PERFILE_OK)
        _exit(1);
    for (uint32_t i = 0; i < n_rounds * WRITTEN_ROUND; i++) {
        if (written_sample(w, i, 0, NULL) != PERFILE_OK)
            _exit(1);
        if ((i + 1) % WRITTEN_ROUND)
            continue;
        if (perfile_writer_round(w, NULL) != PERFILE_OK)
            _exit(1);
        __atomic_store_n(&told->samples, i + 1, __ATOMIC_RELEASE);
    }
    if (perfile_writer_finish(w, NULL) != PERFILE_OK)
        _exit(1);
    __atomic_store_n(&told->finished, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

enum { MOST_RECORD = 1 << 16 }; /* compressed ones hold many */
static unsigned n_torn;

/* Returns how many samples there are. */
static uint32_t check_left(const progress *told)
{
    perfile_stream *s;
    const perfile_record *r;
    perfile_stream_summary sum;
    perfile_error err;
    uint32_t samples = 0;
    if (perfile_open_path("live", NULL, &s, &err) != PERFILE_OK)
        fail_msg("cannot be opened: %s", err.message);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        perfile_sample v;
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        assert_int_equal(perfile_sample_decode(r, &v, sizeof v, NULL), PERFILE_OK);
        assert_int_equal(v.time, 5000 + 10 * samples);
        assert_non_null(perfile_record_event(r));
        samples++;
    }
    const perfile_session *session = perfile_stream_session(s);
    assert_int_equal(perfile_session_n_events(session), 2);
    assert_string_equal(perfile_session_event(session, 0)->name, "first");
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_true(samples >= told->samples);
    /* Behind the last round a call of write() may have been cut: a record at most is torn.  A file
     * without a record is told by nothing from one that is whole. */
    unsigned torn = sum.by_damage[PERFILE_DAMAGE_TRUNCATED_RECORD] ||
                    sum.by_damage[PERFILE_DAMAGE_TRUNCATED_HEADER];
    assert_int_equal(sum.damages, perfile_stream_container(s)->unterminated + torn);
    assert_true(torn ? sum.lost < MOST_RECORD : sum.lost == 0);
    n_torn += torn;
    if (told->finished) {
        assert_int_equal(sum.damages, 0);
        assert_int_equal(samples, told->samples);
        assert_string_equal(perfile_session_fact(session, PERFILE_FACT_HOSTNAME), "host");
    }
    perfile_stream_close(s);
    return samples;
}

static void killed_at_random(void **state)
{
    (void)state;
    unsigned nothing = 0, partly = 0, finished = 0;
    progress *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint32_t n_rounds = turn % 8 ? ROUNDS + random_below(2 * ROUNDS) : random_below(5);
        *told = (progress){0};
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            write_and_tell(told, turn % 2 ? 1 : 0, n_rounds);
        /* By the work that is done rather than by the clock, so that slow machines do the same. */
        uint32_t until = random_below(n_rounds + n_rounds / 5 + 1) * WRITTEN_ROUND;
        for (unsigned i = 0; i < 100000; i++) {
            if (__atomic_load_n(&told->samples, __ATOMIC_ACQUIRE) >= until ||
                __atomic_load_n(&told->finished, __ATOMIC_ACQUIRE))
                break;
            usleep(20);
        }
        if (random_below(2))
            usleep(random_below(turn % 5 ? 60 : 3000));
        int status;
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        if (access("live", F_OK) != 0) {
            assert_int_equal(told->samples, 0);
            nothing++;
        } else {
            (void)check_left(told);
            finished += told->finished;
            partly += !told->finished;
        }
        assert_int_equal(system("rm -f live live.*"), 0);
    }
    print_message("killed before it began %u times, on the way %u, at the end %u\n", nothing,
                  partly, finished);
    assert_true(partly > TURNS / 5);
    assert_true(finished > 0);
    munmap(told, sizeof *told);
}

/* Every length that the file has on its way through finish: whatever was written last, it opens. */
static void cut_anywhere_on_the_way_to_finish(void **state)
{
    (void)state;
    perfile_writer_options o = {.size = sizeof o, .progressive = true};
    perfile_writer *w;
    static char copy[1 << 16], after[1 << 16];
    assert_int_equal(perfile_writer_open_path("live", &o, &w, NULL), PERFILE_OK);
    assert_int_equal(written_events(w, NULL), PERFILE_OK);
    assert_int_equal(written_features(w, NULL), PERFILE_OK);
    assert_int_equal(written_records(w, WRITTEN_ROUND, false, NULL), PERFILE_OK);
    FILE *f = fopen("live", "rb");
    assert_non_null(f);
    size_t before = fread(copy, 1, sizeof copy, f);
    fclose(f);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    f = fopen("live", "rb");
    assert_non_null(f);
    size_t whole = fread(after, 1, sizeof after, f);
    fclose(f);
    assert_true(whole > before);
    /* The order in which finish writes: the size, what stands behind the records, the features. */
    memcpy(copy + 48, after + 48, 8);
    for (size_t n = before; n <= whole; n++) {
        const progress told = {.samples = WRITTEN_ROUND};
        memcpy(copy + before, after + before, n - before);
        f = fopen("live", "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(copy, 1, n, f), n);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(check_left(&told), WRITTEN_ROUND);
    }
    assert_int_equal(remove("live"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random),
        cmocka_unit_test(cut_anywhere_on_the_way_to_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
