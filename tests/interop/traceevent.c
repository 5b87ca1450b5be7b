/* Payloads of tracepoints as libtraceevent reads them beside what libperfile says: traceevent.sh.
 *
 * Of each capture the descriptions go to libtraceevent, and each sample of a tracepoint is read by
 * both: fields by position (name, place, flags, number, text, bytes, items), and the text of its
 * print fmt.
 *
 *     traceevent CAPTURE...
 *
 * Prints each difference once for each event, with the reason if it is one that stays, how often
 * there are such, and in the last line how many captures, values, items of arrays, equal texts and
 * big-endian values were compared.  Exit status 1: some may not be. */
#include "trace/command.h"

#include <perfile/perfile.h>
#include <traceevent/event-parse.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts that stay different: what their print fmt has, and why. */
static const struct known {
    const char *fmt, *reason;
} known[] = {
    {"& (0x", "libtraceevent takes `a & (b | c)` for `(a & b) | c`"},
    {"{I_", "libtraceevent takes a name without a number for 0, and so prints it for all"},
    {"{ I_", "libtraceevent takes a name without a number for 0, and so prints it for all"},
};

/* A difference that was printed, so that it is not printed for each sample. */
enum { SEEN = 256 };
static struct seen {
    char about[160];
    unsigned long n;
} seen[SEEN];
static size_t n_seen;

static struct counts {
    unsigned long captures, values, items, texts, swapped, unread, failed;
} counts;

/* A capture that is read by both. */
typedef struct both {
    const char *path;
    perfile_stream *stream;
    const perfile_session *session;
    perfile_tracepoints *tracepoints;
    struct tep_handle *tep;
    bool big_endian;
} both;

/* Prints a difference, the first time that an event has it.  `reason`: why it stays; NULL: it may
 * not be. */
static void differs(const both *b, const perfile_tracepoint *t, const char *what,
                    const char *reason, const char *mine, const char *other)
{
    char about[160];
    size_t i = 0;
    snprintf(about, sizeof about, "%.50s:%.50s: %.50s", t->system, t->name, what);
    counts.failed += reason == NULL;
    while (i < n_seen && strcmp(seen[i].about, about) != 0)
        i++;
    if (i == n_seen && n_seen < SEEN) {
        printf("%s: %s%s%s\n    in %s\n    perfile       \"%s\"\n    libtraceevent \"%s\"\n",
               reason ? "known" : "differs", about, reason ? ": " : "", reason ? reason : "",
               b->path, mine, other);
        strcpy(seen[n_seen++].about, about);
    }
    if (i < n_seen)
        seen[i].n++;
}

static void same_number(const both *b, const perfile_tracepoint *t, const char *field,
                        const char *what, uint64_t mine, uint64_t other)
{
    char name[256], x[32], y[32];
    if (mine == other)
        return;
    snprintf(name, sizeof name, "%s %s", field, what);
    snprintf(x, sizeof x, "%" PRIu64, mine);
    snprintf(y, sizeof y, "%" PRIu64, other);
    differs(b, t, name, NULL, x, y);
}

/* Bytes of a capture with a zero behind them. */
static char *copied(perfile_bytes text)
{
    char *p = malloc(text.len + 1);
    if (!p)
        exit(1);
    if (text.len)
        memcpy(p, text.ptr, text.len);
    p[text.len] = '\0';
    return p;
}

static void learn_system(both *b, const perfile_tracing_system *s)
{
    perfile_tracing_file file;
    perfile_list files = s->formats;
    char *system = copied(s->name);
    while (perfile_tracing_file_next(&files, &file, sizeof file) == PERFILE_OK)
        (void)tep_parse_event(b->tep, (const char *)file.text.ptr, file.text.len, system);
    free(system);
}

/* Hands the descriptions of the capture to libtraceevent, once they are there. */
static bool learn(both *b)
{
    const perfile_feature *f = perfile_session_feature(b->session, PERFILE_FEATURE_TRACING_DATA);
    perfile_tracing_formats all;
    perfile_tracing_system system;
    if (b->tep)
        return true;
    perfile_list list = {.bytes = f ? f->payload : (perfile_bytes){NULL, 0}, .n = 1};
    if (!f || perfile_tracing_formats_next(&list, &all, sizeof all) != PERFILE_OK ||
        !(b->tep = tep_alloc()))
        return false;
    b->big_endian = all.big_endian;
    tep_set_file_bigendian(b->tep, all.big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_local_bigendian(b->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_long_size(b->tep, all.long_size);
    tep_set_page_size(b->tep, (int)all.page_size);
    char *printk = copied(all.printk_formats);
    (void)tep_parse_printk_formats(b->tep, printk);
    free(printk);
    while (perfile_tracing_system_next(&all.systems, &system, sizeof system) == PERFILE_OK)
        learn_system(b, &system);
    counts.captures++;
    return true;
}

/* A number, of which libtraceevent has the bytes without a sign. */
static void compare_number(const both *b, const perfile_tracepoint *t,
                           const perfile_tracepoint_field *mine, struct tep_format_field *other,
                           const perfile_value *v, void *payload)
{
    const bool is_signed =
        mine->field.type == PERFILE_STORED_S32 || mine->field.type == PERFILE_STORED_S64;
    unsigned long long n = 0;
    if (tep_read_number_field(other, payload, &n) != 0) {
        counts.unread++;
        return;
    }
    if (other->size < 8 && other->flags & TEP_FIELD_IS_SIGNED)
        n = (unsigned long long)((long long)(n << (64 - 8 * other->size)) >>
                                 (64 - 8 * other->size));
    same_number(b, t, other->name, "value", v->number, n);
    same_number(b, t, other->name, "sign", is_signed,
                (other->flags & TEP_FIELD_IS_SIGNED && !(other->flags & TEP_FIELD_IS_POINTER)) !=
                    0);
}

/* Text, bytes or items, which libtraceevent finds by the name. */
static void compare_bytes(const both *b, const perfile_tracepoint *t,
                          const perfile_tracepoint_field *mine, struct tep_event *event,
                          struct tep_record *record, const perfile_value *v)
{
    int len = 0;
    const uint8_t *raw = tep_get_field_raw(NULL, event, mine->field.name, record, &len, 0);
    size_t n = len > 0 ? (size_t)len : 0;
    if (!raw || raw + n > (const uint8_t *)record->data + record->size) {
        differs(b, t, mine->field.name, NULL, "there", "outside of the payload");
        return;
    }
    if (mine->field.type == PERFILE_STORED_WORDS) {
        const perfile_words *w = &v->u.words;
        same_number(b, t, mine->field.name, "items", w->n, n / w->width);
        for (size_t i = 0; i < w->n && i < n / w->width; i++, counts.items++)
            same_number(b, t, mine->field.name, "item", perfile_word(w, i),
                        tep_read_number(b->tep, raw + i * w->width, w->width));
        return;
    }
    const uint8_t *nul = mine->field.type == PERFILE_STORED_TEXT && n ? memchr(raw, 0, n) : NULL;
    n = nul ? (size_t)(nul - raw) : n;
    same_number(b, t, mine->field.name, "bytes", v->u.bytes.len, n);
    if (v->u.bytes.len == n && n && memcmp(v->u.bytes.ptr, raw, n) != 0)
        differs(b, t, mine->field.name, NULL, "other bytes", "");
}

static void compare_field(const both *b, const perfile_tracepoint *t, uint32_t i,
                          struct tep_event *event, struct tep_format_field *other,
                          struct tep_record *record)
{
    const perfile_tracepoint_field *mine = &t->fields[i];
    const perfile_bytes payload = {record->data, (size_t)record->size};
    perfile_value v;
    if (strcmp(mine->field.name, other->name) != 0)
        differs(b, t, "name", NULL, mine->field.name, other->name);
    same_number(b, t, other->name, "offset", mine->offset, (uint64_t)other->offset);
    same_number(b, t, other->name, "size", mine->size, (uint64_t)other->size);
    same_number(b, t, other->name, "is dynamic", (mine->flags & PERFILE_TRACEPOINT_DYNAMIC) != 0,
                (other->flags & TEP_FIELD_IS_DYNAMIC) != 0);
    same_number(b, t, other->name, "is array", (mine->flags & PERFILE_TRACEPOINT_ARRAY) != 0,
                (other->flags & TEP_FIELD_IS_ARRAY) != 0);
    if (perfile_tracepoint_value(t, payload, i, &v) != PERFILE_OK) {
        counts.unread++;
        return;
    }
    counts.values++;
    counts.swapped += b->big_endian;
    if (mine->flags & PERFILE_TRACEPOINT_ARRAY || mine->field.type == PERFILE_STORED_BLOB)
        compare_bytes(b, t, mine, event, record, &v);
    else
        compare_number(b, t, mine, other, &v, record->data);
}

/* Why two texts may differ; NULL: they may not. */
static const char *reason_of(const perfile_tracepoint *t, const char *mine, const char *other)
{
    static const char failed[] = "[FAILED TO PARSE]";
    if (strncmp(other, failed, strlen(failed)) == 0 && strncmp(mine, failed, strlen(failed)) != 0)
        return "libtraceevent does not know a type or function that the print fmt uses";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(t->print_fmt, known[i].fmt))
            return known[i].reason;
    return NULL;
}

/* The text: both without names of functions. */
static void compare_text(const both *b, const perfile_tracepoint *t, struct tep_record *record)
{
    static char mine[8200];
    struct trace_seq seq;
    const perfile_bytes payload = {record->data, (size_t)record->size};
    const size_t n = perfile_tracepoint_print(t, payload, NULL, NULL, mine, sizeof mine);
    trace_seq_init(&seq);
    tep_print_event(b->tep, &seq, record, "%s", TEP_PRINT_INFO);
    trace_seq_terminate(&seq);
    if (n != seq.len || memcmp(mine, seq.buffer, n) != 0)
        differs(b, t, "text", reason_of(t, mine, seq.buffer), mine, seq.buffer);
    else
        counts.texts++;
    trace_seq_destroy(&seq);
}

static void compare(both *b, const perfile_tracepoint *t, perfile_bytes payload)
{
    struct tep_event *event = tep_find_event(b->tep, (int)t->id);
    if (!event) {
        differs(b, t, "event", NULL, "there", "not known");
        return;
    }
    /* Where a field is outside, libtraceevent would read there. */
    struct tep_record record = {.data = copied(payload), .size = (int)payload.len};
    uint32_t i = 0;
    for (struct tep_format_field *f = event->format.common_fields; f && i < t->n_fields;
         f = f->next)
        compare_field(b, t, i++, event, f, &record);
    for (struct tep_format_field *f = event->format.fields; f && i < t->n_fields; f = f->next)
        compare_field(b, t, i++, event, f, &record);
    same_number(b, t, "fields", "", t->n_fields,
                (uint64_t)event->format.nr_common + (uint64_t)event->format.nr_fields);
    compare_text(b, t, &record);
    free(record.data);
}

static void read_capture(const char *path)
{
    both b = {.path = path};
    perfile_error err;
    const perfile_record *r;
    const perfile_tracepoint *t;
    perfile_bytes payload;
    if (perfile_open_path(path, NULL, &b.stream, &err) != PERFILE_OK)
        return;
    b.session = perfile_stream_session(b.stream);
    if (perfile_tracepoints_open(b.session, &b.tracepoints, &err) != PERFILE_OK)
        exit(1);
    while (perfile_stream_next(b.stream, &r, &err) == PERFILE_OK)
        if (perfile_tracepoint_of(b.tracepoints, r, &t, &payload, &err) == PERFILE_OK &&
            learn(&b) && pf_tracepoint_find(b.tracepoints, t->id, &t, &err) == PERFILE_OK)
            compare(&b, t, payload);
    perfile_tracepoints_close(b.tracepoints);
    perfile_stream_close(b.stream);
    tep_free(b.tep);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_capture(argv[i]);
    for (size_t i = 0; i < n_seen; i++)
        printf("%s: %lu times\n", seen[i].about, seen[i].n);
    printf("%lu captures, %lu values, %lu items, %lu equal texts, %lu big-endian, %lu not in the "
           "payload\n",
           counts.captures, counts.values, counts.items, counts.texts, counts.swapped,
           counts.unread);
    return counts.failed != 0;
}
