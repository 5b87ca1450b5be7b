/* times FILE ...: prints when each capture was recorded: its first and last time, its duration, and
 * the wall clock time if the capture has enough facts for it. */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>
#include <time.h>

static void print_wall(const char *what, const perfile_session *session, uint64_t when)
{
    uint64_t wall;
    char text[32];
    if (!perfile_session_wall_time(session, when, &wall))
        return;
    time_t seconds = (time_t)(wall / 1000000000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc))
        printf("  %s %s.%09" PRIu64 " UTC\n", what, text, wall % 1000000000);
}

static perfile_status print_times(const char *path, perfile_stream *stream, perfile_error *err)
{
    const perfile_session *session = perfile_stream_session(stream);
    const perfile_record *r;
    perfile_status st;
    uint64_t first = PERFILE_NO_TIME, last = 0;

    while ((st = perfile_stream_next(stream, &r, err)) == PERFILE_OK) {
        uint64_t when = perfile_record_time(r);
        if (when == PERFILE_NO_TIME || when == 0) /* 0: it existed before the recording */
            continue;
        if (when < first)
            first = when;
        if (when > last)
            last = when;
    }
    if (first <= last) {
        printf("%s: %" PRIu64 " to %" PRIu64 " ns, %" PRIu64 " ns in all\n", path, first, last,
               last - first);
        print_wall("from", session, first);
        print_wall("to  ", session, last);
    } else {
        printf("%s: no times\n", path);
    }
    return st;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc < 2 || (argv[1][0] == '-' && argv[1][1])) {
        fprintf(stderr, "usage: times FILE ...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        perfile_stream *stream = NULL;
        perfile_error err;
        perfile_status st = perfile_open_path(argv[i], NULL, &stream, &err);
        if (st == PERFILE_OK)
            st = print_times(argv[i], stream, &err);
        if (st < 0) {
            fprintf(stderr, "times: %s: %s\n", argv[i], err.message);
            failed = 1;
        }
        perfile_stream_close(stream);
    }
    return failed;
}
