/* Making rows (see rows.h).
 *
 * Frames of the same file and function are one *place*.  Each sum of the profile counts for the row
 * of its innermost place (self), and for the row of every place in its stack (total), but only once
 * for each row, even if a function calls itself.  If the callers or callees of one function are
 * requested, a sum counts for one row only: the row of the frame next to the function. */
#include "report/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/profile.h"

/* Returns true if `per` contains a key. */
static bool has_key(const uint8_t *per, uint8_t key)
{
    return strchr((const char *)per, key) != NULL;
}

/* Finds for each label the number of its requested members. */
static bool number_labels(pf_rows *r, const uint8_t *per)
{
    pf_profile *p = r->profile;
    const bool comm = has_key(per, PERFILE_PER_COMM), event = has_key(per, PERFILE_PER_EVENT);
    const bool pid = has_key(per, PERFILE_PER_PID), tid = has_key(per, PERFILE_PER_TID);
    const bool cpu = has_key(per, PERFILE_PER_CPU);
    for (uint32_t i = 0; i < p->labels.n; i++) {
        const pf_label *whole = pf_profile_label_at(p, i);
        const pf_label label = {.comm = comm ? whole->comm : NULL,
                                .event = event ? whole->event : NULL,
                                .pid = pid ? whole->pid : PF_NO_LABEL,
                                .tid = tid ? whole->tid : PF_NO_LABEL,
                                .cpu = cpu ? whole->cpu : PF_NO_LABEL,
                                .time = whole->time};
        r->label_of[i] = pf_intern_add(&r->labels, &label);
        if (r->label_of[i] == PF_INTERN_NONE)
            return false;
    }
    return true;
}

/* Returns true if all frames of the object without a known function share one place. */
static bool is_joined(const pf_rows *r, const pf_call_frame *frame)
{
    return frame->object == PF_NO_OBJECT ? r->joins_unmapped : r->joins_unnamed;
}

/* Returns the base name of an object's file as a text of the profile: two builds may be in
 * different folders.  Returns NULL when out of memory. */
static const char *file_name(pf_rows *r, const pf_object *object)
{
    const char *base = pf_base_name(object->name);
    return base == object->name ? base : pf_profile_text(r->profile, base);
}

/* Sets the part of a place's key that identifies the function of a frame.  If the function is
 * unknown, the frame has its own place, or shares one with all such frames of its object.  Returns
 * false when out of memory. */
static bool set_function(pf_rows *r, const pf_call_frame *frame, pf_report_place *place)
{
    const pf_profile *p = r->profile;
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const pf_function *function = pf_profile_function_of(p, frame);
    const bool is_symbol = object && object->kind == PERFILE_MAPPING_SYMBOL;
    place->code = frame->code;
    if (is_symbol || function)
        place->function = is_symbol ? object->name : function->name;
    else if (!is_joined(r, frame))
        place->start = frame->offset;
    if (!object || (r->compares && place->function))
        return true;
    place->module = r->compares ? file_name(r, object) : object->name;
    if (!is_symbol && function)
        place->start = function->start;
    return place->module;
}

/* Returns the name of a frame's place, NULL when out of memory. */
static const char *symbol_of(pf_rows *r, const pf_call_frame *frame, const pf_report_place *place,
                             pf_buffer *text)
{
    if (place->function)
        return place->function;
    pf_buffer_clear(text);
    return pf_name_frame(r->profile, frame, is_joined(r, frame), text) &&
                   pf_buffer_append_u8(text, 0)
               ? pf_profile_text(r->profile, (const char *)text->ptr)
               : NULL;
}

bool pf_rows_function(pf_rows *r, const pf_call_frame *frame, pf_report_place *place,
                      pf_buffer *text)
{
    if (!set_function(r, frame, place))
        return false;
    if (!text)
        return true;
    place->symbol = symbol_of(r, frame, place, text);
    return place->symbol;
}

/* Returns "file.c:123" for a frame, NULL if unknown.  Sets *ok to false when out of memory. */
static const char *source_of(pf_rows *r, const pf_call_frame *frame, perfile_symbols *symbols,
                             pf_buffer *text, bool *ok)
{
    bool known;
    pf_buffer_clear(text);
    if (pf_name_source(r->profile, frame, symbols, text, &known, NULL) != PERFILE_OK) {
        *ok = false;
        return NULL;
    }
    if (!known)
        return NULL;
    const char *source =
        pf_buffer_append_u8(text, 0) ? pf_profile_text(r->profile, (const char *)text->ptr) : NULL;
    *ok = *ok && source;
    return source;
}

bool pf_rows_sources(pf_rows *r, pf_profile *profile, perfile_symbols *symbols, uint32_t first)
{
    bool ok = true;
    pf_buffer text = {0};
    const size_t n = profile->frames.n;
    r->profile = profile;
    const char **grown =
        pf_budget_realloc(&profile->budget, r->sources, r->n_sources, n + 1, sizeof *r->sources);
    if (!grown)
        return false;
    r->sources = grown;
    r->n_sources = n + 1;
    for (uint32_t i = first; i < n && ok; i++)
        r->sources[i] = source_of(r, pf_profile_frame_at(profile, i), symbols, &text, &ok);
    pf_buffer_free(&text);
    return ok;
}

/* Sets the key of a frame's place.  Returns false when out of memory. */
static bool read_place(pf_rows *r, uint32_t number, pf_report_place *place)
{
    const pf_call_frame *frame = pf_profile_frame_at(r->profile, number);
    const pf_object *object = pf_profile_object_at(r->profile, frame->object);
    *place = (pf_report_place){.source = r->sources ? r->sources[number] : NULL};
    if (r->per_dso && object)
        place->dso = r->compares ? file_name(r, object) : object->name;
    if (r->per_dso)
        place->code = frame->code;
    return (place->dso || !r->per_dso || !object) &&
           (!r->per_symbol || set_function(r, frame, place));
}

/* Finds the place of each frame. */
static bool number_places(pf_rows *r)
{
    pf_buffer text = {0};
    bool ok = true;
    pf_profile *p = r->profile;
    for (uint32_t i = 0; i < p->frames.n && ok; i++) {
        pf_report_place place;
        const size_t before = r->places.n;
        ok = read_place(r, i, &place);
        r->place_of[i] = ok ? pf_intern_add(&r->places, &place) : PF_INTERN_NONE;
        ok = r->place_of[i] != PF_INTERN_NONE;
        if (!ok || !r->per_symbol || r->places.n == before)
            continue;
        const char *symbol = symbol_of(r, pf_profile_frame_at(p, i), &place, &text);
        ((pf_report_place *)pf_intern_at(&r->places, r->place_of[i]))->symbol = symbol;
        ok = symbol;
    }
    pf_buffer_free(&text);
    return ok;
}

/* Finds the frames of the function for callers or callees, by its printed name.  Returns false when
 * out of memory. */
static bool find_function(pf_rows *r)
{
    bool ok = true;
    pf_buffer text = {0};
    const pf_profile *p = r->profile;
    r->is_around = pf_budget_alloc(&r->profile->budget, p->frames.n + 1, sizeof *r->is_around);
    for (uint32_t i = 0; i < p->frames.n && r->is_around && ok; i++) {
        pf_report_place place = {0};
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        pf_buffer_clear(&text);
        ok = set_function(r, frame, &place) &&
             (place.function || (pf_name_frame(p, frame, is_joined(r, frame), &text) &&
                                 pf_buffer_append_u8(&text, 0)));
        r->is_around[i] = ok && strcmp(r->function, place.function ? place.function
                                                                   : (const char *)text.ptr) == 0;
    }
    pf_buffer_free(&text);
    return r->is_around && ok;
}

bool pf_rows_around(const pf_rows *r, uint32_t stack, pf_around *out)
{
    uint32_t inner = PF_INTERN_NONE;
    bool found = false;
    for (size_t depth = 0; stack != PF_EMPTY_STACK; depth++) {
        const pf_call_stack *s = pf_profile_stack_at(r->profile, stack);
        stack = s->parent;
        if (r->is_around[s->frame]) {
            *out = (pf_around){inner, depth};
            found = true;
        }
        if (found && r->around == PF_AROUND_CALLERS) {
            out->frame = stack == PF_EMPTY_STACK ? PF_INTERN_NONE
                                                 : pf_profile_stack_at(r->profile, stack)->frame;
            return true;
        }
        inner = s->frame;
    }
    return found;
}

/* Finds the innermost function of each stack that matches `parent`.  A stack has a higher number
 * than its caller's stack, so the result of that one is known.  Returns false when out of
 * memory. */
static bool find_parents(pf_rows *r, const regex_t *parent)
{
    const pf_profile *p = r->profile;
    pf_budget *budget = &r->profile->budget;
    r->parents = pf_budget_alloc(budget, p->stacks.n, sizeof *r->parents);
    bool *matches = pf_budget_alloc(budget, p->frames.n, sizeof *matches);
    const bool ok = r->parents && matches;
    for (uint32_t i = 0; i < p->frames.n && ok; i++) {
        const pf_function *function = pf_profile_function_of(p, pf_profile_frame_at(p, i));
        matches[i] = function && regexec(parent, function->name, 0, NULL, 0) == 0;
    }
    for (uint32_t i = 1; i < p->stacks.n && ok; i++) {
        const pf_call_stack *stack = pf_profile_stack_at(p, i);
        r->parents[i] = matches[stack->frame]
                            ? pf_profile_function_of(p, pf_profile_frame_at(p, stack->frame))->name
                            : r->parents[stack->parent];
    }
    pf_budget_free(budget, matches, matches ? p->frames.n : 0, sizeof *matches);
    return ok;
}

uint32_t pf_rows_number(pf_rows *r, const pf_sum *sum, uint32_t place)
{
    const pf_row key = {.parent = r->parents ? r->parents[sum->stack] : NULL,
                        .label = r->label_of[sum->label],
                        .place = place};
    return pf_intern_add(&r->rows, &key);
}

/* Counts a sum for the row of a place: once for its total, and with `self` also for itself.
 * Returns false when out of memory. */
static bool add_to_row(pf_rows *r, uint32_t number, uint32_t place, bool self)
{
    const pf_sum *sum = pf_profile_sum_at(r->profile, number);
    const pf_label *label = pf_profile_label_at(r->profile, sum->label);
    const uint32_t at = pf_rows_number(r, sum, place);
    if (at == PF_INTERN_NONE)
        return false;
    pf_row *row = pf_intern_at(&r->rows, at);
    if (label->flags & PF_LABEL_TIMES) {
        pf_sum_add(&row->enabled, sum->samples);
        pf_sum_add(&row->running, sum->period);
        return true;
    }
    pf_figures *figures = &row->at[label->flags & PF_LABEL_BEFORE ? PF_BEFORE : PF_NOW];
    if (self) {
        pf_sum_add(&figures->samples, sum->samples);
        pf_sum_add(&figures->period, sum->period);
    }
    if (row->marked == number + 1)
        return true;
    row->mixed |= label->flags & PF_LABEL_NO_PERIOD || (row->event && row->event != label->event);
    row->event = label->event;
    row->marked = number + 1;
    pf_sum_add(&figures->total_samples, sum->samples);
    pf_sum_add(&figures->total_period, sum->period);
    return true;
}

/* Counts a sum for the row of the frame next to the requested function. */
static bool add_around(pf_rows *r, uint32_t number)
{
    pf_around around;
    if (!pf_rows_around(r, pf_profile_sum_at(r->profile, number)->stack, &around))
        return true;
    const bool next = around.frame != PF_INTERN_NONE;
    r->has_chains |= next;
    const size_t self_depth = r->around == PF_AROUND_CALLEES && next ? 1 : 0;
    return add_to_row(r, number, next ? r->place_of[around.frame] : r->nowhere,
                      around.depth == self_depth);
}

/* Counts a sum for the rows of all its frames.  Returns false when out of memory. */
static bool add_sum(pf_rows *r, uint32_t number)
{
    uint32_t stack = pf_profile_sum_at(r->profile, number)->stack;
    const bool empty = stack == PF_EMPTY_STACK;
    if (r->around)
        return add_around(r, number);
    if (!add_to_row(r, number,
                    empty ? r->nowhere : r->place_of[pf_profile_stack_at(r->profile, stack)->frame],
                    true))
        return false;
    for (; !empty;) {
        stack = pf_profile_stack_at(r->profile, stack)->parent;
        if (stack == PF_EMPTY_STACK)
            return true;
        r->has_chains = true;
        if (!add_to_row(r, number, r->place_of[pf_profile_stack_at(r->profile, stack)->frame],
                        false))
            return false;
    }
    return true;
}

/* Returns the bytes of the names of all rows, if each is cut to `most`. */
static uint64_t names_bytes(const pf_rows *r, size_t most)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->rows.n; i++) {
        const pf_row *row = pf_intern_at(&r->rows, i);
        const pf_label *label = pf_intern_at(&r->labels, row->label);
        const pf_report_place *place = pf_intern_at(&r->places, row->place);
        const char *const texts[] = {row->parent, label->comm,   label->event,
                                     place->dso,  place->symbol, place->source};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            sum += texts[k] ? strnlen(texts[k], most) : 0;
    }
    return sum;
}

bool pf_rows_shorten(pf_profile *p, const char **text, size_t most)
{
    uint8_t room[PF_NAME_MOST];
    if (!*text)
        return true;
    const perfile_bytes whole = {(const uint8_t *)*text, strlen(*text)};
    const perfile_bytes shown = pf_shortened(whole, most, room);
    return shown.ptr == whole.ptr || (*text = pf_texts_keep(&p->texts, shown));
}

/* Shortens names.  Rows repeat names, and their total size is limited to a multiple of the size of
 * the records (format/limits.md).  This is done after rows have their numbers, so that shortened
 * names do not merge rows.  Returns false when out of memory. */
static bool shorten_names(pf_rows *r, uint64_t record_bytes)
{
    static const size_t lengths[] = {SIZE_MAX, PF_NAME_MOST, PF_NAME_LEAST};
    size_t i = 0;
    while (i + 1 < sizeof lengths / sizeof lengths[0] &&
           names_bytes(r, lengths[i]) > pf_names_room(record_bytes))
        i++;
    const size_t most = lengths[i];
    bool ok = true;
    if (most == SIZE_MAX)
        return true;
    r->names_most = most;
    for (uint32_t k = 0; k < r->rows.n && ok; k++)
        ok = pf_rows_shorten(r->profile, &((pf_row *)pf_intern_at(&r->rows, k))->parent, most);
    for (uint32_t k = 0; k < r->labels.n && ok; k++) {
        pf_label *label = pf_intern_at(&r->labels, k);
        ok = pf_rows_shorten(r->profile, &label->comm, most) &&
             pf_rows_shorten(r->profile, &label->event, most);
    }
    for (uint32_t k = 0; k < r->places.n && ok; k++) {
        pf_report_place *place = pf_intern_at(&r->places, k);
        ok = pf_rows_shorten(r->profile, &place->dso, most) &&
             pf_rows_shorten(r->profile, &place->symbol, most) &&
             pf_rows_shorten(r->profile, &place->source, most);
    }
    return ok;
}

/* Sets the keys and makes empty tables.  Returns false when out of memory. */
static bool begin(pf_rows *r, const uint8_t *per)
{
    pf_profile *profile = r->profile;
    pf_budget *budget = &profile->budget;
    const pf_intern empty = {.seed = profile->texts.seed, .budget = budget};
    r->labels = r->places = r->rows = empty;
    r->per_dso = has_key(per, PERFILE_PER_DSO);
    r->per_symbol = has_key(per, PERFILE_PER_SYMBOL);
    r->per_source = has_key(per, PERFILE_PER_SOURCE);
    r->labels.width = r->labels.key = sizeof(pf_label);
    r->places.width = sizeof(pf_report_place);
    r->places.key = offsetof(pf_report_place, symbol);
    r->rows.width = sizeof(pf_row);
    r->rows.key = offsetof(pf_row, at);
    r->place_of = pf_budget_alloc(budget, profile->frames.n, sizeof *r->place_of);
    r->label_of = pf_budget_alloc(budget, profile->labels.n, sizeof *r->label_of);
    return r->place_of && r->label_of;
}

perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, uint64_t record_bytes, perfile_error *err)
{
    r->profile = profile;
    if (!begin(r, per) || !number_labels(r, per) || !number_places(r) ||
        (parent && !find_parents(r, parent)) || (r->around && !find_function(r)))
        return pf_profile_fail(profile, err);
    const pf_report_place none = {.no_frame = r->per_dso || r->per_symbol || r->per_source};
    r->nowhere = pf_intern_add(&r->places, &none);
    bool ok = r->nowhere != PF_INTERN_NONE;
    for (uint32_t i = 0; i < profile->sums.n && ok; i++)
        ok = add_sum(r, i);
    ok = ok && shorten_names(r, record_bytes);
    return ok ? PERFILE_OK : pf_profile_fail(profile, err);
}

void pf_rows_free(pf_rows *r)
{
    if (!r->profile)
        return;
    pf_profile *p = r->profile;
    pf_budget *budget = &p->budget;
    pf_intern_free(&r->labels);
    pf_intern_free(&r->places);
    pf_intern_free(&r->rows);
    pf_budget_free(budget, r->place_of, p->frames.n, sizeof *r->place_of);
    pf_budget_free(budget, r->label_of, p->labels.n, sizeof *r->label_of);
    pf_budget_free(budget, r->sources, r->n_sources, sizeof *r->sources);
    pf_budget_free(budget, r->is_around, p->frames.n + 1, sizeof *r->is_around);
    if (r->parents)
        pf_budget_free(budget, r->parents, p->stacks.n, sizeof *r->parents);
    *r = (pf_rows){0};
}
