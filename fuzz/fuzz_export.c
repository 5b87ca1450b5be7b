/* Any bytes as one or two captures, exported in every form.  For all names and callchains, folded
 * lines are well-formed and add up to the samples, and a flame graph has one script element with
 * data, which is JSON.  Each form is the same if it is made alone, or by several threads. */
#include "ensure.h"
#include "folder.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/owned.h"
#include "wellformed.h"
#include "base/command.h"

enum { MOST_FORMS = 16 };

/* The input and the options. */
typedef struct plan {
    perfile_bytes in[2]; /* the second capture may be empty */
    perfile_open_options options;
    perfile_export_options exporting;
    uint32_t threads;
} plan;

/* One form and its result. */
typedef struct exported {
    const char *form;
    size_t number; /* of the form */
    bool directory;
    perfile_export_options how;
    perfile_sink *sink;
    perfile_emitter *e; /* NULL until a capture has been opened */
    bool opened;
    bool complete; /* it accepts no more captures */
    perfile_status st;
    perfile_export_summary sum;
} exported;

static void begin(exported *x, const plan *p, size_t number)
{
    perfile_format format;
    ENSURE(perfile_format_at(true, number, &format, sizeof format));
    const char *form = format.name;
    *x = (exported){
        .form = form, .number = number, .directory = format.directory, .how = p->exporting};
    const bool tree = strcmp(form, "folded") == 0 || strcmp(form, "flamegraph") == 0;
    const bool lines = strcmp(form, "speedscope") == 0 || strcmp(form, "firefox") == 0 ||
                       strcmp(form, "pprof") == 0;
    if (!tree) /* these forms do not support the flags */
        x->how.flags &= ~(uint32_t)(PERFILE_EXPORT_COMPARE | PERFILE_EXPORT_REVERSE);
    if (!lines)
        x->how.flags &= ~(uint32_t)PERFILE_EXPORT_LINES;
    const bool adds_up = tree || strcmp(form, "pprof") == 0 || strcmp(form, "speedscope") == 0;
    if (!adds_up || x->how.flags & (PERFILE_EXPORT_PERIODS | PERFILE_EXPORT_SAMPLES))
        x->how.flags &= ~(uint32_t)PERFILE_EXPORT_OFF_CPU;
    if (x->how.flags & PERFILE_EXPORT_PERIODS)
        x->how.flags &= ~(uint32_t)PERFILE_EXPORT_SAMPLES;
    if (format.folder) /* a single table is a file */
        x->how.tables = "samples";
    if (x->directory)
        x->sink = folder_new();
    else
        ENSURE(perfile_sink_memory("export", &x->sink, NULL) == PERFILE_OK);
}

static bool takes_records(const exported *x)
{
    return x->st == PERFILE_OK && !x->complete;
}

/* Checks the status of an emitter: success, or a limit with its name. */
static void note(exported *x, perfile_status st, const perfile_error *err)
{
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_LIMIT && err->where && err->message[0]));
    x->st = st;
}

/* Puts one capture into the emitters, which are opened for the first one.  Does nothing if it is
 * not a capture. */
static void put_capture(const plan *p, perfile_bytes in, exported *x, size_t n_forms)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    perfile_error err = {0};
    perfile_filter_options all = {.size = sizeof all};
    perfile_open_filtered_options reading = {
        .size = sizeof reading, .how = &p->options, .model = true, .translate = true};
    ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    perfile_status st = perfile_open_filtered(source, &all, &reading, &s, &model, &err);
    if (closed_unless_ok(source, st) != PERFILE_OK)
        return;
    for (size_t i = 0; i < n_forms; i++) {
        perfile_emit_options how = {
            .size = sizeof how, .model = model, .threads = p->threads, .exporting = &x[i].how};
        if (!takes_records(&x[i]))
            continue;
        if (x[i].e) {
            note(&x[i], perfile_emitter_continue(x[i].e, s, model, &err), &err);
            continue;
        }
        note(&x[i], perfile_emitter_open(x[i].form, s, x[i].sink, &how, &x[i].e, &err), &err);
        if (x[i].st == PERFILE_OK)
            note(&x[i], perfile_emitter_begin(x[i].e, &err), &err);
    }
    while ((st = perfile_stream_next_run(s, &first, &n, &err)) == PERFILE_OK)
        for (size_t i = 0; i < n_forms; i++)
            if (takes_records(&x[i]))
                note(&x[i], perfile_emitter_put_run(x[i].e, first, n, &err), &err);
    for (size_t i = 0; i < n_forms; i++)
        if (st != PERFILE_END || x[i].st != PERFILE_OK) {
            if (x[i].st == PERFILE_OK)
                note(&x[i], st, &err);
            if (x[i].e)
                (void)!perfile_emitter_continue(x[i].e, NULL, NULL, NULL);
        } else if (takes_records(&x[i])) {
            note(&x[i], perfile_emitter_continue(x[i].e, NULL, NULL, &err), &err);
            x[i].complete = x[i].directory;
        }
    perfile_stream_close(s);
}

/* Exports in all these forms at once. */
static void export_forms(const plan *p, exported *x, size_t n_forms)
{
    for (size_t i = 0; i < 2; i++)
        if (p->in[i].len)
            put_capture(p, p->in[i], x, n_forms);
    for (size_t i = 0; i < n_forms; i++) {
        perfile_error err = {0};
        if (x[i].e && x[i].st == PERFILE_OK)
            note(&x[i], perfile_emitter_finish(x[i].e, &err), &err);
        x[i].opened = x[i].e;
        if (x[i].e)
            perfile_emitter_get_summary(x[i].e, &x[i].sum, sizeof x[i].sum);
        perfile_emitter_close(x[i].e);
    }
}

/* Reads the number that ends at `stop`; returns the position of the space before it. */
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

/* Checks one line: frames without control characters, none empty, and one number, or two for
 * compared captures.  Returns the beginning of the next line. */
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
        ENSURE(n > 0 && pf_is_printable(code));
        length += n;
    }
    return stop + 1;
}

static void check_folded(perfile_bytes text, const exported *x)
{
    const perfile_export_summary *sum = &x->sum;
    uint64_t weight = 0;
    const uint8_t *at = text.ptr, *end = at ? at + text.len : NULL;
    while (at < end)
        at = check_line(at, end, x->how.flags & PERFILE_EXPORT_COMPARE, &weight);
    if (!(x->how.flags & PERFILE_EXPORT_PERIODS)) {
        /* Without a key, a sample without an address has no line. */
        bool keys = !(x->how.flags & PERFILE_EXPORT_NO_LABELS);
        ENSURE(weight == sum->samples + sum->before_samples - (keys ? 0 : sum->without_stack));
    }
}

/* Finds the first `text` in from .. end. */
static const uint8_t *find(const uint8_t *from, const uint8_t *end, const char *text)
{
    const size_t n = strlen(text);
    for (; (size_t)(end - from) >= n; from++)
        if (memcmp(from, text, n) == 0)
            return from;
    return NULL;
}

/* Checks one JSON value, which may have several lines. */
static void check_json(perfile_bytes text)
{
    /* Put it on one line for the checker of JSON Lines. */
    uint64_t lines;
    uint8_t *copy = malloc(text.len + 1);
    ENSURE(copy);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '\n') /* line ends occur only between values */
            copy[n++] = text.ptr[i];
    copy[n++] = '\n';
    ENSURE(well_json_lines((perfile_bytes){copy, n}, &lines) && lines == 1);
    free(copy);
}

/* Checks that the data of the page are one JSON value, and that nothing in them ends the element
 * early. */
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

/* Checks that each ring buffer is a file, and that none of its data is lost. */
static void check_directory(const exported *x)
{
    uint64_t n;
    ENSURE(folder_bytes(x->sink, &n) == x->sum.aux_bytes && n == x->sum.aux_files);
}

/* Checks the result of one form. */
static void check_form(const plan *p, const exported *x)
{
    perfile_bytes text = perfile_sink_bytes(x->sink);
    ENSURE(x->sum.bytes <= p->options.limits->profile_bytes);
    if (!x->opened || x->st != PERFILE_OK)
        return;
    if (strcmp(x->form, "folded") == 0)
        check_folded(text, x);
    if (strcmp(x->form, "flamegraph") == 0)
        check_page(text);
    if (strcmp(x->form, "speedscope") == 0 || strcmp(x->form, "firefox") == 0 ||
        strcmp(x->form, "chrome") == 0 || x->directory)
        check_json(text);
    if (x->directory)
        check_directory(x);
}

/* Exports one form alone: the bytes must be the same as together with other emitters.  Also with
 * several threads, unless the limit is too low for the tables of each. */
static void check_alone(const plan *p, const exported *x)
{
    exported alone;
    plan how = *p;
    how.threads = x->number % 2 ? 3 : 1;
    begin(&alone, &how, x->number);
    export_forms(&how, &alone, 1);
    perfile_bytes text = perfile_sink_bytes(x->sink), other = perfile_sink_bytes(alone.sink);
    ENSURE(alone.opened == x->opened);
    ENSURE(alone.st == x->st || (how.threads > 1 && alone.st == PERFILE_E_LIMIT));
    ENSURE(alone.st != PERFILE_OK ||
           (other.len == text.len && memcmp(&alone.sum, &x->sum, sizeof alone.sum) == 0 &&
            (!text.len || memcmp(other.ptr, text.ptr, text.len) == 0)));
    perfile_sink_close(alone.sink);
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { TRIES_ALL = false };
#else
enum { TRIES_ALL = true };
#endif

/* Returns true if this form is among those that are exported together: all in replays, two in the
 * fuzzer. */
static bool is_exported(uint64_t chosen, size_t number, size_t n)
{
    return TRIES_ALL || number == chosen % n || number == chosen / n % n;
}

/* Returns true if the forms are exported once more, one by one: rarely in the fuzzer, always in
 * replays. */
static bool is_repeated(uint64_t chosen)
{
    return TRIES_ALL || (chosen >> 11 & 15) == 0;
}

/* Flags that are tried one at a time. */
static uint32_t last_flags(uint64_t chosen)
{
    static const uint32_t flags[16] = {[1] = PERFILE_EXPORT_SYMBOL_SERVER,
                                       [2] = PERFILE_EXPORT_SAMPLES,
                                       [3] = PERFILE_EXPORT_LINES,
                                       [4] = PERFILE_EXPORT_REVERSE,
                                       [5] = PERFILE_EXPORT_OFF_CPU};
    return flags[chosen];
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
                                     (uint32_t)(chosen >> 11 & 1) * PERFILE_EXPORT_UNKNOWN_ADDRESS |
                                     (uint32_t)(chosen >> 10 & 1) * PERFILE_EXPORT_COMPARE |
                                     last_flags(chosen >> 12 & 15)}};
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
    exported x[MOST_FORMS];
    size_t n_forms = 0, n = 0;
    while (perfile_export_format(n_forms))
        n_forms++;
    ENSURE(n_forms <= MOST_FORMS);
    for (size_t i = 0; i < n_forms; i++)
        if (is_exported(chosen, i, n_forms))
            begin(&x[n++], &p, i);
    export_forms(&p, x, n);
    for (size_t i = 0; i < n; i++) {
        check_form(&p, &x[i]);
        if (is_repeated(chosen))
            check_alone(&p, &x[i]);
    }
    for (size_t i = 0; i < n; i++)
        perfile_sink_close(x[i].sink);
    free(block);
    return 0;
}
