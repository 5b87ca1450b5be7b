/* Names of frames as text. */
#include "base/error.h"
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfile/text.h"
#include "symbol/state.h"
#include "symbol/protocol.h"
#include "base/alloc.h"
#include "base/error.h"
#include "profile/resolve.h"
#include "base/command.h"

bool pf_name_text(const char *text, size_t most, pf_buffer *out)
{
    uint8_t room[PF_TEXT_MOST];
    const perfile_bytes shown =
        pf_shortened((perfile_bytes){(const uint8_t *)text, strlen(text)}, most, room);
    if (!shown.len)
        return pf_buffer_append_u8(out, '?');
    if (!pf_buffer_reserve(out, shown.len))
        return false;
    for (size_t i = 0, length; i < shown.len; i += length) {
        uint32_t code = 0;
        length = perfile_utf8_char(shown.ptr + i, shown.len - i, &code);
        if (length && pf_is_printable(code) && code != ';') {
            memcpy(out->ptr + out->len, shown.ptr + i, length);
            out->len += length;
        } else {
            out->ptr[out->len++] = code == ';' ? ':' : '?';
            length = length ? length : 1;
        }
    }
    return true;
}

const char *pf_base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

bool pf_name_function(const pf_profile *p, const pf_call_frame *frame, pf_buffer *out, bool *known)
{
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const bool is_symbol = object && object->kind == PERFILE_MAPPING_SYMBOL;
    const pf_function *function = pf_profile_function_of(p, frame);
    const char *name = is_symbol ? object->name : function ? function->name : NULL;
    *known = name;
    return !name || pf_name_text(name, is_symbol ? PF_NAME_MOST : PF_FUNCTION_MOST, out);
}

bool pf_name_frame(const pf_profile *p, const pf_call_frame *frame, bool join, pf_buffer *out)
{
    char offset[32] = "]";
    bool known;
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const char *name = object ? pf_base_name(object->name) : "unknown";
    if (!pf_name_function(p, frame, out, &known))
        return false;
    if (known)
        return true;
    if (join && name[0] == '[') /* [kernel.kallsyms], [vdso] */
        return pf_name_text(name, PF_NAME_MOST, out);
    if (!join)
        snprintf(offset, sizeof offset, "+0x%" PRIx64 "]", frame->offset);
    return pf_buffer_append_u8(out, '[') && pf_name_text(name, PF_NAME_MOST, out) &&
           pf_buffer_append(out, offset, strlen(offset));
}

/* Returns the object of a frame that has no name yet, or NULL if there is nothing to look up. */
static const pf_object *unnamed(const pf_profile *p, uint32_t i, pf_call_frame **frame)
{
    *frame = pf_intern_at(&p->frames, i);
    return (*frame)->function ? NULL : pf_profile_object_at(p, (*frame)->object);
}

/* Announces the next frames, beginning with `first`.  Returns the frame after them. */
static uint32_t expect(const pf_profile *p, perfile_symbols *symbols, uint32_t first)
{
    pf_call_frame *frame;
    uint32_t i = first;
    for (; i < p->frames.n && i - first < PF_DEMANGLE_MOST; i++) {
        const pf_object *object = unnamed(p, i, &frame);
        if (object)
            pf_symbols_expect(symbols, &object->first, pf_object_address(object, frame->offset));
    }
    return i;
}

/* Counts for each frame the stacks with it on top.  Returns NULL when out of memory or budget. */
static uint32_t *count_stacks(pf_profile *p)
{
    uint32_t *n = pf_budget_alloc(&p->budget, p->frames.n, sizeof *n);
    for (uint32_t i = 1; n && i < p->stacks.n; i++)
        n[pf_profile_stack_at(p, i)->frame]++;
    return n;
}

void pf_count_known(const pf_profile *p, uint64_t *unmapped, uint64_t *named)
{
    *unmapped = *named = 0;
    for (uint32_t i = 1; i < p->stacks.n; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, pf_profile_stack_at(p, i)->frame);
        const pf_object *object = pf_profile_object_at(p, frame->object);
        *unmapped += !object;
        *named += frame->function || (object && object->kind == PERFILE_MAPPING_SYMBOL);
    }
}

/* Looks up the function of a frame that is on top of `stacks` stacks. */
static perfile_status name_frame(pf_profile *p, perfile_symbols *symbols, pf_call_frame *frame,
                                 const pf_object *object, uint32_t stacks, perfile_error *err)
{
    perfile_symbol symbol;
    perfile_status st =
        perfile_symbols_find(symbols, &object->first, pf_object_address(object, frame->offset),
                             PERFILE_NO_TIME, &symbol, err);
    if (st != PERFILE_OK)
        return st;
    if (!symbol.name) {
        pf_symbols_add_unnamed(symbols, &object->first, stacks ? stacks - 1 : 0);
        return PERFILE_OK;
    }
    const uint32_t function =
        pf_profile_function(p, frame->object, pf_object_offset(&object->first, symbol.start),
                            symbol.name, symbol.mangled);
    if (function == PF_INTERN_NONE)
        return pf_profile_fail(p, err);
    frame->function = function + 1;
    return PERFILE_OK;
}

perfile_status pf_name_functions(pf_profile *p, perfile_symbols *symbols, uint32_t first,
                                 perfile_error *err)
{
    pf_call_frame *frame;
    uint32_t *stacks = count_stacks(p);
    perfile_status st = stacks ? PERFILE_OK : pf_profile_fail(p, err);
    for (uint32_t i = first, expected = first; i < p->frames.n && st == PERFILE_OK; i++) {
        if (i == expected)
            expected = expect(p, symbols, i);
        const pf_object *object = unnamed(p, i, &frame);
        if (object)
            st = name_frame(p, symbols, frame, object, stacks[i], err);
    }
    pf_budget_free(&p->budget, stacks, stacks ? p->frames.n : 0, sizeof *stacks);
    return st;
}

/* Frames of inlined functions.
 *
 * Debug information lists the functions that are inlined at an address.  Each becomes a frame of
 * its own, with its name from there.  The list for a frame is computed once. */

/* The functions that are inlined at a frame. */
typedef struct pf_inlined {
    uint32_t first; /* index in pf_resolver.inlined_frames, outermost first */
    uint32_t n;
    bool known; /* the other members are valid */
} pf_inlined;

/* Makes room for the frame's entry.  Returns false when out of memory. */
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

/* Looks up the functions at a frame of user code, and makes frames for the inlined ones.  Returns
 * false when out of memory or over the limit. */
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

/* Returns true if frames for the inlined functions may be added to a stack.  A few bytes of debug
 * information can describe many inlined functions for each address of a chain.  The average is
 * limited to INLINED_MOST for each address (format/limits.md), which no compiler comes near. */
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

perfile_status pf_name_source(const pf_profile *p, const pf_call_frame *frame,
                              perfile_symbols *symbols, pf_buffer *out, bool *known,
                              perfile_error *err)
{
    const perfile_source_place *places;
    size_t n = 0;
    char line[16];
    const pf_object *object = pf_profile_object_at(p, frame->object);
    *known = false;
    if (!object)
        return PERFILE_OK;
    perfile_status st =
        perfile_symbols_source(symbols, &object->first, pf_object_address(object, frame->offset),
                               PERFILE_NO_TIME, &places, &n, err);
    if (st != PERFILE_OK || !n || !places[0].file)
        return st;
    const char *slash = strrchr(places[0].file, '/');
    const char *file = slash ? slash + 1 : places[0].file;
    snprintf(line, sizeof line, ":%u", (unsigned)places[0].line);
    *known = true;
    return pf_buffer_append(out, file, strlen(file)) && pf_buffer_append(out, line, strlen(line))
               ? PERFILE_OK
               : pf_fail_nomem(err, "names");
}
