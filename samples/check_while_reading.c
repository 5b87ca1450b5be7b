/* Counts the samples of a capture and, in the same pass, reports its errors on standard error. */
#include <inttypes.h>
#include <stdio.h>

#include <perfile/perfile.h>

static void on_finding(void *user, const perfile_finding *f)
{
    const char *const *name = user;
    fprintf(stderr, "%s: ", *name);
    if (f->offset != PERFILE_NO_OFFSET)
        fprintf(stderr, "offset %" PRIu64 ": ", f->offset);
    fprintf(stderr, "%s %s: %s\n", perfile_severity_name(f->severity), perfile_rule_of(f->rule)->id,
            f->message);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "-";
    perfile_stream *stream = NULL;
    const perfile_record *r;
    perfile_error err;
    uint64_t samples = 0;
    perfile_check_options check = {.size = sizeof check,
                                   .finding = on_finding,
                                   .user = &path,
                                   .severity = PERFILE_SEVERITY_WARNING,
                                   .most = 3};
    if (argc > 2 || (argc > 1 && argv[1][0] == '-' && argv[1][1])) {
        fprintf(stderr, "usage: check_while_reading [FILE]\n");
        return 2;
    }
    perfile_status st = perfile_open_path(path, NULL, &stream, &err);
    if (st == PERFILE_OK)
        st = perfile_check(stream, &check, &stream, &err);
    while (st == PERFILE_OK && (st = perfile_stream_next(stream, &r, &err)) == PERFILE_OK)
        samples += r->type == PERFILE_RECORD_SAMPLE;
    if (st < 0)
        fprintf(stderr, "%s: %s\n", path, err.message);
    printf("%" PRIu64 " samples\n", samples);
    perfile_stream_close(stream);
    return st < 0;
}
