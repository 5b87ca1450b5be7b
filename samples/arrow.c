/* arrow FILE TABLE [COLUMN…]: prints rows of a table of a capture, columns separated by tabs.  It
 * reads them through the Arrow C stream interface, as query engines do.  Without COLUMN it prints
 * all columns:
 *
 *     arrow perf.data samples time comm function
 *     arrow perf.data tracepoints/event=sched:sched_switch */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>
#include <string.h>

/* Names come from files: characters that could control a terminal are escaped. */
static void print_text(const char *text, size_t n)
{
    char shown[8192];
    perfile_printable((perfile_bytes){(const uint8_t *)text, n}, shown, sizeof shown);
    fputs(shown, stdout);
}

/* Prints a text: the value is its index in the dictionary of the array. */
static void print_word(const struct ArrowArray *a, int64_t i)
{
    const int32_t number = ((const int32_t *)a->buffers[1])[i];
    const int32_t *offsets = a->dictionary->buffers[1];
    const char *bytes = a->dictionary->buffers[2];
    print_text(bytes + offsets[number], (size_t)(offsets[number + 1] - offsets[number]));
}

/* Prints a number; the first letter of the format is its type. */
static void print_number(const char *format, const void *values, int64_t i)
{
    switch (format[0]) {
    case 'b':
        fputs(((const uint8_t *)values)[i / 8] >> i % 8 & 1 ? "true" : "false", stdout);
        break;
    case 'i':
        printf("%" PRId32, ((const int32_t *)values)[i]);
        break;
    case 'L':
        printf("0x%" PRIx64, ((const uint64_t *)values)[i]);
        break;
    case 'g':
        printf("%g", ((const double *)values)[i]);
        break;
    default: /* "l", and times: "tsu:UTC" */
        printf("%" PRId64, ((const int64_t *)values)[i]);
        break;
    }
}

/* Prints item `i` of an array.  Lists and structs have items of their children. */
static void print_item(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i)
{
    const uint8_t *valid = a->buffers[0];
    i += a->offset;
    if (valid && !(valid[i / 8] >> i % 8 & 1)) {
        fputs("null", stdout);
    } else if (a->dictionary) {
        print_word(a, i);
    } else if (strcmp(s->format, "+l") == 0) {
        const int32_t *offsets = a->buffers[1];
        for (int32_t k = offsets[i]; k < offsets[i + 1]; k++) {
            putchar(k == offsets[i] ? '[' : ' ');
            print_item(s->children[0], a->children[0], k);
        }
        fputs(offsets[i] == offsets[i + 1] ? "[]" : "]", stdout);
    } else if (strcmp(s->format, "+s") == 0) {
        for (int64_t k = 0; k < s->n_children; k++) {
            printf("%s%s=", k ? " " : "{", s->children[k]->name);
            print_item(s->children[k], a->children[k], i);
        }
        putchar('}');
    } else {
        print_number(s->format, a->buffers[1], i);
    }
}

/* Prints an array, which is a struct of the columns. */
static void print_rows(const struct ArrowSchema *s, const struct ArrowArray *rows)
{
    for (int64_t i = 0; i < rows->length; i++)
        for (int64_t k = 0; k < s->n_children; k++) {
            print_item(s->children[k], rows->children[k], i);
            putchar(k + 1 < s->n_children ? '\t' : '\n');
        }
}

/* Prints all of a stream; returns 0 or an errno. */
static int print_table(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray rows;
    int failed = stream->get_schema(stream, &schema);
    if (failed)
        return failed;
    for (int64_t k = 0; k < schema.n_children; k++) {
        print_text(schema.children[k]->name, strlen(schema.children[k]->name));
        putchar(k + 1 < schema.n_children ? '\t' : '\n');
    }
    while ((failed = stream->get_next(stream, &rows)) == 0 && rows.release) {
        print_rows(&schema, &rows);
        rows.release(&rows);
    }
    schema.release(&schema);
    return failed;
}

int main(int argc, char **argv)
{
    perfile_source *source = NULL;
    perfile_error err;
    struct ArrowArrayStream stream;
    if (argc < 3 || argv[1][0] == '-') {
        fprintf(stderr, "usage: arrow FILE TABLE [COLUMN...]\n");
        return 2;
    }
    const perfile_symbols_options symbols = {.size = sizeof symbols};
    const perfile_table_options options = {.size = sizeof options,
                                           .columns =
                                               argc > 3 ? (const char *const *)argv + 3 : NULL,
                                           .n_columns = (size_t)argc - 3,
                                           .symbols = &symbols};
    perfile_status st = perfile_source_path(argv[1], NULL, &source, &err);
    if (st == PERFILE_OK)
        st = perfile_table_stream(source, argv[2], &options, &stream, &err);
    if (st != PERFILE_OK) {
        fprintf(stderr, "arrow: %s\n", err.message);
        perfile_source_close(source); /* the stream owns it on success only */
        return 1;
    }
    const int failed = print_table(&stream);
    if (failed)
        fprintf(stderr, "arrow: %s\n", stream.get_last_error(&stream));
    stream.release(&stream);
    return failed != 0;
}
