/* print_fields FILE: prints every field of every record, with offset and value.  It does not know
 * any record type: the library walks the fields and calls a function for each. */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>
#include <string.h>

/* State shared by the three functions below: the nesting depth of structs and lists. */
typedef struct printer {
    int depth;
} printer;

static void print_bytes(const perfile_bytes *bytes)
{
    for (size_t i = 0; i < bytes->len; i++)
        printf("%02x", bytes->ptr[i]);
}

static void print_text(const perfile_bytes *text)
{
    putchar('"');
    for (size_t i = 0; i < text->len; i++)
        putchar(text->ptr[i] >= ' ' && text->ptr[i] < 127 ? text->ptr[i] : '?');
    putchar('"');
}

/* A kind gives the meaning of a number, and so the best way to print it. */
static void print_number(unsigned kind, uint64_t number)
{
    const perfile_vocabulary *words = perfile_kind_words(kind);
    const char *word = words ? perfile_vocabulary_word(words, number) : NULL;
    double factor;
    switch (perfile_kind_base(kind)) {
    case PERFILE_BASE_HEX:
        printf("0x%" PRIx64, number);
        break;
    case PERFILE_BASE_SCALE: /* the bits of a double */
        memcpy(&factor, &number, sizeof factor);
        printf("%g", factor);
        break;
    default:
        printf("%" PRIu64, number);
    }
    if (word)
        printf(" (%s)", word);
}

static void value(void *user, const perfile_field *field, const perfile_value *v)
{
    const printer *p = user;
    printf("%*s%s = ", p->depth * 2, "", field->name);
    switch (field->type) {
    case PERFILE_STORED_TEXT:
        print_text(&v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        print_bytes(&v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        for (size_t i = 0; i < v->u.words.n; i++) {
            fputs(i ? " " : "", stdout);
            print_number(field->kind, perfile_word(&v->u.words, i));
        }
        break;
    case PERFILE_STORED_STRINGS: {
        perfile_strings left = v->u.strings; /* a copy, because removing strings changes it */
        perfile_bytes text;
        while (perfile_strings_next(&left, &text) == PERFILE_OK) {
            print_text(&text);
            putchar(' ');
        }
        break;
    }
    case PERFILE_STORED_S32:
        printf("%" PRId64, (int64_t)v->number);
        break;
    default:
        print_number(field->kind, v->number);
    }
    printf("   # %s; bytes %" PRIu64 " to %" PRIu64 "\n", field->doc, v->offset,
           v->offset + v->width);
}

static void begin(void *user, const perfile_field *field, const perfile_value *v)
{
    printer *p = user;
    printf("%*s%s:\n", p->depth * 2, "", field->name);
    p->depth++;
    (void)v;
}

static void end(void *user, const perfile_field *field)
{
    printer *p = user;
    p->depth--;
    (void)field;
}

int main(int argc, char **argv)
{
    const perfile_visitor visitor = {
        .size = sizeof visitor, .value = value, .begin = begin, .end = end};
    const char *path = argc > 1 ? argv[1] : "-"; /* "-" is standard input */
    perfile_stream *stream = NULL;
    perfile_error err;
    const perfile_record *r;

    if (argc > 2 || (argc > 1 && argv[1][0] == '-' && argv[1][1])) {
        fprintf(stderr, "usage: print_fields [FILE]\n");
        return 2;
    }
    perfile_status st = perfile_open_path(path, NULL, &stream, &err);
    while (st == PERFILE_OK && (st = perfile_stream_next(stream, &r, &err)) == PERFILE_OK) {
        const char *name = perfile_record_type_name(r->type);
        const perfile_event *event = perfile_record_event(r);
        perfile_error why;
        printer p = {1};
        printf("%" PRIu64 ": %s, %zu bytes at %" PRIu64 "%s%s\n", r->sequence,
               name ? name : "(unknown)", perfile_record_size(r), r->offset,
               event ? ", event " : "", event ? event->name : "");

        /* If a record cannot be decoded, continue: the next one may be intact. */
        if (perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &p, &why) < 0)
            printf("  cannot be decoded: %s\n", why.message);

        /* Kernel records except SAMPLE end with a trailer: thread, time and event. */
        if (perfile_record_walk_trailer(r, PERFILE_WALK_ALL, &visitor, &p, &why) < 0)
            printf("  its end cannot be decoded: %s\n", why.message);
    }
    if (st < 0)
        fprintf(stderr, "print_fields: %s: %s\n", path, err.message);
    perfile_stream_close(stream);
    return st < 0;
}
