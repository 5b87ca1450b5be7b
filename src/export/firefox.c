/* The form `firefox`: the processed profile of the Firefox Profiler, version 57.
 *
 * Its documents: docs-developer/CHANGELOG-formats.md and src/types/profile.ts of
 * firefox-devtools/profiler.  Each label is a thread.  The profiler has no events: its samples say
 * what a thread does with its processor.  So these are samples of one event, of the clock with most
 * of them, or else of what hardware counts; those of others are markers, with their stack as cause.
 * If threads are asked for by event, each has samples of its own, whatever the event.  Records that
 * are no samples become markers, stretches on a processor too.
 *
 * Addresses are relative to their library: offsets in its file, for a capture does not say where
 * the segments of a file belong.  With `codeId` they are what symbol servers are asked for. */
#include "base/alloc.h"
#include "base/error.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A selection of numbered things, in the order in which they were selected first. */
typedef struct pf_selection {
    uint32_t *place; /* of each thing + 1; 0: not selected */
    uint32_t *at;    /* the things that are */
    size_t n, size;
} pf_selection;

typedef struct pf_firefox {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;     /* functions */
    pf_buffer texts;    /* const char *: the table of texts, of the profile's texts */
    pf_index positions; /* address of a text to its position among them */
    pf_buffer name;
    pf_index mains; /* pid to the label of its main thread */
    bool per_event; /* threads are apart by event: their names say theirs, if there are several */
    const char *sampled; /* the event of samples, if they are not apart; NULL: none, not known */
    uint64_t interval;   /* ns from sample to sample; 0: not known */
    /* Of the thread that is being written.  Stacks and frames are those of the profile, times two:
     * plus 1 where they are callers. */
    pf_selection stacks, frames, functions, resources;
    const char **files; /* of the source, of each function; NULL: not known */
    pf_buffer path;
} pf_firefox;

/* A function that writes one value of a column. */
typedef void pf_firefox_value(pf_firefox *f, size_t row);

static inline void pf_firefox_put(pf_firefox *f, const char *text)
{
    pf_export_put_text(&f->x, text);
}

enum { NS_PER_MS = 1000000, DEBUG_ID_BYTES = 16, VERSION = 57, GECKO_VERSION = 31 };

/* Writes ns as ms, with decimals. */
static void pf_firefox_ms(pf_firefox *f, uint64_t ns)
{
    uint8_t *at = pf_emit_room(&f->x.base, PF_DEC_MAX + 1 + 6);
    if (!at)
        return;
    at = pf_put_dec(at, ns / NS_PER_MS);
    if (ns % NS_PER_MS) {
        *at++ = '.';
        at = pf_put_dec_fixed(at, ns % NS_PER_MS, 6);
        while (at[-1] == '0')
            at--;
    }
    pf_emit_filled(&f->x.base, at);
}

/* Writes the position in the table of texts of a name of a capture, at most `most` bytes of it. */
static void pf_firefox_text(pf_firefox *f, const char *name, size_t most)
{
    pf_profile *p = &f->x.profile;
    pf_buffer_clear(&f->name);
    const char *text = pf_name_text(name, most, &f->name) && pf_buffer_append_u8(&f->name, 0)
                           ? pf_profile_text(p, (const char *)f->name.ptr)
                           : NULL;
    uint32_t at = text ? pf_index_get(&f->positions, (uintptr_t)text) : 0;
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(f->texts.len / sizeof text);
        if (!pf_index_put(&f->positions, (uintptr_t)text, at) ||
            !pf_buffer_append(&f->texts, &text, sizeof text))
            text = NULL;
    }
    if (!text)
        f->x.base.no_memory = true; /* write_some() tells a limit from that */
    pf_export_put_number(&f->x, at);
}

/* Writes `"name":[…]` of `n` values. */
static perfile_status pf_firefox_column(pf_firefox *f, const char *name, size_t n,
                                        pf_firefox_value *value, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, "\"");
    pf_firefox_put(f, name);
    pf_firefox_put(f, "\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        value(f, i);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "]");
    if (f->x.profile.budget.refused)
        st = pf_profile_fail(&f->x.profile, err);
    return st;
}

/* The tables of a thread: the stacks, frames, functions and
 * libraries that its samples use.
 *
 * A frame that called another one is shown one byte before its address, where the call is: the
 * format asks for that.  So stacks and frames are told apart by whether they are callers. */

enum { LIBRARY = 1 /* resourceTable.type */ };

static bool open_selection(pf_selection *s, pf_profile *p, size_t size)
{
    s->size = size;
    s->place = pf_budget_alloc(&p->budget, size + 1, sizeof *s->place);
    s->at = pf_budget_alloc(&p->budget, size + 1, sizeof *s->at);
    return s->place && s->at;
}

static void clear_selection(pf_selection *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->place[s->at[i]] = 0;
    s->n = 0;
}

static void select_one(pf_selection *s, uint32_t thing)
{
    if (!s->place[thing]) {
        s->at[s->n++] = thing;
        s->place[thing] = (uint32_t)s->n;
    }
}

static perfile_status pf_firefox_open_tables(pf_firefox *f, perfile_error *err)
{
    pf_profile *p = &f->x.profile;
    f->files = pf_budget_alloc(&p->budget, f->shown.names.n + 1, sizeof *f->files);
    return f->files && open_selection(&f->stacks, p, 2 * p->stacks.n) &&
                   open_selection(&f->frames, p, 2 * p->frames.n) &&
                   open_selection(&f->functions, p, f->shown.names.n) &&
                   open_selection(&f->resources, p, p->objects.n)
               ? PERFILE_OK
               : pf_profile_fail(p, err);
}

/* Prepares what threads need, and their tables.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
static void pf_firefox_close_tables(pf_firefox *f)
{
    pf_selection *const all[] = {&f->stacks, &f->frames, &f->functions, &f->resources};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pf_free(all[i]->place);
        pf_free(all[i]->at);
    }
    pf_free(f->files);
    pf_buffer_free(&f->path);
    pf_index_free(&f->mains);
}

/* The key of a stack that is below another one. */
static uint32_t caller_of(const pf_firefox *f, uint32_t of_inner, uint32_t stack)
{
    if (stack == PF_EMPTY_STACK)
        return 2 * stack;
    return 2 * stack + pf_line_key(&f->x.profile, stack, of_inner / 2, of_inner) % 2;
}

/* Notes the file of the source of a function: of those of its frames the first one. */
static void note_file(pf_firefox *f, uint32_t frame_key, uint32_t function)
{
    const pf_line line = pf_line_at(&f->x.lines, frame_key);
    if (line.file && !f->files[function])
        f->files[function] = line.file;
}

/* Selects a stack and those of its callers, outermost first: the format wants a stack behind that
 * of its caller. */
static bool select_stack(pf_firefox *f, uint32_t stack)
{
    const pf_profile *p = &f->x.profile;
    uint32_t key = 2 * stack;
    pf_buffer_clear(&f->path);
    while (key / 2 != PF_EMPTY_STACK && !f->stacks.place[key]) {
        if (!pf_buffer_append(&f->path, &key, sizeof key))
            return false;
        const uint32_t inner = key / 2, parent = pf_profile_stack_at(p, inner)->parent;
        key = caller_of(f, key, parent);
    }
    for (size_t i = f->path.len / sizeof key; i-- > 0;) {
        key = ((const uint32_t *)(const void *)f->path.ptr)[i];
        const uint32_t frame = pf_profile_stack_at(p, key / 2)->frame;
        const uint32_t function = f->shown.positions[frame];
        const uint32_t object = pf_shown_at(&f->shown, function)->object;
        select_one(&f->stacks, key);
        select_one(&f->frames, 2 * frame + key % 2);
        select_one(&f->functions, function);
        note_file(f, 2 * frame + key % 2, function);
        if (object != PF_NO_OBJECT)
            select_one(&f->resources, object);
    }
    return true;
}

static void pf_firefox_put_stack(pf_firefox *f, uint32_t stack)
{
    if (select_stack(f, stack))
        pf_export_put_number(&f->x, f->stacks.place[2 * stack] - 1);
    else
        f->x.base.no_memory = true;
}

static void pf_firefox_clear_tables(pf_firefox *f)
{
    pf_selection *const all[] = {&f->stacks, &f->frames, &f->functions, &f->resources};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        clear_selection(all[i]);
}

/* The rows of the tables: what is written of row `i` of the selection. */

static void null(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "null");
}

static void zero(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "0");
}

static void put_false(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "false");
}

static void library(pf_firefox *f, size_t i)
{
    (void)i;
    pf_export_put_number(&f->x, LIBRARY);
}

static void stack_frame(pf_firefox *f, size_t i)
{
    const uint32_t key = f->stacks.at[i];
    const uint32_t frame = pf_profile_stack_at(&f->x.profile, key / 2)->frame;
    pf_export_put_number(&f->x, f->frames.place[2 * frame + key % 2] - 1);
}

static void stack_prefix(pf_firefox *f, size_t i)
{
    const uint32_t key = f->stacks.at[i];
    const uint32_t parent = pf_profile_stack_at(&f->x.profile, key / 2)->parent;
    if (parent == PF_EMPTY_STACK)
        null(f, i);
    else
        pf_export_put_number(&f->x, f->stacks.place[caller_of(f, key, parent)] - 1);
}

static const pf_call_frame *frame_at(const pf_firefox *f, size_t i)
{
    return pf_profile_frame_at(&f->x.profile, f->frames.at[i] / 2);
}

static void frame_address(pf_firefox *f, size_t i)
{
    const pf_call_frame *frame = frame_at(f, i);
    const pf_object *object = pf_profile_object_at(&f->x.profile, frame->object);
    const uint64_t base = object && object->by_address ? object->first.addr : 0;
    const bool caller = f->frames.at[i] % 2;
    if (!object || frame->offset < base || frame->offset - base < caller)
        pf_firefox_put(f, "-1");
    else
        pf_export_put_number(&f->x, frame->offset - base - caller);
}

static void frame_category(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, frame_at(f, i)->code);
}

static void frame_function(pf_firefox *f, size_t i)
{
    const uint32_t function = f->shown.positions[f->frames.at[i] / 2];
    pf_export_put_number(&f->x, f->functions.place[function] - 1);
}

static void frame_depth(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, frame_at(f, i)->inlined);
}

/* A line is of the file that its function is in. */
static void frame_line(pf_firefox *f, size_t i)
{
    const pf_line line = pf_line_at(&f->x.lines, f->frames.at[i]);
    if (line.file && line.line && line.file == f->files[f->shown.positions[f->frames.at[i] / 2]])
        pf_export_put_number(&f->x, line.line);
    else
        null(f, i);
}

static void function_file(pf_firefox *f, size_t i)
{
    const char *file = f->files[f->functions.at[i]];
    if (file)
        pf_firefox_text(f, file, PF_NAME_MOST);
    else
        null(f, i);
}

static void function_name(pf_firefox *f, size_t i)
{
    pf_firefox_text(f, pf_shown_at(&f->shown, f->functions.at[i])->name, PF_TEXT_MOST);
}

static void function_resource(pf_firefox *f, size_t i)
{
    const uint32_t object = pf_shown_at(&f->shown, f->functions.at[i])->object;
    if (object == PF_NO_OBJECT)
        pf_firefox_put(f, "-1");
    else
        pf_export_put_number(&f->x, f->resources.place[object] - 1);
}

static void resource_lib(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, f->resources.at[i]);
}

static void resource_name(pf_firefox *f, size_t i)
{
    const char *name = pf_profile_object_at(&f->x.profile, f->resources.at[i])->name;
    const char *slash = strrchr(name, '/');
    pf_firefox_text(f, slash && slash[1] ? slash + 1 : name, PF_NAME_MOST);
}

typedef struct column {
    const char *name;
    pf_firefox_value *value;
} column;

static perfile_status put_table(pf_firefox *f, const char *name, size_t n, const column *columns,
                                perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, ",\n\"");
    pf_firefox_put(f, name);
    pf_firefox_put(f, "\":{\"length\":");
    pf_export_put_number(&f->x, n);
    for (; columns->name && st == PERFILE_OK; columns++) {
        pf_firefox_put(f, ",");
        st = pf_firefox_column(f, columns->name, n, columns->value, err);
    }
    pf_firefox_put(f, "}");
    return st;
}

/* Empties the tables; writes the number of a stack, which gets into them; writes them. */
static perfile_status pf_firefox_put_tables(pf_firefox *f, perfile_error *err)
{
    static const column of_stacks[] = {{"frame", stack_frame}, {"prefix", stack_prefix}, {0}};
    static const column of_frames[] = {{"address", frame_address},
                                       {"inlineDepth", frame_depth},
                                       {"category", frame_category},
                                       {"subcategory", zero},
                                       {"func", frame_function},
                                       {"nativeSymbol", null},
                                       {"innerWindowID", null},
                                       {"line", frame_line},
                                       {"column", null},
                                       {0}};
    static const column of_functions[] = {
        {"name", function_name},      {"isJS", put_false},
        {"relevantForJS", put_false}, {"resource", function_resource},
        {"fileName", function_file},  {"lineNumber", null},
        {"columnNumber", null},       {0}};
    static const column of_resources[] = {
        {"lib", resource_lib}, {"name", resource_name}, {"host", null}, {"type", library}, {0}};
    static const column of_symbols[] = {
        {"libIndex", null}, {"address", null}, {"name", null}, {"functionSize", null}, {0}};
    const struct {
        const char *name;
        size_t n;
        const column *columns;
    } tables[] = {{"stackTable", f->stacks.n, of_stacks},
                  {"frameTable", f->frames.n, of_frames},
                  {"funcTable", f->functions.n, of_functions},
                  {"resourceTable", f->resources.n, of_resources},
                  /* Where functions begin is not known here: the profiler finds it. */
                  {"nativeSymbols", 0, of_symbols}};
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == PERFILE_OK; i++)
        st = put_table(f, tables[i].name, tables[i].n, tables[i].columns, err);
    return st;
}

/* A thread: what it is called, its samples and its markers. */

/* Whether there are labels of different events. */
static bool has_events(const pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    const char *one = NULL;
    for (uint32_t i = 0; i < f->tracks.n; i++) {
        const char *event = pf_profile_label_at(p, i)->event;
        if (f->tracks.at[i].sampled && event && one && event != one)
            return true;
        one = event ? event : one;
    }
    return false;
}

/* Finds the main thread of each process. */
static bool find_mains(pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    f->mains = (pf_index){.seed = pf_index_seed(f), .budget = &f->x.profile.budget};
    for (unsigned others = 0; others < 2; others++)
        for (uint32_t i = 0; i < f->tracks.n; i++) {
            const pf_label *l = pf_profile_label_at(p, i);
            if (f->tracks.at[i].used && (l->pid != l->tid) == others &&
                pf_index_get(&f->mains, l->pid) == PF_INDEX_NONE &&
                !pf_index_put(&f->mains, l->pid, i))
                return false;
        }
    return true;
}

static perfile_status pf_firefox_open_threads(pf_firefox *f, perfile_error *err)
{
    f->per_event = f->x.per_event && has_events(f);
    return find_mains(f) ? pf_firefox_open_tables(f, err) : pf_profile_fail(&f->x.profile, err);
}

static perfile_status put_samples(pf_firefox *f, uint32_t label, perfile_error *err)
{
    const pf_timeline *line = &f->tracks.samples;
    const pf_moment *m = line->at + line->begins[label];
    const size_t n = line->begins[label + 1] - line->begins[label];
    const bool weighs = f->x.options.flags & PERFILE_EXPORT_PERIODS;
    const bool clock =
        weighs &&
        pf_export_is_clock(f->x.per_event ? pf_profile_label_at(&f->x.profile, label)->event
                                          : f->sampled);
    uint64_t untimed = 0;
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, ",\n\"samples\":{\"length\":");
    pf_export_put_number(&f->x, n);
    pf_firefox_put(f, clock ? ",\"weightType\":\"tracing-ms\"" : ",\"weightType\":\"samples\"");
    pf_firefox_put(f, ",\"stack\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        if (m[i].stack == PF_EMPTY_STACK)
            pf_firefox_put(f, "null");
        else
            pf_firefox_put_stack(f, m[i].stack);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "],\"time\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        pf_firefox_ms(f, pf_tracks_time(&f->tracks, m[i].time, &untimed));
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, weighs ? "],\"weight\":[" : "],\"weight\":null");
    for (size_t i = 0; i < n && st == PERFILE_OK && weighs; i++) {
        pf_firefox_put(f, i ? "," : "");
        if (clock)
            pf_firefox_ms(f, m[i].weight);
        else
            pf_export_put_number(&f->x, m[i].weight);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, weighs ? "]}" : "}");
    return st;
}

/* Which samples are samples, and which are markers. */

/* What is known of the events while one is chosen. */
typedef struct choice {
    uint32_t *event_of;   /* of each label: position of its event; the last one: not known */
    uint32_t *group_of;   /* of each event: one of the same, on another kind of processor */
    uint64_t *samples_of; /* of each group */
    uint32_t *marker_of;  /* of each label: what its samples say as markers, + 1; 0: it has none */
    uint32_t *label_of;   /* of each label: the same without event */
    size_t n_labels, n_events;
} choice;

static pf_export_event *event_at(const pf_firefox *f, size_t i)
{
    return (pf_export_event *)(void *)f->x.events.ptr + i;
}

static bool open_choice(choice *c, pf_firefox *f)
{
    pf_budget *budget = &f->x.profile.budget;
    c->n_labels = f->x.profile.labels.n;
    c->n_events = f->x.events.len / sizeof(pf_export_event);
    c->event_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->event_of);
    c->marker_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->marker_of);
    c->label_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->label_of);
    c->group_of = pf_budget_alloc(budget, c->n_events + 1, sizeof *c->group_of);
    c->samples_of = pf_budget_alloc(budget, c->n_events + 1, sizeof *c->samples_of);
    return c->event_of && c->marker_of && c->label_of && c->group_of && c->samples_of;
}

static void close_choice(choice *c, pf_firefox *f)
{
    pf_budget *budget = &f->x.profile.budget;
    pf_budget_free(budget, c->event_of, c->n_labels + 1, sizeof *c->event_of);
    pf_budget_free(budget, c->marker_of, c->n_labels + 1, sizeof *c->marker_of);
    pf_budget_free(budget, c->label_of, c->n_labels + 1, sizeof *c->label_of);
    pf_budget_free(budget, c->group_of, c->n_events + 1, sizeof *c->group_of);
    pf_budget_free(budget, c->samples_of, c->n_events + 1, sizeof *c->samples_of);
}

/* Finds the event of each label, and the group of each event; counts the samples of groups. */
static bool count_groups(choice *c, pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    pf_index groups = {.seed = pf_index_seed(c), .budget = &f->x.profile.budget};
    bool ok = true;
    for (uint32_t i = 0; i <= c->n_events && ok; i++) {
        const uint64_t kinds = i < c->n_events ? event_at(f, i)->kinds : 0;
        const uint32_t known = kinds ? pf_index_get(&groups, kinds) : PF_INDEX_NONE;
        c->group_of[i] = known == PF_INDEX_NONE ? i : known;
        ok = !kinds || known != PF_INDEX_NONE || pf_index_put(&groups, kinds, i);
    }
    pf_index_free(&groups);
    for (uint32_t i = 0; i < c->n_labels && ok; i++) {
        const char *event = pf_profile_label_at(p, i)->event;
        const uint32_t at =
            event ? pf_index_get(&f->x.event_index, (uintptr_t)event) : PF_INDEX_NONE;
        c->event_of[i] = at < c->n_events ? at : (uint32_t)c->n_events;
    }
    for (size_t i = 0; i < f->tracks.samples.n && ok; i++)
        c->samples_of[c->group_of[c->event_of[f->tracks.samples.at[i].label]]]++;
    return ok;
}

/* The group that samples are of; PF_INDEX_NONE: there is none. */
static uint32_t best_group(const choice *c, const pf_firefox *f)
{
    uint32_t best = PF_INDEX_NONE;
    unsigned best_says = PF_EVENT_HAPPENS;
    for (uint32_t i = 0; i <= c->n_events; i++) {
        const unsigned says = i < c->n_events ? event_at(f, i)->says : PF_EVENT_COUNTS;
        const bool more =
            says == best_says && best != PF_INDEX_NONE && c->samples_of[i] > c->samples_of[best];
        if (!c->samples_of[i] || !(says > best_says || more))
            continue;
        best = i;
        best_says = says;
    }
    return best;
}

/* Makes a marker of a sample. */
static bool add_marker(choice *c, pf_firefox *f, const pf_moment *sample)
{
    pf_profile *p = &f->x.profile;
    pf_moment m = *sample;
    if (!c->marker_of[m.label]) {
        pf_label label = *pf_profile_label_at(p, m.label);
        const uint32_t said = pf_marks_event(&f->tracks.said, p, label.event, "");
        label.event = NULL;
        c->label_of[m.label] = pf_profile_label(p, &label);
        if (said == PF_INTERN_NONE || c->label_of[m.label] == PF_INTERN_NONE)
            return false;
        c->marker_of[m.label] = said + 1;
    }
    m.said = m.said ? m.said - 1 : c->marker_of[m.label] - 1;
    m.label = c->label_of[m.label];
    return pf_timeline_add(&f->tracks.marks, p, &m);
}

/* Chooses the event of which samples are, and makes markers of those of others, unless events are
 * apart. */
static perfile_status choose_event(pf_firefox *f, perfile_error *err)
{
    choice c = {0};
    pf_timeline *samples = &f->tracks.samples;
    bool ok = open_choice(&c, f) && count_groups(&c, f);
    const uint32_t best = ok ? best_group(&c, f) : PF_INDEX_NONE;
    if (best < c.n_events) {
        f->sampled = event_at(f, best)->name;
        f->interval = event_at(f, best)->interval;
    }
    f->tracks.joins_events = !f->x.per_event;
    size_t kept = 0;
    for (size_t i = 0; i < samples->n && ok && !f->x.per_event; i++) {
        if (c.group_of[c.event_of[samples->at[i].label]] == best)
            samples->at[kept++] = samples->at[i];
        else
            ok = add_marker(&c, f, &samples->at[i]);
    }
    samples->n = f->x.per_event ? samples->n : kept;
    close_choice(&c, f);
    return ok ? PERFILE_OK : pf_profile_fail(&f->x.profile, err);
}

/* The next marker of a label: on a processor, a record, or a sample. */
typedef struct marker {
    uint64_t begin, end; /* ns from the first time */
    const pf_mark *mark; /* NULL: on a processor */
    uint64_t period;     /* of a sample */
    uint32_t cpu, stack;
} marker;

typedef struct markers {
    pf_firefox *f;
    uint32_t label;
    size_t slice, mark; /* where to go on */
    uint64_t untimed;
} markers;

static bool next_marker(markers *w, marker *out)
{
    const pf_tracks *t = &w->f->tracks;
    const pf_timeline *line = &t->marks;
    pf_slice slice;
    if (pf_tracks_slice(t, w->label, &w->slice, &slice)) {
        *out = (marker){slice.begin - t->first, slice.end - t->first, NULL, 0, slice.cpu,
                        PF_EMPTY_STACK};
        return true;
    }
    if (w->mark == line->begins[w->label + 1] - line->begins[w->label])
        return false;
    const pf_moment *m = &line->at[line->begins[w->label] + w->mark++];
    const uint64_t time = pf_tracks_time(t, m->time, &w->untimed);
    *out = (marker){time, time, pf_marks_at(&t->said, m->said), m->weight, PF_NO_LABEL, m->stack};
    return true;
}

/* The data of a marker that stands for a sample. */
static void sample_data(pf_firefox *f, const marker *m)
{
    if (m->period) {
        pf_firefox_put(f, ",\"period\":");
        pf_export_put_number(&f->x, m->period);
    }
    if (m->stack == PF_EMPTY_STACK)
        return;
    pf_firefox_put(f, ",\"cause\":{\"time\":");
    pf_firefox_ms(f, m->begin);
    pf_firefox_put(f, ",\"stack\":");
    pf_firefox_put_stack(f, m->stack);
    pf_firefox_put(f, "}");
}

static void marker_data(pf_firefox *f, const marker *m)
{
    if (m->mark) {
        pf_firefox_put(f, "{\"type\":");
        pf_export_put_name(&f->x, &f->name, pf_marks_name(&m->mark->kind));
        pf_firefox_put(f, m->mark->text);
        if (m->mark->kind.type == PERFILE_RECORD_SAMPLE)
            sample_data(f, m);
    } else {
        pf_firefox_put(f, "{\"type\":\"on-cpu\"");
        if (m->cpu != PF_NO_LABEL) {
            pf_firefox_put(f, ",\"cpu\":");
            pf_export_put_number(&f->x, m->cpu);
        }
    }
    pf_firefox_put(f, "}");
}

static void marker_name(pf_firefox *f, const marker *m)
{
    pf_firefox_text(f, m->mark ? pf_marks_name(&m->mark->kind) : "on cpu", PF_NAME_MOST);
}

static void marker_start(pf_firefox *f, const marker *m)
{
    pf_firefox_ms(f, m->begin);
}

static void marker_end(pf_firefox *f, const marker *m)
{
    if (m->mark)
        pf_firefox_put(f, "null");
    else
        pf_firefox_ms(f, m->end);
}

/* Instants are 0, intervals 1. */
static void marker_phase(pf_firefox *f, const marker *m)
{
    pf_firefox_put(f, m->mark ? "0" : "1");
}

static void marker_category(pf_firefox *f, const marker *m)
{
    (void)m;
    pf_export_put_number(&f->x, PF_CODE_UNKNOWN);
}

/* The table of markers has columns too, so that all are gone through once for each. */
static perfile_status put_markers(pf_firefox *f, uint32_t label, perfile_error *err)
{
    static const struct {
        const char *name;
        void (*value)(pf_firefox *f, const marker *m);
    } columns[] = {{"data", marker_data},   {"name", marker_name},   {"startTime", marker_start},
                   {"endTime", marker_end}, {"phase", marker_phase}, {"category", marker_category}};
    perfile_status st = PERFILE_OK;
    uint64_t n = 0;
    pf_firefox_put(f, ",\n\"markers\":{");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && st == PERFILE_OK; i++) {
        markers w = {.f = f, .label = label};
        marker m;
        pf_firefox_put(f, "\"");
        pf_firefox_put(f, columns[i].name);
        pf_firefox_put(f, "\":[");
        for (n = 0; st == PERFILE_OK && next_marker(&w, &m); n++) {
            pf_firefox_put(f, n ? "," : "");
            columns[i].value(f, &m);
            st = pf_export_write_some(&f->x, err);
        }
        pf_firefox_put(f, "],");
    }
    pf_firefox_put(f, "\"length\":");
    pf_export_put_number(&f->x, n);
    pf_firefox_put(f, "}");
    return st;
}

/* The name of the thread of a label: as its keys say, else the last one; NULL: not known. */
static const char *comm_of(const pf_firefox *f, uint32_t label)
{
    const char *comm = pf_profile_label_at(&f->x.profile, label)->comm;
    return comm ? comm : f->tracks.at[label].comm;
}

/* The name of the process of a main thread likewise. */
static const char *process_of(const pf_firefox *f, uint32_t main)
{
    return pf_profile_label_at(&f->x.profile, main)->tid ? comm_of(f, main) : "swapper";
}

/* "work", or "work (cycles)" if there are several events, or ":123" as perf has it. */
static bool name_thread(pf_firefox *f, uint32_t label)
{
    const pf_label *l = pf_profile_label_at(&f->x.profile, label);
    const char *comm = comm_of(f, label);
    char number[40];
    if (l->tid != PF_NO_LABEL)
        snprintf(number, sizeof number, ":%" PRId32, (int32_t)l->tid);
    else if (l->pid != PF_NO_LABEL)
        snprintf(number, sizeof number, "pid %" PRId32, (int32_t)l->pid);
    else if (l->cpu != PF_NO_LABEL)
        snprintf(number, sizeof number, "processor %" PRIu32, l->cpu);
    else
        snprintf(number, sizeof number, "all");
    pf_buffer_clear(&f->name);
    return pf_name_text(comm ? comm : number, PF_NAME_MOST, &f->name) &&
           (!f->per_event || !l->event ||
            (pf_buffer_append(&f->name, " (", 2) &&
             pf_name_text(l->event, PF_NAME_MOST, &f->name) &&
             pf_buffer_append(&f->name, ")", 1))) &&
           pf_buffer_append_u8(&f->name, 0);
}

/* The track of the main thread of the process of a label; if it has none, that of some thread. */
static uint32_t main_of(const pf_firefox *f, uint32_t label)
{
    const uint32_t found = pf_index_get(&f->mains, pf_profile_label_at(&f->x.profile, label)->pid);
    return found == PF_INDEX_NONE ? label : found;
}

/* A thread without a number is called by its position. */
static void put_id(pf_firefox *f, uint32_t number, const char *quote)
{
    pf_firefox_put(f, quote);
    if (number == PF_NO_LABEL)
        pf_firefox_put(f, *quote ? "?" : "\"?\"");
    else
        pf_export_put_number(&f->x, number);
    pf_firefox_put(f, quote);
}

static void put_time(pf_firefox *f, const char *key, uint64_t time)
{
    pf_firefox_put(f, key);
    if (time == PERFILE_NO_TIME)
        pf_firefox_put(f, "null");
    else
        pf_firefox_ms(f, time - f->tracks.first);
}

/* When a thread began, as far as the capture says. */
static uint64_t began(const pf_firefox *f, uint32_t label)
{
    const pf_track *t = &f->tracks.at[label];
    const uint64_t first = t->first <= t->last ? t->first : f->tracks.first;
    return t->began != PERFILE_NO_TIME && t->began < first ? t->began : first;
}

static perfile_status put_head(pf_firefox *f, uint32_t label, perfile_error *err)
{
    const pf_label *l = pf_profile_label_at(&f->x.profile, label);
    const uint32_t main = main_of(f, label);
    if (!name_thread(f, label))
        return pf_fail_nomem(err, "export");
    pf_firefox_put(f, "{\"name\":");
    pf_export_put_string(&f->x, (const char *)f->name.ptr);
    pf_buffer_clear(&f->name);
    const char *process = process_of(f, main);
    if (process &&
        (!pf_name_text(process, PF_NAME_MOST, &f->name) || !pf_buffer_append_u8(&f->name, 0)))
        return pf_fail_nomem(err, "export");
    if (f->name.len) {
        pf_firefox_put(f, ",\"processName\":");
        pf_export_put_string(&f->x, (const char *)f->name.ptr);
    }
    pf_firefox_put(f, ",\"processType\":\"default\",\"isMainThread\":");
    pf_firefox_put(f, main == label ? "true" : "false");
    pf_firefox_put(f, ",\"pid\":");
    put_id(f, l->pid, "\"");
    pf_firefox_put(f, ",\"tid\":");
    put_id(f, l->tid, "");
    put_time(f, ",\"processStartupTime\":", began(f, main));
    put_time(f, ",\"processShutdownTime\":", f->tracks.at[main].ended);
    put_time(f, ",\"registerTime\":", began(f, label));
    put_time(f, ",\"unregisterTime\":", f->tracks.at[label].ended);
    pf_firefox_put(f, ",\"pausedRanges\":[],\"showMarkersInTimeline\":true");
    return PERFILE_OK;
}

/* Writes the thread of a label. */
static perfile_status pf_firefox_put_thread(pf_firefox *f, uint32_t label, perfile_error *err)
{
    pf_firefox_clear_tables(f);
    perfile_status st = put_head(f, label, err);
    if (st == PERFILE_OK)
        st = put_samples(f, label, err);
    if (st == PERFILE_OK)
        st = put_markers(f, label, err);
    if (st == PERFILE_OK)
        st = pf_firefox_put_tables(f, err);
    pf_firefox_put(f, "}");
    return st;
}

/* Their positions are PF_CODE_…. */
static const struct {
    const char *name, *color;
} categories[] = {{"Other", "grey"},    {"User", "yellow"},      {"JIT", "blue"},
                  {"Kernel", "orange"}, {"Hypervisor", "brown"}, {"Guest", "purple"}};

/* What is there once: meta, libraries, texts. */

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&f->tracks, &f->x.profile);
    pf_shown_init(&f->shown, &f->x.profile);
    f->positions = (pf_index){.seed = pf_index_seed(f), .budget = &f->x.profile.budget};
    return st;
}

static void close(perfile_emitter *e)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    pf_tracks_free(&f->tracks);
    pf_shown_free(&f->shown);
    pf_firefox_close_tables(f);
    pf_buffer_free(&f->texts);
    pf_index_free(&f->positions);
    pf_buffer_free(&f->name);
    pf_export_close(e);
}

static bool take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    return pf_tracks_take(&((pf_firefox *)(void *)x)->tracks, x, sample, label);
}

static bool note(pf_exporter *x, const pf_profiled *about)
{
    return pf_tracks_note(&((pf_firefox *)(void *)x)->tracks, x, about);
}

/* A name of a capture as a JSON string. */
static void put_name(pf_firefox *f, const char *name)
{
    pf_export_put_name(&f->x, &f->name, name);
}

/* How the profiler shows values of a kind. */
static const char *format_of(const perfile_field *field)
{
    static const struct {
        uint8_t kind;
        const char *format;
    } formats[] = {{PERFILE_KIND_PID, "pid"},
                   {PERFILE_KIND_TID, "tid"},
                   {PERFILE_KIND_SIZE, "bytes"},
                   {PERFILE_KIND_DURATION, "nanoseconds"},
                   {PERFILE_KIND_PATH, "file-path"}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].kind == field->kind)
            return formats[i].format;
    const bool number = field->type <= PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64;
    return number && perfile_kind_base(field->kind) == PERFILE_BASE_DEC ? "integer" : "string";
}

static void put_field(pf_firefox *f, const char *key, const char *label, const char *format)
{
    pf_firefox_put(f, "{\"key\":\"");
    pf_firefox_put(f, key);
    pf_firefox_put(f, "\",\"label\":");
    pf_export_put_string(&f->x, label);
    pf_firefox_put(f, ",\"format\":\"");
    pf_firefox_put(f, format);
    pf_firefox_put(f, "\"}");
}

/* Begins a schema, up to its fields. */
static void begin_schema(pf_firefox *f, const char *name, bool in_overview)
{
    pf_firefox_put(f, "{\"name\":");
    pf_export_put_name(&f->x, &f->name, name);
    pf_firefox_put(f, ",\"display\":[\"marker-chart\",\"marker-table\"");
    pf_firefox_put(f, in_overview ? ",\"timeline-overview\"],\"fields\":[" : "],\"fields\":[");
}

/* Ends it: what is written beside a marker in the table, in the chart, and where it is pointed at.
 * Names in braces are of its fields. */
static void end_schema(pf_firefox *f, const char *table, const char *chart)
{
    const char *const labels[][2] = {
        {"tableLabel", table}, {"chartLabel", chart}, {"tooltipLabel", "{marker.name}"}};
    pf_firefox_put(f, "]");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        pf_firefox_put(f, ",\"");
        pf_firefox_put(f, labels[i][0]);
        pf_firefox_put(f, "\":\"");
        pf_firefox_put(f, labels[i][1]);
        pf_firefox_put(f, "\"");
    }
    pf_firefox_put(f, "}");
}

/* Appends a field to what the table says of a record: texts as they are, numbers with their key.
 * Of a record with texts these say enough. */
static void add_label(char *label, size_t size, const perfile_field *field, bool texts)
{
    const size_t n = strlen(label);
    const char *key = pf_marks_key(field);
    const bool is_text = field->type == PERFILE_STORED_TEXT;
    if (is_text != texts || field->kind == PERFILE_KIND_PID || field->kind == PERFILE_KIND_TID)
        return;
    char part[128];
    const int length = snprintf(part, sizeof part, "%s%s%s{marker.data.%s}", n ? ", " : "",
                                texts ? "" : key, texts ? "" : " ", key);
    if (length > 0 && (size_t)length < sizeof part && n + (size_t)length < size)
        memcpy(label + n, part, (size_t)length + 1);
}

static bool is_of(const pf_mark_field *field, const pf_mark_kind *kind)
{
    return field->kind.type == kind->type && field->kind.event == kind->event;
}

/* What the table says of marks of a kind: the fields that were seen, or `other`. */
static void make_label(const pf_firefox *f, const pf_mark_kind *kind, const char *other,
                       char *label, size_t size)
{
    const pf_intern *fields = &f->tracks.said.fields;
    label[0] = '\0';
    for (unsigned texts = 2; texts-- > 0 && !label[0];)
        for (uint32_t i = 0; i < fields->n; i++) {
            const pf_mark_field *m = pf_intern_at(fields, i);
            if (is_of(m, kind))
                add_label(label, size, m->field, texts);
        }
    if (!label[0])
        snprintf(label, size, "%s", other);
}

/* What marks of a record have: the fields that were seen. */
static void put_record_schema(pf_firefox *f, const pf_mark_kind *kind)
{
    const pf_intern *fields = &f->tracks.said.fields;
    char label[256];
    unsigned n = 0;
    begin_schema(f, pf_marks_name(kind), false);
    for (uint32_t i = 0; i < fields->n; i++) {
        const pf_mark_field *m = pf_intern_at(fields, i);
        if (!is_of(m, kind))
            continue;
        pf_firefox_put(f, n++ ? "," : "");
        put_field(f, pf_marks_key(m->field), m->field->doc, format_of(m->field));
    }
    make_label(f, kind, "{marker.name}", label, sizeof label);
    end_schema(f, label, "{marker.name}");
}

static void put_schemas(pf_firefox *f)
{
    pf_firefox_put(f, ",\"markerSchema\":[\n");
    begin_schema(f, "on-cpu", true);
    put_field(f, "cpu", "processor", "integer");
    end_schema(f, "processor {marker.data.cpu}", "CPU {marker.data.cpu}");
    for (uint32_t i = 0; i < f->tracks.said.kinds.n; i++) {
        const pf_mark_kind *kind = pf_intern_at(&f->tracks.said.kinds, i);
        pf_firefox_put(f, ",\n");
        if (kind->type != PERFILE_RECORD_SAMPLE) {
            put_record_schema(f, kind);
            continue;
        }
        begin_schema(f, pf_marks_name(kind), true);
        for (uint32_t k = 0; k < f->tracks.said.fields.n; k++) {
            const pf_mark_field *m = pf_intern_at(&f->tracks.said.fields, k);
            if (!is_of(m, kind))
                continue;
            put_field(f, pf_marks_key(m->field), m->field->name, format_of(m->field));
            pf_firefox_put(f, ",");
        }
        put_field(f, "period", "period", "integer");
        char label[256];
        make_label(f, kind, "period {marker.data.period}", label, sizeof label);
        end_schema(f, label, "{marker.name}");
    }
    pf_firefox_put(f, "\n]");
}

/* A fact of the first capture that knows it. */
static void put_fact(pf_firefox *f, const char *key, unsigned fact)
{
    if (!f->x.facts[fact])
        return;
    pf_firefox_put(f, ",\"");
    pf_firefox_put(f, key);
    pf_firefox_put(f, "\":");
    put_name(f, f->x.facts[fact]);
}

/* ns since 1970 of the first time; 0: not known. */
static uint64_t start_time(const pf_firefox *f)
{
    const uint64_t back = f->x.wall_at - f->tracks.first;
    return f->x.wall_time && back <= f->x.wall_time ? f->x.wall_time - back : 0;
}

/* False if functions are still to be looked up for some frame. */
static bool is_symbolicated(const pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    bool known = true;
    for (uint32_t i = 0; i < p->frames.n && known; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        known = frame->object == PF_NO_OBJECT || frame->function;
    }
    return known;
}

static void put_meta(pf_firefox *f)
{
    char versions[120];
    snprintf(versions, sizeof versions, ",\"version\":%d,\"preprocessedProfileVersion\":%d",
             GECKO_VERSION, VERSION);
    pf_firefox_put(f, "{\"meta\":{\"interval\":");
    pf_firefox_ms(f, f->interval ? f->interval : NS_PER_MS);
    pf_firefox_put(f, ",\"startTime\":");
    pf_firefox_ms(f, start_time(f));
    pf_firefox_put(f, versions);
    pf_firefox_put(f, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"importedFrom\":"
                      "\"perfile\",\"product\":");
    pf_export_put_title(&f->x, &f->name);
    put_fact(f, "oscpu", PERFILE_FACT_OSRELEASE);
    put_fact(f, "platform", PERFILE_FACT_ARCH);
    put_fact(f, "device", PERFILE_FACT_HOSTNAME);
    put_fact(f, "arguments", PERFILE_FACT_CMDLINE);
    const bool asks = f->x.options.flags & PERFILE_EXPORT_SYMBOL_SERVER && !is_symbolicated(f);
    pf_firefox_put(f, asks ? ",\"symbolicated\":false" : ",\"symbolicated\":true");
    pf_firefox_put(f, ",\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true"
                      ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
                      "\"threadCPUDelta\":\"ns\"},\n\"categories\":[");
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        pf_firefox_put(f, i ? ",{\"name\":\"" : "{\"name\":\"");
        pf_firefox_put(f, categories[i].name);
        pf_firefox_put(f, "\",\"color\":\"");
        pf_firefox_put(f, categories[i].color);
        pf_firefox_put(f, "\",\"subcategories\":[\"Other\"]}");
    }
    pf_firefox_put(f, "]");
    put_schemas(f);
    pf_firefox_put(f, "},\n");
}

static void put_hex(pf_firefox *f, const uint8_t *bytes, size_t n, const char *digits)
{
    for (size_t i = 0; i < n; i++)
        pf_emit_bytes(&f->x.base, (const char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
}

/* Both ids of a build: all of it, and the form of Breakpad, a GUID of 16 bytes of which the first
 * three numbers have their bytes swapped, and 0 as age. */
static void put_ids(pf_firefox *f, const pf_object *object)
{
    static const uint8_t order[DEBUG_ID_BYTES] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    uint8_t guid[DEBUG_ID_BYTES];
    for (size_t i = 0; i < DEBUG_ID_BYTES; i++)
        guid[i] = object->build_id[order[i]];
    pf_firefox_put(f, ",\"breakpadId\":\"");
    put_hex(f, guid, sizeof guid, "0123456789ABCDEF");
    pf_firefox_put(f, "0\",\"codeId\":");
    if (!object->build_id_size) {
        pf_firefox_put(f, "null");
        return;
    }
    pf_firefox_put(f, "\"");
    put_hex(f, object->build_id, object->build_id_size, "0123456789abcdef");
    pf_firefox_put(f, "\"");
}

static perfile_status put_libs(pf_firefox *f, perfile_error *err)
{
    const pf_profile *p = &f->x.profile;
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, "\"libs\":[");
    for (uint32_t i = 0; i < p->objects.n && st == PERFILE_OK; i++) {
        const pf_object *object = pf_profile_object_at(p, i);
        const char *slash = strrchr(object->name, '/');
        const char *base = slash && slash[1] ? slash + 1 : object->name;
        const char *const names[][2] = {{"\"name\":", base},
                                        {",\"path\":", object->name},
                                        {",\"debugName\":", base},
                                        {",\"debugPath\":", object->name}};
        pf_firefox_put(f, i ? ",\n{" : "\n{");
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            pf_firefox_put(f, names[k][0]);
            put_name(f, names[k][1]);
        }
        pf_firefox_put(f, ",\"arch\":");
        put_name(f, f->x.facts[PERFILE_FACT_ARCH] ? f->x.facts[PERFILE_FACT_ARCH] : "?");
        put_ids(f, object);
        pf_firefox_put(f, "}");
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "\n],\n");
    return st;
}

static void put_text_at(pf_firefox *f, size_t i)
{
    pf_export_put_string(&f->x, ((const char *const *)(const void *)f->texts.ptr)[i]);
}

/* The threads, then the texts, which are all known by then. */
static perfile_status put_threads(pf_firefox *f, perfile_error *err)
{
    perfile_status st = pf_firefox_open_threads(f, err);
    unsigned n = 0;
    pf_firefox_put(f, "\"threads\":[");
    for (uint32_t i = 0; i < f->tracks.n && st == PERFILE_OK; i++) {
        if (!f->tracks.at[i].used)
            continue;
        pf_firefox_put(f, n++ ? ",\n" : "\n");
        st = pf_firefox_put_thread(f, i, err);
    }
    pf_firefox_put(f, "\n],\n\"shared\":{");
    if (st == PERFILE_OK)
        st = pf_firefox_column(f, "stringArray", f->texts.len / sizeof(char *), put_text_at, err);
    pf_firefox_put(f, "}}\n");
    return st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_firefox *f = (pf_firefox *)(void *)e;
    perfile_status st = pf_export_end_input(&f->x, err);
    if (st == PERFILE_OK)
        st = choose_event(f, err);
    if (st == PERFILE_OK)
        st = pf_tracks_sort(&f->tracks, &f->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&f->shown, &f->x, err);
    if (st != PERFILE_OK)
        return st;
    put_meta(f);
    st = put_libs(f, err);
    return st == PERFILE_OK ? put_threads(f, err) : st;
}

static const pf_export_ops exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = take,
    .note = note,
    .by_time = true,
    .per = {PERFILE_PER_PID, PERFILE_PER_TID},
    .per_event = true,
    .lines = true,
};

const pf_emit_ops pf_emit_firefox = {
    .name = "firefox",
    .doc = "JSON for the Firefox Profiler: samples and events of each thread over time",
    .size = sizeof(pf_firefox),
    .open = open,
    .close = close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &exports,
};
