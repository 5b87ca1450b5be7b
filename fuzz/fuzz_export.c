/* Any bytes as one or two captures, exported in every form: whatever names and call chains say,
 * folded lines keep their grammar and add up to the samples, a flame graph has one script element
 * of data which is JSON, and the same twice gives the same. */
#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "wellformed.h"

/* What is exported, and how. */
typedef struct plan {
    perfile_bytes in[2]; /* captures; the second may be empty */
    perfile_open_options options;
    perfile_export_options exporting;
} plan;

/* Puts one capture into the emitter, which is opened for the first one.  False if it is none. */
static bool put_capture(const plan *p, perfile_bytes in, const char *form, perfile_sink *sink,
                        perfile_emitter **e, perfile_status *st)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    perfile_error err = {0};
    perfile_filter_options all = {.size = sizeof all};
    perfile_filter_open_options reading = {
        .size = sizeof reading, .how = &p->options, .model = true, .translate = true};
    ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    if (perfile_filter_open(source, &all, &reading, &s, &model, &err) != PERFILE_OK)
        return false;
    perfile_emit_options how = {.size = sizeof how, .model = model, .exporting = &p->exporting};
    *st = *e ? perfile_emitter_continue(*e, s, model, &err)
             : perfile_emitter_open(form, s, sink, &how, e, &err);
    while (*st == PERFILE_OK && (*st = perfile_stream_next_run(s, &first, &n, &err)) == PERFILE_OK)
        *st = perfile_emitter_put_run(*e, first, n, &err);
    if (*st == PERFILE_END)
        *st = perfile_emitter_continue(*e, NULL, NULL, &err);
    ENSURE(*st == PERFILE_OK || (*st == PERFILE_E_LIMIT && err.where && err.message[0]));
    perfile_stream_close(s);
    return true;
}

/* Exports in one form.  False if nothing is a capture, or a limit was exceeded. */
static bool export_form(const plan *p, const char *form, perfile_sink **sink,
                        perfile_export_summary *sum)
{
    perfile_emitter *e = NULL;
    perfile_status st = PERFILE_OK;
    perfile_error err = {0};
    bool any = false;
    ENSURE(perfile_sink_memory("export", sink, NULL) == PERFILE_OK);
    for (size_t i = 0; i < 2 && st == PERFILE_OK; i++)
        any |= p->in[i].len && put_capture(p, p->in[i], form, *sink, &e, &st);
    if (any && st == PERFILE_OK)
        st = perfile_emitter_finish(e, &err);
    ENSURE(st == PERFILE_OK || st == PERFILE_E_LIMIT);
    if (any)
        perfile_emitter_get_summary(e, sum, sizeof *sum);
    perfile_emitter_close(e);
    return any && st == PERFILE_OK;
}

/* Reads the number that ends at `stop`; returns where the space in front of it is. */
static const uint8_t *read_back(const uint8_t *p, const uint8_t *stop, uint64_t *value)
{
    const uint8_t *at = stop;
    uint64_t unit = 1;
    *value = 0;
    for (; at > p && at[-1] >= '0' && at[-1] <= '9'; unit *= 10)
        *value += unit * (uint64_t)(*--at - '0');
    ENSURE(at < stop && at > p && at[-1] == ' ');
    return at - 1;
}

/* Checks one line, up to its end: frames without control characters, none empty, and a number, of
 * compared captures two.  Returns where the next line begins. */
static const uint8_t *check_line(const uint8_t *p, const uint8_t *end, bool compares, uint64_t *sum)
{
    const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));
    uint64_t value, before = 0;
    ENSURE(stop && stop > p);
    const uint8_t *last = read_back(p, stop, &value);
    if (compares)
        last = read_back(p, last, &before);
    ENSURE(value || before);
    *sum += value + before;
    for (size_t length = 0, n; p <= last; p += n) {
        if (p == last || *p == ';') {
            ENSURE(length > 0);
            length = 0;
            n = 1;
            continue;
        }
        uint32_t code;
        n = perfile_utf8_char(p, (size_t)(last - p), &code);
        ENSURE(n > 0 && perfile_is_printable(code));
        length += n;
    }
    return stop + 1;
}

static void check_folded(perfile_bytes text, const plan *p, const perfile_export_summary *sum)
{
    uint64_t weight = 0;
    const uint8_t *at = text.ptr, *end = at ? at + text.len : NULL;
    while (at < end)
        at = check_line(at, end, p->exporting.flags & PERFILE_EXPORT_COMPARE, &weight);
    if (!(p->exporting.flags & PERFILE_EXPORT_PERIODS)) {
        /* Without a key, a sample without address has no line. */
        bool keys = !(p->exporting.flags & PERFILE_EXPORT_NO_LABELS);
        ENSURE(weight == sum->samples + sum->before_samples - (keys ? 0 : sum->without_stack));
    }
}

/* Where `text` occurs first from `from` on, up to `end`. */
static const uint8_t *find(const uint8_t *from, const uint8_t *end, const char *text)
{
    const size_t n = strlen(text);
    for (; (size_t)(end - from) >= n; from++)
        if (memcmp(from, text, n) == 0)
            return from;
    return NULL;
}

/* One JSON value, which may have lines. */
static void check_json(perfile_bytes text)
{
    /* On one line, for the checker of JSON lines. */
    uint64_t lines;
    uint8_t *copy = malloc(text.len + 1);
    ENSURE(copy);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '\n') /* they stand between values only */
            copy[n++] = text.ptr[i];
    copy[n++] = '\n';
    ENSURE(well_json_lines((perfile_bytes){copy, n}, &lines) && lines == 1);
    free(copy);
}

/* The data of the page are one JSON value, which nothing in them ends early. */
static void check_page(perfile_bytes text)
{
    static const char begin[] = "<script id='data' type='application/json'>", end[] = "</script>";
    const uint8_t *stop = text.ptr + text.len, *from = find(text.ptr, stop, begin);
    ENSURE(from);
    from += sizeof begin - 1;
    const uint8_t *to = find(from, stop, end);
    ENSURE(to);
    check_json((perfile_bytes){from, (size_t)(to - from)});
}

static void check_form(const plan *of, const char *form, bool twice)
{
    plan one = *of, *p = &one;
    if (strcmp(form, "folded") != 0 && strcmp(form, "flamegraph") != 0)
        p->exporting.flags &= ~(uint32_t)PERFILE_EXPORT_COMPARE; /* they cannot */
    perfile_sink *sink, *again;
    perfile_export_summary sum = {0}, same = {0};
    bool done = export_form(p, form, &sink, &sum);
    perfile_bytes text = perfile_sink_bytes(sink);
    if (done && strcmp(form, "folded") == 0)
        check_folded(text, p, &sum);
    if (done && strcmp(form, "flamegraph") == 0)
        check_page(text);
    if (done && (strcmp(form, "speedscope") == 0 || strcmp(form, "firefox") == 0 ||
                 strcmp(form, "chrome") == 0))
        check_json(text);
    ENSURE(sum.bytes <= p->options.limits->profile_bytes);
    if (twice) {
        ENSURE(export_form(p, form, &again, &same) == done);
        perfile_bytes other = perfile_sink_bytes(again);
        ENSURE(!done || (other.len == text.len && memcmp(&sum, &same, sizeof sum) == 0 &&
                         (!text.len || memcmp(other.ptr, text.ptr, text.len) == 0)));
        perfile_sink_close(again);
    }
    perfile_sink_close(sink);
}

/* True if form `i` of `n` is tried: the fuzzer chooses one, which makes it several times as fast;
 * replays try all. */
static bool is_chosen(uint64_t chosen, size_t i, size_t n)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return (chosen >> 11) % n == i;
#else
    (void)chosen;
    (void)n;
    return i < n;
#endif
}

/* True if the same is exported once more; replays always do. */
static bool is_repeated(uint64_t chosen)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return (chosen >> 14 & 3) == 0;
#else
    (void)chosen;
    return true;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t keys[4][4] = {{PERFILE_PER_COMM},
                                       {PERFILE_PER_EVENT, PERFILE_PER_COMM, PERFILE_PER_TID},
                                       {PERFILE_PER_CPU, PERFILE_PER_PID},
                                       {0}};
    choices c = {data, size};
    uint64_t chosen = choose(&c, 2);
    perfile_limits limits = small_limits;
    limits.profile_bytes = chosen & 1 ? 4 << 20 : 20000;
    plan p = {.options = {.size = sizeof p.options,
                          .limits = &limits,
                          .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 1 & 3) % 3},
              .exporting = {.size = sizeof p.exporting,
                            .flags = (uint32_t)(chosen >> 3 & 1) * PERFILE_EXPORT_PERIODS |
                                     (uint32_t)(chosen >> 4 & 1) * PERFILE_EXPORT_MARK_KERNEL |
                                     (uint32_t)(chosen >> 5 & 1) * PERFILE_EXPORT_MARK_JIT |
                                     (uint32_t)(chosen >> 9 & 1) * PERFILE_EXPORT_BRANCH_CHAINS |
                                     (uint32_t)(chosen >> 10 & 1) * PERFILE_EXPORT_COMPARE}};
    memcpy(p.exporting.per, keys[chosen >> 6 & 3], sizeof keys[0]);
    if (!p.exporting.per[0])
        p.exporting.flags |= PERFILE_EXPORT_NO_LABELS;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    p.in[0] = (perfile_bytes){block, c.left};
    if (chosen >> 8 & 1)
        p.in[1] = p.in[0];
    size_t n = 0;
    while (perfile_export_format(n))
        n++;
    for (size_t i = 0; i < n; i++)
        if (is_chosen(chosen, i, n) && !perfile_export_format_is_directory(i)) /* no memory */
            check_form(&p, perfile_export_format(i), is_repeated(chosen));
    free(block);
    return 0;
}
