/* Lines of frames (see lines.h). */
#include "profile/lines.h"

#include <string.h>

#include "base/alloc.h"

/* Roles of a stack's frame: bits. */
enum { ENDS = 1, CALLS = 2 };

bool pf_lines_mark(pf_lines *l, pf_profile *p, uint32_t stack)
{
    if (stack >= l->n_stacks) {
        const size_t n = stack + stack / 2 + (size_t)64;
        uint8_t *more =
            pf_budget_realloc(&p->budget, l->sampled, l->n_stacks, n, sizeof *l->sampled);
        if (!more)
            return false;
        memset(more + l->n_stacks, 0, n - l->n_stacks);
        l->sampled = more;
        l->n_stacks = n;
    }
    l->sampled[stack] = ENDS;
    return true;
}

bool pf_is_inlined(const pf_profile *p, uint32_t stack)
{
    const pf_call_stack *s = pf_profile_stack_at(p, stack);
    const pf_call_frame *f = pf_profile_frame_at(p, s->frame);
    if (!f->inlined || s->parent == PF_EMPTY_STACK)
        return false;
    const pf_call_frame *outer = pf_profile_frame_at(p, pf_profile_stack_at(p, s->parent)->frame);
    return outer->object == f->object && outer->offset == f->offset &&
           outer->inlined + 1 == f->inlined;
}

uint32_t pf_line_key(const pf_profile *p, uint32_t stack, uint32_t inner, uint32_t of_inner)
{
    const uint32_t calls = inner == PF_EMPTY_STACK ? 0 : pf_is_inlined(p, inner) ? of_inner % 2 : 1;
    return 2 * pf_profile_stack_at(p, stack)->frame + calls;
}

/* Finds the location of a frame among those of an address.  Returns NULL if it is not there.  An
 * inlined function must have the frame's name, because other functions may be inlined at the
 * preceding address. */
static const perfile_source_place *place_of(const pf_profile *p, const pf_call_frame *frame,
                                            const perfile_source_place *places, size_t n)
{
    if (n <= frame->inlined)
        return NULL;
    const perfile_source_place *place = &places[n - 1 - frame->inlined];
    const pf_function *function = pf_profile_function_of(p, frame);
    const bool same = !frame->inlined || !place->function ||
                      (function && strcmp(function->name, place->function) == 0);
    return same && place->file ? place : NULL;
}

perfile_status pf_line_find(pf_profile *p, perfile_symbols *symbols, uint32_t key, pf_line *out,
                            perfile_error *err)
{
    const pf_call_frame *frame = pf_profile_frame_at(p, key / 2);
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const perfile_source_place *places, *found = NULL;
    size_t n;
    perfile_status st = PERFILE_OK;
    out->asked = 1;
    if (!object)
        return PERFILE_OK;
    const uint64_t addr = pf_object_address(object, frame->offset);
    for (unsigned before = key % 2 + 1; before-- > 0 && st == PERFILE_OK && !found;) {
        st = perfile_symbols_source(symbols, &object->first, addr - before, PERFILE_NO_TIME,
                                    &places, &n, err);
        found = st == PERFILE_OK ? place_of(p, frame, places, n) : NULL;
    }
    if (!found)
        return st;
    out->line = found->line;
    out->file = pf_profile_text(p, found->file);
    return out->file ? PERFILE_OK : pf_profile_fail(p, err);
}

/* Marks calling stacks, from the leaves to the root: a stack has a higher number than its caller's
 * stack. */
static void mark_callers(pf_lines *l, const pf_profile *p)
{
    for (uint32_t i = (uint32_t)p->stacks.n; i-- > 1;) {
        const uint32_t parent = pf_profile_stack_at(p, i)->parent;
        if (l->sampled[i])
            l->sampled[parent] |= pf_is_inlined(p, i) ? l->sampled[i] : CALLS;
    }
}

/* Makes room for all stacks and frames. */
static bool grow(pf_lines *l, pf_profile *p)
{
    const size_t n = 2 * p->frames.n;
    if (n > l->n) {
        pf_line *more = pf_budget_realloc(&p->budget, l->at, l->n, n, sizeof *l->at);
        if (!more)
            return false;
        memset(more + l->n, 0, (n - l->n) * sizeof *more);
        l->at = more;
        l->n = n;
    }
    if (l->n_stacks >= p->stacks.n)
        return true;
    uint8_t *more =
        pf_budget_realloc(&p->budget, l->sampled, l->n_stacks, p->stacks.n, sizeof *l->sampled);
    if (!more)
        return false;
    memset(more + l->n_stacks, 0, p->stacks.n - l->n_stacks);
    l->sampled = more;
    l->n_stacks = p->stacks.n;
    return true;
}

perfile_status pf_lines_find(pf_lines *l, pf_profile *p, perfile_symbols *symbols,
                             perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (!grow(l, p))
        return pf_profile_fail(p, err);
    mark_callers(l, p);
    for (uint32_t i = 1; i < p->stacks.n && st == PERFILE_OK; i++) {
        const uint32_t key = 2 * pf_profile_stack_at(p, i)->frame;
        for (unsigned calls = 0; calls < 2 && st == PERFILE_OK; calls++)
            if (l->sampled[i] & (calls ? CALLS : ENDS) && !l->at[key + calls].asked)
                st = pf_line_find(p, symbols, key + calls, &l->at[key + calls], err);
    }
    memset(l->sampled, 0, l->n_stacks);
    return st;
}

void pf_lines_free(pf_lines *l, pf_profile *p)
{
    pf_budget_free(&p->budget, l->at, l->n, sizeof *l->at);
    pf_budget_free(&p->budget, l->sampled, l->n_stacks, sizeof *l->sampled);
    *l = (pf_lines){0};
}
