/* Making rows (see rows.h).
 *
 * Frames of one file and function are one *place*.  Each sum of the profile counts for the row of
 * its innermost place, and for the total of the row of each place in its stack, once, also where a
 * function calls itself. */
#include "profile/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/profile.h"

/* True if a key is among them. */
static bool has_key(const uint8_t *per, uint8_t key)
{
    return strchr((const char *)per, key) != NULL;
}

/* What is asked for of each label, numbered. */
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
                                .cpu = cpu ? whole->cpu : PF_NO_LABEL};
        r->label_of[i] = pf_intern_add(&r->labels, &label);
        if (r->label_of[i] == PF_INTERN_NONE)
            return false;
    }
    return true;
}

/* True if all frames of its object that are in no known function are one place. */
static bool is_joined(const pf_rows *r, const pf_call_frame *frame)
{
    return frame->object == PF_NO_OBJECT ? r->joins_unmapped : r->joins_unnamed;
}

/* Which function a frame is of: its part of the key of a place.  Where no function is known, each
 * frame is a place of its own, or all of an object are one. */
static void set_function(const pf_rows *r, const pf_call_frame *frame, pf_report_place *place)
{
    const pf_profile *p = r->profile;
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const pf_function *function = pf_profile_function_of(p, frame);
    place->module = object ? object->name : NULL;
    if (object && object->kind == PERFILE_MAPPING_SYMBOL) {
        place->function = object->name;
    } else if (function) {
        place->function = function->name;
        place->start = function->start;
    } else if (!is_joined(r, frame)) {
        place->start = frame->offset;
    }
}

/* What the place of a frame is called; NULL if there is no memory. */
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

/* "file.c:123" of a frame; NULL if it is not known.  *ok becomes false if there is no memory. */
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

/* The line of the source of each frame; false if there is no memory. */
static bool find_sources(pf_rows *r, perfile_symbols *symbols)
{
    bool ok = true;
    pf_buffer text = {0};
    const pf_profile *p = r->profile;
    r->sources = pf_budget_alloc(&r->profile->budget, p->frames.n, sizeof *r->sources);
    if (!r->sources)
        return false;
    for (uint32_t i = 0; i < p->frames.n && ok; i++)
        r->sources[i] = source_of(r, pf_profile_frame_at(p, i), symbols, &text, &ok);
    pf_buffer_free(&text);
    return ok;
}

/* The place of each frame. */
static bool number_places(pf_rows *r)
{
    pf_buffer text = {0};
    bool ok = true;
    pf_profile *p = r->profile;
    for (uint32_t i = 0; i < p->frames.n && ok; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        const pf_object *object = pf_profile_object_at(p, frame->object);
        pf_report_place place = {.dso = r->per_dso && object ? object->name : NULL};
        if (r->sources)
            place.source = r->sources[i];
        if (r->per_dso || r->per_symbol)
            place.code = frame->code;
        if (r->per_symbol)
            set_function(r, frame, &place);
        const size_t before = r->places.n;
        r->place_of[i] = pf_intern_add(&r->places, &place);
        ok = r->place_of[i] != PF_INTERN_NONE;
        if (!ok || !r->per_symbol || r->places.n == before)
            continue;
        const char *symbol = symbol_of(r, frame, &place, &text);
        ((pf_report_place *)pf_intern_at(&r->places, r->place_of[i]))->symbol = symbol;
        ok = symbol;
    }
    pf_buffer_free(&text);
    return ok;
}

/* The function that `parent` matches in each stack, the innermost one.  A stack has a higher number
 * than those of its callers, so that their answer is there.  False if there is no memory. */
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

/* The row of a place for a sum, which counts for its total, once.  NULL if there is no memory. */
static pf_row *add_total(pf_rows *r, uint32_t number, uint32_t place)
{
    const pf_sum *sum = pf_profile_sum_at(r->profile, number);
    const pf_label *label = pf_profile_label_at(r->profile, sum->label);
    const pf_row key = {.parent = r->parents ? r->parents[sum->stack] : NULL,
                        .label = r->label_of[sum->label],
                        .place = place};
    const uint32_t at = pf_intern_add(&r->rows, &key);
    if (at == PF_INTERN_NONE)
        return NULL;
    pf_row *row = pf_intern_at(&r->rows, at);
    if (row->marked == number + 1)
        return row;
    row->mixed |= label->flags || (row->total_samples && row->event != label->event);
    row->event = label->event;
    row->marked = number + 1;
    pf_sum_add(&row->total_samples, sum->samples);
    pf_sum_add(&row->total_period, sum->period);
    return row;
}

/* Counts a sum for the rows of all its frames.  False if there is no memory. */
static bool add_sum(pf_rows *r, uint32_t number, uint32_t nowhere)
{
    const pf_sum *sum = pf_profile_sum_at(r->profile, number);
    uint32_t stack = sum->stack;
    const bool empty = stack == PF_EMPTY_STACK;
    uint32_t place = nowhere;
    if (!empty)
        place = r->place_of[pf_profile_stack_at(r->profile, stack)->frame];
    pf_row *row = add_total(r, number, place);
    if (!row)
        return false;
    pf_sum_add(&row->samples, sum->samples);
    pf_sum_add(&row->period, sum->period);
    if (empty)
        return true;
    for (;;) {
        stack = pf_profile_stack_at(r->profile, stack)->parent;
        if (stack == PF_EMPTY_STACK)
            return true;
        r->has_chains = true;
        if (!add_total(r, number, r->place_of[pf_profile_stack_at(r->profile, stack)->frame]))
            return false;
    }
}

/* Bytes of the names of all rows, if none is longer than `most`. */
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

/* Shortens a text of the profile; NULL stays NULL.  False if there is no memory. */
static bool shorten(pf_profile *p, const char **text, size_t most)
{
    uint8_t room[PF_NAME_MOST];
    if (!*text)
        return true;
    const perfile_bytes whole = {(const uint8_t *)*text, strlen(*text)};
    const perfile_bytes shown = pf_shortened(whole, most, room);
    return shown.ptr == whole.ptr || (*text = pf_texts_keep(&p->texts, shown));
}

/* Names are repeated in rows: together they may be no more than a multiple of the records that they
 * came from (format/limits.md).  Rows are numbered by then, so that none are joined.  False if
 * there is no memory. */
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
        ok = shorten(r->profile, &((pf_row *)pf_intern_at(&r->rows, k))->parent, most);
    for (uint32_t k = 0; k < r->labels.n && ok; k++) {
        pf_label *label = pf_intern_at(&r->labels, k);
        ok = shorten(r->profile, &label->comm, most) && shorten(r->profile, &label->event, most);
    }
    for (uint32_t k = 0; k < r->places.n && ok; k++) {
        pf_report_place *place = pf_intern_at(&r->places, k);
        ok = shorten(r->profile, &place->dso, most) && shorten(r->profile, &place->symbol, most) &&
             shorten(r->profile, &place->source, most);
    }
    return ok;
}

perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, perfile_symbols *symbols, uint64_t record_bytes,
                            perfile_error *err)
{
    pf_budget *budget = &profile->budget;
    const pf_intern empty = {.seed = profile->texts.seed, .budget = budget};
    r->profile = profile;
    r->labels = r->places = r->rows = empty;
    r->per_dso = has_key(per, PERFILE_PER_DSO);
    r->per_symbol = has_key(per, PERFILE_PER_SYMBOL);
    r->labels.width = r->labels.key = sizeof(pf_label);
    r->places.width = sizeof(pf_report_place);
    r->places.key = offsetof(pf_report_place, symbol);
    r->rows.width = sizeof(pf_row);
    r->rows.key = offsetof(pf_row, samples);
    r->place_of = pf_budget_alloc(budget, profile->frames.n, sizeof *r->place_of);
    r->label_of = pf_budget_alloc(budget, profile->labels.n, sizeof *r->label_of);
    const bool per_source = symbols && has_key(per, PERFILE_PER_SOURCE);
    if (!r->place_of || !r->label_of || (per_source && !find_sources(r, symbols)) ||
        !number_labels(r, per) || !number_places(r) || (parent && !find_parents(r, parent)))
        return pf_profile_fail(profile, err);
    const pf_report_place none = {.no_frame = 1};
    const uint32_t nowhere = pf_intern_add(&r->places, &none);
    bool ok = nowhere != PF_INTERN_NONE;
    for (uint32_t i = 0; i < profile->sums.n && ok; i++)
        ok = add_sum(r, i, nowhere);
    ok = ok && shorten_names(r, record_bytes);
    return ok ? PERFILE_OK : pf_profile_fail(profile, err);
}

void pf_rows_free(pf_rows *r)
{
    if (!r->profile)
        return;
    pf_profile *p = r->profile;
    pf_intern_free(&r->labels);
    pf_intern_free(&r->places);
    pf_intern_free(&r->rows);
    pf_budget_free(&p->budget, r->place_of, p->frames.n, sizeof *r->place_of);
    pf_budget_free(&p->budget, r->label_of, p->labels.n, sizeof *r->label_of);
    pf_budget_free(&p->budget, r->sources, r->sources ? p->frames.n : 0, sizeof *r->sources);
    if (r->parents)
        pf_budget_free(&p->budget, r->parents, p->stacks.n, sizeof *r->parents);
    *r = (pf_rows){0};
}
