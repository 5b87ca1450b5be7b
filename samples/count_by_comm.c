/* count_by_comm FILE: prints how many samples each command has. */
#include <perfile/perfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1000000 };

static struct { /* for each sample its thread and time */
    uint32_t pid, tid;
    uint64_t time;
} seen[MAX];
static const char *names[MAX]; /* their command names */

static int compare(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "-"; /* "-" is standard input */
    perfile_stream *stream = NULL;
    perfile_model *model = NULL;
    perfile_error err;
    const perfile_record *r;
    size_t n = 0;

    if (argc > 2 || (argc > 1 && argv[1][0] == '-' && argv[1][1])) {
        fprintf(stderr, "usage: count_by_comm [FILE]\n");
        return 2;
    }

    /* The form of the capture is detected. */
    perfile_status st = perfile_open_path(path, NULL, &stream, &err);
    if (st == PERFILE_OK)
        st = perfile_model_open(perfile_stream_session(stream), &model, &err);

    /* The model collects names from COMM and FORK records.  These may come after samples that they
     * concern, so it is queried after all records have been read. */
    while (st == PERFILE_OK && (st = perfile_stream_next(stream, &r, &err)) == PERFILE_OK) {
        if (r->type == PERFILE_RECORD_SAMPLE && n < MAX &&
            perfile_record_task(r, &seen[n].pid, &seen[n].tid))
            seen[n++].time = perfile_record_time(r);
        st = perfile_model_feed(model, r, &err);
    }
    if (st < 0) /* END is positive */
        fprintf(stderr, "count_by_comm: %s: %s\n", path, err.message);

    for (size_t i = 0; i < n; i++) {
        const char *name = perfile_model_comm(model, seen[i].pid, seen[i].tid, seen[i].time);
        names[i] = name ? name : "(unknown)";
    }
    qsort(names, n, sizeof *names, compare);
    for (size_t i = 0, count = 1; i < n; i++, count++)
        if (i + 1 == n || strcmp(names[i + 1], names[i]) != 0) {
            printf("%8zu %s\n", count, names[i]);
            count = 0;
        }
    perfile_model_close(model);
    perfile_stream_close(stream);
    return st < 0;
}
