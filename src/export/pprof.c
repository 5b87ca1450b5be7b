/* The form `pprof`: profile.proto of pprof, compressed with gzip.
 *
 * A protobuf message may be written in parts: later parts add to its repeated fields.  So each
 * sample, location, mapping and function is packed on its own, and only the indexes of texts are
 * stored until the end.  The values of a sample are the number of samples, then the sum of the
 * periods for each event.  A capture with very many events has one value for all of them, and a
 * label with the event. */
#include "export/export.h"

#ifdef PERFILE_WITH_PPROF /* cmake/forms.cmake */

#include "base/alloc.h"
#include "base/error.h"
#include "pprof.pb-c.h"

#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Output of an emitter that is compressed to a gzip file. */
typedef struct pf_gzip {
    z_stream z;
    perfile_emitter *e;
} pf_gzip;

/* gzip by zlib.  The header has no name and no time, so that equal output makes equal files. */

/* Parameters of the compression: 2^BITS bytes of window, zlib's memory level, bytes of output per
 * call.  Fuzzers use small ones, because clearing 300 KiB would take most of the time of a small
 * profile. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BITS = 9, MEMORY = 1, ROOM = 256 };
#else
enum { BITS = 15, MEMORY = 8, ROOM = 64 << 10 };
#endif
enum {
    WINDOW = BITS + 16, /* +16: zlib writes gzip instead of its own format */
    MOST = 1 << 30      /* bytes of input per call: zlib counts them in 32 bits */
};

/* Begins a file with zlib's fastest level, as pprof's own writer does; even so, compression takes
 * most of the time.  Returns false when out of memory; otherwise pf_gzip_free() ends it. */
static bool pf_gzip_begin(pf_gzip *g, perfile_emitter *e)
{
    *g = (pf_gzip){.e = e};
    return deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) ==
           Z_OK;
}

/* Runs zlib until it needs no more output room. */
static perfile_status run(pf_gzip *g, int flush, perfile_error *err)
{
    perfile_status st;
    do {
        uint8_t *out = pf_emit_room(g->e, ROOM);
        if (!out)
            return pf_fail_nomem(err, "gzip");
        g->z.next_out = out;
        g->z.avail_out = ROOM;
        (void)deflate(&g->z, flush); /* only fails if the stream is invalid */
        pf_emit_filled(g->e, g->z.next_out);
        st = g->e->out.len >= ROOM ? pf_emitter_write_out(g->e, err) : PERFILE_OK;
    } while (st == PERFILE_OK && g->z.avail_out == 0);
    return st;
}

/* Compresses bytes into the output of the emitter, and writes full chunks of it. */
static perfile_status pf_gzip_put(pf_gzip *g, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (bytes.len && st == PERFILE_OK) {
        const size_t n = bytes.len < MOST ? bytes.len : MOST;
        g->z.next_in = bytes.ptr;
        g->z.avail_in = (uInt)n;
        st = run(g, Z_NO_FLUSH, err);
        bytes.ptr += n;
        bytes.len -= n;
    }
    return st;
}

/* Ends the file. */
static perfile_status pf_gzip_finish(pf_gzip *g, perfile_error *err)
{
    g->z.avail_in = 0;
    return run(g, Z_FINISH, err);
}

static void pf_gzip_free(pf_gzip *g)
{
    (void)deflateEnd(&g->z);
}

enum {
    MOST_EVENTS = 32,   /* events with a value of their own */
    COMMENT_MOST = 4096 /* bytes of a comment */
};

/* Texts that are always in the table, at these indexes. */
enum { EMPTY, SAMPLES, COUNT, NANOSECONDS, PERIOD, COMM, PID, TID, CPU, EVENT, HOST, N_WORDS };
static const char *const words[N_WORDS] = {
    "", "samples", "count", "nanoseconds", "period", "comm", "pid", "tid", "cpu", "event", "host"};

/* A value of samples: for one event, or for all. */
typedef struct measure {
    const char *event;       /* NULL: not known, or all events */
    uint64_t samples, total; /* of the event: number of samples, sum of periods */
} measure;

typedef struct writer {
    pf_exporter *x;
    pf_gzip gzip;
    pf_buffer packed;   /* the part that is being written */
    pf_buffer name;     /* name of a frame */
    pf_buffer texts;    /* const char *: string_table after the words; texts of the profile */
    pf_index positions; /* address of a text to its index in `texts` */
    measure values[MOST_EVENTS];
    size_t n_events;     /* events with a value */
    bool per_event;      /* each event has a value; else one value for all */
    pf_buffer extents;   /* extent: address range of each object */
    pf_buffer ids;       /* uint64_t: locations of the sample */
    pf_intern functions; /* known_function: their index is the id - 1 */
    pf_buffer keys;      /* uint32_t: pf_line_key() of the frames of a location */
    uint8_t *used;       /* for each key: the location that begins with it is written */
} writer;

/* A function, and a source file with lines of it.  The whole struct is the key. */
typedef struct known_function {
    const void *function; /* pf_function, or the name if the function is not known */
    const char *file;     /* NULL if not known */
} known_function;

/* The address range of the frames of an object. */
typedef struct extent {
    uint64_t first, last;
    bool has_functions, has_lines;
} extent;

/* Writes a part of the message. */
static perfile_status put(writer *w, const PfPprof__Profile *part, perfile_error *err)
{
    const size_t n = pf_pprof__profile__get_packed_size(part);
    pf_buffer_clear(&w->packed);
    if (!pf_buffer_reserve(&w->packed, n + 1))
        return pf_fail_nomem(err, "export");
    return pf_gzip_put(&w->gzip,
                       (perfile_bytes){w->packed.ptr, pf_pprof__profile__pack(part, w->packed.ptr)},
                       err);
}

/* Returns the index of a text of the profile in the table; EMPTY for NULL.  Returns a negative
 * number when out of memory. */
static int64_t position_of(writer *w, const char *text)
{
    if (!text)
        return EMPTY;
    uint32_t at = pf_index_get(&w->positions, (uintptr_t)text);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(w->texts.len / sizeof text);
        if (!pf_index_put(&w->positions, (uintptr_t)text, at) ||
            !pf_buffer_append(&w->texts, &text, sizeof text))
            return -1;
    }
    return N_WORDS + (int64_t)at;
}

/* Returns the profile's copy of the first `most` bytes of a text, cleaned to UTF-8 as protobuf text
 * fields require.  NULL when out of memory. */
static const char *clean_text(writer *w, const char *text, size_t most)
{
    pf_buffer_clear(&w->name);
    if (!pf_name_text(text, most, &w->name) || !pf_buffer_append_u8(&w->name, 0))
        return NULL;
    return pf_profile_text(&w->x->profile, (const char *)w->name.ptr);
}

/* The same as an index; negative when out of memory. */
static int64_t clean_position(writer *w, const char *text)
{
    if (!text)
        return EMPTY;
    text = clean_text(w, text, PF_NAME_MOST);
    return text ? position_of(w, text) : -1;
}

static perfile_status fail(writer *w, perfile_error *err)
{
    return pf_profile_fail(&w->x->profile, err);
}

/* Returns the index of the value of an event; n_events if it has none. */
static size_t event_at(const writer *w, const char *event)
{
    size_t i = 0;
    while (i < w->n_events && w->values[i].event != event)
        i++;
    return i;
}

/* Returns the index of the value of a sample. */
static size_t value_at(const writer *w, const pf_label *label)
{
    return w->per_event ? event_at(w, label->event) : 0;
}

static void find_events(writer *w)
{
    const pf_profile *p = &w->x->profile;
    w->per_event = true;
    for (uint32_t i = 0; i < p->labels.n && w->per_event; i++) {
        const char *event = pf_profile_label_at(p, i)->event;
        if (event_at(w, event) < w->n_events)
            continue;
        w->per_event = w->n_events < MOST_EVENTS;
        if (w->per_event)
            w->values[w->n_events++] = (measure){.event = event};
    }
    if (!w->per_event)
        w->values[0] = (measure){0};
    for (uint32_t i = 0; i < p->sums.n; i++) {
        const pf_sum *sum = pf_profile_sum_at(p, i);
        measure *v = &w->values[value_at(w, pf_profile_label_at(p, sum->label))];
        pf_sum_add(&v->samples, sum->samples);
        pf_sum_add(&v->total, sum->period);
    }
}

static perfile_status put_value_type(writer *w, int64_t type, int64_t unit, perfile_error *err)
{
    PfPprof__ValueType value = PF_PPROF__VALUE_TYPE__INIT;
    PfPprof__ValueType *values[1] = {&value};
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    value.type = type;
    value.unit = unit;
    part.sample_type = values;
    part.n_sample_type = 1;
    return type < 0 ? fail(w, err) : put(w, &part, err);
}

static perfile_status put_value_types(writer *w, perfile_error *err)
{
    perfile_status st = put_value_type(w, SAMPLES, COUNT, err);
    if (!w->per_event)
        return st == PERFILE_OK ? put_value_type(w, PERIOD, COUNT, err) : st;
    for (size_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const char *event = w->values[i].event;
        st = put_value_type(w, event ? clean_position(w, event) : PERIOD,
                            pf_export_is_clock(event) ? NANOSECONDS : COUNT, err);
    }
    return st;
}

/* Fills in the labels of a sample and returns their number.  Unknown numbers are left out, because
 * 0 is a valid pid and tid. */
static size_t find_labels(writer *w, const pf_label *label, PfPprof__Label *out, bool *ok)
{
    const struct {
        int64_t key;
        uint32_t number;
    } numbers[] = {{PID, label->pid}, {TID, label->tid}, {CPU, label->cpu}};
    const struct {
        int64_t key;
        const char *text;
    } texts[] = {
        {COMM, label->comm}, {HOST, label->host}, {EVENT, w->per_event ? NULL : label->event}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!texts[i].text)
            continue;
        out[n] = (PfPprof__Label)PF_PPROF__LABEL__INIT;
        out[n].key = texts[i].key;
        out[n].str = clean_position(w, texts[i].text);
        *ok = *ok && out[n].str >= 0;
        n++;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].number == PF_NO_LABEL)
            continue;
        out[n] = (PfPprof__Label)PF_PPROF__LABEL__INIT;
        out[n].key = numbers[i].key;
        out[n].num = numbers[i].number;
        n++;
    }
    return n;
}

/* Converts a sum to a value, which is signed. */
static int64_t value_of(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* Returns the name of a frame as a text of the profile, NULL when out of memory.  Sets *known if it
 * is the name of a function. */
static const char *name_of(writer *w, const pf_call_frame *frame, bool *known)
{
    const pf_profile *p = &w->x->profile;
    const pf_tree_options options = pf_export_tree_options(w->x);
    pf_buffer_clear(&w->name);
    if (!pf_name_function(p, frame, &w->name, known))
        return NULL;
    pf_buffer_clear(&w->name);
    if (!pf_tree_frame_name(p, &options, frame, &w->name) || !pf_buffer_append_u8(&w->name, 0))
        return NULL;
    return pf_profile_text(&w->x->profile, (const char *)w->name.ptr);
}

/* Returns the id of the function of a frame with this name, and writes the function if it is new.
 * Returns 0 on failure.  If no function is known, frames of the same name share one. */
static uint64_t put_function(writer *w, const pf_call_frame *frame, const char *name,
                             const char *file, perfile_status *st, perfile_error *err)
{
    const pf_function *of = pf_profile_function_of(&w->x->profile, frame);
    /* No functions are added any more, so their addresses do not change. */
    const known_function key = {of ? (const void *)of : name, file};
    const size_t before = w->functions.n;
    const uint32_t number = pf_intern_add(&w->functions, &key);
    if (number != PF_INTERN_NONE && w->functions.n == before)
        return number + UINT64_C(1);
    PfPprof__Function function = PF_PPROF__FUNCTION__INIT, *functions[1] = {&function};
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    const char *stored = of ? clean_text(w, of->mangled, PF_FUNCTION_MOST) : name;
    function.name = position_of(w, name);
    function.system_name = stored ? position_of(w, stored) : -1;
    function.filename = clean_position(w, file);
    function.id = number + UINT64_C(1);
    part.n_function = 1;
    part.function = functions;
    if (number == PF_INTERN_NONE || function.name < 0 || function.system_name < 0 ||
        function.filename < 0) {
        *st = fail(w, err);
        return 0;
    }
    *st = put(w, &part, err);
    return function.id;
}

/* Widens the extent of the object of a frame. */
static void widen(writer *w, const pf_call_frame *frame, uint64_t address, bool has_function,
                  bool has_line)
{
    extent *e = (extent *)(void *)w->extents.ptr + frame->object;
    e->first = address < e->first ? address : e->first;
    e->last = address > e->last ? address : e->last;
    e->has_functions |= has_function;
    e->has_lines |= has_line;
}

/* Makes the line of a frame for a location.  Even a frame without a known function has one, because
 * viewers show nothing else.  Its mapping says that functions must be looked up. */
static perfile_status add_line(writer *w, uint32_t key, bool *known, PfPprof__Line *line,
                               perfile_error *err)
{
    const pf_call_frame frame = *pf_profile_frame_at(&w->x->profile, key / 2);
    const pf_line source = pf_line_at(&w->x->lines, key);
    perfile_status st = PERFILE_OK;
    const char *name = name_of(w, &frame, known);
    if (!name)
        return fail(w, err);
    *line = (PfPprof__Line)PF_PPROF__LINE__INIT;
    line->function_id = put_function(w, &frame, name, source.file, &st, err);
    line->line = source.file ? source.line : 0;
    return st;
}

/* Writes the location of the frames with the `n` keys at w->keys: the functions inlined there,
 * innermost first, then the function that contains them. */
static perfile_status put_location(writer *w, size_t n, perfile_error *err)
{
    const pf_profile *p = &w->x->profile;
    const uint32_t *keys = (const uint32_t *)(const void *)w->keys.ptr;
    const pf_call_frame frame = *pf_profile_frame_at(p, keys[0] / 2);
    const pf_object *object = pf_profile_object_at(p, frame.object);
    PfPprof__Location location = PF_PPROF__LOCATION__INIT, *locations[1] = {&location};
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    PfPprof__Line *lines = pf_alloc(n, sizeof *lines), **list = pf_alloc(n, sizeof *list);
    bool known = false;
    perfile_status st = lines && list ? PERFILE_OK : pf_fail_nomem(err, "export");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        list[i] = &lines[i];
        st = add_line(w, keys[i], &known, &lines[i], err);
    }
    location.id = keys[0] + UINT64_C(1);
    location.address = object ? pf_object_address(object, frame.offset) : frame.offset;
    location.address -= location.address ? keys[0] % 2 : 0;
    location.n_line = n;
    location.line = list;
    if (object) {
        location.mapping_id = frame.object + UINT64_C(1);
        widen(w, &frame, location.address, known, pf_line_at(&w->x->lines, keys[0]).file);
    }
    part.n_location = 1;
    part.location = locations;
    if (st == PERFILE_OK)
        st = put(w, &part, err);
    pf_free(lines);
    pf_free(list);
    return st;
}

/* Puts the locations of a stack into w->ids, innermost first, and writes the new ones.  A calling
 * frame has its own location at the call, as the format requires. */
static perfile_status find_ids(writer *w, uint32_t stack, perfile_error *err)
{
    const pf_profile *p = &w->x->profile;
    uint32_t key = 0, inner = PF_EMPTY_STACK;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&w->ids);
    while (stack != PF_EMPTY_STACK && st == PERFILE_OK) {
        bool inlined, ok = true;
        pf_buffer_clear(&w->keys);
        do { /* inlined functions, then the function that contains them */
            key = pf_line_key(p, stack, inner, key);
            ok = ok && pf_buffer_append(&w->keys, &key, sizeof key);
            inlined = pf_is_inlined(p, stack);
            inner = stack;
            stack = pf_profile_stack_at(p, stack)->parent;
        } while (inlined);
        if (!ok)
            return pf_fail_nomem(err, "export");
        const uint32_t first = *(const uint32_t *)(const void *)w->keys.ptr;
        const uint64_t id = first + UINT64_C(1);
        if (!w->used[first])
            st = put_location(w, w->keys.len / sizeof key, err);
        w->used[first] = 1;
        if (st == PERFILE_OK && !pf_buffer_append(&w->ids, &id, sizeof id))
            st = pf_fail_nomem(err, "export");
    }
    return st;
}

static perfile_status put_sample(writer *w, const pf_sum *sum, perfile_error *err)
{
    enum { MOST_LABELS = 6 };
    const pf_label *label = pf_profile_label_at(&w->x->profile, sum->label);
    PfPprof__Label labels[MOST_LABELS], *label_list[MOST_LABELS];
    int64_t values[1 + MOST_EVENTS] = {value_of(sum->samples)};
    PfPprof__Sample sample = PF_PPROF__SAMPLE__INIT, *samples[1] = {&sample};
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    bool ok = true;
    perfile_status st = find_ids(w, sum->stack, err);
    if (st != PERFILE_OK)
        return st;
    values[1 + value_at(w, label)] = value_of(sum->period);
    sample.n_location_id = w->ids.len / sizeof(uint64_t);
    sample.location_id = (uint64_t *)(void *)w->ids.ptr;
    sample.n_value = 1 + (w->per_event ? w->n_events : 1);
    sample.value = values;
    sample.n_label = find_labels(w, label, labels, &ok);
    for (size_t i = 0; i < sample.n_label; i++)
        label_list[i] = &labels[i];
    sample.label = label_list;
    part.n_sample = 1;
    part.sample = samples;
    return ok ? put(w, &part, err) : fail(w, err);
}

static perfile_status put_mapping(writer *w, uint32_t number, perfile_error *err)
{
    const pf_object *object = pf_profile_object_at(&w->x->profile, number);
    const extent *e = (const extent *)(const void *)w->extents.ptr + number;
    const perfile_mapping *m = &object->first;
    char id[2 * sizeof object->build_id + 1] = "";
    PfPprof__Mapping mapping = PF_PPROF__MAPPING__INIT, *mappings[1] = {&mapping};
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    for (size_t i = 0; i < object->build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", object->build_id[i]);
    mapping.id = number + UINT64_C(1);
    mapping.memory_start = m->addr;
    mapping.memory_limit = m->len < UINT64_MAX - m->addr ? m->addr + m->len : UINT64_MAX;
    mapping.file_offset = m->pgoff;
    if (e->first <= e->last) { /* other segments of the file, as if mapped next to it */
        if (e->first < mapping.memory_start) {
            const uint64_t more = mapping.memory_start - e->first;
            mapping.memory_start -= more;
            mapping.file_offset -= more < mapping.file_offset ? more : mapping.file_offset;
        }
        if (e->last >= mapping.memory_limit)
            mapping.memory_limit = e->last < UINT64_MAX ? e->last + 1 : UINT64_MAX;
    }
    mapping.has_functions = e->has_functions;
    mapping.has_filenames = mapping.has_line_numbers = e->has_lines;
    mapping.has_inline_frames = w->x->options.flags & PERFILE_EXPORT_INLINE && e->has_functions;
    mapping.filename = clean_position(w, object->name);
    mapping.build_id = id[0] ? clean_position(w, id) : EMPTY;
    part.n_mapping = 1;
    part.mapping = mappings;
    return mapping.filename >= 0 && mapping.build_id >= 0 ? put(w, &part, err) : fail(w, err);
}

/* Finding the program: viewers take the first mapping as the program, and name the profile after
 * it. */

/* Returns true if an object may be the program of a process: a file that is not a library. */
static bool may_be_program(const pf_object *object)
{
    const char *slash = strrchr(object->name, '/');
    return object->kind == PERFILE_MAPPING_FILE && slash && !strstr(slash, ".so") &&
           !strstr(slash, ".ko") && !pf_object_is_jit(object);
}

/* Returns true if a thread has the name of the file: exec gives it the first 15 bytes. */
static bool is_called(const pf_object *object, const char *comm)
{
    return comm && comm[0] && strncmp(strrchr(object->name, '/') + 1, comm, strlen(comm)) == 0;
}

/* Returns the object with most samples that may be a program.  Objects that give threads their name
 * come first.  Returns PF_NO_OBJECT if there is none.  Sets *ok to false when out of memory. */
static uint32_t find_program(writer *w, bool *ok)
{
    const pf_profile *p = &w->x->profile;
    uint64_t(*samples)[2] = pf_alloc(p->objects.n + 1, sizeof *samples);
    uint32_t best = PF_NO_OBJECT;
    *ok = samples;
    for (uint32_t i = 0; i < p->sums.n && *ok; i++) {
        const pf_sum *sum = pf_profile_sum_at(p, i);
        const char *comm = pf_profile_label_at(p, sum->label)->comm;
        uint32_t last = PF_NO_OBJECT;
        for (uint32_t at = sum->stack; at != PF_EMPTY_STACK;) {
            const pf_call_stack *stack = pf_profile_stack_at(p, at);
            const uint32_t number = pf_profile_frame_at(p, stack->frame)->object;
            const pf_object *object = pf_profile_object_at(p, number);
            if (object && number != last && may_be_program(object))
                pf_sum_add(&samples[number][is_called(object, comm)], sum->samples);
            last = number;
            at = stack->parent;
        }
    }
    for (size_t called = 2; called-- > 0 && *ok && best == PF_NO_OBJECT;)
        for (uint32_t i = 0; i < p->objects.n; i++)
            if (samples[i][called] &&
                (best == PF_NO_OBJECT || samples[i][called] > samples[best][called]))
                best = i;
    pf_free(samples);
    return best;
}

/* Writes the objects, the program first. */
static perfile_status put_mappings(writer *w, perfile_error *err)
{
    bool ok;
    const uint32_t program = find_program(w, &ok);
    perfile_status st = ok ? PERFILE_OK : pf_fail_nomem(err, "export");
    if (st == PERFILE_OK && program != PF_NO_OBJECT)
        st = put_mapping(w, program, err);
    for (uint32_t i = 0; i < w->x->profile.objects.n && st == PERFILE_OK; i++)
        if (i != program)
            st = put_mapping(w, i, err);
    return st;
}

/* Writes which event viewers show first, the one with most samples, and how often these were taken.
 * If no periods are known, viewers show the number of samples. */
static perfile_status put_period(writer *w, perfile_error *err)
{
    PfPprof__ValueType type = PF_PPROF__VALUE_TYPE__INIT;
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    const measure *first = &w->values[0];
    for (size_t i = 1; i < w->n_events && w->per_event; i++)
        if (w->values[i].samples > first->samples)
            first = &w->values[i];
    const pf_export_event e = pf_export_event_of(w->x, first->event);
    const int64_t name = first->event ? clean_position(w, first->event) : PERIOD;
    part.default_sample_type = first->total ? name : SAMPLES;
    if (e.interval) {
        type.type = CPU;
        type.unit = NANOSECONDS;
        part.period = value_of(e.interval);
    } else {
        type.type = name;
        type.unit = COUNT;
        part.period = value_of(e.period);
    }
    if (part.period)
        part.period_type = &type;
    return name >= 0 ? put(w, &part, err) : fail(w, err);
}

/* Writes time, duration and comments. */
static perfile_status put_origin(writer *w, perfile_error *err)
{
    const pf_exporter *x = w->x;
    const size_t n = x->comments.len / sizeof(char *);
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    part.time_nanos = value_of(x->wall_time);
    part.duration_nanos =
        x->sum.first_time <= x->sum.last_time ? value_of(x->sum.last_time - x->sum.first_time) : 0;
    perfile_status st = put(w, &part, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        const char *text =
            clean_text(w, ((const char *const *)(const void *)x->comments.ptr)[i], COMMENT_MOST);
        int64_t comment = text ? position_of(w, text) : -1;
        part = (PfPprof__Profile)PF_PPROF__PROFILE__INIT;
        part.n_comment = 1;
        part.comment = &comment;
        st = comment >= 0 ? put(w, &part, err) : fail(w, err);
    }
    return st;
}

static perfile_status put_text(writer *w, const char *text, perfile_error *err)
{
    PfPprof__Profile part = PF_PPROF__PROFILE__INIT;
    char *texts[1];
    memcpy(texts, &text, sizeof text); /* the library does not write to it */
    part.n_string_table = 1;
    part.string_table = texts;
    return put(w, &part, err);
}

static perfile_status put_texts(writer *w, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const char *const *texts = (const char *const *)(const void *)w->texts.ptr;
    for (size_t i = 0; i < N_WORDS && st == PERFILE_OK; i++)
        st = put_text(w, words[i], err);
    for (size_t i = 0; i < w->texts.len / sizeof *texts && st == PERFILE_OK; i++)
        st = put_text(w, texts[i], err);
    return st;
}

/* Allocates the notes that are made while samples are written. */
static perfile_status open_notes(writer *w, perfile_error *err)
{
    const pf_profile *p = &w->x->profile;
    const extent none = {.first = UINT64_MAX};
    w->used = pf_alloc(2 * p->frames.n + 1, sizeof *w->used);
    bool ok = w->used;
    for (size_t i = 0; i < p->objects.n && ok; i++)
        ok = pf_buffer_append(&w->extents, &none, sizeof none);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "export");
}

/* Writes the samples with their frames, then the objects: by then their extents are known. */
static perfile_status write_all(writer *w, perfile_error *err)
{
    find_events(w);
    perfile_status st = open_notes(w, err);
    if (st == PERFILE_OK)
        st = put_value_types(w, err);
    for (uint32_t i = 0; i < w->x->profile.sums.n && st == PERFILE_OK; i++)
        st = put_sample(w, pf_profile_sum_at(&w->x->profile, i), err);
    if (st == PERFILE_OK)
        st = put_mappings(w, err);
    if (st == PERFILE_OK)
        st = put_period(w, err);
    if (st == PERFILE_OK)
        st = put_origin(w, err);
    if (st == PERFILE_OK)
        st = put_texts(w, err);
    return st == PERFILE_OK ? pf_gzip_finish(&w->gzip, err) : st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    writer w = {.x = x};
    perfile_status st = pf_export_end_input(x, err);
    w.positions = (pf_index){.seed = pf_index_seed(&w), .budget = &x->profile.budget};
    w.functions = (pf_intern){.seed = w.positions.seed,
                              .budget = &x->profile.budget,
                              .width = sizeof(known_function),
                              .key = sizeof(known_function)};
    if (st == PERFILE_OK && !pf_gzip_begin(&w.gzip, e))
        st = pf_fail_nomem(err, "export");
    if (st == PERFILE_OK)
        st = write_all(&w, err);
    pf_gzip_free(&w.gzip);
    pf_buffer_free(&w.packed);
    pf_buffer_free(&w.name);
    pf_buffer_free(&w.texts);
    pf_buffer_free(&w.extents);
    pf_buffer_free(&w.ids);
    pf_buffer_free(&w.keys);
    pf_index_free(&w.positions);
    pf_intern_free(&w.functions);
    pf_free(w.used);
    return st;
}

/* Values belong to events, so events are always separate. */
static const pf_export_ops exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .per = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT, PERFILE_PER_CPU},
    .per_event = true,
    .per_host = true,
    .lines = true,
    .joins = true,
    .binary = true};

const pf_emit_ops pf_emit_pprof = {
    .name = "pprof",
    .doc = "a profile for pprof and what reads its files, compressed",
    .size = sizeof(pf_exporter),
    .open = pf_export_open,
    .close = pf_export_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &exports,
};

#endif
