/* Any bytes as a capture: every table of it as an Arrow stream.  Schemas and arrays obey the rules
 * of the interface (tests/arrow_rules.h) for any selection of columns and any order of releases.  A
 * column is the same alone as with others, and several threads make the same rows. */
#include "../tests/arrow_rules.h"
#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/owned.h"

enum {
    MOST_ROWS = 1 << 14 /* maximum of rows that are compared */
};

static const char *const tables[] = {"captures",
                                     "events",
                                     "samples",
                                     "stacks",
                                     "frames",
                                     "modules",
                                     "mappings",
                                     "threads",
                                     "comms",
                                     "switches",
                                     "slices",
                                     "lost",
                                     "aux",
                                     "counters",
                                     "cpus",
                                     "damages",
                                     "tracepoints/event=sched:sched_switch",
                                     "tracepoints/event=syscalls:sys_enter_openat",
                                     "tracepoints/event=raw_syscalls:sys_enter"};

enum { N_TABLES = sizeof tables / sizeof tables[0] };

/* Returns a sum of the values of an array.  It is equal for equal values, whatever indices the
 * dictionary gives to their texts. */
static uint64_t sum_of(const struct ArrowSchema *s, const struct ArrowArray *a)
{
    const size_t width = arrow_width(s->format);
    uint64_t sum = (uint64_t)a->length;
    for (int64_t i = 0; i < a->length && i < MOST_ROWS; i++) {
        uint64_t value = 0;
        if (arrow_is_null(a, i)) {
            value = 0x9e37;
        } else if (a->dictionary) {
            size_t n;
            const char *text = arrow_text(a, i, &n);
            for (size_t k = 0; k < n; k++)
                value = value * 257 + (uint8_t)text[k] + 1;
        } else if (width) {
            value = (uint64_t)arrow_number(s, a, i);
        } else if (s->format[0] == 'b') {
            value = ((const uint8_t *)a->buffers[1])[i / 8] >> i % 8 & 1;
        } else if (strcmp(s->format, "+l") == 0) {
            value = (uint64_t)((const int32_t *)a->buffers[1])[i + 1];
        }
        sum = sum * 1099511628211U + value;
    }
    for (int64_t i = 0; i < a->n_children; i++)
        sum = sum * 31 + sum_of(s->children[i], a->children[i]);
    return sum;
}

/* The result of reading a stream. */
typedef struct outcome {
    perfile_status opened;
    int ended; /* result of the last get_next() */
    uint64_t rows, sum;
} outcome;

/* Checks an error: it is a limit, or the bytes are not a capture, and it has a message. */
static void check_refusal(const perfile_error *err)
{
    ENSURE(err->status < 0 && err->status != PERFILE_E_NOMEM && err->where && err->message[0]);
}

/* Moves a child out, and releases it after its parent. */
static void release_apart(struct ArrowArray *a, uint64_t chosen)
{
    struct ArrowArray child = {0};
    if (a->n_children) {
        struct ArrowArray *from = a->children[chosen % (uint64_t)a->n_children];
        child = *from;
        from->release = NULL;
    }
    a->release(a);
    ENSURE(!a->release);
    if (child.release)
        child.release(&child);
}

static outcome read_table(perfile_bytes in, const char *table, const perfile_table_options *o,
                          uint64_t chosen)
{
    outcome x = {0};
    perfile_source *source;
    perfile_error err = {0};
    struct ArrowArrayStream s;
    struct ArrowSchema schema;
    struct ArrowArray a, kept = {0};
    ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    x.opened = closed_unless_ok(source, perfile_table_stream(source, table, o, &s, &err));
    if (x.opened != PERFILE_OK) {
        check_refusal(&err);
        return x;
    }
    ENSURE(s.get_schema(&s, &schema) == 0);
    ENSURE(!arrow_schema_broken(&schema));
    while ((x.ended = s.get_next(&s, &a)) == 0 && a.release) {
        ENSURE(!arrow_array_broken(&schema, &a) && a.length > 0);
        x.rows += (uint64_t)a.length;
        x.sum = x.sum * 31 + sum_of(&schema, &a);
        if (kept.release)
            release_apart(&kept, chosen + x.rows);
        kept = a;
    }
    if (x.ended) {
        ENSURE(s.get_last_error(&s)[0]);
        ENSURE(s.get_next(&s, &a) == x.ended);
    }
    s.release(&s);
    if (kept.release) {
        ENSURE(!arrow_array_broken(&schema, &kept));
        release_apart(&kept, chosen);
    }
    schema.release(&schema);
    return x;
}

/* Reads one column alone, with threads: its sum is the same as together with others. */
static void check_column(perfile_bytes in, const char *table, const perfile_table_options *all,
                         const outcome *whole, uint64_t chosen)
{
    perfile_table_options o = *all;
    perfile_source *source;
    struct ArrowArrayStream s;
    struct ArrowSchema schema;
    ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    if (closed_unless_ok(source, perfile_table_stream(source, table, all, &s, NULL)) != PERFILE_OK)
        return;
    ENSURE(s.get_schema(&s, &schema) == 0);
    s.release(&s);
    const char *names[2] = {schema.children[chosen % (uint64_t)schema.n_children]->name,
                            schema.children[(chosen >> 3) % (uint64_t)schema.n_children]->name};
    o.columns = names;
    o.n_columns = names[0] == names[1] ? 1 : 2;
    const outcome one = read_table(in, table, &o, chosen);
    ENSURE(one.opened == whole->opened && one.rows == whole->rows && one.ended == whole->ended);
    schema.release(&schema);
}

/* Replays try all tables, the fuzzer tries one of them with each input. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { TRIES_ALL = false };
#else
enum { TRIES_ALL = true };
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const uint64_t chosen = choose(&c, 3);
    perfile_limits limits = small_limits;
    limits.profile_bytes = chosen & 1 ? 4 << 20 : 20000;
    perfile_open_options how = {.size = sizeof how,
                                .limits = &limits,
                                .on_damage =
                                    PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 1 & 3) % 3};
    perfile_table_options o = {
        .size = sizeof o, .how = &how, .flags = chosen & 8 ? PERFILE_TABLE_WIDE : 0};
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    const perfile_bytes in = {block, c.left};
    const size_t one = (chosen >> 4) % N_TABLES;
    for (size_t i = 0; i < N_TABLES; i++) {
        if (i != one && !TRIES_ALL)
            continue;
        const outcome whole = read_table(in, tables[i], &o, chosen >> 8);
        if (whole.opened != PERFILE_OK || limits.profile_bytes < 1 << 20)
            continue;
        if (i == one)
            check_column(in, tables[i], &o, &whole, chosen >> 8);
        if (TRIES_ALL ? i == (chosen >> 5) % N_TABLES : (chosen >> 16 & 7) == 0) {
            o.threads = 3;
            const outcome again = read_table(in, tables[i], &o, chosen >> 8);
            o.threads = 0;
            ENSURE(again.ended || (again.rows == whole.rows && again.sum == whole.sum));
        }
    }
    free(block);
    return 0;
}
