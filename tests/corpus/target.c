/* Every capture there is for every version of perf that is known: what comes out opens, has all
 * records but those that were counted as dropped, and holds nothing that the checker says the
 * version does not know.
 *
 * With arguments, VERSION IN OUT, it writes one and prints what was lost: for
 * tests/interop/target.sh. */
#include "../testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "core/names.h"
#include "recorded.h"
#include "targeted.h"
#include "transform/command.h"

enum { MOST_BYTES = 24 << 20 };

static void print_loss(void *user, const perfile_target_loss *loss)
{
    (void)user;
    printf("loss %" PRIu32 " %s %" PRIu64 ": %s\n", loss->kind, loss->name, loss->count,
           loss->message);
}

static int write_one(const char *version, const char *in, const char *out)
{
    perfile_error err;
    targeted t = {.loss = print_loss};
    if (targeted_write(in, version, out, &t, &err) != PERFILE_OK) {
        printf("failed: %s\n", err.message);
        return 1;
    }
    printf("samples %" PRIu64 " dropped %" PRIu64 " changed %" PRIu64 " merged %" PRIu64
           " mappings %" PRIu64 " build ids %" PRIu64 "\n",
           t.samples, t.sum.dropped, t.sum.changed, t.sum.merged, t.sum.mappings, t.sum.build_ids);
    return 0;
}

typedef struct count {
    uint64_t by_type[128];
    uint64_t n;
    bool damaged;
} count;

/* Records of a stream, envelopes not counted. */
static count count_of(perfile_stream *s)
{
    const perfile_record *r;
    count c = {.n = 0};
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (!(r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_PAYLOAD_CUT)) &&
            !targeted_is_fact(r->type)) {
            c.by_type[r->type < 127 ? r->type : 127]++;
            c.n++;
        }
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    c.damaged = sum.damages != 0;
    return c;
}

static uint64_t lost_by_kind[PERFILE_N_TARGET_LOSSES];

static void count_loss(void *user, const perfile_target_loss *loss)
{
    (void)user;
    assert_true(loss->kind < PERFILE_N_TARGET_LOSSES && loss->count && loss->message[0] &&
                loss->name);
    lost_by_kind[loss->kind] += loss->count;
}

typedef struct reasons {
    char text[8000];
    size_t len;
} reasons;

static void note_reason(void *user, unsigned verdict, const char *sentence)
{
    reasons *r = user;
    (void)verdict;
    int n = snprintf(r->text + r->len, sizeof r->text - r->len, "%s\n", sentence);
    r->len += n > 0 && (size_t)n < sizeof r->text - r->len ? (size_t)n : 0;
}

/* What the checker says that the version minds. */
static reasons minded(const char *path, const char *version)
{
    perfile_stream *s;
    const perfile_record *r;
    reasons found = {.len = 0};
    unsigned verdict;
    const perfile_check_options options = {.size = sizeof options};
    assert_int_equal(perfile_open_path(path, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, &options, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        ;
    assert_int_equal(perfile_check_version(s, version, &verdict, note_reason, &found, NULL),
                     PERFILE_OK);
    perfile_stream_close(s);
    return found;
}

/* Every line of `after` that is neither in `before` nor in `plain`, which is the same capture as a
 * file and no more: the version minds it because of this stage. */
static void no_new_reasons(const char *path, const char *version, const reasons *before,
                           const reasons *plain, reasons *after)
{
    for (char *line = strtok(after->text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strstr(line, "does not know records") || strstr(line, "skips feature") ||
            strstr(line, "has an attr of") || strstr(line, "does not know all") ||
            strstr(line, "build ids of mappings"))
            fail_msg("%s for %s: %s", path, version, line);
        /* Counts of findings may differ. */
        const char *paren = strchr(line, '(');
        size_t n = paren ? (size_t)(paren - line) : strlen(line);
        line[n] = 0;
        if (!strstr(before->text, line) && !strstr(plain->text, line))
            fail_msg("%s for %s: new: %s", path, version, line);
    }
}

static unsigned n_written, n_clean, n_refused, every = 1;

static bool wants_one_type(const char *version)
{
    const pf_release *release;
    return pf_release_find(version, &release, NULL) == PERFILE_OK &&
           pf_release_needs_one_sample_type(release);
}

static void one_version(const char *path, const char *version, const count *before)
{
    perfile_error err = {0};
    targeted t = {.loss = count_loss};
    perfile_stream *s;
    perfile_status st = targeted_write(path, version, "out.data", &t, &err);
    if (st == PERFILE_E_UNSUPPORTED && wants_one_type(version)) {
        n_refused++; /* a stream whose events are not known when the first is written */
        return;
    }
    if (st != PERFILE_OK)
        fail_msg("%s for %s: %s", path, version, err.message);
    assert_true(t.told == t.sum.losses);
    assert_int_equal(perfile_open_path("out.data", NULL, &s, &err), PERFILE_OK);
    count after = count_of(s);
    perfile_stream_close(s);
    uint64_t dropped = 0;
    for (unsigned type = 0; type < 128; type++) {
        /* Versions without MMAP2 get MMAP. */
        uint64_t moved =
            before->by_type[PERFILE_RECORD_MMAP2] - after.by_type[PERFILE_RECORD_MMAP2];
        uint64_t more = type == PERFILE_RECORD_HEADER_BUILD_ID ? t.sum.build_ids
                        : type == PERFILE_RECORD_MMAP          ? moved
                        : type == PERFILE_RECORD_MMAP2         ? 0 - moved
                                                               : 0;
        if (after.by_type[type] != t.by_type[type])
            fail_msg("%s for %s: records of type %u are not all in the file", path, version, type);
        assert_true(after.by_type[type] <= before->by_type[type] + more);
        dropped += before->by_type[type] + more - after.by_type[type];
    }
    /* Dropped facts are counted, too. */
    if (dropped > t.sum.dropped)
        fail_msg("%s for %s: %" PRIu64 " records are missing, %" PRIu64 " were counted", path,
                 version, dropped, t.sum.dropped);
    if (after.damaged && !before->damaged)
        fail_msg("%s for %s: damaged", path, version);
    n_written++;
    reasons old = minded(path, version), plain = minded("plain.data", version);
    reasons new = minded("out.data", version);
    if (!before->damaged)
        no_new_reasons(path, version, &old, &plain, &new);
    n_clean += new.len == 0;
}

static void one_capture(const char *path, perfile_stream *s)
{
    struct stat st;
    if (stat(path, &st) != 0 || st.st_size > MOST_BYTES ||
        perfile_stream_container(s)->family != PERFILE_FAMILY_PERF)
        return;
    const count before = count_of(s);
    targeted t = {.loss = count_loss};
    perfile_error err;
    if (targeted_write(path, "7.3", "plain.data", &t, &err) != PERFILE_OK)
        fail_msg("%s: %s", path, err.message);
    /* Each capture meets one version in $PERFILE_EVERY, others than its neighbour. */
    for (size_t i = 0; pf_target_version_at(i); i++)
        if ((i + recorded_n) % every == 0)
            one_version(path, pf_target_version_at(i), &before);
}

static void captures(void **state)
{
    (void)state;
    if (getenv("PERFILE_EVERY"))
        every = (unsigned)strtoul(getenv("PERFILE_EVERY"), NULL, 10);
    assert_true(every > 0);
    unsigned n = recorded_each(one_capture);
    print_message("%u captures, %u written, %u of them without any complaint, %u refused\n", n,
                  n_written, n_clean, n_refused);
    assert_true(n_refused < n_written / 20);
    assert_true(n >= 18 && n_written >= 18 * 8 / every && n_clean > n_written / 2);
    assert_true(lost_by_kind[PERFILE_TARGET_LOSS_RECORDS] &&
                lost_by_kind[PERFILE_TARGET_LOSS_FEATURE]);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return write_one(argv[1], argv[2], argv[3]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
