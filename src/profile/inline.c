/* Frames of inlined functions.
 *
 * The debug information says which functions are inlined at an address.  Each becomes a frame of
 * its own, with the name that is known there; which ones belong to a frame is worked out once. */
#include <string.h>

#include "base/alloc.h"
#include "profile/resolve.h"

/* What is inlined at a frame. */
typedef struct pf_inlined {
    uint32_t first; /* in pf_resolver.inlined_frames, outermost first */
    uint32_t n;
    bool known; /* what the others say */
} pf_inlined;

/* Makes room for what is inlined at the frame; false if there is no memory. */
static bool reserve(pf_resolver *x, uint32_t frame)
{
    if (frame < x->n_inlined)
        return true;
    size_t n = (size_t)frame + frame / 2 + 64;
    pf_inlined *more = pf_realloc(x->inlined, n, sizeof *more);
    if (!more)
        return false;
    memset(more + x->n_inlined, 0, (n - x->n_inlined) * sizeof *more);
    x->inlined = more;
    x->n_inlined = n;
    return true;
}

/* Asks for the functions at a frame of user code, and makes frames of those that are inlined.
 * False if there is no memory or the limit is exceeded. */
static bool find_inlined(pf_resolver *x, uint32_t number, pf_inlined *out)
{
    const pf_call_frame frame = *pf_profile_frame_at(x->profile, number);
    const pf_object *object = pf_profile_object_at(x->profile, frame.object);
    const perfile_source_place *places = NULL;
    size_t n = 0;
    *out = (pf_inlined){.first = (uint32_t)(x->inlined_frames.len / sizeof number), .known = true};
    if (!object || frame.code != PF_CODE_USER)
        return true;
    if (perfile_symbols_source(x->symbols, &object->first, pf_object_address(object, frame.offset),
                               PERFILE_NO_TIME, &places, &n, NULL) != PERFILE_OK)
        return false;
    while (n > 1) {
        const char *name = places[n - 2].function;
        n--;
        uint32_t inlined = pf_profile_inlined(x->profile, number, ++out->n, name ? name : "?");
        if (inlined == PF_INTERN_NONE ||
            !pf_buffer_append(&x->inlined_frames, &inlined, sizeof inlined))
            return false;
    }
    return true;
}

/* True if a stack may have the functions that are inlined at its frame as well.  A few bytes of
 * debug information make many of them, for each address of a chain: on average there may be
 * INLINED_MOST for each (format/limits.md), which no compiler comes near. */
static bool has_room(pf_resolver *x, uint32_t n)
{
    enum { INLINED_ALWAYS = 1 << 13, INLINED_MOST = 4 };
    const bool room = x->n_inlined_stacks < INLINED_ALWAYS + INLINED_MOST * x->n_pushed;
    x->n_left_out += room ? 0 : n;
    return room;
}

uint32_t pf_resolve_push(pf_resolver *x, uint32_t stack, uint32_t frame)
{
    x->n_pushed++;
    stack = pf_profile_stack(x->profile, stack, frame);
    if (!x->symbols || stack == PF_INTERN_NONE)
        return stack;
    if (!reserve(x, frame) ||
        (!x->inlined[frame].known && !find_inlined(x, frame, &x->inlined[frame])))
        return PF_INTERN_NONE;
    const pf_inlined *found = &x->inlined[frame];
    if (found->n && !has_room(x, found->n))
        return stack;
    const size_t before = x->profile->stacks.n;
    for (uint32_t i = 0; i < found->n && stack != PF_INTERN_NONE; i++) {
        uint32_t inlined;
        memcpy(&inlined, x->inlined_frames.ptr + sizeof inlined * (found->first + i),
               sizeof inlined);
        stack = pf_profile_stack(x->profile, stack, inlined);
    }
    x->n_inlined_stacks += x->profile->stacks.n - before;
    return stack;
}
