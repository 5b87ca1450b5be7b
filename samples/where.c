/* where EXPRESSION FILE: prints the records for which a condition is true, as in
 *
 *     where 'type == SAMPLE && comm ~ "gcc*" && ip in 0x400000..0x500000' perf.data
 *
 * The language is described in format/expressions.md. */
#include <perfile/perfile.h>
#include <stdio.h>
#include <string.h>

/* No field of a sample has the name of its thread.  A model answers that; it is fed with the whole
 * capture first. */
static uint32_t knows(void *user, const char *name, uint32_t *handle)
{
    (void)user;
    *handle = 0; /* there is only one name */
    return strcmp(name, "comm") == 0 ? PERFILE_EXPR_TEXT : 0;
}

static perfile_status answer(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err)
{
    uint32_t pid, tid;
    const char *comm = NULL;
    (void)handle, (void)err;
    if (perfile_record_task(r, &pid, &tid))
        comm = perfile_model_comm(user, pid, tid, perfile_record_time(r));
    if (!comm)
        return PERFILE_END;
    value->text = (perfile_bytes){(const uint8_t *)comm, strlen(comm)};
    return PERFILE_OK;
}

static perfile_status learn(const char *path, perfile_stream **stream, perfile_model **model,
                            perfile_error *err)
{
    const perfile_record *r;
    perfile_status st = perfile_open_path(path, NULL, stream, err);
    if (st == PERFILE_OK)
        st = perfile_model_open(perfile_stream_session(*stream), model, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(*stream, &r, err)) == PERFILE_OK)
        st = perfile_model_feed(*model, r, err);
    return st < 0 ? st : PERFILE_OK;
}

static perfile_status print(perfile_stream *stream, perfile_expr *expr, perfile_error *err)
{
    const perfile_record *r;
    bool yes;
    perfile_status st;
    while ((st = perfile_stream_next(stream, &r, err)) == PERFILE_OK) {
        if ((st = perfile_expr_test(expr, r, &yes, err)) != PERFILE_OK)
            return st;
        const char *type = perfile_record_type_name(r->type);
        if (yes)
            printf("%8llu %s\n", (unsigned long long)r->offset, type ? type : "(unknown)");
    }
    return st;
}

int main(int argc, char **argv)
{
    perfile_stream *first = NULL, *second = NULL;
    perfile_model *model = NULL;
    perfile_expr *expr = NULL;
    perfile_error err;
    if (argc != 3 || argv[1][0] == '-' || (argv[2][0] == '-' && argv[2][1])) {
        fprintf(stderr, "usage: where EXPRESSION FILE\n");
        return 2;
    }
    perfile_status st = learn(argv[2], &first, &model, &err);
    if (st == PERFILE_OK) {
        perfile_expr_provider provider = {sizeof provider, model, knows, answer};
        perfile_expr_options options = {.size = sizeof options, .provider = &provider};
        st = perfile_expr_open(argv[1], &options, &expr, &err);
    }
    if (st == PERFILE_OK)
        st = perfile_open_path(argv[2], NULL, &second, &err);
    if (st == PERFILE_OK)
        st = print(second, expr, &err);
    if (st < 0)
        fprintf(stderr, "where: %s\n", err.message);
    perfile_expr_close(expr);
    perfile_stream_close(second);
    perfile_model_close(model);
    perfile_stream_close(first);
    return st < 0;
}
