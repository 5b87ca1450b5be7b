/* Making rows (see rows.h).
 *
 * Frames of one file and function are one *place*.  Each sum of the profile counts for the row of
 * its innermost place, and for the total of the row of each place in its stack, once, also where a
 * function calls itself. */
#include "profile/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/name.h"

/* True if a key is among them. */
static bool has_key(const uint8_t *per, uint8_t key)
{
    return strchr((const char *)per, key) != NULL;
}

/* A name of a capture, its first PF_NAME_MOST bytes: it may stand in as many rows as there are
 * addresses in call chains.  NULL stays NULL; *ok becomes false if there is no memory. */
static const char *shorten(pf_profile *p, const char *name, bool *ok)
{
    if (!name || strlen(name) <= PF_NAME_MOST)
        return name;
    const char *text =
        pf_texts_keep(&p->texts, (perfile_bytes){(const uint8_t *)name, PF_NAME_MOST});
    *ok = *ok && text;
    return text;
}

/* What is asked for of each label, numbered. */
static bool number_labels(pf_rows *r, const uint8_t *per)
{
    bool ok = true;
    pf_profile *p = r->profile;
    const bool comm = has_key(per, PERFILE_PER_COMM), event = has_key(per, PERFILE_PER_EVENT);
    const bool pid = has_key(per, PERFILE_PER_PID), tid = has_key(per, PERFILE_PER_TID);
    const bool cpu = has_key(per, PERFILE_PER_CPU);
    for (uint32_t i = 0; i < p->labels.n; i++) {
        const pf_label *whole = pf_profile_label_at(p, i);
        const pf_label label = {.comm = comm ? shorten(p, whole->comm, &ok) : NULL,
                                .event = event ? shorten(p, whole->event, &ok) : NULL,
                                .pid = pid ? whole->pid : PF_NO_LABEL,
                                .tid = tid ? whole->tid : PF_NO_LABEL,
                                .cpu = cpu ? whole->cpu : PF_NO_LABEL};
        r->label_of[i] = pf_intern_add(&r->labels, &label);
        if (!ok || r->label_of[i] == PF_INTERN_NONE)
            return false;
    }
    return true;
}

/* The name of the function of a frame, or what stands for it; NULL if there is no memory. */
static const char *symbol_of(pf_rows *r, const pf_call_frame *frame, pf_buffer *text, bool *named)
{
    const pf_object *object = pf_profile_object_at(r->profile, frame->object);
    const bool is_symbol = object && object->kind == PERFILE_MAPPING_SYMBOL;
    bool ok = true;
    *named = is_symbol || frame->function;
    if (is_symbol)
        return shorten(r->profile, object->name, &ok);
    if (frame->function)
        return frame->function;
    pf_buffer_clear(text);
    return pf_name_frame(r->profile, frame, text) && pf_buffer_append_u8(text, 0)
               ? pf_profile_text(r->profile, (const char *)text->ptr)
               : NULL;
}

/* "file.c:123" of a frame; NULL if it is not known.  *ok becomes false if there is no memory. */
static const char *source_of(pf_rows *r, const pf_call_frame *frame, perfile_symbols *symbols,
                             bool *ok)
{
    const perfile_source_place *places;
    size_t n;
    char text[PF_NAME_MOST + 16];
    const pf_object *object = pf_profile_object_at(r->profile, frame->object);
    if (!object)
        return NULL;
    if (perfile_symbols_source(symbols, &object->first, pf_object_address(object, frame->offset),
                               PERFILE_NO_TIME, &places, &n, NULL) != PERFILE_OK) {
        *ok = false;
        return NULL;
    }
    if (!n || !places[0].file)
        return NULL;
    const char *slash = strrchr(places[0].file, '/');
    snprintf(text, sizeof text, "%.*s:%u", (int)PF_NAME_MOST, slash ? slash + 1 : places[0].file,
             (unsigned)places[0].line);
    const char *source = pf_profile_text(r->profile, text);
    *ok = source;
    return source;
}

/* The line of the source of each frame; false if there is no memory. */
static bool find_sources(pf_rows *r, perfile_symbols *symbols)
{
    bool ok = true;
    const pf_profile *p = r->profile;
    r->sources = pf_budget_alloc(&r->profile->budget, p->frames.n, sizeof *r->sources);
    if (!r->sources)
        return false;
    for (uint32_t i = 0; i < p->frames.n && ok; i++)
        r->sources[i] = source_of(r, pf_profile_frame_at(p, i), symbols, &ok);
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
        pf_place place = {.dso = r->per_dso && object ? shorten(p, object->name, &ok) : NULL};
        bool named = false;
        if (r->sources)
            place.source = r->sources[i];
        if (r->per_dso || r->per_symbol)
            place.code = frame->code;
        if (r->per_symbol && ok) {
            place.symbol = symbol_of(r, frame, &text, &named);
            ok = place.symbol;
        }
        r->place_of[i] = ok ? pf_intern_add(&r->places, &place) : PF_INTERN_NONE;
        ok = r->place_of[i] != PF_INTERN_NONE;
        if (ok)
            ((pf_place *)pf_intern_at(&r->places, r->place_of[i]))->named = named;
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
        const char *function = pf_profile_frame_at(p, i)->function;
        matches[i] = function && regexec(parent, function, 0, NULL, 0) == 0;
    }
    for (uint32_t i = 1; i < p->stacks.n && ok; i++) {
        const pf_call_stack *stack = pf_profile_stack_at(p, i);
        r->parents[i] = matches[stack->frame] ? pf_profile_frame_at(p, stack->frame)->function
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

perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, perfile_symbols *symbols, perfile_error *err)
{
    pf_budget *budget = &profile->budget;
    const pf_intern empty = {.seed = profile->texts.seed, .budget = budget};
    *r = (pf_rows){.profile = profile,
                   .labels = empty,
                   .places = empty,
                   .rows = empty,
                   .per_dso = has_key(per, PERFILE_PER_DSO),
                   .per_symbol = has_key(per, PERFILE_PER_SYMBOL)};
    r->labels.width = r->labels.key = sizeof(pf_label);
    r->places.width = sizeof(pf_place);
    r->places.key = offsetof(pf_place, named);
    r->rows.width = sizeof(pf_row);
    r->rows.key = offsetof(pf_row, samples);
    r->place_of = pf_budget_alloc(budget, profile->frames.n, sizeof *r->place_of);
    r->label_of = pf_budget_alloc(budget, profile->labels.n, sizeof *r->label_of);
    const bool per_source = symbols && has_key(per, PERFILE_PER_SOURCE);
    if (!r->place_of || !r->label_of || (per_source && !find_sources(r, symbols)) ||
        !number_labels(r, per) || !number_places(r) || (parent && !find_parents(r, parent)))
        return pf_profile_fail(profile, err);
    const pf_place none = {.no_frame = 1};
    const uint32_t nowhere = pf_intern_add(&r->places, &none);
    bool ok = nowhere != PF_INTERN_NONE;
    for (uint32_t i = 0; i < profile->sums.n && ok; i++)
        ok = add_sum(r, i, nowhere);
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
